# SPDX-License-Identifier: Apache-2.0
"""notifications/tools/list_changed: when, how often, to whom (S1.20-S1.22, S3.4, S3.52-S3.76, U13)."""

import json
import time

from mcp import LEGACY, LIST_CHANGED, HubTest, LegacyClient, ModernClient, fixture, main, tool

OFF = {"active": False}
RESOURCES_CHANGED = "notifications/resources/list_changed"
PROMPTS_CHANGED = "notifications/prompts/list_changed"
TOOLSETS = {"alpha": fixture("one", **OFF), "beta": fixture("two", **OFF)}


class Counting(HubTest):
    def test_one_enable_one_notification(self):  # S1.21
        client = self.legacy(toolsets=TOOLSETS)
        since = client.hub.mark
        client.call("enable_toolset", {"toolset": "alpha"}).result
        change = client.wait_list_changed(since)
        self.assertEqual(change.data, {"jsonrpc": "2.0", "method": LIST_CHANGED})  # S3.74, S3.77
        client.barrier()
        self.assertEqual(client.list_changes(since), 1)

    def test_it_comes_after_the_change(self):  # S3.75
        client = self.legacy(toolsets=TOOLSETS)
        since = client.hub.mark
        enabling = client.send_call("enable_toolset", {"toolset": "alpha"})
        client.wait_list_changed(since)
        self.assertEqual(client.own_names(), ["alpha__one"])
        client.hub.response(enabling)

    def test_not_before_initialized(self):
        hub = self.hub(toolsets=TOOLSETS)
        client = LegacyClient(hub, initialized=False)
        client.call("enable_toolset", {"toolset": "alpha"}).result
        client.barrier()
        self.assertEqual(hub.notifications(LIST_CHANGED), [])
        client.notify("notifications/initialized")
        since = hub.mark
        client.call("enable_toolset", {"toolset": "beta"}).result
        client.wait_list_changed(since)

    def test_no_notification_at_start(self):
        client = self.legacy(toolsets={"alpha": fixture("one"), "beta": fixture("two")})
        client.barrier()
        self.assertEqual(client.list_changes(), 0)

    def test_a_burst_merges(self):
        client = self.legacy(toolsets={"alpha": fixture("set_tools")})
        since = client.hub.mark
        ids = [
            client.send_call("alpha__set_tools", {"tools": [tool("set_tools"), tool(f"t{n}")]}) for n in range(100)
        ]
        for request_id in ids:
            client.hub.response(request_id)
        client.wait_list_changed(since)
        client.hub.wait_until(lambda: "alpha__t99" in client.own_names(), "the last list")
        self.assertLess(client.list_changes(since), 50)


class Upstreams(HubTest):
    def start(self, *flags):
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset(*flags)})
        self.assertIn("up__echo", client.own_names())
        client.call("up__echo").result
        return client, recorder

    def test_a_list_that_was_waited_for_is_not_announced(self):
        """The first list waits for the upstream: telling of its tools afterwards would be noise."""
        client, recorder = self.start()
        since = client.hub.mark
        recorder.command(tools=json.dumps([tool("new")]), notify=1)
        client.wait_list_changed(since)
        self.assertEqual(client.list_changes(0), 1)

    def test_a_change_is_passed_on(self):  # S5.20, D07
        for era in ("legacy", "modern"):
            with self.subTest(era):
                client, recorder = self.start("--era", era)
                since = client.hub.mark
                recorder.command(tools=json.dumps([tool("new")]), notify=1)
                client.wait_list_changed(since)
                self.assertEqual(client.own_names(), ["up__new"])
                client.hub.finish()

    def test_a_change_of_nothing_is_not(self):
        client, recorder = self.start()
        mark, since = recorder.mark, client.hub.mark
        recorder.command(notify=1)
        recorder.wait_request("tools/list", mark)
        client.call("up__echo").result
        client.barrier()
        self.assertEqual(client.list_changes(since), 0)

    def test_a_storm_is_merged(self):  # U13
        client, recorder = self.start()
        mark, since, began = recorder.mark, client.hub.mark, time.monotonic()
        recorder.command(tools=json.dumps([tool("new")]), notify=1000)
        client.wait_list_changed(since)
        client.barrier()
        listed = len(recorder.sync().lines("tools/list", mark))
        self.assertLessEqual(listed, 3 + 2 * (time.monotonic() - began))
        self.assertEqual(client.list_changes(since), 1)

    def test_listing_does_not_cause_listing(self):  # U14
        client, recorder = self.start()
        mark = recorder.mark
        for _ in range(20):
            client.barrier()
        client.call("up__echo").result
        self.assertEqual(recorder.sync().lines("tools/list", mark), [])

    def test_several_upstreams_in_one_window(self):
        recorders = [self.recorder() for _ in range(3)]
        client = self.legacy(toolsets={f"up{n}": r.toolset() for n, r in enumerate(recorders)})
        self.assertEqual(len(client.own_names()), 33)
        since = client.hub.mark
        for recorder in recorders:
            recorder.command(tools=json.dumps([tool("new")]), notify=1)
        client.hub.wait_until(
            lambda: client.own_names() == ["up0__new", "up1__new", "up2__new"], "all three lists"
        )
        self.assertLessEqual(client.list_changes(since), 3)


class Announced(HubTest):
    """A legacy client hears of the lists that its `initialize` was told of, and of no other (2025-06-18 basic/lifecycle,
    Operation: only use capabilities that were successfully negotiated)."""

    def heard(self, revision, toolsets):
        """The notices that a legacy client gets when `up` is enabled, which has tools, resources and prompts; and what
        it was announced."""
        hub = self.hub(toolsets=toolsets)
        client = LegacyClient(hub, revision)
        modern = ModernClient(hub)
        stream = modern.listen(toolsListChanged=True, resourcesListChanged=True, promptsListChanged=True)
        client.call("enable_toolset", {"toolset": "up"}).result
        for method in (LIST_CHANGED, RESOURCES_CHANGED, PROMPTS_CHANGED):
            modern.wait_event(stream, method)  # told after the legacy session
        told = {m.method for m in hub.messages if m.method and m.method.endswith("list_changed") and not m.params}
        return told, client.answer.result["capabilities"].keys() - {"logging", "completions", "tasks"}

    def test_lists_that_were_not(self):
        for revision in LEGACY:
            with self.subTest(revision):
                told, announced = self.heard(revision, {"up": self.recorder().toolset("--content", **OFF)})
                self.assertEqual(announced, {"tools"})
                self.assertEqual(told, {LIST_CHANGED})

    def test_lists_that_were(self):
        """Of a server that has not started yet, anything may come."""
        for revision in LEGACY:
            with self.subTest(revision):
                unknown = {"other": self.recorder().toolset()}
                told, announced = self.heard(revision, {"up": self.recorder().toolset("--content", **OFF), **unknown})
                self.assertEqual(announced, {"tools", "resources", "prompts"})
                self.assertEqual(told, {LIST_CHANGED, RESOURCES_CHANGED, PROMPTS_CHANGED})


if __name__ == "__main__":
    main()
