#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A hub under everything at once, for minutes or hours: servers are killed, the configuration is reloaded (good and
bad), clients come and go in the middle of calls, toolsets are switched on and off, and strangers send garbage.

    tests/soak/soak.py [--minutes N | --hours N] [--seed N]

What must hold: every answer is the right one or says that the server is not there; a client that calls a server which
nobody touches never fails; memory and descriptors do not grow; the log has no word of the sanitizers; the hub ends with
exit code 0 and leaves no process. The last line is "N passed, N failed"; the seed is printed first.

Environment: PATCHBAY_BIN, PATCHBAY_PLUGINS as for the black-box tests.
"""

import argparse
import contextlib
import http.client
import itertools
import json
import os
import random
import re
import shutil
import signal
import socket
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "blackbox"))

import mcp  # noqa: E402
import processes  # noqa: E402

PREY = ("prey_a", "prey_b", "prey_c")
ANSWER_WITHIN = 60.0  # of any request: longer than the hub lets a call wait
# Over the measured part of the run, on the regression line: allocators breathe, so not nothing.
GROWTH_KIB, GROWTH_FDS = 4096, 8
SAMPLES_MIN = 10
REFUSALS = {"TOOL_UNAVAILABLE", "TOOL_EXECUTION_FAILED", "TOOL_TIMEOUT"}


class Wrong(Exception):
    """The hub said what it must not say."""


class Closed(Exception):
    """The connection is gone."""


class UnixClient:
    """A legacy client on the hub's Unix socket; one request at a time."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(ANSWER_WITHIN)
        self.socket.connect(path)
        self.lines = self.socket.makefile("rb")
        self.ids = itertools.count(1)
        hello = {"protocolVersion": mcp.NEWEST_LEGACY, "capabilities": {}, "clientInfo": INFO}
        self.ask("initialize", hello)
        self.send({"jsonrpc": "2.0", "method": "notifications/initialized"})

    def send(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def begin(self, method, params=None):
        request_id = next(self.ids)
        self.send({"jsonrpc": "2.0", "id": request_id, "method": method, "params": params or {}})
        return request_id

    def ask(self, method, params=None):
        request_id = self.begin(method, params)
        while True:
            line = self.lines.readline()
            if not line:
                raise Closed
            message = json.loads(line)
            if message.get("id") == request_id:
                return message
            if "method" not in message:
                raise Wrong(f"an answer to nothing: {line[:300]!r}")

    def call(self, tool, arguments):
        return self.ask("tools/call", {"name": tool, "arguments": arguments})

    def close(self):
        self.lines.close()
        self.socket.close()


class Soak:
    def __init__(self, folder, seed):
        self.folder = Path(folder)
        self.seed = seed
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.counts = dict.fromkeys(
            ("calls", "refused", "kills", "reloads", "bad_reloads", "clients", "toggles", "garbage"), 0
        )
        self.problems = []
        self.samples = []  # (seconds, RSS in KiB, descriptors)
        self.manifest = self.folder / "hub.json"
        self.path = str(self.folder / "hub.sock")
        self.log_path = self.folder / "log"
        self.write_manifest(0)

    # -- the hub ----------------------------------------------------------------------------------

    def server(self, name):
        return {
            "command": sys.executable,
            "args": [str(HERE / "echo_server.py"), name],
            "env": {mcp.MARKER: f"${{{mcp.MARKER}}}"},
            "restart_delay": "100ms",
            "restart_delay_max": "1s",
        }

    def write_manifest(self, generation):
        """`changing` is another server in each generation, `passing` is there in every other one."""
        toolsets = {name: self.server(name) for name in (*PREY, "steady")}
        toolsets["changing"] = self.server(f"changing-{generation}")
        toolsets["toggled"] = {"module": "time"}
        if generation % 2:
            toolsets["passing"] = {"module": "time"}
        self.replace(json.dumps({"modules": {"paths": [mcp.module_folder()]}, "toolsets": toolsets}))

    def replace(self, text):
        partial = self.manifest.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(self.manifest)

    def start(self):
        self.marker = f"soak-{os.getpid()}-{self.seed}"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [mcp.hub_binary(), "--config", self.manifest, "--unix", self.path, "--http", "127.0.0.1:0"],
                stdin=subprocess.DEVNULL,
                stdout=subprocess.DEVNULL,
                stderr=log,
                cwd=self.folder,
                env=mcp.hub_environment(self.folder, {mcp.MARKER: self.marker}),
            )
        found = self.wait_log(0, r"listen\.ready url=\"?http://127\.0\.0\.1:(\d+)")
        self.wait_log(0, r"listen\.ready path=")
        self.port = int(found[1])

    def wait_log(self, since, pattern):
        """Wait for a line of the log after `since` bytes; None when the hub has ended, or the soak."""
        deadline = time.monotonic() + ANSWER_WITHIN
        while time.monotonic() < deadline:
            with open(self.log_path, "rb") as log:
                log.seek(since)
                found = re.search(pattern, log.read().decode("utf-8", "replace"))
            if found:
                return found
            if self.process.poll() is not None:
                raise Closed
            self.over.wait(0.02)
        raise Wrong(f"not in the log within {ANSWER_WITHIN:.0f} s: {pattern}")

    # -- who takes part ---------------------------------------------------------------------------

    def count(self, what):
        with self.lock:
            self.counts[what] += 1

    def complain(self, who, what):
        with self.lock:
            self.problems.append(f"{who}: {what}")
        print(f"WRONG {who}: {what}", flush=True)

    def check_echo(self, answer, server, arguments, may_fail):
        """The right answer, or, of a server that is being killed, that it is not there."""
        self.count("calls")
        result = answer.get("result", {})
        failure = result.get("_meta", {}).get("patchbay/error", {})
        if may_fail and result.get("isError") and failure.get("code") in REFUSALS:
            self.count("refused")
            return
        want = json.dumps({"server": server, **arguments}, sort_keys=True)
        texts = [block.get("text") for block in result.get("content", [])]
        if result.get("isError") or texts != [want]:
            raise Wrong(f"asked {server} for {want[:200]}, got {json.dumps(answer)[:600]}")

    def bystander(self, rng):
        """Calls a server that nobody touches, on one connection, from the first second to the last."""
        client = UnixClient(self.path)
        for number in itertools.count():
            if self.over.wait(0.02):
                break
            arguments = {"n": number, "text": "x" * rng.choice((1, 100, 70000))}
            self.check_echo(client.call("steady__echo", arguments), "steady", arguments, may_fail=False)
        client.close()

    def hunter(self, rng):
        client = UnixClient(self.path)
        while not self.over.wait(0.02):
            name, arguments = rng.choice(PREY), {"n": rng.random()}
            self.check_echo(client.call(f"{name}__echo", arguments), name, arguments, may_fail=True)
        client.close()

    def killer(self, rng):
        while not self.over.wait(rng.uniform(0.2, 2)):
            prey = [pid for pid in processes.marked(mcp.MARKER, self.marker) if self.serves(pid) in PREY]
            if prey:
                with contextlib.suppress(ProcessLookupError):
                    os.kill(rng.choice(prey), signal.SIGKILL)
                self.count("kills")

    @staticmethod
    def serves(pid):
        """Which server a process is."""
        with contextlib.suppress(OSError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            if len(words) > 2 and words[1].endswith(b"echo_server.py"):
                return words[2].decode()
        return None

    def reloader(self, rng):
        for generation in itertools.count(1):
            if self.over.wait(rng.uniform(0.3, 3)):
                break
            since = self.log_path.stat().st_size
            is_bad = rng.random() < 0.4
            if is_bad:
                self.replace(rng.choice(("{", '{"toolsets": 1}', '{"toolsets": {"a": {"module": "none"}}}', "")))
            else:
                self.write_manifest(generation)
            self.process.send_signal(signal.SIGHUP)
            self.wait_log(since, r"config\.refused" if is_bad else r"config\.reloaded")
            self.count("bad_reloads" if is_bad else "reloads")

    def visitor(self, rng):
        """Clients that come, look, and go, now and then in the middle of a call."""
        while not self.over.wait(rng.uniform(0, 0.2)):
            if rng.random() < 0.5:
                client = UnixClient(self.path)
                names = [tool["name"] for tool in client.ask("tools/list")["result"]["tools"]]
                if "steady__echo" not in names:
                    raise Wrong(f"a list without steady__echo: {names}")
                if rng.random() < 0.5:
                    client.begin("tools/call", {"name": f"{rng.choice(PREY)}__echo", "arguments": {}})
                client.close()
            else:
                arguments = {"n": rng.random()}
                self.check_echo(self.call_http("steady__echo", arguments), "steady", arguments, may_fail=False)
            self.count("clients")

    def call_http(self, tool, arguments):
        meta = {
            mcp.META + "protocolVersion": mcp.MODERN,
            mcp.META + "clientInfo": INFO,
            mcp.META + "clientCapabilities": {},
        }
        params = {"name": tool, "arguments": arguments, "_meta": meta}
        headers = {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": mcp.MODERN,
            "Mcp-Method": "tools/call",
            "Mcp-Name": tool,
        }
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=ANSWER_WITHIN)
        try:
            body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params})
            connection.request("POST", "/mcp", body, headers)
            text = connection.getresponse().read().decode()
        finally:
            connection.close()
        if text.startswith("{"):
            return json.loads(text)
        data = [line[5:] for line in text.splitlines() if line.startswith("data:")]
        return json.loads(data[-1])

    def toggler(self, rng):
        client = UnixClient(self.path)
        while not self.over.wait(rng.uniform(0.05, 0.5)):
            for verb in ("disable_toolset", "enable_toolset"):
                answer = client.call(verb, {"toolset": "toggled"})
                if "result" not in answer:
                    raise Wrong(f"{verb}: {answer}")
            self.count("toggles")
        client.close()

    def stranger(self, rng):
        """Bytes that are no message, and connections that are left as they are."""
        while not self.over.wait(rng.uniform(0, 0.2)):
            junk = rng.choice(
                (
                    rng.randbytes(rng.randrange(1, 5000)),
                    b"{" * 5000 + b"\n",
                    b'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":\n',
                    b"POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100\r\n\r\n{",
                    b"GET / HTTP/9\r\n\r\n",
                )
            )
            to_unix = rng.random() < 0.5
            with contextlib.suppress(OSError):
                with socket.socket(socket.AF_UNIX if to_unix else socket.AF_INET) as connection:
                    connection.settimeout(ANSWER_WITHIN)
                    connection.connect(self.path if to_unix else ("127.0.0.1", self.port))
                    connection.sendall(junk)
            self.count("garbage")

    # -- measuring --------------------------------------------------------------------------------

    def sample(self, began):
        pid = self.process.pid
        fds = len(os.listdir(f"/proc/{pid}/fd"))
        self.samples.append((time.monotonic() - began, processes.memory_kib(pid), fds))

    def growth(self, column):
        """By how much a value has grown, on its regression line, after the first third."""
        kept = self.samples[len(self.samples) // 3 :]
        seconds = [row[0] for row in kept]
        slope = statistics.linear_regression(seconds, [row[column] for row in kept]).slope
        return slope * (seconds[-1] - seconds[0])

    def judge_growth(self):
        if len(self.samples) < SAMPLES_MIN:
            self.complain("measuring", f"only {len(self.samples)} samples: the run was too short")
            return
        for column, name, bound in ((1, "memory (KiB)", GROWTH_KIB), (2, "descriptors", GROWTH_FDS)):
            grown = self.growth(column)
            values = [row[column] for row in self.samples]
            print(f"{name}: {values[0]} at first, {max(values)} at most, {values[-1]} at last, {grown:+.0f} by regression")
            if grown > bound:
                self.complain("measuring", f"{name} grew by {grown:.0f}, more than {bound}")

    # -- the run ----------------------------------------------------------------------------------

    def guarded(self, actor, rng):
        """An actor whose connection the hub closes before the end is a problem like any other."""
        try:
            actor(rng)
        except (Wrong, Closed, OSError, ValueError, KeyError, http.client.HTTPException) as error:
            self.complain(actor.__name__, f"{type(error).__name__}: {error}")

    def run(self, seconds):
        self.start()
        actors = [self.bystander, self.hunter, self.killer, self.reloader, self.visitor, self.toggler, self.stranger]
        threads = [
            threading.Thread(target=self.guarded, args=[actor, random.Random(f"{self.seed} {actor.__name__}")])
            for actor in actors
        ]
        for thread in threads:
            thread.start()
        began = time.monotonic()
        while time.monotonic() - began < seconds and self.process.poll() is None and not self.over.wait(1):
            self.sample(began)
        self.over.set()
        for thread in threads:
            thread.join()
        self.end()
        self.judge_growth()

    def end(self):
        self.process.terminate()
        try:
            code = self.process.wait(ANSWER_WITHIN)
        except subprocess.TimeoutExpired:
            self.process.kill()
            code = self.process.wait()
        if code != 0:
            self.complain("end", f"exit code {code}")
        left = processes.wait_gone(processes.marked(mcp.MARKER, self.marker), 10)
        if left:
            self.complain("end", f"processes are left: {left}")
        log = self.log_path.read_text(encoding="utf-8", errors="replace")
        for sign in ("AddressSanitizer", "LeakSanitizer", "runtime error:", "assertion"):
            if sign in log:
                self.complain("log", log[log.index(sign) - 200 :][:4000])


INFO = {"name": "soak", "version": "1"}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--minutes", type=float, default=5)
    parser.add_argument("--hours", type=float)
    parser.add_argument("--seed", type=int, default=random.SystemRandom().randrange(1 << 32))
    options = parser.parse_args()
    seconds = options.hours * 3600 if options.hours else options.minutes * 60
    print(f"soak: {seconds:.0f} s, seed {options.seed} (again: soak.py --seed {options.seed})", flush=True)
    folder = tempfile.mkdtemp(prefix="patchbay-soak-")
    soak = Soak(folder, options.seed)
    soak.run(seconds)
    print(", ".join(f"{count} {what}" for what, count in soak.counts.items()))
    idle = [what for what, count in soak.counts.items() if count == 0 and what != "refused"]
    if idle:
        soak.complain("soak", f"nothing happened of {idle}")
    if soak.problems:
        print(f"the log is kept: {soak.log_path}")
    else:
        shutil.rmtree(folder, ignore_errors=True)
    print(f"{0 if soak.problems else 1} passed, {len(soak.problems)} failed")
    return 1 if soak.problems else 0


if __name__ == "__main__":
    sys.exit(main())
