# SPDX-License-Identifier: Apache-2.0
"""Rows about processor time: what a call takes of it, whoever waits meanwhile."""

import contextlib
import http.client
import pathlib
import re
import shutil
import ssl
import subprocess

from .pairs import by_turns
from .programs import INITIALIZE, INITIALIZED, Server, http_hub, request
from .rows import Figure, row

CONNECTIONS = 32
CALLS = 100000
MIB = 1 << 20


def processor_time(pid):
    """Microseconds that a process has run so far, all its threads; those of its children are not among them."""
    tasks = pathlib.Path(f"/proc/{pid}/task").glob("*/schedstat")
    return sum(int(task.read_text().split()[0]) for task in tasks) / 1000


def per_call(round_, server, *arguments):
    """Microseconds of a server's processor time for each call of the load generator."""
    calls = round_.calls(CALLS)
    before = processor_time(server.process.pid)
    round_.programs.load_once("--calls", calls, "--warm-up", 0, *round_.programs.text("prose", 200), *arguments)
    return (processor_time(server.process.pid) - before) / calls


def pipes(programs):
    """What stands between HTTP and a server on pipes, and checks nothing."""
    command = [programs.http_pipes, programs.upstream, *programs.text("prose", 200)]
    process = subprocess.Popen(list(map(str, command)), stdin=subprocess.DEVNULL, stdout=subprocess.PIPE)
    return Server(process, int(process.stdout.readline()))


def against_pipes(*flags):
    def measure(round_):
        p = round_.programs
        with http_hub(p, {"up": p.server(*p.text("prose", 200))}) as hub, pipes(p) as least:
            of_hub, of_least = (
                lambda server=server, tool=tool: per_call(
                    round_, server, *flags, "--clients", CONNECTIONS, "--tool", tool, "http", server.port, "/mcp"
                )
                for server, tool in ((hub, "up__tool_0"), (least, "tool_0"))
            )
            return by_turns(round_, of_hub, of_least)

    return measure


for era in ("legacy", "modern"):
    row(
        f"work-http-{era}",
        f"processor time of a call, HTTP to pipes, {CONNECTIONS} connections, {era}",
        "us",
        against="hub that checks nothing",
        at_most=1.2 if era == "legacy" else None,
        once=True,
        payload="prose",
    )(against_pipes(*(("--modern",) if era == "modern" else ())))


@row(
    "work-websocket", "processor time of a call over WebSocket, 32 outstanding", "us", against="Unix socket",
    at_most=1.5, once=True, payload="prose",
)
def websocket(round_):
    p = round_.programs
    path = p.folder / "socket"
    with http_hub(p, {"up": p.server(*p.text("prose", 200))}, listen=[{"unix": str(path)}]) as hub:
        flags = ("--outstanding", 32, "--tool", "up__tool_0")
        return by_turns(
            round_,
            lambda: per_call(round_, hub, *flags, "websocket", hub.port, "/ws"),
            lambda: per_call(round_, hub, *flags, "unix", path),
        )


# ---- TLS

RESULTS = 32  # of 1 MiB each
SECONDS = 3


def certificate(folder):
    """A key and a certificate for it, made once."""
    key, cert = folder / "key.pem", folder / "cert.pem"
    if not cert.exists():
        made = ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2"]
        subprocess.run([*made, "-subj", "/CN=localhost", "-keyout", key, "-out", cert], check=True, capture_output=True)
    return {"certificate": str(cert), "key": str(key)}


def tls_hub(round_, toolsets):
    if shutil.which("openssl") is None:
        raise LookupError("openssl is not installed")
    return http_hub(round_.programs, toolsets, tls=certificate(round_.programs.folder))


def handshakes(round_, how):
    """Connections per second of processor time of the hub: openssl opens as many as it can, and reads an answer from each,
    behind which there is the ticket to come back with."""

    def measure():
        with tls_hub(round_, {"noop": {}}) as hub:
            before = processor_time(hub.process.pid)
            command = ["openssl", "s_time", "-connect", f"127.0.0.1:{hub.port}", how, "-tls1_3", "-www", "/healthz", "-time", str(SECONDS)]
            said = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False).stdout
            count = re.findall(r"^(\d+) connections in", said, re.M)[0]  # of two that it prints
            return int(count) / ((processor_time(hub.process.pid) - before) / 1e6)

    return round_.once(("tls", how), measure)


@row("tls-handshakes", "TLS handshakes for each second of the hub's processor time (P-256)", "1/s")
def full_handshakes(round_):
    return Figure(handshakes(round_, "-new"))


@row("tls-resumed", "… resumed", "1/s", against="new")
def resumed_handshakes(round_):
    return Figure(handshakes(round_, "-reuse"), handshakes(round_, "-new"))


def read_results(connection, tool):
    """Results of a tool over one connection, one after the other."""
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
    for number, message in enumerate([INITIALIZE, INITIALIZED, *[request(9, "tools/call", name=tool, arguments={})] * RESULTS]):
        connection.request("POST", "/mcp", message, headers)
        answer = connection.getresponse()
        answer.read()
        if number == 0:
            headers["Mcp-Session-Id"] = answer.headers["Mcp-Session-Id"]


def work_of_a_mib(round_, tls):
    def measure():
        p = round_.programs
        toolsets = {"up": p.server(*p.text("prose", MIB))}
        with tls_hub(round_, toolsets) if tls else http_hub(p, toolsets) as hub:
            trusting = ssl.create_default_context()
            trusting.check_hostname, trusting.verify_mode = False, ssl.CERT_NONE
            make = http.client.HTTPSConnection if tls else http.client.HTTPConnection
            with contextlib.closing(make("127.0.0.1", hub.port, **({"context": trusting} if tls else {}))) as connection:
                before = processor_time(hub.process.pid)
                read_results(connection, "up__tool_0")
                return (processor_time(hub.process.pid) - before) / RESULTS

    return round_.once(("mib", tls), measure)


@row("tls-mib", "processor time of a result of 1 MiB over TLS", "us", against="without", payload="prose")
def tls_mib(round_):
    return Figure(work_of_a_mib(round_, True), work_of_a_mib(round_, False))
