#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Hot reload (S3.23, S5.8, S5.9, S5.11, S5.45; RELIABILITY.md C02, C03, H16, A12): by SIGHUP and by a file that changes; what
is applied, what is left alone, and that a bad file changes nothing."""

import json
import os
import re
import shutil
import signal
import ssl
import sys
import threading

from evil_tls import SecureServer
from evil_websocket import WebSocket, closing, request
from http_client import Server
from listen import Lines
from mcp import LIST_CHANGED, SUPPORT, TIMEOUT, HubTest, LegacyClient, fixture, main, patient, processes, rounds

sys.path.insert(0, str(SUPPORT))

from authority import Authority  # noqa: E402

ROUNDS = rounds(100)
SERVER = [sys.executable, "-IS", str(SUPPORT / "unruly_server.py")]


def upstream(**keys):
    return {"command": SERVER[0], "args": SERVER[1:], **keys}


def pid_of(client, key):
    return int(client.call(f"{key}__pid").result["content"][0]["text"])


class ReloadTest(HubTest):
    manifest = {}

    @property
    def path(self):
        return self.home / "patchbay.json"

    def write(self, manifest, path=None):
        """Put another file in the place of the old one, at once."""
        path = path or self.path
        if isinstance(manifest, dict) and "toolsets" in manifest:
            manifest = patient(manifest)
        fresh = path.parent / f".{path.name}.new"
        fresh.write_text(manifest if isinstance(manifest, str) else json.dumps(manifest, indent=1), encoding="utf-8")
        fresh.rename(path)

    def reloads(self, hub, event="config.reloaded"):
        return [line for line in hub.log.splitlines() if event in line]

    def wait_reload(self, hub, count, event="config.reloaded"):
        """The so-manieth line of that event."""
        hub.wait_until(lambda: hub.log.count(event) >= count, f"{count} times {event}")
        return self.reloads(hub, event)[count - 1]

    def hangup(self, hub):
        hub.process.send_signal(signal.SIGHUP)


class Applying(ReloadTest):
    def test_the_line_says_how_many(self):
        """Names as far as they fit, and how many more there are."""
        client = self.legacy(toolsets={"alpha": fixture("one")})
        many = {f"a-toolset-with-a-name-{n:03}": fixture("x", active=False) for n in range(100)}
        self.write({"toolsets": {"alpha": fixture("one"), **many}})
        line = self.wait_reload(client.hub, 1)
        self.assertSays(line, "a-toolset-with-a-name-000,a-toolset-with-a-name-001,", " more", "addedCount=100", "removedCount=0")
        shown = line.count("a-toolset-with-a-name-")
        self.assertSays(line, f"and {100 - shown} more")

    def test_a_file_that_changes(self):
        """All clients are told, once; nobody needs a restart."""
        client = self.legacy(toolsets={"alpha": fixture("one"), "beta": fixture("two"), "gamma": fixture("three")})
        since = client.hub.mark
        self.assertIn("alpha__one", client.names())
        self.write({"toolsets": {"alpha": fixture("one"), "beta": fixture("zwei"), "delta": fixture("four")}})
        line = self.wait_reload(client.hub, 1)
        self.assertSays(line, "generation=2", "added=delta", "removed=gamma", "changed=beta")
        client.wait_list_changed(since)
        self.assertEqual(client.own_names(), ["alpha__one", "beta__zwei", "delta__four"])
        client.barrier()
        self.assertEqual(client.list_changes(since), 1)
        self.assertIn("unknown tool", client.call("gamma__three").error["message"].lower())

    def test_a_signal(self):
        client = self.legacy(toolsets={"alpha": fixture("one")})
        self.hangup(client.hub)
        line = self.wait_reload(client.hub, 1)
        self.assertRegex(line, r'added="" removed="" changed=""')
        self.write({"toolsets": {"alpha": fixture("one", "two")}})
        self.assertSays(self.wait_reload(client.hub, 2), "generation=3", "changed=alpha")
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])

    def test_nothing_visible(self):
        client = self.legacy(toolsets={"alpha": fixture("one")})
        since = client.hub.mark
        self.write("// a comment\n" + self.path.read_text())
        self.wait_reload(client.hub, 1)
        self.write({"toolsets": {"alpha": fixture("one", timeout="7s")}})
        self.wait_reload(client.hub, 2)
        self.write({"toolsets": {"alpha": fixture("one"), "beta": fixture("two")}})  # of this one it hears
        client.wait_list_changed(since)
        self.assertEqual(client.list_changes(since), 1)

    def test_an_upstream_that_is_added(self):
        """It is asked at once, and announced when it has answered."""
        client = self.legacy(toolsets={"alpha": fixture("one")})
        since = client.hub.mark
        self.write({"toolsets": {"alpha": fixture("one"), "up": upstream()}})
        client.wait_list_changed(since)
        self.assertIn("up__pid", client.names())
        self.assertEqual(client.list_changes(since), 1)

    def test_many_files(self):
        """Toolsets of a second file, and a secret of a third."""
        other, secret = self.home / "more.mcp.json", self.home / "secret"
        secret.write_text("one")
        other.write_text(json.dumps({"mcpServers": {"up": upstream(env={"SECRET": f"${{file:{secret}}}"})}}))
        secret.chmod(0o600)
        client = self.legacy(toolsets={"alpha": fixture("one")}, files=[other])
        before = pid_of(client, "up")
        self.write("two", secret)
        self.assertSays(self.wait_reload(client.hub, 1), "changed=up")
        after = pid_of(client, "up")
        self.assertNotEqual(before, after)
        self.write({"mcpServers": {}}, other)
        self.assertSays(self.wait_reload(client.hub, 2), "removed=up")

    def test_policy(self):
        hub = self.hub(manifest={"toolsets": {"alpha": fixture("one"), "beta": fixture("two")}})
        client = LegacyClient(hub)
        since = hub.mark
        toolsets = {"alpha": fixture("one"), "beta": fixture("two")}
        self.write({"toolsets": toolsets, "policy": {"deny": ["beta"]}, "hub": {"naming": "dot"}})
        client.wait_list_changed(since)
        self.assertEqual(client.own_names(), ["alpha.one"])
        refused = client.call("enable_toolset", {"toolset": "beta"})
        self.assertTrue(refused.data["result"]["isError"])
        self.write({"toolsets": toolsets})
        self.wait_reload(hub, 2)
        self.assertEqual(client.own_names(), ["alpha__one", "beta__two"])

    def test_log_level(self):
        client = self.legacy(toolsets={"alpha": fixture("one")})
        self.write({"toolsets": {"alpha": fixture("one")}, "log": {"level": "debug"}})
        self.wait_reload(client.hub, 1)
        self.write({"toolsets": {"alpha": fixture("one", "two")}, "log": {"level": "debug"}})
        self.wait_reload(client.hub, 2)
        client.hub.wait_log("tools.catalog toolset=alpha")

    def test_what_takes_a_restart(self):
        client = self.legacy(toolsets={"alpha": fixture("one")})
        self.write({"toolsets": {"alpha": fixture("one")}, "limits": {"worker_threads": 7}})
        self.assertSays(self.wait_reload(client.hub, 1, "config.needs_restart"), "limits.worker_threads")
        self.wait_reload(client.hub, 1)


def listed(client, keys):
    """Those of the toolsets whose tools are listed."""
    names = client.names()
    return [key for key in keys if f"{key}__pid" in names]


class LeavingAlone(ReloadTest):
    def test_one_of_twenty(self):  # C03
        toolsets = {f"up{n}": upstream() for n in range(20)}
        first = self.legacy(toolsets=toolsets)  # its catalogs are remembered: the next hub has news of none
        first.hub.wait_until(lambda: set(listed(first, toolsets)) == set(toolsets), "all of them")
        first.hub.finish()
        client = self.legacy(toolsets=toolsets)
        client.names()
        before = {key: pid_of(client, key) for key in toolsets}
        held = {key: client.send_call(f"{key}__hold") for key in toolsets}
        since = client.hub.mark
        changed = {**toolsets, "up7": upstream(env={"WHO": "another"})}
        self.write({"toolsets": changed})
        self.assertSays(self.wait_reload(client.hub, 1), 'added=""', 'removed=""', "changed=up7")
        after = {key: pid_of(client, key) for key in toolsets}
        self.assertEqual({key for key in toolsets if before[key] != after[key]}, {"up7"})
        self.assertEqual(client.list_changes(since), 0)
        for key, request in held.items():
            client.cancel(request)
        self.assertEqual(processes.wait_gone([before["up7"]], TIMEOUT), set())

    def test_calls_in_flight_finish(self):
        recorder = self.recorder("slow")
        client = self.legacy(toolsets={"slow": recorder.toolset(), "gone": fixture("hold")})
        client.names()
        request = client.send_call("slow__hold")
        line = recorder.wait_request("tools/call")
        self.write({"toolsets": {"alpha": fixture("one")}})
        self.assertSays(self.wait_reload(client.hub, 1), "removed=gone,slow")
        self.assertNotIn("slow__hold", client.names())
        recorder.answer(line, '"content":[{"type":"text","text":"late, but there"}]')
        self.assertIn("late, but there", client.hub.response(request).raw)
        recorder.wait_gone()

    def test_what_users_enabled(self):
        client = self.legacy(toolsets={"alpha": fixture("one"), "beta": fixture("two", active=False)})
        self.meta_call(client, "enable_toolset", toolset="beta")
        self.meta_call(client, "disable_toolset", toolset="alpha")
        self.write({"toolsets": {"alpha": fixture("one"), "beta": fixture("two", active=False), "c": fixture("three")}})
        self.wait_reload(client.hub, 1)
        self.assertEqual(client.own_names(), ["beta__two", "c__three"])


class Refusing(ReloadTest):
    def test_the_last_server_goes(self):
        """An empty map serves nothing, with a check, a start and a reload alike."""
        nothing = {"mcp.json": {"mcpServers": {}}, "hub.json": {"toolsets": {}}, "null.json": {"toolsets": None}}
        for name, manifest in nothing.items():
            with self.subTest(name):
                path = self.home / name
                path.write_text(json.dumps({next(iter(manifest)): {"up": upstream()}}), encoding="utf-8")
                client = self.modern(files=[path])
                self.assertIn("up__pid", client.own_names())
                self.write(json.dumps(manifest), path)
                self.assertSays(self.wait_reload(client.hub, 1), "removed=up")
                self.assertEqual(client.own_names(), [])
                checked = self.cli("check", path)
                self.assertEqual(checked.returncode, 0, checked.stderr)
                self.assertSays(checked.stdout, "0 toolsets")
                self.assertEqual(self.modern(files=[path]).own_names(), [])

    def test_no_toolset_is_named_any_more(self):
        """Every module that needs no configuration is one, as at a start: the others are no obstacle."""
        client = self.modern(toolsets={"time": {}})
        client.own_names()
        self.write("{}")
        self.assertSays(self.wait_reload(client.hub, 1), "generation=2")
        self.assertEqual(sorted(client.own_names()), sorted(self.modern(files=[self.path]).own_names()))

    def test_an_entry_that_turns_bad(self):
        """What is served goes on, and the file changes nothing; what never was is told, and no more."""
        path = self.home / "mcp.json"
        good = {"up": upstream()}
        self.write(json.dumps({"mcpServers": {**good, "never": {}}}), path)
        client = self.modern(files=[path])
        pid = pid_of(client, "up")
        self.write(json.dumps({"mcpServers": {"up": {**upstream(), "args": 5}, "new": upstream()}}), path)
        self.assertSays(self.wait_reload(client.hub, 1, "config.refused"), "mcpServers.up.args", "nothing has changed")
        self.assertEqual(pid_of(client, "up"), pid)
        self.write(json.dumps({"mcpServers": {**good, "never": {}, "new": upstream()}}), path)
        self.assertSays(self.wait_reload(client.hub, 1), "added=new")
        self.assertSays(self.wait_reload(client.hub, 1, "config.left_out"), "mcpServers.never")
        self.assertEqual(pid_of(client, "up"), pid)

    def test_a_name_twice(self):
        """Of another program's file the first entry counts, as at a start; all else goes on."""
        path = self.home / "mcp.json"
        up = json.dumps(upstream())
        self.write(f'{{"mcpServers": {{"up": {up}}}}}', path)
        client = self.modern(files=[path])
        pid = pid_of(client, "up")
        self.write(f'{{"mcpServers": {{"up": {up},\n"up": {{"command": "false"}},\n"new": {up}}}}}', path)
        line = self.wait_reload(client.hub, 1, "config.left_out")
        self.assertSays(line, "mcp.json:2", "mcpServers.up", "duplicate key, first on line 1")
        self.assertSays(self.wait_reload(client.hub, 1), "added=new", "changedCount=0")
        self.assertEqual(pid_of(client, "up"), pid)
        self.assertIn("new__echo", client.names())

    def test_bad_files(self):  # S5.11, C02
        toolsets = {"alpha": fixture("one"), "up": upstream()}
        client = self.legacy(toolsets=toolsets)
        client.names()
        before = pid_of(client, "up")
        since = client.hub.mark
        cases = [
            ('{"toolsets": {', "patchbay.json:1"),
            ("", "it is empty"),
            ({"toolsets": {"alpha": {**fixture("one"), "modul": "x"}}}, "patchbay.json:", "did you mean"),
            ({"toolsets": {**toolsets, "bad": fixture("x", fail="no luck")}}, "patchbay.json:", "bad", "no luck"),
            ({"toolsets": {**toolsets, "bad": {"module": "nobody"}}}, "patchbay.json:", "there is no plugin"),
            ({"toolsets": {"up": {"command": "${NOBODY_SET_THIS}"}}}, "patchbay.json:", "NOBODY_SET_THIS"),
            ({"toolsets": toolsets, "listen": [{"unix": "/nowhere/at/all"}]}, "/nowhere/at"),
            ({"toolsets": toolsets, "auth": {"tokens": "nothing.json"}}, "nothing.json"),
            ({"toolsets": toolsets, "listen": [{"http": "0.0.0.0:0"}]}, "auth"),
        ]
        for count, (manifest, *words) in enumerate(cases, 1):
            with self.subTest(manifest=manifest):
                self.write(manifest)
                line = self.wait_reload(client.hub, count, "config.refused")
                self.assertSays(line, "error config.refused", "nothing has changed", *words)
        self.assertEqual(client.own_names()[:1], ["alpha__one"])
        self.assertEqual(pid_of(client, "up"), before)
        self.assertEqual(client.list_changes(since), 0)
        self.assertEqual(self.reloads(client.hub), [])
        self.write({"toolsets": {"alpha": fixture("two"), "up": upstream()}})
        self.assertSays(self.wait_reload(client.hub, 1), "generation=2", "changed=alpha")
        self.assertEqual(pid_of(client, "up"), before)

    def test_a_listener_that_is_taken(self):
        taken = self.home / "hub.sock"
        client = self.legacy("--stdio", toolsets={"alpha": fixture("one")}, manifest={"listen": [{"unix": str(taken)}]})
        client.hub.wait_log("listen.ready")
        other = self.home / "other"
        other.mkdir()
        self.write({"toolsets": {}}, other / "hub.json")
        second = self.hub("--stdio", files=[other / "hub.json"])
        LegacyClient(second)
        self.write({"listen": [{"unix": str(taken)}]}, other / "hub.json")
        self.assertSays(self.wait_reload(second, 1, "config.refused"), str(taken), "stop that one")

    def test_a_pipe(self):
        """It was read to its end; a reload would find nothing, or wait for ever."""
        pipe = self.home / "pipe.json"
        os.mkfifo(pipe)
        manifest = json.dumps({"toolsets": {"alpha": fixture("one")}})
        feeder = threading.Thread(target=lambda: pipe.write_text(manifest), daemon=True)
        feeder.start()
        client = self.legacy(files=[pipe])
        feeder.join()
        self.hangup(client.hub)
        self.assertSays(self.wait_reload(client.hub, 1, "config.refused"), "pipe.json", "not a regular file")
        self.assertEqual(client.own_names(), ["alpha__one"])


    def test_a_pipe_that_it_names(self):
        """Nobody writes to it: that is said, and what the file says then is read."""
        self.write({"toolsets": {"alpha": fixture("one")}})
        client = self.legacy(files=[self.path])
        pipe = self.home / "pipe"
        os.mkfifo(pipe)
        self.write({"toolsets": {"alpha": fixture("one"), "beta": {"command": "cat", "env": {"KEY": f"${{file:{pipe}}}"}}}})
        self.assertSays(self.wait_reload(client.hub, 1, "config.refused"), "beta.env.KEY", "nothing was written to this pipe within 5000 ms")
        self.write({"toolsets": {"alpha": fixture("one"), "gamma": fixture("one")}})
        self.wait_reload(client.hub, 1)
        self.assertEqual(client.own_names(), ["alpha__one", "gamma__one"])


