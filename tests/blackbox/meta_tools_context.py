# SPDX-License-Identifier: Apache-2.0
"""What the hub's own tools cost a model: bytes of their definitions and answers, and pages that are bounded."""

import json

from mcp import META_TOOLS, HubTest, fixture, main, tool

OFF = {"active": False}
LONG = "Everything there is to know about it, told at length, with examples. " * 100
ORDINARY = {
    "filesystem": "Secure file operations with configurable access controls: read, write, edit, search and move files.",
    "github": "Repository management, file operations, issues, pull requests and search through the GitHub API.",
    "memory": "Knowledge graph-based persistent memory system for facts about users and projects.",
    "sequential-thinking": "Dynamic and reflective problem-solving through sequences of thoughts.",
    "time": "Time and timezone conversion capabilities.",
}


def size(value):
    return len(json.dumps(value, separators=(",", ":"), ensure_ascii=False).encode())


class Cost(HubTest):
    def test_definitions(self):
        for group, most in (("toolsets", 2200), ("saved", 3100), ("search", 2000), ("fanout", 600)):
            with self.subTest(group):
                client = self.modern(manifest={"hub": {"meta_tools": [group]}, "toolsets": {"alpha": fixture("one")}})
                own = [d for d in client.tools() if "__" not in d["name"]]
                self.assertLessEqual(size(own), most)
                self.assertGreater(len(own), 0)

    def test_five_ordinary_servers(self):
        toolsets = {key: fixture(*(f"tool_{n}" for n in range(12)), description=text) for key, text in ORDINARY.items()}
        client = self.modern(toolsets=toolsets)
        result = client.call("list_toolsets").result
        self.assertLessEqual(size(result), 1500)  # with the same once more as text
        for row in result["structuredContent"]["toolsets"]:
            self.assertTrue(row["description"].endswith("…") or row["description"] == ORDINARY[row["key"]])
            self.assertTrue(ORDINARY[row["key"]].startswith(row["description"].rstrip("…")))

    def test_nothing_for_operators(self):
        client = self.modern(toolsets={"alpha": fixture("one")})
        for name, arguments in (("list_toolsets", {}), ("describe_toolset", {"toolset": "alpha"})):
            raw = client.call(name, arguments).raw
            for word in ("latency", "inFlight", "restarts", "calls", "module", "summary"):
                self.assertNotIn(word, raw)

    def test_a_name_is_said_once(self):
        client = self.modern(toolsets={"alpha": fixture("unmistakable")})
        text = client.call("list_tools").result["content"][0]["text"]
        self.assertEqual(text.count("unmistakable"), 1)

    def test_descriptions_are_cut(self):
        client = self.modern(toolsets={"alpha": fixture(tool("one", description=LONG), description=LONG)})
        row = self.meta_call(client, "list_toolsets")["toolsets"][0]
        self.assertLessEqual(len(row["description"].encode()), 56)
        found = self.meta_call(client, "describe_toolset", toolset="alpha")
        self.assertLessEqual(len(found["description"].encode()), 1024)
        self.assertGreater(len(found["description"].encode()), 900)
        self.assertLessEqual(len(found["tools"][0]["description"].encode()), 200)

    def test_a_description_is_one_line_of_what_is_seen(self):
        client = self.modern(toolsets={"alpha": fixture("one", description="Reads\n\n files\u200b,\u202e \U000e0041 \tand more.")})
        row = self.meta_call(client, "list_toolsets")["toolsets"][0]
        self.assertEqual(row["description"], "Reads files, and more.")


