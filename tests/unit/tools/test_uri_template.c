/* SPDX-License-Identifier: Apache-2.0 */
/* URI templates: which are valid, and what they match. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "template_oracle.h"
#include "tools/uri_template.h"

#include <stdio.h>

static hub_uri_match find(const hub_str *patterns, size_t count, hub_str uri, bool is_lax)
{
    hub_uri prepared;
    hub_uri_templates *set = NULL;
    assert_int_equal(hub_uri_templates_create(patterns, count, &set), HUB_OK);
    assert_true(hub_uri_init(&prepared, uri));
    hub_uri_match match = hub_uri_templates_find(set, &prepared, is_lax);
    hub_uri_templates_destroy(set);
    return match;
}

/* How many characters of the URI are the template's own, or -1. */
static int match_one(hub_str pattern, hub_str uri, bool is_lax)
{
    hub_uri_match match = find(&pattern, 1, uri, is_lax);
    assert_false(match.is_cut);
    return match.is_found ? (int)match.literals : -1;
}

static void test_valid(void **state)
{
    static const char *const GOOD[] = {"", "a", "{a}", "x{a}y{b}", "{+a}{b}", "{?a,b}"};
    static const char *const BAD[] = {"{",    "}",     "{}",     "a{",   "a}",   "{a",
                                      "{a}}", "{{a}}", "{a{b}}", "a\nb", "\x01", "{a\x02}"};
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
        assert_int_equal(oracle_match(pattern, uri, false), CASES[i].strict);
        assert_int_equal(oracle_match(pattern, uri, true), CASES[i].lax);
        if (match_one(pattern, uri, false) != CASES[i].strict ||
            match_one(pattern, uri, true) != CASES[i].lax) {
            fail_msg("%s against %s", CASES[i].pattern, CASES[i].uri);
        }
    }
}

/* Of several: the most of its own text, and of those the first. */
static void test_best(void **state)
{
    static const struct {
        const char *uri;
        int place; /* -1: none */
        bool is_lax;
    } CASES[] = {
        {"a://y", 2, false},   {"a://y/z", -1, false}, {"a://y/z", 2, true}, {"a://x", 1, false},
        {"a://x/y", 4, false}, {"a://x/y/", 1, false}, {"a://", -1, true},   {"b", 6, false},
        {"bb", -1, false},     {"bbb?q=1", 10, false}, {"e:1", 9, false},    {"e:1-2", 8, false},
        {"e:1-2-3", 7, false}, {"", -1, true},
    };
    const hub_str patterns[] = {
        HUB_STR("z{a}"),      HUB_STR("a://x{/b*}"), HUB_STR("a://{c}"), HUB_STR("a://{d}"),
        HUB_STR("a://x/{y}"), HUB_STR("a://x/{z}"),  HUB_STR("b"),       HUB_STR("e:{a}-{b}-{c}"),
        HUB_STR("e:{x}-{y}"), HUB_STR("e:{x}"),      HUB_STR("bbb{?q}"),
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        hub_uri_match match = find(patterns, sizeof patterns / sizeof patterns[0],
                                   hub_str_of(CASES[i].uri), CASES[i].is_lax);
        if ((match.is_found ? (int)match.place : -1) != CASES[i].place) {
            fail_msg("%s: %d", CASES[i].uri, match.is_found ? (int)match.place : -1);
        }
    }
}

