/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json.h"

#include "wire/json_scan.h"

#include <inttypes.h>
#include <locale.h>
#include <stdio.h>
#include <stdlib.h>

/* Digits that can decide which double is nearest (767 do); the rest is only "a bit more". */
enum {
    SIGNIFICANT_DIGITS = 800,
    EXPONENT_BYTES = 24, /* "e-" and 19 digits and the NUL */
    DECIMAL_BYTES = 1 + SIGNIFICANT_DIGITS + 1 + EXPONENT_BYTES,
};

/* Exponents beyond this are 0 or infinity with any mantissa that fits into memory. */
static const int64_t EXPONENT_MAX = INT64_C(1) << 60;

static const char *const TYPE_NAMES[] = {
    [HUB_JSON_NONE] = "none",     [HUB_JSON_NULL] = "null",     [HUB_JSON_TRUE] = "boolean",
    [HUB_JSON_FALSE] = "boolean", [HUB_JSON_NUMBER] = "number", [HUB_JSON_STRING] = "string",
    [HUB_JSON_ARRAY] = "array",   [HUB_JSON_OBJECT] = "object",
};

/* `at` is at the opening quote; returns behind the closing one. */
static const char *skip_string(const char *at, const char *end)
{
    at++;
    for (;;) {
        at = hub_json_skip_plain(at, end);
        if (at == end) {
            return end;
        }
        if (*at == '"') {
            return at + 1;
        }
        at++;
        if (at[-1] == '\\') {
            at += at < end;
            continue;
        }
        while (at < end && (unsigned char)*at >= 0x80) {
            at++;
        }
    }
}

/* `at` is at a bracket; returns behind the one that closes it. */
static const char *skip_container(const char *at, const char *end)
{
    size_t depth = 0;
    while (at < end) {
        switch (*at) {
        case '"':
            at = skip_string(at, end);
            continue;
        case '{':
        case '[':
            depth++;
            break;
        case '}':
        case ']':
            if (--depth == 0) {
                return at + 1;
            }
            break;
        default:
            break;
        }
        at++;
    }
    return end;
}

static const char *skip_value(const char *at, const char *end)
{
    switch (*at) {
    case '"':
        return skip_string(at, end);
    case '{':
    case '[':
        return skip_container(at, end);
    default:
        while (at < end && *at != ',' && *at != '}' && !hub_json_is_space(*at)) {
            at++; /* '}': of an object that was entered */
        }
        return at;
    }
}

enum { SAFE_DIGITS = 19 }; /* a number of so many is below 2^64 */

/* The digits of an integer; false when there is another character or it does not fit. */
static bool read_magnitude(hub_str digits, uint64_t *ret_number)
{
    uint64_t number = 0;
    size_t i = 0;
    for (; i < digits.len && i < SAFE_DIGITS; i++) {
        uint64_t digit = (uint64_t)(unsigned char)digits.ptr[i] - '0';
        if (digit > 9) {
            return false;
        }
        number = number * 10 + digit;
    }
    for (; i < digits.len; i++) {
        char c = digits.ptr[i];
        if (!hub_json_is_digit(c) || __builtin_mul_overflow(number, 10, &number) ||
            __builtin_add_overflow(number, (uint64_t)(c - '0'), &number)) {
            return false;
        }
    }
    *ret_number = number;
    return digits.len > 0;
}

static int64_t read_exponent(const char *at, const char *end)
{
    int64_t exponent = 0;
    bool negative = at < end && *at == '-';
    at += at < end && (*at == '-' || *at == '+');
    for (; at < end && hub_json_is_digit(*at); at++) {
        exponent = exponent < EXPONENT_MAX / 10 ? exponent * 10 + (*at - '0') : EXPONENT_MAX;
    }
    return negative ? -exponent : exponent;
}

/* Write a number of any length as an integer and an exponent, short and NUL-terminated: of its
 * digits as many as matter, and a 1 for all others unless they are 0. */
static void write_decimal(hub_str raw, char ret_text[DECIMAL_BYTES])
{
    const char *at = raw.ptr;
    const char *end = at + raw.len;
    char *out = ret_text;
    size_t kept = 0;
    int64_t exponent = 0;
    bool in_fraction = false;
    bool is_more = false;
    if (*at == '-') {
        *out++ = *at++;
    }
    for (; at < end && (hub_json_is_digit(*at) || *at == '.'); at++) {
        if (*at == '.') {
            in_fraction = true;
        } else if (kept < SIGNIFICANT_DIGITS) {
            *out = *at;
            kept += kept > 0 || *at != '0';
            out += kept > 0;
            exponent -= in_fraction;
        } else {
            is_more = is_more || *at != '0';
            exponent += !in_fraction;
        }
    }
    *out++ = is_more ? '1' : '0';
    exponent--;
    if (at < end) {
        exponent += read_exponent(at + 1, end); /* behind the e */
    }
    (void)snprintf(out, EXPONENT_BYTES, "e%" PRId64, exponent);
}

hub_err hub_json_check(hub_str text, hub_str *ret_value, hub_error *reterr)
{
    return hub_json_scan(text, NULL, ret_value, reterr);
}

hub_json_type hub_json_type_of(hub_str raw)
{
    if (raw.len == 0) {
        return HUB_JSON_NONE;
    }
    switch (raw.ptr[0]) {
    case 'n':
        return HUB_JSON_NULL;
    case 't':
        return HUB_JSON_TRUE;
    case 'f':
        return HUB_JSON_FALSE;
    case '"':
        return HUB_JSON_STRING;
    case '[':
        return HUB_JSON_ARRAY;
    case '{':
        return HUB_JSON_OBJECT;
    default:
        return HUB_JSON_NUMBER;
    }
}

