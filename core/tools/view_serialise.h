/* SPDX-License-Identifier: Apache-2.0 */
/* The definitions of a view as bytes. What view.c shares with view_serialise.c. */
#ifndef HUB_TOOLS_VIEW_SERIALISE_H
#define HUB_TOOLS_VIEW_SERIALISE_H

#include "tools/view.h"

/* Write the definitions of all entries, in their order: as the toolsets gave them, but for the
 * exposed name, and for the URI of a resource of a tool that `resources` (may be NULL) exposes
 * under another one. errors:  HUB_ENOMEM spec:    MCP Apps, `_meta.ui.resourceUri` and the older
 * `_meta["ui/resourceUri"]` */
HUB_MUST_CHECK hub_err hub_view_serialise(hub_view *view, const hub_view *resources);

#endif
