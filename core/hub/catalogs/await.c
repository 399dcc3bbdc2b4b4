/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Requests that wait for the toolsets that they may be about: see parking.h.
 * spec: MCP 2026-07-28 basic/patterns/progress (the value increases with each notification)
 */
#include "base/limits.h"
#include "hub/catalogs/discovery.h"
#include "hub/catalogs/parking_internal.h"
#include "hub/instances/principal_instance.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/progress.h"

#include <stdlib.h>

/* A toolset that a request waits for. */
struct parked_wait {
    hub_catalog_waiter waiter; /* first: a waiter is its wait */
    parked *parked;
    hub_toolset *toolset; /* NULL: it has answered, or nobody waits for it any more */
};

/* ---- whom it concerns ------------------------------------------------------------------------ */

/* The toolset of a source that is not known and may have what is called so; else NULL. */
static hub_toolset *find_silent(const hub_exposure *exposure, const hub_source *source,
                                hub_kind kind, hub_str name, bool *ret_is_named)
{
    hub_toolset *toolset = source->bare ? NULL : source->owner;
    bool may_show = toolset != NULL &&
                    (hub_discovery_is_unknown(toolset) || hub_toolset_is_stand_in(toolset)) &&
                    hub_exposure_may_show(exposure, source, kind, name, ret_is_named);
    return may_show ? toolset : NULL;
}

/* The same of those that are worth waiting for. Without its name in it, a request waits for no
 * server that has failed and has not answered since. */
static hub_toolset *find_awaited(const hub_exposure *exposure, const hub_source *source,
                                 hub_kind kind, hub_str name)
{
    bool is_named = false;
    hub_toolset *toolset = find_silent(exposure, source, kind, name, &is_named);
    bool is_awaited = toolset != NULL && hub_discovery_is_pending(toolset) &&
                      (is_named || hub_catalogs_of(toolset)->failures == 0);
    return is_awaited ? toolset : NULL;
}

size_t hub_parking_explain(const hub_request *request, hub_kind kind, hub_str name,
                           hub_parking_on_silent *on_silent, void *ctx, size_t most,
                           bool *ret_is_named)
{
    size_t found = 0;
    size_t count;
    const hub_exposure *exposure = hub_session_exposure(request->session);
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    *ret_is_named = false;
    for (size_t i = 0; i < count; i++) {
        bool is_named = false;
        const hub_toolset *toolset = find_silent(exposure, sources[i], kind, name, &is_named);
        if (toolset == NULL) {
            continue;
        }
        hub_error none;
        const char *why = hub_discovery_failure(toolset);
        if (hub_toolset_is_stand_in(toolset) &&
            hub_principal_instance_explain(request->session, toolset, &none) != HUB_OK) {
            why = none.text;
        }
        *ret_is_named = *ret_is_named || is_named;
        if (found++ < most) {
            bool has_failed = hub_discovery_failure(toolset) != NULL;
            on_silent(ctx, toolset, why != NULL ? why : "its server is still starting",
                      has_failed ? hub_catalogs_of(toolset)->failed_status : PATCHBAY_UNAVAILABLE);
        }
    }
    return found;
}

/* ---- progress -------------------------------------------------------------------------------- */

/* Below zero, so that what the server reports itself is more. */
static void tell_progress(parked *one)
{
    size_t others = 0;
    const hub_toolset *first = NULL;
    for (size_t i = 0; i < one->wait_count; i++) {
        const hub_toolset *toolset = one->waits[i].toolset;
        others += toolset != NULL && first != NULL;
        first = first != NULL ? first : toolset;
    }
    hub_buf params;
    hub_buf_init(&params, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&params,
                   "{\"progress\":%.9f,\"message\":\"waiting for the server of %s to start",
                   -1. / ++one->told, hub_toolset_key(first));
    if (others > 0) {
        hub_buf_printf(&params, ", and %zu more", others);
    }
    hub_buf_add(&params, HUB_STR("\"}"));
    if (hub_buf_ok(&params)) {
        hub_progress_take(one->call, hub_buf_str(&params));
    }
    hub_buf_fini(&params);
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    hub_call *call = timer->data;
    call_catalogs *part = hub_call_find_part(call, &HUB_CATALOGS_STATION);
    tell_progress(&part->parked);
    hub_call_wait(call, HUB_LIMIT_START_PROGRESS_MS, on_tick);
}

/* ---- waiting --------------------------------------------------------------------------------- */

void parking_forget_waits(parked *one)
{
    for (size_t i = 0; i < one->wait_count; i++) {
        if (one->waits[i].toolset != NULL) {
            hub_discovery_unwait(one->waits[i].toolset, &one->waits[i].waiter);
        }
    }
    free(one->waits);
    free(one->uri);
    one->waits = NULL;
    one->uri = NULL;
    one->wait_count = 0;
    one->outstanding = 0;
}

