# SPDX-License-Identifier: Apache-2.0
"""What an upstream asks of clients, for clients and servers of both eras (DESIGN.md, "ask").

MCP 2025-11-25 client/sampling, client/elicitation, client/roots; 2026-07-28 basic/patterns/mrtr.
"""

import json

from mcp import META, HubTest, LegacyClient, ModernClient, main

SAMPLING = {
    "messages": [{"role": "user", "content": {"type": "text", "text": "caf\u00e9"}}],
    "maxTokens": 7,
    "x-unknown": [1.5, {}],
}
FORM = {"message": "who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}
URL = {"mode": "url", "message": "go", "url": "https://example.test/x", "elicitationId": "e-1"}

# method, params, the capability it takes, an answer
QUESTIONS = [
    ("sampling/createMessage", SAMPLING, {"sampling": {}},
     {"role": "assistant", "content": {"type": "text", "text": "4"}, "model": "m", "x": 1}),
    ("elicitation/create", FORM, {"elicitation": {}}, {"action": "accept", "content": {"name": "Ann"}}),
    ("elicitation/create", URL, {"elicitation": {"form": {}, "url": {}}}, {"action": "decline"}),
    ("roots/list", None, {"roots": {}}, {"roots": [{"uri": "file:///r", "name": "r"}]}),
]
ALL = {"sampling": {}, "elicitation": {"form": {}, "url": {}}, "roots": {}}


def asking(method, params, **more):
    return {"method": method, **({"params": params} if params is not None else {}), **more}


class Upstream(HubTest):
    def start(self, era, *flags):
        recorder = self.recorder()
        return self.hub(toolsets={"up": recorder.toolset("--era", era, "--content", *flags)}), recorder

    def legacy_client(self, hub, capabilities):
        client = LegacyClient(hub, capabilities=capabilities)
        client.names()
        return client

    def modern_client(self, hub, capabilities):
        client = ModernClient(hub, capabilities)
        client.names()
        return client

    def wait_question(self, hub, method, since=0):
        return hub.wait_for(lambda m: m.method == method and "id" in m.data, method, since)

    def retry(self, client, request_id, arguments, first, answer):
        """The second round of a modern client's call."""
        (key,) = first.result["inputRequests"]
        params = {
            "name": "up__ask",
            "arguments": arguments,
            "inputResponses": {key: answer},
            "requestState": first.result["requestState"],
        }
        return client.request("tools/call", params)


class LegacyServer(Upstream):
    def test_a_legacy_client(self):
        for method, params, capabilities, answer in QUESTIONS:
            with self.subTest(method, params=params):
                hub, recorder = self.start("legacy")
                client = self.legacy_client(hub, capabilities)
                hub.answers[method] = lambda _, answer=answer: answer
                said = client.call("up__ask", asking(method, params)).result["structuredContent"]
                self.assertEqual(said, {"result": answer})
                asked = self.wait_question(hub, method)
                self.assertEqual(asked.data.get("params", None), params)
                hub.finish()

    def test_a_modern_client(self):
        for method, params, capabilities, answer in QUESTIONS:
            with self.subTest(method, params=params):
                hub, recorder = self.start("legacy")
                client = self.modern_client(hub, capabilities)
                arguments = asking(method, params)
                first = client.call("up__ask", arguments)
                self.assertEqual(first.result["resultType"], "input_required")
                (question,) = first.result["inputRequests"].values()
                self.assertEqual(question["method"], method)
                said = self.retry(client, None, arguments, first, answer).result["structuredContent"]
                self.assertEqual(said, {"result": answer})
                self.assertEqual(len(recorder.sync().lines("tools/call")), 1)
                hub.finish()

    def test_the_answers_bytes_and_the_servers_id_are_kept(self):  # D01
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        for raw_id in ('"a \\u00e9 \\"b\\""', "0", "7", "9007199254740993"):
            mark, since = recorder.mark, hub.mark
            request_id = client.send_call("up__ask", asking("roots/list", None, id=raw_id))
            asked = self.wait_question(hub, "roots/list", since)
            hub.send(f'{{"id":{asked.slice("id")},"jsonrpc":"2.0","result":{{ "roots" : [], "n":1.10}}}}')
            hub.response(request_id).result
            line = next(text for text in recorder.sync().lines(since=mark) if '"roots" :' in text)
            self.assertEqual(line, f'{{"jsonrpc":"2.0","id":{raw_id},"result":{{ "roots" : [], "n":1.10}}}}')

    def test_the_clients_refusal_is_passed_on(self):
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        request_id = client.send_call("up__ask", asking("sampling/createMessage", SAMPLING))
        asked = self.wait_question(hub, "sampling/createMessage")
        hub.send({"jsonrpc": "2.0", "id": asked.id, "error": {"code": -1, "message": "rejected", "data": [1]}})
        said = hub.response(request_id).result["structuredContent"]
        self.assertEqual(said, {"error": {"code": -1, "message": "rejected", "data": [1]}})

    def test_a_client_that_cannot(self):
        for method, params, capabilities, _ in QUESTIONS:
            for kind in (self.legacy_client, self.modern_client):
                with self.subTest(method, kind=kind.__name__):
                    hub, recorder = self.start("legacy")
                    client = kind(hub, {k: v for k, v in ALL.items() if k not in capabilities})
                    said = client.call("up__ask", asking(method, params)).result["structuredContent"]
                    self.assertEqual(said["error"]["code"], -32601)
                    self.assertSays(said["error"]["message"], "does not offer")
                    hub.finish()

    def test_params_that_are_none(self):
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        said = client.call("up__ask", asking("elicitation/create", {"mode": "telepathy"})).result
        self.assertEqual(said["structuredContent"]["error"]["code"], -32602)

    def test_a_method_that_is_none(self):
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        said = client.call("up__ask", asking("sampling/dream", {})).result["structuredContent"]
        self.assertEqual(said["error"]["code"], -32601)

    def test_ping(self):
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, {})
        said = client.call("up__ask", asking("ping", None)).result["structuredContent"]
        self.assertEqual(said, {"result": {}})

    def test_what_a_server_is_offered(self):
        hub, recorder = self.start("legacy")
        self.legacy_client(hub, {})
        params = json.loads(recorder.wait_request("initialize"))["params"]
        self.assertEqual(set(params["capabilities"]) - {"experimental"}, {"sampling", "elicitation", "roots"})
        self.assertEqual(set(params["capabilities"]["elicitation"]), {"form", "url"})

    def test_without_a_call_nobody_is_asked(self):
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        for method, params in (("elicitation/create", FORM), ("sampling/createMessage", SAMPLING)):
            mark, since = recorder.mark, hub.mark
            recorder.write(json.dumps({"jsonrpc": "2.0", "id": 5, "method": method, "params": params}))
            line = json.loads(recorder.wait_line(lambda m: m.get("id") == 5, since=mark))
            self.assertEqual(line["error"]["code"], -32601)
            client.barrier()
            self.assertEqual([m for m in hub.messages[since:] if m.method == method], [])

    def test_the_server_takes_a_question_back(self):
        """The client is told, its answer is not sent any more, and the call goes on."""
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        request_id = client.send_call("up__ask", asking("roots/list", None, id="77"))
        asked = self.wait_question(hub, "roots/list")
        recorder.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}')
        taken_back = hub.wait_for(lambda m: m.method == "notifications/cancelled", "the question's end")
        self.assertEqual(taken_back.params["requestId"], asked.id)
        client.call("up__echo").result
        mark = recorder.mark
        hub.send({"jsonrpc": "2.0", "id": asked.id, "result": {"roots": []}})
        client.call("up__echo").result
        self.assertEqual([t for t in recorder.sync().lines(since=mark) if json.loads(t).get("id") == 77], [])
        recorder.answer(recorder.lines("tools/call")[0])
        hub.response(request_id).result

    def test_a_question_of_a_modern_client_is_taken_back(self):
        """It is away with the question: what it answers is ignored."""
        hub, recorder = self.start("legacy")
        client = self.modern_client(hub, ALL)
        arguments = asking("roots/list", None, id="78")
        first = client.call("up__ask", arguments)
        recorder.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":78}}')
        recorder.answer(recorder.sync().lines("tools/call")[0], '"content":[],"done":1')
        client.call("up__echo").result  # the hub has read that far
        self.assertEqual(self.retry(client, None, arguments, first, {"roots": []}).result["done"], 1)
        self.assertEqual([t for t in recorder.sync().lines() if json.loads(t).get("id") == 78], [])

    def test_what_is_taken_back_may_be_anothers(self):
        """An id that no question has, or that one had before."""
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        hub.answers["roots/list"] = lambda _: {"roots": []}
        client.call("up__ask", asking("roots/list", None, id="79")).result
        request_id = client.send_call("up__hold")
        call = recorder.wait_calls(2)[1]
        for raw_id in ("79", '"79"', "null", "{}", '"ask-1"', "-1"):
            recorder.write(f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{raw_id}}}}}')
        recorder.answer(call)
        hub.response(request_id).result
        self.assertEqual(hub.notifications("notifications/cancelled"), [])

    def test_the_call_is_cancelled(self):
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        request_id = client.send_call("up__ask", asking("roots/list", None, id="88"))
        asked = self.wait_question(hub, "roots/list")
        client.cancel(request_id)
        line = json.loads(recorder.wait_line(lambda m: m.get("id") == 88))
        self.assertSays(line["error"]["message"], "over")
        taken_back = hub.wait_for(lambda m: m.method == "notifications/cancelled", "the question's end")
        self.assertEqual(taken_back.params["requestId"], asked.id)

    def test_the_server_dies_while_it_asks(self):  # U01
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        request_id = client.send_call("up__ask", asking("roots/list", None, id="99"))
        asked = self.wait_question(hub, "roots/list")
        recorder.command(exit=1)
        self.assertEqual(hub.response(request_id).tool_error["code"], "TOOL_UNAVAILABLE")
        recorder.wait_gone()
        client.call("up__echo").result
        mark = recorder.mark
        hub.send({"jsonrpc": "2.0", "id": asked.id, "result": {"roots": []}})
        client.call("up__echo").result
        self.assertEqual([t for t in recorder.sync().lines(since=mark) if json.loads(t).get("id") == 99], [])

    def test_too_many_questions(self):
        """Sixteen for a call, at one time."""
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        request_id = client.send_call("up__hold")
        call = recorder.wait_calls(1)[0]
        mark = recorder.mark
        for number in range(17):
            recorder.write(f'{{"jsonrpc":"2.0","id":"q{number}","method":"roots/list"}}')
        line = json.loads(recorder.wait_line(lambda m: str(m.get("id")).startswith("q"), since=mark))
        self.assertEqual(line["id"], "q16")
        self.assertSays(line["error"]["message"], "too many")
        asked = hub.wait_until(
            lambda: [m for m in hub.messages if m.method == "roots/list"][15:], "the sixteenth question"
        )
        hub.send({"jsonrpc": "2.0", "id": asked[0].id, "result": {"roots": []}})
        recorder.wait_line(lambda m: m.get("id") == "q15")
        recorder.answer(call)
        hub.response(request_id).result


