/* SPDX-License-Identifier: Apache-2.0 */
/* What clients ask for: subscriptions to resources, and their end. */
#include "base/limits.h"
#include "base/log.h"
#include "hub/access/access.h"
#include "hub/content/content.h"
#include "hub/instances/session_instance.h"
#include "hub/kernel/sight.h"
#include "hub/notices/subscription_internal.h"

static const hub_outcome DONE = {.status = PATCHBAY_RESULT, .json = {.ptr = "{}", .len = 2}};

/* A resource that a client wants to hear of. */
typedef struct target {
    hub_toolset *toolset; /* NULL: nobody has it */
    const hub_entry *entry;
    hub_buf own_uri;
    bool is_mapped; /* the client's URI has the toolset in it */
} target;

/* Find out what a URI means; release it with hub_buf_fini(&ret_target->own_uri). */
static hub_err find_target(const hub_request *request, hub_str uri, target *ret_target)
{
    hub_buf_init(&ret_target->own_uri, HUB_LIMIT_URI_BYTES);
    const hub_entry *entry =
        hub_sight_find_resource(hub_request_sight(request), uri, &ret_target->own_uri);
    ret_target->entry = entry;
    ret_target->toolset = entry != NULL ? entry->owner : NULL;
    ret_target->is_mapped = ret_target->own_uri.len != uri.len;
    return ret_target->own_uri.failed;
}

/* ---- legacy ---------------------------------------------------------------------------------- */

static void respond_mute(const hub_request *request, const hub_toolset *toolset)
{
    hub_buf text;
    hub_buf_init(&text, 256);
    hub_buf_printf(&text, "toolset \"%s\" does not tell when its resources change",
                   hub_toolset_settings_of(toolset)->key);
    hub_respond_error(request, HUB_RPC_METHOD_NOT_FOUND, hub_buf_str(&text), HUB_STR_EMPTY);
    hub_buf_fini(&text);
}

/* Subscribe the session of a request, and answer when the toolset knows. */
static void subscribe(const hub_request *request, const target *what)
{
    hub_session *session = request->session;
    hub_toolset *toolset;
    hub_error why = {.code = HUB_OK};
    if (hub_session_instance_get(session, what->toolset, &toolset, &why) != HUB_OK) {
        hub_respond_error(request, HUB_RPC_UNAVAILABLE, hub_str_of(why.text), HUB_STR_EMPTY);
        return;
    }
    hub_str own_uri = hub_buf_str(&what->own_uri);
    const hub_subscriber *known = hub_subscriber_find(&hub_notices_in(session)->subscribers,
                                                      toolset, own_uri, what->is_mapped, NULL);
    if (known != NULL && known->call == 0) {
        hub_respond_result(request, HUB_STR("{}"));
        return;
    }
    if (hub_notices_in(session)->subscribers.count >= HUB_LIMIT_SUBSCRIPTIONS) {
        (void)hub_fail(&why, HUB_ELIMIT,
                       "too many subscriptions in this session (%d): end one first",
                       HUB_LIMIT_SUBSCRIPTIONS);
        hub_respond_error(request, HUB_RPC_OVERLOADED, hub_str_of(why.text), HUB_STR_EMPTY);
        return;
    }
    hub_call *call;
    call = hub_request_begin(request);
    if (call == NULL) {
        return;
    }
    hub_subscriber *subscriber =
        hub_subscriber_add(session, NULL, toolset, own_uri, what->is_mapped);
    if (subscriber == NULL) {
        hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        return;
    }
    subscriber->call = hub_call_id(call);
    subscriber->is_repeat = known != NULL;
    if (subscriber->subscription->is_told) {
        hub_subscriber_answer(subscriber, &DONE);
    } else {
        hub_subscription_tell_begin(subscriber->subscription);
    }
}

void hub_subscription_open(const hub_request *request)
{
    hub_buf uri;
    target what;
    if (!hub_content_read_uri(request, request->message->at[HUB_M_URI], &uri)) {
        return;
    }
    hub_err err = find_target(request, hub_buf_str(&uri), &what);
    if (err != HUB_OK) {
        hub_respond_refusal(request, err);
    } else if (what.toolset == NULL) {
        hub_content_miss_resource(request, hub_buf_str(&uri));
    } else if (!hub_access_admits(request, what.entry, hub_buf_str(&what.own_uri),
                                  hub_buf_str(&uri))) {
        ; /* it has been answered */
    } else if (!hub_toolset_capabilities(what.toolset)->subscribes) {
        respond_mute(request, what.toolset);
    } else {
        subscribe(request, &what);
    }
    hub_buf_fini(&what.own_uri);
    hub_buf_fini(&uri);
}

/* Whether the client knows what it subscribed to by that URI. Where the URI would lead now does not
 * matter. */
