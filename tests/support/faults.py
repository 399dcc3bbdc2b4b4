#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""One hub through all that a client asks for, while one call of the system fails (fail_calls.c).

    faults.py malloc [--from N] [--to N] [--step N]       every N-th allocation fails, one per hub
    faults.py vhost                                       … of those that libwebsockets makes for a vhost
    faults.py read:EIO [--from N] …                       … or every N-th read

What must hold, whatever fails: the hub does not crash and does not hang; every request is answered, or the
connection is closed; and when an answer is another than usual, the log or the answer names the cause.

Environment: PATCHBAY_BIN, PATCHBAY_PLUGINS as for the black-box tests.
"""

import argparse
import collections
import concurrent.futures
import contextlib
import http.client
import itertools
import json
import os
import re
import select
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

SUPPORT = Path(__file__).resolve().parent
ROOT = SUPPORT.parent.parent
sys.path.insert(0, str(SUPPORT.parent / "blackbox"))

import mcp  # noqa: E402

HANGS_AFTER = mcp.TIMEOUT
# The dynamic linker has no memory for the thread-local data of a library that was loaded while the program ran. There is
# nobody whom it could tell: glibc's __tls_get_addr says this, and ends the process with 127. No program can hold that.
LINKERS_END = "cannot allocate memory for thread-local data: ABORT"

SANITIZED = ("AddressSanitizer", "LeakSanitizer", "runtime error:", "hub_assert", "assertion")
JSON_HEADERS = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}


class Tools:
    """What the scenario needs, built once: the library to preload, a server, and a plugin with resources and prompts."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.shim = self.build("fail_calls.so", SUPPORT / "fail_calls.c", "-shared", "-fPIC", "-D_GNU_SOURCE")
        self.server = self.build("upstream", ROOT / "bench" / "upstream.c", "-D_GNU_SOURCE")
        self.plugins = self.folder / "plugins"
        self.plugins.mkdir(exist_ok=True)
        mcp.compile_plugin(self.plugins, "notes", source=ROOT / "examples" / "notes_plugin" / "notes.c")
        self.far = None

    def far_address(self):
        """Where a hub listens in which nothing fails; it is started when somebody asks."""
        if self.far is None:
            home = self.folder / "far"
            home.mkdir()
            self.far = mcp.Daemon("--http", "127.0.0.1:0", manifest={"toolsets": {"time": {"module": "time"}}}, home=home)
        return "%s:%d" % self.far.address

    def failing(self, plan, log, env):
        """What a program's environment needs beyond `env` to have that call fail, and noted in `log`."""
        return {
            "LD_PRELOAD": str(self.shim),
            "PATCHBAY_FAIL": plan,
            "PATCHBAY_FAIL_LOG": str(log),
            # The leak checker does not know what the loader allocates through another's malloc.
            "ASAN_OPTIONS": env["ASAN_OPTIONS"]
            + ":verify_asan_link_order=0:allocator_may_return_null=1:detect_leaks=0",
        }

    def close(self):
        if self.far is not None:
            self.far.finish()

    def build(self, name, source, *flags):
        path = self.folder / name
        subprocess.run([os.environ.get("CC", "cc"), "-O1", "-g", *flags, "-o", path, source], check=True)
        return path


class Gone(Exception):
    """The hub has closed the connection."""


class Hangs(Exception):
    """The hub has not done within HANGS_AFTER what it should have done at once."""


