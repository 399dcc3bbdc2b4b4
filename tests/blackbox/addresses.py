# SPDX-License-Identifier: Apache-2.0
"""`addresses: public`: nothing connects to an internal address, whatever name leads there and whoever names it.

The tests run in a network of their own, where this machine has public and internal addresses and a file of host names says
which name has which: one server listens at all of them, and notes at which address it was connected to.
"""

import http.server
import json
import os
import socket
import ssl
import subprocess
import sys
import threading
import unittest
import urllib.parse
from pathlib import Path

from login import LoginTest
from login_server import browse
from mcp import SUPPORT, LegacyClient, main

sys.path.insert(0, str(SUPPORT))

from authority import Authority  # noqa: E402

INSIDE = "PATCHBAY_TEST_OWN_NETWORK"
PUBLIC = "8.8.8.8"
INTERNAL = {
    "this.test": "127.0.0.1",
    "ten.test": "10.1.2.3",
    "private.test": "172.31.0.9",
    "home.test": "192.168.1.1",
    "carrier.test": "100.64.0.1",
    "cloud.test": "169.254.169.254",
    "six.test": "::1",
    "local.test": "fd00::5",
    "mapped.test": "::ffff:10.1.2.3",
}
HERE = Path(__file__).resolve()


class Everywhere:
    """A server that wants a login, its authorization server, and what they must not lead to: at every address."""

    def __init__(self, tls):
        self.connected = []  # the addresses, one per connection
        self.asked = []
        self.named = {}  # what is named -> the host that is named for it
        self.redirects = None
        self.lock = threading.Lock()
        everywhere = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def answer(self):
                self.rfile.read(int(self.headers.get("content-length", 0)))
                path = urllib.parse.urlsplit(self.path).path
                with everywhere.lock:
                    everywhere.asked.append(path)
                everywhere.serve(self, path)

            do_GET = do_POST = do_DELETE = answer

            def say(self, status, body=None, **headers):
                data = json.dumps(body if body is not None else {}).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name.replace("_", "-"), value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True
            address_family = socket.AF_INET6

            def server_bind(self):
                self.socket.setsockopt(socket.IPPROTO_IPV6, socket.IPV6_V6ONLY, 0)
                super().server_bind()

            def get_request(self):
                connection, peer = self.socket.accept()
                with everywhere.lock:
                    everywhere.connected.append(connection.getsockname()[0].removeprefix("::ffff:"))
                connection.settimeout(30)
                return tls.wrap_socket(connection, server_side=True, do_handshake_on_connect=False), peer

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("::", 0), Handler)
        self.port = self.server.server_address[1]
        self.url = self.at("server", "/mcp")
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def at(self, what, path):
        return f"https://{self.named.get(what, 'public.test')}:{self.port}{path}"

    def serve(self, handler, path):
        issuer = self.at("issuer", "")
        if path == "/mcp" and self.redirects is not None:
            handler.say(307, Location=self.redirects)
        elif path == "/mcp":
            place = self.at("metadata", "/.well-known/oauth-protected-resource/mcp")
            handler.say(401, WWW_Authenticate=f'Bearer resource_metadata="{place}"')
        elif path == "/.well-known/oauth-protected-resource/mcp":
            handler.say(200, {"resource": self.url, "authorization_servers": [issuer]})
        elif path == "/.well-known/oauth-authorization-server":
            handler.say(200, {
                "issuer": issuer, "authorization_endpoint": self.at("", "/authorize"), "token_endpoint": self.at("token", "/token"),
                "registration_endpoint": self.at("registration", "/register"), "revocation_endpoint": self.at("revocation", "/revoke"),
                "code_challenge_methods_supported": ["S256"],
            })
        elif path == "/register":
            handler.say(201, {"client_id": "c", "token_endpoint_auth_method": "none"})
        elif path == "/token":
            handler.say(200, {"access_token": "a", "token_type": "Bearer", "refresh_token": "r"})
        else:
            handler.say(404)


