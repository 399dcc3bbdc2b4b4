#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A replica that ends leaves its sessions to the others (docs/SCALE.md, Behind a balancer)."""

import json
import signal
import socket
import threading

from http_client import render
from mcp import LIST_CHANGED, fixture, main
from ports import port_of, reserve
from replica_sessions import STREAMABLE, TOOLSETS, At, Balanced, Replicas, Three
from state_shared import Shared
from upstream_subscriptions import ONE, UPDATED


class Moves(Replicas, Shared):
    LIMITS = {"drain_timeout": "5m"}  # none of these tests waits for it

    def replica(self, more=None, **options):
        shared = {"hub": {"name": "home"}, "state": {"url": self.valkey.url}, "limits": self.LIMITS}
        return super().replica(more={**shared, **(more or {})}, **options)

    def term(self, server):
        server.hub.process.send_signal(signal.SIGTERM)
        server.hub.wait_log("hub.stopping")

    def end(self, server):
        self.term(server)
        self.assertEqual(server.hub.wait_exit(), 0)

    def records(self):
        return self.valkey.say("HKEYS patchbay:state:records").count("session")

    def assertServed(self, session, *places):
        for where in places:
            reply = At(session, where).call("set__tool0")
            self.assertEqual(reply.status, 200, reply)
            self.assertNotIn("error", reply.message.data)

    def assertLost(self, session, *places):
        for where in places:
            reply = At(session, where).request("ping")
            self.assertEqual(reply.status, 404, reply)
            self.assertSays(reply.message.error["message"], "initialize")


class Idle(Moves):
    def test_a_session_goes_on_wherever_its_client_is_sent(self):
        home, other, third = (self.replica() for _ in range(3))
        sessions = [home.legacy(revision) for revision in STREAMABLE]
        self.end(home)
        self.assertEqual(self.records(), len(sessions))
        for session in sessions:
            self.assertServed(session, other, third, other)  # who is asked first has it
        self.end(other)
        for session in sessions:
            self.assertServed(session, third)
            self.assertEqual(At(session, third).delete().status, 204)
            self.assertLost(session, third)
        third.hub.wait_until(lambda: self.records() == 0, "the end of the records")

    def test_two_ask_for_it_at_once(self):
        home, *others = (self.replica() for _ in range(3))
        sessions = [home.legacy() for _ in range(8)]
        self.end(home)
        for session in sessions:
            connections = [where.connection() for where in others for _ in range(2)]
            for number, connection in enumerate(connections):
                connection.send(session.post_bytes(session.message("ping", request_id=number)))
            for number, connection in enumerate(connections):
                reply = connection.reply()
                self.assertEqual((reply.status, reply.message.id), (200, number))
            self.assertEqual(At(session, others[0]).delete().status, 204)
            self.assertLost(session, *others)  # one had it, and no other

    def test_a_client_that_does_not_come_is_forgotten(self):
        home, other = self.replica(), self.replica(more={"limits": {**self.LIMITS, "session_idle": "1s"}})
        session = home.legacy()
        self.end(home)
        other.hub.wait_until(lambda: self.records() == 0, "the end of the record")
        self.assertLost(session, other)

    def test_it_is_nobody_elses(self):
        file, tokens = self.home / "tokens.json", {}
        for name in ("ann", "bob"):
            done = self.cli("token", "new", name, "--tokens", file, modules=False)
            tokens[name] = {"Authorization": f"Bearer {done.stdout.strip()}"}
        home, other = self.pair(more={"auth": {"tokens": str(file)}})
        session = home.legacy(headers=tokens["ann"])
        self.end(home)
        session.common = tokens["bob"]
        self.assertLost(session, other)
        session.common = tokens["ann"]
        self.assertServed(session, other)


