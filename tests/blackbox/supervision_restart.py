# SPDX-License-Identifier: Apache-2.0
"""Servers that fail, again and again: when they are started again, and what those who need them are told meanwhile
(S3.91; RELIABILITY.md U01, U08, U09)."""

import os
import signal
import sys
import time

from mcp import SUPPORT, HubTest, main

OFF = {"active": False}
PATIENT = {"limits": {"discover_timeout": "2m"}}  # of many that start at once all are to be there
LOOPING = 50  # servers at once
STARTS = 9    # … each started so often

SERVER = [sys.executable, "-IS", str(SUPPORT / "unruly_server.py")]


def crasher(stamps, then="exit 7", **keys):
    """A command that notes that it was started, and ends."""
    return {"command": "/bin/sh", "args": ["-c", f'echo x >> "$0"; {then}', str(stamps)], "lazy": False, **keys}


def starts(stamps):
    return stamps.stat().st_size // 2 if stamps.exists() else 0


def most_starts(elapsed, first, most):
    """So many starts fit into so many seconds at the most. The first attempt may take two: an unknown server is tried
    once more in the other era."""
    count, due, delay = 2, 0.0, first
    while (due := due + min(delay, most)) <= elapsed:
        count, delay = count + 1, delay * 2
    return count


class Restart(HubTest):
    def wait_starts(self, hub, stamps, count):
        hub.wait_until(lambda: starts(stamps) >= count, f"{count} starts")

    def test_a_crash_loop_is_slowed_down_and_never_given_up(self):  # U09, S5.15
        """Fifty times: they do not keep each other from it, and the hub from its work."""
        first, most = 0.02, 0.4
        stamps = [self.home / f"stamps-{n}" for n in range(LOOPING)]
        began = time.monotonic()
        toolsets = {
            f"up{n}": crasher(file, restart_delay="20ms", restart_delay_max="400ms") for n, file in enumerate(stamps)
        }
        client = self.legacy(toolsets=toolsets)
        for file in stamps:
            self.wait_starts(client.hub, file, STARTS)
        client.request("ping")
        found = [starts(file) for file in stamps]
        allowed = most_starts(time.monotonic() - began, first, most)
        self.assertLessEqual(max(found), allowed)
        client.hub.wait_log("exited with code 7")

    def test_why_it_was_down_is_said_while_it_is_tried_again(self):
        stamps = self.home / "stamps"
        then = 'if [ $(wc -c <"$0") -gt 4 ]; then while read -r _; do :; done; fi; exit 7'  # the third says nothing, and stays
        client = self.modern(toolsets={"up": crasher(stamps, then, restart_delay="20ms")})
        self.wait_starts(client.hub, stamps, 3)
        (row,) = client.call("list_toolsets").result["structuredContent"]["toolsets"]
        self.assertEqual(row["state"], "connecting")
        self.assertRegex(row["reason"], "exited with code 7|closed its output")

    def test_an_attempt_is_one_start(self):  # U09
        """The first may be two, since its era is not known; later ones take turns."""
        stamps = self.home / "stamps"
        began = time.monotonic()
        client = self.legacy(toolsets={"up": crasher(stamps, restart_delay="300ms")})
        self.wait_starts(client.hub, stamps, 5)
        found = starts(stamps)
        self.assertLessEqual(found, most_starts(time.monotonic() - began, 0.3, 60))

    def test_a_mended_server_is_found(self):  # U08, S3.66
        """Nobody asks for it meanwhile. It is announced when it is there."""
        command, stamps = self.home / "server", self.home / "stamps"
        entry = {**crasher(stamps, f'exec "{command}"'), "restart_delay": "20ms", "restart_delay_max": "100ms"}
        client = self.legacy(toolsets={"up": entry})
        self.wait_starts(client.hub, stamps, 5)
        since = client.hub.mark
        made = self.home / "made"
        made.write_text("#!/bin/sh\nexec " + " ".join(SERVER) + "\n")
        made.chmod(0o700)
        made.rename(command)
        client.wait_list_changed(since)
        self.assertIn("up__echo", client.names())
        self.assertIn("result", client.call("up__echo").data)

    def test_a_mended_command_that_was_missing(self):  # U08
        command = self.home / "server"
        entry = {"command": str(command), "lazy": False, "restart_delay": "20ms", "restart_delay_max": "50ms"}
        client = self.legacy(toolsets={"up": entry})
        client.hub.wait_until(lambda: client.hub.log.count("no such file") >= 3, "three attempts")
        since = client.hub.mark
        made = self.home / "made"
        made.write_text("#!/bin/sh\nexec " + " ".join(SERVER) + "\n")
        made.chmod(0o700)
        made.rename(command)
        client.wait_list_changed(since)
        self.assertIn("up__echo", client.names())

    def test_a_need_that_is_too_early_is_told_when(self):
        stamps = self.home / "stamps"
        client = self.legacy(toolsets={"up": crasher(stamps, restart_delay="1h")})
        client.hub.wait_log("toolset.failed")
        client.call("disable_toolset", {"toolset": "up"}).result
        count = starts(stamps)
        wanted = self.meta_call(client, "enable_toolset", toolset="up")  # somebody asks: it is tried at once
        self.assertGreater(starts(stamps), count)
        self.assertSays(wanted["message"], "exited with code 7")

    def test_calls_fail_at_once_while_it_is_left_alone(self):
        """Its last good catalog stays; what is called says why, and when the server is tried again."""
        client = self.legacy(toolsets={"up": {"command": SERVER[0], "args": SERVER[1:], "restart_delay": "1h"}}, manifest=PATIENT)
        pid = int(client.call("up__pid").result["content"][0]["text"])
        os.kill(pid, signal.SIGKILL)
        client.hub.wait_log("toolset.failed")
        failure = client.call("up__echo").tool_error
        self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_UNAVAILABLE", True))
        self.assertSays(failure["message"], "killed by SIGKILL", "tried again in")
        self.assertIn("up__echo", client.names())

    def test_calls_wait_for_an_attempt_that_is_near(self):
        client = self.legacy(toolsets={"up": {"command": SERVER[0], "args": SERVER[1:], "restart_delay": "300ms"}}, manifest=PATIENT)
        for n in range(3):
            pid = int(client.call("up__pid").result["content"][0]["text"])
            os.kill(pid, signal.SIGKILL)
            client.hub.wait_until(lambda n=n: client.hub.log.count("toolset.failed") > n, "its end")
        self.assertIn("result", client.call("up__echo").data)

    def test_health_is_a_new_beginning(self):  # U09: reset
        """With a millisecond of health between them, failures do not add up: else this would take days."""
        keys = {"restart_delay": "1ms", "restart_delay_max": "1h", "restart_reset": "1ms"}
        client = self.legacy(toolsets={"up": {"command": SERVER[0], "args": SERVER[1:], **keys}}, manifest=PATIENT)
        for n in range(20):
            pid = int(client.call("up__pid").result["content"][0]["text"])
            os.kill(pid, signal.SIGKILL)
            client.hub.wait_until(lambda n=n: client.hub.log.count("toolset.failed") > n, "its end")

    def test_without_health_failures_add_up(self):
        keys = {"restart_delay": "1ms", "restart_delay_max": "1h", "restart_reset": "24h"}
        client = self.legacy(toolsets={"up": {"command": SERVER[0], "args": SERVER[1:], **keys}}, manifest=PATIENT)
        for n in range(20):
            answer = client.call("up__pid").data["result"]
            if answer.get("isError"):
                break
            os.kill(int(answer["content"][0]["text"]), signal.SIGKILL)
            client.hub.wait_until(lambda n=n: client.hub.log.count("toolset.failed") > n, "its end")
        self.assertSays(answer["content"][0]["text"], "tried again in")
        self.assertGreater(n, 10)

    def test_a_thousand_calls_in_flight(self):  # U01
        """Each is answered, the others are not touched, and since the list is the same nobody is told of a change. How
        soon is measured by tests/scale/killed_in_flight.py."""
        limits = {"limits": {"calls_per_session": 2000, "discover_timeout": "2m"}}
        other = {"command": SERVER[0], "args": SERVER[1:]}
        client = self.legacy(toolsets={"up": other, "other": other}, manifest=limits)
        client.names()  # a first list is not announced
        pid = int(client.call("up__pid").result["content"][0]["text"])
        kept = client.send_call("other__hold")
        self.assertIn("result", client.call("other__echo").data)
        held = [client.send_call("up__hold") for _ in range(1000)]
        client.call("up__echo").result  # it has taken them all
        since = client.hub.mark
        os.kill(pid, signal.SIGKILL)
        for request_id in held:
            failure = client.hub.response(request_id).tool_error
            self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_UNAVAILABLE", True))
        self.assertIn("result", client.call("other__echo").data)
        self.assertIn("result", client.call("up__echo").data)
        self.assertEqual(client.list_changes(since), 0)
        with client.hub.condition:
            answered = [m.id for m in client.hub.messages if m.method is None]
        self.assertEqual(len(answered), len(set(answered)))
        self.assertNotIn(kept, answered)


if __name__ == "__main__":
    main()
