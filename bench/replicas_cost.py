#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What replicas cost a call, in processor time of the hubs alone, so that other work on the machine counts little.

    ./bench/replicas_cost.py [--build FOLDER] [--calls 2000] [--rounds 5]

FOLDER (build/release) has the hub and its plugins. Held: a call of a session through the wrong replica costs both hubs
together at most 2.5 times what its home takes for one that comes directly; a call of a hub with a shared store at most 1.05
times one of a hub without, and the store hears nothing of it. Each figure is the least of the rounds, which take turns."""

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
MOST_WRONG, MOST_STORE = 2.5, 1.05
WARM_UP = 200
HEAD = ("POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nAccept: application/json, text/event-stream\r\n"
        "MCP-Protocol-Version: 2025-11-25\r\n{more}Content-Length: {length}\r\n\r\n")


def free_port():
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return probe.getsockname()[1]


class Hub:
    def __init__(self, options, folder, name, **manifest):
        home = Path(folder) / name
        home.mkdir()
        self.log = open(home / "log", "w+", encoding="utf-8")
        path = home / "patchbay.json"
        manifest = {"hub": {"name": "bench", "remember": "none"}, "toolsets": {"time": {"module": "time"}}, "state": "off", **manifest}
        path.write_text(json.dumps(manifest), encoding="utf-8")
        self.process = subprocess.Popen(
            [options.build / "core/patchbay", "serve", "--config", path, "--http", "0", "--plugins-dir", options.build / "plugins"],
            cwd=home, env={"HOME": str(home), "ASAN_OPTIONS": "intercept_tls_get_addr=0"}, stdin=subprocess.DEVNULL, stderr=self.log)
        self.port = int(self.wait_log(r"listen\.ready url=\S+?:(\d+)/")[1])

    def wait_log(self, pattern):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline and self.process.poll() is None:
            self.log.seek(0)
            found = re.search(pattern, self.log.read())
            if found:
                return found
            time.sleep(0.05)
        self.log.seek(0)
        sys.exit(f"the hub does not start:\n{self.log.read()}")

    def nanoseconds(self):
        return sum(int((task / "schedstat").read_text(encoding="ascii").split()[0])
                   for task in Path(f"/proc/{self.process.pid}/task").iterdir())

    def close(self):
        self.process.terminate()
        self.process.wait()
        self.log.close()


class Client:
    """A connection that is kept."""

    def __init__(self, hub, session=None):
        self.socket = socket.create_connection(("127.0.0.1", hub.port))
        self.lines = self.socket.makefile("rb")
        self.session = session

    def post(self, message):
        body = json.dumps(message).encode()
        more = f"Mcp-Session-Id: {self.session}\r\n" if self.session else ""
        self.socket.sendall(HEAD.format(more=more, length=len(body)).encode() + body)
        headers, line = {}, self.lines.readline()
        status = int(line.split()[1])
        while (line := self.lines.readline()) != b"\r\n":
            name, _, value = line.decode().partition(":")
            headers[name.lower()] = value.strip()
        return status, headers, self.lines.read(int(headers.get("content-length", 0)))

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


def cost(client, hubs, calls):
    """Microseconds of all hubs for one call."""
    before = sum(hub.nanoseconds() for hub in hubs)
    client.call(calls)
    return (sum(hub.nanoseconds() for hub in hubs) - before) / 1000 / calls


def hold(what, value, base, most):
    ratio = value / base
    print(f"{what}: {value:.1f} µs, {base:.1f} µs: {ratio:.2f} times, at most {most}")
    return ratio <= most


def compare(options, first, second):
    """The least of each, in turns."""
    found = ([], [])
    for client, _ in (first, second):
        client.call(WARM_UP)
    for _ in range(options.rounds):
        for values, (client, hubs) in zip(found, (first, second)):
            values.append(cost(client, hubs, options.calls))
    return min(found[0]), min(found[1])


def wrong_replica(options, folder):
    keys = Path(folder) / "replicas.key"
    keys.write_text(secrets.token_hex(32), encoding="ascii")
    keys.chmod(0o600)
    home, other = (Hub(options, folder, name, replicas={"key_file": str(keys), "listen": f"127.0.0.1:{free_port()}", "peers": ["127.0.0.1"]})
                   for name in ("home", "other"))
    direct = Client(home).begin()
    direct_cost, passed_cost = compare(options, (direct, [home, other]), (Client(other, direct.session), [home, other]))
    home.close()
    other.close()
    return hold("through the wrong replica, directly", passed_cost, direct_cost, MOST_WRONG)


def with_store(options, folder):
    program = shutil.which("valkey-server") or shutil.which("redis-server")
    if program is None:
        print("neither valkey-server nor redis-server is installed: the store is left out")
        return True
    path = f"{folder}/store.sock"
    store = subprocess.Popen([program, "--port", "0", "--save", "", "--unixsocket", path], cwd=folder, stdout=subprocess.PIPE, text=True)
    for line in store.stdout:
        if "eady to accept connections" in line:
            break
    alone, shared = Hub(options, folder, "alone"), Hub(options, folder, "shared", state=f"valkey+unix://{path}")
    base, value = compare(options, (Client(alone).begin(), [alone]), (Client(shared).begin(), [shared]))
    alone.close()
    shared.close()
    store.kill()
    store.wait()
    store.stdout.close()
    return hold("with a shared store, without", value, base, MOST_STORE)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), default=HERE.parent / "build/release")
    parser.add_argument("--calls", type=int, default=2000)
    parser.add_argument("--rounds", type=int, default=5)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        good = [wrong_replica(options, folder), with_store(options, folder)]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