class What(Moves):
    """What a session has goes with it."""

    def test_subscriptions_level_and_the_event_stream(self):
        recorders = self.recorder(), self.recorder()
        home, other = (self.replica(toolsets={"up": recorder.toolset("--content")}) for recorder in recorders)
        recorder = recorders[1]
        session = home.legacy()
        for method, params in (
            ("tools/list", None), ("resources/list", None), ("logging/setLevel", {"level": "error"}),
            ("resources/subscribe", {"uri": ONE}),
        ):
            self.assertNotIn("error", session.request(method, params).message.data, method)
        stream = session.open()
        self.end(home)
        while stream.next():  # until it ends: its client comes back, elsewhere
            pass
        stream = At(session, other).open()
        recorder.wait_line(lambda m: m.get("method") == "resources/subscribe")
        recorder.command(updated=ONE)
        seen = []
        while UPDATED not in seen:
            seen.append(stream.message().method)
        self.assertLessEqual(set(seen), {UPDATED, LIST_CHANGED, "notifications/resources/list_changed", "notifications/prompts/list_changed"})

    def test_events_are_counted_on(self):
        home, other = self.pair()
        session = home.legacy("2025-11-25")
        session.request("tools/list")
        stream = session.open()
        session.call("enable_toolset", {"toolset": "beta"})
        event = stream.next()
        while not event.data:
            event = stream.next()
        self.end(home)
        stream = At(session, other).open(event.id)
        news = stream.next()
        while not news.data:
            news = stream.next()
        self.assertGreater(int(news.id.split("-")[1]), int(event.id.split("-")[1]))
        self.assertEqual(json.loads(news.data)["method"], LIST_CHANGED)  # it may have missed one

    def test_what_cannot_move_is_told_to_begin_anew(self):
        home, other = self.pair(toolsets={**TOOLSETS, "own": fixture("one", sharing="session")})
        session, bound = home.legacy(), home.legacy()
        self.assertNotIn("error", bound.call("own__one").message.data)
        self.end(home)
        self.assertServed(session, other)
        self.assertLost(bound, other)


class AtWork(Moves):
    def test_calls_end_first(self):
        recorder = self.recorder()
        home, other = self.replica(toolsets={"up": recorder.toolset(), **TOOLSETS}), self.replica()
        session = home.legacy()
        since = recorder.mark
        here = At(session, other)
        connection = other.connection().send(here.post_bytes(here.message("tools/call", {"name": "up__hold", "arguments": {}}, request_id=7)))
        line = recorder.wait_line(lambda m: m.get("method") == "tools/call", since=since)
        idle = home.legacy()
        self.term(home)
        home.hub.wait_until(lambda: self.records() == 1, "the idle session's record")
        self.assertServed(idle, other)
        self.assertServed(session, other)  # by its home, which is still there
        recorder.answer(line, '"content":[]')
        self.assertEqual(connection.reply().message.id, 7)
        self.assertEqual(home.hub.wait_exit(), 0)
        self.assertServed(session, other)

    def test_the_balancer_has_time_to_notice(self):
        home, other = self.replica(leave="5m"), self.replica()
        kept = [home.connection() for _ in range(2)]
        for connection in kept:
            self.assertEqual(connection.send(render("GET", "/readyz")).reply("GET").status, 200)
        session = home.legacy()
        self.term(home)
        reply = kept[0].send(render("GET", "/readyz")).reply("GET")
        self.assertEqual((reply.status, reply.header("connection")), (503, "close"))
        reply = kept[1].send(session.post_bytes(session.message("tools/call", {"name": "set__tool0", "arguments": {}}))).reply()
        self.assertEqual((reply.status, reply.header("connection")), (200, "close"))
        self.assertServed(session, home, other)  # new connections are taken, too
        self.assertServed(home.legacy(), other)
        home.hub.exit_code = 128 + signal.SIGTERM
        home.hub.process.send_signal(signal.SIGTERM)  # a second one does not wait
        home.hub.wait_exit()


class Without(Moves):
    def test_the_store_is_gone(self):
        home, other = self.pair()
        session = home.legacy()
        self.valkey.kill()
        self.end(home)
        self.assertIn("session.not_moved", home.hub.log)
        self.assertLost(session, other)

    def test_a_home_that_was_killed_leaves_nothing(self):
        home, other = self.pair()
        session = home.legacy()
        home.hub.exit_code = -signal.SIGKILL
        home.hub.kill()
        home.hub.wait_exit()
        self.assertLost(session, other)


