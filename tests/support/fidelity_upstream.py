# SPDX-License-Identifier: Apache-2.0
"""MCP servers in the test's own process, over every transport, which say what they are told to, byte for byte.

A Server knows what to say; a carrier (Lines, Http, WebSocket …) brings it to the hub. What is said to a request is a
Plan under its method and name; what the request said is kept in it.
"""

import base64
import contextlib
import json
import random
import socket
import sys
import threading
from pathlib import Path

from json_slice import slice_at
from websocket_upstream import CONTINUATION, PING, PONG, TEXT, accept_of, head, masked

HERE = Path(__file__).resolve().parent
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"
LIST_KEYS = {
    "tools/list": "tools",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
    "prompts/list": "prompts",
}
TOKEN = "@TOKEN@"  # in a plan: where the request's progress token goes


class Plan:
    """What is said to one request: notifications and a question before it, then results, one for each round.

    `notes`: (method, raw params). `question`: (raw id, method, raw params or None), of a legacy server. `results`:
    (member, raw value), the last one as often as there are requests.
    """

    def __init__(self, *results, notes=(), question=None):
        self.results = list(results)
        self.notes = notes
        self.question = question
        self.requests = []  # raw params
        self.answers = []  # raw messages


class Server:
    def __init__(self, key, era, revision=None):
        self.key = key
        self.era = era
        self.revision = revision or (MODERN if era == "modern" else "2025-11-25")
        self.lists = {method: "[]" for method in LIST_KEYS}
        self.plans = {}
        self.asking = {}  # raw id of a question: its plan, the raw id of the call, and its peer
        self.problems = []

    @property
    def capabilities(self):
        found = '"tools":{"listChanged":true},"resources":{"subscribe":true},"prompts":{},"completions":{}'
        return "{" + found + ',"logging":{}}'

    def plan(self, method, name, plan):
        self.plans[method, name] = plan
        return plan

    # -- what arrives -----------------------------------------------------------------------------

    def take(self, text, peer):
        """A message of the hub's; `peer.send(text, last)` answers. True: the answer comes, now or later."""
        message = json.loads(text)
        method, raw_id = message.get("method"), slice_at(text, "id")
        if method is None:
            self.take_answer(text, raw_id)
            return False
        if raw_id is None:
            return False
        if method in ("initialize", "server/discover"):
            self.begin(method, message, raw_id, peer)
        elif method in LIST_KEYS:
            tail = ',"resultType":"complete","ttlMs":0,"cacheScope":"public"' if self.era == "modern" else ""
            self.reply(peer, raw_id, "result", f'{{"{LIST_KEYS[method]}":{self.lists[method]}{tail}}}')
        elif method == "subscriptions/listen":
            self.reply(peer, raw_id, "error", '{"code":-32601,"message":"none"}')
        elif method in ("logging/setLevel", "ping"):
            self.reply(peer, raw_id, "result", "{}")
        else:
            self.follow(method, message["params"], text, raw_id, peer)
        return True

    def reply(self, peer, raw_id, member, raw):
        peer.send(f'{{"jsonrpc":"2.0","id":{raw_id},"{member}":{raw}}}', True)

    def begin(self, method, message, raw_id, peer):
        info = '"serverInfo":{"name":"fidelity","version":"1"}'
        if (method == "initialize") == (self.era == "modern"):
            self.reply(peer, raw_id, "error", '{"code":-32601,"message":"Method not found"}')
        elif self.era == "modern":
            more = f'"supportedVersions":["{MODERN}"],"ttlMs":0,"cacheScope":"public","resultType":"complete",{info}'
            self.reply(peer, raw_id, "result", f'{{"capabilities":{self.capabilities},{more}}}')
        else:
            self.reply(
                peer, raw_id, "result",
                f'{{"protocolVersion":"{self.revision}","capabilities":{self.capabilities},{info}}}',
            )

    def follow(self, method, params, text, raw_id, peer):
        ref = params.get("ref", {})
        name = params.get("name") or params.get("uri") or ref.get("name") or ref.get("uri")
        plan = self.plans.get((method, name))
        if plan is None:
            self.problems.append(f"nothing is planned for {text}")
            self.reply(peer, raw_id, "error", '{"code":1,"message":"nothing is planned for this"}')
            return
        plan.requests.append(slice_at(text, "params"))
        token = slice_at(text, "params", "_meta", "progressToken") if "_meta" in params else None
        for kind, raw in plan.notes:
            peer.send(f'{{"jsonrpc":"2.0","method":"{kind}","params":{raw.replace(TOKEN, token or "0")}}}', False)
        if plan.question is not None:
            question_id, asked, raw = plan.question
            self.asking[question_id] = (plan, raw_id, peer)
            params = "" if raw is None else f',"params":{raw}'
            peer.send(f'{{"jsonrpc":"2.0","id":{question_id},"method":"{asked}"{params}}}', False)
        else:
            self.conclude(plan, raw_id, peer)

    def take_answer(self, text, raw_id):
        if raw_id not in self.asking:
            self.problems.append(f"an answer to no question: {text}")
            return
        plan, call_id, peer = self.asking.pop(raw_id)
        plan.answers.append(text)
        self.conclude(plan, call_id, peer)

    def conclude(self, plan, raw_id, peer):
        result = plan.results.pop(0) if len(plan.results) > 1 else plan.results[0]
        self.reply(peer, raw_id, *result)


