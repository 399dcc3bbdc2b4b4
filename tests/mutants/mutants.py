# SPDX-License-Identifier: Apache-2.0
"""The mutants: what is taken away, and the test that must notice.

`test` is a program of tests/unit, or a file of tests/blackbox, of which `only` picks a class or a case.
"""

from typing import NamedTuple


class Mutant(NamedTuple):
    name: str
    file: str
    old: str  # occurs once in the file
    new: str
    test: str
    only: str = ""


MUTANTS = [
    # ---- child processes --------------------------------------------------------------------------
    Mutant(
        "guard_adopts_nobody",
        "core/guard/guard.c",
        " &&\n           prctl(PR_SET_CHILD_SUBREAPER, 1) == 0;",
        ";",
        "supervision_survivors.py",
        "Survivors",
    ),
    Mutant(
        "guard_outlives_the_hub",
        "core/modules/process_spawn.c",
        "setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGTERM) != 0",
        "setpgid(0, 0) != 0",
        "test_process_guard",
    ),
    Mutant(
        "a_hub_starts_itself",
        "core/modules/process_chain.c",
        "    size_t ago = find_in_chain(&above, entry);\n",
        "    size_t ago = 0;\n    (void)entry;\n",
        "test_process_chain",
    ),
    Mutant(
        "hubs_in_a_row_without_end",
        "core/modules/process_chain.c",
        "    if (above.count >= HUB_LIMIT_CHAIN) {\n",
        "    if (above.count > HUB_LIMIT_CHAIN) {\n",
        "test_process_chain",
    ),
    Mutant(
        "a_hub_waits_for_its_servers",
        "core/modules/process.c",
        "    bool takes_others_along = getpid() == 1 || hub_chain_is_below();\n",
        "    bool takes_others_along = true;\n",
        "shutdown.py",
        "test_servers_that_are_slow_to_end",
    ),
    Mutant(
        "server_outlives_its_guard",
        "core/guard/guard.c",
        "setpgid(0, 0) != 0 || prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 ||",
        "setpgid(0, 0) != 0 ||",
        "test_process_guard",
    ),
    Mutant(
        "descriptors_are_inherited",
        "core/modules/process_spawn.c",
        "    close_others(plan->guard, fd_limit);\n",
        "    (void)fd_limit;\n    (void)close_others;\n",
        "test_process",
    ),
    Mutant(
        "signals_stay_ignored",
        "core/modules/process_spawn.c",
        "    reset_signals();\n",
        "    (void)reset_signals;\n",
        "test_process",
    ),
    Mutant(
        "stderr_is_not_drained",
        "core/modules/process_stderr.c",
        "    if (fd >= 0) {\n        ev_io_start(loop, &reader->readable);\n    }\n",
        "",
        "supervision_floods.py",
        "Floods.test_stderr_without_a_newline",
    ),
    Mutant(
        "stderr_fills_the_log",
        "core/modules/process_stderr.c",
        "reader->logged < HUB_PROCESS_STDERR_LINES_PER_SECOND",
        "reader->logged < UINT32_MAX",
        "supervision_floods.py",
        "Floods.test_stderr_in_lines",
    ),
    Mutant(
        "the_tail_of_stderr_grows",
        "core/modules/process_stderr.c",
        "    if (kept > size - text.len) {",
        "    if (kept > size) {",
        "test_process_end",
    ),
    # ---- failing servers --------------------------------------------------------------------------
    Mutant(
        "no_backoff",
        "plugins/upstream/common/restart.c",
        "        delay *= 2;\n",
        "        delay += 1;\n",
        "supervision_restart.py",
        "test_without_health_failures_add_up",
    ),
    Mutant(
        "failures_are_never_forgotten",
        "plugins/upstream/common/restart.c",
        "        server->failures = 0;\n    }\n}\n\nstatic int32_t status_of",
        "    }\n}\n\nstatic int32_t status_of",
        "supervision_restart.py",
        "test_health_is_a_new_beginning",
    ),
    Mutant(
        "failures_are_forgotten",
        "plugins/upstream/common/restart.c",
        "    server->failures++;\n",
        "    server->failures = 1;\n",
        "supervision_restart.py",
        "test_without_health_failures_add_up",
    ),
    Mutant(
        "a_hung_server_is_kept",
        "plugins/upstream/common/health.c",
        "    } else if (!may_be_at_work(server)) {",
        "    } else if (!may_be_at_work(server) && enough > 2) {",
        "supervision_health.py",
        "test_a_hung_server_is_replaced",
    ),
    Mutant(
        "a_busy_server_is_ended",
        "plugins/upstream/common/health.c",
        "    } else if (!may_be_at_work(server)) {",
        "    } else if (!may_be_at_work(server) || enough > 0) {",
        "supervision_health.py",
        "test_a_busy_server_is_left_alone",
    ),
    Mutant(
        "idle_stop_ignores_calls",
        "plugins/upstream/common/health.c",
        "return server->in_flight.count > 0 || server->errands.count > 0 ||",
        "return server->errands.count > 0 ||",
        "supervision_health.py",
        "test_a_call_needs_it",
    ),
    # ---- messages ---------------------------------------------------------------------------------
    Mutant(
        "lines_have_no_limit",
        "core/base/framing.c",
        "return without_cr(begun).len > framing->max_message_bytes;",
        "return without_cr(begun).len > framing->max_message_bytes && framing == NULL;",
        "test_framing",
    ),
    Mutant(
        "the_queue_has_no_limit",
        "core/base/stream.c",
        "message.total_bytes > stream->options.max_queue_bytes - hub_stream_queued(stream)",
        "message.total_bytes > SIZE_MAX / 4",
        "test_stream_write",
    ),
    # ---- what is remembered -----------------------------------------------------------------------
    Mutant(
        "damaged_catalogs_are_trusted",
        "core/hub/catalogs/catalog_file.c",
        "if (!hub_str_is(told, hex)) {",
        "if (told.len == 0) {",
        "test_catalog_file",
    ),
    Mutant(
        "catalogs_are_written_in_place",
        "core/hub/catalogs/catalog_file.c",
        "    int fd = openat(folder_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC,\n",
        "    (void)snprintf(temporary, sizeof temporary, \"%s\", name);\n"
        "    int fd = openat(folder_fd, temporary, O_WRONLY | O_CREAT | O_TRUNC | O_NOFOLLOW | O_CLOEXEC,\n",
        "test_catalog_file",
    ),
    Mutant(
        "catalogs_do_not_reach_the_disk_first",
        "core/hub/catalogs/catalog_file.c",
        " && fsync(fd) == 0\n",
        "\n",
        "test_catalog_file",
    ),
    Mutant(
        "folders_above_are_not_watched",
        "core/modules/plugin_watch.c",
        "IN_MASK_ADD | IN_ONLYDIR | GONE;",
        "IN_MASK_ADD | IN_ONLYDIR | IN_IGNORED;",
        "test_resolver_watch",
    ),
    Mutant(
        "catalogs_are_for_everybody",
        "core/hub/catalogs/catalog_file.c",
        "                    S_IRUSR | S_IWUSR);",
        "                    S_IRUSR | S_IWUSR | S_IRGRP | S_IROTH);",
        "test_catalog_file",
    ),
    # ---- clients ----------------------------------------------------------------------------------
    Mutant(
        "calls_wait_in_any_number",
        "core/hub/limits/queue.c",
        "    if (of->count >= hub_toolset_settings_of(toolset)->queue) {",
        "    if (of->count >= SIZE_MAX / 2) {",
        "test_queue",
    ),
    Mutant(
        "principals_take_no_turns",
        "core/hub/limits/queue.c",
        "    DL_DELETE(of->turn, first);\n    DL_APPEND(of->turn, first);\n    return first->first;",
        "    return first->first;",
        "test_queue",
    ),
    Mutant(
        "sessions_have_no_rate",
        "core/hub/limits/rates.c",
        "uint32_t wait_ms = own.per_second > 0 ? hub_bucket_wait_ms(own_bucket, now_ms, own) : 0;",
        "uint32_t wait_ms = 0;",
        "test_rates",
    ),
    Mutant(
        "refusals_leave_no_record",
        "core/hub/audit/audit.c",
        "    .refuse = hub_audit_note_refused,\n",
        "",
        "test_audit",
    ),
    Mutant(
        "states_of_servers_are_anybodys",
        "core/hub/ask/sealed_state.c",
        "    add_signed(&text, hub_str_of(hub_input_required_principal(call)));\n",
        "",
        "test_ask_state",
    ),
    Mutant(
        "closed_listeners_drop_calls",
        "core/cli/listeners.c",
        "    cli_listener_drain(one);\n    cli_listener *kept",
        "    cli_listener_stop(one);\n    cli_listener *kept",
        "drain.py",
        "Listeners",
    ),
    Mutant(
        "a_principal_has_no_limit",
        "transports/http/session_table.c",
        "owner != NULL && owner->count >= table->max_per_principal",
        "owner != NULL && owner->count >= SIZE_MAX",
        "test_http_sessions",
    ),
    Mutant(
        "sessions_belong_to_all",
        "transports/http/session_table.c",
        "return entry != NULL && strcmp(entry->owner->name, principal) == 0 ? entry : NULL;",
        "return entry != NULL && principal != NULL ? entry : NULL;",
        "test_http_sessions",
    ),
    Mutant(
        "notices_are_not_gathered",
        "core/hub/notices/notifier.c",
        "    uint64_t delay_ms = HUB_LIMIT_NOTIFY_WINDOW_MS;\n    if (!is_asked_for && notifier->quiet_until",
        "    uint64_t delay_ms = 0;\n    if (!is_asked_for && false && notifier->quiet_until",
        "test_notifier",
    ),
    # ---- plugins ----------------------------------------------------------------------------------
    Mutant(
        "plugins_may_say_anything_much",
        "core/modules/mailbox.c",
        "return mail->kind != HUB_MAIL_FINISH && is_too_much ? PATCHBAY_ELIMIT : PATCHBAY_OK;",
        "return mail->kind != HUB_MAIL_FINISH && is_too_much && mail == NULL ? PATCHBAY_ELIMIT : PATCHBAY_OK;",
        "test_plugin_faults",
    ),
    Mutant(
        "results_are_not_checked",
        "core/modules/host_api.c",
        "    if (hub_json_check(json, ret_value, NULL) != HUB_OK ||\n"
        "        hub_json_type_of(*ret_value) != HUB_JSON_OBJECT) {",
        "    if (hub_json_type_of(json) != HUB_JSON_OBJECT) {",
        "test_plugin_faults",
    ),
    # ---- nothing is left --------------------------------------------------------------------------
    Mutant(
        "maps_end_the_hub",
        "core/base/map.h",
        "#define HASH_NONFATAL_OOM 1\n",
        "",
        "test_memory",
    ),
    Mutant(
        "streams_keep_their_descriptors",
        "core/modules/host_loop.c",
        "        close_ends(options);\n",
        "        (void)close_ends;\n",
        "test_memory",
    ),
    Mutant(
        "answers_without_memory_are_lost",
        "core/modules/host_api.c",
        "            hub_instance_lose_call(host, call.id);\n",
        "",
        "test_memory",
    ),
    Mutant(
        "tools_without_memory_are_left_out",
        "core/tools/catalog.c",
        "    if (why.code == HUB_ENOMEM) {",
        "    if (why.code == HUB_ENOMEM && reason == NULL) {",
        "test_memory",
    ),
    Mutant(
        "unwatched_descriptors_stay_so",
        "core/base/loop.c",
        "    ev_io_start(loop, watcher);\n",
        "",
        "test_loop",
    ),
    Mutant(
        "unwatched_descriptors_wait_for_others",
        "core/base/loop.c",
        "    ev_set_loop_release_cb(loop, before_wait, after_wait);\n",
        "    (void)before_wait;\n    ev_set_loop_release_cb(loop, NULL, after_wait);\n",
        "test_loop",
    ),
    Mutant(
        "unwatched_descriptors_keep_the_loop_busy",
        "core/base/loop.c",
        "    plan_retry(loop);\n",
        "    (void)plan_retry;\n",
        "test_loop",
    ),
    Mutant(
        "the_loop_has_no_reserve",
        "core/base/loop.c",
        "        resized = realloc(old, (size_t)size);\n    } else",
        "    } else",
        "test_loop",
    ),
    # ---- connections that break --------------------------------------------------------------------
    Mutant(
        "broken_websockets_go_on",
        "plugins/upstream/remote/websocket_link.c",
        "http_request_failure(link->request, (int)code));\n    link->loop->timer_start(link->again, 0);\n",
        "http_request_failure(link->request, (int)code));\n",
        "faults_calls.py",
        "test_sending",
    ),
    Mutant(
        "broken_connections_have_no_reason",
        "transports/net/link.c",
        "    if (error != 0 && error != EAGAIN",
        "    if (error < 0 && error != EAGAIN",
        "faults_calls.py",
        "test_receiving",
    ),
    Mutant(
        "signs_of_life_are_dropped",
        "plugins/upstream/remote/channel.c",
        "x->role = x->is_pulse ? ROLE_OTHER : role_of(message->method);",
        "x->role = role_of(message->method);",
        "upstream_http_manners.py",
        "Health",
    ),
    # ---- who may do what -----------------------------------------------------------------------------
    Mutant(
        "what_is_denied_is_seen",
        "core/identity/access.c",
        "        if (rule->condition_count == 0) {\n            return false;\n",
        "        if (rule->condition_count == 0) {\n            return true;\n",
        "test_access",
    ),
    Mutant(
        "scopes_are_not_needed",
        "core/identity/access.c",
        "        if (!hub_names_have(had, scope)) {\n            return false;\n",
        "        if (!hub_names_have(had, scope)) {\n            return true;\n",
        "access_rules.py",
        "Scopes",
    ),
    Mutant(
        "a_key_may_come_twice",
        "core/identity/arguments.c",
        "            if (hub_json_string_is(keys[j].raw, hub_buf_str(&check->decoded))) {",
        "            if (keys[j].raw.len == 0) {",
        "test_access",
    ),
    Mutant(
        "choices_are_everybodys",
        "core/hub/kernel/audience.c",
        "        if (at->principal == audience->principal) {",
        "        if (at->principal != NULL) {",
        "principals.py",
    ),
    Mutant(
        "held_calls_keep_their_right",
        "core/hub/access/judge.c",
        "is_as_decided ? HUB_GO_ON : decide_again(call, way, way->message, own);",
        "is_as_decided || true ? HUB_GO_ON : decide_again(call, way, way->message, own);",
        "access_rules.py",
        "Held",
    ),
    Mutant(
        "answers_go_on_without_a_right",
        "core/hub/access/judge.c",
        "    if (is_held || hub_call_is_unasked(call)) { /* decided",
        "    if (is_held || !hub_call_is_unasked(call)) { /* decided",
        "access_confirm.py",
        "Running",
    ),
    Mutant(
        "nobody_has_to_say_yes",
        "core/hub/confirm/confirm.c",
        "    if (said == HUB_SAID_NO) {",
        "    if (said == HUB_SAID_NO && call == NULL) {",
        "access_confirm.py",
        "Modern",
    ),
    Mutant(
        "hidden_resources_are_heard_of",
        "core/hub/notices/subscription_tell.c",
        "        !hub_access_lets_hear(subscriber->session, subscriber->subscription->toolset, uri)) {",
        "        uri.len == 0) {",
        "access_changes.py",
        "Subscriptions",
    ),
]
