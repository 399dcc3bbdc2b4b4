/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A WebSocket upstream in time: attempts that take too long, pings and servers that do not answer
 * them, what is said before the connection is there, and what is kept when it ends. The connection
 * and the core are fakes, and so is the clock.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plugins/upstream/remote/websocket.c"
#include "plugins/upstream/common/duplex.c"
#include "plugins/upstream/common/quote.c"

/* ---- a loop with one timer ------------------------------------------------------------------- */

struct patchbay_timer {
    void (*on_time)(void *ctx);
    void *ctx;
    int is_running;
    uint64_t at_ms;
};

static uint64_t clock_ms;
static patchbay_timer the_timer;
static int timer_count;

static uint64_t fake_now(patchbay_host *host)
{
    (void)host;
    return clock_ms;
}

static patchbay_timer *fake_timer(patchbay_host *host, void (*then)(void *ctx), void *ctx)
{
    (void)host;
    timer_count++;
    the_timer = (patchbay_timer){.on_time = then, .ctx = ctx};
    return &the_timer;
}

static void fake_timer_start(patchbay_timer *timer, uint64_t delay_ms)
{
    timer->is_running = 1;
    timer->at_ms = clock_ms + delay_ms;
}

static void fake_timer_stop(patchbay_timer *timer)
{
    timer->is_running = 0;
}

static void fake_timer_free(patchbay_timer *timer)
{
    timer->is_running = 0;
    timer_count--;
}

static const patchbay_loop_v1 LOOP = {
    .struct_size = sizeof LOOP,
    .now_ms = fake_now,
    .timer = fake_timer,
    .timer_start = fake_timer_start,
    .timer_stop = fake_timer_stop,
    .timer_free = fake_timer_free,
};

static void pass_time(uint64_t ms)
{
    uint64_t end = clock_ms + ms;
    while (the_timer.is_running && the_timer.at_ms <= end) {
        clock_ms = the_timer.at_ms;
        the_timer.is_running = 0;
        the_timer.on_time(the_timer.ctx);
    }
    clock_ms = end;
}

/* ---- a connection ---------------------------------------------------------------------------- */

struct ws_link {
    ws_link_events events;
    void *ctx;
    char sent[4096]; /* what left, and how much */
    size_t sent_len;
    size_t queued;
    int is_closed;
};

static ws_link links[8];
static size_t link_count;

int32_t ws_link_open(const patchbay_loop_v1 *loop, patchbay_host *host, http_client *http,
                     const char *url, const ws_link_events *events, void *ctx, ws_link **ret_link)
{
    (void)loop;
    (void)host;
    (void)http;
    assert_string_equal(url, "http://h:1/x");
    links[link_count] = (ws_link){.events = *events, .ctx = ctx};
    *ret_link = &links[link_count++];
    return PATCHBAY_OK;
}

void ws_link_send(ws_link *link, ws_chunk *chunk)
{
    if (chunk != NULL) {
        assert_false(link->is_closed);
        assert_true(link->sent_len + chunk->len <= sizeof link->sent);
        memcpy(link->sent + link->sent_len, chunk->bytes, chunk->len);
        link->sent_len += chunk->len;
        free(chunk);
    }
}

size_t ws_link_queued(const ws_link *link)
{
    return link->queued;
}

void ws_link_close(ws_link *link)
{
    link->is_closed = 1;
}

static ws_link *last_link(void)
{
    return &links[link_count - 1];
}

/* The opcodes of the frames that left since the last look; the handshake is an H. */
static const char *opcodes(void)
{
    static char seen[64];
    ws_link *link = last_link();
    size_t count = 0;
    size_t at = 0;
    while (at < link->sent_len) {
        if (link->sent[at] == 'G') {
            seen[count++] = 'H';
            break;
        }
        seen[count++] = "0tb34567cpq"[link->sent[at] & 0x0f];
        at += 6 + ((size_t)link->sent[at + 1] & 0x7f);
    }
    seen[count] = '\0';
    link->sent_len = 0;
    return seen;
}

/* ---- the core ----------------------------------------------------------------------------------
 */

static mcp_remote remote;
static char last_reason[512];
static upstream_cause last_cause;
static int ends;       /* how often it was disconnected */
static int beginnings; /* … and greeted */
static int taken;      /* messages */

