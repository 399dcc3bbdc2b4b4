# SPDX-License-Identifier: Apache-2.0
"""Upstreams that hang: never answer a call, or not with what was asked for, never get through the handshake. Each call
is answered within its deadline, and when the server behaves again it is used again (RELIABILITY.md U06, U07, U24)."""

from evil_upstream_base import NOT_ANSWERS, TRANSPORTS, EvilUpstreamTest
from mcp import INVALID_PARAMS, main

PATIENCE = "10s"  # all wait at the same time

# What never becomes an answer. Over HTTP the stream stays open behind it.
SILENCES = {
    "nothing": lambda q: None,
    **{
        name: lambda q, name=name: [q.say(m(q) if callable(m) else m) for m in NOT_ANSWERS[name]]
        for name in ("the id of nobody", "ids beyond all numbers", "its id and more", "noise", "progress of nobody")
    },
}


def short(transport):
    return transport.replace(" ", "-")


class Calls(EvilUpstreamTest):
    """Calls that hang, on every transport at once."""

    def evil_toolsets(self):
        return {short(t): (self.evil(t, short(t)), {"timeout": PATIENCE}) for t in TRANSPORTS}

    def misbehave(self, q):
        """As the call itself says."""
        SILENCES[q.params["arguments"]["mode"]](q)

    def test_silence(self):
        for name, (evil, _) in self.evils.items():
            self.assertBehaves(name)
            evil.on["tools/call"] = self.misbehave
        self.take_baseline()
        calls = [(name, mode, self.send(name, mode=mode)) for name in self.evils for mode in SILENCES]
        for name, mode, request_id in calls:
            with self.subTest(toolset=name, mode=mode):
                self.assertFails(self.answer(request_id), "no answer within", toolset=name)
        for name, (evil, _) in self.evils.items():
            del evil.on["tools/call"]
            self.assertBehaves(name)
        self.assertUnharmed(kept=2 * len(SILENCES))  # legacy servers were told that each was cancelled

    def test_the_middle_of_a_message(self):
        """Half of a message is there, and the rest never comes. The connection may have to go."""
        for name, (evil, _) in self.evils.items():
            self.assertBehaves(name)
            evil.on["tools/call"] = lambda q: q.part(b'data: {"jsonrpc":"2.0",')
        self.take_baseline()
        for name, request_id in [(name, self.send(name)) for name in self.evils]:
            self.assertFails(self.answer(request_id), "no answer within", toolset=name)
        for name, (evil, _) in self.evils.items():
            del evil.on["tools/call"]
            evil.transport.die()
            self.call(name)
            self.assertBehaves(name)
        self.assertUnharmed()


class Handshakes(EvilUpstreamTest):
    """Servers that hang before they are ready, at every step, on every transport at once."""

    limits = {**EvilUpstreamTest.limits, "discover_timeout": "2m"}  # calls wait for the catalog, not for that

    def evil_toolsets(self):
        made = {}
        for transport, (_, era) in TRANSPORTS.items():
            steps = ("server/discover", "tools/list") if era == "modern" else ("initialize", "tools/list")
            for step in steps:
                name = f"{short(transport)}-{step.replace('/', '-')}"
                evil = self.evil(transport, name)
                evil.on[step] = lambda q: None
                made[name] = evil, {"startup_timeout": PATIENCE}
        return made

    def test_silence(self):
        calls = [(name, self.send(name)) for name in self.evils]
        for name, request_id in calls:
            with self.subTest(name):
                self.assertCannotBeReached(self.answer(request_id), toolset=name)
        for name, (evil, _) in self.evils.items():
            evil.on.clear()
        for name in self.evils:
            with self.subTest(name):
                self.renew(name).result
                self.assertBehaves(name)
        self.take_baseline()
        self.assertUnharmed()


class Starting(EvilUpstreamTest):
    """A call waits for its own server as long as that takes to start; nobody else waits for it."""

    limits = {**EvilUpstreamTest.limits, "discover_timeout": "3s"}

    def evil_toolsets(self):
        evil, self.waiting = self.evil("pipes"), []
        evil.on["initialize"] = self.waiting.append
        return {"evil": (evil, {})}

    def begin(self, server):
        server.modern("tools/list")  # which waits for all, and not long
        server.hub.wait_log("tools.discovery.server.success serverName=up")
        super().begin(server)

    def test_calls_of_a_server_that_is_still_starting(self):
        evil = self.evils["evil"][0]
        waiting = [self.send(nonce=n) for n in (101, 102)]
        self.bystander.call()
        self.assertEqual(self.client.call("evil").code, INVALID_PARAMS)  # nobody's name is answered at once
        evil.on.clear()
        evil.be_good(self.waiting[0])
        for n, request_id in zip((101, 102), waiting):
            self.assertRight(self.answer(request_id), nonce=n)
        self.assertBehaves()


if __name__ == "__main__":
    main()
