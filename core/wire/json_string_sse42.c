/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_block.h"

#if defined(__SSE4_2__)
#include <nmmintrin.h>

enum { QUARTERS = 4, QUARTER_BYTES = 16 };

static inline __m128i load(const char *at)
{
    return _mm_loadu_si128((const __m128i *)(const void *)at);
}

static inline __m128i load_table(const uint8_t table[16])
{
    return _mm_loadu_si128((const __m128i *)(const void *)table);
}

/* The highest bit of each byte. */
static inline uint64_t mask_of(const __m128i quarters[QUARTERS])
{
    return (uint64_t)(unsigned)_mm_movemask_epi8(quarters[0]) |
           (uint64_t)(unsigned)_mm_movemask_epi8(quarters[1]) << 16 |
           (uint64_t)(unsigned)_mm_movemask_epi8(quarters[2]) << 32 |
           (uint64_t)(unsigned)_mm_movemask_epi8(quarters[3]) << 48;
}

static inline uint64_t equal(const char *at, char c)
{
    __m128i found[QUARTERS];
    for (int i = 0; i < QUARTERS; i++) {
        found[i] = _mm_cmpeq_epi8(load(at + i * QUARTER_BYTES), _mm_set1_epi8(c));
    }
    return mask_of(found);
}

static inline uint64_t high(const char *at)
{
    __m128i found[QUARTERS];
    for (int i = 0; i < QUARTERS; i++) {
        found[i] = load(at + i * QUARTER_BYTES);
    }
    return mask_of(found);
}

static inline uint64_t odd(const char *at)
{
    __m128i found[QUARTERS];
    for (int i = 0; i < QUARTERS; i++) {
        __m128i bytes = load(at + i * QUARTER_BYTES); /* with signs: what is not ASCII is low */
        found[i] = _mm_or_si128(_mm_cmplt_epi8(bytes, _mm_set1_epi8(' ')),
                                _mm_cmpeq_epi8(bytes, _mm_set1_epi8('"')));
    }
    return mask_of(found);
}

static inline __m128i upper_half(__m128i bytes)
{
    return _mm_and_si128(_mm_srli_epi16(bytes, 4), _mm_set1_epi8(0x0f));
}

static inline uint64_t listed(const char *at, const uint8_t low[16], const uint8_t high_half[16])
{
    __m128i lows = load_table(low);
    __m128i highs = load_table(high_half);
    __m128i found[QUARTERS];
    for (int i = 0; i < QUARTERS; i++) {
        __m128i bytes = load(at + i * QUARTER_BYTES); /* as an index, what is not ASCII gives 0 */
        __m128i shared = _mm_and_si128(_mm_shuffle_epi8(lows, bytes),
                                       _mm_shuffle_epi8(highs, upper_half(bytes)));
        found[i] = _mm_cmpgt_epi8(shared, _mm_setzero_si128());
    }
    return mask_of(found);
}

/* 0 in each byte at which no mistake shows. */
static inline __m128i utf8_mistakes(const char *at)
{
    __m128i first = load(at - 1);
    __m128i kinds = _mm_and_si128(
        _mm_and_si128(_mm_shuffle_epi8(load_table(UTF8_FIRST_HIGH), upper_half(first)),
                      _mm_shuffle_epi8(load_table(UTF8_FIRST_LOW),
                                       _mm_and_si128(first, _mm_set1_epi8(0x0f)))),
        _mm_shuffle_epi8(load_table(UTF8_SECOND_HIGH), upper_half(load(at))));
    __m128i due = _mm_or_si128(_mm_subs_epu8(load(at - 2), _mm_set1_epi8(LEAD_OF_3)),
                               _mm_subs_epu8(load(at - 3), _mm_set1_epi8(LEAD_OF_4)));
    return _mm_xor_si128(_mm_and_si128(due, _mm_set1_epi8((char)TWO_TAILS)), kinds);
}

static inline bool is_utf8(const char *at)
{
    __m128i mistakes = _mm_setzero_si128();
    for (int i = 0; i < QUARTERS; i++) {
        mistakes = _mm_or_si128(mistakes, utf8_mistakes(at + i * QUARTER_BYTES));
    }
    return _mm_testz_si128(mistakes, mistakes) != 0;
}

static const block_ops OPS = {equal, high, odd, listed, is_utf8};

const char *hub_json_string_sse42(const char *at, const char *end, bool *escaped)
{
    return pass_blocks(&OPS, at, end, escaped);
}
#endif
