#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""docs/GUIDE.md, and the sections of docs/PLUGINS.md with commands, done as they say: files written, commands typed, what
they print compared.

A block whose first line is a comment with a name is that file. In a ``console`` block, a line after "$ " is typed into one
shell for the whole section; what follows is what it prints, where … stands for anything within a line, and alone on a line for any
lines. The last line may be "# exit code N"; else the code is 0. A command that ends in & goes on; the next one comes when the
hub has said that it listens, after a login that it has the token, after a revocation that it knows. Ports and the server that wants a login are others here.
"""

import contextlib
import os
import re
import subprocess
import sys
from pathlib import Path

from mcp import MARKER, SUPPORT, TIMEOUT, HubTest, hub_binary, hub_environment, main, processes
from ports import port_of, reserve

sys.path.insert(0, str(SUPPORT))

from login_server import AuthServer, LoginUpstream  # noqa: E402

ROOT = Path(__file__).resolve().parents[2]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```$", re.M | re.S)
FILE = re.compile(r"^(?:#|//) (\S+\.\w+)\n")
PORT = re.compile(r"(?<=127\.0\.0\.1:)\d+")
DONE = re.compile(r"-- exit (\d+) --$")
EXIT = re.compile(r"^# exit code (\d+)\n?", re.M)
# What a command says while it waits, which depends on the machine.
WAITING = re.compile(r"^patchbay: waiting for .*\n", re.M)

# The launcher of npm's packages; here every package is the same little server.
NPX = f"""#!/bin/sh
exec {sys.executable} {ROOT / "tests/support/recorder_server.py"}
"""

# What Claude Code does with the line: it connects, and lists the tools.
CLAUDE = r"""#!/bin/sh
while [ $# -gt 0 ]; do
    case $1 in
    http://*) url=$1 ;;
    --header) header=$2 && shift ;;
    esac
    shift
done
curl -sf "$url" -H "$header" -H 'Content-Type: application/json' -H 'Accept: application/json, text/event-stream' \
    -H 'MCP-Protocol-Version: 2026-07-28' -H 'Mcp-Method: tools/list' -d '{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{
    "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}' | grep -o '"name"' | wc -l
