# SPDX-License-Identifier: Apache-2.0
"""Clients that are slow, on purpose or not (RELIABILITY.md H10, R01): each costs the hub a bounded time and a
bounded amount of memory, and nobody else anything."""

import select
import socket

from http_client import HttpTest, render
from mcp import fixture, main, tool

# So long that who is in time is so whatever else the machine does; tests wait for several at a time.
LIMITS = {"header_timeout": "4s", "body_timeout": "4s", "idle_timeout": "4s", "sse_comment": "500ms"}


class Deadlines(HttpTest):
    def setUp(self):
        super().setUp()
        self.server = self.http(manifest={"limits": LIMITS})

    def late(self, *beginnings):
        """The hub hangs up on clients that go on sending one byte now and then, with an answer that says so."""
        waiting = [self.server.connection().send(beginning) for beginning in beginnings]
        while waiting:
            heard = select.select([connection.socket for connection in waiting], [], [], 0.05)[0]
            for connection in waiting[:]:
                if connection.socket in heard:
                    self.refusal(connection.reply(), 408)
                    connection.wait_closed()
                    waiting.remove(connection)
                else:
                    connection.send(b"a")

    def test_heads_that_never_end(self):
        self.late(b"GET /healthz HTTP/1.1\r\nHost: localhost\r\nX: ", b"G")
        self.assertIdle(self.server)

    def test_bodies_that_never_end(self):
        message = self.server.modern_request("tools/list")
        length = self.server.modern_headers(message, {"Content-Length": "100000"})
        chunked = self.server.modern_headers(message, {"Transfer-Encoding": "chunked"})
        self.late(render("POST", "/mcp", length), render("POST", "/mcp", chunked) + b"10000\r\n")
        self.assertIdle(self.server)

    def test_the_silent_are_let_go_without_a_word(self):
        connections = [self.server.connection() for _ in range(50)]
        for connection in connections[:25]:  # blank lines are no request
            connection.send(b"\r\n")
        kept = self.server.connection()
        self.assertEqual(kept.send(render("GET", "/healthz")).reply("GET").status, 200)
        for connection in [*connections, kept]:
            connection.wait_closed()

    def test_one_who_asks_again_in_time_is_kept(self):
        server = self.http(manifest={"limits": {**LIMITS, "idle_timeout": "6s", "sse_comment": "2s"}})
        connection = server.connection()
        clock = server.listen(toolsListChanged=True)
        for _ in range(6):
            self.assertEqual(connection.send(render("GET", "/healthz")).reply("GET").status, 200)
            clock.wait_comment()  # 2 s and a little
        connection.wait_closed()

    def test_a_call_may_take_longer_than_any_of_these(self):
        recorder = self.recorder()
        server = self.http(toolsets={"up": recorder.toolset()}, manifest={"limits": {**LIMITS, "sse_comment": "1h"}})
        clock = self.server.listen(toolsListChanged=True)
        connection = server.connection()
        connection.send(server.modern_bytes("tools/call", {"name": "up__hold", "arguments": {}}))
        line = recorder.wait_calls(1)[0]
        for _ in range(12):  # 6 s
            clock.wait_comment()
        self.assertTrue(connection.is_quiet())
        recorder.answer(line)
        self.assertIn("result", connection.reply().message.data)


class SlowReaders(HttpTest):
    def test_one_who_does_not_read_is_cut_off(self):  # R01, H13
        recorder = self.recorder()
        limits = {"client_queue": "1MiB", "stall_timeout": "500ms", "sse_comment": "500ms"}
        server = self.http(toolsets={"up": recorder.toolset()}, manifest={"limits": limits})
        huge = {"name": "up__huge", "arguments": {"bytes": 400000}}
        stopped = server.connection()
        stopped.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        stopped.send(b"".join(server.modern_bytes("tools/call", huge) for _ in range(50)))
        honest = server.connection()
        clock = server.listen(toolsListChanged=True)
        is_open = True
        while is_open:
            clock.wait_comment()
            self.assertEqual(honest.send(server.modern_bytes("tools/list")).reply().status, 200)
            try:
                stopped.send(b"x")
            except (ConnectionResetError, BrokenPipeError):
                is_open = False
        self.assertLess(len(recorder.sync().lines("tools/call")), 50)  # what was not asked for was not done
        self.assertIdle(server)

    def test_one_who_reads_slowly_gets_everything(self):
        recorder = self.recorder()
        server = self.http(toolsets={"up": recorder.toolset()}, manifest={"limits": {"client_queue": "1MiB"}})
        huge = {"name": "up__huge", "arguments": {"bytes": 400000}}
        connection = server.connection()
        connection.send(b"".join(server.modern_bytes("tools/call", huge) for _ in range(50)))
        for _ in range(50):
            self.assertEqual(connection.reply().status, 200)
        self.assertEqual(connection.send(render("GET", "/healthz")).reply("GET").status, 200)

    def test_one_who_asks_for_much_at_once_gets_everything(self):
        tools = [tool(f"t{n}", description="x" * 2000) for n in range(50)]
        server = self.http(toolsets={"a": fixture(*tools)}, manifest={"limits": {"client_queue": "1MiB"}})
        connection = server.connection()
        connection.send(b"".join(server.modern_bytes("tools/list", request_id=n) for n in range(100)))
        for number in range(100):
            self.assertEqual(connection.reply().message.id, number)

    def test_an_answer_that_is_larger_than_what_may_wait(self):
        recorder = self.recorder()
        server = self.http(toolsets={"up": recorder.toolset()}, manifest={"limits": {"client_queue": "256KiB"}})
        connection = server.connection()
        connection.send(server.modern_bytes("tools/call", {"name": "up__huge", "arguments": {"bytes": 1000000}}))
        connection.wait_closed()
        self.assertEqual(server.modern("tools/list").status, 200)


if __name__ == "__main__":
    main()
