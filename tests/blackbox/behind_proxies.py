# SPDX-License-Identifier: Apache-2.0
"""A proxy in front: whose word counts of who is asking (trusted_proxies, the PROXY protocol), and what those who look
after the hub send (a kubelet, haproxy, nginx). The proxies are nginx, haproxy and Caddy, as the distribution has them. Clients come from
127.0.0.2, so that they are not the proxy."""

import json
import os
import re
import shutil
import socket
import ssl
import struct
import subprocess
import sys
import unittest

import http_client
from http_client import Connection, HttpTest, Server
from mcp import LIST_CHANGED, SUPPORT, fixture, main
from ports import port_of, reserve

sys.path.insert(0, str(SUPPORT))
from authority import Authority  # noqa: E402

PROXY, CLIENT, STRANGER = "127.0.0.1", "127.0.0.2", "127.0.0.3"
ADMITTED = 405  # a GET of this path is nothing yet, but its sender was let in
FAILURES = 20  # HUB_HTTP_LIMIT_AUTH_FAILURES
BAD = "Authorization: Bearer pbt_000000000000_" + 43 * "A"

NGINX = """
daemon off; master_process off; pid {home}/nginx.pid; error_log stderr notice;
events {{ worker_connections 64; }}
http {{
    access_log off;
    client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/f;
    uwsgi_temp_path {home}/u; scgi_temp_path {home}/s;
    server {{
        listen 127.0.0.1:{port};
        location / {{ proxy_pass http://127.0.0.1:{hub}; proxy_http_version 1.1; proxy_set_header Connection '';
                     proxy_set_header X-Forwarded-For $proxy_add_x_forwarded_for; }}
    }}
}}
"""
HAPROXY = """
global
    log stdout format raw local0
defaults
    log global
    timeout connect 10s
    timeout client 60s
    timeout server 60s
    option log-health-checks
frontend front
    mode {mode}
    bind 127.0.0.1:{port}
    default_backend back
backend back
    mode {mode}
    {more}
    server hub 127.0.0.1:{hub} check {server}
"""
CADDY = """
{{
    admin off
    auto_https off
}}
http://:{port} {{
    bind 127.0.0.1
    reverse_proxy 127.0.0.1:{hub} {{
        flush_interval -1
        health_uri /healthz
        health_interval 1h
    }}
}}
"""


def render(method, path, lines=(), **options):
    """A request; its headers are lines."""
    return http_client.render(method, path, [tuple(line.split(": ", 1)) for header in lines for line in header.split("\r\n")], **options)


class Proxied(HttpTest):
    def setUp(self):
        super().setUp()
        self.tokens = self.home / "tokens.json"
        done = self.cli("token", "new", "a", "--tokens", self.tokens, modules=False)
        self.good = f"Authorization: Bearer {done.stdout.strip()}"

    def hub(self, **listener):
        listen = {"http": "127.0.0.1:0", "trusted_proxies": [PROXY], **listener}
        hub = self.daemon(toolsets={"a": fixture("one")}, manifest={"listen": [listen], "auth": {"tokens": str(self.tokens)}})
        return Server(self, hub)

    def connect(self, port, source=CLIENT):
        connection = Connection(port, source=source)
        self.addCleanup(connection.close)
        return connection

    def ask(self, port, *headers, source=CLIENT, first=b""):
        return self.connect(port, source).send(first + render("GET", "/mcp", headers)).reply("GET").status

    def lock_out(self, port, *headers, source=CLIENT, first=b""):
        """Show bad tokens until they are not judged any more."""
        for _ in range(FAILURES):
            self.assertEqual(self.ask(port, BAD, *headers, source=source, first=first), 401)
        self.assertEqual(self.ask(port, BAD, *headers, source=source, first=first), 429)

    def locked_out(self, server, peer):
        server.hub.wait_log(f"auth.locked_out peer={peer} ")

    def start(self, command, pattern, stream, env=None):
        pipes = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT} if stream == "stdout" else {"stderr": subprocess.PIPE}
        process = subprocess.Popen(command, text=True, env=env, **pipes)
        self.addCleanup(self.stop, process)
        said = []
        for line in getattr(process, stream):
            said.append(line)
            if re.search(pattern, line):
                return
        raise AssertionError(f"{command[0]} ended: {''.join(said)}")

    @staticmethod
    def stop(process):
        process.terminate()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.read()
        process.wait()
        for pipe in (process.stdout, process.stderr):
            if pipe is not None:
                pipe.close()

    def port(self):
        reserved = reserve()
        self.addCleanup(reserved.close)
        return port_of(reserved)


