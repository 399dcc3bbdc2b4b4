# SPDX-License-Identifier: Apache-2.0
"""The hub's own toolset `_meta`: enabling, disabling and describing at run time (S1.5-S1.42)."""

import json

from mcp import (
    INVALID_PARAMS,
    LIST_CHANGED,
    META_TOOLS,
    HubTest,
    LegacyClient,
    ModernClient,
    fixture,
    main,
    tool,
)

OFF = {"active": False}
TOOLSETS = {
    "alpha": fixture("one", "two", description="The first letters.", **OFF),
    "beta": fixture("three", **OFF),
    "gamma": fixture("four", "five", "six", **OFF),
}


class Listing(HubTest):
    def test_which_meta_tools_there_are(self):  # S1.32
        client = self.modern(toolsets=TOOLSETS)
        self.assertEqual(client.names(), META_TOOLS)

    def test_static_has_none_unless_asked(self):  # S1.32
        static = ["--startup", "static", "--toolsets", "alpha"]
        client = self.modern(*static, toolsets=TOOLSETS)
        self.assertEqual(client.names(), ["alpha__one", "alpha__two"])
        self.assertEqual(client.call("list_tools").code, INVALID_PARAMS)
        client = self.modern(*static, manifest={"hub": {"meta_tools": True}}, toolsets=TOOLSETS)
        self.assertEqual(client.names(), ["list_tools", "alpha__one", "alpha__two"])
        self.assertEqual(client.call("enable_toolset", {"toolset": "beta"}).code, INVALID_PARAMS)

    def test_without_meta_tools(self):  # S1.4
        client = self.modern("--no-meta-tools", toolsets={"alpha": fixture("one")})
        self.assertEqual(client.names(), ["alpha__one"])
        self.assertEqual(client.call("list_tools").code, INVALID_PARAMS)

    def test_groups(self):
        for groups, names in ((["toolsets"], META_TOOLS), ([], []), (True, META_TOOLS), (False, [])):
            client = self.modern(manifest={"hub": {"meta_tools": groups}, "toolsets": TOOLSETS})
            self.assertEqual(client.names(), names, groups)

    def test_annotations(self):  # S1.41
        client = self.modern(toolsets=TOOLSETS)
        hints = {t["name"]: t["annotations"] for t in client.tools()}
        for name in ("enable_toolset", "disable_toolset"):
            self.assertIs(hints[name]["readOnlyHint"], False)
            self.assertIs(hints[name]["idempotentHint"], True)
        # 2026-07-28 schema, ToolAnnotations: what only adds destroys nothing
        self.assertIs(hints["enable_toolset"]["destructiveHint"], False)
        self.assertIs(hints["disable_toolset"]["destructiveHint"], True)
        for name in ("list_toolsets", "describe_toolset", "list_tools"):
            self.assertIs(hints[name]["readOnlyHint"], True)
            self.assertIs(hints[name]["idempotentHint"], True)

    def test_results_are_structured(self):
        client = self.modern(toolsets=TOOLSETS)
        calls = {
            "enable_toolset": {"toolset": "alpha"},
            "list_toolsets": {},
            "describe_toolset": {"toolset": "alpha"},
            "list_tools": {},
            "disable_toolset": {"toolset": "alpha"},
        }
        for name, arguments in calls.items():
            result = client.call(name, arguments).result
            self.assertEqual(json.loads(result["content"][0]["text"]), result["structuredContent"])

    def test_list_toolsets(self):  # S1.14, S1.40
        client = self.modern(toolsets=TOOLSETS)
        client.call("enable_toolset", {"toolset": "gamma"})
        found = self.meta_call(client, "list_toolsets")["toolsets"]
        self.assertEqual([t["key"] for t in found], ["alpha", "beta", "gamma"])
        self.assertEqual([t["active"] for t in found], [False, False, True])
        self.assertEqual(found[0]["description"], "The first letters.")
        self.assertEqual(found[2]["toolCount"], 3)
        status = self.meta_call(client, "list_toolsets")
        self.assertEqual((status["totalToolsets"], status["activeCount"]), (3, 1))

    def test_describe_toolset(self):
        client = self.modern(toolsets=TOOLSETS)
        client.call("enable_toolset", {"toolset": "alpha"})
        found = self.meta_call(client, "describe_toolset", toolset="alpha")
        self.assertEqual(found["key"], "alpha")
        self.assertIs(found["active"], True)
        self.assertEqual([t["name"] for t in found["tools"]], ["alpha__one", "alpha__two"])
        failure = client.call("describe_toolset", {"toolset": "nope"}).tool_error
        self.assertEqual(failure["code"], "E_VALIDATION")
        self.assertSays(failure["message"], "nope")

    def test_describe_an_inactive_toolset(self):
        client = self.modern(toolsets=TOOLSETS)
        found = self.meta_call(client, "describe_toolset", toolset="beta")
        self.assertIs(found["active"], False)
        self.assertEqual(client.names(), META_TOOLS)

    def test_list_tools_says_what_is_active(self):  # S1.14, S1.40: status reports the logical truth
        client = self.modern(toolsets=TOOLSETS)
        self.assertEqual(self.meta_call(client, "list_tools")["tools"], META_TOOLS)
        client.call("enable_toolset", {"toolset": "alpha"})
        found = self.meta_call(client, "list_tools")
        self.assertEqual(found["tools"], META_TOOLS + ["alpha__one", "alpha__two"])
        self.assertEqual(found["totalTools"], len(META_TOOLS) + 2)

    def test_bad_arguments(self):  # S1.39
        client = self.modern(toolsets=TOOLSETS)
        for arguments in ({}, {"toolset": 1}, {"toolset": []}, {"toolsets": 7}, {"toolset": "alpha", "x": 1}):
            failure = client.call("enable_toolset", arguments).tool_error
            self.assertIn(failure["code"], ("TOOL_INVALID_INPUT", "E_VALIDATION"), arguments)
        for name in ("", "   ", "ALPHA", "_meta"):
            failure = client.call("enable_toolset", {"toolset": name}).tool_error
            self.assertEqual(failure["code"], "E_VALIDATION", name)
        self.assertEqual(client.names(), META_TOOLS)

    def test_names_are_trimmed(self):  # S1.39
        client = self.modern(toolsets=TOOLSETS)
        client.call("enable_toolset", {"toolset": "  alpha\n"}).result
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])


