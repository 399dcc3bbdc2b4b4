# SPDX-License-Identifier: Apache-2.0
"""Upstreams over a Unix socket: a hub behind a hub, servers of both eras, and those that are not there or go.

MCP 2026-07-28 basic/transports/stdio (the framing); REQUIREMENTS S4.1-S4.50, RELIABILITY U01, U03, U30, U31.
"""

import contextlib
import json
import os
import socket
import subprocess
import sys
import threading

from mcp import NEWEST_LEGACY, SUPPORT, TIMEOUT, HubTest, LegacyClient, ModernClient, fixture, main

PATH_BYTES = 107  # unix(7), less a NUL


class Socket:
    """A server that listens on a Unix socket and starts the recorder for each connection."""

    def __init__(self, test, recorder, *flags, path=None, backlog=8):
        self.path = str(path or test.home / "up.sock")
        self.argv = [sys.executable, "-SE", str(SUPPORT / "recorder_server.py"), "--control", recorder.path, *flags]
        self.runs = []
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(backlog)
        test.addCleanup(self.close)

    def serve(self):
        threading.Thread(target=self._serve, daemon=True).start()
        return self

    def _serve(self):
        with contextlib.suppress(OSError):
            while True:
                connection, _ = self.listener.accept()
                with connection:
                    self.runs.append(subprocess.Popen(self.argv, stdin=connection, stdout=connection))

    def leave(self):
        """Stop listening, and end what was started."""
        self.close()
        os.unlink(self.path)

    def close(self):
        with contextlib.suppress(OSError):
            self.listener.shutdown(socket.SHUT_RDWR)
        self.listener.close()
        for run in self.runs:
            run.terminate()
            run.wait(TIMEOUT)


class Lines:
    """A server in this process: one connection, read and written as bytes."""

    def __init__(self, test, path=None):
        self.path = str(path or test.home / "raw.sock")
        self.listener = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.listener.bind(self.path)
        self.listener.listen(8)
        self.listener.settimeout(TIMEOUT)
        self.connection = None
        self.lines = None
        test.addCleanup(self.listener.close)
        test.addCleanup(self.hang_up)

    def accept(self):
        self.connection, _ = self.listener.accept()
        self.connection.settimeout(TIMEOUT)
        self.lines = self.connection.makefile("rb")
        return self

    def next(self, method=None):
        """The next message; of that method, and the others before it are passed over."""
        while True:
            line = self.lines.readline()
            if not line:
                return None
            message = json.loads(line)
            if method in (None, message.get("method")):
                return message

    def send(self, data):
        self.connection.sendall(data if isinstance(data, bytes) else json.dumps(data).encode() + b"\n")

    def reply(self, request, **members):
        self.send({"jsonrpc": "2.0", "id": request["id"], **members})

    def open(self):
        """Take the connection through the handshake of a legacy server with one tool, `hold`."""
        self.accept()
        self.reply(self.next("server/discover"), error={"code": -32601, "message": "Method not found"})
        return self.greet()

    def greet(self):
        served = {"name": "raw", "version": "1"}
        self.reply(
            self.next("initialize"),
            result={"protocolVersion": NEWEST_LEGACY, "capabilities": {"tools": {}}, "serverInfo": served},
        )
        self.reply(self.next("tools/list"), result={"tools": [{"name": "hold", "inputSchema": {"type": "object"}}]})
        return self

    def hang_up(self):
        if self.connection is not None:
            with contextlib.suppress(OSError):
                self.connection.shutdown(socket.SHUT_RDWR)
            self.lines.close()
            self.connection.close()
            self.connection = None


class UnixTest(HubTest):
    def start(self, path, kind=LegacyClient, scheme="unix://", **keys):
        """A client of a hub with the server at this path, called `up`."""
        return kind(self.hub(toolsets={"up": {"url": f"{scheme}{path}", **keys}}))

    def served(self, *flags, **options):
        recorder = self.recorder()
        return recorder, Socket(self, recorder, *flags, **options).serve()

    def text(self, answer):
        return answer.result["content"][0]["text"]

    def failure(self, answer):
        return answer.tool_error["message"]


