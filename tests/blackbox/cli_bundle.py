# SPDX-License-Identifier: Apache-2.0
"""Bundles (.mcpb): what is taken and what is not, what would run, and the files looked at before each start."""

import hashlib
import http.server
import json
import os
import stat
import struct
import threading
import zipfile

from mcp import HubTest, main

OK, USAGE, CONFIG, TOOL = 0, 2, 3, 6

SERVER = """
import json, os, sys
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    if method == "initialize":
        result = {"protocolVersion": message["params"]["protocolVersion"], "capabilities": {"tools": {}},
                  "serverInfo": {"name": "bundled", "version": "1"}}
    elif method == "tools/list":
        result = {"tools": [{"name": "tell", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        said = {"args": sys.argv[1:], "key": os.environ.get("API_KEY"), "cwd": os.getcwd()}
        result = {"content": [{"type": "text", "text": json.dumps(said)}]}
    else:
        result = None
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    answer.update({"result": result} if result is not None else {"error": {"code": -32601, "message": "no"}})
    print(json.dumps(answer), flush=True)
"""

MANIFEST = {
    "manifest_version": "0.3", "name": "my-extension", "version": "1.0.0", "description": "A simple MCP extension",
    "author": {"name": "Extension Author"},
    "server": {"type": "python", "entry_point": "server/main.py", "mcp_config": {
        "command": "python", "args": ["${__dirname}/server/main.py", "${user_config.allowed}", "a$b${x}", "${HOME}/y"],
        "env": {"API_KEY": "k-${user_config.api_key}"},
        "platform_overrides": {"win32": {"command": "never.exe"}}}},
    "user_config": {
        "allowed": {"type": "directory", "title": "Allowed", "multiple": True, "required": True,
                    "default": ["${HOME}/Desktop", "/d"]},
        "api_key": {"type": "string", "title": "API Key", "description": "Your key", "sensitive": True, "required": True}},
}


