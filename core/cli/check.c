/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/log.h"
#include "cli/advice.h"
#include "cli/probe.h"
#include "cli/reach.h"
#include "cli/rows.h"
#include "cli/waiting.h"
#include "hub/active/startup.h"
#include "hub/audit/audit.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/overrides/overrides.h"
#include "hub/pins/pins.h"
#include "hub/report/misnamed.h"
#include "state/secrets.h"
#include "wire/json.h"

typedef struct connection {
    bool in_rows;
    int status;
} connection;

static void print_found(const connection *to, const char *key, const char *state, hub_str text)
{
    hub_buf line;
    if (to->in_rows) {
        cli_row_begin(&line);
        cli_row_add(&line, "toolset", hub_str_of(key));
        cli_row_add(&line, "state", hub_str_of(state));
        cli_row_add(&line, "text", text);
        cli_row_print(&line);
        return;
    }
    hub_buf_init(&line, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_printf(&line, "%s: %s" HUB_STR_FMT, key, strcmp(state, "failed") == 0 ? "failed: " : "",
                   HUB_STR_ARG(text));
    cli_report(hub_buf_str(&line));
    hub_buf_fini(&line);
}

static void on_found(void *ctx, const char *key, hub_err err, hub_str text, uint64_t took_ms)
{
    connection *to = ctx;
    (void)took_ms;
    if (err == HUB_OK) {
        print_found(to, key, "ok", text);
    } else if (err == HUB_EDENIED) {
        print_found(to, key, "off", HUB_STR("off"));
    } else if (err == HUB_EUNAVAILABLE) {
        to->status = EXIT_UNREACHABLE;
        print_found(to, key, "failed", text);
    } else {
        print_found(to, key, "failed", HUB_STR("it cannot be used, see above"));
    }
}

static void on_advice(void *ctx, const char *line)
{
    (void)ctx;
    cli_complain("warning: %s", line);
}

/* Overrides that are about nothing: of toolsets whose tools are known. */
static void complain_of_overrides(const hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        const hub_name_list *unused = hub_overrides_unused(toolset);
        if (unused->count > 0) {
            cli_complain("warning: %s: tools.overrides: these fit nothing that toolset \"%s\" has: "
                         "%s",
                         hub_toolset_settings_of(toolset)->source, hub_toolset_key(toolset),
                         unused->text);
        }
    }
}

/* ---- what servers offer, and clients are not shown -------------------------------------------- */

/* What the log says of definitions that are left out, whatever its level: of each list at most
 * HUB_CATALOG_TOLD, and how many more there are. */
typedef struct left_out {
    hub_log_watcher watcher;
    hub_buf lines; /* each with a NUL behind it */
} left_out;

static void on_left_out(hub_log_watcher *watcher, const char *event, hub_str json)
{
    left_out *of = (left_out *)watcher;
    hub_str toolset = hub_json_get(json, HUB_STR("toolset"));
    if (strcmp(event, "tools.dropped") != 0) {
        return;
    }
    hub_buf_printf(&of->lines, "toolset " HUB_STR_FMT ": ", HUB_STR_ARG(toolset));
    if (hub_json_decode(hub_json_get(json, HUB_STR("reason")), &of->lines) == HUB_OK) {
        hub_buf_add_char(&of->lines, '\0');
    }
}

static void tell_left_out(left_out *of)
{
    for (size_t at = 0; hub_buf_ok(&of->lines) && at < of->lines.len;) {
        on_advice(NULL, of->lines.ptr + at);
        at += strlen(of->lines.ptr + at) + 1;
    }
    hub_buf_fini(&of->lines);
}

/* Start every toolset that is switched on, whichever are active, and say what becomes of each. */
static int connect_all(cli_options *options)
{
    cli_local *local = NULL;
    left_out dropped = {.watcher = {.on_line = on_left_out}};
    hub_buf_init(&dropped.lines, SIZE_MAX / 4);
    hub_log_watch(&dropped.watcher);
    options->asks_anew = true;
    connection to = {.in_rows = options->json, .status = cli_local_open(options, false, &local)};
    if (to.status == EXIT_OK) {
        cli_waiting waiting;
        cli_waiting_begin(&waiting, cli_local_loop(local), cli_local_hub(local));
        if (hub_reach_all(cli_local_hub(local), NULL, on_found, &to) != HUB_OK) {
            cli_complain("out of memory");
            to.status = EXIT_INTERNAL;
        }
        cli_waiting_end(&waiting);
        hub_advice_give(cli_local_hub(local), on_advice, NULL);
        hub_pins_review(cli_local_hub(local), on_advice, NULL);
        complain_of_overrides(cli_local_hub(local));
    }
    cli_local_close(local);
    hub_log_unwatch(&dropped.watcher);
    tell_left_out(&dropped);
    return to.status;
}

static void on_bad(void *ctx, const hub_toolset *toolset, const char *reason)
{
    int *status = ctx;
    const char *source = toolset != NULL ? hub_toolset_settings_of(toolset)->source : NULL;
    *status = EXIT_CONFIG;
    cli_complain("%s%s%s", source != NULL ? source : "", source != NULL ? ": " : "", reason);
}

static void on_doubt(void *ctx, const char *reason)
{
    (void)ctx;
    cli_complain("warning: %s", reason);
}

static void add_count(hub_buf *line, size_t count, const char *thing)
{
    hub_buf_printf(line, ", %zu %s%s", count, thing, count == 1 ? "" : "s");
}

