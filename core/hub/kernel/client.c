/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/client.h"

#include "base/map.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/transport.h"

#include <stdlib.h>
#include <utlist.h>

static void forget(hub_client *client)
{
    hub_orchestrator *hub = client->hub;
    hub_principal *principal = client->principal;
    HASH_DEL(principal->clients, client);
    client->magic = 0;
    free(client);
    hub_principal_leave(hub, principal);
}

static void take_off_idle(hub_client *client)
{
    DL_DELETE(client->hub->idle_clients, client);
    client->hub->idle_client_count--;
}

static bool matters(const hub_client *client)
{
    for (size_t row = 0; row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        if (station->client_matters != NULL && station->client_matters(client->hub, client)) {
            return true;
        }
    }
    return false;
}

/* Forget those that do not matter any more. The one that was left first is the first of them. */
static void sweep(hub_orchestrator *hub)
{
    hub_client *first;
    while ((first = hub->idle_clients) != NULL &&
           (hub->idle_client_count > HUB_LIMIT_IDLE_ACCOUNTS || !matters(first))) {
        take_off_idle(first);
        forget(first);
    }
}

/* Takes the hold on its principal with it. */
static hub_client *make(hub_orchestrator *hub, hub_principal *principal, const char *peer)
{
    size_t len = strlen(peer);
    size_t parts = hub_stations_bytes(HUB_PART_CLIENT);
    hub_client *client = calloc(1, sizeof *client + parts + len + 1);
    if (client == NULL) {
        return NULL;
    }
    client->magic = HUB_MAGIC_CLIENT;
    client->hub = hub;
    client->principal = principal;
    memcpy(client->parts + parts, peer, len);
    client->peer = client->parts + parts;
    HASH_ADD_KEYPTR(hh, principal->clients, client->peer, (unsigned)len, client);
    if (!hub_map_has_taken(&client->hh)) {
        free(client);
        return NULL;
    }
    return client;
}

hub_client *hub_client_join(hub_orchestrator *hub, const char *principal_name, const char *peer)
{
    hub_client *client = NULL;
    sweep(hub);
    hub_principal *principal = hub_principal_join(hub, principal_name);
    if (principal == NULL) {
        return NULL;
    }
    HASH_FIND(hh, principal->clients, peer, (unsigned)strlen(peer), client);
    if (client != NULL) {
        hub_principal_leave(hub, principal); /* the client has one hold, whoever holds the client */
        return hub_client_ref(client);
    }
    client = make(hub, principal, peer);
    if (client == NULL) {
        hub_principal_leave(hub, principal);
        return NULL;
    }
    client->holders = 1;
    return client;
}

hub_client *hub_client_ref(hub_client *client)
{
    if (client != NULL && client->holders++ == 0) {
        take_off_idle(client);
    }
    return client;
}

void hub_client_leave(hub_client *client)
{
    if (client == NULL || --client->holders > 0) {
        return;
    }
    HUB_IS(client, CLIENT);
    hub_assert(client->calls == 0);
    if (!matters(client)) {
        forget(client);
        return;
    }
    hub_orchestrator *hub = client->hub;
    DL_APPEND(hub->idle_clients, client);
    hub->idle_client_count++;
    sweep(hub);
}

void hub_clients_end(hub_orchestrator *hub)
{
    while (hub->idle_clients != NULL) {
        hub_client *client = hub->idle_clients;
        take_off_idle(client);
        forget(client);
    }
}

hub_client *hub_client_next(const hub_principal *principal, const hub_client *client)
{
    return client == NULL ? principal->clients : client->hh.next;
}

bool hub_client_is_of(const hub_client *client, const char *principal, const char *peer)
{
    size_t len = strlen(peer); /* the client's own has no NUL at its end */
    return strcmp(client->principal->name, principal) == 0 && client->hh.keylen == len &&
           memcmp(client->peer, peer, len) == 0;
}

size_t hub_client_in_flight(const hub_client *client)
{
    return client->calls;
}

void hub_client_call_began(hub_client *client)
{
    client->calls++;
}

void hub_client_call_ended(hub_client *client)
{
    hub_assert(client->calls > 0);
    client->calls--;
}

void *hub_client_part(const hub_client *client, const hub_station *station)
{
    return (char *)(uintptr_t)client->parts + station->place->offset[HUB_PART_CLIENT];
}