class Bundles(HubTest):
    def setUp(self):
        super().setUp()
        self.file = self.home / "hub.json"
        self.file.write_text('{"toolsets": {}}')
        self.store = self.home / ".local" / "share" / "patchbay" / "bundles"

    def pack(self, files=None, manifest=MANIFEST, name="x.mcpb", compression=zipfile.ZIP_DEFLATED):
        """A bundle: names or ZipInfos to what they hold."""
        path = self.home / name
        with zipfile.ZipFile(path, "w", compression) as archive:
            if manifest is not None:
                archive.writestr("manifest.json", json.dumps(manifest))
            for key, content in ({"server/main.py": SERVER} if files is None else files).items() if not isinstance(files, list) else files:
                archive.writestr(key, content)
        return path

    def add(self, source, *words, code=OK):
        done = self.cli("add", "--config", self.file, source, "--yes", *words, modules=False)
        self.assertEqual(done.returncode, code, done.stderr)
        if code != OK:
            self.assertEqual(json.loads(self.file.read_text()), {"toolsets": {}})
            left = [name for name in os.listdir(self.store)] if self.store.exists() else []
            self.assertEqual(left, [], "something is left")
        return done

    def call(self):
        return self.cli("call", "my-extension__tell", "--config", self.file, modules=False)

    def test_a_bundle_is_served(self):
        path = self.pack()
        done = self.add(path, "--input", "api_key=s3cret")
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        folder = self.store / digest
        self.assertIn(f"sha256 {digest}", done.stdout)
        entry = json.loads(self.file.read_text())["toolsets"]["my-extension"]
        self.assertEqual(entry["args"][0], "run-bundle")
        self.assertEqual(entry["args"][4:], [
            str(folder), "python3", f"{folder}/server/main.py", f"{self.home}/Desktop", "/d", "a$$b$${x}", f"{self.home}/y"])
        self.assertEqual(entry["env"]["API_KEY"], "k-${secret:my-extension.api_key}")
        self.assertNotIn("s3cret", self.file.read_text() + done.stdout + done.stderr)
        called = self.call()
        self.assertEqual(called.returncode, OK, called.stderr + called.stdout)
        said = json.loads(called.stdout)
        self.assertEqual(said, {"args": [f"{self.home}/Desktop", "/d", "a$b${x}", f"{self.home}/y"], "key": "k-s3cret",
                                "cwd": str(folder)})
        for path in (folder, folder / "server", folder / "server" / "main.py"):
            self.assertEqual(stat.S_IMODE(path.stat().st_mode) & 0o277, 0, path)  # nobody writes

    def test_changed_files_are_not_run(self):
        self.add(self.pack(), "--input", "api_key=k", "--input", "allowed=/one")
        [folder] = self.store.iterdir()
        main_file = folder / "server" / "main.py"
        content = main_file.read_bytes()
        for change in ("content", "mode", "more", "link"):
            with self.subTest(change=change):
                for path in (folder, folder / "server"):
                    path.chmod(0o700)
                main_file.chmod(0o700 if change == "mode" else 0o600)
                if change == "content":
                    main_file.write_bytes(content + b"#")
                elif change == "more":
                    (folder / "new.py").write_text("")
                elif change == "link":
                    (folder / "link").symlink_to("/etc/hostname")
                done = self.call()
                self.assertNotEqual(done.returncode, OK)
                self.assertIn("neither a file" if change == "link" else "not those that were added",
                              done.stdout + done.stderr)
                main_file.chmod(0o600)
                main_file.write_bytes(content)
                for name in ("new.py", "link"):
                    (folder / name).unlink(missing_ok=True)
        done = self.call()
        self.assertEqual(done.returncode, OK, done.stdout + done.stderr)

    def test_the_same_again(self):
        path = self.pack()
        self.add(path, "--input", "api_key=k")
        self.file.write_text('{"toolsets": {}}')
        self.add(path, "--input", "api_key=k")
        self.assertEqual(len(list(self.store.iterdir())), 1)

    def test_the_digest_of_the_file(self):
        path = self.pack()
        digest = hashlib.sha256(path.read_bytes()).hexdigest()
        self.assertIn("is not the bundle", self.add(path, "--digest", "sha256:" + "0" * 64, code=CONFIG).stderr)
        self.assertIn("wanted sha256", self.add(path, "--digest", digest.upper(), code=CONFIG).stderr)
        self.add(path, "--digest", digest, "--input", "api_key=k")

    def test_over_the_network(self):
        body = self.pack().read_bytes()

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                self.send_response(200 if self.path == "/x.mcpb" else 404)
                self.send_header("Content-Length", str(len(body)))
                self.end_headers()
                self.wfile.write(body)

            def log_message(self, *args):
                pass

        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        url = f"http://127.0.0.1:{server.server_address[1]}"
        digest = "sha256:" + hashlib.sha256(body).hexdigest()
        self.assertIn("--digest", self.add(url + "/x.mcpb", code=CONFIG).stderr)
        self.assertIn("wanted " + "0" * 64, self.add(url + "/x.mcpb", "--digest", "sha256:" + "0" * 64, code=CONFIG).stderr)
        self.assertIn("status 404", self.add(url + "/y.mcpb", "--digest", digest, code=CONFIG).stderr)
        self.add(url + "/x.mcpb", "--digest", digest, "--input", "api_key=k")

    def refuse(self, files, saying):
        self.assertIn(saying, self.add(self.pack(files), "--input", "api_key=k", code=CONFIG).stderr)

    def test_names(self):
        for name, saying in (
            ("../x", '".."'), ("a/../x", '".."'), ("./x", '"."'), ("/etc/x", "absolute"), ("a//x", "empty part"),
            ("a\\x", "backslash"), ("a\nx", "control"), ("a/" * 32 + "x", "too deep"), ("n" * 256, "255"),
            ("/".join(["n" * 200] * 6), "too long"),
        ):
            with self.subTest(name=name):
                self.refuse([(name, "x")], saying)
        self.add(self.pack([("a/" * 31 + "x", "x"), ("n" * 255, "x"), ("ä/ö", "x")]), "--input", "api_key=k")

    def test_names_of_two(self):
        for one, two in (("a", "A"), ("a/x", "A/y"), ("a", "a/b"), ("Dir/f", "dir")):
            with self.subTest(names=(one, two)):
                self.refuse([(one, "1"), (two, "2")], "is there twice")
        self.refuse([("x/a", "1"), ("x/a", "2")], "exists")  # libzip sees it first

    def test_only_files(self):
        for mode in (stat.S_IFLNK, stat.S_IFIFO, stat.S_IFCHR, stat.S_IFDIR):
            info = zipfile.ZipInfo("x")
            info.create_system = 3
            info.external_attr = (mode | 0o777) << 16
            self.refuse([(info, "/etc/passwd")], "special file")
        info = zipfile.ZipInfo("run")
        info.create_system = 3
        info.external_attr = (stat.S_IFREG | 0o4755) << 16
        self.add(self.pack([(info, "#!/bin/sh"), ("plain", "x"), ("folder/", "")]), "--input", "api_key=k")
        [folder] = self.store.iterdir()
        self.assertEqual(stat.S_IMODE((folder / "run").stat().st_mode), 0o500)
        self.assertEqual(stat.S_IMODE((folder / "plain").stat().st_mode), 0o400)

    def test_how_many(self):
        """10,000 files with the manifest, and one more."""
        self.refuse([(f"f{i}", "") for i in range(10000)], "10000")
        self.add(self.pack([(f"f{i}", "") for i in range(9999)]), "--input", "api_key=k")

    def test_how_well_packed(self):
        """All files are at most 100 times as large as the archive."""
        self.refuse([("zeros", bytes(50_000_000))], "100 times")
        self.refuse([(f"zeros{i}", bytes(1_000_000)) for i in range(50)], "100 times")

    def test_how_large(self):
        """What the directory says of sizes counts, and is not believed."""
        path = self.pack([("big", b"x" * 1000)], compression=zipfile.ZIP_STORED)
        data = bytearray(path.read_bytes())
        for size, saying in ((600 << 20, ""), (10, "")):
            changed = bytearray(data)
            at = changed.rindex(b"PK\1\2")
            changed[at + 24:at + 28] = struct.pack("<I", size)
            path.write_bytes(changed)
            self.add(path, "--input", "api_key=k", code=CONFIG)

    def test_broken(self):
        path = self.pack()
        data = path.read_bytes()
        for changed in (b"", b"PK", data[:-30], data[:len(data) // 2], b"x" * 1000):
            path.write_bytes(changed)
            self.add(path, "--input", "api_key=k", code=CONFIG)
        flipped = bytearray(self.pack([("f", b"y" * 100)], compression=zipfile.ZIP_STORED).read_bytes())
        flipped[flipped.index(b"yyyy")] ^= 1  # the checksum is wrong
        path.write_bytes(flipped)
        self.add(path, "--input", "api_key=k", code=CONFIG)
        self.add(self.home / "none.mcpb", code=CONFIG)

    def test_manifests(self):
        def server(**more):
            return {**MANIFEST, "server": {**MANIFEST["server"], **more}}
        for manifest, saying in (
            (None, "no manifest.json"), ([], "not the manifest"), ({"name": "x"}, "no version"),
            (server(type="uv"), "uv"), (server(mcp_config={}), "no command"), ({**MANIFEST, "server": {}}, "no server"),
            ({**MANIFEST, "compatibility": {"platforms": ["darwin", "win32"]}}, "other systems"),
        ):
            with self.subTest(saying=saying):
                done = self.add(self.pack(manifest=manifest), "--input", "api_key=k", code=CONFIG)
                self.assertIn(saying, done.stderr)
        self.assertIn("--input api_key=", self.add(self.pack(), code=CONFIG).stderr)
        own = server(type="binary", mcp_config={"command": "server/tool", "args": ["--config", "server/config.json"], "env": {},
                                                "platform_overrides": {"linux": {"args": ["${/}"]}}})
        self.add(self.pack(manifest=own))
        [folder] = self.store.iterdir()
        self.assertEqual(json.loads(self.file.read_text())["toolsets"]["my-extension"]["args"][5:], [f"{folder}/server/tool", "/"])

    def test_without_a_yes(self):
        done = self.cli("add", "--config", self.file, self.pack(), "--input", "api_key=k", modules=False)
        self.assertEqual(done.returncode, USAGE)
        self.assertIn("runs ", done.stdout)
        self.assertEqual(list(self.store.iterdir()), [])


if __name__ == "__main__":
    main()
