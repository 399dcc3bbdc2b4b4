# SPDX-License-Identifier: Apache-2.0
"""Commands that ask a hub that runs: top, tail, and toolset and approve with an address."""

import fcntl
import hashlib
import json
import os
import pty
import re
import select
import signal
import struct
import subprocess
import sys
import termios
import unicodedata

from api import Base
from http_client import Server
from mcp import SUPPORT, fixture, hub_command, hub_environment, main, tool

USAGE, CONFIG, NO_HUB = 2, 3, 3
EVIL = "x\033]0;owned\007\u202e<b>"


def unseen(text):
    """Characters that move a terminal's cursor, or turn text around."""
    return {character for character in text if unicodedata.category(character) in ("Cc", "Cf") and character != "\n"}


DEAD = {"command": "/nonexistent/server"}


class RunningBase(Base):
    TOOLSETS = {"a": fixture("one", "two"), "b": fixture("three")}

    def serve_both(self, **more):
        for name, scopes in (("own", None), ("admin", "admin")):
            self.token(name, *(["--scopes", scopes] if scopes else []))
        self.socket = self.home / "hub.sock"
        manifest = {"listen": [{"http": "127.0.0.1:0", "api": True}, {"unix": str(self.socket)}], "auth": {"tokens": str(self.home / "tokens.json")},
                    "toolsets": self.TOOLSETS, **more}
        hub = self.daemon(manifest=manifest)
        hub.listening(2)
        return Server(self, hub)

    def ask_hub(self, *words, code=0):
        done = self.cli(*words, "--unix", self.socket)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def words(self, *words):
        program, *options = hub_command(home=self.home)
        return [program, *words, "--unix", str(self.socket), *options]

    def start(self, *words, **options):
        process = subprocess.Popen(self.words(*words), env=hub_environment(self.home, {}), cwd=self.home, **options)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process


class Top(RunningBase):
    def test_one_second_as_text(self):
        server = self.serve_both(toolsets={**self.TOOLSETS, "dead": DEAD})
        server.modern("tools/list", headers={"Authorization": f"Bearer {self.tokens['admin']}"})
        lines = self.ask_hub("top").stdout.splitlines()
        self.assertRegex(lines[0], r"^patchbay  up \d+s  toolsets 3, failed 1  servers \d+  in flight 0  calls/s 0\.0  errors/s 0\.0$")
        self.assertEqual(lines[1].split()[:2], ["TOOLSET", "STATE"])
        self.assertEqual([line.split()[0] for line in lines[2:]], ["dead", "a", "b"], "what has failed comes first")
        self.assertIn("/nonexistent/server", lines[2])
        self.assertNotIn("\033", "".join(lines))

    def test_hostile_texts(self):
        """Why a server is down is what the server says: shown, and painting nothing."""
        refuse = ("import json, sys\nfor line in sys.stdin:\n    if 'id' in (m := json.loads(line)):\n        "
                  f"print(json.dumps({{'jsonrpc': '2.0', 'id': m['id'], 'error': {{'code': -1, 'message': {EVIL!r}}}}}), flush=True)")
        server = self.serve_both(toolsets={"up": {"command": sys.executable, "args": ["-c", refuse]}})
        server.modern("tools/list", headers={"Authorization": f"Bearer {self.tokens['admin']}"})
        for word in ("top", "status"):
            shown = self.cli(word, "--unix", self.socket).stdout  # by its code status says whether it is down or being tried again
            self.assertSays(shown, "owned")
            self.assertEqual(unseen(shown), set(), word)

    def test_no_json_and_no_hub(self):
        self.serve_both()
        self.assertSays(self.ask_hub("top", "--json", code=USAGE).stderr, "status --json")
        self.assertEqual(self.cli("top", "--unix", self.home / "none.sock").returncode, NO_HUB)

    def terminal(self, rows, columns, **environment):
        """top at a terminal; its end of it."""
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        self.resize(master, rows, columns)
        env = hub_environment(self.home, {"TERM": "xterm", "NO_COLOR": None, **environment})
        process = subprocess.Popen(self.words("top"), stdin=slave, stdout=slave, stderr=slave, env=env, cwd=self.home, start_new_session=True)
        os.close(slave)
        self.addCleanup(process.wait)
        self.addCleanup(process.kill)
        return process, master

    def resize(self, fd, rows, columns):
        fcntl.ioctl(fd, termios.TIOCSWINSZ, struct.pack("HHHH", rows, columns, 0, 0))

    def read_until(self, fd, wanted):
        text = ""
        while not re.search(wanted, text):
            self.assertTrue(select.select([fd], [], [], 60)[0], text)
            try:
                text += os.read(fd, 65536).decode()
            except OSError:  # the terminal has ended
                self.fail(text)
        return text

    def test_at_a_terminal(self):
        self.serve_both(toolsets={**{f"t{i:02}": fixture("one") for i in range(20)}})
        process, terminal = self.terminal(10, 60)
        text = self.read_until(terminal, r"and 13 more")
        self.assertTrue(text.startswith("\033[?1049h\033[?25l"))
        lines = [re.sub(r"\033\[[0-9;?]*[A-Za-z]", "", line).strip("\r") for line in text.split("\r\n")]
        self.assertLessEqual(max(map(len, lines)), 60)
        self.resize(terminal, 30, 100)
        process.send_signal(signal.SIGWINCH)  # as terminals send it
        self.read_until(terminal, r"t19")
        os.write(terminal, b"q")
        self.read_until(terminal, r"\033\[\?1049l")
        self.assertEqual(process.wait(60), 0)

    def test_without_colours(self):
        self.serve_both()
        process, terminal = self.terminal(24, 80, NO_COLOR="1")
        text = self.read_until(terminal, r"three|b  ")
        self.assertNotRegex(text, r"\033\[[0-9;]+m")
        process.send_signal(signal.SIGTERM)
        self.read_until(terminal, r"\033\[\?1049l")
        self.assertEqual(process.wait(60), 0)


