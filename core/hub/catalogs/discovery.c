/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/discovery.h"

#include "base/cause.h"
#include "base/clock.h"
#include "base/limits.h"
#include "hub/catalogs/catalog_cache.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/catalogs/discovery_run.h"
#include "hub/instances/principal_instance.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"

#include <stdlib.h>
#include <utlist.h>

enum {
    RETRY_AFTER_MS = 10000, /* how long a failed attempt keeps lists from waiting for the next */
    RETRY_LEAST_MS = 2000,  /* until a server without a catalog is asked again; doubled each time */
    RETRY_MOST_MS = 60000,
    REFRESH_DELAY_MS = 20, /* so that the list leaves before servers are started */
};

/* ---- what is known --------------------------------------------------------------------------- */

bool hub_discovery_is_asked(const hub_toolset *toolset)
{
    return hub_catalogs_of(toolset)->discovery != NULL || hub_shared_is_sought(toolset);
}

bool hub_discovery_is_unknown(const hub_toolset *toolset)
{
    return hub_toolset_is_deferred(toolset) && hub_toolset_binding(toolset) != NULL &&
           !hub_toolset_is_stand_in(toolset) &&
           (hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL ||
            (hub_discovery_is_asked(toolset) && !hub_catalogs_of(toolset)->is_refresh));
}

static bool has_failed_lately(const hub_toolset *toolset)
{
    return hub_catalogs_of(toolset)->failed_at_ms != 0 &&
           hub_clock_now_ms() - hub_catalogs_of(toolset)->failed_at_ms < RETRY_AFTER_MS;
}

bool hub_discovery_is_pending(const hub_toolset *toolset)
{
    return hub_discovery_is_unknown(toolset) &&
           (hub_discovery_is_asked(toolset) || !has_failed_lately(toolset));
}

int64_t hub_discovery_learned_at(const hub_toolset *toolset)
{
    return hub_catalogs_of(toolset)->learned_at_ms;
}

bool hub_discovery_is_late(const hub_toolset *toolset)
{
    return hub_catalogs_of(toolset)->is_late;
}

const char *hub_discovery_failure(const hub_toolset *toolset)
{
    const toolset_catalogs *part = hub_catalogs_of(toolset);
    bool is_failed = !hub_discovery_is_asked(toolset) && part->failed_at_ms != 0;
    return !is_failed ? NULL : part->failure != NULL ? part->failure : "it cannot be reached";
}

bool hub_discovery_has_failed(const hub_toolset *toolset)
{
    return hub_toolset_is_deferred(toolset) && hub_toolset_binding(toolset) != NULL &&
           !hub_discovery_is_asked(toolset) &&
           (hub_toolset_state(toolset) == PATCHBAY_STATE_FAILED ||
            hub_catalogs_of(toolset)->failed_at_ms != 0);
}

/* A clock that was set back makes a catalog old, too. */
static bool is_old(const hub_toolset *toolset)
{
    int64_t age_ms = hub_clock_wall_ms() - hub_catalogs_of(toolset)->learned_at_ms;
    return age_ms < 0 ||
           age_ms >= (int64_t)hub_settings_of(hub_toolset_hub(toolset))->limits.catalog_ttl_ms;
}

/* Whether the catalog is to be asked for behind the back of whoever looks at it. */
static bool wants_refresh(const hub_toolset *toolset)
{
    return hub_toolset_binding(toolset) != NULL &&
           hub_binding_is_deferred(hub_toolset_binding(toolset)) &&
           !hub_toolset_is_stand_in(toolset) && !hub_discovery_is_unknown(toolset) &&
           !hub_discovery_is_asked(toolset) &&
           hub_toolset_state(toolset) != PATCHBAY_STATE_CONNECTING && !has_failed_lately(toolset) &&
           is_old(toolset);
}

