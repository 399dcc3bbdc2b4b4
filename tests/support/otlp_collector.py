# SPDX-License-Identifier: Apache-2.0
"""An OpenTelemetry collector for tests: takes OTLP over HTTP with JSON, and keeps what comes. How it answers is up to the test.

Where PyPI's `opentelemetry-proto` is installed, all that comes is decoded by it, too, and what it does not take fails the test. For the
interpreter PATCHBAY_OTLP_DECODER, by which ../blackbox/run.py runs the tests of telemetry, it has to be there.
"""

import base64
import json
import os
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

try:
    from google.protobuf import json_format
    from opentelemetry.proto.collector.logs.v1.logs_service_pb2 import ExportLogsServiceRequest
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest
    DECODERS = {"/v1/traces": ExportTraceServiceRequest, "/v1/metrics": ExportMetricsServiceRequest, "/v1/logs": ExportLogsServiceRequest}
except ImportError:
    if os.environ.get("PATCHBAY_OTLP_DECODER") == sys.executable:
        raise
    DECODERS = {}

IDS = {"traceId": 16, "spanId": 8, "parentSpanId": 8}


def with_bytes(value):
    """OTLP writes ids in hexadecimal, where protobuf's own JSON has base64; of each the length is checked."""
    if isinstance(value, list):
        return [with_bytes(each) for each in value]
    if not isinstance(value, dict):
        return value
    found = {key: with_bytes(each) for key, each in value.items()}
    for key in IDS.keys() & found.keys():
        raw = bytes.fromhex(found[key])
        if len(raw) != IDS[key] or not any(raw):
            raise ValueError(f"{key} is no id: {found[key]}")
        found[key] = base64.b64encode(raw).decode()
    return found


def decode(path, body):
    """The message of protobuf; raises for anything that is not one, members that nobody knows included."""
    return json_format.Parse(json.dumps(with_bytes(json.loads(body))), DECODERS[path]())


class Collector:
    """`answer(path, number)`: what is done with the request of that number to a path; returns (status, headers, body), or None when it
    has answered, or never will. `url` is for OTEL_EXPORTER_OTLP_ENDPOINT."""

    def __init__(self, test, answer=None):
        self.requests = []  # (path, headers, bytes)
        self.broken = []
        self.changed = threading.Condition()
        self.ended = threading.Event()
        self.answer = answer or (lambda path, number: (200, {}, b"{}"))
        outer = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def do_POST(self):
                body = self.rfile.read(int(self.headers["Content-Length"]))
                try:
                    if self.path in DECODERS:
                        decode(self.path, body)
                except ValueError as error:  # json_format's are
                    outer.broken.append((str(error), body[:2000]))
                with outer.changed:
                    number = sum(path == self.path for path, _, _ in outer.requests)
                    outer.requests.append((self.path, dict(self.headers), body))
                    outer.changed.notify_all()
                reply = outer.answer(self, number)
                if reply is None:
                    return
                status, headers, text = reply
                self.send_response(status)
                for key, value in {"Content-Length": str(len(text)), "Content-Type": "application/json", **headers}.items():
                    self.send_header(key, value)
                self.end_headers()
                self.wfile.write(text)

            def log_message(self, *_):
                pass

            def handle(self):
                try:
                    super().handle()
                except OSError:
                    pass  # the hub has left

        self.server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self.server.server_address[1]}"
        threading.Thread(target=self.server.serve_forever, daemon=True).start()
        test.addCleanup(self.close)

    def close(self):
        self.ended.set()
        self.server.shutdown()
        self.server.server_close()
        if self.broken:
            raise AssertionError(f"a decoder does not take what was sent: {self.broken[0]}")

    def bodies(self, signal):
        with self.changed:
            return [body for path, _, body in self.requests if path == f"/v1/{signal}"]

    def spans(self):
        return [(span, attributes(scope["resource"])) for body in self.bodies("traces") for scope in json.loads(body)["resourceSpans"]
                for inner in scope["scopeSpans"] for span in inner["spans"]]

    def wait(self, find, what, timeout):
        """What `find` returns once it is true."""
        with self.changed:
            if not self.changed.wait_for(find, timeout):
                raise AssertionError(f"{what} did not come; what came: {[(path, body[:400]) for path, _, body in self.requests]}")
        return find()

    def wait_spans(self, count, timeout, keep=lambda span: True):
        def find():
            found = [span for span, _ in self.spans() if keep(span)]
            return found if len(found) >= count else None
        return self.wait(find, f"{count} spans", timeout)


def attributes(holder):
    """{key: value} of a list of KeyValue; each key once."""
    found = {}
    for each in holder["attributes"]:
        if each["key"] in found:
            raise AssertionError(f"{each['key']} is there twice: {holder}")
        (kind, value), = each["value"].items()
        found[each["key"]] = int(value) if kind == "intValue" else value
    return found


def variables(collector, **more):
    """Environment of a hub that sends it all that is recorded, soon; None of the hub's own is left."""
    return {"OTEL_EXPORTER_OTLP_TRACES_ENDPOINT": f"{collector.url}/v1/traces", "OTEL_BSP_SCHEDULE_DELAY": "10", **more}
