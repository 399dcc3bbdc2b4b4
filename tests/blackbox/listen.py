# SPDX-License-Identifier: Apache-2.0
"""Where the hub listens: flags and `listen`, together with stdio or alone, from start to end."""

import contextlib
import fcntl
import http.client
import json
import os
import pty
import signal
import socket
import stat
import subprocess
import sys
import termios
import urllib.parse

from http_client import Server
from mcp import (
    MARKER,
    META,
    MODERN,
    TIMEOUT,
    HubTest,
    LegacyClient,
    fixture,
    hub_binary,
    hub_command,
    hub_environment,
    main,
    processes,
)

USAGE, CONFIG, LISTEN = 2, 3, 4
TOOLSETS = {"alpha": fixture("one", "hold")}


def modern_request(request_id, method, /, **params):
    meta = {
        META + "protocolVersion": MODERN,
        META + "clientInfo": {"name": "black-box", "version": "1"},
        META + "clientCapabilities": {},
    }
    return {"jsonrpc": "2.0", "id": request_id, "method": method, "params": {**params, "_meta": meta}}


class Lines:
    """A client on a Unix socket: one message per line."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        self.socket.settimeout(TIMEOUT)
        self.socket.connect(str(path))
        self.lines = self.socket.makefile("rwb")
        self.next_id = 0

    def send(self, method, /, **params):
        self.next_id += 1
        self.lines.write(json.dumps(modern_request(self.next_id, method, **params)).encode() + b"\n")
        self.lines.flush()
        return self.next_id

    def receive(self):
        line = self.lines.readline()
        return json.loads(line) if line else None

    def request(self, method, /, **params):
        self.send(method, **params)
        return self.receive()

    def close(self):
        self.lines.close()
        self.socket.close()


class Base(HubTest):
    def lines(self, path):
        client = Lines(path)
        self.addCleanup(client.close)
        return client

    def names_over_unix(self, path):
        return [t["name"] for t in self.lines(path).request("tools/list")["result"]["tools"]]

    def names_over_http(self, url):
        """With nothing but the standard library, as a user's script would."""
        parts = urllib.parse.urlsplit(url)
        connection = http.client.HTTPConnection(parts.hostname, parts.port, timeout=TIMEOUT)
        self.addCleanup(connection.close)
        body = json.dumps(modern_request(1, "tools/list"))
        connection.request("POST", parts.path, body, {
            "Content-Type": "application/json",
            "Accept": "application/json, text/event-stream",
            "MCP-Protocol-Version": MODERN,
            "Mcp-Method": "tools/list",
        })
        answer = json.loads(connection.getresponse().read())
        return [t["name"] for t in answer["result"]["tools"]]


