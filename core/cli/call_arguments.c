/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/call_arguments.h"

#include "wire/json.h"

#include <string.h>

/* The parts of a word. */
typedef struct argument {
    hub_str name;
    hub_str value;
    bool is_json;
} argument;

static bool split(const char *word, argument *ret_argument)
{
    const char *equals = strchr(word, '=');
    bool is_json = equals != NULL && equals > word && equals[-1] == ':';
    const char *end = is_json ? equals - 1 : equals;
    if (equals == NULL || end == word || strchr("{[\"-", word[0]) != NULL) {
        return false;
    }
    *ret_argument = (argument){
        .name = hub_str_between(word, end), .value = hub_str_of(equals + 1), .is_json = is_json};
    return true;
}

bool cli_is_argument(const char *word)
{
    argument ignored;
    return split(word, &ignored);
}

/* Whether a schema's `type`, a name or a list of names, has one. */
static bool has_type(hub_str type, const char *name)
{
    hub_json_iter it = hub_json_iterate(type);
    hub_str key;
    hub_str one;
    if (hub_json_string_is(type, hub_str_of(name))) {
        return true;
    }
    while (hub_json_type_of(type) == HUB_JSON_ARRAY && hub_json_next(&it, &key, &one)) {
        if (hub_json_string_is(one, hub_str_of(name))) {
            return true;
        }
    }
    return false;
}

/* Whether the tool takes the value as the JSON that it is. */
static bool is_wanted(hub_str type, hub_str value)
{
    hub_str json;
    hub_error ignored = {.code = HUB_OK};
    if (type.len == 0 || has_type(type, "string") ||
        hub_json_check(value, &json, &ignored) != HUB_OK) {
        return false;
    }
    hub_json_type found = hub_json_type_of(json);
    bool is_number =
        found == HUB_JSON_NUMBER && (has_type(type, "number") || has_type(type, "integer"));
    bool is_truth =
        (found == HUB_JSON_TRUE || found == HUB_JSON_FALSE) && has_type(type, "boolean");
    return is_number || is_truth || (found == HUB_JSON_ARRAY && has_type(type, "array")) ||
           (found == HUB_JSON_OBJECT && has_type(type, "object")) ||
           (found == HUB_JSON_NULL && has_type(type, "null"));
}

static hub_err add(const argument *one, hub_str schema, hub_buf *out, hub_error *reterr)
{
    hub_str json;
    hub_error why = {.code = HUB_OK};
    hub_str properties = hub_json_get(schema, HUB_STR("properties"));
    hub_str type = hub_json_get(hub_json_get(properties, one->name), HUB_STR("type"));
    if (one->is_json && hub_json_check(one->value, &json, &why) != HUB_OK) {
        return hub_fail(reterr, HUB_EINVAL, HUB_STR_FMT ": what follows \":=\" is not JSON: %s",
                        HUB_STR_ARG(one->name), why.text);
    }
    hub_json_add_key(out, one->name);
    if (one->is_json || is_wanted(type, one->value)) {
        hub_buf_add(out, one->value);
    } else {
        hub_json_add_string(out, one->value);
    }
    return HUB_OK;
}

hub_err cli_make_arguments(const char *const *words, size_t count, hub_str schema, hub_buf *out,
                           hub_error *reterr)
{
    hub_err err = HUB_OK;
    hub_buf_add_char(out, '{');
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        argument one;
        argument other;
        if (!split(words[i], &one)) {
            return hub_fail(reterr, HUB_EINVAL, "\"%.200s\": wanted NAME=VALUE or NAME:=JSON",
                            words[i]);
        }
        for (size_t k = 0; k < i; k++) {
            if (split(words[k], &other) && hub_str_eq(one.name, other.name)) {
                return hub_fail(reterr, HUB_EINVAL, HUB_STR_FMT " is given twice",
                                HUB_STR_ARG(one.name));
            }
        }
        err = add(&one, schema, out, reterr);
    }
    hub_buf_add_char(out, '}');
    return err != HUB_OK || hub_buf_ok(out) ? err
                                            : hub_fail(reterr, out->failed, "too many arguments");
}
