/* SPDX-License-Identifier: Apache-2.0 */
#include "upstream.h"

#include <stddef.h>

void upstream_pace_read(patchbay_str json, uint64_t health_ms, upstream_pace *pace)
{
    static const struct {
        const char *key;
        size_t offset;
    } KEYS[] = {
        {"startup_timeout_ms", offsetof(upstream_pace, startup_ms)},
        {"restart_delay_ms", offsetof(upstream_pace, restart_ms)},
        {"restart_delay_max_ms", offsetof(upstream_pace, restart_most_ms)},
        {"restart_reset_ms", offsetof(upstream_pace, reset_ms)},
        {"health_interval_ms", offsetof(upstream_pace, health_ms)},
        {"idle_timeout_ms", offsetof(upstream_pace, idle_ms)},
    };
    *pace = (upstream_pace){
        .startup_ms = UPSTREAM_STARTUP_MS,
        .restart_ms = UPSTREAM_RESTART_MS,
        .restart_most_ms = UPSTREAM_RESTART_MOST_MS,
        .reset_ms = UPSTREAM_RESET_MS,
        .health_ms = health_ms,
    };
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        int64_t value; /* the configuration was held against the schema */
        if (patchbay_json_int(patchbay_json_get(json, KEYS[i].key), &value)) {
            *(uint64_t *)(void *)((char *)pace + KEYS[i].offset) = (uint64_t)value;
        }
    }
    patchbay_str lists = patchbay_json_get(json, "lists");
    pace->skips_lists = lists.len > 0 && !patchbay_json_true(lists);
    if (pace->restart_most_ms < pace->restart_ms) {
        pace->restart_most_ms = pace->restart_ms;
    }
}
