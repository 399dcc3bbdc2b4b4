/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Answers queries over tools, for ./run, which judges the answers:
 *
 *     search TOOLS QUERIES [COUNT]
 *
 * TOOLS: one JSON object a line, {"name", "toolset", "definition"}. QUERIES: one a line. Prints for
 * each query the numbers of the ten tools that it finds, in one line, and at the end, behind "#":
 * tools, bytes of the index, milliseconds of processor time that it took to build, and microseconds
 * for one query, the mean and the most. With COUNT the tools are repeated until there are so many.
 */
#include "base/limits.h"
#include "search/index.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { BEST = 10 };

static void die(const char *what)
{
    fprintf(stderr, "search: %s\n", what);
    exit(1);
}

static double processor_us(void)
{
    struct timespec now;
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
    return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

static hub_str read_file(const char *path)
{
    FILE *file = fopen(path, "rb");
    if (file == NULL || fseek(file, 0, SEEK_END) != 0) {
        die("cannot open a file");
    }
    long len = ftell(file);
    rewind(file);
    char *text = len > 0 ? malloc((size_t)len) : NULL;
    if (text == NULL || fread(text, 1, (size_t)len, file) != (size_t)len) {
        die("cannot read a file, or it is empty");
    }
    fclose(file);
    return (hub_str){.ptr = text, .len = (size_t)len};
}

static bool next_line(hub_str *text, hub_str *ret_line)
{
    if (text->len == 0) {
        return false;
    }
    const char *end = memchr(text->ptr, '\n', text->len);
    size_t len = end != NULL ? (size_t)(end - text->ptr) : text->len;
    *ret_line = (hub_str){.ptr = text->ptr, .len = len};
    *text = hub_str_from(*text, end != NULL ? len + 1 : len);
    return true;
}

static hub_str decoded(hub_str line, hub_str key, hub_buf *buf)
{
    hub_buf_clear(buf);
    if (hub_json_decode(hub_json_get(line, key), buf) != HUB_OK) {
        die("a tool without a name or toolset");
    }
    return hub_buf_str(buf);
}

static size_t count_lines(hub_str text)
{
    size_t count = 0;
    for (hub_str line; next_line(&text, &line);) {
        count++;
    }
    return count;
}

static hub_search_index *build(hub_str tools, size_t count)
{
    hub_search_builder *builder = hub_search_builder_create(count);
    hub_buf name;
    hub_buf toolset;
    hub_buf_init(&name, HUB_LIMIT_CATALOG_BYTES);
    hub_buf_init(&toolset, HUB_LIMIT_CATALOG_BYTES);
    hub_str rest = tools;
    hub_str line;
    for (size_t i = 0; i < count; i++) {
        if (!next_line(&rest, &line)) {
            rest = tools;
            next_line(&rest, &line);
        }
        hub_error why;
        if (hub_json_check(line, &line, &why) != HUB_OK) {
            die("a tool that is not JSON");
        }
        hub_search_tool tool = {.name = decoded(line, HUB_STR("name"), &name),
                                .toolset = decoded(line, HUB_STR("toolset"), &toolset),
                                .definition = hub_json_get(line, HUB_STR("definition"))};
        if (hub_search_builder_add(builder, &tool) != HUB_OK) {
            die("a tool could not be added");
        }
    }
    hub_search_index *index;
    if (hub_search_builder_finish(builder, &index) != HUB_OK) {
        die("the index could not be built");
    }
    hub_search_builder_destroy(builder);
    hub_buf_fini(&name);
    hub_buf_fini(&toolset);
    return index;
}

int main(int argc, char **argv)
{
    if (argc < 3) {
        die("usage: search TOOLS QUERIES [COUNT]");
    }
    hub_str tools = read_file(argv[1]);
    hub_str queries = read_file(argv[2]);
    size_t count = argc > 3 ? strtoul(argv[3], NULL, 10) : count_lines(tools);
    double begin = processor_us();
    hub_search_index *index = build(tools, count);
    double built = processor_us() - begin;
    hub_search_words *words = hub_search_words_create();
    size_t asked = 0;
    double all = 0;
    double most = 0;
    for (hub_str line; next_line(&queries, &line); asked++) {
        uint32_t found[BEST];
        size_t found_count = BEST;
        begin = processor_us();
        if (hub_search_query(index, words, line, NULL, NULL, found, &found_count) != HUB_OK) {
            die("a query failed");
        }
        double took = processor_us() - begin;
        all += took;
        most = took > most ? took : most;
        for (size_t i = 0; i < found_count; i++) {
            printf("%s%u", i > 0 ? " " : "", found[i]);
        }
        putchar('\n');
    }
    printf("# %zu %zu %.1f %.1f %.1f\n", hub_search_index_count(index),
           hub_search_index_bytes(index), built / 1e3, asked > 0 ? all / (double)asked : 0, most);
    hub_search_words_destroy(words);
    hub_search_index_destroy(index);
    return 0;
}
