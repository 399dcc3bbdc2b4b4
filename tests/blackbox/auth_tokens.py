# SPDX-License-Identifier: Apache-2.0
"""Bearer tokens: the command that makes them, the file that keeps them, and who is let in (A01, A03, A11, A12, A18, C04)."""

import hashlib
import json
import os
import re
import stat
import subprocess
import time

from http_client import Server
from mcp import HubTest, fixture, hub_binary, hub_environment, main

OK, USAGE, CONFIG = 0, 2, 3
TOKEN = re.compile(r"pbt_([0-9a-f]{12})_[A-Za-z0-9_-]{43}\n\Z")
TOOLSETS = {"alpha": fixture("one")}


class Base(HubTest):
    def setUp(self):
        super().setUp()
        self.file = self.home / "tokens.json"

    def token(self, *arguments, **options):
        return self.cli("token", *arguments, modules=False, **options)

    def new(self, name, *arguments):
        done = self.token("new", name, "--tokens", self.file, *arguments)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertRegex(done.stdout, TOKEN)
        return done.stdout.strip()

    def entries(self, path=None):
        return json.loads((path or self.file).read_text())

    def server(self, *arguments):
        return Server(self, self.daemon("--http", "0", "--tokens", self.file, *arguments, toolsets=TOOLSETS))

    def status(self, server, token):
        return server.modern("tools/list", headers={"Authorization": f"Bearer {token}"}).status


