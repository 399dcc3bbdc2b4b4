/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/left_out.h"

#include "hub/kernel/respond.h"
#include "tools/catalog.h"
#include "wire/json.h"

/* Nothing is told of a tool that would not be shown if it were as it should be. */
static bool would_be_seen(const hub_toolset *toolset, const hub_exposure *seen, hub_kind kind,
                          const char *name)
{
    if (seen == NULL || kind != HUB_KIND_TOOL) {
        return true;
    }
    const hub_item item = {.name = hub_str_of(name), .shown = hub_str_of(name)};
    hub_source source = hub_toolset_source((hub_toolset *)(uintptr_t)toolset);
    return hub_exposure_exposes(seen, &source, &item);
}

static void add_text(hub_buf *out, const char *text, bool is_first)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    hub_buf_add(out, is_first ? HUB_STR(",\"leftOut\":[") : HUB_STR(","));
    hub_json_add_string(out, hub_respond_mask(hub_str_of(text), &masked));
    hub_buf_fini(&masked);
}

void hub_left_out_add(const hub_toolset *toolset, const hub_exposure *seen, size_t most,
                      hub_buf *out)
{
    size_t told = 0;
    size_t more = 0;
    most = most < HUB_CATALOG_KEPT ? most : HUB_CATALOG_KEPT;
    for (hub_kind kind = 0; kind < HUB_KINDS; kind++) {
        const hub_catalog *list = hub_toolset_list(toolset, kind);
        size_t count = list != NULL ? list->left_out_count : 0;
        for (size_t i = 0; i < count && i < most; i++) {
            const hub_left_out *one = &list->left_out[i];
            if (one->name != NULL && one->text != NULL &&
                would_be_seen(toolset, seen, kind, one->name)) {
                add_text(out, one->text, told++ == 0);
            }
        }
        more += count > most ? count - most : 0;
    }
    if (told > 0) {
        hub_buf_add_char(out, ']');
    }
    if (told > 0 && more > 0) {
        hub_json_add_key(out, HUB_STR("moreLeftOut"));
        hub_buf_add_u64(out, more);
    }
}
