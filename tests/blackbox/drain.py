# SPDX-License-Identifier: Apache-2.0
"""How a hub ends that has calls in flight: it takes nothing new, lets them end, and says goodbye (L01, L02, L03,
L05; S01)."""

import contextlib
import json
import os
import signal
import socket

from evil_websocket import TEXT, UPGRADE, WebSocket, call, frame
from http_client import Server, Stream, dump, render
from listen import Lines
from mcp import LEGACY, META, TIMEOUT, HubTest, LegacyClient, Message, ModernClient, fixture, main

SHUTTING_DOWN = -31004
LONG = {"limits": {"drain_timeout": "10m"}}  # longer than the tests: it ends because nothing is owed


class DrainTest(HubTest):
    def setUp(self):
        super().setUp()
        self.recorder_ = self.recorder()

    def draining(self, *args, limits=None, **options):
        """A hub that listens on HTTP and a Unix socket, in front of the recorder."""
        self.server_hub = hub = self.daemon(
            "--http", 0, "--unix", "hub.sock", *args, toolsets={"up": self.recorder_.toolset()},
            manifest={"limits": limits} if limits else LONG, **options,
        )
        hub.listening(2)
        return Server(self, hub)

    def held(self, count):
        """The calls that the server holds, by the text of their argument `who`."""
        return {json.loads(line)["params"]["arguments"]["who"]: line for line in self.recorder_.wait_calls(count)}

    def answer(self, line, text="done"):
        self.recorder_.answer(line, '"content":[{"type":"text","text":%s}]' % json.dumps(text))

    def check_refused(self, message, request_id=None):
        """A request that came too late: an error that says to try again."""
        self.assertEqual(message.code, SHUTTING_DOWN)
        self.assertEqual(message.error["data"], {"retryable": True})
        self.assertIn("try again", message.error["message"])
        if request_id is not None:
            self.assertEqual(message.id, request_id)

    def stop(self, hub, number=signal.SIGTERM):
        hub.signal(number) if hasattr(hub, "is_told") else hub.process.send_signal(number)
        hub.wait_log("hub.stopping reason=signal")

    def answered(self, stream):
        """The next message of a stream that is no notification."""
        return next(m for m in iter(stream.message, None) if m.method is None)


