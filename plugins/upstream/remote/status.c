/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers whose HTTP status is an error, and what that means: MCP 2026-07-28
 * basic/transports/streamable-http (Backward Compatibility); 2025-11-25 basic/transports (Session
 * Management).
 */
#include "remote.h"

#include "url.h"

#include <strings.h>

enum {
    CODE_HEADER_MISMATCH = -32020,
    CODE_MISSING_CAPABILITY = -32021,
    CODE_UNSUPPORTED_VERSION = -32022,
    CODE_SERVER_ERROR = -32000,
    CODE_INVALID_REQUEST = -32600,
};

/* An error object in an answer whose status is an error; it may lack the id. 0: there is none.
 * *ret_is_reply: it has the id, so it is what became of the request. */
static int scan_error(exchange *x, patchbay_message *message, int64_t *ret_code, int *ret_is_reply)
{
    const mcp_server *server = &x->remote->server;
    patchbay_error why = {.struct_size = sizeof why};
    patchbay_str text = patchbay_str_make(x->text.ptr, x->text.len);
    *ret_code = 0;
    *ret_is_reply = 0;
    if (text.len == 0 || x->is_too_large ||
        server->wire->scan(server->host, text, message, &why) != PATCHBAY_OK ||
        message->kind != PATCHBAY_MSG_ERROR) {
        return 0;
    }
    *ret_is_reply = patchbay_str_eq(message->id, patchbay_str_of(x->id));
    message->id = patchbay_str_of(x->id);
    message->id_number = x->call.id != 0 ? x->call.id : UINT64_MAX;
    (void)patchbay_json_int(patchbay_json_get(message->error, "code"), ret_code);
    return 1;
}

/* The words in an object, where people put them; else the empty span. */
static patchbay_str find_words(patchbay_str object)
{
    static const char *const KEYS[] = {"error_description", "message", "detail", "error"};
    for (size_t i = 0; i < sizeof KEYS / sizeof KEYS[0]; i++) {
        patchbay_str value = patchbay_json_get(object, KEYS[i]);
        if (value.len > 0 && value.ptr[0] == '"') {
            return value;
        }
    }
    return patchbay_str_make(NULL, 0);
}

void answer_quote(const exchange *x, char *ret_line, size_t size)
{
    patchbay_str text = patchbay_str_make(x->text.ptr, x->text.len);
    patchbay_str words = patchbay_str_make(NULL, 0);
    (void)snprintf(ret_line, size, ": ");
    if (text.len > 0 && patchbay_json_valid(text)) {
        words = find_words(patchbay_json_get(text, "error"));
        words = words.len > 0 ? words : find_words(text);
    }
    if (words.len > 0) {
        upstream_quote_json(words, ret_line + 2, size - 2);
    } else {
        upstream_quote(text, ret_line + 2, size - 2);
    }
    if (ret_line[2] == '\0') {
        ret_line[0] = '\0';
    }
}

/* What a status says of trying again. */
static upstream_cause cause_of(long status)
{
    static const long PASSING[] = {408, 425, 429}; /* among those that blame the request */
    for (size_t i = 0; i < sizeof PASSING / sizeof PASSING[0]; i++) {
        if (status == PASSING[i]) {
            return CAUSE_FAILURE;
        }
    }
    int is_lasting = (status >= 300 && status < 500) || status == 501 || status == 505;
    return is_lasting ? CAUSE_CONFIG : CAUSE_FAILURE;
}

static int32_t outcome_of(upstream_cause cause)
{
    return cause == CAUSE_CONFIG ? PATCHBAY_INVALID_INPUT : PATCHBAY_UNAVAILABLE;
}

