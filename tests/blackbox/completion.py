# SPDX-License-Identifier: Apache-2.0
"""Completion of command lines, in the shells that people have, the manual pages, and docs/REFERENCE.md: all as the tables have it."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

from mcp import TIMEOUT, HubTest, fixture, hub_command, hub_environment, main, tool

ROOT = Path(__file__).resolve().parents[2]
TOOLSETS = {
    "alpha": fixture(tool("one"), tool("two")),
    "beta": fixture("three"),
    "gamma": fixture("four", active=False),
}


def commands_of(help_text):
    part = help_text.split("commands:\n")[1].split("\n\n")[0]
    return [line.split()[0] for line in part.splitlines()]


def options_of(help_text):
    return re.findall(r"^  (--[a-z-]+)", help_text.split("options:\n")[1], re.M)


def settings_program():
    return Path(hub_command()[0]).parent / "patchbay-settings"


class Tables(HubTest):
    """What the tables say, as help shows it."""

    def print(self, *words):
        done = self.cli(*words, modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout

    def help(self, *words):
        return self.print("help", *words)


class Completion(Tables):
    def complete(self, *words, options=()):
        """Candidates for the last of the words, without what they mean."""
        head = hub_command(manifest={"toolsets": TOOLSETS}, home=self.home)
        words = [words[0], *head[1:], *words[1:]] if options else words
        done = subprocess.run([head[0], "complete", *words], capture_output=True, text=True, timeout=TIMEOUT, cwd=self.home,
                              env=hub_environment(self.home, {}))
        self.assertEqual(done.returncode, 0, done.stderr)
        return [line.split("\t")[0] for line in done.stdout.splitlines()]

    def test_commands(self):
        known = commands_of(self.help())
        self.assertEqual(self.complete(""), known)
        self.assertEqual(self.complete("ca"), ["call"])
        self.assertEqual(self.complete("help", "ca"), ["call"])
        self.assertEqual(self.complete("nonsense", ""), [])

    def test_options_of_each_command(self):
        for command in commands_of(self.help()):
            with self.subTest(command=command):
                self.assertEqual(self.complete(command, "--"), options_of(self.help(command)))

    def test_values(self):
        self.assertEqual(self.complete("serve", "--naming", ""), ["prefix", "flat", "dot", "none"])
        self.assertEqual(self.complete("--log-level", "w"), ["warning"])
        self.assertEqual(self.complete("serve", "--naming=f"), ["--naming=flat"])
        self.assertEqual(self.complete("serve", "--naming", "=", "f"), ["flat"])  # as bash splits it
        self.assertEqual(self.complete("serve", "--naming", "="), ["prefix", "flat", "dot", "none"])
        self.assertEqual(self.complete("serve", "--config", ""), [":file"])
        self.assertEqual(self.complete("serve", "--plugins-dir", "x"), [":dir"])
        self.assertEqual(self.complete("check", ""), [":file"])
        self.assertEqual(self.complete("serve", "--max-active", ""), [])

    def test_verbs(self):
        self.assertEqual(self.complete("token", ""), ["new", "list", "revoke"])
        self.assertEqual(self.complete("list", "tool"), ["tools", "toolsets"])
        self.assertEqual(self.complete("completion", "z"), ["zsh"])

    def test_names_of_toolsets(self):
        self.assertEqual(self.complete("serve", "--deny", "", options=True), ["alpha", "beta", "gamma"])
        self.assertEqual(self.complete("serve", "--toolsets", "alpha,g", options=True), ["alpha,gamma"])

    def test_names_that_are_arguments(self):
        """Those of the file that the command would change, also where a shell stands in the folder of another one."""
        named = self.home / "named.yaml"
        named.write_text("toolsets: {alpha: {module: time}, beta: {module: time, enabled: false}, gamma: {url: 'https://h.example/'}}\n")
        for command in ("enable", "disable", "remove"):
            self.assertEqual(self.complete(command, "--config", str(named), ""), ["alpha", "beta", "gamma"])
            self.assertEqual(self.complete(command, "--config", str(named), "b"), ["beta"])
        self.assertEqual(self.complete("login", "--config", str(named), "g"), ["gamma"])
        self.assertEqual(self.complete("login", "logout", "--config", str(named), "g"), ["gamma"])
        (self.home / "hub.yaml").write_text("toolsets: {other: {module: time}}\n")
        self.assertEqual(self.complete("remove", ""), [])
        own = self.home / ".config/patchbay/patchbay.yaml"
        own.parent.mkdir(parents=True)
        own.write_text("toolsets: {mine: {module: time}}\n")
        self.assertEqual(self.complete("remove", ""), ["mine"])
        servers = self.home / "mcp.json"
        servers.write_text('{"mcpServers": {"My": {"command": "x"}, "a b": {"command": "x"}, "$(id)": {"command": "x"}, "-x": {"command": "x"}}}')
        self.assertEqual(self.complete("remove", "--config", str(servers), ""), ["My"])

    def test_names_of_tools(self):
        self.assertEqual(self.complete("call", "alpha", options=True), ["alpha__one", "alpha__two"])
        self.assertEqual(self.complete("call", "gamma", options=True), [])

    def test_a_bad_manifest_offers_nothing(self):
        bad = Path(self.home) / "bad.yaml"
        bad.write_text("toolsets: [")
        self.assertEqual(self.complete("call", "--config", str(bad), ""), [])

    def test_completion_wants_a_shell(self):
        done = self.cli("completion", modules=False)
        self.assertEqual(done.returncode, 2)
        self.assertIn("completion bash, zsh or fish", done.stderr)


class Shells(HubTest):
    def in_shell(self, shell, script, *arguments):
        """What a shell prints that has the program in its path."""
        program = Path(hub_command(home=self.home)[0])
        path = f"{program.parent}:{os.environ['PATH']}"
        done = subprocess.run([shell, *arguments, "-c", script], capture_output=True, text=True, timeout=TIMEOUT, cwd=self.home,
                              env={**os.environ, "PATH": path, "HOME": str(self.home)})
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.split("\n")

    def test_bash(self):
        words = ["patchbay", "serve", "--na"]
        script = (f"source <(patchbay completion bash); COMP_WORDS=({shlex.join(words)}); COMP_CWORD=2; _patchbay; "
                  'printf "%s\\n" "${COMPREPLY[@]}"; complete -p patchbay')
        self.assertEqual(self.in_shell("bash", script)[:2], ["--naming", "complete -F _patchbay patchbay"])

    def test_zsh(self):  # what completes is a stand-in that shows what it is given
        script = ("compdef() { :; }; _describe() { print -l -- ${(P)2}; }; source <(patchbay completion zsh); "
                  "words=(patchbay serve --nam); CURRENT=3; _patchbay")
        self.assertEqual(self.in_shell("zsh", script, "-f")[0],
                         "--naming:names of tools: prefix (default), flat, dot or none")

    def test_fish(self):
        script = "patchbay completion fish | source; complete -C 'patchbay serve --nam'; complete -C 'patchbay token '"
        lines = self.in_shell("fish", script, "--no-config")
        self.assertEqual([line.split("\t")[0] for line in lines[:4]], ["--naming", "list", "new", "revoke"])


class Manual(Tables):
    def page(self, source):
        """The page that is made of it, as text, once mandoc has nothing to say."""
        page = source
        for command in (["scdoc"], ["awk", "-f", ROOT / "cmake" / "manual.awk"]):  # as cmake/PatchbayInstall.cmake does
            page = subprocess.run(command, input=page, capture_output=True, text=True, timeout=TIMEOUT, check=True).stdout
        lint = subprocess.run(["mandoc", "-T", "lint"], input=page, capture_output=True, text=True, timeout=TIMEOUT)
        self.assertEqual((lint.returncode, lint.stdout), (0, ""))
        text = subprocess.run(["mandoc", "-T", "ascii"], input=page, capture_output=True, text=True, timeout=TIMEOUT,
                              check=True).stdout
        return re.sub(r".\x08", "", text)

    def test_commands_and_options(self):
        text = self.page(self.print("manual"))
        for command in commands_of(self.help()):
            self.assertIn(f"patchbay {command}", text)
            for option in options_of(self.help(command)):
                self.assertIn(option, text)

    def test_keys_of_the_manifest(self):
        source = subprocess.run([settings_program(), "manual"], capture_output=True, text=True, timeout=TIMEOUT, check=True).stdout
        text = self.page(source)
        for key in ("hub.naming: prefix", "limits.call_timeout: 1m", "toolsets.NAME.command", "listen[].http", "profiles.NAME.naming: prefix"):
            self.assertIn(key, text)

    def test_plugins(self):
        text = self.page((ROOT / "docs" / "patchbay-plugin.7.scd").read_text())
        for words in ("PATCHBAY_TOOLSET(", "--cflags patchbay-plugin", "patchbay_plugin_v1", "find_package(patchbay"):
            self.assertIn(words, text)


class Reference(Tables):
    def setUp(self):
        super().setUp()
        if "login" not in commands_of(self.help()):
            self.skipTest("this build has no HTTP (PATCHBAY_HTTP=OFF): docs/REFERENCE.md has commands that it lacks")

    def check(self, path):
        script = ROOT / "cmake" / "reference.py"
        return subprocess.run([sys.executable, "-B", script, "check", hub_command()[0], settings_program(), path],
                              capture_output=True, text=True, timeout=TIMEOUT)

    def test_is_as_the_tables_have_it(self):
        done = self.check(ROOT / "docs" / "REFERENCE.md")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))

    def test_what_is_another_is_told(self):
        text = (ROOT / "docs" / "REFERENCE.md").read_text()
        lines = text.splitlines(keepends=True)
        other = Path(self.home) / "other.md"
        for begin in ("| `call_tool` | `search` |", None):  # a line that is another; the last one missing
            at = len(lines) if begin is None else next(n for n, line in enumerate(lines, 1) if line.startswith(begin))
            other.write_text("".join(lines[:at - 1]) if begin is None else text.replace(begin, begin + " ", 1))
            done = self.check(other)
            self.assertEqual((done.returncode, done.stderr.partition(": ")[0]), (1, f"{other}:{at}"))

    def test_has_every_command_and_option(self):
        text = (ROOT / "docs" / "REFERENCE.md").read_text()
        for command in commands_of(self.help()):
            self.assertIn(f"\n### {command}\n", text)
            for option in options_of(self.help(command)):
                self.assertRegex(text, rf"\n\| `{option}[` ,].* (all|.*\b{command}\b.*) \|\n")


if __name__ == "__main__":
    main()
