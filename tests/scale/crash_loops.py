#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What do servers cost that end as soon as they are started, and how soon are they found when they are mended?

    tests/scale/crash_loops.py [--servers N] [--seconds N]

With nobody asking for them, by the clock: N servers for so many seconds, beside a client that calls an honest server every
50 ms. Bars for 50 servers and 300 s (RELIABILITY.md U09): at most 12 starts of each, no second after the first minute with
more than 15 % of the starts, the hub under 1 % of a core; then all of them are mended, and there within 70 s. The bystander
has no error.
"""

import argparse
import collections
import json
import os
import pathlib
import subprocess
import sys
import tempfile
import threading
import time

from scale import BIN, PLUGINS, ROOT

STARTS, SHARE, CPU, MENDED = 12, 0.15, 0.01, 70
BUSY = 60  # seconds at the beginning in which starts are many, since delays are short
EVERY = 0.05
SERVER = [sys.executable, "-IS", str(ROOT / "tests/support/unruly_server.py")]
INFO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "loops", "version": "1"}}


class Client:
    """The one client of a hub over stdio."""

    def __init__(self, folder, toolsets, limits=None):
        manifest = folder / "hub.json"
        settings = {"modules": {"paths": [str(PLUGINS)]}, "limits": limits or {}, "toolsets": toolsets}
        manifest.write_text(json.dumps(settings))
        self.process = subprocess.Popen(
            [BIN, "--config", manifest, "--log-level", "error"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "XDG_CACHE_HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")},
        )
        self.number, self.lock = 0, threading.Lock()
        self.request("initialize", INFO)
        self.write({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def write(self, message):
        self.process.stdin.write(json.dumps(message).encode() + b"\n")
        self.process.stdin.flush()

    def request(self, method, params):
        with self.lock:
            self.number += 1
            self.write({"jsonrpc": "2.0", "id": self.number, "method": method, "params": params})
            for text in self.process.stdout:
                message = json.loads(text)
                if message.get("id") == self.number:
                    return message["result"]
        raise SystemExit("the hub ended")

    def names(self):
        return {tool["name"].partition("__")[0] for tool in self.request("tools/list", {})["tools"]}

    def cpu(self):
        """Seconds of processor time so far, without children."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


class Bystander(threading.Thread):
    def __init__(self, client):
        super().__init__(daemon=True)
        self.client, self.over, self.errors, self.times = client, threading.Event(), 0, []

    def run(self):
        while not self.over.wait(EVERY):
            began = time.monotonic()
            result = self.client.request("tools/call", {"name": "honest__echo", "arguments": {"n": len(self.times)}})
            self.times.append(time.monotonic() - began)
            self.errors += bool(result.get("isError"))


def looping(folder, name):
    """Notes when it was started, and ends; once it is mended it is a server."""
    script = 'date +%s >> "$0"; test -e "$1" && shift && exec "$@"; exit 7'
    return {"command": "/bin/sh", "args": ["-c", script, str(folder / name), str(folder / "mended"), *SERVER], "lazy": False}


def report(folder, names, began, cpu, wall):
    starts = {name: (folder / name).read_text().split() for name in names}
    most = max(len(times) for times in starts.values())
    seconds = collections.Counter(int(t) for times in starts.values() for t in times if int(t) - began > BUSY)
    crowd, every = max(seconds.values(), default=0), sum(map(len, starts.values()))
    print(f"{len(names)} servers, {wall:.0f} s: {most} starts of each at most, {every} in all, at most {crowd} in one second")
    print(f"of the hub: {cpu / wall:.2%} of a core")
    return most <= STARTS and crowd <= SHARE * every and cpu / wall < CPU


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--servers", type=int, default=50)
    parser.add_argument("--seconds", type=int, default=300)
    arguments = parser.parse_args()
    names = [f"up{n}" for n in range(arguments.servers)]
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        honest = {"command": SERVER[0], "args": SERVER[1:], "lazy": False}
        began, wall = time.time(), time.monotonic()
        client = Client(folder, {**{name: looping(folder, name) for name in names}, "honest": honest})
        bystander = Bystander(client)
        bystander.start()
        time.sleep(arguments.seconds)
        bystander.over.set()
        bystander.join()
        is_good = report(folder, names, began, client.cpu(), time.monotonic() - wall)
        calls = sorted(bystander.times)
        print(f"bystander: {len(calls)} calls, {bystander.errors} errors, p99 {calls[int(len(calls) * 0.99)] * 1000:.1f} ms")
        mended = time.monotonic()
        (folder / "mended").touch()
        while not client.names() >= set(names) and time.monotonic() - mended < 2 * MENDED:
            time.sleep(1)
        took = time.monotonic() - mended
        print(f"all there {took:.0f} s after they were mended")
        client.process.stdin.close()
        client.process.wait()
    return 0 if is_good and bystander.errors == 0 and took <= MENDED else 1


if __name__ == "__main__":
    sys.exit(main())
