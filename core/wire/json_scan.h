/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The one pass over JSON text on which wire/ stands, and the byte-level helpers around it. The pass
 * checks grammar, UTF-8 and limits and, on the way, records the values of watched members near the
 * root. Internal to wire/: everybody else includes json.h or message.h. Pure functions, any thread.
 */
#ifndef HUB_WIRE_JSON_SCAN_H
#define HUB_WIRE_JSON_SCAN_H

#include "wire/json.h"

/* Short runs of plain text are passed over right here; the insides of long strings by what
 * wire/json_string.h chooses. HUB_JSON_PORTABLE switches this part of the vector code off, so that
 * the other path can be tested. */
#if defined(__SSE2__) && !defined(HUB_JSON_PORTABLE)
#include <emmintrin.h>
#define HUB_JSON_SSE2 1
#endif

/* Members are watched in objects down to this depth; the root object is depth 1. */
enum { HUB_JSON_WATCHED_DEPTH = 3 };

/* Watched objects are numbered: 0 is an object that nobody watches, 1 is the root object. */
enum { HUB_JSON_UNWATCHED = 0, HUB_JSON_ROOT = 1 };

/* A member whose value is recorded. */
typedef struct hub_json_member {
    hub_str key;
    uint8_t inside; /* the number that its value gets when that is an object */
} hub_json_member;

/* The members to look for in one object: a slice of the table below. */
typedef struct hub_json_members {
    uint8_t first;
    uint8_t count;
} hub_json_members;

/* How nearly all texts of a kind begin: with the root object, one member whose value is a scalar, and
 * the key and colon of another one. Reading that byte for byte takes many times as long as comparing
 * it. */
typedef struct hub_json_start {
    hub_str bytes;   /* HUB_JSON_START_LEAST … HUB_JSON_START_MOST */
    hub_str value;   /* of the first member: the slice of `bytes` */
    uint8_t member;  /* the first, … */
    uint8_t follows; /* … and the one whose value is behind */
} hub_json_start;

enum { HUB_JSON_START_LEAST = 16, HUB_JSON_START_MOST = 24 };

typedef struct hub_json_watch {
    const hub_json_start *start;     /* NULL: nothing is known of how texts begin */
    const hub_json_member *members;  /* at most 64; a member's place here is its name below */
    const hub_json_members *objects; /* by the object's number */
    hub_str *at;                     /* by place: the raw value; empty before */
    uint64_t repeated;               /* bit by place: occurred again; 0 before */
} hub_json_watch;

/* hub_json_check, with `watch` (may be NULL) filled on the way. A member is recorded when its value
 * and the delimiter behind it were read, also when the text turns out to be broken later; of a
 * member that occurs again the first value stays. */
HUB_MUST_CHECK hub_err hub_json_scan(hub_str text, hub_json_watch *watch, hub_str *ret_value,
                                     hub_error *reterr);

static inline bool hub_json_is_space(char c)
{
    return c == ' ' || c == '\n' || c == '\r' || c == '\t';
}

static inline bool hub_json_is_digit(char c)
{
    return c >= '0' && c <= '9';
}

/* Bytes that stand for themselves inside a string: ASCII but quote, backslash and controls. */
static inline bool hub_json_is_plain(char c)
{
    return c >= ' ' && (unsigned char)c < 0x80 && c != '"' && c != '\\';
}

/* Whether all eight bytes are plain. May deny it wrongly, never affirm it wrongly: it is only asked
 * to take a shortcut. */
static inline bool hub_json_all_plain(uint64_t bytes)
{
    const uint64_t ones = UINT64_C(0x0101010101010101);
    const uint64_t highs = ones << 7;
    uint64_t quotes = bytes ^ ones * '"';
    uint64_t backslashes = bytes ^ ones * '\\';
    /* Subtracting borrows into the high bit of a byte that was smaller: below ' ', or zero. */
    uint64_t special = (bytes - ones * ' ') | (quotes - ones) | (backslashes - ones) | bytes;
    return (special & highs) == 0;
}

#ifdef HUB_JSON_SSE2
/* 0xff for each of the sixteen bytes at `at` that is not plain. */
static inline __m128i hub_json_marks(const char *at)
{
    __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
    __m128i low = _mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')); /* signed: from 0x80 on, too */
    __m128i quotes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"'));
    __m128i backslashes = _mm_cmpeq_epi8(bytes, _mm_set1_epi8('\\'));
    return _mm_or_si128(low, _mm_or_si128(quotes, backslashes));
}

/* Whether the 64 bytes at `at` are plain. */
static inline bool hub_json_is_long_plain(const char *at)
{
    __m128i first = _mm_or_si128(hub_json_marks(at), hub_json_marks(at + 16));
    __m128i last = _mm_or_si128(hub_json_marks(at + 32), hub_json_marks(at + 48));
    return _mm_movemask_epi8(_mm_or_si128(first, last)) == 0;
}
#endif

/* The first byte from `at` that is not plain, or `end`. */
static inline const char *hub_json_skip_plain(const char *at, const char *end)
{
#ifdef HUB_JSON_SSE2
    for (; end - at >= 16; at += 16) {
        unsigned mask = (unsigned)_mm_movemask_epi8(hub_json_marks(at));
        if (mask != 0) {
            return at + __builtin_ctz(mask);
        }
        while (end - at >= 16 + 64 && hub_json_is_long_plain(at + 16)) { /* few are so long */
            at += 64;
        }
    }
#endif
    for (uint64_t bytes; end - at >= 8; at += 8) {
        memcpy(&bytes, at, sizeof bytes);
        if (!hub_json_all_plain(bytes)) {
            break;
        }
    }
    while (at < end && hub_json_is_plain(*at)) {
        at++;
    }
    return at;
}

static inline const char *hub_json_skip_space(const char *at, const char *end)
{
    while (at < end && (unsigned char)*at <= ' ' && hub_json_is_space(*at)) { /* mostly at once */
        at++;
    }
    return at;
}

static inline bool hub_json_is_utf8_tail(unsigned char byte)
{
    return (byte & 0xc0) == 0x80;
}

/* The length of the well-formed UTF-8 sequence of two to four bytes that starts at `at` (before
 * `end`), or 0: overlong forms, surrogates and what lies above U+10FFFF are not well-formed. */
static inline size_t hub_json_utf8_length(const char *at, const char *end)
{
    const unsigned char *bytes = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    unsigned char lead = bytes[0];
    if (lead < 0xe0) {
        return lead >= 0xc2 && left >= 2 && hub_json_is_utf8_tail(bytes[1]) ? 2 : 0;
    }
    if (left < 3 || !hub_json_is_utf8_tail(bytes[1]) || !hub_json_is_utf8_tail(bytes[2])) {
        return 0;
    }
    if (lead < 0xf0) {
        bool overlong = lead == 0xe0 && bytes[1] < 0xa0;
        bool surrogate = lead == 0xed && bytes[1] >= 0xa0;
        return overlong || surrogate ? 0 : 3;
    }
    if (lead > 0xf4 || left < 4 || !hub_json_is_utf8_tail(bytes[3])) {
        return 0;
    }
    bool overlong = lead == 0xf0 && bytes[1] < 0x90;
    bool too_high = lead == 0xf4 && bytes[1] >= 0x90;
    return overlong || too_high ? 0 : 4;
}

#endif
