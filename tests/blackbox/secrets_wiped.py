# SPDX-License-Identifier: Apache-2.0
"""What a login was made of is not in the hub's memory when it has ended: not in what is in use, not in what was freed.

docs/LOGIN.md, "What is kept, and where". A build with AddressSanitizer keeps freed memory as it was, so that these tests see
there what a release build leaves to chance.
"""

import secrets
import sys

from api import Base
from login import LoginTest
from mcp import SUPPORT, main

sys.path.insert(0, str(SUPPORT))

from login_server import browse  # noqa: E402

LARGEST = 1 << 27  # bytes: a part of the address space that is larger is AddressSanitizer's own
BEFORE = 4096  # bytes: what stands before a secret, up to here, tells what it is a part of
# libcurl frees the text of a message as it is: its head has such lines, which nothing else in this test writes.
CURLS = (b"\r\nHost: ", b"\r\nContent-Length: ", b" HTTP/1.1\r\n")
LISTED = 1  # by the list of what is masked, for as long as there is room in it: messages may still be on their way
IN_USE = LISTED + 2  # … and the login, and the header that requests get


def memory_of(pid):
    """All that a process can write to, piece by piece."""
    with open(f"/proc/{pid}/maps", encoding="ascii") as maps, open(f"/proc/{pid}/mem", "rb", 0) as memory:
        for line in maps:
            place, rights = line.split()[:2]
            start, end = (int(number, 16) for number in place.split("-"))
            if not rights.startswith("rw") or end - start > LARGEST:
                continue
            try:
                memory.seek(start)
                yield memory.read(end - start)
            except OSError:
                continue  # the kernel's, or gone since


def copies(pid, words):
    """For each of these, what stands before each copy that is not a part of a message that libcurl has freed."""
    found = {word: [] for word in words}
    for data in memory_of(pid):
        for word, there in found.items():
            at = data.find(word.encode())
            while at >= 0:
                before = data[max(0, at - BEFORE) : at].rpartition(b"\0")[2]
                if not any(line in before for line in CURLS):
                    there.append(before[-60:])
                at = data.find(word.encode(), at + 1)
    return found


class Wiped(LoginTest, Base):
    def up(self):
        auth, upstream = self.servers()
        auth.changes = {"token_endpoint_auth_methods_supported": ["client_secret_post"]}
        self.client_secret = f"client-secret-{secrets.token_urlsafe(16)}"
        given = {"client_id": "registered", "client_secret": self.client_secret, "token_endpoint_auth_method": "client_secret_post"}

        def register(handler, fields):
            auth.clients["registered"] = fields
            handler.say(201, {**fields, **given})

        auth.on["/register"] = register
        key = self.home / "state.key"  # else the store has them as they are
        key.write_text(secrets.token_hex(32) + "\n", encoding="utf-8")
        key.chmod(0o600)
        return auth, self.serve(toolsets=self.toolsets(upstream), state={"key": str(key)})

    def daemon(self, *words, env=None, **options):
        # Else the first call of each function saves the vector registers, and what memcpy left in them, on the stack. What is installed is linked
        # with -z now.
        return super().daemon(*words, env={**(env or {}), "LD_BIND_NOW": "1"}, **options)

    def copies(self, server, words):
        self.get(server, "/logins")  # what its loop was at when it answered before is over
        return copies(server.hub.process.pid, words)

    def issued(self, auth):
        with auth.condition:
            return [token for token in auth.users]

    def call(self, server):
        headers = {"Authorization": f"Bearer {self.tokens['admin']}"}
        answer = server.modern("tools/call", {"name": "up__echo", "arguments": {}}, headers=headers).answer
        self.assertNotIn("error", answer.result)

    def test_after_a_logout(self):
        auth, server = self.up()
        browse(self.do(server, "/logins/up")["url"])
        server.hub.wait_log("login.token")
        self.call(server)
        first = self.issued(auth)
        auth.tokens.clear()  # the next call refreshes them
        self.call(server)
        self.assertEqual(auth.of("/token")[-1]["client_secret"], self.client_secret)
        now = [token for token in self.issued(auth) if token not in first]
        self.assertEqual(len(now), 2, "an access token and one for refreshing")
        there = self.copies(server, (*first, *now, self.client_secret))
        for secret, found in there.items():
            least, most = (0, LISTED) if secret in first else (LISTED, IN_USE)
            self.assertTrue(least <= len(found) <= most, (secret, found))
        self.assertEqual(self.ask(server, "admin", "DELETE", "/logins/up").status, 200)
        self.assertEqual(len(auth.revoked), 1)
        for secret, found in self.copies(server, there).items():
            self.assertLessEqual(len(found), LISTED, (secret, found))


if __name__ == "__main__":
    main()
