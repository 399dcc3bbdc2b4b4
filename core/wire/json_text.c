/* SPDX-License-Identifier: Apache-2.0 */
/* The strings of wire/json.h: decoding, comparing and writing them. */
#include "wire/json.h"

#include "wire/json_scan.h"

static const uint32_t REPLACEMENT = 0xfffd;

/* The one-letter escapes, and what each stands for. */
static const char ESCAPE_NAMES[] = "\"\\/bfnrt";
static const char ESCAPE_BYTES[] = "\"\\/\b\f\n\r\t";

static bool is_string(hub_str raw)
{
    return raw.len >= 2 && raw.ptr[0] == '"' && raw.ptr[raw.len - 1] == '"';
}

/* What is between the quotes of a raw string. */
static hub_str inner(hub_str raw)
{
    return (hub_str){.ptr = raw.ptr + 1, .len = raw.len - 2};
}

static bool has_escape(hub_str text)
{
    return text.len > 0 && memchr(text.ptr, '\\', text.len) != NULL;
}

/* The UTF-16 unit of the \u escape at `at`, or -1 when there is none. */
static int32_t read_unit(const char *at, const char *end)
{
    if (end - at < 6 || at[0] != '\\' || at[1] != 'u') {
        return -1;
    }
    int32_t unit = 0;
    for (int i = 2; i < 6; i++) {
        int digit = hub_str_hex_digit(at[i]);
        if (digit < 0) {
            return -1;
        }
        unit = unit * 16 + digit;
    }
    return unit;
}

/* The code point of the escape at *at, which moves behind it. */
static uint32_t read_escape(const char **at, const char *end)
{
    int32_t unit = read_unit(*at, end);
    if (unit < 0) {
        char letter = end - *at >= 2 ? (*at)[1] : '\0';
        const char *name = memchr(ESCAPE_NAMES, letter, sizeof ESCAPE_NAMES - 1);
        *at += letter == '\0' ? 1 : 2;
        return name != NULL ? (unsigned char)ESCAPE_BYTES[name - ESCAPE_NAMES] : REPLACEMENT;
    }
    *at += 6;
    if (unit < 0xd800 || unit > 0xdfff) {
        return (uint32_t)unit;
    }
    int32_t low = unit < 0xdc00 ? read_unit(*at, end) : -1;
    if (low < 0xdc00 || low > 0xdfff) {
        return REPLACEMENT;
    }
    *at += 6;
    return 0x10000 + (((uint32_t)unit - 0xd800) << 10) + ((uint32_t)low - 0xdc00);
}

/* Write a code point as UTF-8; returns the number of bytes. */
static size_t write_utf8(uint32_t code, char ret_bytes[4])
{
    if (code < 0x80) {
        ret_bytes[0] = (char)code;
        return 1;
    }
    if (code < 0x800) {
        ret_bytes[0] = (char)(0xc0 | code >> 6);
        ret_bytes[1] = (char)(0x80 | (code & 0x3f));
        return 2;
    }
    if (code < 0x10000) {
        ret_bytes[0] = (char)(0xe0 | code >> 12);
        ret_bytes[1] = (char)(0x80 | (code >> 6 & 0x3f));
        ret_bytes[2] = (char)(0x80 | (code & 0x3f));
        return 3;
    }
    ret_bytes[0] = (char)(0xf0 | code >> 18);
    ret_bytes[1] = (char)(0x80 | (code >> 12 & 0x3f));
    ret_bytes[2] = (char)(0x80 | (code >> 6 & 0x3f));
    ret_bytes[3] = (char)(0x80 | (code & 0x3f));
    return 4;
}

/* Take the next piece of decoded text from the inside of a string: a run without escapes, or one
 * escape, decoded into `scratch`. False at the end. */
static bool next_piece(hub_str *rest, char scratch[4], hub_str *ret_piece)
{
    if (rest->len == 0) {
        return false;
    }
    const char *end = rest->ptr + rest->len;
    const char *at = memchr(rest->ptr, '\\', rest->len);
    if (at == rest->ptr) {
        size_t length = write_utf8(read_escape(&at, end), scratch);
        *ret_piece = (hub_str){.ptr = scratch, .len = length};
    } else {
        at = at != NULL ? at : end;
        *ret_piece = hub_str_between(rest->ptr, at);
    }
    *rest = hub_str_between(at, end);
    return true;
}

