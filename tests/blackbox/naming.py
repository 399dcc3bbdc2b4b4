# SPDX-License-Identifier: Apache-2.0
"""Exposed names: the four modes, collisions, length (S1.11, S1.16, S1.38, S3.33-S3.45, S4.16-S4.28)."""

from mcp import INVALID_PARAMS, HubTest, fixture, main

# The PRD's examples: (toolset, tool) -> name when flattened.
FLAT = {
    ("git", "status"): "git_status",  # S3.33
    ("docker", "ps"): "docker_ps",  # S3.34
    ("linear", "create_issue"): "linear_create_issue",  # S3.35
    ("context7", "resolve-library-id"): "context7_resolve_library_id",  # S3.36
    ("task-master", "get_tasks"): "task_master_get_tasks",  # S3.37
    ("git", "search-repositories"): "git_search_repositories",  # S3.38
    ("docker", "build_image"): "docker_build_image",  # S3.39
    ("server", "tool.with.multiple.dots"): "server_tool_with_multiple_dots",  # S3.40
    ("s3", "Tool9.x-y_z"): "s3_Tool9_x_y_z",  # S3.43
}


def toolsets_of(pairs):
    names = {}
    for toolset, name in pairs:
        names.setdefault(toolset, []).append(name)
    return {toolset: fixture(*tools) for toolset, tools in names.items()}


class Modes(HubTest):
    def check(self, mode, expected):
        client = self.modern("--naming", mode, toolsets=toolsets_of(expected))
        self.assertEqual(sorted(client.own_names()), sorted(expected.values()))
        for (_, name), exposed in expected.items():  # the way back, S3.42, S3.59
            self.assertEqual(client.call(exposed).result["structuredContent"]["tool"], name)

    def test_prefix_is_the_default(self):  # S4.17
        client = self.modern(toolsets={"git": fixture("search-repos")})
        self.assertEqual(client.own_names(), ["git__search-repos"])

    def test_prefix(self):
        self.check("prefix", {pair: f"{pair[0]}__{pair[1]}" for pair in FLAT})

    def test_flat(self):
        self.check("flat", FLAT)

    def test_dot(self):  # S1.11, S5.19
        self.check("dot", {pair: f"{pair[0]}.{pair[1]}" for pair in FLAT})

    def test_none(self):
        self.check("none", {pair: pair[1] for pair in FLAT})

    def test_meta_tools_are_bare_in_every_mode(self):
        for mode in ("prefix", "flat", "dot", "none"):
            with self.subTest(mode):
                client = self.modern("--naming", mode, toolsets={"a": fixture("x")})
                self.assertIn("enable_toolset", client.names())
                client.hub.finish()

    def test_mode_from_the_manifest(self):
        client = self.modern(toolsets={"git": fixture("search-repos")}, manifest={"hub": {"naming": "flat"}})
        self.assertEqual(client.own_names(), ["git_search_repos"])

    def test_the_flag_beats_the_manifest(self):
        client = self.modern(
            "--naming", "dot", toolsets={"git": fixture("x")}, manifest={"hub": {"naming": "flat"}}
        )
        self.assertEqual(client.own_names(), ["git.x"])

    def test_a_prefix_is_not_put_twice(self):  # S1.38
        for mode, name in (("prefix", "git__status"), ("dot", "git.status"), ("flat", "git_status")):
            with self.subTest(mode):
                client = self.modern("--naming", mode, toolsets={"git": fixture(name)})
                self.assertEqual(client.own_names(), [name])
                self.assertEqual(client.call(name).result["structuredContent"]["tool"], name)
                client.hub.finish()

    def test_a_tool_name_with_the_separator_inside(self):  # S4.26
        client = self.modern(toolsets={"a": fixture("b__c")})
        self.assertEqual(client.own_names(), ["a__b__c"])
        self.assertEqual(client.call("a__b__c").result["structuredContent"]["tool"], "b__c")


class Length(HubTest):
    def test_long_names_are_cut_with_a_stable_hash(self):
        long = "x" * 100
        toolsets = {"alpha": fixture(long + "1", long + "2"), "beta": fixture("y" * 58)}
        seen = set()
        for _ in range(2):
            client = self.modern(toolsets=toolsets)
            names = client.own_names()
            self.assertEqual(len(set(names)), 3)
            self.assertTrue(all(len(name) <= 64 for name in names))
            self.assertIn("beta__" + "y" * 58, names)  # exactly 64: untouched
            for name, original in zip(names[:2], (long + "1", long + "2")):
                self.assertRegex(name, r"^alpha__x+_[0-9a-f]{8}$")
                self.assertEqual(client.call(name).result["structuredContent"]["tool"], original)
            seen.add(tuple(names))
            client.hub.finish()
        self.assertEqual(len(seen), 1, "the same names in every run")

    def test_max_name_length(self):
        toolsets = {"alpha": fixture("a" * 24, "a" * 25)}
        client = self.modern(toolsets=toolsets, manifest={"hub": {"max_name_length": 32}})
        names = client.own_names()
        self.assertTrue(all(len(name) <= 32 for name in names))
        self.assertEqual(len(set(names)), 2)

    def test_all_exposed_names_suit_model_apis(self):
        client = self.modern("--naming", "flat", toolsets={"a-b": fixture("x.y", "x-y", "x_y")})
        names = client.own_names()
        self.assertEqual(len(set(names)), 3)
        for name in names:
            self.assertRegex(name, r"^[A-Za-z0-9_]{1,64}$")
        tools = {client.call(name).result["structuredContent"]["tool"] for name in names}
        self.assertEqual(tools, {"x.y", "x-y", "x_y"})