class Planted(Moves):
    """Somebody else writes into the store."""

    def rewrite(self, change):
        """The record of the one session."""
        exported = self.cli("state", "export", manifest=self.manifest(), modules=False).stdout.splitlines()
        (record,) = [record for record in map(json.loads, exported[1:]) if record["kind"] == "session"]
        change(record["document"])
        done = self.cli("state", "import", "-", "--replace", manifest=self.manifest(), modules=False,
                        stdin="\n".join([exported[0], json.dumps(record)]) + "\n")
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_a_record_of_another_version(self):
        home, other = self.pair()
        session = home.legacy()
        self.end(home)
        self.rewrite(lambda document: document.update(format=document["format"] + 1))
        self.assertLost(session, other)
        other.hub.wait_log("session.not_taken")

    def test_an_address_that_is_no_peer_is_not_dialled(self):
        home, other = self.pair()
        session = home.legacy()
        self.end(home)
        with socket.create_server(("127.0.0.2", 0)) as stranger:
            self.rewrite(lambda document: document.update(home="127.0.0.2", port=stranger.getsockname()[1]))
            self.assertLost(session, other)
            stranger.setblocking(False)
            with self.assertRaises(BlockingIOError):
                stranger.accept()

    def test_no_tool_is_called_by_it(self):
        recorder = self.recorder()
        home, other = self.replica(), self.replica(toolsets={"up": recorder.toolset(), **TOOLSETS})
        session = home.legacy()
        self.end(home)
        call = {"jsonrpc": "2.0", "id": 9, "method": "tools/call", "params": {"name": "up__echo", "arguments": {}}}
        self.rewrite(lambda document: document["messages"].append(call))
        self.assertServed(session, other)
        self.assertNotIn("error", At(session, other).call("up__echo", {"n": 1}).message.data)
        self.assertEqual(len(recorder.sync().lines("tools/call")), 1)


class Rolled(Three):
    """Two of three are restarted, one after the other, while clients go on calling: sessions move twice, and to a
    replica that has the address of their first home. tests/npm/replicas_roll.test.mjs restarts all."""

    def three(self):
        self.places = [self.place() for _ in range(3)]
        return [self.start(place) for place in self.places]

    def place(self):
        """A port for clients and one for replicas, which are there when it is started again."""
        reserved = reserve(), reserve()
        for one in reserved:
            self.addCleanup(one.close)
        return [port_of(one) for one in reserved]

    def start(self, place):
        replicas = {"key_file": str(self.keys), "listen": f"127.0.0.1:{place[1]}", "peers": ["127.0.0.1"], "leave": "2s"}
        manifest = {
            "hub": {"name": "home"}, "state": {"url": self.valkey.url}, "toolsets": TOOLSETS, "replicas": replicas,
            "limits": {"drain_timeout": "5m"},
        }
        return self.http(manifest=manifest, address=f"127.0.0.1:{place[0]}")

    def roll(self, at):
        self.servers[at].hub.process.send_signal(signal.SIGTERM)
        self.assertEqual(self.servers[at].hub.wait_exit(), 0)
        self.servers[at] = self.start(self.places[at])

    def go_on(self, make, over, seen, failures):
        """One client, until it is over: what has failed."""
        try:
            call = make()
            while not over.is_set():
                reply = call()
                seen.append(reply.status)
                if reply.status != 200 or "error" in reply.answer.data:
                    failures.append(repr(reply))
        except Exception as error:  # pylint: disable=broad-exception-caught
            failures.append(repr(error))

    def clients(self, over, seen, failures):
        """Each has a session, or none, and a connection for each call."""

        def legacy():
            session = Balanced(self, self.front.port).legacy()
            return lambda: session.call("set__tool0")

        def modern():
            server = Balanced(self, self.front.port)
            return lambda: server.call("set__tool0")

        for make in (legacy, legacy, legacy, modern):
            client = threading.Thread(target=self.go_on, args=(make, over, seen, failures))
            client.start()
            yield client

    def test_no_call_fails_and_no_session_is_lost(self):
        over, seen, failures = threading.Event(), [], []
        clients = list(self.clients(over, seen, failures))
        try:
            for at in range(2):
                self.roll(at)
        finally:
            over.set()
            for client in clients:
                client.join()
        self.assertEqual(failures, [])
        self.assertGreater(len(seen), 12)


if __name__ == "__main__":
    main()
