# SPDX-License-Identifier: Apache-2.0
"""Byte fidelity at its edges: names that need care in a header or in JSON, and messages as deep as they may be, or
deeper (promise 2; D01, P07, P12)."""

import json

from fidelity_clients import Refused
from fidelity_hub import DEPTH_LIMIT, SEED, UPSTREAMS, FidelityTest, Plan, member, same
from mcp import INVALID_REQUEST, main

# Own names of tools: what no header can carry as it is, what looks encoded already, what JSON escapes.
NAMES = [
    *("é", "e\u0301", "\U0001f600", "\U0010ffff", "\uffff", "\u2028", "\ufeffx", "a b", "a,b", "ü" * 30),
    *("%41", "=?base64?Zm9v?=", "=?base64?=", "=?base64?", 'q"uo\\te', "a/b", "{}", "__proto__", "a__b", "-0", "1e400", "null"),
]


class Edges(FidelityTest):
    def start_with(self, *kinds):
        self.start([row for row in UPSTREAMS if (row[0], row[2]) in kinds])

    def test_names(self):
        """Clients see names that any model takes; the server hears its own."""
        self.start_with(("pipes", "legacy"), ("http", "modern"), ("stream", "modern"))
        for made in self.carriers:
            tools = [self.named(made, name) for name in NAMES]
            made.server.lists["tools/list"] = "[" + ",".join(tools) + "]"
        self.serve()
        for made in self.carriers:
            for client in self.clients:
                self.names(made, client)
        self.done()

    def named(self, made, name):
        known = json.dumps(f"{made.server.key} {name}")
        return f'{{"description":{known},"name":{json.dumps(name)},"inputSchema":{{"type":"object"}}}}'

    def names(self, made, client):
        exposed = {json.loads(raw)["description"]: name for name, raw in self.listed(client, "tools/list").items()}
        for name in NAMES:
            with self.subTest(client=client.name, upstream=made.server.key, name=name):
                plan = made.server.plan("tools/call", name, Plan(("result", '{"content":[],"resultType":"complete"}')))
                up, _ = self.corpora(made, client, f"{SEED} {client.name} {made.server.key} {name}")
                known = [('"name"', up.spelled(exposed[f"{made.server.key} {name}"])), ('"arguments"', up.object())]
                params = self.params(up, client, *known)
                member(client.ask("tools/call", params).text, "result")
                (got,) = plan.requests
                self.assertEqual(json.loads(got)["name"], name)
                self.requested(name, made, client, params, got, member(got, "name"))

    def refused(self, client, params):
        """The text of the answer to a call that is none."""
        try:
            return client.ask("tools/call", params).text
        except Refused as refused:
            return refused.text

    def test_depth(self):
        """A client's message of the greatest depth passes, to its last byte; one more is refused, and says why."""
        self.start_with(("pipes", "legacy"), ("http", "modern"))
        for made in self.carriers:
            self.define(made, 1, 1)
        self.serve()
        for made in self.carriers:
            plan = made.server.plan("tools/call", "t0", Plan(("result", '{"content":[],"resultType":"complete"}')))
            for client in self.clients:
                with self.subTest(client=client.name, upstream=made.server.key):
                    for levels in (DEPTH_LIMIT - 2, DEPTH_LIMIT - 1):
                        arguments = '{"":' * (levels - 1) + "{}" + "}" * (levels - 1)
                        name = f'"{made.server.key}__t0"'
                        params = f'{{"name":{name},"_meta":{client.raw_meta()},"arguments":{arguments}}}'
                        if levels == DEPTH_LIMIT - 2:
                            member(client.ask("tools/call", params).text, "result")
                            same(client.name, arguments, member(plan.requests.pop(), "arguments"))
                            self.compared += 1
                        else:
                            error = json.loads(member(self.refused(client, params), "error"))
                            self.assertEqual(error["code"], INVALID_REQUEST)
                            self.assertSays(error["message"], "nested too deep")
            self.assertEqual(plan.requests, [])
        self.done()


if __name__ == "__main__":
    main()
