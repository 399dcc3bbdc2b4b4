/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hub says of itself: its lists, page by page from the profile's view, and its identity
 * and capabilities. Cursors are opaque and signed: they name the last entry served, so they survive
 * a change of the list, and a forged one is refused. Thread: [loop]. spec: MCP 2026-07-28
 * server/tools, server/discover, server/utilities/pagination and caching
 */
#ifndef HUB_HUB_LISTING_H
#define HUB_HUB_LISTING_H

#include "hub/respond.h"

/* Answer tools/list. */
void hub_listing_respond_tools(const hub_request *request);

/* Answer server/discover (modern). */
void hub_listing_respond_discover(const hub_request *request);

/* Answer initialize (legacy) with the revision agreed on. */
void hub_listing_respond_initialize(const hub_request *request, hub_revision revision);

#endif
