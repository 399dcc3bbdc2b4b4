/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities: what a toolset said that it can do besides its lists, and what the hub announces to
 * a client of a profile: what the toolsets that are active there can do now. Of a toolset whose
 * catalog is not known yet everything is announced that it may turn out to have, since a client
 * does not ask for what is not announced. Thread: [loop].
 * spec: MCP 2026-07-28 server/discover, schema ServerCapabilities; 2025-11-25 basic/lifecycle
 */
#ifndef HUB_HUB_KERNEL_CAPABILITIES_H
#define HUB_HUB_KERNEL_CAPABILITIES_H

#include "base/buf.h"
#include "hub/notices/notifier.h"
#include "wire/mcp.h"

struct hub_profile;

/* What set_capabilities of patchbay/catalog.h was told. All zero: nothing. */
typedef struct hub_capabilities {
    char *json;         /* what extensions points into; NULL: nothing was said */
    hub_str extensions; /* a raw object; may be empty */
    bool subscribes;    /* tells of changed resources */
    bool completes;
    bool logs;
    bool runs_tasks;    /* a legacy server: calls of its tools may be tasks … */
    bool cancels_tasks; /* … which can be cancelled */
    bool extends_tasks; /* a modern one: the extension for tasks */
} hub_capabilities;

/* Read an object in the form of MCP's ServerCapabilities (checked JSON).
 * owns:    *ret_capabilities, release it with hub_capabilities_fini
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_capabilities_read(hub_str json, hub_capabilities *ret_capabilities);
void hub_capabilities_fini(hub_capabilities *capabilities);

/* What of it brings notices that nobody asks for. A legacy client is told of capabilities once and
 * may rely on them: for as long as its session lasts it gets no notice of what was not among them,
 * whatever toolsets are active by then (2025-11-25 basic/lifecycle, Operation). Others it asks for
 * itself: resources/subscribe, logging/setLevel, tasks. All zero: nothing was announced. */
typedef struct hub_announced {
    bool lists[HUB_TOPICS]; /* that change */
    bool logs;
} hub_announced;

/* Append what the profile's clients of a revision are told: a ServerCapabilities object. An
 * extension that two toolsets have is announced as the first of them has it. Tasks are announced as
 * the client's revision has them, if it has. */
hub_announced hub_capabilities_announce(const struct hub_profile *profile, hub_revision revision,
                                        hub_buf *out);

/* Whether a toolset of the profile has tasks of that era, or may turn out to. */
bool hub_capabilities_has_tasks(const struct hub_profile *profile, hub_era era);

#endif
