# SPDX-License-Identifier: Apache-2.0
"""Answers that cannot be used, on every transport: the call fails at once, and says what was wrong with the answer;
nobody else's does. Lists that cannot be used are the reason why a toolset is not there, and its server is not started
for ever because of them (docs/RELIABILITY.md, Answers that cannot be used)."""

from evil_upstream_base import FORGED_ANSWERS, KEPT_CONNECTIONS, MOST_VALUES, TRANSPORTS, UNUSABLE, EvilUpstreamTest
from mcp import main

TRIES = 5  # UPSTREAM_CATALOG_TRIES


def short(transport):
    return transport.replace(" ", "-")


class Answers:
    """One transport. No call here may wait for its deadline, which is longer than the tests' own."""

    transport = None
    limits = {**EvilUpstreamTest.limits, "call_timeout": "10m"}

    def evil_toolsets(self):
        return {"evil": (self.evil(self.transport), {})}

    def setUp(self):
        super().setUp()
        self.server_of = self.evils["evil"][0]
        self.assertBehaves()
        self.take_baseline()

    def test_each(self):
        for name, (misdeed, words) in UNUSABLE.items():
            with self.subTest(name):
                failure = self.during(misdeed).tool_error
                if "websocket" in self.transport and name == "a Latin-1 byte":
                    self.assertSays(failure["message"], "not UTF-8")  # RFC 6455 section 8.1: it ends the connection
                else:
                    self.assertSays(failure["message"], "cannot be used", *words)
                    self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_EXECUTION_FAILED", False))
                self.assertBehaves()
        self.assertUnharmed(kept=0 if "pipes" in self.transport else KEPT_CONNECTIONS)

    def test_the_others_go_on(self):
        """Many calls are out, of which one has such an answer."""
        held = []
        self.server_of.on["tools/call"] = held.append
        calls = [self.send(n=n) for n in range(5)]
        self.server_of.wait_until(lambda: len(held) == len(calls), "the calls")
        del self.server_of.on["tools/call"]
        which = next(q for q in held if q.params["arguments"]["n"] == 2)
        which.say(f'{{"result":null,"jsonrpc":"2.0","id":{which.id}}}')
        which.end()
        self.assertSays(self.answer(calls[2]).tool_error["message"], "cannot be used", "result")
        for q in held:
            if q is not which:
                q.result(self.server_of.result_of(q))
        for n in (0, 1, 3, 4):
            self.assertRight(self.answer(calls[n]), n=n)
        self.assertUnharmed(kept=0 if "pipes" in self.transport else KEPT_CONNECTIONS)

    def test_forgeries(self):
        """What has the id of no call harms none, and the right answer counts."""
        for name, misdeed in FORGED_ANSWERS.items():
            with self.subTest(name):
                self.assertRight(self.during(misdeed, name=name), name=name)
        self.assertUnharmed(kept=0 if "pipes" in self.transport else KEPT_CONNECTIONS)


class Pipes(Answers, EvilUpstreamTest):
    transport = "pipes"

    def test_cut_before_the_id(self):
        """The only call that is out: its answer it is. With two, it is anybody's: that is logged."""
        cut = '{"jsonrpc":"2.0","result":{"content":[{"type":"text","text":"half'

        def misdeed(q):
            q.say(cut)

        self.assertSays(self.during(misdeed).tool_error["message"], "cannot be used", "a string has no end")
        held = []
        self.server_of.on["tools/call"] = held.append
        calls = [self.send(n=n) for n in range(2)]
        self.server_of.wait_until(lambda: len(held) == 2, "the calls")
        held[0].say(cut)
        self.assertSays(self.hub_process.wait_log("belongs to no request"), "a string has no end")
        for q in held:
            q.result(self.server_of.result_of(q))
        for n, request_id in enumerate(calls):
            self.assertRight(self.answer(request_id), n=n)
        self.assertUnharmed(kept=0 if "pipes" in self.transport else KEPT_CONNECTIONS)


