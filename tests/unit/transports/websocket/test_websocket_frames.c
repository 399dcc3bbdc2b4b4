/* SPDX-License-Identifier: Apache-2.0 */
/*
 * W02, W03, W04: what a WebSocket takes and what it refuses, with the close codes of RFC 6455. Each
 * case is read as one piece, byte by byte, and in chunks of 3: the same comes out.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "websocket/limits.h"
#include "websocket/reader.h"
#include "ws_frames.h"

enum { MOST = 1000 }; /* bytes of a message */

/* What is read, as text: M message, P ping, O pong, C close, ! fault. */
static void note(hub_buf *trace, const hub_ws_event *event)
{
    static const char marks[] = {
        [HUB_WS_EVENT_MESSAGE] = 'M',
        [HUB_WS_EVENT_PING] = 'P',
        [HUB_WS_EVENT_PONG] = 'O',
        [HUB_WS_EVENT_CLOSE] = 'C',
    };
    if (event->kind == HUB_WS_EVENT_FAULT) {
        assert_non_null(event->fault.reason);
        assert_true(strlen(event->fault.reason) <= HUB_WS_CONTROL_BYTES - 2);
        hub_buf_printf(trace, "!%d", event->fault.code);
    } else if (event->kind != HUB_WS_EVENT_NONE && event->kind != HUB_WS_EVENT_HEAD) {
        hub_buf_add_char(trace, marks[event->kind]);
        hub_buf_add(trace, event->text);
        hub_buf_add_char(trace, ';');
    }
}

/* The trace of `bytes`, cut into chunks; the caller frees it. */
static hub_buf trace_of(hub_str bytes, size_t chunk)
{
    hub_buf trace;
    hub_ws_reader reader;
    hub_buf_init(&trace, SIZE_MAX / 2);
    hub_ws_reader_init(&reader, MOST);
    while (bytes.len > 0) {
        hub_str piece = {.ptr = bytes.ptr, .len = chunk < bytes.len ? chunk : bytes.len};
        bytes = hub_str_from(bytes, piece.len);
        while (piece.len > 0) {
            hub_ws_event event;
            size_t used = hub_ws_reader_next(&reader, piece, &event);
            assert_true(used > 0 && used <= piece.len);
            piece = hub_str_from(piece, used);
            note(&trace, &event);
        }
        hub_ws_reader_rest(&reader);
    }
    hub_ws_reader_fini(&reader);
    return trace;
}

static void assert_trace(const char *name, hub_str bytes, hub_str expected)
{
    const size_t chunks[] = {SIZE_MAX, 1, 3};
    for (size_t i = 0; i < 3; i++) {
        hub_buf trace = trace_of(bytes, chunks[i]);
        if (!hub_str_eq(hub_buf_str(&trace), expected)) {
            fail_msg("%s, chunks of %zu: got " HUB_STR_FMT ", not " HUB_STR_FMT, name, chunks[i],
                     HUB_STR_ARG(hub_buf_str(&trace)), HUB_STR_ARG(expected));
        }
        hub_buf_fini(&trace);
    }
}

/* ---- a table --------------------------------------------------------------------------------- */

typedef struct frame {
    unsigned first;
    const char *payload; /* NULL: no frame */
} frame;

typedef struct frame_case {
    const char *name;
    frame frames[6];
    const char *expected;
} frame_case;

