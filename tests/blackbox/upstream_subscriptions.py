# SPDX-License-Identifier: Apache-2.0
"""Changes of an upstream's resources, for clients and servers of both eras.

MCP 2025-11-25 server/resources (Subscriptions); 2026-07-28 basic/patterns/subscriptions.
"""

import json

from mcp import LIST_CHANGED, HubTest, LegacyClient, ModernClient, main, tool

UPDATED = "notifications/resources/updated"
ONE, TWO, THREE = "rec:///one", "rec:///two", "rec:///three"


class Upstream(HubTest):
    def start(self, *flags, **options):
        recorder = self.recorder()
        hub = self.hub(toolsets={"up": recorder.toolset("--content", *flags)}, **options)
        return hub, recorder

    def legacy_client(self, hub):
        return self.acquainted(LegacyClient(hub))

    def modern_client(self, hub):
        return self.acquainted(ModernClient(hub))

    def acquainted(self, client):
        """All lists are waited for together: what was waited for is not announced."""
        for request_id in [client.send(method) for method in ("tools/list", "resources/list", "prompts/list")]:
            client.hub.response(request_id).result
        return client

    def subscribe(self, client, uri=ONE):
        return client.request("resources/subscribe", {"uri": uri})

    def unsubscribe(self, client, uri=ONE):
        return client.request("resources/unsubscribe", {"uri": uri}).result

    def wait_updated(self, hub, uri=ONE, since=0):
        return hub.wait_for(lambda m: m.method == UPDATED and m.params["uri"] == uri, f"{UPDATED} of {uri}", since)

    def filters(self, recorder, since=0):
        """The filters of the listen streams that were opened, in order."""
        lines = recorder.sync().lines("subscriptions/listen", since)
        return [json.loads(line)["params"]["notifications"] for line in lines]


