#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Secrets that no manifest holds: `patchbay secret`, ${secret:NAME}, ${credential:NAME}; and what servers get of the environment."""

import json
import os
import pty
import secrets
import sqlite3

from mcp import HubTest, LegacyClient, hub_binary, hub_environment, main

CANARY = "canary-of-the-store"


class Kept(HubTest):
    def secret(self, *words, **options):
        return self.cli("secret", *words, modules=False, **options)

    def keep(self, name="db", value=CANARY, **options):
        done = self.secret("set", name, stdin=value + "\n", **options)
        self.assertEqual((done.returncode, done.stdout), (0, ""), done.stderr)

    def toolset(self, text="${secret:db}"):
        recorder = self.recorder()
        entry = recorder.toolset()
        entry["env"] = {**entry["env"], "GIVEN": text}
        return entry

    def environment(self, entry, **options):
        client = LegacyClient(self.hub(toolsets={"up": entry}, **options))
        env = json.loads(client.call("up__env").result["content"][0]["text"])
        self.assertNotIn(CANARY, client.hub.log)
        return env


class Command(Kept):
    def test_a_secret_is_kept_and_never_shown(self):
        self.keep()
        self.keep("other", "a value")
        self.assertEqual(self.secret("list").stdout, "db\nother\n")
        self.assertEqual(json.loads(self.secret("list", "--json").stdout), ["db", "other"])
        self.assertEqual(self.secret("rm", "db").returncode, 0)
        self.assertEqual(self.secret("rm", "db").returncode, 3)
        self.assertEqual(self.secret("list").stdout, "other\n")

    def test_it_is_encrypted(self):
        key = {"PATCHBAY_STATE_KEY": secrets.token_hex(32)}
        self.keep(env=key)
        for path in (self.home / ".local/state/patchbay").iterdir():
            self.assertNotIn(CANARY.encode(), path.read_bytes(), path)
        done = self.cli("check", toolsets={"up": self.toolset()}, files=(), modules=True)
        self.assertEqual(done.returncode, 3)

    def test_the_edges_of_values_and_names(self):
        for value, code in (("x" * 8192, 0), ("x" * 8193, 2), ("", 2), ("\n", 2), ("a\0b", 2), ("\n" * 8192 + "\n", 0)):
            self.assertEqual(self.secret("set", "a", stdin=value).returncode, code, (len(value), value[:3]))
        for name, code in (("a" * 64, 0), ("a" * 65, 2), ("../a", 2), (".a", 2), ("a b", 2), ("", 2), ("A_9.-", 0)):
            self.assertEqual(self.secret("set", name, stdin="value").returncode, code, name)
        for words in ([], ["get", "a"], ["set"], ["list", "a"], ["rm"]):
            self.assertEqual(self.secret(*words).returncode, 2, words)

    def test_without_a_store(self):
        done = self.secret("set", "db", stdin="value", manifest={"state": "off"})
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "state: off")

    def test_a_terminal_does_not_show_it(self):
        pid, fd = pty.fork()
        if pid == 0:
            os.execve(hub_binary(), [hub_binary(), "secret", "set", "db"], hub_environment(self.home, {}))
        shown = b""
        while b"not shown" not in shown:
            shown += os.read(fd, 4096)
        os.write(fd, CANARY.encode() + b"\n")
        try:
            while chunk := os.read(fd, 4096):
                shown += chunk
        except OSError:
            pass  # the terminal ends with the process
        self.assertEqual(os.waitpid(pid, 0)[1], 0, shown)
        self.assertNotIn(CANARY.encode(), shown)
        self.assertEqual(self.secret("list").stdout, "db\n")


