# SPDX-License-Identifier: Apache-2.0
"""Sessions of upstreams over HTTP that are lost, refused, or interrupted.

MCP 2025-11-25 basic/transports (Session Management, Resumability and Redelivery); RELIABILITY D02 (a
call is made once), U27 (a refused credential is not shown again and again).
"""

import sys
import threading
import time

from mcp import LIST_CHANGED, META, SUPPORT, HubTest, LegacyClient, ModernClient, main

sys.path.insert(0, str(SUPPORT))

from http_upstream import HttpUpstream  # noqa: E402

UPDATED = "notifications/resources/updated"
EVERYTHING = {"tools": {"listChanged": True}, "resources": {"subscribe": True}, "logging": {}}
NAME = "up__echo"


class Sessions(HubTest):
    def upstream(self, era="legacy", streams=False, **options):
        """`streams`: its GET streams are kept, in `upstream.streams`."""
        upstream = HttpUpstream(era, **options)
        self.addCleanup(upstream.close)
        upstream.streams = []

        def get(x):
            x.stream()
            with upstream.condition:
                upstream.streams.append(x)
                upstream.condition.notify_all()
            x.wait_gone()

        if streams:
            upstream.on["GET"] = get
        upstream.on["resources/list"] = lambda x: x.result({"resources": [{"uri": "a:b", "name": "b"}]})
        upstream.on["resources/templates/list"] = lambda x: x.result({"resourceTemplates": []})
        for method in ("resources/subscribe", "resources/unsubscribe", "logging/setLevel"):
            upstream.on[method] = lambda x: x.result({})
        return upstream

    def start(self, upstream, kind=LegacyClient, **keys):
        return kind(self.hub(toolsets={"up": {"url": upstream.url, **keys}}))

    def stream(self, upstream, number=1):
        return upstream.wait_until(lambda: upstream.streams[number - 1 :], f"stream {number}")[0]

    def lose(self, upstream):
        """The server is restarted, and has forgotten its sessions. Returns where to look from."""
        upstream.wait("GET")  # else it could be that which notices
        with upstream.condition:
            upstream.session += 100
            return len(upstream.requests)

    def failure(self, client, arguments=None):
        """Why a call fails: of the tool, or because its server never told what it has."""
        answer = client.call(NAME, arguments)
        return answer.error["message"] if "error" in answer.data else answer.tool_error["message"]

    def rpcs(self, upstream, since=0):
        return [x.rpc or x.method for x in upstream.requests[since:]]


