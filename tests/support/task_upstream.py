#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP server over stdio whose tools run as tasks, of either generation (--era).

Its task ids are simple on purpose (t-1, t-2, …; --ids PREFIX), and the same in every instance: whoever
keeps clients apart cannot rely on them. Nothing happens by itself. Tools:

  slow {…}     a task that works until it is told otherwise; without a task, answers at once
               (taskSupport optional)
  must         the same, taskSupport required
  plain        taskSupport absent: {"said": its params}
  drive {…}    tells a task something, "task" is its number:
                 {"status": S, "result": {…}}  its state from now on; ends it, if that is a last one
                 {"ask": {"method": M, "params": {…}}}  what its client is to be asked
                 {"progress": N} | {"log": DATA}
               answers when that is done
  seen         {"lines": every line it was sent, raw}

Legacy (2025-11-25): a question is sent as soon as somebody waits for the task's result, which is the
only request that waits. Modern (the extension io.modelcontextprotocol/tasks): questions are in
inputRequests of the task's state, answered by tasks/update. Either way what was answered becomes
the member "answered" of the task's result.
"""

import argparse
import json
import sys

META = "io.modelcontextprotocol/"
RELATED = META + "related-task"
EXTENSION = META + "tasks"
LAST = ("completed", "failed", "cancelled")
INVALID_PARAMS, METHOD_NOT_FOUND, MISSING_CAPABILITY = -32602, -32601, -32021
TIME = "2026-01-01T00:00:00Z"


class Failure(Exception):
    def __init__(self, code, message, data=None):
        super().__init__(message)
        self.error = {"code": code, "message": message}
        if data is not None:
            self.error["data"] = data


class Task:
    def __init__(self, server, number, token):
        self.server = server
        self.id = f"{server.options.ids}{number}"
        self.token = token
        self.status = "working"
        self.result = {"content": [{"type": "text", "text": f"the result of {self.id}"}]}
        self.questions = []  # to be asked
        self.answered = []
        self.waiting = []  # ids of tasks/result

    @property
    def meta(self):
        return {RELATED: {"taskId": self.id}}

    def state(self):
        modern = self.server.modern
        state = {
            "taskId": self.id,
            "status": self.status,
            "createdAt": TIME,
            "lastUpdatedAt": TIME,
            ("ttlMs" if modern else "ttl"): 60000,
            "x-unknown": [1.5, {}],
        }
        if modern and self.status == "completed":
            state["result"] = {**self.outcome(), "resultType": "complete"}
        if modern and self.questions:
            state["inputRequests"] = {f"q{at}": question for at, question in enumerate(self.questions)}
        return state

    def outcome(self):
        return {**self.result, **({"answered": self.answered} if self.answered else {})}

    def change(self, status):
        if self.status in LAST:
            raise Failure(INVALID_PARAMS, f"the task is over: {self.status}")
        self.status = status
        if not self.server.modern:
            self.server.notify("notifications/tasks/status", self.state())
        if status in LAST:
            for request_id in self.waiting:
                self.server.answer(request_id, {**self.outcome(), "_meta": self.meta})
            self.waiting = []

    def ask(self, question):
        self.questions.append(question)
        if self.server.modern:
            self.status = "input_required"
        else:
            self.change("input_required")
            self.ask_who_waits()

    def ask_who_waits(self):
        while self.waiting and self.questions:
            question = self.questions.pop(0)
            params = {**question.get("params", {}), "_meta": self.meta}
            self.server.ask(question["method"], params, self.on_answer)

    def on_answer(self, said):
        self.answered.append(said)
        if not self.questions:
            self.change("working")


class Server:
    def __init__(self, options):
        self.options = options
        self.modern = options.era == "modern"
        self.tasks = {}
        self.lines = []
        self.asked = {}

    # -- output -----------------------------------------------------------------------------------

    def write(self, **message):
        print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)

    def notify(self, method, params):
        self.write(method=method, params=params)

    def answer(self, request_id, result):
        if self.modern:
            result = {"resultType": "complete", **result}
        self.write(id=request_id, result=result)

    def ask(self, method, params, on_answer):
        request_id = f"ask-{len(self.asked)}"
        self.asked[request_id] = on_answer
        self.write(id=request_id, method=method, params=params)

    # -- tasks ------------------------------------------------------------------------------------

    def find(self, params):
        task = self.tasks.get(params.get("taskId"))
        if task is None:
            raise Failure(INVALID_PARAMS, f"Task not found: {params.get('taskId')}")
        return task

    def make_task(self, params):
        task = Task(self, len(self.tasks) + 1, params.get("_meta", {}).get("progressToken"))
        self.tasks[task.id] = task
        return task

    def knows_tasks(self, params):
        capabilities = params.get("_meta", {}).get(META + "clientCapabilities", {})
        return EXTENSION in capabilities.get("extensions", {})

    def check_client(self, params):
        if self.modern and not self.knows_tasks(params):
            raise Failure(
                MISSING_CAPABILITY, "tasks are needed", {"requiredCapabilities": {"extensions": {EXTENSION: {}}}}
            )

    # -- tools ------------------------------------------------------------------------------------

    def call_slow(self, params):
        if self.modern:
            return {"resultType": "task", **self.make_task(params).state()} if self.knows_tasks(params) else self.said()
        return {"task": self.make_task(params).state()} if "task" in params else self.said()

    def call_must(self, params):
        self.check_client(params)
        if not self.modern and "task" not in params:
            raise Failure(METHOD_NOT_FOUND, "must runs as a task only")
        return self.call_slow(params)

    def said(self, **members):
        return {"content": [{"type": "text", "text": "done"}], **members}

    def call_plain(self, params):
        return self.said(structuredContent={"said": {k: v for k, v in params.items() if k != "_meta"}})

    def call_seen(self, params):
        return self.said(structuredContent={"lines": self.lines})

    def call_drive(self, params):
        told = params["arguments"]
        task = self.tasks[f"{self.options.ids}{told['task']}"]
        if "result" in told:
            task.result = told["result"]
        if "progress" in told:
            self.notify(
                "notifications/progress",
                {"progressToken": task.token, "progress": told["progress"], "_meta": task.meta},
            )
        if "log" in told:
            self.notify("notifications/message", {"level": "error", "data": told["log"], "_meta": task.meta})
        if "ask" in told:
            task.ask(told["ask"])
        if "status" in told:
            task.change(told["status"])
        return self.said()

    def call_tool(self, params):
        return getattr(self, "call_" + params["name"])(params)

    # -- requests ---------------------------------------------------------------------------------

    def capabilities(self):
        if self.modern:
            return {"tools": {}, "extensions": {EXTENSION: {}}}
        return {
            "tools": {},
            "logging": {},
            "tasks": {"list": {}, "cancel": {}, "requests": {"tools": {"call": {}}}},
        }

    def initialize(self, params):
        if self.modern:
            raise Failure(METHOD_NOT_FOUND, "Method not found: initialize")
        return {
            "protocolVersion": "2025-11-25",
            "capabilities": self.capabilities(),
            "serverInfo": {"name": "tasks", "version": "1"},
        }

    def discover(self, params):
        if not self.modern:
            raise Failure(METHOD_NOT_FOUND, "Method not found: server/discover")
        return {
            "supportedVersions": ["2026-07-28"],
            "capabilities": self.capabilities(),
            "ttlMs": 0,
            "cacheScope": "public",
            "_meta": {META + "serverInfo": {"name": "tasks", "version": "1"}},
        }

    def list_tools(self, params):
        def tool(name, support=None):
            # What 2025-11-25 has for it; the extension has nothing.
            execution = {"execution": {"taskSupport": support}} if support and not self.modern else {}
            return {"name": name, "inputSchema": {"type": "object"}, **execution}

        cache = {"ttlMs": 0, "cacheScope": "public"} if self.modern else {}
        tools = [tool("slow", "optional"), tool("must", "required"), tool("plain"), tool("drive"), tool("seen")]
        return {"tools": tools, **cache}

    def get_task(self, params):
        self.check_client(params)
        return self.find(params).state()

    def cancel_task(self, params):
        self.check_client(params)
        task = self.find(params)
        if self.modern:
            if task.status not in LAST:
                task.change("cancelled")
            return {}
        task.change("cancelled")
        return task.state()

    def update_task(self, params):
        self.check_client(params)
        task = self.find(params)
        for key, said in params["inputResponses"].items():
            if int(key[1:]) < len(task.questions):
                task.answered.append(said)
        task.questions = []
        task.status = "working"
        return {}

    def dispatch(self, request_id, method, params):
        methods = {
            "initialize": self.initialize,
            "server/discover": self.discover,
            "ping": lambda params: {},
            "logging/setLevel": lambda params: {},
            "tools/list": self.list_tools,
            "tools/call": self.call_tool,
            "tasks/get": self.get_task,
            "tasks/cancel": self.cancel_task,
        }
        if self.modern:
            methods["tasks/update"] = self.update_task
        if method not in methods:
            raise Failure(METHOD_NOT_FOUND, f"Method not found: {method}")
        self.answer(request_id, methods[method](params))

    def wait_for_result(self, request_id, params):
        task = self.find(params)
        if task.status in LAST:
            self.answer(request_id, {**task.outcome(), "_meta": task.meta})
        else:
            task.waiting.append(request_id)
            task.ask_who_waits()

    def listen(self, request_id, params):
        self.notify(
            "notifications/subscriptions/acknowledged",
            {"_meta": {META + "subscriptionId": request_id}, "notifications": {}},
        )

    def take(self, line):
        message = json.loads(line)
        self.lines.append(line)
        method, request_id, params = message.get("method"), message.get("id"), message.get("params", {})
        if method is None:
            self.asked.pop(request_id)(message.get("result", message.get("error")))
            return
        if request_id is None:
            return
        try:
            if method == "tasks/result" and not self.modern:
                self.wait_for_result(request_id, params)
            elif method == "subscriptions/listen" and self.modern:
                self.listen(request_id, params)
            else:
                self.dispatch(request_id, method, params)
        except Failure as failure:
            self.write(id=request_id, error=failure.error)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--era", choices=["legacy", "modern"], default="legacy")
    parser.add_argument("--ids", default="t-", metavar="PREFIX")
    server = Server(parser.parse_args())
    for line in sys.stdin:
        server.take(line.rstrip("\n"))


if __name__ == "__main__":
    main()
