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

const char *hub_definition_unreadable(hub_str json)
{
    if (has_half_pair(json)) {
        return "it has half of a surrogate pair, which clients cannot read";
    }
    return has_infinite_number(json) ? "it has a number beyond 1.8e308, which clients cannot read"
                                     : NULL;
}