class Enabling(HubTest):
    def test_enable_and_call(self):  # S1.6-S1.9, S1.18
        client = self.legacy(toolsets=TOOLSETS)
        answer = client.call("enable_toolset", {"toolset": "alpha"})
        self.assertNotIn("isError", answer.result)
        self.assertSays(answer.result["content"][0]["text"], "alpha", "2")  # S1.36: enabled, with count
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])
        self.assertEqual(client.call("alpha__two").result["structuredContent"]["tool"], "two")

    def test_unknown_toolset(self):  # S1.6, S1.23
        client = self.legacy(toolsets=TOOLSETS)
        since = client.hub.mark
        failure = client.call("enable_toolset", {"toolset": "alhpa"}).tool_error
        self.assertEqual(failure["code"], "E_VALIDATION")
        self.assertSays(failure["message"], "alhpa", "alpha")  # names it, and suggests the nearest
        client.barrier()
        self.assertEqual(client.list_changes(since), 0)

    def test_already_enabled(self):  # S1.23, S1.36
        client = self.legacy(toolsets=TOOLSETS)
        since = client.hub.mark
        client.call("enable_toolset", {"toolset": "alpha"})
        client.wait_list_changed(since)
        since = client.hub.mark
        result = self.meta_call(client, "enable_toolset", toolset="alpha")
        self.assertEqual((result["ok"], result["toolCount"]), (True, 2))
        self.assertSays(result["message"], "alpha", "already enabled", "2 tools")
        client.barrier()
        self.assertEqual(client.list_changes(since), 0)

    def test_disable(self):  # S1.13: truly unregistered
        client = self.legacy(toolsets=TOOLSETS)
        client.call("enable_toolset", {"toolset": "alpha"})
        answer = client.call("disable_toolset", {"toolset": "alpha"})
        self.assertSays(answer.result["content"][0]["text"], "alpha")
        self.assertEqual(client.own_names(), [])
        answer = client.call("alpha__one")
        self.assertEqual(answer.code, INVALID_PARAMS)
        self.assertSays(answer.error["message"], "unknown tool")

    def test_disable_what_is_not_enabled(self):
        client = self.legacy(toolsets=TOOLSETS)
        since = client.hub.mark
        result = self.meta_call(client, "disable_toolset", toolset="beta")
        self.assertIs(result["ok"], True)
        self.assertSays(result["message"], "beta", "not enabled")
        failure = client.call("disable_toolset", {"toolset": "nope"}).tool_error
        self.assertEqual(failure["code"], "E_VALIDATION")
        self.assertSays(failure["message"], "nope")
        client.barrier()
        self.assertEqual(client.list_changes(since), 0)

    def test_meta_cannot_be_disabled(self):  # S1.31
        client = self.legacy(toolsets=TOOLSETS)
        failure = client.call("disable_toolset", {"toolset": "_meta"}).tool_error
        self.assertEqual(failure["code"], "E_VALIDATION")
        self.assertEqual(client.names(), META_TOOLS)

    def test_enable_disable_enable_for_ever(self):  # S1.45, S3.86
        client = self.legacy(toolsets=TOOLSETS)
        for _ in range(50):
            client.call("enable_toolset", {"toolset": "alpha"}).result
            self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])
            self.assertIn("result", client.call("alpha__one").data)
            client.call("disable_toolset", {"toolset": "alpha"}).result
            self.assertEqual(client.own_names(), [])
            self.assertEqual(client.call("alpha__one").code, INVALID_PARAMS)

    def test_the_active_set_is_the_profile_s_not_the_connection_s(self):
        hub = self.hub(toolsets=TOOLSETS)
        legacy, modern = LegacyClient(hub), ModernClient(hub)
        legacy.call("enable_toolset", {"toolset": "beta"})
        self.assertEqual(modern.own_names(), ["beta__three"])
        modern.call("disable_toolset", {"toolset": "beta"})
        self.assertEqual(legacy.own_names(), [])

    def test_calls_in_flight_when_disabled(self):
        client = self.legacy(toolsets={"alpha": fixture("hold")})
        held = [client.send_call("alpha__hold") for _ in range(10)]
        client.call("disable_toolset", {"toolset": "alpha"}).result
        for request_id in held:
            failure = client.hub.response(request_id).tool_error
            self.assertEqual(failure["code"], "TOOL_UNAVAILABLE")

    def test_a_module_that_fails_is_not_active(self):  # S1.19, S1.42, S3.69
        toolsets = {**TOOLSETS, "broken": fixture("x", fail="no paper", **OFF)}
        client = self.legacy(toolsets=toolsets)
        since = client.hub.mark
        failure = client.call("enable_toolset", {"toolset": "broken"}).tool_error
        self.assertEqual(failure["code"], "E_UNAVAILABLE")
        self.assertSays(failure["message"], "broken", "no paper")
        found = {t["key"]: t for t in self.meta_call(client, "list_toolsets")["toolsets"]}
        self.assertIs(found["broken"]["active"], False)
        client.barrier()
        self.assertEqual(client.list_changes(since), 0)
        client.call("enable_toolset", {"toolset": "alpha"}).result  # the lock is free, S3.72

    def test_a_module_that_fails_at_start_leaves_the_others(self):  # S1.42
        toolsets = {"alpha": fixture("one"), "broken": fixture("x", fail="no paper")}
        client = self.legacy(toolsets=toolsets)
        self.assertEqual(client.own_names(), ["alpha__one"])
        self.assertSays(client.hub.wait_log("no paper"), "broken")
        rows = {row["key"]: row for row in self.meta_call(client, "list_toolsets")["toolsets"]}
        self.assertEqual((rows["broken"]["active"], rows["broken"]["state"]), (False, "failed"))
        self.assertSays(rows["broken"]["reason"], "no paper")
        self.assertNotIn("reason", rows["alpha"])

    def test_a_toolset_switched_off_by_configuration(self):
        client = self.legacy(toolsets={**TOOLSETS, "off": fixture("x", enabled=False)})
        failure = client.call("enable_toolset", {"toolset": "off"}).tool_error
        self.assertIn(failure["code"], ("E_VALIDATION", "E_POLICY_DENIED"))
        self.assertSays(failure["message"], "off")


