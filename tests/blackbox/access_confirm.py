# SPDX-License-Identifier: Apache-2.0
"""Calls that their user has to confirm, and calls whose right is taken away while they wait for their client.

MCP 2026-07-28 client/elicitation, basic/patterns/mrtr; 2025-11-25 client/elicitation.
"""

import json

from http_client import HttpTest
from mcp import INVALID_PARAMS, LegacyClient, ModernClient, fixture, main, tool

NOT_CONFIRMED = -31006
FORM = {"elicitation": {}}
ACCEPT, DECLINE = {"action": "accept", "content": {}}, {"action": "decline"}
CONFIRM = {"rules": [{"tools": {"match": ["docs:drop*"]}, "then": "confirm", "reason": "it hurts"}]}
DENY = {"rules": [{"tools": {"match": ["docs:drop*", "up:*"]}, "then": "deny"}]}
DOCS = {"docs": fixture("drop", "read")}


class Asked(HttpTest):
    def start(self, access=CONFIRM, toolsets=DOCS):
        (self.home / "patchbay.json").unlink(missing_ok=True)  # of a hub that has ended
        return self.hub(manifest={"access": access, "toolsets": toolsets})

    def reload(self, hub, access, toolsets=DOCS):
        fresh = self.home / ".patchbay.json.new"
        fresh.write_text(json.dumps({"access": access, "toolsets": toolsets}), encoding="utf-8")
        fresh.rename(self.home / "patchbay.json")
        hub.wait_log("config.reloaded")

    def question(self, hub):
        return hub.wait_for(lambda m: m.method == "elicitation/create", "the question")

    def come_back(self, client, name, first, answer, arguments=None):
        (key,) = first.result["inputRequests"]
        return client.request("tools/call", {
            "name": name, "arguments": arguments or {}, "inputResponses": {key: answer},
            "requestState": first.result["requestState"]})

    def assertRefused(self, answer, *words):
        self.assertEqual(answer.error["code"], NOT_CONFIRMED, answer)
        self.assertEqual(answer.error["data"], {"code": "not_confirmed"})
        self.assertSays(answer.error["message"], *words)


