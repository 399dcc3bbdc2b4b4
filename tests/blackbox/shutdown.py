# SPDX-License-Identifier: Apache-2.0
"""How the hub ends: promptly, cleanly, and alone (S01-S03, S07, U10, U12)."""

import json
import os
import signal
import subprocess
import time

from mcp import MARKER, TIMEOUT, HubTest, LegacyClient, ModernClient, fixture, hub_command, hub_environment, main, processes
from supervision_floods import is_sanitized

TOOLSETS = {"alpha": fixture("one", "hold")}


class Ending(HubTest):
    def time_to_end(self, hub):
        began = time.monotonic()
        hub.finish()
        return time.monotonic() - began

    def test_end_of_input_when_idle(self):  # S01
        slack = 10 if is_sanitized() else 1  # the leak check takes its time
        times = []
        for _ in range(5):
            client = self.legacy(toolsets=TOOLSETS)
            client.request("ping")
            times.append(self.time_to_end(client.hub))
        self.assertLess(min(times), 0.5 * slack)  # the others had a machine that was busy

    def test_end_of_input_before_any_message(self):
        hub = self.hub(toolsets=TOOLSETS)
        hub.finish()
        self.assertEqual(hub.messages, [])

    def test_end_of_input_with_calls_in_flight(self):  # S01
        recorder = self.recorder()
        hub = self.hub(toolsets={**TOOLSETS, "up": recorder.toolset("--ignore-term", "--ignore-eof", "--child")})
        client = LegacyClient(hub)
        client.call("up__echo").result
        for _ in range(50):
            client.send_call("up__hold")
            client.send_call("alpha__hold")
        recorder.wait_calls(51)
        hub.remember_descendants()
        self.assertEqual(len(hub.descendants), 3)  # the server, its child, its guard
        self.assertLess(self.time_to_end(hub), 30)  # nobody waits for the calls, which have ten minutes

    def test_servers_that_are_slow_to_end_are_left_to_their_guards(self):
        """Clients wait 0.7 s (mcporter) or 2 s (Python SDK) for a hub before they kill it: a server may take longer."""
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset("--ignore-term", "--ignore-eof", "--child")})
        client.call("up__echo").result
        client.hub.finish()  # which looks for what is left
        self.assertIn("process.left_to_guards processes=1", client.hub.log)
        self.assertNotIn("process.stuck", client.hub.log)
        recorder.wait_event("eof")

    def test_a_hub_behind_a_hub_waits_for_its_servers(self):
        """Its end is the end of all below it: they have as long as a hub in front would give them."""
        recorder = self.recorder()
        manifest = {"toolsets": {"up": recorder.toolset()}}
        inner = hub_command(manifest=manifest, home=self.home)
        env = {MARKER: f"${{{MARKER}}}"}
        client = self.modern(toolsets={"in": {"command": inner[0], "args": inner[1:], "env": env}})
        client.call("in__up__echo").result
        client.hub.finish()
        recorder.wait_event("eof")

    def test_the_answer_of_a_command_comes_before_its_servers_end(self):
        recorder = self.recorder()
        manifest = {"toolsets": {"up": recorder.toolset("--ignore-term", "--ignore-eof")}}
        command = hub_command(manifest=manifest, home=self.home)
        process = subprocess.Popen(
            [command[0], "call", "up__echo", *command[1:]],
            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.home,
            env=hub_environment(self.home, {MARKER: "call"}),
        )
        recorder.wait_event("eof")
        os.set_blocking(process.stdout.fileno(), False)
        self.assertTrue(process.stdout.read(), "nothing was printed when the server was told to end")
        self.assertEqual(process.wait(TIMEOUT), 0, process.stderr.read())
        process.stdout.close()
        process.stderr.close()

    def test_requests_before_the_end_are_answered(self):
        client = self.legacy(toolsets=TOOLSETS)
        ids = [client.send_call("alpha__one") for _ in range(100)]
        client.hub.finish()
        for request_id in ids:
            self.assertIn("result", client.hub.response(request_id).data)

    def test_requests_of_a_pipe_that_has_ended(self):
        """All that the hub is to do is there, and its end: what was chosen before is not read yet."""
        messages = [
            {"id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {},
                                                         "clientInfo": {"name": "pipe", "version": "1"}}},
            {"method": "notifications/initialized"},
            {"id": 2, "method": "tools/list"},
            {"id": 3, "method": "tools/call", "params": {"name": "alpha__one"}},
        ]
        text = "".join(json.dumps({"jsonrpc": "2.0", **message}) + "\n" for message in messages)
        manifest = {"hub": {"remember": "all"}, "state": str(self.home / "state.db")}
        for _ in range(2):  # there is no store yet; there is one
            done = self.cli("serve", "--stdio", toolsets=TOOLSETS, manifest=manifest, stdin=text)
            answers = {answer["id"]: answer for answer in map(json.loads, done.stdout.splitlines())}
            self.assertEqual(sorted(answers), [1, 2, 3], done.stderr)
            for answer in answers.values():
                self.assertIn("result", answer)

    def test_upstreams_are_asked_to_end_first(self):  # spec: close stdin, wait, SIGTERM, SIGKILL
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset("--child", "--ignore-term")})
        client.call("up__echo").result
        client.hub.finish()
        recorder.wait_event("eof")

    def test_sigterm_and_sigint(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            recorder = self.recorder()
            manifest = {"limits": {"drain_timeout": "200ms"}}
            client = self.legacy(toolsets={"up": recorder.toolset()}, manifest=manifest)
            client.call("up__echo").result
            client.send_call("up__hold")
            recorder.wait_calls(2)
            client.hub.remember_descendants()
            client.hub.process.send_signal(number)
            self.assertEqual(client.hub.wait_exit(), 0)
            client.hub.finish()

    def test_the_client_closes_stdout(self):  # S03
        hub = self.hub(toolsets=TOOLSETS)
        client = LegacyClient(hub)
        process = subprocess.Popen(
            hub.process.args, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, cwd=self.home
        )
        process.stdout.close()
        process.stdin.write(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        process.stdin.flush()
        self.assertEqual(process.wait(TIMEOUT), 0, process.stderr.read())
        process.stdin.close()
        process.stderr.close()
        client.request("ping")

    def test_a_killed_hub_leaves_nobody(self):  # U12
        recorder = self.recorder()
        hub = self.hub(toolsets={"up": recorder.toolset("--ignore-eof")}, exit_code=-signal.SIGKILL)
        client = ModernClient(hub)
        client.call("up__echo").result
        hub.remember_descendants()
        self.assertEqual(len(hub.descendants), 2)  # the server and its guard
        hub.kill()
        hub.wait_exit()
        hub.check_no_descendants()

    def test_ended_while_an_upstream_starts(self):  # L09
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset("--silent", "server/discover")})
        client.send("tools/list")
        recorder.wait_request("server/discover")
        self.assertLess(self.time_to_end(client.hub), 25)  # nobody waits for the handshake, which has half a minute

    def test_ended_by_a_probing_client(self):
        # The TypeScript client 2.x asks server/discover of a hub of its own, closes its input and
        # sends SIGTERM at once.
        for _ in range(10):
            recorder = self.recorder()
            client = self.modern(toolsets={"up": recorder.toolset(lazy=False)})
            client.request("server/discover")
            client.hub.remember_descendants()
            client.hub.close_stdin()
            client.hub.process.send_signal(signal.SIGTERM)
            self.assertEqual(client.hub.wait_exit(), 0)
            client.hub.finish()

    def test_two_hubs_at_a_time(self):
        first, second = self.modern(toolsets=TOOLSETS), self.modern(toolsets=TOOLSETS)
        self.assertEqual(first.own_names(), second.own_names())

    def test_descriptors_keep_their_flags(self):  # S07
        import fcntl

        read, write = os.pipe()
        out_read, out_write = os.pipe()
        before = [fcntl.fcntl(fd, fcntl.F_GETFL) for fd in (read, out_write)]
        hub = self.hub(toolsets=TOOLSETS)
        process = subprocess.Popen(
            hub.process.args, stdin=read, stdout=out_write, stderr=subprocess.DEVNULL, cwd=self.home
        )
        os.write(write, b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        self.assertIn(b'"id":1', os.read(out_read, 65536))
        os.close(write)
        self.assertEqual(process.wait(TIMEOUT), 0)
        self.assertEqual([fcntl.fcntl(fd, fcntl.F_GETFL) for fd in (read, out_write)], before)
        for fd in (read, out_read, out_write):
            os.close(fd)

    def test_memory_returns_after_much_work(self):  # S3.86
        client = self.legacy(toolsets=TOOLSETS)

        def work(rounds):
            for _ in range(rounds):
                ids = [client.send_call("alpha__one", {"x": "y" * 1000}) for _ in range(50)]
                for request_id in ids:
                    client.hub.response(request_id)
                with client.hub.condition:
                    client.hub.messages.clear()

        work(20)
        before = processes.memory_kib(client.hub.process.pid)
        work(40)
        self.assertLess(processes.memory_kib(client.hub.process.pid) - before, 12 * 1024)


if __name__ == "__main__":
    main()
