# SPDX-License-Identifier: Apache-2.0
"""Every event that changes what clients see names who caused it: in the log, in the stream of events, and in the audit.

tests/check_events.py has the list of these events, and finds one that is new; each has a scene here.
"""

import functools
import hashlib
import json
import shutil
import signal
import sys
from pathlib import Path

from api import ADMIN, PREFIX, Base
from dashboard import UiBase
from http_client import Server
from login import LoginTest
from login_server import browse
from mcp import ROOT, SUPPORT, HubTest, LegacyClient, compile_plugin, fixture, main, tool

sys.path.insert(0, str(ROOT / "tests"))
from check_events import CHANGES  # noqa: E402

SERVER = {"command": sys.executable, "args": ["-IS", str(SUPPORT / "unruly_server.py")]}
DEAD = {"command": "/nonexistent/server", "active": False}
JSON = {"format": "json"}
SHOWN = set()  # events that some scene below has


def shows(*events):
    """A scene: when it is over, it has looked at each of these events by `caused`."""
    SHOWN.update(events)

    def wrap(scene):
        @functools.wraps(scene)
        def run(self):
            self.looked = set()
            scene(self)
            self.assertEqual(self.looked, set(events))
        return run
    return wrap


class Causes:
    """For a test with a hub whose log is JSON."""

    def events(self, hub):
        return [json.loads(line) for line in hub.log.splitlines() if line.startswith("{")]

    def caused(self, hub, name, by, **fields):
        """Wait for an event with these fields, by that cause."""
        self.looked.add(name)
        wanted = {"event": name, "by": by, **fields}

        def find():
            return next((event for event in self.events(hub) if wanted.items() <= event.items()), None)
        return hub.wait_until(find, f"{wanted}")

    def audited(self, hub, who, name, **fields):
        """Wait for a record of what nobody asked the hub for."""
        wanted = {"who": who, "method": "event", "name": name, "outcome": "changed", **fields}

        def find():
            return self.audit.exists() and any(wanted.items() <= json.loads(line).items() for line in self.audit.read_text().split("\n")[:-1])
        hub.wait_until(find, f"{wanted} in the audit")


class All(HubTest):
    def test_each_has_a_scene(self):
        self.assertEqual(CHANGES - SHOWN, set(), "events without a scene in this file")
        self.assertEqual(SHOWN - CHANGES, set(), "events that tests/check_events.py does not know")


class Principals(Causes, Base):
    """What principals do; all of it is in the stream of events and in the audit, too."""

    def setUp(self):
        super().setUp()
        self.audit = self.home / "audit.log"

    def start(self, **more):
        server = self.serve(log={**JSON, "audit": str(self.audit)}, **more)
        server.hub.remember_descendants()
        self.begin = self.get(server, "/events")["next"]
        return server

    def tell(self, server, name, arguments, who="own"):
        reply = server.modern("tools/call", {"name": name, "arguments": arguments}, headers={"Authorization": f"Bearer {self.tokens[who]}"})
        return reply.message.result["structuredContent"]

    def streamed(self, server):
        found, since = [], self.begin
        while True:
            answer = self.get(server, f"/events?since={since}")
            if not answer["events"]:
                return found
            found += answer["events"]
            since = answer["next"]

    def done(self, server, by, *names):
        """The stream has what the log has of all that a principal caused, and the audit has what it did."""
        told = [(event["event"], event["by"]) for event in self.streamed(server) if event["event"] in CHANGES]
        for event in self.looked:
            self.assertIn((event, by), told)
        server.hub.finish()
        records = [json.loads(line) for line in self.audit.read_text().splitlines()]
        self.assertLessEqual({(by, name) for name in names}, {(record["who"], record["name"]) for record in records})

    @shows("toolset.enabled", "toolset.disabled", "toolset.wanted", "tools.registry.updated", "tools.registry.server.removed")
    def test_enable_and_disable(self):
        server = self.start(toolsets={"a": fixture("one"), "up": SERVER, "dead": DEAD})
        self.tell(server, "disable_toolset", {"toolset": "up"})
        self.caused(server.hub, "toolset.disabled", "token:own", toolset="up")
        self.caused(server.hub, "tools.registry.server.removed", "token:own", serverName="up")
        self.tell(server, "enable_toolset", {"toolset": "up"})
        self.caused(server.hub, "toolset.enabled", "token:own", toolset="up")
        self.caused(server.hub, "tools.registry.updated", "token:own")
        self.tell(server, "enable_toolset", {"toolset": "dead"})
        self.caused(server.hub, "toolset.wanted", "token:own", toolset="dead")
        self.done(server, "token:own", "enable_toolset", "disable_toolset")

    @shows("toolset.enabled", "toolset.disabled")
    def test_by_the_api(self):
        server = self.start()
        self.do(server, "/toolsets/b/disable", who="own")
        self.do(server, "/toolsets/b/enable", who="own")
        self.caused(server.hub, "toolset.disabled", "token:own", toolset="b")
        self.caused(server.hub, "toolset.enabled", "token:own", toolset="b")
        self.done(server, "token:own", f"POST {PREFIX}/toolsets/b/disable", f"POST {PREFIX}/toolsets/b/enable")

    @shows("saved.equipped", "saved.unequipped")
    def test_equip_and_unequip(self):
        server = self.start(hub={"meta_tools": ["toolsets", "saved"]})
        self.tell(server, "build-toolset", {"name": "mine", "tools": ["a:one"]})
        self.tell(server, "equip-toolset", {"name": "mine"})
        self.tell(server, "unequip-toolset", {})
        self.caused(server.hub, "saved.equipped", "token:own", saved="mine")
        self.caused(server.hub, "saved.unequipped", "token:own", saved="mine")
        self.done(server, "token:own", "equip-toolset", "unequip-toolset")

    @shows("toolset.restarted", "token.made", "token.revoked")
    def test_administration(self):
        server = self.start()
        self.do(server, "/toolsets/a/restart")
        self.do(server, "/tokens", {"name": "spare"})
        self.assertEqual(self.ask(server, "admin", "DELETE", "/tokens/spare").status, 200)
        for event in ("toolset.restarted", "token.made", "token.revoked"):
            self.caused(server.hub, event, "token:admin")
        self.done(server, "token:admin", f"POST {PREFIX}/toolsets/a/restart", f"POST {PREFIX}/tokens", f"DELETE {PREFIX}/tokens/spare")

    @shows("pins.approved")
    def test_approval(self):
        self.write_lock({})
        server = self.start()
        self.do(server, "/approvals", {"toolset": "a"})
        self.caused(server.hub, "pins.approved", "token:admin")
        self.done(server, "token:admin", f"POST {PREFIX}/approvals")

    @shows("saved.changed")
    def test_a_shared_one_changes(self):
        """Who has it equipped sees another one: the record has changed."""
        server = self.start()
        for tools in (["a:one"], ["a:one", "b:two"]):
            self.do(server, "/saved", {"name": "all", "tools": tools, "share": True, "replace": True})
            self.do(server, "/equipped", {"name": "all"}, who="own", method="PUT") if len(tools) == 1 else None
        self.caused(server.hub, "saved.changed", "store", saved="all", principal="token:own")
        self.done(server, "store")


