/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/cli.h"

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
}

/* In a process of its own. */
static int inspect(void *ctx, cli_probe *probe)
{
    const cli_options *options = ctx;
    hub_resolver *resolver = NULL;
    const hub_module *module = NULL;
    hub_error why = {.code = HUB_OK, .text = "out of memory"};
    char *path = realpath(options->arguments[1], NULL);
    if (path == NULL) {
        cli_complain("%s: there is no such file", options->arguments[1]);
        return EXIT_CONFIG;
    }
    cli_probe_step(probe, path);
    hub_err err = hub_resolver_create(NULL, 0, options->overrides.allow_writable, &resolver, &why);
    if (err == HUB_OK) {
        err = hub_resolver_load_file(resolver, path, &module, &why);
    }
    if (err == HUB_OK) {
        print_module(module);
    } else {
        cli_complain("%s: %s", path, why.text);
    }
    hub_resolver_destroy(resolver);
    free(path);
    return err == HUB_OK ? EXIT_OK : EXIT_CONFIG;
}

int cli_module(cli_options *options)
{
    if (options->argument_count != 2 || strcmp(options->arguments[0], "inspect") != 0) {
        cli_complain("usage: patchbay module inspect FILE.so");
        return EXIT_USAGE;
    }
    hub_log_setup(HUB_LOG_OFF, false);
    return cli_probe_run(inspect, options);
}
