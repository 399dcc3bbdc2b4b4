#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Servers that write without end: what is written is taken away, and kept to a bound (RELIABILITY.md U02, U03).

Others are served meanwhile. 64 MiB, or the 1 GiB of the table with PATCHBAY_ROUNDS=200; then the figures are printed."""

import subprocess
import sys
import threading
import time

from mcp import MARKER, SUPPORT, HubTest, LegacyClient, hub_binary, main, processes, rounds

ROUNDS = rounds(20)
FULL = ROUNDS >= 200
FLOOD = (1024 if FULL else 64) << 20
GROWTH_KIB = 20 << 10
LINES_PER_SECOND = 100


def is_sanitized():
    return b"__asan_init" in subprocess.run(["nm", "-D", hub_binary()], capture_output=True, check=False).stdout


def unruly(**keys):
    args = ["-IS", str(SUPPORT / "unruly_server.py")]
    return {"command": sys.executable, "args": args, "env": {MARKER: f"${{{MARKER}}}"}, **keys}


class Bystander:
    """An honest client of the same hub that calls another server, one call after the other."""

    def __init__(self, test, client):
        self.test, self.client, self.times, self.over = test, client, [], threading.Event()
        self.thread = threading.Thread(target=self.run)

    def run(self):
        while not self.over.is_set():
            began = time.monotonic()
            nonce = len(self.times)
            result = self.client.call("other__echo", {"nonce": nonce}).data.get("result", {})
            self.times.append(time.monotonic() - began)
            if f'"nonce": {nonce}' not in result.get("content", [{}])[0].get("text", ""):
                self.test.wrong.append(result)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def wait_calls(self, count):
        while len(self.times) < count and self.thread.is_alive():
            self.over.wait(0.01)

    def p99(self):
        return sorted(self.times)[int(len(self.times) * 0.99)] * 1000


class Floods(HubTest):
    def setUp(self):
        super().setUp()
        self.wrong = []
        keys = {"timeout": "10m", "restart_delay": "1ms"}
        manifest = {"limits": {"call_ceiling": "10m", "discover_timeout": "2m"}}
        toolsets = {"up": unruly(**keys), "other": unruly()}
        self.client = LegacyClient(self.hub(toolsets=toolsets, manifest=manifest))
        for toolset in ("up", "other"):
            self.client.call(f"{toolset}__echo").result
        self.pid = self.client.hub.process.pid

    def flood(self, **arguments):
        """Have it written; return the answer, and by how many KiB the hub grew at most."""
        with Bystander(self, self.client) as calm:
            calm.wait_calls(500 if FULL else 20)
        before, log_before = processes.memory_kib(self.pid), len(self.client.hub.stderr)
        with Bystander(self, self.client) as bystander:
            began = time.monotonic()
            answer = self.client.call("up__flood", {"bytes": FLOOD, **arguments}, timeout=600)
            took = time.monotonic() - began
        grown = processes.memory_kib(self.pid, "VmHWM") - before
        logged = len(self.client.hub.stderr) - log_before
        self.assertEqual(self.wrong, [])
        self.assertGreater(len(bystander.times), 0)
        self.assertGreater(len(calm.times), 0)
        if FULL:
            print(
                f"{self.id()}: {FLOOD >> 20} MiB in {took:.1f} s, hub +{grown / 1024:.1f} MiB, log +{logged >> 10} KiB, "
                f"{len(bystander.times)} calls of a bystander, p99 {bystander.p99():.1f} ms, {calm.p99():.1f} ms before",
                file=sys.stderr,
            )
        if not is_sanitized():
            self.assertLessEqual(grown, GROWTH_KIB)
        # Each line in the log is at most 1 KiB of text, and there are so many in a second.
        self.assertLessEqual(logged, (took + 2) * LINES_PER_SECOND * 2048)
        return answer

    def test_stderr_without_a_newline(self):  # U02
        self.flood(fd=2).result

    def test_stderr_in_lines(self):  # U02
        self.flood(fd=2, line=80).result
        self.assertIn("lines=", self.client.hub.wait_log("upstream.stderr_dropped"))

    def test_stdout_without_a_newline(self):  # U03
        """It is cut off, and says so; then it is started anew."""
        failure = self.flood(fd=1).tool_error
        self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_UNAVAILABLE", True))
        self.assertSays(failure["message"], "up", "larger than the limit of 16777216 bytes")
        self.assertIn("result", self.client.call("up__echo").data)


if __name__ == "__main__":
    main()
