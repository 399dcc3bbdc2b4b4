# SPDX-License-Identifier: Apache-2.0
"""Upstreams over HTTP: both eras, sessions, streams and their resumption, HTTP+SSE, and evil ones (S3.13).

MCP 2026-07-28 basic/transports/streamable-http; 2025-11-25 and 2024-11-05 basic/transports.
"""

import json
import sys
import threading
import time

from mcp import LIST_CHANGED, META, MODERN, SUPPORT, Daemon, HubTest, LegacyClient, ModernClient, fixture, main

sys.path.insert(0, str(SUPPORT))

from http_upstream import HttpUpstream  # noqa: E402
from ports import port_of, reserve  # noqa: E402

SECRET = "Bearer canary-7fa1"
LATER = {"restart_delay": "1h", "restart_delay_max": "1h"}


class Upstreams(HubTest):
    def upstream(self, era="legacy", **options):
        made = HttpUpstream(era, **options)
        self.addCleanup(made.close)
        return made

    def entry(self, upstream, **keys):
        return {"url": upstream.url, "headers": {"Authorization": SECRET}, **keys}

    def start(self, upstream, kind=LegacyClient, entry=None, **keys):
        """A client of a hub with this upstream, called `up`."""
        return kind(self.hub(toolsets={"up": {**self.entry(upstream, **(entry or {})), **keys}}))

    def text(self, answer):
        return answer.result["content"][0]["text"]

    def failure(self, answer):
        return answer.tool_error["message"]


class Legacy(Upstreams):
    def test_the_headers_of_a_session(self):
        upstream = self.upstream()
        client = self.start(upstream)
        self.assertIn("up__echo", client.names())
        self.assertEqual(json.loads(self.text(client.call("up__echo", {"a": 1}))), {"a": 1})
        upstream.wait("GET")
        client.hub.finish()
        gone = upstream.wait("DELETE")
        self.assertEqual(gone.headers["mcp-session-id"], "session-1")
        order = [x.rpc or x.method for x in upstream.requests]
        self.assertEqual(order[:3], ["server/discover", "initialize", "notifications/initialized"])
        for x in upstream.requests:
            self.assertEqual(x.headers["authorization"], SECRET)
            self.assertNotIn("accept-encoding", x.headers)
            self.assertNotIn("expect", x.headers)
            self.assertEqual(len(x.header_names), len(set(x.header_names)))
            if x.method == "POST":
                self.assertEqual(x.headers["content-type"], "application/json")
                self.assertEqual(x.headers["accept"], "application/json, text/event-stream")
        for x in upstream.requests[2:]:
            self.assertEqual(x.headers["mcp-session-id"], "session-1")
            self.assertEqual(x.headers["mcp-protocol-version"], "2025-11-25")
            self.assertNotIn("mcp-method", x.headers)
        self.assertNotIn("mcp-session-id", upstream.of("initialize")[0].headers)
        self.assertNotIn("mcp-protocol-version", upstream.of("initialize")[0].headers)
        self.assertEqual(upstream.of("GET")[0].headers["accept"], "text/event-stream")

    def test_the_agreed_revision_is_sent(self):
        upstream = self.upstream(sessions=False)
        upstream.revision = "2025-03-26"
        client = self.start(upstream)
        client.call("up__echo").result
        call = upstream.of("tools/call")[0]
        self.assertEqual(call.headers["mcp-protocol-version"], "2025-03-26")
        self.assertNotIn("mcp-session-id", call.headers)
        client.hub.finish()
        self.assertEqual(upstream.of("DELETE"), [])

    def test_connections_are_kept(self):
        upstream = self.upstream()
        client = self.start(upstream)
        for _ in range(20):
            client.call("up__echo").result
        self.assertLessEqual(len({x.peer for x in upstream.of("tools/call")}), 2)

    def test_an_event_stream_with_progress(self):
        upstream = self.upstream()

        def call(x):
            token = x.params["_meta"]["progressToken"]
            x.stream()
            x.chunk(": a comment\r\n\r\n")
            for n in (1, 2):
                params = {"progressToken": token, "progress": n}
                x.event({"jsonrpc": "2.0", "method": "notifications/progress", "params": params})
            x.event(x.reply(result=upstream.said("done")))
            x.close()
            with upstream.condition:
                ended.append(x)
                upstream.condition.notify_all()

        ended = []
        upstream.on["tools/call"] = call
        client = self.start(upstream)
        client.names()
        for n in range(10):
            upstream.wait_until(lambda n=n: len(ended) == n, "the end of the stream before")
            since = client.hub.mark
            self.assertEqual(self.text(client.call("up__echo", meta={"progressToken": "mine"})), "done")
            told = client.hub.notifications("notifications/progress", since)
            self.assertEqual([m.params["progress"] for m in told], [1, 2])
        peers = {x.peer for x in upstream.of("tools/call")}
        self.assertLess(len(peers), 10)  # read to its end, so reused, unless the next call overtook the end

    def test_a_stream_that_does_not_end_behind_its_answer(self):
        upstream = self.upstream()

        def call(x):
            x.stream().event(x.reply(result=upstream.said("done")))
            x.event(x.reply(result=upstream.said("again")))
            x.wait_gone()

        upstream.on["tools/call"] = call
        client = self.start(upstream)
        self.assertEqual(self.text(client.call("up__echo")), "done")
        self.assertTrue(upstream.of("tools/call")[0].is_gone.wait(upstream.timeout))

    def test_a_question_goes_to_whom_it_is_about(self):  # S: an elicitation never reaches another client
        upstream = self.upstream()
        both = threading.Barrier(2)

        def call(x):
            mine = x.params["arguments"]["who"]
            both.wait(upstream.timeout)  # two sessions have calls here: a pipe could not tell them apart
            x.stream()
            params = {"mode": "form", "message": mine, "requestedSchema": {"type": "object", "properties": {}}}
            x.event({"jsonrpc": "2.0", "id": "ask-" + mine, "method": "elicitation/create", "params": params})
            answer = upstream.wait_until(
                lambda: next((r for r in upstream.requests if r.message.get("id") == "ask-" + mine), None), "it"
            )
            x.event(x.reply(result=upstream.said(json.dumps(answer.message["result"]))))
            x.close()

        upstream.on["tools/call"] = call
        daemon = self.daemon("--http", "127.0.0.1:0", toolsets={"up": self.entry(upstream)})
        url = daemon.url
        clients = [
            LegacyClient(self.hub(toolsets={"far": {"url": url}}), capabilities={"elicitation": {}})
            for _ in ("left", "right")
        ]
        ids = []
        for client, who in zip(clients, ("left", "right")):
            client.hub.answers["elicitation/create"] = lambda params: {
                "action": "accept",
                "content": {"said": params["message"]},
            }
            name = next(n for n in client.names() if n.endswith("up__echo"))
            ids.append(client.send_call(name, {"who": who}))
        for client, request_id, who in zip(clients, ids, ("left", "right")):
            answer = json.loads(self.text(client.hub.response(request_id)))
            self.assertEqual(answer["content"], {"said": who})

    def test_cancelling(self):
        upstream = self.upstream()
        upstream.on["tools/call"] = lambda x: x.stream().wait_gone()
        client = self.start(upstream)
        client.names()
        call = client.send_call("up__echo")
        sent = upstream.wait("tools/call")
        client.cancel(call)
        told = upstream.wait("notifications/cancelled")
        self.assertEqual(told.params["requestId"], sent.message["id"])
        self.assertTrue(sent.is_gone.wait(upstream.timeout))

    def test_changes_come_on_the_stream(self):
        upstream = self.upstream()
        streams = []

        def get(x):
            streams.append(x.stream())
            with upstream.condition:
                upstream.condition.notify_all()
            x.wait_gone()

        upstream.on["GET"] = get
        client = self.start(upstream)
        client.names()
        upstream.wait_until(lambda: streams, "the stream")
        since = client.hub.mark
        upstream.tools = [*upstream.tools, {"name": "more", "inputSchema": {"type": "object"}}]
        streams[0].event({"jsonrpc": "2.0", "method": LIST_CHANGED})
        client.wait_list_changed(since)
        self.assertIn("up__more", client.names())