static const frame_case CASES[] = {
    {"a message", {{WS_TEXT, "hello"}}, "Mhello;"},
    {"two messages", {{WS_TEXT, "one"}, {WS_TEXT, "two"}}, "Mone;Mtwo;"},
    {"an empty message", {{WS_TEXT, ""}}, "M;"},
    {"fragments", {{WS_TEXT_MORE, "a"}, {WS_CONTINUE_MORE, "b"}, {WS_CONTINUE_LAST, "c"}}, "Mabc;"},
    {"empty fragments", {{WS_TEXT_MORE, ""}, {WS_CONTINUE_MORE, ""}, {WS_CONTINUE_LAST, ""}}, "M;"},
    {"fragments, then a message",
     {{WS_TEXT_MORE, "a"}, {WS_CONTINUE_LAST, "b"}, {WS_TEXT, "c"}},
     "Mab;Mc;"},
    {"control frames between fragments",
     {{WS_TEXT_MORE, "a"},
      {WS_PING, "p"},
      {WS_CONTINUE_MORE, "b"},
      {WS_PONG, "o"},
      {WS_CONTINUE_LAST, "c"}},
     "Pp;Oo;Mabc;"},
    {"a close between fragments", {{WS_TEXT_MORE, "a"}, {WS_CLOSE, ""}, {WS_TEXT, "b"}}, "C;"},
    {"pings", {{WS_PING, ""}, {WS_PING, "payload"}}, "P;Ppayload;"},
    {"a pong that nobody asked for", {{WS_PONG, "x"}, {WS_TEXT, "m"}}, "Ox;Mm;"},
    {"nothing behind a close", {{WS_CLOSE, "\x03\xe8"}, {WS_TEXT, "m"}}, "C\x03\xe8;"},
    {"a close with a reason",
     {{WS_CLOSE, "\x03\xe8gr\xc3\xbc\xc3\x9f"}},
     "C\x03\xe8gr\xc3\xbc\xc3\x9f;"},
    {"a close with a bad reason", {{WS_CLOSE, "\x03\xe8gr\xfc"}}, "!1007"},
    {"a close with a cut reason", {{WS_CLOSE, "\x03\xe8gr\xc3"}}, "!1007"},
    {"a close of one byte", {{WS_CLOSE, "\x03"}}, "!1002"},
    {"a binary message", {{WS_BINARY, "x"}}, "!1003"},
    {"a binary fragment", {{0x02, "x"}}, "!1003"},
    {"a binary frame within a message", {{WS_TEXT_MORE, "a"}, {WS_BINARY, "b"}}, "!1003"},
    {"unmasked text", {{WS_TEXT | WS_NO_MASK, "x"}}, "!1002"},
    {"unmasked, empty", {{WS_TEXT | WS_NO_MASK, ""}}, "!1002"},
    {"an unmasked ping", {{WS_PING | WS_NO_MASK, ""}}, "!1002"},
    {"unmasked behind masked", {{WS_TEXT, "a"}, {WS_TEXT | WS_NO_MASK, "b"}}, "Ma;!1002"},
    {"a fragmented ping", {{0x09, "x"}}, "!1002"},
    {"a fragmented close", {{0x08, ""}}, "!1002"},
    {"a continuation of nothing", {{WS_CONTINUE_LAST, "x"}}, "!1002"},
    {"more of nothing", {{WS_CONTINUE_MORE, "x"}}, "!1002"},
    {"a continuation behind a whole message",
     {{WS_TEXT, "a"}, {WS_CONTINUE_LAST, "b"}},
     "Ma;!1002"},
    {"a continuation behind the last one",
     {{WS_TEXT_MORE, "a"}, {WS_CONTINUE_LAST, "b"}, {WS_CONTINUE_LAST, "c"}},
     "Mab;!1002"},
    {"a message within a message", {{WS_TEXT_MORE, "a"}, {WS_TEXT, "b"}}, "!1002"},
    {"a fragment within a message", {{WS_TEXT_MORE, "a"}, {WS_TEXT_MORE, "b"}}, "!1002"},
    {"UTF-8 over two fragments",
     {{WS_TEXT_MORE, "\xe2\x82"}, {WS_CONTINUE_LAST, "\xac"}},
     "M\xe2\x82\xac;"},
    {"UTF-8 over fragments and a ping",
     {{WS_TEXT_MORE, "\xf0"},
      {WS_PING, "\xff"},
      {WS_CONTINUE_MORE, "\x9f\x92"},
      {WS_CONTINUE_LAST, "\xa9"}},
     "P\xff;M\xf0\x9f\x92\xa9;"},
    {"UTF-8 that does not end", {{WS_TEXT, "\xe2\x82"}}, "!1007"},
    {"UTF-8 that does not end in the last fragment",
     {{WS_TEXT_MORE, "\xe2"}, {WS_CONTINUE_LAST, "\x82"}},
     "!1007"},
    {"a surrogate over two fragments",
     {{WS_TEXT_MORE, "\xed"}, {WS_CONTINUE_LAST, "\xa0\x80"}},
     "!1007"},
    {"bad UTF-8 in a fragment is not waited with",
     {{WS_TEXT_MORE, "a\xff"}, {WS_PING, ""}},
     "!1007"},
    {"UTF-8 of one message does not reach into the next",
     {{WS_TEXT, "\xc3\xbc"}, {WS_TEXT, "\xbc"}},
     "M\xc3\xbc;!1007"},
};

