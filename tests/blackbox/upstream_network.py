# SPDX-License-Identifier: Apache-2.0
"""The way to upstreams over HTTP: connections that are kept, proxies, names that cannot be found."""

import json
import os
import socket
import ssl
import struct
import sys
import threading

from mcp import SUPPORT, HubTest, LegacyClient, fixture, main

sys.path.insert(0, str(SUPPORT))

from authority import Authority  # noqa: E402
from http_proxy import Proxy  # noqa: E402
from http_upstream import HttpUpstream  # noqa: E402

PROXY_NAMES = ("http_proxy", "https_proxy", "all_proxy", "no_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY",
               "NO_PROXY", "REQUEST_METHOD")
SECRET = "Bearer canary-7fa1"


class Network(HubTest):
    def upstream(self, era="legacy", **options):
        made = HttpUpstream(era, **options)
        self.addCleanup(made.close)
        return made

    def start(self, url, env=None, more=None, **keys):
        entry = {"url": url, "headers": {"Authorization": SECRET}, **keys}
        env = {**dict.fromkeys(PROXY_NAMES), **(env or {})}
        return LegacyClient(self.hub(toolsets={"up": entry, **(more or {})}, env=env))

    def works(self, client):
        self.assertEqual(json.loads(client.call("up__echo", {"a": 1}).result["content"][0]["text"]), {"a": 1})


class Connections(Network):
    def test_one_after_the_other_takes_one(self):
        """Of a legacy server a second one carries the stream of the session."""
        for era, most in (("legacy", 2), ("modern", 2)):
            with self.subTest(era):
                upstream = self.upstream(era)
                client = self.start(upstream.url)
                for _ in range(50):
                    self.works(client)
                self.assertLessEqual(upstream.connections, most)
                client.hub.finish()

    def test_at_the_same_time_one_for_each_and_then_none_more(self):
        upstream = self.upstream()
        together = threading.Barrier(8)

        def call(x):
            together.wait(upstream.timeout)
            x.result(upstream.said("{}"))

        upstream.on["tools/call"] = call
        client = self.start(upstream.url)
        client.names()
        for _ in range(4):
            for request_id in [client.send_call("up__echo") for _ in range(8)]:
                client.hub.response(request_id).result
        self.assertEqual(len({x.peer for x in upstream.of("tools/call")}), 8)
        self.assertLessEqual(upstream.connections, 10)

    def test_a_server_that_closes_after_each_answer(self):
        upstream = self.upstream()

        def call(x):
            x.result(upstream.said(json.dumps(x.params["arguments"])), Connection="close")
            x.handler.close_connection = True

        upstream.on["tools/call"] = call
        client = self.start(upstream.url)
        for _ in range(10):
            self.works(client)
        self.assertEqual(len(upstream.of("tools/call")), 10)

    def test_a_connection_that_may_be_closing_takes_no_call(self):
        """The server says how long it waits for the next request: it could be gone when the next call comes."""
        upstream = self.upstream(capabilities={"tools": {}, "resources": {}})
        brief = {"Keep-Alive": "timeout=1, max=100"}
        upstream.on["tools/call"] = lambda x: x.result(upstream.said('{"a": 1}'), **brief)
        upstream.on["resources/list"] = lambda x: x.result({"resources": [{"uri": "a:b", "name": "b"}]})
        upstream.on["resources/read"] = lambda x: x.result({"contents": []}, **brief)
        client = self.start(upstream.url)
        client.request("resources/list").result
        for _ in range(5):
            self.works(client)
        self.assertGreaterEqual(len({x.peer for x in upstream.of("tools/call")}), 4)  # the first did not know
        for _ in range(5):  # what may be sent again takes one that is there
            client.request("resources/read", {"uri": "a:b"}).result
        self.assertEqual(len({x.peer for x in upstream.of("resources/read")}), 1)

    def test_a_server_that_closes_while_a_request_is_on_its_way(self):  # D02: a call is never made twice
        upstream = self.upstream(capabilities={"tools": {}, "resources": {}})
        upstream.on["resources/list"] = lambda x: x.result({"resources": [{"uri": "a:b", "name": "b"}]})
        for reset in (False, True):
            client = self.start(upstream.url)
            client.request("resources/list").result
            self.works(client)
            for method in ("resources/read", "tools/call"):
                with self.subTest(method, reset=reset):
                    since = len(upstream.requests)

                    def gone(x, method=method, since=since, reset=reset):
                        if len(upstream.of(method, since)) > 1:
                            x.result({"contents": []})
                            return
                        if reset:
                            x.handler.connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
                            os.close(x.handler.connection.detach())
                        x.cut()

                    good = upstream.on.get(method)
                    upstream.on[method] = gone
                    if method == "tools/call":
                        self.assertSays(client.call("up__echo").tool_error["message"], "connection broke")
                        self.assertEqual(len(upstream.of(method, since)), 1)
                        upstream.on[method] = good
                    else:
                        client.request(method, {"uri": "a:b"}).result
                        self.assertEqual(len(upstream.of(method, since)), 2)
            client.hub.finish()

    def test_the_hub_lets_go_of_them_when_it_ends(self):
        upstream = self.upstream()
        client = self.start(upstream.url)
        self.works(client)
        self.assertLess(upstream.closed, upstream.connections)
        client.hub.finish()
        upstream.wait_until(lambda: upstream.closed == upstream.connections, "the end of all connections")


