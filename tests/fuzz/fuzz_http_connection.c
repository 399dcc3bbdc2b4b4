/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A whole HTTP connection, from bytes to answers: requests, bodies, headers and JSON-RPC envelopes
 * as the server puts them together, with a hub behind it that has its meta-tools only. However the
 * bytes are cut on their way, the statuses are the same as far as both go (an early refusal closes
 * a connection whose request has not come whole); every answer is well-formed; and when the peer
 * has gone, nothing of it is left.
 * Input: one byte for the cutting and the revision of a session that has begun before, then what
 * the peer sends; 32 times 'S' stands for the id of that session.
 */
#include "oracle.h"
#include "base/limits.h"
#include "base/log.h"
#include "http/server.h"
#include "hub/orchestrator/orchestrator.h"
#include "net/net.h"
#include "web/status/status.h"

#include <openssl/x509.h>
#include <stdio.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST_STATUSES = 256, LONG_MS = 3600000, MAX_BODY = 16 * 1024, SESSION_ID_BYTES = 32 };

/* ---- what stands in for net/: a link that is two buffers ------------------------------------- */

struct hub_link {
    const hub_link_events *events;
    void *owner;
    hub_buf out;
    bool is_paused;
    bool is_closed;
};

struct hub_net {
    struct ev_loop *loop;
    hub_net_on_link *on_link;
    void *ctx;
};

static hub_net net;

void hub_link_set_owner(hub_link *link, const hub_link_events *events, void *owner)
{
    link->events = events;
    link->owner = owner;
}

hub_err hub_link_write(hub_link *link, const hub_str *parts, size_t count)
{
    if (link->is_closed) {
        return HUB_ESTATE;
    }
    for (size_t i = 0; i < count; i++) {
        hub_buf_add(&link->out, parts[i]);
    }
    return link->out.failed;
}

hub_err hub_link_keep(hub_link *link, size_t bytes)
{
    (void)link;
    (void)bytes;
    return HUB_OK;
}

size_t hub_link_queued(const hub_link *link)
{
    (void)link;
    return 0;
}

void hub_link_pause(hub_link *link, bool is_paused)
{
    link->is_paused = is_paused;
}

void hub_link_close(hub_link *link, bool flush)
{
    (void)flush;
    link->is_closed = true;
}

const char *hub_link_peer(const hub_link *link)
{
    (void)link;
    return "192.0.2.1";
}

X509 *hub_link_certificate(const hub_link *link, STACK_OF(X509) * *ret_sent)
{
    (void)link;
    *ret_sent = NULL;
    return NULL;
}

hub_authority *hub_listener_clients(const hub_listener *listener)
{
    (void)listener;
    return NULL;
}

bool hub_link_is_tls(const hub_link *link)
{
    (void)link;
    return false;
}

hub_err hub_net_create(struct ev_loop *loop, const hub_net_limits *limits, size_t max_queue_bytes,
                       hub_net **ret_net, hub_error *reterr)
{
    (void)limits;
    (void)max_queue_bytes;
    (void)reterr;
    net.loop = loop;
    *ret_net = &net;
    return HUB_OK;
}

void hub_net_destroy(hub_net *unused)
{
    (void)unused;
}

size_t hub_net_link_count(const hub_net *unused)
{
    (void)unused;
    return 0;
}

hub_budget *hub_net_budget(const hub_net *unused)
{
    (void)unused;
    return NULL;
}

struct ev_loop *hub_net_loop(const hub_net *unused)
{
    return unused->loop;
}

hub_err hub_net_listen(hub_net *unused, const hub_listen_settings *settings,
                       hub_net_on_link *on_link, void *ctx, hub_listener **ret_listener,
                       hub_error *reterr)
{
    (void)settings;
    (void)reterr;
    unused->on_link = on_link;
    unused->ctx = ctx;
    *ret_listener = NULL;
    return HUB_OK;
}

void hub_listener_close(hub_listener *listener)
{
    (void)listener;
}

hub_err hub_listener_renew(hub_listener *unused, const hub_tls_settings *tls, hub_error *reterr)
{
    (void)unused;
    (void)tls;
    (void)reterr;
    return HUB_OK;
}

void hub_listener_trust(hub_listener *listener, const hub_listen_settings *settings)
{
    (void)listener;
    (void)settings;
}

uint16_t hub_listener_port(const hub_listener *listener)
{
    (void)listener;
    return 1;
}

void hub_net_add_tick(hub_net *unused, hub_net_tick *tick)
{
    (void)unused;
    (void)tick;
}

void hub_net_remove_tick(hub_net *unused, hub_net_tick *tick)
{
    (void)unused;
    (void)tick;
}

/* ---- the hub --------------------------------------------------------------------------------- */

