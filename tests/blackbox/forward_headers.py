# SPDX-License-Identifier: Apache-2.0
"""What goes on of a client's HTTP headers: those that the upstream's entry names, and nothing else.

RELIABILITY A10 (a token is never passed on by itself); MCP 2026-07-28 basic/authorization, Access
Token Privilege Restriction.
"""

import json
import sys
import threading

from evil_websocket import WebSocket, call
from http_client import HttpTest, Stream
from mcp import SUPPORT, LegacyClient, main

sys.path.insert(0, str(SUPPORT))

from http_upstream import HttpUpstream  # noqa: E402

TOKEN = "Bearer canary-51d0"
OWN = "Bearer of-the-hub"


class ForwardHeaders(HttpTest):
    def start(self, names=("X-Tenant",), era="legacy", **keys):
        """An upstream that is forwarded these headers, and a hub in front of it."""
        upstream = HttpUpstream(era)
        self.addCleanup(upstream.close)
        entry = {"url": upstream.url, **keys}
        if names is not None:
            entry["forward_headers"] = list(names)
        return upstream, self.http(toolsets={"up": entry})

    def sent(self, upstream, key="tools/call"):
        return upstream.of(key)[-1].headers

    def text(self, message):
        return message.result["content"][0]["text"]


class Forwarding(ForwardHeaders):
    def test_what_is_named_and_nothing_else(self):
        headers = {"X-Tenant": "a", "Authorization": TOKEN, "Cookie": "c=1", "X-Other": "b", "X-Forwarded-For": "::1"}
        for era in ("legacy", "modern"):
            with self.subTest(era):
                upstream, server = self.start(era=era)
                server.call("up__echo", headers=headers).message.result
                session = server.legacy(headers=headers)
                session.call("up__echo").message.result
                calls = upstream.of("tools/call")
                self.assertEqual([x.headers["x-tenant"] for x in calls], ["a", "a"])
                for x in upstream.requests:
                    self.assertEqual({"authorization", "cookie", "x-other", "x-forwarded-for"} & set(x.headers), set())
                    if x.rpc != "tools/call":
                        self.assertNotIn("x-tenant", x.headers)
                self.assertNotIn("canary", server.hub.log)

    def test_a_client_without_a_credential(self):
        """Its refusal is its own: the server is not closed to those who have one."""
        upstream, server = self.start(["Authorization"])
        upstream.on["tools/call"] = lambda x, good=upstream.call: (
            good(x) if x.headers.get("authorization") == TOKEN else x.status(401)
        )
        server.call("up__echo", headers={"Authorization": TOKEN}).message.result
        self.assertIn("credential refused", server.call("up__echo").message.tool_error["message"])
        again = server.call("up__echo", {"n": 1}, headers={"Authorization": TOKEN}).message
        self.assertEqual(json.loads(self.text(again)), {"n": 1})
        self.assertEqual(len(upstream.of("initialize")), 1)

    def test_questions_that_are_refused(self):
        """The refusal of a question goes on the call's behalf, too."""
        upstream, server = self.start(["Authorization"])

        def call(x):
            params = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
            x.stream()
            for n, method in enumerate(("elicitation/create", "no/such", "ping")):
                x.event({"jsonrpc": "2.0", "id": f"q-{n}", "method": method, "params": params})

            def all_said():
                said = [r.headers.get("authorization") for r in upstream.requests if str(r.message.get("id")).startswith("q-")]
                return said if len(said) == 3 else None

            x.event(x.reply(result=upstream.said(str(upstream.wait_until(all_said, "the answers")))))
            x.close()

        upstream.on["tools/call"] = call
        answer = server.legacy(headers={"Authorization": TOKEN}).call("up__echo").message
        self.assertEqual(self.text(answer), str([TOKEN] * 3))

    def test_without_the_key_nothing_goes_on(self):
        for names in (None, ()):
            upstream, server = self.start(names)
            server.call("up__echo", headers={"X-Tenant": "a", "Authorization": TOKEN}).message.result
            self.assertNotIn("x-tenant", self.sent(upstream))
            self.assertNotIn("authorization", self.sent(upstream))

    def test_authorization_when_it_is_named(self):
        """It stands in place of the configured one, for that client's requests alone."""
        upstream, server = self.start(["authorization"], headers={"Authorization": OWN, "X-Hub": "1"})
        server.call("up__echo", headers={"Authorization": TOKEN}).message.result
        server.call("up__echo").message.result
        with_it, without_it = upstream.of("tools/call")
        self.assertEqual([with_it.headers["authorization"], without_it.headers["authorization"]], [TOKEN, OWN])
        self.assertEqual(with_it.header_names.count("authorization"), 1)
        self.assertEqual(with_it.headers["x-hub"], "1")
        for x in upstream.requests:
            self.assertEqual(x.headers["authorization"] == TOKEN, x is with_it)
        server.hub.wait_log("forward_headers")  # said at start: the server could use it in the client's place
        self.assertNotIn("canary", server.hub.log)

    def test_each_server_gets_what_its_own_entry_names(self):
        first, second = HttpUpstream(), HttpUpstream()
        self.addCleanup(first.close)
        self.addCleanup(second.close)
        server = self.http(
            toolsets={
                "first": {"url": first.url, "forward_headers": ["X-A", "X-Both"]},
                "second": {"url": second.url, "forward_headers": ["x-both", "X-B"]},
            }
        )
        headers = {"X-A": "1", "X-B": "2", "X-Both": "3"}
        server.call("first__echo", headers=headers).message.result
        server.call("second__echo", headers=headers).message.result
        seen = [{k: v for k, v in self.sent(u).items() if k.startswith("x-")} for u in (first, second)]
        self.assertEqual(seen, [{"x-a": "1", "x-both": "3"}, {"x-both": "3", "x-b": "2"}])

    def test_clients_at_the_same_time(self):
        upstream, server = self.start()
        both = threading.Barrier(2)

        def call_back(x):
            both.wait(upstream.timeout)
            x.result(upstream.said(x.headers["x-tenant"]))

        upstream.on["tools/call"] = call_back
        server.modern("tools/list").message.result
        sessions = [server.legacy() for _ in range(2)]
        connections = [server.connection() for _ in range(2)]
        for n in range(2):
            message = sessions[n].message("tools/call", {"name": "up__echo", "arguments": {}}, request_id=1)
            connections[n].send(sessions[n].post_bytes(message, {"X-Tenant": f"tenant-{n}"}))
        self.assertEqual([self.text(c.reply().message) for c in connections], ["tenant-0", "tenant-1"])

    def test_values_as_they_came(self):
        upstream, server = self.start(["X-Tenant", "X-List", "X-Empty", "X-Long"])
        long = "l" * 8000
        message = server.modern_request("tools/call", {"name": "up__echo", "arguments": {}})
        headers = [
            *server.modern_headers(message),
            ("X-Tenant", '  "a: b", =?base64?YQ==?= \xe9  '),
            ("X-List", "1"),
            ("x-list", "2"),
            ("X-Empty", ""),
            ("X-Long", long),
        ]
        self.assertIn(b'"result"', server.ask("POST", "/mcp", headers, json.dumps(message).encode()).body)
        sent = self.sent(upstream)
        self.assertEqual(sent["x-tenant"], '"a: b", =?base64?YQ==?= \xe9')
        self.assertEqual(sent["x-list"], "1, 2")
        self.assertNotIn("x-empty", sent)
        self.assertEqual(sent["x-long"], long)

    def test_every_request_of_a_client(self):
        upstream, server = self.start()
        upstream.capabilities = {"tools": {}, "resources": {}, "prompts": {}, "completions": {}}
        upstream.on.update(
            {
                "resources/list": lambda x: x.result({"resources": [{"uri": "a:b", "name": "b"}]}),
                "resources/templates/list": lambda x: x.result({"resourceTemplates": []}),
                "prompts/list": lambda x: x.result({"prompts": [{"name": "p"}]}),
                "resources/read": lambda x: x.result({"contents": [{"uri": "a:b", "text": ""}]}),
                "prompts/get": lambda x: x.result({"messages": []}),
                "completion/complete": lambda x: x.result({"completion": {"values": []}}),
            }
        )
        session = server.legacy(headers={"X-Tenant": "a"})
        uri = session.request("resources/list").message.result["resources"][0]["uri"]
        prompt = session.request("prompts/list").message.result["prompts"][0]["name"]
        session.request("resources/read", {"uri": uri}).message.result
        session.request("prompts/get", {"name": prompt}).message.result
        about = {"ref": {"type": "ref/prompt", "name": prompt}, "argument": {"name": "a", "value": ""}}
        session.request("completion/complete", about).message.result
        for method in ("resources/read", "prompts/get", "completion/complete"):
            self.assertEqual(self.sent(upstream, method).get("x-tenant"), "a", method)
        for method in ("resources/list", "prompts/list", "initialize"):
            self.assertNotIn("x-tenant", self.sent(upstream, method))

    def test_a_request_that_waited_for_the_server(self):
        upstream, server = self.start()
        held = threading.Event()
        good = upstream.on["initialize"]
        upstream.on["initialize"] = lambda x: (held.wait(upstream.timeout), good(x))
        message = server.modern_bytes(
            "tools/call", {"name": "up__echo", "arguments": {}}, {"X-Tenant": "early"}
        )
        connection = server.connection().send(message)
        upstream.wait("initialize")
        held.set()
        self.assertIn("result", connection.reply().message.data)
        self.assertEqual(self.sent(upstream)["x-tenant"], "early")

    def test_a_call_that_is_sent_again_or_resumed(self):
        upstream, server = self.start()
        session = server.legacy(headers={"X-Tenant": "a"})
        session.call("up__echo").message.result
        upstream.session += 100  # the server was restarted
        session.call("up__echo").message.result
        calls = []

        def call_back(x):
            calls.append(x)
            x.stream().event(None, event_id="e1", retry=10)
            x.close()

        def get(x):
            if x.headers.get("last-event-id") != "e1":
                x.status(405)
                return
            x.stream().event(calls[0].reply(result=upstream.said("late")))
            x.close()

        upstream.on.update({"tools/call": call_back, "GET": get})
        reply = session.call("up__echo")
        self.assertEqual(self.text((reply.messages if reply.is_stream else [reply.message])[-1]), "late")
        self.assertEqual([x.headers["x-tenant"] for x in upstream.of("tools/call")], ["a"] * 4)
        resumed = [x for x in upstream.of("GET") if "last-event-id" in x.headers]
        self.assertEqual([x.headers.get("x-tenant") for x in resumed], ["a"])

    def test_a_client_that_comes_back_with_answers(self):
        """Of two requests that are one call, the second one's headers count (MCP 2026-07-28, input_required)."""
        upstream, server = self.start(era="modern")

        def call_back(x):
            if "inputResponses" in x.params:
                x.result(upstream.said("done"))
            else:
                schema = {"type": "object", "properties": {}}
                asked = {"mode": "form", "message": "?", "requestedSchema": schema}
                question = {"q": {"method": "elicitation/create", "params": asked}}
                x.result({"resultType": "input_required", "inputRequests": question, "requestState": "s"})

        upstream.on["tools/call"] = call_back
        params = {"name": "up__echo", "arguments": {}}
        able = {"capabilities": {"elicitation": {"form": {}}}}
        first = server.modern("tools/call", params, {"X-Tenant": "one"}, **able).message.result
        again = {
            **params,
            "inputResponses": {key: {"action": "accept", "content": {}} for key in first["inputRequests"]},
            "requestState": first["requestState"],
        }
        result = server.modern("tools/call", again, {"X-Tenant": "two"}, **able).message.result
        self.assertEqual(result["content"][0]["text"], "done")
        self.assertEqual([x.headers["x-tenant"] for x in upstream.of("tools/call")], ["one", "two"])

    def test_a_cancellation_goes_with_them(self):
        upstream, server = self.start()
        upstream.on["tools/call"] = lambda x: x.stream().wait_gone()
        session = server.legacy(headers={"X-Tenant": "a"})
        session.request("tools/list").message.result
        message = session.message("tools/call", {"name": "up__echo", "arguments": {}}, request_id=77)
        server.connection().send(session.post_bytes(message))
        upstream.wait("tools/call")
        session.notify("notifications/cancelled", {"requestId": 77})
        self.assertEqual(upstream.wait("notifications/cancelled").headers.get("x-tenant"), "a")


    def test_the_answer_to_a_question_goes_with_them(self):
        upstream, server = self.start()

        def call_back(x):
            params = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
            x.stream().event({"jsonrpc": "2.0", "id": "q-1", "method": "elicitation/create", "params": params})
            upstream.wait_until(lambda: [r for r in upstream.requests if r.message.get("id") == "q-1"], "the answer")
            x.event(x.reply(result=upstream.said("done")))
            x.close()

        upstream.on["tools/call"] = call_back
        session = server.legacy(headers={"X-Tenant": "a"}, capabilities={"elicitation": {}})
        session.request("tools/list").message.result
        stream = session.open_post("tools/call", {"name": "up__echo", "arguments": {}}, request_id=7)
        question = stream.message()
        reply = {"jsonrpc": "2.0", "id": question.id, "result": {"action": "accept", "content": {}}}
        self.assertEqual(session.post(reply).status, 202)
        self.assertEqual(self.text(stream.message()), "done")
        answer = [x for x in upstream.requests if x.message.get("id") == "q-1"][0]
        self.assertEqual(answer.headers.get("x-tenant"), "a")