/* A handshake that fails ends the connection; any other request fails by itself. */
void answer_fail(exchange *x, const char *why, upstream_cause cause)
{
    mcp_server *server = &x->remote->server;
    if (x->role != ROLE_OTHER || x->remote->server.phase == PHASE_IDLE) {
        char reason[UPSTREAM_REASON_BYTES];
        (void)snprintf(reason, sizeof reason, "%s", why);
        upstream_disconnect(server, reason, cause);
    } else {
        exchange_fail_as(x, outcome_of(cause), "%s", why);
    }
}

/* Whether it may be the client's credential that was refused, or its lack of one: the server is not
 * closed to others for that. */
static int is_of_client(const exchange *x)
{
    int is_note = x->kind == EXCHANGE_NOTE && x->role == ROLE_OTHER;
    return x->remote->config.forward_headers != NULL && (is_note || x->call.id != 0);
}

/* Append why a credential was refused, or the lack of one, and what to do about it: a sentence. */
static void add_refusal(const mcp_remote *remote, long status, const challenge *said,
                        patchbay_out *out)
{
    static const char SET[] = "keep one with `patchbay secret set NAME`, and say in the server's "
                              "entry: headers: {Authorization: \"Bearer ${secret:NAME}\"}";
    if (status == 401 && said->is_bearer && !login_has_credential(remote)) {
        patchbay_out_printf(out, "credential refused: HTTP 401 from %s: it wants a token%s: %s",
                            remote->shown, said->is_oauth ? " of an OAuth login" : "", SET);
    } else if (strcmp(said->error, "insufficient_scope") == 0) {
        patchbay_out_printf(out,
                            "credential refused: HTTP %ld from %s: the token of its entry does not "
                            "allow this (insufficient_scope): get one with more rights",
                            status, remote->shown);
    } else if (strcmp(said->error, "invalid_token") == 0) {
        patchbay_out_printf(out,
                            "credential refused: HTTP %ld from %s: the token of its entry has "
                            "expired, was revoked or is another server's (invalid_token): get a "
                            "new one",
                            status, remote->shown);
    } else {
        patchbay_out_printf(
            out, "credential refused: HTTP %ld from %s: look at the headers of its entry", status,
            remote->shown);
    }
    if (said->scope[0] != '\0') {
        patchbay_out_printf(out, " (wanted scope: %s)", said->scope);
    }
}

/* Why `x` was refused, in at most `size` bytes. */
static void say_refusal(const exchange *x, const char *words, char *ret_why, size_t size)
{
    patchbay_out why = {0};
    add_refusal(x->remote, x->status, &x->challenge, &why);
    (void)snprintf(ret_why, size, "%s%s%s", why.failed ? "credential refused" : why.ptr,
                   words[0] != '\0' ? "; it said" : "", words);
    patchbay_out_free(&why);
}

/* What the hub says of the login that there is not, as `words`; or of the server's own words. */
static void say_end(const exchange *x, patchbay_str end, char *ret_why, size_t size)
{
    char words[REMOTE_QUOTE_BYTES];
    if (end.len > 0) {
        int has_scope = x->challenge.scope[0] != '\0';
        (void)snprintf(ret_why, size,
                       "credential refused: HTTP %ld from %s: it wants an OAuth login: %.*s%s%s%s",
                       x->status, x->remote->shown, (int)end.len, end.ptr,
                       has_scope ? " (wanted scope: " : "", x->challenge.scope,
                       has_scope ? ")" : "");
        return;
    }
    answer_quote(x, words, sizeof words);
    say_refusal(x, words, ret_why, size);
}

/* One request is refused: the others may be allowed. */
static void fail_refused(exchange *x, patchbay_str end)
{
    const mcp_remote *remote = x->remote;
    int is_of_call = x->call.id != 0 || x->kind == EXCHANGE_NOTE;
    char why[UPSTREAM_REASON_BYTES];
    char words[REMOTE_QUOTE_BYTES];
    answer_quote(x, words, sizeof words);
    if (is_of_client(x) && end.len == 0) {
        (void)snprintf(why, sizeof why,
                       "credential refused: HTTP %ld from %s: look at the headers that the client "
                       "sends%s",
                       x->status, remote->shown, words);
    } else {
        say_end(x, end, why, sizeof why);
    }
    if (!is_of_call && !x->is_pulse) {
        upstream_log(&x->remote->server, PATCHBAY_LOG_WARNING, why); /* no client hears of it */
    }
    exchange_fail_as(x, x->is_pulse ? PATCHBAY_FAILED : PATCHBAY_INVALID_INPUT, "%s", why);
}

