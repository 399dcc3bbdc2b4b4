/* SPDX-License-Identifier: Apache-2.0 */
/* The lock file: what is read of it, and that it is written as it is read. */
#include "config_support.h"

#include "base/limits.h"
#include "config/lock_file.h"

#define ZEROS  "0000000000000000000000000000000000000000000000000000000000000000"
#define DIGEST "\"digest\": \"sha256:" ZEROS "\""

static const char WHOLE[] =
    "{\n"
    "  \"lock\": 1,\n"
    "  \"toolsets\": {\n"
    "    \"a\": {\n"
    "      \"origin\": \"uvx \\\"a b\\\"\",\n"
    "      \"instructions\": {" DIGEST ", \"text\": \"Read\\nme.\"},\n"
    "      \"tools\": {\n"
    "        \"one\": {" DIGEST ", \"definition\": {\"name\":\"one\",\"x\":1.0}},\n"
    "        \"two\": {" DIGEST "}\n"
    "      },\n"
    "      \"prompts\": {}\n"
    "    },\n"
    "    \"b\": {\n"
    "      \"origin\": \"\",\n"
    "      \"tools\": {},\n"
    "      \"prompts\": {\n"
    "        \"p\": {" DIGEST "}\n"
    "      }\n"
    "    }\n"
    "  }\n"
    "}\n";

static hub_err parse_lock(hub_str text, hub_arena *arena, hub_lock *lock, hub_error *why)
{
    *why = (hub_error){.text = ""};
    return hub_lock_parse("x.lock", text, arena, lock, why);
}

static void test_there_and_back(void **state)
{
    (void)state;
    hub_arena *arena = hub_arena_create(1 << 20);
    hub_lock lock;
    hub_error why;
    hub_buf out;
    assert_int_equal(parse_lock(hub_str_of(WHOLE), arena, &lock, &why), HUB_OK);
    hub_buf_init(&out, 1 << 20);
    hub_lock_write(&lock, &out);
    hub_buf_add_char(&out, '\0');
    assert_string_equal(out.ptr, WHOLE);
    const hub_lock_toolset *a = hub_lock_find(&lock, HUB_STR("a"));
    assert_non_null(a);
    assert_true(hub_str_is(a->origin, "uvx \"a b\""));
    assert_non_null(hub_lock_find_entry(&a->tools, HUB_STR("two")));
    assert_null(hub_lock_find_entry(&a->tools, HUB_STR("three")));
    assert_null(hub_lock_find_entry(&a->prompts, HUB_STR("two")));
    assert_null(hub_lock_find(&lock, HUB_STR("c")));
    hub_buf_fini(&out);
    hub_arena_destroy(arena);
}

static void test_any_order_and_members_that_are_not_known(void **state)
{
    (void)state;
    hub_arena *arena = hub_arena_create(1 << 20);
    hub_lock lock;
    hub_error why;
    static const char TEXT[] = "{\"toolsets\":{\"b\":{\"later\":1},\"a\":{\"tools\":{"
                               "\"z\":{" DIGEST ",\"by\":\"me\"},\"\\u0061\":{" DIGEST "}}}},"
                               "\"lock\":1}";
    assert_int_equal(parse_lock(hub_str_of(TEXT), arena, &lock, &why), HUB_OK);
    assert_true(hub_str_is(lock.toolsets[0].key, "a"));
    assert_true(hub_str_is(lock.toolsets[0].tools.items[0].name, "a"));
    assert_int_equal(lock.toolsets[0].instructions.digest.len, 0);
    assert_int_equal(parse_lock(HUB_STR("{\"lock\":1,\"toolsets\":{}}"), arena, &lock, &why),
                     HUB_OK);
    assert_int_equal(lock.count, 0);
    assert_null(hub_lock_find(&lock, HUB_STR("a")));
    hub_arena_destroy(arena);
}

static void test_limits(void **state)
{
    (void)state;
    hub_error why;
    hub_lock lock;
    for (size_t most = HUB_LIMIT_TOOLSETS; most <= HUB_LIMIT_TOOLSETS + 1; most++) {
        hub_arena *arena = hub_arena_create(64 << 20);
        hub_buf text;
        hub_buf_init(&text, SIZE_MAX / 4);
        hub_buf_add(&text, HUB_STR("{\"lock\":1,\"toolsets\":{"));
        for (size_t i = 0; i < most; i++) {
            hub_buf_printf(&text, "%s\"t%zu\":{}", i > 0 ? "," : "", i);
        }
        hub_buf_add(&text, HUB_STR("}}"));
        hub_err err = parse_lock(hub_buf_str(&text), arena, &lock, &why);
        assert_int_equal(err, most > HUB_LIMIT_TOOLSETS ? HUB_ELIMIT : HUB_OK);
        hub_buf_fini(&text);
        hub_arena_destroy(arena);
    }
    for (size_t most = HUB_LIMIT_TOOLS_PER_TOOLSET; most <= HUB_LIMIT_TOOLS_PER_TOOLSET + 1;
         most++) {
        hub_arena *arena = hub_arena_create(64 << 20);
        hub_buf text;
        hub_buf_init(&text, SIZE_MAX / 4);
        hub_buf_add(&text, HUB_STR("{\"lock\":1,\"toolsets\":{\"a\":{\"tools\":{"));
        for (size_t i = 0; i < most; i++) {
            hub_buf_printf(&text, "%s\"t%zu\":{" DIGEST "}", i > 0 ? "," : "", i);
        }
        hub_buf_add(&text, HUB_STR("}}}}"));
        hub_err err = parse_lock(hub_buf_str(&text), arena, &lock, &why);
        assert_int_equal(err, most > HUB_LIMIT_TOOLS_PER_TOOLSET ? HUB_ELIMIT : HUB_OK);
        hub_buf_fini(&text);
        hub_arena_destroy(arena);
    }
}

static void test_no_memory(void **state)
{
    (void)state;
    hub_error why;
    hub_lock lock;
    hub_arena *arena = hub_arena_create(16);
    assert_int_equal(parse_lock(hub_str_of(WHOLE), arena, &lock, &why), HUB_ENOMEM);
    assert_string_equal(why.text, "x.lock: out of memory");
    hub_arena_destroy(arena);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_there_and_back),
        cmocka_unit_test(test_any_order_and_members_that_are_not_known),
        cmocka_unit_test(test_limits),
        cmocka_unit_test(test_no_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
