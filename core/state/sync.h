/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store for those who have no loop: commands, and whoever reads a configuration. A store of its
 * own on a loop of its own; each function waits for its operation, but not for ever.
 *
 * Thread: [any] but the loop's, one at a time: all of it blocks, at most HUB_LIMIT_STATE_SYNC_MS.
 */
#ifndef HUB_STATE_SYNC_H
#define HUB_STATE_SYNC_H

#include "base/buf.h"
#include "state/store.h"

typedef struct hub_state_sync hub_state_sync;

/* Open the store at `place` (as in hub_store_options, with `password`), with the keys of `key_file` (NULL: none is named),
 * the environment or systemd.
 * owns:    *ret_sync, hub_state_sync_close
 * errors:  HUB_EUNAVAILABLE (there is no store), those of hub_state_keys_load, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_state_sync_open(const char *place, const char *password,
                                           const char *scope, const char *key_file,
                                           hub_state_sync **ret_sync, hub_error *reterr);
void hub_state_sync_close(hub_state_sync *sync); /* NULL is fine */

/* Read a record: append its document. errors:  those of hub_state_result; HUB_EUNAVAILABLE also when
 * it takes too long */
HUB_MUST_CHECK hub_err hub_state_sync_get(hub_state_sync *sync, const hub_state_id *id,
                                          hub_buf *ret_document, uint64_t *ret_version,
                                          hub_error *reterr);

/* Write a record whose version is `seen`, or HUB_STATE_ANY. */
HUB_MUST_CHECK hub_err hub_state_sync_put(hub_state_sync *sync, const hub_state_id *id,
                                          uint64_t seen, hub_str document, hub_error *reterr);

/* Delete a record, whatever its version. */
HUB_MUST_CHECK hub_err hub_state_sync_delete(hub_state_sync *sync, const hub_state_id *id,
                                             hub_error *reterr);

/* Every record of a kind, of all owners, with its document: `on_record` must not call in here. */
HUB_MUST_CHECK hub_err hub_state_sync_each(hub_state_sync *sync, const hub_state_kind *kind,
                                           void (*on_record)(void *ctx,
                                                             const hub_state_record *record),
                                           void *ctx, hub_error *reterr);

#endif
