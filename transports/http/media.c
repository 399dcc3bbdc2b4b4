/* SPDX-License-Identifier: Apache-2.0 */
#include "http/media.h"

#define MAX_PARAMETERS 16 /* of one element; what follows is not looked at */

/* What stands before the first `mark`, trimmed; *rest is what follows it, empty when there is none.
 */
static hub_str cut(hub_str *rest, char mark)
{
    hub_str text = *rest;
    const char *at = text.len > 0 ? memchr(text.ptr, mark, text.len) : NULL;
    if (at == NULL) {
        *rest = HUB_STR_EMPTY;
        return hub_http_trim(text);
    }
    *rest = hub_str_between(at + 1, text.ptr + text.len);
    return hub_http_trim(hub_str_between(text.ptr, at));
}

/* "0", "0.", "0.000": not acceptable (RFC 9110 section 12.4.2). */
static bool is_zero(hub_str weight)
{
    for (size_t i = 0; i < weight.len; i++) {
        if (weight.ptr[i] != (i == 1 ? '.' : '0')) {
            return false;
        }
    }
    return weight.len > 0;
}

/* Whether the parameters of a range do not rule it out. */
static bool is_wanted(hub_str parameters)
{
    for (int i = 0; i < MAX_PARAMETERS && parameters.len > 0; i++) {
        hub_str value = cut(&parameters, ';');
        hub_str name = cut(&value, '=');
        if (hub_str_eq_nocase(name, HUB_STR("q"))) {
            return !is_zero(hub_http_trim(value));
        }
    }
    return true;
}

/* How exactly a range names the type: 3 by name, 2 as "application/ *", 1 as anything, 0 not. */
static int specificity(hub_str range, hub_str type)
{
    if (hub_str_eq_nocase(range, type)) {
        return 3;
    }
    if (hub_str_is(range, "*/*")) {
        return 1;
    }
    hub_str rest = type;
    hub_str family = cut(&rest, '/');
    bool is_family = range.len == family.len + 2 &&
                     hub_str_eq_nocase((hub_str){range.ptr, family.len}, family) &&
                     hub_str_is(hub_str_from(range, family.len), "/*");
    return is_family ? 2 : 0;
}

bool hub_http_accepts(const hub_http_request *request, hub_str type)
{
    const hub_http_header *header = hub_http_known(request, HUB_HTTP_ACCEPT);
    int best = 0;
    bool wanted = false;
    bool said = false;
    for (; header != NULL; header = hub_http_find_header(request, header->name, header)) {
        hub_str rest = header->value;
        hub_str element;
        while (hub_http_next_element(&rest, &element)) {
            said = said || element.len > 0;
            hub_str range = cut(&element, ';');
            int found = specificity(range, type);
            if (found > best) {
                best = found;
                wanted = is_wanted(element);
            }
        }
    }
    return wanted || !said;
}

bool hub_http_accepts_answers(const hub_http_request *request)
{
    /* What nearly every client says. */
    static const char USUAL[] = "application/json, text/event-stream";
    const hub_http_header *header = hub_http_known(request, HUB_HTTP_ACCEPT);
    bool is_usual = header != NULL && header->value.len == sizeof USUAL - 1 &&
                    memcmp(header->value.ptr, USUAL, sizeof USUAL - 1) == 0;
    bool is_only = is_usual && hub_http_find_header(request, header->name, header) == NULL;
    return is_only || (hub_http_accepts(request, HUB_STR("application/json")) &&
                       hub_http_accepts(request, HUB_STR("text/event-stream")));
}

bool hub_http_is_json(const hub_http_request *request)
{
    const hub_http_header *header = hub_http_known(request, HUB_HTTP_CONTENT_TYPE);
    if (header == NULL) {
        return false;
    }
    hub_str parameters = header->value;
    if (!hub_str_eq_nocase(cut(&parameters, ';'), HUB_STR("application/json"))) {
        return false;
    }
    for (int i = 0; i < MAX_PARAMETERS && parameters.len > 0; i++) {
        hub_str value = cut(&parameters, ';');
        hub_str name = cut(&value, '=');
        value = hub_http_trim(value);
        if (hub_str_eq_nocase(name, HUB_STR("charset")) &&
            !hub_str_eq_nocase(value, HUB_STR("utf-8")) &&
            !hub_str_eq_nocase(value, HUB_STR("\"utf-8\""))) {
            return false;
        }
    }
    return true;
}
