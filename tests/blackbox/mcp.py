# SPDX-License-Identifier: Apache-2.0
"""The harness of the black-box tests: starts the hub, speaks MCP to it, and checks all it says.

Every message that the hub writes is validated against the official schema of the revision in use,
and has no member twice. When a hub has ended, its exit code is as expected, the sanitizers were
silent, and no process that it started is left. Nothing sleeps and nothing is retried: tests wait for
events, with one timeout.

Environment: PATCHBAY_BIN (the binary), PATCHBAY_PLUGINS (folder of the modules that come with it),
PATCHBAY_TEST_TIMEOUT (seconds to wait for anything; default 120).
"""

import atexit
import contextlib
import itertools
import json
import os
import re
import select
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import urllib.parse
import uuid
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
SUPPORT = HERE.parent / "support"
sys.path.insert(0, str(SUPPORT))

import mcp_schema  # noqa: E402
import processes  # noqa: E402
from json_slice import elements, slice_at, without  # noqa: E402,F401

LEGACY = mcp_schema.LEGACY
NEWEST_LEGACY = LEGACY[0]
MODERN = mcp_schema.MODERN
META = "io.modelcontextprotocol/"
LIST_CHANGED = "notifications/tools/list_changed"

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
UNSUPPORTED_VERSION = -32022

META_TOOLS = ["describe_toolset", "disable_toolset", "enable_toolset", "list_tools", "list_toolsets"]

TIMEOUT = float(os.environ.get("PATCHBAY_TEST_TIMEOUT", "120"))
MARKER = "PATCHBAY_TEST_ID"

# Limits of every hub, unless a test has its own: that a machine is slow, or stands still for a moment, is not what a
# test is about. All servers are waited for, and nobody is idle for too long because others have their turn.
PATIENCE = {"discover_timeout": "10m", "straggler_timeout": "0s", "idle_timeout": "10m", "call_timeout": "10m"}

# What a hub says of a plugin when it was the machine that was slow.
SLOWNESS = ("plugin.slow", "plugin.blocks")


def rounds(usual, *every):
    """How many rounds a test goes: what PATCHBAY_ROUNDS says. `all` stands for `every`, where a test has that."""
    wanted = os.environ.get("PATCHBAY_ROUNDS", usual)
    return (*every, usual)[0] if wanted == "all" else int(wanted)


def hub_binary():
    named = os.environ.get("PATCHBAY_BIN")
    if named:
        return named
    for preset in ("asan", "release", "dev"):
        path = ROOT / "build" / preset / "core" / "patchbay"
        if path.exists():
            return str(path)
    return str(ROOT / "build" / "asan" / "core" / "patchbay")


def module_folder():
    named = os.environ.get("PATCHBAY_PLUGINS")
    return named or str(Path(hub_binary()).resolve().parent.parent / "plugins")


def compile_plugin(folder, name="fixture", reply=None, source=None):
    """Build a plugin from fixture_toolset.c (or another source) as folder/NAME.so, and return the path."""
    path = Path(folder) / f"{name}.so"
    partial = path.with_suffix(f".{os.getpid()}.partial")
    in_c = Path(source or "").suffix != ".cpp"
    subprocess.run(
        [
            *((os.environ.get("CC", "cc"), "-std=c11") if in_c else (os.environ.get("CXX", "c++"), "-std=c++17")),
            *("-shared", "-fPIC", "-fvisibility=hidden", "-pthread"),
            f'-DFIXTURE_NAME="{name}"',
            f'-DFIXTURE_REPLY="{reply or name}"',
            f"-I{ROOT / 'include'}",
            *("-o", str(partial), str(source or SUPPORT / "fixture_toolset.c")),
        ],
        check=True,
    )
    partial.chmod(0o755)
    partial.replace(path)
    return path


def fixture_folder():
    """A folder with fixture.so, built once per run."""
    folder = os.environ.get("PATCHBAY_FIXTURES")
    if not folder:
        folder = tempfile.mkdtemp(prefix="patchbay-fixtures-")
        atexit.register(shutil.rmtree, folder, ignore_errors=True)
        os.environ["PATCHBAY_FIXTURES"] = folder
    if not (Path(folder) / "fixture.so").exists():
        compile_plugin(folder)
    return folder


def tool(name, **members):
    return {"name": name, "inputSchema": {"type": "object"}, **members}


def fixture(*tools, fail=None, **keys):
    """A manifest entry: a native toolset with these tools (names or whole definitions)."""
    config = {"tools": [tool(t) if isinstance(t, str) else t for t in tools]}
    if fail is not None:
        config["fail"] = fail
    return {"module": "fixture", "config": config, **keys}


