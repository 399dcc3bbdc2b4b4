# SPDX-License-Identifier: Apache-2.0
"""HTTP clients that mean harm, beyond what http_requests.py, http_guards.py and http_deadlines.py ask one by one:
streams cut in every way, floods of connections, no descriptors left, rebound names on every spelling of a route, and
mutated requests. Afterwards the hub is as it was before (RELIABILITY.md group B, R03, R06)."""

import time

from evil import LIMITS, Bystander, EvilTest, half_close, leave
from http_client import BOTH, EVENTS, JSON, Server, dump, merge, render
from mcp import Hub, hub_command, main

UPGRADE = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", "MDEyMzQ1Njc4OWFiY2RlZg==")]
USUAL = [("Content-Type", JSON), ("Accept", BOTH)]


class Streams(EvilTest):
    def call_bytes(self, request_id="evil"):
        return self.server.modern_bytes("tools/call", {"name": "up__echo", "arguments": {}}, request_id=request_id)

    def open_streams(self):
        """Event streams of every kind."""
        yield self.server.listen(toolsListChanged=True).connection
        session = self.server.legacy()
        yield session.open().connection
        old = self.server.connection().send(render("GET", "/sse", [("Accept", EVENTS)]))
        self.assertEqual(old.read_head().status, 200)
        yield old

    def test_cut_in_every_way(self):  # H13
        for ending in (
            leave,
            half_close,
            lambda connection: connection.close(),
            lambda connection: half_close(connection.send(b"x")),
            lambda connection: half_close(connection.send(b"\x00" * 100)),
            lambda connection: leave(connection.send(self.call_bytes())),
            lambda connection: half_close(connection.send(b"GET / HTTP/1.1\r\n")),
        ):
            for connection in self.open_streams():
                ending(connection)
            self.wait_links_gone()
        self.assertUnharmed()

    def test_requests_behind_an_open_stream_wait(self):  # H03: they are not served while it is open
        for connection in self.open_streams():
            connection.send(self.call_bytes() * 3)
            self.bystander.call()
            self.bystander.call()
            self.assertEqual(self.foreign_calls(), [])
            leave(connection)
        self.assertUnharmed()

    def test_more_behind_an_open_stream_than_is_kept(self):  # what the hub does not read, the client cannot send
        stream = self.server.listen(toolsListChanged=True).connection
        stream.socket.setblocking(False)
        sent, burst = 0, self.call_bytes() * 1000
        try:
            while sent < 64 << 20:
                sent += stream.socket.send(burst)
        except (BlockingIOError, ConnectionResetError, BrokenPipeError):
            pass
        self.assertLess(sent, 64 << 20)
        self.bystander.call()
        self.assertIdle(self.server)
        leave(stream)
        self.assertUnharmed()

    def test_calls_cut_in_mid_answer(self):  # H13
        for number in range(20):
            mark = self.upstream.mark
            connection = self.server.connection()
            connection.send(self.server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {}}, request_id=number))
            self.upstream.wait_calls(1, mark)
            (leave if number % 2 else half_close)(connection)
            self.upstream.wait_line(lambda m: m.get("method") == "notifications/cancelled", "the cancellation", mark)
        self.assertUnharmed(calls=20)


