# SPDX-License-Identifier: Apache-2.0
"""Two principals on one hub: what one may see, does and has never shows the other anything, in any method and any of the
hub's own tools, on every transport and in both eras.

Every method of METHODS (core/hub/router/router.c), and every tool of the hub's own (GROUPS in meta_tools.c and the tables
that it names), needs a row here: a new one without a row fails. What bob gets from a hub that hides things from him has to
be, byte for byte, what he gets from one that does not have them.
"""

import json
import os
import re
import socket
import sys
from pathlib import Path

from evil_websocket import TEXT, WebSocket, frame
from http_client import HttpTest, Server, dump
from http_sse_2024 import OldClient
from mcp import LIST_CHANGED, META, MODERN, NEWEST_LEGACY, SUPPORT, TIMEOUT, Message, fixture, main, tool

CORE = Path(__file__).resolve().parent.parent.parent / "core"
STATUS, API, OWN = "patchbay/status", "patchbay/api", "patchbay/own-tool"
NAMED = {"HUB_STATUS_METHOD": STATUS, "HUB_ADMIN_METHOD": API, "HUB_ACT_OWN_TOOL": OWN}

# ---- what there is to be found ------------------------------------------------------------------------------------------

METHOD = re.compile(r'\{METHOD\((?:"([^"]+)"|(\w+))\),')
META_TABLE = re.compile(r"const hub_meta_tool (\w+)\[\]\s*=\s*\{(.*?)\n\};", re.S)
META_NAME = re.compile(r'\.name = "([\w-]+)"|^\s*\{"([\w-]+)",', re.M)


def methods():
    text = (CORE / "hub/router/router.c").read_text(encoding="utf-8")
    table = text[text.index("METHODS[] = {"):]
    table = table[:table.index("\n};")]
    found = [m[1] or NAMED[m[2]] for m in METHOD.finditer(table)]
    assert len(found) == table.count("METHOD("), table  # a row that is written in another way
    return found


def meta_tools():
    tables = {}
    for path in sorted((CORE / "hub").rglob("*.c")):
        tables.update(META_TABLE.findall(path.read_text(encoding="utf-8")))
    text = (CORE / "hub/router/meta_tools.c").read_text(encoding="utf-8")
    groups = re.search(r"\} GROUPS\[\] = \{(.*?)\n\};", text, re.S)[1]
    names = re.findall(r",\s*(\w+)\}", groups)
    return sorted(a or b for name in names for a, b in META_NAME.findall(tables[name]))


# ---- the world ----------------------------------------------------------------------------------------------------------

LIBRARY = r'''
import json, sys
LISTS = json.loads(sys.argv[1])
def send(message):
    print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
for line in sys.stdin:
    message = json.loads(line)
    method, params = message["method"], message.get("params", {})
    if "id" not in message:
        continue
    key = {"resources/templates/list": "resourceTemplates"}.get(method, method.split("/")[0])
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "instructions": f"All about {sys.argv[2]}.", "serverInfo": {"name": "library", "version": "1"}, "capabilities": {
            "tools": {}, "resources": {"subscribe": True}, "prompts": {}, "completions": {}, "logging": {}}}
    elif method.endswith("/list"):
        result = {key: LISTS.get(key, [])}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": params["name"]}]}
    elif method == "resources/read":
        result = {"contents": [{"uri": params["uri"], "text": "text"}]}
    elif method == "prompts/get":
        result = {"messages": []}
    elif method == "completion/complete":
        result = {"completion": {"values": ["a"]}}
    else:
        result = {}
    send({"id": message["id"], "result": result})
    if method == "resources/subscribe":
        send({"method": "notifications/resources/updated", "params": {"uri": params["uri"]}})
'''

