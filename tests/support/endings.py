# SPDX-License-Identifier: Apache-2.0
"""Hubs that are told to end, in any way, at any moment, once or again and again: what tests/blackbox/shutdown_signals.py
tries a few times and tests/scale/stop_signals.py very often.

A round is a hub in front of an orderly server and one that ignores signals and the end of its input and has scattered
processes that do so, too. What is done to it follows from a seed and the number of the round.
"""

import contextlib
import json
import os
import random
import re
import signal
import subprocess
import sys
import threading
import time
from pathlib import Path

import mcp
import processes

SERVER = [sys.executable, "-IS", str(Path(__file__).resolve().parent / "unruly_server.py")]
HELLO = {"protocolVersion": mcp.NEWEST_LEGACY, "capabilities": {}, "clientInfo": {"name": "endings", "version": "1"}}
HANGS_AFTER = 120  # seconds; no round takes nearly as long
SANITIZED = ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "assertion failed")
STAGES = ("started", "listening", "initialized", "listed", "calling", "reloading")
ENDS = {"TERM": signal.SIGTERM, "INT": signal.SIGINT}
OTHERS = {"HUP": signal.SIGHUP, "STOP": signal.SIGSTOP, "CONT": signal.SIGCONT}


class Wrong(Exception):
    """The hub did what it must not do."""


class Hub:
    """One hub over stdio, whose answers are collected by a thread."""

    def __init__(self, home, name, limits):
        self.home = Path(home) / name
        self.home.mkdir()
        self.marker = f"{os.getpid()}-{self.home}"
        self.answers, self.condition = {}, threading.Condition()
        self.is_over = False
        self.limits = limits
        self.write_manifest(["time"])
        self.log_path = self.home / "log"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [mcp.hub_binary(), "--config", self.home / "hub.json", "--stdio", "--unix", str(self.home / "sock")],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                cwd=self.home,
                env=mcp.hub_environment(self.home, {mcp.MARKER: self.marker}),
                bufsize=0,
            )
        self.reader = threading.Thread(target=self.read, daemon=True)
        self.reader.start()

    def write_manifest(self, clocks):
        env = {mcp.MARKER: f"${{{mcp.MARKER}}}"}
        toolsets = {
            "orderly": {"command": SERVER[0], "args": SERVER[1:], "env": env},
            "unruly": {"command": SERVER[0], "args": [*SERVER[1:], "--scatter", "--stay"], "env": env, "lazy": False},
            **{name: {"module": "time"} for name in clocks},
        }
        text = {"modules": {"paths": [mcp.module_folder()]}, "limits": self.limits, "toolsets": toolsets}
        partial = self.home / "partial"
        partial.write_text(json.dumps(text), encoding="utf-8")
        partial.replace(self.home / "hub.json")

    @property
    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    def read(self):
        for line in self.process.stdout:
            message = json.loads(line)
            with self.condition:
                if "method" not in message:
                    self.answers[message["id"]] = (time.monotonic(), message)
                self.condition.notify_all()
        with self.condition:
            self.is_over = True
            self.condition.notify_all()

    def send(self, method, params=None, request_id=None):
        message = {"jsonrpc": "2.0", "method": method, "params": params or {}}
        if request_id is not None:
            message["id"] = request_id
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def call(self, tool, arguments, request_id):
        self.send("tools/call", {"name": tool, "arguments": arguments}, request_id)

    def wait(self, is_there, what):
        with self.condition:
            if not self.condition.wait_for(lambda: self.is_over or is_there(), HANGS_AFTER) or not is_there():
                raise Wrong(f"no {what}: {self.log[-1500:]}")

    def wait_log(self, pattern):
        deadline = time.monotonic() + HANGS_AFTER
        while not re.search(pattern, self.log):
            if time.monotonic() > deadline:
                raise Wrong(f"not in the log: {pattern}: {self.log[-1500:]}")
            if self.process.poll() is not None:
                return
            with self.condition:
                self.condition.wait(0.02)

    def initialize(self):
        self.send("initialize", HELLO, "init")
        self.wait(lambda: "init" in self.answers, "initialize")
        self.send("notifications/initialized")

    def close_input(self):
        with contextlib.suppress(OSError):
            self.process.stdin.close()

    def end(self, codes):
        """The hub ends now. How long it and what it started were still there; what else is wrong is told."""
        began = time.monotonic()
        try:
            code = self.process.wait(HANGS_AFTER)
            took = time.monotonic() - began
            left = processes.wait_gone(processes.marked(mcp.MARKER, self.marker), HANGS_AFTER)
            gone = time.monotonic() - began
        except subprocess.TimeoutExpired:
            raise Wrong(f"it does not end: {self.log[-1500:]}") from None
        finally:
            self.kill()
        self.reader.join(HANGS_AFTER)
        if code not in codes:
            raise Wrong(f"exit code {code}, not in {sorted(codes)}: {self.log[-1500:]}")
        if left:
            raise Wrong(f"processes are left: {left}")
        for sign in SANITIZED:
            if sign in self.log:
                raise Wrong(self.log[-4000:])
        return took, gone

    def kill(self):
        self.process.kill()
        self.process.wait()
        self.close_input()
        for pid in processes.marked(mcp.MARKER, self.marker):
            with contextlib.suppress(OSError):
                os.kill(pid, signal.SIGKILL)


