# SPDX-License-Identifier: Apache-2.0
"""Access rules: who sees what, what a call's arguments decide, scopes. What may not be seen is answered as what does
not exist, in every method and meta-tool, in both eras."""

import json
import sys
from pathlib import Path

from http_client import HttpTest
from mcp import INVALID_PARAMS, HubTest, fixture, main, tool

INSUFFICIENT_SCOPE = -31005
NOT_CONFIRMED = -31006

READS = {"annotations": {"readOnlyHint": True}}
TOOLSETS = {
    "docs": fixture(tool("read_page", **READS), "delete_page"),
    "ops": fixture("restart"),
}
RULES = {
    "default": "deny",
    "rules": [
        {"who": {"groups": ["ops"]}, "then": "allow"},
        {"who": {"scopes": ["tools:read"]}, "tools": {"read_only": True, "match": ["docs:*"]}, "then": "allow"},
    ],
}


class Two(HttpTest):
    """ann is an operator; bob may read."""

    def setUp(self):
        super().setUp()
        self.tokens = self.home / "tokens.json"
        self.ann = self.new_token("ann", "--groups", "ops")
        self.bob = self.new_token("bob", "--scopes", "tools:read")

    def new_token(self, name, *rights):
        done = self.cli("token", "new", name, "--tokens", self.tokens, *rights, modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {"Authorization": f"Bearer {done.stdout.strip()}"}

    def serve(self, access=RULES, toolsets=TOOLSETS, **more):
        manifest = {"access": access, "toolsets": toolsets, **more}
        return self.http("--tokens", str(self.tokens), manifest=manifest)

    def names(self, server, who, kind="tools"):
        return [t["name"] for t in server.modern(f"{kind}/list", headers=who).answer.result[kind] if "__" in t["name"]]


class Seen(Two):
    def test_lists(self):
        server = self.serve()
        self.assertEqual(self.names(server, self.ann), ["docs__delete_page", "docs__read_page", "ops__restart"])
        self.assertEqual(self.names(server, self.bob), ["docs__read_page"])
        legacy = server.legacy(headers=self.bob)
        listed = [t["name"] for t in legacy.request("tools/list").answer.result["tools"] if "__" in t["name"]]
        self.assertEqual(listed, ["docs__read_page"])

    def test_a_hidden_tool_is_answered_as_an_unknown_one(self):
        server = self.serve()
        self.assertIs(server.call("docs__delete_page", headers=self.ann).answer.result.get("isError", False), False)
        bare = self.serve(toolsets={"docs": fixture(tool("read_page", **READS))})  # where there is none
        for name in ("docs__delete_page", "ops__restart"):
            for arguments in ({}, {"a": 1}, {"a": [1, 2]}):
                with self.subTest(name=name, arguments=arguments):
                    hidden, missing = (s.modern("tools/call", {"name": name, "arguments": arguments}, headers=self.bob, request_id=7)
                                       for s in (server, bare))
                    self.assertIn(b"Unknown tool", hidden.body)
                    self.assertEqual((hidden.status, hidden.body), (missing.status, missing.body))

    def test_meta_tools_say_nothing_of_what_is_hidden(self):
        server = self.serve()
        for call, arguments in (
            ("list_toolsets", {}),
            ("list_tools", {}),
            ("describe_toolset", {"toolset": "ops"}),
            ("enable_toolset", {"toolset": "ops"}),
            ("disable_toolset", {"toolsets": ["ops", "docs"]}),
            ("enable_toolset", {"toolsets": ["docs"]}),
            ("enable_toolset", {"toolset": "opps"}),
        ):
            with self.subTest(call=call, arguments=arguments):
                reply = server.call(call, arguments, headers=self.bob)
                text = json.dumps(reply.answer.data).replace('\\"ops\\"', "")
                self.assertNotIn("restart", text)
                self.assertNotIn("delete_page", text)
                if call == "list_toolsets" or "opps" in str(arguments):
                    self.assertNotIn("ops\"", text.replace("opps", ""))
        known = server.call("describe_toolset", {"toolset": "ops"}, headers=self.bob).answer.data
        unknown = server.call("describe_toolset", {"toolset": "opz"}, headers=self.bob).answer.data
        known.pop("id"), unknown.pop("id")
        self.assertEqual(json.dumps(known).replace("ops", "X"), json.dumps(unknown).replace("opz", "X"))

    def test_the_status_says_nothing_of_what_is_hidden(self):
        server = self.serve()
        text = json.dumps(server.modern("patchbay/status", headers=self.bob).answer.data)
        self.assertIn("docs", text)
        self.assertNotIn('"ops"', text)

    def test_another_ones_session_is_not_found(self):
        server = self.serve()
        legacy = server.legacy(headers=self.ann)
        reply = server.post(legacy.message("tools/list"), legacy.headers(self.bob))
        self.assertEqual(reply.status, 404)

    def test_the_credential_of_each_request_counts_within_a_session(self):
        weak = self.new_token("cat", "--scopes", "tools:read")
        strong = self.new_token("cat", "--groups", "ops")
        server = self.serve()
        legacy = server.legacy(headers=strong)
        for who, count in ((strong, 3), (weak, 1), (strong, 3)):
            result = server.post(legacy.message("tools/list"), legacy.headers(who)).answer.result
            self.assertEqual(len([t for t in result["tools"] if "__" in t["name"]]), count)
        refused = server.post(legacy.message("tools/call", {"name": "ops__restart"}), legacy.headers(weak)).answer
        self.assertEqual(refused.error["code"], INVALID_PARAMS)

    def test_a_token_that_is_pinned_to_a_profile_finds_no_other(self):
        pinned = self.new_token("dan", "--groups", "ops", "--profile", "small")
        server = self.serve(profiles={"small": {"toolsets": ["docs"]}})
        self.assertEqual(self.names(server, pinned), ["docs__delete_page", "docs__read_page"])
        self.assertEqual(server.modern("tools/list", headers=pinned, path="/mcp/small").status, 200)
        self.assertEqual(server.modern("tools/list", headers=pinned, path="/mcp/default").status, 404)
        self.assertEqual(server.modern("tools/list", headers=pinned, path="/mcp/none").status, 404)

    def test_a_reload_takes_a_right_away(self):
        server = self.serve()
        legacy = server.legacy(headers=self.bob)
        self.assertEqual(self.names(server, self.bob), ["docs__read_page"])
        manifest = {"access": {"default": "deny", "rules": RULES["rules"][:1]}, "toolsets": TOOLSETS}
        fresh = self.home / ".patchbay.json.new"
        fresh.write_text(json.dumps(manifest), encoding="utf-8")
        fresh.rename(self.home / "patchbay.json")
        server.hub.wait_log("config.reloaded")
        self.assertEqual(self.names(server, self.bob), [])
        self.assertEqual([t for t in legacy.request("tools/list").answer.result["tools"] if "__" in t["name"]], [])
        self.assertEqual(len(self.names(server, self.ann)), 3)

    def test_a_token_whose_scopes_are_taken_away(self):
        server = self.serve()
        legacy = server.legacy(headers=self.bob)
        tokens = json.loads(self.tokens.read_text())
        for token in tokens:
            token.pop("scopes", None)
        fresh = self.home / ".tokens.new"
        fresh.write_text(json.dumps(tokens))
        fresh.chmod(0o600)
        fresh.rename(self.tokens)
        server.hub.wait_log("config.reloaded")
        self.assertEqual([t for t in legacy.request("tools/list").answer.result["tools"] if "__" in t["name"]], [])


class Trust(Two):
    RULES = {"default": "deny", "rules": [
        {"tools": {"read_only": True}, "then": "allow"},
        {"tools": {"destructive": False, "tags": ["safe"]}, "then": "allow"},
        {"tools": {"category": "harmless"}, "then": "allow"},
    ]}

    def test_what_a_server_says_of_itself_counts_where_it_is_trusted(self):
        tools = [
            {**tool("reads"), **READS},
            {**tool("tagged"), "annotations": {"destructiveHint": False}, "_meta": {"patchbay/tags": ["safe"]}},
            {**tool("placed"), "_meta": {"patchbay/category": "harmless"}},
            tool("plain"),
        ]
        server = {"command": sys.executable, "args": ["-c", SERVER, json.dumps(tools)]}
        hub = self.serve(self.RULES, {
            "far": server,
            "near": {**server, "trust_annotations": True},
            "dear": {**server, "trust_annotations": True, "trust_tags": True},
            "ours": {**server, "tags": ["safe"], "category": "harmless"},
        })
        self.assertEqual(self.names(hub, self.bob), [
            "dear__placed", "dear__reads", "dear__tagged", "near__reads",
            "ours__placed", "ours__plain", "ours__reads", "ours__tagged"])


SERVER = r"""
import json, sys
TOOLS = json.loads(sys.argv[1])
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": TOOLS}
    elif method == "tools/call":
        result = {"content": [{"type": "text", "text": "done"}]}
    elif method == "ping":
        result = {}
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""


class Arguments(Two):
    ACCESS = {"default": "deny", "rules": [
        {"tools": {"match": ["docs:delete_*"]}, "arguments": {"/path": {"beneath": "/srv"}}, "then": "allow"},
        {"tools": {"match": ["docs:read_*"]}, "arguments": {"/n": {"max": 3}}, "then": "deny"},
        {"tools": {"match": ["docs:read_*"]}, "then": "allow"},
        {"tools": {"match": ["ops:restart"]}, "then": "confirm", "reason": "it hurts"},
    ]}

    def raw(self, server, name, arguments):
        message = server.modern_request("tools/call", {"name": name, "arguments": {"here": 1}})
        body = json.dumps(message).replace('{"here": 1}', arguments).encode()
        return server.ask("POST", "/mcp", server.modern_headers(message, self.bob), body).answer

    def test_conditions(self):
        server = self.serve(self.ACCESS)
        for name, arguments, outcome in (
            ("docs__delete_page", '{"path": "/srv/a"}', "ok"),
            ("docs__delete_page", '{"path": "/srv/../etc"}', "unknown"),
            ("docs__delete_page", '{"path": "/srv/\\u002e\\u002e/etc"}', "unknown"),
            ("docs__delete_page", '{"path": "/srv/%2e%2e/etc"}', "unknown"),
            ("docs__delete_page", '{"path": ["/srv"]}', "unknown"),
            ("docs__delete_page", "{}", "unknown"),
            ("docs__delete_page", '{"path": "/srv/a", "path": "/etc"}', "twice"),
            ("docs__delete_page", '{"path": "/srv/a", "p\\u0061th": "/etc"}', "twice"),
            ("docs__delete_page", '{"path": "/srv/a", "Path": "/etc"}', "twice"),
            ("docs__delete_page", '{"path": "/srv/a", "x": [{"q": 1, "q": 2}]}', "twice"),
            ("docs__read_page", '{"n": 4}', "ok"),
            ("docs__read_page", '{"n": 3}', "unknown"),
            ("docs__read_page", '{"n": "4"}', "unknown"),
            ("docs__read_page", "{}", "unknown"),
            ("ops__restart", "{}", "unconfirmed"),
            ("ops__restart", '{"a": 1, "a": 2}', "unconfirmed"),
        ):
            with self.subTest(name=name, arguments=arguments):
                answer = self.raw(server, name, arguments)
                if outcome == "ok":
                    self.assertIs(answer.result.get("isError", False), False)
                    continue
                code = NOT_CONFIRMED if outcome == "unconfirmed" else INVALID_PARAMS
                self.assertEqual(answer.error["code"], code)
                word = {"unknown": "Unknown tool: " + name, "twice": "", "unconfirmed": "it hurts"}[outcome]
                self.assertIn(word, answer.error["message"])
                if outcome == "twice":
                    self.assertNotIn("Unknown", answer.error["message"])
        self.assertEqual(self.names(server, self.bob), ["docs__delete_page", "docs__read_page", "ops__restart"])

    def test_where_no_rule_asks(self):
        server = self.serve({**self.ACCESS, "rules": self.ACCESS["rules"][:3]})
        self.assertNotIn("isError", self.raw(server, "docs__delete_page", '{"path": "/srv/a"}').result)
        self.assertSays(self.raw(server, "docs__delete_page", '{"path": "/etc"}').error["message"], "Unknown tool: docs__delete_page")
        self.assertSays(self.raw(server, "docs__read_page", '{"n": 3}').error["message"], "Unknown tool: docs__read_page")


class Command(HubTest):
    def access(self, *words, **options):
        return self.cli("access", *words, modules=False, **options)

    def test_rule_sets(self):
        files = sorted((Path(__file__).parent.parent / "access").glob("*.yaml"))
        self.assertGreater(len(files), 20)
        for path in files:
            with self.subTest(file=path.name):
                done = self.access("test", path)
                self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
                self.assertRegex(done.stdout, r"^\d+ passed, 0 failed\n$")

    def test_an_expectation_that_does_not_hold(self):
        path = self.home / "tests.yaml"
        path.write_text("access: {default: deny}\ntests:\n  - {who: local, tool: 'a:b', then: allow}\n")
        done = self.access("test", path)
        self.assertEqual(done.returncode, 6)
        self.assertSays(done.stdout, "tests.yaml:3", "local, a:b: wanted allow, found deny, by the default", "0 passed, 1 failed")
        for text in ("access: {}\n", "access: {}\ntests: []\n", "access: {rules: [{}]}\ntests: [{}]\n"):
            path.write_text(text)
            self.assertEqual(self.access("test", path).returncode, 3, text)

    def test_an_expectation_of_a_name_without_its_kind(self):
        """No client is ever that principal, so nothing that holds of it says anything."""
        path = self.home / "rules.yaml"
        path.write_text("access: {default: deny}\ntests:\n  - {who: ann, tool: 'docs:a', then: deny}\n")
        done = self.access("test", path)
        self.assertEqual(done.returncode, 6, done.stdout)
        self.assertSays(done.stdout, "tests[0]", "token:NAME")

    def test_explain(self):
        tokens = self.home / "tokens.json"
        self.cli("token", "new", "ann", "--tokens", tokens, "--groups", "ops", modules=False)
        manifest = self.home / "hub.json"
        manifest.write_text(json.dumps({"access": RULES, "toolsets": {"docs": {"module": "x", "scopes": ["docs:use"]}, "ops": {"command": "x"}}}))
        usual = ("--config", manifest, "--tokens", tokens)
        done = self.access("explain", "token:ann", "ops:restart", *usual)
        self.assertSays(done.stdout, "allow, by ", "hub.json", "rules[0]", "listed")
        done = self.access("explain", "token:ann", "docs:read_page", *usual)
        self.assertSays(done.stdout, "challenge", "a call needs the scopes: docs:use")
        done = self.access("explain", "uid:7", "docs:read_page", "--arguments", '{"a": 1}', *usual)
        self.assertEqual(done.stdout, "deny, by the default; a call needs the scopes: docs:use; not listed\n")
        self.assertEqual(self.access("explain", "uid:7", "docs", *usual).returncode, 2)
        self.assertEqual(self.access("explain", "uid:7", "docs:a", "--arguments", "[]", *usual).returncode, 2)

    def test_explain_in_a_profile(self):
        manifest = self.home / "hub.json"
        rules = [{"who": {"profiles": ["dev"]}, "then": "deny"}]
        manifest.write_text(json.dumps({"access": {"rules": rules}, "profiles": {"default": {}, "dev": {}}, "toolsets": {"ops": {"command": "x"}}}))
        usual = ("explain", "uid:7", "ops:restart", "--config", manifest)
        self.assertSays(self.access(*usual).stdout, "allow, by the default")
        self.assertSays(self.access(*usual, "--profile", "dev").stdout, "deny, by ", "rules[0]")
        done = self.access(*usual, "--profile", "devv")
        self.assertEqual((done.returncode, done.stderr), (3, 'patchbay: there is no profile "devv"; did you mean "dev"?\n'))

    def test_explain_a_name_without_its_kind(self):
        """It is what a token is called; as a principal it would be nobody, whom most rules refuse."""
        manifest = self.home / "hub.json"
        manifest.write_text(json.dumps({"toolsets": {"clock": {"module": "time"}}}))
        done = self.cli("access", "explain", "ann", "clock:now", "--config", manifest)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertSays(done.stderr, "token:NAME", 'found "ann"')
        done = self.cli("toolset", "list", "--owner", "ann", "--config", manifest)
        self.assertEqual((done.returncode, done.stdout), (2, ""))
        self.assertSays(done.stderr, "token:NAME", 'found "ann"')

    def test_explain_what_is_not_there(self):
        """A rule has an answer for every name: that a tool which does not exist is allowed helps nobody."""
        manifest = self.home / "hub.json"
        recorder = self.recorder()
        toolsets = {"clock": {"module": "time"}, "off": {"module": "time", "enabled": False}, "up": {**recorder.toolset(), "env": {}}}
        manifest.write_text(json.dumps({"toolsets": toolsets}))
        cases = {
            "clokc:now": 'unknown toolset "clokc"; did you mean "clock"?',
            "elsewhere:now": 'unknown toolset "elsewhere"',
            "files:now": 'there is a plugin "files", but no toolset of it',
            "clock:noww": 'toolset "clock" has no tool "noww"; did you mean "now"?',
            "clock:elsewhere": 'toolset "clock" has no tool "elsewhere"\n',
        }
        for name, text in cases.items():
            done = self.cli("access", "explain", "uid:7", name, "--config", manifest)
            self.assertEqual((done.returncode, done.stdout), (2, ""), name)
            self.assertIn(text, done.stderr)
        for name in ("clock:now", "off:now", "_meta:list_toolsets", "up:eco"):
            self.assertEqual(self.cli("access", "explain", "uid:7", name, "--config", manifest).stdout, "allow, by the default; listed\n", name)
        self.assertEqual(recorder.sync().starts, [])
        self.cli("list", "tools", "--config", manifest)
        self.assertSays(self.cli("access", "explain", "uid:7", "up:eco", "--config", manifest).stderr, 'did you mean "echo"?')


class Held(Two):
    def reload(self, hub, manifest):
        fresh = self.home / ".patchbay.json.new"
        fresh.write_text(json.dumps(manifest), encoding="utf-8")
        fresh.rename(self.home / "patchbay.json")
        hub.wait_log("config.reloaded")

    def refused(self, before, rules, **keys):
        """What becomes of a call that waits for its place while a reload brings these rules."""
        toolsets = {"alpha": fixture(tool("one", **READS), "hold", max_calls=1, **keys)}
        client = self.modern(toolsets=toolsets, manifest=before)
        client.request("tools/list")  # what is known by now waits for its place alone
        held = client.send_call("alpha__hold")
        waiting = client.send_call("alpha__one")
        client.barrier()
        self.reload(client.hub, {"access": {"rules": rules}, "toolsets": toolsets})
        client.cancel(held)
        answer = client.hub.response(waiting)
        if "error" in answer.data:  # byte for byte as a call that comes now
            self.assertEqual(answer.slice("error"), client.call("alpha__one").slice("error"))
        return answer

    def test_a_call_that_waits_while_its_right_is_taken_away_does_not_run(self):
        denied = [{"tools": {"match": ["alpha:one"]}, "then": "deny"}]
        answer = self.refused({"access": {"default": "allow"}}, denied)
        self.assertSays(answer.error["message"], "Unknown tool: alpha__one")

    def test_nor_does_one_that_came_before_there_were_rules(self):
        denied = [{"tools": {"match": ["alpha:one"]}, "then": "deny"}]
        self.assertSays(self.refused({}, denied).error["message"], "Unknown tool: alpha__one")

    def test_a_call_that_waits_and_may_still_be_made_runs(self):
        others = [{"tools": {"match": ["alpha:two"]}, "then": "deny"}]
        self.assertIn("content", self.refused({}, others).result)

    def test_what_a_trusted_tool_says_counts_for_a_call_that_waited_for_a_session_of_its_own(self):
        rules = [{"tools": {"read_only": True}, "then": "allow"}, {"tools": {"match": ["alpha:one"]}, "then": "deny"}]
        before = {"access": {"default": "allow"}}
        self.assertIn("content", self.refused(before, rules, trust_annotations=True, sharing="session").result)

    def test_a_call_that_waits_goes_by_the_credential_that_it_came_with(self):
        self.check_credential({})

    def test_also_if_rules_that_were_there_let_all_of_it_pass(self):
        self.check_credential({"access": {"default": "allow"}})

    def check_credential(self, before):
        toolsets = {"alpha": fixture("one", "hold", max_calls=1)}
        weak = self.new_token("cat", "--scopes", "tools:read")
        strong = self.new_token("cat", "--groups", "ops")
        server = self.http("--tokens", str(self.tokens), manifest={**before, "toolsets": toolsets})
        legacy = server.legacy(headers=weak)
        holding = server.connection()
        holding.send(legacy.post_bytes(legacy.message("tools/call", {"name": "alpha__hold"}, "hold"), weak))
        self.wait_active(server, 1)
        waiting = server.connection()
        waiting.send(legacy.post_bytes(legacy.message("tools/call", {"name": "alpha__one"}), weak))
        self.wait_active(server, 2)
        self.assertEqual(server.post(legacy.message("ping"), legacy.headers(strong)).status, 200)
        rules = [{"who": {"groups": ["ops"]}, "then": "allow"}, {"tools": {"match": ["alpha:one"]}, "then": "deny"}]
        self.reload(server.hub, {"access": {"rules": rules}, "toolsets": toolsets})
        legacy.notify("notifications/cancelled", {"requestId": "hold"}, headers=strong)
        self.assertEqual(waiting.reply().answer.error["message"], "Unknown tool: alpha__one")

    def wait_active(self, server, count):
        while server.modern("patchbay/status", headers=self.ann).answer.result["hub"]["inFlight"] < count:
            pass


class NotYetKnown(Two):
    """A server that never says what it offers."""

    SILENT = {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"]}

    def test_what_is_denied_whole_is_not_told_of(self):
        for key, denied in (
            ("secret1", {"match": ["secret*"]}),
            ("other", {"tags": ["internal"]}),
            ("other", {"category": ["ops"]}),
            ("other", {"destructive": True}),
        ):
            with self.subTest(denied=denied):
                entry = {**self.SILENT, "tags": ["internal"], "category": "ops"}
                access = {"rules": [{"who": {"groups": ["ops"]}, "then": "allow"}, {"tools": denied, "then": "deny"}]}
                server = self.serve(access, {"docs": TOOLSETS["docs"], key: entry})
                told = json.dumps(server.call("list_toolsets", headers=self.bob).answer.data)
                self.assertIn("docs", told)
                self.assertNotIn(key, told)
                known, unknown = (server.call("describe_toolset", {"toolset": name}, headers=self.bob, request_id=7).answer.raw
                                  for name in (key, "x" * len(key)))
                self.assertEqual(known.replace(key, "x" * len(key)), unknown)


class Scopes(Two):
    def test_a_challenge_names_all_scopes(self):
        toolsets = {"docs": {**TOOLSETS["docs"], "scopes": ["docs:use"], "tools": {"scopes": {"delete_*": ["docs:delete"]}}}}
        access = {"rules": [{"who": {"scopes": ["extra"]}, "tools": {"match": ["*:read_*"]}, "then": "challenge"}]}
        able = self.new_token("eve", "--scopes", "docs:use,docs:delete,extra")
        server = self.serve(access, toolsets)
        for name, scope in (("docs__delete_page", "docs:use docs:delete"), ("docs__read_page", "docs:use extra")):
            self.assertIn(name, self.names(server, self.bob))
            reply = server.call(name, headers=self.bob)
            self.assertEqual(reply.status, 403)
            self.assertEqual(reply.header("www-authenticate"), f'Bearer error="insufficient_scope", scope="{scope}"')
            self.assertEqual(reply.answer.error["code"], INSUFFICIENT_SCOPE)
            self.assertEqual(reply.answer.error["data"], {"code": "insufficient_scope", "scope": scope})
            self.assertEqual(server.call(name, headers=able).status, 200)
        legacy = server.legacy(headers=self.bob)
        self.assertEqual(legacy.request("tools/call", {"name": "docs__read_page"}).status, 403)
        half = self.new_token("fay", "--scopes", "docs:use,extra")  # the toolset's, and not the tool's
        fay = self.serve(access, toolsets)
        self.assertEqual(fay.call("docs__delete_page", headers=half).status, 403)
        self.assertEqual(fay.call("docs__read_page", headers=half).status, 200)

    def test_over_stdio_it_is_an_error(self):
        client = self.legacy(toolsets={"docs": {**TOOLSETS["docs"], "scopes": ["docs:use"]}})
        error = client.call("docs__read_page").error
        self.assertEqual((error["code"], error["data"]["scope"]), (INSUFFICIENT_SCOPE, "docs:use"))


if __name__ == "__main__":
    main()
