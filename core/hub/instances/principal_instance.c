/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/instances/principal_instance.h"

#include "base/clock.h"
#include "base/log.h"
#include "base/loop.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/session.h"
#include "hub/kernel/way.h"

#include <stdlib.h>
#include <utlist.h>

/* With a toolset: whose instance it is, or which ones principals have of it. */
typedef struct toolset_principals {
    hub_toolset *shared;      /* this is an instance of that one; NULL: it is none */
    hub_principal *principal; /* … whose it is; NULL once it ends */
    hub_toolset *next_of_principal;
    hub_toolset *next_instance; /* of the same toolset */
    hub_toolset *instances;     /* that there are of this one, those that end among them */
    size_t count;               /* … of them, those that do not */
} toolset_principals;

/* With a principal. */
typedef struct principal_instances {
    hub_principal *principal; /* NULL: it is not in the list of idle ones */
    struct principal_instances *next;
    struct principal_instances *prev;
    uint64_t idle_since_ms; /* monotonic */
    hub_toolset *first;
    size_t sessions;  /* that have looked */
    uint64_t version; /* another one each time when its instances, or their lists, are others; of no
                         other principal, nor of an earlier one */
    bool lacks;       /* it could not be given one */
} principal_instances;

/* With a session. */
typedef struct session_instances {
    bool has_looked;
} session_instances;

/* With the hub. */
typedef struct hub_principals {
    principal_instances *idle; /* principals without a session that have instances, longest first */
    ev_timer timer;            /* until the first of them has none any more */
    uint64_t versions;         /* given so far */
} hub_principals;

static toolset_principals *of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_PRINCIPALS_STATION);
}

static principal_instances *of_principal(const hub_principal *principal)
{
    return hub_principal_part(principal, &HUB_PRINCIPALS_STATION);
}

static hub_principals *within(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_PRINCIPALS_STATION);
}

hub_principal *hub_principal_instance_owner(const hub_toolset *own)
{
    return of(own)->principal;
}

hub_toolset *hub_principal_instance_shared(const hub_toolset *own)
{
    return of(own)->shared;
}

bool hub_principal_instance_is_for(const hub_toolset *toolset, const hub_session *session)
{
    return !hub_toolset_is_apart(toolset) ||
           of(toolset)->principal == hub_session_principal(session);
}

size_t hub_principal_instance_count(const hub_toolset *shared)
{
    return of(shared)->count;
}

/* ---- finding --------------------------------------------------------------------------------- */

static hub_toolset *skip_ended(hub_toolset *own)
{
    while (own != NULL && of(own)->principal == NULL) {
        own = of(own)->next_instance;
    }
    return own;
}

hub_toolset *hub_principal_instances_of(const hub_toolset *shared)
{
    return skip_ended(of(shared)->instances);
}

hub_toolset *hub_principal_instances_next(const hub_toolset *own)
{
    return skip_ended(of(own)->next_instance);
}

static hub_toolset *find(const hub_principal *principal, const hub_toolset *shared)
{
    hub_toolset *own = of_principal(principal)->first;
    while (own != NULL && of(own)->shared != shared) {
        own = of(own)->next_of_principal;
    }
    return own;
}

hub_toolset *hub_principal_instance_find(const hub_orchestrator *hub, hub_str principal,
                                         hub_str toolset)
{
    const hub_principal *owner = hub_principal_find(hub, principal);
    const hub_toolset *shared = hub_find_toolset(hub, toolset);
    return owner != NULL && shared != NULL ? find(owner, shared) : NULL;
}

/* ---- the end --------------------------------------------------------------------------------- */

/* What was made of its instances for its principal to see may lead to what is no more. */
static void forget_variants(const hub_orchestrator *hub, const hub_principal *principal)
{
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            hub_exposure_drop_variant(hub_audience_exposure(at), principal);
        }
    }
}

/* What the principal sees is something else now. */
static void note_change(const hub_toolset *own, const hub_principal *principal)
{
    of_principal(principal)->version = ++within(hub_toolset_hub(own))->versions;
    HUB_STATIONS_TELL(principal_sees_others, hub_toolset_hub(own), principal);
}

