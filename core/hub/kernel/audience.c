/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/audience.h"

#include "base/limits.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/principal.h"

#include <stdlib.h>
#include <string.h>
#include <uthash.h>
#include <utlist.h>

/* ---- life ------------------------------------------------------------------------------------ */

static bool is_own(const hub_audience *audience)
{
    return audience->principal == NULL;
}

/* Also when it has no sessions. */
static bool matters(const hub_audience *audience)
{
    if (audience->is_of_session) {
        return false;
    }
    for (size_t row = 0; row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        if (station->audience_matters != NULL && station->audience_matters(audience)) {
            return true;
        }
    }
    return false;
}

static void link_principal(hub_audience *audience, hub_principal *principal)
{
    HUB_IS(principal, PRINCIPAL);
    hub_assert(audience->principal == NULL && audience->next_of_principal == NULL);
    audience->principal = principal;
    audience->next_of_principal = principal->audiences;
    principal->audiences = audience;
}

static void unlink_principal(hub_audience *audience)
{
    hub_audience **at = &audience->principal->audiences;
    while (*at != audience) {
        hub_assert(*at != NULL);
        at = &(*at)->next_of_principal;
    }
    *at = audience->next_of_principal;
}

static void take_off_idle(hub_audience *audience)
{
    hub_orchestrator *hub = audience->profile->hub;
    if (audience->is_idle) {
        DL_DELETE2(hub->idle_audiences, audience, idle_prev, idle_next);
        hub_assert(hub->idle_audience_count > 0 && audience->sessions == NULL);
        hub->idle_audience_count--;
        audience->is_idle = false;
    }
}

/* It has no sessions. */
static void end(hub_audience *audience)
{
    hub_profile *profile = audience->profile;
    hub_principal *principal = audience->principal;
    HUB_IS(audience, AUDIENCE);
    hub_assert(audience->sessions == NULL);
    take_off_idle(audience);
    HUB_STATIONS_TELL_BACK(audience_ends, audience);
    hub_exposure_destroy(audience->exposure);
    DL_DELETE(profile->audiences, audience);
    if (principal != NULL) {
        unlink_principal(audience);
        hub_principal_leave(profile->hub, principal);
    }
    audience->magic = 0;
    free(audience);
}

static hub_err begin(hub_audience *audience, const hub_audience *from)
{
    hub_err err = HUB_OK;
    for (size_t row = 0; err == HUB_OK && row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        err = station->audience_begins != NULL ? station->audience_begins(audience, from) : HUB_OK;
    }
    return err;
}

static hub_audience *allocate(hub_profile *profile)
{
    hub_audience *audience = calloc(1, sizeof *audience + hub_stations_bytes(HUB_PART_AUDIENCE));
    if (audience != NULL) {
        audience->magic = HUB_MAGIC_AUDIENCE;
        audience->profile = profile;
        DL_APPEND(profile->audiences, audience);
    }
    return audience;
}

hub_err hub_audience_make_own(hub_profile *profile, hub_exposure *exposure)
{
    hub_assert(profile->audiences == NULL);
    hub_audience *audience = allocate(profile);
    if (audience == NULL) {
        return HUB_ENOMEM;
    }
    audience->exposure = exposure;
    hub_err err = begin(audience, NULL);
    if (err != HUB_OK) {
        audience->exposure = NULL; /* the caller's */
        end(audience);
    }
    return err;
}

void hub_audiences_end(hub_profile *profile)
{
    while (profile->audiences != NULL) {
        end(profile->audiences->prev); /* the last: the profile's own is the first */
    }
}

/* Somebody sees it again. */
static void come_back(hub_audience *audience)
{
    if (audience->is_left) {
        audience->is_left = false;
        HUB_STATIONS_TELL(audience_returns, audience);
    }
}

/* Those without a session that do not matter any more go; the one that was left first is the first
 * of them. Its choice has ended, or is the profile's: what that uses is used on, without a break. */
static void sweep(hub_orchestrator *hub)
{
    hub_audience *first;
    while ((first = hub->idle_audiences) != NULL &&
           (hub->idle_audience_count > HUB_LIMIT_IDLE_AUDIENCES || !matters(first))) {
        if (!matters(first)) {
            come_back(first->profile->audiences);
        }
        end(first);
    }
}

/* ---- sessions -------------------------------------------------------------------------------- */

static void add_session(hub_audience *audience, hub_session *session)
{
    HUB_IS(audience, AUDIENCE);
    take_off_idle(audience);
    session->audience = audience;
    DL_PREPEND2(audience->sessions, session, audience_prev, audience_next);
}

hub_audience *hub_audience_find(const hub_principal *principal, const hub_profile *profile)
{
    hub_audience *audience = principal->audiences;
    while (audience != NULL && (audience->profile != profile || audience->is_of_session)) {
        audience = audience->next_of_principal;
    }
    return audience;
}

void hub_audience_join(hub_session *session)
{
    hub_assert(session->audience == NULL);
    hub_profile *profile = session->profile;
    sweep(profile->hub);
    hub_audience *audience = hub_audience_find(session->principal, profile);
    audience = audience != NULL ? audience : profile->audiences;
    add_session(audience, session);
    come_back(audience);
}

/* A principal as a number, also when it is forgotten meanwhile. Never 0. */
static unsigned visitor_of(const hub_principal *principal)
{
    unsigned visitor;
    HASH_VALUE(principal->name, strlen(principal->name), visitor);
    return visitor | 1;
}

/* A session has ended, and has chosen nothing else than the profile: its principal may come again. Over
 * HTTP each request of a modern client is one. */
