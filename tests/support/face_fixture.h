/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A face of a test's own beside MCP, with rows behind each need that there is, and the HTTP server
 * that serves it over links of the test's. Adding it takes its table, and one row where the server
 * is opened.
 */
#ifndef PATCHBAY_TESTS_FACE_FIXTURE_H
#define PATCHBAY_TESTS_FACE_FIXTURE_H

#include "fake_link.h"

#include "base/digest.h"
#include "base/limits.h"
#include "base/loop.h"
#include "http/internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST_BODY = 10, MOST_MESSAGE = 64, LONG_MS = 3600000 };

static const char TOKEN[] = "pbt_test_0123456789012345678901234567890123456789012";

/* ---- the face -------------------------------------------------------------------------------- */

static struct {
    size_t count; /* of requests that have come */
    char seen[512];
    hub_web_exchange *waiting;
    size_t gone;
} face;

static void on_gone(void *ctx)
{
    assert_ptr_equal(ctx, &face);
    face.gone++;
    face.waiting = NULL;
}

static const hub_web_waiter WAITER = {.on_gone = on_gone};

static hub_err answer(hub_web_exchange *exchange, const char *text)
{
    hub_str parts[] = {HUB_STR("<"), hub_str_of(text), HUB_STR(">")};
    hub_web_header header = {HUB_STR("X-Face"), HUB_STR("yes")};
    return hub_web_answer_with(exchange, &(hub_web_answer){.status = 200,
                                                           .type = "text/plain",
                                                           .headers = &header,
                                                           .header_count = 1,
                                                           .parts = parts,
                                                           .count = 3});
}

/* Answers with all that can be seen of the request. */
static void echo(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    static const char *const NAMES[] = {"x-test", "Authorization", "cookie", "Proxy-Authorization"};
    hub_str value;
    hub_buf text;
    assert_ptr_equal(instance, &face);
    hub_buf_init(&text, sizeof face.seen - 1);
    hub_buf_printf(
        &text,
        HUB_STR_FMT " " HUB_STR_FMT " rest=" HUB_STR_FMT " query=" HUB_STR_FMT " body=" HUB_STR_FMT,
        HUB_STR_ARG(request->method), HUB_STR_ARG(request->path), HUB_STR_ARG(request->rest),
        HUB_STR_ARG(request->query), HUB_STR_ARG(request->body));
    for (size_t i = 0; i < sizeof NAMES / sizeof NAMES[0]; i++) {
        if (hub_web_find_header(request, hub_str_of(NAMES[i]), &value)) {
            hub_buf_printf(&text, " %s=" HUB_STR_FMT, NAMES[i], HUB_STR_ARG(value));
        }
    }
    const char *principal = hub_web_find_principal(request);
    hub_buf_printf(&text, " by=%s", principal != NULL ? principal : "nobody");
    assert_true(hub_buf_ok(&text));
    memcpy(face.seen, text.ptr, text.len);
    face.seen[text.len] = '\0';
    hub_buf_fini(&text);
    face.count++;
    (void)answer(exchange, face.seen);
}

static void wait_long(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    assert_ptr_equal(instance, &face);
    assert_null(face.waiting);
    assert_int_equal(request->rest.len, 0);
    face.waiting = exchange;
    face.count++;
    hub_web_wait(exchange, &WAITER, &face);
}

/* What it waited for has come already. */
static void wait_not(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    (void)request;
    hub_web_wait(exchange, &WAITER, instance);
    assert_int_equal(answer(exchange, "at once"), HUB_OK);
}

static void answer_empty(void *instance, const hub_web_request *request, hub_web_exchange *exchange)
{
    (void)instance;
    (void)request;
    (void)hub_web_answer_with(exchange, &(hub_web_answer){.status = 204});
}

static const hub_web_row ROWS[] = {
    {"GET", "/open", HUB_WEB_OPEN, 0, echo},
    {"GET", "/caller", HUB_WEB_CALLER, 0, echo},
    {"POST", "/caller", HUB_WEB_CALLER, MOST_BODY, echo},
    {"DELETE", "/caller", HUB_WEB_CALLER, 0, answer_empty},
    {"GET", "/local", HUB_WEB_TOKEN_OR_LOOPBACK, 0, echo},
    {"GET", "/mixed", HUB_WEB_OPEN, 0, echo},
    {"PUT", "/mixed", HUB_WEB_CALLER, 1000, echo},
    {"GET", "/later", HUB_WEB_CALLER, 0, wait_long},
    {"GET", "/open-later", HUB_WEB_OPEN, 0, wait_long},
    {"GET", "/not-later", HUB_WEB_OPEN, 0, wait_not},
    {"GET", "/tree/*", HUB_WEB_OPEN, 0, echo},
    {"GET", "/tree/branch", HUB_WEB_CALLER, 0, echo},
    {"GET", "/tree/branch/leaf/*", HUB_WEB_OPEN, 0, echo},
};

static const hub_web_face FACE = {
    .name = "test", .rows = ROWS, .count = sizeof ROWS / sizeof ROWS[0]};

