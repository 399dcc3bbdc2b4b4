# SPDX-License-Identifier: Apache-2.0
"""Servers that want a login: found, logged in to, refreshed, and logged out of.

MCP 2026-07-28 basic/authorization; 2025-03-26 basic/authorization.
"""

import json
import re
import subprocess
import sys
import urllib.parse

from mcp import SUPPORT, TIMEOUT, HubTest, LegacyClient, ModernClient, hub_command, hub_environment, main

sys.path.insert(0, str(SUPPORT))

from login_server import AuthServer, LoginUpstream, browse  # noqa: E402

URLS = {"elicitation": {"url": {}, "form": {}}}


class LoginTest(HubTest):
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
        argv = hub_command(manifest={"toolsets": toolsets}, home=self.home, modules=False)
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
        auth.tokens.clear()
        ids = [client.start_call("up__echo") for _ in range(20)] if hasattr(client, "start_call") else []
        for request in ids:
            client.wait(request).result


if __name__ == "__main__":
    main()
