#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What changes at one of three replicas is told to each client that it concerns, at all of them, once and in its order
(docs/SCALE.md, Changes). How long that takes is measured by bench/replicas_notices.py."""

import unittest

from http_client import Server
from mcp import LIST_CHANGED, main
from state_shared import ALPHA, BETA, Volume
from valkey import PROGRAM

GAMMA = "gamma__three"
GROUPS = {"name": "home", "meta_tools": ["toolsets", "saved"]}


class Reader:
    """A client of one principal at one replica: it hears of news, and looks then."""

    def __init__(self, server, headers, is_modern):
        self.server, self.headers = server, headers
        if is_modern:
            self.stream = server.listen(headers=headers, toolsListChanged=True)
        else:
            self.session = server.legacy(headers=headers)
            self.stream = self.session.open()
            self.session.request("tools/list")

    def shown(self):
        tools = self.server.modern("tools/list", headers=self.headers).message.result["tools"]
        return {tool["name"] for tool in tools if "__" in tool["name"]}


@unittest.skipUnless(PROGRAM, "neither valkey-server nor redis-server is installed")
class Notices(Volume):
    """A client of each era of each of two principals at each replica."""

    def setUp(self):
        super().setUp()
        self.tokens, self.headers = self.home / "tokens.json", {}
        for name in ("ann", "bob"):
            done = self.cli("token", "new", name, "--tokens", self.tokens, modules=False)
            self.headers[name] = {"Authorization": f"Bearer {done.stdout.strip()}"}
        self.write()
        self.patchbay("lock")
        self.hubs = [self.daemon("--http", 0, files=[self.path]) for _ in range(3)]
        self.servers = [Server(self, hub) for hub in self.hubs]
        self.readers = {
            name: [Reader(server, headers, is_modern) for server in self.servers for is_modern in (True, False)]
            for name, headers in self.headers.items()
        }

    def write(self, *toolsets):
        super().write(*toolsets, hub=GROUPS, auth={"tokens": str(self.tokens)})

    def do(self, number, tool, **arguments):
        """By ann, at one of the replicas."""
        done = self.servers[number].call(tool, arguments, headers=self.headers["ann"]).message.result
        self.assertFalse(done.get("isError"), done)

    def assertNews(self, *shown, to=("ann",)):
        for name in to:
            for reader in self.readers[name]:
                self.assertEqual(reader.stream.message().method, LIST_CHANGED)
                self.assertEqual(reader.shown(), set(shown))

    def assertNoMore(self):
        """The streams end, and there was nothing in them but what has been read."""
        for hub in self.hubs:
            hub.finish()
        for reader in (reader for readers in self.readers.values() for reader in readers):
            left = [event.data for event in iter(reader.stream.next, None)]
            self.assertEqual([data for data in left if "list_changed" in data], [])

    def test_each_client_of_the_principal_is_told_once(self):
        self.do(0, "enable_toolset", toolset="beta")
        self.assertNews(ALPHA, BETA)
        self.do(1, "build-toolset", name="mine", tools=["beta:two"])
        self.do(2, "equip-toolset", name="mine")
        self.assertNews(BETA)
        self.do(0, "unequip-toolset")
        self.assertNews(ALPHA, BETA)
        self.do(1, "disable_toolset", toolset="beta")
        self.assertNews(ALPHA)
        self.write("gamma")
        for hub in self.hubs:
            hub.wait_log("config.reloaded")
        self.patchbay("approve", "gamma")
        self.assertNews(ALPHA, GAMMA, to=("ann", "bob"))
        self.write()
        self.assertNews(ALPHA, to=("ann", "bob"))
        self.do(2, "enable_toolset", toolset="beta")
        self.assertNews(ALPHA, BETA)
        self.assertNoMore()


if __name__ == "__main__":
    main()
