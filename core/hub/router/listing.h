/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hub says of itself: its lists, page by page from the profile's views, and its identity
 * and capabilities. Cursors are opaque and signed: they name the last entry served, so they survive
 * a change of the list, and one that is forged, or of another list, is refused. Thread: [loop].
 * spec: MCP 2026-07-28 server/tools, server/resources, server/prompts, server/discover,
 * server/utilities/pagination and caching
 */
#ifndef HUB_HUB_ROUTER_LISTING_H
#define HUB_HUB_ROUTER_LISTING_H

#include "hub/kernel/respond.h"
#include "tools/catalog.h"

/* Answer tools/list, resources/list, resources/templates/list or prompts/list. */
void hub_listing_respond(const hub_request *request, hub_kind kind);

/* Answer server/discover (modern). */
void hub_listing_respond_discover(const hub_request *request);

/* Answer initialize (legacy) with the revision agreed on. */
void hub_listing_respond_initialize(const hub_request *request, hub_revision revision);

#endif
