# SPDX-License-Identifier: Apache-2.0
"""Upstreams that die, err or lie before they are ready, and catalogs that are none. A call says why its toolset is not
there; others are listed and work; a server that behaves again is used again (RELIABILITY.md P14, P15, U04, U07, U24)."""

from evil_upstream_base import META, TRANSPORTS, EvilUpstreamTest
from mcp import main, tool

# What the answer to the first message of either handshake may be; `words` of the reason.
OPENINGS = {
    "dies": (lambda q: q.server.die(), []),
    "dies in the middle": (lambda q: (q.part(b'data: {"jsonrpc":"2.0","id":'), q.server.die()), []),
    "an error": (lambda q: q.error(-32603, "out of order"), ["out of order"]),
    "an empty one": (lambda q: (q.say(q.reply(result="{}")), q.end()), ["protocol version"]),
    "a version of tomorrow": (lambda q: q.result(opening("2099-01-01")), ["protocol version"]),
    "a version that is no text": (lambda q: q.result(opening(20251125)), ["protocol version"]),
}

GOOD = [tool("echo")]

# What tools/list may be answered with: the names that are listed then; None: those of before.
CATALOGS = {
    "an error": (lambda q: q.error(-32603, "no"), None),
    "no result": (lambda q: q.result({}), None),
    "null": (lambda q: q.result({"tools": None}), None),
    "a number": (lambda q: q.result({"tools": 7}), None),
    "an object": (lambda q: q.result({"tools": {"echo": {}}}), None),
    "nothing": (lambda q: q.result({"tools": []}), []),
    "no tools": (lambda q: q.result({"tools": [None, 7, "x", [], {}, {"name": 1}, {"name": ""}, {"name": "x"}, *GOOD]}), ["echo"]),
    "one name twice": (lambda q: q.result({"tools": [*GOOD, *GOOD, tool("a"), tool("a", title="again")]}), ["a", "echo"]),
    "names of no kind": (lambda q: q.result({"tools": [tool("\u0000"), tool("\n"), tool(" "), tool("x" * 2000), tool(7), *GOOD]}), ["echo"]),
    "names for no model": (lambda q: q.result({"tools": [tool("a b"), tool("../x"), *GOOD]}), [".._x", "a_b", "echo"]),
    "schemas of no kind": (lambda q: q.result({"tools": [{"name": f"s{n}", "inputSchema": s} for n, s in enumerate((None, 1, [], "x", {"type": "array"}))] + GOOD}), ["echo"]),
    "a cursor that repeats": (lambda q: q.result({"tools": GOOD, "nextCursor": "again"}), ["echo"]),
    "pages without end": (lambda q: q.result({"tools": [tool(f"p{page(q)}")], "nextCursor": str(page(q) + 1)}), [f"p{n}" for n in range(100)]),
    "empty pages without end": (lambda q: q.result({"tools": [], "nextCursor": str(page(q) + 1)}), []),
    "cursors of no kind": (lambda q: q.result({"tools": GOOD, "nextCursor": {"a": 1}}), ["echo"]),
    "a hundred thousand values": (lambda q: q.result({"tools": GOOD, "x": [0] * 100000}), ["echo"]),
}


def page(q):
    return int(q.params.get("cursor", "0"))


def opening(version):
    return {"protocolVersion": version, "supportedVersions": [version], "capabilities": {"tools": {}}, "serverInfo": {"name": "evil", "version": "1"}, "resultType": "complete"}


def short(transport):
    return transport.replace(" ", "-")


class Openings(EvilUpstreamTest):
    """Every way to begin badly, on every transport, all in one hub."""

    limits = {**EvilUpstreamTest.limits, "discover_timeout": "30s"}

    def evil_toolsets(self):
        return {short(t): (self.evil(t, short(t)), {"startup_timeout": "20s"}) for t in TRANSPORTS}

    def test_each(self):
        for name in self.evils:
            self.assertBehaves(name)
        self.take_baseline()
        for case, (misdeed, words) in OPENINGS.items():
            for name, (evil, _) in self.evils.items():
                evil.on["server/discover" if evil.era == "modern" else "initialize"] = misdeed
                self.renew(name).result
            for name, request_id in [(name, self.send(name)) for name in self.evils]:
                with self.subTest(case, toolset=name):
                    # A modern server that does not say so is taken for a legacy one, and is none.
                    modern = self.evils[name][0].era == "modern"
                    self.assertFails(self.answer(request_id), *([] if modern else words), toolset=name)
            for name, (evil, _) in self.evils.items():
                with self.subTest(case, toolset=name, again=True):
                    mark = evil.mark
                    evil.on.clear()
                    evil.wait("tools/list", since=mark)  # it is tried again and again
                    self.assertBehaves(name)
        self.assertUnharmed(kept=len(self.evils))


