# SPDX-License-Identifier: Apache-2.0
"""A call that needs a login asks its own user, or says where to go; and goes on when the login is done.

MCP 2025-11-25 and 2026-07-28 client/elicitation (URL mode); 2026-07-28 basic/authorization, Step-Up Authorization Flow.
"""

import json
import re
import urllib.request

from http_client import HttpTest
from login import URLS, LoginTest
from login_server import browse
from mcp import LegacyClient, ModernClient, main
from ports import port_of, reserve


class Asked(LoginTest):
    def asked(self, client, since):
        question = client.hub.wait_for(lambda m: m.method == "elicitation/create", "the question", since)
        self.assertEqual(question.params["mode"], "url")
        return question

    def known(self, upstream, auth, make=LegacyClient):
        """A client that can be sent to URLs, of a hub that knows the server's tools and has lost its tokens."""
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = make(self.hub(toolsets=toolsets), capabilities=URLS)
        client.call("up__echo").result
        auth.tokens.clear()
        auth.refresh_tokens.clear()
        return client

    def test_a_legacy_client_that_can_be_sent_there(self):
        auth, upstream = self.servers()
        client = self.known(upstream, auth)
        since = client.hub.mark
        request = client.send_call("up__echo", {"a": 1})
        question = self.asked(client, since)
        client.hub.send({"jsonrpc": "2.0", "id": question.id, "result": {"action": "accept"}})
        self.assertEqual(browse(question.params["url"])[0], 200)
        self.assertEqual(self.text(client.hub.response(request, since)), '{"a": 1}')
        done = client.hub.wait_for(lambda m: m.method == "notifications/elicitation/complete", "its end", since)
        self.assertEqual(done.params["elicitationId"], question.params["elicitationId"])
        self.assertNotIn("state=", client.hub.log)

    def test_a_modern_client_that_can_be_sent_there(self):
        auth, upstream = self.servers("modern")
        client = self.known(upstream, auth, ModernClient)
        params = {"name": "up__echo", "arguments": {"a": 1}}
        wanted = client.request("tools/call", params).result
        self.assertEqual(wanted["resultType"], "input_required")
        [(key, question)] = wanted["inputRequests"].items()
        self.assertEqual((question["method"], question["params"]["mode"]), ("elicitation/create", "url"))
        again = {**params, "requestState": wanted["requestState"], "inputResponses": {key: {"action": "accept"}}}
        since = client.hub.mark
        request = client.send("tools/call", again)
        self.assertEqual(browse(question["params"]["url"])[0], 200)
        self.assertEqual(self.text(client.hub.response(request, since)), '{"a": 1}')

    def test_a_server_that_says_nothing_before_a_login(self):
        for make in (LegacyClient, ModernClient):
            with self.subTest(make.__name__):
                _, upstream = self.servers()
                client = make(self.hub(toolsets=self.toolsets(upstream)), capabilities=URLS)
                answer = client.call("up__echo", {"a": 1})
                if make is LegacyClient:
                    self.assertEqual(answer.code, -32042)
                    [question] = answer.error["data"]["elicitations"]
                else:
                    self.assertEqual(answer.result["resultType"], "input_required")
                    [question] = [asked["params"] for asked in answer.result["inputRequests"].values()]
                self.assertEqual(question["mode"], "url")
                self.assertEqual(browse(question["url"])[0], 200)
                client.hub.wait_log("login.token")
                self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')
                self.assertNotIn("state=", client.hub.log)

    def test_a_user_who_says_no(self):
        auth, upstream = self.servers()
        client = self.known(upstream, auth)
        since = client.hub.mark
        request = client.send_call("up__echo")
        question = self.asked(client, since)
        client.hub.send({"jsonrpc": "2.0", "id": question.id, "result": {"action": "decline"}})
        self.assertSays(client.hub.response(request, since).tool_error["message"], "did not log in")

    def test_a_client_that_cannot_is_told_the_link(self):
        _, upstream = self.servers()
        client = LegacyClient(self.hub(toolsets=self.toolsets(upstream)))
        message = client.call("up__echo").tool_error["message"]
        self.assertSays(message, 'toolset "up" wants a login', "`patchbay login up`")
        link = re.search(r"http://\S+", message).group(0)
        self.assertNotIn("state=", client.hub.log)
        self.assertEqual(browse(link)[0], 200)
        client.hub.wait_log("login.token")
        self.assertEqual(self.text(client.call("up__echo", {"a": 1})), '{"a": 1}')

    def test_many_calls_are_one_login(self):
        auth, upstream = self.servers()
        client = self.known(upstream, auth)
        before = [len(x) for x in (auth.of("/authorize"), auth.of("/token"))]
        since = client.hub.mark
        requests = [client.send_call("up__echo", {"a": n}) for n in range(5)]
        links = set()
        for _ in range(5):
            question = client.hub.wait_for(
                lambda m: m.method == "elicitation/create" and m.params["elicitationId"] not in links, "a question", since
            )
            links.add(question.params["elicitationId"])
            client.hub.send({"jsonrpc": "2.0", "id": question.id, "result": {"action": "accept"}})
        self.assertEqual(browse(question.params["url"])[0], 200)
        for n, request in enumerate(requests):
            self.assertEqual(self.text(client.hub.response(request, since)), f'{{"a": {n}}}')
        after = [len(x) for x in (auth.of("/authorize"), auth.of("/token"))]
        self.assertEqual((after[0] - before[0], after[1] - before[1]), (1, 2), "a refresh that fails, and one login")

    def test_a_tool_that_needs_more(self):
        auth, upstream = self.servers()
        toolsets = self.toolsets(upstream)
        self.log_in(toolsets)
        client = LegacyClient(self.hub(toolsets=toolsets), capabilities=URLS)
        client.call("up__echo").result
        upstream.wants["echo"] = "mcp:admin"
        since = client.hub.mark
        request = client.send_call("up__echo", {"a": 1})
        question = self.asked(client, since)
        client.hub.send({"jsonrpc": "2.0", "id": question.id, "result": {"action": "accept"}})
        self.assertEqual(browse(question.params["url"])[0], 200)
        self.assertEqual(self.text(client.hub.response(request, since)), '{"a": 1}')
        self.assertEqual(set(auth.of("/authorize")[-1]["scope"].split()), {"mcp:tools", "mcp:admin"})


