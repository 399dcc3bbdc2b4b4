# SPDX-License-Identifier: Apache-2.0
"""An MCP server over stdio that does as it is told, for tests of the hub.

It answers the handshake of either era, lists the tools it was given byte for byte, and reports every
line it receives to whoever started it. How it misbehaves is decided by flags, by the name of the
tool that is called, or at run time through a control socket.

Control socket (--control PATH, a Unix stream socket that the test listens on). One JSON object per
line. To the test:  {"event": "start", "pid": N} | {"event": "line", "text": …} | {"event": "eof"}
                    | {"event": "signal"} | {"event": "done", "id": N} after each command.
From the test:      {"write": "TEXT"}            a line on stdout, as it is
                    {"tools": "JSON array text"} the list from now on; so "resources", "templates",
                                                 "prompts"
                    {"notify": N}                N notifications that it changed; "kind" says which
                                                 list, unless it is tools
                    {"updated": URI}             that resource changed, if anybody subscribed to it
                    {"end_listen": "result"}     end the listen streams; "cancelled": without a word
                    {"stderr": BYTES}            that much on stderr
                    {"pause": true|false}        stop or resume reading stdin
                    {"exit": CODE}

Tools (the default list): echo, hold (never answers by itself), die, fail (isError), error (a JSON-RPC
error), progress, noise (a line that is not JSON, then the answer), huge {"bytes": N}, env, raw
{"result": "JSON text"} (answers with exactly that), late (answers, then answers once more).

With --content it also has resources (rec:///dir/NAME is what is in that file of its folder), templates, prompts,
completion and log levels, and the tools log {"level": L, "data": …} and
ask {"method": M, "params": …, "id": "JSON text"} (asks the client and answers with what it said, as the era has it).
Any number of x behind a tool's name is no part of it.
"""

import argparse
import base64
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

# What --content adds.
CONTENT_TOOLS = [
    {"name": name, "description": f"The recorder's {name}.", "inputSchema": {"type": "object"}}
    for name in ("ask", "log")
]
CONTENT = {
    "resources": [{"uri": f"rec:///{name}", "name": name, "x-extra": [1.0, 1e2]} for name in ("one", "two", "three")],
    "templates": [{"uriTemplate": "rec:///dir/{name}", "name": "dir"}],
    "prompts": [
        {"name": name, "arguments": [{"name": "topic", "required": True}]} for name in ("greet", "summarize")
    ],
}
RESULT_KEYS = {"resources": "resources", "templates": "resourceTemplates", "prompts": "prompts", "tools": "tools"}
FILTER_KEYS = {"tools": "toolsListChanged", "resources": "resourcesListChanged", "prompts": "promptsListChanged"}


def dump(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))