class Collisions(HubTest):
    BOTH = {"alpha": fixture("search"), "beta": fixture("search", active=False)}

    def test_namespacing_keeps_equal_names_apart(self):  # S1.16, S3.24, S4.20
        toolsets = {"alpha": fixture("search"), "beta": fixture("search")}
        for mode, names in (
            ("prefix", ["alpha__search", "beta__search"]),
            ("flat", ["alpha_search", "beta_search"]),
            ("dot", ["alpha.search", "beta.search"]),
        ):
            with self.subTest(mode):
                client = self.modern("--naming", mode, toolsets=toolsets)
                self.assertEqual(client.own_names(), names)
                client.hub.finish()

    def refusal(self, client, name):
        answer = client.call(name)
        self.assertEqual(answer.code, INVALID_PARAMS)
        return answer.error["message"]

    def test_without_prefixes_a_shared_name_is_nobodys(self):  # S1.10, S1.16
        client = self.modern("--naming", "none", toolsets=self.BOTH)
        self.assertEqual(client.own_names(), ["search"])
        client.call("enable_toolset", {"toolset": "beta"}).result
        self.assertEqual(client.own_names(), ["alpha__search", "beta__search"])
        for name in client.own_names():
            self.assertEqual(client.call(name).result["structuredContent"]["tool"], "search")
        self.assertSays(self.refusal(client, "search"), "ambiguous", "use alpha__search or beta__search")
        # It does not go on to the other when one of them is gone.
        client.call("disable_toolset", {"toolset": "alpha"}).result
        self.assertEqual(client.own_names(), ["beta__search"])
        text = self.refusal(client, "search")
        self.assertSays(text, "use beta__search")
        self.assertNotIn("alpha", text)

    def test_the_same_from_the_second_start_on(self):
        recorder = self.recorder()
        toolsets = {"one": recorder.toolset(), "two": recorder.toolset()}
        lists = []
        for _ in range(2):  # the second one has remembered catalogs
            client = self.modern("--naming", "none", toolsets=toolsets)
            lists.append(client.own_names())
            self.assertSays(self.refusal(client, "echo"), "use one__echo or two__echo")
            client.hub.finish()
        self.assertIn("one__echo", lists[0])
        self.assertIn("two__hold", lists[0])
        self.assertEqual(lists[0], lists[1])

    def test_a_shared_name_within_one_batch(self):  # E: every name is checked, also within the batch
        toolsets = {"alpha": fixture("x", "s", active=False), "beta": fixture("s", active=False)}
        client = self.modern("--naming", "none", toolsets=toolsets)
        result = self.meta_call(client, "enable_toolset", toolsets=["alpha", "beta"])
        self.assertEqual([r["ok"] for r in result["results"]], [True, True])
        self.assertEqual(client.own_names(), ["alpha__s", "x", "beta__s"])

    def test_flat_names_that_would_be_equal(self):  # S3.42: a_b.c and a.b_c
        seen = set()
        for others in ({"a_b": fixture("c")}, {"a_b": fixture("c", active=False)}):
            toolsets = {"a": fixture("b_c", "d"), **others}
            client = self.modern("--naming", "flat", toolsets=toolsets)
            names = {client.call(n).result["structuredContent"]["tool"]: n for n in client.own_names()}
            self.assertEqual(names["d"], "a_d")
            self.assertRegex(names["b_c"], r"^a_b_c_[0-9a-f]{8}$")
            self.assertNotEqual(names["b_c"], names.get("c"))
            seen.add(names["b_c"])
            self.assertEqual(client.call("a_b_c").code, INVALID_PARAMS)
            client.hub.finish()
        self.assertEqual(len(seen), 1, "whatever is active")

    def test_a_tool_cannot_take_the_name_of_a_meta_tool(self):  # S1.12, S1.29
        client = self.modern("--naming", "none", toolsets={"evil": fixture("enable_toolset", active=False)})
        client.call("enable_toolset", {"toolset": "evil"}).result
        self.assertEqual(client.names().count("enable_toolset"), 1)
        self.assertEqual(client.own_names(), ["evil__enable_toolset"])

    def test_a_native_tool_wins_over_an_upstream(self):  # S4.19
        recorder = self.recorder()
        toolsets = {"native": fixture("echo"), "up": recorder.toolset()}
        client = self.modern("--naming", "none", toolsets=toolsets)
        names = client.own_names()
        self.assertIn("hold", names)
        self.assertIn("up__echo", names)
        self.assertEqual(client.call("echo").result["content"][0]["text"], "fixture")


class References(HubTest):
    """`toolset__tool` on the command line splits at the first "__"."""

    TOOLSETS = {"a": fixture("b__c", "one")}

    def test_call_by_reference(self):  # S4.22, S4.23, S4.26
        for reference in ("a__one", "a__b__c"):
            done = self.cli("call", reference, toolsets=self.TOOLSETS)
            self.assertEqual(done.returncode, 0, done.stderr)

    def test_references_work_whatever_the_naming(self):
        done = self.cli("call", "a__one", "--naming", "flat", toolsets=self.TOOLSETS)
        self.assertEqual(done.returncode, 0, done.stderr)

    def test_invalid_references(self):  # S4.24, S4.25, S4.27
        for reference in ("__one", "a__", "one", "b__one", ""):
            done = self.cli("call", reference, toolsets=self.TOOLSETS)
            self.assertNotEqual(done.returncode, 0, reference)
            self.assertSays(done.stderr, "unknown tool")

    def test_unknown_names_over_the_protocol(self):
        client = self.modern(toolsets=self.TOOLSETS)
        for name in ("__one", "a__", "a__b", "a__b__c__d"):
            self.assertEqual(client.call(name).code, INVALID_PARAMS)


if __name__ == "__main__":
    main()
