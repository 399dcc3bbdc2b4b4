/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/limits.h"
#include "hub/describe.h"
#include "wire/json.h"

/* Print each toolset with its state; EXIT_UNREACHABLE when one that is active does not work. */
static int report_toolsets(cli_local *local)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_describe_toolsets(cli_local_hub(local), NULL, &out);
    hub_json_iter it = hub_json_iterate(hub_buf_str(&out));
    hub_str key;
    hub_str row;
    int status = EXIT_OK;
    while (hub_json_next(&it, &key, &row)) {
        hub_str state = hub_json_get(row, HUB_STR("state"));
        hub_buf line;
        hub_buf_init(&line, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        bool whole = hub_json_decode(hub_json_get(row, HUB_STR("key")), &line) == HUB_OK;
        hub_buf_add(&line, HUB_STR(": "));
        whole = hub_json_decode(hub_json_get(row, HUB_STR("summary")), &line) == HUB_OK && whole;
        cli_print(whole ? hub_buf_str(&line) : row);
        hub_buf_fini(&line);
        if (hub_json_string_is(state, HUB_STR("failed")) ||
            hub_json_string_is(state, HUB_STR("connecting"))) {
            status = EXIT_UNREACHABLE;
        }
    }
    hub_buf_fini(&out);
    return status;
}

/* Start every toolset, and list once so that each upstream is asked. */
static int connect_all(cli_options *options)
{
    cli_local *local = NULL;
    hub_str ignored;
    options->asks_anew = true;
    int status = cli_local_open(options, true, &local);
    if (status == EXIT_OK) {
        (void)cli_local_request(local, "tools/list", HUB_STR("{}"), &ignored);
        status = report_toolsets(local);
    }
    cli_local_close(local);
    return status;
}

static void on_bad_toolset(void *ctx, const char *reason)
{
    int *status = ctx;
    *status = EXIT_CONFIG;
    cli_complain("%s", reason);
}

static void add_count(hub_buf *line, size_t count, const char *thing)
{
    hub_buf_printf(line, ", %zu %s%s", count, thing, count == 1 ? "" : "s");
}

static void report_good(const hub_settings *settings)
{
    hub_buf line;
    hub_buf_init(&line, 256);
    hub_buf_printf(&line, "the configuration is good: %zu toolset%s", settings->toolset_count,
                   settings->toolset_count == 1 ? "" : "s");
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

/* Check what the manifest says, what its listeners need, and what each module says of its part. */
static int check_all(cli_options *options)
{
    cli_local *local = NULL;
    int status = cli_local_open(options, false, &local);
    if (status == EXIT_OK) {
        status = cli_load_network(cli_local_config(local));
    }
    if (status == EXIT_OK) {
        hub_orchestrator_check(cli_local_hub(local), on_bad_toolset, &status);
    }
    if (status == EXIT_OK) {
        report_good(&cli_local_config(local)->settings);
    }
    cli_local_close(local);
    return status;
}

int cli_check(cli_options *options)
{
    if (options->argument_count > 0) {
        if (options->config_count == CLI_MAX_LIST) {
            cli_complain("too many files");
            return EXIT_USAGE;
        }
        options->configs[options->config_count++] = options->arguments[0];
    }
    int status = check_all(options);
    return status == EXIT_OK && options->connect ? connect_all(options) : status;
}
