/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What comes back for a message. spec: MCP 2026-07-28 basic/transports/streamable-http (Receiving
 * Messages, Backward Compatibility); 2025-11-25 basic/transports (Sending Messages to the Server).
 */
#include "remote.h"

#include "../common/refused.h"
#include "header_value.h"

#include <strings.h>

void answer_reset(exchange *x)
{
    x->status = 0;
    x->is_stream = 0;
    x->is_too_large = 0;
    x->challenge = (challenge){.is_bearer = 0};
    patchbay_out_free(&x->asked);
    patchbay_out_free(&x->text);
    sse_reader_free(&x->reader);
}

void answer_free(exchange *x)
{
    patchbay_out_free(&x->asked);
    patchbay_out_free(&x->text);
    patchbay_out_free(&x->lines);
    header_wipe(&x->forwarded);
    sse_reader_free(&x->reader);
    http_body_unref(x->body);
    free(x->moved_to);
    free(x->last_event_id);
    free(x);
}

static int is_success(long status)
{
    return status >= 200 && status < 300;
}

/* ---- messages ------------------------------------------------------------------------------ */

static int is_answer_to(const exchange *x, const patchbay_message *message)
{
    int is_response = message->kind == PATCHBAY_MSG_RESULT || message->kind == PATCHBAY_MSG_ERROR;
    int is_its_id = x->call.id != 0 ? message->id_number == x->call.id
                                    : patchbay_str_eq(message->id, patchbay_str_of(x->id));
    return is_response && is_its_id;
}

/* Whether an id is meant to be that of the request, however it is written. */
static int means(const exchange *x, patchbay_str id)
{
    return x->call.id != 0 ? refused_number(id) == x->call.id
                           : patchbay_str_eq(id, patchbay_str_of(x->id));
}

/* The answer is there. What follows is read to its end, for the connection's sake, but not long. */
static void on_lingered(void *ctx)
{
    exchange_end(ctx);
}

static void linger(exchange *x)
{
    const mcp_server *server = &x->remote->server;
    server->loop->timer_free(x->timer);
    x->timer = server->loop->timer(server->host, on_lingered, x);
    x->kind = EXCHANGE_DONE;
    sse_reader_close(&x->reader);
    if (x->timer == NULL) {
        exchange_end(x);
    } else {
        server->loop->timer_start(x->timer, REMOTE_LINGER_MS);
    }
}

void answer_take(exchange *x, const patchbay_message *message)
{
    mcp_server *server = &x->remote->server;
    patchbay_call call = x->call;
    x->remote->is_renewed = x->role == ROLE_OTHER ? 0 : x->remote->is_renewed;
    exchange_settle(x);
    if (x->is_stream) {
        linger(x);
    } else {
        exchange_end(x);
    }
    upstream_take(server, message, call);
}

/* Its answer came on the stream of the session: nothing more is expected where it was asked. */
static void end_asked(mcp_remote *remote, const patchbay_message *message)
{
    exchange *x = remote->exchanges;
    while (x != NULL && (x->kind != EXCHANGE_REQUEST || !is_answer_to(x, message))) {
        x = x->next;
    }
    exchange_end(x);
}

/* The answer has come, and cannot be used. */
static void fail_unusable(exchange *x, const char *why)
{
    char words[UPSTREAM_REASON_BYTES];
    upstream_write_unusable(&x->remote->server, why, words);
    exchange_fail_as(x, PATCHBAY_FAILED, "%s", x->call.id != 0 ? words : why);
}

/* upstream_settler: the request may be asked with another exchange than the one this came on. */
static int settle(mcp_server *server, patchbay_str id, const char *why)
{
    exchange *x = ((mcp_remote *)server)->exchanges;
    while (x != NULL && (x->kind != EXCHANGE_REQUEST || !means(x, id))) {
        x = x->next;
    }
    if (x == NULL) {
        return upstream_settle(server, id, why); /* HTTP+SSE: that it was accepted is all */
    }
    fail_unusable(x, why);
    return 1;
}

/* On the stream of a request: an answer without a usable id can only be to that. */
static int is_own_answer(patchbay_str text)
{
    refused_message message;
    refused_iter it = refused_iterate(text);
    return refused_next(&it, &message) && !message.is_in_batch && !message.has_method &&
           message.has_outcome && (message.id.len == 0 || message.id.ptr[0] == 'n');
}

