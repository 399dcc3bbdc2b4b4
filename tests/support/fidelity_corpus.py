# SPDX-License-Identifier: Apache-2.0
"""JSON text that no parser and printer would give back, made from a seed: the same seed, the same bytes.

A Corpus makes objects around members that a message must have. Everywhere else are unknown members,
at every level: numbers as nobody prints them, characters of every Unicode plane as they are or as
escapes, surrogates alone, names that are empty or occur twice, space where JSON allows it.
"""

import json
import math
import random
import re

# How deep a message may be (core/base/limits.h, HUB_LIMIT_JSON_DEPTH): its own object counts.
DEPTH_LIMIT = 64

NUMBERS = [
    *("0", "-0", "-0.0", "0.0", "0e0", "-0E-0", "1.0", "1.10", "100", "1e2", "1E+2", "1E2", "1e-7", "0.1e-7", "0.1e1"),
    *("1e400", "-1e400", "1e-400", "123456789e-999999999999", "4.9406564584124654e-324", "2.4703282292062327e-324"),
    *("12345678901234567890", "-98765432109876543210", "18446744073709551616", "-9223372036854775809", "9007199254740993"),
    *("3.141592653589793238462643383279", "0." + "0" * 40 + "1", "1" + "0" * 40, "9" * 400, "0.30000000000000004000"),
]
LITERALS = ["null", "true", "false", "{}", "[]", '""']
STRINGS = [
    *('"\\u0000"', '"\\u0000\\u0000"', '"a\\u0000b"', '"\\u001f\\u007f"', '"\x7f"', '"\\b\\f\\n\\r\\t"', '"\\\\"', '"\\""'),
    *('"\\/"', '"/"', '"<\\/script>"', '"\\u002f"', '"\\u0041"', '"\\u00e9"', '"é"', '"e\u0301"', '"\\u0022"', '"\\u005c"'),
    *('"\\uD83D\\uDE00"', '"\\ud83d\\ude00"', '"\\uD83d\\uDe00"', '"\U0001f600"', '"\\uDBFF\\uDFFF"', '"\U0010ffff"'),
    *('"\\ud83d"', '"\\uDC00"', '"\\udc00\\ud800"', '"\\ud800\\ud800\\udc00"', '"\\ud83d\U0001f600"', '"\\uDFFFx\\uD800"'),
    *('"\u2028\u2029\x85"', '"\\u2028\\u2029"', '"\ufeff"', '"\\ufeff"', '"\uffff\ufffe"', '"\\uFFFF"', '"\ufdd0"'),
    *('"{\\"a\\":1}"', '"\\\\u0041"', '"data: x"', '"\\r\\n\\r\\n"', '"%00%s%n"', '"]]>"', '"1e400"', '"null"', '"  "'),
]
KEYS = [
    *('""', '"\\u0000"', '"a"', '"\\u0061"', '"b c"', '"\\/"', '"__proto__"', '"constructor"', '"\\ud800"', '"é"', '"e\u0301"'),
    *('"\U0001f600"', '"\\uD83D\\uDE00"', '"$ref"', '"x"', '"jsonrpc"', '"id"', '"result"', '"params"', '"nextCursor"', '"toString"'),
]
PLANES = 17


