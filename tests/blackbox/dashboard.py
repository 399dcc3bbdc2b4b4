# SPDX-License-Identifier: Apache-2.0
"""/ui and its sessions, without a browser (tests/npm/dashboard.test.mjs has one): files, headers, one-time links, `patchbay ui`."""

import hashlib
import json
import re

from api import PREFIX, Base
from http_client import Server
from mcp import fixture, main
from ports import port_of, reserve

CONFIG, NO_HUB = 3, 3
LINK = re.compile(r"http://127\.0\.0\.1:(\d+)/ui/#code=([0-9a-f]{64})\n\Z")


class UiBase(Base):
    def serve_ui(self, *arguments, port=0, **more):
        for name, scopes in (("own", None), ("admin", "admin")):
            self.token(name, *(["--scopes", scopes] if scopes else []))
        manifest = {"listen": [{"http": f"127.0.0.1:{port}", "ui": True}, {"unix": str(self.home / "hub.sock")}],
                    "auth": {"tokens": str(self.home / "tokens.json")}, "toolsets": {"a": fixture("one")}, **more}
        hub = self.daemon(*arguments, manifest=manifest)
        hub.listening(2)
        return Server(self, hub)

    def invite(self, server, who="admin"):
        return self.do(server, "/invite", who=who)["code"]

    def log_in(self, server, code, headers=(("Content-Type", "application/json"),)):
        return server.ask("POST", "/ui/login", headers, json.dumps({"code": code}).encode())

    def me(self, server, secret):
        return server.ask("GET", PREFIX + "/me", [("Authorization", f"Bearer {secret}")])


class Files(UiBase):
    def test_each(self):
        server = self.serve_ui()
        page = server.get("/ui/")
        self.assertEqual((page.status, page.header("content-type")), (200, "text/html; charset=utf-8"))
        self.assertEqual(server.get("/ui").body, page.body)
        names = set(re.findall(r'/ui/([\w.]+)"', page.body.decode()))
        seen = set()
        while names - seen:
            name = sorted(names - seen)[0]
            seen.add(name)
            reply = server.get(f"/ui/{name}")
            self.assertEqual(reply.status, 200, name)
            self.assertEqual(reply.header("etag"), f'"{hashlib.sha256(reply.body).hexdigest()}"')
            self.assertIn("default-src 'none'", reply.header("content-security-policy"))
            again = server.get(f"/ui/{name}", [("If-None-Match", reply.header("etag"))])
            self.assertEqual((again.status, again.body), (304, b""))
            names |= set(re.findall(r'from "/ui/([\w.]+)"', reply.body.decode()))
        self.assertGreater(len(seen), 6)
        self.assertEqual(server.get("/ui/none.js").status, 404)
        self.assertEqual(server.get("/ui/app.js/more").status, 404)

    def test_the_listener_chooses(self):
        server = self.serve()
        headers = [("Authorization", f"Bearer {self.tokens['own']}")]
        self.assertEqual(server.get("/ui/", headers).status, 404)
        self.assertEqual(self.log_in(server, "0", [("Content-Type", "application/json"), *headers]).status, 404)
        self.assertEqual(self.do(server, "/invite", status=409)["error"]["code"], "conflict")

    def test_strangers(self):
        server = self.serve_ui()
        self.assertEqual(server.ask("GET", "/ui/", host="evil.example").status, 403)
        code = self.invite(server)
        self.assertEqual(self.log_in(server, code, [("Content-Type", "application/json"), ("Origin", "https://evil.example")]).status, 403)
        self.assertEqual(self.log_in(server, code, [("Content-Type", "text/plain")]).status, 415)
        self.assertEqual(self.log_in(server, code).status, 200)


class Sessions(UiBase):
    def test_a_code_is_good_once(self):
        server = self.serve_ui()
        code = self.invite(server, who="own")
        reply = self.log_in(server, code)
        self.assertEqual((reply.status, reply.all("set-cookie")), (200, []))
        secret = json.loads(reply.body)["token"]
        me = json.loads(self.me(server, secret).body)
        self.assertEqual((me["principal"], me["right"]), ("token:own", "own"))
        self.assertEqual(self.log_in(server, code).status, 403)
        self.assertEqual(self.log_in(server, "0" * 64).status, 403)
        self.assertEqual(self.log_in(server, 1).status, 403)

    def test_it_is_good_for_the_api_alone(self):
        server = self.serve_ui()
        secret = json.loads(self.log_in(server, self.invite(server)).body)["token"]
        self.assertEqual(self.me(server, secret).status, 200)
        self.assertEqual(server.modern("tools/list", headers={"Authorization": f"Bearer {secret}"}).status, 401)

    def test_logout(self):
        server = self.serve_ui()
        secret = json.loads(self.log_in(server, self.invite(server)).body)["token"]
        self.tokens["browser"] = secret
        self.assertTrue(self.do(server, "/logout", who="browser")["ended"])
        self.assertEqual(self.me(server, secret).status, 401)
        self.assertFalse(self.do(server, "/logout", who="admin")["ended"])

    def test_it_ends_with_its_token(self):
        server = self.serve_ui()
        secret = json.loads(self.log_in(server, self.invite(server)).body)["token"]
        self.assertEqual(self.me(server, secret).status, 200)
        done = self.cli("token", "revoke", "admin", "--tokens", self.home / "tokens.json", modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        server.hub.wait_log("config.reloaded")
        self.assertEqual(self.me(server, secret).status, 401)

    def test_there_are_not_too_many(self):
        server = self.serve_ui()
        codes = [self.invite(server) for _ in range(17)]  # 16 at a time
        self.assertEqual(self.log_in(server, codes[0]).status, 403)
        self.assertEqual(self.log_in(server, codes[-1]).status, 200)


class Command(UiBase):
    def test_the_operator(self):
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        server = self.serve_ui(port=port)
        done = self.cli("ui", "--unix", self.home / "hub.sock")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        match = LINK.match(done.stdout)
        self.assertEqual(int(match[1]), port)
        secret = json.loads(self.log_in(server, match[2]).body)["token"]
        self.assertEqual(json.loads(self.me(server, secret).body)["right"], "admin")

    def test_a_port_that_nobody_knows(self):
        self.serve_ui()
        done = self.cli("ui", "--unix", self.home / "hub.sock")
        self.assertEqual((done.returncode, done.stdout), (CONFIG, ""))
        self.assertSays(done.stderr, "ui: true", "port")

    def test_no_hub(self):
        done = self.cli("ui", "--unix", self.home / "none.sock")
        self.assertEqual(done.returncode, NO_HUB, done.stderr)


if __name__ == "__main__":
    main()
