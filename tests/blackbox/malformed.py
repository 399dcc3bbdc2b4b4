# SPDX-License-Identifier: Apache-2.0
"""Malformed messages: exact codes, and a hub that lives on (P01-P06; JSON-RPC 2.0, 5.1).

PATCHBAY_TEST_SEED chooses another run of generated messages; PATCHBAY_TEST_COUNT how many.
"""

import json
import os
import random

from mcp import (
    INVALID_PARAMS,
    INVALID_REQUEST,
    METHOD_NOT_FOUND,
    PARSE_ERROR,
    UNSUPPORTED_VERSION,
    HubTest,
    LegacyClient,
    ModernClient,
    fixture,
    main,
    processes,
)

SEED = int(os.environ.get("PATCHBAY_TEST_SEED", "20260728"))
COUNT = int(os.environ.get("PATCHBAY_TEST_COUNT", "10000"))
LIMIT = 64 * 1024
DEPTH = 64
MANIFEST = {"limits": {"client_message": "64KiB"}}
TOOLSETS = {"alpha": fixture("one")}


def text(value):
    return json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode("utf-8", "surrogatepass")


def request(method="ping", request_id=5, **more):
    return {"jsonrpc": "2.0", "id": request_id, "method": method, **more}


def nested(depth, opening=b"[", closing=b"]"):
    return opening * depth + closing * depth


# Bytes that are no JSON text, or not UTF-8: -32700, and no id is known.
NOT_JSON = [
    *(b"x", b"{", b"}", b"[", b'"', b"{]", b"nul", b"tru", b"-", b"+1", b"01", b"1.", b".5", b"1e", b"0x1"),
    *(b"NaN", b"Infinity", b"-Infinity", b"'a'", b"{a:1}", b"{'a':1}", b'{"a"}', b'{"a":}', b'{"a":1,}'),
    *(b"[1,]", b"[,1]", b'{"a":1 "b":2}', b'{"a" 1}', b"/* */ {}", b"{} // x", b"{} {}", b"1 2", b'"a" "b"'),
    *(b'"\\x41"', b'"\\u12"', b'"\\u12g4"', b'"\\"', b'"\\u"', b'"tab\there"', b'"nul\x00"', b"\x00{}", b"{}\x00"),
    b'{"jsonrpc":"2.0","id":1,"method":"ping"',
    b'{"jsonrpc":"2.0","id":01,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"}}',
    b'{"jsonrpc":"2.0","id":1,"method":"ping"},',
    b'\xef\xbb\xbf{"jsonrpc":"2.0","id":1,"method":"ping"}',
    *(
        b'{"jsonrpc":"2.0","id":1,"method":"' + bad + b'"}'
        for bad in (
            *(b"\x80", b"\xbf", b"\xc0\x80", b"\xc1\xbf", b"\xe0\x80\x80", b"\xe0\x9f\xbf", b"\xed\xa0\x80"),
            *(b"\xed\xbf\xbf", b"\xf0\x80\x80\x80", b"\xf0\x8f\xbf\xbf", b"\xf4\x90\x80\x80", b"\xf5\x80\x80\x80"),
            *(b"\xfe", b"\xff", b"\xc2", b"\xe2\x82", b"\xf0\x9f\x98", b"\xed\xa0\xbd\xed\xb8\x80"),
        )
    ),
    nested(DEPTH, b"{", b"}"),
]

