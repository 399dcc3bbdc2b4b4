# SPDX-License-Identifier: Apache-2.0
"""WebSocket clients that break RFC 6455, go silent, flood, or do not read (RELIABILITY.md W01 to W07): each is
answered with the exact close code, costs a bounded amount, and a bystander notices nothing."""

import base64
import hashlib
import select
import socket
import struct

from evil import LIMITS, EvilTest, half_close, leave, resident_bytes
from http_client import dump, merge, render
from mcp import META, MODERN, Message, main

TEXT, BINARY, CONTINUATION, CLOSE, PING, PONG = 1, 2, 0, 8, 9, 10
KEY = base64.b64encode(b"0123456789abcdef").decode()
UPGRADE = [("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"), ("Sec-WebSocket-Key", KEY)]
MESSAGE_LIMIT = 4 * 1024 * 1024
QUEUED = 8 * 1024 * 1024  # from here on the hub does not read a client that does not


def head(opcode, length, final=True, reserved=0, is_masked=True, size=None):
    """The header of a frame, its mask included (of zeros); `size`: bytes of the length, if not the fewest."""
    size = (0 if length < 126 else 2 if length < 65536 else 8) if size is None else size
    first = (final << 7) | (reserved << 4) | opcode
    short = {0: length, 2: 126, 8: 127}[size]
    longer = length.to_bytes(size, "big") if size else b""
    return bytes([first, (is_masked << 7) | short]) + longer + bytes(4 * is_masked)


def frame(opcode, payload=b"", **options):
    return head(opcode, len(payload), **options) + payload


def closing(code, reason=b""):
    return frame(CLOSE, struct.pack("!H", code) + reason)


def request(method, request_id, **params):
    meta = {META + "protocolVersion": MODERN, META + "clientCapabilities": {}}
    return dump({"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": meta}})


def call(request_id, name="up__echo", **arguments):
    return request("tools/call", request_id, name=name, arguments=arguments)


class WebSocket:
    """A client, as bytes."""

    def __init__(self, server, headers=None, path="/ws", early=b"", receive_buffer=None, connection=None):
        self.connection = connection or server.connection()
        self.socket = self.connection.socket
        if receive_buffer:
            self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, receive_buffer)
        self.connection.send(render("GET", path, merge(UPGRADE, headers)) + early)
        self.head = self.connection.reply("GET")
        server.test.assertEqual(self.head.status, 101, self.head)

    def send(self, data):
        self.connection.send(data)
        return self

    def ask(self, data):
        """Send a message and receive one."""
        return self.send(frame(TEXT, data)).message()

    def next(self):
        """The next frame: (opcode, payload). The hub neither masks nor fragments."""
        first, length = self.connection.take(2)
        if first & 0xF0 != 0x80 or length > 127:
            raise AssertionError(f"a frame of a server begins with {first:02x}{length:02x}")
        if length > 125:
            length = int.from_bytes(self.connection.take(2 if length == 126 else 8), "big")
        return first & 0x0F, self.connection.take(length)

    def message(self):
        """The next message; pings before it are answered."""
        while True:
            opcode, payload = self.next()
            if opcode == PING:
                self.send(frame(PONG, payload))
            elif opcode == TEXT:
                return Message(payload.decode("utf-8"))
            else:
                raise AssertionError(f"expected a message, got a frame {opcode}: {payload!r}")

    def closed(self):
        """The code of the hub's close frame, after which nothing comes."""
        opcode, payload = self.next()
        if opcode != CLOSE:
            raise AssertionError(f"expected a close frame, got {opcode}: {payload!r}")
        self.connection.wait_closed()
        payload[2:].decode("utf-8")
        return struct.unpack("!H", payload[:2])[0] if payload else None


