# SPDX-License-Identifier: Apache-2.0
"""Look at processes through /proc: who descends from whom, who is still there."""

import os
import select
from pathlib import Path


def _read(pid, name):
    """The bytes of /proc/PID/NAME, or None. Each test looks at all processes several times: by nothing but system calls."""
    try:
        fd = os.open(f"/proc/{pid}/{name}", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    parts = []
    try:
        while part := os.read(fd, 1 << 16):
            parts.append(part)
    except OSError:
        return None
    finally:
        os.close(fd)
    return b"".join(parts)


def _stat(pid):
    data = _read(pid, "stat")
    if not data:
        return None
    fields = data[data.rindex(b")") + 2 :].split(None, 20)
    return {"state": fields[0].decode(), "parent": int(fields[1]), "started": fields[19].decode()}


def _all():
    return [int(name) for name in os.listdir("/proc") if name.isdigit()]


def marked(name, value):
    """Processes whose environment says NAME=value."""
    wanted = f"{name}={value}".encode()
    found = set()
    for pid in _all():
        environ = _read(pid, "environ")
        if environ and wanted in environ and wanted in environ.split(b"\0") and alive(pid):
            found.add(pid)
    return found


def descendants(root):
    """(pid, start time) of every process below `root`; zombies count."""
    stats = {pid: stat for pid in _all() if (stat := _stat(pid))}
    found, grown = {root}, True
    while grown:
        below = {pid for pid, stat in stats.items() if stat["parent"] in found}
        grown = not below <= found
        found |= below
    return {(pid, stats[pid]["started"]) for pid in found - {root} if pid in stats}


def alive(pid, started=None):
    stat = _stat(pid)
    return bool(stat) and stat["state"] not in "ZX" and started in (None, stat["started"])


def exit_code(process, seconds):
    """Of a child (subprocess.Popen), once it has ended; TimeoutExpired after so many seconds. The child's own wait() would
    sleep between looks, the longer the more it slept before."""
    if process.poll() is None:
        fd = os.pidfd_open(process.pid)
        try:
            poll = select.poll()
            poll.register(fd, select.POLLIN)
            poll.poll(seconds * 1000)
        finally:
            os.close(fd)
    return process.wait(0)


def wait_gone(pids, seconds):
    """Wait for processes that are not our children; return those that stay. What is a pair, as descendants() gives them,
    is not taken for another process that has got its number since."""
    poll = select.poll()
    open_fds = {}
    for pid in pids:
        pid, started = pid if isinstance(pid, tuple) else (pid, None)
        try:
            fd = os.pidfd_open(pid)
        except OSError:
            continue
        if not alive(pid, started):
            os.close(fd)
            continue
        open_fds[fd] = pid
        poll.register(fd, select.POLLIN)
    try:
        while open_fds:
            ready = poll.poll(seconds * 1000)
            if not ready:
                break
            for fd, _ in ready:
                poll.unregister(fd)
                os.close(fd)
                del open_fds[fd]
        return set(open_fds.values())
    finally:
        for fd in open_fds:
            os.close(fd)


def memory_kib(pid, field="VmRSS"):
    for line in Path(f"/proc/{pid}/status").read_text(encoding="utf-8").splitlines():
        if line.startswith(field + ":"):
            return int(line.split()[1])
    raise ValueError(f"no {field}")
