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
        self.assertEqual(set(params["capabilities"]), {"sampling", "elicitation", "roots"})
        self.assertEqual(set(params["capabilities"]["elicitation"]), {"form", "url"})

    def test_without_a_call_nobody_is_asked(self):
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        mark, since = recorder.mark, hub.mark
        recorder.write('{"jsonrpc":"2.0","id":5,"method":"roots/list"}')
        line = json.loads(recorder.wait_line(lambda m: m.get("id") == 5, since=mark))
        self.assertEqual(line["error"]["code"], -32601)
        client.barrier()
        self.assertEqual([m for m in hub.messages[since:] if m.method == "roots/list"], [])

    def test_a_server_that_asks_before_it_has_a_call(self):
        """The call that it is started for has not been sent: it is not the cause."""
        hub, recorder = self.start("legacy", "--ask-at-start")
        client = self.legacy_client(hub, ALL)
        for start in range(2):
            since = hub.mark
            client.call("up__echo").result
            line = json.loads(recorder.wait_line(lambda m: m.get("id") == f"start-{recorder.sync().starts[start]}"))
            self.assertEqual(line["error"]["code"], -32601)
            self.assertEqual([m for m in hub.messages[since:] if m.method == "roots/list"], [])
            client.call("up__die").tool_error

    def test_the_server_takes_a_question_back(self):
        """Its answer is not sent any more, and the call goes on."""
        hub, recorder = self.start("legacy")
        client = self.legacy_client(hub, ALL)
        request_id = client.send_call("up__ask", asking("roots/list", None, id="77"))
        asked = self.wait_question(hub, "roots/list")
        recorder.write('{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":77}}')
        client.call("up__echo").result
        mark = recorder.mark
        hub.send({"jsonrpc": "2.0", "id": asked.id, "result": {"roots": []}})
        client.call("up__echo").result
        self.assertEqual([t for t in recorder.sync().lines(since=mark) if json.loads(t).get("id") == 77], [])
        recorder.answer(recorder.lines("tools/call")[0])
        hub.response(request_id).result

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


class ModernServer(Upstream):
    def test_a_modern_client(self):
        """input_required and requestState pass as they are: nothing is stored."""
        for method, params, capabilities, answer in QUESTIONS:
            with self.subTest(method, params=params):
                params = None if params is None else {k: v for k, v in params.items() if k != "elicitationId"}
                hub, recorder = self.start("modern")
                client = self.modern_client(hub, capabilities)
                arguments = asking(method, params)
                first = client.call("up__ask", arguments)
                self.assertEqual(first.slice("result", "requestState"), '"round \\u0031"')
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