class LegacyServer(Upstream):
    def test_a_legacy_client(self):
        hub, recorder = self.start()
        client = self.legacy_client(hub)
        self.assertEqual(self.subscribe(client).result, {})
        recorder.command(updated=TWO)  # nobody asked
        recorder.command(updated=ONE)
        self.wait_updated(hub)
        self.unsubscribe(client)
        recorder.wait_request("resources/unsubscribe")
        recorder.command(updated=ONE)
        client.barrier()
        self.assertEqual(len(hub.notifications(UPDATED)), 1)

    def test_a_modern_client(self):
        hub, recorder = self.start()
        client = self.modern_client(hub)
        stream = client.listen(resourceSubscriptions=[ONE])
        recorder.wait_request("resources/subscribe")
        recorder.command(updated=ONE)
        self.assertEqual(client.wait_event(stream, UPDATED).params["uri"], ONE)
        client.cancel(stream)
        recorder.wait_request("resources/unsubscribe")

    def test_one_subscription_serves_many(self):
        hub, recorder = self.start()
        legacy, modern = self.legacy_client(hub), self.modern_client(hub)
        self.subscribe(legacy).result
        stream = modern.listen(resourceSubscriptions=[ONE])
        since = hub.mark
        recorder.command(updated=ONE)
        modern.wait_event(stream, UPDATED, since)
        hub.wait_until(lambda: len(hub.notifications(UPDATED, since)) == 2, "both")
        self.unsubscribe(legacy)
        legacy.barrier()
        self.assertEqual(len(recorder.sync().lines("resources/subscribe")), 1)
        self.assertEqual(recorder.lines("resources/unsubscribe"), [])

    def test_a_refusal_is_passed_on(self):
        hub, recorder = self.start("--mute-uri", ONE)
        client = self.legacy_client(hub)
        self.assertEqual(self.subscribe(client).error, {"code": 4243, "message": "this one is never watched"})
        self.subscribe(client, TWO).result
        mark = recorder.mark  # it may come back by itself
        client.call("up__die").tool_error
        recorder.wait_gone()
        client.call("up__echo").result
        again = [json.loads(line)["params"]["uri"] for line in recorder.sync().lines("resources/subscribe", mark)]
        self.assertEqual(again, [TWO])

    def test_a_restarted_server_is_told_again(self):
        """What is watched may have changed meanwhile: clients are told so."""
        hub, recorder = self.start()
        client = self.legacy_client(hub)
        self.subscribe(client, ONE).result
        self.subscribe(client, TWO).result
        self.subscribe(client, THREE).result
        self.unsubscribe(client, TWO)
        mark, since = recorder.mark, hub.mark  # it may come back by itself
        client.call("up__die").tool_error
        recorder.wait_gone()
        client.call("up__echo").result
        self.wait_updated(hub, ONE, since)
        self.wait_updated(hub, THREE, since)
        uris = {json.loads(line)["params"]["uri"] for line in recorder.sync().lines("resources/subscribe", mark)}
        self.assertEqual(uris, {ONE, THREE})
        since = hub.mark
        recorder.command(updated=ONE)
        self.wait_updated(hub, ONE, since)

    def test_a_stream_lives_through_a_restart_and_a_pause(self):
        """It was acknowledged: it hears of changes again when the server, or the toolset, is back."""
        hub, recorder = self.start()
        client = self.modern_client(hub)
        stream = client.listen(resourceSubscriptions=[ONE, TWO])
        for how in ("die", "disable"):
            with self.subTest(how):
                mark, since = recorder.mark, hub.mark
                if how == "die":
                    client.call("up__die").tool_error
                    recorder.wait_gone()
                    client.call("up__echo").result
                else:
                    client.call("disable_toolset", {"toolset": "up"}).result
                    recorder.wait_gone(2)
                    client.call("enable_toolset", {"toolset": "up"}).result
                recorder.wait_until(lambda mark=mark: len(recorder.lines("resources/subscribe", mark)) == 2, "both again")
                since = hub.mark
                recorder.command(updated=TWO)
                self.assertEqual(client.wait_event(stream, UPDATED, since).params["uri"], TWO)
        mark = recorder.mark
        client.cancel(stream)
        recorder.wait_until(lambda: len(recorder.lines("resources/unsubscribe", mark)) == 2, "the end of both")

    def test_a_cancelled_request_is_no_subscription(self):
        hub, recorder = self.start("--silent", "resources/subscribe")
        client = self.legacy_client(hub)
        request_id = client.send("resources/subscribe", {"uri": ONE})
        line = recorder.wait_request("resources/subscribe")
        client.cancel(request_id)
        recorder.wait_request("resources/unsubscribe")
        recorder.write(f'{{"jsonrpc":"2.0","id":{json.loads(line)["id"]},"result":{{}}}}')  # it came too late
        recorder.write(f'{{"jsonrpc":"2.0","method":"{UPDATED}","params":{{"uri":"{ONE}"}}}}')
        client.call("up__echo").result
        client.barrier()
        self.assertEqual(hub.notifications(UPDATED), [])
        self.assertNotIn(request_id, [m.id for m in hub.messages if m.method is None])

    def test_the_server_dies_while_it_is_asked(self):
        hub, recorder = self.start("--silent", "resources/subscribe")
        client = self.legacy_client(hub)
        since = hub.mark
        request_id = client.send("resources/subscribe", {"uri": ONE})
        recorder.wait_request("resources/subscribe")
        recorder.command(exit=0)
        hub.response(request_id, since).error
        recorder.wait_gone()
        mark = recorder.mark
        client.call("up__echo").result
        self.assertEqual(recorder.sync().lines("resources/subscribe", mark), [])

    def test_too_many(self):
        """4096 resources of one server; one less, and there is room again."""
        hub, recorder = self.start()
        modern, legacy = self.modern_client(hub), self.legacy_client(hub)
        streams = [
            modern.listen(resourceSubscriptions=[f"rec:///dir/{stream}-{n}" for n in range(256)]) for stream in range(16)
        ]
        recorder.wait_until(lambda: len(recorder.lines("resources/subscribe")) == 4096, "all of them")
        refusal = self.subscribe(legacy).error["message"]
        self.assertSays(refusal, "too many resources", "(4096)")
        modern.cancel(streams[0])
        recorder.wait_until(lambda: len(recorder.lines("resources/unsubscribe")) == 256, "the end of some")
        self.subscribe(legacy).result

    def test_nobody_waits_any_more(self):
        # So long a stream is not acknowledged, because the server might answer.
        patience = {"limits": {"discover_timeout": "5s"}}
        hub, recorder = self.start("--silent", "resources/subscribe", manifest=patience)
        client = self.modern_client(hub)
        stream = client.listen(resourceSubscriptions=[ONE])
        line = json.loads(recorder.wait_request("resources/subscribe"))
        client.cancel(stream)
        cancelled = json.loads(recorder.wait_request("notifications/cancelled"))
        self.assertEqual(cancelled["params"]["requestId"], line["id"])
        recorder.wait_request("resources/unsubscribe")
        client.call("up__die").tool_error
        recorder.wait_gone()
        mark = recorder.mark
        client.call("up__echo").result
        self.assertEqual(recorder.sync().lines("resources/subscribe", mark), [])


