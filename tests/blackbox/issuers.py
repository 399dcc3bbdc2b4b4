# SPDX-License-Identifier: Apache-2.0
"""Tokens of an identity provider (MCP 2026-07-28 and 2025-11-25 basic/authorization; RFC 6750, 7517, 7662, 8414, 9728):
who is let in, what refusals tell clients, and when keys are fetched."""

import base64
import hashlib
import hmac
import json
import re
import threading
import time
import urllib.parse

from evil_websocket import WebSocket, call
from http_client import HttpTest, Server, Stream
from identity_provider import Key, Provider, b64, make_token
from mcp import LIST_CHANGED, fixture, main

AUDIENCE = "https://hub.example/mcp"
METADATA = "/.well-known/oauth-protected-resource"


def bearer(token):
    return {"Authorization": f"Bearer {token}"}


class Issued(HttpTest):
    def setUp(self):
        super().setUp()
        self.provider = Provider(self.home, "/realms/x")
        self.addCleanup(self.provider.close)

    def manifest(self, access=None, issuer=None, toolsets=None, **auth):
        one = {"issuer": self.provider.issuer, "audiences": [AUDIENCE], "scopes": ["tools:read"], **(issuer or {})}
        return {"listen": [{"http": "127.0.0.1:0"}], "auth": {"issuers": [one], **auth}, "toolsets": toolsets or {"a": fixture("one", "hold")},
                **({"access": access} if access else {})}

    def serve(self, **options):
        return Server(self, self.daemon(manifest=self.manifest(**options)))

    def status(self, server, token, **options):
        return server.modern("tools/list", headers=bearer(token), **options).status

    def challenge(self, server, token, path="/mcp"):
        reply = server.modern("tools/list", headers=bearer(token), path=path)
        self.assertEqual(reply.status, 401, token)
        return reply.header("www-authenticate")

    def expected(self, server, description, path="/mcp"):
        url = f"http://localhost{METADATA}{path}"
        return f'Bearer error="invalid_token", error_description="{description}", resource_metadata="{url}", scope="tools:read"'