class ModernPipes(Answers, EvilUpstreamTest):
    transport = "modern pipes"


class Http(Answers, EvilUpstreamTest):
    transport = "http"

    def test_in_json(self):
        for name, (misdeed, _) in UNUSABLE.items():
            said = []
            request = type("Said", (), {"say": lambda _, text: said.append(text), "end": lambda _: None})
            with self.subTest(name):

                def answer(q, misdeed=misdeed, said=said, request=request):
                    fake = request()
                    fake.id, fake.reply, fake.good, fake.server = q.id, q.reply, q.good, q.server
                    misdeed(fake)
                    q.x.status(200, said[-1])

                failure = self.during(answer).tool_error
                self.assertSays(failure["message"], "no JSON-RPC answer")
                self.assertBehaves()
        self.assertUnharmed(kept=0 if "pipes" in self.transport else KEPT_CONNECTIONS)


class ModernHttp(Http):
    transport = "modern http"


class OldHttp(Answers, EvilUpstreamTest):
    transport = "sse"


class Unix(Answers, EvilUpstreamTest):
    transport = "unix"


class WebSocket(Answers, EvilUpstreamTest):
    transport = "websocket"


class ModernWebSocket(Answers, EvilUpstreamTest):
    transport = "modern websocket"


# What is wrong with a list, and the words of the reason.
LISTS = {
    "too many values": (lambda q: q.say(q.reply(result={"tools": [], "x": [0] * MOST_VALUES})), ["more than 2,097,152 values", str(MOST_VALUES)]),
    "nested too deep": (lambda q: q.say(q.reply(result='{"tools":[],"x":' + "[" * 64 + "]" * 64 + "}")), ["nested too deep", "64"]),
    "null": (lambda q: q.say(q.reply(result="null")), ["result", "of type object"]),
    "no array": (lambda q: q.result({"tools": 7}), ["is not an array"]),
    "too large": (lambda q: q.say(q.reply(result={"tools": [], "x": "y" * (8 << 20)})), ["limits.upstream_message"]),
}


class Lists(EvilUpstreamTest):
    """Each list, on every transport."""

    limits = {**EvilUpstreamTest.limits, "upstream_message": "8MiB", "discover_timeout": "30s"}

    def evil_toolsets(self):
        return {short(t): (self.evil(t, short(t)), {"startup_timeout": "60s"}) for t in TRANSPORTS}

    def test_each(self):
        for case, (misdeed, words) in LISTS.items():
            marks, since = {}, len(self.hub_process.log)
            for name, (evil, _) in self.evils.items():
                marks[name] = evil.mark
                evil.on["tools/list"] = lambda q, misdeed=misdeed: (misdeed(q), q.end())
            for name in self.evils:
                self.renew(name).result
            calls = {name: self.send(name) for name in self.evils}
            for name, (evil, _) in self.evils.items():
                with self.subTest(case, toolset=name):
                    failure = self.answer(calls[name]).tool_error
                    self.assertSays(failure["message"], *words)
                    self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_EXECUTION_FAILED", False))
                    evil.wait("tools/list", TRIES, marks[name])
                    status = self.wait_failed(name, since)
                    self.assertSays(status, *words)
                    # On a busy machine the next round, after its pause, may have begun.
                    self.assertIn(len(evil.of("tools/list", marks[name])), (TRIES, TRIES + 1))
            for evil, _ in self.evils.values():
                evil.on.clear()
        for name in self.evils:
            self.renew(name).result
            self.assertBehaves(name)

    def wait_failed(self, name, since):
        """The line of the log, behind `since`, that says that it is left alone."""
        hub = self.hub_process

        def find():
            return next((line for line in hub.log[since:].splitlines() if f"toolset={name} " in line and "not tried again" in line), None)

        return hub.wait_until(find, f"the end of the attempts at {name}")


if __name__ == "__main__":
    main()