class Dashboard(Causes, UiBase):
    @shows("ui.invited", "ui.ended")
    def test_a_session(self):
        server = self.serve_ui()
        self.tokens["browser"] = json.loads(self.log_in(server, self.invite(server, "own")).body)["token"]
        self.do(server, "/logout", who="browser")
        for event in ("ui.invited", "ui.ended"):
            server.hub.wait_log(f"{event} by=token:own")
            self.looked.add(event)


class Logins(Causes, LoginTest, Base):
    @shows("login.begun", "login.token", "login.ended", "login.wanted")
    def test_a_login(self):
        _, upstream = self.servers()
        server = self.serve(toolsets={**self.toolsets(upstream), "a": self.TOOLSETS["a"]}, log=JSON)
        begun = self.do(server, "/logins/up")
        browse(begun["url"])
        self.caused(server.hub, "login.begun", "token:admin", toolset="up")
        self.caused(server.hub, "login.wanted", "server", toolset="up")
        self.caused(server.hub, "login.token", "hub", toolset="up")
        self.assertEqual(self.ask(server, "admin", "DELETE", "/logins/up").status, 200)
        self.caused(server.hub, "login.ended", "token:admin", toolset="up")


class Servers(Causes, HubTest):
    """What a toolset's server or plugin does."""

    def started(self, **more):
        self.up = self.recorder()
        self.audit = self.home / "audit.log"
        client = self.legacy(manifest={"toolsets": {"up": self.up.toolset()}, "log": {**JSON, "audit": str(self.audit)}, **more})
        self.assertIn("up__echo", client.own_names())
        return client

    def offer(self, *tools):
        self.up.command(tools=json.dumps(tools), notify=1)

    @shows("tools.changed", "tools.redefined", "tools.discovery.server.success")
    def test_another_list(self):
        client = self.started()
        self.caused(client.hub, "tools.discovery.server.success", "server", serverName="up")
        self.offer(tool("echo", description="Another one."), tool("more"))
        self.caused(client.hub, "tools.changed", "server", toolset="up", list="tools", count=2)
        self.caused(client.hub, "tools.redefined", "server", toolset="up")
        for event in ("tools.changed", "tools.redefined"):
            self.audited(client.hub, "server", event, toolset="up")

    @shows("tools.dropped")
    def test_a_definition_that_is_none(self):
        client = self.started()
        self.offer(tool("echo"), {"name": "bad", "inputSchema": 1})
        self.caused(client.hub, "tools.dropped", "server", toolset="up")
        self.audited(client.hub, "server", "tools.dropped", toolset="up")

    @shows("toolset.failed", "tools.discovery.server.failed")
    def test_one_that_dies(self):
        client = self.started()
        self.up.command(exit=1)
        self.caused(client.hub, "toolset.failed", "server", toolset="up")
        self.audited(client.hub, "server", "toolset.failed", toolset="up")
        dead = self.legacy(manifest={"toolsets": {"dead": {"command": "/nonexistent/server"}}, "log": JSON})
        dead.own_names()
        self.caused(dead.hub, "tools.discovery.server.failed", "server", serverName="dead")

    @shows("saved.tools_came", "saved.tools_changed")
    def test_of_what_is_equipped(self):
        self.up = self.recorder()
        client = self.legacy(manifest={"toolsets": {"up": self.up.toolset()}, "log": JSON,
                                       "hub": {"meta_tools": ["saved"], "remember": "none"},
                                       "saved_toolsets": {"mine": {"tools": ["up:echo", "up:later"]}}})
        client.own_names()
        client.call("equip-toolset", {"name": "mine"}).result
        self.offer(tool("echo"), tool("later"))
        self.caused(client.hub, "saved.tools_came", "server", saved="mine", toolset="up")
        client.call("build-toolset", {"name": "own", "tools": ["up:echo"]}).result
        client.call("equip-toolset", {"name": "own"}).result
        self.offer(tool("echo", description="Another one."))
        self.caused(client.hub, "saved.tools_changed", "server", saved="own", toolset="up")


