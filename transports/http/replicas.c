/* SPDX-License-Identifier: Apache-2.0 */
#include "http/replicas.h"

#include "http/internal.h"
#include "http/peers.h"

#include <stdlib.h>

_Static_assert(HUB_SESSION_ID_MOST == HUB_SESSION_ID_BYTES + HUB_REPLICA_HOME_DIGITS,
               "the home is named behind the random digits");

static void name_home(void *ctx, char id[HUB_SESSION_ID_MOST + 1])
{
    const hub_http_server *server = ctx;
    hub_replicas_name_home(server->hub, (hub_str){.ptr = id, .len = HUB_SESSION_ID_BYTES},
                           id + HUB_SESSION_ID_BYTES);
}

hub_err hub_http_replicas_create(const hub_http_home *home, hub_http_replicas **ret_replicas)
{
    hub_http_replicas *replicas = calloc(1, sizeof *replicas);
    if (replicas == NULL ||
        (replicas->peers = hub_http_peers_create(hub_net_loop(home->net), home->hub)) == NULL) {
        free(replicas);
        return HUB_ENOMEM;
    }

    *ret_replicas = replicas;
    return HUB_OK;
}

void hub_http_replicas_destroy(hub_http_replicas *replicas)
{
    if (replicas != NULL) {
        hub_assert(replicas->first == NULL);
        hub_http_peers_destroy(replicas->peers);
        free(replicas);
    }
}

void hub_http_replicas_join(hub_http_replicas *replicas, hub_http_server *server)
{
    if (replicas != NULL) {
        server->replicas = replicas;
        server->next = replicas->first;
        replicas->first = server;
        hub_session_table_name(server->sessions, name_home, server);
    }
}

void hub_http_replicas_leave(hub_http_replicas *replicas, hub_http_server *server)
{
    if (replicas == NULL) {
        return;
    }
    hub_http_server **link = &replicas->first;
    while (*link != NULL && *link != server) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = server->next;
    }
}