static void start_hub(void)
{
    static const hub_profile_settings profile = {
        .name = "default", .max_name_bytes = HUB_LIMIT_EXPOSED_NAME_BYTES, .meta_tools = true};
    static const hub_listen_settings listening = {.kind = HUB_LISTEN_HTTP, .address = "127.0.0.1"};
    static hub_settings settings = {
        .name = "patchbay",
        .modules = {.paths = {.set = true}},
        .toolsets_listed = true,
        .profiles = &profile,
        .profile_count = 1,
        .limits = {.client_message_bytes = MAX_BODY,
                   .upstream_message_bytes = HUB_LIMIT_UPSTREAM_MESSAGE_BYTES,
                   .client_queue_bytes = HUB_LIMIT_CLIENT_QUEUE_BYTES,
                   .call_timeout_ms = LONG_MS,
                   .call_ceiling_ms = LONG_MS,
                   .discover_timeout_ms = LONG_MS,
                   .ask_timeout_ms = LONG_MS,
                   .calls_per_session = HUB_LIMIT_CALLS_PER_SESSION,
                   .list_page = HUB_LIMIT_LIST_PAGE,
                   .worker_threads = 1,
                   .net = {.sessions = 100,
                           .sessions_per_principal = 100,
                           .replay_bytes = 4096,
                           .replay_events = 8,
                           .header_ms = LONG_MS,
                           .body_ms = LONG_MS,
                           .idle_ms = LONG_MS,
                           .sse_comment_ms = LONG_MS,
                           .ping_ms = LONG_MS,
                           .pong_ms = LONG_MS,
                           .session_idle_ms = LONG_MS}},
    };
    hub_net *made;
    hub_orchestrator *hub;
    hub_http_server *server;
    struct ev_loop *loop = ev_loop_new(EVFLAG_AUTO);
    hub_log_setup(HUB_LOG_OFF, false);
    REQUIRE(loop != NULL);
    REQUIRE(hub_net_create(loop, &settings.limits.net, 0, &made, NULL) == HUB_OK);
    REQUIRE(hub_orchestrator_create(loop, &settings, &hub, NULL) == HUB_OK);
    REQUIRE(hub_orchestrator_start(hub, NULL) == HUB_OK);
    const hub_web_served face = {&HUB_WEB_STATUS, hub};
    const hub_http_home home = {.net = made, .hub = hub, .faces = &face, .face_count = 1};
    REQUIRE(hub_http_server_open(&home, &settings, &listening, &server, NULL) == HUB_OK);
}

/* ---- answers --------------------------------------------------------------------------------- */

static hub_str take_line(hub_str *rest)
{
    const char *end = memmem(rest->ptr, rest->len, "\r\n", 2);
    REQUIRE(end != NULL);
    hub_str line = hub_str_between(rest->ptr, end);
    *rest = hub_str_from(*rest, line.len + 2);
    return line;
}

/* The rest of a chunked body; false when it has not ended. */
static bool skip_chunks(hub_str *rest)
{
    while (rest->len > 0) {
        hub_str line = take_line(rest);
        char *end;
        size_t size = strtoul(line.ptr, &end, 16);
        REQUIRE(line.len > 0 && end == line.ptr + line.len && rest->len >= size + 2);
        REQUIRE(memcmp(rest->ptr + size, "\r\n", 2) == 0);
        *rest = hub_str_from(*rest, size + 2);
        if (size == 0) {
            return true;
        }
    }
    return false;
}

/* The next answer; false when it is not the last: a stream that stays open, or an upgrade. */
static bool take_answer(hub_str *rest, int *ret_status)
{
    size_t length = 0;
    bool is_chunked = false;
    bool is_closing = false;
    hub_str line = take_line(rest);
    REQUIRE(hub_str_starts(line, HUB_STR("HTTP/1.1 ")) && line.len > 13);
    *ret_status = (int)strtol(line.ptr + 9, NULL, 10);
    REQUIRE(*ret_status >= 100 && *ret_status < 600);
    while ((line = take_line(rest)).len > 0) {
        REQUIRE(memchr(line.ptr, ':', line.len) != NULL);
        if (hub_str_starts(line, HUB_STR("Content-Length: "))) {
            length = strtoul(line.ptr + 16, NULL, 10);
        }
        is_chunked = is_chunked || hub_str_is(line, "Transfer-Encoding: chunked");
        is_closing = is_closing || hub_str_is(line, "Connection: close");
    }
    if (*ret_status == 101) {
        return false;
    }
    if (is_chunked) {
        return skip_chunks(rest);
    }
    if (rest->len > 0 && !hub_str_starts(*rest, HUB_STR("HTTP/1.1 "))) { /* else it was a HEAD */
        REQUIRE(rest->len >= length);
        *rest = hub_str_from(*rest, length);
    }
    return !is_closing;
}

static size_t read_statuses(hub_str out, int statuses[MOST_STATUSES])
{
    size_t count = 0;
    bool goes_on = true;
    while (goes_on && out.len > 0) {
        int status;
        goes_on = take_answer(&out, &status);
        if (status != 100 && count < MOST_STATUSES) {
            statuses[count++] = status;
        }
    }
    return count;
}

