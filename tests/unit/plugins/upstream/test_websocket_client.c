/* SPDX-License-Identifier: Apache-2.0 */
/* Frames from the client's side: RFC 6455, sections 5 to 8, and what is made of them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "plugins/upstream/remote/websocket_frames.h"

#define BYTES(text)                                                                                \
    {                                                                                              \
        .ptr = text, .len = sizeof(text) - 1                                                       \
    }
#define STR(text)    patchbay_str_make(text, sizeof(text) - 1)
#define COUNT(table) (sizeof(table) / sizeof *(table))

enum { MOST = 10 };

typedef struct heard {
    char text[256]; /* messages, each with a bar */
    ws_frames *frames;
    int stop_at; /* this many */
    int count;
} heard;

static void on_message(void *ctx, patchbay_str text)
{
    heard *h = ctx;
    size_t len = strlen(h->text);
    (void)snprintf(h->text + len, sizeof h->text - len, "%.*s|", (int)text.len,
                   text.ptr != NULL ? text.ptr : "");
    if (++h->count == h->stop_at) {
        ws_frames_stop(h->frames);
    }
}

/* Take a frame of ours apart: its opcode, and its payload unmasked in place. */
static unsigned unmask(char *bytes, size_t len, patchbay_str *ret_payload)
{
    const unsigned char *at = (const unsigned char *)bytes;
    size_t size = at[1] & 0x7f;
    size_t head = 2;
    assert_true(len >= 6);
    assert_int_equal(at[0] & 0xf0, 0x80);
    assert_int_equal(at[1] & 0x80, 0x80);
    if (size >= 126) {
        size_t count = size == 126 ? 2 : 8;
        size = 0;
        for (size_t i = 0; i < count; i++) {
            size = size << 8 | at[2 + i];
        }
        assert_true(size > (count == 2 ? 125 : 65535)); /* written with as few bytes as it needs */
        head += count;
    }
    assert_int_equal(len, head + 4 + size);
    for (size_t i = 0; i < size; i++) {
        bytes[head + 4 + i] = (char)(bytes[head + 4 + i] ^ bytes[head + i % 4]);
    }
    *ret_payload = patchbay_str_make(bytes + head + 4, size);
    return at[0] & 0x0f;
}

/* ---- writing ------------------------------------------------------------------------------- */

static void test_messages(void **state)
{
    static const size_t SIZES[] = {1, 125, 126, 127, 4095, 4096, 4097, 65535, 65536, 300000};
    ws_frames *frames = ws_frames_create(MOST, on_message, NULL);
    char *text = malloc(300000);
    (void)state;
    assert_non_null(frames);
    assert_non_null(text);
    for (size_t i = 0; i < 300000; i++) {
        text[i] = (char)('a' + i % 23);
    }
    for (size_t i = 0; i < COUNT(SIZES); i++) {
        size_t third = SIZES[i] / 3;
        const patchbay_str parts[] = {
            patchbay_str_make(text, third),
            patchbay_str_make(NULL, 0),
            patchbay_str_make(text + third, SIZES[i] - third),
        };
        patchbay_str payload;
        ws_chunk *chunk = ws_frames_message(frames, parts, COUNT(parts));
        assert_non_null(chunk);
        assert_int_equal(unmask(chunk->bytes, chunk->len, &payload), 1);
        assert_true(patchbay_str_eq(payload, patchbay_str_make(text, SIZES[i])));
        assert_int_equal(chunk->sent, 0);
        assert_null(chunk->next);
        free(chunk);
    }
    free(text);
    ws_frames_free(frames);
}

static void test_control_frames(void **state)
{
    ws_frames *frames = ws_frames_create(MOST, on_message, NULL);
    patchbay_str payload;
    (void)state;
    ws_chunk *ping = ws_frames_ping(frames);
    assert_int_equal(unmask(ping->bytes, ping->len, &payload), 9);
    assert_true(payload.len > 0);
    free(ping);
    ws_chunk *end = ws_frames_close(frames, 1000);
    assert_int_equal(unmask(end->bytes, end->len, &payload), 8);
    assert_true(patchbay_str_eq(payload, STR("\x03\xe8")));
    free(end);
    ws_frames_free(frames);
    ws_frames_free(NULL);
}