class Run:
    """One hub. `answers` has (what was asked, the answer or None) in the order of asking."""

    def __init__(self, tools, plan=None):
        self.tools = tools
        self.plan = plan
        self.answers = []
        self.problems = []
        self.is_cut = False
        self.buffer = b""
        self.ids = itertools.count(1)
        self.home = Path(tempfile.mkdtemp(prefix="run-", dir=tools.folder))
        self.fault_log = self.home / "fault.log"
        self.manifest = self.home / "hub.json"
        self.write_manifest(["time"])
        self.log_path = self.home / "log"
        with open(self.log_path, "wb") as log:
            self.process = subprocess.Popen(
                [mcp.hub_binary(), "--config", self.manifest, "--stdio", "--http", "127.0.0.1:0"],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
                bufsize=0,
                cwd=self.home,
                env=self.environment(),
            )

    def environment(self):
        env = mcp.hub_environment(self.home, {})
        return env | self.tools.failing(self.plan, self.fault_log, env) if self.plan else env

    def toolsets(self):
        return {"notes": {"module": "notes"}, "served": {"command": str(self.tools.server)}}

    def write_manifest(self, clocks):
        """The configuration with these toolsets of the module time, besides the others."""
        text = json.dumps(
            {
                "modules": {"paths": [mcp.module_folder(), str(self.tools.plugins)]},
                "toolsets": {**{name: {"module": "time"} for name in clocks}, **self.toolsets()},
            }
        )
        partial = self.manifest.with_suffix(".partial")
        partial.write_text(text, encoding="utf-8")
        partial.replace(self.manifest)

    @property
    def log(self):
        return self.log_path.read_text(encoding="utf-8", errors="replace")

    # -- stdio ------------------------------------------------------------------------------------

    def send(self, method, params=None, request_id=None):
        message = {"jsonrpc": "2.0", "method": method}
        if request_id is not None:
            message["id"] = request_id
        if params is not None:
            message["params"] = params
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.write(json.dumps(message).encode() + b"\n")

    def fill(self):
        data = os.read(self.process.stdout.fileno(), 1 << 16)
        if not data:
            raise Gone
        self.buffer += data

    def read_line(self, deadline):
        while b"\n" not in self.buffer:
            ready, _, _ = select.select([self.process.stdout], [], [], max(0, deadline - time.monotonic()))
            if not ready:
                raise Hangs("no answer")
            self.fill()
        line, self.buffer = self.buffer.split(b"\n", 1)
        return line

    def ask(self, method, params=None):
        request_id = next(self.ids)
        self.send(method, params, request_id)
        asked = f"{method} {json.dumps(params)[:80]}"
        deadline = time.monotonic() + HANGS_AFTER
        while True:
            try:
                message = json.loads(self.read_line(deadline), object_pairs_hook=mcp.no_duplicates)
            except Hangs as error:
                raise Hangs(f"{error} to {asked}") from None
            except Gone:
                self.answers.append((asked, None))
                raise
            if message.get("id") == request_id:
                self.answers.append((asked, message))
                return message
            if "method" not in message:
                self.problems.append(f"an answer to nothing: {message}")

    def has_tool(self, name):
        """Whether the list has it; asked without a note of the answer."""
        answer = self.ask("tools/list")
        self.answers.pop()
        return name in shape(answer)[1] if "result" in answer else False

    def call(self, name, arguments=None):
        return self.ask("tools/call", {"name": name, "arguments": arguments or {}})

    # -- HTTP -------------------------------------------------------------------------------------

    def connect(self):
        found = re.search(r'listen\.ready url="?http://127\.0\.0\.1:(\d+)', self.log)
        if found is None:
            self.is_cut = True  # the line of the log was what could not be written
            raise Gone
        return http.client.HTTPConnection("127.0.0.1", int(found[1]), timeout=HANGS_AFTER)

    def exchange(self, what, method, path, body=None, headers=None):
        """One request on a connection of its own; the status, and the answer to it."""
        connection = self.connect()
        try:
            connection.request(method, path, body and json.dumps(body), {**JSON_HEADERS, **(headers or {})})
            response = connection.getresponse()
            text = response.read().decode()
            self.answers.append((what, {"status": response.status, "result": len(text) > 0, "text": text}))
            return response
        except TimeoutError:
            raise Hangs(f"no answer to {what}") from None
        except (OSError, http.client.HTTPException):
            self.answers.append((what, None))
            return None
        finally:
            connection.close()

    # -- the scenario -----------------------------------------------------------------------------

    def legacy(self):
        self.ask("initialize", {"protocolVersion": mcp.NEWEST_LEGACY, "capabilities": {}, "clientInfo": INFO})
        self.send("notifications/initialized")
        self.ask("tools/list")
        self.call("time__now", {"zone": "UTC"})
        self.call("time__now", {"zone": 1})
        self.call("served__tool_0", {"text": "a" * 20000})
        self.call("nobody__has_this")
        self.call("notes__write_note", {"name": "a", "text": "b"})
        self.ask("resources/list")
        self.ask("resources/templates/list")
        self.ask("resources/subscribe", {"uri": "note://a"})
        self.ask("resources/read", {"uri": "note://a"})
        self.call("notes__write_note", {"name": "b", "text": "c"})
        self.ask("resources/unsubscribe", {"uri": "note://a"})
        self.ask("prompts/list")
        self.ask("prompts/get", {"name": "notes__summarise", "arguments": {"note": "a"}})
        self.ask(
            "completion/complete",
            {"ref": {"type": "ref/resource", "uri": "note://{name}"}, "argument": {"name": "name", "value": "a"}},
        )
        self.call("disable_toolset", {"toolset": "served"})
        self.call("served__tool_0")
        self.call("enable_toolset", {"toolset": "served"})
        self.call("served__tool_0")
        self.call("list_toolsets")

    def over_http(self):
        meta = {
            mcp.META + "protocolVersion": mcp.MODERN,
            mcp.META + "clientInfo": INFO,
            mcp.META + "clientCapabilities": {},
        }
        modern = {"MCP-Protocol-Version": mcp.MODERN, "Mcp-Method": "tools/call", "Mcp-Name": "time__now"}
        params = {"name": "time__now", "arguments": {"zone": "UTC"}, "_meta": meta}
        body = {"jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params}
        self.exchange("HTTP health", "GET", "/healthz")
        self.exchange("HTTP modern", "POST", "/mcp", body, modern)
        hello = {"protocolVersion": mcp.NEWEST_LEGACY, "capabilities": {}, "clientInfo": INFO}
        begin = {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello}
        response = self.exchange("HTTP initialize", "POST", "/mcp", begin)
        session = response and response.getheader("Mcp-Session-Id")
        if session:
            headers = {"Mcp-Session-Id": session, "MCP-Protocol-Version": mcp.NEWEST_LEGACY}
            listing = {"jsonrpc": "2.0", "id": 2, "method": "tools/list"}
            self.exchange("HTTP list", "POST", "/mcp", listing, headers)
            self.exchange("HTTP delete", "DELETE", "/mcp", None, headers)

    def reload(self):
        """Another toolset, by SIGHUP; done when the log says so. A hub that cannot reload says that, too."""
        self.write_manifest(["time", "clock"])
        with contextlib.suppress(ProcessLookupError):
            self.process.send_signal(signal.SIGHUP)
        deadline = time.monotonic() + HANGS_AFTER
        while not re.search(r"config\.(reloaded|refused)", self.log) and not self.has_tool("clock__now"):
            if time.monotonic() > deadline:
                raise Hangs("the reload")
        self.call("clock__now", {"zone": "UTC"})
        self.ask("ping")

    def scenario(self):
        self.legacy()
        self.over_http()
        self.reload()

    def go(self):
        try:
            self.scenario()
        except Gone:
            pass
        except Hangs as error:
            self.problems.append(f"hangs: {error}")
        except (OSError, ValueError) as error:
            self.problems.append(f"{type(error).__name__}: {error}")
        with contextlib.suppress(BrokenPipeError):
            self.process.stdin.close()
        try:
            self.process.wait(HANGS_AFTER)
        except subprocess.TimeoutExpired:
            self.problems.append("hangs: its input is at its end, and it is still there")
            self.process.kill()
            self.process.wait()
        self.process.stdout.close()
        return self

    # -- judging ----------------------------------------------------------------------------------

    @property
    def fault(self):
        """What has failed, with its stack; None when the hub did not come so far."""
        text = self.fault_log.read_text(encoding="utf-8") if self.fault_log.exists() else ""
        head = text.partition("\n")[0]
        return text if head and " of " not in head else None

    @property
    def count(self):
        found = re.search(r" of (\d+)", self.fault_log.read_text(encoding="utf-8"))
        assert found, f"it was left without being taken apart, and so without a count\n{self.log[-3000:]}"
        return int(found[1])

    def differences(self, usual):
        """What was asked and not answered as usual."""
        mine = numbered(self.answers)
        asked_for = usual.answers[: len(self.answers)] if self.is_cut else usual.answers
        return [asked for asked, answer in numbered(asked_for).items() if mine.get(asked) != answer]

    def judge(self, usual, causes):
        """All that is wrong with this run."""
        problems = list(self.problems)
        log = self.log
        if self.process.returncode == 127 and LINKERS_END in log:
            return [f"says {sign}" for sign in SANITIZED if sign in log]
        if self.process.returncode < 0 or self.process.returncode > 7:
            problems.append(f"ended with {self.process.returncode}")
        problems += [f"says {sign}" for sign in SANITIZED if sign in log]
        different = self.differences(usual)
        if different or self.process.returncode:
            said = log + json.dumps([answer for _, answer in self.answers])
            if not any(cause.lower() in said.lower() for cause in causes):
                problems.append(f"not as usual: {different}, exit {self.process.returncode}, and no word of the cause")
        return problems

    def finish(self):
        shutil.rmtree(self.home, ignore_errors=True)


class NetworkRun(Run):
    """One in front of servers that are reached over HTTP and WebSocket."""

    def toolsets(self):
        address = self.tools.far_address()
        return {"by_http": {"url": f"http://{address}/mcp"}, "by_ws": {"url": f"ws://{address}/ws"}}

    def scenario(self):
        self.ask("initialize", {"protocolVersion": mcp.NEWEST_LEGACY, "capabilities": {}, "clientInfo": INFO})
        self.send("notifications/initialized")
        self.ask("tools/list")
        for _ in range(2):
            self.call("by_http__time__now", {"zone": "UTC"})
            self.call("by_ws__time__now", {"zone": "UTC"})
        self.over_http()
        self.ask("tools/list")


INFO = {"name": "faults", "version": "1"}


def numbered(answers):
    """The shapes of answers by what was asked, and the how-manieth time."""
    seen, found = collections.Counter(), {}
    for asked, answer in answers:
        seen[asked] += 1
        found[f"{asked} ({seen[asked]})"] = shape(answer)
    return found


def shape(answer):
    """What of an answer does not change from run to run: that it is a result, and which tools a list has."""
    if answer is None or "error" in answer:
        return None
    result = answer["result"]
    if not isinstance(result, dict):
        return answer.get("status"), result
    names = [item.get("name") for kind in ("tools", "prompts", "resources") for item in result.get(kind, [])]
    return result.get("isError"), names


CAUSES = {
    # Libraries that cannot start do not say why, nor does the dynamic linker always.
    "malloc": [
        "memory",
        "cannot be linked: cannot",
        "libwebsockets cannot be",
        "libwebsockets does not take",
        "the operating system refused",
        "worker.no_thread",
    ],
    "vhost": ["libwebsockets cannot be set up"],
    "EINTR": ["interrupted"],
    "EAGAIN": ["temporarily unavailable", "too many connections"],
    "EMFILE": ["too many open files", "descriptor"],
    "ENOSPC": ["no space"],
    "EIO": ["input/output error", "i/o error", "its guard ended"],
    "EPIPE": ["broken pipe"],
    "ECONNABORTED": ["aborted"],
    "ENOMEM": ["memory"],
}


def causes_of(plan):
    name, _, error = plan.partition(":")
    return CAUSES[error or name]


def plan_at(plan, number):
    name, _, error = plan.partition(":")
    return f"{name}:{number}:{error}" if error else f"{name}:{number}"


def sweep(tools, plan, numbers, jobs=2, show=None, kind=Run):
    """Run with each N failing. Returns (number of runs that had a fault, {N: what was wrong})."""
    usual = kind(tools).go()
    missing = usual.judge(usual, [""])
    if "net.broken" in usual.log:  # every connection was ended as it should be
        missing.append("says net.broken")
    if missing:
        raise AssertionError(f"without any fault: {missing}\n{usual.log}")
    bad, faults, lock = {}, 0, threading.Lock()

    def one(number):
        nonlocal faults
        run = kind(tools, plan_at(plan, number)).go()
        problems = run.judge(usual, causes_of(plan))
        with lock:
            faults += run.fault is not None
            if problems:
                bad[number] = "\n".join([*problems, run.fault or "no fault", run.log[-3000:]])
            if show:
                show(number, problems, run)
        run.finish()

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(one, numbers))
    usual.finish()
    return faults, bad


