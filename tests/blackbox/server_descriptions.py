# SPDX-License-Identifier: Apache-2.0
"""What servers say of themselves (2026-07-28 schema DiscoverResult, Implementation; 2025-11-25 schema InitializeResult): it
describes their toolsets to models, and what they change of it later is noticed."""

import json

from mcp import HubTest, fixture, main, tool

ABOUT = json.dumps({"title": "The Recorder", "description": "Records what it is told."})
SAYS = "Call echo first.\nThen the others."


class Descriptions(HubTest):
    def row(self, client, key="up"):
        return next(row for row in self.meta_call(client, "list_toolsets")["toolsets"] if row["key"] == key)

    def test_of_both_eras(self):
        for era in ("legacy", "modern"):
            for flags, expected in (
                (("--about", ABOUT, "--instructions", SAYS), "Records what it is told."),
                (("--instructions", SAYS), "Call echo first. Then the others."),
                (("--about", '{"title": "The Recorder"}'), "The Recorder"),
                ((), None),
            ):
                with self.subTest(era, flags=flags):
                    client = self.legacy(toolsets={"up": self.recorder().toolset("--era", era, *flags)})
                    client.names()
                    self.assertEqual(self.row(client).get("description"), expected)
                    client.hub.finish()

    def test_the_operator_s_word_comes_first(self):
        up = self.recorder().toolset("--about", ABOUT, description="Ours.")
        client = self.legacy(toolsets={"up": up})
        client.names()
        self.assertEqual(self.row(client)["description"], "Ours.")
        self.assertEqual(self.meta_call(client, "describe_toolset", toolset="up")["title"], "The Recorder")

    def test_a_long_story(self):
        about = json.dumps({"description": "It tells. " * 5000})
        client = self.legacy(toolsets={"up": self.recorder().toolset("--about", about)})
        client.names()
        self.assertLessEqual(len(self.row(client)["description"].encode()), 56)
        found = self.meta_call(client, "describe_toolset", toolset="up")["description"]
        self.assertTrue(900 < len(found.encode()) <= 1024)

    def test_it_is_remembered(self):
        manifest = {"hub": {"cache_dir": str(self.home / "cache")}}
        up = {**self.recorder().toolset("--about", ABOUT), "env": {}}
        client = self.legacy(toolsets={"up": up}, manifest=manifest)
        client.names()
        client.hub.wait_until(lambda: list((self.home / "cache").glob("*.json")), "the file")
        client.hub.finish()
        client = self.legacy(toolsets={"up": up}, manifest=manifest)
        self.assertEqual(self.row(client)["description"], "Records what it is told.")
        self.assertEqual(self.meta_call(client, "describe_toolset", toolset="up")["title"], "The Recorder")


class Gathered(HubTest):
    """What servers say to models is handed on, behind the hub's own instructions (InitializeResult, DiscoverResult)."""

    PREAMBLE = "Descriptions by the servers of toolsets follow. They call their tools by names without the toolset."

    def up(self, says=SAYS, **keys):
        return {**self.recorder().toolset(*(("--instructions", says) if says else ()), **keys), "env": {}}

    def said(self, client):
        return client.request("server/discover").result.get("instructions")

    def learned(self, *args, manifest=None, **toolsets):
        """What a modern client is told of a hub that knows its servers."""
        client = self.modern(*args, toolsets=toolsets, manifest=manifest)
        client.names()
        return self.said(client)

    def test_both_eras(self):
        manifest = {"hub": {"instructions": "Use with care.", "cache_dir": str(self.home / "cache")}}
        toolsets = {"b": self.up(), "a": self.up("# Mine\n\nAsk."), "c": self.up(None), "own": fixture("one")}
        client = self.modern(toolsets=toolsets, manifest=manifest)
        self.assertEqual(self.said(client), "Use with care.")  # nobody waits for servers
        client.names()
        expected = f"Use with care.\n\n{self.PREAMBLE}\n\n# a\n\n### Mine\n\nAsk.\n\n# b\n\n{SAYS}"
        self.assertEqual(self.said(client), expected)
        client.hub.wait_until(lambda: len(list((self.home / "cache").glob("*.json"))) == 3, "the files")
        client.hub.finish()
        client = self.legacy(toolsets=toolsets, manifest=manifest)
        self.assertEqual(client.answer.result["instructions"], expected)

    def test_names_as_they_are_need_no_word(self):
        self.assertEqual(self.learned("--naming", "none", up=self.up("Ask.")), "# up\n\nAsk.")

    def test_only_what_is_active_and_may_be_seen(self):
        toolsets = {"a": self.up("Ask."), "b": self.up("Hidden."), "c": self.up("Inactive.", active=False)}
        manifest = {"access": {"default": "allow", "rules": [{"tools": {"match": ["b:*"]}, "then": "deny"}]}}
        client = self.modern(toolsets=toolsets, manifest=manifest)
        client.names()
        self.assertEqual(self.said(client), f"{self.PREAMBLE}\n\n# a\n\nAsk.")
        self.meta_call(client, "enable_toolset", toolset="c")
        self.assertEqual(self.said(client), f"{self.PREAMBLE}\n\n# a\n\nAsk.\n\n# c\n\nInactive.")

    def test_off(self):
        self.assertIsNone(self.learned(up=self.up(), manifest={"hub": {"server_instructions": False}}))

    def test_bounds(self):
        """2 KiB of each, 8 KiB of all; who had no room is named."""
        self.assertEqual(self.learned(u=self.up("y" * 2048)), f"{self.PREAMBLE}\n\n# u\n\n" + "y" * 2048)
        self.assertEqual(self.learned(u=self.up("y" * 2049)), f"{self.PREAMBLE}\n\n# u\n\n" + "y" * 2045 + "…")
        text = self.learned(**{f"t{n}": self.up("x" * 2048) for n in range(5)})
        self.assertEqual(text.count("x" * 2048), 3)
        self.assertTrue(text.endswith("\n\nThere was no room for what these say: t3,t4"), text[-100:])


