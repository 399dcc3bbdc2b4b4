#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Nothing that a server started outlives the hub, however the hub ends (RELIABILITY.md S01, U10, U12, L01).

PATCHBAY_ROUNDS is how often each way of ending is tried; 20 unless it says otherwise."""

import concurrent.futures
import os
import signal
import sys
import time

from mcp import MARKER, SUPPORT, TIMEOUT, Hub, HubTest, LegacyClient, fixture_folder, main, processes, rounds

sys.path.insert(0, str(SUPPORT))
from unruly_server import SCATTERED  # noqa: E402

ROUNDS = rounds(20)
AT_ONCE = 5
PATIENT = {"discover_timeout": "2m"}  # many start at once, and all of them are to be there


def unruly(*flags, **keys):
    return {
        "command": sys.executable,
        "args": ["-IS", str(SUPPORT / "unruly_server.py"), *flags],
        "env": {MARKER: f"${{{MARKER}}}"},
        **keys,
    }


class Survivors(HubTest):
    def start(self, name, exit_code=0):
        home = self.home / name
        home.mkdir()
        manifest = {"toolsets": {"up": unruly("--scatter", "--stay")}, "limits": {**PATIENT, "drain_timeout": "0s"}}
        hub = Hub(manifest=manifest, home=home, exit_code=exit_code)
        self.addCleanup(self._finish, hub)
        client = LegacyClient(hub)
        self.assertIn("result", client.call("up__pid").data)
        client.send_call("up__hold")
        hub.remember_descendants()
        self.assertEqual(len(hub.descendants), 1 + 1 + SCATTERED)  # the guard, the server, and what it scattered
        return hub

    def one_round(self, name, end, exit_code):
        """End a hub, and tell how long anything of it was left."""
        hub = self.start(name, exit_code)
        began = time.monotonic()
        end(hub)
        if hub.wait_exit() != exit_code:
            hub.finish()  # says what is wrong
        hub.check_no_descendants()
        took = time.monotonic() - began
        hub.finish()
        return took

    def rounds(self, end, exit_code=0):
        fixture_folder()  # made once, and not by several threads at a time
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            times = list(pool.map(lambda n: self.one_round(f"round-{n}", end, exit_code), range(ROUNDS)))
        if ROUNDS > 20:
            print(f"{self.id()}: {ROUNDS} rounds, nothing left after {max(times):.1f} s at most", file=sys.stderr)

    def test_the_end_of_input(self):  # S01
        self.rounds(lambda hub: hub.close_stdin())

    def test_sigterm(self):  # L01
        self.rounds(lambda hub: hub.process.terminate())

    def test_sigkill(self):  # U12
        self.rounds(lambda hub: hub.kill(), -signal.SIGKILL)

    def test_a_server_that_dies(self):  # U10
        """What it scattered goes with it, and the next need starts it again."""
        client = LegacyClient(self.hub(toolsets={"up": unruly("--scatter")}, manifest={"limits": PATIENT}))
        for n in range(3):
            pid = int(client.call("up__pid").result["content"][0]["text"])
            before = processes.descendants(client.hub.process.pid)
            os.kill(pid, signal.SIGKILL)
            self.assertEqual(processes.wait_gone(before, TIMEOUT), set())
            client.hub.wait_until(lambda n=n: client.hub.log.count("toolset.failed") > n, "its end")

    def test_disabling(self):  # U10
        client = LegacyClient(self.hub(toolsets={"up": unruly("--scatter", "--stay")}, manifest={"limits": PATIENT}))
        client.call("up__pid").result
        before = processes.descendants(client.hub.process.pid)
        self.assertEqual(len(before), 2 + SCATTERED)
        client.call("disable_toolset", {"toolset": "up"}).result
        self.assertEqual(processes.wait_gone(before, TIMEOUT), set())


if __name__ == "__main__":
    main()
