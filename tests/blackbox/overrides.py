# SPDX-License-Identifier: Apache-2.0
"""Overrides: what an operator changes of tools on their way to clients, and of calls on their way to tools. Bytes that
no override names stay as they were (promise 2; S2.34, S3.50)."""

import json

from access_rules import Two
from mcp import INVALID_PARAMS, HubTest, LegacyClient, ModernClient, fixture, main, slice_at, tool
from reload import ReloadTest

# What no parser and printer would give back.
SEARCH = (
    '{ "x-first":1e300, "name":"search",\t"description" : "Se\\u0061rches",'
    '"inputSchema":{"type":"object" , "required":[ "q", "root" ,"limit"],"properties":{ "root":{"type":"string"},'
    '"q": {"type":"string","x":1.10, "description":"old"} ,"limit":{"type":"integer"},"any":true,"debug":{}},"x-y":[1.0]},'
    '"annotations":{"title":"T\\/T","vendor":-0}}'
)
PLAIN = '{"name":"plain","inputSchema":{"type":"object","properties":{"root":{ }}}}'
OVERRIDES = {
    "search": {
        "name": "find",
        "title": "Find things",
        "description": 'Finds "things"',
        "read_only": True,
        "arguments": {
            "root": {"fixed": "/srv"},
            "limit": {"default": 10},
            "q": {"description": "what to look for"},
            "any": {"description": "whatever"},
            "debug": {"hide": True},
        },
    }
}
FOUND = (
    '{ "x-first":1e300, "name":"up__find",\t"description" : "Finds \\"things\\"",'
    '"inputSchema":{"type":"object" , "required":[ "q"],"properties":{ "q": {"type":"string","x":1.10, '
    '"description":"what to look for"} ,"limit":{"type":"integer","default":10},"any":{"description":"whatever"}},"x-y":[1.0]},'
    '"annotations":{"title":"Find things","vendor":-0,"readOnlyHint":true},"title":"Find things"}'
)


class Overrides(HubTest):
    def upstream(self, recorder, overrides, *tools, **keys):
        path = self.home / "tools.json"
        path.write_text("[" + " ,".join(tools or (SEARCH, PLAIN)) + "]", encoding="utf-8")
        return recorder.toolset("--tools", path, "--era", keys.pop("era", "legacy"), tools={"overrides": overrides}, **keys)

    def sent(self, recorder, since=0):
        line = recorder.wait_request("tools/call", since)
        return slice_at(line, "params", "arguments")

    def refused(self, client, name, arguments, *words):
        answer = client.request("tools/call", {"name": name, "arguments": arguments})
        self.assertEqual(answer.code, INVALID_PARAMS, answer)
        self.assertSays(answer.error["message"], *words)


