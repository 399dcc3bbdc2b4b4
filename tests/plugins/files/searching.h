/* SPDX-License-Identifier: Apache-2.0 */
/* Tests of search_name and search_text. Part of test_files.c. */
#ifndef FILES_SEARCHING_H
#define FILES_SEARCHING_H

#include "tree.h"

static void put_sources(tree *t)
{
    put_folder(t, "in/.git");
    put_folder(t, "in/src");
    put_folder(t, "in/src/deep");
    put(t, "in/.git/a.c", "needle in git\n");
    put(t, "in/README.md", "Needle in a readme\n");
    put(t, "in/src/a.c", "one\ntwo needle\nthree\nfour\nfive needle\n");
    put(t, "in/src/a.h", "no match\n");
    put(t, "in/src/deep/b.c", "needle");
    put_bytes(t, "in/src/bin.c", "needle\0needle\n", 14);
}

static void assert_found(const tree *t, const char *pattern, const char *more, const char *wanted)
{
    assert_paths(t, "search_name", format("{\"pattern\":%s%s}", pattern, more), "matches", wanted);
}

static void test_search_name_patterns(void **state)
{
    tree *t = (tree *)*state;
    put_sources(t);
    load(t);
    assert_found(t, "\"*.c\"", "", "in/src/a.c in/src/bin.c in/src/deep/b.c");
    assert_found(t, "\"a.{c,h}\"", "", "in/src/a.c in/src/a.h");
    assert_found(t, "[\"*.md\",\"*.h\"]", "", "in/README.md in/src/a.h");
    assert_found(t, "\"src/*.c\"", "", "in/src/a.c in/src/bin.c");
    assert_found(t, "\"src/**/*.c\"", "", "in/src/a.c in/src/bin.c in/src/deep/b.c");
    assert_found(t, "\"**/b.c\"", "", "in/src/deep/b.c");
    assert_found(t, "\"**/deep\"", "", "in/src/deep");
    assert_found(t, "\"src/**\"", "",
                 "in/src/a.c in/src/a.h in/src/bin.c in/src/deep in/src/deep/b.c");
    assert_found(t, "\"[!a]*.c\"", "", "in/src/bin.c in/src/deep/b.c");
    assert_found(t, "\"?.[a-d]\"", "", "in/src/a.c in/src/deep/b.c");
    assert_found(t, "\"*.C\"", "", "");
    assert_found(t, "\"*.C\"", ",\"ignore_case\":true", "in/src/a.c in/src/bin.c in/src/deep/b.c");
    assert_found(t, "\"*\"", ",\"type\":\"directory\"", "in/src in/src/deep");
    assert_found(t, "\"*.c\"", ",\"path\":\"src\",\"depth\":1", "in/src/a.c in/src/bin.c");
    assert_found(t, "\"*.c\"", ",\"exclude\":\"deep\"", "in/.git/a.c in/src/a.c in/src/bin.c");
    assert_found(t, "\"*.c\"", ",\"exclude\":[]",
                 "in/.git/a.c in/src/a.c in/src/bin.c in/src/deep/b.c");
}

static void test_search_name_limit(void **state)
{
    tree *t = (tree *)*state;
    put_sources(t);
    load(t);
    json_t *found = call_ok(t, "search_name", format("{\"pattern\":\"*.c\",\"limit\":3}"));
    assert_true(json_is_false(json_object_get(found, "more")));
    json_decref(found);
    found = call_ok(t, "search_name", format("{\"pattern\":\"*.c\",\"limit\":2}"));
    assert_true(json_is_true(json_object_get(found, "more")));
    assert_int_equal(json_array_size(json_object_get(found, "matches")), 2);
    json_decref(found);
}

static void test_search_name_patterns_are_bounded(void **state)
{
    tree *t = (tree *)*state;
    char name[201];
    memset(name, 'a', 200);
    name[200] = '\0';
    char *rel = format("in/%s", name);
    put(t, rel, "");
    free(rel);
    load(t);
    /* Exponential for a matcher that goes back to every star. */
    assert_found(t, "\"*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*a*b\"", "", "");
    assert_found(t, "\"**/*a**a**a**a**a**a**a**a**a**a**a**a**a**a**b\"", "", "");
    assert_found(t, "\"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\"", "", ""); /* 64 */
    assert_refused(t, "search_name",
                   format("{\"pattern\":\"{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}\"}"),
                   PATCHBAY_INVALID_INPUT, "more than 64");
    assert_refused(t, "search_name", format("{\"pattern\":\"\"}"), PATCHBAY_INVALID_INPUT, "1 to");
    assert_refused(t, "search_name", format("{}"), PATCHBAY_INVALID_INPUT, "'pattern'");
    assert_found(t, "\"[\"", "", "");
    assert_found(t, "\"a[\"", "", "");
    assert_found(t, "\"{\"", "", "");
    assert_found(t, "\"{,}\"", "", "");
    assert_found(t, "\"\\\\\"", "", "");
}

/* "path:line:text" of each match, joined by "|". */
static char *join_matches(const json_t *found)
{
    size_t i;
    const json_t *match;
    char *all = format("%s", "");
    json_array_foreach(json_object_get(found, "matches"), i, match)
    {
        char *longer = format("%s%s%s:%lld:%s", all, i > 0 ? "|" : "", text_of(match, "path"),
                              (long long)json_integer_value(json_object_get(match, "line")),
                              text_of(match, "text"));
        free(all);
        all = longer;
    }
    return all;
}

