#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The JWS vectors of Wycheproof (github.com/C2SP/wycheproof, testvectors_v1/json_web_signature_test.json), which are not in this tree:

    wycheproof.py VERIFIER FILE

VERIFIER is jws_verify of this folder. Vectors with a shared secret must be refused like all that are invalid. The last line is
"N passed, N failed".
"""

import json
import subprocess
import sys

# Valid, and refused here on purpose: the key's `alg` is another one than the token's, or is none ("ES521").
STRICTER = {346, 347, 350, 351}


def main():
    verifier, path = sys.argv[1:]
    cases = []
    for group in json.load(open(path, encoding="utf-8"))["testGroups"]:
        key = group.get("public") or group["private"]
        cases += [(key, test) for test in group["tests"] if isinstance(test["jws"], str)]
    lines = "".join(json.dumps({"keys": [key]}) + "\t" + test["jws"] + "\n" for key, test in cases)
    said = subprocess.run([verifier], input=lines, capture_output=True, text=True, check=True).stdout.split()
    assert len(said) == len(cases), (len(said), len(cases))
    failed = 0
    for (key, test), verdict in zip(cases, said):
        is_valid = test["result"] == "valid" and key["kty"] != "oct" and test["tcId"] not in STRICTER
        if test["result"] != "acceptable" and (verdict == "good") != is_valid:
            failed += 1
            print(f"{test['tcId']}: {test['comment']}: wanted {test['result']}, found {verdict} ({key['kty']} {key.get('alg')}) {test['flags']}")
    print(f"{len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
