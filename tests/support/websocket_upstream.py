# SPDX-License-Identifier: Apache-2.0
"""An MCP server over WebSocket that does as it is told, well or badly: one per test, in its process.

What arrives is kept: connections in `peers`, messages in `messages`. What is done with a JSON-RPC
method is a function in `on`, which gets the Exchange and may answer it in any way, or not at all.
What is done with a handshake is `greet`, which gets the Peer.
"""

import base64
import contextlib
import hashlib
import json
import socket
import struct
import threading
import time

from ports import port_of, reserve

MODERN = "2026-07-28"
GUID = "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
CONTINUATION, TEXT, BINARY, CLOSE, PING, PONG = 0, 1, 2, 8, 9, 10


def head(opcode, length, final=True, reserved=0, mask=None):
    """The header of a frame."""
    size = 0 if length < 126 else 2 if length < 65536 else 8
    short = {0: length, 2: 126, 8: 127}[size]
    first = (final << 7) | (reserved << 4) | opcode
    longer = length.to_bytes(size, "big") if size else b""
    return bytes([first, (0x80 if mask is not None else 0) | short]) + longer + (mask or b"")


def masked(payload, mask):
    whole = mask * (len(payload) // 4 + 1)
    return bytes(a ^ b for a, b in zip(payload, whole)) if len(payload) < 4096 else fast_masked(payload, whole)


def fast_masked(payload, whole):
    number = int.from_bytes(payload, "big") ^ int.from_bytes(whole[: len(payload)], "big")
    return number.to_bytes(len(payload), "big")


def accept_of(key):
    return base64.b64encode(hashlib.sha1((key + GUID).encode()).digest()).decode()


class Peer:
    """One connection of the hub."""

    def __init__(self, upstream, connection):
        self.upstream = upstream
        self.socket = connection
        self.buffer = b""
        self.line = ""
        self.headers = {}
        self.header_names = []
        self.masks = []
        self.controls = []  # (opcode, payload) that came
        self.close_code = None  # of the close frame that came; 0: it has none
        self.is_gone = threading.Event()

    # -- what comes -------------------------------------------------------------------------------

    def take(self, count):
        while len(self.buffer) < count:
            data = self.socket.recv(1 << 20)
            if not data:
                raise EOFError
            self.buffer += data
        data, self.buffer = self.buffer[:count], self.buffer[count:]
        return data

    def read_head(self):
        while b"\r\n\r\n" not in self.buffer:
            data = self.socket.recv(65536)
            if not data:
                raise EOFError
            self.buffer += data
        text, self.buffer = self.buffer.split(b"\r\n\r\n", 1)
        self.line, *lines = text.decode().split("\r\n")
        for line in lines:
            name, _, value = line.partition(":")
            self.header_names.append(name.lower())
            self.headers[name.lower()] = value.strip()

    def frame_in(self):
        """(final, opcode, payload) of the next frame; the hub masks each."""
        first, length = self.take(2)
        assert length & 0x80, "a frame without a mask"
        assert first & 0x70 == 0, "a reserved bit"
        length &= 0x7F
        if length > 125:
            length = int.from_bytes(self.take(2 if length == 126 else 8), "big")
        mask = self.take(4)
        with self.upstream.condition:
            self.masks.append(mask)
        return bool(first & 0x80), first & 0x0F, masked(self.take(length), mask)

    def read(self):
        """Serve until it is over."""
        while True:
            final, opcode, payload = self.frame_in()
            if opcode == TEXT:
                assert final, "the hub does not fragment"
                self.upstream.take(Exchange(self, payload))
                continue
            with self.upstream.condition:
                self.controls.append((opcode, payload))
                if opcode == CLOSE:
                    self.close_code = struct.unpack("!H", payload[:2])[0] if payload else 0
                self.upstream.condition.notify_all()
            if opcode == PING and self.upstream.answers_pings:
                self.frame(PONG, payload)
            if opcode == CLOSE:
                return

    # -- what leaves ------------------------------------------------------------------------------

    def raw(self, data):
        self.socket.sendall(data)

    def frame(self, opcode, payload=b"", **options):
        self.raw(head(opcode, len(payload), **options) + payload)

    def send(self, message):
        text = message if isinstance(message, str) else json.dumps(message, ensure_ascii=False)
        self.frame(TEXT, text.encode("utf-8"))

    def close(self, code=1000, reason=""):
        self.frame(CLOSE, struct.pack("!H", code) + reason.encode("utf-8"))

    def switch(self, **headers):
        """Become a WebSocket. A header that is None is left out; an underscore is a dash."""
        wanted = {
            "Upgrade": "websocket",
            "Connection": "Upgrade",
            "Sec_WebSocket_Accept": accept_of(self.headers["sec-websocket-key"]),
            "Sec_WebSocket_Protocol": "mcp",
            **headers,
        }
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in wanted.items() if value is not None]
        self.raw(("HTTP/1.1 101 Switching Protocols\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode())

    def status(self, status, **headers):
        lines = [f"{name.replace('_', '-')}: {value}" for name, value in {"Content_Length": 0, **headers}.items()]
        self.raw((f"HTTP/1.1 {status} Whatever\r\n" + "\r\n".join(lines) + "\r\n\r\n").encode())

    def cut(self):
        with contextlib.suppress(OSError):
            self.socket.shutdown(socket.SHUT_RDWR)


class Exchange:
    """One message, and the means to answer it."""

    def __init__(self, peer, payload):
        self.peer = peer
        self.text = payload.decode("utf-8")
        self.message = json.loads(self.text)

    @property
    def rpc(self):
        return self.message.get("method")

    @property
    def params(self):
        return self.message.get("params", {})

    def reply(self, **members):
        return json.dumps({"jsonrpc": "2.0", "id": self.message["id"], **members}, ensure_ascii=False)

    def result(self, result):
        self.peer.send(self.reply(result=result))

    def error(self, code, message):
        self.peer.send(self.reply(error={"code": code, "message": message}))


class WebSocketUpstream:
    def __init__(self, era="legacy", tools=None, capabilities=None, tls=None, timeout=120):
        self.era = era
        self.timeout = timeout
        self.tools = tools or [{"name": "echo", "inputSchema": {"type": "object"}}]
        self.capabilities = capabilities or {"tools": {"listChanged": True}}
        self.answers_pings = True
        self.tls = tls  # an ssl.SSLContext
        self.condition = threading.Condition()
        self.peers = []
        self.messages = []
        self.greet = lambda peer: peer.switch()
        self.on = {
            "server/discover": self.discover,
            "initialize": self.initialize,
            "tools/list": self.list_tools,
            "tools/call": self.call,
            "subscriptions/listen": self.listen,
        }
        self.reserved = reserve()
        self.port = port_of(self.reserved)
        self.listener = socket.create_server(("127.0.0.1", self.port), backlog=64)
        threading.Thread(target=self._serve, daemon=True).start()

    @property
    def url(self):
        return f"ws://127.0.0.1:{self.port}/mcp" if self.tls is None else f"wss://localhost:{self.port}/mcp"

    # -- connections ------------------------------------------------------------------------------

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                threading.Thread(target=self._talk, args=[connection], daemon=True).start()

    def _talk(self, connection):
        peer = None
        try:
            connection.settimeout(self.timeout)
            if self.tls is not None:
                connection = self.tls.wrap_socket(connection, server_side=True)
            connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            peer = Peer(self, connection)
            peer.read_head()
            with self.condition:
                self.peers.append(peer)
                self.condition.notify_all()
            if self.greet(peer) is not False:
                peer.read()
        except (OSError, EOFError):
            pass
        finally:
            if peer is not None:
                with self.condition:
                    peer.is_gone.set()
                    self.condition.notify_all()
            connection.close()

    def take(self, exchange):
        with self.condition:
            self.messages.append(exchange)
            self.condition.notify_all()
        act = self.on.get(exchange.rpc)
        if act is not None:
            act(exchange)
        elif "id" in exchange.message and exchange.rpc is not None:
            exchange.error(-32601, "Method not found")

    def of(self, rpc, since=0):
        with self.condition:
            return [x for x in self.messages[since:] if x.rpc == rpc]

    def wait_until(self, condition, what):
        deadline = time.monotonic() + self.timeout
        with self.condition:
            while not (value := condition()):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"waited for {what}; came: {[x.text[:200] for x in self.messages[-5:]]}")
                self.condition.wait(left)
        return value

    def wait(self, rpc, count=1):
        """Wait for so many messages of a method; the last of them."""
        return self.wait_until(lambda: len(self.of(rpc)) >= count and self.of(rpc)[count - 1], f"{count} {rpc}")

    def wait_peer(self, count=1):
        return self.wait_until(lambda: len(self.peers) >= count and self.peers[count - 1], f"{count} connections")

    def close(self, keeps_port=False):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        if not keeps_port:
            self.reserved.close()
        for peer in self.peers:
            peer.cut()

    # -- a good server ----------------------------------------------------------------------------

    def complete(self, **members):
        return {"resultType": "complete", **members} if self.era == "modern" else members

    def said(self, text):
        return self.complete(content=[{"type": "text", "text": text}])

    def discover(self, x):
        if self.era == "legacy":
            x.error(-32601, "Method not found")
        else:
            x.result(
                self.complete(
                    supportedVersions=[MODERN],
                    capabilities=self.capabilities,
                    serverInfo={"name": "ws", "version": "1"},
                    ttlMs=0,
                    cacheScope="public",
                )
            )

    def initialize(self, x):
        if self.era == "modern":
            x.error(-32601, "Method not found")
        else:
            x.result(
                {
                    "protocolVersion": x.params["protocolVersion"],
                    "capabilities": self.capabilities,
                    "serverInfo": {"name": "ws", "version": "1"},
                }
            )

    def list_tools(self, x):
        more = {"ttlMs": 0, "cacheScope": "public"} if self.era == "modern" else {}
        x.result(self.complete(tools=self.tools, **more))

    def call(self, x):
        x.result(self.said(json.dumps(x.params.get("arguments"))))

    def listen(self, x):
        meta = {"io.modelcontextprotocol/subscriptionId": x.message["id"]}
        params = {"_meta": meta, "notifications": x.params.get("notifications", {})}
        x.peer.send({"jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged", "params": params})