static void take_refused(exchange *x, patchbay_str text, const char *why)
{
    if (x->kind == EXCHANGE_REQUEST && is_own_answer(text)) {
        fail_unusable(x, why);
    } else {
        (void)upstream_take_refused(&x->remote->server, text, why, settle);
    }
}

/* A response has come on the stream of a request, and has not its id. */
static void take_misdirected(exchange *x, const patchbay_message *message)
{
    if (means(x, message->id)) {
        fail_unusable(x, "its id is a string, and not the number that was sent");
    } else if (message->id.len == 0 || message->id.ptr[0] == 'n') {
        patchbay_message own = *message; /* an error: the server could not read the request */
        own.id_number = x->call.id != 0 ? x->call.id : UINT64_MAX;
        char id[sizeof x->id];
        memcpy(id, x->id, sizeof id);
        own.id = patchbay_str_of(id);
        answer_take(x, &own);
    } else {
        upstream_stray(&x->remote->server, message->id);
    }
}

static void take_message(exchange *x, patchbay_str text)
{
    mcp_server *server = &x->remote->server;
    patchbay_message message = {.struct_size = sizeof message};
    patchbay_error why = {.struct_size = sizeof why};
    if (server->wire->scan(server->host, text, &message, &why) != PATCHBAY_OK) {
        take_refused(x, text, why.text);
        return;
    }
    int is_response = message.kind == PATCHBAY_MSG_RESULT || message.kind == PATCHBAY_MSG_ERROR;
    if (x->kind == EXCHANGE_STREAM && is_response) {
        end_asked(x->remote, &message);
    }
    if (x->kind == EXCHANGE_REQUEST && is_answer_to(x, &message)) {
        answer_take(x, &message);
    } else if (x->kind == EXCHANGE_REQUEST && is_response) {
        take_misdirected(x, &message);
    } else {
        exchange_settle(x); /* a listen stream begins with its acknowledgement */
        upstream_take(server, &message, x->call);
    }
}

/* ---- while it arrives ---------------------------------------------------------------------- */

static void keep_event_id(exchange *x, patchbay_str id)
{
    free(x->last_event_id);
    x->last_event_id = NULL;
    if (id.len > 0 && id.len <= REMOTE_EVENT_ID_BYTES) {
        x->last_event_id = malloc(id.len + 1);
    }
    if (x->last_event_id != NULL) {
        memcpy(x->last_event_id, id.ptr, id.len);
        x->last_event_id[id.len] = '\0';
    }
}

static void on_event(void *ctx, const sse_event *event)
{
    exchange *x = ctx;
    if (event->sets_id && !remote_is_modern(x->remote)) {
        keep_event_id(x, event->id);
    }
    if (event->data.len == 0) {
        return;
    }
    x->resumes = 0;
    if (patchbay_str_eq(event->type, patchbay_str_of("message"))) {
        take_message(x, event->data);
    } else if (x->kind == EXCHANGE_STREAM && x->remote->is_old) {
        old_transport_take(x, event);
    }
    if (x->is_over) {
        sse_reader_close(&x->reader);
    }
}

static int is_event_stream(patchbay_str type)
{
    static const char WANTED[] = "text/event-stream";
    size_t len = sizeof WANTED - 1;
    return type.len >= len && strncasecmp(type.ptr, WANTED, len) == 0 &&
           (type.len == len || type.ptr[len] == ';' || type.ptr[len] == ' ');
}

static void take_challenge(exchange *x, patchbay_str value)
{
    challenge_read(value, &x->challenge);
    if (value.len > 0 && x->asked.len + value.len + 2 <= CHALLENGE_BYTES) {
        patchbay_out_text(&x->asked, x->asked.len > 0 ? ", " : "");
        patchbay_out_raw(&x->asked, value);
    }
}

static void on_head(void *ctx, http_request *request, long status)
{
    exchange *x = ctx;
    x->status = status;
    for (size_t i = 0; (status == 401 || status == 403) && i < CHALLENGE_LINES; i++) {
        take_challenge(x, http_request_header_at(request, "www-authenticate", i));
    }
    if (!is_success(status)) {
        return;
    }
    if (x == x->remote->stream && !x->remote->is_old) {
        session_hears(x->remote);
    }
    if (x->role == ROLE_INITIALIZE && x->remote->server.phase == PHASE_INITIALIZING) {
        session_take(x->remote, http_request_header(request, "mcp-session-id"));
    }
    if (x->kind != EXCHANGE_NOTE && is_event_stream(http_request_header(request, "content-type"))) {
        x->is_stream = 1;
        sse_reader_init(&x->reader, remote_message_bytes(x->remote), on_event, x);
    }
}

