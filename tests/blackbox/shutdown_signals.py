# SPDX-License-Identifier: Apache-2.0
"""Signals in any number and order, at any moment (RELIABILITY.md L01, L02, L09): the hub always ends, and alone. Far more
rounds, with pauses, are in tests/scale/stop_signals.py."""

import concurrent.futures

from mcp import HubTest, main

import endings  # in tests/support, which mcp makes known

SEED, STORMS, AT_ONCE = 1, 16, 4


class Signals(HubTest):
    def test_storms(self):  # L02, L09
        with concurrent.futures.ThreadPoolExecutor(AT_ONCE) as pool:
            done = list(pool.map(lambda n: endings.storm(self.home, SEED, n, 0), range(STORMS)))
        self.assertEqual({what.partition(":")[0] for what, *_ in done}, set(endings.STAGES), "the seed leaves a stage out")

    def test_calls_in_flight(self):  # L01
        """They end while the hub waits for them; the one that does not has an error that says so."""
        right, cut, *_ = endings.under_load(self.home, SEED, 0, calls=100, longest=1, drain=8)
        self.assertEqual((right, cut), (100, 0))


if __name__ == "__main__":
    main()
