#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Resources and prompts on the command line: `list resources`, `list prompts`, `read URI`."""

import base64
import json
import os
import pty
import subprocess

from mcp import MARKER, HubTest, hub_command, hub_environment, main

USAGE, TOOL = 2, 6
DATA = bytes(range(256))


class Read(HubTest):
    def setUp(self):
        super().setUp()
        (self.home / "own").mkdir()
        (self.home / "own" / "text.txt").write_bytes(b"one\n\x1b[31mtwo\xc3\xa9")
        (self.home / "own" / "data.bin").write_bytes(DATA)
        self.toolsets = {"up": self.recorder("up").toolset("--content", cwd=str(self.home / "own"))}

    def run_here(self, *words, **options):
        return self.cli(*words, toolsets=self.toolsets, **options)

    def raw(self, *words, stdout=subprocess.PIPE):
        options = hub_command(manifest={"toolsets": self.toolsets}, home=self.home)
        return subprocess.run([options[0], *words, *options[1:]], stdin=subprocess.DEVNULL, stdout=stdout, stderr=subprocess.PIPE,
                              cwd=self.home, env=hub_environment(self.home, {MARKER: "read"}), check=False)

    def uri(self, name):
        return f"rec:///dir/{name}"

    def test_lists(self):
        listed = self.run_here("list", "resources").stdout
        self.assertSays(listed, "rec:///one", "rec:///two")
        rows = json.loads(self.run_here("list", "resources", "--json").stdout)
        self.assertEqual({row["uri"] for row in rows} & {"rec:///one", "rec:///two", "rec:///three"}, {"rec:///one", "rec:///two", "rec:///three"})
        self.assertSays(self.run_here("list", "prompts").stdout, "up__greet", "up__summarize")
        done = self.run_here("list", "cats")
        self.assertEqual(done.returncode, USAGE)
        self.assertSays(done.stderr, "cats", "tools, resources, prompts, modules or toolsets")

    def test_bytes(self):
        """Text and data arrive as they are in a file; a terminal is sent nothing that moves its cursor."""
        done = self.raw("read", self.uri("text.txt"))
        self.assertEqual(done.stdout, b"one\n\x1b[31mtwo\xc3\xa9", done.stderr)
        self.assertEqual(self.raw("read", self.uri("data.bin")).stdout, DATA)
        ours, theirs = pty.openpty()
        done = self.raw("read", self.uri("text.txt"), stdout=theirs)
        self.assertEqual(done.returncode, 0)
        self.assertEqual(os.read(ours, 100), "one\r\n\\u{1b}[31mtwoé\r\n".encode())
        done = self.raw("read", self.uri("data.bin"), stdout=theirs)
        os.close(theirs)
        os.close(ours)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn(b"256 bytes of data: send stdout to a file", done.stderr)
        [contents] = json.loads(self.run_here("read", self.uri("data.bin"), "--json").stdout)["contents"]
        self.assertEqual(base64.b64decode(contents["blob"]), DATA)

    def test_of_a_server(self):
        self.assertIn("rec:///one", json.dumps(json.loads(self.run_here("read", "rec:///one", "--json").stdout)))
        self.assertEqual(self.run_here("read", "rec:///one").returncode, 0)
        self.assertEqual(self.run_here("read", "rec:///one").returncode, 0)  # remembered now

    def test_what_is_not_there(self):
        done = self.run_here("read", "rec:///none")
        self.assertEqual((done.returncode, done.stdout), (TOOL, ""))
        self.assertSays(done.stderr, "rec:///none")
        done = self.run_here("read")
        self.assertEqual(done.returncode, USAGE)
        self.assertSays(done.stderr, "patchbay read URI", "list resources")


if __name__ == "__main__":
    main()