class Good(Issued):
    def test_kinds_of_keys(self):
        keys = [Key(self.home, "rsa"), Key(self.home, "ec", "P-256"), Key(self.home, "ed", "Ed25519")]
        self.provider.keys = keys
        server = self.serve()
        for key, algorithm in ((keys[0], "RS256"), (keys[0], "RS384"), (keys[0], "PS256"), (keys[0], "PS512"), (keys[1], "ES256"), (keys[2], "EdDSA")):
            self.assertEqual(self.status(server, self.provider.token(key, {"alg": algorithm})), 200, algorithm)
        for kind in ("JWT", "application/at+jwt", None):
            self.assertEqual(self.status(server, self.provider.token(header={"typ": kind})), 200)
        self.assertEqual(self.status(server, self.provider.token(aud=["x", AUDIENCE])), 200)
        self.assertEqual(self.status(server, self.provider.token(exp=int(time.time()) - 30)), 200)  # clocks differ
        self.assertEqual(self.provider.asked, [self.provider.place, "/keys"])

    def test_both_eras_and_every_transport(self):
        server = self.serve()
        token = self.provider.token()
        session = server.legacy(headers=bearer(token))
        self.assertEqual(session.call("a__one").status, 200)
        self.assertEqual(server.call("a__one", headers=bearer(token)).status, 200)
        # a later token of the same subject goes on with the session; another subject finds none
        session.common = bearer(self.provider.token(jti="2"))
        self.assertEqual(session.call("a__one").status, 200)
        session.common = bearer(self.provider.token(sub="bob"))
        self.assertEqual(session.post(session.message("tools/list")).status, 404)

    def test_where_metadata_is(self):
        for place, path in (("/.well-known/oauth-authorization-server/realms/x", "/realms/x"), ("/.well-known/openid-configuration/realms/x", "/realms/x"),
                            ("/realms/x/.well-known/openid-configuration", "/realms/x"), ("/.well-known/oauth-authorization-server", ""),
                            ("/.well-known/openid-configuration", "")):
            self.provider = Provider(self.home, path)
            self.addCleanup(self.provider.close)
            self.provider.place = place
            self.assertEqual(self.status(self.serve(), self.provider.token()), 200, place)
            self.assertEqual(self.provider.asked[-2:], [place, "/keys"])

    def test_keys_of_a_file_and_of_a_url(self):
        token = self.provider.token()
        path = self.home / "keys.json"
        path.write_text(json.dumps({"keys": [self.provider.keys[0].public()]}), encoding="utf-8")
        self.assertEqual(self.status(self.serve(issuer={"jwks": "./keys.json"}), token), 200)
        self.assertEqual(self.provider.asked, [])
        self.assertEqual(self.status(self.serve(issuer={"jwks": self.provider.base + "/keys"}), token), 200)
        self.assertEqual(self.provider.asked, ["/keys"])

    def test_internal_addresses(self):
        """An issuer says where its keys are: not among the machines that the hub alone can reach."""
        self.provider.introspects["opaque"] = {"active": True}
        asked = {"url": self.provider.base + "/introspect", "client_id": "hub", "client_secret": "s3cret"}
        for more in ({}, {"jwks": self.provider.base + "/keys"}, {"introspection": asked}):
            server = self.serve(issuer={"addresses": "public", **more})
            for token in (self.provider.token(), *(["opaque"] if "introspection" in more else [])):
                self.assertEqual(self.status(server, token), 503, more)
            server.hub.wait_log("127.0.0.1 is an internal address")
        self.assertEqual((self.provider.asked, self.provider.questions), ([], []))

    def test_beside_the_hubs_own(self):
        tokens = self.home / "tokens.json"
        own = self.cli("token", "new", "a", "--tokens", tokens, modules=False).stdout.strip()
        server = self.serve(tokens=str(tokens))
        for token, status in ((own, 200), (self.provider.token(), 200), (own[:-1] + ("A" if own[-1] != "A" else "B"), 401)):
            self.assertEqual(self.status(server, token), status)

    def test_rights(self):  # scopes, groups and claims of the token decide
        rules = [{"who": {"groups": ["ops"]}, "then": "allow"}, {"who": {"claims": {"team": ["red"]}}, "then": "allow"},
                 {"who": {"principals": ["jwt:*#root"]}, "then": "allow"}, {"who": {"scopes": ["admin"]}, "then": "allow"}]
        server = self.serve(access={"default": "deny", "rules": rules},
                            issuer={"groups_claim": "/realm_access/roles", "scopes_claim": "/scopes"})
        def sees(**claims):
            reply = server.modern("tools/list", headers=bearer(self.provider.token(**claims)))
            return "a__one" in reply.body.decode()
        for claims, wanted in (({}, False), ({"realm_access": {"roles": ["ops"]}}, True), ({"groups": ["ops"]}, False), ({"team": "red"}, True),
                               ({"sub": "root"}, True), ({"scopes": ["admin"]}, True), ({"scope": "admin"}, False), ({"scopes": "x admin"}, True)):
            self.assertEqual(sees(**claims), wanted, claims)


