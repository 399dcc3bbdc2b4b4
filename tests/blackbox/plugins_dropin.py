# SPDX-License-Identifier: Apache-2.0
"""Plugins dropped into a watched folder while the hub runs, and files that are refused (group F; G01-G12); what is wrong with
a plugin that is loaded: faulty_plugins.py."""

import grp
import os
import pwd
import shutil
import signal
import subprocess

from listen import Lines
from mcp import LIST_CHANGED, HubTest, LegacyClient, compile_plugin, main

BARE = "int patchbay_some_symbol = 1;\n"
WRONG = """
#include <patchbay/plugin.h>
static int32_t create(const patchbay_host_api *a, patchbay_host *h, patchbay_str c, void **r, patchbay_error *e)
{ (void)a; (void)h; (void)c; (void)e; *r = 0; return LIST; }
static void call(void *i, patchbay_call c, const patchbay_request *r) { (void)i; (void)c; (void)r; }
static void destroy(void *i) { (void)i; }
PATCHBAY_EXPORT const patchbay_plugin patchbay_plugin_v1 = {
    MAGIC, SIZE, ABI, ABI_MIN, NAME, VERSION, 0, 0, 0, CREATE, call, 0, destroy};
"""


class Base(HubTest):
    def setUp(self):
        super().setUp()
        self.plugins = self.home / "plugins"
        self.plugins.mkdir(mode=0o755)
        self.outside = self.home / "outside"
        self.outside.mkdir()

    def start(self, *args):
        return LegacyClient(self.hub("--plugins-dir", self.plugins, *args, modules=False))

    def wait_names(self, client, since, expected):
        client.hub.wait_until(
            lambda: client.hub.notifications(LIST_CHANGED, since) and client.own_names() == expected, f"{expected}"
        )

    def build(self, source, name, *flags):
        """Compile a plugin that is wrong in some way; return its path outside of the folder."""
        from mcp import ROOT

        path = self.outside / f"{name}.so"
        code = self.outside / f"{name}.c"
        code.write_text(source)
        subprocess.run(
            ["cc", "-shared", "-fPIC", f"-I{ROOT / 'include'}", *flags, "-o", str(path), str(code)], check=True
        )
        return path

    def check(self, path, *says):
        """Refused in one line at start and when dropped in; the others go on."""
        name = path.name
        compile_plugin(self.plugins, "good")
        target = self.plugins / name
        client = self.start()
        shutil.copy(path, target)
        line = client.hub.wait_log("resolver.refused")
        self.assertSays(line, name, *says)
        self.assertEqual(client.own_names(), ["good__ping"])
        client.hub.finish()
        client = self.start()
        line = client.hub.wait_log("resolver.refused")
        self.assertSays(line, name, *says)
        self.assertEqual(client.own_names(), ["good__ping"])
        client.hub.finish()
        target.unlink()

    def variant(self, name, **changes):
        values = {
            "MAGIC": "PATCHBAY_MAGIC",
            "SIZE": "sizeof(patchbay_plugin)",
            "ABI": "PATCHBAY_ABI",
            "ABI_MIN": "PATCHBAY_ABI",
            "NAME": f'"{name}"',
            "VERSION": '"1"',
            "CREATE": "create",
            "LIST": "PATCHBAY_OK",
            **changes,
        }
        return self.build(WRONG, name, *(f"-D{key}={value}" for key, value in values.items()))


