/* SPDX-License-Identifier: Apache-2.0 */
/* For launch.c: inputs of server.json, each with its place on a command line or in a map. */
#ifndef HUB_REGISTRY_INPUTS_H
#define HUB_REGISTRY_INPUTS_H

#include "registry/launch.h"

/* Making an entry: what is read from, and what comes of it. */
typedef struct launch_making {
    const hub_launch_wish *wish;
    hub_arena *arena;
    hub_buf args; /* a JSON array without its end */
    hub_buf more; /* further members of the entry */
    hub_error *reterr;
} launch_making;

/* Append one argument as it is, or what was published as an argument. */
void launch_add_word(launch_making *making, const char *word);
HUB_MUST_CHECK hub_err launch_add_published(launch_making *making, const char *word);

/* Append the arguments that a list of inputs makes (packageArguments, runtimeArguments). */
HUB_MUST_CHECK hub_err launch_add_arguments(launch_making *making, const hub_node *list);

/* Append a map of a list of inputs (environmentVariables, headers) under `key`; `on_name` (may be
 * NULL) hears of each name. */
HUB_MUST_CHECK hub_err launch_add_map(launch_making *making, const char *key, const hub_node *list,
                                      void (*on_name)(launch_making *making, const char *name));

/* A URL with its {variables} replaced. */
HUB_MUST_CHECK hub_err launch_fill_url(launch_making *making, const hub_node *remote,
                                       const char **ret_url);

#endif
