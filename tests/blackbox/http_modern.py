# SPDX-License-Identifier: Apache-2.0
"""Streamable HTTP of 2026-07-28 (basic/transports/streamable-http): one POST, one answer, as JSON or as a stream;
headers that repeat the body; what hanging up means (S3.2, S3.87)."""

import base64
import json
import re
import shlex

from http_client import EVENTS, HEADER_MISMATCH, JSON, HttpTest, dump, render
from mcp import INVALID_PARAMS, INVALID_REQUEST, LIST_CHANGED, META, METHOD_NOT_FOUND, MODERN, ROOT, UNSUPPORTED_VERSION, fixture, main

REGION = {
    "name": "region",
    "inputSchema": {
        "type": "object",
        "properties": {
            "region": {"type": "string", "x-mcp-header": "Region"},
            "count": {"type": "integer", "x-mcp-header": "Count"},
            "dry": {"type": "boolean", "x-mcp-header": "Dry"},
            "where": {"type": "object", "properties": {"zone": {"type": "string", "x-mcp-header": "Zone"}}},
            "x-mcp-header": {"type": "string"},
            "free": {"type": "string"},
        },
    },
}
TOOLSETS = {"a": fixture("one", "hold", "rpc_error", "failed", REGION)}


def sentinel(text):
    return "=?base64?" + base64.b64encode(text.encode()).decode() + "?="


