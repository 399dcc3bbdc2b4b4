# SPDX-License-Identifier: Apache-2.0
"""What is wrong with a server is said in its own words, by whoever asks for it; and one that cannot tell its tools is not
ready without any (RELIABILITY.md U07, U08, U28; S4.59-S4.65)."""

import json
import sys
import threading

from mcp import MODERN, SUPPORT, HubTest, LegacyClient, main, tool

sys.path.insert(0, str(SUPPORT))

from http_upstream import HttpUpstream  # noqa: E402

LATER = {"restart_delay": "1h", "restart_delay_max": "1h"}
PATIENT = {"limits": {"discover_timeout": "2m"}}
SOON = {"restart_delay": "20ms", "restart_delay_max": "20ms"}

# A server over pipes whose tools/list fails.
WITHOUT_LIST = """
import json, sys
GREETING = {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}}, "serverInfo": {"name": "x", "version": "1"}}
for line in sys.stdin:
    m = json.loads(line)
    if "id" in m:
        said = {"result": GREETING} if m["method"] == "initialize" else {"error": {"code": -32603, "message": "no database"}}
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], **said}), flush=True)
"""


class Failures(HubTest):
    def upstream(self, era="legacy", **options):
        made = HttpUpstream(era, **options)
        self.addCleanup(made.close)
        return made

    def start(self, upstream, **keys):
        toolsets = {"up": {"url": upstream.url, **LATER, **keys}}
        return LegacyClient(self.hub(toolsets=toolsets, manifest=PATIENT))

    def row(self, client):
        rows = client.call("list_toolsets").result["structuredContent"]["toolsets"]
        return next(row for row in rows if row["key"] == "up")

    def reason(self, client):
        """Why it is not there: the list of toolsets says it, and the log."""
        self.assertNotIn("up__echo", client.names())
        client.hub.wait_log("toolset.failed")
        row = self.row(client)
        self.assertEqual(row["state"], "failed")
        self.assertNotIn("toolCount", row)
        return row["reason"]


class Tools(Failures):
    """tools/list that does not work."""

    def test_what_it_says(self):
        cases = {
            "an error": (lambda x: x.error(-32603, "the\ndatabase\u001b[2J is away"), ["the database [2J is away"]),
            "with a status": (lambda x: x.error(-32603, "no disk", status=500), ["HTTP 500", "no disk"]),
            "a status": (lambda x: x.status(503, "come back", content_type="text/plain"), ["HTTP 503", "come back"]),
            "json": (lambda x: x.status(500, '{"detail": "quota \\u00e9"}'), ["HTTP 500: quota é"]),
            "no list": (lambda x: x.result({"tools": 7}), ["is not an array"]),
            "no result": (lambda x: x.result({}), ["is not an array"]),
            "no tools": (lambda x: x.result({"tools": [7, {}, {"name": 1}]}), ["none with a name"]),
            "too many": (lambda x: x.result({"tools": [tool(f"t{n}") for n in range(10001)]}), ["too long"]),
        }
        for name, (misdeed, words) in cases.items():
            with self.subTest(name):
                upstream = self.upstream()
                upstream.on["tools/list"] = misdeed
                client = self.start(upstream)
                self.assertSays(self.reason(client), "does not tell its tools", *words)
                client.hub.finish()

    def test_over_pipes(self):
        entry = {"command": sys.executable, "args": ["-ISc", WITHOUT_LIST], **LATER}
        client = self.legacy(toolsets={"up": entry}, manifest=PATIENT)
        self.assertSays(self.reason(client), "does not tell its tools", "no database")

    def test_it_is_tried_again(self):  # U08
        """By the backoff, without anybody asking; when it works its tools are there."""
        upstream, mended = self.upstream(), threading.Event()
        upstream.on["tools/list"] = lambda x: (upstream.list_tools if mended.is_set() else self.refuse)(x)
        client = self.start(upstream, lazy=False, **SOON)
        upstream.wait("tools/list", 3)
        since = client.hub.mark
        mended.set()
        client.wait_list_changed(since)
        self.assertIn("up__echo", client.names())
        self.assertIn("result", client.call("up__echo").data)

    @staticmethod
    def refuse(x):
        x.error(-32603, "not yet")

    def test_a_good_list_stays(self):  # U28
        """… when the next reading fails, and the server goes on to be used."""
        upstream = self.upstream()
        client = self.start(upstream)
        self.assertIn("result", client.call("up__echo").data)
        upstream.on["tools/list"] = self.refuse
        upstream.wait("GET")
        upstream.on["tools/call"] = lambda x: (
            x.stream(),
            x.event({"jsonrpc": "2.0", "method": "notifications/tools/list_changed"}),
            x.event(x.reply(result={"content": []})),
            x.close(),
        )
        client.call("up__echo").result
        self.assertSays(client.hub.wait_log("not yet"), "list of tools")
        self.assertIn("up__echo", client.names())
        self.assertIn("result", client.call("up__echo").data)

    def test_a_server_without_tools(self):
        """It says so, or knows no such method: then it has none, and that is no failure."""
        for capabilities in ({"prompts": {}}, {"logging": {}}):
            with self.subTest(capabilities):
                upstream = self.upstream(capabilities=capabilities)
                upstream.on["tools/list"] = lambda x: x.error(-32601, "Method not found")
                upstream.on["prompts/list"] = lambda x: x.result({"prompts": []})
                client = self.start(upstream)
                client.names()
                self.assertEqual(self.row(client)["toolCount"], 0)
                self.assertNotIn("state", self.row(client))
                client.hub.finish()