class Watching(ReloadTest):
    """However the file is changed."""

    def begin(self, path=None):
        path = path or self.path
        if not path.exists():
            path.write_text(json.dumps({"toolsets": {"alpha": fixture("one")}}))
        client = LegacyClient(self.hub(files=[path]))
        self.assertEqual(client.own_names(), ["alpha__one"])
        return client

    def check(self, client, count=1):
        self.wait_reload(client.hub, count)
        self.assertEqual(client.own_names(), [f"alpha__two{count}"])
        self.assertEqual(self.reloads(client.hub, "config.refused"), [])

    def text(self, count=1):
        return json.dumps({"toolsets": {"alpha": fixture(f"two{count}")}})

    def test_in_place(self):
        client = self.begin()
        for count in range(1, 4):
            self.path.write_text(self.text(count))
            self.check(client, count)

    def test_piece_by_piece(self):
        """What is being written is not read, whatever else happens in the folder."""
        client = self.begin()
        text = self.text()
        with open(self.path, "w", encoding="utf-8") as file:
            file.write(text[:20])
            file.flush()
            (self.home / "noise").write_text("x")
            client.barrier()
            (self.home / "noise").unlink()
            self.hub_sees_folder(client)
            self.assertEqual(self.reloads(client.hub) + self.reloads(client.hub, "config.refused"), [])
            file.write(text[20:])
        self.check(client)

    def test_cut_by_its_path(self):
        """truncate(2) opens nothing: no closing says that it is done."""
        path = self.home / "hub.yaml"
        first, second = (f"  {key}: {json.dumps(fixture('one'))}\n" for key in ("alpha", "beta"))
        path.write_text("toolsets:\n" + first + second)
        client = LegacyClient(self.hub(files=[path]))
        self.assertEqual(client.own_names(), ["alpha__one", "beta__one"])
        os.truncate(path, path.stat().st_size - len(second))
        self.wait_reload(client.hub, 1)
        self.assertEqual(client.own_names(), ["alpha__one"])

    def hub_sees_folder(self, client):
        """A second hub that watches a file of the same folder has seen what came later than the noise."""
        other = self.home / "other.json"
        other.write_text(json.dumps({"toolsets": {"alpha": fixture("one")}}))
        second = LegacyClient(self.hub(files=[other]))
        other.write_text(self.text())
        self.wait_reload(second.hub, 1)
        client.barrier()

    def test_by_an_editor(self):
        """The old file becomes a backup, another one takes its name."""
        client = self.begin()
        for count in range(1, 4):
            self.path.rename(self.home / "patchbay.json~")
            self.path.write_text(self.text(count))
            self.check(client, count)

    def test_away_and_back(self):
        client = self.begin()
        self.path.unlink()
        self.hub_sees_folder(client)
        self.path.write_text(self.text())
        self.check(client)

    def test_a_folder_that_goes_and_comes_back(self):
        """With its parent, too; another one in its place; and one that is empty for a while."""
        folder = self.home / "deep" / "conf"
        folder.mkdir(parents=True)
        path = folder / "hub.json"
        client = self.begin(path)
        shutil.rmtree(folder.parent)
        self.hub_sees_folder(client)
        folder.mkdir(parents=True)
        self.write(self.text(1), path)
        self.check(client, 1)
        fresh = self.home / "fresh"
        fresh.mkdir()
        (fresh / "hub.json").write_text(self.text(2))
        folder.rename(self.home / "stale")
        fresh.rename(folder)
        self.check(client, 2)
        (self.home / "stale" / "hub.json").write_text(self.text(7))  # nobody's any more
        folder.rename(self.home / "older")
        folder.mkdir()
        self.write(self.text(3), path)
        self.check(client, 3)

    def test_links_that_are_exchanged(self):
        """As Kubernetes mounts a ConfigMap: hub.json -> ..data/hub.json, ..data -> ..1."""
        volume = self.home / "volume"
        for name, count in (("..1", 0), ("..2", 1), ("..3", 2)):
            (volume / name).mkdir(parents=True)
            text = self.text(count) if count else json.dumps({"toolsets": {"alpha": fixture("one")}})
            (volume / name / "hub.json").write_text(text)
        (volume / "..data").symlink_to("..1")
        (volume / "hub.json").symlink_to("..data/hub.json")
        client = self.begin(volume / "hub.json")
        for count, name in enumerate(("..2", "..3"), 1):
            (volume / "..fresh").symlink_to(name)
            (volume / "..fresh").rename(volume / "..data")
            shutil.rmtree(volume / f"..{count}")
            self.check(client, count)

    def test_a_link_to_another_folder(self):
        kept = self.home / "kept"
        kept.mkdir()
        target = kept / "real.json"
        target.write_text(json.dumps({"toolsets": {"alpha": fixture("one")}}))
        link = self.home / "linked.json"
        link.symlink_to(target)
        client = self.begin(link)
        target.write_text(self.text(1))
        self.check(client, 1)
        self.write(self.text(2), target)
        self.check(client, 2)


