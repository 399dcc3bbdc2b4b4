/* SPDX-License-Identifier: Apache-2.0 */
/* What stands beside MCP on an HTTP listener: what is checked before a face is asked, what it sees,
 * and how it answers, seen from the bytes of a connection. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "face_fixture.h"

/* ---- tests ----------------------------------------------------------------------------------- */

static void test_what_a_face_sees(void **state)
{
    (void)state;
    const char *reply = ask(LOCAL, "POST", "/caller?a=%20b&c",
                            "X-Test: one\r\nX-Test: two\r\nCookie: c\r\nAuthorization: Basic x\r\n"
                            "Proxy-Authorization: p\r\nContent-Length: 4\r\n",
                            "body");
    assert_int_equal(status_of(reply), 200);
    assert_string_equal(face.seen, "POST /caller rest= query=a=%20b&c body=body x-test=one "
                                   "by=anonymous");
    assert_contains(reply, "\r\nX-Face: yes\r\n");
    assert_contains(reply, "\r\nContent-Type: text/plain\r\n");
    assert_contains(reply, "\r\n\r\n<POST /caller ");
    reply = ask(LOCAL, "DELETE", "/caller", "", "");
    assert_int_equal(status_of(reply), 204);
    assert_lacks(reply, "Content-Length");
}

static void test_needs_without_tokens(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        int local;
        int remote;
    } CASES[] = {{"/open", 200, 200}, {"/caller", 200, 200}, {"/local", 200, 403}};
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(status_of(GET(LOCAL, CASES[i].target, "")), CASES[i].local);
        assert_int_equal(status_of(GET("127.9.9.9", CASES[i].target, "")), CASES[i].local);
        assert_int_equal(status_of(GET("::1", CASES[i].target, "")), CASES[i].local);
        assert_int_equal(status_of(GET(REMOTE, CASES[i].target, "")), CASES[i].remote);
        assert_int_equal(status_of(GET("::2", CASES[i].target, "")), CASES[i].remote);
        assert_int_equal(status_of(GET(LOCAL, CASES[i].target, "Origin: http://evil.example\r\n")),
                         403);
    }
    assert_contains(GET(REMOTE, "/local", ""), "patchbay token new");
}

static void test_needs_with_tokens(void **state)
{
    (void)state;
    static const char *const PEERS[] = {LOCAL, REMOTE};
    require_token();
    for (size_t i = 0; i < 2; i++) {
        assert_int_equal(status_of(GET(PEERS[i], "/open", "")), 200);
        assert_contains(face.seen, "by=nobody");
        assert_int_equal(status_of(GET(PEERS[i], "/open", BEARER)), 200);
        assert_contains(face.seen, "by=token:ada");
        assert_int_equal(status_of(GET(PEERS[i], "/caller", "")), 401);
        assert_int_equal(status_of(GET(PEERS[i], "/local", "")), 401);
        assert_int_equal(status_of(GET(PEERS[i], "/caller", "Authorization: Bearer x\r\n")), 401);
        assert_int_equal(status_of(GET(PEERS[i], "/caller", "Authorization: Basic x\r\n")), 400);
        assert_int_equal(status_of(GET(PEERS[i], "/caller", BEARER)), 200);
        assert_contains(face.seen, "by=token:ada");
        assert_int_equal(status_of(GET(PEERS[i], "/local", BEARER)), 200);
    }
}

/* Guessing on a path that asks nobody is guessing: it spends the budget. A good token works all the
 * same: others behind that address have nothing to do with it. */
static void test_guessing_at_an_open_path(void **state)
{
    (void)state;
    require_token();
    for (int i = 0; i < HUB_HTTP_LIMIT_AUTH_FAILURES; i++) {
        assert_int_equal(status_of(GET(LOCAL, "/open", "Authorization: Bearer x\r\n")), 200);
        assert_contains(face.seen, "by=nobody");
    }
    assert_int_equal(status_of(GET(LOCAL, "/caller", "Authorization: Bearer x\r\n")), 429);
    assert_int_equal(status_of(GET(LOCAL, "/open", BEARER)), 200);
    assert_contains(face.seen, "by=token:ada");
    assert_int_equal(status_of(GET(LOCAL, "/caller", BEARER)), 200);
}

