/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/results/pointer.h"

#include "base/limits.h"
#include "wire/json.h"

typedef struct walk {
    size_t left; /* bytes that may yet be read */
    hub_buf *text;
    hub_buf key; /* of the part that is looked for, decoded */
    hub_error *reterr;
} walk;

static hub_err charge(walk *w, size_t bytes)
{
    if (bytes > w->left) {
        return hub_fail(w->reterr, HUB_ELIMIT,
                        "path leads through too much: give a shorter one, or none");
    }
    w->left -= bytes;
    return HUB_OK;
}

/* Take the next part of the pointer, without its escapes. */
static hub_err take_part(walk *w, hub_str *pointer)
{
    hub_buf_clear(&w->key);
    size_t at = 1;
    for (; at < pointer->len && pointer->ptr[at] != '/'; at++) {
        char c = pointer->ptr[at];
        if (c == '~') {
            char next = at + 1 < pointer->len ? pointer->ptr[at + 1] : '\0';
            if (next != '0' && next != '1') {
                return hub_fail(w->reterr, HUB_EINVAL,
                                "path: \"~\" is written \"~0\" in a JSON Pointer, and \"/\" in a "
                                "name \"~1\"");
            }
            c = next == '0' ? '~' : '/';
            at++;
        }
        hub_buf_add_char(&w->key, c);
    }
    *pointer = hub_str_from(*pointer, at);
    return hub_buf_ok(&w->key) ? HUB_OK : hub_fail(w->reterr, HUB_ENOMEM, "out of memory");
}

/* Go into a text that is JSON. */
static hub_err enter_text(walk *w, hub_str *value)
{
    hub_buf decoded;
    hub_buf_init(&decoded, value->len + 1);
    hub_err err = charge(w, 2 * value->len);
    if (err == HUB_OK && hub_json_decode(*value, &decoded) != HUB_OK) {
        err = hub_fail(w->reterr, HUB_ENOMEM, "out of memory");
    }
    if (err == HUB_OK && hub_json_check(hub_buf_str(&decoded), value, NULL) != HUB_OK) {
        err = hub_fail(w->reterr, HUB_ENOTFOUND,
                       "path leads into a text that is not JSON: end it there");
    }
    hub_buf_fini(w->text);
    *w->text = decoded; /* which *value, that lay in the other one, points into now */
    return err;
}

/* The number that a part is, as of an element of an array; SIZE_MAX: it is none. */
static size_t index_of(hub_str part)
{
    size_t number = 0;
    bool is_one = part.len > 0 && part.len < 10 && (part.len == 1 || part.ptr[0] != '0');
    for (size_t i = 0; is_one && i < part.len; i++) {
        is_one = part.ptr[i] >= '0' && part.ptr[i] <= '9';
        number = number * 10 + (size_t)(part.ptr[i] - '0');
    }
    return is_one ? number : SIZE_MAX;
}

static hub_err enter_member(walk *w, hub_str *value)
{
    hub_str part = hub_buf_str(&w->key);
    bool is_object = hub_json_type_of(*value) == HUB_JSON_OBJECT;
    size_t wanted = is_object ? SIZE_MAX : index_of(part);
    size_t at = 0;
    hub_str key;
    hub_str member;
    hub_err err = charge(w, value->len);
    bool is_container = is_object || hub_json_type_of(*value) == HUB_JSON_ARRAY;
    hub_json_iter it = hub_json_iterate(is_container ? *value : HUB_STR("[]"));
    for (; err == HUB_OK && hub_json_next(&it, &key, &member); at++) {
        if (is_object ? hub_json_string_is(key, part) : at == wanted) {
            *value = member;
            return HUB_OK;
        }
    }
    return err != HUB_OK ? err
                         : hub_fail(w->reterr, HUB_ENOTFOUND,
                                    "path: there is no \"%.*s\" at that place of the result",
                                    (int)(part.len < 100 ? part.len : 100), part.ptr);
}

hub_err hub_result_point(hub_str json, hub_str pointer, size_t most_bytes, hub_buf *text,
                         hub_str *ret_value, hub_error *reterr)
{
    walk w = {.left = most_bytes, .text = text, .reterr = reterr};
    hub_err err = HUB_OK;
    if (pointer.len > HUB_LIMIT_RESULT_POINTER_BYTES) {
        return hub_fail(reterr, HUB_EINVAL, "path has more than %d bytes",
                        HUB_LIMIT_RESULT_POINTER_BYTES);
    }
    if (pointer.len > 0 && pointer.ptr[0] != '/') {
        return hub_fail(reterr, HUB_EINVAL,
                        "path is a JSON Pointer and begins with \"/\", as \"/content/0/text\"");
    }
    hub_buf_init(&w.key, HUB_LIMIT_RESULT_POINTER_BYTES + 1);
    *ret_value = json;
    while (err == HUB_OK && pointer.len > 0) {
        err = take_part(&w, &pointer);
        if (err == HUB_OK && hub_json_type_of(*ret_value) == HUB_JSON_STRING) {
            err = enter_text(&w, ret_value);
        }
        err = err == HUB_OK ? enter_member(&w, ret_value) : err;
    }
    hub_buf_fini(&w.key);
    return err;
}
