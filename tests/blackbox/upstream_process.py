# SPDX-License-Identifier: Apache-2.0
"""Upstream servers as processes: start, death, restart, noise (group E; S3.9-S3.19, S4.1-S4.50)."""

import json
import os
import signal
import threading
import time

from mcp import META_TOOLS, TIMEOUT, HubTest, LegacyClient, ModernClient, fixture, key_of, main, slice_at, tool, processes

OFF = {"active": False}


class Starting(HubTest):
    def test_lazy_means_not_started(self):  # S4.1, S4.50
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset(), "alpha": fixture("one")})
        client.request("ping")
        client.call("alpha__one").result
        self.assertEqual(recorder.sync().starts, [])
        self.assertIn("result", client.call("up__echo").data)  # S4.2: the first need starts it
        self.assertEqual(len(recorder.sync().starts), 1)

    def test_eager_starts_at_once(self):
        recorder = self.recorder()
        self.hub(toolsets={"up": recorder.toolset(lazy=False)})
        recorder.wait_request("tools/list")

    def test_a_server_may_write_until_it_ends(self):
        """Stopping it closes its stdin, nothing else: what it says when it sees that is no broken pipe."""
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset("--ignore-eof")})
        client.call("up__echo").result
        client.call("disable_toolset", {"toolset": "up"}).result
        recorder.wait_event("eof")
        recorder.command(write='{"jsonrpc":"2.0","method":"notifications/message","params":{}}')
        self.assertEqual(len(recorder.runs), 1)  # writing did not end it
        recorder.command(exit=0)

    def test_one_process_serves_all(self):  # S3.25
        recorder = self.recorder()
        hub = self.hub(toolsets={"up": recorder.toolset()})
        modern, legacy = ModernClient(hub), LegacyClient(hub)
        for client in (modern, legacy) * 5:
            client.names()
            client.call("up__echo").result
        self.assertEqual(len(recorder.sync().starts), 1)

    def test_both_eras_of_upstream(self):
        for era, first in (("legacy", "initialize"), ("modern", "server/discover")):
            with self.subTest(era):
                recorder = self.recorder()
                client = self.modern(toolsets={"up": recorder.toolset("--era", era)})
                self.assertIn("up__echo", client.names())
                self.assertIn("result", client.call("up__echo", {"a": 1}).data)
                self.assertTrue(recorder.sync().lines(first))
                if era == "legacy":
                    self.assertTrue(recorder.lines("notifications/initialized"))
                client.hub.finish()

    def test_all_legacy_revisions_of_upstream(self):
        for revision in ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"):
            with self.subTest(revision):
                recorder = self.recorder()
                client = self.modern(toolsets={"up": recorder.toolset("--revision", revision)})
                self.assertIn("result", client.call("up__echo").data)
                client.hub.finish()

    def test_a_silent_probe_does_not_wedge(self):  # U24
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset("--silent", "server/discover", lazy=False)})
        client.wait_list_changed(0)
        self.assertIn("result", client.call("up__echo").data)

    def test_the_arguments_arrive_as_written(self):  # U20
        echo = self.home / "argv.py"
        echo.write_text(
            "import json, sys\n"
            "for line in sys.stdin:\n"
            "    m = json.loads(line)\n"
            "    if 'id' not in m: continue\n"
            "    r = {'initialize': {'protocolVersion': '2025-11-25', 'capabilities': {'tools': {}},\n"
            "                        'serverInfo': {'name': 'x', 'version': '1'}},\n"
            "         'tools/list': {'tools': [{'name': 'argv', 'inputSchema': {'type': 'object'}}]},\n"
            "         'tools/call': {'content': [{'type': 'text', 'text': json.dumps(sys.argv[1:])}]}}.get(m['method'])\n"
            "    e = {'error': {'code': -32601, 'message': 'no'}} if r is None else {'result': r}\n"
            "    print(json.dumps({'jsonrpc': '2.0', 'id': m['id'], **e}), flush=True)\n"
        )
        hostile = ["a b", ";id", "$(id)", "`id`", "'\"", "*", "\n", "-x", "", "é", "\\"]
        client = self.modern(toolsets={"up": {"command": "python3", "args": [str(echo), *hostile]}})
        self.assertEqual(json.loads(client.call("up__argv").result["content"][0]["text"]), hostile)

    def test_the_environment_is_what_was_asked_for(self):  # U18, S5.12
        recorder = self.recorder()
        entry = recorder.toolset()
        entry["env"] = {**entry["env"], "GIVEN": "${FROM_HUB}", "PLAIN": "x"}
        client = self.modern(toolsets={"up": entry}, env={"SECRET_TOKEN": "canary", "FROM_HUB": "from the hub"})
        env = json.loads(client.call("up__env").result["content"][0]["text"])
        self.assertEqual((env["GIVEN"], env["PLAIN"]), ("from the hub", "x"))
        self.assertNotIn("canary", json.dumps(env))
        self.assertIn("PATH", env)
        self.assertIn("HOME", env)

    def test_no_descriptors_leak(self):  # U19
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset()})
        client.call("up__echo").result
        pid = recorder.sync().starts[0]
        links = {int(fd): os.readlink(f"/proc/{pid}/fd/{fd}") for fd in os.listdir(f"/proc/{pid}/fd")}
        hub_fds = {os.readlink(f"/proc/{client.hub.process.pid}/fd/{fd}") for fd in os.listdir(f"/proc/{client.hub.process.pid}/fd")}
        self.assertFalse([t for fd, t in links.items() if fd > 2 and t in hub_fds and not t.startswith("anon_inode")])

    def test_slow_and_dead_ones_do_not_hide_the_rest(self):  # U07, U28, S4.44
        good, silent = self.recorder(), self.recorder()
        toolsets = {
            "good": good.toolset(),
            "silent": silent.toolset("--silent", "initialize"),
            "dead": {"command": "/bin/false"},
            "missing": {"command": "patchbay-no-such-command"},
            "alpha": fixture("one"),
        }
        client = self.modern(toolsets=toolsets, manifest={"limits": {"discover_timeout": "15s"}})
        names = client.own_names()
        self.assertIn("alpha__one", names)
        self.assertIn("good__echo", names)
        for toolset in ("dead", "missing"):  # S3.11: each named, with a reason
            client.hub.wait_log(toolset)


