/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_readable.h"

#include "tools/definition_text.h"
#include "wire/json_scan.h"

#include <math.h>

/* A number of so many bytes without an exponent is finite: the largest double has 309 digits. */
enum { SURELY_FINITE = 308 };

/* Behind a backslash there is an escape: JSON has none outside of strings. */
static bool has_half_pair(hub_str json)
{
    const char *end = json.ptr + json.len;
    const char *at = memchr(json.ptr, '\\', json.len);
    while (at != NULL) {
        hub_text_reader reader = {.at = at, .end = end};
        uint32_t code = hub_text_next(&reader);
        if (code >= 0xd800 && code <= 0xdfff) {
            return true;
        }
        at = memchr(reader.at, '\\', (size_t)(end - reader.at));
    }
    return false;
}

/* Pass over a number. False when it is none to a parser that makes a double of it. */
static bool pass_number(const char **at, const char *end)
{
    const char *begin = *at;
    const char *next = begin;
    bool has_exponent = false;
    double number;
    while (next < end && (hub_json_is_digit(*next) || strchr(".eE+-", *next) != NULL)) {
        has_exponent = has_exponent || (*next | 0x20) == 'e';
        next++;
    }
    *at = next;
    return (!has_exponent && next - begin <= SURELY_FINITE) ||
           (hub_json_to_double(hub_str_between(begin, next), &number) && isfinite(number));
}

/* Behind the quote that ends a string; `at` is behind the one that begins it. */
static const char *pass_text(const char *at, const char *end)
{
    while ((at = hub_json_skip_plain(at, end)) < end && *at != '"') {
        at += *at == '\\' && end - at > 1 ? 2 : 1;
    }
    return at < end ? at + 1 : end;
}

static bool has_infinite_number(hub_str json)
{
    const char *end = json.ptr + json.len;
    for (const char *at = json.ptr; at < end;) {
        if (*at == '"') {
            at = pass_text(at + 1, end);
        } else if (!hub_json_is_digit(*at)) {
            at++;
        } else if (!pass_number(&at, end)) {
            return true;
        }
    }
    return false;
}

/* Whether a digit stands before an `e` or `E`, as in a number with an exponent, anywhere. */
static bool has_exponent(hub_str json)
{
    const char *end = json.ptr + json.len;
    const char *at = json.ptr + (json.len > 0 ? 1 : 0);
#ifdef HUB_JSON_SSE2
    for (; end - at >= 16; at += 16) {
        __m128i bytes = _mm_loadu_si128((const __m128i *)(const void *)at);
        __m128i before = _mm_loadu_si128((const __m128i *)(const void *)(at - 1));
        __m128i marks =
            _mm_cmpeq_epi8(_mm_or_si128(bytes, _mm_set1_epi8(0x20)), _mm_set1_epi8('e'));
        __m128i digits = _mm_and_si128(_mm_cmpgt_epi8(before, _mm_set1_epi8('0' - 1)),
                                       _mm_cmplt_epi8(before, _mm_set1_epi8('9' + 1)));
        if (_mm_movemask_epi8(_mm_and_si128(marks, digits)) != 0) {
            return true;
        }
    }
#endif
    for (; at < end; at++) {
        if ((*at | 0x20) == 'e' && hub_json_is_digit(at[-1])) {
            return true;
        }
    }
    return false;
}

/* Whether it may have an infinite number: one with an exponent, or with so many digits that there is one
 * at one of these places. Few have either, and to find each number takes five times as long. */
static bool may_have_infinite_number(hub_str json)
{
    for (size_t i = SURELY_FINITE; i < json.len; i += SURELY_FINITE + 1) {
        if (hub_json_is_digit(json.ptr[i])) {
            return true;
        }
    }
    return has_exponent(json);
}

const char *hub_definition_unreadable(hub_str json)
{
    if (has_half_pair(json)) {
        return "it has half of a surrogate pair, which clients cannot read";
    }
    return may_have_infinite_number(json) && has_infinite_number(json)
               ? "it has a number beyond 1.8e308, which clients cannot read"
               : NULL;
}
