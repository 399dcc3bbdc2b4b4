/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The group `saved` of the hub's own tools, under the names of the seed (REQUIREMENTS S3.26, S3.46,
 * S3.55, S3.81, S3.88): discover-all-tools, build-toolset, list-saved-toolsets, equip-toolset,
 * unequip-toolset, get-active-toolset, delete-toolset. Thread: [loop].
 */
#ifndef HUB_HUB_SAVED_TOOLS_H
#define HUB_HUB_SAVED_TOOLS_H

#include "hub/meta/meta_tool.h"
#include "hub/saved/saved.h"

extern const hub_meta_tool HUB_SAVED_TOOLS[];

/* ---- within this room ------------------------------------------------------------------------ */

/* build.c, discover.c, answers.c */
void saved_build(hub_call *call, const hub_way *way);
void saved_discover(hub_call *call, const hub_way *way);
hub_meta_look saved_get_active;

/* Whether who made the call may change what is shared: a credential with the scope `admin`, or the
 * operator on the same machine. */
bool saved_is_admin(const hub_call *call);

/* Append what became of equipping, as members of an object. */
void saved_add_equipped(hub_call *call, const hub_saved_outcome *outcome, hub_buf *out);

/* A text argument, decoded into `out`, which is as large as it may be: empty when it is not there.
 * errors:  HUB_EINVAL (too long), HUB_ENOMEM */
HUB_MUST_CHECK hub_err saved_read_text(hub_str arguments, const char *key, hub_buf *out,
                                       hub_error *reterr);

#endif
