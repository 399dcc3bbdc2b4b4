/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/notices/subscription.h"

#include "base/limits.h"
#include "base/log.h"
#include "hub/access/access.h"
#include "hub/instances/principal_instance.h"
#include "hub/instances/session_instance.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/sight.h"
#include "hub/notices/subscription_internal.h"
#include "hub/notices/update_pace.h"
#include "hub/report/unknown.h"

#include <stdlib.h>

session_notices *hub_notices_in(const hub_session *session)
{
    return hub_session_part(session, &HUB_NOTICES_STATION);
}

toolset_notices *hub_notices_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_NOTICES_STATION);
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
    hub_json_add_string(&text, hub_subscription_uri(subscription));
    size_t end = text.len;
    hub_buf_add_char(&text, '}');
    hub_buf_add(&text, hub_subscription_uri(subscription));
    patchbay_request request = {
        .tool = {.ptr = text.ptr + end + 1, .len = subscription->uri_len},
        .args_json = HUB_STR("{}"),
        .method = hub_str_of(method),
        .params_json = {.ptr = text.ptr, .len = end + 1},
        .name_json = {.ptr = text.ptr + begin, .len = end - begin},
    };
    hub_err err = hub_buf_ok(&text)
                      ? hub_toolset_request(toolset, &request,
                                            hub_toolset_settings_of(toolset)->call_timeout_ms,
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

/* Nobody wants to hear of it now. One that is out of its toolset's table is freed; else it may be
 * gone when this returns, by what the toolset does when it hears of it. */
static void tell_end(hub_subscription *subscription)
{
    hub_toolset *toolset = subscription->toolset;
    hub_call *asking = subscription->asking;
    bool is_told = subscription->is_told || asking != NULL;
    bool is_over = subscription->is_over;
    subscription->asking = NULL;
    subscription->is_told = false;
    if (asking != NULL) {
        hub_call_drop(asking);
    }
    if (is_told && hub_toolset_binding(toolset) != NULL) {
        hub_call *call;
        hub_err err =
            ask_toolset(subscription, "resources/unsubscribe", ignore_outcome, NULL, &call);
        if (err != HUB_OK) {
            hub_log(HUB_LOG_WARNING, "resource.not_unsubscribed",
                    HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                    HUB_F_TEXT("reason", hub_err_text(err)));
        }
    }
    if (is_over) {
        free(subscription);
    }
}

static void take_out(hub_subscription *subscription)
{
    if (hub_notices_of(subscription->toolset)->next_subscription == subscription) {
        hub_notices_of(subscription->toolset)->next_subscription = subscription->hh.next;
    }
    HASH_DEL(hub_notices_of(subscription->toolset)->subscriptions, subscription);
    subscription->is_over = true;
}

/* After subscribers have gone or fallen asleep. */
static void settle(hub_subscription *subscription)
{
    if (subscription->first == NULL) {
        take_out(subscription);
    }
    if (subscription->awake == 0) {
        tell_end(subscription);
    }
}

/* ---- subscribers ----------------------------------------------------------------------------- */

/* Take a subscriber out of its lists, and free it. What it subscribed to stays. */
static void forget(hub_subscriber *subscriber)
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
    subscriber->subscription->awake -= subscriber->is_asleep ? 0 : 1;
    if (subscriber->is_awaited) {
        subscriber->listen->awaited--; /* it ends, too */
    }
    hub_update_pace_forget(subscriber);
    free(subscriber);
}

void hub_subscriber_end(hub_subscriber *subscriber)
{
    hub_subscription *subscription = subscriber->subscription;
    forget(subscriber);
    settle(subscription);
}

void hub_subscription_end_all(hub_subscriber_list *list)
{
    while (list->first != NULL) {
        hub_subscriber_end(list->first);
    }
}

hub_subscription *hub_subscription_find(const hub_toolset *toolset, hub_str uri)
{
    hub_subscription *found = NULL;
    HASH_FIND(hh, hub_notices_of(toolset)->subscriptions, uri.ptr, (unsigned)uri.len, found);
    return found;
}