void hub_discovery_note_wait(hub_toolset *toolset)
{
    uint64_t waited_ms = hub_clock_now_ms() - hub_catalogs_of(toolset)->asked_at_ms;
    hub_catalogs_of(toolset)->is_late =
        hub_catalogs_of(toolset)->is_late ||
        2 * waited_ms >= hub_settings_of(hub_toolset_hub(toolset))->limits.discover_timeout_ms;
}

/* What the server says now is remembered, and told to other replicas. */
static void note(hub_toolset *toolset)
{
    hub_catalog_cache_note(toolset);
    hub_shared_note(toolset);
}

void hub_discovery_take(hub_toolset *toolset)
{
    hub_catalogs_of(toolset)->learned_at_ms = hub_clock_wall_ms();
    if (!hub_catalogs_of(toolset)->is_recalled && hub_catalogs_of(toolset)->discovery == NULL &&
        hub_toolset_state(toolset) != PATCHBAY_STATE_CONNECTING) {
        note(toolset);
    }
}

/* Calls of tools that an earlier hub heard of, and that the server does not have. They have not
 * been sent: it has only just become ready. */
static void fail_promised(hub_toolset *toolset)
{
    hub_call *next;
    for (hub_call *call = hub_binding_calls(hub_toolset_binding(toolset)); call != NULL;
         call = next) {
        const call_catalogs *part = hub_call_find_part(call, &HUB_CATALOGS_STATION);
        hub_str name = hub_str_of(part != NULL ? part->promised : NULL);
        next = hub_call_next_of_binding(call);
        if (name.len == 0 ||
            hub_catalog_find(hub_toolset_list(toolset, HUB_KIND_TOOL), name) != NULL) {
            continue;
        }
        hub_error why;
        (void)hub_fail(&why, HUB_ENOTFOUND,
                       "toolset \"%s\": the server has no tool \"" HUB_STR_FMT
                       "\" any more: list the tools again",
                       hub_toolset_settings_of(toolset)->key, HUB_STR_ARG(name));
        hub_call_abort(call, PATCHBAY_INVALID_INPUT, hub_str_of(why.text));
        next = hub_binding_calls(hub_toolset_binding(toolset)); /* what it was may be gone */
    }
}

void hub_discovery_forget_failure(hub_toolset *toolset)
{
    toolset_catalogs *part = hub_catalogs_of(toolset);
    part->failed_at_ms = 0;
    part->failures = 0;
    free(part->failure);
    part->failure = NULL;
}

static void confirm(hub_toolset *toolset)
{
    hub_catalogs_of(toolset)->learned_at_ms = hub_clock_wall_ms();
    hub_discovery_forget_failure(toolset);
    ev_timer_stop(hub_loop(hub_toolset_hub(toolset)), &hub_catalogs_of(toolset)->retry);
    if (hub_catalogs_of(toolset)->is_recalled && hub_toolset_list(toolset, HUB_KIND_TOOL) != NULL) {
        hub_catalogs_of(toolset)->is_recalled = false;
        hub_toolset_review(toolset);
        fail_promised(toolset);
    }
    note(toolset);
}

/* ---- asking ---------------------------------------------------------------------------------- */

typedef enum ask_reason {
    AWAITED,   /* somebody needs it */
    RETRIED,   /* somebody needed it */
    REFRESHED, /* it is known, and old */
    CALLED,    /* somebody has named the toolset */
} ask_reason;

/* Whoever is told may forget others that are to be, and have new ones wait: those are not meant. */
void hub_discovery_tell(hub_toolset *toolset, hub_err err, hub_str reason)
{
    toolset_catalogs *part = hub_catalogs_of(toolset);
    hub_catalog_waiter *waiter;
    DL_FOREACH(part->waiters, waiter)
    {
        waiter->is_told = true;
    }
    DL_CONCAT(part->telling, part->waiters);
    part->waiters = NULL;
    while (part->telling != NULL) {
        waiter = part->telling;
        DL_DELETE(part->telling, waiter);
        waiter->on_known(waiter, err, reason);
    }
}

static void add_waiter(hub_toolset *toolset, hub_catalog_waiter *waiter)
{
    toolset_catalogs *part = hub_catalogs_of(toolset);
    waiter->is_told = false;
    DL_APPEND(part->waiters, waiter);
}

