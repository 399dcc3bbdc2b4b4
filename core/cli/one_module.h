/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A hub with one module in it and nothing else, under the names that the module gives: what
 * `module-host` serves, and `module inspect` looks at. Thread: [init].
 */
#ifndef HUB_CLI_ONE_MODULE_H
#define HUB_CLI_ONE_MODULE_H

#include "base/buf.h"
#include "config/config.h"
#include "hub/orchestrator/orchestrator.h"

/* What the settings of such a hub point into: it outlives the hub. */
typedef struct cli_one_module {
    char *name;          /* as its file says it */
    hub_buf config_json; /* of the module, with a NUL behind it */
    hub_toolset_settings toolset;
    hub_profile_settings profile;
} cli_one_module;

/* Of the file `path`, which is absolute. False: out of memory. */
HUB_MUST_CHECK bool cli_one_module_init(cli_one_module *one, const char *path);
void cli_one_module_fini(cli_one_module *one);

/* Read what the module is told: an object as it is, a file, "-" for the first line of stdin (what
 * follows it is left there), or NULL for none, which is {}.
 * errors:  HUB_ESYSTEM, HUB_EINVAL (no JSON object), HUB_ELIMIT, HUB_ENOMEM */
HUB_MUST_CHECK hub_err cli_one_module_read(cli_one_module *one, const char *from,
                                           hub_error *reterr);

/* Make `config` one of that file: a toolset that is named like it, in a profile that shows it as it is.
 * It borrows `one`, whose configuration has been read, and `path`. */
void cli_one_module_settle(cli_one_module *one, const char *path, bool allow_writable,
                           hub_config *config);

/* Make the toolset active in a hub of that configuration, which has been started.
 * errors:  as hub_manager_activate; what is wrong with the configuration, or the module's own reason */
HUB_MUST_CHECK hub_err cli_one_module_activate(const cli_one_module *one, hub_orchestrator *hub,
                                               hub_error *reterr);

#endif
