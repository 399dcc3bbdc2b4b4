# SPDX-License-Identifier: Apache-2.0
"""What a proxy says of the clients that it speaks for: who they are (REQUIREMENTS.md S1.43), and which toolsets they may see
(S1.44). Over every transport of HTTP and by every method; from elsewhere, missing or unreadable, it means no toolsets."""

import json
import sys

from access_everything import LIBRARY
from evil_websocket import WebSocket, call, request
from http_client import Server
from mcp import HubTest, fixture, main, tool

TOOLSETS = {"alpha": fixture("one"), "beta": fixture("two"), "gamma": fixture("three", active=False)}
ID, LIST = "X-Client-Id", "MCP-Toolset-Permissions"
ALL = {"alpha__one", "beta__two"}


class Headers(HubTest):
    def served(self, *args, proxies=("127.0.0.1",), more=None, **keys):
        manifest = {"toolsets": TOOLSETS, "listen": [{"http": "127.0.0.1:0", "trusted_proxies": list(proxies), **keys}], **(more or {})}
        hub = self.hub("--stdio", *args, manifest=manifest)
        return Server(self, hub)

    def twice(self, server, name):
        line = f"{name}: alpha\r\n".encode()
        data = server.modern_bytes("tools/list", headers={name: "alpha"})
        self.assertIn(line, data)
        connection = server.connection()
        connection.send(data.replace(line, 2 * line))
        return connection.reply()

    def names(self, reply):
        self.assertEqual(reply.status, 200)
        return {tool["name"] for tool in reply.answer.result["tools"]} & {"alpha__one", "beta__two", "gamma__three"}

    def seen(self, server, *headers):
        message = server.modern_request("tools/list")
        return self.names(server.post(message, headers=[*server.modern_headers(message), *headers]))


