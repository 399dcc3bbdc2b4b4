#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The rate of calls that Prometheus makes of a hub's metrics, and that of who makes the calls: they agree within 1 %.

    tests/scale/scraped_rates.py [--rate N] [--seconds N]

Debian's prometheus reads the hub that PATCHBAY_BIN names each second. Calls come at an even pace (when they cannot, this says so
and fails), and those that ended in the window that rate() looks at are counted here.
"""

import argparse
import pathlib
import sys
import time
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[1] / "blackbox"))

from metrics import Base  # noqa: E402

BAR = 0.01
SETTLE = 3  # seconds before the window, and behind it: what is read at its ends is in


class Rates(Base):
    RATE, SECONDS = 100, 60

    def runTest(self):
        server = self.serve()
        query = self.prometheus(server)
        session = server.legacy()
        while query("up") != [1]:
            time.sleep(0.1)  # it lets some seconds pass before it reads for the first time
        begun, ended = time.time(), []
        for number in range(self.RATE * (self.SECONDS + 2 * SETTLE)):
            time.sleep(max(0, begun + number / self.RATE - time.time()))  # the pace
            session.call("a__one")
            ended.append(time.time())
        self.assertLess(ended[-1] - begun, (self.SECONDS + 2 * SETTLE) * (1 + BAR), "the machine did not keep the pace")
        until = begun + SETTLE + self.SECONDS
        made = sum(1 for at in ended if until - self.SECONDS < at <= until) / self.SECONDS
        for name, labels in (("patchbay_calls_total", 'tool="one"'), ("mcp_server_operation_duration_seconds_count", 'gen_ai_tool_name="one"')):
            (seen,) = query(f"sum(rate({name}{{{labels}}}[{self.SECONDS}s] @ {until:.3f}))")
            print(f"{name}: {seen:.2f} calls/s by Prometheus, {made:.2f} by who made them: {abs(seen / made - 1):.2%} apart")
            self.assertLess(abs(seen / made - 1), BAR)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawTextHelpFormatter)
    parser.add_argument("--rate", type=int, default=Rates.RATE, help="calls a second")
    parser.add_argument("--seconds", type=int, default=Rates.SECONDS, help="of the window; at least 10")
    options = parser.parse_args()
    Rates.RATE, Rates.SECONDS = options.rate, options.seconds
    return 0 if unittest.TextTestRunner().run(Rates()).wasSuccessful() else 1


if __name__ == "__main__":
    sys.exit(main())