static void assert_matches(const tree *t, const char *args, const char *wanted)
{
    json_t *found = call_ok(t, "search_text", format("%s", args));
    char *all = join_matches(found);
    assert_string_equal(all, wanted);
    free(all);
    json_decref(found);
}

static void test_search_text(void **state)
{
    tree *t = (tree *)*state;
    put_sources(t);
    load(t);
    assert_matches(t, "{\"pattern\":\"needle\"}",
                   "in/src/a.c:2:two needle|in/src/a.c:5:five needle|in/src/deep/b.c:1:needle");
    assert_matches(t,
                   "{\"pattern\":\"nEEdle\",\"ignore_case\":true,\"include\":[\"*.md\",\"b.*\"]}",
                   "in/README.md:1:Needle in a readme|in/src/deep/b.c:1:needle");
    assert_matches(t, "{\"pattern\":\"^t(wo|hree)\",\"regex\":true}",
                   "in/src/a.c:2:two needle|in/src/a.c:3:three");
    assert_matches(t,
                   "{\"pattern\":\"NEEDLE$\",\"regex\":true,\"ignore_case\":true,\"path\":"
                   "\"src/deep\"}",
                   "in/src/deep/b.c:1:needle");
    assert_matches(t, "{\"pattern\":\"t(wo|hree)\"}", "");
    assert_matches(t, "{\"pattern\":\"needle\",\"path\":\"src/a.c\",\"limit\":1}",
                   "in/src/a.c:2:two needle");
    json_t *found = call_ok(t, "search_text", format("{\"pattern\":\"needle\",\"limit\":3}"));
    assert_int_equal(json_integer_value(json_object_get(found, "binary")), 1);
    assert_null(json_object_get(found, "stopped"));
    json_decref(found);
    found = call_ok(t, "search_text", format("{\"pattern\":\"needle\",\"limit\":2}"));
    assert_string_equal(text_of(found, "stopped"), "limit");
    json_decref(found);
}

static void test_search_text_context(void **state)
{
    tree *t = (tree *)*state;
    put(t, "in/f", "1\n2\nX3\n4\n5\n6\n7\nX8\nX9\n10");
    load(t);
    json_t *found = call_ok(t, "search_text", format("{\"pattern\":\"X\",\"context\":2}"));
    char *shown = json_dumps(json_object_get(found, "matches"), JSON_COMPACT | JSON_SORT_KEYS);
    assert_string_equal(
        shown,
        "[{\"after\":[\"4\",\"5\"],\"before\":[\"1\",\"2\"],\"line\":3,\"path\":\"in/f\","
        "\"text\":\"X3\"},"
        "{\"after\":[],\"before\":[\"6\",\"7\"],\"line\":8,\"path\":\"in/f\",\"text\":\"X8\"},"
        "{\"after\":[\"10\"],\"before\":[],\"line\":9,\"path\":\"in/f\",\"text\":\"X9\"}]");
    free(shown);
    json_decref(found);
}

static void test_search_text_refuses_costly_patterns(void **state)
{
    tree *t = (tree *)*state;
    char pattern[400];
    put(t, "in/f", "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!\n");
    load(t);
    static const struct {
        const char *pattern;
        const char *wanted;
    } refused[] = {
        {"((a{1,100}){1,100}){1,100}", "multiply to more than 100"},
        {"a{101}", "multiply to more than 100"},
        {"a{1,30000}", "multiply"},
        {"(a)\\\\1", "back-references"},
        {"(", "regular expression"},
        {"a\\nb", "line break"},
        {"a\\u0000b", "NUL"},
    };
    for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++) {
        assert_refused(t, "search_text",
                       format("{\"pattern\":\"%s\",\"regex\":true}", refused[i].pattern),
                       PATCHBAY_INVALID_INPUT, refused[i].wanted);
    }
    memset(pattern, 'a', 257);
    pattern[257] = '\0';
    assert_refused(t, "search_text", format("{\"pattern\":\"%s\",\"regex\":true}", pattern),
                   PATCHBAY_INVALID_INPUT, "from 1 to 256");
    assert_matches(t, "{\"pattern\":\"(a+)+(a+)+(a+)+$\",\"regex\":true}", "");
    assert_matches(t, "{\"pattern\":\"[{][]{]x{100}\",\"regex\":true}", "");
}

static void test_search_text_long_lines_and_blocks(void **state)
{
    tree *t = (tree *)*state;
    size_t size = 200000;
    char *text = (char *)malloc(size);
    memset(text, 'x', size);
    memcpy(text + 150000, "needle", 6); /* far into a line of its own */
    put_bytes(t, "in/long", text, size);
    for (size_t i = 99; i < size; i += 100) {
        text[i] = '\n';
    }
    put_bytes(t, "in/lines", text, size);
    free(text);
    load(t);
    json_t *found = call_ok(t, "search_text", format("{\"pattern\":\"needle\"}"));
    const json_t *matches = json_object_get(found, "matches");
    assert_int_equal(json_array_size(matches), 2);
    assert_int_equal(json_integer_value(json_object_get(json_array_get(matches, 0), "line")), 1501);
    const json_t *shown = json_object_get(json_array_get(matches, 1), "text");
    assert_int_equal(json_string_length(shown), 400);
    assert_non_null(strstr(json_string_value(shown), "needle"));
    json_decref(found);
    found = call_ok(t, "search_text", format("{\"pattern\":\"n[e]{2}dle\",\"regex\":true}"));
    assert_int_equal(json_array_size(json_object_get(found, "matches")), 2);
    json_decref(found);
}

#endif