class Batches(HubTest):
    def test_one_notification_for_a_batch(self):  # S1.20, S3.83
        client = self.legacy(toolsets=TOOLSETS)
        since = client.hub.mark
        client.call("enable_toolset", {"toolsets": ["alpha", "beta", "gamma"]}).result
        client.wait_list_changed(since)
        self.assertEqual(len(client.own_names()), 6)
        client.call("disable_toolset", {"toolset": "beta"})  # the second change has its own
        client.hub.wait_until(lambda: client.list_changes(since) >= 2, "the second notification")
        client.barrier()
        self.assertEqual(client.list_changes(since), 2)

    def outcome(self, client, *names):
        """Enable a batch; return its result and, per toolset, whether it was enabled."""
        answer = client.call("enable_toolset", {"toolsets": list(names)})
        result = answer.result["structuredContent"]
        self.assertEqual(result["succeeded"] + result["failed"], len(names))
        self.assertEqual("isError" in answer.result, result["succeeded"] == 0)
        self.assertEqual([r["toolset"] for r in result["results"]], [name.strip() for name in names])
        return result, [r["ok"] for r in result["results"]]

    def test_all_some_none(self):  # S1.36
        for names, expected, word in (
            (["alpha", "beta"], [True, True], "all"),
            (["alpha", "nope", "beta"], [True, False, True], "some"),
            (["nope", ""], [False, False], "none"),
        ):
            with self.subTest(word):
                client = self.legacy(toolsets=TOOLSETS, manifest={"state": "off"})
                since = client.hub.mark
                result, enabled = self.outcome(client, *names)
                self.assertEqual(enabled, expected)
                self.assertSays(result["message"], word)
                for name, row in zip(names, result["results"]):
                    if not row["ok"]:
                        self.assertEqual(row["code"], "E_VALIDATION")
                        self.assertSays(row["message"], name)
                if any(expected):
                    client.wait_list_changed(since)
                client.barrier()
                self.assertEqual(client.list_changes(since), 1 if any(expected) else 0)
                client.hub.finish()

    def test_duplicates_within_a_batch(self):  # S1.45
        client = self.legacy(toolsets=TOOLSETS)
        result, enabled = self.outcome(client, "alpha", "beta", "alpha", " beta ")
        self.assertEqual(enabled, [True, True, True, True])
        self.assertSays(result["results"][2]["message"], "alpha", "already enabled")
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two", "beta__three"])
        client.call("disable_toolset", {"toolset": "alpha"}).result
        self.assertEqual(client.own_names(), ["beta__three"])

    def test_a_failing_module_in_a_batch(self):  # S1.19, S1.42
        toolsets = {**TOOLSETS, "broken": fixture("x", fail="no paper", **OFF)}
        client = self.legacy(toolsets=toolsets)
        result, enabled = self.outcome(client, "alpha", "broken", "beta")
        self.assertEqual(enabled, [True, False, True])
        self.assertEqual(result["results"][1]["code"], "E_UNAVAILABLE")
        self.assertSays(result["results"][1]["message"], "broken", "no paper")
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two", "beta__three"])

    def test_an_empty_batch(self):
        client = self.legacy(toolsets=TOOLSETS)
        failure = client.call("enable_toolset", {"toolsets": []}).tool_error
        self.assertEqual(failure["code"], "TOOL_INVALID_INPUT")

    def test_a_batch_of_disables(self):
        client = self.legacy(toolsets=TOOLSETS)
        client.call("enable_toolset", {"toolsets": ["alpha", "beta"]})
        answer = client.call("disable_toolset", {"toolsets": ["alpha", "gamma", "beta"]})
        rows = answer.result["structuredContent"]["results"]
        self.assertEqual([r["ok"] for r in rows], [True, True, True])
        self.assertSays(rows[1]["message"], "gamma", "not enabled")
        self.assertEqual(client.own_names(), [])


