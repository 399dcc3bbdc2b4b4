# SPDX-License-Identifier: Apache-2.0
"""`sharing: session`: each client session has an instance of its own, and nobody else's reaches it (S3.13)."""

import json

from evil_websocket import WebSocket, call
from http_client import Server
from listen import Lines
from mcp import HubTest, LegacyClient, ModernClient, compile_plugin, fixture, main


class Sharing(HubTest):
    def served(self, *flags, manifest=None, **keys):
        """A hub on stdio, HTTP and a Unix socket in front of the recorder, shared by session."""
        self.upstream = self.recorder()
        toolsets = {"up": self.upstream.toolset(*flags, sharing="session", **keys)}
        hub = self.hub("--stdio", "--http", 0, "--unix", "hub.sock", toolsets=toolsets, manifest=manifest)
        hub.wait_until(lambda: hub.log.count("listen.ready") >= 2, "both listeners")
        return hub, Server(self, hub)

    def over_socket(self):
        client = Lines(self.home / "hub.sock")
        self.addCleanup(client.close)
        return client


class Instances(Sharing):
    def test_each_session_has_its_own(self):
        hub, server = self.served()
        stdio = LegacyClient(hub)
        http = [server.legacy(), server.legacy()]
        sockets = [self.over_socket(), self.over_socket()]
        websocket = WebSocket(server)
        self.assertIn("up__echo", stdio.names())  # the shared instance says what there is
        self.assertEqual(len(self.upstream.sync().starts), 1)

        stdio.call("up__echo", {"who": "stdio"}).result
        for session in http:
            session.call("up__echo", {"who": "http"})
        for socket_ in sockets:
            self.assertIn("result", socket_.request("tools/call", name="up__echo", arguments={"who": "unix"}))
        self.assertIn("result", websocket.ask(call(1, "up__echo", who="ws")).data)
        self.assertEqual(len(self.upstream.sync().starts), 1 + 6)
        stdio.call("up__echo", {"who": "stdio"}).result  # again: nobody new
        http[1].call("up__echo", {"who": "http"})
        self.assertEqual(len(self.upstream.sync().starts), 1 + 6)

    def test_they_end_with_their_session(self):
        hub, server = self.served()
        LegacyClient(hub).call("up__echo").result
        self.assertEqual(len(self.upstream.sync().starts), 2)
        session, socket_ = server.legacy(), self.over_socket()
        session.call("up__echo")
        socket_.request("tools/call", name="up__echo", arguments={})
        self.assertEqual(len(self.upstream.sync().starts), 4)
        self.assertEqual(session.delete().status, 204)
        self.upstream.wait_gone(1)
        socket_.close()
        self.upstream.wait_gone(2)
        self.assertEqual(len(self.upstream.runs), 2)  # that of stdio, and the shared one

    def test_clients_without_a_session_share(self):
        hub, server = self.served()
        for _ in range(3):
            self.assertIn("result", server.call("up__echo").answer.data)
        self.assertEqual(len(self.upstream.sync().starts), 1)
        line = hub.wait_log("toolset.shared")
        self.assertIn("sharing: session", line)
        self.assertEqual(hub.log.count("toolset.shared"), 1)
        self.assertIn("result", ModernClient(hub).call("up__echo").data)  # a pipe is a session, also a modern one
        self.assertEqual(len(self.upstream.sync().starts), 2)
        self.assertEqual(hub.log.count("toolset.shared"), 1)

    def test_as_many_as_may(self):
        hub, server = self.served(manifest={"limits": {"session_instances": 2}})
        sessions = [server.legacy() for _ in range(3)]
        for session in sessions[:2]:
            self.assertIn("result", session.call("up__echo").answer.data)
        failure = sessions[2].call("up__echo").answer.tool_error
        self.assertEqual((failure["code"], failure["retryable"]), ("TOOL_UNAVAILABLE", True))
        for word in ('"up"', "limits.session_instances", "2 sessions", "try again"):
            self.assertIn(word, failure["message"])
        self.assertIn('"anonymous at 127.0.0.1"', failure["message"])
        self.assertIn("result", LegacyClient(hub).call("up__echo").data)  # somebody else, whom that does not concern
        sessions[0].delete()
        self.assertIn("result", sessions[2].call("up__echo").answer.data)
        self.assertIn("result", sessions[1].call("up__echo").answer.data)

    def test_one_that_dies_harms_nobody(self):
        hub, server = self.served()
        client, other = LegacyClient(hub), server.legacy()
        client.call("up__echo").result
        held = client.send_call("up__hold")
        other.call("up__echo")
        self.assertEqual(other.call("up__die").answer.tool_error["code"], "TOOL_UNAVAILABLE")
        self.upstream.wait_gone(1)
        self.assertIn("result", client.call("up__echo").data)
        client.cancel(held)

    def test_a_call_of_one_is_not_seen_by_another(self):
        """max_calls is of each instance: what one session holds does not keep another from its calls."""
        hub, server = self.served(max_calls=1, queue=0)
        client, other = LegacyClient(hub), server.legacy()
        held = client.send_call("up__hold")
        self.upstream.wait_calls(1)
        self.assertEqual(client.call("up__echo").tool_error["code"], "TOOL_UNAVAILABLE")
        self.assertNotIn("isError", other.call("up__echo").answer.result)
        client.cancel(held)

    def test_disabling_ends_them(self):
        hub, server = self.served()
        client, other = LegacyClient(hub), server.legacy()
        client.call("up__echo").result
        other.call("up__echo")
        held = client.send_call("up__hold")
        self.upstream.wait_calls(3)
        client.call("disable_toolset", {"toolset": "up"}).result
        self.assertEqual(hub.response(held).tool_error["code"], "TOOL_UNAVAILABLE")
        self.upstream.wait_gone(1)  # that of who disabled it, and no other
        self.assertIn("result", other.call("up__echo").answer.data)
        client.call("enable_toolset", {"toolset": "up"}).result
        self.assertIn("result", client.call("up__echo").data)

    def test_native_modules_have_instances_too(self):
        hub = self.hub("--log-level", "debug", toolsets={"own": fixture("one", sharing="session")})
        client = LegacyClient(hub)
        for _ in range(2):
            self.assertIn("result", client.call("own__one").data)
        hub.wait_log("session.instance toolset=own session=1 instances=1")
        self.assertEqual(hub.log.count("session.instance"), 1)


