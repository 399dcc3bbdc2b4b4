/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are those of RELIABILITY.md, group B. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/response.h"

#define TEXT(s) ((hub_str){.ptr = s, .len = sizeof(s) - 1})

static void check_text(hub_buf *out, const char *text)
{
    hub_buf_add_char(out, '\0');
    assert_string_equal(out->ptr, text);
    hub_buf_clear(out);
}

static void test_heads(void **state)
{
    (void)state;
    const hub_http_header headers[] = {
        {HUB_STR("Content-Type"), HUB_STR("application/json")},
        {HUB_STR("X-Empty"), HUB_STR_EMPTY},
    };
    const struct {
        hub_http_response response;
        const char *text;
    } cases[] = {
        {{.status = 200,
          .headers = headers,
          .header_count = 2,
          .framing = HUB_HTTP_LENGTH,
          .content_length = UINT64_MAX},
         "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nX-Empty: \r\n"
         "Content-Length: 18446744073709551615\r\n\r\n"},
        {{.status = 202, .framing = HUB_HTTP_LENGTH},
         "HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n"},
        {{.status = 200, .framing = HUB_HTTP_CHUNKED, .close = true},
         "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n"},
        {{.status = 200, .close = true}, "HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n"},
        {{.status = 204}, "HTTP/1.1 204 No Content\r\n\r\n"},
        {{.status = 431, .framing = HUB_HTTP_LENGTH, .close = true},
         "HTTP/1.1 431 Request Header Fields Too Large\r\nContent-Length: 0\r\n"
         "Connection: close\r\n\r\n"},
    };
    hub_buf out;
    hub_buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(hub_http_write_head(&out, &cases[i].response, NULL), HUB_OK);
        check_text(&out, cases[i].text);
    }
    hub_buf_fini(&out);
}

/* Every status that the parsers refuse with has a phrase. */
static void test_phrases(void **state)
{
    (void)state;
    static const int STATUSES[] = {400, 403, 405, 406, 408, 413, 414,
                                   415, 417, 431, 500, 501, 503, 505};
    hub_buf out;
    hub_buf_init(&out, 10000);
    for (size_t i = 0; i < sizeof STATUSES / sizeof STATUSES[0]; i++) {
        hub_http_response response = {.status = STATUSES[i], .framing = HUB_HTTP_LENGTH};
        assert_int_equal(hub_http_write_head(&out, &response, NULL), HUB_OK);
    }
    hub_buf_fini(&out);
}

/* H19: nothing that is put in can begin a line. */
static void test_hostile_headers(void **state)
{
    (void)state;
    const hub_http_header cases[] = {
        {HUB_STR("X"), HUB_STR("a\r\nSet-Cookie: b")},
        {HUB_STR("X"), HUB_STR("a\nSet-Cookie: b")},
        {HUB_STR("X"), HUB_STR("a\rb")},
        {HUB_STR("X"), HUB_STR("\r\n\r\n<html>")},
        {HUB_STR("X"), HUB_STR("a\r")},
        {HUB_STR("X"), HUB_STR("\n")},
        {HUB_STR("X"), TEXT("a\0b")},
        {HUB_STR("X"), HUB_STR("a\x0b")},
        {HUB_STR("X"), HUB_STR("a\x1b[0m")},
        {HUB_STR("X"), HUB_STR("a\x7f")},
        {HUB_STR("X"), HUB_STR("\xc3\xa9")},
        {HUB_STR("X"), HUB_STR("\xe5\x98\x8a\xe5\x98\x8d")}, /* U+560A U+560D */
        {HUB_STR(""), HUB_STR("a")},
        {HUB_STR("X Y"), HUB_STR("a")},
        {HUB_STR("X:"), HUB_STR("a")},
        {HUB_STR("X\r\nY"), HUB_STR("a")},
        {HUB_STR("X\n"), HUB_STR("a")},
        {TEXT("X\0"), HUB_STR("a")},
        {HUB_STR(" X"), HUB_STR("a")},
        {HUB_STR("Content-Length"), HUB_STR("0")},
        {HUB_STR("content-LENGTH"), HUB_STR("0")},
        {HUB_STR("Transfer-Encoding"), HUB_STR("chunked")},
        {HUB_STR("connection"), HUB_STR("close")},
    };
    hub_buf out;
    hub_buf_init(&out, 1000);
    hub_buf_add(&out, HUB_STR("before"));
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        hub_error error = {.code = HUB_OK};
        hub_http_header headers[] = {{HUB_STR("A"), HUB_STR("b")}, cases[i]};
        hub_http_response response = {
            .status = 200, .headers = headers, .header_count = 2, .framing = HUB_HTTP_LENGTH};
        assert_int_equal(hub_http_write_head(&out, &response, &error), HUB_EINVAL);
        assert_int_equal(error.code, HUB_EINVAL);
        assert_int_equal(out.len, 6);
    }
    hub_buf_fini(&out);
}

static void test_impossible_heads(void **state)
{
    (void)state;
    static const hub_http_response CASES[] = {
        {.status = 0, .framing = HUB_HTTP_LENGTH},    {.status = 299, .framing = HUB_HTTP_LENGTH},
        {.status = 2000, .framing = HUB_HTTP_LENGTH}, {.status = 100, .framing = HUB_HTTP_NO_BODY},
        {.status = 200, .framing = HUB_HTTP_NO_BODY}, {.status = 204, .framing = HUB_HTTP_LENGTH},
        {.status = 304, .framing = HUB_HTTP_CHUNKED},
    };
    hub_buf out;
    hub_buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        assert_int_equal(hub_http_write_head(&out, &CASES[i], NULL), HUB_EINVAL);
        assert_int_equal(out.len, 0);
    }
    hub_buf_fini(&out);
}

