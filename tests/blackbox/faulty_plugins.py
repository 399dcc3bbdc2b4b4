# SPDX-License-Identifier: Apache-2.0
"""What plugin authors get wrong: for each fault a message that names the plugin, the tool and the place, and a hub that lives on.
One that crashes takes the hub with it, unless it has a process of its own; the hub's last line names plugin and tool."""

import json
import shutil
import signal
import tempfile
from pathlib import Path

from mcp import ROOT, SUPPORT, HubTest, LegacyClient, ModernClient, compile_plugin, fixture, main, tool
from plugins_dropin import Base

CANARY = "canary-c0ffee-0123456789"
# A sanitizer would handle the signals itself.
PLAIN = {"ASAN_OPTIONS": "handle_segv=0:handle_abort=0:handle_sigill=1:detect_leaks=0:detect_odr_violation=0:intercept_tls_get_addr=0"}


class Compiled(HubTest):
    """With plugins that are built once for all tests of a class."""

    SOURCES = ()

    @classmethod
    def setUpClass(cls):
        cls.plugins = Path(tempfile.mkdtemp(prefix="patchbay-plugins-"))
        cls.addClassCleanup(shutil.rmtree, cls.plugins, ignore_errors=True)
        for source in cls.SOURCES:
            compile_plugin(cls.plugins, source.stem, source=source)

    def start(self, toolsets, **options):
        return LegacyClient(self.hub("--plugins-dir", self.plugins, toolsets=toolsets, **options))


class Replies(Compiled):
    """The first reply counts; whatever comes then is dropped, named and counted."""

    SOURCES = (SUPPORT / "plugins" / "faulty.c",)

    def setUp(self):
        super().setUp()
        self.client = self.start({"t": {"module": "faulty"}})

    def check(self, tool, is_counted=True):
        """A second reply of the tool is in the log, the hub has counted the fault, and goes on."""
        self.assertSays(
            self.client.hub.wait_log("replied twice"), "toolset=t", f'the handler of \\"{tool}\\" replied twice; the second reply is dropped'
        )
        if is_counted:
            self.assertSays(self.client.hub.wait_log("plugin.fault"), "toolset=t")
        self.assertEqual(self.client.call("t__good").result["content"][0]["text"], "good")

    def test_a_double_reply(self):
        self.assertEqual(self.client.call("t__twice").result["content"][0]["text"], "first")
        self.check("twice")

    def test_a_late_reply(self):
        self.assertSays(self.client.call("t__forget").result["content"][0]["text"], "without a reply")
        self.client.hub.wait_log('the handler of \\"forget\\" returned without a reply; patchbay_defer(call) keeps')
        self.assertEqual(self.client.call("t__late").result["content"][0]["text"], "in time")
        self.check("forget")

    def test_a_reply_that_is_not_json(self):
        self.assertSays(self.client.call("t__unclosed").result["content"][0]["text"], "not a valid JSON object")
        said = 'the handler of \\"unclosed\\" gave an answer that is not valid JSON at byte'
        self.assertSays(self.client.hub.wait_log(said), "where it ends", "patchbay_write_end_")
        self.assertSays(self.client.hub.wait_log("plugin.fault"), "toolset=t")
        self.assertEqual(self.client.call("t__good").result["content"][0]["text"], "good")

    def test_a_reply_with_a_status_that_there_is_not(self):
        self.assertSays(self.client.call("t__strange").result["content"][0]["text"], "unknown status")
        line = self.client.hub.wait_log('the handler of \\"strange\\"')
        self.assertSays(line, "status 42")
        self.assertNotIn("JSON", line)

    def test_a_reply_of_another_thread_after_cancellation(self):
        call = self.client.send_call("t__thread", meta={"progressToken": "p"})
        self.client.hub.wait_until(lambda: self.client.hub.notifications("notifications/progress"), "the thread")
        self.client.cancel(call)
        self.check("thread", is_counted=False)  # the hub knows the call no more
        self.assertEqual(self.client.hub.log.count("replied twice"), 1, "the first one after the cancellation is no fault")


class Lists(Compiled):
    """A list that cannot be: which tool, what, and at which byte."""

    SOURCES = (SUPPORT / "plugins" / "faulty.c",)

    def check(self, schema, *says):
        client = self.start({"bad": {"module": "faulty", "config": {"schema": schema}}, "t": {"module": "faulty"}})
        self.assertEqual(client.call("t__good").result["content"][0]["text"], "good")
        self.assertSays(client.hub.wait_log(says[0]), "toolset=bad", *says)
        return client

    def test_a_schema_that_ends_too_soon(self):
        client = self.check('{"type": "object"', 'tool \\"a\\": input_schema is not valid JSON at byte 17, where it ends')
        self.assertNotIn("bad__good", client.names())

    def test_a_missing_comma(self):
        self.check('{"type": "object" "required": []}', 'tool \\"a\\": input_schema is not valid JSON at byte 18')

    def test_a_wrong_keyword(self):
        client = self.check('{"type": "object", "properties": {"n": {"type": "integr"}}}', "tools.dropped", 'tool \\"a\\" is left out', "/properties/n/type")
        self.assertIn("bad__good", client.names())
        self.assertNotIn("bad__a", client.names())