# JSON, but no message: -32600.
NO_MESSAGE = [
    *(b"null", b"true", b"0", b'"text"', b"[]", b"[[]]", b"{}", b'[{"jsonrpc":"2.0","id":1,"method":"ping"}]'),
    *(text({k: v for k, v in request().items() if k != "jsonrpc"}), text({**request(), "jsonrpc": "1.0"})),
    *(text({**request(), "jsonrpc": wrong}) for wrong in (2, 2.0, None, ["2.0"], "2", "", "2.0 ")),
    *(text(request(request_id=wrong)) for wrong in (None, True, False, 1.5, {}, [], [1])),
    *(b'{"jsonrpc":"2.0","id":%s,"method":"ping"}' % wrong for wrong in (b"1.0", b"1e3", b"1E400", b"-0.0")),
    text(request(request_id="x" * 300)),
    *(text({**request(), "method": wrong}) for wrong in (None, 1, True, [], {}, "", "x" * 129)),
    *(text(request(params=wrong)) for wrong in ([], [1], "x", 1, True, None)),
    text({"jsonrpc": "2.0", "id": 5}),
    text({"jsonrpc": "2.0", "id": 5, "METHOD": "ping"}),
    text({**request(), "result": {}}),
    text({**request(), "error": {"code": 1, "message": "x"}}),
    text({"jsonrpc": "2.0", "id": 5, "result": {}, "error": {"code": 1, "message": "x"}}),
    b'{"jsonrpc":"2.0","id":5,"id":6,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":5,"method":"ping","method":"tools/list"}',
    b'{"jsonrpc":"2.0","jsonrpc":"2.0","id":5,"method":"ping"}',
    b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{},"params":{}}',
    b'{"jsonrpc":"2.0","id":5,"method":"ping","\\u0069d":6}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"alpha__one","name":"x"}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"alpha__one","n\\u0061me":"x"}}',
    b'{"jsonrpc":"2.0","id":5,"method":"tools/call","params":{"name":"x","arguments":{},"arguments":{}}}',
    b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":%s}}' % nested(DEPTH - 1),
    b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":%s}}' % nested(2048),
    nested(DEPTH + 1),
    nested(20000),
]

# Messages with params that do not fit their method: -32602. For a legacy session.
WRONG_PARAMS = [
    *(text(request("tools/call", params=p)) for p in ({}, {"name": 1}, {"name": None}, {"name": ["alpha__one"]})),
    *(text(request("tools/call", params={"name": "alpha__one", "arguments": a})) for a in ([], "x", 1, True)),
    *(text(request("tools/call", params={"name": n})) for n in ("", "nope", "alpha__", "__one", "alpha__One")),
    *(text(request("tools/list", params={"cursor": c})) for c in (1, {}, [], "forged", "", True)),
    *(text(request("tools/list", params={"_meta": m})) for m in ([], "x", 1)),
    text(request("tools/call")),
]

UNKNOWN_METHODS = ["nope", "tools/nope", "Ping", "ping ", " ping", "tools", "/", "ping/", "initialized"]

# Valid, however strange: answered like any ping.
STRANGE_BUT_VALID = [
    b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":%s}}' % nested(DEPTH - 2),
    b'{"\\u006aso\\u006erpc":"2.0","\\u0069d":5,"m\\u0065thod":"ping"}',
    b'{"method":"ping","x":{"id":7,"method":"y"},"id":5,"jsonrpc":"2.0"}',
    b'{"jsonrpc":"2.0","id":5,"method":"ping","ID":6,"Method":"x","PARAMS":[]}',
    b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"a":1e400,"b":12345678901234567890,"c":"\\ud800"}}',
    b' \t{ "jsonrpc" : "2.0" , "id" : 5 , "method" : "ping" }\t ',
]


