# SPDX-License-Identifier: Apache-2.0
"""What the programs of this folder share: a hub that serves HTTP, and clients as plain sockets."""

import atexit
import base64
import json
import os
import pathlib
import resource
import socket
import subprocess

ROOT = pathlib.Path(__file__).resolve().parents[2]
BIN = pathlib.Path(os.environ.get("PATCHBAY_BIN", ROOT / "build/release/core/patchbay"))
PLUGINS = pathlib.Path(os.environ.get("PATCHBAY_PLUGINS", ROOT / "build/release/plugins"))
PER_ADDRESS = 200  # the hub's default cap is 256 connections of one address
MODERN = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
}


def raise_file_limit(wanted):
    """For this process and the hub, which inherits it."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), max(hard, wanted)))
    except ValueError as error:
        raise SystemExit(f"{wanted} descriptors are needed, the limit is {hard}: run as root, or raise it") from error


class Hub:
    def __init__(self, folder, **limits):
        manifest = folder / "hub.json"
        manifest.write_text(
            json.dumps(
                {
                    "listen": [{"http": "127.0.0.1:0"}],
                    "limits": {"connections": 50000, "sessions": 50000, "sessions_per_principal": 50000, **limits},
                    "modules": {"paths": [str(PLUGINS)]},
                    "toolsets": {"time": {"active": False}, "files": {"active": False, "config": {"roots": [str(folder)]}}},
                }
            )
        )
        self.process = subprocess.Popen(
            [BIN, "--config", manifest, "--log-format", "json", "--log-level", os.environ.get("PATCHBAY_LOG", "info")],
            stdin=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
            text=True,
        )
        atexit.register(self.process.kill)
        for line in self.process.stderr:
            if '"listen.ready"' in line:
                self.port = int(json.loads(line)["url"].split(":")[2].split("/")[0])
                break
        else:
            raise SystemExit(f"the hub did not start: {self.process.wait()}")

    def memory(self, field="VmRSS"):
        """Resident bytes; with VmHWM the most that there ever were."""
        for line in pathlib.Path(f"/proc/{self.process.pid}/status").read_text().splitlines():
            if line.startswith(f"{field}:"):
                return int(line.split()[1]) * 1024
        raise RuntimeError(f"no {field}")

    def cpu(self):
        """Seconds of processor time so far."""
        fields = pathlib.Path(f"/proc/{self.process.pid}/stat").read_text().rsplit(")", 1)[1].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def connect(self, number):
        """A connection from one of many loopback addresses."""
        client = socket.socket()
        client.bind((f"127.0.{1 + number // PER_ADDRESS // 250}.{1 + number // PER_ADDRESS % 250}", 0))
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        client.connect(("127.0.0.1", self.port))
        return client

    def post(self, client, message, extra=""):
        body = json.dumps(message)
        client.sendall(
            (
                f"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                f"Accept: application/json, text/event-stream\r\n{extra}Content-Length: {len(body)}\r\n\r\n{body}"
            ).encode()
        )

    def call(self, name, arguments):
        """A tool call from a client of its own."""
        with self.connect(0) as client:
            headers = f"MCP-Protocol-Version: 2026-07-28\r\nMcp-Method: tools/call\r\nMcp-Name: {name}\r\n"
            params = {"name": name, "arguments": arguments, "_meta": MODERN}
            self.post(client, {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}, headers)
            answer = read_until(client, b'"result":', b'"error":')
            assert b'"isError":true' not in answer and b'"error"' not in answer, answer


def read_until(client, *marks):
    received = b""
    while not any(mark in received for mark in marks):
        more = client.recv(65536)
        assert more, f"the hub hung up after {received!r}"
        received += more
    return received


def frame(text):
    data = text.encode()
    head = bytes([0x81, 0x80 | len(data)]) if len(data) < 126 else bytes([0x81, 0xFE]) + len(data).to_bytes(2, "big")
    return head + bytes(4) + data  # masked, with a key of zeros


def open_websocket(hub, number):
    client = hub.connect(number)
    key = base64.b64encode(os.urandom(16)).decode()
    client.sendall(
        (
            f"GET /ws HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: {key}\r\n\r\n"
        ).encode()
    )
    read_until(client, b"\r\n\r\n")
    info = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "idle", "version": "1"}}
    client.sendall(frame(json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": info})))
    read_until(client, b'"serverInfo"')
    client.sendall(frame(json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})))
    # The hub has read the notification when it answers what follows it.
    client.sendall(frame(json.dumps({"jsonrpc": "2.0", "id": 2, "method": "ping"})))
    read_until(client, b'"id":2')
    return client