class Roots(Upstream):
    """Roots outside of calls (2025-11-25 client/roots): a server asks when it has begun, and when they have changed."""

    CHANGED = "notifications/roots/list_changed"

    def ask(self, recorder, raw_id):
        """The answer to the server's roots/list."""
        mark = recorder.mark
        recorder.write(f'{{"jsonrpc":"2.0","id":{raw_id},"method":"roots/list"}}')
        return recorder, raw_id, mark

    def told(self, asked):
        recorder, raw_id, mark = asked
        return json.loads(recorder.wait_line(lambda m: m.get("id") == raw_id and "method" not in m, since=mark))

    def test_the_only_client_is_asked(self):
        hub, recorder = self.start("legacy", "--ask-at-start")
        hub.answers["roots/list"] = lambda _: {"roots": [{"uri": "file:///r"}]}
        client = self.legacy_client(hub, ALL)
        for start in range(2):
            client.call("up__echo").result
            told = self.told((recorder, f"start-{recorder.sync().starts[start]}", 0))
            self.assertEqual(told["result"], {"roots": [{"uri": "file:///r"}]})
            client.call("up__die").tool_error
            recorder.wait_gone(start + 1)

    def test_a_client_that_has_none_is_not(self):
        hub, recorder = self.start("legacy", "--ask-at-start")
        client = self.legacy_client(hub, {"sampling": {}})
        client.call("up__echo").result
        self.assertEqual(self.told((recorder, f"start-{recorder.sync().starts[0]}", 0))["error"]["code"], -32601)
        self.assertEqual([m for m in hub.messages if m.method == "roots/list"], [])

    def test_a_change_is_passed_on_to_who_was_told_them(self):
        idle, recorder = self.recorder(), self.recorder()
        hub = self.hub(toolsets={"up": recorder.toolset("--content"), "idle": idle.toolset("--content")})
        client = self.legacy_client(hub, {"roots": {"listChanged": True}})
        client.notify(self.CHANGED)
        roots = [{"uri": "file:///a"}]
        hub.answers["roots/list"] = lambda _: {"roots": roots}
        self.assertEqual(self.told(self.ask(recorder, 1))["result"]["roots"], [{"uri": "file:///a"}])
        mark = recorder.mark
        roots[0] = {"uri": "file:///b"}
        client.notify(self.CHANGED)
        self.assertNotIn("id", json.loads(recorder.wait_request(self.CHANGED, mark)))
        self.assertEqual(self.told(self.ask(recorder, 2))["result"]["roots"], [{"uri": "file:///b"}])
        self.assertEqual(len(recorder.sync().lines(self.CHANGED)), 1)
        self.assertEqual(idle.sync().lines(self.CHANGED), [])

    def test_a_modern_server_hears_of_no_change(self):
        """2026-07-28 has no such message: it asks with each call that needs them."""
        hub, recorder = self.start("modern")
        client = self.legacy_client(hub, ALL)
        hub.answers["roots/list"] = lambda _: {"roots": []}
        client.call("up__ask", asking("roots/list", None)).result
        client.notify(self.CHANGED)
        client.call("up__echo").result
        self.assertEqual(recorder.sync().lines(self.CHANGED), [])