class DropIn(Base):
    def test_a_new_one_is_available_without_a_restart(self):
        client = self.start()
        self.assertEqual(client.own_names(), [])
        since = client.hub.mark
        shutil.move(compile_plugin(self.outside, "late"), self.plugins / "late.so")
        self.wait_names(client, since, ["late__ping"])
        self.assertEqual(client.call("late__ping").result["content"][0]["text"], "late")

    def test_one_that_is_written_in_pieces(self):
        client = self.start()
        since = client.hub.mark
        whole = compile_plugin(self.outside, "late").read_bytes()
        with open(self.plugins / "late.so", "wb") as file:
            for at in range(0, len(whole), 4096):
                file.write(whole[at : at + 4096])
                file.flush()
        self.wait_names(client, since, ["late__ping"])
        self.assertNotIn("refused", client.hub.log)

    def test_replacing(self):  # G08
        compile_plugin(self.plugins, "late", reply="old")
        client = self.start()
        self.assertEqual(client.call("late__ping").result["content"][0]["text"], "old")
        shutil.move(compile_plugin(self.outside, "late", reply="new"), self.plugins / "late.so")
        client.hub.wait_until(
            lambda: client.call("late__ping").result["content"][0]["text"] == "new", "the new plugin"
        )
        self.assertEqual(client.own_names(), ["late__ping"])

    def test_overwriting_in_place_does_not_hurt(self):
        compile_plugin(self.plugins, "late", reply="old")
        client = self.start()
        self.assertEqual(client.call("late__ping").result["content"][0]["text"], "old")
        whole = compile_plugin(self.outside, "late", reply="new").read_bytes()
        with open(self.plugins / "late.so", "r+b") as file:
            file.write(b"\0" * file.seek(0, os.SEEK_END))
            file.flush()
            self.assertEqual(client.call("late__ping").result["content"][0]["text"], "old")
            file.seek(0)
            file.truncate()
            file.write(whole)
        client.hub.wait_until(
            lambda: client.call("late__ping").result["content"][0]["text"] == "new", "the new plugin"
        )

    def test_calls_in_flight_end_with_the_old_one(self):
        # A tool that holds its calls; the replacement has the usual tools.
        tools = '[{\\"name\\":\\"hold\\",\\"inputSchema\\":{\\"type\\":\\"object\\"}}]'
        client = None
        for n in range(3):
            compile_plugin(self.plugins, "late", reply=f"v{n}")
            if client is None:
                client = self.start()
            else:
                client.hub.wait_until(
                    lambda: client.call("late__ping").result["content"][0]["text"] == f"v{n}", f"version {n}"
                )
        self.assertTrue(tools)
        self.assertEqual(client.own_names(), ["late__ping"])

    def test_removing(self):
        compile_plugin(self.plugins, "late")
        client = self.start()
        (self.plugins / "late.so").unlink()
        client.hub.wait_log("removed")
        self.assertIn("result", client.call("late__ping").data)  # what is loaded stays usable

    def test_putting_back_another(self):
        compile_plugin(self.plugins, "late", reply="old")
        client = self.start()
        self.assertEqual(client.call("late__ping").result["content"][0]["text"], "old")
        (self.plugins / "late.so").unlink()
        client.hub.wait_log("resolver.removed")
        shutil.move(compile_plugin(self.outside, "late", reply="new"), self.plugins / "late.so")
        client.hub.wait_until(lambda: client.hub.log.count("resolver.loaded") == 2, "the one that is back")
        client.hub.wait_until(
            lambda: client.call("late__ping").result["content"][0]["text"] == "new", "the new plugin"
        )
        self.assertEqual(client.own_names(), ["late__ping"])

    def check_removing(self, manifest, left):
        """What is left after a reload of the toolset whose file is gone."""
        compile_plugin(self.plugins, "late")
        path = self.home / "hub.yaml"
        path.write_text(manifest)
        client = self.start("--config", path)
        (self.plugins / "late.so").unlink()
        client.hub.wait_log("resolver.removed")
        self.assertEqual(client.own_names(), ["late__ping"])
        client.hub.process.send_signal(signal.SIGHUP)
        client.hub.wait_log("config.reloaded")
        self.assertEqual(client.own_names(), left)
        return client

    def test_removing_and_a_reload(self):  # docs/RELIABILITY.md, Reloading
        self.check_removing("hub: {}\n", [])

    def test_removing_what_the_manifest_names(self):
        client = self.check_removing("toolsets: {late: {}}\n", ["late__ping"])
        self.meta_call(client, "disable_toolset", toolset="late")
        self.assertSays(client.call("enable_toolset", {"toolset": "late"}).result["content"][0]["text"], "no plugin")

    def test_a_new_one_that_the_manifest_does_not_name(self):  # README.md: else it is found, and no more
        path = self.home / "hub.yaml"
        path.write_text("toolsets: {early: {}}\n")
        compile_plugin(self.plugins, "early")
        client = self.start("--config", path)
        shutil.move(compile_plugin(self.outside, "late"), self.plugins / "late.so")
        client.hub.wait_log("resolver.found")
        self.assertEqual(client.own_names(), ["early__ping"])

    def test_without_a_watch(self):
        path = self.home / "hub.yaml"
        path.write_text("modules: {watch: false}\n")
        client = self.start("--config", path)
        shutil.move(compile_plugin(self.outside, "late"), self.plugins / "late.so")
        client.barrier()
        self.assertEqual(client.own_names(), [])
        client.hub.process.send_signal(signal.SIGHUP)  # S5.8: a reload looks at the folders, too
        client.hub.wait_log("config.reloaded")
        self.assertEqual(client.own_names(), ["late__ping"])
        shutil.move(compile_plugin(self.outside, "later"), self.plugins / "later.so")
        path.write_text("modules: {watch: false}\ntoolsets: {wanted: {module: later}}\n")
        client.hub.wait_until(lambda: client.hub.log.count("config.reloaded") >= 2, "the next reload")
        self.assertEqual(client.own_names(), ["wanted__ping"])


