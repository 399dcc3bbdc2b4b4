#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""10,000 calls of 50 users with a login each, at one server, interleaved, and not one with another's (the server checks).

    tests/scale/logins.py [--users N] [--calls N]

The long form of tests/blackbox/login_principals.py Crowd, against the hub that PATCHBAY_BIN names.
"""

import argparse
import pathlib
import sys
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from login_principals import Crowd  # noqa: E402

NAME = "test_not_one_call_with_anothers_login"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--users", type=int, default=50, help="at least 8")
    parser.add_argument("--calls", type=int, default=200, help="of each user, over both eras; at least 82")
    options = parser.parse_args()
    Crowd.USERS, Crowd.CALLS = options.users, options.calls
    result = unittest.TextTestRunner(verbosity=2).run(Crowd(NAME))
    return 0 if result.wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
