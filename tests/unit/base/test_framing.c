/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "framing_feed.h"
#include "base/limits.h"

#include <stdio.h>

#define A10 "aaaaaaaaaa"

typedef struct framing_case {
    const char *label;
    const char *input;
    const char *events; /* as framing_feed.h writes them */
    size_t limit;       /* 0: 10 */
    bool lines_only;
} framing_case;

static const framing_case LINE_CASES[] = {
    {"nothing", "", "", 0, false},
    {"one", "{}\n", "M2:{};", 0, false},
    {"two", "{}\n[]\n", "M2:{};M2:[];", 0, false},
    {"CRLF", "{}\r\n[]\r\n", "M2:{};M2:[];", 0, false},
    {"mixed ends", "{}\r\n[]\n", "M2:{};M2:[];", 0, false},
    {"one CR only is the frame's", "{}\r\r\n", "M3:{}\r;", 0, false},
    {"CR inside", "{\r}\n", "M3:{\r};", 0, false},
    {"blank lines", "\n\r\n  \n\t\r\n{}\n\n\r\n", "M2:{};", 0, false},
    {"white space before and behind", " \t {}  \n", "M4:{}  ;", 0, false},
    {"white space costs nothing", "              {}\n", "M2:{};", 2, false},
    {"last line without newline", "{}\n[]", "M2:{};M2:[];", 0, false},
    {"last line with CR", "{}\r", "M2:{};", 0, false},
    {"last line blank", "{}\n  \r", "M2:{};", 0, false},
    {"at the limit", A10 "\n", "M10:" A10 ";", 0, false},
    {"at the limit with CR", A10 "\r\n", "M10:" A10 ";", 0, false},
    {"at the limit at the end", A10, "M10:" A10 ";", 0, false},
    {"at the limit with CR at the end", A10 "\r", "M10:" A10 ";", 0, false},
    {"one over", A10 "b\n{}\n", "O;M2:{};", 0, false},
    {"one over with CR", A10 "b\r\n{}\n", "O;M2:{};", 0, false},
    {"two CR make it one over", A10 "\r\r\n{}\n", "O;M2:{};", 0, false},
    {"one over at the end", A10 "b", "O;", 0, false},
    {"one over at the end with CR", A10 "b\r", "O;", 0, false},
    {"far over", A10 A10 A10 A10 "\n{}\n", "O;M2:{};", 0, false},
    {"twice over", A10 "b\n" A10 "b\n{}\n", "O;O;M2:{};", 0, false},
    {"over, then blank", A10 "b\n\n \n{}\n", "O;M2:{};", 0, false},
    {"limit 1", "1\n22\n3\n", "M1:1;O;M1:3;", 1, false},
    {"not a header", "Cannot\n{}\n", "M6:Cannot;M2:{};", 0, false},
    {"nearly a header", "Content\n{}\n", "M7:Content;M2:{};", 0, false},
    {"a header name cut off", "conten", "M6:conten;", 0, false},
    {"a header name cut off over the limit", " conten", "O;", 5, false},
    {"not asked to detect", "Content-Length: 2\r\n\r\n{}", "M17:Content-Length: 2;M2:{};", 20,
     true},
    {"headers behind a line are lines", "{}\nContent-Length: 2\n\n[]\n",
     "M2:{};M17:Content-Length: 2;M2:[];", 20, false},
};

#define CL "Content-Length: "