/* What does not fit leaves nothing behind. */
static void test_full(void **state)
{
    (void)state;
    hub_http_response response = {.status = 202, .framing = HUB_HTTP_LENGTH};
    hub_str part = HUB_STR("{}");
    hub_http_event event = {.id = HUB_STR_EMPTY, .parts = &part, .count = 1};
    for (size_t max = 1; max < 10; max++) {
        hub_buf out;
        hub_buf_init(&out, max);
        hub_buf_add_char(&out, 'x');
        assert_int_equal(hub_http_write_head(&out, &response, NULL), HUB_ELIMIT);
        assert_int_equal(out.len, 1);
        out.failed = HUB_OK;
        assert_int_equal(hub_http_write_event(&out, &event), HUB_ELIMIT);
        assert_int_equal(out.len, 1);
        hub_buf_fini(&out);
    }
}

static void test_chunks(void **state)
{
    (void)state;
    char text[HUB_HTTP_CHUNK_LINE_BYTES];
    assert_true(hub_str_is(hub_http_chunk_line(1, text), "1\r\n"));
    assert_true(hub_str_is(hub_http_chunk_line(16, text), "10\r\n"));
    assert_true(hub_str_is(hub_http_chunk_line(0xabcdef, text), "abcdef\r\n"));
    assert_true(hub_str_is(hub_http_chunk_line(SIZE_MAX, text), "ffffffffffffffff\r\n"));
}

/* H15: one event, one data line, whatever the JSON looks like. */
static void test_events(void **state)
{
    (void)state;
    const hub_str parts[] = {HUB_STR("{\"a\":\r"), HUB_STR("\n1,\n\n"), HUB_STR("data:\r\r"),
                             HUB_STR_EMPTY, HUB_STR("\"\xe2\x80\xa8\"}\n")};
    const struct {
        hub_http_event event;
        const char *text;
    } cases[] = {
        {{.parts = parts, .count = 1}, "data: {\"a\": \n\n"},
        {{.parts = parts, .count = 5}, "data: {\"a\":  1,  data:  \"\xe2\x80\xa8\"} \n\n"},
        {{.id = HUB_STR("7_1"), .parts = parts}, "id: 7_1\ndata: \n\n"},
        {{.id = HUB_STR("7_1"), .retry_ms = 500, .parts = parts, .count = 1},
         "id: 7_1\nretry: 500\ndata: {\"a\": \n\n"},
        {{.name = HUB_STR("endpoint"), .id = HUB_STR("1"), .parts = parts, .count = 1},
         "event: endpoint\nid: 1\ndata: {\"a\": \n\n"},
    };
    hub_buf out;
    hub_buf_init(&out, 1000);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(hub_http_write_event(&out, &cases[i].event), HUB_OK);
        check_text(&out, cases[i].text);
    }
    static const hub_str IDS[] = {
        {"a\nb", 3}, {"a\rb", 3}, {"a\0b", 3}, {"\n", 1}, {"\xc3\xa9", 2}};
    for (size_t i = 0; i < sizeof IDS / sizeof IDS[0]; i++) {
        hub_http_event event = {.id = IDS[i], .parts = parts, .count = 1};
        assert_int_equal(hub_http_write_event(&out, &event), HUB_EINVAL);
        assert_int_equal(out.len, 0);
        event = (hub_http_event){.name = IDS[i], .parts = parts, .count = 1};
        assert_int_equal(hub_http_write_event(&out, &event), HUB_EINVAL);
        assert_int_equal(out.len, 0);
    }
    hub_buf_fini(&out);
}

/* H15: 10,000 texts of the bytes that could end a line or an event. */
static void test_many_events(void **state)
{
    (void)state;
    static const char *const PIECES[] = {
        "\r", "\n", "\r\n", "\n\n", "data:", "\xe2\x80\xa8", "id: x", ":", "{}", " "};
    hub_buf out;
    hub_buf_init(&out, 10000);
    uint32_t seed = 1;
    for (int i = 0; i < 10000; i++) {
        hub_str parts[8];
        for (size_t p = 0; p < 8; p++) {
            seed = seed * 1664525u + 1013904223u;
            parts[p] = hub_str_of(PIECES[(seed >> 16) % 10]);
        }
        hub_http_event event = {.id = HUB_STR_EMPTY, .parts = parts, .count = 8};
        assert_int_equal(hub_http_write_event(&out, &event), HUB_OK);
        hub_str text = hub_buf_str(&out);
        assert_true(hub_str_starts(text, HUB_STR("data: ")));
        assert_null(memchr(text.ptr, '\r', text.len));
        assert_ptr_equal(memchr(text.ptr, '\n', text.len), text.ptr + text.len - 2);
        hub_buf_clear(&out);
    }
    hub_buf_fini(&out);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_heads),
        cmocka_unit_test(test_phrases),
        cmocka_unit_test(test_hostile_headers),
        cmocka_unit_test(test_impossible_heads),
        cmocka_unit_test(test_full),
        cmocka_unit_test(test_chunks),
        cmocka_unit_test(test_events),
        cmocka_unit_test(test_many_events),
    };
    return cmocka_run_group_tests_name("http_response", tests, NULL, NULL);
}