static bool is_known_by(const hub_subscriber *subscriber, hub_str uri)
{
    const hub_subscription *subscription = subscriber->subscription;
    hub_buf known;
    hub_buf_init(&known, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_subscriber_add_uri(
        subscriber, (hub_str){.ptr = subscription->uri, .len = subscription->uri_len}, &known);
    bool is_same = hub_str_eq(hub_buf_str(&known), uri);
    hub_buf_fini(&known);
    return is_same;
}

static hub_subscriber *find_known(const hub_session *session, hub_str uri)
{
    hub_subscriber *at = hub_notices_in(session)->subscribers.first;
    while (at != NULL && !is_known_by(at, uri)) {
        at = at->list_next;
    }
    return at;
}

void hub_subscription_close(const hub_request *request)
{
    hub_subscriber *subscriber;
    hub_buf uri;
    if (!hub_content_read_uri(request, request->message->at[HUB_M_URI], &uri)) {
        return;
    }
    while ((subscriber = find_known(request->session, hub_buf_str(&uri))) != NULL) {
        hub_subscriber_answer(subscriber, &DONE);
        hub_subscriber_end(subscriber);
    }
    hub_respond_result(request, HUB_STR("{}")); /* that it hears nothing is true in any case */
    hub_buf_fini(&uri);
}

void hub_subscription_cancel(const hub_call *call)
{
    hub_subscriber *at = hub_notices_in(hub_call_session(call))->subscribers.first;
    while (at != NULL && at->call != hub_call_id(call)) {
        at = at->list_next;
    }
    if (at != NULL) {
        const hub_subscription *subscription = at->subscription;
        hub_str own_uri = {.ptr = subscription->uri, .len = subscription->uri_len};
        hub_subscriber *heir =
            hub_subscriber_find(at->list, subscription->toolset, own_uri, at->is_mapped, at);
        if (heir != NULL && !at->is_repeat) {
            heir->is_repeat = false; /* it hears of changes in its stead */
        }
        hub_subscriber_end(at);
    }
}

/* ---- the end of a session's own instance ----------------------------------------------------- */

void hub_subscription_drop(hub_toolset *toolset)
{
    static const hub_outcome gone = {.status = PATCHBAY_UNAVAILABLE,
                                     .json = {.ptr = "the toolset was disabled", .len = 24}};
    while (hub_notices_of(toolset)->subscriptions != NULL) {
        hub_subscriber *subscriber = hub_notices_of(toolset)->subscriptions->first;
        hub_subscriber_answer(subscriber, &gone);
        hub_subscriber_end(subscriber);
    }
}

/* ---- modern ---------------------------------------------------------------------------------- */

static hub_subscription_fate add(hub_session *session, hub_listen *listen, const target *what)
{
    hub_str own_uri = hub_buf_str(&what->own_uri);
    hub_toolset *toolset;
    hub_error why = {.code = HUB_OK};
    if (what->toolset == NULL) {
        return HUB_SUBSCRIPTION_UNKNOWN;
    }
    if (!hub_access_lets_hear(session, what->toolset, own_uri)) {
        return HUB_SUBSCRIPTION_UNKNOWN;
    }
    if (!hub_toolset_capabilities(what->toolset)->subscribes) {
        return HUB_SUBSCRIPTION_MUTE;
    }
    if (hub_session_instance_get(session, what->toolset, &toolset, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "resource.not_subscribed",
                HUB_F_TEXT("toolset", hub_toolset_key(what->toolset)), HUB_F_STR("uri", own_uri),
                HUB_F_TEXT("reason", why.text));
        return HUB_SUBSCRIPTION_MUTE;
    }
    if (hub_subscriber_find(&listen->subscribers, toolset, own_uri, what->is_mapped, NULL) ==
            NULL &&
        hub_subscriber_add(session, listen, toolset, own_uri, what->is_mapped) == NULL) {
        return HUB_SUBSCRIPTION_NO_MEMORY;
    }
    return HUB_SUBSCRIPTION_TAKEN;
}

hub_subscription_fate hub_subscription_add(const hub_request *request, hub_listen *listen,
                                           hub_str uri)
{
    target what;
    hub_err err = find_target(request, uri, &what);
    hub_subscription_fate fate = err == HUB_ENOMEM ? HUB_SUBSCRIPTION_NO_MEMORY
                                 : err != HUB_OK   ? HUB_SUBSCRIPTION_UNKNOWN /* it is too long */
                                                   : add(request->session, listen, &what);
    hub_buf_fini(&what.own_uri);
    return fate;
}

static hub_subscriber *find_new(const hub_listen *listen)
{
    hub_subscriber *at = listen->subscribers.first;
    while (at != NULL && !at->is_new) {
        at = at->list_next;
    }
    return at;
}

/* The toolset may answer at once, and a subscriber be gone after any word to it. */
void hub_subscription_begin(hub_listen *listen)
{
    hub_subscriber *at;
    while ((at = find_new(listen)) != NULL) {
        at->is_new = false;
        if (!at->subscription->is_told) {
            at->is_awaited = true;
            listen->awaited++;
            hub_subscription_tell_begin(at->subscription);
        }
    }
}
