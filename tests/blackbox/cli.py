# SPDX-License-Identifier: Apache-2.0
"""The command line beside serving: list, call, check, module inspect, version, help, exit codes."""

import json
import re

from mcp import META_TOOLS, HubTest, compile_plugin, fixture, main, module_folder, tool

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

    def test_terminal_escapes_of_a_server_are_not_printed(self):  # U17
        hostile = tool("one", description="red \u001b[31m\u0007 \u202e alarm")
        done = self.cli("list", "tools", toolsets={"alpha": fixture(hostile)})
        self.assertEqual(done.returncode, OK)
        self.assertFalse(re.search("[\x00-\x08\x0b-\x1f\x7f]", done.stdout))


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

    def test_without_arguments(self):
        self.assertEqual(self.cli("call", "alpha__one", toolsets=TOOLSETS).returncode, OK)

    def test_a_tool_error(self):
        done = self.cli("call", "alpha__failed", toolsets=TOOLSETS)
        self.assertEqual(done.returncode, FAILED)
        self.assertSays(done.stderr + done.stdout, "it broke")

    def test_an_unknown_tool(self):
        done = self.cli("call", "alpha__on", toolsets=TOOLSETS)
        self.assertEqual(done.returncode, FAILED)
        self.assertSays(done.stderr, "unknown tool", "alpha__on")

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
        self.assertSays(done.stderr, "up", "patchbay-no-such-command")


class Check(HubTest):
    def test_a_good_file(self):
        path = self.home / "hub.yaml"
        path.write_text("toolsets:\n  alpha: {module: fixture}\n")
        done = self.cli("check", path)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertSays(done.stdout, "1 toolset")

    def test_it_starts_nothing(self):
        recorder = self.recorder()
        done = self.cli("check", toolsets={"up": recorder.toolset(lazy=False)})
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertEqual(recorder.starts, [])

    def test_connect(self):
        recorder = self.recorder()
        done = self.cli("check", "--connect", toolsets={"up": recorder.toolset()})
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertSays(done.stdout, "up", "11 tools")

    def test_connect_to_one_that_is_not_there(self):
        done = self.cli("check", "--connect", toolsets={"up": {"command": "patchbay-none"}, "alpha": fixture("x")})
        self.assertEqual(done.returncode, UNREACHABLE)
        self.assertSays(done.stdout + done.stderr, "up", "patchbay-none", "alpha")


class Module(HubTest):
    def test_inspect(self):
        path = compile_plugin(self.home)
        done = self.cli("module", "inspect", path, modules=False)
        self.assertEqual(done.returncode, OK, done.stderr)
        self.assertSays(done.stdout, "fixture", "1.0.0", "Does what the tests tell it.")
        self.assertRegex(done.stdout.lower(), r"abi:? +1\.0")

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
        for arguments in (["version"], ["--version"]):
            done = self.cli(*arguments, modules=False)
            self.assertEqual(done.returncode, OK, done.stderr)
            self.assertRegex(done.stdout, r"^patchbay \d+\.\d+\.\d+")

    def test_help(self):
        for arguments in (["help"], ["--help"], ["-h"]):
            done = self.cli(*arguments, modules=False)
            self.assertEqual(done.returncode, OK)
            for word in ("serve", "list", "call", "check", "module", "token", "version", "--config", "--http", "--unix"):
                self.assertIn(word, done.stdout)

    def test_help_on_a_command(self):
        for command in ("serve", "list", "call", "check", "module", "token", "version", "help"):
            done = self.cli("help", command, modules=False)
            self.assertEqual(done.returncode, OK, command)
            self.assertIn(command, done.stdout)
        done = self.cli("help", "nope", modules=False)
        self.assertEqual(done.returncode, USAGE)


if __name__ == "__main__":
    main()