class ByUrl(Upstream):
    """Elicitation by URL (2025-11-25 client/elicitation; 2026-07-28 client/elicitation, basic/index, Error Codes)."""

    DONE = "notifications/elicitation/complete"
    ERROR = (
        '{"code": -32042 ,"message":"first go there","data":{"x":1.0,"elicitations":'
        '[{"mode":"url","elicitationId":"e-1","url":"https://example.test/x","message":"go","z":[1e2]}]}}'
    )

    def fail(self, recorder, line):
        recorder.write(f'{{"jsonrpc":"2.0","id":{json.loads(line)["id"]},"error":{self.ERROR}}}')

    def test_the_end_of_one_is_passed_on(self):
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        hub.answers["elicitation/create"] = lambda _: {"action": "accept"}
        client.call("up__ask", asking("elicitation/create", URL)).result
        recorder.write(f'{{"jsonrpc":"2.0","method":"{self.DONE}","params":{{"elicitationId":"\\u0065-1","x":1.50}}}}')
        done = hub.wait_for(lambda m: m.method == self.DONE, self.DONE)
        self.assertEqual(done.slice("params"), '{"elicitationId":"\\u0065-1","x":1.50}')
        for params in ('{"elicitationId":"e-1"}', '{"elicitationId":"e-2"}', "{}", '{"elicitationId":1}'):
            recorder.write(f'{{"jsonrpc":"2.0","method":"{self.DONE}","params":{params}}}')
        client.call("up__echo").result
        self.assertEqual(len(hub.notifications(self.DONE)), 1)

    def test_the_error_of_a_legacy_client(self):
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        request_id = client.send_call("up__hold")
        self.fail(recorder, recorder.wait_calls(1)[0])
        self.assertEqual(hub.response(request_id).slice("error"), self.ERROR)
        recorder.write(f'{{"jsonrpc":"2.0","method":"{self.DONE}","params":{{"elicitationId":"e-1"}}}}')
        hub.wait_for(lambda m: m.method == self.DONE, self.DONE)

    def test_the_error_of_a_modern_client(self):
        """It is sent there as its revision has it; its retry is the call once more."""
        hub, recorder = self.start("legacy")
        client = self.modern_client(hub, ALL)
        request_id = client.send_call("up__hold", {"a": 1})
        self.fail(recorder, recorder.wait_calls(1)[0])
        first = hub.response(request_id)
        self.assertEqual(first.result["resultType"], "input_required")
        self.assertNotIn("requestState", first.result)
        ((key, question),) = first.result["inputRequests"].items()
        self.assertEqual((question["method"], question["params"]["url"]), ("elicitation/create", "https://example.test/x"))
        params = {"name": "up__hold", "arguments": {"a": 1}}
        request_id = client.send("tools/call", {**params, "inputResponses": {key: {"action": "accept"}}})
        recorder.answer(recorder.wait_calls(2)[1], '"content":[],"done":1')
        self.assertEqual(hub.response(request_id).result["done"], 1)
        request_id = client.send("tools/call", {**params, "inputResponses": {key: {"action": "decline"}}})
        self.fail(recorder, recorder.wait_calls(3)[2])
        self.assertSays(hub.response(request_id).tool_error["message"], "did not agree")
        recorder.write(f'{{"jsonrpc":"2.0","method":"{self.DONE}","params":{{"elicitationId":"e-1"}}}}')
        client.call("up__echo").result
        self.assertEqual(hub.notifications(self.DONE), [])

    def test_the_error_of_a_modern_client_that_cannot_go_there(self):
        hub, recorder = self.start("legacy")
        client = self.modern_client(hub, {"elicitation": {}})
        request_id = client.send_call("up__hold")
        self.fail(recorder, recorder.wait_calls(1)[0])
        error = hub.response(request_id).error
        self.assertEqual((error["code"], error["message"]), (-32021, "first go there"))
        self.assertEqual(error["data"], {"requiredCapabilities": {"elicitation": {"url": {}}}})


