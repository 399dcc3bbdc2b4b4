# SPDX-License-Identifier: Apache-2.0
"""HTTP as bytes: plain sockets, a strict reader of responses and of event streams, and MCP clients of both eras
on top. A hub under test serves stdio beside HTTP, so that closing its stdin ends it, with all checks of mcp.py.

    server = self.http(toolsets=…)
    server.get("/healthz").status
    server.modern("tools/list").message.result
    session = server.legacy();  session.request("ping")
"""

import contextlib
import json
import os
import re
import select
import socket
import time
from pathlib import Path

from mcp import META, MODERN, NEWEST_LEGACY, TIMEOUT, HubTest, Message, ends_soon, mcp_schema

JSON = "application/json"
BOTH = "application/json, text/event-stream"
EVENTS = "text/event-stream"
TOKEN = re.compile(rb"[!#$%&'*+.^_`|~0-9A-Za-z-]+\Z")
HEADER_MISMATCH = -32020


class Event:
    """One event of a stream: its fields as they were written."""

    def __init__(self, lines):
        self.fields = {}
        for line in lines:
            name, colon, value = line.partition(b":")
            if name.decode() in self.fields or not colon:
                raise AssertionError(f"an event with {line!r} twice, or no field: {lines!r}")
            self.fields[name.decode()] = value.removeprefix(b" ").decode("utf-8")
        unknown = set(self.fields) - {"id", "event", "data", "retry"}
        if unknown:
            raise AssertionError(f"unknown fields of an event: {unknown}")

    @property
    def id(self):
        return self.fields.get("id")

    @property
    def name(self):
        return self.fields.get("event", "message")

    @property
    def data(self):
        return self.fields.get("data")

    @property
    def retry(self):
        return self.fields.get("retry")

    @property
    def message(self):
        return Message(self.data)

    def __repr__(self):
        return f"<event {self.fields}>"


class Reply:
    """One response, whole."""

    def __init__(self, status, headers, body=b""):
        self.status = status
        self.headers = headers
        self.body = body

    def all(self, name):
        return [value for key, value in self.headers if key.lower() == name.lower()]

    def header(self, name):
        values = self.all(name)
        if len(values) > 1:
            raise AssertionError(f"{name} occurs {len(values)} times: {self.headers}")
        return values[0] if values else None

    @property
    def is_stream(self):
        return self.header("content-type") == EVENTS

    @property
    def message(self):
        """The one message. What took longer than limits.sse_comment is a stream that begins with a comment, be it
        that the machine was slow."""
        if self.is_stream and b":\n\n" in self.body:
            return self.answer
        if self.header("content-type") != JSON:
            raise AssertionError(f"expected JSON, got {self!r}")
        return Message(self.body.decode("utf-8"))

    @property
    def answer(self):
        """To a request, be it in JSON or at the end of a stream."""
        return self.messages[-1] if self.is_stream else self.message

    @property
    def messages(self):
        """Of a whole event stream."""
        return [event.message for event in parse_events(self.body) if event.data]

    def __repr__(self):
        return f"<{self.status} {self.headers} {self.body[:500]!r}>"


def parse_events(text):
    """The events of a stream that has ended; comments are left out."""
    if text and not text.endswith(b"\n\n"):
        raise AssertionError(f"a stream that ends within an event: {text[-200:]!r}")
    events = []
    for block in text.split(b"\n\n")[:-1]:
        lines = [line for line in block.split(b"\n") if not line.startswith(b":")]
        if lines:
            events.append(Event(lines))
    return events


