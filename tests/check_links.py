#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Whether what documents link to is there. Prints breaches as FILE:LINE: reason.

    check_links.py [FOLDER]    default: the source tree

Links of *.md, and the schemas that *.yaml name, which lead to files beside them; and every file that a row of a table
of ARCHITECTURE.md and docs/WHERE.md names in backticks, where a name without a folder is of the folder of the one before it. The last line
is "N passed, N failed", counting files.
"""

import re
import sys
from pathlib import Path
from urllib.parse import unquote

LINK = re.compile(r"\]\(<?([^)\s>]+)>?[^)]*\)|\$schema=(\S+)")
ELSEWHERE = re.compile(r"[a-z][a-z0-9+.-]*:", re.I)
SKIPPED = {".git", "build", "node_modules"}


def links(text):
    """(number of the line, target) of each link outside of fenced code."""
    fenced = False
    for number, line in enumerate(text.splitlines(), 1):
        fenced ^= line.lstrip().startswith("```")
        for match in LINK.finditer("" if fenced else line):
            yield number, match.group(1) or match.group(2)


def breaches(root, path):
    for number, target in links(path.read_text(encoding="utf-8")):
        if ELSEWHERE.match(target) or target.startswith("#"):
            continue
        leads_to = (path.parent / unquote(target.split("#")[0])).resolve()
        if root not in leads_to.parents:
            yield number, f"{target} leads out of the documents"
        elif not leads_to.exists():
            yield number, f"there is no {target}"


NAMED = re.compile(r"`([\w./-]+/[\w./-]*|[\w-]+\.(?:c|h|py|md))`")


def named_breaches(root, path):
    """Files and folders that rows of a table name, from the root of the tree."""
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        folder = root
        for name in NAMED.findall(line) if line.startswith("|") else ():
            at = root / name if "/" in name else folder / name
            if name.startswith(("core/", "plugins/", "transports/", "tests/", "include/", "bench/")) or "/" not in name:
                folder = at if at.is_dir() else at.parent
                if not at.exists():
                    yield number, f"there is no {at.relative_to(root)}"


def main():
    root = Path(sys.argv[1] if len(sys.argv) > 1 else Path(__file__).parent.parent).resolve()
    files = [path for ending in ("md", "yaml") for path in sorted(root.rglob(f"*.{ending}"))
             if not SKIPPED & set(path.relative_to(root).parts)]
    failed = 0
    for path in files:
        found = list(breaches(root, path))
        if path in (root / "ARCHITECTURE.md", root / "docs" / "WHERE.md") and (root / "core").is_dir():
            found += named_breaches(root, path)
        failed += bool(found)
        for number, reason in found:
            print(f"{path.relative_to(root)}:{number}: {reason}")
    print(f"{len(files) - failed} passed, {failed} failed")
    return 1 if failed or not files else 0


if __name__ == "__main__":
    sys.exit(main())
