/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/router/through.h"

/* What a call through is about. False: something is there twice, or is of another type. */
static bool read_arguments(hub_str outer, hub_str *ret_name, hub_str *ret_arguments)
{
    hub_json_iter it = hub_json_iterate(outer);
    hub_str key;
    hub_str value;
    *ret_name = HUB_STR_EMPTY;
    *ret_arguments = HUB_STR_EMPTY;
    while (hub_json_next(&it, &key, &value)) {
        bool is_name = hub_json_string_is(key, HUB_STR("name"));
        hub_str *into = is_name ? ret_name : ret_arguments;
        if ((!is_name && !hub_json_string_is(key, HUB_STR("arguments"))) || into->len > 0) {
            return false;
        }
        *into = value;
    }
    hub_json_type type = hub_json_type_of(*ret_arguments);
    if (type == HUB_JSON_NONE || type == HUB_JSON_NULL) {
        *ret_arguments = HUB_STR("{}");
    } else if (type != HUB_JSON_OBJECT) {
        return false;
    }
    return hub_json_type_of(*ret_name) == HUB_JSON_STRING;
}

/* Replace two slices of a text, which do not overlap. */
static void add_replaced(hub_buf *out, hub_str text, const hub_str was[2], const hub_str now[2])
{
    size_t first = was[0].ptr < was[1].ptr ? 0 : 1;
    size_t second = 1 - first;
    hub_buf_add(out, hub_str_between(text.ptr, was[first].ptr));
    hub_buf_add(out, now[first]);
    hub_buf_add(out, hub_str_between(was[first].ptr + was[first].len, was[second].ptr));
    hub_buf_add(out, now[second]);
    hub_buf_add(out, hub_str_between(was[second].ptr + was[second].len, text.ptr + text.len));
}

bool hub_through_read(const hub_message *message, hub_buf *text, hub_message *ret_inner)
{
    const hub_str was[2] = {message->at[HUB_M_NAME], message->at[HUB_M_ARGUMENTS]};
    hub_str now[2];
    if (hub_json_type_of(was[1]) != HUB_JSON_OBJECT || !read_arguments(was[1], &now[0], &now[1])) {
        return false;
    }
    add_replaced(text, message->whole, was, now);
    return hub_buf_ok(text) && hub_message_scan(hub_buf_str(text), ret_inner, NULL) == HUB_OK;
}
