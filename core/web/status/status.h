/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The face for whoever restarts hubs and shares out work among them: /healthz says that the hub
 * lives, /readyz that it takes work. Both ask nobody who they are; which toolsets are not ready is
 * told to those who may use MCP alone. Thread: [loop].
 */
#ifndef HUB_WEB_STATUS_H
#define HUB_WEB_STATUS_H

#include "web/face.h"

/* Its instance is the hub_orchestrator. */
extern const hub_web_face HUB_WEB_STATUS;

#endif