/* Ask again, later: the first time soon, then ever later. The toolsets of a hub do not agree on
 * when. */
static void plan_retry(hub_toolset *toolset)
{
    uint64_t delay_ms = RETRY_LEAST_MS;
    for (unsigned i = 1; i < hub_catalogs_of(toolset)->failures && delay_ms < RETRY_MOST_MS; i++) {
        delay_ms *= 2;
    }
    delay_ms = delay_ms < RETRY_MOST_MS ? delay_ms : RETRY_MOST_MS;
    uint64_t spread = hub_str_hash(hub_str_of(hub_toolset_settings_of(toolset)->key)) +
                      hub_catalogs_of(toolset)->failures * 97u;
    delay_ms -= delay_ms / 4 * (spread % 256) / 256;
    ev_timer_stop(hub_loop(hub_toolset_hub(toolset)), &hub_catalogs_of(toolset)->retry);
    ev_timer_set(&hub_catalogs_of(toolset)->retry, (double)delay_ms / 1000., 0.);
    ev_timer_start(hub_loop(hub_toolset_hub(toolset)), &hub_catalogs_of(toolset)->retry);
}

static void log_outcome(const hub_toolset *toolset, const hub_discovery_run *run, hub_str failure)
{
    bool is_good = failure.ptr == NULL;
    hub_name_list names = hub_toolset_tool_names(toolset);
    hub_log_field fields[7] = {
        HUB_F_TEXT("serverName", hub_toolset_key(toolset)),
        HUB_F_INT("toolCount", names.count),
    };
    size_t count = 2;
    if (!is_good) {
        fields[count++] = HUB_F_STR("errorMessage", failure);
    }
    if (run != NULL) { /* somebody has asked */
        fields[count++] = HUB_F_TEXT("traceId", hub_discovery_trace(run));
    }
    if (names.count > 0) { /* that are there, or that are not */
        fields[count++] = HUB_F_TEXT("toolNames", names.text);
    }
    fields[count] = HUB_F_TEXT("by", HUB_BY_SERVER);
    hub_log_fields(is_good ? HUB_LOG_INFO : HUB_LOG_WARNING,
                   is_good ? "tools.discovery.server.success" : "tools.discovery.server.failed",
                   fields);
}

void hub_discovery_confirm(hub_toolset *toolset)
{
    bool is_back =
        hub_catalogs_of(toolset)->failed_at_ms != 0 && hub_catalogs_of(toolset)->discovery == NULL;
    confirm(toolset);
    if (is_back) {
        log_outcome(toolset, NULL, (hub_str){.ptr = NULL});
    }
}

static void note_failure(hub_toolset *toolset, const hub_discovery_run *run, int32_t status,
                         hub_str reason)
{
    hub_str kept = hub_str_from(reason, 0);
    kept.len = kept.len < HUB_LIMIT_REASON_BYTES ? kept.len : HUB_LIMIT_REASON_BYTES;
    free(hub_catalogs_of(toolset)->failure);
    hub_catalogs_of(toolset)->failure = hub_str_dup(kept);
    hub_catalogs_of(toolset)->failed_status = status;
    hub_catalogs_of(toolset)->failed_at_ms = hub_clock_now_ms();
    hub_catalogs_of(toolset)->failures++;
    log_outcome(toolset, run, reason);
    hub_shared_give_up(toolset);
    if (hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL) {
        plan_retry(toolset);
    }
    hub_discovery_tell(toolset, HUB_EUNAVAILABLE, reason);
}

static void on_discovered(void *ctx, const hub_outcome *outcome)
{
    hub_toolset *toolset = ctx;
    hub_discovery_run *run = hub_discovery_leave(toolset);
    hub_catalogs_of(toolset)->discovery = NULL;
    if (outcome->status == PATCHBAY_RESULT) {
        if (hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL) {
            hub_toolset_end_deferral(toolset); /* it has no tools */
        }
        confirm(toolset);
        log_outcome(toolset, run, (hub_str){.ptr = NULL});
        hub_discovery_tell(toolset, HUB_OK, HUB_STR_EMPTY);
        hub_discovery_count(run);
    } else {
        note_failure(toolset, run, outcome->status, outcome->json);
    }
    hub_discovery_ended(hub_toolset_hub(toolset));
    hub_discovery_look_after(run);
}

