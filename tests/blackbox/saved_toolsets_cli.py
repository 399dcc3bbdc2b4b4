# SPDX-License-Identifier: Apache-2.0
"""Saved toolsets on the command line: `patchbay toolset` works on the store, and a running hub follows it (S3.10, S3.17, S3.18)."""

import json

from mcp import HubTest, LegacyClient, fixture, main, tool

TOOLSETS = {
    "git": fixture("status", "commit", "log"),
    "docker": fixture("ps", "rm", active=False),
}
MANIFEST = {
    "hub": {"name": "test", "meta_tools": ["saved"]},
    "toolsets": TOOLSETS,
    "saved_toolsets": {"team": {"description": "Of the team", "tools": ["git:log"]}},
}


class Toolset(HubTest):
    def run_it(self, *words, manifest=MANIFEST, **options):
        return self.cli("toolset", *words, manifest=manifest, **options)

    def good(self, *words, **options):
        done = self.run_it(*words, **options)
        self.assertEqual(done.returncode, 0, done.stderr)
        return done.stdout.strip()

    def bad(self, *words, **options):
        done = self.run_it(*words, **options)
        self.assertIn(done.returncode, (2, 3), done.stdout)
        return done.stderr.strip()

    def shown(self, name, *words):
        return json.loads(self.good("show", name, "--json", *words))

    def ids(self, name, *words):
        return [t["id"] for t in self.shown(name, *words)["tools"]]

    def test_build_list_show(self):
        self.assertEqual(self.good("list"), "team  1 tool, manifest: Of the team")
        said = self.good("build", "dev", "git:status", "docker:*", "--description", "For me")
        self.assertEqual(said, "saved: `patchbay toolset equip` shows its tools")  # here there are commands, and no tools to call
        self.assertIn("`patchbay toolset list` names them all", self.bad("equip", "nobody"))
        self.assertIn("`patchbay toolset list` names them all", self.bad("show", "nobody"))
        self.assertIn("`patchbay list tools` shows", self.bad("build", "other", "git:nothing"))
        lines = self.good("list").splitlines()
        self.assertEqual(lines[0], "dev  3 tools, own: For me")
        self.assertEqual([t["name"] for t in json.loads(self.good("list", "--json"))], ["dev", "team"])
        self.assertEqual(sorted(self.ids("dev")), ["docker:ps", "docker:rm", "git:status"])
        self.good("equip", "dev")
        self.assertEqual(self.good("list").splitlines(), ["dev  3 tools, own, equipped: For me", lines[1]])
        self.assertEqual([t.get("equipped") for t in json.loads(self.good("list", "--json"))], [True, None])
        self.assertNotIn("equipped", self.good("list", "--owner", "token:ann"))
        self.good("unequip")
        self.assertEqual(self.good("list").splitlines(), lines)
        self.assertTrue(all(len(t["digest"]) == 64 for t in self.shown("dev")["tools"]))
        self.assertIn("  git:status", self.good("show", "dev"))
        self.assertIn("say --replace", self.bad("build", "dev", "git:log"))
        self.good("build", "dev", "git:log", "--replace")
        self.assertEqual((self.shown("dev")["version"], self.ids("dev")), (2, ["git:log"]))

    def test_edit(self):
        self.good("build", "dev", "git:status", "git:commit")
        before = {t["id"]: t["digest"] for t in self.shown("dev")["tools"]}
        self.assertEqual(self.good("edit", "dev", "add", "docker:ps"), "saved: `patchbay toolset equip` shows its tools")
        self.assertNotIn("do not answer", self.bad("edit", "dev", "add", "docker:nothing"))
        after = {t["id"]: t["digest"] for t in self.shown("dev")["tools"]}
        self.assertEqual(set(after), {*before, "docker:ps"})
        self.good("edit", "dev", "remove", "git:*")
        self.assertEqual((self.ids("dev"), self.shown("dev")["version"]), (["docker:ps"], 3))
        self.assertIn("nothing would be left", self.bad("edit", "dev", "remove", "docker:ps"))
        self.assertIn("has none of these", self.bad("edit", "dev", "remove", "x:y"))
        self.assertIn("manifest", self.bad("edit", "team", "add", "git:status"))
        self.assertIn("say what to change", self.bad("edit", "dev", "shuffle"))

    def test_what_servers_have_changed(self):  # S3.90
        self.good("build", "dev", "git:status", "docker:ps")
        self.assertEqual(self.good("diff", "dev"), "")
        changed = {**MANIFEST, "toolsets": {"git": fixture(tool("status", description="Another"))}}
        self.assertEqual(self.good("diff", "dev", manifest=changed).splitlines(),
                         ["- docker:ps", "~ git:status (another definition)"])
        self.good("edit", "dev", "remove", "docker:ps", manifest=changed)
        self.good("edit", "dev", "accept", manifest=changed)
        self.assertEqual(self.good("diff", "dev", manifest=changed), "")

    def test_export_import(self):
        self.good("build", "one", "git:status")
        self.good("build", "two", "git:log", "docker:ps", "--description", "The second")
        everything = self.good("export")
        self.assertEqual([t["name"] for t in json.loads(everything)["toolsets"]], ["one", "two"])
        self.good("delete", "two")
        self.assertIn("there is no saved toolset", self.bad("show", "two"))
        self.assertIn("it is there already", self.bad("import", "-", stdin=everything))  # of one; the other is back
        self.assertEqual(self.ids("two"), ["docker:ps", "git:log"] if self.ids("two")[0] == "docker:ps" else ["git:log", "docker:ps"])
        self.good("import", "-", "--replace", stdin=everything)
        path = self.home / "hyper.json"
        path.write_text(json.dumps({"name": "hyper", "version": "1.0.0", "tools": [{"namespacedName": "git.log"}]}))
        self.assertEqual(self.good("import", path), "hyper")
        self.assertEqual(self.ids("hyper"), ["git:log"])
        self.assertEqual(self.good("diff", "two", "hyper"), "- docker:ps")
        self.assertEqual(self.good("diff", "hyper", "two"), "+ docker:ps")
        self.assertEqual(self.good("diff", "two", path), "- docker:ps")
        path.write_text(everything)  # as `export` has written it: the one of this name
        self.assertEqual(self.good("diff", "two", path), "")
        self.assertIn('there is no saved toolset "hyper" in it', self.bad("diff", "hyper", path))

    def test_whose(self):
        self.good("build", "mine", "git:log", "--owner", "token:ann")
        self.assertIn("there is no saved toolset", self.bad("show", "mine"))
        self.assertEqual(self.ids("mine", "--owner", "token:ann"), ["git:log"])
        self.good("build", "ours", "git:log", "--share")
        self.assertEqual(self.ids("ours", "--owner", "token:bob"), ["git:log"])

    def test_a_running_hub_follows(self):  # S3.15
        client = LegacyClient(self.hub(manifest=MANIFEST))
        self.good("build", "dev", "git:status", "docker:ps")
        own = lambda: [n for n in client.names() if "__" in n]
        since = client.hub.mark
        self.meta_call_by_name(client, "dev")
        client.wait_list_changed(since)
        self.assertEqual(own(), ["docker__ps", "git__status"])
        since = client.hub.mark
        self.good("edit", "dev", "remove", "docker:ps")
        client.wait_list_changed(since)
        self.assertEqual(own(), ["git__status"])
        since = client.hub.mark
        self.good("delete", "dev")
        client.wait_list_changed(since)
        self.assertEqual(own(), ["git__commit", "git__log", "git__status"])

    def meta_call_by_name(self, client, name):
        return client.call("equip-toolset", {"name": name}).result["structuredContent"]

    def test_equipped_for_the_next_start(self):  # S3.17, S3.18
        self.good("build", "dev", "docker:ps")
        self.assertIn("equipped", self.good("equip", "dev"))
        client = LegacyClient(self.hub(manifest=MANIFEST))
        client.names()
        client.hub.wait_log("saved.equipped saved=dev origin=own")
        self.assertEqual([n for n in client.names() if "__" in n], ["docker__ps"])
        client.hub.finish()
        self.assertIn("unequipped", self.good("unequip"))
        client = LegacyClient(self.hub(manifest=MANIFEST))
        self.assertEqual([n for n in client.names() if "__" in n], ["git__commit", "git__log", "git__status"])
        self.assertIn("no toolset was equipped", self.good("unequip"))

    def test_usage(self):
        for words in ([], ["shout"], ["show"], ["build", "dev"], ["list", "all"], ["diff", "a", "b", "c"]):
            done = self.run_it(*words)
            self.assertEqual(done.returncode, 2, (words, done.stderr))

    def test_a_static_profile(self):
        static = {**MANIFEST, "hub": {**MANIFEST["hub"], "startup": "static", "toolsets": ["git"]}}
        self.good("build", "dev", "docker:ps", manifest=static)
        self.assertEqual(self.ids("dev"), ["docker:ps"])

    def test_completion(self):
        self.good("build", "dev", "git:status")
        path = next(p for p in self.home.iterdir() if p.name.startswith("patchbay") and p.suffix == ".json")
        for words in (["show", ""], ["equip", "d"], ["edit", ""]):
            done = self.cli("complete", "toolset", "--config", path, *words, modules=False)
            self.assertIn("dev", [line.split("\t")[0] for line in done.stdout.splitlines()], words)
        done = self.cli("complete", "serve", "--config", path, "--equip", "t", modules=False)
        self.assertEqual([line.split("\t")[0] for line in done.stdout.splitlines()], ["team"])
        done = self.cli("complete", "toolset", "", modules=False)
        self.assertIn("build", [line.strip() for line in done.stdout.splitlines()])


if __name__ == "__main__":
    main()
