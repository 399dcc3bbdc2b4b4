# SPDX-License-Identifier: Apache-2.0
"""A plugin that crashes takes the hub with it, unless it has a process of its own; the hub's last line names both the
plugin and the tool, and the signal does what it does by itself."""

import signal

from mcp import SUPPORT, HubTest, LegacyClient, compile_plugin, main

CANARY = "canary-c0ffee-0123456789"
MISBEHAVE = SUPPORT / "plugins" / "misbehave.c"
# A sanitizer would handle the signals itself.
PLAIN = {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:detect_leaks=0:detect_odr_violation=0:intercept_tls_get_addr=0"}


class LastLine(HubTest):
    def crash(self, tool):
        plugins = self.home / "plugins"
        plugins.mkdir(mode=0o755)
        compile_plugin(plugins, "misbehave", source=MISBEHAVE)
        toolsets = {"t": {"module": "misbehave"}, "other": {"command": "/bin/true", "env": {"SECRET": CANARY}}}
        client = LegacyClient(self.hub("--plugins-dir", plugins, toolsets=toolsets, env=PLAIN))
        client.send_call(f"t__{tool}")
        code = client.hub.exit_code = client.hub.wait_exit()
        self.assertNotIn(CANARY, client.hub.log)
        return code, client.hub.log.splitlines()[-1]

    def test_a_fault(self):
        code, line = self.crash("segv")
        self.assertEqual(code, -signal.SIGSEGV)
        self.assertEqual(
            line, 'patchbay: crashed (SIGSEGV) in the plugin "misbehave", tool "segv", toolset "t", entry "call"'
        )

    def test_an_abort(self):
        code, line = self.crash("abort")
        self.assertEqual(code, -signal.SIGABRT)
        self.assertSays(line, "SIGABRT", 'plugin "misbehave"', 'tool "abort"')


if __name__ == "__main__":
    main()
