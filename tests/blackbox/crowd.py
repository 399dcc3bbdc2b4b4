# SPDX-License-Identifier: Apache-2.0
"""Many clients of one hub at once: of both eras, over each transport. Each keeps all it is sent, in its order, so that
a test can say what it must not have been sent.

    hub = self.crowd(toolsets=…)                   # a CrowdTest
    peers = self.everybody(hub, capabilities)      # stdio, Unix socket, WebSocket, HTTP; legacy and modern
    peers[0].call("up__echo", {"a": 1}).result
"""

import itertools
import json
import socket
import threading
import time

from evil_websocket import TEXT, WebSocket, frame
from http_client import BOTH, JSON, HttpTest, Stream, parse_events, render
from mcp import META, MODERN, NEWEST_LEGACY, TIMEOUT, Message, key_of


class Peer:
    """A client. Questions stay without an answer unless it has been told what to say (answer_all): a function of the
    method and the params."""

    def __init__(self, name, era, capabilities, server):
        self.name = name
        self.era = era
        self.capabilities = capabilities
        self.server = server
        self.condition = threading.Condition()
        self.messages = []
        self.questions = []
        self.answer = None
        self.ids = itertools.count(1)

    def __repr__(self):
        return f"<{self.name}>"

    def answer_all(self, answer):
        """From now on, answer questions like this."""
        self.answer = answer

    # -- hearing ----------------------------------------------------------------------------------

    def hear(self, text):
        message = Message(text)
        asked = self.asked(message)
        with self.condition:
            self.messages.append(message)
            self.questions += asked.values()
            self.condition.notify_all()
        if message.method is not None and "id" in message.data:
            self.respond(message)

    def asked(self, message):
        """The questions in a message, by the key under which the answer is expected."""
        if message.method is not None:
            return {None: (message.method, message.params)} if "id" in message.data else {}
        result = message.data.get("result", {})
        if result.get("resultType") != "input_required":
            return {}
        return {key: (q["method"], q.get("params")) for key, q in result.get("inputRequests", {}).items()}

    def respond(self, message):
        answer = {} if message.method == "ping" else self.answer and self.answer(message.method, message.params)
        if answer is not None:
            self.tell({"jsonrpc": "2.0", "id": message.id, "result": answer})

    @property
    def mark(self):
        with self.condition:
            return len(self.messages)

    def wait_until(self, condition, what):
        deadline = time.monotonic() + TIMEOUT
        with self.condition:
            while not (value := condition()):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"{self.name} waited for {what}; it has {self.messages[-5:]}")
                self.condition.wait(left)
        return value

    def wait_for(self, predicate, what, since=0):
        return self.wait_until(lambda: next((m for m in self.messages[since:] if predicate(m)), None), what)

    def heard(self, method, since=0):
        with self.condition:
            return [m for m in self.messages[since:] if m.method == method]

    def response(self, request_id, since=0):
        return self.wait_for(
            lambda m: m.method is None and "id" in m.data and key_of(m.id) == key_of(request_id),
            f"the response to {request_id!r}",
            since,
        )

    # -- saying -----------------------------------------------------------------------------------

    def meta(self, more):
        if self.era == "legacy":
            return more
        own = {META + "protocolVersion": MODERN, META + "clientCapabilities": self.capabilities}
        return {**own, **more}

    def send(self, method, params=None, meta=None, request_id=None):
        """Send a request; returns its id."""
        request_id = next(self.ids) if request_id is None else request_id
        message = {"jsonrpc": "2.0", "id": request_id, "method": method, "params": dict(params or {})}
        if whole := self.meta(meta or {}):
            message["params"]["_meta"] = whole
        self.tell(message)
        return request_id

    def request(self, method, params=None, **more):
        since = self.mark
        return self.response(self.send(method, params, **more), since)

    def send_call(self, name, arguments=None, **more):
        return self.send("tools/call", {"name": name, "arguments": arguments or {}, **more.pop("beside", {})}, **more)

    def call(self, name, arguments=None, **more):
        """Call a tool to its end; a modern client comes back with answers as long as it is asked."""
        beside = {}
        while True:
            since = self.mark
            reply = self.response(self.send_call(name, arguments, beside=beside, **more), since)
            asked = self.asked(reply)
            if not asked:
                return reply
            beside = {"inputResponses": {key: self.answer(*question) for key, question in asked.items()}}
            if "requestState" in reply.result:
                beside["requestState"] = reply.result["requestState"]

    def notify(self, method, params=None):
        self.tell({"jsonrpc": "2.0", "method": method, **({"params": params} if params else {})})

    def cancel(self, request_id):
        self.notify("notifications/cancelled", {"requestId": request_id})

    def barrier(self):
        """Wait until the hub has handled what was sent before, and this has been heard."""
        self.request("tools/list").result

    def begin(self):
        if self.era == "legacy":
            self.request(
                "initialize",
                {
                    "protocolVersion": NEWEST_LEGACY,
                    "capabilities": self.capabilities,
                    "clientInfo": {"name": self.name, "version": "1"},
                },
            ).result
            self.notify("notifications/initialized")
        return self

    def watch(self, uri):
        """Subscribe to a resource; returns the id of the stream of a modern client."""
        if self.era == "legacy":
            self.request("resources/subscribe", {"uri": uri}).result
            return None
        since = self.mark
        stream = self.send("subscriptions/listen", {"notifications": {"resourceSubscriptions": [uri]}})
        self.wait_for(lambda m: m.method == "notifications/subscriptions/acknowledged", "the acknowledgement", since)
        return stream

    def in_background(self, function, *arguments):
        thread = threading.Thread(target=function, args=arguments, daemon=True)
        thread.start()
        return thread