class OtherClients(ForwardHeaders):
    def test_a_websocket_has_those_of_its_handshake(self):
        upstream, server = self.start(["X-Tenant", "Authorization"])
        socket = WebSocket(server, {"X-Tenant": "w", "X-Other": "o"})
        self.assertIn("result", socket.ask(call(1)).data)
        other = WebSocket(server)
        self.assertIn("result", other.ask(call(1)).data)
        first, second = upstream.of("tools/call")
        self.assertEqual(first.headers["x-tenant"], "w")
        for name in ("x-other", "sec-websocket-key", "upgrade", "authorization"):
            self.assertNotIn(name, first.headers)
        self.assertNotIn("x-tenant", second.headers)

    def test_sse_of_2024(self):
        upstream, server = self.start()
        stream = server.connection()
        stream.send(b"GET /sse HTTP/1.1\r\nHost: localhost\r\nAccept: text/event-stream\r\n\r\n")
        events = Stream(stream)
        path = events.next().data

        def post(number, method, params, headers=None):
            message = {"jsonrpc": "2.0", "id": number, "method": method, "params": params}
            self.assertEqual(server.post(message, headers, path).status, 202)
            return next(m for m in iter(events.message, None) if m.method is None)  # that tools are known now, perhaps

        about = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        self.assertIn("result", post(1, "initialize", about).data)
        self.assertIn("result", post(2, "tools/call", {"name": "up__echo"}, {"X-Tenant": "s"}).data)
        self.assertIn("result", post(3, "tools/call", {"name": "up__echo"}).data)
        self.assertEqual([x.headers.get("x-tenant") for x in upstream.of("tools/call")], ["s", None])

    def test_stdio_has_none(self):
        upstream, server = self.start(["Authorization"], headers={"Authorization": OWN})
        LegacyClient(server.hub).call("up__echo").result
        self.assertEqual(self.sent(upstream)["authorization"], OWN)


