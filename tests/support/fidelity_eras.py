# SPDX-License-Identifier: Apache-2.0
"""What the hub may change in a message that it passes on, and nothing else: one table, and a comparison by it.

Of what the hub makes itself nothing is here: ids of messages, what stands around definitions in a list, the state of
a call that waits for answers, and the frame of a question, which is a request in one era (2025-11-25
client/elicitation) and a member of inputRequests in the other (2026-07-28 basic/patterns/mrtr, InputRequests).
"""

from fidelity_corpus import name_of
from json_slice import members, slice_at

ANY, LEGACY, MODERN = ("legacy", "modern"), ("legacy",), ("modern",)
META = "io.modelcontextprotocol/"

# Where the member is, its name, the eras of the sender and of the receiver, what becomes of it, and why.
#   renamed: its value is what the receiver calls it      owned: each end has its own, or none
#   added: it is there if the sender did not say it
MEMBERS = [
    # The hub's own naming, whatever the eras.
    ("definition", "name", ANY, ANY, "renamed", "2026-07-28 server/tools, Tool Names: names are unique for the client"),
    ("definition", "uri", ANY, ANY, "renamed", "2026-07-28 server/resources, Resource: where two servers have one URI"),
    ("params", "name", ANY, ANY, "renamed", "2026-07-28 server/tools, Calling Tools; server/prompts, Getting a Prompt"),
    ("params", "uri", ANY, ANY, "renamed", "2026-07-28 server/resources, Reading Resources"),
    ("ref", "name", ANY, ANY, "renamed", "2026-07-28 server/utilities/completion, Reference Types"),
    ("ref", "uri", ANY, ANY, "renamed", "2026-07-28 server/utilities/completion, Reference Types"),
    # Each hop has its own progress tokens.
    ("_meta", "progressToken", ANY, ANY, "owned", "2026-07-28 basic/patterns/progress, Progress Flow: unique across requests"),
    ("progress", "progressToken", ANY, ANY, "owned", "2026-07-28 basic/patterns/progress, Progress Flow"),
    # What each request of 2026-07-28 says of its sender, who is the hub here and the client there.
    ("_meta", META + "protocolVersion", ANY, ANY, "owned", "2026-07-28 basic/index, _meta, Per-request protocol fields"),
    ("_meta", META + "clientInfo", ANY, ANY, "owned", "2026-07-28 basic/index, _meta, Per-request protocol fields"),
    ("_meta", META + "clientCapabilities", ANY, ANY, "owned", "2026-07-28 basic/index, _meta, Per-request protocol fields"),
    ("_meta", META + "logLevel", ANY, ANY, "owned", "2026-07-28 server/utilities/logging, Per-request log level"),
    ("params", "_meta", ANY, MODERN, "added", "2026-07-28 basic/index, _meta: every request carries it"),
    # Results.
    ("result", "resultType", LEGACY, MODERN, "added", "2026-07-28 basic/index, ResultType"),
    ("contents", "resultType", LEGACY, MODERN, "added", "2026-07-28 basic/index, ResultType"),
    ("contents", "ttlMs", ANY, MODERN, "added", "2026-07-28 server/utilities/caching, Cacheable Results"),
    ("contents", "cacheScope", ANY, MODERN, "added", "2026-07-28 server/utilities/caching, Cacheable Results"),
    # What a server has to bind to who it is for, and cannot behind a hub.
    ("result", "requestState", MODERN, MODERN, "renamed", "2026-07-28 basic/patterns/mrtr, Server Requirements"),
    # A question by URL has an id in 2025-11-25, and none since.
    ("question", "elicitationId", MODERN, LEGACY, "added", "2025-11-25 client/elicitation, URL Mode Elicitation Requests"),
]


def spans(text):
    """(raw key, where its value begins, where it ends) of each member of an object."""
    found, at = [], 0
    for _, start, end in members(text):
        found.append((text[at:start].strip("{,: \t\r\n"), start, end))
        at = end
    return found


def carried(text, keeps_breaks):
    """What arrives of a text where a message is a line: breaks between tokens are spaces. (In strings there are none.)"""
    return text if keeps_breaks else text.replace("\n", " ").replace("\r", " ")


# Members of params whose own members are in the table.
NESTED = {"_meta", "ref"}


class Difference(AssertionError):
    def __init__(self, path, expected, got):
        expected, got = (("" if text is None else text).encode() for text in (expected, got))
        at = next((n for n, (a, b) in enumerate(zip(expected, got)) if a != b), min(len(expected), len(got)))
        begin = max(0, at - 120)
        super().__init__(
            f"{path}: byte {at} of {len(expected)} expected, {len(got)} received\n"
            f"  expected …{expected[begin : at + 200]!r}\n  received …{got[begin : at + 200]!r}"
        )


def same(path, expected, got):
    if expected != got:
        raise Difference(path, expected, got)


def compare(path, where, sent, got, eras, values=None):
    """Compare two raw objects by the table. `eras`: the sender's and the receiver's. `values`: of renamed members
    the raw values that they must have; of added ones, too; of objects with rules of their own, such values."""
    rules = {name: what for at, name, source, target, what, _ in MEMBERS
             if at == where and eras[0] in source and eras[1] in target}
    values = dict(values or {})
    for name in NESTED & {name_of(key) for key, _, _ in spans(sent)} if where == "params" else ():
        value = member(got, name)
        compare(f"{path}.{name}", name, member(sent, name), value, eras, values.get(name))
        values[name] = value
        rules[name] = "renamed"
    expected, said, whole, at = [], set(), "", 0
    for key, start, end in spans(sent):
        name = name_of(key)
        said.add(name)
        if rules.get(name) == "owned":
            whole = None
            continue
        value = values.get(name) if rules.get(name) == "renamed" else None
        value = sent[start:end] if value is None else value
        expected.append(f"{key}: {value}")
        if whole is not None:
            whole += sent[at:start] + value
            at = end
    if whole is not None and whole + sent[at:] == got:
        return
    received = []
    for key, start, end in spans(got):
        name = name_of(key)
        if rules.get(name) == "owned" or (rules.get(name) == "added" and name not in said):
            whole = None
            if name in NESTED and where == "params":
                compare(f"{path}.{name}", name, "{}", got[start:end], eras, values.get(name))
            elif name in values:
                same(f"{path}.{name}", values[name], got[start:end])
            continue
        received.append(f"{key}: {got[start:end]}")
    same(path, "\n".join(expected), "\n".join(received))
    if whole is not None:
        same(path, whole + sent[at:], got)


def member(text, *path):
    """The raw value at a path, which has to be there."""
    found = slice_at(text, *path)
    if found is None:
        raise Difference("/".join(map(str, path)), "to be there", text)
    return found
