/* SPDX-License-Identifier: Apache-2.0 */
/* The Unix socket transport when there are too many clients, and when it stops. */
#include "unix_support.h"

#include <sys/resource.h>

/* Who is at the other end, instead of the user of the test: 0 is the user. */
static uid_t peer_uid;

/* The linker gives it calls of getsockopt. NOLINTBEGIN(bugprone-reserved-identifier): its name is --wrap's */
int __real_getsockopt(int fd, int level, int name, void *value, socklen_t *len);
int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len);

int __wrap_getsockopt(int fd, int level, int name, void *value, socklen_t *len)
{
    int status = __real_getsockopt(fd, level, name, value, len);
    if (status == 0 && name == SO_PEERCRED && level == SOL_SOCKET && peer_uid != 0) {
        ((struct ucred *)value)->uid = peer_uid;
    }
    return status;
}
/* NOLINTEND */

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

enum { MOST_PEERS = 64 };

static peer peers[MOST_PEERS];
static size_t peer_count;

/* As many connections as that user gets. */
static size_t fill(uid_t user)
{
    size_t count = 0;
    peer_uid = user;
    for (;;) {
        peer *p = &peers[peer_count++];
        assert_true(peer_count < MOST_PEERS);
        *p = peer_open();
        peer_says(p, PING("1"));
        while (!p->ended && !got(p, "\"id\":1")) {
            fixture_spin(&s.f, 1);
            peer_reads(p);
        }
        if (p->ended) {
            return count;
        }
        count++;
    }
}

static void close_peers(void)
{
    while (peer_count > 0) {
        peer_close(&peers[--peer_count]);
    }
    peer_uid = 0;
}

/* One user has a share, whatever others have, and is named when it is full. */
static void test_users(void **state)
{
    (void)state;
    prepare();
    s.f.settings.limits.net.connections = 4;
    open_server();
    assert_int_equal(fill(1000), 4);
    assert_true(got(&peers[4], "uid:1000 has as many connections as it may have"));
    assert_true(fixture_logged(&s.f, "unix.full principal=uid:1000"));
    assert_int_equal(fill(1001), 2);
    assert_int_equal(fill(1002), 1);
    close_peers();
    fixture_spin(&s.f, 10);
    assert_int_equal(fill(1001), 4); /* what was given back is there again */
    close_peers();
    finish();
}

/* Nor has one all descriptors of the process. */
static void test_users_and_descriptors(void **state)
{
    struct rlimit before;
    (void)state;
    prepare();
    assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
    struct rlimit few = {.rlim_cur = 40, .rlim_max = before.rlim_max};
    fixture_start(&s.f);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &few), 0);
    assert_int_equal(
        hub_unix_server_open(s.f.loop, s.f.hub, &s.f.settings, &s.listen, &s.unix_server, NULL),
        HUB_OK);
    assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0); /* the peers have some, too */
    assert_int_equal(fill(1000), 12);
    assert_int_equal(fill(1001), 6);
    close_peers();
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
        cmocka_unit_test(test_users),
        cmocka_unit_test(test_users_and_descriptors),
        cmocka_unit_test(test_descriptors_run_out),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_leaves_a_successor),
        cmocka_unit_test(test_late_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