/* ---- the server ------------------------------------------------------------------------------ */

static hub_net net;
static struct ev_loop *loop;
static hub_net_on_link *accept_link;
static void *accept_ctx;
static hub_http_server *server;
static hub_settings settings;
static hub_listen_settings listening;

hub_budget *hub_net_budget(const hub_net *unused)
{
    (void)unused;
    return NULL;
}

struct ev_loop *hub_net_loop(const hub_net *unused)
{
    (void)unused;
    return loop;
}

hub_err hub_net_listen(hub_net *unused, const hub_listen_settings *listen, hub_net_on_link *on_link,
                       void *ctx, hub_listener **ret_listener, hub_error *reterr)
{
    (void)unused;
    (void)listen;
    (void)reterr;
    accept_link = on_link;
    accept_ctx = ctx;
    *ret_listener = NULL;
    return HUB_OK;
}

void hub_listener_close(hub_listener *listener)
{
    (void)listener;
}

hub_err hub_listener_renew(hub_listener *listener, const hub_tls_settings *tls, hub_error *reterr)
{
    (void)listener;
    (void)tls;
    (void)reterr;
    return HUB_OK;
}

void hub_listener_trust(hub_listener *listener, const hub_listen_settings *listen)
{
    (void)listener;
    (void)listen;
}

uint16_t hub_listener_port(const hub_listener *listener)
{
    (void)listener;
    return 1;
}

static hub_err open_with(const hub_web_served *faces, size_t count, hub_http_server **ret_server,
                         hub_error *reterr)
{
    const hub_http_home home = {.net = &net, .faces = faces, .face_count = count};
    return hub_http_server_open(&home, &settings, &listening, ret_server, reterr);
}

static int set_up(void **state)
{
    (void)state;
    memset(&face, 0, sizeof face);
    fake_net_init(&net);
    loop = hub_loop_new();
    assert_non_null(loop);
    settings = (hub_settings){.limits = {.client_message_bytes = MOST_MESSAGE,
                                         .client_queue_bytes = HUB_LIMIT_CLIENT_QUEUE_BYTES,
                                         .net = {.sessions = 1,
                                                 .sessions_per_principal = 1,
                                                 .header_ms = LONG_MS,
                                                 .body_ms = LONG_MS,
                                                 .idle_ms = LONG_MS,
                                                 .sse_comment_ms = 1000}}};
    listening = (hub_listen_settings){.kind = HUB_LISTEN_HTTP, .address = "127.0.0.1"};
    hub_error why = {.code = HUB_OK};
    const hub_web_served faces[] = {{&FACE, &face}};
    if (open_with(faces, 1, &server, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    return 0;
}

static int tear_down(void **state)
{
    (void)state;
    hub_http_server_close(server);
    hub_loop_destroy(loop);
    return 0;
}

/* From now on the hub has a token. */
static void require_token(void)
{
    static hub_token token = {.id = "test", .name = "ada"};
    hub_digest_of(hub_str_of(TOKEN), token.sha256);
    settings.auth = (hub_auth_settings){.required = true, .tokens = &token, .token_count = 1};
}

/* ---- connections ----------------------------------------------------------------------------- */

static void begin(hub_link *link)
{
    fake_link_init(link);
    accept_link(accept_ctx, link);
}

static void end(hub_link *link)
{
    if (!link->is_over) {
        fake_link_end(link);
    }
    fake_link_fini(link);
}

/* What was written since it was looked at last, NUL-terminated; lives as long as nothing is. */
static const char *written(hub_link *link)
{
    hub_buf_add_char(&link->out, '\0');
    assert_true(hub_buf_ok(&link->out));
    link->out.len = 0;
    return link->out.ptr;
}

static const char *say(hub_link *link, const char *text)
{
    fake_link_says(link, hub_str_of(text));
    return written(link);
}

/* One request on a connection of its own. The answer lives until the next one. */
static const char *ask(const char *peer, const char *method, const char *target,
                       const char *headers, const char *body)
{
    static char reply[4096];
    char text[4096];
    hub_link link;
    begin(&link);
    link.peer = peer;
    (void)snprintf(text, sizeof text, "%s %s HTTP/1.1\r\nHost: localhost\r\n%s\r\n%s", method,
                   target, headers, body);
    (void)snprintf(reply, sizeof reply, "%s", say(&link, text));
    end(&link);
    return reply;
}

static const char LOCAL[] = "127.0.0.1";
static const char REMOTE[] = "192.0.2.1";
static const char BEARER[] =
    "Authorization: Bearer pbt_test_0123456789012345678901234567890123456789012\r\n";

static int status_of(const char *reply)
{
    int status = 0;
    assert_int_equal(sscanf(reply, "HTTP/1.1 %d ", &status), 1);
    return status;
}

#define assert_contains(text, part) assert_non_null(strstr(text, part))
#define assert_lacks(text, part)    assert_null(strstr(text, part))

#define GET(peer, target, headers) ask(peer, "GET", target, headers, "")

#endif
