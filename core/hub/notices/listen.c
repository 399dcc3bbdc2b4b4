/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/notices/listen.h"

#include "base/limits.h"
#include "hub/catalogs/parking.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/notices/notifier.h"
#include "hub/notices/subscription_internal.h"

#include <stdlib.h>

static hub_str id_of(const hub_listen *listen)
{
    return (hub_str){.ptr = listen->id, .len = listen->id_len};
}

void hub_listen_add_meta(const hub_listen *listen, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("\"_meta\":{\"" HUB_META_SUBSCRIPTION_ID "\":"));
    hub_buf_add(out, id_of(listen));
    hub_buf_add_char(out, '}');
}

static const hub_str URIS = {.ptr = "resourceSubscriptions", .len = 21};

static const hub_str FLAGS[HUB_TOPICS] = {
    [HUB_TOPIC_TOOLS] = {.ptr = "toolsListChanged", .len = 16},
    [HUB_TOPIC_RESOURCES] = {.ptr = "resourcesListChanged", .len = 20},
    [HUB_TOPIC_PROMPTS] = {.ptr = "promptsListChanged", .len = 18},
};

/* What is wrong with a filter, or NULL. */
static const char *check_filter(hub_str filter)
{
    static const char shape[] = "params.notifications must be an object of booleans "
                                "(…ListChanged) and lists of text (resourceSubscriptions)";
    if (hub_json_type_of(filter) != HUB_JSON_OBJECT) {
        return shape;
    }
    for (int topic = 0; topic < HUB_TOPICS; topic++) {
        hub_json_type type = hub_json_type_of(hub_json_get(filter, FLAGS[topic]));
        if (type != HUB_JSON_NONE && type != HUB_JSON_TRUE && type != HUB_JSON_FALSE) {
            return shape;
        }
    }
    hub_str uris = hub_json_get(filter, URIS);
    if (uris.len > 0 && hub_json_type_of(uris) != HUB_JSON_ARRAY) {
        return shape;
    }
    hub_json_iter it = hub_json_iterate(uris);
    hub_str key;
    hub_str uri;
    while (hub_json_next(&it, &key, &uri)) {
        if (hub_json_type_of(uri) != HUB_JSON_STRING) {
            return shape;
        }
    }
    return hub_json_count(uris) > HUB_LIMIT_SUBSCRIPTIONS
               ? "params.notifications.resourceSubscriptions has more than 256 URIs"
               : NULL;
}

