#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a client brings back is good at every replica that has the same keys: replicas.key_file (docs/SCALE.md)."""

import secrets

from mcp import INVALID_PARAMS, HubTest, LegacyClient, fixture, main
from upstream_tasks import upstream

MANY = {"set": fixture(*(f"tool{i:02}" for i in range(30)))}
OLD, NEW = secrets.token_hex(32), secrets.token_hex(32)


class Keys(HubTest):
    def replica(self, *keys, toolsets=None):
        """One with these keys, and another process each time."""
        manifest = {"hub": {"page_size": 10}}
        if keys:
            path = self.home / f"{secrets.token_hex(4)}.key"
            path.write_text("\n".join(keys) + "\n", encoding="utf-8")
            path.chmod(0o600)
            manifest["replicas"] = {"key_file": str(path)}
        client = LegacyClient(self.hub(toolsets=toolsets or MANY, manifest=manifest))
        client.names()
        return client

    def test_cursors(self):
        cursor = self.replica(OLD).request("tools/list").result["nextCursor"]
        next_page = self.replica(OLD).request("tools/list", {"cursor": cursor}).result["tools"]
        self.assertEqual(len(next_page), 10)
        # While keys change, the previous one is taken, and not used any more.
        both = self.replica(NEW, OLD)
        self.assertEqual(both.request("tools/list", {"cursor": cursor}).result["tools"], next_page)
        newer = both.request("tools/list").result["nextCursor"]
        self.assertNotEqual(newer, cursor)
        for keys in ((NEW,), ()):
            self.assertEqual(self.replica(*keys).request("tools/list", {"cursor": cursor}).code, INVALID_PARAMS)
        self.assertEqual(self.replica(NEW).request("tools/list", {"cursor": newer}).result["tools"], next_page)
        self.assertEqual(self.replica(OLD).request("tools/list", {"cursor": newer}).code, INVALID_PARAMS)

    def test_ids_of_tasks(self):
        toolsets = {"up": upstream("--era", "legacy")}

        def made(client):
            params = {"name": "up__slow", "arguments": {}, "task": {"ttl": 60000}}
            return client.request("tools/call", params).result["task"]["taskId"]

        one, two, other = (self.replica(*keys, toolsets=toolsets) for keys in ((OLD,), (NEW, OLD), (NEW,)))
        task = made(one)
        for client in (two, other):  # each has a server of its own, whose task has the same id
            self.assertNotEqual(made(client), task)
        self.assertEqual(two.request("tasks/get", {"taskId": task}).result["taskId"].split(".")[0], "up")
        self.assertIn("error", other.request("tasks/get", {"taskId": task}).data)

    def test_a_file_that_is_none(self):
        path = self.home / "replicas.key"
        path.write_text(OLD, encoding="utf-8")
        path.chmod(0o644)
        manifest = {"replicas": {"key_file": str(path)}}
        done = self.cli("list", "tools", manifest=manifest)
        self.assertNotEqual(done.returncode, 0)
        self.assertSays(done.stderr, str(path), "chmod 600")


if __name__ == "__main__":
    main()