class Refused(Issued):
    def test_forged(self):
        """Forty tokens, each wrong in one way, and what each is answered with, to the letter."""
        provider, server = self.provider, self.serve()
        good = provider.token()
        head, body, signature = good.split(".")
        other = Key(self.home, "other")
        same_name = Key(self.home, "stranger")
        same_name.kid = "first"
        ec = Key(self.home, "ec", "P-256")
        ec.kid = "first"
        now = int(time.time())
        def raw(header, claims=None, sign=b"x"):
            return ".".join((b64(json.dumps(header).encode()), b64(json.dumps(claims or provider.claims()).encode()), b64(sign)))
        modulus = json.dumps(provider.keys[0].public()).encode()
        hmac_head = b64(b'{"alg":"HS256","kid":"first"}') + "." + body
        hmac_token = hmac_head + "." + b64(hmac.new(modulus, hmac_head.encode(), hashlib.sha256).digest())
        flipped = signature[:-8] + ("A" if signature[-8] != "A" else "B") + signature[-7:]
        forged = [
            *(raw({"alg": name}, sign=b"") for name in ("none", "None", "nOnE", "NONE")),
            *(raw({"alg": name, "kid": "first"}) for name in ("HS256", "HS384", "HS512", "RS1", "RSA-OAEP", "dir", "", "ES256K")),
            hmac_token,
            *(provider.token(header=more) for more in ({"jku": provider.base + "/keys"}, {"jwk": provider.keys[0].public()}, {"x5u": "https://x"}, {"crit": ["exp"]},
                                                       {"typ": "dpop+jwt"}, {"typ": "logout+jwt"}, {"b64": False, "crit": ["b64"]})),
            raw({"alg": "ES256", "kid": "first"}, sign=bytes(64)),
            raw({"alg": "EdDSA", "kid": "first"}, sign=bytes(64)),
            raw({"alg": "RS256", "kid": "first"}, sign=b""),
            raw({"alg": "RS256", "kid": "first"}, sign=bytes(256)),
            f"{head}.{body}.{flipped}", f"{head}.{b64(json.dumps(provider.claims(sub='root')).encode())}.{signature}",
            make_token(same_name, provider.claims()), make_token(ec, provider.claims()), make_token(other, provider.claims()),
            *(provider.token(**claims) for claims in ({"exp": now - 61}, {"exp": 0}, {"exp": None}, {"aud": ""}, {"exp": "never"}, {"nbf": now + 120}, {"aud": None}, {"aud": AUDIENCE + "/"},
                                                      {"aud": ["https://other.example"]}, {"iss": provider.issuer + "/"}, {"sub": None}, {"sub": "a\nb"})),
        ]
        self.assertGreaterEqual(len(forged), 40)
        shape = re.compile(re.escape(self.expected(server, "@")).replace("@", "[^\"]+"))
        for token in forged:
            self.assertRegex(self.challenge(server, token), r"\A(?:" + shape.pattern + r")\Z", token)
        self.assertEqual(self.status(server, good), 200)
        for token, why in ((provider.token(exp=now - 61), "the token has expired"), (provider.token(aud="x"), "the token is for another audience"),
                           (provider.token(iss="https://other.example"), "the token is of an issuer that is not known"),
                           (make_token(same_name, provider.claims()), "the token's signature is wrong")):
            self.assertEqual(self.challenge(server, token), self.expected(server, why))

    def test_without_a_token(self):
        server = self.serve()
        for path in ("/mcp", "/mcp/default"):
            reply = server.modern("tools/list", path=path)
            url = f"http://localhost{METADATA}{path}"
            self.assertEqual((reply.status, reply.header("www-authenticate")), (401, f'Bearer resource_metadata="{url}", scope="tools:read"'))
        self.assertEqual(server.modern("tools/list", path="/mcp?access_token=" + self.provider.token()).status, 401)

    def test_metadata(self):
        server = self.serve()
        for path in ("/mcp", "/mcp/default", "/ws", "/sse", ""):
            for host in ("localhost", "127.0.0.1:4711"):
                reply = server.get(METADATA + path, [("Host", host)])
                self.assertEqual((reply.status, json.loads(reply.body)), (200, {
                    "resource": f"http://{host}{path}", "authorization_servers": [self.provider.issuer], "bearer_methods_supported": ["header"],
                    "scopes_supported": ["tools:read"]}))
        for path in ("/nowhere", "/mcp/a/b", "/mcpx"):
            self.assertEqual(server.get(METADATA + path).status, 404, path)
        self.assertEqual(server.get(METADATA + "/mcp", [("Host", "evil.example")]).status, 403)
        plain = Server(self, self.daemon("--http", "0", toolsets={"a": fixture("one")}))
        self.assertEqual(plain.get(METADATA + "/mcp").status, 404)

    def test_behind_a_proxy_with_tls(self):
        manifest = self.manifest()
        manifest["listen"] = [{"http": "127.0.0.1:0", "hosts": ["hub.example"], "trusted_proxies": ["127.0.0.1"]}]
        server = Server(self, self.daemon(manifest=manifest))
        reply = server.get(METADATA + "/mcp", [("Host", "hub.example"), ("X-Forwarded-Proto", "https")])
        self.assertEqual(json.loads(reply.body)["resource"], "https://hub.example/mcp")
        reply = server.modern("tools/list", headers={"Host": "hub.example", "X-Forwarded-Proto": "https"})
        self.assertIn(f'resource_metadata="https://hub.example{METADATA}/mcp"', reply.header("www-authenticate"))

    def test_step_up(self):  # all scopes at once, and the same session with a better token
        rules = [{"who": {"scopes": ["tools:read", "tools:write"]}, "tools": {"match": ["a:one"]}, "then": "challenge"}]
        server = self.serve(access={"default": "allow", "rules": rules})
        url = f"http://localhost{METADATA}/mcp"
        wanted = f'Bearer error="insufficient_scope", scope="tools:read tools:write", resource_metadata="{url}"'
        low, high = self.provider.token(scope="tools:read"), self.provider.token(scope="tools:read tools:write")
        session = server.legacy(headers=bearer(low))
        reply = session.post(session.message("tools/call", {"name": "a__one", "arguments": {}}))
        self.assertEqual((reply.status, reply.header("www-authenticate")), (403, wanted))
        session.common = bearer(high)
        self.assertEqual(session.call("a__one").status, 200)
        session.common = bearer(low)
        self.assertEqual(session.post(session.message("tools/call", {"name": "a__one", "arguments": {}})).status, 403)
        reply = server.modern("tools/call", {"name": "a__one", "arguments": {}}, headers=bearer(low))
        self.assertEqual((reply.status, reply.header("www-authenticate")), (403, wanted))
        self.assertEqual(server.call("a__one", headers=bearer(high)).status, 200)

    def test_step_up_where_there_is_no_status(self):  # a WebSocket, and a stream of 2024-11-05: the error says what the header would
        rules = [{"who": {"scopes": ["tools:write"]}, "tools": {"match": ["a:one"]}, "then": "challenge"}]
        server = self.serve(access={"default": "allow", "rules": rules})
        headers = bearer(self.provider.token(scope="tools:read"))
        error = WebSocket(server, headers=headers).ask(call("w", "a__one")).error
        self.assertEqual(error["data"], {"code": "insufficient_scope", "scope": "tools:write", "resource_metadata": f"http://localhost{METADATA}/ws"})
        reply = server.modern("tools/call", {"name": "a__one", "arguments": {}}, headers=headers)
        self.assertEqual(reply.message.error["data"]["resource_metadata"], f"http://localhost{METADATA}/mcp")

    def test_a_token_that_ends_meanwhile(self):
        """Its 60 s of grace included: streams end, and a WebSocket closes. All begins before that."""
        server = self.serve()
        headers = bearer(self.provider.token(exp=int(time.time()) - 40))
        session = server.legacy(headers=headers)
        websocket, stream, listen = WebSocket(server, headers=headers), session.open(), server.listen(headers=headers, toolsListChanged=True)
        for open_ in (stream, listen):
            while open_.next() is not None:
                pass
        self.assertEqual(websocket.closed(), 4401)
        self.assertEqual(session.post(session.message("tools/list")).status, 401)
        session.common = bearer(self.provider.token())
        self.assertEqual(session.post(session.message("tools/list")).status, 200)

    def test_bad_tokens_lock_nobody_out(self):  # a signature cannot be guessed, and a client that is told 429 would not log in again
        server = self.serve()
        for number in range(30):
            self.assertEqual(self.status(server, self.provider.token(sub=str(number), exp=1) if number < 2 else f"a.{number}.b"), 401)
        for number in range(20):
            self.assertEqual(self.status(server, f"guess{number}"), 401)
        self.assertEqual(self.status(server, "guess"), 429)
        self.assertEqual(self.status(server, self.provider.token(exp=1)), 401)

    def test_nothing_of_it_is_written(self):
        server = self.serve()
        tokens = [self.provider.token(), self.provider.token(exp=1)]
        for token in tokens:
            self.status(server, token)
        server.hub.wait_log("http.refused")
        for token in tokens:
            self.assertNotIn(token.split(".")[2], server.hub.log)


