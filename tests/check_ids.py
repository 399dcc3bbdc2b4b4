#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every id that a test cites (S1.20, U13) is explained in tests/REQUIREMENTS.md, once; every test that
tests/FINDINGS.md names exists; and docs/REQUIREMENTS.md has a row for each item of S2 and S3, and for some others, which says
why it does not apply, or names tests that cite it.

The last line is "N passed, N failed".
"""

import re
import sys
from collections import Counter
from pathlib import Path

HERE = Path(__file__).resolve().parent
LIST = HERE / "REQUIREMENTS.md"
TOOLSETS = HERE.parent / "docs" / "REQUIREMENTS.md"
ITEMS = {2: 45, 3: 94}
FINDINGS = HERE / "FINDINGS.md"
CITED = re.compile(r"(?<![-\w])(S[1-9]\.\d+|[ACDGHLPRSUWX]\d\d)(?![\w.]*\w)")
ENDINGS = {".py", ".c", ".h", ".mjs"}


def cited():
    """{id: where it is cited first}"""
    found = {}
    for path in sorted(HERE.rglob("*")):
        if path.suffix not in ENDINGS or {"node_modules", "build"} & set(path.parts) or path.name == "check_ids.py":
            continue
        for number, line in enumerate(path.read_text(encoding="utf-8", errors="replace").splitlines(), 1):
            for match in CITED.finditer(line):
                found.setdefault(match[1], f"{path.relative_to(HERE.parent)}:{number}")
    return found


def findings():
    """(id, file, test) of each test that stands beside a finding; the test is None where there is none."""
    for line in FINDINGS.read_text(encoding="utf-8").splitlines():
        row = re.match(r"\| ([A-D]\d+[a-z]?) \| [^|]+ \| ([^|]+) \|$", line)
        if row is None:
            continue
        named = re.findall(r"`([^`]+)` ([^`;]+)", row[2])
        if not named and not row[2].startswith("–"):
            yield row[1], None, None
        for path, tests in named:
            yield from ((row[1], path, test.strip()) for test in tests.split(","))


def missing():
    """What tests/FINDINGS.md says of tests that is not so."""
    texts = {}
    for name, path, test in findings():
        if path is None:
            yield f"tests/FINDINGS.md: {name} has no test, and no reason"
            continue
        if path not in texts:
            file = HERE / path
            texts[path] = file.read_text(encoding="utf-8") if file.exists() else ""
        if not re.search(rf"(?<!\w){re.escape(test)}(?!\w)", texts[path]):
            yield f"tests/FINDINGS.md: {name}: tests/{path} has no {test}"


def cited_by(path):
    """The items that a file cites; S3.26-S3.29, or S3.26 to S3.29, are four."""
    found = set()
    for group, first, last in re.findall(r"S([1-9])\.(\d+)(?:(?:-| to )S[1-9]\.(\d+))?", path.read_text(encoding="utf-8")):
        found |= {f"S{group}.{number}" for number in range(int(first), int(last or first) + 1)}
    return found


def unshown():
    """What docs/REQUIREMENTS.md says that is not so."""
    rows = dict(re.findall(r"^\| (S[1-9]\.\d+) \|.*\| ([^|]+) \|$", TOOLSETS.read_text(encoding="utf-8"), re.MULTILINE))
    files = {}
    for folder in (HERE, HERE.parent / "bench"):
        files |= {path.name: path for path in sorted(folder.rglob("*")) if not {"node_modules", "build"} & set(path.parts)}
    for name in dict.fromkeys([*(f"S{group}.{number}" for group, count in ITEMS.items() for number in range(1, count + 1)), *rows]):
        says = rows.get(name, "")
        if "as S" in says:
            says = rows.get(re.search(r"as (S[23]\.\d+)", says)[1], "")
        named = [text.rsplit("/", 1)[-1] for text in re.findall(r"`([^`]+\.(?:py|c|mjs))`", says)]
        if not says or not (named or "N/A" in says):
            yield f"docs/REQUIREMENTS.md: {name} names no test, and no reason"
        for test in named if "N/A" not in says else ():
            if test not in files or name not in cited_by(files[test]):
                yield f"docs/REQUIREMENTS.md: {name}: {test} does not cite it"


def main():
    explained = Counter(re.findall(r"^\| ([A-Z][\d.]+) \| \S", LIST.read_text(encoding="utf-8"), re.MULTILINE))
    places = cited()
    problems = [f"{place}: {name} is not explained in tests/REQUIREMENTS.md"
                for name, place in sorted(places.items()) if name not in explained]
    problems += [f"tests/REQUIREMENTS.md: {name} is explained {count} times"
                 for name, count in explained.items() if count > 1]
    problems += [*missing(), *unshown()]
    if not places:
        problems.append("no test cites anything: the pattern of tests/check_ids.py fits nothing")
    print("\n".join(problems) + "\n" if problems else "", end="")
    print(f"{len(places) - min(len(places), len(problems))} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
