# SPDX-License-Identifier: Apache-2.0
"""MCP Apps (io.modelcontextprotocol/ui) through the hub: views of the same URI, tools for apps alone, what is declared to servers."""

import json

from mcp import HubTest, main

UI = "io.modelcontextprotocol/ui"
VIEW = "ui://chart/view.html"
TYPE = "text/html;profile=mcp-app"
DECLARED = {"extensions": {UI: {"mimeTypes": [TYPE]}}}
CSP = {"ui": {"csp": {"connectDomains": ["https://a.example"]}, "prefersBorder": True}}


def tool(name, **meta):
    return {"name": name, "description": f"Shows {name}", "inputSchema": {"type": "object"}, "_meta": meta}


TOOLS = [
    tool("show", ui={"resourceUri": VIEW, "visibility": ["model", "app"]}),
    tool("old", **{"ui/resourceUri": VIEW}),
    tool("refresh", ui={"resourceUri": VIEW, "visibility": ["app"]}),
    tool("plain", ui={"resourceUri": VIEW}),
    tool("odd", ui={"resourceUri": VIEW, "visibility": []}),
]
OWN = ("odd", "old", "plain", "refresh", "show")


class Apps(HubTest):
    def start(self, era="legacy", **options):
        self.servers = {key: self.recorder() for key in ("one", "two")}
        tools, lists = self.home / "tools.json", self.home / "lists.json"
        tools.write_text(json.dumps(TOOLS))
        lists.write_text(json.dumps({"resources": json.dumps([{"uri": VIEW, "name": "view", "mimeType": TYPE, "_meta": CSP}])}))
        flags = ["--era", era, "--tools", tools, "--lists", lists, "--content", "--silent", "resources/read", "--silent", "tools/call"]
        return {"toolsets": {key: r.toolset(*flags) for key, r in self.servers.items()}, **options}

    def names(self, client):
        return sorted(n for n in client.names() if "__" in n)

    def test_tools_for_apps_alone(self):
        for make in (self.legacy, self.modern):
            manifest = self.start(hub={"meta_tools": ["toolsets", "search", "saved"]})
            shown = make(manifest=manifest, capabilities=DECLARED)
            self.assertEqual(self.names(shown), sorted(f"{key}__{name}" for key in ("one", "two") for name in OWN))
            plain = make(manifest=manifest)
            self.assertEqual(self.names(plain), sorted(f"{key}__{name}" for key in ("one", "two") for name in OWN if name != "refresh"))
            for client in (shown, plain):  # what models read has them never
                for name, arguments in (("list_tools", {}), ("search_tools", {"query": "refresh", "limit": 50}), ("describe_toolset", {"toolset": "one"}), ("discover-all-tools", {})):
                    self.assertNotIn("one__refresh", client.call(name, arguments).raw, name)
                    self.assertNotIn("one:refresh", client.call(name, arguments).raw, name)
                self.assertIn("error", client.call("describe_tools", {"names": ["one__refresh"]}).result["structuredContent"]["tools"][0])

    def test_an_app_calls_its_tool(self):
        client = self.modern(manifest=self.start(), capabilities=DECLARED)
        client.names()
        sent = client.send_call("two__refresh")
        line = json.loads(self.servers["two"].wait_calls(1)[0])
        self.assertEqual(line["params"]["name"], "refresh")
        self.servers["two"].answer(json.dumps(line), '"content":[]')
        self.assertEqual(client.hub.response(sent).result["content"], [])

    def test_two_views_of_one_uri(self):
        client = self.modern(manifest=self.start(), capabilities=DECLARED)
        tools = {t["name"]: t for t in client.tools()}
        listed = [r for r in client.request("resources/list").result["resources"]]
        self.assertEqual(len({r["uri"] for r in listed}), 2)
        uris = {}
        for key in ("one", "two"):
            uri = tools[f"{key}__show"]["_meta"]["ui"]["resourceUri"]
            self.assertTrue(uri.startswith("ui://"), uri)
            self.assertEqual(tools[f"{key}__old"]["_meta"]["ui/resourceUri"], uri)
            self.assertEqual(tools[f"{key}__show"]["_meta"]["ui"]["visibility"], ["model", "app"])
            resource = next(r for r in listed if r["uri"] == uri)
            self.assertEqual((resource["mimeType"], resource["_meta"]), (TYPE, CSP))
            uris[key] = uri
        for key, uri in uris.items():
            sent = client.send("resources/read", {"uri": uri})
            line = self.servers[key].wait_line(lambda m: m.get("method") == "resources/read")
            self.assertEqual(json.loads(line)["params"]["uri"], VIEW)
            contents = '[{"uri":"%s","mimeType":"%s","text":"<p>%s\\u003c","_meta":%s}]' % (VIEW, TYPE, key, json.dumps(CSP))
            self.servers[key].write('{"jsonrpc":"2.0","id":%s,"result":{"contents":%s}}' % (json.dumps(json.loads(line)["id"]), contents))
            answer = client.hub.response(sent)
            self.assertIn('"text":"<p>%s\\u003c"' % key, answer.raw)
            self.assertIn(json.dumps(CSP), answer.raw)
            self.assertEqual(answer.result["contents"][0]["mimeType"], TYPE)

    def test_what_servers_hear(self):
        manifest = self.start(era="modern")
        client = self.modern(manifest=manifest)
        client.names()
        client.send_call("one__show")
        line = self.servers["one"].wait_calls(1)[0]
        self.assertNotIn(UI, line)
        for line in self.servers["one"].lines():
            self.assertNotIn(UI, line)
        able = self.modern(manifest=manifest, capabilities=DECLARED)
        able.names()
        able.send_call("one__show")
        line = self.servers["one"].wait_calls(2)[1]
        said = json.loads(line)["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
        self.assertEqual(said["extensions"], DECLARED["extensions"])

    def test_a_server_of_a_legacy_revision_never_hears_of_it(self):
        """It is told once, at the handshake, whoever causes it to start; and then calls say nothing of clients."""
        for make in (self.legacy, self.modern):
            for declared in (DECLARED, {}):
                with self.subTest(f"{make.__name__} {declared}"):
                    client = make(manifest=self.start(era="legacy"), capabilities=declared)
                    client.names()
                    client.send_call("one__show")
                    self.servers["one"].wait_calls(1)
                    for line in self.servers["one"].lines():
                        self.assertNotIn(UI, line)


if __name__ == "__main__":
    main()
