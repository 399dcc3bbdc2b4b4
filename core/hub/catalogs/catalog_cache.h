/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Catalogs that outlive the hub. What an upstream offers is written to disk when it was learnt, and
 * is there at once when the hub starts the next time: nothing is started to answer `tools/list`.
 * A file is read before the loop runs (or when a toolset appears later), and written by a worker,
 * at most one per toolset at a time. Which file it is depends on all that decides what a server
 * offers: module, its version, expanded configuration, and for what is started here the working
 * directory. Without a folder in the settings nothing is read or written. Thread: [loop].
 */
#ifndef HUB_HUB_CATALOGS_CATALOG_CACHE_H
#define HUB_HUB_CATALOGS_CATALOG_CACHE_H

#include "base/err.h"
#include "hub/kernel/types.h"

typedef struct hub_catalog_cache hub_catalog_cache;

/* What the cache knows of one toolset. */
typedef struct hub_cache_slot hub_cache_slot;

/* owns:    *ret_cache; NULL when the settings want none. hub->workers must be there
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_catalog_cache_create(hub_orchestrator *hub,
                                                hub_catalog_cache **ret_cache);

/* The workers must have ended. NULL is fine. */
void hub_catalog_cache_destroy(hub_catalog_cache *cache);

/* Give a toolset the catalog that is remembered of it, once, if it has none. A file that is not
 * usable is ignored with a warning.
 * blocks:  yes: reads a file */
void hub_catalog_cache_recall(hub_toolset *toolset);

/* The toolset's catalog is what its server says now: remember it, soon. */
void hub_catalog_cache_note(hub_toolset *toolset);

/* The toolset is going. A file that is being written is finished. */
void hub_catalog_cache_forget(hub_toolset *toolset);

/* At the end: have everything written that is to be. False while a worker is at it: ask again. NULL
 * is fine, and true. */
bool hub_catalog_cache_settle(hub_catalog_cache *cache);

#endif
