# SPDX-License-Identifier: Apache-2.0
"""Catalogs that are remembered on disk, and discovery (S3.3, S3.66-S3.68, S3.91, S4.59-S4.65; RELIABILITY U07, U08, D08)."""

import json
import stat
import sys

from mcp import LIST_CHANGED, SUPPORT, HubTest, LegacyClient, fixture, main, processes, tool

NOBODY_WAITS = {"limits": {"discover_timeout": "10m", "straggler_timeout": "300ms"}}


class Remembered(HubTest):
    def setUp(self):
        super().setUp()
        self.tools = self.home / "tools.json"
        self.up = self.recorder("up")
        self.offer("a", "b")

    def offer(self, *names):
        self.tools.write_text(json.dumps([tool(name) for name in names]), encoding="utf-8")

    def entry(self, **keys):
        """The same to the last byte for each hub, so that it is the same server."""
        return self.up.toolset("--tools", self.tools, **{"env": {}, **keys})

    def start(self, manifest=None, **keys):
        return LegacyClient(self.hub(toolsets={"up": self.entry(**keys)}, manifest=manifest))

    def learn(self, **options):
        client = self.start(**options)
        names = client.own_names()
        client.hub.finish()
        return names

    def files(self):
        return sorted((self.home / ".cache" / "patchbay").glob("*"))

    def test_listed_at_once_and_nothing_is_started(self):
        self.assertEqual(self.learn(), ["up__a", "up__b"])
        self.assertEqual(len(self.up.sync().starts), 1)
        client = self.start()
        self.assertEqual(client.own_names(), ["up__a", "up__b"])
        row = next(x for x in self.meta_call(client, "list_toolsets")["toolsets"] if x["key"] == "up")
        self.assertEqual(row["toolCount"], 2)
        self.assertNotIn("state", row)
        self.assertEqual(processes.descendants(client.hub.process.pid), set())
        client.call("up__a").result  # what wakes it
        client.barrier()
        self.up.wait_until(lambda: len(self.up.starts) == 2, "the second start")
        self.assertEqual(client.list_changes(), 0)

    def test_a_modern_client_and_the_command_line(self):
        self.learn()
        client = self.modern(toolsets={"up": self.entry()})
        self.assertEqual(client.own_names(), ["up__a", "up__b"])
        client.hub.finish()
        self.assertIn("2 tools", self.cli("list", "toolsets", toolsets={"up": self.entry()}).stdout)
        self.assertEqual(len(self.up.sync().starts), 1)
        self.assertEqual(self.cli("call", "up__b", toolsets={"up": self.entry()}).returncode, 0)

    def test_who_asks_what_there_is_now_is_told(self):
        """Two commands ask the servers themselves; others have the good of it."""
        self.learn()
        self.offer("a", "c")
        listed = self.cli("list", "tools", toolsets={"up": self.entry()})
        self.assertIn("up__b", listed.stdout)
        self.assertSays(listed.stderr, "1 server was not asked but shown as remembered", "--refresh")
        self.assertEqual(len(self.up.sync().starts), 1)
        listed = self.cli("list", "tools", "--refresh", toolsets={"up": self.entry()})
        self.assertIn("up__c", listed.stdout)
        self.assertNotIn("remembered", listed.stderr)
        self.assertEqual(self.start().own_names(), ["up__a", "up__c"])
        self.assertEqual(len(self.up.sync().starts), 2)
        self.tools.unlink()
        self.assertEqual(self.cli("check", "--connect", toolsets={"up": self.entry()}).returncode, 5)

    def test_a_call_of_a_tool_that_is_new_asks(self):
        self.learn()
        self.offer("a", "new")
        called = self.cli("call", "up__new", toolsets={"up": self.entry()})
        self.assertEqual(called.returncode, 0, called.stderr)
        self.assertEqual(len(self.up.sync().starts), 2)
        self.assertEqual(self.cli("call", "up__new", toolsets={"up": self.entry()}).returncode, 0)  # remembered now
        called = self.cli("call", "up__none", toolsets={"up": self.entry()})
        self.assertEqual(called.returncode, 6)
        self.assertSays(called.stderr, "up__none")

    def test_what_is_not_lazy_is_started(self):
        self.learn()
        client = self.start(lazy=False)
        client.hub.wait_log("tools.discovery.server.success")
        self.assertEqual(client.own_names(), ["up__a", "up__b"])
        self.up.wait_until(lambda: len(self.up.starts) == 2, "the second start")

    def test_private_and_without_secrets(self):
        self.learn(env={"TOKEN": "canary-secret"}, description="canary-text")
        (path,) = self.files()
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        self.assertEqual(stat.S_IMODE(path.parent.stat().st_mode), 0o700)
        text = path.read_text(encoding="utf-8")
        self.assertNotIn("canary", text)
        self.assertNotIn(str(SUPPORT), text)
        self.assertEqual(len(json.loads(text)["content"]["tools"]), 2)

    def test_another_secret_is_another_server(self):
        self.learn(env={"TOKEN": "one"})
        self.learn(env={"TOKEN": "two"})
        self.assertEqual(len(self.up.sync().starts), 2)
        self.assertEqual(len(self.files()), 2)

    def test_switched_off(self):
        for options in ({"manifest": {"hub": {"cache": False}}}, {"cache": False}):
            for _ in range(2):
                self.learn(**options)
        self.assertEqual(len(self.up.sync().starts), 4)
        self.assertEqual(self.files(), [])

    def test_a_folder_of_ones_own(self):
        for _ in range(2):
            self.learn(manifest={"hub": {"cache_dir": "deep/down"}})
        self.assertEqual(len(self.up.sync().starts), 1)
        self.assertEqual(self.files(), [])
        self.assertEqual(len(list((self.home / "deep" / "down").iterdir())), 1)

    def test_refreshed_in_the_background(self):  # S4.3, S3.67
        self.learn()
        self.offer("a", "c")
        client = self.start(manifest={"hub": {"cache_ttl": "0s"}})
        since = client.hub.mark
        self.assertEqual(client.own_names(), ["up__a", "up__b"])
        client.wait_list_changed(since)
        self.assertEqual(client.own_names(), ["up__a", "up__c"])
        client.hub.wait_log("tools.registry.updated")
        client.barrier()
        self.assertEqual(client.list_changes(), 1)
        client.hub.finish()
        self.assertEqual(self.start().own_names(), ["up__a", "up__c"])

    def test_a_server_that_does_not_tell_is_read_again(self):
        """One that is connected, too, when its catalog is old."""
        client = LegacyClient(
            self.hub(
                toolsets={"up": self.up.toolset("--tools", self.tools, "--capabilities", '{"tools":{}}')},
                manifest={"hub": {"cache_ttl": "0s"}},
            )
        )
        self.assertEqual(client.own_names(), ["up__a", "up__b"])
        done = "tools.discovery.server.success"
        client.hub.wait_until(lambda: client.hub.log.count(done) >= 2, "the second reading")
        self.assertEqual(len(self.up.sync().lines("tools/list")), 2)
        self.up.command(tools=json.dumps([tool("new")]), notify=0)
        since = client.hub.mark
        self.assertEqual(client.own_names(), ["up__a", "up__b"])
        client.wait_list_changed(since)
        self.assertEqual(client.own_names(), ["up__new"])
        self.assertEqual(len(self.up.sync().starts), 1)

    def test_a_server_that_is_gone_keeps_its_tools(self):  # S4.6, S4.48
        self.learn()
        self.tools.unlink()  # it dies at once without it
        client = self.start(manifest={"hub": {"cache_ttl": "0s"}})
        self.assertEqual(client.own_names(), ["up__a", "up__b"])
        client.hub.wait_log("tools.discovery.server.failed")
        self.assertEqual(client.own_names(), ["up__a", "up__b"])
        row = next(x for x in self.meta_call(client, "list_toolsets")["toolsets"] if x["key"] == "up")
        self.assertEqual((row["state"], row["toolCount"]), ("failed", 2))
        self.assertTrue(row["reason"])
        self.assertEqual(client.list_changes(), 0)
        client.hub.finish()
        self.assertEqual(self.start().own_names(), ["up__a", "up__b"])

    def test_a_tool_that_is_gone(self):
        self.learn()
        self.offer("b", "c")
        client = self.start()
        since = client.hub.mark
        failure = client.call("up__a").tool_error
        self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_INVALID_INPUT", False))
        self.assertSays(failure["message"], 'toolset "up"', '"a"', "list the tools again")
        self.assertEqual(self.up.sync().lines("tools/call"), [])
        client.wait_list_changed(since)
        self.assertEqual(client.own_names(), ["up__b", "up__c"])
        client.call("up__c").result

    def test_bad_files(self):  # D08
        self.learn()
        (path,) = self.files()
        good = path.read_bytes()
        for bad in (b"", b"{", good[:-1], good.replace(b'"a"', b'"x"', 1), good + b" ", b"\0" * 100):
            with self.subTest(bad[:20]):
                path.write_bytes(bad)
                client = self.start()
                self.assertEqual(client.own_names(), ["up__a", "up__b"])
                client.hub.finish()
                self.assertEqual(client.hub.log.count("tools.cache.ignored"), 1)
                self.assertEqual(json.loads(path.read_text(encoding="utf-8"))["patchbayCatalog"], 1)
        path.unlink()
        path.symlink_to(self.home / "elsewhere.json")
        (self.home / "elsewhere.json").write_bytes(good)
        client = self.start()
        client.own_names()
        client.hub.finish()
        self.assertEqual(client.hub.log.count("tools.cache.ignored"), 1)
        self.assertFalse(path.is_symlink())
        self.assertEqual((self.home / "elsewhere.json").read_bytes(), good)

    def test_a_folder_that_cannot_be(self):
        (self.home / "file").write_text("", encoding="utf-8")
        client = self.start(manifest={"hub": {"cache_dir": "file/below"}})
        self.assertEqual(client.own_names(), ["up__a", "up__b"])
        client.hub.wait_log("tools.cache.not_written")
        client.call("up__a").result


