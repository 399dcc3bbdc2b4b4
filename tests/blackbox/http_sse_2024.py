# SPDX-License-Identifier: Apache-2.0
"""HTTP+SSE (2024-11-05 basic/transports, HTTP with SSE), for clients that know nothing newer."""

import socket

from http_client import EVENTS, JSON, HttpTest, Stream, dump, render
from mcp import INVALID_REQUEST, LEGACY, LIST_CHANGED, PARSE_ERROR, fixture, main

TOOLSETS = {"a": fixture("one", "hold"), "b": fixture("two", active=False)}


class OldClient:
    def __init__(self, server, path="/sse", headers=()):
        self.server = server
        self.stream = Stream(server.connection().send(render("GET", path, [("Accept", EVENTS), *headers])))
        event = self.stream.next()
        server.test.assertEqual(event.name, "endpoint")
        server.test.assertIsNone(event.id)
        self.endpoint = event.data

    def post(self, message, headers=()):
        return self.server.ask("POST", self.endpoint, [("Content-Type", JSON), *headers], dump(message))

    def request(self, method, params=None, request_id=1):
        """Send a request and wait for its answer in the stream."""
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}}
        reply = self.post(message)
        self.server.test.assertEqual((reply.status, reply.body), (202, b""))
        return self.next()

    def next(self):
        event = self.stream.next()
        self.server.test.assertEqual((event.name, set(event.fields)), ("message", {"event", "data"}))
        return event.message

    def initialize(self, revision="2024-11-05"):
        params = {"protocolVersion": revision, "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}
        answer = self.request("initialize", params)
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return answer


class HttpWithSse(HttpTest):
    def setUp(self):
        super().setUp()
        self.server = self.http(toolsets=TOOLSETS, manifest={"profiles": {"few": {"toolsets": ["b"]}}})

    def test_a_conversation(self):
        for revision in LEGACY:
            client = OldClient(self.server)
            self.assertRegex(client.endpoint, r"\A/messages\?sessionId=[0-9a-f]{32}\Z")
            self.assertEqual(client.initialize(revision).result["protocolVersion"], revision)
            answer = client.request("tools/call", {"name": "a__one", "arguments": {}}, request_id="x")
            self.assertEqual((answer.id, answer.result["content"][0]["text"]), ("x", "fixture"))
            self.server.check(answer, revision, "tools/call")
            for number, name in ((3, "enable_toolset"), (4, "disable_toolset")):
                # The answer waits for what is remembered of the choice, which takes a disk longer or shorter.
                said = [client.request("tools/call", {"name": name, "arguments": {"toolset": "b"}}, request_id=number), client.next()]
                self.assertEqual(sorted(one.method or "answer" for one in said), ["answer", LIST_CHANGED])
            client.stream.close()

    def test_profiles(self):
        client = OldClient(self.server, "/sse/few")
        client.initialize()
        self.assertIn("b__two", [tool["name"] for tool in client.request("tools/list").result["tools"]])
        self.refusal(self.server.get("/sse/none", [("Accept", EVENTS)]), 404, "profile")

    def test_the_session_ends_with_its_stream(self):
        client = OldClient(self.server)
        client.initialize()
        client.post({"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "a__hold", "arguments": {}}})
        client.stream.close()
        probe = OldClient(self.server)  # comes later than the end of the other
        probe.initialize()
        self.assertEqual(client.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status, 404)

    def test_bytes_behind_the_request_of_a_stream(self):  # H03, H13: held back, and no reason not to see the end
        server = self.http(toolsets=TOOLSETS, manifest={"limits": {"sse_comment": "200ms"}})
        half, gone = OldClient(server), OldClient(server)
        for client in (half, gone):
            client.initialize()
            client.stream.connection.send(render("GET", "/healthz") + b"x")
        half.stream.connection.socket.shutdown(socket.SHUT_WR)
        while half.stream.connection.fill():
            pass
        gone.stream.close()
        clock = server.listen(toolsListChanged=True)
        status = 202
        while status == 202:
            clock.wait_comment()
            status = gone.post({"jsonrpc": "2.0", "method": "notifications/initialized"}).status
        self.assertEqual(status, 404)
        self.assertIdle(server)

    def test_messages_that_go_nowhere(self):
        client = OldClient(self.server)
        ping = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
        for path, status in (
            ("/messages", 400),
            ("/messages?sessionId=", 400),
            ("/messages?sessionId=nobody", 404),
            (client.endpoint[:-1], 404),
            (client.endpoint + "x", 404),
            ("/messages?SESSIONID=x", 400),
        ):
            reply = self.server.ask("POST", path, [("Content-Type", JSON)], dump(ping))
            self.refusal(reply, status, "session")
        mixed = client.endpoint.replace("?", "?a=b&") + "&c=d"
        self.assertEqual(self.server.ask("POST", mixed, [("Content-Type", JSON)], dump(ping)).status, 202)
        self.assertEqual(client.next().result, {})
        self.error(client.post(b"{"), 400, PARSE_ERROR)
        self.error(client.post([ping]), 400, INVALID_REQUEST)

    def test_eras_do_not_share_sessions(self):
        old, new = OldClient(self.server), self.server.legacy()
        name = old.endpoint.split("=")[1]
        self.assertEqual(new.request("ping", headers={"Mcp-Session-Id": name}).status, 404)
        reply = self.server.ask("POST", f"/messages?sessionId={new.id}", [("Content-Type", JSON)], b"{}")
        self.refusal(reply, 404)

    def test_the_end_of_the_hub(self):
        client = OldClient(self.server)
        client.initialize()
        self.server.hub.finish()
        self.assertIsNone(client.stream.next())

    def test_over_http_1_0(self):
        stream = Stream(self.server.connection().send(render("GET", "/sse", version="HTTP/1.0")))
        self.assertEqual(stream.next().name, "endpoint")


if __name__ == "__main__":
    main()
