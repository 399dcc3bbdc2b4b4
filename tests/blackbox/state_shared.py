#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""A store that several hubs share, in a server of the distribution: `state: valkey://…` (docs/SCALE.md)."""

import json
import os
import re
import secrets
import signal
import socket
import time
import unittest
from pathlib import Path

from http_client import HttpTest, Server
from mcp import LIST_CHANGED, LegacyClient, ends_soon, fixture, main
from valkey import PROGRAM, Valkey

HEAD = '{"patchbayState":1}\n'
TOOLSETS = {"alpha": fixture("one"), "beta": fixture("two", active=False)}
ALPHA, BETA = "alpha__one", "beta__two"


def record(key, document, **members):
    return json.dumps({"scope": "home", "kind": "note", "owner": "uid:1", "key": key, "version": 1, "document": document, **members}) + "\n"


@unittest.skipUnless(PROGRAM, "neither valkey-server nor redis-server is installed")
class Shared(HttpTest):
    def setUp(self):
        super().setUp()
        self.valkey = Valkey(self)

    def manifest(self, **more):
        return {"hub": {"name": "home"}, "state": {"url": self.valkey.url}, "toolsets": TOOLSETS, **more}

    def served(self, **more):
        hub = self.daemon("--http", 0, manifest=self.manifest(**more))
        return hub, Server(self, hub)

    def shown(self, server):
        tools = server.modern("tools/list").message.result["tools"]
        return {tool["name"] for tool in tools if "__" in tool["name"]}

    def change(self, server, tool, toolset):
        result = server.call(tool, {"toolset": toolset}).message.result["structuredContent"]
        self.assertIs(result["ok"], True)
        return result


class Command(Shared):
    def state(self, *words, manifest=None, **options):
        return self.cli("state", *words, manifest=manifest or self.manifest(), modules=False, **options)

    def test_check_import_export_and_rekey(self):
        done = self.state("check")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertSays(done.stdout, self.valkey.url, "(valkey)", "records: none yet", "secrets are refused")
        done = self.state("import", "-", "--json", stdin=HEAD + record("a", {"n": 1}) + record("b", [2]))
        self.assertEqual(json.loads(done.stdout)["added"], 2, done.stderr)
        lines = [json.loads(line) for line in self.state("export").stdout.splitlines()]
        self.assertEqual([line.get("document") for line in lines], [None, {"n": 1}, [2]])
        self.assertEqual(len(lines[0]["epoch"]), 32)
        found = json.loads(self.state("check", "--json").stdout)
        self.assertEqual((found["engine"], found["records"], found["epoch"]), ("valkey", 2, lines[0]["epoch"]))
        done = self.state("import", "-", stdin=HEAD + record("k", "marigold", secret=True))
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, "encrypted secrets only")
        first, second = secrets.token_hex(32), secrets.token_hex(32)
        done = self.state("import", "-", stdin=HEAD + record("k", "marigold", secret=True), env={"PATCHBAY_STATE_KEY": first})
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertNotIn("marigold", self.valkey.say("HVALS patchbay:state:records"))
        both = {"PATCHBAY_STATE_KEY": f"{second} {first}"}
        self.assertSays(self.state("rekey", env=both).stdout, "current key: 1")
        self.assertIn("marigold", self.state("export", "--decrypt", env={"PATCHBAY_STATE_KEY": second}).stdout)

    def test_what_cannot_be_used(self):
        for url, says in (
            ("redis-sentinel://a/master", "does not speak to sentinel"),
            ("valkey+cluster://a", "does not speak to cluster"),
            ("valkey://a:0", "port of 1 to 65535"),
        ):
            done = self.state("check", manifest=self.manifest(state=url))
            self.assertEqual(done.returncode, 3)
            self.assertSays(done.stderr, says)
        for state, says in (
            ({"url": self.valkey.url, "path": "x.db"}, "path and url exclude each other"),
            ({"path": "x.db", "password": "a"}, "name it with url"),
            ({"url": "valkeys://localhost"}, "TLS"),
        ):
            done = self.state("check", manifest=self.manifest(state=state))
            self.assertEqual(done.returncode, 3)
            self.assertSays(done.stderr, says)
        self.valkey.kill()
        done = self.state("check")
        self.assertEqual(done.returncode, 3)
        self.assertSays(done.stderr, self.valkey.url, "cannot be reached")

    def test_a_password_is_shown_nowhere(self):
        self.valkey.say("ACL SETUSER default resetpass >marigold")
        place = f"valkey+unix://:${{PW}}@{self.valkey.socket}"
        for state in (place, {"url": self.valkey.url, "password": "${PW}"}):
            done = self.state("check", manifest=self.manifest(state=state), env={"PW": "marigold"})
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotIn("marigold", done.stdout + done.stderr)
            done = self.state("check", manifest=self.manifest(state=state), env={"PW": "tagetes"})
            self.assertEqual(done.returncode, 3)
            self.assertSays(done.stderr, "refuses the user name or the password")
            self.assertNotIn("tagetes", done.stdout + done.stderr)


