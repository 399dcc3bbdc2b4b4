# SPDX-License-Identifier: Apache-2.0
"""Tools as other APIs take them, and calls in their shapes (S2.26 to S2.30, S2.44, S2.45, S4.4, S4.32, S4.47)."""

import json

from mcp import HubTest, fixture, main, tool

SCHEMA = {"type": "object", "properties": {"n": {"type": "number", "not": {"const": 1}}}}
LONG = "l" * 80
TOOLSETS = {"alpha": fixture(tool("one", description="One", inputSchema=SCHEMA), tool("a.b")), LONG[:30]: fixture(LONG)}


class Export(HubTest):
    def export(self, format, *more, code=0, toolsets=TOOLSETS):
        (self.home / "patchbay.json").write_text(json.dumps({"toolsets": toolsets}))
        done = self.cli("export", "--config", self.home / "patchbay.json", "--format", format, *more)
        self.assertEqual(done.returncode, code, done.stderr)
        return json.loads(done.stdout or "null"), done.stderr

    def test_all_tools_in_the_shapes_of_each_api(self):
        definitions, _ = self.export("mcp")
        by_name = {t["name"]: t for t in definitions}
        self.assertEqual(by_name["alpha__one"]["inputSchema"], SCHEMA)
        anthropic, said = self.export("anthropic")
        self.assertEqual(said, "")
        self.assertIn({"name": "alpha__one", "description": "One", "input_schema": SCHEMA}, anthropic)
        openai, _ = self.export("openai")
        self.assertIn(
            {"type": "function", "function": {"name": "alpha__one", "description": "One", "parameters": SCHEMA}}, openai
        )
        for names in ([t["name"] for t in anthropic], [t["function"]["name"] for t in openai]):
            self.assertEqual(len(names), len(set(names)))
            for name in names:
                self.assertRegex(name, "^[a-zA-Z0-9_-]{1,64}$")
        openapi, _ = self.export("openapi")
        self.assertEqual(len(openapi["paths"]), len(definitions))

    def test_losses_and_errors_name_their_tools(self):
        gemini, said = self.export("gemini")
        self.assertEqual(said.count("alpha__one"), 1)
        self.assertIn("not, const", said)
        self.assertEqual(len(gemini[0]["functionDeclarations"]), 3)
        gemini, said = self.export("gemini", "--strict", code=6)
        self.assertIn('tool "alpha__one" is left out', said)
        self.assertEqual(len(gemini[0]["functionDeclarations"]), 2)
        either = tool("either", inputSchema={"type": "object", "oneOf": [{"required": ["a"]}, {"required": ["b"]}]})
        openai, said = self.export("openai", code=6, toolsets={"alpha": fixture(either, "two")})
        self.assertEqual([t["function"]["name"] for t in openai], ["alpha__two"])
        self.assertIn('tool "alpha__either" is left out: openai refuses all tools for one whose schema has oneOf at the top', said)
        nothing, said = self.export("pascal", code=2)
        self.assertIsNone(nothing)
        self.assertIn("openai-responses", said)

    def test_a_model_is_answered_in_its_own_shape(self):
        exported, _ = self.export("anthropic")
        for name in [t["name"] for t in exported]:  # also those that the API calls otherwise
            block = {"type": "tool_use", "id": "t1", "name": name, "input": {"n": 2}}
            done = self.cli(
                "call", "--from", "anthropic", json.dumps(block), "--config", self.home / "patchbay.json"
            )
            self.assertEqual(done.returncode, 0, done.stderr)
            answer = json.loads(done.stdout)
            self.assertEqual((answer["type"], answer["tool_use_id"]), ("tool_result", "t1"))
            self.assertEqual(answer["content"], [{"type": "text", "text": "fixture"}])
        block = {"id": "c1", "type": "function", "function": {"name": "none", "arguments": "{}"}}
        done = self.cli("call", "--from", "openai", json.dumps(block), "--config", self.home / "patchbay.json")
        self.assertEqual(done.returncode, 6, done.stderr)
        self.assertEqual(json.loads(done.stdout)["tool_call_id"], "c1")


if __name__ == "__main__":
    main()
