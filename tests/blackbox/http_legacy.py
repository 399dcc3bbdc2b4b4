# SPDX-License-Identifier: Apache-2.0
"""Streamable HTTP of the handshake revisions (2025-11-25, 2025-06-18 and 2025-03-26, basic/transports): sessions,
their streams, coming back for what was missed, and batches (S3.2)."""

import json

from http_client import BOTH, EVENTS, JSON, HttpTest, Stream, render
from mcp import INVALID_REQUEST, LEGACY, LIST_CHANGED, METHOD_NOT_FOUND, UNSUPPORTED_VERSION, fixture, main

POLLING = "2025-11-25"  # from here on clients come back for the stream of a POST
STREAMABLE = [revision for revision in LEGACY if revision >= "2025-03-26"]


class LegacyTest(HttpTest):
    def with_recorder(self, **manifest):
        recorder = self.recorder()
        toolsets = {"up": recorder.toolset(), "a": fixture("one", active=False)}
        server = self.http(toolsets=toolsets, manifest=manifest)
        probe = server.listen(toolsListChanged=True)
        server.modern("tools/list")  # it runs: a call that has to wait for that is told so, as progress
        self.assertEqual(probe.message().method, LIST_CHANGED)  # nor is a stream of the test told of it later
        probe.connection.close()
        return recorder, server

    def hold(self, recorder, session, token="t"):
        """A call that is at the upstream: its connection, the upstream's line, and how to send it progress."""
        since = recorder.mark
        params = {"name": "up__hold", "arguments": {}, "_meta": {"progressToken": token}}
        connection = session.server.connection().send(session.post_bytes(session.message("tools/call", params)))
        line = recorder.wait_line(lambda m: m.get("method") == "tools/call", since=since)
        token = json.dumps(json.loads(line)["params"]["_meta"]["progressToken"])

        def progress(step):
            params = '{"progressToken":%s,"progress":%d}' % (token, step)
            recorder.write('{"jsonrpc":"2.0","method":"notifications/progress","params":%s}' % params)

        return connection, line, progress


