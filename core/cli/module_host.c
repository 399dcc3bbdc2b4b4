/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `patchbay module-host FILE.so`: a hub that serves one module over stdin and stdout, under the
 * names that the module gives, and nothing else. A hub runs it for toolsets with `isolation:
 * process` (hub/kernel/isolation.h); to anybody else it is an MCP server.
 */
#include "cli/cli.h"

#include "base/buf.h"
#include "base/limits.h"
#include "base/loop.h"
#include "config/file.h"
#include "hub/active/manager.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "stdio/stdio.h"
#include "wire/json.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    DRAIN_MS = 500,
    CLOSE_MS = 2000, /* whoever runs it waits no longer */
    MOST_BYTES = 1 << 30,
};

typedef struct module_host {
    struct ev_loop *loop;
    hub_config *config;
    hub_buf config_json; /* of the module */
    hub_toolset_settings toolset;
    hub_profile_settings profile;
    hub_orchestrator *hub;
    hub_stdio_fds fds;
    hub_stdio *stdio;
    ev_signal on_term;
    ev_signal on_int;
} module_host;

/* ---- its configuration ----------------------------------------------------------------------- */

/* Read the first line of stdin, and not one byte more: what follows is the client's. */
static hub_err read_first_line(hub_buf *out, hub_error *reterr)
{
    for (;;) {
        char c;
        ssize_t n = read(STDIN_FILENO, &c, 1);
        if (n < 0 && errno == EINTR) {
            continue;
        }
        if (n < 0) {
            return hub_fail(reterr, HUB_ESYSTEM, "stdin cannot be read: %s",
                            strerrordesc_np(errno));
        }
        if (n == 0 || c == '\n') {
            break;
        }
        hub_buf_add_char(out, c);
    }
    return hub_buf_ok(out) ? HUB_OK
                           : hub_fail(reterr, out->failed, "%s", hub_err_text(out->failed));
}

/* Read what the module is told; without any, that is {}. */
static hub_err read_config(module_host *host, const char *from, hub_error *reterr)
{
    hub_err err = HUB_OK;
    hub_str value;
    if (from == NULL) {
        hub_buf_add(&host->config_json, HUB_STR("{}"));
    } else if (strcmp(from, "-") == 0) {
        err = read_first_line(&host->config_json, reterr);
    } else {
        err = hub_file_read(from, &host->config_json, NULL, reterr);
    }
    if (err == HUB_OK) {
        err = hub_json_check(hub_buf_str(&host->config_json), &value, reterr);
    }
    if (err == HUB_OK && hub_json_type_of(value) != HUB_JSON_OBJECT) {
        err = hub_fail(reterr, HUB_EINVAL, "wanted an object");
    }
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "--config-json");
        return err;
    }
    hub_buf_add_char(&host->config_json, '\0');
    return hub_buf_ok(&host->config_json) ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

/* Bound what the process can have. What counts is memory that can be written to, not address space
 * that is set aside. */
static int limit_memory(const char *text)
{
    uint64_t bytes = 0;
    if (!hub_config_parse_size(hub_str_of(text), &bytes)) {
        cli_complain("--memory-limit wants a size in bytes or like \"128MiB\", not \"%s\"", text);
        return EXIT_USAGE;
    }
    struct rlimit limit = {.rlim_cur = bytes, .rlim_max = bytes};
    if (setrlimit(RLIMIT_DATA, &limit) != 0) {
        cli_complain("--memory-limit %s: %s", text, strerrordesc_np(errno));
        return EXIT_CONFIG;
    }
    return EXIT_OK;
}

/* ---- the hub --------------------------------------------------------------------------------- */

/* Whoever is the client bounds calls, messages and queues: this one must not do so first. */
static void raise_limits(hub_limits *limits)
{
    limits->client_message_bytes = MOST_BYTES;
    limits->client_queue_bytes = MOST_BYTES;
    limits->call_timeout_ms = INT32_MAX;
    limits->call_ceiling_ms = INT32_MAX;
    limits->calls_per_session = HUB_LIMIT_CALLS;
}

/* One toolset, named like the module, in one profile that shows it as it is. */
static void settle(module_host *host, const char *path, bool allow_writable)
{
    hub_settings *settings = &host->config->settings;
    const char *slash = strrchr(path, '/');
    hub_str name = hub_str_of(slash + 1);
    bool has_ending = name.len > 3 && strcmp(name.ptr + name.len - 3, ".so") == 0;
    name.len -= has_ending ? 3 : 0;
    host->toolset.key = hub_str_dup(name);
    host->toolset.module = host->toolset.key;
    host->toolset.config_json = host->config_json.ptr;
    host->toolset.source = path;
    host->toolset.enabled = true;
    host->toolset.lazy = true;
    host->profile = settings->profiles[0];
    host->profile.naming = HUB_NAMING_NONE;
    host->profile.max_name_bytes = HUB_LIMIT_TOOL_NAME_BYTES;
    host->profile.startup = HUB_STARTUP_DYNAMIC;
    host->profile.toolsets = (hub_names){.count = 0};
    host->profile.meta_tools = 0;
    raise_limits(&settings->limits);
    host->toolset.call_timeout_ms = settings->limits.call_timeout_ms;
    settings->name = host->toolset.key;
    settings->modules = (hub_module_settings){.allow_writable = allow_writable, .file = path};
    settings->cache_folder = NULL;
    settings->state.place = HUB_STATE_PLACE_OFF;
    settings->toolsets = &host->toolset;
    settings->toolset_count = 1;
    settings->toolsets_listed = true;
    settings->profiles = &host->profile;
    settings->profile_count = 1;
}