/* Wait for whoever may have a URI of the filter that nobody has who is known: of several, for all. */
static bool await_resources(const hub_request *request)
{
    hub_json_iter it =
        hub_json_iterate(hub_json_get(request->message->at[HUB_M_NOTIFICATIONS], URIS));
    hub_str key;
    hub_str raw;
    hub_buf missing;
    size_t count = 0;
    hub_buf_init(&missing, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    while (count < 2 && hub_json_next(&it, &key, &raw)) {
        hub_buf uri;
        hub_buf_init(&uri, raw.len);
        hub_buf own;
        hub_buf_init(&own, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        if (hub_json_decode(raw, &uri) != HUB_OK ||
            hub_sight_find_resource(hub_request_sight(request), hub_buf_str(&uri), &own) == NULL) {
            hub_buf_clear(&missing);
            hub_buf_add(&missing, hub_buf_str(&uri));
            count++;
        }
        hub_buf_fini(&own);
        hub_buf_fini(&uri);
    }
    bool is_taken =
        count > 0 && hub_parking_await(request, HUB_KIND_RESOURCE,
                                       count == 1 ? hub_buf_str(&missing) : HUB_STR_EMPTY);
    hub_buf_fini(&missing);
    return is_taken;
}

/* Subscribe to the URIs of the filter. */
static hub_err subscribe(const hub_request *request, hub_listen *listen)
{
    hub_json_iter it =
        hub_json_iterate(hub_json_get(request->message->at[HUB_M_NOTIFICATIONS], URIS));
    hub_str key;
    hub_str raw;
    hub_err err = HUB_OK;
    while (err == HUB_OK && hub_json_next(&it, &key, &raw)) {
        hub_buf uri;
        hub_buf_init(&uri, raw.len);
        hub_subscription_fate fate = HUB_SUBSCRIPTION_NO_MEMORY;
        if (hub_json_decode(raw, &uri) == HUB_OK) {
            fate = hub_subscription_add(request, listen, hub_buf_str(&uri));
        }
        err = fate == HUB_SUBSCRIPTION_NO_MEMORY ? HUB_ENOMEM : HUB_OK;
        hub_buf_fini(&uri);
    }
    return err;
}

/* The filter as far as it is honoured: what nothing here can cause is left out. */
static hub_err send_acknowledgement(const hub_listen *listen)
{
    hub_buf params;
    hub_buf_init(&params, SIZE_MAX / 2); /* its URIs are bounded */
    hub_buf_add_char(&params, '{');
    hub_listen_add_meta(listen, &params);
    hub_buf_add(&params, HUB_STR(",\"notifications\":{"));
    for (int topic = 0; topic < HUB_TOPICS; topic++) {
        if (listen->wants[topic]) {
            hub_json_add_key(&params, FLAGS[topic]);
            hub_buf_add(&params, HUB_STR("true"));
        }
    }
    if (listen->subscribers.count > 0) {
        hub_json_add_key(&params, URIS);
        hub_buf_add_char(&params, '[');
        hub_subscription_add_uris(listen, &params);
        hub_buf_add_char(&params, ']');
    }
    hub_buf_add(&params, HUB_STR("}}"));
    hub_err err = params.failed;
    if (err == HUB_OK) {
        hub_respond_notify(listen->port, HUB_STR("notifications/subscriptions/acknowledged"),
                           hub_buf_str(&params));
    }
    hub_buf_fini(&params);
    return err;
}

/* The stream's own request, to answer; `message` holds what it refers to. */
static hub_request make_request(const hub_listen *listen, hub_message *message)
{
    message->at[HUB_M_ID] = id_of(listen);
    hub_request request = {.port = listen->port, .message = message};
    request.context.era = HUB_ERA_MODERN;
    return request;
}

void hub_listen_tell(hub_listen *listen, hub_topic topic)
{
    if (!listen->wants[topic] || listen->is_over) {
        return;
    }
    if (!listen->is_acknowledged) {
        listen->missed[topic] = true;
        return;
    }
    hub_buf params;
    hub_buf_init(&params, HUB_LIMIT_ID_BYTES + 128);
    hub_buf_add_char(&params, '{');
    hub_listen_add_meta(listen, &params);
    hub_buf_add_char(&params, '}');
    if (hub_buf_ok(&params)) {
        hub_respond_notify(listen->port, hub_topic_method(topic), hub_buf_str(&params));
    }
    hub_buf_fini(&params);
}

/* Acknowledge it, and tell what it has missed. One that cannot be acknowledged is over. */
static void acknowledge(hub_listen *listen)
{
    ev_timer_stop(hub_loop(hub_profile_hub(hub_session_profile(listen->session))),
                  &listen->patience);
    if (send_acknowledgement(listen) != HUB_OK) {
        hub_message message = {.kind = HUB_MESSAGE_REQUEST};
        hub_request request = make_request(listen, &message);
        hub_respond_refusal(&request, HUB_ENOMEM);
        listen->is_over = true;
        return;
    }
    listen->is_acknowledged = true;
    for (int topic = 0; topic < HUB_TOPICS; topic++) {
        if (listen->missed[topic]) {
            hub_listen_tell(listen, (hub_topic)topic);
        }
    }
    hub_subscription_tell_missed(listen);
}

void hub_listen_settled(hub_listen *listen)
{
    bool is_open = !listen->is_over && !hub_session_is_closing(listen->session);
    if (--listen->awaited == 0 && !listen->is_acknowledged && is_open) {
        acknowledge(listen);
    }
}

static void on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    acknowledge(timer->data);
}

/* The list of open ones has changed: the kernel asks for ids only while there are any. */
static void note_open(hub_session *session)
{
    hub_session_set_holding(session, &HUB_NOTICES_STATION,
                            hub_notices_in(session)->listens != NULL);
}

static hub_listen *create_listen(const hub_request *request)
{
    hub_session *session = request->session;
    hub_str id = request->message->at[HUB_M_ID];
    hub_str filter = request->message->at[HUB_M_NOTIFICATIONS];
    hub_listen *listen = malloc(sizeof *listen + id.len);
    if (listen == NULL) {
        return NULL;
    }
    *listen = (hub_listen){
        .next = hub_notices_in(session)->listens, .port = request->port, .id_len = id.len};
    memcpy(listen->id, id.ptr, id.len);
    for (int topic = 0; topic < HUB_TOPICS; topic++) {
        listen->wants[topic] =
            hub_json_type_of(hub_json_get(filter, FLAGS[topic])) == HUB_JSON_TRUE;
    }
    listen->session = session;
    double patience_s =
        hub_settings_of(hub_session_hub(session))->limits.discover_timeout_ms / 1000.0;
    ev_timer_init(&listen->patience, on_patience, patience_s, 0);
    listen->patience.data = listen;
    hub_notices_in(session)->listens = listen;
    hub_notices_in(session)->listen_count++;
    note_open(session);
    return listen;
}

void hub_listen_open(const hub_request *request)
{
    hub_session *session = request->session;
    const char *fault = check_filter(request->message->at[HUB_M_NOTIFICATIONS]);
    if (fault != NULL) {
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS, hub_str_of(fault), HUB_STR_EMPTY);
        return;
    }
    if (hub_notices_in(session)->listen_count >= HUB_LIMIT_LISTENS_PER_SESSION) {
        hub_error why;
        (void)hub_fail(&why, HUB_ELIMIT,
                       "too many open subscriptions on this connection (%d): end one first",
                       HUB_LIMIT_LISTENS_PER_SESSION);
        hub_respond_error(request, HUB_RPC_OVERLOADED, hub_str_of(why.text), HUB_STR_EMPTY);
        return;
    }
    if (request->call == NULL && await_resources(request)) {
        return;
    }
    hub_listen *listen = create_listen(request);
    if (listen == NULL || subscribe(request, listen) != HUB_OK) {
        hub_listen_cancel(session, request->message->at[HUB_M_ID]);
        hub_respond_refusal(request, HUB_ENOMEM);
        return;
    }
    hub_notifier_begin_to_tell(session);
    listen->awaited = 1; /* not acknowledged before all have been asked */
    hub_subscription_begin(listen);
    hub_listen_settled(listen);
    if (listen->awaited > 0) {
        ev_timer_start(hub_loop(hub_session_hub(session)), &listen->patience);
    }
}

