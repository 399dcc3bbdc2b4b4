# SPDX-License-Identifier: Apache-2.0
"""Who gets in: Host and Origin (MCP 2026-07-28 basic/transports/streamable-http, Security & Endpoint), CORS,
bearer tokens (RFC 6750), and that no spelling of a path is a way around them (RELIABILITY.md H08, H09, H18, A01,
A11, A13, A18, C05)."""

import base64
import json
import time

from http_client import BOTH, JSON, HttpTest, Server, Stream, dump, render
from mcp import LIST_CHANGED, fixture, main

PING = {"jsonrpc": "2.0", "id": 1, "method": "ping"}
ROUTES = [("GET", "/mcp"), ("POST", "/mcp"), ("DELETE", "/mcp"), ("GET", "/sse"), ("POST", "/messages?sessionId=x"), ("GET", "/ws")]
OPEN = [("GET", "/healthz"), ("GET", "/readyz")]
UPGRADE = [
    ("Connection", "Upgrade"),
    ("Upgrade", "websocket"),
    ("Sec-WebSocket-Version", "13"),
    ("Sec-WebSocket-Key", base64.b64encode(b"0123456789abcdef").decode()),
]
USUAL = [("Content-Type", JSON), ("Accept", BOTH)]


def without(headers, name):
    return [(key, value) for key, value in headers if key != name]


