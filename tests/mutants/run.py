#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Mutants: for each protection of docs/RELIABILITY.md the hub is built without it, and the test that guards it must fail.

    tests/mutants/run.py [--list] [--check] [--keep] [NAME…]

A mutant (mutants.py) is a piece of source that is replaced by another; one whose source has changed must be written anew,
which the run says, and --check at once. The tree is copied, and built with AddressSanitizer; each test is run once as it is (it must pass), and
once for each of its mutants (it must fail). NAME picks mutants whose name contains it. Long: a minute each.
The last line is "N passed, N failed".
"""

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

from mutants import MUTANTS

ROOT = Path(__file__).resolve().parent.parent.parent
LEFT_OUT = shutil.ignore_patterns("build", ".git", "node_modules", "__pycache__")
FLAGS = "-O1 -g -fsanitize=address,undefined -fno-sanitize-recover=all"
TEST_TIMEOUT = 300  # seconds; a mutant that hangs is caught, too
WAIT = "30"  # seconds that a black-box test waits for anything; some see several intervals of 3 s pass


class Broken(Exception):
    """A mutant that says nothing: its source is not found, does not compile, or its test fails without it."""


class Scratch:
    def __init__(self, folder):
        self.source = Path(folder) / "source"
        self.build = Path(folder) / "build"
        shutil.copytree(ROOT, self.source, ignore=LEFT_OUT, symlinks=True)
        self.command(
            *("cmake", "-S", self.source, "-B", self.build, "-G", "Ninja"),
            *("-DCMAKE_BUILD_TYPE=Debug", f"-DCMAKE_C_FLAGS={FLAGS}", f"-DCMAKE_CXX_FLAGS={FLAGS}"),
        )
        self.good = {}  # tests that were tried without a mutant

    def command(self, *words):
        done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise Broken(f"{' '.join(map(str, words[:4]))}…: {done.stdout[-2000:]}{done.stderr[-2000:]}")

    def compile(self, test):
        """What the test needs: its own program, or the hub with its modules."""
        targets = ["patchbay", "plugins/all"] if test.endswith(".py") else [test]
        self.command("cmake", "--build", self.build, "--target", *targets)

    def run(self, test, only):
        """Whether the test passes. `only` picks cases of a black-box test."""
        env = {**os.environ, "ASAN_OPTIONS": "intercept_tls_get_addr=0"}
        if test.endswith(".py"):
            env |= {
                "PATCHBAY_BIN": str(self.build / "core/patchbay"),
                "PATCHBAY_PLUGINS": str(self.build / "plugins"),
                "PATCHBAY_TEST_TIMEOUT": WAIT,
            }
            name = only if only.startswith("test_") else f"{test[:-3]}.{only}"
            words = [sys.executable, "-B", self.source / "tests/blackbox/run.py", name]
        else:
            words = [self.build / "tests/unit" / test]
        process = subprocess.Popen(
            words,
            cwd=self.source / "tests/unit",
            env=env,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
        try:
            return process.wait(TEST_TIMEOUT) == 0
        except subprocess.TimeoutExpired:
            return False
        finally:
            with_group_gone(process)

    def check_good(self, test, only):
        if (test, only) not in self.good:
            self.compile(test)
            self.good[test, only] = self.run(test, only)
        if not self.good[test, only]:
            raise Broken(f"{test} {only} fails without the mutant, too")

    def is_caught(self, mutant):
        self.check_good(mutant.test, mutant.only)
        path = self.source / mutant.file
        text = path.read_text(encoding="utf-8")
        if text.count(mutant.old) != 1:
            raise Broken(f"{mutant.file} has its source {text.count(mutant.old)} times, wanted once")
        try:
            path.write_text(text.replace(mutant.old, mutant.new), encoding="utf-8")
            self.compile(mutant.test)
            return not self.run(mutant.test, mutant.only)
        finally:
            path.write_text(text, encoding="utf-8")


def in_place(mutant):
    """What is wrong with a mutant that its source and its test alone tell; None: nothing."""
    count = (ROOT / mutant.file).read_text(encoding="utf-8").count(mutant.old)
    tests = [*(ROOT / "tests").glob(f"blackbox/{mutant.test}"), *(ROOT / "tests/unit").rglob(f"{mutant.test}.c")]
    return f"{mutant.file} has its source {count} times, wanted once" if count != 1 else None if tests else f"there is no {mutant.test}"


def check(mutants):
    wrong = [f"{mutant.name}: {why}" for mutant in mutants if (why := in_place(mutant))]
    print(*wrong, f"{len(mutants) - len(wrong)} passed, {len(wrong)} failed", sep="\n")
    return 1 if wrong or not mutants else 0


def with_group_gone(process):
    """End what a test that was cut short has left in its session."""
    try:
        os.killpg(process.pid, signal.SIGKILL)
    except ProcessLookupError:
        pass
    process.wait()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--list", action="store_true", help="only name the mutants")
    parser.add_argument("--check", action="store_true", help="only look whether each has its source and its test")
    parser.add_argument("--keep", action="store_true", help="keep the scratch copy")
    parser.add_argument("names", nargs="*")
    options = parser.parse_args()
    wanted = [m for m in MUTANTS if not options.names or any(name in m.name for name in options.names)]
    if options.list:
        for mutant in wanted:
            print(f"{mutant.name:32} {mutant.file}: {mutant.test} {mutant.only}")
        return 0
    if options.check:
        return check(wanted)
    folder = tempfile.mkdtemp(prefix="patchbay-mutants-")
    failed = 0
    try:
        scratch = Scratch(folder)
        for mutant in sorted(wanted, key=lambda m: (m.test, m.only)):
            try:
                verdict = "caught" if scratch.is_caught(mutant) else f"NOT CAUGHT by {mutant.test} {mutant.only}"
            except Broken as error:
                verdict = f"BROKEN: {error}"
            failed += verdict != "caught"
            print(f"{mutant.name:32} {verdict}", flush=True)
    finally:
        if not options.keep:
            shutil.rmtree(folder, ignore_errors=True)
    print(f"{len(wanted) - failed} passed, {failed} failed")
    return 1 if failed or not wanted else 0


if __name__ == "__main__":
    sys.exit(main())
