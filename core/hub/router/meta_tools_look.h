/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meta-tools that look: list_toolsets, describe_toolset, list_tools. Models read what they answer,
 * so it is short, it has no member that a model has no use for (that is what `patchbay status` is
 * for), and it comes in pages. They speak of nothing that the caller may not see (hub_sight). Internal
 * to meta_tools.c. Thread: [loop].
 */
#ifndef HUB_HUB_ROUTER_META_TOOLS_LOOK_H
#define HUB_HUB_ROUTER_META_TOOLS_LOOK_H

#include "hub/meta/meta_tool.h"

hub_meta_look hub_meta_list_toolsets;
hub_meta_look hub_meta_describe_toolset;
hub_meta_look hub_meta_list_tools;

/* Answer a call with what a look says. */
void hub_meta_answer_look(hub_call *call, hub_str arguments, hub_meta_look *look);

/* The toolset that the arguments of describe_toolset name; NULL: none of which anything may be said. */
hub_toolset *hub_meta_named_toolset(const hub_call *call, hub_str arguments);

/* describe_toolset: now, or when the server of the toolset has said what it has (meta_describe.c). */
void hub_meta_describe(hub_call *call, const hub_way *way);

#endif