OPEN = {
    "tools": [tool("read_page", description="Reads a page.")],
    "resources": [{"uri": "lib:///open", "name": "open"}, {"uri": "lib:///both", "name": "both"}],
    "resourceTemplates": [{"uriTemplate": "lib:///open/{x}", "name": "open"}],
    "prompts": [{"name": "greet"}],
}
HIDDEN = {
    "tools": [tool("delete_page", description="Deletes what nobody may know of.")],
    "resources": [{"uri": "lib:///secret", "name": "secret"}],
    "resourceTemplates": [{"uriTemplate": "lib:///secret/{x}", "name": "secret"}],
    "prompts": [{"name": "hush"}],
}
BOTH = {key: OPEN[key] + HIDDEN[key] for key in OPEN}
# Of one toolset bob may see some resources only: of two with a URI that another toolset has, too, one.
SHELF = [{"uri": "lib:///both", "name": "both"}, {"uri": "shelf:///mine", "name": "mine"}]
SHELF_HIDDEN = [{"uri": "lib:///open", "name": "open"}, {"uri": "shelf:///secret", "name": "secret"}]
ACCESS = {"rules": [
    {"who": {"principals": ["token:ann"]}, "then": "allow"},
    {"tools": {"match": ["lib:delete_*", "lib:lib:///secret*", "lib:hush", "vault:*", "cellar:*", "shelf:lib:///open", "shelf:shelf:///secret", "guides:skill://secret*", "attic:*"]}, "then": "deny"},
]}


def library(name, lists):
    return {"command": sys.executable, "args": ["-c", LIBRARY, json.dumps(lists), name]}


def skills(*names):
    """A server with these skills, which reads them of a file that is none."""
    what = json.dumps({"skills": {name: {"SKILL.md": f"{name}\n", "a.md": "A\n"} for name in names}, "directories": True})
    words = 'exec "$0" "$1" --what <(printf %s "$2") --log /dev/null'
    return {"command": "bash", "args": ["-c", words, sys.executable, str(SUPPORT / "skills_server.py"), what]}


def world(has_hidden):
    toolsets = {
        "lib": library("lib", BOTH if has_hidden else OPEN),
        "shelf": library("shelf", {"resources": SHELF + SHELF_HIDDEN if has_hidden else SHELF}),
        "plain": fixture(tool("one")),
        "guides": skills("open", "secret") if has_hidden else skills("open"),
        "jobs": {"command": sys.executable, "args": [str(SUPPORT / "task_upstream.py")]},
    }
    if has_hidden:
        toolsets["vault"] = library("vault", BOTH)
        toolsets["attic"] = skills("open", "chest")
        toolsets["cellar"] = fixture(tool("keep"), active=False)
    return {"access": ACCESS, "toolsets": toolsets}


# ---- what bob tries -----------------------------------------------------------------------------------------------------

TOOLS = ["lib__read_page", "lib__delete_page", "lib__delete_pages", "vault__read_page", "cellar__keep", "cellar__", "nobody__x", "", "plain__one"]
URIS = ["lib:///open", "lib:///open/1", "lib:///secret", "lib:///secret/1", "lib:///nothing", "vault:///x", "lib:///both", "shelf:///mine", "shelf:///secret",
        "patchbay:shelf/lib:///both", "patchbay:shelf/lib:///open", "patchbay:shelf/shelf:///secret", "patchbay:vault/lib:///open", "patchbay:lib/lib:///open", ""]
SKILLS = [f"skill://patchbay.{key}/{path}" for key in ("guides", "attic", "nobody") for path in ("open/SKILL.md", "secret/SKILL.md", "secret", "none/SKILL.md", "open")]
SKILLS += ["skill://open/SKILL.md", "skill://secret/SKILL.md", "skill://chest/SKILL.md", "skill://none/a.md"]
PROMPTS = ["lib__greet", "lib__hush", "vault__hush", "vault__greet", "nobody__x"]
TASKS = ["vault.00000000000000000000000000000000.1", "cellar.00000000000000000000000000000000.1", "x", ""]
WORDS = ["delete", "vault", "secret", "cellar", "keep", "hush", "page"]
KEYS = ["lib", "vault", "cellar", "vaul", "cellars", "nobody", ""]
LISTS = [{}, {"cursor": "00"}, {"cursor": "ffff"}, {"cursor": 7}]


