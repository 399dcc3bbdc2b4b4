# SPDX-License-Identifier: Apache-2.0
"""The harness itself, tried against the recorder: what it must catch, it catches."""

import sys

from mcp import LEGACY, SUPPORT, HubTest, LegacyClient, ModernClient, main


class Harness(HubTest):
    def server(self, *flags, **options):
        return self.hub(command=[sys.executable, str(SUPPORT / "recorder_server.py"), *flags], **options)

    def caught(self, server, *words):
        """The server's misbehaviour is reported, in these words, when its end is checked."""
        with self.assertRaises(AssertionError) as caught:
            server.finish()
        self.assertSays(str(caught.exception), *words)

    def test_good_servers_pass(self):
        for revision in LEGACY:
            client = LegacyClient(self.server(), revision)
            self.assertEqual(client.revision, revision)
            self.assertIn("echo", client.names())
            client.call("progress", meta={"progressToken": "t"}).result
            self.assertEqual(len(client.hub.notifications("notifications/progress")), 3)
            client.hub.finish()
        client = ModernClient(self.server("--era", "modern"))
        client.request("server/discover").result
        self.assertIn("result", client.call("echo", {"a": 1}).data)
        client.listen(toolsListChanged=True)

    def raw(self, result, client=None):
        client = client or LegacyClient(self.server())
        client.send_call("raw", {"result": result})
        return client.hub

    def test_a_result_that_breaks_the_schema(self):
        self.caught(self.raw('{"content":[{"type":"nope"}]}'), "CallToolResult", "content/0")
        self.caught(self.raw("{}"), "CallToolResult", "'content' is a required property")

    def test_a_modern_result_without_its_type(self):
        client = ModernClient(self.server("--era", "modern"))
        self.caught(self.raw('{"content":[]}', client), "resultType")

    def test_a_member_twice(self):
        self.caught(self.raw('{"content":[],"a":1,"a":2}'), "a member twice")

    def test_an_answer_twice(self):
        client = LegacyClient(self.server())
        client.send_call("late")
        self.caught(client.hub, "nobody waits for")

    def test_noise(self):
        client = LegacyClient(self.server())
        client.send_call("noise")
        self.caught(client.hub, "not a message")

    def test_a_wrong_exit_code(self):
        client = LegacyClient(self.server())
        client.send_call("die")
        self.caught(client.hub, "exit code 1, expected 0")

    def test_a_process_left_behind(self):
        server = self.server("--child")
        server.patience = 1
        LegacyClient(server)
        self.caught(server, "processes are left")

    def test_waiting_for_what_never_comes(self):
        client = LegacyClient(self.server())
        with self.assertRaises(AssertionError) as caught:
            client.call("hold", timeout=0.1)
        self.assertSays(str(caught.exception), "waited for the response", "not within 0.1 s")


if __name__ == "__main__":
    main()