class Table(HubTest):
    """Each case on its own, so that a failure names it."""

    def check(self, cases, code):
        client = self.legacy(toolsets=TOOLSETS, manifest=MANIFEST)
        hub = client.hub
        for case in cases:
            with self.subTest(case[:200]):
                since = hub.mark
                hub.send_bytes(case + b"\n")
                answer = hub.wait_for(lambda m: m.method is None, "an answer", since)
                self.assertEqual(answer.code, code)
                self.assertTrue(answer.error["message"])
                if code == PARSE_ERROR:
                    self.assertNotIn("id", answer.data)
                elif code != INVALID_REQUEST:
                    self.assertEqual(answer.id, 5)
        client.request("ping")
        self.assertEqual(client.own_names(), ["alpha__one"])

    def test_not_json(self):
        self.check(NOT_JSON, PARSE_ERROR)

    def test_no_message(self):
        self.check(NO_MESSAGE, INVALID_REQUEST)

    def test_wrong_params(self):
        self.check(WRONG_PARAMS, INVALID_PARAMS)

    def test_unknown_methods(self):
        self.check([text(request(name)) for name in UNKNOWN_METHODS], METHOD_NOT_FOUND)

    def test_strange_but_valid(self):
        client = self.legacy(toolsets=TOOLSETS, manifest=MANIFEST)
        for case in STRANGE_BUT_VALID:
            with self.subTest(case[:200]):
                since = client.hub.mark
                client.hub.expect("ping", 5)
                client.hub.send_bytes(case + b"\n")
                self.assertEqual(client.hub.response(5, since).result, {})

    def test_an_error_carries_the_id_if_it_could_be_read(self):
        client = self.legacy(toolsets=TOOLSETS)
        for case, request_id in (
            (b'{"jsonrpc":"1.0","id":"abc","method":"ping"}', "abc"),
            (b'{"jsonrpc":"2.0","id":7,"method":5}', 7),
            (b'{"jsonrpc":"2.0","id":7,"method":"ping","params":[]}', 7),
        ):
            since = client.hub.mark
            client.hub.send_bytes(case + b"\n")
            answer = client.hub.wait_for(lambda m: "error" in m.data, "an error", since)
            self.assertEqual((answer.id, answer.code), (request_id, INVALID_REQUEST))

    def test_notifications_are_never_answered(self):  # P11
        client = self.legacy(toolsets=TOOLSETS)
        since = client.hub.mark
        for message in (
            {"jsonrpc": "2.0", "method": "nope"},
            {"jsonrpc": "2.0", "method": "tools/list"},
            {"jsonrpc": "2.0", "method": "tools/call", "params": {"name": "alpha__one"}},
            {"jsonrpc": "2.0", "method": "notifications/progress", "params": {"progressToken": 1, "progress": 1}},
            {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": {}}},
            {"jsonrpc": "2.0", "method": "notifications/initialized"},
            {"jsonrpc": "2.0", "method": "initialize", "params": {}},
        ):
            client.hub.send(message)
        client.request("ping")
        self.assertEqual(client.hub.mark, since + 1)

    def test_a_message_of_too_many_values(self):  # P04
        client = self.legacy(toolsets=TOOLSETS, manifest={"limits": {"client_message": "8MiB"}})
        head = b'{"jsonrpc":"2.0","id":6,"method":"ping","params":{"x":['
        client.request("ping", {"x": [1] * 250000})  # as many as real messages have
        since = client.hub.mark
        client.hub.send_bytes(head + b"{}," * 2097152 + b"{}]}}\n")
        answer = client.hub.wait_for(lambda m: "error" in m.data, "an error", since)
        self.assertEqual(answer.code, INVALID_REQUEST)
        self.assertIn("more than 2,097,152 values", answer.data["error"]["message"])
        client.request("ping")


class Generator:
    """Endless malformed messages: (bytes, set of answers that are right). None stands for no answer,
    "result" for a result."""

    def __init__(self, seed, good, params):
        self.rng = random.Random(seed)
        self.good = good
        unknown = [text(request(name, params=params)) for name in UNKNOWN_METHODS]
        self.kinds = [
            (self.table(NOT_JSON, PARSE_ERROR), 2),
            (self.table(NO_MESSAGE, INVALID_REQUEST), 2),
            (self.table(unknown, METHOD_NOT_FOUND), 1),
            (self.truncated, 2),
            (self.bad_utf8, 2),
            (self.control_character, 1),
            (self.deep, 1),
            (self.deep_unclosed, 1),
            (self.huge, 0.02),
            (self.wrong_type, 2),
            (self.duplicate_key, 2),
            (self.garbage, 1),
            (self.mutated, 4),
        ]

    def __next__(self):
        make = self.rng.choices([k for k, _ in self.kinds], [w for _, w in self.kinds])[0]
        line, codes = make()
        return line.replace(b"\n", b" "), codes

    def table(self, cases, code):
        return lambda: (self.rng.choice(cases), {code})

    def pick(self):
        return self.rng.choice(self.good)

    def truncated(self):
        message = self.pick()
        return message[: self.rng.randrange(1, len(message))], {PARSE_ERROR}

    def in_string(self, insertion):
        message = self.pick()
        quotes = [i for i, byte in enumerate(message) if byte == ord('"')]
        at = self.rng.choice(quotes[::2]) + 1
        return message[:at] + insertion + message[at:]

    def bad_utf8(self):
        bad = self.rng.choice([b"\xff", b"\xc0\x80", b"\xed\xa0\x80", b"\xf4\x90\x80\x80", b"\x80", b"\xe2\x28\xa1", b"\xc3"])
        return self.in_string(bad), {PARSE_ERROR}

    def control_character(self):
        byte = self.rng.choice([b for b in range(32) if b != 10])
        return self.in_string(bytes([byte])), {PARSE_ERROR}

    def deep(self):
        depth = self.rng.randrange(DEPTH, 5000)
        opening, closing = self.rng.choice([(b"[", b"]"), (b'{"a":', b"}")])
        inner = opening * depth + b"1" + closing * depth
        return b'{"jsonrpc":"2.0","id":5,"method":"ping","params":{"x":' + inner + b"}}", {INVALID_REQUEST}

    def deep_unclosed(self):
        # Too deep, and then not JSON either: whichever the scanner meets first.
        return self.rng.choice([b"[", b'{"a":']) * self.rng.randrange(1, 9000), {PARSE_ERROR, INVALID_REQUEST}

    def huge(self):
        return self.in_string(b"x" * self.rng.randrange(LIMIT, LIMIT * 4)), {INVALID_REQUEST}

    def wrong_type(self):
        wrong = self.rng.choice([None, True, 1.5, [], {}, [{}]])
        key = self.rng.choice(["jsonrpc", "id", "method", "params"])
        if key == "params" and wrong == {}:
            wrong = []
        return text({**request("ping", params={}), key: wrong}), {INVALID_REQUEST}

    def duplicate_key(self):
        key, value = self.rng.choice(list(request("ping", params={}).items()))
        message = text(request("ping", params={}))[:-1]
        return message + b"," + text(key) + b":" + text(value) + b"}", {INVALID_REQUEST}

    def garbage(self):
        # The first byte begins no JSON value and is no white space.
        line = b"\x01" + self.rng.randbytes(self.rng.randrange(0, 200))
        return line, {PARSE_ERROR}

    def mutated(self):
        message = bytearray(self.pick())
        for _ in range(self.rng.choice([1, 1, 1, 2, 5])):
            at = self.rng.randrange(len(message))
            how = self.rng.randrange(3)
            if how == 0:
                message[at] = self.rng.randrange(256)
            elif how == 1:
                del message[at]
            else:
                message.insert(at, self.rng.randrange(256))
        codes = {PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS, UNSUPPORTED_VERSION}
        return bytes(message), codes | {"result", None}


class TenThousand(HubTest):  # P01
    CHUNK = 100

    def run_generated(self, make_client, good, seed):
        hub = self.hub(toolsets=TOOLSETS, manifest=MANIFEST)
        client = make_client(hub)
        generator = Generator(seed, good, {"_meta": client.meta()} if client.meta() else {})
        hub.strict = False
        client.barrier()
        before = processes.memory_kib(hub.process.pid)
        hub.messages.clear()
        for start in range(0, COUNT, self.CHUNK):
            self.check_chunk(hub, client, [next(generator) for _ in range(self.CHUNK)], start)
            with hub.condition:
                hub.messages.clear()
        growth = processes.memory_kib(hub.process.pid) - before
        self.assertLess(growth, 32 * 1024, "KiB of memory grown")
        self.assertEqual(client.own_names(), ["alpha__one"])
        self.assertIn("result", client.call("alpha__one").data)

    def check_chunk(self, hub, client, cases, start):
        # After each case a good request, whose answer marks the end of whatever the case brought.
        fence = [f"fence-{start + n}" for n in range(len(cases))]
        for (line, _), request_id in zip(cases, fence):
            hub.send_bytes(line + b"\n")
            client.send("tools/list", request_id=request_id)
        hub.response(fence[-1])
        answers, at = [], 0
        for (line, right), request_id in zip(cases, fence):
            while hub.messages[at].id != request_id:
                answers.append(hub.messages[at])
                at += 1
            at += 1
            got = {m.error["code"] if "error" in m.data else "result" for m in answers if m.method is None}
            got = got or {None}
            self.assertTrue(got <= right, f"case {line[:300]!r}: answered {got}, right is {right}")
            self.assertLessEqual(len([m for m in answers if m.method is None]), 1, line[:300])
            answers = []

    def test_legacy(self):
        good = [
            text(request("ping", params={"text": "good"})),
            text(request("tools/list", params={})),
            text(request("tools/call", params={"name": "alpha__one", "arguments": {"a": [1, "ü", None]}})),
        ]
        self.run_generated(LegacyClient, good, SEED)

    def test_modern(self):
        meta = ModernClient(None).meta()
        good = [
            text(request("server/discover", params={"_meta": meta})),
            text(request("tools/list", params={"_meta": meta})),
            text(request("tools/call", params={"name": "alpha__one", "arguments": {"a": [1, "ü"]}, "_meta": meta})),
        ]
        self.run_generated(ModernClient, good, SEED + 1)


if __name__ == "__main__":
    main()