class Connection:
    """A connection and what has come on it."""

    SIZE = re.compile(rb"[0-9a-f]+")  # of a chunk

    def __init__(self, port, host="127.0.0.1", source=None, timeout=TIMEOUT):
        self.socket = socket.create_connection((host, port), timeout, (source, 0) if source else None)
        self.buffer = b""
        self.eof = False

    def send(self, data):
        self.socket.sendall(data)
        return self

    def fill(self):
        """Read once; False at the end."""
        if self.eof:
            return False
        try:
            data = self.socket.recv(1 << 16)
        except ConnectionResetError:
            data = b""
        except TimeoutError:
            raise AssertionError(f"nothing more has come; so far {self.buffer[-500:]!r}") from None
        self.eof = not data
        self.buffer += data
        return not self.eof

    def take(self, count):
        while len(self.buffer) < count:
            if not self.fill():
                raise AssertionError(f"closed within a response, after {self.buffer[-500:]!r}")
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def take_line(self):
        while (end := self.buffer.find(b"\r\n")) < 0:
            if not self.fill():
                raise AssertionError(f"closed within a line: {self.buffer!r}")
        return self.take(end + 2)[:-2]

    def read_head(self):
        """Status and headers, checked to be well-formed."""
        line = self.take_line()
        found = re.fullmatch(rb"HTTP/1\.1 (\d\d\d) [\x20-\x7e]+", line)
        if not found:
            raise AssertionError(f"not a status line: {line!r}")
        headers = []
        while line := self.take_line():
            name, colon, value = line.partition(b":")
            if not TOKEN.match(name) or not colon or re.search(rb"[^\x20-\x7e\t]", value):
                raise AssertionError(f"not a header: {line!r}")
            headers.append((name.decode(), value.strip().decode()))
        return Reply(int(found[1]), headers)

    def reply(self, method="POST"):
        """The next response. A 100 before it is a response of its own."""
        reply = self.read_head()
        if reply.status not in (100, 101) and not reply.header("date"):
            raise AssertionError(f"no Date: {reply!r}")
        length, coding = reply.header("content-length"), reply.header("transfer-encoding")
        if method == "HEAD" or reply.status in (100, 101, 204, 304):
            return reply
        if length is not None and coding is None:
            reply.body = self.take(int(length))
        elif coding == "chunked" and length is None:
            while chunk := self.take_chunk():
                reply.body += chunk
        elif reply.header("connection") == "close" and length is coding is None:
            while self.fill():
                pass
            reply.body, self.buffer = self.buffer, b""
        else:
            raise AssertionError(f"nobody can tell where it ends: {reply!r}")
        return reply

    def take_chunk(self):
        size = self.take_line()
        if not self.SIZE.fullmatch(size):
            raise AssertionError(f"not the size of a chunk: {size!r}")
        data = self.take(int(size, 16))
        if self.take(2) != b"\r\n":
            raise AssertionError("a chunk without its end")
        return data

    def wait_closed(self):
        """Wait for the hub to close; nothing more may come before."""
        while self.fill():
            pass
        if self.buffer:
            raise AssertionError(f"more came before the end: {self.buffer[:500]!r}")

    def is_quiet(self):
        """Whether nothing has come, not even the end, by now."""
        return not self.buffer and not self.eof and not select.select([self.socket], [], [], 0)[0]

    def close(self):
        self.socket.close()


