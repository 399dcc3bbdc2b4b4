# SPDX-License-Identifier: Apache-2.0
"""Nobody gets another's answer (P09, P10, P16, P17, U30)."""

import json
import random

from mcp import INVALID_REQUEST, HubTest, LegacyClient, ModernClient, fixture, key_of, main, slice_at


class Ids(HubTest):
    def start(self):
        recorder = self.recorder()
        hub = self.hub(toolsets={"up": recorder.toolset(), "alpha": fixture("one", "hold")})
        modern, legacy = ModernClient(hub), LegacyClient(hub)
        modern.call("up__echo").result
        return hub, recorder, modern, legacy

    def answer_shuffled(self, recorder, lines, seed=1):
        lines = list(lines)
        random.Random(seed).shuffle(lines)
        for line in lines:
            nonce = slice_at(line, "params", "arguments", "nonce")
            recorder.answer(line, f'"content":[],"structuredContent":{{"nonce":{nonce}}}')

    def test_one_and_the_text_one_are_two_ids(self):  # P09
        hub, recorder, modern, legacy = self.start()
        mark = recorder.mark
        ids = [value for n in range(1000, 1016) for value in (n, str(n))]
        for number, request_id in enumerate(ids):
            client = (modern, legacy)[number % 2]
            client.send_call("up__hold", {"nonce": json.dumps(request_id)}, request_id=request_id)
        lines = recorder.wait_calls(32, mark)
        self.answer_shuffled(recorder, lines)
        for request_id in ids:
            answer = hub.response(request_id)
            self.assertEqual(answer.result["structuredContent"]["nonce"], json.dumps(request_id))
        # The upstream never sees a client's id, and never one id twice.
        upstream = [slice_at(line, "id") for line in recorder.sync().lines() if slice_at(line, "id")]
        self.assertEqual(len(upstream), len(set(upstream)))

    def test_ids_of_any_form_come_back(self):
        hub, recorder, modern, _ = self.start()
        mark = recorder.mark
        ids = [0, -1, 2**53 + 1, -(2**63), 10**40, "", " ", "a\nb", "\u0000", "\U0001f600", "é", "1.0", "null"]
        for request_id in ids:
            modern.send_call("up__hold", {"nonce": 1}, request_id=request_id)
        self.answer_shuffled(recorder, recorder.wait_calls(len(ids), mark))
        for request_id in ids:
            self.assertEqual(key_of(hub.response(request_id).id), key_of(request_id))

    def test_a_second_request_with_an_id_in_flight_is_refused(self):  # P10
        hub, recorder, modern, legacy = self.start()
        mark = recorder.mark
        for number in range(100):
            first, second = (modern, legacy) if number % 2 else (legacy, modern)
            since = hub.mark
            first.send_call("up__hold", {"nonce": number}, request_id=5)
            line = recorder.wait_calls(number + 1, mark)[number]
            second.send_call("up__hold", {"nonce": "intruder"}, request_id=5)
            refusal = hub.response(5, since)
            self.assertEqual(refusal.code, INVALID_REQUEST)
            since = hub.mark
            self.answer_shuffled(recorder, [line])
            self.assertEqual(hub.response(5, since).result["structuredContent"]["nonce"], number)
        self.assertEqual(len(recorder.sync().lines("tools/call", mark)), 100)

    def test_native_calls_too(self):
        client = self.modern(toolsets={"alpha": fixture("one", "hold")})
        client.send_call("alpha__hold", request_id=5)
        self.assertEqual(client.call("alpha__one", request_id=5).code, INVALID_REQUEST)
        client.cancel(5)
        client.barrier()
        self.assertIn("result", client.call("alpha__one", request_id=5).data)


class Forgery(HubTest):
    def start(self):
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset()})
        client.call("up__echo").result
        return client, recorder

    def test_answers_to_nothing_are_dropped(self):  # U30, U31
        client, recorder = self.start()
        since = client.hub.mark
        held = client.send_call("up__hold")
        line = recorder.wait_calls(2)[-1]
        real = int(slice_at(line, "id"))
        for guess in [*range(real - 50, real), *range(real + 1, real + 50), f'"{real}"', "null", '"x"', "1.5"]:
            recorder.write(f'{{"jsonrpc":"2.0","id":{guess},"result":{{"content":[],"forged":true}}}}')
        client.barrier()
        self.assertEqual(client.hub.mark, since + 1)
        recorder.answer(line, '"content":[],"honest":true')
        self.assertIs(client.hub.response(held).result["honest"], True)

    def test_a_second_answer_is_dropped(self):
        client, recorder = self.start()
        since = client.hub.mark
        self.assertEqual(client.call("up__late").result["content"][0]["text"], "first")
        client.call("up__echo").result
        self.assertEqual(client.hub.mark, since + 2)

    def test_an_answer_after_a_cancel_is_dropped(self):
        client, recorder = self.start()
        held = client.send_call("up__hold")
        line = recorder.wait_calls(2)[-1]
        client.cancel(held)
        recorder.wait_request("notifications/cancelled")
        since = client.hub.mark
        recorder.answer(line)
        client.call("up__echo").result
        self.assertEqual(client.hub.mark, since + 1)


