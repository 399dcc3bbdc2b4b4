#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""What can be said of packaging/ without building it: units that systemd takes, how strict they are, scripts that a shell
reads, one version everywhere. `./run-tests packages` builds them. The last line is "N passed, N failed".
"""

import email.utils
import re
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PACKAGING = ROOT / "packaging"
STRICT, WITH_SERVERS = 20, 25  # tenths of what `systemd-analyze security` says: less is stricter

passed, failed = 0, 0


def result(name, good, why=""):
    global passed, failed
    passed, failed = passed + bool(good), failed + (not good)
    if not good:
        print(f"{name}: {why}")


def run(*command):
    done = subprocess.run([*map(str, command)], capture_output=True, text=True, check=False)
    return done.returncode, done.stdout + done.stderr


def check_units(folder):
    if shutil.which("systemd-analyze") is None:
        print("systemd-analyze is not there: the units are not checked")
        return
    unit = folder / "patchbay.service"
    for name in ("patchbay.service", "patchbay.socket", "patchbay.user.service"):
        text = (PACKAGING / "systemd" / name).read_text()
        # Neither the program nor its manual is installed here.
        text = text.replace("/usr/bin/patchbay", shutil.which("true")).replace("Documentation=man", "#")
        (folder / name).write_text(text)
        _, said = run("systemd-analyze", "verify", "--man=no", *(["--user"] if "user" in name else []), folder / name)
        ours = [line for line in said.splitlines() if "patchbay" in line]
        result(f"verify {name}", not ours, "\n".join(ours))
    for what, most in (("strict", STRICT), ("with local-servers.conf", WITH_SERVERS)):
        code, said = run("systemd-analyze", "security", "--offline=yes", f"--threshold={most}", "--no-pager", unit)
        result(f"security, {what}", code == 0, said.strip().splitlines()[-1] if said.strip() else "")
        drop_in = folder / "patchbay.service.d"
        drop_in.mkdir(exist_ok=True)
        shutil.copy(PACKAGING / "systemd" / "local-servers.conf", drop_in)


def check_replicas(folder):
    """The templates that replicas.conf makes of the service, and replicas.socket of its socket, as their comments say."""
    if shutil.which("systemd-analyze") is None:
        return
    here = folder / "replicas"
    drop_in = here / "patchbay@.service.d"
    drop_in.mkdir(parents=True)
    program = shutil.which("true")
    for source, target in (("patchbay.service", here / "patchbay@.service"), ("replicas.conf", drop_in / "replicas.conf"),
                           ("replicas.socket", here / "patchbay@.socket")):
        text = (PACKAGING / "systemd" / source).read_text()
        target.write_text(text.replace("/usr/bin/patchbay", program).replace("Documentation=man", "#"))
    for unit in ("patchbay@1.service", "patchbay@1.socket"):
        _, said = run("systemd-analyze", "verify", "--man=no", here / unit)
        ours = [line for line in said.splitlines() if "patchbay" in line or "replicas" in line]
        result(f"verify {unit}", not ours, "\n".join(ours))


def check_scripts():
    debian = PACKAGING / "debian"
    scripts = [PACKAGING / "build-deb", PACKAGING / "dist", PACKAGING / "site", PACKAGING / "check", PACKAGING / "check-root", PACKAGING / "container" / "build",
               PACKAGING / "container" / "check", debian / "patchbay.postinst", debian / "patchbay.postrm"]
    for script in scripts + sorted(p for p in (debian / "tests").iterdir() if p.name != "control"):
        code, said = run("sh", "-n", script)
        result(script.name, code == 0, said)


def check_versions():
    project = re.search(r"project\(patchbay VERSION ([0-9.]+)", (ROOT / "CMakeLists.txt").read_text()).group(1)
    log = (PACKAGING / "debian/changelog").read_text()
    package = re.match(r"patchbay \(([^)]+)\)", log).group(1)
    result("debian/changelog", package == project, f"it has version {package}, and CMakeLists.txt {project}")
    newest = email.utils.parsedate_to_datetime(re.search(r"^ -- .*>  (.*)$", log, re.M).group(1))
    # Files are given its time where theirs is later: one that is to come makes each build another one.
    result("time of debian/changelog", newest.timestamp() <= time.time(), f"{newest} is still to come")


def check_plugins():
    """Each plugin of the tree is in one package."""
    wanted = set()
    for file in (ROOT / "plugins").rglob("CMakeLists.txt"):
        wanted |= set(re.findall(r"patchbay_add_plugin\(\s*(\w+)", file.read_text()))
    listed = [
        name
        for file in (PACKAGING / "debian").glob("*.install")
        for name in re.findall(r"plugins/(\w+)\.so", file.read_text())
    ]
    result("plugins", wanted and sorted(wanted) == sorted(listed), f"the tree has {sorted(wanted)}, packages {sorted(listed)}")


with tempfile.TemporaryDirectory(prefix="patchbay-units-") as folder:
    check_units(Path(folder))
    check_replicas(Path(folder))
check_scripts()
check_versions()
check_plugins()
print(f"{passed} passed, {failed} failed")
sys.exit(failed > 0)
