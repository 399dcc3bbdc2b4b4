/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/subscription.h"

#include "base/limits.h"
#include "base/log.h"
#include "base/map.h"
#include "hub/content.h"
#include "hub/hub.h"
#include "hub/listen.h"

#include <stdlib.h>

/* A resource of a toolset that somebody wants to hear of. */
typedef struct hub_subscription {
    UT_hash_handle hh;
    hub_toolset *toolset;
    hub_subscriber *first;
    hub_call *asking; /* the toolset is being told; NULL: no */
    bool is_told;     /* it knows */
    bool is_over;     /* taken out of its toolset, about to be freed */
    struct hub_subscription *next_over;
    size_t uri_len;
    char uri[]; /* as the toolset has it */
} hub_subscription;

/* One who wants to: a legacy session, or a listen stream of a modern one. */
struct hub_subscriber {
    hub_subscription *subscription;
    hub_subscriber *next; /* of the same subscription */
    hub_subscriber *prev;
    hub_subscriber_list *list; /* of its session or stream */
    hub_subscriber *list_next;
    hub_session *session;
    const hub_listen *listen; /* NULL: legacy */
    bool is_mapped;           /* it knows the resource as patchbay:TOOLSET/URI */
    uint64_t call;            /* its resources/subscribe, not answered yet; 0: none */
};

static hub_str uri_of(const hub_subscription *subscription)
{
    return (hub_str){.ptr = subscription->uri, .len = subscription->uri_len};
}

/* ---- towards the toolset --------------------------------------------------------------------- */

/* Ask something about a resource. The subscription may be gone when this returns. */
static hub_err ask_toolset(const hub_subscription *subscription, const char *method,
                           hub_call_on_outcome *on_outcome, void *ctx, hub_call **ret_call)
{
    hub_toolset *toolset = subscription->toolset;
    hub_buf text; /* the params, then the URI as it is */
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add(&text, HUB_STR("{\"uri\":"));
    size_t begin = text.len;
    hub_json_add_string(&text, uri_of(subscription));
    size_t end = text.len;
    hub_buf_add_char(&text, '}');
    hub_buf_add(&text, uri_of(subscription));
    patchbay_request request = {
        .tool = {.ptr = text.ptr + end + 1, .len = subscription->uri_len},
        .args_json = HUB_STR("{}"),
        .method = hub_str_of(method),
        .params_json = {.ptr = text.ptr, .len = end + 1},
        .name_json = {.ptr = text.ptr + begin, .len = end - begin},
    };
    hub_err err = hub_buf_ok(&text)
                      ? hub_toolset_request(toolset, &request, toolset->settings->call_timeout_ms,
                                            on_outcome, ctx, ret_call)
                      : text.failed;
    hub_buf_fini(&text);
    return err;
}

static void ignore_outcome(void *ctx, const hub_outcome *outcome)
{
    (void)ctx;
    (void)outcome;
}

/* Nobody wants to hear of it any more: it is out of the toolset's table. */
static void tell_end(hub_subscription *subscription)
{
    hub_toolset *toolset = subscription->toolset;
    hub_call *asking = subscription->asking;
    if (asking != NULL) {
        hub_call_drop(asking);
    }
    if ((asking != NULL || subscription->is_told) && toolset->binding != NULL) {
        hub_call *call;
        hub_err err =
            ask_toolset(subscription, "resources/unsubscribe", ignore_outcome, NULL, &call);
        if (err != HUB_OK) {
            hub_log(HUB_LOG_WARNING, "resource.not_unsubscribed",
                    HUB_F_TEXT("toolset", toolset->settings->key),
                    HUB_F_TEXT("reason", hub_err_text(err)));
        }
    }
    free(subscription);
}

static void take_out(hub_subscription *subscription)
{
    HASH_DEL(subscription->toolset->subscriptions, subscription);
    subscription->is_over = true;
}

static void end_subscription(hub_subscription *subscription)
{
    take_out(subscription);
    tell_end(subscription);
}

/* ---- subscribers ----------------------------------------------------------------------------- */

/* Take a subscriber out of its lists. What it subscribed to stays. */
static void unlink_subscriber(hub_subscriber *subscriber)
{
    hub_subscriber **link = &subscriber->list->first;
    while (*link != subscriber) {
        link = &(*link)->list_next;
    }
    *link = subscriber->list_next;
    subscriber->list->count--;
    if (subscriber->prev != NULL) {
        subscriber->prev->next = subscriber->next;
    } else {
        subscriber->subscription->first = subscriber->next;
    }
    if (subscriber->next != NULL) {
        subscriber->next->prev = subscriber->prev;
    }
}