class Flags(Base):
    def test_http_on_a_free_port(self):
        hub = self.daemon("--http", "0", toolsets=TOOLSETS)
        self.assertRegex(hub.url, r"^http://127\.0\.0\.1:[1-9]\d*/mcp$")
        self.assertIn("alpha__one", self.names_over_http(hub.url))
        self.assertEqual(hub.messages, [])  # nothing on stdout; its stdin has been at its end for long
        hub.finish()

    def test_many_listeners(self):
        path = self.home / "hub.sock"
        hub = self.daemon("--http", "0", "--unix", path, "--http", "localhost:0", "--http", "[::1]:0", toolsets=TOOLSETS)
        found = hub.listening(4)
        self.assertEqual(found[3], str(path))  # in this order: HTTP, then sockets
        self.assertEqual(len(set(found)), 4)
        self.assertTrue(found[2].startswith("http://[::1]:"), found)
        for url in (found[0], found[2]):
            self.assertIn("alpha__one", self.names_over_http(url))
        self.assertIn("alpha__one", self.names_over_unix(path))
        hub.finish()
        self.assertFalse(path.exists())

    def test_a_unix_socket(self):
        hub = self.daemon("--unix", "hub.sock", toolsets=TOOLSETS)
        path = self.home / "hub.sock"
        self.assertEqual(hub.listening(), [str(path)])
        self.assertEqual(stat.S_IMODE(path.stat().st_mode), 0o600)
        clients = [self.lines(path) for _ in range(5)]
        for client in clients:
            client.send("tools/call", name="alpha__one", arguments={})
        for client in clients:
            self.assertIn("result", client.receive())

    def test_a_profile_on_the_socket(self):
        manifest = {
            "toolsets": {**TOOLSETS, "beta": fixture("two")},
            "profiles": {"small": {"toolsets": ["beta"], "meta_tools": False}},
        }
        path = self.home / "hub.sock"
        hub = self.daemon("--unix", path, "--profile", "small", manifest=manifest)
        hub.listening()
        self.assertEqual(self.names_over_unix(path), ["beta__two"])

    def test_stdio_too(self):
        hub = self.hub("--stdio", "--http", "0", "--unix", self.home / "hub.sock", toolsets=TOOLSETS)
        client = LegacyClient(hub)
        self.assertIn("alpha__one", client.names())
        server = Server(self, hub)
        self.assertIn("alpha__one", self.names_over_http(server.url))
        self.assertIn("alpha__one", self.names_over_unix(self.home / "hub.sock"))
        hub.finish()  # by closing its stdin: with --stdio the hub is that client's

    def test_stdio_only_when_asked(self):
        hub = self.hub("--http", "0", toolsets=TOOLSETS)
        server = Server(self, hub)
        hub.strict = False
        hub.send_bytes(b'{"jsonrpc":"2.0","id":1,"method":"ping"}\n')
        self.assertIn("alpha__one", self.names_over_http(server.url))
        self.assertEqual(hub.messages, [])
        hub.process.terminate()
        hub.finish()
        self.assertEqual(hub.messages, [])

    def test_names_of_the_hub(self):
        hub = self.daemon("--http", "0", "--allowed-host", "hub.example.com", "--allowed-origin", "https://app.example.com",
                          toolsets=TOOLSETS)
        server = Server(self, hub)
        self.assertEqual(server.ask("OPTIONS", "/mcp", host="hub.example.com").status, 204)
        self.assertEqual(server.ask("OPTIONS", "/mcp", host="localhost").status, 403)
        origin = [("Origin", "https://app.example.com")]
        self.assertEqual(server.get("/healthz", origin, host="hub.example.com").status, 200)

    def test_bad_flags(self):
        cases = {
            ("--http", "hub.example.com:80"): ("--http", "127.0.0.1"),
            ("--http", "::1:80"): ("--http", "[::1]:8787"),
            ("--http", "65536"): ("--http", "65536"),
            ("--http", "*:80"): ("--http", "0.0.0.0"),
            ("--unix", "x" * 120): ("--unix", "107"),
            ("--http", "0", "--allowed-origin", "*"): ("--allowed-origin", "https://app.example.com"),
            ("--http", "7", "--http", "7"): ("--http", "already"),
            ("--htp", "1"): ("--htp", "--http"),
        }
        for arguments, says in cases.items():
            with self.subTest(arguments):
                code, text = self.refused(*arguments)
                self.assertEqual(code, USAGE, text)
                self.assertSays(text, *says)


