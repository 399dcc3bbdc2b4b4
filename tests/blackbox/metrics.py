# SPDX-License-Identifier: Apache-2.0
"""/metrics: who may read it, what it counts, and that Prometheus reads it (S3.22)."""

import json
import os
import re
import shutil
import subprocess
import threading
import time
import unittest
import urllib.parse
import urllib.request
from pathlib import Path

from http_client import HttpTest, Server
from mcp import TIMEOUT, fixture, main
from ports import port_of, reserve

PACKAGING = Path(__file__).resolve().parents[2] / "packaging"
OPENMETRICS = [("Accept", "application/openmetrics-text; version=1.0.0, text/plain;q=0.5")]
SAMPLE = re.compile(r'([a-zA-Z_:][a-zA-Z0-9_:]*)(?:\{((?:[a-zA-Z_]\w*="(?:[^"\\\n]|\\.)*",?)*)\})? (\S+)(?: # \{.*\} \S+ \S+)?\Z')
LABEL = re.compile(r'(\w+)="((?:[^"\\]|\\.)*)"')


def samples(text):
    """{(name, labels…): value}; each may be there once."""
    found = {}
    for line in text.splitlines():
        if line.startswith("#"):
            continue
        match = SAMPLE.match(line)
        if not match:
            raise AssertionError(f"not a sample: {line!r}")
        key = (match[1], *sorted(LABEL.findall(match[2] or "")))
        if key in found:
            raise AssertionError(f"twice: {line!r}")
        found[key] = float(match[3])
    return found


def total(found, name, **labels):
    wanted = set(labels.items())
    return sum(value for key, value in found.items() if key[0] == name and wanted <= set(key[1:]))


class Base(HttpTest):
    TOOLSETS = {"a": fixture("one", "hold")}

    def serve(self, metrics=True, toolsets=None, arguments=(), **more):
        listen = [{"http": "127.0.0.1:0", "metrics": metrics}]
        return Server(self, self.daemon(*arguments, manifest={"listen": listen, "toolsets": toolsets or self.TOOLSETS, **more}))

    def metrics(self, server, headers=()):
        reply = server.get("/metrics", list(headers))
        self.assertEqual(reply.status, 200, reply)
        return samples(reply.body.decode())

    def prometheus(self, server):
        """Debian's, reading the hub's metrics each second. Returns a function that asks it for the values of an expression."""
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        config = self.home / "prometheus.yml"
        config.write_text(json.dumps({
            "global": {"scrape_interval": "1s"},
            "scrape_configs": [{"job_name": "hub", "static_configs": [{"targets": [f"127.0.0.1:{server.port}"]}]}]}))
        process = subprocess.Popen(
            ["prometheus", f"--config.file={config}", f"--storage.tsdb.path={self.home / 'tsdb'}", f"--web.listen-address=127.0.0.1:{port}"],
            stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, env={**os.environ, "NO_PROXY": "*"})
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        for line in process.stderr:
            if "Server is ready" in line:
                break
        threading.Thread(target=lambda: [None for _ in process.stderr], daemon=True).start()

        def query(expression):
            url = f"http://127.0.0.1:{port}/api/v1/query?" + urllib.parse.urlencode({"query": expression})
            opener = urllib.request.build_opener(urllib.request.ProxyHandler({}))
            with opener.open(url, timeout=TIMEOUT) as reply:
                return [float(row["value"][1]) for row in json.load(reply)["data"]["result"]]

        return query


