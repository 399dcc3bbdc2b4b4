# SPDX-License-Identifier: Apache-2.0
"""subscriptions/listen over stdio (MCP 2026-07-28 basic/patterns/subscriptions)."""

import signal

from mcp import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    LIST_CHANGED,
    META,
    METHOD_NOT_FOUND,
    HubTest,
    LegacyClient,
    ModernClient,
    fixture,
    key_of,
    main,
)

TOOLSETS = {"alpha": fixture("one"), "beta": fixture("two", active=False)}
ACKNOWLEDGED = "notifications/subscriptions/acknowledged"


def toggle(client):
    """Change the list of tools, once."""
    name = "disable_toolset" if "beta__two" in client.names() else "enable_toolset"
    client.call(name, {"toolset": "beta"}).result


class Listening(HubTest):
    def test_acknowledged_first_then_told(self):
        client = self.modern(toolsets=TOOLSETS)
        subscription = client.listen(toolsListChanged=True)
        toggle(client)
        client.wait_event(subscription)
        events = client.events(subscription)
        self.assertEqual([m.method for m in events], [ACKNOWLEDGED, LIST_CHANGED])
        self.assertEqual(events[0].params["notifications"], {"toolsListChanged": True})

    def test_the_subscription_id_is_the_request_s(self):
        client = self.modern(toolsets=TOOLSETS)
        for request_id in (7, "7", "listen:0", 0, -5, "ü\n", 2**60):
            since = client.hub.mark
            client.send("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, request_id=request_id)
            ack = client.hub.wait_for(lambda m: m.method == ACKNOWLEDGED, ACKNOWLEDGED, since)
            self.assertEqual(key_of(ack.params["_meta"][META + "subscriptionId"]), key_of(request_id))
        since = client.hub.mark
        toggle(client)
        for request_id in (7, "7", "listen:0", 0, -5, "ü\n", 2**60):
            client.wait_event(request_id, since=since)

    def test_only_what_was_asked_for(self):
        client = self.modern(toolsets=TOOLSETS)
        asked = client.listen(toolsListChanged=True)
        others = [
            client.listen(),
            client.listen(toolsListChanged=False),
            client.listen(promptsListChanged=True, resourcesListChanged=True),
            client.listen(resourceSubscriptions=["file:///x"]),
        ]
        toggle(client)
        client.wait_event(asked)
        client.barrier()
        for subscription in others:
            self.assertEqual([m.method for m in client.events(subscription)], [ACKNOWLEDGED])

    def test_nothing_without_a_subscription(self):
        client = self.modern(toolsets=TOOLSETS)
        for _ in range(3):
            toggle(client)
        client.barrier()
        self.assertEqual([m.method for m in client.hub.messages if m.method], [])

    def test_each_subscription_is_told_once(self):
        client = self.modern(toolsets=TOOLSETS)
        subscriptions = [client.listen(toolsListChanged=True) for _ in range(5)]
        since = client.hub.mark
        toggle(client)
        for subscription in subscriptions:
            client.wait_event(subscription, since=since)
        client.barrier()
        self.assertEqual(len(client.hub.notifications(LIST_CHANGED, since)), 5)

    def test_cancelling_ends_it(self):
        client = self.modern(toolsets=TOOLSETS)
        first = client.listen(toolsListChanged=True)
        second = client.listen(toolsListChanged=True)
        client.cancel(first)
        since = client.hub.mark
        toggle(client)
        client.wait_event(second, since=since)
        client.barrier()
        self.assertEqual(client.events(first, since), [])
        self.assertFalse([m for m in client.hub.messages if m.method is None and m.id == first])
        # Its id is free again.
        client.send("subscriptions/listen", {"notifications": {"toolsListChanged": True}}, request_id=first)
        client.wait_event(first, ACKNOWLEDGED, since)

    def test_an_id_in_use_is_refused(self):  # P10
        client = self.modern(toolsets=TOOLSETS)
        subscription = client.listen(toolsListChanged=True)
        self.assertEqual(client.request("tools/list", request_id=subscription).code, INVALID_REQUEST)
        since = client.hub.mark
        toggle(client)
        client.wait_event(subscription, since=since)

    def test_bad_filters(self):
        client = self.modern(toolsets=TOOLSETS)
        for params in (
            None,
            {"notifications": None},
            {"notifications": []},
            {"notifications": {"toolsListChanged": "yes"}},
            {"notifications": {"resourceSubscriptions": "file:///x"}},
            {"notifications": {"resourceSubscriptions": [1]}},
        ):
            self.assertEqual(client.request("subscriptions/listen", params).code, INVALID_PARAMS, params)

    def test_unknown_types_are_not_honoured(self):
        client = self.modern(toolsets=TOOLSETS)
        subscription = client.listen(toolsListChanged=True, moonPhase=True)
        self.assertEqual(client.events(subscription)[0].params["notifications"], {"toolsListChanged": True})

    def test_too_many_are_refused(self):
        client = self.modern(toolsets=TOOLSETS)
        for _ in range(64):
            client.listen(toolsListChanged=True)
        refused = client.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        self.assertNotIn(refused.code, range(-32768, -31999))
        self.assertSays(refused.error["message"], "too many open subscriptions", "(64)")

    def test_legacy_clients_do_not_have_it(self):
        client = self.legacy(toolsets=TOOLSETS)
        answer = client.request("subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        self.assertEqual(answer.code, METHOD_NOT_FOUND)

    def test_both_eras_are_told_in_their_own_way(self):
        hub = self.hub(toolsets=TOOLSETS)
        legacy, modern = LegacyClient(hub), ModernClient(hub)
        subscription = modern.listen(toolsListChanged=True)
        since = hub.mark
        toggle(modern)
        modern.wait_event(subscription, since=since)
        hub.wait_for(lambda m: m.method == LIST_CHANGED and "params" not in m.data, "the legacy form", since)
        legacy.barrier()
        self.assertEqual(len(hub.notifications(LIST_CHANGED, since)), 2)


class Ending(HubTest):
    def check_closed(self, client, subscription):
        answer = client.hub.response(subscription)
        self.assertEqual(answer.result["resultType"], "complete")
        self.assertEqual(answer.result["_meta"][META + "subscriptionId"], subscription)

    def test_graceful_close_at_end_of_input(self):
        client = self.modern(toolsets=TOOLSETS)
        first, second = client.listen(toolsListChanged=True), client.listen(toolsListChanged=True)
        client.hub.finish()
        self.check_closed(client, first)
        self.check_closed(client, second)

    def test_graceful_close_at_sigterm(self):
        client = self.modern(toolsets=TOOLSETS)
        subscription = client.listen(toolsListChanged=True)
        client.hub.process.send_signal(signal.SIGTERM)
        client.hub.wait_exit()
        self.check_closed(client, subscription)


if __name__ == "__main__":
    main()
