/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Messages that cannot be used: the hub refuses them, or they answer nothing that was asked. A
 * request whose answer is among them fails at once, and its caller is told what was wrong with the
 * answer. What belongs to no request is logged and counted.
 *
 * Whose answer it is, the id says (refused.h). Without one, nothing is guessed but for an answer
 * that was cut off before its id, while a single request is out. An answer that has no id, or the id
 * null, is not guessed at: many servers answer notifications like that.
 * spec: JSON-RPC 2.0, 5 (id)
 */
#include "upstream.h"

#include "refused.h"

enum { CODE_INVALID_REQUEST = -32600 };

/* Whether to speak of the n-th of its kind: the 1st, 2nd, 4th and so on. */
static int is_worth_a_line(uint32_t n)
{
    return (n & (n - 1)) == 0;
}

static void log_refused(mcp_server *server, const char *why)
{
    char text[256];
    server->refused++;
    (void)snprintf(server->refusal, sizeof server->refusal, "%s", why);
    if (is_worth_a_line(server->refused)) {
        (void)snprintf(text, sizeof text,
                       "a message of the server cannot be used, and belongs to no request (%u so "
                       "far): %s",
                       (unsigned)server->refused, why);
        upstream_log(server, PATCHBAY_LOG_WARNING, text);
    }
}

void upstream_stray(mcp_server *server, patchbay_str id)
{
    char text[192];
    char words[64];
    server->strays++;
    if (is_worth_a_line(server->strays)) {
        upstream_quote(id, words, sizeof words);
        (void)snprintf(text, sizeof text,
                       "an answer with the id %s was dropped: no request waits for it. It is late, "
                       "repeated or wrong (%u so far)",
                       words, (unsigned)server->strays);
        upstream_log(server, PATCHBAY_LOG_INFO, text);
    }
}

void upstream_write_unusable(const mcp_server *server, const char *why, char *ret_text)
{
    (void)snprintf(ret_text, UPSTREAM_REASON_BYTES,
                   "%s \"%.128s\" has answered, but the answer cannot be used: %s",
                   server->is_module ? "plugin" : "server", server->name, why);
}

int upstream_settle(mcp_server *server, patchbay_str id, const char *why)
{
    static const patchbay_call NO_CALL = {.id = 0};
    patchbay_str name = {.ptr = NULL};
    patchbay_call call = {.id = refused_number(id)};
    if (upstream_read_id(id, &name) != 0) {
        upstream_undelivered(server, NO_CALL, id, PATCHBAY_FAILED, why);
        return 0; /* it may have been answered before */
    }
    if (call.id == UINT64_MAX || !upstream_is_out(server, call)) {
        return 0;
    }
    char words[UPSTREAM_REASON_BYTES];
    upstream_write_unusable(server, why, words);
    upstream_undelivered(server, call, id, PATCHBAY_FAILED, words);
    return 1;
}

/* ---- answers that were cut off -------------------------------------------------------------- */

static void settle_cut(mcp_server *server)
{
    char id[sizeof server->cut_id];
    char why[sizeof server->cut_why];
    memcpy(id, server->cut_id, sizeof id);
    memcpy(why, server->cut_why, sizeof why);
    server->loop->timer_stop(server->cut_timer);
    server->cut_id[0] = '\0';
    if (id[0] != '\0' && !server->is_ending) {
        (void)upstream_settle(server, patchbay_str_of(id), why);
    }
}

static void on_cut(void *ctx)
{
    settle_cut(ctx);
}

/* It may be cut off because the server has died: then that is the reason, and is about to be told. */
static int settle_later(mcp_server *server, patchbay_str id, const char *why)
{
    patchbay_call call = {.id = refused_number(id)};
    settle_cut(server);
    if (id.len >= sizeof server->cut_id) {
        return 0;
    }
    memcpy(server->cut_id, id.ptr, id.len);
    server->cut_id[id.len] = '\0';
    (void)snprintf(server->cut_why, sizeof server->cut_why, "%s", why);
    server->loop->timer_start(server->cut_timer, 0);
    return call.id != UINT64_MAX && upstream_is_out(server, call);
}

int upstream_unusable_init(mcp_server *server)
{
    server->cut_timer = server->loop->timer(server->host, on_cut, server);
    return server->cut_timer != NULL;
}

void upstream_unusable_fini(mcp_server *server)
{
    server->loop->timer_free(server->cut_timer);
    server->cut_timer = NULL;
}

void upstream_unusable_forget(mcp_server *server)
{
    server->loop->timer_stop(server->cut_timer);
    server->cut_id[0] = '\0';
}

/* ---- any message ---------------------------------------------------------------------------- */

/* The id of the only request that is out, if that is a call. */
static patchbay_str only_id(const mcp_server *server, char *text, size_t size)
{
    patchbay_call call = upstream_only_call(server);
    int len = call.id != 0 ? snprintf(text, size, "%llu", (unsigned long long)call.id) : 0;
    return patchbay_str_make(text, (size_t)len);
}

/* A question of the server is refused with an error: else the server waits for ever. */
static void refuse_question(mcp_server *server, const refused_message *message, const char *why)
{
    if (server->era != ERA_MODERN && !message->is_in_batch && message->id.len <= REFUSED_ID_BYTES &&
        patchbay_json_valid(message->id)) {
        upstream_refuse(server, message->id, CODE_INVALID_REQUEST, why);
    }
}

/* Whether a request was settled with it. */
static int take_one(mcp_server *server, const refused_message *message, const char *why,
                    upstream_settler *settle)
{
    char text[24];
    patchbay_str id = message->id;
    if (message->has_method) {
        if (id.len > 0 && message->is_cut == 0) {
            refuse_question(server, message, why);
        }
        return 0;
    }
    if (id.len == 0 && message->is_cut && message->has_outcome) {
        id = only_id(server, text, sizeof text);
    }
    if (id.len == 0) {
        return 0;
    }
    return message->is_cut && settle == upstream_settle ? settle_later(server, id, why)
                                                        : settle(server, id, why);
}

size_t upstream_take_refused(mcp_server *server, patchbay_str text, const char *why,
                             upstream_settler *settle)
{
    uint32_t connection = server->connection;
    size_t budget = server->in_flight.count + server->errands.count + UPSTREAM_OWN_REQUESTS;
    size_t settled = 0;
    size_t count = 0;
    refused_iter it = refused_iterate(text);
    refused_message message;
    while (count < budget && server->connection == connection && refused_next(&it, &message)) {
        count++;
        settled += take_one(server, &message, why, settle) != 0;
    }
    if (server->connection == connection && count > 0 && settled == 0) {
        log_refused(server, why);
    }
    server->pulse.is_heard = server->pulse.is_heard || count > 0;
    return settled;
}