class Refusals(Base):
    def test_no_library(self):
        text = self.outside / "text.so"
        text.write_text("hello")
        self.check(text, "not a shared object")

    def test_empty(self):
        empty = self.outside / "empty.so"
        empty.write_bytes(b"")
        self.check(empty, "empty")

    def test_truncated(self):
        whole = compile_plugin(self.outside, "whole").read_bytes()
        for part in (10, 64, len(whole) // 2, len(whole) - 1):
            cut = self.outside / "cut.so"
            cut.write_bytes(whole[:part])
            with self.subTest(part):
                self.check(cut)

    def test_no_symbol(self):
        self.check(self.build(BARE, "bare"), "patchbay_plugin_v1")

    def test_one_that_ends_a_hub_that_starts(self):
        """While a hub runs a child tries it; at a start there is none, and the last line names the file."""
        for end, said, code in (("abort()", "SIGABRT", -signal.SIGABRT), ("exit(7)", "exit() was called", 7)):
            with self.subTest(end):
                source = f"#include <stdlib.h>\n{BARE}__attribute__((constructor)) static void begin(void) {{ {end}; }}\n"
                path = shutil.copy(self.build(source, "fatal"), self.plugins)
                hub = self.hub("--plugins-dir", self.plugins, modules=False, exit_code=code)
                self.assertEqual(hub.wait_exit(), code)
                self.assertEqual(hub.log.splitlines()[-1], f'patchbay: crashed ({said}) in the plugin "{path}", entry "link"')

    def test_unresolved_symbol(self):
        source = "extern int nowhere(void);\n" + BARE + "int patchbay_x(void) { return nowhere(); }\n"
        self.check(self.build(source, "unresolved"), "nowhere")

    def test_wrong_magic(self):
        self.check(self.variant("wrong", MAGIC="1"), "magic")

    def test_too_small(self):
        self.check(self.variant("wrong", SIZE="16"), "struct_size", "16")

    def test_missing_entry(self):
        self.check(self.variant("wrong", CREATE="0"), "create")

    def test_writable_by_others(self):  # G02
        path = compile_plugin(self.outside, "open")
        compile_plugin(self.plugins, "good")
        shutil.copy(path, self.plugins / "open.so")
        (self.plugins / "open.so").chmod(0o666)
        client = self.start()
        self.assertSays(client.hub.wait_log("resolver.refused"), "open.so", "0666")
        self.assertEqual(client.own_names(), ["good__ping"])
        client.hub.finish()
        client = self.start("--allow-writable-plugins")
        self.assertEqual(client.own_names(), ["good__ping", "open__ping"])

    def test_writable_by_the_group_of_its_owner(self):  # G02: what a umask of 002 makes
        compile_plugin(self.plugins, "good")
        for path in (self.plugins / "good.so", self.plugins):
            os.chown(path, -1, os.getegid())
            path.chmod(0o775)
        user, group = pwd.getpwuid(os.geteuid()), grp.getgrgid(os.getegid())
        is_own = (user.pw_gid, user.pw_name) == (group.gr_gid, group.gr_name) and set(group.gr_mem) <= {user.pw_name}
        self.assertEqual(self.start().own_names(), ["good__ping"] if is_own else [])

    def test_writable_by_another_group(self):  # G02
        if os.geteuid() != 0:
            self.skipTest("only root can give files to a group that it is not in")
        compile_plugin(self.plugins, "good")
        os.chown(self.plugins / "good.so", -1, 65534)
        (self.plugins / "good.so").chmod(0o775)
        client = self.start()
        self.assertSays(client.hub.wait_log("resolver.refused"), "good.so", "0775")
        self.assertEqual(client.own_names(), [])

    def test_a_writable_folder(self):  # G02
        compile_plugin(self.plugins, "good")
        self.plugins.chmod(0o777)
        client = self.start()
        self.assertSays(client.hub.wait_log("resolver.refused"), str(self.plugins), "0777")
        self.assertEqual(client.own_names(), [])
        self.plugins.chmod(0o755)

    def test_a_name_taken_by_another_folder(self):
        compile_plugin(self.plugins, "good", reply="first")
        second = self.home / "second"
        second.mkdir(mode=0o755)
        compile_plugin(second, "good", reply="second")
        client = self.start("--plugins-dir", second)
        self.assertSays(client.hub.wait_log("resolver.refused"), str(second), "taken")
        self.assertEqual(client.call("good__ping").result["content"][0]["text"], "first")

    def test_one_in_place_of_the_installation_s(self):
        """modules.paths adds folders: of two plugins of one name the user's is meant, which nobody need be told."""
        compile_plugin(self.plugins, "time", reply="mine")
        client = self.legacy(modules=False, manifest={"modules": {"paths": [str(self.plugins)]}},
                             toolsets={"time": {}, "up": self.recorder().toolset()})
        self.assertEqual(client.call("time__ping").result["content"][0]["text"], "mine")
        self.assertIn("up__echo", client.own_names())  # by the installation's mcp_upstream
        self.assertNotIn("refused", client.hub.log)
        since = client.hub.mark
        (self.plugins / "time.so").unlink()
        client.hub.wait_until(lambda: client.hub.notifications(LIST_CHANGED, since) and "time__now" in client.own_names(), "the installation's")
        compile_plugin(self.outside, "time", reply="again")
        shutil.move(self.outside / "time.so", self.plugins / "time.so")
        client.hub.wait_until(lambda: "time__ping" in client.own_names(), "the user's")
        self.assertEqual(client.call("time__ping").result["content"][0]["text"], "again")
        self.assertNotIn("refused", client.hub.log)

    def test_folders_of_the_command_line_are_all(self):
        compile_plugin(self.plugins, "good")
        other = self.home / "other"
        other.mkdir(mode=0o755)
        client = self.legacy("--plugins-dir", self.plugins, modules=False, manifest={"modules": {"paths": [str(other)]}, "toolsets": {"good": {}, "time": {}}})
        self.assertEqual(client.own_names(), ["good__ping"])
        self.assertSays(client.hub.wait_log("toolset.skipped"), "time", "no plugin", str(self.plugins))

    def test_other_files_are_not_looked_at(self):
        compile_plugin(self.plugins, "good")
        for name in ("README.md", "good.so.bak", ".hidden.so", "x.c"):
            (self.plugins / name).write_text("text")
        client = self.start()
        self.assertEqual(client.own_names(), ["good__ping"])
        self.assertNotIn("refused", client.hub.log)


class Replacements(Base):
    """A newer build that cannot take over: the one before goes on, and all who look at the hub are told so until a good one comes."""

    def setUp(self):
        super().setUp()
        compile_plugin(self.plugins, "late", reply="old")
        socket = self.home / "hub.sock"
        self.served = self.daemon("--unix", socket, "--plugins-dir", self.plugins, modules=False)
        self.served.listening(1)
        self.lines = Lines(socket)
        self.addCleanup(self.lines.close)

    def ask(self, method, /, **params):
        return self.lines.request(method, **params)["result"]

    def assertAnswers(self, text):
        self.assertEqual(self.ask("tools/call", name="late__ping", arguments={})["content"][0]["text"], text)

    def told(self):
        """The same by each way to look; None: nothing."""
        (row,) = self.ask("patchbay/status")["toolsets"]
        told = row.get("refusedPlugin")
        self.assertEqual(row["status"]["state"], "ready")
        described = self.ask("tools/call", name="describe_toolset", arguments={"toolset": "late"})["structuredContent"]
        one = self.ask("patchbay/api", method="GET", path="/api/v1/toolsets/late")["body"]
        self.assertEqual((described.get("refusedPlugin"), one.get("refusedPlugin")), (told, told))
        shown = self.cli("status", "--unix", self.home / "hub.sock")
        self.assertEqual(shown.returncode, 0, shown.stderr)
        self.assertEqual(shown.stdout.splitlines()[3:], [f"  {told}"] if told else [])
        return told

    def drop(self, text):
        """What is no library comes in one step."""
        broken = self.outside / "late.so"
        broken.write_text(text)
        broken.chmod(0o644)
        shutil.move(broken, self.plugins / "late.so")

    def wait(self, event, count):
        self.served.wait_until(lambda: self.served.log.count(event) == count, f"{count} times {event}")

    def come_good(self, loaded):
        shutil.move(compile_plugin(self.outside, "late", reply="new"), self.plugins / "late.so")
        self.wait("resolver.loaded", loaded)
        self.assertAnswers("new")
        self.assertIsNone(self.told())

    def test_a_file_that_cannot_be_loaded(self):
        self.assertAnswers("old")
        self.assertIsNone(self.told())
        self.drop("no library")
        self.wait("resolver.refused", 1)
        self.assertAnswers("old")
        self.assertRegex(self.told(), rf"^{self.plugins}/late\.so was refused: .*not a shared object.*; the build that was loaded at "
                         r"20\d\d-\d\d-\d\dT\d\d:\d\d:\d\dZ stays in use$")
        (self.plugins / "late.so").unlink()  # as a linker does, before it writes another
        self.wait("resolver.removed", 1)
        self.assertIsNone(self.told())
        self.drop("nor is this")
        self.wait("resolver.refused", 2)
        self.assertAnswers("old")
        self.assertSays(self.told(), "not a shared object", "stays in use")
        self.come_good(2)

    def test_a_build_that_cannot_start(self):
        self.assertAnswers("old")
        shutil.move(self.variant("late", LIST="PATCHBAY_FAILED"), self.plugins / "late.so")
        self.wait("toolset.rebind_failed", 1)
        self.assertAnswers("old")
        self.assertSays(self.told(), f'{self.plugins}/late.so was refused: the plugin gave no reason', "stays in use")
        self.come_good(3)


class Explanations(Base):
    """What the commands say of a toolset whose module was refused, or is not there."""

    def setUp(self):
        super().setUp()
        self.manifest = self.home / "hub.yaml"
        self.manifest.write_text("toolsets: {late: {}}\n")
        self.options = ("--plugins-dir", self.plugins)

    def check_all(self, *says):
        """list, call, check and the log of a start say it."""
        with_manifest = (*self.options, "--config", self.manifest)
        for command in (("list", "tools"), ("call", "late__ping"), ("check", self.manifest)):
            with self.subTest(command):
                options = self.options if command[0] == "check" else with_manifest
                done = self.cli(*command, *options, modules=False)
                self.assertNotEqual(done.returncode, 0)
                self.assertSays(done.stderr, 'toolset "late"', *says)
        client = self.start("--config", self.manifest)
        self.assertSays(client.hub.wait_log("toolset.skipped"), *says)
        client.hub.finish()

    def test_a_file_that_others_may_write_to(self):
        path = compile_plugin(self.plugins, "late")
        path.chmod(0o777)
        self.check_all("is there, but was refused", str(path), "0777", f"chmod go-w {path}", "--allow-writable-plugins")

    def test_a_folder_that_others_may_write_to(self):
        path = compile_plugin(self.plugins, "late")
        self.plugins.chmod(0o777)
        self.check_all("its folder was refused", str(path), f"chmod go-w {self.plugins}", "--allow-writable-plugins")
        self.plugins.chmod(0o755)

    def test_a_tool_of_it_without_a_manifest(self):
        path = compile_plugin(self.plugins, "late")
        path.chmod(0o777)
        done = self.cli("call", "late__ping", *self.options, modules=False)
        self.assertNotEqual(done.returncode, 0)
        self.assertSays(done.stderr, "is there, but was refused", f"chmod go-w {path}")

    def test_no_library(self):
        path = self.plugins / "late.so"
        path.write_text("no library")
        path.chmod(0o644)
        self.check_all("is there, but was refused", str(path), "not a shared object")

    def test_none_of_that_name(self):
        compile_plugin(self.plugins, "later")
        self.check_all("there is no plugin", "did you mean", "later", str(self.plugins))

    def test_no_modules_at_all(self):
        done = self.cli("list", "modules", *self.options, modules=False, manifest={"hub": {}})
        self.assertEqual((done.returncode, done.stdout), (0, ""))
        self.assertSays(done.stderr, "no plugins in", str(self.plugins))
        missing = self.home / "missing"
        modules = {"modules": {"paths": [str(missing)]}, "toolsets": {"nowhere": {}}}
        done = self.cli("list", "tools", manifest=modules, modules=False)
        self.assertSays(done.stderr, f"{missing} (there is no such folder)")
        compile_plugin(self.plugins, "late").chmod(0o777)
        elsewhere = self.home / "elsewhere"  # where no manifest is found
        elsewhere.mkdir()
        done = self.cli("list", "tools", *self.options, modules=False, cwd=elsewhere)
        self.assertSays(done.stderr, "no plugins in", "1 file was refused", "list modules")
        (self.plugins / "late.so").chmod(0o755)
        done = self.cli("list", "modules", *self.options, modules=False, cwd=elsewhere)
        self.assertEqual(done.stderr, "")
        self.assertSays(done.stdout, "late")


if __name__ == "__main__":
    main()
