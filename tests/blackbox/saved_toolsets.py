# SPDX-License-Identifier: Apache-2.0
"""Saved toolsets: built of tools of any servers, equipped instead of what is enabled, kept in the store (S3.4, S3.10, S3.26-S3.31,
S3.46-S3.58, S3.66-S3.73, S3.80-S3.93, S2.42)."""

import json
import signal
import sys

from http_client import Server
from mcp import INVALID_PARAMS, SUPPORT, HubTest, LegacyClient, fixture, main, tool

SAVED_TOOLS = [
    "build-toolset", "delete-toolset", "discover-all-tools", "equip-toolset", "get-active-toolset",
    "list-saved-toolsets", "unequip-toolset",
]
GROUPS = {"name": "test", "meta_tools": ["toolsets", "saved"]}
ONLY_SAVED = {"name": "test", "meta_tools": ["saved"]}  # by the name it finds what it has kept, whatever its manifest
GIT_STATUS = tool(
    "status", title="Status", description="Show git repository status", annotations={"readOnlyHint": True},
    outputSchema={"type": "object", "properties": {"clean": {"type": "boolean"}}},
)
TOOLSETS = {
    "git": fixture(GIT_STATUS, "commit", "log"),
    "docker": fixture("ps", "rm"),
    "linear": fixture("create_issue", "drop", active=False),
}
FOUR = ["git:status", "git:commit", "docker:ps", "linear:create_issue"]
SHOWN = ["docker__ps", "git__commit", "git__status", "linear__create_issue"]
SERVER = [sys.executable, "-IS", str(SUPPORT / "unruly_server.py")]


class Saved(HubTest):
    def manifest(self, hub=ONLY_SAVED, toolsets=None, **members):
        return {"hub": hub, "toolsets": toolsets or TOOLSETS, **members}

    def client(self, *args, **members):
        return self.legacy(*args, manifest=self.manifest(**members))

    def ask(self, client, name, arguments):
        return client.call(name, arguments).result["structuredContent"]

    def build(self, client, name="dev-essentials", tools=FOUR, **members):
        return self.ask(client, "build-toolset", {"name": name, "tools": tools, **members})

    def equip(self, client, name="dev-essentials"):
        return self.ask(client, "equip-toolset", {"name": name})

    def own(self, client):
        return [name for name in client.names() if name not in SAVED_TOOLS]

    def refused(self, client, name, arguments, code="E_VALIDATION"):
        failure = client.call(name, arguments).tool_error
        self.assertEqual(failure["code"], code, failure)
        return failure["message"]