class Redefined(HubTest):
    """A definition that is replaced by another one of the same name is named in the log, and counted."""

    def test_while_it_runs(self):
        recorder = self.recorder()
        tools = self.home / "tools.json"
        before = [tool("a", description="Reads."), tool("b"), tool("c")]
        tools.write_text(json.dumps(before))
        client = self.legacy(toolsets={"up": recorder.toolset("--tools", tools)})
        self.assertEqual(client.own_names(), ["up__a", "up__b", "up__c"])
        after = [tool("a", description="Reads, and tells."), tool("b", title="B", annotations={"readOnlyHint": True}), tool("c")]
        since = client.hub.mark
        recorder.command(tools=json.dumps(after), notify=1)
        client.wait_list_changed(since)
        line = client.hub.wait_log("tools.redefined")
        self.assertSays(line, "warning", "toolset=up", "count=2", "a(description)", "b(title annotations)")
        self.assertNotIn("c(", line)
        status = client.request("patchbay/status").result
        self.assertEqual(status["toolsets"][0]["status"]["redefined"], 2)

    def test_what_is_new_is_not_redefined(self):
        recorder = self.recorder()
        tools = self.home / "tools.json"
        tools.write_text(json.dumps([tool("a")]))
        client = self.legacy(toolsets={"up": recorder.toolset("--tools", tools)})
        client.names()
        since = client.hub.mark
        recorder.command(tools=json.dumps([tool("b"), tool("a")]), notify=1)
        client.wait_list_changed(since)
        self.assertNotIn("tools.redefined", client.hub.log)
        self.assertSays(client.hub.wait_log("tools.changed"), "count=2", "before=1", "added=b", 'removed=""')

    def test_one_that_goes_and_comes_back(self):
        recorder = self.recorder()
        tools = self.home / "tools.json"
        tools.write_text(json.dumps([tool("a", description="Reads."), tool("b")]))
        client = self.legacy(toolsets={"up": recorder.toolset("--tools", tools)})
        client.names()
        for definitions in ([tool("b")], [tool("b"), tool("a", description="Sends.")]):
            since = client.hub.mark
            recorder.command(tools=json.dumps(definitions), notify=1)
            client.wait_list_changed(since)
        self.assertSays(client.hub.wait_log("removed=a"), "tools.changed", "toolset=up", 'added=""')
        self.assertSays(client.hub.wait_log("added=a"), "tools.changed", "toolset=up", 'removed=""')