def completions():
    refs = [{"type": "ref/prompt", "name": name} for name in PROMPTS]
    refs += [{"type": "ref/resource", "uri": uri} for uri in (*URIS, "lib:///open/{x}", "lib:///secret/{x}")]
    return [{"ref": ref, "argument": {"name": "x", "value": "a"}} for ref in refs]


def filters():
    return [{"notifications": {"toolsListChanged": True, "resourceSubscriptions": [uri]}} for uri in URIS[:-1]]


# Of each method, the params that bob sends. Meta-tools are called besides (META_ARGUMENTS).
PARAMS = {
    "tools/call": [{"name": name, "arguments": {}} for name in TOOLS],
    "tools/list": LISTS,
    "resources/list": LISTS,
    "resources/templates/list": LISTS,
    "resources/read": [{"uri": uri} for uri in (*URIS, *SKILLS)],
    "resources/directory/read": [{"uri": uri} for uri in (*URIS, *SKILLS)],
    "skills/list": LISTS,
    "skills/get": [{"uri": uri} for uri in (*URIS, *SKILLS)],
    "prompts/list": LISTS,
    "prompts/get": [{"name": name} for name in PROMPTS],
    "completion/complete": completions(),
    "tasks/get": [{"taskId": task} for task in TASKS],
    "tasks/cancel": [{"taskId": task} for task in TASKS],
    "tasks/result": [{"taskId": task} for task in TASKS],
    "tasks/update": [{"taskId": task, "inputResponses": {}} for task in TASKS],
    "server/discover": [{}],
    "subscriptions/listen": filters(),
    "ping": [{}],
    "initialize": [{"protocolVersion": NEWEST_LEGACY, "capabilities": {}, "clientInfo": {"name": "bob", "version": "1"}}],
    "logging/setLevel": [{"level": "debug"}],
    "resources/subscribe": [{"uri": uri} for uri in URIS],
    "resources/unsubscribe": [{"uri": uri} for uri in URIS],
    STATUS: [{}],
    OWN: [{"name": "describe_toolset", "arguments": {"toolset": key}} for key in KEYS],
    API: [{"method": "GET", "path": "/api/v1" + path} for path in ("/status", "/tools", "/tools?query=delete", "/tools/lib%3Adelete_page", "/tools/vault%3Aread_page",
                                                       "/toolsets/vault", "/toolsets/nobody", "/export?format=openai", "/events", "/me")]
    + [{"method": "POST", "path": "/api/v1/call", "body": {"name": name, "arguments": {}}} for name in TOOLS],
}

# Of each argument of the hub's own tools, what bob tries: an argument of a new tool must be thought of here.
META_VALUES = {
    "toolset": KEYS,
    "toolsets": [[key] for key in KEYS] + [["lib", "vault"], ["nobody", "cellar"]],
    "query": WORDS,
    "limit": [1, 1000],
    "cursor": ["00", ""],
    "name": TOOLS,
    "names": [[name] for name in TOOLS] + [["lib__read_page", "lib__delete_page"]],
    "arguments": [{}],
    "detail": ["name", "full"],
    "category": WORDS,
    "id": ["0" * 32, "x", ""],
    "offset": [0, 1],
    "path": ["", "/content/0"],
    "tags": [[word] for word in WORDS],
    "tool": ["read_page", "delete_page", "keep", "one", "nothing", ""],
    "refs": [True],
}
# Of some tools other values: of saved toolsets, ann's and bob's; and what bob's calls have besides.
SAVED = ["anns", "nobodys", "mine", ""]
META_OF = {
    "equip-toolset": {"name": SAVED},
    "delete-toolset": {"name": SAVED},
    "build-toolset": {
        "name": ["mine"],
        "description": ["Mine."],
        "tools": [["lib:read_page"], ["lib:delete_page"], ["vault:read_page"], ["cellar:keep"], ["lib:nothing"], ["nobody:x"], ["lib:lib__delete_page"]],
        "match": [["*"], ["*:delete_*"], ["vault:*"], ["cellar:*"], ["nobody:*"]],
        "from": ["anns", "nobodys"],
        "replace": [True],
        "autoEquip": [False],
        "share": [True, False],
    },
}
META_NEEDED = {"build-toolset": {"name": "mine", "replace": True, "tools": ["lib:read_page"]}}
ALL_GROUPS = ["toolsets", "saved", "search", "fanout"]
# The hub's own tools that bob calls, with each of these arguments beside what the tool demands. The last ones change what
# he sees, and come last.
META_ROWS = [
    "describe_toolset", "list_toolsets", "list_tools", "search_tools", "describe_tools", "call_read_tool", "call_tool", "read_result",
    "call_in_toolsets", "discover-all-tools", "list-saved-toolsets", "build-toolset", "equip-toolset", "get-active-toolset",
    "unequip-toolset", "delete-toolset", "enable_toolset", "disable_toolset",
]


