# SPDX-License-Identifier: Apache-2.0
"""The hub's own tools speak of nothing that a policy or a filter hides: an answer is byte for byte what it would be if
there were no such toolset. Every tool of the hub is tried, whichever there are."""

import json
import re

from mcp import META_TOOLS, HubTest, ModernClient, fixture, main, tool

OFF = {"active": False}
READ = {"annotations": {"readOnlyHint": True}}
SEEN = {"alpha": fixture(tool("one", **READ), description="The first letters."), "beta": fixture(tool("two", **READ), **OFF)}
HIDDEN = "secret"  # what nothing may be said of
TOOLS = (tool("whisper", description="Tells what nobody may know."), tool("shout"))

# How it is hidden: the policy, and how its own entry differs.
WAYS = {
    "deny": ({"deny": [HIDDEN]}, {}),
    "allow": ({"allow": list(SEEN)}, {}),
    "namespace": ({"filters": [{"namespace": list(SEEN)}]}, {}),
    "all of its tools": ({"filters": [{"deny_tools": [f"{HIDDEN}:*"]}]}, {}),
    "each of its tools": ({"filters": [{"deny_tools": [f"{HIDDEN}:whisper", f"{HIDDEN}:shout"]}]}, {}),
    "only others": ({"filters": [{"allow_tools": ["alpha:*", "beta:*"]}]}, {}),
    "a tag": ({"filters": [{"tags_none": ["dark"]}]}, {"tags": ["dark"]}),
    "a category": ({"filters": [{"category": ["day"]}]}, {"category": "night"}),
    "only reading": ({"read_only": True}, {}),
    "its own tools.deny": ({}, {"tools": {"deny": ["*"]}}),
    "its own tools.allow": ({}, {"tools": {"allow": []}}),
}
# These show only when it is known which tools there are: before, nobody can say that there is none to be seen.
BY_CATALOG = ("each of its tools", "only reading")
KEYS = (HIDDEN, f" {HIDDEN} ", "secre", "secrets", "whisper", "")


def values(name, schema):
    """What is tried for an argument of that name: an argument of a new tool must be thought of here."""
    tried = {
        "toolset": list(KEYS),
        "toolsets": [[key] for key in KEYS] + [["nobody", HIDDEN], [HIDDEN, HIDDEN]],
        "query": [HIDDEN, "whisper", "nobody may know", "e"],
        "limit": [1, 1000],
        "cursor": ["00", ""],
    }
    assert name in tried, f"no values for {name}: {schema}"
    return tried[name]


def arguments(definition):
    """Calls of a tool: each argument by itself, beside what it demands."""
    schema = definition["inputSchema"]
    need = {name: values(name, schema["properties"][name])[0] for name in schema.get("required", [])}
    calls = [need]
    for name, inner in schema["properties"].items():
        calls += [{**need, name: value} for value in values(name, inner)]
    return calls


class Hidden(HubTest):
    def start(self, way, there, active, args=()):
        policy, keys = WAYS[way]
        toolsets = dict(SEEN)
        if way == "a category":
            toolsets = {key: {**entry, "category": "day"} for key, entry in SEEN.items()}
        if there:
            toolsets[HIDDEN] = fixture(*TOOLS, description="What nobody may know.", active=active, **keys)
        return ModernClient(self.hub(*args, toolsets=toolsets, manifest={"policy": policy}))

    def said(self, client):
        """Every answer of each of the hub's own tools, without what differs from hub to hub."""
        definitions = [d for d in client.tools() if d["name"] in META_TOOLS]
        self.assertEqual([d["name"] for d in definitions], META_TOOLS)
        answers = []
        for definition in definitions:
            for call in arguments(definition):
                raw = json.dumps(client.call(definition["name"], call).data, sort_keys=True)
                raw = re.sub(r'nextCursor[^0-9a-f]*[0-9a-f]+', "nextCursor", raw)
                answers.append((definition["name"], call, re.sub(r'"id": \d+', "", raw)))
        return answers

    def check(self, way, active):
        without = self.said(self.start(way, False, active))
        client = self.start(way, True, active)
        with_it = self.said(client)
        for expected, found in zip(without, with_it):
            self.assertEqual(found, expected)
        self.assertEqual(len(with_it), len(without))
        self.assertNotIn(HIDDEN, json.dumps(client.tools()))

    def test_inactive(self):
        for way in WAYS:
            if way not in BY_CATALOG:
                with self.subTest(way):
                    self.check(way, False)

    def test_inactive_until_its_catalog_is_known(self):
        for way in BY_CATALOG:
            with self.subTest(way):
                client = self.start(way, True, False)
                refused = [client.call("enable_toolset", {"toolset": key}).tool_error for key in (HIDDEN, "nobodys")]
                self.assertEqual(refused[0]["message"].replace(HIDDEN, "nobodys"), refused[1]["message"])
                self.assertEqual(self.said(client), self.said(self.start(way, False, False)))

    def test_active(self):
        for way in WAYS:
            with self.subTest(way):
                self.check(way, True)

    def test_what_is_not_hidden_is_told(self):
        client = self.modern(toolsets={**SEEN, HIDDEN: fixture(*TOOLS, **OFF)})
        self.assertIn(HIDDEN, json.dumps(self.said(client)[-1:] + self.said(client)))

    def test_by_a_profile(self):
        manifest = {"profiles": {"small": {"policy": {"allow": list(SEEN)}}}}
        answers = []
        for more in ({}, {HIDDEN: fixture(*TOOLS, **OFF)}):
            hub = self.hub("--profile", "small", toolsets={**SEEN, **more}, manifest=manifest)
            answers.append(self.said(ModernClient(hub)))
            status = ModernClient(hub).request("patchbay/status").result
            self.assertEqual([row["key"] for row in status["toolsets"]], ["alpha", "beta"])
        self.assertEqual(*answers)


if __name__ == "__main__":
    main()
