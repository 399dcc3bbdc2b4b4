/* SPDX-License-Identifier: Apache-2.0 */
/* What a WebSocket may cost: floods, peers that do not read, that are silent, that never finish,
 * credentials that end, and the memory of an idle one. */
#include "websocket_support.h"

#include <time.h>

/* ---- floods ---------------------------------------------------------------------------------- */

/* W07: pings up to the limit are answered, one more ends it; what was earned meanwhile counts. */
static void test_ping_flood(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    for (size_t i = 0; i < HUB_WEBSOCKET_LIMIT_CONTROLS; i++) {
        ws_says(&p, i % 2 == 0 ? WS_PING : WS_PONG, HUB_STR("x"));
    }
    fake_net_pass(&s.net, 500);
    for (size_t i = 0; i < HUB_WEBSOCKET_LIMIT_CONTROLS_PER_SECOND / 2; i++) {
        ws_says(&p, WS_PING, HUB_STR("y"));
    }
    assert_false(p.link.is_closing);
    for (size_t i = 0; i < HUB_WEBSOCKET_LIMIT_CONTROLS / 2; i++) {
        assert_string_equal(ws_hears(&p, WS_PONG).ptr, "x");
    }
    for (size_t i = 0; i < HUB_WEBSOCKET_LIMIT_CONTROLS_PER_SECOND / 2; i++) {
        assert_string_equal(ws_hears(&p, WS_PONG).ptr, "y");
    }
    ws_says(&p, WS_PING, HUB_STR("z"));
    ws_hears_close(&p, 1008);
    ws_end(&p);
    ws_finish();
}

/* Messages: `count` of them in one piece. */
static void says_many(ws_peer *p, size_t count)
{
    hub_buf bytes;
    hub_buf_init(&bytes, SIZE_MAX / 2);
    for (size_t i = 0; i < count; i++) {
        ws_put(&bytes, WS_TEXT, HUB_STR(PING("1")));
    }
    fake_link_says(&p->link, hub_buf_str(&bytes));
    hub_buf_fini(&bytes);
}

static size_t count_answers(ws_peer *p)
{
    size_t count = 0;
    size_t at = 0;
    while (at < p->link.out.len) { /* all of them short */
        at += 2 + (size_t)p->link.out.ptr[at + 1];
        count++;
    }
    hub_buf_clear(&p->link.out);
    return count;
}

/* W07: who sends more than the limit is slowed down, and loses nothing. */
static void test_message_flood(void **state)
{
    (void)state;
    enum {
        AT_ONCE = HUB_WEBSOCKET_LIMIT_FRAMES,
        PER_TICK = HUB_WEBSOCKET_LIMIT_FRAMES_PER_SECOND / 4,
        MORE = PER_TICK + PER_TICK / 2,
    };
    ws_peer p;
    ws_peer other;
    ws_serve();
    ws_open(&p);
    ws_open(&other);
    fake_net_pass(&s.net, 0); /* from here on there is one clock */
    says_many(&p, AT_ONCE);
    assert_int_equal(count_answers(&p), AT_ONCE);
    assert_false(p.link.is_paused);
    says_many(&p, MORE);
    assert_int_equal(count_answers(&p), 0);
    assert_true(p.link.is_paused);
    ws_says_text(&other, PING("1"));
    ws_hears_text(&other, "\"id\":1");
    fake_net_pass(&s.net, 250);
    size_t then = count_answers(&p);
    assert_in_range(then, PER_TICK, PER_TICK + 1); /* one had been begun */
    assert_true(p.link.is_paused);
    fake_net_pass(&s.net, 250);
    assert_int_equal(count_answers(&p), MORE - then);
    assert_false(p.link.is_paused);
    says_many(&p, 1);
    assert_int_equal(count_answers(&p), 1);
    ws_end(&p);
    ws_end(&other);
    ws_finish();
}

