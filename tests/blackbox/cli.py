# SPDX-License-Identifier: Apache-2.0
"""The command line beside serving: list, call, check, module inspect, version, help, exit codes (S2.31)."""

import contextlib
import json
import os
import re
import shutil
import socket
import subprocess
import threading

from mcp import (
    MARKER,
    META_TOOLS,
    TIMEOUT,
    HubTest,
    compile_plugin,
    fixture,
    hub_command,
    hub_environment,
    main,
    module_folder,
    tool,
)

OK, USAGE, CONFIG, UNREACHABLE, FAILED = 0, 2, 3, 5, 6

TOOLSETS = {
    "alpha": fixture(tool("one", description="The first."), "failed", description="Letters."),
    "beta": fixture("two", active=False),
}


class List(HubTest):
    def rows(self, *arguments, **options):
        done = self.cli("list", *arguments, "--json", **options)
        self.assertEqual(done.returncode, OK, done.stderr)
        return json.loads(done.stdout)

    def test_toolsets(self):
        rows = self.rows("toolsets", toolsets=TOOLSETS)
        self.assertEqual([(r["key"], r["active"]) for r in rows], [("alpha", True), ("beta", False)])
        self.assertEqual(rows[0]["module"], "fixture")

    def test_toolsets_are_in_order(self):
        keys = ["m", "z", "a", "k-1", "k", "zz", "b"]
        rows = self.rows("toolsets", toolsets={key: fixture("one") for key in keys})
        self.assertEqual([r["key"] for r in rows], sorted(keys))

    def test_tools(self):
        rows = self.rows("tools", toolsets=TOOLSETS)
        self.assertEqual([r["name"] for r in rows], META_TOOLS + ["alpha__failed", "alpha__one"])
        self.assertEqual(rows[-1]["description"], "The first.")

    def test_modules_that_no_file_names(self):  # S4.38; what cannot do without configuration is none
        rows = {r["key"]: r for r in self.rows("toolsets")}
        self.assertTrue(rows["time"]["active"])
        self.assertNotIn("files", rows)
        rows = {r["key"]: r for r in self.rows("toolsets", env={"PATCHBAY_TIME_ENABLED": "false"})}
        self.assertEqual(rows["time"]["state"], "off")
        self.assertNotIn("time__now", [r["name"] for r in self.rows("tools", env={"PATCHBAY_TIME_ENABLED": "no"})])

    def test_modules(self):
        rows = {r["name"]: r for r in self.rows("modules", toolsets=TOOLSETS)}
        self.assertIn("fixture", rows)
        self.assertIn("mcp_upstream", rows)
        self.assertEqual(rows["fixture"]["version"], "1.0.0")

    def test_tools_is_the_default(self):
        self.assertEqual(self.rows(toolsets=TOOLSETS), self.rows("tools", toolsets=TOOLSETS))

    def test_for_people(self):
        done = self.cli("list", "tools", toolsets=TOOLSETS)
        self.assertEqual(done.returncode, OK)
        self.assertSays(done.stdout, "alpha__one", "The first.")
        self.assertNotIn("\x1b", done.stdout)

    def test_upstream_tools(self):
        recorder = self.recorder()
        names = [r["name"] for r in self.rows("tools", toolsets={"up": recorder.toolset()})]
        self.assertIn("up__echo", names)

    def test_profile(self):
        manifest = {"toolsets": TOOLSETS, "profiles": {"dotted": {"naming": "dot", "meta_tools": False}}}
        rows = self.rows("tools", "--profile", "dotted", manifest=manifest)
        self.assertEqual([r["name"] for r in rows], ["alpha.failed", "alpha.one"])
        done = self.cli("list", "--profile", "doted", manifest=manifest)
        self.assertEqual(done.returncode, CONFIG)
        self.assertEqual(done.stdout, "")
        self.assertSays(done.stderr, "doted")

    def test_what_is_broken(self):
        """All else is listed; what is missing is named, with the reason, and the exit code says so."""
        toolsets = {
            "alpha": fixture("one"),
            "gone": {"command": "patchbay-none"},
            "wrong": {"url": "ftp://x"},
            "lost": {"module": "nobody"},
            "kept": {"command": "patchbay-none-either", "active": False},
            "denied": {"module": "nobody"},
        }
        for word in ("tools", "toolsets"):
            done = self.cli("list", word, "--json", "--deny", "denied", toolsets=toolsets)
            self.assertEqual(done.returncode, UNREACHABLE, done.stderr)
            self.assertIn("alpha", done.stdout)
            json.loads(done.stdout)
            gone, lost, wrong = sorted(done.stderr.strip().splitlines())
            self.assertSays(gone, 'toolset "gone"', "patchbay-none")
            self.assertSays(lost, 'toolset "lost"', "nobody")
            self.assertSays(wrong, 'toolset "wrong"', "unix://")
        done = self.cli("list", "toolsets", toolsets=toolsets)
        self.assertRegex(done.stdout, r"gone +failed: .*patchbay-none")

    def test_why_a_toolset_is_inactive(self):
        """The line of the manifest that keeps it out; nothing where that is what was asked for."""
        keys = ("one", "two", "three", "denied", "waits", "off")
        toolsets = {key: fixture("x") for key in keys} | {"waits": fixture("x", active=False), "off": fixture("x", enabled=False)}
        profiles = {"default": {}, "dev": {"policy": {"allow": ["one", "three"], "max_active": 1}}}
        manifest = {"toolsets": toolsets, "policy": {"max_active": 2, "deny": ["denied"]}, "profiles": profiles}
        full, dev = "policy.max_active (2) is reached", "profiles.dev.policy"
        cases = {
            "default": {"two": full, "denied": "denied by policy.deny"},
            "dev": {"two": f"not in {dev}.allow", "three": f"{dev}.max_active (1) is reached", "denied": "denied by policy.deny",
                    "waits": f"not in {dev}.allow"},
        }
        for profile, reasons in cases.items():
            rows = self.rows("toolsets", "--profile", profile, manifest=manifest)
            self.assertEqual({row["key"]: row["reason"] for row in rows if "reason" in row}, reasons)
            for row in rows:
                reason = reasons.get(row["key"])
                self.assertEqual(row["state"] == "inactive" and ": " + str(reason) in row["summary"], reason is not None, row)

    def test_names_of_toolsets_that_nobody_knows(self):
        done = self.cli("list", "--toolsets", "alpha,alfa", toolsets=TOOLSETS)
        self.assertEqual(done.returncode, UNREACHABLE)
        self.assertSays(done.stderr, '"alfa"', 'did you mean "alpha"')
        self.assertIn("alpha__one", done.stdout)

    def test_terminal_escapes_of_a_server_are_not_printed(self):  # U17
        hostile = tool("one", description="red \u001b[31m\u0007 \u202e alarm")
        done = self.cli("list", "tools", toolsets={"alpha": fixture(hostile)})
        self.assertEqual(done.returncode, OK)
        self.assertFalse(re.search("[\x00-\x08\x0b-\x1f\x7f]", done.stdout))