static void test_table(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        const frame_case *c = &CASES[i];
        hub_buf bytes;
        hub_buf_init(&bytes, SIZE_MAX / 2);
        for (size_t k = 0; k < 6 && c->frames[k].payload != NULL; k++) {
            ws_put(&bytes, c->frames[k].first, hub_str_of(c->frames[k].payload));
        }
        assert_trace(c->name, hub_buf_str(&bytes), hub_str_of(c->expected));
        hub_buf_fini(&bytes);
    }
}

/* Every first byte, alone: what it may be is known. */
static void test_first_bytes(void **state)
{
    (void)state;
    for (unsigned first = 0; first < 256; first++) {
        unsigned opcode = first & 0x0f;
        bool is_final = (first & WS_FIN) != 0;
        const char *expected = "!1002";
        if ((first & 0x70) != 0 || (opcode > 2 && opcode < 8) || opcode > 10 || opcode == 0) {
            expected = "!1002";
        } else if (opcode == 2) {
            expected = "!1003";
        } else if (opcode == 1) {
            expected = is_final ? "M;" : "";
        } else if (is_final) {
            expected = opcode == 8 ? "C;" : opcode == 9 ? "P;" : "O;";
        }
        char name[32];
        hub_buf bytes;
        hub_buf_init(&bytes, SIZE_MAX / 2);
        ws_put(&bytes, first, HUB_STR_EMPTY);
        (void)snprintf(name, sizeof name, "first byte %02x", first);
        assert_trace(name, hub_buf_str(&bytes), hub_str_of(expected));
        hub_buf_fini(&bytes);
    }
}

/* RFC 6455 section 7.4: which codes a close frame may have. */
static void test_close_codes(void **state)
{
    (void)state;
    for (unsigned code = 0; code <= 0xffff; code += code < 5100 ? 1 : 997) {
        bool is_fine = (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1011) ||
                       (code >= 3000 && code <= 4999);
        char payload[2] = {(char)(code >> 8), (char)code};
        hub_buf bytes;
        hub_buf_init(&bytes, SIZE_MAX / 2);
        ws_put(&bytes, WS_CLOSE, (hub_str){.ptr = payload, .len = 2});
        hub_buf trace = trace_of(hub_buf_str(&bytes), 1);
        bool is_taken =
            trace.len == 4 && trace.ptr[0] == 'C' && memcmp(trace.ptr + 1, payload, 2) == 0;
        if (code >= 1012 && code <= 1014) { /* registered since: a library may know them, or not */
            is_fine = is_taken;
        }
        if (is_taken != is_fine || (!is_fine && !hub_str_is(hub_buf_str(&trace), "!1002"))) {
            fail_msg("code %u: " HUB_STR_FMT, code, HUB_STR_ARG(hub_buf_str(&trace)));
        }
        hub_buf_fini(&trace);
        hub_buf_fini(&bytes);
    }
}

/* ---- UTF-8 ----------------------------------------------------------------------------------- */