static void feed(exchange *x, patchbay_str bytes)
{
    int32_t result = sse_reader_feed(&x->reader, bytes);
    if (x->is_over) {
        return;
    }
    x->retry_ms = x->reader.retry_ms >= 0 ? x->reader.retry_ms : x->retry_ms;
    if (result == PATCHBAY_OK) {
        return;
    }
    if (x->kind == EXCHANGE_REQUEST) {
        exchange_fail_as(x, PATCHBAY_FAILED,
                         "%s: a message is larger than %zu bytes (limits.upstream_message)",
                         x->remote->shown, remote_message_bytes(x->remote));
    } else {
        char what[112];
        (void)snprintf(what, sizeof what,
                       "sends a message that is larger than %zu bytes (limits.upstream_message)",
                       remote_message_bytes(x->remote));
        upstream_fail_as(&x->remote->server, what, upstream_cause_of_size(&x->remote->server));
    }
}

static void on_body(void *ctx, patchbay_str bytes)
{
    exchange *x = ctx;
    size_t most = is_success(x->status) ? remote_message_bytes(x->remote) : REMOTE_ERROR_BYTES;
    if (x->kind == EXCHANGE_DONE) {
        return;
    }
    if (x->is_stream) {
        x->busy = 1;
        feed(x, bytes);
        x->busy = 0;
        if (x->is_over) {
            answer_free(x);
        }
    } else if (bytes.len > most - x->text.len) {
        x->is_too_large = 1;
        if (!is_success(x->status)) { /* it begins with what is wrong */
            patchbay_out_raw(&x->text, patchbay_str_make(bytes.ptr, most - x->text.len));
            return;
        }
        patchbay_out_free(&x->text);
        if (x->kind == EXCHANGE_REQUEST) {
            exchange_fail_as(x, PATCHBAY_FAILED,
                             "%s: a message is larger than %zu bytes (limits.upstream_message)",
                             x->remote->shown, most);
        }
    } else if (!x->is_too_large) {
        patchbay_out_raw(&x->text, bytes);
    }
}

/* ---- when it ends -------------------------------------------------------------------------- */

static void take_unreached(exchange *x, http_outcome outcome, const char *error)
{
    int is_config = outcome == HTTP_UNTRUSTED;
    upstream_cause cause = is_config ? CAUSE_CONFIG : CAUSE_FAILURE;
    mcp_server *server = &x->remote->server;
    char why[512];
    (void)snprintf(why, sizeof why, "cannot reach %s: %s", x->remote->shown, error);
    if (x->last_event_id != NULL && exchange_resume(x)) {
        return;
    }
    if (server->phase != PHASE_READY) {
        upstream_disconnect(server, why, cause);
        return;
    }
    int is_note = x->kind == EXCHANGE_NOTE; /* nobody needed the server for it */
    exchange_fail_as(x, is_config ? PATCHBAY_INVALID_INPUT : PATCHBAY_UNAVAILABLE, "%s", why);
    /* Others may still be answered, on connections that they have. */
    if (server->phase == PHASE_READY && !is_note && server->in_flight.count == 0 &&
        server->errands.count == 0) {
        upstream_disconnect(server, why, cause);
    }
}

static void take_broken(exchange *x, http_outcome outcome, const char *error)
{
    char why[512];
    if (x->is_stream && exchange_resume(x)) {
        return;
    }
    if (outcome == HTTP_STALE && x->is_repeatable && !x->is_restarted) {
        x->is_restarted = 1;
        exchange_start(x);
        return;
    }
    (void)snprintf(why, sizeof why, "%s: the connection broke before the answer was there: %s",
                   x->remote->shown, error);
    answer_fail(x, why, CAUSE_FAILURE);
}

/* Whether a text that is no answer is the server's at all, and not a page of somebody in between. */
static int is_of_server(patchbay_str text)
{
    refused_message message;
    refused_iter it = refused_iterate(text);
    return refused_next(&it, &message) && message.has_outcome;
}

