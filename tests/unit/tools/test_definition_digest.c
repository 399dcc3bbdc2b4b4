/* SPDX-License-Identifier: Apache-2.0 */
/* Digests of definitions (S3.90): of what is meant, not of how it is written. */
#include "catalog_support.h"

#include "tools/definition_digest.h"

#include <stdio.h>

static void digest_of(const char *json, char ret_hex[HUB_DIGEST_HEX_BYTES])
{
    unsigned char bytes[HUB_DIGEST_BYTES];
    assert_int_equal(hub_definition_digest(hub_str_of(json), bytes), HUB_OK);
    hub_digest_hex(bytes, ret_hex);
}

static void assert_same(const char *a, const char *b, bool is)
{
    char left[HUB_DIGEST_HEX_BYTES];
    char right[HUB_DIGEST_HEX_BYTES];
    digest_of(a, left);
    digest_of(b, right);
    if ((strcmp(left, right) == 0) != is) {
        fail_msg("%s and %s", a, b);
    }
}

static void test_what_counts(void **state)
{
    static const char DEFINITION[] =
        "{\"name\":\"x\",\"inputSchema\":{\"b\":[1,{\"d\":1,\"c\":2}],\"a\":1.0}}";
    (void)state;
    assert_same(DEFINITION,
                "{ \"inputSchema\" : {\"a\":1.0,\"b\":[1,{\"c\":2,\"d\":1}]},\n\"name\":\"x\"}",
                true);
    assert_same(DEFINITION,
                "{\"name\":\"x\",\"_meta\":{\"n\":1},\"inputSchema\":{\"b\":[1,{\"d\":1,\"c\":2}],"
                "\"a\":1.0}}",
                true);
    assert_same(DEFINITION,
                "{\"name\":\"y\",\"inputSchema\":{\"b\":[1,{\"d\":1,\"c\":2}],\"a\":1.0}}", false);
    assert_same(DEFINITION,
                "{\"name\":\"x\",\"inputSchema\":{\"b\":[{\"d\":1,\"c\":2},1],\"a\":1.0}}", false);
    assert_same(DEFINITION,
                "{\"name\":\"x\",\"inputSchema\":{\"b\":[1,{\"d\":1,\"c\":2}],\"a\":1}}", false);
    /* `_meta` further within is a member like any other */
    assert_same("{\"a\":{\"_meta\":1}}", "{\"a\":{\"_meta\":2}}", false);
    assert_same("{\"\\u005fmeta\":1}", "{}", true);
}

/* The bytes that are digested are documented: others can do the same. */
static void test_bytes(void **state)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    char wanted[HUB_DIGEST_HEX_BYTES];
    unsigned char bytes[HUB_DIGEST_BYTES];
    (void)state;
    digest_of("{ \"name\": \"x\", \"description\": \"a  b\" }", hex);
    hub_digest_of(HUB_STR("{\"description\":\"a  b\",\"name\":\"x\"}"), bytes);
    hub_digest_hex(bytes, wanted);
    assert_string_equal(hex, wanted);
}

static void test_long(void **state)
{
    hub_buf json;
    hub_buf plain;
    unsigned char bytes[HUB_DIGEST_BYTES];
    unsigned char wanted[HUB_DIGEST_BYTES];
    (void)state;
    hub_buf_init(&json, 1 << 20);
    hub_buf_init(&plain, 1 << 20);
    hub_buf_add_char(&json, '{');
    hub_buf_add_char(&plain, '{');
    for (int i = 0; i < 1000; i++) { /* the other way round */
        hub_buf_printf(&json, "%s\"k%04d\": \"%0*d\"", i > 0 ? ", " : "", 999 - i, 900 - i % 600,
                       i);
        hub_buf_printf(&plain, "%s\"k%04d\":\"%0*d\"", i > 0 ? "," : "", i, 900 - (999 - i) % 600,
                       999 - i);
    }
    hub_buf_add_char(&json, '}');
    hub_buf_add_char(&plain, '}');
    assert_int_equal(hub_definition_digest(hub_buf_str(&json), bytes), HUB_OK);
    hub_digest_of(hub_buf_str(&plain), wanted);
    assert_memory_equal(bytes, wanted, sizeof bytes);
    hub_buf_fini(&json);
    hub_buf_fini(&plain);
}

/* A catalog keeps them. */
static void test_kept(void **state)
{
    hub_catalog *catalog = parse("[" TOOL("a") "," TOOL("b") "]");
    (void)state;
    const unsigned char *first = hub_catalog_digest(catalog, &catalog->items[1]);
    assert_non_null(first);
    assert_ptr_equal(hub_catalog_digest(catalog, &catalog->items[1]), first);
    assert_memory_not_equal(hub_catalog_digest(catalog, &catalog->items[0]), first,
                            HUB_DIGEST_BYTES);
    hub_catalog_unref(catalog);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_what_counts),
        cmocka_unit_test(test_bytes),
        cmocka_unit_test(test_long),
        cmocka_unit_test(test_kept),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