class Tokens(ReloadTest):
    """The tokens file counts as it is, without a restart."""

    def new(self, name):
        done = self.cli("token", "new", name, "--tokens", self.home / "tokens.json", modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)
        return {"Authorization": "Bearer " + done.stdout.strip()}

    def revoke(self, name):
        done = self.cli("token", "revoke", name, "--tokens", self.home / "tokens.json", modules=False)
        self.assertEqual(done.returncode, 0, done.stderr)

    def begin(self):
        hub = self.daemon("--http", "0", "--tokens", self.home / "tokens.json", toolsets={"alpha": fixture("one", "hold")})
        return Server(self, hub)

    def test_revoked(self):  # A12
        good, bad = self.new("good"), self.new("bad")
        server = self.begin()
        streams = {}
        for name, headers in (("good", good), ("bad", bad)):
            session = server.legacy(headers=headers)
            streams[name] = (session, session.open(), server.listen(headers=headers, toolsListChanged=True))
        held = server.connection().send(server.modern_bytes(
            "tools/call", {"name": "alpha__hold", "arguments": {}}, bad))
        self.assertEqual(server.modern("tools/list", headers=bad).status, 200)
        self.revoke("bad")
        self.wait_reload(server.hub, 1)
        self.assertEqual(held.reply().status, 401)
        self.assertEqual(server.modern("tools/list", headers=bad).status, 401)
        session, own, listen = streams["bad"]
        for stream in (own, listen):
            while (event := stream.next()) is not None:
                self.assertEqual(event.data, "")  # where it could be taken up again
        self.assertEqual(session.request("tools/list").status, 401)
        session, own, listen = streams["good"]
        self.assertEqual(session.request("tools/list").status, 200)
        self.write({"toolsets": {"alpha": fixture("one", "two")}})
        self.assertEqual(own.message().method, LIST_CHANGED)
        self.assertEqual(listen.message().method, LIST_CHANGED)

    def test_new(self):
        self.new("first")
        server = self.begin()
        later = self.new("later")
        self.wait_reload(server.hub, 1)
        self.assertEqual(server.modern("tools/list", headers=later).status, 200)

    def test_a_body_that_is_still_coming(self):
        """Let in by a token that is revoked before the request is complete."""
        self.new("good")
        bad = self.new("bad")
        server = self.begin()
        request = server.modern_bytes("tools/list", {}, bad)
        connection = server.connection().send(request[:-5])
        server.modern("tools/list", headers=bad)  # so much has been read
        self.revoke("bad")
        self.wait_reload(server.hub, 1)
        self.assertEqual(connection.reply().status, 401)

    def test_a_websocket(self):
        good, bad = self.new("good"), self.new("bad")
        server = self.begin()
        kept, ended = (WebSocket(server, headers) for headers in (good, bad))
        self.revoke("bad")
        self.wait_reload(server.hub, 1)
        self.assertEqual(ended.closed(), 4401)
        self.assertEqual(kept.ask(request("tools/list", "later")).id, "later")
        self.assertEqual(kept.send(closing(1000)).closed(), 1000)


