# SPDX-License-Identifier: Apache-2.0
"""tools/call: results, protocol errors and tool errors (MCP server/tools, Error Handling; S4.10-S4.15)."""

from mcp import INVALID_PARAMS, HubTest, LegacyClient, ModernClient, fixture, main, tool

ENDINGS = ["not_implemented", "invalid_input", "unavailable", "failed", "rpc_error", "bad_json", "twice"]
TYPED = tool(
    "typed",
    inputSchema={
        "type": "object",
        "required": ["zone"],
        "properties": {"zone": {"type": "string", "enum": ["UTC", "CET"]}, "n": {"type": "integer", "minimum": 1}},
        "additionalProperties": False,
    },
)
TOOLSETS = {"alpha": fixture("one", "hold", "print", TYPED, *ENDINGS)}


class Results(HubTest):
    def test_a_result_reaches_both_eras(self):  # S5.51
        hub = self.hub(toolsets=TOOLSETS)
        for client in (ModernClient(hub), LegacyClient(hub)):
            result = client.call("alpha__one", {"x": [1, "two", None]}).result
            self.assertEqual(result["content"], [{"type": "text", "text": "fixture"}])
            self.assertEqual(result["structuredContent"], {"tool": "one", "arguments": {"x": [1, "two", None]}})
            self.assertNotIn("isError", result)

    def test_arguments_may_be_left_out(self):
        client = self.modern(toolsets=TOOLSETS)
        result = client.request("tools/call", {"name": "alpha__one"}).result
        self.assertEqual(result["structuredContent"]["arguments"], {})

    def test_ids_come_back_as_they_were(self):
        client = self.modern(toolsets=TOOLSETS)
        for request_id in (0, -1, 1, "1", "", "é\u0000\U0001f600", 2**53, -(2**63), 10**30, "x" * 250):
            answer = client.call("alpha__one", request_id=request_id)
            self.assertEqual(answer.id, request_id)
            self.assertIs(type(answer.id), type(request_id))

    def test_whatever_a_plugin_prints_stays_off_stdout(self):  # S04
        client = self.modern(toolsets=TOOLSETS)
        ids = [client.send_call("alpha__print") for _ in range(200)]
        for request_id in ids:
            self.assertIn("result", client.hub.response(request_id).data)
        client.hub.wait_log("a plugin that prints")


class ProtocolErrors(HubTest):
    def test_unknown_tools(self):
        hub = self.hub(toolsets=TOOLSETS)
        names = ["nope", "alpha__nope", "nope__one", "one", "alpha", "alpha__", "__one", "ALPHA__ONE", "alpha:one", "", "a" * 5000]
        for client in (ModernClient(hub), LegacyClient(hub)):
            for name in names:
                answer = client.call(name)
                self.assertEqual(answer.code, INVALID_PARAMS, name)
                self.assertSays(answer.error["message"], "unknown tool")
        self.assertIn("alpha__nope", client.call("alpha__nope").error["message"])

    def test_malformed_params(self):
        client = self.modern(toolsets=TOOLSETS)
        for params in (
            '"arguments":{}',
            '"name":null',
            '"name":1',
            '"name":["alpha__one"]',
            '"name":"alpha__one","arguments":[]',
            '"name":"alpha__one","arguments":"{}"',
            '"name":"alpha__one","arguments":7',
        ):
            answer = client.request_raw("tools/call", params)
            self.assertEqual(answer.code, INVALID_PARAMS, params)
        self.assertEqual(client.call("alpha__one").result["structuredContent"]["tool"], "one")

    def test_a_name_may_have_escapes(self):
        client = self.modern(toolsets=TOOLSETS)
        spellings = ["alpha__one", "\\u0061lpha__one", "alpha\\u005f_one", "alpha__on\\u0065", "alpha__one"]
        for _ in range(2):  # where a name leads is kept: however it is written, it is one name
            for spelling in spellings:
                answer = client.request_raw("tools/call", f'"name":"{spelling}"')
                self.assertEqual(answer.result["structuredContent"]["tool"], "one", spelling)
            for spelling in ("alpha__o\\u006fne", "alpha__one\\u0000", "\\\\u0061lpha__one"):
                self.assertEqual(client.request_raw("tools/call", f'"name":"{spelling}"').code, INVALID_PARAMS, spelling)

    def test_null_is_no_arguments(self):  # some clients write it
        client = self.modern(toolsets=TOOLSETS)
        answer = client.request_raw("tools/call", '"name":"alpha__one","arguments":null')
        self.assertEqual(answer.result["structuredContent"]["tool"], "one")

    def test_a_module_may_answer_with_its_own_error(self):
        answer = self.modern(toolsets=TOOLSETS).call("alpha__rpc_error")
        self.assertEqual(answer.error, {"code": 4242, "message": "own error"})


