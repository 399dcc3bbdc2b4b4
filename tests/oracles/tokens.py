#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Tokens that others make and judge, held against the hub's own verdict: PyPI `joserfc`, and Debian's `jose` where it is there.

    tokens.py VERIFIER [COUNT] [SEED]

VERIFIER is jws_verify of this folder, which prints a verdict for each line of KEYS, a tab and TOKEN. Random keys of every kind that the hub
takes, each algorithm, random names and claims; half of the tokens are then damaged in one of many ways. A token is right when joserfc,
told which algorithm the key is for, says so. With `jose` every tenth is asked of it, too. The last line is "N passed, N failed".
"""

import base64
import json
import random
import shutil
import subprocess
import sys

from joserfc import jws
from joserfc.errors import JoseError
from joserfc.jwk import ECKey, OKPKey, RSAKey

ALGORITHMS = {"RSA": ["RS256", "RS384", "RS512", "PS256", "PS384", "PS512"], "P-256": ["ES256"], "P-384": ["ES384"],
              "P-521": ["ES512"], "Ed25519": ["EdDSA"]}
ALL = [name for names in ALGORITHMS.values() for name in names]
LETTERS = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"


def make_keys(count):
    found = []
    for number in range(count):
        for kind in ALGORITHMS:
            key = {"RSA": lambda: RSAKey.generate_key(2048), "Ed25519": lambda: OKPKey.generate_key("Ed25519")}.get(
                kind, lambda kind=kind: ECKey.generate_key(kind))()
            found.append((kind, key))
    return found


def public(key, kid):
    members = key.as_dict(private=False)
    return {**{name: members[name] for name in ("kty", "n", "e", "crv", "x", "y") if name in members}, "kid": kid}


def damage(chance, token):
    """One of many ways; what comes of it may still be right, which the oracle knows."""
    parts = token.split(".")
    way = chance.randrange(7)
    if way == 0:  # one character, anywhere
        at = chance.randrange(len(token))
        return token[:at] + chance.choice(LETTERS) + token[at + 1:]
    if way == 1:  # another algorithm in the header
        header = json.loads(base64.urlsafe_b64decode(parts[0] + "=="))
        header["alg"] = chance.choice([*ALL, "none", "HS256", "Ed448"])
        parts[0] = base64.urlsafe_b64encode(json.dumps(header).encode()).rstrip(b"=").decode()
    elif way == 2:
        parts[2] = parts[2][: chance.randrange(len(parts[2]))]
    elif way == 3:
        parts[2] += chance.choice(LETTERS) * chance.randrange(1, 5)
    elif way == 4:  # the halves change places
        half = len(parts[2]) // 2
        parts[2] = parts[2][half:] + parts[2][:half]
    elif way == 5:
        parts[chance.randrange(3)] += "="
    else:
        parts.insert(chance.randrange(4), "")
    return ".".join(parts)


def is_right(token, key, names):
    """What joserfc says: by this key, with an algorithm of its kind, canonical base64url and three parts."""
    try:
        parts = token.split(".")
        if len(parts) != 3 or any(base64.urlsafe_b64encode(base64.urlsafe_b64decode(part + "=" * (-len(part) % 4))).rstrip(b"=").decode() != part
                                  for part in parts):
            return False  # joserfc is less strict with bits that do not count
        jws.deserialize_compact(token, key, algorithms=names)
        return True
    except (JoseError, ValueError, KeyError, TypeError, AttributeError):
        return False


def jose_says(token, members):
    done = subprocess.run(["jose", "jws", "ver", "-i", token, "-k", "-"], input=json.dumps(members).encode(), capture_output=True, check=False)
    return done.returncode == 0


def main():
    verifier, count = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 300
    seed = int(sys.argv[3]) if len(sys.argv) > 3 else random.randrange(1 << 32)
    chance = random.Random(seed)
    keys = make_keys(2 if count < 5000 else 4)
    has_jose = shutil.which("jose") is not None
    cases, failed = [], 0
    for number in range(count):
        kind, key = chance.choice(keys)
        algorithm = chance.choice(ALGORITHMS[kind])
        payload = json.dumps({"sub": "".join(chance.choices(LETTERS, k=chance.randrange(60))), "n": chance.randrange(1 << 40)})
        token = jws.serialize_compact({"alg": algorithm, "kid": "k"}, payload.encode(), key, algorithms=ALL)
        if chance.random() < 0.5:
            token = damage(chance, token)
        other = chance.choice(keys)[1] if chance.random() < 0.1 else key
        cases.append((token, other))
    lines = "".join(json.dumps({"keys": [public(key, "k")]}) + "\t" + token + "\n" for token, key in cases)
    said = subprocess.run([verifier], input=lines, capture_output=True, text=True, check=True).stdout.split()
    assert len(said) == count, (len(said), count)
    right = 0
    for number, ((token, key), verdict) in enumerate(zip(cases, said)):
        members = public(key, "k")
        names = ALGORITHMS["RSA" if members["kty"] == "RSA" else members["crv"]]
        expected = is_right(token, key, names)
        right += expected
        if expected and has_jose and number % 10 == 0 and members.get("crv") != "Ed25519":
            expected = jose_says(token, members)
        if (verdict == "good") != expected:
            failed += 1
            print(f"seed {seed}: {token} by {json.dumps(members)}: the hub says {verdict}, joserfc {expected}")
    print(f"{count} tokens, {right} of them right{', jose asked' if has_jose else ''} (seed {seed})")
    print(f"{count - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