def no_duplicates(pairs):
    members = dict(pairs)
    if len(members) != len(pairs):
        keys = [key for key, _ in pairs]
        raise ValueError(f"a member twice: {sorted(k for k in set(keys) if keys.count(k) > 1)}")
    return members


class Message:
    """One message as received: `raw` text, `data` parsed."""

    def __init__(self, raw):
        self.raw = raw
        self.data = json.loads(raw, object_pairs_hook=no_duplicates)

    @property
    def id(self):
        return self.data.get("id")

    @property
    def method(self):
        return self.data.get("method")

    @property
    def params(self):
        return self.data.get("params", {})

    @property
    def result(self):
        if "result" not in self.data:
            raise AssertionError(f"expected a result, got {self.raw[:2000]}")
        return self.data["result"]

    @property
    def error(self):
        if "error" not in self.data:
            raise AssertionError(f"expected an error, got {self.raw[:2000]}")
        return self.data["error"]

    @property
    def code(self):
        return self.error["code"]

    @property
    def tool_error(self):
        """A failure that the hub reports to the model: {code, message, retryable}.

        It is in the result's _meta, in words for the model, and as structuredContent where the tool
        has no schema of its own for that.
        """
        result = self.result
        if result.get("isError") is not True:
            raise AssertionError(f"expected a tool error, got {self.raw[:2000]}")
        failure = result.get("_meta", {}).get("patchbay/error", {})
        if set(failure) != {"code", "message", "retryable"}:
            raise AssertionError(f"a tool error without code, message and retryable: {self.raw[:2000]}")
        if result.get("structuredContent", failure) != failure:
            raise AssertionError(f"two readings of one tool error: {self.raw[:2000]}")
        text = result["content"][0].get("text", "")
        if failure["message"] not in text or failure["code"] not in text:
            raise AssertionError(f"the text does not say {failure}: {text!r}")
        return failure

    def slice(self, *path):
        return slice_at(self.raw, *path)

    def __repr__(self):
        return f"<{self.raw[:300]}>"


def key_of(value):
    """An id or token with its type: 1 and "1" differ."""
    return json.dumps(value)


