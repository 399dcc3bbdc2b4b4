# SPDX-License-Identifier: Apache-2.0
"""What fidelity_matrix.py is for tools, for what servers ask on the way: sampling, elicitation, roots, and the answers
(promise 2; D01). A legacy server asks in a request, a modern one in a result (2026-07-28 basic/patterns/mrtr).

A cell that cannot be: a legacy server that answers a POST with JSON has nothing to ask on (2025-11-25
basic/transports, Sending Messages to the Server, 5 and 6: requests of a server come on an event stream).
"""

import json
import re

from fidelity_clients import HttpStream, answer_to
from fidelity_eras import carried, member, same
from fidelity_hub import PARAMS, RESULT, FidelityTest, Plan
from json_slice import slice_at
from mcp import main


# Method, whether it is an elicitation by URL, and the first revision that has it.
QUESTIONS = [
    ("roots/list", False, "2024-11-05"),
    ("sampling/createMessage", False, "2024-11-05"),
    ("elicitation/create", False, "2025-06-18"),
    ("elicitation/create", True, "2025-11-25"),
]
INPUT = {"inputRequests", "requestState"}


class Question:
    """One question: what is asked and answered, in a call of one cell."""

    def __init__(self, test, path, made, client, method, by_url):
        self.test, self.path, self.made, self.client, self.method = test, path, made, client, method
        self.up, self.down = test.corpora(made, client, path)
        self.asked = self.ask(by_url)
        self.said = self.answer()
        self.final = ("result", test.result(self.down, made, ('"content"', "[]")))
        self.token = test.token(self.up, 1) if isinstance(client, HttpStream) else None
        known = [('"name"', f'"{made.server.key}__t1"'), ('"arguments"', self.up.object(least=1))]
        self.params = test.params(self.up, client, *known, token=self.token)
        self.heard = []

    def ask(self, by_url):
        """The params of the question, or None."""
        down = self.down
        if self.method == "roots/list":
            return down.random.choice([None, down.object()])
        if self.method == "sampling/createMessage":
            text = down.object(('"type"', '"text"'), ('"text"', down.string()))
            message = down.object(('"role"', '"user"'), ('"content"', text))
            known = [('"messages"', f"[{message}]"), (down.spelled("maxTokens"), down.random.choice(["7", "1E2"]))]
            return down.object(*known, least=1, reserved=PARAMS | {"tools", "toolChoice"})
        known = [(down.spelled("message"), down.string())]
        if by_url:
            known += [(down.spelled("mode"), down.spelled("url")), ('"url"', '"https:\\/\\/example.test\\/x"')]
            if self.made.server.era == "legacy":
                known.append(('"elicitationId"', down.string()))
        else:
            schema = down.object(('"type"', '"object"'), ('"properties"', down.object()))
            known.append(('"requestedSchema"', schema))
        return down.object(*known, least=1, reserved=PARAMS | {"mode", "elicitationId"})

    def answer(self):
        up = self.up
        if self.method == "roots/list":
            known = [('"roots"', "[" + up.object(('"uri"', '"file:\\/\\/\\/r"')) + "]")]
        elif self.method == "sampling/createMessage":
            known = [('"role"', '"assistant"'), ('"content"', up.object(('"type"', '"text"'))), ('"model"', up.string())]
        else:
            known = [(up.spelled("action"), '"accept"'), ('"content"', up.object())]
        return up.object(*known, least=1, reserved=RESULT)

    def plan(self, *results, question=None):
        notes = self.test.notes(self.down, self.client, self.made, 1 if self.token else 0)
        plan = Plan(*results, notes=notes, question=question)
        return self.made.server.plan("tools/call", "t1", plan)

    def reply(self, text, answered="result"):
        self.heard.append(text)
        return answer_to(text, answered, self.said)

    def same_question(self, got):
        """Params as the client got them."""
        keeps = self.client.keeps_breaks and not self.came_as_event
        if self.asked is None:
            same(f"{self.path} question", None, got)
        else:
            self.test.compare(f"{self.path} question", "question", self.asked, got, self.client, self.made, keeps)

    @property
    def came_as_event(self):
        """A request of the hub, over streamable HTTP."""
        return self.client.era == "legacy" and hasattr(self.client, "session")

    def same_answer(self, got):
        same(f"{self.path} answer", carried(self.said, self.made.keeps_breaks), got)
        self.test.compared += 1

    def same_result(self, answer, raw, state=None):
        got, values = member(answer.text, "result"), {"resultType": '"complete"', "requestState": state}
        self.test.compare(f"{self.path} result", "result", raw, got, self.client, self.made, answer.keeps_breaks, values)

    def same_request(self, sent, got):
        self.test.requested(self.path, self.made, self.client, sent, got, '"t1"')

    def again(self, key, state):
        """The params of the request with the answer."""
        more = f'"inputResponses":{{{key}:{self.said}}},"requestState":{state}'
        return f"{self.params.rstrip()[:-1]},{more}}}"

    # -- a server of a handshake revision -----------------------------------------------------------

    def to_legacy_server(self):
        answered = "error" if self.client.era == "legacy" and self.up.random.random() < 0.25 else "result"
        if answered == "error":
            known = [('"code"', self.up.random.choice(["-1", "0", "4242"])), ('"message"', self.up.string())]
            self.said = self.up.object(*known, least=1, reserved={"code", "message", "data"})
        question_id = self.down.random.choice(['"q \\u00e9\\ud83d"', '"\\/"', "0", "-7", "123456789012345678901234567890"])
        plan = self.plan(self.final, question=(question_id, self.method, self.asked))
        if self.client.era == "legacy":
            answer = self.client.ask("tools/call", self.params, lambda text: self.reply(text, answered))
            (question,) = self.heard
            self.same_question(slice_at(question, "params"))
        else:
            first = self.client.ask("tools/call", self.params)
            requests = member(first.text, "result", "inputRequests")
            (key,) = json.loads(requests)
            self.same_input(first, slice_at(requests, key, "params"))
            answer = self.client.ask("tools/call", self.again(json.dumps(key), member(first.text, "result", "requestState")))
        self.test.assertEqual(len(plan.requests), 1)
        (got,) = plan.answers
        same(f"{self.path} id", question_id, member(got, "id"))
        self.same_answer(slice_at(got, answered))
        self.same_result(answer, self.final[1])

    def same_input(self, first, got):
        if self.asked is None:
            same(f"{self.path} question", None, got)
        else:
            keeps = first.keeps_breaks
            self.test.compare(f"{self.path} question", "question", self.asked, got, self.client, self.made, keeps)

    # -- a server of 2026-07-28 -----------------------------------------------------------------------

    def to_modern_server(self):
        down = self.down
        key, state = down.key(), down.string()
        known = [(down.spelled("method"), f'"{self.method}"'), *([('"params"', self.asked)] if self.asked else [])]
        requests = down.wrap([(key, down.object(*known, reserved={"method", "params"}))])
        known = [('"resultType"', down.spelled("input_required")), ('"inputRequests"', requests), ('"requestState"', state)]
        required = down.object(*known, reserved=RESULT | INPUT)
        plan = self.plan(("result", required), self.final)
        again = self.again(key, state)
        if self.client.era == "legacy":
            answer = self.client.ask("tools/call", self.params, self.reply)
            (question,) = self.heard
            self.same_question(slice_at(question, "params"))
        else:
            first = self.client.ask("tools/call", self.params)
            sealed = member(first.text, "result", "requestState")
            self.same_result(first, required, sealed)
            same(f"{self.path} state", state, re.sub(r'^"pb2\.[0-9a-f]{32}\.', '"', sealed))
            answer = self.client.ask("tools/call", self.again(key, sealed))
        self.test.assertEqual(len(plan.requests), 2, answer.text)
        self.same_request(self.params, plan.requests[0])
        self.same_request(again, plan.requests[1])
        self.same_result(answer, self.final[1])


class Questions(FidelityTest):
    def questions(self, made, client, seed):
        if made.server.era == "legacy" and not made.speaks_first:
            return
        for n, (method, by_url, since) in enumerate(QUESTIONS):
            if client.revision >= since:
                question = Question(self, f"{seed} {n}", made, client, method, by_url)
                ask = question.to_legacy_server if made.server.era == "legacy" else question.to_modern_server
                ask()

    def test_questions(self):
        self.start()
        for made in self.carriers:
            self.define(made, 2, 1)
        self.serve()
        self.each_cell(self.questions)
        self.done()


if __name__ == "__main__":
    main()