/* Section 5.3: a mask cannot be guessed from others. */
static void test_masks_differ(void **state)
{
    ws_frames *frames = ws_frames_create(MOST, on_message, NULL);
    char masks[64][4];
    (void)state;
    for (size_t i = 0; i < COUNT(masks); i++) {
        ws_chunk *ping = ws_frames_ping(frames);
        memcpy(masks[i], ping->bytes + 2, 4);
        for (size_t k = 0; k < i; k++) {
            assert_memory_not_equal(masks[i], masks[k], 4);
        }
        free(ping);
    }
    ws_frames_free(frames);
}

/* ---- reading ------------------------------------------------------------------------------- */

typedef struct outcome {
    const char *heard;
    int code;            /* 0: it goes on, or there was none */
    int by_server;       /* it has closed */
    const char *text;    /* of the end; NULL: it goes on */
    patchbay_str answer; /* opcode and payload of what was answered, in one */
} outcome;

static void expect_answers(ws_chunk *answers, patchbay_str expected)
{
    if (expected.len == 0) {
        assert_null(answers);
        return;
    }
    patchbay_str payload;
    assert_non_null(answers);
    assert_int_equal(unmask(answers->bytes, answers->len, &payload), expected.ptr[0]);
    assert_true(patchbay_str_eq(payload, patchbay_str_make(expected.ptr + 1, expected.len - 1)));
    free(answers);
}

/* In steps of so many bytes. */
static void expect_outcome(patchbay_str bytes, size_t step, const outcome *expected)
{
    heard h = {.text = ""};
    ws_frames_end end = {.code = 0};
    ws_chunk *answers = NULL;
    int goes_on = 1;
    h.frames = ws_frames_create(MOST, on_message, &h);
    for (size_t at = 0; goes_on && at < bytes.len; at += step) {
        size_t len = bytes.len - at < step ? bytes.len - at : step;
        ws_chunk *more = NULL;
        goes_on = ws_frames_read(h.frames, patchbay_str_make(bytes.ptr + at, len), &more, &end);
        assert_true(more == NULL || answers == NULL);
        answers = more != NULL ? more : answers;
    }
    assert_string_equal(h.text, expected->heard);
    assert_int_equal(goes_on, expected->text == NULL);
    assert_int_equal(end.code, expected->code);
    assert_int_equal(end.by_server, expected->by_server);
    assert_string_equal(end.text, expected->text != NULL ? expected->text : "");
    expect_answers(answers, expected->answer);
    ws_frames_free(h.frames);
}

#define BREAKS "breaks the WebSocket protocol"
#define LARGE  "sends a message that is too large (limits.upstream_message)"
#define UTF8   "sends text that is not UTF-8"
#define BINARY "sends binary messages: MCP has text only"