static void report_counts(const hub_settings *settings)
{
    hub_buf row;
    cli_row_begin(&row);
    cli_row_add(&row, "level", HUB_STR("ok"));
    cli_row_add(&row, "text", HUB_STR("configuration OK"));
    cli_row_add_count(&row, "toolsets", settings->toolset_count);
    cli_row_add_count(&row, "profiles", settings->profile_count);
    cli_row_add_count(&row, "listeners", settings->listen_count);
    cli_row_add_count(&row, "tokens", settings->auth.token_count);
    cli_row_print(&row);
}

static void report_good(const hub_settings *settings)
{
    hub_buf line;
    hub_buf_init(&line, 256);
    if (settings->toolsets_listed) {
        hub_buf_printf(&line, "configuration OK: %zu toolset%s", settings->toolset_count,
                       settings->toolset_count == 1 ? "" : "s");
    } else {
        hub_buf_add(&line,
                    HUB_STR("configuration OK: no toolsets listed, so every plugin that needs no "
                            "configuration is served"));
    }
    add_count(&line, settings->profile_count, "profile");
    if (settings->listen_count > 0) {
        add_count(&line, settings->listen_count, "listener");
    }
    if (settings->auth.required) {
        add_count(&line, settings->auth.token_count, "token");
    }
    cli_print(hub_buf_str(&line));
    hub_buf_fini(&line);
}

static void check_profile(const hub_settings *settings, const char *name, int *status)
{
    hub_error why = {.code = HUB_OK};
    if (name != NULL && !hub_settings_have_profile(settings, name)) {
        *status = EXIT_CONFIG;
        (void)hub_settings_fail_profile(settings, name, &why);
        cli_complain("%s", why.text);
    }
}

static void check_audit(const hub_audit_settings *audit, int *status)
{
    hub_error why = {.code = HUB_OK};
    if (hub_audit_check(audit, &why) != HUB_OK) {
        *status = EXIT_CONFIG;
        cli_complain("%s", why.text);
    }
}

/* The hub serves without its key, too: but who checks is to know. */
static void check_state_key(const hub_state_settings *state, int *status)
{
    hub_state_keys *keys = NULL;
    hub_error why = {.code = HUB_OK};
    if (state->place != NULL && strcmp(state->place, HUB_STATE_PLACE_OFF) != 0 &&
        hub_state_keys_load(state->key, &keys, &why) != HUB_OK) {
        *status = EXIT_CONFIG;
        cli_complain("state.key: %s", why.text);
    }
    hub_state_keys_destroy(keys);
}

/* Check what the manifest says, what its listeners need, and what each module says of its part.
 * Whether so much is right that servers can be reached goes to *ret_is_usable. */
static int check_all(cli_options *options, bool *ret_is_usable)
{
    cli_local *local = NULL;
    int status = cli_local_open(options, false, &local);
    if (status == EXIT_OK) {
        status = cli_load_network(cli_local_config(local));
        *ret_is_usable = true;
    }
    if (local != NULL) {
        status =
            cli_local_config(local)->refused_count > 0 ? EXIT_CONFIG : status; /* it was said */
        check_profile(&cli_local_config(local)->settings, options->profile, &status);
        check_audit(&cli_local_config(local)->settings.audit, &status);
        check_state_key(&cli_local_config(local)->settings.state, &status);
        hub_orchestrator_check(cli_local_hub(local), on_bad, &status);
        hub_misnamed_in_policies(cli_local_hub(local), on_doubt, NULL);
        if (!options->connect) { /* else more is known later */
            complain_of_overrides(cli_local_hub(local));
        }
    }
    if (status == EXIT_OK) {
        hub_misnamed_at_start(cli_local_hub(local), on_doubt, NULL);
        hub_startup_crowded(cli_local_hub(local), on_doubt, NULL);
        (options->json ? report_counts : report_good)(&cli_local_config(local)->settings);
    }
    cli_local_close(local);
    return status;
}

/* Of the process that checks: its exit status has room for more than the hub's. */
enum { IS_USABLE = 64 };

static cli_probe *current_probe; /* in that process */

static void on_step(const char *what)
{
    cli_probe_step(current_probe, what);
}

static int check_in_child(void *ctx, cli_probe *probe)
{
    cli_options *options = ctx;
    bool is_usable = false;
    cli_probe_step(probe, "the configuration");
    current_probe = probe;
    options->on_step = on_step;
    int status = cli_finish_output(check_all(options, &is_usable));
    return status | (is_usable ? IS_USABLE : 0);
}

int cli_check(cli_options *options)
{
    if (options->json) {
        cli_complain_in_rows("error");
    }
    if (options->argument_count > 0) {
        if (options->config_count == CLI_MAX_LIST) {
            cli_complain("too many files");
            return EXIT_USAGE;
        }
        options->configs[options->config_count++] = options->arguments[0];
    }
    if (options->config_count == 0) {
        cli_complain("no file to check; usage: patchbay check FILE [--connect]");
        return EXIT_USAGE;
    }
    int found = cli_probe_run(check_in_child, options);
    int status = found & ~IS_USABLE;
    if (!options->connect || (found & IS_USABLE) == 0) {
        return status;
    }
    options->tells_config = true; /* it was told */
    int reached = connect_all(options);
    return status == EXIT_OK ? reached : status;
}
