# SPDX-License-Identifier: Apache-2.0
"""An MCP server over HTTP that does as it is told, well or badly: one per test, in its process.

What arrives is kept in `requests`; what is done with a JSON-RPC method is a function in `on`, which
gets the Exchange and may answer it in any way, or not at all.
"""

import base64
import contextlib
import http.server
import json
import socket
import threading
import time

from ports import port_of, reserve

MODERN = "2026-07-28"


class Exchange:
    """One HTTP request, and the means to answer it."""

    def __init__(self, handler, body):
        self.handler = handler
        self.method = handler.command
        self.path = handler.path
        self.headers = {name.lower(): value for name, value in handler.headers.items()}
        self.header_names = [name.lower() for name in handler.headers]
        self.text = body.decode("utf-8")
        self.message = json.loads(body) if body else {}
        self.peer = handler.client_address
        self.is_gone = threading.Event()

    @property
    def rpc(self):
        return self.message.get("method")

    @property
    def params(self):
        return self.message.get("params", {})

    def header(self, name):
        """A header's value, decoded where it is written in Base64."""
        value = self.headers.get(name)
        if value is not None and value.startswith("=?base64?") and value.endswith("?="):
            return base64.b64decode(value[9:-2]).decode("utf-8")
        return value

    # -- answers ----------------------------------------------------------------------------------

    def raw(self, data, close=True):
        self.handler.wfile.write(data)
        self.handler.wfile.flush()
        self.handler.close_connection = close

    def last(self, data):
        """Bytes and the end of the connection in one segment: who has read the one can see the other."""
        connection = self.handler.connection
        connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_CORK, 1)
        self.raw(data)
        self.cut()

    def status(self, status, body=b"", content_type="application/json", **headers):
        body = body.encode() if isinstance(body, str) else body
        lines = [f"HTTP/1.1 {status} Whatever", f"Content-Length: {len(body)}"]
        if body:
            lines.append(f"Content-Type: {content_type}")
        lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
        self.raw("\r\n".join(lines).encode() + b"\r\n\r\n" + body, close=False)

    def reply(self, **members):
        return json.dumps({"jsonrpc": "2.0", "id": self.message["id"], **members}, ensure_ascii=False)

    def result(self, result, **headers):
        self.status(200, self.reply(result=result), **headers)

    def error(self, code, message, status=200, **more):
        self.status(status, self.reply(error={"code": code, "message": message, **more}))

    def stream(self):
        """Begin an event stream that lasts until close()."""
        self.raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nTransfer-Encoding: chunked\r\n\r\n")
        return self

    def chunk(self, text):
        data = text.encode("utf-8")
        self.raw(b"%x\r\n%s\r\n" % (len(data), data))

    def event(self, message=None, event_id=None, event=None, retry=None):
        lines = []
        if event is not None:
            lines.append(f"event: {event}")
        if event_id is not None:
            lines.append(f"id: {event_id}")
        if retry is not None:
            lines.append(f"retry: {retry}")
        text = message if isinstance(message, str) else "" if message is None else json.dumps(message)
        lines.append(f"data: {text}")
        self.chunk("\n".join(lines) + "\n\n")

    def close(self):
        self.raw(b"0\r\n\r\n", close=False)

    def wait_gone(self):
        """Read until the peer hangs up."""
        with contextlib.suppress(OSError):
            while self.handler.connection.recv(4096):
                pass
        self.is_gone.set()
        self.handler.close_connection = True

    def cut(self):
        """End the connection in the middle."""
        with contextlib.suppress(OSError):
            self.handler.connection.shutdown(socket.SHUT_RDWR)
        self.handler.close_connection = True


