#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""List what a server over stdio offers with the official Python client, and print the names as JSON.

    list.py REVISION COMMAND [ARGUMENT…]
"""

import asyncio
import json
import sys

from mcp.client.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client

MODERN = "2026-07-28"
LISTS = {
    "tools": ("list_tools", "tools"),
    "resources": ("list_resources", "resources"),
    "templates": ("list_resource_templates", "resource_templates"),
    "prompts": ("list_prompts", "prompts"),
}


async def main():
    revision, command, *arguments = sys.argv[1:]
    mode = MODERN if revision == MODERN else "legacy"
    async with Client(stdio_client(StdioServerParameters(command=command, args=arguments)), mode=mode) as client:
        found = {"revision": client.protocol_version}
        for kind, (verb, member) in LISTS.items():
            found[kind] = [item.name for item in getattr(await getattr(client, verb)(), member)]
    print(json.dumps(found))


asyncio.run(main())
