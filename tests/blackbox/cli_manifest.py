# SPDX-License-Identifier: Apache-2.0
"""Manifests changed by init, add, remove, enable, disable, set and unset; the one that is found by itself."""

import json
import os
import stat

from mcp import HubTest, main

OK, USAGE, CONFIG = 0, 2, 3

FILE = """# mine
toolsets:
  # the clock
  clock:
    module: time      # local
hub: {name: here}
"""


class Manifests(HubTest):
    def setUp(self):
        super().setUp()
        self.file = self.home / "hub.yaml"
        self.file.write_text(FILE)

    def run_on(self, *words, code=OK, file=None, env=None):
        done = self.cli(words[0], "--config", file or self.file, *words[1:], modules=False, env=env)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_add_and_remove_leave_no_trace(self):
        self.run_on("add", "git", "--env", "A=${NOT_SET}", "--", "uvx", "mcp-server-git", "--config", "x")
        text = self.file.read_text()
        self.assertIn("  # the clock\n  clock:\n    module: time      # local\n", text)
        self.assertIn('    args: [mcp-server-git, "--config", x]\n    env:\n      A: "${NOT_SET}"\n', text)
        self.run_on("remove", "git")
        self.assertEqual(self.file.read_text(), FILE)

    def test_what_is_added_is_served(self):
        recorder = self.recorder()
        server = recorder.toolset()
        self.run_on("add", "up", "--", server["command"], *server["args"])
        rows = json.loads(self.cli("list", "tools", "--json", "--config", self.file).stdout)
        self.assertIn("up__echo", [row["name"] for row in rows])

    def test_url_module_switch_and_keys(self):
        self.run_on("add", "docs", "https://x.example/mcp", "--header", "Authorization: Bearer ${T}", "--disabled")
        self.run_on("add", "files", "--module", "time", "--description", "More: time")
        self.run_on("set", "toolsets.docs.timeout", "30s")
        self.run_on("enable", "docs")
        self.run_on("disable", "clock")
        self.run_on("set", "/hub/name", "there")
        text = self.file.read_text()
        self.assertIn('      Authorization: "Bearer ${T}"\n    enabled: true\n    timeout: "30s"\n', text)
        self.assertIn("    module: time      # local\n    enabled: false\n", text)
        self.assertIn('    description: "More: time"\n', text)
        self.assertIn("hub: {name: there}\n", text)
        self.run_on("unset", "toolsets.docs.timeout")
        self.assertNotIn("timeout", self.file.read_text())

    def test_nothing_wrong_is_written(self):
        for words, code, saying in (
            (("add", "clock", "--", "x"), CONFIG, 'already'),
            (("add", "Bad Name!", "--", "x"), CONFIG, "hub.yaml"),
            (("add", "a"), USAGE, "COMMAND"),
            (("add", "a", "--env", "novalue", "--", "x"), USAGE, "novalue"),
            (("add", "a", "https://x", "--header", "bad"), USAGE, "bad"),
            (("remove", "nobody"), CONFIG, "nobody"),
            (("set", "toolsets.clock.modul", "time"), CONFIG, '"module"'),
            (("set", "hub.name.x", "1"), CONFIG, "hub.name"),
            (("set", "toolsets..x", "1"), CONFIG, "empty"),
            (("set", "toolsets.clock.timeout", "[["), CONFIG, "VALUE"),
            (("unset", "hub.nothing"), CONFIG, "nothing"),
            (("enable", "nobody"), CONFIG, "nobody"),
            (("enable", "clokc"), CONFIG, 'there is no toolset "clokc"; did you mean "clock"?'),
            (("remove", "n" * 10000), CONFIG, "there is no toolset"),
        ):
            done = self.run_on(*words, code=code)
            self.assertIn(saying, done.stderr)
            self.assertNotIn("XXXXXX", done.stderr)
            self.assertEqual(self.file.read_text(), FILE, words)
        self.assertEqual(sorted(os.listdir(self.home)), ["hub.yaml"])

    def test_dry_run(self):
        done = self.run_on("add", "git", "--dry-run", "--", "x")
        self.assertIn("  git:\n    command: x\n", done.stdout)
        self.assertEqual(self.file.read_text(), FILE)

    def test_mode_and_links_stay(self):
        real = self.home / "real"
        real.mkdir()
        target = real / "hub.yaml"
        self.file.rename(target)
        target.chmod(0o640)
        self.file.symlink_to(target)
        self.run_on("add", "git", "--", "x")
        self.assertTrue(self.file.is_symlink())
        self.assertEqual(stat.S_IMODE(target.stat().st_mode), 0o640)
        self.assertIn("git", target.read_text())
        self.assertEqual(os.listdir(real), ["hub.yaml"])

    def test_files_of_other_programs(self):
        file = self.home / ".mcp.json"
        text = '{\n  // ours\n  "mcpServers": {\n    "a": {"command": "x"} // a\n  },\n  "other": 1\n}\n'
        file.write_text(text)
        self.run_on("add", "web", "https://x.example/mcp", file=file)
        self.run_on("disable", "a", file=file)
        changed = file.read_text()
        self.assertIn('"a": {"command": "x", "disabled": true}, // a\n', changed)
        self.assertIn('"type": "http"', changed)
        self.run_on("remove", "web", file=file)
        self.run_on("unset", "mcpServers.a.disabled", file=file)
        self.assertEqual(file.read_text(), text)

    def test_the_user_has_one(self):
        """Made by init, private, and found without --config."""
        place = self.home / ".config" / "patchbay" / "patchbay.yaml"
        self.file.unlink()
        self.assertEqual(self.cli("init", modules=False).returncode, OK)
        self.assertEqual(stat.S_IMODE(place.stat().st_mode), 0o600)
        self.assertEqual(self.cli("init", modules=False).returncode, CONFIG)
        self.assertEqual(self.cli("add", "watch", "--module", "time", modules=False).returncode, OK)
        rows = json.loads(self.cli("list", "toolsets", "--json", modules=False).stdout)
        self.assertEqual([row["key"] for row in rows], ["watch"])
        place.parent.chmod(0o777)
        done = self.cli("list", "toolsets", "--json", modules=False)
        self.assertNotIn("watch", [row["key"] for row in json.loads(done.stdout)])
        self.assertIn("other users", done.stderr)

    def found(self, folder, **options):
        """(keys of the toolsets that list shows in a folder, stderr)."""
        done = self.cli("list", "toolsets", "--json", modules=False, cwd=folder, **options)
        self.assertEqual(done.returncode, OK, done.stderr)
        return [row["key"] for row in json.loads(done.stdout)], done.stderr

    def put(self, path, key):
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        path.write_text(f"toolsets:\n  {key}:\n    module: time\n")
        path.chmod(0o600)
        return path

    def test_the_working_folder_has_one(self):
        """patchbay.yaml, then hub.yaml, then the user's own."""
        self.put(self.home / ".config" / "patchbay" / "patchbay.yaml", "own")
        work = self.home / "work"
        work.mkdir(mode=0o755)
        self.assertEqual(self.found(work)[0], ["own"])
        second = self.put(work / "hub.yaml", "second")
        self.assertEqual(self.found(work)[0], ["second"])
        first = self.put(work / "patchbay.yaml", "first")
        self.assertEqual(self.found(work)[0], ["first"])
        for path, mode, keys in ((first, 0o602, ["second"]), (first, 0o600, ["first"]), (work, 0o757, ["own"])):
            path.chmod(mode)
            got, said = self.found(work)
            self.assertEqual(got, keys, (path, oct(mode)))
            self.assertEqual("is not read" in said, mode != 0o600, said)
        work.chmod(0o755)
        first.unlink()
        second.unlink()
        above = self.home / "above"
        above.mkdir(mode=0o777)
        above.chmod(0o777)
        inner = above / "inner"
        self.put(inner / "patchbay.yaml", "swapped")
        inner.chmod(0o755)
        self.assertEqual(self.found(inner)[0], ["own"])  # somebody may exchange the folder
        above.chmod(0o755)
        self.assertEqual(self.found(inner)[0], ["swapped"])

    def test_a_change_beside_the_manifest_of_the_folder(self):
        """Commands that read take the folder's, those that change the user's own: who changes the one is told of the other."""
        work = self.home / "my work"
        work.mkdir()
        done = self.cli("init", "--config", "hub.yaml", modules=False, cwd=work)
        self.assertSays(done.stderr, "go on with `patchbay add … --config hub.yaml`")
        done = self.cli("add", "a", "--module", "time", modules=False, cwd=work)
        self.assertSays(done.stderr, "warning", ".config/patchbay/patchbay.yaml is changed", "--config hub.yaml")
        done = self.cli("add", "a", "--module", "time", "--config", work / "hub.yaml", modules=False, cwd=work)
        self.assertNotIn("warning", done.stderr)
        self.assertIn(f"`patchbay check '{work}/hub.yaml' --connect`", done.stderr)
        done = self.cli("remove", "a", modules=False, cwd=self.home / ".config" / "patchbay")
        self.assertEqual((done.returncode, done.stderr), (OK, ""))

    def test_a_link_to_what_others_may_write(self):
        open_file = self.put(self.home / "open" / "x.yaml", "theirs")
        work = self.home / "work"
        work.mkdir(mode=0o755)
        (work / "patchbay.yaml").symlink_to(open_file)
        self.assertEqual(self.found(work)[0], ["theirs"])
        open_file.parent.chmod(0o777)
        keys, said = self.found(work)
        self.assertNotIn("theirs", keys)
        self.assertIn(str(open_file.parent), said)

    def test_somebody_elses_file(self):
        if os.geteuid() != 0:
            self.skipTest("only root can give files away")
        work = self.home / "work"
        work.mkdir(mode=0o755)
        path = self.put(work / "patchbay.yaml", "theirs")
        os.chown(path, 65534, -1)
        keys, said = self.found(work)
        self.assertNotIn("theirs", keys)
        self.assertIn("owned by uid 65534", said)

    def test_the_log_says_which(self):
        work = self.home / "work"
        work.mkdir(mode=0o755)
        path = self.put(work / "patchbay.yaml", "clock")
        hub = self.hub(modules=False, cwd=work)
        self.assertIn(str(path), hub.wait_log("config.found"))
        hub.finish()


if __name__ == "__main__":
    main()