class Toolsets(Headers):
    def test_lists(self):
        server = self.served(toolsets_header=LIST)
        for value, expected in (("alpha", {"alpha__one"}), ("alpha, beta", ALL), (" beta,alpha ", ALL), ("gamma", set()),
                                ("nothing", set()), ("", set()), (",", set()), ("alpha beta", set()), ("alpha;beta", set()),
                                ("alpha,\u00e4", set()), ("*", set()), ("alpha," + "x" * 129, set()),
                                (",".join(["alpha"] * 256), {"alpha__one"}), (",".join(["alpha"] * 257), set())):
            with self.subTest(value=value[:40]):
                self.assertEqual(self.seen(server, (LIST, value)), expected)
        self.assertEqual(self.seen(server), set())
        self.assertEqual(self.twice(server, LIST).status, 400)  # as every header that begins so

    def test_a_name_of_their_own(self):
        server = self.served(toolsets_header="X-Toolsets")
        self.assertEqual(self.seen(server, ("x-toolsets", "alpha")), {"alpha__one"})
        self.assertEqual(self.names(self.twice(server, "X-Toolsets")), set())

    def test_from_elsewhere(self):
        server = self.served(proxies=["192.0.2.1"], toolsets_header=LIST)
        self.assertEqual(self.seen(server, (LIST, "alpha")), set())

    def test_all_methods(self):
        """What is not permitted is answered as what is not there."""
        server = self.served(toolsets_header=LIST)
        headers = {LIST: "alpha"}
        ok = server.modern("tools/call", {"name": "alpha__one", "arguments": {}}, headers=headers)
        self.assertNotIn("isError", ok.answer.result)
        hidden = server.modern("tools/call", {"name": "beta__two", "arguments": {}}, headers=headers).answer
        unknown = server.modern("tools/call", {"name": "beta__xxx", "arguments": {}}, headers=headers).answer
        self.assertEqual(hidden.code, unknown.code)
        self.assertEqual(hidden.error["message"].replace("beta__two", ""), unknown.error["message"].replace("beta__xxx", ""))
        for tool in ("list_toolsets", "list_tools"):
            text = server.modern("tools/call", {"name": tool, "arguments": {}}, headers=headers).answer.raw
            self.assertNotIn("beta", text, tool)
            self.assertNotIn("gamma", text, tool)
            self.assertIn("alpha", text, tool)
        for tool in ("describe_toolset", "enable_toolset", "disable_toolset"):
            gone = server.modern("tools/call", {"name": tool, "arguments": {"toolset": "gamma"}}, headers=headers).answer
            self.assertTrue(gone.result["isError"], tool)
        self.assertEqual(self.seen(server, (LIST, "alpha,beta,gamma")), ALL)

    def test_all_that_toolsets_offer(self):
        """Resources, templates, prompts, completion and search: of the toolsets that are named, and no others."""
        names = ("lib", "vault")
        server = self.served(toolsets_header=LIST, more={"toolsets": {name: self.library(name) for name in names},
                                                         "hub": {"meta_tools": ["toolsets", "search", "fanout"]}})
        lists = {"resources/list": "resources", "resources/templates/list": "resourceTemplates", "prompts/list": "prompts", "tools/list": "tools"}
        for mine, other in (names, names[::-1]):
            headers = {LIST: mine}
            for method, member in lists.items():
                text = json.dumps(server.modern(method, headers=headers).answer.result[member])
                self.assertIn(f"{mine}_", text, method)
                self.assertNotIn(f"{other}_", text, method)
            found = server.call("search_tools", {"query": "page"}, headers=headers).answer.raw
            self.assertIn(f"{mine}__{mine}_page", found)
            self.assertNotIn(f"{other}_page", found)
            self.asked(server, headers, mine, self.assertNotIn)
            self.asked(server, headers, other, self.assertIn)
            self.assertEqual(json.loads(server.call("call_in_toolsets", {"toolsets": [other], "tool": f"{other}_page"}, headers=headers).answer.raw)
                             ["result"]["isError"], True)
        for headers in ({}, {LIST: "lib vault"}):  # missing, unreadable
            for method, member in lists.items():
                text = json.dumps(server.modern(method, headers=headers).answer.result[member])
                for name in names:
                    self.assertNotIn(f"{name}_", text, method)
            for name in names:
                self.asked(server, headers, name, self.assertIn)

    def library(self, name):
        """Everything of it has its name."""
        lists = {"tools": [tool(f"{name}_page", description=f"Reads a page of {name}_all.")],
                 "resources": [{"uri": f"lib:///{name}_one", "name": f"{name}_one"}],
                 "resourceTemplates": [{"uriTemplate": f"lib:///{name}_all/{{x}}", "name": f"{name}_all"}],
                 "prompts": [{"name": f"{name}_greet"}]}
        return {"command": sys.executable, "args": ["-c", LIBRARY, json.dumps(lists), f"{name}_all"]}

    def asked(self, server, headers, name, check):
        """All that names one thing."""
        completion = {"ref": {"type": "ref/prompt", "name": f"{name}__{name}_greet"}, "argument": {"name": "x", "value": "a"}}
        for method, params in (("tools/call", {"name": f"{name}__{name}_page", "arguments": {}}), ("resources/read", {"uri": f"lib:///{name}_one"}),
                               ("resources/read", {"uri": f"lib:///{name}_all/1"}), ("prompts/get", {"name": f"{name}__{name}_greet"}),
                               ("completion/complete", completion)):
            check("error", server.modern(method, params, headers=headers).answer.data, (method, params))

    def test_within_a_session(self):
        """Judged with each request; a WebSocket by its handshake."""
        server = self.served(toolsets_header=LIST)
        session = server.legacy(headers={LIST: "alpha"})
        self.assertEqual(self.names(session.request("tools/list")), {"alpha__one"})
        self.assertEqual(self.names(session.request("tools/list", headers={LIST: "beta"})), {"beta__two"})
        websocket = WebSocket(server, headers={LIST: "beta"})
        answer = websocket.ask(request("tools/list", "l"))
        self.assertIn("beta__two", answer.raw)
        self.assertNotIn("alpha__one", answer.raw)
        self.assertIn("error", websocket.ask(call("c", "alpha__one")).data)

    def test_beside_rules(self):
        """Nothing that rules deny is permitted."""
        rules = [{"tools": {"match": ["beta:*"]}, "then": "deny"}]
        server = self.served(toolsets_header=LIST, more={"access": {"rules": rules}})
        self.assertEqual(self.seen(server, (LIST, "alpha,beta")), {"alpha__one"})


