/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face that tells clients whose tokens an endpoint takes: /.well-known/oauth-protected-resource,
 * and that with the endpoint's path behind it. Without issuers there is nothing there.
 * Its instance is the hub_orchestrator. Thread: [loop].
 * spec: RFC 9728; MCP 2026-07-28 basic/authorization, Protected Resource Metadata
 */
#ifndef HUB_WEB_RESOURCE_RESOURCE_H
#define HUB_WEB_RESOURCE_RESOURCE_H

#include "web/face.h"

extern const hub_web_face HUB_WEB_RESOURCE;

#endif
