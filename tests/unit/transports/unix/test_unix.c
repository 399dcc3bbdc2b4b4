/* SPDX-License-Identifier: Apache-2.0 */
/* The Unix socket transport in a whole hub: many clients, each with a session of its own. */
#include "unix_support.h"

#include <pthread.h>

/* ---- serving --------------------------------------------------------------------------------- */

static void test_many_clients(void **state)
{
    (void)state;
    enum { CLIENTS = 20 };
    peer peers[CLIENTS];
    char principal[32];
    serve();
    for (size_t i = 0; i < CLIENTS; i++) {
        peers[i] = peer_open();
        char text[128];
        (void)snprintf(text, sizeof text, PING("%zu"), 1000 + i);
        peer_says(&peers[i], text);
    }
    for (size_t i = 0; i < CLIENTS; i++) {
        char text[128];
        (void)snprintf(text, sizeof text, "\"id\":%zu", 1000 + i);
        peer_waits(&peers[i], text);
        assert_int_equal(
            hub_str_find(hub_str_from(hub_buf_str(&peers[i].got), 1), HUB_STR("{\"jsonrpc\"")),
            SIZE_MAX); /* one answer, its own */
    }
    (void)snprintf(principal, sizeof principal, "uid:%u", (unsigned)getuid());
    assert_string_equal(hub_session_who(fixture_profile(&s.f)->sessions), principal);
    assert_string_equal(fixture_profile(&s.f)->sessions->transport, "unix");

    /* one leaves, the others are served on; in any order */
    static const size_t order[] = {3, 19, 0, 7};
    for (size_t i = 0; i < 4; i++) {
        peer_close(&peers[order[i]]);
        fixture_spin(&s.f, 5);
        peer_says(&peers[10], PING("\"again\""));
        peer_waits(&peers[10], "\"id\":\"again\"");
        hub_buf_clear(&peers[10].got);
    }
    finish();
    for (size_t i = 0; i < CLIENTS; i++) {
        if (i != 3 && i != 19 && i != 0 && i != 7) {
            peer_reads(&peers[i]);
            assert_true(peers[i].ended);
            peer_close(&peers[i]);
        }
    }
}

/* Both framings, the limit of a message, one byte more. */
static void test_framing(void **state)
{
    (void)state;
    prepare();
    s.f.settings.limits.client_message_bytes = 200;
    open_server();
    peer lines = peer_open();
    peer headers = peer_open();
    peer_says(&headers,
              "Content-Length: 40\r\n\r\n{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}");
    peer_waits(&headers, "Content-Length: ");
    char text[300];
    memset(text, ' ', sizeof text);
    memcpy(text, PING("2"), strlen(PING("2")) - 1);
    memcpy(text + 200, "\n", 2); /* 200 bytes with the spaces that JSON allows */
    peer_says(&lines, text);
    peer_waits(&lines, "\"id\":2");
    memcpy(text + 200, " \n", 3);
    peer_says(&lines, text);
    peer_waits(&lines, "200 bytes");
    peer_says(&lines, PING("3"));
    peer_waits(&lines, "\"id\":3");
    peer_close(&lines);
    peer_close(&headers);
    finish();
}

static void test_profile(void **state)
{
    (void)state;
    prepare();
    s.f.profiles[1] = s.f.profiles[0];
    s.f.profiles[1].name = "other";
    s.f.settings.profile_count = 2;
    fixture_start(&s.f);
    hub_error why = {.code = HUB_OK};
    s.listen.profile = "missing";
    assert_int_equal(
        hub_unix_server_open(s.f.loop, s.f.hub, &s.f.settings, &s.listen, &s.unix_server, &why),
        HUB_ENOTFOUND);
    assert_contains(why.text, "missing");
    assert_contains(why.text, s.path);
    assert_int_equal(access(s.path, F_OK), -1);
    s.listen.profile = "other";
    assert_int_equal(
        hub_unix_server_open(s.f.loop, s.f.hub, &s.f.settings, &s.listen, &s.unix_server, &why),
        HUB_OK);
    peer p = peer_open();
    peer_says(&p, PING("1"));
    peer_waits(&p, "\"id\":1");
    assert_null(hub_find_profile(s.f.hub, NULL)->sessions);
    assert_non_null(hub_find_profile(s.f.hub, "other")->sessions);

    /* a second server on the same path */
    hub_unix_server *second = NULL;
    assert_int_equal(
        hub_unix_server_open(s.f.loop, s.f.hub, &s.f.settings, &s.listen, &second, &why),
        HUB_EEXIST);
    peer_says(&p, PING("2"));
    peer_waits(&p, "\"id\":2");
    peer_close(&p);
    finish();
}

