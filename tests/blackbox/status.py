# SPDX-License-Identifier: Apache-2.0
"""`patchbay status` and /readyz (S1.14, S1.40, S3.22; RELIABILITY.md U07, C02)."""

import contextlib
import json
import os
import re
import subprocess
import sys

from http_client import Server
from listen import Lines
from mcp import SUPPORT, HubTest, LegacyClient, fixture, main
from ports import port_of, reserve

OK, FAILED, USAGE, NO_HUB = 0, 1, 2, 3
SERVER = {"command": sys.executable, "args": ["-IS", str(SUPPORT / "unruly_server.py")]}
DEAD = {"command": "/nonexistent/server"}


class Status(HubTest):
    def setUp(self):
        super().setUp()
        self.socket = self.home / "hub.sock"

    def serve(self, *arguments, **options):
        hub = self.daemon("--unix", self.socket, "--http", 0, *arguments, **options)
        hub.listening(2)
        return hub

    def http_of(self, hub):
        return next(place for place in hub.listening(2) if place.startswith("http"))

    def ask(self, *arguments, **options):
        """(exit code, the status)"""
        done = self.cli("status", "--json", *arguments, **options)
        return done.returncode, json.loads(done.stdout) if done.stdout else done.stderr

    def server(self, hub):
        server = Server(self, hub)
        return server

    def rows(self, status):
        return {row["key"]: row["status"] for row in status["toolsets"]}

    def start_all(self, hub):
        session = Server(self, hub).modern("tools/list")
        self.assertEqual(session.status, 200)

    def test_over_each_transport(self):
        hub = self.serve(toolsets={"alpha": fixture("one"), "up": SERVER})
        for place in (["--unix", self.socket], ["--unix", "hub.sock"], ["--http", self.http_of(hub)], ["--http", self.http_of(hub).split(":")[2].split("/")[0]]):
            code, status = self.ask(*place)
            self.assertEqual(code, OK, status)
            self.assertEqual(status["hub"]["pid"], hub.process.pid)
            rows = self.rows(status)
            self.assertEqual(rows["alpha"]["state"], "ready")
            self.assertEqual(rows["up"]["state"], "idle", "to ask must start nothing")
            self.assertNotIn("pid", rows["up"])

    def test_a_certificate_of_its_own(self):
        certificate, key = self.home / "hub.pem", self.home / "hub.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", "/CN=localhost", "-addext", "subjectAltName=DNS:localhost", "-keyout", key, "-out", certificate],
            check=True, capture_output=True)
        key.chmod(0o600)
        listen = [{"http": "127.0.0.1:0", "tls": {"certificate": str(certificate), "key": str(key)}}]
        hub = self.daemon(manifest={"listen": listen, "toolsets": {"alpha": fixture("one")}})
        url = f"https://localhost:{hub.address[1]}"
        code, said = self.ask("--http", url)
        self.assertEqual(code, NO_HUB)
        self.assertSays(said, "certificate is not trusted", "--ca FILE")
        for ca in (certificate, "hub.pem"):
            code, status = self.ask("--http", url, "--ca", ca)
            self.assertEqual(code, OK, status)
            self.assertEqual(status["hub"]["pid"], hub.process.pid)
        code, said = self.ask("--http", url, "--ca", "none.pem")
        self.assertEqual(code, USAGE)
        self.assertSays(said, "--ca none.pem", "cannot be read")

    def test_a_server_that_works(self):
        hub = self.serve(toolsets={"up": SERVER})
        server = Server(self, hub)
        self.assertIn("result", server.modern("tools/call", {"name": "up__pid", "arguments": {}}).message.data)
        self.assertIn("result", server.modern("tools/call", {"name": "up__echo", "arguments": {}}).message.data)
        code, status = self.ask("--unix", self.socket)
        row = self.rows(status)["up"]
        self.assertEqual((code, row["state"], row["era"], row["protocol"]), (OK, "ready", "legacy", "2025-11-25"))
        listed = [t["name"] for t in server.modern("tools/list").message.result["tools"] if t["name"].startswith("up__")]
        self.assertEqual((row["tools"], row["calls"], row["errors"], row["restarts"], row["inFlight"]), (len(listed), 2, 0, 0, 0))
        self.assertGreater(row["latencyMs"]["max"], 0)
        self.assertGreaterEqual(row["latencyMs"]["max"], row["latencyMs"]["mean"])
        self.assertGreaterEqual(row["catalogAgeMs"], 0)
        os.kill(row["pid"], 0)  # there is such a process

    def test_instances_of_sessions(self):
        """With `sharing: session` the servers at work are those of the sessions: they are counted."""
        hub = self.serve(toolsets={"alpha": fixture("one"), "own": {**SERVER, "sharing": "session"}})
        server = Server(self, hub)
        rows = self.rows(self.ask("--unix", self.socket)[1])
        self.assertEqual(rows["own"]["instances"], 0)
        self.assertNotIn("instances", rows["alpha"])
        sessions = [server.legacy() for _ in range(3)]
        for session in sessions:
            self.assertIn("result", session.call("own__echo").answer.data)
        self.assertEqual(self.rows(self.ask("--unix", self.socket)[1])["own"]["instances"], 3)
        self.assertEqual(sessions[0].delete().status, 204)
        self.assertEqual(self.rows(self.ask("--unix", self.socket)[1])["own"]["instances"], 2)

    def test_a_server_that_fails(self):
        hub = self.serve(toolsets={"alpha": fixture("one"), "dead": DEAD})
        self.start_all(hub)
        code, status = self.ask("--unix", self.socket)
        row = self.rows(status)["dead"]
        self.assertEqual((code, row["state"]), (FAILED, "failed"))
        self.assertSays(row["lastError"], "/nonexistent/server")
        self.assertGreaterEqual(row["failures"], 1)
        self.assertEqual(self.rows(status)["alpha"]["state"], "ready")

    def test_a_table_for_people(self):
        hub = self.serve(toolsets={"alpha": fixture("one"), "dead": DEAD})
        self.start_all(hub)
        done = self.cli("status", "--unix", self.socket)
        self.assertEqual(done.returncode, FAILED)
        lines = done.stdout.splitlines()
        self.assertSays(lines[0], "patchbay", f"process {hub.process.pid}")
        self.assertTrue(lines[1].startswith("TOOLSET"))
        self.assertRegex(lines[2], r"^alpha +ready +- +- +1 +0 +0 +0 ")
        self.assertRegex(lines[3], r"^dead +failed .*/nonexistent/server")
        self.assertEqual(len(lines), 4)

    def test_a_toolset_that_cannot_be_made(self):
        roots = {"module": "files", "config": {"roots": [str(self.home / "nowhere")]}}
        self.serve(toolsets={"alpha": fixture("one"), "files": roots, "odd": {"module": "none_such"}})
        code, status = self.ask("--unix", self.socket)
        rows = self.rows(status)
        self.assertEqual((code, rows["files"]["state"], rows["odd"]["state"]), (FAILED, "failed", "failed"))
        self.assertSays(rows["files"]["lastError"], "nowhere")
        self.assertSays(rows["odd"]["lastError"], "none_such")

    def test_rules_hide_nothing_from_the_operator(self):
        """What nobody may call can be down, too; others are told of what they see."""
        watcher, bob = self.home / "watcher", self.home / "bob"
        for path, rights in ((watcher, ("--scopes", "admin:read")), (bob, ())):
            done = self.cli("token", "new", path.name + "s", *rights, "--tokens", self.home / "tokens.json", modules=False)
            path.write_text(done.stdout)
            path.chmod(0o600)
        manifest = {"access": {"default": "deny"}, "auth": {"tokens": str(self.home / "tokens.json")},
                    "toolsets": {"alpha": fixture("one"), "dead": {**DEAD, "lazy": False}}}
        hub = self.serve(manifest=manifest)
        hub.wait_log("toolset.failed toolset=dead")
        for place in (("--unix", self.socket), ("--http", self.http_of(hub), "--token-file", watcher)):
            code, status = self.ask(*place)
            self.assertEqual((code, list(self.rows(status))), (FAILED, ["alpha", "dead"]), status)
        code, status = self.ask("--http", self.http_of(hub), "--token-file", bob)
        self.assertEqual((code, status["toolsets"]), (OK, []))

    def test_who_waits_and_who_is_refused(self):  # S5.17, S5.4
        limits = {"calls_per_session": 2}
        hub = self.serve(toolsets={"alpha": fixture("one", "hold", max_calls=1, queue=1, queue_timeout="1h"), "beta": fixture("one")},
                         manifest={"limits": limits})
        clients = [Lines(self.socket) for _ in range(2)]
        for client in clients:
            self.addCleanup(client.close)
        clients[0].send("tools/call", name="alpha__hold", arguments={})
        clients[0].send("tools/call", name="alpha__one", arguments={})  # waits
        for name in ("alpha__one", "beta__one"):  # both are refused: too many in flight
            self.assertEqual(clients[0].request("tools/call", name=name, arguments={})["error"]["code"], -31001)
        self.assertTrue(clients[1].request("tools/call", name="alpha__one", arguments={})["result"]["isError"])  # no place
        code, status = self.ask("--unix", self.socket)
        rows = self.rows(status)
        self.assertEqual((code, status["hub"]["refused"]), (OK, 2))
        self.assertEqual([rows["alpha"][key] for key in ("inFlight", "queued", "queueLimit", "refused", "calls")], [1, 1, 1, 1, 0])
        self.assertEqual((rows["beta"]["queued"], rows["beta"]["refused"]), (0, 0))
        self.assertNotIn("queueLimit", rows["beta"])
        lines = self.cli("status", "--unix", self.socket).stdout.splitlines()
        self.assertRegex(lines[0], r", refused 2, servers \d+$")
        table = [line for line in lines if re.match("TOOLSET|alpha|beta", line)]
        at = table[0].index("QUEUED")
        self.assertEqual([line[at:].split()[:2] for line in table], [["QUEUED", "REFUSED"], ["1/1", "1"], ["-", "0"]])

    def test_the_manifest_says_where(self):
        manifest = {"listen": [{"http": 0}, {"unix": str(self.socket)}], "toolsets": {"alpha": fixture("one")}}
        hub = self.daemon(manifest=manifest)
        hub.listening(2)
        code, status = self.ask(manifest=manifest)
        self.assertEqual((code, status["hub"]["pid"]), (OK, hub.process.pid))

    def test_nobody_there(self):
        for place in (["--unix", self.socket], ["--http", "127.0.0.1:1"], ["--http", "http://127.0.0.1:1/mcp"]):
            code, text = self.ask(*place)
            self.assertEqual(code, NO_HUB)
            self.assertSays(text, "no hub answers", str(place[1]).split("/")[-1].split(":")[-1])
        code, text = self.ask(toolsets={"alpha": fixture("one")})
        self.assertEqual(code, USAGE)
        self.assertSays(text, "no hub to ask", "--unix", "--http")

    def test_one_of_several_addresses(self):
        """Whoever answers first; when nobody does, all that were asked are named."""
        hub = self.serve(toolsets={"alpha": fixture("one")})
        gone, url = self.home / "gone.sock", self.http_of(hub)
        with contextlib.closing(reserve()) as reserved:
            closed = f"http://127.0.0.1:{port_of(reserved)}/mcp"
            for place in (["--unix", gone, "--unix", self.socket], ["--http", closed, "--http", url], ["--unix", gone, "--http", url]):
                code, status = self.ask(*place)
                self.assertEqual((code, status["hub"]["pid"]), (OK, hub.process.pid), place)
            listens = [{"http": closed[7:-4]}, {"unix": str(gone)}, {"http": url[7:-4]}]
            code, status = self.ask(manifest={"listen": listens})
            self.assertEqual((code, status["hub"]["pid"]), (OK, hub.process.pid))
            for place in (["--unix", gone, "--http", closed], []):
                done = self.cli("status", *place, manifest={"listen": listens[:2]})
                self.assertEqual((done.returncode, done.stdout), (NO_HUB, ""))
                self.assertEqual(len(done.stderr.strip().splitlines()), 1)
                self.assertSays(done.stderr, f"no hub answers at unix://{gone}: ", f"; no hub answers at {closed}: ")
                self.assertEqual([done.stderr.count(place) for place in (f"unix://{gone}", closed)], [1, 1], done.stderr)

    def test_a_static_hub_without_meta_tools(self):
        self.serve("--toolsets", "alpha", "--no-meta-tools", toolsets={"alpha": fixture("one"), "beta": fixture("two")})
        code, status = self.ask("--unix", self.socket)
        self.assertEqual(code, OK)
        self.assertEqual(list(self.rows(status)), ["alpha"])  # what its clients cannot have they do not hear of

    def test_tokens(self):  # A01
        tokens = self.home / "tokens.json"
        token = self.cli("token", "new", "ops", "--tokens", tokens, modules=False).stdout.strip()
        (self.home / "good").write_text(token + "\n")
        (self.home / "bad").write_text(token[:-1] + ("A" if token[-1] != "A" else "B"))
        (self.home / "empty").write_text("\n")
        hub = self.serve("--tokens", tokens, toolsets={"alpha": fixture("one")})
        url = self.http_of(hub)
        self.assertEqual(self.ask("--http", url, "--token-file", self.home / "good")[0], OK)
        for flags in ([], ["--token-file", self.home / "bad"]):
            code, text = self.ask("--http", url, *flags)
            self.assertEqual(code, NO_HUB)
            self.assertSays(text, "401", "--token-file", "is not one of the hub's" if flags else "wants a token")
            self.assertNotIn("headers of its entry", text)
            self.assertNotIn(token[-30:-1], text)
        for name in ("empty", "missing"):
            code, text = self.ask("--http", url, "--token-file", self.home / name)
            self.assertEqual(code, USAGE)
            self.assertSays(text, "--token-file", name)
        self.assertNotIn(token[-43:], hub.log)

    def test_a_reload_keeps_what_was_counted(self):  # C02
        manifest = {"toolsets": {"alpha": fixture("one")}}
        client = LegacyClient(self.hub("--unix", self.socket, "--stdio", manifest=manifest))
        client.call("alpha__one")
        path = self.home / "patchbay.json"
        text = json.dumps({**manifest, "hub": {"title": "another"}})
        (self.home / "new").write_text(text)
        (self.home / "new").rename(path)
        client.hub.wait_log("config.reloaded")
        _, status = self.ask("--unix", self.socket)
        self.assertEqual(status["hub"]["generation"], 2)
        self.assertEqual(self.rows(status)["alpha"]["calls"], 1)


    def test_a_reload_that_was_refused(self):  # C02
        """It is told of until one succeeds; why, to those who may know of all toolsets."""
        secret = "Kn4tterTon-88-zirkus"
        manifest = {"toolsets": {"alpha": fixture("one")}, "listen": [{"unix": str(self.socket)}, {"http": 0}],
                    "profiles": {"narrow": {"startup": "static", "toolsets": ["alpha"]}}}
        manifest["listen"][1] = {"unix": str(self.home / "narrow.sock"), "profile": "narrow"}
        hub = self.daemon(manifest=manifest)
        hub.listening(2)
        path = self.home / "patchbay.json"

        def change(text, event):
            seen = hub.log.count(event)
            (self.home / "new").write_text(text)
            (self.home / "new").rename(path)
            hub.wait_until(lambda: hub.log.count(event) > seen, event)

        def of_the_hub(*place):
            code, status = self.ask(*(place or ("--unix", self.socket)))
            self.assertEqual(code, OK)
            return status["hub"]

        self.assertNotIn("refusedReload", of_the_hub())
        change("{", "config.refused")
        first = of_the_hub()["refusedReload"]
        self.assertSays(first["reason"], "patchbay.json:1")
        (self.home / "secret").write_text(secret)
        (self.home / "secret").chmod(0o600)
        bad = fixture(fail=f"no luck with ${{file:{self.home / 'secret'}}}")
        change(json.dumps({**manifest, "toolsets": {**manifest["toolsets"], "bad": bad}}), "config.refused")
        second = of_the_hub()
        self.assertSays(second["refusedReload"]["reason"], "bad", "no luck")
        self.assertNotIn(secret, json.dumps(second))
        self.assertEqual(second["generation"], 1)
        self.assertEqual(list(of_the_hub("--unix", self.home / "narrow.sock")["refusedReload"]), ["agoMs"])
        lines = self.cli("status", "--unix", self.socket).stdout.splitlines()
        self.assertRegex(lines[1], r"^the last reload was refused, \d+m?s ago: .*no luck")
        lines = self.cli("status", "--unix", self.home / "narrow.sock").stdout.splitlines()
        self.assertRegex(lines[1], r"^the last reload was refused, \d+m?s ago: the hub's log says why$")
        change(json.dumps(manifest), "config.reloaded")
        self.assertNotIn("refusedReload", of_the_hub())
        self.assertTrue(self.cli("status", "--unix", self.socket).stdout.splitlines()[1].startswith("TOOLSET"))