class SlowToStart(HubTest):
    """A server that has to be downloaded: no time but its own startup_timeout ends the wait for it."""

    def entry(self, recorder):
        """A server that does nothing until release() is called."""
        self.gate = self.home / "gate"
        os.mkfifo(self.gate)
        entry = recorder.toolset()
        words = [entry["command"], *entry["args"]]
        return {**entry, "command": "sh", "args": ["-c", f'read -r line < {self.gate}; exec "$@"', "sh", *words]}

    def release(self):
        self.gate.write_text("go\n", encoding="utf-8")

    def start(self, *words):
        """A command, and its first line on stderr."""
        manifest = {"toolsets": {"up": self.entry(self.recorder())}, "limits": {"discover_timeout": "1ms"}}
        command = hub_command(manifest=manifest, home=self.home)
        process = subprocess.Popen(
            [command[0], *words, *command[1:]], cwd=self.home, text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=hub_environment(self.home, {MARKER: "slow"}),
        )
        self.addCleanup(process.kill)
        return process, process.stderr.readline()

    def test_commands_wait_and_say_so(self):
        for words, wanted in ((["list", "tools"], "up__echo"), (["check", "--connect"], "up: 11 tools"),
                              (["list", "toolsets"], "11 tools"), (["call", "up__echo"], "echo")):
            with self.subTest(words=words):
                process, first = self.start(*words)
                self.assertSays(first, "waiting for 1 server to start: up", "startup_timeout")
                self.release()
                out, err = process.communicate(timeout=TIMEOUT)
                self.assertEqual(process.returncode, OK, err)
                self.assertIn(wanted, out)
                self.gate.unlink()
                shutil.rmtree(self.home / ".cache")

    def test_a_call_waits_for_its_own_server_only(self):
        process, first = self.start("call", "other__echo")
        self.assertSays(first, "waiting for 1 server")
        process.terminate()
        process.communicate(timeout=TIMEOUT)
        entry = json.loads((self.home / "patchbay.json").read_text(encoding="utf-8"))["toolsets"]["up"]
        other = self.recorder()
        done = self.cli("call", "other__echo", toolsets={"up": entry, "other": other.toolset(), "own": fixture("x")})
        self.assertEqual(done.returncode, OK, done.stderr)
        done = self.cli("call", "own__x", toolsets={"up": entry, "other": other.toolset(), "own": fixture("x")})
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(len(other.sync().starts), 1)  # nobody is started for a tool that the hub has itself


