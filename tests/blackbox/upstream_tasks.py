# SPDX-License-Identifier: Apache-2.0
"""Tasks of upstreams through the hub (MCP 2025-11-25 basic/utilities/tasks; the extension
io.modelcontextprotocol/tasks of 2026-07-28): ids that are unique and lead back, questions, notifications, and who
may see what (A16).
"""

import json
import sys

from http_client import Server
from mcp import INVALID_PARAMS, MARKER, META, METHOD_NOT_FOUND, SUPPORT, HubTest, LegacyClient, ModernClient, main

EXTENSION = META + "tasks"
RELATED = META + "related-task"
STATUS = "notifications/tasks/status"
KNOWS = {"extensions": {EXTENSION: {}}}
MISSING_CAPABILITY = -32021
FORM = {"message": "who?", "requestedSchema": {"type": "object", "properties": {"name": {"type": "string"}}}}


def upstream(*flags, **keys):
    return {
        "command": sys.executable,
        "args": [str(SUPPORT / "task_upstream.py"), *flags],
        "env": {MARKER: f"${{{MARKER}}}"},
        **keys,
    }


class Tasks(HubTest):
    """Two upstreams whose tasks have the same ids."""

    era = "legacy"

    def toolsets(self):
        return {name: upstream("--era", self.era) for name in ("up", "two")}

    def start(self, **capabilities):
        client = LegacyClient(self.hub(toolsets=self.toolsets()), capabilities=capabilities)
        client.names()
        return client

    def make(self, client, tool="up__slow", **params):
        """Make a task and return its id."""
        answer = client.request("tools/call", {"name": tool, "arguments": {}, "task": {"ttl": 60000}, **params})
        self.assertEqual(answer.result["task"]["status"], "working")
        return answer.result["task"]["taskId"]

    def drive(self, client, task, upstream="up", **what):
        client.call(f"{upstream}__drive", {"task": task, **what}).result

    def ask(self, client, method, task_id):
        return client.request(method, {"taskId": task_id})

    def lines(self, client, method, upstream="up"):
        """What the upstream was sent, of one method."""
        lines = client.call(f"{upstream}__seen").result["structuredContent"]["lines"]
        return [json.loads(line) for line in lines if json.loads(line).get("method") == method]


