# SPDX-License-Identifier: Apache-2.0
"""Certificates that name clients (REQUIREMENTS.md S5.35): who is let in, under which name, and what ends when a certificate, its
authority or a revocation list is another one while connections are open. All certificates are openssl's."""

import hashlib
import json
import ssl
import sys
import time

from evil_tls import SecureServer
from evil_websocket import WebSocket, call
from mcp import SUPPORT, HubTest, fixture, main

sys.path.insert(0, str(SUPPORT))
from authority import Authority  # noqa: E402

TOOLSETS = {"alpha": fixture("one", "hold"), "beta": fixture("two", active=False)}


class Certificates(HubTest):
    def setUp(self):
        super().setUp()
        self.hubs, self.people = Authority(self.home, "hubs"), Authority(self.home, "people")
        self.pair = self.hubs.issue("localhost", "DNS:localhost")
        self.ca, self.crl = self.home / "people.pem", self.home / "revoked.pem"
        self.ca.write_text(self.people.certificate.read_text())

    def write(self, text, path):
        """As an editor does: at once."""
        fresh = path.with_name(path.name + ".new")
        fresh.write_text(text)
        fresh.replace(path)

    def manifest(self, **clients):
        self.pair[1].chmod(0o600)
        tls = {"certificate": str(self.pair[0]), "key": str(self.pair[1]), "clients": {"ca": str(self.ca), **clients}}
        return {"toolsets": TOOLSETS, "listen": [{"http": "127.0.0.1:0", "tls": tls}], "hub": {"remember": "none"}}

    def served(self, *args, more=None, **clients):
        manifest = self.manifest(**clients)
        manifest.update(more or {})
        self.file = self.home / "hub.json"
        self.file.write_text(json.dumps(manifest))
        return self.hub("--stdio", "--config", self.file, *args)

    def server(self, hub, pair=None, *, chain=()):
        """As somebody with this certificate, if any; `chain` is sent along with it."""
        server = SecureServer(self, hub)
        server.context = ssl.create_default_context(cafile=str(self.hubs.certificate))
        if pair is not None:
            whole = self.home / "shown.pem"
            whole.write_text("".join(path.read_text() for path in (pair[0], *chain)))
            server.context.load_cert_chain(whole, pair[1])
        return server

    def wait_said(self, hub, text, since):
        """The line of the log, behind `since`."""
        def find():
            return next((line for line in hub.log[since:].splitlines() if text in line), None)
        return hub.wait_until(find, f"{text!r} in the log")

    def refused(self, hub, pair, why, alert, **options):
        """By TLS, with this alert; the log says why, once in a second."""
        since = len(hub.log)
        with self.assertRaises(ssl.SSLError) as caught:
            self.server(hub, pair, **options).connection().socket.recv(1)
        self.assertIn(alert, str(caught.exception).upper())
        if why:
            self.wait_said(hub, why, since)

    def enabled_by(self, hub, server):
        """Under which name somebody is known."""
        since = len(hub.log)
        for tool in ("enable_toolset", "disable_toolset"):
            self.assertNotIn("isError", server.call(tool, {"toolset": "beta"}).answer.result)
        line = self.wait_said(hub, "toolset.enabled toolset=beta", since)
        return line.split("principal=")[1].split()[0].strip('"')


