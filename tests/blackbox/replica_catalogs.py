#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Replicas with one store ask a server on the network once: what one has learned, the others take (docs/SCALE.md)."""

import hashlib
import json
import secrets
import sys
import threading
import time
import unittest

from login_principals import PrincipalsTest
from mcp import LIST_CHANGED, SUPPORT, main
from state_shared import Shared
from valkey import PROGRAM, Valkey

sys.path.insert(0, str(SUPPORT))

from http_upstream import HttpUpstream  # noqa: E402

MOST = 256 * 1024  # bytes of a record
PATIENCE = 2  # seconds that a replica waits for another one that is asking
# What is done with the record of a catalog (v) and its document (d), and the name of its field (k).
SCRIPT = (
    "local r=redis.call('HGETALL','patchbay:state:records') for i=1,#r,2 do if string.find(r[i],'catalog',1,true) then "
    "local k,v=r[i],r[i+1] local d=string.match(v,'{.*') {then} end end return 0"
)


def tool(name, **more):
    return {"name": name, "inputSchema": {"type": "object"}, **more}


class Catalogs(Shared):
    def setUp(self):
        super().setUp()
        self.up = HttpUpstream(tools=[tool("a")])
        self.addCleanup(self.up.close)
        self.streams = []
        self.up.on["GET"] = self.keep_stream
        self.keys = self.home / "replicas.key"
        self.keys.write_text(secrets.token_hex(32), encoding="utf-8")
        self.keys.chmod(0o600)

    def keep_stream(self, x):
        with self.up.condition:
            self.streams.append(x.stream())
            self.up.condition.notify_all()
        x.wait_gone()

    def manifest(self, toolsets=None, **more):
        """Without a cache on the disk: replicas are on other machines."""
        toolsets = toolsets or {"up": {"url": self.up.url}}
        replicas = {"key_file": str(self.keys)}
        return super().manifest(toolsets=toolsets) | {"hub": {"name": "home", "cache": False}, "replicas": replicas, **more}

    def replica(self, **more):
        return self.served(**more)[1]

    def listens(self, server):
        """A stream that has been told of the lists that are known when somebody has asked for them, which this does."""
        stream = server.listen(toolsListChanged=True)
        self.assertEqual(self.shown(server), {"up__a"})
        self.assertEqual(stream.message().method, LIST_CHANGED)
        return stream

    def asked(self):
        return len(self.up.of("tools/list"))

    def assertAsked(self, count, *servers):
        """So often, but for replicas whose store did not answer within its 250 ms, as on a machine that is busy: to them it
        is gone, and they ask for themselves."""
        lost = sum("state.unavailable" in server.hub.log for server in servers)
        self.assertIn(self.asked(), range(count, count + lost + 1))
        return lost == 0

    def on_record(self, script):
        """Do something with the one record of a catalog, and return what it says; 0: there is none."""
        return self.valkey.say('EVAL "' + SCRIPT.replace("{then}", script) + '" 0').strip()

    def wait_recorded(self, hub, script="if string.find(d,'mac') then return 1 end"):
        hub.wait_until(lambda: self.on_record(script) not in (":0", ""), "the record")


