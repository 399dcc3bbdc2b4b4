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
        self.records(client, 1, self.home / "second.jsonl")
        self.assertFalse(self.file.exists())


if __name__ == "__main__":
    main()