class Definitions(Overrides):
    def test_only_what_is_named_changes(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                recorder = self.recorder()
                hub = self.hub(toolsets={"up": self.upstream(recorder, OVERRIDES, era=era)})
                for client in (ModernClient(hub), LegacyClient(hub)):
                    raw = client.raw_tools()
                    self.assertEqual(raw["up__find"], FOUND)
                    self.assertEqual(raw["up__plain"], PLAIN.replace('"plain"', '"up__plain"'))
                    self.assertNotIn("up__search", raw)
                hub.finish()

    def test_a_native_tool_likewise(self):
        client = self.legacy(toolsets={"n": fixture(tool("a"), tool("b"), tools={"overrides": {"a": {"title": "A"}}})})
        listed = {t["name"]: t for t in client.tools()}
        self.assertEqual(listed["n__a"], {**tool("n__a"), "title": "A"})
        self.assertEqual(listed["n__b"], tool("n__b"))

    def test_the_own_name_comes_before_globs_and_globs_in_their_order(self):
        overrides = {"d*": {"title": "glob", "hide": True}, "*": {"title": "all", "description": "all"}, "do": {"title": "own", "hide": False}}
        client = self.legacy(toolsets={"n": fixture("do", "drop", "else", tools={"overrides": overrides})})
        listed = {t["name"]: (t["title"], t["description"]) for t in client.tools() if t["name"].startswith("n__")}
        self.assertEqual(listed, {"n__do": ("own", "all"), "n__else": ("all", "all")})
        self.assertEqual(client.request("tools/call", {"name": "n__drop", "arguments": {}}).code, INVALID_PARAMS)

    def test_all_that_is_required_is_fixed(self):
        definition = '{"name":"t","inputSchema":{"type":"object","properties":{"a":{}},"required":["a"]}}'
        recorder = self.recorder()
        client = self.modern(toolsets={"up": self.upstream(recorder, {"t": {"arguments": {"a": {"fixed": 1}}}}, definition)})
        self.assertEqual(client.raw_tools()["up__t"], '{"name":"up__t","inputSchema":{"type":"object","properties":{}}}')

    def test_a_flat_schema(self):
        """What model APIs refuse at the top of a schema can be left out, with arguments or without."""
        schema = ('"oneOf":[{"required":["a"]}] ,"type":"object","anyOf":[{}], "properties":{"a":{"allOf":[{}]},"b":{}},"required":["a"],"allOf":[ ],"not":{},"enum":[{}]')
        cases = {
            '{"flat":true}': '"type":"object", "properties":{"a":{"allOf":[{}]},"b":{}},"required":["a"]',
            '{"flat":true,"arguments":{"a":{"fixed":1}}}': '"type":"object", "properties":{"b":{}}',
            '{"flat":false}': schema,
        }
        for override, shown in cases.items():
            with self.subTest(override):
                definition = f'{{"name":"t","inputSchema":{{{schema}}}}}'
                client = self.modern(toolsets={"up": self.upstream(self.recorder(), {"t*": json.loads(override)}, definition)})
                self.assertEqual(client.raw_tools()["up__t"], f'{{"name":"up__t","inputSchema":{{{shown}}}}}')
                client.hub.finish()

    def test_what_only_alternatives_name(self):
        """`flat` leaves the alternatives out, and keeps the arguments that they are about."""
        schema = (
            '"type":"object","properties":{"a":{"type":"string"}},"oneOf":[{"properties":{"a":{},"k":{"const":1},"b":{}}},true,'
            '{"properties":{"k":{"const":2},"b":{}}},{"$ref":"#/x"}],"anyOf":[{"properties":{"c":{"title":"C"}}}],"allOf":7'
        )
        kept = '"k":{"anyOf":[{"const":1},{"const":2}]},"b":{},"c":{"title":"C"}'
        bare = '"oneOf":[{"properties":{"k":{}}}]'
        cases = (
            (schema, {"flat": True}, '"type":"object","properties":{"a":{"type":"string"},' + kept + "}"),
            (schema, {"flat": True, "arguments": {"a": {"fixed": 1}, "b": {"hide": True}}}, '"type":"object","properties":{' + kept.replace('"b":{},', "") + "}"),
            (bare + ',"type":"object"', {"flat": True}, '"type":"object","properties":{"k":{}}'),
            (schema, {"description": "more"}, schema),
        )
        for given, override, shown in cases:
            with self.subTest(override, given=given):
                client = self.modern(toolsets={"up": self.upstream(self.recorder(), {"t*": override}, f'{{"name":"t","inputSchema":{{{given}}}}}')})
                self.assertIn(f'"inputSchema":{{{shown}}}', client.raw_tools()["up__t"])
                client.hub.finish()

    def test_a_member_twice_leaves_the_tool_out(self):
        definition = '{"name":"t","inputSchema":{"type":"object","properties":{"a":{}},"prop\\u0065rties":{"a":{}}}}'
        recorder = self.recorder()
        client = self.modern(toolsets={"up": self.upstream(recorder, {"t": {"arguments": {"a": {"fixed": 1}}}}, definition, PLAIN)})
        self.assertEqual([n for n in client.names() if n.startswith("up")], ["up__plain"])
        client.hub.wait_log("a member that an override changes occurs twice")

    def test_a_name_that_another_tool_has_stays_with_it(self):
        for overrides, expected in (
            ({"a": {"name": "b"}}, ["n__a", "n__b"]),
            ({"a": {"name": "b"}, "b": {"name": "a"}}, ["n__a", "n__b"]),
            ({"a": {"name": "b"}, "b": {"name": "c"}}, ["n__b", "n__c"]),
        ):
            with self.subTest(overrides):
                tools = [tool("a", description="a"), tool("b", description="b")]
                client = self.legacy(toolsets={"n": fixture(*tools, tools={"overrides": overrides})})
                self.assertEqual(sorted(n for n in client.names() if n.startswith("n__")), expected)
                client.hub.finish()

    def test_a_name_settles_who_has_it_without_prefixes(self):
        toolsets = {"a": fixture("go", tools={"overrides": {"go": {"name": "walk"}}}), "b": fixture("go")}
        client = self.legacy("--naming", "none", toolsets=toolsets)
        self.assertTrue({"go", "walk"} <= set(client.names()))


class Calls(Overrides):
    def test_arguments_are_put_in_and_the_rest_is_as_sent(self):
        for server in ("legacy", "modern"):
            for kind in (LegacyClient, ModernClient):
                with self.subTest(server=server, client=kind.__name__):
                    recorder = self.recorder()
                    hub = self.hub(toolsets={"up": self.upstream(recorder, OVERRIDES, era=server)})
                    client = kind(hub)
                    client.names()
                    for given, expected in (
                        ('{ "q" : 1.10 }', '{ "q" : 1.10 ,"root":"/srv","limit":10}'),
                        ('{"limit":1e400}', '{"limit":1e400,"root":"/srv"}'),
                        ('{"l\\u0069mit":null}', '{"l\\u0069mit":null,"root":"/srv"}'),
                        ("{ }", '{ "root":"/srv","limit":10}'),
                        ("null", '{"root":"/srv","limit":10}'),
                    ):
                        mark = recorder.mark
                        client.request_raw("tools/call", '"name":"up__find","arguments":%s,"x":-0' % given)
                        line = recorder.wait_request("tools/call", mark)
                        self.assertEqual(slice_at(line, "params", "arguments"), expected)
                        self.assertEqual(slice_at(line, "params", "x"), "-0")
                        self.assertEqual(slice_at(line, "params", "name"), '"search"')
                    mark = recorder.mark
                    client.request("tools/call", {"name": "up__find"})
                    self.assertEqual(self.sent(recorder, mark), '{"root":"/srv","limit":10}')
                    mark = recorder.mark
                    client.request_raw("tools/call", '"name":"up__plain","arguments":{ "root":1e400 }')
                    self.assertEqual(self.sent(recorder, mark), '{ "root":1e400 }')
                    hub.finish()

    def test_a_glob_puts_in_what_a_tool_has(self):
        """A tool that takes no other arguments would fail with each call; one that is named gets what the operator says."""
        wide = {"root": {"fixed": "/srv"}, "limit": {"default": 10}}
        other = '{"name":"%s","inputSchema":{"type":"object","properties":{"q":{}},"additionalProperties":false}}'
        recorder = self.recorder()
        overrides = {"*": {"arguments": wide}, "named": {"arguments": {"root": {"fixed": "/home"}}}}
        client = self.modern(toolsets={"up": self.upstream(recorder, overrides, SEARCH, other % "other", other % "named")})
        client.names()
        for name, expected in (("search", '{"q":1,"root":"/srv","limit":10}'), ("other", '{"q":1}'), ("named", '{"q":1,"root":"/home"}')):
            mark = recorder.mark
            client.request_raw("tools/call", f'"name":"up__{name}","arguments":{{"q":1}}')
            self.assertEqual(self.sent(recorder, mark), expected)
            self.refused(client, f"up__{name}", {"Root": "/etc"}, '"root"')
        mark = recorder.mark
        client.request_raw("tools/call", '"name":"up__other","arguments":{"limit":1}')
        self.assertEqual(self.sent(recorder, mark), '{"limit":1}')

    def test_what_is_not_for_clients_is_refused(self):
        recorder = self.recorder()
        client = self.modern(toolsets={"up": self.upstream(recorder, OVERRIDES)})
        client.names()
        for name in ("root", "Root", "ROOT"):
            self.refused(client, "up__find", {"q": "x", name: "/etc"}, '"root"', "leave it out")
        self.refused(client, "up__find", {"debug": None}, '"debug"')
        for text in ('{"r\\u006fot":1}', '{"q":1,"\\u0071":2}', '{"q":{"a":1,"a":2}}'):
            answer = client.request_raw("tools/call", '"name":"up__find","arguments":%s' % text)
            self.assertEqual(answer.code, INVALID_PARAMS, answer)
        self.assertEqual(recorder.sync().lines("tools/call"), [])

    def test_a_native_tool_is_held_against_what_it_gets(self):
        given = {"type": "object", "properties": {"a": {"type": "integer"}, "b": {"type": "string"}}, "required": ["a", "b"]}
        definition = {"name": "echo", "inputSchema": given}
        for value, is_error in ((7, False), ("seven", True)):
            toolset = fixture(definition, tools={"overrides": {"echo": {"arguments": {"a": {"fixed": value}}}}})
            client = self.legacy(toolsets={"n": toolset})
            result = client.call("n__echo", {"b": "x"}).result
            self.assertIs(result.get("isError", False), is_error, result)
            client.hub.finish()

    def test_rules_judge_what_is_sent(self):
        recorder = self.recorder()
        rules = {"rules": [{"tools": {"match": ["up:*"]}, "arguments": {"/root": {"beneath": "/home"}}, "then": "allow"},
                           {"tools": {"match": ["up:*"]}, "then": "confirm"}]}
        for root, code in (("/home/x", None), ("/srv", -31006)):
            overrides = {"search": {"arguments": {"root": {"fixed": root}}}}
            client = self.modern(manifest={"access": rules}, toolsets={"up": self.upstream(recorder, overrides)})
            self.assertIn("up__search", client.names())
            answer = client.request("tools/call", {"name": "up__search", "arguments": {"q": "x"}})
            self.assertEqual(answer.code if "error" in answer.data else None, code, answer)
            client.hub.finish()

    def test_arguments_of_a_held_call(self):
        recorder = self.recorder()
        toolset = self.upstream(recorder, {"hold": {"arguments": {"k": {"fixed": [1, {"a": None}]}}}},
                                *(json.dumps(tool(n)) for n in ("hold", "echo")), max_calls=1)
        client = self.legacy(toolsets={"up": toolset})
        client.names()
        first = client.send_call("up__hold", {"n": 1})
        recorder.wait_request("tools/call")
        mark = recorder.mark
        client.send_call("up__hold", {"n": 2})
        client.barrier()
        client.cancel(first)
        self.assertEqual(self.sent(recorder, mark), '{"n": 2,"k":[1,{"a":null}]}')


class Validated(Overrides):
    """C: `validate`."""

    GOOD = '{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"},"root":{"type":"string"}},"required":["n","root"]}}'
    # a definition that may be listed, and a schema that cannot be held against anything
    ODD = '{"name":"odd","inputSchema":{"type":"object","properties":{"a":{"$ref":"https://example.com/x.json"}}}}'

    def serve(self, overrides, **keys):
        self.sender = self.recorder()
        return self.modern(toolsets={"up": self.upstream(self.sender, overrides, self.GOOD, self.ODD, **keys)})

    def check(self, client, name, arguments, *words):
        result = client.call(name, arguments).result
        self.assertIs(result.get("isError", False), bool(words), result)
        self.assertSays(json.dumps(result), *words)

    def test_arguments_that_do_not_fit_are_not_sent(self):
        client = self.serve({"t": {"arguments": {"root": {"fixed": "/srv"}}}}, validate=True)
        self.check(client, "up__t", {"n": "x"}, "arguments.n", "integer")
        self.check(client, "up__t", {}, "n")
        self.assertEqual(self.sender.sync().lines("tools/call"), [])
        self.check(client, "up__t", {"n": 1})
        self.assertEqual(self.sent(self.sender), '{"n": 1,"root":"/srv"}')

    def test_what_is_put_in_is_checked_too(self):
        client = self.serve({"t": {"validate": True, "arguments": {"root": {"fixed": 7}}}})
        self.check(client, "up__t", {"n": 1}, "arguments.root")

    def test_a_schema_that_is_not_understood_is_not_checked(self):
        client = self.serve({}, validate=True)
        self.check(client, "up__odd", {"a": 1})
        client.hub.wait_log("its arguments are not checked")

    def test_what_clients_do_not_see_of_it_is_checked_too(self):
        self.GOOD = '{"name":"t","inputSchema":{"type":"object","properties":{"n":{},"m":{}},"oneOf":[{"required":["n"]},{"required":["m"]}]}}'
        client = self.serve({"t": {"flat": True}}, validate=True)
        self.check(client, "up__t", {"n": 1, "m": 1}, "more than one of the alternatives")
        self.check(client, "up__t", {"n": 1})

    def test_an_override_may_say_otherwise(self):
        client = self.serve({"t": {"validate": False}}, validate=True)
        self.check(client, "up__t", {"n": "x"})

    def test_nothing_is_checked_unless_asked(self):
        client = self.serve({})
        self.check(client, "up__t", {"n": "x"})


class Judged(Two):
    def test_tags_hints_and_scopes_count_for_rules(self):
        access = {"default": "deny", "rules": [
            {"who": {"groups": ["ops"]}, "then": "allow"},
            {"tools": {"tags": ["safe"], "read_only": True}, "then": "allow"}]}
        overrides = {"read_*": {"tags": ["safe"], "read_only": True}, "read_secret": {"scopes": ["secrets"], "category": "x"}}
        toolset = fixture("read_page", "read_secret", "delete_page", tools={"overrides": overrides})
        server = self.serve(access=access, toolsets={"docs": toolset})
        self.assertEqual(self.names(server, self.bob), ["docs__read_page", "docs__read_secret"])
        self.assertIn("result", server.call("docs__read_page", headers=self.bob).answer.data)
        refused = server.call("docs__read_secret", headers=self.bob)
        self.assertEqual(refused.status, 403, refused.body)
        self.assertIn(b"secrets", refused.body)

    def test_filters_go_by_tags_of_overrides(self):
        overrides = {"b": {"tags": ["keep"]}}
        manifest_policy = {"filters": [{"tags_any": ["keep"]}]}
        toolset = fixture(tool("a", _meta={"patchbay/tags": ["keep"]}), "b", "c", tools={"overrides": overrides | {"a": {"tags": []}}})
        server = self.serve(access={"default": "allow"}, toolsets={"n": toolset}, policy=manifest_policy)
        self.assertEqual(self.names(server, self.ann), ["n__b"])


class Told(Overrides):
    def test_the_original_stands_in_the_list_for_operators(self):
        path = self.home / "m.json"
        overrides = {"a": {"name": "b", "description": "new"}, "c": {"hide": True}}
        tools = [tool("a", description="old"), tool("c"), tool("d")]
        path.write_text(json.dumps({"toolsets": {"n": fixture(*tools, tools={"overrides": overrides})}}))
        listed = json.loads(self.cli("list", "toolsets", "--json", "--config", path).stdout)
        own = next(t for t in listed if t["key"] == "n")
        self.assertEqual(own["overridden"], [{"tool": "a", "name": "b", "original": tools[0]},
                                             {"tool": "c", "hidden": True, "original": tools[1]}])

    def test_explain_judges_what_is_sent_and_shows_no_values(self):
        path = self.home / "m.json"
        access = {"default": "deny", "rules": [{"tools": {"tags": ["safe"]}, "arguments": {"/root": {"beneath": "/srv"}}, "then": "allow"}]}
        overrides = {"a": {"name": "b", "tags": ["safe"], "arguments": {"root": {"fixed": "/srv/x"}}}, "c": {"hide": True, "tags": ["safe"]}}
        path.write_text(json.dumps({"access": access, "toolsets": {"n": fixture("a", "c", tools={"overrides": overrides})}}))

        def explain(name, *flags):
            return self.cli("access", "explain", "local", name, "--config", path, *flags, modules=False).stdout

        told = explain("n:a")
        self.assertSays(told, "allow, by", "; listed; overridden", 'shown as "b"', 'argument "root" fixed')
        self.assertNotIn("/srv/x", told)
        self.assertSays(explain("n:a", "--arguments", '{"root":"/etc"}'), "refuse", '"root"')
        self.assertSays(explain("n:c"), "not listed", "hidden from all")


class Reloaded(ReloadTest):
    def test_other_overrides_are_taken_over_without_a_restart_of_the_server(self):
        recorder = self.recorder()
        keys = {"startup_timeout": "20s"}

        def manifest(overrides):
            return {"toolsets": {"up": recorder.toolset("--era", "legacy", tools={"overrides": overrides}, **keys)}}

        self.write(manifest({}))
        hub = self.hub("--config", str(self.path))
        client = LegacyClient(hub)
        self.assertIn("up__echo", client.names())
        mark = hub.mark
        self.write(manifest({"echo": {"name": "say", "arguments": {"x": {"fixed": 1}}}}))
        self.wait_reload(hub, 1)
        client.wait_list_changed(mark)
        self.assertIn("up__say", client.names())
        self.assertNotIn("up__echo", client.names())
        client.call("up__say", {})
        self.assertEqual(slice_at(recorder.wait_request("tools/call"), "params", "arguments"), '{"x":1}')
        self.write(manifest({}))
        self.wait_reload(hub, 2)
        self.assertIn("up__echo", client.names())
        self.assertEqual(len(recorder.sync().lines("initialize")), 1)


class Manifests(HubTest):
    def test_mistakes_are_named(self):
        for overrides, *words in (
            ({"a*": {"name": "b"}}, "a name is for one tool", "a*"),
            ({"a": {"name": "b c"}}, "letters, digits"),
            ({"a": {"titel": "b"}}, "titel", "title"),
            ({"a": {"name": "c"}, "b": {"name": "c"}}, "another tool", "c"),
            ({"a": {"arguments": {"x": {"fixed": 1, "default": 2}}}}, "fixed"),
            ({"a": {"arguments": {"x": {"hide": True, "default": 2}}}}, "write `fixed`"),
            ({"a": {"hide": "maybe"}}, "hide"),
            ({"": {"hide": True}}, "1 to"),
            ({"a": {"arguments": {f"x{n}": {"fixed": 1} for n in range(65)}}}, "more than 64"),
            ({f"a{n}": {"hide": True} for n in range(257)}, "more than 256"),
            ([], "map"),
        ):
            with self.subTest(overrides if len(overrides) < 3 else "many"):
                manifest = {"toolsets": {"n": fixture("a", tools={"overrides": overrides})}}
                done = self.cli("list", "tools", manifest=manifest)
                self.assertNotEqual(done.returncode, 0)
                self.assertSays(done.stderr, *words)

    def test_check_names_what_fits_nothing(self):
        overrides = {"gone": {"hide": True}, "x*": {"hide": True}, "echo": {"arguments": {"bytes": {"fixed": 1}, "nope": {"hide": True}}}}
        good = {"echo": {"title": "E"}}
        native = fixture(tool("echo", inputSchema={"type": "object", "properties": {"bytes": {}}}), tools={"overrides": overrides})
        path = self.home / "checked.json"
        for toolset, flags in ((native, ()), (self.recorder().toolset(tools={"overrides": {"gone": {"hide": True}}}), ("--connect",)),
                               (fixture("echo", tools={"overrides": good}), ())):
            path.write_text(json.dumps({"toolsets": {"n": toolset}}))
            done = self.cli("check", path, *flags)
            self.assertEqual(done.returncode, 0, done.stderr)
            bad = toolset["tools"]["overrides"]
            self.assertEqual('"gone"' in done.stderr, "gone" in bad, done.stderr)
            self.assertEqual('"x*"' in done.stderr, "x*" in bad, done.stderr)
            self.assertEqual('"nope"' in done.stderr, "echo" in bad and bad is overrides, done.stderr)
            self.assertNotIn('"bytes"', done.stderr)
            path.unlink()

    def test_the_most_that_is_allowed(self):
        overrides = {f"a{n}": {"hide": True} for n in range(255)}
        overrides["a"] = {"arguments": {f"x{n}": {"fixed": n} for n in range(64)}}
        client = self.legacy(toolsets={"n": fixture("a", "a1", tools={"overrides": overrides})})
        self.assertEqual([n for n in client.names() if n.startswith("n__")], ["n__a"])


if __name__ == "__main__":
    main()