class Clients(Headers):
    def enable(self, server, headers):
        reply = server.modern("tools/call", {"name": "enable_toolset", "arguments": {"toolset": "gamma"}}, headers=headers)
        self.assertNotIn("isError", reply.answer.result)

    def test_each_is_a_principal(self):
        tokens = self.home / "tokens.json"
        token = self.cli("token", "new", "gateway", "--tokens", tokens, modules=False).stdout.strip()
        bearer = ("Authorization", f"Bearer {token}")
        server = self.served("--tokens", tokens, client_id_header=ID)
        self.enable(server, {ID: "ann", bearer[0]: bearer[1]})
        server.hub.wait_log("principal=client:ann@token:gateway")
        self.assertEqual(self.seen(server, bearer, (ID, "ann")), ALL | {"gamma__three"})
        self.assertEqual(self.seen(server, bearer, (ID, "bob")), ALL)
        session = server.legacy(headers={ID: "ann", bearer[0]: bearer[1]})
        other = server.post(session.message("tools/list"), headers=session.headers({ID: "bob"}))
        self.assertEqual(other.status, 404)
        self.assertEqual(server.modern("tools/list", headers={ID: "ann"}).status, 401)

    def test_missing_or_unreadable(self):
        server = self.served(client_id_header=ID)
        self.assertEqual(self.seen(server, (ID, "a" * 128)), ALL)
        for bad in ("", "a" * 129, "a b", "a@b", "a/b", "\u00e4"):
            with self.subTest(bad=bad[:10]):
                self.assertEqual(self.seen(server, (ID, bad)), set())
        self.assertEqual(self.seen(server), set())
        self.assertEqual(self.names(self.twice(server, ID)), set())

    def test_both(self):
        server = self.served(client_id_header=ID, toolsets_header=LIST)
        self.assertEqual(self.seen(server, (ID, "ann"), (LIST, "alpha")), {"alpha__one"})
        self.assertEqual(self.seen(server, (LIST, "alpha")), set())
        self.assertEqual(self.seen(server, (ID, "ann")), set())

    def test_a_reload_forgets_nothing(self):
        """The token's own name and rights are others; what the proxy has said stays."""
        tokens = self.home / "tokens.json"
        token = self.cli("token", "new", "gateway", "--tokens", tokens, modules=False).stdout.strip()
        server = self.served("--tokens", tokens, client_id_header=ID, toolsets_header=LIST)
        headers = {ID: "ann", LIST: "alpha", "Authorization": f"Bearer {token}"}
        websocket = WebSocket(server, headers=headers)
        session = server.legacy(headers=headers)
        before = server.hub.log.count("config.reloaded")
        self.cli("token", "new", "other", "--tokens", tokens, modules=False)
        server.hub.wait_until(lambda: server.hub.log.count("config.reloaded") > before, "a reload")
        answer = websocket.ask(request("tools/list", "l"))
        self.assertIn("alpha__one", answer.raw)
        self.assertNotIn("beta__two", answer.raw)
        self.assertEqual(self.names(session.request("tools/list")), {"alpha__one"})

    def test_what_is_wrong_is_named(self):
        for keys, words in (({"client_id_header": ID}, ["trusted_proxies"]), ({"toolsets_header": "a b", "trusted_proxies": ["127.0.0.1"]}, ["header"]),
                            ({"client_id_header": "Authorization", "trusted_proxies": ["127.0.0.1"]}, ["header"]),
                            ({"client_id_header": ID, "toolsets_header": ID.lower(), "trusted_proxies": ["127.0.0.1"]}, ["same header"])):
            file = self.home / "wrong.json"
            file.write_text(json.dumps({"toolsets": TOOLSETS, "listen": [{"http": 0, **keys}]}))
            done = self.cli("check", file, modules=False)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertSays(done.stderr, *words)


if __name__ == "__main__":
    main()
