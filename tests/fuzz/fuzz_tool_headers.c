/* SPDX-License-Identifier: Apache-2.0 */
/*
 * tool_headers: whatever the definition of a tool and the arguments of a call, the arguments are
 * passed over once, and what is written is lines of headers.
 * Input: the definition, a newline, the arguments.
 */
#include <stdint.h>

#include "../../plugins/upstream/remote/tool_headers.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

static void check_lines(const patchbay_out *lines)
{
    static const char PREFIX[] = "Mcp-Param-";
    size_t at = 0;
    while (at < lines->len) {
        const char *end = memchr(lines->ptr + at, '\n', lines->len - at);
        REQUIRE(end != NULL && lines->len - at > sizeof PREFIX);
        REQUIRE(memcmp(lines->ptr + at, PREFIX, sizeof PREFIX - 1) == 0);
        REQUIRE(memchr(lines->ptr + at, '\r', (size_t)(end - lines->ptr) - at) == NULL);
        at = (size_t)(end - lines->ptr) + 1;
    }
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    const char *cut = size > 0 ? memchr(text, '\n', size) : NULL;
    if (cut == NULL) {
        return 0;
    }
    patchbay_str tool = patchbay_str_make(text, (size_t)(cut - text));
    patchbay_str arguments = patchbay_str_make(cut + 1, size - tool.len - 1);
    if (!patchbay_json_valid(tool) || !patchbay_json_valid(arguments)) {
        return 0; /* the hub has checked both */
    }
    tool_headers all = {0};
    patchbay_out lines = {0};
    tool_headers_begin(&all);
    (void)tool_headers_take(&all, tool);
    size_t cost = tool_headers_add(&all, patchbay_str_of("t"), arguments, &lines);
    REQUIRE(cost <= arguments.len * (1 + TOOL_HEADERS_MAX));
    check_lines(&lines);
    patchbay_out_free(&lines);
    tool_headers_free(&all);
    return 0;
}
