# SPDX-License-Identifier: Apache-2.0
"""What doctor says of an installation, and what it advises."""

import json

from mcp import HubTest, main

OK, USAGE, CONFIG = 0, 2, 3


class Doctor(HubTest):
    def findings(self, code, toolsets=None, manifest=None, **options):
        done = self.cli("doctor", "--json", toolsets=toolsets, manifest=manifest, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return [(row["state"], row["subject"], row["text"], row.get("cure", "")) for row in json.loads(done.stdout)]

    def problems(self, *arguments, **options):
        return [row for row in self.findings(CONFIG, *arguments, **options) if row[0] == "problem"]

    def test_all_is_well(self):
        rows = self.findings(OK, {"a": {"command": "sh"}, "clock": {"module": "time"}})
        self.assertEqual({row[0] for row in rows}, {"ok"})
        self.assertIn(("ok", "toolset a", "sh is there", ""), rows)

    def test_programs(self):
        toolsets = {
            "a": {"command": "npx"},
            "b": {"command": "/nowhere/x"},
            "c": {"command": "sh", "env": {"PATH": "/nowhere"}},
            "d": {"command": "nothing-like-it", "enabled": False},
        }
        rows = self.problems(toolsets, env={"PATH": "/usr/share"})
        self.assertEqual([row[1] for row in rows], ["toolset a", "toolset b", "toolset c"])
        self.assertIn("Node.js", rows[0][3])

    def test_plugins(self):
        (row,) = self.problems({"a": {"module": "nobody"}})
        self.assertIn("nobody", row[2])

    def test_manifests(self):
        (row,) = self.problems({"a": {"command": "sh", "env": {"A": "${NOT_SET_HERE}"}}})
        self.assertIn("NOT_SET_HERE", row[2])
        self.assertIn("variable", row[3])
        (row,) = self.problems(manifest={"toolset": {}})
        self.assertIn("toolsets", row[2])

    def test_without_a_manifest(self):
        done = self.cli("doctor", modules=False)
        self.assertEqual(done.returncode, OK, done.stdout)
        self.assertIn("patchbay init", done.stdout)
        self.assertTrue(done.stdout.endswith("0 problems, 1 warning\n"), done.stdout)

    def test_its_options_are_not_those_of_the_next_command(self):
        done = self.cli("secret", "list", "--plugins-dir", "/nowhere", modules=False)
        self.assertEqual(done.returncode, USAGE, done.stdout + done.stderr)
        self.assertSays(done.stderr, "--plugins-dir", "doctor")

    def test_listeners(self):
        (row,) = self.problems(manifest={"listen": [{"http": "0.0.0.0:0"}]})
        self.assertEqual(row[1], "listeners")
        self.assertNotIn("problem", [r[0] for r in self.findings(OK, manifest={"listen": [{"http": "127.0.0.1:0"}]})])


if __name__ == "__main__":
    main()