class Lost(Sessions):
    def test_a_probe_that_ends_late(self):
        """server/discover is answered when the server is known to be legacy: nobody waits for that any more."""
        for how in ("504", "cut", "401"):
            with self.subTest(how):
                upstream, calls, ended, go_on = self.upstream(), threading.Event(), threading.Event(), threading.Event()

                def discover(x):
                    calls.wait(upstream.timeout)
                    x.cut() if how == "cut" else x.status(int(how))
                    ended.set()

                def call(x, good=upstream.call):
                    if x.params["arguments"].get("wait"):
                        calls.set()
                        go_on.wait(upstream.timeout)
                    good(x)

                upstream.on["server/discover"] = discover
                upstream.on["tools/call"] = call
                client = self.start(upstream, startup_timeout="9s")
                client.names()
                held = client.send_call(NAME, {"wait": True})
                ended.wait(upstream.timeout)
                self.assertNotIn("isError", client.call(NAME, {}).result)
                go_on.set()
                self.assertNotIn("isError", client.hub.response(held).result)
                self.assertEqual(len(upstream.of("initialize")), 1)

    def test_a_stream_of_the_session_before(self):
        """A call whose stream is to be taken up belongs to its session: it ends with that."""
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()

        def call(x, good=upstream.call):
            if x.params["arguments"].get("wait"):
                x.stream().event(None, event_id="e1", retry=30000)
                x.cut()
            else:
                good(x)

        upstream.on["tools/call"] = call
        interrupted = client.send_call(NAME, {"wait": True})
        upstream.wait("tools/call")
        since = self.lose(upstream)
        client.call(NAME, {}).result
        self.assertIn("has lost its session", client.hub.response(interrupted).tool_error["message"])
        self.assertEqual(len(upstream.of("initialize", since)), 1)
        client.call(NAME, {}).result

    def test_what_clients_want_is_said_again(self):
        upstream = self.upstream(capabilities=EVERYTHING)
        client = self.start(upstream)
        client.names()
        client.request("resources/list").result
        client.request("resources/subscribe", {"uri": "a:b"}).result
        client.request("logging/setLevel", {"level": "debug"}).result
        upstream.wait("logging/setLevel")
        since, mark = self.lose(upstream), client.hub.mark
        client.call(NAME).result
        client.hub.wait_for(lambda m: m.method == UPDATED and m.params["uri"] == "a:b", UPDATED, mark)
        for method, params in (("resources/subscribe", {"uri": "a:b"}), ("logging/setLevel", {"level": "debug"})):
            upstream.wait(method, since=since)
            said = [x for x in upstream.of(method, since) if x.headers["mcp-session-id"] == "session-102"]
            self.assertEqual([x.params | {"_meta": None} for x in said], [params | {"_meta": None}], method)
        self.assertEqual(len(upstream.of("initialize", since)), 1)

    def test_nobody_calls_but_somebody_listens(self):
        upstream = self.upstream(streams=True, capabilities=EVERYTHING)
        client = self.start(upstream, ModernClient)
        client.names()
        client.request("resources/list").result
        subscription = client.listen(resourceSubscriptions=["a:b"], toolsListChanged=True)
        upstream.wait("resources/subscribe")
        since = self.lose(upstream)
        upstream.tools = [*upstream.tools, {"name": "more", "inputSchema": {"type": "object"}}]
        self.stream(upstream).cut()
        again = upstream.wait("resources/subscribe", since=since)
        self.assertEqual((again.params["uri"], again.headers["mcp-session-id"]), ("a:b", "session-102"))
        client.wait_event(subscription, LIST_CHANGED)
        mark = client.hub.mark
        self.stream(upstream, 2).event({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": "a:b"}})
        client.wait_event(subscription, UPDATED, mark)

    def test_a_stream_of_the_next_session_begins_at_its_beginning(self):
        upstream = self.upstream(streams=True)
        client = self.start(upstream)
        client.call(NAME).result
        self.stream(upstream).event(None, event_id="of-the-first")
        self.stream(upstream).event({"jsonrpc": "2.0", "method": LIST_CHANGED}, event_id="of-the-first-2")
        upstream.wait("tools/list", 2)  # it was heard
        self.lose(upstream)
        client.call(NAME).result
        self.assertNotIn("last-event-id", self.stream(upstream, 2).headers)

    def test_a_request_that_was_delivered_is_not_sent_again(self):  # D02
        upstream = self.upstream()

        def call(x):
            x.stream().event(None, event_id="1", retry=1)
            upstream.session += 100  # it has the call, and is restarted
            x.cut()

        upstream.on["tools/call"] = call
        client = self.start(upstream)
        client.names()
        self.assertSays(self.failure(client), "lost its session while")
        self.assertEqual(len(upstream.of("tools/call")), 1)
        upstream.on["tools/call"] = upstream.call
        client.call(NAME).result

    def test_one_that_may_be_done_twice_is(self):
        upstream = self.upstream(capabilities=EVERYTHING)

        def read(x):
            if len(upstream.of("resources/read")) > 1:
                x.result({"contents": [{"uri": "a:b", "text": "it"}]})
                return
            x.stream().event(None, event_id="1", retry=1)
            upstream.session += 100
            x.cut()

        upstream.on["resources/read"] = read
        client = self.start(upstream)
        client.request("resources/list").result
        self.assertEqual(client.request("resources/read", {"uri": "a:b"}).result["contents"][0]["text"], "it")
        self.assertNotIn("last-event-id", upstream.of("resources/read")[1].headers)

    def test_a_call_that_meets_two_losses(self):
        """It has had its chance; who noticed the second one does not matter."""
        upstream = self.upstream()

        def call(x):
            if x.params["arguments"].get("slow"):
                upstream.wait_until(lambda: upstream.session > 202, "the session after the next")
                x.status(404)
            else:
                upstream.call(x)

        upstream.on["tools/call"] = call
        client = self.start(upstream)
        client.names()
        since = self.lose(upstream)
        slow = client.send_call(NAME, {"slow": True})
        upstream.wait("tools/call", 2, since)
        client.call(NAME).result
        self.lose(upstream)
        client.call(NAME).result
        self.assertSays(client.hub.response(slow).tool_error["message"], "lost its session twice")
        sent = [x.headers["mcp-session-id"] for x in upstream.of("tools/call") if x.params["arguments"]]
        self.assertEqual(sent, ["session-1", "session-102"])

    def test_said_with_an_error_of_json_rpc(self):
        upstream = self.upstream()
        body = '{"jsonrpc":"2.0","id":null,"error":{"code":-32600,"message":"no such session"}}'
        upstream.is_lost = lambda x: False
        good = upstream.call
        upstream.on["tools/call"] = lambda x: (
            x.status(404, body) if x.headers["mcp-session-id"] == "session-1" else good(x)
        )
        client = self.start(upstream)
        client.call(NAME).result
        self.assertEqual(len(upstream.of("initialize")), 2)
        self.assertEqual(len(upstream.of("tools/call")), 2)

    def test_404_without_a_session_is_just_that(self):
        upstream = self.upstream(sessions=False)
        client = self.start(upstream)
        client.names()
        upstream.on["tools/call"] = lambda x: x.status(404)
        self.assertSays(self.failure(client), "HTTP 404")
        self.assertEqual(len(upstream.of("initialize")), 1)
        self.assertEqual(len(upstream.of("tools/call")), 1)

    def test_a_server_that_does_not_come_back(self):
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()
        upstream.on["initialize"] = lambda x: x.status(503)
        since = self.lose(upstream)
        self.assertSays(self.failure(client), "HTTP 503")
        self.assertEqual(self.rpcs(upstream, since), ["tools/call", "initialize"])

    def test_a_cancelled_call_is_not_sent_again(self):
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()
        good = upstream.on["initialize"]
        calls = []

        def initialize(x):
            client.cancel(calls[0])
            client.barrier()
            good(x)

        upstream.on["initialize"] = initialize
        since = self.lose(upstream)
        calls.append(client.send_call(NAME))
        upstream.wait("notifications/initialized", since=since)
        client.call(NAME, {"last": True}).result
        sent = [x.params["arguments"] for x in upstream.of("tools/call", since)]
        self.assertEqual(sent, [{}, {"last": True}])
        self.assertEqual(upstream.of("notifications/cancelled", since), [])  # it has never heard of it


class Refused(Sessions):
    """U27."""

    def test_the_stream_alone(self):
        """It is not for this client to listen; the rest may be."""
        for status in (401, 403):
            with self.subTest(status):
                upstream = self.upstream()
                upstream.on["GET"] = lambda x, status=status: x.status(status)
                client = self.start(upstream)
                for _ in range(3):
                    client.call(NAME).result
                client.hub.wait_log(f"HTTP {status}")
                streams = [x for x in upstream.of("GET") if "/.well-known/" not in x.path]
                self.assertEqual(len(streams), 1)
                client.hub.finish()

    def test_the_stream_of_a_modern_server(self):
        for status in (401, 403):
            with self.subTest(status):
                upstream = self.upstream("modern")
                upstream.on["subscriptions/listen"] = lambda x, s=status: x.status(s)
                client = self.start(upstream)
                client.names()
                client.hub.wait_log(f"HTTP {status}")
                client.call(NAME).result
                self.assertEqual(len(upstream.of("subscriptions/listen")), 1)
                client.hub.finish()

    def test_the_stream_of_a_modern_server_before_its_list(self):
        upstream = self.upstream("modern")
        client = self.start(upstream)
        upstream.on["subscriptions/listen"] = lambda x: x.status(403)
        upstream.on["tools/list"] = lambda x: (client.hub.wait_log("HTTP 403"), upstream.list_tools(x))
        client.call(NAME).result

    def test_a_call(self):
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()
        good, upstream.on["tools/call"] = upstream.call, lambda x: x.status(401, www_authenticate='Bearer realm="x"')
        self.assertSays(self.failure(client), "credential refused", "HTTP 401", upstream.url)
        upstream.on["tools/call"] = good
        since = len(upstream.requests)
        self.assertNotIn("isError", client.call(NAME).result)
        self.assertEqual(self.rpcs(upstream, since), ["tools/call"])  # in the same session

    def test_the_next_session(self):
        upstream = self.upstream()
        client = self.start(upstream)
        client.names()
        upstream.on["initialize"] = lambda x: x.status(401)
        since = self.lose(upstream)
        for _ in range(3):
            self.assertSays(self.failure(client), "credential refused")
        login = ["ping", "GET", "GET"]  # once: a challenge, and metadata of the server in either place
        self.assertEqual(self.rpcs(upstream, since), ["tools/call", "initialize", *login])

    def test_calls_that_are_under_way(self):
        """They go on: one call was refused, not all."""
        upstream = self.upstream()

        def call(x):
            if x.params["arguments"].get("refused"):
                x.status(401)
                refused.set()
            else:
                refused.wait(upstream.timeout)
                good(x)

        refused = threading.Event()
        good, upstream.on["tools/call"] = upstream.call, call
        client = self.start(upstream)
        client.names()
        waits = client.send_call(NAME)
        upstream.wait("tools/call")
        self.assertSays(client.call(NAME, {"refused": True}).tool_error["message"], "credential refused")
        self.assertNotIn("isError", client.hub.response(waits).result)


class Settings(Sessions):
    """Requests over HTTP overtake each other. A call does not overtake what changes what is told of it."""

    def held(self, upstream, method):
        """Have the server think about a request until `release` is set; the calls that came before that, and before
        the hub had waited long enough (REMOTE_SETTLE_MS)."""
        release, early = threading.Event(), []
        good, asked, answered = upstream.on[method], [], []

        def think(x):
            asked.append(time.monotonic())
            release.wait(upstream.timeout)
            answered.append(x)
            good(x)

        def call(x):
            if not answered and (not asked or time.monotonic() - asked[0] < 1):
                early.append(x)
            upstream.call(x)

        upstream.on.update({method: think, "tools/call": call})
        return release, early

    def test_a_level_of_a_legacy_client(self):
        upstream = self.upstream(capabilities=EVERYTHING)
        release, early = self.held(upstream, "logging/setLevel")
        client = self.start(upstream)
        client.names()
        client.request("logging/setLevel", {"level": "debug"}).result
        call = client.send_call(NAME)
        upstream.wait("logging/setLevel")
        client.barrier()
        release.set()
        client.hub.response(call).result
        self.assertEqual(early, [])

    def test_a_level_of_a_modern_client(self):
        upstream = self.upstream(capabilities=EVERYTHING)
        release, early = self.held(upstream, "logging/setLevel")
        client = self.start(upstream, ModernClient)
        client.names()
        call = client.send_call(NAME, meta={META + "logLevel": "debug"})
        upstream.wait("logging/setLevel")
        client.barrier()
        release.set()
        client.hub.response(call).result
        self.assertEqual(early, [])

    def test_a_subscription_of_a_modern_client(self):
        upstream = self.upstream(capabilities=EVERYTHING)
        release, early = self.held(upstream, "resources/subscribe")
        client = self.start(upstream, ModernClient)
        client.names()
        client.request("resources/list").result
        client.send("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["a:b"]}})
        call = client.send_call(NAME)
        upstream.wait("resources/subscribe")
        client.barrier()
        release.set()
        client.hub.response(call).result
        self.assertEqual(early, [])

    def test_a_modern_server_that_listens(self):
        upstream = self.upstream("modern", capabilities=EVERYTHING)
        listed = {"resources": [{"uri": "a:b", "name": "b"}], "ttlMs": 0, "cacheScope": "public"}
        upstream.on["resources/list"] = lambda x: x.result(upstream.complete(**listed))

        def listen(x):
            told = {"_meta": {META + "subscriptionId": x.message["id"]}, "notifications": x.params["notifications"]}
            acknowledged = {"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": told}
            x.stream().event(acknowledged)
            x.wait_gone()

        upstream.on["subscriptions/listen"] = listen
        client = self.start(upstream, ModernClient)
        client.names()
        client.request("resources/list").result
        client.call(NAME).result
        release, early = self.held(upstream, "subscriptions/listen")
        since = len(upstream.requests)
        client.send("subscriptions/listen", {"notifications": {"resourceSubscriptions": ["a:b"]}})
        call = client.send_call(NAME)
        upstream.wait("subscriptions/listen", since=since)
        client.barrier()
        release.set()
        client.hub.response(call).result
        self.assertEqual(early, [])

    def test_a_server_that_never_answers_holds_up_no_call_for_ever(self):
        upstream = self.upstream(capabilities=EVERYTHING)
        upstream.on["logging/setLevel"] = lambda x: x.wait_gone()
        client = self.start(upstream)
        client.names()
        client.request("logging/setLevel", {"level": "debug"}).result
        client.call(NAME).result


class Interrupted(Sessions):
    def test_the_stream_goes_on_where_it_ended(self):
        upstream = self.upstream(streams=True)
        client = self.start(upstream)
        client.names()
        stream = self.stream(upstream)
        stream.event({"jsonrpc": "2.0", "method": LIST_CHANGED}, event_id="e-1", retry=1)
        upstream.wait("tools/list", 2)
        stream.cut()
        self.assertEqual(self.stream(upstream, 2).headers["last-event-id"], "e-1")
        since = client.hub.mark
        upstream.tools = [*upstream.tools, {"name": "more", "inputSchema": {"type": "object"}}]
        self.stream(upstream, 2).event({"jsonrpc": "2.0", "method": LIST_CHANGED}, event_id="e-2")
        client.wait_list_changed(since)
        self.stream(upstream, 2).cut()
        self.assertEqual(self.stream(upstream, 3).headers["last-event-id"], "e-2")
        self.assertEqual(len(upstream.of("initialize")), 1)

    def test_a_stream_that_is_elsewhere(self):
        upstream = self.upstream(streams=True)
        listen = upstream.on["GET"]
        upstream.on["GET"] = lambda x: listen(x) if x.path == "/events" else x.status(307, Location="/events")
        client = self.start(upstream)
        client.names()
        since = client.hub.mark
        upstream.tools = [*upstream.tools, {"name": "more", "inputSchema": {"type": "object"}}]
        self.stream(upstream).event({"jsonrpc": "2.0", "method": LIST_CHANGED})
        client.wait_list_changed(since)

    def test_a_stream_that_is_at_another_server(self):
        other, upstream = self.upstream(), self.upstream()
        upstream.on["GET"] = lambda x: x.status(307, Location=other.url)
        client = self.start(upstream, headers={"Authorization": "Bearer canary"})
        client.call(NAME).result
        client.hub.wait_log("HTTP 307")
        self.assertEqual(len(upstream.of("GET")), 1)
        self.assertEqual(other.requests, [])

    def test_progress_and_the_answer_come_behind_the_break(self):
        upstream = self.upstream()
        calls = []

        def call(x):
            calls.append(x)
            progress = {"progressToken": x.params["_meta"]["progressToken"], "progress": 1}
            x.stream().event({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress}, event_id="1",
                             retry=1)
            x.cut()

        def get(x):
            at = x.headers.get("last-event-id")
            if at is None:
                x.status(405)
                return
            progress = {"progressToken": calls[0].params["_meta"]["progressToken"], "progress": int(at) + 1}
            x.stream().event({"jsonrpc": "2.0", "method": "notifications/progress", "params": progress},
                             event_id=str(int(at) + 1))
            if at == "2":
                x.event(calls[0].reply(result=upstream.said("done")))
            x.close()

        upstream.on.update({"tools/call": call, "GET": get})
        client = self.start(upstream)
        client.names()
        since = client.hub.mark
        answer = client.call(NAME, meta={"progressToken": "mine"})
        self.assertEqual(answer.result["content"][0]["text"], "done")
        told = [m.params["progress"] for m in client.hub.notifications("notifications/progress", since)]
        self.assertEqual(told, [1, 2, 3])
        self.assertEqual(len(calls), 1)


if __name__ == "__main__":
    main()
