#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP server over stdio whose one tool says what it was told, and by which server: echo_server.py NAME."""

import json
import sys

NAME = sys.argv[1]
TOOL = {"name": "echo", "description": "Says the same.", "inputSchema": {"type": "object"}}


def answer(message):
    method = message["method"]
    if method == "initialize":
        about = {"name": NAME, "version": "1"}
        return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": about}
    if method == "tools/list":
        return {"tools": [TOOL]}
    if method == "tools/call":
        said = json.dumps({"server": NAME, **message["params"].get("arguments", {})}, sort_keys=True)
        return {"content": [{"type": "text", "text": said}]}
    return {} if method == "ping" else None


for line in sys.stdin:
    request = json.loads(line)
    if "id" not in request:
        continue
    result = answer(request)
    reply = {"jsonrpc": "2.0", "id": request["id"]}
    reply.update({"error": {"code": -32601, "message": "Method not found"}} if result is None else {"result": result})
    sys.stdout.write(json.dumps(reply) + "\n")
    sys.stdout.flush()
