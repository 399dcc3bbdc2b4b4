#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Spans of the hub through a real OpenTelemetry collector (go.opentelemetry.io/collector), which is not in this tree:

    otel_collector.py --build FOLDER                                 build one through the Go module proxy: FOLDER/out/otelcol
    PATCHBAY_COLLECTOR=FILE PATCHBAY_BIN=… otel_collector.py         run the tests with it; without the variable there are none

The collector's otlpreceiver takes what the hub sends, and its otlphttpexporter passes it on to the collector of the black-box tests:
what is looked at is what the real one has understood. To build takes about 7 minutes on two processors. The last line is
"N passed, N failed".
"""

import json
import os
import subprocess
import sys
import threading
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path[:0] = [str(HERE.parent / "blackbox"), str(HERE.parent / "support")]
sys.dont_write_bytecode = True

RELEASE, CORE = "v0.165.0", "v1.71.0"
MODULE = "go.opentelemetry.io/collector"
BUILD = f"""dist: {{name: otelcol, module: example.invalid/otelcol, output_path: ./out, version: 0.0.1}}
receivers:
  - gomod: {MODULE}/receiver/otlpreceiver {RELEASE}
exporters:
  - gomod: {MODULE}/exporter/otlphttpexporter {RELEASE}
providers:
  - gomod: {MODULE}/confmap/provider/fileprovider {CORE}
"""


def build(folder):
    folder = Path(folder)
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "builder.yaml").write_text(BUILD, encoding="utf-8")
    return subprocess.run(["go", "run", f"{MODULE}/cmd/builder@{RELEASE}", "--config", "builder.yaml"], cwd=folder, check=False).returncode


def in_between(test, program):
    """Start the collector in front of the test's own one, which gets what that passes on."""
    from ports import port_of, reserve

    reserved = reserve()
    test.addCleanup(reserved.close)
    port = port_of(reserved)
    config = test.home / "otelcol.yaml"
    config.write_text(json.dumps({
        "receivers": {"otlp": {"protocols": {"http": {"endpoint": f"127.0.0.1:{port}"}}}},
        "exporters": {"otlp_http": {"endpoint": test.collector.url, "encoding": "json", "compression": "none", "sending_queue": {"enabled": False}}},
        "service": {"telemetry": {"metrics": {"level": "none"}},
                    "pipelines": {"traces": {"receivers": ["otlp"], "exporters": ["otlp_http"]}}}}))
    process = subprocess.Popen([program, f"--config=file:{config}"], stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True)
    test.addCleanup(process.stderr.close)
    test.addCleanup(process.wait)
    test.addCleanup(process.kill)
    said = []
    for line in process.stderr:
        said.append(line)
        if "Everything is ready" in line:
            break
    else:
        raise AssertionError("the collector has ended: " + "".join(said))
    threading.Thread(target=lambda: [None for _ in process.stderr], daemon=True).start()
    test.collector.url = f"http://127.0.0.1:{port}"


def main():
    if sys.argv[1:2] == ["--build"]:
        return build(sys.argv[2])
    program = os.environ.get("PATCHBAY_COLLECTOR")
    if not program:
        print("PATCHBAY_COLLECTOR is not set\n0 passed, 0 failed")
        return 0
    from telemetry import Spans

    class Through(Spans):
        def setUp(self):
            super().setUp()
            in_between(self, program)

    names = ("test_a_call", "test_errors", "test_http", "test_two_hubs", "test_names_of_tools")
    suite = unittest.TestSuite(Through(name) for name in names)
    result = unittest.TextTestRunner(verbosity=2).run(suite)
    bad = len({str(test) for test, _ in result.failures + result.errors})
    print(f"{result.testsRun - bad} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