class Stdio(Peer):
    """The standard streams of the hub, which mcp.py reads."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        hub = self.server.hub
        self.condition = hub.condition
        self.messages = hub.messages

    def tell(self, message):
        self.server.hub.send(message)

    def answer_all(self, answer):
        super().answer_all(answer)
        for method in ("elicitation/create", "sampling/createMessage", "roots/list"):
            self.server.hub.answers[method] = lambda params, method=method: answer(method, params)

    @property
    def questions(self):
        with self.condition:
            return [question for m in self.messages for question in self.asked(m).values()]

    @questions.setter
    def questions(self, value):
        assert value == [], "they are found in what the hub has sent"


class Unix(Peer):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.server.test.addCleanup(self.socket.close)
        self.socket.connect(self.server.unix)
        self.in_background(self.read)

    def tell(self, message):
        self.socket.sendall(json.dumps(message).encode() + b"\n")

    def read(self):
        with self.socket.makefile("rb") as lines:
            for line in lines:
                self.hear(line.decode())


class Ws(Peer):
    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.peer = WebSocket(self.server)
        self.peer.socket.settimeout(None)
        self.in_background(self.read)

    def tell(self, message):
        self.peer.send(frame(TEXT, json.dumps(message).encode()))

    def read(self):
        try:
            while True:
                self.hear(self.peer.message().raw)
        except (AssertionError, OSError):
            pass  # the hub has ended


class Http(Peer):
    """Streamable HTTP: each request on a connection of its own; a legacy session also has a stream open."""

    def __init__(self, *arguments):
        super().__init__(*arguments)
        self.session = None
        self.open = {}

    def headers(self, message):
        if self.era == "modern":
            return self.server.modern_headers(message)
        own = [("Mcp-Session-Id", self.session), ("MCP-Protocol-Version", NEWEST_LEGACY)] if self.session else []
        return [("Content-Type", JSON), ("Accept", BOTH), *own]

    def tell(self, message):
        connection = self.server.connection(timeout=None)
        connection.send(render("POST", "/mcp", self.headers(message), json.dumps(message).encode()))
        if "method" not in message or "id" not in message:
            assert connection.reply().status == 202, message
            connection.close()
            return
        self.open[key_of(message["id"])] = connection
        if message["method"] == "initialize":
            self.read(connection)
        else:
            self.in_background(self.read, connection)

    def read(self, connection):
        try:
            head = connection.read_head()
            self.session = head.header("mcp-session-id") or self.session
            if not head.is_stream:
                self.hear(connection.take(int(head.header("content-length"))).decode())
                return
            data = b""
            while chunk := connection.take_chunk():
                *whole, data = (data + chunk).split(b"\n\n")
                for event in parse_events(b"".join(block + b"\n\n" for block in whole)):
                    if event.data:
                        self.hear(event.data)
        except (AssertionError, OSError, ValueError):
            pass  # closed: by cancel(), or because the hub has ended
        finally:
            connection.close()

    def cancel(self, request_id):
        if self.era == "legacy":
            super().cancel(request_id)
        else:
            self.open[key_of(request_id)].socket.shutdown(socket.SHUT_RDWR)

    def begin(self):
        super().begin()
        if self.era == "legacy":
            own = [("Accept", "text/event-stream"), ("Mcp-Session-Id", self.session)]
            connection = self.server.connection(timeout=None)
            stream = Stream(connection.send(render("GET", "/mcp", [*own, ("MCP-Protocol-Version", NEWEST_LEGACY)])))
            self.in_background(self.read_stream, stream)
        return self

    def read_stream(self, stream):
        try:
            while event := stream.next():
                if event.data:
                    self.hear(event.data)
        except (AssertionError, OSError, ValueError):
            pass


KINDS = [("stdio", Stdio, "legacy"), *itertools.product(("unix",), (Unix,), ("legacy", "modern"))]
KINDS += [*itertools.product(("ws",), (Ws,), ("legacy", "modern")), *itertools.product(("http",), (Http,), ("legacy", "modern"))]


class CrowdTest(HttpTest):
    def crowd(self, **options):
        """A hub on stdio, HTTP with WebSocket, and a Unix socket."""
        unix = str(self.home / "hub.sock")
        server = self.http("--unix", unix, **options)
        server.hub.wait_log(unix)
        server.unix = unix
        return server

    def everybody(self, server, capabilities=None):
        """A client of each kind that has begun."""
        return [
            kind(f"{name} {era}", era, capabilities or {}, server).begin() for name, kind, era in KINDS
        ]
