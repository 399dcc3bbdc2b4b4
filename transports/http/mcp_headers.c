/* SPDX-License-Identifier: Apache-2.0 */
#include "http/mcp_headers.h"

#include "http/limits.h"
#include "http/syntax.h"

static const hub_str ENCODED_BEGIN = {.ptr = "=?base64?", .len = 9};
static const hub_str ENCODED_END = {.ptr = "?=", .len = 2};

/* ---- Base64 ---------------------------------------------------------------------------------- */

/* The six bits of a character (RFC 4648 section 4), or -1. */
static int base64_bits(char c)
{
    if (c >= 'A' && c <= 'Z') {
        return c - 'A';
    }
    if (c >= 'a' && c <= 'z') {
        return c - 'a' + 26;
    }
    if (hub_http_is_digit(c)) {
        return c - '0' + 52;
    }
    return c == '+' ? 62 : c == '/' ? 63 : -1;
}

/* Four characters become three bytes; `pads` of both are missing at the end. False when they are
 * not the one way to write these bytes. */
static bool decode_group(const char *group, size_t pads, hub_buf *out)
{
    uint32_t bits = 0;
    for (size_t i = 0; i < 4; i++) {
        int six = i < 4 - pads ? base64_bits(group[i]) : 0;
        if (six < 0) {
            return false;
        }
        bits = bits << 6 | (uint32_t)six;
    }
    for (size_t i = 0; i < 3 - pads; i++) {
        hub_buf_add_char(out, (char)(bits >> (16 - 8 * i) & 0xff));
    }
    return (bits & ((1u << (8 * pads)) - 1)) == 0; /* RFC 4648 section 3.5: unused bits are zero */
}

static bool decode_base64(hub_str text, hub_buf *out)
{
    if (text.len % 4 != 0) {
        return false;
    }
    size_t pads = 0;
    while (pads < 2 && pads < text.len && text.ptr[text.len - 1 - pads] == '=') {
        pads++;
    }
    for (size_t i = 0; i < text.len; i += 4) {
        if (!decode_group(text.ptr + i, i + 4 == text.len ? pads : 0, out)) {
            return false;
        }
    }
    return true;
}

static bool is_utf8(hub_str text)
{
    while (text.len > 0) {
        size_t length = hub_str_utf8_length(text);
        if (length == 0) {
            return false;
        }
        text = hub_str_from(text, length);
    }
    return true;
}

static bool is_ascii_text(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!hub_http_is_ascii_text(text.ptr[i])) {
            return false;
        }
    }
    return true;
}

/* "=?base64?=", where the markers share a character, begins and ends as the form does: a client
 * must encode it, so it is not plain text either. */
static bool is_encoded(hub_str value)
{
    return value.len > ENCODED_BEGIN.len && hub_str_starts(value, ENCODED_BEGIN) &&
           hub_str_eq(hub_str_from(value, value.len - ENCODED_END.len), ENCODED_END);
}

hub_err hub_mcp_header_decode(hub_str value, hub_mcp_encoding encoding, hub_buf *out,
                              hub_error *reterr)
{
    size_t begin = out->len;
    value = hub_http_trim(value);
    if (!is_ascii_text(value)) {
        return hub_fail(reterr, HUB_EINVAL, "the value holds characters other than visible ASCII");
    }
    if (encoding == HUB_MCP_PLAIN || !is_encoded(value)) {
        hub_buf_add(out, value);
    } else {
        hub_str content = hub_str_from(value, ENCODED_BEGIN.len);
        if (content.len < ENCODED_END.len) {
            return hub_fail(reterr, HUB_EINVAL, "the value is not a complete Base64 form");
        }
        content.len -= ENCODED_END.len;
        bool good = decode_base64(content, out);
        if (hub_buf_ok(out) && (!good || !is_utf8(hub_str_from(hub_buf_str(out), begin)))) {
            out->len = begin;
            return hub_fail(reterr, HUB_EINVAL, "the value is not canonical Base64 of UTF-8 text");
        }
    }
    if (!hub_buf_ok(out)) {
        out->len = begin;
        return hub_fail(reterr, out->failed, "%s", hub_err_text(out->failed));
    }
    return HUB_OK;
}

/* ---- strings --------------------------------------------------------------------------------- */

/* Four hexadecimal digits at the start, or -1. */
static int32_t read_unit(hub_str text)
{
    int32_t unit = 0;
    for (size_t i = 0; i < 4; i++) {
        int digit = i < text.len ? hub_str_hex_digit(text.ptr[i]) : -1;
        if (digit < 0) {
            return -1;
        }
        unit = unit << 4 | digit;
    }
    return unit;
}

