/* SPDX-License-Identifier: Apache-2.0 */
/* The WebSocket transport: from the upgrade to the close, in a whole hub, over a link of the
 * test's. */
#include "websocket_support.h"

/* ---- the handshake --------------------------------------------------------------------------- */

/* RFC 6455 section 1.3 gives the answer to its key. S5.54: the subprotocol is echoed if offered. */
static void test_handshake(void **state)
{
    (void)state;
    static const char start[] = "HTTP/1.1 101 Switching Protocols\r\n";
    ws_serve();
    for (int offered = 0; offered < 2; offered++) {
        ws_peer p;
        ws_init_peer(&p);
        p.options.offers_mcp = offered == 1;
        ws_connect(&p);
        hub_buf_add_char(&p.link.out, '\0');
        const char *answer = p.link.out.ptr;
        assert_memory_equal(answer, start, sizeof start - 1);
        assert_contains(answer, "\r\nUpgrade: websocket\r\n");
        assert_contains(answer, "\r\nConnection: Upgrade\r\n");
        assert_contains(answer, "\r\nSec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n");
        assert_int_equal(strstr(answer, "\r\nSec-WebSocket-Protocol: mcp\r\n") != NULL, offered);
        assert_null(strstr(answer, "Extensions"));
        assert_string_equal(answer + strlen(answer) - 4, "\r\n\r\n");
        ws_end(&p);
    }
    ws_finish();
}

static void test_keys(void **state)
{
    (void)state;
    static const char *const good[] = {WS_KEY,
                                       "AAAAAAAAAAAAAAAAAAAAAA==", "++//++//++//++//++//+w=="};
    static const char *const bad[] = {"",
                                      "dGhlIHNhbXBsZSBub25jZQ=",
                                      "dGhlIHNhbXBsZSBub25jZQ",
                                      "dGhlIHNhbXBsZSBub25jZQ===",
                                      "dGhlIHNhbXBsZSBub25jZQA=",
                                      "dGhlIHNhbXBsZSBub25jZQAA",
                                      "dGhlIHNhbXBsZSBub25j*Q==",
                                      "dGhlIHNhbXBsZSBub25j Q==",
                                      "-_hlIHNhbXBsZSBub25jZQ=="};
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        assert_true(hub_websocket_is_key(hub_str_of(good[i])));
    }
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_false(hub_websocket_is_key(hub_str_of(bad[i])));
    }
}

static void test_refusals(void **state)
{
    (void)state;
    ws_peer p;
    hub_error why = {.code = HUB_OK};
    ws_serve();
    ws_init_peer(&p);
    p.options.profile = "missing";
    assert_int_equal(hub_websocket_open(&p.link, &p.options, &p.socket, &why), HUB_ENOTFOUND);
    assert_contains(why.text, "missing");
    hub_orchestrator_stop(s.f.hub);
    p.options.profile = NULL;
    assert_int_equal(hub_websocket_open(&p.link, &p.options, &p.socket, &why), HUB_ESTATE);
    assert_null(p.link.events); /* untouched */
    ws_hears_nothing(&p);
    fake_link_fini(&p.link);
    ws_finish();
}

/* Requests behind the upgrade, without having waited for the answer. */
static void test_early_bytes(void **state)
{
    (void)state;
    ws_peer p;
    hub_buf bytes;
    ws_serve();
    hub_buf_init(&bytes, SIZE_MAX / 2);
    ws_put(&bytes, WS_TEXT, HUB_STR(PING("1")));
    ws_put(&bytes, WS_TEXT, HUB_STR(PING("2")));
    size_t whole = bytes.len - 5; /* the rest comes later */
    ws_init_peer(&p);
    p.options.early = (hub_str){.ptr = bytes.ptr, .len = whole};
    ws_connect(&p);
    ws_skip_handshake(&p);
    ws_hears_text(&p, "\"id\":1");
    ws_hears_nothing(&p);
    fake_link_says(&p.link, hub_str_from(hub_buf_str(&bytes), whole));
    ws_hears_text(&p, "\"id\":2");
    ws_end(&p);

    ws_init_peer(&p);
    p.options.early = HUB_STR("\x81\x00"); /* no mask */
    ws_connect(&p);
    ws_skip_handshake(&p);
    ws_hears_close(&p, 1002);
    ws_end(&p);
    hub_buf_fini(&bytes);
    ws_finish();
}

static void test_answer_cannot_be_written(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_init_peer(&p);
    p.link.fails = HUB_ENOMEM;
    p.options.early = HUB_STR("\x81\x80");
    ws_connect(&p);
    assert_true(p.link.is_closing);
    assert_false(p.link.is_flushed);
    assert_null(fixture_profile(&s.f)->sessions);
    ws_end(&p);
    ws_finish();
}

/* ---- talking --------------------------------------------------------------------------------- */