class Listeners(ReloadTest):
    def test_come_and_go(self):
        one, two = self.home / "one.sock", self.home / "two.sock"
        toolsets = {"alpha": fixture("one", "hold")}
        manifest = {"toolsets": toolsets, "listen": [{"http": "127.0.0.1:0"}, {"unix": str(one)}]}
        hub = self.daemon(manifest=manifest)
        server = Server(self, hub)
        hub.listening(2)
        kept = server.legacy()
        lines = Lines(one)
        self.addCleanup(lines.close)
        self.assertIn("result", lines.request("tools/list"))
        self.write({**manifest, "listen": [{"http": "127.0.0.1:0"}, {"unix": str(two), "profile": "extra"}],
                    "profiles": {"extra": {"naming": "dot"}}})
        self.wait_reload(hub, 1)
        self.assertSays(self.wait_reload(hub, 1, "listen.closed"), str(one))
        self.assertFalse(one.exists())
        self.assertIsNone(lines.receive())
        self.assertEqual(kept.request("tools/list").status, 200)
        other = Lines(two)
        self.addCleanup(other.close)
        names = [t["name"] for t in other.request("tools/list")["result"]["tools"]]
        self.assertIn("alpha.one", names)
        self.assertEqual(server.modern("tools/list", path="/mcp/extra").status, 200)
        self.assertEqual(len(re.findall("listen.ready url", hub.log)), 1)  # the same one all the time

    def test_hosts(self):
        manifest = {"toolsets": {"alpha": fixture("one")}, "listen": [{"http": "127.0.0.1:0"}]}
        server = Server(self, self.daemon(manifest=manifest))
        self.assertEqual(server.ask("OPTIONS", "/mcp", host="hub.example").status, 403)
        self.write({**manifest, "listen": [{"http": "127.0.0.1:0", "hosts": ["hub.example"]}]})
        self.wait_reload(server.hub, 1)
        self.assertEqual(server.ask("OPTIONS", "/mcp", host="hub.example").status, 204)

    def test_certificates(self):  # H16
        authority = Authority(self.home)
        first, second = (authority.issue(name, "DNS:localhost") for name in ("first", "second"))
        certificate, key = self.home / "hub.pem", self.home / "hub.key"

        def install(pair):
            for source, target in zip(pair, (certificate, key)):
                self.write(source.read_text(), target)
                target.chmod(0o600)

        install(first)
        tls = {"certificate": str(certificate), "key": str(key)}
        manifest = {"toolsets": {"alpha": fixture("one")}, "listen": [{"http": "127.0.0.1:0", "tls": tls}]}
        server = SecureServer(self, self.daemon(manifest=manifest))
        server.context = ssl.create_default_context(cafile=str(authority.certificate))

        def served():
            return server.connection().socket.getpeercert()["subject"][0][0][1]

        self.assertEqual(served(), "first")
        server.hub.process.send_signal(signal.SIGSTOP)  # both files, and only then a look
        install(second)
        server.hub.process.send_signal(signal.SIGCONT)
        self.wait_reload(server.hub, 1)
        self.assertEqual(served(), "second")
        self.write("not a certificate", certificate)
        self.wait_reload(server.hub, 1, "listen.not_reloaded")
        self.assertEqual(served(), "second")


