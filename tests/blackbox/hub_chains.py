# SPDX-License-Identifier: Apache-2.0
"""Hubs that start hubs: a configuration that starts itself is refused, and a chain of hubs works."""

import json
import shlex

from mcp import HubTest, ModernClient, fixture, hub_binary, hub_command, main

MOST = 8  # HUB_LIMIT_CHAIN


class Chains(HubTest):
    """Each shell that a hub starts writes down which hubs are above it. A server that fails is tried again, so what
    counts is not how many were started but that none of them was started by one that should have been refused."""

    def setUp(self):
        super().setUp()
        self.starts = self.home / "starts"

    def write(self, name, **toolsets):
        path = self.home / name
        document = {"limits": {"discover_timeout": "2m", "straggler_timeout": "0s"}, "toolsets": {"own": fixture("echo"), **toolsets}}
        path.write_text(json.dumps(document), encoding="utf-8")  # lists wait for hubs that start slowly
        return path

    def options(self, *files):
        return hub_command(files=files)[1:]

    def entry(self, *files, program=None, **keys):
        return {"command": program or hub_binary(), "args": self.options(*files), **keys}

    def counting(self, *files, script='exec "$@"'):
        """The same, through a shell that writes down the hubs above it."""
        line = f'echo "$PATCHBAY_CHAIN" >> {shlex.quote(str(self.starts))}; {script}'
        return {"command": "sh", "args": ["-c", line, "sh", hub_binary(), *self.options(*files)]}

    def depth(self):
        """How many hubs were above the deepest shell."""
        lines = self.starts.read_text(encoding="utf-8").split() if self.starts.exists() else []
        return max((len(line.split(".")) for line in lines), default=0)

    def client(self, *files, **options):
        return ModernClient(self.hub(files=files, **options))

    def failure(self, client, toolset):
        listed = client.call("list_toolsets").result["structuredContent"]["toolsets"]
        return str(next(each for each in listed if each["key"] == toolset))

    def check_refused(self, client, toolset, *words):
        """The entry that closes the circle has failed, and says why; everything else is there."""
        names = client.own_names()
        self.assertIn("own__echo", names)
        self.assertEqual([name for name in names if name.startswith(f"{toolset}__")], [])
        client.hub.wait_log(f"tools.discovery.server.failed serverName={toolset} ")  # a list does not wait for each of many
        self.assertSays(self.failure(client, toolset), *words)

    def test_a_hub_that_starts_itself(self):
        """What `claude mcp add --scope project` writes: nothing at all is started."""
        path = self.home / "hub.json"
        for name, words in (
            ("--config", ["--config", str(path)]),
            ("--config=", [f"--config={path}"]),
            ("-c", ["-c", "hub.json"]),
            ("serve", ["serve", "--log-level", "debug", "--config", str(self.home / "." / "hub.json")]),
        ):
            with self.subTest(name=name):
                self.write("hub.json", me={"command": hub_binary(), "args": [*self.options(), *words]})
                client = self.client(path)
                self.check_refused(client, "me", "start the hub itself", "hub.json", "remove the entry")
                client.hub.remember_descendants()
                self.assertEqual(client.hub.descendants, set())
                client.hub.finish()

    def test_by_other_names_of_the_same(self):
        program, link = self.home / "other-name", self.home / "link.json"
        program.symlink_to(hub_binary())
        link.symlink_to("hub.json")
        path = self.write("hub.json", me=self.entry(link, program=str(program)))
        client = self.client(path)
        self.check_refused(client, "me", "start the hub itself")
        client.hub.remember_descendants()
        self.assertEqual(client.hub.descendants, set())

    def test_through_a_shell_and_other_wrappers(self):
        path = self.home / "hub.json"
        for script in ('exec "$@"', '"$@"; exit $?', 'exec env -- "$@"', 'exec env -i PATH="$PATH" "$@"',
                       'unset PATCHBAY_CHAIN; exec "$@"', 'PATCHBAY_CHAIN=nonsense exec setsid --wait "$@"'):
            with self.subTest(script=script):
                self.starts.unlink(missing_ok=True)
                self.write("hub.json", me=self.counting(path, script=script))
                client = self.client(path)
                self.check_refused(client, "me", "a hub with this configuration started this one", "hub.json")
                self.assertEqual(self.depth(), 1)
                client.hub.finish()

    def test_an_entry_cannot_hide_it(self):
        path = self.home / "hub.json"
        self.write("hub.json", me={**self.counting(path), "env": {"PATCHBAY_CHAIN": ""}})
        client = self.client(path)
        self.check_refused(client, "me", "a hub with this configuration started this one")
        self.assertEqual(self.depth(), 1)

    def test_a_circle_of_two(self):
        first, second = self.home / "first.json", self.home / "second.json"
        self.write("first.json", b=self.counting(second))
        self.write("second.json", a=self.counting(first))
        client = self.client(first)
        names = client.own_names()
        self.assertIn("own__echo", names)
        self.assertIn("b__own__echo", names)
        self.assertEqual([name for name in names if "a__" in name], [])
        self.assertLessEqual(self.depth(), 2)
        inner = client.call("b__list_toolsets").result["structuredContent"]["toolsets"]
        self.assertSays(str(inner), "this configuration", "remove the server entry")

    def test_many_circles_at_once(self):
        """Each of eight entries names the same file: none of their hubs starts another."""
        path = self.home / "hub.json"
        self.write("hub.json", **{f"me{n}": self.counting(path) for n in range(8)})
        client = self.client(path)
        self.check_refused(client, "me0", "a hub with this configuration")
        self.check_refused(client, "me7", "a hub with this configuration")
        self.assertEqual(self.depth(), 1)

    def test_commands_that_look_or_call_are_no_way_around(self):
        path = self.home / "hub.json"
        for word in ("list", "check", "call"):
            with self.subTest(word=word):
                self.starts.unlink(missing_ok=True)
                rest = ["--connect", str(path)] if word == "check" else ["me__x"] if word == "call" else []
                entry = self.counting(path)
                entry["args"] = [*entry["args"][:4], word, *rest, *entry["args"][4:]]
                self.write("hub.json", me=entry)
                client = self.client(path)
                self.assertIn("own__echo", client.own_names())
                client.hub.finish()
                self.assertLessEqual(self.depth(), 2)

    def test_a_tool_may_call_another(self):
        path = self.home / "hub.json"
        run = [hub_binary(), "call", "own__echo", *self.options(path)]
        self.write("hub.json", tools={"module": "command", "config": {
            "tools": [{"name": "outer", "description": "Calls another.", "argv": run}]}})
        client = self.client(path)
        self.assertIn("fixture", client.call("tools__outer").raw)

    def around(self, path, n):
        """A hub around the hub of `path`."""
        outer = self.home / f"hub{n}.json"
        toolsets = {"i": {**self.counting(path), "startup_timeout": "5m"}}
        manifest = {"hub": {"meta_tools": False, "naming": "none", "cache": False}, "toolsets": toolsets,
                    "limits": {"discover_timeout": "5m"}}
        outer.write_text(json.dumps(manifest), encoding="utf-8")
        return outer

    def test_as_many_in_a_row_as_allowed_and_one_more(self):
        path = self.write("inner.json")
        for n in range(1, MOST):
            path = self.around(path, n)
        client = self.client(path)
        self.assertEqual([name for name in client.names() if "own" in name], ["own__echo"])
        self.assertEqual(self.depth(), MOST - 1)
        self.assertIn("far", client.call("own__echo", {"text": "far"}).raw)
        client.hub.finish()
        self.starts.unlink()
        client = self.client(self.around(path, MOST))
        self.assertEqual(client.names(), [])
        client.hub.wait_log(f"more than {MOST} hubs")
        self.assertEqual(self.depth(), MOST)

    def test_what_is_no_circle(self):
        inner, more = self.write("inner.json"), self.home / "more.json"
        more.write_text('{"toolsets": {}}', encoding="utf-8")
        path = self.home / "hub.json"
        self.write("hub.json", a=self.entry(inner), b=self.entry(inner), c=self.entry(inner, more))
        client = self.client(path)
        names = client.own_names()
        for key in ("a", "b", "c"):
            self.assertIn(f"{key}__own__echo", names)

    def test_a_module_in_a_process_of_its_own(self):
        path = self.write("hub.json", apart=fixture("echo", isolation="process"))
        client = self.client(path)
        self.assertIn("apart__echo", client.own_names())
        self.assertEqual(client.call("apart__echo", {"text": "x"}).result["structuredContent"]["tool"], "echo")

    def test_check_says_so(self):
        path = self.home / "hub.json"
        self.write("hub.json", me=self.entry(path))
        result = self.cli("check", path, "--connect")
        self.assertEqual(result.returncode, 5)
        self.assertSays(result.stdout + result.stderr, "me:", "start the hub itself", "remove the entry")


if __name__ == "__main__":
    main()
