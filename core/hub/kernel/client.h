/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Clients that have no session: over HTTP of 2026-07-28 each request is a session of its own, so what
 * holds for "one client" elsewhere (a pipe, a socket, a session) holds there for all that one
 * principal sends from one address, over however many connections. Its calls in flight are counted
 * together, and stations keep bytes with it. Like a principal it outlives those who hold it for as
 * long as a station says that something of it matters. How a transport holds one: transport.h.
 * Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_CLIENT_H
#define HUB_HUB_KERNEL_CLIENT_H

#include "hub/kernel/station.h"
#include "hub/kernel/types.h"

/* One holder more. NULL is fine. */
hub_client *hub_client_ref(hub_client *client);

/* The hub ends: nobody holds one. */
void hub_clients_end(hub_orchestrator *hub);

/* Those of a principal: the first (`client` NULL), and the next. NULL: that was the last. */
hub_client *hub_client_next(const hub_principal *principal, const hub_client *client);

/* Calls in flight. */
size_t hub_client_in_flight(const hub_client *client);
void hub_client_call_began(hub_client *client);
void hub_client_call_ended(hub_client *client);

void *hub_client_part(const hub_client *client, const hub_station *station);

#endif