/* ---- leaving --------------------------------------------------------------------------------- */

static void test_gone_client_cancels(void **state)
{
    (void)state;
    serve();
    peer p = peer_open();
    peer_says(&p, HELLO CALL("1"));
    wait_for_calls(1);
    peer_close(&p);
    fixture_run_until(&s.f, is_cancelled, NULL);
    assert_null(fixture_profile(&s.f)->sessions);
    finish();
}

/* Half closed: the client has said all it wants to say, and reads on. */
static void test_half_closed_is_answered(void **state)
{
    (void)state;
    serve();
    peer p = peer_open();
    peer_says(&p, HELLO CALL("1") CALL("2"));
    assert_int_equal(shutdown(p.fd, SHUT_WR), 0);
    wait_for_calls(2);
    puppet_finish(s.instance, s.calls[0], "{\"content\":[],\"n\":1}");
    peer_waits(&p, "\"n\":1");
    assert_false(p.ended);
    puppet_finish(s.instance, s.calls[1], "{\"content\":[],\"n\":2}");
    peer_waits(&p, "\"n\":2");
    peer_runs_until(&p, has_ended);
    assert_int_equal(s.master.cancels, 0);
    peer_close(&p);

    /* nothing is owed: the end comes at once, behind the last answer */
    p = peer_open();
    peer_says(&p, PING("3"));
    assert_int_equal(shutdown(p.fd, SHUT_WR), 0);
    peer_runs_until(&p, has_ended);
    assert_true(got(&p, "\"id\":3"));
    peer_close(&p);
    finish();
}

static void test_half_closed_then_gone(void **state)
{
    (void)state;
    serve();
    peer p = peer_open();
    peer_says(&p, HELLO CALL("1"));
    assert_int_equal(shutdown(p.fd, SHUT_WR), 0);
    wait_for_calls(1);
    fixture_spin(&s.f, 5);
    assert_int_equal(s.master.cancels, 0);
    peer_close(&p);
    fixture_run_until(&s.f, is_cancelled, NULL);
    finish();
}

/* ---- slow readers ---------------------------------------------------------------------------- */

/* Answer a kept call with that many bytes. */
static void finish_large(size_t at, size_t bytes)
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

/* W06, for this transport: who does not read is cut at the queue's limit; others do not notice. */
static void test_slow_reader(void **state)
{
    (void)state;
    enum { QUEUE = 1024 * 1024 };
    prepare();
    s.f.settings.limits.client_queue_bytes = QUEUE;
    open_server();
    peer slow = peer_open();
    peer honest = peer_open();
    peer_says(&slow, HELLO CALL("1") CALL("2") CALL("3"));
    wait_for_calls(3);
    finish_large(0, QUEUE - 1000);
    fixture_spin(&s.f, 5);
    assert_int_equal(s.master.cancels, 0);
    finish_large(1, QUEUE - 1000); /* the socket has taken some of the first: this is too much */
    fixture_run_until(&s.f, is_cancelled, NULL);
    peer_says(&honest, PING("1"));
    peer_waits(&honest, "\"id\":1");
    peer_runs_until(&slow, has_ended);
    peer_close(&slow);
    peer_close(&honest);
    finish();
}

static void *read_all(void *ctx)
{
    peer *p = ctx;
    assert_int_equal(fcntl(p->fd, F_SETFL, 0), 0);
    peer_reads(p); /* blocking now: to the end */
    return NULL;
}

/* The last words reach who reads them, though one before or behind him does not. */
static void test_last_words(void **state)
{
    (void)state;
    enum { BYTES = 3 * 1024 * 1024 };
    pthread_t reader;
    serve();
    peer peers[3] = {peer_open(), peer_open(), peer_open()};
    for (size_t i = 0; i < 3; i++) {
        peer_says(&peers[i], HELLO CALL("1"));
        wait_for_calls(i + 1);
    }
    for (size_t i = 0; i < 3; i++) {
        finish_large(i, BYTES);
    }
    assert_int_equal(pthread_create(&reader, NULL, read_all, &peers[1]), 0);
    hub_unix_server_close(s.unix_server, 1000); /* which two of them use up */
    s.unix_server = NULL;
    assert_int_equal(pthread_join(reader, NULL), 0);
    assert_true(peers[1].got.len > BYTES);
    assert_int_equal(memcmp(peers[1].got.ptr + peers[1].got.len - 3, "}}\n", 3), 0);
    for (size_t i = 0; i < 3; i++) {
        peer_close(&peers[i]);
    }
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_many_clients),
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_gone_client_cancels),
        cmocka_unit_test(test_half_closed_is_answered),
        cmocka_unit_test(test_half_closed_then_gone),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_last_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
