# SPDX-License-Identifier: Apache-2.0
"""One hub for all cells of the tests of byte fidelity: every transport it has towards clients, and one upstream for
each transport and era. What is compared is generated from a seed (PATCHBAY_FIDELITY_SEED; one is the default), so a
difference can be had again.
"""

import json
import os
import queue
import re
import sys

from fidelity_clients import CAPABILITIES, Http, HttpStream, OldSse, Stdio, Unix, Ws
from http_client import HttpTest, Server
from json_slice import elements, slice_at
from mcp import META, ROOT, SUPPORT, TIMEOUT, Hub

sys.path.insert(0, str(SUPPORT))

import fidelity_upstream as upstream  # noqa: E402
from fidelity_corpus import DEPTH_LIMIT, Corpus, name_of, readable  # noqa: E402
from fidelity_eras import carried, compare, member, same, spans  # noqa: E402,F401
from fidelity_upstream import TOKEN, Plan  # noqa: E402

SEED = os.environ.get("PATCHBAY_FIDELITY_SEED", "1")

CLIENTS = [
    ("stdio", Stdio, "legacy", "2025-11-25"),
    ("stdio", Stdio, "modern", None),
    ("unix", Unix, "legacy", "2025-06-18"),
    ("unix", Unix, "modern", None),
    ("websocket", Ws, "legacy", "2025-03-26"),
    ("websocket", Ws, "modern", None),
    ("http", Http, "legacy", "2025-11-25"),
    ("http", Http, "modern", None),
    ("http stream", HttpStream, "legacy", "2025-11-25"),
    ("http stream", HttpStream, "modern", None),
    ("http+sse", OldSse, "legacy", "2024-11-05"),
]
UPSTREAMS = [
    ("pipes", upstream.Lines, "legacy", "2025-11-25"),
    ("pipes", upstream.Lines, "modern", None),
    ("http", upstream.Http, "legacy", "2025-06-18"),
    ("http", upstream.Http, "modern", None),
    ("stream", upstream.HttpStream, "legacy", "2025-11-25"),
    ("stream", upstream.HttpStream, "modern", None),
    ("sse", upstream.OldSse, "legacy", "2024-11-05"),
    ("unix", upstream.Unix, "legacy", "2025-03-26"),
    ("unix", upstream.Unix, "modern", None),
    ("websocket", upstream.WebSocket, "legacy", "2025-11-25"),
    ("websocket", upstream.WebSocket, "modern", None),
]

PER_CELL = 16  # calls

# How many generated texts the tests compare at least, by name: ten thousand, and some.
COMPARED = {"definitions": 1250, "calls": 4600, "content": 3700, "questions": 1250}

SHARED = "fid:///shared"  # a resource that every upstream has

# What the hub reads, and a peer therefore says once: the members of params in HUB_MEMBERS.
PARAMS = set(re.findall(r'X\(\w+, PARAMS, "([^"]+)"\)', (ROOT / "core/wire/message.h").read_text(encoding="utf-8")))
META_KEYS = {"progressToken", *(META + key for key in ("protocolVersion", "clientInfo", "clientCapabilities", "logLevel"))}
IDENTITY = {
    **{"tools/list": "name", "resources/list": "uri"},
    **{"resources/templates/list": "uriTemplate", "prompts/list": "name"},
}
RESULT = {"resultType", "_meta"}
CACHE = {"ttlMs", "cacheScope"}


class RawHub(Hub):
    """A hub whose messages on stdio are not checked, but handed over as text."""

    def __init__(self, *args, **options):
        self.texts = queue.Queue()
        super().__init__(*args, **options)

    def _on_frame(self, frame):
        self.texts.put(bytes(frame).decode())

    def send(self, message):
        self.send_bytes(self.frame(message))

    def take_text(self):
        return self.texts.get(timeout=TIMEOUT)