static void take_out(hub_toolset *own)
{
    hub_toolset **link = &of_principal(of(own)->principal)->first;
    while (*link != own) {
        link = &of(*link)->next_of_principal;
    }
    *link = of(own)->next_of_principal;
}

static void end(hub_toolset *own, bool at_once)
{
    hub_principal *principal = of(own)->principal;
    take_out(own);
    of(own)->principal = NULL; /* what the instance says from here on is for nobody */
    of(of(own)->shared)->count--;
    hub_log(HUB_LOG_DEBUG, "principal.instance_ends", HUB_F_TEXT("toolset", hub_toolset_key(own)),
            HUB_F_TEXT("principal", hub_principal_name(principal)));
    forget_variants(hub_toolset_hub(own), principal);
    note_change(own, principal);
    if (at_once) {
        hub_toolset_unuse(own);
    } else {
        hub_toolset_let_go(own);
    }
    hub_toolset_leave(own);
}

void hub_principal_instance_end(hub_toolset *own)
{
    if (of(own)->principal != NULL) {
        end(own, true);
    }
}

static void end_all_of(hub_toolset *shared, bool at_once)
{
    hub_toolset *own;
    while ((own = hub_principal_instances_of(shared)) != NULL) {
        end(own, at_once);
    }
}

static void end_all(hub_principal *principal)
{
    hub_toolset *own;
    while ((own = of_principal(principal)->first) != NULL) {
        end(own, true);
    }
}

/* ---- principals without a session ------------------------------------------------------------ */

static void take_off_idle(hub_orchestrator *hub, principal_instances *part)
{
    if (part->principal != NULL) {
        DL_DELETE(within(hub)->idle, part);
        part->principal = NULL;
    }
}

static bool has_calls(const hub_principal *principal)
{
    const hub_toolset *own = of_principal(principal)->first;
    while (own != NULL && hub_binding_calls(hub_toolset_binding(own)) == NULL) {
        own = of(own)->next_of_principal;
    }
    return own != NULL;
}

static void plan(hub_orchestrator *hub)
{
    hub_principals *all = within(hub);
    uint64_t now_ms = hub_clock_now_ms();
    ev_timer_stop(hub_loop(hub), &all->timer);
    if (all->idle != NULL) {
        uint64_t due_ms = all->idle->idle_since_ms + hub_settings_of(hub)->limits.principal_idle_ms;
        hub_loop_start_timer(hub_loop(hub), &all->timer,
                             due_ms > now_ms ? (double)(due_ms - now_ms) / 1000. : 0.);
    }
}

static void put_on_idle(hub_orchestrator *hub, hub_principal *principal)
{
    principal_instances *part = of_principal(principal);
    part->principal = principal;
    part->idle_since_ms = hub_clock_now_ms();
    DL_APPEND(within(hub)->idle, part);
    plan(hub);
}

static void on_idle(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_orchestrator *hub = timer->data;
    principal_instances *first;
    uint64_t most_ms = hub_settings_of(hub)->limits.principal_idle_ms;
    (void)loop;
    (void)events;
    while ((first = within(hub)->idle) != NULL &&
           hub_clock_now_ms() >= first->idle_since_ms + most_ms) {
        hub_principal *principal = first->principal;
        take_off_idle(hub, first);
        if (has_calls(principal)) { /* of a client that is away, or the hub's own */
            put_on_idle(hub, principal);
            return;
        }
        end_all(principal);
    }
    plan(hub);
}

/* Of the principals without a session, the first that has an instance of it and no calls goes without
 * from now on. */
static bool make_room(const hub_toolset *shared)
{
    principal_instances *at = within(hub_toolset_hub(shared))->idle;
    while (at != NULL && (find(at->principal, shared) == NULL || has_calls(at->principal))) {
        at = at->next;
    }
    if (at != NULL) {
        end(find(at->principal, shared), true);
    }
    return at != NULL;
}