static const struct {
    patchbay_str bytes;
    outcome outcome;
} READINGS[] = {
    {BYTES("\x81\x05hello"), {.heard = "hello|"}},
    {BYTES("\x81\x00"), {.heard = "|"}},
    {BYTES("\x81\x01"
           "a\x81\x01"
           "b\x8a\x00\x81\x01"
           "c"),
     {.heard = "a|b|c|"}},
    {BYTES("\x81\x04 a "), {.heard = ""}}, /* it has not come whole */
    {BYTES("\x01\x01"
           "a\x00\x00\x00\x01"
           "b\x80\x01"
           "c"),
     {.heard = "abc|"}},
    {BYTES("\x01\x01"
           "a\x89\x02hi\x80\x01"
           "b"),
     {.heard = "ab|", .answer = BYTES("\x0ahi")}},
    {BYTES("\x89\x00"), {.heard = "", .answer = BYTES("\x0a")}},
    /* A character in two fragments. */
    {BYTES("\x01\x01\xc3\x80\x01\xbc"), {.heard = "\xc3\xbc|"}},
    /* The limit, in one and in pieces; whatever follows. */
    {BYTES("\x81\x0a"
           "0123456789"),
     {.heard = "0123456789|"}},
    {BYTES("\x81\x0b"
           "0123456789a"),
     {.heard = "", .code = 1009, .text = LARGE, .answer = BYTES("\x08\x03\xf1")}},
    {BYTES("\x01\x05"
           "01234\x80\x05"
           "56789\x81\x0a"
           "0123456789"),
     {.heard = "0123456789|0123456789|"}},
    {BYTES("\x01\x05"
           "01234\x80\x06"
           "56789a"),
     {.heard = "", .code = 1009, .text = LARGE, .answer = BYTES("\x08\x03\xf1")}},
    {BYTES("\x81\x7f\x7f\xff\xff\xff\xff\xff\xff\xff!"),
     {.heard = "", .code = 1009, .text = LARGE, .answer = BYTES("\x08\x03\xf1")}},
    /* The end. */
    {BYTES("\x88\x00"), {.heard = "", .by_server = 1, .text = "", .answer = BYTES("\x08")}},
    {BYTES("\x88\x02\x03\xe8\x81\x01"
           "a"),
     {.heard = "", .code = 1000, .by_server = 1, .text = "", .answer = BYTES("\x08\x03\xe8")}},
    {BYTES("\x81\x01"
           "a\x88\x06\x11\x31why?"),
     {.heard = "a|",
      .code = 4401,
      .by_server = 1,
      .text = "why?",
      .answer = BYTES("\x08\x11\x31why?")}},
    {BYTES("\x88\x07\x03\xe8\xe2\x82\xac\xc3\xbc"),
     {.heard = "",
      .code = 1000,
      .by_server = 1,
      .text = "\xe2\x82\xac\xc3\xbc",
      .answer = BYTES("\x08\x03\xe8\xe2\x82\xac\xc3\xbc")}},
    {BYTES("\x88\x02\x03\xed"), /* 1005 is never sent */
     {.heard = "", .code = 1002, .text = BREAKS, .answer = BYTES("\x08\x03\xea")}},
    {BYTES("\x88\x03\x03\xe8\xff"),
     {.heard = "", .code = 1007, .text = UTF8, .answer = BYTES("\x08\x03\xef")}},
    /* What is not allowed. */
    {BYTES("\x81\x81\x01\x02\x03\x04`"),
     {.heard = "", .code = 1002, .text = BREAKS, .answer = BYTES("\x08\x03\xea")}},
    {BYTES("\xc1\x01"
           "a"),
     {.heard = "", .code = 1002, .text = BREAKS, .answer = BYTES("\x08\x03\xea")}},
    {BYTES("\x83\x01"
           "a"),
     {.heard = "", .code = 1002, .text = BREAKS, .answer = BYTES("\x08\x03\xea")}},
    {BYTES("\x80\x01"
           "a"),
     {.heard = "", .code = 1002, .text = BREAKS, .answer = BYTES("\x08\x03\xea")}},
    {BYTES("\x01\x01"
           "a\x81\x01"
           "b"),
     {.heard = "", .code = 1002, .text = BREAKS, .answer = BYTES("\x08\x03\xea")}},
    {BYTES("\x09\x01"
           "a"),
     {.heard = "", .code = 1002, .text = BREAKS, .answer = BYTES("\x08\x03\xea")}},
    {BYTES("\x81\x7e\x00\x05hello"),
     {.heard = "", .code = 1002, .text = BREAKS, .answer = BYTES("\x08\x03\xea")}},
    {BYTES("\x82\x01"
           "a"),
     {.heard = "", .code = 1003, .text = BINARY, .answer = BYTES("\x08\x03\xeb")}},
    {BYTES("\x81\x01\xff"),
     {.heard = "", .code = 1007, .text = UTF8, .answer = BYTES("\x08\x03\xef")}},
    {BYTES("\x81\x01\xc3"),
     {.heard = "", .code = 1007, .text = UTF8, .answer = BYTES("\x08\x03\xef")}},
};

static void test_reading(void **state)
{
    (void)state;
    for (size_t i = 0; i < COUNT(READINGS); i++) {
        for (size_t step = 1; step <= READINGS[i].bytes.len; step++) {
            expect_outcome(READINGS[i].bytes, step, &READINGS[i].outcome);
        }
    }
}

/* Whoever gets a message may have enough: the rest is not told, and nothing is answered any more.
 */
static void test_stopping(void **state)
{
    static const char STREAM[] = "\x81\x01"
                                 "a\x81\x01"
                                 "b\x81\x01"
                                 "c\xff\xff";
    heard h = {.text = "", .stop_at = 2};
    ws_chunk *answers = NULL;
    ws_frames_end end;
    (void)state;
    h.frames = ws_frames_create(MOST, on_message, &h);
    assert_int_equal(ws_frames_read(h.frames, STR(STREAM), &answers, &end), 1);
    assert_string_equal(h.text, "a|b|");
    assert_null(answers);
    ws_frames_free(h.frames);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_messages),     cmocka_unit_test(test_control_frames),
        cmocka_unit_test(test_masks_differ), cmocka_unit_test(test_reading),
        cmocka_unit_test(test_stopping),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
