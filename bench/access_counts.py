#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Count what access rules cost a call, by callgrind.

    ./bench/access_counts.py [--build FOLDER]

FOLDER (build/release) was built with -DPATCHBAY_BENCH=ON. A call of a tool that a rule hides takes as many instructions
as one of a tool that does not exist, within 1 %; a call of one of many principals at most 1.02 times those of the only
one, under the same rules and without rules, also of clients that can be asked something (able-…). Where toolsets can ask
(asked-…), a call keeps two names until it has its answer: 1.02 times, give or take where the heap lies (ten
instructions), so that 1.025 is what is held. What rules cost at all is printed."""

import argparse
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CALLS = {"one": (2000,), "ruled": (2000,), "many": (2000, 200), "hidden": (500,), "unknown": (500,)}
CALLS |= {kind + case: CALLS[case] for kind in ("able-", "asked-") for case in ("one", "ruled", "many")}
# One, the other, and how many times as much the one may take, least and most.
HELD = [("hidden", "unknown", 0.99, 1.01), ("many", "ruled", 0.98, 1.02), ("many", "one", 0.98, 1.02),
        ("able-many", "able-ruled", 0.98, 1.02), ("able-many", "able-one", 0.98, 1.02),
        ("asked-many", "asked-ruled", 0.98, 1.02), ("asked-many", "asked-one", 0.98, 1.025)]


def count(program, case):
    """Instructions of one call."""
    done = subprocess.run(
        ["valgrind", "--tool=callgrind", "--callgrind-out-file=/dev/null", "--toggle-collect=measured*", program, case]
        + [str(number) for number in CALLS[case]],
        stdin=subprocess.DEVNULL, capture_output=True, text=True)
    found = re.search(r"Collected : (\d+)", done.stderr)
    if done.returncode != 0 or not found:
        sys.exit(f"access {case} failed:\n{done.stdout}{done.stderr}")
    return int(found[1]) / CALLS[case][0]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=pathlib.Path, default=HERE.parent / "build/release")
    options = parser.parse_args()
    if shutil.which("valgrind") is None:
        print("access: skipped, valgrind is not installed\n0 passed, 0 failed")
        return 0
    program = options.build / "bench/access"
    if not program.exists():
        sys.exit(f"access: {program} is not there: build it with -DPATCHBAY_BENCH=ON")
    counted = {case: count(program, case) for case in CALLS}
    good = 0
    for one, other, least, most in HELD:
        ratio = counted[one] / counted[other]
        is_good = least <= ratio <= most
        good += is_good
        print(f"{one:<11} {counted[one]:>9.0f} instructions, {other:<11} {counted[other]:>9.0f}: {ratio:.4f} times"
              f"{'' if is_good else f' FAILED: wanted {least} to {most}'}")
    print(f"rules add {counted['ruled'] - counted['one']:.0f} instructions to the {counted['one']:.0f} of a call")
    print(f"{good} passed, {len(HELD) - good} failed")
    return 0 if good == len(HELD) else 1


if __name__ == "__main__":
    sys.exit(main())