@unittest.skipUnless(os.environ.get(INSIDE), "run by InAnotherNetwork")
class Inside(LoginTest):
    def setUp(self):
        super().setUp()
        authority = Authority(self.home)
        names = ["DNS:public.test", *(f"DNS:{name}" for name in INTERNAL), "IP:127.0.0.1"]
        tls = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        tls.load_cert_chain(*authority.issue("server", *names))
        self.ca = str(authority.certificate)
        self.server = Everywhere(tls)
        self.addCleanup(self.server.close)

    def entry(self, addresses="public", url=None):
        return {"up": {"url": url or self.server.url, "ca": self.ca, "addresses": addresses}}

    def finish_login(self, toolsets):
        """A login, its browser included: what the command wrote, and its status."""
        process, link = self.begin_login(toolsets)
        fields = dict(urllib.parse.parse_qsl(urllib.parse.urlsplit(link).query))
        browse(fields["redirect_uri"] + "?" + urllib.parse.urlencode({"code": "x", "state": fields["state"]}))
        out, err = process.communicate(timeout=60)
        return process.returncode, out + err

    def only_public(self):
        self.assertEqual(set(self.server.connected), {PUBLIC})

    def test_what_is_public_works(self):
        status, text = self.finish_login(self.entry())
        self.assertEqual(status, 0, text)
        self.only_public()

    def test_a_server_at_an_internal_address(self):
        for name, address in INTERNAL.items():
            literal = f"[{address}]" if ":" in address else address
            for host in (name, literal):
                with self.subTest(host):
                    self.fails(self.entry(url=f"https://{host}:{self.server.port}/mcp"), "is an internal address")
                    self.assertEqual(self.server.connected, [])

    def test_what_a_server_names(self):
        for what in ("metadata", "issuer", "registration"):
            for name in INTERNAL:
                with self.subTest(what=what, name=name):
                    self.server.named = {what: name}
                    self.fails(self.entry(), "is an internal address")
                    self.only_public()

    def test_a_token_endpoint(self):
        for name in INTERNAL:
            with self.subTest(name):
                self.server.named = {"token": name}
                status, text = self.finish_login(self.entry())
                self.assertEqual((status, "is an internal address" in text), (5, True), text)
                self.only_public()

    def test_where_tokens_are_revoked(self):
        self.server.named = {"revocation": "cloud.test"}
        self.assertEqual(self.finish_login(self.entry())[0], 0)
        done = self.cli("login", "revoke", "up", toolsets=self.entry(), modules=False)
        self.assertEqual((done.returncode, "169.254.169.254 is an internal address" in done.stderr), (5, True), done.stderr)
        self.only_public()

    def says(self, toolsets, **options):
        """What a call is told."""
        client = LegacyClient(self.hub(toolsets=toolsets, **options))
        message = client.call("up__echo").tool_error["message"]
        client.hub.finish()
        return message

    def test_calls(self):
        """Directly and by a redirect, and no proxy of the environment makes the connection instead."""
        for name in ("cloud.test", "six.test", "mapped.test"):
            with self.subTest(name):
                self.server.redirects = f"https://{name}:{self.server.port}/mcp"
                self.assertSays(self.says(self.entry()), "redirects to")
                self.assertSays(self.says(self.entry(url=self.server.redirects)), "is an internal address")
                self.only_public()
        entry = self.entry(url=f"https://home.test:{self.server.port}/mcp")
        proxied = self.says(entry, env={"HTTPS_PROXY": f"http://{PUBLIC}:{self.server.port}"})
        self.assertSays(proxied, "192.168.1.1 is an internal address")
        self.only_public()

    def test_without_it_they_are_connected_to(self):
        """Or the tests above could not fail."""
        for name in ("ten.test", "mapped.test"):
            self.server.named = {"issuer": name}
            self.begin_login(self.entry("any"))
        self.assertIn("10.1.2.3", self.server.connected)


class InAnotherNetwork(LoginTest):
    def test_them(self):
        addresses = [PUBLIC, *INTERNAL.values()]
        hosts = self.home / "hosts"
        hosts.write_text("".join(f"{address} {name}\n" for name, address in {"public.test": PUBLIC, "localhost": "127.0.0.1", **INTERNAL}.items()))
        add = "".join(
            f"ip address add {address}/{128 if ':' in address else 32} dev lo nodad\n" if ":" in address else f"ip address add {address}/32 dev lo\n"
            for address in addresses if address not in ("127.0.0.1", "::1", "::ffff:10.1.2.3")
        )
        script = f"set -e\nip link set lo up\n{add}mount --bind {hosts} /etc/hosts\nexec {sys.executable} -B {HERE.parent / 'run.py'} addresses.Inside\n"
        own = ["unshare", "--user", "--map-root-user", "--net", "--mount"]
        if subprocess.run([*own, "true"], capture_output=True).returncode != 0:
            self.skipTest("this machine lets nobody have a network of their own")
        done = subprocess.run([*own, "sh", "-c", script], capture_output=True, text=True, env={**os.environ, INSIDE: "1"}, timeout=300)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertRegex(done.stdout, r"7 passed, 0 failed")


if __name__ == "__main__":
    main()