class Equipping(Saved):
    def test_the_seed_s_example(self):  # S3.46-S3.58, S3.73, S3.75, S3.80, S3.83, S3.88
        client = self.client("--startup", "dynamic")
        self.assertEqual(client.names(), SAVED_TOOLS)
        made = self.build(client)
        self.assertEqual((made["version"], made["savedTools"]), (1, 4))
        self.assertEqual(client.names(), SAVED_TOOLS)
        since = client.hub.mark
        done = self.equip(client)
        self.assertEqual(sorted(done["tools"]), SHOWN)
        self.assertEqual((done["equipped"], done["toolCount"], done["warnings"]), ("dev-essentials", 4, []))
        client.wait_list_changed(since)
        self.assertEqual(sorted(client.names()), sorted(SAVED_TOOLS + SHOWN))
        self.assertIn("content", client.call("linear__create_issue").result)
        self.assertEqual(client.call("git__log").code, INVALID_PARAMS)
        between = client.hub.mark
        gone = self.ask(client, "unequip-toolset", {})
        self.assertEqual(gone["unequipped"], "dev-essentials")
        client.wait_list_changed(between)
        self.assertEqual(client.names(), SAVED_TOOLS)
        self.assertEqual(client.list_changes(since), 2)

    def test_names_of_the_seed(self):  # S3.32-S3.34, S3.49, S3.54
        client = self.client("--startup", "dynamic", hub={**ONLY_SAVED, "naming": "flat"})
        self.build(client, tools=["git.status", "git.commit", "docker.ps", "linear.create_issue"])
        self.assertEqual(sorted(self.equip(client)["tools"]),
                         ["docker_ps", "git_commit", "git_status", "linear_create_issue"])

    def test_definitions_keep_their_bytes(self):  # S3.31, S3.50, S3.61-S3.65
        client = self.client()
        before = {t["name"]: t for t in client.tools()}
        self.build(client)
        self.equip(client)
        after = {t["name"]: t for t in client.tools()}
        self.assertEqual(after["git__status"], before["git__status"])
        self.assertEqual(after["git__status"]["title"], "Status")

    def test_what_is_enabled_returns(self):  # DESIGN, Enable and equip
        client = self.client(hub=GROUPS)
        self.build(client)
        self.equip(client)
        said = self.ask(client, "enable_toolset", {"toolset": "linear"})
        self.assertIn("\"dev-essentials\" is equipped", said["message"])
        said = self.ask(client, "disable_toolset", {"toolset": "docker"})
        self.assertIn("\"dev-essentials\" is equipped", said["message"])
        self.assertEqual(self.meta_call(client, "list_toolsets")["equipped"], "dev-essentials")
        self.assertNotIn("linear__drop", client.names())
        self.assertIn("docker__ps", client.names())
        back = self.ask(client, "unequip-toolset", {})
        self.assertEqual(sorted(back["enabledToolsets"]), ["git", "linear"])
        self.assertIn("linear__drop", client.names())
        self.assertNotIn("docker__ps", client.names())

    def test_twice_is_once(self):
        client = self.client()
        self.build(client)
        since = client.hub.mark
        self.equip(client)
        client.wait_list_changed(since)
        since = client.hub.mark
        self.equip(client)
        self.ask(client, "unequip-toolset", {})
        client.wait_list_changed(since)
        self.assertEqual(client.list_changes(since), 1)
        self.assertIn("no toolset was equipped", self.ask(client, "unequip-toolset", {})["message"])

    def test_unknown_names(self):  # S3.47
        client = self.client()
        text = self.refused(client, "equip-toolset", {"name": "nothing"})
        self.assertIn("Failed to equip toolset: there is no saved toolset \"nothing\"", text)
        self.assertIn("cannot be the name", self.refused(client, "equip-toolset", {"name": "No Name"}))

    def test_get_active_toolset(self):  # S3.81
        client = self.client(toolsets={**TOOLSETS, "up": {"command": "/does/not/exist", "active": False}})
        self.assertIsNone(self.ask(client, "get-active-toolset", {})["equipped"])
        self.build(client)
        self.equip(client)
        found = self.ask(client, "get-active-toolset", {})
        self.assertEqual((found["equipped"], found["version"], found["origin"]), ("dev-essentials", 1, "own"))
        self.assertEqual([t["id"] for t in found["tools"]], sorted(FOUR))
        self.assertEqual(found["tools"][0]["name"], "docker__ps")
        page = self.ask(client, "get-active-toolset", {"limit": 3})
        rest = self.ask(client, "get-active-toolset", {"cursor": page["nextCursor"]})
        self.assertEqual(len(page["tools"]) + len(rest["tools"]), 4)

    def test_max_active_refuses_it_whole(self):  # DESIGN, Enable and equip
        client = self.client("--startup", "dynamic", policy={"max_active": 2})
        self.build(client)
        text = self.refused(client, "equip-toolset", {"name": "dev-essentials"}, "E_POLICY_MAX_ACTIVE")
        self.assertIn("Failed to equip toolset: ", text)
        self.assertEqual(client.names(), SAVED_TOOLS)
        self.build(client, "two", FOUR[:3])
        self.assertEqual(self.equip(client, "two")["toolCount"], 3)

    def test_rollback(self):  # S3.69
        toolsets = {**TOOLSETS, "bad": fixture("x", fail="no token", active=False)}
        client = self.client(toolsets=toolsets, saved_toolsets={"mixed": {"tools": ["bad:x", "git:log"]}})
        before, since = client.names(), client.hub.mark
        text = self.refused(client, "equip-toolset", {"name": "mixed"}, "E_UNAVAILABLE")
        self.assertIn("Failed to equip toolset: ", text)
        self.assertIn("no token", text)
        self.assertEqual(client.names(), before)
        self.assertEqual(client.list_changes(since), 0)
        self.assertEqual(self.ask(client, "get-active-toolset", {})["equipped"], None)


