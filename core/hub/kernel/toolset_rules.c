/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/toolset_rules.h"

#include "base/cause.h"
#include "base/limits.h"
#include "base/log.h"

hub_catalog_rules hub_toolset_catalog_rules(const hub_toolset_settings *settings, bool is_native)
{
    return (hub_catalog_rules){
        .compiles = is_native,
        .validates = settings->validates,
        .cuts = settings->results.max_bytes > 0,
        .overrides = settings->overrides,
        .pins = settings->pins,
        .withholds_all = settings->is_withheld,
    };
}

static void on_drop(void *ctx, hub_str reason)
{
    const hub_toolset_settings *settings = ctx;
    hub_log(HUB_LOG_WARNING, "tools.dropped", HUB_F_TEXT("toolset", settings->key),
            HUB_F_STR("reason", reason), HUB_F_BY);
}

hub_err hub_toolset_read_list(const hub_toolset_settings *settings, bool is_native, hub_kind kind,
                              hub_str json, hub_catalog **ret_list, hub_error *reterr)
{
    const hub_catalog_rules rules = hub_toolset_catalog_rules(settings, is_native);
    return hub_catalog_read(kind, json, &rules, on_drop, (void *)(uintptr_t)settings, ret_list,
                            reterr);
}

hub_err hub_toolset_read_part(const hub_toolset_settings *settings, hub_catalog_reading *reading,
                              bool *ret_is_end, hub_error *reterr)
{
    return hub_catalog_go_on(reading, HUB_LIMIT_CATALOG_PART_BYTES, on_drop,
                             (void *)(uintptr_t)settings, ret_is_end, reterr);
}

hub_err hub_toolset_reread_list(const hub_toolset_settings *settings, const hub_catalog *list,
                                hub_catalog **ret_list, hub_error *reterr)
{
    hub_str json = {.ptr = list->bytes, .len = list->len};
    bool is_native = list->rules.compiles;
    const hub_catalog_rules rules = hub_toolset_catalog_rules(settings, is_native);
    *ret_list = NULL;
    return hub_catalog_is(list, json, &rules)
               ? HUB_OK
               : hub_toolset_read_list(settings, is_native, list->kind, json, ret_list, reterr);
}
