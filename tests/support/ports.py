# SPDX-License-Identifier: Apache-2.0
"""A port that is nobody else's, for a server that is started later, or goes and comes back."""

import socket


def reserve(host="127.0.0.1"):
    """A socket that is bound to a free port and never listens: who connects is refused, nobody is given the port by
    chance, and a server that sets SO_REUSEADDR can listen on it, as often as it likes, until the socket is closed."""
    reserved = socket.socket()
    reserved.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    reserved.bind((host, 0))
    return reserved


def port_of(reserved):
    return reserved.getsockname()[1]