class OfTheHub(HttpTest, LoginTest):
    def test_the_command_line_is_another_process(self):
        """It would wait for a browser that comes back to the hub."""
        auth, upstream = self.servers()
        for entry in ({"redirect_uri": "https://hub.example.com/oauth/callback"}, {"client_document": "https://hub.example.com/oauth/client.json"}):
            done = self.cli("login", "up", toolsets=self.toolsets(upstream, auth=entry), modules=False)
            self.assertEqual((done.returncode, done.stdout), (3, ""))
            self.assertSays(done.stderr, '"up"', "/oauth/callback", "redirect_uri", "patchbay ui", "--device")
        self.assertEqual(auth.asked, [])

    def test_browsers_come_back_to_the_hub(self):
        auth, upstream = self.servers()
        reserved = reserve()
        self.addCleanup(reserved.close)
        back = f"http://127.0.0.1:{port_of(reserved)}/oauth/callback"
        toolsets = self.toolsets(upstream, auth={"redirect_uri": back})
        server = self.http(address=f"127.0.0.1:{port_of(reserved)}", toolsets=toolsets)
        error = server.legacy(capabilities=URLS).call("up__echo", {"a": 1}).answer.error
        link = error["data"]["elicitations"][0]["url"]
        status, page = browse(f"{back}?state=x&code=y")
        self.assertEqual((status, "No login waits" in page), (404, True))
        status, page = browse(link)
        self.assertEqual(status, 200)
        self.assertIn("The login is done", page)
        server.hub.wait_log("login.token")
        self.assertEqual(list(auth.clients.values())[0]["redirect_uris"], [back])
        self.assertEqual(self.text(server.call("up__echo", {"a": 1}).message), '{"a": 1}')

    def test_an_authorization_server_that_knows_it_by_its_document(self):
        """Nothing is registered, and browsers come back to the hub that serves the document."""
        auth, upstream = self.servers()
        auth.changes = {"client_id_metadata_document_supported": True}
        reserved = reserve()
        self.addCleanup(reserved.close)
        origin = f"http://127.0.0.1:{port_of(reserved)}"
        document = origin + "/oauth/client.json"
        toolsets = self.toolsets(upstream, auth={"client_document": document})
        server = self.http(address=f"127.0.0.1:{port_of(reserved)}", toolsets=toolsets)

        def authorize(handler, fields):
            if fields["client_id"] not in auth.clients:
                with urllib.request.urlopen(fields["client_id"], timeout=60) as answer:
                    auth.clients[fields["client_id"]] = json.load(answer)
            auth.authorize(handler, fields)

        auth.on["/authorize"] = authorize
        error = server.legacy(capabilities=URLS).call("up__echo", {"a": 1}).answer.error
        self.assertIn("The login is done", browse(error["data"]["elicitations"][0]["url"])[1])
        server.hub.wait_log("login.token")
        self.assertEqual(auth.of("/register"), [])
        self.assertEqual({fields["client_id"] for fields in auth.of("/token")}, {document})
        self.assertEqual(auth.clients[document], {
            "client_id": document, "client_name": "Patchbay", "client_uri": origin + "/", "redirect_uris": [origin + "/oauth/callback"],
            "grant_types": ["authorization_code", "refresh_token"], "response_types": ["code"], "token_endpoint_auth_method": "none",
        })
        self.assertEqual(self.text(server.call("up__echo", {"a": 1}).message), '{"a": 1}')

    def test_its_document_is_of_the_host_that_is_asked(self):
        server = self.http()
        document = server.get("/oauth/client.json")
        self.assertEqual((document.status, document.header("content-type")), (200, "application/json"))
        self.assertTrue(json.loads(document.body)["client_id"].startswith("http://localhost"))
        self.assertEqual(server.get("/oauth/client.json", host="evil.example").status, 403)


if __name__ == "__main__":
    main()