void upstream_disconnect(mcp_server *server, const char *reason, upstream_cause cause)
{
    (void)snprintf(last_reason, sizeof last_reason, "%s", reason);
    last_cause = cause;
    ends++;
    server->channel->close(server);
    server->phase = PHASE_IDLE;
}

void upstream_fail(mcp_server *server, const char *what)
{
    upstream_fail_as(server, what, CAUSE_FAILURE);
}

void upstream_fail_as(mcp_server *server, const char *what, upstream_cause cause)
{
    char reason[512];
    (void)snprintf(reason, sizeof reason, "server \"%s\" %s", server->name, what);
    upstream_disconnect(server, reason, cause);
}

upstream_cause upstream_cause_of_size(const mcp_server *server)
{
    return server->phase == PHASE_LISTING ? CAUSE_CATALOG : CAUSE_FAILURE;
}

size_t upstream_take_refused(mcp_server *server, patchbay_str text, const char *why,
                             upstream_settler *settler)
{
    (void)server;
    (void)text;
    (void)why;
    assert_ptr_equal(settler, upstream_settle);
    return 0;
}

int upstream_settle(mcp_server *server, patchbay_str id, const char *why)
{
    (void)server;
    (void)id;
    (void)why;
    return 0;
}

void upstream_handshake_begin(mcp_server *server)
{
    static const patchbay_str hello = {.ptr = "{}", .len = 2};
    const upstream_outgoing message = {.parts = &hello, .part_count = 1};
    beginnings++;
    server->phase = server->era == ERA_LEGACY ? PHASE_INITIALIZING : PHASE_PROBING;
    assert_int_equal(server->channel->send(server, &message), PATCHBAY_OK);
}

void upstream_connect(mcp_server *server)
{
    if (server->phase == PHASE_IDLE && server->channel->open(server)) {
        upstream_handshake_begin(server);
    }
}

void upstream_take(mcp_server *server, const patchbay_message *message, patchbay_call origin)
{
    (void)server;
    (void)message;
    assert_int_equal(origin.id, 0);
    taken++;
}

void upstream_send(mcp_server *server, const upstream_outgoing *message)
{
    (void)server->channel->send(server, message);
}

static int32_t fake_scan(patchbay_host *host, patchbay_str bytes, patchbay_message *ret_message,
                         patchbay_error *reterr)
{
    (void)host;
    (void)reterr;
    ret_message->kind = PATCHBAY_MSG_NOTIFICATION;
    return bytes.len > 0 && bytes.ptr[0] == '{' ? PATCHBAY_OK : PATCHBAY_EINVAL;
}

static const patchbay_wire_v1 WIRE = {.struct_size = sizeof WIRE, .scan = fake_scan};

static const void *fake_interface(patchbay_host *host, const char *id)
{
    (void)host;
    return strcmp(id, PATCHBAY_LOOP_V1) == 0 ? &LOOP : NULL;
}

/* ---- steps -------------------------------------------------------------------------------------
 */

static int set_up(void **state)
{
    static const patchbay_host_api API = {.get_interface = fake_interface};
    static char shown[] = "ws://h:1/x";
    static char url[] = "http://h:1/x";
    static char headers[] = "";
    (void)state;
    clock_ms = 1000;
    link_count = 0;
    ends = 0;
    beginnings = 0;
    taken = 0;
    last_reason[0] = '\0';
    memset(&remote, 0, sizeof remote);
    remote.shown = shown;
    remote.config.url = url;
    remote.config.headers = headers;
    remote.config.connect_timeout_ms = 5000;
    remote.server.name = remote.shown;
    remote.server.channel = &websocket_channel;
    remote.server.loop = &LOOP;
    remote.server.wire = &WIRE;
    return websocket_init(&remote, &API, NULL) == PATCHBAY_OK ? 0 : 1;
}

static int tear_down(void **state)
{
    (void)state;
    if (remote.server.phase != PHASE_IDLE) {
        upstream_disconnect(&remote.server, "the end", CAUSE_NONE);
    }
    websocket_fini(&remote);
    assert_int_equal(timer_count, 0);
    return 0;
}

static void say(const char *bytes, size_t len)
{
    ws_link *link = last_link();
    link->events.on_bytes(link->ctx, patchbay_str_make(bytes, len));
}
#define SAY(text) say(text, sizeof(text) - 1)

static void be_connected(void)
{
    last_link()->events.on_connected(last_link()->ctx);
    assert_string_equal(opcodes(), "H");
}