static void destroy(hub_listen *listen)
{
    ev_timer_stop(hub_loop(hub_profile_hub(hub_session_profile(listen->session))),
                  &listen->patience);
    listen->is_over = true; /* a toolset that is told of the end may answer something else */
    hub_subscription_end_all(&listen->subscribers);
    free(listen);
}

bool hub_listen_is_open(const hub_session *session, hub_str id)
{
    const hub_listen *listen = hub_notices_in(session)->listens;
    while (listen != NULL && !hub_str_eq(id_of(listen), id)) {
        listen = listen->next;
    }
    return listen != NULL;
}

void hub_listen_cancel(hub_session *session, hub_str id)
{
    hub_listen **link = &hub_notices_in(session)->listens;
    while (*link != NULL && !hub_str_eq(id_of(*link), id)) {
        link = &(*link)->next;
    }
    hub_listen *listen = *link;
    if (listen != NULL) {
        *link = listen->next;
        hub_notices_in(session)->listen_count--;
        note_open(session);
        destroy(listen);
    }
}

/* The graceful end that basic/patterns/subscriptions asks for, then the notification that
 * basic/patterns/cancellation demands. In this order: for a client the result ends the request, and
 * what cancels an ended request is ignored; the other way round it would meet a result of nothing.
 */
static void say_goodbye(const hub_listen *listen)
{
    hub_buf text;
    hub_buf_init(&text, 2 * HUB_LIMIT_ID_BYTES + 256);
    hub_buf_add_char(&text, '{');
    hub_listen_add_meta(listen, &text);
    hub_buf_add_char(&text, '}');
    if (hub_buf_ok(&text)) {
        hub_message message = {.kind = HUB_MESSAGE_REQUEST};
        hub_request request = make_request(listen, &message);
        hub_respond_result(&request, hub_buf_str(&text));
    }
    hub_buf_clear(&text);
    hub_buf_add(&text, HUB_STR("{\"requestId\":"));
    hub_buf_add(&text, id_of(listen));
    hub_buf_add(&text, HUB_STR(",\"reason\":\"the hub is shutting down\"}"));
    if (hub_buf_ok(&text)) {
        hub_respond_notify(listen->port, HUB_STR("notifications/cancelled"), hub_buf_str(&text));
    }
    hub_buf_fini(&text);
}

void hub_listen_close_all(hub_session *session, bool say_so)
{
    while (hub_notices_in(session)->listens != NULL) {
        hub_listen *listen = hub_notices_in(session)->listens;
        hub_notices_in(session)->listens = listen->next;
        if (say_so && !listen->is_over) {
            say_goodbye(listen);
        }
        destroy(listen);
    }
    hub_notices_in(session)->listen_count = 0;
    note_open(session);
}
