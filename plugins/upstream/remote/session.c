/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Sessions of legacy servers: MCP 2025-11-25 basic/transports, Session Management. A server that
 * has forgotten one says 404; it is greeted anew, and what it refused with that is sent once more.
 */
#include "remote.h"

#include "header_value.h"

/* ---- listening ----------------------------------------------------------------------------- */

void session_hears(mcp_remote *remote)
{
    if (!remote->is_deaf) {
        return;
    }
    remote->is_deaf = 0;
    if (remote->stream != NULL) {
        remote->server.loop->timer_free(remote->stream->timer);
        remote->stream->timer = NULL;
    }
    exchange_start_held(remote);
}

static void on_late(void *ctx)
{
    const exchange *stream = ctx;
    session_hears(stream->remote);
}

/* Servers ask where they please, and drop what they ask while there is no stream: its call would
 * never be answered. Some send no head before they have something to say, so this does not last. */
static void wait_for_stream(mcp_remote *remote)
{
    const mcp_server *server = &remote->server;
    remote->stream->timer = server->loop->timer(server->host, on_late, remote->stream);
    remote->is_deaf = remote->stream->timer != NULL;
    if (remote->is_deaf) {
        server->loop->timer_start(remote->stream->timer, REMOTE_STREAM_MS);
    }
}

void session_stream_ended(exchange *x, const char *why)
{
    mcp_remote *remote = x->remote;
    int refused = x->status >= 300 && x->status < 500;
    int is_told = x->status != 404 && x->status != 405; /* … how one says that it offers none */
    session_hears(remote);
    if (refused || x->status == 204 || (x->status >= 200 && x->status < 300 && !x->is_stream) ||
        !exchange_resume(x)) {
        upstream_log(&remote->server,
                     refused && is_told ? PATCHBAY_LOG_WARNING : PATCHBAY_LOG_DEBUG, why);
        exchange_end(x);
    }
}

void session_begin(mcp_remote *remote)
{
    remote->is_open = 1;
    remote->is_deaf = 0;
    if (!remote->is_old) {
        exchange_end(remote->stream);
        remote->stream = exchange_create(remote, EXCHANGE_STREAM, NULL, 0);
    }
    if (!remote->is_old && remote->stream != NULL) {
        wait_for_stream(remote);
        exchange_start(remote->stream);
    }
    exchange_start_held(remote);
}

/* ---- ids ----------------------------------------------------------------------------------- */

void session_take(mcp_remote *remote, patchbay_str id)
{
    free(remote->session);
    remote->session = NULL;
    for (size_t i = 0; i < id.len; i++) {
        if (id.ptr[i] < 0x21 || id.ptr[i] > 0x7e) {
            return; /* the specification wants visible ASCII */
        }
    }
    if (id.len > 0 && id.len <= REMOTE_SESSION_ID_BYTES) {
        remote->session = malloc(id.len + 1);
    }
    if (remote->session != NULL) {
        memcpy(remote->session, id.ptr, id.len);
        remote->session[id.len] = '\0';
        remote->session_number++;
    }
}

static void forget(mcp_remote *remote)
{
    free(remote->session);
    remote->session = NULL;
}

/* ---- the end ------------------------------------------------------------------------------- */

static void on_ended(void *ctx, http_outcome outcome, const char *error)
{
    (void)ctx;
    (void)outcome;
    (void)error; /* whatever it says: 405 is fine, too */
}

static void on_head(void *ctx, http_request *request, long status)
{
    (void)ctx;
    (void)request;
    (void)status;
}

static void on_body(void *ctx, patchbay_str bytes)
{
    (void)ctx;
    (void)bytes;
}

void session_end(mcp_remote *remote)
{
    static const http_request_events NOBODY = {
        .on_head = on_head, .on_body = on_body, .on_end = on_ended};
    if (remote->session == NULL) {
        return;
    }
    http_request *request;
    patchbay_out lines = {0};
    const patchbay_out nothing = {0};
    uint64_t generation;
    header_add(&lines, "MCP-Protocol-Version", patchbay_str_of(remote->server.version));
    header_add(&lines, "Mcp-Session-Id", patchbay_str_of(remote->session));
    forward_add(remote, &nothing, &lines);
    login_add(remote, &nothing, &lines, &generation);
    http_start start = {
        .method = "DELETE",
        .url = remote->config.url,
        .headers = patchbay_str_make(lines.ptr, lines.len),
    };
    if (!lines.failed) {
        (void)http_client_start(remote->http, &start, &NOBODY, NULL, &request);
    }
    header_wipe(&lines);
    forget(remote);
}

/* ---- loss ---------------------------------------------------------------------------------- */

/* Whether it was taken before, and only the rest of its stream was refused: to send it again could
 * be to do it twice. */
static int was_delivered(const exchange *x)
{
    return x->last_event_id != NULL && !x->is_repeatable;
}

/* It was refused, so it was not done: it can be sent again, once, if somebody waits for it. The
 * module's own requests are made anew by the handshake. */
static int keep_for_next(exchange *x)
{
    if (x->kind != EXCHANGE_REQUEST || x->call.id == 0 || x->is_repeated || was_delivered(x)) {
        return 0;
    }
    free(x->last_event_id);
    x->last_event_id = NULL;
    x->is_repeated = 1;
    x->is_held = 1;
    x->resumes = 0;
    return 1;
}

/* It was refused, and is not sent again. */
static void end_lost(exchange *x)
{
    if (x->kind == EXCHANGE_REQUEST && x->is_repeated) {
        exchange_fail(x, "the server has lost its session twice: try again");
    } else if (x->kind == EXCHANGE_REQUEST && was_delivered(x)) {
        exchange_fail(x, "the server has lost its session while it was at work on this");
    } else {
        exchange_end(x);
    }
}

/* What a call is told in two sessions, of which the second is good for others, is its own. From then
 * on it does not end a session; whether that has ended, too, is found out by a ping. */
static void refuse_alone(exchange *x)
{
    mcp_remote *remote = x->remote;
    mcp_server *server = &remote->server;
    remote->is_doubtful = 1;
    (void)upstream_request(server, "session", "ping", patchbay_str_of("{}"));
    answer_give_status(x);
}

void session_lost(exchange *x)
{
    mcp_remote *remote = x->remote;
    mcp_server *server = &remote->server;
    int is_news = x->session == remote->session_number && remote->session != NULL;
    int is_call = x->kind == EXCHANGE_REQUEST && x->call.id != 0;
    if (is_news && is_call && (x->is_repeated || remote->is_doubtful)) {
        refuse_alone(x);
        return;
    }
    if (is_news && remote->is_renewed) {
        upstream_fail(server, "does not know the session that it has just given");
        return;
    }
    int is_kept = keep_for_next(x);
    if (is_kept && !is_news && !exchange_must_wait(x)) {
        exchange_start(x); /* the next session is there already */
        return;
    }
    if (!is_kept) {
        end_lost(x);
    }
    if (is_news) {
        forget(remote);
        remote->is_renewed = 1;
        remote->is_open = 0;
        exchange_end(remote->stream);
        upstream_log(server, PATCHBAY_LOG_INFO,
                     "the server has lost its session: a new one begins");
        upstream_renew(server);
    }
}
