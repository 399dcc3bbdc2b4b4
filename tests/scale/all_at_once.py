#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clients that take what they can get, all at once: connections that are idle, bodies that are never finished, and
readers that stop. What does the hub grow to, and who is still served?

    tests/scale/all_at_once.py [--idle N] [--bodies N] [--readers N]

The hub has its own limits of memory. After each part, and among them, honest clients call a tool. Bars: 512 MiB at any
time, and no honest call that fails.
"""

import argparse
import json
import pathlib
import sys
import tempfile
import threading

from scale import Hub, frame, open_websocket, raise_file_limit

MIB = 1 << 20
BODY = 4 * MIB  # the most that one message may have
OWED = 32 * MIB  # asked for by each reader
BLOCK = 256 * 1024
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"


def be_idle(hub, number):
    """A connection that is kept after an answer."""
    client = hub.connect(number)
    client.sendall(HEALTH)
    assert client.recv(4096).startswith(b"HTTP/1.1 200")
    return client


def half_a_body(hub, number):
    """All of a message but its last byte, as far as the hub takes it. Whether it took all."""
    client = hub.connect(number)
    client.settimeout(60)
    head = "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
    head += f"Accept: application/json, text/event-stream\r\nContent-Length: {BODY}\r\n\r\n"
    try:
        client.sendall(head.encode() + b" " * (BODY - 1))
        return client, True
    except OSError:
        return client, False


def stop_reading(hub, number, path):
    """A WebSocket that asks for a lot and reads none of it, until the hub hangs up or takes no more."""
    client = open_websocket(hub, number)
    client.settimeout(5)
    try:
        for request in range(OWED // BLOCK):
            arguments = {"name": "files__read", "arguments": {"path": str(path), "length": BLOCK}}
            message = {"jsonrpc": "2.0", "id": 10 + request, "method": "tools/call", "params": arguments}
            client.sendall(frame(json.dumps(message)))
        return client, True
    except OSError:
        return client, False


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--idle", type=int, default=12000)
    parser.add_argument("--bodies", type=int, default=250)
    parser.add_argument("--readers", type=int, default=60)
    options = parser.parse_args()
    raise_file_limit(options.idle + options.bodies + options.readers + 500)
    failed = 0
    held = []

    with tempfile.TemporaryDirectory() as folder:
        big = pathlib.Path(folder) / "big.txt"
        big.write_text(("x" * 1023 + "\n") * 1024)
        hub = Hub(pathlib.Path(folder), idle_timeout="10m", body_timeout="10m", stall_timeout="10m", ping_interval="10m")
        threading.Thread(target=hub.process.stderr.read, daemon=True).start()  # or it waits for somebody to read

        def serve(count=20):
            """Honest clients, each on a connection of its own: a call that fails ends the program."""
            for _ in range(count):
                hub.call("time__now", {})

        def tell(what, taken, count):
            print(f"{what:32} {taken:6} of {count:6} taken, {hub.memory() / MIB:7.1f} MiB", flush=True)
            serve()

        hub.call("enable_toolset", {"toolset": "time"})
        hub.call("enable_toolset", {"toolset": "files"})
        held += [be_idle(hub, 1000 + number) for number in range(options.idle)]
        tell("idle connections", options.idle, options.idle)
        bodies = []
        for number in range(options.bodies):
            bodies.append(half_a_body(hub, 20000 + number))
            serve(1)
        tell("unfinished bodies", sum(taken for _, taken in bodies), options.bodies)
        readers = []
        for number in range(options.readers):
            readers.append(stop_reading(hub, 30000 + number, big))
            serve(1)
        tell("readers that stopped", sum(taken for _, taken in readers), options.readers)
        peak = hub.memory("VmHWM") / MIB
        failed += peak > 512
        print(f"{'the most at any time':32} {peak:7.1f} MiB, at most 512{'' if peak <= 512 else '   MISSED'}")
        for client, _ in bodies + readers:
            client.close()
        serve()
        alive = sum(client.send(HEALTH) == len(HEALTH) and client.recv(4096).startswith(b"HTTP/1.1 200") for client in held)
        failed += alive < options.idle
        print(f"{'idle connections that still are':32} {alive:6} of {options.idle:6}{'' if alive == options.idle else '   MISSED'}")
        hub.process.terminate()
        failed += hub.process.wait() != 0
    print(f"{3 - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
