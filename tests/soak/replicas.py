#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three replicas with one store behind haproxy, round robin without stickiness, while all of them have accidents.

    tests/soak/replicas.py [--minutes N | --hours N] [--accidents N] [--seed N] [--clients N] [--only WORD] [--catalogs]

Replicas are killed, stopped for a while, and rolled (SIGTERM, and started again); the store is killed and comes back empty,
or stands still; the balancer is reloaded. Meanwhile clients of both eras, each a principal of its own, call a tool that says
what it was told; with --catalogs also one of a server on the network, whose catalog the replicas have from each other, and list
their tools. Each client writes down what became of each call. Out of that it is proven in the end that

- no answer was a wrong one, or another client's;
- a session that was lost was told so: by 404, or by the end of its stream;
- no call failed otherwise but within 2 s of an accident, or while one lasted (--grace);
- a roll is no accident to clients: no call failed by it alone, and with `--only rolled` no session was lost either.

The last line is "N passed, N failed"; the seed is printed first, and with it the accidents are the same ones.
Environment: PATCHBAY_BIN, PATCHBAY_PLUGINS as for the black-box tests."""

import argparse
import collections
import contextlib
import http.client
import itertools
import json
import os
import random
import secrets
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "support"))

from http_upstream import HttpUpstream  # noqa: E402
from ports import port_of, reserve  # noqa: E402

META = "io.modelcontextprotocol/"
REPLICAS = 3
LIST_EVERY = 20  # requests of a client
HAPROXY = """
defaults
    mode http
    option abortonclose
    option redispatch
    retries 3
    timeout connect 1s
    timeout client 60s
    timeout server 60s
frontend front
    bind 127.0.0.1:{port}
    default_backend back
