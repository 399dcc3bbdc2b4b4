/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/listen.h"

#include "base/limits.h"
#include "hub/hub.h"

#include <stdlib.h>

static hub_str id_of(const hub_listen *listen)
{
    return (hub_str){.ptr = listen->id, .len = listen->id_len};
}

/* Whether each type of the filter has the shape that the specification gives it. */
static bool is_good_filter(hub_str filter)
{
    static const char *const FLAGS[] = {"toolsListChanged", "promptsListChanged",
                                        "resourcesListChanged"};
    for (size_t i = 0; i < sizeof FLAGS / sizeof FLAGS[0]; i++) {
        hub_json_type type = hub_json_type_of(hub_json_get(filter, hub_str_of(FLAGS[i])));
        if (type != HUB_JSON_NONE && type != HUB_JSON_TRUE && type != HUB_JSON_FALSE) {
            return false;
        }
    }
    hub_str uris = hub_json_get(filter, HUB_STR("resourceSubscriptions"));
    if (uris.len > 0 && hub_json_type_of(uris) != HUB_JSON_ARRAY) {
        return false;
    }
    hub_json_iter it = hub_json_iterate(uris);
    hub_str key;
    hub_str uri;
    while (hub_json_next(&it, &key, &uri)) {
        if (hub_json_type_of(uri) != HUB_JSON_STRING) {
            return false;
        }
    }
    return hub_json_type_of(filter) == HUB_JSON_OBJECT;
}

static bool wants(const hub_message *message, const char *type)
{
    hub_str value = hub_json_get(message->at[HUB_M_NOTIFICATIONS], hub_str_of(type));
    return hub_json_type_of(value) == HUB_JSON_TRUE;
}

/* The filter as far as it is honoured: types that nothing here can cause are left out. */
static void acknowledge(const hub_listen *listen)
{
    hub_buf params;
    hub_buf_init(&params, HUB_LIMIT_ID_BYTES + 256);
    hub_buf_add(&params, HUB_STR("{\"_meta\":{\"" HUB_META_SUBSCRIPTION_ID "\":"));
    hub_buf_add(&params, id_of(listen));
    hub_buf_add(&params, HUB_STR("},\"notifications\":{"));
    if (listen->tools_list_changed) {
        hub_buf_add(&params, HUB_STR("\"toolsListChanged\":true"));
    }
    hub_buf_add(&params, HUB_STR("}}"));
    if (hub_buf_ok(&params)) {
        hub_respond_notify(listen->port, HUB_STR("notifications/subscriptions/acknowledged"),
                           hub_buf_str(&params));
    }
    hub_buf_fini(&params);
}

void hub_listen_open(const hub_request *request)
{
    hub_session *session = request->session;
    hub_str id = request->message->at[HUB_M_ID];
    if (!is_good_filter(request->message->at[HUB_M_NOTIFICATIONS])) {
        hub_respond_error(request, HUB_RPC_INVALID_PARAMS,
                          HUB_STR("params.notifications must be an object of booleans "
                                  "(…ListChanged) and lists of text (resourceSubscriptions)"),
                          HUB_STR_EMPTY);
        return;
    }
    if (session->listen_count >= HUB_LIMIT_LISTENS_PER_SESSION) {
        hub_respond_error(request, HUB_RPC_OVERLOADED,
                          HUB_STR("too many open subscriptions on this connection: end one first"),
                          HUB_STR_EMPTY);
        return;
    }
    hub_listen *listen = malloc(sizeof *listen + id.len);
    if (listen == NULL) {
        hub_respond_error(request, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"), HUB_STR_EMPTY);
        return;
    }
    *listen = (hub_listen){.next = session->listens,
                           .port = request->port,
                           .tools_list_changed = wants(request->message, "toolsListChanged"),
                           .id_len = id.len};
    memcpy(listen->id, id.ptr, id.len);
    session->listens = listen;
    session->listen_count++;
    acknowledge(listen);
}

hub_listen *hub_listen_find(const hub_session *session, hub_str id)
{
    hub_listen *listen = session->listens;
    while (listen != NULL && !hub_str_eq(id_of(listen), id)) {
        listen = listen->next;
    }
    return listen;
}

void hub_listen_cancel(hub_session *session, hub_str id)
{
    hub_listen **link = &session->listens;
    while (*link != NULL && !hub_str_eq(id_of(*link), id)) {
        link = &(*link)->next;
    }
    hub_listen *listen = *link;
    if (listen != NULL) {
        *link = listen->next;
        session->listen_count--;
        free(listen);
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
    hub_buf_add(&text, HUB_STR("{\"_meta\":{\"" HUB_META_SUBSCRIPTION_ID "\":"));
    hub_buf_add(&text, id_of(listen));
    hub_buf_add(&text, HUB_STR("}}"));
    if (hub_buf_ok(&text)) {
        hub_message message = {.kind = HUB_MESSAGE_REQUEST};
        message.at[HUB_M_ID] = id_of(listen);
        hub_request request = {.port = listen->port, .message = &message};
        request.context.era = HUB_ERA_MODERN;
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
    while (session->listens != NULL) {
        hub_listen *listen = session->listens;
        session->listens = listen->next;
        if (say_so) {
            say_goodbye(listen);
        }
        free(listen);
    }
    session->listen_count = 0;
}