@unittest.skipUnless(PROGRAM, "neither valkey-server nor redis-server is installed")
class Once(Catalogs):
    def test_three_replicas_ask_once_and_once_more_when_it_has_changed(self):
        servers = [self.replica() for _ in range(3)]
        streams = [self.listens(servers[0])]
        self.wait_recorded(servers[0].hub)
        streams += [self.listens(server) for server in servers[1:]]
        if not self.assertAsked(1, *servers):
            return
        self.assertEqual(len(self.up.of("initialize")), 1)
        for server in servers[1:]:
            server.hub.wait_log("tools.shared.taken")
        self.up.wait_until(lambda: self.streams, "the stream of the replica that is connected")
        self.up.tools = [tool("a"), tool("b")]
        self.streams[0].event({"jsonrpc": "2.0", "method": LIST_CHANGED})
        for stream in streams:
            self.assertEqual(stream.message().method, LIST_CHANGED)
        for server in servers:
            self.assertEqual(self.shown(server), {"up__a", "up__b"})
        self.assertAsked(2, *servers)
        late = self.replica()
        self.assertEqual(self.shown(late), {"up__a", "up__b"})
        self.assertAsked(2, *servers, late)
        # Who calls is connected, and hears for itself what there is.
        self.up.tools = [tool("b")]
        self.assertIn("has no tool", str(late.call("up__a").message.data))
        self.assertEqual(self.shown(late), {"up__b"})

    def test_who_finds_another_asking_waits_for_it(self):
        one, two = self.replica(), self.replica()
        held = threading.Event()
        self.up.on["tools/list"] = lambda x: (held.wait(self.up.timeout), self.up.list_tools(x))
        self.addCleanup(held.set)
        first = one.connection().send(one.modern_bytes("tools/list"))
        self.up.wait("tools/list")
        began = time.monotonic()
        second = two.connection().send(two.modern_bytes("tools/list"))
        two.hub.wait_log("tools.discovery.started")
        held.set()
        for connection in (second, first):
            names = {row["name"] for row in connection.reply().message.result["tools"]}
            self.assertIn("up__a", names)
        if time.monotonic() - began < PATIENCE:
            self.assertEqual(self.asked(), 1)

    def test_one_that_asks_and_says_nothing_is_not_waited_for(self):
        one, two = self.replica(), self.replica()
        held = threading.Event()
        answers = iter([lambda x: held.wait(self.up.timeout)])
        self.up.on["tools/list"] = lambda x: next(answers, self.up.list_tools)(x)
        self.addCleanup(held.set)
        one.connection().send(one.modern_bytes("tools/list"))
        self.up.wait("tools/list")
        self.assertEqual(self.shown(two), {"up__a"})
        self.assertEqual(self.asked(), 2)

    def test_without_the_store_each_asks_for_itself(self):
        servers = [self.replica() for _ in range(3)]
        self.valkey.kill()
        for server in servers:
            self.assertEqual(self.shown(server), {"up__a"})
        self.assertEqual(self.asked(), 3)
        self.valkey.start()  # who is connected says again what there is
        self.wait_recorded(servers[0].hub)
        late = self.replica()
        self.assertEqual(self.shown(late), {"up__a"})
        self.assertAsked(3, late)


@unittest.skipUnless(PROGRAM, "neither valkey-server nor redis-server is installed")
class Called(Catalogs):
    """A call goes to a server that has said on this connection what it has: what another one has heard is not enough."""

    def test_who_connects_for_a_call_reads_once_and_no_later_call_does(self):
        self.up.sessions = False  # one of them ended the one before
        servers = [self.replica() for _ in range(3)]
        streams = [self.listens(servers[0])]
        self.wait_recorded(servers[0].hub)
        streams += [self.listens(server) for server in servers[1:]]
        if not self.assertAsked(1, *servers):
            return
        written = self.on_record("return v")
        for _ in range(3):
            for server in servers:
                self.assertNotIn("error", server.call("up__a").message.data)
        self.assertEqual((self.asked(), len(self.up.of("initialize")), len(self.up.of("tools/call"))), (3, 3, 9))
        for server in servers:
            self.assertEqual(self.shown(server), {"up__a"})
            server.hub.finish()
        self.assertEqual(self.on_record("return v"), written)  # it is the same: nothing is written, and nobody told
        left = [event.data for stream in streams for event in iter(stream.next, None)]
        self.assertEqual([data for data in left if "list_changed" in data], [])

    def test_a_tool_that_another_replica_has_heard_of_and_that_is_gone_is_not_called(self):
        one, two, three = (self.replica() for _ in range(3))
        self.assertEqual(self.shown(one), {"up__a"})
        self.wait_recorded(one.hub)
        stream = self.listens(two)
        self.up.tools = [tool("b")]  # another program has taken the server's place, and says nothing
        shown = self.shown(three)
        if not self.assertAsked(1, one, two, three):
            return
        self.assertEqual(shown, {"up__a"})
        self.assertIn("has no tool", str(three.call("up__a").message.data))
        self.assertEqual(self.up.of("tools/call"), [])
        self.assertEqual(stream.message().method, LIST_CHANGED)  # who has not connected takes what was read there
        self.assertEqual(self.shown(two), {"up__b"})
        self.assertAsked(2, one, two, three)