/* A method that a path does not have needs what its other methods do at most. */
static void test_methods(void **state)
{
    (void)state;
    static const char OPEN[] = "\r\nAllow: GET, HEAD, OPTIONS\r\n";
    static const char CALLER[] = "\r\nAllow: GET, HEAD, POST, DELETE, OPTIONS\r\n";
    static const char *const WRONG[] = {"PUT", "PATCH", "get", "TRACE", "PROPFIND"};
    for (size_t i = 0; i < sizeof WRONG / sizeof WRONG[0]; i++) {
        const char *reply = ask(LOCAL, WRONG[i], "/caller", "", "");
        assert_int_equal(status_of(reply), 405);
        assert_contains(reply, CALLER);
    }
    assert_contains(ask(LOCAL, "POST", "/open", "", ""), OPEN);
    assert_int_equal(face.count, 0);
    const char *reply = ask(LOCAL, "OPTIONS", "/caller", "", "");
    assert_int_equal(status_of(reply), 204);
    assert_contains(reply, CALLER);

    require_token();
    assert_int_equal(status_of(ask(LOCAL, "PUT", "/open", "", "")), 405);
    assert_int_equal(status_of(ask(LOCAL, "PUT", "/caller", "", "")), 401);
    assert_int_equal(status_of(ask(LOCAL, "OPTIONS", "/caller", "", "")), 401);
    assert_int_equal(status_of(ask(LOCAL, "PUT", "/mixed", "", "")), 401);
    assert_int_equal(status_of(ask(LOCAL, "PUT", "/mixed", BEARER, "")), 200);
    assert_int_equal(status_of(ask(LOCAL, "POST", "/mixed", "", "")), 401);
    assert_int_equal(status_of(GET(LOCAL, "/mixed", "")), 200);
    reply = ask(LOCAL, "POST", "/mixed", BEARER, "");
    assert_int_equal(status_of(reply), 405);
    assert_contains(reply, "\r\nAllow: GET, HEAD, PUT, OPTIONS\r\n");
}

static void test_a_preflight(void **state)
{
    (void)state;
    static const char HEADERS[] =
        "Origin: http://localhost\r\nAccess-Control-Request-Method: POST\r\n";
    static const char METHODS[] = "\r\nAccess-Control-Allow-Methods: ";
    require_token(); /* of which it has none */
    const char *reply = ask(LOCAL, "OPTIONS", "/caller", HEADERS, "");
    assert_int_equal(status_of(reply), 204);
    assert_contains(strstr(reply, METHODS), ": GET, HEAD, POST, DELETE, OPTIONS\r\n");
    reply = ask(LOCAL, "OPTIONS", "/nowhere", HEADERS, "");
    assert_int_equal(status_of(reply), 204);
    assert_contains(strstr(reply, METHODS), ": GET, POST, DELETE, OPTIONS\r\n");
}

static void test_head(void **state)
{
    (void)state;
    const char *reply = ask(LOCAL, "HEAD", "/open", "", "");
    assert_int_equal(status_of(reply), 200);
    assert_contains(face.seen, "GET /open ");
    char length[64];
    (void)snprintf(length, sizeof length, "\r\nContent-Length: %zu\r\n", strlen(face.seen) + 2);
    assert_contains(reply, length);
    assert_string_equal(strstr(reply, "\r\n\r\n"), "\r\n\r\n");
}

/* Each row has its own limit; the listener's is above all. */
static void test_bodies(void **state)
{
    (void)state;
    static const struct {
        const char *method;
        const char *target;
        const char *headers;
        const char *body;
        int status;
    } CASES[] = {
        {"POST", "/caller", "Content-Length: 10\r\n", "0123456789", 200},
        {"POST", "/caller", "Content-Length: 11\r\n", "0123456789a", 413},
        {"POST", "/caller", "Content-Length: 11\r\nExpect: 100-continue\r\n", "", 413},
        {"POST", "/caller", "Transfer-Encoding: chunked\r\n",
         "5\r\n01234\r\n5\r\n56789\r\n0\r\n\r\n", 200},
        {"POST", "/caller", "Transfer-Encoding: chunked\r\n", "5\r\n01234\r\n6\r\n", 413},
        {"POST", "/caller", "", "", 200},
        {"GET", "/open", "Content-Length: 0\r\n", "", 200},
        {"GET", "/open", "Content-Length: 1\r\n", "x", 413},
        {"GET", "/open", "Transfer-Encoding: chunked\r\n", "0\r\n\r\n", 200},
        {"GET", "/open", "Transfer-Encoding: chunked\r\n", "1\r\nx\r\n0\r\n\r\n", 413},
        {"PUT", "/mixed", "Content-Length: 64\r\n",
         "0123456789012345678901234567890123456789012345678901234567890123", 200},
        {"PUT", "/mixed", "Content-Length: 65\r\n", "", 413},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        face.count = 0;
        const char *reply =
            ask(LOCAL, CASES[i].method, CASES[i].target, CASES[i].headers, CASES[i].body);
        assert_int_equal(status_of(reply), CASES[i].status);
        assert_int_equal(face.count, CASES[i].status == 200);
    }
    assert_int_equal(status_of(ask(LOCAL, "POST", "/caller", "Content-Length: 10\r\n",
                                   "0123456789GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n")),
                     200);
    assert_contains(face.seen, "GET /open "); /* what followed the body */
}

static const char LATER[] = "GET /later HTTP/1.1\r\nHost: localhost\r\n\r\n";
static const char OPEN[] = "GET /open HTTP/1.1\r\nHost: localhost\r\n\r\n";

