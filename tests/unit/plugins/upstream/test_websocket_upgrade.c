/* SPDX-License-Identifier: Apache-2.0 */
/* The opening of a WebSocket, from the client's side: RFC 6455, sections 4.1 and 4.2.2. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plugins/upstream/remote/websocket_upgrade.h"

/* The standard's own example, section 1.3. */
static const ws_upgrade EXAMPLE = {.key = "dGhlIHNhbXBsZSBub25jZQ==",
                                   .accept = "s3pPLMBiTxaQ9kYGzzhZRbK+xOo="};

#define COUNT(table) (sizeof(table) / sizeof *(table))
#define ACCEPT       "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"
#define SWITCH       "HTTP/1.1 101 Switching Protocols\r\n"
#define UPGRADE      "Upgrade: websocket\r\nConnection: Upgrade\r\n"

static void expect_request(const char *url, const char *headers, const char *first,
                           const char *last)
{
    patchbay_out out = {0};
    char expected[1024];
    assert_true(ws_upgrade_write(&EXAMPLE, url, headers, &out));
    (void)snprintf(expected, sizeof expected,
                   "%s\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                   "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
                   "Sec-WebSocket-Protocol: mcp\r\n%s\r\n",
                   first, last);
    assert_string_equal(out.ptr, expected);
    patchbay_out_free(&out);
}

static void test_requests(void **state)
{
    (void)state;
    expect_request("http://a.example/mcp", "", "GET /mcp HTTP/1.1\r\nHost: a.example", "");
    expect_request("http://a.example", "", "GET / HTTP/1.1\r\nHost: a.example", "");
    expect_request("http://a.example?q", "", "GET /?q HTTP/1.1\r\nHost: a.example", "");
    expect_request("http://a.example:80/x?q=1&r#f", "", "GET /x?q=1&r HTTP/1.1\r\nHost: a.example",
                   "");
    expect_request("https://a.example:443/", "", "GET / HTTP/1.1\r\nHost: a.example", "");
    expect_request("https://a.example:80/", "", "GET / HTTP/1.1\r\nHost: a.example:80", "");
    expect_request("http://[::1]:8787/", "", "GET / HTTP/1.1\r\nHost: [::1]:8787", "");
    expect_request("http://h/", "A: b\nEmpty;\nC: d;\n", "GET / HTTP/1.1\r\nHost: h",
                   "A: b\r\nEmpty:\r\nC: d;\r\n");
    expect_request("http://u%40:p%3a@h/", "", "GET / HTTP/1.1\r\nHost: h",
                   "Authorization: Basic dUA6cDo=\r\n");
    expect_request("http://u@h/", "", "GET / HTTP/1.1\r\nHost: h", "Authorization: Basic dTo=\r\n");
    expect_request("http://u:p@h/", "AUTHORIZATION: x\n", "GET / HTTP/1.1\r\nHost: h",
                   "AUTHORIZATION: x\r\n");
}

/* A line break in a URL would be the beginning of a header. */
static void test_no_header_comes_out_of_a_url(void **state)
{
    static const char *const URLS[] = {"http://h/a\r\nX: y", "http://h/?a\nX: y",
                                       "http://h\r\nX: y/"};
    (void)state;
    for (size_t i = 0; i < COUNT(URLS); i++) {
        patchbay_out out = {0};
        if (ws_upgrade_write(&EXAMPLE, URLS[i], "", &out)) {
            assert_null(strstr(out.ptr, "\nX: y"));
        }
        patchbay_out_free(&out);
    }
}

static void test_keys(void **state)
{
    ws_upgrade one;
    ws_upgrade other;
    (void)state;
    assert_true(ws_upgrade_begin(&one));
    assert_true(ws_upgrade_begin(&other));
    assert_int_equal(strlen(one.key), 24);
    assert_int_equal(strlen(one.accept), 28);
    assert_string_not_equal(one.key, other.key);
    assert_string_not_equal(one.accept, other.accept);
}

static ws_upgrade_answer expect_state(const char *text, size_t len, ws_upgrade_state expected)
{
    ws_upgrade_answer answer;
    ws_upgrade_state state = ws_upgrade_read(&EXAMPLE, patchbay_str_make(text, len), &answer);
    if (state != expected) {
        print_error("%.*s\n", (int)len, text);
    }
    assert_int_equal(state, expected);
    return answer;
}

/* Every beginning of a good answer is waited for, whatever comes behind it. */
static void test_good_answers(void **state)
{
    static const char *const GOOD[] = {
        SWITCH UPGRADE ACCEPT "\r\n",
        SWITCH UPGRADE ACCEPT "Sec-WebSocket-Protocol: mcp\r\n\r\n",
        "HTTP/1.1 101\r\nconnection:keep-alive,\tUPGRADE\r\nupgrade:\tWebSocket \r\n" ACCEPT "\r\n",
        SWITCH "Connection: x\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n" ACCEPT "X:\r\n\r\n",
    };
    (void)state;
    for (size_t i = 0; i < COUNT(GOOD); i++) {
        size_t len = strlen(GOOD[i]);
        for (size_t cut = 0; cut < len; cut++) {
            (void)expect_state(GOOD[i], cut, UPGRADE_MORE);
        }
        char whole[512];
        (void)snprintf(whole, sizeof whole, "%s\r\n\r\n\x81\x05", GOOD[i]);
        assert_int_equal(expect_state(whole, strlen(whole), UPGRADE_DONE).used, len);
    }
}

