/* SPDX-License-Identifier: Apache-2.0 */
/* What catalog.c and catalog_item.c share: a list of items that is being read. */
#ifndef HUB_TOOLS_CATALOG_INTERNAL_H
#define HUB_TOOLS_CATALOG_INTERNAL_H

#include "base/map.h"
#include "tools/catalog.h"
#include "wire/json.h"

/* Names seen so far in one catalog. */
typedef struct catalog_name {
    UT_hash_handle hh;
} catalog_name;

/* How the items of a kind are called, and which of their members identifies them. */
typedef struct catalog_kind {
    const char *noun;
    const char *plural;
    const char *key;
    size_t max_bytes;
} catalog_kind;

/* A list that is being read, and the catalog that it becomes. */
struct hub_catalog_reading {
    hub_catalog *catalog;
    const catalog_kind *kind;
    hub_json_iter rest; /* what was not read yet */
    size_t count;       /* of the elements that were */
    hub_buf names;      /* decoded names; its memory never moves: reserved in one piece */
    catalog_name *seen;
    catalog_name *seen_pool;
    hub_overrides overrides;
    hub_pins *pins;  /* NULL: none */
    hub_buf changed; /* scratch */
    hub_catalog_on_drop *on_drop;
    size_t told; /* of items, by name; and of those that were only counted: */
    size_t untold;
    void *ctx;
};

/* Free what an item owns: its schemas. */
void catalog_free_item(hub_item *item);

/* Append an item, as it was given, to the catalog, or report why not.
 * errors:  HUB_ENOMEM; an item that is left out is no error */
HUB_MUST_CHECK hub_err catalog_add_item(hub_catalog_reading *parser, hub_str original);

/* Say of an item what becomes of it, and why; after HUB_CATALOG_TOLD of them, only count it. */
void catalog_tell(hub_catalog_reading *parser, hub_str name, const char *what, const char *reason);

#endif