class Proxies(Network):
    def proxy(self, **options):
        made = Proxy(**options)
        self.addCleanup(made.close)
        return made

    def secure(self):
        authority = Authority(self.home)
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(*authority.issue("server", "DNS:far.example"))
        return self.upstream(tls=context), str(authority.certificate)

    def test_plain(self):
        for name in ("http_proxy", "HTTP_PROXY", "all_proxy", "ALL_PROXY"):
            with self.subTest(name):
                upstream, proxy = self.upstream(), self.proxy()
                client = self.start(f"http://far.example:{upstream.port}/mcp", {name: proxy.url})
                self.works(client)
                lines = {first for first, _ in proxy.heads}
                self.assertIn(f"POST http://far.example:{upstream.port}/mcp HTTP/1.1", lines)
                self.assertEqual(len(proxy.heads), len(upstream.requests))
                self.assertEqual({x.headers["host"] for x in upstream.requests}, {f"far.example:{upstream.port}"})
                client.hub.finish()

    def test_a_tunnel(self):
        upstream, ca = self.secure()
        for name in ("https_proxy", "HTTPS_PROXY"):
            proxy = self.proxy()
            client = self.start(f"https://far.example:{upstream.port}/mcp", {name: proxy.url}, ca=ca)
            self.works(client)
            self.assertEqual({first for first, _ in proxy.heads}, {f"CONNECT far.example:{upstream.port} HTTP/1.1"})
            for _, headers in proxy.heads:
                self.assertNotIn("authorization", headers)  # what is for the server is in the tunnel
            client.hub.finish()
        for x in upstream.requests:
            self.assertEqual(x.headers["authorization"], SECRET)

    def test_hosts_that_need_none(self):
        for no_proxy in ("127.0.0.1", "*", "localhost,127.0.0.1"):
            for name in ("no_proxy", "NO_PROXY"):
                with self.subTest(no_proxy, name=name):
                    upstream, proxy = self.upstream(), self.proxy()
                    client = self.start(upstream.url, {"HTTP_PROXY": proxy.url, name: no_proxy})
                    self.works(client)
                    self.assertEqual(proxy.heads, [])
                    client.hub.finish()

    def test_small_letters_win(self):
        upstream, first, second = self.upstream(), self.proxy(), self.proxy()
        client = self.start(upstream.url, {"http_proxy": first.url, "HTTP_PROXY": second.url})
        self.works(client)
        self.assertTrue(first.heads)
        self.assertEqual(second.heads, [])

    def test_in_a_cgi_program_a_client_could_have_said_it(self):
        upstream, proxy = self.upstream(), self.proxy()
        client = self.start(upstream.url, {"HTTP_PROXY": proxy.url, "REQUEST_METHOD": "POST"})
        self.works(client)
        self.assertEqual(proxy.heads, [])

    def test_a_proxy_that_wants_a_password(self):
        proxy = self.proxy(credentials="me:canary-pw")
        upstream = self.upstream()
        with_it = proxy.url.replace("//", "//me:canary-pw@")
        client = self.start(f"http://far.example:{upstream.port}/mcp", {"HTTP_PROXY": with_it})
        self.works(client)
        for x in upstream.requests:
            self.assertNotIn("proxy-authorization", x.headers)
        client.hub.finish()
        self.assertNotIn("canary-pw", client.hub.log)
        seen = len(upstream.requests)
        client = self.start(f"http://far.example:{upstream.port}/mcp", {"HTTP_PROXY": proxy.url}, cache=False)
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log("HTTP 407")
        self.assertSays(client.hub.log, "proxy")
        client.hub.finish()
        client = self.start(f"https://far.example:{upstream.port}/mcp", {"HTTPS_PROXY": proxy.url})
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log("407")
        self.assertEqual(len(upstream.requests), seen)

    def test_a_proxy_that_is_not_there(self):
        proxy = self.proxy()
        proxy.close()
        upstream = self.upstream()
        client = self.start(upstream.url, {"HTTP_PROXY": proxy.url})
        self.assertEqual(client.own_names(), [])
        line = client.hub.wait_log("cannot reach")
        self.assertSays(line, f"{upstream.url}: proxy 127.0.0.1 port {proxy.port}: Connection refused: is that proxy running")
        self.assertEqual(upstream.requests, [])