class Profiles(ReloadTest):
    def test_one_that_goes_under_its_clients(self):
        """Over every transport they hear of it and see nothing any more, and nobody new gets in;
        when it is back, so are its tools."""
        socket_path = self.home / "hub.sock"
        toolsets = {"alpha": fixture("one", "hold")}
        both = {"toolsets": toolsets, "listen": [{"http": "127.0.0.1:0"}, {"unix": str(socket_path)}],
                "profiles": {"second": {"naming": "dot"}}}
        server = Server(self, self.daemon(manifest=both))
        session = server.legacy(path="/mcp/second")
        own, listen = session.open(), server.listen(path="/mcp/second", toolsListChanged=True)
        web = WebSocket(server, path="/ws/second")
        self.assertIn("alpha.one", web.ask(request("tools/list", "before")).raw)
        lines = Lines(socket_path)
        self.addCleanup(lines.close)
        self.assertIn("result", lines.request("tools/list"))
        self.write({**both, "profiles": {}})
        self.wait_reload(server.hub, 1)
        self.assertEqual(own.message().method, LIST_CHANGED)
        self.assertEqual(listen.message().method, LIST_CHANGED)
        self.assertEqual(session.request("tools/list").answer.result["tools"], [])
        self.assertIn('"tools":[]', web.ask(request("tools/list", "after")).raw)
        self.assertEqual(server.modern("tools/list", path="/mcp/second").status, 404)
        self.assertIn("result", lines.request("tools/list"))
        self.write(both)
        self.wait_reload(server.hub, 2)
        self.assertIn("alpha.one", session.request("tools/list").answer.raw)
        self.assertIn("alpha.one", web.ask(request("tools/list", "again")).raw)
        self.assertEqual(server.modern("tools/list", path="/mcp/second").status, 200)
        self.write({**both, "profiles": {}})
        self.wait_reload(server.hub, 3)
        self.assertLess(session.delete().status, 300)  # the last ones leave it
        web.send(closing(1000)).closed()
        listen.close()
        self.write({"toolsets": {"beta": fixture("two")}, "listen": both["listen"]})
        self.wait_reload(server.hub, 4)
        self.assertEqual(server.modern("tools/list").status, 200)


