#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A plugin of each earlier ABI version (tests/abi/v…), as it was built then and as a source of today: it goes on to work (ABI.md)."""

import platform
import shutil
import unittest

from mcp import ROOT, HubTest, LegacyClient, compile_plugin, main

FOLDER = ROOT / "tests" / "abi" / "v1_0"
ELICITS = {"elicitation": {}}


class OfABI10(HubTest):
    def setUp(self):
        super().setUp()
        self.plugins = self.home / "plugins"
        self.plugins.mkdir(mode=0o755)

    def check(self):
        """All that it can do."""
        toolsets = {"t": {"module": "frozen", "config": {"word": "Hi"}}, "bad": {"module": "frozen", "config": {}}}
        client = LegacyClient(self.hub("--plugins-dir", self.plugins, toolsets=toolsets), capabilities=ELICITS)
        self.assertEqual(client.own_names(), ["t__ask", "t__count", "t__greet", "t__refuse"])
        self.assertEqual(client.call("t__greet", {"name": "Ada"}, meta={"progressToken": "p"}).result["content"][0]["text"], "Hi, Ada!")
        self.assertEqual(client.hub.notifications("notifications/progress")[0].params["message"], "half")
        self.assertEqual(client.call("t__count", {"from": 1}).result["structuredContent"], {"next": 2})
        self.assertEqual(client.call("t__refuse").tool_error["message"], "not this one")
        self.assertEqual(client.call("t__greet").tool_error["code"], "TOOL_INVALID_INPUT")
        page = client.request("resources/read", {"uri": "book://pages/7"}).result["contents"][0]
        self.assertEqual((page["text"], page["mimeType"]), ("page 7", "text/plain"))
        prompt = client.request("prompts/get", {"name": "t__review", "arguments": {"text": "it"}}).result
        self.assertEqual(prompt["messages"][0]["content"]["text"], "Review: it")
        call = client.send_call("t__ask")
        question = client.hub.wait_for(lambda m: m.method == "elicitation/create", "the question")
        client.hub.send({"jsonrpc": "2.0", "id": question.id, "result": {"action": "accept", "content": {"name": "Bo"}}})
        self.assertEqual(client.hub.response(call).result["content"][0]["text"], "Hello, Bo!")
        self.assertSays(client.hub.wait_log("toolset.skipped"), "bad", "word")
        self.assertNotIn("plugin.fault", client.hub.log)

    @unittest.skipUnless(platform.machine() == "x86_64", "the binary is one of x86-64")
    def test_the_binary(self):
        shutil.copy(FOLDER / "frozen.so", self.plugins / "frozen.so")
        (self.plugins / "frozen.so").chmod(0o755)
        self.check()

    def test_the_source(self):
        compile_plugin(self.plugins, "frozen", source=FOLDER / "frozen.c")
        self.check()


if __name__ == "__main__":
    main()
