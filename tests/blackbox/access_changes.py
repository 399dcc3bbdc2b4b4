# SPDX-License-Identifier: Apache-2.0
"""What becomes of what clients have open when the rules change, and of what they wait for: nobody hears of, waits for
or starts anything that rules hide from them."""

import json
import sys

from http_client import HttpTest, Server
from mcp import INVALID_PARAMS, LIST_CHANGED, SUPPORT, LegacyClient, ModernClient, fixture, main, tool

UPDATED = "notifications/resources/updated"
ONE, TWO = "rec:///one", "rec:///two"
NO_RESOURCE, INSUFFICIENT_SCOPE, NOT_CONFIRMED = -32002, -31005, -31006
ALLOW = {"rules": [{"tools": {"match": ["none:*"]}, "then": "deny"}]}

FRESH = {"hub": {"remember": "none"}}  # what an earlier hub's clients chose is not for the next one


def deny(*globs, who=None):
    return {"rules": [{**({"who": who} if who else {}), "tools": {"match": list(globs)}, "then": "deny"}]}


class Changing(HttpTest):
    def begin(self, access, toolsets, *args):
        (self.home / "patchbay.json").unlink(missing_ok=True)  # of a hub that has ended
        self.toolsets = toolsets
        return self.hub(*args, manifest={**FRESH, "access": access, "toolsets": toolsets})

    def reload(self, hub, access, **more):
        self.replace_manifest(hub, {**FRESH, "access": access, "toolsets": self.toolsets, **more})

    def acquainted(self, client):
        for request_id in [client.send(method) for method in ("tools/list", "resources/list", "prompts/list")]:
            client.hub.response(request_id).result
        return client


class Lists(Changing):
    DOCS = {"docs": fixture("one", "two"), "ops": fixture("three")}

    def changes(self, hub, since):
        return len(hub.notifications(LIST_CHANGED, since))

    def settle(self, client, since):
        """What was to be told by now has been: a change that everybody is told of comes last."""
        before = self.changes(client.hub, since)
        self.meta_call(client, "disable_toolset", toolset="ops")
        client.hub.wait_until(lambda: self.changes(client.hub, since) > before, "its own change")
        return before

    def test_a_reload_of_nothing_but_rules_is_told_to_whom_it_concerns(self):
        for first, second, is_told in (
            (ALLOW, deny("docs:two"), True),  # something is hidden
            (deny("docs:two"), ALLOW, True),  # … or shown
            (deny("docs:two"), deny("docs:one"), True),
            ({}, deny("docs:two"), True),  # the first rules …
            (deny("docs:two"), {}, True),  # … and the last
            (deny("docs:two"), deny("docs:t?o"), False),  # other rules, and the same list
            (ALLOW, deny("docs:two", who={"principals": ["token:*"]}), False),
        ):
            with self.subTest(first=first, second=second):
                hub = self.begin(first, self.DOCS)
                client = LegacyClient(hub)
                names = client.names()
                since = hub.mark
                self.reload(hub, second)
                if is_told:
                    hub.wait_until(lambda: self.changes(hub, since) > 0, "list_changed")
                    self.assertNotEqual(client.names(), names)
                else:
                    self.assertEqual(client.names(), names)
                    self.assertEqual(self.settle(client, since), 0)
                hub.finish()

    def test_a_stream_hears_of_it(self):
        hub = self.begin({}, self.DOCS)
        client = ModernClient(hub)
        stream = client.listen(toolsListChanged=True)
        self.reload(hub, deny("docs:two"))
        client.wait_event(stream)

    def test_a_change_of_what_is_hidden_is_told_to_nobody_it_is_hidden_from(self):
        """Also to a client that has not listed anything yet."""
        done = self.cli("token", "new", "ann", "--tokens", self.home / "tokens.json", modules=False)
        ann = {"Authorization": f"Bearer {done.stdout.strip()}"}
        upstream = self.recorder()
        access = deny("up:*", who={"principals": ["local"]})
        hub = self.begin(access, {"up": upstream.toolset(), **self.DOCS}, "--stdio", "--http", 0, "--tokens", self.home / "tokens.json")
        server = Server(self, hub)
        client = LegacyClient(hub)  # which never lists
        modern = ModernClient(hub)
        modern.listen(toolsListChanged=True)
        modern.barrier()
        since = hub.mark
        stream = server.listen(headers=ann, toolsListChanged=True)
        self.assertIn("up__echo", str(server.modern("tools/list", headers=ann).answer.result))
        upstream.command(tools=json.dumps([tool("other")]), notify=1)
        while stream.message() and "up__other" not in str(server.modern("tools/list", headers=ann).answer.result):
            pass
        self.assertEqual(self.settle(client, since), 0)


