# SPDX-License-Identifier: Apache-2.0
"""10,000 generated messages, each through a client's transport and an upstream's, in either era: what arrives is
what was said, byte for byte, but for the members in tests/support/fidelity_eras.py (promise 2; D01, P06).

Here: definitions, arguments and results of tools. The others are in fidelity_content.py and fidelity_questions.py.
"""

import json

from fidelity_clients import Http
from fidelity_eras import member
from fidelity_hub import PER_CELL, SEED, SHARED, UPSTREAMS, FidelityTest, upstream
from mcp import main


class Tools(FidelityTest):
    def test_definitions(self):
        self.start()
        sent = {made: self.define(made, 40, 25) for made in self.carriers}
        self.serve()
        seen = set()
        for client in self.clients:
            for method in upstream.LIST_KEYS:
                got = self.listed(client, method)
                shared = [uri for uri in got if uri.endswith(SHARED)]
                self.assertEqual(len(shared), len(UPSTREAMS) if method == "resources/list" else 0)
                for made, definitions in sent.items():
                    with self.subTest(client=client.name, upstream=made.server.key, method=method):
                        for n, raw in enumerate(definitions[method]):
                            own, name = self.exposed(made.server.key, method, raw, got)
                            path = f"{SEED} {client.name} {made.server.key} {method} {n}"
                            one = got.pop(json.loads(name))
                            keeps = client.keeps_breaks or isinstance(client, Http)
                            self.compare(path, "definition", raw, one, client, made, keeps, {own: name})
                            seen.add(raw)
                self.assertEqual(got, {})
        self.compared = len(seen)  # each went to every client
        self.done()

    def calls(self, made, client, seed):
        each = range(PER_CELL)
        requests = [self.plan_call(*self.corpora(made, client, f"{seed} {n}"), made, client, n) for n in each]
        answers = client.ask_all([("tools/call", params) for params, _ in requests])
        self.noted(seed, made, client, answers, requests)
        for n, ((params, plan), answer) in enumerate(zip(requests, answers)):
            path = f"{seed} {n}"
            self.assertEqual(len(plan.requests), 1, answer.text)
            self.requested(path, made, client, params, plan.requests[0], f'"t{n}"')
            got = member(answer.text, "result")
            values = {"resultType": '"complete"'}
            self.compare(f"{path} result", "result", plan.results[0][1], got, client, made, answer.keeps_breaks, values)

    def test_calls(self):
        self.start()
        for made in self.carriers:
            self.define(made, PER_CELL, 1)
        self.serve()
        self.each_cell(self.calls)
        self.done()


if __name__ == "__main__":
    main()