static hub_subscription *find_or_add(hub_toolset *toolset, hub_str uri)
{
    hub_subscription *subscription = hub_subscription_find(toolset, uri);
    if (subscription == NULL) {
        subscription = calloc(1, sizeof *subscription + uri.len);
        if (subscription != NULL) {
            subscription->toolset = toolset;
            subscription->uri_len = uri.len;
            memcpy(subscription->uri, uri.ptr, uri.len);
            HASH_ADD_KEYPTR(hh, hub_notices_of(toolset)->subscriptions, subscription->uri,
                            (unsigned)subscription->uri_len, subscription);
            if (!hub_map_has_taken(&subscription->hh)) {
                free(subscription);
                return NULL;
            }
        }
    }
    return subscription;
}

hub_subscriber *hub_subscriber_find(const hub_subscriber_list *list, const hub_toolset *toolset,
                                    hub_str own_uri, bool is_mapped, const hub_subscriber *but)
{
    hub_subscriber *at = list->first;
    while (at != NULL &&
           (at == but || at->subscription->toolset != toolset || at->is_mapped != is_mapped ||
            !hub_str_eq(hub_subscription_uri(at->subscription), own_uri))) {
        at = at->list_next;
    }
    return at;
}

hub_subscriber *hub_subscriber_add(hub_session *session, hub_listen *listen, hub_toolset *toolset,
                                   hub_str own_uri, bool is_mapped)
{
    hub_subscriber_list *list =
        listen != NULL ? &listen->subscribers : &hub_notices_in(session)->subscribers;
    hub_subscriber **end = &list->first;
    while (*end != NULL) { /* in the order in which they were asked for */
        end = &(*end)->list_next;
    }
    hub_subscriber *subscriber = calloc(1, sizeof *subscriber);
    hub_subscription *subscription = subscriber != NULL ? find_or_add(toolset, own_uri) : NULL;
    if (subscription == NULL) {
        free(subscriber);
        return NULL;
    }
    *subscriber = (hub_subscriber){
        .subscription = subscription,
        .next = subscription->first,
        .list = list,
        .session = session,
        .listen = listen,
        .is_mapped = is_mapped,
        .is_new = listen != NULL,
    };
    if (subscription->first != NULL) {
        subscription->first->prev = subscriber;
    }
    subscription->first = subscriber;
    subscription->awake++;
    *end = subscriber;
    list->count++;
    return subscriber;
}

void hub_subscriber_answer(hub_subscriber *subscriber, const hub_outcome *outcome)
{
    const hub_call_table *calls = hub_calls_of(hub_toolset_hub(subscriber->subscription->toolset));
    hub_call *call = subscriber->call != 0 ? hub_call_find(calls, subscriber->call, NULL) : NULL;
    subscriber->call = 0;
    if (call != NULL) {
        hub_call_finish(call, outcome);
    }
}

/* Answer one that waits, and forget it if it has come to nothing: refused, or a second time the
 * same. */
static void answer_waiting(hub_subscriber *subscriber, const hub_outcome *outcome)
{
    const hub_subscription *subscription = subscriber->subscription;
    hub_subscriber_answer(subscriber, outcome);
    bool is_double =
        subscriber->is_repeat &&
        hub_subscriber_find(subscriber->list, subscription->toolset,
                            hub_subscription_uri(subscription), subscriber->is_mapped, subscriber);
    subscriber->is_repeat = false;
    if (outcome->status != PATCHBAY_RESULT || is_double) {
        forget(subscriber);
    }
}

/* The answer that a stream waits for is there, or will not be. */
static void settle_awaited(hub_subscriber *subscriber, bool is_refused)
{
    hub_listen *listen = subscriber->listen;
    subscriber->is_awaited = false;
    if (is_refused) {
        forget(subscriber);
    }
    hub_listen_settled(listen);
}