/* What the client sends ahead waits its turn. */
static void test_an_answer_that_comes_later(void **state)
{
    (void)state;
    hub_link link;
    begin(&link);
    assert_string_equal(say(&link, LATER), "");
    assert_non_null(face.waiting);
    assert_string_equal(say(&link, OPEN), "");
    assert_int_equal(face.count, 1);
    fake_net_pass(&net, 2000); /* nothing is owed to a quiet client */
    assert_string_equal(written(&link), "");
    assert_int_equal(answer(face.waiting, "late"), HUB_OK);
    const char *reply = written(&link);
    assert_int_equal(status_of(reply), 200);
    assert_contains(reply, "\r\n\r\n<late>");
    ev_run(loop, EVRUN_NOWAIT);
    assert_int_equal(face.count, 2);
    assert_contains(written(&link), "<GET /open ");
    assert_contains(say(&link, "GET /not-later HTTP/1.1\r\nHost: localhost\r\n\r\n"), "<at once>");
    end(&link);
    assert_int_equal(face.gone, 0);
}

static void test_a_client_that_goes_before_the_answer(void **state)
{
    (void)state;
    hub_link link;
    begin(&link);
    (void)say(&link, LATER);
    assert_non_null(face.waiting);
    end(&link);
    assert_int_equal(face.gone, 1);
    assert_null(face.waiting);
}

static void test_an_answer_that_is_lost(void **state)
{
    (void)state;
    hub_link link;
    begin(&link);
    (void)say(&link, LATER);
    link.fails = HUB_ELIMIT;
    assert_int_equal(answer(face.waiting, "late"), HUB_ELIMIT);
    assert_true(link.is_closing);
    end(&link);
    assert_int_equal(face.gone, 0); /* it has answered */
}

static void test_a_server_that_ends_before_the_answer(void **state)
{
    (void)state;
    hub_link link;
    begin(&link);
    (void)say(&link, LATER);
    assert_int_equal(hub_http_server_busy(server), 1);
    hub_http_server_stop(server);
    assert_int_equal(face.gone, 0);
    hub_http_server_close(server);
    server = NULL;
    assert_int_equal(face.gone, 1);
    assert_true(link.is_closing);
    end(&link);
}

/* A reload takes the token away. What needed none goes on. */
static void test_a_credential_that_goes_before_the_answer(void **state)
{
    (void)state;
    hub_link link;
    hub_link open;
    char text[512];
    require_token();
    begin(&link);
    (void)snprintf(text, sizeof text, "GET /later HTTP/1.1\r\nHost: localhost\r\n%s\r\n", BEARER);
    (void)say(&link, text);
    hub_web_exchange *waiting = face.waiting;
    face.waiting = NULL;
    assert_non_null(waiting);
    begin(&open);
    (void)say(&open, "GET /open-later HTTP/1.1\r\nHost: localhost\r\n\r\n");
    hub_web_exchange *kept = face.waiting;
    assert_non_null(kept);
    settings.auth.token_count = 0;
    hub_http_connections_recheck(server);
    assert_int_equal(face.gone, 1);
    assert_int_equal(status_of(written(&link)), 401);
    assert_string_equal(written(&open), "");
    assert_int_equal(answer(kept, "still"), HUB_OK);
    assert_contains(written(&open), "<still>");
    end(&link);
    end(&open);
}

/* ---- memory ---------------------------------------------------------------------------------- */

/* A request that is still on its way is kept as long as there is room for it among all clients. */
static void test_requests_that_are_kept(void **state)
{
    (void)state;
    static const char *const HEADS[] = {
        "PUT /mixed HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60\r\n\r\n",
        "PUT /mixed HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n32\r\n",
        "PUT /mixed HTTP/1.1\r\nHost: localhost\r\nX-Long: 1",
    };
    for (size_t i = 0; i < sizeof HEADS / sizeof HEADS[0]; i++) {
        hub_link link;
        begin(&link);
        assert_string_equal(say(&link, HEADS[i]), "");
        assert_string_equal(say(&link, "0123456789"), "");
        size_t needed = link.kept;
        assert_true(needed > 0);
        link.most_kept = needed;
        assert_string_equal(say(&link, "0"), "");
        fake_link_end(&link);
        assert_int_equal(link.kept, 0);
        fake_link_fini(&link);

        begin(&link);
        link.most_kept = needed - 1;
        fake_link_says(&link, hub_str_of(HEADS[i]));
        fake_link_says(&link, HUB_STR("0123456789"));
        const char *reply = written(&link);
        assert_int_equal(status_of(reply), 503);
        assert_contains(reply, "\r\nRetry-After: 1\r\n");
        assert_contains(reply, "\r\nConnection: close\r\n");
        assert_contains(reply, "limits.client_memory");
        assert_true(link.is_closing);
        assert_int_equal(link.kept, 0);
        end(&link);
    }
    assert_int_equal(face.count, 0);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_what_a_face_sees),
        CASE(test_needs_without_tokens),
        CASE(test_needs_with_tokens),
        CASE(test_guessing_at_an_open_path),
        CASE(test_methods),
        CASE(test_a_preflight),
        CASE(test_head),
        CASE(test_bodies),
        CASE(test_an_answer_that_comes_later),
        CASE(test_a_client_that_goes_before_the_answer),
        CASE(test_an_answer_that_is_lost),
        CASE(test_a_server_that_ends_before_the_answer),
        CASE(test_a_credential_that_goes_before_the_answer),
        CASE(test_requests_that_are_kept),
    };
#undef CASE
    return cmocka_run_group_tests(tests, NULL, NULL);
}
