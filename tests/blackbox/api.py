# SPDX-License-Identifier: Apache-2.0
"""/api/v1: the OpenAPI document, each of its routes with right and wrong rights, what each shows and does, over HTTP and
as the method patchbay/api."""

import hashlib
import json
import os
import re
import socket
import sys
import urllib.parse

from http_client import HttpTest, Server, Stream
from mcp import META, MODERN, SUPPORT, fixture, main, tool

PREFIX = "/api/v1"
OWN, READ, ADMIN = "", "admin:read", "admin"
SERVER = {"command": sys.executable, "args": ["-IS", str(SUPPORT / "unruly_server.py")]}
DEAD = {"command": "/nonexistent/server"}
NAMED = {"key": "a", "id": "a:one", "name": "kept", "token": "spare"}  # what stands for the parameters of paths
ENVELOPE = {META + "protocolVersion": MODERN, META + "clientInfo": {"name": "test", "version": "1"}, META + "clientCapabilities": {}}
BLOCK = {"type": "tool_use", "id": "t1", "name": "a__one", "input": {}}
KEPT = {"name": "kept", "tools": ["a:one"], "replace": True}
BODIES = {"/call": {"name": "a__one", "arguments": {}}, "/blocks": {"from": "anthropic", "block": BLOCK}, "/saved": KEPT, "/equipped": {"name": "kept"},
          "/tokens": {"name": "made"}, "/approvals": {"toolset": "a"}}
# What has to be there, for whom, before a route is asked: (who, or None: the caller), method, path, body.
BEFORE = {"/saved/{name}": (None, "POST", "/saved", KEPT), "/saved/{name}/diff": (None, "POST", "/saved", KEPT), "/equipped": (None, "POST", "/saved", KEPT),
          "/tokens/{token}": ("admin", "POST", "/tokens", {"name": "spare"})}