class Answers(HttpTest):
    def setUp(self):
        super().setUp()
        self.server = self.http(toolsets=TOOLSETS)

    def test_one_json_object(self):
        reply = self.server.call("a__one", {"n": 1.0})
        self.assertEqual((reply.status, reply.header("content-type")), (200, JSON))
        self.assertEqual(reply.message.slice("result", "structuredContent", "arguments"), '{"n": 1.0}')
        self.assertIsNone(reply.header("mcp-session-id"))
        self.assertIsNone(reply.header("connection"))

    def test_the_status_follows_from_the_error(self):  # P08, P11
        server = self.server
        self.error(server.modern("no/such"), 404, METHOD_NOT_FOUND, 1)
        for method in ("initialize", "ping", "logging/setLevel", "resources/subscribe"):  # removed
            self.error(server.modern(method), 404, METHOD_NOT_FOUND)
        self.error(server.call("nowhere", request_id="an id"), 400, INVALID_PARAMS, "an id")
        self.error(server.modern("tools/call", {"name": "a__one", "arguments": []}), 400, INVALID_PARAMS)
        self.error(server.modern("tools/list", {"cursor": "forged"}), 400, INVALID_PARAMS)
        self.assertEqual(server.call("a__rpc_error").message.code, 4242)  # the tool's own: not HTTP's business
        self.assertTrue(server.call("a__failed").message.result["isError"])

    def test_the_request_says_what_it_is(self):  # P08: basic/index, _meta
        server = self.server
        for meta in (
            {},
            {META + "protocolVersion": MODERN},
            {META + "clientCapabilities": {}},
            {META + "protocolVersion": MODERN, META + "clientCapabilities": []},
            {META + "protocolVersion": MODERN, META + "clientCapabilities": {}, META + "logLevel": "loud"},
        ):
            message = {"jsonrpc": "2.0", "id": 5, "method": "tools/list", "params": {"_meta": meta}}
            headers = {"MCP-Protocol-Version": MODERN, "Mcp-Method": "tools/list"}
            with self.subTest(meta=meta):
                self.error(server.post(message, headers), 400, INVALID_PARAMS, 5)
        message = {"jsonrpc": "2.0", "id": 6, "method": "tools/list"}
        self.error(server.post(message, {"MCP-Protocol-Version": MODERN}), 400, INVALID_PARAMS, 6)

    def test_versions_that_are_not_served(self):  # P08
        for version in ("1999-01-01", "2027-01-01", "2025-11-25", "", "2026-07-28 ", "v1"):
            message = self.server.modern_request("tools/list", request_id=9, meta={META + "protocolVersion": version})
            headers = {"MCP-Protocol-Version": version.strip() or None}
            with self.subTest(version=version):
                reply = self.server.ask("POST", "/mcp", self.server.modern_headers(message, headers), dump(message))
                if version in ("", "2026-07-28 "):  # no header can say that
                    self.error(reply, 400, HEADER_MISMATCH, 9)
                else:
                    error = self.error(reply, 400, UNSUPPORTED_VERSION, 9).error
                    self.assertEqual(error["data"], {"supported": [MODERN], "requested": version})
        # A header alone, of a request that does not say what it is.
        reply = self.server.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"MCP-Protocol-Version": "2030-01-01"})
        self.assertEqual(self.error(reply, 400, UNSUPPORTED_VERSION, 1).error["data"]["requested"], "2030-01-01")

    def test_eras_are_told_apart_by_the_request(self):
        server = self.server
        session = server.legacy()
        message = server.modern_request("tools/list", request_id=1)
        # A modern request needs no session, and is not bothered by any that it names.
        for name in (session.id, "no such session"):
            reply = server.ask("POST", "/mcp", server.modern_headers(message, {"Mcp-Session-Id": name}), dump(message))
            self.assertEqual((reply.status, reply.header("mcp-session-id")), (200, None))
            self.assertIn("resultType", reply.message.result)
        # An initialize begins a handshake whatever the header says.
        for version in (None, MODERN, "2025-11-25"):
            reply = server.initialize("2025-06-18", {"MCP-Protocol-Version": version})
            self.assertEqual(reply.message.result["protocolVersion"], "2025-06-18")
        # Neither: what to do is said.
        reply = server.post({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})
        self.assertSays(self.error(reply, 400, INVALID_REQUEST, 3).error["message"], "initialize", "Mcp-Session-Id", "_meta")
        # GET and DELETE belong to sessions.
        for method in ("GET", "DELETE"):
            for headers in ([], [("MCP-Protocol-Version", MODERN)], [("MCP-Protocol-Version", MODERN), ("Mcp-Session-Id", session.id)]):
                reply = self.refusal(server.ask(method, "/mcp", [("Accept", EVENTS), *headers]), 405)
                self.assertEqual(reply.header("allow"), "POST, OPTIONS")
        self.assertEqual(session.request("ping").status, 200)

    def test_notifications_and_responses(self):  # Sending Messages, 4 and 5
        headers = {"MCP-Protocol-Version": MODERN}
        for method in ("notifications/cancelled", "notifications/initialized", "notifications/whatever"):
            reply = self.server.post({"jsonrpc": "2.0", "method": method}, headers)
            self.assertEqual((reply.status, reply.body, reply.header("content-length")), (202, b"", "0"))
        self.error(self.server.post({"jsonrpc": "2.0", "id": 1, "result": {}}, headers), 400, INVALID_REQUEST)
        batch = [self.server.modern_request("tools/list")]
        self.error(self.server.post(batch, {**headers, "Mcp-Method": "tools/list"}), 400, INVALID_REQUEST)

    def test_profiles_have_their_own_path(self):
        manifest = {"profiles": {"few": {"toolsets": ["b"], "meta_tools": False}}}
        server = self.http(toolsets={**TOOLSETS, "b": fixture("two")}, manifest=manifest)
        listed = server.modern("tools/list", path="/mcp/few").message.result["tools"]
        self.assertEqual([tool["name"] for tool in listed], ["b__two"])
        self.assertIn("a__one", server.modern("tools/list", path="/mcp/default").body.decode())
        self.refusal(server.modern("tools/list", path="/mcp/many"), 404, "profile")