class Progress(HubTest):
    def test_equal_tokens_do_not_cross(self):  # P16
        recorder = self.recorder()
        hub = self.hub(toolsets={"up": recorder.toolset()})
        modern, legacy = ModernClient(hub), LegacyClient(hub)
        modern.call("up__echo").result
        mark, since = recorder.mark, hub.mark
        tokens = {}
        for number in range(20):
            client = (modern, legacy)[number % 2]
            token = (number // 2, str(number // 2))[number % 2]
            tokens[client.send_call("up__hold", {"n": number}, meta={"progressToken": token})] = token
        lines = recorder.wait_calls(20, mark)
        upstream = [slice_at(line, "params", "_meta", "progressToken") for line in lines]
        self.assertEqual(len(set(upstream)), 20)
        for number, (line, token) in enumerate(zip(lines, upstream)):
            recorder.write(
                '{"jsonrpc":"2.0","method":"notifications/progress","params":'
                f'{{"progressToken":{token},"progress":{number + 1},"total":1e400,"message":"ü"}}}}'
            )
            recorder.answer(line)
        for request_id in tokens:
            hub.response(request_id)
        seen = hub.notifications("notifications/progress", since)
        self.assertEqual([key_of(m.params["progressToken"]) for m in seen], [key_of(t) for t in tokens.values()])
        self.assertEqual([m.params["progress"] for m in seen], list(range(1, 21)))
        self.assertTrue(all(m.slice("params", "total") == "1e400" for m in seen))
        # Progress comes before its result.
        order = [m for m in hub.messages[since:]]
        for request_id, token in tokens.items():
            told = next(i for i, m in enumerate(order) if m.method == "notifications/progress" and key_of(m.params["progressToken"]) == key_of(token))
            done = next(i for i, m in enumerate(order) if m.method is None and m.id == request_id)
            self.assertLess(told, done)

    def test_no_progress_without_a_token(self):
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset()})
        since = client.hub.mark
        client.call("up__progress").result
        self.assertEqual(client.hub.notifications("notifications/progress", since), [])

    def test_bad_progress_is_dropped(self):
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset()})
        held = client.send_call("up__hold", meta={"progressToken": "t"})
        line = recorder.wait_calls(1)[0]
        token = slice_at(line, "params", "_meta", "progressToken")
        for params in (
            '{"progressToken":"other","progress":1}',
            '{"progressToken":99999999,"progress":1}',
            f'{{"progressToken":{token},"progress":"much"}}',
            f'{{"progressToken":{token}}}',
            "{}",
        ):
            recorder.write(f'{{"jsonrpc":"2.0","method":"notifications/progress","params":{params}}}')
        recorder.answer(line)
        client.hub.response(held).result
        recorder.write(f'{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":9}}}}')
        client.call("up__echo").result
        self.assertEqual(client.hub.notifications("notifications/progress"), [])


class Cancels(HubTest):
    def test_each_cancel_reaches_the_one_request_it_means(self):  # P17
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset()})
        client.call("up__echo").result
        mark = recorder.mark
        held = [client.send_call("up__hold", {"n": n}) for n in range(50)]
        lines = recorder.wait_calls(50, mark)
        upstream = {json.loads(line)["params"]["arguments"]["n"]: json.loads(line)["id"] for line in lines}
        for number in range(0, 50, 2):
            client.cancel(held[number])
        recorder.wait_until(lambda: len(recorder.lines("notifications/cancelled", mark)) >= 25, "25 cancels")
        cancelled = [json.loads(line)["params"]["requestId"] for line in recorder.lines("notifications/cancelled", mark)]
        self.assertEqual(cancelled, [upstream[n] for n in range(0, 50, 2)])
        for line in lines:
            recorder.answer(line, f'"content":[],"n":{json.loads(line)["params"]["arguments"]["n"]}')
        for number in range(1, 50, 2):
            self.assertEqual(client.hub.response(held[number]).result["n"], number)
        answered = {m.id for m in client.hub.messages if m.method is None}
        self.assertFalse(answered & {held[n] for n in range(0, 50, 2)})


if __name__ == "__main__":
    main()
