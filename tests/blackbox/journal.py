# SPDX-License-Identifier: Apache-2.0
"""The log in systemd's own journal: journald of the distribution runs in a mount namespace of its own, and journalctl reads what a hub
whose stderr is the journal has written.

spec: systemd, Native Journal Protocol; systemd.exec(5), JOURNAL_STREAM
"""

import json
import os
import select
import shutil
import signal
import socket
import subprocess
import sys
import time
import unittest
from pathlib import Path

from listen import Lines
from mcp import TIMEOUT, HubTest, fixture_folder, hub_binary, hub_environment, main, module_folder

JOURNALD = next((path for path in ("/usr/lib/systemd/systemd-journald", "/lib/systemd/systemd-journald") if os.path.exists(path)), None)
SOCKETS = Path("/run/systemd/journal")
EVIL = "x\nPATCHBAY_EVENT=forged\n\033]0;owned\007\u202e"
MEMBERS = ("MESSAGE", "PRIORITY", "SYSLOG_IDENTIFIER", "PATCHBAY_EVENT", "PATCHBAY_TOOLSET", "PATCHBAY_REASON", "PATCHBAY_BY", "_TRANSPORT")


def wait(condition, what):
    deadline = time.monotonic() + TIMEOUT
    while not (value := condition()):
        if time.monotonic() > deadline:
            raise AssertionError(f"waited for {what}")
        select.select([], [], [], 0.05)
    return value


def read_journal():
    """What journald has taken, oldest first."""
    subprocess.run(["journalctl", "--sync"], check=True, capture_output=True)
    done = subprocess.run(["journalctl", "--directory=/run/log/journal", "--output=json", "--all", "SYSLOG_IDENTIFIER=patchbay"],
                          check=True, capture_output=True, text=True)
    return [{key: entry[key] for key in MEMBERS if key in entry} for entry in map(json.loads, done.stdout.splitlines())]


def listens(path):
    """Whether somebody listens at a socket: its file is there before."""
    with socket.socket(socket.AF_UNIX) as one:
        return one.connect_ex(str(path)) == 0


def connect():
    """Stderr of a service, as systemd connects it."""
    stream = socket.socket(socket.AF_UNIX)
    wait(lambda: stream.connect_ex(str(SOCKETS / "stdout")) == 0, "journald")
    stream.sendall(b"patchbay\n\n6\n0\n0\n0\n0\n")
    about = os.fstat(stream.fileno())
    return stream, f"{about.st_dev}:{about.st_ino}"


def inside(home, manifest):
    """In the namespace: a journald, a hub, one call that fails, SIGUSR1, the end."""
    subprocess.run(["mount", "-t", "tmpfs", "tmpfs", "/run"], check=True)
    SOCKETS.mkdir(parents=True)
    journald = subprocess.Popen([JOURNALD], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        stream, where = connect()
        path = home / "hub.sock"
        hub = subprocess.Popen([hub_binary(), "serve", "--unix", path, "--config", manifest, "--plugins-dir", module_folder(), "--plugins-dir",
                                fixture_folder()], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=stream,
                               env=hub_environment(home, {"JOURNAL_STREAM": where}))
        try:
            wait(lambda: listens(path), "the hub")
            client = Lines(path)
            client.request("tools/call", name="up__one", arguments={})
            hub.send_signal(signal.SIGUSR1)  # there is no file to reopen: nothing happens
            client.request("tools/list")
            client.close()
        finally:
            hub.terminate()
            code = hub.wait(TIMEOUT)
        print(json.dumps({"code": code, "entries": read_journal()}))
    finally:
        journald.kill()
        journald.wait()


def can():
    return (JOURNALD and shutil.which("journalctl") and shutil.which("unshare") and os.geteuid() == 0
            and subprocess.run(["unshare", "-m", "true"], check=False, capture_output=True).returncode == 0)


@unittest.skipUnless(can(), "needs systemd-journald, and to be root in a mount namespace")
class Journal(HubTest):
    def test_fields(self):
        refuse = ("import json, sys\nfor line in sys.stdin:\n    if 'id' in (m := json.loads(line)):\n        "
                  f"print(json.dumps({{'jsonrpc': '2.0', 'id': m['id'], 'error': {{'code': -1, 'message': {EVIL!r}}}}}), flush=True)")
        manifest = self.home / "hub.json"
        manifest.write_text(json.dumps({"toolsets": {"up": {"command": sys.executable, "args": ["-c", refuse]}}}))
        done = subprocess.run(["unshare", "-m", sys.executable, "-B", __file__, "--inside", self.home, manifest], capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        said = json.loads(done.stdout)
        self.assertEqual(said["code"], 0)
        entries = said["entries"]
        self.assertEqual({entry["_TRANSPORT"] for entry in entries}, {"journal"}, "no line took the way of plain text")
        events = [entry["PATCHBAY_EVENT"] for entry in entries]
        self.assertIn("listen.ready", events)
        self.assertNotIn("forged", events)
        failed = next(entry for entry in entries if entry["PATCHBAY_EVENT"] == "tools.discovery.server.failed")
        self.assertEqual((failed["PRIORITY"], failed["PATCHBAY_BY"]), ("4", "server"))
        self.assertNotIn("\033", failed["MESSAGE"])
        self.assertFalse(failed["MESSAGE"].startswith("20"), "the journal has its own clock")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--inside"]:
        inside(Path(sys.argv[2]), sys.argv[3])
    else:
        main()
