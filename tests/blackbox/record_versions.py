#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replicas of two neighbouring versions share a store while they are rolled: what one writes the other reads, or leaves
alone and says why (docs/SCALE.md)."""

import json

from mcp import main
from replica_moves import Moves

# What the documents have that 0.2 wrote. A later version may add members, and has to keep these: 0.2 reads them.
WRITTEN = {
    "active": {"enabled": list},
    "toolset": {"name": str, "version": int, "createdAt": str, "updatedAt": str, "owner": str, "tools": list},
    "session": {
        "format": int, "at": int, "home": str, "port": int, "profile": str, "streams": int, "sequence": int, "delivered": int,
        "messages": list,
    },
    "replica": {"version": str, "sections": dict},
}


class Neighbours(Moves):
    """A replica that ends has left one record of each kind."""

    def replica(self, more=None, **options):
        return super().replica(more={**(more or {}), "hub": {"name": "home", "remember": "all", "meta_tools": ["toolsets", "saved"]}}, **options)

    def setUp(self):
        super().setUp()
        home = self.replica()
        self.session = home.legacy()
        for tool, arguments in (
            ("enable_toolset", {"toolset": "beta"}),
            ("build-toolset", {"name": "mine", "tools": ["set:tool0"]}),
        ):
            self.assertNotIn("isError", self.session.call(tool, arguments).message.result)
        self.replicas = self.exported("replica")
        self.end(home)

    def exported(self, kind=None):
        done = self.cli("state", "export", manifest=self.manifest(), modules=False)
        self.header, *lines = done.stdout.splitlines()
        return [record for record in map(json.loads, lines) if kind in (None, record["kind"])]

    def put_back(self, change):
        """All records, as another version would have written them."""
        records = self.exported()
        for record in records:
            change(record["document"])
        text = "\n".join([self.header, *map(json.dumps, records)]) + "\n"
        done = self.cli("state", "import", "-", "--replace", manifest=self.manifest(), modules=False, stdin=text)
        self.assertEqual(done.returncode, 0, done.stderr)

    def found(self, server):
        """Which tools are there that were chosen, and what is said of equipping the saved toolset."""
        shown = {"beta__two"} & self.shown(server)
        return shown, server.call("equip-toolset", {"name": "mine"}).message.result

    def test_what_is_written_is_what_0_2_reads(self):
        records = {record["kind"]: record["document"] for record in self.replicas + self.exported()}
        self.assertEqual(set(records), set(WRITTEN))
        for kind, members in WRITTEN.items():
            self.assertEqual({name: type(records[kind].get(name)) for name in members}, members)
        self.assertEqual(records["session"]["format"], 1)

    def test_further_members_are_passed_over(self):
        self.put_back(lambda document: document.update(further={"of": ["a later", "version"]}))
        other = self.replica()
        self.assertServed(self.session, other)
        shown, said = self.found(other)
        self.assertEqual((shown, said["structuredContent"]["equipped"]), ({"beta__two"}, "mine"))

    def test_what_is_not_understood_is_left_alone(self):
        def change(document):
            document.update(format=2, enabled={"in": "another way"}, tools={"in": "another way"})

        self.put_back(change)
        before = self.exported()
        other = self.replica()
        self.assertLost(self.session, other)
        shown, said = self.found(other)
        self.assertEqual((shown, said["isError"]), (set(), True))
        self.assertSays(said["content"][0]["text"], "tools")
        for event in ("session.not_taken", "active.broken"):
            other.hub.wait_log(event)
        left = [record for record in self.exported() if record["kind"] != "replica"]
        self.assertEqual([record["document"] for record in left], [record["document"] for record in before])


if __name__ == "__main__":
    main()
