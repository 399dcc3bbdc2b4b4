# SPDX-License-Identifier: Apache-2.0
"""Upstreams over WebSocket: a hub behind a hub, servers of both eras over ws and wss, and those that break
RFC 6455, close, hang, or answer garbage. RELIABILITY U01, U03, U26, U27, U30, U31."""

import base64
import contextlib
import hashlib
import json
import os
import socket
import ssl
import struct
import subprocess
import sys
import threading

from mcp import LIST_CHANGED, META, MODERN, SUPPORT, TIMEOUT, HubTest, LegacyClient, ModernClient, fixture, main

sys.path.insert(0, str(SUPPORT))

from websocket_upstream import BINARY, CLOSE, CONTINUATION, PING, PONG, TEXT, WebSocketUpstream, head  # noqa: E402

SECRET = "Bearer canary-93bd"
MOST = 16 << 20  # of a message of the server
HEAD_MOST = 16384  # of the answer to the handshake
OBJECT = {"type": "object"}


class WebSocketTest(HubTest):
    def upstream(self, era="legacy", **options):
        made = WebSocketUpstream(era, **options)
        self.addCleanup(made.close)
        return made

    def start(self, upstream, kind=LegacyClient, env=None, capabilities=None, **keys):
        """A client of a hub with this upstream, called `up`."""
        entry = {"url": upstream.url, "headers": {"Authorization": SECRET}, **keys}
        return kind(self.hub(toolsets={"up": entry}, env=env), capabilities=capabilities)

    def text(self, answer):
        return answer.result["content"][0]["text"]

    def failure(self, answer):
        return answer.tool_error["message"]

    def echoes(self, client, n=1):
        """A call arrives and is answered."""
        self.assertEqual(json.loads(self.text(client.call("up__echo", {"n": n}))), {"n": n})