/* ---- a connection ---------------------------------------------------------------------------- */

/* Send the input in pieces, then hang up; what came back is left in `out`. */
static void send_pieces(hub_str input, size_t step, hub_buf *out)
{
    hub_link link = {.events = NULL};
    hub_buf_init(&link.out, SIZE_MAX / 4);
    net.on_link(net.ctx, &link);
    while (input.len > 0 && !link.is_closed && !link.is_paused) {
        hub_str piece = {.ptr = input.ptr, .len = step < input.len ? step : input.len};
        char *copy = malloc(piece.len); /* so that reading on is noticed */
        REQUIRE(copy != NULL);
        memcpy(copy, piece.ptr, piece.len);
        link.events->on_bytes(link.owner, (hub_str){.ptr = copy, .len = piece.len});
        free(copy);
        input = hub_str_from(input, piece.len);
        (void)ev_run(net.loop, EVRUN_NOWAIT);
        if (!link.is_closed && link.events->on_drained != NULL) {
            link.events->on_drained(link.owner);
        }
    }
    link.events->on_end(link.owner);
    (void)ev_run(net.loop, EVRUN_NOWAIT);
    *out = link.out;
}

/* Begin a session on a connection of its own. */
static void begin_session(const char *revision, char ret_id[SESSION_ID_BYTES])
{
    char body[256];
    char request[512];
    hub_buf out;
    int len = snprintf(body, sizeof body,
                       "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"initialize\",\"params\":{"
                       "\"protocolVersion\":\"%s\",\"capabilities\":{}}}",
                       revision);
    len = snprintf(request, sizeof request,
                   "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
                   "Content-Length: %d\r\n\r\n%s",
                   len, body);
    send_pieces((hub_str){.ptr = request, .len = (size_t)len}, (size_t)len, &out);
    const char *id = memmem(out.ptr, out.len, "Mcp-Session-Id: ", 16);
    REQUIRE(id != NULL);
    memcpy(ret_id, id + 16, SESSION_ID_BYTES);
    hub_buf_fini(&out);
}

/* End the sessions that were begun: a client that leaves them gets no more after a while. */
static void end_sessions(hub_str answers)
{
    static const char HEADER[] = "Mcp-Session-Id: ";
    const char *at;
    while (answers.len > 0 &&
           (at = memmem(answers.ptr, answers.len, HEADER, sizeof HEADER - 1)) != NULL) {
        char request[200];
        hub_buf out;
        answers = hub_str_between(at + sizeof HEADER - 1, answers.ptr + answers.len);
        if (answers.len < SESSION_ID_BYTES) {
            return;
        }
        int len =
            snprintf(request, sizeof request,
                     "DELETE /mcp HTTP/1.1\r\nHost: localhost\r\nMcp-Session-Id: %.*s\r\n\r\n",
                     SESSION_ID_BYTES, answers.ptr);
        send_pieces((hub_str){.ptr = request, .len = (size_t)len}, (size_t)len, &out);
        hub_buf_fini(&out);
    }
}

static size_t converse(hub_str input, const char *revision, size_t step,
                       int statuses[MOST_STATUSES])
{
    static const char PLACE[] = "SSSSSSSSSSSSSSSSSSSSSSSSSSSSSSSS";
    char id[SESSION_ID_BYTES];
    char *at;
    hub_buf out;
    char *text = malloc(input.len);
    REQUIRE(text != NULL);
    memcpy(text, input.ptr, input.len);
    begin_session(revision, id);
    while ((at = memmem(text, input.len, PLACE, SESSION_ID_BYTES)) != NULL) {
        memcpy(at, id, SESSION_ID_BYTES);
    }
    send_pieces((hub_str){.ptr = text, .len = input.len}, step, &out);
    size_t count = read_statuses(hub_buf_str(&out), statuses);
    end_sessions(hub_buf_str(&out));
    hub_buf_fini(&out);
    hub_buf_init(&out, 100);
    hub_buf_printf(&out, "Mcp-Session-Id: %.*s", SESSION_ID_BYTES, id);
    end_sessions(hub_buf_str(&out));
    hub_buf_fini(&out);
    free(text);
    return count;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char *const REVISIONS[] = {"2025-03-26", "2025-06-18", "2025-11-25", "2024-11-05"};
    int whole[MOST_STATUSES];
    int pieces[MOST_STATUSES];
    if (net.loop == NULL) {
        start_hub();
    }
    if (size < 2) {
        return 0;
    }
    hub_str input = {.ptr = (const char *)data + 1, .len = size - 1};
    const char *revision = REVISIONS[data[0] / 64];
    size_t of_whole = converse(input, revision, input.len, whole);
    size_t of_pieces = !FUZZ_ORACLE ? 0 : converse(input, revision, 1u + data[0] % 64u, pieces);
    for (size_t i = 0; i < of_whole && i < of_pieces; i++) {
        REQUIRE(whole[i] == pieces[i]);
    }
    return 0;
}