class Legacy(Asked):
    def test_a_yes_lets_the_call_run(self):
        hub = self.start()
        client = LegacyClient(hub, capabilities=FORM)
        hub.answers["elicitation/create"] = lambda _: ACCEPT
        self.assertIn("content", client.call("docs__drop", {"path": "/a"}).result)
        self.assertEqual(self.question(hub).params["message"],
                         'Allow this call of docs:drop?\nArguments: {"path":"/a"}\nReason: it hurts')
        self.assertIn("content", client.call("docs__read").result)
        self.assertIn("content", client.call("docs__drop").result)
        self.assertEqual(len([m for m in hub.messages if m.method == "elicitation/create"]), 2)  # a yes is good once

    def test_whatever_is_no_yes(self):
        for answer, word in ((DECLINE, "did not allow"), ({"action": "cancel"}, "did not allow")):
            hub = self.start()
            client = LegacyClient(hub, capabilities=FORM)
            hub.answers["elicitation/create"] = lambda _, answer=answer: answer
            self.assertRefused(client.call("docs__drop"), word, "it hurts")
            hub.finish()
        hub = self.start()
        client = LegacyClient(hub, capabilities=FORM)
        waiting = client.send_call("docs__drop")
        hub.send({"jsonrpc": "2.0", "id": self.question(hub).id, "error": {"code": -1, "message": "no"}})
        self.assertRefused(hub.response(waiting), "did not ask")

    def test_a_client_that_cannot_ask(self):
        for revision, capabilities in (("2025-11-25", {}), ("2025-11-25", {"elicitation": {"url": {}}}), ("2025-03-26", FORM)):
            hub = self.start()
            client = LegacyClient(hub, revision=revision, capabilities=capabilities)
            self.assertRefused(client.call("docs__drop"), "cannot ask", "it hurts")
            self.assertIn("docs__drop", client.names())
            hub.finish()

    def test_nobody_can_make_up_the_question(self):
        hub = self.start()
        client = LegacyClient(hub, capabilities=FORM)
        hub.answers["elicitation/create"] = lambda _: DECLINE
        arguments = {"a": "x\nReason: fine\u202e\U0001f600\u007f", "b": "y" * 4000}
        self.assertRefused(client.call("docs__drop", arguments))
        lines = self.question(hub).params["message"].split("\n")
        self.assertEqual(len(lines), 3)
        self.assertTrue(lines[1].startswith('Arguments: {"a":"x\\nReason: fine\\u202e\\ud83d\\ude00\\u007f","b":"yy'), lines[1])
        self.assertRegex(lines[1], r"y \[cut: \d{4} bytes in all\]$")
        self.assertLess(len(lines[1]), 2048 + 50)

    def test_cancelled_while_asked(self):
        hub = self.start()
        client = LegacyClient(hub, capabilities=FORM)
        waiting = client.send_call("docs__drop")
        asked = self.question(hub)
        client.cancel(waiting)
        gone = hub.wait_for(lambda m: m.method == "notifications/cancelled", "the end of the question")
        self.assertEqual(gone.params["requestId"], asked.id)
        hub.send({"jsonrpc": "2.0", "id": asked.id, "result": ACCEPT})
        client.barrier()

    def test_the_toolset_goes_while_asked(self):
        hub = self.start()
        client = LegacyClient(hub, capabilities=FORM)
        waiting = client.send_call("docs__drop")
        self.question(hub)
        self.meta_call(client, "disable_toolset", toolset="docs")
        self.assertSays(json.dumps(hub.response(waiting).data), "the toolset was disabled")

    def test_the_rules_change_while_asked(self):
        for access, word in ((DENY, "Unknown tool: docs__drop"), (CONFIRM, "another definition")):
            hub = self.start()
            client = LegacyClient(hub, capabilities=FORM)
            waiting = client.send_call("docs__drop")
            asked = self.question(hub)
            self.reload(hub, access, {"docs": fixture(tool("drop", description="now it is another"), "read")})
            hub.send({"jsonrpc": "2.0", "id": asked.id, "result": ACCEPT})
            self.assertSays(hub.response(waiting).error["message"], word)
            hub.finish()

    def test_a_meta_tool(self):
        hub = self.start({"rules": [{"tools": {"match": ["_meta:disable_*"]}, "then": "confirm"}]})
        client = LegacyClient(hub, capabilities=FORM)
        hub.answers["elicitation/create"] = lambda _: DECLINE
        self.assertRefused(client.call("disable_toolset", {"toolset": "docs"}), "did not allow")
        self.assertIn("docs__read", client.names())
        hub.answers["elicitation/create"] = lambda _: ACCEPT
        client.call("disable_toolset", {"toolset": "docs"}).result
        self.assertNotIn("docs__read", client.names())


