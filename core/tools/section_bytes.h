/* SPDX-License-Identifier: Apache-2.0 */
/* The definitions of a section as bytes. What section.c shares with section_bytes.c. */
#ifndef HUB_TOOLS_SECTION_BYTES_H
#define HUB_TOOLS_SECTION_BYTES_H

#include "tools/section.h"

/* Write the definitions of all entries that have a name, in their order: as the toolset gave them,
 * but for the exposed name, and for the URI of a resource of a tool that section->resources exposes
 * under another one.
 * errors:  HUB_ENOMEM
 * spec:    MCP Apps, `_meta.ui.resourceUri` and the older `_meta["ui/resourceUri"]` */
HUB_MUST_CHECK hub_err hub_section_serialise(hub_section *section);

#endif
