/* SPDX-License-Identifier: Apache-2.0 */
/* Which paths are a face's, in whatever way they are spelled, and which rows a face may have. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "face_fixture.h"

/* A path is what it is byte for byte; nothing beneath a star can be read in two ways. */
static void test_paths(void **state)
{
    (void)state;
    static const struct {
        const char *target;
        int status;
        const char *seen;
    } CASES[] = {
        {"/open", 200, " /open rest= query= "},
        {"/open?", 200, " /open rest= query= "},
        {"/open?/../caller", 200, " query=/../caller "},
        {"http://localhost/open?x", 200, " /open rest= query=x "},
        {"http://localhost/tree/a", 200, " rest=a "},
        {"http://evil.example/open", 400, NULL}, /* another host than the header's */
        {"/open/", 404, NULL},
        {"/open/x", 404, NULL},
        {"//open", 404, NULL},
        {"/./open", 404, NULL},
        {"/x/../open", 404, NULL},
        {"/%6fpen", 404, NULL},
        {"/open%00", 404, NULL},
        {"/open%2", 400, NULL},
        {"/open;a", 404, NULL},
        {"/Open", 404, NULL},
        {"/ope", 404, NULL},
        {"/", 404, NULL},
        {"*", 400, NULL},
        {"/tree", 404, NULL},
        {"/tree/", 200, " /tree/ rest= query="},
        {"/tree/a/b", 200, " rest=a/b "},
        {"/tree/branc", 200, " rest=branc "},
        {"/tree/branch", 200, " /tree/branch rest= "},
        {"/tree/branch/", 404, NULL},
        {"/tree/branch/x", 200, " rest=branch/x "},
        {"/tree/branch/leaf", 200, " rest=branch/leaf "},
        {"/tree/branch/leaf/", 200, " rest= "},
        {"/tree/branch/leaf/x", 200, " rest=x "},
        {"/tree/branch0", 200, " rest=branch0 "},
        {"/tree/%C3%A4:b", 200, " rest=%C3%A4:b "},
        {"/tree/...", 200, " rest=... "},
        {"/tree/.a", 200, " rest=.a "},
        {"/tree/a/", 404, NULL},
        {"/tree//a", 404, NULL},
        {"/tree/a//b", 404, NULL},
        {"/tree/.", 404, NULL},
        {"/tree/..", 404, NULL},
        {"/tree/../open", 404, NULL},
        {"/tree/a/../b", 404, NULL},
        {"/tree/%2e%2e/open", 404, NULL},
        {"/tree/.%2E", 404, NULL},
        {"/tree/%2e", 404, NULL},
        {"/tree/a%2fb", 404, NULL},
        {"/tree/a%5Cb", 404, NULL},
        {"/tree/a%00", 404, NULL},
        {"/tree/a%0a", 404, NULL},
        {"/tree/a%7f", 404, NULL},
        {"/tree/a%", 400, NULL},
        {"/tree/branch/leaf/../x", 404, NULL},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        face.seen[0] = '\0';
        int status = status_of(GET(LOCAL, CASES[i].target, ""));
        if (status != CASES[i].status ||
            (CASES[i].seen != NULL && strstr(face.seen, CASES[i].seen) == NULL)) {
            fail_msg("%s: %d, %s", CASES[i].target, status, face.seen);
        }
    }
    char longest[HUB_HTTP_LIMIT_TARGET_BYTES + 2];
    (void)snprintf(longest, sizeof longest, "/open?%0*d", HUB_HTTP_LIMIT_TARGET_BYTES - 6, 0);
    assert_int_equal(status_of(ask(LOCAL, "POST", longest, "", "")), 405);
    longest[HUB_HTTP_LIMIT_TARGET_BYTES] = '0';
    longest[HUB_HTTP_LIMIT_TARGET_BYTES + 1] = '\0';
    assert_int_equal(status_of(ask(LOCAL, "POST", longest, "", "")), 414);
}

/* Who may not ask is not told what there is. */
static void test_unknown_paths_need_a_caller(void **state)
{
    (void)state;
    static const char *const TARGETS[] = {"/nowhere",      "/open/",      "/tree",
                                          "/tree/../open", "/tree/a%2fb", "/later/"};
    require_token();
    for (size_t i = 0; i < sizeof TARGETS / sizeof TARGETS[0]; i++) {
        assert_int_equal(status_of(GET(LOCAL, TARGETS[i], "")), 401);
        assert_int_equal(status_of(GET(LOCAL, TARGETS[i], BEARER)), 404);
    }
}

/* ---- tables ---------------------------------------------------------------------------------- */