class Serving(WebSocketTest):
    def test_a_hub_behind_a_hub(self):
        far = self.recorder()
        inner = self.daemon(toolsets={"far": far.toolset("--content"), "alpha": fixture("one")})
        url = "ws://%s:%d/ws" % inner.address
        for kind in (LegacyClient, ModernClient):
            with self.subTest(kind):
                client = kind(self.hub(toolsets={"up": {"url": url}}))
                self.assertIn("up__far__echo", client.names())
                since = client.hub.mark
                client.call("up__far__progress", meta={"progressToken": "mine"}).result
                told = client.hub.notifications("notifications/progress", since)
                self.assertEqual([m.params["progressToken"] for m in told], ["mine"] * 3)
                uris = [r["uri"] for r in client.request("resources/list").result["resources"]]
                self.assertTrue(any(uri.endswith("rec:///one") for uri in uris))
                since = far.mark
                held = client.send_call("up__far__hold")
                far.wait_calls(1, since)
                client.cancel(held)
                far.wait_request("notifications/cancelled", since)
                client.hub.finish()

    def test_what_changes_is_told_through_two_hubs(self):
        far = self.recorder()
        inner = self.daemon(toolsets={"far": far.toolset("--content")})
        url = "ws://%s:%d/ws" % inner.address
        client = LegacyClient(self.hub(toolsets={"up": {"url": url}}))
        client.names()
        uri = next(
            r["uri"] for r in client.request("resources/list").result["resources"] if r["uri"].endswith("rec:///one")
        )
        client.request("resources/subscribe", {"uri": uri}).result
        far.wait_request("resources/subscribe")
        since = client.hub.mark
        far.command(updated="rec:///one")
        client.hub.wait_for(lambda m: m.method == "notifications/resources/updated", "the update", since)
        since = client.hub.mark
        far.command(tools=json.dumps([{"name": "more", "inputSchema": OBJECT}]))
        far.command(notify=1)
        client.wait_list_changed(since)
        self.assertIn("up__far__more", client.names())

    def test_a_question_through_two_hubs(self):
        far = self.recorder()
        inner = self.daemon(toolsets={"far": far.toolset("--content")})
        entry = {"url": "ws://%s:%d/ws" % inner.address}
        client = LegacyClient(self.hub(toolsets={"up": entry}), capabilities={"elicitation": {}})
        client.hub.answers["elicitation/create"] = lambda params: {"action": "accept", "content": {"a": "b"}}
        params = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
        answer = client.call("up__far__ask", {"method": "elicitation/create", "params": params})
        self.assertEqual(answer.result["structuredContent"]["result"]["content"], {"a": "b"})

    def test_the_handshake(self):
        upstream = self.upstream()
        upstream_url = upstream.url
        for url, line in (
            (upstream_url + "?a=b%20c&d=e#f", "GET /mcp?a=b%20c&d=e HTTP/1.1"),
            (upstream_url.replace("/mcp", ""), "GET / HTTP/1.1"),
            (upstream_url.replace("ws:", "WS:"), "GET /mcp HTTP/1.1"),
        ):
            count = len(upstream.peers)
            client = self.start(upstream, url=url, headers={"Authorization": SECRET, "X-Empty": "", "X-B": "a: b"})
            self.echoes(client)
            peer = upstream.wait_peer(count + 1)
            self.assertEqual(peer.line, line)
            self.assertEqual(peer.headers["host"], f"127.0.0.1:{upstream.port}")
            self.assertEqual(peer.headers["upgrade"], "websocket")
            self.assertEqual(peer.headers["connection"], "Upgrade")
            self.assertEqual(peer.headers["sec-websocket-version"], "13")
            self.assertEqual(peer.headers["sec-websocket-protocol"], "mcp")
            self.assertEqual(len(base64.b64decode(peer.headers["sec-websocket-key"], validate=True)), 16)
            self.assertEqual(peer.headers["authorization"], SECRET)
            self.assertEqual(peer.headers["x-empty"], "")
            self.assertEqual(peer.headers["x-b"], "a: b")
            self.assertEqual(len(peer.header_names), len(set(peer.header_names)))
            self.assertNotIn("sec-websocket-extensions", peer.headers)
            self.assertNotIn("origin", peer.headers)
            client.hub.finish()
            upstream.wait_until(peer.is_gone.is_set, "the end of the connection")
            self.assertEqual(peer.close_code, 1000)
        self.assertEqual(len({peer.headers["sec-websocket-key"] for peer in upstream.peers}), 3)
        masks = [mask for peer in upstream.peers for mask in peer.masks]
        self.assertEqual(len(set(masks)), len(masks))  # RFC 6455, section 5.3: not to be guessed

    def test_a_user_in_the_url(self):
        upstream = self.upstream()
        url = upstream.url.replace("//", "//me%40home:can%20ary@")
        basic = "Basic " + base64.b64encode(b"me@home:can ary").decode()
        for headers, sent in (({}, basic), ({"authorization": SECRET}, SECRET)):
            client = self.start(upstream, url=url, headers=headers)
            self.echoes(client)
            self.assertEqual(upstream.peers[-1].headers["authorization"], sent)
            client.hub.finish()
            self.assertNotIn("ary", client.hub.log)

    def test_both_eras(self):
        for era in ("legacy", "modern"):
            for kind in (LegacyClient, ModernClient):
                with self.subTest(era=era, kind=kind):
                    upstream = self.upstream(era)
                    client = self.start(upstream, kind)
                    self.assertEqual(client.own_names(), ["up__echo"])
                    self.echoes(client)
                    self.assertEqual(len(upstream.peers), 1)
                    if era == "modern":
                        self.assertEqual(upstream.of("initialize"), [])
                        sent = upstream.of("tools/call")[0]
                        self.assertEqual(sent.params["_meta"][META + "protocolVersion"], MODERN)
                    client.hub.finish()

    def test_a_protocol_that_is_configured(self):
        upstream = self.upstream()
        client = self.start(upstream, protocol="2025-06-18")
        self.echoes(client)
        self.assertEqual(upstream.of("server/discover"), [])
        self.assertEqual(upstream.of("initialize")[0].params["protocolVersion"], "2025-06-18")

    def test_changes(self):
        for era in ("legacy", "modern"):
            with self.subTest(era):
                upstream = self.upstream(era)
                client = self.start(upstream)
                client.names()
                meta = {}
                if era == "modern":
                    meta = {"_meta": {META + "subscriptionId": upstream.wait("subscriptions/listen").message["id"]}}
                since = client.hub.mark
                upstream.tools = [{"name": "more", "inputSchema": OBJECT}]
                upstream.peers[0].send({"jsonrpc": "2.0", "method": LIST_CHANGED, "params": meta})
                client.wait_list_changed(since)
                self.assertEqual(client.own_names(), ["up__more"])
                client.hub.finish()

    def test_cancelling(self):
        upstream = self.upstream()
        upstream.on["tools/call"] = lambda x: None
        client = self.start(upstream)
        client.names()
        call = client.send_call("up__echo")
        sent = upstream.wait("tools/call")
        client.cancel(call)
        self.assertEqual(upstream.wait("notifications/cancelled").params["requestId"], sent.message["id"])
        sent.result(upstream.said("late"))  # U31
        upstream.on["tools/call"] = upstream.call
        self.echoes(client)

    def test_fragments_and_pings_within(self):
        upstream = self.upstream()

        def call(x):
            data = x.reply(result=upstream.said("è–🙂" * 100)).encode()
            x.peer.frame(TEXT, data[:1], final=False)
            for at in range(1, len(data) - 1):  # every character is cut
                x.peer.frame(CONTINUATION, data[at : at + 1], final=False)
                if at % 100 == 0:
                    x.peer.frame(CONTINUATION, b"", final=False)
                    x.peer.frame(PING, b"%d" % at)
            x.peer.frame(CONTINUATION, data[-1:])

        upstream.on["tools/call"] = call
        client = self.start(upstream)
        self.assertEqual(self.text(client.call("up__echo")), "è–🙂" * 100)
        peer = upstream.peers[0]
        upstream.wait_until(lambda: len(peer.controls) >= 9, "the pongs")
        self.assertTrue(all(opcode == PONG for opcode, _ in peer.controls))
        self.assertEqual([payload for _, payload in peer.controls][:3], [b"100", b"200", b"300"])

    def test_bytes_as_they_come(self):
        upstream = self.upstream()

        def call(x):
            data = x.reply(result=upstream.said("one by one")).encode()
            for byte in head(TEXT, len(data)) + data:
                x.peer.raw(bytes([byte]))

        upstream.on["tools/call"] = call
        self.assertEqual(self.text(self.start(upstream).call("up__echo")), "one by one")

    def test_a_message_with_the_handshake(self):
        upstream = self.upstream()
        real = []

        def greet(peer):
            send, parts = peer.socket.sendall, []
            peer.raw = parts.append
            peer.switch()
            peer.frame(PING, b"early")
            peer.send({"jsonrpc": "2.0", "method": LIST_CHANGED})
            send(b"".join(parts))  # in one piece
            peer.raw = send
            real.append(peer)

        upstream.greet = greet
        client = self.start(upstream)
        self.echoes(client)
        self.assertEqual(real[0].controls, [(PONG, b"early")])

    def test_large_messages_both_ways(self):
        upstream = self.upstream()
        client = self.start(upstream)
        for size in (125, 126, 65535, 65536, 3 << 20):
            with self.subTest(size):
                text = "x" * size
                self.assertEqual(json.loads(self.text(client.call("up__echo", {"t": text}))), {"t": text})
        self.assertEqual(len(upstream.peers), 1)

    def test_the_largest_message(self):  # U03
        for size, words in ((MOST, None), (MOST + 1, "too large")):
            for pieces in (1, 3):
                with self.subTest(size=size, pieces=pieces):
                    upstream = self.upstream()

                    def call(x, size=size, pieces=pieces, upstream=upstream):
                        text = x.reply(result={**upstream.said("ok"), "x": ""})
                        data = text.replace('"x": ""', '"x": "%s"' % ("a" * (size - len(text)))).encode()
                        step = len(data) // pieces
                        for i in range(pieces):
                            part = data[i * step : (i + 1) * step if i < pieces - 1 else None]
                            x.peer.frame(CONTINUATION if i else TEXT, part, final=i == pieces - 1)

                    upstream.on["tools/call"] = call
                    client = self.start(upstream)
                    answer = client.call("up__echo")
                    if words is None:
                        self.assertEqual(self.text(answer), "ok")
                    else:
                        self.assertSays(self.failure(answer), words)
                        upstream.wait_until(upstream.peers[0].is_gone.is_set, "the end")
                    client.hub.finish()

    def test_a_server_that_reads_late(self):
        """What the connection does not take waits, masked already, and arrives as it was."""
        self.read_late(self.upstream())

    def read_late(self, upstream, **keys):
        resume = threading.Event()

        def call(x):
            resume.wait(TIMEOUT)
            x.result(upstream.said(hashlib.sha256(x.params["arguments"]["t"].encode()).hexdigest()))

        upstream.on["tools/call"] = call
        client = self.start(upstream, **keys)
        client.names()
        texts = [chr(ord("a") + n) * (2 << 20) for n in range(12)]
        ids = [client.send_call("up__echo", {"t": text}) for text in texts]
        client.barrier()
        resume.set()
        for text, request_id in zip(texts, ids):
            said = self.text(client.hub.response(request_id))
            self.assertEqual(said, hashlib.sha256(text.encode()).hexdigest())

    def test_a_question_and_a_refusal(self):
        upstream = self.upstream()

        def call(x):
            params = {"mode": "form", "message": "?", "requestedSchema": {"type": "object", "properties": {}}}
            x.peer.send({"jsonrpc": "2.0", "id": "q", "method": "elicitation/create", "params": params})
            said = upstream.wait_until(
                lambda: next((m for m in upstream.messages if m.message.get("id") == "q"), None), "the answer"
            )
            x.result(upstream.said(json.dumps(said.message.get("result", "refused"))))

        def in_thread(x):
            threading.Thread(target=call, args=[x], daemon=True).start()

        upstream.on["tools/call"] = in_thread
        client = self.start(upstream, capabilities={"elicitation": {}})
        client.hub.answers["elicitation/create"] = lambda params: {"action": "decline"}
        self.assertEqual(json.loads(self.text(client.call("up__echo"))), {"action": "decline"})


