/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Bytes as text: in hexadecimal, and behind percent signs. Pure functions. Thread: [any].
 */
#ifndef HUB_BASE_ENCODING_H
#define HUB_BASE_ENCODING_H

#include "base/buf.h"
#include "base/str.h"

/* Write `count` bytes in lower-case hexadecimal: 2 * count characters, and no NUL. */
void hub_hex_write(const void *bytes, size_t count, char *ret_text);

/* Append bytes in lower-case hexadecimal. */
void hub_hex_add(hub_buf *out, hub_str bytes);

/* Whether a text is lower-case digits alone. */
bool hub_hex_is(hub_str text);

/* Read `count` bytes, each two lower-case digits: bytes have one spelling only, so a text with any bit
 * changed is another one. False: the text is not that, and ret_bytes may be written in part. */
HUB_MUST_CHECK bool hub_hex_read(hub_str text, void *ret_bytes, size_t count);

/* The byte that the percent sign at `at` and the two digits behind it (either case) stand for; -1: no two
 * digits follow. */
static inline int hub_percent_byte(hub_str text, size_t at)
{
    int high = text.len - at > 2 ? hub_str_hex_digit(text.ptr[at + 1]) : -1;
    int low = high >= 0 ? hub_str_hex_digit(text.ptr[at + 2]) : -1;
    return low >= 0 ? high << 4 | low : -1;
}

/* Append a text with %XX (either case) decoded and, in a form, '+' as a space. A percent sign that no two
 * digits follow is appended as it is, and makes the result false. A decoded byte may be a NUL.
 * spec: RFC 3986, 2.1; of forms, WHATWG URL, application/x-www-form-urlencoded */
bool hub_percent_decode(hub_str text, bool is_form, hub_buf *out);

/* Append a text in which only unreserved characters (RFC 3986, 2.3) stay: good in a form, a query and a path.
 */
void hub_percent_encode(hub_str text, hub_buf *out);

#endif
