/* SPDX-License-Identifier: Apache-2.0 */
#include "http/syntax.h"

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
    const char *comma = rest->len > 0 ? memchr(rest->ptr, ',', rest->len) : NULL;
    size_t end = comma != NULL ? (size_t)(comma - rest->ptr) : rest->len;
    *ret_element = hub_http_trim((hub_str){.ptr = rest->ptr, .len = end});
    *rest = comma != NULL ? hub_str_from(*rest, end + 1) : (hub_str){.ptr = NULL, .len = 0};
    return true;
}
