/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/instances/session_instance.h"

#include "base/log.h"
#include "base/share.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/way.h"

#include <stdlib.h>

/* With a toolset: whose own instance it is, or which own instances sessions have of it. */
typedef struct toolset_instances {
    hub_toolset *shared;  /* this is one session's own instance of that one; else NULL */
    hub_session *session; /* … whose it is; NULL once it ends */
    hub_toolset *next_of_session;
    hub_toolset *next_instance; /* of the same toolset */
    hub_toolset *instances;     /* that sessions have of this one */
    size_t count;
    bool has_told_sharing; /* the log knows that clients without a session share it */
} toolset_instances;

/* With a session. */
typedef struct session_instances {
    hub_toolset *first;
} session_instances;

static toolset_instances *of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_INSTANCES_STATION);
}

static session_instances *of_session(const hub_session *session)
{
    return hub_session_part(session, &HUB_INSTANCES_STATION);
}

hub_toolset *hub_session_instance_first(const hub_session *session)
{
    return of_session(session)->first;
}

hub_toolset *hub_session_instance_next(const hub_toolset *own)
{
    return of(own)->next_of_session;
}

hub_toolset *hub_session_instances_of(const hub_toolset *toolset)
{
    return of(toolset)->instances;
}

hub_toolset *hub_session_instances_next(const hub_toolset *own)
{
    return of(own)->next_instance;
}

size_t hub_session_instance_count(const hub_toolset *toolset)
{
    return of(toolset)->count;
}

hub_session *hub_session_instance_owner(const hub_toolset *own)
{
    return of(own)->session;
}

hub_toolset *hub_session_instance_shared(const hub_toolset *own)
{
    return of(own)->shared;
}

/* ---- finding --------------------------------------------------------------------------------- */

static hub_toolset *find(const hub_session *session, const hub_toolset *toolset)
{
    hub_toolset *own = of_session(session)->first;
    while (own != NULL && of(own)->shared != toolset) {
        own = of(own)->next_of_session;
    }
    return own;
}

hub_toolset *hub_session_instance_find(const hub_session *session, hub_toolset *toolset)
{
    hub_toolset *own = session != NULL ? find(session, toolset) : NULL;
    return own != NULL ? own : toolset;
}

/* Whether the session is served by the shared instance, also where sessions have their own. */
static bool is_shared_by(const hub_session *session, hub_toolset *toolset)
{
    if (!hub_toolset_settings_of(toolset)->sharing_session) {
        return true;
    }
    if (hub_session_is_one_request(session) && !of(toolset)->has_told_sharing) {
        of(toolset)->has_told_sharing = true;
        hub_log(HUB_LOG_WARNING, "toolset.shared", HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                HUB_F_TEXT("reason", "over HTTP, clients of 2026-07-28 have no session: they share "
                                     "one instance in spite of sharing: session"));
    }
    return hub_session_is_one_request(session);
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void join(hub_toolset *own, hub_toolset *shared, hub_session *session)
{
    of(own)->next_of_session = of_session(session)->first;
    of_session(session)->first = own;
    of(own)->next_instance = of(shared)->instances;
    of(shared)->instances = own;
    of(shared)->count++;
}

static void take_out(hub_toolset *own)
{
    hub_toolset **link = &of_session(of(own)->session)->first;
    while (*link != own) {
        link = &of(*link)->next_of_session;
    }
    *link = of(own)->next_of_session;
    link = &of(of(own)->shared)->instances;
    while (*link != own) {
        link = &of(*link)->next_instance;
    }
    *link = of(own)->next_instance;
    of(of(own)->shared)->count--;
}

static hub_err make(hub_session *session, hub_toolset *shared, hub_toolset **ret_own,
                    hub_error *reterr)
{
    hub_toolset *own = NULL;
    hub_binding *binding = NULL;
    hub_err err =
        hub_toolset_create(hub_toolset_hub(shared), hub_toolset_settings_of(shared), &own);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "out of memory");
    }
    of(own)->shared = shared;
    of(own)->session = session;
    hub_toolset_make_own(own, shared);
    err = hub_toolset_prepare(own, hub_toolset_settings_of(own), &binding, reterr);
    if (err != HUB_OK) {
        hub_toolset_destroy(own);
        return err;
    }
    join(own, shared, session);
    hub_toolset_take(own, binding);
    hub_log(HUB_LOG_DEBUG, "session.instance", HUB_F_TEXT("toolset", hub_toolset_key(shared)),
            HUB_F_INT("session", hub_session_number(session)),
            HUB_F_INT("instances", of(shared)->count));
    *ret_own = own;
    return HUB_OK;
}

/* How many sessions of one client have one. */
static size_t count_of(const hub_toolset *toolset, hub_str whose)
{
    size_t count = 0;
    for (const hub_toolset *own = of(toolset)->instances; own != NULL;
         own = of(own)->next_instance) {
        char text[HUB_WHOSE_BYTES];
        count += hub_str_eq(hub_session_whose(of(own)->session, text), whose);
    }
    return count;
}

