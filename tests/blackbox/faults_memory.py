# SPDX-License-Identifier: Apache-2.0
"""Memory runs out for a moment: allocation N fails, for one N after the other (tests/support/faults.py says what must hold).

By default some twenty of the allocations of a scenario, spread over all of it; with PATCHBAY_ROUNDS=N so many, with
PATCHBAY_ROUNDS=all every one.
"""

from faults_calls import FaultTest
from mcp import main, rounds

from faults import NetworkRun  # in tests/support, which mcp makes known


class Memory(FaultTest):
    def test_an_allocation_fails(self):
        self.sweep("malloc", rounds(20, None))

    def test_an_allocation_for_a_vhost_fails(self):
        """libwebsockets does not look at all of them: the hub has to, or its first connection is its last."""
        self.sweep("vhost", None)

    def test_an_allocation_for_the_network_fails(self):
        self.sweep("malloc", rounds(20, None), NetworkRun)


if __name__ == "__main__":
    main()
