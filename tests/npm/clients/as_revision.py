#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run a command as an MCP server over stdio, and ask it for one revision, whichever its client would ask for.

    as_revision.py REVISION COMMAND [ARGUMENT…]
"""

import json
import subprocess
import sys


def main():
    revision, *command = sys.argv[1:]
    with subprocess.Popen(command, stdin=subprocess.PIPE) as server:
        for line in sys.stdin.buffer:
            if b'"initialize"' in line:
                message = json.loads(line)
                message["params"]["protocolVersion"] = revision
                line = json.dumps(message).encode() + b"\n"
            server.stdin.write(line)
            server.stdin.flush()
        server.stdin.close()
        return server.wait()


if __name__ == "__main__":
    sys.exit(main())