static const framing_case HEADER_CASES[] = {
    {"one", CL "2\r\n\r\n{}", "M2:{};", 0, false},
    {"two", CL "2\r\n\r\n{}" CL "3\r\n\r\n[1]", "M2:{};M3:[1];", 0, false},
    {"LF only", CL "2\n\n{}" CL "3\n\n[1]", "M2:{};M3:[1];", 0, false},
    {"LF then CRLF", CL "2\n\r\n{}", "M2:{};", 0, false},
    {"CRLF then LF", CL "2\r\n\n{}", "M2:{};", 0, false},
    {"lower case", "content-length: 2\r\n\r\n{}", "M2:{};", 0, false},
    {"upper case", "CONTENT-LENGTH: 2\r\n\r\n{}", "M2:{};", 0, false},
    {"no space", "Content-Length:2\r\n\r\n{}", "M2:{};", 0, false},
    {"many spaces", "Content-Length: \t 2 \t \r\n\r\n{}", "M2:{};", 0, false},
    {"leading zeros", CL "000000000000000002\r\n\r\n{}", "M2:{};", 0, false},
    {"type first", "Content-Type: application/json\r\n" CL "2\r\n\r\n{}", "M2:{};", 0, false},
    {"type behind", CL "2\r\nContent-Type: application/json\r\n\r\n{}", "M2:{};", 0, false},
    {"a field without colon", CL "2\r\nwhatever\r\n\r\n{}", "M2:{};", 0, false},
    {"the same length twice", CL "2\r\n" CL "2\r\n\r\n{}", "M2:{};", 0, false},
    {"white space before", "  \n\n \r\n" CL "2\r\n\r\n{}", "M2:{};", 0, false},
    {"white space between", CL "2\r\n\r\n{}\r\n\n " CL "2\r\n\r\n[]", "M2:{};M2:[];", 0, false},
    {"newlines in the body", CL "4\r\n\r\n{\n\n}" CL "2\r\n\r\n[]", "M4:{\n\n};M2:[];", 0, false},
    {"a header in the body", CL "21\r\n\r\n" CL "2\r\n\r\n" CL "1\r\n\r\n2",
     "M21:" CL "2\r\n\r\n;M1:2;", 30, false},
    {"an empty body", CL "0\r\n\r\n" CL "2\r\n\r\n{}", "M0:;M2:{};", 0, false},
    {"at the limit", CL "10\r\n\r\n" A10 CL "2\r\n\r\n{}", "M10:" A10 ";M2:{};", 0, false},
    {"one over", CL "11\r\n\r\n" A10 "b" CL "2\r\n\r\n{}", "O;M2:{};", 0, false},
    {"twice over", CL "11\r\n\r\n" A10 "b" CL "11\r\n\r\n" A10 "b" CL "1\n\n1", "O;O;M1:1;", 0,
     false},
    {"huge", CL "999999999999999999\r\n\r\n" A10, "O;E;", 0, false},
    {"cut off in the header", CL "2\r\n", "E;", 0, false},
    {"cut off in a line of it", CL "2\r\n\r\n{}Cont", "M2:{};E;", 0, false},
    {"cut off before the body", CL "2\r\n\r\n", "E;", 0, false},
    {"cut off in the body", CL "3\r\n\r\n{}", "E;", 0, false},
    {"cut off in a body over the limit", CL "12\r\n\r\n" A10, "O;E;", 0, false},
    {"white space at the end", CL "2\r\n\r\n{}\r\n", "M2:{};", 0, false},
    {"negative", CL "-5\r\n\r\n{}", "B22:" CL "-5\r\n\r\n;", 0, false},
    {"signed", CL "+5\r\n\r\n", "B22:" CL "+5\r\n\r\n;", 0, false},
    {"no number", CL "x\r\n\r\n", "B21:" CL "x\r\n\r\n;", 0, false},
    {"half a number", CL "1x\r\n\r\n", "B22:" CL "1x\r\n\r\n;", 0, false},
    {"two numbers", CL "1 2\r\n\r\n", "B23:" CL "1 2\r\n\r\n;", 0, false},
    {"hexadecimal", CL "0x2\r\n\r\n", "B23:" CL "0x2\r\n\r\n;", 0, false},
    {"no value", CL "\r\n\r\n", "B20:" CL "\r\n\r\n;", 0, false},
    {"19 digits", CL "0000000000000000002\n\n{}", "B37:" CL "0000000000000000002\n\n;", 0, false},
    {"two lengths", CL "2\n" CL "3\n\n{} ", "B37:" CL "2\n" CL "3\n\n;", 0, false},
    {"no length", "Content-Type: x\n\n{}", "B17:Content-Type: x\n\n;", 0, false},
    {"space before the colon", "Content-Length : 2\n\n{}", "B20:Content-Length : 2\n\n;", 0, false},
    {"a line instead of a header", CL "2\n\n{}{}\n\n{}", "M2:{};B4:{}\n\n;", 0, false},
    {"no frame, no limit", "Content-Nothing\n\n", "B17:Content-Nothing\n\n;", 1, false},
};

static char *run(const framing_case *test, size_t first, size_t chunk)
{
    framing_feed feed;
    hub_str rest = hub_str_of(test->input);
    size_t limit = test->limit > 0 ? test->limit : 10;
    feed_init(&feed, limit, !test->lines_only);
    for (size_t size = first; rest.len > 0; size = chunk) {
        size = size < rest.len ? size : rest.len;
        feed_bytes(&feed, (hub_str){.ptr = rest.ptr, .len = size});
        rest = hub_str_from(rest, size);
    }
    feed_end(&feed);
    size_t most =
        limit + 1 > HUB_LIMIT_FRAME_HEADER_BYTES ? limit + 1 : HUB_LIMIT_FRAME_HEADER_BYTES;
    assert_true(feed.most_kept <= most);
    char *events = hub_buf_take(&feed.events);
    feed_fini(&feed);
    return events;
}