class Ready(HubTest):
    """/readyz names those that are not, to whom it may."""

    def get(self, server, headers=()):
        reply = server.get("/readyz", headers=list(dict(headers).items()))
        return reply.status, json.loads(reply.body)

    def test_names(self):  # S5.14
        hub = self.daemon(toolsets={"alpha": fixture("one"), "dead": DEAD})
        server = Server(self, hub)
        self.assertEqual(self.get(server), (200, {"status": "ready"}))
        server.modern("tools/list")
        self.assertEqual(self.get(server), (200, {"status": "ready", "notReady": [{"toolset": "dead", "state": "failed"}]}))

    def test_names_are_not_for_strangers(self):
        tokens = self.home / "tokens.json"
        token = self.cli("token", "new", "ops", "--tokens", tokens, modules=False).stdout.strip()
        hub = self.daemon("--http", 0, "--tokens", tokens, toolsets={"dead": DEAD})
        server = Server(self, hub)
        good = {"Authorization": f"Bearer {token}"}
        server.modern("tools/list", headers=good)
        self.assertEqual(self.get(server), (200, {"status": "ready"}))
        self.assertEqual(self.get(server, {"Authorization": "Bearer x"}), (200, {"status": "ready"}))
        self.assertEqual(self.get(server, good)[1]["notReady"][0]["toolset"], "dead")


if __name__ == "__main__":
    main()
