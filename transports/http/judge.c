/* SPDX-License-Identifier: Apache-2.0 */
#include "http/judge.h"

#include "http/behalf.h"
#include "http/face_table.h"
#include "http/syntax.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- judging --------------------------------------------------------------------------------- */

static const hub_str *credential_of(const hub_http_task *task)
{
    const hub_http_header *header = hub_http_known(task->request, HUB_HTTP_AUTHORIZATION);
    return header != NULL ? &header->value : NULL;
}

bool hub_http_is_guess(const hub_http_task *task)
{
    const hub_str *value = credential_of(task);
    hub_str token;
    return task->server->settings->auth.issuer_count == 0 || value == NULL ||
           !hub_auth_read_bearer(*value, &token) || !hub_issuers_is_signed(token);
}

/* Somebody who guesses does not make the hub ask an issuer. */
static bool may_ask(const hub_http_task *task, hub_str token)
{
    return hub_issuers_is_signed(token) ||
           hub_http_failures_wait_s(task->server->failures,
                                    hub_http_connection_peer(task->connection),
                                    hub_clock_now_ms()) == 0;
}

/* What the client's certificate says, which is the connection's from now on. */
static hub_http_shown look_at_certificate(const hub_http_task *task, const char **ret_reason)
{
    hub_http_connection *connection = task->connection;
    hub_identity *shown = NULL;
    hub_http_shown verdict = hub_http_certificates_judge(
        task->server->certificates, connection->link,
        hub_link_is_tls(connection->link) ? time(NULL) : 0, &shown, ret_reason);
    hub_identity_unref(connection->shown);
    connection->shown = shown;
    return verdict;
}

bool hub_http_is_still_good(const hub_http_server *server, hub_identity **identity,
                            const hub_identity *shown)
{
    return hub_http_certificates_accept(server->certificates, shown) &&
           (hub_identity_is_of_certificate(*identity) ||
            hub_auth_renew(&server->settings->auth, identity));
}

int64_t hub_http_end_of(const hub_identity *identity, const hub_identity *shown)
{
    int64_t own = identity != NULL ? identity->expires : 0;
    return shown != NULL && (own == 0 || shown->expires < own) ? shown->expires : own;
}

/* Whether a credential is one that the face has given out, which is asked. */
static bool is_of_face(const hub_http_task *task, hub_str *ret_token)
{
    const hub_web_face *face = task->place != NULL ? task->place->rows[0].face : NULL;
    const hub_str *value = credential_of(task);
    return face != NULL && face->judge != NULL && value != NULL &&
           hub_auth_read_bearer(*value, ret_token) &&
           hub_str_starts(*ret_token, hub_str_of(face->secret_prefix));
}

/* A token that is none of the hub's own. */
static hub_auth_result ask_issuers(const hub_http_task *task, hub_str token, bool may_wait,
                                   hub_identity **ret_identity, const char **ret_reason)
{
    switch (hub_issuers_judge(task->server->issuers, token, time(NULL),
                              may_wait ? &task->connection->judged : NULL, ret_identity,
                              ret_reason)) {
    case HUB_ISSUERS_GOOD:
        return HUB_AUTH_OK;
    case HUB_ISSUERS_LATER:
        return HUB_AUTH_LATER;
    case HUB_ISSUERS_UNAVAILABLE:
        return HUB_AUTH_UNAVAILABLE;
    default:
        return HUB_AUTH_REFUSED;
    }
}

static hub_auth_result judge_credential(const hub_http_task *task, bool may_wait,
                                        hub_identity **ret_identity, const char **ret_reason)
{
    const hub_auth_settings *auth = &task->server->settings->auth;
    const hub_str *value = credential_of(task);
    int64_t now = auth->required ? time(NULL) : 0;
    hub_str token;
    hub_http_shown shown = look_at_certificate(task, ret_reason);
    if (shown == HUB_HTTP_SHOWN_BAD) {
        return HUB_AUTH_UNCERTIFIED;
    }
    *ret_reason = NULL;
    if (is_of_face(task, &token)) {
        const hub_http_face_row *row = &task->place->rows[0];
        *ret_identity = row->face->judge(row->instance, token);
        return *ret_identity != NULL ? HUB_AUTH_OK : HUB_AUTH_REFUSED;
    }
    if (shown == HUB_HTTP_SHOWN_GOOD && (value == NULL || !auth->required)) {
        *ret_identity = hub_identity_ref(task->connection->shown);
        return HUB_AUTH_OK;
    }
    hub_auth_result result = hub_auth_check(auth, value, now, ret_identity);
    if (result != HUB_AUTH_REFUSED || auth->issuer_count == 0 ||
        !hub_auth_read_bearer(*value, &token) || hub_auth_is_own(token) || !may_ask(task, token)) {
        return result;
    }
    return ask_issuers(task, token, may_wait, ret_identity, ret_reason);
}

hub_auth_result hub_http_judge(const hub_http_task *task, bool may_wait,
                               hub_identity **ret_identity, const char **ret_reason)
{
    hub_identity *identity = NULL;
    hub_auth_result result = judge_credential(task, may_wait, &identity, ret_reason);
    if (result == HUB_AUTH_OK && hub_http_behalf(task, &identity) != HUB_OK) {
        hub_identity_unref(identity);
        return HUB_AUTH_UNAVAILABLE;
    }
    if (result == HUB_AUTH_OK) {
        *ret_identity = identity;
    }
    return result;
}

/* ---- where to get a token -------------------------------------------------------------------- */

/* What may stand in a quoted string, and in a URL, as it is. */
static bool is_plain(hub_str text, const char *others)
{
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (!hub_http_is_alnum(c) && (c == '\0' || strchr(others, c) == NULL)) {
            return false;
        }
    }
    return text.len > 0;
}

