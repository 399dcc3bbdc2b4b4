#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No function of the product is long or winding: at most 80 lines, and a cyclomatic complexity of at most 15.

Complexity is 1, and 1 for each if, for, while, case, &&, || and ?. What is allowed beyond that is in ALLOWED, with
its reason; an entry that is not needed any more is an error, too. The last line is "N passed, N failed".
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FOLDERS = ["core", "transports", "plugins", "engines", "include", "examples"]
MOST_LINES, MOST_COMPLEXITY = 80, 15

# (name of the file, function): (lines, complexity, reason)
ALPHABET = "one decision for each class of bytes, as the standard lists them; parts would hide that none is missing"
LADDER = "a flat list of cases in the order of the specification, without nesting"
ALLOWED = {
    ("json_scan.h", "hub_json_utf8_length"): (80, 20, ALPHABET),
    ("json.h", "patchbay_utf8_length"): (80, 17, ALPHABET),
    ("json.h", "patchbay_json_decode"): (80, 17, ALPHABET),
    ("json.h", "patchbay_json_decimal_"): (80, 19, ALPHABET),
    ("json.h", "patchbay_json_fault"): (80, 25, "one machine that holds all of JSON: it is checked as a whole"),
    ("node.c", "hub_node_is_number"): (80, 16, ALPHABET),
    ("chunked.c", "read_byte"): (80, 16, ALPHABET),
    ("glob.c", "pattern_matches"): (80, 19, "one loop with its way back; parts would share all of its variables"),
    ("format.c", "number_of"): (80, 26, "a table of conversions, one line each"),
    ("format.c", "text_of"): (80, 16, "a table of conversions, one line each"),
    ("parse_format.c", "scan_text"): (80, 16, "a table of conversions, one line each"),
    ("rule.c", "parse_day"): (80, 16, ALPHABET),
    ("zone_names.c", "parse_offset"): (80, 16, ALPHABET),
    ("dialect.c", "hub_dialect_request"): (80, 17, LADDER),
    ("mcp.c", "post"): (80, 16, LADDER),
    ("router.c", "handle_request"): (80, 18, LADDER),
}

TOKEN = re.compile(
    r"""(?P<skip>//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|^[ \t]*\#(?:[^\n\\]|\\.)*)"""
    r"|(?P<word>[A-Za-z_]\w*)|(?P<other>&&|\|\||[?(){};=])",
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
BRANCHES = {"if", "for", "while", "case", "&&", "||", "?"}


def tokens(text):
    """(token, line) without comments, literals and directives."""
    line, at = 1, 0
    for match in TOKEN.finditer(text):
        line += text.count("\n", at, match.start())
        at = match.start()
        if match.lastgroup != "skip":
            yield match.group(), line


def functions(text):
    """(name, first line, lines, complexity) of each function that is defined outside of all braces."""
    depth = parens = 0
    name = word = None
    start = complexity = 0
    is_body = linkage = False
    previous = ""
    for token, line in tokens(text):
        if token == "(":
            if depth == 0 and parens == 0 and word is not None:
                name, start = word, line
            parens += 1
        elif token == ")":
            parens -= 1
        elif token == "{":
            linkage = depth == 0 and previous == "extern"
            if depth == 0 and not linkage:
                is_body, complexity = previous == ")" and name is not None, 1
            depth += not linkage
        elif token == "}":
            if depth > 0:
                depth -= 1
                if depth == 0 and is_body:
                    yield name, start, line - start + 1, complexity
                    is_body, name = False, None
        elif token in ";=" and depth == 0 and parens == 0:
            name = None
        elif is_body and token in BRANCHES:
            complexity += 1
        word = token if token[0].isalpha() or token[0] == "_" else None
        previous = token


def check_itself():
    text = """
    /* if (a) { */ extern "C" {
    #define MACRO(x) if (x) { \\
        y(); }
    static const char *table[] = {"if", "?"};
    static int
    one(int a, void (*f)(int))
    {
        if (a && "&& {" [0] == '{') { for (;;) {} }
        switch (a) { case 1: case 2: return a ? 1 : 2; default: break; }
        while (a || !a) {}
        return 0;
    }
    typedef struct x { int a; } x;
    void two(void) { }
    }
    """
    found = [(name, lines, complexity) for name, _, lines, complexity in functions(text)]
    assert found == [("one", 7, 9), ("two", 1, 1)], found


def main():
    check_itself()
    good, bad, used = 0, 0, set()
    for folder in FOLDERS:
        for path in sorted((ROOT / folder).rglob("*.[ch]")):
            file = str(path.relative_to(ROOT))
            for name, line, lines, complexity in functions(path.read_text(encoding="utf-8")):
                most_lines, most_complexity = MOST_LINES, MOST_COMPLEXITY
                if lines > MOST_LINES or complexity > MOST_COMPLEXITY:
                    most_lines, most_complexity, _ = ALLOWED.get((path.name, name), (MOST_LINES, MOST_COMPLEXITY, ""))
                    used.add((path.name, name))
                if lines > most_lines or complexity > most_complexity:
                    bad += 1
                    print(f"{file}:{line}: {name}: {lines} lines, complexity {complexity}; at most {most_lines} and "
                          f"{most_complexity}: make two of it")
                else:
                    good += 1
    for file, name in sorted(set(ALLOWED) - used):
        bad += 1
        print(f"{file}: {name} needs no exception any more: take it out of ALLOWED in tests/check_functions.py")
    print(f"{good} passed, {bad} failed")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
