# SPDX-License-Identifier: Apache-2.0
"""The ways to reach a server of evil_upstream.py: how requests come, and everything that can be done to their answers.

A new transport is a class with a Request of its own, and a line in TRANSPORTS.
"""

import contextlib
import json
import os
import socket
import sys
import threading
from pathlib import Path

from http_upstream import HttpUpstream
from json_slice import slice_at
from websocket_upstream import CONTINUATION, TEXT, WebSocketUpstream

HERE = Path(__file__).resolve().parent


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


def to_bytes(what):
    if isinstance(what, bytes):
        return what
    return (what if isinstance(what, str) else dump(what)).encode("utf-8", "surrogatepass")


class Request:
    """One message that has come, and the ways to answer it.

    say(message)  a whole message, on the stream of this request if the transport has such; text, bytes or an object
    part(data)    bytes of a message, without its end
    end()         no more is said about this request
    cut()         the connection ends, in the middle of whatever there is
    """

    def __init__(self, server, text):
        self.server = server
        self.text = text
        self.message = json.loads(text) if text else {}
        self.id = slice_at(text, "id") if "id" in self.message else None  # raw

    @property
    def method(self):
        return self.message.get("method")

    @property
    def params(self):
        return self.message.get("params", {})

    @property
    def token(self):
        return self.params.get("_meta", {}).get("progressToken")

    def reply(self, raw_id=None, **members):
        """A message with the id of this request, or with another one, given raw."""
        rest = "".join(f',"{name}":{value if isinstance(value, str) else dump(value)}' for name, value in members.items())
        return f'{{"jsonrpc":"2.0","id":{self.id if raw_id is None else raw_id}{rest}}}'

    def good(self):
        """What a good server would answer."""
        return self.reply(result=self.server.result_of(self))

    def result(self, result):
        """A whole, good answer."""
        self.say(self.reply(result=result))
        self.end()

    def error(self, code, message):
        self.say(self.reply(error={"code": code, "message": message}))
        self.end()


# ---- transports ----------------------------------------------------------------------------------


class PipeRequest(Request):
    def __init__(self, server, text, run):
        super().__init__(server, text)
        self.run = run

    def say(self, message):
        self.run.write(to_bytes(message) + b"\n")

    def part(self, data):
        self.run.write(to_bytes(data))

    def end(self):
        pass

    def cut(self):
        self.run.end(1)


class Run:
    """One process, from start to end."""

    def __init__(self, server, pid, fds, control=None):
        self.server = server
        self.pid = pid
        self.stdin, self.stdout = fds
        self.control = control
        self.lock = threading.Lock()
        self.is_over = False

    def write(self, data):
        with self.lock:
            view = memoryview(data)
            while view and not self.is_over:
                try:
                    view = view[os.write(self.stdout, view) :]
                except BrokenPipeError:
                    return

    def read(self):
        """Until its input ends. Messages are taken one after the other."""
        buffer = b""
        while not self.is_over:
            try:
                data = os.read(self.stdin, 1 << 20)
            except OSError:
                break
            if not data:
                self.end(0)
                break
            *lines, buffer = (buffer + data).split(b"\n")
            for line in lines:
                if not self.is_over:
                    self.server.take(PipeRequest(self.server, line.decode("utf-8"), self))

    def end(self, code, last_words=""):
        """Close both pipes and let the process exit, unless that was done."""
        with self.lock:
            if self.is_over:
                return
            self.is_over = True
            os.close(self.stdout)
            # A thread may be reading: what it holds must not become somebody else's descriptor.
            os.dup2(os.open(os.devnull, os.O_RDONLY | os.O_CLOEXEC), self.stdin)
        if self.control is not None:
            with contextlib.suppress(OSError, ValueError):
                self.control.sendall(bytes([code]) + to_bytes(last_words))
            self.control.close()


