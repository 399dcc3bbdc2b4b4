/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the hub announces to a client: what the toolsets that are active for its audience can do
 * now. Of a toolset whose catalog is not known yet everything is announced that it may turn out to
 * have, since a client does not ask for what is not announced. Thread: [loop].
 * spec: MCP 2026-07-28 server/discover, schema ServerCapabilities; 2025-11-25 basic/lifecycle
 */
#ifndef HUB_HUB_CATALOGS_ANNOUNCE_H
#define HUB_HUB_CATALOGS_ANNOUNCE_H

#include "hub/kernel/capabilities.h"
#include "hub/kernel/audience.h"

/* Append what an audience's clients of a revision are told: a ServerCapabilities object. An
 * extension that two toolsets have is announced as the first of them has it. Tasks are announced as
 * the client's revision has them, if it has. */
hub_announced hub_capabilities_announce(const hub_exposure *exposure, hub_revision revision,
                                        hub_buf *out);

/* Whether a toolset that the audience sees has tasks of that era, or may turn out to. */
bool hub_capabilities_has_tasks(const hub_exposure *exposure, hub_era era);

#endif