def count_of(tools, plan, kind=Run):
    """How often the scenario makes that call."""
    run = kind(tools, plan_at(plan, 10**9)).go()
    assert not run.problems and run.process.returncode == 0, f"without a fault: {run.problems}, {run.process.returncode}\n{run.log[-3000:]}"
    count = run.count
    run.finish()
    return count


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("plan")
    parser.add_argument("--from", dest="first", type=int, default=1)
    parser.add_argument("--to", type=int)
    parser.add_argument("--step", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    parser.add_argument("--network", action="store_true", help="the servers are reached over HTTP and WebSocket")
    options = parser.parse_args()
    kind = NetworkRun if options.network else Run
    with tempfile.TemporaryDirectory(prefix="patchbay-faults-") as folder:
        tools = Tools(folder)
        count = count_of(tools, options.plan, kind)
        print(f"{options.plan}: {count} in the scenario", flush=True)

        def show(number, problems, run):
            if problems:
                print(f"\n== {options.plan} {number}: {'; '.join(problems)}\n{run.fault}{run.log[-1500:]}", flush=True)

        numbers = range(options.first, (options.to or count) + 1, options.step)
        faults, bad = sweep(tools, options.plan, numbers, options.jobs, show, kind)
        tools.close()
    print(f"{len(numbers) - len(bad)} passed, {len(bad)} failed ({faults} faults)")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
