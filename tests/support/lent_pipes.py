#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A child process whose stdin and stdout are in the hands of a test: lent_pipes.py SOCKET

They are passed over the Unix socket that the test listens on. The test says how the process ends: one byte, the exit
code, and a text for stderr before it. It ends with the test, too.
"""

import os
import socket
import sys

peer = socket.socket(socket.AF_UNIX)
peer.connect(sys.argv[1])
socket.send_fds(peer, [b"%d" % os.getpid()], [0, 1])
os.close(0)
os.close(1)
said = peer.recv(65536)
os.write(2, said[1:])
os._exit(said[0] if said else 0)
