# SPDX-License-Identifier: Apache-2.0
"""tools/list: order, pages and cursors (MCP server/utilities/pagination, server/tools)."""

import json
import random
import select
import signal
import subprocess

from mcp import (
    INVALID_PARAMS, LIST_CHANGED, META_TOOLS, NEWEST_LEGACY, HubTest, LegacyClient, ModernClient, fixture, hub_command,
    hub_environment, main, tool,
)

MANY = {f"set{n}": fixture(*(f"tool{i:02}" for i in range(10))) for n in range(5)}
NAMES = [f"set{n}__tool{i:02}" for n in range(5) for i in range(10)]


def with_page_size(size):
    return {"hub": {"page_size": size}}


class Order(HubTest):
    def test_bytewise_by_canonical_id(self):  # S2.2, S2.3, D06
        tools = ["b", "a", "B", "a-1", "a.1", "a_1", "a1", "Z", "0"]
        toolsets = {"m": fixture(*tools), "m-x": fixture("t"), "m1": fixture("t"), "ma": fixture("t"), "m_0": fixture("t")}
        ids = sorted(
            (f"{key}:{tool['name']}".encode() for key, entry in toolsets.items() for tool in entry["config"]["tools"])
        )
        expected = [name.decode().replace(":", "__", 1) for name in ids]
        client = self.modern(toolsets=toolsets)
        self.assertEqual(client.own_names(), expected)

    def test_meta_tools_are_listed_with_the_others(self):  # S3.80
        names = self.modern(toolsets=MANY).names()
        # Their canonical ids begin with "_meta:", and '_' sorts before the lower-case letters.
        self.assertEqual(names, META_TOOLS + NAMES)

    def test_same_bytes_whatever_the_order_of_registration(self):  # S2.4
        listings = set()
        keys = list(MANY)
        for seed in range(3):
            random.Random(seed).shuffle(keys)
            client = self.modern(toolsets={key: MANY[key] for key in keys})
            listings.add(client.request("tools/list").slice("result", "tools"))
            client.hub.finish()
        self.assertEqual(len(listings), 1)

    def test_an_unchanged_list_is_the_same_bytes(self):
        client = self.modern(toolsets=MANY)
        listings = {client.request("tools/list").slice("result", "tools") for _ in range(20)}
        self.assertEqual(len(listings), 1)


class OnTheWay(HubTest):
    """A list of megabytes leaves from where the definitions lie, which others may change meanwhile."""

    def start(self, toolsets):
        self.manifest = self.home / "hub.json"
        self.manifest.write_text(json.dumps({"toolsets": toolsets}))
        process = subprocess.Popen(hub_command(files=[self.manifest], home=self.home), stdin=subprocess.PIPE,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=hub_environment(self.home, {}),
                                   cwd=self.home)
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.wait)
        self.addCleanup(process.stdin.close)
        return process

    def ask(self, process, method, params):
        process.stdin.write(json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode() + b"\n")
        process.stdin.flush()

    def answer(self, process):
        """The next one; notifications are passed over."""
        while "id" not in (message := json.loads(process.stdout.readline())):
            pass
        return message["result"]

    def test_what_is_listed_goes_away_while_the_list_is_read(self):
        big = fixture(*(tool(f"tool{n:03}", description=f"{n} " + "long " * 1000) for n in range(400)))
        small = fixture("one")
        process = self.start({"big": big, "small": small})
        hello = {"protocolVersion": NEWEST_LEGACY, "capabilities": {}, "clientInfo": {"name": "slow", "version": "1"}}
        self.ask(process, "initialize", hello)
        self.answer(process)
        self.ask(process, "tools/list", {})
        whole = self.answer(process)
        self.assertGreater(len(json.dumps(whole)), 2_000_000)
        self.ask(process, "tools/list", {})
        select.select([process.stdout], [], [])  # it has begun; a pipe holds at most half of it
        self.manifest.write_text(json.dumps({"toolsets": {"small": small}}))
        process.send_signal(signal.SIGHUP)
        while b"config.reloaded" not in (line := process.stderr.readline()):
            self.assertTrue(line, "the hub is gone")
        self.assertTrue(self.answer(process) == whole, "the list is not what it was")
        self.ask(process, "tools/list", {})
        left = [t for t in whole["tools"] if not t["name"].startswith("big__")]
        self.assertEqual(self.answer(process)["tools"], left)
        process.stdin.close()
        self.assertEqual(process.wait(), 0)


