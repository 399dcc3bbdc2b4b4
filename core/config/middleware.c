/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is done with every call (hub/middleware/middleware.h): a toolset says it for itself, the hub for
 * those that do not. The two may stand in different files, so it is decided when all have been
 * read.
 */
#include "config/reader.h"

#include "base/limits.h"

enum { MOST_BYTES = 1024 * 1024 * 1024 };

#define SAID(member) offsetof(hub_config_middleware, member)

/* middleware: of the hub, or of a toolset. */
const hub_config_key HUB_CONFIG_MIDDLEWARE_KEYS[] = {
    /* A line in the log for each call: who, what, how long, how it ended. Default: false. */
    {.name = "log", .read = hub_config_read_node, .offset = SAID(log)},
    /* The duration of each call in its result. Default: false. */
    {.name = "time", .read = hub_config_read_node, .offset = SAID(time)},
    /* Larger results of tools are cut. Default: 0, none is. */
    {.name = "max_result_bytes", .read = hub_config_read_node, .offset = SAID(max_result_bytes)},
    {.name = NULL},
};

static const hub_node *first(const hub_node *own, const hub_node *of_hub)
{
    return own != NULL ? own : of_hub;
}

static hub_err read_most(hub_config_reader *reader, const hub_node *node, uint32_t *ret_most)
{
    static const hub_config_key ZERO = {.most = UINT32_MAX};
    static const hub_config_key KEY = {.least = HUB_LIMIT_LEAST_RESULT_BYTES, .most = MOST_BYTES};
    hub_err err = hub_config_read_size(reader, node, &ZERO, ret_most);
    return err == HUB_OK && *ret_most == 0 ? HUB_OK
                                           : hub_config_read_size(reader, node, &KEY, ret_most);
}

hub_err hub_config_finish_middleware(hub_config_reader *reader, const hub_config_middleware *own,
                                     hub_middleware_settings *middleware)
{
    static const hub_config_key KEY = {.offset = 0};
    const hub_config_middleware *of_hub = &reader->middleware;
    const hub_node *log = first(own->log, of_hub->log);
    const hub_node *time = first(own->time, of_hub->time);
    const hub_node *most = first(own->max_result_bytes, of_hub->max_result_bytes);
    hub_err err = HUB_OK;
    if (log != NULL) {
        err = hub_config_read_bool(reader, log, &KEY, &middleware->log);
    }
    if (err == HUB_OK && time != NULL) {
        err = hub_config_read_bool(reader, time, &KEY, &middleware->time);
    }
    if (err == HUB_OK && most != NULL) {
        err = read_most(reader, most, &middleware->max_result_bytes);
    }
    return err;
}
