/* SPDX-License-Identifier: Apache-2.0 */
/*
 * URIs with a toolset in them: what a resource, or a template, is called whose own URI is another
 * toolset's, too.
 *
 *     patchbay:TOOLSET/URI            e.g. patchbay:git/file:///README.md
 *     ui://patchbay.TOOLSET/REST      of ui://REST: MCP Apps know their resources by that scheme
 *     skill://patchbay.TOOLSET/PATH   of skill://PATH: a prefix of the path, as Skills have it, so that
 *                                     references within a skill lead where they did
 *
 * Pure functions, any thread.
 */
#ifndef HUB_TOOLS_MAPPED_URI_H
#define HUB_TOOLS_MAPPED_URI_H

#include "base/buf.h"

/* Append a URI of a toolset with the toolset in it. */
void hub_mapped_uri_add(hub_str toolset, hub_str uri, hub_buf *out);

/* Take one apart: the toolset's key, a slice of `uri`, and its own URI, which is appended. False
 * when it is not such a URI. */
bool hub_mapped_uri_read(hub_str uri, hub_str *ret_toolset, hub_buf *own_uri);

#endif
