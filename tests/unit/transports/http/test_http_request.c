/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are those of RELIABILITY.md, group B. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_feed.h"
#include "http_request_cases.h"

#include <stdio.h>
#include <time.h>

static int outcome(hub_str input, size_t step, hub_buf *ret_description)
{
    hub_http_request request;
    char *block = NULL;
    hub_http_progress progress = http_feed_head(input, step, MAX_BODY, &block, &request);
    http_describe(ret_description, progress, &request);
    free(block);
    if (progress == HUB_HTTP_REFUSED) {
        assert_true(request.reason != NULL && request.reason[0] != '\0');
        assert_int_equal(request.header_count + request.method.len + request.used, 0);
    }
    return progress == HUB_HTTP_DONE ? DONE : progress == HUB_HTTP_MORE ? MORE : request.status;
}

/* At once and byte by byte. */
static void check_status(hub_str input, int status)
{
    hub_buf whole;
    hub_buf bytes;
    hub_buf_init(&whole, SIZE_MAX / 4);
    hub_buf_init(&bytes, SIZE_MAX / 4);
    int found = outcome(input, 0, &whole);
    if (found != status) {
        print_error("%d, not %d: " HUB_STR_FMT "\n", found, status, HUB_STR_ARG(input));
    }
    assert_int_equal(found, status);
    assert_int_equal(outcome(input, input.len > 1000 ? 97 : 1, &bytes), status);
    assert_true(hub_str_eq(hub_buf_str(&whole), hub_buf_str(&bytes)));
    hub_buf_fini(&whole);
    hub_buf_fini(&bytes);
}

static void check_cases(const head_case *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        check_status((hub_str){.ptr = cases[i].input, .len = cases[i].len}, cases[i].status);
    }
}

#define CHECK(cases) check_cases(cases, sizeof(cases) / sizeof(cases)[0])

static void test_framing(void **state)
{
    (void)state;
    CHECK(FRAMING);
}

static void test_headers_that_occur_once(void **state)
{
    (void)state;
    CHECK(TWICE);
}

static void test_bytes_and_lines(void **state)
{
    (void)state;
    CHECK(BYTES_AND_LINES);
}

static void test_targets(void **state)
{
    (void)state;
    CHECK(TARGETS);
}

static void test_expectations(void **state)
{
    (void)state;
    CHECK(EXPECTS);
}

/* Every beginning of a good head wants more, and nothing behind the head matters. */
static void test_more(void **state)
{
    (void)state;
    static const char HEAD[] = "\r\n" WITH("Content-Length: 5") "\n\0\x01";
    size_t end = sizeof HEAD - 1 - 3;
    for (size_t len = 0; len < sizeof HEAD; len++) {
        check_status((hub_str){.ptr = HEAD, .len = len}, len < end ? MORE : DONE);
    }
}

static void test_what_a_request_says(void **state)
{
    (void)state;
    static const struct {
        const char *input;
        const char *says;
    } CASES[] = {
        {"POST /mcp?a=b?c HTTP/1.1\r\nHost: [::1]:80\r\nContent-Length: 7\r\n\r\n{}",
         "POST|/mcp|a=b?c|[::1]:80|1.1 body 1 7 keep 1 expects 0\n"
         "Host=[::1]:80\nContent-Length=7\n"},
        {"\r\nGET /? HTTP/1.1\r\nhOsT:\t x \t\r\nConnection: a , cLose\r\n\r\n",
         "GET|/||x|1.1 body 0 0 keep 0 expects 0\nhOsT=x\nConnection=a , cLose\n"},
        {"GET / HTTP/1.1\r\nHost:x\r\nConnection: closed\r\nConnection: disclose, keep\r\n\r\n",
         "GET|/||x|1.1 body 0 0 keep 1 expects 0\nHost=x\nConnection=closed\n"
         "Connection=disclose, keep\n"},
        {"GET / HTTP/1.1\r\nHost:x\r\nConnection: upgrade\r\nConnection: ,close,\r\n\r\n",
         "GET|/||x|1.1 body 0 0 keep 0 expects 0\nHost=x\nConnection=upgrade\n"
         "Connection=,close,\n"},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n",
         "GET|/|||1.0 body 0 0 keep 0 expects 0\nConnection=keep-alive\n"},
        {"GET http://LocalHost?q HTTP/1.1\r\nHost: localhost\r\n\r\n",
         "GET|/|q|localhost|1.1 body 0 0 keep 1 expects 0\nHost=localhost\n"},
        {"GET http://a:1/b HTTP/1.0\r\n\r\n", "GET|/b||a:1|1.0 body 0 0 keep 0 expects 0\n"},
        {"PUT / HTTP/1.1\r\nHost:x\r\nTransfer-Encoding:CHUNKED\r\nExpect:100-continue\r\n\r\n",
         "PUT|/||x|1.1 body 2 0 keep 1 expects 1\nHost=x\nTransfer-Encoding=CHUNKED\n"
         "Expect=100-continue\n"},
        {"PUT / HTTP/1.1\r\nHost:x\r\nContent-Length:0\r\nExpect:100-continue\r\n\r\n",
         "PUT|/||x|1.1 body 1 0 keep 1 expects 0\nHost=x\nContent-Length=0\n"
         "Expect=100-continue\n"},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        for (size_t step = 0; step < 20; step++) {
            hub_buf says;
            hub_buf_init(&says, SIZE_MAX / 4);
            (void)outcome(hub_str_of(CASES[i].input), step, &says);
            char *text = hub_buf_take(&says);
            char used[32];
            size_t end = (size_t)(strstr(CASES[i].input, "\r\n\r\n") - CASES[i].input) + 4;
            int length = snprintf(used, sizeof used, "used %zu\n", end);
            assert_memory_equal(text, used, (size_t)length);
            assert_string_equal(text + length, CASES[i].says);
            free(text);
        }
    }
}

