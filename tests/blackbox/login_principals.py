# SPDX-License-Identifier: Apache-2.0
"""`credentials: principal`: each user's own login, connection and list of tools, and never another's.

MCP 2026-07-28 basic/authorization; docs/LOGIN.md, "Whose login".
"""

import contextlib
import json
import sys
import threading
from pathlib import Path

from http_client import HttpTest, Server
from login import URLS, LoginTest
from mcp import SUPPORT, TIMEOUT, LegacyClient, ends_soon, main

sys.path.insert(0, str(SUPPORT))

from login_server import AuthServer, UserUpstream, browse  # noqa: E402


class PrincipalsTest(HttpTest, LoginTest):
    def servers(self, era="legacy", **options):
        auth = AuthServer(**options)
        self.addCleanup(auth.close)
        upstream = UserUpstream(auth, era)
        self.addCleanup(upstream.close)
        return auth, upstream

    def bearer(self, name):
        done = self.cli("token", "new", name, "--tokens", self.home / "tokens.json", modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {"Authorization": f"Bearer {done.stdout.strip()}"}

    def served(self, upstream, names, manifest=None, **keys):
        self.headers = {name: self.bearer(name) for name in names}
        toolsets = {"up": {"url": upstream.url, "credentials": "principal", **keys}}
        self.manifest = ends_soon({**(manifest or {}), "toolsets": toolsets})
        return self.http("--log-level", "debug", "--tokens", self.home / "tokens.json", manifest=self.manifest)

    def call(self, server, name, tool="up__echo", capabilities=URLS, **arguments):
        params = {"name": tool, "arguments": {"user": name, **arguments}}
        return server.modern("tools/call", params, headers=self.headers[name], capabilities=capabilities).answer

    def link_of(self, answer):
        request = answer.result["inputRequests"]["patchbay-login"]
        self.assertEqual(request["params"]["mode"], "url")
        return request["params"]["url"]

    def log_in_as(self, server, name):
        """By a call that wants a login, as a client of 2026-07-28 does it."""
        since = server.hub.log.count(f"login.token toolset=up principal=token:{name}")
        self.assertEqual(browse(self.link_of(self.call(server, name)), name)[0], 200)
        server.hub.wait_until(
            lambda: server.hub.log.count(f"login.token toolset=up principal=token:{name}") > since, "a token"
        )

    def names(self, server, name):
        reply = server.modern("tools/list", headers=self.headers[name])
        return {tool["name"] for tool in reply.message.result["tools"] if tool["name"].startswith("up")}


class EachTheirOwn(PrincipalsTest):
    def test_two_users_with_a_login_each(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                auth, upstream = self.servers(era)
                upstream.more = {"ann": ["ann"], "bob": ["bob"]}
                server = self.served(upstream, ("ann", "bob"))
                for name in ("ann", "bob"):
                    self.log_in_as(server, name)
                    self.assertEqual(self.text(self.call(server, name)), name)
                for name in ("ann", "bob", "ann"):
                    self.assertEqual(self.text(self.call(server, name)), name)
                    self.assertEqual(self.names(server, name), {"up__echo", f"up__only_{name}"})
                self.assertEqual(self.text(self.call(server, "ann", "up__only_ann")), "ann")
                self.assertEqual(self.call(server, "bob", "up__only_ann").code, -32602)
                self.assertEqual(upstream.crossed, [])
                self.assertEqual(len(auth.of("/authorize")), 2)


class WhoIsAsking(PrincipalsTest):
    def test_clients_that_nobody_knows(self):
        auth, upstream = self.servers()
        server = self.http(toolsets={"up": {"url": upstream.url, "credentials": "principal"}})
        refused = server.call("up__echo").answer.tool_error
        self.assertEqual(refused["code"], "TOOL_UNAVAILABLE")
        self.assertSays(refused["message"], '"up"', "credentials: principal", "who is asking", "token")
        self.assertEqual((auth.asked, upstream.requests), ([], []))

    def test_the_client_on_stdio_is_local(self):
        auth, upstream = self.servers()
        toolsets = {"up": {"url": upstream.url, "credentials": "principal"}}
        hub = self.hub(toolsets=toolsets)
        client = LegacyClient(hub)
        self.assertSays(client.call("up__echo").tool_error["message"], "wants a login", "patchbay login up --principal local")
        process, link = self.begin_login(toolsets)
        self.assertEqual(browse(link, "ann")[0], 200)
        self.assertIn("logged in to up as local", self.end_login(process)[0])
        hub.wait_log("login.token toolset=up principal=local")
        self.assertEqual(self.text(client.call("up__echo")), "ann")

    def test_a_client_that_cannot_be_asked_gets_the_link(self):
        auth, upstream = self.servers()
        server = self.served(upstream, ("ann", "bob"))
        links = []
        for name in ("ann", "bob"):
            refused = self.call(server, name, capabilities={}).tool_error["message"]
            self.assertSays(refused, "wants a login", f"patchbay login up --principal token:{name}")
            links += [word for word in refused.split() if word.startswith("http")]
        self.assertEqual(len(set(links)), 2, links)
        for link, name in zip(links, ("ann", "bob")):
            self.assertEqual(browse(link, name)[0], 200)
            server.hub.wait_log(f"login.token toolset=up principal=token:{name}")
            self.assertEqual(self.text(self.call(server, name, capabilities={})), name)

    def test_one_flow_for_all_calls_of_a_user_and_none_for_others(self):
        auth, upstream = self.servers()
        server = self.served(upstream, ("ann", "bob"))
        self.log_in_as(server, "bob")
        links = {self.link_of(self.call(server, "ann")) for _ in range(5)}
        self.assertEqual(len(links), 1)
        self.assertEqual(self.text(self.call(server, "bob")), "bob")  # while ann is at her browser
        self.assertEqual(browse(links.pop(), "ann")[0], 200)
        server.hub.wait_log("login.token toolset=up principal=token:ann")
        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        self.assertEqual(len(auth.of("/authorize")), 2)
        self.assertEqual(upstream.crossed, [])

    def test_entries_that_are_wrong(self):
        client = {"grant": "client_credentials", "issuer": "i", "client_id": "c", "client_secret": "s"}
        for keys, word in (
            ({"auth": client}, "client_credentials"),
            ({"auth": "none"}, "auth: none"),
            ({"sharing": "session"}, "sharing: session"),
            ({"headers": {"authorization": "Bearer x"}}, "same for all"),
            ({"credentials": "user"}, "principal"),
        ):
            entry = {"url": "http://127.0.0.1:1/mcp", "credentials": "principal", **keys}
            done = self.cli("check", toolsets={"up": entry}, modules=True)
            self.assertEqual(done.returncode, 3, (keys, done.stdout))
            self.assertSays(done.stderr + done.stdout, word)
        done = self.cli("login", "up", "--principal", "token:ann", toolsets={"up": {"url": "http://127.0.0.1:1/mcp"}}, modules=False)
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "credentials: principal")


class Life(PrincipalsTest):
    def rewrite(self, server, toolsets):
        document = json.loads((self.home / "patchbay.json").read_text(encoding="utf-8"))
        self.replace_manifest(server.hub, {**document, "toolsets": toolsets})

    def test_logging_out_ends_what_was_one_users_alone(self):
        auth, upstream = self.servers()
        upstream.more = {"ann": ["ann"], "bob": ["bob"]}
        server = self.served(upstream, ("ann", "bob"))
        for name in ("ann", "bob"):
            self.log_in_as(server, name)
            self.assertEqual(self.text(self.call(server, name)), name)
        done = self.cli("login", "logout", "up", "--principal", "token:ann", manifest=self.manifest, modules=False)
        self.assertEqual((done.returncode, done.stdout), (0, "logged out of up as token:ann\n"), done.stderr)
        server.hub.wait_log("principal.instance_ends toolset=up principal=token:ann")
        self.assertEqual(self.names(server, "ann"), set())
        self.link_of(self.call(server, "ann"))
        self.assertEqual(self.text(self.call(server, "bob")), "bob")
        self.assertEqual(self.names(server, "bob"), {"up__echo", "up__only_bob"})
        self.log_in_as(server, "ann")
        self.assertEqual(self.text(self.call(server, "ann", "up__only_ann")), "ann")
        self.assertEqual(upstream.crossed, [])

    def test_as_many_as_may(self):
        auth, upstream = self.servers()
        server = self.served(upstream, ("ann", "bob", "eve"), manifest={"limits": {"principal_instances": 2}})
        sessions = {name: server.legacy(headers=self.headers[name], capabilities=URLS) for name in ("ann", "bob")}
        for name, session in sessions.items():
            self.assertEqual(session.call("up__echo").answer.code, -32042, name)
        refused = self.call(server, "eve").tool_error
        self.assertEqual(refused["code"], "TOOL_UNAVAILABLE")
        self.assertSays(refused["message"], '"up"', "2 users", "limits.principal_instances", "try again")
        sessions["ann"].delete()  # who has no session makes room
        self.log_in_as(server, "eve")
        self.assertEqual(self.text(self.call(server, "eve")), "eve")
        self.assertEqual(sessions["bob"].call("up__echo").answer.code, -32042)

    def test_who_has_no_session_goes_after_a_while(self):
        auth, upstream = self.servers()
        upstream.more = {"ann": ["ann"]}
        server = self.served(upstream, ("ann", "bob"), manifest={"limits": {"principal_idle": "200ms"}})
        session = server.legacy(headers=self.headers["bob"], capabilities=URLS)
        session.call("up__echo")
        present = server.legacy(headers=self.headers["ann"])  # or she is gone, and her link with her, before she has logged in
        self.log_in_as(server, "ann")
        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        present.delete()
        server.hub.wait_log("principal.instance_ends toolset=up principal=token:ann")
        self.assertEqual(self.names(server, "ann"), {"up__echo", "up__only_ann"})  # the login is still there
        self.assertEqual(server.hub.log.count("principal.instance_ends toolset=up principal=token:bob"), 0)

    def test_off_on_and_other_settings(self):
        auth, upstream = self.servers()
        server = self.served(upstream, ("ann", "bob"))
        for name in ("ann", "bob"):
            self.log_in_as(server, name)
            self.assertEqual(self.text(self.call(server, name)), name)
        server.call("disable_toolset", {"toolset": "up"}, headers=self.headers["ann"])
        self.assertEqual(self.names(server, "ann"), set())
        self.assertEqual(self.text(self.call(server, "bob")), "bob")
        answer = server.call("enable_toolset", {"toolset": "up"}, headers=self.headers["ann"]).answer
        self.assertEqual(answer.result["structuredContent"]["toolCount"], 1, answer.raw)
        self.assertEqual(self.text(self.call(server, "ann")), "ann")

        toolsets = {"up": {"url": upstream.url, "credentials": "principal", "tags": ["new"]}}
        self.rewrite(server, toolsets)
        for name in ("ann", "bob"):
            self.assertEqual(self.text(self.call(server, name)), name)
        self.rewrite(server, {"up": {"url": upstream.url}})  # the hub's own login: there is none
        refused = self.call(server, "ann").tool_error["message"]
        self.assertSays(refused, "the operator of the hub", "`patchbay login up`")
        self.rewrite(server, toolsets)
        for name in ("ann", "bob"):
            self.assertEqual(self.text(self.call(server, name)), name)
        self.assertEqual(upstream.crossed, [])


    def test_a_toolset_that_is_gone_before_its_last_call(self):
        """A call in flight ends on its user's connection, though that is no more, nor its toolset."""
        _, upstream = self.servers()
        server = self.served(upstream, ("ann",))
        self.log_in_as(server, "ann")
        held, answered = threading.Event(), threading.Event()
        self.addCleanup(answered.set)

        def hold(x):
            held.set()
            answered.wait(TIMEOUT)
            x.result(upstream.said("ann"))

        self.assertEqual(self.text(self.call(server, "ann")), "ann")
        upstream.on["tools/call"] = hold
        connection = server.connection()
        connection.send(server.modern_bytes("tools/call", {"name": "up__echo", "arguments": {}}, headers=self.headers["ann"]))
        self.assertTrue(held.wait(TIMEOUT))
        self.rewrite(server, {"up": {"url": upstream.url}})
        self.rewrite(server, {})
        answered.set()
        self.assertEqual(self.text(connection.reply().answer), "ann")
        connection.close()


class Unasked(PrincipalsTest):
    """What a server says on its own account is for the user whose connection it is."""

    def setUp(self):
        super().setUp()
        self.auth, self.upstream = self.servers()
        self.streams = {}

        def get(x):
            with self.upstream.condition:
                self.streams[self.upstream.user_of(x)] = x.stream()
                self.upstream.condition.notify_all()
            x.wait_gone()

        def listed(x):
            x.result({"resources": [{"uri": "a:b", "name": self.upstream.user_of(x)}]})

        def read(x):
            x.result({"contents": [{"uri": x.params["uri"], "text": self.upstream.user_of(x)}]})

        self.upstream.capabilities = {"tools": {"listChanged": True}, "logging": {}, "resources": {"subscribe": True}, "completions": {}}
        self.upstream.on["resources/list"] = listed
        self.upstream.on["resources/read"] = read
        self.upstream.on["resources/templates/list"] = lambda x: x.result({"resourceTemplates": []})
        self.upstream.on["resources/subscribe"] = lambda x: x.result({})
        self.upstream.on["GET"] = get
        self.upstream.on["logging/setLevel"] = lambda x: x.result({})
        self.server = self.served(self.upstream, ("ann", "bob"))
        self.sessions, self.heard = {}, {}
        for name in ("ann", "bob"):
            self.log_in_as(self.server, name)
            # Its tools are known then: a session that begins before is told so, some time later.
            self.assertEqual(self.text(self.call(self.server, name)), name)
            session = self.server.legacy(headers=self.headers[name])
            self.assertEqual(self.text(session.call("up__echo", {"user": name}).answer), name)
            session.request("logging/setLevel", {"level": "debug"})
            session.request("tools/list")
            self.sessions[name], self.heard[name] = session, session.open()
        self.upstream.wait_until(lambda: len(self.streams) == 2, "a stream for each")

    def say(self, name, method, **params):
        self.streams[name].event({"jsonrpc": "2.0", "method": method, "params": params})

    def hear(self, name, method):
        """The next message of a kind; lists that have become known meanwhile are passed over."""
        while (message := self.heard[name].message()).method != method:
            self.assertIn("list_changed", message.method)
        return message

    def test_log_messages(self):
        for name in ("ann", "bob", "ann"):
            self.say(name, "notifications/message", level="error", data=name)
        for name in ("bob", "ann", "ann"):
            self.assertEqual(self.hear(name, "notifications/message").params["data"], name)
        self.say("bob", "notifications/message", level="error", data="last")
        self.assertEqual(self.hear("bob", "notifications/message").params["data"], "last")

    def test_resources(self):
        for name, session in self.sessions.items():
            listed = session.request("resources/list").answer.result["resources"]
            self.assertEqual([(entry["uri"], entry["name"]) for entry in listed], [("a:b", name)])
            contents = session.request("resources/read", {"uri": "a:b"}).answer.result["contents"]
            self.assertEqual(contents[0]["text"], name)
            session.request("resources/subscribe", {"uri": "a:b"})
        self.assertEqual({self.upstream.user_of(x) for x in self.upstream.of("resources/subscribe")}, {"ann", "bob"})
        self.say("ann", "notifications/resources/updated", uri="a:b")
        self.assertEqual(self.hear("ann", "notifications/resources/updated").params["uri"], "a:b")
        self.say("bob", "notifications/message", level="error", data="last")
        self.hear("bob", "notifications/message")  # and nothing of hers before

    def test_a_list_that_changes(self):
        self.upstream.more = {"ann": ["more"], "bob": ["else"]}
        self.say("ann", "notifications/tools/list_changed")
        self.hear("ann", "notifications/tools/list_changed")
        self.assertEqual(self.names(self.server, "ann"), {"up__echo", "up__only_more"})
        self.assertEqual(self.names(self.server, "bob"), {"up__echo"})  # his server has not said so yet
        self.say("bob", "notifications/message", level="error", data="last")
        while (message := self.heard["bob"].message()).method != "notifications/message":
            self.assertEqual(message.method, "notifications/resources/list_changed")


class EveryWay(PrincipalsTest):
    def begin(self, **manifest):
        self.auth, self.upstream = self.servers()
        self.upstream.more = {"ann": ["ann"], "bob": ["bob"]}
        groups = {"hub": {"meta_tools": ["toolsets", "search", "fanout"]}, "listen": [{"http": "127.0.0.1:0", "rest": True}]}
        server = self.served(self.upstream, ("ann", "bob"), manifest={**groups, **manifest})
        for name in ("ann", "bob"):
            self.log_in_as(server, name)
            self.assertEqual(self.text(self.call(server, name)), name)
        return server

    def served(self, upstream, names, manifest=None, **keys):
        self.headers = {name: self.bearer(name) for name in names}
        toolsets = {"up": {"url": upstream.url, "credentials": "principal", **keys}}
        auth = {"auth": {"tokens": str(self.home / "tokens.json")}}
        self.manifest = ends_soon({**auth, **manifest, "toolsets": toolsets})
        return Server(self, self.hub("--stdio", "--log-level", "debug", manifest=self.manifest))

    def asked(self, server, name, tool, arguments):
        answer = server.call(tool, arguments, headers=self.headers[name]).answer
        self.assertNotIn("isError", answer.result, answer.raw)
        return answer.raw

    def test_through_tools_of_the_hub(self):
        server = self.begin()
        for name, other in (("ann", "bob"), ("bob", "ann")):
            found = self.asked(server, name, "search_tools", {"query": f"{name} {other}"})
            self.assertIn(f"up__only_{name}", found)
            self.assertNotIn(f"only_{other}", found)
            for tool, arguments in (
                ("describe_toolset", {"toolset": "up"}),
                ("list_toolsets", {}),
                ("list_tools", {}),
                ("call_in_toolsets", {"tool": f"only_{name}", "arguments": {"user": name}}),
            ):
                said = self.asked(server, name, tool, arguments)
                self.assertNotIn(other, said)
            self.assertIn('"toolCount":2', self.asked(server, name, "list_toolsets", {}))
        self.assertEqual(self.upstream.crossed, [])

    def test_through_the_rest_door(self):
        server = self.begin()
        for name, other in (("ann", "bob"), ("bob", "ann")):
            headers = [("Content-Type", "application/json"), *self.headers[name].items()]
            document = server.get("/openapi.json", list(self.headers[name].items())).body.decode()
            self.assertIn(f"up__only_{name}", document)
            self.assertNotIn(f"only_{other}", document)
            body = json.dumps({"user": name}).encode()
            for tool, status in ((f"up__only_{name}", 200), (f"up__only_{other}", 404)):
                reply = server.ask("POST", f"/tools/{tool}", headers, body)
                self.assertEqual(reply.status, status, reply)
        self.assertEqual(self.upstream.crossed, [])


class Secrets(PrincipalsTest):
    def test_tokens_are_nowhere(self):
        """Not in the log, the audit, errors, status, metrics, or what other processes see."""
        auth, upstream = self.servers()
        audit = self.home / "audit.jsonl"
        server = self.served(upstream, ("ann", "bob"), manifest={"log": {"audit": "audit.jsonl"}})
        said, links = [], []
        for name in ("ann", "bob"):
            link = self.link_of(self.call(server, name))
            links.append(link)
            self.assertEqual(browse(link, name)[0], 200)
            server.hub.wait_log(f"login.token toolset=up principal=token:{name}")
            said.append(self.call(server, name).raw)
        auth.tokens.clear()
        auth.refresh_tokens.clear()
        said += [self.call(server, name, capabilities={}).raw for name in ("ann",)]
        said.append(self.call(server, "ann", "describe_toolset", capabilities={}).raw)
        for path in ("/healthz", "/readyz", "/metrics", "/ui", "/openapi.json"):
            said.append(server.get(path, list(self.headers["bob"].items())).body.decode(errors="replace"))
        said.append(self.cli("login", "list", "--json", manifest=self.manifest, modules=False).stdout)
        for pid in (path for path in Path("/proc").iterdir() if path.name.isdigit()):
            with contextlib.suppress(OSError):
                said.append((pid / "cmdline").read_text(errors="replace"))
        server.hub.wait_until(lambda: audit.exists() and "up" in audit.read_text(encoding="utf-8"), "the audit")
        said += [server.hub.log, audit.read_text(encoding="utf-8")]
        for secret in [*auth.users, *auth.codes]:
            for text in said:
                self.assertNotIn(secret, text)
        for link in links:  # whoever has it could log in as somebody else
            for text in (server.hub.log, audit.read_text(encoding="utf-8")):
                self.assertNotIn(link.split("state=")[1][:20], text)


EXPIRED, REVOKED = 20, 40  # turns


class Crowd(PrincipalsTest):
    USERS, CALLS = 10, 100  # of tests/scale/logins.py: 50, 200

    def test_not_one_call_with_anothers_login(self):
        """Calls of many users interleaved, over both eras, while all tokens are refreshed and one is revoked."""
        for era in ("legacy", "modern"):
            with self.subTest(era):
                self.crowd(era)

    def crowd(self, era):
        auth, upstream = self.servers(era)
        names = [f"user{n}" for n in range(self.USERS)]
        upstream.more = {name: [name] for name in names}
        server = self.served(upstream, names)
        for name in names:
            self.log_in_as(server, name)
        self.assertEqual(len(auth.of("/authorize")), self.USERS)
        sessions = {name: server.legacy(headers=self.headers[name]) for name in names[::2]}
        gone = names[7]
        refused = 0
        for turn in range(self.CALLS // 2):
            if turn == EXPIRED:
                auth.tokens.clear()  # everybody's have expired
            if turn == REVOKED:
                with auth.condition:
                    for token in [token for token, user in auth.users.items() if user == gone]:
                        auth.tokens.pop(token, None)
                        auth.refresh_tokens.pop(token, None)
            answers = self.turn(server, sessions, names)
            for name, answer in answers:
                if name == gone and turn >= REVOKED:
                    refused += 1
                    self.assertNotIn(f'"text":"{name}"', answer.raw)
                else:
                    self.assertEqual(self.text(answer), name)
        self.assertEqual(refused, self.CALLS // 2 - REVOKED)
        self.assertEqual(upstream.crossed, [])
        self.assertEqual(len(upstream.calls), self.USERS * self.CALLS // 2 - refused)
        for name in names:
            if name != gone:
                self.assertEqual(self.names(server, name), {"up__echo", f"up__only_{name}"})

    def turn(self, server, sessions, names):
        """One call of each user, all sent before the first answer is read."""
        connections = []
        for name in names:
            params = {"name": "up__echo", "arguments": {"user": name}}
            connection = server.connection()
            if name in sessions:
                session = sessions[name]
                connection.send(session.post_bytes(session.message("tools/call", params)))
            else:
                connection.send(server.modern_bytes("tools/call", params, headers=self.headers[name]))
            connections.append((name, connection))
        answers = []
        for name, connection in connections:
            answers.append((name, connection.reply().answer))
            connection.close()
        return answers


if __name__ == "__main__":
    main()
