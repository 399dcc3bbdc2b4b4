# SPDX-License-Identifier: Apache-2.0
"""Secrets that a hub has to do with are on none of its faces: what it serves, logs, keeps, and shows to other processes.

Every row of a face (core/web) is asked, by who may do everything, and by a user; a new one is asked without being named here."""

import contextlib
import json
import re
import sys
import time
from pathlib import Path
from urllib.parse import parse_qsl, quote, urlsplit

from access_doors import REQUESTS, rows
from http_client import HttpTest, Server
from http_upstream import HttpUpstream
from login import LoginTest
from mcp import SUPPORT, ends_soon, main

sys.path.insert(0, str(SUPPORT))

from identity_provider import Key, make_token  # noqa: E402
from login_server import AuthServer, UserUpstream, browse  # noqa: E402

API = "/api/v1"
AUDIENCE = "https://hub.example/mcp"
STATUS = "patchbay/status"


def canary(name):
    return f"canary-{name}-c0ffee0123456789"


class Canaries(HttpTest, LoginTest):
    """A hub with each kind of secret, used once."""

    def setUp(self):
        super().setUp()
        self.secrets = {name: canary(name) for name in ("env", "file", "store", "client", "introspection", "header")}
        (self.home / "secret.txt").write_text(self.secrets["file"] + "\n", encoding="utf-8")
        (self.home / "secret.txt").chmod(0o600)
        self.auth = AuthServer()
        self.addCleanup(self.auth.close)
        self.auth.secret = self.secrets["client"]
        self.key = Key(self.home, "first")
        self.auth.changes["jwks_uri"] = self.auth.origin + "/keys"
        self.auth.on["/keys"] = lambda handler, fields: handler.say(200, {"keys": [self.key.public()]})
        self.ups = {}
        for name in ("mine", "hubs", "exchanged"):
            self.ups[name] = UserUpstream(self.auth)
            self.addCleanup(self.ups[name].close)
        self.plain = HttpUpstream()
        self.addCleanup(self.plain.close)
        self.plain.on["tools/call"] = lambda x: x.status(500, json.dumps({"error": f"no: {x.headers['authorization']}"}))
        self.headers = {}
        for name, words in (("root", ["--scopes", "admin"]), ("ann", [])):
            done = self.cli("token", "new", name, *words, "--tokens", self.home / "tokens.json", modules=False)
            self.keep(f"token of {name}", done.stdout.strip())
            self.headers[name] = {"Authorization": f"Bearer {done.stdout.strip()}"}
        token = make_token(self.key, {"iss": self.auth.issuer, "aud": AUDIENCE, "sub": "eve", "exp": int(time.time()) + 3600})
        self.auth.subjects[self.keep("token of eve", token)] = "eve"
        self.headers["eve"] = {"Authorization": f"Bearer {token}"}

    def keep(self, name, text):
        self.secrets[name] = text
        return text

    def manifest(self):
        child = self.recorder().toolset()
        child["env"] = {**child["env"], "FROM_ENV": "${env:CANARY}", "FROM_FILE": "${file:" + str(self.home / "secret.txt") + "}", "FROM_STORE": "${secret:store}"}
        exchange = {"grant": "token_exchange", "issuer": self.auth.issuer, "client_id": "robot", "client_secret": self.secrets["client"]}
        asked = {"url": self.auth.origin + "/introspect", "client_id": "hub", "client_secret": self.secrets["introspection"]}
        return ends_soon({
            "hub": {"meta_tools": ["toolsets", "search", "fanout"]},
            "listen": [{"http": "127.0.0.1:0", "api": True, "rest": True, "ui": True, "metrics": True}],
            "log": {"audit": "audit.jsonl", "audit_arguments": True},
            "auth": {"tokens": str(self.home / "tokens.json"),
                     "issuers": [{"issuer": self.auth.issuer, "audiences": [AUDIENCE], "introspection": asked}]},
            "toolsets": {
                "child": child,
                "plain": {"url": self.plain.url, "headers": {"Authorization": "Bearer ${secret:store}", "X-Key": self.secrets["header"]}},
                "dead": {"command": "/nonexistent/server", "env": {"FROM_STORE": "${secret:store}"}},
                "hubs": {"url": self.ups["hubs"].url},
                "mine": {"url": self.ups["mine"].url, "credentials": "principal"},
                "exchanged": {"url": self.ups["exchanged"].url, "credentials": "principal", "auth": exchange},
            },
        })

    def serve(self):
        self.made = self.manifest()
        done = self.cli("secret", "set", "store", stdin=self.secrets["store"] + "\n", manifest=self.made, modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        hub = self.hub("--stdio", "--log-level", "debug", manifest=self.made, env={"CANARY": self.secrets["env"]})
        hub.strict = False
        return Server(self, hub)

    def use(self, server):
        """Each secret is used, in good and in bad: what clients are told of that."""
        said = []
        link = json.loads(server.ask("POST", API + "/logins/hubs", [*self.headers["root"].items(), ("Content-Type", "application/json")], b"{}").body)["url"]
        self.keep("state of the hub's link", dict(parse_qsl(urlsplit(link).query))["state"])
        self.assertEqual(browse(link, "boss")[0], 200)
        server.hub.wait_log("login.token toolset=hubs")

        def call(who, tool):
            params = {"name": tool, "arguments": {"user": who}}
            return server.modern("tools/call", params, headers=self.headers[who], capabilities={}).answer

        link = next(word for word in call("ann", "mine__echo").raw.split() if word.startswith("http"))
        self.keep("state of ann's link", dict(parse_qsl(urlsplit(link).query))["state"])
        self.assertEqual(browse(link.split("\\")[0].rstrip('",:'), "ann")[0], 200)
        server.hub.wait_log("login.token toolset=mine principal=token:ann")
        for who, tool in (("ann", "mine__echo"), ("root", "hubs__echo"), ("eve", "exchanged__echo"), ("root", "child__echo"),
                          ("root", "plain__echo"), ("root", "dead__echo")):
            said.append(call(who, tool).raw)
        self.assertIn('"text": "ann"', said[0])
        self.assertIn('"text": "eve"', said[2])
        self.assertIn("500", said[4])
        for name, token in enumerate(self.auth.users):
            self.keep(f"OAuth token {name}", token)
        for name, request in enumerate(self.auth.of("/token")):
            for field in ("code", "code_verifier"):
                if field in request:
                    self.keep(f"{field} {name}", request[field])
        # tokens that are refused: what is said of them
        self.auth.on["/token"] = lambda handler, fields: handler.say(400, {"error": "invalid_request", "error_description": json.dumps(fields)})
        self.auth.tokens.clear()
        for who, tool in (("ann", "mine__echo"), ("root", "hubs__echo"), ("eve", "exchanged__echo")):
            said.append(call(who, tool).raw)
        return said

    def asked(self, server, who):
        """Every row of a face: with the names of access_doors.py, and with those of this hub."""
        headers = [*self.headers[who].items()] if who else []
        for method, at in sorted(rows(), key=lambda row: (row[0] == "DELETE", "logout" in row[1], row)):
            body = next((body for _, body in REQUESTS[method, at] if body is not None), None) if method in ("POST", "PUT") else None
            names = {"key": list(self.made["toolsets"]), "id": [f"{key}:echo" for key in self.made["toolsets"]], "name": ["nobody"], "token": ["nobody"]}
            found = re.findall(r"\{(\w+)\}", at)
            paths = [at.replace(f"{{{found[0]}}}", quote(name, safe="")) for name in names[found[0]]] if found else [at]
            paths = [path.replace("*", "plain__echo") for path in paths] + [path for path, _ in REQUESTS[method, at]]
            paths += [at + "?since=0"] if at.endswith("/events") else []
            for path in paths:
                sent = [*headers, *([("Content-Type", "application/json")] if body is not None else [])]
                reply = server.ask(method, path, sent, b"" if body is None else json.dumps(body).encode())
                head = "" if path.startswith(("/ui", API + "/invite", API + "/tokens")) else str(reply)
                yield f"{method} {path} as {who}", head + reply.body.decode(errors="replace")


    def commands(self):
        for words in (("status",), ("status", "--json"), ("login", "list"), ("login", "list", "--json"), ("secret", "list"), ("state", "export"),
                      ("state", "check"), ("check",), ("list", "tools"), ("list", "toolsets"), ("doctor",), ("audit", "verify", self.home / "audit.jsonl")):
            given = {"manifest": self.made} if words[0] in ("login", "secret", "state", "check", "list", "doctor") else {}
            done = self.cli(*words, env={"CANARY": self.secrets["env"]}, **given)
            yield " ".join(map(str, words)), done.stdout + done.stderr

    def processes(self):
        for place in Path("/proc").iterdir():
            if place.name.isdigit():
                with contextlib.suppress(OSError):
                    yield f"{place}/cmdline", (place / "cmdline").read_text(errors="replace")

    def clean(self, where, text):
        for name, secret in self.secrets.items():
            self.assertNotIn(secret, text, f"{name}, in {where}")

    def test_no_face_shows_a_secret(self):
        server = self.serve()
        count = 0
        for text in self.use(server):
            self.clean("an answer", text)
        for method, params in (("tools/list", {}), (STATUS, {}), ("server/discover", {})):
            for who in self.headers:
                self.clean(method, server.modern(method, params, headers=self.headers[who]).body.decode())
        for who in ("ann", None, "root"):  # who may do everything ends what the others have
            for where, text in self.asked(server, who):
                self.clean(where, text)
                count += 1
        self.assertGreater(count, 150)
        for where, text in [*self.commands(), *self.processes()]:
            self.clean(where, text)
        server.hub.wait_until(lambda: "plain" in (self.home / "audit.jsonl").read_text(encoding="utf-8"), "the audit")
        self.clean("the audit", (self.home / "audit.jsonl").read_text(encoding="utf-8"))
        self.clean("the log", server.hub.log)
        for word in ("login.token", "/nonexistent/server", "toolset=plain", "toolset=exchanged"):
            self.assertIn(word, server.hub.log)  # it was about them all


if __name__ == "__main__":
    main()