class Requests(EvilTest):
    def test_targets(self):  # H07, H18
        for target, status in (
            ("//mcp", 404),
            ("///healthz", 404),
            ("/./healthz", 404),
            ("/../healthz", 404),
            ("/x/../healthz", 404),
            ("/%2e%2e/healthz", 404),
            ("/%68ealthz", 404),
            ("/healthz%00", 404),
            ("/healthz/", 404),
            ("/healthz;a=b", 404),
            ("/healthz?a=/../mcp", 200),
            ("/HEALTHZ", 404),
            ("/", 404),
            ("/healthz%", 400),
            ("/healthz%0", 400),
            ("/healthz%zz", 400),
            ("/healthz#x", 400),
            ("/health\\z", 400),
            ('/health"z', 400),
            ("/health\xe4z", 400),
            ("*", 400),
            ("healthz", 400),
            ("http://localhost/healthz", 200),
            ("HTTP://LOCALHOST/healthz", 200),
            ("http://localhost/../healthz", 404),
            ("http://localhost?x", 404),
            ("http:///healthz", 400),
            ("http://x@localhost/healthz", 400),
            ("http://localhost@evil.example/healthz", 400),
            ("http://localhost:80/healthz", 400),  # another host than the header's
            ("ftp://localhost/healthz", 400),
            ("localhost:80", 400),
        ):
            with self.subTest(target=target):
                connection = self.server.connection().send(render("GET", target))
                reply = connection.reply("GET")
                self.assertEqual(reply.status, status, reply)
                self.assertEqual(reply.header("connection"), "close" if status == 400 else None)
                connection.close()
        self.assertUnharmed()

    def test_what_was_http_once(self):  # H07
        for data in (b"GET /healthz\r\n", b"GET /healthz\r\n\r\n", b"GET\r\n\r\n", b"\r\n\r\n\r\n\r\n\r\n", b"\x00", b"\xff" * 1000, b"HTTP/1.1 200 OK\r\n\r\n"):
            connection = half_close(self.server.connection().send(data))
            while connection.fill():
                pass
            self.assertTrue(connection.buffer == b"" or connection.buffer.startswith(b"HTTP/1.1 400 "), (data, connection.buffer))
            connection.close()
        self.assertUnharmed()

    def test_methods_that_reflect_or_tunnel(self):  # H11
        for method, status in (("TRACE", 405), ("TRACK", 405), ("CONNECT", 405), ("PROPFIND", 405), ("DEBUG", 405)):
            for path in ("/mcp", "/healthz", "/ws", "/sse"):
                connection = self.server.connection()
                self.assertEqual(connection.send(render("GET", "/healthz")).reply().status, 200)
                reply = connection.send(render(method, path, [("X-Secret", "reflected")])).reply()
                self.refusal(reply, status)
                self.assertNotIn(b"reflected", reply.body)
                connection.close()
        self.assertUnharmed()

    def test_names_that_were_rebound(self):  # H08: on every spelling of a route; no session, no stream, no upgrade
        hosts = ["evil.example.com", "localhost.evil.com", "127.0.0.1.evil.com", "LOCALHOST.", "evil.com:80", "[::ffff:7f00:1]", "[::1%25lo]", "[0:0:0:0:0:0:0:1]"]
        origins = ["http://evil.example.com", "http://localhost.evil.com", "http://127.0.0.1.evil.com", "null", "http://localhost@evil.com", "HTTP://LOCALHOST", "http://localhost.", "http://[::1].evil.com", "http://localhost:80.evil.com"]
        routes = [("POST", "/mcp"), ("POST", "/mcp/default"), ("POST", "/mcp/x"), ("GET", "/mcp"), ("DELETE", "/mcp"), ("GET", "/sse"), ("GET", "/sse/default")]
        routes += [("POST", "/messages?sessionId=x"), ("GET", "/ws"), ("GET", "/ws/default"), ("GET", "/nowhere")]
        routes += [("OPTIONS", "/mcp"), ("OPTIONS", "/ws"), ("OPTIONS", "/nowhere")]
        body = dump(self.server.modern_request("tools/call", {"name": "up__echo", "arguments": {}}))
        for name, values in (("Host", hosts), ("Origin", origins)):
            for value in values:
                connection = self.server.connection()
                for method, path in routes:
                    headers = [*(UPGRADE if path.startswith("/ws") else []), *USUAL, ("Access-Control-Request-Method", "POST"), (name, value)]
                    with self.subTest(name=name, value=value, method=method, path=path):
                        reply = connection.send(render(method, path, headers, body if method == "POST" else b"")).reply(method)
                        self.assertEqual(reply.status, 403)
                        self.assertFalse([key for key, _ in reply.headers if key.lower().startswith(("access-control", "mcp-"))])
                if name == "Host":  # what a kubelet asks has any name, and tells no toolset's
                    self.assertEqual(connection.send(render("GET", "/healthz", [*USUAL, (name, value)])).reply().status, 200)
                connection.close()
        self.assertUnharmed()

    def test_mutants(self):  # H07: each is answered or closed, and none spins, hangs or harms
        message = self.server.modern_request("tools/list")
        good = render("POST", "/mcp", merge(self.server.modern_headers(message), {"Transfer-Encoding": "chunked"}))
        good += b"%x\r\n%s\r\n0\r\n\r\n" % (len(dump(message)), dump(message))
        special = b"\r\n\t :;,\x00\x7f\xff%/0"
        state = 7
        for _ in range(500):
            data = bytearray(good)
            for _ in range(2):
                state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
                at = (state >> 33) % len(data)
                byte = special[(state >> 20) % len(special)]
                if state >> 63:
                    data[at] = byte
                elif state >> 62:
                    data.insert(at, byte)
                else:
                    del data[at : at + (state >> 8) % 8]
            connection = half_close(self.server.connection().send(bytes(data)))
            while connection.fill():
                pass
            if connection.buffer:
                self.assertIn(connection.buffer[:9], (b"HTTP/1.1 ",), bytes(data))
                status = connection.buffer[9:12]
                self.assertTrue(status == b"200" or status[:1] == b"4" or status in (b"501", b"505"), (data, connection.buffer))
            connection.close()
        self.assertUnharmed()