static void on_activated(void *ctx, const hub_manager_result *results, size_t count)
{
    int *status = ctx;
    if (count != 1 || results[0].err != HUB_OK) {
        *status = EXIT_CONFIG;
        cli_complain("%s", count == 1 ? results[0].why.text : "out of memory");
    }
}

static void on_client_end(void *ctx, hub_str reason)
{
    const module_host *host = ctx;
    (void)reason;
    ev_break(host->loop, EVBREAK_ALL);
}

static void on_signal(struct ev_loop *loop, ev_signal *watcher, int events)
{
    (void)events;
    ev_signal_stop(loop, watcher); /* the second one does what it does to any process */
    ev_break(loop, EVBREAK_ALL);
}

static void watch_signal(module_host *host, ev_signal *watcher, int number)
{
    ev_signal_init(watcher, on_signal, number);
    ev_signal_start(host->loop, watcher);
}

static int open_hub(module_host *host)
{
    const hub_settings *settings = &host->config->settings;
    const hub_str key = hub_str_of(host->toolset.key);
    const hub_stdio_options options = {
        .fds = host->fds,
        .max_message_bytes = settings->limits.client_message_bytes,
        .max_queue_bytes = settings->limits.client_queue_bytes,
        .on_end = on_client_end,
        .ctx = host,
    };
    hub_error why = {.code = HUB_OK};
    int status = EXIT_OK;
    hub_err err = hub_orchestrator_create(host->loop, settings, &host->hub, &why);
    if (err == HUB_OK) {
        err = hub_orchestrator_start(host->hub, &why);
    }
    if (err == HUB_OK) {
        hub_profile *profile = hub_find_profile(host->hub, NULL);
        err = hub_manager_activate(hub_manager_of(hub_profile_audience(profile)), &key, 1,
                                   on_activated, &status, &why);
    }
    if (err == HUB_OK && status == EXIT_OK) {
        err = hub_stdio_open(host->loop, host->hub, &options, &host->stdio, &why);
    }
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    return status;
}

static void close_host(module_host *host)
{
    if (host->hub != NULL) {
        hub_orchestrator_stop(host->hub);
    }
    hub_stdio_close(host->stdio, DRAIN_MS);
    if (!hub_orchestrator_destroy(host->hub, CLOSE_MS)) {
        _exit(EXIT_OK); /* the module's thread will not end: nothing may be freed under it */
    }
    if (host->loop != NULL) {
        hub_loop_destroy(host->loop);
    }
    hub_config_destroy(host->config);
    union {
        const char *from;
        char *to;
    } key = {.from = host->toolset.key};
    free(key.to);
    hub_buf_fini(&host->config_json);
}

static int run(module_host *host, cli_options *options, const char *path)
{
    hub_error why = {.code = HUB_OK};
    int status = cli_load_config(options, true, &host->config);
    if (status == EXIT_OK && options->memory_limit != NULL) {
        status = limit_memory(options->memory_limit);
    }
    if (status != EXIT_OK) {
        return status;
    }
    if (read_config(host, options->config_json, &why) != HUB_OK ||
        hub_stdio_claim(&host->fds, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return EXIT_CONFIG;
    }
    settle(host, path, options->overrides.allow_writable);
    host->loop = hub_loop_new();
    if (host->loop == NULL || host->toolset.key == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    (void)signal(SIGPIPE, SIG_IGN);
    watch_signal(host, &host->on_term, SIGTERM);
    watch_signal(host, &host->on_int, SIGINT);
    status = open_hub(host);
    if (status == EXIT_OK) {
        ev_run(host->loop, 0);
    }
    return status;
}

int cli_module_host(cli_options *options)
{
    static module_host host; /* plugins' threads may outlive this function */
    if (options->argument_count != 1) {
        cli_complain("usage: patchbay module-host FILE.so [--config-json -|FILE]");
        return EXIT_USAGE;
    }
    char *path = realpath(options->arguments[0], NULL);
    if (path == NULL) {
        cli_complain("%s: there is no such file", options->arguments[0]);
        return EXIT_CONFIG;
    }
    hub_buf_init(&host.config_json, HUB_LIMIT_CONFIG_BYTES + 1);
    int status = run(&host, options, path);
    close_host(&host);
    free(path);
    return status;
}