class Pages(HubTest):
    def pages(self, client, name, key, **arguments):
        """The entries of all pages."""
        found, cursor = [], {}
        for _ in range(1000):
            page = self.meta_call(client, name, **arguments, **cursor)
            found.append(page[key])
            if "nextCursor" not in page:
                return found
            cursor = {"cursor": page["nextCursor"]}
        raise AssertionError("pages without an end")

    def test_many_toolsets(self):
        client = self.modern(toolsets={f"t{n:03}": fixture("one", description=LONG, **OFF) for n in range(250)})
        pages = self.pages(client, "list_toolsets", "toolsets")
        self.assertEqual([row["key"] for page in pages for row in page], [f"t{n:03}" for n in range(250)])
        self.assertEqual([len(page) for page in pages], [100, 100, 50])
        self.assertEqual(self.meta_call(client, "list_toolsets", limit=1)["totalToolsets"], 250)
        pages = self.pages(client, "list_toolsets", "toolsets", limit=1000)
        self.assertEqual(sum(map(len, pages)), 250)
        self.assertTrue(all(size(page) <= 16 * 1024 + 300 for page in pages))  # and one entry over
        self.assertGreater(len(pages), 1)

    def test_many_tools(self):
        names = [f"tool_{n:04}" for n in range(2000)]
        tools = [tool(name, description=LONG[:300]) for name in names]
        client = self.modern(toolsets={"big": fixture(*tools)})
        exposed = [f"big__{name}" for name in names]
        pages = self.pages(client, "describe_toolset", "tools", toolset="big")
        self.assertEqual([row["name"] for page in pages for row in page], exposed)
        self.assertTrue(all(len(page) <= 50 and size(page) <= 16 * 1024 + 400 for page in pages))
        pages = self.pages(client, "list_tools", "tools")
        self.assertEqual([name for page in pages for name in page], META_TOOLS + exposed)
        self.assertTrue(all(len(page) <= 200 for page in pages))
        pages = self.pages(client, "list_tools", "tools", limit=5000)
        self.assertEqual([name for page in pages for name in page], META_TOOLS + exposed)

    def test_queries(self):
        toolsets = {
            "files": fixture(tool("read", description="Reads a file."), tool("stat"), description="Local FILES.", **OFF),
            "mail": fixture(tool("send", description="Sends a letter."), description="Letters."),
        }
        client = self.modern(toolsets=toolsets)
        client.call("enable_toolset", {"toolsets": ["files"]})
        client.call("disable_toolset", {"toolsets": ["files"]})
        for query, expected in (("files", ["files"]), ("LOCAL file", ["files"]), ("send", ["mail"]), ("letter", ["mail"]),
                                ("local letter", []), ("", ["files", "mail"]), ("stat, local", ["files"])):
            with self.subTest(query):
                found = self.meta_call(client, "list_toolsets", query=query)
                self.assertEqual([row["key"] for row in found["toolsets"]], expected)
                self.assertEqual(found["totalToolsets"], 2)
        found = self.meta_call(client, "describe_toolset", toolset="files", query="reads")
        self.assertEqual([row["name"] for row in found["tools"]], ["files__read"])
        self.assertEqual(self.meta_call(client, "list_tools", query="letter mail")["tools"], ["mail__send"])

    def test_a_query_has_a_budget(self):
        """What is looked through for one page is bounded: the page ends, and the next one goes on."""
        tools = [tool(f"t{n:04}", description="a" * 1000) for n in range(1000)]
        client = self.modern(toolsets={"big": fixture(*tools)})
        pages = self.pages(client, "list_tools", "tools", query=" ".join(f"{'a' * 28}b{n}" for n in range(8)))
        self.assertEqual(sum(map(len, pages)), 0)
        self.assertGreater(len(pages), 2)

    def test_bad_arguments(self):
        client = self.modern(toolsets={"alpha": fixture("one"), "beta": fixture("two")})
        cursor = self.meta_call(client, "list_toolsets", limit=1)["nextCursor"]
        self.assertEqual([r["key"] for r in self.meta_call(client, "list_toolsets", cursor=cursor)["toolsets"]], ["beta"])
        for name, arguments, says in (
            ("list_tools", {"cursor": cursor}, "list again without a cursor"),  # of another list
            ("list_toolsets", {"cursor": cursor[:-1] + "0"}, "list again without a cursor"),
            ("list_toolsets", {"cursor": "x"}, "list again without a cursor"),
            ("list_toolsets", {"query": "x" * 257}, "more than 256 bytes"),
        ):
            with self.subTest(name, arguments=arguments):
                failure = client.call(name, arguments).tool_error
                self.assertEqual(failure["code"], "E_VALIDATION")
                self.assertSays(failure["message"], says)
        self.meta_call(client, "list_toolsets", query="x" * 256)
        for arguments in ({"limit": 0}, {"limit": "5"}, {"query": 7}, {"more": 1}):
            self.assertEqual(client.call("list_toolsets", arguments).tool_error["code"], "TOOL_INVALID_INPUT")
        self.assertEqual(len(self.meta_call(client, "list_toolsets", limit=1.0)["toolsets"]), 1)  # whole, in JSON Schema
        nothing = {"query": None, "limit": None, "cursor": None}  # as some models fill in what they may leave out
        self.assertEqual(len(self.meta_call(client, "list_toolsets", **nothing)["toolsets"]), 2)


if __name__ == "__main__":
    main()
