# SPDX-License-Identifier: Apache-2.0
"""Rows about lists of tools, starting, changing what is active, and memory."""

import pathlib
import time

from .programs import StdioHub, http_hub, open_sessions
from .rows import Figure, row

KIB = 1024
MIB = 1024 * KIB


def list_once(round_, tools):
    """The hub's list, and an answer of the same length that a program has ready."""

    def measure():
        p = round_.programs
        calls = round_.calls(max(100, 100000 // tools))
        toolsets = {"up": p.server(*p.real_tools(tools))}
        hub = p.load("--list", "--calls", calls, "stdio", *p.hub_command(toolsets), pinned=True)
        size = hub["answer_bytes"]
        ready = p.load("--list", "--calls", calls, "stdio", p.upstream, "--tools", 1, "--list-bytes", size, pinned=True)
        return hub, ready

    return round_.once(("list", tools), measure)


def list_time(tools):
    def measure(round_):
        hub, ready = list_once(round_, tools)
        return Figure(hub["p50_us"], ready["p50_us"], {"bytes": hub["answer_bytes"]})

    return measure


def list_bytes(tools):
    return lambda round_: Figure(list_once(round_, tools)[0]["answer_bytes"])


for tools in (100, 1000, 10000):
    row(
        f"list-{tools}",
        f"tools/list with {tools:,} tools",
        "us",
        against="same bytes, ready",
        at_most=1.2 if tools == 10000 else None,
        payload="real schemas",
    )(list_time(tools))
    row(
        f"list-{tools}-bytes", f"tools/list with {tools:,} tools: its length", "bytes", once=True, payload="real schemas"
    )(list_bytes(tools))


# ---- start


def cached_hub(round_, upstreams):
    """The command of a hub that remembers what its upstreams offer."""
    p = round_.programs
    toolsets = {f"up{i}": p.server(*p.real_tools(10)) for i in range(upstreams)}
    command = p.hub_command(toolsets, hub={"cache": True, "cache_dir": str(p.folder / f"cache-{upstreams}")})
    folder = p.folder / f"cache-{upstreams}"
    if upstreams > 0 and not folder.exists():
        with StdioHub(p, command) as hub:
            hub.ask("tools/list")
            deadline = time.monotonic() + 60
            while len(list(folder.glob("*.json"))) < upstreams:
                if time.monotonic() > deadline:
                    raise RuntimeError("the hub did not write down what its upstreams offer")
                time.sleep(0.05)
    return command


def start(upstreams):
    def measure(round_):
        load = round_.programs.load("--start", "--calls", round_.calls(15), "stdio", *cached_hub(round_, upstreams))
        return Figure(load["p50_us"] / 1000, None, {"p90_ms": load["p90_us"] / 1000})

    return measure


for upstreams in (0, 10, 100):
    row(
        f"start-{upstreams}",
        f"from exec to the first tools/list, {upstreams} cached upstreams",
        "ms",
        at_most=15 if upstreams == 100 else None,
        payload="real schemas",
    )(start(upstreams))


@row(
    "start-10000-tools", "from exec to the first tools/list of a server with 10,000 tools, never seen before", "ms",
    at_most=1500, payload="real schemas",
)
def first_load(round_):
    p = round_.programs
    load = p.load("--start", "--calls", round_.calls(20), "stdio", *p.hub_command({"up": p.server(*p.real_tools(10000))}))
    return Figure(load["p50_us"] / 1000, None, {"p90_ms": load["p90_us"] / 1000})


# ---- enable and disable


def toggle(tool):
    def measure(round_):
        def both():
            p = round_.programs
            toolsets = {"big": {"module": "noop", "config": {"tools": 10000}, "active": False}}
            times = {"enable_toolset": [], "disable_toolset": []}
            with StdioHub(p, p.hub_command(toolsets)) as hub:
                for _ in range(5):
                    for name, taken in times.items():
                        began = time.monotonic()
                        answer = hub.ask("tools/call", name=name, arguments={"toolset": "big"})
                        taken.append(1000 * (time.monotonic() - began))
                        if b'"isError":true' in answer or b'"error":' in answer[:64]:
                            raise RuntimeError(answer[:400])
            return {name: sorted(taken)[len(taken) // 2] for name, taken in times.items()}

        return Figure(round_.once("toggle", both)[tool])

    return measure


for word in ("enable", "disable"):
    row(f"{word}-10000", f"{word}_toolset with 10,000 tools", "ms")(toggle(f"{word}_toolset"))


# ---- memory


def resident(round_, key, toolsets):
    def measure():
        with StdioHub(round_.programs, round_.programs.hub_command(toolsets)) as hub:
            hub.ask("tools/list")
            return hub.memory(), hub.memory("RssAnon"), *hub.memory_of_all()

    return round_.once(("memory", key), measure)


def in_kib(measured):
    whole, anonymous, of_all, share_of_all = measured
    more = {"anonymous_kib": anonymous / KIB, "all_kib": of_all / KIB, "all_pss_kib": share_of_all / KIB}
    return Figure(whole / KIB, None, more)


@row("memory-idle", "resident, stdio, no upstream", "KiB", once=True)
def memory_idle(round_):
    return in_kib(resident(round_, 0, {}))


def with_idle_upstreams(round_, count=10):
    p = round_.programs
    return resident(round_, count, {f"up{i}": p.server(*p.real_tools(10)) for i in range(count)})


@row(
    "memory-10", "resident, stdio, 10 idle upstreams: the hub alone", "KiB", at_most=6 * KIB, once=True,
    payload="real schemas",
)
def memory_upstreams(round_):
    return in_kib(with_idle_upstreams(round_))


@row("memory-10-all", "… and the guards of the 10 servers, summed", "KiB", once=True, payload="real schemas")
def memory_of_all(round_):
    return Figure(with_idle_upstreams(round_)[2] / KIB)


for count, most in ((10, 8 * KIB), (100, 30 * KIB)):
    row(
        f"memory-{count}-pss",
        f"proportional share of the hub and the guards of {count} idle servers: shared pages once",
        "KiB",
        at_most=most,
        once=True,
        payload="real schemas",
    )(lambda round_, count=count: Figure(with_idle_upstreams(round_, count)[3] / KIB))


@row(
    "memory-10-state", "proportional share of the hub alone, with 10 idle upstreams and a store of 100 records", "KiB",
    at_most=6.5 * KIB, once=True, payload="real schemas",
)
def memory_state(round_):
    p = round_.programs
    command = p.hub_command({f"up{i}": p.server(*p.real_tools(10)) for i in range(10)})
    p.keep_records(command, 100)
    with StdioHub(p, command) as hub:
        hub.ask("tools/list")
        has_store = "libsqlite3" in pathlib.Path(f"/proc/{hub.process.pid}/maps").read_text()
        return Figure(hub.share() / KIB, None, {"resident_kib": hub.memory() / KIB, "reads_the_store": has_store})


@row("memory-tool", "per tool, of 10,000", "KiB", at_most=2, once=True, payload="real schemas")
def memory_tool(round_):
    p = round_.programs
    few, many = (resident(round_, ("tools", n), {"up": p.server(*p.real_tools(n))}) for n in (10, 10000))
    return Figure((many[0] - few[0]) / 9990 / KIB, None, {"bytes_of_a_tool": p.tool_bytes(10000)})


@row("memory-calls", "growth over 100,000 proxied calls", "KiB", once=True)
def memory_calls(round_):
    p = round_.programs
    with http_hub(p, {"up": p.server()}) as hub:
        p.load_once("--calls", 1000, "--clients", 32, "--tool", "up__tool_0", "http", hub.port, "/mcp")
        before = hub.memory()
        p.load_once("--calls", 100000, "--clients", 32, "--tool", "up__tool_0", "http", hub.port, "/mcp")
        return Figure((hub.memory() - before) / KIB, None, {"resident_kib": hub.memory() / KIB})


@row("memory-session", "per idle HTTP session, of 1,000", "KiB", at_most=16, once=True)
def memory_session(round_):
    p = round_.programs
    with http_hub(p, {"noop": {}}) as hub:
        open_sessions(hub.port, 10)
        before = hub.memory()
        open_sessions(hub.port, 1000)
        return Figure((hub.memory() - before) / 1000 / KIB)
