#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One client stops reading while it is owed a lot; what do the others notice?

    tests/scale/slow_reader.py [--owed MIB] [--honest N] [--seconds S]

The slow one asks for OWED MiB of results over a WebSocket and reads none; N honest clients call a tool over HTTP every
50 ms. Bars: the honest ones' p99 stays under 50 ms and none of their calls fails, the hub grows by 64 MiB at most, and
it hangs up on the slow one.
"""

import argparse
import heapq
import json
import pathlib
import select
import sys
import tempfile
import time

from scale import MODERN, Hub, frame, open_websocket, raise_file_limit

INTERVAL = 0.05
BLOCK = 256 * 1024  # bytes of a file that one call reads
HEADERS = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: time__now\r\n"


class Honest:
    """Calls every INTERVAL, and notes how long each answer took."""

    def __init__(self, hub, number):
        self.hub = hub
        self.socket = hub.connect(number)
        self.received = b""
        self.sent = None
        self.due = time.monotonic() + INTERVAL * number / 100
        self.id = 0

    def send(self, now):
        self.id += 1
        self.sent = now
        params = {"name": "time__now", "arguments": {}, "_meta": MODERN}
        self.hub.post(self.socket, {"jsonrpc": "2.0", "id": self.id, "method": "tools/call", "params": params}, HEADERS)

    def receive(self):
        """The seconds that an answer took, once it is complete; None before."""
        data = self.socket.recv(65536)
        assert data, "the hub hung up on an honest client"
        self.received += data
        head, separator, body = self.received.partition(b"\r\n\r\n")
        if not separator:
            return None
        length = int(head.lower().split(b"content-length:")[1].split()[0])
        if len(body) < length:
            return None
        answer = json.loads(body)
        assert answer["id"] == self.id and not answer["result"].get("isError"), answer
        self.received = b""
        return time.monotonic() - self.sent


def ask_for(client, path, count):
    """Ask for a file `count` times, and never read. False when the hub hung up before everything was asked."""
    try:
        for number in range(count):
            arguments = {"name": "files__read", "arguments": {"path": str(path), "length": BLOCK}}
            client.sendall(frame(json.dumps({"jsonrpc": "2.0", "id": 10 + number, "method": "tools/call", "params": arguments})))
    except OSError:
        return False
    return True


def read_to_end(client):
    """The bytes that were under way when the hub hung up."""
    client.settimeout(60)
    total = 0
    try:
        while data := client.recv(2**20):
            total += len(data)
    except ConnectionResetError:
        pass
    return total


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--owed", type=int, default=100, help="MiB")
    parser.add_argument("--honest", type=int, default=100, help="clients")
    parser.add_argument("--seconds", type=float, default=10)
    options = parser.parse_args()
    raise_file_limit(options.honest + 200)
    failed = 0

    def judge(what, value, unit, bar):
        nonlocal failed
        failed += value > bar
        print(f"{what:44} {value:10.2f} {unit:8} at most {bar:.2f}{'' if value <= bar else '   MISSED'}")

    with tempfile.TemporaryDirectory() as folder:
        big = pathlib.Path(folder) / "big.txt"
        big.write_text(("x" * 1023 + "\n") * 1024)
        hub = Hub(pathlib.Path(folder))
        hub.call("enable_toolset", {"toolset": "time"})
        hub.call("enable_toolset", {"toolset": "files"})
        honest = {client.socket.fileno(): client for client in (Honest(hub, n) for n in range(options.honest))}
        slow = open_websocket(hub, 5000)
        base = hub.memory()
        peak = base
        poll = select.epoll()
        for fd in honest:
            poll.register(fd, select.EPOLLIN)
        queue = [(client.due, fd) for fd, client in honest.items()]
        heapq.heapify(queue)
        latencies = []
        end = time.monotonic() + options.seconds
        ask_for(slow, big, options.owed * 2**20 // BLOCK)
        while time.monotonic() < end:
            now = time.monotonic()
            while queue and queue[0][0] <= now:
                honest[heapq.heappop(queue)[1]].send(now)
            for fd, _ in poll.poll(max(0.0, min(queue[0][0] - now if queue else 0.05, 0.05)), 256):
                seconds = honest[fd].receive()
                if seconds is not None:
                    latencies.append(seconds)
                    heapq.heappush(queue, (max(time.monotonic(), honest[fd].sent + INTERVAL), fd))
            peak = max(peak, hub.memory())
        latencies.sort()
        p99 = latencies[len(latencies) * 99 // 100]
        print(f"{len(latencies)} honest calls, median {1000 * latencies[len(latencies) // 2]:.2f} ms, "
              f"worst {1000 * latencies[-1]:.2f} ms; the hub alone: {base / 2**20:.1f} MiB")
        judge("p99 of the honest clients", 1000 * p99, "ms", 50)
        judge("growth of the hub", (peak - base) / 2**20, "MiB", 64)
        judge("what the slow one still got", read_to_end(slow) / 2**20, "MiB", 32)
        hub.process.terminate()
        hub.process.stderr.read()
        judge("exit code", hub.process.wait(), "", 0)
    print(f"{4 - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
