/* SPDX-License-Identifier: Apache-2.0 */
/* What becomes of a toolset's lists in the profiles. Thread: [loop]. */
#ifndef HUB_HUB_ACTIVE_LISTS_H
#define HUB_HUB_ACTIVE_LISTS_H

#include "hub/kernel/toolset.h"

/* A list of a toolset is another one: the bases take it over, and the profiles tell what has changed
 * by it. Names of others may have, though nobody uses the toolset. */
void hub_active_take_list(hub_toolset *toolset, hub_kind kind);

/* Each of them is. */
void hub_active_take_lists(hub_toolset *toolset);

#endif
