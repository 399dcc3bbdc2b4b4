/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Whether the hubs that share a store have one manifest. Each keeps a record of the digests of its sections
 * (config/sections.c), which it writes again every HUB_LIMIT_REPLICA_BEAT_S and deletes when it ends; each
 * compares those of the others with its own, and says which sections are different: in the log, once for
 * each difference, in the status, and in `patchbay doctor`. Nothing else follows from it: a roll changes
 * one hub after the other. A record is as old as its version says, which the store's clock has counted.
 *
 *     replica ""/"HOST:PID": {"version":"0.2.0","sections":{"toolsets":"0123456789abcdef",…}}
 *
 * Thread: [loop]; hub_manifests_compare and hub_manifests_is_old: [any].
 */
#ifndef HUB_HUB_REPLICAS_MANIFESTS_H
#define HUB_HUB_REPLICAS_MANIFESTS_H

#include "base/buf.h"
#include "hub/kernel/station.h"
#include "state/store.h"

extern const hub_station HUB_MANIFESTS_STATION;

/* What these records are, in the store. */
extern const hub_state_kind HUB_MANIFESTS_KIND;

/* Append the names of the sections that are different, or that one of them does not have, joined by commas.
 * `own` is the settings' text, `document` a record's; one that cannot be read is different in "all". */
void hub_manifests_compare(hub_str own, hub_str document, hub_buf *names);

/* Whether the hub of a record of that version has not written for long, when another one has written
 * `newest`: it is gone. */
bool hub_manifests_is_old(uint64_t version, uint64_t newest);

/* The hub starts: from now on it compares, if it serves others from a store that others use. */
void hub_manifests_start(hub_orchestrator *hub);

/* Whether this hub has others to compare with. */
bool hub_manifests_compares(const hub_orchestrator *hub);

/* Append the others as a JSON array, [{"name":…,"version":…,"differs":"toolsets, access"}]. */
void hub_manifests_add(const hub_orchestrator *hub, hub_buf *out);

#endif