static void note_session(hub_session *session)
{
    session_instances *own = hub_session_part(session, &HUB_PRINCIPALS_STATION);
    principal_instances *part = of_principal(hub_session_principal(session));
    if (!own->has_looked && !hub_session_is_closing(session)) {
        own->has_looked = true;
        part->sessions++;
        take_off_idle(hub_session_hub(session), part);
    }
}

static void session_ends(hub_session *session)
{
    const session_instances *own = hub_session_part(session, &HUB_PRINCIPALS_STATION);
    hub_principal *principal = hub_session_principal(session);
    if (own->has_looked && --of_principal(principal)->sessions == 0 &&
        of_principal(principal)->first != NULL) {
        put_on_idle(hub_session_hub(session), principal);
    }
}

/* ---- making one ------------------------------------------------------------------------------ */

static hub_err make(hub_principal *principal, hub_toolset *shared, hub_error *reterr)
{
    hub_toolset *own = NULL;
    hub_binding *binding = NULL;
    hub_err err =
        hub_toolset_create(hub_toolset_hub(shared), hub_toolset_settings_of(shared), &own);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "out of memory");
    }
    hub_toolset_make_apart(own, shared);
    of(own)->shared = shared;
    of(own)->next_instance = of(shared)->instances;
    of(shared)->instances = own;
    err = hub_toolset_prepare(own, hub_toolset_settings_of(own), &binding, reterr);
    if (err != HUB_OK) {
        hub_toolset_destroy(own);
        return err;
    }
    of(own)->principal = principal;
    of(own)->next_of_principal = of_principal(principal)->first;
    of_principal(principal)->first = own;
    of(shared)->count++;
    hub_toolset_take(own, binding);
    hub_log(HUB_LOG_DEBUG, "principal.instance", HUB_F_TEXT("toolset", hub_toolset_key(shared)),
            HUB_F_TEXT("principal", hub_principal_name(principal)),
            HUB_F_INT("instances", of(shared)->count));
    of_principal(principal)->version = ++within(hub_toolset_hub(shared))->versions;
    return HUB_OK;
}

hub_err hub_principal_instance_explain(const hub_session *session, const hub_toolset *shared,
                                       hub_error *reterr)
{
    uint32_t most = hub_settings_of(hub_toolset_hub(shared))->limits.principal_instances;
    if (strcmp(hub_session_who(session), "anonymous") == 0) {
        return hub_fail(reterr, HUB_EDENIED,
                        "it has a login for each user (credentials: principal), and the hub does "
                        "not know who is asking: connect with a token or a certificate");
    }
    if (hub_session_is_closing(session) || hub_is_stopping(hub_toolset_hub(shared)) ||
        hub_toolset_binding(shared) == NULL) {
        return hub_fail(reterr, HUB_ESTATE, "it is not in use");
    }
    if (of(shared)->count >= most) {
        return hub_fail(reterr, HUB_ELIMIT,
                        "%u users have a connection of their own, which is as many as may "
                        "(limits.principal_instances): try again later",
                        most);
    }
    return HUB_OK;
}

/* Give the session's principal an instance, if it has none. */
static bool provide(const hub_session *session, hub_toolset *shared)
{
    hub_principal *principal = hub_session_principal(session);
    hub_error why = {.code = HUB_OK};
    if (find(principal, shared) != NULL) {
        return true;
    }
    hub_err err = hub_principal_instance_explain(session, shared, &why);
    if (err == HUB_ELIMIT && make_room(shared)) {
        err = HUB_OK;
    }
    if (err == HUB_OK) {
        err = make(principal, shared, &why);
    }
    if (err != HUB_OK && !of_principal(principal)->lacks) {
        hub_log(err == HUB_EDENIED || err == HUB_ESTATE ? HUB_LOG_DEBUG : HUB_LOG_WARNING,
                "principal.no_instance", HUB_F_TEXT("toolset", hub_toolset_key(shared)),
                HUB_F_TEXT("principal", hub_principal_name(principal)),
                HUB_F_TEXT("reason", why.text));
    }
    return err == HUB_OK;
}

