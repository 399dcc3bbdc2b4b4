# SPDX-License-Identifier: Apache-2.0
"""What messages carry: texts of each kind, made of files that this machine has, and tools with real schemas.

Everything is public text that a Debian package or Python ships, escaped as servers do (JSON.stringify, and what Rust and
Python's MCP servers use: only what JSON demands, other scripts as they are). Nothing of it is kept in the tree.
"""

import functools
import gettext
import importlib
import inspect
import json
import pathlib
import sysconfig

LICENSES = pathlib.Path("/usr/share/common-licenses")
LOCALES = pathlib.Path("/usr/share/locale")
LANGUAGES = ("ru", "ja", "zh_CN", "el", "ko", "uk", "ar", "de", "fr")
STDLIB = pathlib.Path(sysconfig.get_path("stdlib"))
MODULES = ("os", "shutil", "subprocess", "pathlib", "json", "logging", "socket", "ssl", "tarfile", "zipfile", "csv")
MORE_MODULES = ("asyncio", "argparse", "tempfile", "urllib.request", "http.client", "email.message", "threading", "random")


def texts_of(paths):
    for path in sorted(paths):
        try:
            yield path.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError):
            continue


def prose():
    """Licences: paragraphs of lines, so an escape about every 70 bytes."""
    found = list(texts_of(path for path in LICENSES.glob("*") if not path.is_symlink()))
    return "".join(found) or (STDLIB / "LICENSE.txt").read_text()


def code():
    """Sources of Python's library: line breaks, quotes, backslashes."""
    return "".join(texts_of(STDLIB.glob("*.py")))


def messages_of(catalog):
    try:
        with catalog.open("rb") as file:
            translated = gettext.GNUTranslations(file)._catalog  # no other way leads to all of them
    except (OSError, UnicodeDecodeError, ValueError):
        return []
    return [text for key, text in translated.items() if key and isinstance(text, str)]


def scripts():
    """What programs say in other languages: texts of two and three bytes a character, and of both."""
    found = []
    for language in LANGUAGES:
        for catalog in sorted((LOCALES / language / "LC_MESSAGES").glob("*.mo"))[:40]:
            found += messages_of(catalog)
    text = "\n".join(found)
    if len(text.encode()) < 1 << 16:
        raise LookupError(f"no message catalogs below {LOCALES}: texts in other scripts come from there")
    return text


def document():
    """JSON, as tools that fetch or query hand it on inside a string."""
    return json.dumps(tools(2000), ensure_ascii=False)


KINDS = {
    "letters": lambda: "abcdefghijklmnopqrstuvwxyz012345",
    "prose": prose,
    "code": code,
    "UTF-8": scripts,
    "JSON": document,
}


@functools.cache
def text_of(kind):
    return KINDS[kind]().encode("utf-8", "ignore").decode()


def escaped(kind, size):
    """The inside of a JSON string of that kind, of `size` bytes or a few less: whole characters and escapes."""
    text = text_of(kind)
    text *= 1 + size // len(text)
    low, high = 0, min(len(text), size)
    while low < high:  # the longest beginning that fits
        middle = (low + high + 1) // 2
        low, high = (middle, high) if len(quoted(text[:middle])) <= size else (low, middle - 1)
    return quoted(text[:low])


def quoted(text):
    return json.dumps(text, ensure_ascii=False)[1:-1].encode()


# ---- tools


def count_values(value):
    inside = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return 1 + sum(map(count_values, inside))


def property_of(parameter):
    default = parameter.default
    kind = {bool: "boolean", int: "integer", float: "number", list: "array", dict: "object"}.get(type(default), "string")
    found = {"type": kind, "description": f"The {parameter.name.replace('_', ' ')} to use"}
    if isinstance(default, (bool, int, str)):
        found["default"] = default
    return found


def tool_of(function, number):
    """A tool as a server would offer that function."""
    parameters = [
        one for one in inspect.signature(function).parameters.values()
        if one.name not in ("self", "cls") and one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)
    ][:6]
    return {
        "name": f"{function.__name__.strip('_').lower()[:40]}_{number}",
        "title": function.__qualname__,
        "description": inspect.getdoc(function)[:2400],
        "inputSchema": {
            "type": "object",
            "properties": {one.name: property_of(one) for one in parameters},
            "required": [one.name for one in parameters if one.default is one.empty],
            "additionalProperties": False,
        },
        "annotations": {"readOnlyHint": number % 3 == 0, "destructiveHint": number % 3 == 1, "openWorldHint": False},
    }


def functions():
    for name in MODULES + MORE_MODULES:
        module = importlib.import_module(name)
        for owner in [module, *(one for _, one in inspect.getmembers(module, inspect.isclass))]:
            for _, function in inspect.getmembers(owner, inspect.isroutine):
                yield function


@functools.cache
def samples():
    """Of all functions those that make tools of 20 to 40 values and 0.5 to 5 KB."""
    found = {}
    for function in functions():
        try:
            tool = tool_of(function, 0)
        except (TypeError, ValueError, AttributeError):  # no signature, or no documentation
            continue
        size = len(json.dumps(tool, ensure_ascii=False).encode())
        if 20 <= count_values(tool) <= 40 and 500 <= size <= 5000:
            found[tool["title"]] = function
    if not found:
        raise LookupError("no function of Python's library makes a tool")
    return [found[title] for title in sorted(found)]


def tools(count):
    known = samples()
    return [tool_of(known[number % len(known)], number) for number in range(count)]


def write(folder, name, content):
    """A file for the programs of the benchmark; its path."""
    path = pathlib.Path(folder) / name
    if not path.exists():
        path.write_bytes(content)
    return str(path)


def text_file(folder, kind, size):
    return write(folder, f"text-{kind}-{size}", escaped(kind, size))


def tools_file(folder, count):
    """Definitions of so many tools with a comma between, as they stand in a list. The last is the one that the load
    generator calls: it takes a text."""
    called = {"name": "tool_0", "inputSchema": {"type": "object", "properties": {"text": {"type": "string"}}}}
    text = json.dumps([*tools(count - 1), called], ensure_ascii=False, separators=(",", ":"))
    return write(folder, f"tools-{count}", text[1:-1].encode())
