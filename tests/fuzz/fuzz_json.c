/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_json_check and the functions on checked values, held against jansson: both must accept or
 * refuse, and agree on what they read. Known differences (jansson 2.14):
 *  - jansson refuses numbers outside int64_t and double; the hub passes them on
 *  - jansson refuses lone surrogate escapes; the hub passes them on
 *  - jansson refuses \u0000 in a key, also with JSON_ALLOW_NUL
 *  - jansson allows a depth of 2048 and any number of values; the hub has smaller limits
 *  - jansson 2.14 forgets a NUL byte that it put back behind a token: it accepts "1\0"
 *  - jansson keeps the last of equal keys; hub_json_get finds the first
 */
#include "oracle.h"
#include "base/limits.h"
#include "wire/json.h"

#include <jansson.h>
#include <math.h>
#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static bool may_differ(const json_error_t *error)
{
    switch (json_error_code(error)) {
    case json_error_numeric_overflow:
    case json_error_null_byte_in_key:
        return true;
    default:
        return strstr(error->text, "invalid Unicode") != NULL;
    }
}

static void compare_text(hub_str raw, const json_t *want)
{
    hub_buf text;
    hub_buf_init(&text, 1u << 20);
    REQUIRE(hub_json_decode(raw, &text) == HUB_OK);
    hub_str expected = {.ptr = json_string_value(want), .len = json_string_length(want)};
    REQUIRE(hub_str_eq(hub_buf_str(&text), expected));
    REQUIRE(hub_json_string_is(raw, expected));
    hub_str plain;
    REQUIRE(!hub_json_plain(raw, &plain) || hub_str_eq(plain, expected));
    hub_buf_clear(&text);
    hub_json_add_string(&text, expected);
    REQUIRE(hub_json_string_is(hub_buf_str(&text), expected));
    hub_buf_fini(&text);
}

static void compare_number(hub_str raw, const json_t *want)
{
    double number;
    REQUIRE(hub_json_to_double(raw, &number));
    REQUIRE(!json_is_real(want) || number == json_real_value(want));
    int64_t integer;
    REQUIRE(hub_json_to_i64(raw, &integer) == json_is_integer(want));
    REQUIRE(!json_is_integer(want) || integer == json_integer_value(want));
}

/* The values agree, as far as jansson tells. Depth is bounded: this may recurse. */
static void compare(hub_str raw, const json_t *want)
{
    static const hub_json_type types[] = {
        [JSON_OBJECT] = HUB_JSON_OBJECT, [JSON_ARRAY] = HUB_JSON_ARRAY,
        [JSON_STRING] = HUB_JSON_STRING, [JSON_INTEGER] = HUB_JSON_NUMBER,
        [JSON_REAL] = HUB_JSON_NUMBER,   [JSON_TRUE] = HUB_JSON_TRUE,
        [JSON_FALSE] = HUB_JSON_FALSE,   [JSON_NULL] = HUB_JSON_NULL,
    };
    REQUIRE(hub_json_type_of(raw) == types[json_typeof(want)]);
    if (json_is_string(want)) {
        compare_text(raw, want);
    } else if (json_is_number(want)) {
        compare_number(raw, want);
    } else if (json_is_array(want)) {
        REQUIRE(hub_json_count(raw) == json_array_size(want));
    } else if (json_is_object(want)) {
        REQUIRE(hub_json_count(raw) >= json_object_size(want));
    }
    hub_json_iter it = hub_json_iterate(raw);
    hub_str key;
    hub_str value;
    bool has_unique_keys = hub_json_count(raw) == json_object_size(want);
    for (size_t i = 0; hub_json_next(&it, &key, &value); i++) {
        if (json_is_array(want)) {
            REQUIRE(key.len == 0);
            compare(value, json_array_get(want, i));
            continue;
        }
        hub_buf name;
        hub_buf_init(&name, 1u << 20);
        REQUIRE(hub_json_decode(key, &name) == HUB_OK);
        hub_str first = hub_json_get(raw, hub_buf_str(&name));
        REQUIRE(first.len > 0 && (first.ptr == value.ptr || !has_unique_keys));
        if (has_unique_keys) {
            hub_buf_add_char(&name, '\0'); /* no key that jansson accepts holds one */
            compare(value, json_object_get(want, name.ptr));
        }
        hub_buf_fini(&name);
    }
}

/* Without its white space it is the same value still, and stays so. */
static void check_compact(hub_str value)
{
    hub_buf once;
    hub_buf twice;
    hub_buf_init(&once, value.len);
    hub_buf_init(&twice, value.len);
    hub_json_add_compact(&once, value);
    hub_str compact;
    REQUIRE(hub_json_check(hub_buf_str(&once), &compact, NULL) == HUB_OK);
    REQUIRE(compact.len == once.len);
    hub_json_add_compact(&twice, compact);
    REQUIRE(hub_str_eq(compact, hub_buf_str(&twice)));
    hub_buf_fini(&once);
    hub_buf_fini(&twice);
}

/* The functions for checked values bear others too; and any bytes can be written as a key. */
static void check_any_text(hub_str text)
{
    hub_buf out;
    hub_buf_init(&out, 16u << 20);
    (void)hub_json_count(text);
    hub_json_add_compact(&out, text);
    hub_err err = hub_json_decode(text, &out);
    REQUIRE(err == HUB_OK || err == HUB_EINVAL);
    hub_buf_clear(&out);
    hub_buf_add_char(&out, '{');
    hub_json_add_key(&out, text);
    hub_buf_add(&out, HUB_STR("1}"));
    REQUIRE(hub_buf_ok(&out));
    REQUIRE(hub_json_check(hub_buf_str(&out), NULL, NULL) == HUB_OK);
    REQUIRE(hub_json_count(hub_buf_str(&out)) == 1);
    hub_buf_fini(&out);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str text = {.ptr = (const char *)data, .len = size};
    hub_str value = {0};
    hub_error reason = {0};
    hub_err err = hub_json_check(text, &value, &reason);
    REQUIRE(reason.code == err);

    check_any_text(text);
    if (!FUZZ_ORACLE) {
        return 0;
    }
    json_error_t error;
    json_t *tree = json_loadb(text.ptr, size, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    if (err == HUB_OK) {
        REQUIRE(value.ptr >= text.ptr && value.ptr + value.len <= text.ptr + text.len);
        check_compact(value);
        REQUIRE(tree != NULL || may_differ(&error));
        if (tree != NULL) {
            compare(value, tree);
        }
    } else if (err == HUB_EPARSE) {
        REQUIRE(tree == NULL || memchr(text.ptr, '\0', size) != NULL);
    } else {
        REQUIRE(err == HUB_ELIMIT);
    }
    json_decref(tree);
    return 0;
}
