/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Catalogs that replicas tell each other. Hubs with one store and one key file ask a server on the
 * network once: the first that learns its catalog puts it into the store, under a keyed digest of all
 * that decides what the server offers (catalog_record.h), and the others take it from there. To them it is
 * what a catalog from the disk is: served at once, old after limits.catalog_ttl_ms, and confirmed when
 * the server is reached: a call goes to a server that has said on this connection what it has
 * (docs/SCALE.md says why). Who is connected to the server hears it itself, and takes nothing.
 *
 * Before a server is asked, the store is looked into. Where nothing is there, word is left that it is
 * being asked; who finds that waits for HUB_LIMIT_CATALOG_ASKING_MS at most. A store that is gone answers
 * nobody: then each replica asks for itself.
 *
 * Not shared is what is not the same for all: catalogs of principals (credentials: principal), of
 * servers that each replica starts itself, with `cache: false`, and those longer than
 * HUB_LIMIT_CATALOG_SHARED_BYTES. Thread: [loop].
 */
#ifndef HUB_HUB_CATALOGS_SHARED_H
#define HUB_HUB_CATALOGS_SHARED_H

#include "base/err.h"
#include "hub/kernel/types.h"

typedef struct hub_shared_catalogs hub_shared_catalogs; /* with the hub */
typedef struct hub_shared_slot hub_shared_slot;         /* with a toolset */

/* The store has been looked into: the toolset has a catalog now, or its server is to be asked. */
typedef void hub_shared_on_sought(hub_toolset *toolset);

/* owns: *ret_shared. errors: HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_shared_create(hub_orchestrator *hub, hub_shared_on_sought *on_sought,
                                         hub_shared_catalogs **ret_shared);
void hub_shared_stop(
    hub_shared_catalogs *shared); /* nothing more is read or written; NULL is fine */
void hub_shared_destroy(hub_shared_catalogs *shared); /* NULL is fine */

/* Look into the store. False: it is not shared, ask the server; else on_sought is told, later. */
bool hub_shared_seek(hub_toolset *toolset);
bool hub_shared_is_sought(const hub_toolset *toolset);
void hub_shared_unseek(hub_toolset *toolset); /* nobody need be told */

/* What a replica has learned meanwhile of a toolset that is used from now on. */
void hub_shared_look(hub_toolset *toolset);

/* The catalog is what the toolset's server says now: tell the others. */
void hub_shared_note(hub_toolset *toolset);

/* Its server did not say: others need not wait for it. */
void hub_shared_give_up(hub_toolset *toolset);

/* The toolset is going, or is to be another's. */
void hub_shared_forget(hub_toolset *toolset);

#endif