class Traces(HubTest):
    """What a client's call causes is logged under its trace (S4.59 to S4.64)."""

    def wait_logged(self, hub, event, trace):
        hub.wait_until(
            lambda: [x for x in hub.log.splitlines() if event in x and f"traceId={trace}" in x], f"{event} under {trace}"
        )

    def test_enable_and_disable(self):
        toolsets = {**TOOLSETS, "up": self.recorder().toolset(**OFF), "gone": {"command": "patchbay-none", **OFF}}
        client = self.legacy(toolsets=toolsets)
        for number, (name, keys, events) in enumerate((
            ("enable_toolset", ["up", "alpha"], ("toolset.enabled toolset=up", "toolset.enabled toolset=alpha",
                                                 "tools.discovery.started", "tools.discovery.server.success",
                                                 "tools.registry.updated")),
            ("enable_toolset", ["gone"], ("toolset.wanted toolset=gone", "tools.discovery.server.failed")),
            ("enable_toolset", ["nope"], ("toolset.refused toolset=nope",)),
            ("disable_toolset", ["alpha"], ("toolset.disabled toolset=alpha", "tools.registry.updated")),
        )):
            trace = f"{number + 1:032x}"
            client.call(name, {"toolsets": keys}, meta={"traceparent": f"00-{trace}-b7ad6b7169203331-01"})
            for event in events:
                with self.subTest(event):
                    self.wait_logged(client.hub, event, trace)


