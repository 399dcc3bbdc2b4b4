#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three hubs behind nginx and behind haproxy, by the recipes of docs/SCALE.md as they are there but for the ports."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

import http_behind_nginx
import replica_sessions
from mcp import LIST_CHANGED, main
from ports import port_of, reserve
from valkey import PROGRAM

DOCUMENT = Path(__file__).resolve().parents[2] / "docs/SCALE.md"
AROUND = """
daemon off; master_process off; pid {home}/nginx.pid; error_log stderr notice;
events {{ worker_connections 256; }}
http {{
    access_log off;
    client_body_temp_path {home}/body; proxy_temp_path {home}/proxy; fastcgi_temp_path {home}/f;
    uwsgi_temp_path {home}/u; scgi_temp_path {home}/s;
{recipe}
}}
"""


def recipe_of(test, begin, front, order):
    """The block that begins so, with the ports of the test's hubs, and a free one in place of `front`: (that one, the text)."""
    reserved = reserve()
    test.addCleanup(reserved.close)
    port = port_of(reserved)
    recipe = re.search(rf"^{begin}.*?(?=^```)", DOCUMENT.read_text(encoding="utf-8"), re.M | re.S)[0]
    ports = iter(order(port, [server.port for server in test.servers]))
    recipe, count = re.subn(rf"127\.0\.0\.1:878[123]|{front}", lambda _: f"127.0.0.1:{next(ports)}", recipe)
    test.assertEqual(count, 4)
    return port, recipe


@unittest.skipUnless(PROGRAM and shutil.which("nginx"), "there is no store, or no nginx")
class BehindNginx(replica_sessions.RoundRobin):
    def haproxy(self):
        port, recipe = recipe_of(self, "upstream patchbay ", r"(?<=listen )80", lambda front, hubs: [*hubs, front])
        path = self.home / "nginx.conf"
        path.write_text(AROUND.format(home=self.home, recipe=recipe), encoding="utf-8")
        process = subprocess.Popen(["nginx", "-p", str(self.home), "-c", str(path)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(http_behind_nginx.Behind.stop, process)
        self.servers[0].hub.wait_until(lambda: self.is_up(port), "nginx")
        return port


@unittest.skipUnless(PROGRAM and shutil.which("haproxy"), "there is no store, or no haproxy")
class BehindHaproxy(replica_sessions.Three):
    def haproxy(self):
        port, recipe = recipe_of(self, "# haproxy.cfg", r"(?<=bind ):80", lambda front, hubs: [front, *hubs])
        path = self.home / "haproxy.cfg"
        path.write_text(recipe, encoding="utf-8")
        checked = subprocess.run(["haproxy", "-c", "-f", str(path)], capture_output=True, text=True, check=False)
        self.assertEqual(checked.returncode, 0, checked.stderr)
        self.assertNotIn("WARNING", checked.stderr)
        return self.balance(path, port)

    def test_each_request_goes_to_the_next_replica(self):
        session = self.front.legacy()
        stream = session.open()
        for _ in range(6):
            self.assertNotIn("error", session.call("set__tool0").message.data)
        self.change(self.front, "enable_toolset", "beta")
        self.assertEqual(stream.message().method, LIST_CHANGED)


if __name__ == "__main__":
    main()
