#!/usr/bin/python3
# SPDX-License-Identifier: Apache-2.0
"""The hub's judgement of definitions, held against the official JSON schemas.

    check.py DEFINITION_BITS       the program that is built from definition_bits.c
"""

import json
import subprocess
import sys

import shapes


def escaped(text):
    """The same JSON with the first letter of each string as an escape."""
    out, inside, skip = [], False, False
    for i, c in enumerate(text):
        if inside and skip:
            skip = False
        elif c == "\\" and inside:
            skip = True
        elif c == '"':
            inside = not inside
        elif inside and text[i - 1] == '"' and text[i - 2] != "\\":
            c = f"\\u{ord(c):04x}"
        out.append(c)
    return "".join(out)


def mask(revisions):
    return sum(1 << (shapes.REVISIONS.index(r) + 1) for r in revisions)


def integer(text):
    return shapes.Number(text) if text == "-0" else int(text)


def spellings(text):
    """JSON texts that mean the same, on one line."""
    yield text
    yield escaped(text)
    yield shapes.dumps(json.loads(text, parse_float=shapes.Number, parse_int=integer), indent=1).replace("\n", "\t ").replace('": ', '" :\t')


def cases():
    """(kind, text, path, valid, without): what the hub is to say."""
    for kind in shapes.RESULTS:
        for path, definition in shapes.shapes(kind):
            valid = shapes.revisions(kind, definition)
            without = shapes.without_output(kind, definition, valid)
            for text in spellings(shapes.dumps(definition)):
                yield kind, text, path, mask(valid), mask(without)


def complaint(case, answer):
    """What is wrong with the hub's answer, or None."""
    kind, text, path, valid, without = case
    found_valid, found_without, at, length, reason = answer.split(" ", 4)
    at, length = int(at), int(length)
    if int(found_valid) != valid:
        return f"valid is {int(found_valid):06b}, should be {valid:06b}"
    if int(found_without) != without:
        return f"valid_without_output is {int(found_without):06b}, should be {without:06b}"
    if (valid == 0) != (reason != ""):
        return f"the reason is '{reason}'"
    if path and valid == 0 and str(path[0]) not in reason and "a number beyond" not in reason:
        return f"the reason '{reason}' does not name {path[0]}"
    definition = json.loads(text)
    if valid and kind == "tools":
        if ("outputSchema" in definition) != (length > 0):
            return "the member outputSchema was not found"
        data = text.encode()
        rest = json.loads(data[:at] + data[at + length:])
        definition.pop("outputSchema", None)
        if rest != definition:
            return "what is left without outputSchema is something else"
    return None


def main():
    known = list(cases())
    text = "".join(f"{kind} {text}\n" for kind, text, *_ in known)
    run = subprocess.run(sys.argv[1:], input=text.encode(), stdout=subprocess.PIPE, check=True)
    answers = run.stdout.decode().split("\n")[:-1]
    assert len(answers) == len(known), f"{len(answers)} answers to {len(known)} definitions"
    bad = 0
    for case, answer in zip(known, answers):
        problem = complaint(case, answer)
        bad += problem is not None
        if problem and bad <= 20:
            print(f"{case[0]} {case[1][:400]}\n    {problem}", file=sys.stderr)
    every = {valid for _, _, _, valid, _ in known}
    assert {0, 0b111110, 0b100000} <= every, every  # the shapes are of all kinds
    print(f"{len(known)} definitions, {bad} judged wrongly")
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
