/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Principals: who is asking. All sessions under one name are one principal's; its calls in flight
 * are counted together. It outlives its sessions for as long as a station says that something of it
 * matters (a rate that has been used up), because a request over HTTP may be a session of its own.
 * Thread: [loop].
 */
#ifndef HUB_HUB_KERNEL_PRINCIPAL_H
#define HUB_HUB_KERNEL_PRINCIPAL_H

#include "hub/kernel/station.h"
#include "hub/kernel/types.h"
#include "identity/identity.h"

/* A session of that principal begins. NULL when out of memory. */
hub_principal *hub_principal_join(hub_orchestrator *hub, const char *name);

/* Something else of it begins that ends with hub_principal_leave. */
void hub_principal_hold(hub_principal *principal);

/* It has ended. NULL is fine. */
void hub_principal_leave(hub_orchestrator *hub, hub_principal *principal);

/* The hub ends: no session is left. */
void hub_principals_end(hub_orchestrator *hub);

/* The one of that name, or NULL. */
hub_principal *hub_principal_find(const hub_orchestrator *hub, hub_str name);

/* All of them: the first (`principal` NULL), and the next. NULL: that was the last. */
hub_principal *hub_principal_next(const hub_orchestrator *hub, const hub_principal *principal);

/* It has shown this credential. One that keeps its token (identity.h), and is good for as long as the newest
 * so far, is the newest now; stations are told. */
void hub_principal_note(hub_orchestrator *hub, hub_principal *principal, hub_identity *identity);

/* This credential is not taken any more. */
void hub_principal_forget(hub_principal *principal, const hub_identity *identity);

/* The newest token that it has shown, if that is still good; else NULL. Borrowed until the loop goes on. It is
 * for who exchanges it alone, and goes to its issuer. */
const char *hub_principal_token(const hub_principal *principal);

const char *hub_principal_name(const hub_principal *principal);

/* Calls in flight. */
size_t hub_principal_in_flight(const hub_principal *principal);
void hub_principal_call_began(hub_principal *principal);
void hub_principal_call_ended(hub_principal *principal);

void *hub_principal_part(const hub_principal *principal, const hub_station *station);

#endif