static void test_legacy(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    assert_string_equal(hub_session_who(fixture_profile(&s.f)->sessions), "tester");
    assert_string_equal(fixture_profile(&s.f)->sessions->transport, "websocket");
    ws_greet(&p);
    ws_calls(&p, CALL("1"));
    ws_hears_nothing(&p);
    finish_call(0, 10);
    ws_hears_text(&p, "\"id\":1");
    ws_end(&p);
    ws_finish();
}

static void test_modern(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    ws_says_text(
        &p, "{\"jsonrpc\":\"2.0\",\"id\":7,\"method\":\"tools/list\",\"params\":{\"_meta\":{"
            "\"" HUB_META_PROTOCOL_VERSION "\":\"2026-07-28\",\"" HUB_META_CLIENT_INFO
            "\":{\"name\":\"t\",\"version\":\"1\"},\"" HUB_META_CLIENT_CAPABILITIES "\":{}}}}");
    ws_hears_text(&p, "t__do");
    ws_end(&p);
    ws_finish();
}

/* What is no message is answered, not a reason to close. */
static void test_bad_messages(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    ws_says_text(&p, "");
    ws_hears_text(&p, "-32700");
    ws_says_text(&p, "{");
    ws_hears_text(&p, "-32700");
    ws_says_text(&p, "[]");
    ws_hears_text(&p, "-32600");
    ws_says_text(&p, PING("1") PING("2")); /* two in one text */
    ws_hears_text(&p, "-32700");
    ws_says_text(&p, PING("3"));
    ws_hears_text(&p, "\"id\":3");
    ws_end(&p);
    ws_finish();
}

/* Lengths of 7, 16 and 64 bits, both ways; parts are written as one. */
static void test_large_messages(void **state)
{
    (void)state;
    static const size_t sizes[] = {1, 200, 70000, 3000000};
    ws_peer p;
    ws_serve();
    ws_open(&p);
    ws_greet(&p);
    for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        hub_buf text;
        hub_buf_init(&text, SIZE_MAX / 2);
        hub_buf_add(
            &text,
            HUB_STR("{\"jsonrpc\":\"2.0\",\"id\":\"x\",\"method\":\"ping\",\"params\":{\"x\":\""));
        char *room = hub_buf_reserve(&text, sizes[i]);
        memset(room, 'x', sizes[i]);
        text.len += sizes[i];
        hub_buf_add(&text, HUB_STR("\"}}"));
        ws_says(&p, WS_TEXT, hub_buf_str(&text));
        ws_hears_text(&p, "\"id\":\"x\"");
        hub_buf_fini(&text);

        ws_calls(&p, CALL("1"));
        finish_call(i, sizes[i]);
        hub_str answer = ws_hears(&p, WS_TEXT);
        assert_true(answer.len > sizes[i] && answer.len < sizes[i] + 200);
        assert_contains(answer.ptr + answer.len - 3, "\"}}");
        ws_hears_nothing(&p);
    }
    ws_end(&p);
    ws_finish();
}

static void test_ping(void **state)
{
    (void)state;
    ws_peer p;
    char payload[125];
    memset(payload, 'p', sizeof payload);
    ws_serve();
    ws_open(&p);
    ws_says(&p, WS_PING, HUB_STR_EMPTY);
    assert_int_equal(ws_hears(&p, WS_PONG).len, 0);
    ws_says(&p, WS_PING, (hub_str){.ptr = payload, .len = sizeof payload});
    assert_memory_equal(ws_hears(&p, WS_PONG).ptr, payload, sizeof payload);
    ws_says(&p, WS_PONG, HUB_STR("nobody asked"));
    ws_hears_nothing(&p);

    /* the order of answers is the order of questions */
    hub_buf bytes;
    hub_buf_init(&bytes, SIZE_MAX / 2);
    ws_put(&bytes, WS_PING, HUB_STR("a"));
    ws_put(&bytes, WS_TEXT, HUB_STR(PING("1")));
    ws_put(&bytes, WS_PING, HUB_STR("b"));
    fake_link_says(&p.link, hub_buf_str(&bytes));
    assert_string_equal(ws_hears(&p, WS_PONG).ptr, "a");
    ws_hears_text(&p, "\"id\":1");
    assert_string_equal(ws_hears(&p, WS_PONG).ptr, "b");
    ws_hears_nothing(&p);
    hub_buf_fini(&bytes);
    ws_end(&p);
    ws_finish();
}

/* ---- closing --------------------------------------------------------------------------------- */