class Manifest(Base):
    def test_listen(self):
        listen = [{"http": "127.0.0.1:0"}, {"unix": "run/${NAME}.sock", "mode": "0660", "profile": "small"}]
        (self.home / "run").mkdir()
        manifest = {"toolsets": TOOLSETS, "profiles": {"small": {"meta_tools": False}}, "listen": listen}
        hub = self.daemon(manifest=manifest, env={"NAME": "hub"})
        url, path = hub.listening(2)
        self.assertEqual(path, str(self.home / "run" / "hub.sock"))
        self.assertEqual(stat.S_IMODE(os.stat(path).st_mode), 0o660)
        self.assertEqual(self.names_over_unix(path), ["alpha__hold", "alpha__one"])
        self.assertIn("alpha__one", self.names_over_http(url))

    def test_flags_stand_instead(self):
        manifest = {"toolsets": TOOLSETS, "listen": [{"unix": "a.sock"}]}
        hub = self.daemon("--unix", "b.sock", manifest=manifest)
        self.assertEqual(hub.listening(), [str(self.home / "b.sock")])
        self.assertFalse((self.home / "a.sock").exists())

    def test_stdio_beside_it(self):
        hub = self.hub("--stdio", manifest={"toolsets": TOOLSETS, "listen": [{"unix": "a.sock"}]})
        self.assertIn("alpha__one", LegacyClient(hub).names())
        self.assertIn("alpha__one", self.names_over_unix(self.home / "a.sock"))

    def test_other_commands_listen_nowhere(self):
        manifest = {"toolsets": TOOLSETS, "listen": [{"unix": "a.sock"}], "auth": {"tokens": "none.json"}}
        done = self.cli("list", "tools", manifest=manifest)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertFalse((self.home / "a.sock").exists())