class Recorder:
    def __init__(self, options):
        self.options = options
        content = options.content
        self.lists = {kind: dump(items if content else []) for kind, items in CONTENT.items()}
        self.lists["tools"] = dump(DEFAULT_TOOLS + (CONTENT_TOOLS if content else []))
        if options.tools:
            with open(options.tools, encoding="utf-8", newline="") as file:
                self.lists["tools"] = file.read().strip()
        if options.lists:
            with open(options.lists, encoding="utf-8") as file:
                self.lists.update(json.load(file))
        self.subscribed = set()
        self.asked = {}
        self.log = open(options.log, "ab", buffering=0) if options.log else None
        self.selector = selectors.DefaultSelector()
        self.stdin = b""
        self.control_in = b""
        self.listening = {}  # raw id of a stream: its filter
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
        if method is None:
            self.on_response(text)
            return
        if method == "notifications/initialized" and self.options.ask_at_start:
            self.write(f'{{"jsonrpc":"2.0","id":"start-{os.getpid()}","method":"roots/list"}}')
        if method == "notifications/cancelled":
            self.listening.pop(slice_at(text, "params", "requestId"), None)
        if "id" not in message:
            return
        raw_id = slice_at(text, "id")
        if method in self.options.silent:
            return
        handler = {
            "initialize": self.on_initialize,
            "server/discover": self.on_discover,
            "ping": lambda raw_id, message, text: self.result(raw_id, ""),
            "tools/list": self.on_list,
            "tools/call": self.on_tools_call,
            "subscriptions/listen": self.on_listen,
        }
        if self.options.content:
            handler |= {
                "resources/list": self.on_list,
                "resources/templates/list": self.on_list,
                "resources/read": self.on_read,
                "prompts/list": self.on_list,
                "prompts/get": self.on_prompt,
                "completion/complete": self.on_complete,
            }
            if self.options.era == "legacy":
                handler |= {
                    "resources/subscribe": self.on_subscribe,
                    "resources/unsubscribe": self.on_subscribe,
                    "logging/setLevel": lambda raw_id, message, text: self.result(raw_id, ""),
                }
        handler = handler.get(method)
        if handler is None:
            self.error(raw_id, -32601, f"Method not found: {method}")
        else:
            handler(raw_id, message, text)

    def capabilities(self):
        if self.options.capabilities is not None:
            return json.loads(self.options.capabilities)
        if self.options.capabilities_file is not None:
            with open(self.options.capabilities_file, encoding="utf-8") as file:
                return json.load(file)
        found = {"tools": {"listChanged": True}}
        if self.options.content:
            found |= {
                "resources": {"subscribe": True, "listChanged": True},
                "prompts": {"listChanged": True},
                "completions": {},
                "logging": {},
            }
        return found

    def about(self):
        return {"name": "recorder", "version": "1", **json.loads(self.options.about or "{}")}

    def instructions(self):
        return {"instructions": self.options.instructions} if self.options.instructions else {}

    def on_initialize(self, raw_id, message, text):
        if self.options.era == "modern":
            self.error(raw_id, -32601, f"Method not found: initialize (speak {MODERN})")
            return
        wanted = message["params"]["protocolVersion"]
        version = self.options.revision or (wanted if wanted in LEGACY else LEGACY[0])
        capabilities = self.capabilities()
        capabilities.setdefault("logging", {})
        self.result(
            raw_id,
            dump(
                {
                    "protocolVersion": version,
                    "capabilities": capabilities,
                    "serverInfo": self.about(),
                    **self.instructions(),
                }
            )[1:-1],
        )

    def on_discover(self, raw_id, message, text):
        if self.options.era == "legacy" or self.options.no_discover:
            self.error(raw_id, -32601, "Method not found: server/discover")
            return
        self.result(
            raw_id,
            dump(
                {
                    "supportedVersions": [MODERN],
                    "capabilities": self.capabilities(),
                    "ttlMs": 0,
                    "cacheScope": "public",
                    "_meta": {META + "serverInfo": self.about()},
                    **self.instructions(),
                }
            )[1:-1],
        )

    def on_list(self, raw_id, message, text):
        method = message["method"]
        kind = "templates" if "templates" in method else method.split("/")[0]
        if kind in self.options.restless:
            self.notify_list_changed(kind)
        items, more = self.lists[kind], ""
        size = self.options.page_size
        if self.options.endless_pages:
            at = int((message.get("params") or {}).get("cursor", "0"))
            items = dump([{"name": f"page{at}", "inputSchema": {"type": "object"}}])
            more = f',"nextCursor":"{at + 1}"'
        elif self.options.repeating_cursor:
            more = ',"nextCursor":"again"'
        elif size:
            at = int((message.get("params") or {}).get("cursor", "0"))
            page = []
            while (item := slice_at(items, at + len(page))) is not None and len(page) < size:
                page.append(item)
            if slice_at(items, at + size) is not None:
                more = f',"nextCursor":"{at + size}"'
            items = "[" + ",".join(page) + "]"
        cache = ',"ttlMs":0,"cacheScope":"public"' if self.options.era == "modern" else ""
        self.result(raw_id, f'"{RESULT_KEYS[kind]}":{items}{more}{cache}')

    def on_listen(self, raw_id, message, text):
        if self.options.era == "legacy" or self.options.refuse_listen:
            self.error(raw_id, -32601, "Method not found: subscriptions/listen")
            return
        wanted = message["params"]["notifications"]
        wanted = {k: v for k, v in wanted.items() if k != "resourceSubscriptions" or self.options.content}
        if "resourceSubscriptions" in wanted:
            wanted["resourceSubscriptions"] = [u for u in wanted["resourceSubscriptions"] if u != self.options.mute_uri]
        self.listening[raw_id] = wanted
        self.write(
            '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":'
            f'{{"_meta":{{"{META}subscriptionId":{raw_id}}},"notifications":{dump(wanted)}}}}}'
        )

    def end_listen(self, how):
        for raw_id in list(self.listening):
            if how == "result":
                self.result(raw_id, f'"_meta":{{"{META}subscriptionId":{raw_id}}}')
            self.write(f'{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{raw_id}}}}}')
        self.listening.clear()

    def notify_list_changed(self, kind="tools"):
        method = f"notifications/{kind}/list_changed"
        if self.options.era == "legacy":
            self.write(f'{{"jsonrpc":"2.0","method":"{method}"}}')
            return
        for raw_id, wanted in self.listening.items():
            if wanted.get(FILTER_KEYS[kind]):
                self.write(
                    f'{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{{"{META}subscriptionId":{raw_id}}}}}}}'
                )

    def notify_updated(self, uri):
        method = "notifications/resources/updated"
        if uri in self.subscribed:
            self.write(f'{{"jsonrpc":"2.0","method":"{method}","params":{{"uri":{dump(uri)}}}}}')
        for raw_id, wanted in self.listening.items():
            if uri in wanted.get("resourceSubscriptions", []):
                self.write(
                    f'{{"jsonrpc":"2.0","method":"{method}","params":{{"_meta":{{"{META}subscriptionId":{raw_id}}},'
                    f'"uri":{dump(uri)}}}}}'
                )

    def on_subscribe(self, raw_id, message, text):
        uri = message["params"]["uri"]
        if uri == self.options.mute_uri:
            self.error(raw_id, 4243, "this one is never watched")
            return
        (self.subscribed.add if message["method"] == "resources/subscribe" else self.subscribed.discard)(uri)
        self.result(raw_id, "")

    def on_read(self, raw_id, message, text):
        uri = message["params"]["uri"]
        if uri.startswith("rec:///dir/") and os.path.isfile(uri[11:]):
            with open(uri[11:], "rb") as file:
                data = file.read()
            text_or_blob = ("blob", base64.b64encode(data).decode()) if 0 in data else ("text", data.decode())
            self.result(raw_id, dump({"contents": [{"uri": uri, text_or_blob[0]: text_or_blob[1]}]})[1:-1])
            return
        known = [item["uri"] for item in json.loads(self.lists["resources"])]
        if uri not in known and not uri.startswith("rec:///dir/"):
            code = -32602 if self.options.era == "modern" else -32002
            self.error(raw_id, code, "Resource not found", {"uri": uri})
            return
        if uri == "rec:///two":
            self.send_progress(text)
        cache = ',"ttlMs":0,"cacheScope":"public"' if self.options.era == "modern" else ""
        self.result(raw_id, f'"contents":[{{"uri":{slice_at(text, "params", "uri")},"text":"it","x":1.50}}]{cache}')

    def on_prompt(self, raw_id, message, text):
        raw = slice_at(text, "params", "arguments") or "{}"
        said = dump({"role": "user", "content": {"type": "text", "text": message["params"]["name"]}})
        self.result(raw_id, f'"messages":[{said}],"x-arguments":{raw}')

    def on_complete(self, raw_id, message, text):
        ref = message["params"]["ref"]
        said = [ref.get("name", ref.get("uri")), message["params"]["argument"]["value"] + "!"]
        self.result(raw_id, f'"completion":{{"values":{dump(said)},"total":2}}')

    def on_tools_call(self, raw_id, message, text):
        params = message["params"]
        name = params["name"]
        arguments = params.get("arguments", {})
        handler = getattr(self, "tool_" + name.replace("-", "_").rstrip("x"), self.tool_echo)
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

    def send_progress(self, text):
        token = slice_at(text, "params", "_meta", "progressToken") if '"progressToken"' in text else None
        for step in (1, 2, 3):
            if token is not None:
                self.write(
                    '{"jsonrpc":"2.0","method":"notifications/progress","params":'
                    f'{{"progressToken":{token},"progress":{step},"total":3,"message":"step {step}"}}}}'
                )

    def tool_progress(self, raw_id, arguments, text, params):
        self.send_progress(text)
        self.text_result(raw_id, "done")

    def tool_log(self, raw_id, arguments, text, params):
        said = dump({"level": arguments["level"], "logger": "recorder", "data": arguments["data"]})
        if self.options.era == "legacy" or META + "logLevel" in params["_meta"]:
            self.write(f'{{"jsonrpc":"2.0","method":"notifications/message","params":{said}}}')
        self.text_result(raw_id, "logged")

    def tool_ask(self, raw_id, arguments, text, params):
        raw = slice_at(text, "params", "arguments", "params")
        question = f'"method":{dump(arguments["method"])}' + (f',"params":{raw}' if raw else "")
        if self.options.era == "legacy":
            ask_id = arguments.get("id", f'"ask-{raw_id}"')
            self.asked[ask_id] = raw_id
            self.write(f'{{"jsonrpc":"2.0","id":{ask_id},{question}}}')
        elif "inputResponses" in params:
            said = slice_at(text, "params", "inputResponses")
            state = slice_at(text, "params", "requestState")
            self.text_result(raw_id, "answered", f',"structuredContent":{{"said":{said},"state":{state}}}')
        else:
            self.write(
                f'{{"jsonrpc":"2.0","id":{raw_id},"result":{{"resultType":"input_required",'
                f'"inputRequests":{{"the key":{{{question}}}}},"requestState":"round \\u0031"}}}}'
            )

    def on_response(self, text):
        """The client's answer to a question: the call that asked is answered with it."""
        raw_id = self.asked.pop(slice_at(text, "id"), None)
        if raw_id is not None:
            kind = "result" if slice_at(text, "result") else "error"
            said = slice_at(text, kind)
            self.text_result(raw_id, kind, f',"structuredContent":{{"{kind}":{said}}}')

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
        for kind in self.lists.keys() & command.keys():
            self.lists[kind] = command[kind]
        for _ in range(command.get("notify", 0)):
            self.notify_list_changed(command.get("kind", "tools"))
        if "updated" in command:
            self.notify_updated(command["updated"])
        if "end_listen" in command:
            self.end_listen(command["end_listen"])
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
    parser.add_argument("--lists", help="file with an object: the JSON text of the array of each kind")
    parser.add_argument("--content", action="store_true", help="more than tools")
    parser.add_argument("--capabilities", help="announce these (JSON)")
    parser.add_argument("--capabilities-file", help="announce what is in this file")
    parser.add_argument("--about", help="further members of serverInfo (JSON)")
    parser.add_argument("--instructions", help="what the server tells clients of itself")
    parser.add_argument("--ask-at-start", action="store_true", help="ask for roots once initialized")
    parser.add_argument("--restless", action="append", default=[], metavar="LIST", help="changes whenever it is read")
    parser.add_argument("--mute-uri", help="refuse to watch this resource")
    parser.add_argument("--no-discover", action="store_true")
    parser.add_argument("--refuse-listen", action="store_true")
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