/* A URI is whose it is found to be: other than a name it does not become another's by what comes. */
static bool is_found(const parked *one)
{
    hub_buf own;
    if (one->uri == NULL) {
        return false;
    }
    hub_buf_init(&own, HUB_LIMIT_URI_BYTES);
    bool found =
        hub_sight_find_resource(hub_call_sight(one->call), hub_str_of(one->uri), &own) != NULL;
    hub_buf_fini(&own);
    return found;
}

static void on_known(hub_catalog_waiter *waiter, hub_err err, hub_str reason)
{
    parked_wait *wait = (parked_wait *)waiter;
    parked *one = wait->parked;
    (void)reason; /* the toolset has it */
    wait->toolset = NULL;
    if (--one->outstanding == 0 || (err == HUB_OK && !one->is_beginning && is_found(one))) {
        parking_resume(one);
    }
}

/* Wait for those, and ask who was not asked yet. It may have been handled when this returns. */
static void ask(parked *one, hub_toolset *const *toolsets, size_t count, hub_str meta)
{
    size_t unasked = 0;
    for (size_t i = 0; i < count; i++) {
        one->waits[i] =
            (parked_wait){.waiter = {.on_known = on_known}, .parked = one, .toolset = toolsets[i]};
        unasked += !hub_discovery_is_asked(toolsets[i]);
    }
    one->wait_count = count;
    one->outstanding = count + 1; /* nobody is handled before all have been asked */
    one->is_beginning = true;
    hub_orchestrator *hub = hub_session_hub(hub_call_session(one->call));
    hub_discovery_run *run = hub_discovery_begin(hub, unasked, meta);
    for (size_t i = 0; i < count; i++) {
        hub_discovery_want(toolsets[i], &one->waits[i].waiter, run);
    }
    hub_discovery_asked(run);
    one->is_beginning = false;
    if (--one->outstanding == 0 || is_found(one)) {
        parking_resume(one);
    } else if (hub_call_context(one->call)->progress_token.len > 0) {
        hub_call_wait(one->call, HUB_LIMIT_START_PROGRESS_MS, on_tick);
    }
}

/* The toolsets that such a request waits for; the caller frees them. NULL: none, or no memory. */
static hub_toolset **select_awaited(const hub_exposure *exposure, hub_kind kind, hub_str name,
                                    size_t *ret_count)
{
    size_t count;
    size_t chosen = 0;
    hub_toolset **toolsets = NULL;
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    for (size_t i = 0; i < count; i++) {
        hub_toolset *toolset = find_awaited(exposure, sources[i], kind, name);
        if (toolset != NULL && toolsets == NULL) {
            toolsets = calloc(count - i, sizeof(hub_toolset *));
        }
        if (toolset != NULL && toolsets != NULL) {
            toolsets[chosen++] = toolset;
        }
    }
    *ret_count = chosen;
    return toolsets;
}

bool hub_parking_await(const hub_request *request, hub_kind kind, hub_str name)
{
    size_t count = 0;
    hub_toolset **toolsets =
        !parking_has_waited(request)
            ? select_awaited(hub_session_exposure(request->session), kind, name, &count)
            : NULL;
    if (toolsets == NULL) {
        return false;
    }
    parked *one = parking_begin(request, count * sizeof *one->waits);
    if (one != NULL) {
        audience_catalogs *in = hub_catalogs_in(hub_session_audience(request->session));
        bool is_uri = name.len > 0 && (kind == HUB_KIND_RESOURCE || kind == HUB_KIND_TEMPLATE);
        parking_enter(one, &in->awaiting);
        one->waits = calloc(count, sizeof *one->waits);
        one->uri = is_uri ? hub_str_dup(name) : NULL;
        if (one->waits == NULL || (is_uri && one->uri == NULL)) {
            hub_call_fail_rpc(one->call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        } else {
            ask(one, toolsets, count, request->message->at[HUB_M_META]);
        }
    }
    free(toolsets);
    return true;
}

void hub_parking_review(hub_audience *audience)
{
    audience_catalogs *in = hub_catalogs_in(audience);
    parked *one;
    parked *next;
    for (one = in->awaiting; one != NULL; one = next) {
        const hub_exposure *exposure = hub_session_exposure(hub_call_session(one->call));
        next = one->next;
        for (size_t i = 0; i < one->wait_count; i++) {
            parked_wait *wait = &one->waits[i];
            const char *key = wait->toolset != NULL ? hub_toolset_key(wait->toolset) : NULL;
            if (key != NULL && hub_exposure_source(exposure, hub_str_of(key)) == NULL) {
                hub_discovery_unwait(wait->toolset, &wait->waiter);
                wait->toolset = NULL;
                one->outstanding--;
            }
        }
        if (one->outstanding == 0) {
            parking_move(one, &in->going);
        }
    }
    parking_resume_all(in);
    hub_parking_wake(audience);
}

void hub_parking_review_all(hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        hub_audience *next;
        for (hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = next) {
            next = hub_audience_next(at);
            hub_parking_review(at);
        }
    }
}
