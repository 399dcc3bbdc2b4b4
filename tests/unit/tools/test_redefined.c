/* SPDX-License-Identifier: Apache-2.0 */
/* What is different between two catalogs under the same names. */
#include "catalog_support.h"

#include "tools/redefined.h"

static void expect(const char *before, const char *now, size_t count, const char *changes)
{
    hub_catalog *old = parse(before);
    hub_catalog *fresh = parse(now);
    hub_redefined found = {.changed = {.count = 0}};
    assert_int_equal(hub_redefined_list(old, fresh, &found), HUB_OK);
    assert_string_equal(found.changed.text, changes);
    assert_int_equal(found.changed.count, count);
    hub_catalog_unref(old);
    hub_catalog_unref(fresh);
}

#define A(more) "{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\"}" more "}"
#define B(more) "{\"name\":\"b\",\"inputSchema\":{\"type\":\"object\"}" more "}"

static void test_members(void **state)
{
    (void)state;
    expect("[" A("") "]", "[" A("") "]", 0, "");
    expect("[" A("") "," B("") "]", "[" B("") "," A("") "]", 0, "");
    expect("[" A("") "]", "[" B("") "]", 0, ""); /* one is gone, another is there */
    expect("[" A(",\"description\":\"x\"") "]", "[" A(",\"description\":\"y\"") "]", 1,
           "a(description)");
    expect("[" A("") "]", "[" A(",\"description\":\"y\",\"title\":\"z\"") "]", 1,
           "a(title description)");
    expect("[" A(",\"_meta\":{}") "," B("") "]", "[" B(",\"annotations\":{}") "," A("") "]", 2,
           "a(_meta),b(annotations)");
    expect("[" A("") "]", "[" A(",\"com.example\":1") "]", 1, "a(other)");
    expect("[" A("") "]",
           "[{\"name\":\"a\",\"inputSchema\":{\"type\":\"object\",\"required\":[]}}]", 1,
           "a(inputSchema)");
}

static void test_in_one_alone(void **state)
{
    static const struct {
        const char *before;
        const char *now;
        const char *added;
        const char *removed;
    } CASES[] = {
        {"[" A("") "]", "[" B("") "]", "b", "a"},
        {"[" B("") "]", "[" A("") "]", "a", "b"},
        {"[]", "[" B("") "," A("") "]", "a,b", ""},
        {"[" A("") "," B("") "]", "[]", "", "a,b"},
        {"[" A("") "]", "[" A(",\"title\":\"x\"") "," B("") "]", "b", ""},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_catalog *old = parse(CASES[i].before);
        hub_catalog *fresh = parse(CASES[i].now);
        hub_redefined found = {.changed = {.count = 0}};
        assert_int_equal(hub_redefined_list(old, fresh, &found), HUB_OK);
        assert_string_equal(found.added.text, CASES[i].added);
        assert_string_equal(found.removed.text, CASES[i].removed);
        hub_catalog_unref(old);
        hub_catalog_unref(fresh);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_members),
        cmocka_unit_test(test_in_one_alone),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
