/* SPDX-License-Identifier: Apache-2.0 */
/* Changes of JSON text: every way to take members out of an object, to replace and to add some. */
#include "wire/json_edit.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>

#include <cmocka.h>

/* The text with changes, "" when a member occurs twice. */
static const char *edit(const char *text, hub_json_change *changes, size_t count)
{
    static char result[1024];
    hub_json_edits edits;
    hub_buf out;
    hub_json_edits_init(&edits);
    hub_buf_init(&out, sizeof result);
    bool is_single = hub_json_edit_members(&edits, hub_str_of(text), changes, count);
    assert_int_equal(hub_json_edits_apply(&edits, hub_str_of(text), &out), HUB_OK);
    (void)snprintf(result, sizeof result, HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&out)));
    hub_buf_fini(&out);
    hub_json_edits_fini(&edits);
    return is_single ? result : "";
}

/* Each subset of three members is taken out: what stays has its own bytes, and is JSON. */
static void test_taking_out(void **state)
{
    static const char *const EXPECTED[] = {
        "{ \"a\" : 1 , \"b\":2 ,\"c\":3 }",
        "{ \"b\":2 ,\"c\":3 }",
        "{ \"a\" : 1 ,\"c\":3 }",
        "{ \"c\":3 }",
        "{ \"a\" : 1 , \"b\":2 }",
        "{ \"b\":2 }",
        "{ \"a\" : 1 }",
        "{  }",
    };
    (void)state;
    for (unsigned set = 0; set < 8; set++) {
        hub_json_change changes[3];
        size_t count = 0;
        static const char *const KEYS[] = {"a", "b", "c"};
        for (unsigned i = 0; i < 3; i++) {
            if ((set >> i & 1) != 0) {
                changes[count++] = (hub_json_change){.key = hub_str_of(KEYS[i])};
            }
        }
        assert_string_equal(edit(EXPECTED[0], changes, count), EXPECTED[set]);
        for (size_t i = 0; i < count; i++) {
            assert_true(changes[i].was_there);
        }
    }
}

static void test_adding_and_replacing(void **state)
{
    (void)state;
    hub_json_change add[] = {{.key = HUB_STR("x\""), .value = HUB_STR("1e400")},
                             {.key = HUB_STR("y"), .value = HUB_STR("{ }")}};
    assert_string_equal(edit("{}", add, 2), "{\"x\\\"\":1e400,\"y\":{ }}");
    assert_string_equal(edit("{ }", add, 2), "{\"x\\\"\":1e400,\"y\":{ } }");
    assert_string_equal(edit("{\"a\":1 }", add, 2), "{\"a\":1,\"x\\\"\":1e400,\"y\":{ } }");
    assert_string_equal(edit("{\"\\u0079\": [1],\"a\":1}", add, 2),
                        "{\"\\u0079\": { },\"a\":1,\"x\\\"\":1e400}");
    hub_json_change all[] = {{.key = HUB_STR("a")},
                             {.key = HUB_STR("b"), .value = HUB_STR("2")},
                             {.key = HUB_STR("c"), .value = HUB_STR("3")}};
    assert_string_equal(edit("{\"a\":1}", all, 3), "{\"b\":2,\"c\":3}");
    assert_string_equal(edit("{\"b\":1,\"a\":1}", all, 3), "{\"b\":2,\"c\":3}");
    assert_string_equal(edit("{\"a\":1,\"b\":1}", all, 3), "{\"b\":2,\"c\":3}");
}

static void test_a_member_twice(void **state)
{
    (void)state;
    hub_json_change change = {.key = HUB_STR("a")};
    assert_string_equal(edit("{\"a\":1,\"b\":2,\"\\u0061\":3}", &change, 1), "");
    change.is_kept = true;
    assert_string_equal(edit("{\"a\":1,\"a\":3}", &change, 1), "");
    change.key = HUB_STR("b");
    assert_string_equal(edit("{\"a\":1,\"a\":3}", &change, 1), "{\"a\":1,\"a\":3}");
}

static void test_strings(void **state)
{
    static const char TEXT[] = "[ \"a\", \"b\" ,\"c\",7]";
    (void)state;
    hub_json_edits edits;
    hub_buf out;
    hub_json_change changes[] = {{.key = HUB_STR("a")}, {.key = HUB_STR("c")}};
    hub_json_edits_init(&edits);
    hub_buf_init(&out, 64);
    assert_int_equal(hub_json_edit_strings(&edits, hub_str_of(TEXT), changes, 2), 2);
    assert_int_equal(hub_json_edits_apply(&edits, hub_str_of(TEXT), &out), HUB_OK);
    assert_true(hub_str_is(hub_buf_str(&out), "[ \"b\",7]"));
    hub_buf_fini(&out);
    hub_json_edits_fini(&edits);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_taking_out),
        cmocka_unit_test(test_adding_and_replacing),
        cmocka_unit_test(test_a_member_twice),
        cmocka_unit_test(test_strings),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