# ---- carriers ------------------------------------------------------------------------------------


class Carrier:
    """A server, listening. `breaks`: line breaks between tokens that it can carry to the hub; `keeps_breaks`: those
    that the hub sends it arrive; `speaks_first`: it can say something before the answer."""

    breaks = ()
    keeps_breaks = True
    speaks_first = True

    def __init__(self, server, folder):
        self.server = server
        self.random = random.Random(server.key)
        self.connections = []
        self.socket = self.listen(folder)
        threading.Thread(target=self.accept, daemon=True).start()

    def listen(self, folder):
        return socket.create_server(("127.0.0.1", 0), backlog=128)

    @property
    def origin(self):
        return "http://127.0.0.1:%d" % self.socket.getsockname()[1]

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            if connection.family == socket.AF_INET:
                connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.connections.append(connection)
            threading.Thread(target=self.run, args=[connection], daemon=True).start()

    def run(self, connection):
        with contextlib.suppress(OSError), connection, connection.makefile("rb") as stream:
            self.serve(connection, stream)

    def close(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)  # whoever accepts is woken, before the number is another's
        self.socket.close()
        for connection in self.connections:
            with contextlib.suppress(OSError):
                connection.shutdown(socket.SHUT_RDWR)


class Lines(Carrier):
    """A message is a line. Over pipes: through fidelity_relay.py, which the hub starts."""

    keeps_breaks = False

    class Peer:
        def __init__(self, connection):
            self.connection = connection

        def send(self, text, last):
            self.connection.sendall(text.encode() + b"\n")

    def listen(self, folder):
        self.path = str(Path(folder) / f"{self.server.key}.sock")
        listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        listener.bind(self.path)
        listener.listen(8)
        return listener

    @property
    def entry(self):
        return {"command": sys.executable, "args": [str(HERE / "fidelity_relay.py"), self.path]}

    def serve(self, connection, stream):
        peer = self.Peer(connection)
        for line in stream:
            self.server.take(line[:-1].decode(), peer)


class Unix(Lines):
    """The same, on a Unix socket that the hub connects to."""

    @property
    def entry(self):
        return {"url": "unix://" + self.path}


def read_request(stream):
    """Method, headers, and body of the next HTTP request; None at the end."""
    line = stream.readline()
    if not line:
        return None
    headers = {}
    while (header := stream.readline()) not in (b"\r\n", b""):
        name, _, value = header.partition(b":")
        headers[name.lower().decode()] = value.strip().decode()
    return line.split(b" ")[0].decode(), headers, stream.read(int(headers.get("content-length", 0))).decode()


def name_in(headers):
    """What Mcp-Name says (2026-07-28 basic/transports/streamable-http, Value Encoding), or None."""
    name = headers.get("mcp-name")
    if name is not None and name.startswith("=?base64?") and name.endswith("?="):
        return base64.b64decode(name[9:-2]).decode()
    return name


def event(text, name=None):
    """An event of a stream; what is broken into lines comes as several fields."""
    lines = [f"event: {name}"] if name else []
    return "\n".join([*lines, *("data: " + line for line in text.split("\n"))]).encode() + b"\n\n"


