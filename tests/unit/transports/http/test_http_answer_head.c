/* SPDX-License-Identifier: Apache-2.0 */
/* Where an answer of another replica ends, however its bytes were cut on their way. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/answer_head.h"

enum { MOST_HEAD = 200 };

typedef struct outcome {
    hub_http_progress progress;
    int status;
    size_t used; /* bytes that belong to the answer */
    bool closes;
    bool is_until_end;
} outcome;

/* Read an answer that comes in pieces of `step` bytes. */
static outcome read_in_steps(hub_str text, size_t step)
{
    hub_http_answer_head head;
    hub_buf kept;
    bool is_in_body = false;
    outcome found = {.progress = HUB_HTTP_MORE};
    hub_http_answer_head_init(&head);
    hub_buf_init(&kept, MOST_HEAD);
    while (found.used < text.len && found.progress == HUB_HTTP_MORE) {
        hub_str rest = hub_str_from(text, found.used);
        rest.len = rest.len < step ? rest.len : step;
        size_t used = 0;
        found.progress = is_in_body ? hub_http_answer_body_next(&head, rest, &used)
                                    : hub_http_answer_head_next(&head, rest, &kept, &used);
        found.used += used;
        if (!is_in_body && found.progress == HUB_HTTP_DONE) {
            is_in_body = true;
            found.progress = hub_http_answer_body_next(&head, HUB_STR_EMPTY, &used);
        }
    }
    found.status = head.status;
    found.closes = head.closes;
    found.is_until_end = is_in_body && hub_http_answer_ends_with(&head);
    hub_buf_fini(&kept);
    return found;
}

static outcome read_answer(const char *text)
{
    outcome whole = read_in_steps(hub_str_of(text), SIZE_MAX);
    for (size_t step = 1; step < 40; step++) {
        outcome cut = read_in_steps(hub_str_of(text), step);
        assert_int_equal(cut.progress, whole.progress);
        if (whole.progress != HUB_HTTP_REFUSED) {
            assert_int_equal(cut.used, whole.used);
            assert_int_equal(cut.status, whole.status);
        }
    }
    return whole;
}

#define NEXT "HTTP/1.1 200 OK\r\n"

static void test_with_a_length(void **state)
{
    (void)state;
    static const char TEXT[] = "HTTP/1.1 200 OK\r\nDate: x\r\ncontent-length:  5\r\n\r\nhello" NEXT;
    outcome found = read_answer(TEXT);
    assert_int_equal(found.progress, HUB_HTTP_DONE);
    assert_int_equal(found.status, 200);
    assert_int_equal(found.used, sizeof TEXT - sizeof NEXT);
    assert_false(found.closes);
}

static void test_without_a_body(void **state)
{
    (void)state;
    outcome found = read_answer("HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n");
    assert_int_equal(found.progress, HUB_HTTP_DONE);
    assert_true(found.closes);
    assert_int_equal(read_answer("HTTP/1.1 202 Accepted\r\nContent-Length: 0\r\n\r\n").progress,
                     HUB_HTTP_DONE);
}

static void test_in_chunks(void **state)
{
    (void)state;
    static const char TEXT[] = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n"
                               "4\r\n:\r\n\r\r\n3\r\nabc\r\n0\r\n\r\n" NEXT;
    outcome found = read_answer(TEXT);
    assert_int_equal(found.progress, HUB_HTTP_DONE);
    assert_int_equal(found.used, sizeof TEXT - sizeof NEXT);
    assert_int_equal(
        read_answer("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nab").progress,
        HUB_HTTP_MORE);
}

static void test_until_the_end(void **state)
{
    (void)state;
    outcome found = read_answer("HTTP/1.1 200 OK\r\nConnection: close\r\n\r\ndata: 1\n\n");
    assert_int_equal(found.progress, HUB_HTTP_MORE);
    assert_true(found.is_until_end);
}

static void test_what_is_refused(void **state)
{
    (void)state;
    char long_head[2 * MOST_HEAD];
    memset(long_head, 'a', sizeof long_head - 1);
    long_head[sizeof long_head - 1] = '\0';
    const char *const wrong[] = {
        "HTTP/2 200 OK\r\n\r\n",
        "HTTP/1.1 2x0 OK\r\n\r\n",
        "HTTP/1.1 100 Continue\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 5x\r\n\r\n",
        "HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: gzip\r\n\r\n",
        "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n",
        long_head,
    };
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        assert_int_equal(read_answer(wrong[i]).progress, HUB_HTTP_REFUSED);
    }
}

static void test_headers_are_found_in_any_case(void **state)
{
    (void)state;
    hub_str head =
        HUB_STR("HTTP/1.1 200 OK\r\nX-Ab: 1\r\nPatchbay-A:\t two \r\n\r\nPatchbay-B: 3\r\n");
    assert_true(hub_str_is(hub_http_answer_header(head, HUB_STR("patchbay-a")), "two"));
    assert_true(hub_str_is(hub_http_answer_header(head, HUB_STR("x-ab")), "1"));
    assert_int_equal(hub_http_answer_header(head, HUB_STR("X-A")).len, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_with_a_length),
        cmocka_unit_test(test_without_a_body),
        cmocka_unit_test(test_in_chunks),
        cmocka_unit_test(test_until_the_end),
        cmocka_unit_test(test_what_is_refused),
        cmocka_unit_test(test_headers_are_found_in_any_case),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
