/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/log.h"
#include "hub/ask/ask.h"
#include "hub/ask/elicitation.h"
#include "hub/kernel/hub.h"
#include "hub/notices/listen.h"
#include "hub/notices/logging.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/router/router.h"
#include "hub/instances/session_instance.h"
#include "hub/tasks/task_watch.h"

#include <stdlib.h>

hub_err hub_session_create(hub_orchestrator *hub, const hub_session_options *options,
                           hub_session **ret_session, hub_error *reterr)
{
    hub_profile *profile = hub_find_profile(hub, options->profile);
    if (profile == NULL) {
        return hub_fail(reterr, HUB_ENOTFOUND, "there is no profile \"%s\"", options->profile);
    }
    if (hub->stopping) {
        return hub_fail(reterr, HUB_ESTATE, "the hub is stopping");
    }
    hub_session *session = calloc(1, sizeof *session);
    if (session == NULL ||
        (session->principal = hub_str_dup(hub_str_of(options->principal))) == NULL ||
        (session->account = hub_rates_join(hub, session->principal)) == NULL) {
        free(session != NULL ? session->principal : NULL);
        free(session);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    session->number = ++hub->last_session;
    session->profile = profile;
    session->transport = options->transport;
    session->port = options->port;
    session->listener = options->listener;
    session->is_one_request = options->is_one_request;
    session->next = profile->sessions;
    if (session->next != NULL) {
        session->next->prev = session;
    }
    profile->sessions = session;
    *ret_session = session;
    return HUB_OK;
}

static void receive_one(hub_session *session, hub_port *port, const hub_message *message)
{
    switch (message->kind) {
    case HUB_MESSAGE_REQUEST:
        hub_router_request(session, port, message);
        break;
    case HUB_MESSAGE_NOTIFICATION:
        hub_router_notification(session, message);
        break;
    default:
        if (!hub_ask_take_answer(session, message)) { /* an answer to nothing that was asked */
            hub_log(HUB_LOG_DEBUG, "client.stray_response",
                    HUB_F_TEXT("transport", session->transport));
        }
        break;
    }
}

/* Answer what is no message. Of text that is not JSON, an id that was seen is not to be trusted. */
static void refuse(hub_session *session, hub_port *port, hub_str id, hub_err err, const char *why)
{
    if (err == HUB_EPARSE) {
        id = HUB_STR_EMPTY;
    }
    hub_buf text;
    hub_buf_init(&text, 1024);
    hub_buf_printf(&text, "%s: %s", err == HUB_EPARSE ? "Parse error" : "Invalid Request", why);
    hub_respond_fault(session, port, id, hub_rpc_code(err), hub_buf_str(&text));
    hub_buf_fini(&text);
}

/* 2025-03-26 alone has JSON-RPC batches; each element is answered by itself. */
static void receive_batch(hub_session *session, hub_port *port, hub_str array)
{
    hub_json_iter it = hub_json_iterate(array);
    hub_str key;
    hub_str element;
    if (session->revision != HUB_REVISION_2025_03_26 || hub_json_count(array) == 0) {
        refuse(session, port, HUB_STR_EMPTY, HUB_EINVAL,
               "a batch needs protocol version 2025-03-26 and at least one message");
        return;
    }
    while (hub_json_next(&it, &key, &element)) {
        hub_message message;
        hub_error why = {.code = HUB_OK, .text = "a batch within a batch"};
        hub_err err = hub_message_scan(element, &message, &why);
        if (err == HUB_OK && message.kind != HUB_MESSAGE_BATCH) {
            receive_one(session, port, &message);
        } else {
            refuse(session, port, message.at[HUB_M_ID], err == HUB_OK ? HUB_EINVAL : err, why.text);
        }
    }
}

void hub_session_receive(hub_session *session, hub_port *port, hub_str bytes)
{
    hub_message message;
    hub_error why; /* not cleared for each message: a failure fills it */
    hub_err err = hub_message_scan(bytes, &message, &why);
    if (err != HUB_OK) {
        refuse(session, port, message.at[HUB_M_ID], err, why.text);
    } else if (message.kind == HUB_MESSAGE_BATCH) {
        receive_batch(session, port, message.whole);
    } else {
        receive_one(session, port, &message);
    }
}

void hub_session_take(hub_session *session, hub_port *port, const hub_message *message)
{
    if (message->kind == HUB_MESSAGE_BATCH) {
        refuse(session, port, HUB_STR_EMPTY, HUB_EINVAL, "a batch within a batch");
    } else {
        receive_one(session, port, message);
    }
}

void hub_session_refuse_oversize(hub_session *session, hub_port *port, size_t max_bytes)
{
    hub_buf text;
    hub_buf_init(&text, 256);
    hub_buf_printf(&text, "a message may have at most %zu bytes", max_bytes);
    hub_buf_add_char(&text, '\0');
    refuse(session, port, HUB_STR_EMPTY, HUB_ELIMIT, text.ptr != NULL ? text.ptr : "too large");
    hub_buf_fini(&text);
}

void hub_session_close(hub_session *session)
{
    if (session == NULL) {
        return;
    }
    session->closing = true; /* a module that hears of a cancel may finish other calls at once */
    while (session->calls != NULL) {
        hub_call_drop(session->calls);
    }
    hub_listen_close_all(session, false);
    hub_subscription_end_all(&session->subscribers);
    hub_logging_forget(session);
    hub_elicitation_forget(session);
    hub_task_watch_forget_session(session);
    hub_session_instance_end_all(session);
    if (session->prev != NULL) {
        session->prev->next = session->next;
    } else {
        session->profile->sessions = session->next;
    }
    if (session->next != NULL) {
        session->next->prev = session->prev;
    }
    hub_profile *profile = session->profile;
    hub_rates_leave(profile->hub, session->account);
    free(session->capabilities);
    free(session->principal);
    free(session);
    hub_profile_session_ended(profile);
}

size_t hub_session_in_flight(const hub_session *session)
{
    return session->call_count;
}

hub_revision hub_session_revision(const hub_session *session)
{
    return session->revision;
}
