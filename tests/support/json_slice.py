# SPDX-License-Identifier: Apache-2.0
"""Find members of JSON text without changing a byte of it.

Parsing and printing again would rewrite numbers, escapes and the order of members; a test of byte
fidelity compares slices of the original text instead.
"""

import json
from json.decoder import scanstring

_SPACE = " \t\n\r"
_decoder = json.JSONDecoder(strict=True)


def _skip(text, at):
    while at < len(text) and text[at] in _SPACE:
        at += 1
    return at


def _end(text, at):
    return _decoder.raw_decode(text, at)[1]


def members(text, at=0):
    """Yield (key, start, end) for each member of the object that begins at `at`."""
    at = _skip(text, at)
    if text[at] != "{":
        raise ValueError("not an object")
    at = _skip(text, at + 1)
    while text[at] != "}":
        key, at = scanstring(text, at + 1, True)
        start = _skip(text, _skip(text, at) + 1)
        end = _end(text, start)
        yield key, start, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def elements(text, at=0):
    """Yield (start, end) for each element of the array that begins at `at`."""
    at = _skip(text, at)
    if text[at] != "[":
        raise ValueError("not an array")
    at = _skip(text, at + 1)
    while text[at] != "]":
        end = _end(text, at)
        yield at, end
        at = _skip(text, end)
        if text[at] == ",":
            at = _skip(text, at + 1)


def slice_at(text, *path):
    """The raw text of one value: object keys and array indexes lead to it. None if absent."""
    text = text.strip(_SPACE)
    for step in path:
        if isinstance(step, int):
            spans = list(elements(text))
            if step >= len(spans):
                return None
            start, end = spans[step]
        else:
            spans = [(s, e) for key, s, e in members(text) if key == step]
            if not spans:
                return None
            start, end = spans[-1]
        text = text[start:end]
    return text


def without(text, *keys):
    """The members of an object, but for `keys`, as a list of (key, raw value) in their order."""
    return [(key, text[s:e]) for key, s, e in members(text) if key not in keys]
