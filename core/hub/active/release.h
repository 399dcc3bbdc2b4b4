/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What becomes of a toolset when an audience sees it no more, or when there is nobody left in the
 * audience: everybody in it has chosen otherwise. Such an audience rests: it uses none of what it
 * sees, so that a server that nobody wants does not run, until somebody comes who sees that. A
 * profile's own audience does not rest where a session of somebody else has ended: that one may come
 * again.
 * Thread: [loop].
 */
#ifndef HUB_HUB_ACTIVE_RELEASE_H
#define HUB_HUB_ACTIVE_RELEASE_H

#include "hub/kernel/types.h"

#include <stdbool.h>

/* The audience has disabled the toolset: its calls there fail, and it is used by one less. */
void hub_release_toolset(const hub_audience *audience, hub_toolset *toolset);

/* Use none of what the audience sees … */
void hub_release_all(const hub_audience *audience);

/* … and all of it again. What cannot be used any more is logged, and not seen any more. False: out
 * of memory; nothing is used. */
bool hub_release_undo(const hub_audience *audience);

#endif