class Headers(HttpTest):
    """P12: whoever routes by a header must be able to trust it."""

    def setUp(self):
        super().setUp()
        self.server = self.http(toolsets=TOOLSETS)

    def mismatch(self, reply, name):
        self.assertSays(self.error(reply, 400, HEADER_MISMATCH).error["message"], name)

    def test_what_has_to_be_there(self):
        for name in ("MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"):
            self.mismatch(self.server.call("a__one", headers={name: None}), name)
        self.assertEqual(self.server.modern("tools/list", headers={"Mcp-Name": "whatever"}).status, 200)

    def test_what_has_to_agree(self):
        cases = {
            "MCP-Protocol-Version": ["2025-11-25", "2026-07-29", sentinel(MODERN)],
            "Mcp-Method": ["tools/list", "Tools/call", "tools/call/", "TOOLS/CALL", sentinel("tools/call"), '"tools/call"'],
            "Mcp-Name": [
                "a__two",
                "A__one",
                "a__one,a__one",
                "a__on",
                sentinel("a__two"),
                "=?Base64?" + sentinel("a__one")[9:],
                sentinel("a__one")[:-2],
                sentinel("a__one").replace("?=", "=?="),
                "=?base64?YV9fb25=?=",
                "=?base64?" + base64.urlsafe_b64encode(b"a__one\xff\xfe").decode() + "?=",
                "=?base64??=",
                "",
            ],
        }
        for name, values in cases.items():
            for value in values:
                with self.subTest(name=name, value=value):
                    self.mismatch(self.server.call("a__one", headers={name: value}), name)

    def test_names_are_written_in_any_case_and_values_trimmed(self):
        message = self.server.modern_request("tools/call", {"name": "a__one", "arguments": {}})
        for rename in (str.lower, str.upper):
            headers = [(rename(name), f" \t{value}\t ") for name, value in self.server.modern_headers(message)]
            self.assertEqual(self.server.ask("POST", "/mcp", headers, dump(message)).status, 200)
        self.assertEqual(self.server.call("a__one", headers={"Mcp-Name": sentinel("a__one")}).status, 200)

    def test_a_uri(self):
        params = {"uri": "file:///ü"}
        for value, status in ((sentinel("file:///ü"), None), ("file:///u", HEADER_MISMATCH), (None, HEADER_MISMATCH)):
            reply = self.server.modern("resources/read", params, {"Mcp-Name": value})
            self.assertEqual(reply.message.code == HEADER_MISMATCH, status is not None, reply)

    def test_parameters(self):
        good = {"region": "us west", "count": 42, "dry": True, "where": {"zone": "é"}, "free": "x", "x-mcp-header": "y"}
        headers = {
            "Mcp-Param-Region": "us west",
            "Mcp-Param-Count": "42.0",
            "mcp-param-dry": "true",
            "Mcp-Param-Zone": sentinel("é"),
            "Mcp-Param-Unknown": "ignored",
        }
        self.assertEqual(self.server.call("a__region", good, headers).status, 200)
        self.assertEqual(self.server.call("a__region", {**good, "region": None}, merge_out(headers, "Mcp-Param-Region")).status, 200)
        self.assertEqual(self.server.call("a__region").status, 200)
        for name, value in (
            ("Mcp-Param-Region", None),
            ("Mcp-Param-Region", "us-west"),
            ("Mcp-Param-Region", "US WEST"),
            ("Mcp-Param-Region", sentinel("us-west")),
            ("Mcp-Param-Count", "43"),
            ("Mcp-Param-Count", "forty-two"),
            ("Mcp-Param-Count", None),
            ("mcp-param-dry", "True"),
            ("mcp-param-dry", "false"),
            ("Mcp-Param-Zone", "e"),
            ("Mcp-Param-Zone", None),
        ):
            with self.subTest(name=name, value=value):
                self.mismatch(self.server.call("a__region", good, {**headers, name: value}), name)
        self.mismatch(self.server.call("a__region", {}, {"Mcp-Param-Region": "us"}), "Mcp-Param-Region")
        self.mismatch(self.server.call("a__region", {"where": []}, {"Mcp-Param-Zone": "us"}), "Mcp-Param-Zone")

    def test_nothing_of_a_refused_request_is_done(self):
        recorder = self.recorder()
        server = self.http(toolsets={"up": recorder.toolset()})
        self.assertEqual(server.call("up__echo").status, 200)
        before = len(recorder.sync().lines("tools/call"))
        for headers in ({"Mcp-Name": "up__fail"}, {"Mcp-Method": "tools/list"}, {"MCP-Protocol-Version": "2025-11-25"}):
            self.assertEqual(server.call("up__echo", headers=headers).status, 400)
        self.assertEqual(len(recorder.sync().lines("tools/call")), before)