class Calls(DrainTest):
    def lines(self):
        """A client on the Unix socket."""
        client = Lines(self.home / "hub.sock")
        self.addCleanup(client.close)
        return client

    def test_each_transport_gets_its_answers(self):  # L01
        server = self.draining()
        modern = server.connection()
        modern.send(server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {"who": "modern"}}))
        session = server.legacy()
        legacy = server.connection()
        legacy.send(session.post_bytes(session.message("tools/call", {"name": "up__hold", "arguments": {"who": "legacy"}})))
        websocket = WebSocket(server)
        websocket.send(frame(TEXT, call("w", "up__hold", who="websocket")))
        lines = self.lines()
        lines.send("tools/call", name="up__hold", arguments={"who": "unix"})
        held = self.held(4)
        self.stop(server.hub)
        for who in held:
            self.answer(held[who], who)
        for reply in (modern.reply(), legacy.reply()):
            self.assertEqual(reply.status, 200)
        self.assertEqual(websocket.message().result["content"][0]["text"], "websocket")
        self.assertEqual(lines.receive()["result"]["content"][0]["text"], "unix")
        self.assertEqual(websocket.closed(), 1001)
        self.assertIsNone(lines.receive())
        self.assertEqual(server.hub.wait_exit(), 0)
        self.assertNotIn("calls_cut_off", server.hub.log)

    def test_nothing_new_is_taken(self):  # L01
        server = self.draining()
        lines, websocket, session = self.lines(), WebSocket(server), server.legacy()
        lines.send("tools/call", name="up__hold", arguments={"who": "last"})
        held = self.held(1)
        kept = [server.connection() for _ in range(6)]
        for connection in kept:
            connection.send(render("GET", "/healthz")).reply("GET")
        self.stop(server.hub)
        initialize = {"jsonrpc": "2.0", "id": 7, "method": "initialize", "params": {
            "protocolVersion": LEGACY[0], "capabilities": {}, "clientInfo": {"name": "late", "version": "1"}}}
        post = [("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
        late = [
            (server.modern_bytes("tools/list"), "POST"),
            (session.post_bytes({"jsonrpc": "2.0", "id": 7, "method": "tools/list"}), "POST"),
            (render("POST", "/mcp", post, dump(initialize)), "POST"),
            (render("GET", "/sse", [("Accept", "text/event-stream")]), "GET"),
            (render("GET", "/ws", UPGRADE), "GET"),
        ]
        for connection, (request, method) in zip(kept, late):
            reply = connection.send(request).reply(method)
            self.assertEqual(reply.status, 503, request)
            self.assertEqual(reply.header("connection"), "close")
            self.assertEqual(reply.header("retry-after"), "1")
            self.check_refused(reply.message)
            connection.wait_closed()
        reply = kept[5].send(render("GET", "/readyz")).reply("GET")
        self.assertEqual(reply.status, 503)
        self.check_refused(websocket.ask(call(9)), 9)
        self.check_refused(Message(json.dumps(lines.request("tools/list"))), 2)
        with self.assertRaises(ConnectionRefusedError):
            socket.create_connection(("127.0.0.1", server.port))
        self.assertFalse((self.home / "hub.sock").exists())
        self.answer(held["last"])
        self.assertEqual(lines.receive()["id"], 1)
        self.assertEqual(server.hub.wait_exit(), 0)

    def test_many_calls(self):  # L01
        server = self.draining(limits={"drain_timeout": "10m", "calls_per_session": 1000})
        lines = self.lines()
        for n in range(500):
            lines.send("tools/call", name="up__hold", arguments={"who": n})
        held = self.held(500)
        self.stop(server.hub)
        for n in range(500):
            self.answer(held[n], str(n))
        answers = [lines.receive() for _ in range(500)]
        self.assertEqual({int(a["result"]["content"][0]["text"]) + 1 for a in answers}, {a["id"] for a in answers})
        self.assertIsNone(lines.receive())
        self.assertEqual(server.hub.wait_exit(), 0)

    def test_progress_questions_and_cancels_go_on(self):
        recorder = self.recorder_
        hub = self.hub(toolsets={"up": recorder.toolset("--content")}, manifest=LONG)
        hub.answers["sampling/createMessage"] = lambda params: {
            "role": "assistant", "content": {"type": "text", "text": "42"}, "model": "m"}
        client = LegacyClient(hub, capabilities={"sampling": {}})
        asks = client.send_call("up__hold", {"who": "asks"}, meta={"progressToken": "t"})
        cancelled = client.send_call("up__hold", {"who": "cancelled"})
        held = self.held(2)
        self.stop(hub)
        self.check_refused(client.request("ping"))
        client.cancel(cancelled)
        recorder.wait_request("notifications/cancelled")
        token = json.loads(held["asks"])["params"]["_meta"]["progressToken"]
        recorder.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress",
                                   "params": {"progressToken": token, "progress": 1}}))
        hub.wait_for(lambda m: m.method == "notifications/progress", "progress")
        recorder.write(json.dumps({"jsonrpc": "2.0", "id": "q", "method": "sampling/createMessage", "params": {
            "messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 5}}))
        recorder.wait_line(lambda m: m.get("id") == "q" and m["result"]["content"]["text"] == "42", "the answer")
        self.answer(held["asks"])
        self.assertEqual(hub.response(asks).result["content"][0]["text"], "done")
        self.assertEqual(hub.wait_exit(), 0)

    def test_what_takes_too_long_is_cut_off(self):  # L01
        hub = self.hub(toolsets={"up": self.recorder_.toolset()}, manifest={"limits": {"drain_timeout": "300ms"}})
        client = LegacyClient(hub)
        ids = [client.send_call("up__hold", {"who": n}) for n in range(3)]
        self.held(3)
        self.stop(hub)
        for request_id in ids:
            failure = hub.response(request_id).tool_error
            self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_UNAVAILABLE", True))
            self.assertIn("shutting down", failure["message"])
        hub.wait_log("hub.calls_cut_off calls=3 drain_timeout_ms=300")
        self.assertEqual(hub.wait_exit(), 0)

    def test_no_time_to_drain(self):
        hub = self.hub(toolsets={"up": self.recorder_.toolset()}, manifest={"limits": {"drain_timeout": "0s"}})
        client = LegacyClient(hub)
        held = client.send_call("up__hold", {"who": 0})
        self.held(1)
        self.stop(hub)
        self.assertIn("shutting down", hub.response(held).tool_error["message"])
        self.assertEqual(hub.wait_exit(), 0)

    def test_large_answers_are_read_to_their_end(self):
        server = self.draining()
        modern = server.connection()
        modern.send(server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {"who": "big"}}))
        line = self.held(1)["big"]
        self.stop(server.hub)
        text = "x" * 8_000_000  # more than sockets hold
        self.answer(line, text)
        self.recorder_.sync()
        self.assertIsNone(server.hub.process.poll())  # until somebody reads
        self.assertEqual(modern.reply().answer.result["content"][0]["text"], text)
        self.assertEqual(server.hub.wait_exit(), 0)


class Streams(DrainTest):
    def test_subscriptions_end_before_calls_do(self):  # L03
        hub = self.hub(toolsets={"up": self.recorder_.toolset()}, manifest=LONG)
        client = ModernClient(hub)
        first, second = client.listen(toolsListChanged=True), client.listen(toolsListChanged=True)
        held = client.send_call("up__hold", {"who": 0})
        line = self.held(1)[0]
        self.stop(hub)
        for subscription in (first, second):
            result = hub.response(subscription)
            self.assertEqual(result.result["resultType"], "complete")
            cancelled = hub.wait_for(lambda m, s=subscription: m.method == "notifications/cancelled"
                                     and m.params["requestId"] == s, "notifications/cancelled")
            self.assertLess(hub.messages.index(result), hub.messages.index(cancelled))
        self.answer(line)
        self.assertIn("result", hub.response(held).data)
        self.assertEqual(hub.wait_exit(), 0)

    def test_event_streams_end_whole(self):  # L01, L03
        server = self.draining()
        listens = server.listen(toolsListChanged=True)
        session = server.legacy()
        own = session.open()
        posted = server.connection()
        message = session.message("tools/call", {"name": "up__hold", "arguments": {"who": "streamed"},
                                                 "_meta": {"progressToken": "t"}})
        posted.send(session.post_bytes(message))
        line = self.held(1)["streamed"]
        token = json.loads(line)["params"]["_meta"]["progressToken"]
        self.stop(server.hub)
        self.assertEqual(self.answered(listens).result["_meta"][META + "subscriptionId"], 1)
        self.assertIsNone(listens.next())
        listens.connection.wait_closed()
        self.recorder_.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress",
                                         "params": {"progressToken": token, "progress": 1}}))
        self.answer(line, "the end")
        reply = posted.reply()
        self.assertEqual({m.method for m in reply.messages[:-1]}, {"notifications/progress"})
        self.assertEqual(reply.messages[-2].params["progress"], 1)  # after what the hub itself may have told of a slow start
        self.assertEqual(reply.answer.result["content"][0]["text"], "the end")
        while own.next() is not None:  # whole events, and the last chunk
            pass
        self.assertEqual(server.hub.wait_exit(), 0)

    def test_the_first_transport(self):
        """HTTP+SSE of 2024-11-05: answers come on the stream, and it ends."""
        server = self.draining()
        connection = server.connection().send(render("GET", "/sse", [("Accept", "text/event-stream")]))
        stream = Stream(connection)
        path = stream.next().data
        post = [("Content-Type", "application/json")]

        def say(message):
            return server.ask("POST", path, post, dump(message))

        say({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {
            "protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "old", "version": "1"}}})
        self.assertEqual(self.answered(stream).id, 1)
        say({"jsonrpc": "2.0", "method": "notifications/initialized"})
        kept = server.connection()
        kept.send(render("GET", "/healthz")).reply("GET")
        say({"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {
            "name": "up__hold", "arguments": {"who": "old"}}})
        line = self.held(1)["old"]
        self.stop(server.hub)
        late = dump({"jsonrpc": "2.0", "id": 3, "method": "tools/list"})
        reply = kept.send(render("POST", path, post, late)).reply()
        self.assertEqual(reply.status, 503)
        self.check_refused(reply.message, 3)
        self.answer(line)
        self.assertIn("result", self.answered(stream).data)
        self.assertIsNone(stream.next())
        self.assertEqual(server.hub.wait_exit(), 0)


class Signals(DrainTest):
    def test_a_second_signal(self):  # L02
        for first, second in ((signal.SIGTERM, signal.SIGTERM), (signal.SIGTERM, signal.SIGINT),
                              (signal.SIGINT, signal.SIGINT), (signal.SIGINT, signal.SIGTERM)):
            recorder = self.recorder()
            hub = self.hub(toolsets={"up": recorder.toolset("--ignore-term", "--ignore-eof", "--child")},
                           manifest=LONG, exit_code=128 + second)
            client = LegacyClient(hub)
            client.send_call("up__hold", {"who": 0})
            recorder.wait_calls(1)
            hub.remember_descendants()
            flags = os.get_blocking(hub.process.stdin.fileno())
            self.stop(hub, first)
            self.check_refused(client.request("ping"))
            hub.process.send_signal(second)
            hub.finish()  # nothing that it started is left
            self.assertTrue(flags)

    def test_input_that_ends_while_it_drains(self):
        hub = self.hub(toolsets={"up": self.recorder_.toolset()}, manifest=LONG)
        client = LegacyClient(hub)
        held = client.send_call("up__hold", {"who": 0})
        self.held(1)
        self.stop(hub)
        hub.close_stdin()
        self.assertIn("shutting down", hub.response(held).tool_error["message"])
        self.assertEqual(hub.wait_exit(), 0)

    def test_others_are_waited_for_when_input_ends(self):  # S01
        hub = self.hub("--stdio", "--http", 0, toolsets={"up": self.recorder_.toolset()}, manifest=LONG)
        server = Server(self, hub)
        client = LegacyClient(hub)
        own = client.send_call("up__hold", {"who": "own"})
        other = server.connection()
        other.send(server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {"who": "other"}}))
        held = self.held(2)
        hub.close_stdin()
        self.assertIn("shutting down", hub.response(own).tool_error["message"])
        self.answer(held["other"])
        self.assertEqual(other.reply().answer.result["content"][0]["text"], "done")
        self.assertEqual(hub.wait_exit(), 0)

    def test_idle_hubs_end_at_once(self):
        server = self.draining()
        websocket, session = WebSocket(server), server.legacy()
        own = session.open()
        self.stop(server.hub)
        self.assertEqual(websocket.closed(), 1001)
        while own.next() is not None:
            pass
        self.assertEqual(server.hub.wait_exit(), 0)


