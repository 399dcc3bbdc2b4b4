# SPDX-License-Identifier: Apache-2.0
"""A bystander who shares nginx's kept connection to the hub with somebody who smuggles (RELIABILITY.md H01): none of
its answers is ever somebody else's. What nginx refuses by itself is sent to the hub directly as well."""

import re
import shutil
import socket
import subprocess
import unittest

from evil import Bystander, EvilTest
from http_client import BOTH, JSON, Connection
from mcp import main
from ports import port_of, reserve

# One worker with one connection that everybody shares; bodies go on as they come.
CONFIGURATION = """
daemon off; master_process off; pid {home}/nginx.pid; error_log stderr notice;
events {{ worker_connections 256; }}
http {{
    access_log off; ignore_invalid_headers off; underscores_in_headers on;
    client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/f;
    uwsgi_temp_path {home}/u; scgi_temp_path {home}/s;
    upstream hub {{ server 127.0.0.1:{hub}; keepalive 1; }}
    server {{
        listen 127.0.0.1:{port};
        location / {{
            proxy_pass http://hub; proxy_http_version 1.1; proxy_set_header Connection ''; proxy_set_header Host localhost;
            proxy_buffering off; proxy_request_buffering {buffering};
        }}
    }}
}}
"""
FRAMINGS = (
    ("Content-Length: 5", "Transfer-Encoding: chunked"),
    ("Transfer-Encoding: chunked", "Content-Length: {length}"),
    ("Content-Length: {length}", "Content-Length: 0"),
    ("Content-Length: 0", "Content-Length: {length}"),
    ("Content-Length: 0, {length}",),
    ("Content-Length: +0",),
    ("Content-Length: 0x0",),
    ("Content-Length: 99999999999999999999999",),
    ("Content-Length : 0",),
    ("Content-Length:\x0b0",),
    ("Transfer-Encoding: xchunked", "Content-Length: {length}"),
    ("Transfer-Encoding: chunked, identity",),
    ("Transfer-Encoding: identity, chunked",),
    ("Transfer-Encoding: chunked, chunked",),
    ("Transfer-Encoding: gzip, chunked",),
    ("Transfer-Encoding: \"chunked\"", "Content-Length: {length}"),
    ("Transfer-Encoding:\tchunked", "Content-Length: {length}"),
    ("Transfer-Encoding:\x0bchunked", "Content-Length: {length}"),
    ("Transfer-Encoding : chunked", "Content-Length: {length}"),
    ("Transfer_Encoding: chunked", "Content-Length: {length}"),
    (" Transfer-Encoding: chunked", "Content-Length: {length}"),
    ("X: y\r\n Transfer-Encoding: chunked", "Content-Length: {length}"),
    ("X: y\rTransfer-Encoding: chunked", "Content-Length: {length}"),
    ("X: y\nTransfer-Encoding: chunked", "Content-Length: {length}"),
    ("Transfer-Encoding: chunked", "Transfer-Encoding: identity"),
)


class Smuggling(EvilTest):
    def attacks(self):
        """Requests in which a second one may be seen, which calls a tool."""
        smuggled = self.server.modern_bytes("tools/call", {"name": "up__echo", "arguments": {"smuggled": True}}, request_id="smuggled")
        part = smuggled[: smuggled.index(b"\r\n")] + b"\r\nX: "  # swallows the start of whatever comes next
        for lines in FRAMINGS:
            for body in (b"0\r\n\r\n" + smuggled, b"5\r\nhello\r\n0\r\n\r\n" + smuggled, b"0\r\n\r\n" + part, b"0;\n\r\n\r\n" + smuggled, smuggled):
                head = "\r\n".join(("POST /mcp HTTP/1.1", "Host: localhost", f"Content-Type: {JSON}", f"Accept: {BOTH}", *lines))
                yield head.format(length=len(body)).encode("latin-1") + b"\r\n\r\n" + body

    def send(self, port, data):
        """Everything that is answered to it."""
        connection = Connection(port)
        try:
            connection.send(data)
            connection.socket.shutdown(socket.SHUT_WR)
        except (BrokenPipeError, ConnectionResetError, OSError):
            pass
        while connection.fill():
            pass
        connection.close()
        return connection.buffer

    def test_directly(self):
        """The hub is at least as strict: after a request that can be read in two ways, nothing more is read."""
        for data in self.attacks():
            with self.subTest(data=data[:400]):
                self.assertRegex(self.send(self.server.port, data), rb"^HTTP/1\.1 (?:400|413|501) ")
                self.bystander.call()
                self.assertEqual(self.foreign_calls(), [])
        self.assertUnharmed()

    @unittest.skipUnless(shutil.which("nginx"), "nginx is not installed")
    def test_over_a_shared_connection(self):
        for buffering in ("on", "off"):
            port = self.nginx(buffering)
            bystander = Bystander(self.server, self.connect(port))
            for data in self.attacks():
                with self.subTest(data=data[:400], buffering=buffering):
                    bystander.call()
                    answer = self.send(port, data)
                    bystander.call()
                    bystander.call()
                    self.assertEqual(self.foreign_calls(), [], answer)
            bystander.connection.close()
        self.bystander.call()
        self.assertIdle(self.server)

    def connect(self, port):
        connection = Connection(port)
        self.addCleanup(connection.close)
        return connection

    def nginx(self, buffering):
        """Start it; returns its port."""
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        path = self.home / f"nginx-{buffering}.conf"
        path.write_text(CONFIGURATION.format(home=self.home, port=port, hub=self.server.port, buffering=buffering), encoding="utf-8")
        process = subprocess.Popen(["nginx", "-p", str(self.home), "-c", str(path)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, process)
        for line in process.stderr:
            if re.search(r"start worker|built by|OS:|getrlimit", line):
                return port
        raise AssertionError(f"nginx ended: {process.wait()}")

    @staticmethod
    def stop(process):
        process.terminate()
        process.stderr.read()
        process.wait()
        process.stderr.close()


if __name__ == "__main__":
    main()
