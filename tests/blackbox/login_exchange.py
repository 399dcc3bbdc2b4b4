# SPDX-License-Identifier: Apache-2.0
"""A token for the caller's own: exchanged (RFC 8693), or by an assertion of an identity provider (ID-JAG).

docs/LOGIN.md, "From the caller's own token"; MCP extension enterprise-managed-authorization, sections 4 and 5.
"""

import json
import sys
import time

from http_client import Server
from login_principals import PrincipalsTest
from mcp import SUPPORT, ends_soon, main
from replica_sessions import At, Replicas

sys.path.insert(0, str(SUPPORT))

from identity_provider import Key, make_token  # noqa: E402
from login_server import JWT_BEARER, TOKEN_EXCHANGE, AuthServer  # noqa: E402

AUDIENCE = "https://hub.example/mcp"
TYPE = "urn:ietf:params:oauth:token-type:"
CLIENT = {"client_id": "robot", "client_secret": "s3cret"}


class ExchangeTest(PrincipalsTest):
    """`auth` is the authorization server of the server behind the hub; the users' own tokens are of `issuer`."""

    def begin(self, era="legacy"):
        self.key = Key(self.home, f"key-{era}")
        self.auth, self.upstream = self.servers(era)
        self.made = 0

    def another(self):
        made = AuthServer()
        self.addCleanup(made.close)
        return made

    def show(self, name, **claims):
        """The user has a new token of the issuer, and calls with it from now on."""
        self.made += 1
        token = make_token(self.key, {"iss": self.issuer.issuer, "aud": AUDIENCE, "sub": name, "exp": int(time.time()) + 3600,
                                      "jti": str(self.made), **claims})
        self.issuer.subjects[token] = name
        self.shown[name] = token
        self.headers[name] = {"Authorization": f"Bearer {token}"}
        return token

    def settings(self, issuer, auth, names=("ann", "bob"), entry=None, issuers=()):
        self.issuer = issuer
        issuer.changes["jwks_uri"] = issuer.origin + "/keys"
        issuer.on["/keys"] = lambda handler, fields: handler.say(200, {"keys": [self.key.public()]})
        self.shown, self.headers = {}, {}
        for name in names:
            self.show(name)
        toolsets = {"up": {"url": self.upstream.url, "credentials": "principal", "auth": auth, **(entry or {})}}
        return {"toolsets": toolsets, "auth": {"issuers": [{"issuer": issuer.issuer, "audiences": [AUDIENCE]}, *issuers]}}

    def serve(self, *args, **options):
        self.manifest = ends_soon({"listen": [{"http": "127.0.0.1:0", "api": True}], **self.settings(*args, **options)})
        return Server(self, self.hub("--stdio", "--log-level", "debug", manifest=self.manifest))

    def asked(self, server, grant):
        return [fields for fields in server.of("/token") if fields["grant_type"] == grant]

    def refused(self, server, name, *words):
        error = self.call(server, name, capabilities={}).tool_error
        self.assertSays(error["message"], "OAuth login", *words)
        self.assertNotIn("patchbay login", error["message"])  # that would not help
        for token in self.shown.values():
            self.assertNotIn(token, error["message"])