class Sessions(Upstreams):
    def test_a_lost_session_is_begun_again(self):
        upstream = self.upstream()
        client = self.start(upstream)
        client.call("up__echo", {"n": 1}).result
        upstream.session += 100  # it was restarted
        since = len(upstream.requests)
        self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": 2}))), {"n": 2})
        self.assertEqual(len(upstream.of("initialize", since)), 1)
        calls = upstream.of("tools/call", since)
        self.assertEqual([x.headers["mcp-session-id"] for x in calls], ["session-1", "session-102"])
        self.assertEqual(calls[0].text, calls[1].text)
        self.assertEqual(len(upstream.of("notifications/initialized", since)), 1)

    def test_many_calls_that_lose_it_at_once(self):
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()
        upstream.session += 100
        ids = [client.send_call("up__echo", {"n": n}) for n in range(20)]
        said = [self.text(client.hub.response(request_id)) for request_id in ids]
        self.assertEqual(said, [json.dumps({"n": n}) for n in range(20)])
        self.assertEqual(len(upstream.of("initialize")), 2)

    def test_an_error_of_the_call_itself(self):  # D02: it names the call, so the call was made
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()
        upstream.on["tools/call"] = lambda x: x.error(-32000, "the browser session crashed", status=400)
        self.assertEqual(client.call("up__echo").error, {"code": -32000, "message": "the browser session crashed"})
        self.assertEqual((len(upstream.of("tools/call")), len(upstream.of("initialize"))), (1, 1))

    def test_as_older_sdks_say_it(self):
        words = "Bad Request: No valid session ID provided"
        for name, body in (
            ("for Node", json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": words}})),
            ("for Python", words),
            ("for Python, later", json.dumps({"jsonrpc": "2.0", "id": "server-error", "error": {"code": -32600, "message": words}})),
        ):
            with self.subTest(name):
                upstream = self.upstream()
                client = self.start(upstream)
                client.names()
                good = upstream.call
                upstream.on["tools/call"] = lambda x, body=body, good=good: (
                    x.status(400, body) if x.headers["mcp-session-id"] == "session-1" else good(x)
                )
                self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": 2}))), {"n": 2})
                self.assertEqual(len(upstream.of("initialize")), 2)

    def test_a_server_that_forgets_every_session(self):
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()
        upstream.is_lost = lambda x: x.rpc == "tools/call"
        self.assertSays(self.failure(client.call("up__echo")), "session")
        self.assertLessEqual(len(upstream.of("tools/call")), 2)
        self.assertLessEqual(len(upstream.of("initialize")), 2)
        upstream.is_lost = lambda x: False
        client.call("up__echo").result

    def test_a_status_that_is_one_call_s(self):
        """What a call is told in a new session, too, is no word about sessions: it fails alone."""
        said = json.dumps({"jsonrpc": "2.0", "id": None, "error": {"code": -32000, "message": "no such session of the shell"}})
        for name, refuse in (("404", lambda x: x.status(404)), ("400", lambda x: x.status(400, said))):
            with self.subTest(name):
                upstream = self.upstream()
                client = self.start(upstream)
                client.names()
                good, arrived, release = upstream.call, threading.Event(), threading.Event()

                def call(x, good=good, refuse=refuse, arrived=arrived, release=release):
                    if "held" in x.params["arguments"]:
                        arrived.set()
                        release.wait(upstream.timeout)
                    (refuse if "bad" in x.params["arguments"] else good)(x)

                upstream.on["tools/call"] = call
                held = client.send_call("up__echo", {"held": 1})
                arrived.wait(upstream.timeout)
                for _ in range(3):
                    answer = client.call("up__echo", {"bad": 1})
                    self.assertSays(answer.raw, "shell" if name == "400" else "HTTP 404")
                    client.call("up__echo").result["content"]
                release.set()
                self.assertEqual(self.text(client.hub.response(held)), '{"held": 1}')
                self.assertEqual(len(upstream.of("initialize")), 2)
                upstream.session += 100  # now it is lost, and the next call finds out
                client.call("up__echo", {"bad": 1})
                upstream.wait("initialize", 3)
                self.assertEqual(self.text(client.call("up__echo", {"n": 3})), '{"n": 3}')
                self.assertNotIn("toolset.failed", client.hub.log)
                client.hub.finish()

    def test_the_stream_notices_it(self):
        upstream = self.upstream()
        gets = []

        def get(x):
            gets.append(x)
            x.stream().event(None, event_id="e1", retry=10)
            x.close()

        upstream.on["GET"] = get
        client = self.start(upstream)
        client.names()
        upstream.wait("GET")
        upstream.session += 100
        upstream.wait("initialize", 2)
        client.call("up__echo").result


class Resumption(Upstreams):
    def test_a_stream_that_ends_before_the_answer(self):
        upstream = self.upstream()
        calls = []

        def call(x):
            calls.append(x)
            x.stream().event(None, event_id="primed-1", retry=20)
            x.close()

        def get(x):
            if x.headers.get("last-event-id") != "primed-1":
                x.status(405)
                return
            x.stream().event(calls[0].reply(result=upstream.said("late")), event_id="2")
            x.close()

        upstream.on.update({"tools/call": call, "GET": get})
        client = self.start(upstream)
        self.assertEqual(self.text(client.call("up__echo")), "late")
        self.assertEqual(len(calls), 1)

    def test_a_stream_that_breaks(self):
        upstream = self.upstream()
        calls = []

        def call(x):
            calls.append(x)
            x.stream().event(None, event_id="1", retry=10)
            x.chunk("id: never\ndata: half of an ev")
            x.cut()

        def get(x):
            if x.headers.get("last-event-id") is None:
                x.status(405)
                return
            x.stream().event(calls[0].reply(result=upstream.said(x.headers["last-event-id"])))
            x.close()

        upstream.on.update({"tools/call": call, "GET": get})
        self.assertEqual(self.text(self.start(upstream).call("up__echo")), "1")

    def test_it_is_not_tried_for_ever(self):
        upstream = self.upstream()
        upstream.on["tools/call"] = lambda x: (x.stream().event(None, event_id="1", retry=1), x.close())
        upstream.on["GET"] = lambda x: (x.stream(), x.close()) if "last-event-id" in x.headers else x.status(405)
        client = self.start(upstream)
        self.assertSays(self.failure(client.call("up__echo")), "the stream ended before the answer")
        self.assertEqual(len([x for x in upstream.of("GET") if "last-event-id" in x.headers]), 5)

    def test_without_an_id_there_is_nothing_to_take_up(self):
        upstream = self.upstream()
        upstream.on["tools/call"] = lambda x: (x.stream().event({"jsonrpc": "2.0", "method": "x"}), x.close())
        client = self.start(upstream)
        self.assertSays(self.failure(client.call("up__echo")), "the stream ended before the answer")


class Modern(Upstreams):
    def modern_server(self, *tools, **options):
        return self.upstream("modern", tools=list(tools) or None, **options)

    def test_the_headers(self):
        upstream = self.modern_server()
        for kind in (LegacyClient, ModernClient):
            client = self.start(upstream, kind)
            client.call("up__echo", {"a": 1}).result
            client.hub.finish()
        self.assertEqual({x.method for x in upstream.requests}, {"POST"})
        self.assertEqual(upstream.of("initialize"), [])
        for x in upstream.requests:
            self.assertEqual(x.headers["mcp-protocol-version"], MODERN)
            self.assertEqual(x.params["_meta"][META + "protocolVersion"], MODERN)
            self.assertEqual(x.headers["mcp-method"], x.rpc)
            self.assertNotIn("mcp-session-id", x.headers)
            self.assertEqual(x.headers.get("mcp-name"), "echo" if x.rpc == "tools/call" else None)

    def test_a_name_that_no_header_can_carry(self):
        uri = "rec:///b\u00fccher"
        upstream = self.modern_server(capabilities={"tools": {}, "resources": {}})
        listed = {"resources": [{"uri": uri, "name": "books"}], "ttlMs": 0, "cacheScope": "public"}
        upstream.on["resources/list"] = lambda x: x.result(upstream.complete(**listed))
        upstream.on["resources/read"] = lambda x: x.result(
            upstream.complete(contents=[{"uri": uri, "text": "it"}], ttlMs=0, cacheScope="public")
        )
        client = self.start(upstream, ModernClient)
        client.request("resources/list").result
        client.request("resources/read", {"uri": uri}).result
        sent = upstream.of("resources/read")[0]
        self.assertTrue(sent.headers["mcp-name"].startswith("=?base64?"))
        self.assertEqual(sent.header("mcp-name"), uri)

    def annotated(self, name, schema, **more):
        properties = {"p": {**schema, "x-mcp-header": more.pop("header", "Region")}, **more.pop("others", {})}
        return {"name": name, "inputSchema": {"type": "object", "properties": properties, **more}}

    def test_parameters_in_headers(self):
        deep = {"type": "object", "properties": {"q": {"type": "integer", "x-mcp-header": "Depth"}}}
        upstream = self.modern_server(
            self.annotated("text", {"type": "string"}, others={"deep": deep}),
            self.annotated("yes", {"type": "boolean"}, header="Flag"),
        )
        client = self.start(upstream, ModernClient)
        cases = (
            ("text", {"p": "us-west1"}, {"region": "us-west1"}),
            ("text", {"p": "Hello, \u4e16\u754c"}, {"region": "Hello, \u4e16\u754c"}),
            ("text", {"p": " padded "}, {"region": " padded "}),
            ("text", {"p": "line1\nline2"}, {"region": "line1\nline2"}),
            ("text", {"p": "=?base64?literal?="}, {"region": "=?base64?literal?="}),
            ("text", {"p": ""}, {"region": ""}),
            ("text", {"p": None}, {}),
            ("text", {}, {}),
            ("text", {"deep": {"q": -7}}, {"depth": "-7"}),
            ("yes", {"p": False}, {"flag": "false"}),
        )
        for name, arguments, expected in cases:
            with self.subTest(arguments=arguments):
                client.call("up__" + name, arguments).result
                sent = upstream.of("tools/call")[-1]
                found = {h[10:]: sent.header(h) for h in sent.headers if h.startswith("mcp-param-")}
                self.assertEqual(found, expected)

    def test_tools_that_ask_for_the_impossible_are_left_out(self):
        text = {"type": "string"}
        bad = {
            "empty": self.annotated("empty", text, header=""),
            "space": self.annotated("space", text, header="a b"),
            "number": self.annotated("number", {"type": "number"}),
            "object": self.annotated("object", {"type": "object"}),
            "twice": self.annotated("twice", text, others={"q": {**text, "x-mcp-header": "rEGION"}}),
            "items": self.annotated("items", text, others={"l": {"type": "array", "items": {"x-mcp-header": "A"}}}),
            "allof": self.annotated("allof", text, allOf=[{"properties": {"z": {**text, "x-mcp-header": "Z"}}}]),
            "root": {"name": "root", "inputSchema": {"type": "object", "x-mcp-header": "A"}},
            "defs": self.annotated("defs", text, **{"$defs": {"d": {**text, "x-mcp-header": "D"}}}),
        }
        fine = {
            "name": "fine",  # a parameter of that name, and data that looks like it
            "inputSchema": {"type": "object", "properties": {"x-mcp-header": {"default": {"x-mcp-header": 1}}}},
        }
        upstream = self.modern_server(*bad.values(), fine)
        client = self.start(upstream, ModernClient)
        self.assertEqual(client.own_names(), ["up__fine"])
        for name in bad:
            client.hub.wait_log(f'\\"{name}\\" is left out')

    def test_cancelling_closes_the_stream(self):
        upstream = self.modern_server()
        upstream.on["tools/call"] = lambda x: x.stream().wait_gone()
        client = self.start(upstream, ModernClient)
        client.names()
        call = client.send_call("up__echo")
        sent = upstream.wait("tools/call")
        client.cancel(call)
        self.assertTrue(sent.is_gone.wait(upstream.timeout))
        self.assertEqual(upstream.of("notifications/cancelled"), [])

    def listening(self, upstream):
        streams = []

        def listen(x):
            meta = {META + "subscriptionId": x.message["id"]}
            x.stream()
            params = {"_meta": meta, "notifications": x.params["notifications"]}
            x.event({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
            x.meta = meta
            with upstream.condition:
                streams.append(x)
                upstream.condition.notify_all()
            x.wait_gone()

        upstream.on["subscriptions/listen"] = listen
        return streams

    def test_changes_come_on_the_listen_stream(self):
        upstream = self.modern_server()
        streams = self.listening(upstream)
        client = self.start(upstream)
        client.names()
        upstream.wait_until(lambda: streams, "the stream")
        since = client.hub.mark
        upstream.tools = [*upstream.tools, {"name": "more", "inputSchema": {"type": "object"}}]
        streams[0].event({"jsonrpc": "2.0", "method": LIST_CHANGED, "params": {"_meta": streams[0].meta}})
        client.wait_list_changed(since)
        self.assertIn("up__more", client.names())
        self.assertEqual(streams[0].params["notifications"], {"toolsListChanged": True})

    def test_a_listen_that_is_refused_is_no_sign_of_another_server(self):
        """-32600 with 400 is what a server of the other era says of a call; else the hub would ask, and listen, again and again."""
        upstream = self.modern_server()
        held = []
        upstream.on["subscriptions/listen"] = held.append
        client = self.start(upstream)
        client.names()
        upstream.wait_until(lambda: held, "the stream")
        upstream.on["subscriptions/listen"] = lambda x: x.error(-32600, "No streams here", status=400)
        held[0].error(-32600, "No streams here", status=400)
        client.hub.wait_log("refuses subscriptions/listen")
        for n in range(3):
            self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": n}))), {"n": n})
        self.assertEqual(len(upstream.of("server/discover")), 1)

    def test_calls_that_are_refused_for_their_own_sake(self):
        """So refuses a server of the other era, too: it is asked what it speaks, and less and less often while that is the same."""
        upstream = self.modern_server()
        upstream.on["tools/call"] = lambda x: x.error(-32600, "No such thing", status=400)
        client = self.start(upstream)
        client.names()
        for n in range(20):
            self.assertEqual(client.call("up__echo", {"n": n}).code, -32600)
        self.assertLessEqual(len(upstream.of("server/discover")), 1 + 4)  # after 1, 3, 7 and 15 calls

    def test_a_refused_call_ends_no_other_request(self):
        upstream = self.modern_server(capabilities={"tools": {}, "resources": {"subscribe": True}})
        more = {"ttlMs": 0, "cacheScope": "public"}
        upstream.on["resources/list"] = lambda x: x.result(upstream.complete(resources=[{"uri": "a:b", "name": "b"}], **more))
        upstream.on["tools/call"] = lambda x: x.error(-32600, "No such thing", status=400)
        held = []
        upstream.on["subscriptions/listen"] = held.append
        client = self.start(upstream)
        client.names()
        request_id = client.send("resources/subscribe", {"uri": "a:b"})
        x = upstream.wait("subscriptions/listen")
        self.assertEqual(client.call("up__echo").code, -32600)
        x.stream()
        params = {"_meta": {META + "subscriptionId": x.message["id"]}, "notifications": x.params["notifications"]}
        x.event({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
        self.assertEqual(client.hub.response(request_id).result, {})
        self.assertEqual(len(upstream.of("server/discover")), 1)

    def test_a_listen_stream_that_breaks_is_opened_again(self):
        upstream = self.modern_server()
        streams = self.listening(upstream)
        client = self.start(upstream)
        client.names()
        upstream.wait_until(lambda: streams, "the stream")
        streams[0].cut()
        upstream.wait_until(lambda: len(streams) == 2, "the next stream")

    def test_errors_in_the_body_are_passed_on(self):
        upstream = self.modern_server()
        upstream.on["tools/call"] = lambda x: x.error(-32602, "no such thing", status=400)
        client = self.start(upstream, ModernClient)
        answer = client.call("up__echo")
        self.assertEqual((answer.code, answer.error["message"]), (-32602, "no such thing"))
        upstream.on["tools/call"] = lambda x: x.status(400, '{"jsonrpc":"2.0","id":null,"error":{"code":-32602,"message":"n"}}')
        self.assertEqual(client.call("up__echo").code, -32602)

    def test_a_mismatch_has_the_list_read_again(self):
        upstream = self.modern_server()
        client = self.start(upstream, ModernClient)
        client.names()
        changes = client.listen(toolsListChanged=True)
        upstream.tools = [self.annotated("echo", {"type": "string"})]
        good = upstream.call
        upstream.on["tools/call"] = lambda x: (
            good(x) if x.header("mcp-param-region") == "here" else x.error(-32020, "Header mismatch", status=400)
        )
        self.assertEqual(client.call("up__echo", {"p": "here"}).code, -32020)
        client.wait_event(changes)
        client.names()
        client.call("up__echo", {"p": "here"}).result


class OldTransport(Upstreams):
    def old_server(self, endpoint="/messages?sessionId=1"):
        upstream = self.upstream(sessions=False)
        streams = []

        def get(x):
            streams.append(x.stream())
            x.event(endpoint, event="endpoint")
            x.wait_gone()

        def take(x):
            with upstream.condition:
                upstream.requests.append(x)
                upstream.condition.notify_all()
            if x.method == "GET":
                get(x)
            elif x.path == "/mcp":
                x.status(405)
            else:
                x.status(202, "Accepted", content_type="text/plain")
                answers = {"initialize": "initialize", "tools/list": "list_tools", "tools/call": "call"}
                if x.rpc in answers:
                    x.result = lambda result, **headers: streams[-1].event(x.reply(result=result))
                    getattr(upstream, answers[x.rpc])(x)

        upstream.take = take
        upstream.streams = streams
        return upstream

    def test_found_out_and_named(self):
        for entry in ({}, {"type": "sse"}):
            with self.subTest(entry):
                upstream = self.old_server()
                client = self.start(upstream, entry=entry)
                self.assertEqual(json.loads(self.text(client.call("up__echo", {"a": 1}))), {"a": 1})
                posts = [x for x in upstream.requests if x.path == "/mcp" and x.method == "POST"]
                self.assertEqual([x.rpc for x in posts], [] if entry else ["server/discover", "initialize"])
                self.assertTrue(all(x.headers["authorization"] == SECRET for x in upstream.requests))
                client.hub.finish()

    def test_an_endpoint_elsewhere_is_refused(self):
        other = self.upstream()
        upstream = self.old_server(endpoint=other.url)
        client = self.start(upstream, entry={"type": "sse"})
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log("not its own")
        self.assertEqual(other.requests, [])

    def test_the_end_of_its_stream_is_the_end_of_its_calls(self):
        upstream = self.old_server()
        client = self.start(upstream, entry={"type": "sse"})
        client.names()
        upstream.call = lambda x: upstream.streams[-1].cut()
        self.assertSays(self.failure(client.call("up__echo")), "stream")


class Evil(Upstreams):
    def each(self, misdeed, *words, era="legacy"):
        upstream = self.upstream(era)
        client = self.start(upstream)
        client.names()
        good = upstream.on["tools/call"]
        upstream.on["tools/call"] = misdeed
        self.assertSays(self.failure(client.call("up__echo")), *words)
        upstream.on["tools/call"] = good
        client.call("up__echo").result
        client.hub.finish()

    def test_answers_that_are_none(self):
        valid = '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}'
        cases = {
            "html": (lambda x: x.status(200, "<html>", content_type="text/html"), "no JSON-RPC answer"),
            "wrong id": (lambda x: x.status(200, valid % 12345678), "no JSON-RPC answer"),
            "a string for an id": (lambda x: x.status(200, valid % f'"{x.message["id"]}"'), "no JSON-RPC answer"),
            "two at once": (lambda x: x.status(200, (valid % x.message["id"]) * 2), "no JSON-RPC answer"),
            "nothing": (lambda x: x.status(202), "nothing"),
            "500": (lambda x: x.status(500, "oops", content_type="text/plain"), "HTTP 500"),
            "invalid UTF-8": (lambda x: x.status(200, b'{"jsonrpc":"2.0","id":1,"result":{"\xff":1}}'), "no JSON-RPC"),
        }
        for name, (misdeed, words) in cases.items():
            for era in ("legacy", "modern"):
                with self.subTest(name, era=era):
                    self.each(misdeed, words, era=era)

    def test_bodies_that_end_early(self):  # a truncated answer is never a whole one
        body = '{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}'
        for head in ("Content-Length: 4000", "Transfer-Encoding: chunked"):
            with self.subTest(head):

                def misdeed(x, head=head):
                    text = body % x.message["id"]
                    framed = f"{len(text):x}\r\n{text}\r\n" if "chunked" in head else text
                    x.raw(f"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n{head}\r\n\r\n{framed}".encode())
                    x.cut()

                self.each(misdeed, "broke before the answer")

    def test_a_call_is_never_made_twice(self):
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()
        for _ in range(3):  # on a kept connection, where libcurl would send it again
            upstream.on["tools/call"] = lambda x: x.cut()
            since = len(upstream.requests)
            said = self.failure(client.call("up__echo"))
            self.assertSays(said, "connection broke", "it was cut, and the request was not repeated")
            self.assertNotIn("rewind", said)
            self.assertEqual(len(upstream.of("tools/call", since)), 1)

    def test_too_large(self):
        most = 16 << 20
        for how in ("json", "events"):
            for size, words in ((most, None), (most + 1, "larger than 16777216 bytes")):
                with self.subTest(how, size=size):
                    upstream = self.upstream()

                    def call(x, size=size, how=how, upstream=upstream):
                        text = x.reply(result={**upstream.said("ok"), "x": ""})
                        text = text.replace('"x": ""', '"x": "%s"' % ("a" * (size - len(text))))
                        if how == "json":
                            x.status(200, text)
                        else:
                            x.stream().event(text)
                            x.close()

                    upstream.on["tools/call"] = call
                    client = self.start(upstream)
                    answer = client.call("up__echo")
                    if words is None:
                        self.assertEqual(self.text(answer), "ok")
                    else:
                        self.assertSays(self.failure(answer), words)
                    client.hub.finish()

    def test_refused_credentials_are_not_hammered(self):
        for status in (401, 403):
            with self.subTest(status):
                upstream = self.upstream()
                upstream.on["server/discover"] = lambda x, status=status: x.status(status, www_authenticate="Bearer")
                client = self.start(upstream)
                for _ in range(5):
                    self.assertEqual(client.own_names(), [])
                client.hub.wait_log("credential refused")
                self.assertEqual(len(upstream.requests), 1)
                self.assertNotIn("canary", client.hub.log)
                client.hub.finish()

    def test_a_path_where_no_server_is(self):
        upstream = self.upstream()
        for method in ("server/discover", "initialize"):
            upstream.on[method] = lambda x: x.status(404)
        message = self.start(upstream).call("up__echo").tool_error["message"]
        self.assertSays(message, upstream.url, "HTTP 404", "correct the path of `url`")
        self.assertEqual(message.count("HTTP"), 1, message)

    def test_the_credential_that_is_wanted_is_named(self):
        metadata = 'Bearer resource_metadata="https://a.example/x", scope="files:read"'
        cases = [
            ({}, 401, metadata, ("HTTP 401", "OAuth login", "patchbay login up", "scope: files:read")),
            ({}, 401, "Bearer", ("wants a token:", "patchbay secret set NAME")),
            ({}, 401, "Basic", ("look at the headers of its entry",)),
            ({"X-Key": "canary-key"}, 401, 'Basic realm="x", ' + metadata, ("OAuth login",)),
            ({"Authorization": "Bearer canary-key"}, 401, metadata, ("look at the headers of its entry", "scope: files:read")),
            ({"authorization": "Bearer canary-key"}, 401, 'Bearer error="invalid_token"', ("invalid_token", "get a new one")),
            ({"Authorization": "Bearer canary-key"}, 403, 'Bearer error="insufficient_scope", scope="a b"', ("insufficient_scope", "scope: a b")),
        ]
        for headers, status, challenge, words in cases:
            for place in ("server/discover", "tools/call"):
                with self.subTest(challenge, headers=headers, place=place):
                    upstream = self.upstream("modern")
                    client = self.start(upstream, headers=headers)
                    if place == "tools/call":
                        client.names()
                    upstream.on[place] = lambda x, status=status, challenge=challenge: x.status(status, www_authenticate=challenge)
                    self.assertSays(client.call("up__echo").tool_error["message"], f"HTTP {status}", upstream.url, *words)
                    self.assertNotIn("canary", client.hub.log)
                    client.hub.finish()

    def test_one_forbidden_call(self):
        """A credential that is not good enough for one call says nothing about the others."""
        for era in ("legacy", "modern"):
            for status in (401, 403):
                with self.subTest(era=era, status=status):
                    upstream = self.upstream(era)
                    client = self.start(upstream)
                    client.names()
                    good = upstream.call

                    def call(x, good=good, status=status):
                        if x.params["arguments"].get("forbidden"):
                            x.status(status)
                        else:
                            good(x)

                    upstream.on["tools/call"] = call
                    for _ in range(3):
                        failure = client.call("up__echo", {"forbidden": True}).tool_error
                        self.assertSays(failure["message"], "credential refused", f"HTTP {status}", upstream.url)
                        self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_INVALID_INPUT", False))
                        self.assertNotIn("isError", client.call("up__echo").result)
                    client.hub.finish()

    def test_one_forbidden_call_while_a_session_is_renewed(self):
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()
        good, begin = upstream.call, upstream.initialize
        arrived, refuse, renewing, release = (threading.Event() for _ in range(4))

        def call(x):
            if "forbidden" in x.params["arguments"]:
                arrived.set()
                refuse.wait(upstream.timeout)
                x.status(401)
            else:
                good(x)

        def initialize(x):
            renewing.set()
            release.wait(upstream.timeout)
            begin(x)

        upstream.on.update({"tools/call": call, "initialize": initialize})
        forbidden = client.send_call("up__echo", {"forbidden": True})
        arrived.wait(upstream.timeout)
        upstream.session += 100
        other = client.send_call("up__echo", {"n": 1})
        renewing.wait(upstream.timeout)
        refuse.set()
        self.assertSays(client.hub.response(forbidden).tool_error["message"], "HTTP 401")
        release.set()
        self.assertEqual(self.text(client.hub.response(other)), '{"n": 1}')

    def test_a_server_that_refuses_to_be_asked_whether_it_lives(self):
        """It lives. What stands in front of it says that it does not by a status of its own."""
        for era, method in (("legacy", "ping"), ("modern", "server/discover")):
            with self.subTest(era):
                upstream = self.upstream(era, sessions=False)
                client = self.start(upstream, entry={"health_interval": "1s"})
                client.names()
                for status in (400, 404, 405, 429, 500):
                    upstream.on[method] = lambda x, status=status: x.status(status)
                    upstream.wait(method, 1, len(upstream.requests))
                upstream.wait(method, 1, len(upstream.requests))  # so the last answer was good, too
                self.assertEqual(self.text(client.call("up__echo", {"n": 1})), '{"n": 1}')
                self.assertNotIn("toolset.failed", client.hub.log)
                upstream.on[method] = lambda x: x.status(503)
                client.hub.wait_log("toolset.failed")
                client.hub.finish()

    def test_what_may_be_tried_again(self):
        """By the status: what will be the same next time is not worth another try."""
        upstream = self.upstream("modern")
        client = self.start(upstream)
        client.names()
        statuses = {400: False, 402: False, 404: False, 405: False, 408: True, 409: False, 413: False, 422: False, 425: True, 429: True,
                    451: False, 500: True, 501: False, 502: True, 503: True, 504: True}
        for status, retryable in statuses.items():
            with self.subTest(status):
                upstream.on["tools/call"] = lambda x, status=status: x.status(status)
                failure = client.call("up__echo").tool_error
                self.assertSays(failure["message"], f"HTTP {status}")
                self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_UNAVAILABLE" if retryable else "TOOL_INVALID_INPUT", retryable))

    def test_redirects(self):
        other = self.upstream()
        for status in (301, 302, 303, 307, 308):
            with self.subTest(status):
                upstream = self.upstream()
                upstream.on["server/discover"] = lambda x, s=status: x.status(s, Location=other.url + "?key=canary")
                client = self.start(upstream)
                self.assertEqual(client.own_names(), [])
                client.hub.wait_log(f"redirects to {other.url} ")
                self.assertEqual(other.requests, [])
                self.assertNotIn("canary", client.hub.log)
                client.hub.finish()

    def test_a_redirect_within_the_origin_that_is_not_followed(self):
        """What is not followed is named with its path: only that differs."""
        upstream = self.upstream()
        upstream.on["tools/call"] = lambda x: x.status(301, Location="/mcp/?key=canary")
        client = self.start(upstream)
        message = client.call("up__echo").tool_error["message"]
        self.assertSays(message, f"redirects to {upstream.url}/ (HTTP 301)", "make it the url of the entry")
        self.assertNotIn("canary", message)

    def test_redirects_within_the_origin(self):
        for status in (307, 308):
            upstream = self.upstream()
            good = dict(upstream.on)
            for key in ("server/discover", "initialize", "tools/list", "tools/call"):
                upstream.on[key] = lambda x, key=key, s=status: (
                    good[key](x) if x.path == "/mcp/" else x.status(s, Location="/mcp/")
                )
            client = self.start(upstream)
            self.assertEqual(json.loads(self.text(client.call("up__echo", {"a": 1}))), {"a": 1})
            client.hub.finish()

    def test_as_many_redirects_as_are_followed(self):
        for last, works in ((3, True), (4, False)):
            with self.subTest(last):
                upstream = self.upstream()
                good = upstream.on["tools/call"]
                upstream.on["tools/call"] = lambda x, last=last, good=good: (
                    good(x) if x.path == f"/{last}" else x.status(307, Location=f"/{int(x.path[1:] or 0) + 1}")
                )
                client = self.start(upstream, entry={"url": upstream.origin + "/"})
                answer = client.call("up__echo", {"a": 1})
                if works:
                    self.assertEqual(json.loads(self.text(answer)), {"a": 1})
                else:
                    self.assertSays(self.failure(answer), "redirects to", "not followed")
                self.assertEqual(len(upstream.of("tools/call")), 4)
                client.hub.finish()

    def test_a_circle_of_redirects(self):
        upstream = self.upstream()
        upstream.on["server/discover"] = lambda x: x.status(307, Location="/mcp")
        client = self.start(upstream, **LATER)
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log("redirects to")
        self.assertEqual(len(upstream.requests), 4)

    def test_out_of_order_is_no_era(self):
        """A proxy that cannot reach a server says nothing about it: no handshake follows."""
        for status in (429, 502, 503, 504):
            with self.subTest(status):
                upstream = self.upstream("modern")
                upstream.on["server/discover"] = lambda x, s=status: x.status(s)
                client = self.start(upstream, **LATER)
                self.assertEqual(client.own_names(), [])
                client.hub.wait_log(f"answered with HTTP {status}")
                self.assertEqual([x.rpc for x in upstream.requests], ["server/discover"])
                client.hub.finish()

    def test_nobody_there_and_then_somebody(self):
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        url = f"http://user:canary@127.0.0.1:{port}/mcp?key=canary"
        client = LegacyClient(self.hub(toolsets={"up": {"url": url}}))
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log(f"cannot reach http://127.0.0.1:{port}/mcp")
        self.assertNotIn("canary", client.hub.log)

    def test_the_server_goes_and_comes_back(self):
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        daemon = self.daemon("--http", f"127.0.0.1:{port}", toolsets={"far": fixture("echo")})
        client = LegacyClient(self.hub(toolsets={"up": {"url": daemon.url}}))
        name = next(n for n in client.names() if n.endswith("echo"))
        client.call(name).result
        daemon.finish()
        self.assertTrue(client.call(name).tool_error["retryable"])
        self.daemon("--http", f"127.0.0.1:{port}", toolsets={"far": fixture("echo")}).listening()
        self.assertNotIn("isError", client.call(name).result)


class Opening(Upstreams):
    def test_a_call_waits_for_the_stream(self):  # conformance elicitation-sep1034-client-defaults
        # Servers drop what they ask on the session's stream while there is none; so no call leaves before.
        upstream = self.upstream()
        begins, listens = threading.Event(), threading.Event()
        seen = []

        def get(x):
            begins.wait(upstream.timeout)
            listens.set()
            x.stream().wait_gone()

        def call(x):
            seen.append((listens.is_set(), time.monotonic()))
            upstream.call(x)

        def initialized(x):
            seen.append((False, time.monotonic()))
            x.status(202)

        upstream.on.update({"GET": get, "tools/call": call, "notifications/initialized": initialized})
        client = self.start(upstream)
        request_id = client.send_call("up__echo", {"n": 1})
        upstream.wait("GET")
        client.names()
        for _ in range(50):  # it would be there by now
            client.request("ping").result
        begins.set()
        self.assertEqual(json.loads(self.text(client.hub.response(request_id))), {"n": 1})
        (_, began), (had_stream, at) = seen
        self.assertTrue(had_stream or at - began > 0.5)  # REMOTE_STREAM_MS: it does not wait for ever

    def test_a_stream_that_says_nothing(self):
        upstream = self.upstream()
        upstream.on["GET"] = lambda x: x.wait_gone()  # its head comes with the first event
        client = self.start(upstream)
        self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": 1}))), {"n": 1})
        upstream.session += 100  # … and once more with the next session
        self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": 2}))), {"n": 2})

    def test_a_modern_server_that_starts_slowly(self):
        # It says nothing for so long that it is taken for a legacy one, which it then denies.
        upstream = self.upstream("modern")
        discover = upstream.on["server/discover"]
        supported = {"code": -32022, "message": "No", "data": {"supported": [MODERN], "requested": "2025-11-25"}}
        upstream.on["initialize"] = lambda x: x.status(400, x.reply(error=supported))
        upstream.on["server/discover"] = lambda x: discover(x) if upstream.of("initialize") else x.wait_gone()
        config = {**self.entry(upstream), "startup_timeout_ms": 15000}
        client = ModernClient(self.hub(toolsets={"up": {"module": "mcp_remote", "config": config}}))
        self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": 1}))), {"n": 1})
        self.assertEqual(len(upstream.of("initialize")), 1)

    def test_a_server_of_both_eras(self):  # the example server of the conformance suite
        # It tells the eras apart by `_meta`: what the hub says in its own name must not look like a modern request.
        upstream = self.upstream()
        for kind in (LegacyClient, ModernClient):
            client = self.start(upstream, kind, protocol="2025-11-25")
            client.call("up__echo").result
        for method in ("initialize", "notifications/initialized", "tools/list"):
            for x in upstream.of(method):
                self.assertNotIn("_meta", x.params)

    def test_a_server_that_answers_anything(self):  # conformance initialize, sse-retry
        for result in ({}, {"supportedVersions": MODERN}, {"capabilities": {"tools": {}}}):
            with self.subTest(result):
                upstream = self.upstream()
                upstream.on["server/discover"] = lambda x, result=result: x.result(result)
                client = self.start(upstream, ModernClient)
                self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": 1}))), {"n": 1})
                self.assertEqual(len(upstream.of("initialize")), 1)

    def test_a_server_that_lists_revisions_with_a_handshake(self):
        """What it lists decides, also where it knows the request: 2026-07-28 basic/versioning, and its own words for the others."""
        about = {"resultType": "complete", "capabilities": {"tools": {}}, "ttlMs": 0, "cacheScope": "public"}
        for listed, works in ((["2025-11-25"], True), (["2099-01-01", "2024-11-05"], True), (["2099-01-01"], False), ([], False)):
            refused = {"code": -32022, "message": "No", "data": {"supported": listed, "requested": MODERN}}
            for discover in (
                lambda x: x.result({**about, "supportedVersions": listed}),
                lambda x: x.status(400, x.reply(error=refused)),
            ):
                with self.subTest(listed):
                    upstream = self.upstream()
                    upstream.on["server/discover"] = discover
                    client = self.start(upstream)
                    if works:
                        self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": 1}))), {"n": 1})
                    else:
                        self.assertSays(client.call("up__echo").tool_error["message"], "speaks no protocol version", *listed)
                    self.assertEqual(len(upstream.of("initialize")) > 0, works)
                    client.hub.finish()

    def test_a_server_that_only_says_that_it_is_of_the_other_era(self):
        """It lists a revision with a handshake, which it then denies, for one that it does not list: nobody goes round in circles."""
        upstream = self.upstream()
        refused = {"code": -32022, "message": "No", "data": {"supported": [MODERN], "requested": "2025-11-25"}}
        upstream.on["server/discover"] = lambda x: x.error(-32022, "No", data={"supported": ["2025-11-25"], "requested": MODERN})
        upstream.on["initialize"] = lambda x: x.status(400, x.reply(error=refused))
        client = self.start(upstream, **LATER)
        self.assertSays(client.call("up__echo").tool_error["message"], "speaks no protocol version")
        self.assertEqual((len(upstream.of("server/discover")), len(upstream.of("initialize"))), (2, 1))

    def replaced(self, first, second, refusal):
        """A server, another one of the other era at its address, and what the second call comes to. A call that the first one still
        works on is not given up for that; when none is left, the hub asks again what is spoken there."""
        upstream = self.upstream(first)
        call, held = upstream.on["tools/call"], []
        client = self.start(upstream)
        client.call("up__echo", {"n": 1}).result
        upstream.on["tools/call"] = held.append
        waiting = client.send_call("up__echo", {"n": 2})
        upstream.wait_until(lambda: held, "the call")
        upstream.era = second
        is_new = {"legacy": lambda x: "mcp-session-id" in x.headers, "modern": lambda x: META + "protocolVersion" in x.params.get("_meta", {})}[second]
        upstream.on["tools/call"] = lambda x: call(x) if is_new(x) else x.error(*refusal[:2], status=400, **refusal[2])
        upstream.on["initialize"] = lambda x: upstream.initialize(x) if second == "legacy" else x.error(-32022, "No", status=400, **refusal[2])
        for _ in range(2):
            self.assertEqual(client.call("up__echo", {"n": 3}).code, refusal[0])
        call(held[0])
        client.hub.response(waiting).result
        self.assertEqual(client.call("up__echo", {"n": 3}).code, refusal[0])
        self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": 4}))), {"n": 4})

    def test_a_modern_server_that_is_replaced_by_a_legacy_one(self):
        for code, message in ((-32000, "Bad Request: No valid session ID provided"), (-32600, "Bad Request: Missing session ID")):
            with self.subTest(code):
                self.replaced("modern", "legacy", (code, message, {}))

    def test_a_legacy_server_that_is_replaced_by_a_modern_one(self):
        lists = {"data": {"supported": [MODERN], "requested": "2025-11-25"}}
        self.replaced("legacy", "modern", (-32022, "Unsupported protocol version", lists))
        self.replaced("legacy", "modern", (-32020, "Header mismatch: Mcp-Method is missing", lists))

    def test_an_initialize_that_brings_the_revision_without_one(self):
        upstream = self.upstream()
        upstream.revision = MODERN
        client = self.start(upstream, **LATER)
        self.assertSays(client.call("up__echo").tool_error["message"], f"answered `initialize` with {MODERN}, which has none")


class Configuration(Upstreams):
    def test_protocol(self):
        modern = self.upstream("modern")
        modern.on["server/discover"] = lambda x: x.error(-32601, "Method not found", status=404)
        client = self.start(modern, ModernClient, protocol=MODERN)
        client.call("up__echo").result
        self.assertEqual(modern.of("initialize"), [])
        legacy = self.upstream()
        client = self.start(legacy, ModernClient, protocol="2025-06-18")
        client.call("up__echo").result
        self.assertEqual(legacy.of("server/discover"), [])
        self.assertEqual(legacy.of("initialize")[0].params["protocolVersion"], "2025-06-18")

    def test_what_is_refused(self):
        cases = (
            ({"url": "http://x", "certificate": "a.pem"}, "certificate", "key"),
            ({"url": "http://x", "connect_timeout": "0s"}, "connect_timeout"),
            ({"url": "ftp://x"}, "http://", "https://"),
            ({"url": "http://x", "headers": {"Mcp-Session-Id": "x"}}, "Mcp-Session-Id"),
        )
        for entry, *words in cases:
            with self.subTest(entry):
                done = self.cli("check", "--connect", toolsets={"up": entry})
                self.assertNotEqual(done.returncode, 0)
                self.assertSays(done.stdout + done.stderr, *words)

    def test_a_foreign_file(self):
        upstream = self.upstream()
        path = self.home / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"Up": {"type": "streamable-http", "url": upstream.url}}}))
        client = LegacyClient(self.hub(files=[path]))
        self.assertEqual(client.own_names(), ["up__echo"])


if __name__ == "__main__":
    main()
