/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Search: whatever tools and queries say, each tool is found at most once, and who may not see some is
 * told of the others in the same order.
 * Input: lines; the first is the query, the others are definitions where they are JSON, else names.
 */
#include "base/limits.h"
#include "search/index.h"
#include "wire/json.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST = 64 };

static hub_str next_line(hub_str *rest)
{
    const char *end = rest->len > 0 ? memchr(rest->ptr, '\n', rest->len) : NULL;
    hub_str line = {.ptr = rest->ptr, .len = end != NULL ? (size_t)(end - rest->ptr) : rest->len};
    *rest = hub_str_from(*rest, end != NULL ? line.len + 1 : line.len);
    return line;
}

static bool is_odd(void *ctx, uint32_t tool)
{
    (void)ctx;
    return tool % 2 == 1;
}

static void check(const hub_search_index *index, hub_search_words *words, hub_str text,
                  size_t tools)
{
    uint32_t found[MOST];
    size_t count = MOST;
    REQUIRE(hub_search_query(index, words, text, NULL, NULL, found, &count) == HUB_OK);
    bool seen[MOST] = {false};
    for (size_t i = 0; i < count; i++) {
        REQUIRE(found[i] < tools && !seen[found[i]]);
        seen[found[i]] = true;
    }
    uint32_t odd[MOST];
    size_t odd_count = MOST;
    REQUIRE(hub_search_query(index, words, text, is_odd, NULL, odd, &odd_count) == HUB_OK);
    size_t at = 0;
    for (size_t i = 0; i < count; i++) { /* the same in the same order, less the hidden ones */
        REQUIRE(found[i] % 2 == 0 || (at < odd_count && odd[at++] == found[i]));
    }
    REQUIRE(at == odd_count);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str rest = {.ptr = (const char *)data, .len = size};
    hub_str query = next_line(&rest);
    hub_search_builder *builder = hub_search_builder_create(MOST);
    hub_search_words *words = hub_search_words_create();
    REQUIRE(builder != NULL && words != NULL);
    size_t tools = 0;
    for (; rest.len > 0 && tools < MOST; tools++) {
        hub_str line = next_line(&rest);
        hub_str value;
        bool is_json = hub_json_check(line, &value, NULL) == HUB_OK;
        hub_search_tool tool = {.name = is_json ? HUB_STR_EMPTY : line,
                                .definition = is_json ? value : HUB_STR_EMPTY};
        REQUIRE(hub_search_builder_add(builder, &tool) == HUB_OK);
    }
    hub_search_index *index = NULL;
    REQUIRE(hub_search_builder_finish(builder, &index) == HUB_OK);
    REQUIRE(hub_search_index_count(index) == tools);
    check(index, words, query, tools);
    hub_search_index_destroy(index);
    hub_search_words_destroy(words);
    hub_search_builder_destroy(builder);
    return 0;
}
