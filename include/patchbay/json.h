/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Reading and writing JSON text, header-only, for plugins that want no JSON library.
 *
 * Reading takes text that the hub handed over: it is valid JSON, which these functions rely on;
 * text from elsewhere is asked patchbay_json_valid first. A "raw" value is a slice of that text.
 * Nothing is parsed into a tree; members are looked up in place. Writing appends to a patchbay_out,
 * which grows as needed and remembers a failed allocation, so that one test at the end is enough.
 * Pure functions, any thread. Fractions are read and written in the process's LC_NUMERIC, which the
 * hub leaves at "C": a plugin must not change it either.
 */
#ifndef PATCHBAY_JSON_H
#define PATCHBAY_JSON_H

#include <patchbay/plugin.h>

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#ifdef __cplusplus
extern "C" {
#endif

/* ---- spans ---------------------------------------------------------------------------------- */

static inline patchbay_str patchbay_str_make(const char *ptr, size_t len)
{
    patchbay_str s;
    s.ptr = ptr;
    s.len = len;
    return s;
}

/* The span of a C string; NULL is the empty span. */
static inline patchbay_str patchbay_str_of(const char *text)
{
    return patchbay_str_make(text, text != NULL ? strlen(text) : 0);
}

static inline int patchbay_str_eq(patchbay_str a, patchbay_str b)
{
    return a.len == b.len && (a.len == 0 || memcmp(a.ptr, b.ptr, a.len) == 0);
}

/* ---- writing -------------------------------------------------------------------------------- */

/* Text under construction. Start from all zeros; free with patchbay_out_free. */
typedef struct patchbay_out {
    char *ptr;
    size_t len;
    size_t cap;
    uint64_t failed; /* not 0: an allocation failed, the text is incomplete */
} patchbay_out;

static inline void patchbay_out_free(patchbay_out *out)
{
    free(out->ptr);
    memset(out, 0, sizeof *out);
}

/* Append bytes as they are. `text` must not be a part of `out` itself. */
static inline void patchbay_out_raw(patchbay_out *out, patchbay_str text)
{
    if (out->failed) {
        return;
    }
    if (out->cap - out->len <= text.len) {
        if (text.len > SIZE_MAX / 4 || out->len > SIZE_MAX / 4) {
            out->failed = 1; /* the next line would wrap around */
            return;
        }
        size_t cap = (out->len + text.len + 64) * 2;
        char *grown = (char *)realloc(out->ptr, cap);
        if (grown == NULL) {
            out->failed = 1;
            return;
        }
        out->ptr = grown;
        out->cap = cap;
    }
    if (text.len > 0) {
        memcpy(out->ptr + out->len, text.ptr, text.len);
        out->len += text.len;
    }
    out->ptr[out->len] = '\0';
}

static inline void patchbay_out_text(patchbay_out *out, const char *text)
{
    patchbay_out_raw(out, patchbay_str_of(text));
}

/* Append formatted text, as it is. */
#if defined(__GNUC__)
__attribute__((format(printf, 2, 3)))
#endif
static inline void
patchbay_out_printf(patchbay_out *out, const char *format, ...)
{
    char small[256];
    va_list args;
    va_list again;
    va_start(args, format);
    va_copy(again, args);
    int len = vsnprintf(small, sizeof small, format, args);
    va_end(args);
    if (len >= 0 && (size_t)len < sizeof small) {
        patchbay_out_raw(out, patchbay_str_make(small, (size_t)len));
    } else if (len >= 0) {
        char *big = (char *)malloc((size_t)len + 1);
        if (big != NULL) {
            (void)vsnprintf(big, (size_t)len + 1, format, again);
            patchbay_out_raw(out, patchbay_str_make(big, (size_t)len));
        } else {
            out->failed = 1;
        }
        free(big);
    } else {
        out->failed = 1;
    }
    va_end(again);
}

/* Length of the UTF-8 sequence at `at`, or 0 when the bytes before `end` are not one. */
static inline size_t patchbay_utf8_length(const char *at, const char *end)
{
    const unsigned char *p = (const unsigned char *)at;
    size_t left = (size_t)(end - at);
    if (p[0] < 0x80) {
        return 1;
    }
    size_t len = p[0] >= 0xf0 ? 4 : p[0] >= 0xe0 ? 3 : 2;
    if (p[0] < 0xc2 || p[0] > 0xf4 || left < len) {
        return 0;
    }
    for (size_t i = 1; i < len; i++) {
        if ((p[i] & 0xc0) != 0x80) {
            return 0;
        }
    }
    int overlong = (p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xf0 && p[1] < 0x90);
    int outside = (p[0] == 0xed && p[1] > 0x9f) || (p[0] == 0xf4 && p[1] > 0x8f);
    return overlong || outside ? 0 : len;
}

/* Append `text` as the inside of a JSON string, without quotes: always valid, whatever the bytes
 * (what is not UTF-8 becomes U+FFFD). */
static inline void patchbay_out_escaped(patchbay_out *out, patchbay_str text)
{
    if (text.len == 0) {
        patchbay_out_raw(out, text);
        return; /* `ptr` may be NULL, with which there is no arithmetic */
    }
    const char *at = text.ptr;
    const char *end = text.ptr + text.len;
    const char *done = at;
    while (at < end) {
        unsigned char c = (unsigned char)*at;
        size_t len = patchbay_utf8_length(at, end);
        if (len > 0 && c >= 0x20 && c != '"' && c != '\\') {
            at += len;
            continue;
        }
        patchbay_out_raw(out, patchbay_str_make(done, (size_t)(at - done)));
        if (len == 0) {
            patchbay_out_text(out, "\xef\xbf\xbd");
        } else if (c == '"' || c == '\\') {
            patchbay_out_printf(out, "\\%c", c);
        } else if (c == '\n') {
            patchbay_out_text(out, "\\n");
        } else if (c == '\t') {
            patchbay_out_text(out, "\\t");
        } else {
            patchbay_out_printf(out, "\\u%04x", c);
        }
        done = ++at;
    }
    patchbay_out_raw(out, patchbay_str_make(done, (size_t)(at - done)));
}

/* Append `text` as a JSON string with its quotes. */
static inline void patchbay_out_string(patchbay_out *out, patchbay_str text)
{
    patchbay_out_text(out, "\"");
    patchbay_out_escaped(out, text);
    patchbay_out_text(out, "\"");
}

/* Append `"key":`, with a comma in front unless it follows '{'. `key` needs no escaping. */
static inline void patchbay_out_key(patchbay_out *out, const char *key)
{
    int first = out->len == 0 || out->ptr[out->len - 1] == '{';
    patchbay_out_printf(out, "%s\"%s\":", first ? "" : ",", key);
}

/* Append a number, with as few digits as give it back; null when it is not finite, which JSON
 * cannot say. */
static inline void patchbay_out_number(patchbay_out *out, double number)
{
    char text[40];
    if (!(number - number == 0)) {
        patchbay_out_text(out, "null");
        return;
    }
    (void)snprintf(text, sizeof text, "%.15g", number);
    if (strtod(text, NULL) != number) {
        (void)snprintf(text, sizeof text, "%.17g", number);
    }
    patchbay_out_text(out, text);
}

/* Append bytes as base64 (RFC 4648 section 4), without quotes. */
static inline void patchbay_out_base64(patchbay_out *out, const void *bytes, size_t len)
{
    static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    const unsigned char *in = (const unsigned char *)bytes;
    for (size_t i = 0; i < len; i += 3) {
        uint32_t b1 = i + 1 < len ? in[i + 1] : 0u;
        uint32_t b2 = i + 2 < len ? in[i + 2] : 0u;
        uint32_t bits = (uint32_t)in[i] << 16 | b1 << 8 | b2;
        char quad[4];
        quad[0] = digits[bits >> 18];
        quad[1] = digits[bits >> 12 & 63];
        quad[2] = (char)(i + 1 < len ? digits[bits >> 6 & 63] : '=');
        quad[3] = (char)(i + 2 < len ? digits[bits & 63] : '=');
        patchbay_out_raw(out, patchbay_str_make(quad, 4));
    }
}

/* ---- reading valid JSON --------------------------------------------------------------------- */

static inline int patchbay_json_is_space_(char c)
{
    return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

static inline const char *patchbay_json_skip_space_(const char *at, const char *end)
{
    while (at < end && patchbay_json_is_space_(*at)) {
        at++;
    }
    return at;
}

/* `at` is behind the opening quote; one past the closing one. */
static inline const char *patchbay_json_skip_string_(const char *at, const char *end)
{
    const char *from = at;
    for (;;) {
        const char *quote = (const char *)memchr(at, '"', (size_t)(end - at));
        const char *escapes = quote;
        if (quote == NULL) {
            return end;
        }
        while (escapes > from && escapes[-1] == '\\') {
            escapes--;
        }
        at = quote + 1;
        if ((quote - escapes) % 2 == 0) {
            return at;
        }
        from = at;
    }
}

/* One past the value that begins at `at`. */
static inline const char *patchbay_json_skip_value_(const char *at, const char *end)
{
    size_t depth = 0;
    for (; at < end; at++) {
        if (*at == '"') {
            at = patchbay_json_skip_string_(at + 1, end);
            if (depth == 0 || at == end) {
                return at;
            }
            at--; /* which the loop passes */
        } else if (*at == '{' || *at == '[') {
            depth++;
        } else if (*at == '}' || *at == ']') {
            if (depth == 0) {
                return at; /* the end of the container of a number or word */
            }
            if (--depth == 0) {
                return at + 1;
            }
        } else if (depth == 0 && (*at == ',' || *at == ':' || patchbay_json_is_space_(*at))) {
            return at;
        }
    }
    return end;
}

/* Walks the members of an object or the elements of an array. */
typedef struct patchbay_json_iter {
    const char *at;
    const char *end;
    uint64_t is_object;
} patchbay_json_iter;

static inline patchbay_json_iter patchbay_json_iterate(patchbay_str raw)
{
    patchbay_json_iter it;
    /* A whole document may have space around it. */
    while (raw.len > 0 && patchbay_json_is_space_(raw.ptr[0])) {
        raw = patchbay_str_make(raw.ptr + 1, raw.len - 1);
    }
    while (raw.len > 0 && patchbay_json_is_space_(raw.ptr[raw.len - 1])) {
        raw.len--;
    }
    it.at = raw.ptr;
    it.end = raw.ptr;
    it.is_object = 0;
    if (raw.len >= 2 && (raw.ptr[0] == '{' || raw.ptr[0] == '[')) {
        it.at = raw.ptr + 1;
        it.end = raw.ptr + raw.len - 1;
        it.is_object = raw.ptr[0] == '{';
    }
    return it;
}

/* The next member (key raw, with quotes) or element (key empty); 0 at the end. */
static inline int patchbay_json_next(patchbay_json_iter *it, patchbay_str *ret_key,
                                     patchbay_str *ret_value)
{
    it->at = patchbay_json_skip_space_(it->at, it->end);
    if (it->at < it->end && *it->at == ',') {
        it->at = patchbay_json_skip_space_(it->at + 1, it->end);
    }
    if (it->at >= it->end) {
        return 0;
    }
    *ret_key = patchbay_str_make(it->at, 0);
    if (it->is_object) {
        const char *key_end = patchbay_json_skip_value_(it->at, it->end);
        *ret_key = patchbay_str_make(it->at, (size_t)(key_end - it->at));
        it->at = patchbay_json_skip_space_(key_end, it->end);
        it->at = patchbay_json_skip_space_(it->at + 1, it->end); /* the colon */
    }
    const char *value_end = patchbay_json_skip_value_(it->at, it->end);
    *ret_value = patchbay_str_make(it->at, (size_t)(value_end - it->at));
    it->at = value_end;
    return 1;
}

static inline uint32_t patchbay_json_hex4_(const char *at)
{
    uint32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        uint32_t digit = (uint32_t)(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
        value = value << 4 | digit;
    }
    return value;
}

static inline void patchbay_out_code_point_(patchbay_out *out, uint32_t cp)
{
    char utf8[4];
    size_t len;
    if (cp < 0x80) {
        utf8[0] = (char)cp;
        len = 1;
    } else if (cp < 0x800) {
        utf8[0] = (char)(0xc0 | cp >> 6);
        utf8[1] = (char)(0x80 | (cp & 63));
        len = 2;
    } else if (cp < 0x10000) {
        utf8[0] = (char)(0xe0 | cp >> 12);
        utf8[1] = (char)(0x80 | (cp >> 6 & 63));
        utf8[2] = (char)(0x80 | (cp & 63));
        len = 3;
    } else {
        utf8[0] = (char)(0xf0 | cp >> 18);
        utf8[1] = (char)(0x80 | (cp >> 12 & 63));
        utf8[2] = (char)(0x80 | (cp >> 6 & 63));
        utf8[3] = (char)(0x80 | (cp & 63));
        len = 4;
    }
    patchbay_out_raw(out, patchbay_str_make(utf8, len));
}

/* Append the text of a raw string, unescaped; 0 when `raw` is not a string. A lone surrogate
 * becomes U+FFFD; \u0000 becomes a NUL byte. */
static inline int patchbay_json_decode(patchbay_str raw, patchbay_out *out)
{
    static const char from[] = "\"\\/bfnrt";
    static const char to[] = "\"\\/\b\f\n\r\t";
    if (raw.len < 2 || raw.ptr[0] != '"') {
        return 0;
    }
    const char *at = raw.ptr + 1;
    const char *end = raw.ptr + raw.len - 1;
    while (at < end) {
        const char *slash = (const char *)memchr(at, '\\', (size_t)(end - at));
        const char *stop = slash != NULL ? slash : end;
        patchbay_out_raw(out, patchbay_str_make(at, (size_t)(stop - at)));
        if (slash == NULL) {
            break;
        }
        at = slash + 2;
        if (slash[1] != 'u') {
            const char *found = strchr(from, slash[1]);
            char plain = (char)(found != NULL ? to[found - from] : slash[1]);
            patchbay_out_raw(out, patchbay_str_make(&plain, 1));
            continue;
        }
        uint32_t cp = patchbay_json_hex4_(at);
        at += 4;
        if (cp >= 0xd800 && cp < 0xdc00 && end - at >= 6 && at[0] == '\\' && at[1] == 'u') {
            uint32_t low = patchbay_json_hex4_(at + 2);
            if (low >= 0xdc00 && low < 0xe000) {
                cp = 0x10000 + ((cp - 0xd800) << 10) + (low - 0xdc00);
                at += 6;
            }
        }
        patchbay_out_code_point_(out, cp >= 0xd800 && cp < 0xe000 ? 0xfffd : cp);
    }
    return 1;
}

/* Whether a raw string, unescaped, equals `text`. */
static inline int patchbay_json_is(patchbay_str raw, patchbay_str text)
{
    if (raw.len < 2 || raw.ptr[0] != '"') {
        return 0;
    }
    patchbay_str inside = patchbay_str_make(raw.ptr + 1, raw.len - 2);
    if (memchr(inside.ptr, '\\', inside.len) == NULL) {
        return patchbay_str_eq(inside, text);
    }
    patchbay_out decoded;
    memset(&decoded, 0, sizeof decoded);
    int ok = patchbay_json_decode(raw, &decoded) && !decoded.failed &&
             patchbay_str_eq(patchbay_str_make(decoded.ptr, decoded.len), text);
    patchbay_out_free(&decoded);
    return ok;
}

/* The raw value of a member, or the empty span. */
static inline patchbay_str patchbay_json_get(patchbay_str object, const char *key)
{
    patchbay_json_iter it = patchbay_json_iterate(object);
    patchbay_str wanted = patchbay_str_of(key);
    patchbay_str name;
    patchbay_str value;
    while (it.is_object && patchbay_json_next(&it, &name, &value)) {
        if (patchbay_json_is(name, wanted)) {
            return value;
        }
    }
    return patchbay_str_make(NULL, 0);
}

/* Shift a decimal digit in; 0 when the value would exceed 64 bits. */
static inline int patchbay_json_shift_digit_(uint64_t *value, uint64_t digit)
{
    if (*value > (UINT64_MAX - digit) / 10) {
        return 0;
    }
    *value = *value * 10 + digit;
    return 1;
}

/* Take a raw number apart: its digits up to the last that is not 0, as an integer, and the power of
 * ten to multiply them with. 0 when it is not a number, or has more digits than 64 bits hold. */
static inline int patchbay_json_decimal_(patchbay_str raw, uint64_t *ret_digits, int64_t *ret_power)
{
    uint64_t digits = 0;
    int64_t zeros = 0; /* after the last digit that is not 0 */
    int64_t fraction = 0;
    int64_t exponent = 0;
    size_t i = raw.len > 0 && raw.ptr[0] == '-' ? 1 : 0;
    int seen_point = 0;
    if (i >= raw.len || raw.ptr[i] < '0' || raw.ptr[i] > '9') {
        return 0;
    }
    for (; i < raw.len && raw.ptr[i] != 'e' && raw.ptr[i] != 'E'; i++) {
        if (raw.ptr[i] == '.') {
            seen_point = 1;
            continue;
        }
        fraction += seen_point;
        zeros += raw.ptr[i] == '0';
        if (raw.ptr[i] != '0') {
            for (; zeros > 0; zeros--) {
                if (!patchbay_json_shift_digit_(&digits, 0)) {
                    return 0;
                }
            }
            if (!patchbay_json_shift_digit_(&digits, (uint64_t)(raw.ptr[i] - '0'))) {
                return 0;
            }
        }
    }
    int negative = i + 1 < raw.len && raw.ptr[i + 1] == '-';
    for (i++; i < raw.len && exponent < 1000000; i++) {
        exponent = raw.ptr[i] < '0' ? 0 : exponent * 10 + (raw.ptr[i] - '0');
    }
    *ret_digits = digits;
    *ret_power = (negative ? -exponent : exponent) - fraction + zeros;
    return 1;
}

/* The value of a raw integer; 0 when it is not one, or outside int64. As in JSON Schema, 3.0 and
 * 1e2 are integers. */
static inline int patchbay_json_int(patchbay_str raw, int64_t *ret_number)
{
    uint64_t value;
    int64_t power;
    if (!patchbay_json_decimal_(raw, &value, &power) || (value != 0 && power < 0)) {
        return 0;
    }
    for (; value != 0 && power > 0; power--) {
        if (!patchbay_json_shift_digit_(&value, 0)) {
            return 0;
        }
    }
    if (raw.ptr[0] == '-') {
        if (value > (uint64_t)INT64_MAX + 1) {
            return 0;
        }
        *ret_number = value > (uint64_t)INT64_MAX ? INT64_MIN : -(int64_t)value;
        return 1;
    }
    if (value > (uint64_t)INT64_MAX) {
        return 0;
    }
    *ret_number = (int64_t)value;
    return 1;
}

/* The value of a raw number; 0 when it is not one, does not fit a double, or is over 300 bytes. */
static inline int patchbay_json_number(patchbay_str raw, double *ret_number)
{
    char text[304];
    if (raw.len == 0 || raw.len > 300 || (raw.ptr[0] != '-' && (unsigned)(raw.ptr[0] - '0') > 9)) {
        return 0;
    }
    memcpy(text, raw.ptr, raw.len);
    text[raw.len] = '\0';
    char *end = text;
    double number = strtod(text, &end);
    if (*end != '\0' || !(number - number == 0)) {
        return 0;
    }
    *ret_number = number;
    return 1;
}

/* The value of a raw boolean: 1 for true, 0 for everything else. */
static inline int patchbay_json_true(patchbay_str raw)
{
    return raw.len == 4 && memcmp(raw.ptr, "true", 4) == 0;
}

/* ---- checking text from elsewhere ------------------------------------------------------------ */

/* Containers that may be open at a time, as the hub has it. */
#define PATCHBAY_JSON_DEPTH_MAX 64

/* One past a backslash and what it escapes; NULL when that is nothing. */
static inline const char *patchbay_json_check_escape_(const char *at, const char *end)
{
    size_t digits = end - at >= 2 && at[1] == 'u' ? 4 : 0;
    if ((size_t)(end - at) < 2 + digits || at[1] == '\0' || strchr("\"\\/bfnrtu", at[1]) == NULL) {
        return NULL;
    }
    at += 2;
    for (size_t i = 0; i < digits; i++, at++) {
        char c = (char)(*at | 0x20);
        if (!(*at >= '0' && *at <= '9') && !(c >= 'a' && c <= 'f')) {
            return NULL;
        }
    }
    return at;
}

/* One past a string that begins at `at`; NULL when it is none. */
static inline const char *patchbay_json_check_string_(const char *at, const char *end)
{
    if (at == end || *at != '"') {
        return NULL;
    }
    at++;
    while (at != NULL && at < end && *at != '"') {
        size_t len = patchbay_utf8_length(at, end);
        if (*at == '\\') {
            at = patchbay_json_check_escape_(at, end);
        } else if (len == 0 || (unsigned char)*at < 0x20) {
            return NULL;
        } else {
            at += len;
        }
    }
    return at != NULL && at < end ? at + 1 : NULL;
}

static inline const char *patchbay_json_skip_digits_(const char *at, const char *end)
{
    while (at < end && *at >= '0' && *at <= '9') {
        at++;
    }
    return at;
}

/* One past a number that begins at `at`; NULL when it is none. */
static inline const char *patchbay_json_check_number_(const char *at, const char *end)
{
    at += at < end && *at == '-';
    const char *digits = at;
    at = patchbay_json_skip_digits_(at, end);
    if (at == digits || (*digits == '0' && at - digits > 1)) {
        return NULL;
    }
    if (at < end && *at == '.') {
        digits = ++at;
        at = patchbay_json_skip_digits_(at, end);
        if (at == digits) {
            return NULL;
        }
    }
    if (at < end && (*at == 'e' || *at == 'E')) {
        at++;
        at += at < end && (*at == '+' || *at == '-');
        digits = at;
        at = patchbay_json_skip_digits_(at, end);
        if (at == digits) {
            return NULL;
        }
    }
    return at;
}

/* One past a string, number or word that begins at `at`; NULL when it is none. */
static inline const char *patchbay_json_check_scalar_(const char *at, const char *end)
{
    static const char *const words[] = {"true", "false", "null"};
    if (at < end && *at == '"') {
        return patchbay_json_check_string_(at, end);
    }
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        size_t len = strlen(words[i]);
        if ((size_t)(end - at) >= len && memcmp(at, words[i], len) == 0) {
            return at + len;
        }
    }
    return patchbay_json_check_number_(at, end);
}

/* One past the key of a member, its colon, and the space behind that; NULL when there is none. */
static inline const char *patchbay_json_check_key_(const char *at, const char *end)
{
    at = patchbay_json_check_string_(patchbay_json_skip_space_(at, end), end);
    if (at != NULL) {
        at = patchbay_json_skip_space_(at, end);
        at = at < end && *at == ':' ? patchbay_json_skip_space_(at + 1, end) : NULL;
    }
    return at;
}

/* One past all containers that end at `at`, and the space there. */
static inline const char *patchbay_json_close_(const char *at, const char *end, const char *closing,
                                               size_t *depth)
{
    at = patchbay_json_skip_space_(at, end);
    while (*depth > 0 && at < end && *at == closing[*depth - 1]) {
        (*depth)--;
        at = patchbay_json_skip_space_(at + 1, end);
    }
    return at;
}

/* Where the text stops being one valid JSON value in UTF-8, at most PATCHBAY_JSON_DEPTH_MAX deep,
 * with nothing but space around it: the offset in bytes at which what is wrong begins (a string or
 * number counts as a whole). `text.len` when it ends too early; SIZE_MAX when all is well. */
static inline size_t patchbay_json_fault(patchbay_str text)
{
    char closing[PATCHBAY_JSON_DEPTH_MAX]; /* of the containers that are open */
    size_t depth = 0;
    if (text.len == 0) {
        return 0;
    }
    const char *end = text.ptr + text.len;
    const char *at = patchbay_json_skip_space_(text.ptr, end);
    const char *begin; /* of what is being looked at */
    for (;;) {         /* a value begins here */
        int opens = at < end && (*at == '{' || *at == '[');
        begin = at;
        if (opens) {
            if (depth == PATCHBAY_JSON_DEPTH_MAX) {
                break;
            }
            closing[depth++] = *at == '{' ? '}' : ']';
            at = patchbay_json_skip_space_(at + 1, end);
        }
        int is_empty = opens && at < end && *at == closing[depth - 1];
        if (opens && !is_empty) { /* into it */
            begin = at;
            at = closing[depth - 1] == '}' ? patchbay_json_check_key_(at, end) : at;
            if (at == NULL) {
                break;
            }
            continue;
        }
        at = opens ? at : patchbay_json_check_scalar_(at, end);
        if (at == NULL) {
            break;
        }
        at = begin = patchbay_json_close_(at, end, closing, &depth);
        if (depth == 0 && at == end) {
            return SIZE_MAX;
        }
        if (depth == 0 || at == end || *at != ',') {
            break;
        }
        at = begin = patchbay_json_skip_space_(at + 1, end);
        at = closing[depth - 1] == '}' ? patchbay_json_check_key_(at, end) : at;
        if (at == NULL) {
            break;
        }
    }
    return (size_t)(begin - text.ptr);
}

/* Whether `text` is one valid JSON value, as patchbay_json_fault has it: then it can be read with
 * the functions above, and sent. */
static inline int patchbay_json_valid(patchbay_str text)
{
    return patchbay_json_fault(text) == SIZE_MAX;
}

#ifdef __cplusplus
}
#endif

#endif