/* The close is answered with itself, calls are cancelled, nothing is said behind it. */
static void test_peer_closes(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    ws_greet(&p);
    ws_calls(&p, CALL("1"));
    ws_says(&p, WS_CLOSE,
            HUB_STR("\x0f\xa0"
                    "bye"));
    assert_string_equal(ws_hears(&p, WS_CLOSE).ptr, "\x0f\xa0"
                                                    "bye");
    assert_true(p.link.is_closing && p.link.is_flushed);
    assert_int_equal(s.master.cancels, 1);
    assert_null(fixture_profile(&s.f)->sessions);
    ws_says_text(&p, PING("2"));
    hub_websocket_close(p.socket);
    fake_net_pass(&s.net, 100000);
    ws_hears_nothing(&p);
    assert_int_equal(p.ends, 0); /* that is the link's to say */
    ws_end(&p);

    ws_open(&p);
    ws_says(&p, WS_CLOSE, HUB_STR_EMPTY);
    assert_int_equal(ws_hears(&p, WS_CLOSE).len, 0);
    ws_end(&p);
    ws_finish();
}

static void test_peer_vanishes(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    ws_greet(&p);
    ws_calls(&p, CALL("1"));
    ws_says(&p, WS_TEXT_MORE, HUB_STR("{")); /* in the middle of a message */
    ws_end(&p);
    assert_int_equal(s.master.cancels, 1);
    assert_null(fixture_profile(&s.f)->sessions);
    ws_finish();
}

static void test_hub_closes(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    ws_greet(&p);
    ws_calls(&p, CALL("1"));
    hub_orchestrator_stop(s.f.hub);
    hub_websocket_close(p.socket);
    ws_hears_text(&p, "\"id\":1"); /* an error, before the close */
    ws_hears_close(&p, 1001);
    assert_int_equal(p.ends, 0);
    ws_says_text(&p, PING("2"));
    ws_hears_nothing(&p);
    ws_end(&p);
    ws_finish();
}

/* W02, through the whole socket: one fault of each code. */
static void test_faults(void **state)
{
    (void)state;
    static const struct {
        unsigned first;
        const char *payload;
        unsigned code;
    } faults[] = {
        {WS_TEXT | WS_NO_MASK, "x", 1002}, {0xc1, "x", 1002},
        {WS_CONTINUE_LAST, "x", 1002},     {WS_BINARY, "x", 1003},
        {WS_TEXT, "\xff", 1007},           {WS_CLOSE, "\x03\xed", 1002},
    };
    ws_serve();
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
        ws_peer p;
        hub_buf bytes;
        ws_open(&p);
        hub_buf_init(&bytes, SIZE_MAX / 2);
        ws_put(&bytes, WS_TEXT, HUB_STR(PING("1")));
        ws_put(&bytes, faults[i].first, hub_str_of(faults[i].payload));
        ws_put(&bytes, WS_TEXT, HUB_STR(PING("2"))); /* not looked at */
        fake_link_says(&p.link, hub_buf_str(&bytes));
        ws_hears_text(&p, "\"id\":1");
        ws_hears_close(&p, faults[i].code);
        assert_null(fixture_profile(&s.f)->sessions);
        ws_end(&p);
        hub_buf_fini(&bytes);
    }
    ws_finish();
}

/* A message as large as it may be, and one byte more. */
static void test_message_limit(void **state)
{
    (void)state;
    ws_prepare();
    s.f.settings.limits.client_message_bytes = 300;
    ws_start();
    for (size_t extra = 0; extra < 2; extra++) {
        ws_peer p;
        char text[301];
        memset(text, ' ', sizeof text);
        memcpy(text, PING("1"), strlen(PING("1")));
        ws_open(&p);
        ws_says(&p, WS_TEXT, (hub_str){.ptr = text, .len = 300 + extra});
        if (extra == 0) {
            ws_hears_text(&p, "\"id\":1");
        } else {
            ws_hears_close(&p, 1009);
        }
        ws_end(&p);
    }
    ws_finish();
}

/* A write that fails takes the socket down, whatever was to be written. */
static void test_failing_writes(void **state)
{
    (void)state;
    ws_peer p;
    ws_serve();
    ws_open(&p);
    p.link.fails = HUB_ENOMEM;
    ws_says(&p, WS_PING, HUB_STR("x"));
    assert_true(p.link.is_closing);
    assert_false(p.link.is_flushed);
    assert_null(fixture_profile(&s.f)->sessions);
    ws_end(&p);

    ws_open(&p);
    p.link.fails = HUB_ENOMEM;
    hub_websocket_close(p.socket);
    assert_true(p.link.is_closing);
    assert_false(p.link.is_flushed);
    ws_end(&p);
    ws_finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_handshake),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_refusals),
        cmocka_unit_test(test_early_bytes),
        cmocka_unit_test(test_answer_cannot_be_written),
        cmocka_unit_test(test_legacy),
        cmocka_unit_test(test_modern),
        cmocka_unit_test(test_bad_messages),
        cmocka_unit_test(test_large_messages),
        cmocka_unit_test(test_ping),
        cmocka_unit_test(test_peer_closes),
        cmocka_unit_test(test_peer_vanishes),
        cmocka_unit_test(test_hub_closes),
        cmocka_unit_test(test_faults),
        cmocka_unit_test(test_message_limit),
        cmocka_unit_test(test_failing_writes),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