/* During the handshake nobody asks again and again with a credential that is refused. Later it is
 * the one request that is: servers ask for more for some tools than for others. */
void answer_take_login_end(exchange *x, patchbay_str end)
{
    mcp_remote *remote = x->remote;
    mcp_server *server = &remote->server;
    if (x->kind == EXCHANGE_STREAM) {
        char why[UPSTREAM_REASON_BYTES];
        say_end(x, end, why, sizeof why);
        if (remote->is_old) {
            old_transport_ended(x, why);
        } else {
            session_stream_ended(x, why);
        }
        return;
    }
    if (is_of_client(x) || x->is_listen || x->call.id != 0 || server->phase == PHASE_READY) {
        fail_refused(x, end);
        return;
    }
    say_end(x, end, remote->refusal, sizeof remote->refusal);
    char reason[sizeof remote->refusal];
    memcpy(reason, remote->refusal, sizeof reason);
    server->not_before_ms = server->loop->now_ms(server->host) + REMOTE_REFUSED_MS;
    upstream_disconnect(server, reason, CAUSE_CONFIG);
}

static void take_refusal(exchange *x)
{
    if (!login_try(x)) {
        answer_take_login_end(x, patchbay_str_make("", 0));
    }
}

/* Servers made with older SDKs say it with 400 and the word: that for Node with an error of its own,
 * that for Python with text alone (`code` 0), or with an invalid request. */
static int says_session(const exchange *x, int64_t code)
{
    const char *word = code == CODE_SERVER_ERROR ? "session" : "session id";
    size_t len = strlen(word);
    if (x->status != 400 ||
        (code != CODE_SERVER_ERROR && code != CODE_INVALID_REQUEST && code != 0)) {
        return 0;
    }
    for (size_t i = 0; i + len <= x->text.len; i++) {
        if (strncasecmp(x->text.ptr + i, word, len) == 0) {
            return 1;
        }
    }
    return 0;
}

/* May be a server of 2024-11-05: it has no POST there. */
static int try_old_transport(exchange *x, int64_t code)
{
    mcp_remote *remote = x->remote;
    int is_modern_error = code == CODE_HEADER_MISMATCH || code == CODE_MISSING_CAPABILITY ||
                          code == CODE_UNSUPPORTED_VERSION;
    if (x->role != ROLE_INITIALIZE || remote->is_old || x->status < 400 || x->status >= 500 ||
        is_modern_error) {
        return 0;
    }
    remote->refused_with = x->status;
    answer_quote(x, remote->refused_words, sizeof remote->refused_words);
    x->is_held = 1;
    old_transport_begin(remote);
    return 1;
}

/* Said by whoever stands in between, and nothing about the server. */
static int is_out_of_order(long status)
{
    return status == 407 || status == 429 || (status >= 502 && status <= 504);
}

/* A request of the module's own is refused with an error that is for people alone: they are told
 * the status with it. */
static int is_mere_words(const exchange *x, const patchbay_message *message)
{
    return x->call.id == 0 && x->role == ROLE_OTHER && !x->is_listen && !x->is_pulse &&
           patchbay_json_get(message->error, "data").len == 0;
}

/* So refuses who speaks another revision now than when it was asked: it has been replaced. Modern
 * servers have codes of their own; legacy ones use two for a request without a session. Only what a
 * client asks is a sign: what the hub asks by itself, it would ask again after each beginning. */
