#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How many servers run at once: limits.running_servers."""

from mcp import HubTest, main


class RunningServers(HubTest):
    def start(self, limit, count, *flags, **options):
        self.servers = [self.recorder(f"s{n}") for n in range(count)]
        toolsets = {f"s{n}": server.toolset(*flags, restart_delay="1ms") for n, server in enumerate(self.servers)}
        limits = {"discover_timeout": "2m", **({} if limit is None else {"running_servers": limit})}
        return self.legacy(toolsets=toolsets, manifest={"limits": limits, **options})

    def echo(self, client, number):
        return client.call(f"s{number}__echo").data

    def status(self, client):
        return client.request("patchbay/status").result

    def states(self, client):
        return {each["key"]: each["status"]["state"] for each in self.status(client)["toolsets"]}

    def use(self, client, *numbers):
        """Call each in turn, as often as its place is still that of a server which is being asked what it offers."""
        for number in numbers:
            client.hub.wait_until(lambda: "isError" not in self.echo(client, number).get("result", {"isError": True}), f"s{number}")

    def test_at_the_limit_all_run(self):
        client = self.start(3, 3)
        for number in range(3):
            self.assertIn("result", self.echo(client, number))
        hub = self.status(client)["hub"]
        self.assertEqual((hub["servers"], hub["serversLimit"]), (3, 3))
        self.assertEqual([len(server.sync().starts) for server in self.servers], [1, 1, 1])
        self.assertEqual(set(self.states(client).values()), {"ready"})

    def test_without_a_limit_there_is_none(self):
        client = self.start(None, 4)
        for number in range(4):
            self.assertIn("result", self.echo(client, number))
        hub = self.status(client)["hub"]
        self.assertEqual((hub["servers"], hub.get("serversLimit")), (4, None))

    def test_one_more_takes_the_place_of_the_one_that_was_used_least_recently(self):
        client = self.start(2, 3)
        self.use(client, 0, 1, 2)  # their catalogs are known, whoever had to stop for that
        self.use(client, 0, 1, 0)
        self.assertEqual(self.states(client), {"s0": "ready", "s1": "ready", "s2": "idle"})
        names = client.names()
        self.assertNotIn("isError", self.echo(client, 2)["result"])
        self.assertEqual(self.states(client), {"s0": "ready", "s1": "idle", "s2": "ready"})
        self.assertSays(client.hub.wait_log("limits.running_servers"), "nobody needs the server")
        self.assertNotIn("isError", self.echo(client, 1)["result"])
        self.assertEqual(self.states(client), {"s0": "idle", "s1": "ready", "s2": "ready"})
        self.assertEqual(self.status(client)["hub"]["servers"], 2)
        self.assertEqual(client.names(), names)

    def test_a_server_at_work_is_not_stopped(self):
        client = self.start(1, 2)
        self.use(client, 1, 0)  # both are known, and nothing starts the first again
        began = len(self.servers[0].sync().events)
        held = client.send_call("s0__hold")
        raw = self.servers[0].wait_calls(1, began)[-1]
        refused = self.echo(client, 1)["result"]
        self.assertIs(refused["isError"], True)
        self.assertSays(str(refused), "s1", "limits.running_servers", "allows (1)")
        self.servers[0].answer(raw)
        self.assertNotIn("isError", client.hub.response(held).result)
        self.use(client, 1)

    def test_a_subscription_keeps_its_server(self):
        client = self.start(1, 2, "--content")
        self.use(client, 1, 0)
        # The other server may still be asked what it offers.
        client.hub.wait_until(lambda: "result" in client.request("resources/subscribe", {"uri": "rec:///one"}).data, "its turn")
        ready = next(number for number in range(2) if self.states(client)[f"s{number}"] == "ready")
        self.assertIs(self.echo(client, 1 - ready)["result"]["isError"], True)

    def test_the_most_that_it_may_be(self):
        code, said = self.refused(manifest={"limits": {"running_servers": 100001}})
        self.assertEqual(code, 3)
        self.assertSays(said, "running_servers", "100000")


if __name__ == "__main__":
    main()
