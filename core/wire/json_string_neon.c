/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_block.h"

#if defined(__aarch64__) && defined(__ARM_NEON)
#include <arm_neon.h>

enum { QUARTERS = 4, QUARTER_BYTES = 16 };

static inline uint8x16_t load(const char *at)
{
    return vld1q_u8((const uint8_t *)at);
}

/* A bit for each byte: all of its bits are set, or none. Eight neighbours are added to one byte. */
static inline uint64_t mask_of(const uint8x16_t quarters[QUARTERS])
{
    static const uint8_t BITS[16] = {1, 2, 4, 8, 16, 32, 64, 128, 1, 2, 4, 8, 16, 32, 64, 128};
    uint8x16_t bits = vld1q_u8(BITS);
    uint8x16_t first = vpaddq_u8(vandq_u8(quarters[0], bits), vandq_u8(quarters[1], bits));
    uint8x16_t second = vpaddq_u8(vandq_u8(quarters[2], bits), vandq_u8(quarters[3], bits));
    uint8x16_t sums = vpaddq_u8(first, second);
    sums = vpaddq_u8(sums, sums);
    return vgetq_lane_u64(vreinterpretq_u64_u8(sums), 0);
}

static inline uint64_t equal(const char *at, char c)
{
    uint8x16_t found[QUARTERS];
    for (int i = 0; i < QUARTERS; i++) {
        found[i] = vceqq_u8(load(at + i * QUARTER_BYTES), vdupq_n_u8((uint8_t)c));
    }
    return mask_of(found);
}

static inline uint64_t high(const char *at)
{
    uint8x16_t found[QUARTERS];
    for (int i = 0; i < QUARTERS; i++) {
        found[i] = vcgeq_u8(load(at + i * QUARTER_BYTES), vdupq_n_u8(0x80));
    }
    return mask_of(found);
}

static inline uint64_t odd(const char *at)
{
    uint8x16_t found[QUARTERS];
    for (int i = 0; i < QUARTERS; i++) {
        uint8x16_t bytes = load(at + i * QUARTER_BYTES);
        uint8x16_t outside =
            vorrq_u8(vcltq_u8(bytes, vdupq_n_u8(' ')), vcgeq_u8(bytes, vdupq_n_u8(0x80)));
        found[i] = vorrq_u8(outside, vceqq_u8(bytes, vdupq_n_u8('"')));
    }
    return mask_of(found);
}

static inline uint8x16_t lower_half(uint8x16_t bytes)
{
    return vandq_u8(bytes, vdupq_n_u8(0x0f));
}

static inline uint64_t listed(const char *at, const uint8_t low[16], const uint8_t high_half[16])
{
    uint8x16_t lows = vld1q_u8(low);
    uint8x16_t highs = vld1q_u8(high_half); /* 0 for what is not ASCII */
    uint8x16_t found[QUARTERS];
    for (int i = 0; i < QUARTERS; i++) {
        uint8x16_t bytes = load(at + i * QUARTER_BYTES);
        found[i] =
            vtstq_u8(vqtbl1q_u8(lows, lower_half(bytes)), vqtbl1q_u8(highs, vshrq_n_u8(bytes, 4)));
    }
    return mask_of(found);
}

/* 0 in each byte at which no mistake shows. */
static inline uint8x16_t utf8_mistakes(const char *at)
{
    uint8x16_t first = load(at - 1);
    uint8x16_t second_high = vshrq_n_u8(load(at), 4);
    uint8x16_t kinds = vandq_u8(vqtbl1q_u8(vld1q_u8(UTF8_FIRST_HIGH), vshrq_n_u8(first, 4)),
                                vqtbl1q_u8(vld1q_u8(UTF8_FIRST_LOW), lower_half(first)));
    kinds = vandq_u8(kinds, vqtbl1q_u8(vld1q_u8(UTF8_SECOND_HIGH), second_high));
    uint8x16_t due = vorrq_u8(vqsubq_u8(load(at - 2), vdupq_n_u8(LEAD_OF_3)),
                              vqsubq_u8(load(at - 3), vdupq_n_u8(LEAD_OF_4)));
    return veorq_u8(vandq_u8(due, vdupq_n_u8(TWO_TAILS)), kinds);
}

static inline bool is_utf8(const char *at)
{
    uint8x16_t mistakes = vdupq_n_u8(0);
    for (int i = 0; i < QUARTERS; i++) {
        mistakes = vorrq_u8(mistakes, utf8_mistakes(at + i * QUARTER_BYTES));
    }
    return vmaxvq_u8(mistakes) == 0;
}

static const block_ops OPS = {equal, high, odd, listed, is_utf8};

const char *hub_json_string_neon(const char *at, const char *end, bool *escaped)
{
    return pass_blocks(&OPS, at, end, escaped);
}
#endif
