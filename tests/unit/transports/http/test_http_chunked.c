/* SPDX-License-Identifier: Apache-2.0 */
/* Rows are those of RELIABILITY.md, group B. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_feed.h"

enum { MAX_BODY = 20, DONE = 200, MORE = 100, SIZES = 10 };

#define BYTES(s) s, sizeof(s) - 1
#define HALF     "0123456789"

typedef struct chunked_case {
    const char *input;
    size_t len;
    int status;       /* or DONE, or MORE */
    const char *body; /* when DONE */
    size_t left;      /* bytes that belong to the next request */
} chunked_case;

static void check_in_steps(const chunked_case *test, size_t step)
{
    hub_http_chunked chunked;
    hub_buf body;
    size_t used;
    hub_buf_init(&body, MAX_BODY);
    hub_http_chunked_init(&chunked, MAX_BODY);
    hub_str input = {.ptr = test->input, .len = test->len};
    hub_http_progress progress = http_feed_chunks(&chunked, input, step, &body, &used);
    int status = progress == HUB_HTTP_DONE ? DONE : chunked.status;
    status = progress == HUB_HTTP_MORE ? MORE : status;
    if (status != test->status) {
        print_error("%d, not %d: %s\n", status, test->status, test->input);
    }
    assert_int_equal(status, test->status);
    assert_true(progress != HUB_HTTP_REFUSED || chunked.reason != NULL);
    if (progress == HUB_HTTP_DONE) {
        assert_true(hub_str_is(hub_buf_str(&body), test->body));
        assert_int_equal(test->len - used, test->left);
    }
    hub_buf_fini(&body);
}