class Files(Causes, HubTest):
    """What is on the disk."""

    @shows("config.reloaded", "toolset.skipped")
    def test_a_manifest(self):
        path, self.audit = self.home / "own.json", self.home / "audit.log"
        log = {**JSON, "audit": str(self.audit)}
        path.write_text(json.dumps({"toolsets": {"a": fixture("one")}, "log": log}))
        hub = self.daemon("--unix", self.home / "hub.sock", files=[path])
        hub.wait_log('"listen.ready"')
        (self.home / "new").write_text(json.dumps({"toolsets": {"a": fixture("one"), "b": fixture("two")}, "policy": {"max_active": 1}, "log": log}))
        (self.home / "new").rename(path)
        self.caused(hub, "config.reloaded", "files", added="b")
        self.audited(hub, "files", "config.reloaded")
        self.caused(hub, "toolset.skipped", "files")
        hub.process.send_signal(signal.SIGHUP)
        self.caused(hub, "config.reloaded", "signal")
        self.audited(hub, "signal", "config.reloaded")

    @shows("pins.changed", "pins.new", "pins.missing")
    def test_a_lock_file(self):
        before = json.dumps(tool("one", description="Lists files."), sort_keys=True, separators=(",", ":"))
        entry = {"digest": "sha256:" + hashlib.sha256(before.encode()).hexdigest(), "definition": json.loads(before)}
        (self.home / "patchbay.lock").write_text(json.dumps({"lock": 1, "toolsets": {"a": {"tools": {"one": entry, "gone": entry}}}}))
        self.audit = self.home / "audit.log"
        client = self.legacy(manifest={"toolsets": {"a": fixture("one", "two")}, "log": {**JSON, "audit": str(self.audit)}})
        client.own_names()
        for event in ("pins.changed", "pins.new", "pins.missing"):
            self.caused(client.hub, event, "start", toolset="a")
            self.audited(client.hub, "start", event, toolset="a")

    @shows("resolver.loaded", "resolver.removed", "resolver.found")
    def test_a_folder_of_plugins(self):
        plugins, outside = self.home / "plugins", self.home / "outside"
        plugins.mkdir(mode=0o755)
        outside.mkdir()
        shutil.copy(compile_plugin(outside, "early"), plugins / "early.so")
        client = LegacyClient(self.hub("--plugins-dir", plugins, "--log-format", "json", modules=False))
        self.caused(client.hub, "resolver.loaded", "start", module="early")
        shutil.move(compile_plugin(outside, "late"), plugins / "late.so")
        self.caused(client.hub, "resolver.loaded", "plugins", module="late")
        client.hub.wait_until(lambda: "late__ping" in client.own_names(), "its tool")
        (plugins / "late.so").unlink()
        self.caused(client.hub, "resolver.removed", "plugins", module="late")
        named = self.legacy("--plugins-dir", plugins, manifest={"toolsets": {"a": fixture("one")}, "log": JSON})
        self.caused(named.hub, "resolver.found", "start", module="early")

    @shows("active.restored")
    def test_another_process(self):
        """Two hubs with one store: what is chosen at one is restored at the other."""
        manifest = {"listen": [{"http": "127.0.0.1:0"}], "hub": {"name": "home"}, "log": JSON,
                    "toolsets": {"a": fixture("one"), "b": fixture("two", active=False)}}
        here, there = (Server(self, self.daemon(manifest=manifest)) for _ in range(2))
        here.modern("tools/list")
        there.modern("tools/list")
        stream = there.listen(toolsListChanged=True)  # what nobody uses is not followed
        here.call("enable_toolset", {"toolset": "b"})
        self.caused(here.hub, "toolset.enabled", "anonymous", toolset="b")
        self.looked.discard("toolset.enabled")
        self.caused(there.hub, "active.restored", "store", principal="anonymous", enabled=1)
        stream.close()


if __name__ == "__main__":
    main()