class Conversation(Sharing):
    """What an instance says and asks is for its session."""

    def test_questions_reach_their_session(self):
        hub, server = self.served("--content")
        capabilities = {"sampling": {}}
        hub.answers["sampling/createMessage"] = lambda params: {
            "role": "assistant", "content": {"type": "text", "text": "stdio"}, "model": "m"}
        client = LegacyClient(hub, capabilities=capabilities)
        other = server.legacy(capabilities=capabilities)
        waiting = server.connection()
        waiting.send(other.post_bytes(other.message("tools/call", {"name": "up__hold", "arguments": {}})))
        self.upstream.wait_calls(1)  # with one instance for both, nobody could be asked
        params = {"messages": [{"role": "user", "content": {"type": "text", "text": "?"}}], "maxTokens": 5}
        answer = client.call("up__ask", {"method": "sampling/createMessage", "params": params})
        self.assertIn("stdio", json.dumps(answer.result))
        self.upstream.wait_line(lambda m: m.get("result", {}).get("model") == "m", "the answer of the client")
        waiting.close()

    def test_log_messages_and_levels(self):
        hub, server = self.served("--content")
        client, other = LegacyClient(hub), server.legacy()
        client.call("up__echo").result
        other.call("up__echo")
        stream = other.open()
        mark = self.upstream.mark
        client.request("logging/setLevel", {"level": "debug"}).result
        line = json.loads(self.upstream.wait_request("logging/setLevel", mark))
        self.assertEqual(line["params"]["level"], "debug")
        self.upstream.sync()
        self.upstream.write(json.dumps({"jsonrpc": "2.0", "method": "notifications/message",
                                        "params": {"level": "error", "data": "for the newest run"}}))
        told = next(m for m in iter(stream.message, None) if m.method == "notifications/message")
        self.assertEqual(told.params["data"], "for the newest run")  # which is the other's
        client.barrier()
        self.assertEqual(hub.notifications("notifications/message"), [])

    def test_subscriptions(self):
        hub, server = self.served("--content")
        other, client = server.legacy(), LegacyClient(hub)
        uri = client.request("resources/list").result["resources"][0]["uri"]
        client.request("resources/subscribe", {"uri": uri}).result
        stream = other.open()
        self.assertIn("result", other.request("resources/subscribe", {"uri": uri}).answer.data)
        self.assertEqual(len(self.upstream.sync().lines("resources/subscribe")), 2)  # each to its own
        own = json.loads(self.upstream.lines("resources/subscribe")[0])["params"]["uri"]
        self.upstream.command(updated=own)  # at the newest run, which is the other's
        self.assertTrue(any(m.method == "notifications/resources/updated" for m in iter(stream.message, None)))
        client.barrier()
        self.assertEqual(hub.notifications("notifications/resources/updated"), [])
        mark = self.upstream.mark
        client.request("resources/unsubscribe", {"uri": uri}).result
        self.upstream.wait_request("resources/unsubscribe", mark)

    def test_content_is_the_sessions_own(self):
        hub, server = self.served("--content")
        client = LegacyClient(hub)
        uri = client.request("resources/list").result["resources"][0]["uri"]
        prompt = client.request("prompts/list").result["prompts"][0]["name"]
        self.assertEqual(len(self.upstream.sync().starts), 1)
        client.request("resources/read", {"uri": uri}).result
        client.request("prompts/get", {"name": prompt, "arguments": {}}).result
        client.request("completion/complete", {"ref": {"type": "ref/prompt", "name": prompt},
                                               "argument": {"name": "a", "value": ""}}).result
        self.assertEqual(len(self.upstream.sync().starts), 2)

    def test_roots_are_the_sessions_own(self):
        hub, server = self.served("--content")
        hub.answers["roots/list"] = lambda params: {"roots": [{"uri": "file:///stdio"}]}
        client = LegacyClient(hub, capabilities={"roots": {"listChanged": True}})
        server.legacy().call("up__echo")
        client.call("up__echo").result
        self.upstream.wait_calls(2)  # the newest instance is the one that is written to
        self.upstream.write(json.dumps({"jsonrpc": "2.0", "id": "r", "method": "roots/list"}))
        line = self.upstream.wait_line(lambda m: m.get("id") == "r", "the roots")
        self.assertIn("file:///stdio", line)
        client.notify("notifications/roots/list_changed")
        self.upstream.wait_request("notifications/roots/list_changed")

    def test_a_list_of_ones_own_is_not_shown(self):
        hub, server = self.served()
        client = LegacyClient(hub)
        before = client.own_names()
        client.call("up__echo").result
        self.upstream.command(tools='[{"name":"other","inputSchema":{"type":"object"}}]')
        self.upstream.command(notify=1)
        client.call("up__echo").result
        self.assertEqual(client.own_names(), before)