class Keys(Issued):
    def test_one_flight(self):
        """All that come while keys are fetched wait for the same answer."""
        self.provider.gate = threading.Event()
        server = self.serve()
        requests = [server.modern_bytes("tools/list", headers=bearer(self.provider.token(sub=str(n)))) for n in range(20)]
        connections = [server.connection() for _ in requests]
        for connection, request in zip(connections, requests):
            connection.send(request)
        self.provider.arrived.wait(60)
        self.provider.gate.set()
        self.assertEqual([connection.reply().status for connection in connections], 20 * [200])
        self.assertEqual(self.provider.asked, [self.provider.place, "/keys"])

    def test_who_hangs_up_meanwhile(self):
        self.provider.gate = threading.Event()
        server = self.serve()
        token = self.provider.token()
        for _ in range(3):
            connection = server.connection()
            connection.send(server.modern_bytes("tools/list", headers=bearer(token)))
        self.provider.arrived.wait(60)
        connection.close()
        last = server.connection()
        last.send(server.modern_bytes("tools/list", headers=bearer(token)) + server.modern_bytes("tools/list", headers=bearer(token)))
        self.provider.gate.set()
        self.assertEqual([last.reply().status, last.reply().status], [200, 200])  # what was sent ahead is not lost

    def test_a_body_that_comes_later(self):
        self.provider.gate = threading.Event()
        server = self.serve()
        request = server.modern_bytes("tools/list", headers=bearer(self.provider.token()))
        connection = server.connection()
        cut = request.index(b"\r\n\r\n") + 4
        connection.send(request[:cut])
        self.provider.arrived.wait(60)
        connection.send(request[cut : cut + 5])
        self.provider.gate.set()
        connection.send(request[cut + 5 :])
        self.assertEqual(connection.reply().status, 200)

    def test_rotation(self):
        """A token that names a new key is worth a look; an unknown one is not worth two."""
        server = self.serve()
        old, second = self.provider.token(), Key(self.home, "second", "P-256")
        self.assertEqual(self.status(server, old), 200)
        connections, sent = [server.connection() for _ in range(8)], 0
        def load(*tokens):  # ahead of what is answered
            for connection in connections:
                for token in tokens:
                    connection.send(server.modern_bytes("tools/call", {"name": "a__one", "arguments": {}}, headers=bearer(token)))
            return len(tokens)
        sent += load(old, self.provider.token(jti="1"))
        self.provider.keys.append(second)
        sent += load(old, *(self.provider.token(second, jti=str(n)) for n in range(3)), old)
        self.assertEqual({connection.reply().status for connection in connections for _ in range(sent)}, {200})
        self.assertEqual(self.provider.asked[2:], ["/keys"])
        strangers = [Key(self.home, f"nobodys{n}") for n in range(2)]
        for stranger in strangers:
            self.assertEqual(self.status(server, make_token(stranger, self.provider.claims())), 401)
        self.assertEqual(len(self.provider.asked), 3)  # they were asked for just now

    def test_an_issuer_that_does_not_answer(self):
        self.provider.failing = True
        server = self.serve()
        reply = server.modern("tools/list", headers=bearer(self.provider.token()))
        self.assertEqual((reply.status, reply.header("retry-after")), (503, "2"))
        server.hub.wait_log("issuer.unreachable")
        self.assertEqual(len(self.provider.asked), 3)  # each place once
        server = self.serve(issuer={"jwks": "http://127.0.0.1:1/keys"})
        self.assertEqual(self.status(server, self.provider.token()), 503)
        self.assertSays(server.hub.wait_log("issuer.unreachable"), "127.0.0.1 port 1: Connection refused: is the server running")

    def test_metadata_of_somebody_else(self):
        for metadata in ({"issuer": self.provider.issuer + "/"}, {"issuer": 5}, {"jwks_uri": "http://192.0.2.1/keys"}, {"jwks_uri": "file:///etc/passwd"}):
            self.provider.metadata = metadata
            server = self.serve()
            self.assertEqual(self.status(server, self.provider.token()), 503)
            server.hub.wait_log("issuer.unreachable")
        self.assertNotIn("/keys", self.provider.asked)

    def test_reload(self):
        """An issuer that stays as it was loses nothing; what changes of it ends what its tokens have."""
        path = self.home / "hub.json"
        path.write_text(json.dumps(self.manifest()), encoding="utf-8")
        hub = self.daemon("--config", path)
        server = Server(self, hub)
        token = self.provider.token()
        session = server.legacy(headers=bearer(token))
        held = Stream(server.connection().send(session.get_bytes()))
        self.replace_manifest(hub, self.manifest(toolsets={"a": fixture("one", "two")}), path)
        self.assertEqual(held.message().method, LIST_CHANGED)
        self.assertEqual((session.call("a__two").status, len(self.provider.asked)), (200, 2))
        self.replace_manifest(hub, self.manifest(issuer={"audiences": ["https://other.example"]}), path)
        self.assertIsNone(held.next())
        self.assertEqual(self.status(server, token), 401)
        self.replace_manifest(hub, self.manifest(), path)
        self.assertEqual(self.status(server, token), 200)


