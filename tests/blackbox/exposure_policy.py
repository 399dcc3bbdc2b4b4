# SPDX-License-Identifier: Apache-2.0
"""Who may be exposed: allowlist, denylist, maxActive, filters, guardrails, start-up modes."""

import json

from http_client import HttpTest
from mcp import INVALID_PARAMS, META_TOOLS, HubTest, fixture, main, tool

OFF = {"active": False}
TOOLSETS = {
    "alpha": fixture("one", **OFF),
    "beta": fixture("two", **OFF),
    "gamma": fixture("three", **OFF),
}


def enable(client, *names):
    arguments = {"toolset": names[0]} if len(names) == 1 else {"toolsets": list(names)}
    return client.call("enable_toolset", arguments)


class Policy(HubTest):
    def check_refused(self, client, name, code, *says):
        failure = enable(client, name).tool_error
        self.assertEqual(failure["code"], code)
        self.assertSays(failure["message"], name, *says)
        self.assertIs(failure["retryable"], False)

    def check_hidden(self, client, name):
        """What a policy hides is answered as what does not exist."""
        failure = enable(client, name).tool_error
        self.assertEqual(failure["code"], "E_VALIDATION")
        self.assertEqual(failure["message"], f'unknown toolset "{name}": list_toolsets names them all')

    def test_allowlist(self):  # S1.24
        client = self.legacy("--allow", "alpha,beta", toolsets=TOOLSETS)
        self.check_hidden(client, "gamma")
        enable(client, "alpha").result
        self.assertEqual(client.own_names(), ["alpha__one"])

    def test_denylist(self):
        client = self.legacy("--deny", "beta", toolsets=TOOLSETS)
        self.check_hidden(client, "beta")
        self.assertSays(client.hub.wait_log("toolset.hidden"), "toolset=beta", "a policy or a filter hides it")
        enable(client, "alpha").result

    def test_in_both_lists_is_denied(self):
        client = self.legacy("--allow", "alpha,beta", "--deny", "beta", toolsets=TOOLSETS)
        self.check_hidden(client, "beta")

    def test_an_empty_allowlist_allows_none(self):
        client = self.legacy(toolsets=TOOLSETS, manifest={"policy": {"allow": []}})
        for name in TOOLSETS:
            self.check_hidden(client, name)

    def test_max_active(self):  # S1.24, S1.36, S1.37
        client = self.legacy("--max-active", "2", toolsets=TOOLSETS)
        enable(client, "alpha").result
        enable(client, "beta").result
        self.check_refused(client, "gamma", "E_POLICY_MAX_ACTIVE", "2")
        line = client.hub.wait_log("toolset.refused")
        self.assertSays(line, "toolset=gamma", "active=alpha,beta")  # S1.34: what was attempted, and what is active
        client.call("disable_toolset", {"toolset": "alpha"}).result
        enable(client, "gamma").result
        self.assertEqual(client.own_names(), ["beta__two", "gamma__three"])

    def test_max_active_counts_a_batch(self):
        client = self.legacy("--max-active", "2", toolsets=TOOLSETS)
        rows = enable(client, "alpha", "beta", "gamma").result["structuredContent"]["results"]
        self.assertEqual([r["ok"] for r in rows], [True, True, False])
        self.assertEqual(rows[2]["code"], "E_POLICY_MAX_ACTIVE")
        self.assertEqual(client.own_names(), ["alpha__one", "beta__two"])

    def test_order_of_decision(self):  # S1.35: allowlist, denylist, max
        client = self.legacy(
            "--allow", "alpha,beta", "--deny", "beta,gamma", "--max-active", "1", toolsets=TOOLSETS
        )
        enable(client, "alpha").result
        self.check_hidden(client, "gamma")
        self.check_hidden(client, "beta")

    def test_validation_comes_before_policy(self):  # S1.23, S1.24
        client = self.legacy("--allow", "alpha", toolsets=TOOLSETS)
        self.assertEqual(enable(client, "nope").tool_error["code"], "E_VALIDATION")

    def test_a_refusal_loads_nothing(self):  # S1.28
        recorder = self.recorder()
        toolsets = {"up": recorder.toolset(**OFF), "broken": fixture("x", fail="was created", **OFF)}
        client = self.legacy("--deny", "up,broken", toolsets=toolsets)
        self.check_hidden(client, "up")
        self.check_hidden(client, "broken")
        client.barrier()
        client.hub.finish()
        self.assertEqual(recorder.sync().starts, [])
        self.assertNotIn("was created", client.hub.log)

    def test_policy_binds_at_start_too(self):
        toolsets = {"alpha": fixture("one"), "beta": fixture("two")}
        client = self.legacy("--deny", "beta", toolsets=toolsets)
        self.assertEqual(client.own_names(), ["alpha__one"])
        self.assertEqual(client.call("beta__two").code, INVALID_PARAMS)
        self.assertSays(client.hub.wait_log("beta"), "denied")

    def test_policy_from_the_manifest(self):
        manifest = {"policy": {"allow": ["alpha", "beta"], "deny": ["beta"], "max_active": 1}}
        client = self.legacy(toolsets=TOOLSETS, manifest=manifest)
        self.check_hidden(client, "gamma")
        self.check_hidden(client, "beta")


