/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meta-tools of the group `search`: search_tools, describe_tools, and those that call what was
 * found. Internal to meta_tools.c. Thread: [loop].
 */
#ifndef HUB_HUB_ROUTER_META_TOOLS_SEARCH_H
#define HUB_HUB_ROUTER_META_TOOLS_SEARCH_H

#include "hub/meta/meta_tool.h"

extern const hub_meta_tool HUB_META_SEARCH_TOOLS[];

#endif