static size_t write_utf8(int32_t point, char *ret_bytes)
{
    static const unsigned char LEADS[] = {0, 0, 0xc0, 0xe0, 0xf0};
    if (point < 0x80) {
        ret_bytes[0] = (char)point;
        return 1;
    }
    size_t length = point < 0x800 ? 2 : point < 0x10000 ? 3 : 4;
    for (size_t i = length - 1; i > 0; i--) {
        ret_bytes[i] = (char)(0x80 | (point & 0x3f));
        point >>= 6;
    }
    ret_bytes[0] = (char)(LEADS[length] | point);
    return length;
}

/* The character of a \u escape, behind the "u", as UTF-8; how many bytes of JSON it took. 0 for
 * half a surrogate pair, which no header can carry. */
static size_t read_unicode(hub_str json, char *ret_bytes, size_t *ret_length)
{
    int32_t high = read_unit(json);
    size_t used = 4;
    if (high >= 0xd800 && high <= 0xdbff) {
        int32_t low = json.len >= 6 && json.ptr[4] == '\\' && json.ptr[5] == 'u'
                          ? read_unit(hub_str_from(json, 6))
                          : -1;
        if (low < 0xdc00 || low > 0xdfff) {
            return 0;
        }
        high = 0x10000 + ((high - 0xd800) << 10) + (low - 0xdc00);
        used = 10;
    } else if (high < 0 || (high >= 0xdc00 && high <= 0xdfff)) {
        return 0;
    }
    *ret_length = write_utf8(high, ret_bytes);
    return used;
}

/* The character that an escape at the start (behind the backslash) stands for. */
static size_t read_escape(hub_str json, char *ret_bytes, size_t *ret_length)
{
    static const char NAMES[] = "\"\\/bfnrt";
    static const char VALUES[] = "\"\\/\b\f\n\r\t";
    if (json.len > 0 && json.ptr[0] == 'u') {
        size_t used = read_unicode(hub_str_from(json, 1), ret_bytes, ret_length);
        return used > 0 ? used + 1 : 0;
    }
    const char *name = json.len > 0 ? memchr(NAMES, json.ptr[0], sizeof NAMES - 1) : NULL;
    if (name == NULL) {
        return 0;
    }
    ret_bytes[0] = VALUES[name - NAMES];
    *ret_length = 1;
    return 1;
}

/* `json` is what stands between the quotes. */
static bool string_equals(hub_str json, hub_str text)
{
    while (json.len > 0) {
        char bytes[4] = {json.ptr[0]};
        size_t length = 1;
        size_t used = 1;
        if (json.ptr[0] == '\\') {
            used = read_escape(hub_str_from(json, 1), bytes, &length);
            if (used == 0) {
                return false;
            }
            used++;
        } else if (json.ptr[0] == '"') {
            return false;
        }
        if (text.len < length || memcmp(text.ptr, bytes, length) != 0) {
            return false;
        }
        text = hub_str_from(text, length);
        json = hub_str_from(json, used);
    }
    return text.len == 0;
}

/* ---- integers -------------------------------------------------------------------------------- */

/* The largest integer that JavaScript holds exactly: the specification's bound. */
static const int64_t INTEGER_MAX = INT64_C(9007199254740991);
enum { EXPONENT_MAX = 1000000, INTEGER_DIGITS = 16 };

/* A decimal number in pieces: all digits without leading and trailing zeros, times 10^exponent. */
typedef struct decimal {
    bool negative;
    int64_t digits; /* meaningful while count <= INTEGER_DIGITS */
    size_t count;
    int64_t exponent;
} decimal;

/* Digits at the start; they follow those that *number has. */
static size_t read_digits(hub_str text, decimal *number, size_t *zeros)
{
    size_t i = 0;
    for (; i < text.len && hub_http_is_digit(text.ptr[i]); i++) {
        if (text.ptr[i] == '0') {
            *zeros += 1; /* count when another digit follows */
            continue;
        }
        size_t more = number->count > 0 ? *zeros + 1 : 1;
        number->count += more;
        for (; number->count <= INTEGER_DIGITS && more > 1; more--) {
            number->digits *= 10;
        }
        if (number->count <= INTEGER_DIGITS) {
            number->digits = number->digits * 10 + (text.ptr[i] - '0');
        }
        *zeros = 0;
    }
    return i;
}