static void ask_server(hub_toolset *toolset, ask_reason reason)
{
    static const char *const PARAMS[] = {
        [AWAITED] = "{}",
        [RETRIED] = "{}",
        [REFRESHED] = "{\"refresh\":true}",
        [CALLED] = "{\"now\":true}",
    };
    uint32_t ceiling_ms = hub_settings_of(hub_toolset_hub(toolset))->limits.call_ceiling_ms;
    patchbay_request request = {
        .args_json = HUB_STR("{}"),
        .method = HUB_STR(PATCHBAY_METHOD_DISCOVER),
        .params_json = hub_str_of(PARAMS[reason]),
    };
    hub_err err = hub_toolset_request(toolset, &request, ceiling_ms, on_discovered, toolset,
                                      &hub_catalogs_of(toolset)->discovery);
    if (err != HUB_OK) {
        hub_discovery_run *run = hub_discovery_leave(toolset);
        note_failure(toolset, run, PATCHBAY_UNAVAILABLE,
                     err == HUB_ENOMEM ? hub_str_of(hub_err_text(err))
                                       : HUB_STR("too many calls are in flight"));
        hub_discovery_ended(hub_toolset_hub(toolset));
        hub_discovery_look_after(run);
    }
}

static void begin_asking(hub_toolset *toolset, hub_discovery_run *run, ask_reason reason)
{
    bool is_known = !hub_discovery_is_unknown(toolset);
    ev_timer_stop(hub_loop(hub_toolset_hub(toolset)), &hub_catalogs_of(toolset)->retry);
    hub_catalogs_of(toolset)->asked_at_ms = hub_clock_now_ms();
    hub_catalogs_of(toolset)->is_late =
        reason == RETRIED; /* it failed before: no list waits for it */
    hub_catalogs_of(toolset)->is_refresh = reason == REFRESHED || (reason == CALLED && is_known);
    hub_discovery_join(run, toolset);
}

/* Unless another replica has done so. */
static void ask(hub_toolset *toolset, hub_discovery_run *run, ask_reason reason)
{
    begin_asking(toolset, run, reason);
    if (reason == CALLED || !hub_shared_seek(toolset)) {
        ask_server(toolset, reason);
    }
}

void hub_discovery_sought(hub_toolset *toolset)
{
    bool is_refresh = hub_catalogs_of(toolset)->is_refresh;
    if (hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL || (is_refresh && is_old(toolset))) {
        ask_server(toolset, is_refresh ? REFRESHED : AWAITED);
        return;
    }
    hub_discovery_run *run = hub_discovery_leave(toolset);
    hub_discovery_forget_failure(toolset);
    hub_discovery_tell(toolset, HUB_OK, HUB_STR_EMPTY);
    hub_discovery_count(run);
    hub_discovery_ended(hub_toolset_hub(toolset));
    hub_discovery_look_after(run);
}

void hub_discovery_want(hub_toolset *toolset, hub_catalog_waiter *waiter, hub_discovery_run *run)
{
    if (!hub_discovery_is_unknown(toolset)) {
        if (waiter != NULL) {
            waiter->on_known(waiter, HUB_OK, HUB_STR_EMPTY);
        }
        return;
    }
    if (waiter != NULL) {
        add_waiter(toolset, waiter);
    }
    if (!hub_discovery_is_asked(toolset)) {
        ask(toolset, run, AWAITED);
    }
}

