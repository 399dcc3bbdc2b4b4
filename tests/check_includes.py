#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Who may include whom, and which functions nobody may call. Prints breaches as FILE:LINE: reason.

    code in           may include
    include/          stddef.h, stdint.h and include/; the two header-only helpers also libc
    core/<room>/      include/, its own room and the rooms below it, libc, and the libraries named below
    core/hub/kernel/  nothing else of core/hub: it knows no feature; and nobody else its objects.h
    *_internal.h      files of its own folder
    core/hub/<feature>/   of core/hub the kernel and other features, not what is made of them (MADE_OF_FEATURES)
    transports/       include/, core's hub/kernel/transport.h, hub/kernel/settings.h, identity/{identity,credentials,certificate}.h, issuers/issuers.h, hub/replicas/*.h, web/face.h, wire/ and base/, libc, libev, libwebsockets
    engines/          files of their own folder, core's base/ and state/, libc, libev, hiredis
    plugins/, examples/   include/ and files of their own folder: each must build against an installed SDK
    tests/            core/, include/ and their own

In core/ no more than LARGEST_CIRCLE units (a .c and a .h of one name) include each other in a circle, and no
features of core/hub do: what two need of each other is an entry of a station, or the kernel's.

The last line is "N passed, N failed", counting files.
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ["guard", "unpack", "base", "redact", "wire", "tools", "modules", "state", "identity", "issuers", "login", "search", "export", "hub", "config", "registry", "bundle", "web", "cli"]  # lowest first

# Headers of libraries, and where they may appear. A number bounds how many files of a folder may.
LIBRARIES = {
    r"jansson\.h": {"core/identity": None, "tests": None},
    r"yaml\.h": {"core/config": 1},
    r"pcre2\.h": {"core/tools": 1, "plugins": None, "tests": None},
    r"sqlite3\.h": {"core/state": None, "tests": None},  # its engine; loaded when there is something to keep
    r"ev\.h": {"core/base": None, "core/modules": None, "core/state": None, "core/issuers": None, "core/login": None, "core/hub": None, "core/web": None, "core/cli": None, "transports": None, "engines": None, "tests": None},
    r"hiredis/.*": {"engines": None},
    r"uthash\.h|utlist\.h": {"core": None, "tests": None},
    r"openssl/.*": {"core/base": 1, "core/config": 1, "core/state": 1, "core/identity": None, "core/hub": None, "plugins": 1, "transports": None, "tests": None},
    r"curl/.*": {"core/issuers": 1, "plugins": None},
    r"libwebsockets\.h": {"transports": None},
    r"libstemmer\.h": {"core/search": 1},
    r"dlfcn\.h": {"core/base": 1, "core/modules": None, "core/state": 1, "tests": None},
    r"zip\.h": {"core/unpack": 1},
    r"cmocka\.h": {"tests": None},
}

HEADER_ONLY_HELPERS = {f"include/patchbay/{name}.h" for name in (
    "ask", "call", "content", "json", "prompt", "resource", "tool", "toolset")}
MAY_INCLUDE_TRANSPORTS = {  # the composition roots
    "core/cli/main.c", "core/cli/serve.c", "core/cli/listener.c", "core/cli/module_host.c"}

# In core/hub, lowest first; what is not named is a feature, between the first and the second.
KERNEL, MADE_OF_FEATURES = "kernel", ("router", "reload", "orchestrator")
OBJECTS = "hub/kernel/objects.h"

LARGEST_CIRCLE = 8  # units of core/ that may be reached from each other

TRANSPORTS_MAY_INCLUDE = ("hub/kernel/transport.h", "hub/kernel/settings.h", "identity/identity.h", "identity/credentials.h", "identity/certificate.h", "issuers/issuers.h", "web/face.h", "hub/replicas/replicas.h", "hub/replicas/caller.h", "hub/moves/moves.h", "hub/moves/sweep.h")

INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]')
BANNED = {
    re.compile(rf"(?<![\w.>]){name}\s*\("): f"{name}() is banned" for name in
    ("strcpy", "strcat", "sprintf", "vsprintf", "strtok", "atoi", "atol", "alloca", "gets", "system", "popen")
}
BANNED[re.compile(r"\b([\w.>-]+)\s*=\s*(?:\([^)]*\)\s*)?realloc\s*\(\s*\1\s*,")] = "realloc loses the old block when it fails"
LITERALS = re.compile(r'"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])*\'|//[^\n]*|/\*.*?\*/', re.S)


def blank(match):
    """Strings and comments become spaces, so that lines stay where they are."""
    return re.sub(r"[^\n]", " ", match.group(0))


def folder_of(path):
    """The part of the house a file is in: "core/wire", "plugins", …"""
    parts = path.split("/")
    return "/".join(parts[:2]) if parts[0] == "core" else parts[0]


def library_breach(path, header, used):
    for pattern, places in LIBRARIES.items():
        if not re.fullmatch(pattern, header):
            continue
        for place, most in places.items():
            if path.startswith(place + "/"):
                used.setdefault((pattern, place), set()).add(path)
                if most is not None and len(used[pattern, place]) > most:
                    return f"<{header}> belongs in {most} file of {place}/ only: {sorted(used[pattern, place])}"
                return None
        return f"<{header}> belongs in {', '.join(places)} only"
    return None


def hub_breach(path, header):
    """Within core/hub, or from outside of it."""
    source, target = path.split("/")[2], header.split("/")[1]
    if header == OBJECTS and not path.startswith("core/hub/kernel/"):
        return "objects are opaque outside of the kernel"
    if not path.startswith("core/hub/") or source == target:
        return None
    if source == KERNEL:
        return "the kernel knows no feature"
    if target in MADE_OF_FEATURES and source not in MADE_OF_FEATURES:
        return f"{target}/ is made of features: a feature does not know it"
    return None


