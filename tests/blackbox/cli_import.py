# SPDX-License-Identifier: Apache-2.0
"""Servers taken over from other programs (import), and the hub written into their files (connect; S3.8)."""

import json
import os
import subprocess

from mcp import TIMEOUT, HubTest, hub_binary, hub_environment, main
from client_files import FILES

OK, USAGE, CONFIG = 0, 2, 3

# client: (file below the home folder, what is in it, the toolsets that come of it, what is said)
CLIENTS = {
    "claude": (
        ".config/Claude/claude_desktop_config.json",
        {"mcpServers": {"My Files": {"command": "npx", "args": ["-y", "fs"], "env": {"A": "b c"}}}, "theme": "x"},
        {"my-files": {"command": "npx", "args": ["-y", "fs"], "env": {"A": "b c"}}},
        [],
    ),
    "claude-code": (
        ".claude.json",
        {"mcpServers": {"w": {"type": "http", "url": "https://x.example/mcp", "headers": {"K": "${T:-d}"}}}},
        {"w": {"url": "https://x.example/mcp", "headers": {"K": "${T:-d}"}}},
        [],
    ),
    "cline": (
        ".config/Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        {"mcpServers": {"a": {"command": "x", "disabled": True, "autoApprove": ["t"], "timeout": 60}}},
        {"a": {"command": "x", "disabled": True, "timeout": "60s"}},
        [],
    ),
    "cursor": (
        ".cursor/mcp.json",
        '{ // mine\n "mcpServers": {"a": {"command": "${userHome}/x", "envFile": ".env"}, "b": 1, "c": {"comand": "x"},\n'
        ' "d": {"command": "x", "cwd": "${workspaceFolder}"}, "p": {"command": "/usr/bin/patchbay"},}}\n',
        {"a": {"command": "${HOME}/x", "env": {}}},
        ["its envFile is not taken over", 'left out: "b"', 'left out: "c"', "workspaceFolder", '"p" is this hub'],
    ),
    "gemini": (
        ".gemini/settings.json",
        {"mcpServers": {"s": {"url": "https://x.example/sse"}, "h": {"httpUrl": "https://x.example/mcp", "timeout": 5000}}},
        {"s": {"url": "https://x.example/sse", "type": "sse"}, "h": {"url": "https://x.example/mcp", "timeout": "5000ms"}},
        [],
    ),
    "lmstudio": (".lmstudio/mcp.json", {"mcpServers": {"a": {"command": "x"}}}, {"a": {"command": "x"}}, []),
    "opencode": (
        ".config/opencode/opencode.json",
        {"mcp": {"a": {"type": "local", "command": ["x", "-y"], "enabled": False, "environment": {"A": "1"}}}},
        {"a": {"command": "x", "args": ["-y"], "enabled": False, "env": {"A": "1"}}},
        [],
    ),
    "vscode": (
        ".config/Code/User/mcp.json",
        {"servers": {"g": {"type": "stdio", "command": "x", "env": {"K": "${input:api-key}"}}}, "inputs": []},
        {"g": {"command": "x", "env": {"K": "${API_KEY}"}}},
        ["${API_KEY}"],
    ),
    "windsurf": (
        ".codeium/windsurf/mcp_config.json",
        {"mcpServers": {"a": {"serverUrl": "https://x.example/mcp"}}},
        {"a": {"url": "https://x.example/mcp"}},
        [],
    ),
    "zed": (
        ".config/zed/settings.json",
        {"context_servers": {"a": {"command": {"path": "x", "args": ["1"], "env": {"A": "b"}}, "settings": {}}}},
        {"a": {"command": "x", "args": ["1"], "env": {"A": "b"}}},
        [],
    ),
}