void hub_discovery_try(hub_toolset *toolset, hub_catalog_waiter *waiter, hub_discovery_run *run)
{
    if (hub_toolset_is_stand_in(toolset)) {
        hub_discovery_want(toolset, waiter, run); /* there is nothing to ask */
        return;
    }
    if (waiter != NULL) {
        add_waiter(toolset, waiter);
    }
    if (!hub_discovery_is_asked(toolset)) {
        ask(toolset, run, CALLED);
    }
}

void hub_discovery_ask_anew(hub_toolset *toolset, hub_catalog_waiter *waiter,
                            hub_discovery_run *run)
{
    if (!hub_discovery_is_asked(toolset) && hub_toolset_is_deferred(toolset) &&
        hub_toolset_list(toolset, HUB_KIND_TOOL) != NULL) {
        hub_catalogs_of(toolset)->is_recalled = true; /* calls meanwhile may be of other tools */
        hub_toolset_review(toolset);
        if (waiter != NULL) {
            add_waiter(toolset, waiter);
        }
        begin_asking(toolset, run, AWAITED);
        ask_server(toolset, AWAITED);
    } else {
        hub_discovery_want(toolset, waiter, run);
    }
}

void hub_discovery_unwait(hub_toolset *toolset, hub_catalog_waiter *waiter)
{
    toolset_catalogs *part = hub_catalogs_of(toolset);
    if (waiter->is_told) {
        DL_DELETE(part->telling, waiter);
    } else {
        DL_DELETE(part->waiters, waiter);
    }
}

bool hub_discovery_is_due(const hub_toolset *toolset)
{
    return !hub_discovery_is_asked(toolset) &&
           (hub_discovery_is_unknown(toolset) ||
            (hub_toolset_binding(toolset) != NULL && hub_catalogs_of(toolset)->is_recalled));
}

void hub_discovery_wake(hub_toolset *toolset, hub_discovery_run *run)
{
    ask_reason reason = hub_discovery_is_unknown(toolset) ? AWAITED : REFRESHED;
    begin_asking(toolset, run, reason);
    ask_server(toolset, reason);
}

bool hub_discovery_stop(hub_toolset *toolset)
{
    hub_call *call = hub_catalogs_of(toolset)->discovery;
    bool is_awaited = hub_discovery_is_asked(toolset) && !hub_catalogs_of(toolset)->is_refresh;
    hub_catalogs_of(toolset)->discovery = NULL;
    hub_shared_unseek(toolset);
    ev_timer_stop(hub_loop(hub_toolset_hub(toolset)), &hub_catalogs_of(toolset)->retry);
    hub_discovery_look_after(hub_discovery_leave(toolset));
    if (call != NULL) {
        hub_call_drop(call);
    }
    return is_awaited;
}

static void on_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_toolset *toolset = timer->data;
    if (hub_discovery_is_unknown(toolset) && !hub_discovery_is_asked(toolset) &&
        !hub_is_stopping(hub_toolset_hub(toolset))) {
        hub_discovery_run *run =
            hub_discovery_begin_traced(hub_toolset_hub(toolset), 1, HUB_STR_EMPTY);
        ask(toolset, run, RETRIED);
        hub_discovery_asked(run);
    }
}

/* ---- asking many ----------------------------------------------------------------------------- */

static bool waits(const hub_toolset *toolset)
{
    return hub_discovery_is_pending(toolset) && !hub_discovery_is_asked(toolset);
}

/* A toolset as it is for who sees that, if it is active there and passes the test; else NULL. */
static hub_toolset *find_seen(const hub_session *session, hub_toolset *toolset,
                              bool (*passes)(const hub_toolset *))
{
    if (!passes(toolset) && !hub_toolset_is_stand_in(toolset)) {
        return NULL; /* as nearly always: nothing need be looked up */
    }
    const hub_source *source =
        hub_exposure_source(hub_session_exposure(session), hub_str_of(hub_toolset_key(toolset)));
    hub_toolset *own = source != NULL ? source->owner : NULL;
    return own != NULL && passes(own) ? own : NULL;
}