static const char *const GOOD_TEXT[] = {
    "\x7f",         "\xc2\x80",         "\xdf\xbf",         "\xe0\xa0\x80",     "\xe1\x80\x80",
    "\xec\xbf\xbf", "\xed\x9f\xbf",     "\xee\x80\x80",     "\xef\xbf\xbf",     "\xef\xbb\xbf",
    "\xef\xbf\xbe", "\xf0\x90\x80\x80", "\xf1\x80\x80\x80", "\xf4\x8f\xbf\xbf", "\xf3\xbf\xbf\xbf",
};

static const char *const BAD_TEXT[] = {
    "\x80",
    "\xbf",
    "\xc0\x80",
    "\xc0\xaf",
    "\xc1\xbf",
    "\xc2",
    "\xc2\x7f",
    "\xc2\xc0",
    "\xe0\x80\xaf",
    "\xe0\x9f\xbf",
    "\xe1\x80",
    "\xe1\x80\xc0",
    "\xed\xa0\x80",
    "\xed\xaf\xbf",
    "\xed\xb0\x80",
    "\xed\xbf\xbf",
    "\xf0\x80\x80\xaf",
    "\xf0\x8f\xbf\xbf",
    "\xf1\x80\x80",
    "\xf4\x90\x80\x80",
    "\xf5\x80\x80\x80",
    "\xf8\x88\x80\x80\x80",
    "\xfc\x84\x80\x80\x80\x80",
    "\xfe",
    "\xff",
    "\xed\xa0\xbd\xed\xb2\xa9",
};

/* Whole, and in two fragments cut anywhere, with letters around it. */
static void check_text(const char *core, bool is_good)
{
    char text[32];
    char expected[48];
    int len = snprintf(text, sizeof text, "a%sz", core);
    (void)snprintf(expected, sizeof expected, "M%s;", text);
    for (int cut = -1; cut <= len; cut++) {
        hub_buf bytes;
        hub_buf_init(&bytes, SIZE_MAX / 2);
        if (cut < 0) {
            ws_put(&bytes, WS_TEXT, hub_str_of(text));
        } else {
            ws_put(&bytes, WS_TEXT_MORE, (hub_str){.ptr = text, .len = (size_t)cut});
            ws_put(&bytes, WS_CONTINUE_LAST, hub_str_from(hub_str_of(text), (size_t)cut));
        }
        assert_trace(core, hub_buf_str(&bytes), hub_str_of(is_good ? expected : "!1007"));
        hub_buf_fini(&bytes);
    }
    char reason[40]; /* the same as the reason of a close, which is checked, too */
    hub_buf bytes;
    hub_buf_init(&bytes, SIZE_MAX / 2);
    (void)snprintf(reason, sizeof reason, "\x03\xe8%s", text);
    (void)snprintf(expected, sizeof expected, "C%s;", reason);
    ws_put(&bytes, WS_CLOSE, hub_str_of(reason));
    assert_trace(core, hub_buf_str(&bytes), hub_str_of(is_good ? expected : "!1007"));
    hub_buf_fini(&bytes);
}

static void test_text(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof GOOD_TEXT / sizeof GOOD_TEXT[0]; i++) {
        check_text(GOOD_TEXT[i], true);
    }
    for (size_t i = 0; i < sizeof BAD_TEXT / sizeof BAD_TEXT[0]; i++) {
        check_text(BAD_TEXT[i], false);
    }
    hub_buf bytes; /* NUL is a character */
    hub_buf_init(&bytes, SIZE_MAX / 2);
    ws_put(&bytes, WS_TEXT, (hub_str){.ptr = "a\0z", .len = 3});
    assert_trace("NUL", hub_buf_str(&bytes), (hub_str){.ptr = "Ma\0z;", .len = 5});
    hub_buf_fini(&bytes);
}

/* ---- lengths --------------------------------------------------------------------------------- */

