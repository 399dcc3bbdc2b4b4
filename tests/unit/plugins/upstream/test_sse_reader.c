/* SPDX-License-Identifier: Apache-2.0 */
/* Event streams: HTML Living Standard, 9.2.6, its examples among them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "sse_feed.h"

enum { LARGE = 1 << 20 };

#define STREAM(text, events)                                                                       \
    {                                                                                              \
        text, sizeof(text) - 1, events                                                             \
    }

static const struct {
    const char *stream;
    size_t len;
    const char *events;
} CASES[] = {
    /* The standard's own examples. */
    STREAM("data: YHOO\ndata: +2\ndata: 10\n\n", "message|YHOO\n+2\n10|\n"),
    STREAM(": test stream\n\ndata: first event\nid: 1\n\ndata:second event\nid\n\n"
           "data:  third event\n\n",
           "message|first event|1!\nmessage|second event|!\nmessage| third event|\n"),
    STREAM("data\n\ndata\ndata\n\ndata:", "message||\nmessage|\n|\n"),
    STREAM("data:test\n\ndata: test\n\n", "message|test|\nmessage|test|\n"),
    /* Ends of lines, in all three ways and mixed. */
    STREAM("data: a\r\rdata: b\r\n\r\ndata: c\n\r\n", "message|a|\nmessage|b|\nmessage|c|\n"),
    STREAM("data: a\r\ndata: b\r\n\r\n", "message|a\nb|\n"),
    /* The byte order mark, once and at the start. */
    STREAM("\xef\xbb\xbf"
           "data: a\n\n",
           "message|a|\n"),
    STREAM("\xef\xbb\xbf\xef\xbb\xbf"
           "data: a\n\n",
           ""),
    STREAM("\xef\xbb"
           "data: a\n\ndata: b\n\n",
           "message|b|\n"),
    /* Types and ids: a type is for one event, an id for all that follow. */
    STREAM("event: endpoint\ndata: /m\n\ndata: x\n\n", "endpoint|/m|\nmessage|x|\n"),
    STREAM("id: 7\ndata: a\n\ndata: b\n\n", "message|a|7!\nmessage|b|7\n"),
    STREAM("id: 7\n\nid: 8\ndata:\n\n", "message||7!\nmessage||8!\n"),
    STREAM("id: 7\0 8\ndata: a\n\n", "message|a|\n"),
    STREAM("event: a\nevent: b\ndata: x\n\n", "b|x|\n"),
    STREAM("event: a\n\ndata: x\n\n", "message|x|\n"),
    /* What is nothing. */
    STREAM("Data: a\ndatax: b\n data: c\nx\n\n", ""),
    STREAM("\n\n\n", ""),
    STREAM("data: not ended", ""),
    STREAM("data: not dispatched\n", ""),
};

static void test_streams(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        for (size_t piece = 0; piece < 8; piece++) {
            sse_feed feed;
            sse_feed_init(&feed, LARGE);
            sse_feed_bytes(&feed, CASES[i].stream, CASES[i].len, piece);
            assert_int_equal(feed.result, PATCHBAY_OK);
            assert_string_equal(feed.events.ptr, CASES[i].events);
            sse_feed_free(&feed);
        }
    }
}

static void test_retry(void **state)
{
    static const struct {
        const char *stream;
        int64_t retry_ms;
    } RETRIES[] = {
        {"data: a\n\n", -1},
        {"retry: 500\n", 500},
        {"retry: 500\nretry: x\n", 500},
        {"retry: 0\n", 0},
        {"retry:\n", -1},
        {"retry: -1\n", -1},
        {"retry: 1.5\n", -1},
        {"retry: 999999999\n", 999999999},
        {"retry: 1000000000\n", -1},
    };
    (void)state;
    for (size_t i = 0; i < sizeof RETRIES / sizeof RETRIES[0]; i++) {
        sse_feed feed;
        sse_feed_init(&feed, LARGE);
        sse_feed_bytes(&feed, RETRIES[i].stream, strlen(RETRIES[i].stream), 0);
        assert_int_equal(feed.reader.retry_ms, RETRIES[i].retry_ms);
        sse_feed_free(&feed);
    }
}

/* An event of exactly the limit is fine, one byte more is not, however it is cut. */
static void test_limit(void **state)
{
    enum { MOST = 100 };
    (void)state;
    for (size_t lines = 1; lines <= 3; lines++) {
        for (size_t more = 0; more < 2; more++) {
            for (size_t piece = 0; piece < 3; piece++) {
                sse_feed feed;
                size_t left = MOST + more - (lines - 1); /* each newline is a byte of the event */
                sse_feed_init(&feed, MOST);
                for (size_t line = 0; line < lines; line++) {
                    char text[MOST + 16];
                    size_t len = line + 1 < lines ? 1 : left;
                    int size =
                        snprintf(text, sizeof text, "data: %.*s\n", (int)len,
                                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
                                 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa");
                    left -= len;
                    sse_feed_bytes(&feed, text, (size_t)size, piece);
                }
                sse_feed_bytes(&feed, "\n", 1, 0);
                assert_int_equal(feed.result, more == 0 ? PATCHBAY_OK : PATCHBAY_ELIMIT);
                assert_int_equal(feed.events.len > 0, more == 0);
                sse_feed_free(&feed);
            }
        }
    }
}

/* A line that never ends is given up, whatever it is. */
static void test_endless_line(void **state)
{
    static const char *const BEGINNINGS[] = {"data: ", ": ", "id: ", "x", "event: "};
    (void)state;
    for (size_t i = 0; i < sizeof BEGINNINGS / sizeof BEGINNINGS[0]; i++) {
        sse_feed feed;
        sse_feed_init(&feed, 100);
        sse_feed_bytes(&feed, BEGINNINGS[i], strlen(BEGINNINGS[i]), 0);
        for (size_t n = 0; n < 1000 && feed.result == PATCHBAY_OK; n++) {
            sse_feed_bytes(&feed, "a", 1, 0);
        }
        assert_int_equal(feed.result, PATCHBAY_ELIMIT);
        assert_true(feed.reader.line.len < 200);
        sse_feed_free(&feed);
    }
}

static void close_reader(void *ctx, const sse_event *event)
{
    (void)event;
    sse_reader_close(ctx);
}

static void test_closing(void **state)
{
    static const char STREAM_OF_TWO[] = "data: a\n\ndata: b\n\n";
    sse_reader reader;
    (void)state;
    sse_reader_init(&reader, LARGE, close_reader, &reader);
    assert_int_equal(sse_reader_feed(&reader, patchbay_str_of(STREAM_OF_TWO)), PATCHBAY_OK);
    assert_true(reader.is_closed);
    assert_int_equal(reader.data.len, 0); /* the second was not read */
    sse_reader_free(&reader);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_streams), cmocka_unit_test(test_retry),
        cmocka_unit_test(test_limit),   cmocka_unit_test(test_endless_line),
        cmocka_unit_test(test_closing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
