/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The meta-tools that look: list_toolsets, describe_toolset, list_tools. Models read what they answer,
 * so it is short, it has no member that a model has no use for (that is what `patchbay status` is
 * for), and it comes in pages. They speak of nothing that the caller may not see (hub_sight). Internal
 * to meta_tools.c. Thread: [loop].
 */
#ifndef HUB_HUB_ROUTER_META_TOOLS_LOOK_H
#define HUB_HUB_ROUTER_META_TOOLS_LOOK_H

#include "base/buf.h"
#include "base/err.h"
#include "hub/kernel/types.h"

/* What a meta-tool answers with: appended to `out`, an object.
 * errors:  HUB_EINVAL, HUB_ENOTFOUND (the text says what to do), HUB_ENOMEM */
typedef hub_err hub_meta_look(hub_call *call, hub_str arguments, hub_buf *out, hub_error *reterr);

hub_meta_look hub_meta_list_toolsets;
hub_meta_look hub_meta_describe_toolset;
hub_meta_look hub_meta_list_tools;

#endif
