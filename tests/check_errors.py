#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every error that the hub answers stands in the table of errors, and what stands there is answered (core/wire/errors.h).

That is: codes E_... and TOOL_..., statuses of HTTP, and codes of JSON-RPC, which have names everywhere else. The last line
is "N passed, N failed".
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TABLE = ROOT / "core/wire/errors.h"
ROOMS = ["core", "transports"]
STATUS = re.compile(r"(?:\brefuse|answer_\w+|connection_refuse|status = |return|\] = \{|[?:])[^;]*?(?<![\w.-])([45]\d\d)(?=[,;:) ])")


def rows():
    """{table: [names]}"""
    text = TABLE.read_text(encoding="utf-8").replace("\\\n", " ")
    return {
        table: re.findall(r"\bX\((\w+),", body)
        for table, body in re.findall(r"#define HUB_(\w+)_ERRORS\(X\)(.*)", text)
    }


def sources():
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.[ch]")):
            if path != TABLE:
                text = path.read_text(encoding="utf-8")
                yield path.relative_to(ROOT), re.sub(r"/\*.*?\*/", "", text, flags=re.DOTALL)


def main():
    table = rows()
    known = {
        "rpc": {f"HUB_RPC_{name}" for name in table["RPC"]},
        "tool": {f"HUB_TOOL_{name}" for name in table["TOOL"]},
        "operation": {f"E_{name}" for name in table["OPERATION"]},
        "http": set(table["HTTP"]),
    }
    used = {kind: set() for kind in known}
    problems = []

    def note(kind, name, path):
        used[kind].add(name)
        if name not in known[kind]:
            problems.append(f"{path}: {name} is not in {TABLE.relative_to(ROOT)}")

    for path, text in sources():
        for name in re.findall(r"\bHUB_RPC_[A-Z_]+\b", text):
            if name not in ("HUB_RPC_ERROR", "HUB_RPC_ERRORS"):
                note("rpc", name, path)
        used["tool"].update(re.findall(r"\bHUB_TOOL_[A-Z_]+\b", text))
        for name in re.findall(r"\b(E_[A-Z_]{3,})\b", text):
            note("operation", name, path)
        for number in re.findall(r'(?<![\w.":])-3[12]\d{3}\b', text):
            problems.append(f"{path}: {number} has a name: HUB_RPC_...")
        if str(path).startswith(("transports/http/", "core/web/")):
            for status in STATUS.findall(text):
                note("http", status, path)
    for kind, names in known.items():
        problems += [f"{TABLE.relative_to(ROOT)}: nobody answers {name}" for name in sorted(names - used[kind])]
    total = sum(map(len, known.values()))
    print("\n".join(problems) + "\n" if problems else "", end="")
    print(f"{total - min(total, len(problems))} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
