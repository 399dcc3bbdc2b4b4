#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How far one store carries replicas: a model, with measured costs as its input.

    ./bench/replicas_model.py [--replicas 3,10,30,100,300] [--latency 0.2,1,5] [--sessions 1000000] [--principals 100000]
                              [--calls 0.2] [--limited 0.1] [--changes 1] [--seed N] [--verify]

What costs the store something is measured first, on a server of the distribution that this script starts: processor
time of each verb of engines/valkey/state.lua, so that other work on the machine does not count. What does not speak to
the store costs it nothing: calls of tools without tools.limits, sessions (their ids name their homes), requests that are
passed on between replicas.

The store is one queue with one server (a Valkey runs scripts on one thread): requests of all replicas come at random,
each takes its verb's time. --verify runs that queue event by event, with a seed, beside the formula, and fails when they
differ by more than a tenth.

--calls: of one session, per second. --limited: which part of them have a limit that hubs share. --changes: of active
sets, saved toolsets and so on, per second, by all principals together; each is written once and read by every replica."""

import argparse
import collections
import random
import shutil
import socket
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
SCRIPT = HERE.parent / "engines/valkey/state.lua"
KEYS = [f"patchbay:state:{name}" for name in ("meta", "names", "records", "changes", "gone", "stage")]
CHANNEL = "patchbay:changes:0"
DEADLINE_MS = 250  # HUB_LIMIT_STATE_COMMAND_MS: what takes longer counts as "the store is gone"
IN_FLIGHT = 4096  # HUB_LIMIT_STATE_OPERATIONS: of one replica
LOOK_S = 5  # HUB_LIMIT_STATE_TRUTH_MS: each replica looks for changes so often
RECORDS = 200_000  # HUB_LIMIT_STATE_RECORDS
OBJECT = 250  # bytes of a record of an active set, about
MOST_LOAD = 0.7  # of the one thread: above that, waiting grows faster than load


class Server:
    """A store on a Unix socket, and how much processor time it has used."""

    def __init__(self, folder):
        program = shutil.which("valkey-server") or shutil.which("redis-server")
        if program is None:
            sys.exit("neither valkey-server nor redis-server is installed")
        path = f"{folder}/store.sock"
        self.process = subprocess.Popen([program, "--port", "0", "--save", "", "--unixsocket", path], cwd=folder,
                                        stdout=subprocess.PIPE, text=True)
        for line in self.process.stdout:
            if "eady to accept connections" in line:
                break
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")

    def seconds(self):
        """Of its processor time, from the scheduler's own account in nanoseconds."""
        total = 0
        for task in Path(f"/proc/{self.process.pid}/task").iterdir():
            total += int((task / "schedstat").read_text(encoding="ascii").split()[0])
        return total / 1e9

    def say(self, commands):
        """Send commands at once; their answers."""
        parts = []
        for command in commands:
            words = [str(word).encode() for word in command]
            parts.append(b"*%d\r\n" % len(words) + b"".join(b"$%d\r\n%s\r\n" % (len(word), word) for word in words))
        self.socket.sendall(b"".join(parts))
        return [self.answer() for _ in commands]

    def answer(self):
        line = self.lines.readline()[:-2]
        kind, rest = line[:1], line[1:]
        if kind == b"-":
            sys.exit(f"the store refuses: {rest.decode()}")
        if kind == b"$":
            return None if rest == b"-1" else self.lines.read(int(rest) + 2)[:-2]
        if kind == b"*":
            return [self.answer() for _ in range(int(rest))] if rest != b"-1" else None
        return rest

    def close(self):
        self.process.kill()
        self.process.wait()
        self.process.stdout.close()