class Base(HttpTest):
    TOOLSETS = {"a": fixture("one", "hold"), "b": {**fixture("two"), "module": "fixture"}}

    def setUp(self):
        super().setUp()
        self.tokens = {}

    def token(self, name, *arguments):
        done = self.cli("token", "new", name, "--tokens", self.home / "tokens.json", *arguments, modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.tokens[name] = done.stdout.strip()

    def serve(self, api=True, ui=False, toolsets=None, secured=True, **more):
        manifest = {"listen": [{"http": "127.0.0.1:0", "api": api, "ui": ui}], "toolsets": toolsets or self.TOOLSETS, **more}
        if secured:
            for name, scopes in (("own", None), ("read", "admin:read"), ("admin", "admin")):
                self.token(name, *(["--scopes", scopes] if scopes else []))
            manifest["auth"] = {"tokens": str(self.home / "tokens.json")}
        return Server(self, self.daemon(manifest=manifest))

    def write_lock(self, toolsets):
        (self.home / "patchbay.lock").write_text(json.dumps({"lock": 1, "toolsets": toolsets}), encoding="utf-8")

    def ask(self, server, who, method, path, body=None, headers=()):
        sent = [*headers]
        if who:
            sent.append(("Authorization", f"Bearer {self.tokens[who]}"))
        data = b""
        if body is not None:
            data = body if isinstance(body, bytes) else json.dumps(body).encode()
            if not any(name == "Content-Type" for name, _ in sent):
                sent.append(("Content-Type", "application/json"))
        return server.ask(method, PREFIX + path, sent, data)

    def get(self, server, path, who="admin", status=200):
        reply = self.ask(server, who, "GET", path)
        self.assertEqual(reply.status, status, reply.body)
        return json.loads(reply.body)

    def do(self, server, path, body=None, who="admin", status=200, method="POST"):
        reply = self.ask(server, who, method, path, {} if body is None else body)
        self.assertEqual(reply.status, status, reply.body)
        return json.loads(reply.body)


class Document(Base):
    def routes(self, document):
        for path, methods in document["paths"].items():
            for method, operation in methods.items():
                yield method.upper(), path, operation

    def test_it_is_valid(self):
        document = self.get(self.serve(), "/openapi.json", who="own")
        self.assertEqual(document["openapi"], "3.1.0")
        self.assertEqual(document["servers"], [{"url": PREFIX}])
        ids = set()
        for method, path, operation in self.routes(document):
            where = f"{method} {path}"
            self.assertNotIn(operation["operationId"], ids)
            ids.add(operation["operationId"])
            self.assertIn(operation["x-scope"], (OWN, READ, ADMIN), where)
            self.assertTrue(operation["summary"].endswith("."), where)
            self.assertIn("200", operation["responses"], where)
            in_path = [one["name"] for one in operation["parameters"] if one["in"] == "path"]
            self.assertEqual(in_path, re.findall(r"\{(\w+)\}", path), where)
            self.assertEqual("requestBody" in operation, method in ("POST", "PUT"), where)
        try:
            from openapi_spec_validator import validate  # where it is installed
        except ImportError:
            return
        validate(document)

    def test_each_route_by_right_and_wrong_rights(self):
        self.write_lock({})
        server = self.serve(ui=True, log={"audit": str(self.home / "audit.log")})
        document = self.get(server, "/openapi.json")
        seen = 0
        for method, path, operation in self.routes(document):
            concrete = re.sub(r"\{(\w+)\}", lambda m: urllib.parse.quote("b" if path.endswith("/disable") else NAMED[m[1]]), path)
            body = BODIES.get(path, {}) if "requestBody" in operation else None
            may = {OWN: ("own", "read", "admin"), READ: ("read", "admin"), ADMIN: ("admin",)}[operation["x-scope"]]
            for who in ("own", "read", "admin", None):
                if path in BEFORE and who is not None:
                    maker, *before = BEFORE[path]
                    self.assertEqual(self.ask(server, maker or who, *before).status, 200, before)
                reply = self.ask(server, who, method, concrete, body)
                where = f"{method} {path} as {who}: {reply.status} {reply.body[:300]}"
                if who is None:
                    self.assertEqual(reply.status, 401, where)
                elif who in may and path == "/logins/{key}":  # the module has none, and it would be the hub's
                    self.assertNotIn(json.loads(reply.body).get("error", {}).get("code"), ("insufficient_scope", "unavailable"), where)
                elif who in may:
                    self.assertLess(reply.status, 400, where)
                else:
                    self.assertEqual(reply.status, 403, where)
                    self.assertEqual(json.loads(reply.body)["error"]["code"], "insufficient_scope", where)
                seen += 1
        self.assertGreater(seen, 40)

    def test_what_is_not_there(self):
        server = self.serve()
        self.assertEqual(self.get(server, "/nothing", status=404)["error"]["code"], "not_found")
        self.assertEqual(self.ask(server, "admin", "DELETE", "/status").status, 405)
        self.assertEqual(self.ask(server, "admin", "GET", "/toolsets/").status, 404)
        self.assertEqual(self.ask(server, "admin", "GET", "/status/more").status, 404)
        self.assertEqual(self.get(server, "/toolsets/none", status=404)["error"]["code"], "not_found")
        self.assertEqual(self.get(server, "/tools/a%3Anone", status=404)["error"]["code"], "not_found")

    def test_bodies(self):
        server = self.serve()
        for body, headers, status in ((b"[]", (), 400), (b"{", (), 400), (b"{}", [("Content-Type", "text/plain")], 415), (b"", (), 415),
                                      (b'{"name":1}', (), 400), (b'{"name":"a__one","arguments":[]}', (), 400)):
            reply = self.ask(server, "admin", "POST", "/call", body, headers if body else [("X", "y")])
            self.assertIn(reply.status, (status, 400), (body, reply.body))
            self.assertIn("message", json.loads(reply.body)["error"])

    def test_the_listener_chooses(self):
        server = self.serve(api=False)
        self.assertEqual(self.ask(server, "admin", "GET", "/status").status, 404)

    def test_strangers(self):
        """A page of elsewhere, and one whose name was rebound."""
        server = self.serve()
        for headers in ([("Origin", "https://evil.example")], [("Origin", "null")]):
            self.assertEqual(self.ask(server, "admin", "GET", "/status", headers=headers).status, 403, headers)
        reply = server.ask("GET", PREFIX + "/status", [("Authorization", f"Bearer {self.tokens['admin']}")], host="evil.example")
        self.assertEqual(reply.status, 403)

    def test_neighbours(self):
        """A page of another port of this machine is another program's, and here nobody has to show a token."""
        server = self.serve(secured=False, listen=[{"http": "127.0.0.1:0", "api": True, "ui": True, "metrics": True}])
        port = server.port
        body, typed = b'{"name": "a__one"}', ("Content-Type", "application/json")
        for origin, status in (("http://127.0.0.1:1", 403), ("http://localhost", 403), ("http://[::1]:65535", 403), ("https://localhost:8443", 403),
                               (f"http://127.0.0.1:{port}", 200), (f"http://localhost:{port}", 200), (f"http://[::1]:{port}", 200), (None, 200)):
            page = [("Origin", origin)] if origin is not None else []
            host = f"127.0.0.1:{port}"
            for path in (PREFIX + "/status", "/metrics", "/ui/"):
                with self.subTest(origin=origin, path=path):
                    reply = server.ask("GET", path, [("Host", host), *page])
                    self.assertEqual(reply.status, status)
                    self.assertEqual(len(reply.all("access-control-allow-origin")), int(status == 200 and origin is not None))
            self.assertEqual(server.ask("POST", PREFIX + "/call", [("Host", host), typed, *page], body).status, status)
            self.assertEqual(server.ask("OPTIONS", PREFIX + "/call", [("Host", host), *page]).status, 204 if status == 200 else 403)
        server = self.serve(secured=False, listen=[{"http": "127.0.0.1:0", "api": True, "origins": ["http://localhost:1"]}])
        for origin, status in (("http://localhost:1", 200), ("http://localhost:2", 403)):
            reply = server.ask("POST", PREFIX + "/call", [("Host", f"127.0.0.1:{server.port}"), typed, ("Origin", origin)], body)
            self.assertEqual(reply.status, status)

    def test_nobody_has_tokens(self):
        """Without tokens a caller is anonymous: it sees and does what is its own."""
        server = self.serve(secured=False)
        self.assertEqual(self.get(server, "/me", who=None)["right"], "own")
        self.get(server, "/status", who=None)
        self.get(server, "/events", who=None, status=403)
        self.assertEqual(self.do(server, "/call", {"name": "a__one"}, who=None)["result"]["content"][0]["type"], "text")


class Rights(Base):
    """A principal without admin sees its own."""

    RULES = {"default": "deny", "rules": [{"who": {"scopes": ["admin"]}, "then": "allow"}, {"tools": {"match": ["a:one"]}, "then": "allow"}]}

    def test_what_is_hidden(self):
        server = self.serve(access=self.RULES)
        own, all_ = self.get(server, "/tools", who="own"), self.get(server, "/tools", who="read")
        self.assertEqual([one["id"] for one in own["tools"] if not one["id"].startswith("_meta:")], ["a:one"])
        self.assertEqual([one["id"] for one in all_["tools"]], ["a:one", "a:hold", "b:two"])
        hidden = self.ask(server, "own", "GET", "/tools/a%3Ahold")
        none = self.ask(server, "own", "GET", "/tools/a%3Anone")
        self.assertEqual((hidden.status, hidden.body.replace(b"hold", b"none")), (404, none.body))
        self.assertEqual([row["key"] for row in self.get(server, "/status", who="own")["toolsets"]], ["a"])
        self.assertEqual([row["key"] for row in self.get(server, "/status", who="read")["toolsets"]], ["a", "b"])
        hidden = self.ask(server, "own", "POST", "/toolsets/b/enable", {})
        none = self.ask(server, "own", "POST", "/toolsets/c/enable", {})
        self.assertEqual((hidden.status, hidden.body.replace(b'"b', b'"c').replace(b"\\\"b", b"\\\"c")), (404, none.body))

    def test_a_call_is_the_callers(self):
        server = self.serve(access=self.RULES)
        self.do(server, "/call", {"name": "a__one"}, who="own")
        for name in ("b__two", "b__none"):
            reply = self.ask(server, "own", "POST", "/call", {"name": name})
            self.assertEqual(reply.status, 400, reply.body)
        # admin:read is for looking: by these rules its own calls are as anybody's
        self.assertEqual(self.ask(server, "read", "POST", "/call", {"name": "b__two"}).status, 400)
        self.assertEqual(self.ask(server, "admin", "POST", "/call", {"name": "b__two"}).status, 200)


class Looking(Base):
    def test_who_i_am(self):
        server = self.serve()
        me = self.get(server, "/me", who="read")
        self.assertEqual((me["principal"], me["right"], me["scopes"]), ("token:read", "read", ["admin:read"]))

    def test_why_a_server_is_down(self):
        server = self.serve(toolsets={**self.TOOLSETS, "dead": DEAD})
        self.do(server, "/toolsets/dead/enable")
        one = self.get(server, "/toolsets/dead")
        self.assertEqual(one["status"]["state"], "failed")
        self.assertIn("/nonexistent/server", one["reason"])
        rows = {row["key"]: row["status"] for row in self.get(server, "/status")["toolsets"]}
        self.assertIn("/nonexistent/server", rows["dead"]["lastError"])

    def test_stderr(self):
        talks = {"command": sys.executable, "args": ["-c", "import sys; sys.stderr.write('first\\nlast words\\n'); sys.stderr.flush(); sys.stdin.read()"]}
        server = self.serve(toolsets={"talks": talks})
        server.hub.remember_descendants()
        connection = server.connection()
        connection.send(server.modern_bytes("tools/list", headers={"Authorization": f"Bearer {self.tokens['admin']}"}))
        server.hub.wait_log("last words")
        self.assertIn("last words", self.get(server, "/toolsets/talks")["stderr"])
        connection.close()

    def test_tools(self):
        server = self.serve(toolsets={"a": fixture(tool("one", description="Cuts bread."), tool("two", description="Butters it."))})
        found = self.get(server, "/tools?query=BREAD%20one")
        self.assertEqual([one["id"] for one in found["tools"]], ["a:one"])
        self.assertEqual(found["total"], 1)
        first = self.get(server, "/tools?limit=1")
        self.assertEqual((len(first["tools"]), first["next"], first["total"]), (1, 1, 2))
        second = self.get(server, "/tools?limit=1&after=1")
        self.assertNotIn("next", second)
        self.assertEqual({first["tools"][0]["id"], second["tools"][0]["id"]}, {"a:one", "a:two"})
        one = self.get(server, "/tools/a:one")
        self.assertEqual((one["name"], one["definition"]["name"]), ("a__one", "one"))
        self.assertEqual(one["bytes"], found["tools"][0]["bytes"])
        for query in ("limit=1001", "limit=-1", "limit=x", "after=x", "query=" + "x" * 257):
            self.get(server, "/tools?" + query, status=400)
        self.get(server, "/tools?query=" + "x" * 256)

    def test_hostile_names(self):
        """What servers say is JSON text, and nothing else."""
        evil = '</script><img src=x onerror=alert(1)>"\u202e'
        server = self.serve(toolsets={"a": fixture(tool("one", description=evil))})
        reply = self.ask(server, "admin", "GET", "/tools/a:one")
        self.assertEqual(json.loads(reply.body)["definition"]["description"], evil)
        self.assertEqual(reply.header("content-type"), "application/json")
        self.assertEqual(reply.header("x-content-type-options"), "nosniff")


class Doing(Base):
    def test_enable_and_disable(self):
        server = self.serve()
        answer = self.do(server, "/toolsets/b/disable", who="own")
        self.assertTrue(answer["ok"], answer)
        active = {row["key"]: row["active"] for row in self.get(server, "/status", who="own")["toolsets"]}
        self.assertEqual(active, {"a": True, "b": False})
        # It is the caller's choice, and nobody else's.
        self.assertIn("b:two", [one["id"] for one in self.get(server, "/tools", who="admin")["tools"] if "name" in one])
        self.assertTrue(self.do(server, "/toolsets/b/enable", who="own")["ok"])

    def test_restart(self):
        server = self.serve(toolsets={"up": SERVER, **self.TOOLSETS})
        server.hub.remember_descendants()
        headers = {"Authorization": f"Bearer {self.tokens['admin']}"}
        server.modern("tools/list", headers=headers)
        before = self.get(server, "/toolsets/up")["status"]["pid"]
        self.do(server, "/toolsets/up/restart")
        self.assertNotEqual(self.get(server, "/toolsets/up")["status"].get("pid"), before)
        server.modern("tools/list", headers=headers)
        self.assertSays(server.hub.log, "toolset.restarted", "token:admin")

    def test_calls(self):
        server = self.serve()
        answer = self.do(server, "/call", {"name": "a__one", "arguments": {"x": 1}}, who="own")
        self.assertIn("content", answer["result"])
        answer = self.do(server, "/call", {"name": "a__none"}, who="own", status=400)
        self.assertEqual(answer["error"]["rpcCode"], -32602)

    def test_who_hangs_up_cancels(self):
        server = self.serve()
        connection = server.connection()
        body = json.dumps({"name": "a__hold"}).encode()
        connection.send(b"POST /api/v1/call HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAuthorization: Bearer "
                        + self.tokens["own"].encode() + b"\r\nContent-Length: %d\r\n\r\n" % len(body) + body)
        server.hub.wait_until(lambda: self.in_flight(server) == 1, "the call is in flight")
        connection.close()
        server.hub.wait_until(lambda: self.in_flight(server) == 0, "it is cancelled")

    def in_flight(self, server):
        return {row["key"]: row["status"]["inFlight"] for row in self.get(server, "/status")["toolsets"]}["a"]


class Saved(Base):
    """Saved toolsets: one code with the hub's own tools, which the profile need not list (S3.26)."""

    TOOLSETS = {"a": fixture("one", "two"), "b": fixture("three")}

    def names(self, server, who="own"):
        return sorted(one["id"] for one in self.get(server, "/tools", who=who)["tools"])

    def test_build_equip_and_unequip(self):
        server = self.serve(hub={"meta_tools": False})
        built = self.do(server, "/saved", {"name": "mine", "tools": ["a:one", "b:three"], "description": "For work"}, who="own")
        self.assertEqual((built["name"], built["savedTools"]), ("mine", 2))
        self.assertEqual([one["name"] for one in self.get(server, "/saved", who="own")["toolsets"]], ["mine"])
        self.assertEqual(self.get(server, "/saved", who="read")["toolsets"], [], "they are their owner's")
        self.get(server, "/saved/mine", who="read", status=404)
        shown = self.get(server, "/saved/mine", who="own")
        self.assertEqual((shown["description"], shown["origin"], shown["owner"]), ("For work", "own", "token:own"))
        self.assertEqual(shown["tools"], [{"id": "a:one", "state": "same"}, {"id": "b:three", "state": "same"}])
        self.assertEqual(self.get(server, "/equipped", who="own")["equipped"], None)
        self.do(server, "/equipped", {"name": "mine"}, who="own", method="PUT")
        self.assertEqual(self.names(server), ["a:one", "b:three"])
        self.assertEqual(self.get(server, "/equipped", who="own")["equipped"], "mine")
        self.assertIsNone(self.get(server, "/equipped", who="admin")["equipped"], "it is the caller's choice")
        self.assertEqual(self.ask(server, "own", "DELETE", "/equipped").status, 200)
        self.assertIn("a:two", self.names(server))

    def test_edit_and_compare(self):
        server = self.serve()
        self.do(server, "/saved", {"name": "mine", "tools": ["a:one"]}, who="own")
        self.do(server, "/saved", {"name": "mine", "tools": ["a:two"]}, who="own", status=409)
        self.do(server, "/saved", {"name": "mine", "tools": ["a:one", "a:two"], "replace": True}, who="own")
        self.do(server, "/saved", {"name": "other", "tools": ["a:two", "b:three"]}, who="own")
        nothing = {"added": [], "removed": [], "changed": []}
        self.assertEqual(self.get(server, "/saved/mine/diff", who="own"), nothing)
        self.assertEqual(self.get(server, "/saved/mine/diff?other=mine", who="own"), nothing)
        self.assertEqual(self.get(server, "/saved/mine/diff?other=other", who="own"), {"added": ["b:three"], "removed": ["a:one"], "changed": []})
        self.get(server, "/saved/mine/diff?other=none", who="own", status=404)
        self.assertEqual(self.ask(server, "own", "DELETE", "/saved/mine").status, 200)
        self.assertEqual(self.ask(server, "own", "DELETE", "/saved/mine").status, 409)
        self.get(server, "/saved/mine/diff?other=other", who="own", status=404)

    def test_what_is_shared_is_admins(self):
        server = self.serve()
        shared = {"name": "all", "tools": ["a:one"], "share": True}
        self.assertSays(self.do(server, "/saved", shared, who="own", status=409)["error"]["message"], "admin")
        self.do(server, "/saved", shared)
        self.assertEqual(self.get(server, "/saved/all", who="own")["origin"], "shared")
        self.assertEqual(self.ask(server, "own", "DELETE", "/saved/all").status, 409)
        self.assertEqual(self.ask(server, "admin", "DELETE", "/saved/all").status, 200)

    def test_rules_hold(self):
        """What rules hide is not there; a rule about the hub's own tools counts here, too."""
        server = self.serve(access={"rules": [{"who": {"scopes": ["admin"]}, "then": "allow"}, {"tools": {"match": ["b:*", "_meta:delete-toolset"]}, "then": "deny"}]})
        self.do(server, "/saved", {"name": "bad", "tools": ["b:three"]}, who="own", status=409)
        self.do(server, "/saved", {"name": "all", "tools": ["b:three"], "share": True})
        self.assertEqual(self.get(server, "/saved/all", who="own")["tools"], [{"id": "b:three", "state": "hidden"}])
        self.assertEqual(self.get(server, "/saved/all/diff", who="own")["removed"], ["b:three"])
        self.do(server, "/saved", {"name": "mine", "tools": ["a:one"]}, who="own")
        self.assertSays(json.loads(self.ask(server, "own", "DELETE", "/saved/mine").body)["error"]["message"], "rule")

    def test_a_static_profile(self):
        server = self.serve(hub={"startup": "static", "toolsets": ["a"]})
        refused = self.do(server, "/equipped", {"name": "mine"}, who="own", status=400, method="PUT")
        self.assertSays(refused["error"]["message"], "static")

    def test_clients_have_no_such_method(self):
        server = self.serve()
        answer = server.modern("patchbay/own-tool", {"name": "list-saved-toolsets", "arguments": {}}, headers={"Authorization": f"Bearer {self.tokens['admin']}"})
        self.assertEqual(answer.message.error["code"], -32601)


class Approvals(Base):
    """What is not as it was approved is shown, and approved, by the lock file (S3.90)."""

    NOW = tool("one", description="Deletes all.")
    BEFORE = tool("one", description="Lists files.")
    TOOLSETS = {"a": fixture(NOW, "two")}

    def serve_locked(self, **more):
        canonical = [json.dumps(one, sort_keys=True, separators=(",", ":")) for one in (self.BEFORE, tool("two"))]
        entries = [{"digest": "sha256:" + hashlib.sha256(text.encode()).hexdigest(), "definition": json.loads(text)} for text in canonical]
        self.write_lock({"a": {"tools": {"one": entries[0], "two": entries[1]}}})
        return self.serve(policy={"pinned": "withhold"}, **more)

    def test_see_and_approve(self):
        server = self.serve_locked()
        self.assertNotIn("a__one", [one.get("name") for one in self.get(server, "/tools")["tools"]])
        changes = [c for c in self.get(server, "/approvals", who="read")["changes"] if c["what"] != "origin"]
        self.assertEqual([(c["toolset"], c["what"], c["name"], c["change"], c["withheld"]) for c in changes], [("a", "tool", "one", "changed", True)])
        self.assertEqual((changes[0]["before"]["description"], changes[0]["now"]["description"]), ("Lists files.", "Deletes all."))
        for wrong, status in (({"toolset": "a", "tool": "one", "digest": "0" * 64}, 409), ({"toolset": "none"}, 404), ({"toolset": 1}, 400), ({"toolset": "a", "tool": "two"}, 409)):
            self.do(server, "/approvals", wrong, status=status)
        self.assertEqual(self.do(server, "/approvals", {"toolset": "a", "tool": "one", "digest": changes[0]["digest"]}), {"approved": 1})
        server.hub.wait_log("config.reloaded")
        self.assertEqual([c["what"] for c in self.get(server, "/approvals")["changes"]], ["origin"])
        self.do(server, "/call", {"name": "a__one"})
        self.assertSays(server.hub.log, "pins.approved", "token:admin")
        self.do(server, "/approvals", {"toolset": "a"}, status=409)

    def test_what_is_started_is_approved_on_the_machine(self):
        self.write_lock({"up": {"origin": "/bin/another"}})
        server = self.serve(toolsets={"up": SERVER})
        headers = {"Authorization": f"Bearer {self.tokens['admin']}"}
        server.modern("tools/list", headers=headers)
        found = [c for c in self.get(server, "/approvals")["changes"] if c["what"] == "origin"]
        self.assertEqual((found[0]["before"], found[0]["change"]), ("/bin/another", "changed"))
        self.do(server, "/approvals", {"toolset": "up"})
        self.assertEqual(json.loads((self.home / "patchbay.lock").read_text())["toolsets"]["up"]["origin"], "/bin/another")

    def test_without_a_lock_file(self):
        server = self.serve()
        self.assertEqual(self.ask(server, "admin", "GET", "/approvals").status, 404)


class People(Base):
    def test_others_see_only_their_own(self):
        server = self.serve(access={"rules": [{"who": {"scopes": ["admin"]}, "then": "allow"}, {"tools": {"match": ["b:*"]}, "then": "deny"}]})
        client = self.session(server, "read")
        names = {one["name"]: one for one in self.get(server, "/principals")["principals"]}
        self.assertEqual(names["token:read"]["sessions"], 1)
        self.assertEqual([one["name"] for one in self.get(server, "/principals", who="own")["principals"]], ["token:own"])
        self.assertEqual(self.get(server, "/sessions", who="own")["sessions"], [])
        found = self.get(server, "/sessions")["sessions"]
        self.assertEqual([(one["principal"], one["protocol"], one["transport"]) for one in found], [("token:read", "2025-11-25", "http")])
        client()
        self.assertEqual(self.get(server, "/sessions")["sessions"], [])

    def session(self, server, who):
        """A legacy session; call it to end it."""
        headers = [("Authorization", f"Bearer {self.tokens[who]}"), ("Content-Type", "application/json"), ("Accept", "application/json, text/event-stream")]
        hello = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}}
        reply = server.ask("POST", "/mcp", headers, json.dumps(hello).encode())
        self.assertEqual(reply.status, 200, reply.body)
        session = [*headers, ("Mcp-Session-Id", reply.header("mcp-session-id"))]
        return lambda: server.ask("DELETE", "/mcp", session)

    def test_the_rule_that_decides(self):
        rules = [{"who": {"scopes": ["admin"]}, "then": "allow"}, {"tools": {"match": ["b:*"]}, "then": "deny", "reason": "b is broken"}]
        server = self.serve(access={"rules": rules})
        own = self.get(server, "/tools/a:one/access", who="own")["answers"]
        self.assertEqual((own[0]["principal"], own[0]["decision"], "rule" in own[0]), ("token:own", "allow", False))
        self.get(server, "/tools/b:two/access", who="own", status=404)
        self.get(server, "/tools/a:one/access?principal=token:read", who="own", status=403)
        other = self.get(server, "/tools/b:two/access?principal=token:own", who="read")["answers"]
        self.assertEqual([(one["decision"], one["listed"], one["reason"]) for one in other], [("deny", False, "b is broken")])
        self.assertIn("rules", other[0]["rule"] + "rules")
        nobody = self.get(server, "/tools/b:two/access?principal=token:nobody")["answers"]
        self.assertEqual(nobody[0]["decision"], "deny")
        self.get(server, "/tools/b:none/access", status=404)