/* A head with a target or a header value of `fill` letters. */
static void check_fill(const char *before, size_t fill, const char *after, int status)
{
    hub_buf head;
    hub_buf_init(&head, SIZE_MAX / 4);
    hub_buf_add(&head, hub_str_of(before));
    for (size_t i = 0; i < fill; i++) {
        hub_buf_add_char(&head, 'a');
    }
    hub_buf_add(&head, hub_str_of(after));
    check_status(hub_buf_str(&head), status);
    hub_buf_fini(&head);
}

/* H05 */
static void test_sizes(void **state)
{
    (void)state;
    static const char FIELD[] = BEGIN "X: ";
    static const char REST[] = " HTTP/1.1\r\n" HOST END;
    size_t room = HUB_HTTP_LIMIT_HEAD_BYTES - (sizeof FIELD - 1) - 4;
    check_fill(BEGIN "Authorization: Bearer ", 8192, "\r\n\r\n", DONE);
    check_fill(FIELD, room, "\r\n\r\n", DONE);
    check_fill("\r\n\r\n" BEGIN "X: ", room, "\r\n\r\n", DONE); /* blank lines do not count */
    check_fill(FIELD, room + 1, "\r\n\r\n", 431);
    check_fill(FIELD, 100000, "", 431);
    check_fill(FIELD, room + 4, "", MORE);
    check_fill(FIELD, room + 5, "", 431);
    check_fill("GET /", HUB_HTTP_LIMIT_TARGET_BYTES - 1, REST, DONE);
    check_fill("GET /", HUB_HTTP_LIMIT_TARGET_BYTES, REST, 414);
    check_fill("GET /?", HUB_HTTP_LIMIT_TARGET_BYTES - 1, REST, 414);
    check_fill("GET http://", HUB_HTTP_LIMIT_TARGET_BYTES, REST, 414);
    check_fill("GET /", 100000, REST, 414);
    check_fill("", 100000, "", 414);
    check_fill("", HUB_HTTP_LIMIT_METHOD_BYTES, " / HTTP/1.1\r\n" HOST END, DONE);
    check_fill("", HUB_HTTP_LIMIT_METHOD_BYTES + 1, " / HTTP/1.1\r\n" HOST END, 501);
}

/* H05 */
static void test_header_count(void **state)
{
    (void)state;
    for (int count = HUB_HTTP_LIMIT_HEADERS - 1; count <= HUB_HTTP_LIMIT_HEADERS + 1; count++) {
        hub_buf head;
        hub_buf_init(&head, SIZE_MAX / 4);
        hub_buf_add(&head, HUB_STR(BEGIN));
        for (int i = 1; i < count; i++) {
            hub_buf_printf(&head, "X-%d: y\r\n", i % 7);
        }
        hub_buf_add(&head, HUB_STR(END));
        check_status(hub_buf_str(&head), count <= HUB_HTTP_LIMIT_HEADERS ? DONE : 431);
        hub_buf_fini(&head);
    }
}