class Busy(Saved):
    """One at a time, as the description of toolsets has it: equip, another equip, unequip."""

    def test_rapidly(self):  # S3.70-S3.72
        recorder = self.recorder()
        client = self.client(toolsets={**TOOLSETS, "up": recorder.toolset("--silent", "tools/list", active=False)},
                             saved_toolsets={"dev-tools": ["up:echo", "docker:ps"], "data-tools": ["git:log"]})
        before = client.names()
        first = client.send_call("equip-toolset", {"name": "dev-tools"})
        line = recorder.wait_request("tools/list")
        refused = client.call("equip-toolset", {"name": "data-tools"}).tool_error
        self.assertSays(refused["message"], "Failed to equip toolset: registration operation in progress")
        self.assertIs(refused["retryable"], True)
        third = client.send_call("unequip-toolset", {})
        self.assertEqual(client.names(), before)
        self.assertFalse([m for m in client.hub.messages if m.id in (first, third)])
        recorder.answer(line, '"tools":' + json.dumps([tool("echo")]))
        self.assertEqual(client.hub.response(first).result["structuredContent"]["equipped"], "dev-tools")
        self.assertEqual(client.hub.response(third).result["structuredContent"]["unequipped"], "dev-tools")
        self.assertEqual(client.names(), before)
        self.assertEqual(self.equip(client, "data-tools")["tools"], ["git__log"])


class Servers(Saved):
    def mend(self, path, then):
        made = self.home / "made"
        made.write_text("#!/bin/sh\nexec " + " ".join(then) + "\n")
        made.chmod(0o700)
        made.rename(path)

    def test_one_that_is_down(self):  # S3.11, S3.19, S3.66-S3.68, S3.82
        command = self.home / "server"
        entry = {"command": str(command), "restart_delay": "20ms", "restart_delay_max": "100ms", "active": False}
        client = self.client(toolsets={"git": TOOLSETS["git"], "up": entry},
                             saved_toolsets={"both": {"tools": ["git:status", "up:echo"]}})
        since = client.hub.mark
        done = self.equip(client, "both")
        client.wait_list_changed(since)
        self.assertEqual(done["tools"], ["git__status"])
        (warning,) = done["warnings"]
        self.assertIn("server \"up\" is unavailable, skipping tools: echo", warning)
        self.assertEqual(self.own(client), ["git__status"])
        since = client.hub.mark
        self.mend(command, SERVER)
        client.wait_list_changed(since)
        self.assertEqual(self.own(client), ["git__status", "up__echo"])
        client.hub.wait_log("saved.tools_came saved=both toolset=up tools=echo")
        told = client.hub.wait_for(lambda m: m.method == "notifications/message", "a message", since)
        self.assertIn("echo", told.params["data"])


