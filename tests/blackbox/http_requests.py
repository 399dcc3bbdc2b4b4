# SPDX-License-Identifier: Apache-2.0
"""HTTP/1.1 as a client may and may not write it (RFC 9112, RELIABILITY.md group B): what is served, what is
refused with which status, and that nothing of a refused request is ever obeyed."""

from http_client import BOTH, JSON, HttpTest, dump, render
from mcp import main

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
IDLE = {"limits": {"sse_comment": "500ms"}}


class Requests(HttpTest):
    def setUp(self):
        super().setUp()
        self.server = self.http(manifest=IDLE)

    def refused(self, cases):
        """Each is answered with its status, alone, and the connection closed; the hub goes on as if nothing was."""
        for status, data in cases:
            with self.subTest(status=status, data=data[:120]):
                self.refusal(self.server.raw(data), status)
        self.assertIdle(self.server)

    def head(self, *lines, body=b"", first="GET /healthz HTTP/1.1"):
        return b"\r\n".join(line if isinstance(line, bytes) else line.encode() for line in (first, *lines)) + b"\r\n\r\n" + body

    def post(self, *lines, body=b""):
        return self.head("Host: localhost", f"Content-Type: {JSON}", *lines, body=body, first="POST /mcp HTTP/1.1")

    def call_bytes(self, name="list_toolsets", headers=None):
        return self.server.modern_bytes("tools/call", {"name": name, "arguments": {}}, headers)

    def test_lengths_that_two_readers_could_read_differently(self):  # H01
        smuggled = render("GET", "/readyz")
        lengths = [
            ("Content-Length: 5", "Transfer-Encoding: chunked"),
            ("Transfer-Encoding: chunked", "Content-Length: 5"),
            ("Content-Length: 5", "Content-Length: 6"),
            ("Content-Length: 5", "Content-Length: 5"),
            ("Content-Length: 5, 6",),
            ("Content-Length: 5, 5",),
            ("Content-Length: +5",),
            ("Content-Length: -1",),
            ("Content-Length: -0",),
            ("Content-Length: 5abc",),
            ("Content-Length: 0x5",),
            ("Content-Length: 5.0",),
            ("Content-Length: 1e1",),
            ("Content-Length:",),
            ('Content-Length: "5"',),
            ("Transfer-Encoding: chunked, chunked",),
            ("Transfer-Encoding: chunked, gzip",),
            ("Transfer-Encoding: chunked", "Transfer-Encoding: chunked"),
            ("Transfer-Encoding: identity",),
            ("Transfer-Encoding: xchunked",),
            ("Transfer-Encoding: chunked;a=b",),
            ("Transfer-Encoding: \x0bchunked",),
            ("Transfer-Encoding:",),
            ("Transfer-Encoding : chunked",),
            ("Content-Length : 5",),
            (" Content-Length: 5",),
            ("X: y\r\n Content-Length: 5",),
        ]
        self.refused([(400, self.post(*case, body=b"0\r\n\r\n" + smuggled)) for case in lengths])
        self.refused([(501, self.post("Transfer-Encoding: gzip, chunked", body=b"0\r\n\r\n" + smuggled))])
        self.refused([(413, self.post("Content-Length: " + digits, body=smuggled)) for digits in ("4194305", "9" * 30)])

    def test_bodies_whose_chunks_are_broken(self):  # H02
        chunked = [("Transfer-Encoding", "chunked"), ("Content-Type", JSON)]
        good = b"2\r\n{}\r\n0\r\n\r\n"
        broken = [
            b"2\n{}\r\n0\r\n\r\n",
            b"2\r\n{}\n0\r\n\r\n",
            b"2\r\n{}0\r\n\r\n",
            b"2\r\n{}}\r\n0\r\n\r\n",
            b"-2\r\n{}\r\n0\r\n\r\n",
            b"+2\r\n{}\r\n0\r\n\r\n",
            b"0x2\r\n{}\r\n0\r\n\r\n",
            b" 2\r\n{}\r\n0\r\n\r\n",
            b"2 \r\n{}\r\n0\r\n\r\n",
            b"\r\n{}\r\n0\r\n\r\n",
            b"g\r\n{}\r\n0\r\n\r\n",
            b"00000000000000002\r\n{}\r\n0\r\n\r\n",
            b"2;" + b"x" * 257 + b"\r\n{}\r\n0\r\n\r\n",
            b"2;a=\x01\r\n{}\r\n0\r\n\r\n",
            b"2\r\n{}\r\n0\r\nX y\r\n\r\n",
            b"2\r\n{}\r\n0\r\n X: y\r\n\r\n",
        ]
        self.refused([(400, render("POST", "/mcp", chunked) + body + good) for body in broken])
        self.refused(
            [
                (413, render("POST", "/mcp", chunked) + b"400001\r\n"),
                (413, render("POST", "/mcp", chunked) + b"ffffffffffffffff\r\n"),
                (431, render("POST", "/mcp", chunked) + b"2\r\n{}\r\n0\r\n" + b"X: y\r\n" * 1000),
            ]
        )

    def test_a_chunked_body_byte_by_byte(self):  # H02
        message = self.server.modern_request("tools/call", {"name": "list_toolsets", "arguments": {}}, request_id=1)
        plain = self.server.ask("POST", "/mcp", self.server.modern_headers(message), dump(message))
        headers = self.server.modern_headers(message, {"Transfer-Encoding": "chunked"})
        body = b"".join(b"1;ext=\"a b\"\r\n%c\r\n" % byte for byte in dump(message)) + b"0\r\nTrailer: x\r\n\r\n"
        connection = self.server.connection()
        for byte in render("POST", "/mcp", headers) + body:
            connection.send(bytes([byte]))
        self.assertEqual(connection.reply().body, plain.body)
        self.assertEqual(plain.status, 200)

    def test_heads_that_are_not_http(self):  # H07, H17
        host = "Host: localhost"
        self.refused(
            [
                (400, self.head(first="GET /healthz HTTP/1.1")),  # no Host
                (400, self.head(host, host)),
                (400, b"GET /healthz HTTP/1.1\nHost: localhost\n\n"),
                (400, self.head(host, b"X: a\x00b")),
                (400, self.head(host, b"X: a\x01b")),
                (400, self.head(host, b"X: a\rb")),
                (400, self.head(host, "X: a\r\n folded")),
                (400, self.head(host, "X : a")),
                (400, self.head(host, ": a")),
                (400, self.head(host, "X Y: a")),
                (400, self.head(host, "no colon")),
                (400, self.head(host, first="GET  /healthz HTTP/1.1")),
                (400, self.head(host, first="GET /healthz")),
                (400, self.head(host, first="GET /healthz HTTP/1.1 ")),
                (400, self.head(host, first="GET healthz HTTP/1.1")),
                (400, self.head(host, first="GET /health\x7fz HTTP/1.1")),
                (400, self.head(host, first="GET /healthz http/1.1")),
                (505, self.head(host, first="GET /healthz HTTP/2.0")),
                (505, self.head(host, first="GET /healthz HTTP/9.9")),
                (400, b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03" + b"\x00" * 100),  # TLS
                (400, b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
                (400, b"\r\n" * 5 + self.head(host)),
            ]
        )

    def test_header_names_of_every_kind(self):  # H04: prefixes of known names, token characters, empty values
        names = ["X-Auth", "X-Real", "X-Forwarded", "Sec", "If", "Proxy", "A", "Mcp", "Content", "Hos", "!#$%&'*+-.^_`|~1"]
        connection = self.server.connection()
        for name in names:
            reply = connection.send(render("GET", "/healthz", [(name, ""), (name.lower(), "a, b")])).reply()
            self.assertEqual(reply.status, 200, name)

    def test_sizes_at_their_limits(self):  # H05
        def padded(total):
            head = render("GET", "/healthz", [("X", "")])
            return head.replace(b"X: ", b"X: " + b"a" * (total - len(head)))

        connection = self.server.connection()
        self.assertEqual(connection.send(padded(16 * 1024)).reply().status, 200)
        self.assertEqual(connection.send(render("GET", "/healthz", [("Authorization", "Bearer " + "a" * 8192)])).reply().status, 200)
        headers = [(f"X-{n}", "v") for n in range(99)]
        self.assertEqual(connection.send(render("GET", "/healthz", headers)).reply().status, 200)
        long = "/healthz?" + "a" * (2048 - len("/healthz?"))
        self.assertEqual(connection.send(render("GET", long)).reply().status, 200)
        self.refused(
            [
                (431, padded(16 * 1024 + 1)),
                (431, render("GET", "/healthz", [*headers, ("X", "v")])),
                (414, render("GET", long + "a")),
                (431, b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: " + b"a" * (1 << 20)),
                (501, b"M" * 33 + b" /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"),
            ]
        )

    def test_headers_that_may_occur_once(self):  # H06
        once = ["Host: localhost", "Origin: http://localhost", "Authorization: Bearer x", "Content-Type: " + JSON]
        once += [f"Mcp-{name}: x" for name in ("Method", "Name", "Session-Id", "Param-Region")]
        once += ["MCP-Protocol-Version: 2026-07-28", "Content-Length: 2"]
        cases = []
        for line in once:
            rest = [other for other in ("Host: localhost", f"Content-Type: {JSON}") if other != line]
            cases.append((400, self.head(line, *rest, line.swapcase() if line[0] == "M" else line, body=b"{}", first="POST /mcp HTTP/1.1")))
        self.refused(cases)

    def test_pipelined_requests_are_answered_in_order(self):  # H03
        for count in (1, 2, 3, 50):
            data = b"".join(
                self.server.modern_bytes("tools/call", {"name": "list_toolsets", "arguments": {}}, request_id=n)
                for n in range(count)
            )
            connection = self.server.connection()
            connection.send(data)
            for n in range(count):
                self.assertEqual(connection.reply().message.id, n)
            self.assertTrue(connection.is_quiet())
        self.assertIdle(self.server)

    def test_requests_behind_one_that_takes_long_wait_for_it(self):  # H03, D02
        recorder = self.recorder()
        server = self.http(toolsets={"up": recorder.toolset()}, manifest=IDLE)
        hold = server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {}}, request_id="first")
        echo = server.modern_bytes("tools/call", {"name": "up__echo", "arguments": {}}, request_id="second")
        big = server.modern_bytes("tools/call", {"name": "up__echo", "arguments": {"a": "x" * 300000}}, request_id="third")
        connection = server.connection()
        connection.send(hold + echo + big + render("GET", "/healthz"))
        line = recorder.wait_calls(1)[0]
        server.get("/healthz")
        self.assertEqual(len(recorder.sync().lines("tools/call")), 1)
        recorder.answer(line)
        replies = [connection.reply() for _ in range(3)]
        self.assertEqual([reply.message.id for reply in replies], ["first", "second", "third"], replies)
        self.assertEqual(connection.reply("GET").body, b'{"status":"ok"}')
        self.assertEqual(len(recorder.sync().lines("tools/call")), 3)
        self.assertIdle(server)

    def test_a_client_that_leaves_with_requests_unanswered(self):  # H03, H13
        recorder = self.recorder()
        server = self.http(toolsets={"up": recorder.toolset()}, manifest=IDLE)
        connection = server.connection()
        for name in ("up__hold", "up__echo", "up__echo"):
            connection.send(server.modern_bytes("tools/call", {"name": name, "arguments": {}}))
        recorder.wait_calls(1)
        connection.close()
        recorder.wait_line(lambda m: m.get("method") == "notifications/cancelled", "the cancellation")
        self.assertEqual(len(recorder.sync().lines("tools/call")), 1)
        self.assertIdle(server)

    def test_expect_100_continue(self):  # H12
        message = self.server.modern_request("tools/list", request_id=1)
        headers = self.server.modern_headers(message, {"Expect": "100-continue", "Content-Length": str(len(dump(message)))})
        connection = self.server.connection()
        connection.send(render("POST", "/mcp", headers))
        self.assertEqual(connection.reply().status, 100)
        self.assertEqual(connection.send(dump(message)).reply().message.id, 1)
        # Chunked, too; and what is sent with the head needs no leave.
        headers = self.server.modern_headers(message, {"Expect": "100-Continue", "Transfer-Encoding": "chunked"})
        connection.send(render("POST", "/mcp", headers))
        self.assertEqual(connection.reply().status, 100)
        self.assertEqual(connection.send(b"%x\r\n%s\r\n0\r\n\r\n" % (len(dump(message)), dump(message))).reply().status, 200)
        self.refused([(417, self.post("Expect: 200-maybe", "Content-Length: 2", body=b"{}"))])

    def test_no_leave_to_send_what_is_not_wanted(self):  # H12: the guards come first
        length = [("Content-Length", "100"), ("Expect", "100-continue")]
        for status, headers in (
            (403, [("Host", "evil.example"), ("Content-Type", JSON)]),
            (403, [("Origin", "http://evil.example"), ("Content-Type", JSON)]),
            (415, [("Content-Type", "text/plain")]),
            (406, [("Content-Type", JSON), ("Accept", "text/html")]),
        ):
            self.refusal(self.server.raw(render("POST", "/mcp", [*headers, *length])), status)
        self.refusal(self.server.raw(render("POST", "/nowhere", length)), 404)
        self.refusal(self.server.raw(render("POST", "/healthz", length)), 405)

    def test_messages_at_their_limit(self):  # P07
        server = self.http(manifest={"limits": {"client_message": "64KiB"}})
        message = server.modern_request("tools/list", request_id=1)
        fitting = dump(message) + b" " * (65536 - len(dump(message)))
        headers = server.modern_headers(message)
        self.assertEqual(server.ask("POST", "/mcp", headers, fitting).status, 200)
        self.refusal(server.raw(render("POST", "/mcp", headers, fitting + b" ")), 413)
        chunked = render("POST", "/mcp", server.modern_headers(message, {"Transfer-Encoding": "chunked"}))
        exact = server.connection().send(chunked + b"10000\r\n" + fitting + b"\r\n0\r\n\r\n").reply()
        self.assertEqual(exact.status, 200)
        self.refusal(server.raw(chunked + b"10000\r\n" + fitting + b"\r\n1\r\n"), 413)

    def test_methods_and_types(self):  # H11
        server = self.server
        for path, method, allow in (
            ("/mcp", "PUT", "GET, POST, DELETE, OPTIONS"),
            ("/mcp", "PATCH", "GET, POST, DELETE, OPTIONS"),
            ("/mcp", "TRACE", "GET, POST, DELETE, OPTIONS"),
            ("/mcp", "get", "GET, POST, DELETE, OPTIONS"),
            ("/mcp", "HEAD", "GET, POST, DELETE, OPTIONS"),
            ("/mcp", "GET", "POST, OPTIONS"),
            ("/mcp", "DELETE", "POST, OPTIONS"),
            ("/sse", "POST", "GET, OPTIONS"),
            ("/messages", "GET", "POST, OPTIONS"),
            ("/ws", "POST", "GET, OPTIONS"),
            ("/healthz", "POST", "GET, HEAD, OPTIONS"),
            ("/readyz", "DELETE", "GET, HEAD, OPTIONS"),
        ):
            with self.subTest(path=path, method=method):
                reply = server.ask(method, path, [("Content-Type", JSON), ("Accept", BOTH)])
                self.assertEqual((reply.status, reply.header("allow")), (405, allow))
        reply = self.refusal(server.raw(self.head("Host: localhost", first="CONNECT localhost:80 HTTP/1.1")), 405)
        for content_type in (None, "text/plain", "application/jsonp", "application/json; charset=latin1", "application/json-rpc"):
            with self.subTest(content_type=content_type):
                self.refusal(server.post(PING, {"Content-Type": content_type}), 415)
        for accept in ("text/html", JSON, "text/event-stream", f"{JSON}, text/event-stream;q=0", "text/*", ";q"):
            with self.subTest(accept=accept):
                self.refusal(server.post(PING, {"Accept": accept}), 406)
        for accept in (None, "*/*", "application/*, text/*", f"text/event-stream;q=0.1,{JSON}", "", "Application/JSON, TEXT/event-stream"):
            with self.subTest(accept=accept):
                self.assertEqual(server.modern("tools/list", headers={"Accept": accept}).status, 200)
        for content_type in ("APPLICATION/JSON", "application/json ; Charset=UTF-8", 'application/json;charset="utf-8"'):
            with self.subTest(content_type=content_type):
                self.assertEqual(server.modern("tools/list", headers={"Content-Type": content_type}).status, 200)

    def test_a_post_without_length(self):  # H11
        connection = self.server.connection()
        reply = connection.send(self.post()).reply()
        self.refusal(reply, 411)
        self.assertIsNone(reply.header("connection"))  # there is no doubt about what follows
        self.assertEqual(connection.send(render("GET", "/healthz")).reply("GET").status, 200)

    def test_health_and_readiness(self):
        connection = self.server.connection()
        for path, body in (("/healthz", b'{"status":"ok"}'), ("/readyz", b'{"status":"ready"}')):
            reply = connection.send(render("GET", path)).reply("GET")
            self.assertEqual((reply.status, reply.body, reply.header("content-type")), (200, body, JSON))
            head = connection.send(render("HEAD", path)).reply("HEAD")
            self.assertEqual((head.status, head.body, head.header("content-length")), (200, b"", str(len(body))))
        self.assertEqual(connection.send(render("OPTIONS", "/healthz")).reply().header("allow"), "GET, HEAD, OPTIONS")

    def test_http_1_0(self):
        connection = self.server.connection()
        reply = connection.send(render("GET", "/healthz", version="HTTP/1.0")).reply("GET")
        self.assertEqual((reply.status, reply.header("connection")), (200, "close"))
        connection.wait_closed()
        message = self.server.modern_request("tools/list", request_id=1)
        data = render("POST", "/mcp", self.server.modern_headers(message), dump(message), version="HTTP/1.0")
        self.assertEqual(self.server.connection().send(data).reply().message.id, 1)
        self.refused([(400, self.post("Transfer-Encoding: chunked", body=b"0\r\n\r\n").replace(b"HTTP/1.1", b"HTTP/1.0"))])

    def test_an_event_stream_over_http_1_0(self):
        recorder = self.recorder()
        server = self.http(toolsets={"up": recorder.toolset()})
        message = server.modern_request("tools/call", {"name": "up__progress", "arguments": {}}, meta={"progressToken": 7})
        data = render("POST", "/mcp", server.modern_headers(message), dump(message), version="HTTP/1.0")
        reply = server.connection().send(data).reply()
        self.assertIsNone(reply.header("transfer-encoding"))
        self.assertEqual([m.method for m in reply.messages], ["notifications/progress"] * 3 + [None])

    def test_connection_close_is_kept(self):
        connection = self.server.connection()
        reply = connection.send(render("GET", "/healthz", [("Connection", "close")])).reply("GET")
        self.assertEqual(reply.header("connection"), "close")
        connection.wait_closed()

    def test_an_answer_does_not_depend_on_how_the_request_was_cut(self):
        data = self.call_bytes() + render("GET", "/healthz")
        whole = self.server.connection().send(data)
        expected = whole.reply().status, whole.reply("GET").body
        for step in (1, 7, 100, 400):
            connection = self.server.connection()
            for at in range(0, len(data), step):
                connection.send(data[at : at + step])
            self.assertEqual((connection.reply().status, connection.reply("GET").body), expected)

    def test_a_half_closed_connection(self):
        connection = self.server.connection()
        connection.send(render("GET", "/healthz"))
        self.assertEqual(connection.reply("GET").status, 200)
        connection.socket.shutdown(1)
        connection.wait_closed()
        half = self.server.connection().send(b"GET /healthz HTT")
        half.socket.shutdown(1)
        half.wait_closed()
        self.assertIdle(self.server)

    def test_what_is_no_message(self):  # P01, P02
        for body, code in (
            (b"", -32700),
            (b"{", -32700),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping"', -32700),  # an id of what is not JSON is no id
            (b"\xff", -32700),
            (b'"text"', -32600),
            (b"[]", -32600),
            (b"[" + dump(PING) + b"]", -32600),
            (b"{}", -32600),
            (b'{"jsonrpc":"1.0","id":1,"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":null,"method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":1,"method":"ping","method":"ping"}', -32600),
            (b'{"jsonrpc":"2.0","id":1,"result":{},"error":{"code":1,"message":""}}', -32600),
        ):
            with self.subTest(body=body):
                headers = [("Content-Type", JSON), ("Accept", BOTH), ("Content-Length", str(len(body)))]
                reply = self.server.ask("POST", "/mcp", headers, body)
                self.error(reply, 400, code)
                self.assertEqual(reply.message.id, 1 if code != -32700 and b'"id":1' in body[:30] and body[:1] == b"{" else None)


if __name__ == "__main__":
    main()