def room_breach(path, header):
    """A quoted include, resolved against core/ and transports/."""
    folder = folder_of(path)
    own = (ROOT / path).parent / header
    if folder in ("plugins", "examples"):
        return None if own.exists() and ROOT / folder in own.resolve().parents else "a plugin includes only the SDK and its own files"
    if folder == "tests":
        return None
    if folder == "engines":
        is_core = header.split("/")[0] in ("base", "state") and (ROOT / "core" / header).exists()
        return None if own.exists() or is_core else "an engine includes its own files, base/ and state/"
    if folder == "include":
        return "the SDK includes with <>"
    target = header.split("/")[0]
    if header.endswith("_internal.h") and "core/" + header.rpartition("/")[0] != path.rpartition("/")[0]:
        return "an object is opaque outside of its folder"
    if (ROOT / "core" / header).exists():
        if folder == "transports":
            if target in ("base", "wire") or header in TRANSPORTS_MAY_INCLUDE:
                return None
            return f"a transport sees {', '.join(TRANSPORTS_MAY_INCLUDE)}, wire/ and base/ only"
        room = folder.split("/")[1]
        breach = hub_breach(path, header) if target == "hub" else None
        if breach:
            return breach
        if room == "cli" or ROOMS.index(target) <= ROOMS.index(room):
            return None
        return f"{room}/ is below {target}/"
    if (ROOT / "transports" / header).exists():
        return None if folder == "transports" or path in MAY_INCLUDE_TRANSPORTS else "only the composition root knows transports"
    return None if own.exists() else "there is no such file"


def angle_breach(path, header, used):
    folder = folder_of(path)
    if header.startswith("patchbay/"):
        return None if (ROOT / "include" / header).exists() else "there is no such header in the SDK"
    if folder == "include":
        if header in ("stddef.h", "stdint.h") or path in HEADER_ONLY_HELPERS:
            return None
        return f"the SDK includes stddef.h and stdint.h, not <{header}>"
    return library_breach(path, header, used)


def check(path, used):
    text = (ROOT / path).read_text(encoding="utf-8")
    for number, line in enumerate(text.splitlines(), 1):
        match = INCLUDE.match(line)
        if match:
            kind, header = match.groups()
            breach = angle_breach(path, header, used) if kind == "<" else room_breach(path, header)
            if breach:
                yield number, breach
    code = LITERALS.sub(blank, text)
    for pattern, reason in BANNED.items():
        for match in pattern.finditer(code):
            yield code.count("\n", 0, match.start()) + 1, reason


def circles(edges):
    """The strongly connected components of more than one node, of {node: set of nodes} (Kosaraju)."""
    def walk(node, graph, seen, out):
        stack = [(node, iter(sorted(graph.get(node, ()))))]
        seen.add(node)
        while stack:
            following = next((n for n in stack[-1][1] if n not in seen), None)
            if following is None:
                out.append(stack.pop()[0])
            else:
                seen.add(following)
                stack.append((following, iter(sorted(graph.get(following, ())))))

    order, seen, back, found = [], set(), {}, []
    for node in sorted(edges):
        for target in edges[node]:
            back.setdefault(target, set()).add(node)
        if node not in seen:
            walk(node, edges, seen, order)
    seen = set()
    for node in reversed(order):
        if node not in seen:
            circle = []
            walk(node, back, seen, circle)
            if len(circle) > 1:
                found.append(sorted(circle))
    return found


def units_of_core():
    """Which unit of core/ includes which: {"wire/json": {"base/str", …}, …}"""
    edges = {}
    for path in (ROOT / "core").rglob("*.[ch]"):
        unit = path.relative_to(ROOT / "core").with_suffix("").as_posix()
        for line in path.read_text(encoding="utf-8").splitlines():
            match = INCLUDE.match(line)
            if match and match.group(1) == '"' and (ROOT / "core" / match.group(2)).exists():
                edges.setdefault(unit, set()).add(match.group(2).rpartition(".")[0])
        edges.setdefault(unit, set()).discard(unit)
    return edges


def features_of(edges):
    """Which feature of core/hub includes which other one: {"tasks": {"notices", …}, …}"""
    found = {}
    for unit, targets in edges.items():
        for target in targets:
            rooms = [name.split("/")[1] for name in (unit, target) if name.startswith("hub/")]
            if len(rooms) == 2 and rooms[0] != rooms[1] and not {KERNEL, *MADE_OF_FEATURES} & set(rooms):
                found.setdefault(rooms[0], set()).add(rooms[1])
    return found


def circle_breaches(edges):
    for circle in circles(features_of(edges)):
        yield f"core/hub: features include each other in a circle: {', '.join(circle)}"
    for circle in circles(edges):
        if len(circle) > LARGEST_CIRCLE:
            yield f"core/: {len(circle)} units include each other in a circle, {LARGEST_CIRCLE} may: {', '.join(circle)}"


def main():
    files = []
    for folder in ("include", "core", "transports", "plugins", "engines", "examples", "tests"):
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            if not {"node_modules", "build"} & set(path.parts):
                files.append(path.relative_to(ROOT).as_posix())
    used, failed = {}, 0
    for path in files:
        breaches = list(check(path, used))
        failed += bool(breaches)
        for number, reason in breaches:
            print(f"{path}:{number}: {reason}")
    for breach in circle_breaches(units_of_core()):
        failed += 1
        print(breach)
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
