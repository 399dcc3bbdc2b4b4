# SPDX-License-Identifier: Apache-2.0
"""Modules in processes of their own: `isolation: process`, `patchbay module-host` (DESIGN.md, Modules; RELIABILITY.md
G03 to G05, L05). What such a module does to itself happens to nothing else, and all else works as if it were in the hub."""

import contextlib
import json
import os
import shutil
import socket
import subprocess
from pathlib import Path

from mcp import ROOT, SUPPORT, TIMEOUT, Hub, HubTest, LegacyClient, ModernClient, compile_plugin, hub_binary, main

MISBEHAVE = SUPPORT / "plugins" / "misbehave.c"
NOTES = ROOT / "examples" / "notes_plugin" / "notes.c"

# A sanitizer would turn a crash into a report; these processes are to end as a release's do.
PLAIN = {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:handle_sigill=1:detect_leaks=0:detect_odr_violation=0:intercept_tls_get_addr=0"}


def is_sanitized():
    return b"__asan_init" in subprocess.run(["nm", "-D", hub_binary()], capture_output=True, check=False).stdout


def text_of(message):
    return message.result["content"][0]["text"]


class Isolated(HubTest):
    def setUp(self):
        super().setUp()
        self.plugins = self.home / "plugins"
        self.plugins.mkdir(mode=0o755)
        self.outside = self.home / "outside"
        self.outside.mkdir(mode=0o755)

    def plugin(self, name="misbehave", reply=None, source=MISBEHAVE, folder=None):
        return compile_plugin(folder or self.plugins, name, reply, source)

    def entry(self, **keys):
        return {"isolation": "process", "env": PLAIN, "restart_delay": "10ms", "restart_delay_max": "50ms", **keys}

    def options(self, **toolsets):
        return {"toolsets": toolsets}

    def start(self, *args, client=LegacyClient, manifest=None, capabilities=None, **toolsets):
        hub = self.hub("--plugins-dir", self.plugins, *args, toolsets=toolsets, manifest=manifest)
        return client(hub, capabilities=capabilities)

    def pid(self, client, toolset="misbehave"):
        return int(text_of(client.call(f"{toolset}__pid")))


class Works(Isolated):
    """Nothing is different but the process."""

    def test_a_process_of_its_own(self):
        self.plugin()
        client = self.start(misbehave=self.entry(), other={"module": "time"})
        own = self.pid(client)
        self.assertNotEqual(own, client.hub.process.pid)
        maps = Path(f"/proc/{client.hub.process.pid}/maps").read_text(encoding="utf-8")
        self.assertNotIn("misbehave", maps)
        self.assertIn("misbehave", Path(f"/proc/{own}/maps").read_text(encoding="utf-8"))

    def test_the_definitions_are_the_same(self):
        self.plugin()
        tools = []
        for entry in (self.entry(), {"isolation": "none"}):
            client = self.start(misbehave=entry)
            tools.append(client.raw_tools())
            client.hub.finish()
        self.assertEqual(tools[0], tools[1])
        self.assertIn("misbehave__echo", tools[0])

    def test_the_default_for_all(self):
        self.plugin()
        self.plugin("inside")
        manifest = {"modules": {"isolation": "process"}}
        client = self.start(manifest=manifest, misbehave={"module": "misbehave"}, inside={"isolation": "none"})
        self.assertNotEqual(self.pid(client), client.hub.process.pid)
        self.assertEqual(self.pid(client, "inside"), client.hub.process.pid)

    def test_a_module_inside_and_outside(self):
        self.plugin()
        client = self.start(inside={"module": "misbehave"}, outside=self.entry(module="misbehave"))
        self.assertEqual(self.pid(client, "inside"), client.hub.process.pid)
        self.assertNotEqual(self.pid(client, "outside"), client.hub.process.pid)

    def test_the_configuration_is_seen_by_the_module_alone(self):
        self.plugin()
        secret = "s3cr3t \u00e9 \\ \" word"
        client = self.start(misbehave=self.entry(config={"word": secret}))
        self.assertEqual(text_of(client.call("misbehave__word")), secret)
        own = self.pid(client)
        for name in ("cmdline", "environ"):
            self.assertNotIn(b"s3cr3t", Path(f"/proc/{own}/{name}").read_bytes())
        self.assertNotIn("s3cr3t", client.hub.log)

    def test_a_large_configuration(self):
        """More than an argument or a variable could hold (128 KiB each)."""
        self.plugin()
        word = "x" * (1 << 20)
        client = self.start(misbehave=self.entry(config={"word": word}))
        self.assertEqual(text_of(client.call("misbehave__word")), word)

    def test_progress_and_messages(self):
        self.plugin()
        client = self.start(misbehave=self.entry())
        client.request("logging/setLevel", {"level": "debug"}).result
        since = client.hub.mark
        self.assertEqual(text_of(client.call("misbehave__progress", meta={"progressToken": "t"})), "done")
        (progress,) = client.hub.notifications("notifications/progress", since)
        self.assertEqual((progress.params["progressToken"], progress.params["progress"]), ("t", 1))
        (message,) = client.hub.notifications("notifications/message", since)
        self.assertEqual((message.params["level"], message.params["data"]), ("warning", "a message"))

    def test_cancellation(self):
        self.plugin()
        client = self.start(misbehave=self.entry())
        self.assertEqual(text_of(client.call("misbehave__echo")), "misbehave")
        client.cancel(client.send_call("misbehave__hold"))
        client.hub.wait_log("hold was cancelled")
        self.assertEqual(text_of(client.call("misbehave__echo")), "misbehave")

    def test_resources_prompts_and_completion(self):
        self.plugin("notes", source=NOTES)
        client = self.start(notes=self.entry())
        client.call("notes__write_note", {"name": "one", "text": "the first"}).result

        def is_listed():
            return [r["uri"] for r in client.request("resources/list").result["resources"]] == ["note://one"]

        client.hub.wait_until(is_listed, "the note in the list")
        read = client.request("resources/read", {"uri": "note://one"}).result["contents"][0]
        self.assertEqual(read["text"], "the first")
        prompt = client.request("prompts/get", {"name": "notes__summarise", "arguments": {"note": "one"}}).result
        self.assertEqual(len(prompt["messages"]), 2)
        completed = client.request("completion/complete", {
            "ref": {"type": "ref/prompt", "name": "notes__summarise"}, "argument": {"name": "note", "value": "o"},
        }).result["completion"]
        self.assertEqual(completed["values"], ["one"])
        client.request("resources/subscribe", {"uri": "note://one"}).result
        since = client.hub.mark
        client.hub.answers["elicitation/create"] = lambda params: {"action": "accept", "content": {"overwrite": True}}
        client.call("notes__write_note", {"name": "one", "text": "the second"}).result

        def is_told(message):
            return message.method == "notifications/resources/updated"

        self.assertEqual(client.hub.wait_for(is_told, "the change", since).params["uri"], "note://one")

    def ask_to_overwrite(self, client):
        client.call("notes__write_note", {"name": "one", "text": "the first"}).result
        return client.call("notes__write_note", {"name": "one", "text": "the second"})

    def test_questions_of_a_legacy_client(self):
        self.plugin("notes", source=NOTES)
        client = self.start(notes=self.entry(), capabilities={"elicitation": {}})
        client.hub.answers["elicitation/create"] = lambda params: {"action": "accept", "content": {"overwrite": False}}
        self.assertEqual(text_of(self.ask_to_overwrite(client)), "The note was left as it is.")

    def test_questions_of_a_modern_client(self):
        self.plugin("notes", source=NOTES)
        client = self.start(notes=self.entry(), client=ModernClient, capabilities={"elicitation": {"form": {}}})
        first = self.ask_to_overwrite(client).result
        self.assertEqual(first["resultType"], "input_required")
        (key,) = first["inputRequests"]
        answer = client.request("tools/call", {
            "name": "notes__write_note",
            "arguments": {"name": "one", "text": "the second"},
            "inputResponses": {key: {"action": "accept", "content": {"overwrite": False}}},
            "requestState": first["requestState"],
        })
        self.assertEqual(text_of(answer), "The note was left as it is.")

    def test_it_is_stopped_when_idle(self):
        self.plugin()
        client = self.start(misbehave=self.entry(idle_timeout="100ms"))
        own = self.pid(client)
        client.hub.wait_log("nobody needs the server")
        self.assertNotEqual(self.pid(client), own)


class Misbehaves(Isolated):
    """G04: its calls get errors, it is there again at the next need, and nobody else notices."""

    def check(self, tool, *says, **keys):
        self.plugin()
        self.plugin("bystander")
        client = self.start(misbehave=self.entry(**keys), bystander=self.entry(), inside={"module": "time"})
        first, bystander = self.pid(client), self.pid(client, "bystander")
        held = client.send_call("bystander__hold")
        failure = client.call(f"misbehave__{tool}").tool_error
        self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_UNAVAILABLE", True))
        self.assertSays(failure["message"], 'toolset "misbehave"', 'plugin "misbehave"', *says)
        self.assertEqual(text_of(client.call("misbehave__echo")), "misbehave")
        self.assertNotEqual(self.pid(client), first)
        self.assertEqual(self.pid(client, "bystander"), bystander)
        self.assertIn("result", client.call("inside__now").data)
        client.cancel(held)
        return client

    def test_a_crash_on_the_loop(self):
        self.check("segv", "SIGSEGV")

    def test_a_crash_in_a_thread(self):
        self.check("segv_in_a_thread", "SIGSEGV")

    def test_abort(self):
        self.check("abort", "SIGABRT")

    def test_exit(self):
        self.check("exit", "exited with code 3")

    def test_calls_beside_the_crash(self):
        """All that were in flight end with errors, each exactly once."""
        self.plugin()
        client = self.start(misbehave=self.entry())
        held = [client.send_call("misbehave__hold") for _ in range(3)]
        self.assertEqual(text_of(client.call("misbehave__echo")), "misbehave")
        client.call("misbehave__segv").tool_error
        for request_id in held:
            self.assertSays(client.hub.response(request_id).tool_error["message"], "SIGSEGV")
        self.assertEqual(text_of(client.call("misbehave__echo")), "misbehave")

    def test_a_hundred_crashes(self):
        self.plugin()
        client = self.start(misbehave=self.entry(restart_delay="1ms", restart_delay_max="1ms"))
        for _ in range(100):
            client.call("misbehave__segv").tool_error
        self.assertEqual(text_of(client.call("misbehave__echo")), "misbehave")

    def test_a_loop_without_end(self):
        """G05: the call ends by its deadline; that the process does not answer any more is noticed."""
        self.plugin()
        client = self.start(misbehave=self.entry(timeout="4s", health_interval="8s"), inside={"module": "time"})
        first = self.pid(client)
        failure = client.call("misbehave__loop").tool_error
        self.assertSays(failure["message"], "no answer within")
        client.hub.wait_log("hangs")
        self.assertNotEqual(self.pid(client), first)
        self.assertIn("result", client.call("inside__now").data)

    def test_writing_to_standard_output(self):
        self.plugin()
        client = self.start(misbehave=self.entry())
        own = self.pid(client)
        self.assertEqual(text_of(client.call("misbehave__print")), "printed")
        self.assertEqual(text_of(client.call("misbehave__echo")), "misbehave")
        self.assertEqual(self.pid(client), own)

    def test_memory(self):
        """What is over the limit is refused to the module, not taken from others."""
        if is_sanitized():
            self.skipTest("the sanitizer's own memory does not fit into any limit")
        self.plugin()
        client = self.start(misbehave=self.entry(memory_limit="128MiB"))
        self.assertLess(int(text_of(client.call("misbehave__grow"))), 128)
        self.assertIn("result", client.call("misbehave__echo").data)
        client = self.start(misbehave=self.entry(memory_limit="512MiB"))
        got = int(text_of(client.call("misbehave__grow")))
        self.assertTrue(128 < got < 512, got)
        client = self.start(misbehave=self.entry())
        self.assertEqual(text_of(client.call("misbehave__grow")), "1024")  # all that it wants


class Starts(Isolated):
    """A module that is refused, by the checks or by itself, is refused in the same words as in the hub."""

    def check(self, *says, **keys):
        client = self.start(misbehave=self.entry(lazy=False, **keys), inside={"module": "time"})
        self.assertSays(client.hub.wait_log("toolset.failed"), *says)
        self.assertIn("result", client.call("inside__now").data)

    def test_a_constructor_that_crashes(self):  # G03
        self.plugin(reply="crash")
        self.check("SIGABRT")

    def test_a_constructor_that_exits(self):  # G03
        self.plugin(reply="exit")
        self.check("exited")

    def test_a_constructor_that_loops(self):  # G03
        self.plugin(reply="loop")
        self.check("not ready within 0.5 s", "startup_timeout", startup_timeout="500ms")

    def test_a_creation_that_crashes(self):
        self.plugin(reply="create-crash")
        self.check("SIGABRT")

    def test_a_bad_configuration(self):
        self.plugin()
        self.check("config.wrod: is not known", 'reason="plugin ', config={"wrod": "x"})

    def test_the_modules_own_reason(self):
        self.plugin()
        self.check("told to fail", config={"fail": "because"})

    def test_a_file_that_is_no_plugin(self):
        source = self.outside / "bare.c"
        source.write_text("int patchbay_some_symbol = 1;\n")
        self.plugin(source=source)
        self.check("patchbay_plugin_v1")

    def test_a_module_that_is_not_there(self):
        client = self.start(missing=self.entry())
        self.assertSays(client.hub.wait_log("toolset.skipped"), 'no plugin', 'missing')

    def test_a_file_that_others_may_write_to(self):  # G02
        self.plugin().chmod(0o777)
        client = self.start(misbehave=self.entry())
        self.assertSays(client.hub.wait_log("resolver.refused"), "misbehave.so", "777")

    def test_without_what_runs_it(self):
        self.plugin()
        hub = self.hub("--plugins-dir", self.plugins, toolsets={"misbehave": self.entry()}, modules=False)
        LegacyClient(hub)
        self.assertSays(hub.wait_log("toolset.skipped"), "mcp_upstream")


class Changes(Isolated):
    def test_a_new_file_takes_over(self):  # G08
        self.plugin(reply="old")
        client = self.start(misbehave=self.entry())
        own = self.pid(client)
        held = client.send_call("misbehave__hold")
        self.assertEqual(text_of(client.call("misbehave__echo")), "old")
        shutil.move(self.plugin(reply="new", folder=self.outside), self.plugins / "misbehave.so")
        client.hub.wait_until(lambda: text_of(client.call("misbehave__echo")) == "new", "the new plugin")
        self.assertNotEqual(self.pid(client), own)
        client.cancel(held)  # of the old one, which has finished its calls with that

    def test_new_tools_are_announced(self):
        self.plugin("changing", reply="x", source=SUPPORT / "fixture_toolset.c")
        client = self.start(changing=self.entry())
        self.assertEqual(client.own_names(), ["changing__ping"])
        since = client.hub.mark
        shutil.move(self.plugin("changing", folder=self.outside), self.plugins / "changing.so")
        client.wait_list_changed(since)
        self.assertIn("changing__echo", client.own_names())

    def reload(self, client, **toolsets):
        self.replace_manifest(client.hub, {"toolsets": toolsets})

    def test_moving_in_and_out(self):
        """A reload may change where the module runs, and what it is told."""
        self.plugin()
        client = self.start(misbehave=self.entry(config={"word": "one"}))
        outside = self.pid(client)
        self.reload(client, misbehave={"config": {"word": "two"}})
        self.assertEqual(self.pid(client), client.hub.process.pid)
        self.assertEqual(text_of(client.call("misbehave__word")), "two")
        self.reload(client, misbehave=self.entry(config={"word": "three"}))
        self.assertNotIn(self.pid(client), (client.hub.process.pid, outside))
        self.assertEqual(text_of(client.call("misbehave__word")), "three")


class Probes(Isolated):
    """G03: what looks at a plugin loads it in a process of its own."""

    def inspect(self, *says, code=3, **plugin):
        done = self.cli("module", "inspect", self.plugin(**plugin), modules=False)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertSays(done.stderr + done.stdout, "misbehave", *says)

    def check(self, *says, code=3, entry=None, **plugin):
        self.plugin(**plugin)
        done = self.cli("check", "--plugins-dir", self.plugins, toolsets={"misbehave": entry or {"config": {}}})
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertSays(done.stderr + done.stdout, *says)

    def test_inspecting(self):
        self.inspect("Misbehaves as the tests want it.", code=0)
        self.inspect("crashed (SIGABRT)", reply="crash")
        self.inspect("exit() was called", reply="exit")
        self.inspect("not come to an end", reply="loop")
        self.inspect("crashed (SIGABRT)", reply="create-crash")

    def test_checking(self):
        self.check("configuration OK", code=0)
        self.check("crashed (SIGABRT)", "misbehave.so", reply="crash")
        self.check("exit() was called", "misbehave.so", reply="exit")
        self.check("misbehave.so: loading does not come to an end within 5000 ms", reply="loop")

    def test_checking_what_a_toolset_makes_of_it(self):
        self.check("crashed (SIGABRT)", 'toolset "misbehave"', reply="create-crash")
        self.check("exit() was called", 'toolset "misbehave"', reply="create-exit")
        self.check('toolset "misbehave": loading does not come to an end within 5000 ms', reply="create-loop")

    def test_checking_what_is_isolated(self):
        self.check("configuration OK", code=0, entry=self.entry())
        self.check("config.wrod: is not known", entry=self.entry(config={"wrod": 1}))
        self.check("told to fail", entry=self.entry(config={"fail": "so"}))
        self.check("crashed (SIGABRT)", reply="create-crash", entry=self.entry())


class Blocks(Isolated):
    """G05: a module in the hub that keeps everybody waiting is named."""

    def test_while_it_does(self):
        self.plugin()
        hub = self.hub("--plugins-dir", self.plugins, toolsets={"misbehave": {"config": {}}}, exit_code=-9)
        client = LegacyClient(hub)
        self.assertEqual(text_of(client.call("misbehave__echo")), "misbehave")
        client.send_call("misbehave__loop")
        line = hub.wait_log("plugin.blocks")
        self.assertSays(line, "toolset=misbehave", "module=misbehave", "entry=call", "tool=loop")
        hub.process.kill()  # it would wait for ever

    def test_the_service_manager_hears_nothing_more(self):  # L05
        """As long as the loop stands no ping goes out, so systemd restarts the hub."""
        self.plugin()
        managers = {}
        for name in ("stuck", "well"):
            managers[name] = manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
            self.addCleanup(manager.close)
            manager.bind(str(self.home / name))
            manager.settimeout(TIMEOUT)
        clients = {}
        for name in managers:
            hub = self.hub("--plugins-dir", self.plugins, toolsets={"misbehave": {"config": {}}},
                           env={"NOTIFY_SOCKET": str(self.home / name), "WATCHDOG_USEC": "200000"},
                           exit_code=-9 if name == "stuck" else 0)
            clients[name] = LegacyClient(hub)
            self.assertEqual(managers[name].recv(4096), b"READY=1")
        self.assertEqual(managers["stuck"].recv(4096), b"WATCHDOG=1")
        stuck = clients["stuck"].hub
        clients["stuck"].send_call("misbehave__loop")
        stuck.wait_log("plugin.blocks")
        for manager in managers.values():
            manager.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                while True:
                    manager.recv(4096)
            manager.settimeout(TIMEOUT)
        for _ in range(5):
            self.assertEqual(managers["well"].recv(4096), b"WATCHDOG=1")
        managers["stuck"].setblocking(False)
        with self.assertRaises(BlockingIOError):
            managers["stuck"].recv(4096)
        stuck.process.kill()  # as systemd does when the time is up

    def test_once_for_each_time(self):
        self.plugin()
        client = self.start(misbehave={"config": {}})

        def named():
            return sum("plugin.blocks" in line and "tool=block" in line for line in client.hub.log.splitlines())

        for n in range(1, 3):
            self.assertEqual(text_of(client.call("misbehave__block", {"ms": 3000})), "blocked")
            client.hub.wait_until(lambda n=n: named() == n, "it is named")
        client.hub.wait_log("plugin.slow")


class Host(Isolated):
    """The command by itself: an MCP server over stdio, to any client."""

    def host(self, *args, **options):
        hub = Hub(command=[hub_binary(), "module-host", *map(str, args)], home=self.home, **options)
        self.addCleanup(self._finish, hub)
        return hub

    def test_clients_of_both_eras(self):
        path = self.plugin()
        for make in (LegacyClient, ModernClient):
            client = make(self.host(path))
            self.assertIn("segv", client.names())
            self.assertEqual(text_of(client.call("echo")), "misbehave")
            self.assertEqual(text_of(client.call("print")), "printed")
            self.assertEqual(client.names(), sorted(client.names()))
            client.hub.finish()

    def test_a_configuration_in_a_file(self):
        path, config = self.plugin(), self.home / "config.json"
        config.write_text('{\n "word": "filed"\n}')
        client = LegacyClient(self.host(path, "--config-json", config))
        self.assertEqual(text_of(client.call("word")), "filed")

    def test_a_limit_with_a_unit(self):
        """As the manifest has it; a bare number is bytes."""
        path = self.plugin()
        for text in ("65536GiB", "67108864MiB", "70368744177664"):
            client = LegacyClient(self.host(path, "--memory-limit", text))
            limits = Path(f"/proc/{client.hub.process.pid}/limits").read_text()
            self.assertRegex(limits, r"Max data size +70368744177664 +70368744177664 ")
            client.hub.finish()

    def refusal(self, *args, stdin=None):
        done = subprocess.run([hub_binary(), "module-host", *map(str, args)], input=stdin or "", text=True,
                              capture_output=True, check=False, timeout=TIMEOUT)
        self.assertEqual(done.stdout, "")
        self.assertIn("patchbay: ", done.stderr)
        return done.returncode, done.stderr

    def test_refusals(self):
        path = self.plugin()
        for args, stdin, code, says in (
            ([], None, 2, "usage"),
            ([self.home / "none.so"], None, 3, "there is no such file"),
            ([path, "--config-json", "-"], "[1]\n", 3, "wanted an object"),
            ([path, "--config-json", "-"], "{\n", 3, "--config-json"),
            ([path, "--config-json", "-"], '{"wrod":1}\n', 3, "config.wrod"),
            ([path, "--config-json", "-"], '{"fail":"so"}', 3, "told to fail: \"so\""),
            ([path, "--config-json", self.home / "none.json"], None, 3, "none.json"),
            ([path, "--memory-limit", "much"], None, 2, "--memory-limit"),
            ([path, "--memory-limit", "128Mb"], None, 2, '"128MiB"'),
            ([path, "--memory-limit", ""], None, 2, "--memory-limit"),
            ([MISBEHAVE], None, 3, "ELF"),
        ):
            found, text = self.refusal(*args, stdin=stdin)
            self.assertEqual(found, code, text)
            self.assertIn(says, text)


if __name__ == "__main__":
    main()
