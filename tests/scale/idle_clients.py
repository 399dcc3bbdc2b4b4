#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Idle clients: how much memory and processor time N open event streams and N WebSockets cost, and how long a
change of the tools takes to reach all of them.

    tests/scale/idle_clients.py [--clients N] [--seconds S]

The hub is PATCHBAY_BIN (default: build/release/core/patchbay). Prints a table; exits 1 when a bar is missed:
20 KiB of memory per pair of clients plus 4 MiB, 1 % of one processor, every client told exactly once and within 1 s.
"""

import argparse
import pathlib
import select
import sys
import tempfile
import time

from scale import MODERN, Hub, open_websocket, raise_file_limit, read_until


def open_stream(hub, number):
    client = hub.connect(number)
    headers = "MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: subscriptions/listen\r\n"
    params = {"notifications": {"toolsListChanged": True}, "_meta": MODERN}
    hub.post(client, {"jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen", "params": params}, headers)
    read_until(client, b"subscriptions/acknowledged")
    return client


PING = b"\x89\x00"
PONG = b"\x8a\x80\x00\x00\x00\x00"


def be_idle(clients, seconds):
    """Nothing but what keeps a connection alive: pings are answered, comments are read."""
    poll = select.epoll()
    by_fd = {client.fileno(): client for client in clients}
    for fd in by_fd:
        poll.register(fd, select.EPOLLIN)
    end = time.monotonic() + seconds
    while (rest := end - time.monotonic()) > 0:
        for fd, _ in poll.poll(rest, 4096):
            if by_fd[fd].recv(4096) == PING:
                by_fd[fd].sendall(PONG)


def wait_for_change(clients, limit):
    """Read until every client was told; how many were, how often the most told one was, and how long it took."""
    poll = select.epoll()
    told = {client.fileno(): 0 for client in clients}
    for fd in told:
        poll.register(fd, select.EPOLLIN)
    by_fd = {client.fileno(): client for client in clients}
    begin = time.monotonic()
    missing = len(clients)
    while missing > 0 and time.monotonic() - begin < limit:
        for fd, _ in poll.poll(0.5, 4096):
            data = by_fd[fd].recv(65536)
            if not data:
                raise SystemExit(f"the hub hung up on idle client {clients.index(by_fd[fd])} of {len(clients)}")
            count = data.count(b"notifications/tools/list_changed")
            missing -= count > 0 and told[fd] == 0
            told[fd] += count
    return len(clients) - missing, max(told.values()), time.monotonic() - begin


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--clients", type=int, default=10000, help="event streams, and as many WebSockets")
    parser.add_argument("--seconds", type=float, default=20, help="how long to watch the idle hub")
    options = parser.parse_args()
    raise_file_limit(2 * options.clients + 200)
    failed = 0

    def judge(what, value, unit, bar):
        nonlocal failed
        failed += value > bar
        print(f"{what:44} {value:10.2f} {unit:8} at most {bar:.2f}{'' if value <= bar else '   MISSED'}")

    with tempfile.TemporaryDirectory() as folder:
        hub = Hub(pathlib.Path(folder))
        base = hub.memory()
        streams = [open_stream(hub, number) for number in range(options.clients)]
        with_streams = hub.memory()
        sockets = [open_websocket(hub, options.clients + number) for number in range(options.clients)]
        total = hub.memory()
        print(f"{options.clients} event streams, {options.clients} WebSockets; the hub alone: {base / 2**20:.1f} MiB")
        print(f"per event stream {(with_streams - base) / options.clients:.0f} bytes, "
              f"per WebSocket {(total - with_streams) / options.clients:.0f} bytes")
        judge("memory", total / 2**20, "MiB", base / 2**20 + 4 + options.clients * 20 / 1024)
        before = hub.cpu()
        be_idle(streams + sockets, options.seconds)
        judge("processor, idle", 100 * (hub.cpu() - before) / options.seconds, "%", 1)
        hub.call("enable_toolset", {"toolset": "time"})
        count, most, seconds = wait_for_change(streams + sockets, 30)
        judge("clients not told of a change", 2 * options.clients - count, "clients", 0)
        judge("notifications to one client", most, "", 1)
        judge("until the last one was told", seconds, "s", 1)
        hub.process.terminate()
        hub.process.stderr.read()
        judge("exit code", hub.process.wait(), "", 0)
    print(f"{6 - failed} passed, {failed} failed")
    sys.exit(failed > 0)


main()