class Origins(HttpTest):
    def test_hosts_that_are_not_this_one(self):  # H08
        server = self.http()
        for host in (
            "evil.example",
            "localhost.evil.example",
            "evil.example:80",
            "localhost.",
            "localhost@evil.example",
            "evil.example@localhost",
            "127.0.0.1.evil.example",
            "127.1",
            "127.0.0.2",
            "2130706433",
            "0x7f000001",
            "0177.0.0.1",
            "[::1].evil.example",
            "[::ffff:127.0.0.1]",
            "::1",
            "0.0.0.0",
            "localhost:",
            "localhost:0",
            "localhost:08",
            "localhost:65536",
            "localhost:80:80",
            "localhost, localhost",
            "",
        ):
            for method, path in ROUTES + [("OPTIONS", "/mcp"), ("GET", "/nowhere")]:
                with self.subTest(host=host, path=path):
                    reply = server.ask(method, path, [("Host", host), *USUAL])
                    self.refusal(reply, 403, "host")
                    self.assertEqual(reply.all("access-control-allow-origin"), [])
        for host in ("localhost", "LOCALHOST:1", "127.0.0.1", "127.0.0.1:65535", "[::1]", "[::1]:8080"):
            self.assertEqual(server.ask("OPTIONS", "/mcp", [("Host", host)]).status, 204, host)
        self.assertEqual(server.get("http://localhost/healthz").status, 200)
        self.refusal(server.get("http://evil.example/mcp", [("Host", "evil.example")]), 403)
        self.refusal(server.get("http://localhost/healthz", [("Host", "evil.example")]), 400)  # whom to believe?
        self.refusal(server.get("http://evil.example/healthz", [("Host", "localhost")]), 400)

    def test_who_runs_it_is_told_what_to_do(self):
        """In the log; a stranger hears no more than that it is one."""
        cases = ((("Host", "hub.example:80"), (), ("hosts", "--allowed-host")),
                 (("Host", "localhost"), (("Origin", "https://app.example"),), ("origins", "--allowed-origin")))
        for host, more, says in cases:
            server = self.http()  # each for itself: refusals are logged at a rate
            reply = server.ask("GET", "/mcp", [host, *more, *USUAL])
            self.refusal(reply, 403)
            self.assertSays(server.hub.wait_log("http.refused"), host[1], *says)
            for word in says:
                self.assertNotIn(word, reply.body.decode())

    def test_origins_that_are_strangers(self):  # H08
        server = self.http()
        for origin in (
            "null",
            "http://evil.example",
            "https://evil.example",
            "http://localhost.evil.example",
            "http://evil.example/localhost",
            "http://localhost@evil.example",
            "http://evil.example#localhost",
            "http://[::1].evil.example",
            "http://127.0.0.1.evil.example:80",
            "http://127.1",
            "http://2130706433",
            "http://localhost.",
            "http://localhost:99999",
            "http://localhost http://evil.example",
            "http://localhost, http://localhost",
            "http://localhost/",
            "HTTP://localhost",
            "file://localhost",
            "chrome-extension://localhost",
            "localhost",
            "http://",
            "",
        ):
            for method, path in ROUTES + OPEN + [("OPTIONS", "/mcp"), ("GET", "/nowhere")]:
                with self.subTest(origin=origin, path=path):
                    reply = server.ask(method, path, [("Origin", origin), *USUAL])
                    self.refusal(reply, 403, "origin")
                    self.assertEqual(reply.all("access-control-allow-origin"), [])
        for origin in ("http://localhost", "https://localhost:8443", "http://127.0.0.1:6274", "http://[::1]:1"):
            self.assertEqual(server.get("/healthz", [("Origin", origin)]).status, 200, origin)

    def test_the_upgrade_has_the_same_guards(self):  # W01
        server = self.http()
        for status, headers in (
            (403, [*UPGRADE, ("Host", "evil.example")]),
            (403, [*UPGRADE, ("Origin", "http://evil.example")]),
            (403, [*UPGRADE, ("Origin", "null")]),
            (426, []),
            (426, without(UPGRADE, "Upgrade")),
            (426, without(UPGRADE, "Connection")),
            (426, [*without(UPGRADE, "Upgrade"), ("Upgrade", "h2c")]),
            (426, [*without(UPGRADE, "Sec-WebSocket-Version"), ("Sec-WebSocket-Version", "12")]),
            (426, [*without(UPGRADE, "Sec-WebSocket-Version"), ("Sec-WebSocket-Version", "8, 13")]),
            (426, without(UPGRADE, "Sec-WebSocket-Version")),
            (400, without(UPGRADE, "Sec-WebSocket-Key")),
            (400, [*without(UPGRADE, "Sec-WebSocket-Key"), ("Sec-WebSocket-Key", "c2hvcnQ=")]),
            (400, [*without(UPGRADE, "Sec-WebSocket-Key"), ("Sec-WebSocket-Key", "not base64 but 24 long..")]),
        ):
            with self.subTest(headers=headers):
                reply = self.refusal(server.get("/ws", headers), status)
                if status == 426:
                    self.assertTrue(reply.header("upgrade") == "websocket" or reply.header("sec-websocket-version") == "13")
        self.refusal(server.get("/ws/nosuchprofile", UPGRADE), 404, "profile")
        self.assertEqual(server.get("/healthz", [("Upgrade", "foo"), ("Connection", "Upgrade")]).status, 200)

    def test_names_and_origins_of_the_manifest(self):
        listen = {"http": "127.0.0.1:0", "hosts": ["hub.example.com", "[::1]:8080"], "origins": ["https://app.example.com", "vscode-webview://abc"]}
        server = Server(self, self.hub("--stdio", manifest={"listen": [listen]}))
        for host, status in (("hub.example.com", 204), ("HUB.example.com:9", 204), ("[::1]:8080", 204), ("[::1]:8081", 403), ("localhost", 403), ("127.0.0.1", 403)):
            self.assertEqual(server.ask("OPTIONS", "/mcp", [("Host", host)]).status, status, host)
        for origin, status in (
            ("https://app.example.com", 200),
            ("http://app.example.com", 403),
            ("https://app.example.com:8443", 403),
            ("vscode-webview://abc", 200),
            ("https://hub.example.com", 200),
            ("http://localhost", 403),
        ):
            reply = server.get("/healthz", [("Host", "hub.example.com"), ("Origin", origin)])
            self.assertEqual(reply.status, status, origin)
            self.assertEqual(reply.header("access-control-allow-origin"), origin if status == 200 else None)

    def test_preflights(self):  # H09
        server = self.http("--allowed-origin", "https://app.example.com")
        asked = "content-type,mcp-param-region, Mcp-Param-Zone,x-other, mcp-session-id,mcp-param-"
        for origin in ("https://app.example.com", "http://localhost:6274"):
            for path in ("/mcp", "/mcp/default", "/messages", "/nowhere"):
                reply = server.ask(
                    "OPTIONS",
                    path,
                    [("Origin", origin), ("Access-Control-Request-Method", "POST"), ("Access-Control-Request-Headers", asked)],
                )
                self.assertEqual((reply.status, reply.body), (204, b""))
                self.assertEqual(reply.header("access-control-allow-origin"), origin)
                self.assertEqual(reply.header("vary"), "Origin")
                self.assertEqual(reply.header("access-control-allow-methods"), "GET, POST, DELETE, OPTIONS")
                self.assertEqual(
                    reply.header("access-control-allow-headers"),
                    "Accept, Authorization, Content-Type, Last-Event-ID, MCP-Protocol-Version, Mcp-Method, Mcp-Name, "
                    "Mcp-Session-Id, mcp-param-region, Mcp-Param-Zone",
                )
                self.assertIsNone(reply.header("access-control-allow-credentials"))
        for origin in ("https://evil.example", "null", "https://app.example.com.evil.example"):
            reply = server.ask("OPTIONS", "/mcp", [("Origin", origin), ("Access-Control-Request-Method", "POST")])
            self.refusal(reply, 403, "origin")
            self.assertFalse([name for name, _ in reply.headers if name.lower().startswith("access-control")])

    def test_responses_to_a_page_that_is_welcome(self):  # H09
        server = self.http()
        origin = {"Origin": "http://localhost:6274"}
        for reply in (
            server.modern("tools/list", headers=origin),
            server.initialize(headers=origin),
            server.post(PING, origin),
            server.get("/nowhere", list(origin.items())),
            server.listen(headers=origin, toolsListChanged=True).head,
        ):
            self.assertEqual(reply.header("access-control-allow-origin"), origin["Origin"])
            self.assertEqual(reply.header("access-control-expose-headers"), "Mcp-Session-Id, WWW-Authenticate, Retry-After")
            self.assertEqual(reply.header("vary"), "Origin")
        self.assertIsNone(server.modern("tools/list").header("access-control-allow-origin"))
        connection = server.connection()  # of a connection's requests, each has its own
        connection.send(render("GET", "/healthz", list(origin.items())) + render("GET", "/healthz"))
        self.assertEqual(connection.reply("GET").header("access-control-allow-origin"), origin["Origin"])
        self.assertIsNone(connection.reply("GET").header("access-control-allow-origin"))

    def test_a_simple_request_of_a_page_does_nothing(self):  # H09: no preflight is asked for these types
        server = self.http()
        call = server.modern_request("tools/call", {"name": "disable_toolset", "arguments": {"toolset": "time"}})
        for content_type in ("text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"):
            self.refusal(server.post(call, {"Content-Type": content_type, "Origin": "http://localhost"}), 415)