/* The escape of a byte that may not stand in a string as it is. */
static void add_escaped(hub_buf *out, char c)
{
    const char *byte = memchr(ESCAPE_BYTES, c, sizeof ESCAPE_BYTES - 1);
    if (byte == NULL) {
        static const char DIGITS[] = "0123456789abcdef";
        char code[6] = {'\\', 'u', '0', '0', DIGITS[c >> 4 & 0xf], DIGITS[c & 0xf]};
        hub_buf_add(out, (hub_str){.ptr = code, .len = sizeof code});
        return;
    }
    char pair[2] = {'\\', ESCAPE_NAMES[byte - ESCAPE_BYTES]};
    hub_buf_add(out, (hub_str){.ptr = pair, .len = sizeof pair});
}

bool hub_json_string_is(hub_str raw, hub_str text)
{
    if (!is_string(raw) || raw.len - 2 < text.len) {
        return false; /* decoding never makes a string longer */
    }
    hub_str rest = inner(raw);
    if (text.len > 0 && *rest.ptr != *text.ptr && *rest.ptr != '\\') { /* most that are not it */
        return false;
    }
    hub_str piece;
    char scratch[4];
    while (next_piece(&rest, scratch, &piece)) {
        if (!hub_str_starts(text, piece)) {
            return false;
        }
        text = hub_str_from(text, piece.len);
    }
    return text.len == 0;
}

hub_err hub_json_decode(hub_str raw, hub_buf *out)
{
    if (!is_string(raw)) {
        return HUB_EINVAL;
    }
    hub_str rest = inner(raw);
    hub_str piece;
    char scratch[4];
    while (next_piece(&rest, scratch, &piece)) {
        hub_buf_add(out, piece);
    }
    return out->failed;
}

bool hub_json_plain(hub_str raw, hub_str *ret_text)
{
    if (!is_string(raw) || has_escape(inner(raw))) {
        return false;
    }
    *ret_text = inner(raw);
    return true;
}

/* Append text that stands for itself. */
static void add_plain(hub_buf *out, hub_str text)
{
    char *at = hub_buf_reserve(out, text.len + 2);
    if (at != NULL) {
        *at = '"';
        memcpy(at + 1, text.ptr, text.len);
        at[text.len + 1] = '"';
        out->len += text.len + 2;
    }
}

/* Whether fewer than 16 bytes are plain, by two loads, which may overlap. May deny it wrongly. */
static bool is_short_plain(hub_str text)
{
    if (text.len >= 8) {
        return hub_json_all_plain(hub_load8(text.ptr)) &&
               hub_json_all_plain(hub_load8(text.ptr + text.len - 8));
    }
    return text.len >= 4 && hub_json_all_plain((uint64_t)hub_load4(text.ptr) << 32 |
                                               hub_load4(text.ptr + text.len - 4));
}

void hub_json_add_string(hub_buf *out, hub_str text)
{
    if (text.len < 16 && is_short_plain(text)) { /* as names are */
        add_plain(out, text);
        return;
    }
    const char *at = text.len > 0 ? text.ptr : "";
    const char *end = at + text.len;
    const char *run = at; /* what is valid as it is and not yet appended */
    at = hub_json_skip_plain(at, end);
    if (at == end) {
        add_plain(out, hub_str_between(run, end));
        return;
    }
    hub_buf_add_char(out, '"');
    for (;;) {
        at = hub_json_skip_plain(at, end);
        size_t length = at < end ? hub_json_utf8_length(at, end) : 0;
        if (length > 0) {
            at += length;
            continue;
        }
        hub_buf_add(out, hub_str_between(run, at));
        if (at == end) {
            break;
        }
        if ((unsigned char)*at < 0x80) {
            add_escaped(out, *at);
        } else {
            hub_buf_add(out, HUB_STR("\xef\xbf\xbd"));
        }
        run = ++at;
    }
    hub_buf_add_char(out, '"');
}

void hub_json_add_key(hub_buf *out, hub_str key)
{
    hub_json_add_comma(out);
    hub_json_add_string(out, key);
    hub_buf_add_char(out, ':');
}

void hub_json_add_member(hub_buf *out, const char *key, hub_str text)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_json_add_string(out, text);
}

void hub_json_add_count(hub_buf *out, const char *key, uint64_t count)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_add_u64(out, count);
}

void hub_json_add_comma(hub_buf *out)
{
    char last = out->len > 0 ? out->ptr[out->len - 1] : '[';
    if (last != '{' && last != '[') {
        hub_buf_add_char(out, ',');
    }
}