class Legacy(Tasks):
    def test_from_beginning_to_end(self):
        client = self.start()
        self.assertEqual(
            client.answer.result["capabilities"]["tasks"], {"cancel": {}, "requests": {"tools": {"call": {}}}}
        )
        task_id = self.make(client)
        state = self.ask(client, "tasks/get", task_id).result
        self.assertEqual((state["taskId"], state["status"], state["x-unknown"]), (task_id, "working", [1.5, {}]))
        waiting = client.send("tasks/result", {"taskId": task_id})
        self.drive(client, 1, status="completed", result={"content": [], "structuredContent": {"n": 1.5}})
        result = client.hub.response(waiting).result
        self.assertEqual(result["structuredContent"], {"n": 1.5})
        self.assertEqual(result["_meta"], {RELATED: {"taskId": task_id}})
        self.assertEqual(self.ask(client, "tasks/get", task_id).result["status"], "completed")
        self.assertEqual(self.ask(client, "tasks/result", task_id).result, result)
        sent = self.lines(client, "tasks/get")[0]["params"]
        self.assertEqual(sent, {"taskId": "t-1"})

    def test_two_upstreams_with_the_same_ids(self):
        client = self.start()
        first, second = self.make(client), self.make(client, "two__slow")
        self.assertNotEqual(first, second)
        self.drive(client, 1, "two", status="failed")
        self.assertEqual(self.ask(client, "tasks/get", first).result["status"], "working")
        self.assertEqual(self.ask(client, "tasks/get", second).result["status"], "failed")

    def test_cancel(self):
        client = self.start()
        task_id = self.make(client)
        state = self.ask(client, "tasks/cancel", task_id).result
        self.assertEqual((state["taskId"], state["status"]), (task_id, "cancelled"))
        again = self.ask(client, "tasks/cancel", task_id)
        self.assertEqual(again.code, INVALID_PARAMS)
        self.assertSays(again.error["message"], "over")

    def test_ids_that_are_none(self):
        client = self.start()
        task_id = self.make(client)
        for other in ("t-1", "", "up.t-1", task_id[:-1], task_id + "1", task_id.replace("up.", "two.")):
            for method in ("tasks/get", "tasks/result", "tasks/cancel"):
                with self.subTest(method, id=other):
                    answer = self.ask(client, method, other)
                    self.assertEqual(answer.code, INVALID_PARAMS)
                    self.assertSays(answer.error["message"], "not found")
        self.assertEqual(self.lines(client, "tasks/cancel"), [])

    def test_there_is_no_list(self):
        client = self.start()
        self.assertEqual(client.request("tasks/list").code, METHOD_NOT_FOUND)

    def test_which_tools(self):
        client = self.start()
        self.make(client, "up__must")
        for name in ("up__plain", "list_toolsets"):
            answer = client.request("tools/call", {"name": name, "arguments": {}, "task": {}})
            self.assertEqual(answer.code, METHOD_NOT_FOUND)
        self.assertEqual(client.call("up__must").code, METHOD_NOT_FOUND)
        self.assertEqual(client.call("up__slow").result["content"][0]["text"], "done")

    def test_status(self):
        client = self.start()
        task_id = self.make(client)
        since = client.hub.mark
        self.drive(client, 1, status="failed")
        told = client.hub.wait_for(lambda m: m.method == STATUS, STATUS, since)
        self.assertEqual((told.params["taskId"], told.params["status"]), (task_id, "failed"))

    def test_progress_and_log_messages(self):
        client = self.start()
        task_id = self.make(client, _meta={"progressToken": "mine"})
        self.drive(client, 1, progress=0.5)
        told = client.hub.wait_for(lambda m: m.method == "notifications/progress", "progress")
        self.assertEqual(told.params["progressToken"], "mine")
        self.assertEqual(told.params["_meta"], {RELATED: {"taskId": task_id}})
        self.drive(client, 1, log=["a", 1.5])
        told = client.hub.wait_for(lambda m: m.method == "notifications/message", "a log message")
        self.assertEqual(told.params["data"], ["a", 1.5])
        self.assertEqual(told.params["_meta"], {RELATED: {"taskId": task_id}})

    def test_a_question(self):
        """Sent to whoever waits for the result: the client's id there, the server's own in the answer."""
        client = self.start(elicitation={})
        task_id = self.make(client)
        self.drive(client, 1, ask={"method": "elicitation/create", "params": FORM})
        self.assertEqual(self.ask(client, "tasks/get", task_id).result["status"], "input_required")
        client.hub.answers["elicitation/create"] = lambda params: {
            "action": "accept",
            "content": {"name": params["_meta"][RELATED]["taskId"]},
            "_meta": params["_meta"],
        }
        waiting = client.send("tasks/result", {"taskId": task_id})
        asked = client.hub.wait_for(lambda m: m.method == "elicitation/create", "the question")
        self.assertEqual(asked.params["message"], "who?")
        client.hub.wait_for(lambda m: m.method == STATUS and m.params["status"] == "working", "that it goes on")
        self.drive(client, 1, status="completed")
        (answered,) = client.hub.response(waiting).result["answered"]
        self.assertEqual(answered["content"], {"name": task_id})
        self.assertEqual(answered["_meta"], {RELATED: {"taskId": "t-1"}})

    def test_the_waiting_is_cancelled(self):
        """That ends the waiting, not the task."""
        client = self.start()
        task_id = self.make(client)
        waiting = client.send("tasks/result", {"taskId": task_id})
        client.cancel(waiting)
        self.assertEqual(self.ask(client, "tasks/get", task_id).result["status"], "working")
        self.drive(client, 1, status="completed")
        self.assertSays(self.ask(client, "tasks/result", task_id).result["content"][0]["text"], "t-1")

    def test_a_disabled_toolset(self):
        client = self.start()
        task_id, other = self.make(client), self.make(client, "two__slow")
        client.call("disable_toolset", {"toolset": "up"}).result
        self.assertEqual(self.ask(client, "tasks/get", task_id).code, INVALID_PARAMS)
        self.assertEqual(self.ask(client, "tasks/get", other).result["status"], "working")

    def test_an_older_client(self):
        hub = self.hub(toolsets=self.toolsets())
        client = LegacyClient(hub, "2025-06-18")
        client.names()
        self.assertNotIn("tasks", client.answer.result["capabilities"])
        answer = client.request("tools/call", {"name": "up__slow", "arguments": {}, "task": {"ttl": 1}})
        self.assertEqual(answer.result["content"][0]["text"], "done")
        self.assertSays(client.call("up__must").tool_error["message"], "as a task only", "2025-11-25")
        self.assertEqual(self.ask(client, "tasks/get", "x").code, METHOD_NOT_FOUND)

    def test_a_modern_client(self):
        """The generations cannot be turned into each other: a call runs without a task, or says why not."""
        client = ModernClient(self.hub(toolsets=self.toolsets()), KNOWS)
        client.names()
        discovered = client.request("server/discover").result["capabilities"]
        self.assertNotIn(EXTENSION, discovered.get("extensions", {}))
        answer = client.request("tools/call", {"name": "up__slow", "arguments": {}, "task": {"ttl": 1}})
        self.assertEqual(answer.result["content"][0]["text"], "done")
        self.assertSays(client.call("up__must").tool_error["message"], "as a task only")
        self.assertEqual(self.ask(client, "tasks/get", "x").code, METHOD_NOT_FOUND)


