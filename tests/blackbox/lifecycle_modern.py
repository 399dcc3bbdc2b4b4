# SPDX-License-Identifier: Apache-2.0
"""The stateless revision over stdio (MCP 2026-07-28 basic/index, basic/versioning, server/discover)."""

from mcp import (
    INVALID_PARAMS,
    LEGACY,
    META,
    METHOD_NOT_FOUND,
    MODERN,
    UNSUPPORTED_VERSION,
    HubTest,
    LegacyClient,
    ModernClient,
    fixture,
    main,
)

TOOLSETS = {"alpha": fixture("one", "two")}


class Discovery(HubTest):
    def test_discover_says_what_the_hub_is(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"hub": {"instructions": "Use with care."}})
        result = client.request("server/discover").result
        self.assertIn(MODERN, result["supportedVersions"])
        self.assertIs(result["capabilities"]["tools"]["listChanged"], True)
        self.assertEqual(result["instructions"], "Use with care.")
        info = result["_meta"][META + "serverInfo"]
        self.assertEqual(info["name"], "patchbay")
        self.assertTrue(info["version"])

    def test_discover_is_not_required_first(self):
        client = self.modern(toolsets=TOOLSETS)
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])

    def test_results_have_a_type_and_name_the_server(self):
        client = self.modern(toolsets=TOOLSETS)
        for method in ("server/discover", "tools/list"):
            result = client.request(method).result
            self.assertEqual(result["resultType"], "complete")
            self.assertEqual(result["_meta"][META + "serverInfo"]["name"], "patchbay", method)
        # The result of a call is the tool's own; nothing is added that it need not have.
        self.assertEqual(client.call("alpha__one").result["resultType"], "complete")

    def test_lists_say_how_long_they_hold(self):
        result = self.modern(toolsets=TOOLSETS).request("tools/list").result
        self.assertGreaterEqual(result["ttlMs"], 0)
        self.assertIn(result["cacheScope"], ("public", "private"))

    def test_discover_does_not_wait_for_slow_servers(self):
        # A client probes with server/discover on a hub that it ends at once: no upstream is started.
        recorder = self.recorder()
        client = self.modern(toolsets={"slow": recorder.toolset("--silent", "initialize")})
        client.request("server/discover")
        self.assertEqual(recorder.sync().starts, [])
        client.hub.finish()
        self.assertEqual(recorder.sync().starts, [])


class RequestMetadata(HubTest):
    def test_missing_keys_are_invalid_params(self):  # P08
        hub = self.hub(toolsets=TOOLSETS)
        client = ModernClient(hub)
        whole = client.meta()
        version, capabilities = META + "protocolVersion", META + "clientCapabilities"
        bad = {
            "no params": None,
            "no _meta": {},
            "empty _meta": {"_meta": {}},
            "no capabilities": {"_meta": {k: v for k, v in whole.items() if k != capabilities}},
            "no version": {"_meta": {k: v for k, v in whole.items() if k != version}},
            "version is a number": {"_meta": {**whole, version: 20260728}},
            "capabilities is a list": {"_meta": {**whole, capabilities: []}},
            "clientInfo is text": {"_meta": {**whole, META + "clientInfo": "me"}},
            "logLevel is unknown": {"_meta": {**whole, META + "logLevel": "loud"}},
        }
        for method in ("tools/list", "server/discover"):
            for what, params in bad.items():
                with self.subTest(what, method=method):
                    since, request_id = hub.mark, hub.new_id()
                    message = {"jsonrpc": "2.0", "id": request_id, "method": method}
                    hub.send(message if params is None else {**message, "params": params})
                    self.assertEqual(hub.response(request_id, since).code, INVALID_PARAMS)
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])

    def test_client_info_is_optional(self):
        client = self.modern(toolsets=TOOLSETS)
        meta = {k: v for k, v in client.meta().items() if k != META + "clientInfo"}
        client.meta = lambda: meta
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])

    def test_an_unknown_version_is_answered_with_those_supported(self):
        client = self.modern(toolsets=TOOLSETS)
        for version in ("1900-01-01", "2099-01-01", "", "draft"):
            for method in ("tools/list", "server/discover", "no/such"):
                answer = client.request(method, meta={META + "protocolVersion": version})
                self.assertEqual(answer.code, UNSUPPORTED_VERSION)
                self.assertEqual(answer.error["data"]["requested"], version)
                self.assertIn(MODERN, answer.error["data"]["supported"])

    def test_a_legacy_version_in_meta_is_not_a_modern_request(self):
        client = self.modern(toolsets=TOOLSETS)
        for version in LEGACY:
            answer = client.request("tools/list", meta={META + "protocolVersion": version})
            self.assertEqual(answer.code, UNSUPPORTED_VERSION)
            self.assertEqual(answer.error["data"]["requested"], version)

    def test_removed_methods(self):
        client = self.modern(toolsets=TOOLSETS)
        for method in ("ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe", "tasks/list"):
            self.assertEqual(client.request(method).code, METHOD_NOT_FOUND, method)

    def test_foreign_meta_keys_are_ignored(self):
        client = self.modern(toolsets=TOOLSETS)
        meta = {"com.example/x": [1, {"y": None}], "traceparent": "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"}
        self.assertEqual(client.call("alpha__one", meta=meta).result["structuredContent"]["tool"], "one")


class BothEras(HubTest):
    def test_both_eras_on_one_process(self):  # S08
        hub = self.hub(toolsets=TOOLSETS)
        modern = ModernClient(hub)
        self.assertEqual(modern.own_names(), ["alpha__one", "alpha__two"])
        legacy = LegacyClient(hub, "2025-06-18")
        for _ in range(10):
            self.assertEqual(legacy.own_names(), ["alpha__one", "alpha__two"])
            self.assertEqual(modern.own_names(), ["alpha__one", "alpha__two"])
            self.assertNotIn("resultType", legacy.call("alpha__two").result)
            self.assertEqual(modern.call("alpha__two").result["resultType"], "complete")

    def test_legacy_answers_carry_nothing_modern(self):
        client = self.legacy(toolsets=TOOLSETS)
        result = client.request("tools/list").result
        self.assertEqual(set(result), {"tools"})
        self.assertEqual(client.request("ping").result, {})


if __name__ == "__main__":
    main()
