/* SPDX-License-Identifier: Apache-2.0 */
/* For tests of WebSockets: a whole hub, links without a network, and clients that speak frames. */
#ifndef TESTS_UNIT_WEBSOCKET_SUPPORT_H
#define TESTS_UNIT_WEBSOCKET_SUPPORT_H

#include "hub_fixture.h"

#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "fake_link.h"
#include "websocket/limits.h"
#include "websocket/websocket.h"
#include "ws_frames.h"

#define WS_KEY   "dGhlIHNhbXBsZSBub25jZQ==" /* of RFC 6455 section 1.3 */
#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}"
#define HELLO                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"method\":\"initialize\",\"params\":{"                 \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"                                      \
    "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}"
#define READY "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}"
#define CALL(id)                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\","                                \
    "\"params\":{\"name\":\"t__do\",\"arguments\":{}}}"

enum { KEPT_CALLS = 16 };

typedef struct ws_fixture {
    hub_fixture f;
    struct hub_net net;
    hub_websockets *pool;
    puppet master;
    puppet_instance *instance;
    patchbay_call calls[KEPT_CALLS]; /* that the puppet keeps until a test finishes them */
    size_t call_count;
} ws_fixture;

/* A client and its end of the link. */
typedef struct ws_peer {
    struct hub_link link;
    hub_websocket *socket;
    unsigned ends; /* how often on_end was called */
    hub_websocket_options options;
} ws_peer;

static ws_fixture s;

static inline void keep_call(puppet_instance *instance, patchbay_call call,
                             const patchbay_request *request)
{
    (void)request;
    assert_true(s.call_count < KEPT_CALLS);
    s.instance = instance;
    s.calls[s.call_count++] = call;
}

/* Settings may still be changed. */
static inline void ws_prepare(void)
{
    memset(&s, 0, sizeof s);
    fixture_init(&s.f);
    s.f.settings.limits.net =
        (hub_net_limits){.body_ms = 30000, .ping_ms = 30000, .pong_ms = 10000};
    s.master = (puppet){.tools = "[" TOOL("do") "]", .on_call = keep_call};
    fixture_toolset(&s.f, "t", &s.master, false);
}

static inline void ws_start(void)
{
    fixture_start(&s.f);
    fake_net_init(&s.net);
    assert_int_equal(hub_websockets_create(&s.net, &s.f.settings, &s.pool), HUB_OK);
}

static inline void ws_serve(void)
{
    ws_prepare();
    ws_start();
}

static inline void ws_finish(void)
{
    hub_websockets_destroy(s.pool);
    assert_null(s.net.ticks);
    fixture_stop(&s.f);
}

static inline void count_end(void *ctx, hub_websocket *websocket)
{
    ws_peer *p = ctx;
    assert_ptr_equal(p->socket, websocket);
    p->ends++;
}

static hub_identity TESTER = {.name = "tester"};

static inline void ws_init_peer(ws_peer *p)
{
    *p = (ws_peer){.ends = 0};
    fake_link_init(&p->link);
    p->link.max_queue_bytes = s.f.settings.limits.client_queue_bytes;
    p->options = (hub_websocket_options){.hub = s.f.hub,
                                         .pool = s.pool,
                                         .identity = &TESTER,
                                         .key = HUB_STR(WS_KEY),
                                         .early = HUB_STR_EMPTY,
                                         .on_end = count_end,
                                         .ctx = p};
}

/* Open with the options that it has. The handshake's answer stays in link.out. */
static inline void ws_connect(ws_peer *p)
{
    hub_error why = {.code = HUB_OK};
    if (hub_websocket_open(&p->link, &p->options, &p->socket, &why) != HUB_OK) {
        fail_msg("%s", why.text);
    }
    fake_net_catch_up(&s.net);
}

static inline void ws_skip_handshake(ws_peer *p)
{
    size_t end = hub_str_find(hub_buf_str(&p->link.out), HUB_STR("\r\n\r\n"));
    assert_true(end != SIZE_MAX);
    hub_buf_consume(&p->link.out, end + 4);
}

static inline void ws_open(ws_peer *p)
{
    ws_init_peer(p);
    ws_connect(p);
    ws_skip_handshake(p);
}