class Tail(RunningBase):
    def follow(self, server, *words):
        """tail, once the hub keeps events for it."""
        process = self.start("tail", *words, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        return process

    def calls_until(self, server, process, name, **more):
        """Make calls until a line has come: what begins before tail looks is not shown."""
        while not select.select([process.stdout], [], [], 0.1)[0]:
            self.do(server, "/call", {"name": name}, **more)
        return process.stdout.readline()

    def test_calls_are_seen(self):
        server = self.serve_both()
        process = self.follow(server)
        line = self.calls_until(server, process, "a__one")
        self.assertRegex(line, r"^\d\d:\d\d:\d\d call\.(begun|ended) ")
        self.assertSays(line, "toolset=a", "name=one", "who=token:admin")

    def test_conditions(self):
        server = self.serve_both()
        process = self.follow(server, "toolset=a", "tool=tw*", "principal=token:own", "event=call.ended", "--json")
        self.do(server, "/call", {"name": "a__one"}, who="own")
        self.do(server, "/call", {"name": "a__two"}, who="admin")
        event = json.loads(self.calls_until(server, process, "a__two", who="own"))
        self.assertEqual((event["event"], event["toolset"], event["name"], event["who"], event["outcome"]), ("call.ended", "a", "two", "token:own", "ok"))

    def test_what_is_no_condition(self):
        self.serve_both()
        for word in ("a", "toolset", "who=x", "=x"):
            self.assertSays(self.ask_hub("tail", word, code=USAGE).stderr, "toolset=KEY")

    def test_it_ends_with_the_hub(self):
        server = self.serve_both()
        process = self.follow(server)
        self.calls_until(server, process, "a__one")
        server.hub.signal()
        self.assertEqual(process.wait(60), NO_HUB)

    def test_hostile_texts(self):
        """What a server writes to standard error is shown, and paints nothing."""
        begin = f"import os, sys; os.write(2, {EVIL.encode()!r} + b'\\n'); os.execv(sys.executable, [sys.executable, '-IS', {str(SUPPORT / 'unruly_server.py')!r}])"
        server = self.serve_both(toolsets={"up": {"command": sys.executable, "args": ["-c", begin]}})
        server.hub.remember_descendants()
        process = self.follow(server, "event=upstream.stderr")
        while not select.select([process.stdout], [], [], 0.1)[0]:
            self.do(server, "/toolsets/up/restart")
            self.do(server, "/call", {"name": "up__echo"})
        line = process.stdout.readline()
        self.assertSays(line, "upstream.stderr", "toolset=up", "owned", "<b>")
        self.assertEqual(unseen(line), set())


class Toolsets(RunningBase):
    def test_all_verbs(self):
        self.serve_both()
        self.assertSays(self.ask_hub("toolset", "build", "kit", "a:one", "b:*", "--description", "For work").stdout, "saved: `patchbay toolset equip`")
        self.assertSays(self.ask_hub("toolset", "build", "kit", "a:one", code=CONFIG).stderr, "say --replace")
        self.assertEqual(self.ask_hub("toolset", "list").stdout, "kit  For work\n")
        self.assertEqual(sorted(self.ask_hub("toolset", "show", "kit").stdout.splitlines()), ["a:one  same", "b:three  same", "kit  For work"])
        self.assertSays(self.ask_hub("toolset", "equip", "kit").stdout, "equipped")
        self.assertEqual(self.ask_hub("toolset", "list").stdout, "kit  (equipped)  For work\n")
        self.assertSays(self.ask_hub("toolset", "unequip").stdout, "enabled")
        self.ask_hub("toolset", "edit", "kit", "add", "a:two")
        self.ask_hub("toolset", "edit", "kit", "remove", "b:*", "a:one")
        self.ask_hub("toolset", "edit", "kit", "accept")
        self.assertEqual([one["id"] for one in json.loads(self.ask_hub("toolset", "show", "kit", "--json").stdout)["tools"]], ["a:two"])
        self.ask_hub("toolset", "build", "other", "a:one")
        self.assertEqual(self.ask_hub("toolset", "diff", "kit", "other").stdout, "- a:two\n+ a:one\n")
        self.assertEqual(self.ask_hub("toolset", "diff", "kit").stdout, "")
        self.ask_hub("toolset", "delete", "kit")
        self.assertSays(self.ask_hub("toolset", "show", "kit", code=CONFIG).stderr, "kit")
        for words in (("export",), ("import", "x.json"), ("show", "../../x"), ("edit", "other", "what")):
            self.ask_hub("toolset", *words, code=USAGE)

    def test_as_whoever_asks(self):
        server = self.serve_both()
        self.do(server, "/saved", {"name": "theirs", "tools": ["a:one"]}, who="own")
        self.assertEqual(self.ask_hub("toolset", "list").stdout, "")
        (self.home / "own.token").write_text(self.tokens["own"])
        done = self.cli("toolset", "list", "--http", f"127.0.0.1:{server.port}", "--token-file", self.home / "own.token")
        self.assertEqual((done.returncode, done.stdout), (0, "theirs\n"), done.stderr)


class Approving(RunningBase):
    def test_show_and_approve(self):
        now = tool("one", description="Deletes all.")
        before = json.dumps(tool("one", description="Lists files."), sort_keys=True, separators=(",", ":"))
        digest = "sha256:" + hashlib.sha256(before.encode()).hexdigest()
        self.write_lock({"a": {"origin": "/bin/another", "tools": {"one": {"digest": digest, "definition": json.loads(before)}}}})
        self.serve_both(toolsets={"a": fixture(now)})
        shown = self.ask_hub("approve", "a:one", "--show").stdout
        self.assertSays(shown, 'tool "one": changed', "Lists files.", "Deletes all.")
        self.assertSays(self.ask_hub("approve", "b").stdout, "nothing to approve")
        self.assertEqual(self.ask_hub("approve", "a:one").stdout, "approved a:one\n")
        self.assertNotEqual(json.loads((self.home / "patchbay.lock").read_text())["toolsets"]["a"]["tools"]["one"]["digest"], digest)
        self.ask_hub("approve")
        self.assertNotIn("/bin/another", (self.home / "patchbay.lock").read_text(), "the operator approves what is started, too")
        self.ask_hub("approve", "a:", code=USAGE)


if __name__ == "__main__":
    main()
