# SPDX-License-Identifier: Apache-2.0
"""A system call fails, once, each time another one (tests/support/faults.py says what must hold).

Rare calls fail in all places, frequent ones in a few; with PATCHBAY_ROUNDS=N in so many, with PATCHBAY_ROUNDS=all in
every one.
"""

import errno
import os
import tempfile
from pathlib import Path

from mcp import HubTest, hub_environment, main, rounds

import faults  # in tests/support, which mcp makes known


class FaultTest(HubTest):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="patchbay-faults-")
        cls.tools = faults.Tools(Path(cls.folder.name))

    @classmethod
    def tearDownClass(cls):
        cls.tools.close()
        cls.folder.cleanup()

    def sweep(self, plan, most, kind=faults.Run):
        """Fail up to `most` (None: all) of the scenario's calls, evenly spread, one in each run."""
        count = faults.count_of(self.tools, plan, kind)
        self.assertGreater(count, 0, f"the scenario has no {plan}: it tests nothing")
        step = 1 if most is None else -(-count // most)
        had_fault, bad = faults.sweep(self.tools, plan, range(1, count + 1, step), kind=kind)
        self.assertGreater(had_fault, 0)
        for number, problems in sorted(bad.items())[:3]:
            print(f"{plan} {number}: {problems}")
        self.assertEqual(sorted(bad), [], f"{plan}: the first is {next(iter(bad.values()), '')[:4000]}")


class Calls(FaultTest):
    def fails(self, *plans, kind=faults.Run, least=4):
        for plan in plans:
            with self.subTest(plan):
                self.sweep(plan, rounds(least, None), kind)

    def test_reading(self):
        self.fails("read:EIO", "read:EINTR")

    def test_writing(self):
        self.fails("write:EIO", "write:EINTR", "writev:EIO")

    def test_accepting(self):
        self.fails("accept4:EMFILE", "accept4:EINTR", "accept4:ECONNABORTED")

    def test_starting_a_process(self):
        self.fails("fork:EAGAIN", "pipe2:EMFILE", "socketpair:EMFILE")

    def test_watching(self):
        self.fails("epoll_ctl:ENOMEM", "epoll_wait:EINTR", "epoll_create1:EMFILE")

    def test_opening(self):
        self.fails("open:EMFILE", "open:EIO", "socket:EMFILE")

    def test_receiving(self):
        """From clients over TCP, and from servers over HTTP and WebSocket: so often that each kind has its turn."""
        self.fails("recv:EIO", kind=faults.NetworkRun, least=16)
        self.fails("recv:EINTR", kind=faults.NetworkRun)

    def test_sending(self):
        self.fails("send:EIO", "send:EINTR", kind=faults.NetworkRun)

    def test_connecting(self):
        self.fails("socket:EMFILE", "connect:EIO", kind=faults.NetworkRun)

    def test_keeping(self):
        self.fails("fsync:EIO", "fsync:ENOSPC", "renameat:EIO", "renameat:ENOSPC")

    def test_tokens(self):
        """A file of tokens that cannot be replaced is what it was, under its name alone, and the command says why."""
        for name, error in (("rename", "EIO"), ("write", "ENOSPC"), ("fsync", "EIO")):
            with self.subTest(name), tempfile.TemporaryDirectory() as folder:
                tokens, log = Path(folder, "tokens.json"), Path(folder, "log")
                new = ("token", "new", "laptop", "--tokens", str(tokens))
                self.assertEqual(self.cli(*new, modules=False).returncode, 0)
                before = tokens.read_bytes()
                env = self.tools.failing(f"{name}:1:{error}", log, hub_environment(self.home, {}))
                done = self.cli(*new, modules=False, env=env)
                self.assertIn(f"{name} 1", log.read_text())
                self.assertNotEqual(done.returncode, 0)
                self.assertIn(str(tokens), done.stderr)
                self.assertIn(os.strerror(getattr(errno, error)), done.stderr)
                self.assertEqual(tokens.read_bytes(), before)
                self.assertEqual(sorted(os.listdir(folder)), ["log", "tokens.json"])


if __name__ == "__main__":
    main()
