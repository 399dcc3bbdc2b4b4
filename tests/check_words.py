#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""No text that a user, a model or a plugin author reads has a word of WORDS: documents, comments of public headers, and every
string in the program (help, errors, events, descriptions of tools). Those that are to be short are.

    check_words.py [FOLDER]    default: the source tree

Prints breaches as FILE:LINE: what is there: what to write. The last line is "N passed, N failed", counting files.
"""

import re
import sys
from pathlib import Path

ROOT = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()

# Old or roundabout words of English that people look up, and the everyday ones.
WORDS = {
    r"\b(?:is|are|was|were|be) no (?!longer\b|more\b|matter\b)": "is not a ..., has no ..., no ... is",
    r"\bfar(?:es?|ed|ing)\b": "is, the state of",
    r"\bmend(?:s|ed|ing)?\b": "repair, correct",
    r"\banew\b": "again, a new ...",
    r"\b(?:hears?|heard|hearing) of\b": "is told of, learns of, knows",
    r"\bwho(?:m?ever|so)\b": "the one who has a name: the caller, the operator, a client that",
    r"\bfor good\b": "for the life of the process, permanently",
    r"\b(?:hereby|thereof|therein|whereof|whereby|wherein|heretofore|hitherto|thereupon|aforesaid|albeit|lest|thus|whilst|upon)\b": "leave it out",
    r"\b(?:utili[sz]e[sd]?|leverages?|facilitates?|aforementioned|commence[sd]?|prior to|in order to|due to the fact)\b": "use, help, begin, before, to, because",
    r"\b(?:simply|obviously|of course)\b": "leave it out",
    r"\"(?:What|Whom?|Whose) [^\"?]*[.:;,]": "name the noun that the sentence is about",
    # Names that people typed before the word was plugin keep theirs: keys, commands, options, fields (docs/DECISIONS.md).
    r"(?<![-/`\".|_])(?<!list\s)(?<!,\s)(?<!\|\s)(?<!###\s)\bmodules?\b(?!\s*[:=|`</_-])(?!\.\w)(?!\sinspect)": "plugin",
}
MOST_WORDS = {"README.md": 700, "ARCHITECTURE.md": 2500}
DOCUMENTS = ["*.md", "docs/*.md", "docs/*.scd", "plugins/*/README.md", "examples/*/README.md", ".github/ISSUE_TEMPLATE/*.md"]
HEADERS = ["include/patchbay/*.h"]
SOURCES = ["core/**/*.[ch]", "transports/**/*.[ch]", "plugins/**/*.[ch]", "engines/**/*.[ch]", "web/*.js"]
STRINGS = re.compile(r'"(?:[^"\\\n]|\\.)*"(?:[ \t]*\\?\n[ \t]*"(?:[^"\\\n]|\\.)*")*')
COMMENT = re.compile(r"/\*.*?\*/", re.S)
JOINT = re.compile(r'"[ \t]*\\?\n[ \t]*"')
PLAIN = re.compile(r"there +(?:is|are|was|were|be|to be) +no\b", re.I)
LINE_END = re.compile(r"\n[ \t]*(?:\*)?")
WORD = re.compile("|".join(f"({pattern})" for pattern in WORDS).replace(" ", " +"), re.I)


def texts(path, is_source):
    """(offset, text) of what is read there. Strings that C joins are one text."""
    whole = path.read_text(encoding="utf-8")
    if not is_source:
        return [(0, whole)]
    bare = COMMENT.sub(lambda m: re.sub(r"[^\n]", " ", m.group()), whole)
    return [(m.start(), m.group()) for m in STRINGS.finditer(bare)]


def breaches(path, is_source):
    whole = path.read_text(encoding="utf-8")
    for offset, text in texts(path, is_source):
        # The end of a line of a paragraph, a comment or a joined string parts no words.
        flat = JOINT.sub("", text) if is_source else LINE_END.sub(lambda m: " " * len(m.group()), text)
        flat = PLAIN.sub(lambda m: "_" * len(m.group()), flat)
        for match in WORD.finditer(flat):
            yield 1 + whole[:offset if is_source else match.start()].count("\n"), " ".join(match.group().split()), list(WORDS.values())[match.lastindex - 1]


def main():
    good = bad = 0
    for name, most in MOST_WORDS.items():
        count = len((ROOT / name).read_text(encoding="utf-8").split())
        good, bad = good + (count <= most), bad + (count > most)
        print(f"{name}: {count} words, at most {most} are read\n" if count > most else "", end="")
    for globs, is_source in ((DOCUMENTS + HEADERS, False), (SOURCES, True)):
        for path in sorted({path for glob in globs for path in ROOT.glob(glob)}):
            found = list(breaches(path, is_source))
            good, bad = (good + 1, bad) if not found else (good, bad + 1)
            print("".join(f"{path.relative_to(ROOT)}:{line}: \"{word}\": {wanted}\n" for line, word, wanted in found), end="")
    print(f"{good} passed, {bad} failed")
    return bad > 0 or good + bad < 100


if __name__ == "__main__":
    sys.exit(main())
