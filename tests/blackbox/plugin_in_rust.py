#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The example in Rust: its tools answer, report progress, refuse and panic as those of a plugin in C do."""

import shutil
import subprocess
import unittest

from mcp import ROOT, HubTest, LegacyClient, main


@unittest.skipUnless(shutil.which("rustc"), "needs rustc (Debian: apt install rustc); ./run-tests packages installs it")
class InRust(HubTest):
    def test_it_is_a_plugin_as_any(self):
        plugins = self.home / "plugins"
        plugins.mkdir(mode=0o755)
        library = plugins / "hello_rust.so"
        subprocess.run(["rustc", "--edition", "2021", "--crate-type", "cdylib", "-D", "warnings", "-o", library,
                        ROOT / "examples/hello_plugin_rust/hello_rust.rs"], check=True, cwd=self.home)
        library.chmod(0o755)
        client = LegacyClient(self.hub("--plugins-dir", plugins, toolsets={"rust": {"module": "hello_rust"}}))
        self.assertEqual(client.own_names(), ["rust__count", "rust__greet"])
        for name, wanted in (("Ada", "Hello, Ada!"), ('"\\\n\u00e9\U0001d11e', 'Hello, "\\\n\u00e9\U0001d11e!'), ("", "Hello, !")):
            self.assertEqual(client.call("rust__greet", {"name": name}).result["content"][0]["text"], wanted)
        self.assertEqual(client.call("rust__greet", {}).tool_error["code"], "TOOL_INVALID_INPUT")
        panic = client.call("rust__greet", {"name": "nobody"}).tool_error
        self.assertEqual((panic["code"], panic["message"]), ("TOOL_EXECUTION_FAILED", "nobody is not greeted"))
        self.assertEqual(client.call("rust__count", {"text": "one two  three"}, meta={"progressToken": "p"}).result["content"][0]["text"], "3 words")
        self.assertEqual(client.hub.notifications("notifications/progress")[-1].params, {"progressToken": "p", "progress": 3, "total": 3})
        self.assertNotIn("plugin.fault", client.hub.log)


if __name__ == "__main__":
    main()
