#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""All helpers of the SDK return in the one convention that include/patchbay/call.h states.

A function whose first argument is a toolset acts on it and returns int32_t (PATCHBAY_OK or PATCHBAY_E...); no other helper does,
so a number that is an error is never taken for a value. The last line is "N passed, N failed".
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
HELPERS = ["ask", "call", "content", "json", "prompt", "reply", "resource", "tool", "toolset", "write", "address"]
FUNCTION = re.compile(r"^static inline\s+([\w ]+?[ *]+)(patchbay_\w*[a-z0-9])\(([^,)]*)", re.M)
# Functions of a toolset that return something else, with the reason.
ELSE = {"patchbay_log": "cannot fail", "patchbay_data_of": "reads"}


def breaches(name, returns, first):
    acts = first.removeprefix("const ").startswith("patchbay_toolset *") and name not in ELSE
    if acts != (returns == "int32_t"):
        yield f"{name} returns {returns}: " + ("it acts on a toolset, int32_t is wanted" if acts else "int32_t is of functions that act on a toolset")


def main():
    include = Path(sys.argv[1]) if len(sys.argv) > 1 else ROOT / "include/patchbay"
    good = bad = 0
    for header in HELPERS:
        for returns, name, first in FUNCTION.findall((include / f"{header}.h").read_text(encoding="utf-8")):
            found = list(breaches(name, returns.strip(), first))
            good, bad = (good + 1, bad) if not found else (good, bad + 1)
            print("".join(f"{header}.h: {line}\n" for line in found), end="")
    print(f"{good} passed, {bad} failed")
    return bad > 0 or good < 60


if __name__ == "__main__":
    sys.exit(main())