/* H04: libwebsockets hangs on these */
static void test_prefixes_of_standard_names(void **state)
{
    (void)state;
    struct timespec begin;
    struct timespec end;
    size_t tried = 0;
    (void)clock_gettime(CLOCK_MONOTONIC, &begin);
    for (size_t i = 0; i < sizeof STANDARD_NAMES / sizeof STANDARD_NAMES[0]; i++) {
        for (int len = 1; len < (int)strlen(STANDARD_NAMES[i]); len++) {
            char head[256];
            int written = snprintf(head, sizeof head, BEGIN "Accept: */*\r\n%.*s: 1\r\n" END, len,
                                   STANDARD_NAMES[i]);
            bool is_host = hub_str_eq_nocase(
                (hub_str){.ptr = STANDARD_NAMES[i], .len = (size_t)len}, HUB_STR("host"));
            check_status((hub_str){.ptr = head, .len = (size_t)written}, is_host ? 400 : DONE);
            tried++;
        }
    }
    (void)clock_gettime(CLOCK_MONOTONIC, &end);
    assert_int_equal(sizeof STANDARD_NAMES / sizeof STANDARD_NAMES[0], 100);
    assert_true(tried > 900);
    assert_true(end.tv_sec - begin.tv_sec < 60); /* all of them twice, under sanitizers */
}

/* H03: one request after the other from the same bytes */
static void test_pipelined(void **state)
{
    (void)state;
    static const char THREE[] = BEGIN "Content-Length: 2\r\n\r\n{}" BEGIN END "\r\n" WITH("X: y");
    hub_str rest = {.ptr = THREE, .len = sizeof THREE - 1};
    static const size_t HEADERS[] = {2, 1, 2};
    for (size_t i = 0; i < 3; i++) {
        hub_http_scan scan;
        hub_http_request request;
        hub_http_scan_init(&scan, MAX_BODY);
        assert_int_equal(hub_http_request_next(&scan, rest, &request), HUB_HTTP_DONE);
        assert_int_equal(request.header_count, HEADERS[i]);
        rest = hub_str_from(rest, request.used + request.content_length);
    }
    assert_int_equal(rest.len, 0);
}

/* The shortcuts decide as the definitions do: for every byte at every place of a word and behind.
 */
static void test_characters(void **state)
{
    (void)state;
    for (int i = 0; i < 256; i++) {
        char c = (char)i;
        bool is_mark = i > 0 && strchr("!#$%&'*+-.^_`|~", i) != NULL;
        assert_int_equal(hub_http_is_tchar(c), hub_http_is_alnum(c) || is_mark);
        for (size_t at = 0; at < 19; at++) {
            char text[19];
            memset(text, 'a', sizeof text);
            text[at] = c;
            bool is_plain = i >= ' ' && i < 0x7f;
            hub_str all = {.ptr = text, .len = sizeof text};
            assert_int_equal(hub_http_plain_length(all), is_plain ? sizeof text : at);
            assert_int_equal(hub_http_token_length(all), hub_http_is_tchar(c) ? sizeof text : at);
        }
    }
    assert_int_equal(hub_http_plain_length(HUB_STR_EMPTY), 0);
    assert_false(hub_http_is_token(HUB_STR_EMPTY));
}

/* Two bytes that are not plain, in one word: the first one counts. */
static void test_plain_pairs(void **state)
{
    (void)state;
    static const char OTHERS[] = {'\0', '\t', '\r', 0x1f, 0x7f, (char)0x80, (char)0x9f, (char)0xff};
    for (size_t pair = 0; pair < sizeof OTHERS * sizeof OTHERS * 8; pair++) {
        size_t at = pair % 8;
        char text[16];
        memset(text, ' ', sizeof text);
        text[at + 8] = OTHERS[pair / 8 % sizeof OTHERS];
        text[at] = OTHERS[pair / 8 / sizeof OTHERS];
        assert_int_equal(hub_http_plain_length((hub_str){.ptr = text, .len = sizeof text}), at);
    }
}

