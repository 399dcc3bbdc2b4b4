/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/redefined.h"

#include "base/buf.h"
#include "tools/section.h"
#include "wire/json.h"

#include <stdlib.h>

static const char *const MEMBERS[] = {
    "title", "description", "inputSchema", "outputSchema", "annotations", "execution",
    "icons", "arguments",   "mimeType",    "name",         "size",        "_meta",
};

enum { SHOWN_NAME_BYTES = 128 };

static hub_str shown_name(const hub_item *item)
{
    hub_str name = item->name;
    name.len = name.len < SHOWN_NAME_BYTES ? name.len : SHOWN_NAME_BYTES;
    return name;
}

static void add_change(const hub_item *before, const hub_item *now, hub_name_list *changes)
{
    hub_buf text;
    hub_buf_init(&text, 512);
    hub_str name = shown_name(now);
    hub_buf_add(&text, name);
    size_t begin = text.len;
    for (size_t i = 0; i < sizeof MEMBERS / sizeof MEMBERS[0]; i++) {
        hub_str key = hub_str_of(MEMBERS[i]);
        if (!hub_str_eq(hub_json_get(before->original, key), hub_json_get(now->original, key))) {
            hub_buf_add_char(&text, text.len == begin ? '(' : ' ');
            hub_buf_add(&text, key);
        }
    }
    hub_buf_add(&text, text.len == begin ? HUB_STR("(other)") : HUB_STR(")"));
    hub_name_list_add(changes, hub_buf_ok(&text) ? hub_buf_str(&text) : name);
    hub_buf_fini(&text);
}

hub_err hub_redefined_list(const hub_catalog *before, const hub_catalog *now,
                           hub_redefined *changes)
{
    const hub_item **old = hub_section_sort(before);
    const hub_item **fresh = hub_section_sort(now);
    bool is_made = old != NULL && fresh != NULL;
    for (size_t i = 0, k = 0; is_made && (i < before->count || k < now->count);) {
        int order = i == before->count ? 1
                    : k == now->count  ? -1
                                       : hub_str_cmp(old[i]->name, fresh[k]->name);
        if (order < 0) {
            hub_name_list_add(&changes->removed, shown_name(old[i]));
        } else if (order > 0) {
            hub_name_list_add(&changes->added, shown_name(fresh[k]));
        } else if (!hub_str_eq(old[i]->original, fresh[k]->original)) {
            add_change(old[i], fresh[k], &changes->changed);
        }
        i += order <= 0;
        k += order >= 0;
    }
    free(old);
    free(fresh);
    return is_made ? HUB_OK : HUB_ENOMEM;
}