class Modern(Tasks):
    era = "modern"

    def start(self, capabilities=KNOWS):
        client = ModernClient(self.hub(toolsets=self.toolsets()), capabilities)
        client.names()
        return client

    def make(self, client, tool="up__slow"):
        result = client.call(tool).result
        self.assertEqual((result["resultType"], result["status"]), ("task", "working"))
        return result["taskId"]

    def test_from_beginning_to_end(self):
        client = self.start()
        announced = client.request("server/discover").result["capabilities"]["extensions"]
        self.assertEqual(announced, {EXTENSION: {}})
        task_id = self.make(client)
        state = self.ask(client, "tasks/get", task_id).result
        self.assertEqual((state["taskId"], state["status"], state["x-unknown"]), (task_id, "working", [1.5, {}]))
        self.drive(client, 1, status="completed", result={"content": [], "structuredContent": {"n": 1.5}})
        state = self.ask(client, "tasks/get", task_id).result
        self.assertEqual(state["result"]["structuredContent"], {"n": 1.5})
        sent = self.lines(client, "tasks/get")[0]["params"]
        self.assertEqual({k: v for k, v in sent.items() if k != "_meta"}, {"taskId": "t-1"})
        self.assertEqual(sent["_meta"][META + "clientCapabilities"], KNOWS)

    def test_two_upstreams_with_the_same_ids(self):
        client = self.start()
        first, second = self.make(client), self.make(client, "two__slow")
        self.assertNotEqual(first, second)
        self.ask(client, "tasks/cancel", second).result
        self.assertEqual(self.ask(client, "tasks/get", first).result["status"], "working")
        self.assertEqual(self.ask(client, "tasks/get", second).result["status"], "cancelled")

    def test_questions(self):
        client = self.start()
        task_id = self.make(client)
        self.drive(client, 1, ask={"method": "elicitation/create", "params": FORM})
        state = self.ask(client, "tasks/get", task_id).result
        self.assertEqual(state["status"], "input_required")
        self.assertEqual(state["inputRequests"], {"q0": {"method": "elicitation/create", "params": FORM}})
        answer = {"action": "accept", "content": {"name": "Ann"}}
        params = {"taskId": task_id, "inputResponses": {"q0": answer}}
        self.assertEqual(client.request("tasks/update", params).result, {"resultType": "complete"})
        self.drive(client, 1, status="completed")
        self.assertEqual(self.ask(client, "tasks/get", task_id).result["result"]["answered"], [answer])

    def test_ids_that_are_none(self):
        client = self.start()
        task_id = self.make(client)
        for other in ("t-1", "", task_id[:-1], task_id.replace("up.", "two.")):
            for method in ("tasks/get", "tasks/update", "tasks/cancel"):
                with self.subTest(method, id=other):
                    self.assertEqual(self.ask(client, method, other).code, INVALID_PARAMS)
        self.assertEqual(self.lines(client, "tasks/cancel"), [])

    def test_methods_that_it_has_not(self):
        client = self.start()
        for method in ("tasks/list", "tasks/result"):
            self.assertEqual(self.ask(client, method, self.make(client)).code, METHOD_NOT_FOUND)

    def test_a_client_that_does_not_know_tasks(self):
        client = self.start({})
        self.assertEqual(client.call("up__slow").result["content"][0]["text"], "done")
        for answer in (client.call("up__must"), self.ask(client, "tasks/get", "x")):
            self.assertEqual(answer.code, MISSING_CAPABILITY)
            self.assertEqual(answer.error["data"], {"requiredCapabilities": KNOWS})

    def test_a_legacy_client(self):
        """Whatever it declares: it could not follow."""
        client = LegacyClient(self.hub(toolsets=self.toolsets()), capabilities=KNOWS)
        client.names()
        self.assertNotIn("tasks", client.request("ping").result)
        answer = client.request("tools/call", {"name": "up__slow", "arguments": {}, "task": {"ttl": 1}})
        self.assertEqual(answer.result["content"][0]["text"], "done")
        self.assertEqual(client.call("up__must").code, MISSING_CAPABILITY)
        (sent, _) = self.lines(client, "tools/call")[:2]
        self.assertEqual(sent["params"]["_meta"][META + "clientCapabilities"], {"extensions": {}})


