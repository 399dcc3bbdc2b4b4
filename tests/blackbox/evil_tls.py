# SPDX-License-Identifier: Apache-2.0
"""A TLS listener and those who do not keep to it (RELIABILITY.md H16, H17): old versions, plain bytes, handshakes
that do not come to an end."""

import socket
import ssl
import subprocess

from evil import EvilTest, leave
from evil_websocket import TEXT, WebSocket, call, closing, frame
from http_client import Connection, Server
from mcp import LIST_CHANGED, fixture, main


class SecureConnection(Connection):
    def __init__(self, port, context, host="127.0.0.1"):
        super().__init__(port, host)
        self.socket = context.wrap_socket(self.socket, server_hostname="localhost")

    def is_quiet(self):
        return not self.socket.pending() and super().is_quiet()


class SecureServer(Server):
    """As http_client.Server, over TLS."""

    context = None

    def connection(self):
        connection = SecureConnection(self.port, self.context)
        self.test.addCleanup(connection.close)
        return connection

    def plain(self):
        return super().connection()


class Tls(EvilTest):
    versions = {}

    def make_certificate(self):
        certificate, key = self.home / "hub.pem", self.home / "hub.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
            check=True, capture_output=True)
        key.chmod(0o600)
        return certificate, key

    def http(self, *args, toolsets=None, manifest=None, **options):
        certificate, key = self.make_certificate()
        listen = [{"http": "127.0.0.1:0", "tls": {"certificate": str(certificate), "key": str(key), **self.versions}}]
        toolsets = {**toolsets, "late": fixture("one", active=False)}
        hub = self.hub("--stdio", toolsets=toolsets, manifest={**manifest, "listen": listen})
        server = SecureServer(self, hub)
        self.assertTrue(server.url.startswith("https://"), server.url)
        server.context = ssl.create_default_context(cafile=str(certificate))
        return server

    def context(self, least, most, **options):
        context = ssl.create_default_context(cafile=str(self.home / "hub.pem"))
        context.set_ciphers("ALL:@SECLEVEL=0")
        context.minimum_version, context.maximum_version = least, most
        if "alpn" in options:
            context.set_alpn_protocols(options["alpn"])
        return context

    def handshake(self, *versions, **options):
        """Its version and protocol; None when the hub refuses."""
        try:
            connection = SecureConnection(self.server.port, self.context(*versions, **options))
        except (ssl.SSLError, ConnectionResetError):
            return None
        found = connection.socket.version(), connection.socket.selected_alpn_protocol()
        connection.close()
        return found


class Talking(Tls):
    def test_requests_streams_and_websockets(self):
        connection = self.server.connection()
        for size in (10, 100000, 3000000):
            connection.send(self.server.modern_bytes("tools/call", {"name": "up__echo", "arguments": {"a": "x" * size}}))
            self.assertEqual(connection.reply().answer.result["structuredContent"], {"a": "x" * size})
        connection.send(self.server.modern_bytes("tools/list") * 20)
        for _ in range(20):
            self.assertEqual(connection.reply().status, 200)
        stream = self.server.listen(toolsListChanged=True)
        self.server.call("enable_toolset", {"toolset": "late"})
        self.assertEqual(stream.message().method, LIST_CHANGED)
        client = WebSocket(self.server)
        self.assertEqual(client.ask(call("tls")).id, "tls")
        self.assertEqual(client.send(closing(1000)).closed(), 1000)
        self.assertEqual(WebSocket(self.server).send(frame(TEXT, b"{}", is_masked=False)).closed(), 1002)
        connection.close()
        stream.close()
        self.assertUnharmed(calls=4)

    def test_versions(self):  # H16
        v = ssl.TLSVersion
        self.assertEqual(self.handshake(v.TLSv1_2, v.TLSv1_2), ("TLSv1.2", None))
        self.assertEqual(self.handshake(v.TLSv1_3, v.TLSv1_3), ("TLSv1.3", None))
        for old in (v.TLSv1, v.TLSv1_1):
            self.assertIsNone(self.handshake(old, old))
        self.assertUnharmed()

    def test_no_other_protocol_is_agreed_on(self):  # H17
        v = ssl.TLSVersion
        self.assertEqual(self.handshake(v.TLSv1_2, v.TLSv1_3, alpn=["h2", "http/1.1"]), ("TLSv1.3", "http/1.1"))
        self.assertIn(self.handshake(v.TLSv1_2, v.TLSv1_3, alpn=["h2"]), (None, ("TLSv1.3", None)))
        self.assertUnharmed()

    def test_what_is_no_handshake(self):  # H16
        request = self.server.modern_bytes("tools/call", {"name": "up__echo", "arguments": {}})
        hello = self.hello()
        for data in (request, b"\x00" * 1000, b"\xff" * 1000, b"\x16\x03\x01\xff\xff" + b"\x00" * 70000, hello[:5] + b"\xff" * (len(hello) - 5), b"\x15\x03\x01\x00\x02\x02\x28"):
            connection = self.server.plain()
            try:
                connection.send(data)
            except (ConnectionResetError, BrokenPipeError):
                pass
            while connection.fill():
                pass
            if data is request:  # a client with http:// where https:// is meant: it is told
                self.assertTrue(connection.buffer.startswith(b"HTTP/1.1 400 "), connection.buffer)
                self.assertIn(b"This port speaks TLS", connection.buffer)
            else:
                self.assertNotIn(b"HTTP", connection.buffer)
            connection.close()
        for ending in (leave, lambda c: c.close(), lambda c: c.socket.shutdown(socket.SHUT_WR)):
            for data in (b"", b"\x16", hello[:20], hello):
                ending(self.server.plain().send(data))
        self.assertUnharmed()

    def hello(self):
        """How a client begins."""
        incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
        client = self.server.context.wrap_bio(incoming, outgoing, server_hostname="localhost")
        try:
            client.do_handshake()
        except ssl.SSLWantReadError:
            pass
        return outgoing.read()

    def test_handshakes_that_never_end(self):  # H16: after 10 s the hub hangs up
        hello = self.hello()
        crowd = [self.server.plain().send(data) for data in (b"", b"\x16", hello[:20], hello) for _ in range(20)]
        self.bystander.call()
        for connection in crowd:
            while connection.fill():
                pass
            connection.close()
        self.assertUnharmed()


class OnlyNewest(Tls):
    versions = {"min_version": "1.3"}

    def test_versions(self):
        v = ssl.TLSVersion
        self.assertIsNone(self.handshake(v.TLSv1_2, v.TLSv1_2))
        self.assertEqual(self.handshake(v.TLSv1_2, v.TLSv1_3), ("TLSv1.3", None))


if __name__ == "__main__":
    main()
