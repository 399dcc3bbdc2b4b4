/* SPDX-License-Identifier: Apache-2.0 */
/* include/patchbay/write.h: commas where they belong, and JSON without escapes. */
#include <patchbay/write.h>

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>

#include <cmocka.h>

static void check(patchbay_out *out, const char *wanted)
{
    assert_false(out->failed);
    assert_true(patchbay_json_valid(patchbay_str_make(out->ptr, out->len)));
    assert_string_equal(out->ptr, wanted);
    patchbay_out_free(out);
}

static void test_every_value(void **state)
{
    patchbay_out out = {0};
    double zero = 0;
    (void)state;
    patchbay_write_array(&out);
    patchbay_write_int(&out, INT64_MIN);
    patchbay_write_int(&out, INT64_MAX);
    patchbay_write_double(&out, 0.1);
    patchbay_write_double(&out, 1 / zero);
    patchbay_write_bool(&out, 1);
    patchbay_write_bool(&out, 0);
    patchbay_write_null(&out);
    patchbay_write_text(&out, "a\"b\n\xff");
    patchbay_write_text(&out, NULL);
    patchbay_write_str(&out, patchbay_str_make("nul\0", 4));
    patchbay_write_raw(&out, patchbay_str_of("[1, 2]"));
    patchbay_write_raw(&out, patchbay_str_make(NULL, 0));
    patchbay_write_end_array(&out);
    check(&out, "[-9223372036854775808,9223372036854775807,0.1,null,true,false,null,"
                "\"a\\\"b\\n\xef\xbf\xbd\",null,\"nul\\u0000\",[1, 2],null]");
}

static void test_members(void **state)
{
    patchbay_out out = {0};
    (void)state;
    patchbay_write_object(&out);
    patchbay_write_key(&out, "empty");
    patchbay_write_object(&out);
    patchbay_write_end_object(&out);
    patchbay_write_key(&out, "a \"key\":");
    patchbay_write_array(&out);
    patchbay_write_array(&out);
    patchbay_write_end_array(&out);
    patchbay_write_object(&out);
    patchbay_write_key(&out, "");
    patchbay_write_int(&out, 0);
    patchbay_write_end_object(&out);
    patchbay_write_end_array(&out);
    patchbay_write_key(&out, "last");
    patchbay_write_null(&out);
    patchbay_write_end_object(&out);
    check(&out, "{\"empty\":{},\"a \\\"key\\\":\":[[],{\"\":0}],\"last\":null}");
}

/* Strings that end like something after which no comma is due. */
static void test_deceptive_strings(void **state)
{
    static const char *const texts[] = {"{", "[", ":", ","};
    patchbay_out out = {0};
    (void)state;
    patchbay_write_array(&out);
    for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++) {
        patchbay_write_text(&out, texts[i]);
    }
    patchbay_write_raw(&out, patchbay_str_of("1 "));
    patchbay_write_int(&out, 2);
    patchbay_write_end_array(&out);
    check(&out, "[\"{\",\"[\",\":\",\",\",1 ,2]");
}

static void test_json_without_escapes(void **state)
{
    static const char *const schema =
        PATCHBAY_JSON({
        "type": "object",
        "required": ["name"],
        "properties": {
            "name": {"type": "string", "pattern": "^[^\"\\]\u00e4(]*$", "default": null},
            "all": {"const": true, "minimum": -1.5e3}
        }
    });
    (void)state;
    assert_true(patchbay_json_valid(patchbay_str_of(schema)));
    patchbay_str name =
        patchbay_json_get(patchbay_json_get(patchbay_str_of(schema), "properties"), "name");
    assert_true(patchbay_json_is(patchbay_json_get(name, "pattern"),
                                 patchbay_str_of("^[^\"\\]\xc3\xa4(]*$")));
    assert_non_null(strstr(schema, "\"const\": true, \"minimum\": -1.5e3"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_every_value),
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_deceptive_strings),
        cmocka_unit_test(test_json_without_escapes),
    };
    return cmocka_run_group_tests_name("sdk.write", tests, NULL, NULL);
}