class Dying(HubTest):
    def test_calls_in_flight_are_answered_at_once(self):  # U01
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset(), "alpha": fixture("one")})
        client.call("up__echo").result
        held = [client.send_call("up__hold") for _ in range(100)]
        recorder.wait_calls(101)
        os.kill(recorder.sync().starts[0], signal.SIGKILL)
        for request_id in held:
            failure = client.hub.response(request_id).tool_error
            self.assertEqual(failure["code"], "TOOL_UNAVAILABLE")
            self.assertSays(failure["message"], "up")
            self.assertIs(failure["retryable"], True)
        self.assertIn("result", client.call("alpha__one").data)

    def test_it_is_started_again_when_needed(self):  # S3.16, U09
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset()})
        client.call("up__echo").result
        client.wait_list_changed(0)  # its tools have come
        for round in range(3):
            since = client.hub.mark
            self.assertEqual(client.call("up__die").tool_error["code"], "TOOL_UNAVAILABLE")
            recorder.wait_gone(round + 1)
            self.assertIn("up__echo", client.names())  # the last good catalog stays, S4.6
            self.assertIn("structuredContent", client.call("up__echo").result)
            self.assertEqual(len(recorder.sync().starts), round + 2)
            self.assertEqual(client.list_changes(since), 0, "the list has not changed")

    def test_the_answers_of_the_dead_are_not_taken_for_the_living(self):  # U30
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset()})
        client.call("up__echo").result
        held = client.send_call("up__hold")
        old = recorder.wait_calls(2)[-1]
        os.kill(recorder.sync().starts[0], signal.SIGKILL)
        client.hub.response(held).tool_error
        again = client.send_call("up__hold")
        new = recorder.wait_calls(3)[-1]
        self.assertNotEqual(slice_at(old, "id"), slice_at(new, "id"))
        since = client.hub.mark
        recorder.answer(old)
        client.call("up__echo").result
        self.assertEqual(client.hub.mark, since + 1)
        recorder.answer(new)
        client.hub.response(again).result

    def test_a_call_is_never_sent_twice(self):  # D02
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset()})
        client.call("up__echo").result
        mark = recorder.mark
        client.call("up__die", {"nonce": 1}).tool_error
        client.call("up__echo").result
        sent = [line for line in recorder.sync().lines("tools/call", mark) if '"nonce"' in line]
        self.assertEqual(len(sent), 1)

    def test_missing_command(self):  # S3.19, S4.12
        client = self.legacy(toolsets={"up": {"command": "patchbay-no-such-command", **OFF}, "alpha": fixture("one")})
        wanted = self.meta_call(client, "enable_toolset", toolset="up")
        self.assertSays(wanted["message"], "up", "patchbay-no-such-command", "not found")
        self.assertEqual(client.own_names(), ["alpha__one"])

    def test_missing_command_at_start(self):
        client = self.legacy(toolsets={"up": {"command": "patchbay-no-such-command"}, "alpha": fixture("one")})
        self.assertEqual(client.own_names(), ["alpha__one"])
        self.assertSays(client.hub.wait_log("patchbay-no-such-command"), "up")

    def test_a_server_that_exits_at_once(self):
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset("--exit", 7, **OFF)})
        wanted = self.meta_call(client, "enable_toolset", toolset="up")
        self.assertSays(wanted["message"], "up", "told to exit")  # the end of its stderr says why

    def test_not_executable(self):
        script = self.home / "script"
        script.write_text("#!/bin/sh\n")
        client = self.legacy(toolsets={"up": {"command": str(script), **OFF}})
        wanted = self.meta_call(client, "enable_toolset", toolset="up")
        self.assertSays(wanted["message"], "up", str(script), "not executable")

    def test_a_working_directory_that_is_not_there(self):
        entry = self.recorder().toolset(**OFF)
        client = self.legacy(toolsets={"up": {**entry, "cwd": "/nowhere/at/all"}})
        wanted = self.meta_call(client, "enable_toolset", toolset="up")
        self.assertSays(wanted["message"], "up", "/nowhere/at/all")

    def test_a_program_that_is_gone(self):  # S4.13
        """Trying again does not help: a call says so, whatever is wrong with the program now."""
        wrong = {
            "gone": (lambda script: script.unlink(), "no such file"),
            "not executable": (lambda script: script.chmod(0o644), "not executable"),
            "no interpreter": (lambda script: script.write_text("#!/nowhere/sh\n"), "interpreter"),
        }
        for case, (break_it, words) in wrong.items():
            with self.subTest(case):
                script = self.home / f"server-{len(case)}"
                script.write_text('#!/bin/sh\nexec "$@"\n')
                script.chmod(0o755)
                entry = self.recorder().toolset()
                args = [entry["command"], *entry["args"]]
                client = self.modern(toolsets={"up": {**entry, "command": str(script), "args": args}})
                client.call("up__echo").result
                break_it(script)
                failure = client.call("up__die").tool_error
                self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_UNAVAILABLE", True))
                failure = client.call("up__echo").tool_error
                self.assertSays(failure["message"], str(script), words)
                self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_INVALID_INPUT", False))
                client.hub.finish()

    def test_what_died_leaves_no_zombies(self):  # U11
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset()})
        for _ in range(3):
            client.call("up__die").tool_error
        recorder.wait_gone(3)
        client.call("up__echo").result
        pid = client.hub.process.pid
        client.hub.wait_until(lambda: len(processes.descendants(pid)) == 2, "nobody but it and its guard")


