/* SPDX-License-Identifier: Apache-2.0 */
#include "http/syntax.h"

static const hub_str TOKEN_MARKS = {.ptr = "!#$%&'*+-.^_`|~", .len = 15};

bool hub_http_is_tchar(char c)
{
    return hub_http_is_alnum(c) || memchr(TOKEN_MARKS.ptr, c, TOKEN_MARKS.len) != NULL;
}

bool hub_http_is_token(hub_str text)
{
    for (size_t i = 0; i < text.len; i++) {
        if (!hub_http_is_tchar(text.ptr[i])) {
            return false;
        }
    }
    return text.len > 0;
}

hub_str hub_http_trim(hub_str text)
{
    while (text.len > 0 && hub_http_is_blank(text.ptr[0])) {
        text = hub_str_from(text, 1);
    }
    while (text.len > 0 && hub_http_is_blank(text.ptr[text.len - 1])) {
        text.len--;
    }
    return text;
}

bool hub_http_next_element(hub_str *rest, hub_str *ret_element)
{
    if (rest->ptr == NULL) {
        return false;
    }
    size_t end = hub_str_find(*rest, HUB_STR(","));
    bool is_last = end == SIZE_MAX;
    *ret_element = hub_http_trim((hub_str){.ptr = rest->ptr, .len = is_last ? rest->len : end});
    *rest = is_last ? (hub_str){.ptr = NULL, .len = 0} : hub_str_from(*rest, end + 1);
    return true;
}
