# SPDX-License-Identifier: Apache-2.0
"""Servers of a registry (search, add), over the registry API v0.1; what it answers is what its documentation shows."""

import http.server
import json
import os
import pty
import subprocess
import threading
import urllib.parse

from mcp import HubTest, hub_environment, main

OK, USAGE, CONFIG, UNREACHABLE = 0, 2, 3, 5
META = "io.modelcontextprotocol.registry/official"
DIGEST = "sha256:" + "1a" * 32
STDIO = {"type": "stdio"}

# The examples of the registry's own documentation (server.json, 2025-12-11).
SERVERS = [
    {"name": "io.modelcontextprotocol.anonymous/brave-search", "title": "Brave Search", "version": "1.0.2",
     "description": "MCP server for Brave Search API integration",
     "packages": [{"registryType": "npm", "registryBaseUrl": "https://registry.npmjs.org",
                   "identifier": "@modelcontextprotocol/server-brave-search", "version": "1.0.2", "transport": STDIO,
                   "environmentVariables": [{"name": "BRAVE_API_KEY", "description": "Brave Search API Key",
                                             "isRequired": True, "isSecret": True}]}]},
    {"name": "io.github.modelcontextprotocol/filesystem", "title": "Filesystem", "version": "1.0.2",
     "description": "Node.js server implementing Model Context Protocol (MCP) for filesystem operations.",
     "packages": [
         {"registryType": "npm", "registryBaseUrl": "https://registry.npmjs.org",
          "identifier": "@modelcontextprotocol/server-filesystem", "version": "1.0.2", "transport": STDIO,
          "packageArguments": [{"type": "positional", "valueHint": "target_dir", "description": "Path to access",
                                "default": "/Users/username/Desktop", "isRequired": True, "isRepeated": True}],
          "environmentVariables": [{"name": "LOG_LEVEL", "default": "info",
                                    "description": "Logging level (debug, info, warn, error)"}]},
         {"registryType": "oci", "identifier": "docker.io/mcp/filesystem:1.0.2", "transport": STDIO,
          "runtimeArguments": [{
              "type": "named", "description": "Mount a volume into the container", "name": "--mount",
              "value": "type=bind,src={source_path},dst={target_path}", "isRequired": True, "isRepeated": True,
              "variables": {"source_path": {"description": "Source path on host", "format": "filepath",
                                            "isRequired": True},
                            "target_path": {"isRequired": True, "default": "/project"}}}],
          "packageArguments": [{"type": "positional", "valueHint": "target_dir", "value": "/project"}],
          "environmentVariables": [{"name": "LOG_LEVEL", "default": "info"}]}]},
    {"name": "io.github.example/weather-mcp", "title": "Weather", "version": "0.5.0",
     "description": "Python MCP server for weather data access",
     "packages": [{"registryType": "pypi", "registryBaseUrl": "https://pypi.org", "identifier": "weather-mcp-server",
                   "version": "0.5.0", "runtimeHint": "uvx", "transport": STDIO,
                   "environmentVariables": [
                       {"name": "WEATHER_API_KEY", "isRequired": True, "isSecret": True},
                       {"name": "WEATHER_UNITS", "default": "celsius"}]}]},
    {"name": "io.github.joelverhagen/knapcode-samplemcpserver", "version": "0.5.0",
     "description": "Sample NuGet MCP server for a random number and random weather",
     "packages": [{"registryType": "nuget", "registryBaseUrl": "https://api.nuget.org",
                   "identifier": "Knapcode.SampleMcpServer", "version": "0.5.0", "runtimeHint": "dnx",
                   "transport": STDIO}]},
    {"name": "io.github.example/database-manager", "version": "3.1.0",
     "description": "MCP server for database operations with support for multiple database types",
     "packages": [{"registryType": "oci", "identifier": "docker.io/example/database-manager-mcp:3.1.0",
                   "transport": STDIO,
                   "runtimeArguments": [
                       {"type": "named", "name": "--network", "value": "host"},
                       {"type": "named", "name": "-e", "value": "DB_TYPE={db_type}", "isRepeated": True,
                        "variables": {"db_type": {"choices": ["postgres", "mysql", "mongodb", "redis"],
                                                  "isRequired": True}}}],
                   "packageArguments": [
                       {"type": "named", "name": "--host", "default": "localhost", "isRequired": True},
                       {"type": "named", "name": "--port", "format": "number"},
                       {"type": "positional", "valueHint": "database_name", "isRequired": True}],
                   "environmentVariables": [
                       {"name": "DB_USERNAME", "isRequired": True},
                       {"name": "DB_PASSWORD", "isRequired": True, "isSecret": True},
                       {"name": "SSL_MODE", "default": "prefer", "choices": ["disable", "prefer", "require"]}]}]},
    {"name": "io.modelcontextprotocol.anonymous/hybrid-mcp", "title": "Hybrid", "version": "1.5.0",
     "description": "MCP server available as both local package and remote service",
     "packages": [{"registryType": "npm", "registryBaseUrl": "https://registry.npmjs.org",
                   "identifier": "@example/hybrid-mcp-server", "version": "1.5.0", "runtimeHint": "npx",
                   "transport": STDIO,
                   "packageArguments": [{"type": "named", "name": "--mode", "description": "Operation mode",
                                         "default": "local", "choices": ["local", "cached", "proxy"]}]}],
     "remotes": [{"type": "streamable-http", "url": "https://mcp.anonymous.modelcontextprotocol.io/http",
                  "headers": [{"name": "X-API-Key", "isRequired": True, "isSecret": True},
                              {"name": "X-Region", "default": "us-east-1",
                               "choices": ["us-east-1", "eu-west-1", "ap-southeast-1"]}]},
                 {"type": "sse", "url": "https://mcp.anonymous.modelcontextprotocol.io/sse"}]},
    {"name": "io.github.example/old-weather", "version": "0.9.5",
     "description": "Legacy weather server - DEPRECATED: Use weather-v2 instead for new projects",
     "packages": [{"registryType": "npm", "identifier": "@legacy/old-weather-server", "version": "0.9.5",
                   "transport": STDIO}]},
]
STATUS = {"io.github.example/old-weather": "deprecated", "io.github.example/gone": "deleted"}


