# SPDX-License-Identifier: Apache-2.0
"""What the hub itself offers to models: its own tools and those of its plugins, as every model API takes them.

The common subset of the APIs of Anthropic, OpenAI, Google, AWS and Azure for function definitions. A client whose API
refuses a tool drops it in silence, or fails as a whole.
"""

import re
import unittest

from mcp import META_TOOLS, HubTest, fixture, main

NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
PROPERTY = re.compile(r"[a-zA-Z0-9_.-]{1,64}")
REFUSED_AT_TOP = ("oneOf", "anyOf", "allOf", "not", "if", "enum", "const", "$ref")
TYPES = ("string", "number", "integer", "boolean", "array", "object")

COMMAND = {"module": "command", "config": {"tools": [{
    "name": "log", "description": "The last commits.", "argv": ["echo", "{count}", "{words...}", "{path?}"],
    "args": {"count": {"type": "integer", "default": 5, "minimum": 1, "description": "How many."},
             "words": {"type": "array", "items": {"type": "string"}, "description": "Which."},
             "path": {"type": "string", "description": "Where."}},
}]}}


def schema_problems(place, schema):
    """What an API does not take in the schema of one argument."""
    if not isinstance(schema, dict):
        return [f"{place}: is no object, but {schema!r}"]
    found = []
    if not any(key in schema for key in ("type", "enum", "const", "anyOf", "oneOf", "$ref")):
        found.append(f"{place}: has no type")
    types = schema.get("type", [])
    if not set([types] if isinstance(types, str) else types) <= set(TYPES):
        found.append(f"{place}: the type is {types!r}, not one of {', '.join(TYPES)}")
    if schema.get("type") == "array":
        found += schema_problems(f"{place}[]", schema.get("items"))
    for key, inner in schema.get("properties", {}).items():
        if not PROPERTY.fullmatch(key):
            found.append(f"{place}.{key}: no name that is taken for a property")
        found += schema_problems(f"{place}.{key}", inner)
    return found


def problems(definition):
    """What an API does not take in the definition of a tool."""
    name, schema = definition["name"], definition["inputSchema"]
    found = []
    if not NAME.fullmatch(name):
        found.append(f"{name}: no name that is taken")
    if not definition.get("description", "").strip():
        found.append(f"{name}: no description")
    if schema.get("type") != "object":
        found.append(f"{name}: inputSchema is of no \"type\": \"object\"")
    if not isinstance(schema.get("properties"), dict):
        found.append(f"{name}: no properties")
    found += [f"{name}: {word} at the top of inputSchema" for word in REFUSED_AT_TOP if word in schema]
    found += schema_problems(name, schema)
    for key, argument in schema.get("properties", {}).items():
        if not argument.get("description", "").strip():
            found.append(f"{name}.{key}: no description")
    for key in schema.get("required", []):
        if key not in schema.get("properties", {}):
            found.append(f"{name}.{key}: required, and no property")
    return found


class Rules(unittest.TestCase):
    """The rules find what they are for."""

    def test_what_is_refused(self):
        top = {"type": "object", "properties": {}}
        good = {"name": "a", "description": "d", "inputSchema": top}
        self.assertEqual(problems(good), [])
        for change in ({"name": "a.b"}, {"name": "x" * 65}, {"description": " "}, {"inputSchema": {**top, "oneOf": []}},
                       {"inputSchema": {**top, "properties": {"a b": {"type": "string", "description": "d"}}}},
                       {"inputSchema": {**top, "properties": {"a": {"type": "string"}}}},
                       {"inputSchema": {**top, "properties": {"a": {"description": "d"}}}},
                       {"inputSchema": {**top, "properties": {"a": {"type": "text", "description": "d"}}}},
                       {"inputSchema": {**top, "properties": {"a": {"type": "array", "description": "d"}}}},
                       {"inputSchema": {"type": "array", "items": top, "properties": {}}},
                       {"inputSchema": {"type": "object"}}, {"inputSchema": {**top, "required": ["a"]}}):
            with self.subTest(change):
                self.assertEqual(len(problems({**good, **change})), 1)


class ModelApis(HubTest):
    def check(self, definitions):
        self.assertEqual([problem for definition in definitions for problem in problems(definition)], [])

    def test_the_hub_s_own_tools(self):
        definitions = self.modern(toolsets={"alpha": fixture("one")}).tools()
        self.assertEqual([d["name"] for d in definitions if d["name"] in META_TOOLS], list(META_TOOLS))
        self.check(d for d in definitions if d["name"] in META_TOOLS)

    def test_every_group_of_them(self):
        groups = ["toolsets", "saved", "search", "fanout"]
        definitions = self.modern(toolsets={"alpha": fixture("one")}, manifest={"hub": {"meta_tools": groups}}).tools()
        self.assertGreater(len(definitions), 15)
        self.check(d for d in definitions if d["name"] != "alpha__one" and d["name"] not in META_TOOLS)

    def test_the_hub_s_own_tools_in_a_static_hub(self):
        definitions = self.modern("--startup", "static", "--toolsets", "alpha", toolsets={"alpha": fixture("one")},
                                  manifest={"hub": {"meta_tools": True}}).tools()
        self.check(d for d in definitions if d["name"] in META_TOOLS)

    def test_native_plugins(self):
        folder = self.home / "files"
        folder.mkdir()
        toolsets = {"time": {}, "files": {"config": {"roots": [str(folder)], "write": True}}, "command": COMMAND}
        definitions = self.modern(toolsets=toolsets).tools()
        for key in toolsets:
            self.assertTrue(any(d["name"].startswith(f"{key}__") for d in definitions), key)
        self.check(definitions)

    def test_what_the_schema_shows_is_enough(self):
        client = self.modern(toolsets={"alpha": fixture("one", active=False), "beta": fixture("two", active=False)})
        client.call("enable_toolset", {"toolsets": ["alpha", "beta"]}).result
        self.assertEqual(client.own_names(), ["alpha__one", "beta__two"])
        client.call("disable_toolset", {"toolsets": ["alpha"]}).result
        self.assertEqual(client.own_names(), ["beta__two"])

    def test_one_toolset_as_a_text(self):
        client = self.modern(toolsets={"alpha": fixture("one"), "beta": fixture("two")})
        for key in ("toolsets", "toolset"):  # the second as clients of earlier versions say it
            client.call("disable_toolset", {key: "alpha"}).result
            self.assertEqual(client.own_names(), ["beta__two"] if key == "toolsets" else [])
            client.call("disable_toolset", {key: "beta"}).result
        client.call("enable_toolset", {"toolsets": "alpha"}).result
        self.assertEqual(client.own_names(), ["alpha__one"])

    def test_what_is_neither(self):
        client = self.modern(toolsets={"alpha": fixture("one")})
        for arguments in ({}, {"toolsets": 5}, {"toolsets": [5]}, {"toolsets": []}, {"toolset": ["alpha"]},
                          {"toolset": "alpha", "toolsets": ["alpha"]}, {"toolsets": ["alpha"], "more": 1}):
            with self.subTest(arguments):
                failure = client.call("enable_toolset", arguments).tool_error
                self.assertEqual(failure["code"], "TOOL_INVALID_INPUT")


if __name__ == "__main__":
    main()
