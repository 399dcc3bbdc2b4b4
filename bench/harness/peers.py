# SPDX-License-Identifier: Apache-2.0
"""Proxies that others wrote, installed below bench/peers. Each has a script there that starts it."""

import dataclasses
import json
import socket
import subprocess
import time

from .programs import ROOT, WAIT_SECONDS, Server

FOLDER = ROOT / "bench/peers"


@dataclasses.dataclass
class Peer:
    name: str
    kind: str  # as the load generator calls it
    path: str
    tool: str

    @property
    def version(self):
        return json.loads((FOLDER / "package.json").read_text())["dependencies"][self.name]

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
                env=programs.env | {"BENCH_FOLDER": str(programs.folder)},
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
    """The peers that can be measured; why not, when there are none."""
    if not (FOLDER / "node_modules/.package-lock.json").exists():
        command = ["npm", "ci", "--no-audit", "--no-fund"]
        try:
            done = subprocess.run(command, cwd=FOLDER, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        except OSError as error:
            return [], f"peers are skipped: {error}"
        if done.returncode != 0:
            return [], f"peers are skipped: npm ci failed: {done.stderr.strip()[-400:]}"
    return [peer for peer in PEERS if (FOLDER / "node_modules" / peer.name).exists()], ""
