# SPDX-License-Identifier: Apache-2.0
"""What is hidden from somebody is hidden at every door that HTTP has beside MCP: the API, tools without MCP, metrics, probes, pages.

Every row of a face (core/web) needs requests here: a new one without them fails. What bob gets from a hub that hides things from him
has to be, byte for byte, what he gets from one that does not have them."""

import json
import re
import sys
from urllib.parse import quote

from access_everything import CORE, KEYS, STATUS, TOOLS, WORDS, steady, world
from http_client import HttpTest, Server
from mcp import SUPPORT, fixture, main

API = "/api/v1"
SERVER = {"command": sys.executable, "args": ["-IS", str(SUPPORT / "unruly_server.py")]}
ROW = re.compile(r'\.method = "([A-Z]+)",\s*\.path = (?:"([^"]+)"|(\w+))')
NAMED = {"HUB_LOGIN_CALLBACK_PATH": "/oauth/callback", "HUB_LOGIN_DOCUMENT_PATH": "/oauth/client.json"}
JSON = ("Content-Type", "application/json")
HIDDEN = ("delete_page", "vault", "cellar", "secret", "hush", "keep")


def rows():
    """Each method and path that a face has."""
    found = set()
    for path in sorted((CORE / "web").rglob("*.c")):
        prefix = API if path.parent.name == "api" else ""
        found.update((method, prefix + (at or NAMED[name])) for method, at, name in ROW.findall(path.read_text(encoding="utf-8")))
    return found


IDS = ["lib:read_page", "lib:delete_page", "lib:delete_pages", "vault:read_page", "cellar:keep", "nobody:x", "x", ""]
FORMATS = ["openai", "openai-responses", "anthropic", "gemini", "mcp", "openapi"]


def blocks():
    for name in TOOLS:
        yield {"from": "anthropic", "block": {"type": "tool_use", "id": "t1", "name": name, "input": {}}}
        yield {"from": "openai", "block": {"id": "t1", "type": "function", "function": {"name": name, "arguments": "{}"}}}


