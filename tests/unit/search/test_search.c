/* SPDX-License-Identifier: Apache-2.0 */
/* Which tools a text means: words, ranks, bounds, and whom nobody is told of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "search/index.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- words ---- */

static char told[4096];

static void on_word(void *ctx, hub_str word)
{
    (void)ctx;
    size_t len = strlen(told);
    snprintf(told + len, sizeof told - len, "%s" HUB_STR_FMT, len > 0 ? " " : "",
             HUB_STR_ARG(word));
}

static void expect_words(const char *text, const char *expected)
{
    hub_search_words *words = hub_search_words_create();
    assert_non_null(words);
    assert_true(hub_search_words_stems(words));
    told[0] = '\0';
    hub_search_words_split(words, hub_str_of(text), on_word, NULL);
    hub_search_words_destroy(words);
    assert_string_equal(told, expected);
}

static void test_words(void **state)
{
    (void)state;
    expect_words("", "");
    expect_words(" . \t--", "");
    expect_words("list_directory", "list directori");
    expect_words("read-file.v2", "read file v2");
    expect_words("createPullRequest", "creat pull request createpullrequest");
    expect_words("GitHub", "git hub github");
    expect_words("HTTPServer", "http server httpserver");
    expect_words("the issues of a repository's", "issu repositori");
    expect_words("S3Bucket3D", "s3 bucket3 d s3bucket3d");
    expect_words("Straße ÄRGER", "straße ärger");
    expect_words("ΑΘΗΝΑ", "αθηνα");
    expect_words("東京タワー", "東 東京 京タ タワ ワー");
    expect_words("東x京", "東 x 京");
    /* What is not UTF-8 separates words, and nothing is read behind the end. */
    expect_words("ab\xff"
                 "cd\xc3",
                 "ab cd");
}

/* The rest of an endless word does not count; nor do the parts of an endless identifier. */
static void test_long_words(void **state)
{
    (void)state;
    char text[1000];
    memset(text, 'x', sizeof text);
    text[sizeof text - 1] = '\0';
    char expected[HUB_LIMIT_SEARCH_WORD_BYTES + 1];
    memset(expected, 'x', sizeof expected);
    expected[sizeof expected - 1] = '\0';
    expect_words(text, expected);
    for (size_t i = 0; i + 1 < sizeof text; i++) {
        text[i] = i % 2 == 0 ? 'y' : 'Y';
    }
    hub_search_words *words = hub_search_words_create();
    assert_non_null(words);
    told[0] = '\0';
    hub_search_words_split(words, hub_str_of(text), on_word, NULL);
    hub_search_words_destroy(words);
    assert_true(strlen(told) < 3 * HUB_LIMIT_SEARCH_WORD_BYTES);
}

/* ---- index ---- */

static hub_search_index *index_of(const hub_search_tool *tools, size_t count)
{
    hub_search_builder *builder = hub_search_builder_create(count);
    assert_non_null(builder);
    for (size_t i = 0; i < count; i++) {
        assert_int_equal(hub_search_builder_add(builder, &tools[i]), HUB_OK);
    }
    hub_search_index *index = NULL;
    assert_int_equal(hub_search_builder_finish(builder, &index), HUB_OK);
    hub_search_builder_destroy(builder);
    assert_int_equal(hub_search_index_count(index), count);
    return index;
}

static bool may_see_even(void *ctx, uint32_t tool)
{
    (void)ctx;
    return tool % 2 == 0;
}

static void expect_found(const hub_search_index *index, const char *text,
                         hub_search_may_see *may_see, const char *expected)
{
    hub_search_words *words = hub_search_words_create();
    assert_non_null(words);
    uint32_t tools[5];
    size_t count = 5;
    assert_int_equal(hub_search_query(index, words, hub_str_of(text), may_see, NULL, tools, &count),
                     HUB_OK);
    hub_search_words_destroy(words);
    char found[100] = "";
    for (size_t i = 0; i < count; i++) {
        snprintf(found + strlen(found), sizeof found - strlen(found), "%s%u", i > 0 ? " " : "",
                 tools[i]);
    }
    assert_string_equal(found, expected);
}

enum { TOOLS = 4 };

/* HUB_STR is no constant for ISO C. */
static hub_search_index *sample(void)
{
    const hub_search_tool tools[TOOLS] = {
        {.name = HUB_STR("read_file"),
         .definition = HUB_STR(
             "{\"description\": \"Gives the text of a document\", \"inputSchema\": "
             "{\"properties\": "
             "{\"path\": {\"description\": \"Where it lies\", \"properties\": {\"encoding\": "
             "{}}}}}}"),
         .toolset = HUB_STR("fs Local file system")},
        {.name = HUB_STR("createIssue"),
         .definition =
             HUB_STR("{\"title\": \"New ticket\", \"description\": \"Opens an \\u0069ssue in "
                     "a repository\", \"inputSchema\": {}}"),
         .toolset = HUB_STR("github GitHub")},
        {.name = HUB_STR("list_issues"),
         .definition = HUB_STR("{\"description\": \"All issues\"}"),
         .toolset = HUB_STR("github GitHub")},
        {.name = HUB_STR("weather"),
         .definition = HUB_STR("{}"),
         .tags = HUB_STR("forecast,outdoor")},
    };
    return index_of(tools, TOOLS);
}

