# SPDX-License-Identifier: Apache-2.0
"""fidelity_relay.py SOCKET: a child process whose stdin and stdout are the Unix socket SOCKET."""

import os
import socket
import sys
import threading


def copy(source, target):
    while data := os.read(source, 1 << 16):
        while data:
            data = data[os.write(target, data) :]


def main():
    server = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    server.connect(sys.argv[1])
    threading.Thread(target=copy, args=[server.fileno(), 1], daemon=True).start()
    copy(0, server.fileno())


if __name__ == "__main__":
    main()