class Tables(Base):
    """What is wrong with a plugin's own table, or with a list that it writes itself."""

    def test_a_missing_comma(self):
        tools = '"[{\\"name\\":\\"x\\" \\"inputSchema\\":{}}]"'
        shutil.copy(self.variant("raw", LIST=f"a->set_tools(h, (patchbay_str){{{tools}, sizeof {tools} - 1}})"), self.plugins / "raw.so")
        compile_plugin(self.plugins, "good")
        client = self.start()
        for line in ("tools.catalog.refused", "toolset.skipped"):
            self.assertSays(client.hub.wait_log(line), "raw", "byte 13")
        self.assertEqual(client.own_names(), ["good__ping"])

    def test_an_older_major(self):
        self.check(self.variant("wrong", ABI="PATCHBAY_ABI_VERSION(0,9)", ABI_MIN="PATCHBAY_ABI_VERSION(0,1)"), "ABI 0.9", "1.0")

    def test_a_newer_major(self):
        self.check(self.variant("wrong", ABI="PATCHBAY_ABI_VERSION(2,0)", ABI_MIN="PATCHBAY_ABI_VERSION(2,0)"), "ABI 2.0", "1.0")

    def test_a_hub_that_is_too_old(self):
        self.check(self.variant("wrong", ABI="PATCHBAY_ABI_VERSION(1,9)", ABI_MIN="PATCHBAY_ABI_VERSION(1,9)"), "1.9", "1.0")

    def test_another_name_than_its_file(self):
        self.check(self.variant("wrong", NAME='"other"'), "other", "wrong")


class Exceptions(Compiled):
    SOURCES = (ROOT / "tests" / "sdk" / "throwing.cpp",)

    def test_one_that_leaves_a_handler(self):
        client = self.start({"t": {"module": "throwing"}})
        for tool in ("first", "on_loop"):
            told = client.call(f"t__{tool}").tool_error
            self.assertSays(told["message"], "nobody catches this")
        self.assertSays(client.hub.wait_log("nobody catches this"), "toolset=t")
        self.assertEqual(client.call("t__last").result["content"][0]["text"], "said before")

    def test_one_that_leaves_setup(self):
        client = self.start({"bad": {"module": "throwing", "config": {"fail": 1}}, "t": {"module": "throwing"}})
        self.assertEqual(client.call("t__last").result["content"][0]["text"], "said before")
        self.assertSays(client.hub.wait_log("no such thing"), "bad")


class Promises(HubTest):
    """2026-07-28 server/tools, Output Schema: structured results conform to what was promised, or nobody gets them."""

    SCHEMA = {"type": "object", "properties": {"arguments": {"type": "object", "properties": {"n": {"type": "integer"}}}}}
    PLACE = 'tool "one" broke its outputSchema: structuredContent.arguments.n: must be'

    def check(self, client):
        kept = client.call("t__one", {"n": 1}).result
        self.assertEqual(kept["structuredContent"], {"tool": "one", "arguments": {"n": 1}})
        self.assertNotIn("isError", kept)
        broken = client.call("t__one", {"n": CANARY})
        self.assertEqual(broken.tool_error["code"], "TOOL_EXECUTION_FAILED")
        self.assertSays(broken.tool_error["message"], self.PLACE)
        self.assertNotIn("structuredContent", broken.result)
        self.assertSays(client.hub.wait_log("plugin.fault"), "toolset=t", "module=fixture", self.PLACE.replace('"', '\\"'))
        self.assertNotIn(CANARY, client.hub.log + broken.raw)
        self.assertEqual(client.call("t__failed").tool_error["message"], "it broke", "a failure promises nothing")
        client.hub.finish()

    def toolsets(self):
        return {"t": fixture(tool("one", outputSchema=self.SCHEMA), tool("failed", outputSchema=self.SCHEMA))}

    def test_a_result_that_breaks_it(self):
        for client in (LegacyClient, ModernClient):
            with self.subTest(client):
                self.check(client(self.hub(toolsets=self.toolsets())))

    def test_a_schema_that_is_none(self):
        client = self.legacy(toolsets={"t": fixture("two", tool("one", outputSchema={"type": "object", "minProperties": -1}))})
        self.assertEqual(client.own_names(), ["t__two"])
        self.assertSays(client.hub.wait_log("tools.dropped"), 'tool \\"one\\" is left out: outputSchema: /minProperties')

    def test_what_a_server_promises_is_its_own_affair(self):
        path = self.home / "tools.json"
        path.write_text(json.dumps([tool("raw", outputSchema={"type": "object", "required": ["n"]})]), encoding="utf-8")
        client = self.legacy(toolsets={"up": self.recorder().toolset("--tools", path)})
        result = '{"content":[],"structuredContent":{"m":1}}'
        self.assertEqual(client.call("up__raw", {"result": result}).slice("result"), result)
        self.assertNotIn("plugin.fault", client.hub.log)