class Hub:
    """A running hub (or any other MCP server over stdio, with `command`)."""

    def __init__(self, *args, manifest=None, files=(), home=None, content_length=False, env=None,
                 exit_code=0, command=None, modules=True, cwd=None):
        self.test_id = uuid.uuid4().hex
        self.home = Path(home)
        self.exit_code = exit_code
        self.content_length = content_length
        self.condition = threading.Condition()
        self.messages = []
        self.problems = []
        self.eof = False
        self.stderr = bytearray()
        self.patience = TIMEOUT  # for what is left of it when it has ended
        self.pending = {}
        self.tokens = {}
        self.session_revision = None
        self.revisions = set()
        self.descendants = set()
        self.finished = False
        self.strict = True  # False: results of requests that were not announced are fine
        self.answers = {"ping": lambda params: {}}
        self.next_id = 0
        argv = command or hub_command(*args, manifest=manifest, files=files, home=home, modules=modules)
        self.process = subprocess.Popen(
            argv,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            cwd=cwd or home,
            env=hub_environment(home, {MARKER: self.test_id, **(env or {})}),
            bufsize=0,
        )
        os.set_blocking(self.process.stderr.fileno(), False)
        self.watchdog = threading.Timer(TIMEOUT * 6, self.kill)
        self.watchdog.daemon = True
        self.watchdog.start()
        self.threads = [
            threading.Thread(target=self._read_stdout, daemon=True),
            threading.Thread(target=self._read_stderr, daemon=True),
        ]
        for thread in self.threads:
            thread.start()

    # -- reading ----------------------------------------------------------------------------------

    def _read_stdout(self):
        buffer = bytearray()
        while True:
            try:
                data = os.read(self.process.stdout.fileno(), 1 << 16)
            except (OSError, ValueError):
                data = b""
            if not data:
                break
            buffer += data
            while (frame := self._take_frame(buffer)) is not None:
                self._on_frame(bytes(frame))
        with self.condition:
            if buffer:
                self.problems.append(f"the output ends in the middle of a message: {bytes(buffer[-200:])!r}")
            self.eof = True
            self.condition.notify_all()

    def _take_frame(self, buffer):
        if self.content_length:
            end = buffer.find(b"\r\n\r\n")
            if end < 0:
                return None
            headers = dict(
                (name.strip().lower(), value.strip())
                for name, _, value in (line.partition(b":") for line in bytes(buffer[:end]).split(b"\r\n"))
            )
            if b"content-length" not in headers:
                with self.condition:
                    self.problems.append(f"no Content-Length in {bytes(buffer[:end])!r}")
                buffer.clear()
                return None
            size = int(headers[b"content-length"])
            if len(buffer) < end + 4 + size:
                return None
            frame = buffer[end + 4 : end + 4 + size]
            del buffer[: end + 4 + size]
            return frame
        end = buffer.find(b"\n")
        if end < 0:
            return None
        frame = buffer[:end]
        del buffer[: end + 1]
        return frame

    def _on_frame(self, frame):
        try:
            text = frame.decode("utf-8")
            if text.lstrip().startswith("["):
                if self.session_revision not in mcp_schema.HAS_BATCHES:
                    raise ValueError("a batch, which this revision does not have")
                batch = [Message(text[s:e]) for s, e in elements(text)]
            else:
                batch = [Message(text)]
        except ValueError as error:
            with self.condition:
                self.problems.append(f"not a message: {error}: {frame[:500]!r}")
                self.condition.notify_all()
            return
        for message in batch:
            self._on_message(message)

    def _on_message(self, message):
        method, unannounced = None, False
        with self.condition:
            if message.method is None:
                queue = self.pending.get(key_of(message.id))
                # Of two requests with one id, the second is the one that is refused.
                at = -1 if "error" in message.data else 0
                method, revision = queue.pop(at) if queue else (None, None)
                unannounced = revision is None and "error" not in message.data
                if unannounced and self.strict:
                    self.problems.append(f"a result that nobody waits for: {message!r}")
                if method == "initialize" and "result" in message.data:
                    revision = message.result.get("protocolVersion")
                    self.session_revision = revision
                    self.revisions.add(revision)
                candidates = [revision] if revision else sorted(self.revisions) or [MODERN]
            else:
                candidates = self._revisions_of(message)
        found = [] if unannounced else min(
            (mcp_schema.problems(r, message.data, method) for r in candidates), key=len
        )
        reply = None
        if message.method is not None and "id" in message.data and message.method in self.answers:
            reply = self.answers[message.method](message.params)
        with self.condition:
            self.problems += [f"{problem} in {message!r}" for problem in found]
            self.messages.append(message)
            self.condition.notify_all()
        if reply is not None:
            with contextlib.suppress(OSError, ValueError):
                self.send({"jsonrpc": "2.0", "id": message.id, "result": reply})

    def _revisions_of(self, message):
        meta = message.params.get("_meta", {}) if isinstance(message.params, dict) else {}
        if META + "subscriptionId" in meta:
            return [MODERN]
        if message.method == "notifications/progress":
            return [self.tokens.get(key_of(message.params.get("progressToken")), MODERN)]
        return sorted(self.revisions) or [MODERN]

    def _read_stderr(self):
        ready = select.poll()
        ready.register(self.process.stderr.fileno(), select.POLLIN)
        while ready.poll() and self._take_stderr():
            pass

    def _take_stderr(self):
        """Read what has been written to stderr; False at its end."""
        with self.condition:
            while True:
                try:
                    data = os.read(self.process.stderr.fileno(), 1 << 16)
                except BlockingIOError:
                    return True
                except (OSError, ValueError):
                    return False
                if not data:
                    return False
                self.stderr += data
                self.condition.notify_all()

    @property
    def log(self):
        """All that the hub has logged by now: who has its answer finds here what it logged before that."""
        with self.condition:
            self._take_stderr()
            return self.stderr.decode("utf-8", "replace")

    # -- writing ----------------------------------------------------------------------------------

    def send_bytes(self, data):
        view = memoryview(data)
        while view:
            view = view[os.write(self.process.stdin.fileno(), view) :]

    def frame(self, text):
        data = text.encode("utf-8", "surrogatepass") if isinstance(text, str) else text
        if self.content_length:
            return b"Content-Length: %d\r\n\r\n%s" % (len(data), data)
        return data + b"\n"

    def send(self, message):
        """Send a message, given as an object or as text, and remember what its answer must be."""
        text = message if isinstance(message, str) else json.dumps(message)
        with contextlib.suppress(ValueError):
            self._expect(json.loads(text))
        self.send_bytes(self.frame(text))

    def _expect(self, data):
        for request in data if isinstance(data, list) else [data]:
            if not isinstance(request, dict) or "id" not in request or "method" not in request:
                continue
            params = request.get("params")
            meta = params.get("_meta") if isinstance(params, dict) else None
            meta = meta if isinstance(meta, dict) else {}
            revision = MODERN if META + "protocolVersion" in meta else self.session_revision or NEWEST_LEGACY
            with self.condition:
                self.revisions.add(revision)
                self.pending.setdefault(key_of(request["id"]), []).append((request["method"], revision))
                if "progressToken" in meta:
                    self.tokens[key_of(meta["progressToken"])] = revision

    def expect(self, method, *request_ids):
        """Announce requests that are sent as bytes, so that their answers can be checked."""
        with self.condition:
            for request_id in request_ids:
                revision = self.session_revision or MODERN
                self.pending.setdefault(key_of(request_id), []).append((method, revision))

    # -- waiting ----------------------------------------------------------------------------------

    def describe(self):
        traffic = "\n".join("  " + m.raw[:300] for m in self.messages[-8:])
        return f"\nlast messages of the hub:\n{traffic}\nits log:\n{self.log[-3000:]}"

    def check(self):
        if self.problems:
            raise AssertionError("the hub broke the protocol:\n" + "\n".join(self.problems[:5]) + self.describe())

    def wait_until(self, condition, what, timeout=TIMEOUT):
        """Wait until condition() is true, looking again whenever the hub wrote something."""
        deadline = time.monotonic() + timeout
        with self.condition:
            while not (value := condition()):
                left = deadline - time.monotonic()
                if self.problems or left <= 0 or (self.eof and self.process.poll() is not None):
                    break
                self.condition.wait(min(left, 1))  # the condition may ask for more than what it writes
        if not value:
            self.check()
            state = f"the hub ended ({self.process.poll()})" if self.eof else f"not within {timeout:g} s"
            raise AssertionError(f"waited for {what}: {state}{self.describe()}")
        return value

    def wait_for(self, predicate, what, since=0, timeout=TIMEOUT):
        """Wait for a message, among those after index `since`."""
        def find():
            return next((m for m in self.messages[since:] if predicate(m)), None)

        return self.wait_until(find, what, timeout)

    def response(self, request_id, since=0, timeout=TIMEOUT):
        wanted = key_of(request_id)
        return self.wait_for(
            lambda m: m.method is None and "id" in m.data and key_of(m.id) == wanted,
            f"the response to {wanted}",
            since,
            timeout,
        )

    def notifications(self, method, since=0):
        with self.condition:
            return [m for m in self.messages[since:] if m.method == method and "id" not in m.data]

    def wait_log(self, text, timeout=TIMEOUT):
        """Wait for a text in the log; return the line it is in."""
        def find():
            return next((line for line in self.log.splitlines() if text in line), None)

        return self.wait_until(find, f"{text!r} in the log", timeout)

    @property
    def mark(self):
        """The number of messages so far, to look only at later ones."""
        with self.condition:
            return len(self.messages)

    def new_id(self):
        self.next_id += 1
        return self.next_id

    # -- ending -----------------------------------------------------------------------------------

    def remember_descendants(self):
        self.descendants |= processes.descendants(self.process.pid)

    def kill(self):
        with contextlib.suppress(OSError):
            self.process.kill()

    def close_stdin(self):
        with contextlib.suppress(OSError, ValueError):
            self.process.stdin.close()

    def wait_exit(self, timeout=TIMEOUT):
        """Wait for the end of the hub; return its exit code."""
        try:
            code = processes.exit_code(self.process, timeout)
        except subprocess.TimeoutExpired:
            self.kill()
            raise AssertionError(f"the hub did not end within {timeout:g} s{self.describe()}") from None
        for thread in self.threads:
            thread.join(TIMEOUT)
        return code

    def finish(self, timeout=TIMEOUT):
        """End the hub by closing its input, and check what there is to check at the end."""
        if self.finished:
            return
        self.finished = True
        try:
            self.remember_descendants()
            self.close_stdin()
            code = self.wait_exit(timeout)
            if code != self.exit_code:
                raise AssertionError(f"exit code {code}, expected {self.exit_code}{self.describe()}")
            self.check()
            for sign in ("ERROR: AddressSanitizer", "ERROR: LeakSanitizer", "runtime error:", "assertion failed"):
                if sign in self.log:
                    raise AssertionError(f"{sign}{self.describe()}")
            self.check_no_descendants()
        finally:
            self.watchdog.cancel()
            self.kill()
            for pid in processes.marked(MARKER, self.test_id):
                with contextlib.suppress(OSError):
                    os.kill(pid, signal.SIGKILL)
            self.process.wait()
            for stream in (self.process.stdout, self.process.stderr):
                stream.close()

    def check_no_descendants(self):
        left = {pid for pid, started in self.descendants if processes.alive(pid, started)}
        left |= processes.marked(MARKER, self.test_id)
        left = processes.wait_gone(left, self.patience)
        if left:
            raise AssertionError(f"processes are left after the hub ended: {sorted(left)}{self.describe()}")