class Http(Carrier):
    """Streamable HTTP; an answer is one JSON object."""

    breaks = ("\n", "\r\n", "\r", "\n\n\t")
    speaks_first = False

    class Peer:
        def __init__(self, carrier, connection):
            self.carrier = carrier
            self.connection = connection
            self.done = threading.Event()

        def send(self, text, last):
            body = text.encode()
            head = b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n" % len(body)
            self.connection.sendall(head + body)
            self.done.set()

    @property
    def entry(self):
        return {"url": self.origin + "/mcp", "type": "http"}

    def serve(self, connection, stream):
        while request := read_request(stream):
            method, headers, text = request
            if method == "POST":
                self.check(headers, json.loads(text))
            else:
                connection.sendall(b"HTTP/1.1 405 No\r\nContent-Length: 0\r\n\r\n")
                continue
            peer = self.Peer(self, connection)
            if self.server.take(text, peer):
                peer.done.wait()
            else:
                connection.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")

    def check(self, headers, message):
        """The headers of 2026-07-28 say what the body says."""
        wanted = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}.get(message.get("method"))
        if self.server.era == "modern" and wanted and name_in(headers) != message["params"][wanted]:
            self.server.problems.append(f"Mcp-Name {headers.get('mcp-name')!r} in front of {message}")


class HttpStream(Http):
    """Streamable HTTP; an answer is the end of an event stream, in chunks that end anywhere."""

    breaks = ("\n", "\n\n\t")
    speaks_first = True

    class Peer(Http.Peer):
        begun = False

        def send(self, text, last):
            data = b"" if self.begun else b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n"
            self.begun = True
            body = event(text)
            at = self.carrier.random.randrange(1, len(body))
            for chunk in (body[:at], body[at:]):
                data += b"%x\r\n%s\r\n" % (len(chunk), chunk)
            self.connection.sendall(data + (b"0\r\n\r\n" if last else b""))
            if last:
                self.done.set()


class OldSse(Carrier):
    """HTTP+SSE of 2024-11-05: everything comes on one stream."""

    breaks = ("\n", "\n\n\t")

    class Peer:
        def __init__(self, connection):
            self.connection = connection

        def send(self, text, last):
            self.connection.sendall(event(text, "message"))

    @property
    def entry(self):
        return {"url": self.origin + "/sse", "type": "sse"}

    def serve(self, connection, stream):
        while request := read_request(stream):
            method, _, text = request
            if method == "GET":
                self.peer = self.Peer(connection)  # before the hub may send
                head = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
                connection.sendall(head + event("/messages", "endpoint"))
                stream.read()
                return
            connection.sendall(b"HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n")
            self.server.take(text, self.peer)


class WebSocket(Carrier):
    """A message in frames that end anywhere."""

    breaks = Http.breaks

    class Peer:
        def __init__(self, carrier, connection):
            self.carrier = carrier
            self.connection = connection

        def send(self, text, last):
            data = text.encode()
            at = self.carrier.random.randrange(len(data))
            pieces = ((TEXT, data[:at], False), (CONTINUATION, data[at:], True))
            self.connection.sendall(b"".join(head(kind, len(piece), final) + piece for kind, piece, final in pieces))

    @property
    def entry(self):
        return {"url": self.origin.replace("http", "ws") + "/mcp"}

    def serve(self, connection, stream):
        key = ""
        while (line := stream.readline().strip()) != b"":
            name, _, value = line.partition(b": ")
            key = value.decode() if name.lower() == b"sec-websocket-key" else key
        lines = ("HTTP/1.1 101 Yes", "Connection: Upgrade", "Upgrade: websocket", f"Sec-WebSocket-Accept: {accept_of(key)}")
        connection.sendall("\r\n".join([*lines, "Sec-WebSocket-Protocol: mcp", "", ""]).encode())
        peer, text = self.Peer(self, connection), b""
        while first := stream.read(2):
            kind, length = first[0] & 0x0F, first[1] & 0x7F
            if length > 125:
                length = int.from_bytes(stream.read(2 if length == 126 else 8), "big")
            mask = stream.read(4)
            payload = masked(stream.read(length), mask)
            if kind in (TEXT, CONTINUATION):
                text += payload
                if first[0] & 0x80:
                    self.server.take(text.decode(), peer)
                    text = b""
            elif kind == PING:
                connection.sendall(head(PONG, len(payload)) + payload)