static void note_visitor(hub_audience *own, const hub_principal *principal)
{
    unsigned visitor = visitor_of(principal);
    own->has_visitors = own->has_visitors || (own->visitor != 0 && own->visitor != visitor);
    own->visitor = visitor;
}

/* Whether a principal other than that one may come again. */
static bool awaits_others(const hub_audience *audience, const hub_principal *principal)
{
    return audience->has_visitors ||
           (audience->visitor != 0 && audience->visitor != visitor_of(principal));
}

void hub_audience_leave(hub_session *session)
{
    hub_audience *audience = session->audience;
    hub_orchestrator *hub = audience->profile->hub;
    HUB_IS(audience, AUDIENCE);
    hub_assert(audience->sessions != NULL && !audience->is_idle);
    DL_DELETE2(audience->sessions, session, audience_prev, audience_next);
    if (is_own(audience)) {
        note_visitor(audience, session->principal);
        return;
    }
    if (audience->sessions != NULL) {
        return;
    }
    if (matters(audience)) {
        DL_APPEND2(hub->idle_audiences, audience, idle_prev, idle_next);
    } else { /* it goes next, but not now: who works with it may go on */
        DL_PREPEND2(hub->idle_audiences, audience, idle_prev, idle_next);
    }
    hub->idle_audience_count++;
    audience->is_idle = true;
}

/* A session that knew the newest list of what it saw knows the newest one of what it sees now, if
 * they are the same. */
static void carry_serials(hub_session *session, const hub_exposure *from, const hub_exposure *to)
{
    hub_revision revision = hub_session_sight(session).revision;
    for (int at = 0; at < HUB_KINDS; at++) {
        hub_kind kind = (hub_kind)at;
        bool is_newest = session->listed[at] == hub_exposure_serial(from, revision, kind) &&
                         hub_shown_equal(hub_shown_in(hub_exposure_shown(from, kind), revision),
                                         hub_shown_in(hub_exposure_shown(to, kind), revision));
        session->listed[at] = is_newest ? hub_exposure_serial(to, revision, kind) : 0;
    }
}

static void move_session(hub_session *session, hub_audience *to)
{
    hub_assert(session->audience != to && session->profile == to->profile);
    hub_audience *from = session->audience;
    DL_DELETE2(from->sessions, session, audience_prev, audience_next);
    add_session(to, session);
    carry_serials(session, from->exposure, to->exposure);
    HUB_STATIONS_TELL(session_moved, session, from);
    if (from->sessions == NULL && !awaits_others(from, session->principal)) {
        from->is_left = true;
        HUB_STATIONS_TELL(audience_left, from);
    }
}

/* One that began with `initialize`, where the profile says so. */
bool hub_session_is_apart(const hub_session *session)
{
    return session->profile->settings->has_set_per_session &&
           session->revision != HUB_REVISION_NONE;
}

/* All sessions of its principal that see what it has seen so far belong to the audience. */
static void gather(hub_audience *audience, hub_session *session)
{
    hub_session *next;
    if (audience->is_of_session) {
        move_session(session, audience);
        return;
    }
    for (hub_session *at = session->audience->sessions; at != NULL; at = next) {
        next = at->audience_next;
        if (at->principal == audience->principal) {
            move_session(at, audience);
        }
    }
}

hub_err hub_audience_of_choice(hub_session *session, hub_audience **ret_audience)
{
    HUB_IS(session, SESSION);
    hub_audience *from = session->audience;
    bool is_of_session = hub_session_is_apart(session);
    if (is_of_session ? from->is_of_session : !is_own(from)) {
        *ret_audience = from;
        return HUB_OK;
    }
    hub_audience *audience = allocate(session->profile);
    if (audience == NULL) {
        return HUB_ENOMEM;
    }
    audience->is_of_session = is_of_session;
    link_principal(audience, session->principal);
    hub_principal_hold(session->principal);
    hub_err err = hub_exposure_copy(from->exposure, &audience->exposure);
    if (err == HUB_OK) {
        err = begin(audience, from);
    }
    if (err != HUB_OK) {
        end(audience);
        return err;
    }
    gather(audience, session);
    *ret_audience = audience;
    return HUB_OK;
}

/* ---- what it is ------------------------------------------------------------------------------ */

hub_audience *hub_session_audience(const hub_session *session)
{
    return session->audience;
}

hub_audience *hub_profile_audience(const hub_profile *profile)
{
    return profile->audiences;
}

hub_audience *hub_audience_next(const hub_audience *audience)
{
    return audience->next;
}

hub_session *hub_audience_sessions(const hub_audience *audience)
{
    return audience->sessions;
}

hub_session *hub_session_next_of_audience(const hub_session *session)
{
    return session->audience_next;
}

hub_orchestrator *hub_audience_hub(const hub_audience *audience)
{
    return audience->profile->hub;
}

hub_profile *hub_audience_profile(const hub_audience *audience)
{
    return audience->profile;
}

hub_exposure *hub_audience_exposure(const hub_audience *audience)
{
    return audience->exposure;
}

hub_principal *hub_audience_principal(const hub_audience *audience)
{
    return audience->principal;
}

const char *hub_audience_who(const hub_audience *audience)
{
    return audience->principal != NULL ? audience->principal->name : "";
}

bool hub_audience_is_of_session(const hub_audience *audience)
{
    return audience->is_of_session;
}

bool hub_audience_has(const hub_audience *audience, const hub_toolset *toolset)
{
    return hub_exposure_source(audience->exposure, hub_str_of(toolset->key)) != NULL;
}

void *hub_audience_part(const hub_audience *audience, const hub_station *station)
{
    return (char *)(uintptr_t)audience->parts + station->place->offset[HUB_PART_AUDIENCE];
}
