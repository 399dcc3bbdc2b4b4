#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Writes docs/REFERENCE.md, or says whether it is as the programs have it.

    reference.py write|check PATCHBAY PATCHBAY-SETTINGS FILE

Keys and the hub's own tools are what `patchbay-settings tables` prints; commands and options are read from
`patchbay help` and `patchbay help COMMAND`. Exit code: 1 when `check` finds a line that is another.
"""

import re
import subprocess
import sys
from itertools import zip_longest
from pathlib import Path

HEAD = """
## Commands

`patchbay help COMMAND` says the same. Without a command it serves.
"""
OPTIONS_HEAD = """
## Options

An option that means something else to another command has a row for each meaning.

| option | what it does | commands |
|---|---|---|
"""


def output_of(*command):
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def escaped(text):
    """Text that Markdown takes for text, in a cell of a table, too."""
    return re.sub(r"[|*<]", r"\\\g<0>", text)


def commands(program):
    """(name, usage, text, options), each option (name, what it does), as help has them."""
    overview = output_of(program, "help").split("\ncommands:\n")[1].split("\n\n")[0]
    for name in re.findall(r"^  (\S+)", overview, re.M):
        page, options = output_of(program, "help", name).split("\noptions:\n")
        usage, text = page.removeprefix("usage: ").split("\n\n", 1)
        yield name, usage.strip(), text.strip(), re.findall(r"^  (\S.*?)  +(.*)$", options, re.M)


def page(program, settings):
    parts = [output_of(settings, "tables"), HEAD]
    meanings, names = {}, []  # of each option: which commands have it so
    for name, usage, text, options in commands(program):
        names.append(name)
        parts.append(f"\n### {name}\n\n```\n{usage}\n```\n\n{escaped(text)}\n")
        for option in options:
            meanings.setdefault(option, []).append(name)
    parts.append(OPTIONS_HEAD)
    for (option, about), whose in sorted(meanings.items()):
        parts.append(f"| `{escaped(option)}` | {escaped(about)} | {'all' if whose == names else ', '.join(whose)} |\n")
    return "".join(parts)


def main(mode, program, settings, path):
    wanted = page(program, settings)
    if mode == "write":
        Path(path).write_text(wanted, encoding="utf-8")
        return 0
    lines = zip_longest(Path(path).read_text(encoding="utf-8").split("\n"), wanted.split("\n"))
    for number, (found, line) in enumerate(lines, 1):
        if found != line:
            print(f"{path}:{number}: not as the programs have it: run `ninja -C build/dev settings`", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