class Tokens(Base):
    def test_list_make_and_revoke(self):
        server = self.serve()
        shown = self.get(server, "/tokens", who="read")["tokens"]
        self.assertEqual([one["name"] for one in shown], ["own", "read", "admin"])
        self.assertFalse([key for one in shown for key in one if key in ("sha256", "token")])
        made = self.do(server, "/tokens", {"name": "laptop", "scopes": ["admin"], "days": 1})
        self.tokens["laptop"] = made["token"]
        server.hub.wait_log("config.reloaded")
        self.assertEqual(self.get(server, "/me", who="laptop")["right"], "admin")
        self.assertEqual(self.ask(server, "admin", "DELETE", "/tokens/laptop").status, 200)
        server.hub.wait_until(lambda: server.hub.log.count("config.reloaded") == 2, "the second reload")
        self.assertEqual(self.ask(server, "laptop", "GET", "/me").status, 401)
        self.assertEqual(self.ask(server, "admin", "DELETE", "/tokens/laptop").status, 404)
        self.assertSays(server.hub.log, "token.made", "token.revoked", "token:admin")
        self.assertNotIn(made["token"], server.hub.log)

    def test_no_more_than_its_maker(self):
        server = self.serve()
        self.do(server, "/tokens", {"name": "more", "scopes": ["admin", "files:write"]}, status=403)
        self.do(server, "/tokens", {"name": "more", "groups": ["staff"]}, status=403)
        for wrong in ({}, {"name": 1}, {"name": "a b"}, {"name": "x", "scopes": "admin"}, {"name": "x", "scopes": [1]}, {"name": "x", "days": 0}, {"name": "x", "days": 36501}, {"name": "x", "scopes": ["a b"]}):
            self.do(server, "/tokens", wrong, status=400 if wrong.get("scopes") != ["a b"] else 403)
        short = self.do(server, "/tokens", {"name": "short", "scopes": ["admin"], "days": 1})["token"]
        self.tokens["short"] = short
        server.hub.wait_log("config.reloaded")
        self.do(server, "/tokens", {"name": "long", "days": 30}, who="short", status=403)
        self.do(server, "/tokens", {"name": "long"}, who="short", status=403)


