/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a server says of its troubles, made fit to be repeated: one line, bounded, without what
 * could move a cursor.
 */
#include "upstream.h"

/* Whether the character of `len` bytes at `at` is shown as space: control characters of both sets,
 * and what is not UTF-8 (`len` 0). */
static int is_blank(const char *at, size_t len)
{
    unsigned char c = (unsigned char)at[0];
    int is_c1 = len == 2 && c == 0xc2 && (unsigned char)at[1] < 0xa0;
    return len == 0 || c <= 0x20 || c == 0x7f || is_c1;
}

void upstream_quote(patchbay_str text, char *ret_line, size_t size)
{
    static const char CUT[] = "...";
    const char *at = text.len > 0 ? text.ptr : CUT; /* with NULL there is no arithmetic */
    const char *end = at + text.len;
    size_t len = 0;
    size_t fits = 0; /* so much can stay if more has to be cut off */
    while (at < end) {
        size_t step = patchbay_utf8_length(at, end);
        int blank = is_blank(at, step);
        if (blank && (len == 0 || ret_line[len - 1] == ' ')) {
            at += step > 0 ? step : 1;
            continue;
        }
        size_t added = blank ? 1 : step;
        if (len + added + 1 > size) {
            memcpy(ret_line + fits, CUT, sizeof CUT);
            return;
        }
        memcpy(ret_line + len, blank ? " " : at, added);
        len += added;
        fits = len + sizeof CUT <= size ? len : fits;
        at += step > 0 ? step : 1;
    }
    if (len > 0 && ret_line[len - 1] == ' ') {
        len--;
    }
    ret_line[len] = '\0';
}

void upstream_quote_json(patchbay_str raw, char *ret_line, size_t size)
{
    patchbay_out text = {0};
    if (patchbay_json_decode(raw, &text) && !text.failed) {
        upstream_quote(patchbay_str_make(text.ptr, text.len), ret_line, size);
    } else {
        upstream_quote(raw, ret_line, size);
    }
    patchbay_out_free(&text);
}

void upstream_write_time(uint64_t ms, char *ret_text)
{
    unsigned digits = 3;
    unsigned rest = (unsigned)(ms % 1000);
    while (digits > 0 && rest % 10 == 0) {
        rest /= 10;
        digits--;
    }
    unsigned long long seconds = (unsigned long long)(ms / 1000);
    (void)(digits == 0 ? snprintf(ret_text, UPSTREAM_TIME_BYTES, "%llu s", seconds)
                       : snprintf(ret_text, UPSTREAM_TIME_BYTES, "%llu.%0*u s", seconds,
                                  (int)digits, rest));
}

void upstream_quote_error(patchbay_str error, char *ret_line, size_t size)
{
    patchbay_str message = patchbay_json_get(error, "message");
    upstream_quote_json(message, ret_line, size);
    if (ret_line[0] == '\0') {
        upstream_quote(error, ret_line, size);
    }
}