class Pipes:
    """A child process of the hub that lends its pipes (lent_pipes.py)."""

    def __init__(self, server, folder):
        self.server = server
        self.runs = []
        self.at_start = None  # what to do with a new run, instead of reading from it
        self.path = str(Path(folder) / f"{server.name}.sock")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(16)
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def entry(self):
        return {"command": sys.executable, "args": ["-IS", str(HERE / "lent_pipes.py"), self.path]}

    def accept(self):
        while True:
            try:
                control, _ = self.socket.accept()
                said, fds, _, _ = socket.recv_fds(control, 64, 2)
            except OSError:
                return
            run = Run(self.server, int(said), fds, control)
            with self.server.condition:
                self.runs.append(run)
                self.server.condition.notify_all()
            work = run.read if self.at_start is None else lambda run=run: self.at_start(run)
            threading.Thread(target=work, daemon=True).start()

    def aside(self, message):
        """Say something that belongs to no request."""
        self.runs[-1].write(to_bytes(message) + b"\n")

    def die(self):
        for run in tuple(self.runs):  # not one that begins meanwhile
            run.end(1)

    def close(self):
        self.socket.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.socket.close()
        self.die()


class SocketRun(Run):
    """One connection over a Unix socket."""

    def __init__(self, server, connection):
        super().__init__(server, None, (connection.fileno(), connection.fileno()))
        self.connection = connection

    def read(self):
        super().read()
        self.connection.close()

    def end(self, code, last_words=""):
        self.is_over = True
        with contextlib.suppress(OSError, ValueError):
            self.connection.shutdown(socket.SHUT_RDWR)


class Unix:
    """A Unix socket that the hub connects to."""

    def __init__(self, server, folder):
        self.server = server
        self.runs = []
        self.path = str(Path(folder) / f"{server.name}.sock")
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.bind(self.path)
        self.socket.listen(16)
        self.acceptor = threading.Thread(target=self.accept, daemon=True)
        self.acceptor.start()

    def entry(self):
        return {"url": f"unix://{self.path}"}

    def accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            run = SocketRun(self.server, connection)
            self.runs.append(run)
            threading.Thread(target=run.read, daemon=True).start()

    aside = Pipes.aside
    die = Pipes.die
    close = Pipes.close


class WebSocketRequest(Request):
    def __init__(self, server, exchange):
        super().__init__(server, exchange.text)
        self.peer = exchange.peer
        self.is_begun = False

    def frame(self, opcode, data, **options):
        with contextlib.suppress(OSError, ValueError):
            self.peer.frame(opcode, data, **options)

    def say(self, message):
        self.frame(TEXT, to_bytes(message))

    def part(self, data):
        self.frame(CONTINUATION if self.is_begun else TEXT, to_bytes(data), final=False)
        self.is_begun = True

    def end(self):
        if self.is_begun:
            self.frame(CONTINUATION, b"")
            self.is_begun = False

    def cut(self):
        self.peer.cut()


class WebSocket(WebSocketUpstream):
    def __init__(self, server, folder):
        self.evil = server
        super().__init__(server.era)

    def entry(self):
        return {"url": self.url, "type": "websocket"}

    def take(self, exchange):
        self.evil.take(WebSocketRequest(self.evil, exchange))

    def aside(self, message):
        self.peers[-1].frame(TEXT, to_bytes(message))

    def die(self):
        for peer in tuple(self.peers):  # not one that comes meanwhile
            peer.cut()


class HttpRequest(Request):
    """Answered in JSON when that is one good answer, else with an event stream. `x` is the exchange of HTTP."""

    def __init__(self, server, x):
        super().__init__(server, x.text)
        self.x = x
        self.is_streaming = False

    def stream(self):
        if not self.is_streaming:
            self.is_streaming = True
            self.x.stream()

    def say(self, message):
        self.part(b"data: " + to_bytes(message) + b"\n\n")

    def part(self, data):
        data = to_bytes(data)
        with contextlib.suppress(OSError, ValueError):
            self.stream()
            self.x.raw(b"%x\r\n%s\r\n" % (len(data), data), close=False)

    def end(self):
        with contextlib.suppress(OSError, ValueError):
            self.stream()
            self.x.close()

    def cut(self):
        self.x.cut()

    def result(self, result, **headers):
        with contextlib.suppress(OSError, ValueError):
            self.x.status(200 if self.method is not None and self.id is not None else 202, self.reply(result=result), **headers)

    def error(self, code, message):
        with contextlib.suppress(OSError, ValueError):
            self.x.status(200, self.reply(error={"code": code, "message": message}))