static void take_whole(exchange *x)
{
    mcp_server *server = &x->remote->server;
    patchbay_message message = {.struct_size = sizeof message};
    patchbay_error error = {.struct_size = sizeof error};
    char words[REMOTE_QUOTE_BYTES];
    if (x->is_stream) {
        if (!exchange_resume(x)) {
            exchange_fail(x, "%s: the stream ended before the answer was there", x->remote->shown);
        }
        return;
    }
    patchbay_str text = patchbay_str_make(x->text.ptr, x->text.len);
    if (text.len == 0 || x->text.failed) {
        exchange_fail(x, "%s answered HTTP %ld with %s", x->remote->shown, x->status,
                      x->text.failed ? "more than there is memory for" : "nothing");
        return;
    }
    int is_message = server->wire->scan(server->host, text, &message, &error) == PATCHBAY_OK;
    if (is_message && is_answer_to(x, &message)) {
        answer_take(x, &message);
        return;
    }
    answer_quote(x, words, sizeof words);
    exchange_fail_as(x, is_of_server(text) ? PATCHBAY_FAILED : PATCHBAY_UNAVAILABLE,
                     "%s answered HTTP %ld with no JSON-RPC answer to the request (%s)%s",
                     x->remote->shown, x->status, is_message ? "it has another id" : error.text,
                     words);
}

static void end_note(exchange *x)
{
    mcp_remote *remote = x->remote;
    int begins = x->role == ROLE_INITIALIZED;
    if (is_success(x->status) || begins) {
        exchange_end(x);
    } else {
        answer_take_status(x);
    }
    if (begins) {
        session_begin(remote);
    }
}

static void end_stream(exchange *x, const char *error, const char *redirect)
{
    mcp_remote *remote = x->remote;
    char why[UPSTREAM_REASON_BYTES];
    char words[REMOTE_QUOTE_BYTES];
    answer_quote(x, words, sizeof words);
    if (error != NULL) {
        (void)snprintf(why, sizeof why, "the stream of %s ended: %s", remote->shown, error);
    } else if (is_success(x->status)) {
        (void)snprintf(why, sizeof why, "%s ended its stream", remote->shown);
    } else {
        (void)snprintf(why, sizeof why, "%s answered with HTTP %ld%s", remote->shown, x->status,
                       words);
    }
    if (error == NULL && (answer_follow(x, redirect) || login_try(x))) {
        return;
    }
    if (remote->is_old) {
        old_transport_ended(x, why);
    } else if (x->status == 404 && x->session != 0) {
        session_lost(x);
    } else {
        session_stream_ended(x, why);
    }
}

static void end_complete(exchange *x, const char *redirect)
{
    if (x->status >= 300 && x->status < 400) {
        answer_take_redirect(x, redirect);
    } else if (x->kind == EXCHANGE_NOTE) {
        end_note(x);
    } else if (!is_success(x->status)) {
        answer_take_status(x);
    } else if (x->remote->is_old && x->forwarded.len > 0) {
        exchange_settle(x); /* the answer comes on the stream; a cancellation wants the headers */
    } else if (x->remote->is_old) {
        exchange_end(x);
    } else {
        take_whole(x);
    }
}

/* Whether it was for a step of the handshake that is over. What a server says to the probe after all
 * is heard (handshake.c); that it fails says nothing. */
static int is_late(const exchange *x, http_outcome outcome)
{
    upstream_phase phase = x->remote->server.phase;
    if (x->role == ROLE_DISCOVER) {
        return phase != PHASE_PROBING && (outcome != HTTP_COMPLETE || !is_success(x->status));
    }
    return x->role == ROLE_INITIALIZE && phase != PHASE_INITIALIZING;
}

static void on_end(void *ctx, http_outcome outcome, const char *error)
{
    exchange *x = ctx;
    mcp_remote *remote = x->remote;
    int was_note = x->is_counted;
    const char *redirect = x->request != NULL ? http_request_redirect(x->request) : NULL;
    x->request = NULL;
    x->busy = 1;
    if (x->kind == EXCHANGE_DONE || is_late(x, outcome)) {
        exchange_end(x); /* however it ended: nobody waits for it */
    } else if (x->kind == EXCHANGE_STREAM) {
        end_stream(x, outcome == HTTP_COMPLETE ? NULL : error, redirect);
    } else if (outcome == HTTP_COMPLETE) {
        end_complete(x, redirect);
    } else if (outcome == HTTP_UNREACHED || outcome == HTTP_UNTRUSTED) {
        take_unreached(x, outcome, error);
    } else {
        take_broken(x, outcome, error);
    }
    x->busy = 0;
    if (x->is_over) {
        answer_free(x);
    }
    if (was_note) {
        exchange_start_held(remote);
    }
}

const http_request_events exchange_events = {
    .on_head = on_head,
    .on_body = on_body,
    .on_end = on_end,
};
