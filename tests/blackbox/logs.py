# SPDX-License-Identifier: Apache-2.0
"""Where the log goes: a file that is rotated, and a stderr that nobody reads (log.file)."""

import json
import os
import signal
import stat
import subprocess

from listen import Lines
from mcp import HubTest, fixture, fixture_folder, hub_binary, hub_environment, main, module_folder

TOOLSETS = {"a": fixture("one")}


class File(HubTest):
    def setUp(self):
        super().setUp()
        self.file = self.home / "hub.log"
        self.socket = self.home / "hub.sock"

    def serve(self, **log):
        manifest = {"listen": [{"unix": str(self.socket)}], "toolsets": TOOLSETS,
                    "log": {"file": "hub.log", "format": "json", **log}}
        hub = self.daemon(manifest=manifest)
        hub.wait_until(lambda: self.file.exists() and "listen.ready" in self.file.read_text(), "the log")
        return hub

    def events(self, path=None):
        return [json.loads(line)["event"] for line in (path or self.file).read_text().splitlines()]

    def test_all_goes_there(self):
        hub = self.serve()
        self.assertIn("resolver.loaded", self.events())
        self.assertEqual(stat.S_IMODE(self.file.stat().st_mode), 0o600)
        self.assertNotIn("listen.ready", hub.log)

    def test_rotated(self):
        """What was renamed keeps its lines, and what comes after the signal is in a new file."""
        hub = self.serve()
        old = self.file.rename(self.home / "hub.log.1")
        hub.process.send_signal(signal.SIGUSR1)
        hub.wait_until(lambda: self.file.exists() and "log.reopened" in self.file.read_text(), "another file")
        self.assertEqual(self.events()[0], "log.reopened")
        self.assertNotIn("log.reopened", self.events(old))

    def test_a_folder_that_is_gone(self):
        """The file before is kept, and says why."""
        folder = self.home / "logs"
        folder.mkdir()
        self.file = folder / "hub.log"
        hub = self.serve(file="logs/hub.log")
        gone = folder.rename(self.home / "gone")
        hub.process.send_signal(signal.SIGUSR1)
        hub.wait_until(lambda: "log.not_reopened" in (gone / "hub.log").read_text(), "the reason")

    def test_a_file_that_cannot_be(self):
        done = self.cli("serve", "--unix", self.socket, "--config", self.config({"log": {"file": "none/hub.log"}}))
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "log.file", "none/hub.log", "No such file")

    def config(self, manifest):
        path = self.home / "own.json"
        path.write_text(json.dumps(manifest))
        return path


class Stderr(HubTest):
    def test_nobody_reads_it(self):
        """A reader that has stopped holds up nobody: all calls are answered. What it reads later are whole lines, and how
        many are missing."""
        calls = 3000
        config = self.home / "own.json"
        config.write_text(json.dumps({"toolsets": {"a": {**TOOLSETS["a"], "middleware": {"log": True}}},
                                      "log": {"format": "json"}, "limits": {"drain_timeout": "1s"}}))
        path = self.home / "hub.sock"
        reading, writing = os.pipe()
        self.addCleanup(os.close, reading)
        process = subprocess.Popen(
            [hub_binary(), "serve", "--unix", path, "--config", config, "--plugins-dir", module_folder(), "--plugins-dir", fixture_folder()],
            stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=writing, env=hub_environment(self.home, {}))
        os.close(writing)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        said = b""
        while b"listen.ready" not in said:
            said += os.read(reading, 65536)
        client = Lines(path)
        self.addCleanup(client.close)
        for _ in range(calls):  # the pipe takes 64 KiB, and the hub owes 256
            self.assertIn("result", client.request("tools/call", name="a__one", arguments={}))
        process.terminate()
        with os.fdopen(os.dup(reading), "rb") as stream:
            said += stream.read()
        self.assertEqual(process.wait(), 0)
        lines = [json.loads(line) for line in said.splitlines()]
        logged = sum(line["event"] == "call" or line["event"].startswith("call.") for line in lines)
        lost = sum(line["lines"] for line in lines if line["event"] == "log.lost")
        self.assertGreater(lost, 0)
        self.assertGreaterEqual(logged + lost, calls)


if __name__ == "__main__":
    main()
