/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The toolset `_meta`: tools with which a client looks at the toolsets and switches them on and off
 * (REQUIREMENTS S1.32). They are entries of the view like any other tool, under their bare names.
 * A static profile has only list_tools. Thread: [loop].
 */
#ifndef HUB_HUB_ROUTER_META_TOOLS_H
#define HUB_HUB_ROUTER_META_TOOLS_H

#include "hub/kernel/call.h"
#include "tools/catalog.h"

/* The catalog of the meta-tools.
 * owns:    *ret_catalog, one reference
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_meta_catalog(bool is_static, hub_catalog **ret_catalog);

/* Run one: `name` is in the catalog, `arguments` satisfy its schema (or are empty). Completes the
 * call now or later. */
void hub_meta_call(hub_call *call, hub_str name, hub_str arguments);

#endif