class Daemon(Hub):
    """A hub that listens (--http, --unix, or `listen`) and whose stdin is at its end: signals end it."""

    def __init__(self, *args, **options):
        super().__init__(*args, **options)
        self.is_told = False
        super().close_stdin()

    def listening(self, count=1):
        """Wait until so many listeners are ready; return their URLs and socket paths, in order."""

        def find():
            found = re.findall(r'listen\.ready (?:url|path)="?([^"\s]+)', self.log)
            return found if len(found) >= count else None

        return self.wait_until(find, f"{count} times listen.ready in the log")

    @property
    def url(self):
        """The first listener's, as "http://127.0.0.1:8787/mcp"."""
        return self.listening()[0]

    @property
    def address(self):
        """Host and port of the first listener, for sockets and http.client."""
        parts = urllib.parse.urlsplit(self.url)
        return parts.hostname, parts.port

    def close_stdin(self):
        """What ends it."""
        self.signal()

    def signal(self, number=signal.SIGTERM):
        """Have it end, unless that was done before: a second signal cuts the end short."""
        if not self.is_told:
            self.is_told = True
            self.process.send_signal(number)


def hub_environment(home, extra):
    env = {
        key: value
        for key, value in os.environ.items()
        if not key.startswith(("PATCHBAY_", "XDG_", "MCP_"))
    }
    env.update(
        HOME=str(home),
        LC_ALL="C.UTF-8",
        # The leak checker guesses where a library's thread-local block begins from the address alone,
        # and dies of a wrong guess: it is told not to guess. UBSan's checks may trap (../../run-tests).
        ASAN_OPTIONS="quarantine_size_mb=8:malloc_context_size=12:detect_odr_violation=0:intercept_tls_get_addr=0:handle_sigill=1",
        UBSAN_OPTIONS="print_stacktrace=1",
    )
    env.update(extra)
    return {key: value for key, value in env.items() if value is not None}