class Configuration(Base):
    def test_what_it_is(self):
        server = self.serve(toolsets={"a": fixture("one"), "up": {**SERVER, "env": {"KEY": "sesame-1234"}}}, access={"rules": [{"tools": {"match": ["b:*"]}, "then": "deny"}]})
        reply = self.ask(server, "read", "GET", "/configuration")
        self.assertNotIn(b"sesame", reply.body)
        found = json.loads(reply.body)
        self.assertEqual([one["key"] for one in found["toolsets"]], ["a", "up"])
        self.assertEqual((found["listeners"][0]["api"], found["auth"]["tokens"], len(found["access"])), (True, 3, 1))
        limits = {one["name"]: one for one in self.get(server, "/limits")["limits"]}
        self.assertEqual(limits["client_message"]["value"], limits["client_message"]["default"])

    def test_what_a_reload_would_change(self):
        server = self.serve(modules={"watch": False})
        nothing = {"count": 0, "names": ""}
        self.assertEqual(self.get(server, "/configuration/changes"), {"added": nothing, "removed": nothing, "changed": nothing, "restart": nothing})

    def test_the_end_of_the_audit(self):
        """Who looks is recorded, too; the record of a look is written when it is answered."""
        path = self.home / "audit.log"
        server = self.serve(log={"audit": str(path)})
        looks = [one for one in self.get(server, "/audit")["records"] if one["name"] != "GET /api/v1/audit"]
        self.assertEqual(looks, [])
        for _ in range(3):
            self.do(server, "/call", {"name": "a__one"}, who="own")
        server.hub.wait_until(lambda: path.read_text().count('"name":"one"') == 3, "three records")
        lines = path.read_text().count("\n")
        with path.open("a") as file:
            file.write("torn")
        records = self.get(server, "/audit")["records"]
        self.assertEqual([one["name"] for one in records if one["name"] == "one"], ["one"] * 3)
        self.assertEqual(len(records), lines)
        self.assertEqual(len(self.get(server, "/audit?limit=2")["records"]), 1, "the torn line is one of them")
        self.assertEqual(self.get(server, "/audit?limit=0")["records"], [])
        self.get(server, "/audit?limit=1001", status=400)

    def test_no_audit(self):
        self.assertSays(self.get(self.serve(), "/audit", status=409)["error"]["message"], "log: {audit: PATH}")


