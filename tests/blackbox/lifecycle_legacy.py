# SPDX-License-Identifier: Apache-2.0
"""The handshake of the four legacy revisions (MCP 2025-11-25 basic/lifecycle and its predecessors; S3.2, S3.87)."""

from mcp import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    LEGACY,
    METHOD_NOT_FOUND,
    MODERN,
    NEWEST_LEGACY,
    HubTest,
    LegacyClient,
    fixture,
    main,
)

TOOLSETS = {"alpha": fixture("one", "two")}


def initialize(revision=NEWEST_LEGACY, **params):
    return {
        "protocolVersion": revision,
        "capabilities": {},
        "clientInfo": {"name": "black-box", "version": "1"},
        **params,
    }


class Handshake(HubTest):
    def test_each_revision_is_answered_in_kind(self):  # S5.49
        for revision in LEGACY:
            with self.subTest(revision):
                client = self.legacy(toolsets=TOOLSETS, revision=revision)
                result = client.answer.result
                self.assertEqual(result["protocolVersion"], revision)
                self.assertEqual(result["serverInfo"]["name"], "patchbay")
                self.assertTrue(result["serverInfo"]["version"])
                self.assertIs(result["capabilities"]["tools"]["listChanged"], True)
                self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])
                client.hub.finish()

    def test_unknown_versions_negotiate_to_the_newest_legacy(self):
        for version in ("1999-01-01", "2099-12-31", "nonsense", MODERN):
            with self.subTest(version):
                client = self.legacy(toolsets=TOOLSETS, revision=version)
                self.assertEqual(client.revision, NEWEST_LEGACY)
                client.hub.finish()

    def test_name_title_and_instructions_come_from_the_manifest(self):
        manifest = {"hub": {"name": "bench", "title": "The bench", "instructions": "Use with care."}}
        result = self.legacy(manifest=manifest, toolsets=TOOLSETS).answer.result
        self.assertEqual(result["serverInfo"]["name"], "bench")
        self.assertEqual(result["serverInfo"]["title"], "The bench")
        self.assertEqual(result["instructions"], "Use with care.")

    def test_ping_before_and_after(self):  # S5.52
        hub = self.hub(toolsets=TOOLSETS)
        hub.send({"jsonrpc": "2.0", "id": "early", "method": "ping"})
        self.assertEqual(hub.response("early").result, {})
        client = LegacyClient(hub)
        self.assertEqual(client.request("ping").result, {})

    def test_requests_before_initialize_are_refused(self):
        hub = self.hub(toolsets=TOOLSETS)
        for request_id, method in enumerate(("tools/list", "tools/call", "resources/list", "logging/setLevel")):
            hub.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": {}})
            self.assertEqual(hub.response(request_id).code, INVALID_PARAMS, method)
        self.assertEqual(LegacyClient(hub).own_names(), ["alpha__one", "alpha__two"])

    def test_requests_work_before_the_initialized_notification(self):
        client = LegacyClient(self.hub(toolsets=TOOLSETS), initialized=False)
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])
        client.notify("notifications/initialized")
        self.assertEqual(client.call("alpha__one").result["structuredContent"]["tool"], "one")

    def test_a_second_initialize_is_refused(self):
        client = self.legacy(toolsets=TOOLSETS, revision="2025-06-18")
        self.assertEqual(client.request("initialize", initialize()).code, INVALID_REQUEST)
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])

    def test_initialize_wants_its_params(self):
        bad = [None, {}, {"capabilities": {}}, initialize(revision=20251125), initialize(revision=None)]
        hub = self.hub(toolsets=TOOLSETS)
        for number, params in enumerate(bad):
            message = {"jsonrpc": "2.0", "id": number, "method": "initialize"}
            hub.send(message if params is None else {**message, "params": params})
            self.assertEqual(hub.response(number).code, INVALID_PARAMS, params)
        self.assertEqual(LegacyClient(hub).revision, NEWEST_LEGACY)

    def test_unknown_methods_and_notifications(self):  # P11
        client = self.legacy(toolsets=TOOLSETS)
        for method in ("no/such", "tools/", "TOOLS/LIST", "tools/listen", "rpc.discover", "x" * 128):
            self.assertEqual(client.request(method).code, METHOD_NOT_FOUND, method)
        client.notify("notifications/no/such", {"x": 1})
        client.notify("no/notification")
        client.notify("notifications/cancelled", {"requestId": 4711})
        client.hub.send({"jsonrpc": "2.0", "id": 999, "result": {}})  # a stray response
        client.hub.send({"jsonrpc": "2.0", "id": 998, "error": {"code": 1, "message": "stray"}})
        before = client.hub.mark
        client.request("ping")
        self.assertEqual(client.hub.mark, before + 1)

    def test_capabilities_say_what_is_there(self):
        client = self.legacy(toolsets=TOOLSETS)
        capabilities = client.answer.result["capabilities"]
        self.assertEqual(capabilities["tools"], {"listChanged": True})
        self.assertLessEqual(set(capabilities), {"tools", "logging"})  # no toolset here has more
        # A toolset that has more may be enabled, and disabled again: what was announced once is answered for ever.
        for method, name in (
            ("resources/list", "resources"),
            ("resources/templates/list", "resourceTemplates"),
            ("prompts/list", "prompts"),
        ):
            self.assertEqual(client.request(method).result, {name: []})
        self.assertEqual(client.request("logging/setLevel", {"level": "error"}).result, {})
        self.assertEqual(client.request("logging/setLevel", {"level": "loud"}).code, INVALID_PARAMS)


