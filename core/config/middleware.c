/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done with every call (hub/middleware/middleware.h): a toolset says it for itself, the hub for
 * those that do not. The two may stand in different files, so it is decided when all have been
 * read.
 */
#include "config/reader.h"

#include "base/limits.h"

/* Of a toolset's settings. */
#define MIDDLEWARE(member) offsetof(hub_toolset_settings, middleware.member)

/* Until then it is kept by the index of its row. */
static hub_err keep(hub_config_reader *reader, const hub_node *node, const hub_config_key *key,
                    void *target)
{
    (void)reader;
    hub_config_middleware *kept = target;
    kept->said[key - HUB_CONFIG_MIDDLEWARE_KEYS] = node;
    return HUB_OK;
}

/* middleware: of the hub, or of a toolset. */
const hub_config_key HUB_CONFIG_MIDDLEWARE_KEYS[] = {
    {.name = "log",
     .kind = HUB_CONFIG_BOOL,
     .read = keep,
     .offset = MIDDLEWARE(log),
     .about = "A line in the log for each call: who, what, how long, how it ended; never arguments "
              "or results."},
    {.name = "time",
     .kind = HUB_CONFIG_BOOL,
     .read = keep,
     .offset = MIDDLEWARE(time),
     .about = "The duration of each call in its result, as _meta[\"patchbay/duration_ms\"]."},
    {.name = "max_result_bytes",
     .kind = HUB_CONFIG_SIZE,
     .read = keep,
     .offset = offsetof(hub_toolset_settings, results.max_bytes),
     .least = HUB_LIMIT_LEAST_RESULT_BYTES,
     .most = HUB_CONFIG_MOST_BYTES,
     .has_zero = true,
     .about = "An older spelling of results: {max_bytes: SIZE, over: truncate}, which counts "
              "where both are written."},
    {.name = NULL},
};

_Static_assert(sizeof HUB_CONFIG_MIDDLEWARE_KEYS / sizeof *HUB_CONFIG_MIDDLEWARE_KEYS ==
                   HUB_CONFIG_MIDDLEWARE_KEY_COUNT + 1,
               "hub_config_middleware has a place for each row");

hub_err hub_config_finish_middleware(hub_config_reader *reader, const hub_config_middleware *own,
                                     hub_toolset_settings *toolset)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < HUB_CONFIG_MIDDLEWARE_KEY_COUNT; i++) {
        const hub_node *node = own->said[i] != NULL ? own->said[i] : reader->middleware.said[i];
        hub_config_key key = HUB_CONFIG_MIDDLEWARE_KEYS[i];
        key.read = NULL; /* as values of its kind are */
        err = node != NULL ? hub_config_read_value(reader, node, &key, toolset) : HUB_OK;
    }
    return err;
}