class Check(Base):
    def check(self, manifest, code, *says):
        done = self.cli("check", manifest=manifest)
        self.assertEqual(done.returncode, code, done.stderr)
        self.assertSays(done.stdout + done.stderr, *says)

    def test_without_binding(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            listen = [{"http": taken.getsockname()[1]}, {"unix": "a.sock"}]
            self.check({"toolsets": TOOLSETS, "listen": listen}, 0, "1 toolset", "2 listeners")
        self.assertFalse((self.home / "a.sock").exists())

    def test_what_is_missing(self):
        tls = {"http": 1, "tls": {"certificate": "hub.pem", "key": "hub.key"}}
        self.check({"listen": [tls]}, CONFIG, "patchbay.json:", "tls.certificate", "hub.pem", "no such file")
        (self.home / "hub.pem").write_text("x")
        self.check({"listen": [tls]}, CONFIG, "tls.key", "hub.key")
        (self.home / "hub.key").write_text("x")
        (self.home / "hub.key").chmod(0o644)
        self.check({"listen": [tls]}, CONFIG, "tls.key", "chmod 600")
        self.check({"auth": {"tokens": "t.json"}}, CONFIG, "auth.tokens", "t.json", "no such file")
        self.check({"listen": [{"unix": "none/a.sock"}]}, CONFIG, "none", "make it first")
        self.check({"listen": [{"unix": "a.sock", "group": "no-such-group"}]}, CONFIG, "no-such-group")

    def test_strangers(self):  # C05
        self.check({"listen": [{"http": "0.0.0.0:1"}]}, LISTEN, "0.0.0.0", "auth: {tokens: FILE}", "insecure: true")
        self.check({"listen": [{"http": "0.0.0.0:1", "insecure": True}]}, 0)


class Refused(Base):
    def refused_with(self, code, *arguments, says, **options):
        found, text = self.refused(*arguments, **options)
        self.assertEqual(found, code, text)
        self.assertSays(text, *says)
        return text

    def test_a_port_in_use(self):
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            self.refused_with(LISTEN, "--http", address, says=[address, "in use", "another port"])

    def test_a_socket_in_use(self):
        path = self.home / "hub.sock"
        hub = self.daemon("--unix", path, toolsets=TOOLSETS)
        hub.listening()
        self.refused_with(LISTEN, "--unix", path, says=[str(path), "another path"])
        self.assertIn("alpha__one", self.names_over_unix(path))

    def test_a_file_that_is_no_socket(self):
        path = self.home / "notes.txt"
        path.write_text("precious")
        self.refused_with(LISTEN, "--unix", path, says=[str(path)])
        self.assertEqual(path.read_text(), "precious")

    def test_an_address_of_another_machine(self):
        self.refused_with(LISTEN, "--http", "192.0.2.1:0", "--insecure", says=["192.0.2.1"])

    def test_strangers(self):  # C05
        for address in ("0.0.0.0:0", "[::]:0"):
            text = self.refused_with(LISTEN, "--http", address, says=["patchbay token new", "--tokens", "--insecure"])
            self.assertNotIn("listen.ready", text)
            self.assertNotIn("resolver.loaded", text)  # before anything is loaded or bound
        hub = self.daemon("--http", "0.0.0.0:0", "--insecure", "--allowed-host", "127.0.0.1", toolsets=TOOLSETS)
        self.assertSays(hub.wait_log("listen.insecure"), "without authentication")

    def test_nothing_is_left_when_one_fails(self):
        path = self.home / "hub.sock"
        with socket.create_server(("127.0.0.1", 0)) as taken:
            address = f"127.0.0.1:{taken.getsockname()[1]}"
            manifest = {"listen": [{"unix": str(path)}, {"http": address}]}
            self.refused_with(LISTEN, says=[address, "in use"], manifest=manifest)
        self.assertFalse(path.exists())


class Ending(Base):
    def test_signals(self):
        for number in (signal.SIGTERM, signal.SIGINT):
            hub = self.daemon("--http", "0", "--unix", "hub.sock", toolsets=TOOLSETS)
            hub.listening(2)
            hub.signal(number)
            hub.finish()
            self.assertSays(hub.log, "hub.stopping reason=signal")

    def test_hangup_without_a_terminal(self):
        hub = self.daemon("--unix", "hub.sock", toolsets=TOOLSETS)
        hub.listening()
        hub.process.send_signal(signal.SIGHUP)
        self.assertIn("alpha__one", self.names_over_unix(self.home / "hub.sock"))

    def test_idle_connections_do_not_hold_it(self):
        hub = self.daemon("--http", "0", "--unix", "hub.sock", toolsets=TOOLSETS)
        url, path = hub.listening(2)
        address = urllib.parse.urlsplit(url)
        with contextlib.ExitStack() as stack:
            for _ in range(5):
                stack.enter_context(socket.create_connection((address.hostname, address.port)))
            client = self.lines(path)
            client.request("ping")
            hub.finish()
            self.assertIsNone(client.receive())

    def test_calls_in_flight_are_answered(self):
        hub = self.daemon("--http", "0", "--unix", "hub.sock", toolsets=TOOLSETS)
        _, path = hub.listening(2)
        server = Server(self, hub)
        over_http = server.connection()
        over_http.send(server.modern_bytes("tools/call", {"name": "alpha__hold", "arguments": {}}))
        over_unix = self.lines(path)
        over_unix.send("tools/call", name="alpha__hold", arguments={})
        over_unix.send("ping")
        self.assertEqual(over_unix.receive()["id"], 2)  # the call before it has begun
        server.modern("tools/list")
        hub.close_stdin()
        self.assertEqual(over_unix.receive()["id"], 1)
        reply = over_http.reply()
        message = reply.messages[-1] if reply.is_stream else reply.message
        self.assertEqual(message.id, 1)
        hub.finish()

    def test_a_reader_that_stopped_does_not_hold_it(self):
        big = {"alpha": fixture("one", "big")}
        hub = self.daemon("--unix", "hub.sock", toolsets=big)
        hub.listening()
        client = self.lines(self.home / "hub.sock")
        padding = "x" * 1000000
        for _ in range(4):  # more than the socket holds, and nobody reads
            client.send("tools/call", name="alpha__one", arguments={"padding": padding})
        self.lines(self.home / "hub.sock").request("tools/list")
        hub.close_stdin()
        hub.finish()

    def kill_marked(self, test_id):
        for left in processes.marked(MARKER, test_id):
            with contextlib.suppress(ProcessLookupError):  # it may be at its end
                os.kill(left, signal.SIGKILL)

    def test_the_parent_may_leave(self):
        """Unlike a hub on stdio, it does not end with whoever started it."""
        path = self.home / "hub.sock"
        test_id = "orphan-" + self.id()
        argv = hub_command("--unix", path, manifest={"toolsets": TOOLSETS}, home=self.home)
        script = "import subprocess, sys; print(subprocess.Popen(sys.argv[1:], stdin=subprocess.DEVNULL,"
        script += " stdout=subprocess.DEVNULL).pid)"
        parent = subprocess.Popen([sys.executable, "-c", script, *argv], stdout=subprocess.PIPE, cwd=self.home,
                                  stderr=subprocess.PIPE, env=hub_environment(self.home, {MARKER: test_id}))
        self.addCleanup(self.kill_marked, test_id)
        self.addCleanup(parent.stderr.close)
        with parent.stdout:
            pid = int(parent.stdout.read())
        self.assertEqual(parent.wait(TIMEOUT), 0)
        self.assertTrue(any(b"listen.ready" in line for line in parent.stderr))  # up to that line
        self.assertIn("alpha__one", self.names_over_unix(path))
        os.kill(pid, signal.SIGTERM)
        self.assertIn(b"hub.stopping reason=signal", parent.stderr.read())  # up to its end


class Descriptors(Base):
    def test_closed_ones(self):
        """Whoever starts it may have closed stdin, stdout or both: no client gets their numbers."""
        path = self.home / "hub.sock"
        for closed in ("<&-", ">&-", "<&- >&-"):
            argv = hub_command("--unix", path, manifest={"toolsets": TOOLSETS}, home=self.home)
            hub = self.daemon("--unix", path, command=["sh", "-c", f'exec "$@" {closed}', "sh", *argv])
            hub.listening()
            self.assertIn("alpha__one", self.names_over_unix(path))
            null = os.stat("/dev/null").st_rdev
            for fd, word in ((0, "<&-"), (1, ">&-")):
                if word in closed:
                    self.assertEqual(os.stat(f"/proc/{hub.process.pid}/fd/{fd}").st_rdev, null, closed)
            hub.finish()


class Terminal(Base):
    """What happens when a human types the command."""

    def run_in_terminal(self, *arguments):
        """Start it as the leader of a session with a terminal of its own; (process, the terminal's other end)."""
        ours, theirs = pty.openpty()

        def take_terminal():
            os.setsid()
            fcntl.ioctl(0, termios.TIOCSCTTY, 0)
            signal.signal(signal.SIGHUP, signal.SIG_DFL)  # also where nohup runs the tests

        process = subprocess.Popen([hub_binary(), *map(str, arguments)], stdin=theirs, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, cwd=self.home, env=hub_environment(self.home, {}),
                                   preexec_fn=take_terminal)
        os.close(theirs)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        window = os.fdopen(ours, "wb", buffering=0)
        self.addCleanup(window.close)
        return process, window

    def run_until_ready(self, *arguments):
        process, window = self.run_in_terminal(*arguments)
        for line in process.stderr:
            if b"listen.ready" in line:
                return process, window
        self.fail("it did not get ready")

    def test_nothing_to_serve(self):
        process, _ = self.run_in_terminal()
        out, _ = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 0)
        self.assertSays(out.decode(), "usage: patchbay", "patchbay help COMMAND")
        process, _ = self.run_in_terminal("--naming", "flat")
        out, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual((process.returncode, out), (USAGE, b""))
        self.assertSays(err.decode(), "terminal", "--http 8787", "--stdio")

    def test_a_service_that_nobody_can_reach(self):
        for words, code in (((), USAGE), (("--stdio",), 0)):
            done = subprocess.run(
                [hub_binary(), "serve", *words], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                cwd=self.home, env=hub_environment(self.home, {}), timeout=TIMEOUT, check=False)
            self.assertEqual((done.returncode, done.stdout), (code, ""))
            if code == USAGE:
                self.assertSays(done.stderr, "/dev/null", "`listen`", "--http 8787", "--stdio")

    def test_control_c_ends_it(self):
        process, window = self.run_until_ready("--unix", "hub.sock")
        window.write(b"\x03")
        _, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 0, err)
        self.assertIn(b"hub.stopping reason=signal", err)

    def test_it_ends_with_its_window(self):
        process, window = self.run_until_ready("--unix", "hub.sock")
        window.close()
        _, err = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 0, err)
        self.assertFalse((self.home / "hub.sock").exists())


if __name__ == "__main__":
    main()