class DiesOnce(EvilUpstreamTest):
    """A server that ends in the middle of the probe, once: what it is was not learned from that."""

    def evil_toolsets(self):
        return {short(t): (self.evil(t, short(t)), {}) for t in TRANSPORTS}

    def test_each(self):
        def once(q):
            del q.server.on[q.method]
            q.server.die()

        for name in self.evils:
            self.assertBehaves(name)
        self.take_baseline()
        for name, (evil, _) in self.evils.items():
            with self.subTest(name):
                evil.on["server/discover"] = once
                evil.on["tools/call"] = lambda q: q.server.die()
                self.assertFails(self.call(name), toolset=name)
                del evil.on["tools/call"]
                if "isError" in self.call(name, a=1).result:
                    self.assertBehaves(name)
                self.assertBehaves(name)
                evil.on.clear()
        self.assertUnharmed(kept=len(self.evils))


class SlowStart(EvilUpstreamTest):
    """A server of today that answers the probe when the hub has taken its silence for an answer: what it says counts, up to its
    answer to initialize, whatever the transport."""

    def evil_toolsets(self):
        modern = [t for t in TRANSPORTS if TRANSPORTS[t][1] == "modern"]
        return {short(t): (self.evil(t, short(t)), {"startup_timeout": "4s"}) for t in modern}

    def test_each(self):
        kept = {}

        def keep(q):
            kept[q.server.name] = q

        def answer_both(q):
            late = kept[q.server.name]
            late.server.be_good(late)
            q.error(-32601, "Method not found: initialize")

        for name, (evil, _) in self.evils.items():
            self.assertBehaves(name)
            evil.on.update({"server/discover": keep, "initialize": answer_both})
            self.renew(name).result
        for name, request_id in [(name, self.send(name, n=1)) for name in self.evils]:
            with self.subTest(name):
                self.assertRight(self.answer(request_id), n=1)
                evil = self.evils[name][0]
                self.assertEqual(len(evil.of("initialize")), 1)
                version = evil.of("tools/call")[-1].params["_meta"][META + "protocolVersion"]
                self.assertEqual(version, "2026-07-28")

    def test_refusal_first(self):
        """The refusal of initialize overtakes the late answer, or that never comes: the server is asked again."""
        for name, (evil, _) in self.evils.items():
            self.assertBehaves(name)

            def once(q, evil=evil):
                del evil.on["server/discover"]

            evil.on.update({"server/discover": once, "initialize": lambda q: q.error(-32601, "Method not found: initialize")})
            self.renew(name).result
        for name, request_id in [(name, self.send(name, n=1)) for name in self.evils]:
            with self.subTest(name):
                self.assertRight(self.answer(request_id), n=1)
                self.assertEqual(len(self.evils[name][0].of("initialize")), 1)


class Catalogs:
    """Lists are read alike whatever the transport, so one has most of it."""

    transport = None

    def evil_toolsets(self):
        return {"evil": (self.evil(self.transport), {})}

    def names(self):
        return [name.removeprefix("evil__") for name in self.client.names() if name.startswith("evil__")]

    def change(self, evil, misdeed):
        """The server says that its tools have changed, and then lists these."""
        mark, since = evil.mark, self.hub_process.mark
        evil.on["tools/list"] = misdeed
        listens = evil.of("subscriptions/listen")
        changed = {"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}
        if evil.era == "modern":
            changed["params"] = {"_meta": {"io.modelcontextprotocol/subscriptionId": listens[-1].message["id"]}}
            listens[-1].say(changed)
        else:
            evil.aside(changed)
        evil.wait("tools/list", 1, mark)
        return since


class PipesCatalogs(Catalogs, EvilUpstreamTest):
    transport = "pipes"

    def test_each(self):
        evil = self.evils["evil"][0]
        self.assertBehaves()
        self.assertEqual(self.names(), ["echo"])
        self.take_baseline()
        evil.wait_until(lambda: evil.era == "legacy" or evil.of("subscriptions/listen"), "the stream")
        for case, (misdeed, names) in CATALOGS.items():
            with self.subTest(case):
                since = self.change(evil, misdeed)
                if names is not None and names != ["echo"]:
                    self.client.wait_list_changed(since)
                    self.assertEqual(self.names(), sorted(names))
                    since = self.change(evil, evil.be_good)
                    self.client.wait_list_changed(since)
                else:
                    self.assertBehaves()
                del evil.on["tools/list"]
                self.assertEqual(self.names(), ["echo"])
                self.assertBehaves()
        self.assertUnharmed()


class ModernHttpCatalogs(Catalogs, EvilUpstreamTest):
    transport = "modern http"

    def test_ten_thousand(self):
        evil = self.evils["evil"][0]
        self.assertBehaves()
        self.client.names()
        self.take_baseline()
        evil.wait_until(lambda: evil.era == "legacy" or evil.of("subscriptions/listen"), "the stream")
        for most in (10000, 10001):
            tools = [tool(f"t{n:05}") for n in range(most)]
            since = self.change(evil, lambda q, tools=tools: q.result(evil.complete(tools=tools)))
            if most <= 10000:
                self.client.wait_list_changed(since)
            else:
                self.assertSays(self.hub_process.wait_log("catalog.refused"), "10001", "10000", "toolset=evil")
            self.assertEqual(len(self.names()), 10000)
        self.bystander.call()
        since = self.change(evil, evil.be_good)
        self.client.wait_list_changed(since)
        self.assertBehaves()
        self.assertUnharmed()


if __name__ == "__main__":
    main()
