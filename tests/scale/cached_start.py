#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon does a client have its tools?

    tests/scale/cached_start.py [--servers N] [--rounds N]

First with N servers whose catalogs the hub remembers: from the start of the process to the answer to `tools/list`, which
a client wrote to its input beforehand; bar: 50 ms (the median of the rounds), and no child. Then with 20 servers that it
has never seen, of which 5 are dead and 3 never answer; bar: 1 s, with the tools of the other 12, and a reason for each
that is dead.
"""

import argparse
import json
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile
import time

from scale import BIN, PLUGINS, ROOT

CACHED_BAR, UNCACHED_BAR = 0.050, 1.0


def line(number, method, params):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number:
        message["id"] = number
    return json.dumps(message).encode() + b"\n"


INFO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "start", "version": "1"}}
OPENING = line(1, "initialize", INFO) + line(0, "notifications/initialized", {}) + line(2, "tools/list", {})
STATES = line(3, "tools/call", {"name": "list_toolsets", "arguments": {}})


def children(pid):
    return pathlib.Path(f"/proc/{pid}/task/{pid}/children").read_text().split()


class Start:
    """A hub from its start to its first list."""

    def __init__(self, folder, toolsets):
        manifest = folder / "hub.json"
        manifest.write_text(json.dumps({"modules": {"paths": [str(PLUGINS)]}, "toolsets": toolsets}))
        read_end, write_end = os.pipe()
        os.write(write_end, OPENING)
        began = time.monotonic()
        self.process = subprocess.Popen(
            [BIN, "--config", manifest, "--log-level", "error"],
            stdin=read_end,
            stdout=subprocess.PIPE,
            cwd=folder,
            env={**os.environ, "XDG_CACHE_HOME": str(folder), "XDG_STATE_HOME": str(folder / "state")},
        )
        self.input = write_end
        os.close(read_end)
        self.tools = {tool["name"].partition("__")[0] for tool in self.answer(2)["tools"]}
        self.seconds = time.monotonic() - began

    def answer(self, number):
        for text in self.process.stdout:
            message = json.loads(text)
            if message.get("id") == number:
                return message["result"]
        raise SystemExit("the hub ended")

    def states(self):
        os.write(self.input, STATES)
        return {row["key"]: row for row in self.answer(3)["structuredContent"]["toolsets"]}

    def end(self):
        os.close(self.input)
        self.process.communicate(timeout=30)


def cached(folder, server, count, rounds):
    toolsets = {f"up{n}": {"command": server, "args": ["--tools", "10"]} for n in range(count)}
    first = Start(folder, toolsets)
    while len(list((folder / "patchbay").glob("*.json"))) < count:
        time.sleep(0.05)
    first.end()
    seconds = []
    for _ in range(rounds):
        start = Start(folder, toolsets)
        assert not children(start.process.pid), "servers were started"
        assert {f"up{n}" for n in range(count)} <= start.tools, "tools are missing"
        start.end()
        seconds.append(start.seconds)
    return seconds


def uncached(folder, server, rounds):
    seconds = []
    for number in range(rounds):
        place = folder / str(number)
        place.mkdir()
        toolsets = {f"good{n}": {"command": server} for n in range(12)}
        toolsets |= {f"dead{n}": {"command": str(folder / f"none{n}")} for n in range(5)}
        toolsets |= {f"slow{n}": {"command": "sleep", "args": ["60"], "startup_timeout": "60s"} for n in range(3)}
        start = Start(place, toolsets)
        assert {f"good{n}" for n in range(12)} <= start.tools, f"only {sorted(start.tools)}"
        states = start.states()
        assert all(states[f"dead{n}"]["reason"] for n in range(5))
        assert all(states[f"slow{n}"]["state"] == "connecting" for n in range(3))
        start.end()
        seconds.append(start.seconds)
    return seconds


def report(what, seconds, bar):
    median = statistics.median(seconds)
    print(f"{what}: median {median * 1000:.1f} ms, best {min(seconds) * 1000:.1f} ms, "
          f"worst {max(seconds) * 1000:.1f} ms; bar {bar * 1000:.0f} ms")
    return median <= bar


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--servers", type=int, default=100)
    parser.add_argument("--rounds", type=int, default=20)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="patchbay-start-") as name:
        folder = pathlib.Path(name)
        server = str(folder / "server")
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", server, ROOT / "bench" / "upstream.c"], check=True)
        good = report(f"{options.servers} remembered servers", cached(folder, server, options.servers, options.rounds),
                      CACHED_BAR)
        good &= report("20 new servers, 5 dead, 3 slow", uncached(folder, server, min(options.rounds, 5)), UNCACHED_BAR)
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