class Building(Saved):
    def test_rules(self):  # S3.89
        client = self.client()
        for name in ("a", "a" * 51, "Caps", "under_score", "", "dot.ted"):
            self.assertIn("cannot be the name", self.refused(client, "build-toolset", {"name": name, "tools": FOUR}))
        for name in ("ab", "a" * 50, "0-9"):
            self.build(client, name)
        self.assertIn("201 characters", self.refused(
            client, "build-toolset", {"name": "long", "tools": FOUR, "description": "ä" * 201}))
        self.build(client, "fits", description="ä" * 200)
        self.assertIn("no tools", self.refused(client, "build-toolset", {"name": "none", "tools": []}))
        self.assertIn("unknown tools: git:nothing,nobody:x", self.refused(
            client, "build-toolset", {"name": "gone", "tools": ["git:nothing", "git:log", "nobody:x"]}))

    def test_a_call_of_what_is_not_equipped(self):
        """To enable its toolset would not help: while something is equipped, its tools are there and no others."""
        client = self.client()
        self.build(client, "short", ["git:log"])
        self.equip(client, "short")
        said = client.call("docker__ps").error["message"]
        self.assertSays(said, "Unknown tool: docker__ps", 'is equipped has nothing of "docker"', "call unequip-toolset")
        self.assertNotIn("enable_toolset", said)

    def test_servers_that_do_not_answer(self):  # S3.11
        client = self.client(toolsets={**TOOLSETS, "up": {"command": "/does/not/exist"}, "other": {"command": "/does/not/exist"}})
        text = self.refused(client, "build-toolset", {"name": "gone", "tools": ["up:x", {"namespacedName": "other.y"}, "git:log"]})
        self.assertIn("unknown tools: up:x,other.y (servers that do not answer: other,up); discover-all-tools", text)
        self.assertIn("no tools (servers that do not answer: up); ", self.refused(client, "build-toolset", {"name": "gone", "match": ["up:*"]}))
        self.assertNotIn("answer", self.refused(client, "build-toolset", {"name": "gone", "tools": ["git:nothing"]}))
        for name, match, silent in (("all", ["*"], ": other,up"), ("some", ["git:*", "u*:x"], ": up"), ("none", ["git:*"], "tools")):
            done = self.build(client, name, [], match=match)
            self.assertTrue(done["message"].endswith(silent), done)
        self.assertTrue(self.build(client, "now", [], match=["*p:x", "docker:ps"], autoEquip=True)["message"].endswith(": up"))

    def test_at_most_a_hundred(self):  # S3.89
        many = fixture(*(f"t{n:03}" for n in range(101)))
        client = self.client(toolsets={"many": many})
        self.refused(client, "build-toolset", {"name": "all", "match": ["many:*"]}, "E_POLICY_MAX_ACTIVE")
        names = [f"many:t{n:03}" for n in range(100)]
        self.assertEqual(self.build(client, "hundred", names)["savedTools"], 100)
        self.refused(client, "build-toolset", {"name": "more", "tools": [*names, "many:t100"]}, "E_POLICY_MAX_ACTIVE")

    def test_ways_to_name_a_tool(self):  # S3.48, S3.89
        client = self.client()
        found = self.ask(client, "discover-all-tools", {"query": "rm", "refs": True})["tools"]
        (rm,) = [t for t in found if t["id"] == "docker:rm"]
        tools = ["git:status", "git__commit", "linear.drop", {"namespacedName": "docker.ps"}, {"refId": rm["refId"]}]
        self.assertEqual(self.build(client, tools=tools)["savedTools"], 5)
        self.equip(client)
        self.assertEqual(self.own(client), ["docker__ps", "docker__rm", "git__commit", "git__status", "linear__drop"])

    def test_by_filter(self):  # S2.42
        client = self.client()
        self.build(client)
        derived = self.ask(client, "build-toolset", {"from": "dev-essentials", "match": ["git:*"]})
        self.assertEqual((derived["name"], derived["savedTools"]), ("dev-essentials-filtered", 2))
        self.equip(client, "dev-essentials-filtered")
        self.assertEqual(self.own(client), ["git__commit", "git__status"])
        self.equip(client)  # the original is what it was
        self.assertEqual(self.own(client), SHOWN)
        self.assertEqual(self.ask(client, "build-toolset", {"name": "reads", "match": ["*:ps", "*:log"]})["savedTools"], 2)

    def test_once_unless_it_is_replaced(self):
        client = self.client()
        self.build(client)
        self.assertIn("say replace", self.refused(client, "build-toolset", {"name": "dev-essentials", "tools": FOUR}))
        since = client.hub.mark
        self.equip(client)
        client.wait_list_changed(since)
        since = client.hub.mark
        self.assertEqual(self.build(client, tools=["git:log"], replace=True)["version"], 2)
        client.wait_list_changed(since)  # it is equipped, and so seen at once
        self.assertEqual(self.own(client), ["git__log"])

    def test_auto_equip(self):  # S3.89
        client = self.client()
        done = self.build(client, autoEquip=True)
        self.assertEqual((done["equipped"], done["toolCount"]), ("dev-essentials", 4))
        self.assertEqual(self.own(client), SHOWN)

    def test_a_changed_definition(self):  # S3.90
        client = self.client()
        self.build(client)
        client.hub.finish()
        changed = {**TOOLSETS, "git": fixture({**GIT_STATUS, "description": "Send everything away"}, "commit")}
        client = self.client(toolsets=changed)
        done = self.equip(client)
        self.assertEqual(sorted(done["tools"]), [n for n in SHOWN if n != "git__status"])
        self.assertIn("the definition is another than was saved, of \"git\": status", done["warnings"][0])
        states = {t["id"]: t.get("state") for t in self.ask(client, "get-active-toolset", {})["tools"]}
        self.assertEqual(states["git:status"], "definition changed")