class Opaque(Issued):
    def setUp(self):
        super().setUp()
        answer = {"active": True, "sub": "ann", "aud": AUDIENCE, "scope": "tools:read", "exp": int(time.time()) + 600}
        self.provider.introspects = {"good": answer, "elsewhere": {**answer, "aud": "x"}, "others": {**answer, "iss": "https://x"}, "late": {**answer, "exp": 5}}

    def test_introspection(self):
        client, secret = "hub:one", "s3cret+of/the=hub %2B"  # RFC 6749, 2.3.1: as a form would have them
        asked = {"url": self.provider.base + "/introspect", "client_id": client, "client_secret": secret}
        server = self.serve(issuer={"introspection": asked})
        for _ in range(3):
            self.assertEqual(self.status(server, "good"), 200)
        self.assertEqual(len(self.provider.questions), 1)  # remembered
        credential, form = self.provider.questions[0]
        pair = base64.b64decode(credential.split()[1]).decode().split(":")
        self.assertEqual([urllib.parse.unquote_plus(text) for text in pair], [client, secret])
        self.assertEqual(form["token"], ["good"])
        for token, why in (("unknown", "the token is not active"), ("elsewhere", "the token is for another audience"), ("others", "the token is of another issuer"),
                           ("late", "the token has expired")):
            self.assertEqual(self.challenge(server, token), self.expected(server, why))
        self.assertEqual(self.status(server, self.provider.token()), 200)  # signed ones need no question
        self.assertEqual(len(self.provider.questions), 5)
        self.provider.failing = True
        self.assertEqual(self.status(server, "another"), 503)
        self.assertEqual(self.status(server, "good"), 200)
        self.assertNotIn("s3cret", server.hub.log)


