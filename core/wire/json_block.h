/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the variants of wire/json_string.h share: the pass itself, written once for all, and the
 * tables that their instructions look up. Each variant is a file of its own, compiled for its
 * processor, that gives the operations on 64 bytes; all of it is inlined there.
 */
#ifndef HUB_WIRE_JSON_BLOCK_H
#define HUB_WIRE_JSON_BLOCK_H

#include "base/str.h"
#include "wire/json_string.h"

#include <stdint.h>

/* By half bytes: what may follow a backslash but u, and the hexadecimal digits. A byte is listed
 * when table[low half] and table[high half] share a bit; a byte that is not ASCII never is. */
static const uint8_t ESCAPED_LOW[16] = {
    [0x2] = 1 | 4 | 8, [0x4] = 8, [0x6] = 4, [0xc] = 2, [0xe] = 4, [0xf] = 1};
static const uint8_t ESCAPED_HIGH[16] = {[0x2] = 1, [0x5] = 2, [0x6] = 4, [0x7] = 8};
static const uint8_t HEX_LOW[16] = {1, 1 | 2, 1 | 2, 1 | 2, 1 | 2, 1 | 2, 1 | 2, 1, 1, 1};
static const uint8_t HEX_HIGH[16] = {[0x3] = 1, [0x4] = 2, [0x6] = 2};

/* UTF-8 after Keiser and Lemire, "Validating UTF-8 in less than one instruction per byte" (2020):
 * of two neighbouring bytes, the halves of the first and the upper half of the second tell every
 * mistake but a missing third or fourth byte. A bit is a kind of mistake; where all three tables
 * have it, it was made. */
enum {
    TOO_SHORT = 1 << 0,  /* a lead without a tail behind it */
    TOO_LONG = 1 << 1,   /* a tail behind ASCII */
    OVERLONG_3 = 1 << 2, /* e0 80..9f */
    TOO_LARGE = 1 << 3,  /* f4 90..bf, and f5..ff 90..bf */
    SURROGATE = 1 << 4,  /* ed a0..bf */
    OVERLONG_2 = 1 << 5, /* c0..c1 */
    OVERLONG_4 = 1 << 6, /* f0 80..8f; and f5..ff 80..8f, which is too large */
    TWO_TAILS = 1 << 7,  /* right when the byte before them leads three or four: compared later */
    ANY_LOW = TOO_SHORT | TOO_LONG | TWO_TAILS, /* these do not depend on the lower half */
};

static const uint8_t UTF8_FIRST_HIGH[16] = {
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TOO_LONG,
    TWO_TAILS,
    TWO_TAILS,
    TWO_TAILS,
    TWO_TAILS,
    TOO_SHORT | OVERLONG_2,
    TOO_SHORT,
    TOO_SHORT | OVERLONG_3 | SURROGATE,
    TOO_SHORT | TOO_LARGE | OVERLONG_4,
};
static const uint8_t UTF8_FIRST_LOW[16] = {
    ANY_LOW | OVERLONG_2 | OVERLONG_3 | OVERLONG_4,
    ANY_LOW | OVERLONG_2,
    ANY_LOW,
    ANY_LOW,
    ANY_LOW | TOO_LARGE,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4 | SURROGATE,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
    ANY_LOW | TOO_LARGE | OVERLONG_4,
};
static const uint8_t UTF8_SECOND_HIGH[16] = {
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_LONG | OVERLONG_2 | TWO_TAILS | OVERLONG_3 | OVERLONG_4,
    TOO_LONG | OVERLONG_2 | TWO_TAILS | OVERLONG_3 | TOO_LARGE,
    TOO_LONG | OVERLONG_2 | TWO_TAILS | SURROGATE | TOO_LARGE,
    TOO_LONG | OVERLONG_2 | TWO_TAILS | SURROGATE | TOO_LARGE,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
    TOO_SHORT,
};

/* Subtracted with saturation, these leave the highest bit to the leads of three or four, and to
 * those of four: a tail is due two bytes behind the first, and three behind the second. */
enum { LEAD_OF_3 = 0xe0 - 0x80, LEAD_OF_4 = 0xf0 - 0x80 };

/* What a processor does with the 64 bytes at `at`. A mask has the first byte lowest. */
typedef struct block_ops {
    uint64_t (*equal)(const char *at, char c);
    uint64_t (*high)(const char *at); /* not ASCII */
    uint64_t (*odd)(const char *at);  /* a quote, a control character, or not ASCII */
    uint64_t (*listed)(const char *at, const uint8_t low[16], const uint8_t high[16]);
    bool (*is_utf8)(const char *at); /* no malformed sequence ends here; looks three bytes back */
} block_ops;

/* The backslashes that begin an escape: in each run of backslashes the first, the third, … Adding
 * the first bit of a run to it carries through the whole run and clears it; that is done to runs
 * that begin at an odd place, so that there the odd bits are left over, and elsewhere the even. */
static inline uint64_t find_openers(uint64_t backslashes)
{
    const uint64_t odd = UINT64_C(0xaaaaaaaaaaaaaaaa);
    uint64_t firsts = backslashes & ~(backslashes << 1);
    return backslashes & (odd ^ (backslashes + (firsts & odd)));
}