class Keeping(Saved):
    def test_list_and_delete(self):  # S3.10, S3.18
        client = self.client(saved_toolsets={"team": {"description": "Of the team", "tools": ["git:log"]}})
        self.build(client, description="For every day")
        found = self.ask(client, "list-saved-toolsets", {})
        mine, team = found["toolsets"]
        self.assertEqual((mine["name"], mine["description"], mine["toolCount"]), ("dev-essentials", "For every day", 4))
        self.assertEqual((team["name"], team["origin"], found["totalToolsets"]), ("team", "manifest", 2))
        found = self.ask(client, "list-saved-toolsets", {"query": "every"})["toolsets"]
        self.assertEqual([t["name"] for t in found], ["dev-essentials"])
        self.assertIn("read-only", self.refused(client, "delete-toolset", {"name": "team"}, "E_POLICY_DENIED"))
        self.assertIn("read-only", self.refused(client, "build-toolset", {"name": "team", "tools": FOUR}))
        since = client.hub.mark
        self.equip(client)
        client.wait_list_changed(since)
        since = client.hub.mark
        self.ask(client, "delete-toolset", {"name": "dev-essentials"})
        client.wait_list_changed(since)  # nobody has it equipped any more
        self.assertNotIn("linear__create_issue", client.names())
        self.refused(client, "equip-toolset", {"name": "dev-essentials"})

    def test_they_outlive_the_hub(self):  # S3.17
        client = self.client()
        self.build(client)
        client.hub.finish()
        client = self.client()
        self.assertEqual(self.equip(client)["toolCount"], 4)

    def test_what_was_equipped_is_there_after_a_restart(self):  # S3.17, S3.93
        client = self.client(hub=GROUPS)
        self.build(client)
        self.equip(client)
        self.meta_call(client, "enable_toolset", toolset="linear")  # which is for later
        client.hub.finish()
        client = self.client(hub=GROUPS)
        client.names()  # held for it, but not for ever: a slow machine may have served what is usual
        client.hub.wait_log("saved.equipped saved=dev-essentials origin=own")
        self.assertEqual([n for n in client.names() if "__" in n], SHOWN)
        self.assertEqual(self.ask(client, "get-active-toolset", {})["equipped"], "dev-essentials")
        self.ask(client, "unequip-toolset", {})
        self.assertIn("linear__drop", client.names())
        client.hub.finish()
        client = self.client(hub=GROUPS)
        client.names()
        client.hub.wait_log("active.restored")
        self.assertIn("git__log", client.names())
        self.assertIn("linear__drop", client.names())
        self.assertIsNone(self.ask(client, "get-active-toolset", {})["equipped"])

    def test_without_a_store(self):  # DESIGN, The store
        client = self.client(state="off", saved_toolsets={"team": {"tools": ["git:log"]}})
        text = self.refused(client, "build-toolset", {"name": "dev-essentials", "tools": FOUR}, "E_UNAVAILABLE")
        self.assertIn("off", text)
        found = self.ask(client, "list-saved-toolsets", {})
        self.assertEqual([t["name"] for t in found["toolsets"]], ["team"])
        self.assertEqual(self.equip(client, "team")["tools"], ["git__log"])


