# SPDX-License-Identifier: Apache-2.0
"""Upstreams that are killed, or answer twice, with a wrong id, or with garbage, on every transport: each call is
answered once, and what the server does next counts (RELIABILITY.md U01, U03, U04, U30, U31)."""

import os
import signal

from evil_upstream_base import KEPT_CONNECTIONS, MISDEEDS, NOT_ANSWERS, TRANSPORTS, WITHOUT_ID, EvilUpstreamTest, say
from mcp import main


NOT_UTF8 = ("binary noise",)


class Calls:
    """One transport; every misdeed in turn, with the same hub."""

    transport = None

    def evil_toolsets(self):
        return {"evil": (self.evil(self.transport), {})}

    def setUp(self):
        super().setUp()
        self.server_of = self.evils["evil"][0]
        self.assertBehaves()
        self.take_baseline()

    def begin_anew(self):
        self.assertFails(self.during(MISDEEDS["dies"]))

    def test_what_is_no_answer(self):  # U04, U30: the right one comes after it, and counts; see evil_upstream_answers.py
        held = self.client.send_call("up__hold")
        line = self.upstream.wait_line(lambda m: m.get("params", {}).get("name") == "hold", "the held call")
        for name, messages in NOT_ANSWERS.items():
            with self.subTest(name):
                if len(messages) > 5:
                    self.begin_anew()  # so much noise in a minute, and it would be given up
                answer = self.during(MISDEEDS[name], name=name)
                if "websocket" in self.transport and name in NOT_UTF8:
                    self.assertFails(answer)  # RFC 6455 section 8.1: that is the end of the connection
                elif self.transport in ("http", "modern http") and name in WITHOUT_ID:
                    self.assertFails(answer, "cannot be used")
                else:
                    self.assertRight(answer, name=name)
                self.assertBehaves()
        self.upstream.answer(line)
        self.assertEqual(self.answer(held).result, {"content": []})
        self.assertUnharmed()

    def test_more_than_one_answer(self):  # U30
        for name in ("answers twice", "answers, then says something else", "answers, then with an error", "byte by byte"):
            with self.subTest(name):
                self.assertRight(self.during(MISDEEDS[name], name=name), name=name)
                self.assertBehaves()
        self.assertUnharmed()

    def test_dying(self):  # U01: whatever is in flight then is answered, and it is started again
        self.server_of.on["tools/call"] = MISDEEDS["silent"]
        mark = self.server_of.mark
        calls = [self.send(n=n) for n in range(200)]
        self.server_of.wait("tools/call", len(calls), mark)
        self.server_of.die()
        for request_id in calls:
            self.assertIs(self.assertFails(self.answer(request_id))["retryable"], True)
        del self.server_of.on["tools/call"]
        self.assertBehaves()
        for name in ("dies", "dies in the middle of a message"):
            for _ in range(5):
                self.assertFails(self.during(MISDEEDS[name]))
                self.assertBehaves()
        self.assertUnharmed()

    def test_dead_when_the_call_arrives(self):
        """It ends behind an answer: nobody has noticed when the next call is made."""

        def misdeed(q):
            q.result(q.server.result_of(q))
            q.server.die()

        right = 0
        self.server_of.on["tools/call"] = misdeed
        for n in range(20):
            answer = self.call(n=n)
            if answer.result.get("isError"):
                self.assertFails(answer)  # it was quicker than the news
            else:
                self.assertRight(answer, n=n)
                right += 1
        del self.server_of.on["tools/call"]
        self.assertGreater(right, 0)
        if "isError" in self.call(n=20).result:
            self.assertBehaves()
        self.assertBehaves()
        self.assertUnharmed()

    def test_late_answers(self):  # U31: to calls that were cancelled
        self.server_of.on["tools/call"] = MISDEEDS["silent"]
        mark = self.server_of.mark
        calls = [self.send(n=n) for n in range(50)]
        arrived = [self.server_of.wait("tools/call", n + 1, mark) for n in range(50)]
        for request_id in calls:
            self.client.cancel(request_id)
        self.client.barrier()
        if self.transport != "modern http":
            self.server_of.wait("notifications/cancelled", 50, mark)
        self.cancelled = len(calls)
        for q in arrived:
            q.say(q.good())
            q.end()
        del self.server_of.on["tools/call"]
        self.assertBehaves()
        self.assertUnharmed(kept=0 if "pipes" in self.transport else KEPT_CONNECTIONS)


class Pipes(Calls, EvilUpstreamTest):
    transport = "pipes"

    def test_a_process_that_ends_in_parts(self):  # U11
        """Killed while somebody holds its pipes; its output closed while it lives on."""
        pipes = self.server_of.transport

        def killed(q):
            os.kill(q.run.pid, signal.SIGKILL)

        def mute(q):
            os.dup2(os.open(os.devnull, os.O_WRONLY | os.O_CLOEXEC), q.run.stdout)

        for misdeed, words in ((killed, "SIGKILL"), (mute, "closed its output")):
            for _ in range(3):
                self.assertFails(self.during(misdeed), words)
                self.assertBehaves()
        for run in pipes.runs[:-1]:
            run.end(0)
        self.assertUnharmed()

    def test_a_flood_of_noise(self):  # U04: it is ended, and the next process begins with a clean slate
        for _ in range(3):
            self.assertFails(self.during(say(b"noise\n" * 200)), "not MCP messages")
            self.assertRight(self.during(say("one line of noise"), a=1), a=1)
        self.assertUnharmed()


class ModernPipes(Calls, EvilUpstreamTest):
    transport = "modern pipes"


class Http(Calls, EvilUpstreamTest):
    transport = "http"


class ModernHttp(Calls, EvilUpstreamTest):
    transport = "modern http"


class OldHttp(Calls, EvilUpstreamTest):
    transport = "sse"


class Unix(Calls, EvilUpstreamTest):
    transport = "unix"


class WebSocket(Calls, EvilUpstreamTest):
    transport = "websocket"


class ModernWebSocket(Calls, EvilUpstreamTest):
    transport = "modern websocket"


class TooLarge(EvilUpstreamTest):
    """U03, D05: `limits.upstream_message` holds on every transport, to the byte; the failure names the limit."""

    most = 1 << 20
    limits = {**EvilUpstreamTest.limits, "upstream_message": "1MiB"}

    def evil_toolsets(self):
        return {t.replace(" ", "-"): (self.evil(t, t.replace(" ", "-")), {}) for t in TRANSPORTS}

    def test_each(self):
        for name in self.evils:
            self.assertBehaves(name)
        self.take_baseline()

        def sized(q, size):
            text = q.reply(result={"content": [], "x": ""})
            return text.replace('"x":""', f'"x":"{"y" * (size - len(text))}"')

        for name, (evil, _) in self.evils.items():
            words = "too large" if "websocket" in name else str(self.most)
            with self.subTest(name):
                evil.on["tools/call"] = lambda q: (q.say(sized(q, self.most)), q.end())
                self.assertEqual(len(self.call(name).result["x"]) // 1000, self.most // 1000)
                evil.on["tools/call"] = lambda q: (q.say(sized(q, self.most + 1)), q.end())
                self.assertFails(self.call(name), words, toolset=name)
                evil.on["tools/call"] = lambda q: [q.part(b"x" * self.most) for _ in range(8)]
                self.assertFails(self.call(name), words, toolset=name)
            evil.on.clear()
            self.assertBehaves(name)
        self.assertUnharmed()


if __name__ == "__main__":
    main()