/* The link ends, if it has not yet; everything is freed. */
static inline void ws_end(ws_peer *p)
{
    if (!p->link.is_over) {
        fake_link_end(&p->link);
    }
    assert_int_equal(p->ends, 1);
    fake_link_fini(&p->link);
}

static inline void ws_says(ws_peer *p, unsigned first, hub_str payload)
{
    hub_buf bytes;
    hub_buf_init(&bytes, SIZE_MAX / 2);
    ws_put(&bytes, first, payload);
    fake_link_says(&p->link, hub_buf_str(&bytes));
    hub_buf_fini(&bytes);
}

static inline void ws_says_text(ws_peer *p, const char *text)
{
    ws_says(p, WS_TEXT, hub_str_of(text));
}

/* The next frame that the hub has written: its payload, until the next one is asked for. The first
 * byte has to be `first`. */
static inline hub_str ws_hears(ws_peer *p, unsigned first)
{
    static hub_buf payload;
    const unsigned char *at = (const unsigned char *)p->link.out.ptr;
    assert_true(p->link.out.len >= 2);
    assert_int_equal(at[0], first);
    size_t head = at[1] < 126 ? 2 : at[1] == 126 ? 4 : 10; /* masked ones would be 128 and more */
    assert_true(at[1] <= 127 && p->link.out.len >= head);
    uint64_t len = head == 2 ? at[1] : 0;
    for (size_t i = 2; i < head; i++) {
        len = len << 8 | at[i];
    }
    assert_true(p->link.out.len - head >= len);
    hub_buf_fini(&payload);
    hub_buf_init(&payload, SIZE_MAX / 2);
    hub_buf_add(&payload, (hub_str){.ptr = p->link.out.ptr + head, .len = (size_t)len});
    hub_buf_add_char(&payload, '\0');
    hub_buf_consume(&p->link.out, head + (size_t)len);
    return (hub_str){.ptr = payload.ptr, .len = (size_t)len};
}

static inline void ws_hears_nothing(const ws_peer *p)
{
    assert_int_equal(p->link.out.len, 0);
}

/* A text frame that has all of `part`. */
static inline void ws_hears_text(ws_peer *p, const char *part)
{
    hub_str text = ws_hears(p, WS_TEXT);
    if (hub_str_find(text, hub_str_of(part)) == SIZE_MAX) {
        fail_msg("no %s in " HUB_STR_FMT, part, HUB_STR_ARG(text));
    }
}

/* A close frame with that code, as the last word; what waits may leave. */
static inline void ws_hears_close(ws_peer *p, unsigned code)
{
    hub_str payload = ws_hears(p, WS_CLOSE);
    assert_true(payload.len >= 2);
    assert_int_equal((unsigned char)payload.ptr[0] << 8 | (unsigned char)payload.ptr[1], code);
    ws_hears_nothing(p);
    assert_true(p->link.is_closing);
    assert_true(p->link.is_flushed);
}

/* A legacy client after its handshake. */
static inline void ws_greet(ws_peer *p)
{
    ws_says_text(p, HELLO);
    ws_hears_text(p, "\"protocolVersion\":\"2025-11-25\"");
    ws_says_text(p, READY);
}

static inline bool has_calls(void *ctx)
{
    return s.call_count >= *(const size_t *)ctx;
}

/* A call that the puppet keeps. */
static inline void ws_calls(ws_peer *p, const char *call)
{
    size_t count = s.call_count + 1;
    ws_says_text(p, call);
    fixture_run_until(&s.f, has_calls, &count);
}

/* Answer a kept call with a result of some more than that many bytes. */
static inline void answer_call(size_t at, size_t bytes)
{
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 2);
    hub_buf_add(&text, HUB_STR("{\"content\":[],\"x\":\""));
    char *room = hub_buf_reserve(&text, bytes);
    assert_non_null(room);
    memset(room, 'x', bytes);
    text.len += bytes;
    hub_buf_add(&text, HUB_STR("\"}"));
    assert_int_equal(
        s.instance->api->finish(s.instance->host, s.calls[at], PATCHBAY_RESULT, hub_buf_str(&text)),
        PATCHBAY_OK);
    hub_buf_fini(&text);
}

/* The same, from outside of the call, until the answer is written. */
static inline void finish_call(size_t at, size_t bytes)
{
    answer_call(at, bytes);
    fixture_spin(&s.f, 3);
}

#endif