static const struct {
    unsigned first;
    unsigned bytes; /* of the length */
    uint64_t length;
    const char *expected; /* of the header alone, without its mask */
} LENGTHS[] = {
    {WS_TEXT, 0, 125, ""},
    {WS_TEXT, 2, 125, "!1002"}, /* not minimal */
    {WS_TEXT, 2, 0, "!1002"},
    {WS_TEXT, 2, 126, ""},
    {WS_TEXT, 2, MOST, ""},
    {WS_TEXT, 2, MOST + 1, "!1009"},
    {WS_TEXT, 2, 65535, "!1009"},
    {WS_TEXT, 8, 0, "!1002"},
    {WS_TEXT, 8, 125, "!1002"},
    {WS_TEXT, 8, 65535, "!1002"},
    {WS_TEXT, 8, 65536, "!1009"},
    {WS_TEXT, 8, 1ull << 32, "!1009"},
    {WS_TEXT, 8, (1ull << 32) + 5, "!1009"}, /* more than 32 bits are looked at */
    {WS_TEXT, 8, 1ull << 40, "!1009"},
    {WS_TEXT, 8, INT64_MAX, "!1009"},
    {WS_TEXT, 8, 1ull << 63, "!1002"},
    {WS_TEXT, 8, UINT64_MAX, "!1002"},
    {WS_TEXT_MORE, 8, 1ull << 40, "!1009"},
    {WS_CONTINUE_LAST, 0, 5, "!1002"}, /* nothing to be continued: known without its payload */
    {WS_PING, 0, 125, ""},
    {WS_PING, 2, 126, "!1002"},
    {WS_PONG, 2, 126, "!1002"},
    {WS_PING, 8, 1ull << 40, "!1002"},
    {WS_CLOSE, 2, 126, "!1002"},
    {WS_CLOSE, 0, 1, "!1002"},
    {WS_TEXT | WS_NO_MASK, 8, 1ull << 40, "!1002"},
};

/* W03: a header is judged when it is there, without a byte behind it; nothing is allocated for what
 * it announces (RELIABILITY C). */
static void test_lengths(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) {
        char name[64];
        hub_buf bytes;
        hub_buf_init(&bytes, SIZE_MAX / 2);
        ws_put_head(&bytes, LENGTHS[i].first, LENGTHS[i].bytes, LENGTHS[i].length);
        (void)snprintf(name, sizeof name, "length %llu in %u bytes",
                       (unsigned long long)LENGTHS[i].length, LENGTHS[i].bytes);
        assert_trace(name, hub_buf_str(&bytes), hub_str_of(LENGTHS[i].expected));
        hub_buf_fini(&bytes);
    }
    /* the first two bytes suffice where they tell */
    assert_trace("reserved bit", (hub_str){.ptr = "\xc1\xff", .len = 2}, HUB_STR("!1002"));
    assert_trace("no mask", (hub_str){.ptr = "\x81\x7f", .len = 2}, HUB_STR("!1002"));
    assert_trace("long ping", (hub_str){.ptr = "\x89\xfe", .len = 2}, HUB_STR("!1002"));
}

/* The limit is one of a message, in however many frames it comes. */
static void test_message_limit(void **state)
{
    (void)state;
    char text[MOST + 1];
    char expected[MOST + 3];
    memset(text, 'x', sizeof text);
    expected[0] = 'M';
    memcpy(expected + 1, text, MOST);
    memcpy(expected + 1 + MOST, ";", 2);
    for (size_t first = 0; first <= MOST; first += 250) {
        for (size_t extra = 0; extra < 2; extra++) {
            hub_buf bytes;
            hub_buf_init(&bytes, SIZE_MAX / 2);
            ws_put(&bytes, WS_TEXT_MORE, (hub_str){.ptr = text, .len = first});
            ws_put(&bytes, WS_PING, HUB_STR_EMPTY);
            ws_put(&bytes, WS_CONTINUE_LAST, (hub_str){.ptr = text, .len = MOST - first + extra});
            hub_buf trace = trace_of(hub_buf_str(&bytes), 100);
            hub_str got = hub_str_from(hub_buf_str(&trace), 2); /* "P;" */
            assert_true(extra == 0 ? hub_str_is(got, expected) : hub_str_is(got, "!1009"));
            hub_buf_fini(&trace);
            hub_buf_fini(&bytes);
        }
    }
}

