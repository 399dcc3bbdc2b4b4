/* SPDX-License-Identifier: Apache-2.0 */
#include "http/replicas.h"

#include "http/internal.h"
#include "http/peers.h"
#include "hub/moves/sweep.h"

#include <stdlib.h>

_Static_assert(HUB_SESSION_ID_MOST == HUB_SESSION_ID_BYTES + HUB_REPLICA_HOME_DIGITS,
               "the home is named behind the random digits");

/* Where a session is that has moved. */
struct hub_http_moved {
    UT_hash_handle hh;
    hub_replica_place place;
    char id[HUB_SESSION_ID_MOST + 1];
};

static void name_home(void *ctx, char id[HUB_SESSION_ID_MOST + 1])
{
    const hub_http_server *server = ctx;
    hub_replicas_name_home(server->hub, (hub_str){.ptr = id, .len = HUB_SESSION_ID_BYTES},
                           id + HUB_SESSION_ID_BYTES);
}

/* ---- sessions that have moved ---------------------------------------------------------------- */

static struct hub_http_moved *find_moved(const hub_http_replicas *replicas, hub_str id)
{
    struct hub_http_moved *one = NULL;
    HASH_FIND(hh, replicas->moved, id.ptr, (unsigned)id.len, one);
    return one;
}

static void forget(hub_http_replicas *replicas, struct hub_http_moved *one)
{
    HASH_DEL(replicas->moved, one);
    free(one);
}

void hub_http_replicas_note(hub_http_replicas *replicas, const char *id,
                            const hub_replica_place *place)
{
    hub_http_replicas_forget(replicas, id);
    struct hub_http_moved *one = calloc(1, sizeof *one);
    if (one == NULL) {
        return;
    }
    if (HASH_COUNT(replicas->moved) >= HUB_HTTP_LIMIT_MOVED) {
        forget(replicas, replicas->moved);
    }
    one->place = *place;
    memcpy(one->id, id, strnlen(id, HUB_SESSION_ID_MOST));
    HASH_ADD_KEYPTR(hh, replicas->moved, one->id, (unsigned)strlen(one->id), one);
    if (!hub_map_has_taken(&one->hh)) {
        free(one);
    }
}

void hub_http_replicas_forget(hub_http_replicas *replicas, const char *id)
{
    struct hub_http_moved *one = find_moved(replicas, hub_str_of(id));
    if (one != NULL) {
        forget(replicas, one);
    }
}

bool hub_http_replicas_recall(const hub_http_replicas *replicas, hub_str id,
                              hub_replica_place *ret_place)
{
    const struct hub_http_moved *one = find_moved(replicas, id);
    if (one != NULL) {
        *ret_place = one->place;
    }
    return one != NULL;
}

hub_session_entry *hub_http_replicas_find(const hub_http_replicas *replicas, hub_str id,
                                          const char *principal)
{
    hub_session_entry *found = NULL;
    const hub_http_server *server = replicas->first;
    for (; server != NULL && found == NULL; server = server->next) {
        found = hub_session_table_find(server->sessions, id, principal);
    }
    return found;
}

/* ---- their life ------------------------------------------------------------------------------ */

static bool is_here(void *ctx, const char *principal, hub_str session)
{
    return hub_http_replicas_find(ctx, session, principal) != NULL;
}

hub_err hub_http_replicas_create(const hub_http_home *home, hub_http_replicas **ret_replicas)
{
    hub_http_replicas *replicas = calloc(1, sizeof *replicas);
    if (replicas == NULL) {
        return HUB_ENOMEM;
    }
    replicas->peers = hub_http_peers_create(hub_net_loop(home->net), home->hub);
    replicas->sweep = hub_moves_sweep_create(home->hub, is_here, replicas);
    if (replicas->peers == NULL || replicas->sweep == NULL) {
        hub_http_replicas_destroy(replicas);
        return HUB_ENOMEM;
    }

    *ret_replicas = replicas;
    return HUB_OK;
}

void hub_http_replicas_destroy(hub_http_replicas *replicas)
{
    if (replicas != NULL) {
        hub_assert(replicas->first == NULL);
        while (replicas->moved != NULL) {
            forget(replicas, replicas->moved);
        }
        hub_moves_sweep_destroy(replicas->sweep);
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
