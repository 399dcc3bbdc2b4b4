# SPDX-License-Identifier: Apache-2.0
"""A proxy for tests: forwards plain requests, and opens tunnels (CONNECT). It finds every name at the
loopback, so that names which exist nowhere show that it was asked."""

import base64
import contextlib
import socket
import threading


class Proxy:
    def __init__(self, credentials=None):
        """`credentials`: "user:password" that it wants."""
        self.wanted = credentials and "Basic " + base64.b64encode(credentials.encode()).decode()
        self.heads = []  # of requests: the first line, and headers by their names
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        threading.Thread(target=self.accept, daemon=True).start()

    @property
    def url(self):
        return f"http://127.0.0.1:{self.port}"

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()

    def accept(self):
        while True:
            try:
                client, _ = self.listener.accept()
            except OSError:
                return
            threading.Thread(target=self.serve, args=[client], daemon=True).start()

    def serve(self, client):
        with client, client.makefile("rb") as reader, contextlib.suppress(OSError, ValueError):
            while self.serve_one(client, reader):
                pass

    def serve_one(self, client, reader):
        """One request. False when the connection is over."""
        first = reader.readline().decode("latin-1").rstrip("\r\n")
        if not first:
            return False
        lines = list(iter(reader.readline, b"\r\n"))
        headers = {k.strip().lower(): v.strip() for k, _, v in (x.decode("latin-1").partition(":") for x in lines)}
        self.heads.append((first, headers))
        if self.wanted and headers.get("proxy-authorization") != self.wanted:
            client.sendall(b"HTTP/1.1 407 No\r\nProxy-Authenticate: Basic\r\nContent-Length: 0\r\nConnection: close\r\n\r\n")
            return False
        method, target, _ = first.split(" ")
        if method == "CONNECT":
            self.tunnel(client, reader, target)
            return False
        return self.forward(client, reader, method, target, lines, headers)

    def connect(self, authority):
        return socket.create_connection(("127.0.0.1", int(authority.rpartition(":")[2])))

    def tunnel(self, client, reader, authority):
        with self.connect(authority) as server:
            client.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n")
            back = threading.Thread(target=self.pump, args=[server.recv, client], daemon=True)
            back.start()
            self.pump(lambda size: reader.read1(size), server)
            back.join()

    def forward(self, client, reader, method, target, lines, headers):
        """A connection of its own to the server, whose answer ends with it."""
        authority, _, path = target.removeprefix("http://").partition("/")
        kept = [x for x in lines if not x.lower().startswith((b"proxy-", b"connection:"))]
        body = reader.read(int(headers.get("content-length", 0)))
        with self.connect(authority) as server:
            server.sendall(f"{method} /{path} HTTP/1.1\r\n".encode() + b"".join(kept) + b"\r\n" + body)
            server.shutdown(socket.SHUT_WR)  # it closes behind its answer
            with server.makefile("rb") as answer:
                client.sendall(answer.readline() + b"Connection: close\r\n")
                self.pump(lambda size: answer.read1(size), client)
        return False

    @staticmethod
    def pump(read, target):
        with contextlib.suppress(OSError):
            while data := read(1 << 16):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