class Command(Base):
    def test_new(self):  # A12
        token = self.new("laptop")
        entry = self.entries()[0]
        self.assertEqual(set(entry), {"name", "id", "sha256", "created"})
        self.assertEqual(entry["name"], "laptop")
        self.assertEqual(entry["id"], token.split("_")[1])
        self.assertEqual(entry["sha256"], hashlib.sha256(token.encode()).hexdigest())
        self.assertLessEqual(abs(entry["created"] - time.time()), 60)
        self.assertNotIn(token[-43:], self.file.read_text())
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertEqual(os.listdir(self.home), ["tokens.json"])  # nothing of the making is left

    def test_what_it_says(self):
        done = self.token("new", "laptop", "--tokens", self.file)
        self.assertSays(done.stderr, "once", str(self.file), "Authorization: Bearer")
        self.assertNotIn(done.stdout.strip()[-43:], done.stderr)

    def test_expiry(self):
        for text, seconds in (("90d", 90 * 86400), ("12h", 12 * 3600), ("1m", 60)):
            self.new("a", "--expires", text)
            entry = self.entries()[-1]
            self.assertEqual(entry["expires"] - entry["created"], seconds)
        for text in ("", "0d", "90", "d", "-1d", "1y", "1.5d", "90 d", "36501d", "99999999999999999999d"):
            done = self.token("new", "a", "--tokens", self.file, "--expires", text)
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""), text)
            self.assertSays(done.stderr, "--expires", "90d")
        self.new("a", "--expires", "36500d")
        self.assertEqual(len(self.entries()), 4)

    def test_which_file(self):
        """--tokens, else the manifest's, else the user's own."""
        self.assertEqual(self.token("new", "a", env={"XDG_CONFIG_HOME": str(self.home / "x")}).returncode, OK)
        path = self.home / "x" / "patchbay" / "tokens.json"
        self.assertEqual(len(self.entries(path)), 1)
        self.assertEqual(stat.S_IMODE(path.parent.stat().st_mode), 0o700)
        self.assertEqual(self.token("new", "a").returncode, OK)
        self.assertEqual(len(self.entries(self.home / ".config" / "patchbay" / "tokens.json")), 1)
        manifest = {"auth": {"tokens": "of/manifest.json"}}
        self.assertEqual(self.token("new", "a", manifest=manifest).returncode, OK)
        self.assertEqual(len(self.entries(self.home / "of" / "manifest.json")), 1)
        self.assertEqual(self.token("new", "a", "--tokens", self.file, manifest=manifest).returncode, OK)
        self.assertEqual(len(self.entries()), 1)
        done = self.token("new", "a", manifest={"toolsets": {}})
        self.assertEqual((done.returncode, done.stdout), (CONFIG, ""))
        self.assertSays(done.stderr, "auth: {tokens: FILE}", "--tokens")
        done = self.token("new", "a", env={"HOME": None})
        self.assertEqual(done.returncode, USAGE)
        self.assertSays(done.stderr, "HOME", "--tokens")

    def test_list(self):
        secrets = [self.new("laptop"), self.new("ci", "--expires", "90d"), self.new("laptop")]
        done = self.token("list", "--tokens", self.file)
        self.assertEqual(done.returncode, OK)
        rows = done.stdout.splitlines()
        self.assertEqual(len(rows), 4)
        self.assertRegex(rows[1], r"^[0-9a-f]{12} \d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ never +laptop$")
        self.assertRegex(rows[2], r"^[0-9a-f]{12} \S+Z \d{4}-\S+Z ci$")
        done = self.token("list", "--json", "--tokens", self.file)
        found = json.loads(done.stdout)
        self.assertEqual([e["name"] for e in found], ["laptop", "ci", "laptop"])
        self.assertEqual([set(e) for e in found], [{"name", "id", "created"}, {"name", "id", "created", "expires"},
                                                   {"name", "id", "created"}])
        for secret in secrets:
            self.assertNotIn(secret[-43:], done.stdout + done.stderr)

    def test_list_marks_what_is_over(self):
        self.new("old", "--expires", "1m")
        entries = self.entries()
        entries[0]["expires"] = entries[0]["created"] - 1
        self.file.write_text(json.dumps(entries))
        self.assertSays(self.token("list", "--tokens", self.file).stdout, "old (expired)")

    def test_revoke(self):
        tokens = [self.new(name) for name in ("a", "b", "a", "c")]
        done = self.token("revoke", "a", "--tokens", self.file)
        self.assertEqual((done.returncode, done.stdout), (OK, ""))
        self.assertSays(done.stderr, "2 tokens revoked", str(self.file), "refuses them at once")
        self.assertEqual([e["name"] for e in self.entries()], ["b", "c"])
        done = self.token("revoke", tokens[3].split("_")[1], "--tokens", self.file)
        self.assertSays(done.stderr, "1 token revoked", "refuses it at once")
        self.assertEqual([e["name"] for e in self.entries()], ["b"])
        done = self.token("revoke", "a", "--tokens", self.file)
        self.assertEqual(done.returncode, CONFIG)
        self.assertSays(done.stderr, 'no token "a"')

    def test_misuse(self):
        cases = {
            (): ("new NAME", "revoke"),
            ("make", "a"): ("new, list or revoke",),
            ("new",): ("a name",),
            ("list", "a"): ("no name",),
            ("revoke",): ("name or id",),
            ("new", "a b"): ("letter or digit",),
            ("new", ""): ("1 to 64",),
            ("new", "x" * 65): ("1 to 64",),
            ("new", "anonymous"): ("anonymous",),
            ("new", "uid:0"): ("letter or digit",),
            ("new", "a", "b"): ("one argument too many",),
        }
        for arguments, says in cases.items():
            with self.subTest(arguments):
                done = self.token(*arguments, "--tokens", self.file)
                self.assertEqual((done.returncode, done.stdout), (USAGE, ""))
                self.assertSays(done.stderr, *says)
        self.assertFalse(self.file.exists())

    def test_nobody_reads_the_token(self):
        """A closed stdout: the token would be lost, and somebody has to know."""
        with open("/dev/full", "w", encoding="ascii") as full:
            done = subprocess.run([hub_binary(), "token", "new", "a", "--tokens", str(self.file)], stdout=full,
                                  stderr=subprocess.PIPE, text=True, env=hub_environment(self.home, {}), check=False)
        self.assertEqual(done.returncode, 1)
        self.assertSays(done.stderr, "could not be written", "token revoke a")


