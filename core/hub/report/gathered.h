/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The instructions that clients hand to models: the hub's own, and behind them what the servers of
 * toolsets say, under a heading for each. Of a toolset that is active, and of which the client may be
 * told; in order of keys. Nobody waits for a server that has not said anything yet. Thread: [loop].
 * spec: MCP 2025-11-25 schema InitializeResult, 2026-07-28 schema DiscoverResult
 */
#ifndef HUB_HUB_REPORT_GATHERED_H
#define HUB_HUB_REPORT_GATHERED_H

#include "base/buf.h"

struct hub_request;

/* Append the member `instructions`, with a comma in front; nothing when there are none. */
void hub_gathered_add(const struct hub_request *request, hub_buf *out);

#endif