class Listeners(DrainTest):
    """A listener that a reload closes ends as a hub does, for its clients alone."""

    def start(self, **limits):
        self.places = [{"http": "127.0.0.1:0"}, {"unix": str(self.home / "hub.sock")}]
        self.manifest = {"toolsets": {"up": self.recorder_.toolset()}, "listen": self.places, "limits": {**LONG["limits"], **limits}}
        hub = self.daemon(manifest=self.manifest)
        hub.listening(2)
        return Server(self, hub)

    def close_all(self, hub):
        """All that there were; another one is there instead."""
        other = self.home / "other.sock"
        fresh = self.home / ".new"
        fresh.write_text(json.dumps({**self.manifest, "listen": [{"unix": str(other)}]}), encoding="utf-8")
        fresh.rename(self.home / "patchbay.json")
        hub.wait_until(lambda: hub.log.count("listen.closed") == 2, "both are closed")
        lines = Lines(other)
        self.addCleanup(lines.close)
        return lines

    def test_calls_are_answered(self):
        server = self.start()
        modern = server.connection()
        modern.send(server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {"who": "modern"}}))
        session = server.legacy()
        own = session.open()
        legacy = server.connection()
        legacy.send(session.post_bytes(session.message("tools/call", {"name": "up__hold", "arguments": {"who": "legacy"}})))
        websocket = WebSocket(server)
        websocket.send(frame(TEXT, call("w", "up__hold", who="websocket")))
        lines = Lines(self.home / "hub.sock")
        self.addCleanup(lines.close)
        lines.send("tools/call", name="up__hold", arguments={"who": "unix"})
        held = self.held(4)
        other = self.close_all(server.hub)
        self.assertRaises(OSError, server.connection)
        self.assertIn("result", other.request("tools/list"))
        for who in held:
            self.answer(held[who], who)
        for reply, who in ((modern.reply(), "modern"), (legacy.reply(), "legacy")):
            self.assertEqual((reply.status, reply.answer.result["content"][0]["text"]), (200, who))
        self.assertEqual(websocket.message().result["content"][0]["text"], "websocket")
        self.assertEqual(lines.receive()["result"]["content"][0]["text"], "unix")
        self.assertEqual(websocket.closed(), 1001)
        self.assertIsNone(lines.receive())
        while own.next() is not None:  # to its last chunk
            pass
        self.assertIn("result", other.request("tools/list"))

    def test_calls_of_others_are_not_waited_for(self):
        server = self.start()
        session = server.legacy()
        own = session.open()
        other = self.close_all(server.hub)
        other.send("tools/call", name="up__hold", arguments={"who": "other"})
        held = self.held(1)
        while own.next() is not None:
            pass
        self.answer(held["other"], "late")
        self.assertEqual(other.receive()["result"]["content"][0]["text"], "late")

    def test_no_longer_than_that(self):
        server = self.start(drain_timeout="100ms")
        session = server.legacy()
        legacy = server.connection()
        legacy.send(session.post_bytes(session.message("tools/call", {"name": "up__hold", "arguments": {"who": "legacy"}})))
        self.held(1)
        other = self.close_all(server.hub)
        self.assertEqual(legacy.reply().status, 404)
        server.hub.wait_log("listen.calls_cut_off address=127.0.0.1")
        self.recorder_.wait_request("notifications/cancelled")
        self.assertIn("result", other.request("tools/list"))

    def test_the_hub_ends_meanwhile(self):
        server = self.start()
        session = server.legacy()
        legacy = server.connection()
        legacy.send(session.post_bytes(session.message("tools/call", {"name": "up__hold", "arguments": {"who": "legacy"}})))
        held = self.held(1)
        self.close_all(server.hub)
        self.stop(server.hub)
        self.answer(held["legacy"], "in time")
        self.assertEqual(legacy.reply().answer.result["content"][0]["text"], "in time")
        self.assertEqual(server.hub.wait_exit(), 0)


