# SPDX-License-Identifier: Apache-2.0
"""What a server of evil_upstream.py can do when it is asked something: functions of a Request, by name."""

from evil_transports import HttpRequest, dump, to_bytes


MOST_VALUES = 2 * 1024 * 1024  # HUB_LIMIT_JSON_VALUES


# ---- misdeeds ------------------------------------------------------------------------------------


def say(*before, last=True):
    """Say these, each a text or a function of the request; then answer as a good server does, unless not `last`."""

    def misdeed(q):
        for what in before:
            q.say(what(q) if callable(what) else what)
        if last:
            q.say(q.good())
        q.end()

    return misdeed


def with_id(make):
    """A result for another id: not the answer."""
    return lambda q: q.reply(raw_id=make(q.id), result=FORGED)


def part_then_cut(q):
    text = to_bytes(q.good())
    q.part(text[: len(text) // 2])
    q.cut()


def byte_by_byte(q):
    for byte in (b"data: " if isinstance(q, HttpRequest) else b"") + to_bytes(q.good()):
        q.part(bytes([byte]))
    q.part(b"\n\n")
    q.end()


FORGED = {"content": [{"type": "text", "text": "forged"}], "structuredContent": {"forged": True}, "resultType": "complete"}
DEEP = '{"jsonrpc":"2.0","method":"notifications/x","params":' + '{"a":' * 100000 + "1" + "}" * 100000 + "}"

# After each of these comes the right answer, and it is the one that counts. Of WITHOUT_ID that is so only where messages
# of all requests come together: on a stream of its own, a request has an answer then.
WITHOUT_ID = ("an id that is null", "no id")
NOT_ANSWERS = {
    "the id of nobody": [with_id(lambda raw: "987654321")],
    "ids round about": [with_id(lambda raw, n=n: str(int(raw) + n)) for n in range(-20, 21) if n],
    "ids of others": [with_id(lambda raw, n=g << 16 | slot: str(n if n != int(raw) else 0)) for g in range(1, 60) for slot in range(4)],
    "its id and more": [with_id(lambda raw: f"[{raw}]"), with_id(lambda raw: f'{{"id":{raw}}}'), with_id(lambda raw: f"-{raw}")],
    "ids beyond all numbers": [with_id(lambda raw: "1" * 400), with_id(lambda raw: "18446744073709551615"), with_id(lambda raw: "1e999")],
    "an id that is null": [with_id(lambda raw: "null"), lambda q: q.reply(raw_id="null", error={"code": -32700, "message": "?"})],
    "no id": ['{"jsonrpc":"2.0","result":{}}', '{"jsonrpc":"2.0","error":{"code":1,"message":"?"}}'],
    "noise": ["listening on port 3000", "{", "}", "[]", "1", "null", '"', "", " ", "\t"],
    "binary noise": [b"\x00" * 64, bytes(b for b in range(256) if b not in b"\r\n"), b"\x89PNG\x1a"],
    "deep nesting": [DEEP],
    "notifications of no kind": ['{"jsonrpc":"2.0","method":"notifications/nothing"}', '{"jsonrpc":"2.0","method":""}', '{"jsonrpc":"2.0","method":"tools/call","params":{}}'],
    "progress of nobody": [
        f'{{"jsonrpc":"2.0","method":"notifications/progress","params":{{"progressToken":{token},"progress":1}}}}'
        for token in ("1", '"1"', "65536", "null", "{}", "987654321987654321987654321", "1.5")
    ],
    "malformed notifications": [
        f'{{"jsonrpc":"2.0","method":"notifications/{name}","params":{params}}}'
        for name in ("progress", "message", "cancelled", "resources/updated", "tools/list_changed", "subscriptions/acknowledged")
        for params in ("{}", "[]", "null", "1", '{"_meta":1}', '{"progressToken":{},"requestId":[],"uri":7,"level":1}')
    ],
}

# Answers that cannot be used, and words of what is said about them. Nothing comes after them.
UNUSABLE = {
    "too many values": (say(lambda q: q.reply(result={"content": [], "x": [0] * MOST_VALUES}), last=False), ["more than 2,097,152 values", f"at most {MOST_VALUES} values"]),
    "many values, the id last": (say(lambda q: f'{{"result":{{"x":[{"0," * MOST_VALUES}0]}},"jsonrpc":"2.0","id":{q.id}}}', last=False), ["more than 2,097,152 values"]),
    "nested too deep": (say(lambda q: q.reply(result='{"x":' + "[" * 70 + "]" * 70 + "}"), last=False), ["nested too deep", "nested 64 deep"]),
    "deep, the id last": (say(lambda q: f'{{"result":{{"x":{"[" * 1000}{"]" * 1000}}},"jsonrpc":"2.0","id":{q.id}}}', last=False), ["nested too deep"]),
    "a Latin-1 byte": (say(lambda q: to_bytes(q.good()).replace(b'"content"', b'"caf\xe9":1,"content"'), last=False), ["not UTF-8"]),
    "result and error": (say(lambda q: q.reply(result=FORGED, error={"code": 1, "message": "?"}), last=False), ["result and error"]),
    "a result that is null": (say(lambda q: q.reply(result="null"), last=False), ['"result"', "object"]),
    "a result that is text": (say(lambda q: q.reply(result='"done"'), last=False), ['"result"', "object"]),
    "neither result nor error": (say(lambda q: q.reply(), last=False), ["neither method nor result nor error"]),
    "an error that is text": (say(lambda q: q.reply(error='"oops"'), last=False), ['"error"', "object"]),
    "an error without a code": (say(lambda q: q.reply(error={"message": "x"}), last=False), ["integer code"]),
    "an error with a code beyond 64 bits": (say(lambda q: q.reply(error={"code": 2 ** 63, "message": "x"}), last=False), ["64 bits"]),
    "an error without a message": (say(lambda q: q.reply(error={"code": 1}), last=False), ["no message"]),
    "its id twice": (say(lambda q: f'{{"jsonrpc":"2.0","id":{q.id},"id":{q.id},"result":{dump(FORGED)}}}', last=False), ["twice"]),
    "its id as a string": (say(with_id(lambda raw: f'"{raw}"'), last=False), ["string"]),
    "its id as a real number": (say(with_id(lambda raw: f"{raw}.0"), last=False), ["neither a string nor an integer"]),
    "another version of JSON-RPC": (say(lambda q: f'{{"jsonrpc":"1.0","id":{q.id},"result":{dump(FORGED)}}}', last=False), ['"jsonrpc"']),
    "no version of JSON-RPC": (say(lambda q: f'{{"id":{q.id},"result":{dump(FORGED)}}}', last=False), ['"jsonrpc"']),
    "a batch": (say(lambda q: f"[{q.reply(result=FORGED)}]", last=False), ["batch"]),
    "a batch of several": (say(lambda q: f'[{{"jsonrpc":"2.0","method":"notifications/x"}},{q.reply(result=FORGED)}]', last=False), ["batch"]),
    "not a number": (say(lambda q: f'{{"result":{{"content":[],"x":NaN}},"jsonrpc":"2.0","id":{q.id}}}', last=False), ["value was expected"]),
    "a byte order mark": (say(lambda q: b"\xef\xbb\xbf" + to_bytes(q.good()), last=False), ["byte order mark"]),
    "half of it": (say(lambda q: q.good()[: len(q.good()) // 2], last=False), ["expected"]),
}

# Answers that cannot be used, to other requests than this: the right one comes after them.
FORGED_ANSWERS = {
    "null for nobody": say(lambda q: q.reply(raw_id="987654321", result="null")),
    "a text for an id": say(lambda q: q.reply(raw_id='"x"', result="null")),
    "its id in the result": say(lambda q: q.reply(raw_id="987654321", result=f'[{{"id":{q.id}}}]')),
    "its id in a text": say(lambda q: q.reply(raw_id="987654321", result=dump(f'","id":{q.id}}}'))),
    "a question": say(lambda q: f'{{"jsonrpc":"2.0","id":{q.id},"method":"ping","params":7}}'),
}

MISDEEDS = {
    "answers twice": lambda q: (q.say(q.good()), q.say(q.good()), q.end()),
    "answers, then says something else": lambda q: (q.say(q.good()), q.say(q.reply(result=FORGED)), q.end()),
    "answers, then with an error": lambda q: (q.say(q.good()), q.say(q.reply(error={"code": 1, "message": "?"})), q.end()),
    "byte by byte": byte_by_byte,
    "dies": lambda q: q.server.die(),
    "dies in the middle of a message": part_then_cut,
    "silent": lambda q: None,
    **{name: say(*messages) for name, messages in NOT_ANSWERS.items()},
    **{name: misdeed for name, (misdeed, _) in UNUSABLE.items()},
}