/* Whatever they are put together of, the set and the plain way agree. */
static void test_against_oracle(void **state)
{
    static const char *const PARTS[] = {"a",    "b",    "ab",   "/",    "?",    "#",
                                        ".",    "{x}",  "{+x}", "{#x}", "{?x}", "{&x}",
                                        "{/x}", "{;x}", "{.x}", "&",    ";",    "aaa"};
    static const char LETTERS[] = "aab/?#.&;";
    uint32_t seed = 7;
    (void)state;
    for (size_t round = 0; round < 3000; round++) {
        char texts[6][64];
        hub_str patterns[6];
        char uri[140];
        size_t count = 1 + round % 6;
        for (size_t k = 0; k < count; k++) {
            texts[k][0] = '\0';
            for (size_t n = round % 5; n > 0; n--) {
                seed = seed * 1664525u + 1013904223u;
                size_t len = strlen(texts[k]);
                (void)snprintf(texts[k] + len, sizeof texts[k] - len, "%s",
                               PARTS[(seed >> 16) % (sizeof PARTS / sizeof PARTS[0])]);
            }
            patterns[k] = hub_str_of(texts[k]);
        }
        size_t len = round % 16 == 15 ? 60 + round % 80 : round % 9;
        for (size_t i = 0; i < len; i++) {
            seed = seed * 1664525u + 1013904223u;
            uri[i] = LETTERS[(seed >> 16) % (sizeof LETTERS - 1)];
        }
        for (int is_lax = 0; is_lax <= 1; is_lax++) {
            int most = -1;
            int best = -1;
            for (size_t k = 0; k < count; k++) {
                int literals =
                    oracle_match(patterns[k], (hub_str){.ptr = uri, .len = len}, is_lax != 0);
                best = literals > most ? (int)k : best;
                most = literals > most ? literals : most;
            }
            hub_uri_match match =
                find(patterns, count, (hub_str){.ptr = uri, .len = len}, is_lax != 0);
            assert_int_equal(match.is_found ? (int)match.place : -1, best);
            assert_int_equal(match.is_found ? (int)match.literals : -1, most);
        }
    }
}

/* ---- bounds ---------------------------------------------------------------------------------- */

static char many_text[HUB_LIMIT_URI_BYTES * 3];

/* So many expressions of that operator. */
static hub_str repeat(const char *expression, size_t count)
{
    size_t len = strlen(expression);
    for (size_t i = 0; i < count; i++) {
        memcpy(many_text + i * len, expression, len);
    }
    return (hub_str){.ptr = many_text, .len = count * len};
}

/* The longest URI that the hub takes, and one more; a template that is longer than any URI. */
static void test_limit(void **state)
{
    static char text[HUB_LIMIT_URI_BYTES + 1];
    static hub_uri prepared;
    hub_str pattern = HUB_STR("{a}");
    (void)state;
    memset(text, 'a', sizeof text);
    hub_str fits = {.ptr = text, .len = HUB_LIMIT_URI_BYTES};
    hub_str more = {.ptr = text, .len = sizeof text};
    assert_int_equal(match_one(pattern, fits, false), 0);
    assert_int_equal(match_one(fits, (hub_str){.ptr = text, .len = 500}, false), -1);
    assert_false(hub_uri_init(&prepared, more));
    hub_uri_match match = find(&more, 1, fits, false);
    assert_false(match.is_found || match.is_cut);
    assert_int_equal(match.steps, 0); /* it is not even kept */
    /* A template is as valid, and matches, however long its variables' names are. */
    static char long_name[3 * HUB_LIMIT_URI_BYTES];
    memset(long_name, 'v', sizeof long_name);
    long_name[0] = '{';
    long_name[sizeof long_name - 1] = '}';
    assert_int_equal(
        match_one((hub_str){.ptr = long_name, .len = sizeof long_name}, HUB_STR("x"), false), 0);
    hub_uri_templates *set = NULL;
    pattern = HUB_STR("{a");
    assert_int_equal(hub_uri_templates_create(&pattern, 1, &set), HUB_EINVAL);
}

/* The last template that a URI may be held against, and one that takes a step too many. */
static void test_budget_edge(void **state)
{
    static char text[HUB_LIMIT_URI_BYTES];
    hub_str uri = {.ptr = text, .len = sizeof text - 1};
    size_t words = uri.len / 64 + 1;
    size_t most = (hub_uri_steps(uri.len) - 1) / words; /* one step is for the node */
    (void)state;
    memset(text, 'a', sizeof text);
    assert_int_equal(hub_uri_steps(uri.len),
                     (uri.len + HUB_LIMIT_TEMPLATE_FLOOR_BYTES) * HUB_LIMIT_TEMPLATE_STEPS);
    hub_str pattern = repeat("{+a}", most);
    hub_uri_match match = find(&pattern, 1, uri, false);
    assert_true(match.is_found && !match.is_cut);
    assert_int_equal(match.steps, 1 + most * words);
    pattern = repeat("{+a}", most + 1);
    match = find(&pattern, 1, uri, false);
    assert_true(!match.is_found && match.is_cut);
    assert_true(match.steps <= hub_uri_steps(uri.len) + words);
}