bool hub_http_connection_is_secure(const hub_http_connection *connection)
{
    return hub_link_is_tls(connection->link) || connection->forwarded.is_secure;
}

void hub_http_note_metadata(const hub_http_task *task)
{
    hub_http_connection *connection = task->connection;
    hub_str host = task->request->host;
    hub_str path = task->request->path;
    free(connection->metadata);
    connection->metadata = NULL;
    if (task->server->settings->auth.issuer_count == 0 || !is_plain(host, "-._:[]") ||
        !is_plain(path, "-._~/%")) {
        return;
    }
    hub_buf url;
    hub_buf_init(&url, HUB_HTTP_LIMIT_HEAD_BYTES);
    /* Messages of 2024-11-05 are of the stream that the client began with. */
    if (!hub_str_starts(path, HUB_STR("/mcp")) && !hub_str_starts(path, HUB_STR("/ws"))) {
        path = hub_str_starts(path, HUB_STR("/sse")) ? path : HUB_STR("/mcp");
    }
    hub_buf_printf(&url, "%s://" HUB_STR_FMT "/.well-known/oauth-protected-resource" HUB_STR_FMT,
                   hub_http_connection_is_secure(connection) ? "https" : "http", HUB_STR_ARG(host),
                   HUB_STR_ARG(path));
    connection->metadata = hub_buf_ok(&url) ? hub_buf_take(&url) : NULL;
    hub_buf_fini(&url);
}

void hub_http_add_metadata(const hub_http_connection *connection, hub_buf *challenge)
{
    if (connection->metadata != NULL) {
        hub_buf_printf(challenge, "%sresource_metadata=\"%s\"",
                       challenge->len > sizeof "Bearer" - 1 ? ", " : " ", connection->metadata);
    }
}

/* The scopes that clients are told to ask for, each once. */
static void add_scopes(const hub_auth_settings *auth, hub_buf *challenge)
{
    size_t count = 0;
    for (size_t i = 0; i < auth->issuer_count; i++) {
        const hub_names *scopes = &auth->issuers[i].scopes;
        for (size_t k = 0; k < scopes->count; k++) {
            bool is_there = false;
            for (size_t j = 0; j < i; j++) {
                is_there = is_there ||
                           hub_names_have(&auth->issuers[j].scopes, hub_str_of(scopes->items[k]));
            }
            if (!is_there) {
                hub_buf_printf(challenge, "%s%s", count++ == 0 ? ", scope=\"" : " ",
                               scopes->items[k]);
            }
        }
    }
    hub_buf_add(challenge, count > 0 ? HUB_STR("\"") : HUB_STR_EMPTY);
}

/* Fit for a quoted string: what tokens have said is not in it. */
static void add_description(hub_buf *challenge, const char *reason)
{
    bool is_plain_text = reason != NULL && reason[0] != '\0';
    for (const char *at = reason; is_plain_text && *at != '\0'; at++) {
        is_plain_text = *at >= ' ' && *at <= '~' && *at != '"' && *at != '\\';
    }
    if (is_plain_text) {
        hub_buf_printf(challenge, ", error_description=\"%s\"", reason);
    }
}

/* Another certificate takes another connection. */
static void refuse_certificate(const hub_http_task *task, const char *reason)
{
    static const hub_http_header NONE = {{.ptr = "", .len = 0}, {.ptr = "", .len = 0}};
    char text[256];
    (void)snprintf(text, sizeof text, "The client certificate is not accepted: %s.",
                   reason != NULL ? reason : "it cannot be verified");
    task->connection->keep_alive = false;
    hub_http_answer_refusal(task->connection, 403, NONE, text);
}

static void refuse_with(const hub_http_task *task, int status, const char *error,
                        const char *reason, const char *text)
{
    hub_buf challenge;
    hub_buf_init(&challenge, HUB_HTTP_LIMIT_HEAD_BYTES);
    hub_buf_add(&challenge, HUB_STR("Bearer"));
    if (error != NULL) {
        hub_buf_printf(&challenge, " error=\"%s\"", error);
        add_description(&challenge, reason);
    }
    if (status == 401 && task->connection->metadata != NULL) {
        hub_http_add_metadata(task->connection, &challenge);
        add_scopes(&task->server->settings->auth, &challenge);
    }
    hub_str value = hub_buf_ok(&challenge) ? hub_buf_str(&challenge) : HUB_STR("Bearer");
    hub_http_answer_refusal(task->connection, status,
                            (hub_http_header){HUB_STR("WWW-Authenticate"), value}, text);
    hub_buf_fini(&challenge);
}

void hub_http_refuse_credential(const hub_http_task *task, hub_auth_result result,
                                const char *reason)
{
    switch (result) {
    case HUB_AUTH_MALFORMED:
        refuse_with(task, 400, "invalid_request", NULL,
                    "The Authorization header must read: Bearer TOKEN");
        break;
    case HUB_AUTH_REFUSED:
        refuse_with(task, 401, "invalid_token", reason, "The token is not valid.");
        break;
    case HUB_AUTH_UNCERTIFIED:
        refuse_certificate(task, reason);
        break;
    case HUB_AUTH_UNAVAILABLE:
        hub_http_answer_refusal(task->connection, 503,
                                (hub_http_header){HUB_STR("Retry-After"), HUB_STR("2")},
                                "The token cannot be verified now: try again later.");
        break;
    default:
        refuse_with(task, 401, NULL, NULL,
                    "Authorization is needed: send the header Authorization: Bearer TOKEN");
    }
}
