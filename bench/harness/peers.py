# SPDX-License-Identifier: Apache-2.0
"""Proxies that others wrote, from npm (below bench/peers) and PyPI (below build). Each has a script that starts it."""

import dataclasses
import json
import socket
import subprocess
import sys
import time

from .programs import ROOT, WAIT_SECONDS, Server

FOLDER = ROOT / "bench/peers"


@dataclasses.dataclass
class Peer:
    name: str  # of its script, too
    kind: str  # as the load generator calls it
    path: str
    tool: str
    package: str = ""  # on PyPI; those without one are npm's

    @property
    def label(self):
        return f"{self.package} (PyPI)" if self.package else self.name

    @property
    def version(self):
        if not self.package:
            return json.loads((FOLDER / "package.json").read_text())["dependencies"][self.name]
        lines = (FOLDER / "requirements.txt").read_text().split()
        return next(line.partition("==")[2] for line in lines if line.startswith(f"{self.package}=="))

    @property
    def environment(self):
        """Its own: what one needs may be too old or new for another."""
        return ROOT / f"build/peers/{self.package}"

    @property
    def is_installed(self):
        if self.package:
            return (self.environment / "installed").exists()
        return (FOLDER / "node_modules" / self.name).exists()

    def start(self, programs):
        with socket.socket() as free:
            free.bind(("127.0.0.1", 0))
            port = free.getsockname()[1]
        log = programs.folder / f"{self.name}.log"
        with log.open("wb") as output:
            process = subprocess.Popen(
                [FOLDER / f"{self.name}.sh", str(port), programs.upstream],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env=programs.env | {"BENCH_FOLDER": str(programs.folder), "BENCH_PYTHON": str(self.environment / "bin")},
            )
        deadline = time.monotonic() + WAIT_SECONDS
        while not is_ready(port, self):
            if process.poll() is not None or time.monotonic() > deadline:
                process.kill()
                raise RuntimeError(f"{self.name} did not start: {log.read_text()[-600:]}")
            time.sleep(0.05)
        return Server(process, port)


PEERS = [
    Peer("mcp-proxy", "http", "/mcp", "tool_0"),
    Peer("supergateway", "http", "/mcp", "tool_0"),
    Peer("mcp-hub", "sse", "/mcp", "up__tool_0"),
    Peer("mcp-proxy-python", "http", "/mcp", "tool_0", "mcp-proxy"),
    Peer("fastmcp", "http", "/mcp", "tool_0", "fastmcp"),
]


def is_ready(port, peer):
    """Whether it listens; one that has a page for its state says so there."""
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1) as connection:
            if peer.name != "mcp-hub":
                return True
            connection.sendall(b"GET /api/health HTTP/1.0\r\nHost: localhost\r\n\r\n")
            return b'"state":"ready"' in connection.makefile("rb").read()
    except OSError:
        return False


def install():
    """The peers that can be measured; why others cannot, a line each."""
    reasons = [] if (FOLDER / "node_modules/.package-lock.json").exists() else install_from_npm()
    for peer in PEERS:
        if peer.package and not peer.is_installed:
            reasons += install_from_pypi(peer)
    return [peer for peer in PEERS if peer.is_installed], reasons


def run(command):
    """Why it failed, or nothing."""
    try:
        done = subprocess.run(command, cwd=FOLDER, stdin=subprocess.DEVNULL, capture_output=True, text=True)
    except OSError as error:
        return str(error)
    words = " ".join(map(str, command[:2]))
    return f"{words} failed: {done.stderr.strip()[-400:]}" if done.returncode != 0 else ""


def install_from_npm():
    why = run(["npm", "ci", "--no-audit", "--no-fund"])
    return [f"peers from npm are skipped: {why}"] if why else []


def install_from_pypi(peer):
    python = peer.environment / "bin/python"
    why = run([sys.executable, "-m", "venv", peer.environment]) or run(
        [python, "-m", "pip", "install", "--quiet", "--disable-pip-version-check", f"{peer.package}=={peer.version}"]
    )
    if why:
        return [f"{peer.label} is skipped: {why}"]
    (peer.environment / "installed").touch()
    return []
