# SPDX-License-Identifier: Apache-2.0
"""Calls beyond a toolset's max_calls wait their turn, within bounds (S5.17, R07)."""

import json

from mcp import HubTest, LegacyClient, ModernClient, fixture, main

TOOLS = ("one", "hold")


class Queue(HubTest):
    def client(self, **keys):
        return self.modern(toolsets={"alpha": fixture(*TOOLS, **keys), "beta": fixture(*TOOLS)})

    def assertWaits(self, client, request_id):
        client.barrier()
        self.assertFalse([m for m in client.hub.messages if m.id == request_id])

    def test_n_in_flight_m_that_wait_and_one_more(self):  # S5.16, S5.17
        client = self.client(max_calls=2, queue=2, queue_timeout="1h")
        held = [client.send_call("alpha__hold") for _ in range(2)]
        waiting = [client.send_call("alpha__one", {"n": n}) for n in range(2)]
        failure = client.call("alpha__one").tool_error
        self.assertEqual(failure["code"], "TOOL_UNAVAILABLE")
        self.assertIs(failure["retryable"], True)
        for word in ('"alpha"', "max_calls: 2", "queue: 2"):
            self.assertIn(word, failure["message"])
        self.assertWaits(client, waiting[0])
        self.assertIn("content", client.call("beta__one").result)  # another toolset has its own
        client.cancel(held[0])
        for n, request_id in enumerate(waiting):
            result = client.hub.response(request_id).result
            self.assertEqual(result["structuredContent"]["arguments"], {"n": n})
        client.cancel(held[1])

    def test_what_waits_can_be_cancelled(self):
        client = self.client(max_calls=1, queue=1, queue_timeout="1h")
        held = client.send_call("alpha__hold")
        waiting = client.send_call("alpha__one")
        client.cancel(waiting)
        again = client.send_call("alpha__one")
        self.assertWaits(client, again)
        client.cancel(held)
        self.assertIn("content", client.hub.response(again).result)
        self.assertFalse([m for m in client.hub.messages if m.id == waiting])

    def test_a_wait_has_an_end(self):
        client = self.client(max_calls=1, queue=1, queue_timeout="100ms")
        held = client.send_call("alpha__hold")
        failure = client.call("alpha__one").tool_error
        self.assertEqual(failure["code"], "TOOL_UNAVAILABLE")
        self.assertIs(failure["retryable"], True)
        self.assertIn("queue_timeout", failure["message"])
        client.cancel(held)

    def test_it_waits_by_default(self):
        hub = self.hub(toolsets={"alpha": fixture(*TOOLS, max_calls=1)})
        for client in (LegacyClient(hub), ModernClient(hub)):
            held = client.send_call("alpha__hold")
            waiting = client.send_call("alpha__one")
            self.assertWaits(client, waiting)
            client.cancel(held)
            self.assertIn("content", client.hub.response(waiting).result)

    def test_what_waits_for_a_module_in_a_process_of_its_own(self):
        hub = self.hub(toolsets={"alpha": fixture(*TOOLS, max_calls=1, isolation="process")})
        for client in (LegacyClient(hub), ModernClient(hub)):
            held = client.send_call("alpha__hold")
            waiting = [client.send_call("alpha__one", {"n": n}) for n in range(3)]
            client.cancel(held)
            for n, request_id in enumerate(waiting):
                self.assertEqual(hub.response(request_id).result["structuredContent"]["arguments"], {"n": n})

    def send_raw(self, client, method, params):
        """Send params of which every byte is known, with the `_meta` behind that a modern client has."""
        request_id = client.hub.new_id()
        meta = client.params(None, None)
        if meta:
            params = params[:-1] + "," + json.dumps(meta)[1:]
        client.hub.send(f'{{"jsonrpc":"2.0","id":{request_id},"method":"{method}","params":{params}}}')
        return request_id

    def test_what_waits_for_a_server_reaches_it_as_it_was(self):
        """Under its own name, though the hub has another for it, and with every byte that the client wrote."""
        requests = {
            "tools/call": '{"name":"up__echo","arguments":{"n":1.50,"s":"\\u00e9"},"x":[1e2]}',
            "resources/read": '{"x":1.50,"uri":"rec:///one"}',
            "prompts/get": '{"arguments":{"topic":"\\u00e9"},"name":"up__greet"}',
            "completion/complete": '{"ref":{"type":"ref/prompt","name":"up__greet"},"argument":{"name":"topic","value":""}}',
        }
        for era in ("legacy", "modern"):
            for kind in (LegacyClient, ModernClient):
                with self.subTest(server=era, client=kind.__name__):
                    recorder = self.recorder()
                    hub = self.hub(toolsets={"up": recorder.toolset("--era", era, "--content", max_calls=1)})
                    client = kind(hub)
                    held = client.send_call("up__hold")
                    recorder.wait_request("tools/call")
                    mark = recorder.mark
                    waiting = [self.send_raw(client, method, text) for method, text in requests.items()]
                    client.cancel(held)
                    for request_id in waiting:
                        self.assertIsNotNone(hub.response(request_id).result)
                    recorder.sync()
                    for method, text in requests.items():
                        (line,) = recorder.lines(method, mark)
                        members = text.replace("up__", "")[1:-1]
                        self.assertIn(members, line)
                    hub.finish()


if __name__ == "__main__":
    main()
