#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Count what access rules cost a call, by callgrind, and what 10,000 principals keep in memory.

    ./bench/access_counts.py [--build FOLDER]

FOLDER (build/release) was built with -DPATCHBAY_BENCH=ON. A call of a tool that a rule hides takes as many instructions
as one of a tool that does not exist, within 1 %; a call of one of many principals at most 1.02 times those of the only
one, under the same rules and without rules, also of clients that can be asked something (able-…). Where toolsets can ask
(asked-…), a call keeps two names until it has its answer: 1.02 times, and 1.025 is what is held. Where the heap lies just so,
the allocator takes ten instructions more to two hundred less for a call of any of them: so the many may take 0.96 times as much. What rules cost at all is printed. 10,000 principals with different active
sets, connected or gone again, have at most 64 MiB more allocated than one without rules."""

import argparse
import concurrent.futures
import os
import pathlib
import re
import shutil
import subprocess
import sys

HERE = pathlib.Path(__file__).resolve().parent
CALLS = {"one": (2000,), "ruled": (2000,), "many": (2000, 200), "hidden": (500,), "unknown": (500,)}
CALLS |= {kind + case: CALLS[case] for kind in ("able-", "asked-") for case in ("one", "ruled", "many")}
# One, the other, and how many times as much the one may take, least and most.
HELD = [("hidden", "unknown", 0.99, 1.01), ("many", "ruled", 0.96, 1.02), ("many", "one", 0.96, 1.02),
        ("able-many", "able-ruled", 0.96, 1.02), ("able-many", "able-one", 0.96, 1.02),
        ("asked-many", "asked-ruled", 0.96, 1.02), ("asked-many", "asked-one", 0.96, 1.025)]
# Of these, MiB above one principal without rules, at most.
MEMORY = {"many": 64.0, "idle": 64.0}


def allocated(program, case):
    """MiB that are allocated once all principals have chosen and called."""
    done = subprocess.run([program, case, "1"], stdin=subprocess.DEVNULL, capture_output=True, text=True)
    found = re.search(r": ([0-9.]+) MiB allocated", done.stdout)
    if done.returncode != 0 or not found:
        sys.exit(f"access {case} failed:\n{done.stdout}{done.stderr}")
    return float(found[1])


def hold_memory(found):
    """How many of MEMORY are held, by the MiB of each case."""
    alone = found["one"]
    good = 0
    for case, most in MEMORY.items():
        more = found[case] - alone
        good += more <= most
        print(f"{case:<11} {more:>9.1f} MiB more than the {alone:.1f} of one principal without rules"
              f"{'' if more <= most else f' FAILED: wanted at most {most}'}")
    return good


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
    program = options.build / "bench/access"
    if not program.exists():
        sys.exit(f"access: {program} is not there: build it with -DPATCHBAY_BENCH=ON")
    has_valgrind = shutil.which("valgrind") is not None
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        cases = ["one", *MEMORY]
        found = pool.map(lambda case: allocated(program, case), cases)
        costs = pool.map(lambda case: count(program, case), CALLS if has_valgrind else ())
        good = hold_memory(dict(zip(cases, found)))
        counted = dict(zip(CALLS, costs))
    failed = len(MEMORY) - good
    if not has_valgrind:
        print(f"access: instructions are skipped, valgrind is not installed\n{good} passed, {failed} failed")
        return 1 if failed else 0
    for one, other, least, most in HELD:
        ratio = counted[one] / counted[other]
        is_good = least <= ratio <= most
        good += is_good
        failed += not is_good
        print(f"{one:<11} {counted[one]:>9.0f} instructions, {other:<11} {counted[other]:>9.0f}: {ratio:.4f} times"
              f"{'' if is_good else f' FAILED: wanted {least} to {most}'}")
    print(f"rules add {counted['ruled'] - counted['one']:.0f} instructions to the {counted['one']:.0f} of a call")
    print(f"{good} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
