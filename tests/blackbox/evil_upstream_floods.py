# SPDX-License-Identifier: Apache-2.0
"""Upstreams that say too much: storms of progress, of changes, of requests and of questions. Calls are answered once and
rightly, what reaches the client is bounded, and so is what the server is asked (RELIABILITY.md P16, U13, U23)."""

import collections
import time

from evil_upstream_base import META, EvilUpstreamTest
from mcp import LIST_CHANGED, main

PROGRESS = "notifications/progress"
MANY = 2000


def notification(method, **params):
    return {"jsonrpc": "2.0", "method": method, "params": params}


class Floods:
    transport = None
    capabilities = {"sampling": {}}

    def evil_toolsets(self):
        return {"evil": (self.evil(self.transport), {})}

    def setUp(self):
        super().setUp()
        self.server_of = self.evils["evil"][0]
        self.assertBehaves()
        self.client.names()
        self.take_baseline()

    def storm(self, make):
        """So much at once, then the answer."""

        def misdeed(q):
            for n in range(MANY):
                q.say(make(q, n))
            q.say(q.good())
            q.end()

        return misdeed

    def test_progress(self):  # P16
        since, began = self.hub_process.mark, time.monotonic()
        answer = self.during(self.storm(lambda q, n: notification(PROGRESS, progressToken=q.token, progress=n + 1)), meta={"progressToken": "mine"}, a=1)
        self.assertRight(answer, a=1)
        with self.hub_process.condition:
            messages = self.hub_process.messages[since:]
        values = [m.params["progress"] for m in messages if m.method == PROGRESS]
        self.assertEqual(values, sorted(set(values)))
        self.assertEqual((values[0], values[-1]), (1, MANY))
        self.assertLessEqual(len(values), 20 + 20 * (time.monotonic() - began) + 1)
        self.assertIs(messages[-1], answer)
        self.assertBehaves()
        self.assertUnharmed()

    def test_progress_of_nobody(self):
        """To a client that did not ask for it, and after the answer."""
        since = self.hub_process.mark
        self.assertRight(self.during(self.storm(lambda q, n: notification(PROGRESS, progressToken=int(q.id), progress=n)), a=1), a=1)

        def late(q):
            q.say(q.good())
            for n in range(MANY):
                q.say(notification(PROGRESS, progressToken=q.token, progress=n))
            q.end()

        self.assertRight(self.during(late, meta={"progressToken": "mine"}, a=2), a=2)
        self.assertBehaves()
        self.assertEqual(self.hub_process.notifications(PROGRESS, since), [])
        self.assertUnharmed()

    def test_changes(self):  # U13: nothing has changed, whatever it says
        since, mark = self.hub_process.mark, self.server_of.mark
        listens = [q for q in self.server_of.of("subscriptions/listen")]

        def changed(q, n):
            about = {"_meta": {META + "subscriptionId": listens[-1].message["id"]}} if listens else {}
            return notification(LIST_CHANGED, **about)

        if listens:  # a modern server says it where it was asked to

            def misdeed(q):
                for n in range(MANY):
                    listens[-1].say(changed(q, n))
                q.result(q.server.result_of(q))

        else:
            misdeed = self.storm(changed)
        began = time.monotonic()
        self.assertRight(self.during(misdeed, a=1), a=1)
        self.server_of.wait("tools/list", 1, mark)
        self.assertBehaves()
        self.assertLessEqual(len(self.server_of.of("tools/list", mark)), 1 + 2 * (time.monotonic() - began))
        self.assertEqual(self.hub_process.notifications(LIST_CHANGED, since), [])
        self.assertUnharmed()

    def test_notifications_of_no_kind(self):
        self.assertRight(self.during(self.storm(lambda q, n: notification(f"notifications/n{n}")), a=1), a=1)
        self.assertUnharmed()


class Questions:
    """Of legacy servers; modern ones have no requests."""

    def ask(self, method, **params):
        """So many at once, during a call; each is answered once, and that takes few connections. Returns the answers."""
        mark = self.server_of.mark
        calls, most = [], [0]

        def misdeed(q):
            calls.append(q)
            for n in range(MANY):
                q.say({"jsonrpc": "2.0", "id": f"q{n}", "method": method, "params": params})

        def answers():
            return [q for q in self.server_of.requests[mark:] if q.message and q.method is None]

        def all_are_there():
            most[0] = max(most[0], self.descriptors())
            return len(answers()) >= MANY

        self.server_of.on["tools/call"] = misdeed
        request_id = self.send(a=1)
        self.server_of.wait_until(all_are_there, f"{MANY} answers")
        calls[0].say(calls[0].good())
        calls[0].end()
        del self.server_of.on["tools/call"]
        self.assertRight(self.answer(request_id), a=1)
        self.assertBehaves()
        found = collections.Counter(q.message["id"] for q in answers())
        self.assertEqual((len(found), set(found.values())), (MANY, {1}))
        self.assertLessEqual(most[0] - self.baseline[0], 40)
        return answers()

    def test_requests_of_no_kind(self):  # U23
        for q in self.ask("no/such"):
            self.assertEqual(q.message["error"]["code"], -32601)
        self.assertUnharmed(kept=self.kept)

    def test_pings(self):
        for q in self.ask("ping"):
            self.assertEqual(q.message["result"], {})
        self.assertUnharmed(kept=self.kept)

    def test_questions(self):
        said = {"role": "assistant", "content": {"type": "text", "text": "yes"}, "model": "m"}
        asked = []
        self.hub_process.answers["sampling/createMessage"] = lambda params: asked.append(params) or said
        answers = self.ask("sampling/createMessage", messages=[], maxTokens=1)
        good = [q for q in answers if q.message.get("result") == said]
        self.assertEqual(len(good), len(asked))
        self.assertGreater(len(good), 0)
        for q in answers:
            if q not in good:
                self.assertSays(q.message["error"]["message"], "too many questions")
        self.assertUnharmed(kept=self.kept)


class Pipes(Floods, Questions, EvilUpstreamTest):
    transport = "pipes"
    kept = 0


class ModernPipes(Floods, EvilUpstreamTest):
    transport = "modern pipes"


class Http(Floods, Questions, EvilUpstreamTest):
    transport = "http"
    kept = 32


class ModernHttp(Floods, EvilUpstreamTest):
    transport = "modern http"


class OldHttp(Floods, Questions, EvilUpstreamTest):
    transport = "sse"
    kept = 32


class WebSocket(Floods, Questions, EvilUpstreamTest):
    transport = "websocket"
    kept = 0


if __name__ == "__main__":
    main()