static hub_err check_limit(const hub_session *session, const hub_toolset *toolset,
                           hub_error *reterr)
{
    uint32_t most = hub_settings_of(hub_toolset_hub(toolset))->limits.session_instances;
    char text[HUB_WHOSE_BYTES];
    hub_str whose = hub_session_whose(session, text);
    size_t own = count_of(toolset, whose);
    if (hub_share_may(most, of(toolset)->count, own, 1)) {
        return HUB_OK;
    }
    return hub_fail(reterr, HUB_ELIMIT,
                    "toolset \"%s\": %zu sessions have an instance of their own, %zu of them of "
                    "\"" HUB_STR_FMT "\", which is as many as it may have "
                    "(limits.session_instances: %u): try again when one has ended",
                    hub_toolset_key(toolset), of(toolset)->count, own, HUB_STR_ARG(whose), most);
}

hub_err hub_session_instance_get(hub_session *session, hub_toolset *toolset,
                                 hub_toolset **ret_toolset, hub_error *reterr)
{
    if (is_shared_by(session, toolset)) {
        *ret_toolset = toolset;
        return HUB_OK;
    }
    hub_toolset *own = find(session, toolset);
    if (own != NULL) {
        *ret_toolset = own;
        return HUB_OK;
    }
    if (hub_session_is_closing(session) || hub_toolset_binding(toolset) == NULL) {
        return hub_fail(reterr, HUB_ESTATE, "toolset \"%s\" is not in use",
                        hub_toolset_key(toolset));
    }
    hub_err err = check_limit(session, toolset, reterr);
    return err == HUB_OK ? make(session, toolset, ret_toolset, reterr) : err;
}

static void end(hub_toolset *own, bool at_once)
{
    take_out(own);
    of(own)->session = NULL; /* what the instance says from here on is for nobody */
    if (at_once) {
        hub_toolset_unuse(own);
    } else {
        hub_toolset_let_go(own);
    }
    hub_toolset_leave(own);
}

static void end_all(hub_session *session)
{
    while (of_session(session)->first != NULL) {
        end(of_session(session)->first, true);
    }
}

/* ---- what becomes of the toolset ------------------------------------------------------------- */

static bool has_place(const hub_toolset *own)
{
    const hub_toolset *shared = of(own)->shared;
    const hub_audience *audience = hub_session_audience(of(own)->session);
    return hub_toolset_settings_of(shared)->sharing_session && hub_audience_has(audience, shared);
}

static void sweep(hub_toolset *toolset, bool at_once)
{
    hub_toolset *own = of(toolset)->instances;
    while (own != NULL) {
        if (has_place(own)) {
            own = of(own)->next_instance;
        } else {
            end(own, at_once);
            own = of(toolset)->instances; /* others may have gone with what that caused */
        }
    }
}

static void renew(hub_toolset *own, bool rebinds)
{
    hub_error why = {.code = HUB_OK};
    hub_toolset_settings *settings =
        hub_toolset_settings_dup(hub_toolset_settings_of(of(own)->shared));
    if (settings == NULL) {
        (void)hub_fail(&why, HUB_ENOMEM, "out of memory");
    } else {
        free(hub_toolset_exchange_settings(own, settings));
        if (!rebinds || hub_toolset_rebind(own, &why) == HUB_OK) {
            return;
        }
    }
    hub_log(HUB_LOG_WARNING, "toolset.rebind_failed",
            HUB_F_TEXT("toolset", hub_toolset_key(of(own)->shared)),
            HUB_F_INT("session", hub_session_number(of(own)->session)),
            HUB_F_TEXT("reason", why.text));
}

void hub_session_instance_renew(hub_toolset *toolset, bool rebinds)
{
    if (!hub_toolset_settings_of(toolset)->sharing_session) {
        sweep(toolset, false);
    }
    for (hub_toolset *own = of(toolset)->instances; own != NULL; own = of(own)->next_instance) {
        renew(own, rebinds);
    }
}

/* ---- the station ----------------------------------------------------------------------------- */

static bool wants_toolset(const hub_toolset *toolset)
{
    return hub_toolset_settings_of(toolset)->sharing_session && !hub_toolset_is_own(toolset);
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    hub_error why = {.code = HUB_OK};
    if (hub_session_instance_get(hub_call_session(call), way->toolset, &way->toolset, &why) !=
        HUB_OK) {
        hub_call_fail(call, PATCHBAY_UNAVAILABLE, hub_str_of(why.text));
        return HUB_ANSWERED;
    }
    return HUB_GO_ON;
}

static void renew_all(hub_toolset *toolset)
{
    hub_session_instance_renew(toolset, true);
}

static hub_station_place place;

const hub_station HUB_INSTANCES_STATION = {
    .name = "instances",
    .place = &place,
    .bytes = {[HUB_PART_TOOLSET] = sizeof(toolset_instances),
              [HUB_PART_SESSION] = sizeof(session_instances)},
    .wants_toolset = wants_toolset,
    .begin = begin,
    .session_ends = end_all,
    .toolset_less = sweep,
    .toolset_rebound = renew_all,
};