static int is_of_another_era(const exchange *x, int64_t code)
{
    int is_modern = x->remote->server.era == ERA_MODERN;
    return x->status == 400 && x->call.id != 0 &&
           (code == CODE_UNSUPPORTED_VERSION || (!is_modern && code == CODE_HEADER_MISMATCH) ||
            (is_modern && (code == CODE_SERVER_ERROR || code == CODE_INVALID_REQUEST)));
}

void answer_give_status(exchange *x)
{
    mcp_server *server = &x->remote->server;
    patchbay_message message = {.struct_size = sizeof message};
    int64_t code;
    int is_reply;
    if (scan_error(x, &message, &code, &is_reply) && x->kind == EXCHANGE_REQUEST &&
        !is_mere_words(x, &message)) {
        int is_doubtful = is_of_another_era(x, code);
        answer_take(x, &message);
        if (code == CODE_HEADER_MISMATCH && server->phase == PHASE_READY) {
            upstream_list_read(server, PATCHBAY_TOOLS); /* what is mirrored may have changed */
        }
        if (is_doubtful) {
            upstream_handshake_doubt(server);
        }
        return;
    }
    char why[UPSTREAM_REASON_BYTES];
    char words[REMOTE_QUOTE_BYTES];
    answer_quote(x, words, sizeof words);
    (void)snprintf(why, sizeof why, "%s answered with HTTP %ld%s%s", x->remote->shown, x->status,
                   x->status == 407 ? ": the proxy on the way there wants a password"
                   : x->is_repeated ? " in a new session, too"
                                    : "",
                   words);
    if (x->is_pulse && (x->status < 502 || x->status > 504)) {
        exchange_fail_as(x, PATCHBAY_FAILED, "%s", why); /* whatever it says: it lives */
    } else if (x->role == ROLE_DISCOVER && !is_out_of_order(x->status)) {
        exchange_fail(x, "%s", why); /* a legacy one may say anything */
    } else {
        answer_fail(x, why, cause_of(x->status));
    }
}

void answer_take_status(exchange *x)
{
    patchbay_message message = {.struct_size = sizeof message};
    int64_t code;
    int is_reply;
    (void)scan_error(x, &message, &code, &is_reply);
    if (x->status == 401 || x->status == 403) {
        take_refusal(x);
    } else if (x->session != 0 && (x->status == 404 || (!is_reply && says_session(x, code)))) {
        session_lost(x);
    } else if (!try_old_transport(x, code)) {
        answer_give_status(x);
    }
}

int answer_follow(exchange *x, const char *url)
{
    int may_follow = x->status == 307 || x->status == 308;
    if (url == NULL || !may_follow || x->redirects >= REMOTE_REDIRECTS ||
        !url_same_origin(url, x->remote->config.url)) {
        return 0;
    }
    char *copy = strdup(url);
    if (copy == NULL) {
        return 0;
    }
    free(x->moved_to);
    x->moved_to = copy;
    x->redirects++;
    exchange_start(x);
    return 1;
}

void answer_take_redirect(exchange *x, const char *url)
{
    mcp_remote *remote = x->remote;
    char why[512];
    if (answer_follow(x, url)) {
        return;
    }
    char *target = url != NULL ? url_dup_shown(url) : NULL;
    if (target != NULL) {
        (void)snprintf(why, sizeof why,
                       "%s redirects to %.200s (HTTP %ld), which is not followed: if that is where "
                       "the server is, make it the url of the entry",
                       remote->shown, target, x->status);
    } else {
        (void)snprintf(why, sizeof why, "%s redirects (HTTP %ld), and not to an address of http",
                       remote->shown, x->status);
    }
    free(target);
    if (x->kind == EXCHANGE_REQUEST && x->role == ROLE_DISCOVER) {
        upstream_disconnect(&remote->server, why, CAUSE_CONFIG);
    } else {
        answer_fail(x, why, CAUSE_CONFIG);
    }
}