class HttpUpstream:
    def __init__(self, era="legacy", tools=None, capabilities=None, sessions=True, timeout=120, tls=None):
        """`tls`: an ssl.SSLContext; then it speaks https."""
        self.era = era
        self.timeout = timeout
        self.tools = tools or [{"name": "echo", "inputSchema": {"type": "object"}}]
        self.capabilities = capabilities or {"tools": {"listChanged": True}}
        self.sessions = sessions
        self.session = 0
        self.revision = "2025-11-25"
        self.condition = threading.Condition()
        self.requests = []
        self.connections = 0  # accepted, …
        self.closed = 0  # … and ended since
        self.scheme = "http" if tls is None else "https"
        self.on = {
            "server/discover": self.discover,
            "initialize": self.initialize,
            "tools/list": self.list_tools,
            "tools/call": self.call,
            "GET": lambda x: x.status(405),
            "DELETE": lambda x: x.status(200),
        }
        upstream = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            disable_nagle_algorithm = True

            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0)))
                with contextlib.suppress(OSError):
                    upstream.take(Exchange(self, body))

            do_GET = do_POST = do_DELETE = answer

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            request_queue_size = 128

            def handle_error(self, request, client_address):
                pass

            def shutdown_request(self, request):
                super().shutdown_request(request)
                with upstream.condition:
                    upstream.closed += 1
                    upstream.condition.notify_all()

            def get_request(self):
                accepted, address = super().get_request()
                upstream.connections += 1
                if tls is not None:  # shaken by the thread that reads
                    accepted = tls.wrap_socket(accepted, server_side=True, do_handshake_on_connect=False)
                return accepted, address

        self.reserved = reserve()
        self.port = port_of(self.reserved)
        self.server = Server(("127.0.0.1", self.port), Handler)
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    @property
    def origin(self):
        return f"{self.scheme}://127.0.0.1:{self.port}"

    @property
    def url(self):
        return self.origin + "/mcp"

    def close(self):
        self.server.shutdown()
        self.server.server_close()
        self.reserved.close()

    def go_away(self):
        """Accept nothing until come_back(); connections that are there stay."""
        self.server.shutdown()
        self.server.socket.close()

    def come_back(self):
        self.server.socket = socket.create_server(("127.0.0.1", self.port))
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    # -- what arrives -----------------------------------------------------------------------------

    def take(self, x):
        with self.condition:
            is_lost = self.era == "legacy" and self.is_lost(x)
            self.requests.append(x)
            self.condition.notify_all()
        key = x.rpc if x.method == "POST" else x.method
        if is_lost:
            x.status(404)
        elif key in self.on:
            self.on[key](x)
        elif x.method == "POST" and "id" in x.message and x.rpc is not None:
            x.error(-32601, f"Method not found: {key}")
        else:
            x.status(202)

    def is_lost(self, x):
        sent = x.headers.get("mcp-session-id")
        return sent is not None and sent != f"session-{self.session}"

    def of(self, key, since=0):
        """The requests for a JSON-RPC method, or with GET or DELETE."""
        with self.condition:
            return [x for x in self.requests[since:] if key in (x.rpc, x.method)]

    def wait(self, key, count=1, since=0):
        def find():
            found = self.of(key, since)
            return found[count - 1] if len(found) >= count else None

        return self.wait_until(find, f"{count} {key}")

    def wait_until(self, condition, what):
        deadline = time.monotonic() + self.timeout
        with self.condition:
            while not (value := condition()):
                left = deadline - time.monotonic()
                if left <= 0:
                    seen = [f"{x.method} {x.rpc}" for x in self.requests[-8:]]
                    raise AssertionError(f"waited for {what} at the upstream; last requests: {seen}")
                self.condition.wait(left)
        return value

    # -- a good server ----------------------------------------------------------------------------

    def complete(self, **members):
        return {"resultType": "complete", **members} if self.era == "modern" else members

    def discover(self, x):
        if self.era != "modern":
            x.error(-32000, "Bad Request: Server not initialized", status=400)
            return
        x.result(
            self.complete(
                supportedVersions=[MODERN],
                capabilities=self.capabilities,
                serverInfo={"name": "upstream", "version": "1"},
                ttlMs=0,
                cacheScope="public",
            )
        )

    def initialize(self, x):
        if self.era == "modern":
            x.error(-32601, "Method not found", status=404)
            return
        headers = {}
        if self.sessions:
            self.session += 1
            headers["Mcp_Session_Id"] = f"session-{self.session}"
        x.result(
            {
                "protocolVersion": self.revision,
                "capabilities": self.capabilities,
                "serverInfo": {"name": "upstream", "version": "1"},
            },
            **headers,
        )

    def list_tools(self, x):
        more = {"ttlMs": 0, "cacheScope": "public"} if self.era == "modern" else {}
        x.result(self.complete(tools=self.tools, **more))

    def said(self, text):
        return self.complete(content=[{"type": "text", "text": text}])

    def call(self, x):
        x.result(self.said(json.dumps(x.params.get("arguments", {}))))
