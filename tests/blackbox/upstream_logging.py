# SPDX-License-Identifier: Apache-2.0
"""Log messages of an upstream, for clients and servers of both eras.

MCP 2025-11-25 server/utilities/logging: a level per connection. 2026-07-28: a level per request, and
messages for that request alone.
"""

import json

from crowd import CrowdTest
from mcp import META, HubTest, LegacyClient, ModernClient, main

MESSAGE = "notifications/message"


class Upstream(HubTest):
    def start(self, era):
        recorder = self.recorder()
        hub = self.hub(toolsets={"up": recorder.toolset("--era", era, "--content")})
        return hub, recorder

    def said(self, hub, since=0):
        return [(m.params["level"], m.params["data"]) for m in hub.notifications(MESSAGE, since)]

    def log(self, client, level, data, **more):
        client.call("up__log", {"level": level, "data": data}, **more).result


class LegacyServer(Upstream):
    def test_the_level_is_passed_on(self):
        hub, recorder = self.start("legacy")
        client = LegacyClient(hub)
        client.names()
        client.request("logging/setLevel", {"level": "warning"}).result
        line = json.loads(recorder.wait_request("logging/setLevel"))
        self.assertEqual(line["params"], {"level": "warning"})

    def test_a_level_that_was_set_before_the_server_ran(self):
        hub, recorder = self.start("legacy")
        client = LegacyClient(hub)
        client.request("logging/setLevel", {"level": "error"}).result
        client.call("up__echo").result
        line = json.loads(recorder.wait_request("logging/setLevel"))
        self.assertEqual(line["params"], {"level": "error"})

    def test_a_restarted_server_is_told_again(self):
        hub, recorder = self.start("legacy")
        client = LegacyClient(hub)
        client.names()
        client.request("logging/setLevel", {"level": "debug"}).result
        recorder.wait_request("logging/setLevel")
        mark = recorder.mark  # it may come back by itself
        client.call("up__die").tool_error
        recorder.wait_gone()
        client.call("up__echo").result
        line = json.loads(recorder.wait_request("logging/setLevel", mark))
        self.assertEqual(line["params"], {"level": "debug"})

    def test_messages_of_a_call(self):
        hub, _ = self.start("legacy")
        client = LegacyClient(hub)
        client.names()
        client.request("logging/setLevel", {"level": "warning"}).result
        self.log(client, "info", "too low")
        self.log(client, "error", {"a": [1]})
        self.assertEqual(self.said(hub), [("error", {"a": [1]})])

    def test_messages_of_a_modern_clients_call(self):
        hub, _ = self.start("legacy")
        client = ModernClient(hub)
        client.names()
        self.log(client, "error", "unasked")
        self.log(client, "info", "asked", meta={META + "logLevel": "info"})
        self.assertEqual(self.said(hub), [("info", "asked")])

    def test_messages_without_a_call_are_for_all_who_want_them(self):
        hub, recorder = self.start("legacy")
        client = LegacyClient(hub)
        client.names()
        client.call("up__echo").result
        recorder.write(json.dumps({"jsonrpc": "2.0", "method": MESSAGE, "params": {"level": "alert", "data": 1}}))
        hub.wait_for(lambda m: m.method == MESSAGE, MESSAGE)
        self.assertEqual(self.said(hub), [("alert", 1)])

    def test_messages_that_are_none(self):
        hub, recorder = self.start("legacy")
        client = LegacyClient(hub)
        client.names()
        for params in ("{}", '{"level":"loud","data":1}', '{"level":"error"}', '{"data":1}'):
            recorder.write(f'{{"jsonrpc":"2.0","method":"{MESSAGE}","params":{params}}}')
        client.call("up__echo").result
        self.assertEqual(self.said(hub), [])

    def test_a_client_that_was_told_of_none(self):
        """`initialize` announced no logging: messages come when the client asks for them, and not before."""
        recorder = self.recorder()
        hub = self.hub(toolsets={"up": recorder.toolset("--content", active=False)})
        client = LegacyClient(hub)
        self.assertNotIn("logging", client.answer.result["capabilities"])
        client.call("enable_toolset", {"toolset": "up"}).result
        self.log(client, "emergency", "of a call, unasked")
        recorder.write(json.dumps({"jsonrpc": "2.0", "method": MESSAGE, "params": {"level": "alert", "data": "unasked"}}))
        client.call("up__echo").result  # the hub has read that far
        client.request("logging/setLevel", {"level": "warning"}).result
        self.log(client, "error", "asked")
        self.assertEqual(self.said(hub), [("error", "asked")])


