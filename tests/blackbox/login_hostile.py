# SPDX-License-Identifier: Apache-2.0
"""Servers and authorization servers that lie: what they say is refused by name, and nothing of a login reaches them.

MCP 2026-07-28 basic/authorization/security-considerations; RFC 9207, 9728 section 3.3, 8414 section 3.3.
"""

import contextlib
import threading
import time
import urllib.parse

from login import LoginTest
from login_server import browse
from mcp import LegacyClient, main

CANARY = "canary-c0ffee-0123456789"


class Metadata(LoginTest):
    def test_a_server_that_names_something_else(self):
        cases = [
            ({"resource": "https://other.example/mcp"}, "another resource"),
            ({"resource": None}, "names no resource"),
            ({"authorization_servers": ["http://login.example"]}, "https"),
            ({"authorization_servers": ["https://a@login.example"]}, "https"),
            ({"authorization_servers": ["ftp://login.example"]}, "https"),
            ({"authorization_servers": []}, "https"),
            ({"authorization_servers": "x"}, "https"),
        ]
        for changes, words in cases:
            with self.subTest(changes):
                auth, upstream = self.servers()
                upstream.changes = changes
                self.fails(self.toolsets(upstream), words)
                self.assertEqual(auth.asked, [])

    def test_an_authorization_server_that_is_another_one(self):
        cases = [
            ({"issuer": "https://login.example"}, "another one"),
            ({"issuer": None}, "names no issuer"),
            ({"code_challenge_methods_supported": None}, "PKCE"),
            ({"code_challenge_methods_supported": ["plain"]}, "PKCE"),
            ({"token_endpoint": "http://169.254.169.254/token"}, "token_endpoint"),
            ({"authorization_endpoint": "javascript:alert(1)"}, "authorization_endpoint"),
            ({"token_endpoint": None}, "names no token_endpoint"),
            ({"registration_endpoint": None}, "registers no clients"),
            ({"registration_endpoint": "http://10.0.0.1/register"}, "registration_endpoint"),
        ]
        for changes, words in cases:
            with self.subTest(changes):
                auth, upstream = self.servers()
                auth.changes = changes
                self.fails(self.toolsets(upstream), words)
                self.assertEqual([at for _, at, _, _ in auth.asked if at in ("/register", "/token")], [])

    def test_the_issuer_is_compared_byte_by_byte(self):
        auth, upstream = self.servers()
        auth.changes = {"issuer": auth.issuer + "/"}
        self.fails(self.toolsets(upstream), "another one")

    def test_documents_that_are_no_documents(self):
        def redirect(handler, fields):
            handler.say(302, Location=auth.origin + "/elsewhere")

        def huge(handler, fields):
            handler.say(200, b'{"issuer":"' + b"x" * (256 * 1024) + b'"}')

        def endless(handler, fields):
            handler.send_response(200)
            handler.end_headers()
            until = time.monotonic() + 60
            while time.monotonic() < until and not ended.wait(0.05):
                handler.wfile.write(b" ")

        def page(handler, fields):
            handler.say(200, b"<html>")

        for answer, words in ((redirect, "publishes no metadata"), (huge, "too large"), (endless, ""), (page, "publishes no metadata")):
            with self.subTest(answer.__name__):
                ended = threading.Event()
                self.addCleanup(ended.set)
                auth, upstream = self.servers()
                auth.on[auth.places()[0]] = answer
                self.fails(self.toolsets(upstream), words)
                self.assertEqual(auth.of("/elsewhere"), [])

    def test_every_documented_place_is_looked_at(self):
        for path, places in (
            ("", ["/.well-known/openid-configuration"]),
            ("/a/b", ["/.well-known/openid-configuration/a/b"]),
            ("/a/b", ["/a/b/.well-known/openid-configuration"]),
        ):
            with self.subTest(places):
                auth, upstream = self.servers(path=path)
                auth.places = lambda places=places: places
                self.log_in(self.toolsets(upstream))

    def test_a_server_of_the_first_revision(self):
        """No metadata at all: its origin is where to log in, if the entry says so (2025-03-26, Metadata Discovery)."""
        auth, upstream = self.servers()
        upstream.has_metadata = upstream.challenges = False
        self.fails(self.toolsets(upstream), "does not say where")


