#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Three hubs behind nginx, by the recipe of docs/SCALE.md as it is there but for the ports."""

import re
import shutil
import subprocess
import unittest
from pathlib import Path

import http_behind_nginx
import replica_sessions
from mcp import main
from ports import port_of, reserve
from valkey import PROGRAM

RECIPE = Path(__file__).resolve().parents[2] / "docs/SCALE.md"
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


@unittest.skipUnless(PROGRAM and shutil.which("nginx"), "there is no store, or no nginx")
class BehindNginx(replica_sessions.RoundRobin):
    def haproxy(self):
        reserved = reserve()
        self.addCleanup(reserved.close)
        port = port_of(reserved)
        recipe = re.search(r"^upstream patchbay .*?(?=^```)", RECIPE.read_text(encoding="utf-8"), re.M | re.S)[0]
        ports = iter([*(server.port for server in self.servers), port])
        recipe, count = re.subn(r"127\.0\.0\.1:878[123]|(?<=listen )80", lambda _: f"127.0.0.1:{next(ports)}", recipe)
        self.assertEqual(count, 4)
        path = self.home / "nginx.conf"
        path.write_text(AROUND.format(home=self.home, recipe=recipe), encoding="utf-8")
        process = subprocess.Popen(["nginx", "-p", str(self.home), "-c", str(path)], stderr=subprocess.PIPE, text=True)
        self.addCleanup(http_behind_nginx.Behind.stop, process)
        self.servers[0].hub.wait_until(lambda: self.is_up(port), "nginx")
        return port


if __name__ == "__main__":
    main()