class Subscriptions(Changing):
    def start(self, access):
        self.upstream = self.recorder()
        return self.begin(access, {"up": self.upstream.toolset("--content")})

    def updates(self, hub, since=0):
        return [m.params["uri"] for m in hub.notifications(UPDATED, since)]

    def test_one_resource_that_a_rule_forbids(self):
        for kind in (LegacyClient, ModernClient):
            with self.subTest(kind=kind.__name__):
                hub = self.start({})
                client = self.acquainted(kind(hub))
                if kind is LegacyClient:
                    for uri in (ONE, TWO):
                        self.assertEqual(client.request("resources/subscribe", {"uri": uri}).result, {})
                else:
                    client.listen(resourceSubscriptions=[ONE, TWO])
                    self.upstream.wait_until(lambda: len(self.upstream.lines("resources/subscribe")) == 2, "both")
                self.reload(hub, deny(f"up:{ONE}"))
                told = json.loads(self.upstream.wait_request("resources/unsubscribe"))
                self.assertEqual(told["params"]["uri"], ONE)
                self.upstream.command(updated=ONE)
                self.upstream.command(updated=TWO)
                hub.wait_for(lambda m: m.method == UPDATED and m.params["uri"] == TWO, "what stays")
                self.assertEqual(self.updates(hub), [TWO])
                hub.finish()

    def test_all_of_a_toolset(self):
        hub = self.start({})
        client = self.acquainted(LegacyClient(hub))
        client.request("resources/subscribe", {"uri": ONE}).result
        self.reload(hub, deny("up:*"))
        self.upstream.wait_request("resources/unsubscribe")
        self.reload(hub, {})
        self.acquainted(client)
        self.assertEqual(len(self.upstream.sync().lines("resources/subscribe")), 1)  # it is over

    def test_subscribing_goes_by_the_rules(self):
        rules = [
            {"tools": {"match": [f"up:{ONE}"]}, "then": "deny"},
            {"who": {"scopes": ["extra"]}, "tools": {"match": [f"up:{TWO}"]}, "then": "challenge"},
            {"tools": {"match": ["up:rec:///three"]}, "then": "confirm"},
        ]
        hub = self.start({"rules": rules})
        client = self.acquainted(LegacyClient(hub, capabilities={"elicitation": {}}))
        for uri, code in ((ONE, NO_RESOURCE), (TWO, INSUFFICIENT_SCOPE), ("rec:///three", NOT_CONFIRMED)):
            self.assertEqual(client.request("resources/subscribe", {"uri": uri}).code, code, uri)
        modern = self.acquainted(ModernClient(hub))
        stream = modern.listen(resourceSubscriptions=[ONE, TWO, "rec:///three"], toolsListChanged=True)
        said = hub.wait_for(lambda m: m.method == "notifications/subscriptions/acknowledged", "the acknowledgement")
        self.assertNotIn("resourceSubscriptions", said.params["notifications"])
        self.assertEqual(self.upstream.sync().lines("resources/subscribe"), [])
        self.assertIsNotNone(stream)

    def test_a_hidden_resource_inside_of_one_that_is_seen(self):
        hub = self.start(deny("up:rec:///one/secret*"))
        client = self.acquainted(LegacyClient(hub))
        client.request("resources/subscribe", {"uri": ONE}).result
        for uri in (ONE + "/secret", ONE + "/plain"):
            self.upstream.write(json.dumps({"jsonrpc": "2.0", "method": UPDATED, "params": {"uri": uri}}))
        hub.wait_for(lambda m: m.method == UPDATED, "the other")
        self.assertEqual(self.updates(hub), [ONE + "/plain"])

    def test_completing_goes_by_the_rules(self):
        rules = [
            {"who": {"scopes": ["extra"]}, "tools": {"match": ["up:summarize"]}, "then": "challenge"},
            {"tools": {"match": ["up:greet"]}, "arguments": {"/topic": {"equals": "yes"}}, "then": "allow"},
            {"tools": {"match": ["up:greet", "up:rec:///dir/*"]}, "then": "deny"},
        ]
        hub = self.start({"rules": rules})
        client = self.acquainted(LegacyClient(hub))
        for ref, value, context, code in (
            ({"type": "ref/prompt", "name": "up__greet"}, "yes", {}, None),
            ({"type": "ref/prompt", "name": "up__greet"}, "no", {}, INVALID_PARAMS),
            ({"type": "ref/prompt", "name": "up__greet"}, "yes", {"arguments": {"topic": "no"}}, INVALID_PARAMS),
            ({"type": "ref/prompt", "name": "up__summarize"}, "yes", {}, INSUFFICIENT_SCOPE),
            ({"type": "ref/resource", "uri": "rec:///dir/{name}"}, "yes", {}, NO_RESOURCE),
        ):
            answer = client.request("completion/complete", {
                "ref": ref, "argument": {"name": "topic", "value": value}, **({"context": context} if context else {})})
            self.assertEqual(answer.error["code"] if "error" in answer.data else None, code, answer)

    def test_a_weaker_credential_of_a_session_hears_no_more(self):
        tokens = self.home / "tokens.json"
        who = []
        for rights in (("--groups", "ops"), ()):
            done = self.cli("token", "new", "ann", *rights, "--tokens", tokens, modules=False)
            who.append({"Authorization": f"Bearer {done.stdout.strip()}"})
        strong, weak = who
        upstream = self.recorder()
        server = self.http("--tokens", tokens, manifest={
            "access": {"rules": [{"who": {"groups": ["ops"]}, "then": "allow"}, {"tools": {"match": [f"up:{ONE}"]}, "then": "deny"}]},
            "toolsets": {"up": upstream.toolset("--content")}})
        session = server.legacy(headers=strong)
        for method in ("tools/list", "resources/list", "prompts/list"):
            session.request(method)
        for uri in (ONE, TWO):
            session.request("resources/subscribe", {"uri": uri}).answer.result
        stream = session.open(headers=weak)
        self.assertEqual(server.post(session.message("ping"), session.headers(weak)).status, 200)
        upstream.command(updated=ONE)
        upstream.command(updated=TWO)
        while (told := stream.message()).method != UPDATED:
            pass
        self.assertEqual(told.params["uri"], TWO)


