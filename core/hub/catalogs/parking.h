/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Parking: requests that wait because a catalog is not known yet. A list waits for those of all
 * active toolsets, at most discover_timeout_ms in all for a toolset that was asked. Whoever names
 * something that no known catalog has waits for the toolsets that it may be of, and no others: by the
 * key in its name, or by the toolset in its URI; where neither says, for the active ones that were
 * never known and have not failed since. It waits as long as their servers may take to start, and its
 * client is told so meanwhile, if it wants progress.
 *
 * Whoever has waited is handled with what is known by then and does not wait twice. A parked request
 * is a call like any other: it counts against the limits of its session, and can be cancelled.
 * Thread: [loop].
 */
#ifndef HUB_HUB_CATALOGS_PARKING_H
#define HUB_HUB_CATALOGS_PARKING_H

#include "hub/kernel/respond.h"
#include "tools/exposure.h"

/* Park a request for a list, and have the catalogs asked for that are not known. False when there is
 * nothing to wait for; else it has been taken, perhaps handled already. */
bool hub_parking_list(const hub_request *request);

/* The same for a request that names something of that kind which nobody has that is known: its
 * exposed name, or URI; empty for several. Only the toolsets that may have it are asked. */
bool hub_parking_await(const hub_request *request, hub_kind kind, hub_str name);

/* What keeps those from saying whether they have it that are not known: one for each. */
typedef void hub_parking_on_silent(void *ctx, const hub_toolset *toolset, const char *reason,
                                   int32_t status);

/* Tell of the toolsets that could not be asked for such a name, at most `most`, and return how many
 * there are. `*ret_is_named`: the name itself says that it is theirs. `status` is PATCHBAY_UNAVAILABLE
 * or what else their failure was. */
size_t hub_parking_explain(const hub_request *request, hub_kind kind, hub_str name,
                           hub_parking_on_silent *on_silent, void *ctx, size_t most,
                           bool *ret_is_named);

/* Lists that wait for nothing any more go on. */
void hub_parking_wake(hub_audience *audience);

/* Toolsets are not active any more: nobody in the audience waits for them. */
void hub_parking_review(hub_audience *audience);
void hub_parking_review_all(hub_orchestrator *hub);

#endif
