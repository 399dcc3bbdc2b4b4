# SPDX-License-Identifier: Apache-2.0
"""Everything but tools of an upstream over pipes, for clients and servers of both eras.

MCP 2026-07-28 server/resources, server/prompts, server/utilities/completion and pagination.
"""

import functools
import json
import time

from mcp import INVALID_PARAMS, META, HubTest, LegacyClient, ModernClient, main, tool

ERAS = ("legacy", "modern")
RESOURCES_CHANGED = "notifications/resources/list_changed"
PROMPTS_CHANGED = "notifications/prompts/list_changed"


def cells(*flags):
    """Run a test for a client of either era and a server of either era."""

    def wrap(test):
        @functools.wraps(test)
        def run(self):
            for server in ERAS:
                for kind in (LegacyClient, ModernClient):
                    with self.subTest(server=server, client=kind.__name__):
                        recorder = self.recorder()
                        hub = self.hub(toolsets={"up": recorder.toolset("--era", server, "--content", *flags)})
                        test(self, kind(hub), recorder, server)
                        hub.finish()

        return run

    return wrap


class Cells(HubTest):

    def listed(self, client, method, key):
        return [item for page in client.pages(method) for item in page.result[key]]

    @cells()
    def test_lists(self, client, recorder, server):
        resources = self.listed(client, "resources/list", "resources")
        self.assertEqual([r["uri"] for r in resources], ["rec:///one", "rec:///three", "rec:///two"])
        templates = self.listed(client, "resources/templates/list", "resourceTemplates")
        self.assertEqual([t["uriTemplate"] for t in templates], ["rec:///dir/{name}"])
        prompts = self.listed(client, "prompts/list", "prompts")
        self.assertEqual([p["name"] for p in prompts], ["up__greet", "up__summarize"])

    @cells("--page-size", "1")
    def test_all_pages_of_all_lists_are_read(self, client, recorder, server):
        self.assertEqual(len(self.listed(client, "resources/list", "resources")), 3)
        self.assertEqual(len(self.listed(client, "prompts/list", "prompts")), 2)
        self.assertIn("up__ask", client.names())
        self.assertEqual(len(recorder.sync().lines("resources/list")), 3)

    @cells()
    def test_definitions_keep_their_bytes(self, client, recorder, server):  # D01
        page = client.request("resources/list")
        self.assertIn('"x-extra":[1.0,100.0]', page.raw)

    @cells()
    def test_reading(self, client, recorder, server):
        for uri in ("rec:///one", "rec:///dir/a%20b"):  # listed; matched by a template alone
            self.assertIn("contents", client.request("resources/read", {"uri": uri}).result)
        answer = client.request("resources/read", {"uri": "rec:///one", "x": 1})
        self.assertIn('"x":1.50', answer.raw)
        line = json.loads(recorder.wait_line(lambda m: "x" in m.get("params", {})))
        self.assertEqual((line["params"]["uri"], line["params"]["x"]), ("rec:///one", 1))

    @cells()
    def test_what_is_not_there(self, client, recorder, server):
        client.request("resources/list").result
        self.assertEqual(client.request("resources/read", {"uri": "nowhere:///"}).error["data"]["uri"], "nowhere:///")
        self.assertEqual(client.request("prompts/get", {"name": "up__nothing"}).code, INVALID_PARAMS)

    @cells()
    def test_what_the_server_does_not_have(self, client, recorder, server):
        """Its error in the code of the client's era, with its data."""
        client.request("resources/list").result
        recorder.command(resources="[]")  # without a word: the hub does not know
        error = client.request("resources/read", {"uri": "rec:///one"}).error
        self.assertEqual(error["code"], -32602 if isinstance(client, ModernClient) else -32002)
        self.assertEqual(error["data"], {"uri": "rec:///one"})

    @cells()
    def test_prompts(self, client, recorder, server):
        client.request("prompts/list").result
        answer = client.request_raw("prompts/get", '"name":"up__gr\\u0065et","arguments":{"topic":"\\u00e9 1.0"}')
        self.assertEqual(answer.result["messages"][0]["content"]["text"], "greet")
        self.assertEqual(answer.slice("result", "x-arguments"), '{"topic":"\\u00e9 1.0"}')

    @cells()
    def test_completion(self, client, recorder, server):
        client.request("prompts/list").result
        for ref, own in (
            ({"type": "ref/prompt", "name": "up__greet"}, "greet"),
            ({"type": "ref/resource", "uri": "rec:///dir/{name}"}, "rec:///dir/{name}"),
        ):
            params = {"ref": ref, "argument": {"name": "a", "value": "v"}, "context": {"arguments": {"b": "c"}}}
            answer = client.request("completion/complete", params)
            self.assertEqual(answer.result["completion"]["values"], [own, "v!"])
        sent = json.loads(recorder.sync().lines("completion/complete")[0])["params"]
        self.assertEqual(sent["ref"], {"type": "ref/prompt", "name": "greet"})
        self.assertEqual(sent["context"], {"arguments": {"b": "c"}})

    @cells()
    def test_progress_of_a_reading(self, client, recorder, server):
        client.request("resources/list").result
        since = client.hub.mark
        client.request("resources/read", {"uri": "rec:///two"}, meta={"progressToken": "mine"}).result
        told = client.hub.notifications("notifications/progress", since)
        self.assertEqual([m.params["progressToken"] for m in told], ["mine"] * 3)

    @cells()
    def test_capabilities_follow_the_server(self, client, recorder, server):
        client.names()
        if isinstance(client, LegacyClient):
            client = ModernClient(client.hub)  # a legacy one is told once, before anything is known
        found = client.request("server/discover").result["capabilities"]
        self.assertEqual({"tools", "resources", "prompts", "completions", "logging"} - found.keys(), set())
        self.assertIs(found["resources"]["subscribe"], True)

    @cells()
    def test_meta_of_the_eras(self, client, recorder, server):
        client.request("resources/list").result
        client.request("resources/read", {"uri": "rec:///one"}).result
        meta = json.loads(recorder.sync().lines("resources/read")[-1])["params"].get("_meta", {})
        self.assertEqual(META + "protocolVersion" in meta, server == "modern")


