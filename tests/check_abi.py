#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether the tables that plugins were built against are what they were: each frozen header of tests/abi/v… is compared with today's.

abidiff compares the layouts, with all that is behind pointers; what was added at the end of a table is no change. It does not see
macros: a constant has to have the same value. Each header with an interface is among them, and ABI.md has each version that
plugin.h has. The last line is "N passed, N failed".
"""

import os
import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TYPE = re.compile(r"^(?:\}|typedef .*[ *]) ?(patchbay_\w+)(?:;|\()", re.M)
CONSTANT = re.compile(r"^#define (PATCHBAY_\w+)[ \t]+(.+)$", re.M)
INTERFACE = re.compile(r'"patchbay\.\w+/\d+"')
VERSION = re.compile(r"^ \*   (\d+\.\d+)  ", re.M)  # a line of the ledger in plugin.h
GROWS = {"PATCHBAY_ABI"}  # the newest version there is
# What abidiff says of more than a table that has become longer.
CHANGED = re.compile(r"offset changed|deletion|data member changes?:|parameter|return type|Removed variable|type name changed|entity changed")


def compile_types(folder, header, include):
    """A library whose only symbols are pointers to the types of the frozen header."""
    source, library = folder / f"{header.stem}.c", folder / f"{header.stem}.so"
    names = sorted(set(TYPE.findall(header.read_text(encoding="utf-8"))))
    source.write_text(f"#include <patchbay/{header.name}>\n" + "".join(f"{name} *p_{name};\n" for name in names), encoding="utf-8")
    subprocess.run([os.environ.get("CC", "cc"), "-g", "-std=c11", "-fPIC", "-shared", "-I", include, "-I", ROOT / "include", "-o", library, source], check=True)
    return library, names


def constants(text):
    """{name: value}, of macros without arguments; comments and line ends do not count."""
    text = re.sub(r"/\*.*?\*/", "", text.replace("\\\n", " "), flags=re.S)
    return {name: " ".join(value.split()) for name, value in CONSTANT.findall(text) if name not in GROWS}


def differences(frozen, now, scratch):
    """What is different in one header: lines."""
    found = [f"{frozen.name}: {name} was {value}, is {now_value}"
             for name, value in constants(frozen.read_text(encoding="utf-8")).items()
             if (now_value := constants(now.read_text(encoding="utf-8")).get(name)) != value]
    libraries = []
    for which, include in (("frozen", frozen.parent.parent), ("now", now.parent.parent)):
        folder = scratch / which
        folder.mkdir(exist_ok=True)
        library, names = compile_types(folder, frozen, include)
        libraries.append(library)
    if not names:
        found.append(f"{frozen.name}: no type is found in it")
    done = subprocess.run(["abidiff", "--harmless", *libraries], capture_output=True, text=True, check=False)
    report = done.stdout + done.stderr
    is_longer_at_most = done.returncode == 4 and "data member insertion" in report and not CHANGED.search(report)
    return found if done.returncode == 0 or is_longer_at_most else found + report.splitlines()


def not_frozen(include):
    """Headers whose interface nobody has frozen, and versions without their line or folder: lines."""
    frozen = {path.name for path in (ROOT / "tests" / "abi").glob("v*/patchbay/*.h")}
    found = [f"{path.name} has an interface, and no frozen copy in tests/abi"
             for path in sorted((include / "patchbay").glob("*.h"))
             if INTERFACE.search(path.read_text(encoding="utf-8")) and path.name not in frozen]
    ledger = (ROOT / "ABI.md").read_text(encoding="utf-8")
    for version in VERSION.findall((include / "patchbay" / "plugin.h").read_text(encoding="utf-8")):
        if f"| {version} |" not in ledger:
            found.append(f"ABI.md lacks version {version} of plugin.h")
        if not (ROOT / "tests" / "abi" / f"v{version.replace('.', '_')}").is_dir():
            found.append(f"tests/abi lacks the headers of version {version}")
    return found


def check(include):
    missing = not_frozen(include)
    print("".join(f"{line}\n" for line in missing), end="")
    good, bad = int(not missing), int(bool(missing))
    for frozen in sorted((ROOT / "tests" / "abi").glob("v*/patchbay/*.h")):
        now = include / "patchbay" / frozen.name
        with tempfile.TemporaryDirectory() as scratch:
            found = differences(frozen, now, Path(scratch)) if now.exists() else [f"{now.name} is gone"]
        good, bad = (good + 1, bad) if not found else (good, bad + 1)
        print("".join(f"{frozen.relative_to(ROOT)}: {line}\n" for line in found), end="")
    return good, bad


def main():
    if not shutil.which("abidiff"):
        print("abidiff (abigail-tools) is not there: layouts are not compared\n0 passed, 1 failed")
        return 1
    good, bad = check(Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "include")
    print(f"{good} passed, {bad} failed")
    return bad > 0


if __name__ == "__main__":
    sys.exit(main())
