# SPDX-License-Identifier: Apache-2.0
"""/api/v1/logins: which logins there are, beginning one, ending one; who may, and that no token is shown."""

import json
import os
import signal
import threading

from api import PREFIX, Base
from login import LoginTest
from login_server import browse
from mcp import main
from ports import port_of, reserve


class Logins(LoginTest, Base):
    def begin(self, server, who="admin", status=200, key="up"):
        return self.do(server, f"/logins/{key}", who=who, status=status)

    def end(self, server, who="admin", status=200, path="/logins/up"):
        reply = self.ask(server, who, "DELETE", path)
        self.assertEqual(reply.status, status, reply.body)
        return json.loads(reply.body)

    def up(self, secured=True, **keys):
        auth, upstream = self.servers()
        server = self.serve(toolsets={**self.toolsets(upstream, **keys), "a": self.TOOLSETS["a"]}, secured=secured)
        return auth, upstream, server

    def test_from_nothing_to_a_login_and_its_end(self):
        auth, upstream, server = self.up()
        self.assertEqual(self.get(server, "/logins"), {"logins": [], "wanted": []})
        begun = self.begin(server)
        self.assertEqual((begun["toolset"], begun["principal"], begun["state"]), ("up", "", "wanted"))
        self.assertEqual(self.begin(server)["url"], begun["url"], "there is one flow")
        self.assertEqual(self.get(server, "/logins")["wanted"], [{"toolset": "up", "principal": ""}])
        self.assertEqual(browse(begun["url"])[0], 200)
        server.hub.wait_log("login.token")
        shown = self.get(server, "/logins")
        [login] = shown["logins"]
        self.assertEqual((login["toolset"], login["server"], login["issuer"], login["state"]), ("up", upstream.url, auth.issuer, "logged_in"))
        self.assertEqual((login["scope"], login["refreshable"], shown["wanted"]), ("mcp:tools", True, []))
        for secret in (*auth.tokens, *auth.refresh_tokens):
            self.assertNotIn(secret, json.dumps(shown))
        self.assertEqual(self.end(server), {"toolset": "up", "principal": "", "revoked": True})
        self.assertEqual(len(auth.revoked), 1)
        self.assertEqual(self.get(server, "/logins")["logins"], [])
        self.assertNotIn("state=", server.hub.log)

    def test_a_login_that_there_is_can_be_made_again(self):
        auth, _, server = self.up()
        for count in (1, 2):
            browse(self.begin(server)["url"])
            server.hub.wait_until(lambda: server.hub.log.count("login.token") == count, "the token")
        self.assertEqual(len(auth.of("/authorize")), 2)

    def test_browsers_come_back_to_the_hub(self):
        auth, upstream = self.servers()
        reserved = reserve()
        self.addCleanup(reserved.close)
        back = f"http://127.0.0.1:{port_of(reserved)}/oauth/callback"
        listen = [{"http": f"127.0.0.1:{port_of(reserved)}", "api": True}]
        server = self.serve(toolsets=self.toolsets(upstream, auth={"redirect_uri": back}), listen=listen)
        self.assertIn("The login is done", browse(self.begin(server)["url"])[1])
        self.assertEqual(auth.of("/authorize")[0]["redirect_uri"], back)

    def test_no_user_is_needed(self):
        auth, upstream = self.servers()
        entry = {"grant": "client_credentials", "issuer": auth.issuer, "client_id": "robot", "client_secret": "s3cret"}
        server = self.serve(toolsets=self.toolsets(upstream, auth=entry))
        self.assertEqual(self.begin(server), {"toolset": "up", "principal": "", "state": "logged_in"})

    def test_who_may(self):
        auth, _, server = self.up()
        for who in ("own", "read"):
            self.assertEqual(self.begin(server, who, 403)["error"]["code"], "denied")
            self.assertEqual(self.end(server, who, 403)["error"]["code"], "denied")
        self.assertEqual(self.end(server, "own", 403, "/logins/up?principal=token%3Aadmin")["error"]["code"], "denied")
        self.assertEqual(auth.asked, [])
        browse(self.begin(server)["url"])
        server.hub.wait_log("login.token")
        self.assertEqual(len(self.get(server, "/logins", who="read")["logins"]), 1)
        self.assertEqual(self.get(server, "/logins", who="own")["logins"], [], "it is the hub's")

    def test_where_nobody_is_told_apart(self):
        _, _, server = self.up(secured=False)
        browse(self.begin(server, None)["url"])
        server.hub.wait_log("login.token")
        self.assertEqual(len(self.get(server, "/logins", who=None)["logins"]), 1)
        self.assertTrue(self.end(server, None)["revoked"])

    def test_the_end_of_a_login_whose_user_is_at_the_browser(self):
        auth, _, server = self.up()
        first = self.begin(server)["url"]
        self.assertEqual(self.end(server), {"toolset": "up", "principal": "", "revoked": False, "reason": "there is no login"})
        self.assertEqual(self.get(server, "/logins")["wanted"], [])
        browse(self.begin(server)["url"])
        server.hub.wait_log("login.token")
        second = self.begin(server)["url"]
        self.assertTrue(self.end(server)["revoked"])
        self.assertEqual(self.get(server, "/logins"), {"logins": [], "wanted": []})
        self.assertEqual((len(auth.revoked), len({first, second})), (1, 2))

    def test_a_hub_that_ends_while_its_user_is_at_the_browser(self):
        _, _, server = self.up()
        self.assertEqual(self.begin(server)["state"], "wanted")
        server.hub.finish()

    def test_what_has_no_login(self):
        _, _, server = self.up()
        self.assertEqual(self.begin(server, key="none", status=404)["error"]["code"], "not_found")
        self.assertIn("has no login", self.begin(server, key="a", status=404)["error"]["message"])

    def test_an_authorization_server_that_is_down(self):
        auth, _, server = self.up()
        auth.changes = {"code_challenge_methods_supported": None}
        self.assertIn("PKCE", self.begin(server, status=403)["error"]["message"])
        auth.changes = {}
        browse(self.begin(server)["url"])
        server.hub.wait_log("login.token")
        auth.on["/revoke"] = lambda handler, fields: handler.say(503)
        ended = self.end(server)
        self.assertEqual((ended["revoked"], "503" in ended["reason"]), (False, True))
        self.assertEqual(self.get(server, "/logins")["logins"], [])

    def test_a_toolset_that_is_gone(self):
        """Its login is still there, and its tokens are revoked where they are of."""
        auth, upstream, server = self.up()
        browse(self.begin(server)["url"])
        server.hub.wait_log("login.token")
        manifest = self.home / "patchbay.json"
        without = json.loads(manifest.read_text())
        del without["toolsets"]["up"]
        (self.home / "new").write_text(json.dumps(without))
        os.rename(self.home / "new", manifest)
        server.hub.process.send_signal(signal.SIGHUP)
        server.hub.wait_log("config.reloaded")
        [login] = self.get(server, "/logins")["logins"]
        self.assertEqual(login["server"], upstream.url)
        self.assertTrue(self.end(server)["revoked"])
        self.assertEqual(len(auth.revoked), 1)
        self.assertEqual(self.get(server, "/logins")["logins"], [])

    def test_somebody_who_does_not_wait(self):
        auth, _, server = self.up()
        ended = threading.Event()
        self.addCleanup(ended.set)
        [place] = auth.places()

        def slow(handler, fields):
            ended.wait(60)
            handler.say(200, auth.metadata())

        auth.on[place] = slow
        connection = server.connection()
        body = b"{}"
        connection.send(
            f"POST {PREFIX}/logins/up HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {self.tokens['admin']}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n".encode() + body
        )
        with auth.condition:
            self.assertTrue(auth.condition.wait_for(lambda: auth.asked, 60))
        connection.close()
        ended.set()
        del auth.on[place]
        self.assertEqual(browse(self.begin(server)["url"])[0], 200)


if __name__ == "__main__":
    main()
