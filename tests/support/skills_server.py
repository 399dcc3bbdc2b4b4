#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP server over stdio with skills (the extension io.modelcontextprotocol/skills), of either era.

It serves what a JSON file says: {"skills": {"PATH": {"FILE": "text"}}, "unlisted": [PATH], "dynamic": [PATH],
"scheme": "skill", "page": N, "directories": true, "broken": true | "error" | "forever" | "odd" | "huge", "tool": NAME}. Each line that it
receives is appended to --log.
"""

import argparse
import hashlib
import json
import posixpath
import sys

EXTENSION = "io.modelcontextprotocol/skills"
INVALID, UNKNOWN, BROKEN = -32602, -32601, -32000


class Failure(Exception):
    pass


class Server:
    def __init__(self, what):
        self.what = what
        self.scheme = what.get("scheme", "skill") + "://"
        self.files = {f"{self.scheme}{path}/{name}": text for path, files in what["skills"].items() for name, text in files.items()}

    def entry(self, path):
        root = f"{self.scheme}{path}"
        files = [uri for uri in self.files if uri.startswith(root + "/")]
        resources = [{"uri": u, "digest": "sha256:" + hashlib.sha256(self.files[u].encode()).hexdigest(), "size": len(self.files[u].encode())} for u in files]
        front = {"name": path.rsplit("/", 1)[-1], "description": f"How to {path}", "version": 1.0}
        return {"uri": f"{root}/SKILL.md", "frontmatter": front, "resources": "dynamic" if path in self.what.get("dynamic", ()) else resources}

    def on_list(self, params):
        if self.what.get("broken") == "error":
            raise Failure(BROKEN, "the shelf is locked")
        if self.what.get("broken") is True:
            return {"skills": "none"}
        if self.what.get("broken") == "odd":
            name = self.what["fill"]
            long = {"uri": f"{self.scheme}{name}/SKILL.md", "frontmatter": {"name": name, "description": ""}, "resources": "dynamic"}
            half = {**long, "uri": f"{self.scheme}half/SKILL.md", "frontmatter": {"name": "half", "description": "\ud800"}}
            return {"skills": [3, None, [], {}, {"uri": 5}, half, long, *map(self.entry, self.what["skills"])], "nextCursor": 7}
        if self.what.get("broken") == "huge":
            tiny = [{"uri": "skill://a"}] * self.what["fill"]
            return {"skills": [{**self.entry(path), "resources": tiny} for path in self.what["skills"]]}
        paths = [p for p in self.what["skills"] if p not in self.what.get("unlisted", ())]
        begin, size = int(params.get("cursor", 0)), self.what.get("page", 100)
        result = {"skills": [self.entry(p) for p in paths[begin : begin + size]]}
        if begin + size < len(paths) or self.what.get("broken") == "forever":
            result["nextCursor"] = str(begin + size)
        return result

    def on_get(self, params):
        for path in self.what["skills"]:
            if params["uri"] == f"{self.scheme}{path}/SKILL.md":
                return {"skill": self.entry(path)}
        raise Failure(INVALID, f"No skill is served at {params['uri']}")

    def on_read(self, params):
        if params["uri"] not in self.files:
            raise Failure(INVALID, "no such file")
        return {"contents": [{"uri": params["uri"], "mimeType": "text/markdown", "text": self.files[params["uri"]]}]}

    def on_directory(self, params):
        inside = [u for u in self.files if u.startswith(params["uri"] + "/")]
        if not inside:
            raise Failure(INVALID, f"{params['uri']} is not a directory resource")
        children = {}
        for uri in inside:
            name, _, below = uri[len(params["uri"]) + 1 :].partition("/")
            children[name] = {"uri": f"{params['uri']}/{name}", "name": name, "mimeType": "inode/directory" if below else "text/markdown"}
        return {"resources": list(children.values())}

    def capabilities(self):
        setting = {"directoryRead": True} if self.what.get("directories") else {}
        return {"tools": {}, "resources": {}, "extensions": {EXTENSION: setting}}

    def answer(self, method, params):
        about = {"name": "skills", "version": "1"}
        tools = [{"name": self.what.get("tool", "shelve"), "description": "Shelves.", "inputSchema": {"type": "object"}}]
        listed = [{"uri": u, "name": posixpath.basename(u)} for u in self.files] if self.what.get("lists_files") else []
        simple = {
            "initialize": {"protocolVersion": params.get("protocolVersion"), "capabilities": self.capabilities(), "serverInfo": about},
            "server/discover": {"supportedVersions": ["2026-07-28"], "capabilities": self.capabilities(), "serverInfo": about},
            "tools/list": {"tools": tools},
            "resources/list": {"resources": listed},
            "resources/templates/list": {"resourceTemplates": []},
            "ping": {},
        }
        handlers = {"skills/list": self.on_list, "skills/get": self.on_get, "resources/read": self.on_read}
        if self.what.get("directories"):
            handlers["resources/directory/read"] = self.on_directory
        if method in handlers:
            return handlers[method](params)
        if method not in simple or (method == "server/discover" and self.what.get("era") == "legacy"):
            raise Failure(UNKNOWN, f"Method not found: {method}")
        return simple[method]


def main():
    options = argparse.ArgumentParser()
    options.add_argument("--what", required=True)
    options.add_argument("--log", required=True)
    options = options.parse_args()
    with open(options.what, encoding="utf-8") as file:
        server = Server(json.load(file))
    for line in sys.stdin:
        with open(options.log, "a", encoding="utf-8") as log:
            log.write(line)
        message = json.loads(line)
        if "id" not in message or "method" not in message:
            continue
        try:
            reply = {"result": {"resultType": "complete", "ttlMs": 1000, "cacheScope": "public"} | server.answer(message["method"], message.get("params", {}))}
        except Failure as failure:
            reply = {"error": {"code": failure.args[0], "message": failure.args[1]}}
        print(json.dumps({"jsonrpc": "2.0", "id": message["id"], **reply}), flush=True)


if __name__ == "__main__":
    main()
