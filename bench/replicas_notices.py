#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How long it takes until each client at three replicas with one store has been told that its lists have changed.

    ./bench/replicas_notices.py [--build FOLDER] [--notices 100] [--clients 4]

FOLDER (build/release) has the hub and its plugins; valkey-server or redis-server is that of the distribution. A principal
enables a toolset and disables it again, at one replica after the other, each time when all have heard of the last; it has so
many clients at each replica, and so has another principal. Held: all of the first's have heard within a second of when the
change was asked for, once each, and none of the other's at all."""

import argparse
import http.client
import json
import os
import secrets
import statistics
import sys
import tempfile
import threading
import time
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "tests/soak"))

from replicas import META, REPLICAS, Replica, Store, make_tokens  # noqa: E402

MOST_S, GIVEN_UP_S = 1, 60


def post(replica, token, method, params):
    """The answer as it comes in."""
    params = {**params, "_meta": {META + "protocolVersion": "2026-07-28", META + "clientCapabilities": {}}}
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", "Authorization": f"Bearer {token}",
               "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method}
    if "name" in params:
        headers["Mcp-Name"] = params["name"]
    connection = http.client.HTTPConnection("127.0.0.1", replica.port, timeout=600)
    connection.request("POST", "/mcp", json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}), headers)
    response = connection.getresponse()
    if response.status != 200:
        sys.exit(f"{method} fails: {response.status} {response.read()[:300]}")
    return response


class Listener(threading.Thread):
    """A client that waits for news. `heard`: when it was told of each."""

    def __init__(self, replica, token, news):
        super().__init__(daemon=True)
        self.news, self.heard = news, []
        self.stream = post(replica, token, "subscriptions/listen", {"notifications": {"toolsListChanged": True}})
        while b"acknowledged" not in self.stream.readline():
            pass
        self.start()

    def run(self):
        while line := self.stream.readline():
            if b'"notifications/tools/list_changed"' in line:
                with self.news:
                    self.heard.append(time.monotonic())
                    self.news.notify_all()


def change(replica, token, number):
    params = {"name": "disable_toolset" if number % 2 else "enable_toolset", "arguments": {"toolset": "other"}}
    answer = post(replica, token, "tools/call", params).read()
    if b'"ok":true' not in answer.replace(b" ", b""):
        sys.exit(f"the change is refused: {answer[:300]}")


def measure(options, replicas, token, listeners, news):
    """How long each notice took to the last of its clients, seconds."""
    took = []
    for number in range(options.notices):
        began = time.monotonic()
        change(replicas[number % REPLICAS], token, number)
        with news:
            if not news.wait_for(lambda n=number: all(len(one.heard) > n for one in listeners), GIVEN_UP_S):
                sys.exit(f"notice {number}: not all have heard within {GIVEN_UP_S} s")
            took.append(max(one.heard[number] for one in listeners) - began)
    return sorted(took)


def hold(name, is_good):
    print(f"{name}: {'yes' if is_good else 'NO'}")
    return is_good


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", type=lambda text: Path(text).resolve(), default=HERE.parent / "build/release")
    parser.add_argument("--notices", type=int, default=100)
    parser.add_argument("--clients", type=int, default=4, help="of each principal at each replica")
    options = parser.parse_args()
    os.environ |= {"PATCHBAY_BIN": str(options.build / "core/patchbay"), "PATCHBAY_PLUGINS": str(options.build / "plugins")}
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        keys = folder / "replicas.key"
        keys.write_text(secrets.token_hex(32), encoding="ascii")
        keys.chmod(0o600)
        store = Store(folder)
        file, tokens = make_tokens(folder, 2)
        toolsets = {"time": {"module": "time"}, "other": {"module": "time", "active": False}}
        manifest = {"hub": {"name": "bench"}, "state": {"url": store.url}, "auth": {"tokens": str(file)}, "toolsets": toolsets,
                    "replicas": {"key_file": str(keys), "peers": ["127.0.0.1"], "count": REPLICAS}, "limits": {"drain_timeout": "1s"}}
        replicas = [Replica(folder, number, manifest) for number in range(REPLICAS)]
        news = threading.Condition()
        mine, others = ([Listener(replica, token, news) for replica in replicas for _ in range(options.clients)] for token in tokens)
        took = measure(options, replicas, tokens[0], mine, news)
        for replica in replicas:  # the streams end: what was told is known
            replica.process.terminate()
            replica.process.wait()
            replica.log.close()
        for listener in mine + others:
            listener.join()
        store.process.kill()
        store.process.wait()
    print(f"{len(took)} notices to {len(mine)} clients at {REPLICAS} replicas: half of them at the last client within "
          f"{1000 * statistics.median(took):.0f} ms, the slowest {1000 * took[-1]:.0f} ms")
    good = [hold("all within a second", took[-1] <= MOST_S),
            hold("each client once", all(len(one.heard) == options.notices for one in mine)),
            hold("nobody else", not any(one.heard for one in others))]
    print(f"{sum(good)} passed, {len(good) - sum(good)} failed")
    return 0 if all(good) else 1


if __name__ == "__main__":
    sys.exit(main())
