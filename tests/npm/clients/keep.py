#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lists the official client for Python throws away: of the definitions that ../../definitions/shapes.py prints, as it
reads them of a server's answer in each revision that it speaks.

    shapes.py | keep.py        one JSON line for each that is lost
"""

import json
import sys

import mcp.types

try:
    from mcp_types import methods
except ImportError:  # 1.x
    methods = None

MODERN = "2026-07-28"
LISTS = {
    "tools": ("tools/list", "tools", "ListToolsResult"),
    "resources": ("resources/list", "resources", "ListResourcesResult"),
    "templates": ("resources/templates/list", "resourceTemplates", "ListResourceTemplatesResult"),
    "prompts": ("prompts/list", "prompts", "ListPromptsResult"),
}


def read(kind, revision, definition):
    method, member, result = LISTS[kind]
    if methods:
        head = '"resultType":"complete","ttlMs":0,"cacheScope":"private",' if revision == MODERN else ""
        methods.parse_server_result(method, revision, json.loads(f'{{{head}"{member}":[{definition}]}}'))
    else:
        message = mcp.types.JSONRPCMessage.model_validate_json(f'{{"jsonrpc":"2.0","id":1,"result":{{"{member}":[{definition}]}}}}')
        getattr(mcp.types, result).model_validate(message.root.result)


for line in sys.stdin:
    shape = json.loads(line)
    for revision in shape["valid"] if methods else [r for r in shape["valid"] if r != MODERN][-1:]:
        try:
            read(shape["kind"], revision, shape["definition"])
        except ValueError as error:
            print(json.dumps({"revision": revision, "definition": shape["definition"], "why": str(error)}))