class Http(HttpUpstream):
    """Streamable HTTP of either era. Legacy: with sessions, and the stream that GET opens."""

    request = HttpRequest

    def __init__(self, server, folder):
        self.evil = server
        self.stream = None
        self.live = set()
        super().__init__(server.era)

    def entry(self):
        return {"url": self.url}

    def take(self, x):
        with self.condition:
            self.requests.append(x)
            self.live = {other for other in self.live if other.fileno() >= 0} | {x.handler.connection}
            self.condition.notify_all()
        x.handler.close_connection = False
        if self.era == "legacy" and self.is_lost(x):
            x.status(404)
        elif x.method == "POST":
            self.evil.take(self.request(self.evil, x))
        elif x.method in self.evil.on:
            self.evil.on[x.method](x)
        else:
            self.other(x)

    def other(self, x):
        if x.method == "GET" and self.era == "legacy":
            self.keep(x)
        else:
            x.status(200 if x.method == "DELETE" else 405)

    def open(self, x):
        """Where it speaks from now on: the newest stream, and none that die() has broken meanwhile."""
        with self.condition:
            x.stream()
            self.stream = x

    def keep(self, x):
        self.open(x)
        with self.evil.condition:
            self.evil.condition.notify_all()
        x.wait_gone()

    def begin_session(self):
        self.session += 1
        return {"Mcp_Session_Id": f"session-{self.session}"}

    def aside(self, message):
        with contextlib.suppress(OSError, ValueError):
            self.stream.event(to_bytes(message).decode("utf-8", "surrogateescape"))

    def die(self):
        """All connections break, and it starts anew: sessions are forgotten."""
        with self.condition:
            live, self.live = self.live, set()
            self.session += 1000
            for connection in live:
                with contextlib.suppress(OSError, ValueError):
                    connection.shutdown(socket.SHUT_RDWR)


class OldRequest(HttpRequest):
    """Answered on the stream that was open when it came, not on one that the hub opens meanwhile; the POST itself says
    only that it was accepted."""

    def __init__(self, server, x):
        super().__init__(server, x)
        self.feed = server.transport.stream

    def part(self, data):
        with contextlib.suppress(OSError, ValueError):
            data = to_bytes(data)
            self.feed.raw(b"%x\r\n%s\r\n" % (len(data), data), close=False)

    def end(self):
        pass

    def cut(self):
        self.feed.cut()

    def result(self, result, **headers):
        Request.result(self, result)

    error = Request.error


class OldHttp(Http):
    """HTTP+SSE of 2024-11-05."""

    is_mute = False  # what is posted has no HTTP answer

    def entry(self):
        return {"url": self.url, "type": "sse"}

    def request(self, server, x):
        if x.path == "/post" and not self.is_mute:
            with contextlib.suppress(OSError, ValueError):
                x.status(202)
        return OldRequest(server, x)

    def keep(self, x):
        self.open(x)
        x.event("/post", event="endpoint")
        x.wait_gone()

    def begin_session(self):
        return {}


TRANSPORTS = {
    "pipes": (Pipes, "legacy"),
    "modern pipes": (Pipes, "modern"),
    "http": (Http, "legacy"),
    "modern http": (Http, "modern"),
    "sse": (OldHttp, "legacy"),
    "unix": (Unix, "legacy"),
    "websocket": (WebSocket, "legacy"),
    "modern websocket": (WebSocket, "modern"),
}
