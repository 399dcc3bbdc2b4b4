#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What looking on costs: calls of a hub that counts and sends traces, beside one that does not; and processor time of a hub
whose events many read.

    bench/observed.py [--calls N] [--turns N]      calls per second with metrics and 1 % of traces, by turns; fails below 0.97
    bench/observed.py --readers N [--calls N]      processor time per call with N readers of events; fails above 1.05

Needs the release preset with PATCHBAY_BENCH. Rates want a quiet machine; a run whose reference differs from itself by over 5 %
is void. The collector is a process of its own, which answers and forgets.
"""

import argparse
import json
import os
import selectors
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
BUILT = ROOT / "build/release"
HUB = Path(os.environ.get("PATCHBAY_BIN", BUILT / "core/patchbay"))
PLUGINS = os.environ.get("PATCHBAY_PLUGINS", HUB.parent.parent / "plugins")
LEAST, MOST, TOLERANCE = 0.97, 1.05, 0.05
OUTSTANDING = 32


class Sink(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def do_POST(self):
        self.rfile.read(int(self.headers["Content-Length"]))
        self.send_response(200)
        self.send_header("Content-Length", "2")
        self.end_headers()
        self.wfile.write(b"{}")

    def log_message(self, *_):
        pass


def collector():
    """Forked off, so that it takes nothing of whoever measures. The port; it ends with this process."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), Sink)
    if os.fork() == 0:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        sys.stdin.close()
        parent = os.getppid()
        while os.getppid() == parent:
            threading.Event().wait(0.5)
        os._exit(0)
    return server.server_address[1]


def manifest(folder, name, **more):
    path = Path(folder) / f"{name}.json"
    path.write_text(json.dumps({
        "hub": {"meta_tools": False, "remember": "none"}, "state": "off",
        "toolsets": {"up": {"command": str(BUILT / "bench/upstream")}}, **more}))
    return path


def rate(arguments, path, env):
    done = subprocess.run(
        [BUILT / "bench/loadgen", "--calls", str(arguments.calls), "--outstanding", str(OUTSTANDING), "--tool", "up__tool_0", "stdio",
         HUB, "--stdio", "--config", path, "--plugins-dir", PLUGINS, "--log-level", "error"],
        env={**os.environ, **env}, stdout=subprocess.PIPE, check=True)
    return json.loads(done.stdout)["calls_per_second"]


def compare(arguments, folder):
    port = collector()
    plain = manifest(folder, "plain")
    seen = manifest(folder, "seen", listen=[{"http": "127.0.0.1:0", "metrics": True}])
    env = {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"http://127.0.0.1:{port}/v1/traces",
           "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.01"}
    ratios, controls = [], []
    for _ in range(arguments.turns):
        before, with_it, after = rate(arguments, plain, {}), rate(arguments, seen, env), rate(arguments, plain, {})
        ratios.append(2 * with_it / (before + after))
        controls.append(after / before)
    ratio, control = statistics.median(ratios), statistics.median(controls)
    print(f"metrics and 1 % of traces: {ratio:.3f} of the calls per second without (control {control:.3f}, {arguments.turns} turns)")
    if abs(control - 1) > TOLERANCE:
        sys.exit("void: the machine was not quiet")
    return ratio >= LEAST


class Caller:
    """A hub over stdio, and what it takes of the processor."""

    def __init__(self, path, tokens):
        self.hub = subprocess.Popen([HUB, "--stdio", "--config", path, "--plugins-dir", PLUGINS, "--tokens", tokens],
                                    stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        for line in self.hub.stderr:
            if b"listen.ready" in line:
                self.port = int(line.partition(b"127.0.0.1:")[2].partition(b"/")[0])
                break
        threading.Thread(target=lambda: [None for _ in self.hub.stderr], daemon=True).start()
        self.send({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "observed", "version": "1"}}})
        self.wait(1)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, *messages):
        self.hub.stdin.write(b"".join(json.dumps(each).encode() + b"\n" for each in messages))
        self.hub.stdin.flush()

    def wait(self, count):
        while count > 0:
            count -= b'"id":' in self.hub.stdout.readline()

    def call(self, count):
        for first in range(0, count, OUTSTANDING):
            self.send(*({"jsonrpc": "2.0", "id": first + i, "method": "tools/call", "params": {"name": "up__tool_0", "arguments": {}}} for i in range(OUTSTANDING)))
            self.wait(OUTSTANDING)

    def seconds(self):
        fields = Path(f"/proc/{self.hub.pid}/stat").read_text().rpartition(")")[2].split()
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def cost(self, count):
        self.call(count // 10)
        before = self.seconds()
        self.call(count)
        return (self.seconds() - before) / count


def read_all(sockets):
    chosen = selectors.DefaultSelector()
    for each in sockets:
        each.setblocking(False)
        chosen.register(each, selectors.EVENT_READ)
    while chosen.get_map():
        for key, _ in chosen.select():
            try:
                is_open = key.fileobj.recv(1 << 16)
            except OSError:
                is_open = b""
            if not is_open:
                chosen.unregister(key.fileobj)
    os._exit(0)


def readers(arguments, folder):
    tokens = Path(folder) / "tokens.json"
    made = subprocess.run([HUB, "token", "new", "looker", "--scopes", "admin:read", "--tokens", tokens], stdout=subprocess.PIPE, check=True)
    token = made.stdout.decode().strip()
    path = manifest(folder, "readers", listen=[{"http": "127.0.0.1:0", "api": True}],
                    limits={"connections": 4096, "connections_per_address": 4096})
    caller = Caller(path, tokens)
    alone = caller.cost(arguments.calls)
    sockets = []
    for _ in range(arguments.readers):
        sockets.append(socket.create_connection(("127.0.0.1", caller.port)))
        sockets[-1].sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n\r\n".encode())
        if b" 200 " not in sockets[-1].recv(4096):
            sys.exit("a reader is not let in")
    if os.fork() == 0:
        caller.hub.stdin.close()  # else the hub does not see that its client is gone, and this waits for the hub
        read_all(sockets)
    watched = caller.cost(arguments.calls)
    caller.hub.stdin.close()
    caller.hub.wait()
    print(f"{arguments.readers} readers of events: {watched / alone:.3f} of the processor time per call without ({watched * 1e6:.1f} and {alone * 1e6:.1f} us)")
    return watched / alone <= MOST


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=30000)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--readers", type=int, default=0)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="patchbay-observed-") as folder:
        is_good = readers(arguments, folder) if arguments.readers else compare(arguments, folder)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
