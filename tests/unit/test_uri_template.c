/* SPDX-License-Identifier: Apache-2.0 */
/* URI templates: which are valid, and what they match. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "tools/uri_template.h"

static void test_valid(void **state)
{
    static const char *const GOOD[] = {"", "a", "{a}", "x{a}y{b}", "{+a}{b}", "{?a,b}"};
    static const char *const BAD[] = {"{", "}", "{}", "a{", "a}", "{a", "{a}}", "{{a}}", "{a{b}}"};
    (void)state;
    for (size_t i = 0; i < sizeof GOOD / sizeof GOOD[0]; i++) {
        assert_true(hub_uri_template_is_valid(hub_str_of(GOOD[i])));
    }
    for (size_t i = 0; i < sizeof BAD / sizeof BAD[0]; i++) {
        assert_false(hub_uri_template_is_valid(hub_str_of(BAD[i])));
    }
}

/* RFC 6570, section 3.2, the examples of each operator among them. */
static void test_match(void **state)
{
    static const struct {
        const char *pattern;
        const char *uri;
        int strict; /* what is returned */
        int lax;
    } CASES[] = {
        {"", "", 0, 0},
        {"", "a", -1, -1},
        {"abc", "abc", 3, 3},
        {"abc", "abcd", -1, -1},
        {"abc", "ab", -1, -1},
        {"{a}", "x", 0, 0},
        {"{a}", "", -1, -1},
        {"{a}", "x/y", -1, 0},
        {"{a}", "x?y", -1, 0},
        {"{a}", "x#y", -1, 0},
        {"x{a}", "x", -1, -1},
        {"x{a}", "xy", 1, 1},
        {"{a}x", "yx", 1, 1},
        {"{a}x", "x", -1, -1},
        {"{a}x", "xx", 1, 1},
        {"{a}/{b}", "1/2", 1, 1},
        {"{a}/{b}", "1/2/3", -1, 1},
        {"{a}-{b}", "1-2-3", 1, 1},
        {"{a}-{b}-{c}", "1-2", -1, -1},
        {"test://template/{id}/data", "test://template/123/data", 21, 21},
        {"test://template/{id}/data", "test://template//data", -1, -1},
        {"file:///{path}", "file:///a/b.c", -1, 8},
        {"{+path}", "/foo/bar?x#y", 0, 0},
        {"{+path}/here", "/foo/bar/here", 5, 5},
        {"a{#frag}", "a", 1, 1},
        {"a{#frag}", "a#b/c", 1, 1},
        {"a{#frag}", "ab", -1, -1},
        {"a{.x}", "a", 1, 1},
        {"a{.x}", "a.b", 1, 1},
        {"a{.x}", "a.b.c", 1, 1},
        {"a{.x}", "a.b/c", -1, -1},
        {"a{/x}", "a/b", 1, 1},
        {"a{/x*}", "a/b/c", 1, 1},
        {"a{/x}", "a", 1, 1},
        {"a{/x}", "ab", -1, -1},
        {"a{;x,y}", "a;x=1;y=2", 1, 1},
        {"a{?x,y}", "a?x=1&y=2", 1, 1},
        {"a{?x}", "a", 1, 1},
        {"a{?x}", "a&x=1", -1, -1},
        {"a?f=1{&x}", "a?f=1&x=2", 5, 5},
        {"a?f=1{&x}", "a?f=1", 5, 5},
        {"a{?x}{#y}", "a?x=1#z", 1, 1},
        {"a{?x}b", "ab", 2, 2},
        {"a{?x}b", "a?xb", 2, 2},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_str pattern = hub_str_of(CASES[i].pattern);
        hub_str uri = hub_str_of(CASES[i].uri);
        if (hub_uri_template_match(pattern, uri, false) != CASES[i].strict ||
            hub_uri_template_match(pattern, uri, true) != CASES[i].lax) {
            fail_msg("%s against %s", CASES[i].pattern, CASES[i].uri);
        }
    }
}

/* The longest URI that the hub takes, and one more; with more expressions than anybody has use for.
 */
static void test_limit(void **state)
{
    static char uri[HUB_LIMIT_URI_BYTES + 1];
    static char pattern[HUB_LIMIT_URI_BYTES];
    (void)state;
    memset(uri, 'a', sizeof uri);
    for (size_t i = 0; i + 3 <= sizeof pattern; i += 3) {
        memcpy(pattern + i, "{a}", 3);
    }
    hub_str many = {.ptr = pattern, .len = sizeof pattern / 3 * 3};
    hub_str fits = {.ptr = uri, .len = HUB_LIMIT_URI_BYTES};
    hub_str more = {.ptr = uri, .len = sizeof uri};
    assert_int_equal(hub_uri_template_match(many, fits, false), 0);
    assert_int_equal(hub_uri_template_match(HUB_STR("{a}"), fits, false), 0);
    assert_int_equal(hub_uri_template_match(HUB_STR("{a}"), more, false), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),
        cmocka_unit_test(test_match),
        cmocka_unit_test(test_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