class Twins(HubTest):
    """Two servers with the same resources: each gets its own, under the URI that it knows."""

    def test_each_is_reached(self):
        for era in ERAS:
            with self.subTest(era):
                recorders = {name: self.recorder() for name in ("left", "right")}
                client = self.modern(
                    toolsets={name: r.toolset("--era", era, "--content") for name, r in recorders.items()}
                )
                listed = [r["uri"] for r in client.request("resources/list").result["resources"]]
                self.assertEqual(len(set(listed)), 6)
                for name, recorder in recorders.items():
                    own = f"patchbay:{name}/rec:///one"
                    uri = own if own in listed else "rec:///one"
                    mark = recorder.mark
                    answer = client.request_raw("resources/read", f'"a":1.0,"uri":{json.dumps(uri)},"z":[1e2]')
                    self.assertIn("contents", answer.result)
                    line = recorder.sync().lines("resources/read", mark)[0]
                    self.assertIn('"a":1.0,"uri":"rec:///one","z":[1e2]', line)
                client.hub.finish()


class Changes(HubTest):
    def start(self, *flags):
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset("--content", *flags)})
        # All lists are waited for together: what was waited for is not announced.
        lists = ("tools/list", "resources/list", "resources/templates/list", "prompts/list")
        for request_id in [client.send(method) for method in lists]:
            client.hub.response(request_id).result
        return client, recorder

    def wait(self, client, method, since):
        return client.hub.wait_for(lambda m: m.method == method, method, since)

    def test_each_list_is_read_by_itself(self):
        for era in ERAS:
            with self.subTest(era):
                client, recorder = self.start("--era", era)
                mark, since = recorder.mark, client.hub.mark
                recorder.command(prompts=json.dumps([{"name": "new"}]), notify=1, kind="prompts")
                self.wait(client, PROMPTS_CHANGED, since)
                self.assertEqual([p["name"] for p in client.request("prompts/list").result["prompts"]], ["up__new"])
                asked = [json.loads(line)["method"] for line in recorder.sync().lines(since=mark)]
                self.assertEqual(asked, ["prompts/list"])
                client.hub.finish()

    def test_templates_are_read_with_resources(self):
        """One notification stands for both: there is none for templates."""
        for era in ERAS:
            with self.subTest(era):
                client, recorder = self.start("--era", era)
                since = client.hub.mark
                templates = [{"uriTemplate": "new:///{a}", "name": "new"}]
                recorder.command(templates=json.dumps(templates), notify=1, kind="resources")
                self.wait(client, RESOURCES_CHANGED, since)
                self.assertEqual(client.request("resources/templates/list").result["resourceTemplates"], templates)
                client.hub.finish()

    def test_a_storm_is_merged(self):  # U13
        client, recorder = self.start()
        mark, since, began = recorder.mark, client.hub.mark, time.monotonic()
        resources = json.dumps([{"uri": "new:///", "name": "new"}])
        recorder.command(resources=resources, notify=1000, kind="resources")
        self.wait(client, RESOURCES_CHANGED, since)
        client.barrier()
        listed = len(recorder.sync().lines("resources/list", mark))
        self.assertLessEqual(listed, 3 + 2 * (time.monotonic() - began))

    def test_a_change_while_it_is_read(self):
        """One more reading follows, however often it changed meanwhile."""
        client, recorder = self.start()
        mark = recorder.mark
        recorder.command(pause=True)
        for _ in range(3):
            recorder.command(notify=1)
        recorder.command(pause=False)
        recorder.wait_until(lambda: len(recorder.lines("tools/list", mark)) == 2, "the second reading")
        client.call("up__echo").result
        self.assertEqual(len(recorder.sync().lines("tools/list", mark)), 2)

    def test_the_last_good_list_stays(self):
        client, recorder = self.start()
        since = client.hub.mark
        client.call("up__die").tool_error
        recorder.wait_gone()
        self.assertEqual(len(client.request("prompts/list").result["prompts"]), 2)
        client.call("up__echo").result  # starts it again
        self.assertEqual(len(client.request("prompts/list").result["prompts"]), 2)
        client.barrier()
        self.assertEqual(client.hub.notifications(PROMPTS_CHANGED, since), [])

    def test_the_end_of_the_server_while_it_is_read(self):
        client, recorder = self.start()
        recorder.command(pause=True)
        recorder.command(notify=1)
        recorder.command(exit=1)
        client.hub.wait_log("toolset.failed")
        self.assertIn("structuredContent", client.call("up__echo").result)
        since = client.hub.mark
        recorder.command(tools=json.dumps([tool("new")]), notify=1)
        client.wait_list_changed(since)
        self.assertEqual(client.own_names(), ["up__new"])

    def test_lists_that_are_gone_after_a_restart(self):
        capabilities = self.home / "capabilities"
        capabilities.write_text('{"tools":{},"prompts":{}}')
        client, recorder = self.start("--capabilities-file", capabilities)
        since = client.hub.mark
        capabilities.write_text('{"tools":{}}')
        client.call("up__die").tool_error
        recorder.wait_gone()
        client.call("up__echo").result
        self.wait(client, PROMPTS_CHANGED, since)
        self.assertEqual(client.request("prompts/list").result["prompts"], [])


