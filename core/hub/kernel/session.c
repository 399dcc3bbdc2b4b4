/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/client.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/sight.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

/* ---- beginning and end ----------------------------------------------------------------------- */

static void link_profile(hub_session *session, hub_profile *profile)
{
    hub_assert(session->profile == NULL && session->prev == NULL);
    hub_assert(profile->sessions == NULL || profile->sessions->prev == NULL);
    session->profile = profile;
    session->next = profile->sessions;
    if (session->next != NULL) {
        session->next->prev = session;
    }
    profile->sessions = session;
}

static hub_identity *identify(const hub_session_options *options)
{
    const hub_identity draft = {.name = options->principal};
    return options->principal != NULL ? hub_identity_make(&draft)
                                      : hub_identity_ref(options->identity);
}

/* What options have as texts. False when out of memory. */
static bool keep_texts(hub_session *session, const hub_session_options *options)
{
    if (options->peer != NULL) {
        hub_session_set_peer(session, options->peer);
    }
    if (options->metadata != NULL) {
        session->metadata = hub_str_dup(hub_str_of(options->metadata));
    }
    return options->metadata == NULL || session->metadata != NULL;
}

/* One that never began. */
static void discard(hub_session *session)
{
    if (session != NULL) {
        free(session->metadata);
        free(session);
    }
}

/* The profile of a session; NULL: there is none. Who has one is told of no other. */
static hub_profile *choose_profile(hub_orchestrator *hub, const hub_session_options *options,
                                   hub_error *reterr)
{
    const hub_identity *who = options->identity;
    const char *wanted = options->profile;
    const char *own = who != NULL ? who->profile : NULL;
    bool is_its_own = own == NULL || wanted == NULL || strcmp(own, wanted) == 0;
    hub_profile *profile = is_its_own ? hub_find_profile(hub, wanted != NULL ? wanted : own) : NULL;
    if (profile == NULL && own == NULL && wanted != NULL) {
        (void)hub_settings_fail_profile(hub->settings, wanted, reterr);
    } else if (profile == NULL) {
        (void)hub_fail(reterr, HUB_ENOTFOUND, "there is no profile \"%s\"",
                       wanted != NULL ? wanted : own);
    }
    return profile;
}

