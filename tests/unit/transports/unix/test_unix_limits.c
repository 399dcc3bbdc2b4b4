/* SPDX-License-Identifier: Apache-2.0 */
/* The Unix socket transport when there are too many clients, and when it stops. */
#include "unix_support.h"

#include <sys/resource.h>

/* ---- too many -------------------------------------------------------------------------------- */

static void test_connection_limit(void **state)
{
    (void)state;
    prepare();
    s.f.settings.limits.net.connections = 2;
    open_server();
    peer a = peer_open();
    peer b = peer_open();
    peer c = peer_open();
    peer d = peer_open();
    peer_runs_until(&c, has_ended);
    peer_runs_until(&d, has_ended);
    assert_true(got(&c, "as many connections as it may have"));
    assert_true(got(&d, "\"code\":-31001"));
    assert_true(fixture_logged(&s.f, "unix.full"));
    assert_non_null(strstr(s.f.log, "unix.full"));
    assert_null(strstr(strstr(s.f.log, "unix.full") + 1, "unix.full")); /* told once */
    peer_says(&a, PING("1"));
    peer_waits(&a, "\"id\":1");
    peer_close(&a);
    fixture_spin(&s.f, 5);
    a = peer_open();
    peer_says(&a, PING("2"));
    peer_waits(&a, "\"id\":2");
    peer_close(&a);
    peer_close(&b);
    peer_close(&c);
    peer_close(&d);
    finish();
}

static unsigned invocations;

static void count_invocations(struct ev_loop *loop)
{
    invocations += ev_pending_count(loop);
    ev_invoke_pending(loop);
}

/* No descriptor is left: connections wait, the loop rests, and goes on when a client leaves. */
static void test_descriptors_run_out(void **state)
{
    (void)state;
    struct rlimit before;
    serve();
    peer a = peer_open();
    peer_says(&a, PING("1"));
    peer_waits(&a, "\"id\":1");
    peer b = peer_open();
    int next = dup(b.fd); /* the lowest number that is free */
    assert_true(next >= 0);
    assert_int_equal(close(next), 0);
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit none = {.rlim_cur = (rlim_t)next, .rlim_max = before.rlim_max};
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &none), 0);
    fixture_spin(&s.f, 5);
    assert_true(fixture_logged(&s.f, "unix.paused"));
    ev_set_invoke_pending_cb(s.f.loop, count_invocations);
    invocations = 0;
    fixture_spin(&s.f, 100);
    assert_true(invocations < 10);
    peer_says(&a, PING("2"));
    peer_waits(&a, "\"id\":2");
    peer_close(&a); /* the hub's end closes too, and its descriptor goes to b */
    fixture_spin(&s.f, 10);
    assert_non_null(fixture_profile(&s.f)->sessions); /* at once, not when the pause is over */
    peer_says(&b, PING("3"));
    peer_waits(&b, "\"id\":3");
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
    peer_close(&b);
    finish();
}

/* ---- stopping -------------------------------------------------------------------------------- */

static void test_stop(void **state)
{
    (void)state;
    serve();
    peer p = peer_open();
    peer_says(&p, HELLO CALL("1"));
    wait_for_calls(1);
    hub_unix_server_stop(s.unix_server);
    assert_int_equal(access(s.path, F_OK), -1);
    hub_unix_server_stop(s.unix_server); /* once is enough, twice does no harm */

    /* who is connected is served on */
    peer_says(&p, PING("2"));
    peer_waits(&p, "\"id\":2");
    hub_orchestrator_stop(s.f.hub);
    hub_unix_server_close(s.unix_server, 1000);
    s.unix_server = NULL;
    peer_reads(&p);
    assert_true(p.ended);
    assert_true(got(&p, "\"id\":1")); /* an error, but an answer */
    peer_close(&p);
    finish();
}

static void test_stop_leaves_a_successor(void **state)
{
    (void)state;
    serve();
    assert_int_equal(unlink(s.path), 0);
    hub_unix_server *second = NULL;
    assert_int_equal(
        hub_unix_server_open(s.f.loop, s.f.hub, &s.f.settings, &s.listen, &second, NULL), HUB_OK);
    hub_unix_server_close(s.unix_server, 0);
    s.unix_server = second;
    peer p = peer_open();
    peer_says(&p, PING("1"));
    peer_waits(&p, "\"id\":1");
    peer_close(&p);
    finish();
}

/* A client of a hub that stops, and had not been seen before. */
static void test_late_client(void **state)
{
    (void)state;
    serve();
    hub_orchestrator_stop(s.f.hub);
    peer p = peer_open();
    peer_runs_until(&p, has_ended);
    peer_close(&p);
    finish();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_connection_limit),
        cmocka_unit_test(test_descriptors_run_out),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_leaves_a_successor),
        cmocka_unit_test(test_late_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