class Hubs(Shared):
    def test_a_hub_without_it_has_nothing_of_it(self):
        def loaded(manifest):
            client = LegacyClient(self.hub(manifest=manifest))
            client.barrier()
            return Path(f"/proc/{client.hub.process.pid}/maps").read_text(encoding="utf-8")

        self.assertNotIn("hiredis", loaded(self.manifest(state="off")))
        self.assertIn("hiredis", loaded(self.manifest()))

    def test_a_name_that_is_looked_up_without_end_holds_nothing_up(self):
        env, fifo = self.hanging_resolver()
        hub = self.daemon("--http", 0, manifest=self.manifest(state={"url": "valkey://name.hangs:6379"}), env=env)
        server = Server(self, hub)
        waiting = server.connection()
        waiting.send(server.modern_bytes("tools/list"))
        self.addCleanup(os.close, os.open(fifo, os.O_WRONLY))  # returns when the resolver is at it
        for _ in range(20):
            self.assertIn("result", server.call(ALPHA).message.data)
        self.assertEqual(self.shown(server), {ALPHA})
        hub.wait_log("state.unavailable")
        hub.finish()  # nor is the end of the hub held up

    def test_what_is_chosen_at_one_is_there_at_the_other_once(self):
        (one, here), (_, there) = self.served(), self.served()
        self.assertEqual((self.shown(here), self.shown(there)), ({ALPHA}, {ALPHA}))
        streams = [server.listen(toolsListChanged=True) for server in (here, there)]
        self.assertNotIn("remembered", self.change(here, "enable_toolset", "beta"))
        for stream in streams:
            self.assertEqual(stream.message().method, LIST_CHANGED)
        self.assertEqual((self.shown(here), self.shown(there)), ({ALPHA, BETA}, {ALPHA, BETA}))
        self.change(there, "disable_toolset", "beta")
        for stream in streams:  # the next news, and nothing between
            self.assertEqual(stream.message().method, LIST_CHANGED)
        one.wait_until(lambda: self.shown(here) == {ALPHA}, "the choice of the other")
        self.assertEqual(self.shown(there), {ALPHA})

    def test_who_only_listens_is_told_of_what_comes_and_not_of_what_was(self):
        (_, here), (two, there) = self.served(), self.served()
        self.change(here, "enable_toolset", "beta")
        stream = there.listen(toolsListChanged=True)  # nobody has asked anything else there
        self.change(here, "disable_toolset", "beta")
        self.assertEqual(stream.message().method, LIST_CHANGED)
        self.assertEqual(self.shown(there), {ALPHA})
        two.finish()
        left = [event.data for event in iter(stream.next, None)]
        self.assertEqual([data for data in left if "list_changed" in data], [])

    def test_the_store_is_gone_and_comes_back(self):
        groups = {"name": "home", "meta_tools": ["toolsets", "saved"]}
        (one, here), (two, there) = self.served(hub=groups), self.served(hub=groups)
        self.assertEqual((self.shown(here), self.shown(there)), ({ALPHA}, {ALPHA}))
        stream = there.listen(toolsListChanged=True)
        self.valkey.kill()
        self.assertIs(self.change(here, "enable_toolset", "beta")["remembered"], False)
        self.assertEqual(self.shown(here), {ALPHA, BETA})
        self.assertNotIn("error", here.call(BETA).message.data)
        self.assertEqual(here.get("/readyz").status, 200)
        one.wait_log("state.unavailable")
        done = here.call("build-toolset", {"name": "mine", "tools": ["alpha:one"]}).message.result
        self.assertEqual(done["structuredContent"]["code"], "E_UNAVAILABLE", done)
        self.valkey.start()
        one.wait_log("state.available")
        two.wait_log("state.available")
        self.assertEqual(stream.message().method, LIST_CHANGED)  # what could not be kept is written, and followed
        self.assertEqual(self.shown(there), {ALPHA, BETA})
        self.change(there, "disable_toolset", "beta")
        self.assertEqual(stream.message().method, LIST_CHANGED)  # one notice it was
        one.wait_until(lambda: self.shown(here) == {ALPHA}, "the choice of the other")

    def test_a_store_that_is_gone_is_said_where_people_look(self):
        hub = self.daemon(manifest=self.manifest(listen=[{"http": "127.0.0.1:0", "metrics": True}]))
        server = Server(self, hub)

        def said():
            self.assertEqual(server.get("/readyz").status, 200)
            condition = server.modern("patchbay/status").message.result["hub"]["state"]["condition"]
            return condition, re.findall(r"^patchbay_store_up (\d)", server.get("/metrics").body.decode(), re.M)

        self.assertEqual(self.shown(server), {ALPHA})
        self.assertEqual(said(), ("ok", ["1"]))
        self.valkey.kill()
        self.change(server, "enable_toolset", "beta")
        hub.wait_log("state.unavailable")
        self.assertEqual(said(), ("unavailable", ["0"]))
        self.valkey.start()
        hub.wait_log("state.available")
        self.assertEqual(said(), ("ok", ["1"]))

    def test_a_store_that_hangs_holds_nobody_up(self):
        one, here = self.served()
        self.assertEqual(self.shown(here), {ALPHA})
        self.valkey.pause()
        self.assertIs(self.change(here, "enable_toolset", "beta")["remembered"], False)
        self.assertNotIn("error", here.call(BETA).message.data)
        one.wait_log("state.unavailable")
        self.valkey.resume()
        one.wait_log("state.available")
        one.wait_until(lambda: "enabled" in self.valkey.say("HVALS patchbay:state:records"), "what could not be kept")