/* H02 */
static const chunked_case CASES[] = {
    {BYTES("0\r\n\r\n"), DONE, "", 0},
    {BYTES("000\r\n\r\n"), DONE, "", 0},
    {BYTES("5\r\nhello\r\n0\r\n\r\n"), DONE, "hello", 0},
    {BYTES("1\r\na\r\n1\r\nb\r\n2\r\ncd\r\n0\r\n\r\n"), DONE, "abcd", 0},
    {BYTES("a\r\n" HALF "\r\nA\r\n" HALF "\r\n0\r\n\r\n"), DONE, HALF HALF, 0},
    {BYTES("0000000000000005\r\nhello\r\n0\r\n\r\n"), DONE, "hello", 0},
    {BYTES("2\r\n\r\n\r\n0\r\n\r\n"), DONE, "\r\n", 0},
    {BYTES("5\r\nhello\r\n0\r\n\r\nGET /"), DONE, "hello", 5},
    {BYTES("0\r\n\r\n\r\n"), DONE, "", 2},
    {BYTES("5;a\r\nhello\r\n0;b=\"c\"; d\r\n\r\n"), DONE, "hello", 0},
    {BYTES("5;\r\nhello\r\n0\r\n\r\n"), DONE, "hello", 0},
    {BYTES("5 \t;a = b\r\nhello\r\n0\r\n\r\n"), DONE, "hello", 0},
    {BYTES("5;a=\"\xc3\xa9\"\r\nhello\r\n0\r\n\r\n"), DONE, "hello", 0},
    {BYTES("0\r\nX: y\r\nContent-Length: 9\r\nZ:\r\n\r\n"), DONE, "", 0},
    {BYTES(""), MORE, NULL, 0},
    {BYTES("5"), MORE, NULL, 0},
    {BYTES("5\r\nhell"), MORE, NULL, 0},
    {BYTES("5\r\nhello\r\n"), MORE, NULL, 0},
    {BYTES("5\r\nhello\r\n0\r\n"), MORE, NULL, 0},
    {BYTES("5\r\nhello\r\n0\r\n\r"), MORE, NULL, 0},
    {BYTES("0\r\nX: y\r\n"), MORE, NULL, 0},
    /* malformed sizes */
    {BYTES("\r\n"), 400, NULL, 0},
    {BYTES(" 5\r\nhello"), 400, NULL, 0},
    {BYTES("\t5\r\nhello"), 400, NULL, 0},
    {BYTES(";a\r\nhello"), 400, NULL, 0},
    {BYTES("5 \r\nhello"), 400, NULL, 0},
    {BYTES("5\t\r\nhello"), 400, NULL, 0},
    {BYTES("5 5\r\nhello"), 400, NULL, 0},
    {BYTES("5 a;\r\nhello"), 400, NULL, 0},
    {BYTES("+5\r\nhello"), 400, NULL, 0},
    {BYTES("-5\r\nhello"), 400, NULL, 0},
    {BYTES("-0\r\n\r\n"), 400, NULL, 0},
    {BYTES("0x5\r\nhello"), 400, NULL, 0},
    {BYTES("5h\r\nhello"), 400, NULL, 0},
    {BYTES("g\r\nhello"), 400, NULL, 0},
    {BYTES("`\r\nhello"), 400, NULL, 0},
    {BYTES("@\r\nhello"), 400, NULL, 0},
    {BYTES("5.0\r\nhello"), 400, NULL, 0},
    {BYTES("5,5\r\nhello"), 400, NULL, 0},
    {BYTES("5_\r\nhello"), 400, NULL, 0},
    {BYTES("\xef\xbc\x95\r\nhello"), 400, NULL, 0},
    {BYTES("5\0\r\nhello"), 400, NULL, 0},
    {BYTES("00000000000000005\r\nhello"), 400, NULL, 0},
    {BYTES("10000000000000005\r\nhello"), 400, NULL, 0},
    /* sizes over the limit */
    {BYTES("15\r\n"), 413, NULL, 0},
    {BYTES("ffffffffffffffff\r\n"), 413, NULL, 0},
    {BYTES("8000000000000000\r\n"), 413, NULL, 0},
    {BYTES("ffffffff\r\n"), 413, NULL, 0},
    {BYTES("a\r\n" HALF "\r\nb\r\n"), 413, NULL, 0},
    {BYTES("a\r\n" HALF "\r\na\r\n" HALF "\r\n1\r\n"), 413, NULL, 0},
    {BYTES("1\r\na\r\nffffffffffffffff\r\n"), 413, NULL, 0},
    /* line ends */
    {BYTES("5\nhello\r\n0\r\n\r\n"), 400, NULL, 0},
    {BYTES("5\rhello\r\n0\r\n\r\n"), 400, NULL, 0},
    {BYTES("5\r\r\nhello"), 400, NULL, 0},
    {BYTES("5\n\rhello"), 400, NULL, 0},
    {BYTES("5\r\nhello\n0\r\n\r\n"), 400, NULL, 0},
    {BYTES("5\r\nhello\r0\r\n\r\n"), 400, NULL, 0},
    {BYTES("5\r\nhello0\r\n\r\n"), 400, NULL, 0},
    {BYTES("5\r\nhello!\r\n0\r\n\r\n"), 400, NULL, 0},
    {BYTES("5\r\nhell\r\n0\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\n\n"), 400, NULL, 0},
    {BYTES("0\r\n\n"), 400, NULL, 0},
    {BYTES("0\r\n\rX"), 400, NULL, 0},
    /* extensions */
    {BYTES("5;a\nhello\r\n0\r\n\r\n"), 400, NULL, 0},
    {BYTES("5;a\rb\r\nhello"), 400, NULL, 0},
    {BYTES("5;a\0\r\nhello"), 400, NULL, 0},
    {BYTES("5;a\x01\r\nhello"), 400, NULL, 0},
    {BYTES("5;a\x7f\r\nhello"), 400, NULL, 0},
    {BYTES("5;\n\r\nhello"), 400, NULL, 0},
    {BYTES("0;\n\r\n\r\n"), 400, NULL, 0},
    /* trailers */
    {BYTES("0\r\nX\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\n: y\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\nX : y\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\n X: y\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\nX: y\r\n z\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\nX: y\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\nX: y\rZ\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\nX: \x01\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\nX: \0\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\nGET / HTTP/1.1\r\n\r\n"), 400, NULL, 0},
    {BYTES("0\r\n5\r\nhello"), 400, NULL, 0},
};

static void test_cases(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        for (size_t step = 0; step < SIZES; step++) {
            check_in_steps(&CASES[i], step);
        }
    }
}

static void add_filled(hub_buf *text, const char *before, size_t fill, const char *after)
{
    hub_buf_add(text, hub_str_of(before));
    for (size_t i = 0; i < fill; i++) {
        hub_buf_add_char(text, 'a');
    }
    hub_buf_add(text, hub_str_of(after));
}