class Answers(LoginTest):
    def come_back(self, link, page=400, **changes):
        """What the browser comes back with, changed."""
        fields = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))
        answer = {"code": "a-code", "state": fields["state"], **changes}
        answer = {name: value for name, value in answer.items() if value is not None}
        return browse(fields["redirect_uri"] + "?" + urllib.parse.urlencode(answer))

    def test_an_answer_of_another_issuer(self):
        for iss in ("https://evil.example", None, ""):
            with self.subTest(iss):
                auth, upstream = self.servers()
                process, link = self.begin_login(self.toolsets(upstream))
                self.come_back(link, iss=iss, error="access_denied", error_description=CANARY)
                _, err = self.end_login(process, 5)
                self.assertSays(err, "not of the authorization server")
                self.assertNotIn(CANARY, err)
                self.assertEqual(auth.of("/token"), [])

    def test_an_answer_without_iss_where_none_is_promised(self):
        auth, upstream = self.servers()
        auth.changes = {"authorization_response_iss_parameter_supported": None}
        auth.answer = {"iss": None}
        self.log_in(self.toolsets(upstream))

    def test_an_answer_that_nobody_waits_for(self):
        auth, upstream = self.servers()
        process, link = self.begin_login(self.toolsets(upstream))
        for state in ("x" * 43, "", None):
            self.assertEqual(self.come_back(link, state=state, iss=auth.issuer)[0], 404)
        self.assertEqual(auth.of("/token"), [])
        self.assertEqual(browse(link)[0], 200)
        self.end_login(process)

    def test_a_user_who_says_no(self):
        auth, upstream = self.servers()
        process, link = self.begin_login(self.toolsets(upstream))
        self.come_back(link, code=None, error="access_denied", iss=auth.issuer)
        _, err = self.end_login(process, 5)
        self.assertSays(err, "the user said no")

    def test_tokens_that_cannot_be(self):
        for changes in ({"token_type": "mac"}, {"access_token": "a b"}, {"access_token": "a\r\nX: y"}, {"access_token": ""}, {"access_token": "x" * 16385}):
            with self.subTest(list(changes)):
                auth, upstream = self.servers()
                auth.on["/token"] = lambda handler, fields, auth=auth, changes=changes: handler.say(200, {**auth.issue("a", fields), **changes})
                process, link = self.begin_login(self.toolsets(upstream))
                browse(link)
                _, err = self.end_login(process, 5)
                self.assertSays(err, "no bearer token")


