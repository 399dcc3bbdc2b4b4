# SPDX-License-Identifier: Apache-2.0
"""Bytes in are bytes out: definitions, arguments, results (promise 2; S3.50, S3.60-S3.65, D01, P06)."""

import json
import random

from mcp import (
    META,
    HubTest,
    LegacyClient,
    ModernClient,
    main,
    slice_at,
    without,
)

from fidelity_corpus import readable

# JSON values whose text no parser and printer would give back.
HARD = [
    *("1e400", "-1e400", "1E+2", "1e-7", "0.1e1", "1.10", "-0", "-0.0", "0.10", "12345678901234567890"),
    *("18446744073709551616", "-9223372036854775809", "3.141592653589793238462643383279", "1" * 400),
    *('"\\u0000"', '"\\ud83d"', '"\\udc00\\ud800"', '"\\uD83D\\uDE00"', '"\\/"', '"/"', '"\\u0041"', '"\\u00e9"'),
    *('"é"', '"\u2028\u2029"', '"\ufeff"', '"\uffff"', '"\\b\\f\\n\\r\\t\\"\\\\"', '"\U0010ffff"', '"\x7f"'),
    *("{}", "[]", "{ }", "[ ]", '{"":""}', '{"b":1,"a":2}', '{"__proto__":null,"constructor":1}', "[ 1 ,2 ]"),
    '{"a" : {"b":\t[ {"c" :  null } ] } }',
]


def hard_object(keep=None):
    return "{" + ",".join(f'"m{n}":{value}' for n, value in enumerate(HARD)) + "}"


def random_string(rng, length):
    """Characters of every plane, raw or escaped."""
    parts = []
    for _ in range(length):
        code = rng.choice([rng.randrange(32, 128), rng.randrange(128, 0x800), rng.randrange(0x800, 0x10000), rng.randrange(0x10000, 0x110000)])
        if 0xD800 <= code < 0xE000:
            parts.append(f"\\u{code:04x}")
        elif rng.random() < 0.2 and code < 0x10000:
            parts.append(f"\\u{code:04X}")
        elif chr(code) in '"\\':
            parts.append("\\" + chr(code))
        else:
            parts.append(chr(code))
    return '"' + "".join(parts) + '"'


def random_value(rng, depth=0):
    kind = rng.randrange(8 if depth < 5 else 6)
    if kind == 0:
        return rng.choice(HARD)
    if kind == 1:
        return f"{rng.choice(['', '-'])}{rng.randrange(10 ** rng.randrange(1, 30))}{rng.choice(['', '.0', '.50', 'e5', 'E-3', '.1e+400'])}"
    if kind in (2, 3):
        return random_string(rng, rng.randrange(12))
    if kind == 4:
        return rng.choice(["null", "true", "false"])
    if kind == 5:
        return rng.choice(["{}", "[]"])
    space = rng.choice(["", " ", "\t", "  "])  # a raw CR between tokens may become a space
    items = [random_value(rng, depth + 1) for _ in range(rng.randrange(5))]
    if kind == 6:
        return "[" + (space + "," + space).join(items) + "]"
    return "{" + ",".join(f'"k{n}-{rng.randrange(99)}"{space}:{space}{item}' for n, item in enumerate(items)) + "}"


TOOL = (
    '{ "x-first":%s, "description" : "say \\"é\\" \\u00e9 \\ud83d\\ude00",'
    '"name":"t%d",\t"inputSchema":{"type":"object","properties":{"a":{"type":"number","maximum":1e300,'
    '"multipleOf":1.10,"x":%s},"b":{"$ref":"#/$defs/z"}},"$defs":{"z":{"default":-0}},"x-y":[1.0]},'
    '"outputSchema":{"type":"object","x":12345678901234567890},'
    '"annotations":{"title":"T\\/T","readOnlyHint":true,"vendor":{"deep":%s}},'
    '"title":"","icons":[{"src":"https://example.com/i.png","sizes":["1x1"],"x":1E5}],'
    '"_meta":{"com.example/x":%s,"n":1.10}}'
)


