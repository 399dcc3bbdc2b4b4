/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What is different between two catalogs of a kind under the same names: a server may replace what a
 * tool says of itself after somebody has read and approved it. Pure. Thread: [any].
 */
#ifndef HUB_TOOLS_REDEFINED_H
#define HUB_TOOLS_REDEFINED_H

#include "base/name_list.h"
#include "tools/catalog.h"

typedef struct hub_redefined {
    hub_name_list changed; /* with the members that differ: "search(description inputSchema)" */
    hub_name_list added;
    hub_name_list removed;
} hub_redefined;

/* Add each item of `now` that has another definition than in `before`, or is in one of them alone.
 * Where items came together, "other" stands for all members but those of the MCP schemas. It reads
 * both catalogs a few times, whatever they are.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_redefined_list(const hub_catalog *before, const hub_catalog *now,
                                          hub_redefined *changes);

#endif