# Of each row, what bob asks: paths, and the body if it takes one.
REQUESTS = {
    ("GET", API + "/openapi.json"): [(API + "/openapi.json", None)],
    ("GET", API + "/me"): [(API + "/me", None)],
    ("POST", API + "/call"): [(API + "/call", {"name": name, "arguments": {}}) for name in [*TOOLS, *IDS]],
    ("GET", API + "/events"): [(API + "/events", None)],
    ("GET", API + "/export"): [(f"{API}/export?format={name}{more}", None) for name in FORMATS for more in ("", "&strict=true")],
    ("POST", API + "/blocks"): [(API + "/blocks", block) for block in blocks()],
    ("GET", API + "/logins"): [(API + "/logins", None)],
    ("POST", API + "/logins/{key}"): [(f"{API}/logins/{key}", {}) for key in KEYS],
    ("DELETE", API + "/logins/{key}"): [(f"{API}/logins/{key}", None) for key in KEYS],
    ("POST", API + "/invite"): [(API + "/invite", {})],
    ("POST", API + "/logout"): [(API + "/logout", {})],
    ("GET", API + "/status"): [(API + "/status", None)],
    ("GET", API + "/modules"): [(API + "/modules", None)],
    ("GET", API + "/tools"): [(f"{API}/tools?{query}", None) for query in (
        "", "limit=1", "limit=1&after=1", "limit=1000&after=2", *(f"query={word}" for word in WORDS), *(f"toolset={key}" for key in KEYS))],
    ("GET", API + "/tools/{id}"): [(f"{API}/tools/{quote(one, safe='')}", None) for one in IDS],
    ("GET", API + "/toolsets/{key}"): [(f"{API}/toolsets/{key}", None) for key in KEYS],
    ("POST", API + "/toolsets/{key}/enable"): [(f"{API}/toolsets/{key}/enable", {}) for key in KEYS],
    ("POST", API + "/toolsets/{key}/disable"): [(f"{API}/toolsets/{key}/disable", {}) for key in KEYS if key != "lib"],
    ("POST", API + "/toolsets/{key}/restart"): [(f"{API}/toolsets/{key}/restart", {}) for key in KEYS],
    ("GET", API + "/tools/{id}/access"): [
        (f"{API}/tools/{quote(one, safe='')}/access{query}", None) for one in IDS for query in ("", "?principal=token:ann")],
    ("GET", API + "/saved"): [(API + "/saved", None), (API + "/saved?query=vault", None)],
    ("POST", API + "/saved"): [(API + "/saved", {"name": "mine", "tools": [one]}) for one in IDS],
    ("GET", API + "/saved/{name}"): [(f"{API}/saved/{name}", None) for name in ("mine", "nobody")],
    ("GET", API + "/saved/{name}/diff"): [(f"{API}/saved/{name}/diff", None) for name in ("mine", "nobody")],
    ("DELETE", API + "/saved/{name}"): [(f"{API}/saved/{name}", None) for name in ("mine", "nobody")],
    ("GET", API + "/equipped"): [(API + "/equipped", None)],
    ("PUT", API + "/equipped"): [(API + "/equipped", {"name": name}) for name in ("mine", "nobody")],
    ("DELETE", API + "/equipped"): [(API + "/equipped", None)],
    ("GET", API + "/approvals"): [(API + "/approvals", None)],
    ("POST", API + "/approvals"): [(API + "/approvals", {"toolset": key}) for key in KEYS],
    ("GET", API + "/audit"): [(API + "/audit", None)],
    ("GET", API + "/configuration"): [(API + "/configuration", None)],
    ("GET", API + "/configuration/changes"): [(API + "/configuration/changes", None)],
    ("GET", API + "/limits"): [(API + "/limits", None)],
    ("GET", API + "/principals"): [(API + "/principals", None)],
    ("GET", API + "/sessions"): [(API + "/sessions", None)],
    ("GET", API + "/tokens"): [(API + "/tokens", None)],
    ("POST", API + "/tokens"): [(API + "/tokens", {"name": "more"})],
    ("DELETE", API + "/tokens/{token}"): [(f"{API}/tokens/{name}", None) for name in ("ann", "nobody")],
    ("GET", "/openapi.json"): [("/openapi.json", None)],
    ("POST", "/tools/*"): [(f"/tools/{quote(name, safe='')}", {}) for name in [*TOOLS, *IDS]],
    ("GET", "/metrics"): [("/metrics", None)],
    ("GET", "/healthz"): [("/healthz", None)],
    ("GET", "/readyz"): [("/readyz", None)],
    ("GET", "/ui"): [("/ui", None)],
    ("GET", "/ui/*"): [("/ui/", None), ("/ui/vault", None)],
    ("POST", "/ui/login"): [("/ui/login", {"link": "x"})],
    ("GET", "/oauth/client.json"): [("/oauth/client.json", None)],
    ("GET", "/oauth/callback"): [("/oauth/callback?state=x&code=y", None), ("/oauth/callback?toolset=vault", None)],
    ("GET", "/.well-known/oauth-protected-resource"): [("/.well-known/oauth-protected-resource", None)],
    ("GET", "/.well-known/oauth-protected-resource/*"): [("/.well-known/oauth-protected-resource/mcp", None)],
}
# What differs each time: a link to the dashboard.
ONCE = re.compile(r'("code":)"[0-9a-f]{64}"')


class Base(HttpTest):
    def setUp(self):
        super().setUp()
        self.tokens = self.home / "tokens.json"
        self.ann, self.bob, self.root = (self.token(*names) for names in (("ann",), ("bob",), ("root", "--scopes", "admin:read")))

    def token(self, *arguments):
        done = self.cli("token", "new", *arguments, "--tokens", self.tokens, modules=False)
        return {"Authorization": f"Bearer {done.stdout.strip()}"}

    def serve(self, manifest):
        listen = [{"http": "127.0.0.1:0", "api": True, "rest": True, "ui": True, "metrics": True}]
        hub = self.daemon("--tokens", self.tokens, manifest={"hub": {"remember": "none"}, **manifest, "listen": listen})
        hub.strict = False
        return Server(self, hub)

    def ask(self, server, who, method, path, body=None):
        headers = [*who.items(), *([JSON] if body is not None else [])]
        reply = server.ask(method, path, headers, b"" if body is None else json.dumps(body).encode())
        return f"{reply.status} {reply.body.decode()}"

    def said(self, server):
        for method in ("tools/list", "resources/list", "prompts/list"):
            server.modern(method, headers=self.bob)  # now everything is known
        answers = {}
        for (method, _), requests in REQUESTS.items():
            for path, body in requests:
                if path == API + "/status":  # whether a server runs that he sees is no secret
                    server.modern("tools/call", {"name": "jobs__plain", "arguments": {}}, headers=self.bob)
                answers[method, path, json.dumps(body)] = ONCE.sub(r"\1", steady(self.ask(server, self.bob, method, path, body)))
        return answers