class Protocol(Failures):
    """A revision in the entry that is not the server's is named with what goes wrong."""

    def test_modern_is_wrong(self):
        upstream = self.upstream()
        upstream.on["tools/list"] = lambda x: x.error(-32000, "Bad Request: Server not initialized", status=400)
        client = self.start(upstream, protocol=MODERN)
        self.assertSays(self.reason(client), "HTTP 400: Bad Request: Server not initialized", f"protocol: {MODERN}")

    def test_legacy_is_wrong(self):
        client = self.start(self.upstream("modern"), protocol="2025-06-18")
        self.assertSays(self.reason(client), "Method not found", "protocol: 2025-06-18")

    def test_over_pipes(self):
        recorder = self.recorder()
        client = self.legacy(toolsets={"up": recorder.toolset("--era", "modern", protocol="2025-11-25", **LATER)}, manifest=PATIENT)
        self.assertSays(self.reason(client), "refused to initialize", "protocol: 2025-11-25")

    def test_a_version_of_nobody(self):
        upstream = self.upstream()
        upstream.revision = "1999-01-01"
        client = self.start(upstream)
        message = self.reason(client)
        self.assertSays(message, "speaks no protocol version", "1999-01-01")
        self.assertNotIn("`protocol", message)


class LastWords(Failures):
    """A process that ends at once."""

    def dies(self, script, **keys):
        entry = {"command": sys.executable, "args": ["-ISc", script], **LATER, **keys}
        return self.reason(self.legacy(toolsets={"up": entry}, manifest=PATIENT))

    def test_the_last_lines(self):
        said = "import sys; [print(f'line {n}', file=sys.stderr) for n in range(9)]; sys.exit(3)"
        message = self.dies(said)
        self.assertSays(message, "exited with code 3", "it said: line 6 | line 7 | line 8")
        self.assertNotIn("line 5", message)

    def test_an_error_before_a_trace(self):
        """As node says that a script is not there: its version comes last."""
        lines = ["node:internal/modules:1", "  throw err;", "  ^", "", "Error: Cannot find module '/nowhere.js'"]
        lines += [f"    at Module.loadError (node:internal:{n})" for n in range(9)] + ["}", "", "Node.js v20.0.0"]
        message = self.dies(f"import sys; sys.stderr.write({chr(10).join(lines)!r}); sys.exit(1)")
        self.assertSays(message, "it said: Error: Cannot find module '/nowhere.js' | } | Node.js v20.0.0")

    def test_a_traceback(self):
        message = self.dies("raise KeyError('canary')")
        self.assertSays(message, "KeyError: 'canary'")

    def test_what_is_said_is_bounded(self):
        said = "import sys; sys.stderr.write(''.join(chr(97 + n) * 5000 + chr(10) for n in range(3))); sys.exit(1)"
        message = self.dies(said)
        self.assertLess(len(message), 1000)
        self.assertSays(message, "it said: ", "ccc…")

    def test_nothing_moves_a_cursor(self):
        message = self.dies(r"import sys; sys.stderr.buffer.write(b'\x1b]0;x\x07\xc2\x9b\xff\x00 end\n'); sys.exit(1)")
        self.assertSays(message, "it said: ]0;x end")
        self.assertFalse([c for c in message if ord(c) < 0x20 or 0x7F <= ord(c) < 0xA0])

    def test_words_where_messages_belong(self):
        message = self.dies("import sys; print('Password:'); print('again:'); sys.exit(5)")
        self.assertSays(message, "exited with code 5; it said: not JSON: Password:")
        self.assertNotIn("again", message)

    def test_nothing_is_said(self):
        message = self.dies("import sys; sys.exit(4)")
        self.assertSays(message, "exited with code 4")
        self.assertNotIn("it said", message)


