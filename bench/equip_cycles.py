#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Memory of a hub over 10,000 equip and unequip cycles (REQUIREMENTS S3.86).

    PATCHBAY_BIN=build/release/core/patchbay bench/equip_cycles.py [CYCLES]

A saved toolset of ten tools of two native toolsets (time, and files of an empty folder) is equipped and unequipped by one
client over stdio, each with its list_changed. Prints the resident memory after 1,000 cycles and after all, and fails when the
second is more than 1 % and 64 KiB above the first.
"""

import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
HUB = Path(os.environ.get("PATCHBAY_BIN", ROOT / "build/release/core/patchbay"))
PLUGINS = os.environ.get("PATCHBAY_PLUGINS", HUB.parent.parent / "plugins")
WARM = 1000


class Client:
    def __init__(self, folder, saved):
        manifest = Path(folder) / "patchbay.json"
        manifest.write_text(json.dumps({
            "hub": {"meta_tools": ["saved"], "startup": "dynamic", "remember": "none"},
            "toolsets": {"time": {"module": "time"}, "files": {"module": "files", "config": {"roots": [folder]}}},
            "saved_toolsets": saved,
            "state": "off",
        }))
        self.hub = subprocess.Popen([HUB, "--config", manifest, "--plugins-dir", PLUGINS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
        self.last = 0
        self.told = 0
        begin = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "cycles", "version": "1"}}
        self.ask("initialize", begin)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.hub.stdin.write(json.dumps(message).encode() + b"\n")
        self.hub.stdin.flush()

    def ask(self, method, params):
        self.last += 1
        self.send({"jsonrpc": "2.0", "id": self.last, "method": method, "params": params})
        for line in self.hub.stdout:
            message = json.loads(line)
            self.told += message.get("method") == "notifications/tools/list_changed"
            if message.get("id") == self.last:
                return message["result"]
        sys.exit("the hub has ended")

    def call(self, tool, **arguments):
        result = self.ask("tools/call", {"name": tool, "arguments": arguments})
        if result.get("isError"):
            sys.exit(f"{tool}: {result['content'][0]['text']}")
        return result["structuredContent"]

    def end(self):
        self.hub.stdin.close()
        self.hub.wait()

    def resident(self):
        text = Path(f"/proc/{self.hub.pid}/smaps_rollup").read_text()
        return next(int(line.split()[1]) for line in text.splitlines() if line.startswith("Rss:"))


def main():
    cycles = int(sys.argv[1]) if len(sys.argv) > 1 else 10_000
    with tempfile.TemporaryDirectory() as folder:
        client = Client(folder, {})
        found = [t["id"] for t in client.call("discover-all-tools")["tools"]][:10]
        client.end()
        client = Client(folder, {"ten": found})
        for cycle in range(cycles):
            client.call("equip-toolset", name="ten")
            client.call("unequip-toolset")
            if cycle + 1 == WARM:
                before = client.resident()
        after = client.resident()
        print(f"{cycles} cycles of {len(found)} tools, {client.told} notifications: {before} KiB after {WARM}, {after} KiB at the end")
        client.end()
        sys.exit(after > before * 1.01 + 64)


main()
