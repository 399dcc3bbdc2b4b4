/* SPDX-License-Identifier: Apache-2.0 */
/* Names: toolset keys, exposed names in each mode, references. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/limits.h"
#include "tools/naming.h"

enum { NAME_BYTES = 512, ROOMY = 128 };

typedef struct exposed_name {
    char text[NAME_BYTES];
} exposed_name;

static exposed_name expose_in(hub_naming naming, const char *toolset, const char *tool, size_t max,
                              bool suffixed)
{
    exposed_name name = {""};
    hub_buf out;
    hub_buf_init(&out, NAME_BYTES - 1);
    (suffixed ? hub_naming_expose_suffixed : hub_naming_expose)(naming, hub_str_of(toolset),
                                                                hub_str_of(tool), max, &out);
    assert_true(hub_buf_ok(&out));
    memcpy(name.text, out.ptr, out.len);
    name.text[out.len] = '\0';
    hub_buf_fini(&out);
    return name;
}

static void expect_name(hub_naming naming, const char *toolset, const char *tool, const char *want)
{
    assert_string_equal(expose_in(naming, toolset, tool, ROOMY, false).text, want);
}

/* ---- keys ------------------------------------------------------------------------------------ */

/* S1.31: `_meta` is reserved; S4.18: keys are of one case, and have no "__". */
static void test_key_good_and_bad(void **state)
{
    static const struct {
        const char *key;
        hub_err err;
    } CASES[] = {
        {"git", HUB_OK},         {"a", HUB_OK},
        {"task-master", HUB_OK}, {"a_b", HUB_OK},
        {"context7", HUB_OK},    {"a-_b", HUB_OK},
        {"git_", HUB_EINVAL},    {"", HUB_EINVAL},
        {"_meta", HUB_EINVAL},   {"Git", HUB_EINVAL},
        {"gIt", HUB_EINVAL},     {"7git", HUB_EINVAL},
        {"-git", HUB_EINVAL},    {"_git", HUB_EINVAL},
        {"a__b", HUB_EINVAL},    {"git__", HUB_EINVAL},
        {"a.b", HUB_EINVAL},     {"a:b", HUB_EINVAL},
        {"a b", HUB_EINVAL},     {" git", HUB_EINVAL},
        {"git\n", HUB_EINVAL},   {"g\xc3\xaft", HUB_EINVAL},
        {"a/b", HUB_EINVAL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_error why = {.text = ""};
        assert_int_equal(hub_naming_check_key(hub_str_of(CASES[i].key), &why), CASES[i].err);
        assert_int_equal(why.text[0] != '\0', CASES[i].err != HUB_OK);
    }
    hub_error why;
    assert_int_equal(hub_naming_check_key(HUB_STR("_meta"), &why), HUB_EINVAL);
    assert_non_null(strstr(why.text, "reserved"));
}

/* B7: at the limit and one beyond. */
static void test_key_length(void **state)
{
    char key[HUB_LIMIT_TOOLSET_KEY_BYTES + 1];
    (void)state;
    memset(key, 'a', sizeof key);
    hub_str most = {.ptr = key, .len = HUB_LIMIT_TOOLSET_KEY_BYTES};
    hub_str more = {.ptr = key, .len = HUB_LIMIT_TOOLSET_KEY_BYTES + 1};
    assert_int_equal(hub_naming_check_key(most, NULL), HUB_OK);
    assert_int_equal(hub_naming_check_key(more, NULL), HUB_EINVAL);
}

/* ---- modes ----------------------------------------------------------------------------------- */

/* S4.17, S4.20: toolset__tool; hyphens and dots stay. */
static void test_prefix(void **state)
{
    (void)state;
    expect_name(HUB_NAMING_PREFIX, "git", "status", "git__status");
    expect_name(HUB_NAMING_PREFIX, "git", "search-repos", "git__search-repos");
    expect_name(HUB_NAMING_PREFIX, "task-master", "get.tasks", "task-master__get.tasks");
    expect_name(HUB_NAMING_PREFIX, "git", "a__b", "git__a__b");
}

/* S1.11: toolset.tool. */
static void test_dot(void **state)
{
    (void)state;
    expect_name(HUB_NAMING_DOT, "git", "status", "git.status");
    expect_name(HUB_NAMING_DOT, "git", "search-repos", "git.search-repos");
}

/* S3.33 … S3.40, with the hyphen as settled in REQUIREMENTS 2.6; S3.43: digits and underscores. */
static void test_flat(void **state)
{
    (void)state;
    expect_name(HUB_NAMING_FLAT, "git", "status", "git_status");
    expect_name(HUB_NAMING_FLAT, "docker", "ps", "docker_ps");
    expect_name(HUB_NAMING_FLAT, "linear", "create_issue", "linear_create_issue");
    expect_name(HUB_NAMING_FLAT, "context7", "resolve-library-id", "context7_resolve_library_id");
    expect_name(HUB_NAMING_FLAT, "task-master", "get_tasks", "task_master_get_tasks");
    expect_name(HUB_NAMING_FLAT, "git", "search-repositories", "git_search_repositories");
    expect_name(HUB_NAMING_FLAT, "docker", "build_image", "docker_build_image");
    expect_name(HUB_NAMING_FLAT, "server", "tool.with.multiple.dots",
                "server_tool_with_multiple_dots");
    expect_name(HUB_NAMING_FLAT, "s", "a1_b2", "s_a1_b2");
    expect_name(HUB_NAMING_FLAT, "s", "a b/c:d", "s_a_b_c_d");
}

static void test_none(void **state)
{
    (void)state;
    expect_name(HUB_NAMING_NONE, "git", "status", "status");
    expect_name(HUB_NAMING_NONE, "git", "git__status", "git__status");
}

/* MCP server/tools, Tool Names: nothing else gets out, whatever a toolset calls its tools. */
static void test_foreign_characters(void **state)
{
    (void)state;
    expect_name(HUB_NAMING_PREFIX, "git", "a b", "git__a_b");
    expect_name(HUB_NAMING_PREFIX, "git", "na\xc3\xafve", "git__na__ve"); /* one per byte */
    expect_name(HUB_NAMING_NONE, "git", "a/b", "a_b");
    expect_name(HUB_NAMING_DOT, "git", "a,b", "git.a_b");
}

/* S1.38: no double prefix. */
static void test_already_prefixed(void **state)
{
    (void)state;
    expect_name(HUB_NAMING_DOT, "set", "set.x", "set.x");
    expect_name(HUB_NAMING_PREFIX, "git", "git__status", "git__status");
    expect_name(HUB_NAMING_FLAT, "git", "git_status", "git_status");
    /* What only looks like it: the prefix alone, or another's. */
    expect_name(HUB_NAMING_PREFIX, "git", "git__", "git__git__");
    expect_name(HUB_NAMING_PREFIX, "git", "git_status", "git__git_status");
    expect_name(HUB_NAMING_PREFIX, "git", "github__status", "git__github__status");
}

/* S3.41: the same name each time; S3.42: different tools may flatten alike. */
static void test_deterministic(void **state)
{
    (void)state;
    assert_string_equal(expose_in(HUB_NAMING_FLAT, "a_b", "c", ROOMY, false).text,
                        expose_in(HUB_NAMING_FLAT, "a", "b.c", ROOMY, false).text);
    assert_string_not_equal(expose_in(HUB_NAMING_FLAT, "a_b", "c", ROOMY, true).text,
                            expose_in(HUB_NAMING_FLAT, "a", "b.c", ROOMY, true).text);
    assert_string_equal(expose_in(HUB_NAMING_FLAT, "a", "b.c", ROOMY, true).text,
                        expose_in(HUB_NAMING_FLAT, "a", "b.c", ROOMY, true).text);
}

/* The suffix is part of the promise: clients remember names from one run to the next. */
static void test_suffix_is_stable(void **state)
{
    (void)state;
    exposed_name name = expose_in(HUB_NAMING_FLAT, "git", "status", ROOMY, true);
    assert_int_equal(strlen(name.text), strlen("git_status") + 9);
    assert_memory_equal(name.text, "git_status_", 11);
    for (const char *at = name.text + 11; *at != '\0'; at++) {
        assert_non_null(strchr("0123456789abcdef", *at));
    }
    assert_string_equal(name.text, "git_status_5a95e7f7");
}

/* B7: a name of exactly max_name_length is left alone, one byte more is cut to it. */
static void test_length_limit(void **state)
{
    char tool[HUB_LIMIT_TOOL_NAME_BYTES + 1];
    (void)state;
    memset(tool, 'x', sizeof tool);
    tool[59] = '\0';
    exposed_name fits = expose_in(HUB_NAMING_PREFIX, "git", tool, 64, false);
    assert_int_equal(strlen(fits.text), 64);
    assert_memory_equal(fits.text, "git__xxx", 8);
    assert_int_equal(fits.text[63], 'x');
    tool[59] = 'y';
    tool[60] = '\0';
    exposed_name cut = expose_in(HUB_NAMING_PREFIX, "git", tool, 64, false);
    assert_int_equal(strlen(cut.text), 64);
    assert_int_equal(cut.text[64 - 9], '_');
    tool[59] = 'z'; /* alike in what is kept: the suffix tells them apart */
    assert_string_not_equal(expose_in(HUB_NAMING_PREFIX, "git", tool, 64, false).text, cut.text);
    memset(tool, 'x', sizeof tool);
    tool[HUB_LIMIT_TOOL_NAME_BYTES] = '\0';
    assert_int_equal(strlen(expose_in(HUB_NAMING_NONE, "git", tool, 128, false).text), 128);
}

/* A limit too small for a suffix is not honoured, rather than written out of bounds. */
static void test_tiny_limit(void **state)
{
    (void)state;
    for (size_t max = 0; max < 12; max++) {
        exposed_name name = expose_in(HUB_NAMING_PREFIX, "git", "status-of-all", max, false);
        assert_true(strlen(name.text) <= (max > 9 ? max : 9));
    }
}

static void test_canonical(void **state)
{
    hub_buf out;
    (void)state;
    hub_buf_init(&out, 64);
    hub_naming_canonical(HUB_STR("git"), HUB_STR("a:b"), &out);
    assert_true(hub_str_is(hub_buf_str(&out), "git:a:b"));
    hub_buf_fini(&out);
}

/* ---- references ------------------------------------------------------------------------------ */

/* S4.22 … S4.27: the first "__" splits. */
static void test_split(void **state)
{
    static const struct {
        const char *reference;
        const char *toolset; /* NULL: invalid */
        const char *tool;
    } CASES[] = {
        {"git__status", "git", "status"},
        {"a__b__c", "a", "b__c"},
        {"a___b", "a", "_b"},
        {"a____b", "a", "__b"},
        {"__tool", NULL, NULL},
        {"server__", NULL, NULL},
        {"plain", NULL, NULL},
        {"a_b", NULL, NULL},
        {"", NULL, NULL},
        {"__", NULL, NULL},
        {"____", NULL, NULL},
        {"___", NULL, NULL},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_str toolset = HUB_STR("untouched");
        hub_str tool = HUB_STR("untouched");
        hub_err err = hub_naming_split(hub_str_of(CASES[i].reference), &toolset, &tool);
        assert_int_equal(err, CASES[i].toolset != NULL ? HUB_OK : HUB_EINVAL);
        assert_true(hub_str_is(toolset, CASES[i].toolset != NULL ? CASES[i].toolset : "untouched"));
        assert_true(hub_str_is(tool, CASES[i].toolset != NULL ? CASES[i].tool : "untouched"));
    }
}

/* A prefixed name splits into what it was made of: keys have no "__". */
static void test_split_undoes_prefix(void **state)
{
    hub_str toolset;
    hub_str tool;
    (void)state;
    exposed_name name = expose_in(HUB_NAMING_PREFIX, "task-master", "get__tasks", ROOMY, false);
    assert_int_equal(hub_naming_split(hub_str_of(name.text), &toolset, &tool), HUB_OK);
    assert_true(hub_str_is(toolset, "task-master"));
    assert_true(hub_str_is(tool, "get__tasks"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_key_good_and_bad),
        cmocka_unit_test(test_key_length),
        cmocka_unit_test(test_prefix),
        cmocka_unit_test(test_dot),
        cmocka_unit_test(test_flat),
        cmocka_unit_test(test_none),
        cmocka_unit_test(test_foreign_characters),
        cmocka_unit_test(test_already_prefixed),
        cmocka_unit_test(test_deterministic),
        cmocka_unit_test(test_suffix_is_stable),
        cmocka_unit_test(test_length_limit),
        cmocka_unit_test(test_tiny_limit),
        cmocka_unit_test(test_canonical),
        cmocka_unit_test(test_split),
        cmocka_unit_test(test_split_undoes_prefix),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