class Shapes(Base):
    """Tools, and calls, in the shapes of other APIs (S2.27, S2.28, S4.32, S4.47)."""

    SCHEMA = {"type": "object", "properties": {"n": {"type": "number", "not": {"const": 1}}}}
    TOOLSETS = {"a": fixture(tool("one", inputSchema=SCHEMA), tool("x.y"), "failed"), "b": {**fixture("two"), "active": False}}

    def test_exports(self):
        server = self.serve(access={"rules": [{"who": {"scopes": ["admin:read"]}, "then": "allow"}, {"tools": {"match": ["a:failed"]}, "then": "deny"}]})
        mcp = self.get(server, "/export", who="own")
        self.assertEqual(([t["name"] for t in mcp["tools"]], mcp["warnings"], mcp["leftOut"]), (["a__one", "a__x.y"], [], []))
        self.assertEqual(mcp["tools"][0]["inputSchema"], self.SCHEMA)
        self.assertEqual(len(self.get(server, "/export?format=mcp", who="read")["tools"]), 3)
        anthropic = self.get(server, "/export?format=anthropic", who="own")["tools"]
        self.assertEqual(anthropic[0], {"name": "a__one", "input_schema": self.SCHEMA})
        gemini = self.get(server, "/export?format=gemini", who="own")
        self.assertEqual(len(gemini["warnings"]), 1)
        self.assertIn("a__one", gemini["warnings"][0])
        strict = self.get(server, "/export?format=gemini&strict=true", who="own")
        self.assertEqual((len(strict["leftOut"]), len(strict["tools"][0]["functionDeclarations"])), (1, 1))
        self.assertEqual(self.get(server, "/export?format=openapi", who="own")["tools"]["openapi"], "3.1.0")
        self.get(server, "/export?format=pascal", who="own", status=400)

    def test_what_a_model_asks_for(self):
        server = self.serve()
        for name in [t["name"] for t in self.get(server, "/export?format=anthropic")["tools"]]:
            said = self.do(server, "/blocks", {"from": "anthropic", "block": {**BLOCK, "name": name}}, who="own")
            self.assertEqual((said["type"], said["tool_use_id"], said.get("is_error", False)), ("tool_result", "t1", name == "a__failed"))
        asked = {"id": "c1", "type": "function", "function": {"name": "a__one", "arguments": '{"n": 2}'}}
        said = self.do(server, "/blocks", {"from": "openai", "block": asked}, who="own")
        self.assertEqual((said["role"], said["tool_call_id"]), ("tool", "c1"))
        unknown = self.do(server, "/blocks", {"from": "anthropic", "block": {**BLOCK, "name": "nobody"}}, who="own")
        self.assertTrue(unknown["is_error"])
        for body in ({"from": "x", "block": BLOCK}, {"from": "anthropic", "block": 1}, {"from": "openai", "block": BLOCK}, {"from": "anthropic"}):
            self.do(server, "/blocks", body, status=400)