/* W04: as many fragments as there may be, and one more; control frames do not count. */
static void test_fragment_limit(void **state)
{
    (void)state;
    for (size_t extra = 0; extra < 2; extra++) {
        hub_buf bytes;
        hub_buf_init(&bytes, SIZE_MAX / 2);
        ws_put(&bytes, WS_TEXT_MORE, HUB_STR_EMPTY);
        for (size_t i = 2; i < HUB_WEBSOCKET_LIMIT_FRAGMENTS + extra; i++) {
            ws_put(&bytes, WS_CONTINUE_MORE, HUB_STR_EMPTY);
            if (i % 100 == 0) {
                ws_put(&bytes, WS_PONG, HUB_STR_EMPTY);
            }
        }
        ws_put(&bytes, WS_CONTINUE_LAST, HUB_STR("x"));
        ws_put(&bytes, WS_TEXT, HUB_STR("y"));
        assert_trace("fragments", hub_buf_str(&bytes),
                     extra == 0 ? HUB_STR("O;O;O;O;O;O;O;O;O;O;Mx;My;")
                                : HUB_STR("O;O;O;O;O;O;O;O;O;O;!1008"));
        hub_buf_fini(&bytes);
    }
}

/* What the hub writes. */
static void test_heads_written(void **state)
{
    (void)state;
    static const struct {
        uint64_t length;
        size_t bytes;
        const char *head;
    } heads[] = {
        {0, 2, "\x81\x00"},
        {125, 2, "\x81\x7d"},
        {126, 4, "\x81\x7e\x00\x7e"},
        {65535, 4, "\x81\x7e\xff\xff"},
        {65536, 10, "\x81\x7f\x00\x00\x00\x00\x00\x01\x00\x00"},
        {0x123456789a, 10, "\x81\x7f\x00\x00\x00\x12\x34\x56\x78\x9a"},
    };
    for (size_t i = 0; i < sizeof heads / sizeof heads[0]; i++) {
        char head[10];
        assert_int_equal(hub_ws_head_write(HUB_WS_TEXT, heads[i].length, head), heads[i].bytes);
        assert_memory_equal(head, heads[i].head, heads[i].bytes);
    }
}

/* Memory is held only while something is under way. */
static void test_rest(void **state)
{
    (void)state;
    hub_ws_reader reader;
    hub_ws_event event;
    hub_buf bytes;
    hub_buf_init(&bytes, SIZE_MAX / 2);
    ws_put(&bytes, WS_TEXT_MORE, HUB_STR("a"));
    ws_put(&bytes, WS_PING, HUB_STR("b"));
    ws_put(&bytes, WS_CONTINUE_LAST, HUB_STR("c"));
    hub_ws_reader_init(&reader, MOST);
    hub_str rest = hub_buf_str(&bytes);
    while (rest.len > 0) {
        assert_int_equal(hub_ws_reader_next(&reader, (hub_str){.ptr = rest.ptr, .len = 1}, &event),
                         1);
        rest = hub_str_from(rest, 1);
        hub_ws_reader_rest(&reader);
        assert_int_equal(hub_ws_reader_is_amid(&reader), rest.len > 0);
        assert_int_equal(reader.frames != NULL, rest.len > 0);
    }
    assert_int_equal(event.kind, HUB_WS_EVENT_MESSAGE);
    hub_ws_reader_fini(&reader);
    hub_buf_fini(&bytes);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_table),          cmocka_unit_test(test_first_bytes),
        cmocka_unit_test(test_close_codes),    cmocka_unit_test(test_text),
        cmocka_unit_test(test_lengths),        cmocka_unit_test(test_message_limit),
        cmocka_unit_test(test_fragment_limit), cmocka_unit_test(test_heads_written),
        cmocka_unit_test(test_rest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