class Refused(ForwardHeaders):
    def test_a_clients_credential_closes_the_server_to_nobody_else(self):
        for status in (401, 403):
            with self.subTest(status):
                upstream, server = self.start(["Authorization"])
                good = upstream.call
                upstream.on["tools/call"] = lambda x, s=status: (
                    good(x) if x.headers.get("authorization") == TOKEN else x.status(s)
                )
                failed = server.call("up__echo", headers={"Authorization": "Bearer bad"}).message
                self.assertSays(failed.tool_error["message"], "credential refused", str(status), "client")
                server.call("up__echo", headers={"Authorization": TOKEN}).message.result["content"]
                self.assertEqual(len(upstream.of("initialize")), 1)

    def test_names_that_are_no_good(self):
        cases = (
            *((name, f'"{name}"', "cannot be forwarded") for name in
              ("Host", "content-type", "Content-Length", "MCP-Session-Id", "mcp-anything", "Accept", "accept-encoding",
               "Connection", "Transfer-Encoding", "Proxy-Authorization", "Last-Event-ID", "Upgrade", "TE", "Expect",
               "Sec-WebSocket-Key")),
            ("a b", "forward_headers[0]", "name of a header"),
            ("", "name of a header"),
            (5, "name of a header"),
        )
        for name, *words in cases:
            with self.subTest(name):
                code, said = self.refused(toolsets={"up": {"url": "http://127.0.0.1:1", "forward_headers": [name]}})
                self.assertNotEqual(code, 0)
                self.assertSays(said, *words)

    def test_who_cannot_have_any(self):
        code, said = self.refused(toolsets={"up": {"command": "x", "forward_headers": ["X-A"]}})
        self.assertNotEqual(code, 0)
        self.assertSays(said, "forward_headers", '"url"')

    def test_how_many(self):
        names = [f"X-{n}" for n in range(33)]
        code, said = self.refused(toolsets={"up": {"url": "http://127.0.0.1:1", "forward_headers": names}})
        self.assertNotEqual(code, 0)
        self.assertSays(said, "more than 32 headers")
        upstream, server = self.start(names[:32])
        server.call("up__echo", headers={"X-31": "last"}).message.result
        self.assertEqual(self.sent(upstream)["x-31"], "last")


if __name__ == "__main__":
    main()