class Statuses(Failures):
    """HTTP errors bring the beginning of what came with them."""

    def call(self, misdeed, **keys):
        upstream = self.upstream()
        client = self.start(upstream, **keys)
        client.call("up__echo").result
        upstream.on["tools/call"] = misdeed
        message = client.call("up__echo").tool_error["message"]
        client.hub.finish()
        return message

    def test_what_came_with_it(self):
        cases = {
            "text": ((500, "out of\r\n\tpaper\u001b[1m", "text/plain"), "HTTP 500: out of paper [1m"),
            "html": ((502, "<html><h1>Bad Gateway</h1>", "text/html"), "HTTP 502: <html><h1>Bad Gateway</h1>"),
            "a word": ((410, '{"error":"no such app"}', "application/json"), "HTTP 410: no such app"),
            "oauth": (
                (400, '{"error":"bad","error_description":"token too old"}', "application/json"),
                "HTTP 400: token too old",
            ),
            "an object": ((400, '{"error":{"message":"inner"}}', "application/json"), "HTTP 400: inner"),
            "some json": ((500, "[1, 2]", "application/json"), "HTTP 500: [1, 2]"),
            "a refusal": ((403, '{"message":"not on Sundays"}', "application/json"), "not on Sundays"),
            "nothing": ((500, "", "text/plain"), "HTTP 500"),
        }
        for name, ((status, body, kind), words) in cases.items():
            with self.subTest(name):
                message = self.call(lambda x: x.status(status, body, content_type=kind))  # noqa: B023
                self.assertSays(message, words)
                if not body:
                    self.assertTrue(message.endswith(words), message)

    def test_it_is_bounded(self):
        message = self.call(lambda x: x.status(500, "é" * 50000, content_type="text/plain"))
        self.assertTrue(message.endswith("é..."), message[-20:])
        self.assertLess(len(message), 400)

    def test_at_the_start(self):
        upstream = self.upstream()
        for method in ("server/discover", "initialize", "GET"):
            upstream.on[method] = lambda x: x.status(500, json.dumps({"message": "no licence"}))
        self.assertSays(self.reason(self.start(upstream)), "HTTP 500: no licence")


class Environment(Failures):
    def test_nul_is_refused(self):
        """Not cut: a secret would be another one."""
        secret = self.home / "secret"
        secret.write_bytes(b"half\0 of it")
        for env in ({"KEY": "a\0b"}, {"K\0": "a"}, {"KEY": f"${{file:{secret}}}"}):
            with self.subTest(env):
                toolsets = {"up": {"command": sys.executable, "env": env}}
                code, said = self.refused(toolsets=toolsets)
                self.assertEqual(code, 3)
                self.assertSays(said, "up", "env", "NUL")


if __name__ == "__main__":
    main()
