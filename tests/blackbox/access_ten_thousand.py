# SPDX-License-Identifier: Apache-2.0
"""Ten thousand principals in twenty classes: a changed rule is in force for each of them with the next message, whatever the hub has made
for them before."""

import json

from http_client import HttpTest, Server
from mcp import INVALID_PARAMS, fixture, main

PRINCIPALS, CLASSES, TOGETHER = 10000, 20, 100
ID = "X-Client-Id"


class TenThousand(HttpTest):
    def manifest(self, shift):
        """Each class is denied one tool: its own number's, or another one's."""
        rules = [{"who": {"groups": [f"class{number}"]}, "tools": {"match": [f"a:t{(number + shift) % CLASSES}"]}, "then": "deny"}
                 for number in range(CLASSES)]
        return {"hub": {"remember": "none"}, "access": {"rules": rules}, "auth": {"tokens": str(self.tokens)},
                "toolsets": {"a": fixture(*(f"t{number}" for number in range(CLASSES)))},
                "listen": [{"http": "127.0.0.1:0", "trusted_proxies": ["127.0.0.1"], "client_id_header": ID}]}

    def setUp(self):
        super().setUp()
        self.tokens, self.config = self.home / "tokens.json", self.home / "hub.json"
        self.bearers = []
        for number in range(CLASSES):
            done = self.cli("token", "new", f"gate{number}", "--groups", f"class{number}", "--tokens", self.tokens, modules=False)
            self.bearers.append(f"Bearer {done.stdout.strip()}")

    def write(self, shift):
        fresh = self.config.with_suffix(".new")
        fresh.write_text(json.dumps(self.manifest(shift)), encoding="utf-8")
        fresh.replace(self.config)

    def judged(self, server, shift):
        """Each principal makes one call: half of them of the tool that they are denied by then. The wrong answers."""
        connection = server.connection()
        wrong = []
        for begin in range(0, PRINCIPALS, TOGETHER):
            expected = []
            for number in range(begin, begin + TOGETHER):
                of = number % CLASSES
                denied = number // CLASSES % 2 == 0
                tool = (of + shift) % CLASSES if denied else (of + 1 - shift) % CLASSES
                headers = {ID: f"p{number}", "Authorization": self.bearers[of]}
                connection.send(server.modern_bytes("tools/call", {"name": f"a__t{tool}", "arguments": {}}, headers=headers))
                expected.append(denied)
            for number, denied in enumerate(expected, begin):
                data = json.loads(connection.reply().body)
                if (data.get("error", {}).get("code") == INVALID_PARAMS) != denied or ("result" in data) == denied:
                    wrong.append((number, denied, data))
        connection.close()
        return wrong

    def test_with_the_next_message(self):
        self.write(0)
        hub = self.daemon("--config", self.config)
        server = Server(self, hub)
        self.assertEqual(self.judged(server, 0)[:3], [])
        self.write(1)  # what was denied is allowed now, and the other way round
        hub.wait_log("config.reloaded")
        self.assertEqual(self.judged(server, 1)[:3], [])


if __name__ == "__main__":
    main()
