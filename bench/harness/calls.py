# SPDX-License-Identifier: Apache-2.0
"""Rows about calls over stdio: what the hub adds, how many it passes, and whether that grows."""

from .rows import Figure, row

KIB = 1024
SIZES = {"200 B": 200, "4 KiB": 4 * KIB, "64 KiB": 64 * KIB, "1 MiB": KIB * KIB}
CALLS = {200: 10000, 4 * KIB: 10000, 64 * KIB: 2000, KIB * KIB: 150}


def chain(round_, who, size=200, tools=1):
    """The command between the load generator and the upstream, and the tool's name there."""
    p = round_.programs
    server = ["--bytes", size, "--tools", tools]
    if who == "direct":
        return "tool_0", [p.upstream, *server]
    if who == "relay":
        return "tool_0", [p.relay, p.upstream, *server]
    return "up__tool_0", p.hub_command({"up": p.server(*server)})


def latency(round_, who, size):
    """Median of a call alone in flight, everything on one processor: what it costs, without what
    waking another processor takes, which is as much again and depends on where processes lie."""

    def measure():
        tool, command = chain(round_, who, size)
        return round_.programs.load(
            "--calls", round_.calls(CALLS[size]), "--bytes", size, "--tool", tool, "stdio", *command, pinned=True
        )["p50_us"]

    return round_.once((who, "latency", size), measure)


def rate(round_, who, clients):
    def measure():
        tool, command = chain(round_, who)
        return round_.programs.load(
            "--calls", round_.calls(100000), "--clients", clients, "--outstanding", 32, "--tool", tool, "stdio", *command
        )

    return round_.once((who, "rate", clients), measure)


def added(size):
    def measure(round_):
        direct, relay, hub = (latency(round_, who, size) for who in ("direct", "relay", "hub"))
        return Figure(hub - direct, relay - direct, {"direct_us": direct, "relay_us": relay, "hub_us": hub})

    return measure


for label, size in SIZES.items():
    row(
        f"added-{label.replace(' ', '')}",
        f"added latency, {label} in and out, 1 outstanding",
        "us",
        against="relay's",
        at_most=1.3 if size == 200 else None,
    )(added(size))


@row("whole-1MiB", "1 MiB in and out, 1 outstanding", "us", against="relay", at_most=1.2)
def whole(round_):
    return Figure(latency(round_, "hub", KIB * KIB), latency(round_, "relay", KIB * KIB))


@row("unpinned-200B", "added latency, 200 B, processes where the kernel puts them", "us", against="relay's")
def unpinned(round_):
    times = {}
    for who in ("direct", "relay", "hub"):
        tool, command = chain(round_, who)
        load = round_.programs.load("--calls", round_.calls(10000), "--tool", tool, "stdio", *command)
        times[who] = load["p50_us"]
    return Figure(times["hub"] - times["direct"], times["relay"] - times["direct"], times)


def throughput(clients):
    def measure(round_):
        hub = rate(round_, "hub", clients)
        return Figure(hub["calls_per_second"], rate(round_, "relay", clients)["calls_per_second"], {"hub": hub})

    return measure


for clients in (1, 8, 64):
    row(
        f"rate-{clients}",
        f"32 outstanding, {clients} client{'s' if clients > 1 else ''} with a server each",
        "calls/s",
        against="relay",
        at_least=0.8,
    )(throughput(clients))


@row("loadgen", "the load generator on the upstream itself, 32 outstanding", "calls/s", against="hub's", at_least=1)
def loadgen(round_):
    direct = rate(round_, "direct", 1)
    return Figure(direct["calls_per_second"], rate(round_, "hub", 1)["calls_per_second"], {"direct": direct})


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
            call_with(round_, ("tools", n), p.hub_command({"up": p.server("--tools", n)})) for n in (10, count)
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