class Advice(HubTest):
    def test_contested_names(self):
        toolsets = {key: self.recorder().toolset() for key in ("a", "b")}
        done = self.cli("check", "--connect", toolsets=toolsets, manifest={"hub": {"naming": "none"}})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertSays(done.stderr, 'warning: profile "default": the tool name "echo" belongs to nobody', "a:echo, b:echo")
        done = self.cli("check", "--connect", toolsets=toolsets)
        self.assertNotIn("belongs to nobody", done.stderr)

    def test_schemas_that_model_apis_refuse(self):
        tools = self.home / "tools.json"
        shapes = [tool(f"bad{n}", inputSchema={"type": "object", word: [{"type": "object"}]})
                  for n, word in enumerate(("oneOf", "anyOf", "allOf", "enum"))]
        inner = {"type": "object", "properties": {"x": {"oneOf": [{"type": "string"}]}}}
        tools.write_text(json.dumps([*shapes, tool("good", inputSchema=inner)]))
        done = self.cli("check", "--connect", toolsets={"up": self.recorder().toolset("--tools", tools), "own": fixture("one")})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertSays(done.stderr, 'toolset "up": clients may drop tools', ": bad0,bad1,bad2,bad3")
        self.assertNotIn("good", done.stderr)
        self.assertNotIn('"own"', done.stderr)
        flat = {"overrides": {"bad*": {"flat": True}}}
        done = self.cli("check", "--connect", toolsets={"up": self.recorder().toolset("--tools", tools, tools=flat)})
        self.assertNotIn("may drop", done.stderr)

    def leaving_out(self):
        lists = self.home / "lists.json"
        bad = [{"name": f"bad{n:04}", "description": 5, "inputSchema": {"type": "object"}} for n in range(150)]
        prompts = [{"name": "odd", "arguments": 7}, {"name": "fine"}]
        lists.write_text(json.dumps({"tools": json.dumps([*bad, tool("good")]), "prompts": json.dumps(prompts)}))
        return self.recorder().toolset("--content", "--lists", lists)

    def test_who_asks_is_told_of_what_is_left_out(self):
        """The first of each list; and nothing of a tool that is not shown anyway."""
        client = self.legacy(toolsets={"up": {**self.leaving_out(), "tools": {"deny": ["bad0001"]}}})
        client.names()
        client.request("prompts/list")
        said = [f'tool "bad{n:04}" is left out: description must be a string, found 5' for n in range(10) if n != 1]
        status = client.request("patchbay/status").result["toolsets"][0]
        self.assertEqual((status["leftOut"][:-1], status["moreLeftOut"]), (said, 140))
        self.assertSays(status["leftOut"][-1], 'prompt "odd" is left out: arguments')
        described = self.meta_call(client, "describe_toolset", toolset="up")
        self.assertEqual((described["leftOut"], described["moreLeftOut"]), ([*said[:2], status["leftOut"][-1]], 147))
        self.assertEqual([one["name"] for one in described["tools"]], ["up__good"])

    def test_definitions_that_are_left_out(self):
        """By name, and with the reason; of many a hundred, and how many more there are."""
        done = self.cli("check", "--connect", toolsets={"up": self.leaving_out()})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertSays(done.stdout, "up: 1 tool,", "1 prompt")
        self.assertSays(done.stderr, 'warning: toolset "up": tool "bad0099" is left out: description must be a string, found 5\n',
                        'toolset "up": prompt "odd" is left out: arguments', 'toolset "up": so it is with 50 more tools')
        self.assertNotIn("bad0100", done.stderr)

    def test_arguments_that_model_apis_refuse(self):
        tools = self.home / "tools.json"
        names = {"odd": "$filter", "long": "a" * 65, "empty": "", "umlaut": "größe", "good": "a" * 62 + ".-", "fine": "_9"}
        tools.write_text(json.dumps([tool(n, inputSchema={"type": "object", "properties": {name: {"type": "string"}}}) for n, name in names.items()]))
        done = self.cli("check", "--connect", toolsets={"up": self.recorder().toolset("--tools", tools)})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertSays(done.stderr, "an argument whose name", "refuse that: odd,long,empty,umlaut\n")

    def test_many_of_them(self):
        tools = self.home / "tools.json"
        tools.write_text(json.dumps([tool(f"bad{n:04}", inputSchema={"type": "object", "oneOf": []}) for n in range(500)]))
        done = self.cli("check", "--connect", toolsets={"up": self.recorder().toolset("--tools", tools)})
        self.assertRegex(done.stderr, r"bad0000,bad0001,.* and \d+ more")
        self.assertLess(max(map(len, done.stderr.splitlines())), 2048)


class Registry(HubTest):

    def test_the_registry_is_logged_once(self):
        client = self.legacy(toolsets={"up": self.recorder().toolset(active=False), "own": fixture("one", active=False)})
        for key in ("up", "own"):
            before = client.hub.log.count("tools.registry.updated")
            client.call("enable_toolset", {"toolset": key}).result
            client.hub.wait_log(f"toolset.enabled toolset={key}")
            client.hub.wait_until(lambda: client.hub.log.count("tools.registry.updated") > before, "the registry's line")
            client.barrier()
            self.assertEqual(client.hub.log.count("tools.registry.updated"), before + 1, key)
        self.assertSays(client.hub.wait_log("tools.discovery.server.success"), "serverName=up", "toolNames=echo,hold,die")
        client.call("disable_toolset", {"toolset": "up"}).result
        self.assertSays(client.hub.wait_log("tools.registry.server.removed"), "serverName=up", "echo,hold")


if __name__ == "__main__":
    main()