class Batches(HubTest):
    def test_the_revision_that_has_batches(self):  # P02
        client = self.legacy(toolsets=TOOLSETS, revision="2025-03-26")
        client.hub.send(
            '[{"jsonrpc":"2.0","id":"a","method":"ping"},'
            '{"jsonrpc":"2.0","method":"notifications/initialized"},'
            '{"jsonrpc":"2.0","id":"b","method":"tools/list"},'
            '{"jsonrpc":"2.0","id":"c","method":"no/such"}]'
        )
        self.assertEqual(client.hub.response("a").result, {})
        self.assertEqual(len(client.hub.response("b").result["tools"]), 2 + 5)
        self.assertEqual(client.hub.response("c").code, METHOD_NOT_FOUND)

    def test_an_empty_batch_is_refused(self):
        client = self.legacy(toolsets=TOOLSETS, revision="2025-03-26")
        since = client.hub.mark
        client.hub.send("[]")
        error = client.hub.wait_for(lambda m: "error" in m.data, "an error", since)
        self.assertEqual(error.code, INVALID_REQUEST)

    def test_initialize_inside_a_batch_is_refused(self):  # 2025-03-26 basic/lifecycle
        hub = self.hub(toolsets=TOOLSETS)
        hub.send_bytes(
            b'[{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-03-26",'
            b'"capabilities":{},"clientInfo":{"name":"x","version":"1"}}}]\n'
        )
        error = hub.wait_for(lambda m: "error" in m.data, "an error")
        self.assertEqual(error.code, INVALID_REQUEST)
        self.assertEqual(LegacyClient(hub).revision, NEWEST_LEGACY)

    def test_revisions_without_batches_refuse_them(self):
        for revision in ("2025-11-25", "2025-06-18", "2024-11-05"):
            with self.subTest(revision):
                client = self.legacy(toolsets=TOOLSETS, revision=revision)
                since = client.hub.mark
                client.hub.send_bytes(client.hub.frame('[{"jsonrpc":"2.0","id":"a","method":"ping"}]'))
                error = client.hub.wait_for(lambda m: "error" in m.data, "an error", since)
                self.assertEqual(error.code, INVALID_REQUEST)
                self.assertIsNone(error.id)
                client.request("ping")
                client.hub.finish()


if __name__ == "__main__":
    main()
