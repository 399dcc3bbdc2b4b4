# SPDX-License-Identifier: Apache-2.0
"""What the hub sends to an OpenTelemetry collector: spans of calls, metrics, the log; and what a collector that is not well can do.

spec: OpenTelemetry semantic conventions for MCP; W3C Trace Context; OTLP/HTTP
"""

import json
import re
import sys
import time
from pathlib import Path

from http_client import HttpTest, Server
from listen import Lines
from mcp import SUPPORT, TIMEOUT, LegacyClient, ModernClient, fixture, hub_binary, hub_command, main
from otlp_collector import Collector, attributes, variables

TRACE, PARENT = "0af7651916cd43dd8448eb211c80319c", "00f067aa0ba902b7"
CONTEXT = f"00-{TRACE}-{PARENT}-01"
UNRULY = {"command": sys.executable, "args": ["-IS", str(SUPPORT / "unruly_server.py")]}
SERVER, CLIENT = 2, 3


def is_call(span):
    return span["name"].startswith("tools/call")


class Spans(HttpTest):
    def setUp(self):
        super().setUp()
        self.collector = Collector(self)

    def client(self, kind=ModernClient, toolsets=None, **env):
        self.up = self.recorder("up")
        hub = self.hub("--stdio", manifest={"toolsets": toolsets or {"up": self.up.toolset()}}, env=variables(self.collector, **env))
        return kind(hub)

    def pair(self, keep=is_call):
        """The two spans of one call: the SERVER's, the CLIENT's."""
        return sorted(self.collector.wait_spans(2, TIMEOUT, keep), key=lambda span: span["kind"])

    def test_a_call(self):
        """A SERVER span under the client's, a CLIENT span under that, and the server gets the latter as its parent."""
        client = self.client()
        answer = client.call("up__echo", meta={"traceparent": CONTEXT, "tracestate": "a=b", "baggage": "user=canary"})
        server_span, client_span = self.pair()
        self.assertEqual((server_span["kind"], client_span["kind"]), (SERVER, CLIENT))
        self.assertEqual((server_span["traceId"], server_span["parentSpanId"]), (TRACE, PARENT))
        self.assertEqual((client_span["traceId"], client_span["parentSpanId"]), (TRACE, server_span["spanId"]))
        self.assertEqual((server_span["name"], client_span["name"]), ("tools/call up__echo", "tools/call echo"))
        self.assertLessEqual(int(server_span["startTimeUnixNano"]), int(client_span["startTimeUnixNano"]))
        self.assertLessEqual(int(client_span["endTimeUnixNano"]), int(server_span["endTimeUnixNano"]))
        self.assertLess(abs(int(server_span["endTimeUnixNano"]) / 1e9 - time.time()), TIMEOUT)
        self.assertEqual((server_span["traceState"], server_span["flags"] & 0x301), ("a=b", 0x301))
        said = attributes(server_span)
        self.assertEqual(
            {key: said[key] for key in ("mcp.method.name", "gen_ai.operation.name", "network.transport", "mcp.protocol.version", "patchbay.toolset")},
            {"mcp.method.name": "tools/call", "gen_ai.operation.name": "execute_tool", "network.transport": "pipe",
             "mcp.protocol.version": "2026-07-28", "patchbay.toolset": "up"})
        self.assertEqual(said["jsonrpc.request.id"], str(answer.id))
        self.assertNotIn("error.type", said)
        self.assertEqual(server_span.get("status", {}), {})
        self.assertEqual(attributes(client_span)["network.transport"], "pipe")
        meta = json.loads(self.up.wait_request("tools/call"))["params"]["_meta"]
        self.assertEqual(meta["traceparent"], f"00-{TRACE}-{client_span['spanId']}-01")
        self.assertEqual((meta["tracestate"], meta["baggage"]), ("a=b", "user=canary"))
        resource = self.collector.spans()[0][1]
        self.assertEqual((resource["service.name"], bool(resource["service.version"])), ("patchbay", True))
        self.assertNotIn(b"canary", b"".join(self.collector.bodies("traces")))


    def test_errors(self):
        """error.type is the code of a JSON-RPC error, tool_error for isError; the message is the description of the status."""
        client = self.client(OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true")
        for name, type_ in (("fail", "tool_error"), ("error", None)):
            before = len(self.collector.spans())
            answer = client.call(f"up__{name}")
            spans = self.collector.wait_spans(before + 2, TIMEOUT)[before:]
            for span in spans:
                said = attributes(span)
                self.assertEqual(said["error.type"], type_ or str(answer.code))
                self.assertEqual(span["status"]["code"], 2)
                if not type_:
                    self.assertEqual((said["rpc.response.status_code"], span["status"]["message"]), (str(answer.code), answer.error["message"]))

    def test_a_call_that_is_cancelled(self):
        client = self.client()
        sent = client.send_call("up__hold")
        self.up.wait_request("tools/call")
        client.cancel(sent)
        for span in self.pair():
            self.assertEqual(attributes(span)["error.type"], "cancelled")

    def test_what_is_no_call(self):
        """Lists and handshakes are spans, too; a name that nobody has is in no span's name."""
        client = self.client(kind=LegacyClient)
        client.request("tools/list")
        self.assertEqual(client.call("up__no-such-tool").code, -32602)
        client.request("no/such/method")
        spans = self.collector.wait_spans(4, TIMEOUT)
        self.assertEqual([span["name"] for span in spans], ["initialize", "tools/list", "tools/call", "_OTHER"])
        self.assertEqual([attributes(span).get("error.type") for span in spans], [None, None, "-32602", "-32601"])
        self.assertEqual({attributes(span)["mcp.session.id"] for span in spans}, {"1"})
        self.assertEqual(len({span["traceId"] for span in spans}), 4)

    def test_the_hub_s_own_tools(self):
        client = self.client()
        client.call("list_toolsets")
        span, = self.collector.wait_spans(1, TIMEOUT, is_call)
        self.assertEqual((span["name"], span["kind"]), ("tools/call list_toolsets", SERVER))

    def test_what_is_not_told(self):
        """Arguments, results, addresses and queries of URIs are in spans only if somebody asks for that."""
        canaries = (b"canary-argument", b"canary-result", b"client.address", b"canary-query")
        for asked in ("false", "true"):
            with self.subTest(asked=asked):
                self.collector.requests.clear()
                self.up = self.recorder()
                hub = self.hub("--stdio", toolsets={"up": self.up.toolset("--content")}, env=variables(
                    self.collector, OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT=asked))
                client = ModernClient(hub)
                client.call("up__raw", {"result": '{"content":[{"type":"text","text":"canary-result"}]}', "a": "canary-argument"})
                client.request("resources/read", {"uri": "test://none?canary-query"})
                self.collector.wait_spans(3, TIMEOUT)
                text = b"".join(self.collector.bodies("traces"))
                for canary in canaries[:2]:
                    self.assertEqual(canary in text, asked == "true", canary)
                self.assertEqual(canaries[3] in text, asked == "true")
                hub.finish()

    def test_secrets_are_masked(self):
        toolsets = {"up": {**UNRULY, "env": {"KEY": "${SECRET}"}}}
        hub = self.hub("--stdio", toolsets=toolsets, env=variables(
            self.collector, SECRET="canary-of-the-manifest", OTEL_INSTRUMENTATION_GENAI_CAPTURE_MESSAGE_CONTENT="true"))
        ModernClient(hub).call("up__echo", {"text": "canary-of-the-manifest"})
        self.collector.wait_spans(2, TIMEOUT, is_call)
        self.assertNotIn(b"canary", b"".join(self.collector.bodies("traces")))

    def test_contexts_that_are_none(self):
        """What is malformed begins a trace of its own, fails nothing, and is replaced on the way to the server; what is about the
        trace it was of is left out."""
        client = self.client()
        for number, context in enumerate((
                CONTEXT.upper(), f"00-{'0' * 32}-{PARENT}-01", f"00-{TRACE}-{'0' * 16}-01", f"ff-{TRACE}-{PARENT}-01", f"{CONTEXT}-more",
                f"00-{TRACE}-{PARENT}", "", "\u0000", "00-" + "f" * 10000, 7, None, {"a": 1}), 1):
            with self.subTest(context=str(context)[:80]):
                self.assertIn("content", client.call("up__echo", meta={"traceparent": context, "tracestate": "a=b"}).result)
                spans = self.collector.wait_spans(2 * number, TIMEOUT, is_call)[2 * number - 2:]
                self.assertEqual(len({span["traceId"] for span in spans}), 1)
                self.assertNotEqual(spans[0]["traceId"], TRACE)
                server_span = next(span for span in spans if span["kind"] == SERVER)
                self.assertNotIn("parentSpanId", server_span)
                meta = json.loads(self.up.sync().lines("tools/call")[-1])["params"]["_meta"]
                self.assertEqual(meta["traceparent"].split("-")[1], spans[0]["traceId"])
                self.assertNotIn("tracestate", meta)

    def test_a_later_version(self):
        client = self.client()
        client.call("up__echo", meta={"traceparent": f"cc-{TRACE}-{PARENT}-01-what-comes-later"})
        self.assertEqual({span["traceId"] for span in self.pair()}, {TRACE})

    def test_twice(self):
        """Two parents are none: one reader would take the first, another one the last."""
        client = self.client(kind=LegacyClient)
        other = CONTEXT.replace("0af", "1af")
        client.request_raw("tools/call", f'"name":"up__echo","arguments":{{}},"_meta":{{"traceparent":"{CONTEXT}","traceparent":"{other}"}}')
        self.assertFalse({span["traceId"] for span in self.pair()} & {TRACE, TRACE.replace("0af", "1af")})
        self.assertEqual(self.up.sync().lines("tools/call")[-1].count("traceparent"), 1)

    def test_names_of_tools(self):
        """Control characters, quotes and what is no UTF-8 are valid JSON in a span, and cut when they are long."""
        client = self.client(kind=LegacyClient)
        for number, name in enumerate(('up__\\u0001\\u001b[31m\\"\\\\', "up__" + "\\u20ac" * 1000, "up__\\ud83d"), 1):
            client.request_raw("tools/call", f'"name":"{name}","arguments":{{}}')
            span = self.collector.wait_spans(number, TIMEOUT, lambda span: span["name"] == "tools/call")[-1]
            self.assertLessEqual(len(attributes(span)["gen_ai.tool.name"].encode()), 512)

    def test_sampling(self):
        """Who is told that its trace is not recorded gets no span, and its bytes go on as they are."""
        client = self.client(OTEL_TRACES_SAMPLER="parentbased_always_off")
        off = CONTEXT[:-1] + "0"
        for meta in ({"traceparent": off, "tracestate": "a=b"}, {}):
            client.call("up__echo", meta=meta)
            line = json.loads(self.up.sync().lines("tools/call")[-1])
            self.assertEqual({key: line["params"]["_meta"].get(key) for key in ("traceparent", "tracestate")},
                             {key: meta.get(key) for key in ("traceparent", "tracestate")})
        client.call("up__echo", meta={"traceparent": CONTEXT})
        self.assertEqual({span["traceId"] for span in self.pair()}, {TRACE})
        client.hub.finish()
        self.assertEqual(len(self.collector.spans()), 2)

    def test_a_ratio(self):
        """The same traces are recorded by all hubs of the same ratio: their number says which."""
        client = self.client(OTEL_TRACES_SAMPLER="traceidratio", OTEL_TRACES_SAMPLER_ARG="0.25")
        wanted = set()
        for high in range(16):
            trace = f"{TRACE[:16]}{high:x}{TRACE[17:]}"
            wanted |= {trace} if high < 4 else set()
            client.call("up__echo", meta={"traceparent": f"00-{trace}-{PARENT}-00"})
        client.hub.finish()
        self.assertEqual({span["traceId"] for span, _ in self.collector.spans()}, wanted)

    def test_what_waits_is_sent_at_the_end(self):
        client = self.client(OTEL_BSP_SCHEDULE_DELAY="3600000")
        for _ in range(5):
            client.call("up__echo")
        client.hub.finish()
        self.assertEqual(len([span for span, _ in self.collector.spans() if is_call(span)]), 10)

    def test_off(self):
        """Nothing is sent where nothing is named, or when that is switched off; bytes go on as they are."""
        for env in ({}, variables(self.collector, OTEL_SDK_DISABLED="true"), variables(self.collector, OTEL_TRACES_EXPORTER="none")):
            up = self.recorder()
            hub = self.hub("--stdio", toolsets={"up": up.toolset()}, env=env)
            ModernClient(hub).call("up__echo", meta={"traceparent": CONTEXT})
            self.assertEqual(json.loads(up.wait_request("tools/call"))["params"]["_meta"]["traceparent"], CONTEXT)
            hub.finish()
        self.assertEqual(self.collector.requests, [])

    def test_http(self):
        """The context of the HTTP request is a link; the network is tcp."""
        self.up = self.recorder("up")
        server = Server(self, self.daemon(toolsets={"up": self.up.toolset()}, env=variables(self.collector)))
        other = CONTEXT.replace("0af", "1af")
        server.call("up__echo", headers={"traceparent": other}, meta={"traceparent": CONTEXT})
        server_span, _ = self.pair()
        self.assertEqual((server_span["traceId"], server_span["parentSpanId"]), (TRACE, PARENT))
        self.assertEqual([(link["traceId"], link["spanId"]) for link in server_span["links"]], [(other.split("-")[1], PARENT)])
        said = attributes(server_span)
        self.assertEqual((said["network.transport"], said["network.protocol.name"]), ("tcp", "http"))
        self.assertNotIn("mcp.session.id", said)
        session = server.legacy()
        session.call("up__echo")
        last = self.collector.wait_spans(2, TIMEOUT, lambda span: span["kind"] == SERVER and "mcp.session.id" in attributes(span))
        self.assertEqual(attributes(last[-1])["mcp.protocol.version"], "2025-11-25")

    def test_two_hubs(self):
        """One trace, each span under the one that caused it, in both eras, over pipes and over HTTP."""
        for over in ("stdio", "http"):
            for kind in (ModernClient, LegacyClient):
                with self.subTest(over=over, kind=kind.__name__):
                    self.collector.requests.clear()
                    env = variables(self.collector, OTEL_SERVICE_NAME="inner")
                    inner = {"toolsets": {"in": UNRULY}, "hub": {"meta_tools": False, "remember": "none"}}
                    if over == "http":
                        entry = {"url": f"{self.daemon(manifest=inner, env=env).url}"}
                    else:
                        path = self.home / "inner.json"
                        path.write_text(json.dumps(inner), encoding="utf-8")
                        entry = {"command": hub_binary(), "args": hub_command(files=[path])[1:], "env": env}
                    outer = self.hub("--stdio", manifest={"toolsets": {"out": entry}, "hub": {"remember": "none"}},
                                     env=variables(self.collector, OTEL_SERVICE_NAME="outer"))
                    kind(outer).call("out__in__echo", meta={"traceparent": CONTEXT})
                    self.collector.wait_spans(4, TIMEOUT, is_call)
                    chain = {(resource["service.name"], span["kind"]): span for span, resource in self.collector.spans() if is_call(span)}
                    parent = PARENT
                    for place in (("outer", SERVER), ("outer", CLIENT), ("inner", SERVER), ("inner", CLIENT)):
                        self.assertEqual((chain[place]["traceId"], chain[place]["parentSpanId"]), (TRACE, parent), place)
                        parent = chain[place]["spanId"]
                    outer.finish()


class Collectors(HttpTest):
    """What the other end may do: calls do not notice, what is kept is bounded, and what is lost is counted."""

    def serve(self, collector, **env):
        hub = self.daemon(manifest={"listen": [{"http": "127.0.0.1:0", "metrics": True}], "toolsets": {"a": fixture("one")}},
                          env=variables(collector, **env))
        return Server(self, hub)

    def numbers(self, server):
        found = {}
        for line in server.get("/metrics").body.decode().splitlines():
            if line.startswith("patchbay_telemetry_") and 'signal="traces"' in line:
                found[line.partition("{")[0].removeprefix("patchbay_telemetry_")] = float(line.rpartition(" ")[2])
        return found

    def wait_numbers(self, server, good, what):
        deadline = time.monotonic() + TIMEOUT
        while not good(found := self.numbers(server)):
            self.assertLess(time.monotonic(), deadline, f"{what}: {found}")
        return found

    def test_busy(self):
        """429 and 503 say when: the same batch is sent again, then all is well."""
        for status in (429, 502, 503, 504):
            with self.subTest(status=status):
                collector = Collector(self, lambda _, number, status=status: (status, {"Retry-After": "1"}, b"") if number == 0 else (200, {}, b"{}"))
                server = self.serve(collector)
                server.call("a__one")
                collector.wait(lambda: len(collector.bodies("traces")) >= 2, "a second attempt", TIMEOUT)
                first, second = collector.bodies("traces")[:2]
                self.assertEqual(first, second)
                found = self.wait_numbers(server, lambda found: found["failing"] == 0 and found["waiting"] == 0, "not well again")
                self.assertEqual(found["dropped_total"], 0)
                server.hub.wait_log("telemetry.recovered")

    def test_refusals(self):
        """What cannot be helped is not tried again; redirects are not followed."""
        for status, headers in ((400, {}), (401, {}), (404, {}), (307, {"Location": "http://127.0.0.1:1/"}), (500, {})):
            with self.subTest(status=status):
                collector = Collector(self, lambda _, number, reply=(status, headers, b"{}"): reply)
                server = self.serve(collector)
                server.call("a__one")
                found = self.wait_numbers(server, lambda found: found["dropped_total"] > 0, "not dropped")
                self.assertEqual((found["sent_total"], found["waiting"]), (0, 0))
                self.assertEqual(len(collector.bodies("traces")), 1)
                server.hub.wait_log("telemetry.failed")

    def test_some_are_refused(self):
        collector = Collector(self, lambda _, number: (200, {}, b'{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}'))
        server = self.serve(collector)
        server.call("a__one")
        self.assertEqual(self.wait_numbers(server, lambda found: found["dropped_total"] == 1, "not counted")["sent_total"], 0)

    def test_one_that_hangs(self):
        """Calls go on, so many spans wait, the others are counted; the hub ends in time."""
        collector = Collector(self, lambda handler, number: collector.ended.wait())
        server = self.serve(collector, OTEL_BSP_MAX_QUEUE_SIZE="64", OTEL_BSP_MAX_EXPORT_BATCH_SIZE="8", OTEL_EXPORTER_OTLP_TIMEOUT="600000")
        for _ in range(200):
            server.call("a__one")
        found = self.numbers(server)
        self.assertEqual((found["waiting"], found["sent_total"]), (64, 0))
        self.assertEqual(found["waiting"] + found["dropped_total"], 200)
        begin = time.monotonic()
        server.hub.finish()
        self.assertLess(time.monotonic() - begin, TIMEOUT)

    def test_more_calls_than_a_collector_takes(self):
        """Each call recorded, and nobody takes them: the default queue is full to the span, the others are counted, and as many
        calls again keep nothing more."""
        collector = Collector(self, lambda handler, number: collector.ended.wait())
        path = self.home / "hub.sock"
        hub = self.daemon(manifest={"listen": [{"http": "127.0.0.1:0", "metrics": True}, {"unix": str(path)}], "toolsets": {"a": fixture("one")}},
                          env=variables(collector, OTEL_EXPORTER_OTLP_TIMEOUT="600000", OTEL_TRACES_SAMPLER="always_on"))
        hub.listening(2)
        client, server = Lines(path), Server(self, hub)
        self.addCleanup(client.close)
        queue, wave, memory = 2048, 3000, []
        for turn in (1, 2):
            for _ in range(wave // 50):
                for _ in range(50):
                    client.send("tools/call", name="a__one", arguments={})
                for _ in range(50):
                    self.assertIn("result", client.receive())
            found = self.numbers(server)
            self.assertEqual((found["waiting"], found["sent_total"], found["dropped_total"]), (queue, 0, turn * wave - queue))
            memory.append(int(re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{hub.process.pid}/status").read_text())[1]))
        self.assertLess(memory[1] - memory[0], 16 * 1024, "KiB")

    def test_an_endless_answer(self):
        def flood(handler, _number):
            handler.wfile.write(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n")
            while not collector.ended.is_set():
                handler.wfile.write(b" " * 65536)

        collector = Collector(self, flood)
        server = self.serve(collector)
        server.call("a__one")
        server.hub.wait_log("telemetry.failed")
        self.assertIn("result", server.call("a__one").answer.data)

    def test_nobody_there(self):
        collector = Collector(self)
        collector.close()
        server = self.serve(collector)
        self.assertIn("result", server.call("a__one").answer.data)
        server.hub.wait_log("telemetry.failed")

    def test_headers(self):
        """Those that are asked for, decoded; their values are in no log."""
        collector = Collector(self, lambda _, number: (400, {}, b""))
        server = self.serve(collector, OTEL_EXPORTER_OTLP_HEADERS="Authorization=Bearer%20canary-token-1,x-tenant=t1", OTEL_TRACES_SAMPLER="what")
        server.call("a__one")
        server.hub.wait_log("telemetry.failed")
        _, headers, _ = collector.requests[0]
        self.assertEqual((headers["Authorization"], headers["x-tenant"]), ("Bearer canary-token-1", "t1"))
        self.assertNotIn("canary", server.hub.log)
        server.hub.wait_log("telemetry.ignored variable=OTEL_TRACES_SAMPLER")


class Others(HttpTest):
    """Metrics, and the log."""

    def points(self, collector, name):
        """Those that came last."""
        found = None
        for body in collector.bodies("metrics"):
            for scope in json.loads(body)["resourceMetrics"][0]["scopeMetrics"]:
                for metric in scope["metrics"]:
                    if metric["name"] == name:
                        found = metric
        return found

    def test_metrics(self):
        """The same that /metrics has, by the names of the conventions; counted although no listener asks."""
        collector = Collector(self)
        env = {"OTEL_EXPORTER_OTLP_METRICS_ENDPOINT": f"{collector.url}/v1/metrics", "OTEL_METRIC_EXPORT_INTERVAL": "100"}
        client = ModernClient(self.hub("--stdio", toolsets={"a": fixture("one")}, env=env))
        for _ in range(3):
            client.call("a__one")
        collector.wait(lambda: (self.points(collector, "mcp.server.operation.duration") or {}).get("histogram", {}).get("dataPoints", [{}])[0].get("count") == "3", "three calls", TIMEOUT)
        metric = self.points(collector, "mcp.server.operation.duration")
        point, = metric["histogram"]["dataPoints"]
        said = attributes(point)
        self.assertEqual((metric["unit"], metric["histogram"]["aggregationTemporality"]), ("s", 2))
        self.assertEqual((said["mcp.method.name"], said["gen_ai.tool.name"], said["patchbay.toolset"]), ("tools/call", "one", "a"))
        self.assertEqual(sum(map(int, point["bucketCounts"])), 3)
        self.assertEqual(len(point["bucketCounts"]), len(point["explicitBounds"]) + 1)
        self.assertEqual(self.points(collector, "patchbay.calls")["sum"]["dataPoints"][0]["asInt"], "3")
        self.assertEqual(self.points(collector, "process.resident_memory")["unit"], "By")

    def test_log(self):
        """Events are log records; those about a call that is recorded name its span."""
        collector = Collector(self)
        env = variables(collector, OTEL_EXPORTER_OTLP_LOGS_ENDPOINT=f"{collector.url}/v1/logs", OTEL_BLRP_SCHEDULE_DELAY="10")
        hub = self.hub("--stdio", "--log-level", "off", manifest={
            "toolsets": {"a": fixture("one", middleware={"log": True})}}, env=env)
        ModernClient(hub).call("a__one", meta={"traceparent": CONTEXT})

        def find():
            for body in collector.bodies("logs"):
                for record in json.loads(body)["resourceLogs"][0]["scopeLogs"][0]["logRecords"]:
                    if record["eventName"] == "call.ended":
                        return record
            return None
        record = collector.wait(find, "call.ended", TIMEOUT)
        span, = collector.wait_spans(1, TIMEOUT, is_call)
        self.assertEqual((record["traceId"], record["spanId"]), (TRACE, span["spanId"]))
        self.assertEqual((record["severityText"], record["severityNumber"], record["body"]), ("info", 9, {"stringValue": "call.ended"}))
        said = attributes(record)
        self.assertEqual((said["toolset"], said["name"], said["outcome"]), ("a", "one", "ok"))

    def test_ids_in_the_log_and_the_audit(self):
        """As JSON, where no collector takes the log; also of a trace that begins at the hub."""
        collector = Collector(self)
        hub = self.hub("--stdio", manifest={"log": {"format": "json", "audit": "log"}, "toolsets": {"a": fixture("one", middleware={"log": True})}},
                       env=variables(collector))
        ModernClient(hub).call("a__one")
        span, = collector.wait_spans(1, TIMEOUT, is_call)
        for event in ("call.ended", "audit"):
            line = json.loads(hub.wait_log(f'"event":"{event}"'))
            self.assertEqual((line["traceId"], line["spanId"]), (span["traceId"], span["spanId"]))


if __name__ == "__main__":
    main()