class Face(Base):
    def test_the_listener_chooses(self):
        server = self.serve(metrics=False)
        other = server.get("/nothing-is-here")
        reply = server.get("/metrics")
        self.assertEqual((reply.status, reply.body), (other.status, other.body))
        self.assertEqual(reply.status, 404)
        self.assertIn(b"metrics: true", reply.body)  # what is missing is said at every path

    def test_a_reload_changes_it(self):
        server = self.serve()
        hub = server.hub
        config = next(self.home.glob("*.json"), None) or next(self.home.glob("*.yaml"))
        self.assertEqual(server.get("/metrics").status, 200)
        said = json.loads(config.read_text())
        for is_served, status in ((False, 404), (True, 200)):
            said["listen"][0]["metrics"] = is_served
            self.replace_manifest(hub, said, config)
            self.assertEqual(server.get("/metrics").status, status)

    def test_who_may_read_it(self):
        file = self.home / "tokens.json"
        token = self.cli("token", "new", "prometheus", "--tokens", file, modules=False).stdout.strip()
        server = self.serve(arguments=("--tokens", file))
        self.assertEqual(server.get("/metrics").status, 401)
        self.assertEqual(server.get("/metrics", [("Authorization", "Bearer pbt_wrong")]).status, 401)
        headers = [("Authorization", f"Bearer {token}")]
        self.assertEqual(server.get("/metrics", headers).status, 200)
        self.assertEqual(server.get("/metrics", [*headers, ("Origin", "http://evil.example")]).status, 403)
        self.assertEqual(server.ask("POST", "/metrics", headers).status, 405)

    def test_what_is_counted(self):
        server = self.serve()
        session = server.legacy()
        for _ in range(3):
            self.assertIn("result", session.call("a__one").answer.data)
        trace = "0af7651916cd43dd8448eb211c80319c"
        meta = {"traceparent": f"00-{trace}-00f067aa0ba902b7-01"}
        server.modern("tools/call", {"name": "a__one", "arguments": {}, "_meta": meta})
        session.call("a__no-such-tool")
        found = self.metrics(server)
        self.assertEqual(total(found, "patchbay_calls_total", tool="one", toolset="a", outcome="ok", principal_class="anonymous"), 4)
        self.assertEqual(total(found, "patchbay_calls_total", tool="hold"), 0)
        self.assertEqual(total(found, "mcp_server_operation_duration_seconds_count", gen_ai_tool_name="one"), 4)
        self.assertEqual(total(found, "mcp_server_operation_duration_seconds_bucket", gen_ai_tool_name="one", le="+Inf"), 4)
        self.assertEqual(total(found, "patchbay_sessions", transport="http"), 1)
        self.assertEqual(total(found, "patchbay_toolset_up", toolset="a"), 1)
        self.assertEqual(session.delete().status, 204)
        found = self.metrics(server)
        self.assertEqual(total(found, "patchbay_sessions", transport="http"), 0)
        self.assertEqual(total(found, "mcp_server_session_duration_seconds_count", transport="http", network_transport="tcp"), 1)
        self.assertGreater(total(found, "process_resident_memory_bytes"), 0)
        self.assertGreaterEqual(total(found, "patchbay_connections"), 1)
        self.assertGreaterEqual(total(found, "patchbay_connections_accepted_total"), total(found, "patchbay_connections"))
        self.assertGreater(total(found, "patchbay_sent_bytes_total"), total(found, "patchbay_received_bytes_total") / 100)
        self.assertLess(abs(total(found, "process_start_time_seconds") - time.time()), TIMEOUT)

    def test_formats(self):
        server = self.serve()
        server.modern("tools/call", {"name": "a__one", "arguments": {}})
        plain, open_ = server.get("/metrics"), server.get("/metrics", OPENMETRICS)
        self.assertEqual(plain.header("content-type"), "text/plain; version=0.0.4; charset=utf-8")
        self.assertEqual(open_.header("content-type"), "application/openmetrics-text; version=1.0.0; charset=utf-8")
        self.assertTrue(open_.body.endswith(b"\n# EOF\n"))
        self.assertEqual({key[0] for key in samples(plain.body.decode())}, {key[0] for key in samples(open_.body.decode())})

    def test_hostile_names(self):
        """A name that a server made up is a label's value, whatever is in it; nobody forges a sample by one."""
        evil = 'x"} 1 # {patchbay_forged="1"} \\\u202e'
        up = self.recorder("up")
        server = self.serve(toolsets={"up": up.toolset("--content")})
        session = server.legacy()
        session.request("prompts/list")
        up.command(prompts=json.dumps([{"name": evil}]), kind="prompts", notify=1)
        names = []
        while not any(name.startswith("up__x") for name in names):  # the list comes when it comes
            names = [one["name"] for one in session.request("prompts/list").answer.result["prompts"]]
        session.request("prompts/get", {"name": names[0]}).answer.result
        for headers in ((), OPENMETRICS):
            found = self.metrics(server, headers)
            values = {value for key in found for label, value in key[1:] if label == "gen_ai_prompt_name"}
            self.assertIn(evil, {value.replace('\\"', '"').replace("\\\\", "\\") for value in values})

    def test_bounded(self):
        """Tools that find no room are one: the number of series does not grow with what is called."""
        tools = [f"t{i}" for i in range(60)]
        server = Server(self, self.daemon(manifest={
            "listen": [{"http": "127.0.0.1:0", "metrics": True}], "metrics": {"max_series": 1000}, "toolsets": {"a": fixture(*tools)}}))
        session = server.legacy()
        for tool in tools:
            self.assertIn("result", session.call(f"a__{tool}").answer.data)
        found = self.metrics(server)
        self.assertEqual(total(found, "patchbay_calls_total"), len(tools))
        self.assertGreater(total(found, "patchbay_calls_total", tool="other"), 0)
        self.assertLessEqual(total(found, "patchbay_series"), 1000)
        self.assertEqual(total(found, "patchbay_series_overflows_total"), total(found, "patchbay_calls_total", tool="other"))


