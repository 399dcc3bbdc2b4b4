/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the listeners of one hub share where it has other replicas: where requests for these go, and all
 * listeners, since a request that a replica brings is for a session of any of them. Thread: [loop].
 */
#ifndef HTTP_REPLICAS_H
#define HTTP_REPLICAS_H

#include "http/server.h"
#include "http/session_table.h"
#include "hub/replicas/replicas.h"

struct hub_http_peers;

struct hub_http_moved;

struct hub_http_replicas {
    struct hub_http_peers *peers;
    hub_http_server *first;        /* servers that are open */
    struct hub_http_moved *moved;  /* uthash over the id: where sessions are that have moved */
    struct hub_moves_sweep *sweep; /* of their records */
};

/* The principal's session of that id, at any of the servers, or NULL. */
hub_session_entry *hub_http_replicas_find(const hub_http_replicas *replicas, hub_str id,
                                          const char *principal);

/* Remember where a session is that has left the home in its id, so that nobody has to look for it again; of
 * HUB_HTTP_LIMIT_MOVED. Forget it. Whether it is remembered. */
void hub_http_replicas_note(hub_http_replicas *replicas, const char *id,
                            const hub_replica_place *place);
void hub_http_replicas_forget(hub_http_replicas *replicas, const char *id);
bool hub_http_replicas_recall(const hub_http_replicas *replicas, hub_str id,
                              hub_replica_place *ret_place);

/* Have a server take part: others may find its sessions, which are named by their home. */
void hub_http_replicas_join(hub_http_replicas *replicas, hub_http_server *server);
void hub_http_replicas_leave(hub_http_replicas *replicas, hub_http_server *server);

#endif
