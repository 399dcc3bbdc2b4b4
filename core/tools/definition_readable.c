/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_readable.h"

#include "tools/definition_text.h"
#include "wire/json_scan.h"

/* Of a whole number: Python's int_max_str_digits, which the client's parser has, too. */
enum { MOST_DIGITS = 4300 };

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

/* Pass over a number. False when it is a whole one of more digits than parsers convert. */
static bool pass_number(const char **at, const char *end)
{
    const char *begin = *at;
    const char *next = begin;
    while (next < end && hub_json_is_digit(*next)) {
        next++;
    }
    bool is_whole = next == end || strchr(".eE", *next) == NULL;
    bool is_right = !is_whole || next - begin <= MOST_DIGITS;
    while (next < end && (hub_json_is_digit(*next) || strchr(".eE+-", *next) != NULL)) {
        next++;
    }
    *at = next;
    return is_right;
}

static bool has_long_number(hub_str json)
{
    const char *end = json.ptr + json.len;
    bool is_text = false;
    for (const char *at = json.ptr; json.len > MOST_DIGITS && at < end;) {
        if (!is_text && hub_json_is_digit(*at)) {
            if (!pass_number(&at, end)) {
                return true;
            }
            continue;
        }
        is_text = is_text != (*at == '"');
        at += *at == '\\' ? 2 : 1;
    }
    return false;
}

const char *hub_definition_unreadable(hub_str json)
{
    if (has_half_pair(json)) {
        return "it has half of a surrogate pair, which clients cannot read";
    }
    return has_long_number(json) ? "it has a number of more than 4300 digits, too many for clients"
                                 : NULL;
}
