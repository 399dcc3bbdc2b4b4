/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/remembered.h"

#include "base/buf.h"
#include "cli/waiting.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/report/describe.h"
#include "wire/json.h"

/* The next toolset of a list whose catalog is older than this process; false: there is none. */
static bool next_remembered(hub_json_iter *it, uint64_t elapsed_ms, hub_str *ret_toolset,
                            uint64_t *ret_age_ms)
{
    hub_str key;
    while (hub_json_next(it, &key, ret_toolset)) {
        hub_str status = hub_json_get(*ret_toolset, HUB_STR("status"));
        int64_t age_ms = 0;
        if (hub_json_type_of(hub_json_get(*ret_toolset, HUB_STR("active"))) == HUB_JSON_TRUE &&
            hub_json_to_i64(hub_json_get(status, HUB_STR("catalogAgeMs")), &age_ms) &&
            (uint64_t)age_ms > elapsed_ms) {
            *ret_age_ms = (uint64_t)age_ms;
            return true;
        }
    }
    return false;
}

size_t cli_remembered_count(cli_local *local, const char *profile, uint64_t elapsed_ms,
                            uint64_t *ret_oldest_ms)
{
    size_t count = 0;
    uint64_t age_ms;
    hub_buf json;
    hub_str toolset;
    hub_buf_init(&json, SIZE_MAX / 4);
    hub_describe_toolsets(cli_local_hub(local), profile, false, &json);
    hub_json_iter it = hub_json_iterate(hub_buf_ok(&json) ? hub_buf_str(&json) : HUB_STR("[]"));
    *ret_oldest_ms = 0;
    while (next_remembered(&it, elapsed_ms, &toolset, &age_ms)) {
        count++;
        *ret_oldest_ms = age_ms > *ret_oldest_ms ? age_ms : *ret_oldest_ms;
    }
    hub_buf_fini(&json);
    return count;
}

/* Have the server of a toolset asked that a list has. */
static void ask(hub_orchestrator *hub, hub_str toolset)
{
    hub_str key = hub_json_get(toolset, HUB_STR("key"));
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        if (hub_json_string_is(key, hub_str_of(hub_toolset_key(hub_toolset_at(hub, i))))) {
            hub_discovery_try(hub_toolset_at(hub, i), NULL, NULL);
        }
    }
}

static bool is_asked(hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        if (hub_discovery_is_asked(hub_toolset_at(hub, i))) {
            return true;
        }
    }
    return false;
}

void cli_remembered_ask(cli_local *local, const char *profile, uint64_t elapsed_ms,
                        bool (*is_enough)(void *ctx), void *ctx)
{
    uint64_t ignored_ms;
    hub_buf json;
    hub_str toolset;
    hub_orchestrator *hub = cli_local_hub(local);
    cli_waiting waiting;
    hub_buf_init(&json, SIZE_MAX / 4);
    hub_describe_toolsets(hub, profile, false, &json);
    hub_json_iter it = hub_json_iterate(hub_buf_ok(&json) ? hub_buf_str(&json) : HUB_STR("[]"));
    while (next_remembered(&it, elapsed_ms, &toolset, &ignored_ms)) {
        ask(hub, toolset);
    }
    hub_buf_fini(&json);
    cli_waiting_begin(&waiting, cli_local_loop(local), hub);
    while (is_asked(hub) && !is_enough(ctx)) { /* each ends, by limits.discover_timeout at last */
        ev_run(cli_local_loop(local), EVRUN_ONCE);
    }
    cli_waiting_end(&waiting);
}