backend back
    balance roundrobin
    option httpchk GET /readyz
    timeout check 10s
    default-server check inter 100 rise 1 fall 1 observe layer4
{servers}
"""


class Replica:
    def __init__(self, folder, number, manifest):
        self.home = folder / f"hub{number}"
        self.home.mkdir()
        self.reserved = reserve(), reserve()  # nobody else is given them while it is not there
        self.port, self.peer_port = map(port_of, self.reserved)
        manifest = {**manifest, "listen": [{"http": f"127.0.0.1:{self.port}"}]}
        manifest["replicas"] = {**manifest["replicas"], "listen": f"127.0.0.1:{self.peer_port}"}
        (self.home / "patchbay.json").write_text(json.dumps(manifest), encoding="utf-8")
        self.log = open(self.home / "log", "a", encoding="utf-8")
        self.start()

    def start(self):
        self.process = subprocess.Popen(
            [os.environ["PATCHBAY_BIN"], "serve", "--config", self.home / "patchbay.json", "--plugins-dir", os.environ["PATCHBAY_PLUGINS"]],
            cwd=self.home, env={**os.environ, "HOME": str(self.home)}, stdin=subprocess.DEVNULL, stderr=self.log)
        self.wait_ready()

    def wait_ready(self):
        deadline = time.monotonic() + 60
        while time.monotonic() < deadline:
            with contextlib.suppress(OSError, http.client.HTTPException):
                connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=5)
                connection.request("GET", "/readyz")
                if connection.getresponse().status == 200:
                    return
            time.sleep(0.05)
        raise RuntimeError(f"a replica does not start: {(self.home / 'log').read_text()[-2000:]}")


class Store:
    def __init__(self, folder):
        self.folder = folder / "store"
        self.folder.mkdir()
        self.url = f"valkey+unix://{self.folder}/store.sock"
        self.start()

    def start(self):
        program = shutil.which("valkey-server") or shutil.which("redis-server")
        self.process = subprocess.Popen([program, "--port", "0", "--save", "", "--unixsocket", f"{self.folder}/store.sock"],
                                        cwd=self.folder, stdout=subprocess.DEVNULL)


class Client(threading.Thread):
    """One principal. `seen`: (when it began, when it ended, what became of it) of each call."""

    def __init__(self, number, port, token, is_modern, over, servers):
        super().__init__(daemon=True)
        self.servers = servers
        self.number, self.port, self.token, self.is_modern, self.over = number, port, token, is_modern, over
        self.session, self.calls, self.seen = None, 0, []

    def post(self, message, method, name=None):
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=30)
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
                   "Authorization": f"Bearer {self.token}"}
        if self.is_modern:
            headers |= {"MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method} | ({"Mcp-Name": name} if name else {})
        elif self.session:
            headers |= {"Mcp-Session-Id": self.session, "MCP-Protocol-Version": "2025-11-25"}
        try:
            connection.request("POST", "/mcp", json.dumps(message), headers)
            response = connection.getresponse()
            return response.status, response.getheader("Mcp-Session-Id"), response.read()
        finally:
            connection.close()

    def begin(self):
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
        status, session, _ = self.post({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params}, "initialize")
        if status != 200 or not session:
            return f"initialize: {status}"
        self.session = session
        status, _, _ = self.post({"jsonrpc": "2.0", "method": "notifications/initialized"}, "")
        return None if status == 202 else "lost" if status == 404 else f"initialized: {status}"

    def call(self):
        self.calls += 1
        server = self.servers[self.calls % len(self.servers)]
        said = {"client": self.number, "call": self.calls}
        if len(self.servers) > 1 and self.calls % LIST_EVERY == 0:
            return self.ask("tools/list", {}, self.judge_list)
        params = {"name": f"{server}__echo", "arguments": said}
        return self.ask("tools/call", params, lambda result: self.judge_call(result, {"server": server, **said}))

    def judge_list(self, result):
        names = {tool["name"] for tool in result["tools"] if "__" in tool["name"]}
        return "right" if names == {f"{server}__echo" for server in self.servers} else f"WRONG list {names}"

    def judge_call(self, result, said):
        echoed = json.loads(result["content"][0]["text"])
        return "right" if echoed == said else f"WRONG {echoed} for {said}"

    def ask(self, method, params, judge):
        if self.is_modern:
            params["_meta"] = {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}
        status, _, body = self.post({"jsonrpc": "2.0", "id": self.calls, "method": method, "params": params}, method, params.get("name"))
        if status == 404 and not self.is_modern:
            self.session = None
            return "lost"
        if status != 200:
            return f"status {status}"
        text = body.decode()
        if text.startswith(("event:", "data:", "id:", ":", "retry:")):
            text = [line[5:] for line in text.splitlines() if line.startswith("data:") and len(line) > 6][-1]
        answer = json.loads(text)
        if answer.get("id") != self.calls:
            return f"WRONG id {answer.get('id')} for {self.calls}"
        result = answer.get("result")
        if result is None or result.get("isError"):
            return f"failed: {text[:120]}"
        return judge(result)

    def run(self):
        while not self.over.is_set():
            began = time.monotonic()
            try:
                became = None
                if not self.is_modern and self.session is None:
                    became = self.begin()
                became = became or self.call()
            except (OSError, http.client.HTTPException, ValueError) as error:
                became = f"{type(error).__name__}"
            if became == "lost":
                self.session = None
            self.seen.append((began, time.monotonic(), became))
            if became != "right":
                self.over.wait(0.05)


class Accidents:
    """What happens, and from when to when."""

    def __init__(self, random_, replicas, store, balancer, only):
        self.random, self.replicas, self.store, self.balancer, self.only = random_, replicas, store, balancer, only
        self.all = []

    def note(self, what, happen):
        began = time.monotonic()
        happen()
        self.all.append((began, time.monotonic(), what))
        print(f"  {what}, {self.all[-1][1] - began:.1f} s", flush=True)

    def kill(self, replica):
        replica.process.kill()
        replica.process.wait()
        time.sleep(self.random.uniform(0, 2))
        replica.start()

    def roll(self, replica):
        replica.process.terminate()
        replica.process.wait()
        replica.start()

    def stop(self, process):
        process.send_signal(signal.SIGSTOP)
        time.sleep(self.random.uniform(0.5, 3))
        process.send_signal(signal.SIGCONT)

    def lose_store(self):
        self.store.process.kill()
        self.store.process.wait()
        time.sleep(self.random.uniform(0, 2))
        self.store.start()

    def next(self):
        replica = self.random.choice(self.replicas)
        number = self.replicas.index(replica)
        all_of_them = [
            (f"replica {number} is killed", lambda: self.kill(replica)),
            (f"replica {number} stands still", lambda: self.stop(replica.process)),
            (f"replica {number} is rolled", lambda: self.roll(replica)),
            ("the store is killed, and comes back empty", self.lose_store),
            ("the store stands still", lambda: self.stop(self.store.process)),
            ("the balancer is reloaded", lambda: self.balancer.send_signal(signal.SIGUSR2)),
        ]
        self.note(*self.random.choice([one for one in all_of_them if self.only in one[0]]))


def start_haproxy(folder, port, replicas):
    servers = "\n".join(f"    server hub{i} 127.0.0.1:{replica.port}" for i, replica in enumerate(replicas))
    path = folder / "haproxy.cfg"
    path.write_text(HAPROXY.format(port=port, servers=servers), encoding="utf-8")
    return subprocess.Popen(["haproxy", "-W", "-db", "-f", str(path)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def start_server():
    """A server on the network, whose one tool does what that of echo_server.py does. What it has heard is not kept."""
    server = HttpUpstream(sessions=False)
    server.requests = collections.deque(maxlen=100)
    server.lists = itertools.count()

    def list_tools(x):
        next(server.lists)
        server.list_tools(x)

    server.on["tools/list"] = list_tools
    server.on["tools/call"] = lambda x: x.result(server.said(json.dumps({"server": "net", **x.params["arguments"]})))
    return server


def make_tokens(folder, count):
    file, tokens = folder / "tokens.json", []
    for number in range(count):
        done = subprocess.run([os.environ["PATCHBAY_BIN"], "token", "new", f"client{number}", "--tokens", file], capture_output=True, text=True, check=True)
        tokens.append(done.stdout.strip())
    return file, tokens


def check(clients, accidents, grace, only):
    seen = [(client, *what) for client in clients for what in client.seen]
    wrong = [(client.number, became) for client, _, _, became in seen if became.startswith("WRONG")]
    failed = [(began, ended, became, client.number) for client, began, ended, became in seen
              if became not in ("right", "lost") and not became.startswith("WRONG")]
    # A call that was under way while an accident lasted, or soon after, may have failed by it.
    stray = [what for what in failed if not any(begin <= what[1] and what[0] <= end + grace for begin, end, _ in accidents)]
    overlap = [{word for begin, end, word in accidents if begin <= what[1] and what[0] <= end + grace} for what in failed]
    rolled = [what for what, words in zip(failed, overlap) if words and all("rolled" in word for word in words)]
    idle = [client.number for client in clients if not any(became == "right" for _, _, became in client.seen[-20:])]
    counts = collections.Counter("right" if became == "right" else "lost" if became == "lost" else "failed" for _, _, _, became in seen)
    print(f"{len(seen)} calls: {dict(counts)}; failures: {dict(collections.Counter(what[2][:60] for what in failed))}")
    results = {
        "no wrong answer": not wrong,
        "no failure without an accident": not stray,
        "no failure by a roll": not rolled,
        "no session lost by rolls": only != "rolled" or counts["lost"] == 0,
        "everybody is served in the end": not idle,
        "there was something to see": counts["right"] > 10 * len(clients),
    }
    for name, good in results.items():
        if not good:
            print(f"{name}: no. wrong {wrong[:5]}, stray {stray[:5]}, rolled {rolled[:5]}, not served {idle[:5]}")
    good = sum(results.values())
    print(f"{good} passed, {len(results) - good} failed")
    return 0 if good == len(results) else 1


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=1)
    parser.add_argument("--hours", type=float, default=0)
    parser.add_argument("--accidents", type=int, default=0, help="go on until there were so many, however long they take")
    parser.add_argument("--seed", type=int, default=None)
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--grace", type=float, default=2)
    parser.add_argument("--only", default="", metavar="WORD", help="accidents that have it in their names")
    parser.add_argument("--catalogs", action="store_true", help="a server on the network, too, whose catalog the replicas share")
    options = parser.parse_args()
    options.minutes += 60 * options.hours
    seed = options.seed if options.seed is not None else secrets.randbelow(1 << 31)
    print(f"seed {seed}", flush=True)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys = folder / "replicas.key"
        keys.write_text(secrets.token_hex(32), encoding="ascii")
        keys.chmod(0o600)
        store = Store(folder)
        tokens_file, tokens = make_tokens(folder, options.clients)
        manifest = {
            "hub": {"name": "soak"}, "state": {"url": store.url}, "auth": {"tokens": str(tokens_file)},
            "toolsets": {"echo": {"command": sys.executable, "args": [str(HERE / "echo_server.py"), "echo"]}},
            "replicas": {"key_file": str(keys), "peers": ["127.0.0.1"], "count": REPLICAS, "leave": "2s"}, "limits": {"drain_timeout": "5s"},
        }
        server = start_server() if options.catalogs else None
        if server:
            manifest["toolsets"]["net"] = {"url": server.url}
            manifest["hub"]["cache"] = False  # as on machines of their own
        replicas = [Replica(folder, number, manifest) for number in range(REPLICAS)]
        reserved = reserve()
        port = port_of(reserved)
        balancer = start_haproxy(folder, port, replicas)
        time.sleep(1)
        over = threading.Event()
        clients = [Client(number, port, token, number % 2 == 1, over, list(manifest["toolsets"])) for number, token in enumerate(tokens)]
        accidents = Accidents(random.Random(seed), replicas, store, balancer, options.only)
        began = time.monotonic()
        accidents.all.append((began, began + 1, "the start"))
        for client in clients:
            client.start()
        while time.monotonic() - began < options.minutes * 60 or len(accidents.all) <= options.accidents:
            time.sleep(accidents.random.uniform(1, 4))
            accidents.next()
        time.sleep(options.grace + 3)
        over.set()
        for client in clients:
            client.join()
        if server:
            print(f"the server on the network was asked {next(server.lists)} times what it offers")
            server.close()
        balancer.terminate()
        balancer.wait()
        for replica in replicas:
            replica.process.terminate()
        for replica in replicas:
            replica.process.wait()
            text = (replica.home / "log").read_text(encoding="utf-8", errors="replace")
            replica.log.close()
            if "Sanitizer" in text or "runtime error" in text:
                print(text[-3000:])
                print("0 passed, 1 failed")
                return 1
        store.process.kill()
        store.process.wait()
        return check(clients, accidents.all, options.grace, options.only)


if __name__ == "__main__":
    sys.exit(main())
