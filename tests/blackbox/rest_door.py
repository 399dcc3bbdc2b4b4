# SPDX-License-Identifier: Apache-2.0
"""The door for agents that do not speak MCP: /openapi.json, and POST /tools/NAME (S2.29, S4.47)."""

import json
import signal
import sys

from http_client import HttpTest, Server, render
from mcp import SUPPORT, fixture, main, tool

sys.path.insert(0, str(SUPPORT))

from http_upstream import HttpUpstream  # noqa: E402

JSON = [("Content-Type", "application/json")]
TOOLSETS = {
    "a": fixture("one", "zzzz", "rpc_error", "failed", tool("typed", description="Typed", inputSchema={"type": "object", "$ref": "#/$defs/x", "$defs": {"x": {}}})),
    "up": {"command": sys.executable, "args": ["-IS", str(SUPPORT / "unruly_server.py")]},
}


class Base(HttpTest):
    def serve(self, *arguments, rest=True, toolsets=None, **more):
        listen = [{"http": "127.0.0.1:0", "rest": rest}]
        return Server(self, self.daemon(*arguments, manifest={"listen": listen, "toolsets": toolsets or TOOLSETS, **more}))

    def call(self, server, name, arguments=None, headers=(), body=None):
        body = json.dumps(arguments or {}).encode() if body is None else body
        return server.ask("POST", f"/tools/{name}", [*JSON, *headers], body)

    def document(self, server, headers=()):
        reply = server.get("/openapi.json", list(headers))
        self.assertEqual((reply.status, reply.header("content-type")), (200, "application/json"), reply)
        return json.loads(reply.body)


