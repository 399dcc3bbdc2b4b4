/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the listeners of one hub share where it has other replicas: where requests for these go, and all
 * listeners, since a request that a replica brings is for a session of any of them. Thread: [loop].
 */
#ifndef HTTP_REPLICAS_H
#define HTTP_REPLICAS_H

#include "http/server.h"
#include "hub/replicas/replicas.h"

struct hub_http_peers;

struct hub_http_replicas {
    struct hub_http_peers *peers;
    hub_http_server *first; /* servers that are open */
};

/* Have a server take part: others may find its sessions, which are named by their home. */
void hub_http_replicas_join(hub_http_replicas *replicas, hub_http_server *server);
void hub_http_replicas_leave(hub_http_replicas *replicas, hub_http_server *server);

#endif