class Modern(Asked):
    def test_both_answers(self):
        hub = self.start()
        client = ModernClient(hub, FORM)
        for answer in (ACCEPT, DECLINE, {"action": "cancel"}):
            first = client.call("docs__drop", {"path": "/a"})
            self.assertEqual(first.result["resultType"], "input_required")
            (asked,) = first.result["inputRequests"].values()
            self.assertEqual(asked["method"], "elicitation/create")
            self.assertSays(asked["params"]["message"], "docs:drop", '{"path":"/a"}', "it hurts")
            last = self.come_back(client, "docs__drop", first, answer, {"path": "/a"})
            if answer is ACCEPT:
                self.assertIn("content", last.result)
            else:
                self.assertRefused(last, "did not allow")

    def test_a_yes_is_good_once_and_for_these_arguments(self):
        hub = self.start()
        client = ModernClient(hub, FORM)
        first = client.call("docs__drop", {"path": "/a"})
        self.assertEqual(self.come_back(client, "docs__drop", first, ACCEPT, {"path": "/b"}).code, INVALID_PARAMS)
        self.assertEqual(self.come_back(client, "docs__read", first, ACCEPT, {"path": "/a"}).code, INVALID_PARAMS)
        self.assertIn("content", self.come_back(client, "docs__drop", first, ACCEPT, {"path": "/a"}).result)
        self.assertEqual(self.come_back(client, "docs__drop", first, ACCEPT, {"path": "/a"}).code, INVALID_PARAMS)
        again = client.call("docs__drop", {"path": "/a"})
        self.assertEqual(again.result["resultType"], "input_required")

    def test_an_answer_that_comes_before_the_question_is_none(self):
        hub = self.start()
        client = ModernClient(hub, FORM)
        (key,) = client.call("docs__drop").result["inputRequests"]
        early = client.request("tools/call", {"name": "docs__drop", "arguments": {}, "inputResponses": {key: ACCEPT}})
        self.assertEqual(early.result["resultType"], "input_required")

    def test_a_client_that_cannot_ask(self):
        client = ModernClient(self.start())
        self.assertRefused(client.call("docs__drop"), "cannot ask")
        client = ModernClient(self.start(), {"roots": {}})
        self.assertRefused(client.call("docs__drop"), "cannot ask")

    def test_a_right_that_is_taken_away_meanwhile(self):
        hub = self.start()
        client = ModernClient(hub, FORM)
        first = client.call("docs__drop")
        self.reload(hub, DENY)
        answer = self.come_back(client, "docs__drop", first, ACCEPT)
        self.assertEqual(answer.error["message"], client.call("docs__drop").error["message"])

    def test_nobody_else_answers(self):
        for name in ("ann", "bob"):
            done = self.cli("token", "new", name, "--tokens", self.home / "tokens.json", modules=False)
            setattr(self, name, {"Authorization": f"Bearer {done.stdout.strip()}"})
        server = self.http("--tokens", self.home / "tokens.json", manifest={"access": CONFIRM, "toolsets": DOCS})
        first = server.call("docs__drop", headers=self.ann, capabilities=FORM).answer
        (key,) = first.result["inputRequests"]
        back = {"name": "docs__drop", "arguments": {}, "inputResponses": {key: ACCEPT}, "requestState": first.result["requestState"]}
        stolen = server.modern("tools/call", back, headers=self.bob, capabilities=FORM).answer
        self.assertEqual(stolen.code, INVALID_PARAMS)
        self.assertIn("content", server.modern("tools/call", back, headers=self.ann, capabilities=FORM).answer.result)