class Door(Base):
    def test_the_listener_chooses(self):
        server = self.serve(rest=False)
        unknown = server.get("/nothing-is-here")
        for reply in (server.get("/openapi.json"), self.call(server, "a__one")):
            self.assertEqual((reply.status, reply.body), (404, unknown.body))

    def test_what_is_listed_is_described(self):
        server = self.serve()
        document = self.document(server)
        self.assertEqual(document["openapi"], "3.1.0")
        listed = {t["name"]: t for t in server.modern("tools/list").answer.result["tools"]}
        self.assertEqual(list(document["paths"]), [f"/tools/{name}" for name in listed])
        for path, item in document["paths"].items():
            self.assertEqual(item["post"]["operationId"], path.removeprefix("/tools/"))
        schema = document["paths"]["/tools/up__echo"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        self.assertEqual(schema, listed["up__echo"]["inputSchema"])
        typed = document["paths"]["/tools/a__typed"]["post"]["requestBody"]["content"]["application/json"]["schema"]
        self.assertEqual(typed.pop("$id"), "urn:patchbay:tool:a__typed")
        self.assertEqual(typed, listed["a__typed"]["inputSchema"])

    def test_all_pages_are_in_the_document(self):
        many = [f"t{i:04}" for i in range(230)]
        server = self.serve(toolsets={"a": fixture(*many)}, hub={"meta_tools": False, "page_size": 50})
        self.assertEqual([p for p in self.document(server)["paths"]], [f"/tools/a__{name}" for name in many])

    def test_a_call_is_that_of_mcp(self):
        server = self.serve()
        sent = {"n": 2, "s": "é\u2028"}
        reply = self.call(server, "up__echo", sent)
        self.assertEqual((reply.status, reply.header("content-type")), (200, "application/json"))
        same = server.call("up__echo", sent).answer
        self.assertEqual(reply.body.decode(), same.slice("result"))
        self.assertEqual(json.loads(json.loads(reply.body)["content"][0]["text"]), sent)
        self.assertEqual(self.call(server, "a__one", body=b"").status, 200)  # no arguments
        self.assertEqual(server.ask("POST", "/tools/a__one", [("Content-Length", "0")]).status, 200)
        self.assertEqual(self.call(server, "a__%6fne").status, 200)
        failed = self.call(server, "a__failed")
        self.assertEqual((failed.status, json.loads(failed.body)["isError"]), (200, True))
        self.assertEqual(self.call(server, "list_toolsets").status, 200)  # what is listed can be called

    def test_names_that_a_path_cannot_have(self):
        server = self.serve(toolsets={"a": fixture("x.y", "a" * 80)}, hub={"meta_tools": False})
        for path in self.document(server)["paths"]:
            name = path.removeprefix("/tools/")
            self.assertRegex(name, "^[A-Za-z0-9_-]{1,64}$")
            self.assertEqual(self.call(server, name).status, 200, name)
        self.assertEqual(self.call(server, "a__x_y_00000000").status, 404)
        self.assertEqual(self.call(server, "a__x.y").status, 200)  # the name that MCP knows

    def test_what_cannot_be_called(self):
        server = self.serve(limits={"client_message": 65536})
        unknown = self.call(server, "nobody")
        self.assertEqual(unknown.status, 404)
        same = server.call("nobody").answer.error
        self.assertEqual(json.loads(unknown.body), {"error": same})
        own = self.call(server, "a__rpc_error")
        self.assertEqual((own.status, json.loads(own.body)["error"]["code"]), (502, 4242))
        for body, status in ((b"[1]", 400), (b"{", 400), (b'{"a":"\xff"}', 400), (b'{"a":"' + b"x" * 70000 + b'"}', 413)):
            self.assertEqual(self.call(server, "a__one", body=body).status, status, body[:20])
        for kind in ([("Content-Type", "text/plain")], [("Content-Type", "application/jsonx")], []):
            self.assertEqual(server.ask("POST", "/tools/a__one", kind, b"{}").status, 415)
        self.assertEqual(server.ask("POST", "/tools/a__one", [("Content-Type", "Application/JSON ; charset=utf-8")], b"{}").status, 200)
        self.assertEqual(server.get("/tools/a__one").status, 405)
        self.assertEqual(server.ask("POST", "/openapi.json", JSON, b"{}").status, 405)
        self.assertEqual(self.call(server, "a__one", headers=[("Origin", "http://evil.example")]).status, 403)

    def test_who_hangs_up_cancels(self):
        recorder = self.recorder()
        server = self.serve(toolsets={"up": recorder.toolset()})
        connection = server.connection()
        connection.send(render("POST", "/tools/up__hold", JSON, b"{}"))
        line = json.loads(recorder.wait_calls(1)[0])
        self.assertNotIn("progressToken", line["params"].get("_meta", {}))
        connection.close()
        cancelled = recorder.wait_line(lambda m: m.get("method") == "notifications/cancelled")
        self.assertEqual(json.loads(cancelled)["params"]["requestId"], line["id"])

    def test_a_hub_that_ends_lets_calls_end(self):
        recorder = self.recorder()
        server = self.serve(toolsets={"up": recorder.toolset()}, limits={"drain_timeout": "10m"})
        connection = server.connection()
        connection.send(render("POST", "/tools/up__hold", JSON, b'{"a":1}'))
        line = recorder.wait_calls(1)[0]
        server.hub.process.send_signal(signal.SIGTERM)
        server.hub.wait_log("hub.stopping reason=signal")
        recorder.answer(line, '"content":[{"type":"text","text":"done"}]')
        self.assertEqual(json.loads(connection.reply().body)["content"][0]["text"], "done")
        self.assertEqual(server.hub.wait_exit(), 0)

    def test_headers_go_on_as_those_of_mcp(self):
        upstream = HttpUpstream("modern")
        self.addCleanup(upstream.close)
        server = self.serve(toolsets={"up": {"url": upstream.url, "forward_headers": ["X-Tenant", "Authorization"]}})
        sent = [("X-Tenant", "a"), ("Authorization", "Bearer of-the-client"), ("X-Other", "b")]
        self.assertEqual(self.call(server, "up__echo", headers=sent).status, 200)
        headers = upstream.of("tools/call")[-1].headers
        self.assertEqual((headers["x-tenant"], headers["authorization"], headers.get("x-other")), ("a", "Bearer of-the-client", None))


class Rules(Base):
    ACCESS = {
        "rules": [
            {"tools": {"match": ["a:zzzz"]}, "then": "deny"},
            {"who": {"scopes": ["extra"]}, "tools": {"match": ["a:failed"]}, "then": "challenge"},
            {"tools": {"match": ["up:echo"]}, "arguments": {"/path": {"beneath": "/srv"}}, "then": "allow"},
            {"tools": {"match": ["up:echo"]}, "then": "deny"},
            {"tools": {"match": ["up:pid"]}, "then": "confirm"},
        ]
    }

    def test_the_same_rules(self):
        file = self.home / "tokens.json"
        token = self.cli("token", "new", "ann", "--tokens", file, modules=False).stdout.strip()
        own = [("Authorization", f"Bearer {token}")]
        server = self.serve("--tokens", file, access=self.ACCESS, log={"audit": "audit.jsonl"})
        self.assertEqual(server.get("/openapi.json").status, 401)
        self.assertEqual(self.call(server, "a__one").status, 401)
        self.assertEqual(self.call(server, "a__one", headers=own).status, 200)
        self.assertNotIn("/tools/a__zzzz", self.document(server, own)["paths"])
        hidden, unknown = (self.call(server, name, headers=own) for name in ("a__zzzz", "a__yyyy"))
        self.assertEqual((hidden.status, hidden.body.replace(b"a__zzzz", b"a__yyyy")), (404, unknown.body))
        challenged = self.call(server, "a__failed", headers=own)
        self.assertEqual(challenged.status, 403)
        self.assertEqual(challenged.header("www-authenticate"), 'Bearer error="insufficient_scope", scope="extra"')
        self.assertEqual(self.call(server, "up__echo", {"path": "/srv/x"}, own).status, 200)
        denied = self.call(server, "up__echo", {"path": "/etc/x"}, own)
        self.assertEqual(denied.status, 400)
        self.assertIn("Unknown tool: up__echo", json.loads(denied.body)["error"]["message"])
        self.assertEqual(self.call(server, "up__pid", headers=own).status, 403)  # nobody can be asked
        audit = self.home / "audit.jsonl"
        server.hub.wait_until(lambda: audit.exists() and audit.read_text().count("\n") >= 5, "the records")
        first = json.loads(audit.read_text().splitlines()[0])
        self.assertEqual((first["who"], first["toolset"], first["name"], first["outcome"], first["transport"]), ("token:ann", "a", "one", "ok", "http"))

    def test_the_same_limits(self):
        server = self.serve(limits={"calls_per_second": 1, "calls_burst": 2})
        replies = [self.call(server, "a__one") for _ in range(2)] + [server.call("a__one")]
        self.assertEqual([r.status for r in replies], [200, 200, 429])  # one client, whatever it speaks
        refused = self.call(server, "a__one")
        self.assertEqual((refused.status, refused.header("retry-after")), (429, "1"))
        self.assertEqual(json.loads(refused.body)["error"]["data"]["limit"], "limits.calls_per_second")

    def test_what_somebody_has_equipped(self):
        saved = {"few": {"tools": ["a:one", "up:pid"]}}
        server = self.serve(saved_toolsets=saved, hub={"meta_tools": ["saved"]})
        self.assertEqual(server.call("equip-toolset", {"name": "few"}).status, 200)
        own = [path for path in self.document(server)["paths"] if "__" in path]
        self.assertEqual(own, ["/tools/a__one", "/tools/up__pid"])
        self.assertEqual(self.call(server, "a__failed").status, 404)
        self.assertEqual(self.call(server, "up__pid").status, 200)


if __name__ == "__main__":
    main()