class Catalogs(HubTest):
    def test_all_pages_are_read(self):
        recorder = self.recorder()
        tools = self.home / "tools.json"
        tools.write_text(json.dumps([tool(f"t{n:03}") for n in range(25)]))
        client = self.modern(toolsets={"up": recorder.toolset("--tools", tools, "--page-size", 4)})
        self.assertEqual(client.own_names(), [f"up__t{n:03}" for n in range(25)])
        self.assertEqual(len(recorder.sync().lines("tools/list")), 7)

    def test_endless_pages_end(self):  # P14
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset("--endless-pages"), "alpha": fixture("one")})
        self.assertIn("alpha__one", client.own_names())
        self.assertLessEqual(len(recorder.sync().lines("tools/list")), 101)
        self.assertSays(client.hub.wait_log("does not end"), "up")

    def test_a_repeating_cursor_ends(self):
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset("--repeating-cursor"), "alpha": fixture("one")})
        self.assertIn("alpha__one", client.own_names())
        self.assertLessEqual(len(recorder.sync().lines("tools/list")), 3)
        self.assertSays(client.hub.wait_log("does not end"), "up")

    def test_bad_tools_are_dropped_and_the_good_ones_stay(self):  # P15
        recorder = self.recorder()
        tools = self.home / "tools.json"
        bad = [{"name": "", "inputSchema": {"type": "object"}}, {"name": "x" * 129, "inputSchema": {"type": "object"}}]
        bad += [{"inputSchema": {"type": "object"}}, {"name": "no_schema"}, {"name": "list", "inputSchema": []}, 7, None]
        tools.write_text(json.dumps([tool("good"), *bad, tool("also_good")]))
        client = self.modern(toolsets={"up": recorder.toolset("--tools", tools)})
        self.assertEqual(client.own_names(), ["up__also_good", "up__good"])
        client.hub.wait_log("no_schema")

    def test_a_new_list_replaces_the_old_one(self):  # S4.30
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset()})
        client.call("up__echo").result
        client.wait_list_changed(0)  # its tools have come
        since = client.hub.mark
        recorder.command(tools=json.dumps([tool("echo"), tool("b")]), notify=1)
        client.wait_list_changed(since)
        self.assertEqual(client.own_names(), ["up__b", "up__echo"])
        self.assertEqual(client.call("up__hold").code, -32602)

    def test_a_broken_new_list_keeps_the_old_one(self):  # S4.6, S4.48
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset()})
        client.call("up__echo").result
        before, mark = client.own_names(), recorder.mark
        recorder.command(tools='"not a list"', notify=1)
        recorder.wait_request("tools/list", mark)
        client.call("up__echo").result
        self.assertEqual(client.own_names(), before)
        self.assertSays(client.hub.wait_log("list"), "up")