class TokenExchange(ExchangeTest):
    def exchanging(self, era="legacy", issuer=None, entry=None, names=("ann", "bob"), **more):
        self.begin(era)
        auth = {"grant": "token_exchange", "issuer": self.auth.issuer, **CLIENT, **more}
        return self.serve(issuer or self.auth, auth, names, entry)

    def test_each_by_their_own_token(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                server = self.exchanging(era)
                self.upstream.more = {"ann": ["ann"], "bob": ["bob"]}
                for name in ("ann", "bob", "ann"):
                    self.assertEqual(self.names(server, name), {"up__echo", f"up__only_{name}"})
                    self.assertEqual(self.text(self.call(server, name)), name)
                self.assertEqual(self.upstream.crossed, [])
                asked = self.asked(self.auth, TOKEN_EXCHANGE)
                self.assertEqual(sorted(fields["subject_token"] for fields in asked), sorted(self.shown.values()))
                for fields in asked:
                    self.assertEqual(
                        {name: value for name, value in fields.items() if name not in ("subject_token", "grant_type")},
                        {"subject_token_type": TYPE + "access_token", "requested_token_type": TYPE + "access_token",
                         "scope": "mcp:tools", "resource": self.upstream.url},
                    )
                self.assertEqual(self.auth.of("/authorize") + self.auth.of("/register"), [])
                for request in self.upstream.requests:  # a caller's token is no token for the server
                    self.assertNotIn(request.headers.get("authorization", "").removeprefix("Bearer "), self.shown.values())

    def test_other_words(self):
        server = self.exchanging(names=("ann",), audience="urn:docs", subject_token="id_token", scopes=["a", "b"])
        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        [fields] = self.asked(self.auth, TOKEN_EXCHANGE)
        self.assertEqual((fields["audience"], fields["subject_token_type"], fields["scope"]), ("urn:docs", TYPE + "id_token", "a b"))

    def test_an_issuer_that_the_server_trusts(self):
        """The users' tokens are of another issuer than the one that exchanges them, because the entry says so."""
        issuer = self.another()
        self.begin()
        self.auth.subjects = issuer.subjects
        auth = {"grant": "token_exchange", "issuer": self.auth.issuer, "subject_issuer": issuer.issuer, **CLIENT}
        server = self.serve(issuer, auth)
        self.assertEqual(self.text(self.call(server, "bob")), "bob")
        self.assertEqual(issuer.of("/token"), [])

    def test_a_token_of_somebody_else_goes_nowhere(self):
        """Two issuers, and one of them exchanges its own tokens: those of the other stay with the hub."""
        other = self.another()
        self.begin()
        other.changes["jwks_uri"] = other.origin + "/keys"
        other.on["/keys"] = lambda handler, fields: handler.say(200, {"keys": [self.key.public()]})
        auth = {"grant": "token_exchange", "issuer": self.auth.issuer, **CLIENT}
        server = self.serve(self.auth, auth, names=("ann",), issuers=[{"issuer": other.issuer, "audiences": [AUDIENCE]}])
        # as if of one's name were the other's
        self.show("eve", iss=other.issuer)
        self.refused(server, "eve", self.auth.issuer, "has shown none")
        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        self.assertEqual(len(self.asked(self.auth, TOKEN_EXCHANGE)), 1)

    def test_what_has_expired_is_exchanged_anew(self):
        """By the newest token that its owner has shown; other people's stay as they are."""
        server = self.exchanging()
        for name in ("ann", "bob"):
            self.assertEqual(self.text(self.call(server, name)), name)
        first = self.shown["ann"]
        newest = self.show("ann", exp=int(time.time()) + 7200)
        for token in [token for token, user in self.auth.users.items() if user == "ann"]:
            self.auth.tokens.pop(token, None)
        for name in ("ann", "bob"):
            self.assertEqual(self.text(self.call(server, name)), name)
        self.assertEqual([fields["subject_token"] for fields in self.asked(self.auth, TOKEN_EXCHANGE)][2:], [newest])
        # who is not let in there any more does not get in by an earlier token
        self.auth.subjects = {token: user for token, user in self.auth.subjects.items() if user != "ann" or token == first}
        self.auth.tokens.clear()
        self.refused(server, "ann", "invalid_grant")
        self.assertEqual(self.text(self.call(server, "bob")), "bob")
        self.assertEqual(self.upstream.crossed, [])

    def test_a_scope_that_is_missing(self):
        server = self.exchanging(names=("ann",))
        self.upstream.wants = {"echo": "mcp:write"}
        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        self.assertEqual([fields["scope"] for fields in self.asked(self.auth, TOKEN_EXCHANGE)], ["mcp:tools", "mcp:tools mcp:write"])

    def test_answers_that_are_none(self):
        server = self.exchanging(names=("ann",))
        for changes, words in (
            ({"issued_token_type": TYPE + "refresh_token"}, ["issued_token_type"]),
            ({"issued_token_type": None}, ["issued_token_type"]),
            ({"issued_token_type": TYPE + "id-jag", "token_type": "N_A"}, ["issued_token_type"]),
            ({"token_type": "N_A"}, ["no bearer token"]),
            ({"token_type": "DPoP"}, ["no bearer token"]),
            ({"access_token": None}, ["no bearer token"]),
            ({"access_token": "x\r\nEvil: 1"}, ["no bearer token"]),
        ):
            with self.subTest(changes):
                self.auth.exchanged = changes
                self.show("ann")  # it is tried again with that at once
                self.refused(server, "ann", *words)
        self.auth.exchanged = {}
        for say, words in (
            (lambda handler, fields: handler.say(400, {"error": "access_denied"}), ["HTTP 400", "access_denied"]),
            (lambda handler, fields: handler.say(200, b"<html>"), ["issued_token_type"]),
            (lambda handler, fields: handler.say(200, b'{"a":"' + b"x" * 300_000 + b'"}'), ["too large"]),
            (lambda handler, fields: handler.say(302, Location=self.upstream.origin + "/stolen"), ["HTTP 302"]),
            (lambda handler, fields: handler.say(503), ["HTTP 503"]),
        ):
            with self.subTest(words):
                self.auth.on["/token"] = say
                self.show("ann")
                self.refused(server, "ann", *words)
        del self.auth.on["/token"]
        self.show("ann")
        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        for request in self.upstream.requests:
            self.assertNotIn("stolen", request.path)

    def test_a_refresh_token_is_of_no_use(self):
        """Whoever may not get a token any more does not get one by what was left of an earlier time."""
        server = self.exchanging(names=("ann",))
        self.auth.exchanged = {"refresh_token": "refresh-of-ann"}
        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        self.auth.tokens.clear()
        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        self.assertEqual(self.asked(self.auth, "refresh_token"), [])

    def test_nothing_of_it_is_kept(self):
        server = self.exchanging()
        for name in ("ann", "bob"):
            self.assertEqual(self.text(self.call(server, name)), name)
        begun = server.ask("POST", "/api/v1/logins/up", [*self.headers["ann"].items(), ("Content-Type", "application/json")], b"{}")
        self.assertEqual(json.loads(begun.body)["state"], "logged_in", begun.body)
        listed = self.cli("login", "list", "--json", manifest=self.manifest, modules=False)
        self.assertEqual((listed.returncode, json.loads(listed.stdout)), (0, []), listed.stderr)
        exported = self.cli("state", "export", manifest=self.manifest, modules=False).stdout
        places = [path for path in self.home.rglob("*") if path.is_file() and path.suffix != ".pem"]
        for secret in (*self.shown.values(), *self.auth.users):
            self.assertNotIn(secret, exported + server.hub.log)
            for path in places:
                self.assertNotIn(secret.encode(), path.read_bytes(), path)

    def test_nobody_logs_in_on_the_command_line(self):
        self.exchanging(names=("ann",))
        done = self.cli("login", "up", "--principal", f"jwt:{self.auth.issuer}#ann", manifest=self.manifest, modules=False)
        self.assertEqual(done.returncode, 5, done.stdout)
        self.assertSays(done.stderr, "by calling the hub with a token of", self.auth.issuer)

    def test_who_has_a_token_of_the_hubs_own(self):
        """It is no issuer's, and goes nowhere."""
        self.begin()
        bearer = self.bearer("eve")
        auth = {"grant": "token_exchange", "issuer": self.auth.issuer, **CLIENT}
        self.issuer = self.auth
        self.auth.changes["jwks_uri"] = self.auth.origin + "/keys"
        self.headers, self.shown = {"eve": bearer}, {"eve": bearer["Authorization"].removeprefix("Bearer ")}
        manifest = ends_soon({
            "toolsets": {"up": {"url": self.upstream.url, "credentials": "principal", "auth": auth}},
            "auth": {"tokens": str(self.home / "tokens.json"), "issuers": [{"issuer": self.auth.issuer, "audiences": [AUDIENCE]}]},
        })
        server = self.http("--log-level", "debug", manifest=manifest)
        self.refused(server, "eve", "has shown none")
        self.assertEqual(self.auth.of("/token"), [])

    def test_entries_that_are_wrong(self):
        good = {"grant": "token_exchange", "issuer": "https://a.example", **CLIENT}
        jag = {"grant": "id_jag", "identity_provider": {"issuer": "https://a.example", "client_id": "c"}}
        issuers = {"auth": {"issuers": [{"issuer": "https://a.example", "audiences": ["x"]}]}}
        for auth, keys, words in (
            (good, {"credentials": "hub"}, ["credentials: principal"]),
            ({**good, "client_secret": None}, {}, ["client_secret or private_key"]),
            ({**good, "issuer": "https://b.example"}, {}, ["https://b.example", "auth.issuers"]),
            ({**good, "subject_issuer": "https://b.example"}, {}, ["https://b.example", "auth.issuers"]),
            ({**good, "subject_token": "saml2"}, {}, ["id_token"]),
            ({**good, "identity_provider": jag["identity_provider"]}, {}, ["id_jag", "identity_provider"]),
            ({"subject_token": "jwt"}, {}, ["token_exchange"]),
            ({"subject_issuer": "https://a.example"}, {}, ["token_exchange"]),
            ({**jag, "audience": "x"}, {}, ["token_exchange"]),
            ({"grant": "id_jag"}, {}, ["identity_provider"]),
            ({**jag, "identity_provider": {"issuer": "https://a.example"}}, {}, ["client_id"]),
            ({**jag, "identity_provider": {"issuer": "https://b.example", "client_id": "c"}}, {}, ["https://b.example", "auth.issuers"]),
            ({"grant": "password"}, {}, ["token_exchange", "id_jag"]),
        ):
            auth = {name: value for name, value in auth.items() if value is not None}
            entry = {"url": "https://up.example/mcp", "credentials": "principal", "auth": auth, **keys}
            done = self.cli("check", manifest={**issuers, "toolsets": {"up": entry}})
            self.assertEqual(done.returncode, 3, (auth, done.stdout))
            self.assertSays(done.stderr + done.stdout, *words)
        for auth in (good, jag, {**jag, "subject_token": "access_token", "issuer": "https://c.example", "client_id": "c"}):
            entry = {"url": "https://up.example/mcp", "credentials": "principal", "auth": auth}
            done = self.cli("check", manifest={**issuers, "toolsets": {"up": entry}})
            self.assertEqual(done.returncode, 0, done.stderr)


class PassedOn(ExchangeTest, Replicas):
    """Credentials of clients stay at the replica that they come to: the home of a session has those that came there."""

    def test_a_session_has_the_tokens_that_its_home_was_shown(self):
        self.begin()
        auth = {"grant": "token_exchange", "issuer": self.auth.issuer, **CLIENT}
        settings = self.settings(self.auth, auth, names=("ann",))
        home, other = (self.replica(toolsets=settings["toolsets"], more={"auth": settings["auth"]}) for _ in range(2))
        first = self.shown["ann"]
        session = home.legacy(headers=self.headers["ann"])
        away = At(session, other)
        self.assertEqual(self.text(away.call("up__echo", {"user": "ann"}).message), "ann")
        # another token comes to the other replica alone, and the first one is no good any more
        newest = self.show("ann", exp=int(time.time()) + 7200)
        away.common = {**away.common, **self.headers["ann"]}
        self.auth.subjects.pop(first)
        self.auth.tokens.clear()
        refused = away.call("up__echo", {"user": "ann"}).message.tool_error["message"]
        self.assertSays(refused, "OAuth login", "invalid_grant")
        self.assertEqual({fields["subject_token"] for fields in self.asked(self.auth, TOKEN_EXCHANGE)}, {first})
        # a session that begins with it has it, and a request of 2026-07-28 is nobody's guest
        self.assertEqual(self.text(self.call(other, "ann")), "ann")
        fresh = home.legacy(headers=self.headers["ann"])
        self.assertEqual(self.text(At(fresh, other).call("up__echo", {"user": "ann"}).message), "ann")
        self.assertEqual({fields["subject_token"] for fields in self.asked(self.auth, TOKEN_EXCHANGE)}, {first, newest})


class Assertion(ExchangeTest):
    def asserting(self, era="legacy", names=("ann", "bob"), client=None):
        self.begin(era)
        provider = self.another()
        provider.assert_for = self.assertion
        self.header = {"typ": "oauth-id-jag+jwt"}
        known = {"issuer": self.auth.issuer, **client} if client else {}
        auth = {"grant": "id_jag", "identity_provider": {"issuer": provider.issuer, **CLIENT}, **known}
        return provider, self.serve(provider, auth, names)

    def assertion(self, fields, user):
        """Section 4.3."""
        now = int(time.time())
        text = make_token(self.key, {"iss": self.issuer.issuer, "sub": user, "aud": fields["audience"], "resource": fields["resource"],
                                     "client_id": "client-1", "jti": str(time.monotonic()), "exp": now + 300, "iat": now}, self.header)
        if fields["audience"] == self.auth.issuer and fields["resource"] == self.upstream.url:
            self.auth.subjects[text] = user
        return text

    def test_each_by_their_own_assertion(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                provider, server = self.asserting(era)
                for name in ("ann", "bob", "ann"):
                    self.assertEqual(self.text(self.call(server, name)), name)
                self.assertEqual(self.upstream.crossed, [])
                asked = self.asked(provider, TOKEN_EXCHANGE)
                self.assertEqual(sorted(fields["subject_token"] for fields in asked), sorted(self.shown.values()))
                for fields in asked:
                    del fields["subject_token"]
                    self.assertEqual(fields, {
                        "grant_type": TOKEN_EXCHANGE, "requested_token_type": TYPE + "id-jag", "subject_token_type": TYPE + "id_token",
                        "audience": self.auth.issuer, "resource": self.upstream.url, "scope": "mcp:tools",
                    })
                granted = self.asked(self.auth, JWT_BEARER)
                self.assertEqual([fields["assertion"] for fields in granted], list(self.auth.subjects))
                self.assertEqual({(fields["client_id"], fields["resource"], fields["scope"]) for fields in granted},
                                 {("client-1", self.upstream.url, "mcp:tools")})
                [registered] = self.auth.of("/register")
                self.assertEqual((registered["grant_types"], registered["redirect_uris"]), ([JWT_BEARER], []))
                # nobody is shown what is somebody else's
                said = json.dumps(self.auth.asked)
                for token in self.shown.values():
                    self.assertNotIn(token, said)
                self.assertEqual(provider.of("/register") + self.auth.of("/authorize"), [])

    def test_a_client_that_is_known(self):
        _, server = self.asserting(names=("ann",), client={"client_id": "hub", "client_secret": "other"})
        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        self.assertEqual(self.auth.of("/register"), [])
        [fields] = self.asked(self.auth, JWT_BEARER)
        self.assertNotIn("client_id", fields)  # it is in the header, with the secret

    def test_what_is_no_assertion_is_shown_to_nobody(self):
        provider, server = self.asserting(names=("ann",))
        for changes, header in (
            ({"issued_token_type": TYPE + "access_token"}, None),
            ({"issued_token_type": None}, None),
            ({"access_token": None}, None),
            ({"access_token": "opaque"}, None),
            ({"access_token": "e30.e30.e30"}, None),
            ({}, {"typ": "at+jwt"}),
            ({}, {"typ": None}),
        ):
            with self.subTest((changes, header)):
                provider.exchanged, self.header = changes, header or {"typ": "oauth-id-jag+jwt"}
                self.show("ann")
                self.refused(server, "ann", "identity provider", "id-jag")
        self.assertEqual(self.auth.of("/token"), [])

    def test_refusals_say_whose_they_are(self):
        provider, server = self.asserting(names=("ann",))
        provider.on["/token"] = lambda handler, fields: handler.say(403, {"error": "access_denied"})
        self.refused(server, "ann", "the identity provider gives no token", "access_denied")
        del provider.on["/token"]
        self.show("ann")
        self.auth.on["/token"] = lambda handler, fields: handler.say(400, {"error": "invalid_grant"})
        self.refused(server, "ann", "the authorization server gives no token", "invalid_grant")
        del self.auth.on["/token"]
        self.show("ann")
        provider.changes["issuer"] = "https://elsewhere.example"
        self.refused(server, "ann", "elsewhere.example")
        del provider.changes["issuer"]
        self.show("ann")
        self.assertEqual(self.text(self.call(server, "ann")), "ann")


if __name__ == "__main__":
    main()
