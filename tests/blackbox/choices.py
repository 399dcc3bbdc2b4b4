#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The end of one client's choice: no server stops that somebody else uses or the configuration wants, and why one is not there is
still known (DESIGN.md, "Toolsets and who sees them")."""

import json

from http_client import Server
from mcp import HubTest, fixture, main

DEAD = {"command": "/nonexistent/server"}


class Ends(HubTest):
    """Ann and Bob come over HTTP; root looks, and uses nothing."""

    def setUp(self):
        super().setUp()
        self.tokens = self.home / "tokens.json"
        self.ann, self.bob, self.root = self.bearer("ann"), self.bearer("bob"), self.bearer("root", "--scopes", "admin")

    def bearer(self, name, *rights):
        done = self.cli("token", "new", name, *rights, "--tokens", self.tokens, modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {"Authorization": f"Bearer {done.stdout.strip()}"}

    def begin(self, active, hub=None, **toolsets):
        up = self.recorder().toolset(active=active)
        manifest = {"hub": hub or {}, "toolsets": {"up": up, "gamma": fixture("three"), **toolsets}}
        self.server = Server(self, self.daemon("--http", 0, "--tokens", self.tokens, manifest=manifest))

    def row(self, key="up", who=None):
        status = self.server.modern("patchbay/status", headers=who or self.root).message.result
        return next(row["status"] for row in status["toolsets"] if row["key"] == key)

    def change(self, who, verb, *toolsets):
        done = self.server.call(f"{verb}_toolset", {"toolsets": toolsets}, who).message.result
        self.assertNotIn("isError", done)

    def calls(self, who):
        """A call by that one; the process that answers it."""
        self.assertNotIn("isError", self.server.call("up__echo", {}, who).message.result)
        return self.row()["pid"]


class Servers(Ends):
    def test_two_choose_it_and_one_ends(self):
        self.begin(active=False)
        self.change(self.ann, "enable", "up")
        self.change(self.bob, "enable", "up")
        pid = self.calls(self.bob)
        self.change(self.ann, "disable", "up")
        self.assertEqual(self.calls(self.bob), pid)
        self.change(self.bob, "disable", "up")
        self.assertNotIn("pid", self.row())

    def test_a_choice_that_is_the_configuration_s(self):
        """Who enables what is enabled has a choice of no more than that: its end, too, is without effect."""
        self.begin(active=True)
        self.change(self.ann, "enable", "up")
        pid = self.row()["pid"]
        self.assertEqual([self.calls(self.ann), self.calls(self.bob)], [pid, pid])

    def test_what_the_configuration_wants(self):
        self.begin(active=True)
        pid = self.calls(self.bob)
        self.change(self.ann, "disable", "up")
        self.assertEqual(self.calls(self.bob), pid)
        self.change(self.bob, "disable", "up")
        self.change(self.ann, "enable", "up")
        self.assertEqual(self.calls(self.ann), pid)

    def test_sessions_that_choose_for_themselves(self):
        self.begin(active=False, hub={"active_set": "session"})
        one, two = (self.server.legacy(headers=self.ann) for _ in range(2))
        for session in (one, two):
            self.assertNotIn("isError", session.call("enable_toolset", {"toolset": "up"}).answer.result)
        pid = self.row()["pid"]
        self.assertEqual(one.delete().status, 204)
        self.assertNotIn("isError", two.call("up__echo").answer.result)
        self.assertEqual(self.row()["pid"], pid)

    def test_saved_toolsets(self):
        self.begin(active=True, hub={"meta_tools": ["toolsets", "saved"]})
        for who in (self.ann, self.bob):
            for tool, arguments in (("build-toolset", {"name": "mine", "tools": ["up:echo"]}), ("equip-toolset", {"name": "mine"})):
                self.assertNotIn("isError", self.server.call(tool, arguments, who).message.result)
        pid = self.calls(self.bob)
        for who in (self.ann, self.bob):
            self.assertNotIn("isError", self.server.call("unequip-toolset", {}, who).message.result)
            self.assertEqual(self.calls(self.bob), pid)


class Reasons(Ends):
    def says(self, state, who=None):
        row = self.row("dead", who)
        self.assertEqual(row["state"], state)
        self.assertSays(row.get("lastError", ""), "/nonexistent/server")

    def test_of_one_that_two_have_chosen(self):
        self.begin(active=False, dead={**DEAD, "active": False})
        self.change(self.ann, "enable", "dead")
        self.says("failed", self.ann)
        self.says("failed")  # also for who does not use it
        self.change(self.bob, "enable", "dead")
        for who in (self.ann, self.bob):
            self.change(who, "disable", "dead")
            self.says("failed")
        listed = self.server.call("list_toolsets", {}, self.root).message.result
        self.assertSays(json.dumps(listed), "/nonexistent/server")
        self.change(self.ann, "enable", "dead")
        self.says("failed", self.ann)

    def test_of_what_the_configuration_wants(self):
        self.begin(active=False, dead=DEAD)
        self.change(self.ann, "enable", "dead")  # it is: its server is tried
        self.says("failed")
        self.change(self.ann, "disable", "dead")
        self.says("failed", self.ann)


if __name__ == "__main__":
    main()