class Discovery(HubTest):
    def test_the_dead_and_the_slow_hide_nobody(self):  # U07
        """20 servers, of which 5 are dead and 3 never answer: only the 12 decide when the list comes."""
        recorder = self.recorder()
        toolsets = {f"good{n:02}": recorder.toolset() for n in range(12)}
        toolsets |= {f"dead{n}": {"command": str(self.home / f"no-such-{n}")} for n in range(5)}
        slow = [sys.executable, "-c", "import sys\nfor line in sys.stdin: pass"]
        toolsets |= {f"slow{n}": {"command": slow[0], "args": slow[1:], "startup_timeout": "5m"} for n in range(3)}
        client = self.legacy(toolsets=toolsets, manifest=NOBODY_WAITS)
        listed = {name.partition("__")[0] for name in client.own_names()}
        self.assertGreaterEqual(len(listed), 9)  # three quarters of those that answer at all
        client.hub.wait_until(
            lambda: {name.partition("__")[0] for name in client.own_names()} == {f"good{n:02}" for n in range(12)},
            "all that are well",
        )
        rows = {row["key"]: row for row in self.meta_call(client, "list_toolsets")["toolsets"]}
        for n in range(5):
            self.assertEqual(rows[f"dead{n}"]["state"], "failed")
            self.assertIn(f"no-such-{n}", rows[f"dead{n}"]["reason"])
            client.hub.wait_log(f"tools.discovery.server.failed serverName=dead{n}")
        for n in range(3):
            self.assertEqual(rows[f"slow{n}"]["state"], "connecting")
        client.hub.wait_log("tools.discovery.started serverCount=20")

    def test_a_server_that_comes_later(self):  # U08, S3.67
        """Nobody has to ask for it again, and clients are told once."""
        recorder = self.recorder()
        program = self.home / "server"
        entry = {**recorder.toolset(), "command": str(program)}
        client = self.legacy(toolsets={"up": entry})
        self.assertEqual(client.own_names(), [])
        failure = client.call("up__echo").tool_error  # S4.13
        self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_INVALID_INPUT", False))
        self.assertSays(failure["message"], 'toolset "up"', "cannot start")
        since = client.hub.mark
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        program.chmod(0o700)
        client.wait_list_changed(since)
        self.assertIn("up__echo", client.own_names())
        client.barrier()
        self.assertEqual(len(client.hub.notifications(LIST_CHANGED)), 1)
        client.call("up__echo").result

    def test_a_server_that_is_offline(self):  # S3.66, S3.67, S3.68
        """It is named, the others are there; when it is back its tools are, too, without anybody's doing."""
        recorder = self.recorder()
        program = self.home / "git-server"
        toolsets = {}
        for key, name in (("docker", "docker_ps"), ("linear", "linear_create_issue"), ("git", "git_status")):
            tools = self.home / f"{key}.json"
            tools.write_text(json.dumps([tool(name)]), encoding="utf-8")
            toolsets[key] = recorder.toolset("--tools", tools)
        toolsets["git"]["command"] = str(program)
        client = self.legacy(toolsets=toolsets, manifest={"hub": {"naming": "none"}})
        self.assertEqual(client.own_names(), ["docker_ps", "linear_create_issue"])
        self.assertSays(client.hub.wait_log("tools.discovery.server.failed"), "warning", "serverName=git", "git-server")
        rows = {row["key"]: row for row in self.meta_call(client, "list_toolsets")["toolsets"]}
        self.assertEqual(rows["git"]["state"], "failed")
        self.assertSays(rows["git"]["reason"], "git-server")
        since = client.hub.mark
        program.write_text(f'#!/bin/sh\nexec "{sys.executable}" "$@"\n', encoding="utf-8")
        program.chmod(0o700)
        client.wait_list_changed(since)
        self.assertEqual(sorted(client.own_names()), ["docker_ps", "git_status", "linear_create_issue"])
        self.assertSays(client.hub.wait_log("tools.discovery.server.success serverName=git"), "toolCount=1")

    def test_the_log_has_names_and_ids_alone(self):  # S4.65
        """Not what calls carry, in either direction; at its most talkative, too."""
        recorder = self.recorder()
        manifest = {"log": {"level": "debug"}}
        client = self.legacy(toolsets={"up": recorder.toolset(), "in": fixture("echo")}, manifest=manifest)
        client.names()
        for name in ("up__echo", "in__echo"):
            self.assertIn("cormorant-4711", client.call(name, {"text": "cormorant-4711"}).raw)
        client.hub.finish()
        self.assertNotIn("cormorant-4711", client.hub.log)


if __name__ == "__main__":
    main()