/* The toolset has answered. If it refuses, those whose request brought this about are no
 * subscribers; streams that were acknowledged, and those from before, stay, and the next request
 * tries again. */
static void on_subscribed(void *ctx, const hub_outcome *outcome)
{
    hub_subscription *subscription = ctx;
    subscription->asking = NULL;
    subscription->is_told = outcome->status == PATCHBAY_RESULT;
    if (subscription->is_over) {
        return;
    }
    if (!subscription->is_told) {
        hub_log(HUB_LOG_WARNING, "resource.not_subscribed",
                HUB_F_TEXT("toolset", hub_toolset_key(subscription->toolset)),
                HUB_F_STR("uri", hub_subscription_uri(subscription)),
                HUB_F_STR("reason", outcome->json));
    }
    hub_subscriber *next;
    for (hub_subscriber *at = subscription->first; at != NULL; at = next) {
        next = at->next;
        if (at->call != 0) {
            answer_waiting(at, outcome);
        } else if (at->is_awaited) {
            settle_awaited(at, !subscription->is_told && !at->listen->is_acknowledged);
        }
    }
    settle(subscription);
}

void hub_subscription_tell_begin(hub_subscription *subscription)
{
    if (subscription->is_told || subscription->asking != NULL || subscription->awake == 0) {
        return;
    }
    hub_err err = ask_toolset(subscription, "resources/subscribe", on_subscribed, subscription,
                              &subscription->asking);
    if (err != HUB_OK) {
        on_subscribed(subscription, &(hub_outcome){.status = PATCHBAY_FAILED,
                                                   .json = hub_str_of(hub_err_text(err))});
    }
}

/* ---- toolsets that come and go --------------------------------------------------------------- */

/* Walking over all subscriptions, while the toolset hears of one after the other: a plugin may
 * answer whatever it was asked meanwhile, so any of them can be gone after any word to it. The next
 * one is kept where take_out() finds it; a walk inside of a walk goes to the end for both. */
static hub_subscription *step(hub_toolset *toolset, hub_subscription *at)
{
    hub_notices_of(toolset)->next_subscription = at->hh.next;
    return at;
}

/* Tell the toolset of all that it does not know of. */
static void tell_all_begin(hub_toolset *toolset)
{
    hub_subscription *at = hub_notices_of(toolset)->subscriptions;
    for (; at != NULL; at = hub_notices_of(toolset)->next_subscription) {
        hub_subscription_tell_begin(step(toolset, at));
    }
}

void hub_subscription_rebind(hub_toolset *toolset)
{
    hub_subscription *at = hub_notices_of(toolset)->subscriptions;
    for (; at != NULL; at = hub_notices_of(toolset)->next_subscription) {
        hub_call *asking = step(toolset, at)->asking;
        at->asking = NULL;
        if (asking != NULL) {
            hub_call_drop(asking); /* the old instance hears of it */
        }
    }
    for (at = hub_notices_of(toolset)->subscriptions; at != NULL; at = at->hh.next) {
        at->is_told = false;
    }
    tell_all_begin(toolset);
}