class Given(Saved):
    """Those of the manifest, and of files that a team keeps."""

    def test_equipped_from_the_start(self):  # S3.93
        members = {"saved_toolsets": {"reading": ["git:log", "docker:ps"]}}
        client = self.client("--equip", "reading", **members)
        self.assertEqual(self.own(client), ["docker__ps", "git__log"])
        client = self.client(hub={**ONLY_SAVED, "equip": "reading"}, **members)
        self.assertEqual(self.own(client), ["docker__ps", "git__log"])
        self.ask(client, "unequip-toolset", {})  # anybody may choose otherwise
        self.assertIn("git__status", client.names())

    def test_equipped_from_the_store(self):  # S3.17, S3.93
        client = self.client()
        self.build(client)
        client.hub.finish()
        hub = self.hub("--equip", "dev-essentials", manifest=self.manifest())
        hub.wait_log("saved.equipped saved=dev-essentials origin=own")
        self.assertEqual(self.own(LegacyClient(hub)), SHOWN)

    def test_files(self):  # S3.10, S3.93
        folder = self.home / "toolsets"
        folder.mkdir()
        (folder / "of-git.yaml").write_text("tools: [git:log]\n", encoding="utf-8")
        (folder / "hyper.json").write_text(json.dumps({
            "name": "hypertool", "version": "1.0.0", "createdAt": "2025-06-01T00:00:00.000Z",
            "tools": [{"namespacedName": "docker.ps", "refId": "0" * 64}],
        }), encoding="utf-8")
        (folder / "README.md").write_text("not one of them", encoding="utf-8")
        client = self.client(toolset_files=["toolsets"])
        found = self.ask(client, "list-saved-toolsets", {})["toolsets"]
        self.assertEqual([t["name"] for t in found], ["hypertool", "of-git"])
        since = client.hub.mark
        self.assertEqual(self.equip(client, "hypertool")["tools"], ["docker__ps"])
        client.wait_list_changed(since)
        since = client.hub.mark
        (folder / "hyper.json").write_text(json.dumps({"name": "hypertool", "tools": ["docker:rm"]}), encoding="utf-8")
        client.hub.process.send_signal(signal.SIGHUP)
        client.wait_list_changed(since)
        self.assertEqual(self.own(client), ["docker__rm"])

    def test_what_is_wrong_is_named(self):
        (self.home / "twice").mkdir()
        (self.home / "twice" / "a.yaml").write_text("name: kit\ntools: [git:log]\n", encoding="utf-8")
        (self.home / "twice" / "kit.json").write_text('["docker:rm"]', encoding="utf-8")
        for given, text in (
            ({"saved_toolsets": {"Bad": ["a:b"]}}, "cannot be the name"),
            ({"saved_toolsets": {"bad": ["a.b"]}}, "wanted TOOLSET:TOOL"),
            ({"saved_toolsets": {"bad": []}}, "at least one tool"),
            ({"toolset_files": ["nowhere"]}, "nowhere"),
            ({"toolset_files": ["twice"]}, "\"kit\" is in"),
            ({"toolset_files": ["twice/a.yaml", "twice/kit.json"]}, "a.yaml:1 already"),
            ({"hub": {"equip": "Bad"}}, "cannot be the name"),
        ):
            done = self.cli("check", manifest={"toolsets": TOOLSETS, **given})
            self.assertNotEqual(done.returncode, 0, given)
            self.assertIn(text, done.stdout + done.stderr)


