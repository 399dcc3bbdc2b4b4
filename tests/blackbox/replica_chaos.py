#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Accidents of three replicas, their store and their balancer, for ten seconds: no client gets a wrong answer, or
another one's, and each is served in the end. tests/soak/replicas.py goes on for as long as it is told to."""

import os
import shutil
import subprocess
import sys
import unittest
from pathlib import Path

from mcp import HubTest, hub_binary, main, module_folder
from valkey import PROGRAM

SOAK = Path(__file__).resolve().parent.parent / "soak/replicas.py"
# By this seed the first three are that the store is lost, and that replicas are killed and rolled. What fails within so
# many seconds of an accident may: how fast the replicas are themselves again is for longer runs, on machines that do
# nothing else.
WORDS = ["--minutes", "0.15", "--accidents", "3", "--seed", "1211", "--clients", "4", "--grace", "5"]


@unittest.skipUnless(PROGRAM and shutil.which("haproxy"), "there is no store, or no haproxy")
class Accidents(HubTest):
    def test_nobody_gets_a_wrong_answer(self):
        env = {**os.environ, "PATCHBAY_BIN": hub_binary(), "PATCHBAY_PLUGINS": module_folder()}
        done = subprocess.run([sys.executable, "-B", SOAK, *WORDS], env=env, capture_output=True, text=True)
        said = done.stdout + done.stderr
        self.assertEqual(done.returncode, 0, said)
        self.assertSays(said, "is killed", "is rolled", "comes back empty", "6 passed, 0 failed")


if __name__ == "__main__":
    main()
