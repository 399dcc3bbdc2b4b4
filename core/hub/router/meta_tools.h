/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The toolset `_meta`: tools with which a client looks at the toolsets and switches them on and off
 * (REQUIREMENTS S1.32). They are entries of the view like any other tool, under their bare names.
 * A static profile has only list_tools. Thread: [loop].
 */
#ifndef HUB_HUB_ROUTER_META_TOOLS_H
#define HUB_HUB_ROUTER_META_TOOLS_H

#include "hub/kernel/way.h"
#include "tools/section.h"

/* The catalog of the meta-tools of these groups (HUB_META_…).
 * owns:    *ret_catalog, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_meta_catalog(unsigned groups, bool is_static, hub_catalog **ret_catalog);

/* Whether a catalog that hub_meta_catalog has made, not for a static profile, has all of them. */
bool hub_meta_has(const hub_catalog *catalog, unsigned groups);

/* Whether a tool is the hub's own, and looks among all tools. */
bool hub_meta_searches(const hub_entry *entry);

/* Answer a call of one, whose arguments satisfy its schema, now or later: what the toolset `_meta` has
 * instead of a module. */
void hub_meta_answer(hub_call *call, const hub_way *way);

#endif
