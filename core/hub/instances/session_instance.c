/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/instances/session_instance.h"

#include "base/log.h"
#include "hub/kernel/hub.h"
#include "hub/notices/subscription.h"

#include <stdlib.h>

/* ---- finding --------------------------------------------------------------------------------- */

static hub_toolset *find(const hub_session *session, const hub_toolset *toolset)
{
    hub_toolset *own = session->instances;
    while (own != NULL && own->shared != toolset) {
        own = own->next_of_session;
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
    if (!toolset->settings->sharing_session) {
        return true;
    }
    if (session->is_one_request && !toolset->has_told_sharing) {
        toolset->has_told_sharing = true;
        hub_log(HUB_LOG_WARNING, "toolset.shared", HUB_F_TEXT("toolset", toolset->settings->key),
                HUB_F_TEXT("reason", "over HTTP, clients of 2026-07-28 have no session: they share "
                                     "one instance in spite of sharing: session"));
    }
    return session->is_one_request;
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static void join(hub_toolset *own, hub_toolset *shared, hub_session *session)
{
    own->next_of_session = session->instances;
    session->instances = own;
    own->next_instance = shared->instances;
    shared->instances = own;
    shared->instance_count++;
}

static void take_out(hub_toolset *own)
{
    hub_toolset **link = &own->session->instances;
    while (*link != own) {
        link = &(*link)->next_of_session;
    }
    *link = own->next_of_session;
    link = &own->shared->instances;
    while (*link != own) {
        link = &(*link)->next_instance;
    }
    *link = own->next_instance;
    own->shared->instance_count--;
}

static hub_err make(hub_session *session, hub_toolset *shared, hub_toolset **ret_own,
                    hub_error *reterr)
{
    hub_toolset *own = NULL;
    hub_binding *binding = NULL;
    hub_err err = hub_toolset_create(shared->hub, shared->settings, &own);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "out of memory");
    }
    own->shared = shared;
    own->session = session;
    own->is_modern = shared->is_modern;
    err = hub_toolset_prepare(own, own->settings, &binding, reterr);
    if (err != HUB_OK) {
        hub_toolset_destroy(own);
        return err;
    }
    own->users = 1;
    join(own, shared, session);
    hub_toolset_take(own, binding);
    hub_log(HUB_LOG_DEBUG, "session.instance", HUB_F_TEXT("toolset", shared->settings->key),
            HUB_F_INT("session", session->number), HUB_F_INT("instances", shared->instance_count));
    *ret_own = own;
    return HUB_OK;
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
    uint32_t most = toolset->hub->settings->limits.session_instances;
    if (session->closing || toolset->binding == NULL) {
        return hub_fail(reterr, HUB_ESTATE, "toolset \"%s\" is not in use", toolset->settings->key);
    }
    if (toolset->instance_count >= most) {
        return hub_fail(reterr, HUB_ELIMIT,
                        "toolset \"%s\": %u sessions have an instance of their own, which is as "
                        "many as may (limits.session_instances): try again when one has ended",
                        toolset->settings->key, most);
    }
    return make(session, toolset, ret_toolset, reterr);
}

hub_toolset *hub_session_instance_of_call(hub_call *call, hub_toolset *toolset)
{
    if (!toolset->settings->sharing_session || call->session == NULL) {
        return toolset;
    }
    hub_error why = {.code = HUB_OK};
    if (hub_session_instance_get(call->session, toolset, &toolset, &why) != HUB_OK) {
        hub_call_fail(call, PATCHBAY_UNAVAILABLE, hub_str_of(why.text));
        return NULL;
    }
    return toolset;
}

static void end(hub_toolset *own, bool at_once)
{
    hub_subscription_drop(own);
    take_out(own);
    own->session = NULL; /* what the instance says from here on is for nobody */
    if (at_once) {
        hub_toolset_unuse(own);
    } else {
        hub_toolset_let_go(own);
    }
    hub_toolset_leave(own);
}

void hub_session_instance_end_all(hub_session *session)
{
    while (session->instances != NULL) {
        end(session->instances, true);
    }
}

/* ---- what becomes of the toolset ------------------------------------------------------------- */

static bool has_place(const hub_toolset *own)
{
    const hub_toolset *shared = own->shared;
    const hub_profile *profile = own->session->profile;
    return shared->settings->sharing_session &&
           hub_registry_find(profile->registry, hub_str_of(shared->settings->key)) != NULL;
}

void hub_session_instance_sweep(hub_toolset *toolset, bool at_once)
{
    hub_toolset *own = toolset->instances;
    while (own != NULL) {
        if (has_place(own)) {
            own = own->next_instance;
        } else {
            end(own, at_once);
            own = toolset->instances; /* others may have gone with what that caused */
        }
    }
}

static void renew(hub_toolset *own, bool rebinds)
{
    hub_error why = {.code = HUB_OK};
    hub_toolset_settings *settings = hub_toolset_settings_dup(own->shared->settings);
    if (settings == NULL) {
        (void)hub_fail(&why, HUB_ENOMEM, "out of memory");
    } else {
        free(own->settings);
        own->settings = settings;
        hub_queue_wake(own); /* there may be more places now */
        if (!rebinds || hub_toolset_rebind(own, &why) == HUB_OK) {
            return;
        }
    }
    hub_log(HUB_LOG_WARNING, "toolset.rebind_failed",
            HUB_F_TEXT("toolset", own->shared->settings->key),
            HUB_F_INT("session", own->session->number), HUB_F_TEXT("reason", why.text));
}

void hub_session_instance_renew(hub_toolset *toolset, bool rebinds)
{
    if (!toolset->settings->sharing_session) {
        hub_session_instance_sweep(toolset, false);
    }
    for (hub_toolset *own = toolset->instances; own != NULL; own = own->next_instance) {
        renew(own, rebinds);
    }
}