/* A slowed socket may go in the middle of anything. */
static void test_slowed_then_gone(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    for (int i = 0; i < 2; i++) {
        ws_open(&p);
        says_many(&p, HUB_WEBSOCKET_LIMIT_FRAMES + 5);
        assert_true(p.link.is_paused);
        if (i == 0) {
            hub_buf_clear(&p.link.out);
            hub_websocket_close(p.socket);
            ws_hears_close(&p, 1001);
            fake_net_pass(&s.net, 250);
            ws_hears_nothing(&p);
        }
        ws_end(&p);
        fake_net_pass(&s.net, 250);
    }
    ws_finish();
}

/* ---- slow readers ---------------------------------------------------------------------------- */

/* While much waits for the peer, nothing is read: also what had come in one piece with a question.
 */
static void test_back_pressure(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    ws_greet(&p);
    ws_calls(&p, CALL("1"));
    ws_calls(&p, CALL("2"));
    p.link.is_stalled = true;
    finish_call(0, HUB_WEBSOCKET_PAUSE_BYTES - 200);
    assert_false(p.link.is_paused);
    finish_call(1, 200);
    assert_true(p.link.is_paused);
    size_t waits = p.link.queued;
    assert_int_equal(p.link.out.len, waits);
    p.link.is_stalled = false;
    fake_link_drain(&p.link);
    assert_false(p.link.is_paused);
    hub_buf_clear(&p.link.out);
    ws_says_text(&p, PING("3"));
    ws_hears_text(&p, "\"id\":3");
    ws_end(&p);
    ws_finish();
}

static void finish_at_once(puppet_instance *instance, patchbay_call call,
                           const patchbay_request *request)
{
    (void)request;
    s.instance = instance;
    s.calls[0] = call;
    answer_call(0, HUB_WEBSOCKET_PAUSE_BYTES);
}

static void test_back_pressure_keeps_what_came(void **state)
{
    (void)state;
    ws_peer p;
    hub_buf bytes;
    ws_serve();
    ws_open(&p);
    ws_greet(&p);
    s.master.on_call = finish_at_once;
    hub_buf_init(&bytes, SIZE_MAX / 2);
    ws_put(&bytes, WS_TEXT, HUB_STR(CALL("1")));
    ws_put(&bytes, WS_TEXT, HUB_STR(PING("2")));
    ws_put(&bytes, WS_TEXT, HUB_STR(CALL("3")));
    ws_put(&bytes, WS_TEXT, HUB_STR(PING("4")));
    p.link.is_stalled = true;
    fake_link_says(&p.link, hub_buf_str(&bytes));
    fixture_spin(&s.f, 5);
    while (!p.link.is_paused) {
        ev_run(s.f.loop, EVRUN_ONCE);
    }
    /* how far it came depends on when the call was answered; but it stops, and goes on */
    for (int i = 0; i < 5 && p.link.is_paused; i++) {
        fake_link_drain(&p.link);
        fixture_spin(&s.f, 5);
    }
    assert_false(p.link.is_paused);
    hub_buf_add_char(&p.link.out, '\0');
    for (const char *id = "1234"; *id != '\0'; id++) {
        char text[16];
        (void)snprintf(text, sizeof text, "\"id\":%c", *id);
        assert_true(hub_str_find(hub_buf_str(&p.link.out), hub_str_of(text)) != SIZE_MAX);
    }
    hub_buf_fini(&bytes);
    ws_end(&p);
    ws_finish();
}

/* W06: the link ends who does not read; the session's calls end with it. */
static void test_queue_limit(void **state)
{
    (void)state;
    ws_peer p;
    ws_prepare();
    s.f.settings.limits.client_queue_bytes = 100000;
    ws_start();
    ws_open(&p);
    ws_greet(&p);
    ws_calls(&p, CALL("1"));
    ws_calls(&p, CALL("2"));
    ws_calls(&p, CALL("3"));
    p.link.is_stalled = true;
    finish_call(0, 90000);
    assert_false(p.link.is_closing);
    finish_call(1, 90000);
    assert_true(p.link.is_closing);
    ws_end(&p);
    assert_int_equal(s.master.cancels, 1);
    ws_finish();
}

/* ---- time ------------------------------------------------------------------------------------ */

