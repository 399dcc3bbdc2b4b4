# SPDX-License-Identifier: Apache-2.0
"""Canaries: what the configuration was told in confidence is in nothing that the hub writes (S5.39; RELIABILITY.md C04,
A19). Each secret is a word of its own, so that a finding says which way it came."""

import json
import os
import sys

from http_client import Server
from mcp import SUPPORT, HubTest, fixture, main

sys.path.insert(0, str(SUPPORT))

from http_upstream import HttpUpstream  # noqa: E402

HTTP_DEAD = "http://127.0.0.1:1"
MASK = "[redacted]"
TALKER = "import os,sys; print('it is', os.environ.get('KEY'), 'or', *sys.argv[1:], file=sys.stderr, flush=True); sys.exit(3)"


def talker(**keys):
    """A server that says its secret on stderr, and dies of it."""
    return {"command": sys.executable, "args": ["-c", TALKER, *keys.pop("args", [])], **keys}


class Redaction(HubTest):
    def setUp(self):
        super().setUp()
        self.secrets = {}

    def secret(self, name):
        """A new one: its value."""
        value = self.secrets[name] = f"canary-{name}-{os.urandom(6).hex()}"
        return value

    def environment(self):
        return {f"CANARY_{name.upper()}": value for name, value in self.secrets.items()}

    def clean(self, text, *masked):
        """None of them is in the text; it has been masked if `masked` says what stands around it."""
        for name, value in self.secrets.items():
            self.assertNotIn(value, text, f"{name} is shown")
            self.assertNotIn(value[:-4], text, f"a part of {name} is shown")
        for around in masked:
            self.assertIn(around, text)

    def test_stderr_errors_and_status(self):
        """By a variable, a file, a literal of a telling name, an argument: on stderr, in the error of the call, in the
        reason for the failure, in the status."""
        self.secret("variable"), self.secret("file"), self.secret("literal"), self.secret("argument")
        path = self.home / "key"
        path.write_text(self.secrets["file"] + "\n")
        path.chmod(0o600)
        toolsets = {
            "variable": talker(env={"KEY": "${CANARY_VARIABLE}"}),
            "file": talker(env={"KEY": f"${{file:{path}}}"}),
            "literal": talker(env={"KEY": "x", "MY_API_KEY": self.secrets["literal"]}, args=[self.secrets["literal"]]),
            "argument": talker(args=["${CANARY_ARGUMENT}"]),
        }
        socket = self.home / "hub.sock"
        client = self.legacy("--unix", socket, "--stdio", toolsets=toolsets, env=self.environment())
        client.names()
        for key in toolsets:
            client.hub.wait_log(f"upstream.stderr toolset={key}")
            answer = client.call("enable_toolset", {"toolset": key}).raw
            self.clean(answer)
            self.clean(client.call("describe_toolset", {"toolset": key}).raw)
            self.clean(client.call(f"{key}__x").raw)
        client.hub.wait_until(lambda: "failed" in client.call("list_toolsets").raw, "one that has failed")
        self.clean(client.call("list_toolsets").raw)
        self.clean(client.hub.log, f"it is {MASK}", f"or {MASK}")
        for flags in ([], ["--json"]):
            done = self.cli("status", "--unix", socket, *flags)
            self.clean(done.stdout + done.stderr, "exited with code 3")

    def test_the_network(self):
        """In a URL, its password and its query; in headers: what cannot be reached is named without them."""
        for name in ("url", "password", "query", "header"):
            self.secret(name)
        toolsets = {
            "url": {"url": HTTP_DEAD + "/${CANARY_URL}"},
            "password": {"url": f"http://user:{self.secrets['password']}@127.0.0.1:1/mcp"},
            "query": {"url": f"{HTTP_DEAD}/mcp?api_key={self.secrets['query']}&x=1"},
            "header": {"url": HTTP_DEAD + "/mcp", "headers": {"Authorization": "Bearer ${CANARY_HEADER}"}},
        }
        client = self.legacy(toolsets=toolsets, env=self.environment())
        client.names()
        for key in toolsets:
            client.hub.wait_log(f"toolset.failed toolset={key}")
            self.clean(client.call("describe_toolset", {"toolset": key}).raw)
            self.clean(client.call("enable_toolset", {"toolset": key}).raw)
        self.clean(client.hub.log)
        done = self.cli("list", "toolsets", toolsets=toolsets, env=self.environment())
        self.clean(done.stdout + done.stderr)
        done = self.cli("check", "--connect", toolsets=toolsets, env=self.environment())
        self.assertEqual(done.returncode, 5)
        self.clean(done.stdout + done.stderr)

    def test_what_a_server_repeats(self):
        """An answer that is no result, with the credential in it: quoted, in part, without that. Here a gateway says so."""
        self.secret("header"), self.secret("query")
        upstream = HttpUpstream("modern")
        self.addCleanup(upstream.close)
        entry = {"url": f"{upstream.url}?api_key={self.secrets['query']}", "headers": {"X-Key": "${CANARY_HEADER}"}, "restart_delay": "1h", "restart_delay_max": "1h"}
        client = self.modern(toolsets={"up": entry}, env=self.environment())
        self.assertIn("up__echo", client.names())
        said = {"body": ""}

        def refuse(x):
            x.status(said["status"], said["body"].encode(), content_type=said["type"])

        upstream.on["tools/call"] = refuse
        both = f"{self.secrets['header']} {self.secrets['query']}"
        for status in (400, 403, 404, 500, 503):
            for kind, make in (("text/plain", str), ("application/json", lambda text: json.dumps({"error": text}))):
                for before in (0, *range(180, 260, 5)):  # wherever it is cut
                    said.update(status=status, type=kind, body=make("x" * before + both))
                    answer = client.call("up__echo").raw
                    self.clean(answer, f"HTTP {status}")
        self.clean(answer)
        said.update(status=401, type="text/plain", body="Bearer " + both)
        self.clean(client.call("up__echo").raw, "HTTP 401")
        upstream.on["server/discover"] = refuse  # and now the whole toolset
        for name in ("disable_toolset", "enable_toolset"):
            client.call(name, {"toolset": "up"})
        for name in ("up__echo", "list_toolsets"):
            self.clean(client.call(name).raw, MASK)
        self.clean(client.hub.log, MASK)

    def test_where_programs_are_looked_for(self):
        """The hub's PATH is nobody's business who calls it."""
        client = self.legacy(toolsets={"up": {"command": "no-such-program"}})
        for answer in (client.call("up__x"), client.call("list_toolsets"), client.call("describe_toolset", {"toolset": "up"})):
            self.assertIn("not found in PATH", answer.raw)
            self.assertNotIn("/bin", answer.raw)

    def test_errors_of_the_configuration(self):
        self.secret("bad")
        cases = [
            {"alpha": {"url": "${CANARY_BAD}://x"}},
            {"alpha": {"url": "http://x/", "headers": {"X-Key": "${CANARY_BAD}\n"}}},
            {"alpha": {**fixture("one"), "config": {"unknown": "${CANARY_BAD}", "${CANARY_BAD}": 1}}},
            {"alpha": fixture("one", fail="no: ${CANARY_BAD}")},
        ]
        for toolsets in cases:
            for command in ("check", "list"):
                done = self.cli(command, toolsets=toolsets, env=self.environment())
                self.clean(done.stdout + done.stderr)
            code, text = self.refused(toolsets={**toolsets, "zeta": {"command": "x", "bad_key": 1}}, env=self.environment())
            self.assertEqual(code, 3)
            self.clean(text)

    def test_a_plugin_that_says_why(self):
        """What create() answers goes to the log and to whoever enables the toolset."""
        self.secret("reason")
        client = self.legacy(toolsets={"alpha": {**fixture("one", fail="no: ${CANARY_REASON}"), "active": False}}, env=self.environment())
        answer = client.call("enable_toolset", {"toolset": "alpha"}).raw
        self.clean(answer, MASK)
        self.clean(client.call("enable_toolset", {"toolsets": ["alpha"]}).raw, MASK)
        self.clean(client.hub.log)

    def test_a_reload(self):
        """A secret that was replaced is one still; the new one is one at once, also if the file is refused."""
        old, new = self.secret("old"), self.secret("new")
        manifest = {"toolsets": {"alpha": talker(env={"KEY": "x", "TOKEN": old}, args=[old])}}
        client = self.legacy(manifest=manifest)
        client.names()
        for toolsets in ({"alpha": talker(env={"KEY": "x", "TOKEN": new}, args=[old])}, {"alpha": {"url": f"ftp://user:{new}@x/"}}):
            (self.home / "new").write_text(json.dumps({"toolsets": toolsets}))
            (self.home / "new").rename(self.home / "patchbay.json")
            client.hub.wait_log("config.refused" if "url" in toolsets["alpha"] else "config.reloaded")
        client.names()
        self.clean(client.hub.log)

    def test_the_audit(self):
        self.secret("given")
        manifest = {
            "toolsets": {"alpha": {**fixture("one")}, "other": talker(env={"KEY": "${CANARY_GIVEN}"})},
            "log": {"audit": "audit.jsonl", "audit_arguments": True},
        }
        client = self.modern(manifest=manifest, env=self.environment())
        for arguments in ({"a": self.secrets["given"]}, {"a": ["x" * 4070, self.secrets["given"]]}, {self.secrets["given"]: 1}):
            client.call("alpha__one", arguments)
        client.call(self.secrets["given"])
        client.hub.finish()
        text = (self.home / "audit.jsonl").read_text()
        self.assertEqual(len([json.loads(line) for line in text.splitlines()]), 4)
        self.clean(text, f'{{"a":"{MASK}"}}', '"cut":true')
        self.clean(client.hub.log)

    def test_bearer_tokens(self):
        """Good or bad, in the header or in the query: never in the log, nor in what is answered."""
        tokens = self.home / "tokens.json"
        self.secrets["token"] = self.cli("token", "new", "ann", "--tokens", tokens, modules=False).stdout.strip()
        self.secrets["forged"] = "pbt_0123456789ab_" + os.urandom(30).hex()
        self.secrets["plain"] = "0" + os.urandom(20).hex()
        hub = self.daemon("--http", 0, "--tokens", tokens, "--log-level", "debug", toolsets={"alpha": fixture("one")})
        server = Server(self, hub)
        for token in self.secrets.values():
            reply = server.modern("tools/list", headers={"Authorization": f"Bearer {token}"})
            self.clean(reply.body.decode() if isinstance(reply.body, bytes) else str(reply.body))
            self.clean(str(server.get(f"/mcp?access_token={token}").body))
        hub.finish()
        self.clean(hub.log)

    def test_what_a_server_answers_is_its_own(self):
        """Results are passed on as they are: the hub changes no byte of them."""
        self.secret("known")
        client = self.modern(toolsets={"alpha": fixture("one"), "other": talker(env={"KEY": "${CANARY_KNOWN}"})}, env=self.environment())
        tool = client.call("alpha__one", {"a": self.secrets["known"]})
        self.assertIn("content", tool.result)


if __name__ == "__main__":
    main()
