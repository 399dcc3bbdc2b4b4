#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What all clients together make the hub keep (limits.client_memory): who has more than a fair share is refused, who has
less is served, and what was kept is given back."""

from http_client import HttpTest, dump, render
from mcp import fixture, main

MIB = 1 << 20
CLIENTS = 20
HALF = 2 * MIB


class ClientMemory(HttpTest):
    def test_unfinished_bodies(self):
        server = self.http(manifest={"limits": {"client_memory": "8MiB"}})
        message = server.modern_request("tools/list", request_id=1)
        body = dump(message) + b" " * (3 * MIB - len(dump(message)))
        head = render("POST", "/mcp", server.modern_headers(message, {"Content-Length": str(len(body))}))
        halves = [server.connection() for _ in range(CLIENTS)]
        for connection in halves:
            try:
                connection.send(head + body[:HALF])
            except OSError:
                pass  # refused, or let go, before it had said so much
            self.assertEqual(server.modern("tools/list").status, 200)  # who keeps nothing is served
        served = refused = ended = 0
        for connection in halves:
            try:
                reply = connection.send(body[HALF:]).reply()
            except (OSError, AssertionError):
                ended += 1  # let go in favour of who had less
                continue
            self.assertIn(reply.status, (200, 503))
            if reply.status == 503:
                self.assertEqual(reply.header("retry-after"), "1")
                self.assertIn(b"limits.client_memory", reply.body)
            served += reply.status == 200
            refused += reply.status == 503
        for connection in halves:
            connection.close()
        print(f"{CLIENTS} halves of {HALF >> 20} MiB within 8 MiB: {served} served, {refused} refused, {ended} ended", flush=True)
        self.assertEqual(served + refused + ended, CLIENTS)
        self.assertGreaterEqual(refused + ended, CLIENTS - 8 * MIB // HALF)
        self.assertEqual(server.connection().send(head + body).reply().status, 200)  # given back
        self.assertIdle(server)

    def test_all_at_once(self):
        """Idle connections, unfinished bodies, readers that stop: the short form of tests/scale/all_at_once.py."""
        server = self.http(toolsets={"a": fixture("one")}, manifest={"limits": {"client_memory": "16MiB"}})
        idle = [server.connection() for _ in range(100)]
        for connection in idle:
            self.assertEqual(connection.send(render("GET", "/healthz")).reply("GET").status, 200)
        message = server.modern_request("tools/call", {"name": "a__one", "arguments": {"text": "x" * MIB}}, request_id=1)
        body = dump(message)
        head = render("POST", "/mcp", server.modern_headers(message, {"Content-Length": str(len(body))}))
        greedy = [server.connection() for _ in range(2 * CLIENTS)]
        for number, connection in enumerate(greedy):
            try:
                # Half of them have all of it answered, with as much, and read none of that.
                connection.send(head + (body if number % 2 else body[:-1]))
            except OSError:
                pass  # refused, or let go
            self.assertEqual(server.call("a__one").status, 200)
        for connection in idle:
            self.assertEqual(connection.send(render("GET", "/healthz")).reply("GET").status, 200)
        for connection in greedy:
            connection.close()
        self.assertEqual(server.connection().send(head + body).reply().status, 200)  # given back


if __name__ == "__main__":
    main()
