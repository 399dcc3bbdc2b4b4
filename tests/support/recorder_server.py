#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""An MCP server over stdio that does as it is told, for tests of the hub.

It answers the handshake of either era, lists the tools it was given byte for byte, and reports every
line it receives to whoever started it. How it misbehaves is decided by flags, by the name of the
tool that is called, or at run time through a control socket.

Control socket (--control PATH, a Unix stream socket that the test listens on). One JSON object per
line. To the test:  {"event": "start", "pid": N} | {"event": "line", "text": …} | {"event": "eof"}
                    | {"event": "signal"} | {"event": "done", "id": N} after each command.
From the test:      {"write": "TEXT"}            a line on stdout, as it is
                    {"tools": "JSON array text"} the list from now on
                    {"notify": N}                N notifications that it changed
                    {"stderr": BYTES}            that much on stderr
                    {"pause": true|false}        stop or resume reading stdin
                    {"exit": CODE}

Tools (the default list): echo, hold (never answers by itself), die, fail (isError), error (a JSON-RPC
error), progress, noise (a line that is not JSON, then the answer), huge {"bytes": N}, env, raw
{"result": "JSON text"} (answers with exactly that), late (answers, then answers once more).
"""

import argparse
import json
import os
import selectors
import signal
import socket
import sys

from json_slice import slice_at

LEGACY = ["2025-11-25", "2025-06-18", "2025-03-26", "2024-11-05"]
MODERN = "2026-07-28"
META = "io.modelcontextprotocol/"

DEFAULT_TOOLS = [
    {
        "name": name,
        "description": f"The recorder's {name}.",
        "inputSchema": {"type": "object"},
    }
    for name in (
        "echo",
        "hold",
        "die",
        "fail",
        "error",
        "progress",
        "noise",
        "huge",
        "env",
        "raw",
        "late",
    )
]


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Recorder:
    def __init__(self, options):
        self.options = options
        self.tools = dump(DEFAULT_TOOLS)
        if options.tools:
            with open(options.tools, encoding="utf-8", newline="") as file:
                self.tools = file.read().strip()
        self.log = open(options.log, "ab", buffering=0) if options.log else None
        self.selector = selectors.DefaultSelector()
        self.stdin = b""
        self.control_in = b""
        self.listening = None
        self.control = None
        if options.control:
            self.control = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
            self.control.connect(options.control)
            self.selector.register(self.control, selectors.EVENT_READ, self.on_control)

    # -- output ---------------------------------------------------------------------------------

    def write(self, text):
        data = text.encode("utf-8", "surrogatepass") + b"\n"
        while data:
            data = data[os.write(1, data) :]

    def event(self, **fields):
        if self.control is not None:
            self.control.sendall(json.dumps(fields).encode() + b"\n")

    def result(self, raw_id, members):
        """Answer with an object given as raw text of its members, in the framing of the era."""
        if self.options.era == "modern":
            members = '"resultType":"complete"' + ("," + members if members else "")
        self.write(f'{{"jsonrpc":"2.0","id":{raw_id},"result":{{{members}}}}}')

    def error(self, raw_id, code, message, data=None):
        error = {"code": code, "message": message}
        if data is not None:
            error["data"] = data
        self.write(f'{{"jsonrpc":"2.0","id":{raw_id},"error":{dump(error)}}}')

    # -- requests -------------------------------------------------------------------------------

    def on_line(self, line):
        if self.log:
            self.log.write(line + b"\n")
        text = line.decode("utf-8", "surrogateescape")
        self.event(event="line", text=text)
        message = json.loads(text)
        method = message.get("method")
        if method is None or "id" not in message:
            return
        raw_id = slice_at(text, "id")
        if method in self.options.silent:
            return
        handler = {
            "initialize": self.on_initialize,
            "server/discover": self.on_discover,
            "ping": lambda raw_id, message, text: self.result(raw_id, ""),
            "tools/list": self.on_tools_list,
            "tools/call": self.on_tools_call,
            "subscriptions/listen": self.on_listen,
        }.get(method)
        if handler is None:
            self.error(raw_id, -32601, f"Method not found: {method}")
        else:
            handler(raw_id, message, text)

    def on_initialize(self, raw_id, message, text):
        if self.options.era == "modern":
            self.error(raw_id, -32601, f"Method not found: initialize (speak {MODERN})")
            return
        wanted = message["params"]["protocolVersion"]
        version = self.options.revision or (wanted if wanted in LEGACY else LEGACY[0])
        self.result(
            raw_id,
            dump(
                {
                    "protocolVersion": version,
                    "capabilities": {"tools": {"listChanged": True}, "logging": {}},
                    "serverInfo": {"name": "recorder", "version": "1"},
                }
            )[1:-1],
        )

    def on_discover(self, raw_id, message, text):
        if self.options.era == "legacy":
            self.error(raw_id, -32601, "Method not found: server/discover")
            return
        self.result(
            raw_id,
            dump(
                {
                    "supportedVersions": [MODERN],
                    "capabilities": {"tools": {"listChanged": True}},
                    "ttlMs": 0,
                    "cacheScope": "public",
                    "_meta": {META + "serverInfo": {"name": "recorder", "version": "1"}},
                }
            )[1:-1],
        )

    def on_tools_list(self, raw_id, message, text):
        tools, more = self.tools, ""
        size = self.options.page_size
        if self.options.endless_pages:
            at = int((message.get("params") or {}).get("cursor", "0"))
            tools = dump([{"name": f"page{at}", "inputSchema": {"type": "object"}}])
            more = f',"nextCursor":"{at + 1}"'
        elif self.options.repeating_cursor:
            more = ',"nextCursor":"again"'
        elif size:
            at = int((message.get("params") or {}).get("cursor", "0"))
            items = []
            while (item := slice_at(self.tools, at + len(items))) is not None and len(items) < size:
                items.append(item)
            tools = "[" + ",".join(items) + "]"
            if slice_at(self.tools, at + size) is not None:
                more = f',"nextCursor":"{at + size}"'
        cache = ',"ttlMs":0,"cacheScope":"public"' if self.options.era == "modern" else ""
        self.result(raw_id, f'"tools":{tools}{more}{cache}')

    def on_listen(self, raw_id, message, text):
        if self.options.era == "legacy":
            self.error(raw_id, -32601, "Method not found: subscriptions/listen")
            return
        self.listening = raw_id
        self.write(
            '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":'
            f'{{"_meta":{{"{META}subscriptionId":{raw_id}}},"notifications":{{"toolsListChanged":true}}}}}}'
        )

    def notify_list_changed(self):
        params = ""
        if self.options.era == "modern":
            if self.listening is None:
                return
            params = f',"params":{{"_meta":{{"{META}subscriptionId":{self.listening}}}}}'
        self.write(f'{{"jsonrpc":"2.0","method":"notifications/tools/list_changed"{params}}}')

    def on_tools_call(self, raw_id, message, text):
        params = message["params"]
        name = params["name"]
        arguments = params.get("arguments", {})
        handler = getattr(self, "tool_" + name.replace("-", "_"), self.tool_echo)
        handler(raw_id, arguments, text, params)

    def text_result(self, raw_id, text, extra=""):
        self.result(raw_id, f'"content":[{dump({"type": "text", "text": text})}]{extra}')

    def tool_echo(self, raw_id, arguments, text, params):
        raw = slice_at(text, "params", "arguments") or "{}"
        self.text_result(raw_id, params["name"], f',"structuredContent":{raw}')

    def tool_hold(self, raw_id, arguments, text, params):
        pass

    def tool_die(self, raw_id, arguments, text, params):
        os._exit(1)

    def tool_fail(self, raw_id, arguments, text, params):
        self.text_result(raw_id, "it failed", ',"isError":true')

    def tool_error(self, raw_id, arguments, text, params):
        self.error(raw_id, 4242, "an error of the recorder", {"why": ["told", "to"]})

    def tool_progress(self, raw_id, arguments, text, params):
        token = slice_at(text, "params", "_meta", "progressToken") if "_meta" in params else None
        for step in (1, 2, 3):
            if token is not None:
                self.write(
                    '{"jsonrpc":"2.0","method":"notifications/progress","params":'
                    f'{{"progressToken":{token},"progress":{step},"total":3,"message":"step {step}"}}}}'
                )
        self.text_result(raw_id, "done")

    def tool_noise(self, raw_id, arguments, text, params):
        self.write("this line is not JSON")
        self.text_result(raw_id, "after the noise")

    def tool_huge(self, raw_id, arguments, text, params):
        self.text_result(raw_id, "x" * arguments["bytes"])

    def tool_env(self, raw_id, arguments, text, params):
        self.text_result(raw_id, json.dumps(dict(os.environ), sort_keys=True))

    def tool_raw(self, raw_id, arguments, text, params):
        self.write(f'{{"jsonrpc":"2.0","id":{raw_id},"result":{arguments["result"]}}}')

    def tool_late(self, raw_id, arguments, text, params):
        self.text_result(raw_id, "first")
        self.text_result(raw_id, "second")

    # -- control --------------------------------------------------------------------------------

    def on_command(self, command):
        if "write" in command:
            self.write(command["write"])
        if "tools" in command:
            self.tools = command["tools"]
        for _ in range(command.get("notify", 0)):
            self.notify_list_changed()
        if "stderr" in command:
            left = command["stderr"]
            line = b"noise on standard error " * 4 + b"\n"
            while left > 0:
                left -= os.write(2, line[: min(left, len(line))])
        if "pause" in command:
            if command["pause"]:
                self.selector.unregister(0)
            else:
                self.selector.register(0, selectors.EVENT_READ, self.on_stdin)
        if "exit" in command:
            os._exit(command["exit"])
        self.event(event="done", id=command.get("id"))

    def on_control(self):
        data = self.control.recv(65536)
        if not data:
            self.selector.unregister(self.control)
            return
        self.control_in += data
        while b"\n" in self.control_in:
            line, _, self.control_in = self.control_in.partition(b"\n")
            self.on_command(json.loads(line))

    def on_stdin(self):
        data = os.read(0, 1 << 20)
        if not data:
            self.event(event="eof")
            if not self.options.ignore_eof:
                sys.exit(0)
            self.selector.unregister(0)
            return
        self.stdin += data
        while b"\n" in self.stdin:
            line, _, self.stdin = self.stdin.partition(b"\n")
            if line.strip():
                self.on_line(line)

    def run(self):
        self.selector.register(0, selectors.EVENT_READ, self.on_stdin)
        while True:
            for key, _ in self.selector.select():
                key.data()


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--era", choices=["legacy", "modern"], default="legacy")
    parser.add_argument("--revision", help="answer initialize with this revision")
    parser.add_argument("--control", help="Unix socket to report to")
    parser.add_argument("--log", help="file that gets every line received")
    parser.add_argument("--tools", help="file with the JSON array of tools")
    parser.add_argument("--page-size", type=int, default=0)
    parser.add_argument("--endless-pages", action="store_true")
    parser.add_argument("--repeating-cursor", action="store_true")
    parser.add_argument("--silent", action="append", default=[], metavar="METHOD")
    parser.add_argument("--exit", type=int, help="exit with this code at once")
    parser.add_argument("--ignore-eof", action="store_true")
    parser.add_argument("--ignore-term", action="store_true")
    parser.add_argument("--child", action="store_true", help="start a child that only waits")
    options = parser.parse_args()

    if options.exit is not None:
        print("the recorder was told to exit", file=sys.stderr)
        sys.exit(options.exit)
    if options.ignore_term:
        signal.signal(signal.SIGTERM, signal.SIG_IGN)
    if options.child and os.fork() == 0:
        for fd in (0, 1, 2):
            os.close(fd)
        signal.pause()
    recorder = Recorder(options)
    recorder.event(event="start", pid=os.getpid())
    recorder.run()


if __name__ == "__main__":
    main()