class Wrong(Issued):
    def test_settings(self):
        for issuer, said in (({"issuer": "http://id.example"}, "https"), ({"issuer": "https://a#b"}, "#"), ({"audiences": []}, "audiences"), ({"audiences": None}, "list"),
                             ({"groups_claim": "groups"}, "JSON Pointer"), ({"jwks": "./none.json"}, "none.json"), ({"jwks": "http://x.example/k"}, "https"),
                             ({"introspection": {"url": "https://x.example/"}}, "client_id"), ({"scopes": ["a b"]}, "scope"), ({"secret": 1}, "unknown key")):
            path = self.home / "m.json"
            path.write_text(json.dumps(self.manifest(issuer=issuer)), encoding="utf-8")
            done = self.cli("check", "--config", path, modules=False)
            self.assertNotEqual(done.returncode, 0, issuer)
            self.assertIn(said, done.stderr)
        twice = self.manifest()
        twice["auth"]["issuers"] *= 2
        path.write_text(json.dumps(twice), encoding="utf-8")
        self.assertIn("already", self.cli("check", "--config", path, modules=False).stderr)

    def checked(self, manifest):
        path = self.home / "m.json"
        path.write_text(json.dumps({**manifest, "toolsets": {}}), encoding="utf-8")
        done = self.cli("check", "--config", path, modules=False)
        return done.returncode, done.stderr

    def test_bounds(self):  # each at its edge, and one beyond
        def issuers(count):
            manifest = self.manifest()
            one = manifest["auth"]["issuers"][0]
            manifest["auth"]["issuers"] = [{**one, "issuer": f"https://id{number}.example"} for number in range(count)]
            return manifest
        stem = "https://id.example/"
        for good, wrong, said in (
                (issuers(16), issuers(17), "16"),
                (self.manifest(issuer={"issuer": stem + (512 - len(stem)) * "x"}), self.manifest(issuer={"issuer": stem + (513 - len(stem)) * "x"}), "512"),
                (self.manifest(issuer={"groups_claim": "/" + 255 * "x"}), self.manifest(issuer={"groups_claim": "/" + 256 * "x"}), "256")):
            code, why = self.checked(good)
            self.assertEqual(code, 0, why)
            code, why = self.checked(wrong)
            self.assertEqual(code, 3, why)
            self.assertIn(said, why)


if __name__ == "__main__":
    main()
