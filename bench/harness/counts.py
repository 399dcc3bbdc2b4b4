# SPDX-License-Identifier: Apache-2.0
"""Rows that count instead of measuring time: allocations and system calls of a call."""

import re
import shutil
import subprocess

from .programs import http_hub
from .rows import Figure, row

CALLS = 5000


def allocations(round_, key, drive):
    """What CALLS more calls allocate, per call: what start and end allocate is in both."""

    def measure():
        counts = []
        for calls in (CALLS, 2 * CALLS):
            counter = round_.programs.folder / "allocations"
            counter.unlink(missing_ok=True)
            env = {"LD_PRELOAD": round_.programs.allocations, "BENCH_ALLOCATIONS": str(counter)}
            done = drive(calls, env)
            counts.append((int.from_bytes(counter.read_bytes(), "little"), done))
        (few, few_calls), (many, many_calls) = counts
        if few == 0:
            raise RuntimeError("nothing was counted: the counter is not in the hub")
        # A log line or a growing table more in one of the two runs is no allocation of a call.
        return max(0.0, round((many - few) / (many_calls - few_calls), 2))

    return round_.once(("allocations", key), measure)


def on_pipes(round_, toolsets, *flags):
    p = round_.programs

    def drive(calls, env):
        command = ["env", *(f"{name}={value}" for name, value in env.items()), *p.hub_command(toolsets)]
        return sum_of(p.load_once("--calls", calls, *flags, "stdio", *command))

    return drive


def sum_of(load):
    """Calls with those that warmed up."""
    return load["calls"] + load["calls"] // 10


@row("allocations-proxied", "heap allocations per proxied call, stdio", "", at_most=2, once=True)
def proxied(round_):
    toolsets = {"up": round_.programs.server()}
    return Figure(allocations(round_, "proxied", on_pipes(round_, toolsets, "--tool", "up__tool_0")))


@row("allocations-proxied-32", "heap allocations per proxied call, stdio, 32 outstanding", "", at_most=2, once=True)
def proxied_many(round_):
    toolsets = {"up": round_.programs.server()}
    flags = ("--outstanding", 32, "--tool", "up__tool_0")
    return Figure(allocations(round_, "proxied-32", on_pipes(round_, toolsets, *flags)))


@row("allocations-native", "heap allocations per native call, stdio", "", once=True)
def native(round_):
    return Figure(allocations(round_, "native", on_pipes(round_, {"noop": {}}, "--tool", "noop__tool_0")))


@row("allocations-http", "heap allocations per native call, HTTP, legacy", "", once=True)
def native_http(round_):
    return Figure(allocations(round_, "http", on_http(round_)))


@row("allocations-http-modern", "heap allocations per native call, HTTP, modern", "", once=True)
def native_http_modern(round_):
    return Figure(allocations(round_, "http-modern", on_http(round_, "--modern")))


def on_http(round_, *flags):
    p = round_.programs

    def drive(calls, env):
        with http_hub(p, {"noop": {}}, env=env) as hub:
            return sum_of(p.load_once("--calls", calls, *flags, "--tool", "noop__tool_0", "http", hub.port, "/mcp"))

    return drive


def list_allocations(tools):
    def measure(round_):
        flags = ("--list",)
        toolsets = {"up": round_.programs.server("--tools", tools)}
        return Figure(allocations(round_, ("list", tools), on_lists(round_, toolsets, flags)))

    return measure


def on_lists(round_, toolsets, flags):
    """Fewer, since they are long."""
    drive = on_pipes(round_, toolsets, *flags)
    return lambda calls, env: drive(calls // 50, env)


for tools in (100, 1000, 10000):
    row(f"list-{tools}-allocations", f"heap allocations per tools/list with {tools:,} tools", "", once=True)(
        list_allocations(tools)
    )


# ---- system calls

# The loop's own thread is all there is on the way of a proxied call; strace is told to stay with it,
# so that the server's calls are not among them.
LINE = re.compile(r"^\s*[\d.]+\s+[\d.]+\s+\d+\s+(\d+)(?:\s+\d+)?\s+(\w+)$")


def count_calls(round_, calls):
    summary = round_.programs.folder / "strace"
    command = ["strace", "-c", "-o", str(summary), *round_.programs.hub_command({"up": round_.programs.server()})]
    done = sum_of(round_.programs.load_once("--calls", calls, "--tool", "up__tool_0", "stdio", *command))
    counts = {}
    for line in summary.read_text().splitlines():
        match = LINE.match(line)
        if match and match[2] != "total":
            counts[match[2]] = int(match[1])
    return counts, done


@row("syscalls", "system calls of the hub per proxied call, stdio, 1 outstanding", "", once=True)
def system_calls(round_):
    if shutil.which("strace") is None:
        raise LookupError("strace is not installed")
    try:
        (few, few_calls), (many, many_calls) = (count_calls(round_, calls) for calls in (CALLS // 5, 2 * CALLS // 5))
    except (OSError, subprocess.SubprocessError, RuntimeError) as error:
        raise LookupError(f"strace may not trace here: {error}") from error
    by_name = {
        name: round((many[name] - few.get(name, 0)) / (many_calls - few_calls), 3)
        for name in many
        if many[name] - few.get(name, 0) > (many_calls - few_calls) / 100
    }
    return Figure(sum(by_name.values()), None, by_name)
