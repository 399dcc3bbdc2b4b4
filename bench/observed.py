#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What looking on costs: a hub that counts and sends traces, beside one that does not; and a hub whose events many read,
beside one whose events nobody does.

    bench/observed.py [--calls N] [--turns N]      calls per second with metrics and 1 % of traces; fails below 0.97
    bench/observed.py --processor                  the same of the hub's processor time per call; fails above 1.03
    bench/observed.py --readers N                  processor time per call with N readers of events; fails above 1.05

Needs the release preset with PATCHBAY_BENCH. Each is measured by turns between two turns of its reference; a run whose reference
differs from itself by over 5 % is void. The collector is a process of its own, which answers and forgets; but it takes its part of
the same processors, and calls per second count that, too.
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


def judge(what, ratios, controls, is_good):
    ratio, control = statistics.median(ratios), statistics.median(controls)
    print(f"{what}: {ratio:.3f} (control {control:.3f}, {len(ratios)} turns)")
    if abs(control - 1) > TOLERANCE:
        sys.exit("void: the machine was not quiet")
    return is_good(ratio)


def traced():
    """Variables by which a hub sends 1 % of traces to a collector."""
    return {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"http://127.0.0.1:{collector()}/v1/traces",
            "OTEL_TRACES_SAMPLER": "parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG": "0.01"}


def by_turns(turns, plain, other):
    """(what the other takes of the plain one, the plain one of itself), by turns."""
    ratios, controls = [], []
    for _ in range(turns):
        before, between, after = plain(), other(), plain()
        ratios.append(2 * between / (before + after))
        controls.append(after / before)
    return ratios, controls


def compare(arguments, folder):
    plain = manifest(folder, "plain")
    seen = manifest(folder, "seen", listen=[{"http": "127.0.0.1:0", "metrics": True}])
    env = traced()
    ratios, controls = by_turns(arguments.turns, lambda: rate(arguments, plain, {}), lambda: rate(arguments, seen, env))
    return judge("calls per second with metrics and 1 % of traces, of those without", ratios, controls, lambda ratio: ratio >= LEAST)


class Caller:
    """A hub over stdio, and what it takes of the processor."""

    def __init__(self, path, env, *arguments):
        self.hub = subprocess.Popen([HUB, "--stdio", "--config", path, "--plugins-dir", PLUGINS, *arguments], env={**os.environ, **env},
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
        self.batch = b"".join(b'{"jsonrpc":"2.0","id":%d,"method":"tools/call","params":{"name":"up__tool_0","arguments":{}}}\n' % (i + 1)
                              for i in range(OUTSTANDING))
        self.call(OUTSTANDING)

    def send(self, message):
        os.write(self.hub.stdin.fileno(), json.dumps(message).encode() + b"\n")

    def wait(self, lines):
        while lines > 0:
            read = os.read(self.hub.stdout.fileno(), 1 << 16)
            if not read:
                sys.exit("the hub has ended")
            lines -= read.count(b"\n")

    def call(self, count):
        for _ in range(0, count, OUTSTANDING):
            os.write(self.hub.stdin.fileno(), self.batch)
            self.wait(OUTSTANDING)

    def seconds(self):
        return sum(int(path.read_text().split()[0]) for path in Path(f"/proc/{self.hub.pid}/task").glob("*/schedstat")) / 1e9

    def cost(self, count):
        self.call(count // 10)
        before = self.seconds()
        self.call(count)
        return (self.seconds() - before) / count

    def end(self):
        self.hub.stdin.close()
        self.hub.wait()


def processor(arguments, folder):
    env = traced()  # first: the collector is forked off, and would hold a hub's pipes open
    plain = Caller(manifest(folder, "plain", listen=[{"http": "127.0.0.1:0"}]), {})
    seen = Caller(manifest(folder, "seen", listen=[{"http": "127.0.0.1:0", "metrics": True}]), env)
    ratios, controls = by_turns(arguments.turns, lambda: plain.cost(arguments.calls), lambda: seen.cost(arguments.calls))
    plain.end()
    seen.end()
    return judge("processor time of the hub per call with metrics and 1 % of traces, of that without", ratios, controls,
                 lambda ratio: ratio <= 1 / LEAST)


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
    alone = Caller(manifest(folder, "alone", listen=[{"http": "127.0.0.1:0", "api": True}]), {}, "--tokens", tokens)
    watched = Caller(path, {}, "--tokens", tokens)
    sockets = []
    for _ in range(arguments.readers):
        sockets.append(socket.create_connection(("127.0.0.1", watched.port)))
        sockets[-1].sendall(f"GET /api/v1/events HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Bearer {token}\r\nAccept: text/event-stream\r\n\r\n".encode())
        if b" 200 " not in sockets[-1].recv(4096):
            sys.exit("a reader is not let in")
    if os.fork() == 0:
        alone.hub.stdin.close()  # else the hubs do not see that their client is gone, and this waits for them
        watched.hub.stdin.close()
        read_all(sockets)
    ratios, controls = by_turns(arguments.turns, lambda: alone.cost(arguments.calls), lambda: watched.cost(arguments.calls))
    for each in sockets:
        each.close()
    alone.end()
    watched.end()
    return judge(f"processor time of the hub per call with {arguments.readers} readers of events, of that without", ratios, controls,
                 lambda ratio: ratio <= MOST)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--calls", type=int, default=300000)
    parser.add_argument("--turns", type=int, default=10)
    parser.add_argument("--readers", type=int, default=0)
    parser.add_argument("--processor", action="store_true")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="patchbay-observed-") as folder:
        measure = readers if arguments.readers else processor if arguments.processor else compare
        is_good = measure(arguments, folder)
    return 0 if is_good else 1


if __name__ == "__main__":
    sys.exit(main())