/* "e", a sign, digits; what stands there is all that is left of a number. */
static bool read_exponent(hub_str text, decimal *number)
{
    int64_t exponent = 0;
    if (text.len == 0) {
        return true;
    }
    bool negative = text.len > 1 && text.ptr[1] == '-';
    size_t first = negative || (text.len > 1 && text.ptr[1] == '+') ? 2 : 1;
    if ((text.ptr[0] | 0x20) != 'e' || first >= text.len) {
        return false;
    }
    for (size_t i = first; i < text.len; i++) {
        if (!hub_http_is_digit(text.ptr[i])) {
            return false;
        }
        exponent = exponent < EXPONENT_MAX ? exponent * 10 + (text.ptr[i] - '0') : exponent;
    }
    number->exponent += negative ? -exponent : exponent;
    return true;
}

/* A number as JSON writes it (RFC 8259 section 6), exactly. */
static bool read_decimal(hub_str text, decimal *ret_number)
{
    *ret_number = (decimal){.negative = text.len > 0 && text.ptr[0] == '-'};
    text = hub_str_from(text, ret_number->negative ? 1 : 0);
    size_t zeros = 0;
    size_t whole = read_digits(text, ret_number, &zeros);
    if (whole == 0 || (whole > 1 && text.ptr[0] == '0')) {
        return false;
    }
    text = hub_str_from(text, whole);
    if (text.len > 0 && text.ptr[0] == '.') {
        size_t fraction = read_digits(hub_str_from(text, 1), ret_number, &zeros);
        if (fraction == 0) {
            return false;
        }
        ret_number->exponent -= (int64_t)fraction;
        text = hub_str_from(text, fraction + 1);
    }
    ret_number->exponent += (int64_t)zeros;
    return read_exponent(text, ret_number);
}

/* An integer of at most 2^53-1 either way, in whatever form: 42, 42.0, 4.2e1. */
static bool read_integer(hub_str text, int64_t *ret_integer)
{
    decimal number;
    if (!read_decimal(text, &number)) {
        return false;
    }
    if (number.count == 0) {
        *ret_integer = 0;
        return true;
    }
    if (number.count > INTEGER_DIGITS || number.exponent < 0 ||
        number.exponent > (int64_t)(INTEGER_DIGITS - number.count)) {
        return false;
    }
    for (; number.exponent > 0; number.exponent--) {
        number.digits *= 10;
    }
    *ret_integer = number.negative ? -number.digits : number.digits;
    return number.digits <= INTEGER_MAX;
}

static bool integer_equals(hub_str json, hub_str text)
{
    int64_t a;
    int64_t b;
    return read_integer(json, &a) && read_integer(text, &b) && a == b;
}

/* ---- values ---------------------------------------------------------------------------------- */

static bool value_equals(hub_str json, hub_str text)
{
    if (json.ptr[0] == '"') {
        return json.len >= 2 && json.ptr[json.len - 1] == '"' &&
               string_equals((hub_str){.ptr = json.ptr + 1, .len = json.len - 2}, text);
    }
    if (hub_str_is(json, "true") || hub_str_is(json, "false")) {
        return hub_str_eq(json, text);
    }
    return integer_equals(json, text); /* false for objects and arrays: they are no numbers */
}

/* The usual case, decided early: plain text that reads the same in the body. */
static bool is_repeated(hub_str value, hub_mcp_encoding encoding, hub_str json)
{
    return json.len == value.len + 2 && value.len > 0 && json.ptr[0] == '"' &&
           json.ptr[json.len - 1] == '"' && memcmp(json.ptr + 1, value.ptr, value.len) == 0 &&
           hub_http_plain_length(value) == value.len && hub_http_trim(value).len == value.len &&
           memchr(value.ptr, '\\', value.len) == NULL &&
           memchr(value.ptr, '"', value.len) == NULL &&
           (encoding == HUB_MCP_PLAIN || !is_encoded(value));
}

hub_err hub_mcp_header_check(const hub_str *value, hub_mcp_encoding encoding, hub_str json,
                             hub_error *reterr)
{
    bool has_value = json.len > 0 && !hub_str_is(json, "null");
    if (value == NULL) {
        return has_value ? hub_fail(reterr, HUB_EINVAL, "the header is missing") : HUB_OK;
    }
    if (!has_value) {
        return hub_fail(reterr, HUB_EINVAL, "the body has no value for this header");
    }
    if (is_repeated(*value, encoding, json)) {
        return HUB_OK;
    }
    hub_buf text;
    hub_buf_init(&text, HUB_HTTP_LIMIT_HEAD_BYTES);
    hub_err err = hub_mcp_header_decode(*value, encoding, &text, reterr);
    if (err == HUB_OK && !value_equals(json, hub_buf_str(&text))) {
        err = hub_fail(reterr, HUB_EINVAL, "the header does not match the body");
    }
    hub_buf_fini(&text);
    return err;
}