class Network(Tasks):
    """Several clients of one hub, and a hub behind a hub."""

    def server(self, era, *arguments):
        self.era = era
        return Server(self, self.daemon("--http", "0", *arguments, toolsets=self.toolsets()))

    def test_who_is_told(self):
        """One client's tasks are announced to it alone."""
        server = self.server("legacy")
        mine, other = server.legacy(), server.legacy()
        streams = [session.open() for session in (mine, other)]
        mine.request("tools/list").message.result
        task = {"name": "up__slow", "arguments": {}, "task": {}}
        task_id, theirs = (s.request("tools/call", task).message.result["task"]["taskId"] for s in (mine, other))
        for number, status in ((1, "failed"), (2, "completed")):
            drive = {"name": "up__drive", "arguments": {"task": number, "status": status}}
            other.request("tools/call", drive).message.result
        for stream, expected in zip(streams, ((task_id, "failed"), (theirs, "completed"))):
            told = stream.message()
            while told.method != STATUS:
                told = stream.message()
            self.assertEqual((told.params["taskId"], told.params["status"]), expected)

    def test_principals(self):
        tokens = {}
        file = self.home / "tokens.json"
        for name in ("ann", "bob"):
            done = self.cli("token", "new", name, "--tokens", file, modules=False)
            tokens[name] = {"Authorization": f"Bearer {done.stdout.strip()}"}
        server = self.server("modern", "--tokens", file)
        server.modern("tools/list", headers=tokens["ann"]).message.result

        def ask(name, method, params):
            return server.modern(method, params, tokens[name], capabilities=KNOWS).message

        task_id = ask("ann", "tools/call", {"name": "up__slow", "arguments": {}}).result["taskId"]
        self.assertEqual(ask("ann", "tasks/get", {"taskId": task_id}).result["status"], "working")
        for method in ("tasks/get", "tasks/cancel", "tasks/update"):
            self.assertEqual(ask("bob", method, {"taskId": task_id}).code, INVALID_PARAMS)
        self.assertEqual(ask("ann", "tasks/get", {"taskId": task_id}).result["status"], "working")

    def test_headers(self):
        """The extension, Routing Headers: Mcp-Name is the id of the task."""
        server = self.server("modern")
        server.modern("tools/list").message.result
        call = {"name": "up__slow", "arguments": {}}
        task_id = server.modern("tools/call", call, capabilities=KNOWS).message.result["taskId"]
        for method in ("tasks/get", "tasks/update", "tasks/cancel"):
            for name in (None, "up__slow", task_id + "x"):
                reply = server.modern(method, {"taskId": task_id}, {"Mcp-Name": name}, capabilities=KNOWS)
                self.assertEqual((reply.status, reply.message.code), (400, -32020))
        reply = server.modern("tasks/get", {"taskId": task_id}, capabilities=KNOWS)
        self.assertEqual(reply.message.result["status"], "working")

    def test_a_hub_behind_a_hub(self):
        for era, make in (("legacy", Legacy.make), ("modern", Modern.make)):
            with self.subTest(era):
                inner = self.server(era)
                # Left to itself, the outer hub speaks the newest revision with the inner one.
                protocol = {"protocol": "2025-11-25"} if era == "legacy" else {}
                hub = self.hub(toolsets={"inner": {"url": inner.url, **protocol}})
                client = LegacyClient(hub) if era == "legacy" else ModernClient(hub, KNOWS)
                client.names()
                task_id = make(self, client, "inner__up__slow")
                state = self.ask(client, "tasks/get", task_id).result
                self.assertEqual((state["taskId"], state["status"]), (task_id, "working"))
                client.call("inner__up__drive", {"task": 1, "status": "completed"}).result
                if era == "legacy":
                    result = self.ask(client, "tasks/result", task_id).result
                    self.assertEqual(result["_meta"], {RELATED: {"taskId": task_id}})
                else:
                    result = self.ask(client, "tasks/get", task_id).result["result"]
                self.assertEqual(result["content"][0]["text"], "the result of t-1")
                hub.finish()
                inner.hub.finish()


if __name__ == "__main__":
    main()