@unittest.skipUnless(shutil.which("promtool"), "prometheus is not installed")
class Prometheus(Base):
    def test_promtool_finds_nothing(self):
        server = self.serve(toolsets={"a": fixture("one"), "up": self.recorder().toolset()})
        server.modern("tools/list")
        for _ in range(2):
            server.modern("tools/call", {"name": "a__one", "arguments": {}})
        text = server.get("/metrics").body
        done = subprocess.run(["promtool", "check", "metrics"], input=text, capture_output=True, check=False)
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, b"", b""))

    def test_alerts(self):
        done = subprocess.run(["promtool", "test", "rules", PACKAGING / "prometheus/patchbay-alerts-test.yml"],
                              capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_the_names_in_packaging_exist(self):
        """Alerts and charts ask for nothing that the hub does not have."""
        server = self.serve(toolsets={"a": fixture("one"), "up": self.recorder().toolset()}, log={"audit": str(self.home / "audit")})
        server.modern("tools/call", {"name": "a__one", "arguments": {}})
        families = {line.split()[2] for line in server.get("/metrics").body.decode().splitlines() if line.startswith("# TYPE ")}
        known = families | {name + end for name in families for end in ("_bucket", "_sum", "_count")}
        asked = set()
        for panel in json.loads((PACKAGING / "grafana/patchbay.json").read_text())["panels"]:
            for target in panel.get("targets", []):
                asked |= set(re.findall(r"\b(?:patchbay|mcp|process)_\w+", target["expr"]))
        rules = (PACKAGING / "prometheus/patchbay-alerts.yml").read_text()
        for expression in re.findall(r"^ +expr: (.*)$", rules, re.M):
            asked |= set(re.findall(r"\b(?:patchbay|mcp|process)_\w+", expression))
        self.assertGreater(len(asked), 12)
        self.assertEqual(asked - known, set())

    def test_scraped_under_load(self):
        """Prometheus as Debian has it reads both formats while calls come, and what it has counted in the end is what was
        called."""
        server = self.serve()
        query = self.prometheus(server)
        session = server.legacy()
        calls = 200
        for _ in range(calls):
            session.call("a__one")

        deadline = time.monotonic() + TIMEOUT
        counted = []
        while counted != [calls] and time.monotonic() < deadline:
            counted = query('sum(patchbay_calls_total{tool="one",outcome="ok"})')
        self.assertEqual(counted, [calls])
        self.assertEqual(query("up"), [1])
        self.assertEqual(query('sum(mcp_server_operation_duration_seconds_count{gen_ai_tool_name="one"})'), [calls])
        self.assertEqual(query('scrape_samples_scraped - scrape_samples_post_metric_relabeling'), [0])


if __name__ == "__main__":
    main()