class Wanted(HubTest):
    """A server that cannot be reached may be enabled: it is there when it comes."""

    def gate(self):
        """A server whose program is not there yet, and what makes it come."""
        path = self.home / "server"
        server = self.recorder().toolset()

        def come():
            made = self.home / "made"
            made.write_text("#!/bin/sh\nexec " + " ".join([server["command"], *server["args"]]) + "\n")
            made.chmod(0o700)
            made.rename(path)

        entry = {"command": str(path), "env": server["env"], "restart_delay": "20ms", "restart_delay_max": "50ms", **OFF}
        return entry, come

    def test_it_is_there_when_it_comes(self):
        entry, come = self.gate()
        client = self.legacy(toolsets={"up": entry})
        result = self.meta_call(client, "enable_toolset", toolset="up")
        self.assertEqual((result["ok"], result["ready"], result["toolCount"]), (True, False, 0))
        self.assertSays(result["message"], "up", "not there yet", "no such file", "will appear")
        found = self.meta_call(client, "describe_toolset", toolset="up")
        self.assertEqual((found["active"], found["state"]), (True, "failed"))
        since = client.hub.mark
        come()
        client.wait_list_changed(since)
        self.assertIn("up__echo", client.names())
        self.assertIn("result", client.call("up__echo").data)

    def test_a_mistyped_toolset_is_guessed(self):
        client = self.legacy(toolsets=TOOLSETS)
        self.assertEqual(client.call("describe_toolset", {"toolset": "alhpa"}).tool_error["message"], 'unknown toolset "alhpa"; did you mean "alpha"?')

    def test_enabling_it_again_tries_it_now(self):
        entry, come = self.gate()
        client = self.legacy(toolsets={"up": {**entry, "restart_delay": "1h", "restart_delay_max": "1h"}})
        self.meta_call(client, "enable_toolset", toolset="up")
        result = self.meta_call(client, "enable_toolset", toolset="up")
        self.assertEqual((result["ok"], result["ready"]), (True, False))
        self.assertSays(result["message"], "already enabled", "no such file")
        self.assertEqual(result["message"].count('toolset "up"'), 1, result["message"])  # it is not named again in the reason
        self.assertEqual(result["message"].count("cannot"), 1, result["message"])
        come()
        result = self.meta_call(client, "enable_toolset", toolset="up")
        self.assertNotIn("ready", result)
        self.assertSays(result["message"], "already enabled with 11 tools")
        self.assertIn("up__echo", client.names())

    def test_a_dead_one_leaves_its_place_to_another_of_the_batch(self):
        entry, _come = self.gate()
        client = self.legacy("--max-active", "1", toolsets={**TOOLSETS, "up": entry})
        rows = client.call("enable_toolset", {"toolsets": ["up", "alpha"]}).result["structuredContent"]["results"]
        self.assertEqual([r["ok"] for r in rows], [False, True])
        self.assertEqual(rows[0]["code"], "E_POLICY_MAX_ACTIVE")
        self.assertSays(rows[0]["message"], "no such file", "max_active (1)")
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two"])