def npm(identifier="a", version="1.0.0", **more):
    return [{"registryType": "npm", "identifier": identifier, "version": version, "transport": STDIO, **more}]


class Registry(http.server.BaseHTTPRequestHandler):
    servers = SERVERS
    asked = []

    def do_GET(self):
        self.asked.append(self.path)
        url = urllib.parse.urlsplit(self.path)
        query = dict(urllib.parse.parse_qsl(url.query))
        parts = [urllib.parse.unquote(part) for part in url.path.split("/")[1:]]
        answer = None
        if parts == ["v0.1", "servers"]:
            found = [s for s in self.servers if query.get("search", "") in s["name"]]
            at = int(query.get("cursor", "0"))
            answer = {"servers": [self.wrap(s) for s in found[at:at + 3]], "metadata": {"count": len(found[at:at + 3])}}
            if at + 3 < len(found):
                answer["metadata"]["nextCursor"] = str(at + 3)
        elif len(parts) == 5 and parts[3] == "versions":
            for server in self.servers:
                if server["name"] == parts[2] and parts[4] in ("latest", server["version"]):
                    answer = self.wrap(server)
        body = json.dumps(answer or {"error": "Server not found"}).encode()
        self.send_response(200 if answer else 404)
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def wrap(self, server):
        return {"server": server, "_meta": {META: {"status": STATUS.get(server["name"], "active"), "isLatest": True,
                                                   "publishedAt": "2025-01-01T10:30:00Z"}}}

    def log_message(self, *args):
        pass


