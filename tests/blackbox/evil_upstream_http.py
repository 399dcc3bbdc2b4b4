# SPDX-License-Identifier: Apache-2.0
"""Upstreams that misuse HTTP: statuses, heads, bodies and streams that are not what they should be. Each call is
answered once, with the reason, and a server that behaves again is used again (RELIABILITY.md U03, U25 to U27)."""

import socket

from evil_upstream_base import EvilUpstreamTest
from mcp import main

JSON = b"Content-Type: application/json\r\n"
EVENTS = b"Content-Type: text/event-stream\r\n"
MUCH = 17 << 20  # more than a message may have


def head(rest=b"", status=b"200 OK"):
    return b"HTTP/1.1 " + status + b"\r\n" + rest + b"\r\n"


def sized(body, length=None):
    return b"Content-Length: %d\r\n" % (len(body) if length is None else length)


def chunk(data):
    return b"%x\r\n%s\r\n" % (len(data), data)


def event(text):
    return b"data: " + text + b"\n\n"


def raw(make):
    """Answer with bytes that are made of a good answer, and end the connection."""
    return lambda q: q.x.last(make(q.good().encode()))


def reset(q):
    connection = q.x.handler.connection
    connection.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, b"\1\0\0\0\0\0\0\0")
    q.x.handler.close_connection = True
    connection.shutdown(socket.SHUT_RD)
    connection.close()


def error_body(q, code=-32603):
    return q.reply(error={"code": code, "message": "an error of the server"})


# What a call comes to: words of the failure; None: it is right.
FAILURES = {
    "html": (lambda q: q.x.status(200, "<html>", content_type="text/html"), ["no JSON-RPC answer"]),
    "an image": (lambda q: q.x.status(200, b"\x89PNG\r\n\x1a\n\0\0", content_type="image/png"), ["no JSON-RPC answer"]),
    "nothing, with 200": (lambda q: q.x.status(200), ["HTTP 200", "nothing"]),
    "202 for a request": (lambda q: q.x.status(202), ["HTTP 202", "nothing"]),
    "204": (lambda q: q.x.last(head(status=b"204 No Content")), ["HTTP 204"]),
    "400": (lambda q: q.x.status(400), ["HTTP 400"]),
    "402": (lambda q: q.x.status(402, "pay", content_type="text/plain"), ["HTTP 402"]),
    "404": (lambda q: q.x.status(405), ["HTTP 405"]),
    "408": (lambda q: q.x.status(408), ["HTTP 408"]),
    "413": (lambda q: q.x.status(413), ["HTTP 413"]),
    "429": (lambda q: q.x.status(429, Retry_After="1"), ["HTTP 429"]),
    "500": (lambda q: q.x.status(500, "Traceback (most recent call last)", content_type="text/plain"), ["HTTP 500"]),
    "502": (lambda q: q.x.status(502, "<html>" + "x" * 1000000, content_type="text/html"), ["HTTP 502"]),
    "503": (lambda q: q.x.status(503), ["HTTP 503"]),
    "a status of one's own": (lambda q: q.x.last(head(sized(b""), status=b"799 What")), ["HTTP 799"]),
    "a redirect elsewhere": (lambda q: q.x.status(302, Location="http://127.0.0.1:1/mcp"), ["redirects"]),
    "a redirect to nowhere": (lambda q: q.x.status(307), ["redirects (HTTP 307), and not to an address of http"]),
    "a redirect to a file": (lambda q: q.x.status(307, Location="file:///etc/passwd"), ["redirects (HTTP 307), and not to an address of http"]),
    "a redirect in a circle": (lambda q: q.x.status(308, Location=q.x.path), ["redirects"]),
    "not modified": (lambda q: q.x.status(304), ["redirects (HTTP 304), and not to an address of http"]),
    "a redirect to a long address": (lambda q: q.x.status(301, Location="/" + "é" * 30000), ["redirects to", "make it the url of the entry"]),
    "another's answer": (lambda q: q.x.status(200, q.reply(raw_id="987654321", result={"content": []})), ["no JSON-RPC answer"]),
    "two answers in one body": (lambda q: q.x.status(200, q.good() * 2), ["no JSON-RPC answer"]),
    "a batch": (lambda q: q.x.status(200, f"[{q.good()}]"), ["no JSON-RPC answer"]),
    "half an answer, complete": (lambda q: q.x.status(200, q.good()[:-5]), ["no JSON-RPC answer"]),
    "a body that is too short": (raw(lambda t: head(JSON + sized(t, len(t) + 10)) + t), ["broke"]),
    "chunks that end early": (raw(lambda t: head(JSON + b"Transfer-Encoding: chunked\r\n") + chunk(t)), ["broke"]),
    "chunks of no size": (raw(lambda t: head(JSON + b"Transfer-Encoding: chunked\r\n") + b"zz\r\n" + t), ["broke"]),
    "chunks of endless size": (raw(lambda t: head(JSON + b"Transfer-Encoding: chunked\r\n") + b"f" * 40 + b"\r\n" + t), ["broke"]),
    "two lengths": (raw(lambda t: head(JSON + sized(t) + sized(t, 5)) + t), ["no JSON-RPC answer"]),
    "a length of no kind": (raw(lambda t: head(JSON + b"Content-Length: many\r\n") + t), ["broke"]),
    "a length below zero": (raw(lambda t: head(JSON + b"Content-Length: -1\r\n") + t), ["broke"]),
    "no HTTP": (raw(lambda t: b"SSH-2.0-OpenSSH_9.2\r\n" + t), ["broke"]),
    "HTTP/0.9": (raw(lambda t: t), ["broke"]),
    "a head that ends early": (raw(lambda t: b"HTTP/1.1 200 OK\r\nContent-Ty"), ["broke"]),
    "a head without end": (raw(lambda t: b"HTTP/1.1 200 OK\r\n" + b"X-Much: %s\r\n" % (b"x" * 1000) * 2000), ["broke"]),
    "a header without end": (raw(lambda t: b"HTTP/1.1 200 OK\r\nX-Long: " + b"x" * (1 << 20)), ["broke"]),
    "a head with NUL": (raw(lambda t: head(JSON + b"X: a\0b\r\n" + sized(t)) + t), ["broke"]),
    "packed bodies": (raw(lambda t: head(JSON + b"Content-Encoding: gzip\r\n" + sized(t)) + b"\x1f\x8b\x08" + t[3:]), ["no JSON-RPC answer"]),
    "nothing at all": (lambda q: q.x.cut(), ["broke"]),
    "a reset": (reset, ["broke"]),
    "an empty stream": (raw(lambda t: head(EVENTS + b"Connection: close\r\n")), ["the stream ended"]),
    "a stream of comments": (raw(lambda t: head(EVENTS + b"Connection: close\r\n") + b": hello\n\n" * 10000), ["the stream ended"]),
    "a stream that ends within the answer": (raw(lambda t: head(EVENTS + b"Connection: close\r\n") + event(t)[:-1]), ["the stream ended"]),
    "a stream of another's answers": (raw(lambda t: head(EVENTS + b"Connection: close\r\n") + event(t.replace(b'"id":', b'"id":9')) * 3), ["the stream ended"]),
    "events of another kind": (raw(lambda t: head(EVENTS + b"Connection: close\r\n") + b"event: other\n" + event(t)), ["the stream ended"]),
    "a line that is too long": (raw(lambda t: head(EVENTS) + b"data: " + b"x" * MUCH), ["larger than"]),
    "a name that is too long": (raw(lambda t: head(EVENTS) + b"x" * MUCH), ["larger than"]),
    "a body that is too long": (raw(lambda t: head(JSON) + b"x" * MUCH), ["larger than"]),
}

