# SPDX-License-Identifier: Apache-2.0
"""An issuer of tokens, with nothing but the standard library and the openssl program: metadata, keys, introspection.
What it is asked is counted, and it can be told to fail."""

import base64
import http.server
import json
import subprocess
import threading
import time
import urllib.parse


def b64(data):
    return base64.urlsafe_b64encode(data).rstrip(b"=").decode()


def openssl(*arguments, data=None):
    return subprocess.run(["openssl", *arguments], input=data, capture_output=True, check=True).stdout


def der_integer(data, at):
    """The INTEGER at this place, and what is behind it."""
    length = data[at + 1]
    return int.from_bytes(data[at + 2 : at + 2 + length], "big"), at + 2 + length


class Key:
    """A key that signs; `kind` is RSA, P-256 or Ed25519."""

    def __init__(self, folder, kid, kind="RSA", bits=2048):
        self.kid, self.kind, self.path = kid, kind, folder / f"{kid}.pem"
        more = {"RSA": ("-algorithm", "RSA", "-pkeyopt", f"rsa_keygen_bits:{bits}"), "Ed25519": ("-algorithm", "ED25519"),
                "P-256": ("-algorithm", "EC", "-pkeyopt", "ec_paramgen_curve:P-256")}[kind]
        openssl("genpkey", *more, "-out", str(self.path))
        self.algorithm = {"RSA": "RS256", "Ed25519": "EdDSA", "P-256": "ES256"}[kind]

    def public(self):
        if self.kind == "RSA":
            modulus = openssl("rsa", "-in", str(self.path), "-noout", "-modulus").decode().strip().split("=")[1]
            return {"kty": "RSA", "kid": self.kid, "n": b64(bytes.fromhex(modulus)), "e": "AQAB"}
        der = openssl("pkey", "-in", str(self.path), "-pubout", "-outform", "DER")
        if self.kind == "Ed25519":
            return {"kty": "OKP", "crv": "Ed25519", "kid": self.kid, "x": b64(der[-32:])}
        return {"kty": "EC", "crv": "P-256", "kid": self.kid, "x": b64(der[-64:-32]), "y": b64(der[-32:])}

    def sign(self, data, algorithm):
        if algorithm == "EdDSA":
            message = self.path.with_suffix(".data")
            message.write_bytes(data)
            return openssl("pkeyutl", "-sign", "-inkey", str(self.path), "-rawin", "-in", str(message))
        padding = ("-sigopt", "rsa_padding_mode:pss", "-sigopt", "rsa_pss_saltlen:digest") if algorithm[0] == "P" else ()
        signature = openssl("dgst", "-sha" + algorithm[2:], "-sign", str(self.path), *padding, data=data)
        if algorithm[0] != "E":
            return signature
        r, behind = der_integer(signature, 2)
        s, _ = der_integer(signature, behind)
        return r.to_bytes(32, "big") + s.to_bytes(32, "big")


def make_token(key, claims, header=None):
    """A signed token; what `header` has replaces what is usual, None takes it out."""
    usual = {"alg": key.algorithm, "kid": key.kid, "typ": "at+jwt", **(header or {})}
    head = {name: value for name, value in usual.items() if value is not None}
    signed = b64(json.dumps(head).encode()) + "." + b64(json.dumps(claims).encode())
    return signed + "." + b64(key.sign(signed.encode(), usual.get("alg") or key.algorithm))


class Provider:
    def __init__(self, folder, path="", introspects=None):
        self.folder, self.path = folder, path
        self.keys = [Key(folder, "first")]
        self.introspects = introspects or {}  # opaque tokens to answers
        self.asked, self.questions = [], []
        self.failing = False
        self.place = "/.well-known/oauth-authorization-server" + path
        self.metadata = {}
        self.headers = {}
        self.gate = None  # an event that answers wait for
        self.arrived = threading.Event()
        provider = self

        class Handler(http.server.BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def log_message(self, *_):
                pass

            def reply(self, status, body):
                data = json.dumps(body).encode() if not isinstance(body, bytes) else body
                self.send_response(status)
                for name, value in provider.headers.items():
                    self.send_header(name, value)
                self.send_header("Content-Length", str(len(data)))
                self.end_headers()
                self.wfile.write(data)

            def do_GET(self):
                provider.asked.append(self.path)
                provider.arrived.set()
                if provider.gate is not None:
                    provider.gate.wait(60)
                if provider.failing:
                    self.reply(500, {})
                elif self.path == provider.place:
                    self.reply(200, {"issuer": provider.issuer, "jwks_uri": provider.base + "/keys", **provider.metadata})
                elif self.path == "/keys":
                    self.reply(200, {"keys": [key.public() for key in provider.keys]})
                else:
                    self.reply(404, {})

            def do_POST(self):
                form = urllib.parse.parse_qs(self.rfile.read(int(self.headers["Content-Length"])).decode())
                provider.questions.append((self.headers.get("Authorization"), form))
                self.reply(500 if provider.failing else 200, provider.introspects.get(form["token"][0], {"active": False}))

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.server.daemon_threads = True
        self.base = f"http://127.0.0.1:{self.server.server_address[1]}"
        self.issuer = self.base + path
        threading.Thread(target=self.server.serve_forever, daemon=True).start()

    def close(self):
        self.server.shutdown()
        self.server.server_close()

    def claims(self, **claims):
        usual = {"iss": self.issuer, "sub": "ann", "aud": "https://hub.example/mcp", "exp": int(time.time()) + 600, "iat": int(time.time()), **claims}
        return {name: value for name, value in usual.items() if value is not None}

    def token(self, key=None, header=None, **claims):
        return make_token(key or self.keys[0], self.claims(**claims), header)
