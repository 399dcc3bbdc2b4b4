# SPDX-License-Identifier: Apache-2.0
"""MCP clients over every transport of the hub, which say what they are told to and give back what they hear, as text.

Unlike the clients of mcp.py they check nothing: what they carry is valid, but no schema knows it, and names in it
occur twice.
"""

import base64
import json
import random
import re
import socket

from evil_websocket import CONTINUATION, PING, PONG, TEXT, WebSocket, frame
from http_client import BOTH, EVENTS, JSON, Stream, parse_events, render
from json_slice import slice_at
from mcp import META, MODERN, TIMEOUT

CAPABILITIES = '{"sampling":{"tools":{}}, "elicitation" : {"form":{},"url":{}},"roots":{},"x-\\u00e9":[1.0,-0,{"":1e400,"":2}]}'
INFO = '{"name":"fidelity","version":"1.0","x":1.10}'
LINE_BREAKS = ("\n", "\r\n", "\r", "\n\n\t")


class Answer:
    """A response, what came before it, and whether breaks between tokens stay on the way that it came."""

    def __init__(self, text, notes, keeps_breaks):
        self.text = text
        self.notes = notes
        self.keeps_breaks = keeps_breaks


class Client:
    """`breaks`: line breaks between tokens that it can carry to the hub; `keeps_breaks`: it gets those that the hub
    has. `asked`: a function that is called with a question's text and returns the response to it."""

    breaks = ()
    keeps_breaks = False

    def __init__(self, name, era, revision):
        self.name = name
        self.era = era
        self.revision = MODERN if era == "modern" else revision
        self.last_id = 0

    def new_id(self):
        self.last_id += 1
        return self.last_id

    def meta(self, *more):
        """Raw members that _meta has to have."""
        if self.era == "legacy":
            return [*more]
        return [
            (f'"{META}protocolVersion"', f'"{MODERN}"'),
            (f'"{META}clientCapabilities"', CAPABILITIES),
            *more,
        ]

    def raw_meta(self):
        return "{" + ",".join(f"{key}:{value}" for key, value in self.meta()) + "}"

    def begin(self):
        """The handshake, where there is one."""
        if self.era == "legacy":
            self.ask(
                "initialize",
                f'{{"protocolVersion":"{self.revision}","capabilities":{CAPABILITIES},"clientInfo":{INFO}}}',
            )
            self.tell('{"jsonrpc":"2.0","method":"notifications/initialized"}')

    def request(self, method, params):
        request_id = self.new_id()
        return request_id, f'{{"jsonrpc":"2.0","id":{request_id},"method":"{method}","params":{params}}}'

    def ask_all(self, requests, asked=None):
        """The answers to requests, given as method and raw params."""
        return [self.ask(*request, asked=asked) for request in requests]


class Conversation(Client):
    """Messages both ways on one connection."""

    def ask(self, method, params, asked=None):
        return self.ask_all([(method, params)], asked)[0]

    def ask_all(self, requests, asked=None):
        texts = dict(self.request(*request) for request in requests)
        for text in texts.values():
            self.tell(text)
        answers, notes = {}, []
        while len(answers) < len(texts):
            text = self.receive()
            message = json.loads(text)
            if "method" not in message:
                answers[message["id"]] = Answer(text, [], self.keeps_breaks)
            elif "id" in message:
                self.tell(asked(text))
            elif not message["method"].endswith("list_changed"):
                notes.append(text)
        found = [answers[request_id] for request_id in texts]
        found[0].notes = notes  # for which they were, they say themselves
        return found


class Stdio(Conversation):
    """The standard streams of a hub."""

    def __init__(self, name, era, revision, server):
        super().__init__(name, era, revision)
        self.hub = server.hub
        self.last_id = {"legacy": 0, "modern": 1 << 40}[era]  # both are on one connection

    def tell(self, text):
        self.hub.send(text)

    def receive(self):
        return self.hub.take_text()


class Unix(Conversation):
    def __init__(self, name, era, revision, server):
        super().__init__(name, era, revision)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        server.test.addCleanup(self.socket.close)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(server.unix)
        self.lines = self.socket.makefile("rb")
        server.test.addCleanup(self.lines.close)

    def tell(self, text):
        self.socket.sendall(text.encode() + b"\n")

    def receive(self):
        return self.lines.readline()[:-1].decode()


