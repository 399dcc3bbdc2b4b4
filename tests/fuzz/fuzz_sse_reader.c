/* SPDX-License-Identifier: Apache-2.0 */
/*
 * sse_reader: however a stream is cut, the same comes out of it; what is kept is bounded.
 * Input: one byte for the limit, one for the pieces, then the stream.
 */
#include <stdint.h>

#include "../support/sse_feed.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size < 2) {
        return 0;
    }
    size_t limit = data[0];
    const size_t pieces[] = {0, 1, 2u + data[1]};
    sse_feed feeds[3];
    for (size_t i = 0; i < 3; i++) {
        sse_feed_init(&feeds[i], limit);
        sse_feed_bytes(&feeds[i], (const char *)data + 2, size - 2, pieces[i]);
        size_t kept = feeds[i].reader.line.len + feeds[i].reader.data.len;
        REQUIRE(feeds[i].result != PATCHBAY_OK || kept <= limit + 16);
    }
    for (size_t i = 1; i < 3; i++) {
        /* In smaller pieces a line that is too long may be noticed before its end has come. */
        if (feeds[i].result == PATCHBAY_OK && feeds[0].result == PATCHBAY_OK) {
            REQUIRE(strcmp(feeds[i].events.ptr, feeds[0].events.ptr) == 0);
            REQUIRE(feeds[i].reader.retry_ms == feeds[0].reader.retry_ms);
        }
    }
    for (size_t i = 0; i < 3; i++) {
        sse_feed_free(&feeds[i]);
    }
    return 0;
}
