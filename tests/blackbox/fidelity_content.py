# SPDX-License-Identifier: Apache-2.0
"""What fidelity_matrix.py is for tools, for resources, prompts, completion, errors and log messages (promise 2; D01)."""

import json

from fidelity_clients import Http, HttpStream
from fidelity_eras import member
from fidelity_hub import CACHE, META_KEYS, PARAMS, SHARED, FidelityTest, Plan
from mcp import META, main


class Content(FidelityTest):
    def listed_shared(self):
        """The raw URIs of the resource that all upstreams have, by upstream."""
        listed = self.listed(self.clients[0], "resources/list")
        uris = {made.server.key: f"patchbay:{made.server.key}/{SHARED}" for made in self.carriers}
        return {key: uri if uri in listed else SHARED for key, uri in uris.items()}

    def plan_reading(self, up, down, made, client, uri, own):
        known = [('"contents"', "[" + down.object((down.spelled("uri"), f'"{own}"'), ('"text"', down.string())) + "]")]
        if down.random.random() < 0.5:
            known += [('"ttlMs"', down.random.choice(["0", "1E3", "60000.0"])), (down.spelled("cacheScope"), '"public"')]
        params = self.params(up, client, (up.spelled("uri"), up.spelled(uri)), token=self.stream_token(up, client))
        result = self.result(down, made, *known, reserved=CACHE)
        plan = Plan(("result", result), notes=self.notes(down, client, made, 1 if "progressToken" in params else 0))
        # A URI that the server has by the same name stays as it is spelled.
        renamed = f'"{own}"' if own != uri else None
        return "resources/read", params, made.server.plan("resources/read", own, plan), renamed, "contents"

    def stream_token(self, up, client):
        return self.token(up, 1) if isinstance(client, HttpStream) else None

    def plan_prompt(self, up, down, made, client, n):
        known = [(up.spelled("name"), up.spelled(f"{made.server.key}__p{n}")), ('"arguments"', up.object(('"a"', up.string())))]
        said = [('"messages"', "[" + down.object(('"role"', '"user"'), ('"content"', down.object(('"text"', down.string())))) + "]")]
        params = self.params(up, client, *known, token=self.stream_token(up, client))
        plan = Plan(("result", self.result(down, made, *said)), notes=self.notes(down, client, made, 1 if "progressToken" in params else 0))
        return "prompts/get", params, made.server.plan("prompts/get", f"p{n}", plan), f'"p{n}"', "result"

    def plan_completion(self, up, down, made, client, n):
        kind = ('"type"', up.spelled("ref/prompt" if n == 0 else "ref/resource"))
        target = [
            (up.spelled("name"), up.spelled(f"{made.server.key}__p0")),
            ('"uri"', up.spelled(f"fid:///{made.server.key}/d0/{{x}}")),
        ][n]
        known = [
            ('"ref"', up.object(kind, target, reserved={"type", "name", "uri"})),
            ('"argument"', up.object(('"name"', up.string()), ('"value"', up.string()), reserved={"name", "value"})),
            ('"context"', up.object(('"arguments"', up.object()))),
        ]
        said = [('"completion"', down.object(('"values"', f"[{down.string()}]"), ('"total"', down.number())))]
        params = self.params(up, client, *known, token=self.stream_token(up, client))
        plan = Plan(("result", self.result(down, made, *said)), notes=self.notes(down, client, made, 1 if "progressToken" in params else 0))
        own = "p0" if n == 0 else json.loads(target[1])
        return "completion/complete", params, made.server.plan("completion/complete", own, plan), '"p0"' if n == 0 else None, "result"

    def plan_error(self, up, down, made, client, n):
        params, plan = self.plan_call(up, down, made, client, n)
        error = [('"code"', down.random.choice(["4242", "-4242", "0", "-32001"])), ('"message"', down.string()), ('"data"', down.value())]
        plan.results = [("error", down.object(*error, reserved={"code", "message", "data"}))]
        return "tools/call", params, plan, f'"t{n}"', "error"

    def exchange(self, path, made, client, method, params, plan, renamed, where):
        answer = client.ask(method, params)
        self.noted(path, made, client, [answer], [(params, plan)])
        self.assertEqual(len(plan.requests), 1, answer.text)
        self.requested(path, made, client, params, plan.requests[0], renamed)
        kind, raw = plan.results[0]
        values = {"resultType": '"complete"', "ttlMs": "0", "cacheScope": '"private"'}
        self.compare(f"{path} {kind}", where, raw, member(answer.text, kind), client, made, answer.keeps_breaks, values)

    def content(self, made, client, seed):
        key = made.server.key
        uris = [
            *((f"fid:///{key}/{n}", f"fid:///{key}/{n}") for n in range(3)),
            (f"fid:///{key}/d1/a%20b", f"fid:///{key}/d1/a%20b"),  # known by a template alone
            (self.shared[key], SHARED),
        ]
        each = [(self.plan_reading, uri) for uri in uris]
        each += [(self.plan_prompt, (n,)) for n in range(4)]
        each += [(self.plan_completion, (n,)) for n in range(2)]
        each += [(self.plan_error, (n,)) for n in range(1, 4)]
        for n, (plan, more) in enumerate(each):
            path = f"{seed} {n}"
            self.exchange(path, made, client, *plan(*self.corpora(made, client, path), made, client, *more))
        if made.speaks_first:
            self.log(f"{seed} log", made, client, *self.corpora(made, client, f"{seed} log"))

    def log(self, path, made, client, up, down):
        """A log message within a call."""
        said = [('"level"', '"emergency"'), ('"data"', down.value()), (down.spelled("logger"), down.string())]
        raw = down.object(*said, reserved=PARAMS | {"data"})
        params = self.params(up, client, ('"name"', f'"{made.server.key}__t5"'))
        if client.era == "modern":
            meta = up.object(*client.meta((f'"{META}logLevel"', '"debug"')), reserved=META_KEYS)
            params = up.object(('"name"', f'"{made.server.key}__t5"'), ('"_meta"', meta), reserved=PARAMS)
        made.server.plan("tools/call", "t5", Plan(("result", '{"content":[]}'), notes=[("notifications/message", raw)]))
        (note,) = client.ask("tools/call", params).notes
        keeps = client.keeps_breaks and not isinstance(client, Http)
        self.compare(path, "log", raw, member(note, "params"), client, made, keeps)

    def test_content(self):
        self.start()
        for made in self.carriers:
            self.define(made, 6, 4)
        self.serve()
        self.shared = self.listed_shared()
        self.each_cell(self.content)
        self.done()


if __name__ == "__main__":
    main()
