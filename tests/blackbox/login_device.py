# SPDX-License-Identifier: Apache-2.0
"""Logins with a browser of another machine: a code that the user enters there (RFC 8628)."""

import json
import time

from api import Base
from login import URLS, LoginTest
from mcp import LegacyClient, main

GRANT = "urn:ietf:params:oauth:grant-type:device_code"
ENTRY = {"grant": "device_code"}


class Device(LoginTest, Base):
    def polls(self, auth):
        return [fields for fields in auth.of("/token") if fields["grant_type"] == GRANT]

    def test_on_a_machine_without_a_browser(self):
        auth, upstream = self.servers()
        auth.device_answers = ["authorization_pending"]
        toolsets = self.toolsets(upstream)
        process, link = self.begin_login(toolsets, "--device")
        self.assertEqual(link, auth.origin + "/device/enter")
        out, _ = self.end_login(process)
        self.assertSays(out, "logged in to up")
        self.assertEqual(len(self.polls(auth)), 2)
        [asked] = auth.of("/device")
        self.assertEqual((asked["scope"], asked["resource"]), ("mcp:tools", upstream.url))
        [client] = auth.clients.values()
        self.assertEqual((client["redirect_uris"], client["response_types"], client["grant_types"]), ([], [], [GRANT, "refresh_token"]))
        caller = LegacyClient(self.hub(toolsets=toolsets))
        self.assertEqual(self.text(caller.call("up__echo", {"a": 1})), '{"a": 1}')
        auth.tokens.clear()
        self.assertEqual(self.text(caller.call("up__echo", {"a": 2})), '{"a": 2}', "it is refreshed")
        self.log_in(toolsets)
        self.assertEqual(len(auth.clients), 2, "a client for codes cannot be sent back to")

    def test_it_is_asked_no_more_often_than_it_wants(self):
        auth, upstream = self.servers()
        auth.device_answers = ["slow_down"]
        began = time.monotonic()
        process, _ = self.begin_login(self.toolsets(upstream), "--device")
        self.end_login(process)
        self.assertGreaterEqual(time.monotonic() - began, 1 + 6)
        self.assertEqual(len(self.polls(auth)), 2)

    def test_how_it_can_end(self):
        for said, words in (("access_denied", "the user said no"), ("expired_token", "nobody has logged in in time"), ("invalid_grant", "invalid_grant")):
            with self.subTest(said):
                auth, upstream = self.servers()
                auth.device_answers = [said]
                process, _ = self.begin_login(self.toolsets(upstream), "--device")
                _, err = self.end_login(process, 5)
                self.assertSays(err, words)
                self.assertEqual((len(self.polls(auth)), auth.tokens), (1, {}))

    def test_its_time_is_over(self):
        auth, upstream = self.servers()

        def brief(handler, fields):
            auth.devices["d"] = fields
            handler.say(200, {"device_code": "d", "user_code": "u", "verification_uri": auth.origin + "/enter", "expires_in": 1, "interval": 1})

        auth.on["/device"] = brief
        auth.device_answers = ["authorization_pending"] * 9
        process, _ = self.begin_login(self.toolsets(upstream), "--device")
        _, err = self.end_login(process, 5)
        self.assertSays(err, "nobody has logged in in time")
        self.assertLess(len(self.polls(auth)), 3)

    def test_an_authorization_server_that_is_away_for_a_while(self):
        auth, upstream = self.servers()
        auth.device_answers = [503]
        process, _ = self.begin_login(self.toolsets(upstream), "--device")
        self.end_login(process)
        self.assertEqual(len(self.polls(auth)), 2)

    def test_answers_that_are_none(self):
        good = {"device_code": "d", "user_code": "u", "verification_uri": "https://login.example/enter", "interval": 1}
        for changes in ({"device_code": None}, {"user_code": None}, {"user_code": "x" * 65}, {"user_code": "a\nb"}, {"verification_uri": None},
                        {"verification_uri": "javascript:alert(1)"}, {"verification_uri": "http://login.example/enter"},
                        {"verification_uri_complete": "file:///etc/passwd"}):
            with self.subTest(changes):
                auth, upstream = self.servers()
                answer = {name: value for name, value in {**good, **changes}.items() if value is not None}
                auth.on["/device"] = lambda handler, fields, answer=answer: handler.say(200, answer)
                done = self.cli("login", "up", "--device", toolsets=self.toolsets(upstream), modules=False)
                self.assertEqual((done.returncode, "gives no code for a device" in done.stderr), (5, True), done.stdout + done.stderr)
                self.assertNotIn("http", done.stdout)
                self.assertEqual(auth.of("/token"), [])

    def test_an_authorization_server_without_codes(self):
        auth, upstream = self.servers()
        auth.changes = {"device_authorization_endpoint": None}
        done = self.cli("login", "up", "--device", toolsets=self.toolsets(upstream), modules=False)
        self.assertEqual((done.returncode, "device_authorization_endpoint" in done.stderr), (5, True), done.stderr)

    def test_a_client_is_told_the_code(self):
        """The entry says so: the call's user opens the address, and enters the code."""
        for capabilities in (URLS, None):
            with self.subTest(capabilities):
                auth, upstream = self.servers()
                client = LegacyClient(self.hub(toolsets=self.toolsets(upstream, auth=ENTRY)), capabilities=capabilities)
                auth.device_answers = ["authorization_pending"]
                answer = client.call("up__echo", {"a": 1})
                if capabilities:
                    [question] = answer.error["data"]["elicitations"]
                    self.assertEqual(question["url"], auth.origin + "/device/enter")
                    self.assertIn("WDJB-MJHT", question["message"])
                else:
                    self.assertSays(answer.tool_error["message"], auth.origin + "/device/enter", "enter the code WDJB-MJHT")
                client.hub.wait_log("login.token")
                self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')
                self.assertNotIn("WDJB", client.hub.log)

    def test_by_the_api(self):
        auth, upstream = self.servers()
        auth.device_answers = ["authorization_pending"]
        server = self.serve(toolsets=self.toolsets(upstream, auth=ENTRY))
        begun = self.do(server, "/logins/up")
        self.assertEqual((begun["url"], begun["code"]), (auth.origin + "/device/enter", "WDJB-MJHT"))
        server.hub.wait_log("login.token")
        self.assertEqual(len(self.get(server, "/logins")["logins"]), 1)

    def test_what_is_shown(self):
        auth, upstream = self.servers()
        done = self.cli("login", "up", "--device", "--json", toolsets=self.toolsets(upstream), modules=False)
        asked, logged_in = map(json.loads, done.stdout.splitlines())
        self.assertEqual((asked["url"], asked["code"], logged_in["state"]), (auth.origin + "/device/enter", "WDJB-MJHT", "logged_in"))


if __name__ == "__main__":
    main()
