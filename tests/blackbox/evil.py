# SPDX-License-Identifier: Apache-2.0
"""What tests with evil clients share: a bystander that must not notice anything, and the state that the hub has to
be in afterwards (RELIABILITY.md, the invariants)."""

import os
import socket
import struct
import time

from http_client import HttpTest, dump, render
from mcp import TIMEOUT

LIMITS = {"sse_comment": "500ms"}  # assertIdle measures between two comments


def leave(connection):
    """Go without a word: the peer gets a reset."""
    connection.socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
    connection.close()


def half_close(connection):
    connection.socket.shutdown(socket.SHUT_WR)
    return connection


def resident_bytes(pid):
    with open(f"/proc/{pid}/statm", encoding="ascii") as file:
        return int(file.read().split()[1]) * os.sysconf("SC_PAGE_SIZE")


class Bystander:
    """An honest client on one connection; every answer has to be its own."""

    def __init__(self, server, connection=None, path="/mcp"):
        self.server = server
        self.path = path
        self.connection = connection or server.connection()
        self.calls = 0

    def call(self):
        self.calls += 1
        nonce = f"bystander-{self.calls}"
        message = self.server.modern_request("tools/call", {"name": "up__echo", "arguments": {"nonce": nonce}}, request_id=nonce)
        self.connection.send(render("POST", self.path, self.server.modern_headers(message), dump(message)))
        reply = self.connection.reply()
        answer = reply.answer
        self.server.test.assertEqual((reply.status, answer.id), (200, nonce))
        self.server.test.assertEqual(answer.result["structuredContent"], {"nonce": nonce})


class EvilTest(HttpTest):
    """A hub, an upstream that sees every call, and a bystander. A test ends with assertUnharmed."""

    bystanders_path = "/mcp"

    limits = LIMITS

    def setUp(self):
        super().setUp()
        self.upstream = self.recorder()
        self.begin(self.http(toolsets={"up": self.upstream.toolset()}, manifest={"limits": self.limits}))

    def begin(self, server):
        self.server = server
        self.bystander = Bystander(server, path=self.bystanders_path)
        self.bystander.call()
        self.calls_before = len(self.upstream.sync().lines("tools/call"))
        self.sockets_before = self.sockets()

    def sockets(self):
        """The hub's open sockets."""
        folder = f"/proc/{self.server.hub.process.pid}/fd"
        found = 0
        for fd in os.listdir(folder):
            try:
                found += os.readlink(f"{folder}/{fd}").startswith("socket:")
            except FileNotFoundError:  # closed meanwhile
                pass
        return found

    def foreign_calls(self):
        """Calls that reached the upstream and are not the bystander's."""
        lines = self.upstream.sync().lines("tools/call")[self.calls_before :]
        return [line for line in lines if '"bystander-' not in line]

    def wait_links_gone(self):
        """Until no connection but the bystander's is left. It goes on working meanwhile."""
        deadline = time.monotonic() + TIMEOUT
        while (left := self.sockets()) > self.sockets_before:
            self.assertLess(time.monotonic(), deadline, f"{left - self.sockets_before} connections are left")
            self.bystander.call()

    def assertUnharmed(self, calls=0):
        """The bystander is served, nobody else's connection is left, the hub is idle, and just so many calls were
        made by others. (Exit code and sanitizers are looked at when it ends.)"""
        self.bystander.call()
        self.wait_links_gone()
        self.assertEqual(len(self.foreign_calls()), calls)
        self.assertIdle(self.server)
