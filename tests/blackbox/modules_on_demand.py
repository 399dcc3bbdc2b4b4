# SPDX-License-Identifier: Apache-2.0
"""A module that no toolset of the manifest names is found, but neither linked nor run (S1.28, S5.8)."""

from pathlib import Path

from mcp import SUPPORT, LegacyClient, compile_plugin, fixture, main
from reload import ReloadTest

CONFIG = 3

# Its constructor runs as soon as it is linked.
LOUD = """
#include <stdio.h>
__attribute__((constructor)) static void on_link(void) { (void)fputs("late was linked\\n", stderr); }
"""
LINKED = "late was linked"


class OnDemand(ReloadTest):
    def setUp(self):
        super().setUp()
        self.plugins = self.home / "plugins"
        self.plugins.mkdir(mode=0o755)
        compile_plugin(self.plugins)

    def manifest_of(self, **toolsets):
        return {"modules": {"paths": [str(self.plugins)]}, "toolsets": toolsets}

    def start(self, **toolsets):
        self.write(self.manifest_of(**toolsets))
        return LegacyClient(self.hub("--config", self.path, modules=False))

    def loud(self):
        source = self.home / "late.c"
        source.write_text(LOUD + f'#include "{SUPPORT / "fixture_toolset.c"}"\n')
        return compile_plugin(self.plugins, "late", source=source)

    def broken(self):
        """No plugin, which is seen when it is linked."""
        source = self.home / "late.c"
        source.write_text("int patchbay_some_symbol = 1;\n")
        return compile_plugin(self.plugins, "late", source=source)

    def late(self, **keys):
        return {"module": "late", "config": {"tools": [{"name": "x", "inputSchema": {"type": "object"}}]}, **keys}

    def test_what_is_not_named_is_not_linked(self):
        self.loud()
        client = self.start(alpha=fixture("one"))
        self.assertEqual(client.own_names(), ["alpha__one"])
        self.assertNotIn("late", Path(f"/proc/{client.hub.process.pid}/maps").read_text(encoding="utf-8"))
        client.hub.finish()
        self.assertNotIn(LINKED, client.hub.log)
        self.assertSays(client.hub.wait_log("resolver.found"), "module=late")

    def test_nor_what_is_named_by_a_toolset_that_is_off(self):
        self.loud()
        client = self.start(alpha=fixture("one"), beta=self.late(enabled=False))
        self.assertEqual(client.own_names(), ["alpha__one"])
        client.hub.finish()
        self.assertNotIn(LINKED, client.hub.log)

    def test_a_toolset_that_waits_to_be_enabled_can_be_looked_at(self):
        self.loud()
        client = self.start(alpha=fixture("one"), beta=self.late(active=False))
        client.hub.wait_log(LINKED)

    def test_it_is_linked_when_a_reload_names_it(self):
        self.loud()
        client = self.start(alpha=fixture("one"))
        client.barrier()
        self.assertNotIn(LINKED, client.hub.log)
        self.write(self.manifest_of(alpha=fixture("one"), beta=self.late()))
        self.wait_reload(client.hub, 1)
        self.assertSays(client.hub.wait_log("resolver.loaded module=late"), "late.so")
        self.assertEqual(client.own_names(), ["alpha__one", "beta__x"])
        self.assertIn("result", client.call("beta__x").data)
        # Once: neither another reload nor a look at the folder links it anew.
        self.write(self.manifest_of(alpha=fixture("one"), beta=self.late(), gamma=self.late()))
        self.wait_reload(client.hub, 2)
        self.assertEqual(client.own_names(), ["alpha__one", "beta__x", "gamma__x"])
        compile_plugin(self.plugins, "other")
        client.hub.wait_log("module=other")
        self.assertIn("result", client.call("beta__x").data)
        client.hub.finish()
        self.assertEqual(client.hub.log.count(LINKED), 1)

    def test_one_that_is_replaced_before_anybody_names_it(self):
        self.broken()
        client = self.start(alpha=fixture("one"))
        client.barrier()
        self.loud()
        client.hub.wait_log("generation=2")
        self.write(self.manifest_of(beta=self.late()))
        self.wait_reload(client.hub, 1)
        self.assertIn("result", client.call("beta__x").data)
        self.assertNotIn("refused", client.hub.log)

    def test_a_broken_one_is_a_reason_to_refuse_the_reload(self):
        self.broken()
        client = self.start(alpha=fixture("one"))
        self.write(self.manifest_of(alpha=fixture("one"), beta=self.late()))
        line = self.wait_reload(client.hub, 1, "config.refused")
        self.assertSays(line, "beta", "late.so", "patchbay_plugin_v1")
        self.assertEqual(client.own_names(), ["alpha__one"])

    def test_a_broken_one_is_seen_by_those_who_look(self):
        self.broken()
        self.write(self.manifest_of(alpha=fixture("one")))
        done = self.cli("list", "modules", "--config", self.path, modules=False)
        self.assertSays(done.stdout, "late.so", "refused", "patchbay_plugin_v1")
        self.write(self.manifest_of(alpha=fixture("one"), beta=self.late()))
        done = self.cli("check", self.path, modules=False)
        self.assertEqual(done.returncode, CONFIG)
        self.assertSays(done.stderr, "beta", "late")

    def test_the_list_of_modules_says_what_they_say(self):
        self.loud()
        self.write(self.manifest_of(alpha=fixture("one")))
        done = self.cli("list", "modules", "--json", "--config", self.path, modules=False)
        self.assertSays(done.stdout, '"name":"late","version":"1.0.0"')


if __name__ == "__main__":
    main()
