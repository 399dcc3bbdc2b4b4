# SPDX-License-Identifier: Apache-2.0
"""The programs of the benchmark: how they are built, started and asked."""

import json
import os
import pathlib
import re
import socket
import subprocess
import sys
import threading

from . import payloads

ROOT = pathlib.Path(__file__).resolve().parents[2]
PINNED_CPU = min(os.sched_getaffinity(0))
RUNS = 3  # of one measurement in a round
WAIT_SECONDS = 120  # longer than anything takes: only a program that hangs meets it


def build():
    """The release build, with what is measured beside the hub. Where it is."""
    configure = ["cmake", "--preset", "release", "-DBUILD_TESTING=OFF", "-DPATCHBAY_BENCH=ON"]
    for command in (configure, ["cmake", "--build", "--preset", "release"]):
        done = subprocess.run(command, cwd=ROOT, stdin=subprocess.DEVNULL, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"bench: {' '.join(command)} failed:\n{done.stdout[-4000:]}{done.stderr[-4000:]}")
    return ROOT / "build/release"


def pin():
    os.sched_setaffinity(0, {PINNED_CPU})


class Programs:
    """Paths, and a folder for what they need."""

    def __init__(self, built, folder):
        self.hub = str(built / "core/patchbay")
        self.plugins = str(built / "plugins")
        self.noop_plugins = str(built / "bench/plugins")
        self.upstream, self.relay, self.echo, self.http_pipes, self.loadgen, self.allocations = (
            str(built / "bench" / name)
            for name in ("upstream", "relay", "http_echo", "http_pipes", "loadgen", "allocations.so")
        )
        for path in (self.hub, self.upstream, self.loadgen, self.noop_plugins):
            if not os.path.exists(path):
                sys.exit(f"bench: {path} is not there: build with -DPATCHBAY_BENCH=ON")
        self.folder = folder
        self.env = {**os.environ, "XDG_CACHE_HOME": str(folder / "cache"), "XDG_STATE_HOME": str(folder / "state")}

    def load(self, *arguments, pinned=False, env=None):
        """Run the load generator a few times; what the fastest run measured: whatever else the
        machine does can only make one slower."""
        return max(
            (self.load_once(*arguments, pinned=pinned, env=env) for _ in range(RUNS)),
            key=lambda run: run["calls_per_second"],
        )

    def load_once(self, *arguments, pinned=False, env=None, wait=WAIT_SECONDS):
        done = subprocess.run(
            [self.loadgen, *map(str, arguments)],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env={**self.env, **(env or {})},
            timeout=wait,
            preexec_fn=pin if pinned else None,
        )
        if done.returncode != 0:
            raise RuntimeError(f"loadgen {' '.join(map(str, arguments))}: {done.stderr.decode()[-600:]}")
        return json.loads(done.stdout)

    def manifest(self, toolsets, **more):
        """A manifest file for a hub; cached upstreams only where a row is about them."""
        text = json.dumps(
            {
                "hub": {"page_size": 100000, "cache": False, **more.pop("hub", {})},
                "modules": {"paths": [self.plugins, self.noop_plugins], "allow_writable": True},
                "toolsets": toolsets,
                **more,
            }
        )
        path = self.folder / f"hub-{abs(hash(text))}.json"
        path.write_text(text)
        return str(path)

    def hub_command(self, toolsets, **more):
        return [self.hub, "--config", self.manifest(toolsets, **more), "--log-level", "error"]

    def keep_records(self, command, count):
        """A store with the choices of as many principals, where the hub of that command finds it."""
        head = {"patchbayState": 1}
        record = {"scope": "bench", "kind": "active", "key": "default", "version": 1, "document": {"enabled": ["up0"]}}
        lines = [head, *({**record, "owner": f"token:t{n}"} for n in range(count))]
        text = "".join(json.dumps(line) + "\n" for line in lines)
        importing = [self.hub, "state", "import", "-", "--keep", *command[1:3]]
        subprocess.run(importing, input=text, stdout=subprocess.DEVNULL, env=self.env, text=True, check=True)

    def server(self, *arguments):
        """An upstream's entry in a manifest."""
        return {"command": self.upstream, "args": list(map(str, arguments))}

    def text(self, kind, size):
        """Options by which the load generator or an upstream carries a text of that kind."""
        return ("--text", payloads.text_file(self.folder, kind, size))

    def real_tools(self, count):
        """Options by which an upstream has tools with the schemas of real functions."""
        return ("--tools-file", payloads.tools_file(self.folder, count))

    def tool_bytes(self, count):
        """The mean length of their definitions."""
        return os.path.getsize(payloads.tools_file(self.folder, count)) / count


def memory(pid, what="VmRSS"):
    """Resident bytes of a process alone; RssAnon: those that are no file's."""
    for line in pathlib.Path(f"/proc/{pid}/status").read_text().splitlines():
        if line.startswith(what + ":"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} is gone")