class Endpoints(LoginTest):
    """What is asked with a credential, or for one: answers without end, too large, that send elsewhere, or are none."""

    def setUp(self):
        super().setUp()
        self.ended = threading.Event()
        self.addCleanup(self.ended.set)
        self.elsewhere, _ = self.servers()

    def endless(self, handler, fields):
        handler.send_response(200)
        handler.end_headers()
        with contextlib.suppress(OSError):
            while not self.ended.wait(0.05):
                handler.wfile.write(b" ")

    def misdeeds(self):
        def huge(handler, fields):
            handler.say(200, b'{"access_token":"' + b"x" * (256 * 1024) + b'"}')

        def redirect(handler, fields):
            handler.say(307, Location=self.elsewhere.origin + "/token")

        def page(handler, fields):
            handler.say(200, b"<html>")

        return (self.endless, ["timed out"]), (huge, ["too large"]), (redirect, ["307"]), (page, [])

    def each(self, path):
        """A server of its own for each misdeed at that path."""
        for misdeed, words in self.misdeeds():
            with self.subTest(misdeed.__name__):
                auth, upstream = self.servers()
                yield auth, self.toolsets(upstream), lambda auth=auth, misdeed=misdeed: auth.on.update({path: misdeed}), words
                self.assertEqual(self.elsewhere.asked, [])
                for asked in upstream.requests:
                    self.assertNotIn("authorization", asked.headers)

    def test_registration(self):
        for _, toolsets, spoil, words in self.each("/register"):
            spoil()
            self.fails(toolsets, *words)

    def test_a_code_that_is_exchanged(self):
        for _, toolsets, spoil, words in self.each("/token"):
            spoil()
            process, link = self.begin_login(toolsets)
            self.assertEqual(browse(link)[0], 200)
            self.assertSays(self.end_login(process, 5)[1], *words)

    def test_a_device(self):
        for _, toolsets, spoil, words in self.each("/device"):
            spoil()
            done = self.cli("login", "up", "--device", toolsets=toolsets, modules=False)
            self.assertEqual(done.returncode, 5, done.stdout)
            self.assertSays(done.stderr, *words)
            self.assertNotIn("http", done.stdout)

    def test_revocation(self):
        for auth, toolsets, spoil, words in self.each("/revoke"):
            self.log_in(toolsets)
            spoil()
            done = self.cli("login", "revoke", "up", toolsets=toolsets, modules=False)
            if words:
                self.assertEqual(done.returncode, 5, done.stdout)
                self.assertSays(done.stderr, *words)
                done = self.cli("login", "logout", "up", toolsets=toolsets, modules=False)
                self.assertSays(done.stdout, "no token was revoked", *words)
            self.assertEqual(done.returncode, 0, done.stderr)  # RFC 7009, 2.2: what a 200 has to say does not count
            self.assertEqual(self.cli("login", "list", "--json", toolsets=toolsets, modules=False).stdout.strip(), "[]")

    def test_a_token_that_is_refreshed(self):
        """The login stays: what comes next may be let in."""
        for misdeed, words in self.misdeeds():
            with self.subTest(misdeed.__name__):
                auth, upstream = self.servers()
                toolsets = self.toolsets(upstream)
                self.log_in(toolsets)
                client = LegacyClient(self.hub(toolsets=toolsets))
                client.call("up__echo").result
                auth.tokens.clear()
                auth.on["/token"] = misdeed
                refused = client.call("up__echo").tool_error["message"]
                self.assertSays(refused, "no token", *words)
                del auth.on["/token"]
                client.call("up__echo").result
                self.assertEqual((self.elsewhere.asked, len(auth.of("/authorize"))), ([], 1))


class Kept(LoginTest):
    def test_a_login_is_of_one_server(self):
        """Another server under the same name gets nothing of it."""
        auth, upstream = self.servers()
        self.log_in(self.toolsets(upstream))
        _, other = self.servers()
        client = LegacyClient(self.hub(toolsets=self.toolsets(other)))
        client.call("up__echo").tool_error
        for x in other.requests:
            self.assertNotIn("authorization", x.headers)
        self.assertEqual(len(auth.of("/token")), 1)

    def test_a_secret_is_for_its_issuer_alone(self):
        auth, upstream = self.servers()
        entry = {"client_id": "robot", "client_secret": CANARY, "issuer": "http://127.0.0.1:1"}
        err = self.fails(self.toolsets(upstream, auth=entry), "does not name the authorization server")
        self.assertNotIn(CANARY, err)
        self.assertEqual(auth.asked, [])

    def test_tokens_are_nowhere_to_be_seen(self):
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = LegacyClient(self.hub("--log-level", "debug", toolsets=toolsets))
        client.call("up__echo").result
        [token] = auth.tokens
        # A server that says in its error what it was sent
        upstream.on["tools/call"] = lambda x: x.status(500, f'{{"error":"no: {token}"}}')
        client.call("up__echo").raw
        shown = self.cli("login", "list", toolsets=toolsets, modules=False)
        for text in (client.hub.log, shown.stdout + shown.stderr):
            self.assertNotIn(token, text)
            for refresh in auth.refresh_tokens:
                self.assertNotIn(refresh, text)

    def test_without_a_store(self):
        _, upstream = self.servers()
        done = self.cli("login", "up", manifest={"state": "off", "toolsets": self.toolsets(upstream)}, modules=False)
        self.assertEqual(done.returncode, 5, done.stderr)
        self.assertSays(done.stderr, "state: off")


if __name__ == "__main__":
    main()