/* W05: a ping when nothing has come for ping_ms; the end when nothing comes for pong_ms more. */
static void test_half_open(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    fake_net_pass(&s.net, 250);
    ws_says_text(&p, PING("1"));
    ws_hears_text(&p, "\"id\":1");
    fake_net_pass(&s.net, 29999);
    ws_hears_nothing(&p);
    fake_net_pass(&s.net, 1);
    assert_int_equal(ws_hears(&p, WS_PING).len, 0);
    fake_net_pass(&s.net, 9999);
    ws_says(&p, WS_PONG, HUB_STR_EMPTY);
    fake_net_pass(&s.net, 29999);
    ws_hears_nothing(&p);
    fake_net_pass(&s.net, 1);
    (void)ws_hears(&p, WS_PING);
    fake_net_pass(&s.net, 9999);
    assert_false(p.link.is_closing);
    fake_net_pass(&s.net, 1);
    assert_true(p.link.is_closing);
    assert_false(p.link.is_flushed); /* nobody would read it */
    assert_null(fixture_profile(&s.f)->sessions);
    ws_end(&p);
    ws_finish();
}

/* Any bytes show that the peer lives: half a frame will do. */
static void test_any_byte_is_life(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    fake_net_pass(&s.net, 30000);
    (void)ws_hears(&p, WS_PING);
    fake_link_says(&p.link, (hub_str){.ptr = "\x8a", .len = 1});
    fake_net_pass(&s.net, 10000);
    assert_false(p.link.is_closing);
    fake_net_pass(&s.net, 20000);
    (void)ws_hears(&p, WS_PING);
    ws_end(&p);
    ws_finish();
}

/* While its bytes wait to be sent, a peer's are not read: its silence is not its fault. */
static void test_unheard_is_not_silent(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    p.link.queued = 1;
    fake_net_pass(&s.net, 30000);
    ws_hears_nothing(&p);
    fake_link_drain(&p.link);
    fake_net_pass(&s.net, 30000);
    (void)ws_hears(&p, WS_PING);
    p.link.queued = 1;
    fake_net_pass(&s.net, 10000);
    assert_false(p.link.is_closing);
    ws_says(&p, WS_TEXT_MORE, HUB_STR("{"));
    fake_net_pass(&s.net, 100000);
    assert_false(p.link.is_closing);
    ws_end(&p);
    ws_finish();
}

/* W04: a message has body_ms from its first byte to its last, whatever comes between. */
static void test_unfinished_message(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    fake_net_pass(&s.net, 250);
    ws_says(&p, WS_TEXT_MORE, HUB_STR("{\"jsonrpc\":"));
    for (int i = 0; i < 29; i++) {
        fake_net_pass(&s.net, 1000);
        ws_says(&p, WS_CONTINUE_MORE, HUB_STR(" "));
        ws_says(&p, WS_PING, HUB_STR_EMPTY);
        assert_int_equal(ws_hears(&p, WS_PONG).len, 0);
    }
    fake_net_pass(&s.net, 999);
    assert_false(p.link.is_closing);
    fake_net_pass(&s.net, 1);
    ws_hears_close(&p, 1008);
    ws_end(&p);

    /* one that ends in time leaves nothing behind */
    ws_open(&p);
    fake_net_pass(&s.net, 250);
    ws_says(&p, WS_TEXT_MORE, HUB_STR("{\"jsonrpc\":"));
    fake_net_pass(&s.net, 29999);
    ws_says(&p, WS_CONTINUE_LAST, HUB_STR("\"2.0\",\"id\":1,\"method\":\"ping\"}"));
    ws_hears_text(&p, "\"id\":1");
    fake_net_pass(&s.net, 1);
    assert_false(p.link.is_closing);
    ws_end(&p);
    ws_finish();
}

/* ---- credentials ----------------------------------------------------------------------------- */