class Filters(HubTest):
    """Filters and guardrails bind list and call alike (S2.6-S2.17, S5.31, S5.32)."""

    TOOLSETS = {
        "files": fixture(
            tool("read", annotations={"readOnlyHint": True}, _meta={"patchbay/tags": ["fs", "safe"]}),
            tool("write", annotations={"destructiveHint": False}, _meta={"patchbay/tags": ["fs"]}),
            tool("wipe", _meta={"patchbay/tags": ["fs", "danger"], "patchbay/category": "admin"}),
        ),
        "net": fixture(tool("get", annotations={"readOnlyHint": True}), tags=["web"], category="web"),
    }
    ALL = ["files__read", "files__wipe", "files__write", "net__get"]

    def check(self, policy, *expected):
        client = self.modern(toolsets=self.TOOLSETS, manifest={"policy": policy})
        self.assertEqual(client.own_names(), list(expected))
        for name in self.ALL:
            answer = client.call(name)
            if name in expected:
                self.assertIn("result", answer.data, name)
            else:
                self.assertEqual(answer.code, INVALID_PARAMS, name)
        listed = self.meta_call(client, "list_tools")["tools"]
        self.assertEqual(listed, META_TOOLS + list(expected))
        client.hub.finish()

    def test_none(self):
        self.check({}, *self.ALL)

    def test_namespace(self):
        self.check({"filters": [{"namespace": ["net"]}]}, "net__get")
        self.check({"filters": [{"namespace": []}]})

    def test_tags(self):
        self.check({"filters": [{"tags_any": ["safe", "web"]}]}, "files__read", "net__get")
        self.check({"filters": [{"tags_all": ["fs", "safe"]}]}, "files__read")
        self.check({"filters": [{"tags_none": ["danger"]}]}, "files__read", "files__write", "net__get")
        self.check({"filters": [{"tags_any": []}]})
        self.check({"filters": [{"tags_all": []}]}, *self.ALL)

    def test_category(self):
        self.check({"filters": [{"category": ["admin", "web"]}]}, "files__wipe", "net__get")
        self.check({"filters": [{"category": ["Admin"]}]})

    def test_tool_ids(self):
        self.check({"filters": [{"allow_tools": ["files:w*", "net:get"]}]}, "files__wipe", "files__write", "net__get")
        self.check({"filters": [{"deny_tools": ["files:wipe", "net:*"]}]}, "files__read", "files__write")

    def test_what_servers_say_of_themselves(self):
        """A server cannot tag its tools past a filter: operators' words count, unless it is trusted."""
        policies = ([{"tags_any": ["safe"]}], [{"tags_all": ["safe"]}], [{"category": ["web"]}])
        tagged = self.home / "tagged.json"
        tagged.write_text(json.dumps([tool("x", _meta={"patchbay/tags": ["safe", "web"], "patchbay/category": "web"})]))
        for filters in policies:
            for keys, is_there in (({}, False), ({"trust_tags": False}, False), ({"trust_tags": True}, True),
                                   ({"tags": ["safe"], "category": "web"}, True)):
                with self.subTest(filters, keys=keys):
                    toolsets = {"up": self.recorder().toolset("--tools", tagged, **keys)}
                    client = self.modern(toolsets=toolsets, manifest={"policy": {"filters": filters}})
                    self.assertEqual(client.own_names(), ["up__x"] if is_there else [])
                    client.hub.finish()

    def test_filters_are_anded(self):
        self.check({"filters": [{"namespace": ["files"]}, {"tags_none": ["danger"]}, {"deny_tools": ["*:write"]}]}, "files__read")

    def test_guardrails(self):
        self.check({"read_only": True}, "files__read", "net__get")
        self.check({"deny_destructive": True}, "files__read", "files__write", "net__get")

    def test_guardrails_leave_the_hub_s_own_tools(self):
        for policy in ({"read_only": True}, {"deny_destructive": True}, {"filters": [{"namespace": []}]}):
            client = self.modern(toolsets=self.TOOLSETS, manifest={"policy": policy})
            self.assertEqual([name for name in client.names() if name in META_TOOLS], META_TOOLS)
            self.assertIn("result", client.call("disable_toolset", {"toolset": "net"}).data)
            client.hub.finish()

    def test_a_toolset_s_own_lists(self):  # S3.5
        toolsets = {"a": fixture("one", "two", "three", tools={"allow": ["t*"], "deny": ["three"]})}
        client = self.modern(toolsets=toolsets)
        self.assertEqual(client.own_names(), ["a__two"])
        self.assertEqual(client.call("a__one").code, INVALID_PARAMS)


