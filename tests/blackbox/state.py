#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What outlives the hub: `patchbay state`, and what a hub has of the store that keeps nothing (RELIABILITY L07)."""

import json
import os
import secrets
import sqlite3
import stat
from pathlib import Path

from mcp import HubTest, LegacyClient, main

HEAD = '{"patchbayState":1}\n'


def record(key, document, scope="s", kind="note", version=1, **members):
    return json.dumps({"scope": scope, "kind": kind, "owner": "uid:1", "key": key, "version": version, "document": document, **members}) + "\n"


class State(HubTest):
    def setUp(self):
        super().setUp()
        self.file = self.home / ".local/state/patchbay/state.db"

    def state(self, *words, **options):
        return self.cli("state", *words, modules=False, **options)

    def checked(self, **options):
        done = self.state("check", "--json", **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads(done.stdout)

    def exported(self, *words, **options):
        done = self.state("export", *words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def bring(self, *lines, words=(), **options):
        return self.state("import", "-", *words, stdin=HEAD + "".join(lines), **options)

    def key_file(self, *keys):
        path = self.home / "state.key"
        path.write_text("\n".join(keys) + "\n", encoding="utf-8")
        path.chmod(0o600)
        return {"state": {"key": str(path)}}


class Command(State):
    def test_nothing_is_made_to_look(self):
        self.assertFalse(self.checked()["exists"])
        self.assertEqual(self.exported(), [{"patchbayState": 1, "epoch": ""}])
        self.assertFalse(self.file.parent.exists())

    def test_import_export_and_check(self):
        done = self.bring(record("a", {"n": 1}), record("b", [2]), words=["--json"])
        self.assertEqual(json.loads(done.stdout), {"added": 2, "replaced": 0, "kept": 0, "same": 0, "leftOut": 0})
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(self.file.parent.stat().st_mode), 0o700)
        head, first, second = self.exported()
        self.assertEqual(len(head["epoch"]), 32)
        self.assertEqual((first["key"], first["document"], second["document"]), ("a", {"n": 1}, [2]))
        found = self.checked()
        self.assertEqual((found["records"], found["journal"], found["epoch"]), (2, "wal", head["epoch"]))
        done = self.state("check")
        self.assertSays(done.stdout, str(self.file), "records: 2", "journal mode wal", "key: no")

    def test_an_import_is_whole_or_says_who_is_to_stay(self):
        self.bring(record("a", 1))
        done = self.bring(record("0", 1), record("a", 2))
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, '"a"', "nothing was imported", "--keep", "--replace")
        self.assertEqual(self.checked()["records"], 1)
        self.assertSays(self.bring(record("0", 1), record("a", 2), words=["--keep"]).stdout, "1 added", "1 kept")
        self.assertSays(self.bring(record("a", 2), words=["--replace"]).stdout, "1 replaced")
        self.assertEqual([x["document"] for x in self.exported()[1:]], [1, 2])
        self.assertEqual(self.bring(words=["--keep", "--replace"]).returncode, 2)
        done = self.bring("{}\n")
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "-: line 2:", "scope")

    def test_secrets(self):
        first, second = secrets.token_hex(32), secrets.token_hex(32)
        self.assertEqual(self.state("rekey").returncode, 3)
        self.bring(record("k", "marigold", secret=True))
        done = self.state("export")
        self.assertNotIn("marigold", done.stdout)
        self.assertSays(done.stderr, "left out (1)", "--decrypt")
        self.assertIn("marigold", self.state("export", "--decrypt").stdout)
        with_first = self.key_file(first)
        self.assertSays(self.state("rekey", manifest=with_first).stdout, "current key: 1")
        sealed = self.state("export", manifest=with_first).stdout
        self.assertNotIn("marigold", sealed)
        self.assertIn("marigold", self.state("export", "--decrypt", manifest=with_first).stdout)
        self.assertNotIn(b"marigold", self.file.read_bytes())
        done = self.state("check")
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stdout, "1 unreadable")
        both = self.key_file(second, first)
        self.assertSays(self.state("rekey", manifest=both).stdout, "current key: 1")
        only = self.key_file(second)
        self.assertIn("marigold", self.state("export", "--decrypt", manifest=only).stdout)
        # The environment's key counts first.
        self.assertEqual(self.state("check", manifest=only, env={"PATCHBAY_STATE_KEY": first}).returncode, 3)

    def test_what_cannot_be_used(self):
        self.assertEqual(self.state().returncode, 2)
        self.assertEqual(self.state("import").returncode, 2)
        self.assertEqual(self.state("check", "now").returncode, 2)
        done = self.state("check", manifest={"state": "off"})
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "state: off")
        done = self.state("check", manifest={"state": {"key": "/none/key"}})
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "/none/key")
        self.bring(record("a", 1))
        with sqlite3.connect(self.file) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        for words in (["check"], ["export"], ["rekey"]):
            done = self.state(*words, env={"PATCHBAY_STATE_KEY": secrets.token_hex(32)})
            self.assertEqual(done.returncode, 3)
            self.assertSays(done.stderr, str(self.file), "newer version", "layout 99")
        self.file.write_bytes(b"no database" * 100)
        done = self.state("check")
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "is damaged", "patchbay state import")


class Hub(State):
    def maps(self, client):
        return Path(f"/proc/{client.hub.process.pid}/maps").read_text(encoding="utf-8")

    def test_a_hub_that_keeps_nothing_has_nothing_of_it(self):
        client = LegacyClient(self.hub())
        client.barrier()
        self.assertNotIn("libsqlite3", self.maps(client))
        self.assertNotIn("state.db", self.maps(client))
        self.assertFalse(self.file.parent.exists())

    def threads(self, client):
        return [Path(x, "comm").read_text(encoding="utf-8").strip() for x in Path(f"/proc/{client.hub.process.pid}/task").iterdir()]

    def test_a_hub_that_does_not_look_has_no_thread_for_it(self):
        for manifest in ({"state": "off"}, {"hub": {"remember": "none"}}):
            client = LegacyClient(self.hub(manifest=manifest))
            client.barrier()
            self.assertNotIn("patchbay-state", self.threads(client))

    def test_a_key_is_nobody_elses(self):
        key = secrets.token_hex(32)
        client = LegacyClient(self.hub(env={"PATCHBAY_STATE_KEY": key}))
        client.barrier()
        self.assertNotIn(key.encode(), Path(f"/proc/{client.hub.process.pid}/environ").read_bytes())

    def test_a_key_that_cannot_be_had_does_not_stop_the_hub(self):
        client = LegacyClient(self.hub(manifest={"state": {"key": os.fspath(self.home / "none")}}))
        client.barrier()
        client.hub.wait_log("state.no_key")

    def test_a_check_says_that_a_key_cannot_be_had(self):
        manifest = self.home / "checked.json"
        key = self.home / "none"
        manifest.write_text(json.dumps({"state": {"key": str(key)}, "toolsets": {"time": {}}}))
        done = self.cli("check", manifest)
        self.assertEqual((done.returncode, done.stdout), (3, ""))
        self.assertSays(done.stderr, f"state.key: {key}", "openssl rand -hex 32 >FILE; chmod 600 FILE")
        key.write_text(secrets.token_hex(32))
        key.chmod(0o644)
        done = self.cli("check", manifest)
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, f"state.key: {key}", "chmod 600")
        key.chmod(0o600)
        self.assertEqual(self.cli("check", manifest).returncode, 0)
        manifest.write_text(json.dumps({"state": "off", "toolsets": {"time": {}}}))
        self.assertEqual(self.cli("check", manifest).returncode, 0)


if __name__ == "__main__":
    main()
