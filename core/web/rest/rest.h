/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face for agents that do not speak MCP: /openapi.json describes the tools that the caller is
 * shown, and POST /tools/NAME calls one. Both are messages of MCP of that caller (see
 * conversation.h), so rules, rates, limits and audit are those of any call. Served by listeners with
 * `rest: true`. Thread: [loop].
 */
#ifndef HUB_WEB_REST_H
#define HUB_WEB_REST_H

#include "web/face.h"

/* Its instance is the hub_orchestrator. */
extern const hub_web_face HUB_WEB_REST;

#endif
