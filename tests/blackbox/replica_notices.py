#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What changes at one of three replicas is told to each client that it concerns, at all of them, once and in its order
(docs/SCALE.md, Changes). How long that takes is measured by bench/replicas_notices.py."""

import json
import unittest

from http_client import Server
from mcp import LIST_CHANGED, fixture, main
from state_shared import Shared
from valkey import PROGRAM

ALPHA, BETA, GAMMA = "alpha__one", "beta__two", "gamma__three"
GROUPS = {"name": "home", "meta_tools": ["toolsets", "saved"]}
TOOLSETS = {"alpha": fixture("one"), "beta": fixture("two", active=False)}


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
class Notices(Shared):
    """A client of each era of each of two principals at each replica."""

    def setUp(self):
        super().setUp()
        self.tokens, self.headers = self.home / "tokens.json", {}
        for name in ("ann", "bob"):
            done = self.cli("token", "new", name, "--tokens", self.tokens, modules=False)
            self.headers[name] = {"Authorization": f"Bearer {done.stdout.strip()}"}
        self.path = self.home / "replicas.json"
        self.write()
        self.patchbay("lock")
        self.hubs = [self.daemon("--http", 0, files=[self.path]) for _ in range(3)]
        self.servers = [Server(self, hub) for hub in self.hubs]
        self.readers = {
            name: [Reader(server, headers, is_modern) for server in self.servers for is_modern in (True, False)]
            for name, headers in self.headers.items()
        }

    def write(self, *toolsets):
        manifest = self.manifest(hub=GROUPS, policy={"pinned": "withhold", "new_tools": "withhold"}, auth={"tokens": str(self.tokens)}, limits={"drain_timeout": "200ms"})
        manifest["toolsets"] = {**TOOLSETS, **{name: fixture("three") for name in toolsets}}
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(manifest), encoding="utf-8")
        partial.replace(self.path)

    def patchbay(self, *words):
        done = self.cli(*words, files=[self.path])
        self.assertEqual(done.returncode, 0, done.stderr)

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