static void test_bad_answers(void **state)
{
    static const struct {
        const char *text;
        int status;
        const char *why; /* part of it; NULL: the status says it */
    } BAD[] = {
        {"HTTP/1.1 404 Not Found\r\n\r\n", 404, NULL},
        {"HTTP/1.0 503 x\r\n\r\n", 503, NULL},
        {"HTTP/1.1 200\r\n\r\n", 200, NULL},
        {"HTTP/1.1 400 x\r\nno header\r\n\r\n", 400, NULL},
        {"HTTP/1.0 101 x\r\n" UPGRADE ACCEPT "\r\n", 0, "HTTP/1.1"},
        {"HTTP/1.2 101 x\r\n" UPGRADE ACCEPT "\r\n", 0, "HTTP/1.1"},
        {"HTTP/2 101 xxx\r\n", 0, "HTTP/1.1"},
        {"HTTP/1.1 1010 x\r\n\r\n", 0, "HTTP/1.1"},
        {"HTTP/1.1 10x xx\r\n", 0, "HTTP/1.1"},
        {"HTTP/1.1  101 x\r\n", 0, "HTTP/1.1"},
        {"\r\nHTTP/1.1 101 x", 0, "HTTP/1.1"},
        {"\r\n\r\n", 0, "HTTP/1.1"},
        {SWITCH ACCEPT "Upgrade: websocket\r\n\r\n", 101, "another protocol"},
        {SWITCH ACCEPT "Connection: Upgrade\r\n\r\n", 101, "another protocol"},
        {SWITCH ACCEPT "Connection: Upgrades\r\nUpgrade: websocket\r\n\r\n", 101,
         "another protocol"},
        {SWITCH ACCEPT "Connection: Upgrade\r\nUpgrade: websocket, h2c\r\n\r\n", 101,
         "another protocol"},
        {SWITCH UPGRADE "\r\n", 101, "another WebSocket"},
        {SWITCH UPGRADE "Sec-WebSocket-Accept: S3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n\r\n", 101,
         "another WebSocket"},
        {SWITCH UPGRADE ACCEPT "Sec-WebSocket-Protocol: MCP\r\n\r\n", 101, "subprotocol"},
        {SWITCH UPGRADE ACCEPT "Sec-WebSocket-Extensions: x\r\n\r\n", 101, "extension"},
        {SWITCH UPGRADE ACCEPT ACCEPT "\r\n", 101, "headers that are none"},
        {SWITCH UPGRADE ACCEPT "A : b\r\n\r\n", 101, "headers that are none"},
        {SWITCH UPGRADE ACCEPT " folded\r\n\r\n", 101, "headers that are none"},
        {SWITCH UPGRADE ACCEPT "A: b\nC: d\r\n\r\n", 101, "headers that are none"},
        {SWITCH UPGRADE ACCEPT ": b\r\n\r\n", 101, "headers that are none"},
        {SWITCH UPGRADE ACCEPT "A: \x7f\r\n\r\n", 101, "headers that are none"},
    };
    (void)state;
    for (size_t i = 0; i < COUNT(BAD); i++) {
        ws_upgrade_answer answer = expect_state(BAD[i].text, strlen(BAD[i].text), UPGRADE_REFUSED);
        assert_int_equal(answer.status, BAD[i].status);
        if (BAD[i].why == NULL) {
            assert_null(answer.why);
        } else {
            assert_non_null(strstr(answer.why, BAD[i].why));
        }
    }
}

static void test_redirects(void **state)
{
    static const char MOVED[] = "HTTP/1.1 308 Moved\r\nLocation:  wss://b.example/ \r\n\r\n";
    (void)state;
    ws_upgrade_answer answer = expect_state(MOVED, sizeof MOVED - 1, UPGRADE_REFUSED);
    assert_int_equal(answer.status, 308);
    assert_true(patchbay_str_eq(answer.location, patchbay_str_of("wss://b.example/")));
}

static void test_the_longest_head(void **state)
{
    static const char BEGIN[] = SWITCH UPGRADE ACCEPT "X: ";
    size_t size = UPGRADE_HEAD_BYTES + 8;
    char *text = malloc(size);
    (void)state;
    assert_non_null(text);
    memset(text, 'x', size);
    memcpy(text, BEGIN, sizeof BEGIN - 1);
    memcpy(text + UPGRADE_HEAD_BYTES - 4, "\r\n\r\n", 4);
    assert_int_equal(expect_state(text, UPGRADE_HEAD_BYTES, UPGRADE_DONE).used, UPGRADE_HEAD_BYTES);
    (void)expect_state(text, UPGRADE_HEAD_BYTES - 1, UPGRADE_MORE);
    memcpy(text + UPGRADE_HEAD_BYTES - 4, "xxxx\r\n\r\n", 8);
    memmove(text + UPGRADE_HEAD_BYTES - 3, "\r\n\r\n", 4);
    ws_upgrade_answer answer = expect_state(text, UPGRADE_HEAD_BYTES + 1, UPGRADE_REFUSED);
    assert_non_null(strstr(answer.why, "16384"));
    (void)expect_state(text, UPGRADE_HEAD_BYTES - 1, UPGRADE_MORE);
    (void)expect_state(text, UPGRADE_HEAD_BYTES, UPGRADE_REFUSED);
    free(text);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_requests),
        cmocka_unit_test(test_no_header_comes_out_of_a_url),
        cmocka_unit_test(test_keys),
        cmocka_unit_test(test_good_answers),
        cmocka_unit_test(test_bad_answers),
        cmocka_unit_test(test_redirects),
        cmocka_unit_test(test_the_longest_head),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
