/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/selection.h"

#include "tools/definition_digest.h"

#include <stdlib.h>

struct hub_selection {
    unsigned refs;
    size_t count;
    char *names; /* what the items point into */
    hub_selected items[];
};

static int compare_names(hub_str toolset, hub_str tool, const hub_selected *other)
{
    int order = hub_str_cmp(toolset, other->toolset);
    return order != 0 ? order : hub_str_cmp(tool, other->tool);
}

/* Of the same tool, the first comes first. */
static int compare(const void *a, const void *b)
{
    const hub_selected *left = a;
    const hub_selected *right = b;
    int order = compare_names(left->toolset, left->tool, right);
    return order != 0 ? order : left->tool.ptr < right->tool.ptr ? -1 : 1;
}

hub_err hub_selection_create(const hub_selected *items, size_t count, hub_selection **ret_selection)
{
    size_t bytes = 1;
    for (size_t i = 0; i < count; i++) {
        bytes += items[i].toolset.len + items[i].tool.len;
    }
    hub_selection *made = malloc(sizeof *made + count * sizeof made->items[0]);
    char *names = malloc(bytes);
    if (made == NULL || names == NULL) {
        free(made);
        free(names);
        return HUB_ENOMEM;
    }
    char *at = names;
    *made = (hub_selection){.refs = 1, .names = names};
    for (size_t i = 0; i < count; i++) {
        made->items[i] = items[i];
        made->items[i].toolset = hub_str_put(&at, items[i].toolset);
        made->items[i].tool = hub_str_put(&at, items[i].tool);
    }
    if (count > 0) {
        qsort(made->items, count, sizeof made->items[0], compare);
    }
    for (size_t i = 0; i < count; i++) {
        const hub_selected *last = made->count > 0 ? &made->items[made->count - 1] : NULL;
        if (last == NULL || compare_names(last->toolset, last->tool, &made->items[i]) != 0) {
            made->items[made->count++] = made->items[i];
        }
    }
    *ret_selection = made;
    return HUB_OK;
}

hub_selection *hub_selection_ref(hub_selection *selection)
{
    if (selection != NULL) {
        selection->refs++;
    }
    return selection;
}

void hub_selection_unref(hub_selection *selection)
{
    if (selection != NULL && --selection->refs == 0) {
        free(selection->names);
        free(selection);
    }
}

size_t hub_selection_count(const hub_selection *selection)
{
    return selection->count;
}

const hub_selected *hub_selection_at(const hub_selection *selection, size_t at)
{
    return at < selection->count ? &selection->items[at] : NULL;
}

/* The place of the first that is not before it. */
static size_t find_place(const hub_selection *selection, hub_str toolset, hub_str tool)
{
    size_t low = 0;
    size_t high = selection->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (compare_names(toolset, tool, &selection->items[middle]) > 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

const hub_selected *hub_selection_find(const hub_selection *selection, hub_str toolset,
                                       hub_str tool)
{
    const hub_selected *found = hub_selection_at(selection, find_place(selection, toolset, tool));
    return found != NULL && compare_names(toolset, tool, found) == 0 ? found : NULL;
}

bool hub_selected_is(const hub_selected *selected, hub_catalog *catalog, const hub_item *tool)
{
    if (!selected->has_digest) {
        return true;
    }
    const unsigned char *digest = hub_catalog_digest(catalog, tool);
    return digest != NULL && memcmp(digest, selected->digest, HUB_DIGEST_BYTES) == 0;
}

size_t hub_selection_range(const hub_selection *selection, hub_str toolset, size_t *ret_end)
{
    size_t begin = find_place(selection, toolset, HUB_STR_EMPTY);
    size_t end = begin;
    while (end < selection->count && hub_str_eq(selection->items[end].toolset, toolset)) {
        end++;
    }
    *ret_end = end;
    return begin;
}

hub_str hub_selection_next_toolset(const hub_selection *selection, hub_str after)
{
    size_t at = 0;
    if (after.len > 0) {
        (void)hub_selection_range(selection, after, &at);
    }
    return at < selection->count ? selection->items[at].toolset : HUB_STR_EMPTY;
}