class File(Base):
    def refused_with(self, *says):
        for command in (["check"], ["serve", "--http", "0"]):
            done = self.cli(*command, "--tokens", self.file, toolsets=TOOLSETS)
            self.assertEqual(done.returncode, CONFIG, done.stderr)
            self.assertSays(done.stderr, str(self.file), *says)
            self.assertNotIn("listen.ready", done.stderr)

    def test_open_to_others(self):  # C04
        self.new("a")
        for mode in (0o640, 0o604, 0o620, 0o666):
            self.file.chmod(mode)
            self.refused_with("chmod 600", f"{mode:04o}")
            done = self.token("new", "b", "--tokens", self.file)
            self.assertEqual((done.returncode, done.stdout), (CONFIG, ""))
        self.file.chmod(0o600)
        self.assertEqual([e["name"] for e in self.entries()], ["a"])

    def test_missing(self):
        self.refused_with("no such file", f"patchbay token new NAME --tokens {self.file}")

    def test_broken(self):
        cases = {
            "": "not a tokens file",
            "[": "not a tokens file",
            "{}": "wanted a list",
            '[{"name":"a"}]': "lacks",
            '[{"name":"a","id":"i","sha256":"00"}]': "sha256",
        }
        for text, says in cases.items():
            self.file.write_text(text)
            self.file.chmod(0o600)
            self.refused_with(says)

    def test_the_same_id_twice(self):
        self.new("a")
        self.file.write_text(json.dumps(self.entries() * 2))
        self.refused_with("token 2", "id")

    def test_on_stdio_nobody_authenticates(self):
        """The file must be good all the same, but a client that the hub was started by is who it is."""
        self.new("a")
        client = self.legacy("--tokens", self.file, toolsets=TOOLSETS)
        self.assertIn("alpha__one", client.names())


# What `token new` wrote before tokens had rights: the file of version 0.1, byte for byte.
OLD_TOKEN = "pbt_0f1e2d3c4b5a_" + 42 * "x" + "A"
OLD_FILE = """[
  {"name": "laptop", "id": "0f1e2d3c4b5a", "sha256": "%s", "created": 1767225600},
  {"name": "over", "id": "a5b4c3d2e1f0", "sha256": "%064d", "created": 1767225600, "expires": 1767225601}
]
""" % (hashlib.sha256(OLD_TOKEN.encode()).hexdigest(), 0)


class OldFile(Base):
    def setUp(self):
        super().setUp()
        self.file.write_text(OLD_FILE)
        self.file.chmod(0o600)

    def test_it_reads_on(self):
        server = self.server()
        self.assertEqual(self.status(server, OLD_TOKEN), 200)
        self.assertEqual(self.status(server, OLD_TOKEN[:-1] + "B"), 401)

    def test_its_tokens_have_no_rights(self):
        """Who has no scopes lacks those that a rule asks for; without rules all is open, as it was."""
        rules = [{"who": {"scopes": ["tools:read"]}, "then": "allow"}, {"who": {"groups": ["ops"]}, "then": "allow"}]
        manifest = {"toolsets": TOOLSETS, "access": {"default": "deny", "rules": rules}}
        server = Server(self, self.daemon("--http", "0", "--tokens", self.file, manifest=manifest))
        listed = server.modern("tools/list", headers={"Authorization": f"Bearer {OLD_TOKEN}"}).answer.result["tools"]
        self.assertNotIn("alpha__one", [tool["name"] for tool in listed])

    def test_it_is_written_on(self):
        """A new token with rights goes behind the old ones, which stay as they are."""
        old = json.loads(OLD_FILE)
        new = self.new("ann", "--groups", "ops", "--scopes", "tools:read")
        self.assertEqual(self.entries()[:2], old)
        self.assertEqual((self.entries()[2]["groups"], self.entries()[2]["scopes"]), (["ops"], ["tools:read"]))
        server = self.server()
        self.assertEqual([self.status(server, token) for token in (OLD_TOKEN, new)], [200, 200])
        self.assertSays(self.token("list", "--tokens", self.file).stdout, "laptop", "over (expired)", "ann")
        self.assertSays(self.token("revoke", "laptop", "--tokens", self.file).stderr, "1 token revoked")