class Volume(Shared):
    """Hubs that read one file, as replicas do that have it from one volume."""

    def setUp(self):
        super().setUp()
        self.path = self.home / "replicas.json"

    def write(self, *toolsets, **more):
        manifest = self.manifest(policy={"pinned": "withhold", "new_tools": "withhold"}, limits={"drain_timeout": "200ms"}, **more)
        manifest["toolsets"] = {**TOOLSETS, **{name: fixture("three") for name in toolsets}}
        partial = self.path.with_suffix(".partial")
        partial.write_text(json.dumps(manifest), encoding="utf-8")
        partial.replace(self.path)

    def patchbay(self, *words):
        done = self.cli(*words, files=[self.path])
        self.assertEqual(done.returncode, 0, done.stderr)


class OneFile(Volume):
    def assertNews(self, *shown):
        """Each client of both is told, once: what it hears next is the next news."""
        for server, stream in self.clients:
            self.assertEqual(stream.message().method, LIST_CHANGED)
            self.assertEqual(self.shown(server), set(shown))

    def test_what_is_approved_and_reloaded_is_so_at_both_once(self):
        self.write()
        self.patchbay("lock")
        hubs = [self.daemon("--http", 0, files=[self.path]) for _ in range(2)]
        servers = [Server(self, hub) for hub in hubs]
        self.clients = [(server, server.listen(toolsListChanged=True)) for server in servers]
        self.write("gamma")
        for hub in hubs:
            hub.wait_log("config.reloaded")
        self.assertEqual([self.shown(server) for server in servers], [{ALPHA}] * 2)  # nobody has approved the new one
        self.patchbay("approve", "gamma")
        self.assertNews(ALPHA, "gamma__three")
        self.write()
        self.assertNews(ALPHA)
        self.change(servers[0], "enable_toolset", "beta")
        self.assertNews(ALPHA, BETA)