class Service(DrainTest):
    """The manager's side of sd_notify(3)."""

    def manager(self, abstract=False):
        path = f"\0patchbay-{os.getpid()}-{self.id()}" if abstract else str(self.home / "notify")
        manager = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(manager.close)
        manager.bind(path)
        manager.settimeout(TIMEOUT)
        return manager, path.replace("\0", "@")

    def test_ready_alive_stopping(self):  # L04, L05
        for abstract in (False, True):
            manager, name = self.manager(abstract)
            hub = self.daemon(toolsets={"alpha": fixture("one")}, manifest={"limits": {"drain_timeout": "2s"}},
                              env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "2000000"})
            self.assertEqual(manager.recv(4096), b"READY=1")
            hub.wait_log("listen.ready")
            for _ in range(3):
                self.assertEqual(manager.recv(4096), b"WATCHDOG=1")
            hub.close_stdin()
            said = b"WATCHDOG=1"
            while said == b"WATCHDOG=1":
                said = manager.recv(4096)
            self.assertEqual(said, b"STOPPING=1\nEXTEND_TIMEOUT_USEC=7000000")
            hub.finish()

    def test_a_watchdog_for_somebody_else(self):
        manager, name = self.manager()
        hub = self.daemon(toolsets={"alpha": fixture("one")}, manifest=LONG,
                          env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "1000", "WATCHDOG_PID": "1"})
        self.assertEqual(manager.recv(4096), b"READY=1")
        Server(self, hub).modern("tools/list")
        hub.finish()
        self.assertTrue(manager.recv(4096).startswith(b"STOPPING=1\n"))
        manager.setblocking(False)
        with contextlib.suppress(BlockingIOError):
            self.fail(f"it said {manager.recv(4096)!r}")

    def test_children_do_not_inherit_it(self):
        manager, name = self.manager()
        recorder = self.recorder()
        client = LegacyClient(self.hub(toolsets={"up": recorder.toolset(inherit_env=True)}, manifest=LONG,
                                       env={"NOTIFY_SOCKET": name, "WATCHDOG_USEC": "60000000", "SEEN": "yes"}))
        text = client.call("up__env").result["content"][0]["text"]
        self.assertIn("SEEN", text)
        self.assertNotIn("NOTIFY_SOCKET", text)
        self.assertNotIn("WATCHDOG", text)
        client.hub.finish()

    def test_a_manager_that_is_not_there(self):
        for name in (str(self.home / "nobody"), "relative", "@"):
            client = LegacyClient(self.hub(toolsets={"alpha": fixture("one")}, env={"NOTIFY_SOCKET": name}))
            client.hub.wait_log("service.not_told")
            self.assertIn("result", client.call("alpha__one").data)
            client.hub.finish()


if __name__ == "__main__":
    main()