class Headers(Proxied):
    def test_each_client_by_itself(self):
        server = self.hub()
        self.lock_out(server.port, "X-Forwarded-For: 203.0.113.1", source=PROXY)
        self.locked_out(server, "203.0.113.1")
        for other in ("X-Forwarded-For: 203.0.113.2", "X-Forwarded-For: 203.0.113.1, 203.0.113.2",
                      "X-Forwarded-For: 203.0.113.1, 203.0.113.2, 127.0.0.1", 'Forwarded: for="[2001:db8::1]:4711";proto=https',
                      "X-Forwarded-For: nonsense", "Forwarded: for=unknown", "Forwarded: for=203.0.113.1, for=_hidden"):
            self.assertEqual(self.ask(server.port, BAD, other, source=PROXY), 401, other)
        for same in ("X-Forwarded-For: 203.0.113.1", "X-Forwarded-For: 203.0.113.2, 203.0.113.1", "X-Forwarded-For: ::ffff:203.0.113.1",
                     "Forwarded: for=203.0.113.1", "Forwarded: for=198.51.100.1, for=203.0.113.1:80;by=x", "X-Forwarded-For: 203.0.113.1:4711",
                     "X-Forwarded-For: 203.0.113.2\r\nX-Forwarded-For: 203.0.113.1"):
            self.assertEqual(self.ask(server.port, BAD, same, source=PROXY), 429, same)
        # a header that nginx let through from the client names somebody else than nginx does
        both = ("X-Forwarded-For: 203.0.113.1", "Forwarded: for=203.0.113.9")
        self.assertEqual(self.ask(server.port, BAD, *both, source=PROXY), 401)
        self.assertEqual(self.ask(server.port, self.good, "X-Forwarded-For: 203.0.113.1", source=PROXY), ADMITTED)

    def test_from_elsewhere_they_change_nothing(self):
        server = self.hub()
        for number in range(FAILURES):
            self.assertEqual(self.ask(server.port, BAD, f"X-Forwarded-For: 203.0.113.{number}", source=STRANGER), 401)
        self.assertEqual(self.ask(server.port, BAD, "X-Forwarded-For: 203.0.113.99", source=STRANGER), 429)
        self.locked_out(server, STRANGER)
        self.assertEqual(self.ask(server.port, BAD, source=CLIENT), 401)

    def test_reload(self):
        server = self.hub(trusted_proxies=[])
        self.lock_out(server.port, "X-Forwarded-For: 203.0.113.1", source=PROXY)
        self.assertEqual(self.ask(server.port, BAD, "X-Forwarded-For: 203.0.113.2", source=PROXY), 429)


class Healthy(Proxied):
    def test_any_host(self):  # what a kubelet sends: the pod's address as Host, its own User-Agent
        server = self.hub()
        for path in ("/healthz", "/readyz"):
            for host in ("10.1.2.3:8080", "hub.internal", "[fd00::1]:80", "back"):
                request = render("GET", path, ("User-Agent: kube-probe/1.30", "Accept: */*", "Connection: close"), host=host)
                self.assertEqual(self.connect(server.port).send(request).reply("GET").status, 200)
            bare = self.connect(server.port).send(f"GET {path} HTTP/1.0\r\n\r\n".encode()).reply("GET")  # haproxy's own default
            self.assertEqual(bare.status, 200)
            page = render("GET", path, ("Origin: http://evil.example",), host="10.1.2.3")
            self.assertEqual(self.connect(server.port).send(page).reply("GET").status, 403)
        self.assertEqual(self.connect(server.port).send(render("GET", "/mcp", host="10.1.2.3")).reply("GET").status, 403)

    def test_a_page_learns_no_names(self):  # without tokens everybody may know; but not a page whose name was rebound
        server = Server(self, self.daemon("--http", "0", toolsets={"gone": {"command": "/nowhere/at/all"}}))
        server.modern("tools/list")
        self.assertIn(b"gone", self.connect(server.port).send(render("GET", "/readyz")).reply("GET").body)
        rebound = self.connect(server.port).send(render("GET", "/readyz", host="evil.example")).reply("GET")
        self.assertEqual((rebound.status, rebound.body), (200, b'{"status":"ready"}'))

    def test_every_host(self):
        server = self.hub(hosts=["*"])
        self.assertEqual(self.connect(server.port).send(render("GET", "/mcp", (self.good,), host="any.example")).reply("GET").status, ADMITTED)
        foreign = render("GET", "/mcp", (self.good, "Origin: http://evil.example"), host="any.example")
        self.assertEqual(self.connect(server.port).send(foreign).reply("GET").status, 403)
        own = render("GET", "/mcp", (self.good, "Origin: https://any.example"), host="any.example")
        self.assertEqual(self.connect(server.port).send(own).reply("GET").status, ADMITTED)