"""


# The browser of somebody who says yes, at a desktop.
BROWSER = """#!/bin/sh
exec curl -sfL --noproxy '*' "$1"
"""
# What somebody at a terminal does: the hub opens a browser for nobody else.
ON_TERMINAL = """#!/bin/sh
script -qec "$*" /dev/null </dev/null | tr -d '\\r'
"""
LOGIN = "patchbay login docs"
# What a hub says when it has done what a command was for.
HEARD = {"patchbay --": "listen.ready", LOGIN: "login.token", "xdg-open": "login.token.*principal=token:bob", "patchbay token revoke": "config.reloaded"}
SERVER = "https://docs.example.com/mcp"


def sections(document):
    """{title: its text}, of those with commands"""
    parts = re.split(r"^## (.+)$", (ROOT / document).read_text(encoding="utf-8"), flags=re.M)
    return {title: text for title, text in zip(parts[1::2], parts[2::2]) if "```console\n" in text}


def steps(block):
    """Of a console block: (command, what it prints)."""
    for part in re.split(r"^\$ ", block, flags=re.M)[1:]:
        command, _, output = part.partition("\n")
        yield command, output.rstrip("\n")


def pattern(output):
    lines = []
    for line in output.split("\n"):
        lines.append(r"(?:.*\n)*?" if line == "…" else ".*".join(re.escape(piece) for piece in line.split("…")) + r"\n")
    return "".join(lines) if output else ""


class Typed(HubTest):
    def program(self, name, text):
        path = self.home / "bin" / name
        path.parent.mkdir(exist_ok=True)
        path.write_text(text, encoding="utf-8")
        path.chmod(0o755)

    def environment(self):
        self.program("patchbay", f'#!/bin/sh\nexec {hub_binary()} "$@"\n')
        self.program("on-terminal", ON_TERMINAL)
        self.program("npx", NPX)
        self.program("claude", CLAUDE)
        self.program("xdg-open", BROWSER)
        config = self.home / "pkgconfig"
        config.mkdir()
        (config / "patchbay-plugin.pc").write_text(
            f"Name: patchbay-plugin\nDescription: headers\nVersion: 0\nCflags: -I{ROOT / 'include'}\n", encoding="utf-8")
        return hub_environment(self.home, {
            MARKER: self.id(), "PATH": f"{self.home / 'bin'}:/usr/sbin:{os.environ['PATH']}", "PKG_CONFIG_PATH": str(config), "PS1": "",
            "NO_PROXY": "127.0.0.1", "DISPLAY": ":0"})

    def ports(self, text):
        """The text with ports that are free."""
        taken = {}
        for port in dict.fromkeys(PORT.findall(text)):
            reserved = reserve()
            self.addCleanup(reserved.close)
            taken[port] = str(port_of(reserved))
        return PORT.sub(lambda found: taken[found.group()], text)

    def at_server(self, text):
        """The text with a server that wants a login, where it has one."""
        if SERVER not in text:
            return text
        auth = AuthServer()
        self.addCleanup(auth.close)
        upstream = LoginUpstream(auth)
        self.addCleanup(upstream.close)
        return text.replace(SERVER, upstream.url)

    def read(self, shell):
        """What the last command printed, and its exit code."""
        printed = ""
        for line in shell.stdout:
            end = DONE.search(line.rstrip("\n"))
            if end:
                printed = WAITING.sub("", printed + line[: end.start()])
                return printed + "\n" * (bool(printed) and not printed.endswith("\n")), int(end[1])
            printed += line
        self.fail(f"the shell ended: {printed}")

    def wait_logged(self, command, folder):
        """Until the hub has said what the next command needs: that it listens, that it has the token of a login, or lost one."""
        log = re.search(r"2>(\S+) *&$", command)
        event = next((event for start, event in HEARD.items() if command.startswith(start)), None)
        if event is not None and (log or event != "listen.ready"):
            command = ["tail", "-q", "-n", "+1", "-F", str(folder / (log[1] if log else "hub.log"))]
            with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True) as tail:
                self.assertTrue(any(re.search(event, line) for line in tail.stdout))
                tail.kill()

    def at_home(self, folder):
        """Processes that work in a folder: Redis writes its title over its environment."""
        for place in Path("/proc").glob("[0-9]*/cwd"):
            with contextlib.suppress(OSError):
                if os.readlink(place) == str(folder) and int(place.parent.name) != os.getpid():
                    yield int(place.parent.name)

    def follow(self, title, text):
        folder = self.home / "folder"
        folder.mkdir()
        shell = subprocess.Popen(["bash", "--norc"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, cwd=folder,
                                 env=self.environment(), text=True)
        try:
            for kind, block in BLOCK.findall(self.at_server(self.ports(text))):
                named = FILE.match(block)
                if named:
                    (folder / named[1]).write_text(block, encoding="utf-8")
                if kind != "console":
                    continue
                for command, output in steps(block):
                    typed = f"on-terminal {command}" if command.startswith(LOGIN) else command
                    shell.stdin.write(f'{typed}\necho "-- exit $? --"\n')
                    shell.stdin.flush()
                    printed, code = self.read(shell)
                    wanted = EXIT.search(output + "\n")
                    self.assertEqual(code, int(wanted[1]) if wanted else 0, f"$ {command}\n{printed}")
                    self.assertTrue(re.fullmatch(pattern(EXIT.sub("", output).rstrip("\n")), printed),
                                    f"$ {command}\n{printed}\nwanted:\n{output}")
                    self.wait_logged(command, folder)
        finally:
            shell.stdin.close()
            for process in {*processes.marked(MARKER, self.id()), *self.at_home(folder)}:
                with contextlib.suppress(ProcessLookupError):  # a worker ends with the one before
                    os.kill(process, 15)
            shell.wait()
            shell.stdout.close()
            processes.wait_gone(processes.marked(MARKER, self.id()), TIMEOUT)


class Guide(Typed):
    """docs/GUIDE.md"""


class Plugins(Typed):
    """docs/PLUGINS.md"""


def add(case, title, text):
    def test(self):
        self.follow(title, text)

    setattr(case, "test_" + re.sub(r"\W+", "_", title.lower()).strip("_"), test)

for one in (Guide, Plugins):
    for section in sections(one.__doc__).items():
        add(one, *section)

if __name__ == "__main__":
    main()