class Nobody(Network):
    def test_says_what_the_system_says_and_what_to_look_at(self):
        """One short sentence: libcurl's would name the address once more, and how long it took."""
        upstream = self.upstream()
        upstream.close()
        for scheme in ("http", "ws"):
            url = upstream.url.replace("http:", scheme + ":")
            client = self.start(url)
            self.assertEqual(client.call("up__echo").tool_error["message"],
                             f'toolset "up": cannot reach {url}: Connection refused: is the server running, and is the port right?')
            client.hub.finish()


class Names(Network):
    def setUp(self):
        super().setUp()
        self.env, self.fifo = self.hanging_resolver()

    def test_the_resolver_of_these_tests_is_used(self):
        upstream = self.upstream()
        self.works(self.start(f"http://somewhere.here:{upstream.port}/mcp", self.env))

    def hang(self, **keys):
        """A client of a hub that looks up a name, and the means to let it go on."""
        client = self.start("http://name.hangs/mcp", self.env, {"near": fixture("echo")}, **keys)
        waits = client.send_call("up__echo")
        reader = os.open(self.fifo, os.O_WRONLY)  # returns when the resolver is at it
        self.addCleanup(os.close, reader)
        return client, waits

    def test_while_a_name_is_looked_up_others_work(self):
        client, _ = self.hang(connect_timeout="1m")
        for _ in range(20):
            client.call("near__echo").result
        client.hub.finish()  # nor is the end of the hub held up

    def test_a_call_that_waits_for_a_name_can_be_cancelled(self):
        client, waits = self.hang(connect_timeout="1m")
        client.cancel(waits)
        client.call("near__echo").result

    def test_a_name_that_takes_too_long(self):
        client, waits = self.hang(connect_timeout="200ms")
        failure = client.hub.response(waits).tool_error
        self.assertEqual(failure["code"], "TOOL_UNAVAILABLE")
        self.assertSays(failure["message"], 'toolset "up"', "cannot reach http://name.hangs/mcp", "timed out")
        client.call("near__echo").result

    def test_a_name_that_does_not_exist(self):
        client = self.start("http://name.invalid/mcp", {**self.env, "RES_OPTIONS": "timeout:1 attempts:1"})
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log("cannot reach http://name.invalid/mcp")
        self.assertSays(client.hub.log, "name.invalid")


if __name__ == "__main__":
    main()
