/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_block.h"

#if defined(__AVX2__)
#include <immintrin.h>

static inline __m256i load(const char *at)
{
    return _mm256_loadu_si256((const __m256i *)(const void *)at);
}

/* Keeps a constant in its register: compilers would rather make it again for each block. */
static inline __m256i keep(__m256i constant)
{
    __asm__("" : "+x"(constant));
    return constant;
}

static inline __m256i every(int byte)
{
    return keep(_mm256_set1_epi8((char)byte));
}

static inline __m256i load_table(const uint8_t table[16])
{
    return keep(_mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)(const void *)table)));
}

/* The highest bit of each byte. */
static inline uint64_t mask_of(__m256i first, __m256i second)
{
    return (uint32_t)_mm256_movemask_epi8(first) | (uint64_t)(uint32_t)_mm256_movemask_epi8(second)
                                                       << 32;
}

static inline uint64_t equal(const char *at, char c)
{
    __m256i wanted = every(c);
    return mask_of(_mm256_cmpeq_epi8(load(at), wanted), _mm256_cmpeq_epi8(load(at + 32), wanted));
}

static inline uint64_t high(const char *at)
{
    return mask_of(load(at), load(at + 32));
}

/* With one bit turned, a quote is the neighbour of the control characters, and nothing else is;
 * compared with signs, what is not ASCII is below all of them. */
static inline __m256i odd_half(const char *at)
{
    return _mm256_cmpgt_epi8(every(' ' + 1), _mm256_xor_si256(load(at), every('"' ^ ' ')));
}

static inline uint64_t odd(const char *at)
{
    return mask_of(odd_half(at), odd_half(at + 32));
}

static inline __m256i upper_half(__m256i bytes)
{
    return _mm256_and_si256(_mm256_srli_epi16(bytes, 4), every(0x0f));
}

static inline __m256i listed_half(const char *at, __m256i low, __m256i high_half)
{
    __m256i bytes = load(at); /* as an index, what is not ASCII gives 0 */
    __m256i shared = _mm256_and_si256(_mm256_shuffle_epi8(low, bytes),
                                      _mm256_shuffle_epi8(high_half, upper_half(bytes)));
    return _mm256_cmpgt_epi8(shared, _mm256_setzero_si256());
}

static inline uint64_t listed(const char *at, const uint8_t low[16], const uint8_t high_half[16])
{
    __m256i lows = load_table(low);
    __m256i highs = load_table(high_half);
    return mask_of(listed_half(at, lows, highs), listed_half(at + 32, lows, highs));
}

/* 0 in each byte at which no mistake shows. */
static inline __m256i utf8_mistakes(const char *at)
{
    __m256i first = load(at - 1);
    __m256i kinds = _mm256_and_si256(
        _mm256_and_si256(
            _mm256_shuffle_epi8(load_table(UTF8_FIRST_HIGH), upper_half(first)),
            _mm256_shuffle_epi8(load_table(UTF8_FIRST_LOW), _mm256_and_si256(first, every(0x0f)))),
        _mm256_shuffle_epi8(load_table(UTF8_SECOND_HIGH), upper_half(load(at))));
    __m256i due = _mm256_or_si256(_mm256_subs_epu8(load(at - 2), every(LEAD_OF_3)),
                                  _mm256_subs_epu8(load(at - 3), every(LEAD_OF_4)));
    return _mm256_xor_si256(_mm256_and_si256(due, every(TWO_TAILS)), kinds);
}

static inline bool is_utf8(const char *at)
{
    __m256i mistakes = _mm256_or_si256(utf8_mistakes(at), utf8_mistakes(at + 32));
    return _mm256_testz_si256(mistakes, mistakes) != 0;
}

static const block_ops OPS = {equal, high, odd, listed, is_utf8};

const char *hub_json_string_avx2(const char *at, const char *end, bool *escaped)
{
    return pass_blocks(&OPS, at, end, escaped);
}
#endif