enum { MANY = HUB_LIMIT_TOOLS_PER_TOOLSET };

static hub_str many_patterns[MANY];
static char many_bytes[MANY][128];

static void print_many(const char *format)
{
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wformat-nonliteral"
    for (int i = 0; i < MANY; i++) {
        (void)snprintf(many_bytes[i], sizeof many_bytes[i], format, i, i % 97, i % 7);
        many_patterns[i] = hub_str_of(many_bytes[i]);
    }
#pragma GCC diagnostic pop
}

/* As many templates as a toolset may have, of the kinds that people write, take a tenth of it. */
static void test_cost_ordinary(void **state)
{
    static const struct {
        const char *format;
        const char *uri;
        size_t place;
    } CASES[] = {
        {"api://{tenant}/service%d/{id}", "api://acme/service1234/7", 1234},
        {"db://host/table_%d{?q}", "db://host/table_77?q=1", 77},
        {"file:///{+path}.ext%d", "file:///home/me/some/long/path/to/a/file.ext4711", 4711},
        {"%d://{a}/{b}", "9999://a/b", 9999},
        {"x://{a}/{b}/{c}/%d", "x://1/2/3/42", 42},
        {"{a}", "a", 0},
    };
    (void)state;
    for (size_t i = 0; i < sizeof CASES / sizeof CASES[0]; i++) {
        print_many(CASES[i].format);
        hub_str uri = hub_str_of(CASES[i].uri);
        hub_uri_match match = find(many_patterns, MANY, uri, false);
        assert_true(match.is_found);
        assert_int_equal(match.place, CASES[i].place);
        assert_in_range(match.steps, 1, hub_uri_steps(uri.len) / 10);
        match = find(many_patterns, MANY, uri, true);
        assert_in_range(match.steps, 1, hub_uri_steps(uri.len) / 10);
    }
}

/* Templates that are made to cost: every place of the URI, at every node, for each of them. */
static void test_cost_hostile(void **state)
{
    static const char *const OPERATORS[] = {"{a}", "{+a}", "{?a}", "{/a}", "{.a}", "a", "{&a}"};
    static char text[HUB_LIMIT_URI_BYTES];
    static const size_t LENGTHS[] = {0, 1, 63, 64, 65, 500, HUB_LIMIT_URI_BYTES};
    (void)state;
    memset(text, 'a', sizeof text);
    for (size_t i = 0; i < MANY; i++) {
        many_bytes[i][0] = '\0';
        size_t digits = i;
        for (int n = 0; n < 20; n++) {
            size_t len = strlen(many_bytes[i]);
            (void)snprintf(many_bytes[i] + len, sizeof many_bytes[i] - len, "%s%s",
                           OPERATORS[digits % 7], n % 2 == 0 ? "a" : "");
            digits = digits / 7 + (digits % 7) * 2401;
        }
        many_patterns[i] = hub_str_of(many_bytes[i]);
    }
    for (size_t i = 0; i < sizeof LENGTHS / sizeof LENGTHS[0]; i++) {
        hub_str uri = {.ptr = text, .len = LENGTHS[i]};
        hub_uri_match match = find(many_patterns, MANY, uri, true);
        assert_in_range(match.steps, 1, hub_uri_steps(uri.len) + uri.len / 64 + 2);
        assert_int_equal(match.is_cut, match.steps > hub_uri_steps(uri.len));
        assert_true(match.is_cut || uri.len < 63);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_valid),         cmocka_unit_test(test_match),
        cmocka_unit_test(test_best),          cmocka_unit_test(test_against_oracle),
        cmocka_unit_test(test_limit),         cmocka_unit_test(test_budget_edge),
        cmocka_unit_test(test_cost_ordinary), cmocka_unit_test(test_cost_hostile),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
