/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/principal.h"

#include "base/clock.h"
#include "base/map.h"
#include "hub/kernel/objects.h"

#include <stdlib.h>
#include <utlist.h>

static void forget(hub_orchestrator *hub, hub_principal *principal)
{
    HUB_IS(principal, PRINCIPAL);
    hub_assert(principal->sessions == 0 && principal->calls == 0);
    HUB_STATIONS_TELL(principal_ends, hub, principal);
    HASH_DEL(hub->principals, principal);
    hub_identity_unref(principal->shown);
    principal->magic = 0;
    free(principal);
}

static void take_off_idle(hub_orchestrator *hub, hub_principal *principal)
{
    HUB_IS(principal, PRINCIPAL);
    hub_assert(hub->idle_count > 0 && principal->sessions == 0);
    DL_DELETE(hub->idle, principal);
    hub->idle_count--;
}

static bool matters(const hub_orchestrator *hub, const hub_principal *principal)
{
    for (size_t row = 0; row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        if (station->principal_matters != NULL && station->principal_matters(hub, principal)) {
            return true;
        }
    }
    return false;
}

/* Forget those that do not matter any more. The one that was left first is the first of them. */
static void sweep(hub_orchestrator *hub)
{
    hub_principal *first;
    while ((first = hub->idle) != NULL &&
           (hub->idle_count > HUB_LIMIT_IDLE_ACCOUNTS || !matters(hub, first))) {
        take_off_idle(hub, first);
        forget(hub, first);
    }
}

static hub_principal *make(hub_orchestrator *hub, const char *name, size_t len)
{
    size_t parts = hub_stations_bytes(HUB_PART_PRINCIPAL);
    hub_principal *principal = calloc(1, sizeof *principal + parts + len + 1);
    if (principal == NULL) {
        return NULL;
    }
    principal->magic = HUB_MAGIC_PRINCIPAL;
    memcpy(principal->parts + parts, name, len);
    principal->name = principal->parts + parts;
    HASH_ADD_KEYPTR(hh, hub->principals, principal->name, (unsigned)len, principal);
    if (!hub_map_has_taken(&principal->hh)) {
        free(principal);
        return NULL;
    }
    return principal;
}

hub_principal *hub_principal_join(hub_orchestrator *hub, const char *name)
{
    HUB_IS(hub, HUB);
    hub_assert(name != NULL);
    size_t len = strlen(name);
    hub_principal *principal = NULL;
    sweep(hub);
    HASH_FIND(hh, hub->principals, name, (unsigned)len, principal);
    if (principal == NULL) {
        principal = make(hub, name, len);
    } else if (principal->sessions == 0) {
        take_off_idle(hub, principal);
    }
    if (principal != NULL) {
        principal->sessions++;
    }
    return principal;
}

void hub_principal_hold(hub_principal *principal)
{
    HUB_IS(principal, PRINCIPAL);
    hub_assert(principal->sessions > 0);
    principal->sessions++;
}

void hub_principal_leave(hub_orchestrator *hub, hub_principal *principal)
{
    if (principal == NULL) {
        return;
    }
    HUB_IS(principal, PRINCIPAL);
    hub_assert(principal->sessions > 0);
    if (--principal->sessions > 0) {
        return;
    }
    if (!matters(hub, principal)) {
        forget(hub, principal);
        return;
    }
    DL_APPEND(hub->idle, principal);
    hub->idle_count++;
    sweep(hub);
}

void hub_principals_end(hub_orchestrator *hub)
{
    while (hub->idle != NULL) {
        hub_principal *principal = hub->idle;
        take_off_idle(hub, principal);
        forget(hub, principal);
    }
    hub_assert(hub->idle_count == 0);
    hub_assert(hub->principals == NULL);
}

hub_principal *hub_principal_find(const hub_orchestrator *hub, hub_str name)
{
    hub_principal *principal = NULL;
    HASH_FIND(hh, hub->principals, name.ptr, (unsigned)name.len, principal);
    return principal;
}

hub_principal *hub_principal_next(const hub_orchestrator *hub, const hub_principal *principal)
{
    return principal == NULL ? hub->principals : principal->hh.next;
}

/* ---- what it has shown ----------------------------------------------------------------------- */

static bool is_over(const hub_identity *identity)
{
    return hub_identity_is_over(identity, hub_clock_wall_ms() / 1000);
}

static void replace(hub_principal *principal, hub_identity *identity)
{
    hub_identity_unref(principal->shown);
    principal->shown = identity;
}

void hub_principal_note(hub_orchestrator *hub, hub_principal *principal, hub_identity *identity)
{
    const hub_identity *shown = principal->shown;
    if (identity->token == NULL || identity == shown) {
        return;
    }
    if (shown == NULL || identity->expires == 0 || identity->expires >= shown->expires ||
        is_over(shown)) {
        replace(principal, hub_identity_ref(identity));
        HUB_STATIONS_TELL(principal_shows, hub, principal);
    }
}

void hub_principal_forget(hub_principal *principal, const hub_identity *identity)
{
    if (principal->shown == identity) {
        replace(principal, NULL);
    }
}

const char *hub_principal_token(const hub_principal *principal)
{
    const hub_identity *shown = principal->shown;
    return shown != NULL && !is_over(shown) ? shown->token : NULL;
}

const char *hub_principal_name(const hub_principal *principal)
{
    return principal->name;
}

size_t hub_principal_in_flight(const hub_principal *principal)
{
    return principal->calls;
}

void hub_principal_call_began(hub_principal *principal)
{
    hub_assert(principal->sessions > 0);
    principal->calls++;
}

void hub_principal_call_ended(hub_principal *principal)
{
    hub_assert(principal->calls > 0);
    principal->calls--;
}

void *hub_principal_part(const hub_principal *principal, const hub_station *station)
{
    return (char *)(uintptr_t)principal->parts + station->place->offset[HUB_PART_PRINCIPAL];
}