class LastLine(Compiled):
    SOURCES = (SUPPORT / "plugins" / "misbehave.c",)

    def crash(self, tool):
        toolsets = {"t": {"module": "misbehave"}, "other": {"command": "/bin/true", "env": {"SECRET": CANARY}}}
        client = self.start(toolsets, env=PLAIN)
        client.send_call(f"t__{tool}")
        code = client.hub.exit_code = client.hub.wait_exit()
        self.assertNotIn(CANARY, client.hub.log)
        return code, client.hub.log.splitlines()[-1]

    def check(self, tool, entry, number):
        code, line = self.crash(tool)
        self.assertEqual(code, -number)
        self.assertEqual(
            line, f'patchbay: crashed ({number.name}) in the plugin "misbehave", tool "{tool}", toolset "t", entry "{entry}"'
        )

    def test_a_fault(self):
        self.check("segv", "call", signal.SIGSEGV)

    def test_a_fault_on_a_worker(self):
        self.check("segv_in_a_thread", "worker", signal.SIGSEGV)

    def test_an_abort(self):
        self.check("abort", "worker", signal.SIGABRT)


class Commands(HubTest):
    """Every command that loads plugins in its own process ends with the same line; one that looks from outside says it, and lives."""

    TOOLSETS = {"t": {"module": "misbehave", "config": {}}}
    LOADING = (
        ("list", "tools"),
        ("list", "resources"),
        ("call", "t__echo"),
        ("read", "misbehave:segv"),
        ("export", "--format", "openai"),
        ("lock",),
        ("approve",),
    )

    @classmethod
    def setUpClass(cls):
        cls.plugins = {}
        for crashes_in, reply in (("link", "crash"), ("create", "create-crash"), ("call", None)):
            folder = cls.plugins[crashes_in] = Path(tempfile.mkdtemp(prefix="patchbay-plugins-"))
            cls.addClassCleanup(shutil.rmtree, folder, ignore_errors=True)
            compile_plugin(folder, "misbehave", source=SUPPORT / "plugins" / "misbehave.c", reply=reply)

    def check(self, crashes_in, command, code, place, number=signal.SIGABRT):
        options = () if command[0] == "module" else ("--plugins-dir", self.plugins[crashes_in])
        done = self.cli(*command, *options, toolsets=self.TOOLSETS, env=PLAIN, modules=False)
        self.assertEqual(done.returncode, code, done.stderr)
        crashes = [line for line in done.stderr.splitlines() if "crashed" in line or "SIG" in line]
        self.assertEqual(crashes, [f"patchbay: crashed ({number.name}) in the plugin {place}"])
        self.assertEqual(done.stderr.splitlines()[-1], crashes[0])

    def places(self):
        yield "link", f'"{self.plugins["link"] / "misbehave.so"}", entry "link"'
        yield "create", '"misbehave", toolset "t", entry "create"'

    def test_while_it_is_linked_or_made(self):
        for crashes_in, place in self.places():
            for command in self.LOADING:
                with self.subTest(crashes_in, command=command):
                    self.check(crashes_in, command, -signal.SIGABRT, place)

    def test_what_looks_from_outside(self):
        for crashes_in, place in self.places():
            for command in (("check",), ("check", "--connect"), ("doctor", "--connect"), ("module", "inspect", self.plugins[crashes_in] / "misbehave.so")):
                with self.subTest(crashes_in, command=command):
                    self.check(crashes_in, command, 3, place.replace('"t"', '"misbehave"') if command[0] == "module" else place)

    def test_a_check_in_rows(self):
        done = self.cli("check", "--json", "--plugins-dir", self.plugins["create"], toolsets=self.TOOLSETS, env=PLAIN, modules=False)
        self.assertEqual((done.returncode, done.stderr), (3, ""))
        row = json.loads(done.stdout)
        self.assertEqual(row, {"level": "error", "text": 'crashed (SIGABRT) in the plugin "misbehave", toolset "t", entry "create"'})

    def test_in_a_call(self):
        for command, entry, number in (
            (("call", "t__segv"), 'tool "segv", toolset "t", entry "call"', signal.SIGSEGV),
            (("call", "t__abort"), 'tool "abort", toolset "t", entry "worker"', signal.SIGABRT),
            (("read", "misbehave:segv"), 'tool "misbehave:segv", toolset "t", entry "call"', signal.SIGSEGV),
        ):
            with self.subTest(command=command):
                self.check("call", command, -number, f'"misbehave", {entry}', number)


if __name__ == "__main__":
    main()