class Manifests(Shared):
    """Hubs of one store are to have one manifest: who does not is named, with what is different."""

    def differs(self, server):
        return {other["name"]: other["differs"] for other in server.modern("patchbay/status").message.result["hub"]["replicas"]}

    def test_what_is_different_is_named_until_it_is_not(self):
        one, here = self.served()
        two, there = self.served(limits={"calls_burst": 7}, toolsets={**TOOLSETS, "gamma": fixture("three")})
        names = {hub: f"{socket.gethostname()}:{hub.process.pid}" for hub in (one, two)}
        for hub, other, server in ((one, two, here), (two, one, there)):
            hub.wait_log("replica.differs")
            self.assertEqual(self.differs(server), {names[other]: "toolsets, limits"})
        done = self.cli("doctor", "--json", manifest=ends_soon(self.manifest()), modules=False)
        found = {f["subject"]: f for f in json.loads(done.stdout)}
        self.assertEqual([found[f"replica {names[hub]}"]["state"] for hub in (one, two)], ["ok", "warning"], found)
        self.assertSays(found[f"replica {names[two]}"]["text"], "limits", "toolsets")
        two.process.send_signal(signal.SIGTERM)
        two.wait_exit()
        one.wait_until(lambda: self.differs(here) == {}, "the other one's end")


class Limits(Shared):
    """Of a tool, at all hubs together; slow enough that nothing is earned while a test runs."""

    LIMIT = "toolsets.alpha.tools.limits.*.calls_per_second"

    def limited(self):
        tools = {"limits": {"*": {"calls_per_second": 1, "calls_burst": 40}}}
        return {"toolsets": {"alpha": {**TOOLSETS["alpha"], "tools": tools}}}

    def pair(self, **replicas):
        return [self.served(**self.limited(), replicas={"count": 2, **replicas})[1] for _ in range(2)]

    def admitted(self, servers, calls=60):
        answers = [servers[i % 2].call(ALPHA).message for i in range(calls)]
        for answer in answers:
            if "error" in answer.data:
                self.assertEqual(answer.error["data"]["limit"], self.LIMIT)
        return sum("error" not in answer.data for answer in answers)

    def assertExact(self, admitted, least, began, servers):
        """But for hubs whose store did not answer within its 250 ms, as on a machine that is busy: to them it is gone, and each
        has its share beside."""
        lost = sum(server.hub.log.count("state.unavailable") for server in servers)
        self.assertGreaterEqual(admitted, least)
        self.assertLessEqual(admitted, 41 + time.monotonic() - began + 20 * lost)

    def test_they_are_exact(self):
        began = time.monotonic()
        servers = self.pair()
        self.assertExact(self.admitted(servers), 40, began, servers)

    def test_without_the_store_each_has_its_share(self):
        servers = self.pair()
        self.valkey.kill()
        began = time.monotonic()
        admitted = self.admitted(servers)
        self.assertGreaterEqual(admitted, 40)
        self.assertLessEqual(admitted, 42 + 2 * (time.monotonic() - began))

    def test_open_and_closed(self):
        for fail, wanted in (("open", 60), ("closed", 0)):
            servers = self.pair(fail=fail)
            self.valkey.kill()
            answers = [servers[i % 2].call(ALPHA).message for i in range(60)]
            good = [a for a in answers if "error" not in a.data and not a.result.get("isError")]
            self.assertEqual(len(good), wanted)
            if wanted == 0:
                self.assertIn("cannot be checked", json.dumps(answers[0].data))
            self.valkey.start()


class LimitsOfPrincipals(Limits):
    """… of a principal, with clients that know no session, and some that have one."""

    LIMIT = "limits.calls_per_second_per_principal"

    def limited(self):
        return {"limits": {"calls_per_second_per_principal": 1, "calls_burst_per_principal": 40}}

    def test_sessions_are_of_their_principal(self):
        servers = self.pair()
        sessions = [server.legacy() for server in servers]
        began = time.monotonic()
        answers = [sessions[i % 2].call(ALPHA).message for i in range(40)]
        admitted = sum("error" not in answer.data for answer in answers) + self.admitted(servers, 20)
        self.assertExact(admitted, 39, began, servers)  # one of the other requests, perhaps


class LimitsOfClients(Limits):
    """… of one client that has no session: what comes from one address."""

    LIMIT = "limits.calls_per_second"

    test_open_and_closed = None  # as of a principal

    def limited(self):
        return {"limits": {"calls_per_second": 1, "calls_burst": 40}}


if __name__ == "__main__":
    main()
