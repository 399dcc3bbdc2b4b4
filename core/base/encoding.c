/* SPDX-License-Identifier: Apache-2.0 */
#include "base/encoding.h"

/* ---- hexadecimal ----------------------------------------------------------------------------- */

void hub_hex_write(const void *bytes, size_t count, char *ret_text)
{
    static const char DIGITS[] = "0123456789abcdef";
    const unsigned char *at = bytes;
    for (size_t i = 0; i < count; i++) {
        ret_text[2 * i] = DIGITS[at[i] >> 4];
        ret_text[2 * i + 1] = DIGITS[at[i] & 0xf];
    }
}

void hub_hex_add(hub_buf *out, hub_str bytes)
{
    char *at = hub_buf_reserve(out, 2 * bytes.len);
    if (at != NULL) {
        hub_hex_write(bytes.ptr, bytes.len, at);
        out->len += 2 * bytes.len;
    }
}

/* The value of a lower-case digit, or -1. */
static int lower_digit(char c)
{
    return c >= 'A' && c <= 'F' ? -1 : hub_str_hex_digit(c);
}

bool hub_hex_is(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (lower_digit(text.ptr[i]) < 0) {
            return false;
        }
    }
    return true;
}

bool hub_hex_read(hub_str text, void *ret_bytes, size_t count)
{
    unsigned char *to = ret_bytes;
    if (text.len % 2 != 0 || text.len / 2 != count) {
        return false;
    }
    for (size_t i = 0; i < count; i++) {
        int high = lower_digit(text.ptr[2 * i]);
        int low = lower_digit(text.ptr[2 * i + 1]);
        if (high < 0 || low < 0) {
            return false;
        }
        to[i] = (unsigned char)(high << 4 | low);
    }
    return true;
}

/* ---- percent signs --------------------------------------------------------------------------- */

bool hub_percent_decode(hub_str text, bool is_form, hub_buf *out)
{
    bool is_whole = true;
    for (size_t i = 0; i < text.len; i++) {
        char c = text.ptr[i];
        if (c == '%') {
            int byte = hub_percent_byte(text, i);
            is_whole = is_whole && byte >= 0;
            hub_buf_add_char(out, byte >= 0 ? (char)byte : '%');
            i += byte >= 0 ? 2 : 0;
        } else {
            hub_buf_add_char(out, is_form && c == '+' ? ' ' : c);
        }
    }
    return is_whole;
}

static bool is_unreserved(char c)
{
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
           (c != '\0' && strchr("-._~", c) != NULL);
}

void hub_percent_encode(hub_str text, hub_buf *out)
{
    static const char DIGITS[] = "0123456789ABCDEF";
    for (size_t i = 0; i < text.len; i++) {
        unsigned char byte = (unsigned char)text.ptr[i];
        if (is_unreserved(text.ptr[i])) {
            hub_buf_add_char(out, text.ptr[i]);
        } else {
            const char code[] = {'%', DIGITS[byte >> 4], DIGITS[byte & 15]};
            hub_buf_add(out, (hub_str){.ptr = code, .len = sizeof code});
        }
    }
}