class Doors(Base):
    def test_every_row_of_a_face_has_requests(self):
        self.assertGreater(len(rows()), 20)
        self.assertEqual(sorted(rows()), sorted(REQUESTS))

    def test_what_is_hidden_is_as_what_does_not_exist(self):
        bare = self.said(self.serve(world(False)))
        there = self.serve(world(True))
        names = str(there.modern("tools/list", headers=self.ann).answer.result)
        self.assertIn("vault__read_page", names)
        self.assertNotIn("isError", there.call("enable_toolset", {"toolset": "cellar"}, headers=self.ann).answer.result)
        self.assertNotIn("isError", there.call("vault__delete_page", headers=self.ann).answer.result)
        found = self.said(there)
        self.assertEqual(list(found), list(bare))
        differing = {key: (found[key], bare[key]) for key in bare if found[key] != bare[key]}
        for key, (with_it, without) in list(differing.items())[:5]:
            print(key, "\n  with:   ", with_it[:1500], "\n  without:", without[:1500], file=sys.stderr)
        self.assertEqual(len(differing), 0, list(differing)[:40])
        self.assertIn("read_page", str(found))

    def test_metrics_and_probes_for_those_who_may_read_all(self):
        """Labels, and names of what is not ready, are names, too."""
        server = self.serve({**world(True), "toolsets": {**world(True)["toolsets"], "dead": {"command": "/nonexistent/server"}}})
        for who in (self.ann, self.bob):
            server.modern("tools/list", headers=who)
        self.ask(server, self.ann, "POST", API + "/call", {"name": "vault__read_page", "arguments": {}})
        server.hub.wait_log("/nonexistent/server")
        for who in (self.ann, self.bob, {}):
            self.assertNotIn("dead", self.ask(server, who, "GET", "/readyz"))
            self.assertRegex(self.ask(server, who, "GET", "/metrics"), "^40[13] ")
        self.assertIn("admin:read", self.ask(server, self.bob, "GET", "/metrics"))
        self.assertIn('"dead"', self.ask(server, self.root, "GET", "/readyz"))
        self.assertIn('"vault"', self.ask(server, self.root, "GET", "/metrics"))


class Sums(Base):
    """Of `patchbay/status`: what others do is not told, not even in sums."""

    def hub_of(self, server, who):
        said = server.modern(STATUS, headers=who).answer.result["hub"]
        return {key: value for key, value in said.items() if key not in ("upMs", "state")}

    def test_what_others_do_is_not_counted(self):
        rules = [{"who": {"principals": ["token:bob"]}, "tools": {"match": ["vault:*", "cellar:*", "mill:*"]}, "then": "deny"}]
        toolsets = {"plain": fixture("one"), "vault": world(True)["toolsets"]["vault"],
                    "cellar": fixture("one", "hold", active=False, max_calls=1, queue=0), "mill": {**SERVER, "active": False}}
        server = self.serve({"access": {"rules": rules}, "toolsets": toolsets, "log": {"audit": str(self.home / "audit.jsonl")}})
        others = (self.bob, self.token("carl"))  # from carl no rule hides anything
        server.hub.wait_log("config.reloaded")
        for who in (self.ann, *others):
            server.modern("tools/list", headers=who)
        before = [self.hub_of(server, who) for who in others]
        servers = self.hub_of(server, self.ann)["servers"]
        for key in ("cellar", "mill"):
            self.assertNotIn("isError", server.call("enable_toolset", {"toolset": key}, headers=self.ann).answer.result)
        self.assertNotIn("isError", server.call("mill__pid", headers=self.ann).answer.result)
        held = server.connection()
        held.send(server.modern_bytes("tools/call", {"name": "cellar__hold", "arguments": {}}, headers=self.ann))
        mine = self.hub_of(server, self.ann)
        while mine["inFlight"] == 0:
            mine = self.hub_of(server, self.ann)
        self.assertIn("isError", server.call("cellar__one", headers=self.ann).answer.result)  # no place
        self.assertEqual([self.hub_of(server, who) for who in others], before)
        mine = self.hub_of(server, self.ann)
        self.assertEqual((mine["inFlight"], mine["refused"], mine["servers"]), (1, 1, servers + 1))
        self.assertEqual(list(mine["audit"]), ["failing"])
        whole = json.loads(self.ask(server, self.root, "GET", API + "/status").partition(" ")[2])["hub"]
        self.assertIn("written", whole["audit"])
        self.assertGreaterEqual(whole["servers"], 1)


if __name__ == "__main__":
    main()