static void end_subscriber(hub_subscriber *subscriber)
{
    hub_subscription *subscription = subscriber->subscription;
    unlink_subscriber(subscriber);
    free(subscriber);
    if (subscription->first == NULL) {
        end_subscription(subscription);
    }
}

void hub_subscription_end_all(hub_subscriber_list *list)
{
    while (list->first != NULL) {
        end_subscriber(list->first);
    }
}

static hub_subscription *find(const hub_toolset *toolset, hub_str uri)
{
    hub_subscription *found = NULL;
    HASH_FIND(hh, toolset->subscriptions, uri.ptr, (unsigned)uri.len, found);
    return found;
}

static hub_subscription *find_or_add(hub_toolset *toolset, hub_str uri)
{
    hub_subscription *subscription = find(toolset, uri);
    if (subscription == NULL) {
        subscription = calloc(1, sizeof *subscription + uri.len);
        if (subscription != NULL) {
            subscription->toolset = toolset;
            subscription->uri_len = uri.len;
            memcpy(subscription->uri, uri.ptr, uri.len);
            HASH_ADD_KEYPTR(hh, toolset->subscriptions, subscription->uri,
                            (unsigned)subscription->uri_len, subscription);
        }
    }
    return subscription;
}

static hub_subscriber *find_subscriber(const hub_subscriber_list *list, const hub_toolset *toolset,
                                       hub_str own_uri)
{
    hub_subscriber *subscriber = list->first;
    while (subscriber != NULL && (subscriber->subscription->toolset != toolset ||
                                  !hub_str_eq(uri_of(subscriber->subscription), own_uri))) {
        subscriber = subscriber->list_next;
    }
    return subscriber;
}

/* Add a subscriber for the resource behind `entry`; NULL when out of memory. */
static hub_subscriber *add_subscriber(hub_session *session, hub_listen *listen,
                                      const hub_view_entry *entry, hub_str own_uri)
{
    hub_subscriber_list *list = listen != NULL ? &listen->subscribers : &session->subscribers;
    hub_subscriber *subscriber = calloc(1, sizeof *subscriber);
    hub_subscription *subscription = subscriber != NULL ? find_or_add(entry->owner, own_uri) : NULL;
    if (subscription == NULL) {
        free(subscriber);
        return NULL;
    }
    *subscriber = (hub_subscriber){
        .subscription = subscription,
        .next = subscription->first,
        .list = list,
        .list_next = list->first,
        .session = session,
        .listen = listen,
        .is_mapped = entry->exposed.len > entry->item->name.len,
    };
    if (subscription->first != NULL) {
        subscription->first->prev = subscriber;
    }
    subscription->first = subscriber;
    list->first = subscriber;
    list->count++;
    return subscriber;
}

/* Answer the request of a subscriber that waits; a client that gave up has no call any more. */
static void answer(hub_subscriber *subscriber, const hub_outcome *outcome)
{
    const hub_call_table *calls = subscriber->subscription->toolset->hub->calls;
    hub_call *call = subscriber->call != 0 ? hub_call_find(calls, subscriber->call, NULL) : NULL;
    subscriber->call = 0;
    if (call != NULL) {
        hub_call_finish(call, outcome);
    }
}

/* The toolset has answered. If it refuses, those whose request brought this about are no
 * subscribers; streams that were acknowledged, and those from before, stay, and the next request
 * tries again. */
static void on_subscribed(void *ctx, const hub_outcome *outcome)
{
    hub_subscription *subscription = ctx;
    bool is_done = outcome->status == PATCHBAY_RESULT;
    subscription->asking = NULL;
    subscription->is_told = is_done;
    if (subscription->is_over) {
        return;
    }
    if (!is_done) {
        hub_log(HUB_LOG_WARNING, "resource.not_subscribed",
                HUB_F_TEXT("toolset", subscription->toolset->settings->key),
                HUB_F_STR("uri", uri_of(subscription)), HUB_F_STR("reason", outcome->json));
    }
    hub_subscriber *next;
    for (hub_subscriber *at = subscription->first; at != NULL; at = next) {
        next = at->next;
        bool was_waiting = at->call != 0;
        answer(at, outcome);
        if (was_waiting && !is_done) {
            unlink_subscriber(at);
            free(at);
        }
    }
    if (subscription->first == NULL) {
        end_subscription(subscription);
    }
}