static void refuse_row(hub_web_row row, hub_err err, const char *reason)
{
    const hub_web_face bad = {.name = "bad", .rows = &row, .count = 1};
    const hub_web_served faces[] = {{&FACE, &face}, {&bad, NULL}};
    hub_error why = {.code = HUB_OK};
    hub_http_server *other;
    assert_int_equal(open_with(faces, 2, &other, &why), err);
    assert_contains(why.text, reason);
    assert_contains(why.text, "bad");
    assert_contains(why.text, row.path);
}

static void test_rows_that_are_refused(void **state)
{
    (void)state;
    static const char *const PATHS[] = {"",     "x",     "/*",      "/a/",   "/a*",    "//",
                                        "//a",  "/a//b", "/a/../b", "/.",    "/..",    "/a/.",
                                        "/%61", "/a?b",  "/a b",    "/a/**", "/a/*/b", "/\xc3\xa4"};
    for (size_t i = 0; i < sizeof PATHS / sizeof PATHS[0]; i++) {
        refuse_row((hub_web_row){"GET", PATHS[i], HUB_WEB_OPEN, 0, echo}, HUB_EINVAL,
                   "not one that a row can have");
    }
    static const char *const METHODS[] = {"", "HEAD", "OPTIONS", "get", "CONNECT", "TRACE"};
    for (size_t i = 0; i < sizeof METHODS / sizeof METHODS[0]; i++) {
        refuse_row((hub_web_row){METHODS[i], "/a", HUB_WEB_OPEN, 0, echo}, HUB_EINVAL,
                   "the method is not");
    }
    refuse_row((hub_web_row){"GET", "/a", 0, 0, echo}, HUB_EINVAL, "has to be checked");
    refuse_row((hub_web_row){"GET", "/a", HUB_WEB_TOKEN_OR_LOOPBACK + 1, 0, echo}, HUB_EINVAL,
               "has to be checked");
    refuse_row((hub_web_row){"GET", "/a", HUB_WEB_OPEN, 0, NULL}, HUB_EINVAL, "nobody answers");
    refuse_row((hub_web_row){"GET", "/open", HUB_WEB_OPEN, 0, echo}, HUB_ECOLLISION,
               "both answer GET");
    static const char *const TAKEN[] = {"/mcp", "/mcp/x", "/mcp/*", "/sse", "/ws/*", "/messages"};
    for (size_t i = 0; i < sizeof TAKEN / sizeof TAKEN[0]; i++) {
        refuse_row((hub_web_row){"GET", TAKEN[i], HUB_WEB_OPEN, 0, echo}, HUB_ECOLLISION,
                   "MCP's own");
    }
}

static void test_rows_that_are_not(void **state)
{
    (void)state;
    static const hub_web_row GOOD[] = {
        {"GET", "/", HUB_WEB_OPEN, 0, echo},       {"PATCH", "/open", HUB_WEB_OPEN, 0, echo},
        {"GET", "/mcp2", HUB_WEB_OPEN, 0, echo},   {"GET", "/x/mcp", HUB_WEB_OPEN, 0, echo},
        {"GET", "/open/*", HUB_WEB_OPEN, 0, echo}, {"GET", "/A-._~9", HUB_WEB_OPEN, 0, echo},
    };
    const hub_web_face good = {.name = "good", .rows = GOOD, .count = 6};
    const hub_web_served faces[] = {{&FACE, &face}, {&good, &face}};
    hub_http_server_close(server);
    assert_int_equal(open_with(faces, 2, &server, NULL), HUB_OK);
    assert_int_equal(status_of(GET(LOCAL, "/", "")), 200);
    assert_int_equal(status_of(GET(LOCAL, "/mcp2", "")), 200);
    assert_int_equal(status_of(ask(LOCAL, "PATCH", "/open", "", "")), 200);
    assert_int_equal(status_of(GET(LOCAL, "/open/", "")), 200);
    assert_contains(face.seen, " /open/ rest= ");
    assert_int_equal(status_of(GET(LOCAL, "/A-._~9", "")), 200);
}

/* Nobody has to serve anything. */
static void test_no_faces(void **state)
{
    (void)state;
    hub_http_server_close(server);
    assert_int_equal(open_with(NULL, 0, &server, NULL), HUB_OK);
    assert_int_equal(status_of(GET(LOCAL, "/open", "")), 404);
}

int main(void)
{
#define CASE(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        CASE(test_paths),
        CASE(test_unknown_paths_need_a_caller),
        CASE(test_rows_that_are_refused),
        CASE(test_rows_that_are_not),
        CASE(test_no_faces),
    };
#undef CASE
    return cmocka_run_group_tests(tests, NULL, NULL);
}