/* ---- what is seen ---------------------------------------------------------------------------- */

/* The toolsets that the principal has instances of, in an exposure; free it. */
static hub_source *list_others(const hub_principal *principal, size_t *ret_count)
{
    size_t count = 0;
    for (hub_toolset *own = of_principal(principal)->first; own != NULL;
         own = of(own)->next_of_principal) {
        count++;
    }
    hub_source *sources = calloc(count + 1, sizeof *sources);
    *ret_count = 0;
    for (hub_toolset *own = of_principal(principal)->first; sources != NULL && own != NULL;
         own = of(own)->next_of_principal) {
        sources[(*ret_count)++] = hub_toolset_source(own);
    }
    return sources;
}

static hub_exposure *vary(hub_exposure *exposure, hub_principal *principal)
{
    hub_exposure_others others = {.ctx = principal, .version = of_principal(principal)->version};
    hub_source *sources = list_others(principal, &others.count);
    hub_exposure *variant = NULL;
    others.sources = sources;
    if (sources == NULL || hub_exposure_get_variant(exposure, &others, &variant) != HUB_OK) {
        variant = exposure; /* rather too little: it has nothing of these toolsets */
    }
    free(sources);
    return variant;
}

/* Kept apart: it is rarely needed. A toolset may become others' while one is made: the list is read anew
 * each time. */
__attribute__((noinline)) static hub_exposure *look_again(hub_session *session,
                                                          hub_exposure *exposure)
{
    hub_principal *principal = hub_session_principal(session);
    bool lacks = false;
    note_session(session);
    for (size_t i = 0;; i++) {
        size_t count;
        const hub_source *const *sources = hub_exposure_sources(exposure, &count);
        if (i >= count) {
            break;
        }
        lacks = (sources[i]->varies && !provide(session, sources[i]->owner)) || lacks;
    }
    of_principal(principal)->lacks = lacks;
    return of_principal(principal)->first != NULL ? vary(exposure, principal) : exposure;
}

static hub_exposure *look(hub_session *session, hub_exposure *exposure)
{
    const hub_principal *principal = hub_session_principal(session);
    const session_instances *own = hub_session_part(session, &HUB_PRINCIPALS_STATION);
    const principal_instances *part = of_principal(principal);
    hub_exposure *variant = own->has_looked && !part->lacks && part->first != NULL
                                ? hub_exposure_find_variant(exposure, principal, part->version)
                                : NULL;
    return variant != NULL ? variant : look_again(session, exposure);
}

static const hub_lens LENS = {.look = look};

static void set_lens(hub_orchestrator *hub)
{
    const hub_settings *settings = hub_settings_of(hub);
    bool is_wanted = false;
    for (size_t i = 0; i < settings->toolset_count; i++) {
        is_wanted = is_wanted || settings->toolsets[i].is_per_principal;
    }
    hub_set_lens(hub, is_wanted ? &LENS : NULL);
}

/* ---- what becomes of the toolset ------------------------------------------------------------- */

static void renew(hub_toolset *own, bool rebinds)
{
    hub_error why = {.code = HUB_OK};
    hub_toolset_settings *settings =
        hub_toolset_settings_dup(hub_toolset_settings_of(of(own)->shared));
    if (settings == NULL) {
        (void)hub_fail(&why, HUB_ENOMEM, "out of memory");
    } else {
        forget_variants(hub_toolset_hub(own), of(own)->principal);
        free(hub_toolset_exchange_settings(own, settings));
        if (!rebinds || hub_toolset_rebind(own, &why) == HUB_OK) {
            return;
        }
    }
    hub_log(HUB_LOG_WARNING, "toolset.rebind_failed", HUB_F_TEXT("toolset", hub_toolset_key(own)),
            HUB_F_TEXT("principal", hub_principal_name(of(own)->principal)),
            HUB_F_TEXT("reason", why.text));
}