/* What makes it a WebSocket, with more behind it. */
static void accept_with(const char *more)
{
    char text[512];
    int len = snprintf(text, sizeof text,
                       "HTTP/1.1 101 x\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                       "Sec-WebSocket-Accept: %s\r\n\r\n%s",
                       remote.socket->connection->upgrade.accept, more);
    say(text, (size_t)len);
}

static void be_open(void)
{
    upstream_connect(&remote.server);
    be_connected();
    accept_with("");
    assert_string_equal(opcodes(), "t");
    assert_int_equal(ends, 0);
}

/* ---- tests -------------------------------------------------------------------------------------
 */

/* The handshake of MCP begins when it can be heard: its time does not run before. */
static void test_nothing_is_said_before(void **state)
{
    (void)state;
    upstream_connect(&remote.server);
    assert_int_equal(beginnings, 1);
    assert_int_equal(last_link()->sent_len, 0);
    remote.server.era = ERA_LEGACY; /* the probe was taken for silence */
    pass_time(4000);
    be_connected();
    accept_with("\x81\x02{}");
    assert_int_equal(beginnings, 2);
    assert_int_equal(remote.server.era, ERA_UNKNOWN);
    assert_int_equal(remote.server.phase, PHASE_PROBING);
    assert_int_equal(remote.server.started_ms, 5000);
    assert_string_equal(opcodes(), "t");
    assert_int_equal(taken, 1); /* what came with the answer is a message already */
}

static void test_an_attempt_takes_too_long(void **state)
{
    (void)state;
    for (int is_connected = 0; is_connected < 2; is_connected++) {
        upstream_connect(&remote.server);
        if (is_connected) {
            be_connected();
            SAY("HTTP/1.1 101");
        }
        pass_time(4999);
        assert_int_equal(ends, is_connected);
        pass_time(1);
        assert_int_equal(ends, is_connected + 1);
        assert_string_equal(last_reason, "cannot reach ws://h:1/x: no WebSocket within 5 s "
                                         "(connect_timeout)");
        assert_true(last_link()->is_closed);
        assert_int_equal(last_link()->sent_len, 0); /* no close frame: it was none yet */
        assert_int_equal(remote.server.era, ERA_UNKNOWN);
    }
}

static void test_pings(void **state)
{
    (void)state;
    be_open();
    for (int i = 0; i < 5; i++) {
        pass_time(WEBSOCKET_PING_MS - 1);
        assert_string_equal(opcodes(), "");
        pass_time(1);
        assert_string_equal(opcodes(), "p");
        SAY("\x8a\x00");
    }
    assert_int_equal(ends, 0);
}

static void test_a_server_that_does_not_answer_pings(void **state)
{
    (void)state;
    be_open();
    pass_time(WEBSOCKET_PING_MS);
    assert_string_equal(opcodes(), "p");
    pass_time(WEBSOCKET_PING_MS - 1);
    assert_int_equal(ends, 0);
    pass_time(1);
    assert_int_equal(ends, 1);
    assert_string_equal(last_reason, "server \"ws://h:1/x\" does not answer pings");
    assert_string_equal(opcodes(), "c");
    assert_true(last_link()->is_closed);
    assert_false(the_timer.is_running);
    upstream_connect(&remote.server); /* the next need */
    assert_int_equal(link_count, 2);
}

/* A server in the middle of a long message cannot put a pong into it. */
static void test_bytes_are_signs_of_life(void **state)
{
    (void)state;
    be_open();
    SAY("\x81\x7e\x01\x00{");
    for (int i = 0; i < 4; i++) {
        pass_time(WEBSOCKET_PING_MS);
        assert_string_equal(opcodes(), "p");
        SAY("x");
    }
    assert_int_equal(ends, 0);
}

static void test_one_timer(void **state)
{
    (void)state;
    for (int i = 0; i < 5; i++) { /* U29 */
        upstream_connect(&remote.server);
        be_connected();
        accept_with("");
        upstream_disconnect(&remote.server, "again", 0);
        assert_int_equal(timer_count, 1);
        assert_false(the_timer.is_running);
    }
}