class Tokens(HttpTest):
    def setUp(self):
        super().setUp()
        self.tokens = self.home / "tokens.json"
        self.token = self.new_token("ann")
        self.bearer = {"Authorization": f"Bearer {self.token}"}

    def new_token(self, name):
        done = self.cli("token", "new", name, "--tokens", self.tokens, modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def protected(self, *args, **options):
        return self.http("--tokens", str(self.tokens), *args, **options)

    def test_challenges(self):  # A01
        server = self.protected()
        wrong = self.token[:-1] + ("A" if self.token[-1] != "A" else "B")
        for authorization, status, challenge in (
            (None, 401, "Bearer"),
            ("Basic dXNlcjpwYXNz", 400, 'Bearer error="invalid_request"'),
            (f"Bearer {wrong}", 401, 'Bearer error="invalid_token"'),
            ("Bearer pbt_nobody_nothing", 401, 'Bearer error="invalid_token"'),
            ("Bearer", 400, 'Bearer error="invalid_request"'),
            (f"Bearer {self.token} {self.token}", 400, 'Bearer error="invalid_request"'),
        ):
            with self.subTest(authorization=authorization):
                reply = server.post(PING, {"Authorization": authorization})
                self.refusal(reply, status)
                self.assertEqual(reply.header("www-authenticate"), challenge)
        self.assertEqual(server.modern("tools/list", headers=self.bearer).status, 200)
        self.assertEqual(server.modern("tools/list", headers={"Authorization": f"bearer {self.token}"}).status, 200)
        self.assertNotIn(self.token, server.hub.log)
        self.assertNotIn(wrong, server.hub.log)

    def test_every_route_asks(self):  # A18, H18
        server = self.protected()
        paths = ["/mcp", "/mcp/default", "/mcp/x", "/sse", "/sse/default", "/messages?sessionId=x", "/ws", "/ws/default"]
        paths += ["/", "//mcp", "/mcp/", "/MCP", "/mcp;a", "/mcp%2f", "/%6dcp", "/mcp/../healthz", "/healthz/", "/healthz/../mcp"]
        paths += ["/healthz%2f..%2fmcp", "/readyz/mcp", "/mcp?/healthz", "http://localhost/mcp", "/mcp?access_token=" + self.token]
        paths += ["/healthz/x", "/healthz%00", "/x/healthz", "/admin", "/token", "/authorize", "/register", "/.well-known/x"]
        for path in paths:
            for method in ("GET", "POST", "DELETE", "PUT", "OPTIONS"):
                for authorization in (None, "Bearer pbt_a_b"):
                    with self.subTest(path=path, method=method, authorization=authorization):
                        headers = [*USUAL, *UPGRADE, ("Authorization", authorization)] if authorization else [*USUAL, *UPGRADE]
                        reply = server.ask(method, path, headers, b"{}" if method == "POST" else b"")
                        self.assertIn(reply.status, (401, 429), path)
            server.hub.check()

    def test_what_is_open(self):
        server = self.protected()
        for path in ("/healthz", "/readyz"):
            self.assertEqual(server.get(path).status, 200)
        preflight = server.ask("OPTIONS", "/mcp", [("Origin", "http://localhost"), ("Access-Control-Request-Method", "POST")])
        self.assertEqual(preflight.status, 204)

    def test_the_origin_is_decided_first(self):
        server = self.protected()
        self.refusal(server.post(PING, {"Host": "evil.example"}), 403)
        self.refusal(server.post(PING, {"Origin": "http://evil.example", **self.bearer}), 403)

    def test_what_is_unknown_is_unknown_to_who_may_ask(self):  # H18
        server = self.protected()
        bearer = list(self.bearer.items())
        for path in ("/", "//mcp", "/mcp/", "/MCP", "/mcp;a", "/mcp%2f", "/%6dcp", "/x/../mcp", "/healthz/", "/messages/"):
            self.assertEqual(server.ask("POST", path, [*USUAL, *bearer], b"{}").status, 404, path)
        self.refusal(server.modern("tools/list", headers=self.bearer, path="/mcp/nosuch"), 404, "profile")
        self.refusal(server.modern("tools/list", headers=self.bearer, path="/mcp/../mcp"), 404, "profile")
        self.refusal(server.modern("tools/list", headers=self.bearer, path="/mcp/" + "a" * 500), 404, "profile")

    def test_guessing_has_a_budget(self):  # A13
        server = self.protected()
        for _ in range(20):
            self.assertEqual(server.post(PING, {"Authorization": "Bearer pbt_a_b"}).status, 401)
        reply = self.refusal(server.post(PING, {"Authorization": "Bearer pbt_a_b"}), 429)
        self.assertTrue(0 < int(reply.header("retry-after")) <= 60)
        for _ in range(30):
            self.refusal(server.post(PING, {"Authorization": "Bearer pbt_a_b"}), 429)
        # Others behind the same address have nothing to do with it.
        self.assertEqual(server.modern("tools/list", headers=self.bearer).status, 200)
        self.assertEqual(server.legacy(headers=self.bearer).request("ping").status, 200)
        server.hub.wait_log("auth.locked_out peer=127.0.0.1 failures=20 seconds=")
        self.assertEqual(server.hub.log.count("auth.locked_out"), 1)
        self.refusal(server.post(PING), 401)  # no credential, no guess
        other = server.connection(source="127.0.0.9")  # nobody else is locked out
        message = server.modern_request("tools/list")
        other.send(render("POST", "/mcp", server.modern_headers(message, self.bearer), dump(message)))
        self.assertEqual(other.reply().status, 200)

    def test_sessions_belong_to_who_began_them(self):  # A16
        bob = {"Authorization": f"Bearer {self.new_token('bob')}"}
        server = self.protected()
        session = server.legacy(headers=self.bearer)
        self.assertEqual(session.request("ping").status, 200)
        for reply in (
            session.request("ping", headers=bob),
            session.notify("notifications/initialized", headers=bob),
            session.get(headers=bob),
            session.delete(headers=bob),
        ):
            self.assertEqual(reply.status, 404)
        self.assertEqual(session.request("ping").status, 200)
        self.refusal(session.request("ping", headers={"Authorization": None}), 401)
        self.assertEqual(server.legacy(headers=bob).delete().status, 204)

    def test_streams_end_with_the_credential(self):  # A06
        bob = {"Authorization": f"Bearer {self.new_token('bob')}"}
        entries = json.loads(self.tokens.read_text(encoding="utf-8"))
        entries[0]["expires"] = int(time.time()) + 20  # all begins before that
        self.tokens.write_text(json.dumps(entries), encoding="utf-8")
        recorder = self.recorder()
        toolsets = {"up": recorder.toolset(), "a": fixture("one", active=False)}
        server = self.protected(toolsets=toolsets, manifest={"limits": {"sse_comment": "1h"}})
        session = server.legacy(headers=self.bearer)
        own, listening = session.open(), server.listen(headers=self.bearer, toolsListChanged=True)
        old = Stream(server.connection().send(render("GET", "/sse", list(self.bearer.items()))))
        kept = server.listen(headers=bob, toolsListChanged=True)
        waiting = server.connection()
        hold = {"name": "up__hold", "arguments": {}}
        waiting.send(server.modern_bytes("tools/call", hold, self.bearer))
        recorder.wait_calls(1)
        for stream in (own, listening, old):
            while stream.next():
                pass
        reply = self.refusal(waiting.reply(), 401, "expired")
        self.assertEqual(reply.header("www-authenticate"), 'Bearer error="invalid_token"')
        recorder.wait_line(lambda m: m.get("method") == "notifications/cancelled", "the cancellation")
        self.refusal(session.get(), 401)
        server.call("enable_toolset", {"toolset": "a"}, bob)
        self.assertEqual(kept.message().method, LIST_CHANGED)


class Exposure(HttpTest):
    def test_other_addresses_need_authentication(self):  # C05
        for address in ("0.0.0.0:0", "[::]:0"):
            code, text = self.refused("--http", address)
            self.assertEqual(code, 4)
            self.assertSays(text, "authenticate", "--insecure", address.rsplit(":", 1)[0].strip("[]"))

    def test_insecure_says_so_loudly(self):  # C05
        server = self.http("--insecure", address="0.0.0.0:0")
        self.assertIn("warning", server.hub.wait_log("insecure"))
        self.assertEqual(server.get("/healthz").status, 200)
        self.refusal(server.get("/mcp", [("Host", "evil.example")]), 403)

    def test_the_address_it_listens_on_is_a_name(self):
        server = self.http(address="127.0.0.3:0")
        connection = server.connection(host="127.0.0.3")
        connection.send(render("OPTIONS", "/mcp", host="127.0.0.3") + render("OPTIONS", "/mcp", host="127.0.0.4"))
        self.assertEqual([connection.reply("OPTIONS").status for _ in range(2)], [204, 403])


if __name__ == "__main__":
    main()