class Careless(HubTest):
    """Servers that say one thing and do another."""

    def start(self, *flags, **keys):
        recorder = self.recorder()
        return self.modern(toolsets={"up": recorder.toolset("--content", *flags, **keys)}), recorder

    def test_only_what_is_declared_is_asked_for(self):
        for era in ERAS:
            with self.subTest(era):
                client, recorder = self.start("--era", era, "--capabilities", '{"prompts":{}}')
                self.assertEqual(client.own_names(), [])
                asked = {json.loads(line)["method"] for line in recorder.sync().lines()}
                self.assertIn("prompts/list", asked)
                self.assertEqual(asked & {"tools/list", "resources/list", "subscriptions/listen"}, set())
                client.hub.finish()

    def test_a_server_that_declares_nothing_may_have_tools(self):
        client, recorder = self.start("--capabilities", "{}")
        self.assertIn("up__echo", client.names())
        self.assertEqual(recorder.sync().lines("prompts/list"), [])

    def test_one_list_that_never_comes(self):
        """It costs time, not the other lists."""
        client, recorder = self.start("--silent", "prompts/list", startup_timeout="10s")
        self.assertIn("up__echo", client.names())
        client.hub.wait_log("list of prompts was not there within")
        self.assertEqual(len(client.request("resources/list").result["resources"]), 3)
        self.assertIn("structuredContent", client.call("up__echo").result)

    def test_a_list_that_changes_whenever_it_is_read(self):  # U14
        client, recorder = self.start("--restless", "tools", "--restless", "prompts")
        self.assertIn("up__echo", client.names())
        self.assertIn("structuredContent", client.call("up__echo").result)

    def test_it_changes_before_the_others_are_there(self):
        client, recorder = self.start("--restless", "tools", "--silent", "prompts/list", startup_timeout="10s")
        self.assertIn("up__echo", client.names())
        recorder.wait_until(lambda: len(recorder.lines("tools/list")) >= 2, "the second reading")

    def test_a_list_that_always_changes_is_not_read_all_the_time(self):  # U13
        client, recorder = self.start("--restless", "tools")
        client.names()
        began = time.monotonic()
        mark = recorder.mark
        recorder.wait_until(lambda: len(recorder.lines("tools/list", mark)) >= 5, "five readings")
        self.assertGreater(time.monotonic() - began, 4 * 0.24)  # never sooner, however fast it all is

    def test_a_refresh_that_never_comes_is_given_up(self):
        client, recorder = self.start("--page-size", "1", startup_timeout="10s")
        client.names()
        recorder.command(pause=True)
        recorder.command(notify=1)
        client.hub.wait_log("list of tools was not there within")
        self.assertIn("up__echo", client.names())
        recorder.command(tools=json.dumps([tool("new")]), pause=False)
        recorder.command(notify=1)
        client.hub.wait_until(lambda: client.own_names() == ["up__new"], "the new list")

    def test_an_answer_that_comes_twice(self):  # U31
        """The second is not taken for the answer to what is asked now."""
        client, recorder = self.start()
        client.names()
        line = json.loads(recorder.sync().lines("tools/list")[0])
        recorder.command(pause=True)
        recorder.command(notify=1)
        recorder.write(json.dumps({"jsonrpc": "2.0", "id": line["id"], "result": {"tools": [tool("forged")]}}))
        recorder.command(pause=False)
        client.call("up__echo").result
        self.assertEqual(len(recorder.sync().lines("tools/list")), 2)
        self.assertNotIn("up__forged", client.names())
        self.assertIn("up__echo", client.names())

    def test_a_cursor_that_repeats(self):
        for flag in ("--repeating-cursor", "--endless-pages"):
            with self.subTest(flag):
                client, recorder = self.start(flag)
                client.names()
                client.hub.wait_log("does not end; it was cut off")
                self.assertLessEqual(len(recorder.sync().lines("tools/list")), 100)
                client.hub.finish()


    def test_garbage(self):
        """Whatever it says unasked, the next call is answered, and nothing is sent to anybody."""
        listen = '"_meta":{"io.modelcontextprotocol/subscriptionId":%s}'
        notifications = [
            f'{{"jsonrpc":"2.0","method":"notifications/{name}"{params}}}'
            for name in ("resources/updated", "cancelled", "subscriptions/acknowledged", "message", "progress", "x")
            for params in (
                "",
                ',"params":{}',
                ',"params":{"uri":7,"requestId":{},"progressToken":[],"level":[],"notifications":7}',
                ',"params":{"uri":"","requestId":"","progressToken":"listen-1"}',
                ',"params":{"uri":"%s","requestId":"listen-"}' % ("x" * 70000),
                *(',"params":{%s,"uri":"a:"}' % (listen % id_) for id_ in ("{}", '"listen-2"', '"-"', "null")),
            )
        ]
        ids = ['"listen-2"', '"tools-3"', '"discover-1"', '"initialize-2"', '"x-1"', '"-1"', '"1"', '"tools-"', '""']
        ids += ['"tools-0"', '"tools-18446744073709551616"', '"tools-1.5"', '"tools-1e1"', "0", "12345", "-1"]
        answers = [f'{{"jsonrpc":"2.0","id":{id_},"result":{{"tools":[]}}}}' for id_ in ids]
        answers += [f'{{"jsonrpc":"2.0","id":{id_},"error":{{"code":1,"message":"m"}}}}' for id_ in ids]
        for era in ERAS:
            with self.subTest(era):
                client, recorder = self.start("--era", era)
                client.names()
                client.request("resources/list").result
                since = client.hub.mark
                recorder.write("\n".join(notifications + answers))
                answer = client.call("up__echo", {"a": 1})
                self.assertIn("structuredContent", answer.result)
                self.assertIn("up__echo", client.names())
                self.assertEqual(client.hub.mark, since + 2)
                client.hub.finish()