class ModernServer(Upstream):
    def start(self, *flags):
        return super().start("--era", "modern", *flags)

    def test_a_legacy_client(self):
        hub, recorder = self.start()
        client = self.legacy_client(hub)
        self.assertEqual(self.subscribe(client).result, {})
        recorder.command(updated=TWO)
        recorder.command(updated=ONE)
        self.wait_updated(hub)
        self.unsubscribe(client)
        recorder.wait_line(lambda m: m.get("method") == "subscriptions/listen" and len(self.filters(recorder)) == 3)
        recorder.command(updated=ONE)
        client.barrier()
        self.assertEqual(len(hub.notifications(UPDATED)), 1)
        lists = {"toolsListChanged": True, "resourcesListChanged": True, "promptsListChanged": True}
        self.assertEqual(self.filters(recorder), [lists, {**lists, "resourceSubscriptions": [ONE]}, lists])
        self.assertEqual(recorder.sync().lines("resources/subscribe"), [])

    def test_a_modern_client(self):
        hub, recorder = self.start()
        client = self.modern_client(hub)
        stream = client.listen(resourceSubscriptions=[ONE, TWO])
        recorder.wait_line(lambda m: len(m.get("params", {}).get("notifications", {}).get("resourceSubscriptions", [])) == 2)
        recorder.command(updated=TWO)
        self.assertEqual(client.wait_event(stream, UPDATED).params["uri"], TWO)

    def test_the_new_stream_comes_before_the_end_of_the_old(self):
        hub, recorder = self.start()
        client = self.legacy_client(hub)
        mark = recorder.mark
        self.subscribe(client).result
        recorder.wait_request("notifications/cancelled", mark)
        lines = [json.loads(line) for line in recorder.sync().lines(since=mark)]
        self.assertEqual([m["method"] for m in lines], ["subscriptions/listen", "notifications/cancelled"])
        first = json.loads(recorder.lines("subscriptions/listen")[0])
        self.assertEqual(lines[1]["params"]["requestId"], first["id"])

    def test_many_at_once_open_few_streams(self):
        hub, recorder = self.start()
        resources = [{"uri": f"rec:///n{n}", "name": "n"} for n in range(200)]
        client = self.legacy_client(hub)
        since = hub.mark
        recorder.command(resources=json.dumps(resources), notify=1, kind="resources")
        hub.wait_for(lambda m: m.method == "notifications/resources/list_changed", "the change", since)
        mark = recorder.mark
        recorder.command(pause=True)
        ids = [client.send("resources/subscribe", {"uri": r["uri"]}) for r in resources]
        client.barrier()
        recorder.command(pause=False)
        for request_id in ids:
            hub.response(request_id).result
        self.assertLessEqual(len(self.filters(recorder, mark)), 3)
        self.assertEqual(len(self.filters(recorder, mark)[-1]["resourceSubscriptions"]), 200)
        since = hub.mark
        recorder.command(updated="rec:///n150")
        self.wait_updated(hub, "rec:///n150", since)

    def test_what_the_server_does_not_watch(self):
        hub, recorder = self.start("--mute-uri", ONE)
        client = self.legacy_client(hub)
        self.assertSays(self.subscribe(client).error["message"], "does not tell")
        self.subscribe(client, TWO).result
        self.assertEqual(self.filters(recorder)[-1]["resourceSubscriptions"], [TWO])

    def test_a_server_that_does_not_listen(self):
        hub, recorder = self.start("--refuse-listen")
        client = self.legacy_client(hub)
        self.assertEqual(self.subscribe(client).code, -32601)
        self.assertIn("structuredContent", client.call("up__echo").result)

    def test_a_restarted_server_is_told_again(self):
        hub, recorder = self.start()
        client = self.legacy_client(hub)
        self.subscribe(client).result
        mark, since = recorder.mark, hub.mark  # it may come back by itself
        client.call("up__die").tool_error
        recorder.wait_gone()
        client.call("up__echo").result
        self.wait_updated(hub, ONE, since)
        self.assertEqual(self.filters(recorder, mark)[0]["resourceSubscriptions"], [ONE])
        since = hub.mark
        recorder.command(updated=ONE)
        self.wait_updated(hub, ONE, since)

    def test_a_stream_that_the_server_ends(self):
        """It is opened again, once; what changed in between is made up for."""
        for how in ("result", "cancelled"):
            with self.subTest(how):
                hub, recorder = self.start()
                client = self.legacy_client(hub)
                self.subscribe(client).result
                mark, since = recorder.mark, hub.mark
                recorder.command(end_listen=how, tools=json.dumps([tool("new")]))
                self.wait_updated(hub, ONE, since)
                client.wait_list_changed(since)
                self.assertIn("up__new", client.names())
                recorder.command(end_listen=how)
                hub.wait_log("keeps ending subscriptions/listen")
                self.assertEqual(len(self.filters(recorder, mark)), 1)
                self.subscribe(client, TWO).result  # something new: it is tried again
                since = hub.mark
                recorder.command(updated=ONE)
                self.wait_updated(hub, ONE, since)
                hub.finish()

    def test_other_streams_are_not_heard(self):
        hub, recorder = self.start()
        client = self.legacy_client(hub)
        self.subscribe(client).result
        since = hub.mark
        for stream in ('"listen-99999"', '"other"', "7", "null"):
            params = f'"_meta":{{"io.modelcontextprotocol/subscriptionId":{stream}}}'
            recorder.write(f'{{"jsonrpc":"2.0","method":"{UPDATED}","params":{{{params},"uri":"{ONE}"}}}}')
            recorder.command(tools=json.dumps([tool("forged")]))
            recorder.write(f'{{"jsonrpc":"2.0","method":"{LIST_CHANGED}","params":{{{params}}}}}')
        client.call("up__echo").result
        client.barrier()
        self.assertEqual(hub.notifications(UPDATED, since) + hub.notifications(LIST_CHANGED, since), [])


if __name__ == "__main__":
    main()
