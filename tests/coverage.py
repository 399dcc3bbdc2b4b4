#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Which lines of core/ the tests run: coverage.py [--unit] [--report] [--worst N]

Builds the preset `coverage`, runs unit and black-box tests with it (--unit: without the latter; --report: neither,
what was counted before is shown), and asks gcov. The last line is the share of core/ in per cent.
"""

import argparse
import json
import os
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "coverage"


def run(*command, **environment):
    subprocess.run([str(word) for word in command], cwd=ROOT, check=False, env={**os.environ, **environment})


def measure(unit_only):
    jobs = str(os.cpu_count() or 1)
    subprocess.run(["cmake", "--preset", "coverage"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", "--preset", "coverage"], cwd=ROOT, check=True, stdout=subprocess.DEVNULL)
    for counted in BUILD.rglob("*.gcda"):
        counted.unlink()
    run("ctest", "--preset", "coverage", "-j", jobs, "--timeout", 900)
    if not unit_only:
        run(sys.executable, "-B", "tests/blackbox/run.py", PATCHBAY_BIN=str(BUILD / "core" / "patchbay"),
            PATCHBAY_PLUGINS=str(BUILD / "plugins"))


def read_counts():
    """{file below core/: {line: how often}} over all programs that have the file in them."""
    counts = defaultdict(lambda: defaultdict(int))
    notes = sorted(str(path) for path in (BUILD / "core").rglob("*.gcno"))
    for start in range(0, len(notes), 50):
        found = subprocess.run(["gcov", "--json-format", "--stdout", *notes[start : start + 50]], cwd=BUILD,
                               check=True, capture_output=True, text=True).stdout
        for document in filter(None, found.splitlines()):
            for file in json.loads(document)["files"]:
                path = (BUILD / file["file"]).resolve()
                if path.is_relative_to(ROOT / "core"):
                    lines = counts[str(path.relative_to(ROOT))]
                    for line in file["lines"]:
                        lines[line["line_number"]] += line["count"]
    return counts


def share(lines):
    return 100 * sum(count > 0 for count in lines.values()) / len(lines) if lines else 100.0


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--unit", action="store_true", help="unit tests only")
    parser.add_argument("--report", action="store_true", help="run nothing, show what was counted")
    parser.add_argument("--worst", type=int, default=15, metavar="N", help="show the N files with most lines not run")
    arguments = parser.parse_args()
    if not arguments.report:
        measure(arguments.unit)
    counts = read_counts()
    left = {file: sum(count == 0 for count in lines.values()) for file, lines in counts.items()}
    for file in sorted(left, key=left.get, reverse=True)[: arguments.worst]:
        print(f"{file:<48} {share(counts[file]):6.1f} %  {left[file]:5} lines not run")
    rooms = defaultdict(dict)
    for file, lines in counts.items():
        rooms["/".join(file.split("/")[:2])].update({(file, line): count for line, count in lines.items()})
    for room in sorted(rooms):
        print(f"{room:<48} {share(rooms[room]):6.1f} %  of {len(rooms[room])} lines")
    everything = {key: count for room in rooms.values() for key, count in room.items()}
    print(f"core: {share(everything):.1f} % of {len(everything)} lines")


if __name__ == "__main__":
    main()