class Protocol(HubTest):
    """The configured revision decides; nothing is probed."""

    def start(self, protocol, *flags):
        recorder = self.recorder()
        entry = recorder.toolset("--content", *flags)
        toolset = {"module": "mcp_upstream", "config": {**entry, "protocol": protocol, "startup_timeout_ms": 20000}}
        return self.modern(toolsets={"up": toolset}, env={}), recorder

    def test_legacy(self):
        client, recorder = self.start("2025-06-18")
        self.assertIn("structuredContent", client.call("up__echo").result)
        self.assertEqual(recorder.sync().lines("server/discover"), [])
        asked = json.loads(recorder.lines("initialize")[0])
        self.assertEqual(asked["params"]["protocolVersion"], "2025-06-18")

    def test_modern_without_discover(self):
        for flags in (("--silent", "server/discover"), ("--no-discover",)):
            with self.subTest(flags):
                client, recorder = self.start("2026-07-28", "--era", "modern", *flags)
                self.assertIn("structuredContent", client.call("up__echo").result)
                self.assertEqual(len(client.request("prompts/list").result["prompts"]), 2)
                self.assertEqual(recorder.sync().lines("initialize"), [])
                client.hub.finish()

    def test_an_unknown_one_is_refused(self):
        code, text = self.refused(
            toolsets={"up": {"module": "mcp_upstream", "config": {"command": "x", "protocol": "2020-01-01"}}}
        )
        self.assertSays(text, "protocol")


if __name__ == "__main__":
    main()
