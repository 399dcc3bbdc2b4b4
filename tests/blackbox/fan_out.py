# SPDX-License-Identifier: Apache-2.0
"""One call of the same tool in several toolsets, with the results side by side (S5.26)."""

import json

from http_client import HttpTest, Server
from mcp import fixture, main

OWN = "call_in_toolsets"


class FanOut(HttpTest):
    def setUp(self):
        super().setUp()
        self.servers = {}

    def manifest(self, **more):
        for key in ("north", "south"):
            self.servers[key] = self.recorder()
        toolsets = {key: r.toolset() for key, r in self.servers.items()}
        toolsets |= {"a": fixture("one", "failed"), "b": fixture("one", "failed", "rpc_error")}
        return {"toolsets": toolsets, "hub": {"meta_tools": ["fanout"]}, **more}

    def both(self, **more):
        manifest = self.manifest(**more)
        yield "legacy", self.legacy(manifest=manifest)
        yield "modern", self.modern(manifest=self.manifest(**more))

    def results(self, answer):
        return {r["toolset"]: r for r in answer.result["structuredContent"]["results"]}

    def test_side_by_side_as_they_came(self):
        for era, client in self.both():
            with self.subTest(era):
                sent = client.send_call(OWN, {"tool": "hold", "arguments": {"n": 1}, "toolsets": ["south", "north"]})
                for key, recorder in self.servers.items():
                    line = json.loads(recorder.wait_calls(1)[0])
                    self.assertEqual((line["params"]["name"], line["params"]["arguments"]), ("hold", {"n": 1}))
                    recorder.answer(json.dumps(line), '"content":[{"type":"text","text":"%s"}]' % key)
                found = client.hub.response(sent).result["structuredContent"]
                self.assertEqual([r["toolset"] for r in found["results"]], ["south", "north"])
                self.assertEqual([r["result"]["content"][0]["text"] for r in found["results"]], ["south", "north"])
                self.assertEqual((found["succeeded"], found["failed"]), (2, 0))

    def test_all_that_have_it(self):
        client = self.modern(manifest=self.manifest())
        answer = client.call(OWN, {"tool": "one"})
        self.assertEqual(list(self.results(answer)), ["a", "b"])
        same = client.call("a__one").result
        self.assertEqual(self.results(answer)["a"]["result"], same)
        self.assertTrue(client.call(OWN, {"tool": "a__one"}).result["isError"])  # the name within the toolset
        self.assertTrue(client.call(OWN, {"tool": OWN}).result["isError"])
        self.assertTrue(client.call(OWN, {"tool": OWN, "toolsets": ["_meta"]}).result["isError"])

    def test_some_fail(self):
        client = self.modern(manifest=self.manifest())
        answer = client.call(OWN, {"tool": "rpc_error", "toolsets": ["a", "b", "nobody", "b"]})
        found = self.results(answer)
        self.assertEqual(list(found), ["a", "b", "nobody"])
        self.assertEqual(found["a"]["error"], found["nobody"]["error"])
        self.assertEqual(found["b"]["error"]["code"], 4242)
        self.assertTrue(answer.result["isError"])  # none has succeeded
        answer = client.call(OWN, {"tool": "failed", "toolsets": ["a"]})
        self.assertTrue(self.results(answer)["a"]["result"]["isError"])
        mixed = client.call(OWN, {"tool": "one", "toolsets": ["a", "nobody"]}).result
        self.assertNotIn("isError", mixed)
        self.assertEqual((mixed["structuredContent"]["succeeded"], mixed["structuredContent"]["failed"]), (1, 1))

    def test_bounds(self):
        toolsets = {f"t{i:02}": fixture("one") for i in range(17)}
        client = self.modern(manifest={"toolsets": toolsets, "hub": {"meta_tools": ["fanout"]}})
        refused = client.call(OWN, {"tool": "one"}).result
        self.assertTrue(refused["isError"])
        self.assertIn("more than 16", refused["content"][0]["text"])
        self.assertTrue(client.call(OWN, {"tool": "one", "toolsets": list(toolsets)}).result["isError"])
        self.assertEqual(len(self.results(client.call(OWN, {"tool": "one", "toolsets": list(toolsets)[:16]}))), 16)
        self.assertTrue(client.call(OWN, {"tool": "one", "arguments": [1]}).result["isError"])

    def test_results_that_are_too_large_together(self):
        client = self.modern(manifest=self.manifest())
        first = {"north": 4_000_000, "south": 1_000_000}
        for number, order in enumerate((["north", "south"], ["south", "north"]), 1):
            with self.subTest(order):
                sent = client.send_call(OWN, {"tool": "hold", "toolsets": ["north", "south"]})
                for key in order:
                    line = self.servers[key].wait_calls(number)[-1]
                    self.servers[key].answer(line, '"content":[{"type":"text","text":"%s"}]' % ("x" * first[key]))
                    self.servers[key].sync()
                answer = client.hub.response(sent)
                found = self.results(answer)
                self.assertIn("too large", found["north"]["error"]["message"])
                self.assertEqual(len(found["south"]["result"]["content"][0]["text"]), first["south"])
                counts = answer.result["structuredContent"]
                self.assertEqual((counts["succeeded"], counts["failed"]), (1, 1))

    def test_what_clients_cannot_read_costs_no_other(self):
        client = self.modern(manifest=self.manifest())
        cases = (('"\\ud800"', "half of a surrogate pair"), ("1e400", "a number beyond 1.8e308"))
        for number, (bad, why) in enumerate(cases, 1):
            sent = client.send_call(OWN, {"tool": "hold", "toolsets": ["north", "south"]})
            for key, recorder in self.servers.items():
                line = recorder.wait_calls(number)[-1]
                recorder.answer(line, '"content":[],"structuredContent":{"n":%s}' % (bad if key == "north" else 1))
            found = self.results(client.hub.response(sent))
            self.assertIn(why, found["north"]["error"]["message"])
            self.assertEqual(found["south"]["result"]["structuredContent"], {"n": 1})

    def test_who_gives_up_cancels_all(self):
        for era, client in self.both():
            with self.subTest(era):
                sent = client.send_call(OWN, {"tool": "hold", "toolsets": ["north", "south"]})
                lines = {key: json.loads(r.wait_calls(1)[0]) for key, r in self.servers.items()}
                client.cancel(sent)
                for key, recorder in self.servers.items():
                    told = recorder.wait_line(lambda m: m.get("method") == "notifications/cancelled")
                    self.assertEqual(json.loads(told)["params"]["requestId"], lines[key]["id"])
                self.assertIn("result", client.call("a__one").data)

    def test_the_rules_of_each_tool(self):
        access = {"rules": [{"tools": {"match": ["b:one"]}, "then": "deny"}, {"tools": {"match": ["a:failed"]}, "then": "confirm"}]}
        client = self.modern(manifest=self.manifest(access=access, log={"audit": "audit.jsonl"}))
        self.assertEqual(list(self.results(client.call(OWN, {"tool": "one"}))), ["a"])
        found = self.results(client.call(OWN, {"tool": "failed", "toolsets": ["a"]}))
        self.assertIn("error", found["a"])  # nobody can be asked
        audit = self.home / "audit.jsonl"
        client.hub.wait_until(lambda: audit.exists() and '"name":"one"' in audit.read_text(), "the record")

    def test_each_counts(self):
        client = self.modern(manifest=self.manifest(limits={"calls_per_principal": 2}))  # one with the call that asks
        sent = client.send_call(OWN, {"tool": "hold", "toolsets": ["north", "south"]})
        north = self.servers["north"]
        north.answer(north.wait_calls(1)[0], '"content":[]')
        found = self.results(client.hub.response(sent))
        self.assertEqual(found["south"]["error"]["code"], -31001)
        self.assertEqual(found["south"]["error"]["data"]["limit"], "limits.calls_per_principal")
        self.assertEqual(found["north"]["result"]["content"], [])

    def test_over_http(self):
        manifest = self.manifest(listen=[{"http": "127.0.0.1:0"}])
        server = Server(self, self.daemon(manifest=manifest))
        answer = server.call(OWN, {"tool": "one"}).answer
        self.assertEqual(list(self.results(answer)), ["a", "b"])
        session = server.legacy()
        self.assertEqual(list(self.results(session.call(OWN, {"tool": "one"}).answer)), ["a", "b"])
        connection = server.connection()
        connection.send(server.modern_bytes("tools/call", {"name": OWN, "arguments": {"tool": "hold"}}))
        self.servers["south"].wait_calls(1)
        connection.close()
        self.servers["south"].wait_line(lambda m: m.get("method") == "notifications/cancelled")


if __name__ == "__main__":
    main()