class Tasks(Changing):
    def test_nobody_hears_of_a_task_of_a_tool_that_is_hidden_since(self):
        upstream = {"command": sys.executable, "args": [str(SUPPORT / "task_upstream.py")]}
        hub = self.begin({}, {"up": upstream})
        client = self.acquainted(LegacyClient(hub, capabilities={"tasks": {}}))
        ids = []
        for _ in range(2):
            answer = client.request("tools/call", {"name": "up__slow", "arguments": {}, "task": {"ttl": 60000}})
            ids.append(answer.result["task"]["taskId"])
        client.call("up__drive", {"task": 1, "status": "failed"}).result
        hub.wait_for(lambda m: m.method == "notifications/tasks/status", "the status of the first")
        self.reload(hub, deny("up:slow"))
        client.call("up__drive", {"task": 2, "status": "failed"}).result
        client.barrier()
        self.assertEqual([m.params["taskId"] for m in hub.notifications("notifications/tasks/status")], ids[:1])
        self.reload(hub, deny("up:*"))
        self.assertNotIn("result", client.request("tasks/get", {"taskId": ids[0]}).data)

    def test_a_task_of_a_tool_that_is_hidden_since_is_none(self):
        """Other tools of its toolset are seen all the same. Who waits for its result has no answer but that."""
        upstream = {"command": sys.executable, "args": [str(SUPPORT / "task_upstream.py")]}
        hub = self.begin({}, {"up": upstream})
        client = self.acquainted(LegacyClient(hub, capabilities={"tasks": {}}))
        made = client.request("tools/call", {"name": "up__slow", "arguments": {}, "task": {"ttl": 60000}})
        task = made.result["task"]["taskId"]
        self.assertEqual(client.request("tasks/get", {"taskId": task}).result["status"], "working")
        self.reload(hub, deny("up:slow"))
        self.assertIn("up__drive", client.names())
        nobodys = "".join("b" if c == "a" else "a" if c in "0123456789bcdef" else c for c in task)
        for method in ("tasks/get", "tasks/result", "tasks/cancel"):
            hidden, unknown = (client.request(method, {"taskId": one}).slice("error") for one in (task, nobodys))
            self.assertEqual(hidden, unknown)
            self.assertIn("Task not found", hidden)
        self.reload(hub, {})
        self.assertEqual(client.request("tasks/get", {"taskId": task}).result["status"], "working")


