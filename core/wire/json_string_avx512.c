/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_block.h"

#if defined(__AVX512BW__)
#include <immintrin.h>

static inline __m512i load(const char *at)
{
    return _mm512_loadu_si512((const void *)at);
}

/* Keeps a constant in its register: compilers would rather make it again for each block. */
static inline __m512i keep(__m512i constant)
{
    __asm__("" : "+v"(constant));
    return constant;
}

static inline __m512i every(int byte)
{
    return keep(_mm512_set1_epi8((char)byte));
}

static inline __m512i load_table(const uint8_t table[16])
{
    return keep(_mm512_broadcast_i32x4(_mm_loadu_si128((const __m128i *)(const void *)table)));
}

static inline uint64_t equal(const char *at, char c)
{
    return _mm512_cmpeq_epi8_mask(load(at), every(c));
}

static inline uint64_t high(const char *at)
{
    return _mm512_movepi8_mask(load(at));
}

/* With one bit turned, a quote is the neighbour of the control characters, and nothing else is;
 * compared with signs, what is not ASCII is below all of them. */
static inline uint64_t odd(const char *at)
{
    return _mm512_cmplt_epi8_mask(_mm512_xor_si512(load(at), every('"' ^ ' ')), every(' ' + 1));
}

static inline __m512i upper_half(__m512i bytes)
{
    return _mm512_and_si512(_mm512_srli_epi16(bytes, 4), every(0x0f));
}

static inline uint64_t listed(const char *at, const uint8_t low[16], const uint8_t high_half[16])
{
    __m512i bytes = load(at); /* as an index, what is not ASCII gives 0 */
    return _mm512_test_epi8_mask(_mm512_shuffle_epi8(load_table(low), bytes),
                                 _mm512_shuffle_epi8(load_table(high_half), upper_half(bytes)));
}

static inline bool is_utf8(const char *at)
{
    __m512i first = load(at - 1);
    __m512i kinds = _mm512_and_si512(
        _mm512_and_si512(
            _mm512_shuffle_epi8(load_table(UTF8_FIRST_HIGH), upper_half(first)),
            _mm512_shuffle_epi8(load_table(UTF8_FIRST_LOW), _mm512_and_si512(first, every(0x0f)))),
        _mm512_shuffle_epi8(load_table(UTF8_SECOND_HIGH), upper_half(load(at))));
    __m512i due = _mm512_or_si512(_mm512_subs_epu8(load(at - 2), every(LEAD_OF_3)),
                                  _mm512_subs_epu8(load(at - 3), every(LEAD_OF_4)));
    due = _mm512_and_si512(due, every(TWO_TAILS));
    return _mm512_cmpneq_epi8_mask(due, kinds) == 0;
}

static const block_ops OPS = {equal, high, odd, listed, is_utf8};

const char *hub_json_string_avx512(const char *at, const char *end, bool *escaped)
{
    return pass_blocks(&OPS, at, end, escaped);
}
#endif
