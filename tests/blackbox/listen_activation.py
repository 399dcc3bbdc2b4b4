# SPDX-License-Identifier: Apache-2.0
"""Sockets that systemd hands over by name (sd_listen_fds(3)), beside those that the hub opens itself."""

import http.client
import json
import os
import re
import signal
import socket
import stat
import subprocess

from mcp import TIMEOUT, HubTest, hub_command, hub_environment, main

OK, LISTEN = 0, 4


def listening(family=socket.AF_INET, address=("127.0.0.1", 0), shared=False):
    one = socket.socket(family, socket.SOCK_STREAM)
    if shared:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEPORT, 1)
    one.bind(address)
    one.listen(16)
    return one


class Activation(HubTest):
    def start(self, sockets, listen, name="hub"):
        """A hub that is handed these sockets, by name, from descriptor 3 on; they are closed here."""
        manifest = {"hub": {"name": name}, "listen": [listen], "toolsets": {"clock": {"module": "time"}}}
        command = hub_command(manifest=manifest, home=self.home)
        # The process that the shell becomes is the one that is meant: LISTEN_PID.
        fds = [one.fileno() for one in sockets.values()]
        moves = "".join(f"exec {50 + i}<&{fd}; " for i, fd in enumerate(fds))  # none is in the way of another
        moves += "".join(f"exec {3 + i}<&{50 + i} {50 + i}<&-; " for i in range(len(fds)))
        names = ":".join(sockets)
        script = f'{moves}export LISTEN_PID=$$ LISTEN_FDS={len(sockets)} LISTEN_FDNAMES="{names}"; exec "$@"'
        process = subprocess.Popen(
            ["bash", "-c", script, "bash", command[0], "serve", *command[1:]], stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE, text=True, cwd=self.home, env=hub_environment(self.home, {}),
            pass_fds=fds)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.wait, TIMEOUT)
        self.addCleanup(process.kill)
        for one in sockets.values():
            one.close()
        return process

    def ready(self, process):
        said = ""
        for line in process.stderr:
            said += line
            if "listen.ready" in line:
                return line
        self.fail(f"it does not listen: {said}")

    def end(self, process):
        process.send_signal(signal.SIGTERM)
        process.stderr.read()
        self.assertEqual(process.wait(TIMEOUT), OK)

    def test_http_by_name(self):
        one = listening()
        port = one.getsockname()[1]
        process = self.start({"other": listening(), "web": one}, {"http": f"127.0.0.1:{port}", "activation": "web"})
        self.assertIn(f"127.0.0.1:{port}", self.ready(process))
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        connection.request("GET", "/healthz")
        self.assertEqual(connection.getresponse().status, 200)
        connection.close()
        self.end(process)

    def test_unix_by_name(self):
        path = self.home / "s"
        process = self.start({"s": listening(socket.AF_UNIX, str(path))}, {"unix": str(path), "activation": "s"})
        self.assertIn(str(path), self.ready(process))
        with socket.socket(socket.AF_UNIX) as client:
            client.connect(str(path))
            client.sendall(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
            self.assertIn(b'"id":1', client.recv(4096))
        self.end(process)
        self.assertTrue(stat.S_ISSOCK(path.stat().st_mode), "systemd's file stays")

    def test_elsewhere(self):
        """A socket that listens somewhere else is not taken for that address."""
        for address in (("0.0.0.0", 0), ("127.0.0.1", 0)):
            one = listening(address=address)
            port = one.getsockname()[1] + (address[0] == "127.0.0.1")
            process = self.start({"web": one}, {"http": f"127.0.0.1:{port}", "activation": "web"})
            self.assertIn("listens elsewhere", process.stderr.read())
            self.assertEqual(process.wait(TIMEOUT), LISTEN)
        one = listening(socket.AF_UNIX, str(self.home / "a"))
        process = self.start({"s": one}, {"unix": str(self.home / "b"), "activation": "s"})
        self.assertIn("listens elsewhere", process.stderr.read())
        self.assertEqual(process.wait(TIMEOUT), LISTEN)

    def name_at(self, port):
        """The name of the hub that a new connection gets to."""
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=TIMEOUT)
        params = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "test", "version": "1"}}
        body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": params})
        headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream"}
        connection.request("POST", "/mcp", body, headers)
        name = re.search(rb'"serverInfo":\{"name":"(\w+)"', connection.getresponse().read()).group(1)
        connection.close()
        return name.decode()

    def test_one_address_for_several(self):
        """As packaging/systemd/replicas.socket: the kernel gives connections to all, then to those that are left."""
        first = listening(shared=True)
        port = first.getsockname()[1]
        second = listening(address=("127.0.0.1", port), shared=True)
        listen = {"http": f"127.0.0.1:{port}", "activation": "http"}
        hubs = {name: self.start({"http": one}, listen, name) for name, one in (("one", first), ("two", second))}
        for hub in hubs.values():
            self.ready(hub)
        self.assertEqual({self.name_at(port) for _ in range(64)}, {"one", "two"})  # but for one time in 2^63
        self.end(hubs.pop("one"))
        self.assertEqual({self.name_at(port) for _ in range(8)}, {"two"})
        self.end(hubs.pop("two"))

    def test_without_one(self):
        process = self.start({}, {"http": "127.0.0.1:0", "activation": "web"})
        self.assertIn("127.0.0.1", self.ready(process))
        self.end(process)


if __name__ == "__main__":
    main()
