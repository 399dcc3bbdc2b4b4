#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""Definitions of tools, resources, templates and prompts in every shape, and in which revisions each may be listed:
by the official JSON schemas, and by what the official SDKs demand beyond them.

    shapes.py       print all as JSON lines: {"kind", "definition" (a text), "valid": [revision…], "without": […]}
"""

import copy
import json
import random
import re
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent / "support"))
import mcp_schema  # noqa: E402

REVISIONS = ("2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25", "2026-07-28")
LEGACY, MODERN = REVISIONS[:-1], REVISIONS[-1]

RESULTS = {"tools": "ListToolsResult", "resources": "ListResourcesResult", "prompts": "ListPromptsResult",
           "templates": "ListResourceTemplatesResult"}
MEMBERS = {"tools": "tools", "resources": "resources", "prompts": "prompts", "templates": "resourceTemplates"}

ICON = {"src": "data:,", "mimeType": "image/png", "sizes": ["48x48", "any"], "theme": "dark"}
SCHEMA = {
    "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object",
    "properties": {"zone": {"type": "string"}, "": {}}, "required": ["zone"], "additionalProperties": False,
}
ANNOTATIONS = {"audience": ["user", "assistant"], "priority": 0.5, "lastModified": "2026-07-28T12:00:00Z"}
FULL = {
    "tools": {
        "name": "a", "title": "A", "description": "d", "inputSchema": SCHEMA, "outputSchema": SCHEMA,
        "annotations": {"title": "A", "readOnlyHint": True, "destructiveHint": False, "idempotentHint": True,
                        "openWorldHint": False},
        "icons": [ICON, {"src": "data:,"}], "execution": {"taskSupport": "optional"}, "_meta": {"a": 1}, "more": 1,
    },
    "resources": {"uri": "x:a", "name": "a", "title": "A", "description": "d", "mimeType": "text/plain", "size": 7,
                  "annotations": ANNOTATIONS, "icons": [ICON], "_meta": {"a": None}, "more": None},
    "templates": {"uriTemplate": "x:{a}", "name": "a", "title": "A", "description": "d", "mimeType": "text/plain",
                  "annotations": ANNOTATIONS, "icons": [ICON], "_meta": {}, "size": "any"},
    "prompts": {"name": "a", "title": "A", "description": "d", "icons": [ICON], "_meta": {},
                "arguments": [{"name": "b", "title": "B", "description": "d", "required": True}, {"name": "c"}]},
}
FULL = json.loads(json.dumps(FULL))  # no part of one is a part of another
MINIMAL = {
    "tools": {"name": "a", "inputSchema": {"type": "object"}},
    "resources": {"uri": "x:a", "name": "a"},
    "templates": {"uriTemplate": "x:{a}", "name": "a"},
    "prompts": {"name": "a"},
}


class Number(float):
    """A number with a spelling of its own."""

    def __new__(cls, text):
        number = super().__new__(cls, float(text))
        number.text = text
        return number

    def __deepcopy__(self, memo):
        return self


def spelled(value):
    """A copy with numbers that have a spelling as texts that dumps() knows."""
    if isinstance(value, Number):
        return f"\u0001{value.text}\u0001"
    if isinstance(value, dict):
        return {key: spelled(inner) for key, inner in value.items()}
    return [spelled(inner) for inner in value] if isinstance(value, list) else value


def dumps(value, **kwargs):
    return re.sub(r'"\\u0001([^"]*)\\u0001"', r"\1", json.dumps(spelled(value), **kwargs))


HUGE = 10 ** 400  # an integer by JSON Schema; to JavaScript, infinity
VALUES = (
    None, True, False, 0, 1, -1, 2, 0.5, 1.5, Number("1.0"), Number("1e2"), Number("-0"), Number("1e400"),
    Number("1e-400"), Number("1.0000000000000000000001"), 2 ** 60, HUGE, "", "x", "object", "OBJECT", "user", "light",
    "forbidden", "required", [], [None], [5], ["x"], ["user"], ["nobody"], ["x", 5], [[]], [{}], [True],
    [{"name": "x"}], [{"name": 5}], [{"src": "x"}], [{"src": None}], {}, {"a": 5}, {"a": True}, {"a": None},
    {"a": {}}, {"a": []}, {"a": {}, "b": "x"}, {"type": "object"}, {"type": "array"}, {"type": ["object"]},
    {"type": "object", "properties": None}, {"type": None}, {"$ref": "#/$defs/a", "$defs": {"a": {"type": "object"}}},
    {"anyOf": [{"type": "object"}, {"type": "null"}]}, {"taskSupport": None}, {"name": "x"},
)
TIMES = (
    "2026-07-28", "2026-07-28T12:00:00", "2026-07-28T12:00:00z", "2026-07-28t12:00:00Z", "2026-07-28 12:00:00Z",
    "2026-07-28T12:00Z", "2026-07-28T12:00:00.5Z", "2026-07-28T12:00:00.Z", "2026-07-28T12:00:00.123456789Z",
    "2026-07-28T12:00:00+02:00", "2026-07-28T12:00:00-23:59", "2026-07-28T12:00:00+24:00", "2026-07-28T12:00:00+0200",
    "2026-07-28T12:00:00+02", "2026-07-28T24:00:00Z", "2026-07-28T23:60:00Z", "2026-07-28T23:59:60Z",
    "2024-02-29T00:00:00Z", "2023-02-29T00:00:00Z", "2000-02-29T00:00:00Z", "1900-02-29T00:00:00Z",
    "2026-04-31T00:00:00Z", "2026-04-30T00:00:00Z", "2026-13-01T00:00:00Z", "2026-00-01T00:00:00Z",
    "2026-01-00T00:00:00Z", "2026-01-32T00:00:00Z", "0000-02-29T00:00:00Z", "0001-01-01T00:00:00Z",
    "12026-07-28T12:00:00Z", " 2026-07-28T12:00:00Z", "2026-07-28T12:00:00Z ", "2026-07-28T12:00:00Z\n",
    "2026-07-28T12:00:00ZZ", "2026-07-28T12:00:00", "2026-07-28T12:00:00Z\u0000", "\u0662026-07-28T12:00:00Z",
    "2026-07-28T12:00:00." + "1" * 500 + "Z",
)
# Expressions that JavaScript compiles with its flag `u`, and some that it does not.
PATTERNS = {
    **dict.fromkeys((
        "", "a", "^[a-z]+$", r"\d{4}-\d\d", r"[\w-]", r"[\-\]]", r"a|b|", "(a)(?:b)(?=c)(?!d)(?<=e)(?<!f)", "(?<year>a)",
        r"(a)\1", r"\1(a)", "a*?b+?c??d{2}?e{2,}f{2,3}", "a{0}", r"\x41\u0041\u{1F600}\cA\0", r"\p{L}\P{Nd}[\p{Lu}]",
        r"\/\.\*\[\]\{\}\(\)\^\$\|\\\+\?", "[]", "[^]", "[a-]", "[-a]", "[^-]", "[.*+?{}()|^$/]", "[\U0001f600-\U0001f601]",
        r"\b\B", r"[\b]", "\u00e9+", "^", "(?:)*", ".", "((((a))))", "a,b", "[[:alpha:]", "\"", "{0}a"[3:], r"[\x00-\x1f]", r"\n\t\r\f\v",
    ), True),
    **dict.fromkeys((
        "[", "]", "(", ")", "{", "}", "*", "+", "?", "a**", "a{2,1}", "a{", "a{x}", "a{,3}", "a{1", r"\-", r"[\w-.]", r"[a-\d]",
        "[b-a]", r"\a", r"\_", r"\ ", r"\8", r"\2(a)", r"\00", r"\x4", r"\u004", r"\u{110000}", r"\u{}", r"\c1", r"\p", r"\p{Nope}",
        "(?i)a", "(?<1>a)", "(?<a>a)(?<a>b)", "(?", "(?<", "(?<a", "(?P<a>b)", "^*", "$+", r"\b?", "(?=a)*", "(?<=a)?", "a|*", "(*)",
        "\\", "[\\", "(?#a)", "(?>a)", "a++", r"\A", r"\z", r"[\B]", r"[\1]", "[", "[a", "(a))", "(a", "{1}",
    ), False),
}
# What an outputSchema may hold besides "type": "object", so that Ajv, as the SDK 1.x has it, compiles it; and what not.
OUTPUTS = {
    True: (
        {}, {"$schema": "http://json-schema.org/draft-04/schema#"}, {"$schema": "urn:x"}, {"$id": "http://example.com/x"}, {"$id": "x.json"}, {"unknown": 5},
        {"properties": {"a": {"type": ["string", "null"]}, "b": {"nullable": True, "type": "string"}}},
        {"properties": {"type": {"type": "string"}, "id": {"type": "string"}, "$ref": {}, "pattern": {}, "enum": {}}},
        {"properties": {"a": {"format": "weird", "description": 5, "default": 5, "examples": 5, "$comment": 5}}},
        {"properties": {"a": {"items": [{"type": "string"}, True]}, "b": {"items": False, "uniqueItems": True}}},
        {"properties": {"a": {"$ref": "#"}, "b": {"$ref": "#/properties/a"}, "c": {"$ref": "#/$defs/x~1y~0z"}},
         "$defs": {"x/y~z": {"type": "string"}}},
        {"properties": {"a": {"$ref": "#/definitions/b"}}, "definitions": {"b": {"$ref": "#/definitions/c"}, "c": {}}},
        {"properties": {"next": {"$ref": "#/$defs/a"}}, "$defs": {"a": {"properties": {"next": {"$ref": "#/$defs/a"}}}}},
        {"properties": {"a": {"minimum": -1, "maximum": 1.5, "exclusiveMinimum": 0, "multipleOf": 0.1, "minLength": 1}}},
        {"additionalProperties": False}, {"additionalProperties": {"type": "string"}}, {"propertyNames": {"pattern": "^a"}},
        {"anyOf": [{"type": "object"}, True]}, {"allOf": []}, {"oneOf": [{"not": {}}]}, {"if": {}, "then": {}, "else": False},
        {"dependencies": {"a": ["b"], "c": {"type": "object"}}}, {"patternProperties": {"^x-": {}}},
        {"dependentRequired": 5, "prefixItems": 5, "unevaluatedProperties": 5},
        {"const": None, "enum": [None]}, {"minProperties": 1, "maxProperties": 2},
    ),
    False: (
        {"properties": {"a": {"type": "foo"}}}, {"properties": {"a": {"type": ["string", "any"]}}},
        {"properties": {"a": {"type": None}}}, {"properties": {"a": {"type": {}}}}, {"properties": {"a": {"nullable": True}}},
        {"properties": {"a": {"minimum": "5"}}}, {"properties": {"a": {"exclusiveMinimum": True}}},
        {"properties": {"a": {"required": True}}}, {"properties": {"a": {"enum": []}}}, {"properties": {"a": {"enum": {}}}},
        {"properties": {"a": {"format": 5}}}, {"properties": {"a": {"format": None}}}, {"properties": {"a": {"id": "x"}}},
        {"properties": {"a": {"items": 5}}}, {"properties": {"a": {"not": 5}}}, {"properties": {"a": {"pattern": 5}}},
        {"properties": {"a": {"$ref": "#/nope"}}}, {"properties": {"a": {"$ref": "http://example.com/x"}}},
        {"properties": {"a": {"$ref": 5}}}, {"properties": {"a": {"$ref": "#/properties/a/"}}},
        {"properties": {"a": {"anyOf": {}}}}, {"properties": {"a": {"properties": []}}},
        {"additionalProperties": 5}, {"additionalProperties": None}, {"minProperties": "1"}, {"if": 5, "then": 5},
        {"properties": {"a": {"$ref": "#/$defs/b"}}, "$defs": {"b": {"$ref": "#/$defs/c"}, "c": {"$ref": "#/$defs/b"}}},
        {"$id": 5}, {"$id": "urn:x"}, {"patternProperties": {"[": {}}}, {"items": [{"type": "foo"}]}, {"allOf": [{"type": "foo"}]},
        {"dependencies": {"a": {"type": "foo"}}}, {"not": {"type": "foo"}}, {"additionalProperties": {"type": "foo"}},
    ),
}
# What a resource may be called, so that the SDK 1.x for Python (pydantic's AnyUrl) reads the list; and what not.
URIS = {
    **dict.fromkeys((
        "x:", "x:a", "X+1.-:a", "mailto:a b", "x:/a", "x://", "x:///a", "memo://insights", "note://a%20b", "note://{id}/<b> [c]", "x://h:0", "x://h:65535/a",
        "x://h:?q", "x://u:p@h/a@b", "x://a:b@c@d", "x://[::1]:80/a", "x://*_!'\"`~", "x:///:/", "urn:a:b", "file:a", "file:/a b", "file:///a b.txt",
        "file:///\u00e9", "file://host/a", "file://C:/a", "file:///C:/a", "file://c|", "FILE:\\\\a\\b", "http://a", "http:a", "HTTPS://a.b:443/?#", "http:///a",
        "http://127.0.0.1./", "http://[2001:db8::1.2.3.4]?", "http://u@a\\b", "ws:\\a", "http://\u00e9.example/", "http://a1/", "http://1a/", "x://\U0001f600",
        "x://256.1.1.1", "patchbay:git/file:///README.md", "ui://patchbay.a/b", "data:,",
    ), True),
    **dict.fromkeys((
        "", "a", "notes/a.md", "/etc/hosts", "./a", "//host/a", "?q", "#f", ":a", "1x:a", "-x:a", "x_y:a", "\u00e9:a", "my note", "C",
        "note://my note", "note://a<b", "note://a>", "note://a^b", "note://a|b", "note://a\\b", "note://[a]", "note://a]", "note://a[b]", "x://user:name", "x://12:30:00",
        "x://h:65536", "x://:80", "x://u@/a", "x://[::1", "x://[::1]a", "x://[]", "x://[1.2.3.4]", "http:", "http://", "http://?q", "http://:80/", "http://u@/",
        "http://a b/", "http://a:b/", "http://a:70000", "http://[::g]/", "http://a%/", "http://a^b", "http://a\u007f", "http://256.1.1.1/", "http://1.2.3.4.5/", "http://a.1/",
        "file://a:80/b", "file://a@b/", "file://a b/c", "file://[a]/", "file://ab|/c",
    ), False),
}
SCHEME = re.compile(r"[A-Za-z][A-Za-z0-9+.-]*:")
DIGITS = re.compile(r"[0-9]+")
PAIRS = 4000  # definitions with two changes, chosen with a fixed seed

# zod's iso.datetime({offset: true}), which both SDKs demand of lastModified.
TIME = re.compile(
    r"(?:(?:\d\d[2468][048]|\d\d[13579][26]|\d\d0[48]|[02468][048]00|[13579][26]00)-02-29"
    r"|\d{4}-(?:(?:0[13578]|1[02])-(?:0[1-9]|[12]\d|3[01])|(?:0[469]|11)-(?:0[1-9]|[12]\d|30)"
    r"|02-(?:0[1-9]|1\d|2[0-8])))"
    r"T(?:[01]\d|2[0-3]):[0-5]\d:[0-5]\d(?:\.\d+)?(?:Z|[+-](?:[01]\d|2[0-3]):[0-5]\d)", re.ASCII)


TYPES = ("string", "number", "integer", "object", "array", "boolean", "null")
NUMBERS = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum", "multipleOf", "minLength", "maxLength", "minItems",
           "maxItems", "minProperties", "maxProperties")
SCHEMAS = ("additionalProperties", "not", "contains", "additionalItems", "propertyNames", "if", "then", "else")
MAPS = ("properties", "$defs", "definitions", "patternProperties", "dependencies")


def is_operand(key, value, schema, root):
    """Whether Ajv takes it for the value of a keyword."""
    if key == "type":
        return all(isinstance(name, str) and name in TYPES for name in (value if isinstance(value, list) else [value]))
    if key in NUMBERS:
        return isinstance(value, (int, float)) and not isinstance(value, bool)
    if key in SCHEMAS:
        return compiles(value, root)
    if key in MAPS:
        lists = key == "dependencies"
        return isinstance(value, dict) and all(
            (lists and isinstance(inner, list) or compiles(inner, root))
            and (key != "patternProperties" or PATTERNS.get(name, True)) for name, inner in value.items())
    if key in ("anyOf", "allOf", "oneOf", "items"):
        whole = key == "items" and not isinstance(value, list)
        return compiles(value, root) if whole else isinstance(value, list) and all(compiles(v, root) for v in value)
    if key in ("required", "enum"):
        return isinstance(value, list) and (key == "required" or value != [])
    if key in ("format", "pattern"):
        return isinstance(value, str) and (key == "format" or PATTERNS.get(value, True))
    if key == "$ref":
        return isinstance(value, str) and is_reference(value, root)
    if key == "uniqueItems":
        return isinstance(value, bool)
    if key == "nullable":
        return value is True and "type" in schema
    if key == "$id":
        return isinstance(value, str) and schema is root and (":" not in value or value.startswith(("http://", "https://")))
    return key != "id"


def is_reference(text, root, hops=16):
    if hops == 0 or text[:1] != "#" or text[1:2] not in ("", "/"):
        return False
    found = root
    for part in text.split("/")[1:]:
        part = part.replace("~1", "/").replace("~0", "~")
        if not isinstance(found, dict) or part not in found:
            return False
        found = found[part]
    if isinstance(found, dict) and isinstance(found.get("$ref"), str):
        return is_reference(found["$ref"], root, hops - 1)
    return isinstance(found, (bool, dict))


def compiles(schema, root):
    """Whether the SDK 1.x can make a validator of an outputSchema: of the default Ajv, without a check of the schema."""
    if isinstance(schema, bool):
        return True
    return isinstance(schema, dict) and all(is_operand(key, value, schema, root) for key, value in schema.items())


known_by_schema = {}  # by revision, kind and the definition as a text; the same is asked for each legacy revision


def by_schema(revision, kind, definition):
    """Whether a list with this definition is valid."""
    key = revision, kind, repr(definition)
    if key not in known_by_schema:
        if len(known_by_schema) >= 100:
            known_by_schema.clear()
        known_by_schema[key] = is_valid_list(revision, kind, definition)
    return known_by_schema[key]


def is_valid_list(revision, kind, definition):
    result = {MEMBERS[kind]: [definition]}
    if revision == MODERN:
        result |= {"resultType": "complete", "ttlMs": 0, "cacheScope": "private"}
    return mcp_schema.is_valid(revision, RESULTS[kind], result)


def is_beyond(value):
    """Whether a number in a value is too large for a double."""
    if isinstance(value, (dict, list)):
        return any(map(is_beyond, value.values() if isinstance(value, dict) else value))
    return isinstance(value, (int, float)) and abs(value) >= 2 ** 1024


def is_size(value):
    """Whether the SDKs for Go and Rust read it: a whole number below 2^63 without a sign, a fraction or an exponent."""
    text = getattr(value, "text", None) or str(value)
    return not isinstance(value, bool) and DIGITS.fullmatch(text) is not None and int(text) < 2 ** 63


def is_uri(value):
    return isinstance(value, str) and URIS.get(value, SCHEME.match(value) is not None)


def by_sdks(revision, kind, definition):
    """Whether the official SDKs keep a list with this definition, whatever the schema of the revision says."""
    if not isinstance(definition, dict):
        return False
    if kind == "resources" and not (is_uri(definition.get("uri")) and is_size(definition.get("size", 0))):
        return False
    annotations = definition.get("annotations")
    if kind in ("resources", "templates") and isinstance(annotations, dict) and "lastModified" in annotations:
        if not isinstance(annotations["lastModified"], str) or not TIME.fullmatch(annotations["lastModified"]):
            return False
    if is_beyond(definition):
        return False  # a double is infinite there, which is no number to them
    if revision == MODERN:
        # The SDK for Python still knows what is not in the revision any more.
        execution = {"execution": definition["execution"]} if kind == "tools" and "execution" in definition else {}
        return by_schema("2025-11-25", kind, {**MINIMAL[kind], **execution})
    # The SDKs hold all legacy revisions to one schema, that of 2025-11-25.
    output = definition.get("outputSchema", {}) if kind == "tools" else {}
    return by_schema("2025-11-25", kind, definition) and compiles(output, output)


def revisions(kind, definition):
    """Revisions in which it may be listed."""
    return [r for r in REVISIONS if by_sdks(r, kind, definition) and by_schema(r, kind, definition)]


def without_output(kind, definition, valid):
    """Revisions in which it may be listed when outputSchema is left out."""
    if not valid or kind != "tools":
        return valid
    rest = {key: value for key, value in definition.items() if key != "outputSchema"}
    return revisions(kind, rest) if len(rest) < len(definition) else valid


def paths(value):
    """The places of all that is in a value, itself not among them."""
    items = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in items:
        yield (key,)
        for path in paths(inner):
            yield (key, *path)


def changed(definition, path, value=...):
    """A copy with another value at a place, or without it."""
    result = copy.deepcopy(definition)
    inner = result
    for step in path[:-1]:
        inner = inner[step]
    if value is ...:
        del inner[path[-1]]
    else:
        inner[path[-1]] = value
    return result


def changes(definition):
    """Each member without, and with each value."""
    for path in paths(definition):
        yield path, ...
        for value in VALUES + (TIMES if path[-1] == "lastModified" else ()):
            yield path, value


def shapes(kind):
    """(path, definition): each with the place that was changed, if it was one."""
    full, minimal = FULL[kind], MINIMAL[kind]
    yield (), full
    yield (), minimal
    for value in VALUES:
        if not isinstance(value, dict):
            yield (), value
    if kind == "tools":
        inner = [({"type": "object", **more}, right) for right, schemas in OUTPUTS.items() for more in schemas]
        inner += [({"type": "object", "properties": {"a": {"pattern": text}}}, right) for text, right in PATTERNS.items()]
        for schema, right in inner:
            definition = {**minimal, "outputSchema": schema}
            assert (LEGACY[-1] in revisions(kind, definition)) == right, definition
            yield (), definition
    if kind == "resources":
        for text, right in URIS.items():
            definition = {**minimal, "uri": text}
            assert bool(revisions(kind, definition)) == right, definition
            yield ("uri",), definition
        for size in (2 ** 63 - 1, 2 ** 63, -(2 ** 63), Number("-0.0"), Number("7E0")):
            yield ("size",), {**minimal, "size": size}
    known = list(changes(full))
    for path, value in known:
        yield path, changed(full, path, value)
    for key in full:
        for value in VALUES:
            yield (key,), {**minimal, key: value}
            yield (key,), {key: value, **minimal} if key not in minimal else {**minimal, key: value}
    rng = random.Random(7)
    for _ in range(PAIRS):
        definition = full
        for path, value in rng.sample(known, 2):
            try:
                definition = changed(definition, path, value)
            except (KeyError, IndexError, TypeError):
                pass  # the first change took the place away
        yield (), definition


def main():
    for kind in RESULTS:
        for _, definition in shapes(kind):
            valid = revisions(kind, definition)
            print(json.dumps({"kind": kind, "definition": dumps(definition), "valid": valid,
                              "without": without_output(kind, definition, valid)}))


if __name__ == "__main__":
    main()
