#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What replicas cost a call, in instructions of the hubs (callgrind), so that other work on the machine counts nothing.

    ./bench/replicas_cost.py [--build FOLDER] [--calls 1000]

FOLDER (build/release) has the hub and its plugins. Held: a call of a session through the wrong replica costs both hubs
together at most 2.5 times what its home takes for one that comes directly; a call of a hub with a shared store, and of one
with replicas, at most 1.05 times one of a hub without; and a call of 2026-07-28 of a server on the network, at one to three replicas in
turn that share its catalog by the store, at most 1.05 times one of a hub without a store. What hubs do at their start and end is
taken off: each is started twice, for more calls and for fewer."""

import argparse
import json
import re
import secrets
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/support"))

from http_upstream import HttpUpstream  # noqa: E402

META = "io.modelcontextprotocol/"
MOST_WRONG, MOST_MORE = 2.5, 1.05
WARM_UP = 200
HEAD = ("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        "MCP-Protocol-Version: {revision}\r\n{more}Content-Length: {length}\r\n\r\n")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Hub:
    def __init__(self, options, folder, **manifest):
        home = Path(tempfile.mkdtemp(dir=folder))
        self.log = open(home / "log", "w+", encoding="utf-8")
        self.counts = home / "counts"
        path = home / "patchbay.json"
        manifest = {"hub": {"name": "bench", "remember": "none"}, "toolsets": {"time": {"module": "time"}}, "state": "off", **manifest}
        path.write_text(json.dumps(manifest), encoding="utf-8")
        self.process = subprocess.Popen(
            ["valgrind", "--tool=callgrind", f"--callgrind-out-file={self.counts}", options.build / "core/patchbay", "serve",
             "--config", path, "--http", "0", "--plugins-dir", options.build / "plugins"],
            cwd=home, env={"HOME": str(home)}, stdin=subprocess.DEVNULL, stderr=self.log)
        self.port = int(self.wait_log(r"listen\.ready url=\S+?:(\d+)/")[1])

    def wait_log(self, pattern):
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline and self.process.poll() is None:
            self.log.seek(0)
            found = re.search(pattern, self.log.read())
            if found:
                return found
            time.sleep(0.05)
        self.log.seek(0)
        sys.exit(f"the hub does not start:\n{self.log.read()}")

    def close(self):
        """Instructions of its life."""
        self.process.terminate()
        self.process.wait()
        self.log.close()
        return int(re.search(r"^(?:totals|summary): (\d+)", self.counts.read_text(encoding="utf-8"), re.M)[1])


class Client:
    """A connection that is kept."""

    revision = "2025-11-25"

    def __init__(self, hub, session=None):
        self.socket = socket.create_connection(("127.0.0.1", hub.port))
        self.lines = self.socket.makefile("rb")
        self.session = session

    def post(self, message):
        body = json.dumps(message).encode()
        more = f"Mcp-Session-Id: {self.session}\r\n" if self.session else self.more(message)
        self.socket.sendall(HEAD.format(revision=self.revision, more=more, length=len(body)).encode() + body)
        headers, line = {}, self.lines.readline()
        status = int(line.split()[1])
        while (line := self.lines.readline()) != b"\r\n":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, self.lines.read(int(headers.get("content-length", 0)))

    def more(self, message):  # pylint: disable=unused-argument
        return ""

    def begin(self):
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "bench", "version": "1"}}
        _, headers, _ = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params})
        self.session = headers["mcp-session-id"]
        self.post({"jsonrpc": "2.0", "method": "notifications/initialized"})
        self.post({"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
        return self

    def call(self, count):
        for number in range(count):
            status, _, body = self.post({"jsonrpc": "2.0", "id": number, "method": "tools/call",
                                         "params": {"name": "time__now", "arguments": {}}})
            if status != 200 or b'"result"' not in body:
                sys.exit(f"a call fails: {status} {body[:300]}")


class Modern(Client):
    """… of 2026-07-28, which knows no session."""

    revision = "2026-07-28"

    def more(self, message):
        return f"Mcp-Method: {message['method']}\r\nMcp-Name: {message['params']['name']}\r\n"

    def call(self, count):
        meta = {META + "protocolVersion": self.revision, META + "clientCapabilities": {}}
        for number in range(count):
            params = {"name": "up__a", "arguments": {"text": "hello"}, "_meta": meta}
            status, _, body = self.post({"jsonrpc": "2.0", "id": number, "method": "tools/call", "params": params})
            if status != 200 or b"hello" not in body:
                sys.exit(f"a call fails: {status} {body[:300]}")


def spread(options, count, start):
    """Instructions of `count` hubs for a call, of which each has as many."""
    totals = []
    for calls in (WARM_UP, WARM_UP + options.calls):
        hubs = [start() for _ in range(count)]
        clients = [Modern(hub) for hub in hubs]
        for number in range(calls):
            clients[number % count].call(1)
        totals.append(sum(hub.close() for hub in hubs))
    return (totals[1] - totals[0]) / options.calls


def cost(options, count, start, is_passed=False):
    """Instructions of `count` hubs for one call of a session at the first, which comes to the last if it `is_passed`."""
    totals = []
    for calls in (WARM_UP, WARM_UP + options.calls):
        hubs = [start() for _ in range(count)]
        client = Client(hubs[0]).begin()
        if is_passed:
            client = Client(hubs[-1], client.session)
        client.call(calls)
        totals.append(sum(hub.close() for hub in hubs))
    return (totals[1] - totals[0]) / options.calls


def hold(what, value, base, most):
    ratio = value / base
    print(f"{what}: {value:,.0f} instructions, {base:,.0f}: {ratio:.3f} times, at most {most}", flush=True)
    return ratio <= most


def start_store(folder):
    """Its address; None: there is no program for it."""
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    path = f"{folder}/store.sock"
    if program is None:
        return None, None
    store = subprocess.Popen([program, "--port", "0", "--save", "", "--unixsocket", path], cwd=folder, stdout=subprocess.PIPE, text=True)
    for line in store.stdout:
        if "eady to accept connections" in line:
            break
    return store, f"valkey+unix://{path}"


def measure(options, folder, state):
    keys = Path(folder) / "replicas.key"
    keys.write_text(secrets.token_hex(32), encoding="ascii")
    keys.chmod(0o600)

    def replica():
        replicas = {"key_file": str(keys), "listen": f"127.0.0.1:{free_port()}", "peers": ["127.0.0.1"]}
        return Hub(options, folder, replicas=replicas, state=state or "off")

    alone = cost(options, 1, lambda: Hub(options, folder))
    direct = cost(options, 1, replica)
    yield hold("with replicas, without", direct, alone, MOST_MORE)
    yield hold("through the wrong replica, directly", cost(options, 2, replica, True), direct, MOST_WRONG)
    if state:
        yield hold("with a shared store, without", cost(options, 1, lambda: Hub(options, folder, state=state)), alone, MOST_MORE)
        yield from measure_shared(options, folder, state, str(keys))
    else:
        print("neither valkey-server nor redis-server is installed: the store is left out")


def measure_shared(options, folder, state, keys):
    server = HttpUpstream(tools=[{"name": "a", "inputSchema": {"type": "object"}}], sessions=False)
    hub = {"name": "bench", "cache": False}
    toolsets = {"up": {"url": server.url}}
    alone = spread(options, 1, lambda: Hub(options, folder, hub=hub, toolsets=toolsets))
    for count in (1, 2, 3):
        several = spread(options, count, lambda: Hub(options, folder, hub=hub, toolsets=toolsets, state=state, replicas={"key_file": keys}))
        yield hold(f"of a server on the network, {count} replicas that share its catalog, one hub without a store", several, alone, MOST_MORE)
    server.close()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), default=HERE.parent / "build/release")
    parser.add_argument("--calls", type=int, default=1000)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        store, state = start_store(folder)
        good = list(measure(options, folder, state))
        if store:
            store.kill()
            store.wait()
            store.stdout.close()
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
