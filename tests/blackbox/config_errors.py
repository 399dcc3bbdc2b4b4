# SPDX-License-Identifier: Apache-2.0
"""Bad configuration gets a clear answer: file, line, key, reason, and what was probably meant (C01-C06, S2.31, S2.32)."""

import json
import os
import socket
import sys

from mcp import HubTest, fixture, main

CONFIG_ERROR = 3


class Base(HubTest):
    def write(self, name, text):
        path = self.home / name
        path.write_text(text, encoding="utf-8")
        return path

    def check(self, text, *says, name="hub.yaml", **options):
        """Both `check` and a start refuse it, with the same words."""
        path = self.write(name, text)
        checked = self.cli("check", path, **options)
        self.assertEqual(checked.returncode, CONFIG_ERROR, checked.stderr)
        self.assertSays(checked.stderr, *says)
        code, started = self.refused(files=[path], **options)
        self.assertEqual(code, CONFIG_ERROR, started)
        self.assertSays(started, *says)
        self.assertEqual(len(started.strip().splitlines()), 1, f"one line, not: {started}")

    def accepted(self, text, name="hub.yaml", **options):
        path = self.write(name, text)
        done = self.cli("check", path, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done


class Files(Base):
    def test_a_missing_file(self):
        code, text = self.refused(files=[self.home / "nope.yaml"])
        self.assertEqual(code, CONFIG_ERROR)
        self.assertSays(text, "nope.yaml", "no such file")

    def test_an_unreadable_file(self):
        if os.geteuid() == 0:  # root reads everything but this
            path = self.home / "folder.yaml"
            path.mkdir()
            says = "folder.yaml"
        else:
            path = self.write("secret.yaml", "toolsets: {}\n")
            path.chmod(0)
            says = "permission denied"
        code, text = self.refused(files=[path])
        self.assertEqual(code, CONFIG_ERROR)
        self.assertSays(text, path.name, says)

    def test_a_pipe_that_nobody_writes_to(self):
        pipe = self.home / "pipe"
        os.mkfifo(pipe)
        done = self.cli("check", pipe)
        self.assertEqual(done.returncode, CONFIG_ERROR, done.stderr)
        self.assertSays(done.stderr, "within 5000 ms")

    def test_not_yaml(self):
        self.check("toolsets:\n  a: [1\nhub: x\n", "hub.yaml:", "not valid yaml")

    def test_not_json(self):
        self.check('{"toolsets": {"a": }}', "hub.json:1", "not valid json", name="hub.json")

    def test_not_a_map(self):
        for text in ("- a\n- b\n", "just text\n", "7\n"):
            self.check(text, "hub.yaml:1", "map")

    def test_a_key_twice(self):  # C06
        self.check("hub:\n  name: a\n  name: b\n", "hub.yaml:3", "hub.name", "duplicate")

    def test_bad_utf8(self):
        path = self.home / "hub.yaml"
        path.write_bytes(b"hub:\n  name: \xff\n")
        code, text = self.refused(files=[path])
        self.assertEqual(code, CONFIG_ERROR)
        self.assertSays(text, "hub.yaml")

    def test_yaml_bombs(self):
        self.check("a: &a [1,1]\nb: *a\n", "hub.yaml:", "alias")
        self.check("a: " + "[" * 100 + "]" * 100 + "\n", "hub.yaml:1", "deep")

    def test_an_empty_file_is_fine(self):
        self.accepted("")
        self.accepted("# only a comment\n")

    def test_the_same_toolset_in_two_files(self):
        one = self.write("one.yaml", "toolsets:\n  a: {module: fixture}\n")
        two = self.write("two.yaml", "\ntoolsets:\n  a: {module: fixture}\n")
        code, text = self.refused(files=[one, two])
        self.assertEqual(code, CONFIG_ERROR)
        self.assertSays(text, "two.yaml:3", '"a"', "one.yaml:2")


class Keys(Base):
    def test_misspelt_keys_name_the_nearest(self):
        cases = {
            "toolset:\n  a: {}\n": ("hub.yaml:1", "toolset", '"toolsets"'),
            "toolsets:\n  a:\n    comand: x\n": ("hub.yaml:3", "toolsets.a.comand", '"command"'),
            "hub:\n  nameing: flat\n": ("hub.yaml:2", "hub.nameing", '"naming"'),
            "policy:\n  max_activ: 1\n": ("hub.yaml:2", "policy.max_activ", '"max_active"'),
            "limits:\n  call_timout: 1s\n": ("hub.yaml:2", "limits.call_timout", '"call_timeout"'),
            "log:\n  lvl: info\n": ("hub.yaml:2", "log.lvl"),
            "listen:\n  - htp: 1\n": ("hub.yaml:2", "listen[0].htp", '"http"'),
            "listen:\n  - http: 1\n    tls: {cert: x}\n": ("hub.yaml:3", "listen[0].tls.cert"),
            "auth:\n  token: x\n": ("hub.yaml:2", "auth.token", '"tokens"'),
            "limits:\n  header_timout: 1s\n": ("hub.yaml:2", "limits.header_timout", '"header_timeout"'),
        }
        for text, says in cases.items():
            with self.subTest(text):
                self.check(text, "unknown key", *says)

    def test_misspelt_words_name_the_nearest(self):
        self.check("hub:\n  naming: prefx\n", "hub.yaml:2", "hub.naming", "prefx", '"prefix"')
        self.check("log:\n  level: warnin\n", "hub.yaml:2", "log.level", '"warning"')

    def test_wrong_types(self):
        cases = {
            "hub:\n  name: [x]\n": ("hub.yaml:2", "hub.name", "list"),
            "hub: x\n": ("hub.yaml:1", "hub", "map"),
            "toolsets: []\n": ("hub.yaml:1", "toolsets", "map"),
            "toolsets:\n  a: x\n": ("hub.yaml:2", "toolsets.a", "map"),
            "toolsets:\n  a: {command: x, args: y}\n": ("hub.yaml:2", "toolsets.a.args", "list"),
            "toolsets:\n  a: {command: x, env: [y]}\n": ("hub.yaml:2", "toolsets.a.env", "map"),
            "toolsets:\n  a: {module: fixture, active: maybe}\n": ("hub.yaml:2", "toolsets.a.active", "maybe"),
            "policy:\n  max_active: -1\n": ("hub.yaml:2", "policy.max_active", "-1"),
            "policy:\n  max_active: many\n": ("hub.yaml:2", "policy.max_active", "many"),
            "policy:\n  allow: alpha\n": ("hub.yaml:2", "policy.allow", "list"),
            "limits:\n  client_message: big\n": ("hub.yaml:2", "limits.client_message", "big"),
            "limits:\n  call_timeout: 30\n": ("hub.yaml:2", "limits.call_timeout", '"30s"'),
            "limits:\n  call_timeout: -1s\n": ("hub.yaml:2", "limits.call_timeout", "-1s"),
            "hub:\n  page_size: 0\n": ("hub.yaml:2", "hub.page_size", "0"),
            "listen: 8787\n": ("hub.yaml:1", "listen", "list"),
            "listen:\n  - 8787\n": ("hub.yaml:2", "listen[0]", "map"),
            "listen:\n  - {http: a.b:1}\n": ("hub.yaml:2", "listen[0].http", "names are not looked up"),
            "listen:\n  - {unix: s, mode: rw}\n": ("hub.yaml:2", "listen[0].mode", "octal"),
            "listen:\n  - {unix: s, http: 1}\n": ("hub.yaml:2", "listen[0]", "either"),
            "limits:\n  connections: 0\n": ("hub.yaml:2", "limits.connections", "1 to"),
            "limits:\n  idle_timeout: 25h\n": ("hub.yaml:2", "limits.idle_timeout", "24h"),
            "policy:\n  filters:\n    - {colour: [red]}\n": ("hub.yaml:3", "colour"),
        }
        for text, says in cases.items():
            with self.subTest(text):
                self.check(text, *says)

    def test_toolset_keys(self):  # S1.31, S3.44
        cases = {
            "_meta": ("_meta", "reserved"),
            "a__b": ("a__b", "__"),
            "Alpha": ("Alpha", "lower-case"),
            "9a": ("9a", "letter"),
            "a.b": ("a.b",),
            "x" * 65: ("64",),
        }
        for key, says in cases.items():
            with self.subTest(key):
                self.check(f"toolsets:\n  {key}: {{module: fixture}}\n", "hub.yaml:2", *says)

    def test_a_toolset_is_a_module_or_a_server(self):
        self.check("toolsets:\n  a: {module: fixture, command: x}\n", "hub.yaml:2", "toolsets.a", "module", "command")
        self.check("toolsets:\n  a: {args: [x]}\n", "hub.yaml:2", "toolsets.a", "command")
        self.check("toolsets:\n  a: {command: x, url: 'http://x'}\n", "hub.yaml:2", "toolsets.a", "url")

    def test_a_static_start_without_toolsets(self):  # S1.33
        self.check("hub:\n  startup: static\n", "hub.yaml:2", "static", "toolset")


class Modules(Base):
    """`check` refuses these; a start goes on without the toolset, for its module may come later."""

    def check_skipped(self, text, *says):
        path = self.write("hub.yaml", text + "  good: {module: fixture}\n")
        checked = self.cli("check", path)
        self.assertEqual(checked.returncode, CONFIG_ERROR, checked.stderr)
        self.assertSays(checked.stderr, *says)
        client = self.legacy(files=[path])
        self.assertEqual(client.own_names(), ["good__ping"])
        self.assertSays(client.hub.wait_log("toolset.skipped"), *says)

    def test_a_module_that_is_not_there(self):
        self.check_skipped("toolsets:\n  bad: {module: fixtur}\n", "bad", "fixtur")

    def test_config_that_does_not_fit_the_module(self):
        self.check_skipped("toolsets:\n  bad:\n    module: fixture\n    config: {tools: many}\n", "bad", "config.tools", "array")
        self.check_skipped("toolsets:\n  bad:\n    module: fixture\n    config: {tols: []}\n", "bad", "tols")

    def test_an_address_of_no_kind(self):
        schemes = ("http://", "https://", "ws://", "wss://", "unix://")
        for url in ("ftp://x", "example.com/mcp"):
            self.check_skipped(f"toolsets:\n  bad:\n    url: {url}\n", "hub.yaml:2", "bad", "url", *schemes)

    def test_an_address_that_only_begins_like_one(self):
        for url in ("http://127.0.0.1:99999/mcp", "https://[::1/mcp", "ws://a:b/", "http://", "http://a b/"):
            self.check_skipped(f"toolsets:\n  bad:\n    url: '{url}'\n", "hub.yaml:2", "bad", "url: this is not the address", "65535")

    def test_headers_that_are_forwarded(self):
        text = 'toolsets:\n  a: {url: "http://127.0.0.1:1/mcp", forward_headers: [%s]}\n'
        for name in ("'*'", "'X-*'"):
            self.check(text % name, "hub.yaml:2", "toolsets.a.forward_headers[0]", name[1:-1], "not a pattern")
        self.check(text % "Host", "hub.yaml:2", "toolsets.a.forward_headers[0]", "the hub itself")
        done = self.accepted(text % "X-One, Authorization")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        self.assertSays(done.stderr, "hub.yaml:2", "toolsets.a.forward_headers[1]", "credentials of clients")

    def test_config_for_a_server(self):
        self.check("toolsets:\n  a: {command: x, config: {}}\n", "hub.yaml:2", "toolsets.a", "command")


class Names(Base):
    """Names of toolsets that there are not: where nothing is left to serve, or a policy would keep out nothing."""

    def check_start(self, text, *says):
        """Both refuse it; a start has logged what it skipped."""
        path = self.write("hub.yaml", text)
        checked = self.cli("check", path)
        started = self.cli("serve", files=[path])
        for done in (checked, started):
            self.assertEqual(done.returncode, CONFIG_ERROR, done.stderr)
            self.assertSays(done.stderr.strip().splitlines()[-1], "hub.yaml:", "none of the toolsets that it starts with can be used", *says)
        self.assertEqual(len(checked.stderr.strip().splitlines()), 1, checked.stderr)
        self.assertEqual(checked.stdout, "")

    def test_a_static_start_that_has_nothing_to_serve(self):
        self.check_start("toolsets:\n  time: {module: fixture}\nhub: {toolsets: [tiem]}\n", "hub.yaml:3: hub.toolsets",
                         'profile "default"', 'unknown toolset "tiem"; did you mean "time"?')
        self.check_start("profiles:\n  p: {toolsets: [tiem, quite-another]}\n", "hub.yaml:2: profiles.p.toolsets",
                         'profile "p"', 'unknown toolset "tiem"; did you mean "time"?', 'unknown toolset "quite-another"')
        self.check_start("hub: {toolsets: [files]}\nprofiles: {p: {naming: dot}}\n", 'plugin "files"', '"roots" is missing', "toolsets: {files: ")
        self.check_start("toolsets:\n  a: {module: fixture}\n  b: {module: fixture}\nhub: {toolsets: [time]}\n",
                         'plugin "time"', "toolsets: {time: ")
        self.check_start("toolsets:\n  a: {module: fixture, enabled: false}\nhub: {toolsets: [a]}\n", '"a" is switched off', "hub.yaml:2")
        self.check_start("hub: {toolsets: [time]}\npolicy: {deny: [time]}\n", '"time" is denied by policy')
        self.check_start("hub: {toolsets: ALL}\npolicy: {allow: []}\n", "not allowed by policy")

    def test_a_static_start_that_lacks_one(self):
        done = self.accepted("hub: {toolsets: [time, tiem]}\nprofiles: {p: {naming: dot}}\n")
        self.assertEqual(len(done.stderr.strip().splitlines()), 1)
        self.assertSays(done.stderr, "warning: ", "hub.yaml:1: hub.toolsets", 'unknown toolset "tiem"; did you mean "time"?')

    def test_flags(self):
        code, text = self.refused("--toolsets", "tiem")
        self.assertEqual(code, CONFIG_ERROR)
        self.assertSays(text.splitlines()[-1], 'unknown toolset "tiem"; did you mean "time"?')
        done = self.cli("check", self.write("hub.yaml", "{}\n"), "--toolsets", "tiem")
        self.assertEqual(done.returncode, CONFIG_ERROR)
        self.assertEqual(done.stderr, text.splitlines()[-1] + "\n")

    def test_policies(self):
        cases = {
            "policy: {deny: [tiem]}\n": ("policy.deny", '"tiem"', 'did you mean "time"?'),
            "policy: {allow: [time, xyzzy]}\n": ("policy.allow", '"xyzzy"'),
            "profiles: {p: {policy: {deny: [tiem]}}}\n": ("profiles.p.policy.deny", '"tiem"', 'did you mean "time"?'),
            "profiles: {p: {policy: {allow: [time, tiem]}}}\n": ("profiles.p.policy.allow", '"tiem"'),
            "policy: {filters: [{namespace: [time]}, {namespace: [tiem]}]}\n": ("policy.filters[1].namespace", '"tiem"', '"time"'),
            "policy: {filters: [{deny_tools: ['tiem:*']}]}\n": ("policy.filters[0].deny_tools", '"tiem"', '"time"'),
            "policy: {filters: [{allow_tools: [now, 'time:now']}]}\n": ("policy.filters[0].allow_tools", '"now"', "TOOLSET:TOOL"),
        }
        for text, says in cases.items():
            with self.subTest(text):
                done = self.accepted(text)
                self.assertEqual(len(done.stderr.strip().splitlines()), 1, done.stderr)
                self.assertSays(done.stderr, "warning: ", *says)
                hub = self.daemon(files=[self.home / "hub.yaml"])
                self.assertSays(hub.wait_log("policy.unknown_name"), *[part.replace('"', '\\"') for part in says])

    def test_policies_that_are_right(self):
        self.assertEqual(self.accepted("policy: {deny: [time, files], allow: []}\n").stderr, "")
        text = "toolsets: {a: {module: fixture, enabled: false}}\npolicy: {deny: [a], filters: [{deny_tools: ['x*', '*:now', 'a:x', '?']}]}\n"
        self.assertEqual(self.accepted(text).stderr, "")

    def test_policies_of_another_hub(self):
        """Nobody reads a warning for each of a hundred names."""
        for count, told in ((50, 50), (51, 50)):
            names = ", ".join(f"strange-{n}" for n in range(count))
            done = self.accepted(f"policy: {{deny: [{names}]}}\n")
            self.assertEqual(len(done.stderr.strip().splitlines()), told)

    def test_policies_by_flags(self):
        path = self.write("hub.yaml", "{}\n")
        for flag in ("--deny", "--allow"):
            done = self.cli("check", path, flag, "time,tiem")
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertSays(done.stderr, "warning: ", flag, '"tiem"', 'did you mean "time"?')
            self.assertSays(self.daemon("--http", 0, flag, "time,tiem").wait_log("policy.unknown_name"), flag, "tiem")

    def test_policies_of_a_reload(self):
        path = self.write("patchbay.yaml", "{}\n")
        hub = self.daemon(files=[path])
        hub.listening()
        self.assertNotIn("policy.unknown_name", hub.log)
        (self.home / "new").write_text("policy: {deny: [tiem]}\n")
        (self.home / "new").rename(path)
        self.assertSays(hub.wait_log("policy.unknown_name"), "tiem")
        hub.wait_log("config.reloaded")
        (self.home / "new").write_text("hub: {toolsets: [tiem]}\n")
        (self.home / "new").rename(path)
        self.assertSays(hub.wait_log("config.refused"), "none of the toolsets that it starts with can be used", "patchbay.yaml:1", "tiem")

    def test_the_file_of_the_audit(self):
        self.check("log:\n  audit: /nonexistent/x/audit.log\n", "hub.yaml:2: log.audit", "/nonexistent/x/audit.log", "no such file")
        self.check(f"log:\n  audit: {self.home}\n", "hub.yaml:2: log.audit", str(self.home), "is a directory")
        self.check("log:\n  audit: hub.yaml/x\n", "hub.yaml:2: log.audit", "not a directory")

    def test_a_check_leaves_no_file_for_the_audit(self):
        """Whoever checks may be somebody else than whoever the hub runs as."""
        self.accepted("log: {audit: audit.log}\n")
        self.assertFalse((self.home / "audit.log").exists())


class Variables(Base):
    TEXT = "toolsets:\n  a:\n    command: echo\n    env: {TOKEN: '%s'}\n"

    def test_one_that_is_not_set(self):
        self.check(self.TEXT % "${NOT_SET_ANYWHERE}", "hub.yaml:4", "toolsets.a.env.TOKEN", "NOT_SET_ANYWHERE", "not set")

    def test_forms(self):
        for text in ("${SET}", "${env:SET}", "${NOT_SET:-x}", "${NOT_SET:-}", "$$", "a$b"):
            self.accepted(self.TEXT % text, env={"SET": "x"})

    def test_bad_forms(self):
        for text, says in (
            ("${", "}"),
            ("${}", "variable"),
            ("${cmd:id}", "cmd:id"),
            ("${a${b}}", "nested"),
            ("${file:relative}", "absolute"),
            ("${file:/no/such/file}", "/no/such/file"),
        ):
            with self.subTest(text):
                self.check(self.TEXT % text, "hub.yaml:4", "toolsets.a.env.TOKEN", says)

    def test_a_file(self):
        secret = self.write("secret", "from a file\n")
        secret.chmod(0o600)
        self.accepted(self.TEXT % f"${{file:{secret}}}")

    def test_values_are_not_shown(self):  # C04
        path = self.write("hub.yaml", self.TEXT % "${CANARY}${NOT_SET}")
        done = self.cli("check", path, env={"CANARY": "s3cr3t-value"})
        self.assertNotIn("s3cr3t-value", done.stdout + done.stderr)
        path = self.write("hub.yaml", self.TEXT % "${CANARY}")
        for arguments in (["check", path], ["list", "toolsets", "--json", "--config", path, "--log-level", "debug"]):
            done = self.cli(*arguments, env={"CANARY": "s3cr3t-value"})
            self.assertNotIn("s3cr3t-value", done.stdout + done.stderr)

    def test_a_toolset_that_is_off_needs_no_variables(self):
        self.accepted("toolsets:\n  a: {command: echo, args: ['${NOT_SET}'], enabled: false}\n")

    def test_a_bad_switch_in_the_environment(self):
        code, text = self.refused(toolsets={"alpha": fixture("x")}, env={"PATCHBAY_ALPHA_ENABLED": "perhaps"})
        self.assertEqual(code, CONFIG_ERROR)
        self.assertSays(text, "PATCHBAY_ALPHA_ENABLED", "perhaps")


class Foreign(Base):
    """`mcpServers` and VS Code `servers` files as they are (S3.7, S3.92)."""

    def test_mcp_servers(self):
        text = '{"mcpServers": {"git": {"command": "echo", "args": ["x"], "disabled": true, "autoApprove": []}}}'
        self.accepted(text, name=".mcp.json")

    def test_vs_code(self):
        text = '{\n  // a comment\n  "servers": {"git": {"type": "stdio", "command": "echo",},},\n}\n'
        self.accepted(text, name="mcp.json")

    def test_unknown_keys_are_warnings(self):
        text = '{"mcpServers": {"git": {"command": "echo", "comand": "x"}}}'
        done = self.accepted(text, name="mcp.json")
        self.assertSays(done.stderr, "mcp.json:1", "comand", '"command"')

    def test_a_server_without_command_or_url(self):
        self.check('{"mcpServers": {"git": {"args": []}}}', "mcp.json:1", "git", "command", name="mcp.json")

    def test_names_become_keys(self):
        text = '{"mcpServers": {"My Server": {"command": "patchbay-none"}, "other.one": {"command": "patchbay-none"}}}'
        path = self.write("mcp.json", text)
        done = self.cli("list", "toolsets", "--json", "--config", path)
        self.assertEqual(done.returncode, 5, done.stderr)  # there are no such servers
        names = {t["key"] for t in json.loads(done.stdout)}
        self.assertLessEqual({"my-server", "other-one"}, names)

    def test_two_names_that_become_one(self):
        text = '{"mcpServers": {\n"git": {"command": "x"},\n"GIT": {"command": "y"}}}'
        checked = self.cli("check", self.write("mcp.json", text))
        self.assertEqual(checked.returncode, CONFIG_ERROR, checked.stderr)
        self.assertSays(checked.stderr, "mcp.json:3", "git")

    def test_one_bad_entry_does_not_stop_the_others(self):
        bad = {
            "token": {"command": "x", "env": {"T": "${GITHUB_TOKEN}"}},
            "input": {"url": "http://127.0.0.1:9/mcp", "headers": {"A": "Bearer ${input:key}"}},
            "folder": {"command": "${workspaceFolder}/server"},
            "empty": {},
        }
        path = self.write("mcp.json", json.dumps({"mcpServers": {**bad, "up": self.recorder().toolset()}}, indent=1))
        says = [f"mcpServers.{name}" for name in bad]
        checked = self.cli("check", path)
        self.assertEqual(checked.returncode, CONFIG_ERROR, checked.stderr)
        self.assertSays(checked.stderr, *says, "GITHUB_TOKEN", "${input:key}", "workspaceFolder")
        connected = self.cli("check", "--connect", path)
        for part in says:
            self.assertEqual(connected.stderr.count(part), 1, connected.stderr)
        client = self.modern(files=[path])
        self.assertIn("up__echo", client.own_names())
        client.hub.wait_until(lambda: all(part in client.hub.log for part in says), "all are told")

    def test_nor_does_one_that_is_twice_or_holds_what_no_text_can(self):
        """Other programs take the last of two equal keys; here none is taken for the other without a word."""
        up = json.dumps(self.recorder().toolset())
        twice = '"twice":{"command":"a","command":"b"}'
        path = self.write("mcp.json", f'{{"mcpServers":{{\n"up":{up},\n"nul":{{"command":"x","args":["a\\u0000b"]}},\n{twice},\n"up":{{"command":"x"}}}}}}')
        checked = self.cli("check", path)
        self.assertEqual(checked.returncode, CONFIG_ERROR, checked.stderr)
        self.assertSays(checked.stderr, "mcp.json:3: mcpServers.nul.args[0]: holds a nul character",
                        "mcp.json:4: mcpServers.twice.command: duplicate key", "mcp.json:5: mcpServers.up: duplicate key, first on line 2")
        self.assertIn("up__echo", self.modern(files=[path]).own_names())

    def test_none_that_can_be_served(self):
        self.check('{"mcpServers": {\n"a": {},\n"b": {}}}', "mcp.json:2", "1 more server", name="mcp.json")


class Folders(HubTest):
    """Where a server is started: in its file's folder, wherever the hub is."""

    def setUp(self):
        super().setUp()
        self.project = self.home / "project"
        self.elsewhere = self.home / "elsewhere"
        for folder in (self.project, self.elsewhere, self.project / ".vscode"):
            folder.mkdir()

    def serve(self, name, text):
        path = self.project / name
        path.write_text(text, encoding="utf-8")
        return self.modern(files=[path], cwd=self.elsewhere)

    def cwd_of_server(self, name, top):
        """What a server says of itself that is named by a relative path."""
        server = self.project / "server"
        server.write_text(f'#!/bin/sh\npwd > "{self.home}/cwd"\nexec "{sys.executable}" "$@"\n')
        server.chmod(0o755)
        entry = {**self.recorder().toolset(), "command": "./server"}
        self.assertIn("up__echo", self.serve(name, json.dumps({top: {"up": entry}})).own_names())
        return (self.home / "cwd").read_text().strip()

    def test_of_a_manifest(self):
        self.assertEqual(self.cwd_of_server("hub.json", "toolsets"), str(self.project))

    def test_of_another_programs_file(self):
        for name in (".mcp.json", ".vscode/mcp.json"):
            self.assertEqual(self.cwd_of_server(name, "mcpServers"), str(self.project))

    def test_what_is_missing_is_said_with_its_folder(self):
        for name, config in {
            "hub.json": {"toolsets": {"up": {"command": "./nope", "active": False}}},
            "mcp.json": {"mcpServers": {"up": {"command": "./nope", "active": False}}},
        }.items():
            with self.subTest(name):
                client = self.serve(name, json.dumps(config))
                wanted = self.meta_call(client, "enable_toolset", toolset="up")
                self.assertSays(wanted["message"], f"{self.project}/nope", "no such file")


class CommandLine(Base):
    def usage(self, *arguments, says=()):
        done = self.cli(*arguments, modules=False)
        self.assertEqual(done.returncode, 2, done.stderr)
        self.assertEqual(done.stdout, "")
        self.assertSays(done.stderr, *says)

    def test_wrong_usage(self):
        self.usage("serve", "--no-such-flag", says=["--no-such-flag"])
        self.usage("serve", "--naming", says=["--naming"])
        self.usage("serve", "--naming", "camel", says=["--naming", "camel", "prefix"])
        self.usage("serve", "--startup", "lazy", says=["--startup", "lazy", "dynamic"])
        self.usage("serve", "--max-active", "-1", says=["--max-active", "-1"])
        self.usage("serve", "--log-level", "loud", says=["--log-level", "loud", "debug"])
        self.usage("serve", "--log-format", "xml", says=["--log-format", "xml", "json"])
        self.usage("serev", says=["serev", "serve"])
        self.usage("list", "toolz", says=["toolz", "tools"])
        self.usage("call", says=["tool"])
        self.usage("module", says=["inspect"])
        self.usage("module", "inspect", says=["file"])

    def test_options_of_other_commands(self):
        """Refused, with the commands that they are for, instead of being taken for nothing."""
        cases = {
            ("version", "--http", "3"): ('"version"', "--http is for serve, status, ui, check"),
            ("--version", "--http", "3"): ('"version"', "--http is for serve, status, ui, check"),
            ("version", "--naming"): ("--naming is for serve, list, call",),
            ("help", "--http=3"): ('"help"', "--http is for serve, status, ui, check"),
            ("list", "--token-file", "x"): ('"list"', "--token-file is for status"),
            ("list", "tools", "--http", "3"): ("--http is for",),
            ("call", "x", "--unix", "y"): ("--unix is for serve, status, ui, check",),
            ("call", "x", "--tokens"): ("--tokens is for serve, check, token",),
            ("check", "x", "--stdio"): ("--stdio is for serve",),
            ("init", "--json"): ("--json is for",),
            ("serve", "--json"): ('"serve"', "--json is for"),
            ("--connect",): ('"serve"', "--connect is for check"),
            ("status", "--naming", "flat"): ("--naming is for serve, list, call, read, check",),
            ("token", "list", "--plugins-dir", "x"): ("--plugins-dir is for serve, list, status, ui, call, read, check",),
            ("module-host", "x", "-c", "y"): ("-c is for serve, list, status, ui, call, read, check, token, module",),
            ("module-host", "x", "--stdio"): ("--stdio is for serve",),
        }
        for arguments, says in cases.items():
            with self.subTest(arguments):
                self.usage(*arguments, says=says)

    def test_a_profile_that_is_not_there(self):
        done = self.cli("check", "--profile", "nobody", manifest={"profiles": {"p": {}}})
        self.assertEqual((done.returncode, done.stdout), (CONFIG_ERROR, ""))
        self.assertSays(done.stderr, 'there is no profile "nobody"')
        self.assertNotIn("did you mean", done.stderr)
        profiles = {"reviewer": {}, "p": {}}
        for command in ("check", "list", "serve"):
            done = self.cli(command, "--profile", "reveiwer", manifest={"profiles": profiles})
            self.assertEqual((done.returncode, done.stderr.splitlines()[-1]), (CONFIG_ERROR, 'patchbay: there is no profile "reveiwer"; did you mean "reviewer"?'))
        for more in ({"listen": [{"unix": "s", "profile": "reveiwer"}]}, {"access": {"rules": [{"who": {"profiles": ["reveiwer"]}, "then": "deny"}]}}):
            done = self.cli("check", manifest={"profiles": profiles, **more})
            self.assertSays(done.stderr, ".json:", 'there is no profile "reveiwer"; did you mean "reviewer"?')
        self.assertEqual(self.cli("check", "--profile", "p", manifest={"profiles": {"p": {}}}).returncode, 0)

    def test_ports(self):
        for text in ("65536", "99999999999", "127.0.0.1:70000", "[::1]:65536"):
            port = text.split(":")[-1]
            self.usage("serve", "--http", text, says=["--http[0]", f"{port} is not a port", "65535"])
        for text in ("-1", "x", "127.0.0.1:x", "localhost:"):
            self.usage("serve", f"--http={text}", says=["--http[0]", "wanted a port", text])

    def test_a_port_that_is_taken(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            port = taken.getsockname()[1]
            code, text = self.refused("--http", str(port))
            self.assertEqual(code, 4)
            self.assertSays(text, f"cannot listen on 127.0.0.1:{port} (command line): address already in use")
            for once in ("cannot listen", "another port"):
                self.assertEqual(text.count(once), 1, text)
            path = self.write("hub.yaml", f"listen:\n  - http: {port}\n")
            code, text = self.refused(files=[path])
            self.assertEqual(code, 4)
            self.assertSays(text, f"cannot listen on 127.0.0.1:{port} ({path}:2)")

    def test_a_socket_that_is_taken(self):
        path = self.home / "hub.sock"
        with socket.socket(socket.AF_UNIX) as taken:
            taken.bind(str(path))
            taken.listen()
            code, text = self.refused("--unix", str(path))
        self.assertEqual(code, 4)
        self.assertSays(text, "command line", str(path), "another process serves it")
        self.assertEqual(text.count("another path"), 1, text)

    def test_a_plugins_folder_that_is_not_there(self):
        self.usage("serve", "--plugins-dir", self.home / "none", says=[str(self.home / "none")])
        # In a manifest it may still come into being.
        path = self.write("hub.yaml", f"modules: {{paths: [{self.home / 'none'}]}}\n")
        client = self.legacy(files=[path], modules=False)
        client.request("ping")
        client.hub.wait_log(str(self.home / "none"))


if __name__ == "__main__":
    main()