static void check_built(hub_buf *text, int status, size_t step)
{
    hub_buf_add_char(text, '\0'); /* print_error shows it as a string */
    chunked_case test = {text->ptr, text->len - 1, status, "", 0};
    check_in_steps(&test, 0);
    check_in_steps(&test, step);
    hub_buf_clear(text);
}

/* H02: extensions, trailers */
static void test_limits(void **state)
{
    (void)state;
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    add_filled(&text, "0;", HUB_HTTP_LIMIT_CHUNK_EXTENSION_BYTES, "\r\n\r\n");
    check_built(&text, DONE, 1);
    add_filled(&text, "0;", HUB_HTTP_LIMIT_CHUNK_EXTENSION_BYTES + 1, "\r\n\r\n");
    check_built(&text, 400, 1);
    add_filled(&text, "0\r\n", HUB_HTTP_LIMIT_TRAILER_BYTES - 2, ":\r\n\r\n");
    check_built(&text, DONE, 1);
    add_filled(&text, "0\r\n", HUB_HTTP_LIMIT_TRAILER_BYTES - 1, ":\r\n\r\n");
    check_built(&text, 431, 1);
    for (size_t i = 0; i <= HUB_HTTP_LIMIT_TRAILER_BYTES / 3; i++) {
        add_filled(&text, i == 0 ? "0\r\n" : "", 1, ":\r\n"); /* many small ones */
    }
    check_built(&text, 431, 1);
    hub_buf_fini(&text);
}

/* H02: one-byte chunks with long extensions */
static void test_extension_sum(void **state)
{
    (void)state;
    enum { LIMIT = HUB_HTTP_LIMIT_CHUNK_EXTENSION_SUM_BYTES };
    enum { EACH = HUB_HTTP_LIMIT_CHUNK_EXTENSION_BYTES };
    for (size_t over = 0; over <= 1; over++) {
        hub_http_chunked chunked;
        hub_buf text;
        hub_buf body;
        size_t used;
        hub_buf_init(&text, SIZE_MAX / 4);
        hub_buf_init(&body, 1000);
        hub_http_chunked_init(&chunked, 1000);
        for (size_t i = 0; i < LIMIT / EACH; i++) {
            add_filled(&text, "1;", EACH, "\r\nx\r\n");
        }
        add_filled(&text, "0;", over, "\r\n\r\n");
        hub_http_progress progress =
            http_feed_chunks(&chunked, hub_buf_str(&text), 7, &body, &used);
        assert_int_equal(progress, over > 0 ? HUB_HTTP_REFUSED : HUB_HTTP_DONE);
        assert_int_equal(chunked.status, over > 0 ? 400 : 0);
        assert_int_equal(body.len, LIMIT / EACH);
        hub_buf_fini(&body);
        hub_buf_fini(&text);
    }
}

/* After the end nothing is used; a buffer that is too small is a body that is too large. */
static void test_ends(void **state)
{
    (void)state;
    hub_http_chunked chunked;
    hub_buf body;
    size_t used;
    hub_buf_init(&body, 4);
    hub_http_chunked_init(&chunked, 100);
    assert_int_equal(hub_http_chunked_next(&chunked, HUB_STR("0\r\n\r\n"), &body, &used),
                     HUB_HTTP_DONE);
    assert_int_equal(hub_http_chunked_next(&chunked, HUB_STR("5\r\n"), &body, &used),
                     HUB_HTTP_DONE);
    assert_int_equal(used, 0);
    hub_http_chunked_init(&chunked, 100);
    assert_int_equal(hub_http_chunked_next(&chunked, HUB_STR("5\r\nhello"), &body, &used),
                     HUB_HTTP_REFUSED);
    assert_int_equal(chunked.status, 413);
    assert_int_equal(hub_http_chunked_next(&chunked, HUB_STR("0\r\n\r\n"), &body, &used),
                     HUB_HTTP_REFUSED);
    hub_buf_fini(&body);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_cases),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_extension_sum),
        cmocka_unit_test(test_ends),
    };
    return cmocka_run_group_tests_name("http_chunked", tests, NULL, NULL);
}