/* The start of the character that the bytes before `at` do not complete, or `at`. */
static inline const char *before_unfinished(const char *at)
{
    for (int back = 1; back <= 3; back++) {
        unsigned char byte = (unsigned char)at[-back];
        if (byte >= 0xc0) {
            int length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
            return length > back ? at - back : at;
        }
        if (byte < 0x80) {
            break;
        }
    }
    return at;
}

/* How a pass goes. Kept by value in registers: everything below is inlined into one function. */
typedef struct block_pass {
    const char *at;
    uint64_t carry;   /* 1 when the first byte at `at` is escaped by the one before */
    uint64_t openers; /* of all blocks: not 0 when there was an escape */
    bool goes_on;     /* not at the closing quote, and not where something is wrong */
} block_pass;

/* What is wrong in a block besides UTF-8. `after` has the bytes behind an opener; sets `units` to
 * each u of an escape of six bytes. */
static HUB_ALWAYS_INLINE uint64_t find_wrong(const block_ops *ops, const char *at, uint64_t after,
                                             uint64_t *units)
{
    uint64_t wrong = ops->odd(at) & ~ops->equal(at, '"') & ~ops->high(at);
    uint64_t long_escapes = after & ~ops->listed(at, ESCAPED_LOW, ESCAPED_HIGH);
    *units = 0;
    if (long_escapes != 0) {
        *units = long_escapes & ops->equal(at, 'u');
        uint64_t digits = *units << 1 | *units << 2 | *units << 3 | *units << 4;
        wrong |= (long_escapes ^ *units) | (digits & ~ops->listed(at, HEX_LOW, HEX_HIGH));
    }
    return wrong;
}

/* Go on `step` bytes behind the start of a block without a quote; but where its end cuts an escape
 * of six bytes, before that. One that only goes on behind the step was read to its end here. */
static HUB_ALWAYS_INLINE block_pass step_on(block_pass pass, uint64_t openers, uint64_t units,
                                            unsigned step)
{
    uint64_t cut_units = units & ~(UINT64_MAX >> 4); /* in the last four bytes: digits missing */
    if (__builtin_expect(cut_units != 0, 0)) {
        unsigned unit = (unsigned)__builtin_ctzll(cut_units);
        pass.at += unit - 1;
        pass.carry = 0;
        return pass;
    }
    pass.at += step;
    pass.carry = openers >> (step - 1) & 1;
    return pass;
}

/* One block, looked at for everything; then on by `step` bytes, 1 to 64. */
static HUB_ALWAYS_INLINE block_pass pass_odd_block(const block_ops *ops, block_pass pass,
                                                   unsigned step)
{
    const char *at = pass.at;
    uint64_t units;
    uint64_t openers = find_openers(ops->equal(at, '\\') & ~pass.carry);
    uint64_t after = openers << 1 | pass.carry;
    uint64_t wrong = find_wrong(ops, at, after, &units);
    uint64_t quotes = ops->equal(at, '"') & ~after;
    uint64_t inside = quotes ^ (quotes - 1); /* up to the first, and that, too; or all */
    bool is_ascii = (ops->high(at) | ((unsigned char)at[-1] & 0x80)) == 0;
    pass.goes_on = false;
    if ((wrong & inside) != 0 || !(is_ascii || ops->is_utf8(at))) {
        return pass;
    }
    pass.openers |= openers & inside;
    if (quotes != 0) {
        pass.at += __builtin_ctzll(quotes);
        pass.carry = 0;
        return pass;
    }
    pass.goes_on = true;
    return step_on(pass, openers, units, step);
}

/* The pass of wire/json_string.h with these operations. The first step leads to where blocks do not
 * lie across lines of the cache. */
static HUB_ALWAYS_INLINE const char *pass_blocks(const block_ops *ops, const char *at,
                                                 const char *end, bool *escaped)
{
    if (end - at < HUB_JSON_BLOCK_BYTES) {
        return at;
    }
    const char *last = end - HUB_JSON_BLOCK_BYTES;
    unsigned step = HUB_JSON_BLOCK_BYTES - (unsigned)((uintptr_t)at % HUB_JSON_BLOCK_BYTES);
    block_pass pass = pass_odd_block(ops, (block_pass){.at = at}, step);
    while (pass.goes_on && pass.at <= last) {
        uint64_t backslashes = ops->equal(pass.at, '\\');
        uint64_t openers = find_openers(backslashes);
        uint64_t after = openers << 1 | pass.carry;
        uint64_t odd = (ops->odd(pass.at) & ~after) | (backslashes & pass.carry) |
                       (after & ~ops->listed(pass.at, ESCAPED_LOW, ESCAPED_HIGH));
        if (__builtin_expect(odd == 0, 1)) {
            pass.openers |= openers;
            pass.carry = openers >> 63;
            pass.at += HUB_JSON_BLOCK_BYTES;
            continue;
        }
        do { /* again as long as a character may go on in the next block */
            pass = pass_odd_block(ops, pass, HUB_JSON_BLOCK_BYTES);
        } while (pass.goes_on && ((unsigned char)pass.at[-1] & 0x80) != 0 && pass.at <= last);
    }
    *escaped |= pass.openers != 0;
    return pass.carry != 0 ? pass.at - 1 : before_unfinished(pass.at);
}

#endif
