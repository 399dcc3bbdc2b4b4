# SPDX-License-Identifier: Apache-2.0
"""A server that wants a login, its authorization server, and the user at a browser: one per test, in its process.

The authorization server keeps what it is asked in `asked` and checks each request as RFC 6749, 7591, 7636 and 8707 want
it; what it does badly, a test tells it (`metadata`, `answer`, `on`).
"""

import base64
import hashlib
import http.server
import itertools
import json
import secrets
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from http_upstream import HttpUpstream


TOKEN_EXCHANGE = "urn:ietf:params:oauth:grant-type:token-exchange"
JWT_BEARER = "urn:ietf:params:oauth:grant-type:jwt-bearer"


def digest_of(verifier):
    return base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()


class AuthServer:
    """https would be needed anywhere but on this machine."""

    def __init__(self, path="", life=3600):
        self.asked = []  # (method, path, fields)
        self.clients = {}
        self.codes = {}
        self.refresh_tokens = {}
        self.devices = {}  # device code -> what was asked for
        self.device_answers = []  # what is said to who asks whether its user has said yes; then it has
        self.tokens = {}  # access token -> scope
        self.revoked = []
        self.life = life
        self.rotates = True
        self.changes = {}  # of the metadata; None takes a member away
        self.answer = {}  # fields that the redirect gets instead of its own; None takes one away
        self.on = {}  # path -> function(handler, fields), instead of the usual one
        self.secret = "s3cret"  # of the client "robot"
        self.user = "ann"  # who is at a browser that does not say who is
        self.users = {}  # token, also of refreshing -> user
        self.subjects = {}  # token of a caller, or assertion -> user
        self.assert_for = None  # function(fields, user) -> assertion: it exchanges for these
        self.exchanged = {}  # changes of the answer to an exchange; None takes a member away
        self.condition = threading.Condition()
        self.numbers = itertools.count(1)
        auth = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"
            wbufsize = 65536  # head and body leave together

            def answer(self):
                body = self.rfile.read(int(self.headers.get("content-length", 0))).decode()
                at = urllib.parse.urlsplit(self.path)
                if self.command == "POST" and "json" in self.headers.get("content-type", ""):
                    fields = json.loads(body)
                else:
                    fields = dict(urllib.parse.parse_qsl(body if self.command == "POST" else at.query))
                with auth.condition:
                    auth.asked.append((self.command, at.path, fields, dict(self.headers)))
                    auth.condition.notify_all()
                auth.serve(self, at.path, fields)

            do_GET = do_POST = answer

            def say(self, status, body=None, **headers):
                data = b"" if body is None else body if isinstance(body, bytes) else json.dumps(body).encode()
                self.send_response(status)
                self.send_header("Content-Type", "application/json")
                self.send_header("Content-Length", str(len(data)))
                for name, value in headers.items():
                    self.send_header(name, value)
                self.end_headers()
                self.wfile.write(data)

            def log_message(self, *args):
                pass

        class Server(http.server.ThreadingHTTPServer):
            daemon_threads = True

            def handle_error(self, request, client_address):
                pass

        self.server = Server(("127.0.0.1", 0), Handler)
        self.origin = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.issuer = self.origin + path
        self.path = path
        threading.Thread(target=self.server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def metadata(self):
        document = {
            "issuer": self.issuer,
            "authorization_endpoint": self.origin + "/authorize",
            "token_endpoint": self.origin + "/token",
            "registration_endpoint": self.origin + "/register",
            "revocation_endpoint": self.origin + "/revoke",
            "device_authorization_endpoint": self.origin + "/device",
            "code_challenge_methods_supported": ["S256"],
            "token_endpoint_auth_methods_supported": ["none", "client_secret_basic"],
            "authorization_response_iss_parameter_supported": True,
            **self.changes,
        }
        return {name: value for name, value in document.items() if value is not None}

    def places(self):
        return [f"/.well-known/oauth-authorization-server{self.path}"]

    def serve(self, handler, path, fields):
        if path in self.on:
            self.on[path](handler, fields)
        elif path in self.places():
            handler.say(200, self.metadata())
        elif path in ("/register", "/authorize", "/device", "/token", "/revoke"):
            getattr(self, path[1:])(handler, fields)
        else:
            handler.say(404, {"error": "not_found"})

    def register(self, handler, fields):
        client = f"client-{next(self.numbers)}"
        assert "resource" not in fields and fields["application_type"] in ("native", "web"), fields
        self.clients[client] = fields
        handler.say(201, {**fields, "client_id": client})

    def authorize(self, handler, fields):
        client = self.clients[fields["client_id"]]
        assert fields["redirect_uri"] in client["redirect_uris"], fields
        assert fields["response_type"] == "code" and fields["code_challenge_method"] == "S256", fields
        code = secrets.token_urlsafe(16)
        cookie = handler.headers.get("cookie", "")
        self.codes[code] = {**fields, "user": cookie.removeprefix("user=") or self.user}
        answer = {"code": code, "state": fields["state"], "iss": self.issuer, **self.answer}
        answer = {name: value for name, value in answer.items() if value is not None}
        handler.say(302, Location=fields["redirect_uri"] + "?" + urllib.parse.urlencode(answer))

    def device(self, handler, fields):
        assert "device_code" in str(self.clients[fields["client_id"]]["grant_types"]), fields
        code = secrets.token_urlsafe(16)
        self.devices[code] = fields
        handler.say(200, {"device_code": code, "user_code": "WDJB-MJHT", "verification_uri": self.origin + "/device/enter", "expires_in": 600, "interval": 1})

    def issue(self, scope, fields, user=None):
        token = f"access-{next(self.numbers)}-{secrets.token_urlsafe(16)}"
        refresh = f"refresh-{next(self.numbers)}-{secrets.token_urlsafe(16)}"
        self.tokens[token] = scope
        self.refresh_tokens[refresh] = (scope, fields)
        self.users[token] = self.users[refresh] = user
        return {"access_token": token, "token_type": "Bearer", "expires_in": self.life, "refresh_token": refresh, "scope": scope}

    def token(self, handler, fields):
        with self.condition:
            grant = fields["grant_type"]
            user = None
            if grant == "authorization_code":
                asked = self.codes.pop(fields["code"], None)
                good = (
                    asked is not None
                    and digest_of(fields["code_verifier"]) == asked["code_challenge"]
                    and fields["redirect_uri"] == asked["redirect_uri"]
                    and fields["resource"] == asked["resource"]
                    and fields["client_id"] == asked["client_id"]
                )
                scope = asked.get("scope", "") if good else ""
                user = asked["user"] if good else None
            elif grant == "refresh_token":
                known = self.refresh_tokens.pop(fields["refresh_token"], None)
                good = known is not None and "resource" in fields
                user = self.users.get(fields["refresh_token"])
                scope = known[0] if good else ""
            elif grant == "urn:ietf:params:oauth:grant-type:device_code":
                asked = self.devices[fields["device_code"]]
                assert (fields["client_id"], fields["resource"]) == (asked["client_id"], asked["resource"]), fields
                if self.device_answers:
                    said = self.device_answers.pop(0)
                    handler.say(said if isinstance(said, int) else 400, {"error": said})
                    return
                good = self.devices.pop(fields["device_code"]) is asked
                scope = asked.get("scope", "")
            elif grant == TOKEN_EXCHANGE:
                self.exchange(handler, fields)
                return
            elif grant == JWT_BEARER:
                user = self.subjects.get(fields["assertion"])
                good = user is not None and "resource" in fields
                scope = fields.get("scope", "")
            elif grant == "client_credentials":
                secret = base64.b64encode(f"robot:{self.secret}".encode()).decode()
                good = handler.headers.get("authorization") == f"Basic {secret}"
                scope = fields.get("scope", "")
            else:
                good = False
            if good:
                handler.say(200, self.issue(scope, fields, user))
            else:
                handler.say(400, {"error": "invalid_grant"})

    def exchange(self, handler, fields):
        """RFC 8693: for an access token, or for an assertion."""
        user = self.subjects.get(fields["subject_token"])
        kind = fields["requested_token_type"]
        client = base64.b64encode(f"robot:{self.secret}".encode()).decode()
        if user is None or handler.headers.get("authorization") != f"Basic {client}" or "resource" not in fields:
            handler.say(400, {"error": "invalid_grant"})
            return
        answer = {"issued_token_type": kind, "expires_in": self.life}
        if self.assert_for is None:
            issued = self.issue(fields.get("scope", ""), fields, user)
            answer |= {name: issued[name] for name in ("access_token", "token_type", "scope")}
        else:
            answer |= {"access_token": self.assert_for(fields, user), "token_type": "N_A"}
        answer |= self.exchanged
        handler.say(200, {name: value for name, value in answer.items() if value is not None})

    def revoke(self, handler, fields):
        self.revoked.append(fields["token"])
        self.refresh_tokens.pop(fields["token"], None)
        handler.say(200)

    def of(self, path):
        with self.condition:
            return [fields for _, at, fields, _ in self.asked if at == path]


class LoginUpstream(HttpUpstream):
    """An MCP server that takes tokens of `auth`, for itself."""

    def __init__(self, auth, era="legacy", **options):
        super().__init__(era, **options)
        self.auth = auth
        self.scope = "mcp:tools"
        self.challenges = True  # 401 says where its metadata is
        self.has_metadata = True
        self.changes = {}
        self.wants = {}  # tool -> scope
        self.used = []  # tokens, of calls

    def metadata(self):
        return {"resource": self.url, "authorization_servers": [self.auth.issuer], "scopes_supported": [self.scope], **self.changes}

    def challenge(self, x, status, **words):
        if self.challenges:
            words["resource_metadata"] = f"{self.origin}/.well-known/oauth-protected-resource/mcp"
        said = ", ".join(f'{name}="{value}"' for name, value in words.items())
        x.status(status, '{"error":"refused"}', WWW_Authenticate=f"Bearer {said}".strip())

    def take(self, x):
        if x.path.startswith("/.well-known/"):
            if self.has_metadata and x.path == "/.well-known/oauth-protected-resource/mcp":
                x.status(200, json.dumps(self.metadata()))
            else:
                x.status(404)
            return
        sent = x.headers.get("authorization", "")
        token = sent[len("Bearer ") :] if sent.startswith("Bearer ") else None
        granted = self.auth.tokens.get(token)
        if granted is None:
            with self.condition:
                self.requests.append(x)
                self.condition.notify_all()
            self.challenge(x, 401, **({"error": "invalid_token"} if token else {}), scope=self.scope)
            return
        wanted = self.wants.get(x.params.get("name")) if x.rpc == "tools/call" else None
        if wanted is not None and wanted not in granted.split():
            self.challenge(x, 403, error="insufficient_scope", scope=wanted)
            return
        if x.rpc == "tools/call":
            self.used.append(token)
        super().take(x)


class UserUpstream(LoginUpstream):
    """One that knows whose token it is: each user has a list of tools of their own, a session (legacy) is the user's
    that has begun it, and a tool's argument `user` says for whom it is called. What does not fit is in `crossed`."""

    def __init__(self, auth, era="legacy", **options):
        super().__init__(auth, era, **options)
        self.more = {}  # user -> names of tools that nobody else has
        self.crossed = []
        self.sessions_of = {}  # id -> user
        self.calls = []  # users, by their tokens

    def user_of(self, x):
        return self.auth.users.get(x.headers.get("authorization", "").removeprefix("Bearer "))

    def take(self, x):
        user = self.user_of(x)
        session = x.headers.get("mcp-session-id")
        if session is not None and user is not None and self.sessions_of.get(session) != user:
            self.crossed.append((session, user))
        super().take(x)

    def is_lost(self, x):
        session = x.headers.get("mcp-session-id")
        return session is not None and session not in self.sessions_of

    def initialize(self, x):
        with self.condition:
            super().initialize(x)
            self.sessions_of[f"session-{self.session}"] = self.user_of(x)

    def list_tools(self, x):
        more = {"ttlMs": 0, "cacheScope": "private"} if self.era == "modern" else {}
        names = [f"only_{name}" for name in self.more.get(self.user_of(x), [])]
        tools = self.tools + [{"name": name, "inputSchema": {"type": "object"}} for name in names]
        x.result(self.complete(tools=tools, **more))

    def call(self, x):
        user = self.user_of(x)
        wanted = x.params.get("arguments", {}).get("user")
        with self.condition:
            self.calls.append(user)
            if wanted is not None and wanted != user:
                self.crossed.append((wanted, user))
        x.result(self.said(user))


class NoRedirect(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *args):
        return None


def browse(link, user=None):
    """What a browser does whose user says yes: the page that it ends at, and its status."""
    opener = urllib.request.build_opener(NoRedirect, urllib.request.ProxyHandler({}))
    for _ in range(5):
        try:
            asked = urllib.request.Request(link, headers={"Cookie": f"user={user}"} if user else {})
            with opener.open(asked, timeout=60) as answer:
                return answer.status, answer.read().decode()
        except urllib.error.HTTPError as error:
            with error:
                if error.code not in (301, 302, 303, 307):
                    return error.code, error.read().decode()
                link = urllib.parse.urljoin(link, error.headers["location"])
    raise AssertionError("redirected for ever")


def wait_for(condition, what, seconds=120):
    end = time.monotonic() + seconds
    while not (value := condition()):
        assert time.monotonic() < end, f"waited for {what}"
        time.sleep(0.01)
    return value