static void test_ends(void **state)
{
    (void)state;
    upstream_connect(&remote.server);
    last_link()->events.on_end(last_link()->ctx, 0, "no such host");
    assert_string_equal(last_reason, "cannot reach ws://h:1/x: no such host");
    upstream_connect(&remote.server);
    be_connected();
    last_link()->events.on_end(last_link()->ctx, 1, "");
    assert_string_equal(last_reason,
                        "server \"ws://h:1/x\" closed the connection before it was a WebSocket");
    ends = 0;
    be_open();
    remote.server.phase = PHASE_READY;
    last_link()->events.on_end(last_link()->ctx, 1, "reset");
    assert_string_equal(last_reason, "the connection to server \"ws://h:1/x\" broke: reset");
    ends = 0;
    be_open();
    remote.server.phase = PHASE_READY;
    SAY("\x88\x04\x03\xe9no\x81\x02{}");
    assert_string_equal(last_reason, "server \"ws://h:1/x\" closed the connection with 1001: no");
    assert_int_equal(taken, 0);
    assert_string_equal(opcodes(), "c"); /* repeated, once */
}

/* An end that meets the probe is a legacy server's, and met again no era at all. */
static void test_an_end_of_the_probe(void **state)
{
    (void)state;
    be_open();
    SAY("\x88\x00");
    assert_int_equal(ends, 0);
    assert_int_equal(link_count, 2);
    be_connected();
    accept_with("");
    assert_int_equal(remote.server.era, ERA_LEGACY);
    assert_int_equal(remote.server.phase, PHASE_INITIALIZING);
    SAY("\x88\x00");
    assert_int_equal(ends, 1);
    assert_int_equal(link_count, 2);
    assert_int_equal(remote.server.era, ERA_UNKNOWN);
}

static void test_a_refused_credential_is_kept(void **state)
{
    (void)state;
    upstream_connect(&remote.server);
    be_connected();
    SAY("HTTP/1.1 401 x\r\n\r\n");
    assert_non_null(strstr(last_reason, "credential refused: HTTP 401 from ws://h:1/x"));
    assert_int_equal(last_cause, CAUSE_CONFIG);
    last_reason[0] = '\0';
    pass_time(REMOTE_REFUSED_MS - 1);
    upstream_connect(&remote.server);
    assert_int_equal(link_count, 1);
    assert_non_null(strstr(last_reason, "credential refused"));
    pass_time(1);
    upstream_connect(&remote.server);
    assert_int_equal(link_count, 2);
}

static void test_the_queue(void **state)
{
    const patchbay_str text = patchbay_str_of("{}");
    const upstream_outgoing message = {.parts = &text, .part_count = 1};
    (void)state;
    assert_int_equal(websocket_channel.send(&remote.server, &message), PATCHBAY_ESTATE);
    be_open();
    last_link()->queued = DUPLEX_QUEUE_BYTES - 2;
    assert_int_equal(websocket_channel.send(&remote.server, &message), PATCHBAY_OK);
    last_link()->queued = DUPLEX_QUEUE_BYTES - 1;
    assert_int_equal(websocket_channel.send(&remote.server, &message), PATCHBAY_ELIMIT);
    assert_string_equal(opcodes(), "t");
    last_link()->queued = DUPLEX_QUEUE_BYTES;
    SAY("\x89\x00");
    assert_int_equal(ends, 0);
    last_link()->queued = DUPLEX_QUEUE_BYTES + 1;
    SAY("\x89\x00");
    assert_string_equal(last_reason, "server \"ws://h:1/x\" does not read its input");
}

static void test_noise(void **state)
{
    (void)state;
    be_open();
    for (int i = 0; i < DUPLEX_NOISE; i++) {
        SAY("\x81\x01x");
    }
    SAY("\x81\x02{}");
    assert_int_equal(ends, 0);
    assert_int_equal(taken, 1);
    /* Two in one piece: what comes behind the end is not looked at. */
    SAY("\x81\x01x\x81\x02{}");
    assert_int_equal(ends, 1);
    assert_int_equal(taken, 1);
    assert_string_equal(last_reason, "server \"ws://h:1/x\" sends messages that are not JSON-RPC");
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_nothing_is_said_before),
        TEST(test_an_attempt_takes_too_long),
        TEST(test_pings),
        TEST(test_a_server_that_does_not_answer_pings),
        TEST(test_bytes_are_signs_of_life),
        TEST(test_one_timer),
        TEST(test_ends),
        TEST(test_an_end_of_the_probe),
        TEST(test_a_refused_credential_is_kept),
        TEST(test_the_queue),
        TEST(test_noise),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