class Ws(Conversation):
    """WebSocket; messages go out in frames that end anywhere."""

    breaks = LINE_BREAKS
    keeps_breaks = True

    def __init__(self, name, era, revision, server):
        super().__init__(name, era, revision)
        self.random = random.Random(name)
        self.peer = WebSocket(server)

    def tell(self, text):
        data = text.encode()
        at = self.random.randrange(len(data))
        self.peer.send(frame(TEXT, data[:at], final=False) + frame(CONTINUATION, data[at:]))

    def receive(self):
        while True:
            opcode, payload = self.peer.next()
            if opcode == PING:
                self.peer.send(frame(PONG, payload))
            else:
                assert opcode == TEXT, (opcode, payload)
                return payload.decode()


class Refused(AssertionError):
    """A message that is refused where it is posted; other answers come on the stream."""

    def __init__(self, text):
        super().__init__(text)
        self.text = text


class OldSse(Conversation):
    """HTTP+SSE of 2024-11-05."""

    breaks = LINE_BREAKS

    def __init__(self, name, era, revision, server):
        super().__init__(name, era, revision)
        self.stream = Stream(server.connection().send(render("GET", "/sse", [("Accept", EVENTS)])))
        self.endpoint = self.stream.next().data
        self.posts = server.connection()

    def tell(self, text):
        reply = self.posts.send(render("POST", self.endpoint, [("Content-Type", JSON)], text.encode())).reply()
        if reply.status != 202:
            raise Refused(reply.body.decode())

    def receive(self):
        return self.stream.next().data


def header_value(name):
    """A name in a header (2026-07-28 basic/transports/streamable-http, Value Encoding)."""
    if re.fullmatch(r"[!-~]([ -~]*[!-~])?", name) and not name.startswith("=?base64?"):
        return name
    return f"=?base64?{base64.b64encode(name.encode()).decode()}?="


class Http(Client):
    """Streamable HTTP, on one kept connection; answers to questions go on others."""

    breaks = LINE_BREAKS
    keeps_breaks = True

    def __init__(self, name, era, revision, server):
        super().__init__(name, era, revision)
        self.server = server
        self.requests = None  # until there is one: the hub does not wait long for the first
        self.session = None

    def headers(self, text):
        found = [("Content-Type", JSON), ("Accept", BOTH)]
        if self.session:
            return [*found, ("Mcp-Session-Id", self.session), ("MCP-Protocol-Version", self.revision)]
        message = json.loads(text)
        if self.era == "modern":
            found += [("MCP-Protocol-Version", MODERN), ("Mcp-Method", message["method"])]
            name = message["params"].get("uri" if message["method"] == "resources/read" else "name")
            named = message["method"] in ("tools/call", "resources/read", "prompts/get")
            found += [("Mcp-Name", header_value(name))] if named else []
        return found

    def tell(self, text):
        connection = self.server.connection()
        reply = connection.send(render("POST", "/mcp", self.headers(text), text.encode())).reply()
        connection.close()
        assert reply.status == 202, reply

    def ask(self, method, params, asked=None):
        _, text = self.request(method, params)
        self.requests = self.requests or self.server.connection()
        self.requests.send(render("POST", "/mcp", self.headers(text), text.encode()))
        head = self.requests.read_head()
        self.session = head.header("mcp-session-id") or self.session
        if head.is_stream:
            return self.read_stream(asked)
        return Answer(self.requests.take(int(head.header("content-length"))).decode(), [], True)

    def read_stream(self, asked):
        """The answer at the end of an event stream, and what came before it."""
        notes, data, answer = [], b"", None
        while chunk := self.requests.take_chunk():
            *whole, data = (data + chunk).split(b"\n\n")
            for event in parse_events(b"".join(block + b"\n\n" for block in whole)):
                message = json.loads(event.data) if event.data else {"method": None}
                if "method" not in message:
                    answer = event.data
                elif "id" in message:
                    self.tell(asked(event.data))
                elif event.data and not message["method"].endswith("list_changed"):
                    notes.append(event.data)
        return Answer(answer, notes, False)


class HttpStream(Http):
    """The same. Whoever plans what is said has progress reported before each answer: it comes in an event stream."""

    keeps_breaks = False


def answer_to(question, member, raw):
    """A response to a question, given as text."""
    return f'{{"jsonrpc":"2.0","{member}":{raw},"id":{slice_at(question, "id")}}}'
