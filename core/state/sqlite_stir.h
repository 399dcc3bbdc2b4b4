/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Notices that somebody has written to the store's file, its log or its journal: by inotify on the
 * folder, or on the nearest one above it that exists. It says so, once for what came together, and
 * nothing more. Thread: [loop].
 */
#ifndef HUB_STATE_SQLITE_STIR_H
#define HUB_STATE_SQLITE_STIR_H

#include "state/engine.h"

typedef struct hub_sqlite_stir hub_sqlite_stir;

/* Watch options->place, and call options->on_stir; never from within this function.
 * owns:    *ret_stir, hub_sqlite_stir_destroy; `options` is borrowed
 * errors:  HUB_ESYSTEM (no inotify, too many watches), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_sqlite_stir_create(const hub_state_engine_options *options,
                                              hub_sqlite_stir **ret_stir, hub_error *reterr);
void hub_sqlite_stir_destroy(hub_sqlite_stir *stir); /* NULL is fine */

#endif