class Output(HubTest):
    def test_what_cannot_be_written(self):
        for command in (["help"], ["check"], ["list", "tools"], ["call", "alpha__one", "{}"]):
            with self.subTest(command), open("/dev/full", "w", encoding="utf-8") as full:
                options = hub_command(manifest={"toolsets": TOOLSETS}, home=self.home)
                done = subprocess.run(
                    [options[0], *command, *(options[1:] if command[0] != "help" else [])],
                    stdin=subprocess.DEVNULL, stdout=full, stderr=subprocess.PIPE, text=True, timeout=TIMEOUT,
                    env=hub_environment(self.home, {}), check=False,
                )
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("not all of the output could be written", done.stderr)


class Call(HubTest):
    def test_a_result_for_people(self):
        done = self.cli("call", "alpha__one", '{"x": 1}', toolsets=TOOLSETS)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn("fixture", done.stdout)

    def test_a_result_as_json_is_the_bytes(self):
        done = self.cli("call", "alpha__one", '{"x": 1e400, "y":1.10}', "--json", toolsets=TOOLSETS)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertIn('"arguments":{"x": 1e400, "y":1.10}', done.stdout)
        json.loads(done.stdout)

    def test_arguments_from_standard_input(self):
        done = self.cli("call", "alpha__one", "-", "--json", toolsets=TOOLSETS, stdin='{"from": "stdin"}')
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(json.loads(done.stdout)["structuredContent"]["arguments"], {"from": "stdin"})

    def test_arguments_as_words(self):
        """Text, unless the schema wants something else and that is it; ":=" is JSON."""
        schema = {"type": "object", "properties": {
            "n": {"type": "integer"}, "s": {"type": "string"}, "b": {"type": "boolean"}, "l": {"type": "array"},
            "o": {"type": ["object", "null"]}, "either": {"type": ["string", "number"]}}}
        toolsets = {"alpha": fixture({"name": "one", "inputSchema": schema})}

        def arguments(*words, code=OK):
            done = self.cli("call", "alpha__one", *words, "--json", toolsets=toolsets)
            self.assertEqual(done.returncode, code, done.stderr)
            return json.loads(done.stdout)["structuredContent"]["arguments"] if code == OK else done.stderr

        self.assertEqual(arguments("n=3", "s=3", "b=true", "l=[1,2]", "o=null", "either=4", "x=5", "y:=[6]", "u=a=b"), {
            "n": 3, "s": "3", "b": True, "l": [1, 2], "o": None, "either": "4", "x": "5", "y": [6], "u": "a=b"})
        self.assertEqual(arguments("s=", "x=ä b"), {"s": "", "x": "ä b"})
        for words, saying in ((("s=1", "s=2"), "s is given twice"), (("y:={",), "y: what follows"), (("s=1", "two"), '"two"'),
                              (("{}", "s=1"), "too many"), (("=1",), "not JSON"),
                              (("s",), '"s" is not JSON, and not NAME=VALUE'), (("s", "1"), '"1" is one argument too many: wanted NAME=VALUE')):
            self.assertIn(saying, arguments(*words, code=USAGE))

    def test_without_arguments(self):
        self.assertEqual(self.cli("call", "alpha__one", toolsets=TOOLSETS).returncode, OK)

    def test_a_tool_error(self):
        done = self.cli("call", "alpha__failed", toolsets=TOOLSETS)
        self.assertEqual(done.returncode, FAILED)
        self.assertSays(done.stderr + done.stdout, "it broke")

    def test_an_unknown_tool(self):
        done = self.cli("call", "alpha__on", toolsets=TOOLSETS)
        self.assertEqual(done.returncode, FAILED)
        self.assertSays(done.stderr, "unknown tool", "alpha__on", 'did you mean "alpha__one"')
        self.assertEqual(done.stderr.count("did you mean"), 1, done.stderr)

    def test_why_a_tool_is_unknown(self):
        """Who runs the hub may know; a client is told what it can do about it, and no more."""
        toolsets = {
            "alpha": fixture("one", "hidden", "veiled", tools={"deny": ["hidden"], "overrides": {"veiled": {"hide": True}}}),
            "beta": fixture("two", active=False),
            "off": fixture("three", enabled=False),
            "denied": fixture("four"),
            "wrong": {"url": "ftp://x"},
        }
        cases = {
            "alpha__hidden": ("tools.deny", "patchbay.json:"),
            "alpha__veiled": ("tools.overrides", "patchbay.json:"),
            "beta__two": ("not active", "--toolsets beta"),
            "beta:two": ("not active", "--toolsets beta"),
            "off__three": ("switched off", "patchbay.json:", "patchbay enable off"),
            "denied__four": ("not active", "denied by policy"),
            "wrong__x": ("cannot be used (", "patchbay.json:", "url: wants", "unix://"),
            "alhpa__one": ('did you mean "alpha__one"',),
            **{name: ('did you mean "alpha__one"',) for name in ("alpha:one", "alpha.one", "alpha:noe", "one")},
            "alpha": ("the name of a toolset", "patchbay list tools"),
            "nothing-like-it": ("patchbay list tools",),
        }
        cases["time__now"] = ('there is a plugin "time"', "toolsets: {time: {}}")
        manifest = {"toolsets": toolsets, "policy": {"deny": ["denied"]}}
        for name, says in cases.items():
            with self.subTest(name):
                done = self.cli("call", name, manifest=manifest)
                self.assertEqual(done.returncode, FAILED)
                self.assertEqual(done.stdout, "")
                self.assertSays(done.stderr, "unknown tool", *says)
                self.assertEqual(done.stderr.count("\n"), 1, done.stderr)
                self.assertNotIn("enable_toolset", done.stderr)
                self.assertEqual(done.stderr.count("toolset \""), 1 if "toolset \"" in done.stderr else 0, done.stderr)
        client = self.legacy(manifest=manifest)
        told = {
            "beta__two": '; toolset "beta" is off: call enable_toolset with {"toolsets": ["beta"]}, then try again',
            "wrong__x": '; toolset "wrong" cannot be used: url: wants an address that begins with http://, https://, ws://, wss:// or unix://',
            **{name: '; did you mean "alpha__one"?' for name in ("alhpa__one", "alpha:one", "alpha.one", "alpha:noe", "one")},
        }
        for name in cases:
            self.assertEqual(client.call(name).error["message"], f"Unknown tool: {name}" + told.get(name, ""))
        done = self.cli("call", "files__list")
        self.assertEqual(done.returncode, FAILED)
        self.assertSays(done.stderr, "unknown tool", 'there is a plugin "files"', '"roots" is missing', "toolsets: {files: {config: ")

    def test_who_could_not_be_asked(self):
        """It is said beside what is known of the name."""
        toolsets = {"beta": fixture("first"), "gone": {"command": "/nowhere/x"}}
        done = self.cli("call", "firts", manifest={"toolsets": toolsets, "hub": {"naming": "none"}})
        self.assertEqual(done.returncode, FAILED)
        self.assertSays(done.stderr, 'did you mean "first"? (toolsets that cannot be reached: toolset "gone": cannot start "/nowhere/x"')

    def test_profile(self):
        manifest = {"toolsets": TOOLSETS, "profiles": {"dotted": {"naming": "dot"}}}
        for name, code in (("alpha.one", OK), ("alpha__one", OK), ("alpha.on", FAILED)):
            done = self.cli("call", name, "--profile", "dotted", manifest=manifest)
            self.assertEqual(done.returncode, code, done.stderr)
        self.assertSays(done.stderr, 'did you mean "alpha.one"')
        self.assertEqual(self.cli("call", "alpha.one", manifest=manifest).returncode, FAILED)
        done = self.cli("call", "alpha.one", "--profile", "nobody", manifest=manifest)
        self.assertEqual(done.returncode, CONFIG)
        self.assertSays(done.stderr, "nobody")

    def test_a_tool_of_an_inactive_toolset(self):
        self.assertEqual(self.cli("call", "beta__two", toolsets=TOOLSETS).returncode, FAILED)
        done = self.cli("call", "beta__two", "--toolsets", "ALL", toolsets=TOOLSETS)
        self.assertEqual(done.returncode, OK, done.stderr)

    def test_arguments_that_are_not_an_object(self):
        for bad in ("{", "[]", "7", "text"):
            done = self.cli("call", "alpha__one", bad, toolsets=TOOLSETS)
            self.assertEqual(done.returncode, USAGE, bad)
            self.assertSays(done.stderr, "json")

    def test_an_upstream(self):
        recorder = self.recorder()
        done = self.cli("call", "up__echo", '{"a": 1}', "--json", toolsets={"up": recorder.toolset()})
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(json.loads(done.stdout)["structuredContent"], {"a": 1})

    def test_an_upstream_that_is_not_there(self):
        done = self.cli("call", "up__echo", toolsets={"up": {"command": "patchbay-no-such-command"}})
        self.assertEqual(done.returncode, FAILED)
        self.assertSays(done.stdout, 'toolset "up"', "patchbay-no-such-command")