class Names(Certificates):
    def test_each_part_of_a_certificate(self):
        pair = self.people.issue("ann", "DNS:ann.example.com", "email:ann@example.com", "URI:spiffe://example.com/ann")
        mail = self.people.issue("bob", "DNS:bob.example.com", "email:bob@example.com")
        print_of = hashlib.sha256(ssl.PEM_cert_to_DER_cert(pair[0].read_text())).hexdigest()
        for principal, expected in (("cn", "cert:ann"), ("san", "cert:spiffe://example.com/ann"), ("fingerprint", "cert:" + print_of)):
            hub = self.served(principal=principal)
            self.assertEqual(self.enabled_by(hub, self.server(hub, pair)), expected)
            if principal == "san":
                self.assertEqual(self.enabled_by(hub, self.server(hub, mail)), "cert:bob@example.com")

    def test_names_that_are_none(self):
        hub = self.served(principal="san")
        for name, names in (("none", ()), ("two", ("DNS:a.example.com", "DNS:b.example.com"))):
            reply = self.server(hub, self.people.issue(name, *names)).modern("tools/list")
            self.assertEqual(reply.status, 403)
            self.assertIn("certificate", reply.message.error["message"])
            self.assertEqual(reply.header("connection"), "close")

    def test_rules_and_other_people(self):
        """A principal of a certificate is one as any other: rules know it, and its choices are its own."""
        rules = [{"who": {"principals": ["cert:ann"]}, "then": "allow"}, {"tools": {"match": ["alpha:hold"]}, "then": "deny"}]
        hub = self.served(more={"access": {"rules": rules}})
        ann, bob = (self.server(hub, self.people.issue(name)) for name in ("ann", "bob"))
        nobody = self.server(hub)
        for server, sees in ((ann, True), (bob, False), (nobody, False)):
            names = {tool["name"] for tool in server.modern("tools/list").message.result["tools"]}
            self.assertEqual("alpha__hold" in names, sees, names)
            self.assertIn("alpha__one", names)
        session = ann.legacy()
        self.assertEqual(session.request("tools/list").status, 200)
        self.assertEqual(bob.post(session.message("tools/list"), headers=session.headers()).status, 404)
        self.assertEqual(WebSocket(ann).ask(call("x", "alpha__one")).id, "x")


class Gate(Certificates):
    def test_required_or_not(self):
        pair = self.people.issue("ann")
        hub = self.served(required=True)
        self.refused(hub, None, "", "CERTIFICATE_REQUIRED")
        self.assertEqual(self.enabled_by(hub, self.server(hub, pair)), "cert:ann")
        hub = self.served()
        self.assertEqual(self.server(hub).modern("tools/list").status, 200)

    def test_beside_tokens(self):
        """Who shows a token is judged by it; without one the certificate says who it is."""
        tokens = self.home / "tokens.json"
        token = self.cli("token", "new", "laptop", "--tokens", tokens, modules=False).stdout.strip()
        hub = self.served("--tokens", tokens)
        bearer = {"Authorization": f"Bearer {token}"}
        self.assertEqual(self.server(hub).modern("tools/list").status, 401)
        self.assertEqual([self.server(hub).get(path).status for path in ("/healthz", "/readyz")], [200, 200])  # a kubelet
        self.assertEqual(self.server(hub).modern("tools/list", headers=bearer).status, 200)
        ann = self.server(hub, self.people.issue("ann"))
        self.assertEqual(self.enabled_by(hub, ann), "cert:ann")
        self.assertEqual(ann.modern("tools/list", headers={"Authorization": "Bearer pbt_x_y"}).status, 401)
        since = len(hub.log)
        self.assertEqual(ann.modern("tools/call", {"name": "enable_toolset", "arguments": {"toolset": "beta"}}, headers=bearer).status, 200)
        self.wait_said(hub, "principal=token:laptop", since)

    def test_those_that_are_not_accepted(self):
        hub = self.served(required=True)
        strangers = Authority(self.home, "strangers")
        self.refused(hub, strangers.issue("ann"), "unable to get local issuer certificate", "UNKNOWN_CA")
        old = self.people.issue("old", begin="20200101000000Z", end="20210101000000Z")
        self.refused(hub, old, "", "CERTIFICATE_EXPIRED")
        early = self.people.issue("early", begin="20980101000000Z")
        self.refused(hub, early, "", "BAD_CERTIFICATE")
        server = self.people.issue("web", extensions="extendedKeyUsage = serverAuth\n")
        self.refused(hub, server, "", "UNSUPPORTED_CERTIFICATE")
        self.assertEqual(self.server(hub, self.people.issue("ann")).modern("tools/list").status, 200)

    def test_chains(self):
        """An authority between is sent along by the client, or is named by the hub's own file."""
        team = Authority(self.home, "team", above=self.people)
        pair = team.issue("ann")
        hub = self.served(required=True)
        self.refused(hub, pair, "unable to get local issuer certificate", "UNKNOWN_CA")
        self.assertEqual(self.enabled_by(hub, self.server(hub, pair, chain=[team.certificate])), "cert:ann")
        self.ca.write_text(team.certificate.read_text())
        hub = self.served(required=True)
        self.assertEqual(self.enabled_by(hub, self.server(hub, pair)), "cert:ann")
        self.refused(hub, self.people.issue("bob"), "unable to get local issuer certificate", "UNKNOWN_CA")

    def test_how_much_may_be_shown(self):
        """16 KiB, with all that comes along (HUB_LIMIT_CERTIFICATE_BYTES); a signature has some bytes more or less."""
        def padded(count):
            pair = self.people.issue("ann", extensions=f"1.2.3.4 = ASN1:UTF8String:{count * 'x'}\n", file=f"ann{count}")
            return pair, len(ssl.PEM_cert_to_DER_cert(pair[0].read_text()))
        hub = self.served(required=True)
        most = 16 * 1024 - 9  # what TLS 1.3 has around one certificate
        count = 15000 + most - padded(15000)[1]
        fits, size = padded(count - 4)
        self.assertLessEqual(most - 8, size)
        self.assertLessEqual(size, most)
        self.assertEqual(self.enabled_by(hub, self.server(hub, fits)), "cert:ann")
        large, size = padded(count + 4)
        self.assertLess(most, size)
        self.refused(hub, large, "", "ILLEGAL_PARAMETER")

    def test_no_session_is_resumed(self):
        """What was verified once would not be verified again."""
        hub = self.served(required=True)
        server = self.server(hub, self.people.issue("ann"))
        connection = server.connection()
        connection.send(server.modern_bytes("tools/list"))
        self.assertEqual(connection.reply().status, 200)
        self.assertFalse(connection.socket.session is not None and connection.socket.session.has_ticket)

    def test_what_is_wrong_is_named(self):
        self.crl.write_text("no list\n")
        for clients, words in (({"ca": str(self.home / "none.pem")}, ["none.pem"]), ({"ca": str(self.crl)}, ["ca", "has no certificate"]),
                               ({"crl": str(self.crl)}, ["crl", "has no revocation list"]), ({"principal": "mail"}, ["principal", "cn"])):
            file = self.home / "wrong.json"
            file.write_text(json.dumps(self.manifest(**clients)))
            done = self.cli("check", file, modules=False)
            self.assertEqual(done.returncode, 3, done.stderr)
            self.assertSays(done.stderr, *words)


