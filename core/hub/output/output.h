/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Results for clients that are not shown the tool's outputSchema, because their revision does not
 * allow what it says (tools/definition.h): `structuredContent`, which follows that schema, is left out.
 * So is one that is no object, of any tool of a server of 2026-07-28: it may be of any type there, and
 * older clients refuse a result in which it is none; the specification has servers say the same in
 * `content`. All other bytes stay. Thread: [loop].
 * spec: MCP 2026-07-28 server/tools, Structured Content; 2025-11-25 likewise
 */
#ifndef HUB_HUB_OUTPUT_OUTPUT_H
#define HUB_HUB_OUTPUT_OUTPUT_H

#include "base/buf.h"
#include "hub/kernel/station.h"

extern const hub_station HUB_OUTPUT_STATION;

/* Append a result without its structuredContent, however that is spelt and as often as it is there;
 * with `objects_stay`, without one that is no object. False, and nothing is appended: it has none. */
bool hub_output_leave_out(hub_str result, bool objects_stay, hub_buf *out);

#endif