class Changes(Sharing):
    def test_a_toolset_that_is_gone_before_its_last_call(self):
        """A call in flight ends on the session's own instance, whose toolset the manifest does not have any more."""
        hub, _ = self.served()
        client = LegacyClient(hub)
        client.names()
        call = client.send_call("up__hold")
        [line] = self.upstream.wait_calls(1)
        manifest = self.home / "patchbay.json"
        document = json.loads(manifest.read_text(encoding="utf-8"))
        document["toolsets"] = {}
        fresh = self.home / ".fresh"
        fresh.write_text(json.dumps(document), encoding="utf-8")
        fresh.rename(manifest)
        hub.wait_log("config.reloaded")
        self.assertNotIn("up__hold", client.names())
        self.upstream.answer(line)
        self.assertIn("result", hub.response(call).data)

    def test_a_newer_module(self):
        """Instances of a plugin that is replaced are of the new one, and what runs may end."""
        folder = self.home / "plugins"
        folder.mkdir()
        compile_plugin(folder, "changing", "old")
        hub = self.hub("--plugins-dir", folder, toolsets={
            "t": {"module": "changing", "sharing": "session", "config": {"tools": [
                {"name": n, "inputSchema": {"type": "object"}} for n in ("one", "hold")]}}})
        client = LegacyClient(hub)
        self.assertIn("old", json.dumps(client.call("t__one").result))
        compile_plugin(folder, "changing", "new")
        hub.wait_until(lambda: hub.log.count("module=changing") >= 2, "the new module")
        self.assertIn("new", json.dumps(client.call("t__one").result))


if __name__ == "__main__":
    main()