/* Rules forbid it: who waits for an answer gets that of an unknown resource. */
static void forbid(hub_subscriber *subscriber)
{
    hub_call *call =
        subscriber->call != 0
            ? hub_call_find(hub_calls_of(hub_toolset_hub(subscriber->subscription->toolset)),
                            subscriber->call, NULL)
            : NULL;
    hub_buf uri;
    hub_buf error;
    hub_buf_init(&uri, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&error, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (call != NULL) {
        hub_subscriber_add_uri(subscriber, hub_subscription_uri(subscriber->subscription), &uri);
        hub_unknown_add_error(call, HUB_KIND_RESOURCE, hub_buf_str(&uri), &error);
        hub_subscriber_answer(
            subscriber, &(hub_outcome){.status = PATCHBAY_RPC_ERROR, .json = hub_buf_str(&error)});
    }
    if (subscriber->is_awaited) {
        settle_awaited(subscriber, true);
    } else {
        forget(subscriber);
    }
    hub_buf_fini(&error);
    hub_buf_fini(&uri);
}

/* The toolset is gone from the sight of a subscriber, who sleeps until it is back; who waits for an
 * answer gets one, and is none. */
static void lose(hub_subscriber *subscriber)
{
    if (subscriber->call != 0) {
        answer_waiting(subscriber, &(hub_outcome){.status = PATCHBAY_UNAVAILABLE,
                                                  .json = HUB_STR("the toolset was disabled")});
        return;
    }
    subscriber->is_asleep = true;
    subscriber->subscription->awake--;
    if (subscriber->is_awaited) {
        settle_awaited(subscriber, false);
    }
}

/* Put the subscribers of profiles without the toolset to sleep, and end those of whom rules hide it,
 * or the resource. */
static void sweep_one(hub_subscription *subscription)
{
    const hub_toolset *toolset = subscription->toolset;
    hub_subscriber *next;
    for (hub_subscriber *at = subscription->first; at != NULL; at = next) {
        next = at->next;
        if (!hub_audience_has(hub_session_audience(at->session), toolset)) {
            if (!at->is_asleep) {
                lose(at);
            }
        } else if (!hub_access_lets_hear(at->session, toolset,
                                         hub_subscription_uri(subscription))) {
            forbid(at);
        }
    }
}

void hub_subscription_end_session(hub_session *session)
{
    hub_subscription_end_all(&hub_notices_in(session)->subscribers);
}

void hub_subscription_check_gone(hub_toolset *toolset)
{
    hub_assert(hub_notices_of(toolset)->subscriptions == NULL);
}

void hub_subscription_sweep(hub_toolset *toolset, bool at_once)
{
    (void)at_once;
    if (hub_toolset_is_own(toolset)) {
        hub_subscription_drop(toolset); /* its session has it no more */
        return;
    }
    hub_toolset *next;
    for (hub_toolset *own = hub_session_instances_of(toolset); own != NULL; own = next) {
        next = hub_session_instances_next(own);
        hub_subscription_sleep(own); /* rules may be others */
    }
    for (hub_toolset *own = hub_principal_instances_of(toolset); own != NULL; own = next) {
        next = hub_principal_instances_next(own);
        hub_subscription_sleep(own);
    }
    hub_subscription_sleep(toolset);
}

void hub_subscription_sleep(hub_toolset *toolset)
{
    hub_subscription *over = NULL; /* the toolset hears of them when nothing is walked any more */
    hub_subscription *next;
    for (hub_subscription *at = hub_notices_of(toolset)->subscriptions; at != NULL; at = next) {
        next = at->hh.next;
        sweep_one(at);
        if (at->first == NULL) {
            take_out(at);
        }
        if (at->awake == 0 && (at->is_over || at->is_told || at->asking != NULL)) {
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

void hub_subscription_forget(hub_toolset *toolset)
{
    while (hub_notices_of(toolset)->subscriptions != NULL) {
        hub_subscription *subscription = hub_notices_of(toolset)->subscriptions;
        hub_assert(subscription->awake == 0 && !subscription->is_told);
        while (subscription->first->next != NULL) {
            forget(subscription->first);
        }
        hub_subscriber_end(subscription->first); /* the last one takes it along */
    }
}

void hub_subscription_wake(const hub_audience *audience, hub_toolset *toolset)
{
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    for (hub_subscription *at = hub_notices_of(toolset)->subscriptions; at != NULL;
         at = at->hh.next) {
        for (hub_subscriber *one = at->first; one != NULL; one = one->next) {
            /* Rules may hide it from some of the audience, who sleep on. */
            if (one->is_asleep && hub_session_audience(one->session) == audience &&
                hub_exposure_source(hub_session_exposure(one->session), key) != NULL) {
                one->is_asleep = false;
                at->awake++;
            }
        }
    }
    tell_all_begin(toolset);
}
