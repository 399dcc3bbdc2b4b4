/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_readable.h"

#include "tools/definition_text.h"
#include "wire/json_scan.h"

/* Of a whole number: Python's int_max_str_digits, which the client's parser has, too. */
enum { MOST_DIGITS = 4300 };

/* Pass over the string whose opening quote `*at` is at. False when it has half of a surrogate pair. */
static bool pass_string(const char **at, const char *end)
{
    const char *next = hub_json_skip_plain(*at + 1, end);
    bool is_whole = true;
    while (is_whole && *next != '"') {
        hub_text_reader reader = {.at = next, .end = end};
        uint32_t code = hub_text_next(&reader);
        is_whole = code < 0xd800 || code > 0xdfff;
        next = hub_json_skip_plain(reader.at, end);
    }
    *at = next + 1;
    return is_whole;
}

/* Pass over a number. False when it is a whole one of more digits than parsers convert. */
static bool pass_number(const char **at, const char *end)
{
    const char *begin = *at + (**at == '-');
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

const char *hub_definition_unreadable(hub_str json)
{
    const char *end = json.ptr + json.len;
    for (const char *at = json.ptr; at < end;) {
        if (*at == '"') {
            if (!pass_string(&at, end)) {
                return "it has half of a surrogate pair, which clients cannot read";
            }
        } else if (*at == '-' || hub_json_is_digit(*at)) {
            if (!pass_number(&at, end)) {
                return "it has a number of more than 4300 digits, which clients cannot read";
            }
        } else {
            at++;
        }
    }
    return NULL;
}