/* Tell the toolset of a subscription, unless it knows. May end the subscription. */
static void begin(hub_subscription *subscription)
{
    if (subscription->is_told || subscription->asking != NULL) {
        return;
    }
    hub_err err = ask_toolset(subscription, "resources/subscribe", on_subscribed, subscription,
                              &subscription->asking);
    if (err != HUB_OK) {
        on_subscribed(subscription, &(hub_outcome){.status = PATCHBAY_FAILED,
                                                   .json = hub_str_of(hub_err_text(err))});
    }
}

/* ---- legacy ---------------------------------------------------------------------------------- */

static void respond_mute(const hub_request *request, const hub_toolset *toolset)
{
    hub_buf text;
    hub_buf_init(&text, 256);
    hub_buf_printf(&text, "toolset \"%s\" does not tell when its resources change",
                   toolset->settings->key);
    hub_respond_error(request, HUB_RPC_METHOD_NOT_FOUND, hub_buf_str(&text), HUB_STR_EMPTY);
    hub_buf_fini(&text);
}

/* Subscribe the session of a request, and answer when the toolset knows. */
static void subscribe(const hub_request *request, const hub_view_entry *entry, hub_str own_uri)
{
    hub_session *session = request->session;
    hub_toolset *toolset = entry->owner;
    const hub_subscription *known = find(toolset, own_uri);
    if (find_subscriber(&session->subscribers, toolset, own_uri) != NULL) {
        hub_respond_result(request, HUB_STR("{}"));
        return;
    }
    if (session->subscribers.count >= HUB_LIMIT_SUBSCRIPTIONS) {
        hub_respond_error(request, HUB_RPC_OVERLOADED,
                          HUB_STR("too many subscriptions in this session: end one first"),
                          HUB_STR_EMPTY);
        return;
    }
    hub_call *call = NULL;
    bool waits = known == NULL || !known->is_told;
    hub_err err = HUB_OK;
    if (waits) {
        err = hub_call_begin(toolset->hub->calls, session, request->port,
                             request->message->at[HUB_M_ID], &request->context, &call);
    }
    if (err != HUB_OK) {
        hub_respond_refusal(request, err);
        return;
    }
    hub_subscriber *subscriber = add_subscriber(session, NULL, entry, own_uri);
    if (subscriber == NULL && waits) {
        hub_call_fail_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
    } else if (subscriber == NULL) {
        hub_respond_refusal(request, HUB_ENOMEM);
    } else if (waits) {
        subscriber->call = call->id;
        begin(subscriber->subscription);
    } else {
        hub_respond_result(request, HUB_STR("{}"));
    }
}

void hub_subscription_open(const hub_request *request)
{
    hub_buf uri;
    if (!hub_content_read_uri(request, request->message->at[HUB_M_URI], &uri)) {
        return;
    }
    const hub_view_entry *entry =
        hub_content_find_resource(request->session->profile, hub_buf_str(&uri));
    const hub_toolset *toolset = entry != NULL ? entry->owner : NULL;
    if (toolset == NULL) {
        hub_content_miss_resource(request, hub_buf_str(&uri));
    } else if (!toolset->capabilities.subscribes) {
        respond_mute(request, toolset);
    } else {
        subscribe(request, entry, hub_view_own_uri(entry, hub_buf_str(&uri)));
    }
    hub_buf_fini(&uri);
}

void hub_subscription_close(const hub_request *request)
{
    hub_session *session = request->session;
    hub_buf uri;
    if (!hub_content_read_uri(request, request->message->at[HUB_M_URI], &uri)) {
        return;
    }
    const hub_view_entry *entry = hub_content_find_resource(session->profile, hub_buf_str(&uri));
    hub_subscriber *subscriber = entry == NULL
                                     ? NULL
                                     : find_subscriber(&session->subscribers, entry->owner,
                                                       hub_view_own_uri(entry, hub_buf_str(&uri)));
    if (subscriber != NULL) {
        answer(subscriber, &(hub_outcome){.status = PATCHBAY_RESULT, .json = HUB_STR("{}")});
        end_subscriber(subscriber);
    }
    hub_respond_result(request, HUB_STR("{}")); /* that it hears nothing is true in any case */
    hub_buf_fini(&uri);
}

/* ---- modern ---------------------------------------------------------------------------------- */

hub_subscription_fate hub_subscription_add(hub_session *session, hub_listen *listen, hub_str uri)
{
    const hub_view_entry *entry = hub_content_find_resource(session->profile, uri);
    const hub_toolset *toolset = entry != NULL ? entry->owner : NULL;
    if (toolset == NULL) {
        return HUB_SUBSCRIPTION_UNKNOWN;
    }
    if (!toolset->capabilities.subscribes) {
        return HUB_SUBSCRIPTION_MUTE;
    }
    hub_str own_uri = hub_view_own_uri(entry, uri);
    if (find_subscriber(&listen->subscribers, toolset, own_uri) == NULL &&
        add_subscriber(session, listen, entry, own_uri) == NULL) {
        return HUB_SUBSCRIPTION_NO_MEMORY;
    }
    return HUB_SUBSCRIPTION_TAKEN;
}