class Stream:
    """An event stream that stays open."""

    def __init__(self, connection):
        self.connection = connection
        self.head = connection.read_head()
        if self.head.status != 200 or not self.head.is_stream:
            self.head.body = connection.take(int(self.head.header("content-length") or 0))
            raise AssertionError(f"expected an event stream, got {self.head!r}")
        self.is_chunked = self.head.header("transfer-encoding") == "chunked"
        self.text = b""
        self.comments = 0
        self.ended = False

    def _more(self):
        connection = self.connection
        if self.is_chunked:
            data = connection.take_chunk()
            self.ended = not data
        else:
            if not connection.buffer:
                self.ended = not connection.fill()
            data, connection.buffer = connection.buffer, b""
        self.text += data

    def next(self):
        """The next event; None at the end of the stream. Comments are counted, and are not what is waited for."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            while (end := self.text.find(b"\n\n")) < 0:
                if time.monotonic() > deadline:
                    raise AssertionError(f"no event but {self.comments} comments")
                if self.ended:
                    if self.text:
                        raise AssertionError(f"a stream that ends within an event: {self.text!r}")
                    return None
                self._more()
            block, self.text = self.text[:end], self.text[end + 2 :]
            lines = block.split(b"\n")
            self.comments += sum(line.startswith(b":") for line in lines)
            lines = [line for line in lines if not line.startswith(b":")]
            if lines:
                return Event(lines)

    def message(self):
        """The next message; events without data are passed over."""
        while event := self.next():
            if event.data:
                return event.message
        raise AssertionError("the stream has ended")

    def wait_comment(self):
        before = self.comments
        while self.comments == before:
            if b":\n\n" in self.text:
                self.text = self.text.replace(b":\n\n", b"", 1)
                self.comments += 1
            else:
                self._more()

    def close(self):
        self.connection.close()


def render(method, path, headers=(), body=b"", version="HTTP/1.1", host="localhost"):
    """A request as bytes. Headers are pairs; Host and Content-Length are added unless given."""
    names = {name.lower() for name, _ in headers}
    lines = [f"{method} {path} {version}"]
    if "host" not in names and host is not None:
        lines.append(f"Host: {host}")
    lines += [f"{name}: {value}" for name, value in headers]
    if not names & {"content-length", "transfer-encoding"} and (body or method == "POST"):
        lines.append(f"Content-Length: {len(body)}")
    return "\r\n".join(lines).encode("latin-1") + b"\r\n\r\n" + body


def dump(message):
    return message if isinstance(message, bytes) else json.dumps(message).encode()


def merge(usual, more):
    """Headers with some replaced; None leaves one out."""
    more = dict(more or {})
    replaced = {name.lower() for name in more}
    kept = [(name, value) for name, value in usual if name.lower() not in replaced]
    return kept + [(name, value) for name, value in more.items() if value is not None]


class Server:
    """The HTTP side of a hub."""

    def __init__(self, test, hub):
        self.test = test
        self.hub = hub
        line = hub.wait_log("listen.ready")
        self.url = re.search(r"https?://[^\s\"]+", line)[0]
        self.port = int(re.search(r":(\d+)/", self.url)[1])
        self.next_id = 0

    def connection(self, **options):
        connection = Connection(self.port, **options)
        self.test.addCleanup(connection.close)
        return connection

    def ask(self, method, path, headers=(), body=b"", **options):
        """One request on a connection of its own."""
        connection = self.connection()
        reply = connection.send(render(method, path, headers, body, **options)).reply(method)
        connection.close()
        return reply

    def get(self, path, headers=(), **options):
        return self.ask("GET", path, headers, **options)

    def post(self, message, headers=None, path="/mcp", **options):
        usual = [("Content-Type", JSON), ("Accept", BOTH)]
        return self.ask("POST", path, merge(usual, headers), dump(message), **options)

    def raw(self, data):
        """Bytes as they are, and the one response to them, after which the hub has closed."""
        connection = self.connection()
        with contextlib.suppress(ConnectionResetError, BrokenPipeError):  # it may have heard enough before the end
            connection.send(data)
        reply = connection.reply()
        self.test.assertEqual(reply.header("connection"), "close", data[:200])
        connection.wait_closed()
        connection.close()
        return reply

    # -- modern -----------------------------------------------------------------------------------

    def new_id(self):
        self.next_id += 1
        return self.next_id

    def modern_request(self, method, params=None, capabilities=None, request_id=None, meta=None):
        params = dict(params or {})
        params["_meta"] = {
            META + "protocolVersion": MODERN,
            META + "clientCapabilities": capabilities or {},
            **(meta or {}),
        }
        request_id = self.new_id() if request_id is None else request_id
        return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": params}

    def modern_headers(self, message, more=None):
        usual = [
            ("Content-Type", JSON),
            ("Accept", BOTH),
            ("MCP-Protocol-Version", MODERN),
            ("Mcp-Method", message["method"]),
        ]
        name = message["params"].get("uri" if message["method"] == "resources/read" else "name")
        if isinstance(name, str) and message["method"] in ("tools/call", "prompts/get", "resources/read"):
            usual.append(("Mcp-Name", name))
        if message["method"].startswith("tasks/"):
            usual.append(("Mcp-Name", message["params"]["taskId"]))
        return merge(usual, more)

    def modern_bytes(self, method, params=None, headers=None, path="/mcp", **options):
        message = self.modern_request(method, params, **options)
        return render("POST", path, self.modern_headers(message, headers), dump(message))

    def modern(self, method, params=None, headers=None, path="/mcp", **options):
        """A modern request, and its response, checked against the schema when it is one."""
        message = self.modern_request(method, params, **options)
        connection = self.connection()
        connection.send(render("POST", path, self.modern_headers(message, headers), dump(message)))
        reply = connection.reply()
        connection.close()
        if reply.status == 200:
            last = reply.answer
            self.check(last, MODERN, method)
        return reply

    def call(self, name, arguments=None, headers=None, **options):
        return self.modern("tools/call", {"name": name, "arguments": arguments or {}}, headers, **options)

    def open(self, method, params=None, headers=None, path="/mcp", **options):
        """A modern request whose response is a stream that stays open."""
        return Stream(self.connection().send(self.modern_bytes(method, params, headers, path, **options)))

    def listen(self, path="/mcp", headers=None, **types):
        stream = self.open("subscriptions/listen", {"notifications": types}, headers, path)
        self.test.assertEqual(stream.message().method, "notifications/subscriptions/acknowledged")
        return stream

    def check(self, message, revision, method=None):
        problems = mcp_schema.problems(revision, message.data, method)
        self.test.assertEqual(problems, [], message.raw[:1000])

    # -- legacy -----------------------------------------------------------------------------------

    def initialize(self, revision=NEWEST_LEGACY, headers=None, path="/mcp", capabilities=None):
        """The response to an initialize."""
        params = {
            "protocolVersion": revision,
            "capabilities": capabilities or {},
            "clientInfo": {"name": "black-box", "version": "1"},
        }
        message = {"jsonrpc": "2.0", "id": self.new_id(), "method": "initialize", "params": params}
        return self.post(message, headers, path)

    def legacy(self, revision=NEWEST_LEGACY, headers=None, path="/mcp", capabilities=None):
        return Session(self, revision, headers, path, capabilities)


class Session:
    """A legacy client."""

    def __init__(self, server, revision, headers, path, capabilities):
        self.server = server
        self.path = path
        self.common = dict(headers or {})
        reply = server.initialize(revision, headers, path, capabilities)
        server.test.assertEqual(reply.status, 200, reply)
        server.check(reply.message, revision, "initialize")
        self.revision = reply.message.result["protocolVersion"]
        self.id = reply.header("mcp-session-id")
        server.test.assertEqual(self.notify("notifications/initialized").status, 202)

    def headers(self, more=None):
        usual = [("Mcp-Session-Id", self.id)]
        if self.revision >= "2025-06-18":
            usual.append(("MCP-Protocol-Version", self.revision))
        usual += list(self.common.items())
        return merge(usual, more)

    def post_bytes(self, message, headers=None):
        usual = [("Content-Type", JSON), ("Accept", BOTH), *self.headers()]
        return render("POST", self.path, merge(usual, headers), dump(message))

    def post(self, message, headers=None):
        connection = self.server.connection()
        reply = connection.send(self.post_bytes(message, headers)).reply()
        connection.close()
        return reply

    def message(self, method, params=None, request_id=None):
        request_id = self.server.new_id() if request_id is None else request_id
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        return message if params is None else {**message, "params": params}

    def request(self, method, params=None, headers=None, request_id=None):
        """A request, and its response: JSON, or a stream that has ended."""
        reply = self.post(self.message(method, params, request_id), headers)
        if reply.status == 200:
            last = reply.answer
            self.server.check(last, self.revision, method)
        return reply

    def call(self, name, arguments=None, meta=None, **more):
        params = {"name": name, "arguments": arguments or {}}
        return self.request("tools/call", {**params, "_meta": meta} if meta else params, **more)

    def notify(self, method, params=None, headers=None):
        message = {"jsonrpc": "2.0", "method": method}
        return self.post(message if params is None else {**message, "params": params}, headers)

    def get_bytes(self, last_event_id=None, headers=None):
        usual = [("Accept", EVENTS), *self.headers()]
        if last_event_id is not None:
            usual.append(("Last-Event-ID", last_event_id))
        return render("GET", self.path, merge(usual, headers))

    def get(self, last_event_id=None, headers=None):
        """A GET that is answered at once, with something else than a stream."""
        connection = self.server.connection()
        reply = connection.send(self.get_bytes(last_event_id, headers)).reply()
        connection.close()
        return reply

    def open(self, last_event_id=None, headers=None):
        """The session's stream, or the rest of one."""
        return Stream(self.server.connection().send(self.get_bytes(last_event_id, headers)))

    def open_post(self, method, params=None, request_id=None):
        """A request whose response is a stream that stays open."""
        connection = self.server.connection()
        return Stream(connection.send(self.post_bytes(self.message(method, params, request_id))))

    def delete(self, headers=None):
        return self.server.ask("DELETE", self.path, self.headers(headers))