def merge_out(headers, name):
    return {key: value for key, value in headers.items() if key != name}


class Streams(HttpTest):
    def with_recorder(self, **manifest):
        recorder = self.recorder()
        server = self.http(toolsets={"up": recorder.toolset(), "a": fixture("one", active=False)}, manifest=manifest)
        probe = server.listen(toolsListChanged=True)
        server.modern("tools/list")  # it runs: a call that has to wait for that is told so, as progress
        self.assertEqual(probe.message().method, LIST_CHANGED)  # nor is a stream of the test told of it later
        probe.connection.close()
        return recorder, server

    def test_progress_makes_a_stream(self):
        recorder, server = self.with_recorder()
        reply = server.call("up__progress", meta={"progressToken": "t"})
        self.assertTrue(reply.is_stream)
        self.assertEqual(reply.header("x-accel-buffering"), "no")
        self.assertEqual(reply.header("cache-control"), "no-cache")
        *progress, last = reply.messages
        self.assertEqual([m.params["progressToken"] for m in progress], ["t"] * 3)
        self.assertIn("result", last.data)
        self.assertNotIn(b"id:", reply.body.replace(b'"id":', b""))  # Resumable SSE streams are not supported
        self.assertFalse(server.call("up__progress").is_stream)  # nobody asked for progress

    def test_a_connection_lives_on_behind_a_stream(self):
        recorder, server = self.with_recorder()
        connection = server.connection()
        for number in range(3):
            data = server.modern_bytes("tools/call", {"name": "up__progress", "arguments": {}}, meta={"progressToken": number})
            self.assertEqual(len(connection.send(data).reply().messages), 4)
        self.assertEqual(connection.send(render("GET", "/healthz")).reply("GET").status, 200)

    def test_events_cannot_be_forged(self):  # H15
        recorder, server = self.with_recorder()
        text = 'a\ndata: {"jsonrpc":"2.0","id":1,"result":{}}\r\n\r\nid: 5\n\n\u2028\u2029\u0085'
        result = json.dumps({"content": [{"type": "text", "text": text}]}, ensure_ascii=False, indent=1)
        connection = server.connection()
        connection.send(server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {}}, meta={"progressToken": 1}))
        line = json.loads(recorder.wait_calls(1)[0])
        token = json.dumps(line["params"]["_meta"]["progressToken"])
        progress = {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 0, "progress": 1, "message": text}}
        recorder.write(json.dumps(progress, ensure_ascii=False).replace('"progressToken": 0', f'"progressToken": {token}'))
        recorder.write(f'{{"jsonrpc":"2.0","id":{line["id"]},"result":{result}}}'.replace("\n", " "))
        events = connection.reply().messages
        self.assertEqual([events[0].params["message"], events[1].result["content"][0]["text"]], [text, text])
        self.assertEqual(len(events), 2)

    def test_hanging_up_cancels(self):  # H13: Cancellation
        recorder, server = self.with_recorder(limits={"sse_comment": "500ms"})
        for has_begun in (False, True):
            since = recorder.mark
            connection = server.connection()
            meta = {"progressToken": 1} if has_begun else None
            connection.send(server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {}}, meta=meta))
            line = json.loads(recorder.wait_line(lambda m: m.get("method") == "tools/call", since=since))
            if has_begun:
                token = json.dumps(line["params"]["_meta"]["progressToken"])
                recorder.write('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}' % token)
                connection.read_head()
            connection.close()
            cancelled = recorder.wait_line(lambda m: m.get("method") == "notifications/cancelled", since=since)
            self.assertEqual(json.loads(cancelled)["params"]["requestId"], line["id"])
        self.assertIdle(server)

    def test_a_long_silence_becomes_a_stream(self):  # H14
        recorder, server = self.with_recorder(limits={"sse_comment": "100ms"})
        connection = server.connection()
        connection.send(server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {}}))
        line = recorder.wait_calls(1)[0]
        head = connection.read_head()
        self.assertEqual(head.header("content-type"), EVENTS)
        self.assertEqual([connection.take_chunk() for _ in range(2)], [b":\n\n"] * 2)
        recorder.answer(line)
        while (chunk := connection.take_chunk()) == b":\n\n":
            pass
        self.assertIn(b'"result"', chunk)

    def test_a_subscription(self):
        recorder, server = self.with_recorder(limits={"sse_comment": "100ms"})
        stream = server.listen(toolsListChanged=True)
        deaf = server.listen(promptsListChanged=True)
        self.assertEqual(stream.head.header("x-accel-buffering"), "no")
        stream.wait_comment()
        server.call("enable_toolset", {"toolset": "a"})
        event = stream.message()
        self.assertEqual(event.method, LIST_CHANGED)
        self.assertIn(META + "subscriptionId", event.params["_meta"])
        deaf.wait_comment()
        self.assertEqual(deaf.text, b"")
        server.call("disable_toolset", {"toolset": "a"})
        self.assertEqual(stream.message().method, LIST_CHANGED)

    def test_a_subscription_ends_with_the_hub(self):  # L03: over HTTP its result, then the end
        recorder, server = self.with_recorder()
        streams = [server.listen(toolsListChanged=True) for _ in range(3)]
        server.hub.finish()
        for stream in streams:
            self.assertIn("result", stream.message().data)
            self.assertIsNone(stream.next())
            stream.connection.wait_closed()

    def test_calls_in_flight_at_the_end_are_answered(self):  # L01
        recorder, server = self.with_recorder()
        connections = []
        for _ in range(20):
            connection = server.connection()
            connections.append(connection.send(server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {}})))
        recorder.wait_calls(20)
        server.hub.finish()
        for connection in connections:
            reply = connection.reply()
            self.assertEqual(reply.status, 200)
            self.assertTrue("error" in reply.message.data or reply.message.result["isError"])
            connection.wait_closed()

    def test_many_clients_with_one_id(self):  # P09
        recorder, server = self.with_recorder()
        connections = {}
        for number in range(60):
            connection = server.connection()
            message = {"name": "up__raw", "arguments": {"result": json.dumps({"content": [], "nonce": number})}}
            connection.send(server.modern_bytes("tools/call", message, request_id=1))
            connections[number] = connection
        for number, connection in connections.items():
            self.assertEqual(connection.reply().message.result["nonce"], number)


class Documents(HttpTest):
    def words(self, name):
        """The first curl command in a file, as a shell would read it."""
        text = (ROOT / name).read_text(encoding="utf-8")
        command = re.search(r"^ *curl (?:[^\n]*\\\n)*[^\n]*", text, re.MULTILINE)
        return shlex.split(re.sub(r"\\+\n", " ", command[0]))

    def test_the_curl_line_of_the_readme(self):
        """It works, and is the one that quickstart prints."""
        words = self.words("README.md")
        self.assertEqual(words[:2], ["curl", "http://127.0.0.1:8787/mcp"])
        self.assertEqual(words[2:], self.words("quickstart")[2:])
        options = list(zip(words[2::2], words[3::2]))
        headers = [tuple(value.split(": ", 1)) for option, value in options if option == "-H"]
        (body,) = [value for option, value in options if option == "-d"]
        server = self.http(toolsets={"time": {}})
        reply = server.ask("POST", "/mcp", headers, body.encode())
        self.assertEqual(reply.status, 200)
        self.assertEqual(json.loads(reply.body)["result"]["structuredContent"]["zone"], "Asia/Tokyo")


if __name__ == "__main__":
    main()
