# SPDX-License-Identifier: Apache-2.0
"""Two clients of one upstream: neither hears what is the other's.

A server over one pipe does not say for which call it asks or logs (DESIGN.md, "ask").
"""

import json
import socket

from mcp import TIMEOUT, HubTest, LegacyClient, main, slice_at

ALL = {"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {}}
MESSAGE = "notifications/message"
UPDATED = "notifications/resources/updated"
ONE = "rec:///one"


class Stranger:
    """A second legacy client, on the hub's Unix socket. It keeps all that it is sent."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rb")
        self.seen = []
        self.last = 0
        info = {"name": "stranger", "version": "1"}
        self.request("initialize", {"protocolVersion": "2025-11-25", "capabilities": ALL, "clientInfo": info})
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def start(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        return self.last

    def response(self, request_id):
        while True:
            message = json.loads(self.lines.readline())
            self.seen.append(message)
            if message.get("id") == request_id and "method" not in message:
                return message

    def request(self, method, params):
        return self.response(self.start(method, params))

    def methods(self):
        """What it was sent unasked, until now."""
        self.request("ping", {})
        return [message["method"] for message in self.seen if "method" in message]

    def close(self):
        self.lines.close()
        self.socket.close()


class Strangers(HubTest):
    def start(self, era, capabilities=None):
        recorder = self.recorder()
        path = self.home / "hub.sock"
        hub = self.hub("--stdio", "--unix", path, toolsets={"up": recorder.toolset("--era", era, "--content")})
        client = LegacyClient(hub, capabilities=ALL if capabilities is None else capabilities)
        hub.wait_log("listen.ready")
        stranger = Stranger(path)
        self.addCleanup(stranger.close)
        client.call("up__echo").result
        return client, stranger, recorder

    def test_a_question_goes_to_whoever_has_the_call(self):
        client, stranger, _ = self.start("legacy")
        client.hub.answers["roots/list"] = lambda params: {"roots": []}
        said = client.call("up__ask", {"method": "roots/list"}).result["structuredContent"]
        self.assertEqual(said, {"result": {"roots": []}})
        self.assertNotIn("roots/list", stranger.methods())

    def test_a_question_never_goes_to_one_who_could_answer_instead(self):
        client, stranger, _ = self.start("legacy", capabilities={})
        said = client.call("up__ask", {"method": "roots/list"}).result["structuredContent"]
        self.assertIn("error", said)
        self.assertNotIn("roots/list", stranger.methods())

    def test_with_calls_of_both_nobody_is_asked(self):
        client, stranger, recorder = self.start("legacy")
        held = stranger.start("tools/call", {"name": "up__hold", "arguments": {}})
        line = recorder.wait_calls(2)[-1]
        said = client.call("up__ask", {"method": "roots/list"}).result["structuredContent"]
        self.assertSays(said["error"]["message"], "no single client")
        recorder.answer(line)
        stranger.response(held)
        self.assertNotIn("roots/list", stranger.methods())

    def test_log_messages_of_a_call(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                client, stranger, _ = self.start(era)
                for who in (lambda level: client.request("logging/setLevel", level).result,
                            lambda level: stranger.request("logging/setLevel", level)):
                    who({"level": "debug"})
                client.call("up__log", {"level": "error", "data": "mine"}).result
                self.assertEqual(len(client.hub.notifications(MESSAGE)), 1)
                self.assertNotIn(MESSAGE, stranger.methods())
                stranger.close()
                client.hub.finish()

    def test_what_may_be_anothers_is_not_logged_to_either(self):
        client, stranger, recorder = self.start("modern")
        client.request("logging/setLevel", {"level": "debug"}).result
        stranger.request("logging/setLevel", {"level": "debug"})
        held = stranger.start("tools/call", {"name": "up__hold", "arguments": {}})
        line = recorder.wait_calls(2)[-1]
        client.call("up__log", {"level": "error", "data": "mine"}).result
        recorder.answer(line, '"resultType":"complete","content":[]')
        stranger.response(held)
        self.assertEqual(client.hub.notifications(MESSAGE), [])
        self.assertNotIn(MESSAGE, stranger.methods())

    def test_subscriptions(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                client, stranger, recorder = self.start(era)
                client.request("resources/list").result
                client.request("resources/subscribe", {"uri": ONE}).result
                recorder.command(updated=ONE)
                client.hub.wait_for(lambda m: m.method == UPDATED, UPDATED)
                self.assertNotIn(UPDATED, stranger.methods())
                stranger.close()
                client.hub.finish()

    def test_an_answer_that_is_not_theirs_to_give(self):
        """A response with the number of another's question answers nothing."""
        client, stranger, recorder = self.start("legacy")
        request_id = client.send_call("up__ask", {"method": "roots/list"})
        asked = client.hub.wait_for(lambda m: m.method == "roots/list", "the question")
        stranger.send({"jsonrpc": "2.0", "id": asked.id, "result": {"roots": [{"uri": "file:///forged"}]}})
        stranger.methods()
        client.hub.send({"jsonrpc": "2.0", "id": asked.id, "result": {"roots": []}})
        said = client.hub.response(request_id)
        self.assertEqual(slice_at(said.raw, "result", "structuredContent", "result"), '{"roots": []}')


if __name__ == "__main__":
    main()