class Definitions(HubTest):
    def write_tools(self, *tools):
        path = self.home / "tools.json"
        path.write_text("[" + " ,\t".join(tools) + "]", encoding="utf-8")
        return path

    def check(self, tools, era, *flags):
        recorder = self.recorder()
        path = self.write_tools(*tools)
        hub = self.hub(toolsets={"up": recorder.toolset("--tools", path, "--era", era, *flags)})
        for client in (ModernClient(hub), LegacyClient(hub)):
            exposed = client.raw_tools()
            for tool in tools:
                name = json.loads(tool)["name"]
                got = exposed[f"up__{name}"]
                # Byte-identical but for the name's value.
                own = slice_at(tool, "name")
                expected = tool.replace(f'"name":{own}', f'"name":"up__{name}"', 1)
                self.assertEqual(got, expected)
        hub.finish()

    def test_unknown_members_at_every_level(self):
        tools = [TOOL % (value, n, value, value, value) for n, value in enumerate(map(readable, HARD))]
        for era in ("legacy", "modern"):
            with self.subTest(era):
                self.check(tools, era)

    def test_whatever_the_paging(self):
        self.check([TOOL % (value, n, "1", "2", "3") for n, value in enumerate(map(readable, HARD))], "legacy", "--page-size", 3)

    def test_many_random_ones(self):
        rng = random.Random(7)
        tools = [TOOL % (random_value(rng), n, random_value(rng), random_value(rng), random_value(rng)) for n in range(200)]
        tools = [readable(tool) for tool in tools]
        self.check(tools, "legacy")

    def test_a_name_that_is_spelled_with_escapes(self):
        recorder = self.recorder()
        path = self.write_tools('{"n\\u0061me":"ech\\u006f","inputSchema":{"type":"object"},"x":1.10}')
        client = self.modern(toolsets={"up": recorder.toolset("--tools", path)})
        raw = client.raw_tools()["up__echo"]
        self.assertEqual(dict(without(raw, "name")), {"inputSchema": '{"type":"object"}', "x": "1.10"})
        client.call("up__echo").result
        sent = recorder.wait_request("tools/call")
        self.assertEqual(json.loads(sent)["params"]["name"], "echo")


