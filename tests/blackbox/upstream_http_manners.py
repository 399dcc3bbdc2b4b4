# SPDX-License-Identifier: Apache-2.0
"""What a server over HTTP may expect of the hub: no crowd of connections, nothing done twice, and patience
(MCP 2025-11-25 basic/transports; RELIABILITY.md D02, U01)."""

import sys
import threading

from http_client import HttpTest
from mcp import META, MODERN, SUPPORT, HubTest, LegacyClient, ModernClient, main

sys.path.insert(0, str(SUPPORT))

from http_upstream import HttpUpstream  # noqa: E402

PATIENT = {"limits": {"discover_timeout": "2m"}}
AT_A_TIME = 16  # subscriptions that are told again
UPDATED = "notifications/resources/updated"


class Subscriptions(HubTest):
    """A session that was lost: what is watched is told to the next one."""

    COUNT = 100

    def start(self):
        upstream = HttpUpstream(capabilities={"resources": {"subscribe": True}, "tools": {}})
        self.addCleanup(upstream.close)
        self.uris = [f"a:{n}" for n in range(self.COUNT)]
        resources = [{"uri": uri, "name": uri} for uri in self.uris]
        upstream.on["resources/list"] = lambda x: x.result({"resources": resources})
        upstream.on["resources/templates/list"] = lambda x: x.result({"resourceTemplates": []})
        upstream.on["resources/subscribe"] = lambda x: x.result({})
        client = LegacyClient(self.hub(toolsets={"up": {"url": upstream.url}}, manifest=PATIENT))
        client.request("resources/list").result
        for uri in self.uris:
            client.request("resources/subscribe", {"uri": uri}).result
        return upstream, client

    def test_a_few_at_a_time(self):
        upstream, client = self.start()
        since, mark = len(upstream.requests), client.hub.mark
        lock, go = threading.Lock(), threading.Event()
        counts = {"now": 0, "most": 0}

        def take(x):
            with lock:
                counts["now"] += 1
                counts["most"] = max(counts.values())
            go.wait(upstream.timeout)
            with lock:
                counts["now"] -= 1
            x.result({})

        upstream.on["resources/subscribe"] = take
        upstream.session += 1  # it has forgotten the one of the hub
        call = client.send_call("up__echo")
        upstream.wait("resources/subscribe", AT_A_TIME, since)
        upstream.wait("tools/list", 1, since)  # the hub asked for that afterwards
        go.set()
        client.hub.response(call).result
        upstream.wait("resources/subscribe", self.COUNT, since)
        told = sorted(x.params["uri"] for x in upstream.of("resources/subscribe", since))
        self.assertEqual(told, sorted(self.uris))
        self.assertEqual(counts["most"], AT_A_TIME)
        for uri in self.uris:  # each may have changed meanwhile
            client.hub.wait_for(
                lambda m, uri=uri: m.method == UPDATED and m.params["uri"] == uri, f"{UPDATED} of {uri}", mark
            )

    def test_some_that_end_meanwhile(self):
        """Those are told no more; the others are."""
        upstream, client = self.start()
        since = len(upstream.requests)
        go = threading.Event()
        upstream.on["resources/subscribe"] = lambda x: (go.wait(upstream.timeout), x.error(-32603, "no"))
        upstream.on["resources/unsubscribe"] = lambda x: x.result({})
        upstream.session += 1
        client.send_call("up__echo")
        upstream.wait("resources/subscribe", AT_A_TIME, since)
        asked = {x.params["uri"] for x in upstream.of("resources/subscribe", since)}
        left = [uri for uri in self.uris if uri not in asked]
        for uri in left[1::2]:  # the one that is next is among them
            client.request("resources/unsubscribe", {"uri": uri}).result
        go.set()
        upstream.wait("resources/subscribe", AT_A_TIME + len(left[::2]), since)
        told = {x.params["uri"] for x in upstream.of("resources/subscribe", since)}
        self.assertEqual(told, asked | set(left[::2]))


class Notes(HubTest):
    def test_one_that_does_not_get_through(self):
        """Nobody waits for it, and nothing else is under way: the session goes on when the server can be reached."""
        upstream = HttpUpstream()
        self.addCleanup(upstream.close)
        good = upstream.take

        def take(x):  # every answer is the last on its connection, and says so
            answer = x.status
            x.status = lambda *args, **headers: answer(*args, **headers, Connection="close")
            good(x)
            x.handler.close_connection = True

        upstream.take = take
        upstream.on["tools/call"] = lambda x: x.wait_gone()
        client = LegacyClient(self.hub("--log-level", "debug", toolsets={"up": {"url": upstream.url}}, manifest=PATIENT))
        client.names()
        held = client.send_call("up__echo")
        upstream.wait("tools/call")
        upstream.wait_until(lambda: upstream.closed == upstream.connections - 1, "the end of the others")
        upstream.go_away()
        client.cancel(held)
        client.hub.wait_log("cannot reach " + upstream.url)
        client.barrier()
        upstream.on["tools/call"] = upstream.call
        upstream.come_back()
        self.assertIn("result", client.call("up__echo").data)
        self.assertEqual(len(upstream.of("initialize")), 1)
        self.assertNotIn("toolset.failed", client.hub.log)


