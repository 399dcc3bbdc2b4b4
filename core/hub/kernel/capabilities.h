/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Capabilities: what a toolset said that it can do besides its lists, and what of such a client was
 * told (catalogs/announce.h). Thread: [loop].
 * spec: MCP 2026-07-28 server/discover, schema ServerCapabilities; 2025-11-25 basic/lifecycle
 */
#ifndef HUB_HUB_KERNEL_CAPABILITIES_H
#define HUB_HUB_KERNEL_CAPABILITIES_H

#include "base/buf.h"
#include "wire/mcp.h"

/* What set_capabilities of patchbay/catalog.h was told. All zero: nothing. */
typedef struct hub_capabilities {
    char *json;         /* what extensions points into; NULL: nothing was said */
    hub_str extensions; /* a raw object; may be empty */
    bool subscribes;    /* tells of changed resources */
    bool completes;
    bool logs;
    bool runs_tasks;        /* a legacy server: calls of its tools may be tasks … */
    bool cancels_tasks;     /* … which can be cancelled */
    bool extends_tasks;     /* a modern one: the extension for tasks */
    bool has_skills;        /* the extension for skills … */
    bool reads_directories; /* … with resources/directory/read */
} hub_capabilities;

/* Read an object in the form of MCP's ServerCapabilities (checked JSON).
 * owns:    *ret_capabilities, release it with hub_capabilities_fini
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_capabilities_read(hub_str json, hub_capabilities *ret_capabilities);
void hub_capabilities_fini(hub_capabilities *capabilities);

/* What clients are told of separately. */
typedef enum hub_topic {
    HUB_TOPIC_TOOLS,
    HUB_TOPIC_RESOURCES,
    HUB_TOPIC_PROMPTS,
    HUB_TOPICS
} hub_topic;

/* What of it brings notices that nobody asks for. A legacy client is told of capabilities once and
 * may rely on them: for as long as its session lasts it gets no notice of what was not among them,
 * whatever toolsets are active by then (2025-11-25 basic/lifecycle, Operation). Others it asks for
 * itself: resources/subscribe, logging/setLevel, tasks. All zero: nothing was announced. */
typedef struct hub_announced {
    bool lists[HUB_TOPICS]; /* that change */
    bool logs;
} hub_announced;

#endif
