/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_http_request_next: however a head is cut, the outcome is the same; what was accepted lies
 * within what was given, holds no line end, and leaves no doubt about the body.
 * Input: one byte for the chunks, then the head.
 */
#include "oracle.h"
#include "../support/http_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MAX_BODY = 4096 };

static bool is_clean(hub_str text)
{
    return text.len == 0 ||
           (memchr(text.ptr, '\r', text.len) == NULL && memchr(text.ptr, '\n', text.len) == NULL &&
            memchr(text.ptr, '\0', text.len) == NULL);
}

static void check_request(const hub_http_request *request, hub_str input)
{
    REQUIRE(request->used <= input.len);
    REQUIRE(hub_str_eq(hub_str_from((hub_str){input.ptr, request->used}, request->used - 4),
                       HUB_STR("\r\n\r\n")));
    REQUIRE(hub_http_is_token(request->method));
    REQUIRE(request->path.len > 0 && request->path.ptr[0] == '/');
    REQUIRE(is_clean(request->path) && is_clean(request->query) && is_clean(request->host));
    REQUIRE(request->content_length <= MAX_BODY);
    for (size_t i = 0; i < request->header_count; i++) {
        hub_str name = request->headers[i].name;
        hub_http_name known = hub_http_name_of(name);
        REQUIRE(known == HUB_HTTP_OTHER ||
                hub_http_known(request, known) == hub_http_find_header(request, name, NULL));
        REQUIRE(hub_http_is_token(request->headers[i].name));
        REQUIRE(is_clean(request->headers[i].value));
    }
    bool has_length = hub_http_find_header(request, HUB_STR("Content-Length"), NULL) != NULL;
    bool has_chunks = hub_http_find_header(request, HUB_STR("Transfer-Encoding"), NULL) != NULL;
    REQUIRE(!(has_length && has_chunks));
    REQUIRE(has_length == (request->framing == HUB_HTTP_LENGTH));
    REQUIRE(has_chunks == (request->framing == HUB_HTTP_CHUNKED));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1 || size > 20000) {
        return 0;
    }
    hub_str input = {.ptr = (const char *)data + 1, .len = size - 1};
    /* Byte by byte copies a long input often: only the short ones. */
    size_t steps[] = {0, size < 600 ? 1 : 1000, 2u + data[0] + size / 64};
    hub_buf says[3];
    const int ways = FUZZ_ORACLE ? 3 : 1;
    for (int i = 0; i < ways; i++) {
        hub_http_request request;
        char *block = NULL;
        hub_http_progress progress = http_feed_head(input, steps[i], MAX_BODY, &block, &request);
        hub_buf_init(&says[i], SIZE_MAX / 4);
        http_describe(&says[i], progress, &request);
        REQUIRE(hub_str_eq(hub_buf_str(&says[i]), hub_buf_str(&says[0])));
        if (progress == HUB_HTTP_DONE) {
            check_request(&request, input);
        } else if (progress == HUB_HTTP_REFUSED) {
            REQUIRE(request.status >= 400 && request.reason != NULL);
        } else {
            REQUIRE(input.len <= HUB_HTTP_LIMIT_HEAD_BYTES + 2 * HUB_HTTP_LIMIT_BLANK_LINES);
        }
        free(block);
    }
    for (int i = 0; i < ways; i++) {
        hub_buf_fini(&says[i]);
    }
    return 0;
}
