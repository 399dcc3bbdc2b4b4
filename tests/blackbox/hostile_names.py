# SPDX-License-Identifier: Apache-2.0
"""Names that strangers choose (the `sub` of a token, a saved toolset's) in everything that people and programs read: one value each, whatever
is in it, and nothing that a terminal obeys or that turns text around."""

import json
import os
import pty
import re
import select
import shutil
import subprocess

from cli_running import RunningBase, unseen
from http_client import Server
from identity_provider import Provider
from issuers import AUDIENCE, bearer
from mcp import TIMEOUT, fixture, main, tool
from metrics import samples
from otlp_collector import Collector, variables

GOOD = ['x"} 1 # {forged="1"}', "left\u202eright", "a\\nb \\", '{"principal":"root","event":"x"}', "<img src=x onerror=alert(1)>", "tag\U000e0041\u2028\u2066",
        "${HOME} `id` $(id)", "' OR 1=1 --", "n" * 190]
BAD = ["a\nb", "\x1b]0;owned\x07", "c1\x9b31m", "nul\0", "", "n" * 10240]
KIND = "jwt:"


class Names(RunningBase):
    def setUp(self):
        super().setUp()
        self.provider = Provider(self.home)
        self.addCleanup(self.provider.close)
        self.audit = self.home / "audit.jsonl"
        self.socket = self.home / "hub.sock"

    def serve_names(self, collector):
        env = variables(collector, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=f"{collector.url}/v1/logs", OTEL_BLRP_SCHEDULE_DELAY="10")
        hub = self.daemon(env=env, manifest={
            "hub": {"remember": "none", "meta_tools": ["toolsets", "saved"]}, "state": str(self.home / "state.db"),
            "listen": [{"http": "127.0.0.1:0", "metrics": True, "api": True}, {"unix": str(self.socket)}],
            "auth": {"issuers": [{"issuer": self.provider.issuer, "audiences": [AUDIENCE]}]},
            "log": {"audit": str(self.audit)}, "toolsets": {"a": fixture("one"), "b": fixture("two")}})
        hub.listening(2)
        hub.strict = False
        return Server(self, hub)

    def act(self, server):
        """What each of them does; who was let in."""
        let_in = []
        for name in (*GOOD, *BAD):
            headers = bearer(self.provider.token(sub=name))
            if server.modern("tools/list", headers=headers).status == 200:
                let_in.append(name)
                self.assertNotIn("isError", server.call("disable_toolset", {"toolset": "b"}, headers=headers).answer.result)
                self.build(server, name, headers)
                server.call("a__one", headers=headers)
        return let_in

    def build(self, server, name, headers):
        """Such a name is none of a saved toolset: it is refused, and nothing is kept. As a description it is kept."""
        for arguments, is_kept in (({"name": name}, False), ({"name": "mine", "description": name, "replace": True}, True)):
            result = server.call("build-toolset", {"tools": ["a:one"], **arguments}, headers=headers).answer.result
            self.assertEqual(result.get("isError", False), not is_kept, result)
            self.assertEqual(result["structuredContent"].get("code"), None if is_kept else "E_VALIDATION")
        saved = server.call("list-saved-toolsets", headers=headers).answer.result["structuredContent"]["toolsets"]
        self.assertEqual([(one["name"], one["description"]) for one in saved], [("mine", name)])

    def see(self, *words):
        """What a command shows at a terminal."""
        ours, theirs = pty.openpty()
        process = self.start(*words, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs)
        os.close(theirs)
        seen = b""
        try:
            while piece := os.read(ours, 65536):
                seen += piece
        except OSError:  # the other side is closed
            pass
        os.close(ours)
        process.wait()
        return re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", seen.decode()).replace("\r", "")  # but for its own colours

    def tail_of(self, server, name):
        """A line of tail about somebody."""
        headers = bearer(self.provider.token(sub=name))
        process = self.start("tail", "event=call.ended", stdout=subprocess.PIPE, text=True)
        while not select.select([process.stdout], [], [], 0.1)[0]:
            server.call("a__one", headers=headers)
        return process.stdout.readline()

    def test_everywhere(self):
        collector = Collector(self)
        server = self.serve_names(collector)
        root = bearer(self.provider.token(sub="root", scope="admin:read"))
        since = json.loads(server.get("/api/v1/events", [*root.items()]).body)["next"]
        self.assertEqual(self.act(server), GOOD)
        who = {f"{KIND}{self.provider.issuer}#{name}" for name in GOOD}

        self.assertEqual(unseen(server.hub.log), set())
        self.assertEqual([line for line in server.hub.log.splitlines() if "forged" in line and " principal=" not in line and " by=" not in line], [])
        self.assertSays(server.hub.log, "left\\u202eright", "tag\\udb40\\udc41\\u2028\\u2066")

        audited = [json.loads(line) for line in self.audit.read_text(encoding="utf-8").split("\n")[:-1]]
        self.assertLessEqual(who, {one["who"] for one in audited})
        self.assertEqual({one["who"] for one in audited} - who - {f"{KIND}{self.provider.issuer}#root"}, set())
        self.assertEqual(self.cli("audit", "verify", self.audit, modules=False).returncode, 0)

        events = json.loads(server.get(f"/api/v1/events?since={since}", [*root.items()]).body)["events"]
        self.assertLessEqual(who, {one.get("who") for one in events})
        self.assertLessEqual(who, {one.get("by") for one in events})
        for path in ("principals", "audit"):
            self.assertLessEqual(who, set(strings(json.loads(server.get(f"/api/v1/{path}", [*root.items()]).body))), path)

        text = server.get("/metrics", [*root.items()]).body.decode()
        self.assertTrue(samples(text))
        self.assertEqual([name for name in GOOD if name in text], [])
        if shutil.which("promtool"):
            done = subprocess.run(["promtool", "check", "metrics"], input=text.encode(), capture_output=True, check=False)
            self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

        for words in (("status",), ("top",), ("toolset", "build", GOOD[1], "a:one"), ("toolset", "build", "kit", "a:one", "--description", GOOD[1]),
                      ("toolset", "list"), ("toolset", "show", GOOD[1]), ("toolset", "show", "kit"), ("nothing", GOOD[1])):
            shown = self.see(*words)
            self.assertTrue(shown, words)
            self.assertEqual(unseen(shown), set(), words)
        self.assertSays(self.see("status"), "left\\u{202e}right")
        line = self.tail_of(server, GOOD[1])
        self.assertSays(line, "left\\u{202e}right")
        self.assertEqual(unseen(line), set())

        collector.wait(lambda: who <= set(strings([json.loads(body) for body in collector.bodies("logs")])), "records about each of them", TIMEOUT)


class Lists(RunningBase):
    def test_what_a_server_says_of_its_tools(self):
        """Columns show it as it is written, in a pipe and at a terminal."""
        name = "left\u202eright \x1b]0;owned\x07 c1\x9b31m del\x7f"
        toolsets = {"a": fixture({**tool("one"), "description": name})}
        done = self.cli("list", toolsets=toolsets)
        self.assertSays(done.stdout, "a__one", "left\\u{202e}right \\u{1b}]0;owned? c1\\u{9b}31m del\\u{7f}")
        self.assertEqual(unseen(done.stdout), set())


def strings(value):
    """All texts in a JSON value."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, (list, dict)):
        for one in value.values() if isinstance(value, dict) else value:
            yield from strings(one)


if __name__ == "__main__":
    main()