static void check_case(const framing_case *test)
{
    size_t len = strlen(test->input);
    for (size_t first = 0; first <= len; first++) { /* 0: in one piece */
        for (size_t chunk = 1; chunk <= 64; chunk *= 4) {
            char *events = run(test, first > 0 ? first : len, chunk);
            if (strcmp(events, test->events) != 0) {
                print_error("%s, %zu bytes then %zu at a time:\n%s\nexpected\n%s\n", test->label,
                            first, chunk, events, test->events);
            }
            assert_string_equal(events, test->events);
            free(events);
        }
    }
}

static void test_lines(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof LINE_CASES / sizeof LINE_CASES[0]; i++) {
        check_case(&LINE_CASES[i]);
    }
}

static void test_headers(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof HEADER_CASES / sizeof HEADER_CASES[0]; i++) {
        check_case(&HEADER_CASES[i]);
    }
}

/* A header of `bytes` bytes with its blank line, and a body of 2, in chunks of `chunk`. */
static void check_header_size(size_t bytes, size_t chunk, bool fits)
{
    static const char BEGIN[] = CL "2\nContent-Type: ";
    framing_feed feed;
    char text[HUB_LIMIT_FRAME_HEADER_BYTES + 16];
    memset(text, 'x', sizeof text);
    memcpy(text, BEGIN, sizeof BEGIN - 1);
    memcpy(text + bytes - 2, "\n\n{}", 4);
    feed_init(&feed, 10, true);
    for (size_t at = 0; at < bytes + 2; at += chunk) {
        size_t len = at + chunk < bytes + 2 ? chunk : bytes + 2 - at;
        feed_bytes(&feed, (hub_str){.ptr = text + at, .len = len});
    }
    feed_end(&feed);
    hub_str events = hub_buf_str(&feed.events);
    if (fits) {
        assert_true(hub_str_is(events, "M2:{};"));
    } else {
        assert_true(hub_str_starts(events, HUB_STR("B4096:" CL)));
        assert_int_equal(events.len, 6 + HUB_LIMIT_FRAME_HEADER_BYTES + 1);
    }
    feed_fini(&feed);
}

static void test_header_limit(void **state)
{
    (void)state;
    for (size_t chunk = 1; chunk <= 8192; chunk *= 8) {
        check_header_size(HUB_LIMIT_FRAME_HEADER_BYTES, chunk, true);
        check_header_size(HUB_LIMIT_FRAME_HEADER_BYTES + 1, chunk, false);
        check_header_size(HUB_LIMIT_FRAME_HEADER_BYTES + 2, chunk, false);
    }
}

static void test_a_line_without_end_keeps_nothing(void **state)
{
    (void)state;
    framing_feed feed;
    char chunk[1000];
    memset(chunk, 'x', sizeof chunk);
    feed_init(&feed, 4096, true);
    for (int i = 0; i < 2000; i++) {
        feed_bytes(&feed, (hub_str){.ptr = chunk, .len = sizeof chunk});
        assert_true(feed.rest_len <= 4097);
        assert_true(i < 5 || feed.rest_len == 0);
    }
    feed_bytes(&feed, HUB_STR("\n{}\n"));
    assert_true(hub_str_is(hub_buf_str(&feed.events), "O;M2:{};"));
    feed_fini(&feed);
}

static void test_any_limit(void **state)
{
    (void)state;
    framing_feed feed;
    feed_init(&feed, SIZE_MAX, true);
    feed_bytes(&feed, HUB_STR("{}\n" A10));
    feed_end(&feed);
    assert_true(hub_str_is(hub_buf_str(&feed.events), "M2:{};M10:" A10 ";"));
    feed_fini(&feed);
    feed_init(&feed, 0, true);
    feed_bytes(&feed, HUB_STR("{}\n\n \n1\n"));
    assert_true(hub_str_is(hub_buf_str(&feed.events), "O;O;"));
    feed_fini(&feed);
}

static char *joined(const hub_framed *framed)
{
    hub_buf out;
    hub_buf_init(&out, SIZE_MAX);
    for (size_t i = 0; i < framed->count; i++) {
        hub_buf_add(&out, framed->parts[i]);
    }
    assert_int_equal(out.len, framed->total_bytes);
    return hub_buf_take(&out);
}

