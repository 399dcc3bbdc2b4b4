/* SPDX-License-Identifier: Apache-2.0 */
/* When a server is started again, looked at, and stopped: durations, as its module gets them. */
#include "config/reader.h"

#include "wire/json.h"

enum {
    MAX_START_MS = 3600000, /* a server that needs an hour to start is broken */
    MAX_PACE_MS = 86400000, /* what happens less than once a day is switched off instead */
};

hub_err hub_config_add_duration(hub_config_reader *reader, const hub_node *node,
                                const hub_config_key *key, hub_buf *out)
{
    uint32_t duration_ms = 0;
    hub_err err = hub_config_read_duration(reader, node, key, &duration_ms);
    hub_json_add_key(out, hub_str_of(key->name));
    hub_buf_add_u64(out, duration_ms);
    return err;
}

hub_err hub_config_add_pace(hub_config_reader *reader, const hub_config_toolset_draft *draft,
                            hub_buf *out)
{
    const struct {
        const hub_node *node;
        hub_config_key key;
    } keys[] = {
        {draft->startup_timeout, {.name = "startup_timeout_ms", .least = 1, .most = MAX_START_MS}},
        {draft->restart_delay, {.name = "restart_delay_ms", .least = 1, .most = MAX_START_MS}},
        {draft->restart_delay_max,
         {.name = "restart_delay_max_ms", .least = 1, .most = MAX_START_MS}},
        {draft->restart_reset, {.name = "restart_reset_ms", .least = 1, .most = MAX_PACE_MS}},
        {draft->health_interval, {.name = "health_interval_ms", .most = MAX_START_MS}},
        {draft->idle_timeout, {.name = "idle_timeout_ms", .most = MAX_PACE_MS}},
    };
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < sizeof keys / sizeof *keys; i++) {
        if (keys[i].node != NULL) {
            err = hub_config_add_duration(reader, keys[i].node, &keys[i].key, out);
        }
    }
    return err;
}