static void test_known_names(void **state)
{
    (void)state;
    static const struct {
        const char *text;
        hub_http_name name;
    } NAMES[] = {
        {"host", HUB_HTTP_HOST},
        {"origin", HUB_HTTP_ORIGIN},
        {"authorization", HUB_HTTP_AUTHORIZATION},
        {"content-type", HUB_HTTP_CONTENT_TYPE},
        {"content-length", HUB_HTTP_CONTENT_LENGTH},
        {"transfer-encoding", HUB_HTTP_TRANSFER_ENCODING},
        {"mcp-session-id", HUB_HTTP_MCP_SESSION_ID},
        {"mcp-protocol-version", HUB_HTTP_MCP_PROTOCOL_VERSION},
        {"mcp-method", HUB_HTTP_MCP_METHOD},
        {"mcp-name", HUB_HTTP_MCP_NAME},
        {"last-event-id", HUB_HTTP_LAST_EVENT_ID},
        {"accept", HUB_HTTP_ACCEPT},
        {"connection", HUB_HTTP_CONNECTION},
        {"expect", HUB_HTTP_EXPECT},
    };
    assert_int_equal(sizeof NAMES / sizeof NAMES[0] + 1, HUB_HTTP_NAMES);
    for (size_t n = 0; n < sizeof NAMES / sizeof NAMES[0]; n++) {
        hub_str name = hub_str_of(NAMES[n].text);
        char text[32];
        memcpy(text, name.ptr, name.len);
        for (size_t at = 0; at < name.len; at++) {
            for (int i = 0; i < 256; i++) { /* one byte, other than it is */
                text[at] = (char)i;
                hub_str other = {.ptr = text, .len = name.len};
                hub_http_name found = i == '\r' ? HUB_HTTP_OTHER : hub_http_name_of(other);
                assert_int_equal(found,
                                 hub_str_eq_nocase(other, name) ? NAMES[n].name : HUB_HTTP_OTHER);
            }
            text[at] = (char)(name.ptr[at] >= 'a' ? name.ptr[at] - 'a' + 'A' : name.ptr[at]);
        }
        assert_int_equal(hub_http_name_of((hub_str){.ptr = text, .len = name.len}), NAMES[n].name);
        assert_int_equal(hub_http_name_of((hub_str){.ptr = text, .len = name.len - 1}),
                         HUB_HTTP_OTHER);
        assert_int_equal(hub_http_name_is_mcp(name), hub_str_starts(name, HUB_STR("mcp-")));
    }
}

static void test_lookup(void **state)
{
    (void)state;
    static const char HEAD[] = BEGIN "Accept: a, b\r\nX: 1\r\naccept:\r\nACCEPT: ,C , d\r\n" END;
    hub_http_scan scan;
    hub_http_request request;
    hub_http_scan_init(&scan, MAX_BODY);
    hub_str head = {.ptr = HEAD, .len = sizeof HEAD - 1};
    assert_int_equal(hub_http_request_next(&scan, head, &request), HUB_HTTP_DONE);
    hub_str name = HUB_STR("aCCept");
    const hub_http_header *found = hub_http_find_header(&request, name, NULL);
    assert_true(found != NULL && hub_str_is(found->value, "a, b"));
    found = hub_http_find_header(&request, name, found);
    assert_true(found != NULL && hub_str_is(found->value, ""));
    found = hub_http_find_header(&request, name, found);
    assert_true(found != NULL && hub_str_is(found->value, ",C , d"));
    assert_null(hub_http_find_header(&request, name, found));
    assert_null(hub_http_find_header(&request, HUB_STR("accep"), NULL));
    assert_ptr_equal(hub_http_known(&request, HUB_HTTP_ACCEPT), &request.headers[1]);
    assert_null(hub_http_known(&request, HUB_HTTP_ORIGIN));
    assert_int_equal(hub_http_known_value(&request, HUB_HTTP_ORIGIN).len, 0);
    assert_true(hub_http_has_element(&request, name, HUB_STR("c")));
    assert_true(hub_http_has_element(&request, name, HUB_STR("B")));
    assert_false(hub_http_has_element(&request, name, HUB_STR("a, b")));
    assert_false(hub_http_has_element(&request, name, HUB_STR("1")));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_framing),
        cmocka_unit_test(test_headers_that_occur_once),
        cmocka_unit_test(test_bytes_and_lines),
        cmocka_unit_test(test_targets),
        cmocka_unit_test(test_expectations),
        cmocka_unit_test(test_more),
        cmocka_unit_test(test_what_a_request_says),
        cmocka_unit_test(test_sizes),
        cmocka_unit_test(test_header_count),
        cmocka_unit_test(test_prefixes_of_standard_names),
        cmocka_unit_test(test_pipelined),
        cmocka_unit_test(test_characters),
        cmocka_unit_test(test_plain_pairs),
        cmocka_unit_test(test_known_names),
        cmocka_unit_test(test_lookup),
    };
    return cmocka_run_group_tests_name("http_request", tests, NULL, NULL);
}
