/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Pins at work: what toolsets offer is held against what somebody has approved of it (tools/pin.h)
 * when a list is read; here it is told, in the log and in status, and a server's instructions are
 * kept from clients that are not as approved. A toolset without pins costs nothing. Thread: [loop].
 */
#ifndef HUB_HUB_PINS_PINS_H
#define HUB_HUB_PINS_PINS_H

#include "hub/kernel/station.h"
#include "tools/exposure.h"

extern const hub_station HUB_PINS_STATION;

/* Append `"pins":{…}`: how many definitions are changed, new, missing and withheld; with a comma in
 * front. Nothing when the toolset has no pins. */
void hub_pins_add_counts(const struct hub_toolset *toolset, hub_buf *out);

/* Append `"withheld":[…]`: the tools that are withheld, and why, of which `seen` (NULL: all) would
 * show anything; with a comma in front. Nothing when there are none. */
void hub_pins_add_withheld(const struct hub_toolset *toolset, const hub_exposure *seen,
                           hub_buf *out);

/* Whether somebody has not approved what is offered as it is: for who connects to say so. Told a line
 * for each list, and each suspect definition. */
typedef void hub_pins_on_line(void *ctx, const char *line);
void hub_pins_review(const struct hub_orchestrator *hub, hub_pins_on_line *on_line, void *ctx);

/* Append `"suspect":[…]`: the tools with a definition that a reader does not see as it is, or that
 * names a tool of another toolset; with a comma in front. Nothing when there are none. */
void hub_pins_add_suspects(const struct hub_toolset *toolset, hub_buf *out);

#endif