class Events(Base):
    def stream(self, server, who="read", headers=()):
        connection = server.connection()
        lines = [f"GET {PREFIX}/events HTTP/1.1", "Host: localhost", "Accept: text/event-stream", f"Authorization: Bearer {self.tokens[who]}", *headers]
        connection.send(("\r\n".join(lines) + "\r\n\r\n").encode())
        return Stream(connection)

    def take(self, stream, name):
        while True:
            event = stream.next()
            self.assertIsNotNone(event, "the stream has ended")
            if event.name == name:
                return event, json.loads(event.data)

    def test_a_call_is_seen(self):
        server = self.serve()
        stream = self.stream(server)
        self.do(server, "/call", {"name": "a__one", "arguments": {"secret": "sesame"}}, who="own")
        event, begun = self.take(stream, "call.begun")
        self.assertNotIn("sesame", event.data)
        self.assertEqual((begun["who"], begun["toolset"], begun["name"], begun["method"]), ("token:own", "a", "one", "tools/call"))
        event, ended = self.take(stream, "call.ended")
        self.assertEqual((ended["call"], ended["outcome"]), (begun["call"], "ok"))
        self.assertNotIn("sesame", event.data)
        stream.close()

    def test_who_comes_back(self):
        server = self.serve()
        stream = self.stream(server)
        self.do(server, "/call", {"name": "a__one"}, who="own")
        event, begun = self.take(stream, "call.begun")
        stream.close()
        again = self.stream(server, headers=[f"Last-Event-ID: {event.id}"])
        _, ended = self.take(again, "call.ended")
        self.assertEqual(ended["call"], begun["call"])
        again.close()

    def test_what_the_log_says(self):
        server = self.serve()
        stream = self.stream(server)
        self.do(server, "/toolsets/a/restart")
        _, said = self.take(stream, "toolset.restarted")
        self.assertEqual((said["toolset"], said["by"]), ("a", "token:admin"))
        stream.close()

    def test_without_a_stream(self):
        server = self.serve()
        begin = self.get(server, "/events")["next"]
        self.do(server, "/call", {"name": "a__one"}, who="own")
        events, since = [], begin
        while not any(one["event"] == "call.ended" for one in events):
            answer = self.get(server, f"/events?since={since}&wait=25")
            events += answer["events"]
            self.assertGreaterEqual(answer["next"], since)
            since = answer["next"]
        for query in ("wait=26", "since=x"):
            self.get(server, "/events?" + query, status=400)

    def test_what_was_missed(self):
        """The last 4,096 are kept: who was away for one more is told that one is gone, by either way of reading."""
        kept = 4096
        server = self.serve()
        slow = self.stream(server)
        first = self.get(server, "/events")["next"]
        newest = first
        while newest < first + kept + 2:
            for _ in range(min(500, (first + kept + 3 - newest) // 2)):  # two events each, of 1,024 that calls may have in a turn
                self.do(server, "/call", {"name": "a__one"}, who="own")
            newest = self.get(server, f"/events?since={newest}&wait=25")["next"]  # answered at the next turn
            while (after := self.get(server, f"/events?since={newest}")["next"]) > newest:
                newest = after
        for away, missed in ((kept - 1, 0), (kept, 0), (kept + 1, 1), (kept + 2, 2)):
            answer = self.get(server, f"/events?since={newest - away}")
            self.assertEqual(answer["missed"], missed, away)
            again = self.stream(server, headers=[f"Last-Event-ID: {newest - away}"])
            event = again.next()
            if missed:
                self.assertEqual((event.name, json.loads(event.data)), ("dropped", {"count": missed}))
                event = again.next()
            self.assertEqual(int(event.id), newest - away + missed + 1)
            again.close()
        seen = None  # who has not read at all meanwhile gets all, or is told how many it does not
        while seen != newest:
            event = slow.next()
            if event.name == "dropped":
                seen += json.loads(event.data)["count"]
            else:
                self.assertEqual(int(event.id), int(event.id) if seen is None else seen + 1)
                seen = int(event.id)
        slow.close()

    def test_they_end_with_the_hub(self):
        server = self.serve()
        stream = self.stream(server)
        server.hub.signal()
        while stream.next() is not None:
            pass


class Messages(Base):
    """The same by a method of MCP."""

    def rpc(self, path, method="GET", request_id=1, **more):
        params = {"method": method, "path": PREFIX + path, **more, "_meta": ENVELOPE}
        self.peer.sendall((json.dumps({"jsonrpc": "2.0", "id": request_id, "method": "patchbay/api", "params": params}) + "\n").encode())
        answer = json.loads(self.lines.readline())
        self.assertEqual(answer.get('id'), request_id, answer)
        return answer

    def serve_socket(self, **more):
        hub = self.daemon("--unix", self.home / "hub.sock", manifest={"toolsets": self.TOOLSETS, **more})
        hub.listening()
        self.peer = socket.socket(socket.AF_UNIX)
        self.peer.connect(str(self.home / "hub.sock"))
        self.addCleanup(self.peer.close)
        self.lines = self.peer.makefile("r")
        return hub

    def test_the_operator_may_all(self):
        self.serve_socket()
        answer = self.rpc("/me")["result"]
        self.assertEqual((answer["status"], answer["body"]["right"], answer["body"]["principal"]), (200, "admin", f"uid:{os.getuid()}"))
        self.assertEqual([row["key"] for row in self.rpc("/status")["result"]["body"]["toolsets"]], ["a", "b"])
        self.assertEqual(self.rpc("/toolsets/a/restart", "POST", body={})["result"]["status"], 200)
        self.assertEqual(self.rpc("/none")["result"]["status"], 404)
        self.assertEqual(self.rpc("/tools", query="query=two")["result"]["body"]["total"], 1)

    def test_what_is_no_request(self):
        self.serve_socket()
        self.assertEqual(self.rpc("/me", method=1)["error"]["code"], -32602)

    def test_one_that_is_answered_later(self):
        self.serve_socket()
        self.assertEqual(self.rpc("/call", "POST", body={"name": "a__one"})["result"]["status"], 200)
        begin = self.rpc("/events")["result"]["body"]["next"]
        self.rpc("/toolsets/a/restart", "POST", body={})
        answer = self.rpc("/events", query=f"since={begin}&wait=25")["result"]["body"]
        self.assertIn("toolset.restarted", [one["event"] for one in answer["events"]])

    def test_it_can_be_cancelled(self):
        hub = self.serve_socket()
        params = {"path": PREFIX + "/events", "query": "wait=25", "_meta": ENVELOPE}
        self.peer.sendall((json.dumps({"jsonrpc": "2.0", "id": 7, "method": "patchbay/api", "params": params}) + "\n").encode())
        self.peer.sendall((json.dumps({"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 7}}) + "\n").encode())
        self.assertEqual(self.rpc("/me", request_id=8)["id"], 8)
        hub.signal()

    def test_others_by_their_scopes(self):
        server = self.serve()
        for who, status in (("own", 403), ("read", 200)):
            answer = server.modern("patchbay/api", {"path": PREFIX + "/modules"}, headers={"Authorization": f"Bearer {self.tokens[who]}"})
            self.assertEqual(answer.message.result["status"], status)


if __name__ == "__main__":
    main()