class HttpTest(HubTest):
    """A hub on HTTP, and on stdio beside it."""

    def http(self, *args, address="127.0.0.1:0", **options):
        if "toolsets" in options:
            options["manifest"] = {**(options.get("manifest") or {}), "toolsets": options.pop("toolsets")}
        options["manifest"] = ends_soon(options.get("manifest"))
        return Server(self, self.hub("--stdio", "--http", address, *args, **options))

    def refusal(self, reply, status, *words):
        """An answer that says in JSON why not; without an id, since it belongs to no request."""
        self.assertEqual(reply.status, status, reply)
        self.assertNotIn("id", reply.message.data)
        self.assertSays(reply.message.error["message"], *words)
        return reply

    def error(self, reply, status, code, request_id=None):
        """An answer that is the JSON-RPC error of a request."""
        self.assertEqual(reply.status, status, reply)
        self.assertEqual(reply.message.code, code, reply)
        if request_id is not None:
            self.assertEqual(reply.message.id, request_id)
        return reply.message

    def assertIdle(self, server):
        """The hub answers, and does nothing when there is nothing to do: in the end it uses a small part of the time
        between two comments on a silent stream. (A loop that spins uses all of it, each time.)"""
        self.assertEqual(server.get("/healthz").body, b'{"status":"ok"}')
        stream = server.listen(toolsListChanged=True)
        found = []
        while not any(used < 0.3 * took for used, took in found):
            self.assertLess(len(found), 20, f"it does not come to rest: {found}")
            stream.wait_comment()
            used, began = cpu_seconds(server.hub.process.pid), time.monotonic()
            stream.wait_comment()
            found.append((cpu_seconds(server.hub.process.pid) - used, time.monotonic() - began))
        stream.close()


def cpu_seconds(pid):
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rsplit(")", 1)[1].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")