def share_of(pid):
    """The proportional share of a process alone: of a page that several have, its part."""
    for line in pathlib.Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} is gone")


def descendants(pid):
    """The process, and all that it and its children started, with their parents first."""
    found = [pid]
    for one in found:
        for task in pathlib.Path(f"/proc/{one}/task").glob("*/children"):
            found += map(int, task.read_text().split())
    return found


def memory_of_all(pid, folder):
    """Bytes of all processes below `pid` whose program lies in that folder: resident, summed, and their proportional
    share, in which a page that several have counts once."""
    resident = proportional = 0
    for one in descendants(pid):
        if not os.readlink(f"/proc/{one}/exe").startswith(str(folder) + "/"):
            continue  # a server: it is there without a hub, too
        resident += memory(one)
        proportional += share_of(one)
    return resident, proportional


def request(number, method, **params):
    return json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params})


INITIALIZE = request(
    1, "initialize", protocolVersion="2025-11-25", capabilities={}, clientInfo={"name": "bench", "version": "1"}
)
INITIALIZED = json.dumps({"jsonrpc": "2.0", "method": "notifications/initialized"})


class StdioHub:
    """A hub with one client, over pipes."""

    def __init__(self, programs, command):
        self.folder = pathlib.Path(programs.hub).resolve().parent
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, env=programs.env)
        self.number = 1
        self.write(INITIALIZE)
        self.answer(1)
        self.write(INITIALIZED)

    def write(self, text):
        self.process.stdin.write(text.encode() + b"\n")
        self.process.stdin.flush()

    def answer(self, number):
        """The line that answers, unread: only its head and tail are looked at."""
        mark = b'"id":%d' % number
        for line in self.process.stdout:
            if mark in line[:64]:
                return line
        raise RuntimeError("the hub ended")

    def ask(self, method, **params):
        self.number += 1
        self.write(request(self.number, method, **params))
        return self.answer(self.number)

    def memory(self, what="VmRSS"):
        return memory(self.process.pid, what)

    def share(self):
        return share_of(self.process.pid)

    def memory_of_all(self):
        """Of the hub and of the guards of its servers, which are programs beside it."""
        return memory_of_all(self.process.pid, self.folder)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.stdin.close()
        self.process.stdout.read()
        self.process.wait(WAIT_SECONDS)


class Server:
    """A process with a port."""

    def __init__(self, process, port):
        self.process, self.port = process, port

    def memory(self):
        return memory(self.process.pid)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.process.terminate()
        self.process.wait(WAIT_SECONDS)


def http_hub(programs, toolsets, pinned=False, env=None, listen=(), **http):
    """A hub that listens over HTTP, with those keys of the listener, ready."""
    manifest = programs.manifest(
        toolsets, listen=[*listen, {"http": "127.0.0.1:0", **http}], limits={"sessions": 20000, "sessions_per_principal": 20000}
    )
    process = subprocess.Popen(
        [programs.hub, "--config", manifest, "--log-format", "json"],
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        env={**programs.env, **(env or {})},
        preexec_fn=pin if pinned else None,
    )
    for line in process.stderr:
        ready = re.search(rb'"listen.ready".*?//[^:]+:(\d+)', line)
        if ready:
            threading.Thread(target=process.stderr.read, daemon=True).start()  # the pipe never fills
            return Server(process, int(ready[1]))
    raise RuntimeError(f"the hub did not start: {process.wait()}")


def echo(programs, size):
    process = subprocess.Popen([programs.echo, "--bytes", str(size)], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return Server(process, int(process.stdout.readline()))


def open_sessions(port, count):
    """Legacy sessions, idle, all opened over one connection that is then closed."""
    with socket.create_connection(("127.0.0.1", port)) as connection:
        reader = connection.makefile("rb")
        for _ in range(count):
            post(connection, INITIALIZE)
            session = read_answer(reader)["mcp-session-id"]
            post(connection, INITIALIZED, f"Mcp-Session-Id: {session}\r\n")
            read_answer(reader)


def post(connection, body, extra=""):
    head = (
        "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
        f"Accept: application/json, text/event-stream\r\n{extra}Content-Length: {len(body)}\r\n\r\n"
    )
    connection.sendall((head + body).encode())


def read_answer(reader):
    """Headers of an answer, whose body is read and dropped."""
    status = reader.readline()
    if not status.startswith((b"HTTP/1.1 200", b"HTTP/1.1 202")):
        raise RuntimeError(f"unexpected answer: {status!r}")
    headers = {}
    for line in iter(reader.readline, b"\r\n"):
        name, _, value = line.decode().partition(":")
        headers[name.lower()] = value.strip()
    reader.read(int(headers.get("content-length", 0)))
    return headers
