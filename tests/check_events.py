#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Every event of the log that changes what clients see names who caused it (`by`, core/base/cause.h).

CHANGES are those events, OTHERS all the others: an event that stands in neither fails, so that nobody forgets to say which it is.
tests/blackbox/causes.py has a scene for each of CHANGES, and docs/OBSERVABILITY.md lists them. The last line is "N passed, N failed".
"""

import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ROOMS = ["core", "transports"]
DOCUMENT = ROOT / "docs/OBSERVABILITY.md"

CHANGES = set("""
active.restored config.reloaded login.begun login.ended login.token login.wanted pins.approved pins.changed pins.missing pins.new
resolver.found resolver.loaded resolver.removed saved.changed saved.equipped saved.tools_came saved.tools_changed saved.unequipped
token.made token.revoked tools.changed tools.discovery.server.failed
tools.discovery.server.success tools.dropped tools.redefined tools.registry.server.removed tools.registry.updated toolset.disabled
toolset.enabled toolset.failed toolset.restarted toolset.skipped toolset.wanted ui.ended ui.invited
""".split())

OTHERS = set("""
active.broken active.late active.not_followed active.not_kept active.not_restored active.unread audit.failed audit.lost
audit.not_changed audit.recovered auth.locked_out call.ended client.dropped client.log_dropped client.stray_response
config.found config.left_out config.needs_restart config.not_watched config.refused config.warning files.not_watched
http.overflow http.refused hub.calls_cut_off hub.left_running hub.stopping instance.leak issuer.not_reloaded issuer.unreachable
listen.calls_cut_off listen.closed listen.insecure listen.not_reloaded listen.plain listen.ready log.not_changed
log.not_reopened log.reopened login.unusable loop.memory_short loop.watch_failed net.broken net.evicted net.library net.overflow
net.refused net.stalled net.working_directory pins.suspect plugin.blocks plugin.fault plugin.late plugin.log plugin.slow
policy.unknown_name principal.instance principal.instance_ends principal.no_instance process.left_to_guards process.stuck
replica.agrees replica.differs replica.not_compared replica.refused replica.silent resolver.failed resolver.no_folder resolver.not_watching resolver.refused resource.not_subscribed session.not_moved session.not_taken
resource.not_unsubscribed resource.templates_too_costly saved.not_followed saved.not_remembered saved.refused search.no_index
service.not_told session.instance skills.list.partial startup.ignored state.available state.no_key state.notice
state.unavailable telemetry.begins telemetry.failed telemetry.ignored telemetry.off telemetry.recovered tls.client_refused
tools.cache.ignored tools.cache.not_written tools.shared.ignored tools.shared.taken tools.shared.too_large tools.cache.recalled tools.cache.too_large tools.catalog tools.catalog.refused
tools.discovery.started tools.left_out tools.overrides_unused tools.update_failed toolset.hidden toolset.level_refused
toolset.no_memory toolset.not_told toolset.rebind_failed toolset.refused toolset.shared unix.closed unix.connected unix.full
unix.paused unix.refused upstream.stderr upstream.stderr_dropped websocket.closing websocket.silent worker.no_thread
""".split())

EVENT = re.compile(r'"([a-z]+(?:[._][a-z]+)*\.[a-z]+(?:_[a-z]+)*)"')
LOGS = re.compile(r"\b(\w*log\w*)\(")
BY = re.compile(r'HUB_F_BY|"by"')


def statements():
    """(path, text) of every statement that logs something; where it is given an array, with the function that makes that."""
    for room in ROOMS:
        for path in sorted((ROOT / room).rglob("*.c")):
            text = re.sub(r"/\*.*?\*/", "", path.read_text(encoding="utf-8"), flags=re.DOTALL)
            for function in re.split(r"^\}\n", text, flags=re.M):
                for statement in re.split(r";\n|\{\n|\}\n", function):
                    if LOGS.search(statement):
                        yield path.relative_to(ROOT), statement, function if "hub_log_fields(" in statement else statement


def helpers():
    """Names of functions that log, and say by whom."""
    found = set()
    for room in ROOMS:
        for path in (ROOT / room).rglob("*.c"):
            for name, body in re.findall(r"^[a-z][\w *]*?\b(\w*log\w*)\([^;{]*?\)\n\{\n(.*?)^\}", path.read_text(encoding="utf-8"), re.M | re.S):
                if BY.search(body):
                    found.add(name)
    return found


def main():
    problems = []
    named = helpers()
    seen = set()
    for path, statement, fields in statements():
        for event in EVENT.findall(statement):
            if event.endswith((".js", ".c", ".h", ".json")):
                continue
            seen.add(event)
            if event not in CHANGES | OTHERS:
                problems.append(f"{path}: {event} is new: say in tests/check_events.py whether it changes what clients see")
            elif event in CHANGES and not BY.search(fields) and not named & set(LOGS.findall(statement)):
                problems.append(f"{path}: {event} changes what clients see, and does not name who caused it (HUB_F_BY)")
    problems += [f"tests/check_events.py: nothing logs {event}" for event in sorted((CHANGES | OTHERS) - seen)]
    problems += [f"tests/check_events.py: {event} stands in both lists" for event in sorted(CHANGES & OTHERS)]
    listed = set(re.findall(r"`([a-z_.]+)`", DOCUMENT.read_text(encoding="utf-8").partition("### Who caused it")[2].partition("\n#")[0]))
    problems += [f"{DOCUMENT.relative_to(ROOT)}: {event} is missing" for event in sorted(CHANGES - listed)]
    for problem in problems:
        print(problem)
    print(f"{len(seen)} passed, {len(problems)} failed")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
