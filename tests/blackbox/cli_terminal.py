# SPDX-License-Identifier: Apache-2.0
"""What commands print at a terminal: titles, columns as wide as the terminal, colours unless NO_COLOR says no."""

import fcntl
import os
import pty
import struct
import subprocess
import termios

from mcp import HubTest, fixture, hub_command, hub_environment, main, tool

LONG = "w" * 300


class Terminal(HubTest):
    def see(self, *words, toolsets, columns=60, env=None):
        """What a terminal of that width shows, line by line."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        command = hub_command(manifest={"toolsets": toolsets}, home=self.home)
        process = subprocess.Popen([command[0], *words, *command[1:]], stdin=subprocess.DEVNULL, stdout=theirs, cwd=self.home,
                                   stderr=subprocess.DEVNULL, env=hub_environment(self.home, {"TERM": "xterm", **(env or {})}))
        os.close(theirs)
        seen = b""
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            seen += piece
        os.close(ours)
        process.wait()
        return seen.decode().replace("\r\n", "\n").splitlines()

    def test_colours(self):
        toolsets = {"a": fixture(tool("one", description="First."))}
        for env, is_coloured in (({}, True), ({"NO_COLOR": ""}, True), ({"NO_COLOR": "1"}, False), ({"TERM": "dumb"}, False)):
            lines = self.see("list", "tools", toolsets=toolsets, env=env)
            self.assertEqual(lines[0].startswith("\x1b[1mTOOL "), is_coloured, lines)
            self.assertNotIn("\x1b", "".join(lines[1:]))
            found = self.see("doctor", toolsets=toolsets, env=env)
            self.assertEqual(found[0].startswith("\x1b[32mok"), is_coloured, found)
            self.assertEqual("\x1b" in "".join(found), is_coloured)

    def test_width(self):
        """Names are whole; what is behind them is cut where the line ends, characters and not bytes."""
        name = "n" * 40
        toolsets = {"a": fixture(tool("one", description="é" * 300), tool(name, description=LONG), tool("none", description=""))}
        for columns in (20, 60, 100, 1000):
            lines = self.see("list", "tools", toolsets=toolsets, columns=columns, env={"NO_COLOR": "1"})
            rows = {line.split()[0]: line for line in lines}
            self.assertIn(f"a__{name}", rows)
            self.assertTrue(all(line == line.rstrip() for line in lines))
            starts = {line.index(word) for line, word in ((rows["TOOL"], "DESCR"), (rows["a__one"], "é"))}
            self.assertEqual(len(starts), 1, lines)
            (start,) = starts
            wanted = min(300, max(10, columns - start))
            shown = rows["a__one"][start:]
            self.assertEqual(len(shown), wanted)
            self.assertEqual(shown.endswith("…"), wanted < 300)

    def test_elsewhere(self):
        """A pipe gets the rows alone, whole."""
        done = self.cli("list", "tools", toolsets={"a": fixture(tool("one", description=LONG))}, env={"TERM": "xterm"})
        self.assertIn(f" {LONG}\n", done.stdout)
        self.assertNotIn("TOOL", done.stdout)
        self.assertNotIn("\x1b", done.stdout)
        done = self.cli("doctor", toolsets={"a": fixture()}, env={"TERM": "xterm"})
        self.assertNotIn("\x1b", done.stdout)

    def test_a_name_that_would_paint(self):
        lines = self.see("list", "tools", toolsets={"a": fixture(tool("one", description="\x1b[31mred\x07\u202e\x9d"))})
        self.assertTrue(any("\\u{1b}[31mred?\\u{202e}\\u{9d}" in line for line in lines), lines)


if __name__ == "__main__":
    main()