class FidelityTest(HttpTest):
    def start(self, upstreams=None):
        self.compared = 0
        self.carriers = []
        for kind, carrier, era, revision in upstreams or UPSTREAMS:
            server = upstream.Server(f"{kind}-{era}", era, revision)
            made = carrier(server, self.home)
            self.addCleanup(made.close)
            self.carriers.append(made)

    def serve(self, **manifest):
        """Start the hub with all upstreams, and all clients."""
        manifest["toolsets"] = {made.server.key: made.entry for made in self.carriers}
        # A client waits for its turn, without a word, while others have theirs.
        manifest["limits"] = {"idle_timeout": "10m", "ping_interval": "10m"}
        unix = str(self.home / "hub.sock")
        hub = RawHub(
            *("--stdio", "--http", "127.0.0.1:0", "--unix", unix, "--no-meta-tools"),
            manifest=manifest,
            home=self.home,
        )
        self.addCleanup(self._finish, hub)
        server = Server(self, hub)
        server.unix = unix
        self.clients = []
        for kind, client, era, revision in CLIENTS:
            self.clients.append(client(f"{kind} {era}", era, revision, server))
            self.clients[-1].begin()
        self.raw_hub = hub

    def each_cell(self, test):
        """Run `test` for each client and each upstream."""
        for made in self.carriers:
            for client in self.clients:
                with self.subTest(client=client.name, upstream=made.server.key):
                    test(made, client, f"{SEED} {self._testMethodName} {client.name} {made.server.key}")

    def corpora(self, made, client, seed):
        """What the client says, and what the upstream says."""
        return Corpus(f"{seed} up", client.breaks), Corpus(f"{seed} down", made.breaks)

    def done(self):
        for made in self.carriers:
            self.assertEqual(made.server.problems, [])
        self.raw_hub.finish()
        self.assertGreaterEqual(self.compared, COMPARED.get(self._testMethodName.removeprefix("test_"), 1))

    def compare(self, path, where, sent, got, client, made, keeps, values=None, up=False):
        eras = (client.era, made.server.era) if up else (made.server.era, client.era)
        compare(path, where, carried(sent, keeps), got, eras, values)
        self.compared += 1

    def requested(self, path, made, client, sent, got, renamed):
        """Params that an upstream got. `renamed`: the raw value of name or uri."""
        modern = made.server.era == "modern"
        values = {"name": renamed, "uri": renamed, "ref": {"name": renamed, "uri": renamed}}
        values["_meta"] = {META + "clientCapabilities": CAPABILITIES, META + "protocolVersion": f'"{made.server.revision}"'}
        self.compare(f"{path} params", "params", sent, got, client, made, made.keeps_breaks, values, up=True)
        owned = {name_of(key) for key, _, _ in spans(member(got, "_meta"))} if modern else set()
        self.assertEqual(modern, META + "clientCapabilities" in owned)

    # -- what is said -----------------------------------------------------------------------------

    def meta(self, corpus, client, token=None):
        members = client.meta()
        if token is not None:
            members.append(('"progressToken"', token))
        if token is None and client.era == "legacy" and corpus.random.random() < 0.3:
            return None
        return corpus.object(*members, reserved=META_KEYS)

    def params(self, corpus, client, *known, token=None):
        meta = self.meta(corpus, client, token)
        known = [*known, *([('"_meta"', meta)] if meta else [])]
        corpus.random.shuffle(known)
        return corpus.object(*known, reserved=PARAMS)

    def result(self, corpus, made, *known, reserved=()):
        """A result; of 2026-07-28, it says that it is one."""
        known = [*known]
        if made.server.era == "modern":
            known.append((corpus.spelled("resultType"), corpus.spelled("complete")))
        if corpus.random.random() < 0.4:
            known.append((corpus.spelled("_meta"), corpus.object()))
        corpus.random.shuffle(known)
        return corpus.object(*known, reserved=RESULT | set(reserved) | {name_of(k) for k, _ in known})

    def token(self, corpus, n):
        """A progress token, as a client may spell it."""
        return corpus.random.choice([f"{n}", f"-{n}", f"9{n:020d}", f'"{n}"', f'"\\u00e9\\ud83d {n}"', f'"é\\/{n}"'])

    # -- definitions ------------------------------------------------------------------------------

    def properties(self, corpus):
        """Of a schema; what clients of older revisions keep is made of objects alone."""
        known = [('"a"', corpus.object(('"type"', '"number"'), ('"maximum"', corpus.number())))]
        known += [(corpus.key(), corpus.object()) for _ in range(corpus.random.randrange(3))]
        corpus.random.shuffle(known)
        return corpus.wrap(known)

    def tool(self, corpus, n):
        obj, spelled = corpus.object, corpus.spelled
        known = [
            (spelled("name"), spelled(f"t{n}")),
            (
                spelled("inputSchema"),
                obj(
                    ('"type"', '"object"'),
                    ('"properties"', self.properties(corpus)),
                    reserved={"properties", "type"},
                ),
            ),
            (spelled("description"), corpus.string(40)),
            (spelled("annotations"), obj(('"title"', corpus.string()), reserved={"readOnlyHint", "destructiveHint"})),
        ]
        rest = [
            ('"outputSchema"', obj(('"type"', '"object"'), reserved={"type", "$ref", "id"})),
            ('"title"', corpus.string()),
            ('"icons"', "[" + obj(('"src"', '"https:\\/\\/example.com/i.png"'), ('"sizes"', '["1x1"]')) + "]"),
            ('"_meta"', obj(('"com.example/x"', corpus.value()))),
            ('"execution"', obj(('"taskSupport"', '"optional"'))),
        ]
        known += [m for m in rest if corpus.random.random() < 0.5]
        corpus.random.shuffle(known)
        return obj(*known, reserved={"name", "inputSchema", "outputSchema", "annotations", "_meta"})

    def other(self, corpus, key, identity, more):
        """A resource, a template, or a prompt."""
        known = [(corpus.spelled(key), corpus.spelled(identity)), *more]
        corpus.random.shuffle(known)
        return corpus.object(*known, reserved={key, "name"})

    def resource(self, corpus, key, uri):
        return self.other(corpus, key, uri, [('"name"', corpus.string())])

    def prompt(self, corpus, n):
        arguments = corpus.object(('"name"', '"a"'))
        return self.other(corpus, "name", f"p{n}", [('"arguments"', f"[{arguments}]")])

    def define(self, made, tools, others):
        """Give a server its lists: so many tools, and so many of each other kind. Returns the definitions by method."""
        key = made.server.key
        corpus = Corpus(f"{SEED} definitions {key}", made.breaks)
        uris = [*(f"fid:///{key}/{n}" for n in range(others)), SHARED]
        templates = [f"fid:///{key}/d{n}/{{x}}" for n in range(others)]
        found = {
            "tools/list": [self.tool(corpus, n) for n in range(tools)],
            "resources/list": [self.resource(corpus, "uri", uri) for uri in uris],
            "resources/templates/list": [self.resource(corpus, "uriTemplate", template) for template in templates],
            "prompts/list": [self.prompt(corpus, n) for n in range(others)],
        }
        for method, items in found.items():
            items[:] = map(readable, items)
            made.server.lists[method] = "[" + ",".join(corpus.space() + item + corpus.space() for item in items) + "]"
        return found

    def exposed(self, key, method, raw, listed):
        """How clients know it: the member that identifies it, and its raw value for them. Of servers with one URI,
        one keeps it."""
        own = IDENTITY[method]
        name = json.loads(member(raw, own))
        mapped = f"{key}__{name}" if own == "name" else f"patchbay:{key}/{name}"
        return own, json.dumps(mapped) if mapped in listed else member(raw, own)

    def listed(self, client, method):
        """All of a list, raw, by what identifies it."""
        found, cursor = {}, ""
        while cursor is not None:
            answer = client.ask(method, f'{{"_meta":{client.raw_meta()}{cursor}}}').text
            array = member(answer, "result", upstream.LIST_KEYS[method])
            for start, end in elements(array):
                found[json.loads(member(array[start:end], IDENTITY[method]))] = array[start:end]
            more = slice_at(answer, "result", "nextCursor")
            cursor = None if more is None else f',"cursor":{more}'
        return found

    # -- calls ------------------------------------------------------------------------------------

    def notes(self, corpus, client, made, count):
        """Reports of progress."""
        if not made.speaks_first:
            return []
        return [
            (
                "notifications/progress",
                corpus.object(('"progressToken"', TOKEN), (corpus.spelled("progress"), f"{n}.50"), reserved=PARAMS | {"progress"}),
            )
            for n in range(count)
        ]

    def plan_call(self, up, down, made, client, n):
        """A call of one tool: its params, and the plan."""
        known = [(up.spelled("name"), up.spelled(f"{made.server.key}__t{n}"))]
        said = [('"content"', "[" + down.object(('"type"', '"text"'), ('"text"', down.string())) + "]")]
        count = up.random.randrange(1, 3) if isinstance(client, HttpStream) or up.random.random() < 0.2 else 0
        token = self.token(up, n) if count else None
        if n == 0:  # as deep as a message may be
            known.append(('"arguments"', up.wrap([('""', up.deep(DEPTH_LIMIT - 3))])))
            said.append(('"structuredContent"', down.wrap([('""', down.deep(DEPTH_LIMIT - 3))])))  # an object: older clients get no other
        elif n > 1:
            known.append((up.spelled("arguments"), up.object(least=1)))
            said.append((down.spelled("structuredContent"), down.object()))
        params = self.params(up, client, *known, token=token)
        plan = Plan(("result", self.result(down, made, *said)), notes=self.notes(down, client, made, count))
        return params, made.server.plan("tools/call", f"t{n}", plan)

    def noted(self, path, made, client, answers, requests):
        """Compare what was said before answers, in its order, by the tokens of the requests."""
        heard, keeps = {}, client.keeps_breaks and not isinstance(client, Http)  # there it came as an event
        for answer in answers:
            for text in answer.notes:
                token = member(text, "params", "progressToken")
                heard.setdefault(token, []).append(member(text, "params"))
        for n, (params, plan) in enumerate(requests):
            meta = json.loads(params).get("_meta", {})
            token = member(params, "_meta", "progressToken") if "progressToken" in meta else None
            got = heard.pop(token, [])
            self.assertEqual(len(got), len(plan.notes), path)
            for (_, raw), one in zip(plan.notes, got):
                raw, values = raw.replace(TOKEN, token), {"progressToken": token}
                self.compare(f"{path} {n} progress", "progress", raw, one, client, made, keeps, values)
        self.assertEqual(heard, {})
