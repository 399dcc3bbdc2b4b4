# SPDX-License-Identifier: Apache-2.0
"""Servers that want a login: found, logged in to, refreshed, and logged out of.

MCP 2026-07-28 basic/authorization; 2025-03-26 basic/authorization.
"""

import json
import secrets
import subprocess
import sys
import unittest
import urllib.parse

from mcp import SUPPORT, TIMEOUT, HubTest, LegacyClient, hub_command, hub_environment, main, patient
from valkey import PROGRAM, Valkey

sys.path.insert(0, str(SUPPORT))

from login_server import AuthServer, LoginUpstream, browse  # noqa: E402

URLS = {"elicitation": {"url": {}, "form": {}}}


class LoginTest(HubTest):
    def more(self):
        """What manifests have beside their toolsets."""
        return {}

    def servers(self, era="legacy", **options):
        auth = AuthServer(**options)
        self.addCleanup(auth.close)
        upstream = LoginUpstream(auth, era)
        self.addCleanup(upstream.close)
        return auth, upstream

    def toolsets(self, upstream, **keys):
        return {"up": {"url": upstream.url, **keys}}

    def begin_login(self, toolsets, *words, **options):
        """`patchbay login` up to its link: the process, and the link."""
        argv = hub_command(manifest={"toolsets": toolsets, **self.more()}, home=self.home, modules=False)
        process = subprocess.Popen(
            [argv[0], "login", "up", *words, *argv[1:]],
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, cwd=self.home, env=hub_environment(self.home, options.get("env", {})),
        )
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        for line in process.stdout:
            if line.startswith("http"):
                return process, line.strip()
        raise AssertionError(process.stderr.read())

    def end_login(self, process, status=0):
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, status, out + err)
        return out, err

    def log_in(self, toolsets, **options):
        process, link = self.begin_login(toolsets, **options)
        self.assertEqual(browse(link)[0], 200)
        out, _ = self.end_login(process)
        self.assertIn("logged in to up", out)
        return link

    def fails(self, toolsets, *words):
        """A login that does not come to a link, and says why."""
        done = self.cli("login", "up", toolsets=toolsets, modules=False)
        self.assertEqual(done.returncode, 5, done.stdout + done.stderr)
        for word in words:
            self.assertIn(word, done.stderr)
        self.assertNotIn("http", done.stdout)
        return done.stderr

    def text(self, message):
        return message.result["content"][0]["text"]


