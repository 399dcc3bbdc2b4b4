# SPDX-License-Identifier: Apache-2.0
"""Saved toolsets while the servers under them change, go, or were never there (S3.11, S3.66, S3.69, S3.81, S3.90)."""

import json

from mcp import fixture, main, tool
from saved_toolsets import Saved

SMALL = json.dumps([tool("other")])
WHOLE = json.dumps([tool("echo"), tool("other")])


class Changing(Saved):
    def states(self, client):
        return {t["id"]: t.get("state", "there") for t in self.ask(client, "get-active-toolset", {})["tools"]}

    def test_a_server_under_another_key(self):
        """A toolset that no manifest has any more is told of, and hides none of the others."""
        client = self.client(toolsets={"docker": fixture("ps")}, saved_toolsets={"both": {"tools": ["git:status", "docker:ps"]}})
        done = self.equip(client, "both")
        self.assertEqual((done["tools"], done["warnings"]), (["docker__ps"], ['not available here, of "git": status']))
        self.assertEqual(self.states(client), {"docker:ps": "there", "git:status": "not available here"})

    def test_one_of_which_nothing_is_left(self):
        client = self.client(toolsets={"docker": fixture("ps")}, saved_toolsets={"old": {"tools": ["git:status"]}})
        before, since = client.names(), client.hub.mark
        self.assertIn('unknown toolset "git"', self.refused(client, "equip-toolset", {"name": "old"}))
        self.assertEqual((client.names(), client.list_changes(since)), (before, 0))

    def test_a_tool_that_goes_while_it_is_equipped_and_comes_back(self):
        server = self.recorder()
        client = self.client(toolsets={"up": server.toolset(), "docker": fixture("ps")},
                             saved_toolsets={"both": {"tools": ["up:echo", "docker:ps"]}})
        since = client.hub.mark
        self.equip(client, "both")
        client.wait_list_changed(since)  # a change that is taken back in its window is told to nobody
        for tools, shown, state in ((SMALL, ["docker__ps"], "not there"), (WHOLE, ["docker__ps", "up__echo"], "there")):
            since = client.hub.mark
            server.command(tools=tools)
            server.command(notify=1)
            client.wait_list_changed(since)
            self.assertEqual(self.own(client), shown)
            self.assertEqual(self.states(client)["up:echo"], state)
        self.assertNotIn("up__other", client.names())

    def test_a_hundred_tools_of_a_server_that_is_down(self):
        names = [f"tool_with_quite_a_long_name_{number:03}" for number in range(100)]
        toolsets = {"docker": fixture("ps"), "up": {"command": str(self.home / "none")}}
        client = self.client(toolsets=toolsets, saved_toolsets={"big": {"tools": ["docker:ps", *(f"up:{n}" for n in names[:99])]}})
        answer = client.call("equip-toolset", {"name": "big"})
        (warning,) = answer.result["structuredContent"]["warnings"]
        self.assertIn('server "up" is unavailable, skipping tools: ' + names[0], warning)
        self.assertLess(len(warning), 2048)  # a model reads it; get-active-toolset names them all
        self.assertEqual(list(self.states(client).values()).count("not there"), 99)
        self.assertEqual(self.own(client), ["docker__ps"])

    def test_a_name_that_an_override_gives_and_takes(self):
        """What is saved is the server's own name: another name of the operator's changes what is shown alone."""
        for overrides, shown in (({}, "docker__ps"), ({"ps": {"name": "processes"}}, "docker__processes"), ({"ps": {"hide": True}}, None)):
            docker = {**fixture("ps", "rm"), "tools": {"overrides": overrides}}
            client = self.client(toolsets={"docker": docker}, saved_toolsets={"both": {"tools": ["docker:ps", "docker:rm"]}})
            done = self.equip(client, "both")
            self.assertEqual(sorted(done["tools"]), sorted(filter(None, [shown, "docker__rm"])))
            self.assertEqual(done["warnings"], [] if shown else ['not available here, of "docker": ps'])
            if shown:  # by what is shown it can be saved
                self.build(client, "again", [shown], replace=True)
                self.equip(client, "again")
                self.assertEqual(self.states(client), {"docker:ps": "there"})

    def test_nobody_calls_the_hub_through_the_hub(self):
        client = self.client(hub={"name": "test", "meta_tools": ["search", "fanout", "saved"]}, toolsets={"docker": fixture("ps")})
        for name, arguments in (("call_tool", {"name": "docker__ps"}), ("call_in_toolsets", {"tool": "ps"}), ("equip-toolset", {"name": "x"})):
            answer = client.call("call_tool", {"name": name, "arguments": arguments}).result
            self.assertIn("a tool of the hub's own", answer["content"][0]["text"], name)
        for own in ("call_tool", "call_in_toolsets"):
            self.assertTrue(client.call("call_in_toolsets", {"tool": own, "toolsets": ["docker"]}).result["isError"])


if __name__ == "__main__":
    main()