class Startup(HubTest):  # S1.2, S1.3, S1.33
    ACTIVE = {"alpha": fixture("one"), "beta": fixture("two", **OFF), "gamma": fixture("three")}

    def test_default_is_what_the_manifest_calls_active(self):
        client = self.modern(toolsets=self.ACTIVE)
        self.assertEqual(client.own_names(), ["alpha__one", "gamma__three"])
        self.assertEqual([n for n in client.names() if n in META_TOOLS], META_TOOLS)

    def test_dynamic_starts_with_nothing(self):
        client = self.modern("--startup", "dynamic", toolsets=self.ACTIVE)
        self.assertEqual(client.names(), META_TOOLS)
        enable(client, "alpha").result
        self.assertEqual(client.own_names(), ["alpha__one"])

    def test_dynamic_ignores_listed_toolsets_with_a_warning(self):
        client = self.modern("--startup", "dynamic", "--toolsets", "alpha", toolsets=self.ACTIVE)
        self.assertEqual(client.names(), META_TOOLS)
        self.assertSays(client.hub.wait_log("toolsets"), "ignored")

    def test_static_is_the_listed_ones(self):
        client = self.modern("--toolsets", "beta,gamma", toolsets=self.ACTIVE)
        self.assertEqual(client.own_names(), ["beta__two", "gamma__three"])

    def test_all(self):
        client = self.modern("--toolsets", "ALL", toolsets=self.ACTIVE)
        self.assertEqual(client.own_names(), ["alpha__one", "beta__two", "gamma__three"])

    def test_static_with_no_valid_toolset_is_an_error(self):
        for names in ("nope", "nope,neither"):
            code, text = self.refused("--toolsets", names, toolsets=self.ACTIVE)
            self.assertEqual(code, 3)
            self.assertSays(text, "nope")

    def test_static_skips_a_toolset_that_does_not_exist(self):
        client = self.modern("--toolsets", "alpha,nope", toolsets=self.ACTIVE)
        self.assertEqual(client.own_names(), ["alpha__one"])
        client.hub.wait_log("nope")

    def test_unknown_options_are_rejected(self):
        for arguments in (["--startup", "lazy"], ["--naming", "camel"], ["--max-active", "many"], ["--no-such-flag"]):
            code, text = self.refused(*arguments, toolsets=self.ACTIVE)
            self.assertEqual(code, 2, arguments)
            self.assertSays(text, arguments[0])

    def test_switched_off_by_the_environment(self):  # S4.38
        client = self.modern(toolsets=self.ACTIVE, env={"PATCHBAY_ALPHA_ENABLED": "false"})
        self.assertEqual(client.own_names(), ["gamma__three"])
        self.assertIn("isError", enable(client, "alpha").result)

    def test_a_profile(self):
        manifest = {"profiles": {"small": {"toolsets": ["beta"], "naming": "dot"}}}
        client = self.modern("--profile", "small", toolsets=self.ACTIVE, manifest=manifest)
        self.assertEqual(client.own_names(), ["beta.two"])

    def test_an_unknown_profile(self):
        code, text = self.refused("--profile", "nope", toolsets=self.ACTIVE)
        self.assertEqual(code, 3)
        self.assertSays(text, "nope")

    def test_without_any_configuration_every_module_is_a_toolset(self):
        client = self.modern("--plugins-dir", self.plugins(), modules=False)
        self.assertEqual(client.own_names(), ["fixture__ping"])

    def plugins(self):
        from mcp import compile_plugin

        folder = self.home / "plugins"
        folder.mkdir()
        compile_plugin(folder)
        return folder


class StaticOverHttp(HttpTest):
    def test_it_is_the_same_for_every_client(self):  # S1.45
        server = self.http("--toolsets", "beta,gamma", toolsets=Startup.ACTIVE)
        clients = [server.legacy() for _ in range(2)]
        for client in clients:
            names = [tool["name"] for tool in client.request("tools/list").answer.result["tools"]]
            self.assertEqual(names, ["beta__two", "gamma__three"])
            refused = client.request("tools/call", {"name": "disable_toolset", "arguments": {"toolset": "beta"}})
            self.assertEqual(refused.answer.code, INVALID_PARAMS)
            for other in clients:
                self.assertIn("content", other.call("beta__two").answer.result)


if __name__ == "__main__":
    main()
