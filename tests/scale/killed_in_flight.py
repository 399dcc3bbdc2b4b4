#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How soon do 1,000 callers hear that their server was killed?

    tests/scale/killed_in_flight.py [--calls N] [--rounds N]

N calls are in flight when it gets SIGKILL, and one of another server is, too. Bars (RELIABILITY.md U01): all have an error
within 1 s, the one of the other server has none, and no client is told of a change.
"""

import argparse
import json
import os
import pathlib
import signal
import sys
import tempfile
import time

from crash_loops import SERVER, Client

BAR = 1.0


def call(client, name, number):
    client.write({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": {"name": name, "arguments": {}}})


def killed(folder, calls):
    """Seconds until all had an error; what else was heard meanwhile."""
    server = {"command": SERVER[0], "args": SERVER[1:]}
    client = Client(folder, {"up": server, "other": server}, {"calls_per_session": calls + 10})
    client.names()
    pid = int(client.request("tools/call", {"name": "up__pid", "arguments": {}})["content"][0]["text"])
    client.request("tools/call", {"name": "other__echo", "arguments": {}})
    call(client, "other__hold", 9)
    for number in range(calls):
        call(client, "up__hold", 10000 + number)
    client.request("tools/call", {"name": "up__echo", "arguments": {}})  # it has taken them all
    waiting, others = set(range(10000, 10000 + calls)), []
    began = time.monotonic()
    os.kill(pid, signal.SIGKILL)
    while waiting:
        message = json.loads(client.process.stdout.readline())
        if message.get("id") in waiting and message["result"]["isError"]:
            waiting.remove(message["id"])
        else:
            others.append(message)
    took = time.monotonic() - began
    client.request("tools/call", {"name": "other__echo", "arguments": {}})
    client.process.kill()
    client.process.wait()
    return took, others


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--calls", type=int, default=1000)
    parser.add_argument("--rounds", type=int, default=10)
    arguments = parser.parse_args()
    times, others = [], []
    for _ in range(arguments.rounds):
        with tempfile.TemporaryDirectory() as name:
            took, heard = killed(pathlib.Path(name), arguments.calls)
        times.append(took)
        others += heard
    print(f"{arguments.calls} errors within {max(times) * 1000:.0f} ms at most, {arguments.rounds} rounds; else heard: {others}")
    return 0 if max(times) <= BAR and not others else 1


if __name__ == "__main__":
    sys.exit(main())
