# SPDX-License-Identifier: Apache-2.0
"""Nobody gets another's answer (P09, P10, P16, P17, U30), nor progress, news or questions."""

import json
import random

from crowd import CrowdTest
from mcp import INVALID_REQUEST, META, HubTest, LegacyClient, ModernClient, fixture, key_of, main, slice_at


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
        for guess in [*range(real - 50, real), *range(real + 1, real + 50), f'"{real + 1}"', "null", '"x"', "1.5"]:
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
        client.names()  # its server runs: nobody has to be told that it starts
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


class Crowd(CrowdTest):
    """Clients of both eras over stdio, a Unix socket, WebSocket and HTTP at once, that all say the same."""

    def start(self, capabilities=None, *flags):
        recorder = self.recorder()
        server = self.crowd(toolsets={"up": recorder.toolset("--content", *flags)})
        peers = self.everybody(server, capabilities)
        peers[0].barrier()
        return peers, recorder

    def test_same_ids_tokens_and_subscriptions(self):  # P09, P16
        peers, recorder = self.start()
        streams = {peer: peer.watch("rec:///one") for peer in peers}
        generator = random.Random(20260728)
        for turn in range(5):
            mark = recorder.mark
            since = {peer: peer.mark for peer in peers}
            for peer in peers:
                meta = {"progressToken": "t", META + "logLevel": "debug"} if peer.era == "modern" else {"progressToken": "t"}
                peer.send_call("up__hold", {"who": peer.name}, meta=meta, request_id=1000 + turn)
            lines = [json.loads(line) for line in recorder.wait_calls(len(peers), mark)]
            self.assertEqual(len({line["params"]["_meta"]["progressToken"] for line in lines}), len(peers))
            generator.shuffle(lines)
            for line in lines:
                who, token = line["params"]["arguments"]["who"], line["params"]["_meta"]["progressToken"]
                note = {"progressToken": token, "progress": turn + 1, "message": who}
                recorder.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/progress", "params": note}))
                log = {"level": "error", "data": who}
                recorder.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/message", "params": log}))
            recorder.command(updated="rec:///one")
            for line in lines:
                recorder.answer(json.dumps(line), f'"content":[],"who":{json.dumps(line["params"]["arguments"]["who"])}')
            for peer in peers:
                self.assertEqual(peer.response(1000 + turn, since[peer]).result["who"], peer.name)
                told = peer.heard("notifications/progress", since[peer])
                self.assertEqual([(m.params["progressToken"], m.params["message"]) for m in told], [("t", peer.name)])
                news = peer.wait_for(lambda m: m.method == "notifications/resources/updated", "the news", since[peer])
                self.assertEqual(news.params["uri"], "rec:///one")
                stream = news.params.get("_meta", {}).get(META + "subscriptionId")
                self.assertEqual(stream, streams[peer])
            for peer in peers:
                peer.barrier()
                self.assertEqual(len(peer.heard("notifications/resources/updated", since[peer])), 1)
                # A message of a legacy server about one of several clients' calls is for its connection: for those
                # who asked for such; a modern client is never told what may be another's.
                logs = peer.heard("notifications/message", since[peer])
                self.assertEqual(len(logs), 0 if peer.era == "modern" else len(peers))
        self.assertEqual(len(recorder.sync().lines("resources/subscribe")), 1)

    def test_questions_reach_who_caused_them(self):
        """Whatever is going on at the server beside the call that asks, nobody else hears of the question: it is
        answered by the one who called, or refused."""
        peers, recorder = self.start({"elicitation": {"form": {}, "url": {}}})
        generator = random.Random(20260728)
        for peer in peers:
            peer.answer_all(lambda method, params, peer=peer: {"action": "accept", "content": {"by": peer.name}})
        held = []  # calls that the server is busy with, and whose they are
        asked = {peer: [] for peer in peers}  # what each has caused
        outcomes = {"answered": 0, "refused": 0}
        for number in range(150):
            peer = generator.choice(peers)
            dice = generator.random()
            if dice < 0.25 and len(held) < 3:
                mark = recorder.mark
                held.append((peer, peer.send_call("up__hold", {"n": number}), recorder.wait_calls(1, mark)[0]))
            elif dice < 0.5 and held:
                owner, request_id, line = held.pop(generator.randrange(len(held)))
                if generator.random() < 0.5:
                    recorder.answer(line)
                    owner.response(request_id).result
                else:
                    mark = recorder.mark
                    owner.cancel(request_id)
                    recorder.wait_request("notifications/cancelled", mark)
            else:
                params = {"message": f"{number} for {peer.name}", "requestedSchema": {"type": "object", "properties": {}}}
                said = peer.call("up__ask", {"method": "elicitation/create", "params": params}).result["structuredContent"]
                if "result" in said:
                    self.assertEqual(said["result"]["content"]["by"], peer.name)
                    asked[peer].append(params["message"])
                    outcomes["answered"] += 1
                else:
                    self.assertEqual(said["error"]["code"], -32601)
                    self.assertTrue(any(owner is not peer or peer.era == "modern" for owner, _, _ in held), held)
                    outcomes["refused"] += 1
        for peer in peers:
            peer.barrier()
            heard = [params["message"] for _, params in peer.questions]
            self.assertEqual(heard, asked[peer], peer.name)
        self.assertGreater(outcomes["answered"], 20)
        self.assertGreater(outcomes["refused"], 10)

    def test_elicitations_end_for_who_was_sent_there(self):
        """2025-11-25 client/elicitation: the notification goes to that client alone; 2026-07-28 has none."""
        peers, recorder = self.start({"elicitation": {"form": {}, "url": {}}})
        generator = random.Random(20260728)
        for peer in peers:
            peer.answer_all(lambda method, params: {"action": "accept"})
        sent = {}
        for number in range(40):
            peer = generator.choice(peers)
            sent[f"e-{number}"] = peer
            params = {"mode": "url", "message": "go", "url": "https://example.test/", "elicitationId": f"e-{number}"}
            peer.call("up__ask", {"method": "elicitation/create", "params": params}).result
        ids = [*sent, "e-unknown", *sent]  # each twice: it is told once
        generator.shuffle(ids)
        for elicitation in ids:
            done = {"elicitationId": elicitation}
            recorder.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/elicitation/complete", "params": done}))
        peers[0].call("up__echo").result  # the hub has read that far
        for peer in peers:
            peer.barrier()
            own = {e for e, owner in sent.items() if owner is peer and peer.era == "legacy"}
            if peer.era == "legacy":
                peer.wait_until(lambda own=own, peer=peer: len(peer.heard("notifications/elicitation/complete")) >= len(own), own)
            heard = [m.params["elicitationId"] for m in peer.heard("notifications/elicitation/complete")]
            self.assertEqual(sorted(heard), sorted(own), peer.name)


if __name__ == "__main__":
    main()