void hub_discovery_ask(const hub_session *session, hub_str meta)
{
    hub_orchestrator *hub = hub_session_hub(session);
    size_t count = 0;
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        count += find_seen(session, hub_toolset_at(hub, i), waits) != NULL;
    }
    hub_discovery_run *run = hub_discovery_begin(hub, count, meta);
    for (size_t i = 0; count > 0 && i < hub_toolset_total(hub); i++) {
        /* Still: others may have changed that. */
        hub_toolset *toolset = find_seen(session, hub_toolset_at(hub, i), waits);
        if (toolset != NULL) {
            ask(toolset, run, AWAITED);
        }
    }
    hub_discovery_asked(run);
}

/* The toolset behind that one (NULL: the first), instances of principals included; NULL: it was the last.
 * `*at` is where it is in the registry, 0 at the beginning. */
static hub_toolset *find_next(const hub_orchestrator *hub, hub_toolset *last, size_t *at)
{
    hub_toolset *next = last == NULL                 ? NULL
                        : hub_toolset_is_apart(last) ? hub_principal_instances_next(last)
                                                     : hub_principal_instances_of(last);
    if (next != NULL) {
        return next;
    }
    return *at < hub_toolset_total(hub) ? hub_toolset_at(hub, (*at)++) : NULL;
}

/* Whether somebody still has the toolset that a list was asked for with. */
static bool is_looked_at(const hub_orchestrator *hub, const hub_toolset *toolset)
{
    for (size_t i = 0; hub_catalogs_of(toolset)->is_looked_at && i < hub_profile_total(hub); i++) {
        for (const hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            if (hub_audience_has(at, toolset)) {
                return true;
            }
        }
    }
    return false;
}

static void on_refresh(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_orchestrator *hub = timer->data;
    size_t count = 0;
    size_t at = 0;
    hub_toolset *toolset = NULL;
    while (!hub_is_stopping(hub) && (toolset = find_next(hub, toolset, &at)) != NULL) {
        count += wants_refresh(toolset) && is_looked_at(hub, toolset);
    }
    hub_discovery_run *run =
        hub_discovery_begin_traced(hub, count, hub_str_of(hub_catalogs_with(hub)->refresh_trace));
    at = 0;
    while (count > 0 && (toolset = find_next(hub, toolset, &at)) != NULL) {
        if (wants_refresh(toolset) && is_looked_at(hub, toolset)) {
            ask(toolset, run, REFRESHED);
        }
    }
    hub_discovery_asked(run);
    at = 0;
    while ((toolset = find_next(hub, toolset, &at)) != NULL) {
        hub_catalogs_of(toolset)->is_looked_at = false;
    }
    hub_catalogs_with(hub)->refresh_trace[0] = '\0';
}

void hub_discovery_refresh(const hub_session *session, hub_str meta)
{
    hub_orchestrator *hub = hub_session_hub(session);
    bool is_needed = false;
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = find_seen(session, hub_toolset_at(hub, i), wants_refresh);
        if (toolset != NULL) {
            hub_catalogs_of(toolset)->is_looked_at = true;
            is_needed = true;
        }
    }
    if (!is_needed) {
        return;
    }
    if (!ev_is_active(&hub_catalogs_with(hub)->refresh)) {
        hub_discovery_keep_trace(hub_trace_id_in(meta), hub_catalogs_with(hub)->refresh_trace);
        ev_timer_set(&hub_catalogs_with(hub)->refresh, REFRESH_DELAY_MS / 1000., 0.);
        ev_timer_start(hub_loop(hub), &hub_catalogs_with(hub)->refresh);
    }
}

/* ---- begin and end --------------------------------------------------------------------------- */

void hub_discovery_init(hub_orchestrator *hub)
{
    ev_timer_init(&hub_catalogs_with(hub)->refresh, on_refresh, 0., 0.);
    hub_catalogs_with(hub)->refresh.data = hub;
}

void hub_discovery_init_toolset(hub_toolset *toolset)
{
    ev_timer_init(&hub_catalogs_of(toolset)->retry, on_retry, 0., 0.);
    hub_catalogs_of(toolset)->retry.data = toolset;
}
