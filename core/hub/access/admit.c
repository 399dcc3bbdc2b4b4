/* SPDX-License-Identifier: Apache-2.0 */
/* What rules say of things that are no calls: what somebody subscribes to, and hears of. */
#include "hub/access/access.h"

#include "hub/access/classes.h"
#include "hub/kernel/respond.h"
#include "hub/report/unknown.h"

/* Decide for a session, as it is now. Nobody can be asked, and there are no arguments.
 * errors:  HUB_ENOMEM */
static hub_err decide(hub_session *session, const hub_access_subject *subject,
                      hub_access_decision *ret_decision)
{
    const access_class *class = hub_access_class_get(session);
    hub_error why;
    return class == NULL
               ? HUB_ENOMEM
               : hub_access_decide(class->settings, hub_session_identity(session), &class->who,
                                   subject, HUB_STR("{}"), ret_decision, &why);
}

bool hub_access_lets_hear(hub_session *session, const hub_toolset *toolset, hub_str uri)
{
    hub_access_decision decision;
    if (!hub_access_is_on(hub_session_hub(session))) {
        return true;
    }
    const hub_item *item = access_find_item(session, toolset, HUB_KIND_RESOURCE, uri);
    hub_access_subject subject = hub_access_subject_of(toolset, uri, item, false);
    return decide(session, &subject, &decision) == HUB_OK && decision.verdict == HUB_ACCESS_ALLOW;
}

bool hub_access_shows_tool(hub_session *session, const hub_toolset *toolset, hub_str name)
{
    if (!hub_access_is_on(hub_session_hub(session))) {
        return true;
    }
    const access_class *class = hub_access_class_get(session);
    const hub_item *item = access_find_item(session, toolset, HUB_KIND_TOOL, name);
    hub_access_subject subject = hub_access_subject_of(toolset, name, item, true);
    return class != NULL && hub_access_shows(class->settings, &class->who, &subject);
}

static void challenge(const hub_request *request, const hub_access_subject *subject,
                      const hub_access_decision *decision)
{
    hub_buf text;
    hub_buf data;
    access_add_challenge(request->session, subject, decision, &text, &data);
    hub_respond_error(request, HUB_RPC_INSUFFICIENT_SCOPE, hub_buf_str(&text), hub_buf_str(&data));
    hub_buf_fini(&data);
    hub_buf_fini(&text);
}

bool hub_access_admits(const hub_request *request, const hub_entry *entry, hub_str own_uri,
                       hub_str uri)
{
    hub_access_decision decision;
    if (!hub_access_is_on(hub_session_hub(request->session))) {
        return true;
    }
    hub_access_subject subject = hub_access_subject_of(entry->owner, own_uri, entry->item, false);
    if (decide(request->session, &subject, &decision) != HUB_OK) {
        hub_respond_refusal(request, HUB_ENOMEM);
        return false;
    }
    switch (decision.verdict) {
    case HUB_ACCESS_ALLOW:
        return true;
    case HUB_ACCESS_CHALLENGE:
        hub_request_refuse(request);
        challenge(request, &subject, &decision);
        break;
    case HUB_ACCESS_CONFIRM:
        hub_request_refuse(request);
        hub_respond_error(request, HUB_RPC_NOT_CONFIRMED,
                          HUB_STR("This would have to be confirmed by its user, who is not asked "
                                  "about subscriptions"),
                          HUB_STR("{\"code\":\"not_confirmed\"}"));
        break;
    case HUB_ACCESS_DENY:
        hub_unknown_respond(request, HUB_KIND_RESOURCE, uri);
        break;
    }
    return false;
}
