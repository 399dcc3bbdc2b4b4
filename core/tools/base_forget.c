/* SPDX-License-Identifier: Apache-2.0 */
/* What a base forgets of names whose tools are gone: a toolset that makes up new ones for ever loses its
 * own, and no other's. */
#include "base/limits.h"
#include "tools/base_internal.h"

#include <stdlib.h>

/* URIs are not remembered; sweeping them one by one would cost a walk each time. */
enum { URIS_BEFORE_SWEEP = 1024 };

/* Whose a name was, as the place of a slot; behind the last one of those that are no more. */
static uint32_t owner_of(const hub_base *base, const base_name *name)
{
    hub_str first = {.ptr = name->first, .len = name->first_len};
    first.len = hub_str_find(first, HUB_STR(":"));
    return base_find_slot(base, first);
}

/* How many each may keep, so that all together keep at most `keep`: those with fewer keep all. */
static size_t fair_count(const size_t *counts, size_t count, size_t keep)
{
    size_t low = 0;
    size_t high = keep;
    while (low < high) {
        size_t middle = high - (high - low) / 2;
        size_t total = 0;
        for (size_t i = 0; i < count; i++) {
            total += counts[i] < middle ? counts[i] : middle;
        }
        if (total <= keep) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    return low;
}

/* Forget the oldest of those who have more than that. */
static void forget_beyond(hub_base *base, hub_kind kind, size_t *counts, size_t most)
{
    base_name *next = base->names[kind];
    while (next != NULL) {
        base_name *name = next;
        next = name->hh.next; /* in the order in which they were made */
        size_t *own = name->claims == NULL ? &counts[owner_of(base, name)] : NULL;
        if (own != NULL && *own > most) {
            (*own)--;
            base_free_name(base, kind, name);
        }
    }
}

static void forget_uris(hub_base *base, hub_kind kind)
{
    base_name *next = base->names[kind];
    while (next != NULL) {
        base_name *name = next;
        next = name->hh.next;
        if (name->claims == NULL) {
            base_free_name(base, kind, name);
        }
    }
}

void base_sweep_names(hub_base *base, hub_kind kind)
{
    bool is_uri = base_is_uri(kind);
    if (base->gone_count[kind] <= (is_uri ? URIS_BEFORE_SWEEP : HUB_LIMIT_NAMES_REMEMBERED)) {
        return;
    }
    if (is_uri) {
        forget_uris(base, kind);
        return;
    }
    size_t *counts = calloc(base->slot_count + 1, sizeof *counts);
    if (counts == NULL) {
        return; /* with the next change */
    }
    for (const base_name *at = base->names[kind]; at != NULL; at = at->hh.next) {
        if (at->claims == NULL) {
            counts[owner_of(base, at)]++;
        }
    }
    forget_beyond(base, kind, counts,
                  fair_count(counts, base->slot_count + 1, HUB_LIMIT_NAMES_REMEMBERED / 2));
    free(counts);
}