class Corpus:
    """`breaks`: the line breaks that may stand between tokens, beside other space; as many as the sender's transport
    carries."""

    def __init__(self, seed, breaks=()):
        self.seed = seed
        self.random = random.Random(f"fidelity {seed}")
        self.spaces = [" ", "\t", "  ", " \t ", *breaks]

    # -- values -----------------------------------------------------------------------------------

    def space(self):
        rng = self.random
        return rng.choice(self.spaces) if rng.random() < 0.15 else ""

    def number(self):
        rng = self.random
        if rng.random() < 0.5:
            return rng.choice(NUMBERS)
        text = rng.choice(["", "-"]) + str(rng.randrange(10 ** rng.randrange(1, 30)))
        if rng.random() < 0.5:
            text += "." + "".join(rng.choice("0123456789") for _ in range(rng.randrange(1, 25))) + rng.choice(["", "0", "000"])
        if rng.random() < 0.5:
            text += rng.choice("eE") + rng.choice(["", "+", "-"]) + rng.choice(["0", "00", "7", "007", "400", "99999999999"])
        return text

    def character(self):
        """One character, of any plane with the same probability, as it is or as escapes."""
        rng = self.random
        code = (rng.randrange(PLANES) << 16) + rng.randrange(0x10000)
        if rng.random() < 0.4:
            code = rng.randrange(0x180)
        written = rng.choice(["raw", "raw", "lower", "upper"])
        if code in (0x22, 0x5C) and written == "raw":
            return "\\" + chr(code)
        if 0xD800 <= code < 0xE000 or code < 0x20 or written != "raw":
            form = "\\u%04x" if written == "lower" else "\\u%04X"
            if code < 0x10000:
                return form % code
            code -= 0x10000
            return form % (0xD800 + (code >> 10)) + form % (0xDC00 + (code & 0x3FF))
        return chr(code)

    def string(self, longest=10):
        rng = self.random
        if rng.random() < 0.4:
            return rng.choice(STRINGS)
        return '"' + "".join(self.character() for _ in range(rng.randrange(longest))) + '"'

    def key(self):
        return self.random.choice(KEYS) if self.random.random() < 0.7 else self.string(4)

    def value(self, depth=0):
        rng = self.random
        kind = rng.randrange(8 if depth < 4 else 6)
        if kind < 2:
            return self.number()
        if kind < 4:
            return self.string()
        if kind == 4:
            return rng.choice(LITERALS)
        if kind == 5:
            return rng.choice(["{%s}", "[%s]"]) % self.space()
        if kind == 6:
            items = [self.space() + self.value(depth + 1) + self.space() for _ in range(rng.randrange(4))]
            return "[" + ",".join(items) + "]"
        return self.wrap([(self.key(), self.value(depth + 1)) for _ in range(rng.randrange(4))])

    def deep(self, levels):
        """A value of exactly so many containers within one another."""
        rng = self.random
        ends = [rng.choice([("[", "]"), ('{"":', "}"), ('{"a":1,"a":[{}],"z":', "}")]) for _ in range(levels - 2)]
        return "".join(a for a, _ in ends) + "[[]]" + "".join(b for _, b in reversed(ends))

    # -- objects ----------------------------------------------------------------------------------

    def wrap(self, members):
        """An object of raw keys and values, in this order, with space between the tokens."""
        space = self.space
        return "{" + ",".join(f"{space()}{k}{space()}:{space()}{v}{space()}" for k, v in members) + (space() if members else "") + "}"

    def unknown(self, most=3):
        """Members that no revision of the protocol knows, with names that may repeat."""
        rng = self.random
        members = [(self.key(), self.value()) for _ in range(rng.randrange(most + 1))]
        if members and rng.random() < 0.3:
            members.append((rng.choice(members)[0], self.value()))
        return members

    def object(self, *known, least=0, reserved=()):
        """An object with these members (raw keys and values) in this order, among unknown ones, `least` at least.
        `reserved`: names that only a known member may have, as they are decoded."""
        members = list(known)
        unknown = [m for m in self.unknown() if name_of(m[0]) not in reserved]
        while len(unknown) < least:
            unknown += [m for m in self.unknown() if name_of(m[0]) not in reserved]
        for member in unknown:
            members.insert(self.random.randrange(len(members) + 1), member)
        return self.wrap(members)

    def spelled(self, name):
        """A string, or a name, with some of its letters as escapes."""
        rng = self.random
        if rng.random() < 0.7:
            return f'"{name}"'
        return '"' + "".join(f"\\u{ord(c):04x}" if rng.random() < 0.2 else c for c in name) + '"'


# Of a surrogate pair, as escapes, the half that has no other one.
HALF = re.compile(r"\\u[dD][89abAB]..(?!\\u[dD][c-fC-F]..)|(?<!\\u[dD][89abAB]..)\\u[dD][c-fC-F]..")


TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|-?[0-9]+(?:\.[0-9]+)?(?:[eE][+-]?[0-9]+)?')


def readable_token(match):
    token = match[0]
    if token[0] == '"':
        return HALF.sub(r"\\ufffd", token)
    return "1.10E+300" if math.isinf(float(token)) else token


def readable(text):
    """The text without halves of surrogate pairs and infinite numbers: a definition that has one is left out."""
    return TOKEN.sub(readable_token, text)


def name_of(raw_key):
    """The name that a raw key is the spelling of."""
    return json.loads(raw_key)
