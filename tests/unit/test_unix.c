/* SPDX-License-Identifier: Apache-2.0 */
/* The Unix socket transport in a whole hub: many clients, each with a session of its own. */
#include "hub_fixture.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include "base/limits.h"
#include "stream_client/stream_client.h"
#include "unix/unix.h"

#define PING(id) "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"ping\"}\n"
#define HELLO                                                                                      \
    "{\"jsonrpc\":\"2.0\",\"id\":\"hello\",\"method\":\"initialize\",\"params\":{"                 \
    "\"protocolVersion\":\"2025-11-25\",\"capabilities\":{},"                                      \
    "\"clientInfo\":{\"name\":\"test\",\"version\":\"1\"}}}\n"                                     \
    "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/initialized\"}\n"
#define CALL(id)                                                                                   \
    "{\"jsonrpc\":\"2.0\",\"id\":" id ",\"method\":\"tools/call\","                                \
    "\"params\":{\"name\":\"t__do\",\"arguments\":{}}}\n"

typedef struct server {
    hub_fixture f;
    hub_listen_settings listen;
    hub_unix_server *unix_server;
    puppet master;
    patchbay_call calls[8]; /* that the puppet keeps until a test finishes them */
    puppet_instance *instance;
    size_t call_count;
    char folder[64];
    char path[96];
} server;

static server s;

static void keep_call(puppet_instance *instance, patchbay_call call,
                      const patchbay_request *request)
{
    (void)request;
    assert_true(s.call_count < 8);
    s.instance = instance;
    s.calls[s.call_count++] = call;
}

static void prepare(void)
{
    (void)signal(SIGPIPE, SIG_IGN);
    memset(&s, 0, sizeof s);
    fixture_init(&s.f);
    (void)snprintf(s.folder, sizeof s.folder, "/tmp/patchbay-unix-XXXXXX");
    assert_non_null(mkdtemp(s.folder));
    (void)snprintf(s.path, sizeof s.path, "%s/hub.sock", s.folder);
    s.listen = (hub_listen_settings){
        .kind = HUB_LISTEN_UNIX, .address = s.path, .mode = 0600, .source = "test:1"};
    s.f.settings.limits.net.connections = HUB_LIMIT_CONNECTIONS;
    s.master = (puppet){.tools = "[" TOOL("do") "]", .on_call = keep_call};
    fixture_toolset(&s.f, "t", &s.master, false);
}

static void open_server(void)
{
    hub_error why = {.code = HUB_OK};
    fixture_start(&s.f);
    if (hub_unix_server_open(s.f.loop, s.f.hub, &s.f.settings, &s.listen, &s.unix_server, &why) !=
        HUB_OK) {
        fail_msg("%s", why.text);
    }
}

static void serve(void)
{
    prepare();
    open_server();
}

static void finish(void)
{
    hub_unix_server_close(s.unix_server, 0);
    assert_int_equal(access(s.path, F_OK), -1);
    assert_int_equal(rmdir(s.folder), 0);
    fixture_stop(&s.f);
}

/* ---- a peer ---------------------------------------------------------------------------------- */

typedef struct peer {
    int fd;
    bool ended;
    hub_buf got;
    const char *wants; /* a text that is waited for */
} peer;

static peer peer_open(void)
{
    struct sockaddr_un address = {.sun_family = AF_UNIX};
    memcpy(address.sun_path, s.path, strlen(s.path));
    peer p = {.fd = socket(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0)};
    assert_true(p.fd >= 0);
    assert_int_equal(connect(p.fd, (struct sockaddr *)&address, sizeof address), 0);
    hub_buf_init(&p.got, SIZE_MAX / 2);
    return p;
}

static void peer_close(peer *p)
{
    assert_int_equal(close(p->fd), 0);
    hub_buf_fini(&p->got);
}

static void peer_says(const peer *p, const char *text)
{
    assert_int_equal(write(p->fd, text, strlen(text)), strlen(text));
}

static void peer_reads(peer *p)
{
    char bytes[65536];
    for (;;) {
        ssize_t count = read(p->fd, bytes, sizeof bytes);
        if (count <= 0) {
            p->ended = p->ended || count == 0 || errno != EAGAIN;
            return;
        }
        hub_buf_add(&p->got, (hub_str){.ptr = bytes, .len = (size_t)count});
    }
}

static bool has_text(void *ctx)
{
    peer *p = ctx;
    peer_reads(p);
    if (p->ended && hub_str_find(hub_buf_str(&p->got), hub_str_of(p->wants)) == SIZE_MAX) {
        fail_msg("the connection ended without %s", p->wants);
    }
    return hub_str_find(hub_buf_str(&p->got), hub_str_of(p->wants)) != SIZE_MAX;
}

static void do_nothing(struct ev_loop *loop, ev_io *watcher, int events)
{
    (void)loop;
    (void)watcher;
    (void)events;
}

/* Run the loop until the condition holds, which what the peer gets may bring about. */
static void peer_runs_until(peer *p, fixture_condition *condition)
{
    ev_io arrivals; /* the loop is to wake up for them */
    ev_io_init(&arrivals, do_nothing, p->fd, EV_READ);
    ev_io_start(s.f.loop, &arrivals);
    fixture_run_until(&s.f, condition, p);
    ev_io_stop(s.f.loop, &arrivals);
}

static void peer_waits(peer *p, const char *text)
{
    p->wants = text;
    peer_runs_until(p, has_text);
}

static bool has_ended(void *ctx)
{
    peer *p = ctx;
    peer_reads(p);
    return p->ended;
}

static bool got(const peer *p, const char *text)
{
    return hub_str_find(hub_buf_str(&p->got), hub_str_of(text)) != SIZE_MAX;
}

static bool has_calls(void *ctx)
{
    return s.call_count >= *(const size_t *)ctx;
}

static void wait_for_calls(size_t count)
{
    fixture_run_until(&s.f, has_calls, &count);
}

static bool is_cancelled(void *ctx)
{
    (void)ctx;
    return s.master.cancels > 0;
}

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
    assert_string_equal(fixture_profile(&s.f)->sessions->principal, principal);
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
        cmocka_unit_test(test_many_clients),
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_profile),
        cmocka_unit_test(test_gone_client_cancels),
        cmocka_unit_test(test_half_closed_is_answered),
        cmocka_unit_test(test_half_closed_then_gone),
        cmocka_unit_test(test_slow_reader),
        cmocka_unit_test(test_last_words),
        cmocka_unit_test(test_connection_limit),
        cmocka_unit_test(test_descriptors_run_out),
        cmocka_unit_test(test_stop),
        cmocka_unit_test(test_stop_leaves_a_successor),
        cmocka_unit_test(test_late_client),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
