#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Sessions of handshake clients behind a balancer without stickiness: a replica passes requests of a session on to the
replica where it lives (replicas.listen, replicas.peers; docs/SCALE.md). No store is needed for that."""

import hashlib
import hmac
import json
import re
import secrets
import shutil
import signal
import subprocess
import time
import unittest

from http_client import EVENTS, Connection, HttpTest, Server, Session, Stream, dump, render
from mcp import INVALID_PARAMS, INVALID_REQUEST, LEGACY, LIST_CHANGED, fixture, main
from ports import port_of, reserve
from state_shared import Shared
from upstream_tasks import KNOWS, upstream

HAPROXY = """
defaults
    mode http
    option abortonclose
    option redispatch
    timeout connect 5s
    timeout check 60s
    timeout client 300s
    timeout server 300s
frontend front
    bind 127.0.0.1:{port}
    default_backend back
backend back
    balance roundrobin
    option httpchk GET /readyz
    default-server check inter 50 rise 1 fall 1
{servers}
"""
TOOLSETS = {"set": fixture(*(f"tool{i}" for i in range(3))), "beta": fixture("two", active=False)}
STREAMABLE = [revision for revision in LEGACY if revision >= "2025-03-26"]
PEER_PATH = "/patchbay/replica"


class Balanced(Server):
    """The balancer's port, used as a hub's."""

    def __init__(self, test, port):  # pylint: disable=super-init-not-called
        self.test, self.port, self.next_id = test, port, 0

    def connection(self, **options):
        connection = super().connection(**options)
        connection.SIZE = re.compile(rb"[0-9A-Fa-f]+")  # haproxy frames answers itself
        return connection


class At(Session):
    """The same session, asked at another replica."""

    def __init__(self, session, server):  # pylint: disable=super-init-not-called
        self.__dict__.update(session.__dict__)
        self.server = server


class Replicas(HttpTest):
    PEERS = ("127.0.0.1",)

    def setUp(self):
        super().setUp()
        self.key = secrets.token_hex(32)
        self.keys = self.home / "replicas.key"
        self.keys.write_text(self.key, encoding="utf-8")
        self.keys.chmod(0o600)

    def replica(self, toolsets=None, peers=PEERS, more=None, leave="0s", **options):
        """One of them: its port for the others is `peer_port`."""
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        replicas = {"key_file": str(self.keys), "listen": f"127.0.0.1:{port}", "peers": list(peers), "leave": leave}
        manifest = {"hub": {"remember": "none"}, "toolsets": toolsets or TOOLSETS, "replicas": replicas, **(more or {})}
        server = self.http(manifest=manifest, **options)
        server.peer_port = port
        return server

    def pair(self, **options):
        return self.replica(**options), self.replica(**options)


class PassedOn(Replicas):
    def test_all_of_a_session_works_at_another_replica(self):
        home, other = self.pair()
        for revision in STREAMABLE:
            session = At(home.legacy(revision), other)
            self.assertEqual(session.request("ping").message.result, {})
            reply = session.call("set__tool0")
            self.assertEqual(reply.status, 200)
            self.assertNotIn("error", reply.message.data)
            self.assertEqual(session.request("no/such").status, 200)
            stream = session.open()
            session.request("tools/list")
            session.call("enable_toolset", {"toolset": "beta"})
            self.assertEqual(stream.message().method, LIST_CHANGED)
            self.assertNotIn("error", session.call("beta__two").message.data)
            session.call("disable_toolset", {"toolset": "beta"})
            self.assertEqual(stream.message().method, LIST_CHANGED)
            self.assertEqual(session.delete().status, 204)
            for where in (home, other):
                self.assertEqual(At(session, where).request("ping").status, 404)
            self.assertIsNone(stream.next())

    def test_a_connection_serves_the_next_request(self):
        home, other = self.pair()
        session = home.legacy()
        here = At(session, other)
        connection = other.connection()
        for number in range(20):
            connection.send(here.post_bytes(here.message("ping", request_id=number)))
            self.assertEqual(connection.reply().message.id, number)
        # What is sent ahead of its turn has its turn, and large bodies pass, too.
        text = "x" * 200_000
        many = [here.message("tools/call", {"name": "set__tool0", "arguments": {"text": text}}, request_id=n) for n in (1, 2)]
        connection.send(b"".join(here.post_bytes(message) for message in many))
        self.assertEqual([connection.reply().message.id for _ in many], [1, 2])

    def test_questions_progress_and_cancelling(self):
        recorder = self.recorder()
        home, other = self.pair(toolsets={"up": recorder.toolset()})
        session = At(home.legacy(capabilities={"sampling": {}}), other)
        since = recorder.mark
        params = {"name": "up__hold", "arguments": {}, "_meta": {"progressToken": "t"}}
        stream = None
        connection = other.connection().send(session.post_bytes(session.message("tools/call", params, request_id=7)))
        line = json.loads(recorder.wait_line(lambda m: m.get("method") == "tools/call", since=since))
        token = json.dumps(line["params"]["_meta"]["progressToken"])
        recorder.write('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}' % token)
        stream = Stream(connection)
        self.assertEqual(stream.message().params["progress"], 1)
        recorder.write('{"jsonrpc":"2.0","id":"ask","method":"sampling/createMessage","params":{"messages":[],"maxTokens":1}}')
        question = stream.message()
        self.assertEqual(question.method, "sampling/createMessage")
        # The answer may come to any replica.
        result = {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"}
        answer = {"jsonrpc": "2.0", "id": question.id, "result": result}
        self.assertEqual(session.post(answer).status, 202)
        recorder.wait_line(lambda m: m.get("id") == "ask" and m.get("result", {}).get("model") == "m", since=since)
        self.assertEqual(session.notify("notifications/cancelled", {"requestId": 7}).status, 202)
        recorder.wait_line(lambda m: m.get("method") == "notifications/cancelled", since=since)

    def test_coming_back_with_last_event_id(self):
        recorder = self.recorder()
        home, other = self.pair(toolsets={"up": recorder.toolset()})
        session = At(home.legacy("2025-11-25"), other)
        since = recorder.mark
        params = {"name": "up__hold", "arguments": {}, "_meta": {"progressToken": "t"}}
        connection = other.connection().send(session.post_bytes(session.message("tools/call", params, request_id=7)))
        line = json.loads(recorder.wait_line(lambda m: m.get("method") == "tools/call", since=since))
        token = json.dumps(line["params"]["_meta"]["progressToken"])
        recorder.write('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":1}}' % token)
        stream = Stream(connection)
        event = stream.next()
        while not event.data:
            event = stream.next()
        stream.close()
        recorder.write('{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":%s,"progress":2}}' % token)
        recorder.write('{"jsonrpc":"2.0","id":%s,"result":{"content":[]}}' % json.dumps(line["id"]))
        again = session.open(event.id)
        self.assertEqual(again.message().params["progress"], 2)
        self.assertEqual(again.message().result, {"content": []})
        self.assertIsNone(again.next())

    def test_messages_of_2024_11_05(self):
        home, other = self.pair()
        stream = Stream(home.connection().send(render("GET", "/sse", [("Accept", EVENTS)])))
        endpoint = stream.next().data
        params = {"protocolVersion": "2024-11-05", "capabilities": {}, "clientInfo": {"name": "x", "version": "1"}}
        reply = other.post({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params}, path=endpoint)
        self.assertEqual(reply.status, 202)
        self.assertEqual(stream.message().result["protocolVersion"], "2024-11-05")
        stream.close()

    def test_a_client_that_hangs_up_hangs_up_at_home(self):
        home, other = self.pair(more={"limits": {"sse_comment": "1s"}})
        session = At(home.legacy(), other)
        for _ in range(3):  # the session has one stream: an earlier one ends when another is opened
            session.open().close()
        stream = session.open()
        stream.wait_comment()
        stream.close()

    def test_sessions_of_others_are_not_found(self):
        home, other = self.pair()
        session = home.legacy()
        self.assertRegex(session.id, r"\A[0-9a-f]{96}\Z")
        for where in (home, other):
            for name in (session.id[:-1] + ("0" if session.id[-1] != "0" else "1"), session.id[:32], "0" * 96, session.id.upper()):
                reply = where.post({"jsonrpc": "2.0", "id": 1, "method": "ping"}, {"Mcp-Session-Id": name})
                self.assertEqual((reply.status, reply.message.code), (404, INVALID_REQUEST))
        # An id of another deployment, whose home is no peer here.
        self.keys.write_text(secrets.token_hex(32), encoding="utf-8")
        stranger = self.replica().legacy()
        self.assertEqual(At(stranger, other).request("ping").status, 404)

    def test_an_address_that_is_no_peer_is_not_dialled(self):
        home = self.replica()
        other = self.replica(peers=["192.0.2.0/24"])
        self.assertEqual(At(home.legacy(), other).request("ping").status, 404)
        self.assertNotIn("replica.", other.hub.log)


class OfModernClients(Replicas):
    """They have no session: what they bring back says where it belongs."""

    CONFIRM = {"access": {"rules": [{"tools": {"match": ["set:*"]}, "then": "confirm"}]}}
    FORM = {"elicitation": {}}
    ACCEPT = {"action": "accept", "content": {}}

    def ask(self, server, more=None):
        params = {"name": "set__tool0", "arguments": {"a": 1}, **(more or {})}
        return server.modern("tools/call", params, capabilities=self.FORM)

    def retry(self, first):
        (key,) = first.result["inputRequests"]
        return {"inputResponses": {key: self.ACCEPT}, "requestState": first.result["requestState"]}

    def test_the_answer_to_a_question_finds_who_has_asked(self):
        home, other = self.pair(more=self.CONFIRM)
        again = self.retry(self.ask(home).message)
        answer = self.ask(other, again)
        self.assertEqual(answer.status, 200)
        self.assertIn("content", answer.message.result)
        for where in (other, home):  # it is good once, wherever
            self.assertEqual(self.ask(where, again).message.code, INVALID_PARAMS)
        # With another call, or changed, it is none.
        again = self.retry(self.ask(home).message)
        self.assertEqual(self.ask(other, {**again, "arguments": {"a": 2}}).message.code, INVALID_PARAMS)
        state = again["requestState"]
        for at in (10, len(state) - 1):
            changed = state[:at] + ("0" if state[at] != "0" else "1") + state[at + 1 :]
            self.assertEqual(self.ask(other, {**again, "requestState": changed}).message.code, INVALID_PARAMS)
        self.assertIn("content", self.ask(other, again).message.result)

    def test_a_task_is_where_it_was_made(self):
        """Each replica has a server of its own, whose tasks have the same ids."""
        home, other = self.pair(toolsets={"up": upstream("--era", "modern")})

        def made(server):
            server.modern("tools/list")
            return server.modern("tools/call", {"name": "up__slow", "arguments": {}}, capabilities=KNOWS).message.result["taskId"]

        def state(server, task):
            return server.modern("tasks/get", {"taskId": task}, capabilities=KNOWS).message.result["status"]

        first, second = made(home), made(other)
        self.assertNotEqual(first, second)
        other.modern("tasks/cancel", {"taskId": first}, capabilities=KNOWS).message.result
        for server in (home, other):
            self.assertEqual((state(server, first), state(server, second)), ("cancelled", "working"))

    def test_who_has_asked_is_gone(self):
        home, other = self.pair(more=self.CONFIRM)
        again = self.retry(self.ask(home).message)
        home.hub.exit_code = -signal.SIGKILL
        home.hub.kill()
        home.hub.wait_exit()
        reply = self.ask(other, again)
        self.assertEqual((reply.status, reply.message.code), (400, INVALID_PARAMS))
        self.assertSays(reply.message.error["message"], "gone")


class Rights(Replicas):
    def test_the_home_judges_by_its_own_rules(self):
        file, tokens = self.home / "tokens.json", {}
        for name in ("ann", "bob"):
            done = self.cli("token", "new", name, "--tokens", file, modules=False)
            tokens[name] = {"Authorization": f"Bearer {done.stdout.strip()}"}
        rules = {"access": {"default": "deny", "rules": [{"who": {"principals": ["token:ann"]}, "tools": {"match": ["set:tool1"]}, "then": "allow"}]}}
        home, other = self.pair(more={"auth": {"tokens": str(file)}, **rules})
        session = At(home.legacy(headers=tokens["ann"]), other)
        self.assertNotIn("error", session.call("set__tool1").message.data)
        self.assertEqual(session.call("set__tool0").message.code, INVALID_PARAMS)
        # It is nobody else's, and nobody's without a token.
        session.common = tokens["bob"]
        self.assertEqual(session.request("ping").status, 404)
        session.common = {}
        self.assertEqual(session.request("ping").status, 401)


class Gone(Replicas):
    def test_a_home_that_was_killed(self):
        home, other = self.pair()
        session = At(home.legacy(), other)
        self.assertEqual(session.request("ping").status, 200)
        stream = session.open()
        home.hub.exit_code = -signal.SIGKILL
        home.hub.kill()
        with self.assertRaises(AssertionError):
            while stream.next():
                pass
        self.assertIn(session.request("ping").status, (404, 502))
        reply = session.request("ping")
        self.assertEqual(reply.status, 404)
        self.assertSays(reply.message.error["message"], "initialize")

    def test_a_home_that_stands_still(self):
        home, other = self.pair()
        session = At(home.legacy(), other)
        self.assertEqual(session.request("ping").status, 200)
        home.hub.process.send_signal(signal.SIGSTOP)
        try:
            self.assertEqual(session.request("ping").status, 502)  # it may have been done
            self.assertEqual(session.request("ping").status, 404)
            other.hub.wait_log("replica.silent")
        finally:
            home.hub.process.send_signal(signal.SIGCONT)
        self.assertEqual(session.request("ping").status, 200)  # it lives


class Forged(Replicas):
    """What comes to the listener of replicas and is none of theirs."""

    def peers_key(self):
        """HKDF (RFC 5869) without salt, as hub/kernel/keys.h says."""
        prk = hmac.new(bytes(32), bytes.fromhex(self.key), hashlib.sha256).digest()
        states = hmac.new(prk, b"patchbay states 1\x01", hashlib.sha256).digest()
        return hmac.new(states, b"patchbay peers 1", hashlib.sha256).digest()

    def prove(self, use, challenge, number, text, key=None):
        claim = f"{use} {challenge} {number} {hashlib.sha256(text).hexdigest()}"
        return hmac.new(key or self.peers_key(), claim.encode(), hashlib.sha256).hexdigest()

    def greet(self, server):
        """A connection, and the challenge that it was given."""
        own = secrets.token_hex(16)
        connection = Connection(server.peer_port)
        self.addCleanup(connection.close)
        reply = connection.send(render("GET", PEER_PATH, [("Patchbay-Challenge", own)])).reply("HEAD")
        challenge = reply.header("patchbay-challenge")
        self.assertEqual(reply.header("patchbay-proof"), self.prove("greeting", own + challenge, 0, b""))
        return connection, challenge

    def sealed(self, challenge, number, session, message=None, key=None, caller="anonymous", body=None):
        message = dump(message or {"jsonrpc": "2.0", "id": 1, "method": "ping"})
        digest = hashlib.sha256(message).hexdigest()
        headers = [
            ("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream"),
            ("Mcp-Session-Id", session.id), ("Patchbay-Caller", json.dumps({"name": caller})),
            ("Content-Length", str(len(message))), ("Patchbay-Digest", digest),
        ]
        head = render("POST", "/mcp", headers)[:-2]
        seal = f"Patchbay-Seal: {number} {self.prove('request', challenge, number, head, key)}\r\n\r\n"
        return head + seal.encode() + (message if body is None else body)

    def test_what_is_sealed_is_served_once(self):
        home = self.replica()
        session = home.legacy()
        connection, challenge = self.greet(home)
        first = self.sealed(challenge, 1, session)
        self.assertEqual(connection.send(first).reply().status, 200)
        self.assertEqual(connection.send(self.sealed(challenge, 2, session)).reply().status, 200)
        self.assertEqual(connection.send(first).reply().status, 403)  # it comes again
        connection.wait_closed()
        connection, _ = self.greet(home)
        self.assertEqual(connection.send(first).reply().status, 403)  # on another connection
        connection.wait_closed()
        home.hub.wait_log("replica.refused")

    def test_what_is_not_sealed_is_refused(self):
        home = self.replica()
        session = home.legacy()
        plain = [("Content-Type", "application/json"), ("Mcp-Session-Id", session.id)]
        ping = dump({"jsonrpc": "2.0", "id": 1, "method": "ping"})
        connection, _ = self.greet(home)
        self.assertEqual(connection.send(render("POST", "/mcp", plain, ping)).reply().status, 403)
        connection, challenge = self.greet(home)  # by another key
        self.assertEqual(connection.send(self.sealed(challenge, 1, session, key=secrets.token_bytes(32))).reply().status, 403)
        connection, challenge = self.greet(home)  # a header that was changed on its way
        forged = self.sealed(challenge, 1, session).replace(b'"anonymous"', b'"token:root"')
        self.assertEqual(connection.send(forged).reply().status, 403)
        connection, challenge = self.greet(home)  # a body that was changed on its way
        self.assertEqual(connection.send(self.sealed(challenge, 1, session, body=ping.replace(b"ping", b"pong"))).reply().status, 403)
        connection, challenge = self.greet(home)  # a principal that is not known here
        self.assertEqual(connection.send(self.sealed(challenge, 1, session, caller="token:root")).reply().status, 403)
        for headers in ([], [("Patchbay-Challenge", "0")]):
            connection = Connection(home.peer_port)
            self.addCleanup(connection.close)
            self.assertEqual(connection.send(render("GET", PEER_PATH, headers)).reply().status, 403)

    def test_nothing_is_passed_on_twice(self):
        home, other = self.pair()
        session = home.legacy()
        connection, challenge = self.greet(other)
        reply = connection.send(self.sealed(challenge, 1, session)).reply()
        self.assertEqual(reply.status, 404)  # it does not live there, and is not looked for

    def test_a_stranger_is_refused(self):
        home = self.replica(peers=["192.0.2.7"])
        connection = Connection(home.peer_port)
        self.addCleanup(connection.close)
        reply = connection.send(render("GET", PEER_PATH, [("Patchbay-Challenge", secrets.token_hex(16))])).reply()
        self.assertEqual(reply.status, 403)
        connection.wait_closed()

    def test_clients_cannot_say_what_replicas_say(self):
        home, other = self.pair()
        session = home.legacy()
        forged = {"Patchbay-Caller": '{"name":"token:root"}', "Patchbay-Seal": "1 0", "X-Forwarded-For": "192.0.2.1"}
        for where in (home, other):
            session = At(session, where)
            reply = session.request("ping", headers=forged)
            self.assertEqual(reply.status, 200)
            self.assertEqual(where.ask("GET", PEER_PATH, [("Patchbay-Challenge", secrets.token_hex(16))]).status, 404)

    def test_it_is_all_or_nothing(self):
        full = {"key_file": str(self.keys), "listen": "127.0.0.1:1", "peers": ["127.0.0.1"]}
        for missing in full:
            rest = {key: value for key, value in full.items() if key != missing}
            if missing == "key_file":
                self.assertSays(self.refused(rest), "key_file is missing")
            else:
                self.assertSays(self.refused(rest), f"{missing} is missing")
        for place in ("0.0.0.0:8790", "hub1:8790", "[::]:8790", "127.0.0.1:0"):
            self.assertSays(self.refused({**full, "listen": place}), "replicas.listen")
        self.assertSays(self.refused({**full, "peers": ["hub2"]}), "replicas.peers")

    def refused(self, replicas):
        done = self.cli("check", manifest={"replicas": replicas, "toolsets": TOOLSETS})
        self.assertNotEqual(done.returncode, 0)
        return done.stdout + done.stderr


@unittest.skipUnless(shutil.which("haproxy"), "haproxy is not installed")
class Three(Replicas, Shared):
    """Three of them, with a store, behind haproxy that keeps nobody anywhere."""

    def setUp(self):
        super().setUp()
        self.servers = self.three()
        self.front = Balanced(self, self.haproxy())

    def three(self):
        more = {"hub": {"name": "home"}, "state": {"url": self.valkey.url}}
        return [self.replica(more=more) for _ in range(3)]

    def haproxy(self):
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        path = self.home / "haproxy.cfg"
        servers = "\n".join(f"    server hub{i} 127.0.0.1:{server.port}" for i, server in enumerate(self.servers))
        path.write_text(HAPROXY.format(port=port, servers=servers), encoding="utf-8")
        return self.balance(path, port)

    def balance(self, path, port):
        """haproxy with the file at `path`, when it answers at `port`."""
        process = subprocess.Popen(["haproxy", "-db", "-f", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        self.addCleanup(process.wait)
        self.addCleanup(process.terminate)
        self.servers[0].hub.wait_until(lambda: self.is_up(port), "the balancer")
        return port

    def is_up(self, port):
        try:
            return Balanced(self, port).get("/healthz").status == 200
        except OSError:
            return False


class RoundRobin(Three):
    def commands(self):
        """How many commands each of the store's users has sent, by kind."""
        return dict(re.findall(r"cmdstat_(\w+):calls=(\d+)", self.valkey.say("INFO commandstats")))

    def test_sessions_are_at_home_everywhere(self):
        sessions = [self.front.legacy(revision) for revision in STREAMABLE for _ in range(3)]
        streams = [session.open() for session in sessions]
        for session in sessions:
            session.request("tools/list")
        self.change(self.front, "enable_toolset", "beta")
        for stream in streams:
            self.assertEqual(stream.message().method, LIST_CHANGED)
        for session in sessions:
            for _ in range(3):
                self.assertNotIn("error", session.call("beta__two").message.data)
        self.change(self.front, "disable_toolset", "beta")
        for stream in streams:  # the next news: there was one of the first
            self.assertEqual(stream.message().method, LIST_CHANGED)

    def test_calls_do_not_speak_to_the_store(self):
        sessions = [self.front.legacy() for _ in range(3)]
        for session in sessions:
            session.call("set__tool0")
        before, began = self.commands().get("evalsha"), time.monotonic()
        for session in sessions:
            for _ in range(20):
                self.assertNotIn("error", session.call("set__tool0").message.data)
                self.assertNotIn("error", self.front.call("set__tool0").message.data)
        after = self.commands().get("evalsha")
        # Each hub looks for changes every 5 s.
        self.assertLess(int(after or 0) - int(before or 0), 20 + 3 * (time.monotonic() - began) / 5)


if __name__ == "__main__":
    main()
