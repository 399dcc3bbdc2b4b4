# SPDX-License-Identifier: Apache-2.0
"""Results that are larger than they may be: kept and read on (spill), cut (truncate), refused (error).

spec: MCP 2025-06-18 server/tools, Resource Links; 2026-07-28 server/resources, Reading Resources
"""

import json
import re
import sys

from http_client import HttpTest
from mcp import MARKER, SUPPORT, fixture, main, tool

MOST = 2048
URI = "patchbay://results/"
SCHEMA = {"type": "object", "properties": {"arguments": {"type": "object"}}}


def spilling(over="spill", most=MOST, **keys):
    return fixture(tool("one", outputSchema=SCHEMA), results={"max_bytes": most, "over": over}, **keys)


def text_of(count):
    return {"text": "é" * count}


def kept_id(result):
    return re.search(r"\b[0-9a-f]{32}\b", result["content"][-2]["text"]).group()


class Results(HttpTest):
    def clients(self, **options):
        yield self.legacy(**options)
        yield self.modern(**options)

    def read(self, client, **arguments):
        return client.call("read_result", arguments).result

    def test_the_whole_is_read_on_in_both_eras(self):
        for client in self.clients(toolsets={"alpha": spilling()}):
            answer = client.call("alpha__one", text_of(5000))
            self.assertLessEqual(len(answer.slice("result").encode()), MOST + 64)  # and what the hub adds
            result = answer.result
            note, link = result["content"][-2:]
            self.assertIn("read_result, id " + kept_id(result), note["text"])
            self.assertEqual(link["type"], "resource_link")
            self.assertEqual(link["uri"], URI + kept_id(result))
            self.assertNotIn("structuredContent", result)

            whole, offset = b"", 0
            while offset is not None:
                page = self.read(client, id=kept_id(result), offset=offset, limit=3001)
                about = page["_meta"]["patchbay/result"]
                piece = page["content"][0]["text"].encode()
                self.assertEqual((about["offset"], about["bytes"]), (offset, len(piece)))
                whole, offset = whole + piece, about.get("next")
            self.assertEqual(len(whole), about["total"])
            self.assertEqual(json.loads(whole)["structuredContent"]["arguments"], text_of(5000))

            contents = client.request("resources/read", {"uri": link["uri"]}).result["contents"]
            self.assertEqual(contents[0]["mimeType"], link["mimeType"])
            self.assertEqual(contents[0]["text"].encode(), whole)

    def test_edges_of_reading(self):
        client = self.modern(toolsets={"alpha": spilling()})
        arguments = {"items": [1.10, "é", {"a/b": "x" * 20000}]}
        id = kept_id(client.call("alpha__one", arguments).result)
        at = "/structuredContent/arguments/items"
        for path, text in (("/1", "é"), ("/0", "1.1"), ("/2/a~1b", "x" * 16384)):  # a page, unless it is said
            self.assertEqual(self.read(client, id=id, path=at + path)["content"][0]["text"], text)
        page = self.read(client, id=id, path=at + "/1", limit=1)  # a character at least
        self.assertEqual(page["content"][0]["text"], "é")
        page = self.read(client, id=id, path=at + "/1", offset=1)  # and no part of one
        self.assertEqual(page["_meta"]["patchbay/result"]["offset"], 0)
        page = self.read(client, id=id, path=at + "/1", offset=2.0)  # as some models write whole numbers
        self.assertEqual(page["content"][0]["text"], "")
        for wrong in ({"offset": 3}, {"path": at + "/3"}, {"path": "x"}, {"limit": 0}, {"limit": 262145}, {"offset": -1}):
            answer = client.call("read_result", {"id": id, "path": at + "/1", **wrong})
            self.assertTrue(answer.result["isError"], wrong)
        self.assertEqual(self.read(client, id=id, path=at + "/1", limit=262144)["content"][0]["text"], "é")

    def test_as_many_bytes_as_may_be_pass_and_one_more_does_not(self):
        client = self.legacy(toolsets={"alpha": spilling(), "beta": fixture("one")})
        fill = MOST - len(client.call("beta__one", {"text": ""}).slice("result").encode())
        exact = client.call("alpha__one", {"text": "x" * fill})
        self.assertEqual(len(exact.slice("result").encode()), MOST)
        self.assertEqual(exact.result["structuredContent"]["arguments"]["text"], "x" * fill)
        more = client.call("alpha__one", {"text": "x" * (fill + 1)})
        self.assertIn(URI + kept_id(more.result), more.raw)

    def test_truncate_and_error(self):
        override = {"one": {"results": {"over": "error"}}}
        for client in self.clients(
            toolsets={"alpha": spilling("truncate"), "beta": spilling("truncate", tools={"overrides": override})}
        ):
            self.assertNotIn("read_result", client.names())
            cut = client.call("alpha__one", text_of(5000)).result
            self.assertIn("results.max_bytes", cut["content"][-1]["text"])
            refused = client.call("beta__one", text_of(5000)).result
            self.assertTrue(refused["isError"])
            self.assertIn(f"at most {MOST} are passed on (results.max_bytes)", refused["content"][0]["text"])

    def test_a_tool_whose_results_may_be_cut_is_listed_without_its_schema(self):
        toolsets = {
            "alpha": spilling(),
            "beta": spilling(tools={"overrides": {"one": {"results": {"max_bytes": 0}}}}),
            "gamma": fixture(
                tool("one", outputSchema=SCHEMA), tools={"overrides": {"*": {"results": {"max_bytes": "1KiB"}}}}
            ),
        }
        for client in self.clients(toolsets=toolsets):
            listed = {t["name"]: t for t in client.tools()}
            self.assertNotIn("outputSchema", listed["alpha__one"])
            self.assertEqual(listed["beta__one"]["outputSchema"], SCHEMA)
            self.assertNotIn("outputSchema", listed["gamma__one"])
            small = client.call("alpha__one", {"a": 1}).result  # what fits is as it was
            self.assertEqual(small["structuredContent"]["arguments"], {"a": 1})
            self.assertIn("structuredContent", client.call("beta__one", text_of(5000)).result)
            self.assertIn("read_result", listed)
            self.assertIn(URI, client.call("gamma__one", text_of(5000)).raw)

    def test_revisions_without_links_and_hubs_without_tools_of_their_own(self):
        old = self.legacy(toolsets={"alpha": spilling()}, revision="2025-03-26")
        result = old.call("alpha__one", text_of(5000)).result
        self.assertNotIn("resource_link", [item["type"] for item in result["content"]])
        self.assertIn("read_result, id ", result["content"][-1]["text"])
        bare = self.modern(toolsets={"alpha": spilling()}, manifest={"hub": {"meta_tools": False}})
        self.assertEqual(bare.names(), ["alpha__one"])
        result = bare.call("alpha__one", text_of(5000)).result
        uri = result["content"][-1]["uri"]
        self.assertIn("resources/read, " + uri, result["content"][-2]["text"])
        self.assertEqual(bare.request("resources/read", {"uri": uri}).result["contents"][0]["uri"], uri)

    def test_memory_is_bounded_and_the_oldest_goes_first(self):
        manifest = {"hub": {"results": {"max_bytes": "1KiB", "memory": "16KiB"}}}
        client = self.modern(toolsets={"alpha": fixture("one")}, manifest=manifest)
        ids = [kept_id(client.call("alpha__one", {"text": "x" * 6000}).result) for _ in range(3)]
        self.assertTrue(self.read(client, id=ids[0])["isError"])
        for id in ids[1:]:
            self.assertNotIn("isError", self.read(client, id=id))
        large = client.call("alpha__one", {"text": "x" * 20000}).result
        self.assertIn("There was no memory to keep the whole in", large["content"][-1]["text"])
        self.assertNotIn("isError", self.read(client, id=ids[2]))

    def test_one_address_leaves_room_to_others(self):
        """Without tokens all are one principal: each address has its own share of what is kept."""
        server = self.http(toolsets={"alpha": fixture("one")}, manifest={"hub": {"results": {"max_bytes": "1KiB", "memory": "16KiB"}}})
        here = server.connection

        def keep(source):
            server.connection = lambda **options: here(source=source, **options)
            return kept_id(server.call("alpha__one", {"text": "x" * 6000}).answer.result)

        first = keep("127.0.0.2")
        others = [keep("127.0.0.3") for _ in range(3)]
        for id, is_gone in ((first, False), (others[0], True), (others[1], True), (others[2], False)):
            self.assertEqual(server.call("read_result", {"id": id}).answer.result.get("isError", False), is_gone)

    def bearer(self, name):
        done = self.cli("token", "new", name, "--tokens", self.home / "tokens.json", modules=False)
        return {"Authorization": f"Bearer {done.stdout.strip()}"}

    def test_nobody_else_reads_it_and_ids_cannot_be_guessed(self):
        ann, bob = self.bearer("ann"), self.bearer("bob")
        server = self.http("--tokens", self.home / "tokens.json", toolsets={"alpha": spilling()})

        def call(name, arguments, headers):
            return server.modern("tools/call", {"name": name, "arguments": arguments}, headers=headers).answer

        def content(uri, headers):
            return server.modern("resources/read", {"uri": uri}, headers=headers).answer

        id = kept_id(call("alpha__one", text_of(5000), ann).result)
        self.assertNotIn("isError", call("read_result", {"id": id}, ann).result)
        made_up = "0" * 32
        answers = []
        for wanted in (id, made_up):
            refused = call("read_result", {"id": wanted}, bob)
            self.assertTrue(refused.result["isError"])
            unknown = content(URI + wanted, bob)
            answers.append((refused.raw.replace(wanted, "ID"), unknown.raw.replace(wanted, "ID")))
        strip = re.compile(r'"id":[^,]*,?')
        self.assertEqual(*[[strip.sub("", text) for text in pair] for pair in answers])
        self.assertEqual(content(URI + id, ann).result["contents"][0]["uri"], URI + id)

    def test_what_may_not_be_seen_any_more_cannot_be_read(self):
        toolsets = {"alpha": spilling(), "beta": fixture("one")}
        client = self.legacy(toolsets=toolsets)
        id = kept_id(client.call("alpha__one", text_of(5000)).result)
        self.assertNotIn("isError", self.read(client, id=id))
        manifest = json.loads((self.home / "patchbay.json").read_text())
        manifest["access"] = {"rules": [{"tools": {"match": ["alpha:one"]}, "then": "deny"}]}
        self.replace_manifest(client.hub, manifest)
        denied = self.read(client, id=id)
        self.assertTrue(denied["isError"])
        self.assertEqual(denied["content"], self.read(client, id="0" * 32)["content"])

    def test_it_is_of_one_profile(self):
        manifest = {"profiles": {"other": {}}}
        server = self.http(toolsets={"alpha": spilling()}, manifest=manifest)

        def call(name, arguments, path):
            return server.modern("tools/call", {"name": name, "arguments": arguments}, path=path).answer

        id = kept_id(call("alpha__one", text_of(5000), "/mcp").result)
        self.assertNotIn("isError", call("read_result", {"id": id}, "/mcp").result)
        other = call("read_result", {"id": id}, "/mcp/other").result
        self.assertTrue(other["isError"])
        self.assertEqual(other["content"], call("read_result", {"id": "0" * 32}, "/mcp").result["content"])
        self.assertEqual(server.modern("resources/read", {"uri": URI + id}, path="/mcp/other").answer.code, -32602)

    def reload(self, client, **changes):
        manifest = json.loads((self.home / "patchbay.json").read_text())
        manifest["toolsets"]["alpha"].update(changes)
        self.replace_manifest(client.hub, manifest)

    def test_a_reload_changes_what_is_too_large(self):
        client = self.legacy(toolsets={"alpha": fixture(tool("one", outputSchema=SCHEMA))})
        self.assertIn("outputSchema", next(t for t in client.tools() if t["name"] == "alpha__one"))
        self.assertIn("structuredContent", client.call("alpha__one", text_of(5000)).result)
        self.reload(client, results={"max_bytes": MOST, "over": "spill"})
        id = kept_id(client.call("alpha__one", text_of(5000)).result)
        listed = {t["name"]: t for t in client.tools()}
        self.assertNotIn("outputSchema", listed["alpha__one"])
        self.assertIn("read_result", listed)
        self.reload(client, results={"max_bytes": MOST, "over": "error"})
        self.assertTrue(client.call("alpha__one", text_of(5000)).result["isError"])
        self.reload(client, results={"max_bytes": 0})
        self.assertIn("structuredContent", client.call("alpha__one", text_of(5000)).result)
        self.assertIn("outputSchema", next(t for t in client.tools() if t["name"] == "alpha__one"))
        self.assertNotEqual(id, "")

    def test_reading_a_kept_one_is_recorded(self):
        client = self.modern(toolsets={"alpha": spilling()}, manifest={"log": {"audit": "audit.jsonl"}})
        id = kept_id(client.call("alpha__one", text_of(5000)).result)
        self.read(client, id=id)
        client.request("resources/read", {"uri": URI + id}).result
        self.assertEqual(client.request("resources/read", {"uri": URI + "0" * 32}).code, -32602)
        audit = self.home / "audit.jsonl"
        client.hub.wait_until(lambda: audit.exists() and URI + "0" * 32 in audit.read_text(), "the last record")
        records = [json.loads(line) for line in audit.read_text().splitlines()]
        reading = next(r for r in records if r["method"] == "resources/read")
        self.assertEqual((reading["outcome"], reading["toolset"], reading["name"]), ("ok", "alpha", URI + id))
        self.assertNotIn("é" * 50, audit.read_text())

    def test_results_of_tasks_go_by_their_toolset(self):
        server = {
            "command": sys.executable,
            "args": [str(SUPPORT / "task_upstream.py"), "--era", "legacy"],
            "env": {MARKER: f"${{{MARKER}}}"},
            "results": {"max_bytes": MOST},
        }
        client = self.legacy(toolsets={"up": server})
        client.names()
        made = client.request("tools/call", {"name": "up__slow", "arguments": {}, "task": {"ttl": 60000}}).result
        text = "é" * 5000
        result = {"content": [{"type": "text", "text": text}], "isError": True}
        client.call("up__drive", {"task": 1, "status": "completed", "result": result}).result
        cut = client.request("tasks/result", {"taskId": made["task"]["taskId"]}).result
        self.assertTrue(cut["isError"])
        page = self.read(client, id=kept_id(cut), limit=262144)
        self.assertEqual(page["content"][0]["text"], text)


if __name__ == "__main__":
    main()
