# SPDX-License-Identifier: Apache-2.0
"""Rates to the request, on a clock that the test holds: in each era, over each transport (S5.4, R07)."""

import fractions
import json
import os
import struct
import subprocess
import time

import fidelity_clients as clients
from http_client import HttpTest
from mcp import NEWEST_LEGACY, SUPPORT, fixture, main

OVERLOADED = -31001
PER_SECOND, AT_ONCE, REQUESTS = 10, 15, 1000


class Gcra:
    """What may be let in, in exact numbers."""

    def __init__(self):
        self.due = fractions.Fraction(0)

    def takes(self, now_ms):
        now = fractions.Fraction(now_ms, 1000)
        if self.due - now > fractions.Fraction(AT_ONCE - 1, PER_SECOND):
            return False
        self.due = max(self.due, now) + fractions.Fraction(1, PER_SECOND)
        return True


class Reconnecting(clients.Http):
    """Each request on a connection of its own."""

    def ask(self, method, params, asked=None):
        if self.requests:
            self.requests.close()
            self.requests = None
        return super().ask(method, params, asked)


class Exact(HttpTest):
    def setUp(self):
        super().setUp()
        library = self.home / "held_clock.so"
        command = [os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, SUPPORT / "held_clock.c"]
        subprocess.run(command, check=True)
        self.clock = open(self.home / "clock", "w+b", buffering=0)
        self.addCleanup(self.clock.close)
        self.show(time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000000)
        sanitizers = "handle_sigill=1:detect_odr_violation=0:intercept_tls_get_addr=0:verify_asan_link_order=0"
        self.env = {
            "LD_PRELOAD": str(library),
            "PATCHBAY_TEST_CLOCK": str(self.home / "clock"),
            "ASAN_OPTIONS": sanitizers,
        }

    def show(self, now_ms):
        self.now_ms = now_ms
        self.clock.seek(0)
        self.clock.write(struct.pack("=Q", now_ms))

    def start(self, of_tools=None, **limits):
        unix = str(self.home / "hub.sock")
        more = {} if of_tools is None else {"tools": {"limits": of_tools}}
        manifest = {"limits": limits, "toolsets": {"a": fixture("one", **more)}}
        server = self.http("--unix", unix, manifest=manifest, env=self.env)
        server.hub.strict = False
        server.unix = unix
        server.hub.wait_log("listen.ready path=")
        self.addCleanup(self.show, 0)
        return server

    def hold(self, client, limit):
        """A thousand requests of one client; what it is told of each."""
        expected, found, pauses = Gcra(), [], []
        client.begin()
        for number in range(REQUESTS):
            if number % 3 == 0:
                self.show(self.now_ms + 47)
            expected_in = expected.takes(self.now_ms)
            params = f'{{"name":"a__one","arguments":{{}},"_meta":{client.raw_meta()}}}'
            answer = json.loads(client.ask("tools/call", params).text)
            is_in = "result" in answer
            found.append(is_in)
            if is_in != expected_in:
                self.fail(f"{client.name} {client.era}: request {number} is {'in' if is_in else 'out'}: {answer}")
            if not is_in:
                error = answer["error"]
                self.assertEqual((error["code"], error["data"]["limit"]), (OVERLOADED, limit))
                self.assertIs(error["data"]["retryable"], True)
                pauses.append(error["data"]["retryAfter"])
        self.assertLess(sum(found), 200)
        self.assertTrue(all(0 < pause <= 0.1 for pause in pauses))
        self.assertIn("result", self.after(client, pauses[-1] if not found[-1] else 0.1))

    def after(self, client, seconds):
        """The pause that was told is long enough."""
        self.show(self.now_ms + round(seconds * 1000))
        params = f'{{"name":"a__one","arguments":{{}},"_meta":{client.raw_meta()}}}'
        return json.loads(client.ask("tools/call", params).text)

    def everywhere(self, server, limit):
        for kind, eras in (
            (clients.Unix, ("legacy", "modern")),
            (clients.Ws, ("legacy", "modern")),
            (clients.OldSse, ("legacy",)),
            (clients.Http, ("legacy", "modern")),
            (Reconnecting, ("legacy", "modern")),
        ):
            for era in eras:
                self.show(self.now_ms + 1000 * AT_ONCE)  # nothing is owed from before
                self.hold(kind(kind.__name__, era, NEWEST_LEGACY, server), limit)

    def test_of_a_client(self):
        server = self.start(calls_per_second=PER_SECOND, calls_burst=AT_ONCE)
        self.everywhere(server, "limits.calls_per_second")

    def test_of_a_principal(self):
        server = self.start(calls_per_second_per_principal=PER_SECOND, calls_burst_per_principal=AT_ONCE)
        self.everywhere(server, "limits.calls_per_second_per_principal")

    def test_of_a_tool(self):
        server = self.start(of_tools={"o*": {"calls_per_second": PER_SECOND, "calls_burst": AT_ONCE}})
        self.everywhere(server, "toolsets.a.tools.limits.o*.calls_per_second")

    def test_of_a_client_on_stdio(self):
        self.on_stdio("calls_per_second", "calls_burst")

    def test_of_a_principal_on_stdio(self):
        self.on_stdio("calls_per_second_per_principal", "calls_burst_per_principal")

    def test_of_a_tool_on_stdio(self):
        limits = {"one": {"calls_per_second": PER_SECOND, "calls_burst": AT_ONCE}}
        self.hold_stdio({}, fixture("one", tools={"limits": limits}), "toolsets.a.tools.limits.one.calls_per_second")

    def on_stdio(self, rate, burst):
        self.hold_stdio({rate: PER_SECOND, burst: AT_ONCE}, fixture("one"), f"limits.{rate}")

    def hold_stdio(self, limits, entry, limit):
        for era in ("legacy", "modern"):
            start = self.legacy if era == "legacy" else self.modern
            client = start(toolsets={"a": entry}, manifest={"limits": limits}, env=self.env)
            expected = Gcra()
            for number in range(REQUESTS):
                if number % 3 == 0:
                    self.show(self.now_ms + 47)
                answer = client.call("a__one")
                is_in = expected.takes(self.now_ms)
                self.assertEqual("result" in answer.data, is_in, f"{era} {number}: {answer}")
                if not is_in:
                    self.assertEqual((answer.code, answer.error["data"]["limit"]), (OVERLOADED, limit))
            self.show(0)
            client.hub.finish()
            self.show(time.clock_gettime_ns(time.CLOCK_MONOTONIC) // 1000000)


class Headers(HttpTest):
    """Retry-After, and the status: 429 for clients of 2026-07-28; others keep 200 (see docs/SECURITY.md)."""

    def test_a_rate(self):
        server = self.http(toolsets={"a": fixture("one")}, manifest={"limits": {"calls_per_second": 1}})
        self.assertEqual(server.call("a__one").status, 200)
        refused = next(reply for reply in iter(lambda: server.call("a__one"), None) if reply.status != 200)
        self.error(refused, 429, OVERLOADED)
        self.assertEqual(refused.header("retry-after"), "1")
        self.assertLessEqual(refused.message.error["data"]["retryAfter"], 1)

    def test_a_rate_in_a_session(self):
        server = self.http(toolsets={"a": fixture("one")}, manifest={"limits": {"calls_per_second": 1}})
        for revision in (NEWEST_LEGACY, "2025-03-26"):
            session = server.legacy(revision)
            self.assertIsNone(session.call("a__one").header("retry-after"))
            refused = next(reply for reply in iter(lambda: session.call("a__one"), None) if "error" in reply.message.data)
            self.error(refused, 200, OVERLOADED)
            self.assertEqual(refused.header("retry-after"), "1")
        batch = [session.message("tools/call", {"name": "a__one", "arguments": {}}) for _ in range(5)]
        reply = session.post(batch)
        self.assertEqual((reply.status, reply.header("retry-after")), (200, "1"))
        self.assertEqual(len(json.loads(reply.body)), 5)

    def test_calls_in_flight(self):
        manifest = {"hub": {"remember": "none"}, "limits": {"calls_per_session": 2}}  # no call waits for the store
        server = self.http(toolsets={"a": fixture("one", "hold")}, manifest=manifest)
        held = []
        for _ in range(2):
            held.append(server.connection().send(server.modern_bytes("tools/call", {"name": "a__hold", "arguments": {}})))
        client = server.connection()
        while True:  # the two others come on connections of their own
            reply = client.send(server.modern_bytes("tools/call", {"name": "a__one", "arguments": {}})).reply()
            if reply.status != 200:
                break
        self.error(reply, 429, OVERLOADED)
        self.assertEqual(reply.header("retry-after"), "1")
        self.assertEqual(reply.message.error["data"], {"limit": "limits.calls_per_session", "retryAfter": 1.0, "retryable": True})
        held[0].close()
        while reply.status != 200:
            reply = client.send(server.modern_bytes("tools/call", {"name": "a__one", "arguments": {}})).reply()
        self.assertIn("content", reply.message.result)

    def test_of_a_tool(self):
        entry = fixture("one", "two", tools={"limits": {"one": {"calls_per_second": 1}}})
        server = self.http(toolsets={"a": entry})
        self.assertEqual(server.call("a__one").status, 200)
        refused = next(reply for reply in iter(lambda: server.call("a__one"), None) if reply.status != 200)
        self.error(refused, 429, OVERLOADED)
        self.assertEqual(refused.header("retry-after"), "1")
        self.assertEqual(refused.message.error["data"]["limit"], "toolsets.a.tools.limits.one.calls_per_second")
        self.assertEqual(server.call("a__two").status, 200)
        session = server.legacy()
        refused = next(reply for reply in iter(lambda: session.call("a__one"), None) if "error" in reply.message.data)
        self.error(refused, 200, OVERLOADED)


if __name__ == "__main__":
    main()
