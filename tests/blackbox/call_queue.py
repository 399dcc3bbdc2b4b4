# SPDX-License-Identifier: Apache-2.0
"""Calls beyond a toolset's max_calls wait their turn, within bounds (S5.17, R07)."""

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


if __name__ == "__main__":
    main()
