#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What a principal has chosen is there at the next start: hub.remember (DESIGN.md, "The store")."""

import json
import os
import re
import resource
import socket
import sqlite3
from contextlib import contextmanager
from pathlib import Path

from http_client import Server
from mcp import HubTest, LegacyClient, ModernClient, fixture, main

TOOLSETS = {"alpha": fixture("one"), "beta": fixture("two", active=False), "gamma": fixture("three")}
ALPHA, BETA, GAMMA = "alpha__one", "beta__two", "gamma__three"
HEAD = '{"patchbayState":1}\n'


def manifest(toolsets=None, hub=None, **more):
    return {"hub": {"name": "home", **(hub or {})}, "toolsets": TOOLSETS if toolsets is None else toolsets, **more}


class Remember(HubTest):
    def setUp(self):
        super().setUp()
        self.file = self.home / ".local/state/patchbay/state.db"

    def client(self, *args, **options):
        return LegacyClient(self.hub(*args, manifest=manifest(**options)))

    def shown(self, client):
        return {name for name in client.names() if "__" in name}

    def shows(self, client, wanted):
        """With the first answer; or, where the store has not answered in time, when it has."""
        if self.shown(client) != wanted:
            client.hub.wait_log("active.late")
            client.hub.wait_until(lambda: self.shown(client) == wanted, str(wanted))

    def change(self, client, tool, toolset):
        result = self.meta_call(client, tool, toolset=toolset)
        self.assertIs(result.get("ok"), True, result)
        return result

    def end(self, client):
        client.hub.finish()

    def records(self):
        done = self.cli("state", "export", manifest=manifest(), modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        records = [json.loads(line) for line in done.stdout.splitlines()[1:]]
        return {(r["owner"], r["key"]): r["document"] for r in records if r["kind"] == "active"}

    def bring(self, owner, document, key="default"):
        """Write a record as another process, the command line, does."""
        record = {"scope": "home", "kind": "active", "owner": owner, "key": key, "version": 1, "document": document}
        done = self.cli("state", "import", "-", "--replace", manifest=manifest(), stdin=HEAD + json.dumps(record) + "\n", modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    @contextmanager
    def locked(self, reading=True):
        """Another program has the store for itself: nobody writes it, nor reads it if nobody has it open."""
        db = sqlite3.connect(self.file, isolation_level=None)
        try:
            if reading:
                db.execute("PRAGMA locking_mode=EXCLUSIVE")
            db.execute("BEGIN EXCLUSIVE")
            db.execute("PRAGMA user_version")
            yield
        finally:
            db.close()


class Restart(Remember):
    def test_the_next_start_finds_the_choice(self):
        first = self.client()
        self.shows(first, {ALPHA, GAMMA})
        self.assertNotIn("remembered", self.change(first, "enable_toolset", "beta"))
        self.change(first, "disable_toolset", "alpha")
        self.end(first)
        self.assertEqual(self.records(), {("local", "default"): {"enabled": ["beta"], "disabled": ["alpha"]}})
        second = self.client()
        self.shows(second, {BETA, GAMMA})
        second.barrier()
        self.assertEqual(second.list_changes(), second.hub.log.count("active.late"))
        self.change(second, "disable_toolset", "beta")
        self.change(second, "enable_toolset", "alpha")
        self.end(second)
        self.assertEqual(self.records(), {})
        self.shows(self.client(), {ALPHA, GAMMA})

    def test_it_is_what_the_first_request_meets(self):
        first = self.client()
        self.change(first, "enable_toolset", "beta")
        self.end(first)
        modern = ModernClient(self.hub(manifest=manifest()))
        if "error" in modern.call(BETA).data:
            modern.hub.wait_log("active.late")

    def test_a_choice_is_there_after_sigkill(self):
        for round_ in range(10):
            client = self.client()
            self.change(client, "enable_toolset" if round_ % 2 == 0 else "disable_toolset", "beta")
            client.hub.exit_code = -9
            client.hub.kill()
            client.hub.finish()
            self.assertEqual("beta" in str(self.records()), round_ % 2 == 0, round_)

    def test_two_hubs_on_standard_input_and_the_command_line(self):
        one, two = self.client(), self.client()
        self.assertEqual(self.shown(one), self.shown(two))
        self.change(one, "enable_toolset", "beta")
        self.shows(two, {ALPHA, GAMMA})  # it runs: it follows nobody
        self.change(two, "disable_toolset", "gamma")  # the last writer is what the next start finds
        self.bring("local:else", {"enabled": ["beta"]})
        self.assertEqual((self.shown(one), self.shown(two)), ({ALPHA, BETA, GAMMA}, {ALPHA}))
        self.shows(self.client(), {ALPHA})
        self.bring("local", {"disabled": ["alpha"]})
        self.shows(self.client(), {GAMMA})

    def test_profiles_and_scopes_are_apart(self):
        profiles = {"other": {"naming": "prefix"}}
        first = self.client(profiles=profiles)
        self.change(first, "enable_toolset", "beta")
        self.end(first)
        self.shows(self.client("--profile", "other", profiles=profiles), {ALPHA, GAMMA})
        self.shows(self.client(hub={"name": "elsewhere"}), {ALPHA, GAMMA})
        self.shows(self.client(profiles=profiles), {ALPHA, BETA, GAMMA})

    def test_a_toolset_that_is_gone_may_come_back(self):
        first = self.client()
        self.change(first, "enable_toolset", "beta")
        self.change(first, "disable_toolset", "alpha")
        self.end(first)
        less = self.client(toolsets={"gamma": TOOLSETS["gamma"], "delta": fixture("four")})
        self.shows(less, {GAMMA, "delta__four"})  # new ones are there for everybody
        self.change(less, "disable_toolset", "delta")
        self.end(less)
        self.assertEqual(self.records()["local", "default"], {"enabled": ["beta"], "disabled": ["alpha", "delta"]})
        self.shows(self.client(), {BETA, GAMMA})

    def test_it_comes_back_with_a_reload(self):
        first = self.client()
        self.change(first, "enable_toolset", "beta")
        self.end(first)
        path = self.home / "reloaded.json"
        write = lambda toolsets: path.write_text(json.dumps(manifest(toolsets)), encoding="utf-8")
        write({"alpha": TOOLSETS["alpha"]})
        client = LegacyClient(self.hub(files=[path]))
        self.shows(client, {ALPHA})
        since = client.hub.mark
        write(TOOLSETS)
        client.hub.wait_log("active.restored")
        client.wait_list_changed(since)
        self.shows(client, {ALPHA, BETA, GAMMA})

    def test_max_active_bounds_what_comes_back(self):
        self.bring("local", {"enabled": ["beta"], "disabled": ["alpha"]})
        client = self.client(policy={"max_active": 2})
        self.shows(client, {BETA, GAMMA})
        self.end(client)
        self.bring("local", {"enabled": ["beta"]})
        client = self.client(policy={"max_active": 2})
        self.shows(client, {ALPHA, GAMMA})
        client.hub.wait_log("max_active")

    def test_what_nobody_could_take_back_is_not_restored(self):
        self.bring("local", {"enabled": ["beta"], "disabled": ["alpha"]})
        for args in (("--toolsets", "alpha"), ("--no-meta-tools",)):
            shown = self.shown(self.client(*args))
            self.assertIn(ALPHA, shown, args)
            self.assertNotIn(BETA, shown, args)

    def test_what_is_remembered(self):
        for mode in ("none", "equipped"):
            first = self.client(hub={"remember": mode})
            self.assertNotIn("remembered", self.change(first, "enable_toolset", "beta"))
            self.end(first)
            self.assertFalse(self.file.exists(), mode)
        self.bring("local", {"enabled": ["beta"]})
        for mode in ("none", "equipped"):
            self.assertEqual(self.shown(self.client(hub={"remember": mode})), {ALPHA, GAMMA}, mode)
        off = LegacyClient(self.hub(manifest=manifest(state="off")))
        self.assertNotIn("remembered", self.change(off, "enable_toolset", "beta"))
        code, said = self.refused(manifest=manifest(hub={"remember": "some"}))
        self.assertEqual(code, 3)
        self.assertSays(said, "remember", "all", "equipped", "none")

    def test_a_session_that_chooses_for_itself_is_not_remembered(self):
        first = self.client(hub={"active_set": "session"})
        self.change(first, "enable_toolset", "beta")
        self.end(first)
        self.assertFalse(self.file.exists())


class Quiet(Remember):
    """How much time has passed is told by a server, which counts what it is asked."""

    def switches(self, client):
        """How often the store's thread has slept."""
        for task in Path(f"/proc/{client.hub.process.pid}/task").iterdir():
            if (task / "comm").read_text(encoding="utf-8").strip() == "patchbay-state":
                status = (task / "status").read_text(encoding="utf-8")
                return int(re.search(r"^voluntary_ctxt_switches:\s*(\d+)$", status, re.M)[1])
        self.fail("the store has no thread")

    def test_an_idle_hub_does_not_wake_up_for_the_store(self):
        lines = [
            {"scope": "home", "kind": "active", "owner": f"token:t{n}", "key": "default", "version": 1, "document": {"enabled": ["beta"]}}
            for n in range(100)
        ]
        text = HEAD + "".join(json.dumps(line) + "\n" for line in lines)
        self.assertEqual(self.cli("state", "import", "-", manifest=manifest(), stdin=text, modules=False).returncode, 0)
        witness = self.recorder()
        toolsets = {**TOOLSETS, "witness": witness.toolset(health_interval="100ms")}
        client = self.client(toolsets=toolsets)
        self.change(client, "enable_toolset", "beta")
        client.call("witness__echo").result
        before = self.switches(client)
        since = witness.mark
        witness.wait_until(lambda: len(witness.lines("ping", since)) >= 20, "20 pings")
        self.assertLessEqual(self.switches(client), before + 1)  # it may have been on its way to sleep


class Store(Remember):
    def test_a_slow_store_holds_nobody_up(self):
        self.bring("local", {"enabled": ["beta"]})
        with self.locked():
            client = self.client()
            self.shows(client, {ALPHA, GAMMA})  # after a quarter of a second
            client.hub.wait_log("active.late")
            unread = {"profile": "default", "principal": "local", "remembered": "unread"}
            self.assertEqual(client.request("patchbay/status").result["choices"], [unread])
            since = client.hub.mark
        client.wait_list_changed(since)  # it comes late, and takes effect
        self.shows(client, {ALPHA, BETA, GAMMA})
        self.assertEqual(client.list_changes(), 1)

    def test_nobody_is_refused_because_others_wait(self):
        """Requests that wait for the record are calls in flight, of which 256 may be."""
        self.bring("local", {"enabled": ["beta"]})
        with self.locked():
            client = ModernClient(self.hub(manifest=manifest()), None)
            ids = [client.send_call("alpha__one", {"n": n}) for n in range(600)]
            for one in ids:
                self.assertNotIn("error", client.hub.response(one).raw)
            client.hub.wait_log("active.late")

    def test_a_late_record_does_not_tear_what_was_chosen_meanwhile(self):
        self.bring("local", {"enabled": ["beta", "lost"], "disabled": ["alpha"]})
        with self.locked():
            client = self.client()
            self.shows(client, {ALPHA, GAMMA})
            asked = client.send_call("disable_toolset", {"toolset": "gamma"})
            client.hub.wait_log("toolset.disabled")
        answer = client.hub.response(asked).result["structuredContent"]
        self.assertNotIn("remembered", answer)
        self.shows(client, {ALPHA})
        self.end(client)
        # What the record said of toolsets that are not here has stayed.
        self.assertEqual(self.records()["local", "default"], {"enabled": ["lost"], "disabled": ["gamma"]})

    def test_a_store_that_cannot_be_used(self):
        self.bring("local", {"enabled": ["beta"]})
        self.file.write_bytes(b"no database" * 100)
        client = self.client()
        self.shows(client, {ALPHA, GAMMA})
        client.hub.wait_log("active.unread")
        self.assertIs(self.change(client, "enable_toolset", "beta")["remembered"], False)
        self.shows(client, {ALPHA, BETA, GAMMA})
        result = self.meta_call(client, "disable_toolset", toolsets=["alpha", "gamma"])
        self.assertIs(result["remembered"], False)

    def test_a_store_that_cannot_be_written(self):
        (self.home / "file").write_text("", encoding="utf-8")
        client = self.client(state=os.fspath(self.home / "file" / "state.db"))
        self.assertIs(self.change(client, "enable_toolset", "beta")["remembered"], False)
        client.hub.wait_log("active.not_kept")

    def lost(self, client, *says):
        """A change takes effect, is not kept, and why is said."""
        self.assertIs(self.change(client, "enable_toolset", "beta")["remembered"], False)
        self.assertIn(BETA, self.shown(client))
        self.assertSays(client.hub.wait_log("active.not_kept"), *says)
        self.assertEqual(client.request("patchbay/status").result["choices"][0]["remembered"], "lost")

    def test_a_folder_that_may_not_be_written_to(self):
        """What the kernel shows of itself is a folder in which not even root makes files."""
        client = self.client(state="/sys/state.db")
        self.lost(client, "/sys")
        self.shows(client, {ALPHA, BETA, GAMMA})

    def test_a_newer_file(self):
        self.bring("local", {"disabled": ["alpha"]})
        with sqlite3.connect(self.file) as db:
            db.execute("PRAGMA user_version = 99")
        db.close()
        client = self.client()
        self.shows(client, {ALPHA, GAMMA})
        self.lost(client, "newer version", str(self.file))
        self.end(client)
        with sqlite3.connect(self.file) as db:  # nobody has touched it
            self.assertEqual(db.execute("PRAGMA user_version").fetchone(), (99,))
        db.close()

    def test_a_damaged_file(self):
        self.bring("local", {"enabled": ["beta"]})
        self.file.write_bytes(b"no database" * 1000)
        self.lost(self.client(), "is damaged", str(self.file))

    def test_a_full_disk(self):
        """No file of the hub may grow, and then again."""
        client = self.client()
        self.change(client, "disable_toolset", "alpha")
        process = client.hub.process.pid
        before = resource.prlimit(process, resource.RLIMIT_FSIZE)
        resource.prlimit(process, resource.RLIMIT_FSIZE, (1, before[1]))
        self.lost(client, "the disk is full")
        resource.prlimit(process, resource.RLIMIT_FSIZE, before)
        self.assertNotIn("remembered", self.change(client, "disable_toolset", "gamma"))
        self.end(client)
        self.assertEqual(self.records(), {("local", "default"): {"enabled": ["beta"], "disabled": ["alpha", "gamma"]}})

    def test_a_store_that_is_locked_for_longer(self):
        first = self.client()
        self.change(first, "enable_toolset", "beta")
        with self.locked(reading=False):
            self.assertIs(self.change(first, "disable_toolset", "alpha")["remembered"], False)
        # It is written all the same when the store is there again.
        self.assertNotIn("remembered", self.change(first, "disable_toolset", "gamma"))
        self.end(first)
        self.shows(self.client(), {BETA})

    def test_a_record_that_is_none(self):
        for document in ([], {"enabled": "beta"}, {"disabled": [1]}, {"equipped": 1}):
            self.bring("local", document)
            client = self.client()
            self.shows(client, {ALPHA, GAMMA})
            client.hub.wait_log("active.broken")
            self.end(client)


class Listener(Remember):
    def setUp(self):
        super().setUp()
        self.tokens = self.home / "tokens.json"

    def bearer(self, name):
        done = self.cli("token", "new", name, "--tokens", self.tokens, modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {"Authorization": f"Bearer {done.stdout.strip()}"}

    def served(self, **options):
        hub = self.daemon("--http", 0, "--tokens", self.tokens, manifest=manifest(**options))
        return hub, Server(self, hub)

    def modern(self, server, headers):
        tools = server.modern("tools/list", headers=headers).message.result["tools"]
        return {tool["name"] for tool in tools if "__" in tool["name"]}

    def test_each_principal_finds_its_own(self):
        ann, bob = self.bearer("ann"), self.bearer("bob")
        hub, server = self.served()
        done = server.call("enable_toolset", {"toolset": "beta"}, ann).message.result
        self.assertNotIn("remembered", done["structuredContent"])
        session = server.legacy(headers=bob)
        session.call("disable_toolset", {"toolset": "alpha"})
        hub.signal()
        hub.finish()
        hub, server = self.served()
        self.assertEqual(self.modern(server, ann), {ALPHA, BETA, GAMMA})
        session = server.legacy(headers=bob)
        tools = session.request("tools/list").answer.result["tools"]
        self.assertEqual({tool["name"] for tool in tools if "__" in tool["name"]}, {GAMMA})
        self.assertEqual(set(self.records()), {("token:ann", "default"), ("token:bob", "default")})

    def test_a_hub_that_listens_follows_what_others_write(self):
        ann, bob = self.bearer("ann"), self.bearer("bob")
        hub, server = self.served()
        self.assertEqual(self.modern(server, ann), {ALPHA, GAMMA})
        stream = server.listen(headers=ann, toolsListChanged=True)
        self.bring("token:bob", {"disabled": ["alpha"]})
        self.bring("token:ann", {"enabled": ["beta"]})
        self.assertEqual(stream.message().method, "notifications/tools/list_changed")
        self.assertEqual(self.modern(server, ann), {ALPHA, BETA, GAMMA})
        self.assertEqual(self.modern(server, bob), {GAMMA})
        # Another hub of the same name writes.
        other, there = self.served()
        there.call("disable_toolset", {"toolset": "gamma"}, ann)
        self.assertEqual(stream.message().method, "notifications/tools/list_changed")
        self.assertEqual(self.modern(server, ann), {ALPHA, BETA})
        there.call("enable_toolset", {"toolset": "gamma"}, ann)
        there.call("disable_toolset", {"toolset": "beta"}, ann)  # no record any more
        hub.wait_until(lambda: self.modern(server, ann) == {ALPHA, GAMMA}, "the profile's own")
        self.assertIsNotNone(other)

    def test_a_store_that_was_emptied_gets_back_what_is_held(self):
        ann = self.bearer("ann")
        hub, server = self.served()
        server.call("enable_toolset", {"toolset": "beta"}, ann)
        self.assertEqual(len(self.records()), 1)
        # The file itself last: at its end the hub makes a new one, with a log that is not to be removed, too.
        for path in sorted(self.file.parent.iterdir(), key=self.file.__eq__):
            path.unlink(missing_ok=True)
        self.bring("token:bob", {"disabled": ["alpha"]})  # the new one has something
        hub.wait_until(lambda: ("token:ann", "default") in self.records(), "the choice to be written back")
        self.assertEqual(self.modern(server, ann), {ALPHA, BETA, GAMMA})

    def test_what_is_removed_beside_the_store_is_made_anew(self):
        ann = self.bearer("ann")
        _, server = self.served()
        server.call("enable_toolset", {"toolset": "beta"}, ann)
        for suffix, toolset in (("-wal", "alpha"), ("-shm", "gamma")):
            Path(f"{self.file}{suffix}").unlink()
            server.call("disable_toolset", {"toolset": toolset}, ann)
            self.assertIn(toolset, self.records()["token:ann", "default"]["disabled"], suffix)
        self.assertEqual(self.modern(server, ann), {BETA})

    def test_status_says_who_has_what(self):
        ann, bob = self.bearer("ann"), self.bearer("bob")
        done = self.cli("token", "new", "root", "--tokens", self.tokens, "--scopes", "admin", modules=False)
        root = {"Authorization": f"Bearer {done.stdout.strip()}"}
        hub, server = self.served()
        choices = lambda who: server.modern("patchbay/status", headers=who).message.result["choices"]
        self.assertEqual(choices(root), [])
        server.call("enable_toolset", {"toolset": "beta"}, ann)
        server.call("disable_toolset", {"toolsets": ["alpha", "gamma"]}, bob)
        of_ann = {"profile": "default", "principal": "token:ann", "enabled": ["beta"], "disabled": [], "ofSession": False, "remembered": "yes"}
        of_bob = {**of_ann, "principal": "token:bob", "enabled": [], "disabled": ["alpha", "gamma"]}
        self.assertEqual(choices(ann), [of_ann])
        self.assertEqual(choices(bob), [of_bob])
        self.assertEqual(choices(root), [of_ann, of_bob])
        with self.locked(reading=False):
            server.call("disable_toolset", {"toolset": "alpha"}, ann)
            self.assertEqual(choices(ann), [{**of_ann, "disabled": ["alpha"], "remembered": "lost"}])
        path = self.home / "root.token"
        path.write_text(root["Authorization"].split()[1], encoding="utf-8")
        done = self.cli("status", "--http", hub.url, "--token-file", path)
        self.assertSays(done.stdout, "token:bob in profile default: disabled alpha,gamma\n")
        server.call("enable_toolset", {"toolsets": ["alpha", "gamma"]}, bob)
        self.assertEqual(choices(bob), [])

    def session_that_enables(self, keys):
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.connect(str(self.home / "hub.sock"))
        self.addCleanup(connection.close)
        stream = connection.makefile("rwb")
        self.addCleanup(stream.close)
        hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "t", "version": "1"}}
        for number, method, params in ((1, "initialize", hello), (2, "tools/call", {"name": "enable_toolset", "arguments": {"toolsets": keys}})):
            stream.write(json.dumps({"jsonrpc": "2.0", "id": number, "method": method, "params": params}).encode() + b"\n")
            stream.flush()
            while (answer := json.loads(stream.readline())).get("id") != number:
                pass
            self.assertNotIn("isError", answer["result"])

    def test_status_shows_so_many(self):
        toolsets = {f"t{n}": fixture("one", active=False) for n in range(101)}
        hub = self.hub("--stdio", "--unix", "hub.sock", manifest=manifest(toolsets, hub={"active_set": "session"}))
        hub.wait_log("listen.ready")
        operator = LegacyClient(hub)
        for count in range(101):
            self.session_that_enables([f"t{n}" for n in range(count + 1)])
            if count >= 99:
                result = operator.request("patchbay/status").result
                self.assertEqual((len(result["choices"]), result.get("moreChoices")), (100, None if count == 99 else 1))
                self.assertEqual(max(len(choice["enabled"]) for choice in result["choices"]), 100)

    def test_no_method_goes_past_the_record(self):
        ann = self.bearer("ann")
        self.bring("token:ann", {"enabled": ["beta"], "disabled": ["alpha"]})
        for method, params in (("tools/list", {}), ("server/discover", {}), ("resources/list", {}), ("prompts/list", {}),
                               ("tools/call", {"name": BETA, "arguments": {}}), ("patchbay/status", {})):
            hub, server = self.served()
            reply = server.modern(method, params, headers=ann)
            self.assertEqual(reply.status, 200, method)
            if hub.wait_until(lambda: re.search(r"active\.(restored|late)", hub.log), "the record")[1] == "restored":
                self.assertNotIn("error", reply.message.data, method)
            hub.signal()
            hub.finish()


if __name__ == "__main__":
    main()
