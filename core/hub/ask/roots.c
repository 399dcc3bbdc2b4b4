/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/ask/roots.h"

#include "base/log.h"
#include "hub/ask/ask_internal.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session_calls.h"
#include "hub/instances/session_instance.h"

/* ---- whose roots ----------------------------------------------------------------------------- */

/* Whether a session can be asked without a request of its own: that takes a handshake. */
static bool can_be_asked(const hub_session *session)
{
    return session->initialized && !session->closing;
}

/* The session whose calls the binding has; or whose roots it was told last; or the only one there
 * is. NULL: there is none. */
static hub_session *find_session(const hub_binding *binding)
{
    const hub_call *caller = hub_ask_only_client(binding);
    if (caller != NULL && caller->session != NULL && can_be_asked(caller->session)) {
        return caller->session;
    }
    const hub_toolset *toolset = binding->toolset;
    if (toolset->shared != NULL) {
        hub_session *session = toolset->session;
        return session != NULL && can_be_asked(session) ? session : NULL;
    }
    const hub_orchestrator *hub = toolset->hub;
    hub_str key = hub_str_of(toolset->settings->key);
    hub_session *only = NULL;
    size_t count = 0;
    for (size_t i = 0; i < hub->profile_count; i++) {
        const hub_profile *profile = hub->profiles[i];
        if (profile->registry == NULL || hub_registry_find(profile->registry, key) == NULL) {
            continue;
        }
        for (hub_session *at = profile->sessions; at != NULL; at = at->next) {
            if (at->number == binding->roots_of) {
                return can_be_asked(at) ? at : NULL;
            }
            only = at;
            count++;
        }
    }
    return count == 1 && can_be_asked(only) ? only : NULL;
}

void hub_roots_note(hub_binding *binding, const hub_call *call)
{
    binding->roots_of = call != NULL && call->session != NULL ? call->session->number : 0;
}

/* ---- carriers -------------------------------------------------------------------------------- */

static void on_carrier_outcome(void *ctx, const hub_outcome *outcome)
{
    (void)ctx;
    (void)outcome; /* its questions were told what there is to tell */
}

hub_call *hub_roots_carrier(hub_binding *binding)
{
    const hub_toolset *toolset = binding->toolset;
    const hub_orchestrator *hub = toolset->hub;
    hub_session *session = find_session(binding);
    hub_call *call = binding->calls;
    while (call != NULL && (!call->is_carrier || call->session != session)) {
        call = call->binding_next;
    }
    if (session == NULL || call != NULL) {
        return call;
    }
    if (binding->retired) {
        return NULL;
    }
    if (hub_call_begin_internal(hub->calls, on_carrier_outcome, NULL, &call) != HUB_OK) {
        return NULL;
    }
    call->is_carrier = true;
    call->idle = true;
    call->port = session->port;
    call->context.revision = session->revision;
    call->context.capabilities = hub_str_of(session->capabilities);
    hub_call_join(call, session);
    hub_call_bind(call, binding);
    hub_call_set_deadline(call, toolset->settings->call_timeout_ms,
                          hub->settings->limits.call_ceiling_ms);
    return call;
}

void hub_roots_settle(hub_binding *binding, uint64_t id)
{
    hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    if (call != NULL && call->is_carrier && (call->asking == NULL || call->asking->first == NULL)) {
        hub_call_drop(call);
    }
}

static hub_call *find_carrier(const hub_binding *binding)
{
    hub_call *call = binding->calls;
    while (call != NULL && !call->is_carrier) {
        call = call->binding_next;
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
    hub_err err = hub_toolset_request(toolset, &request, toolset->settings->call_timeout_ms,
                                      ignore_outcome, NULL, &call);
    if (err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "toolset.not_told", HUB_F_TEXT("toolset", toolset->settings->key),
                HUB_F_TEXT("reason", hub_err_text(err)));
    }
}

/* A toolset may change the registry when it hears of something: the list is read anew each time. */
void hub_roots_changed(const hub_session *session)
{
    for (size_t i = 0;; i++) {
        size_t count;
        const hub_source *sources = hub_registry_sources(session->profile->registry, &count);
        if (i >= count) {
            return;
        }
        hub_toolset *toolset =
            sources[i].bare ? NULL : hub_session_instance_find(session, sources[i].owner);
        const hub_binding *binding = toolset != NULL ? toolset->binding : NULL;
        if (binding != NULL && binding->instance != NULL && !binding->native &&
            binding->roots_of == session->number) {
            tell(toolset);
        }
    }
}
