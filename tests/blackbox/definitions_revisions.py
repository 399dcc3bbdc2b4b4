# SPDX-License-Identifier: Apache-2.0
"""Each client is listed what its revision allows (ARCHITECTURE.md, "Sections and masks"): definitions that some
revision refuses cost no client of that revision its list, and their neighbours nothing. Every list is held against the
schema of the negotiated revision by the harness (S3.78)."""

import json
import sys
from pathlib import Path

from mcp import INVALID_PARAMS, MODERN, HubTest, LegacyClient, ModernClient, main, mcp_schema, tool

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "definitions"))
import shapes  # noqa: E402

METHODS = {"tools": "tools/list", "resources": "resources/list", "templates": "resources/templates/list",
           "prompts": "prompts/list"}
KEYS = {"tools": "name", "resources": "uri", "templates": "uriTemplate", "prompts": "name"}
GOOD = [f"good{n:02}" for n in range(12)]
OUTPUT = {"type": "array", "items": {"type": "number"}}

# These come first; then some of all shapes.
TOOLS = (
    {"inputSchema": {}}, {"description": 5}, {"outputSchema": {"type": "array"}}, {"annotations": {"title": 7}},
    {"inputSchema": {"type": "object", "properties": 5}}, {"inputSchema": {"type": "object", "required": "x"}},
    {"inputSchema": {"type": "object", "properties": {"a": True}}}, {"outputSchema": {"type": "object", "required": 1}},
    {"_meta": 5}, {"icons": [{}]}, {"execution": {"taskSupport": 5}}, {"execution": 5}, {"title": None},
    {"inputSchema": {"$schema": 5, "type": "object"}}, {"outputSchema": {"$schema": 5, "type": "object"}},
    {"outputSchema": {"type": "string"}, "execution": 5}, {"outputSchema": {"type": "array"}, "description": 5},
)
EVERY_NTH = 37


def definitions(kind):
    """Definitions by the name that the server gives each, the twelve good ones among them."""
    found = {}

    def add(name, definition):
        key = KEYS[kind]
        if isinstance(definition, dict) and isinstance(definition.get(key), str):
            named = {key: f"x:{name}/{{a}}" if kind == "templates" else f"x:{name}" if kind == "resources" else name}
            definition = {**definition, **named}
            found[named[key]] = definition
        else:
            found[name] = definition  # it has none

    for at, definition in enumerate(TOOLS if kind == "tools" else ()):
        add(f"a{at:03}", {"name": "x", "inputSchema": {"type": "object"}, **definition})
    for at, (_, definition) in enumerate(shapes.shapes(kind)):
        if at % EVERY_NTH == 0:
            add(f"s{at:05}", definition)
        if at % (40 * EVERY_NTH) == 0 and at < 12 * 40 * EVERY_NTH:
            add(GOOD[len([n for n in found if "good" in n])], shapes.MINIMAL[kind])
    for name in GOOD:
        if not any(name in known for known in found):
            add(name, shapes.FULL[kind])
    return found


def is_listable(kind, definition):
    """Whether it has a name, and each member once, that the hub can use."""
    return isinstance(definition, dict) and isinstance(definition.get(KEYS[kind]), str)


def expected(kind, revision, found):
    """By name, what a client of the revision is to be listed."""
    listed = {}
    for name, definition in found.items():
        if not is_listable(kind, definition):
            continue
        valid = shapes.revisions(kind, definition)
        if revision in valid:
            listed[name] = definition
        elif revision in shapes.without_output(kind, definition, valid):
            listed[name] = {key: value for key, value in definition.items() if key != "outputSchema"}
    return listed


def parsed(definition):
    return json.loads(shapes.dumps(definition))


class EachRevision(HubTest):
    @classmethod
    def setUpClass(cls):
        cls.found = {kind: definitions(kind) for kind in METHODS}

    def start(self, revision):
        path = self.home / "lists.json"
        path.write_text(json.dumps({kind: f"[{','.join(map(shapes.dumps, found.values()))}]"
                                    for kind, found in self.found.items()}), encoding="utf-8")
        hub = self.hub("--no-meta-tools", manifest={"hub": {"naming": "none", "page_size": 50}},
                       toolsets={"up": self.recorder().toolset("--content", "--lists", path)})
        return ModernClient(hub) if revision == MODERN else LegacyClient(hub, revision=revision)

    def check(self, revision):
        client = self.start(revision)
        for kind, method in METHODS.items():
            want = expected(kind, revision, self.found[kind])
            items = [item for page in client.pages(method) for item in page.result[shapes.MEMBERS[kind]]]
            names = [item[KEYS[kind]] for item in items]
            self.assertEqual(names, sorted(want, key=str.encode))
            self.assertEqual(len([name for name in names if "good" in name]), 12)
            for item in items:
                self.assertEqual(item, parsed(want[item[KEYS[kind]]]))
                self.assertTrue(shapes.by_schema(revision, kind, item), item)
        client.hub.finish()

    def test_2024_11_05(self):
        self.check("2024-11-05")

    def test_2025_03_26(self):
        self.check("2025-03-26")

    def test_2025_06_18(self):
        self.check("2025-06-18")

    def test_2025_11_25(self):
        self.check("2025-11-25")

    def test_2026_07_28(self):
        self.check(MODERN)

    def test_the_lists_differ(self):
        """So that the tests above cannot pass without a revision of their own."""
        listed = [frozenset(expected("tools", revision, self.found["tools"])) for revision in shapes.REVISIONS]
        self.assertEqual(len(set(listed)), 2)


