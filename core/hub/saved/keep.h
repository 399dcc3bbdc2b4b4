/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where saved toolsets are kept, and how they are found. Those of a principal are in the store under
 * its name, those that are shared under nobody's; those of a manifest and its files are in the settings,
 * and nobody changes them. Of one name, a principal's own comes before a shared one, and both before
 * that of a manifest. Nothing of it is held in memory: what is asked for is read.
 * Thread: [loop].
 */
#ifndef HUB_HUB_SAVED_KEEP_H
#define HUB_HUB_SAVED_KEEP_H

#include "hub/kernel/types.h"
#include "hub/saved/document.h"
#include "state/store.h"

extern const hub_state_kind HUB_SAVED_KIND;

/* Shared ones belong to nobody in the store. */
#define HUB_SAVED_SHARED HUB_STR_EMPTY

typedef enum hub_saved_origin {
    HUB_SAVED_OWN,
    HUB_SAVED_OF_ALL, /* shared */
    HUB_SAVED_FIXED,  /* of a manifest, or its files */
} hub_saved_origin;

/* "own", "shared", "manifest". */
const char *hub_saved_origin_name(hub_saved_origin origin);

/* What was found of a name; borrowed for the callback. */
typedef struct hub_saved_found {
    hub_err err; /* HUB_OK, HUB_ENOTFOUND, HUB_EUNAVAILABLE (it may be in the store, which cannot be
                    used), HUB_EINVAL (its document is broken), HUB_ENOMEM */
    const char *why;        /* a sentence; empty for HUB_OK */
    const hub_saved *saved; /* HUB_OK */
    hub_saved_origin origin;
    uint64_t version; /* of its record; 0: it has none */
} hub_saved_found;

typedef void hub_saved_on_found(void *ctx, const hub_saved_found *found);

/* Find one by name, as a principal sees them. Told once, possibly before this returns. */
void hub_saved_find(hub_orchestrator *hub, hub_str principal, hub_str name,
                    hub_saved_on_found *on_found, void *ctx);

/* The same of the manifest's alone; always told before this returns. `principal` is not looked at. */
void hub_saved_find_fixed(hub_orchestrator *hub, hub_str principal, hub_str name,
                          hub_saved_on_found *on_found, void *ctx);

/* What a list says of one. */
typedef struct hub_saved_line {
    hub_str name;
    hub_str description;
    hub_str created_at;
    size_t tool_count;
    uint64_t version; /* of its document … */
    uint64_t record;  /* … and of its record; 0: it has none */
    hub_saved_origin origin;
} hub_saved_line;

/* All that a principal sees, sorted by name; borrowed for the callback. `err`: HUB_OK, HUB_ENOMEM, or
 * that of the store; then only those of the manifest are there, and `why` says so. */
typedef void hub_saved_on_list(void *ctx, hub_err err, const char *why, const hub_saved_line *lines,
                               size_t count);

/* List them. Told once, possibly before this returns. */
void hub_saved_list(hub_orchestrator *hub, hub_str principal, hub_saved_on_list *on_list,
                    void *ctx);

/* The one of that name in a sorted list, or NULL. */
const hub_saved_line *hub_saved_line_find(const hub_saved_line *lines, size_t count, hub_str name);

#endif