class Handshakes(EvilTest):
    def test_what_is_answered(self):  # W01
        accept = base64.b64encode(hashlib.sha1((KEY + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11").encode()).digest()).decode()
        for offered, chosen in ((None, None), ("mcp", "mcp"), ("chat, mcp", "mcp"), ("chat", None)):
            client = WebSocket(self.server, {"Sec-WebSocket-Protocol": offered, "Sec-WebSocket-Extensions": "permessage-deflate"})
            self.assertEqual(client.head.header("sec-websocket-accept"), accept)
            self.assertEqual(client.head.header("sec-websocket-protocol"), chosen)
            self.assertIsNone(client.head.header("sec-websocket-extensions"))
            self.assertEqual(client.ask(call(offered or "none")).id, offered or "none")
            self.assertEqual(client.send(closing(1000)).closed(), 1000)
        self.assertUnharmed(calls=4)

    def test_frames_that_come_with_the_handshake(self):
        client = WebSocket(self.server, early=frame(TEXT, call(1)) + frame(TEXT, call(2)) + frame(PING, b"x") + closing(1000))
        found = [client.next() for _ in range(2)]
        self.assertIn((PONG, b"x"), found)
        leave(client.connection)
        self.wait_links_gone()
        evil = WebSocket(self.server, early=frame(TEXT, b"{}", is_masked=False))
        self.assertEqual(evil.closed(), 1002)
        self.assertUnharmed(calls=2)

    def test_an_upgrade_that_is_not_the_first_request(self):
        for method, path, more, status in (
            ("GET", "/healthz", {"Upgrade": "foo"}, 200),
            ("GET", "/healthz", {}, 200),
            ("GET", "/mcp", {"Upgrade": "foo"}, 405),
            ("GET", "/ws", {"Upgrade": "foo"}, 426),
            ("POST", "/ws", {}, 405),
        ):
            connection = self.server.connection()
            self.assertEqual(connection.send(render("GET", "/healthz")).reply().status, 200)
            self.assertEqual(connection.send(render(method, path, merge(UPGRADE, more))).reply().status, status)
            self.assertEqual(connection.send(render("GET", "/healthz")).reply().status, 200)
            connection.close()
        late = self.server.connection()
        self.assertEqual(late.send(render("GET", "/healthz")).reply().status, 200)
        client = WebSocket(self.server, connection=late)
        client.send(render("GET", "/healthz"))  # which is a frame with a reserved bit now
        self.assertEqual(client.closed(), 1002)
        self.assertUnharmed()

    def test_refused_handshakes_leave_nothing(self):  # W01
        for status, more in (
            (403, {"Origin": "http://evil.example"}),
            (403, {"Origin": "http://localhost.evil.example"}),
            (403, {"Host": "evil.example"}),
            (426, {"Sec-WebSocket-Version": "12"}),
            (426, {"Upgrade": None}),
            (400, {"Sec-WebSocket-Key": None}),
            (400, {"Sec-WebSocket-Key": "AAAA"}),
            (400, {"Sec-WebSocket-Key": KEY + ", " + KEY}),
        ):
            for path in ("/ws", "/ws/default"):
                with self.subTest(more=more, path=path):
                    connection = self.server.connection()
                    connection.send(render("GET", path, merge(UPGRADE, more)))
                    self.refusal(connection.reply("GET"), status)
                    # No frame was taken for a request, no request for a frame.
                    connection.send(render("GET", "/healthz"))
                    self.assertEqual(connection.reply("GET").body, b'{"status":"ok"}')
                    connection.close()
        self.assertUnharmed()


class Frames(EvilTest):
    def test_frames_that_break_the_protocol(self):  # W02
        text = frame(TEXT, b"{}")
        begun = frame(TEXT, b"{", final=False)
        bad = b"\xc3\x28"
        cases = [(1002, frame(TEXT, b"{}", is_masked=False)), (1002, frame(PING, is_masked=False)), (1002, frame(CLOSE, is_masked=False))]
        cases += [(1002, frame(opcode, b"{}", reserved=bits)) for bits in range(1, 8) for opcode in (TEXT, PING, CLOSE)]
        cases += [(1002, frame(opcode, b"{}")) for opcode in (3, 4, 5, 6, 7, 11, 12, 13, 14, 15)]
        cases += [(1002, frame(opcode, final=False)) for opcode in (CLOSE, PING, PONG)]
        cases += [(1002, head(opcode, 126)) for opcode in (CLOSE, PING, PONG)]
        cases += [(1002, head(TEXT, n, size=size)) for n, size in ((125, 2), (125, 8), (65535, 8), (0, 2))]
        cases += [(1002, frame(CONTINUATION, b"{}")), (1002, frame(CONTINUATION, b"{}", final=False))]
        cases += [(1002, begun + text), (1002, begun + frame(TEXT, b"}", final=False))]
        cases += [(1003, frame(BINARY, b"{}")), (1003, frame(BINARY))]
        cases += [(1007, frame(TEXT, data)) for data in (bad, b"\xff", b"\xed\xa0\x80", b"\xc0\xaf", b"\xf4\x90\x80\x80", b'"\xe2\x82')]
        cases += [(1007, begun + frame(CONTINUATION, b"\xff")), (1007, frame(TEXT, b"\xe2\x82", final=False) + frame(CONTINUATION, b"}"))]
        cases += [(1002, frame(CLOSE, b"\x03")), (1007, closing(1000, bad)), (1002, head(CLOSE, 126))]
        cases += [(1002, closing(code)) for code in (0, 999, 1004, 1005, 1006, 1015, 1016, 1100, 2000, 2999, 5000, 65535)]
        for code, data in cases:
            for before in (b"", begun + frame(CONTINUATION, b"}")) if not data.startswith(begun) else (b"",):
                with self.subTest(code=code, data=data, before=before):
                    client = WebSocket(self.server)
                    if before:
                        self.assertEqual(client.send(before).message().code, -32600)
                    # What follows is not looked at any more.
                    self.assertEqual(client.send(data + frame(TEXT, call("late"))).closed(), code)
                    client.connection.close()
        self.assertUnharmed()

    def test_closing(self):
        for code in (1000, 1001, 1002, 1003, 1007, 1008, 1009, 1010, 1011, 3000, 3999, 4000, 4999):
            self.assertEqual(WebSocket(self.server).send(closing(code, "später".encode())).closed(), code)
        self.assertIsNone(WebSocket(self.server).send(frame(CLOSE)).closed())
        within = frame(TEXT, b"{", final=False) + closing(1000)
        self.assertEqual(WebSocket(self.server).send(within).closed(), 1000)
        self.assertEqual(WebSocket(self.server).send(closing(1000) + frame(TEXT, call("late")) * 10).closed(), 1000)
        self.assertUnharmed()

    def test_lengths_that_are_announced(self):  # W03
        for code, length in ((1009, MESSAGE_LIMIT + 1), (1009, 2**31), (1009, 2**32), (1009, 2**40), (1009, 2**63 - 1), (1002, 2**63), (1002, 2**64 - 1)):
            with self.subTest(length=length):
                self.assertEqual(WebSocket(self.server).send(head(TEXT, length, size=8)).closed(), code)
                # Before the mask, and within a message.
                self.assertEqual(WebSocket(self.server).send(head(TEXT, length, size=8)[:10]).closed(), code)
                begun = frame(TEXT, b"{", final=False)
                self.assertEqual(WebSocket(self.server).send(begun + head(CONTINUATION, length, size=8)).closed(), code)
        before = resident_bytes(self.server.hub.process.pid)
        clients = [WebSocket(self.server).send(frame(PING) + head(TEXT, MESSAGE_LIMIT)) for _ in range(100)]
        for client in clients:  # its header has been read with the ping: no memory is taken for what has not come
            self.assertEqual(client.next(), (PONG, b""))
        self.bystander.call()
        self.assertLess(resident_bytes(self.server.hub.process.pid) - before, 100 * MESSAGE_LIMIT // 8)
        for client in clients:
            leave(client.connection)
        self.assertUnharmed()

    def test_a_message_at_the_limit(self):  # P07
        message = call("big", text="")
        fitting = call("big", text="x" * (MESSAGE_LIMIT - len(message)))
        self.assertEqual(len(fitting), MESSAGE_LIMIT)
        client = WebSocket(self.server)
        whole = frame(TEXT, fitting, final=False)
        for frames in (
            frame(TEXT, fitting),
            frame(TEXT, fitting[:1000], final=False) + frame(CONTINUATION, fitting[1000:]),
            whole + frame(CONTINUATION),
        ):
            self.assertEqual(client.send(frames).message().id, "big")
        self.assertEqual(client.send(whole + frame(CONTINUATION, b" ")).closed(), 1009)
        self.assertUnharmed(calls=3)

    def test_fragments(self):  # W04
        message = call("f", text="ä" * 600)
        pieces = [message[at : at + 1] for at in range(1024)]
        pieces[-1] = message[1023:]
        self.assertGreater(len(message), 1024)
        frames = [frame(TEXT if at == 0 else CONTINUATION, piece, final=at == 1023) for at, piece in enumerate(pieces)]
        client = WebSocket(self.server).send(b"".join(frames))
        self.assertEqual(client.message().id, "f")
        # Control frames may come in between.
        client.send(frame(PING, b"between").join(frames[:3]) + b"".join(frames[3:]))
        self.assertEqual([client.next(), client.next()], [(PONG, b"between")] * 2)
        self.assertEqual(client.message().id, "f")
        client.connection.close()
        flood = frame(TEXT, final=False) + frame(CONTINUATION, final=False) * 1024
        self.assertEqual(WebSocket(self.server).send(flood).closed(), 1008)
        evil = WebSocket(self.server)
        try:
            evil.send(frame(TEXT, final=False) + frame(CONTINUATION, final=False) * 100000)
        except (BrokenPipeError, ConnectionResetError):
            pass  # it was cut before it had said everything
        self.assertEqual(evil.next()[1][:2], struct.pack("!H", 1008))
        evil.connection.close()
        self.assertUnharmed(calls=2)

    def test_what_is_no_message(self):  # P01: the channel stays usable
        client = WebSocket(self.server)
        for text, code in ((b"", -32700), (b"{", -32700), (b"[]", -32600), (b"1", -32600), (b'{"jsonrpc":"2.0","id":1}', -32600), (b'{"a":' * 100000, -32600)):
            answer = client.ask(text)
            self.assertEqual(answer.code, code, text[:50])
        self.assertEqual(client.ask(call("good")).id, "good")
        self.assertEqual(client.send(closing(1000)).closed(), 1000)
        self.assertUnharmed(calls=1)

    def test_mutants(self):  # W02: whatever comes, it is answered or closed, and costs nobody anything
        good = frame(TEXT, call("m"))
        state = 1
        for _ in range(300):
            data = bytearray(good)
            for _ in range(3):
                state = state * 6364136223846793005 + 1442695040888963407 & (1 << 64) - 1
                at = (state >> 33) % (16 if state >> 63 else len(data))
                data[at] = state >> 40 & 0xFF
            client = WebSocket(self.server).send(bytes(data) + closing(1000))
            half_close(client.connection)
            while client.connection.fill():
                pass
            client.connection.close()
        self.bystander.call()
        self.wait_links_gone()
        self.assertIdle(self.server)


class Leaving(EvilTest):
    def test_gone_without_a_word(self):  # W05
        for ending in (leave, half_close):
            for sent in (b"", frame(TEXT, b"{", final=False), b"\x81", head(TEXT, 1000) + b"x" * 999, frame(PING)):
                for _ in range(10):
                    client = WebSocket(self.server).send(sent)
                    ending(client.connection)
        self.assertUnharmed()

    def test_gone_in_mid_call(self):  # W05, P17
        for ending in (leave, half_close, lambda connection: connection.send(closing(1001))):
            calls, mark = len(self.foreign_calls()), self.upstream.mark
            client = WebSocket(self.server).send(frame(TEXT, call("held", "up__hold")))
            self.upstream.wait_calls(1, mark)
            ending(client.connection)
            self.upstream.wait_line(lambda m: m.get("method") == "notifications/cancelled", "the cancellation", mark)
            self.assertEqual(len(self.foreign_calls()), calls + 1)
        self.assertUnharmed(calls=3)

    def test_the_hub_says_why_it_leaves(self):
        clients = [WebSocket(self.server) for _ in range(5)]
        clients[0].send(frame(TEXT, b"{", final=False))
        self.server.hub.close_stdin()
        for client in clients:
            self.assertEqual(client.closed(), 1001)


class Silence(EvilTest):
    limits = {**LIMITS, "ping_interval": "300ms", "pong_timeout": "10s", "body_timeout": "3s"}

    def test_half_open(self):  # W05
        silent = [WebSocket(self.server) for _ in range(20)]
        lively = WebSocket(self.server)
        for _ in range(8):
            opcode, payload = lively.next()
            self.assertEqual(opcode, PING)
            lively.send(frame(PONG, payload))
        for client in silent:
            self.assertEqual(client.next()[0], PING)
            client.connection.wait_closed()
        self.assertEqual(lively.ask(call(1)).id, 1)
        lively.connection.close()
        self.assertUnharmed(calls=1)

    def test_a_message_that_does_not_end(self):  # W04
        for begin, more in ((head(TEXT, 100000), b"x"), (frame(TEXT, b"{", final=False), frame(PONG)), (frame(TEXT, b"{", final=False), frame(CONTINUATION, b" ", final=False))):
            client = WebSocket(self.server).send(begin)
            opcode = PING
            while opcode == PING:  # a byte now and then, until the hub has had enough
                while client.connection.is_quiet() and not select.select([client.socket], [], [], 0.05)[0]:
                    client.send(more)
                opcode, payload = client.next()
            self.assertEqual((opcode, payload[:2]), (CLOSE, struct.pack("!H", 1008)))
            client.connection.close()
        self.assertUnharmed()


class Floods(EvilTest):
    def test_pings(self):  # W07
        client = WebSocket(self.server)
        client.send(frame(PING, b"x" * 125) * 100)
        self.assertEqual({client.next() for _ in range(100)}, {(PONG, b"x" * 125)})
        for control in (PING, PONG):
            evil = WebSocket(self.server)
            try:
                evil.send(frame(control, b"x") * 100000)
            except (BrokenPipeError, ConnectionResetError):
                pass
            opcode, payload = evil.next()
            while opcode == PONG:
                opcode, payload = evil.next()
            self.assertEqual((opcode, payload[:2]), (CLOSE, struct.pack("!H", 1008)))
            evil.connection.close()
        client.connection.close()
        self.assertUnharmed()

    def test_small_requests(self):  # W07: slowed down at most, never dropped
        client = WebSocket(self.server)
        count = 3000
        for at in range(0, count, 100):
            client.send(b"".join(frame(TEXT, request("ping" if n % 2 else "tools/list", n)) for n in range(at, at + 100)))
            self.bystander.call()
            self.assertEqual([client.message().id for _ in range(100)], list(range(at, at + 100)))
        client.connection.close()
        self.assertUnharmed()

    def test_one_who_does_not_read(self):  # W06, R01
        limits = {**LIMITS, "client_queue": "1MiB", "stall_timeout": "500ms"}
        self.begin(self.http(toolsets={"up": self.upstream.toolset()}, manifest={"limits": limits}))
        evil = WebSocket(self.server, receive_buffer=4096)
        before = resident_bytes(self.server.hub.process.pid)
        evil.send(b"".join(frame(TEXT, call(n, "up__huge", bytes=400000)) for n in range(50)))
        while self.sockets() > self.sockets_before:
            self.bystander.call()
            self.assertLess(resident_bytes(self.server.hub.process.pid) - before, 64 << 20)
        evil.connection.close()
        self.bystander.call()
        self.assertIdle(self.server)

    def test_one_who_asks_and_does_not_read(self):  # W06, W07
        evil = WebSocket(self.server, receive_buffer=4096)
        tools = frame(TEXT, request("tools/list", 1))
        most = (64 << 20) // len(tools)  # more than the system keeps of what is sent, and not read
        sent = 0
        evil.socket.settimeout(1)
        before = resident_bytes(self.server.hub.process.pid)
        try:
            while sent < most:  # answers of more than QUEUED: the hub stops reading, and so the test cannot write
                evil.send(tools * 100)
                sent += 100
        except (TimeoutError, BrokenPipeError, ConnectionResetError):
            pass
        self.assertLess(sent, most)
        self.assertLess(resident_bytes(self.server.hub.process.pid) - before, 4 * QUEUED)
        self.bystander.call()
        leave(evil.connection)
        self.assertUnharmed()


if __name__ == "__main__":
    main()