class Health(HubTest):
    """A server that answers whether it is alive is not asked anything else. (RELIABILITY.md U05)"""

    def start(self, upstream, **keys):
        self.addCleanup(upstream.close)
        entry = {"url": upstream.url, "health_interval": "4s", **keys}
        client = ModernClient(self.hub(toolsets={"up": entry}, manifest=PATIENT))
        client.call("up__echo").result
        return client

    def test_a_modern_server(self):
        upstream = HttpUpstream("modern")
        client = self.start(upstream)
        since = len(upstream.requests)
        upstream.wait("server/discover", 2, since)
        self.assertEqual(upstream.of("tools/list", since), [])
        self.assertIn("result", client.call("up__echo").data)

    def test_an_error_is_an_answer(self):
        """… whatever its status. This server has no server/discover: its entry says that it is modern."""
        upstream = HttpUpstream("modern")
        upstream.on["server/discover"] = lambda x: x.error(-32601, "Method not found", status=404)
        client = self.start(upstream, protocol=MODERN)
        since = len(upstream.requests)
        upstream.wait("server/discover", 2, since)
        self.assertEqual(upstream.of("tools/list", since), [])
        self.assertNotIn("toolset.failed", client.hub.log)


class Once(HubTest):
    def test_answers_to_the_questions_of_a_task(self):  # D02
        """tasks/update is not sent a second time when the connection breaks under it; tasks/get is."""
        extension = META + "tasks"
        upstream = HttpUpstream("modern", capabilities={"tools": {}, "extensions": {extension: {}}})
        self.addCleanup(upstream.close)
        task = {"taskId": "t-1", "status": "working", "createdAt": "2026-01-01T00:00:00Z", "lastUpdatedAt": "2026-01-01T00:00:00Z", "ttlMs": None}
        upstream.on["tools/call"] = lambda x: x.result({"resultType": "task", **task})
        client = ModernClient(self.hub(toolsets={"up": {"url": upstream.url}}, manifest=PATIENT), {"extensions": {extension: {}}})
        client.names()
        task_id = client.call("up__echo").result["taskId"]
        for method, times in (("tasks/get", 2), ("tasks/update", 1)):
            with self.subTest(method):
                upstream.on[method] = lambda x, method=method: (
                    x.cut() if len(upstream.of(method)) == 1 else x.result({"resultType": "complete", **task})
                )
                client.request(method, {"taskId": task_id, "inputResponses": {}})
                self.assertEqual(len(upstream.of(method)), times)


class OldTransport(HttpTest):
    def test_a_cancellation_has_the_headers_of_its_call(self):
        """Its POST was answered long ago: the answer would come on the stream."""
        upstream = HttpUpstream(sessions=False)
        self.addCleanup(upstream.close)
        streams = []

        def take(x):
            with upstream.condition:
                upstream.requests.append(x)
                upstream.condition.notify_all()
            if x.method == "GET":
                streams.append(x.stream())
                x.event("/messages", event="endpoint")
                x.wait_gone()
                return
            x.status(202, "Accepted", content_type="text/plain")
            x.result = lambda result: streams[-1].event(x.reply(result=result))
            answers = {"initialize": upstream.initialize, "tools/list": upstream.list_tools, "tools/call": self.answer}
            answers.get(x.rpc, lambda x: None)(x)

        self.answer = lambda x: None
        upstream.take = take
        entry = {"url": upstream.url, "type": "sse", "headers": {"X-Own": "hub"}, "forward_headers": ["X-Tenant"]}
        server = self.http(toolsets={"up": entry})
        session = server.legacy(headers={"X-Tenant": "a"})
        session.request("tools/list").message.result
        message = session.message("tools/call", {"name": "up__echo", "arguments": {}}, request_id=77)
        server.connection().send(session.post_bytes(message))
        upstream.wait("tools/call")
        session.notify("notifications/cancelled", {"requestId": 77})
        headers = upstream.wait("notifications/cancelled").headers
        self.assertEqual((headers.get("x-tenant"), headers.get("x-own")), ("a", "hub"))
        self.answer = upstream.call  # and those that are answered leave nothing behind
        for n in range(3):
            self.assertIn("result", session.request("tools/call", {"name": "up__echo", "arguments": {"n": n}}).message.data)
        self.assertEqual(len(upstream.of("notifications/cancelled")), 1)


if __name__ == "__main__":
    main()