void hub_subscription_begin(const hub_listen *listen)
{
    for (hub_subscriber *at = listen->subscribers.first; at != NULL; at = at->list_next) {
        begin(at->subscription);
    }
}

/* ---- changes --------------------------------------------------------------------------------- */

/* Tell one subscriber, under the URI that it knows. */
static void tell(const hub_subscriber *subscriber, hub_str uri)
{
    const hub_listen *listen = subscriber->listen;
    hub_buf known;
    hub_buf params;
    if (subscriber->session->closing) {
        return;
    }
    hub_buf_init(&known, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&params, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (subscriber->is_mapped) {
        hub_view_add_mapped_uri(hub_str_of(subscriber->subscription->toolset->settings->key), uri,
                                &known);
        uri = hub_buf_str(&known);
    }
    hub_buf_add_char(&params, '{');
    if (listen != NULL) {
        hub_listen_add_meta(listen, &params);
    }
    hub_json_add_key(&params, HUB_STR("uri"));
    hub_json_add_string(&params, uri);
    hub_buf_add_char(&params, '}');
    if (hub_buf_ok(&known) && hub_buf_ok(&params)) {
        hub_respond_notify(listen != NULL ? listen->port : subscriber->session->port,
                           HUB_STR("notifications/resources/updated"), hub_buf_str(&params));
    }
    hub_buf_fini(&params);
    hub_buf_fini(&known);
}

/* Whether `uri` goes on behind its first `len` bytes with something that lies inside of it. */
static bool is_inside(hub_str uri, size_t len)
{
    return uri.ptr[len - 1] == '/' || uri.ptr[len] == '/' || uri.ptr[len] == '?' ||
           uri.ptr[len] == '#';
}

/* A resource that has changed may be one inside of that which somebody subscribed to. */
void hub_subscription_tell(hub_toolset *toolset, hub_str uri)
{
    for (size_t len = uri.len; len > 0; len--) {
        if (len < uri.len && !is_inside(uri, len)) {
            continue;
        }
        const hub_subscription *subscription = find(toolset, (hub_str){.ptr = uri.ptr, .len = len});
        const hub_subscriber *at = subscription != NULL ? subscription->first : NULL;
        for (; at != NULL; at = at->next) {
            tell(at, uri);
        }
    }
}

/* A plugin may answer whatever it was asked while it hears of something else, so a subscription can
 * be gone after any word to it. What is asked newly cannot be answered before it is asked: those
 * that follow in the table are safe. */
void hub_subscription_rebind(hub_toolset *toolset)
{
    hub_subscription *at = toolset->subscriptions;
    while (at != NULL) {
        hub_call *asking = at->asking;
        at->asking = NULL;
        if (asking != NULL) {
            hub_call_drop(asking); /* the old instance hears of it */
        }
        at = asking != NULL ? toolset->subscriptions : at->hh.next;
    }
    hub_subscription *next;
    for (at = toolset->subscriptions; at != NULL; at = next) {
        next = at->hh.next;
        at->is_told = false;
        begin(at);
    }
}

/* Take the subscribers of profiles without the toolset from a subscription. */
static void sweep_one(hub_subscription *subscription)
{
    hub_str key = hub_str_of(subscription->toolset->settings->key);
    hub_subscriber *next;
    for (hub_subscriber *at = subscription->first; at != NULL; at = next) {
        next = at->next;
        if (hub_registry_find(at->session->profile->registry, key) == NULL) {
            answer(at, &(hub_outcome){.status = PATCHBAY_UNAVAILABLE,
                                      .json = HUB_STR("the toolset was disabled")});
            unlink_subscriber(at);
            free(at);
        }
    }
}

void hub_subscription_sweep(hub_toolset *toolset)
{
    hub_subscription *over = NULL; /* the toolset hears of them when nothing is walked any more */
    hub_subscription *next;
    for (hub_subscription *at = toolset->subscriptions; at != NULL; at = next) {
        next = at->hh.next;
        sweep_one(at);
        if (at->first == NULL) {
            take_out(at);
            at->next_over = over;
            over = at;
        }
    }
    while (over != NULL) {
        next = over->next_over;
        tell_end(over);
        over = next;
    }
}
