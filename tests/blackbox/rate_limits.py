# SPDX-License-Identifier: Apache-2.0
"""How much a client may ask for, whatever it is connected over (S5.4, R07)."""

from mcp import HubTest, LegacyClient, fixture, main

OVERLOADED = -31001
TOOLSETS = {"alpha": fixture("one", "hold")}


class Rates(HubTest):
    def test_so_many_at_once_and_one_more(self):
        limits = {"calls_per_second": 1, "calls_burst": 5}
        hub = self.hub(toolsets=TOOLSETS, manifest={"limits": limits})
        client = LegacyClient(hub)
        answers = [hub.response(request_id) for request_id in [client.send_call("alpha__one") for _ in range(40)]]
        refused = [answer for answer in answers if "error" in answer.data]
        self.assertGreaterEqual(len(answers) - len(refused), 5)
        self.assertTrue(refused)
        error = refused[0].error
        self.assertEqual(error["code"], OVERLOADED)
        self.assertEqual(error["data"]["limit"], "limits.calls_per_second")
        self.assertIs(error["data"]["retryable"], True)
        self.assertGreater(error["data"]["retryAfter"], 0)
        self.assertLessEqual(error["data"]["retryAfter"], 1)
        self.assertEqual(client.request("ping").result, {})

    def test_calls_of_a_principal(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"limits": {"calls_per_principal": 3}})
        held = [client.send_call("alpha__hold") for _ in range(3)]
        error = client.call("alpha__one").error
        self.assertEqual(error["code"], OVERLOADED)
        self.assertEqual(error["data"]["limit"], "limits.calls_per_principal")
        client.cancel(held[0])
        self.assertIn("content", client.call("alpha__one").result)
        for request_id in held[1:]:
            client.cancel(request_id)


if __name__ == "__main__":
    main()
