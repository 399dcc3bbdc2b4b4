# SPDX-License-Identifier: Apache-2.0
"""Hubs behind hubs: a chain works, and a circle is noticed, told of and broken (RELIABILITY.md U14)."""

import socket
import threading

from mcp import LegacyClient, HubTest, ModernClient, fixture, main


class Detour:
    """A TCP port that leads to another one, which is told later: two hubs can name each other."""

    def __init__(self):
        self.listener = socket.create_server(("127.0.0.1", 0))
        self.port = self.listener.getsockname()[1]
        self.target = None
        self.known = threading.Event()
        self.connections = 0
        self.sockets = []
        self.accepting = threading.Thread(target=self.accept, daemon=True)
        self.accepting.start()

    def lead_to(self, address):
        self.target = address
        self.known.set()

    def accept(self):
        try:
            while True:
                inner = self.listener.accept()[0]
                self.connections += 1
                threading.Thread(target=self.serve, args=(inner,), daemon=True).start()
        except OSError:
            pass

    def serve(self, inner):
        self.known.wait()
        outer = socket.create_connection(self.target)
        self.sockets += [inner, outer]
        threading.Thread(target=self.pump, args=(inner, outer), daemon=True).start()
        self.pump(outer, inner)

    @staticmethod
    def pump(source, sink):
        try:
            while data := source.recv(65536):
                sink.sendall(data)
            sink.shutdown(socket.SHUT_WR)
        except OSError:
            pass

    def close(self):
        self.listener.shutdown(socket.SHUT_RDWR)
        self.accepting.join()
        self.listener.close()
        for each in self.sockets:
            each.close()


class Loops(HubTest):
    def detour(self):
        made = Detour()
        self.addCleanup(made.close)
        return made

    def entry(self, port, **keys):
        return {"url": f"http://127.0.0.1:{port}/mcp", **keys}

    def hub_with(self, **toolsets):
        """A hub that serves HTTP beside stdio, with a tool of its own."""
        hub = self.hub("--stdio", "--http", "127.0.0.1:0", toolsets={"own": fixture("echo"), **toolsets})
        port = int(hub.wait_log("listen.ready").split("://")[1].split("/")[0].rsplit(":", 1)[1])
        return hub, ("127.0.0.1", port)

    def failure(self, client, toolset):
        listed = client.call("list_toolsets").result["structuredContent"]["toolsets"]
        return next(each for each in listed if each["key"] == toolset)

    def test_a_chain_of_three(self):
        _, c = self.hub_with()
        _, b = self.hub_with(c=self.entry(c[1]))
        a, _ = self.hub_with(b=self.entry(b[1]))
        client = ModernClient(a)
        self.assertIn("b__c__own__echo", client.names())
        answer = client.call("b__c__own__echo", {"text": "far"})
        self.assertEqual(answer.result["structuredContent"], {"tool": "echo", "arguments": {"text": "far"}})

    def check_refused(self, client, toolset):
        self.assertEqual([name for name in client.names() if name.startswith(f"{toolset}__")], [])
        client.hub.wait_log("loop of hubs")
        self.assertIn("loop of hubs", str(self.failure(client, toolset)))

    def test_a_hub_that_is_its_own_upstream(self):
        for keys in ({}, {"protocol": "2026-07-28"}, {"protocol": "2025-11-25"}):
            for kind in (ModernClient, LegacyClient):
                with self.subTest(keys=keys, kind=kind.__name__):
                    detour = self.detour()
                    hub, address = self.hub_with(me=self.entry(detour.port, **keys))
                    detour.lead_to(address)
                    client = kind(hub)
                    self.check_refused(client, "me")
                    self.assertIn("own__echo", client.names())
                    hub.finish()

    def test_two_hubs_that_serve_each_other(self):
        detour = self.detour()
        hub_b, b = self.hub_with(a=self.entry(detour.port))
        hub_a, a = self.hub_with(b=self.entry(b[1]))
        detour.lead_to(a)
        client = ModernClient(hub_a)
        self.assertIn("b__own__echo", client.names())
        client_b = ModernClient(hub_b)
        self.check_refused(client_b, "a")
        self.assertIn("own__echo", client_b.names())
        names = client.names()
        self.assertEqual([name for name in names if "__a__" in name], [])
        # Nobody's question makes another's: what is asked of the circle stays as it is.
        before = detour.connections
        for _ in range(20):
            self.assertEqual(client.names(), names)
        self.assertLessEqual(detour.connections - before, 20)


if __name__ == "__main__":
    main()
