# SPDX-License-Identifier: Apache-2.0
"""Rows about calls over stdio: what the hub adds, how many it passes, and whether that grows."""

from . import payloads
from .pairs import by_turns
from .rows import Figure, row

KIB = 1024
SIZES = {"200 B": 200, "4 KiB": 4 * KIB, "64 KiB": 64 * KIB, "1 MiB": KIB * KIB}
CALLS = {200: 10000, 4 * KIB: 10000, 64 * KIB: 2000, KIB * KIB: 150}


def chain(round_, who, size=200, kind="letters"):
    """The command between the load generator and the upstream, and the tool's name there."""
    p = round_.programs
    server = p.text(kind, size)
    if who == "direct":
        return "tool_0", [p.upstream, *server]
    if who == "relay":
        return "tool_0", [p.relay, p.upstream, *server]
    return "up__tool_0", p.hub_command({"up": p.server(*server)})


def latency(round_, who, size, kind="letters"):
    """Median of a call alone in flight, everything on one processor: what it costs, without what
    waking another processor takes, which is as much again and depends on where processes lie."""

    def measure():
        tool, command = chain(round_, who, size, kind)
        text = round_.programs.text(kind, size)
        return round_.programs.load(
            "--calls", round_.calls(CALLS[size]), *text, "--tool", tool, "stdio", *command, pinned=True
        )["p50_us"]

    return round_.once((who, "latency", size, kind), measure)


def rate(round_, who, clients, kind):
    """Calls per second, measured once."""
    tool, command = chain(round_, who, 200, kind)
    return round_.programs.load_once(
        "--calls", round_.calls(200000), "--clients", clients, "--outstanding", 32, *round_.programs.text(kind, 200),
        "--tool", tool, "stdio", *command,
    )["calls_per_second"]


def added(size, kind):
    def measure(round_):
        direct, relay, hub = (latency(round_, who, size, kind) for who in ("direct", "relay", "hub"))
        return Figure(hub - direct, relay - direct, {"direct_us": direct, "relay_us": relay, "hub_us": hub})

    return measure


for label, size in SIZES.items():
    for kind in payloads.KINDS:
        row(
            f"added-{label.replace(' ', '')}-{kind}",
            f"added latency, {label} in and out, 1 outstanding",
            "us",
            against="relay's",
            at_most=1.15 if size == 200 and kind == "prose" else None,
            payload=kind,
        )(added(size, kind))


def whole(kind):
    def measure(round_):
        return Figure(latency(round_, "hub", KIB * KIB, kind), latency(round_, "relay", KIB * KIB, kind))

    return measure


for kind in payloads.KINDS:
    row(
        f"whole-1MiB-{kind}", "1 MiB in and out, 1 outstanding", "us", against="relay", at_most=1.35, payload=kind
    )(whole(kind))


@row("unpinned-200B", "added latency, 200 B, processes where the kernel puts them", "us", against="relay's")
def unpinned(round_):
    times = {}
    for who in ("direct", "relay", "hub"):
        tool, command = chain(round_, who)
        load = round_.programs.load("--calls", round_.calls(10000), "--tool", tool, "stdio", *command)
        times[who] = load["p50_us"]
    return Figure(times["hub"] - times["direct"], times["relay"] - times["direct"], times)


def throughput(clients, kind):
    def measure(round_):
        return by_turns(
            round_, lambda: rate(round_, "hub", clients, kind), lambda: rate(round_, "relay", clients, kind)
        )

    return measure


for clients, least in ((1, 0.75), (8, 0.65), (64, None)):
    row(
        f"rate-{clients}",
        f"32 outstanding, {clients} client{'s' if clients > 1 else ''} with a server each",
        "calls/s",
        against="relay",
        at_least=least,
        once=True,
        payload="prose",
    )(throughput(clients, "prose"))


@row(
    "loadgen", "the load generator on the upstream itself, 32 outstanding", "calls/s", against="hub's", at_least=1,
    once=True, payload="prose",
)
def loadgen(round_):
    return by_turns(round_, lambda: rate(round_, "direct", 1, "prose"), lambda: rate(round_, "hub", 1, "prose"))


# ---- what must not grow


def call_with(round_, key, command, tool="up__tool_0"):
    return round_.once(
        key,
        lambda: round_.programs.load("--calls", round_.calls(10000), "--tool", tool, "stdio", *command, pinned=True)[
            "p50_us"
        ],
    )


def with_tools(count):
    def measure(round_):
        p = round_.programs
        few, many = (
            call_with(round_, ("tools", n), p.hub_command({"up": p.server(*p.real_tools(n))})) for n in (10, count)
        )
        return Figure(many, few)

    return measure


for count in (100, 1000, 10000):
    row(
        f"tools-{count}",
        f"a call with {count:,} tools",
        "us",
        against="10 tools",
        at_most=1.1,
        payload="real schemas",
    )(with_tools(count))


def with_upstreams(count):
    def measure(round_):
        p = round_.programs
        one, many = (
            call_with(round_, ("upstreams", n), p.hub_command({"up": p.server()} | {f"up{i}": p.server() for i in range(1, n)}))
            for n in (1, count)
        )
        return Figure(many, one)

    return measure


for count in (10, 100):
    row(f"upstreams-{count}", f"a call beside {count} upstreams", "us", against="1 upstream", at_most=1.1)(
        with_upstreams(count)
    )


# ---- eras


def across(client, server):
    def measure(round_):
        p = round_.programs

        def cell(of_client, of_server):
            def run():
                command = p.hub_command({"up": p.server(*(["--modern"] if of_server == "modern" else []))})
                flags = ["--modern"] if of_client == "modern" else []
                load = p.load("--calls", round_.calls(10000), *flags, "--tool", "up__tool_0", "stdio", *command, pinned=True)
                return load["p50_us"]

            return round_.once(("era", of_client, of_server), run)

        return Figure(cell(client, server), cell(client, client))

    return measure


for client, server in (("legacy", "modern"), ("modern", "legacy")):
    row(f"bridge-{client}", f"a call of a {client} client to a {server} server", "us", against=f"{client} server")(
        across(client, server)
    )
