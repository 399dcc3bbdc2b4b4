# SPDX-License-Identifier: Apache-2.0
"""Skills (io.modelcontextprotocol/skills, SEP-2640) of several servers through the hub: listed together with the toolset in
each URI, found again by that URI, read, and shown to those alone who may see them."""

import hashlib
import json
import sys

from http_client import HttpTest, Server
from mcp import MARKER, SUPPORT, main

EXTENSION = "io.modelcontextprotocol/skills"
PAGES = 64  # of one server's list that the hub asks for
REFUNDS = {"SKILL.md": "---\nname: refunds\n---\n", "examples/email.md": "Dear\n", "examples/deep/a.md": "A\n"}
GIT = {"SKILL.md": "---\nname: git-workflow\n---\n"}


class Skills(HttpTest):
    def server(self, key, skills, **what):
        path = self.home / f"{key}.skills.json"
        path.write_text(json.dumps({"skills": skills, **what}))
        args = [str(SUPPORT / "skills_server.py"), "--what", str(path), "--log", str(self.log(key))]
        return {"command": sys.executable, "args": args, "env": {MARKER: f"${{{MARKER}}}"}}

    def log(self, key):
        path = self.home / f"{key}.skills.log"
        path.touch()
        return path

    def heard(self, key, method):
        return [m for m in map(json.loads, self.log(key).read_text().splitlines()) if m.get("method") == method]

    def manifest(self, **more):
        return {
            "toolsets": {
                "one": self.server("one", {"acme/refunds": REFUNDS, "git-workflow": GIT}, directories=True, page=1),
                "two": self.server("two", {"git-workflow": {"SKILL.md": "Another one.\n"}, "hidden": GIT}, unlisted=["hidden"]),
            },
            **more,
        }

    def clients(self, manifest):
        for make in (self.legacy, self.modern):
            client = make(manifest=manifest)
            client.names()  # the servers have said what they can do
            yield make.__name__, client

    def listed(self, client):
        return {s["uri"]: s for s in client.request("skills/list").result["skills"]}

    def test_gathered_with_the_toolset_in_each_uri(self):
        for era, client in self.clients(self.manifest()):
            with self.subTest(era):
                answer = client.request("skills/list")
                self.assertEqual(
                    [s["uri"] for s in answer.result["skills"]],
                    ["skill://patchbay.one/acme/refunds/SKILL.md", "skill://patchbay.one/git-workflow/SKILL.md", "skill://patchbay.two/git-workflow/SKILL.md"],
                )
                self.assertNotIn("nextCursor", answer.result)
                if era == "modern":
                    self.assertEqual((answer.result["resultType"], answer.result["ttlMs"], answer.result["cacheScope"]), ("complete", 0, "private"))
                skill = answer.result["skills"][0]
                self.assertIn('"version": 1.0', answer.raw)  # the server's bytes
                self.assertEqual(skill["frontmatter"]["name"], "refunds")
                self.assertEqual(
                    [r["uri"] for r in skill["resources"]],
                    ["skill://patchbay.one/acme/refunds/" + name for name in REFUNDS],
                )

    def test_every_file_is_what_its_digest_says(self):
        for era, client in self.clients(self.manifest()):
            with self.subTest(era):
                for uri, skill in self.listed(client).items():
                    got = client.request("skills/get", {"uri": uri}).result
                    self.assertEqual(got["skill"], skill)
                    for file in skill["resources"]:
                        text = client.request("resources/read", {"uri": file["uri"]}).result["contents"][0]["text"]
                        self.assertEqual("sha256:" + hashlib.sha256(text.encode()).hexdigest(), file["digest"])

    def test_what_is_announced(self):
        for era, client in self.clients(self.manifest()):
            with self.subTest(era):
                if era == "modern":
                    can = client.request("server/discover").result["capabilities"]
                    self.assertEqual(can["extensions"][EXTENSION], {"directoryRead": True})
                    self.assertIn("resources", can)
        client = self.modern(toolsets={"two": self.server("two", {"git-workflow": GIT})})
        client.names()
        self.assertEqual(client.request("server/discover").result["capabilities"]["extensions"][EXTENSION], {})
        read = client.request("resources/directory/read", {"uri": "skill://patchbay.two/git-workflow"})
        self.assertEqual(read.code, -32602)
        self.assertSays(read.raw, "its server reads none")
        self.assertEqual(self.heard("two", "resources/directory/read"), [])

    def test_without_skills_there_is_no_such_method(self):
        client = self.modern(toolsets={"up": self.recorder().toolset()})
        client.names()
        for method, params in (("skills/list", {}), ("skills/get", {"uri": "skill://x/SKILL.md"}), ("resources/directory/read", {"uri": "skill://x"})):
            self.assertEqual(client.request(method, params).code, -32601, method)

    def test_directories(self):
        for era, client in self.clients(self.manifest()):
            with self.subTest(era):
                root = "skill://patchbay.one/acme/refunds"
                found = client.request("resources/directory/read", {"uri": root}).result["resources"]
                self.assertEqual({r["uri"]: r["mimeType"] for r in found}, {f"{root}/SKILL.md": "text/markdown", f"{root}/examples": "inode/directory"})
                below = client.request("resources/directory/read", {"uri": f"{root}/examples"}).result["resources"]
                self.assertEqual([r["uri"] for r in below], [f"{root}/examples/email.md", f"{root}/examples/deep"])
                self.assertEqual(client.request("resources/directory/read", {"uri": f"{root}/SKILL.md"}).code, -32602)

    def test_uris_as_the_server_writes_them(self):
        """One toolset alone has skills: its instructions may name them."""
        client = self.modern(toolsets={"one": self.server("one", {"acme/refunds": REFUNDS}, directories=True)})
        client.names()
        uri = "skill://acme/refunds/SKILL.md"
        self.assertEqual(client.request("skills/get", {"uri": uri}).result["skill"]["uri"], uri)
        self.assertEqual(client.request("resources/read", {"uri": uri}).result["contents"][0]["text"], REFUNDS["SKILL.md"])
        both = self.modern(manifest=self.manifest())
        both.names()
        for method in ("skills/get", "resources/read"):
            answer = both.request(method, {"uri": uri})
            self.assertEqual(answer.code, -32602, answer.raw)
        self.assertSays(both.request("skills/get", {"uri": uri}).raw, "skills/list")

    def test_those_that_no_list_names(self):
        client = self.modern(manifest=self.manifest())
        client.names()
        uri = "skill://patchbay.two/hidden/SKILL.md"
        self.assertNotIn(uri, self.listed(client))
        self.assertEqual(client.request("skills/get", {"uri": uri}).result["skill"]["uri"], uri)
        self.assertEqual(client.request("resources/read", {"uri": uri}).result["contents"][0]["text"], GIT["SKILL.md"])
        for wrong in ("skill://patchbay.two/nothing/SKILL.md", "skill://patchbay.nobody/hidden/SKILL.md"):
            self.assertEqual(client.request("skills/get", {"uri": wrong}).code, -32602)
            self.assertEqual(client.request("resources/read", {"uri": wrong}).code, -32602)
        for wrong in (None, 3, "", "x" * 5000, {}):
            self.assertEqual(client.request("skills/get", {"uri": wrong}).code, -32602)

    def test_other_schemes_and_generated_skills(self):
        toolsets = {
            "hub": self.server("hub", {"owner/repo/skills/refunds": REFUNDS}, scheme="github", directories=True),
            "gen": self.server("gen", {"daily": GIT}, dynamic=["daily"]),
        }
        client = self.modern(toolsets=toolsets)
        client.names()
        listed = self.listed(client)
        uri = "patchbay:hub/github://owner/repo/skills/refunds/SKILL.md"
        self.assertEqual(list(listed), ["skill://patchbay.gen/daily/SKILL.md", uri])
        self.assertEqual(listed["skill://patchbay.gen/daily/SKILL.md"]["resources"], "dynamic")
        self.assertEqual(client.request("skills/get", {"uri": uri}).result["skill"], listed[uri])
        for file in listed[uri]["resources"]:
            self.assertIn("text", client.request("resources/read", {"uri": file["uri"]}).result["contents"][0])

    def test_a_server_that_fails_hides_no_other(self):
        for broken in (True, "error", "forever"):
            with self.subTest(broken):
                toolsets = {"bad": self.server("bad", {"git-workflow": GIT}, broken=broken), "good": self.server("good", {"git-workflow": GIT})}
                client = self.modern(toolsets=toolsets)
                client.names()
                self.log("bad").write_text("")
                self.assertIn("skill://patchbay.good/git-workflow/SKILL.md", self.listed(client))
                self.assertEqual(len(self.heard("bad", "skills/list")), PAGES if broken == "forever" else 1)
                client.hub.wait_log("skills.list.partial toolset=bad")
                alone = self.modern(toolsets={"bad": toolsets["bad"]})
                alone.names()
                answer = alone.request("skills/list")
                self.assertEqual("result" in answer.data, broken == "forever", answer.raw)

    def test_each_list_takes_a_place_when_there_is_one(self):
        toolsets = {f"s{i:02}": self.server(f"s{i:02}", {"a": GIT, "b": GIT}, page=1) for i in range(5)}
        client = self.modern(manifest={"toolsets": toolsets, "limits": {"calls_per_principal": 2}})  # one with the call that asks
        client.names()
        self.assertEqual(len(self.listed(client)), 10)

    def test_files_that_are_listed_as_resources(self):
        """Two servers list the same URI: as resources they have the URIs that the entries have, or their own."""
        toolsets = {key: self.server(key, {"git-workflow": {"SKILL.md": f"Of {key}\n"}}, lists_files=True) for key in ("one", "two")}
        client = self.modern(toolsets=toolsets)
        client.names()
        uris = [r["uri"] for r in client.request("resources/list").result["resources"]]
        self.assertEqual(sorted(uris), ["skill://git-workflow/SKILL.md", "skill://patchbay.two/git-workflow/SKILL.md"])
        for uri, key in (("skill://git-workflow/SKILL.md", "one"), ("skill://patchbay.one/git-workflow/SKILL.md", "one"), (uris[-1], "two")):
            self.assertEqual(client.request("resources/read", {"uri": uri}).result["contents"][0]["text"], f"Of {key}\n")
            self.assertEqual(client.request("skills/get", {"uri": uri}).result["skill"]["uri"], uri)

    def test_no_cursor_is_good(self):
        client = self.modern(manifest=self.manifest())
        client.names()
        for cursor in ("x", 3, {}):
            self.assertEqual(client.request("skills/list", {"cursor": cursor}).code, -32602)

    def test_entries_that_nobody_could_ask_for_are_left_out(self):
        """A URI has at most 2048 bytes, with the toolset in it."""
        most = 2048 - len("skill://patchbay.odd//SKILL.md")
        for more in (0, 1):
            with self.subTest(more):
                client = self.modern(toolsets={"odd": self.server("odd", {"git-workflow": GIT}, broken="odd", fill="x" * (most + more))})
                client.names()
                self.assertEqual(list(self.listed(client))[1 - more :], ["skill://patchbay.odd/git-workflow/SKILL.md"])

    def test_a_server_that_lists_too_much_costs_no_other(self):
        """Of one entry with 180,000 files, there are 4 MB from the server, and 9 MB with the toolset in each URI."""
        huge = {f"h{n}": self.server(f"h{n}", {"a": GIT}, broken="huge", fill=180000) for n in range(4)}
        client = self.modern(toolsets={**huge, "good": self.server("good", {"a": GIT, "b": GIT}, page=1)})
        client.names()
        self.assertEqual(list(self.listed(client)), ["skill://patchbay.good/a/SKILL.md", "skill://patchbay.good/b/SKILL.md"])
        client.hub.wait_log("skills.list.partial toolset=h3")

    def test_hidden_toolsets_and_rules(self):
        manifest = self.manifest(access={"rules": [{"tools": {"match": ["one:skill://acme/*", "two:*"]}, "then": "deny"}]})
        for era, client in self.clients(manifest):
            with self.subTest(era):
                self.assertEqual(list(self.listed(client)), ["skill://patchbay.one/git-workflow/SKILL.md"])
                for uri in ("skill://patchbay.one/acme/refunds/SKILL.md", "skill://patchbay.two/git-workflow/SKILL.md"):
                    for method in ("skills/get", "resources/read"):
                        self.assertIn(client.request(method, {"uri": uri}).code, (-32602, -32002), method)
        self.assertEqual(self.heard("two", "skills/list"), [])
        inactive = self.modern(manifest=self.manifest(hub={"startup": "dynamic"}))
        inactive.call("enable_toolset", {"toolset": "two"})
        inactive.names()
        self.assertEqual(list(self.listed(inactive)), ["skill://patchbay.two/git-workflow/SKILL.md"])
        self.assertEqual(inactive.request("skills/get", {"uri": "skill://patchbay.one/git-workflow/SKILL.md"}).code, -32602)

    def test_a_server_hears_of_the_extension_from_clients_that_have_it(self):
        manifest = self.manifest()
        said = {"extensions": {EXTENSION: {}}, "sampling": {}}
        for capabilities in ({}, said):
            client = self.modern(manifest=manifest, capabilities=capabilities)
            client.names()
            self.log("one").write_text("")
            self.listed(client)
            client.request("skills/get", {"uri": "skill://patchbay.one/git-workflow/SKILL.md"})
            for method in ("skills/list", "skills/get"):
                for message in self.heard("one", method):
                    told = message["params"]["_meta"]["io.modelcontextprotocol/clientCapabilities"]
                    self.assertEqual(told.get("extensions"), capabilities.get("extensions"))
                    self.assertTrue(method != "skills/list" or "sampling" not in told)

    def test_a_client_that_gives_up(self):
        recorder = self.recorder()
        can = {"tools": {}, "resources": {}, "extensions": {EXTENSION: {}}}
        toolsets = {"slow": recorder.toolset("--capabilities", json.dumps(can), "--silent", "skills/list")}
        client = self.legacy(toolsets=toolsets)
        client.names()
        sent = client.send("skills/list", {})
        recorder.wait_line(lambda m: m.get("method") == "skills/list")
        client.cancel(sent)
        recorder.wait_line(lambda m: m.get("method") == "notifications/cancelled")
        self.assertIn("result", client.request("tools/list").data)

    def test_over_http_without_a_session(self):
        server = Server(self, self.daemon(manifest=self.manifest(listen=[{"http": "127.0.0.1:0"}])))
        self.assertEqual(len(server.modern("skills/list").answer.result["skills"]), 3)


if __name__ == "__main__":
    main()