class Talking(HubTest):
    def start(self, *flags, **options):
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset(*flags)}, **options)
        client.call("up__echo").result
        return client, recorder

    def test_a_ping_of_the_upstream_is_answered(self):  # U23
        client, recorder = self.start()
        for raw_id in ("1", '"1"', '"p"'):
            recorder.write(f'{{"jsonrpc":"2.0","id":{raw_id},"method":"ping"}}')
            answer = recorder.wait_line(
                lambda m: "method" not in m and key_of(m.get("id")) == raw_id, "the answer to ping"
            )
            self.assertEqual(json.loads(answer)["result"], {})

    def test_requests_that_nobody_can_answer_are_refused(self):  # U23
        client, recorder = self.start()
        for number, method in enumerate(("roots/list", "sampling/createMessage", "elicitation/create", "no/such")):
            recorder.write(f'{{"jsonrpc":"2.0","id":"ask{number}","method":"{method}","params":{{}}}}')
            answer = recorder.wait_line(lambda m: m.get("id") == f"ask{number}", method)
            self.assertEqual(json.loads(answer)["error"]["code"], -32601)
        client.call("up__echo").result

    def test_noise_on_stdout_is_skipped(self):  # U04
        client, recorder = self.start()
        for _ in range(20):
            self.assertEqual(client.call("up__noise").result["content"][0]["text"], "after the noise")
        self.assertEqual(len(recorder.sync().starts), 1)

    def test_a_flood_on_stderr_does_not_block(self):  # U02
        client, recorder = self.start()
        before, began = processes.memory_kib(client.hub.process.pid), time.monotonic()
        recorder.command(stderr=32 << 20)
        client.call("up__echo").result
        self.assertLess(processes.memory_kib(client.hub.process.pid) - before, 8 * 1024)
        # A hundred lines a second, of a KiB.
        self.assertLess(len(client.hub.log), max(1 << 20, (time.monotonic() - began + 2) * 100 * 2048))

    def test_one_that_does_not_read(self):  # U05
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset(), "alpha": fixture("one")})
        client.call("up__echo").result
        recorder.command(pause=True)
        held = [client.send_call("up__hold", {"x": "y" * 500_000}) for _ in range(8)]
        self.assertIn("result", client.call("alpha__one").data)  # nobody else waits
        recorder.command(pause=False)
        recorder.wait_calls(9)
        for request_id in held:
            client.cancel(request_id)

    def test_a_call_with_a_deadline(self):  # U06
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset(timeout="3s")})
        client.call("up__echo").result
        failure = client.call("up__hold").tool_error
        self.assertEqual(failure["code"], "TOOL_EXECUTION_FAILED")
        self.assertSays(failure["message"], 'toolset "up"', "no answer within 3 s, and no progress", "`timeout`")
        line = recorder.wait_request("notifications/cancelled")
        self.assertEqual(slice_at(line, "params", "requestId"), slice_at(recorder.wait_calls(2)[-1], "id"))

    def test_progress_keeps_a_call_alive(self):
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset(timeout="6s")})
        client.call("up__echo").result
        held = client.send_call("up__hold", meta={"progressToken": "t"})
        line = recorder.wait_calls(2)[-1]
        token = slice_at(line, "params", "_meta", "progressToken")
        for step in range(1, 4):
            since = client.hub.mark
            recorder.write(
                f'{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":{step}}}}}'
            )
            client.hub.wait_for(lambda m: m.method == "notifications/progress", "progress", since)
            threading.Event().wait(2.5)  # a deadline cannot be tested without time passing
        recorder.answer(line)
        client.hub.response(held).result

    def test_tool_errors_pass_unchanged(self):
        client, recorder = self.start()
        answer = client.call("up__fail")
        self.assertIs(answer.result["isError"], True)
        self.assertEqual(answer.result["content"], [{"type": "text", "text": "it failed"}])
        self.assertEqual(client.call("up__error").error, {"code": 4242, "message": "an error of the recorder", "data": {"why": ["told", "to"]}})

    def test_disable_ends_the_process(self):
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset("--child", "--ignore-term")})
        client.call("up__echo").result
        client.hub.remember_descendants()
        self.assertEqual(len(client.hub.descendants), 3)  # the server, its child, its guard
        client.call("disable_toolset", {"toolset": "up"}).result
        recorder.wait_event("eof")
        left = processes.wait_gone({pid for pid, _ in client.hub.descendants}, TIMEOUT)
        self.assertEqual(left, set())
        self.assertEqual(client.names(), META_TOOLS)
        client.call("enable_toolset", {"toolset": "up"}).result
        self.assertIn("result", client.call("up__echo").data)


if __name__ == "__main__":
    main()