const char *hub_json_type_name(hub_json_type type)
{
    return TYPE_NAMES[type];
}

hub_json_iter hub_json_iterate(hub_str raw)
{
    hub_json_type type = hub_json_type_of(raw);
    if (raw.len < 2 || (type != HUB_JSON_ARRAY && type != HUB_JSON_OBJECT)) {
        return (hub_json_iter){0};
    }
    return (hub_json_iter){
        .at = raw.ptr + 1,
        .end = raw.ptr + raw.len - 1, /* without the closing bracket */
        .is_object = type == HUB_JSON_OBJECT,
    };
}

/* `at` is at the opening quote of a key; returns at the value behind its colon. */
static const char *read_key(const char *at, const char *end, hub_str *ret_key)
{
    const char *from = at;
    at = skip_string(at, end);
    *ret_key = hub_str_between(from, at);
    at = hub_json_skip_space(at, end);
    at += at < end; /* the colon */
    return hub_json_skip_space(at, end);
}

/* To the next element or member, over the comma in front of it. */
static const char *skip_comma(const char *at, const char *end)
{
    at = hub_json_skip_space(at, end);
    return at < end && *at == ',' ? hub_json_skip_space(at + 1, end) : at;
}

bool hub_json_next(hub_json_iter *it, hub_str *ret_key, hub_str *ret_value)
{
    const char *end = it->end;
    const char *at = skip_comma(it->at, end);
    hub_str key = HUB_STR_EMPTY;
    if (it->is_object && at < end) {
        at = read_key(at, end, &key);
    }
    it->at = at;
    if (at >= end) {
        return false;
    }
    it->at = skip_value(at, end);
    *ret_key = key;
    *ret_value = hub_str_between(at, it->at);
    return it->at > at; /* of a checked text always */
}

bool hub_json_next_key(hub_json_iter *it, hub_str *ret_key)
{
    const char *at = skip_comma(it->at, it->end);
    bool is_member = it->is_object && at < it->end && *at != '}';
    if (is_member) {
        at = read_key(at, it->end, ret_key);
    } else if (at < it->end) {
        at++; /* the bracket of one that was entered */
    }
    it->at = at;
    return is_member;
}

hub_str hub_json_pass(hub_json_iter *it)
{
    const char *from = it->at;
    it->at = from < it->end ? skip_value(from, it->end) : from;
    return hub_str_between(from, it->at);
}

bool hub_json_enter(hub_json_iter *it)
{
    bool is_object = it->at < it->end && *it->at == '{';
    if (is_object) {
        it->at++;
    }
    return is_object;
}

hub_str hub_json_get(hub_str object, hub_str key)
{
    hub_json_iter it = hub_json_iterate(object);
    hub_str raw_key;
    hub_str value;
    while (hub_json_next(&it, &raw_key, &value)) {
        if (hub_json_string_is(raw_key, key)) {
            return value;
        }
    }
    return HUB_STR_EMPTY;
}

size_t hub_json_count(hub_str raw)
{
    hub_json_iter it = hub_json_iterate(raw);
    hub_str key;
    hub_str value;
    size_t count = 0;
    while (hub_json_next(&it, &key, &value)) {
        count++;
    }
    return count;
}

bool hub_json_to_u64(hub_str raw, uint64_t *ret_number)
{
    uint64_t magnitude;
    bool negative = raw.len > 0 && raw.ptr[0] == '-';
    if (raw.len == 0 || !read_magnitude(hub_str_from(raw, negative ? 1 : 0), &magnitude) ||
        (negative && magnitude > 0)) {
        return false;
    }
    *ret_number = magnitude;
    return true;
}

bool hub_json_to_i64(hub_str raw, int64_t *ret_number)
{
    uint64_t magnitude;
    bool negative = raw.len > 0 && raw.ptr[0] == '-';
    if (raw.len == 0 || !read_magnitude(hub_str_from(raw, negative ? 1 : 0), &magnitude) ||
        magnitude > (uint64_t)INT64_MAX + (negative ? 1 : 0)) {
        return false;
    }
    /* Two's complement: also right for the one value whose magnitude no int64_t holds. */
    *ret_number = (int64_t)(negative ? 0 - magnitude : magnitude);
    return true;
}

bool hub_json_to_double(hub_str raw, double *ret_number)
{
    char text[DECIMAL_BYTES];
    if (hub_json_type_of(raw) != HUB_JSON_NUMBER) {
        return false;
    }
    write_decimal(raw, text);
    locale_t c_locale = newlocale(LC_ALL_MASK, "C", (locale_t)0); /* libc's own: cannot fail */
    *ret_number = strtod_l(text, NULL, c_locale);
    freelocale(c_locale);
    return true;
}

bool hub_json_to_whole(hub_str raw, uint64_t *ret_number)
{
    double number;
    if (hub_json_to_u64(raw, ret_number)) {
        return true;
    }
    if (!hub_json_to_double(raw, &number) || number < 0 || number > (double)(UINT64_C(1) << 53) ||
        number > (double)(uint64_t)number) {
        return false;
    }
    *ret_number = (uint64_t)number;
    return true;
}

void hub_json_add_compact(hub_buf *out, hub_str raw)
{
    const char *at = raw.ptr;
    const char *end = raw.len > 0 ? at + raw.len : at;
    while (at < end) {
        const char *run = at;
        while (at < end && !hub_json_is_space(*at)) {
            at = *at == '"' ? skip_string(at, end) : at + 1;
        }
        hub_buf_add(out, hub_str_between(run, at));
        at = hub_json_skip_space(at, end);
    }
}