class ToolErrors(HubTest):
    def test_the_closed_set_of_codes(self):  # S4.10-S4.15
        hub = self.hub(toolsets=TOOLSETS)
        expected = {
            "not_implemented": ("TOOL_NOT_IMPLEMENTED", "not written", False),
            "invalid_input": ("TOOL_INVALID_INPUT", "no such colour", False),
            "unavailable": ("TOOL_UNAVAILABLE", "the line is down", True),
            "failed": ("TOOL_EXECUTION_FAILED", "it broke", False),
        }
        for client in (ModernClient(hub), LegacyClient(hub)):
            for name, (code, message, retryable) in expected.items():
                failure = client.call(f"alpha__{name}").tool_error
                self.assertEqual(failure["code"], code)
                self.assertIn(message, failure["message"])
                self.assertIs(failure["retryable"], retryable, name)

    def test_arguments_are_checked_against_the_schema(self):
        client = self.modern(toolsets=TOOLSETS)
        for arguments, says in (
            ({}, "zone"),
            ({"zone": 1}, "zone"),
            ({"zone": "PST"}, "zone"),
            ({"zone": "UTC", "n": 0}, "n"),
            ({"zone": "UTC", "n": 1.5}, "n"),
            ({"zone": "UTC", "more": 1}, "more"),
        ):
            failure = client.call("alpha__typed", arguments).tool_error
            self.assertEqual(failure["code"], "TOOL_INVALID_INPUT", arguments)
            self.assertIs(failure["retryable"], False)
            self.assertIn(says, failure["message"])
        self.assertEqual(
            client.call("alpha__typed", {"zone": "UTC", "n": 3}).result["structuredContent"]["arguments"],
            {"zone": "UTC", "n": 3},
        )

    def test_a_faulty_plugin_is_contained(self):  # G10
        client = self.modern(toolsets=TOOLSETS)
        self.assertEqual(client.call("alpha__bad_json").tool_error["code"], "TOOL_EXECUTION_FAILED")
        since = client.hub.mark
        self.assertEqual(client.call("alpha__twice").result["content"][0]["text"], "fixture")
        client.barrier()
        self.assertEqual(client.hub.mark, since + 2)
        client.hub.wait_log("plugin.fault")


class Cancellation(HubTest):
    def test_a_cancelled_call_is_not_answered(self):
        hub = self.hub(toolsets=TOOLSETS)
        for client in (ModernClient(hub), LegacyClient(hub)):
            since = hub.mark
            held = [client.send_call("alpha__hold") for _ in range(5)]
            for request_id in held:
                client.cancel(request_id)
            client.barrier()
            self.assertEqual(hub.mark, since + 1)
            # The id is free again.
            self.assertIn("result", client.call("alpha__one", request_id=held[0]).data)

    def test_bad_cancellations_are_ignored(self):  # P17
        client = self.modern(toolsets=TOOLSETS)
        held = client.send_call("alpha__hold")
        since = client.hub.mark
        for params in ({"requestId": str(held)}, {"requestId": held + 1000}, {"requestId": None}, {}, {"requestId": [held]}):
            client.notify("notifications/cancelled", params)
        client.notify("notifications/cancelled")
        client.barrier()
        self.assertEqual(client.hub.mark, since + 1)
        client.cancel(held)

    def test_a_call_that_takes_too_long(self):  # U06
        toolsets = {"alpha": fixture("hold", timeout="200ms")}
        failure = self.modern(toolsets=toolsets).call("alpha__hold").tool_error
        self.assertEqual(failure["code"], "TOOL_EXECUTION_FAILED")
        self.assertSays(failure["message"], 'toolset "alpha"', "no answer within 0.2 s, and no progress", "`timeout`")
        self.assertIs(failure["retryable"], False)  # nobody knows what it has done

    def test_too_many_calls_in_flight(self):
        client = self.modern(toolsets=TOOLSETS, manifest={"limits": {"calls_per_session": 8}})
        held = [client.send_call("alpha__hold") for _ in range(8)]
        refused = client.call("alpha__hold")
        self.assertNotIn(refused.code, range(-32768, -31999), "hub-made codes lie outside the reserved range")
        self.assertSays(refused.error["message"], "too many")
        client.cancel(held[0])
        again = client.send_call("alpha__hold")
        client.barrier()
        self.assertFalse([m for m in client.hub.messages if m.id == again])
        for request_id in [*held[1:], again]:
            client.cancel(request_id)


if __name__ == "__main__":
    main()
