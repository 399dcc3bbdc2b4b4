# SPDX-License-Identifier: Apache-2.0
"""The audit: one record for each call, and what a full disk does to it (RELIABILITY.md D09, R09, R10)."""

import json
import os
import sys
import time

from evil_websocket import WebSocket
from evil_websocket import call as ws_call
from http_client import Server
from mcp import SUPPORT, TIMEOUT, HubTest, ModernClient, fixture, main

SERVER = {"command": sys.executable, "args": ["-IS", str(SUPPORT / "unruly_server.py")]}
TRACE = "0af7651916cd43dd8448eb211c80319c"


class Audit(HubTest):
    def setUp(self):
        super().setUp()
        self.file = self.home / "audit.jsonl"

    def manifest(self, **log):
        return {"toolsets": {"alpha": fixture("one"), "up": SERVER}, "log": {"audit": "audit.jsonl", **log}}

    def wait_written(self, client, count):
        """Ask the hub until it has written so many records."""
        deadline = time.monotonic() + TIMEOUT
        while True:
            audit = client.request("patchbay/status").result["hub"].get("audit", {"written": 0})
            if audit["written"] >= count:
                return
            self.assertLess(time.monotonic(), deadline, f"{count} records are not written: {audit}")

    def records(self, client, count, path=None, written=None):
        """What the file holds when the hub has written so many records in all; all are whole."""
        self.wait_written(client, written or count)
        found = [json.loads(line) for line in (path or self.file).read_text().splitlines()]
        self.assertEqual(len(found), count)
        return found

    def test_a_call(self):
        client = self.modern(manifest=self.manifest())
        meta = {"traceparent": f"00-{TRACE}-b7ad6b7169203331-01"}
        client.call("up__echo", {"password": "canary-in-arguments"}, meta=meta)
        record = self.records(client, 1)[0]
        self.assertRegex(record["time"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$")
        self.assertEqual(
            {key: record[key] for key in ("transport", "profile", "method", "toolset", "name", "traceId", "outcome")},
            {"transport": "stdio", "profile": "default", "method": "tools/call", "toolset": "up", "name": "echo", "traceId": TRACE, "outcome": "ok"},
        )
        self.assertTrue(record["who"])
        self.assertGreater(record["durationMs"], 0)
        self.assertNotIn("canary", self.file.read_text())
        self.assertNotIn("audit", client.hub.log)

    def test_where_from(self):
        """The client's address; behind a trusted proxy the real one, and from elsewhere what others claim changes nothing. In
        sessions, that of the request."""
        manifest = {**self.manifest(), "listen": [{"http": "127.0.0.1:0", "trusted_proxies": ["127.0.0.1"]}]}
        hub = self.hub("--stdio", manifest=manifest)
        client, server = ModernClient(hub), Server(self, hub)
        server.call("up__echo", headers={"X-Forwarded-For": "203.0.113.7"})
        session = server.legacy()
        session.call("up__echo")
        session.common = {"X-Forwarded-For": "2001:db8::1"}
        session.call("up__echo")
        websocket = WebSocket(server, headers={"X-Forwarded-For": "203.0.113.8"})
        websocket.ask(ws_call("w"))
        client.call("up__echo")
        found = [record.get("peer") for record in self.records(client, 5)]
        self.assertEqual(found, ["203.0.113.7", "127.0.0.1", "2001:db8::1", "203.0.113.8", None])

    def test_from_one_that_is_not_trusted(self):
        hub = self.hub("--stdio", "--http", 0, manifest=self.manifest())
        Server(self, hub).call("up__echo", headers={"X-Forwarded-For": "203.0.113.7"})
        self.assertEqual(self.records(ModernClient(hub), 1)[0]["peer"], "127.0.0.1")

    def test_who(self):
        tokens = self.home / "tokens.json"
        token = self.cli("token", "new", "ann", "--tokens", tokens, modules=False).stdout.strip()
        hub = self.hub("--http", 0, "--stdio", "--tokens", tokens, manifest=self.manifest())
        client = ModernClient(hub)
        server = Server(self, hub)
        server.modern("tools/call", {"name": "alpha__one", "arguments": {}}, headers={"Authorization": f"Bearer {token}"})
        record = self.records(client, 1)[0]
        self.assertEqual((record["who"], record["outcome"]), ("token:ann", "ok"))
        self.assertNotIn(token[-20:], self.file.read_text())

    def test_how_it_ended(self):
        client = self.modern(manifest=self.manifest())
        client.call("up__nothing")
        client.call("nobody")
        held = client.send_call("up__hold")
        client.cancel(held)
        self.assertEqual([r["outcome"] for r in self.records(client, 3)][1:], ["refused", "cancelled"])

    def test_refused(self):  # S5.4, S5.17: over a rate, and by a full queue
        manifest = self.manifest()
        manifest["toolsets"] = {"alpha": fixture("one", "hold", max_calls=1, queue=0)}
        manifest["limits"] = {"calls_per_second": 1, "calls_burst": 2}
        client = self.legacy(manifest=manifest)
        held = client.send_call("alpha__hold")
        self.assertIn("max_calls", client.call("alpha__one").tool_error["message"])
        answer = client.call("alpha__one")
        while "error" not in answer.data:  # a slow machine earns some more
            answer = client.call("alpha__one")
        self.assertEqual(answer.error["data"]["limit"], "limits.calls_per_second")
        client.cancel(held)
        client.hub.finish()
        records = [json.loads(line) for line in self.file.read_text().splitlines()]
        self.assertEqual({(r["toolset"], r["name"], r["outcome"]) for r in records},
                         {("alpha", "one", "refused"), ("alpha", "hold", "cancelled")})
        self.assertGreaterEqual(len(records), 3)

    def test_in_the_log(self):
        client = self.modern("--log-format", "json", manifest={"toolsets": {"alpha": fixture("one")}, "log": {"audit": "log", "audit_arguments": True}})
        client.call("alpha__one", {"a": "b"})
        client.hub.wait_log('"event":"audit"')
        line = json.loads(next(line for line in client.hub.log.splitlines() if '"event":"audit"' in line))
        self.assertEqual((line["toolset"], line["name"], line["outcome"], json.loads(line["arguments"])), ("alpha", "one", "ok", {"a": "b"}))
        self.assertIsInstance(line["durationMs"], float)
        self.assertIsInstance(line["request"], int)

    def test_a_thousand(self):
        """Records are as many as answers, in order, and the end of the hub loses none."""
        client = self.modern(manifest=self.manifest(audit_arguments=True))
        ids = [client.send_call("alpha__one", {"n": n}) for n in range(1000)]
        for one in ids:
            client.hub.response(one)
        client.hub.finish()
        records = [json.loads(line) for line in self.file.read_text().splitlines()]
        self.assertEqual([r["arguments"]["n"] for r in records], list(range(1000)))

    def test_renamed(self):
        client = self.modern(manifest=self.manifest())
        client.call("alpha__one")
        self.records(client, 1)
        self.file.rename(self.home / "old")
        client.call("alpha__one")
        self.records(client, 1, written=2)
        self.records(client, 1, self.home / "old")

    def test_a_full_disk_drops(self):  # R09
        os.symlink("/dev/full", self.file)
        client = self.modern(manifest=self.manifest())
        for _ in range(20):
            self.assertIn("content", client.call("alpha__one").result)
        client.hub.wait_log("audit.failed")
        self.assertEqual(client.hub.log.count("audit.failed"), 1)
        self.file.unlink()
        client.call("alpha__one")
        client.hub.wait_log("audit.recovered")
        self.wait_written(client, 1)
        last = [json.loads(line) for line in self.file.read_text().splitlines()]
        self.assertEqual(last[0]["outcome"], "records_dropped")
        self.assertEqual(last[0]["count"] + len(last) - 1, 21)

    def test_a_full_disk_refuses(self):  # R09: by name, and without a restart
        os.symlink("/dev/full", self.file)
        client = self.modern(manifest=self.manifest(audit_strict=True))
        client.call("alpha__one")
        client.hub.wait_log("audit.failed")
        error = client.call("alpha__one").tool_error
        self.assertEqual((error["code"], error["retryable"]), ("TOOL_UNAVAILABLE", True))
        self.assertSays(error["message"], "audit_strict")
        self.file.unlink()
        client.hub.wait_log("audit.recovered")
        self.assertIn("content", client.call("alpha__one").result)
        self.assertEqual([r["outcome"] for r in self.records(client, 2)], ["ok", "ok"])

    def test_a_path_that_cannot_be(self):
        manifest = self.manifest(audit="missing/audit.jsonl")
        code, text = self.refused(manifest=manifest)
        self.assertEqual(code, 3)
        self.assertSays(text, "log.audit", "missing/audit.jsonl", "No such file")

    def test_a_reload_to_a_path_that_cannot_be(self):
        manifest = self.manifest(audit="missing/audit.jsonl")
        path = self.home / "patchbay.json"
        client = self.modern(manifest=self.manifest())
        client.barrier()  # it watches its manifest
        (self.home / "new").write_text(json.dumps(manifest))
        (self.home / "new").rename(path)
        client.hub.wait_log("config.refused")
        self.assertSays(client.hub.log, "missing/audit.jsonl")
        client.call("alpha__one")
        self.records(client, 1)

    def test_reloaded(self):
        client = self.modern(manifest=self.manifest(audit="off"))
        client.call("alpha__one")
        (self.home / "new").write_text(json.dumps(self.manifest(audit="second.jsonl")))
        (self.home / "new").rename(self.home / "patchbay.json")
        client.hub.wait_log("config.reloaded")
        client.call("alpha__one")
        found = self.records(client, 2, self.home / "second.jsonl")
        self.assertEqual({one["name"] for one in found}, {"config.reloaded", "one"})
        self.assertFalse(self.file.exists())



class Chain(HubTest):
    """Lines are tied to each other, through restarts and rotation; `patchbay audit verify` says what was done to them."""

    def setUp(self):
        super().setUp()
        self.file = self.home / "audit.jsonl"

    def client(self, **more):
        return self.modern(manifest={"toolsets": {"a": fixture("one")}, "log": {"audit": "audit.jsonl"}, "hub": {"remember": "none"}, **more})

    def call(self, count, client=None):
        client = client or self.client()
        for _ in range(count):
            client.call("a__one")
        return client

    def verify(self, *files):
        done = self.cli("audit", "verify", *(files or [self.file]), modules=False)
        return done.returncode, done.stdout + done.stderr

    def test_through_restarts_and_rotation(self):
        self.call(3).hub.finish()
        client = self.call(2)
        older = self.home / "audit.jsonl.1"
        deadline = time.monotonic() + TIMEOUT
        while self.file.read_text().count("\n") < 5:
            self.assertLess(time.monotonic(), deadline)
        self.file.rename(older)
        self.call(4, client).hub.finish()
        self.call(1).hub.finish()
        code, said = self.verify(older, self.file)
        self.assertEqual(code, 0, said)
        self.assertSays(said, "10 lines of 3 processes, all as they were written")
        code, said = self.verify()  # its beginning is in the older one
        self.assertEqual(code, 0, said)
        self.assertSays(said, "audit.jsonl:1: note", "older file, which was not given")
        code, said = self.verify(self.file, older)
        self.assertEqual(code, 1, said)

    def test_what_was_done_to_it(self):
        self.call(5).hub.finish()
        lines = self.file.read_text().splitlines(keepends=True)
        for name, changed, *words in (
                ("changed", [lines[0], lines[1].replace('"ok"', '"no"'), *lines[2:]], "audit.jsonl:3: ", "line 2 of", "was changed"),
                ("removed", [lines[0], *lines[2:]], "audit.jsonl:2: 1 line is missing"),
                ("inserted", [*lines[:2], lines[0], *lines[2:]], "audit.jsonl:3: this line was inserted"),
                ("swapped", [lines[0], lines[2], lines[1], *lines[3:]], "is missing", "moved"),
                ("cut", [*lines[:4], lines[4][:30]], "audit.jsonl:5: this is a part of a line"),
        ):
            with self.subTest(name=name):
                self.file.write_text("".join(changed))
                code, said = self.verify()
                self.assertEqual(code, 1, said)
                self.assertSays(said, *words)

    def test_while_it_runs(self):
        """What is taken off the end shows with the next line."""
        client = self.call(5)
        deadline = time.monotonic() + TIMEOUT
        while self.file.read_text().count("\n") < 5:
            self.assertLess(time.monotonic(), deadline)
        with self.file.open("r+") as file:
            file.truncate(len("".join(self.file.read_text().splitlines(keepends=True)[:3])))
        self.call(1, client).hub.finish()
        code, said = self.verify()
        self.assertEqual(code, 1)
        self.assertSays(said, "audit.jsonl:4: 2 lines are missing before this one (numbers 4 to 5")

    def test_a_hub_that_died_in_a_line(self):
        self.call(2).hub.finish()
        with self.file.open("r+") as file:
            file.truncate(self.file.stat().st_size - 20)
        self.call(1).hub.finish()
        code, said = self.verify()
        self.assertEqual(code, 1)
        self.assertSays(said, "audit.jsonl:2: this is a part of a line", "1 problem in")
        self.assertEqual(json.loads(self.file.read_text().splitlines()[2])["seq"], 1)

    def test_two_hubs(self):
        """Several processes may append to one file."""
        first, second = self.client(), self.client()
        for _ in range(5):
            self.call(1, first)
            self.call(1, second)
        first.hub.finish()
        second.hub.finish()
        code, said = self.verify()
        self.assertEqual(code, 0, said)
        self.assertSays(said, "10 lines of 2 processes")

    def test_usage(self):
        for words in ((), ("verify",), ("check", self.file)):
            done = self.cli("audit", *words, modules=False)
            self.assertEqual(done.returncode, 2)
            self.assertSays(done.stderr, "audit verify FILE")
        done = self.cli("audit", "verify", self.home / "none", modules=False)
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "none: No such file")


class Looks(HubTest):
    """Who looks at others' matters by the API, changes something, or is not let in, is in the audit, too."""

    def test_the_api(self):
        file = self.home / "audit.jsonl"
        tokens = self.home / "tokens.json"
        reader = self.cli("token", "new", "reader", "--scopes", "admin:read", "--tokens", tokens, modules=False).stdout.strip()
        plain = self.cli("token", "new", "plain", "--tokens", tokens, modules=False).stdout.strip()
        server = Server(self, self.daemon("--tokens", tokens, manifest={
            "listen": [{"http": "127.0.0.1:0", "api": True}], "toolsets": {"a": fixture("one")}, "log": {"audit": str(file)}}))
        self.assertEqual(server.get("/api/v1/modules", [("Authorization", f"Bearer {reader}")]).status, 200)
        self.assertEqual(server.get("/api/v1/modules", [("Authorization", f"Bearer {plain}")]).status, 403)
        self.assertEqual(server.get("/api/v1/modules").status, 401)
        self.assertEqual(server.get("/api/v1/me", [("Authorization", f"Bearer {plain}")]).status, 200)  # its own matter
        self.assertEqual(server.get("/api/v1/modules", [("Authorization", f"Bearer {reader}")]).status, 200)  # the same again is one
        self.assertEqual(server.get("/api/v1/me", [("Authorization", f"Bearer {reader}")]).status, 200)
        deadline = time.monotonic() + TIMEOUT
        while not file.exists() or file.read_text().count("\n") < 3:
            self.assertLess(time.monotonic(), deadline)
        found = [json.loads(line) for line in file.read_text().splitlines()]
        self.assertEqual([(each["who"], each["method"], each["name"], each["outcome"]) for each in found],
                         [("token:reader", "api", "GET /api/v1/modules", "ok"), ("token:plain", "api", "GET /api/v1/modules", "refused"),
                          ("token:reader", "api", "GET /api/v1/me", "ok")])


if __name__ == "__main__":
    main()
