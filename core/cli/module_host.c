/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `patchbay module-host FILE.so`: a hub that serves one module over stdin and stdout, under the
 * names that the module gives, and nothing else. A hub runs it for toolsets with `isolation:
 * process` (hub/kernel/isolation.h); to anybody else it is an MCP server.
 */
#include "cli/cli.h"

#include "base/loop.h"
#include "cli/one_module.h"
#include "stdio/stdio.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

enum {
    DRAIN_MS = 500,
    CLOSE_MS = 2000, /* whoever runs it waits no longer */
};

typedef struct module_host {
    struct ev_loop *loop;
    hub_config *config;
    cli_one_module module;
    hub_orchestrator *hub;
    hub_stdio_fds fds;
    hub_stdio *stdio;
    ev_signal on_term;
    ev_signal on_int;
} module_host;

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
    const hub_stdio_options options = {
        .fds = host->fds,
        .max_message_bytes = settings->limits.client_message_bytes,
        .max_queue_bytes = settings->limits.client_queue_bytes,
        .on_end = on_client_end,
        .ctx = host,
    };
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_orchestrator_create(host->loop, settings, &host->hub, &why);
    if (err == HUB_OK) {
        err = hub_orchestrator_start(host->hub, &why);
    }
    if (err == HUB_OK) {
        err = cli_one_module_activate(&host->module, host->hub, &why);
    }
    if (err == HUB_OK) {
        err = hub_stdio_open(host->loop, host->hub, &options, &host->stdio, &why);
    }
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    return EXIT_OK;
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
    cli_one_module_fini(&host->module);
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
    if (cli_one_module_read(&host->module, options->config_json, &why) != HUB_OK ||
        hub_stdio_claim(&host->fds, &why) != HUB_OK) {
        cli_complain("%s", why.text);
        return EXIT_CONFIG;
    }
    host->loop = hub_loop_new();
    if (host->loop == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    cli_one_module_settle(&host->module, path, options->overrides.allow_writable, host->config);
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
    int status = EXIT_INTERNAL;
    if (cli_one_module_init(&host.module, path)) {
        status = run(&host, options, path);
        close_host(&host);
    } else {
        cli_complain("out of memory");
    }
    free(path);
    return status;
}
