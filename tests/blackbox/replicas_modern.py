#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three hubs behind haproxy, round robin, with one store and the same keys (docs/SCALE.md): clients of 2026-07-28
see one hub, without stickiness; a session of a handshake client stays at the hub that made it."""

import secrets
import shutil
import subprocess
import unittest

from http_client import Server
from mcp import LIST_CHANGED, fixture, main
from ports import port_of, reserve
from state_shared import Shared

HAPROXY = """
defaults
    mode http
    option abortonclose
    timeout connect 30s
    timeout check 60s
    timeout client 300s
    timeout server 300s
frontend front
    bind 127.0.0.1:{port}
    default_backend back
backend back
    balance roundrobin
    option httpchk GET /readyz
    default-server check inter 100 rise 1 fall 1
    stick-table type string len 64 size 100k expire 24h
    stick on req.hdr(Mcp-Session-Id)
    stick store-response res.hdr(Mcp-Session-Id)
{servers}
"""
ALL = {f"set__tool{i:02}" for i in range(30)}


class Balanced(Server):
    """The balancer's port, used as a hub's."""

    def __init__(self, test, port):  # pylint: disable=super-init-not-called
        self.test, self.port, self.next_id = test, port, 0


@unittest.skipUnless(shutil.which("haproxy"), "haproxy is not installed")
class Replicas(Shared):
    def setUp(self):
        super().setUp()
        keys = self.home / "replicas.key"
        keys.write_text(secrets.token_hex(32), encoding="utf-8")
        keys.chmod(0o600)
        more = {
            "hub": {"name": "home", "page_size": 10},
            "toolsets": {"set": fixture(*(f"tool{i:02}" for i in range(30))), "beta": fixture("two", active=False)},
            "replicas": {"key_file": str(keys), "count": 3},
        }
        self.hubs, self.servers = zip(*(self.served(**more) for _ in range(3)))
        self.front = Balanced(self, self.haproxy())

    def haproxy(self):
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        path = self.home / "haproxy.cfg"
        servers = "\n".join(f"    server hub{i} 127.0.0.1:{server.port}" for i, server in enumerate(self.servers))
        path.write_text(HAPROXY.format(port=port, servers=servers), encoding="utf-8")
        process = subprocess.Popen(["haproxy", "-db", "-f", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.hubs[0].wait_until(lambda: self.is_up(port), "the balancer")
        return port

    def is_up(self, port):
        try:
            return Balanced(self, port).get("/healthz").status == 200
        except OSError:
            return False

    def listed(self):
        """All pages, each from the next replica."""
        names, params = set(), {}
        while True:
            result = self.front.modern("tools/list", params).message.result
            names |= {tool["name"] for tool in result["tools"] if "__" in tool["name"]}
            if "nextCursor" not in result:
                return names
            params = {"cursor": result["nextCursor"]}

    def test_lists_calls_and_choices(self):
        for _ in range(4):
            self.assertEqual(self.listed(), ALL)
        streams = [server.listen(toolsListChanged=True) for server in self.servers]
        self.change(self.front, "enable_toolset", "beta")
        for stream in streams:
            self.assertEqual(stream.message().method, LIST_CHANGED)
        for _ in range(4):
            self.assertEqual(self.listed(), ALL | {"beta__two"})
            self.assertNotIn("error", self.front.call("beta__two").message.data)
        self.change(self.front, "disable_toolset", "beta")
        for stream in streams:  # the next news: there was one of the first
            self.assertEqual(stream.message().method, LIST_CHANGED)
        self.assertEqual(self.listed(), ALL)

    def test_sessions_stay_where_they_are(self):
        sessions = [self.front.legacy() for _ in range(6)]
        for _ in range(4):
            for session in sessions:
                self.assertNotIn("error", session.call("set__tool00").message.data)
        self.change(self.front, "enable_toolset", "beta")
        for session in sessions:
            self.hubs[0].wait_until(lambda s=session: "error" not in s.call("beta__two").message.data, "the choice at its hub")


if __name__ == "__main__":
    main()
