#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Does a hub always end, soon, and alone, whatever signals it gets and when?

    tests/scale/stop_signals.py [--loads N] [--storms N] [--jobs N] [--seed N]

Loads: 500 calls of 0 to 12 s in flight, then SIGTERM or SIGINT. Those that are due within the 10 s that the hub waits are
answered, the others get an error, and the hub exits with 0 within 15 s (RELIABILITY.md L01). Storms: up to six signals and
ends of input in any order, half a second apart on average, at any stage (L02): it exits within 15 s of the last. Nothing
that a server started is left 5 s later.
"""

import argparse
import concurrent.futures
import os
import sys
import tempfile
from pathlib import Path

from scale import BIN, PLUGINS, ROOT

os.environ.update(PATCHBAY_BIN=str(BIN), PATCHBAY_PLUGINS=str(PLUGINS))
sys.path[:0] = [str(ROOT / "tests/blackbox"), str(ROOT / "tests/support")]

import endings  # noqa: E402

CALLS, LONGEST, DRAIN, PAUSE = 500, 12, 10, 1
EXIT, GONE = 15, 5


def run(name, count, jobs, one):
    """All rounds of a kind; whether all were good."""
    done, bad = [], []

    def attempt(number):
        try:
            done.append(one(number))
        except endings.Wrong as error:
            bad.append(number)
            print(f"WRONG {name} {number}: {error}", flush=True)

    with concurrent.futures.ThreadPoolExecutor(jobs) as pool:
        list(pool.map(attempt, range(count)))
    exits, gone = ([row[at] for row in done] for at in (-2, -1))
    after = max((g - e for g, e in zip(gone, exits)), default=0)
    print(f"{name}: {len(done)} rounds, {len(bad)} wrong; exit after {max(exits, default=0):.1f} s at most, all gone {after:.1f} s later")
    return done, not bad and max(exits, default=0) <= EXIT and after <= GONE


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--loads", type=int, default=200)
    parser.add_argument("--storms", type=int, default=1000)
    parser.add_argument("--jobs", type=int, default=10)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    good = True
    with tempfile.TemporaryDirectory(prefix="endings-") as name:
        home, seed = Path(name), options.seed
        if options.storms:
            _, good = run("storms", options.storms, options.jobs, lambda n: endings.storm(home, seed, n, PAUSE))
        if options.loads:
            done, fine = run(
                "loads", options.loads, options.jobs, lambda n: endings.under_load(home, seed, n, CALLS, LONGEST, DRAIN)
            )
            print(f"loads: {sum(row[0] for row in done)} calls answered, {sum(row[1] for row in done)} cut off with an error")
            good = good and fine
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