@unittest.skipUnless(shutil.which("nginx"), "nginx is not installed")
class Nginx(Proxied):
    def test_clients_and_forgers(self):
        server = self.hub(hosts=["127.0.0.1", "localhost"])
        port = self.port()
        path = self.home / "nginx.conf"
        path.write_text(NGINX.format(home=self.home, port=port, hub=server.port), encoding="utf-8")
        self.start(["nginx", "-p", str(self.home), "-c", str(path)], "start worker|built by|OS:|getrlimit", "stderr")
        for number in range(FAILURES):
            self.assertEqual(self.ask(port, BAD, f"X-Forwarded-For: 203.0.113.{number}"), 401)
        self.assertEqual(self.ask(port, BAD, "X-Forwarded-For: 203.0.113.99"), 429)
        self.locked_out(server, CLIENT)
        self.assertEqual(self.ask(port, BAD, source=STRANGER), 401)
        self.assertEqual(self.ask(port, BAD, "Forwarded: for=203.0.113.7", source=STRANGER), 401)


@unittest.skipUnless(shutil.which("caddy"), "caddy is not installed")
class Caddy(Proxied):
    def served(self, **listener):
        server, port = self.hub(hosts=["127.0.0.1", "localhost"], **listener), self.port()
        path = self.home / "Caddyfile"
        path.write_text(CADDY.format(port=port, hub=server.port), encoding="utf-8")
        self.start(["caddy", "run", "--adapter", "caddyfile", "--config", str(path)], "serving initial configuration", "stderr",
                   env={"PATH": os.environ["PATH"], "HOME": str(self.home)})
        return server, port

    def test_clients_and_forgers(self):
        server, port = self.served()
        for number in range(FAILURES):
            self.assertEqual(self.ask(port, BAD, f"X-Forwarded-For: 203.0.113.{number}"), 401)
        self.assertEqual(self.ask(port, BAD, "X-Forwarded-For: 203.0.113.99"), 429)
        self.locked_out(server, CLIENT)
        self.assertEqual(self.ask(port, BAD, source=STRANGER), 401)
        self.assertEqual(self.ask(port, self.good), ADMITTED)

    def test_streams(self):
        """What is sent unasked is there at once."""
        server, port = self.served()
        behind = Server(self, server.hub)
        behind.port = port
        headers = dict([self.good.split(": ", 1)])
        session = behind.legacy(headers=headers)
        stream = session.open()
        self.assertNotIn("isError", session.call("disable_toolset", {"toolset": "a"}).answer.result)
        self.assertEqual(stream.message().method, LIST_CHANGED)


@unittest.skipUnless(shutil.which("haproxy"), "haproxy is not installed")
class Haproxy(Proxied):
    def haproxy(self, server, mode, more="", options=""):
        port = self.port()
        path = self.home / "haproxy.cfg"
        path.write_text(HAPROXY.format(mode=mode, port=port, hub=server.port, more=more, server=options), encoding="utf-8")
        self.start(["haproxy", "-db", "-f", str(path)], "Health check for server back/hub succeeded.*(200|Layer4|Layer6)", "stdout")
        return port

    def judge(self, server, port):
        self.lock_out(port)
        self.locked_out(server, CLIENT)
        self.assertEqual(self.ask(port, BAD, source=STRANGER), 401)
        self.assertEqual(self.ask(port, self.good), ADMITTED)

    def test_http(self):
        server = self.hub()
        self.judge(server, self.haproxy(server, "http", "option httpchk GET /healthz\n    option forwardfor"))

    def test_tcp(self):
        for option in ("send-proxy", "send-proxy-v2"):
            server = self.hub(proxy_protocol=True)
            self.judge(server, self.haproxy(server, "tcp", options=f"{option} check-send-proxy"))

    def test_tcp_with_a_check_over_http(self):
        server = self.hub(proxy_protocol=True)
        self.judge(server, self.haproxy(server, "tcp", "option httpchk GET /readyz", "send-proxy-v2 check-send-proxy"))


    def test_tcp_with_tls_that_ends_at_the_hub(self):
        """The PROXY header comes before the handshake; the certificate is the client's own."""
        hubs, people = Authority(self.home, "hubs"), Authority(self.home, "people")
        pair = hubs.issue("localhost", "DNS:localhost")
        pair[1].chmod(0o600)
        server = self.hub(proxy_protocol=True, tls={"certificate": str(pair[0]), "key": str(pair[1]), "clients": {"ca": str(people.certificate)}})
        port = self.haproxy(server, "tcp", "option httpchk GET /readyz", "send-proxy-v2 check-send-proxy check-ssl verify none")
        context = ssl.create_default_context(cafile=str(hubs.certificate))

        def ask(*headers, source=CLIENT):
            connection = self.connect(port, source)
            connection.socket = context.wrap_socket(connection.socket, server_hostname="localhost")
            return connection.send(render("GET", "/mcp", headers)).reply("GET").status

        self.assertEqual([ask(BAD) for _ in range(FAILURES + 1)], [401] * FAILURES + [429])
        self.locked_out(server, CLIENT)
        self.assertEqual(ask(BAD, source=STRANGER), 401)
        self.assertEqual(ask(), 401)
        context.load_cert_chain(*people.issue("ann"))
        self.assertEqual(ask(), ADMITTED)