class Guard(Base):
    def test_with_and_without(self):  # A01
        token = self.new("laptop")
        server = self.server()
        self.assertEqual(self.status(server, token), 200)
        reply = server.modern("tools/list")
        self.assertEqual((reply.status, reply.header("www-authenticate")), (401, "Bearer"))
        for wrong in ("x", token[:-1], token + "x", token.replace("pbt_", "pbt-"), "pbt_000000000000_" + token[-43:]):
            reply = server.modern("tools/list", headers={"Authorization": f"Bearer {wrong}"})
            self.assertEqual((reply.status, reply.header("www-authenticate")), (401, 'Bearer error="invalid_token"'))
        for malformed in ("", "Bearer", f"Basic {token}", token, f"Bearer {token} {token}", f'Bearer "{token}"'):
            reply = server.modern("tools/list", headers={"Authorization": malformed})
            self.assertEqual((reply.status, reply.header("www-authenticate")), (400, 'Bearer error="invalid_request"'), malformed)
        self.assertEqual(self.status(server, token), 200)

    def test_every_route(self):  # A18
        self.new("laptop")
        server = self.server()
        upgrade = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
                   ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ==")]
        self.assertEqual(server.initialize().status, 401)
        self.assertEqual(server.get("/mcp", [("Accept", "text/event-stream")]).status, 401)
        self.assertEqual(server.ask("DELETE", "/mcp", [("Mcp-Session-Id", "x")]).status, 401)
        self.assertEqual(server.get("/sse", [("Accept", "text/event-stream")]).status, 401)
        self.assertEqual(server.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, path="/messages?sessionId=x").status, 401)
        self.assertEqual(server.get("/ws", upgrade).status, 401)

    def test_a_token_in_the_query(self):  # A11
        token = self.new("laptop")
        server = self.server("--log-level", "debug")
        for name in ("access_token", "token", "authorization"):
            self.assertEqual(server.modern("tools/list", path=f"/mcp?{name}={token}").status, 401)
        server.hub.finish()
        self.assertNotIn(token[-43:], server.hub.log)

    def test_no_token_in_the_log(self):  # A19
        token = self.new("laptop")
        server = self.server("--log-level", "debug")
        self.assertEqual(self.status(server, token), 200)
        self.assertEqual(self.status(server, token[:-1]), 401)
        server.hub.finish()
        self.assertNotIn(token[20:-1], server.hub.log)
        self.assertNotIn(self.entries()[0]["sha256"], server.hub.log)

    def test_two_of_one_name(self):
        """Changed without a gap: the old one is good until it is revoked."""
        old, new = self.new("laptop"), self.new("laptop")
        server = self.server()
        self.assertEqual([self.status(server, t) for t in (old, new)], [200, 200])
        server.hub.finish()
        self.assertEqual(self.token("revoke", old.split("_")[1], "--tokens", self.file).returncode, OK)
        server = self.server()
        self.assertEqual([self.status(server, t) for t in (old, new)], [401, 200])

    def test_a_hub_that_runs_takes_changes_over(self):
        """What the command says of them is so."""
        first = self.new("laptop")
        server = self.server()
        self.assertEqual(self.status(server, first), 200)
        done = self.token("new", "laptop", "--tokens", self.file)
        self.assertSays(done.stderr, "takes it at once")
        server.hub.wait_log("config.reloaded")
        self.assertEqual(self.status(server, done.stdout.strip()), 200)
        done = self.token("revoke", "laptop", "--tokens", self.file)
        self.assertSays(done.stderr, "2 tokens revoked")
        server.hub.wait_until(lambda: server.hub.log.count("config.reloaded") == 2, "the second reload")
        self.assertEqual(self.status(server, first), 401)

    def test_expired(self):  # A03
        token = self.new("laptop", "--expires", "1m")
        entries = self.entries()
        entries[0]["expires"] = int(time.time()) - 1
        self.file.write_text(json.dumps(entries))
        self.assertEqual(self.status(self.server(), token), 401)

    def test_a_file_without_tokens_lets_nobody_in(self):
        token = self.new("laptop")
        self.assertEqual(self.token("revoke", "laptop", "--tokens", self.file).returncode, OK)
        self.assertEqual(self.status(self.server(), token), 401)

    def test_strangers_with_tokens(self):  # C05
        self.new("laptop")
        hub = self.daemon("--http", "0.0.0.0:0", "--tokens", self.file, toolsets=TOOLSETS)
        self.assertSays(hub.wait_log("listen.plain"), "unencrypted")


if __name__ == "__main__":
    main()