class ModernServer(Upstream):
    def levels(self, recorder):
        """The level of each call, as the server was told."""
        lines = recorder.sync().lines("tools/call")
        return [json.loads(line)["params"]["_meta"].get(META + "logLevel") for line in lines]

    def test_a_legacy_clients_level_goes_with_each_call(self):
        hub, recorder = self.start("modern")
        client = LegacyClient(hub)
        client.names()
        self.log(client, "error", "unasked")
        client.request("logging/setLevel", {"level": "warning"}).result
        self.log(client, "error", "asked")
        client.request("resources/read", {"uri": "rec:///one"}).result
        self.assertEqual(self.said(hub), [("error", "asked")])
        self.assertEqual(self.levels(recorder), [None, "warning"])
        self.assertIn('logLevel":"warning"', recorder.lines("resources/read")[0])
        self.assertEqual(recorder.lines("logging/setLevel"), [])

    def test_a_modern_clients_level_goes_with_its_call(self):
        hub, recorder = self.start("modern")
        client = ModernClient(hub)
        client.names()
        self.log(client, "debug", "asked", meta={META + "logLevel": "debug"})
        self.log(client, "error", "unasked")
        self.assertEqual(self.said(hub), [("debug", "asked")])
        self.assertEqual(self.levels(recorder), ["debug", None])

    def test_messages_of_one_clients_calls(self):
        """Over a pipe a message names no request. If all of them are one client's, it is that one's, as long as each
        of them would have it."""
        hub, recorder = self.start("modern")
        client = ModernClient(hub)
        client.names()
        held = client.send_call("up__hold", meta={META + "logLevel": "warning"})
        recorder.wait_calls(1)
        self.log(client, "error", "either", meta={META + "logLevel": "debug"})
        self.log(client, "info", "not the first", meta={META + "logLevel": "debug"})
        silent = client.send_call("up__hold")
        self.log(client, "error", "not the silent one", meta={META + "logLevel": "debug"})
        for line, request_id in zip(recorder.wait_calls(5)[::3], (held, silent)):
            recorder.answer(line, '"resultType":"complete","content":[]')
            hub.response(request_id).result
        self.log(client, "debug", "mine", meta={META + "logLevel": "debug"})
        self.assertEqual(self.said(hub), [("error", "either"), ("debug", "mine")])

    def test_without_a_call_there_are_no_messages(self):
        hub, recorder = self.start("modern")
        client = LegacyClient(hub)
        client.names()
        recorder.write(json.dumps({"jsonrpc": "2.0", "method": MESSAGE, "params": {"level": "alert", "data": 1}}))
        mark = recorder.mark
        recorder.command(notify=1)
        recorder.wait_request("tools/list", mark)  # the hub has read that far
        client.barrier()
        self.assertEqual(self.said(hub), [])


class Crowd(CrowdTest):
    """Calls of several clients at once."""

    def start(self, era):
        recorder = self.recorder()
        server = self.crowd(toolsets={"up": recorder.toolset("--era", era, "--content")})
        peers = self.everybody(server)
        peers[0].barrier()
        return peers, recorder

    def said(self, peer, count):
        """What it was sent; over HTTP a stream of its own brings that."""
        peer.barrier()
        peer.wait_until(lambda: len(peer.heard(MESSAGE)) >= count, f"{count} messages")
        return [m.params["data"] for m in peer.heard(MESSAGE)]

    def log(self, peer, data, **meta):
        peer.call("up__log", {"level": "error", "data": data}, meta={META + "logLevel": "debug"} if peer.era == "modern" else {}).result

    def test_a_modern_server(self):
        """What may be another's is nobody's."""
        peers, recorder = self.start("modern")
        for peer in peers:
            if peer.era == "legacy":
                peer.request("logging/setLevel", {"level": "debug"}).result
        held = peers[0].send_call("up__hold")
        line = recorder.wait_calls(1)[0]
        for peer in peers[1:]:
            self.log(peer, "whose?")
        recorder.answer(line, '"resultType":"complete","content":[]')
        peers[0].response(held).result
        for peer in peers:
            self.log(peer, peer.name)
        for peer in peers:
            self.assertEqual(self.said(peer, 1), [peer.name])

    def test_a_legacy_server(self):
        """What may be another's is for the connection: for all who asked for that level, but not for modern clients. What
        can only be one client's is that one's."""
        peers, recorder = self.start("legacy")
        deaf = peers[0]
        deaf.request("logging/setLevel", {"level": "alert"}).result
        first, second = peers[1], peers[3]
        for peer in (first, second):
            self.assertEqual(peer.era, "legacy")
        held = [first.send_call("up__hold"), first.send_call("up__hold")]
        lines = recorder.wait_calls(2)
        recorder.write(json.dumps({"jsonrpc": "2.0", "method": MESSAGE, "params": {"level": "error", "data": "first's"}}))
        first.wait_for(lambda m: m.method == MESSAGE, "its message")
        held.append(second.send_call("up__hold"))
        lines.append(recorder.wait_calls(3)[2])
        recorder.write(json.dumps({"jsonrpc": "2.0", "method": MESSAGE, "params": {"level": "error", "data": "for all"}}))
        second.wait_for(lambda m: m.method == MESSAGE, "the other message")
        for peer, request_id, line in zip((first, first, second), held, lines):
            recorder.answer(line)
            peer.response(request_id).result
        for peer in peers:
            expected = ["for all"] if peer.era == "legacy" and peer is not deaf else []
            expected = ["first's", *expected] if peer is first else expected
            self.assertEqual(self.said(peer, len(expected)), expected, peer.name)


if __name__ == "__main__":
    main()
