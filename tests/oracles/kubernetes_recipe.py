#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""packaging/kubernetes, held against the schemas of Kubernetes (kubernetes-validate, strict) and against itself: every
selector finds the Pods, every port and volume that is named is there, nothing runs as root or may write to its image, and
the manifest is one that `patchbay check` takes (PATCHBAY_BIN; else that is left out). Where kubectl is there, what it makes
of the folder is checked, too. The last line is "N passed, N failed"."""

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

import kubernetes_validate
import yaml

FOLDER = Path(__file__).resolve().parent.parent.parent / "packaging/kubernetes"
# The last release, and the oldest one that is still maintained when this was written.
VERSIONS = ("1.37", "1.34")
NO_SCHEMA = {"ServiceMonitor"}  # of the Prometheus operator

passed, failed = 0, 0


def result(name, good, why=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"{name}: {why}")


def validate(name, documents):
    for document in documents:
        kind = document["kind"]
        for version in VERSIONS if kind not in NO_SCHEMA else ():
            try:
                kubernetes_validate.validate(document, version, strict=True)
                result(f"{name} {kind}", True)
            except kubernetes_validate.ValidationError as error:
                result(f"{name} {kind} ({version})", False, error.message)


def one(documents, kind):
    found = [document for document in documents if document["kind"] == kind]
    result(kind, len(found) == 1, f"{len(found)} of them")
    return found[0]


def check_pods(documents):
    deployment = one(documents, "Deployment")
    pod = deployment["spec"]["template"]
    labels, spec = pod["metadata"]["labels"], pod["spec"]
    selectors = {
        "Deployment": deployment["spec"]["selector"]["matchLabels"],
        "Service": one(documents, "Service")["spec"]["selector"],
        "PodDisruptionBudget": one(documents, "PodDisruptionBudget")["spec"]["selector"]["matchLabels"],
        "NetworkPolicy": one(documents, "NetworkPolicy")["spec"]["podSelector"]["matchLabels"],
    }
    for kind, selector in selectors.items():
        result(f"selector of {kind}", selector and selector.items() <= labels.items(), f"{selector} of {labels}")
    hub = spec["containers"][0]
    ports = {port["name"]: port["containerPort"] for port in hub["ports"]}
    named = [port["targetPort"] for port in one(documents, "Service")["spec"]["ports"]]
    named += [hub[probe]["httpGet"]["port"] for probe in ("startupProbe", "readinessProbe", "livenessProbe")]
    policy = one(documents, "NetworkPolicy")["spec"]
    named += [port["port"] for rule in policy["ingress"] + policy["egress"] for port in rule["ports"] if isinstance(port["port"], str)]
    named += [end["port"] for end in one(documents, "ServiceMonitor")["spec"]["endpoints"]]
    result("named ports", set(named) <= set(ports), f"{named} of {ports}")
    volumes = {volume["name"] for volume in spec["volumes"]}
    context = spec["securityContext"]
    result("no root", context["runAsNonRoot"] and context["runAsUser"] > 0 and context["seccompProfile"]["type"] == "RuntimeDefault")
    for container in spec["initContainers"] + spec["containers"]:
        own = container["securityContext"]
        result(f"{container['name']} is confined", own["readOnlyRootFilesystem"] and not own["allowPrivilegeEscalation"] and own["capabilities"]["drop"] == ["ALL"])
        result(f"{container['name']} is bounded", "memory" in container["resources"]["limits"])
        mounted = {mount["name"] for mount in container["volumeMounts"]}
        result(f"volumes of {container['name']}", mounted <= volumes, f"{mounted - volumes}")
    return ports, hub, spec


def check_manifest(ports, hub, spec):
    manifest = yaml.safe_load((FOLDER / "patchbay.yaml").read_text())
    result("port of MCP", manifest["listen"][0]["http"].endswith(f":{ports['mcp']}"))
    result("port of replicas", manifest["replicas"]["listen"].endswith(f":{ports['replicas']}"))
    keys = next(mount["mountPath"] for mount in hub["volumeMounts"] if mount["name"] == "keys")
    for file in (manifest["replicas"]["key_file"], manifest["auth"]["tokens"]):
        result(f"{file} is mounted", file.startswith(keys + "/"))
    drain = int(manifest["limits"]["drain_timeout"].removesuffix("s"))
    result("time to drain", drain + 5 < spec["terminationGracePeriodSeconds"])
    program = os.environ.get("PATCHBAY_BIN")
    if program is None:
        return
    with tempfile.TemporaryDirectory() as folder:
        text = (FOLDER / "patchbay.yaml").read_text().replace(keys, folder)
        (Path(folder) / "patchbay.yaml").write_text(text)
        key = Path(folder) / "replicas.key"
        key.write_text("0" * 64)
        key.chmod(0o600)
        made = subprocess.run([program, "token", "new", "a", "--tokens", f"{folder}/tokens.json"], capture_output=True, check=False)
        done = subprocess.run([program, "check", "--config", f"{folder}/patchbay.yaml"], env={**os.environ, "POD_IP": "10.42.0.7", "HOME": folder},
                              capture_output=True, text=True, check=False)
        result("patchbay check", made.returncode == 0 and done.returncode == 0, done.stdout + done.stderr)


def main():
    kustomization = yaml.safe_load((FOLDER / "kustomization.yaml").read_text())
    files = kustomization["resources"]
    own = {"kustomization.yaml", "patchbay.yaml"}
    result("all files are named", set(files) | own == {path.name for path in FOLDER.iterdir()})
    documents = [yaml.safe_load((FOLDER / file).read_text()) for file in files]
    validate("file", documents)
    check_manifest(*check_pods(documents))
    if shutil.which("kubectl"):
        done = subprocess.run(["kubectl", "kustomize", str(FOLDER)], capture_output=True, text=True, check=False)
        result("kubectl kustomize", done.returncode == 0, done.stderr)
        made = [document for document in yaml.safe_load_all(done.stdout) if document]
        validate("made", made)
        check_pods(made)
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