def ends_soon(manifest):
    """A manifest of a hub that does not wait for what a test has left under way when it ends."""
    limits = (manifest or {}).get("limits", {})
    return manifest and {**manifest, "limits": {"drain_timeout": "200ms", **limits}}


def patient(manifest):
    """A manifest whose limits are PATIENCE where it has none of its own."""
    limits = manifest.get("limits", {})
    return {**manifest, "limits": {**PATIENCE, **limits}} if isinstance(limits, dict) else manifest


def manifest_file(text, home):
    """A file with this manifest. Those that are there stay as they are: a hub that runs would reload."""
    names = itertools.chain(["patchbay.json"], (f"patchbay-{n}.json" for n in itertools.count(2)))
    path = next(p for p in map(home.joinpath, names) if not p.exists() or p.read_text(encoding="utf-8") == text)
    if not path.exists():
        path.write_text(text, encoding="utf-8")
    return path


def hub_command(*args, manifest=None, files=(), home=None, modules=True):
    argv = [hub_binary()]
    paths = list(files)
    if manifest is not None:
        paths.insert(0, manifest_file(json.dumps(patient(manifest), indent=1), Path(home)))
    for path in paths:
        argv += ["--config", str(path)]
    if modules:
        argv += ["--plugins-dir", module_folder(), "--plugins-dir", fixture_folder()]
    return argv + [str(arg) for arg in args]