class CommandLine(LoginTest):
    def test_a_login_and_a_call(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                auth, upstream = self.servers(era)
                toolsets = self.toolsets(upstream)
                link = self.log_in(toolsets)
                fields = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))
                self.assertEqual(fields["resource"], upstream.url)
                self.assertEqual(fields["scope"], "mcp:tools")
                client = LegacyClient(self.hub(toolsets=toolsets))
                self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')
                self.assertEqual(set(upstream.used), set(auth.tokens))
                listed = json.loads(self.cli("login", "list", "--json", toolsets=toolsets, modules=False).stdout)
                self.assertEqual([(entry["toolset"], entry["issuer"]) for entry in listed], [("up", auth.issuer)])
                done = self.cli("login", "logout", "up", toolsets=toolsets, modules=False)
                self.assertEqual((done.returncode, done.stdout), (0, "logged out of up\n"), done.stderr)
                self.assertEqual(len(auth.revoked), 1)
                self.assertEqual(self.cli("login", "list", "--json", toolsets=toolsets, modules=False).stdout.strip(), "[]")

    def test_a_hub_that_runs_uses_it_at_once(self):
        _, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        client = LegacyClient(self.hub(toolsets=toolsets))
        refused = client.call("up__echo")
        self.assertIsNotNone(refused.raw)
        self.log_in(toolsets)
        upstream.wait("tools/list")
        self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')

    def test_a_token_that_has_expired_is_refreshed(self):
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = LegacyClient(self.hub(toolsets=toolsets))
        for _ in range(3):
            client.call("up__echo").result
            auth.tokens.clear()
            client.call("up__echo").result
        refreshed = [fields for fields in auth.of("/token") if fields["grant_type"] == "refresh_token"]
        self.assertEqual(len(refreshed), 3)
        self.assertEqual(len({fields["refresh_token"] for fields in refreshed}), 3)

    def test_many_calls_with_an_expired_token_are_one_refresh(self):
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = LegacyClient(self.hub(toolsets=toolsets))
        client.call("up__echo").result
        auth.tokens.clear()
        since = client.hub.mark
        requests = [client.send_call("up__echo", {"a": n}) for n in range(20)]
        for n, request in enumerate(requests):
            self.assertEqual(self.text(client.hub.response(request, since)), f'{{"a": {n}}}')
        self.assertEqual(len(auth.of("/token")), 2)

    def test_two_hubs_refresh_one_token_once(self):
        """A refresh token works once: whoever used it second would lose the login for both."""
        auth, upstream = self.servers()
        upstream.sessions = False  # it has but one at a time, and both hubs would begin one
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        clients = [LegacyClient(self.hub(toolsets=toolsets, manifest=self.more())) for _ in range(2)]
        for client in clients:
            client.call("up__echo").result
        for _ in range(3):
            auth.tokens.clear()
            sent = [(client, client.hub.mark, client.send_call("up__echo", {"a": 1})) for client in clients]
            for client, since, request in sent:
                self.assertEqual(self.text(client.hub.response(request, since)), '{"a": 1}')
        self.assertEqual(len([fields for fields in auth.of("/token") if fields["grant_type"] == "refresh_token"]), 3)
        self.assertEqual(len(auth.of("/authorize")), 1)

    def test_a_refresh_token_that_was_revoked(self):
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = LegacyClient(self.hub(toolsets=toolsets))
        client.call("up__echo").result
        auth.tokens.clear()
        auth.refresh_tokens.clear()
        self.assertSays(client.call("up__echo").tool_error["message"], "wants a login", "patchbay login up")
        self.log_in(toolsets)
        client.hub.wait_until(lambda: client.hub.log.count("login.token") >= 2, "the next token")
        self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')

    def test_an_authorization_server_that_is_down_is_no_lost_login(self):
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = LegacyClient(self.hub(toolsets=toolsets))
        client.call("up__echo").result
        auth.tokens.clear()
        auth.on["/token"] = lambda handler, fields: handler.say(503)
        self.assertSays(client.call("up__echo").tool_error["message"], "gives no token")
        del auth.on["/token"]
        self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')
        self.assertEqual(len(auth.of("/authorize")), 1)

    def test_a_login_that_was_given_up_begins_anew(self):
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        process, link = self.begin_login(toolsets)
        process.kill()  # between the link and the code
        process.wait()
        self.log_in(toolsets)
        self.assertEqual(len(auth.of("/token")), 1)
        self.assertNotEqual(link, None)

    def test_the_hub_as_itself(self):
        auth, upstream = self.servers()
        entry = {"grant": "client_credentials", "issuer": auth.issuer, "client_id": "robot", "client_secret": "s3cret"}
        client = LegacyClient(self.hub(toolsets=self.toolsets(upstream, auth=entry)))
        self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')
        auth.tokens.clear()
        self.assertEqual(self.text(client.call("up__echo", {"a": 2})), '{"a": 2}')
        self.assertEqual(auth.of("/authorize"), [])

    def test_the_end_of_a_login(self):
        """`revoke` forgets what was revoked, `logout` forgets in any case; also what the manifest no longer has."""
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)

        def end(word, status, *words, toolsets=toolsets):
            done = self.cli("login", word, "up", "--json", *words, toolsets=toolsets, modules=False)
            self.assertEqual(done.returncode, status, done.stdout + done.stderr)
            return json.loads(done.stdout) if status == 0 else done.stderr

        def count():
            return len(json.loads(self.cli("login", "list", "--json", toolsets=toolsets, modules=False).stdout))

        self.log_in(toolsets)
        auth.on["/revoke"] = lambda handler, fields: handler.say(503)
        self.assertSays(end("revoke", 5), "503", "login logout")
        self.assertEqual(count(), 1)
        del auth.on["/revoke"]
        self.assertEqual(end("revoke", 0), {"toolset": "up", "principal": "", "revoked": True})
        self.assertEqual((count(), len(auth.revoked), auth.of("/revoke")[-1]["token_type_hint"]), (0, 1, "refresh_token"))
        self.log_in(toolsets)
        auth.on["/revoke"] = lambda handler, fields: handler.say(503)
        ended = end("logout", 0)
        self.assertEqual((ended["revoked"], "503" in ended["reason"], count()), (False, True, 0))
        del auth.on["/revoke"]
        self.log_in(toolsets)
        self.assertEqual(end("logout", 0, "--principal", "token:ann"), {"toolset": "up", "principal": "token:ann", "revoked": False, "reason": "there is no login"})
        self.assertEqual(count(), 1, "it is another's")
        self.assertEqual(end("logout", 0, "--principal", "")["principal"], "")
        self.assertEqual(count(), 0, "the hub's own, as the list shows it")
        self.log_in(toolsets)
        other = {"up": {"url": "http://127.0.0.1:1/mcp"}}
        (self.home / "patchbay.json").write_text(json.dumps(patient({"toolsets": other}), indent=1))
        self.assertEqual(end("revoke", 0, toolsets=other)["revoked"], True)
        self.assertEqual(len(auth.revoked), 3)

    def test_a_server_that_revokes_nothing(self):
        auth, upstream = self.servers()
        auth.changes = {"revocation_endpoint": None}
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        done = self.cli("login", "revoke", "up", toolsets=toolsets, modules=False)
        self.assertEqual((done.returncode, "it revokes no tokens" in done.stderr), (5, True), done.stderr)
        done = self.cli("login", "logout", "up", toolsets=toolsets, modules=False)
        self.assertEqual((done.returncode, "no token was revoked" in done.stdout), (0, True), done.stdout)

    def test_a_toolset_that_is_not_there(self):
        _, upstream = self.servers()
        done = self.cli("login", "uq", toolsets=self.toolsets(upstream), modules=False)
        self.assertEqual((done.returncode, 'there is no toolset "uq"; did you mean "up"?' in done.stderr), (3, True), done.stderr)

    def test_what_the_command_says_to_programs(self):
        _, upstream = self.servers()
        argv = hub_command(manifest={"toolsets": self.toolsets(upstream)}, home=self.home, modules=False)
        process = subprocess.Popen([argv[0], "login", "up", "--json", *argv[1:]], stdout=subprocess.PIPE, text=True, cwd=self.home,
                                   env=hub_environment(self.home, {}))
        self.addCleanup(process.communicate)
        self.addCleanup(process.kill)
        asked = json.loads(process.stdout.readline())
        self.assertEqual((asked["toolset"], asked["state"]), ("up", "wanted"))
        browse(asked["url"])
        self.assertEqual(json.loads(process.stdout.read()), {"toolset": "up", "principal": "", "state": "logged_in"})
        self.assertEqual(process.wait(), 0)

    def test_entries_that_are_wrong(self):
        _, upstream = self.servers()
        for entry, words in (
            ("basic", "oauth"),
            ({"client_secret": "x"}, "issuer"),
            ({"grant": "password"}, "device_code"),
            ({"grant": "client_credentials"}, "client_secret"),
            ({"issuer": "i", "client_id": "c", "client_secret": "s", "private_key": "k"}, "both"),
            ({"secret": "x"}, "unknown key"),
        ):
            done = self.cli("check", toolsets=self.toolsets(upstream, auth=entry), modules=True)
            self.assertEqual(done.returncode, 3, entry)
            self.assertSays(done.stderr + done.stdout, words)


@unittest.skipUnless(PROGRAM, "neither valkey-server nor redis-server is installed")
class SharedStore(LoginTest):
    """Two hubs with one store on the network: leases are its, not a file's."""

    def setUp(self):
        super().setUp()
        self.valkey = Valkey(self)
        self.key = self.home / "state.key"
        self.key.write_text(secrets.token_hex(32), encoding="ascii")
        self.key.chmod(0o600)

    def more(self):
        return {"hub": {"name": "home"}, "state": {"url": self.valkey.url, "key": str(self.key)}}

    test_two_hubs_refresh_one_token_once = CommandLine.test_two_hubs_refresh_one_token_once


if __name__ == "__main__":
    main()