class Calls(HubTest):
    """2026-07-28 server/tools: an outputSchema may be of any type, and structuredContent what it says."""

    TOOLS = [tool("raw", outputSchema=OUTPUT), tool("newer", inputSchema={"type": "object", "properties": {"a": True}}),
             tool("plain"), tool("die", outputSchema=OUTPUT)]
    RESULT = '{"content":[{"type":"text","text":"[1]"}], "structuredContent" : [1.0], "x-more":1.50}'

    def start(self, *flags, tools=TOOLS, **manifest):
        path = self.home / "tools.json"
        path.write_text(json.dumps(tools), encoding="utf-8")
        self.server = self.recorder()
        return self.hub(*flags, manifest=manifest,
                        toolsets={"up": self.server.toolset("--tools", path, "--era", "modern")})

    def call_raw(self, client, text=RESULT):
        return client.call("up__raw", {"result": text})

    def test_a_legacy_client_gets_it_without_what_the_schema_was_for(self):
        client = LegacyClient(self.start())
        self.assertNotIn("outputSchema", client.raw_tools()["up__raw"])
        self.assertEqual(self.call_raw(client).slice("result"),
                         '{"content":[{"type":"text","text":"[1]"}], "x-more":1.50}')
        client.hub.finish()

    def test_a_modern_client_gets_all(self):
        client = ModernClient(self.start())
        self.assertEqual(json.loads(client.raw_tools()["up__raw"])["outputSchema"], OUTPUT)
        self.assertIn('"structuredContent" : [1.0], "x-more":1.50', self.call_raw(client).raw)
        client.hub.finish()

    def test_other_tools_of_a_legacy_client_keep_theirs(self):
        client = LegacyClient(self.start())
        self.assertEqual(client.call("up__plain", {"a": 1}).result["structuredContent"], {"a": 1})
        client.hub.finish()

    def test_one_that_is_no_object_is_left_out_of_a_tool_without_a_schema(self):
        client = LegacyClient(self.start(tools=[tool("raw")]))
        for value, stays in (("[1.0]", False), ("5", False), ("null", False), ('{"a":1.0}', True)):
            answer = self.call_raw(client, f'{{"resultType":"complete","content":[],"structuredContent":{value},"x-more":1.50}}')
            kept = f'"structuredContent":{value},' if stays else ""
            self.assertEqual(answer.slice("result"), f'{{"resultType":"complete","content":[],{kept}"x-more":1.50}}')
        client.hub.finish()

    def test_failures_are_told_without_it_too(self):
        client = LegacyClient(self.start())
        said = self.call_raw(client, '{"structuredContent":[],"content":[],"isError":true}')
        self.assertEqual(said.slice("result"), '{"content":[],"isError":true}')
        failure = client.call("up__die")
        self.assertIn("code", failure.tool_error)
        self.assertNotIn("structuredContent", failure.result)
        client.hub.finish()

    def test_what_a_revision_hides_is_an_unknown_tool(self):
        for revision in ("2025-06-18", "2025-11-25"):
            with self.subTest(revision):
                hub = self.start()
                client = LegacyClient(hub, revision=revision)
                self.assertNotIn("up__newer", client.names())
                gone, nobody = client.call("up__newer"), client.call("up__nexer")  # as near to what there is
                self.assertEqual(gone.code, INVALID_PARAMS)
                self.assertEqual(gone.error["message"].replace("newer", "nexer"), nobody.error["message"])
                self.assertEqual(self.server.sync().lines("tools/call"), [])
                hub.finish()

    def test_meta_tools_say_the_same(self):
        visible = {"2025-06-18": ["die", "plain", "raw"], "2025-11-25": ["die", "plain", "raw"],
                   MODERN: ["die", "newer", "plain", "raw"]}
        for revision, names in visible.items():
            with self.subTest(revision):
                hub = self.start()
                client = ModernClient(hub) if revision == MODERN else LegacyClient(hub, revision=revision)
                self.assertEqual(sorted(client.own_names()), [f"up__{name}" for name in names])
                listed = client.call("list_tools").result["content"][0]["text"]
                told = client.call("describe_toolset", {"toolset": "up"}).result["content"][0]["text"]
                client.call("disable_toolset", {"toolset": "up"}).result
                off = client.call("describe_toolset", {"toolset": "up"}).result["content"][0]["text"]
                for name in ("newer", "plain", "raw"):
                    for text in (listed, told):
                        self.assertEqual(f'"up__{name}"' in text, name in names, text)
                    self.assertEqual(f'{name}"' in off, name in names, off)
                hub.finish()

    def test_pages(self):
        for revision in ("2024-11-05", "2025-11-25", MODERN):
            for size in (1, 2, 3):
                with self.subTest(revision=revision, size=size):
                    hub = self.start("--no-meta-tools", hub={"page_size": size})
                    client = ModernClient(hub) if revision == MODERN else LegacyClient(hub, revision=revision)
                    names = [name for page in client.pages() for name in [t["name"] for t in page.result["tools"]]]
                    self.assertEqual(names, {"2024-11-05": ["up__die", "up__plain", "up__raw"],
                                             "2025-11-25": ["up__die", "up__plain", "up__raw"],
                                             MODERN: ["up__die", "up__newer", "up__plain", "up__raw"]}[revision])
                    self.assertTrue(all(len(page.result["tools"]) == size for page in client.pages()[:-1]))
                    hub.finish()


if __name__ == "__main__":
    main()