class Manifest(Kept):
    def test_a_server_gets_it_and_nobody_else(self):
        entry = self.toolset("a ${secret:db} b")
        manifest = {"toolsets": {"up": entry}}
        self.keep(manifest=manifest)  # before the manifest could be read without it
        self.assertEqual(self.environment(entry)["GIVEN"], f"a {CANARY} b")

    def test_a_hub_that_runs_takes_a_new_value(self):
        entry = self.toolset()
        manifest = {"toolsets": {"up": entry}}
        self.keep(manifest=manifest)
        client = LegacyClient(self.hub(manifest=manifest))
        self.assertIn(CANARY, client.call("up__env").result["content"][0]["text"])
        self.keep(value="another-value", manifest=manifest)
        client.hub.wait_log("config.reloaded")
        self.assertEqual(json.loads(client.call("up__env").result["content"][0]["text"])["GIVEN"], "another-value")
        self.assertEqual(self.secret("rm", "db", manifest=manifest).returncode, 0)
        client.hub.wait_log("config.refused")
        self.assertEqual(json.loads(client.call("up__env").result["content"][0]["text"])["GIVEN"], "another-value")
        self.assertNotIn("another-value", client.hub.log)

    def test_a_store_that_a_later_file_names(self):
        # All files decide where the store is, before any of them is read.
        first = self.home / "first.json"
        second = self.home / "second.json"
        first.write_text(json.dumps({"toolsets": {"up": self.toolset()}}), encoding="utf-8")
        second.write_text(json.dumps({"hub": {"name": "told"}, "state": "./own.db"}), encoding="utf-8")
        self.keep(files=(second,))
        self.assertTrue((self.home / "own.db").exists())
        done = self.cli("check", files=(first, second))
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_what_is_not_there_is_named(self):
        done = self.cli("check", toolsets={"up": self.toolset()})
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, 'no secret "db"', "patchbay secret set db")
        done = self.cli("check", manifest={"state": {"key": "${secret:db}"}, "toolsets": {"up": self.toolset()}})
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "cannot be read here")

    def test_a_manifest_is_edited_before_its_secrets_are_there(self):
        path = self.home / "hub.yaml"
        path.write_text("toolsets:\n  up: {command: sh, env: {A: \"${secret:db}\"}}\n", encoding="utf-8")
        done = self.cli("disable", "up", files=(path,), modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("${secret:db}", path.read_text(encoding="utf-8"))

    def test_a_record_that_is_no_text(self):
        scope = {"hub": {"name": "s"}, "toolsets": {"up": self.toolset()}}
        head = '{"patchbayState":1}\n'
        line = {"scope": "s", "kind": "secret", "owner": "", "key": "db", "version": 1, "document": {}, "secret": True}
        done = self.cli("state", "import", "-", stdin=head + json.dumps(line) + "\n", modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        done = self.cli("check", manifest=scope)
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "set it again")

    def test_a_store_that_does_not_answer_is_not_waited_for_without_end(self):
        manifest = {"toolsets": {"up": self.toolset()}}
        self.keep(manifest=manifest)
        with sqlite3.connect(self.home / ".local/state/patchbay/state.db", isolation_level=None) as db:
            db.execute("PRAGMA locking_mode=EXCLUSIVE")
            db.execute("PRAGMA journal_mode=DELETE")
            db.execute("BEGIN EXCLUSIVE")
            done = self.cli("check", manifest=manifest)
        self.assertEqual(done.returncode, 3, done.stdout)
        self.assertSays(done.stderr, "toolsets.up.env.GIVEN", "state.db")

    def test_a_credential_of_systemd(self):
        folder = self.home / "credentials"
        folder.mkdir()
        (folder / "api").write_text(CANARY + "\n", encoding="utf-8")
        env = {"CREDENTIALS_DIRECTORY": str(folder)}
        self.assertEqual(self.environment(self.toolset("${credential:api}"), env=env)["GIVEN"], CANARY)
        for text, words in (("${credential:../api}", "wants a name"), ("${credential:none}", "none")):
            done = self.cli("check", toolsets={"up": self.toolset(text)}, env=env)
            self.assertEqual(done.returncode, 3)
            self.assertSays(done.stderr, words)
        done = self.cli("check", toolsets={"up": self.toolset("${credential:api}")})
        self.assertSays(done.stderr, "LoadCredential=api")


class Environment(Kept):
    USUAL = {"SSL_CERT_FILE": "/certs", "SSL_CERT_DIR": "/etc/ssl/certs", "NODE_EXTRA_CA_CERTS": "/node", "REQUESTS_CA_BUNDLE": "/requests",
             "CURL_CA_BUNDLE": "/curl", "SSH_AUTH_SOCK": "/agent",
             **{name: f"http://{name}" for kind in ("http", "https", "all", "no") for name in (f"{kind}_proxy", f"{kind}_proxy".upper())}}
    HUB = {**USUAL, "MINE": "m", "OTHER": "o"}

    def passed(self, **members):
        entry = {**self.toolset("x"), **members}
        env = self.environment(entry, env=self.HUB)
        return {name: env[name] for name in self.HUB if name in env}

    def test_what_servers_get_of_the_hubs(self):
        self.assertEqual(self.passed(), self.USUAL)
        self.assertEqual(self.passed(pass_env=[]), {})
        self.assertEqual(self.passed(pass_env=["MINE", "UNSET"]), {"MINE": "m"})

    def test_what_is_given_wins(self):
        entry = self.toolset("x")
        entry["env"]["MINE"] = "given"
        self.assertEqual(self.environment({**entry, "pass_env": ["MINE"]}, env=self.HUB)["MINE"], "given")

    def test_what_is_no_name(self):
        for names in (["A=B"], [""], [7], "MINE"):
            done = self.cli("check", toolsets={"up": {**self.toolset("x"), "pass_env": names}})
            self.assertEqual(done.returncode, 3, names)


if __name__ == "__main__":
    main()