void hub_principal_instance_renew(hub_toolset *shared, bool rebinds)
{
    if (!hub_toolset_settings_of(shared)->is_per_principal) {
        end_all_of(shared, false);
        return;
    }
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        if (hub_toolset_list(shared, (hub_kind)kind) != NULL) {
            hub_toolset_set_list(shared, (hub_kind)kind, NULL); /* it was the hub's login's */
        }
    }
    for (hub_toolset *own = hub_principal_instances_of(shared); own != NULL;
         own = hub_principal_instances_next(own)) {
        renew(own, rebinds);
    }
}

static void rebound(hub_toolset *toolset)
{
    hub_principal_instance_renew(toolset, true);
}

static void unbound(hub_toolset *toolset)
{
    end_all_of(toolset, true);
}

static void listed(hub_toolset *toolset, hub_kind kind)
{
    (void)kind;
    if (of(toolset)->principal != NULL) {
        note_change(toolset, of(toolset)->principal);
    }
}

static void toolset_ends(hub_toolset *toolset)
{
    if (of(toolset)->shared == NULL) {
        return;
    }
    hub_toolset **link = &of(of(toolset)->shared)->instances;
    while (*link != toolset) {
        link = &of(*link)->next_instance;
    }
    *link = of(toolset)->next_instance;
}

/* ---- the station ----------------------------------------------------------------------------- */

static bool wants_toolset(const hub_toolset *toolset)
{
    return hub_toolset_settings_of(toolset)->is_per_principal;
}

/* Whatever has led a call here: an instance works for its owner alone. */
static hub_verdict begin(hub_call *call, hub_way *way)
{
    const hub_session *session = hub_call_session(call);
    hub_error why = {.code = HUB_OK, .text = "it is another user's"};
    if (hub_toolset_is_apart(way->toolset) && session != NULL &&
        hub_principal_instance_is_for(way->toolset, session)) {
        return HUB_GO_ON;
    }
    if (!hub_toolset_is_apart(way->toolset) && session != NULL &&
        hub_principal_instance_explain(session, way->toolset, &why) == HUB_OK) {
        (void)hub_fail(&why, HUB_ESTATE, "it is not in use: try again");
    }
    hub_error_prefix(&why, "toolset \"%s\"", hub_toolset_key(way->toolset));
    hub_call_refuse(call, PATCHBAY_UNAVAILABLE, hub_str_of(why.text));
    return HUB_ANSWERED;
}

static bool matters(const hub_orchestrator *hub, const hub_principal *principal)
{
    (void)hub;
    return of_principal(principal)->first != NULL;
}

static hub_err hub_begins(hub_orchestrator *hub, hub_error *reterr)
{
    (void)reterr;
    ev_timer_init(&within(hub)->timer, on_idle, 0., 0.);
    within(hub)->timer.data = hub;
    set_lens(hub);
    return HUB_OK;
}

/* A principal may be forgotten when too many are idle. */
static void principal_ends(hub_orchestrator *hub, hub_principal *principal)
{
    take_off_idle(hub, of_principal(principal));
    end_all(principal);
}

static void hub_ends(hub_orchestrator *hub)
{
    hub_set_lens(hub, NULL);
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        end_all_of(hub_toolset_at(hub, i), true);
    }
    while (within(hub)->idle != NULL) {
        take_off_idle(hub, within(hub)->idle);
    }
    plan(hub);
}

static hub_station_place place;

const hub_station HUB_PRINCIPALS_STATION = {
    .name = "principals",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_principals),
              [HUB_PART_PRINCIPAL] = sizeof(principal_instances),
              [HUB_PART_SESSION] = sizeof(session_instances),
              [HUB_PART_TOOLSET] = sizeof(toolset_principals)},
    .wants_toolset = wants_toolset,
    .begin = begin,
    .hub_begins = hub_begins,
    .hub_ends = hub_ends,
    .settings_changed = set_lens,
    .principal_matters = matters,
    .principal_ends = principal_ends,
    .session_ends = session_ends,
    .toolset_listed = listed,
    .toolset_unbound = unbound,
    .toolset_rebound = rebound,
    .toolset_ends = toolset_ends,
};
