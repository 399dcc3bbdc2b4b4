#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What one bad server of ten costs the first calls of the others.

    tests/scale/first_calls.py [--pairs N]

The first call of each of nine good servers, which starts that server, with a tenth beside them that hangs, floods, lies or
dies and has been called before, and without it: by turns, so that what else the machine does concerns both alike. For each
misdeed the ratio of each pair's medians is taken; bar: 1.2 (the median of the pairs). That nobody waits for the bad one
is held by the order of events in tests/blackbox/first_calls.py.
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

BAR = 1.2
OTHERS = 9
MISDEEDS = {
    "hangs": "exec sleep 600",
    "floods": "exec yes this is not a message",
    "lies": 'while read -r line; do echo \'{"jsonrpc":"2.0","id":"of nobody","result":{}}\'; done',
    "dies": "exit 1",
}


def line(number, method, params):
    message = {"jsonrpc": "2.0", "method": method, "params": params}
    if number is not None:
        message["id"] = number
    return json.dumps(message).encode() + b"\n"


INFO = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "first", "version": "1"}}
OPENING = line(0, "initialize", INFO) + line(None, "notifications/initialized", {})


def call(number, toolset):
    return line(number, "tools/call", {"name": f"{toolset}__tool_0", "arguments": {}})


def answer(process, number):
    for text in process.stdout:
        message = json.loads(text)
        if message.get("id") == number and "method" not in message:
            return message
    raise SystemExit("the hub ended")


def first_calls(folder, server, misdeed):
    """Seconds that each first call of the good servers takes."""
    toolsets = {f"good{n}": {"command": server, "args": ["--tools", "1"]} for n in range(OTHERS)}
    if misdeed:
        toolsets["bad"] = {"command": "sh", "args": ["-c", MISDEEDS[misdeed]]}
    manifest = folder / "hub.json"
    hub = {"cache": False}
    manifest.write_text(json.dumps({"hub": hub, "modules": {"paths": [str(PLUGINS)]}, "toolsets": toolsets}))
    process = subprocess.Popen([BIN, "--config", manifest, "--log-level", "error"], stdin=subprocess.PIPE,
                               stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, cwd=folder,
                               env={**os.environ, "XDG_CACHE_HOME": str(folder)})
    seconds = []
    process.stdin.write(OPENING + (call("bad", "bad") if misdeed else b""))
    process.stdin.flush()
    answer(process, 0)
    for number in range(OTHERS):
        began = time.monotonic()
        process.stdin.write(call(number + 1, f"good{number}"))
        process.stdin.flush()
        said = answer(process, number + 1)
        seconds.append(time.monotonic() - began)
        assert "result" in said and not said["result"].get("isError"), said
    process.stdin.close()
    process.stdout.read()
    process.wait()
    return seconds


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--pairs", type=int, default=10)
    options = parser.parse_args()
    is_good = True
    with tempfile.TemporaryDirectory(prefix="patchbay-first-") as name:
        folder = pathlib.Path(name)
        server = str(folder / "server")
        subprocess.run(["cc", "-O2", "-D_GNU_SOURCE", "-o", server, ROOT / "bench" / "upstream.c"], check=True)
        for misdeed in MISDEEDS:
            ratios, without = [], []
            for pair in range(options.pairs):
                turns = [None, misdeed] if pair % 2 == 0 else [misdeed, None]
                medians = {turn: statistics.median(first_calls(folder, server, turn)) for turn in turns}
                ratios.append(medians[misdeed] / medians[None])
                without.append(medians[None])
            ratio = statistics.median(ratios)
            is_good = is_good and ratio <= BAR
            print(f"one {misdeed}: {ratio:.2f} times (bar {BAR}), pairs {min(ratios):.2f} to {max(ratios):.2f}; "
                  f"{statistics.median(without) * 1000:.1f} ms without it", flush=True)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
