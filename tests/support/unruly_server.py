#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP server over stdio (2025-11-25) that is hard to get rid of, and says too much.

    unruly_server.py [--scatter] [--stay]

--scatter  starts processes that want to stay: in a session of their own, forked twice, in the same group; none of them
           heeds signals
--stay     ignores SIGTERM and the end of its input itself

Tools: echo (its arguments), hold (never answers), pid, wait {"seconds": N, …} (its arguments, after so long), flood {"fd": 1|2, "bytes": N, "line": N} (so many bytes, with a
newline after each `line` of them; 0: none).
"""

import json
import os
import signal
import sys
import threading

SCATTERED = 3


def ignore_signals():
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1):
        signal.signal(number, signal.SIG_IGN)


def stay():
    ignore_signals()
    while True:
        signal.pause()


def scatter():
    if os.fork() == 0:
        os.setsid()
        stay()
    middle = os.fork()
    if middle == 0:
        if os.fork() == 0:
            os.setsid()
            stay()
        os._exit(0)
    os.waitpid(middle, 0)
    if os.fork() == 0:
        stay()


def flood(fd, size, line):
    chunk = b"x" * (1 << 16) if line == 0 else (b"x" * (line - 1) + b"\n") * max(1, (1 << 16) // line)
    while size > 0:
        size -= os.write(fd, chunk[: min(size, len(chunk))])


def call(name, arguments, request_id):
    text = str(os.getpid()) if name == "pid" else json.dumps(arguments)
    content = {"content": [{"type": "text", "text": text}]}
    if name == "wait":
        later = threading.Timer(arguments["seconds"], reply, (request_id, {"result": content}))
        later.daemon = True
        later.start()
        return None
    if name == "hold":
        return None
    if name == "flood":
        flood(arguments["fd"], arguments["bytes"], arguments.get("line", 0))
    return content


def reply(request_id, end):
    os.write(1, json.dumps({"jsonrpc": "2.0", "id": request_id, **end}).encode() + b"\n")


def answer(message):
    method, params = message["method"], message.get("params", {})
    if method == "initialize":
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "unruly", "version": "1"}}
    if method == "tools/list":
        return {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ("echo", "hold", "pid", "wait", "flood")]}
    if method == "tools/call":
        return call(params["name"], params.get("arguments", {}), message["id"])
    return {} if method == "ping" else NotImplemented


def main():
    if "--scatter" in sys.argv:
        scatter()
    if "--stay" in sys.argv:
        ignore_signals()
    for line in sys.stdin.buffer:
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        result = answer(message)
        if result is None:
            continue
        end = {"error": {"code": -32601, "message": "no"}} if result is NotImplemented else {"result": result}
        reply(message["id"], end)
    if "--stay" in sys.argv:
        stay()


if __name__ == "__main__":
    main()
