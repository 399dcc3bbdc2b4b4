/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a toolset, and of calls to it, when an audience has disabled it. Thread: [loop]. */
#ifndef HUB_HUB_ACTIVE_RELEASE_H
#define HUB_HUB_ACTIVE_RELEASE_H

#include "hub/kernel/types.h"

/* The audience does not see the toolset any more: its calls there fail, and it is used by one less.
 * A server that no connected client sees is stopped; whoever comes and needs it has it started
 * again. */
void hub_release_toolset(const hub_audience *audience, hub_toolset *toolset);

#endif
