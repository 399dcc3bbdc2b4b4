# SPDX-License-Identifier: Apache-2.0
"""--json of commands that say several things: an object on each line, and nothing else on stdout."""

import json

from pins import PinTest
from mcp import HubTest, main, tool

OK, CONFIG, UNREACHABLE, TOOL = 0, 3, 5, 6


class RowsTest(HubTest):
    def rows(self, code, *words, **options):
        done = self.cli(*words, "--json", **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]


class Rows(RowsTest):
    def test_version(self):
        (row,) = self.rows(OK, "version", modules=False)
        self.assertEqual(row["name"], "patchbay")
        self.assertRegex(row["version"], r"^\d+\.\d+\.\d+$")
        self.assertRegex(row["abi"], r"^\d+\.\d+$")
        self.assertEqual(self.rows(OK, "--version", modules=False), [row])

    def test_check(self):
        """What a line of text says on stderr is a row; a secret stays one."""
        path = self.home / "hub.yaml"
        path.write_text("toolsets:\n  a: {module: fixture}\n  b: {module: nobody}\n")
        rows = self.rows(CONFIG, "check", path)
        self.assertEqual({row["level"] for row in rows}, {"error"})
        self.assertTrue(any("nobody" in row["text"] for row in rows), rows)
        path.write_text("toolsets:\n  a: {module: fixture}\nlisten:\n  - http: 127.0.0.1:0\n")
        (row,) = self.rows(OK, "check", path)
        self.assertEqual((row["level"], row["toolsets"], row["profiles"], row["listeners"], row["tokens"]), ("ok", 1, 1, 1, 0))

    def test_check_connect(self):
        """One row for each toolset; what is only progress is no row."""
        recorder = self.recorder()
        path = self.home / "hub.json"
        path.write_text(json.dumps({"toolsets": {
            "a": recorder.toolset(), "b": {"command": "/nowhere/\x1b[31mx"}, "c": {"module": "fixture", "enabled": False}}}))
        rows = self.rows(UNREACHABLE, "check", path, "--connect")
        found = {row["toolset"]: row for row in rows if "toolset" in row}
        self.assertEqual({key: row["state"] for key, row in found.items()}, {"a": "ok", "b": "failed", "c": "off"})
        self.assertSays(found["b"]["text"], "?[31mx")

    def test_access(self):
        path = self.home / "tests.yaml"
        path.write_text("access: {default: deny, rules: [{who: {principals: ['token:a']}, then: allow, reason: \"a's\"}]}\n"
                        "tests:\n  - {who: local, tool: 'a:b', then: allow}\n  - {who: local, tool: 'a:b', then: deny}\n")
        failure, sums = self.rows(TOOL, "access", "test", path, modules=False)
        self.assertEqual(failure["level"], "error")
        self.assertSays(failure["place"], "tests.yaml:3")
        self.assertSays(failure["text"], "wanted allow, found deny")
        self.assertEqual(sums, {"passed": 1, "failed": 1})
        manifest = self.home / "hub.yaml"
        manifest.write_text("toolsets: {x: {command: y}}\n" + path.read_text().split("\n")[0] + "\n")
        (row,) = self.rows(OK, "access", "explain", "token:a", "x:y", "--config", manifest, modules=False)
        self.assertEqual((row["principal"], row["tool"], row["verdict"], row["listed"]), ("token:a", "x:y", "allow", True))
        self.assertEqual(row["reason"], "a's")
        self.assertSays(row["rule"], "hub.yaml", "rules[0]")

    def test_import(self):
        file = self.home / "other.json"
        file.write_text(json.dumps({"mcpServers": {"My A": {"command": "x"}, "b": {"comand": "y"}}}))
        manifest = self.home / "hub.json"
        words = ("import", "--config", manifest, file)
        rows = self.rows(OK, *words, "--dry-run", modules=False)
        self.assertEqual(json.loads(rows[-1]["content"]), {"toolsets": {"my-a": {"command": "x"}}})
        added, left, sums = self.rows(OK, *words, modules=False)
        self.assertEqual((added["toolset"], added["name"], added["from"]), ("my-a", "My A", str(file)))
        self.assertEqual(left["level"], "warning")
        self.assertSays(left["text"], 'left out: "b"')
        self.assertEqual(sums, {"manifest": str(manifest), "imported": 1})


class LockRows(RowsTest, PinTest):
    def test_lock_and_approve(self):
        toolsets = {"up": self.server("up", tool("one"))}
        (row,) = self.rows(OK, "lock", toolsets=toolsets)
        self.assertEqual((row["toolsets"], row["tools"], row["prompts"]), (1, 1, 0))
        self.offer("up", {**tool("one"), "description": "x"}, tool("two"))
        changes = self.rows(1, "lock", "--diff", toolsets=toolsets)
        self.assertEqual([(row["name"], row["change"]) for row in changes], [("one", "changed"), ("two", "new")])
        self.assertEqual(changes[0]["after"]["description"], "x")
        self.assertNotEqual(changes[0]["before"].get("description"), "x")
        self.assertEqual(self.rows(OK, "approve", "--show", toolsets=toolsets), changes)
        rows = self.rows(OK, "approve", toolsets=toolsets)
        self.assertEqual(rows[:2], changes)
        self.assertEqual(rows[2]["tools"], 2)
        self.assertEqual(self.rows(OK, "approve", toolsets=toolsets), [])


if __name__ == "__main__":
    main()
