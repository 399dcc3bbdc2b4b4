# SPDX-License-Identifier: Apache-2.0
"""How messages are cut out of the byte stream (MCP basic/transports/stdio; S5.53, S06, P07)."""

import json

from mcp import INVALID_REQUEST, PARSE_ERROR, HubTest, LegacyClient, ModernClient, fixture, main, processes

TOOLSETS = {"alpha": fixture("one")}
PING = b'{"jsonrpc":"2.0","id":%d,"method":"ping"}'
MIB = 1 << 20


class Newlines(HubTest):
    def start(self, **options):
        client = self.legacy(toolsets=TOOLSETS, **options)
        return client, client.hub

    def test_crlf_and_blank_lines(self):
        client, hub = self.start()
        hub.expect("ping", 101, 102)
        hub.send_bytes(b"\n\r\n  \n\t\r\n" + PING % 101 + b"\r\n\n" + PING % 102 + b"\n\r\n")
        self.assertEqual(hub.response(101).result, {})
        self.assertEqual(hub.response(102).result, {})
        client.request("ping")

    def test_byte_by_byte(self):
        client, hub = self.start()
        hub.expect("ping", 101)
        for byte in PING % 101 + b"\n":
            hub.send_bytes(bytes([byte]))
        self.assertEqual(hub.response(101).result, {})

    def test_many_messages_at_once(self):
        client, hub = self.start()
        hub.expect("ping", *range(1000, 1500))
        hub.send_bytes(b"".join(PING % n + b"\n" for n in range(1000, 1500)))
        for n in range(1000, 1500):
            self.assertEqual(hub.response(n).result, {})

    def test_white_space_around_a_message(self):
        client, hub = self.start()
        hub.expect("ping", 101)
        hub.send_bytes(b" \t" + PING % 101 + b" \t \n")
        self.assertEqual(hub.response(101).result, {})

    def test_answers_are_one_line_each(self):
        client, hub = self.start()
        text = "line one\nline two\r\n\u2028\u2029 \u0085 end"
        result = client.call("alpha__one", {"text": text})
        self.assertEqual(result.result["structuredContent"]["arguments"]["text"], text)
        self.assertNotIn("\n", result.raw)

    def test_a_message_at_the_limit_and_one_beyond(self):  # P07
        client, hub = self.start(manifest={"limits": {"client_message": "64KiB"}})
        head = b'{"jsonrpc":"2.0","id":%d,"method":"ping","params":{"x":"'
        for extra, fits in ((0, True), (1, False)):
            start = head % (201 + extra)
            message = start + b"x" * (65536 + extra - len(start) - 3) + b'"}}'
            self.assertEqual(len(message), 65536 + extra)
            since = hub.mark
            if fits:
                hub.expect("ping", 201)
            hub.send_bytes(message + b"\n")
            if fits:
                self.assertEqual(hub.response(201).result, {})
            else:
                error = hub.wait_for(lambda m: "error" in m.data, "an error", since)
                self.assertEqual(error.code, INVALID_REQUEST)
                self.assertNotIn("id", error.data)
                self.assertSays(error.error["message"], "65536")
        self.assertEqual(client.request("ping").result, {})

    def test_an_endless_line_costs_no_memory(self):  # S06
        client, hub = self.start()
        client.barrier()
        before = processes.memory_kib(hub.process.pid)
        since = hub.mark
        chunk = b"x" * MIB
        for _ in range(256):
            hub.send_bytes(chunk)
        error = hub.wait_for(lambda m: "error" in m.data, "the refusal, before the line has ended", since)
        self.assertEqual(error.code, INVALID_REQUEST)
        hub.send_bytes(b"\n")
        self.assertEqual(client.request("ping").result, {})
        self.assertEqual(hub.mark, since + 2, "one refusal for one message")
        after = processes.memory_kib(hub.process.pid, "VmHWM")
        self.assertLess(after - before, 24 * 1024)

    def test_a_byte_order_mark_is_not_json(self):  # P06
        client, hub = self.start()
        since = hub.mark
        hub.send_bytes(b"\xef\xbb\xbf" + PING % 101 + b"\n")
        self.assertEqual(hub.wait_for(lambda m: "error" in m.data, "an error", since).code, PARSE_ERROR)

    def test_the_last_message_may_lack_its_newline(self):
        client, hub = self.start()
        hub.expect("ping", 101)
        hub.send_bytes(PING % 101)
        hub.finish()
        self.assertFalse([m for m in hub.messages if m.id == 101 and "error" in m.data])


class ContentLength(HubTest):
    def test_detected_and_answered_in_kind(self):  # S5.53
        for make in (LegacyClient, ModernClient):
            hub = self.hub(toolsets=TOOLSETS, content_length=True)
            client = make(hub)
            self.assertEqual(client.own_names(), ["alpha__one"])
            self.assertEqual(client.call("alpha__one", {"x": "ü\n"}).result["structuredContent"]["arguments"], {"x": "ü\n"})
            hub.finish()

    def test_header_variants(self):
        hub = self.hub(toolsets=TOOLSETS, content_length=True)
        LegacyClient(hub)
        for n, headers in enumerate(
            (
                b"content-length: %d\r\n\r\n",
                b"CONTENT-LENGTH:%d\r\n\r\n",
                b"Content-Length:   %d  \r\n\r\n",
                b"Content-Type: application/vscode-jsonrpc; charset=utf-8\r\nContent-Length: %d\r\n\r\n",
                b"Content-Length: %d\r\nContent-Type: application/json\r\n\r\n",
            )
        ):
            body = PING % (300 + n)
            hub.expect("ping", 300 + n)
            hub.send_bytes(headers % len(body) + body)
            self.assertEqual(hub.response(300 + n).result, {})

    def test_a_body_with_newlines_inside(self):
        hub = self.hub(toolsets=TOOLSETS, content_length=True)
        client = LegacyClient(hub)
        body = json.dumps({"jsonrpc": "2.0", "id": 77, "method": "ping"}, indent=2)
        hub.send(body)
        self.assertEqual(hub.response(77).result, {})
        client.request("ping")

    def test_a_body_over_the_limit_is_skipped(self):  # P07
        hub = self.hub(toolsets=TOOLSETS, content_length=True, manifest={"limits": {"client_message": "64KiB"}})
        client = LegacyClient(hub)
        since = hub.mark
        hub.send_bytes(b"Content-Length: 65537\r\n\r\n" + b"x" * 65537)
        error = hub.wait_for(lambda m: "error" in m.data, "an error", since)
        self.assertEqual(error.code, INVALID_REQUEST)
        self.assertEqual(client.request("ping").result, {})

    def test_broken_headers_end_the_stream(self):
        # After these nobody knows where the next message begins: the hub says so and ends.
        for bad in (b"Content-Length: -5\r\n\r\n", b"Content-Length: 1x\r\n\r\n", b"Content-Length: 99999999999999999999\r\n\r\n"):
            hub = self.hub(toolsets=TOOLSETS, content_length=True, exit_code=0)
            client = LegacyClient(hub)
            client.request("ping")
            since = hub.mark
            hub.send_bytes(bad)
            error = hub.wait_for(lambda m: "error" in m.data, "an error", since)
            self.assertIn(error.code, (PARSE_ERROR, INVALID_REQUEST))
            hub.wait_exit()
            hub.finish()


if __name__ == "__main__":
    main()
