#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP server that can misbehave in any way, over any transport. It lives in the test's process.

    evil = Evil("pipes", folder)            # a name of TRANSPORTS
    manifest["toolsets"]["evil"] = evil.entry()
    evil.on["tools/call"] = MISDEEDS["answers twice"]

What arrives for a method is given to on[method], which gets a Request, and else to a good server. A function in `on`
never blocks: what is to be answered later is kept, and answered by the test.

By itself it is a server for trying things out:  evil_upstream.py [--era ERA] [--mode MISDEED]   (over its pipes)
"""

import argparse
import os
import threading
import time

from evil_misdeeds import MISDEEDS
from evil_transports import TRANSPORTS, Http, HttpRequest, OldRequest, Run, dump, to_bytes

MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"


class Evil:
    def __init__(self, transport, folder, name="evil", timeout=120):
        kind, self.era = TRANSPORTS[transport]
        self.name = name
        self.timeout = timeout
        self.condition = threading.Condition()
        self.requests = []
        self.tools = [{"name": "echo", "inputSchema": {"type": "object"}}]
        self.on = {}
        self.transport = kind(self, folder)

    def entry(self, **keys):
        return {**self.transport.entry(), **keys}

    def take(self, q):
        with self.condition:
            self.requests.append(q)
            self.condition.notify_all()
        self.on.get(q.method, self.be_good)(q)

    # -- what has come ----------------------------------------------------------------------------

    @property
    def mark(self):
        with self.condition:
            return len(self.requests)

    def of(self, method, since=0):
        with self.condition:
            return [q for q in self.requests[since:] if q.method == method]

    def answers(self, since=0):
        """The client's answers to questions, by id."""
        with self.condition:
            return {q.id: q for q in self.requests[since:] if q.message and q.method is None}

    def wait(self, method, count=1, since=0):
        def find():
            found = self.of(method, since)
            return found[count - 1] if len(found) >= count else None

        return self.wait_until(find, f"{count} {method}")

    def wait_until(self, condition, what):
        deadline = time.monotonic() + self.timeout
        with self.condition:
            while not (value := condition()):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"waited for {what} at {self.name}; last: {[q.method for q in self.requests[-8:]]}")
                self.condition.wait(left)
        return value

    # -- a good server ----------------------------------------------------------------------------

    def complete(self, **members):
        return {"resultType": "complete", **members} if self.era == "modern" else members

    def result_of(self, q):
        arguments = q.params.get("arguments", {})
        return self.complete(content=[{"type": "text", "text": dump(arguments)}], structuredContent=arguments)

    def be_good(self, q):
        cache = {"ttlMs": 0, "cacheScope": "public"} if self.era == "modern" else {}
        capabilities = {"tools": {"listChanged": True}}
        about = {"name": "evil", "version": "1"}
        if q.id is None or q.method is None:
            if isinstance(q, HttpRequest) and not isinstance(q, OldRequest):
                q.x.status(202)
        elif q.method == "server/discover" and self.era == "modern":
            q.result(self.complete(supportedVersions=[MODERN], capabilities=capabilities, serverInfo=about, **cache))
        elif q.method == "initialize" and self.era == "legacy":
            headers = self.transport.begin_session() if isinstance(self.transport, Http) else {}
            result = {"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": about}
            q.result(result, **headers)
        elif q.method == "tools/list":
            q.result(self.complete(tools=self.tools, **cache))
        elif q.method == "tools/call":
            q.result(self.result_of(q))
        elif q.method == "ping":
            q.result({})
        elif q.method == "subscriptions/listen" and self.era == "modern":
            about = f'{{"_meta":{{"{META}subscriptionId":{q.id}}},"notifications":{dump(q.params["notifications"])}}}'
            q.say(f'{{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{about}}}')
        else:
            q.error(-32601, f"Method not found: {q.method}")

    def aside(self, message):
        self.transport.aside(message)

    def die(self):
        self.transport.die()

    def close(self):
        self.transport.close()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=["legacy", "modern"], default="legacy")
    parser.add_argument("--mode", choices=sorted(MISDEEDS))
    options = parser.parse_args()

    class Own:
        def __init__(self, server, folder):
            self.run = Run(server, os.getpid(), (0, 1))

        def aside(self, message):
            self.run.write(to_bytes(message) + b"\n")

        def die(self):
            os._exit(1)

    TRANSPORTS["own"] = (Own, options.era)
    server = Evil("own", None)
    if options.mode:
        server.on["tools/call"] = MISDEEDS[options.mode]
    server.transport.run.read()


if __name__ == "__main__":
    main()