class Client:
    """What a client of either era has in common. Requests are sent and answered in any order."""

    revision = None

    def __init__(self, hub):
        self.hub = hub

    def params(self, params, meta):
        params = dict(params or {})
        meta = {**self.meta(), **(meta or {}), **params.get("_meta", {})}
        if meta:
            params["_meta"] = meta
        return params

    def meta(self):
        return {}

    def send(self, method, params=None, meta=None, request_id=None):
        """Send a request and return its id."""
        request_id = self.hub.new_id() if request_id is None else request_id
        message = {"jsonrpc": "2.0", "id": request_id, "method": method}
        params = self.params(params, meta)
        if params:
            message["params"] = params
        self.hub.send(message)
        return request_id

    def send_raw(self, method, params, request_id=None):
        """Send a request whose params (beside _meta) are given as raw JSON members; return its id."""
        request_id = self.hub.new_id() if request_id is None else request_id
        members = [params] if params else []
        if self.meta():
            members.append('"_meta":' + json.dumps(self.meta()))
        self.hub.send(
            f'{{"jsonrpc":"2.0","id":{json.dumps(request_id)},"method":{json.dumps(method)},'
            f'"params":{{{",".join(members)}}}}}'
        )
        return request_id

    def request(self, method, params=None, meta=None, request_id=None, timeout=TIMEOUT):
        """Send a request and wait for its response."""
        since = self.hub.mark
        request_id = self.send(method, params, meta, request_id)
        return self.hub.response(request_id, since, timeout)

    def request_raw(self, method, params):
        since = self.hub.mark
        return self.hub.response(self.send_raw(method, params), since)

    def notify(self, method, params=None):
        message = {"jsonrpc": "2.0", "method": method}
        if params is not None:
            message["params"] = params
        self.hub.send(message)

    def cancel(self, request_id):
        self.notify("notifications/cancelled", {"requestId": request_id, "reason": "a test"})

    def send_call(self, name, arguments=None, **more):
        return self.send("tools/call", {"name": name, "arguments": arguments or {}}, **more)

    def call(self, name, arguments=None, **more):
        return self.request("tools/call", {"name": name, "arguments": arguments or {}}, **more)

    def pages(self, method="tools/list"):
        """All pages of a list, as messages."""
        pages, params = [], None
        while True:
            pages.append(self.request(method, params))
            if "nextCursor" not in pages[-1].result:
                return pages
            params = {"cursor": pages[-1].result["nextCursor"]}

    def tools(self):
        return [tool for page in self.pages() for tool in page.result["tools"]]

    def names(self):
        return [tool["name"] for tool in self.tools()]

    def own_names(self):
        """The exposed names without the meta-tools."""
        return [name for name in self.names() if name not in META_TOOLS]

    def raw_tools(self):
        """Raw text of each tool by its exposed name."""
        found = {}
        for page in self.pages():
            array = page.slice("result", "tools")
            for start, end in elements(array):
                raw = array[start:end]
                found[json.loads(raw)["name"]] = raw
        return found

    def barrier(self):
        """Wait until everything sent before has been handled, as far as the hub alone can."""
        self.request("tools/list")


class LegacyClient(Client):
    def __init__(self, hub, revision=NEWEST_LEGACY, capabilities=None, initialized=True):
        super().__init__(hub)
        self.answer = self.request(
            "initialize",
            {
                "protocolVersion": revision,
                "capabilities": capabilities or {},
                "clientInfo": {"name": "black-box", "version": "1"},
            },
        )
        self.revision = self.answer.result["protocolVersion"]
        if initialized:
            self.notify("notifications/initialized")

    def list_changes(self, since=0):
        return len(self.hub.notifications(LIST_CHANGED, since))

    def wait_list_changed(self, since):
        return self.hub.wait_for(lambda m: m.method == LIST_CHANGED, LIST_CHANGED, since)


class ModernClient(Client):
    revision = MODERN

    def __init__(self, hub, capabilities=None):
        super().__init__(hub)
        self.capabilities = capabilities or {}

    def meta(self):
        return {
            META + "protocolVersion": MODERN,
            META + "clientInfo": {"name": "black-box", "version": "1"},
            META + "clientCapabilities": self.capabilities,
        }

    def listen(self, **types):
        """Open a subscription and wait for its acknowledgement; return its id."""
        since = self.hub.mark
        request_id = self.send("subscriptions/listen", {"notifications": types})
        self.hub.wait_for(
            lambda m: m.method == "notifications/subscriptions/acknowledged"
            and m.params["_meta"][META + "subscriptionId"] == request_id,
            "the acknowledgement",
            since,
        )
        return request_id

    def events(self, subscription, since=0):
        with self.hub.condition:
            return [
                m
                for m in self.hub.messages[since:]
                if m.method is not None
                and key_of(m.params.get("_meta", {}).get(META + "subscriptionId")) == key_of(subscription)
            ]

    def wait_event(self, subscription, method=LIST_CHANGED, since=0):
        return self.hub.wait_for(
            lambda m: m.method == method
            and key_of(m.params.get("_meta", {}).get(META + "subscriptionId")) == key_of(subscription),
            f"{method} for {subscription}",
            since,
        )