class Serving(UnixTest):
    def test_both_eras_and_both_spellings(self):
        for era, first in (("legacy", "initialize"), ("modern", "server/discover")):
            for scheme in ("unix://", "unix:", "UNIX://"):
                for kind in (LegacyClient, ModernClient):
                    with self.subTest(era=era, scheme=scheme, kind=kind):
                        recorder, server = self.served("--era", era)
                        client = self.start(server.path, kind, scheme)
                        self.assertIn("up__echo", client.names())
                        self.assertIn("result", client.call("up__echo", {"a": 1}).data)
                        self.assertEqual(len(recorder.sync().starts), 1)
                        self.assertTrue(recorder.lines(first))
                        client.hub.finish()
                        recorder.wait_gone()
                        server.leave()

    def test_a_hub_behind_a_hub(self):
        far = self.recorder()
        path = self.home / "far.sock"
        inner = self.daemon("--unix", path, toolsets={"far": far.toolset("--content"), "alpha": fixture("one")})
        inner.listening()
        for kind in (LegacyClient, ModernClient):
            with self.subTest(kind):
                client = kind(self.hub(toolsets={"up": {"url": f"unix://{path}"}}))
                self.assertIn("up__far__echo", client.names())
                since = client.hub.mark
                client.call("up__far__progress", meta={"progressToken": "mine"}).result
                told = client.hub.notifications("notifications/progress", since)
                self.assertEqual([m.params["progressToken"] for m in told], ["mine"] * 3)
                uris = [r["uri"] for r in client.request("resources/list").result["resources"]]
                self.assertTrue(any(uri.endswith("rec:///one") for uri in uris))
                held = client.send_call("up__far__hold")
                self.assertTrue(far.wait_calls(1))
                since = far.mark
                client.cancel(held)
                far.wait_request("notifications/cancelled", since)
                client.hub.finish()

    def test_changes_are_told(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                recorder, server = self.served("--era", era)
                client = self.start(server.path, cache=False)
                client.names()
                recorder.wait_request("subscriptions/listen" if era == "modern" else "tools/list")
                since = client.hub.mark
                recorder.command(tools=json.dumps([{"name": "more", "inputSchema": {"type": "object"}}]))
                recorder.command(notify=1)
                client.wait_list_changed(since)
                self.assertEqual(client.own_names(), ["up__more"])
                client.hub.finish()
                recorder.wait_gone()
                server.leave()

    def test_questions(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                recorder, server = self.served("--content", "--era", era)
                client = LegacyClient(
                    self.hub(toolsets={"up": {"url": f"unix://{server.path}"}}), capabilities={"elicitation": {}}
                )
                client.hub.answers["elicitation/create"] = lambda params: {"action": "accept", "content": {"a": "b"}}
                params = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
                answer = client.call("up__ask", {"method": "elicitation/create", "params": params})
                self.assertIn('"accept"', json.dumps(answer.result["structuredContent"]))
                client.hub.finish()
                recorder.wait_gone()
                server.leave()

    def test_a_protocol_that_is_configured(self):
        recorder, server = self.served("--revision", "2025-06-18")
        self.start(server.path, protocol="2025-06-18").call("up__echo").result
        self.assertEqual(recorder.sync().lines("server/discover"), [])

    def test_the_path_is_as_it_is(self):
        path = self.home / "a b%20ü?c#d.sock"
        recorder, server = self.served(path=path)
        self.start(path).call("up__echo").result
        self.assertEqual(len(recorder.sync().starts), 1)

    def test_the_longest_path(self):
        name = "s" * (PATH_BYTES - len(os.fsencode(self.home)) - 1)
        _, server = self.served(path=self.home / name)
        self.assertEqual(len(server.path), PATH_BYTES)
        self.start(server.path).call("up__echo").result


class Failing(UnixTest):
    def test_nobody_there_and_then_somebody(self):
        path = self.home / "up.sock"
        self.served(path=path)
        client = self.start(path)
        self.assertIn("result", client.call("up__echo").data)
        os.unlink(path)
        self.assertSays(self.failure(client.call("up__die")), "closed the connection")
        self.assertSays(self.failure(client.call("up__echo")), "there is no such socket", f"unix://{path}")
        left = socket.socket(socket.AF_UNIX)  # a socket without a listener
        left.bind(str(path))
        left.close()
        self.assertSays(self.failure(client.call("up__echo")), "nobody listens there", f"unix://{path}")
        self.assertTrue(client.call("up__echo").tool_error["retryable"])
        os.unlink(path)
        self.served(path=path)
        self.assertNotIn("isError", client.call("up__echo").result)

    def test_nobody_there_to_begin_with(self):
        client = self.start(self.home / "up.sock")
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log("there is no such socket: is the server running?")

    def test_what_is_not_a_listening_socket(self):
        plain = self.home / "plain"
        plain.write_text("")
        datagram = socket.socket(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.addCleanup(datagram.close)
        datagram.bind(str(self.home / "datagram"))
        for name, words in (("plain", "nobody listens there"), ("datagram", "it is not a stream socket")):
            with self.subTest(name):
                client = self.start(self.home / name)
                self.assertEqual(client.own_names(), [])
                client.hub.wait_log(words)
                client.hub.finish()

    def test_nobody_accepts(self):
        """A queue that is full is an error at once: nothing waits (R: nothing on the loop blocks)."""
        listener = socket.socket(socket.AF_UNIX)
        self.addCleanup(listener.close)
        path = str(self.home / "full.sock")
        listener.bind(path)
        listener.listen(0)
        waiting = []
        with contextlib.suppress(BlockingIOError):
            while True:
                one = socket.socket(socket.AF_UNIX)
                waiting.append(one)
                self.addCleanup(one.close)
                one.setblocking(False)
                one.connect(path)
        client = self.start(path)
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log("too many connections wait")

    def test_a_server_that_dies(self):  # U01
        recorder, server = self.served()
        client = self.start(server.path)
        client.names()
        ids = [client.send_call("up__hold", {"n": n}) for n in range(100)]
        recorder.wait_calls(100)
        server.runs[-1].kill()
        for request_id in ids:
            self.assertSays(client.hub.response(request_id).tool_error["message"], "closed the connection")
        self.assertIn("result", client.call("up__echo").data)
        self.assertEqual(len(recorder.sync().starts), 2)

    def test_one_that_cannot_bear_the_probe(self):
        lines = Lines(self)
        client = self.start(lines.path)
        call = client.send_call("up__hold")
        self.assertEqual(lines.accept().next()["method"], "server/discover")
        lines.hang_up()
        lines.accept().greet()
        lines.reply(lines.next("tools/call"), result={"content": []})
        client.hub.response(call).result

    def test_an_end_in_the_handshake_is_no_era(self):
        """What ended while it was greeted is probed again: it may have been replaced."""
        lines = Lines(self)
        client = self.start(lines.path)
        call = client.send_call("up__hold")
        lines.open().next("tools/call")
        lines.hang_up()
        self.assertSays(client.hub.response(call).tool_error["message"], "closed the connection")
        for method in ("initialize", "server/discover"):
            call = client.send_call("up__hold")
            self.assertEqual(lines.accept().next()["method"], method)
            if method == "initialize":
                lines.hang_up()
                self.assertSays(client.hub.response(call).tool_error["message"], "closed the connection")

    def test_noise_is_skipped_and_a_flood_is_not(self):
        lines = Lines(self)
        client = self.start(lines.path)
        call = client.send_call("up__hold")
        lines.open()
        held = lines.next("tools/call")
        lines.send(b"not a message\n" * 100)
        lines.reply(held, result={"content": []})
        lines.reply(held, result={"content": []})  # U31: a second answer is nobody's
        lines.reply({"id": 987654}, result={"content": []})  # U30
        client.hub.response(call).result
        call = client.send_call("up__hold")
        lines.next("tools/call")
        lines.send(b"one too many\n")
        self.assertSays(client.hub.response(call).tool_error["message"], "lines that are not MCP messages")

    def test_a_line_without_end(self):  # U03
        lines = Lines(self)
        client = self.start(lines.path)
        call = client.send_call("up__hold")
        lines.open()
        lines.next("tools/call")
        block = b"x" * (1 << 20)
        with contextlib.suppress(OSError):
            for _ in range(64):
                lines.send(block)
        self.assertSays(client.hub.response(call).tool_error["message"], "cannot be read")


class Configuration(UnixTest):
    def test_what_is_refused(self):
        most = "/" + "s" * (PATH_BYTES - 1)
        cases = (
            ({"url": "unix://run/x.sock"}, "absolute path", "unix:///run/mcp.sock"),
            ({"url": "unix:x.sock"}, "absolute path"),
            ({"url": "unix:"}, "absolute path"),
            ({"url": f"unix://{most}s"}, "at most 107 bytes", "108"),
            ({"url": "unix:///x", "headers": {"A": "b"}}, "headers", "http, https, ws or wss"),
            ({"url": "unix:///x", "ca": "a.pem"}, "ca", "http, https, ws or wss"),
            ({"url": "unix:///x", "connect_timeout": "1s"}, "connect_timeout"),
            ({"url": "unix:///x", "forward_headers": ["A"]}, "forward_headers"),
            ({"url": "unix:///x", "type": "http"}, "type", "lines of JSON"),
            ({"url": "unix:///x", "args": ["a"]}, "args", "command"),
            ({"module": "mcp_upstream", "config": {"url": "unix:x"}}, "absolute path"),
            ({"module": "mcp_upstream", "config": {"url": f"unix://{most}s"}}, "at most 107 bytes", "108"),
            ({"module": "mcp_upstream", "config": {"url": "http://x"}}, "unix:///run/mcp.sock"),
            ({"module": "mcp_upstream", "config": {"url": "unix:///x", "cwd": "/"}}, "no command"),
        )
        for entry, *words in cases:
            with self.subTest(entry):
                done = self.cli("check", "--connect", toolsets={"up": entry})
                self.assertNotEqual(done.returncode, 0)
                self.assertSays(done.stdout + done.stderr, *words)

    def test_a_variable_in_the_url(self):
        _, server = self.served()
        hub = self.hub(toolsets={"up": {"url": "${WHERE}"}}, env={"WHERE": f"unix://{server.path}"})
        LegacyClient(hub).call("up__echo").result

    def test_a_foreign_file(self):
        _, server = self.served()
        path = self.home / "mcp.json"
        entry = {"url": f"unix://{server.path}", "headers": {"A": "b"}}
        path.write_text(json.dumps({"mcpServers": {"Up": entry}}))
        client = LegacyClient(self.hub(files=[path]))
        self.assertIn("up__echo", client.names())
        client.hub.wait_log("means nothing without")


if __name__ == "__main__":
    main()