class ModernServer(Upstream):
    def test_a_modern_client(self):
        """input_required passes as it is, and requestState with a seal: nothing is stored."""
        for method, params, capabilities, answer in QUESTIONS:
            with self.subTest(method, params=params):
                params = None if params is None else {k: v for k, v in params.items() if k != "elicitationId"}
                hub, recorder = self.start("modern")
                client = self.modern_client(hub, capabilities)
                arguments = asking(method, params)
                first = client.call("up__ask", arguments)
                self.assertRegex(first.slice("result", "requestState"), r'^"pb2\.[0-9a-f]{32}\.round \\u0031"$')
                self.assertEqual(list(first.result["inputRequests"]), ["the key"])
                second = self.retry(client, None, arguments, first, answer)
                self.assertEqual(second.result["structuredContent"], {"said": {"the key": answer}, "state": "round 1"})
                told = json.loads(recorder.sync().lines("tools/call")[0])["params"]["_meta"]
                self.assertEqual(told[META + "clientCapabilities"], capabilities)
                hub.finish()

    def test_a_legacy_client(self):
        for method, params, capabilities, answer in QUESTIONS:
            with self.subTest(method, params=params):
                params = None if params is None else {k: v for k, v in params.items() if k != "elicitationId"}
                hub, recorder = self.start("modern")
                client = self.legacy_client(hub, capabilities)
                hub.answers[method] = lambda _, answer=answer: answer
                said = client.call("up__ask", asking(method, params)).result["structuredContent"]
                self.assertEqual(said, {"said": {"the key": answer}, "state": "round 1"})
                told = json.loads(recorder.sync().lines("tools/call")[0])["params"]["_meta"]
                self.assertEqual(told[META + "clientCapabilities"], capabilities)
                hub.finish()

    def test_it_has_no_requests(self):
        """basic/transports/stdio: a modern server writes none, and is answered none."""
        hub, recorder = self.start("modern")
        client = self.modern_client(hub, ALL)
        mark = recorder.mark
        recorder.write('{"jsonrpc":"2.0","id":5,"method":"ping"}')
        client.call("up__echo").result
        self.assertEqual([t for t in recorder.sync().lines(since=mark) if json.loads(t).get("id") == 5], [])


if __name__ == "__main__":
    main()