class Pages(HubTest):
    def test_page_sizes(self):
        for size, expected in ((1, 55), (7, 8), (11, 5), (54, 2), (55, 1), (56, 1)):
            with self.subTest(size):
                client = self.modern(toolsets=MANY, manifest=with_page_size(size))
                pages = client.pages()
                self.assertEqual(len(pages), expected)
                self.assertTrue(all(len(page.result["tools"]) == size for page in pages[:-1]))
                names = [tool["name"] for page in pages for tool in page.result["tools"]]
                self.assertEqual(names, META_TOOLS + NAMES)
                client.hub.finish()

    def test_one_page_by_default(self):
        # Clients exist that read only the first page.
        client = self.legacy(toolsets=MANY)
        page = client.request("tools/list")
        self.assertEqual(len(page.result["tools"]), 55)
        self.assertNotIn("nextCursor", page.result)

    def test_an_empty_list(self):
        client = self.modern("--no-meta-tools", toolsets={"alpha": fixture("one", active=False)})
        self.assertEqual(client.request("tools/list").result["tools"], [])

    def test_cursors_work_for_both_eras_and_repeatedly(self):
        hub = self.hub(toolsets=MANY, manifest=with_page_size(10))
        for client in (ModernClient(hub), LegacyClient(hub)):
            cursor = client.request("tools/list").result["nextCursor"]
            first = client.request("tools/list", {"cursor": cursor}).slice("result", "tools")
            second = client.request("tools/list", {"cursor": cursor}).slice("result", "tools")
            self.assertEqual(first, second)

    def test_forged_cursors(self):  # P14
        client = self.modern(toolsets=MANY, manifest=with_page_size(10))
        real = client.request("tools/list").result["nextCursor"]
        rng = random.Random(1)
        forged = ["", "0", "10", "-1", "1e3", "x" * 4096, "\u0000", "ä", real + "x", real[:-1], real[::-1]]
        for _ in range(489):
            at = rng.randrange(len(real))
            forged.append(real[:at] + rng.choice("abcdefghijklmnopqrstuvwxyz0123456789+/=_-.:") + real[at + 1 :])
        forged = [cursor for cursor in forged if cursor != real]
        ids = [client.send("tools/list", {"cursor": cursor}) for cursor in forged]
        for cursor, request_id in zip(forged, ids):
            self.assertEqual(client.hub.response(request_id).code, INVALID_PARAMS, cursor)
        for wrong in (1, True, {}, []):  # null is taken for absent
            self.assertEqual(client.request("tools/list", {"cursor": wrong}).code, INVALID_PARAMS, wrong)

    def test_a_cursor_outlives_a_change(self):
        # The list changes between two pages: nothing is listed twice, what stayed is not skipped.
        client = self.legacy(toolsets=MANY, manifest=with_page_size(10))
        first = client.request("tools/list").result
        since = client.hub.mark
        client.call("disable_toolset", {"toolset": "set2"})
        client.hub.wait_for(lambda m: m.method == LIST_CHANGED, LIST_CHANGED, since)
        names, params = [tool["name"] for tool in first["tools"]], {"cursor": first["nextCursor"]}
        while params:
            page = client.request("tools/list", params).result
            names += [tool["name"] for tool in page["tools"]]
            params = {"cursor": page["nextCursor"]} if "nextCursor" in page else None
        self.assertEqual(len(names), len(set(names)))
        self.assertEqual(names, META_TOOLS + [name for name in NAMES if not name.startswith("set2__")])


if __name__ == "__main__":
    main()