class Storm(ReloadTest):
    def rss(self, pid):
        with open(f"/proc/{pid}/status", encoding="ascii") as status:
            return int(re.search(r"VmRSS:\s+(\d+)", status.read())[1])

    def fds(self, pid):
        return len(os.listdir(f"/proc/{pid}/fd"))

    def variant(self, number):
        toolsets = {"kept": upstream(), "alpha": fixture("one", f"n{number}")}
        if number % 4 == 1:
            toolsets["extra"] = fixture("x")
        manifest = {"toolsets": toolsets, "limits": {"call_timeout": f"{300 + number % 3}s"}}
        if number % 6 == 2:
            manifest["profiles"] = {"second": {"naming": "dot"}}
        return manifest

    def test_good_and_bad_ones_under_load(self):  # C02, C03
        """PATCHBAY_ROUNDS of them: no call fails, the server stays, nothing grows."""
        client = self.legacy(manifest=self.variant(0))
        hub = client.hub
        hub.watchdog.cancel()
        pid = pid_of(client, "kept")
        over = threading.Event()
        failures, calls = [], [0]

        def load():
            while not over.is_set():
                for tool in ("kept__echo", "alpha__one"):
                    answer = client.call(tool, {"n": calls[0]})
                    calls[0] += 1
                    if "result" not in answer.data or answer.data["result"].get("isError"):
                        failures.append(answer.raw)

        thread = threading.Thread(target=load)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(over.set)
        good, sizes = 0, []
        for number in range(1, ROUNDS + 1):
            if number % 2:
                self.write(self.variant(number))
                good += 1
                self.wait_reload(client.hub, good)
            else:
                self.write('{"toolsets": [' if number % 4 else {"toolsets": {"x": fixture("x", fail="no")}})
                self.wait_reload(client.hub, number // 2, "config.refused")
            if number in (ROUNDS // 2, ROUNDS):
                sizes.append((self.rss(hub.process.pid), self.fds(hub.process.pid)))
        over.set()
        thread.join()
        self.assertEqual(failures, [])
        self.assertGreater(calls[0], 0)
        self.assertEqual(pid_of(client, "kept"), pid)
        self.assertIn(f"generation={good + 1} ", self.reloads(client.hub)[-1])
        (half_rss, half_fds), (rss, fds) = sizes
        hub.wait_until(lambda: self.fds(hub.process.pid) <= half_fds + 2, "as few descriptors as in the middle of it")
        self.assertLessEqual(rss, half_rss + 16 * 1024)
        print(f"{ROUNDS} reloads, {calls[0]} calls: rss {half_rss} -> {rss} KiB, descriptors {half_fds} -> {fds}",
              file=sys.stderr)


if __name__ == "__main__":
    main()
