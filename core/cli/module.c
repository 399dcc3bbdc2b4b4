/* SPDX-License-Identifier: Apache-2.0 */
/*
 * `patchbay module inspect FILE.so`: whether a file is a good plugin, and what its tools, resources and
 * prompts are with the configuration that is given, or that a manifest has for it.
 */
#include "cli/cli.h"

#include "cli/one_module.h"
#include "cli/probe.h"
#include "modules/resolver.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void print_module(const hub_module *module)
{
    const patchbay_plugin *table = module->table;
    (void)printf("name:        %s\nversion:     %s\nabi:         %u.%u (at least %u.%u)\n",
                 module->name, table->version, PATCHBAY_ABI_MAJOR(table->abi),
                 PATCHBAY_ABI_MINOR(table->abi), PATCHBAY_ABI_MAJOR(table->abi_min),
                 PATCHBAY_ABI_MINOR(table->abi_min));
    (void)printf("description: %s\nkind:        %s\nconfig:      %s\n",
                 table->description != NULL ? table->description : "(none)",
                 (table->flags & PATCHBAY_PLUGIN_PROXY) != 0 ? "proxy" : "native",
                 table->config_schema_json != NULL ? table->config_schema_json : "takes none");
    (void)fflush(stdout); /* what comes next may crash */
}

/* The configuration of the first toolset of a manifest that is of the module; NULL: there is none. */
static const char *find_config(const hub_settings *settings, const char *module)
{
    for (size_t i = 0; i < settings->toolset_count; i++) {
        const hub_toolset_settings *toolset = &settings->toolsets[i];
        if (strcmp(toolset->module, module) == 0) {
            return toolset->config_json;
        }
    }
    return NULL;
}

/* Find out what the module is told. `*ret_is_given`: somebody has said it. */
static int read_config(cli_options *options, cli_one_module *one, bool *ret_is_given)
{
    hub_config *manifest = NULL;
    hub_error why = {.code = HUB_OK};
    const char *config = options->config_json;
    if (config == NULL && options->config_count > 0) {
        int status = cli_load_config(options, true, &manifest);
        if (status != EXIT_OK) {
            return status;
        }
        config = find_config(&manifest->settings, one->name);
    }
    hub_err err = cli_one_module_read(one, config, &why);
    *ret_is_given = config != NULL;
    hub_config_destroy(manifest);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
    }
    return err == HUB_OK ? EXIT_OK : EXIT_CONFIG;
}

/* Lists that are not empty. */
static int print_lists(cli_local *local)
{
    static const char *const KINDS[] = {"tools", "resources", "prompts"};
    int status = EXIT_OK;
    for (size_t i = 0; i < sizeof KINDS / sizeof KINDS[0] && status == EXIT_OK; i++) {
        hub_buf list;
        hub_buf_init(&list, SIZE_MAX / 4);
        status = cli_collect(local, KINDS[i], &list);
        if (status == EXIT_OK && list.len > 2) {
            (void)printf("%s:\n", KINDS[i]);
            cli_print_list(KINDS[i], hub_buf_str(&list));
        }
        hub_buf_fini(&list);
    }
    return status;
}

/* Make an instance, and say what it offers. A proxy's tools are its server's: `list` asks that. */
static int print_offers(cli_local *local, const cli_one_module *one, bool is_told)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = cli_one_module_activate(one, cli_local_hub(local), &why);
    if (err == HUB_OK) {
        return print_lists(local);
    }
    if (is_told) {
        cli_complain("%s", why.text);
        return EXIT_CONFIG;
    }
    (void)printf("tools:       not known without a configuration: %s\n"
                 "             (--config-json '{...}' or FILE, or a manifest: --config FILE)\n",
                 why.text);
    return EXIT_OK;
}

static int inspect_in(cli_local *local, const cli_one_module *one, bool is_given)
{
    const hub_module *module =
        hub_resolver_find(hub_orchestrator_resolver(cli_local_hub(local)), hub_str_of(one->name));
    print_module(module);
    bool is_told = is_given || module->table->config_schema_json == NULL; /* it takes none */
    return (module->table->flags & PATCHBAY_PLUGIN_PROXY) != 0 ? EXIT_OK
                                                               : print_offers(local, one, is_told);
}

/* Of a file that is there. */
static int inspect_file(cli_options *options, const char *path, cli_one_module *one)
{
    cli_local *local = NULL;
    hub_config *config = NULL;
    bool is_given = false;
    int status = read_config(options, one, &is_given);
    if (status != EXIT_OK) {
        return status;
    }
    options->config_count = 0; /* of the hub nothing is as a manifest wants it */
    status = cli_load_config(options, true, &config);
    hub_log_setup(HUB_LOG_WARNING, false); /* what is left out of a list, and why */
    if (status == EXIT_OK) {
        cli_one_module_settle(one, path, options->overrides.allow_writable, config);
        status = cli_local_open_with(config, &local);
    }
    if (status == EXIT_OK) {
        status = inspect_in(local, one, is_given);
    }
    cli_local_close(local);
    return status;
}

/* In a process of its own. */
static int inspect(void *ctx, cli_probe *probe)
{
    cli_options *options = ctx;
    cli_one_module one;
    char *path = realpath(options->arguments[1], NULL);
    if (path == NULL) {
        cli_complain("%s: there is no such file", options->arguments[1]);
        return EXIT_CONFIG;
    }
    cli_probe_step(probe, path);
    int status = EXIT_INTERNAL;
    if (cli_one_module_init(&one, path)) {
        status = inspect_file(options, path, &one);
        cli_one_module_fini(&one);
    } else {
        cli_complain("out of memory");
    }
    free(path);
    return status;
}

int cli_module(cli_options *options)
{
    if (options->argument_count != 2 || strcmp(options->arguments[0], "inspect") != 0) {
        cli_complain(
            "usage: patchbay module inspect FILE.so [--config-json JSON|FILE|-] [--config FILE]");
        return EXIT_USAGE;
    }
    return cli_probe_run(inspect, options);
}