class FromTheRegistry(HubTest):
    def setUp(self):
        super().setUp()
        self.handler = type("Handler", (Registry,), {"asked": []})
        server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), self.handler)
        thread = threading.Thread(target=server.serve_forever, daemon=True)
        thread.start()
        self.addCleanup(thread.join)
        self.addCleanup(server.server_close)
        self.addCleanup(server.shutdown)
        self.url = f"http://127.0.0.1:{server.server_address[1]}"
        self.file = self.home / "hub.json"
        self.file.write_text('{"toolsets": {}}')

    def add(self, *words, code=OK, registry=None):
        done = self.cli("add", "--config", self.file, "--registry", registry or self.url, *words, modules=False)
        self.assertEqual(done.returncode, code, done.stderr)
        return done

    def toolsets(self):
        return json.loads(self.file.read_text())["toolsets"]

    def serve(self, name="x.y/z", version="1.0.0", **more):
        self.handler.servers = [{"name": name, "description": "d", "version": version, **more}]

    def test_search(self):
        done = self.cli("search", "weather", "--registry", self.url + "/", "--json", modules=False)
        rows = json.loads(done.stdout)
        self.assertEqual([(row["name"], row["version"], row["kinds"], row["status"]) for row in rows], [
            ("io.github.example/weather-mcp", "0.5.0", "pypi", "active"),
            ("io.github.example/old-weather", "0.9.5", "npm", "deprecated")])
        done = self.cli("search", "io.", "--registry", self.url, modules=False)
        self.assertEqual(len(done.stdout.splitlines()), len(SERVERS), done.stdout)  # three pages
        self.assertIn("npm, remote  MCP server available as both", done.stdout)
        self.assertIn("(deprecated) Legacy", done.stdout)
        self.assertTrue(all("version=latest" in path for path in self.handler.asked))
        done = self.cli("search", "no/such&x=1", "--registry", self.url, modules=False)
        self.assertIn("no server with", done.stderr)
        self.assertIn("search=no%2Fsuch%26x%3D1", self.handler.asked[-1])

    def test_a_registry_that_is_none(self):
        done = self.cli("search", "x", "--registry", "http://example.com", modules=False)
        self.assertEqual((done.returncode, "not https" in done.stderr), (UNREACHABLE, True), done.stderr)
        done = self.cli("search", "x", "--registry", self.url + "/elsewhere", modules=False)
        self.assertEqual((done.returncode, "status 404" in done.stderr), (UNREACHABLE, True), done.stderr)
        done = self.cli("search", "x", "--registry", "http://127.0.0.1:1", modules=False)
        self.assertEqual((done.returncode, "127.0.0.1 port 1: Connection refused: is the server running, and is the port right?" in done.stderr),
                         (UNREACHABLE, True), done.stderr)

    def test_npm_with_a_secret(self):
        done = self.add("io.modelcontextprotocol.anonymous/brave-search@1.0.2", "--yes", "--input", "BRAVE_API_KEY=k$1")
        self.assertEqual(self.toolsets()["brave-search"], {
            "command": "npx", "args": ["-y", "@modelcontextprotocol/server-brave-search@1.0.2"],
            "env": {"BRAVE_API_KEY": "${secret:brave-search.BRAVE_API_KEY}"},
            "description": "MCP server for Brave Search API integration"})
        self.assertIn("runs   npx -y @modelcontextprotocol/server-brave-search@1.0.2\n", done.stdout)
        self.assertIn("it holds it against no digest", done.stdout)
        self.assertNotIn("k$1", done.stdout + done.stderr + self.file.read_text())
        self.assertEqual(self.handler.asked, [
            "/v0.1/servers/io.modelcontextprotocol.anonymous%2Fbrave-search/versions/1.0.2"])
        listed = self.cli("secret", "list", "--config", self.file, modules=False)
        self.assertEqual(listed.stdout, "brave-search.BRAVE_API_KEY\n")
        self.add("io.modelcontextprotocol.anonymous/brave-search", "--yes", code=CONFIG)
        self.add("io.modelcontextprotocol.anonymous/brave-search", "--yes", "--name", "second", "--disabled",
                 "--input", "BRAVE_API_KEY=${BRAVE}")
        self.assertEqual(self.toolsets()["second"]["env"], {"BRAVE_API_KEY": "${BRAVE}"})
        self.assertEqual(self.toolsets()["second"]["enabled"], False)

    def test_nobody_is_surprised(self):
        """Without a terminal, --yes or a value that is needed, nothing is added."""
        before = self.file.read_text()
        name = "io.modelcontextprotocol.anonymous/brave-search"
        self.assertIn("--input BRAVE_API_KEY=", self.add(name, "--yes", code=CONFIG).stderr)
        self.assertIn("--yes", self.add(name, "--input", "BRAVE_API_KEY=x", code=USAGE).stderr)
        self.assertIn("TYPO", self.add(name, "--yes", "--input", "BRAVE_API_KEY=x", "--input", "TYPO=1", code=USAGE).stderr)
        self.assertIn("yourself", self.add(name, "--yes", "--env", "A=1", code=USAGE).stderr)
        self.assertIn("no such server", self.add("io.github.example/nobody", "--yes", code=CONFIG).stderr)
        self.assertIn("no such version", self.add(name + "@9", "--yes", code=CONFIG).stderr)
        self.assertIn("nothing is in it", self.add("io.github.joelverhagen/knapcode-samplemcpserver", "--yes", code=CONFIG).stderr)
        for word in ("a/b/c", "/b", "a/", "a/b@", "a b/c", "x/y/../z"):
            self.assertIn("not a name of a registry", self.add(word, "--yes", code=USAGE).stderr)
        self.assertEqual(self.file.read_text(), before)
        self.assertEqual(self.cli("secret", "list", "--config", self.file, modules=False).stdout, "")
        shown = self.add(name, "--dry-run", "--input", "BRAVE_API_KEY=x").stdout
        self.assertIn("brave-search", json.loads(shown)["toolsets"])
        self.assertEqual(self.file.read_text(), before)

    def test_python_and_deprecated(self):
        self.add("io.github.example/weather-mcp", "--yes", "--input", "WEATHER_API_KEY=${K}")
        entry = self.toolsets()["weather-mcp"]
        self.assertEqual((entry["command"], entry["args"]), ("uvx", ["weather-mcp-server@0.5.0"]))
        self.assertEqual(entry["env"], {"WEATHER_API_KEY": "${K}", "WEATHER_UNITS": "celsius"})
        self.assertIn("deprecated", self.add("io.github.example/old-weather", "--yes").stderr)

    def test_arguments(self):
        name = "io.github.modelcontextprotocol/filesystem"
        self.add(name, "--yes", "--input", "target_dir=/a b", "--input", "target_dir=/c")
        self.assertEqual(self.toolsets()["filesystem"]["args"], ["-y", "@modelcontextprotocol/server-filesystem@1.0.2", "/a b", "/c"])
        self.add("io.modelcontextprotocol.anonymous/hybrid-mcp", "--yes")
        self.assertEqual(self.toolsets()["hybrid-mcp"]["args"], ["-y", "@example/hybrid-mcp-server@1.5.0", "--mode=local"])
        self.assertIn("none of the values", self.add("io.modelcontextprotocol.anonymous/hybrid-mcp", "--yes", "--name", "h",
                                                     "--input", "mode=fast", code=CONFIG).stderr)

    def test_remote(self):
        self.add("io.modelcontextprotocol.anonymous/hybrid-mcp", "--yes", "--package", "remote", "--input", "X-API-Key=v")
        self.assertEqual(self.toolsets()["hybrid-mcp"], {
            "type": "http", "url": "https://mcp.anonymous.modelcontextprotocol.io/http",
            "headers": {"X-API-Key": "${secret:hybrid-mcp.X-API-Key}", "X-Region": "us-east-1"},
            "description": "MCP server available as both local package and remote service"})

    def test_images_by_digest(self):
        name = "io.github.example/database-manager"
        inputs = [word for pair in ("db_type=mysql", "database_name=d", "DB_USERNAME=u", "DB_PASSWORD=p")
                  for word in ("--input", pair)]
        self.assertIn("--digest", self.add(name, "--yes", *inputs, code=CONFIG).stderr)
        self.assertIn("sha256", self.add(name, "--yes", *inputs, "--digest", "sha256:12", code=CONFIG).stderr)
        self.add(name, "--yes", *inputs, "--digest", DIGEST)
        entry = self.toolsets()["database-manager"]
        self.assertEqual([entry["command"], *entry["args"]], [
            "docker", "run", "-i", "--rm", "-e", "DB_USERNAME", "-e", "DB_PASSWORD", "-e", "SSL_MODE", "--network=host",
            "-e", "DB_TYPE=mysql", f"docker.io/example/database-manager-mcp:3.1.0@{DIGEST}", "--host=localhost", "d"])
        self.assertEqual(entry["env"]["DB_PASSWORD"], "${secret:database-manager.DB_PASSWORD}")
        self.add("io.github.modelcontextprotocol/filesystem", "--package", "oci", "--yes", "--digest", DIGEST,
                 "--input", "source_path=/srv")
        self.assertIn("--mount=type=bind,src=/srv,dst=/project", self.toolsets()["filesystem"]["args"])

    def test_what_is_published_is_only_text(self):
        """No variable of the manifest, no option, no version that changes."""
        self.serve(packages=npm(packageArguments=[
            {"type": "positional", "valueHint": "v", "value": "${HOME}$x{y}"},
            {"type": "named", "name": "--t", "default": "${file:/etc/hostname}"}],
            environmentVariables=[{"name": "E", "value": "${secret:s}"}]))
        self.add("x.y/z", "--yes")
        entry = self.toolsets()["z"]
        self.assertEqual(entry["args"], ["-y", "a@1.0.0", "$${HOME}$$x{y}", "--t=$${file:/etc/hostname}"])
        self.assertEqual(entry["env"], {"E": "$${secret:s}"})
        for packages in (npm("--evil"), npm("a b"), npm("../x"), npm("a@b"), npm("http:x"), npm(version="latest"),
                         npm(version="^1.2"), npm(version="1.x"), npm(version="1.0 x"), npm(version="-1"), npm(version=None),
                         npm(registryBaseUrl="https://evil.example"),
                         npm(registryBaseUrl="https://registry.npmjs.org.evil.example"),
                         npm(environmentVariables=[{"name": "A=B", "value": "1"}]),
                         npm(packageArguments=[{"type": "other", "value": "1"}])):
            with self.subTest(packages=packages):
                self.serve(packages=packages)
                self.add("x.y/z", "--yes", "--name", "bad", code=CONFIG)
        self.serve(name="x.y/other")
        self.handler.servers[0]["name"] = "x.y/z"  # asked for by that name
        self.handler.wrap = lambda handler, server: {"server": {**server, "name": "x.y/evil"}}
        self.assertIn("another server", self.add("x.y/z", "--yes", "--name", "bad", code=CONFIG).stderr)
        self.assertEqual(list(self.toolsets()), ["z"])

    def test_no_line_of_strangers(self):
        """What is shown is one line for each thing: no text of the registry can look like what is run."""
        forged = "x\n  runs   npx -y safe@1.0.0\x1b[8m"
        self.serve(description=forged, packages=npm(environmentVariables=[{"name": "E", "value": forged}]))
        lines = self.add("x.y/z", "--yes").stdout.splitlines()
        self.assertEqual([line for line in lines if line.startswith("  runs ")], ["  runs   npx -y a@1.0.0"])
        self.assertEqual([line for line in lines if "\x1b" in line], [])
        self.assertEqual(self.toolsets()["z"]["env"], {"E": forged})
        self.serve(version=forged, packages=npm())
        self.handler.wrap = lambda handler, server: {"server": server, "_meta": {META: {"status": "deprecated"}}}
        done = self.add("x.y/z", "--yes", "--name", "second")
        self.assertEqual([line for line in (done.stdout + done.stderr).splitlines() if line.startswith("  runs ")], ["  runs   npx -y a@1.0.0"])

    def test_npm_takes_one_version(self):
        """What is less than a whole version is a range or a tag for npm, which means another one tomorrow."""
        for version in ("1", "1.2", "v1", "beta2", "1-2", "1.2.3.4", "x1", "1.2.3-", "1.2.3-a..b", "01.2.3", "1.2.3-01"):
            with self.subTest(version=version):
                self.serve(packages=npm(version=version))
                self.assertIn("no exact version", self.add("x.y/z", "--yes", "--name", "bad", code=CONFIG).stderr)
        for number, version in enumerate(("1.2.3", "v1.2.3", "10.20.30", "0.0.0-0", "1.0.0-rc.1+b.2", "2025.8.21", "1.2.3+001")):
            self.serve(packages=npm(version=version))
            self.add("x.y/z", "--yes", "--name", f"n{number}")
            self.assertEqual(self.toolsets()[f"n{number}"]["args"], ["-y", f"a@{version}"])
        self.serve(packages=[{"registryType": "pypi", "identifier": "a", "version": "2", "transport": STDIO}])
        self.add("x.y/z", "--yes")  # for uvx this is just that one
        self.assertEqual(self.toolsets()["z"]["args"], ["a@2"])

    def test_deleted(self):
        self.serve(name="io.github.example/gone", packages=npm())
        self.assertIn("deleted", self.add("io.github.example/gone", "--yes", code=CONFIG).stderr)
        self.assertEqual(json.loads(self.cli("search", "gone", "--registry", self.url, "--json", modules=False).stdout), [])

    def test_more_than_is_read(self):
        """Nobody is told that there is no server while there are pages that were not read."""
        for status in ("active", "deleted"):
            with self.subTest(status=status):
                self.handler.servers = [{"name": f"x.y/z{i}", "description": "d", "version": "1.0.0"} for i in range(100)]
                self.handler.wrap = lambda handler, server, status=status: {"server": server, "_meta": {META: {"status": status}}}
                done = self.cli("search", "x.y", "--registry", self.url, modules=False)
                self.assertEqual(done.stderr.splitlines(), ["patchbay: there are more: say more of the name"])
                self.assertEqual(bool(done.stdout), status == "active")

    def test_answers_are_bounded(self):
        """4 MiB of an answer are read, and no byte more."""
        for size, code in ((4 * 1024 * 1024, OK), (4 * 1024 * 1024 + 1, UNREACHABLE)):
            answer = json.dumps({"servers": []})
            body = (answer + " " * (size - len(answer))).encode()

            def get(handler, body=body):
                handler.send_response(200)
                handler.send_header("Content-Length", str(len(body)))
                handler.end_headers()
                handler.wfile.write(body)

            self.handler.do_GET = get
            done = self.cli("search", "x", "--registry", self.url, "--json", modules=False)
            self.assertEqual(done.returncode, code, done.stderr[-500:])

    def test_answers_come_in_time(self):
        """A registry that says a byte now and then holds nobody for ever: 20 s are there for all of an answer."""
        gone = threading.Event()

        def drip(handler):
            handler.send_response(200)
            handler.send_header("Content-Length", "4096")
            handler.end_headers()
            try:
                while not gone.wait(0.5):
                    handler.wfile.write(b" ")
            except OSError:
                pass

        self.handler.do_GET = drip
        self.addCleanup(gone.set)
        done = self.cli("search", "x", "--registry", self.url, modules=False)
        self.assertEqual(done.returncode, UNREACHABLE, done.stderr)
        self.assertSays(done.stderr, self.url)

    def test_at_a_terminal(self):
        """A secret that is needed is asked for and not shown; the question wants a yes."""
        for answer, is_added in (("n", False), ("y", True)):
            ours, theirs = pty.openpty()
            command = [os.environ["PATCHBAY_BIN"], "add", "--config", str(self.file), "--registry", self.url,
                       "io.modelcontextprotocol.anonymous/brave-search"]
            process = subprocess.Popen(command, stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.home,
                                       env=hub_environment(self.home, {"TERM": "xterm"}))
            os.close(theirs)
            seen = self.read_until(ours, b"store): ")
            os.write(ours, b"s3cret-value\n")
            seen += self.read_until(ours, b"[y/N] ")
            os.write(ours, answer.encode() + b"\n")
            seen += self.read_until(ours, None)
            self.assertEqual(process.wait(), OK if is_added else USAGE)
            os.close(ours)
            self.assertNotIn(b"s3cret-value", seen)
            self.assertIn(b"runs   npx -y @modelcontextprotocol/server-brave-search@1.0.2", seen)
            self.assertEqual("brave-search" in self.toolsets(), is_added)

    def test_a_question_is_text(self):
        """What strangers say of a value reaches the terminal as text that it does not obey."""
        about = "key\x1b]0;mine\x07\n  runs   npx -y safe@1.0.0"
        self.serve(packages=npm(environmentVariables=[{"name": "K", "description": about, "isRequired": True}]))
        ours, theirs = pty.openpty()
        process = subprocess.Popen([os.environ["PATCHBAY_BIN"], "add", "--config", str(self.file), "--registry", self.url, "x.y/z"],
                                   stdin=theirs, stdout=theirs, stderr=theirs, cwd=self.home,
                                   env=hub_environment(self.home, {"TERM": "xterm"}))
        os.close(theirs)
        seen = self.read_until(ours, b"1.0.0: ")
        os.write(ours, b"value\n")
        seen += self.read_until(ours, b"[y/N] ")
        os.write(ours, b"n\n")
        seen += self.read_until(ours, None)
        self.assertEqual(process.wait(), USAGE)
        os.close(ours)
        self.assertNotIn(b"\x1b", seen)
        self.assertNotIn(b"\x07", seen)
        lines = seen.replace(b"\r", b"").splitlines()
        self.assertEqual([line for line in lines if line.startswith(b"  runs ")], [b"  runs   npx -y a@1.0.0"])

    @staticmethod
    def read_until(fd, what):
        seen = b""
        while what is None or not seen.endswith(what):
            try:
                piece = os.read(fd, 4096)
            except OSError:  # the other side is closed
                break
            if not piece:
                break
            seen += piece
        return seen


if __name__ == "__main__":
    main()
