/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where browsers come back to from a login to a toolset's server, for entries whose `redirect_uri` is this
 * hub's own /oauth/callback: nobody is asked who they are, the answer proves by its `state` whose it is. And
 * the document that says who the hub is as a client (login/document.h), for authorization servers.
 * Thread: [loop].
 */
#ifndef HUB_WEB_OAUTH_OAUTH_H
#define HUB_WEB_OAUTH_OAUTH_H

#include "web/face.h"

/* The instance is the hub_orchestrator. */
extern const hub_web_face HUB_WEB_OAUTH;

#endif