class Recorder:
    """The test's end of one or more runs of tests/support/recorder_server.py."""

    def __init__(self, folder, name):
        self.path = str(Path(folder) / f"{name}.sock")
        self.condition = threading.Condition()
        self.starts = []
        self.events = []
        self.runs = []  # connections of those that are alive, the newest last
        self.accepted = 0
        self.commands = 0
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.bind(self.path)
        self.socket.listen(8)
        self.acceptor = threading.Thread(target=self._accept, daemon=True)
        self.acceptor.start()

    def toolset(self, *flags, **keys):
        """A manifest entry for it. The hub hands on the marker by which left-over processes are found."""
        return {
            "command": sys.executable,
            "args": ["-SE", str(SUPPORT / "recorder_server.py"), "--control", self.path, *map(str, flags)],
            "env": {MARKER: f"${{{MARKER}}}"},
            **keys,
        }

    def _accept(self):
        while True:
            try:
                connection, _ = self.socket.accept()
            except OSError:
                return
            with self.condition:
                self.runs.append(connection)
            threading.Thread(target=self._read, args=[connection], daemon=True).start()

    def _read(self, connection):
        # One that ends before it has read a command resets the connection.
        with contextlib.suppress(ConnectionResetError), connection.makefile("rb") as lines:
            for line in lines:
                event = json.loads(line)
                with self.condition:
                    if event["event"] == "accepted":
                        self.accepted = event["id"]
                        self.runs.remove(connection)
                    else:
                        self.events.append(event)
                    if event["event"] == "start":
                        self.starts.append(event["pid"])
                    self.condition.notify_all()
        with self.condition:
            if connection in self.runs:
                self.runs.remove(connection)
                self.events.append({"event": "gone"})
            self.condition.notify_all()
        connection.close()

    def wait_until(self, condition, what, timeout=TIMEOUT):
        deadline = time.monotonic() + timeout
        with self.condition:
            while not (value := condition()):
                left = deadline - time.monotonic()
                if left <= 0:
                    raise AssertionError(f"waited for {what} at the upstream; last events: {self.events[-5:]}")
                self.condition.wait(left)
        return value

    def lines(self, method=None, since=0):
        """Raw lines received, of one method."""
        with self.condition:
            texts = [e["text"] for e in self.events[since:] if e["event"] == "line"]
        return [t for t in texts if method is None or json.loads(t).get("method") == method]

    def wait_line(self, predicate, what="a line", since=0, timeout=TIMEOUT):
        def find():
            for event in self.events[since:]:
                if event["event"] == "line" and predicate(json.loads(event["text"])):
                    return event["text"]
            return None

        return self.wait_until(find, what, timeout)

    def wait_request(self, method, since=0, timeout=TIMEOUT):
        return self.wait_line(lambda m: m.get("method") == method, method, since, timeout)

    def wait_calls(self, count, since=0):
        """Wait until `count` calls have arrived; return their raw lines."""
        self.wait_until(lambda: len(self.lines("tools/call", since)) >= count, f"{count} calls")
        return self.lines("tools/call", since)

    def wait_event(self, name, since=0, timeout=TIMEOUT):
        return self.wait_until(
            lambda: next((e for e in self.events[since:] if e["event"] == name), None), name, timeout
        )

    def _wait_accepted(self):
        """Until all runs that have connected so far are known. Connections are accepted in their order: when this one is, all
        earlier ones are."""
        with self.condition:
            self.commands += 1
            number = self.commands
        with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
            probe.connect(self.path)
            probe.sendall(json.dumps({"event": "accepted", "id": number}).encode() + b"\n")
            self.wait_until(lambda: self.accepted >= number, "the probe")

    def sync(self):
        """Wait until everything that any run has received so far is known here."""
        self._wait_accepted()
        with self.condition:
            alive = list(self.runs)
        for run in alive:
            self._command(run, {})
        return self

    @property
    def mark(self):
        """The number of events so far, to look only at later ones."""
        self.sync()
        with self.condition:
            return len(self.events)

    def command(self, **fields):
        """Tell the newest run to do something, and wait until it has."""
        self.wait_until(lambda: self.runs, "a run")
        self._wait_accepted()
        with self.condition:
            newest = self.runs[-1] if self.runs else None
        if newest is not None:  # it may have ended
            self._command(newest, fields)

    def _command(self, run, fields):
        with self.condition:
            self.commands += 1
            number = self.commands
        # What one that has ended reported is still being read: its end is known here after all of that.
        with contextlib.suppress(OSError):
            run.sendall(json.dumps({**fields, "id": number}).encode() + b"\n")
        self.wait_until(
            lambda: {"event": "done", "id": number} in self.events or run not in self.runs,
            f"the command {list(fields)}",
        )

    def wait_gone(self, runs=1):
        """Wait until so many runs have ended."""
        self.wait_until(lambda: sum(e["event"] == "gone" for e in self.events) >= runs, f"the end of {runs} runs")

    def write(self, text):
        self.command(write=text)

    def answer(self, line, members='"content":[]'):
        """Answer a held call, given as the raw line of its request."""
        self.write(f'{{"jsonrpc":"2.0","id":{slice_at(line, "id")},"result":{{{members}}}}}')

    def close(self):
        # A thread that goes to accept when the descriptor is closed, and used again, takes another recorder's connections.
        self.socket.shutdown(socket.SHUT_RDWR)
        self.acceptor.join()
        self.socket.close()


