# SPDX-License-Identifier: Apache-2.0
"""The hub behind nginx as Debian ships it, with nothing configured but proxy_pass (RELIABILITY.md H01, H14): no
request is smuggled past it, and streams are not held up."""

import re
import shutil
import socket
import subprocess
import unittest

from http_client import JSON, Connection, HttpTest, Stream, render
from mcp import LIST_CHANGED, fixture, main
from ports import port_of, reserve

CONFIGURATION = """
daemon off; master_process off; pid {home}/nginx.pid; error_log stderr notice;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/f;
    uwsgi_temp_path {home}/u; scgi_temp_path {home}/s;
    server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass http://127.0.0.1:{hub}; {more} }}
        location /mcp/inside {{ return 403; }}
    }}
}}
"""
KEEP_ALIVE = "proxy_http_version 1.1; proxy_set_header Connection '';"


@unittest.skipUnless(shutil.which("nginx"), "nginx is not installed")
class Behind(HttpTest):
    def setUp(self):
        super().setUp()
        self.recorder_ = self.recorder()
        toolsets = {"up": self.recorder_.toolset(), "a": fixture("one", active=False)}
        self.server = self.http(toolsets=toolsets, manifest={"profiles": {"inside": {}}})

    def nginx(self, more="", server=None):
        """Start it in front of a hub; returns its port."""
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        path = self.home / f"nginx{port}.conf"
        path.write_text(CONFIGURATION.format(home=self.home, port=port, hub=(server or self.server).port, more=more), encoding="utf-8")
        process = subprocess.Popen(["nginx", "-p", str(self.home), "-c", str(path)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(self.stop, process)
        for line in process.stderr:
            if "start worker" in line or re.search(r"built by|OS:|getrlimit", line):
                return port
        raise AssertionError(f"nginx ended: {process.wait()}")

    @staticmethod
    def stop(process):
        process.terminate()
        process.stderr.read()
        process.wait()
        process.stderr.close()

    def connect(self, port):
        connection = Connection(port)
        self.addCleanup(connection.close)
        return connection

    def test_requests_are_not_smuggled(self):  # H01: nginx lets nobody through to this path
        smuggled = self.server.modern_bytes("tools/call", {"name": "up__echo", "arguments": {}}, path="/mcp/inside")
        length = len(smuggled)
        for more in ("", KEEP_ALIVE):
            port = self.nginx(more)
            refused = self.connect(port).send(smuggled).reply()
            self.assertEqual(refused.status, 403)
            for lines in (
                ("Content-Length: 5", "Transfer-Encoding: chunked"),
                ("Transfer-Encoding: chunked", f"Content-Length: {length + 5}"),
                (f"Content-Length: {length}", "Content-Length: 0"),
                ("Transfer-Encoding: xchunked", f"Content-Length: {length}"),
                ("Transfer-Encoding: chunked, identity",),
                ("Transfer-Encoding:\tchunked", f"Content-Length: {length}"),
                ("Transfer-Encoding : chunked", f"Content-Length: {length}"),
                ("X: y\r\n Transfer-Encoding: chunked", f"Content-Length: {length}"),
                ("Transfer-Encoding: chunked\nX: y",),
                ("Content-Length: 0\r\nContent-Length: 0",),
                (f"Content-Length: {length}", "Connection: Content-Length"),
                (f"Content-Length: {length}", "Connection: close, Content-Length", "Expect: 100-continue"),
            ):
                for body in (b"0\r\n\r\n" + smuggled, b"5\r\nhello\r\n0\r\n\r\n" + smuggled, smuggled):
                    head = "\r\n".join(("POST /mcp HTTP/1.1", "Host: localhost", f"Content-Type: {JSON}", *lines))
                    connection = self.connect(port).send(head.encode() + b"\r\n\r\n" + body)
                    connection.socket.shutdown(socket.SHUT_WR)
                    while connection.fill():
                        pass
        self.assertEqual(self.server.call("up__echo", path="/mcp/inside").status, 200)  # after all that
        self.assertEqual(len(self.recorder_.sync().lines("tools/call")), 1)

    def test_events_arrive_at_once(self):  # H14
        quiet = self.http(toolsets={"a": fixture("one", active=False)})  # nothing changes by itself
        for more in ("", KEEP_ALIVE):
            connection = self.connect(self.nginx(more))
            since = self.recorder_.mark
            connection.send(self.server.modern_bytes("tools/call", {"name": "up__progress", "arguments": {}}, meta={"progressToken": 5}))
            self.assertEqual(len(connection.reply().messages), 4)
            stream = self.connect(self.nginx(more, quiet))
            stream = Stream(stream.send(quiet.modern_bytes("subscriptions/listen", {"notifications": {"toolsListChanged": True}})))
            self.assertEqual(stream.message().method, "notifications/subscriptions/acknowledged")
            quiet.call("enable_toolset", {"toolset": "a"})
            self.assertEqual(stream.message().method, LIST_CHANGED)
            quiet.call("disable_toolset", {"toolset": "a"})
            self.assertEqual(stream.message().method, LIST_CHANGED)
            self.assertGreaterEqual(len(self.recorder_.sync().lines("tools/call", since)), 1)

    def test_hanging_up_reaches_the_hub(self):  # H13
        connection = self.connect(self.nginx())
        connection.send(self.server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {}}))
        self.recorder_.wait_calls(1)
        connection.close()
        self.recorder_.wait_line(lambda m: m.get("method") == "notifications/cancelled", "the cancellation")

    def test_requests_in_a_row(self):
        connection = self.connect(self.nginx(KEEP_ALIVE))
        for number in range(20):
            connection.send(self.server.modern_bytes("tools/list", request_id=number) + render("GET", "/healthz"))
            self.assertEqual(connection.reply().message.id, number)
            self.assertEqual(connection.reply("GET").status, 200)


if __name__ == "__main__":
    main()
