/* SPDX-License-Identifier: Apache-2.0 */
/*
 * hub_http_chunked_next: however a body is cut, the outcome is the same, and within its bounds;
 * what is written as chunks comes back. Input: one byte for the chunks, then the body.
 */
#include "../support/http_feed.h"
#include "http/response.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MAX_BODY = 4096 };

static void check_round_trip(hub_str content, size_t step)
{
    char line[HUB_HTTP_CHUNK_LINE_BYTES];
    hub_buf written;
    hub_buf body;
    hub_http_chunked chunked;
    size_t used;
    hub_str rest = content;
    hub_buf_init(&written, SIZE_MAX / 4);
    hub_buf_init(&body, content.len);
    while (rest.len > 0) {
        hub_str part = {.ptr = rest.ptr, .len = step < rest.len ? step : rest.len};
        hub_buf_add(&written, hub_http_chunk_line(part.len, line));
        hub_buf_add(&written, part);
        hub_buf_add(&written, HUB_HTTP_CHUNK_END);
        rest = hub_str_from(rest, part.len);
    }
    hub_buf_add(&written, HUB_HTTP_LAST_CHUNK);
    hub_http_chunked_init(&chunked, content.len);
    REQUIRE(http_feed_chunks(&chunked, hub_buf_str(&written), step + 1, &body, &used) ==
            HUB_HTTP_DONE);
    REQUIRE(used == written.len && hub_str_eq(hub_buf_str(&body), content));
    hub_buf_fini(&body);
    hub_buf_fini(&written);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 1) {
        return 0;
    }
    hub_str input = {.ptr = (const char *)data + 1, .len = size - 1};
    size_t steps[] = {0, 1, 2u + data[0]};
    hub_http_progress progress[3];
    hub_http_chunked chunked[3];
    hub_buf body[3];
    size_t used[3];
    for (int i = 0; i < 3; i++) {
        hub_buf_init(&body[i], MAX_BODY);
        hub_http_chunked_init(&chunked[i], MAX_BODY);
        progress[i] = http_feed_chunks(&chunked[i], input, steps[i], &body[i], &used[i]);
        REQUIRE(progress[i] == progress[0] && used[i] == used[0]);
        REQUIRE(chunked[i].status == chunked[0].status);
        REQUIRE(hub_str_eq(hub_buf_str(&body[i]), hub_buf_str(&body[0])));
        REQUIRE((progress[i] == HUB_HTTP_REFUSED) == (chunked[i].status != 0));
        REQUIRE(body[i].len <= chunked[i].body_bytes && chunked[i].body_bytes <= MAX_BODY);
    }
    for (int i = 0; i < 3; i++) {
        hub_buf_fini(&body[i]);
    }
    check_round_trip(input, 1u + data[0]);
    return 0;
}