SUCCESSES = {
    "a hundred informative heads": raw(lambda t: head(status=b"103 Early Hints") * 100 + head(JSON + sized(t)) + t),
    "many headers": raw(lambda t: head(b"".join(b"X-%d: y\r\n" % n for n in range(500)) + JSON + sized(t)) + t),
    "cookies": raw(lambda t: head(b"Set-Cookie: a=b\r\n" * 60 + JSON + sized(t)) + t),
    "no content type": raw(lambda t: head(sized(t)) + t),
    "two content types": raw(lambda t: head(JSON + b"Content-Type: text/html\r\n" + sized(t)) + t),
    "bytes behind the body": raw(lambda t: head(JSON + sized(t)) + t + b"HTTP/1.1 200 OK\r\n\r\ngarbage"),
    "another answer behind the body": raw(lambda t: (head(JSON + sized(t)) + t) * 2),
    "HTTP/1.0": raw(lambda t: b"HTTP/1.0 200 OK\r\n" + JSON + b"\r\n" + t),
    "a body that ends with the connection": raw(lambda t: head(JSON) + t),
    "a session of no kind": raw(lambda t: head(JSON + sized(t) + b"Mcp-Session-Id: " + b"s" * 20000 + b"\r\n") + t),
    "chunks of one byte": raw(lambda t: head(JSON + b"Transfer-Encoding: chunked\r\n") + b"".join(chunk(t[n : n + 1]) for n in range(len(t))) + b"0\r\n\r\n"),
    "trailers": raw(lambda t: head(JSON + b"Transfer-Encoding: chunked\r\n") + chunk(t) + b"0\r\nX-End: yes\r\n\r\n"),
    "events in all spellings": raw(lambda t: head(EVENTS) + b"\xef\xbb\xbf:c\r\rid\nretry: x\nretry: 99999999999999999999\ndata:\n\ndata:" + t + b"\r\n\r\n"),
    "an answer over many lines": raw(lambda t: head(EVENTS) + event(t.replace(b",", b"\ndata: ,"))),
    "a stream that goes on": lambda q: (q.say(q.good()), q.say(q.good()), q.say('{"jsonrpc":"2.0","method":"notifications/x"}')),
    "a stream of floods behind the answer": lambda q: (q.say(q.good()), q.part(b": " + b"x" * (1 << 20) + b"\n\n"), q.say(q.good()), q.end()),
}