static void test_finds(void **state)
{
    (void)state;
    hub_search_index *index = sample();
    expect_found(index, "reading files", NULL, "0");
    expect_found(index, "issue", NULL, "2 1");
    expect_found(index, "create an issue", NULL, "1 2");
    expect_found(index, "ticket", NULL, "1");
    expect_found(index, "repositories", NULL, "1"); /* stems; the text has an escape in it */
    expect_found(index, "encoding", NULL, "0");     /* an argument of an argument */
    expect_found(index, "Forecasts?", NULL, "3");
    expect_found(index, "github", NULL, "2 1");
    expect_found(index, "nothing-of-that-kind", NULL, "");
    expect_found(index, "the of and", NULL, "");
    expect_found(index, "", NULL, "");
    hub_search_index_destroy(index);
}

/* The second best comes up where the best may not be seen; nobody is told more than that. */
static void test_hidden(void **state)
{
    (void)state;
    hub_search_index *index = sample();
    expect_found(index, "issue create", may_see_even, "2");
    expect_found(index, "weather", may_see_even, "");
    hub_search_index_destroy(index);
}

static void test_nothing_there(void **state)
{
    (void)state;
    hub_search_index *index = index_of(NULL, 0);
    expect_found(index, "anything", NULL, "");
    hub_search_index_destroy(index);
    hub_search_tool empty = {0};
    index = index_of(&empty, 1);
    expect_found(index, "anything", NULL, "");
    hub_search_index_destroy(index);
}

/* Strange schemas are read as far as they say something. */
static void test_strange_definitions(void **state)
{
    (void)state;
    const hub_search_tool tools[] = {
        {.name = HUB_STR("a"),
         .definition = HUB_STR("{\"title\": 5, \"description\": [\"lost\"], \"inputSchema\": "
                               "{\"properties\": [1, {\"title\": \"kept\"}]}}")},
        {.name = HUB_STR("b"), .definition = HUB_STR("[]")},
        {.name = HUB_STR("c"), .definition = HUB_STR("{\"inputSchema\": null}")},
    };
    hub_search_index *index = index_of(tools, 3);
    expect_found(index, "lost", NULL, "");
    expect_found(index, "kept", NULL, "0");
    hub_search_index_destroy(index);
}

static hub_str deep_definition(char *out, size_t room, unsigned depth)
{
    size_t len = (size_t)snprintf(out, room, "{\"inputSchema\": ");
    for (unsigned i = 0; i < depth; i++) {
        len += (size_t)snprintf(out + len, room - len, "{\"not\": ");
    }
    len += (size_t)snprintf(out + len, room - len, "{\"title\": \"treasure\"}");
    for (unsigned i = 0; i < depth + 1; i++) {
        len += (size_t)snprintf(out + len, room - len, "}");
    }
    assert_true(len < room);
    return (hub_str){.ptr = out, .len = len};
}

static void test_depth(void **state)
{
    (void)state;
    char text[1000];
    hub_search_tool tool = {.name = HUB_STR("a")};
    tool.definition = deep_definition(text, sizeof text, HUB_LIMIT_SEARCH_DEPTH - 1);
    hub_search_index *index = index_of(&tool, 1);
    expect_found(index, "treasure", NULL, "0");
    hub_search_index_destroy(index);
    tool.definition = deep_definition(text, sizeof text, HUB_LIMIT_SEARCH_DEPTH);
    index = index_of(&tool, 1);
    expect_found(index, "treasure", NULL, "");
    hub_search_index_destroy(index);
}

static hub_str many_words(char *out, size_t room, size_t count)
{
    size_t len = (size_t)snprintf(out, room, "{\"description\": \"");
    for (size_t i = 0; i < count; i++) {
        len += (size_t)snprintf(out + len, room - len, "w%zuw ", i);
    }
    len += (size_t)snprintf(out + len, room - len, "\"}");
    assert_true(len < room);
    return (hub_str){.ptr = out, .len = len};
}

static void test_words_of_one_tool(void **state)
{
    (void)state;
    char text[10000];
    /* One word is the name's. */
    hub_search_tool tool = {.name = HUB_STR("first")};
    tool.definition = many_words(text, sizeof text, HUB_LIMIT_SEARCH_WORDS_PER_TOOL);
    hub_search_index *index = index_of(&tool, 1);
    char query[20];
    snprintf(query, sizeof query, "w%dw", HUB_LIMIT_SEARCH_WORDS_PER_TOOL - 2);
    expect_found(index, query, NULL, "0");
    snprintf(query, sizeof query, "w%dw", HUB_LIMIT_SEARCH_WORDS_PER_TOOL - 1);
    expect_found(index, query, NULL, "");
    hub_search_index_destroy(index);
}