def reach(hub, stage):
    """Bring a hub that was just started to a stage of its life."""
    number = STAGES.index(stage)
    if number >= STAGES.index("listening"):
        hub.wait_log("listen.ready")
    if number >= STAGES.index("initialized"):
        hub.initialize()
    if number >= STAGES.index("listed"):
        hub.send("tools/list", {}, "list")
        hub.wait(lambda: "list" in hub.answers, "list of tools")
    if stage == "calling":
        for n in range(20):
            hub.call("unruly__hold" if n % 2 else "orderly__hold", {}, n)
        hub.call("orderly__echo", {}, "echo")
        hub.wait(lambda: "echo" in hub.answers, "echo")
    if stage == "reloading":
        hub.write_manifest(["time", "clock"])
        hub.process.send_signal(signal.SIGHUP)


def storm(home, seed, number, pause):
    """One hub, a random sequence of signals and ends of input, at a random stage. `pause`: up to so many seconds between
    two of them; 0: one right after the other, or when the hub says that it stops.
    returns: what was done, and Hub.end()"""
    rng = random.Random(f"{seed} storm {number}")
    stage = rng.choice(STAGES)
    deeds = [rng.choice((*ENDS, *ENDS, *OTHERS, "EOF")) for _ in range(rng.randrange(1, 7))]
    hub = Hub(home, f"storm-{number}", {"drain_timeout": rng.choice(("0s", "300ms", "2s"))})
    try:
        reach(hub, stage)
        codes = {0}
        if stage == "started":  # it may not have begun to listen to signals
            codes |= {-signal.SIGTERM, -signal.SIGINT, -signal.SIGHUP}
        for deed in deeds:
            if deed == "EOF":
                hub.close_input()
            else:
                with contextlib.suppress(ProcessLookupError):
                    hub.process.send_signal({**ENDS, **OTHERS}[deed])
            if deed in ENDS:
                codes.add(128 + ENDS[deed])  # unless it was the first
            if pause:
                time.sleep(rng.uniform(0, pause))
            elif rng.random() < 0.5 and deed in ENDS and "STOP" not in deeds and stage != "started":
                hub.wait_log("hub.stopping")
        hub.process.send_signal(signal.SIGCONT)
        hub.close_input()
        return f"{stage}: {' '.join(deeds)}", *hub.end(codes)
    except BaseException as error:
        hub.kill()
        raise Wrong(f"round {number} of seed {seed}, {stage}: {' '.join(deeds)}: {error}") from error


def under_load(home, seed, number, calls, longest, drain):
    """One hub with so many calls in flight, each of which takes up to `longest` seconds, and a signal in the middle.
    returns: answers that came, calls that were cut off, and Hub.end()"""
    rng = random.Random(f"{seed} load {number}")
    hub = Hub(home, f"load-{number}", {"drain_timeout": f"{drain}s", "calls_per_session": calls + 10})
    try:
        reach(hub, "listed")
        due = {}
        for n in range(calls):
            seconds = rng.uniform(0, longest)
            due[n] = time.monotonic() + seconds
            hub.call("orderly__wait", {"seconds": seconds, "n": n}, n)
        hub.call("unruly__hold", {}, "hold")
        hub.call("orderly__echo", {}, "echo")
        hub.wait(lambda: "echo" in hub.answers, "echo")
        told = time.monotonic()
        hub.process.send_signal(rng.choice(list(ENDS.values())))
        took, gone = hub.end({0})
    except BaseException as error:
        hub.kill()
        raise Wrong(f"round {number} of seed {seed}: {error}") from error
    right = cut = 0
    for n, at in due.items():
        if n not in hub.answers:
            raise Wrong(f"round {number}: call {n} was not answered: {hub.log[-1500:]}")
        result = hub.answers[n][1].get("result", {})
        if result.get("isError"):
            cut += 1
            if at < told + drain - 2:  # the rest is for a machine that is busy
                raise Wrong(f"round {number}: call {n}, due {at - told:.1f} s after the signal: {hub.answers[n][1]}")
        elif json.loads(result["content"][0]["text"])["n"] != n:
            raise Wrong(f"round {number}: call {n} got {result}")
        else:
            right += 1
    if hub.answers.get("hold", (0, {"result": {}}))[1].get("result", {}).get("isError") is not True:
        raise Wrong(f"round {number}: a call that is cut off has no error: {hub.answers.get('hold')}")
    return right, cut, took, gone
