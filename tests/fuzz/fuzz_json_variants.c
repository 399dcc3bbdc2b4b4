/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Each variant of the scanner that this processor can run, held against the plain one and against
 * jansson. The first byte of an input says where in memory the text begins, modulo 64; the rest is
 * once the text itself, and once what stands inside a string, behind enough of it that the scanner
 * has gone over to blocks. Verdict, error text and value must be the same.
 */
#include "wire/json.h"
#include "wire/json_string.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { BLOCK = HUB_JSON_BLOCK_BYTES };

static const char LEAD[] = "\"\xc3\xa9 forty bytes and more, all of them right: \\n";

/* What jansson refuses and the hub passes on, or the other way around: see fuzz_json.c. */
static bool is_known_difference(hub_str text, const json_error_t *error)
{
    return json_error_code(error) == json_error_numeric_overflow ||
           json_error_code(error) == json_error_null_byte_in_key ||
           strstr(error->text, "invalid Unicode") != NULL ||
           memchr(text.ptr, '\0', text.len) != NULL;
}

static void compare_to_jansson(hub_str text, hub_err err)
{
    json_error_t error = {.text = ""};
    json_t *tree = json_loadb(text.ptr, text.len, JSON_DECODE_ANY | JSON_ALLOW_NUL, &error);
    REQUIRE(err == HUB_ELIMIT || (tree != NULL) == (err == HUB_OK) ||
            is_known_difference(text, &error));
    json_decref(tree);
}

static hub_err scan_as(const char *variant, hub_str text, hub_str *ret_value, hub_error *ret_error)
{
    *ret_value = (hub_str){0};
    memset(ret_error, 0, sizeof *ret_error);
    REQUIRE(hub_json_use_variant(variant));
    return hub_json_check(text, ret_value, ret_error);
}

static void check(hub_str text)
{
    hub_str want_value;
    hub_error want;
    hub_err want_err = scan_as("plain", text, &want_value, &want);
    const char *variant;
    for (size_t i = 0; (variant = hub_json_variant(i)) != NULL; i++) {
        hub_str value;
        hub_error error;
        REQUIRE(scan_as(variant, text, &value, &error) == want_err);
        REQUIRE(strcmp(error.text, want.text) == 0);
        REQUIRE(value.ptr == want_value.ptr && value.len == want_value.len);
    }
    compare_to_jansson(text, want_err);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0) {
        return 0;
    }
    size_t place = data[0] % BLOCK;
    hub_str rest = {.ptr = (const char *)data + 1, .len = size - 1};
    size_t room = place + sizeof LEAD - 1 + rest.len + 1;
    /* Each text ends where its memory does. */
    char *bare = malloc(place + rest.len);
    char *quoted = malloc(room);
    REQUIRE((bare != NULL || place + rest.len == 0) && quoted != NULL);
    if (rest.len > 0) {
        memcpy(bare + place, rest.ptr, rest.len);
        check((hub_str){.ptr = bare + place, .len = rest.len});
    }

    memcpy(quoted + place, LEAD, sizeof LEAD - 1);
    memcpy(quoted + place + sizeof LEAD - 1, rest.ptr, rest.len);
    quoted[room - 1] = '"';
    check((hub_str){.ptr = quoted + place, .len = room - place});
    free(quoted);
    free(bare);
    return 0;
}
