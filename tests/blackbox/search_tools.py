# SPDX-License-Identifier: Apache-2.0
"""Tools that are found by words and called through the hub's own (S3.84)."""

import json

from http_client import HttpTest, Server
from mcp import INVALID_PARAMS, META_TOOLS, HubTest, LegacyClient, ModernClient, fixture, main, tool

SEARCH = ["call_read_tool", "call_tool", "describe_tools", "search_tools"]
READS = {"annotations": {"readOnlyHint": True}}
CITY = {"type": "object", "properties": {"city": {"type": "string"}}, "required": ["city"]}
TOOLSETS = {
    "weather": fixture(
        tool("forecast", description="Predicts rain and sun for a city.", inputSchema=CITY, **READS),
        tool("set_station", description="Changes the station that measures."),
    ),
    "mail": fixture(tool("send_message", description="Sends a letter to somebody."), tags=["office"]),
    "archive": fixture(tool("find_letters", description="Looks for old letters.", **READS), active=False),
}
BOTH = {"meta_tools": ["toolsets", "search"]}


class Finding(HubTest):
    def found(self, client, query, **more):
        return self.meta_call(client, "search_tools", query=query, **more)["tools"]

    def names_of(self, client, query, **more):
        return [t["name"] for t in self.found(client, query, **more)]

    def test_off_unless_asked_for(self):
        client = self.modern(toolsets=TOOLSETS)
        self.assertEqual(client.call("search_tools", {"query": "rain"}).code, INVALID_PARAMS)
        self.assertEqual([n for n in client.names() if n in SEARCH], [])

    def test_best_first(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        self.assertEqual(self.names_of(client, "will it rain tomorrow")[0], "weather__forecast")
        self.assertEqual(self.names_of(client, "send message")[0], "mail__send_message")
        self.assertEqual(self.found(client, "forecast")[0]["readOnly"], True)
        self.assertNotIn("readOnly", self.found(client, "send message")[0])
        self.assertNotIn("score", json.dumps(self.found(client, "letters")))

    def known(self, **manifest):
        """A client of a hub that knows the tools of the toolset that is off."""
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH, **manifest})
        client.call("enable_toolset", {"toolset": "archive"}).result
        client.call("disable_toolset", {"toolset": "archive"}).result
        return client

    def test_what_is_off_says_what_to_enable(self):
        client = self.known()
        by_name = {t["name"]: t for t in self.found(client, "letters")}
        self.assertEqual(by_name["archive__find_letters"]["enable"], "archive")
        self.assertNotIn("enable", by_name["mail__send_message"])
        client.call("enable_toolset", {"toolset": "archive"}).result
        self.assertNotIn("enable", self.found(client, "old letters")[0])

    def test_what_cannot_be_enabled_is_not_found(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": {"meta_tools": ["search"]}})
        self.assertEqual(self.names_of(client, "old letters"), ["mail__send_message"])

    def test_narrowed(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        self.assertEqual(self.names_of(client, "letters", toolset="mail"), ["mail__send_message"])
        self.assertEqual(self.names_of(client, "letters", tags=["office"]), ["mail__send_message"])
        self.assertEqual(self.names_of(client, "letters", tags=["office", "no"]), [])
        self.assertEqual(len(self.found(client, "letters rain station", limit=1.0)), 1)
        failure = client.call("search_tools", {"query": "x", "toolset": "mial"}).tool_error
        self.assertSays(failure["message"], "mial", "mail")

    def test_details(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        self.assertEqual(self.found(client, "rain", detail="name"), [{"name": "weather__forecast"}])
        self.assertEqual(self.found(client, "rain")[0]["description"], "Predicts rain and sun for a city.")
        full = self.found(client, "rain", detail="full")[0]["definition"]
        self.assertEqual(full["inputSchema"], CITY)

    def test_no_words(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        for query in ("", "  "):
            self.assertSays(client.call("search_tools", {"query": query}).tool_error["message"], "query")
        self.assertEqual(self.names_of(client, "zzzyx"), [])
        self.assertEqual(self.names_of(client, "?! …"), [])
        self.assertEqual(client.call("search_tools", {"query": 7}).tool_error["code"], "TOOL_INVALID_INPUT")
        self.assertEqual(self.names_of(client, "rain " * 20000), ["weather__forecast"])

    def test_new_tools_are_found(self):
        recorder = self.recorder("files")
        client = self.modern(toolsets={"files": recorder.toolset()}, manifest={"hub": BOTH})
        self.assertIn("files__echo", self.names_of(client, "echo"))
        client.barrier()

    def test_hidden_tools_are_not_found(self):
        access = {"default": "allow", "rules": [{"who": {}, "tools": {"match": ["mail:*"]}, "then": "deny"}]}
        client = self.known(access=access)
        self.assertEqual(self.names_of(client, "letter somebody"), ["archive__find_letters"])
        described = self.meta_call(client, "describe_tools", names=["mail__send_message", "mail__nope"])["tools"]
        self.assertEqual(described[0]["error"], described[1]["error"])
        hidden = client.call("search_tools", {"query": "x", "toolset": "mail"}).tool_error["message"]
        unknown = client.call("search_tools", {"query": "x", "toolset": "mael"}).tool_error["message"]
        self.assertEqual(hidden.replace("mail", "mael"), unknown)
        hidden = client.call("call_tool", {"name": "mail__send_message"}).error
        unknown = client.call("call_tool", {"name": "mail__send_messagf"}).error
        self.assertEqual(json.dumps(hidden), json.dumps(unknown).replace("messagf", "message"))

    def test_describe(self):
        client = self.known()
        names = ["weather__forecast", "archive__find_letters", "nope"]
        found = self.meta_call(client, "describe_tools", names=names)["tools"]
        self.assertEqual([t["name"] for t in found], names)
        self.assertEqual(found[0]["definition"]["inputSchema"], CITY)
        self.assertEqual(found[1]["enable"], "archive")
        self.assertSays(found[2]["error"], "search_tools")
        (found,) = self.meta_call(client, "describe_tools", names=["weather__forcast"])["tools"]
        self.assertEqual(found["error"], 'There is no such tool; did you mean "weather__forecast"?')
        many = ["weather__forecast"] * 21
        self.assertEqual(client.call("describe_tools", {"names": many}).tool_error["code"], "TOOL_INVALID_INPUT")
        self.assertEqual(len(self.meta_call(client, "describe_tools", names=many[1:])["tools"]), 20)


class Calling(HubTest):
    def test_the_same_as_a_call(self):
        recorder = self.recorder("files")
        client = self.modern(toolsets={"files": recorder.toolset()}, manifest={"hub": BOTH})
        arguments = '{"a": 1.10,  "b":[1e400, "\\u0041"]}'
        own = client.request_raw("tools/call", f'"name":"files__echo","arguments":{arguments}')
        through = client.request_raw(
            "tools/call", f'"arguments":{{"arguments":{arguments},"name":"files__echo"}},"name":"call_tool"'
        )
        self.assertEqual(through.slice("result"), own.slice("result"))
        lines = recorder.sync().lines("tools/call")
        self.assertEqual(len(lines), 2)
        for line in lines:
            self.assertIn(arguments, line)

    def test_without_arguments(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        for arguments in ({}, {"arguments": None}, {"arguments": {}}):
            client.call("call_tool", {"name": "mail__send_message", **arguments}).result

    def test_schemas_of_the_tool_hold(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        failure = client.call("call_tool", {"name": "weather__forecast", "arguments": {}}).tool_error
        self.assertSays(failure["message"], "city")

    def test_read_only_by_what_tools_say(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        call = {"name": "weather__forecast", "arguments": {"city": "Bergen"}}
        self.assertNotIn("isError", client.call("call_read_tool", call).result)
        failure = client.call("call_read_tool", {"name": "weather__set_station"}).tool_error
        self.assertEqual(failure["code"], "TOOL_INVALID_INPUT")
        self.assertSays(failure["message"], "call_tool")
        client.call("call_tool", {"name": "weather__set_station"}).result

    def test_not_the_hubs_own(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        for name in ("enable_toolset", "call_tool", "call_read_tool", "list_toolsets"):
            for through in ("call_tool", "call_read_tool"):
                arguments = {"name": name, "arguments": {"toolsets": ["archive"]}}
                self.assertSays(client.call(through, arguments).tool_error["message"], "hub's own")
        self.assertNotIn("archive__find_letters", client.names())

    def test_two_readings(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        twice = '"name":"call_read_tool","arguments":{"name":"weather__forecast","name":"mail__send_message"}'
        self.assertSays(client.request_raw("tools/call", twice).tool_error["message"], "once")
        escaped = '"name":"call\\u005ftool","arguments":{"name":"mail__send_message"}'
        self.assertSays(client.request_raw("tools/call", escaped).tool_error["message"], "escapes")
        for bad in ({}, {"name": 7}, {"name": "x", "arguments": []}, {"name": "x", "more": 1}):
            self.assertEqual(client.call("call_tool", bad).tool_error["code"], "TOOL_INVALID_INPUT")

    def test_unknown(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": BOTH})
        answer = client.call("call_tool", {"name": "mail__send_mesage"})
        self.assertEqual(answer.code, INVALID_PARAMS)
        self.assertSays(answer.error["message"], "mail__send_message")

    def test_somebody_elses_call_tool(self):
        toolsets = {"a": fixture(tool("call_tool", description="Phones."))}
        client = self.modern(toolsets=toolsets, manifest={"hub": {"naming": "none"}})
        self.assertNotIn("isError", client.call("call_tool", {"name": "list_toolsets"}).result)

    def test_questions_reach_the_client(self):
        """A modern client comes back with its answer to the same call of call_tool."""
        answer = {"action": "accept", "content": {"name": "Ann"}}
        form = {"message": "who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
        for era in ("legacy", "modern"):
            with self.subTest(era):
                recorder = self.recorder(era)
                toolsets = {"up": recorder.toolset("--era", era, "--content")}
                client = self.modern(toolsets=toolsets, manifest={"hub": BOTH}, capabilities={"elicitation": {}})
                client.names()
                inner = {"name": "up__ask", "arguments": {"method": "elicitation/create", "params": form}}
                params = {"name": "call_tool", "arguments": inner}
                first = client.request("tools/call", params).result
                (key,) = first["inputRequests"]
                again = {"inputResponses": {key: answer}, "requestState": first["requestState"]}
                last = client.request("tools/call", {**params, **again}).result
                self.assertSays(json.dumps(last), "Ann")
                other = {**params, "arguments": {**inner, "name": "up__echo"}, **again}
                self.assertEqual(client.request("tools/call", other).code, INVALID_PARAMS)

    def test_progress_and_cancellation(self):
        recorder = self.recorder("files")
        client = LegacyClient(self.hub(toolsets={"files": recorder.toolset()}, manifest={"hub": BOTH}))
        client.names()
        client.call("call_tool", {"name": "files__progress"}, meta={"progressToken": "t"}).result
        told = client.hub.notifications("notifications/progress")
        self.assertEqual([m.params["progressToken"] for m in told], ["t"] * 3)
        request = client.send_call("call_tool", {"name": "files__hold"})
        recorder.wait_calls(2)
        client.cancel(request)
        recorder.wait_request("notifications/cancelled")
        client.barrier()

    def test_audited_as_the_tool(self):
        manifest = {"hub": BOTH, "log": {"audit": "log"}}
        client = self.modern("--log-format", "json", toolsets=TOOLSETS, manifest=manifest)
        client.call("call_tool", {"name": "mail__send_message"}).result
        client.hub.wait_log('"event":"audit"')
        lines = [json.loads(line) for line in client.hub.log.splitlines() if '"event":"audit"' in line]
        self.assertEqual([(line["toolset"], line["name"]) for line in lines], [("mail", "send_message")])


class Exposure(HubTest):
    def test_lists_the_search_alone(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": {"expose": "search"}})
        self.assertEqual(client.names(), SEARCH)
        self.assertLessEqual(len(client.request("tools/list").slice("result", "tools").encode()), 2048)
        found = self.meta_call(client, "search_tools", query="rain")["tools"]
        call = {"name": found[0]["name"], "arguments": {"city": "Bergen"}}
        self.assertNotIn("isError", client.call("call_read_tool", call).result)

    def test_the_list_never_changes(self):
        recorder = self.recorder("files")
        hub = self.hub(toolsets={"files": recorder.toolset()}, manifest={"hub": {"expose": "search"}})
        client = LegacyClient(hub)
        self.assertEqual(client.names(), SEARCH)
        self.meta_call(client, "search_tools", query="echo")  # its server has answered
        client.barrier()
        self.assertEqual(client.list_changes(), 0)

    def test_a_profile_of_its_own(self):
        manifest = {"profiles": {"few": {"expose": "search"}}}
        client = self.modern("--profile", "few", toolsets=TOOLSETS, manifest=manifest)
        self.assertEqual(client.names(), SEARCH)
        client = self.modern(toolsets=TOOLSETS, manifest=manifest)
        self.assertEqual([n for n in client.names() if n in META_TOOLS + SEARCH], META_TOOLS)

    def test_wrong_words(self):
        for hub in ({"expose": "some"}, {"meta_tools": ["serach"]}, {"meta_tools": "search"}, {"meta_tools": [1]}):
            done = self.cli("check", toolsets=TOOLSETS, manifest={"hub": hub})
            self.assertNotEqual(done.returncode, 0)
            self.assertSays(done.stdout + done.stderr, next(iter(hub)))


class Equipping(HttpTest):
    def serve(self, **hub):
        toolsets = {**TOOLSETS, "many": fixture(*(tool(f"item_{i}", description="A thing of many") for i in range(70)))}
        manifest = {"hub": {"expose": "search", **hub}, "listen": [{"http": "127.0.0.1:0"}]}
        return Server(self, self.daemon(manifest=manifest, toolsets=toolsets))

    def names(self, session):
        return sorted(t["name"] for t in session.request("tools/list").answer.result["tools"])

    def find(self, session, query, limit=10):
        return sorted(t["name"] for t in session.call("search_tools", {"query": query, "limit": limit}).answer.result["structuredContent"]["tools"])

    def test_what_a_session_has_found_is_listed_to_it(self):
        server = self.serve(equip_on_find=True)
        session, other = server.legacy(), server.legacy()
        told = session.open()
        self.assertEqual(self.names(session), SEARCH)
        found = self.find(session, "rain")
        self.assertIn("weather__forecast", found)
        self.assertEqual(told.message().method, "notifications/tools/list_changed")
        self.assertEqual(self.names(session), sorted(SEARCH + found))
        self.find(session, "rain")  # nothing new
        more = self.find(session, "send a letter")
        self.assertEqual(told.message().method, "notifications/tools/list_changed")
        self.assertEqual(self.names(session), sorted({*SEARCH, *found, *more}))
        self.assertEqual(self.names(other), SEARCH)
        self.assertTrue(server.call("search_tools", {"query": "rain"}).answer.result["structuredContent"]["tools"])
        self.assertEqual(sorted(t["name"] for t in server.modern("tools/list").answer.result["tools"]), SEARCH)

    def test_the_newest_stay(self):
        server = self.serve(equip_on_find=True)
        session = server.legacy()
        self.find(session, "rain")
        found = self.find(session, "thing of many", 64)
        self.assertEqual(len(found), 64)
        self.assertEqual(self.names(session), sorted(SEARCH + found))
        one = self.find(session, "rain", 1)
        self.assertEqual(len(self.names(session)), len(SEARCH) + 64)
        self.assertTrue(set(one) <= set(self.names(session)))

    def test_off_unless_asked_for(self):
        session = self.serve().legacy()
        self.find(session, "rain")
        self.assertEqual(self.names(session), SEARCH)


if __name__ == "__main__":
    main()