/* Where an index is nearly full, each of those that come has its name in it. */
static void test_share(void **state)
{
    (void)state;
    hub_search_builder *builder = hub_search_builder_create(HUB_LIMIT_SEARCH_TOOLS);
    assert_non_null(builder);
    char text[10000];
    hub_search_tool tool = {.name = HUB_STR("greedy")};
    tool.definition = many_words(text, sizeof text, HUB_LIMIT_SEARCH_WORDS_PER_TOOL);
    assert_int_equal(hub_search_builder_add(builder, &tool), HUB_OK);
    tool.name = HUB_STR("modest");
    assert_int_equal(hub_search_builder_add(builder, &tool), HUB_OK);
    hub_search_index *index = NULL;
    assert_int_equal(hub_search_builder_finish(builder, &index), HUB_OK);
    expect_found(index, "modest", NULL, "1");
    expect_found(index, "w14w", NULL, "0 1");
    expect_found(index, "w15w", NULL, "");
    hub_search_index_destroy(index);
    hub_search_builder_destroy(builder);
}

static void test_more_than_announced(void **state)
{
    (void)state;
    hub_search_builder *builder = hub_search_builder_create(1);
    assert_non_null(builder);
    const hub_search_tool tool = {.name = HUB_STR("any")};
    assert_int_equal(hub_search_builder_add(builder, &tool), HUB_OK);
    assert_int_equal(hub_search_builder_add(builder, &tool), HUB_ELIMIT);
    hub_search_index *index = NULL;
    assert_int_equal(hub_search_builder_finish(builder, &index), HUB_ELIMIT);
    assert_null(index);
    hub_search_builder_destroy(builder);
}

/* Numbers of tools that take two and three bytes, and equal ones in their order. */
static void test_many(void **state)
{
    (void)state;
    enum { MANY = 40000 };
    hub_search_builder *builder = hub_search_builder_create(MANY);
    assert_non_null(builder);
    for (unsigned i = 0; i < MANY; i++) {
        char name[30];
        snprintf(name, sizeof name, "%s%u", i % 20000 == 17 ? "rare tool" : "tool", i);
        hub_search_tool tool = {.name = hub_str_of(name)};
        assert_int_equal(hub_search_builder_add(builder, &tool), HUB_OK);
    }
    hub_search_index *index = NULL;
    assert_int_equal(hub_search_builder_finish(builder, &index), HUB_OK);
    hub_search_builder_destroy(builder);
    expect_found(index, "rare", NULL, "17 20017");
    expect_found(index, "tool39999", NULL, "39999");
    expect_found(index, "tool39999 tool200", NULL, "200 39999");
    hub_search_index_destroy(index);
}

static void test_limit_of_results(void **state)
{
    (void)state;
    enum { MANY = HUB_LIMIT_SEARCH_RESULTS + 1 };
    static hub_search_tool tools[MANY];
    for (size_t i = 0; i < MANY; i++) {
        tools[i].name = HUB_STR("alike");
    }
    hub_search_index *index = index_of(tools, MANY);
    hub_search_words *words = hub_search_words_create();
    static uint32_t found[MANY];
    size_t count = MANY;
    assert_int_equal(hub_search_query(index, words, HUB_STR("alike"), NULL, NULL, found, &count),
                     HUB_OK);
    assert_int_equal(count, HUB_LIMIT_SEARCH_RESULTS);
    for (uint32_t i = 0; i < HUB_LIMIT_SEARCH_RESULTS; i++) {
        assert_int_equal(found[i], i);
    }
    count = 0;
    assert_int_equal(hub_search_query(index, words, HUB_STR("alike"), NULL, NULL, found, &count),
                     HUB_OK);
    assert_int_equal(count, 0);
    hub_search_words_destroy(words);
    hub_search_index_destroy(index);
}

/* Of a query, the first 64 words that some tool has. */
static void test_limit_of_query(void **state)
{
    (void)state;
    char text[10000];
    hub_search_tool tools[2] = {{.name = HUB_STR("a")}, {.name = HUB_STR("last")}};
    tools[0].definition = many_words(text, sizeof text, HUB_LIMIT_SEARCH_QUERY_WORDS);
    hub_search_index *index = index_of(tools, 2);
    char query[2000];
    hub_str all = many_words(query, sizeof query, HUB_LIMIT_SEARCH_QUERY_WORDS - 1);
    snprintf(query + all.len - 2, sizeof query - all.len, " last");
    expect_found(index, query + strlen("{\"description\": \""), NULL, "0 1");
    all = many_words(query, sizeof query, HUB_LIMIT_SEARCH_QUERY_WORDS);
    snprintf(query + all.len - 2, sizeof query - all.len, " last");
    expect_found(index, query + strlen("{\"description\": \""), NULL, "0");
    hub_search_index_destroy(index);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_words),          cmocka_unit_test(test_long_words),
        cmocka_unit_test(test_finds),          cmocka_unit_test(test_hidden),
        cmocka_unit_test(test_nothing_there),  cmocka_unit_test(test_strange_definitions),
        cmocka_unit_test(test_depth),          cmocka_unit_test(test_words_of_one_tool),
        cmocka_unit_test(test_share),          cmocka_unit_test(test_more_than_announced),
        cmocka_unit_test(test_many),           cmocka_unit_test(test_limit_of_results),
        cmocka_unit_test(test_limit_of_query),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
