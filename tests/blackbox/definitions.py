# SPDX-License-Identifier: Apache-2.0
"""Definitions that no revision allows: left out by name, with the reason, at no cost to their neighbours (S3.78)."""

import json

from mcp import HubTest, LegacyClient, ModernClient, main, tool

NEIGHBOURS = [f"t{n:02}" for n in range(12)]

# What a server may get wrong, and what the log says about it.
BAD = {
    "name": ({"name": 5}, "it has no name"),
    "title": ({"title": 5}, "title must be a string, found 5"),
    "description": ({"description": None}, "description must be a string, found null"),
    "no schema": ({"inputSchema": ...}, "inputSchema must be an object, but it is missing"),
    "no type": ({"inputSchema": {}}, 'inputSchema.type must be "object", but it is missing'),
    "type": ({"inputSchema": {"type": "array"}}, 'inputSchema.type must be "object", found "array"'),
    "outputSchema": ({"outputSchema": None}, "outputSchema must be an object, found null"),
    "annotations": ({"annotations": {"title": 7}}, "annotations.title must be a string, found 7"),
    "hint": ({"annotations": {"readOnlyHint": "yes"}}, 'annotations.readOnlyHint must be true or false, found "yes"'),
    "icons": ({"icons": [{}]}, "icons[0].src must be a string, but it is missing"),
    "_meta": ({"_meta": []}, "_meta must be an object, found an array"),
    "half a character": ({"description": "\ud83d"}, "it has half of a surrogate pair"),
}


def broken(changes):
    definition = {**tool("bad"), **changes}
    return {key: value for key, value in definition.items() if value is not ...}


class Definitions(HubTest):
    def start(self, definitions, **options):
        path = self.home / "tools.json"
        path.write_text(json.dumps(definitions), encoding="utf-8")
        recorder = self.recorder()
        return self.hub(toolsets={"up": recorder.toolset("--tools", path, **options)})

    def check(self, hub, reason):
        for client in (LegacyClient(hub), ModernClient(hub)):
            self.assertEqual(client.own_names(), [f"up__{name}" for name in NEIGHBOURS])
        line = hub.wait_log("tools.dropped")
        self.assertIn("toolset=up", line.replace('"', ""))
        self.assertIn(reason.replace('"', ""), line.replace("\\", "").replace('"', ""))
        hub.finish()

    def test_each_defect_costs_one_tool(self):
        for where, (changes, reason) in BAD.items():
            with self.subTest(where):
                tools = [tool(name) for name in NEIGHBOURS]
                hub = self.start([*tools[:6], broken(changes), *tools[6:]])
                self.check(hub, reason)

    def test_what_was_remembered_is_judged_again(self):
        tools = [tool(name) for name in NEIGHBOURS]
        definitions = [broken({"description": 5}), *tools]
        path = self.home / "tools.json"
        path.write_text(json.dumps(definitions), encoding="utf-8")
        recorder = self.recorder("up")
        entry = recorder.toolset("--tools", path, env={})
        first = self.hub(toolsets={"up": entry})
        self.assertEqual(LegacyClient(first).own_names(), [f"up__{name}" for name in NEIGHBOURS])
        first.finish()
        second = self.hub(toolsets={"up": entry})
        self.assertEqual(LegacyClient(second).own_names(), [f"up__{name}" for name in NEIGHBOURS])
        self.assertIn("description must be a string, found 5", second.wait_log("tools.dropped"))
        self.assertEqual(len(recorder.sync().starts), 1)
        second.finish()

    def test_a_tool_that_is_gone_cannot_be_called(self):
        hub = self.start([tool("good"), broken({"title": 5})])
        client = LegacyClient(hub)
        self.assertEqual(client.own_names(), ["up__good"])
        self.assertIn("up__bad", client.call("up__bad").error["message"])
        hub.finish()


if __name__ == "__main__":
    main()