class HubTest(unittest.TestCase):
    """Base of all tests: a home folder for each, hubs and recorders that are cleaned up."""

    maxDiff = 4000

    def setUp(self):
        self.home = Path(tempfile.mkdtemp(prefix="patchbay-test-"))
        self.addCleanup(shutil.rmtree, self.home, ignore_errors=True)
        self.recorders = 0

    def hub(self, *args, toolsets=None, manifest=None, **options):
        """Start a hub with these toolsets (or this whole manifest)."""
        if toolsets is not None:
            manifest = {**(manifest or {}), "toolsets": toolsets}
        hub = Hub(*args, manifest=manifest, home=self.home, **options)
        self.addCleanup(self._finish, hub)
        return hub

    def daemon(self, *args, toolsets=None, manifest=None, **options):
        """Start a hub that listens, by default on a free port of the loopback."""
        if toolsets is not None:
            manifest = {**(manifest or {}), "toolsets": toolsets}
        named = {"--http", "--unix"} & set(args) or "listen" in (manifest or {})
        args = args if named else ("--http", 0, *args)
        hub = Daemon(*args, manifest=ends_soon(manifest), home=self.home, **options)
        self.addCleanup(self._finish, hub)
        return hub

    def _finish(self, hub):
        try:
            hub.finish()
        except AssertionError:
            if getattr(self._outcome, "success", True):
                raise

    def legacy(self, *args, revision=NEWEST_LEGACY, capabilities=None, **options):
        return LegacyClient(self.hub(*args, **options), revision, capabilities)

    def modern(self, *args, capabilities=None, **options):
        return ModernClient(self.hub(*args, **options), capabilities)

    def hanging_resolver(self):
        """The environment of a hub for which names that end in .hangs are looked up until the FIFO is opened and closed; and the FIFO."""
        fifo, library = self.home / "resolver", self.home / "hanging_resolver.so"
        os.mkfifo(fifo)
        subprocess.run([os.environ.get("CC", "cc"), "-shared", "-fPIC", "-o", library, SUPPORT / "hanging_resolver.c"], check=True)
        sanitizers = "handle_sigill=1:detect_odr_violation=0:intercept_tls_get_addr=0:verify_asan_link_order=0"
        return {"LD_PRELOAD": str(library), "PATCHBAY_TEST_RESOLVER": str(fifo), "ASAN_OPTIONS": sanitizers}, fifo

    def replace_manifest(self, hub, manifest, path=None):
        """Put another manifest in the place of the hub's and wait until it is taken: one change, one reload, without SIGHUP."""
        path = path or self.home / "patchbay.json"
        since = hub.log.count("config.reloaded")
        fresh = path.with_name(f".{path.name}.new")
        fresh.write_text(json.dumps(manifest), encoding="utf-8")
        fresh.rename(path)
        hub.wait_until(lambda: hub.log.count("config.reloaded") > since, "the reload")

    def recorder(self, name=None):
        self.recorders += 1
        recorder = Recorder(self.home, name or f"r{self.recorders}")
        self.addCleanup(recorder.close)
        return recorder

    def cli(self, *args, manifest=None, toolsets=None, stdin=None, env=None, modules=True, files=(), cwd=None):
        """Run a subcommand to its end. `args` begins with the subcommand's name."""
        if toolsets is not None:
            manifest = {**(manifest or {}), "toolsets": toolsets}
        options = hub_command(manifest=manifest, home=self.home, modules=modules, files=files)
        test_id = uuid.uuid4().hex
        try:
            done = subprocess.run(
                [options[0], *map(str, args), *options[1:]],
                input=stdin if stdin is not None else "",
                capture_output=True,
                text=True,
                timeout=TIMEOUT,
                cwd=cwd or self.home,
                env=hub_environment(self.home, {MARKER: test_id, **(env or {})}),
                check=False,
            )
        finally:
            left = processes.wait_gone(processes.marked(MARKER, test_id), TIMEOUT)
        self.assertEqual(left, set(), "processes are left")
        for sign in ("AddressSanitizer", "LeakSanitizer", "runtime error:"):
            self.assertNotIn(sign, done.stderr)
        lines = done.stderr.splitlines(keepends=True)
        done.stderr = "".join(line for line in lines if not any(word in line for word in SLOWNESS))
        return done

    def refused(self, *args, **options):
        """A hub that must refuse to start: (exit code, what it wrote to stderr)."""
        done = self.cli("serve", *args, **options)
        self.assertEqual(done.stdout, "")
        return done.returncode, done.stderr

    def assertSays(self, text, *parts):
        """A message contains every part, whatever the case of the letters."""
        for part in parts:
            self.assertIn(part.lower(), text.lower())

    def meta_call(self, client, name, **arguments):
        """Call a meta-tool and return its structured result."""
        return client.call(name, arguments).result["structuredContent"]


def main():
    unittest.main(verbosity=2)