class NeverConnected(HubTest):
    """describe_toolset asks a server that was never connected, as enabling it would, and enables nothing."""

    def start(self, **entry):
        self.server = self.recorder()
        return self.legacy(toolsets={"up": {**self.server.toolset(), **entry, **OFF}})

    def test_it_is_asked(self):
        client = self.start()
        since = client.hub.mark
        found = self.meta_call(client, "describe_toolset", toolset="up")
        self.assertEqual((found["active"], found["toolCount"]), (False, 11))
        self.assertIn("echo", [tool["name"].rpartition("__")[2] for tool in found["tools"]])
        self.assertNotIn("up__echo", client.names())
        again = self.meta_call(client, "describe_toolset", toolset="up")
        self.assertEqual(again["tools"], found["tools"])
        self.assertEqual(len(self.server.sync().lines("tools/list")), 1)
        self.assertEqual([m for m in client.hub.messages[since:] if m.method], [])

    def test_one_that_cannot_be_reached(self):
        client = self.legacy(toolsets={"up": {"command": str(self.home / "nothing"), **OFF}})
        found = self.meta_call(client, "describe_toolset", toolset="up")
        self.assertEqual((found["active"], found["tools"]), (False, []))
        self.assertSays(str(found), "no such file")

    def test_who_has_cancelled_leaves_no_server(self):
        self.server = self.recorder()
        toolset = self.server.toolset("--silent", "tools/list", **OFF)
        client = self.legacy(toolsets={"up": toolset, **TOOLSETS})
        asked = client.send_call("describe_toolset", {"toolset": "up"})
        self.server.wait_request("tools/list")
        client.notify("notifications/cancelled", {"requestId": asked})
        self.assertEqual(self.meta_call(client, "describe_toolset", toolset="alpha")["toolCount"], 2)
        client.hub.finish()  # which leaves no process


class Busy(HubTest):
    """One operation at a time: enabling an upstream ends when its tools are known."""

    def start(self):
        recorder = self.recorder()
        toolsets = {**TOOLSETS, "up": recorder.toolset("--silent", "tools/list", **OFF)}
        client = self.legacy(toolsets=toolsets)
        enabling = client.send_call("enable_toolset", {"toolset": "up"})
        line = recorder.wait_request("tools/list")
        return client, recorder, enabling, line

    def finish_listing(self, recorder, line):
        recorder.answer(line, '"tools":' + json.dumps([tool("late")]))

    def test_a_second_enable_is_refused(self):  # S3.70
        client, recorder, enabling, line = self.start()
        failure = client.call("enable_toolset", {"toolset": "alpha"}).tool_error
        self.assertSays(failure["message"], "registration operation in progress")
        self.assertIs(failure["retryable"], True)
        self.finish_listing(recorder, line)
        self.assertNotIn("isError", client.hub.response(enabling).result)
        client.call("enable_toolset", {"toolset": "alpha"}).result
        self.assertEqual(client.own_names(), ["alpha__one", "alpha__two", "up__late"])

    def test_a_disable_waits_its_turn(self):  # S3.71
        client, recorder, enabling, line = self.start()
        disabling = client.send_call("disable_toolset", {"toolset": "up"})
        client.request("ping")
        self.assertFalse([m for m in client.hub.messages if m.id == disabling])
        self.finish_listing(recorder, line)
        self.assertNotIn("isError", client.hub.response(enabling).result)
        self.assertNotIn("isError", client.hub.response(disabling).result)
        self.assertEqual(client.own_names(), [])

    def test_lists_and_calls_go_on_meanwhile(self):
        client, recorder, enabling, line = self.start()
        self.assertEqual(client.names(), META_TOOLS)
        self.finish_listing(recorder, line)
        client.hub.response(enabling)


class Changes(HubTest):
    def test_a_native_toolset_changes_its_tools(self):
        client = self.legacy(toolsets={"alpha": fixture("set_tools")})
        since = client.hub.mark
        client.call("alpha__set_tools", {"tools": [tool("new"), tool("set_tools")]}).result
        client.hub.wait_for(lambda m: m.method == LIST_CHANGED, LIST_CHANGED, since)
        self.assertEqual(client.own_names(), ["alpha__new", "alpha__set_tools"])

    def test_no_notification_when_nothing_changed(self):
        client = self.legacy(toolsets={"alpha": fixture("set_tools"), "beta": fixture("one")})
        same = {"tools": [tool("set_tools")]}
        since = client.hub.mark
        client.call("alpha__set_tools", same).result
        client.wait_list_changed(since)
        client.barrier()
        since, changes = client.hub.mark, client.hub.log.count("tools.changed")
        client.call("alpha__set_tools", same).result
        client.barrier()
        self.assertEqual(client.list_changes(since), 0)
        self.assertEqual(client.hub.log.count("tools.changed"), changes)
        client.call("disable_toolset", {"toolset": "beta"})  # this one is announced, and only this one
        client.wait_list_changed(since)
        client.barrier()
        self.assertEqual(client.list_changes(since), 1)


if __name__ == "__main__":
    main()
