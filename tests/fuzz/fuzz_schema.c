/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A schema up to the first newline, then a value. Whatever they are: the text of an error is clean
 * UTF-8 that names its place, the verdict does not depend on whether a text is wanted, and every
 * value equals itself.
 */
#include "tools/schema.h"

#include "wire/json.h"

#include <stdlib.h>

enum { MAX_BYTES = 1 << 16 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void require_clean_text(const hub_error *error)
{
    hub_buf text;
    hub_buf_init(&text, MAX_BYTES);
    hub_buf_add_char(&text, '"');
    for (const char *at = error->text; *at != '\0'; at++) {
        bool is_special = *at == '"' || *at == '\\';
        hub_buf_add_char(&text, is_special ? '\'' : *at);
    }
    hub_buf_add_char(&text, '"');
    REQUIRE(error->text[0] != '\0');
    REQUIRE(hub_json_check(hub_buf_str(&text), NULL, NULL) == HUB_OK);
    hub_buf_fini(&text);
}

static hub_err verdict(const hub_schema *schema, hub_str value)
{
    hub_error error = {.code = HUB_OK, .text = ""};
    hub_err err = hub_schema_validate(schema, value, "v", &error);
    REQUIRE(err == HUB_OK || err == HUB_EINVAL || err == HUB_ELIMIT);
    REQUIRE(hub_schema_validate(schema, value, "v", NULL) == err);
    if (err != HUB_OK) {
        REQUIRE(error.code == err && error.text[0] == 'v');
        require_clean_text(&error);
    }
    return err;
}

/* Put the value into a schema or a value between two texts. */
static hub_str wrap(hub_buf *out, const char *before, hub_str value, const char *after)
{
    hub_buf_clear(out);
    hub_buf_add(out, hub_str_of(before));
    hub_buf_add(out, value);
    hub_buf_add(out, hub_str_of(after));
    REQUIRE(hub_buf_ok(out));
    return hub_buf_str(out);
}

static void require_verdict(hub_str schema_text, hub_str value, hub_err wanted)
{
    hub_schema *schema = NULL;
    if (hub_json_check(schema_text, NULL, NULL) != HUB_OK ||
        hub_json_check(value, NULL, NULL) != HUB_OK) {
        return; /* a limit of JSON, by wrapping */
    }
    REQUIRE(hub_schema_compile(schema_text, &schema, NULL) == HUB_OK);
    hub_err err = verdict(schema, value);
    REQUIRE(err == wanted || err == HUB_ELIMIT);
    hub_schema_destroy(schema);
}

static void require_equal_to_itself(hub_str value)
{
    hub_buf schema;
    hub_buf pair;
    hub_buf_init(&schema, 3 * MAX_BYTES);
    hub_buf_init(&pair, 3 * MAX_BYTES);
    require_verdict(wrap(&schema, "{\"const\":", value, "}"), value, HUB_OK);
    require_verdict(wrap(&schema, "{\"enum\":[0,", value, "]}"), value, HUB_OK);
    require_verdict(wrap(&schema, "{\"not\":{\"const\":", value, "}}"), value, HUB_EINVAL);
    hub_str first = wrap(&schema, "[", value, ",");
    hub_buf_add(&pair, first);
    hub_buf_add(&pair, value);
    hub_buf_add_char(&pair, ']');
    REQUIRE(hub_buf_ok(&pair));
    require_verdict(HUB_STR("{\"uniqueItems\":true}"), hub_buf_str(&pair), HUB_EINVAL);
    hub_buf_fini(&pair);
    hub_buf_fini(&schema);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str input = {.ptr = (const char *)data, .len = size};
    size_t newline = hub_str_find(input, HUB_STR("\n"));
    if (size > MAX_BYTES || newline == SIZE_MAX) {
        return 0;
    }
    hub_str value;
    bool has_value = hub_json_check(hub_str_from(input, newline + 1), &value, NULL) == HUB_OK;
    if (has_value) {
        require_equal_to_itself(value);
    }
    hub_str text;
    if (hub_json_check((hub_str){.ptr = input.ptr, .len = newline}, &text, NULL) != HUB_OK) {
        return 0;
    }
    hub_error error = {.code = HUB_OK, .text = ""};
    hub_schema *schema = NULL;
    hub_err err = hub_schema_compile(text, &schema, &error);
    if (err != HUB_OK) {
        REQUIRE(error.code == err && schema == NULL);
        require_clean_text(&error);
    } else if (has_value) {
        (void)verdict(schema, value); /* any is fine */
    }
    hub_schema_destroy(schema);
    return 0;
}
