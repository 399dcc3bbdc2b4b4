# SPDX-License-Identifier: Apache-2.0
"""Upstreams over https: who is trusted, who the hub is, and what it says when that does not fit.

RELIABILITY A08 (TLS is verified); RFC 9110 section 4.3.4 (https Certificate Verification).
"""

import json
import os
import ssl
import sys

from mcp import SUPPORT, HubTest, LegacyClient, main

sys.path.insert(0, str(SUPPORT))

from authority import Authority  # noqa: E402
from http_upstream import HttpUpstream  # noqa: E402


class Tls(HubTest):
    def setUp(self):
        super().setUp()
        self.authority = Authority(self.home)

    def context(self, certificate, key, asks_for=None):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        if asks_for is not None:
            context.verify_mode = ssl.CERT_REQUIRED
            context.load_verify_locations(asks_for.certificate)
        return context

    def upstream(self, *names, asks_for=None, issuer=None, **validity):
        certificate = (issuer or self.authority).issue("server", *(names or ["IP:127.0.0.1"]), **validity)
        made = HttpUpstream(tls=self.context(*certificate, asks_for=asks_for))
        self.addCleanup(made.close)
        return made

    def start(self, upstream, **keys):
        return LegacyClient(self.hub(toolsets={"up": {"url": upstream.url, **keys}}))

    def works(self, client):
        self.assertEqual(json.loads(client.call("up__echo", {"a": 1}).result["content"][0]["text"]), {"a": 1})

    def fails(self, upstream, client, *words):
        """The upstream was not spoken to, and the log says why."""
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log("cannot reach " + upstream.url)
        self.assertSays(client.hub.log, *words)
        self.assertEqual(upstream.requests, [])
        client.hub.finish()


class WhoTheServerIs(Tls):
    def test_an_authority_that_is_named(self):
        upstream = self.upstream()
        client = self.start(upstream, ca=str(self.authority.certificate))
        self.works(client)
        self.works(client)
        self.assertEqual(len({x.peer for x in upstream.of("tools/call")}), 1)  # the connection is kept

    def test_its_path_is_relative_to_the_manifest(self):
        upstream = self.upstream()
        self.works(self.start(upstream, ca="authority/ca.pem"))

    def test_an_authority_that_nobody_knows(self):
        upstream = self.upstream()
        self.fails(upstream, self.start(upstream), "certificate", "not trusted", "set `ca` to a file with its authority")

    def test_another_authority(self):
        other = Authority(self.home, "other")
        upstream = self.upstream()
        self.fails(upstream, self.start(upstream, ca=str(other.certificate)), "certificate", "not trusted", "`ca`")

    def test_the_name_of_another_host(self):
        for names in (["DNS:localhost"], ["IP:127.0.0.2", "DNS:127.0.0.1.example"]):
            with self.subTest(names):
                upstream = self.upstream(*names)
                client = self.start(upstream, ca=str(self.authority.certificate))
                self.fails(upstream, client, "127.0.0.1", "not trusted")

    def test_out_of_date(self):
        for when in (
            {"begin": "20200101000000Z", "end": "20200201000000Z"},
            {"begin": "20980101000000Z", "end": "20990101000000Z"},
        ):
            with self.subTest(when):
                upstream = self.upstream(**when)
                word = "expired" if when["begin"] < "2026" else "not yet valid"
                self.fails(upstream, self.start(upstream, ca=str(self.authority.certificate)), word)

    def test_a_server_without_tls(self):
        upstream = HttpUpstream()
        self.addCleanup(upstream.close)
        upstream.scheme = "https"
        self.fails(upstream, self.start(upstream), "does not speak TLS")


class WhatIsSpoken(Tls):
    def test_http_1_1(self):
        """Also where HTTP/2 is offered: a call that is cancelled is heard of at once, by the end of its connection."""
        context = self.context(*self.authority.issue("server", "IP:127.0.0.1"))
        context.set_alpn_protocols(["h2", "http/1.1"])
        upstream = HttpUpstream("modern", tls=context)
        self.addCleanup(upstream.close)
        upstream.on["tools/call"] = lambda x: x.stream().wait_gone()
        client = self.start(upstream, ca=str(self.authority.certificate))
        client.names()
        call = client.send_call("up__echo")
        sent = upstream.wait("tools/call")
        self.assertEqual(sent.handler.connection.selected_alpn_protocol(), "http/1.1")
        client.cancel(call)
        self.assertTrue(sent.is_gone.wait(upstream.timeout))


class WhoTheHubIs(Tls):
    def setUp(self):
        super().setUp()
        self.clients = Authority(self.home, "clients")
        self.served = self.upstream(asks_for=self.clients)

    def start(self, certificate=None, key=None, **keys):
        if certificate is not None:
            keys.update(certificate=str(certificate), key=str(key))
        return super().start(self.served, ca=str(self.authority.certificate), **keys)

    def test_a_certificate_that_is_asked_for(self):
        self.works(self.start(*self.clients.issue("hub")))

    def sent_away(self, client):
        """The server ends the connection. Its reason may be lost on the way, so nothing is said of that."""
        self.assertEqual(client.own_names(), [])
        self.assertIn(self.served.url, client.hub.wait_log("toolset.failed"))
        self.assertEqual(self.served.requests, [])

    def test_none(self):
        self.sent_away(self.start())

    def test_one_that_the_server_does_not_trust(self):
        self.sent_away(self.start(*self.authority.issue("hub")))

    def test_a_key_that_does_not_fit(self):
        certificate, _ = self.clients.issue("hub")
        _, key = self.clients.issue("other")
        self.fails(self.served, self.start(certificate, key), "`certificate` and `key`", "belong together")

    def test_a_key_with_a_password(self):
        """OpenSSL would ask for it at the terminal, and the hub would stand still."""
        certificate, key = self.clients.issue("hub", password="canary-xyzzy")
        self.fails(self.served, self.start(certificate, key), "without a password")

    def test_files_that_are_none(self):
        certificate, key = self.clients.issue("hub")
        text = self.home / "text.pem"
        text.write_text("not a certificate")
        self.fails(self.served, self.start(text, key), "PEM")
        self.fails(self.served, self.start(certificate, text), "PEM")
        client = super().start(self.served, ca=str(text))
        self.fails(self.served, client, "`ca` is not a PEM file")

    def test_files_that_are_not_there(self):
        certificate, key = self.clients.issue("hub")
        for name in ("ca", "certificate", "key"):
            with self.subTest(name):
                keys = {"ca": str(self.authority.certificate), "certificate": str(certificate), "key": str(key)}
                keys[name] = "gone.pem"
                done = self.cli("check", "--connect", toolsets={"up": {"url": self.served.url, **keys}})
                self.assertNotEqual(done.returncode, 0)
                self.assertSays(done.stdout + done.stderr, f"{name}: cannot read", "gone.pem", "No such file")

    def test_files_that_are_none(self):
        """To read a pipe or a device would be to wait for ever, with the first call."""
        os.mkfifo(self.home / "pipe.pem")
        toolsets = {f"up{n}": {"url": self.served.url, "ca": ca} for n, ca in enumerate(("pipe.pem", "/dev/zero", str(self.home)))}
        done = self.cli("check", toolsets=toolsets)
        self.assertNotEqual(done.returncode, 0)
        self.assertEqual((done.stdout + done.stderr).count("it is not a regular file"), 3, done.stderr)


if __name__ == "__main__":
    main()
