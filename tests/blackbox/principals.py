# SPDX-License-Identifier: Apache-2.0
"""What one principal enables or disables never shows another one anything, on any transport and in either era."""

import json

from evil_websocket import WebSocket, call
from http_client import Server
from listen import Lines
from mcp import HubTest, LegacyClient, fixture, main

TOOLSETS = {"alpha": fixture("one"), "beta": fixture("two", active=False)}
ALPHA, BETA = "alpha__one", "beta__two"


class Principals(HubTest):
    def setUp(self):
        super().setUp()
        self.tokens = self.home / "tokens.json"

    def bearer(self, name):
        done = self.cli("token", "new", name, "--tokens", self.tokens, modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {"Authorization": f"Bearer {done.stdout.strip()}"}

    def served(self):
        self.ann, self.bob = self.bearer("ann"), self.bearer("bob")
        hub = self.hub("--stdio", "--http", 0, "--unix", "hub.sock", "--tokens", self.tokens, toolsets=TOOLSETS)
        hub.wait_until(lambda: hub.log.count("listen.ready") >= 2, "both listeners")
        return hub, Server(self, hub)

    def change(self, name, client, tool, toolset):
        found = client.call(tool, {"toolset": toolset})
        data = getattr(found, "answer", found).data
        self.assertNotIn("isError", data["result"], (name, data))

    def modern(self, server, headers):
        reply = server.modern("tools/list", headers=headers)
        return {tool["name"] for tool in reply.message.result["tools"]}

    def legacy(self, session):
        return {tool["name"] for tool in session.request("tools/list").answer.result["tools"]}

    def over_socket(self, socket_):
        return {tool["name"] for tool in socket_.request("tools/list")["result"]["tools"]}

    def over_websocket(self, websocket):
        answer = websocket.ask(json.dumps({"jsonrpc": "2.0", "id": 77, "method": "tools/list"}))
        return {tool["name"] for tool in answer.result["tools"]}

    def test_on_every_transport(self):
        hub, server = self.served()
        stdio = LegacyClient(hub)  # local
        socket_ = Lines(self.home / "hub.sock")  # uid:N
        self.addCleanup(socket_.close)
        session = server.legacy(headers=self.ann)  # token:ann, in three ways
        websocket = WebSocket(server, headers=self.ann)
        other = server.legacy(headers=self.bob)
        since = hub.mark

        enabled = server.modern(
            "tools/call", {"name": "enable_toolset", "arguments": {"toolset": "beta"}}, headers=self.ann
        )
        self.assertNotIn("isError", enabled.answer.result)
        for names in (self.modern(server, self.ann), self.legacy(session)):
            self.assertLessEqual({ALPHA, BETA}, names)
        for names in (self.modern(server, self.bob), self.legacy(other), set(stdio.names()), self.over_socket(socket_)):
            self.assertIn(ALPHA, names)
            self.assertNotIn(BETA, names)
        refused = other.call(BETA).answer
        self.assertEqual(refused.code, -32602)

        self.change("bob", other, "disable_toolset", "alpha")
        self.assertNotIn(ALPHA, self.modern(server, self.bob))
        self.change("stdio", stdio, "enable_toolset", "beta")
        self.assertIn(BETA, stdio.names())
        self.assertIn(ALPHA, self.over_socket(socket_))
        self.assertNotIn(BETA, self.over_socket(socket_))
        self.assertIn(ALPHA, self.legacy(session))
        self.assertNotIn("isError", websocket.ask(call(5, BETA)).result)
        hub.wait_log("toolset.enabled toolset=beta tools=1 principal=token:ann")
        self.assertIn("principal=local", hub.wait_log("toolset.enabled toolset=beta tools=1 principal=local"))
        hub.wait_until(lambda: stdio.list_changes(since) > 0, "its own change")
        self.assertEqual(stdio.list_changes(since), 1)  # and nobody else's

    def test_choices_of_modern_clients_outlive_their_requests(self):
        hub, server = self.served()
        LegacyClient(hub)
        change = {"name": "disable_toolset", "arguments": {"toolset": "alpha"}}
        self.assertNotIn("isError", server.modern("tools/call", change, headers=self.ann).answer.result)
        for _ in range(3):
            self.assertNotIn(ALPHA, self.modern(server, self.ann))
            self.assertIn(ALPHA, self.modern(server, self.bob))


if __name__ == "__main__":
    main()
