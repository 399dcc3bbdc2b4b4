#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether definitions of real servers pass byte by byte, as they are and with one override (S3.62-S3.64).

    PATCHBAY_BIN=build/release/core/patchbay tests/definitions/real_servers.py TOOLS.json [COUNT]

TOOLS.json is a collection of what public servers list (LiveMCPBench's tools.json: 70 servers, 527 tools); it is not part of the
tree. Of the COUNT servers with the most tools (all of them, unless it is said) each is played by a server that sends these definitions,
compact, spaced, and with escapes instead of other letters than ASCII; the hub's list is held against what was sent, where
only the name is another; and once more with a description that the operator has written, where only that member is another, too.
"""

import json
import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HUB = os.environ.get("PATCHBAY_BIN", ROOT / "build/release/core/patchbay")
PLUGINS = os.environ.get("PATCHBAY_PLUGINS", Path(HUB).parent.parent / "plugins")
SPELT = [
    {"separators": (",", ":"), "ensure_ascii": False},
    {"separators": (", ", ": "), "ensure_ascii": False},
    {"separators": (",", ":"), "ensure_ascii": True},
]
OVERRIDE = "As the operator has it: é"
SERVER = r"""
import json, sys
tools = open(sys.argv[1], encoding="utf-8").read()
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    if message["method"] == "initialize":
        result = json.dumps({"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "real", "version": "1"}})
    elif message["method"] == "tools/list":
        result = '{"tools":[' + tools + "]}"
    elif message["method"] == "ping":
        result = "{}"
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "error": {"code": -32601, "message": "unknown"}}), flush=True)
        continue
    sys.stdout.buffer.write(('{"jsonrpc":"2.0","id":%s,"result":%s}\n' % (json.dumps(message["id"]), result)).encode())
    sys.stdout.buffer.flush()
"""


def without_nulls(value):
    """Collections write absent members as null, which no server may send."""
    known = {key: item for key, item in value.items() if item is not None}
    if isinstance(known.get("annotations"), dict):
        known["annotations"] = without_nulls(known["annotations"])
    return known


def read(path):
    """{server: its definitions}, with those that a server may not send left out."""
    found = {}
    for entry in json.loads(Path(path).read_text(encoding="utf-8")):
        for key, server in entry["tools"].items():
            tools = [without_nulls(tool) for tool in server["tools"]]
            usable = [tool for tool in tools if tool.get("inputSchema", {}).get("type") == "object"]
            if usable:
                found["s-" + re.sub("[^a-z0-9]+", "-", key.lower())[:40].strip("-") + f"-{len(found)}"] = usable
    return found


def ask_hub(folder, toolsets):
    manifest = folder / "patchbay.json"
    limits = {"discover_timeout": "50s", "straggler_timeout": "0s"}
    manifest.write_text(json.dumps({"hub": {"meta_tools": False, "naming": "prefix", "page_size": 100000, "cache": False}, "toolsets": toolsets, "limits": limits}))
    begin = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "real", "version": "1"}}
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": begin},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
    ]
    hub = subprocess.Popen([HUB, "--config", manifest, "--plugins-dir", PLUGINS], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    hub.stdin.write("".join(json.dumps(line) + "\n" for line in lines).encode())
    hub.stdin.flush()
    for line in hub.stdout:
        if json.loads(line).get("id") == 2:
            break
    hub.stdin.close()
    hub.wait()
    return line.decode()


def spell(tool, way):
    return json.dumps(tool, **SPELT[way])


def check(folder, servers, overrides):
    """How many definitions are as they should be; the others are named."""
    toolsets, expected = {}, []
    for way, (key, tools) in enumerate(servers.items()):
        file = folder / f"{key}.txt"
        file.write_text(",".join(spell(tool, way % 3) for tool in tools), encoding="utf-8")
        toolsets[key] = {"command": sys.executable, "args": ["-c", SERVER, str(file)]}
        chosen = next((tool for tool in tools if tool.get("description")), None) if overrides else None
        if chosen:
            toolsets[key]["tools"] = {"overrides": {chosen["name"]: {"description": OVERRIDE}}}
        for tool in tools:
            raw = spell(tool, way % 3)
            own, shown = spell(tool["name"], way % 3), json.dumps(f"{key}__{tool['name']}")
            raw = re.sub(r'("name": ?)' + re.escape(own), lambda m: m[1] + shown, raw, count=1)
            if tool is chosen:
                was = spell(tool["description"], way % 3)
                raw = raw.replace(was, json.dumps(OVERRIDE, ensure_ascii=False), 1)
            expected.append((f"{key}:{tool['name']}", raw))
    line = ask_hub(folder, toolsets)
    same = 0
    for name, raw in expected:
        if raw in line:
            same += 1
        else:
            print(f"not as it was sent: {name}\n  {raw[:300]}")
    return same, len(expected)


def main():
    servers = read(sys.argv[1])
    count = int(sys.argv[2]) if len(sys.argv) > 2 else len(servers)
    servers = dict(sorted(servers.items(), key=lambda item: -len(item[1]))[:count])
    failed = 0
    for overrides in (False, True):
        with tempfile.TemporaryDirectory() as folder:
            same, total = check(Path(folder), servers, overrides)
        print(f"{len(servers)} servers, {'one override each' if overrides else 'no override'}: {same} of {total} definitions byte by byte")
        failed += total - same
    sys.exit(failed > 0)


main()