class Programs(HubTest):
    def setUp(self):
        super().setUp()
        self.manifest = self.home / "hub.json"

    def put(self, client):
        name, content, _, _ = CLIENTS[client]
        file = self.home / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content, indent=1))
        return file

    def run_on(self, *words, code=OK):
        done = self.cli(words[0], "--config", self.manifest, *words[1:], modules=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def test_each_program(self):
        for client, (_, _, wanted, said) in CLIENTS.items():
            with self.subTest(client=client):
                file = self.put(client)
                before = file.read_bytes()
                self.manifest.unlink(missing_ok=True)
                done = self.run_on("import", client)
                self.assertEqual(json.loads(self.manifest.read_text())["toolsets"], wanted)
                self.assertEqual(file.read_bytes(), before)
                for text in said:
                    self.assertIn(text, done.stderr)
                if not said:
                    self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)

    def test_thirty_files(self):
        self.assertEqual(len(FILES), 30)
        (self.home / ".tools.env").write_text("# mine\nexport TOKEN='a$b'\nNAME = \"two words\"\n\nMODE=slow # not this\nnothing\n")
        for number, (client, text, wanted, said) in enumerate(FILES):
            with self.subTest(number=number, client=client):
                file = self.home / CLIENTS[client][0]
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text)
                self.manifest.unlink(missing_ok=True)
                done = self.run_on("import", client, code=OK if wanted else CONFIG)
                got = json.loads(self.manifest.read_text())["toolsets"] if wanted else {}
                self.assertEqual(got, wanted)
                for words in said:
                    self.assertIn(words, done.stderr)
                self.assertEqual(len(done.stderr.splitlines()), len(said) + 1, done.stderr)
                before = file.read_bytes()
                self.manifest.write_text('{"toolsets": {}}')
                self.run_on("connect", client)
                if "patchbay" not in text:
                    self.assertNotEqual(file.read_bytes(), before)
                self.run_on("connect", client, "--undo")
                self.assertEqual(file.read_bytes(), before)

    def test_a_project(self):
        """${workspaceFolder} is the project's folder, or that of --workspace."""
        project = self.home / 'the "$project'
        (project / ".vscode").mkdir(parents=True)
        (project / ".env").write_text("A=1\n")
        file = project / ".vscode" / "mcp.json"
        file.write_text(json.dumps({"servers": {"a": {"command": "x", "envFile": "${workspaceFolder}/.env", "args": [
            "${workspaceFolder}/src", "${workspaceFolderBasename}", "${pathSeparator}"]}}}))
        escaped = str(project).replace("$", "$$")
        wanted = {"command": "x", "args": [f"{escaped}/src", 'the "$$project', "/"], "env": {"A": "1"}}
        self.run_on("import", file)
        self.assertEqual(json.loads(self.manifest.read_text())["toolsets"], {"a": wanted})
        self.manifest.unlink()
        self.run_on("import", file, "--workspace", "/w")
        self.assertEqual(json.loads(self.manifest.read_text())["toolsets"]["a"]["args"], ["/w/src", "w", "/"])

    def imported(self, *words, file=None, content=None, code=OK):
        """The toolsets that import makes of what is put into a file, and what it says."""
        file = self.home / file
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(content if isinstance(content, str) else json.dumps(content))
        self.manifest.unlink(missing_ok=True)
        done = self.run_on("import", *words, code=code)
        return (json.loads(self.manifest.read_text())["toolsets"] if code == OK else {}), done.stderr

    def test_dollars(self):
        """Two dollars are two for every program, and one for the hub; $NAME is a variable for Gemini alone."""
        args = ["a$$", "$$$", "$$${V}", "$HOME", "c$", "$1"]
        for client, name in (("cursor", "$HOME"), ("gemini", "${HOME}")):
            found, _ = self.imported(client, file=CLIENTS[client][0], content={"mcpServers": {"a": {"command": "x", "args": args}}})
            self.assertEqual(found["a"]["args"], ["a$$$", "$$$$$", "$$$$${V}", name, "c$", "$1"])
        entry = {"command": "sh", "args": ["-c", 'printf %s "$P" >"$0"', str(self.home / "out")], "env": {"P": "x$$y$$$z$"}}
        self.imported("cursor", file=CLIENTS["cursor"][0], content={"mcpServers": {"a": entry}})
        self.cli("list", "tools", "--config", self.manifest)
        self.assertEqual((self.home / "out").read_text(), "x$$y$$$z$")

    def test_paths_of_a_project(self):
        """What is relative in a project's file is relative to the project, as it is for its program."""
        (self.home / "proj/dist").mkdir(parents=True)
        (self.home / "proj/dist/index.js").write_text("")
        project = str(self.home / "proj")
        content = {"mcpServers": {
            "a": {"command": "./run.sh"}, "b": {"command": "node", "args": ["dist/index.js"]}, "c": {"command": "x", "cwd": "sub"},
            "d": {"command": "x", "args": ["-y", "fs", "/srv", "~/x"]}, "e": {"command": "x", "args": ["../other"], "cwd": "/srv"},
            "f": {"command": "dist"}, "g": {"url": "https://x.example/"}, "h": {"command": "bin/x --fast"}}}
        found, said = self.imported(self.home / "proj/.mcp.json", file="proj/.mcp.json", content=content)
        self.assertEqual({key: one.get("cwd") for key, one in found.items()}, {
            "a": project, "b": project, "c": project + "/sub", "d": None, "e": "/srv", "f": None, "g": None, "h": None})
        self.assertEqual(found["b"]["args"], ["dist/index.js"])
        self.assertEqual(len(said.splitlines()), 1, said)
        found, _ = self.imported("cursor", file=CLIENTS["cursor"][0], content=content)  # the user's own file is of no project
        self.assertEqual([found[key].get("cwd") for key in "abc"], [None, None, "sub"])

    def test_what_says_nothing(self):
        """A null is a key that is not there, and what is wrong is said of the user's own file alone."""
        entry = {"command": "x", "args": None, "env": None, "url": None, "disabled": None, "timeout": None, "oauth": None}
        found, said = self.imported("cursor", file=CLIENTS["cursor"][0], content={"mcpServers": {"a": entry, "b": {"command": "x", "timeout": 0}}})
        self.assertEqual(found, {"a": {"command": "x"}})
        self.assertIn('left out: "b": timeout: wanted 1ms to 24h', said)
        self.assertEqual(len(said.splitlines()), 2, said)

    def test_projects_of_claude_code(self):
        """`claude mcp add` writes into the part of a project: it is told how these servers are taken over."""
        content = {"mcpServers": {"u": {"command": "x"}}, "projects": {
            "/srv/a": {"mcpServers": {"p": {"command": "y"}, "q": {"command": "./z"}}}, "/srv/b": {"mcpServers": {}}, "/srv/c": {}}}
        found, said = self.imported("claude-code", file=".claude.json", content=content)
        self.assertEqual(list(found), ["u"])
        self.assertIn("the 2 servers of the project /srv/a are not taken over: patchbay import claude-code --workspace '/srv/a' does", said)
        self.assertEqual(len(said.splitlines()), 2, said)
        found, said = self.imported("claude-code", "--workspace", "/srv/a/", file=".claude.json", content=content)
        self.assertEqual(found, {"u": {"command": "x"}, "p": {"command": "y"}, "q": {"command": "./z", "cwd": "/srv/a"}})
        self.assertEqual(len(said.splitlines()), 1, said)
        del content["mcpServers"]
        _, said = self.imported("claude-code", file=".claude.json", content=content, code=CONFIG)
        self.assertIn("--workspace '/srv/a'", said)

    def test_the_other_file_of_opencode(self):
        content = '{ // mine\n "mcp": {"a": {"type": "local", "command": ["x"]}},\n}\n'
        found, _ = self.imported("opencode", file=".config/opencode/opencode.jsonc", content=content)
        self.assertEqual(found, {"a": {"command": "x", "args": []}})
        self.run_on("connect", "opencode")
        self.assertEqual(os.listdir(self.home / ".config/opencode").count("opencode.json"), 0)
        self.run_on("connect", "opencode", "--undo")
        self.assertEqual((self.home / ".config/opencode/opencode.jsonc").read_text(), content)

    def test_all_that_are_there(self):
        self.put("claude")
        self.put("lmstudio")
        self.run_on("import")
        self.assertEqual(sorted(json.loads(self.manifest.read_text())["toolsets"]), ["a", "my-files"])
        text = self.manifest.read_text()
        self.assertIn("already", self.run_on("import", code=CONFIG).stderr)
        self.assertEqual(self.manifest.read_text(), text)

    def test_a_key_twice(self):
        """It is wrong with one entry, or with none: the others are taken over."""
        file = self.home / "mcp.json"
        file.write_text(
            '{"theme": 1, "theme": 2, "mcpServers": {\n"a": {"command": "x"},\n"b": {"command": "x", "command": "y"},\n'
            '"a": {"command": "z"},\n"c": {"command": "x", "env": {"A": "1", "A": "2"}},\n"d": {"command": "x"}}}\n'
        )
        done = self.run_on("import", file)
        self.assertEqual(json.loads(self.manifest.read_text())["toolsets"], {"a": {"command": "x"}, "d": {"command": "x"}})
        lines = done.stderr.splitlines()
        self.assertEqual(len(lines), 4, done.stderr)
        for line, name, number, first in zip(lines, "bac", (3, 4, 5), (3, 2, 5)):
            self.assertIn(f"mcp.json:{number}", line)
            self.assertIn(f"duplicate key, first on line {first}", line)
            self.assertIn(f'left out: "{name}"', line)
        self.assertIn("2 servers imported", lines[3])

    def test_dry_run_and_files(self):
        file = self.put("cursor")
        done = self.run_on("import", file, "--dry-run")
        self.assertEqual(list(json.loads(done.stdout)["toolsets"]), ["a"])
        self.assertFalse(self.manifest.exists())
        file.write_text('{"mcpServers": {')
        self.assertIn("mcp.json:1", self.run_on("import", file, code=CONFIG).stderr)
        self.assertSays(self.run_on("import", "nobody", code=CONFIG).stderr, 'no file "nobody"', "claude-code")
        toml = self.home / "config.toml"
        toml.write_text('[mcp_servers.docs]\ncommand = "npx"\n')
        self.assertSays(self.run_on("import", toml, code=CONFIG).stderr, "config.toml: is TOML: wanted YAML or JSON")

    def test_a_program_whose_settings_are_not_known(self):
        """Which are, and what to write into others."""
        self.assertSays(self.run_on("connect", "codex", code=2).stderr, '"codex" are not known', "claude-code", "patchbay serve --stdio --config FILE")

    def test_connect_and_remove(self):
        self.manifest.write_text('{"toolsets": {}}')
        for client in CLIENTS:
            with self.subTest(client=client):
                file = self.put(client)
                before = file.read_bytes()
                self.assertIn('"patchbay"', self.run_on("connect", client, "--dry-run").stdout)
                self.assertEqual(file.read_bytes(), before)
                self.run_on("connect", client)
                self.assertIn(str(self.manifest).encode(), file.read_bytes())
                self.assertNotIn("patchbay", json.loads(self.run_on("import", client, "--dry-run").stdout)["toolsets"])
                self.run_on("connect", client)
                self.run_on("connect", client, "--remove")
                self.assertEqual(file.read_bytes(), before)
                self.assertEqual([n for n in os.listdir(file.parent) if "before-patchbay" in n], [])
                self.run_on("connect", client, "--remove", code=CONFIG)

    def test_links(self):
        """A link that leads nowhere stays, and nothing takes its place."""
        self.manifest.write_text('{"toolsets": {}}')
        link = self.home / ".cursor/mcp.json"
        link.parent.mkdir()
        link.symlink_to(self.home / "gone.json")
        self.assertIn("a link to a file that is not there", self.run_on("connect", "cursor", code=CONFIG).stderr)
        self.assertTrue(link.is_symlink())
        self.assertEqual(os.listdir(link.parent), ["mcp.json"])

    def test_a_full_disk(self):
        """Nothing is changed, and the copy that was made before is gone again."""
        self.manifest.write_text('{"toolsets": {}}')
        file = self.put("cursor")
        file.write_text("{}")
        self.connect_on_a_full_disk(file)
        self.assertEqual(os.listdir(file.parent), ["mcp.json"])
        self.assertEqual(file.read_text(), "{}")

    def connect_on_a_full_disk(self, file):
        """A copy of few bytes fits, and the new file does not."""
        command = ["prlimit", "--fsize=64", hub_binary(), "connect", "cursor", "--config", self.manifest]
        done = subprocess.run(command, cwd=self.home, env=hub_environment(self.home, {}), restore_signals=False,  # SIGXFSZ stays ignored
                              capture_output=True, text=True, timeout=TIMEOUT, check=False)
        self.assertEqual(done.returncode, CONFIG, done.stderr)
        self.assertSays(done.stderr, str(file), "file too large")

    def test_a_full_disk_with_a_copy_that_was_there(self):
        """It stays what it was, be it that the new copy could not be made, or the file."""
        self.manifest.write_text('{"toolsets": {}}')
        file = self.put("cursor")
        file.write_text("{}")
        self.run_on("connect", "cursor")
        names = sorted(os.listdir(file.parent))
        copy = file.parent / names[1]
        self.assertEqual((len(names), copy.read_text()), (2, "{}"))
        for own in ('{"mcpServers": {"patchbay": {"command": "x"}}}', '{"mcpServers": {"patchbay": {"command": "%s"}}}' % ("x" * 64)):
            file.write_text(own)
            self.connect_on_a_full_disk(file)
            self.assertEqual((sorted(os.listdir(file.parent)), file.read_text()), (names, own))
            self.assertEqual(copy.read_text(), "{}")

    def test_which_manifest_is_meant(self):
        """One that is not there is refused, and the folder's, which other commands read, is spoken of."""
        file = self.put("cursor")
        before = file.read_bytes()
        done = self.cli("connect", "cursor", "--config", self.home / "nosuch.yaml", modules=False)
        self.assertEqual((done.returncode, file.read_bytes()), (CONFIG, before))
        self.assertSays(done.stderr, "nosuch.yaml: No such file", "patchbay init --config")
        work = self.home / "work"
        work.mkdir()
        (work / "hub.yaml").write_text("toolsets: {}\n")
        self.assertSays(self.cli("connect", "cursor", modules=False, cwd=work).stderr, "warning", "--config hub.yaml")
        self.assertNotIn("warning", self.cli("connect", "cursor", "--config", "hub.yaml", modules=False, cwd=work).stderr)
        self.assertNotIn("warning", self.cli("connect", "cursor", "--undo", modules=False, cwd=work).stderr)

    def test_undo_wants_no_manifest(self):
        """What is brought back does not depend on what the hub would write now; no file is no file again."""
        (self.home / "other.json").write_text('{"toolsets": {}}')
        self.manifest.write_text('{"toolsets": {}}')
        file = self.home / ".cursor/mcp.json"
        file.parent.mkdir()
        for before in (None, b"", b" \r\n", b"{}", b'{"theme": 1}\r\n', b'{"mcpServers": null}\n', b'{"mcpServers": {}}\n',
                       b'{\n\t// mine\n\t"mcpServers": {\n\t\t"a": {"command": "x"},\n\t},\n}\n'):
            for again in (False, True):
                with self.subTest(before=before, again=again):
                    file.unlink(missing_ok=True)
                    if before is not None:
                        file.write_bytes(before)
                    self.run_on("connect", "cursor")
                    if again:
                        self.cli("connect", "cursor", "--config", self.home / "other.json", modules=False)
                        self.assertIn(b"other.json", file.read_bytes())
                    done = self.cli("connect", "cursor", "--undo", modules=False)
                    self.assertEqual(done.returncode, OK, done.stderr)
                    self.assertEqual(file.read_bytes() if file.exists() else None, before)
                    self.assertEqual([n for n in os.listdir(file.parent) if "before-patchbay" in n], [])

    def test_tabs(self):
        """Lines that are added begin as the others do."""
        self.manifest.write_text('{"toolsets": {}}')
        file = self.home / ".cursor/mcp.json"
        file.parent.mkdir()
        for before, depth in (('{\n\t"mcpServers": {\n\t\t"a": {\n\t\t\t"command": "x"\n\t\t}\n\t}\n}\n', 2), ('{\n\t"mcpServers": {\n\t}\n}\n', 2),
                              ('{\n\t"mcpServers": {}\n}\n', 2), ('{\n\t"theme": 1\n}\n', 2), ('{\n  "mcpServers": {}\n}\n', 0)):
            with self.subTest(before=before):
                file.write_text(before)
                self.run_on("connect", "cursor")
                text = file.read_text()
                self.assertIn("\t" * depth + '"patchbay": {\n' if depth else '    "patchbay": {\n', text)
                self.assertEqual({line[:1] for line in text.splitlines()} - {"{", "}"}, {"\t" if depth else " "})
                self.assertEqual("\t " in text, False)
                self.run_on("connect", "cursor", "--undo")
                self.assertEqual(file.read_text(), before)

    def test_an_entry_of_the_users_own(self):
        """One of the hub's name that connect has not written is kept, and comes back."""
        self.manifest.write_text('{"toolsets": {}}')
        file = self.home / ".cursor/mcp.json"
        file.parent.mkdir()
        own = b'{"mcpServers": {"patchbay": {"url": "http://127.0.0.1:8787/mcp"}, "a": {"command": "x"}}}\n'
        for changes in (False, True):
            file.write_bytes(own)
            self.run_on("connect", "cursor")
            self.run_on("connect", "cursor")
            self.assertNotIn(b"8787", file.read_bytes())
            if changes:
                file.write_bytes(file.read_bytes().replace(b'"x"', b'"y"'))
            self.run_on("connect", "cursor", "--undo")
            wanted = own.replace(b'"x"', b'"y"') if changes else own
            self.assertEqual(json.loads(file.read_bytes()), json.loads(wanted))
            if not changes:
                self.assertEqual(file.read_bytes(), own)
        file.unlink()
        self.run_on("connect", "cursor")  # a file of connect's own, in which somebody writes
        file.write_bytes(file.read_bytes().replace(b'"mcpServers"', b'"theme": 1, "mcpServers"'))
        self.run_on("connect", "cursor")
        self.run_on("connect", "cursor", "--undo")
        self.assertEqual(json.loads(file.read_bytes()), {"theme": 1, "mcpServers": {}})

    def test_what_changed_meanwhile_stays(self):
        file = self.put("vscode")
        self.manifest.write_text("{}")
        self.run_on("connect", "vscode")
        file.write_text(file.read_text().replace('"inputs": []', '"inputs": [1]'))
        self.run_on("connect", "vscode", "--remove")
        self.assertEqual(json.loads(file.read_text())["inputs"], [1])
        self.assertEqual(list(json.loads(file.read_text())["servers"]), ["g"])

    def test_the_entry_works(self):
        """What stands in the file starts a hub that answers."""
        self.manifest.write_text('{"toolsets": {"clock": {"module": "time"}}}')
        self.run_on("connect", "cursor")
        entry = json.loads((self.home / ".cursor/mcp.json").read_text())["mcpServers"]["patchbay"]
        self.assertEqual(entry["args"], ["serve", "--stdio", "--config", str(self.manifest)])
        rows = self.cli("list", "tools", "--json", "--config", self.home / ".cursor/mcp.json")
        self.assertIn("clock__now", rows.stdout)

    def test_no_circle(self):
        self.manifest = self.put("cursor")
        self.assertIn("start itself", self.run_on("connect", "cursor", code=CONFIG).stderr)
        installed = self.home / ".config/patchbay/patchbay.yaml"
        installed.parent.mkdir(parents=True)
        installed.symlink_to(self.manifest)
        self.assertIn("start itself", self.cli("connect", "cursor", modules=False).stderr)
        self.run_on("connect", "nobody", code=USAGE)


if __name__ == "__main__":
    main()
