# SPDX-License-Identifier: Apache-2.0
"""Whether a server lives, and whether anybody needs it: health_interval and idle_timeout. (S3.91; RELIABILITY.md U05, U06, U29.)

How much time has passed is told by another server of the same hub, which counts what it is asked."""

import os
import signal

from mcp import TIMEOUT, HubTest, main, processes

# So long that a good server answers in time whatever else the machine does.
SOON = {"health_interval": "3s", "restart_delay": "1ms"}
OFTEN = {"health_interval": "250ms", "restart_delay": "1ms"}


class Watched(HubTest):
    pace = SOON  # of the witness

    def start(self, *flags, **keys):
        recorder, witness = self.recorder(), self.recorder()
        toolsets = {"up": recorder.toolset(*flags, **{**SOON, **keys}), "witness": witness.toolset(**self.pace)}
        client = self.legacy(toolsets=toolsets, manifest={"limits": {"discover_timeout": "2m"}})
        client.call("up__echo").result
        client.call("witness__echo").result
        return client, recorder, witness

    def wait_intervals(self, witness, count):
        mark = witness.mark
        witness.wait_until(lambda: len(witness.lines("ping", mark)) >= count, f"{count} pings")


class Health(Watched):
    def test_a_hung_server_is_replaced(self):  # S5.13
        client, recorder, _ = self.start()
        old = recorder.sync().starts[0]
        os.kill(old, signal.SIGSTOP)
        self.assertSays(client.hub.wait_log("hangs"), "up")
        self.assertIn("result", client.call("up__echo").data)
        self.assertEqual(processes.wait_gone({old}, TIMEOUT), set())

    def test_a_server_that_hangs_at_work(self):
        """Its calls end by their deadline; then it is replaced."""
        client, recorder, _ = self.start(timeout="1s")
        mark = recorder.mark
        held = client.send_call("up__hold")
        recorder.wait_calls(1, mark)
        os.kill(recorder.sync().starts[0], signal.SIGSTOP)
        self.assertSays(client.hub.response(held).tool_error["message"], "no answer within")
        client.hub.wait_log("hangs")
        self.assertIn("result", client.call("up__echo").data)

    def test_a_busy_server_is_left_alone(self):
        """It looks at nothing while it works on a call."""
        client, recorder, witness = self.start()
        held = client.send_call("up__hold")
        raw = recorder.wait_calls(2)[-1]
        recorder.command(pause=True)
        self.wait_intervals(witness, 4)
        recorder.command(pause=False)
        recorder.answer(raw)
        self.assertIn("result", client.hub.response(held).data)
        self.assertEqual(len(recorder.sync().starts), 1)

    def test_a_server_that_ignores_pings_is_asked_for_its_tools(self):
        client, recorder, witness = self.start("--silent", "ping")
        mark = recorder.mark
        recorder.wait_until(lambda: len(recorder.lines("tools/list", mark)) >= 2, "twice tools/list")
        self.assertIn("result", client.call("up__echo").data)
        self.assertEqual(len(recorder.sync().starts), 1)

    def test_a_modern_server_is_asked_what_it_is(self):
        client, recorder, witness = self.start("--era", "modern")
        mark = recorder.mark
        recorder.wait_until(lambda: len(recorder.lines("server/discover", mark)) >= 2, "twice server/discover")
        self.assertEqual(recorder.sync().lines("ping"), [])
        os.kill(recorder.sync().starts[0], signal.SIGSTOP)
        client.hub.wait_log("hangs")
        self.assertIn("result", client.call("up__echo").data)

    def test_one_timer_for_each_server(self):  # U29
        """However often it was started: two servers with the same interval are asked as often as each other."""
        client, recorder, witness = self.start()
        for n in range(5):
            client.call("up__die").tool_error
            recorder.wait_gone(n + 1)
        client.call("up__echo").result
        mark, other = recorder.mark, witness.mark
        self.wait_intervals(witness, 5)
        self.assertLessEqual(len(recorder.sync().lines("ping", mark)), len(witness.sync().lines("ping", other)) + 2)

    def test_zero_is_never(self):
        client, recorder, witness = self.start(health_interval="0s")
        self.wait_intervals(witness, 3)
        self.assertEqual(recorder.sync().lines("ping"), [])


class Idle(Watched):
    """With health_interval off, so that only idleness is at work. How it ends by itself is to be seen, so it does not
    end by SIGTERM."""

    pace = OFTEN

    def start(self, *flags, **keys):
        return super().start("--ignore-term", *flags, **{"health_interval": "0s", "idle_timeout": "100ms", **keys})

    def test_nobody_needs_it(self):
        client, recorder, _ = self.start()
        recorder.wait_event("eof")
        recorder.wait_gone(1)
        self.assertSays(client.hub.wait_log("nobody needs"), "up")
        since = client.hub.mark
        self.assertIn("up__echo", client.names())
        self.assertIn("result", client.call("up__echo").data)
        self.assertEqual(len(recorder.sync().starts), 2)
        self.assertEqual(client.list_changes(since), 0)
        self.assertNotIn("toolset.failed", client.hub.log)

    def test_a_call_needs_it(self):
        client, recorder, witness = self.start(idle_timeout="4s")
        held = client.send_call("up__hold")
        raw = recorder.wait_calls(2)[-1]
        self.wait_intervals(witness, 24)
        self.assertNotIn("eof", [e["event"] for e in recorder.sync().events])
        recorder.answer(raw)
        client.hub.response(held).result
        recorder.wait_event("eof")

    def test_a_subscription_needs_it(self):
        client, recorder, witness = self.start("--content", idle_timeout="4s")
        client.request("resources/subscribe", {"uri": "rec:///one"}).result
        self.wait_intervals(witness, 24)
        self.assertNotIn("eof", [e["event"] for e in recorder.sync().events])
        client.request("resources/unsubscribe", {"uri": "rec:///one"}).result
        recorder.wait_event("eof")

    def test_a_modern_server_is_idle_too(self):
        """The stream on which it tells of changes is the hub's own."""
        client, recorder, _ = self.start("--era", "modern")
        recorder.wait_event("eof")
        self.assertIn("result", client.call("up__echo").data)


if __name__ == "__main__":
    main()
