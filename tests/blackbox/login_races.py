# SPDX-License-Identifier: Apache-2.0
"""Logins that something comes between: another hub with another clock, a hub that dies, a browser that is closed, an
authorization server that is another one."""

import json
import sqlite3
import threading
import time
import urllib.parse
import urllib.request

from api import Base
from login import LoginTest
from login_server import AuthServer, NoRedirect, browse
from mcp import LegacyClient, main

LEASE_S = 15


class Races(LoginTest, Base):
    def rewrite(self, change):
        """Write the login as another hub would."""
        store = sqlite3.connect(next(self.home.rglob("state.db")), timeout=30, isolation_level=None)
        try:
            store.execute("BEGIN IMMEDIATE")
            [[document]] = store.execute("SELECT document FROM record WHERE kind = 'login'").fetchall()
            kept = json.loads(document)
            change(kept)
            store.execute("UPDATE meta SET value = value + 1 WHERE name = 'changes'")
            store.execute("UPDATE record SET document = ?, version = (SELECT value FROM meta WHERE name = 'changes') WHERE kind = 'login'",
                          [json.dumps(kept).encode()])
            store.execute("COMMIT")
        finally:
            store.close()

    def leased(self, seconds):
        """A hub whose token is refused while another one, whose clock is off, refreshes it."""
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = LegacyClient(self.hub(toolsets=toolsets))
        client.call("up__echo").result
        self.rewrite(lambda kept: kept.update(lease="a-peer", lease_until_s=int(time.time()) + seconds + LEASE_S))
        auth.tokens.clear()
        since = client.hub.mark
        refused = len(upstream.requests)
        request = client.send_call("up__echo", {"a": 1})
        with upstream.condition:
            self.assertTrue(upstream.condition.wait_for(lambda: len(upstream.requests) > refused, 60))
        return auth, client, since, request

    def refreshed(self, auth):
        return [fields for fields in auth.of("/token") if fields["grant_type"] == "refresh_token"]

    def has_to_wait(self, seconds):
        """The other one died at it: it is given its time by this hub's clock, whatever its own one says."""
        auth, client, since, request = self.leased(seconds)
        began = time.monotonic()
        self.assertEqual(self.text(client.hub.response(request, since)), '{"a": 1}')
        self.assertGreater(time.monotonic() - began, LEASE_S - 5)
        self.assertEqual(len(self.refreshed(auth)), 1)

    def test_another_hub_whose_clock_is_behind(self):
        self.has_to_wait(-120)

    def test_another_hub_whose_clock_is_ahead(self):
        self.has_to_wait(120)

    def test_a_lease_of_long_ago(self):
        auth, client, since, request = self.leased(-3600)
        began = time.monotonic()
        self.assertEqual(self.text(client.hub.response(request, since)), '{"a": 1}')
        self.assertLess(time.monotonic() - began, LEASE_S - 5)
        self.assertEqual(len(self.refreshed(auth)), 1)

    def test_a_token_of_another_hub_that_is_refused_as_well(self):
        """Both hubs' tokens end at once, and this one has not heard yet of what the other one has got before."""
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = LegacyClient(self.hub(toolsets=toolsets))
        client.call("up__echo").result
        auth.tokens.clear()
        refuse = upstream.challenge
        refused = []

        def challenge(x, status, **words):
            refused.append(x.headers["authorization"])
            if len(refused) == 1:  # the other hub's token is in the store before this one is told that its own is refused
                self.rewrite(lambda kept: kept.update(access_token="of-another-hub"))
            refuse(x, status, **words)

        upstream.challenge = challenge
        self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')
        self.assertEqual(refused[1:], ["Bearer of-another-hub"])
        self.assertEqual(len(self.refreshed(auth)), 1)

    def test_a_hub_that_dies_between_code_and_token(self):
        auth, upstream = self.servers()
        asked, ended = threading.Event(), threading.Event()
        self.addCleanup(ended.set)

        def hang(handler, fields):
            asked.set()
            ended.wait(60)

        auth.on["/token"] = hang
        toolsets = self.toolsets(upstream)
        process, link = self.begin_login(toolsets)
        threading.Thread(target=browse, args=[link], daemon=True).start()
        self.assertTrue(asked.wait(60))
        process.kill()
        process.wait()
        ended.set()
        del auth.on["/token"]
        self.assertEqual(self.cli("login", "list", "--json", toolsets=toolsets, modules=False).stdout.strip(), "[]")
        self.log_in(toolsets)
        client = LegacyClient(self.hub(toolsets=toolsets))
        self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')

    def test_a_browser_that_is_closed(self):
        """Its user was at the login page, and comes back later by the same link."""
        auth, upstream = self.servers()
        server = self.serve(toolsets=self.toolsets(upstream))
        link = self.do(server, "/logins/up")["url"]
        opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))
        with self.assertRaises(urllib.error.HTTPError) as caught:
            opener.open(link, timeout=60)
        caught.exception.close()
        self.assertEqual(self.do(server, "/logins/up")["url"], link)
        self.assertEqual(browse(link)[0], 200)
        server.hub.wait_log("login.token")
        self.assertEqual(len(self.get(server, "/logins")["logins"]), 1)

    def test_an_authorization_server_that_is_another_one_now(self):
        """It learns nothing of the login at the one before: neither token nor client."""
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = LegacyClient(self.hub(toolsets=toolsets))
        client.call("up__echo").result
        secrets = [*auth.tokens, *auth.refresh_tokens, *(f"'{client}'" for client in auth.clients)]
        new = AuthServer()
        self.addCleanup(new.close)
        new.numbers = iter(range(1000, 2000))
        auth.tokens.clear()
        auth.refresh_tokens.clear()
        upstream.auth = new
        self.assertSays(client.call("up__echo").tool_error["message"], "wants a login", urllib.parse.urlsplit(new.origin).netloc)
        self.log_in(toolsets)
        client.hub.wait_until(lambda: client.hub.log.count("login.token") >= 2, "the next token")
        self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')
        for secret in secrets:
            self.assertNotIn(secret, str(new.asked))


if __name__ == "__main__":
    main()
