/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Records of sessions that nobody has any more: whose client has not come for limits.session_idle, whose home
 * is this replica, which does not know the session, or which their home has not written again for long. All of
 * a store are looked through twice per session_idle, at most every second and at least every ten minutes; those
 * of sessions that live here are written again before they look forgotten. Thread: [loop].
 */
#ifndef HUB_HUB_MOVES_SWEEP_H
#define HUB_HUB_MOVES_SWEEP_H

#include "hub/moves/moves.h"

typedef struct hub_moves_sweep hub_moves_sweep;

/* Whether a session of that principal is here. */
typedef bool (*hub_moves_is_here)(void *ctx, const char *principal, hub_str session);

/* Begin to look. NULL when out of memory. */
hub_moves_sweep *hub_moves_sweep_create(hub_orchestrator *hub, hub_moves_is_here is_here,
                                        void *ctx);
void hub_moves_sweep_destroy(hub_moves_sweep *sweep); /* NULL is fine */

#endif