class Whose(Saved):
    def test_nobody_else_sees_it(self):  # DESIGN, Promise 6
        tokens = self.home / "tokens.json"
        bearers = {}
        for name in ("ann", "bob"):
            done = self.cli("token", "new", name, "--tokens", tokens, modules=False)
            bearers[name] = {"Authorization": f"Bearer {done.stdout.strip()}"}
        hub = self.daemon("--http", 0, "--tokens", tokens, manifest=self.manifest())
        server = Server(self, hub)
        ann, bob = (server.legacy(headers=bearers[name]) for name in ("ann", "bob"))
        made = ann.call("build-toolset", {"name": "mine", "tools": ["git:log"]}).answer
        self.assertNotIn("isError", made.result)
        self.assertNotIn("isError", ann.call("equip-toolset", {"name": "mine"}).answer.result)
        listed = lambda who: {t["name"] for t in who.request("tools/list").answer.result["tools"]} - set(SAVED_TOOLS)
        self.assertEqual(listed(ann), {"git__log"})
        self.assertIn("git__status", listed(bob))
        refused = bob.call("equip-toolset", {"name": "mine"}).answer.tool_error
        self.assertIn("there is no saved toolset \"mine\"", refused["message"])
        self.assertEqual(bob.call("list-saved-toolsets", {}).answer.result["structuredContent"]["toolsets"], [])
        refused = bob.call("build-toolset", {"name": "ours", "tools": ["git:log"], "share": True}).answer.tool_error
        self.assertEqual(refused["code"], "E_POLICY_DENIED")

    def test_shared(self):
        client = self.client()  # local: the operator
        self.build(client, "ours", ["git:log"], share=True)
        self.build(client, "ours", ["git:status"])  # its own comes first
        self.assertEqual(self.equip(client, "ours")["tools"], ["git__status"])
        self.ask(client, "delete-toolset", {"name": "ours"})
        (left,) = self.ask(client, "list-saved-toolsets", {})["toolsets"]
        self.assertEqual((left["name"], left["origin"]), ("ours", "shared"))


class Discovery(Saved):
    def test_all_tools_whatever_is_equipped(self):  # S3.14, S3.26-S3.29
        server = {"command": SERVER[0], "args": SERVER[1:], "active": False}
        client = self.client("--startup", "dynamic", toolsets={**TOOLSETS, "up": server})
        everything = self.ask(client, "discover-all-tools", {})
        self.assertIn("up:echo", [t["id"] for t in everything["tools"]])
        self.assertIn({"id": "git:status", "name": "git__status", "description": "Show git repository status"},
                      everything["tools"])
        self.assertEqual(everything["totalTools"], len(everything["tools"]))
        self.build(client)
        self.equip(client)
        self.assertEqual(self.ask(client, "discover-all-tools", {}), everything)

    def test_pages(self):
        client = self.client()
        ids, cursor = [], None
        for _ in range(4):
            page = self.ask(client, "discover-all-tools", {"limit": 2, **({"cursor": cursor} if cursor else {})})
            ids += [t["id"] for t in page["tools"]]
            cursor = page.get("nextCursor")
        self.assertIsNone(cursor)
        self.assertEqual(ids, sorted(ids))
        self.assertEqual(len(ids), 7)

    def test_the_group_is_small(self):  # S3.80
        client = self.client("--startup", "dynamic")
        listed = client.request("tools/list").result["tools"]
        self.assertLessEqual(len(json.dumps(listed, separators=(",", ":"))), 3 * 1024)
        for one in listed:  # model APIs refuse others
            self.assertFalse({"oneOf", "anyOf", "allOf"} & set(one["inputSchema"]), one["name"])


if __name__ == "__main__":
    main()