class Floods(EvilTest):
    def test_connections_of_one_address(self):  # R06
        server = self.http(toolsets={"up": self.upstream.toolset()}, manifest={"limits": {**LIMITS, "connections_per_address": 8}})
        self.begin(server)
        other = Bystander(server, server.connection(source="127.0.0.9"))
        kept = [server.connection() for _ in range(7)]
        began = time.monotonic()
        for _ in range(100):
            server.connection().wait_closed()
        for connection in kept:
            self.assertEqual(connection.send(render("GET", "/healthz")).reply().status, 200)
        self.bystander.call()
        other.call()
        for connection in kept:
            connection.close()
        other.connection.close()
        self.wait_links_gone()
        server.hub.wait_log("net.refused")
        self.assertLess(server.hub.log.count("net.refused"), 3 + (time.monotonic() - began) / 10)  # one line in 10 s
        self.assertUnharmed()

    def test_connections_in_all(self):  # R06
        server = self.http(toolsets={"up": self.upstream.toolset()}, manifest={"limits": {**LIMITS, "connections": 8}})
        self.begin(server)
        kept = [server.connection(source=f"127.0.0.{10 + n}") for n in range(7)]
        for connection in kept:
            self.assertEqual(connection.send(render("GET", "/healthz")).reply().status, 200)
        for n in range(100):
            server.connection(source=f"127.0.1.{n}").wait_closed()
        self.bystander.call()
        for connection in kept:
            connection.close()
        self.wait_links_gone()
        self.assertUnharmed()

    def test_no_descriptors_left(self):  # R03
        manifest = {"toolsets": {"up": self.upstream.toolset()}, "limits": LIMITS}
        command = ["prlimit", "--nofile=64:64", *hub_command("--stdio", "--http", "127.0.0.1:0", manifest=manifest, home=self.home)]
        hub = Hub(command=command, home=self.home)
        self.addCleanup(self._finish, hub)
        self.begin(Server(self, hub))
        clock = self.server.listen(toolsListChanged=True)
        began = time.monotonic()
        crowd = [self.server.connection() for _ in range(120)]
        self.assertSays(hub.wait_log("net.refused"), "ulimit -n")
        self.bystander.call()
        clock.wait_comment()
        before, since = self.cpu(), time.monotonic()
        for _ in range(4):
            clock.wait_comment()
            self.bystander.call()
        self.assertLess(self.cpu() - before, 0.3 * max(2, time.monotonic() - since))
        self.assertLess(hub.log.count("net.refused"), 3 + (time.monotonic() - began) / 10)  # one line in 10 s
        for connection in crowd:
            leave(connection)
        clock.close()
        self.wait_links_gone()
        newcomer = Bystander(self.server)
        newcomer.call()
        newcomer.connection.close()
        self.assertUnharmed()

    def cpu(self):
        with open(f"/proc/{self.server.hub.process.pid}/schedstat", encoding="ascii") as file:
            return int(file.read().split()[0]) / 1e9


class Slow(EvilTest):
    limits = {**LIMITS, "header_timeout": "5s", "body_timeout": "5s", "idle_timeout": "5s"}

    def begin(self, server):
        super().begin(server)
        self.bystander.connection.close()

    def test_a_crowd(self):  # H10: those who say nothing, half a head, half a body
        message = self.server.modern_request("tools/list")
        half = render("POST", "/mcp", self.server.modern_headers(message, {"Content-Length": "100"}))
        chunked = render("POST", "/mcp", self.server.modern_headers(message, {"Transfer-Encoding": "chunked"}))
        expecting = render("POST", "/mcp", self.server.modern_headers(message, {"Content-Length": "100", "Expect": "100-continue"}))
        kinds = [(b"", None), (b"\r\n", None), (b"G", 408), (half[:-2], 408), (half, 408), (half + b"{", 408), (chunked, 408), (chunked + b"5\r\n{", 408)]
        crowd = [(kind, self.server.connection().send(kind[0])) for kind in kinds * 20]
        late = self.server.connection().send(expecting)
        self.assertEqual(late.reply().status, 100)
        self.refusal(late.reply(), 408)
        for (data, status), connection in crowd:
            with self.subTest(data=data):
                if status:
                    self.refusal(connection.reply(), status)
                connection.wait_closed()
            connection.close()
        late.close()
        self.assertIdle(self.server)


if __name__ == "__main__":
    main()