class ProxyProtocol(Proxied):
    V2 = b"\r\n\r\n\0\r\nQUIT\n"

    def v2(self, command=0x21, family=0x11, said=None, extra=b""):
        said = socket.inet_aton("203.0.113.5") + socket.inet_aton("10.0.0.1") + struct.pack("!HH", 1, 2) if said is None else said
        return self.V2 + bytes((command, family)) + struct.pack("!H", len(said + extra)) + said + extra

    def test_who_it_says(self):
        server = self.hub(proxy_protocol=True)
        ours = b"PROXY TCP4 203.0.113.5 10.0.0.1 1 2\r\n"
        self.lock_out(server.port, source=PROXY, first=ours)
        self.locked_out(server, "203.0.113.5")
        v6 = socket.inet_pton(socket.AF_INET6, "2001:db8::5") * 2 + struct.pack("!HH", 1, 2)
        for same in (self.v2(), self.v2(extra=b"\x04\0\x01x")):
            self.assertEqual(self.ask(server.port, BAD, source=PROXY, first=same), 429)
        for other in (b"PROXY TCP6 2001:db8::5 ::1 1 2\r\n", b"PROXY UNKNOWN\r\n", b"PROXY UNKNOWN what ever\r\n", self.v2(0x20, 0, b""),
                      self.v2(family=0x21, said=v6), self.v2(family=0x31, said=216 * b"x")):
            self.assertEqual(self.ask(server.port, BAD, source=PROXY, first=other), 401, other)

    def test_in_pieces(self):
        server = self.hub(proxy_protocol=True)
        for header in (b"PROXY TCP4 203.0.113.5 10.0.0.1 1 2\r\n", self.v2()):
            connection = self.connect(server.port, PROXY)
            connection.socket.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            for byte in header + render("GET", "/healthz"):
                connection.send(bytes((byte,)))
            self.assertEqual(connection.reply("GET").status, 200)

    def test_what_is_none(self):
        server = self.hub(proxy_protocol=True)
        for wrong in (b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n", b"PROXY TCP4 203.0.113.5\r\n", b"PROXY TCP4 ::1 ::1 1 2\r\n", b"PROXY " + 200 * b"x",
                      b"PROXY TCP9 1.2.3.4 1.2.3.4 1 2\r\n", self.V2 + b"\x11\x11\0\0", self.V2 + b"\x21\x11\xff\xff", self.v2(said=b"abc"), b"\0"):
            connection = self.connect(server.port, PROXY).send(wrong)
            connection.wait_closed()
        server.hub.wait_log("does not begin with a PROXY header")
        self.assertEqual(self.ask(server.port, self.good, source=PROXY, first=b"PROXY UNKNOWN\r\n"), ADMITTED)

    def test_from_elsewhere_it_is_nothing(self):
        server = self.hub(proxy_protocol=True)
        self.assertEqual(self.ask(server.port, source=STRANGER, first=b"PROXY TCP4 203.0.113.5 10.0.0.1 1 2\r\n"), 400)
        self.assertEqual(self.ask(server.port, self.good, source=STRANGER), ADMITTED)
        plain = self.hub()
        self.assertEqual(self.ask(plain.port, source=PROXY, first=b"PROXY TCP4 203.0.113.5 10.0.0.1 1 2\r\n"), 400)


class Wrong(Proxied):
    def test_settings(self):
        for proxies, said in (("10.0.0.0/8", "a list"), ([5], "an IP address"), (["10.0.0.1/8"], "no bit set"), (["10.0.0.0/33"], "block"),
                              (["fd00::/129"], "block"), (["hub"], "block"), (65 * ["10.0.0.0/8"], "more than 64")):
            listen = {"http": "127.0.0.1:0", "trusted_proxies": proxies}
            path = self.home / "m.json"
            path.write_text(json.dumps({"listen": [listen]}), encoding="utf-8")
            done = self.cli("check", "--config", path, modules=False)
            self.assertNotEqual(done.returncode, 0, proxies)
            self.assertIn(said, done.stderr)


if __name__ == "__main__":
    main()
