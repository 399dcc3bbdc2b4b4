# SPDX-License-Identifier: Apache-2.0
"""gdb sees the functions and lines of a plugin: in a hub that it starts, and in one that it is attached to."""

import os
import shutil
import signal
import subprocess
import unittest

from mcp import MARKER, ROOT, TIMEOUT, HubTest, LegacyClient, hub_binary, hub_environment, main

SOURCE = """
#include <patchbay/toolset.h>
static void answer_slowly(patchbay_tool_call *call)
{
    patchbay_reply_textf(call, "hello"); /* line 5 */
}
static const patchbay_tool tools[] = {{.name = "hello", .handler = answer_slowly}};
PATCHBAY_TOOLSET("debugged", "1.0.0", "Is debugged.", tools)
"""
PLAIN = {"ASAN_OPTIONS": "detect_leaks=0:intercept_tls_get_addr=0", "DEBUGINFOD_URLS": ""}


@unittest.skipUnless(shutil.which("gdb"), "needs gdb")
class Gdb(HubTest):
    def setUp(self):
        super().setUp()
        self.plugins = self.home / "plugins"
        self.plugins.mkdir(mode=0o755)
        source = self.home / "debugged.c"
        source.write_text(SOURCE, encoding="utf-8")
        subprocess.run(["cc", "-g", "-O0", "-shared", "-fPIC", f"-I{ROOT / 'include'}", "-o", self.plugins / "debugged.so", source], check=True)
        (self.plugins / "debugged.so").chmod(0o755)

    def gdb(self, *commands, program=()):
        """What it says; it and what it has started are ended, whatever happens."""
        script = [word for command in ("set confirm off", "set pagination off", "set breakpoint pending on", *commands) for word in ("-ex", command)]
        output = self.home / "gdb.log"
        with open(output, "w+", encoding="utf-8") as log:
            process = subprocess.Popen(["gdb", "-nx", "-q", "-batch", *script, *map(str, program)], stdin=subprocess.DEVNULL, stdout=log, stderr=log,
                                       cwd=self.home, env=hub_environment(self.home, {MARKER: self.id(), **PLAIN}), start_new_session=True)
            try:
                process.wait(TIMEOUT)
            finally:
                process.poll() is None and os.killpg(process.pid, signal.SIGKILL)
                process.wait()
        said = output.read_text(encoding="utf-8", errors="replace")
        if "ptrace" in said or "Operation not permitted" in said:
            self.skipTest("this machine lets nobody trace a process")
        return said

    def test_a_breakpoint_in_a_handler(self):
        said = self.gdb("break answer_slowly", "run", "backtrace", "kill",
                        program=("--args", hub_binary(), "call", "debugged__hello", "--plugins-dir", self.plugins))
        self.assertRegex(said, r"(?s)hit Breakpoint 1, .*answer_slowly \(call=0x[0-9a-f]+\) at \S*/debugged\.c:5")
        self.assertRegex(said, r"(?s)#0 +answer_slowly .*debugged\.c:5.* in patchbay_run_ .*toolset\.h:")

    def test_a_hub_that_runs(self):
        client = LegacyClient(self.hub("--plugins-dir", self.plugins, modules=False, env=PLAIN))
        self.assertEqual(client.own_names(), ["debugged__hello"])
        said = self.gdb(f"attach {client.hub.process.pid}", "info line answer_slowly", "info symbol answer_slowly", "detach")
        self.assertRegex(said, r'Line 4 of "\S*/debugged\.c"')
        self.assertIn(f"answer_slowly in section .text of {self.plugins}/debugged.so", said)
        self.assertIn("result", client.call("debugged__hello").data)


if __name__ == "__main__":
    main()