class Waiting(Changing):
    """A server that never says what it offers, and of which bob may see nothing."""

    SILENT = {"command": sys.executable, "args": ["-c", "import sys; sys.stdin.read()"], "startup_timeout": "1h"}

    def test_nobody_waits_for_what_is_hidden(self):
        tokens = self.home / "tokens.json"
        who = {}
        for name, rights in (("ann", ("--groups", "ops")), ("bob", ())):
            done = self.cli("token", "new", name, *rights, "--tokens", tokens, modules=False)
            who[name] = {"Authorization": f"Bearer {done.stdout.strip()}"}
        access = {"rules": [{"who": {"groups": ["ops"]}, "then": "allow"}, {"tools": {"match": ["silent:*"]}, "then": "deny"}]}
        server = self.http("--tokens", tokens, manifest={
            "access": access, "limits": {"discover_timeout": "1h"},
            "toolsets": {"silent": self.SILENT, "docs": fixture("one")}})
        answers = [server.modern(method, params, headers=who["bob"]).answer for method, params in (
            ("tools/list", None), ("resources/list", None), ("tools/call", {"name": "silent__x", "arguments": {}}),
            ("resources/read", {"uri": "silent:///x"}), ("prompts/get", {"name": "silent__x"}))]
        self.assertNotIn("tools.discovery.started", server.hub.log)  # it was not even started
        self.assertNotIn("cannot be reached", str([a.raw for a in answers]))
        server.connection().send(server.modern_bytes("tools/list", headers=who["ann"]))  # for ann it is waited for …
        server.hub.wait_log("tools.discovery.started")
        self.assertEqual(server.modern("tools/list", headers=who["bob"]).status, 200)  # … and bob does not wait along


    def test_a_rule_that_hides_it_ends_the_wait(self):
        hub = self.begin({}, {"silent": self.SILENT, "docs": fixture(tool("one"))})
        client = ModernClient(hub)
        waiting = client.send("tools/list")
        named = client.send_call("silent__x")
        hub.wait_log("tools.discovery.started")
        self.reload(hub, deny("silent:*"))
        self.assertIn("docs__one", str(hub.response(waiting).result))
        self.assertEqual(hub.response(named).error["message"], "Unknown tool: silent__x")


if __name__ == "__main__":
    main()