class Sessions(LegacyTest):
    def test_a_session_from_begin_to_end(self):
        server = self.http(toolsets={"a": fixture("one")})
        for revision in STREAMABLE:
            session = server.legacy(revision)
            self.assertEqual(session.revision, revision)
            self.assertRegex(session.id, r"\A[\x21-\x7e]{32,}\Z")
            self.assertEqual(session.request("ping").message.result, {})
            self.assertEqual(session.call("a__one").header("content-type"), JSON)
            self.assertIsNone(session.request("ping").header("mcp-session-id"))
            reply = session.request("no/such")  # an answer like others: a status would hide it from the client
            self.assertEqual((reply.status, reply.message.code), (200, METHOD_NOT_FOUND))
            reply = session.delete()
            self.assertEqual((reply.status, reply.body), (204, b""))
            for reply in (session.delete(), session.get(), session.request("ping"), session.notify("notifications/initialized")):
                self.assertEqual(reply.status, 404)
                self.assertSays(reply.message.error["message"], "initialize")

    def test_ids_are_not_to_be_guessed(self):  # A16
        server = self.http()
        ids = {server.legacy().id for _ in range(50)}
        self.assertEqual(len(ids), 50)
        self.assertTrue(all(len(bytes.fromhex(name)) == 16 for name in ids))
        known = next(iter(ids))
        for guess in ("0" * 32, known[:-1], known + "0", known.upper() if known != known.upper() else "x", "x", known[:31] + "/"):
            self.assertEqual(server.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"Mcp-Session-Id": guess}).status, 404)

    def test_a_session_is_needed(self):  # Session Management, 2
        server = self.http()
        for message in ({"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"jsonrpc": "2.0", "method": "notifications/initialized"}):
            for version in (None, "2025-11-25", "2025-03-26"):
                self.error(server.post(message, {"MCP-Protocol-Version": version}), 400, INVALID_REQUEST, message.get("id"))
        for method in ("GET", "DELETE"):
            self.refusal(server.ask(method, "/mcp", [("Accept", EVENTS)]), 405)

    def test_an_initialize_that_is_refused_begins_nothing(self):
        server = self.http(manifest={"limits": {"sessions": 1}})
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": 5}}
        reply = server.post(message)
        self.assertEqual(reply.status, 200)
        self.assertIn("error", reply.message.data)
        self.assertIsNone(reply.header("mcp-session-id"))
        session = server.legacy()
        again = session.request("initialize", {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}})
        self.assertEqual(again.message.code, INVALID_REQUEST)
        self.assertIsNone(again.header("mcp-session-id"))

    def test_the_version_header(self):  # Protocol Version Header
        server = self.http()
        session = server.legacy("2025-06-18")
        for version in (None, "2025-06-18", "2025-11-25", "2025-03-26"):
            self.assertEqual(session.request("ping", headers={"MCP-Protocol-Version": version}).status, 200)
        for version in ("1999-01-01", "garbage", ""):
            with self.subTest(version=version):
                headers = {"MCP-Protocol-Version": version}
                self.error(session.request("ping", headers=headers), 400, UNSUPPORTED_VERSION)
                if version:
                    self.error(session.get(headers=headers), 400, UNSUPPORTED_VERSION)
                    self.error(session.delete(headers=headers), 400, UNSUPPORTED_VERSION)
        self.assertEqual(session.request("ping").status, 200)

    def test_what_is_no_request(self):
        server = self.http()
        session = server.legacy()
        for message in (
            {"jsonrpc": "2.0", "method": "notifications/unknown"},
            {"jsonrpc": "2.0", "id": 77, "result": {}},
            {"jsonrpc": "2.0", "id": 78, "error": {"code": 1, "message": "no"}},
        ):
            reply = session.post(message)
            self.assertEqual((reply.status, reply.body), (202, b""))
        self.error(session.post(b"{"), 400, -32700)
        self.error(session.post({"jsonrpc": "2.0", "id": 1}), 400, INVALID_REQUEST, 1)

    def test_sessions_keep_to_their_profile(self):
        server = self.http(toolsets={"a": fixture("one")}, manifest={"profiles": {"few": {"toolsets": ["a"]}}})
        session = server.legacy(path="/mcp/few")
        self.assertEqual(session.request("ping").status, 200)
        session.path = "/mcp"
        self.assertEqual(session.request("ping").status, 404)
        self.refusal(server.initialize(path="/mcp/none"), 404, "profile")

    def test_idle_sessions_are_forgotten(self):  # R14
        server = self.http(manifest={"limits": {"session_idle": "5s", "sessions": 100, "sse_comment": "1s"}})
        idle, listening = server.legacy(), server.legacy()
        stream = listening.open()
        for _ in range(8):  # time passes, as the stream tells
            stream.wait_comment()
        self.assertEqual(idle.request("ping").status, 404)
        self.assertEqual(listening.request("ping").status, 200)
        stream.close()
        timer = server.listen(toolsListChanged=True)
        for _ in range(8):
            timer.wait_comment()
        self.assertEqual(listening.request("ping").status, 404)

    def test_a_full_house(self):  # R14: nobody is sent away for one who has as many
        server = self.http(manifest={"limits": {"sessions": 30, "sessions_per_principal": 4}})
        idle = [server.legacy() for _ in range(4)]
        for _ in range(5):
            reply = self.refusal(server.initialize(), 429, "DELETE", "limits.sessions_per_principal")
            self.assertEqual(reply.header("retry-after"), "10")
        self.refusal(server.get("/sse", [("Accept", EVENTS)]), 429, "DELETE")
        self.assertEqual([session.request("ping").status for session in idle], [200] * 4)
        idle[0].delete()
        self.assertEqual(server.legacy().request("ping").status, 200)

    def test_a_full_house_and_another_address(self):  # it gets as many as the first one, and no more
        server = self.http(manifest={"limits": {"sessions_per_principal": 4}})
        idle = [server.legacy() for _ in range(4)]
        here = server.connection
        server.connection = lambda **options: here(source="127.0.0.2", **options)
        guests = [server.legacy() for _ in range(2)]
        self.refusal(server.initialize(), 429, "DELETE")
        self.assertEqual([session.request("ping").status for session in guests], [200] * 2)
        server.connection = here
        self.assertEqual([session.request("ping").status for session in idle], [404, 404, 200, 200])
        self.refusal(server.initialize(), 429, "DELETE")
        idle[2].delete()
        self.assertEqual(server.legacy().request("ping").status, 200)

    def test_a_full_hub(self):
        server = self.http(manifest={"limits": {"sessions": 2}})
        sessions = [server.legacy(), server.legacy()]
        streams = [session.open() for session in sessions]
        self.refusal(server.initialize(), 503, "sessions")
        self.refusal(server.get("/sse", [("Accept", EVENTS)]), 503, "sessions")
        self.assertEqual(server.modern("tools/list").status, 200)  # has none
        self.assertEqual(len(streams), 2)


class Streams(LegacyTest):
    def test_the_stream_of_a_session(self):
        recorder, server = self.with_recorder()
        for revision in STREAMABLE:
            session = server.legacy(revision)
            stream = session.open()
            if revision >= POLLING:  # an id and empty data, to prime the client
                event = stream.next()
                self.assertEqual((event.id, event.data, event.retry), ("0-0", "", "500"))
            session.call("enable_toolset", {"toolset": "a"})
            event = stream.next()
            self.assertEqual((event.id, event.name, event.message.method), ("0-1", "message", LIST_CHANGED))
            server.check(event.message, revision)
            session.call("disable_toolset", {"toolset": "a"})
            self.assertEqual(stream.next().id, "0-2")
            session.delete()
            self.assertIsNone(stream.next())

    def test_the_stream_of_a_session_has_to_be_wanted(self):
        session = self.http().legacy()
        for accept in ("application/json", "text/html", "text/event-stream;q=0"):
            self.refusal(session.get(headers={"Accept": accept}), 406, EVENTS)
        self.assertEqual(session.open(headers={"Accept": None}).head.status, 200)

    def test_a_second_stream_takes_over(self):  # one message, one stream: Multiple Connections
        recorder, server = self.with_recorder()
        session = server.legacy("2025-06-18")
        first = session.open()
        second = session.open()
        self.assertIsNone(first.next())
        session.call("enable_toolset", {"toolset": "a"})
        self.assertEqual(second.message().method, LIST_CHANGED)

    def test_what_happened_before_the_stream_was_opened(self):
        recorder, server = self.with_recorder()
        session = server.legacy("2025-06-18")
        probe = server.listen(toolsListChanged=True)
        session.call("enable_toolset", {"toolset": "a"})
        probe.message()
        self.assertEqual(session.open().message().method, LIST_CHANGED)
        again = session.open()  # once is enough
        session.call("disable_toolset", {"toolset": "a"})
        self.assertEqual(again.next().id, "0-2")

    def test_progress_and_its_answer_on_the_stream_of_the_call(self):
        recorder, server = self.with_recorder()
        for revision in STREAMABLE:
            session = server.legacy(revision)
            quiet = session.open()
            reply = session.call("up__progress", meta={"progressToken": 9})
            self.assertTrue(reply.is_stream)
            self.assertEqual(reply.header("x-accel-buffering"), "no")
            self.assertEqual([m.method for m in reply.messages], ["notifications/progress"] * 3 + [None])
            text = reply.body.decode()
            self.assertEqual('data: \n\n' in text, revision >= POLLING)
            self.assertEqual("retry: 500\n" in text, revision >= POLLING)
            self.assertFalse(session.call("up__progress").is_stream)
            session.delete()
            while event := quiet.next():  # nothing of the call; that the server's tools are known now, perhaps
                self.assertIn(event.data and event.message.method, ("", LIST_CHANGED))

    def test_three_streams_at_a_time(self):  # Multiple Connections
        recorder, server = self.with_recorder()
        session = server.legacy()
        calls = [self.hold(recorder, session, n) for n in range(3)]
        for step, (_, _, progress) in enumerate(calls):
            progress(step + 1)
        streams = [Stream(connection) for connection, _, _ in calls]
        for step, stream in enumerate(streams):
            self.assertEqual(stream.message().params, {"progressToken": step, "progress": step + 1})
        for (_, line, _), stream in zip(reversed(calls), reversed(streams)):
            recorder.answer(line)
            self.assertIn("result", stream.message().data)
            self.assertIsNone(stream.next())

    def test_hanging_up_cancels_nothing(self):  # Sending Messages, 6
        recorder, server = self.with_recorder()
        session = server.legacy()
        connection, line, progress = self.hold(recorder, session)
        progress(1)
        stream = Stream(connection)
        while not (event := stream.next()).data:
            pass
        stream.close()
        session.request("ping")
        progress(2)
        recorder.answer(line)
        self.assertEqual([m for m in recorder.sync().lines() if "cancelled" in m], [])
        rest = session.open(event.id)
        self.assertEqual(rest.message().params["progress"], 2)
        self.assertIn("result", rest.message().data)
        self.assertIsNone(rest.next())

    def test_coming_back_while_the_call_goes_on(self):  # Resumability and Redelivery
        recorder, server = self.with_recorder()
        session = server.legacy()
        connection, line, progress = self.hold(recorder, session)
        progress(1)
        progress(2)
        stream = Stream(connection)
        events = [stream.next() for _ in range(3)]
        number = events[0].id.split("-")[0]
        self.assertEqual([event.id for event in events], [f"{number}-{n}" for n in range(3)])
        resumed = session.open(events[1].id)  # the first connection may hang, who knows
        self.assertIsNone(stream.next())
        event = resumed.next()
        self.assertEqual((event.id, event.data), (events[1].id, ""))
        self.assertEqual(resumed.next().message.params["progress"], 2)
        progress(3)
        self.assertEqual(resumed.next().message.params["progress"], 3)
        recorder.answer(line)
        self.assertIn("result", resumed.message().data)
        self.assertIsNone(resumed.next())
        whole = session.open(f"{number}-0")  # all of it is still kept
        self.assertEqual([whole.message().params["progress"] for _ in range(3)], [1, 2, 3])
        self.assertIn("result", whole.message().data)
        self.assertIsNone(whole.next())

    def test_a_stream_replays_its_own_events_only(self):
        recorder, server = self.with_recorder()
        session = server.legacy("2025-06-18")
        own = session.open()
        session.call("enable_toolset", {"toolset": "a"})
        own.next()
        connection, line, progress = self.hold(recorder, session)
        progress(1)
        stream = Stream(connection)
        first = stream.next()
        session.call("disable_toolset", {"toolset": "a"})
        own.next()
        own.close()
        progress(2)
        stream.next()
        self.assertEqual(session.open("0-0").next().id, "0-1")
        resumed = session.open(first.id)
        self.assertEqual(resumed.next().message.params["progress"], 2)

    def test_ids_that_were_never_given_out(self):
        server = self.http()
        session = server.legacy()
        for name in ("x", "0", "-1", "0-", "0-01", "00-1", "0-1 ", "1-1-1", "99999999999-1", "0-99999999999999999999"):
            with self.subTest(name=name):
                if name == "0-1 ":
                    name = "0 -1"
                self.refusal(session.get(name), 400, "Last-Event-ID")
        for name in ("0-1", "7-0", "1-0"):
            self.refusal(session.get(name), 405, "Last-Event-ID")

    def test_what_is_kept_is_bounded(self):
        recorder, server = self.with_recorder(limits={"replay_events": 2})
        session = server.legacy()
        connection, line, progress = self.hold(recorder, session)
        for step in range(1, 5):
            progress(step)
        stream = Stream(connection)
        events = [stream.next() for _ in range(5)]
        stream.close()
        resumed = session.open(events[0].id)
        self.assertEqual([resumed.message().params["progress"] for _ in range(2)], [3, 4])

    def test_cancelling_ends_the_stream_of_the_call(self):
        recorder, server = self.with_recorder()
        session = server.legacy()
        for has_begun in (False, True):
            since = recorder.mark
            connection, line, progress = self.hold(recorder, session, f"token {has_begun}")
            if has_begun:
                progress(1)
                stream = Stream(connection)
                stream.message()
            request_id = server.next_id
            self.assertEqual(session.notify("notifications/cancelled", {"requestId": request_id}).status, 202)
            recorder.wait_line(lambda m: m.get("method") == "notifications/cancelled", since=since)
            if has_begun:
                self.assertIsNone(stream.next())
            else:
                reply = connection.reply()
                self.assertEqual((reply.is_stream, reply.messages), (True, []))
            self.assertEqual(connection.send(render("GET", "/healthz")).reply("GET").status, 200)

    def test_only_its_own_session_cancels_a_call(self):  # P17
        recorder, server = self.with_recorder()
        mine, other = server.legacy(), server.legacy()
        connection, line, progress = self.hold(recorder, mine)
        request_id = server.next_id
        other.notify("notifications/cancelled", {"requestId": request_id})
        mine.notify("notifications/cancelled", {"requestId": str(request_id)})
        recorder.answer(line)
        self.assertIn("result", connection.reply().message.data)

    def test_the_end_of_a_session_ends_its_calls(self):
        recorder, server = self.with_recorder()
        session = server.legacy()
        silent, line, _ = self.hold(recorder, session)
        loud, _, progress = self.hold(recorder, session)
        progress(1)
        stream = Stream(loud)
        stream.message()
        self.assertEqual(session.delete().status, 204)
        self.refusal(silent.reply(), 404, "session")
        self.assertIsNone(stream.next())
        recorder.wait_until(lambda: sum("cancelled" in text for text in recorder.lines()) == 2, "two cancellations")

    def test_sessions_end_with_the_hub(self):
        recorder, server = self.with_recorder()
        session = server.legacy()
        stream = session.open()
        connection, _, _ = self.hold(recorder, session)
        server.hub.finish()
        while stream.next():
            pass
        reply = connection.reply()
        self.assertTrue("error" in reply.message.data or reply.message.result["isError"])


class Batches(LegacyTest):
    def setUp(self):
        super().setUp()
        self.recorder_, self.server = self.with_recorder()

    def test_only_2025_03_26_has_them(self):
        for revision in STREAMABLE:
            session = self.server.legacy(revision)
            reply = session.post([session.message("ping")])
            if revision == "2025-03-26":
                self.assertEqual((reply.status, reply.header("content-type")), (200, JSON))
            else:
                self.error(reply, 400, INVALID_REQUEST)

    def test_answers_come_together(self):
        session = self.server.legacy("2025-03-26")
        batch = [
            session.message("ping", request_id="a"),
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            session.message("no/such", request_id="b"),
            session.message("tools/call", {"name": "up__echo", "arguments": {}}, request_id="c"),
            {"jsonrpc": "2.0", "id": "d"},
            {"jsonrpc": "2.0", "id": 5, "result": {}},
            [],
        ]
        reply = session.post(batch)
        self.assertEqual((reply.status, reply.header("content-type")), (200, JSON))
        answers = {json.dumps(answer.get("id")): answer for answer in json.loads(reply.body)}
        self.assertEqual(set(answers), {'"a"', '"b"', '"c"', '"d"', "null"})
        self.assertEqual(answers['"b"']["error"]["code"], METHOD_NOT_FOUND)
        self.assertEqual(answers['"d"']["error"]["code"], INVALID_REQUEST)

    def test_nothing_to_answer(self):
        session = self.server.legacy("2025-03-26")
        note = {"jsonrpc": "2.0", "method": "notifications/initialized"}
        self.assertEqual(session.post([note, note]).status, 202)
        self.assertEqual(session.post([{"jsonrpc": "2.0", "id": 1, "result": {}}]).status, 202)
        self.error(session.post([]), 400, INVALID_REQUEST)
        many = [session.message("ping", request_id=n) for n in range(256)]
        self.assertEqual(len(json.loads(session.post(many).body)), 256)
        self.error(session.post([*many, session.message("ping")]), 400, INVALID_REQUEST)

    def test_a_batch_that_becomes_a_stream(self):
        session = self.server.legacy("2025-03-26")
        progress = {"name": "up__progress", "arguments": {}, "_meta": {"progressToken": 1}}
        batch = [session.message("ping", request_id="p"), session.message("tools/call", progress, request_id="c")]
        reply = session.post(batch)
        self.assertTrue(reply.is_stream)
        events = [event for event in reply.body.decode().split("\n\n") if event]
        self.assertEqual(sum("notifications/progress" in event for event in events), 3)
        answers = json.loads(events[-1].split("data: ", 1)[1])
        self.assertEqual({answer["id"] for answer in answers}, {"p", "c"})

    def test_a_batch_with_a_request_that_is_cancelled(self):
        session = self.server.legacy("2025-03-26")
        hold = {"name": "up__hold", "arguments": {}}
        batch = [session.message("ping", request_id="p"), session.message("tools/call", hold, request_id="c")]
        connection = self.server.connection().send(session.post_bytes(batch))
        self.recorder_.wait_calls(1)
        session.notify("notifications/cancelled", {"requestId": "p"})  # was answered: nothing happens
        session.notify("notifications/cancelled", {"requestId": "c"})
        self.assertEqual([answer["id"] for answer in json.loads(connection.reply().body)], ["p"])

    def test_no_initialize_within(self):
        message = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-03-26", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}}
        self.error(self.server.post([message], {"Accept": BOTH}), 400, INVALID_REQUEST)


if __name__ == "__main__":
    main()
