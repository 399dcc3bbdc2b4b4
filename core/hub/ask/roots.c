/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/roots.h"

#include "base/log.h"
#include "hub/ask/ask_internal.h"
#include "hub/instances/principal_instance.h"
#include "hub/instances/session_instance.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"

/* ---- whose roots ----------------------------------------------------------------------------- */

/* Whether a session can be asked without a request of its own: that takes a handshake. */
static bool can_be_asked(const hub_session *session)
{
    return hub_session_is_initialized(session) && !hub_session_is_closing(session);
}

/* Sessions that see a toolset. */
typedef struct seers {
    hub_session *told; /* whose roots its binding was told; NULL: of none of them */
    hub_session *only;
    size_t count;
} seers;

static void count_sessions(const hub_binding *binding, const hub_audience *audience, seers *seen)
{
    const hub_toolset *toolset = hub_binding_toolset(binding);
    if (!hub_audience_has(audience, toolset)) {
        return;
    }
    for (hub_session *at = hub_audience_sessions(audience); at != NULL;
         at = hub_session_next_of_audience(at)) {
        if (hub_exposure_source(hub_session_exposure(at), hub_str_of(hub_toolset_key(toolset))) ==
                NULL ||
            !hub_principal_instance_is_for(toolset, at)) {
            continue; /* rules hide it from that one, or it has another instance */
        }
        if (hub_session_number(at) == hub_ask_told(binding)->roots_of) {
            seen->told = at;
        }
        seen->only = at;
        seen->count++;
    }
}

/* The session whose calls the binding has; or whose roots it was told last; or the only one there
 * is. NULL: there is none. */
static hub_session *find_session(const hub_binding *binding)
{
    const hub_call *caller = hub_binding_only_client(binding);
    if (caller != NULL && hub_call_session(caller) != NULL &&
        can_be_asked(hub_call_session(caller))) {
        return hub_call_session(caller);
    }
    const hub_toolset *toolset = hub_binding_toolset(binding);
    if (hub_toolset_is_own(toolset) && !hub_toolset_is_apart(toolset)) {
        hub_session *session = hub_session_instance_owner(toolset);
        return session != NULL && can_be_asked(session) ? session : NULL;
    }
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    seers seen = {.count = 0};
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *audience = hub_profile_audience(hub_profile_at(hub, i));
             audience != NULL; audience = hub_audience_next(audience)) {
            count_sessions(binding, audience, &seen);
        }
    }
    if (seen.told != NULL) {
        return can_be_asked(seen.told) ? seen.told : NULL;
    }
    return seen.count == 1 && can_be_asked(seen.only) ? seen.only : NULL;
}

void hub_roots_note(hub_binding *binding, const hub_call *call)
{
    hub_ask_told(binding)->roots_of = call != NULL && hub_call_session(call) != NULL
                                          ? hub_session_number(hub_call_session(call))
                                          : 0;
}

/* ---- carriers -------------------------------------------------------------------------------- */

static void on_carrier_outcome(void *ctx, const hub_outcome *outcome)
{
    (void)ctx;
    (void)outcome; /* its questions were told what there is to tell */
}

hub_call *hub_roots_carrier(hub_binding *binding)
{
    const hub_toolset *toolset = hub_binding_toolset(binding);
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    hub_session *session = find_session(binding);
    hub_call *call = hub_binding_calls(binding);
    while (call != NULL && (!hub_call_is_unasked(call) || hub_call_session(call) != session)) {
        call = hub_call_next_of_binding(call);
    }
    if (session == NULL || call != NULL) {
        return call;
    }
    if (hub_binding_is_retired(binding)) {
        return NULL;
    }
    if (hub_call_begin_internal(hub_toolset_hub(toolset), on_carrier_outcome, NULL, &call) !=
        HUB_OK) {
        return NULL;
    }
    hub_call_attend(call, session);
    hub_call_set_idle(call, true);
    hub_call_bind(call, binding, false);
    hub_call_set_deadline(call, hub_toolset_settings_of(toolset)->call_timeout_ms,
                          hub_settings_of(hub)->limits.call_ceiling_ms);
    return call;
}

void hub_roots_settle(hub_binding *binding, uint64_t id)
{
    hub_call *call =
        hub_call_find(hub_calls_of(hub_toolset_hub(hub_binding_toolset(binding))), id, binding);
    if (call != NULL && hub_call_is_unasked(call) &&
        (hub_asking_find(call) == NULL || hub_asking_find(call)->first == NULL)) {
        hub_call_drop(call);
    }
}

static hub_call *find_carrier(const hub_binding *binding)
{
    hub_call *call = hub_binding_calls(binding);
    while (call != NULL && !hub_call_is_unasked(call)) {
        call = hub_call_next_of_binding(call);
    }
    return call;
}

void hub_roots_end(hub_binding *binding)
{
    hub_call *call;
    while ((call = find_carrier(binding)) != NULL) {
        hub_call_drop(call);
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

static void ignore_outcome(void *ctx, const hub_outcome *outcome)
{
    (void)ctx;
    (void)outcome;
}

static void tell(hub_toolset *toolset)
{
    hub_call *call;
    patchbay_request request = {
        .args_json = HUB_STR("{}"),
        .method = HUB_STR("notifications/roots/list_changed"),
        .params_json = HUB_STR("{}"),
    };
    hub_err err =
        hub_toolset_request(toolset, &request, hub_toolset_settings_of(toolset)->call_timeout_ms,
                            ignore_outcome, NULL, &call);
    if (err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "toolset.not_told",
                HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                HUB_F_TEXT("reason", hub_err_text(err)));
    }
}

/* A toolset may change the registry when it hears of something: the list is read anew each time. */
void hub_roots_changed(const hub_session *session)
{
    for (size_t i = 0;; i++) {
        size_t count;
        const hub_source *const *sources =
            hub_exposure_sources(hub_session_exposure(session), &count);
        if (i >= count) {
            return;
        }
        hub_toolset *toolset =
            sources[i]->bare ? NULL : hub_session_instance_find(session, sources[i]->owner);
        const hub_binding *binding = toolset != NULL ? hub_toolset_binding(toolset) : NULL;
        if (binding != NULL && hub_binding_instance(binding) != NULL &&
            !hub_binding_is_native(binding) &&
            hub_ask_told(binding)->roots_of == hub_session_number(session)) {
            tell(toolset);
        }
    }
}
