#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A server whose lists never stop changing (RELIABILITY.md U13): clients are told once a second at most, it is asked twice
a second at most, and the hub does not grow.

1,000 changes a second for 3 s, or for 60 s with PATCHBAY_ROUNDS=200; then the figures are printed."""

import sys
import time

from mcp import HubTest, LegacyClient, ModernClient, main, processes
from supervision_floods import FULL, is_sanitized

SECONDS = 60 if FULL else 3
PER_SECOND = 1000
NOTICE_S = 1.0    # HUB_LIMIT_NOTIFY_STORM_MS
READING_S = 0.5   # UPSTREAM_AGAIN_MS
GROWTH_KIB = 4 << 10

# No two of its lists of tools are the same. Of `storm` it tells how often it was asked for them meanwhile.
SERVER = """
import json, sys, threading, time
GREETING = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {"listChanged": True}},
            "serverInfo": {"name": "storm", "version": "1"}}
CHANGED = json.dumps({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}) + "\\n"
lock, lists = threading.Lock(), 0

def write(text):
    with lock:
        sys.stdout.write(text)
        sys.stdout.flush()

def answer(message, result):
    write(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}) + "\\n")

def say(message, text):
    answer(message, {"content": [{"type": "text", "text": text}]})

def storm(message, seconds, per_second):
    before, began = lists, time.monotonic()
    for n in range(seconds * per_second):
        write(CHANGED)
        ahead = began + n / per_second - time.monotonic()
        if ahead > 0:
            time.sleep(ahead)
    say(message, str(lists - before))

for line in sys.stdin:
    m = json.loads(line)
    method = m.get("method")
    if method == "initialize":
        answer(m, GREETING)
    elif method == "tools/list":
        lists += 1
        names = ["storm", "lists", f"version-{lists}"]
        answer(m, {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in names]})
    elif method == "tools/call" and m["params"]["name"] == "storm":
        threading.Thread(target=storm, args=(m, m["params"]["arguments"]["s"], m["params"]["arguments"]["n"])).start()
    elif method == "tools/call":
        say(m, str(lists))
    elif "id" in m:
        write(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}) + "\\n")
"""


class Storms(HubTest):
    def setUp(self):
        super().setUp()
        entry = {"command": sys.executable, "args": ["-ISc", SERVER], "timeout": "10m"}
        self.server = self.hub(toolsets={"up": entry}, manifest={"limits": {"call_ceiling": "10m", "discover_timeout": "2m"}})
        self.pid = self.server.process.pid

    def storm(self, client, seconds=SECONDS):
        """Let it storm; return when it began, and how often the server was asked."""
        began = time.monotonic()
        answer = client.call("up__storm", {"s": seconds, "n": PER_SECOND}, timeout=600).result
        return began, int(answer["content"][0]["text"])

    def last_list(self, client):
        """The hub has the last of them when there is nothing more to tell."""

        def is_there():
            last = client.call("up__lists").result["content"][0]["text"]
            return f"up__version-{last}" in client.names()

        self.server.wait_until(is_there, "the last list")

    def check(self, began, notices, readings, grown):
        took = time.monotonic() - began
        self.assertGreater(notices, 0)
        self.assertLessEqual(notices, took / NOTICE_S + 2)
        self.assertLessEqual(readings, took / READING_S + 2)
        if FULL:
            print(
                f"{self.id()}: {SECONDS * PER_SECOND} changes in {took:.1f} s, {readings} readings, {notices} notices, "
                f"hub {grown / 1024:+.1f} MiB",
                file=sys.stderr,
            )
        if not is_sanitized():
            self.assertLessEqual(grown, GROWTH_KIB)

    def test_a_legacy_client(self):
        client = LegacyClient(self.server)
        client.names()
        self.storm(client, 1)  # the first makes room
        before, since = processes.memory_kib(self.pid), self.server.mark
        began, readings = self.storm(client)
        notices = client.list_changes(since)
        self.check(began, notices, readings, processes.memory_kib(self.pid) - before)
        self.last_list(client)

    def test_a_modern_client(self):
        client = ModernClient(self.server)
        client.names()
        stream = client.listen(toolsListChanged=True)
        self.storm(client, 1)
        before, since = processes.memory_kib(self.pid), self.server.mark
        began, readings = self.storm(client)
        notices = len(client.events(stream, since))
        self.check(began, notices, readings, processes.memory_kib(self.pid) - before)
        self.last_list(client)


if __name__ == "__main__":
    main()