def measure(batch=200, rounds=20):
    """Microseconds of the store's processor for one of each verb."""
    source = SCRIPT.read_text(encoding="utf-8")
    with tempfile.TemporaryDirectory() as folder:
        server = Server(folder)
        (sha,) = server.say([["SCRIPT", "LOAD", source]])

        def verb(name, *rest):
            return ["EVALSHA", sha.decode(), len(KEYS), *KEYS, name, CHANNEL, *rest]

        document = ' 0  {"enabled":[' + ",".join(f'"toolset{i}"' for i in range(OBJECT // 12)) + "]}"
        number = iter(range(1 << 60))
        verbs = {
            "take": lambda: verb("take", f"patchbay:rate:team:{next(number) % 1000}", 1000, 1_000_000),
            "put": lambda: verb("put", f"team\0active\0owner{next(number) % 5000}\0key", "*", "", document, "e" * 32, RECORDS, 1000),
            "get": lambda: verb("get", f"team\0active\0owner{next(number) % 5000}\0key"),
            "look": lambda: verb("look", "e" * 32, seen, 100),
        }
        found = {}
        for name, make in verbs.items():
            (seen,) = [(known or b"0").decode() for known in server.say([["HGET", KEYS[0], "changed"]])]
            server.say([make() for _ in range(batch)])
            before = server.seconds()
            for _ in range(rounds):
                server.say([make() for _ in range(batch)])
            found[name] = (server.seconds() - before) * 1e6 / (batch * rounds)
        server.close()
    return found


def demand(options, costs, replicas):
    """What all replicas together ask for, per second and verb."""
    calls = options.sessions * options.calls
    # A principal's active set is read where it appears first: with requests that go anywhere, once at each replica an hour.
    return {
        "take": calls * options.limited,
        "put": options.changes,
        "get": options.changes * replicas + options.principals * replicas / 3600,
        "look": replicas / LOOK_S + options.changes * replicas,
    }


def load_of(rates, costs):
    return sum(rates[name] * costs[name] for name in rates) / 1e6


def wait_ms(rates, costs):
    """The mean time in the queue: Pollaczek and Khinchine, each verb takes a fixed time. None: it grows without end."""
    load = load_of(rates, costs)
    if load >= 1:
        return None
    second = sum(rates[name] * costs[name] ** 2 for name in rates) / 1e12
    return 1000 * second / (2 * (1 - load))


def simulate_ms(rates, costs, seed, events=400_000):
    """The same, event by event."""
    random_ = random.Random(seed)
    names, total = list(rates), sum(rates.values())
    weights = [rates[name] for name in names]
    now = free = waited = 0.0
    for name in random_.choices(names, weights, k=events):
        now += random_.expovariate(total)
        start = max(now, free)
        waited += start - now
        free = start + costs[name] / 1e6
    return 1000 * waited / events


def verify(costs, seed):
    for load in (0.2, 0.5, 0.7):
        rates = {"take": 1.0, "put": 0.01, "get": 0.1, "look": 0.05}
        scale = load / load_of(rates, costs)
        rates = {name: rate * scale for name, rate in rates.items()}
        formula, events = wait_ms(rates, costs), simulate_ms(rates, costs, seed)
        print(f"load {load:.1f}: {formula:.4f} ms by formula, {events:.4f} ms by {400_000:,} events")
        if abs(formula - events) > 0.1 * formula:
            sys.exit("the formula and the events differ")


def row(options, costs, replicas, latency_ms):
    rates = demand(options, costs, replicas)
    load, waited = load_of(rates, costs), wait_ms(rates, costs)
    # What a limited call waits, and how many a replica can have on their way at once.
    held = None if waited is None else latency_ms + costs["take"] / 1000 + waited
    own = IN_FLIGHT / (latency_ms / 1000) if latency_ms > 0 else float("inf")
    says = "saturated" if waited is None or held > DEADLINE_MS else "busy" if load > MOST_LOAD else "fine"
    if rates["take"] / replicas > own:
        says = "too many on their way"
    return (replicas, latency_ms, f"{sum(rates.values()):,.0f}", f"{100 * load:.0f} %", "-" if held is None else f"{held:.2f}", says)


def carries(options, costs, replicas):
    """The most limited calls a second with the store below MOST_LOAD."""
    rates = demand(options, costs, replicas)
    rates["take"] = 0
    return max(0.0, (MOST_LOAD - load_of(rates, costs)) * 1e6 / costs["take"])


def show(title, heads, rows):
    print(f"\n{title}\n\n| {' | '.join(heads)} |\n|{'---|' * len(heads)}")
    for one in rows:
        print(f"| {' | '.join(str(cell) for cell in one)} |")


def numbers(kind):
    return lambda text: [kind(part) for part in text.split(",")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--replicas", type=numbers(int), default=[3, 10, 30, 100, 300])
    parser.add_argument("--latency", type=numbers(float), default=[0.2, 1, 5])
    parser.add_argument("--sessions", type=int, default=1_000_000)
    parser.add_argument("--principals", type=int, default=100_000)
    parser.add_argument("--calls", type=float, default=0.2)
    parser.add_argument("--limited", type=float, default=0.1)
    parser.add_argument("--changes", type=float, default=1)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--verify", action="store_true")
    options = parser.parse_args()
    began = time.monotonic()
    costs = measure()
    print("microseconds of the store's processor:", ", ".join(f"{name} {cost:.1f}" for name, cost in costs.items()),
          f"(measured in {time.monotonic() - began:.1f} s)")
    if options.verify:
        verify(costs, options.seed)
    rows = [row(options, costs, replicas, latency) for replicas in options.replicas for latency in options.latency]
    show(f"{options.sessions:,} sessions of {options.principals:,} principals, {options.calls} calls a second each, "
         f"{100 * options.limited:.0f} % of them limited, {options.changes} changes a second",
         ("replicas", "latency, ms", "commands/s", "store's thread", "a limited call waits, ms", ""), rows)
    show(f"The most limited calls a second, at {100 * MOST_LOAD:.0f} % of the store's thread", ("replicas", "limited calls/s"),
         [(replicas, f"{carries(options, costs, replicas):,.0f}") for replicas in options.replicas])
    states = collections.Counter(one[-1] for one in rows)
    print("\n" + ", ".join(f"{count} {name}" for name, count in states.items()))


if __name__ == "__main__":
    main()