class Traffic(HubTest):
    """The upstream gets the arguments as they were, the client the result as it was."""

    def start(self, era):
        recorder = self.recorder()
        hub = self.hub(toolsets={"up": recorder.toolset("--era", era)})
        return hub, recorder, (ModernClient(hub), LegacyClient(hub))

    def through(self, hub, recorder, client, arguments, result):
        """One call, answered with these raw members; return (arguments received, message)."""
        mark, since = recorder.mark, hub.mark
        request_id = client.send_raw("tools/call", f'"name":"up__hold","arguments":{arguments}')
        line = recorder.wait_request("tools/call", mark)
        recorder.answer(line, result)
        return slice_at(line, "params", "arguments"), hub.response(request_id, since)

    def test_hard_values_both_ways(self):
        result = '"content":[{"type":"text","text":"\\ud83d \\u0000 é \u2028","x":%s}],"x-more":%s,"structuredContent":%s'
        for era in ("legacy", "modern"):
            hub, recorder, clients = self.start(era)
            for client in clients:
                for value in HARD:
                    arguments = f'{{ "a" : {value} ,"b":[ {value}]}}'
                    members = result % (value, value, f'{{"v":{value}}}')
                    kind = '"resultType":"complete",' if era == "modern" else ""
                    received, answer = self.through(hub, recorder, client, arguments, kind + members)
                    self.assertEqual(received, arguments)
                    for key in ("content", "x-more", "structuredContent"):
                        self.assertEqual(answer.slice("result", key), slice_at("{" + members + "}", key))
            hub.finish()

    def test_the_order_of_members_is_kept(self):
        hub, recorder, clients = self.start("legacy")
        members = '"z":1,"content":[],"a":2,"isError":false,"_meta":{"y":1,"x":2},"m":3'
        for client in clients:
            _, answer = self.through(hub, recorder, client, "{}", members)
            own = ("resultType", "_meta")
            got = without(answer.slice("result"), *own)
            self.assertEqual(got, without("{" + members + "}", *own))
            meta = [m for m in without(answer.slice("result", "_meta")) if not m[0].startswith(META)]
            self.assertEqual(meta, [("y", "1"), ("x", "2")])

    def test_a_legacy_result_to_a_legacy_client_is_the_same_bytes(self):
        hub, recorder, (_, legacy) = self.start("legacy")
        members = f'"content":[ {{"type" :"text","text":"\\u00e9"}} ],"x":{hard_object()},"_meta":{{"a":1.10}}'
        _, answer = self.through(hub, recorder, legacy, "{}", members)
        self.assertEqual(answer.slice("result"), "{" + members + "}")

    def test_errors_of_the_upstream_are_the_same_bytes(self):
        hub, recorder, clients = self.start("legacy")
        error = '{"code":4242,"message":"no é \\u00e9 \\ud83d","data":{"n":[1e400,1.10,-0]},"x":1.0}'
        for client in clients:
            mark, since = recorder.mark, hub.mark
            request_id = client.send_call("up__hold")
            line = recorder.wait_request("tools/call", mark)
            recorder.write(f'{{"jsonrpc":"2.0","id":{slice_at(line, "id")},"error":{error}}}')
            self.assertEqual(hub.response(request_id, since).slice("error"), error)

    def test_ten_thousand_random_values(self):  # D01, P06
        rng = random.Random(99)
        hub, recorder, clients = self.start("legacy")
        for number in range(100):
            values = [random_value(rng) for _ in range(100)]
            arguments = "{" + ",".join(f'"{n}":{v}' for n, v in enumerate(values)) + "}"
            members = f'"content":[],"structuredContent":{arguments}'
            received, answer = self.through(hub, recorder, clients[number % 2], arguments, members)
            self.assertEqual(received, arguments)
            self.assertEqual(answer.slice("result", "structuredContent"), arguments)

    def test_params_beside_the_arguments(self):
        hub, recorder, (_, legacy) = self.start("legacy")
        mark = recorder.mark
        request_id = legacy.send_raw(
            "tools/call",
            '"x-before": 1.10, "name" : "up__echo","x-between":"\\u0041","arguments": {"a": -0},"_meta":{"com.example/k":1e400},"x-after":[ ]',
        )
        line = recorder.wait_request("tools/call", mark)
        for key, value in (("x-before", "1.10"), ("x-between", '"\\u0041"'), ("x-after", "[ ]"), ("arguments", '{"a": -0}')):
            self.assertEqual(slice_at(line, "params", key), value)
        self.assertEqual(slice_at(line, "params", "_meta", "com.example/k"), "1e400")
        self.assertEqual(slice_at(line, "params", "name"), '"echo"')
        hub.response(request_id).result

    def test_trace_context_passes(self):  # D10
        hub, recorder, clients = self.start("modern")
        trace = "00-0af7651916cd43dd8448eb211c80319c-00f067aa0ba902b7-01"
        for client in clients:
            mark = recorder.mark
            client.call("up__echo", meta={"traceparent": trace, "tracestate": "a=b"}).result
            meta = json.loads(recorder.wait_request("tools/call", mark))["params"]["_meta"]
            self.assertEqual((meta["traceparent"], meta["tracestate"]), (trace, "a=b"))

    def test_big_payloads(self):  # D05
        hub, recorder, clients = self.start("legacy")
        for client in clients:
            arguments = json.dumps({"data": "é" * 900_000}, ensure_ascii=False)
            members = '"content":[{"type":"text","text":"%s"}]' % ("ü" * 4_000_000)
            received, answer = self.through(hub, recorder, client, arguments, members)
            self.assertEqual(received, arguments)
            self.assertEqual(answer.slice("result", "content"), slice_at("{" + members + "}", "content"))

    def test_a_result_over_the_limit_is_a_named_error(self):  # D05, U03
        recorder = self.recorder()
        client = self.modern(toolsets={"up": recorder.toolset()}, manifest={"limits": {"upstream_message": "1MiB"}})
        failure = client.call("up__huge", {"bytes": 1 << 21}).tool_error
        self.assertEqual(failure["code"], "TOOL_UNAVAILABLE")
        self.assertSays(failure["message"], "up", str(1 << 20))
        self.assertIn("result", client.call("up__echo").data)  # it is started again


if __name__ == "__main__":
    main()
