# SPDX-License-Identifier: Apache-2.0
"""A Valkey or Redis server of the distribution, on a Unix socket in the test's folder."""

import shutil
import signal
import socket
import subprocess

PROGRAM = shutil.which("valkey-server") or shutil.which("redis-server")


class Valkey:
    def __init__(self, test):
        self.folder = test.home / "valkey"
        self.folder.mkdir(exist_ok=True)
        self.socket = self.folder / "valkey.sock"
        self.url = f"valkey+unix://{self.socket}"
        self.process = None
        test.addCleanup(self.kill)
        self.start()

    def start(self, *options):
        """Returns when it takes connections. What it kept before is gone."""
        words = ["--port", "0", "--save", "", "--appendonly", "no", "--unixsocket", str(self.socket), *options]
        self.process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if "eady to accept connections" in line:
                break
        else:
            raise AssertionError(f"{PROGRAM} ended: {self.process.wait()}")

    def kill(self):
        if self.process is not None:
            self.process.kill()
            self.process.wait()
            self.process.stdout.close()
            self.process = None

    def pause(self):
        self.process.send_signal(signal.SIGSTOP)

    def resume(self):
        self.process.send_signal(signal.SIGCONT)

    def say(self, command):
        """The first bytes of the answer to an inline command."""
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(str(self.socket))
            connection.sendall(command.encode() + b"\r\n")
            return connection.recv(65536).decode(errors="replace")