hub_err hub_session_create(hub_orchestrator *hub, const hub_session_options *options,
                           hub_session **ret_session, hub_error *reterr)
{
    hub_profile *profile = choose_profile(hub, options, reterr);
    if (profile == NULL) {
        return HUB_ENOTFOUND;
    }
    if (hub->stopping) {
        return hub_fail(reterr, HUB_ESTATE, "the hub is stopping");
    }
    hub_session *session = calloc(1, sizeof *session + hub_stations_bytes(HUB_PART_SESSION));
    hub_identity *identity = identify(options);
    if (session == NULL || identity == NULL || !keep_texts(session, options) ||
        (session->principal = hub_principal_join(hub, identity->name)) == NULL) {
        hub_identity_unref(identity);
        discard(session);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    session->magic = HUB_MAGIC_SESSION;
    session->identity = identity;
    session->number = ++hub->last_session;
    session->begun_us = hub_clock_turn_us();
    session->transport = options->transport;
    session->port = options->port;
    session->listener = options->listener;
    session->is_one_request = options->is_one_request;
    session->acts = options->acts;
    session->client = hub_client_ref(options->client);
    link_profile(session, profile);
    hub_audience_join(session);
    hub_principal_note(hub, session->principal, identity);
    *ret_session = session;
    return HUB_OK;
}

void hub_session_close(hub_session *session)
{
    if (session == NULL) {
        return;
    }
    HUB_IS(session, SESSION);
    hub_assert(!session->closing);
    hub_profile *profile = session->profile;
    HUB_IS(profile, PROFILE);
    session->closing = true; /* a module that hears of a cancel may finish other calls at once */
    while (session->calls != NULL) {
        hub_call_drop(session->calls);
    }
    HUB_STATIONS_TELL_BACK(session_ends, session);
    hub_assert(session->calls == NULL && session->call_count == 0);
    hub_assert(session->held_bytes == 0);
    hub_audience_leave(session);
    if (session->prev != NULL) {
        hub_assert(session->prev->next == session);
        session->prev->next = session->next;
    } else {
        hub_assert(profile->sessions == session);
        profile->sessions = session->next;
    }
    if (session->next != NULL) {
        hub_assert(session->next->prev == session);
        session->next->prev = session->prev;
    }
    hub_client_leave(session->client);
    hub_principal_leave(profile->hub, session->principal);
    hub_identity_unref(session->identity);
    free(session->capabilities);
    free(session->metadata);
    session->magic = 0;
    free(session);
    hub_profile_session_ended(profile);
}

bool hub_session_judge(hub_session *session, hub_identity *identity)
{
    HUB_IS(session, SESSION);
    hub_assert(strcmp(identity->name, hub_session_who(session)) == 0);
    if (identity->profile != NULL &&
        strcmp(identity->profile, hub_profile_name(session->profile)) != 0) {
        return false;
    }
    if (session->calls != NULL && identity != session->identity) {
        HUB_STATIONS_TELL(session_judged, session);
    }
    (void)hub_identity_ref(identity);
    hub_identity_unref(session->identity);
    session->identity = identity;
    hub_principal_note(session->profile->hub, session->principal, identity);
    return true;
}

void hub_session_renew(hub_session *session, const hub_auth_settings *auth)
{
    hub_identity *own = session->identity;
    if (!hub_identity_is_of_token(own) || hub_auth_renew(auth, &session->identity)) {
        return;
    }
    hub_principal_forget(session->principal, own);
    hub_identity bare = {.name = own->name, .profile = own->profile, .expires = 1};
    memcpy(bare.credential, own->credential, sizeof bare.credential);
    hub_identity *spent = hub_identity_make(&bare);
    session->identity = spent != NULL ? spent : hub_identity_ref(&HUB_IDENTITY_NOBODY);
    hub_identity_unref(own);
}

void hub_session_abort(hub_session *session)
{
    HUB_IS(session, SESSION);
    while (session->calls != NULL) {
        hub_call_abort(session->calls, PATCHBAY_UNAVAILABLE,
                       HUB_STR("the hub is shutting down: try again"));
    }
}

/* ---- messages -------------------------------------------------------------------------------- */

static void receive_one(hub_session *session, hub_port *port, const hub_message *message)
{
    const hub_hub_ops *ops = session->profile->hub->ops;
    switch (message->kind) {
    case HUB_MESSAGE_REQUEST:
        ops->request(session, port, message);
        break;
    case HUB_MESSAGE_NOTIFICATION:
        ops->notification(session, message);
        break;
    default:
        if (!ops->response(session, message)) { /* an answer to nothing that was asked */
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
    HUB_IS(session, SESSION);
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
    HUB_IS(session, SESSION);
    if (message->kind == HUB_MESSAGE_BATCH) {
        refuse(session, port, HUB_STR_EMPTY, HUB_EINVAL, "a batch within a batch");
    } else {
        receive_one(session, port, message);
    }
}

void hub_session_refuse_oversize(hub_session *session, hub_port *port, size_t max_bytes)
{
    HUB_IS(session, SESSION);
    hub_buf text;
    hub_buf_init(&text, 256);
    hub_buf_printf(&text, "a message may have at most %zu bytes", max_bytes);
    hub_buf_add_char(&text, '\0');
    refuse(session, port, HUB_STR_EMPTY, HUB_ELIMIT, text.ptr != NULL ? text.ptr : "too large");
    hub_buf_fini(&text);
}

/* ---- what it is ------------------------------------------------------------------------------ */

hub_orchestrator *hub_session_hub(const hub_session *session)
{
    return session->profile->hub;
}

hub_profile *hub_session_profile(const hub_session *session)
{
    return session->profile;
}

hub_session *hub_session_next(const hub_session *session)
{
    return session->next;
}

uint64_t hub_session_number(const hub_session *session)
{
    return session->number;
}

uint64_t hub_session_begun_us(const hub_session *session)
{
    return session->begun_us;
}

hub_port *hub_session_port(const hub_session *session)
{
    return session->port;
}

hub_principal *hub_session_principal(const hub_session *session)
{
    return session->principal;
}

hub_client *hub_session_client(const hub_session *session)
{
    return session->client;
}

const char *hub_session_who(const hub_session *session)
{
    return hub_principal_name(session->principal);
}

hub_identity *hub_session_identity(const hub_session *session)
{
    return session->identity;
}

const char *hub_session_transport(const hub_session *session)
{
    return session->transport;
}

bool hub_session_is_operator(const hub_session *session)
{
    char own[32];
    (void)snprintf(own, sizeof own, "uid:%ju", (uintmax_t)geteuid()); /* has room */
    return strcmp(session->transport, "unix") == 0 &&
           (strcmp(session->identity->name, own) == 0 ||
            strcmp(session->identity->name, "uid:0") == 0);
}

bool hub_session_may_read_all(const hub_session *session)
{
    return hub_session_is_operator(session) || hub_identity_may_read_all(session->identity);
}

const void *hub_session_listener(const hub_session *session)
{
    return session->listener;
}

void hub_session_set_peer(hub_session *session, const char *peer)
{
    size_t len = strnlen(peer, sizeof session->peer - 1);
    memcpy(session->peer, peer, len);
    session->peer[len] = '\0';
}

const char *hub_session_peer(const hub_session *session)
{
    return session->peer;
}

hub_str hub_session_whose(const hub_session *session, char text[HUB_WHOSE_BYTES])
{
    if (strcmp(hub_session_who(session), HUB_IDENTITY_ANONYMOUS.name) != 0) {
        return hub_str_of(hub_session_who(session));
    }
    if (session->peer[0] != '\0') {
        (void)snprintf(text, HUB_WHOSE_BYTES, "anonymous at %s", session->peer);
    } else {
        (void)snprintf(text, HUB_WHOSE_BYTES, "anonymous, session %" PRIu64, session->number);
    }
    return hub_str_of(text);
}

const char *hub_session_metadata(const hub_session *session)
{
    return session->metadata;
}

bool hub_session_acts(const hub_session *session)
{
    return session->acts;
}

bool hub_session_is_one_request(const hub_session *session)
{
    return session->is_one_request;
}

bool hub_session_is_closing(const hub_session *session)
{
    return session->closing;
}

bool hub_session_is_initialized(const hub_session *session)
{
    return session->initialized;
}

void hub_session_note_initialized(hub_session *session)
{
    session->initialized = true;
}

hub_revision hub_session_revision(const hub_session *session)
{
    return session->revision;
}

void hub_session_agree(hub_session *session, hub_revision revision, char *capabilities)
{
    HUB_IS(session, SESSION);
    hub_assert(revision != HUB_REVISION_NONE);
    hub_assert(capabilities == NULL || capabilities != session->capabilities);
    free(session->capabilities);
    session->capabilities = capabilities;
    session->revision = revision;
}

hub_str hub_session_capabilities(const hub_session *session)
{
    return session->capabilities != NULL ? hub_str_of(session->capabilities) : HUB_STR_EMPTY;
}

hub_str hub_session_log_level(const hub_session *session)
{
    return session->log_level;
}

void hub_session_note_log_level(hub_session *session, hub_str level_json)
{
    session->log_level = level_json;
}

const hub_announced *hub_session_announced(const hub_session *session)
{
    return &session->announced;
}

void hub_session_note_announced(hub_session *session, hub_announced announced)
{
    session->announced = announced;
}

uint64_t hub_session_listed(const hub_session *session, hub_kind kind)
{
    hub_assert(kind < HUB_KINDS);
    return session->listed[kind];
}

void hub_session_note_listed(hub_session *session, hub_kind kind, uint64_t serial)
{
    hub_assert(kind < HUB_KINDS);
    session->listed[kind] = serial;
}

void *hub_session_part(const hub_session *session, const hub_station *station)
{
    return (char *)(uintptr_t)session->parts + station->place->offset[HUB_PART_SESSION];
}

hub_str hub_session_find_tool(const hub_session *session, hub_str name)
{
    return hub_sight_tool_definition(hub_session_sight(session), name);
}