def meta_calls(definitions):
    """Calls of each of the hub's own tools that are listed, in the order of META_ROWS."""
    found = {d["name"]: d["inputSchema"] for d in definitions}
    for name in META_ROWS:
        schema = found.get(name, {"properties": {}})
        values = {**META_VALUES, **META_OF.get(name, {})}
        needed = {**{key: values[key][0] for key in schema.get("required", [])}, **META_NEEDED.get(name, {})}
        for key in schema["properties"]:
            for value in values[key]:
                yield {"name": name, "arguments": {**needed, key: value}}
        if name in found:
            yield {"name": name, "arguments": needed}


# ---- transports ---------------------------------------------------------------------------------------------------------

def modern(params):
    return {**params, "_meta": {META + "protocolVersion": MODERN, META + "clientCapabilities": {"elicitation": {}, "extensions": {META + "tasks": {}}},
                                META + "clientInfo": {"name": "bob", "version": "1"}}}


class Pipe:
    """A client that sends and receives messages, one after the other: requests in either era."""

    def __init__(self, era):
        self.era = era
        self.number = 0

    def begin(self):
        if self.era == "legacy":
            self.ask("initialize", PARAMS["initialize"][0])
            self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        return self

    def ask(self, method, params):
        """The answer to a request, as it came; of a stream that opens, its acknowledgement."""
        self.number += 1
        number = self.number
        if self.era == "modern":
            params = modern(params)
        self.post({"jsonrpc": "2.0", "id": number, "method": method, "params": params})
        while True:
            message = self.next()
            opened = message.method == "notifications/subscriptions/acknowledged"
            if (message.method is None and message.id == number) or opened:
                break
        if opened:
            self.post({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": number}})
        return message.raw


class UnixPipe(Pipe):
    def __init__(self, era, path):
        super().__init__(era)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rwb")

    def post(self, message):
        self.lines.write(dump(message) + b"\n")
        self.lines.flush()

    def next(self):
        return Message(self.lines.readline().decode())

    def close(self):
        self.lines.close()
        self.socket.close()


class StdioPipe(Pipe):
    def __init__(self, era, hub):
        super().__init__(era)
        self.hub = hub
        self.number = {"legacy": 0, "modern": 100000}[era]
        self.seen = hub.mark

    def post(self, message):
        self.hub.send(message)

    def next(self):
        self.hub.wait_until(lambda: len(self.hub.messages) > self.seen, "a message")
        self.seen += 1
        return self.hub.messages[self.seen - 1]

    def close(self):
        pass


class WebSocketPipe(Pipe):
    def __init__(self, era, server, headers):
        super().__init__(era)
        self.socket = WebSocket(server, headers=headers)

    def post(self, message):
        self.socket.send(frame(TEXT, dump(message)))

    def next(self):
        return self.socket.message()

    def close(self):
        self.socket.connection.close()


class SsePipe(Pipe):
    def __init__(self, era, server, headers):
        super().__init__(era)
        self.headers = list(headers.items())
        self.client = OldClient(server, headers=self.headers)

    def post(self, message):
        self.client.post(message, headers=self.headers)

    def next(self):
        return self.client.next()

    def close(self):
        self.client.stream.close()


class Http:
    """Streamable HTTP: status and body of each answer."""

    def __init__(self, era, server, headers):
        self.era, self.server, self.who = era, server, headers
        self.number = 0
        self.session = server.legacy(headers=headers) if era == "legacy" else None

    def begin(self):
        return self

    def ask(self, method, params):
        self.number += 1
        if self.era == "legacy":
            reply = self.session.post(self.session.message(method, params, self.number))
            return f"{reply.status} {reply.answer.raw if reply.status != 202 else ''}"
        if method == "subscriptions/listen":
            stream = self.server.open(method, params, headers=self.who, request_id=self.number)
            said = stream.message().raw
            stream.close()
            return said
        reply = self.server.modern(method, modern(params), headers=self.who, request_id=self.number)
        return f"{reply.status} {reply.answer.raw}"

    def close(self):
        pass


# ---- the test -----------------------------------------------------------------------------------------------------------

# What differs from one hub to another, though both say the same.
VOLATILE = [
    (re.compile(r'"(nextCursor|requestState|taskId|createdAt|lastUpdatedAt|updatedAt)\\*":\\*"[^"\\]*\\*"'), r"\1"),
    (re.compile(r'(\\*"(?:pid|uptime\w*|since\w*|age\w*|startedAt|learnedAt|\w*[mM]s|started|refused|calls|sessions|inFlight|count|'
                r'errors|p50|p95|p99|min|max|mean|last\w*|wall\w*)\\*"):\s*-?[0-9.]+'), r"\1:0"),
]


def steady(text):
    for pattern, by in VOLATILE:
        text = pattern.sub(by, text)
    return text


class Everything(HttpTest):
    def setUp(self):
        super().setUp()
        self.tokens = self.home / "tokens.json"
        self.ann, self.bob = ({"Authorization": f"Bearer {self.cli('token', 'new', name, '--tokens', self.tokens, modules=False).stdout.strip()}"}
                              for name in ("ann", "bob"))

    def serve(self, name, manifest):
        path = self.home / f"{name}.sock"
        hub = self.hub("--stdio", "--http", 0, "--unix", path, "--tokens", self.tokens, manifest=manifest)
        hub.strict = False
        hub.wait_until(lambda: hub.log.count("listen.ready") >= 2, "both listeners")
        return hub, Server(self, hub), path

    def local_pipes(self, hub, path):
        for era in ("legacy", "modern"):
            yield f"stdio, {era}", StdioPipe(era, hub)
            yield f"unix, {era}", UnixPipe(era, path)

    def token_pipes(self, server, who):
        for era in ("legacy", "modern"):
            yield f"websocket, {era}", WebSocketPipe(era, server, who)
            yield f"http, {era}", Http(era, server, who)
        yield "http+sse", SsePipe("legacy", server, who)

    def pipes(self, hub, server, path):
        yield from self.local_pipes(hub, path)
        yield from self.token_pipes(server, self.bob)

    def act(self, server):
        """What ann does, and what is hers: things that bob cannot know."""
        server.modern("tools/list", headers=self.ann)
        own = {"session": server.legacy(headers=self.ann)}
        for method in ("resources/list", "prompts/list", "tools/list"):
            own["session"].request(method)
        names = str(server.modern("tools/list", headers=self.ann).answer.result)
        if "enable_toolset" in names:
            changed = server.call("enable_toolset", {"toolset": "cellar"}, headers=self.ann)
            self.assertNotIn("isError", changed.answer.result)
            for name in ("cellar__keep", "vault__read_page", "lib__delete_page"):
                self.assertIn(name, str(server.modern("tools/list", headers=self.ann).answer.result))
        if "build-toolset" in names:
            tools = ["lib:delete_page", "lib:read_page", "cellar:keep"]
            made = server.call("build-toolset", {"name": "anns", "tools": tools}, headers=self.ann)
            self.assertNotIn("isError", made.answer.result)
        for uri in ("lib:///secret", "lib:///open"):
            self.assertEqual(own["session"].request("resources/subscribe", {"uri": uri}).answer.result, {})
        made = own["session"].request("tools/call", {"name": "jobs__slow", "arguments": {}, "task": {"ttl": 60000}})
        own["task"] = made.answer.result["task"]["taskId"]
        return own

    def act_by_all_means(self, pipes):
        """Every method and every tool of the hub's own, by somebody from whom nothing is hidden; what is shared is no secret."""
        for name, pipe in pipes:
            for method, params in self.tried(name, pipe.begin()):
                if not params.get("arguments", {}).get("share"):
                    pipe.ask(method, params)
            for key in ("lib", "vault", "cellar"):
                pipe.ask("tools/call", {"name": "enable_toolset", "arguments": {"toolset": key}})
            self.assertIn('"text": "read_page"', pipe.ask("tools/call", {"name": "vault__read_page", "arguments": {}}), name)
            pipe.close()

    def tried(self, name, pipe):
        """Each method, and each of the hub's own tools, with all that is tried of them."""
        for method in ("tools/list", "resources/list", "prompts/list"):
            pipe.ask(method, {})  # now everything is known
        listed = json.loads(re.sub("^200 ", "", pipe.ask("tools/list", {})))
        tried = [("tools/call", params) for params in meta_calls(listed["result"]["tools"])]
        tried += [(method, params) for method in methods() for params in PARAMS[method]]
        if name.startswith(("stdio", "unix")):  # the user whose hub it is administers it: whatever rules say of them as a client
            tried = [one for one in tried if one[0] != API and (one[0] != STATUS or name.startswith("stdio"))]
        return tried

    def said(self, pipes):
        """All that bob is answered: {(transport, method, params): text}."""
        answers = {}
        for name, pipe in pipes:
            for method, params in self.tried(name, pipe.begin()):
                if method == STATUS:  # whether a server runs that he sees is no secret: ann's is in use
                    pipe.ask("tools/call", {"name": "jobs__plain", "arguments": {}})
                answers[name, method, json.dumps(params)] = steady(pipe.ask(method, params))
            pipe.close()
        return answers

    def test_every_method_and_meta_tool_has_a_row(self):
        self.assertGreater(len(methods()), 15)
        self.assertEqual(sorted(methods()), sorted(PARAMS))
        self.assertGreater(len(meta_tools()), 5)
        self.assertEqual(meta_tools(), sorted(META_ROWS))

    def hubs(self, access=None, **more):
        """One that hides things from bob, and one that does not have them."""
        for name, has_hidden in (("there", True), ("bare", False)):
            manifest = {**world(has_hidden), **more, "state": str(self.home / f"{name}.db")}
            yield self.serve(name, {**manifest, "access": access or ACCESS})

    def compare(self, found, bare):
        self.assertEqual(list(found), list(bare))
        differing = {key: (found[key], bare[key]) for key in bare if found[key] != bare[key]}
        for key, (with_it, without) in list(differing.items())[:5]:
            print(key, "\n  with:   ", with_it[:1500], "\n  without:", without[:1500], file=sys.stderr)
        self.assertEqual(len(differing), 0, list(differing)[:40])
        return found

    def check(self, **more):
        there, bare = self.hubs(**more)
        self.act(there[1])
        return self.compare(self.said(self.pipes(*there)), self.said(self.pipes(*bare)))

    def test_what_is_hidden_is_as_what_does_not_exist(self):
        found = self.check()
        answers = "".join(found.values())
        for key in ("read_page", "lib:///open", "greet", "patchbay:shelf/lib:///both"):
            self.assertIn(key, answers)
        for pipe in ("http, modern", "websocket, legacy"):
            self.assertIn("skill://patchbay.guides/open/SKILL.md", found[pipe, "skills/list", "{}"])

    def test_where_tools_are_searched_for(self):
        found = self.check(hub={"expose": "search"})
        self.assertTrue([key for key in found if "search_tools" in key[2]])

    def test_where_the_hub_has_all_its_tools(self):
        found = self.check(hub={"meta_tools": ALL_GROUPS})
        called = {json.loads(params)["name"] for _, method, params in found if method == "tools/call"}
        self.assertEqual(set(META_ROWS) - called - {"read_result"}, set())

    def test_what_one_does_on_each_transport_shows_another_nothing(self):
        """The user whose hub it is, and ann, do all that there is to be done; bob finds what he finds where there is nobody else."""
        rules = [{"who": {"principals": ["local", f"uid:{os.getuid()}"]}, "then": "allow"}, *ACCESS["rules"]]
        there, bare = self.hubs(access={"rules": rules}, hub={"meta_tools": ALL_GROUPS})
        hub, server, path = there
        acting = [*self.local_pipes(hub, path), *self.token_pipes(server, self.ann)]
        self.act_by_all_means(one for one in acting if one[0] not in ("stdio, modern", "unix, legacy", "websocket, legacy"))
        found, nothing = ([(name, pipe) for name, pipe in self.token_pipes(one[1], self.bob) if name in ("http, modern", "websocket, legacy")]
                          for one in (there, bare))
        self.compare(self.said(found), self.said(nothing))

    def test_nobody_hears_of_it(self):
        """What ann does, and what becomes of what she has, is told to nobody else."""
        hub, server, path = self.serve("there", world(True))
        pipes = [pipe.begin() for name, pipe in self.pipes(hub, server, path) if not isinstance(pipe, Http)]
        for method in ("tools/list", "resources/list", "resources/templates/list", "prompts/list"):
            for pipe in pipes:
                pipe.ask(method, {})  # now they know all there is for them
        stream = server.legacy(headers=self.bob).open()  # begun now: else its stream has what it was told before
        listening = server.listen(headers=self.bob, toolsListChanged=True, resourcesListChanged=True, promptsListChanged=True)
        since = hub.mark
        self.act(server)
        server.call("disable_toolset", {"toolset": "vault"}, headers=self.ann)
        server.call("disable_toolset", {"toolset": "plain"}, headers=self.bob)  # the only thing that he hears of
        for one in (stream, listening):
            self.assertEqual(one.message().method, LIST_CHANGED)
        for pipe in pipes:
            pipe.ask("tools/list", {})
        self.assertEqual([m.raw for m in hub.messages[since:] if m.method is not None], [])

    def test_what_is_anothers_is_as_what_nobody_has(self):
        """Ids of tasks and sessions, and cursors."""
        hub, server, path = self.serve("there", {**world(True), "hub": {"page_size": 2}})
        own = self.act(server)
        task = own["task"]
        wrong = task[:-1] + "9" if not task.endswith("9") else task[:-1] + "8"
        bob = server.legacy(headers=self.bob)
        for method in ("tools/list", "resources/list", "prompts/list"):
            bob.request(method)
        for method in ("tasks/get", "tasks/cancel", "tasks/result"):
            answers = [bob.post(bob.message(method, {"taskId": one}, 7)) for one in (task, wrong)]
            self.assertEqual(answers[0].body, answers[1].body)
            self.assertIn("Task not found", answers[0].body.decode())
        own["session"].request("tasks/get", {"taskId": task}).answer.result
        for session in ("0" * len(own["session"].id), own["session"].id):
            replies = [(r.status, r.body) for r in (
                server.post(own["session"].message("tools/list", request_id=7), own["session"].headers({**self.bob, "Mcp-Session-Id": session})),
                server.ask("GET", "/mcp", own["session"].headers({**self.bob, "Mcp-Session-Id": session, "Accept": "text/event-stream"})),
                server.ask("DELETE", "/mcp", own["session"].headers({**self.bob, "Mcp-Session-Id": session})))]
            self.assertEqual({status for status, _ in replies}, {404})
            self.assertEqual(replies, getattr(self, "first", replies))
            self.first = replies
        page = own["session"].request("tools/list").answer.result
        while "nextCursor" in page:
            mine = bob.request("tools/list", {"cursor": page["nextCursor"]})
            for word in ("delete_page", "vault", "cellar"):
                self.assertNotIn(word, mine.body.decode())
            page = own["session"].request("tools/list", {"cursor": page["nextCursor"]}).answer.result


if __name__ == "__main__":
    main()