class Statuses:
    transport = None
    keys = {}

    def evil_toolsets(self):
        return {"evil": (self.evil(self.transport), self.keys)}

    def setUp(self):
        super().setUp()
        self.server_of = self.evils["evil"][0]
        self.assertBehaves()
        self.take_baseline()

    def test_failures(self):
        for name, (misdeed, words) in FAILURES.items():
            with self.subTest(name):
                mark = self.server_of.mark
                self.assertFails(self.during(misdeed), *words)
                times = 4 if "circle" in name else 1
                self.assertEqual(len(self.server_of.of("tools/call", mark)), times, "a call is never made twice")
                self.assertBehaves()
        self.assertUnharmed()

    def test_successes(self):
        for name, misdeed in SUCCESSES.items():
            with self.subTest(name):
                self.assertRight(self.during(misdeed, name=name), name=name)
                self.assertBehaves()
        self.assertUnharmed()

    def test_errors_with_a_status(self):
        """An error of the server is the answer, whatever status it comes with."""
        for status in (200, 400, 404, 422, 429, 500, 503):
            with self.subTest(status):
                if status == 404 and self.server_of.era == "legacy":
                    continue  # that is the end of the session
                answer = self.during(lambda q, s=status: q.x.status(s, error_body(q)))
                self.assertEqual(answer.error, {"code": -32603, "message": "an error of the server"})
                self.assertBehaves()
        self.assertUnharmed()


class Http(Statuses, EvilUpstreamTest):
    transport = "http"

    def test_answers_on_the_stream_of_the_session(self):
        """… and never where they were asked for: nothing is left open there."""
        self.server_of.wait_until(lambda: self.server_of.transport.stream, "the stream")
        for n in range(50):
            self.assertRight(self.during(lambda q: q.server.aside(q.good()), n=n), n=n)
        self.assertUnharmed()


class HttpWithoutAnswers(EvilUpstreamTest):
    """What nobody waits for is given up some time."""

    def evil_toolsets(self):
        return {"evil": (self.evil("http"), {"startup_timeout": "5s", "connect_timeout": "5s"})}

    def setUp(self):
        super().setUp()
        self.server_of = self.evils["evil"][0]
        self.assertBehaves()
        self.take_baseline()

    def test_notifications_that_are_never_answered(self):
        self.server_of.on["tools/call"] = self.server_of.on["notifications/cancelled"] = lambda q: None
        mark = self.server_of.mark
        calls = [self.send(n=n) for n in range(20)]
        self.server_of.wait("tools/call", len(calls), mark)
        for request_id in calls:
            self.client.cancel(request_id)
        self.server_of.wait("notifications/cancelled", len(calls), mark)  # the last when the first were given up
        self.cancelled = len(calls)
        self.server_of.on.clear()
        self.assertBehaves()
        self.assertUnharmed()

    def test_a_server_that_does_not_let_go(self):
        """It forgets each session at once, and does not answer to the end of one either."""
        self.server_of.on["DELETE"] = lambda x: None
        for _ in range(10):
            self.assertFails(self.during(lambda q: q.x.status(404)), "404")
            self.assertBehaves()
        self.assertUnharmed()


class ModernHttp(Statuses, EvilUpstreamTest):
    transport = "modern http"


class OldHttp(Statuses, EvilUpstreamTest):
    transport = "sse"

    test_failures = test_successes = test_errors_with_a_status = None

    def test_posts_that_are_never_answered(self):
        """The answers come on the stream, as they have to: nothing is left open where they were asked for."""
        self.server_of.transport.is_mute = True
        for n in range(50):
            self.assertRight(self.call(n=n), n=n)
        self.server_of.transport.is_mute = False
        self.assertBehaves()
        self.assertUnharmed()


if __name__ == "__main__":
    main()
