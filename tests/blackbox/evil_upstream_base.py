# SPDX-License-Identifier: Apache-2.0
"""What tests with evil upstreams share: a hub with a good toolset, whose bystander must not notice anything, and evil
ones; a client of theirs whose every request has to be answered exactly once; and the invariants of RELIABILITY.md."""

import collections
import os
import sys
import threading
import time

from evil import EvilTest, resident_bytes
from mcp import MARKER, SUPPORT, TIMEOUT, LegacyClient, key_of, processes

sys.path.insert(0, str(SUPPORT))

from evil_misdeeds import FORGED_ANSWERS, MISDEEDS, MOST_VALUES, NOT_ANSWERS, UNUSABLE, WITHOUT_ID, say  # noqa: E402,F401
from evil_transports import TRANSPORTS  # noqa: E402,F401
from evil_upstream import META, Evil  # noqa: E402,F401

LOG_BYTES = 1 << 20
FEW = 4  # descriptors that are opened when they are needed first, and kept: of the resolver, of the store
KEPT_CONNECTIONS = 32  # of one server, by HTTP: HTTP_KEPT_CONNECTIONS


# However often they fail, and that is often, they are needed again at once.
SOON_AGAIN = {"restart_delay": "1ms", "restart_delay_max": "1ms"}


class EvilUpstreamTest(EvilTest):
    """`up` is good; the evil ones are asked through `client`."""

    limits = {"sse_comment": "200ms"}
    bystanders_path = "/mcp/calm"
    capabilities = {}
    cancelled = 0

    def evil(self, transport, name="evil"):
        made = Evil(transport, self.home, name, TIMEOUT)
        self.addCleanup(made.close)
        return made

    def setUp(self):
        super(EvilTest, self).setUp()
        self.upstream = self.recorder()
        self.evils = self.evil_toolsets()
        toolsets = {"up": self.upstream.toolset()}
        for name, (evil, keys) in self.evils.items():
            env = {"env": {MARKER: f"${{{MARKER}}}"}} if "command" in evil.entry() else {}
            toolsets[name] = evil.entry(**env, **{**SOON_AGAIN, **keys})
        # The bystander sees nothing of the others: who alone has chosen them can have their servers stopped.
        profiles = {"calm": {"startup": "static", "toolsets": ["up"]}}
        self.begin(self.http(toolsets=toolsets, manifest={"hub": {"remember": "none"}, "limits": self.limits, "profiles": profiles}))
        self.hub_process = self.server.hub
        self.client = LegacyClient(self.hub_process, capabilities=self.capabilities)

    def evil_toolsets(self):
        """By name: an Evil, and more keys of its entry."""
        raise NotImplementedError

    def during(self, misdeed, meta=None, **arguments):
        """A call while `evil` does this; it has done all of it when this returns."""
        evil = self.evils["evil"][0]
        done = threading.Event()

        def act(q):
            try:
                misdeed(q)
            finally:
                done.set()

        evil.on["tools/call"] = act
        try:
            answer = self.answer(self.send(meta=meta, **arguments))
            self.assertTrue(done.wait(TIMEOUT))
            return answer
        finally:
            del evil.on["tools/call"]

    # -- calls ------------------------------------------------------------------------------------

    def send(self, toolset="evil", meta=None, **arguments):
        return self.client.send_call(f"{toolset}__echo", arguments, meta=meta)

    def answer(self, request_id):
        return self.hub_process.response(request_id)

    def call(self, toolset="evil", **arguments):
        return self.answer(self.send(toolset, **arguments))

    def assertRight(self, answer, **arguments):
        self.assertEqual(answer.result.get("structuredContent"), arguments, answer.raw[:2000])

    def assertFails(self, answer, *words, toolset="evil"):
        """The call failed, and the model is told what, and of which toolset."""
        failure = answer.tool_error
        self.assertSays(failure["message"], f'toolset "{toolset}"', *words)
        self.assertIs(failure["retryable"], failure["code"] == "TOOL_UNAVAILABLE")
        return failure

    def assertBehaves(self, toolset="evil"):
        """A server that behaves again is used again."""
        self.nonce = getattr(self, "nonce", 0) + 1
        self.assertRight(self.call(toolset, nonce=self.nonce), nonce=self.nonce)
        self.bystander.call()

    def assertCannotBeReached(self, answer, *words, toolset="evil"):
        """A call of a tool that is not known, because its toolset is not there: it is named, with the reason."""
        if "error" in answer.data:
            failures = answer.error["message"].partition("(toolsets that cannot be reached: ")[2]
            failure = next((f for f in failures.split("; ") if f.startswith(toolset + ": ")), failures)
            self.assertSays(failure, toolset + ": ", *words)
        else:
            self.assertFails(answer, *words, toolset=toolset)

    def renew(self, toolset="evil"):
        """What a user does who does not want to wait for the next attempt."""
        self.client.call("disable_toolset", {"toolset": toolset}).result
        return self.client.call("enable_toolset", {"toolset": toolset})

    # -- invariants -------------------------------------------------------------------------------

    def assertAnsweredOnce(self):
        hub = self.hub_process
        with hub.condition:
            answers = collections.Counter(key_of(m.id) for m in hub.messages if m.method is None)
            waiting = [(request_id, sent) for request_id, sent in hub.pending.items() if sent]
        self.assertEqual(set(answers.values()), {1})
        self.assertEqual(len(waiting), self.cancelled)  # legacy: those are not answered
        self.assertEqual(len(answers), hub.next_id - self.cancelled)

    def descriptors(self):
        return len(os.listdir(f"/proc/{self.hub_process.process.pid}/fd"))

    def take_baseline(self):
        """Once every toolset has been used."""
        pid = self.hub_process.process.pid
        self.baseline = self.descriptors(), len(processes.descendants(pid)), resident_bytes(pid)

    def wait_settled(self, descriptors, children):
        """Until there are so many again. All go on working meanwhile."""
        deadline = time.monotonic() + TIMEOUT
        pid = self.hub_process.process.pid
        while (found := (self.descriptors(), len(processes.descendants(pid)))) > (descriptors, children):
            self.assertLess(time.monotonic(), deadline, f"{found} descriptors and children, not {(descriptors, children)}")
            self.bystander.call()

    def assertUnharmed(self, kept=0, memory=64 << 20):
        """INV: all is as it was at the baseline, but for a few descriptors and some memory that is kept for later. `kept`:
        connections that are, beyond the few."""
        self.bystander.call()
        self.assertAnsweredOnce()
        self.wait_settled(self.baseline[0] + kept + FEW, self.baseline[1])
        self.assertEqual([line for line in self.foreign_calls() if '"hold"' not in line], [])
        self.assertIdle(self.server)
        self.assertLess(resident_bytes(self.hub_process.process.pid) - self.baseline[2], memory)
        self.assertLess(len(self.hub_process.stderr), LOG_BYTES)