/* W08: at the expiry nothing more is heard; calls in flight are answered before the end. */
static void test_expiry(void **state)
{
    (void)state;
    ws_peer idle;
    ws_peer busy;
    ws_peer stuck;
    ws_peer lasting;
    ws_peer eternal;
    ws_serve();
    ws_peer *peers[] = {&idle, &busy, &stuck, &lasting, &eternal};
    for (size_t i = 0; i < 5; i++) {
        ws_init_peer(peers[i]);
        peers[i]->options.expires = i < 3 ? (int64_t)time(NULL) : 0;
    }
    lasting.options.expires = (int64_t)time(NULL) + 1000000;
    for (size_t i = 0; i < 5; i++) {
        ws_connect(peers[i]);
        ws_skip_handshake(peers[i]);
        ws_greet(peers[i]);
    }
    ws_calls(&busy, CALL("1"));
    ws_calls(&stuck, CALL("1"));
    fake_net_pass(&s.net, 250);
    ws_hears_close(&idle, 4401);
    assert_true(busy.link.is_paused && stuck.link.is_paused);
    assert_false(lasting.link.is_paused || eternal.link.is_paused);
    fake_net_pass(&s.net, 250);
    ws_hears_nothing(&busy);
    finish_call(0, 10);
    ws_hears_text(&busy, "\"id\":1");
    fake_net_pass(&s.net, 250);
    ws_hears_close(&busy, 4401);
    fake_net_pass(&s.net, HUB_WEBSOCKET_EXPIRY_GRACE_MS - 501);
    ws_hears_nothing(&stuck);
    assert_int_equal(s.master.cancels, 0);
    fake_net_pass(&s.net, 1);
    ws_hears_close(&stuck, 4401);
    assert_int_equal(s.master.cancels, 1);
    fake_net_pass(&s.net, 20000);
    ws_says_text(&lasting, PING("2"));
    ws_hears_text(&lasting, "\"id\":2");
    ws_says_text(&eternal, PING("2"));
    ws_hears_text(&eternal, "\"id\":2");
    for (size_t i = 0; i < 5; i++) {
        ws_end(peers[i]);
    }
    ws_finish();
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* An idle socket costs little, also one that has been busy; nothing is left of a closed one. */
static void test_memory(void **state)
{
    (void)state;
    enum { SOCKETS = 200, IDLE_BYTES = 1500 };
    ws_serve();
    ws_peer *peers = calloc(SOCKETS, sizeof *peers);
    assert_non_null(peers);
    ws_open(&peers[0]); /* what is allocated once */
    ws_says_text(&peers[0], PING("1"));
    ws_end(&peers[0]);
    size_t before = fixture_allocated();
    for (size_t i = 0; i < SOCKETS; i++) {
        ws_open(&peers[i]);
        ws_says(&peers[i], WS_TEXT_MORE, HUB_STR(" "));
        ws_says(&peers[i], WS_PING, HUB_STR("x"));
        ws_says(&peers[i], WS_CONTINUE_LAST, HUB_STR(PING("1")));
        (void)ws_hears(&peers[i], WS_PONG);
        ws_hears_text(&peers[i], "\"id\":1");
        hub_buf_fini(&peers[i].link.out);
    }
    size_t idle = fixture_allocated() - before;
    print_message("%zu bytes per idle socket, without its link\n", idle / SOCKETS);
    assert_true(idle / SOCKETS <= IDLE_BYTES);
    for (size_t i = 0; i < SOCKETS; i++) {
        ws_end(&peers[i]);
    }
    assert_true(fixture_allocated() - before < 1000);
    free(peers);
    ws_finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ping_flood),
        cmocka_unit_test(test_message_flood),
        cmocka_unit_test(test_slowed_then_gone),
        cmocka_unit_test(test_back_pressure),
        cmocka_unit_test(test_back_pressure_keeps_what_came),
        cmocka_unit_test(test_queue_limit),
        cmocka_unit_test(test_half_open),
        cmocka_unit_test(test_any_byte_is_life),
        cmocka_unit_test(test_unheard_is_not_silent),
        cmocka_unit_test(test_unfinished_message),
        cmocka_unit_test(test_expiry),
        cmocka_unit_test(test_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