class Running(Asked):
    """Their server waits for an answer of the client, and the right to call it is taken away meanwhile."""

    ARGUMENTS = {"method": "elicitation/create", "params": {"message": "who?", "requestedSchema": {"type": "object", "properties": {}}}}
    OPEN = {"rules": [{"tools": {"match": ["other:*"]}, "then": "deny"}]}

    def begin(self, access):
        self.upstream = self.recorder()
        self.toolsets = {"up": self.upstream.toolset("--era", "legacy", "--content")}
        return self.start(access, self.toolsets)

    def answers(self):
        return [t for t in self.upstream.sync().lines() if "method" not in json.loads(t)]

    def test_legacy(self):
        for before in (self.OPEN, {}):
            hub = self.begin(before)
            client = LegacyClient(hub, capabilities=FORM)
            client.names()
            waiting = client.send_call("up__ask", self.ARGUMENTS)
            asked = self.question(hub)
            self.reload(hub, DENY, self.toolsets)
            hub.send({"jsonrpc": "2.0", "id": asked.id, "result": ACCEPT})
            self.assertEqual(hub.response(waiting).code, INVALID_PARAMS)
            self.upstream.wait_request("notifications/cancelled")
            self.assertNotIn('"accept"', "".join(self.answers()))
            hub.finish()

    def test_a_rule_that_looks_at_arguments(self):
        for condition, is_heard in (({"/method": {"equals": "elicitation/create"}}, True), ({"/method": {"equals": "x"}}, False)):
            rules = [{"tools": {"match": ["up:*"]}, "arguments": condition, "then": "allow"}]
            looks = [{"arguments": {"/x": {"equals": 1}}, "then": "deny", "tools": {"match": ["none:*"]}}, *self.OPEN["rules"]]
            hub = self.begin({"rules": looks})
            client = LegacyClient(hub, capabilities=FORM)
            client.names()
            waiting = client.send_call("up__ask", self.ARGUMENTS)
            asked = self.question(hub)
            self.reload(hub, {"default": "deny", "rules": rules}, self.toolsets)
            hub.send({"jsonrpc": "2.0", "id": asked.id, "result": ACCEPT})
            answer = hub.response(waiting)
            self.assertEqual("result" in answer.data, is_heard, answer)
            hub.finish()

    def test_a_right_that_stays(self):
        hub = self.begin(self.OPEN)
        client = LegacyClient(hub, capabilities=FORM)
        client.names()
        waiting = client.send_call("up__ask", self.ARGUMENTS)
        asked = self.question(hub)
        self.reload(hub, {"rules": [{"tools": {"match": ["others:*"]}, "then": "deny"}]}, self.toolsets)
        hub.send({"jsonrpc": "2.0", "id": asked.id, "result": ACCEPT})
        self.assertEqual(hub.response(waiting).result["structuredContent"], {"result": ACCEPT})

    def test_modern(self):
        hub = self.begin(self.OPEN)
        client = ModernClient(hub, FORM)
        client.names()
        first = client.call("up__ask", self.ARGUMENTS)
        self.assertEqual(first.result["resultType"], "input_required")
        self.reload(hub, DENY, self.toolsets)
        answer = self.come_back(client, "up__ask", first, ACCEPT, self.ARGUMENTS)
        self.assertEqual(answer.error["message"], "Unknown tool: up__ask")
        self.assertNotIn('"accept"', "".join(self.answers()))

    def test_names_at_the_bound(self):
        """Names of 160 bytes are kept with the call, of 161 by the station: each is decided again."""
        for xs in (91, 92):
            name = "ask" + "x" * xs
            tools = self.home / "tools.json"
            tools.write_text(json.dumps([tool(name)]))
            for access, is_heard in ((DENY, False), ({"rules": [{"tools": {"match": ["others:*"]}, "then": "deny"}]}, True)):
                self.upstream = self.recorder()
                toolsets = {"up": self.upstream.toolset("--era", "legacy", "--content", "--tools", tools)}
                hub = self.start(self.OPEN, toolsets)
                client = LegacyClient(hub, capabilities=FORM)
                (shown,) = [listed for listed in client.names() if listed.startswith("up__")]
                self.assertEqual(len(name) + len(f'"{shown}"'), 69 + xs)  # of 64, with a digest
                waiting = client.send_call(shown, self.ARGUMENTS)
                asked = self.question(hub)
                self.reload(hub, access, toolsets)
                hub.send({"jsonrpc": "2.0", "id": asked.id, "result": ACCEPT})
                self.assertEqual("result" in hub.response(waiting).data, is_heard)
                hub.finish()

    def test_who_comes_back_with_a_weaker_credential(self):
        tokens = self.home / "tokens.json"
        who = []
        for rights in (("--groups", "ops"), ()):
            done = self.cli("token", "new", "ann", *rights, "--tokens", tokens, modules=False)
            who.append({"Authorization": f"Bearer {done.stdout.strip()}"})
        strong, weak = who
        upstream = self.recorder()
        server = self.http("--tokens", tokens, manifest={
            "access": {"default": "deny", "rules": [{"who": {"groups": ["ops"]}, "then": "allow"}]},
            "toolsets": {"up": upstream.toolset("--era", "legacy", "--content")}})
        server.modern("tools/list", headers=strong)
        first = server.call("up__ask", self.ARGUMENTS, headers=strong, capabilities=FORM).answer
        (key,) = first.result["inputRequests"]
        back = {"name": "up__ask", "arguments": self.ARGUMENTS, "inputResponses": {key: ACCEPT}, "requestState": first.result["requestState"]}
        answer = server.modern("tools/call", back, headers=weak, capabilities=FORM).answer
        self.assertEqual(answer.error["message"], "Unknown tool: up__ask")
        self.assertNotIn('"accept"', "".join(upstream.sync().lines()))


if __name__ == "__main__":
    main()