@unittest.skipUnless(PROGRAM, "neither valkey-server nor redis-server is installed")
class Records(Catalogs):
    def test_what_somebody_else_wrote_is_refused(self):
        one = self.replica()
        self.assertEqual(self.shown(one), {"up__a"})
        self.wait_recorded(one.hub)
        one.hub.finish()
        good = self.on_record("return d").split("\r\n", 1)[1]
        text = good[good.index('"catalog":') + 10 : -1]
        begin = text.index('"content":') + 10
        content = text[begin:].removesuffix("}\n").replace('"name": "a"', '"name": "evil"')
        digest = hashlib.sha256(content.encode()).hexdigest()
        forged = text[: text.index('"sha256":"') + 10] + digest + '","content":' + content + "}\n"
        for count, bad in enumerate((good.replace(text, forged), good[:-3] + "}", "{}", "[1]", '{"mac":"' + 64 * "0" + '","learned":1,"catalog":{}}'), 2):
            self.assertNotEqual(bad, good)
            there = f"local s=string.gsub('{bad.encode().hex()}','..',function(h) return string.char(tonumber(h,16)) end)"
            self.on_record(f"{there} redis.call('HSET','patchbay:state:records',k,string.sub(v,1,#v-#d)..s)")
            server = self.replica()
            self.assertEqual(self.shown(server), {"up__a"})
            server.hub.wait_log("tools.shared.ignored")
            self.assertEqual(self.asked(), count)
            self.wait_recorded(server.hub)  # a good one again
            server.hub.finish()

    def test_what_is_not_the_same_for_all_is_not_there(self):
        other = self.home / "other.key"
        other.write_text(secrets.token_hex(32), encoding="utf-8")
        other.chmod(0o600)
        tools = self.home / "tools.json"
        tools.write_text(json.dumps(self.up.tools), encoding="utf-8")
        for toolset, replicas, is_there in (
            (self.recorder().toolset("--tools", tools), {"key_file": str(self.keys)}, False),
            ({"url": self.up.url, "cache": False}, {"key_file": str(self.keys)}, False),
            ({"url": self.up.url}, {}, False),
            ({"url": self.up.url}, {"key_file": str(self.keys)}, True),
        ):
            server = self.replica(toolsets={"up": toolset}, replicas=replicas)
            self.assertEqual(self.shown(server), {"up__a"})
            if is_there:
                self.wait_recorded(server.hub)
            server.hub.finish()
            self.assertEqual(self.on_record("return 1"), ":1" if is_there else ":0")
        server = self.replica(replicas={"key_file": str(other)})  # not a replica of the others
        self.assertEqual(self.shown(server), {"up__a"})
        self.assertEqual(self.asked(), 4)

    def test_the_longest_record(self):
        one = self.replica()
        self.assertEqual(self.shown(one), {"up__a"})
        self.wait_recorded(one.hub)
        one.hub.finish()
        left = MOST - int(self.on_record("return #d").lstrip(":")) - len(', "description": ""')
        for more, is_there in ((1, False), (0, True)):
            self.valkey.say("FLUSHALL")
            self.up.tools = [tool("a", description="x" * (left + more))]
            server = self.replica()
            self.assertEqual(self.shown(server), {"up__a"})
            if is_there:
                self.wait_recorded(server.hub)
                self.assertEqual(self.on_record("return #d"), f":{MOST}")
            else:
                server.hub.wait_log("tools.shared.too_large")
            server.hub.finish()


@unittest.skipUnless(PROGRAM, "neither valkey-server nor redis-server is installed")
class OfPrincipals(PrincipalsTest):
    def test_what_a_principal_sees_is_not_there(self):
        valkey = Valkey(self)
        key = self.home / "a.key"
        key.write_text(secrets.token_hex(32), encoding="utf-8")
        key.chmod(0o600)
        _, upstream = self.servers()
        upstream.more = {"ann": ["ann"], "bob": ["bob"]}
        more = {
            "hub": {"name": "home", "cache": False},
            "state": {"url": valkey.url, "key": str(key)},
            "replicas": {"key_file": str(key)},
        }
        one = self.served(upstream, ("ann", "bob"), manifest=more)
        two = self.http("--tokens", self.home / "tokens.json", manifest=self.manifest)
        for name in ("ann", "bob"):
            self.log_in_as(one, name)
            for server in (one, two):
                self.assertEqual(self.text(self.call(server, name)), name)
                self.assertEqual(self.names(server, name), {"up__echo", f"up__only_{name}"})
        self.assertEqual(valkey.say(f'EVAL "{SCRIPT.replace("{then}", "return 1")}" 0').strip(), ":0")


if __name__ == "__main__":
    main()
