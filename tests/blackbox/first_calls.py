# SPDX-License-Identifier: Apache-2.0
"""One of ten servers is bad: the first call of each other one waits for nothing of it."""

import os
import sys
from pathlib import Path

from mcp import INVALID_PARAMS, MARKER, HubTest, fixture, main

OTHERS = 9

# Does its misdeed until the gate opens, then ends.
BAD = """
import os, sys, threading
def gate():
    os.read(os.open(sys.argv[2], os.O_RDONLY), 3)
    os._exit(9)
if sys.argv[1] == "dies":
    sys.exit("it was told to die")
threading.Thread(target=gate).start()
line = sys.stdin.readline()
while sys.argv[1] == "floods":
    sys.stdout.write("noise " * 1000 + "\\n")
    sys.stdout.flush()
while sys.argv[1] == "lies" and line:
    sys.stdout.write('{"jsonrpc":"2.0","id":1,"result":5}\\n{"jsonrpc":"2.0","id":"no such","result":{}}\\n')
    sys.stdout.flush()
    line = sys.stdin.readline()
"""


class FirstCalls(HubTest):
    def start(self, misdeed, naming="prefix"):
        self.gate = self.home / "gate"
        os.mkfifo(self.gate)
        bad = {
            "command": sys.executable,
            "args": ["-c", BAD, misdeed, str(self.gate)],
            "env": {MARKER: f"${{{MARKER}}}"},
            "startup_timeout": "1h",
        }
        self.recorders_by_key = {f"good{n}": self.recorder() for n in range(OTHERS)}
        toolsets = {key: recorder.toolset() for key, recorder in self.recorders_by_key.items()}
        return self.legacy(toolsets={"bad": bad, **toolsets}, manifest={"hub": {"naming": naming}})

    def open_gate(self):
        gate = os.open(self.gate, os.O_RDWR)  # which waits for nobody; what is written stays for who comes later
        self.addCleanup(os.close, gate)
        os.write(gate, b"go\n" * 100)  # for each attempt

    def check(self, misdeed, is_gated):
        client = self.start(misdeed)
        bad = client.send_call("bad__echo")
        for number, (key, recorder) in enumerate(self.recorders_by_key.items()):
            self.assertEqual(recorder.sync().starts, [])  # nobody has needed it
            answer = client.call(f"{key}__echo", {"n": number})
            self.assertEqual(answer.result["structuredContent"], {"n": number})
        if is_gated:
            self.assertFalse([m for m in client.hub.messages if m.method is None and m.id == bad])
            self.open_gate()
        failure = client.hub.response(bad).tool_error
        self.assertSays(failure["message"], 'toolset "bad": ')
        self.assertIn(failure["code"], ("TOOL_UNAVAILABLE", "TOOL_EXECUTION_FAILED"))
        return failure

    def test_it_hangs(self):
        self.assertSays(self.check("hangs", True)["message"], "exited with code 9")

    def test_it_floods(self):
        self.check("floods", False)

    def test_it_lies(self):
        self.check("lies", True)

    def test_it_dies(self):
        self.assertSays(self.check("dies", False)["message"], "told to die")


class Names(HubTest):
    """What is said of names that nobody has."""

    def test_a_name_of_nobody_starts_nobody(self):
        recorders = [self.recorder() for _ in range(3)]
        client = self.legacy(toolsets={f"up{n}": r.toolset() for n, r in enumerate(recorders)})
        for name in ("nobody__x", "up", "up0", "up3__echo", "__", ""):
            answer = client.call(name)
            self.assertEqual(answer.code, INVALID_PARAMS)
            self.assertEqual(answer.error["data"], {"code": "TOOL_INVALID_INPUT", "retryable": False})
            self.assertEqual(answer.error["message"].partition(";")[0], f"Unknown tool: {name}")
        client.request("ping")
        self.assertEqual([r.sync().starts for r in recorders], [[], [], []])

    def test_who_cannot_be_reached_may_have_it(self):
        """Not only tools say whether another try may help."""
        asked = (("prompts/get", {"name": "up__x"}), ("resources/read", {"uri": "rec:///none"}), ("resources/subscribe", {"uri": "rec:///none"}),
                 ("completion/complete", {"ref": {"type": "ref/prompt", "name": "up__x"}, "argument": {"name": "a", "value": "b"}}))
        for toolset, cause in (({"url": "http://127.0.0.1:1/mcp"}, ("TOOL_UNAVAILABLE", True)), ({"command": "/nowhere/at-all"}, ("TOOL_INVALID_INPUT", False))):
            for make in (self.legacy, self.modern):
                client = make(toolsets={"up": toolset})
                for method, params in asked[: 4 if make == self.legacy else 2]:
                    error = client.request(method, params).error
                    self.assertEqual((error["data"]["code"], error["data"]["retryable"]), cause, (method, error))

    def test_the_reference_of_errors_has_what_the_code_is_for(self):
        """As the tests above get it: a name of nobody, and a server whose program is not there."""
        (row,) = [line for line in (Path(__file__).resolve().parents[2] / "docs/ERRORS.md").read_text(encoding="utf-8").splitlines() if line.startswith("| TOOL_INVALID_INPUT ")]
        self.assertSays(row, "arguments", "nothing has that name", "no such program")

    def test_did_you_mean(self):
        client = self.legacy(toolsets={"files": fixture("read_file", "write_file"), "net": fixture("get")})
        for name, meant in (("files__read_fil", "files__read_file"), ("FILES__WRITE_FILE", "files__write_file"),
                            ("net__gte", "net__get"), ("enable_tolset", "enable_toolset")):
            self.assertSays(client.call(name).error["message"], f'Unknown tool: {name}; did you mean "{meant}"?')
        self.assertEqual(client.call("something_else").error["message"], "Unknown tool: something_else")

    def test_its_toolset_is_off(self):
        off = {"active": False}
        toolsets = {"known": fixture("x", "y"), "never": self.recorder().toolset(**off), "denied": fixture("x", **off),
                    "switched": fixture("x", enabled=False)}
        client = self.legacy("--deny", "denied", toolsets=toolsets)
        client.call("disable_toolset", {"toolset": "known"}).result
        for name, key in (("known__x", "known"), ("never__echo", "never")):
            self.assertSays(client.call(name).error["message"], f'toolset "{key}" is off', "enable_toolset")
        for name in ("denied__x", "switched__x"):
            self.assertEqual(client.call(name).error["message"], f"Unknown tool: {name}")

    def test_who_cannot_enable_it_is_not_told(self):
        for flags in (["--startup", "static", "--toolsets", "a"], ["--no-meta-tools"]):
            client = self.legacy(*flags, toolsets={"a": fixture("x"), "b": fixture("only", active=False)})
            self.assertEqual(client.call("b__only").error["message"], "Unknown tool: b__only")
            client.hub.finish()

    def test_what_filters_hide_is_as_if_it_were_not(self):
        filters = [{"deny_tools": ["a:secret*"]}]
        client = self.legacy(toolsets={"a": fixture("secret_x", "plain")}, manifest={"policy": {"filters": filters}})
        hidden, unknown = (client.call(name).error for name in ("a__secret_x", "a__secret_y"))
        self.assertEqual(hidden["message"].replace("_x", "_y"), unknown["message"])
        self.assertNotIn("secret_x", client.call("a__secret_z").error["message"])


if __name__ == "__main__":
    main()