class Changes(Certificates):
    """Files are written while connections are open."""

    def opened(self, server):
        """All that can be open."""
        session = server.legacy()
        idle = server.connection()
        idle.send(server.modern_bytes("tools/list"))
        self.assertEqual(idle.reply().status, 200)
        waiting = server.connection()
        waiting.send(server.modern_bytes("tools/call", {"name": "alpha__hold", "arguments": {}}))
        return {"session": session, "stream": session.open(), "listen": server.listen(toolsListChanged=True), "idle": idle,
                "waiting": waiting, "websocket": WebSocket(server)}

    def ends(self, stream):
        while stream.next() is not None:
            pass
        stream.connection.wait_closed()

    def assertEnded(self, things):
        self.ends(things["stream"])
        self.ends(things["listen"])
        things["idle"].wait_closed()
        reply = things["waiting"].reply()
        self.assertEqual((reply.status, reply.header("connection")), (403, "close"))
        self.assertIn("certificate", reply.message.error["message"])
        self.assertEqual(things["websocket"].closed(), 4401)

    def assertOpen(self, server, things):
        server.call("enable_toolset", {"toolset": "beta"})
        for name in ("stream", "listen"):
            self.assertIn("list_changed", things[name].message().method)
        things["idle"].send(server.modern_bytes("tools/list"))
        self.assertEqual(things["idle"].reply().status, 200)
        self.assertTrue(things["waiting"].is_quiet())
        things["websocket"].ask(call("still", "alpha__one"))

    def test_revoked(self):
        ann, bob = self.people.issue("ann"), self.people.issue("bob")
        self.crl.write_text(self.people.revoked())
        hub = self.served(required=True, crl=str(self.crl))
        one, other = self.server(hub, ann), self.server(hub, bob)
        gone, stays = self.opened(one), self.opened(other)
        self.people.revoke(ann[0])
        since = len(hub.log)
        self.write(self.people.revoked(), self.crl)
        self.wait_said(hub, "config.reloaded", since)
        self.assertEnded(gone)
        self.assertOpen(other, stays)
        self.refused(hub, ann, "certificate revoked", "CERTIFICATE_REVOKED")
        # Another certificate of the same name opens the door; the session of before has ended.
        again = self.server(hub, self.people.issue("ann", file="ann2"))
        self.assertEqual(again.modern("tools/list").status, 200)
        reply = again.post(gone["session"].message("tools/list"), headers=gone["session"].headers())
        self.assertEqual(reply.status, 404)

    def test_renewed(self):
        """A second certificate of the same name is the same principal: its sessions outlive the first."""
        old, new = self.people.issue("ann"), self.people.issue("ann", file="ann2")
        self.crl.write_text(self.people.revoked())
        hub = self.served(required=True, crl=str(self.crl))
        session = self.server(hub, old).legacy()
        server = self.server(hub, new)
        self.assertEqual(server.post(session.message("tools/list"), headers=session.headers()).status, 200)
        self.people.revoke(old[0])
        since = len(hub.log)
        self.write(self.people.revoked(), self.crl)
        self.wait_said(hub, "config.reloaded", since)
        self.refused(hub, old, "certificate revoked", "CERTIFICATE_REVOKED")
        self.assertEqual(server.post(session.message("tools/list"), headers=session.headers()).status, 200)

    def test_another_authority(self):
        ann = self.people.issue("ann")
        hub = self.served(required=True)
        server = self.server(hub, ann)
        gone = self.opened(server)
        others = Authority(self.home, "others")
        since = len(hub.log)
        self.write(self.ca.read_text() + others.certificate.read_text(), self.ca)
        self.wait_said(hub, "config.reloaded", since)
        new = self.server(hub, others.issue("carl"))
        self.assertEqual(self.enabled_by(hub, new), "cert:carl")
        self.assertOpen(server, gone)
        since = len(hub.log)
        self.write(others.certificate.read_text(), self.ca)
        self.wait_said(hub, "config.reloaded", since)
        self.assertEnded(gone)
        self.refused(hub, ann, "unable to get local issuer certificate", "UNKNOWN_CA")
        self.assertEqual(new.modern("tools/list").status, 200)

    def test_the_hubs_own_while_connections_are_open(self):
        hub = self.served(required=True)
        server = self.server(hub, self.people.issue("ann"))
        stays = self.opened(server)
        fresh = self.hubs.issue("localhost", "DNS:localhost", file="second")
        since = len(hub.log)
        self.write(json.dumps(self.renamed(fresh)), self.file)
        self.wait_said(hub, "config.reloaded", since)
        self.assertOpen(server, stays)
        shown = self.server(hub, self.people.issue("bob")).connection().socket.getpeercert(binary_form=True)
        self.assertEqual(shown, ssl.PEM_cert_to_DER_cert(fresh[0].read_text()))

    def renamed(self, pair):
        self.pair = pair
        return self.manifest(required=True)

    def test_a_list_that_is_out_of_date(self):
        """Nobody can say who was taken back since: no certificate is accepted until there is another list."""
        ann = self.people.issue("ann")
        self.crl.write_text(self.people.revoked("-crl_lastupdate", "20200101000000Z", "-crl_nextupdate", "20200201000000Z"))
        hub = self.served(required=True, crl=str(self.crl))
        self.refused(hub, ann, "CRL has expired", "CERTIFICATE_EXPIRED")
        since = len(hub.log)
        self.write(self.people.revoked(), self.crl)
        self.wait_said(hub, "config.reloaded", since)
        self.assertEqual(self.server(hub, ann).modern("tools/list").status, 200)

    def test_a_file_that_is_wrong_changes_nothing(self):
        hub = self.served(required=True)
        server = self.server(hub, self.people.issue("ann"))
        stays = self.opened(server)
        since = len(hub.log)
        self.write("no certificate\n", self.ca)
        self.wait_said(hub, "config.refused", since)
        self.assertOpen(server, stays)

    def test_one_that_ends(self):
        """All begins before that."""
        end = time.strftime("%Y%m%d%H%M%SZ", time.gmtime(time.time() + 20))
        hub = self.served(required=True)
        server = self.server(hub, self.people.issue("ann", end=end))
        gone = self.opened(server)
        self.ends(gone["stream"])
        self.ends(gone["listen"])
        self.assertEqual(gone["websocket"].closed(), 4401)
        self.refused(hub, self.people.issue("later", begin="20200101000000Z", end=end), "certificate has expired", "CERTIFICATE_EXPIRED")


if __name__ == "__main__":
    main()
