#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run the black-box tests: run.py [--jobs N] [--json FILE] [NAME…]

Each file of this folder is a group of tests about one section of the specification or one kind of
requirement; groups run in parallel, each in a process of its own. NAME picks tests whose
"file.Class.test" contains it. The last line is "N passed, N failed".
"""

import argparse
import importlib
import io
import json
import os
import shutil
import sys
import tempfile
import time
import traceback
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
# What takes longest, most of it waiting for what takes seconds by its nature: begun first, so that none is alone at the end.
LONGEST = (
    "supervision_health", "isolation_process", "upstream_websocket", "behind_proxies", "evil_websocket", "evil_upstream_calls",
    "upstream_content", "evil_upstream_answers", "issuers", "upstream_process", "pins", "upstream_sessions", "login_hostile",
    "upstream_http", "evil_upstream_floods", "faults_calls", "http_deadlines", "config_errors", "supervision_survivors",
    "malformed", "evil_upstream_silence", "supervision_restart",
)
NOT_TESTS = {"run", "mcp"}
sys.dont_write_bytecode = True
sys.path.insert(0, str(HERE))


def groups():
    return sorted(path.stem for path in HERE.glob("*.py") if path.stem not in NOT_TESTS)


def rank(group):
    """Where its turn comes: the longest first, then by the length of the file."""
    return LONGEST.index(group) if group in LONGEST else len(LONGEST), -(HERE / f"{group}.py").stat().st_size


def flatten(suite):
    for item in suite:
        if isinstance(item, unittest.TestSuite):
            yield from flatten(item)
        else:
            yield item


def load(group, patterns):
    tests = flatten(unittest.defaultTestLoader.loadTestsFromModule(importlib.import_module(group)))
    return [test for test in tests if not patterns or any(p in test.id() for p in patterns)]


def run_group(group, patterns):
    """In the child: run one file's tests, and print what came of it as JSON."""
    tests = load(group, patterns)
    text = io.StringIO()
    started = time.monotonic()
    result = unittest.TextTestRunner(stream=text, verbosity=0).run(unittest.TestSuite(tests))
    bad = {}
    for test, trace in result.failures + result.errors:
        whole = getattr(test, "test_case", test)  # a subtest counts with its test
        case = "" if whole is test else f"{test._subDescription()}: "
        bad[whole.id()] = bad.get(whole.id(), "") + case + trace + "\n"
    for test in result.unexpectedSuccesses:
        bad[test.id()] = "passed, but was expected to fail"
    json.dump(
        {
            "group": group,
            "run": result.testsRun,
            "failed": bad,
            "skipped": {test.id(): reason for test, reason in result.skipped},
            "seconds": round(time.monotonic() - started, 1),
            "processor": round(sum(os.times()[:4]), 1),
        },
        sys.stdout,
    )


def fork_group(group, patterns, output):
    """Begin one file's tests in a process of its own, which has all modules that this one has; what it prints goes to a file."""
    pid = os.fork()
    if pid:
        return pid
    code = 1
    try:
        with open(os.devnull, "rb") as nothing, open(output, "wb") as file:
            os.dup2(nothing.fileno(), 0)
            os.dup2(file.fileno(), 1)
            os.dup2(file.fileno(), 2)
        python = os.environ.get("PATCHBAY_OTLP_DECODER") if group == "telemetry" else None
        if python:
            os.execv(python, [python, str(HERE / "run.py"), "--group", group, *patterns])
        run_group(group, patterns)
        sys.stdout.flush()
        code = 0
    except BaseException:  # whatever it is: the parent's handlers are not this process's
        traceback.print_exc()
        sys.stderr.flush()
    finally:
        os._exit(code)


def outcome(group, output):
    text = output.read_text(encoding="utf-8", errors="replace")
    try:
        return json.loads(text[text.rindex('{"group"') :])
    except ValueError:
        return {"group": group, "run": 1, "failed": {group: text[-4000:]}, "skipped": {}, "seconds": 0, "processor": 0}


def run_groups(wanted, patterns, jobs, folder):
    """Run all, `jobs` at a time; yield what came of each when it has ended."""
    waiting, running = list(reversed(wanted)), {}
    while waiting or running:
        while waiting and len(running) < jobs:
            group = waiting.pop()
            output = Path(folder) / f"{group}.output"
            running[fork_group(group, patterns, output)] = group, output
        pid, _ = os.wait()
        if pid in running:
            yield outcome(*running.pop(pid))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    # A group keeps a third of a core busy: the rest of its time it waits.
    parser.add_argument("--jobs", type=int, default=min(6, (os.cpu_count() or 1) * 3))
    parser.add_argument("--json", help="also write the results to this file")
    parser.add_argument("--group", help=argparse.SUPPRESS)
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    if options.group:
        run_group(options.group, options.names)
        return 0

    import mcp

    if not os.access(mcp.hub_binary(), os.X_OK):
        print(f"there is no hub at {mcp.hub_binary()}: build it, or set PATCHBAY_BIN", file=sys.stderr)
        print("0 passed, 1 failed")
        return 1
    fixtures = tempfile.mkdtemp(prefix="patchbay-fixtures-")
    os.environ["PATCHBAY_FIXTURES"] = fixtures
    wanted = [group for group in groups() if load(group, options.names)]
    wanted.sort(key=rank)
    results = []
    try:
        mcp.compile_plugin(fixtures)
        for result in run_groups(wanted, options.names, max(1, options.jobs), fixtures):
            results.append(result)
            good = result["run"] - len(result["failed"]) - len(result["skipped"])
            print(f"{result['group']:24} {good:3} passed {len(result['failed']):3} failed {result['seconds']:6.1f} s"
                  f" {result['processor']:6.1f} s of processor time")
            for name, trace in result["failed"].items():
                print(f"\nFAILED {name}\n{trace}")
            for name, reason in result["skipped"].items():
                print(f"  not run: {name}: {reason}")
            sys.stdout.flush()
    finally:
        shutil.rmtree(fixtures, ignore_errors=True)
    if options.json:
        Path(options.json).write_text(json.dumps(results, indent=1), encoding="utf-8")
    failed = [name for result in results for name in result["failed"]]
    passed = sum(result["run"] - len(result["failed"]) - len(result["skipped"]) for result in results)
    for name in failed:
        print(f"FAILED {name}")
    print(f"{passed} passed, {len(failed)} failed")
    return 1 if failed or not passed else 0


if __name__ == "__main__":
    sys.exit(main())
