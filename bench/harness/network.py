# SPDX-License-Identifier: Apache-2.0
"""Rows about HTTP: native tools against an echo that does nothing, sessions, and what others wrote."""

from . import peers
from .pairs import by_turns, turned
from .programs import echo, http_hub, open_sessions
from .rows import Figure, row

CONNECTIONS = 32
DONE_BYTES = 4  # what the no-op tool answers with: "done"


def load(round_, port, path="/mcp", connections=CONNECTIONS, kind="http", flags=(), tool="noop__tool_0", calls=50000):
    return round_.programs.load(
        "--calls", round_.calls(calls), "--clients", connections, *flags, "--tool", tool, kind, port, path
    )


def native(round_, connections, flags=()):
    def measure():
        with http_hub(round_.programs, {"noop": {}}) as hub:
            return load(round_, hub.port, connections=connections, flags=flags)

    return round_.once(("native", connections, flags), measure)


def limit(round_, connections):
    def measure():
        with echo(round_.programs, DONE_BYTES) as server:
            return load(round_, server.port, connections=connections, flags=("--raw",))

    return round_.once(("echo", connections), measure)


def against_echo(connections, flags=()):
    def measure(round_):
        hub, least = native(round_, connections, flags), limit(round_, connections)
        return Figure(hub["calls_per_second"], least["calls_per_second"], {"hub": hub, "echo": least})

    return measure


for connections, era, bar in ((1, "legacy", None), (8, "legacy", None), (32, "legacy", 0.5), (32, "modern", 0.5), (64, "legacy", None)):
    row(
        f"http-{connections}" + ("-modern" if era == "modern" else ""),
        f"native no-op tool over HTTP, {connections} connection{'s' if connections > 1 else ''}, {era}",
        "calls/s",
        against="epoll echo",
        at_least=bar,
    )(against_echo(connections, ("--modern",) if era == "modern" else ()))


@row("loadgen-busy", "the load generator's share of a processor in front of the echo", "%", at_most=100)
def busy(round_):
    return Figure(100 * limit(round_, CONNECTIONS)["busy"])


# ---- sessions


def with_sessions(count):
    def measure(round_):
        def one(sessions):
            def run():
                with http_hub(round_.programs, {"noop": {}}, pinned=True) as hub:
                    open_sessions(hub.port, sessions)
                    return round_.programs.load(
                        "--calls", round_.calls(10000), "--tool", "noop__tool_0", "http", hub.port, "/mcp", pinned=True
                    )["p50_us"]

            return round_.once(("sessions", sessions), run)

        return Figure(one(count), one(1))

    return measure


for count in (10, 100, 1000):
    row(f"sessions-{count}", f"a call beside {count:,} HTTP sessions", "us", against="1 session", at_most=1.1)(
        with_sessions(count)
    )


# ---- what others wrote

PEER_WARM_UP = 20000  # what is compiled as it runs has been by then
PEER_CALLS = 10000  # of a turn, for a peer and the hub alike
PEER_WAIT_SECONDS = 1800


def proxied_rate(round_, server, path, kind, tool, calls, warm_up):
    """Calls per second through something that listens, in front of a server on pipes."""
    return round_.programs.load_once(
        "--calls", calls, "--warm-up", warm_up, "--clients", CONNECTIONS, *round_.programs.text("prose", 200),
        "--tool", tool, kind, server.port, path, wait=PEER_WAIT_SECONDS,
    )["calls_per_second"]


def through(round_, peer):
    """The hub and the peer in front of a server each, both warm, by turns."""

    def measure():
        p = round_.programs
        with http_hub(p, {"up": p.server()}) as hub, peer.start(p) as other:
            targets = ((hub, "/mcp", "http", "up__tool_0"), (other, peer.path, peer.kind, peer.tool))
            for target in targets:
                proxied_rate(round_, *target, 2, round_.calls(PEER_WARM_UP))
            of_hub, of_peer = (
                lambda target=target: proxied_rate(round_, *target, round_.calls(PEER_CALLS), CONNECTIONS)
                for target in targets
            )
            return turned(by_turns(round_, of_peer, of_hub))

    return round_.once(("peer", peer.name), measure)


def add_peer_rows(installed):
    """Rows for the peers that are there: only known when the benchmark runs."""
    for peer in installed:
        row(
            f"peer-{peer.name}",
            f"a server on pipes behind HTTP, {CONNECTIONS} connections",
            "calls/s",
            against=f"{peer.label} {peer.version}",
            once=True,
            payload="prose",
        )(lambda round_, peer=peer: through(round_, peer))

    @row(
        "peers",
        f"a server on pipes behind HTTP, {CONNECTIONS} connections",
        "calls/s",
        against="fastest peer",
        at_least=5,
        once=True,
        payload="prose",
    )
    def fastest(round_):
        return min((through(round_, peer) for peer in installed), key=lambda figure: figure.ratio)