class Check(HubTest):
    def test_a_good_file(self):
        path = self.home / "hub.yaml"
        path.write_text("toolsets:\n  alpha: {module: fixture}\n")
        done = self.cli("check", path)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertSays(done.stdout, "1 toolset")

    def test_a_file_without_toolsets(self):
        """Such a hub serves every module that it finds: that is what is said, not that there are none."""
        path = self.home / "hub.yaml"
        path.write_text("hub: {name: x}\n")
        done = self.cli("check", path)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertSays(done.stdout, "no toolsets listed", "every plugin", "1 profile")
        self.assertNotIn("0 toolsets", done.stdout)

    def test_a_file_with_an_empty_map(self):
        """Somebody said what there is to serve: nothing."""
        for text in ("toolsets: {}\n", "toolsets:\n", "mcpServers: {}\n"):
            path = self.home / "hub.yaml"
            path.write_text(text)
            done = self.cli("check", path)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertSays(done.stdout, "0 toolsets", "1 profile")

    def test_it_starts_nothing(self):
        recorder = self.recorder()
        done = self.cli("check", toolsets={"up": recorder.toolset(lazy=False)})
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(recorder.sync().starts, [])

    def test_connect(self):
        recorder = self.recorder()
        done = self.cli("check", "--connect", toolsets={"up": recorder.toolset()})
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertSays(done.stdout, "up", "11 tools")

    def test_connect_to_one_that_is_not_there(self):
        done = self.cli("check", "--connect", toolsets={"up": {"command": "patchbay-none"}, "alpha": fixture("x")})
        self.assertEqual(done.returncode, UNREACHABLE)
        self.assertSays(done.stdout + done.stderr, "up", "patchbay-none", "alpha")

    def test_connect_to_all(self):
        """Each entry is tried and named, whichever are active, and whatever is wrong with others."""
        recorder = self.recorder()
        toolsets = {
            "alpha": fixture("one"),
            "asleep": recorder.toolset(active=False),
            "bad": {"url": "ftp://x"},
            "gone": {"command": "patchbay-none", "active": False},
            "off": {"command": "patchbay-none", "enabled": False},
        }
        manifest = {"toolsets": toolsets, "policy": {"max_active": 1}, "hub": {"startup": "dynamic"}}
        done = self.cli("check", "--connect", manifest=manifest)
        self.assertEqual(done.returncode, CONFIG, done.stderr)
        self.assertSays(done.stderr, "patchbay.json:", '"bad"', "unix://")
        self.assertEqual((done.stdout + done.stderr).count("url: wants"), 1, done.stdout + done.stderr)
        lines = dict(line.split(": ", 1) for line in done.stdout.splitlines())
        self.assertEqual(list(lines), sorted(toolsets))
        self.assertEqual(lines["alpha"], "1 tool")
        self.assertEqual(lines["asleep"], "11 tools")
        self.assertSays(lines["bad"], "failed")
        self.assertSays(lines["gone"], "failed", "patchbay-none")
        self.assertEqual(lines["off"], "off")
        del toolsets["bad"]
        done = self.cli("check", "--connect", manifest=manifest)
        self.assertEqual(done.returncode, UNREACHABLE, done.stderr)
        del toolsets["gone"]
        done = self.cli("check", "--connect", manifest=manifest)
        self.assertEqual(done.returncode, OK, done.stderr)

    def test_connect_to_one_that_does_not_answer(self):
        silent = {"command": "sleep", "args": ["600"], "startup_timeout": "300ms"}
        done = self.cli("check", "--connect", toolsets={"alpha": fixture("one"), "silent": silent})
        self.assertEqual(done.returncode, UNREACHABLE, done.stderr)
        self.assertSays(done.stdout, "alpha: 1 tool", "silent: failed", "0.3 s", "startup_timeout")

    def test_tls_where_none_is_spoken(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            def refuse():
                with contextlib.suppress(OSError):
                    while True:
                        peer = server.accept()[0]
                        peer.recv(1000)
                        peer.sendall(b"HTTP/1.1 400 Bad Request\r\n\r\n")
                        peer.close()

            threading.Thread(target=refuse, daemon=True).start()
            for scheme in ("https", "wss"):
                url = f"{scheme}://127.0.0.1:{server.getsockname()[1]}/mcp"
                done = self.cli("check", "--connect", toolsets={"up": {"url": url}})
                self.assertEqual(done.returncode, UNREACHABLE, done.stderr)
                self.assertSays(done.stdout, url, "does not speak TLS")
                self.assertNotIn("SSL routines", done.stdout + done.stderr)

    def test_without_a_file(self):
        done = self.cli("check", modules=False)
        self.assertEqual(done.returncode, USAGE)
        self.assertSays(done.stderr, "no file to check", "check FILE")


class Module(HubTest):
    def test_inspect(self):
        path = compile_plugin(self.home)
        done = self.cli("module", "inspect", path, modules=False)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertSays(done.stdout, "fixture", "1.0.0", "Does what the tests tell it.")
        self.assertRegex(done.stdout.lower(), r"abi:? +1\.0")
        self.assertRegex(done.stdout, r"(?m)^tools:$\n^ping$")

    def test_inspect_with_a_configuration(self):
        """As it is, from a file, from stdin, of a manifest; each is what the instance is made with."""
        path = compile_plugin(self.home)
        config = json.dumps({"tools": [{"name": "greet", "description": "Greets.", "inputSchema": {"type": "object"}}]})
        (self.home / "config.json").write_text(config)
        (self.home / "own.json").write_text(json.dumps({"toolsets": {"other": {"command": "/bin/false"}, "mine": {"module": "fixture", "config": json.loads(config)}}}))
        for arguments, stdin in ((["--config-json", config], None), (["--config-json", "config.json"], None), (["--config-json", "-"], config + "\n"),
                                 (["--config", "own.json"], None)):
            with self.subTest(arguments):
                done = self.cli("module", "inspect", path, *arguments, stdin=stdin, modules=False)
                self.assertEqual((done.returncode, done.stderr), (OK, ""))
                self.assertRegex(done.stdout, r"(?m)^greet +Greets\.$")

    def test_inspect_says_what_is_left_out(self):
        config = {"tools": [{"name": "bad", "inputSchema": {"type": "object", "required": 1}}]}
        done = self.cli("module", "inspect", compile_plugin(self.home), "--config-json", json.dumps(config), modules=False)
        self.assertEqual(done.returncode, OK)
        self.assertSays(done.stderr, 'tool \\"bad\\" is left out', "/required")

    def test_inspect_what_cannot_start_and_takes_no_configuration(self):
        """No configuration would help, so none is asked for."""
        source = self.home / "lame.c"
        source.write_text(
            "#include <patchbay/toolset.h>\n"
            'static const patchbay_tool tools[] = {{.name = "walk"}};\n'
            'PATCHBAY_TOOLSET("lame", "1.0.0", "Has a tool without a handler.", tools)\n'
        )
        done = self.cli("module", "inspect", compile_plugin(self.home, "lame", source=source), modules=False)
        self.assertEqual(done.returncode, CONFIG, done.stderr)
        self.assertSays(done.stderr, 'tool "walk" has no handler')
        self.assertSays(done.stdout, "takes none")
        self.assertNotIn("not known without", done.stdout)

    def test_inspect_what_needs_a_configuration(self):
        command = f"{module_folder()}/command.so"
        done = self.cli("module", "inspect", command, modules=False)
        self.assertEqual((done.returncode, done.stderr), (OK, ""))
        self.assertSays(done.stdout, "not known without a configuration", '"tools" is missing', "--config-json")
        for config, says in (('{"tools": 1}', "config.tools"), ("{", "--config-json"), ("/nonexistent", "/nonexistent")):
            done = self.cli("module", "inspect", command, "--config-json", config, modules=False)
            self.assertEqual(done.returncode, CONFIG, config)
            self.assertSays(done.stderr, says)

    def test_the_modules_that_come_with_the_hub(self):
        done = self.cli("module", "inspect", f"{module_folder()}/mcp_upstream.so", modules=False)
        self.assertEqual(done.returncode, OK, done.stderr)

    def test_broken_ones(self):  # G01
        text = self.home / "text.so"
        text.write_text("this is no library")
        whole = compile_plugin(self.home).read_bytes()
        cut = self.home / "cut.so"
        cut.write_bytes(whole[: len(whole) // 2])
        empty = self.home / "empty.so"
        empty.write_bytes(b"")
        for path, says in ((text, "not a shared object"), (cut, ""), (empty, "empty"), (self.home / "none.so", "no such file")):
            path.exists() and path.chmod(0o644)
            done = self.cli("module", "inspect", path, modules=False)
            self.assertEqual(done.returncode, CONFIG, path)
            self.assertSays(done.stderr, path.name, says)
            self.assertEqual(len(done.stderr.strip().splitlines()), 1)


class VersionAndHelp(HubTest):
    def test_version(self):
        for arguments in (["version"], ["--version"], ["-V"]):
            done = self.cli(*arguments, modules=False)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertRegex(done.stdout, r"^patchbay \d+\.\d+\.\d+")

    def test_an_unknown_letter(self):
        """Nothing is near a single letter: a guess would be as good as any other."""
        for word in ("-v", "-x", "-C"):
            done = self.cli("serve", word, modules=False)
            self.assertEqual(done.returncode, USAGE)
            self.assertSays(done.stderr, f'"{word}"', "patchbay help")
            self.assertNotIn("did you mean", done.stderr)

    def test_a_long_one(self):
        """Its dashes are like those of all others: they make it near to none."""
        for words, near in ((("serve", "--tls"), None), (("serve", "--conifg"), "--config"), (("help", "serv"), "serve"), (("help", "frobnicate"), None)):
            done = self.cli(*words, modules=False)
            self.assertEqual(done.returncode, USAGE, words)
            self.assertSays(done.stderr, words[1], f'did you mean "{near}"?' if near else "see patchbay help")

    def test_version_stands_alone(self):
        for words in (("--version=1",), ("-V=1",), ("list", "--version"), ("serve", "--version=1")):
            done = self.cli(*words, modules=False)
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""), words)
            self.assertSays(done.stderr, "stands alone and takes no value: patchbay --version")

    def test_help(self):
        for arguments in (["help"], ["--help"], ["-h"]):
            done = self.cli(*arguments, modules=False)
            self.assertEqual(done.returncode, OK)
            for word in ("serve", "list", "call", "check", "module", "token", "version"):
                self.assertRegex(done.stdout, rf"\n  {word} ")
            self.assertNotRegex(done.stdout, r"\n +-")  # no options: each command has its own page
            self.assertSays(done.stdout, "patchbay help COMMAND")

    def test_help_on_a_command(self):
        for command in ("serve", "list", "call", "check", "module", "token", "version", "help"):
            done = self.cli("help", command, modules=False)
            self.assertEqual(done.returncode, OK, command)
            self.assertIn(command, done.stdout)
        done = self.cli("help", "nope", modules=False)
        self.assertEqual(done.returncode, USAGE)

    def test_help_shows_the_options_of_the_command(self):
        has = {
            "serve": (["--config", "--http", "--stdio", "--profile"], ["--connect", "--json", "--expires"]),
            "list": (["--config", "--json", "--profile"], ["--connect", "--http", "--stdio", "--expires"]),
            "call": (["--config", "--json", "--profile"], ["--connect", "--http", "--tokens"]),
            "check": (["--connect", "--http", "--tokens", "--profile", "--json"], ["--stdio"]),
            "status": (["--config", "--http", "--unix", "--token-file", "--ca", "--json", "--plugins-dir"], ["--tokens", "--stdio"]),
            "token": (["--expires", "--tokens", "--json", "--config"], ["--connect", "--naming"]),
            "module": (["--config", "--config-json"], ["--json", "--http"]),
            "module-host": (["--config-json", "--memory-limit"], ["--config", "--plugins-dir", "--json"]),
            "version": (["--json"], ["--config"]),
        }
        for command, (own, others) in has.items():
            text = self.cli("help", command, modules=False).stdout.split("options:")[1]
            for option in [*own, "--help"]:
                self.assertRegex(text, rf"\n  {option}(?![\w-])", command)
            for option in others:
                self.assertNotRegex(text, rf"\n  {option}(?![\w-])", command)
            for option in re.findall(r"\n  (--?[\w-]+)", text):
                self.assertEqual(len(re.findall(rf"\n  {option}(?![\w-])", text)), 1, (command, option))
        text = self.cli("help", "serve", modules=False).stdout
        self.assertIn("--config, -c FILE", text)
        self.assertIn("--help, -h", text)

    def test_help_says_what_an_option_is_to_the_command(self):
        text = {command: self.cli("help", command, modules=False).stdout for command in ("serve", "status", "token", "module-host")}
        self.assertSays(text["serve"], "--startup MODE", "default:", "dynamic:", "static:", "see help token")
        self.assertRegex(text["serve"], r"--http \[HOST:\]PORT +serve over HTTP")
        self.assertNotIn("serve o", text["status"])
        self.assertRegex(text["status"], r"--http URL\|\[HOST:\]PORT +ask .*may be repeated")
        self.assertRegex(text["status"], r"--unix PATH +ask .*may be repeated")
        self.assertNotIn("see help token", text["token"])
        self.assertRegex(text["module-host"], r"--memory-limit SIZE .*128MiB")

    def test_help_on_what_a_command_does(self):
        for words in (["token", "new"], ["token", "revoke"], ["module", "inspect"], ["list", "tools"]):
            done = self.cli("help", *words, modules=False)
            self.assertEqual((done.returncode, done.stdout), (OK, self.cli("help", words[0], modules=False).stdout), words)
        for words in (["token", "make"], ["token", "e"], ["serve", "new"], ["token", "new", "list"]):
            done = self.cli("help", *words, modules=False)
            self.assertEqual((done.returncode, done.stdout), (USAGE, ""), words)
            self.assertSays(done.stderr, words[-1], "one argument too many")


if __name__ == "__main__":
    main()
