# SPDX-License-Identifier: Apache-2.0
"""What doctor says of an installation, and what it advises."""

import json
import os
import socket
import subprocess

from mcp import HubTest, main

OK, USAGE, CONFIG = 0, 2, 3


class Doctor(HubTest):
    def findings(self, code, toolsets=None, manifest=None, arguments=(), **options):
        done = self.cli("doctor", "--json", *arguments, toolsets=toolsets, manifest=manifest, **options)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return [(row["state"], row["subject"], row["text"], row.get("cure", "")) for row in json.loads(done.stdout)]

    def problems(self, *own, **options):
        return [row for row in self.findings(CONFIG, *own, **options) if row[0] == "problem"]

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

    def test_programs_of_the_toolsets_folder(self):
        """A path is relative to `cwd`, wherever the doctor is asked."""
        self.program("serve.sh")
        manifest = self.home / "there" / "hub.json"
        manifest.parent.mkdir()
        manifest.write_text(json.dumps({"toolsets": {"a": {"command": "../bin/serve.sh"}, "b": {"command": "./serve.sh", "cwd": "../bin"}}}))
        done = self.cli("doctor", "--json", "--config", manifest, modules=False)
        self.assertEqual(done.returncode, OK, done.stdout + done.stderr)
        self.assertEqual([row["text"] for row in json.loads(done.stdout) if row["subject"].startswith("toolset")], [
            "../bin/serve.sh is there", "./serve.sh is there"])
        (row,) = self.problems({"a": {"command": "sh", "cwd": "/nowhere/dir"}})
        self.assertSays(row[2], 'working folder "/nowhere/dir"', "is not there")
        (row,) = self.problems({"a": {"command": str(self.home / "bin")}})
        self.assertSays(row[2], "is a folder")

    def test_scripts(self):
        """What runs a script must be there, too; a line that Windows ended names nothing."""
        folder = self.home / "bin"
        folder.mkdir()
        for number, (line, said) in enumerate((
                (b"#!/bin/sh\n", None), (b"#! /usr/bin/env -S sh -e\n", None), (b"#!/usr/bin/env A=1 sh", None), (b"\x7fELF", None), (b"", None), (b"#!\n", None),
                (b"#!/nowhere/python3 -u\n", "is run by \"/nowhere/python3\""), (b"#!/usr/bin/env nothing-like-it\n", "is run by \"nothing-like-it\""),
                (b"#!/bin/sh\r\n", "line ends of Windows"), (b"#!/usr/bin/env python3\r\n", "line ends of Windows"))):
            with self.subTest(line=line):
                script = folder / f"s{number}"
                script.write_bytes(line)
                script.chmod(0o755)
                found = [row[2] for row in self.findings(CONFIG if said else OK, {"a": {"command": str(script)}}) if row[0] == "problem"]
                self.assertEqual(len(found), 1 if said else 0, found)
                if said:
                    self.assertSays(found[0], said)

    def test_a_program_that_nobody_may_execute(self):
        script = self.home / "server.py"
        script.write_text("#!/usr/bin/env python3\n", encoding="utf-8")
        (row,) = self.problems({"a": {"command": str(script)}})
        self.assertSays(row[2], "server.py", "is not executable")
        self.assertSays(row[3], "chmod +x")

    def test_plugins(self):
        (row,) = self.problems({"a": {"module": "nobody"}})
        self.assertIn("nobody", row[2])
        self.assertSays(row[3], "plugins folder")
        (row,) = self.problems({"a": {"module": "tiem"}})
        self.assertSays(row[2], 'did you mean "time"')

    def test_a_plugin_that_is_refused(self):
        folder = self.home / "own"
        folder.mkdir()
        plugin = folder / "mine.so"
        plugin.write_bytes(b"")
        plugin.chmod(0o666)
        (row,) = self.problems(manifest={"modules": {"paths": [str(folder)]}, "toolsets": {"a": {"module": "mine"}}}, modules=False)
        self.assertEqual(row[1], "toolset a")
        self.assertSays(row[2], "was refused", "chmod go-w")

    def test_toolsets(self):
        """What `check` says of them: once each, with the line, and of which toolset."""
        toolsets = {"a": {"module": "time", "config": {"zoen": "UTC"}}, "b": {"url": "ftp://x"}, "c": {"module": "time"}}
        rows = self.problems(toolsets)
        self.assertEqual([row[1] for row in rows], ["toolset a", "toolset b"])
        for row, word in zip(rows, ("config.zoen", "url: wants"), strict=True):
            self.assertRegex(row[2], r"patchbay\.json:\d+: " + word)
            self.assertEqual(row[3], "correct that line")
        self.assertEqual(len(self.problems(toolsets, arguments=["--connect"])), 2)

    def test_policies(self):
        (row,) = self.warnings(manifest={"toolsets": {"clock": {"module": "time"}}, "policy": {"deny": ["clokc"]}})
        self.assertSays(row[2], "policy.deny", 'did you mean "clock"')

    def test_toolsets_that_have_no_place(self):
        """They are on in the manifest, and not active when the hub has started: `check` says the same."""
        manifest = {"toolsets": {key: {"module": "time"} for key in ("one", "two", "three", "four")} | {"waits": {"module": "time", "active": False}},
                    "policy": {"max_active": 3, "deny": ["two"]}, "profiles": {"default": {}, "dev": {"policy": {"max_active": 1}}, "still": {"startup": "dynamic", "policy": {"max_active": 1}}}}
        self.assertEqual(self.warnings(manifest={**manifest, "profiles": {"default": {}}}), [])
        (row,) = self.warnings(manifest=manifest)
        text = ('profile "dev": the profile\'s policy.max_active is 1, so these enabled toolsets are not active at start: one,three; '
                "raise it, or set `active: false` for toolsets that may wait")
        self.assertEqual(row[2], text)
        done = self.cli("check", manifest=manifest)
        self.assertEqual((done.returncode, done.stderr), (0, f"patchbay: warning: {text}\n"))
        (row,) = self.warnings(manifest={**manifest, "policy": {"max_active": 3}, "profiles": {"default": {}}})
        self.assertSays(row[2], 'profile "default": policy.max_active is 3', "start: two;")

    def test_a_start_without_any_toolset(self):
        (row,) = self.problems(manifest={"toolsets": {"clock": {"module": "time"}}, "hub": {"toolsets": ["clokc"]}})
        self.assertSays(row[2], 'did you mean "clock"')

    def test_manifests(self):
        (row,) = self.problems({"a": {"command": "sh", "env": {"A": "${NOT_SET_HERE}"}}})
        self.assertIn("NOT_SET_HERE", row[2])
        self.assertIn("variable", row[3])
        (row,) = self.problems(manifest={"toolset": {}})
        self.assertIn("toolsets", row[2])
        self.assertEqual(row[3], "")  # the sentence says what to do

    def test_what_it_finds_is_said_once(self):
        """Neither on stderr, too, nor as what comes of it."""
        servers = {"mcpServers": {"a": {"command": "sh", "env": {"A": "${NOT_SET_HERE}"}}, "gone": {"command": "/nowhere/x"}}}
        done = self.cli("doctor", "--connect", "--json", manifest=servers)
        self.assertEqual(done.returncode, CONFIG, done.stdout + done.stderr)
        rows = [row for row in json.loads(done.stdout) if row["state"] == "problem"]
        self.assertEqual([row["subject"] for row in rows], ["manifest", "toolset gone"])
        self.assertEqual(done.stderr, "")

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

    def program(self, name, *lines):
        path = self.home / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text("\n".join(("#!/bin/sh", *lines)) + "\n", encoding="utf-8")
        path.chmod(0o755)
        return {"PATH": f"{path.parent}:{os.environ['PATH']}"}

    def warnings(self, *own, code=OK, **options):
        return [row for row in self.findings(code, *own, **options) if row[0] == "warning"]

    def test_versions(self):
        self.program("npx")
        for version, is_old in (("v16.20.2", True), ("v17.9", True), ("v18.0.0", False), ("v22.1.0", False), ("of my own", False)):
            rows = self.warnings({"a": {"command": "npx"}}, env=self.program("node", f"echo {version}"))
            self.assertEqual([row[2] for row in rows], [f"node is {version}; most servers want 18.0 or later"] if is_old else [])
        for version, is_old in (("Python 3.9.18", True), ("Python 3.10.0", False), ("Python 4.0", False), ("Python 2.7.18", True)):
            rows = self.warnings({"a": {"command": "python3"}}, env=self.program("python3", f"echo {version}"))
            self.assertEqual(bool(rows), is_old, version)

    def test_a_program_that_says_too_much_or_nothing(self):
        (row,) = self.warnings({"a": {"command": "node"}}, env=self.program("node", "exec tail -f /dev/null"))
        self.assertSays(row[2], "says nothing within 5 s")
        rows = self.findings(OK, {"a": {"command": "node"}}, env=self.program("node", "exec yes v18.0.0"))
        self.assertIn("node is v18.0.0", [row[2] for row in rows])

    def test_proxies(self):
        def said(code, toolsets=None, **env):
            rows = self.findings(code, toolsets or {"clock": {"module": "time"}}, env=env)
            return [row[2] for row in rows if row[0] != "ok"]

        for good in ("http://proxy.example:3128", "proxy.example:3128", "http://me:secret@[::1]:80/", "socks5h://h", "http://p"):
            self.assertEqual(said(OK, HTTPS_PROXY=good), [], good)
        for bad in ("http://", "http://proxy.example:port", "http://a b:1", "http://h:999999", "http://[::1:3"):
            self.assertEqual(said(CONFIG, HTTPS_PROXY=bad), ["HTTPS_PROXY is not an address"], bad)
        self.assertSays(said(OK, http_proxy="http://a:1", HTTP_PROXY="http://b:1")[0], "differ")
        own = {"a": {"url": "http://localhost:9/mcp"}}
        self.assertSays(said(OK, own, http_proxy="http://a:1")[0], "go to the proxy")
        self.assertEqual(said(OK, own, http_proxy="http://a:1", NO_PROXY="x,127.0.0.1"), [])
        stingy = {"a": {"command": "sh", "pass_env": ["SSL_CERT_FILE", "NODE_EXTRA_CA_CERTS"]}}
        self.assertSays(said(OK, stingy, HTTPS_PROXY="http://a:1")[0], "leaves out HTTPS_PROXY")
        self.assertEqual(said(OK, {"a": {**stingy["a"], "env": {"HTTPS_PROXY": "x"}}}, HTTPS_PROXY="http://a:1"), [])

    def test_authorities(self):
        (row,) = self.problems({"clock": {"module": "time"}}, env={"NODE_EXTRA_CA_CERTS": "/nowhere/ca.pem"})
        self.assertSays(row[2], "NODE_EXTRA_CA_CERTS names /nowhere/ca.pem")

    def certificate(self, days):
        files = [str(self.home / name) for name in ("key.pem", "cert.pem")]
        subprocess.run(["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-subj", "/CN=h",
                        "-days", str(days), "-keyout", files[0], "-out", files[1]], check=True, capture_output=True)
        os.chmod(files[0], 0o600)
        return {"key": files[0], "certificate": files[1]}

    def test_certificates(self):
        for days, state in ((3, "warning"), (90, "ok")):
            rows = self.findings(OK, manifest={"listen": [{"http": "127.0.0.1:0", "tls": self.certificate(days)}]})
            self.assertIn(state, [row[0] for row in rows if row[1] == "certificates" and "good for" in row[2]])

    def test_an_address_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            (row,) = self.warnings(manifest={"listen": [{"http": f"127.0.0.1:{port}"}]})
            self.assertSays(row[2], f"listens at 127.0.0.1 port {port} already")
        self.assertEqual(self.warnings(manifest={"listen": [{"http": f"127.0.0.1:{port}"}]}), [])

    def test_folders(self):
        """A place below what is no folder is nobody's to write to."""
        rows = self.warnings({"clock": {"module": "time"}}, env={"XDG_CACHE_HOME": "/proc/nowhere"})
        self.assertEqual([row[1] for row in rows], ["cache"])
        self.assertSays(rows[0][2], "cannot be written to")

    def test_files_that_are_opened_at_the_start(self):
        """Where the hub does not start, the doctor says why."""
        clock = {"clock": {"module": "time"}}
        for key, subject in (("audit", "audit"), ("file", "log")):
            (row,) = self.problems(manifest={"toolsets": clock, "log": {key: "/nowhere/x.log"}})
            self.assertEqual(row[1], subject)
            self.assertSays(row[2], "there is no folder /nowhere")
            for good in (self.home / "new.log", "/dev/null"):
                rows = self.findings(OK, manifest={"toolsets": clock, "log": {key: str(good)}})
                self.assertEqual([row for row in rows if row[0] != "ok"], [])
        (self.home / "s.db").write_text("not a database")
        (row,) = self.problems(manifest={"toolsets": clock, "state": str(self.home / "s.db")})
        self.assertSays(row[2], "s.db is damaged")
        self.assertSays(row[3], "state import")

    def test_cures_of_listeners(self):
        (row,) = self.problems(manifest={"listen": [{"unix": "/nowhere/x.sock"}]})
        self.assertNotIn("token", row[3])
        (row,) = self.problems(manifest={"listen": [{"http": "127.0.0.1:0"}], "auth": {"tokens": "/nowhere/t.json"}})
        self.assertIn("token", row[3])

    def test_servers_that_are_started(self):
        recorder = self.recorder()
        done = self.cli("doctor", "--connect", "--json", toolsets={"a": recorder.toolset(), "b": {"command": "sh", "args": ["-c", "exit 7"]}})
        self.assertEqual(done.returncode, CONFIG, done.stdout + done.stderr)
        rows = {(row["state"], row["subject"]): row["text"] for row in json.loads(done.stdout)[-2:]}
        self.assertRegex(rows[("ok", "toolset a")], r"tools? after \d+\.\d s$")
        self.assertSays(rows[("problem", "toolset b")], "exited with code 7")
        self.assertRegex(json.loads(done.stdout)[-1]["cure"], r"patchbay check \S+patchbay\.json --connect --log-level info")


if __name__ == "__main__":
    main()
