#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What quickstart and run-tests do while another package manager runs: they wait, and say so.

The locks are those of an apt that has all its folders, and no package source, in a temporary folder:
nothing of the machine is touched, and nothing is downloaded. The last line is "N passed, N failed".
"""

import fcntl
import os
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
TIMEOUT = 60


class Apt:
    def __init__(self, folder):
        self.folder = Path(folder)
        for name in ("state/lists/partial", "cache/archives/partial", "dpkg", "etc/parts", "log"):
            (self.folder / name).mkdir(parents=True)
        (self.folder / "dpkg/status").touch()
        (self.folder / "etc/sources.list").touch()
        self.config = self.folder / "apt.conf"
        self.config.write_text(
            f'Dir::State "{folder}/state";\nDir::State::status "{folder}/dpkg/status";\n'
            f'Dir::Cache "{folder}/cache";\nDir::Etc "{folder}/etc";\nDir::Log "{folder}/log";\n'
            'APT::Sandbox::User "";\n', encoding="utf-8")

    def hold(self, name):
        """Lock as apt and dpkg do."""
        file = open(self.folder / name, "w", encoding="utf-8")
        fcntl.lockf(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        return file

    def run(self, command, wait_s):
        """Start a command of packages.sh."""
        script = f'set -euo pipefail; . cmake/packages.sh; as_root() {{ "$@"; }}; {command}'
        env = {**os.environ, "APT_CONFIG": str(self.config), "PATCHBAY_PACKAGES_PAUSE_S": "1",
               "PATCHBAY_PACKAGES_WAIT_S": str(wait_s)}
        return subprocess.Popen(["bash", "-c", script], cwd=ROOT, env=env, text=True, stdin=subprocess.DEVNULL,
                                stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)


def waits_for(apt, lock, command):
    holder = apt.hold(lock)
    process = apt.run(command, TIMEOUT)
    first = process.stderr.readline()
    holder.close()
    rest = process.communicate(timeout=TIMEOUT)[1]
    if "waiting for it to finish" not in first:
        return f"it does not say that it waits: {first}{rest}"
    if process.returncode != 0:
        return f"it fails although the lock was released: {first}{rest}"
    return None


def gives_up(apt, lock, command):
    with apt.hold(lock):
        process = apt.run(command, 1)
        said = process.communicate(timeout=TIMEOUT)[1]
    if process.returncode == 0 or "has not finished within 1 s" not in said:
        return f"it does not say why it ends: {said}"
    return None


def fails_at_once(apt, command):
    process = apt.run(command, TIMEOUT)
    said = process.communicate(timeout=TIMEOUT)[1]
    if process.returncode == 0 or "waiting" in said or "no-such-package" not in said:
        return f"what is not about locks is not waited for: {said}"
    return None


def main():
    cases = [
        ("waits for the lists", waits_for, "state/lists/lock", "apt update"),
        ("waits for dpkg", waits_for, "dpkg/lock-frontend", "apt -y autoremove"),
        ("gives up in the end", gives_up, "state/lists/lock", "apt update"),
        ("other failures are told at once", fails_at_once, "apt install -y no-such-package"),
    ]
    failed = 0
    for name, check, *arguments in cases:
        with tempfile.TemporaryDirectory() as folder:
            problem = check(Apt(folder), *arguments)
        if problem:
            failed += 1
            print(f"{name}: {problem}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