static void test_wrap(void **state)
{
    (void)state;
    static const struct {
        hub_framing_kind kind;
        const char *parts[3];
        const char *text;
        bool has_line_end;
    } CASES[] = {
        {HUB_FRAMING_UNKNOWN, {"{", "", "}"}, "{}\n", false},
        {HUB_FRAMING_LINES, {"{", NULL, "}"}, "{}\n", false},
        {HUB_FRAMING_LINES, {"{", "\n", "}"}, "{\n}\n", true},
        {HUB_FRAMING_LINES, {"{}", NULL, " \r"}, "{} \r\n", true},
        {HUB_FRAMING_LINES, {NULL, NULL, NULL}, "\n", false},
        {HUB_FRAMING_HEADERS, {"{", NULL, "}"}, CL "2\r\n\r\n{}", false},
        {HUB_FRAMING_HEADERS, {"{", "\n", "}"}, CL "3\r\n\r\n{\n}", false},
        {HUB_FRAMING_HEADERS, {NULL, NULL, NULL}, CL "0\r\n\r\n", false},
    };
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_framing framing = {.kind = CASES[i].kind};
        hub_framed framed;
        hub_str parts[3];
        for (size_t j = 0; j < 3; j++) {
            parts[j] = hub_str_of(CASES[i].parts[j]);
        }
        hub_framing_wrap(&framing, parts, 3, &framed);
        char *text = joined(&framed);
        assert_string_equal(text, CASES[i].text);
        assert_int_equal(hub_framing_needs_cleaning(&framed), CASES[i].has_line_end);
        free(text);
    }
}

static void test_wrap_as_many_parts_as_there_may_be(void **state)
{
    (void)state;
    hub_str parts[HUB_FRAMING_PARTS];
    for (size_t i = 0; i < HUB_FRAMING_PARTS; i++) {
        parts[i] = HUB_STR("x");
    }
    for (int kind = HUB_FRAMING_UNKNOWN; kind <= HUB_FRAMING_HEADERS; kind++) {
        hub_framing framing = {.kind = (hub_framing_kind)kind};
        hub_framed framed;
        hub_framing_wrap(&framing, parts, HUB_FRAMING_PARTS, &framed);
        assert_int_equal(framed.count, HUB_FRAMING_PARTS + 1);
        char *text = joined(&framed);
        free(text);
    }
}

static void test_one_line_end_in_a_large_part(void **state)
{
    (void)state;
    enum { LARGE = 3 * 8192 + 1 };
    static const size_t AT[] = {0, 8191, 8192, 16383, LARGE - 1};
    static char text[LARGE];
    hub_framing framing = {.kind = HUB_FRAMING_LINES};
    hub_framed framed;
    hub_str part = {.ptr = text, .len = LARGE};
    memset(text, 'a', LARGE);
    hub_framing_wrap(&framing, &part, 1, &framed);
    assert_false(hub_framing_needs_cleaning(&framed));
    for (size_t i = 0; i < sizeof AT / sizeof AT[0]; i++) {
        text[AT[i]] = i % 2 == 0 ? '\n' : '\r';
        assert_true(hub_framing_needs_cleaning(&framed));
        text[AT[i]] = 'a';
    }
}

static void test_clean(void **state)
{
    (void)state;
    char text[] = "\n{\r\n \"a\\n\":\t1}\r";
    hub_framing_clean(text, sizeof text - 1);
    assert_string_equal(text, " {   \"a\\n\":\t1} ");
    hub_framing_clean(text, 0);
}

/* Of every length, wherever it lies: each byte that is a line end becomes a space, and no other changes. */
static void test_clean_every_byte(void **state)
{
    (void)state;
    enum { LONGEST = 150, PLACES = 3 };
    static const char NEIGHBOURS[] = "\t\x0b\x1f \"a\x7f\x80\x8a\x8d\xff";
    char room[PLACES + LONGEST + 1];
    hub_framing framing = {.kind = HUB_FRAMING_LINES};
    for (size_t len = 1; len <= LONGEST; len++) {
        char *text = room + len % PLACES;
        for (size_t at = 0; at < len; at++) {
            hub_framed framed;
            hub_str part = {.ptr = text, .len = len};
            char neighbour = NEIGHBOURS[(len + at) % (sizeof NEIGHBOURS - 1)];
            memset(text, neighbour, len + 1);
            hub_framing_wrap(&framing, &part, 1, &framed);
            assert_false(hub_framing_needs_cleaning(&framed));
            text[at] = at % 2 == 0 ? '\n' : '\r';
            text[len] = '\n'; /* which is not its own */
            assert_true(hub_framing_needs_cleaning(&framed));
            hub_framing_clean(text, len);
            for (size_t i = 0; i < len; i++) {
                assert_int_equal(text[i], i == at ? ' ' : neighbour);
            }
            assert_int_equal(text[len], '\n');
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_lines),
        cmocka_unit_test(test_headers),
        cmocka_unit_test(test_header_limit),
        cmocka_unit_test(test_a_line_without_end_keeps_nothing),
        cmocka_unit_test(test_any_limit),
        cmocka_unit_test(test_wrap),
        cmocka_unit_test(test_wrap_as_many_parts_as_there_may_be),
        cmocka_unit_test(test_one_line_end_in_a_large_part),
        cmocka_unit_test(test_clean),
        cmocka_unit_test(test_clean_every_byte),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