class Tls(WebSocketTest):
    def certificate(self, name, subject="localhost"):
        certificate, key = self.home / f"{name}.pem", self.home / f"{name}.key"
        subprocess.run(
            ["openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2",
             "-subj", f"/CN={subject}", "-addext", f"subjectAltName=DNS:{subject}", "-keyout", key, "-out", certificate],
            check=True, capture_output=True, timeout=TIMEOUT, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        return certificate, key

    def server(self, certificate, key):
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.load_cert_chain(certificate, key)
        context.set_alpn_protocols(["h2", "http/1.1"])
        return context

    def test_a_trusted_server(self):
        certificate, key = self.certificate("good")
        upstream = self.upstream(tls=self.server(certificate, key))
        client = self.start(upstream, ca=str(certificate))
        text = "x" * (3 << 20)
        self.assertEqual(json.loads(self.text(client.call("up__echo", {"t": text}))), {"t": text})
        self.assertEqual(upstream.peers[0].socket.selected_alpn_protocol(), "http/1.1")
        client.hub.finish()
        upstream.wait_until(upstream.peers[0].is_gone.is_set, "the end")
        self.assertEqual(upstream.peers[0].close_code, 1000)

    def test_one_that_reads_late(self):
        certificate, key = self.certificate("good")
        Serving.read_late(self, self.upstream(tls=self.server(certificate, key)), ca=str(certificate))

    def test_many_messages_at_once(self):
        certificate, key = self.certificate("good")
        upstream = self.upstream(tls=self.server(certificate, key))

        def call(x):
            note = json.dumps({"jsonrpc": "2.0", "method": "notifications/none"}).encode()
            data = x.reply(result=upstream.said("last")).encode()
            x.peer.raw((head(TEXT, len(note)) + note) * 20000 + head(TEXT, len(data)) + data)

        upstream.on["tools/call"] = call
        self.assertEqual(self.text(self.start(upstream, ca=str(certificate)).call("up__echo")), "last")

    def test_those_that_are_not_trusted(self):
        good, key = self.certificate("good")
        other, other_key = self.certificate("other", "elsewhere.example")
        for trusted, served, words in (
            (None, (good, key), ("cannot reach wss://localhost", "certificate")),
            (other, (good, key), ("cannot reach wss://localhost", "certificate")),
            (other, (other, other_key), ("cannot reach wss://localhost", "elsewhere.example", "localhost")),
        ):
            with self.subTest(words):
                upstream = self.upstream(tls=self.server(*served))
                client = self.start(upstream, **({"ca": str(trusted)} if trusted else {}))
                self.assertEqual(client.own_names(), [])
                for word in words[:1]:
                    client.hub.wait_log(word)
                self.assertEqual(upstream.peers, [])
                self.assertNotIn("canary", client.hub.log)
                client.hub.finish()

    def test_a_certificate_of_the_hub(self):
        certificate, key = self.certificate("good")
        mine, mine_key = self.certificate("mine", "hub.example")
        context = self.server(certificate, key)
        context.verify_mode = ssl.CERT_REQUIRED
        context.load_verify_locations(mine)
        upstream = self.upstream(tls=context)
        client = self.start(upstream, ca=str(certificate), certificate=str(mine), key=str(mine_key))
        self.echoes(client)
        client.hub.finish()
        client = self.start(upstream, ca=str(certificate))
        self.assertEqual(client.own_names(), [])


class Proxies(WebSocketTest):
    def proxy(self, refuses=False):
        """A proxy that knows CONNECT: its URL, and what it was asked for."""
        asked = []
        listener = socket.create_server(("127.0.0.1", 0))
        self.addCleanup(listener.close)

        def pipe(source, target):
            with contextlib.suppress(OSError):
                while data := source.recv(65536):
                    target.sendall(data)
            with contextlib.suppress(OSError):
                target.shutdown(socket.SHUT_WR)

        def serve():
            with contextlib.suppress(OSError):
                while True:
                    client, _ = listener.accept()
                    text = b""
                    while b"\r\n\r\n" not in text:
                        text += client.recv(65536)
                    asked.append(text.split(b"\r\n")[0].decode())
                    if refuses:
                        client.sendall(b"HTTP/1.1 403 Forbidden\r\nContent-Length: 3\r\n\r\nno!")
                        client.close()
                        continue
                    host, port = asked[-1].split()[1].rsplit(":", 1)
                    server = socket.create_connection((host, int(port)))
                    client.sendall(b"HTTP/1.1 200 Connection established\r\nX-Proxy: 1\r\n\r\n")
                    threading.Thread(target=pipe, args=(client, server), daemon=True).start()
                    threading.Thread(target=pipe, args=(server, client), daemon=True).start()

        threading.Thread(target=serve, daemon=True).start()
        return "http://127.0.0.1:%d" % listener.getsockname()[1], asked

    def test_a_tunnel(self):
        url, asked = self.proxy()
        upstream = self.upstream()
        self.echoes(self.start(upstream, env={"http_proxy": url, "no_proxy": ""}))
        self.assertEqual(asked, [f"CONNECT 127.0.0.1:{upstream.port} HTTP/1.1"])

    def test_one_that_refuses(self):
        url, _ = self.proxy(refuses=True)
        upstream = self.upstream()
        client = self.start(upstream, env={"http_proxy": url, "no_proxy": ""})
        self.assertEqual(client.own_names(), [])
        client.hub.wait_log("403")
        self.assertEqual(upstream.peers, [])


class Handshakes(WebSocketTest):
    def refused(self, greet, *words, requests=1, **keys):
        upstream = self.upstream()
        upstream.greet = lambda peer: (greet(peer), False)[1]
        client = self.start(upstream, **{"restart_delay": "1h", "restart_delay_max": "1h", **keys})
        self.assertEqual(client.own_names(), [])
        for word in words:
            client.hub.wait_log(word)
        upstream.wait_peer(requests)
        self.assertNotIn("canary", client.hub.log)
        self.assertEqual(len(upstream.peers), requests)
        client.hub.finish()

    def test_statuses(self):
        for status in (200, 400, 404, 426, 429, 500, 502, 503):
            with self.subTest(status):
                self.refused(lambda peer, s=status: peer.status(s), f"answered with HTTP {status}", "ws://127.0.0.1")
        self.refused(lambda peer: peer.raw(b"HTTP/1.0 503 Over\r\n\r\n"), "answered with HTTP 503")
        self.refused(lambda peer: peer.raw(b"HTTP/1.1 404\r\nA b\r\n\r\n"), "answered with HTTP 404")

    def test_redirects(self):
        for status in (301, 302, 307, 308):
            for location, shown in (
                ("http://other.example/x?key=canary", "redirects to ws://other.example/x "),
                ("/y", "/y "),
                ("wss://other.example/", "redirects to wss://other.example/ "),
                ("", "redirects to another address"),
            ):
                with self.subTest(status=status, location=location):
                    self.refused(lambda peer, s=status, at=location: peer.status(s, Location=at), shown)

    def test_refused_credentials_are_not_hammered(self):  # U27
        for status in (401, 403):
            with self.subTest(status):
                upstream = self.upstream()
                upstream.greet = lambda peer, s=status: (peer.status(s, WWW_Authenticate="Bearer"), False)[1]
                client = self.start(upstream)
                for _ in range(5):
                    self.assertEqual(client.own_names(), [])
                client.hub.wait_log(f"credential refused: HTTP {status}")
                self.assertEqual(len(upstream.peers), 1)
                self.assertNotIn("canary", client.hub.log)
                client.hub.finish()

    def test_a_credential_that_expires(self):
        upstream = self.upstream()
        client = self.start(upstream)
        self.echoes(client)
        upstream.greet = lambda peer: (peer.status(401), False)[1]
        upstream.peers[0].cut()
        for _ in range(5):
            self.assertIn("isError", client.call("up__echo").result)
        self.assertSays(self.failure(client.call("up__echo")), "credential refused", "HTTP 401", upstream.url)
        self.assertLessEqual(len(upstream.peers), 2)

    def test_wrong_answers(self):
        wrong_key = base64.b64encode(b"0" * 20).decode()
        for headers, words in (
            ({"Sec_WebSocket_Accept": wrong_key}, "accepts another WebSocket"),
            ({"Sec_WebSocket_Accept": None}, "accepts another WebSocket"),
            ({"Upgrade": "h2c"}, "another protocol"),
            ({"Upgrade": None}, "another protocol"),
            ({"Connection": "close"}, "another protocol"),
            ({"Connection": None}, "another protocol"),
            ({"Sec_WebSocket_Protocol": "chat"}, "subprotocol that was not offered"),
            ({"Sec_WebSocket_Extensions": "permessage-deflate"}, "extension that was not offered"),
            ({"A b": "c"}, "headers that are none"),
            ({"A": "\x01"}, "headers that are none"),
            ({"Upgrade": "websocket\r\nUpgrade: websocket"}, "headers that are none"),
        ):
            with self.subTest(headers):
                self.refused(lambda peer, h=headers: peer.switch(**h), words)

    def test_answers_that_are_right_though(self):
        for headers in (
            {"Upgrade": "WebSocket", "Connection": "keep-alive, upgrade"},
            {"Connection": "keep-alive\r\nConnection: Upgrade"},
            {"Sec_WebSocket_Protocol": None},
            {"X": ""},
        ):
            with self.subTest(headers):
                upstream = self.upstream()
                upstream.greet = lambda peer, h=headers: peer.switch(**h)
                client = self.start(upstream)
                self.echoes(client)
                client.hub.finish()

    def test_what_is_no_http(self):
        for data in (b"SSH-2.0-OpenSSH_9.2\r\n", b"HTTP/2 101 \r\n\r\n", b"HTTP/1.0 101 Switching\r\n\r\n", b"\x15\x03\x01\x00\x02\x02\x28xxxxxx"):
            with self.subTest(data):
                self.refused(lambda peer, d=data: peer.raw(d), "does not answer in HTTP/1.1")

    def test_the_longest_head(self):
        upstream = self.upstream()
        sizes = []

        def greet(peer, size):
            parts = []
            peer.raw, send = parts.append, peer.raw
            peer.switch(X="")
            text = b"".join(parts)
            peer.raw = send
            peer.raw(text.replace(b"X: ", b"X: " + b"a" * (size - len(text))))
            sizes.append(size)

        upstream.greet = lambda peer: greet(peer, HEAD_MOST)
        self.echoes(self.start(upstream))
        self.refused(lambda peer: greet(peer, HEAD_MOST + 1), "head of more than 16384 bytes")
        self.refused(lambda peer: peer.raw(b"HTTP/1.1 101 x\r\n" + b"a: b\r\n" * 4096), "head of more than 16384 bytes")

    def test_no_answer(self):
        gone = threading.Event()

        def greet(peer):
            with contextlib.suppress(OSError):
                while peer.socket.recv(4096):
                    pass
            gone.set()

        self.refused(greet, "no WebSocket within 0.2 s", connect_timeout="200ms")
        self.assertTrue(gone.wait(TIMEOUT))

    def test_hanging_up(self):
        self.refused(lambda peer: peer.cut(), "closed the connection before it was a WebSocket")
        self.refused(lambda peer: (peer.raw(b"HTTP/1.1 101 "), peer.cut()), "closed the connection before it was a WebSocket")

    def test_nobody_there_and_then_somebody(self):
        upstream = self.upstream()
        client = self.start(upstream, url=upstream.url.replace("//", "//user:canary@") + "?key=canary")
        self.echoes(client)
        port = upstream.port
        upstream.close(keeps_port=True)
        upstream.wait_until(upstream.peers[0].is_gone.is_set, "the end")
        client.call("up__echo")
        failure = client.call("up__echo").tool_error
        self.assertSays(failure["message"], f"cannot reach ws://127.0.0.1:{port}/mcp")
        self.assertTrue(failure["retryable"])
        self.assertNotIn("canary", client.hub.log)
        again = WebSocketUpstream()
        self.addCleanup(again.close)
        again.listener.close()
        again.listener = socket.create_server(("127.0.0.1", port))
        threading.Thread(target=again._serve, daemon=True).start()
        self.echoes(client)


class Failing(WebSocketTest):
    def each(self, misdeed, *words, code=None):
        """A server that does this to a call: the call fails in these words, the server hears the code, and the
        next call is made over the next connection."""
        upstream = self.upstream()
        upstream.on["tools/call"] = misdeed
        client = self.start(upstream)
        client.names()
        self.assertSays(self.failure(client.call("up__echo")), *words)
        peer = upstream.peers[0]
        upstream.wait_until(peer.is_gone.is_set, "the end of the connection")
        if code is not None:
            self.assertEqual(peer.close_code, code)
        self.assertEqual(len(upstream.of("tools/call")), 1)  # D02: never made twice
        upstream.on["tools/call"] = upstream.call
        self.echoes(client)
        self.assertEqual(len(upstream.peers), 2)
        client.hub.finish()

    def test_frames_that_break_the_protocol(self):
        breaks, utf8, binary = "breaks the WebSocket protocol", "not UTF-8", "binary messages"
        mask = b"\1\2\3\4"
        begun = head(TEXT, 1, final=False) + b"{"
        cases = [
            (1002, breaks, head(TEXT, 2, mask=mask) + b"xx"),
            (1002, breaks, head(PING, 1, mask=mask) + b"x"),
            (1002, breaks, head(CONTINUATION, 1) + b"x"),
            (1002, breaks, begun + head(TEXT, 1) + b"x"),
            (1002, breaks, head(PING, 1, final=False) + b"x"),
            (1002, breaks, head(PING, 126) + b"x" * 126),
            (1003, binary, head(BINARY, 2) + b"{}"),
            (1003, binary, head(BINARY, 0)),
            (1007, utf8, head(TEXT, 2) + b"\xc3\x28"),
            (1007, utf8, head(TEXT, 3) + b"\xed\xa0\x80"),
            (1007, utf8, begun + head(CONTINUATION, 1) + b"\xff"),
            (1007, utf8, head(TEXT, 1) + b"\xe2"),
            (1009, "too large", head(TEXT, MOST + 1) + b"x"),
            (1009, "too large", head(TEXT, (1 << 63) - 1) + b"x"),
        ]
        cases += [(1002, breaks, head(TEXT, 2, reserved=bits) + b"{}") for bits in (1, 2, 4, 7)]
        cases += [(1002, breaks, head(opcode, 2) + b"{}") for opcode in (3, 7, 11, 15)]
        cases += [(1002, breaks, head(CLOSE, 2) + struct.pack("!H", code)) for code in (0, 999, 1004, 1005, 1006, 1015, 5000)]
        cases += [(1007, utf8, head(CLOSE, 4) + struct.pack("!H", 1000) + b"\xc3\x28")]
        for code, words, data in cases:
            with self.subTest(code=code, data=data[:16]):
                self.each(lambda x, d=data: x.peer.raw(d), words, code=code)

    def test_closing(self):
        for code, reason, words in (
            (1000, "", "closed the connection with 1000"),
            (1001, "restart", "closed the connection with 1001: restart"),
            (1011, "überlastet", "closed the connection with 1011: überlastet"),
            (4401, "x" * 123, "closed the connection with 4401: xxx"),
            (1011, " a\r\nb\x1b[31m\x9b", "closed the connection with 1011: a b [31m"),
        ):
            with self.subTest(code):
                self.each(lambda x, c=code, r=reason: x.peer.close(c, r), words, code=code)
        self.each(lambda x: x.peer.frame(CLOSE), "closed the connection", code=0)

    def test_breaking(self):
        self.each(lambda x: x.peer.cut(), "broke")
        self.each(lambda x: (x.peer.raw(head(TEXT, 100) + b'{"json'), x.peer.cut()), "broke")

    def test_what_is_said_before_the_end_is_heard(self):
        upstream = self.upstream()
        upstream.on["tools/call"] = lambda x: (x.result(upstream.said("last words")), x.peer.close(1001))
        client = self.start(upstream)
        client.names()
        for n in range(3):
            self.assertEqual(self.text(client.call("up__echo")), "last words")
            upstream.wait_until(upstream.peers[n].is_gone.is_set, "the end")
            client.barrier()

    def test_a_server_that_dies(self):  # U01
        upstream = self.upstream()
        upstream.on["tools/call"] = lambda x: None
        client = self.start(upstream)
        client.names()
        ids = [client.send_call("up__echo", {"n": n}) for n in range(200)]
        upstream.wait("tools/call", 200)
        upstream.peers[0].cut()
        for request_id in ids:
            self.assertSays(client.hub.response(request_id).tool_error["message"], "broke", upstream.url)
        upstream.on["tools/call"] = upstream.call
        self.echoes(client)

    def test_one_that_cannot_bear_the_probe(self):
        upstream = self.upstream()
        upstream.on["server/discover"] = lambda x: x.peer.close(1002, "initialize first")
        self.echoes(self.start(upstream))
        self.assertEqual(len(upstream.peers), 2)
        self.assertEqual(len(upstream.of("server/discover")), 1)

    def test_an_end_in_the_handshake_is_no_era(self):
        upstream = self.upstream()
        client = self.start(upstream)
        self.echoes(client)
        upstream.on["initialize"] = lambda x: x.peer.close(1001)
        upstream.on["tools/call"] = lambda x: x.peer.cut()
        self.assertSays(self.failure(client.call("up__echo")), "broke")
        self.assertSays(self.failure(client.call("up__echo")), "1001")
        self.assertEqual(len(upstream.of("server/discover")), 1)
        modern = WebSocketUpstream("modern")
        self.addCleanup(modern.close)
        upstream.era = "modern"
        upstream.on.update({"initialize": upstream.initialize, "tools/call": upstream.call})
        self.echoes(client)
        self.assertEqual(len(upstream.of("server/discover")), 2)

    def test_garbage_is_skipped_and_a_flood_is_not(self):
        garbage = ("{", "[]", "null", '{"jsonrpc":"2.0"}', "", '{"jsonrpc":"2.0","id":1,"result":1}x')

        def some(x, count):
            for n in range(count):
                x.peer.send(garbage[n % len(garbage)])
            upstream.call(x)

        upstream = self.upstream()
        upstream.on["tools/call"] = lambda x: some(x, 100)
        client = self.start(upstream)
        self.echoes(client)
        client.hub.finish()
        self.each(lambda x: [x.peer.send("{") for _ in range(101)], "messages that are not JSON-RPC")

    def test_answers_to_nothing(self):  # U30, U31
        upstream = self.upstream()

        def call(x):
            for wrong in (0, 1, x.message["id"] + 1, x.message["id"] + 1000, -1, "x", None, 1.5):
                x.peer.send({"jsonrpc": "2.0", "id": wrong, "result": upstream.said("wrong")})
            upstream.call(x)
            x.result(upstream.said("again"))

        upstream.on["tools/call"] = call
        client = self.start(upstream)
        for n in range(3):
            self.echoes(client, n)

    def test_a_storm_of_pings(self):
        upstream = self.upstream()
        count = 20000

        def call(x):
            x.peer.raw((head(PING, 4) + b"ping") * count)
            upstream.call(x)

        upstream.on["tools/call"] = call
        client = self.start(upstream)
        self.echoes(client)
        peer = upstream.peers[0]
        upstream.wait_until(lambda: len(peer.controls) == count, "all pongs")
        self.assertEqual(set(peer.controls), {(PONG, b"ping")})

    def test_pings_whose_answers_are_not_read(self):
        upstream = self.upstream()

        def call(x):
            storm = (head(PING, 125) + b"p" * 125) * 8192
            with contextlib.suppress(OSError):
                for _ in range(256):  # until the hub has had enough
                    x.peer.raw(storm)

        upstream.on["tools/call"] = call
        client = self.start(upstream)
        client.names()
        self.assertSays(self.failure(client.call("up__echo")), "does not read its input")
        upstream.on["tools/call"] = upstream.call
        self.echoes(client)

    def test_a_server_that_does_not_read(self):
        upstream = self.upstream()
        resume = threading.Event()
        self.addCleanup(resume.set)
        upstream.on["tools/call"] = lambda x: resume.wait(TIMEOUT)
        client = self.start(upstream)
        client.names()
        text = "x" * (3 << 20)
        ids = [client.send_call("up__echo", {"t": text}) for _ in range(24)]
        said = [client.hub.response(request_id).tool_error["message"] for request_id in ids[-8:]]
        for words in said:
            self.assertSays(words, "read")

    def test_descriptors_are_given_back(self):
        upstream = self.upstream()
        client = self.start(upstream, restart_delay="1ms", restart_delay_max="1ms")
        folder = f"/proc/{client.hub.process.pid}/fd"
        for n in range(21):
            upstream.on["tools/call"] = lambda x: x.peer.cut()
            self.assertSays(self.failure(client.call("up__echo")), "broke")
            upstream.on["tools/call"] = upstream.call
            self.echoes(client)
            if n == 0:  # what is opened when it is needed first is there
                before = len(os.listdir(folder))
        client.hub.wait_until(lambda: len(os.listdir(folder)) <= before, "the descriptors of the connections")


class Configuration(WebSocketTest):
    def test_what_is_refused(self):
        cases = (
            ({"url": "ws://x", "type": "http"}, "type", "websocket"),
            ({"url": "wss://x", "type": "sse"}, "type", "websocket"),
            ({"url": "ws://x", "forward_headers": ["A"]}, "forward_headers"),
            ({"url": "ws://"}, "url", "check its host"),
            ({"url": "wsx://x"}, "ws://", "wss://"),
            ({"url": "ws://x", "headers": {"Upgrade": "h2c"}}, "Upgrade"),
            ({"url": "ws://x", "headers": {"Sec-WebSocket-Protocol": "a"}}, "Sec-WebSocket-Protocol"),
            ({"url": "ws://x", "headers": {"connection": "a"}}, "connection"),
            ({"url": "ws://x", "headers": {"Host": "a"}}, "Host"),
            ({"url": "wss://x", "ca": "none.pem"}, "ca", "none.pem"),
            ({"url": "ws://x", "args": ["a"]}, "args", "command"),
        )
        for entry, *words in cases:
            with self.subTest(entry):
                done = self.cli("check", "--connect", toolsets={"up": entry})
                self.assertNotEqual(done.returncode, 0)
                self.assertSays(done.stdout + done.stderr, *words)

    def test_the_type_makes_a_websocket_of_http(self):
        upstream = self.upstream()
        url = upstream.url.replace("ws:", "http:")
        for kind in ("websocket", "ws"):
            client = self.start(upstream, url=url, type=kind)
            self.echoes(client)
            client.hub.finish()

    def test_a_foreign_file(self):
        upstream = self.upstream()
        path = self.home / "mcp.json"
        path.write_text(json.dumps({"mcpServers": {"Up": {"type": "ws", "url": upstream.url}}}))
        client = LegacyClient(self.hub(files=[path]))
        self.assertEqual(client.own_names(), ["up__echo"])


if __name__ == "__main__":
    main()
