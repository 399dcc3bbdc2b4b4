/* SPDX-License-Identifier: Apache-2.0 */
/*
 * refused: whatever the text, it is read within its bounds, ids are parts of it, and what the hub's
 * own scanner takes for an answer has the id that the scanner finds.
 */
#include <stdint.h>

#include "../../plugins/upstream/common/refused.c"
#include "wire/message.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    const char *text = (const char *)data;
    refused_iter it = refused_iterate(patchbay_str_make(text, size));
    refused_message first = {.has_method = 0};
    refused_message message;
    size_t count = 0;
    while (refused_next(&it, &message)) {
        REQUIRE(message.id.len == 0 ||
                (message.id.ptr >= text && message.id.ptr + message.id.len <= text + size));
        first = count++ == 0 ? message : first;
        REQUIRE(count <= size && (message.is_in_batch || count == 1));
        (void)refused_number(message.id);
    }
    hub_message scanned;
    hub_error why;
    if (hub_message_scan((hub_str){.ptr = text, .len = size}, &scanned, &why) == HUB_OK &&
        (scanned.kind == HUB_MESSAGE_RESULT || scanned.kind == HUB_MESSAGE_ERROR)) {
        /* A key may be written with escapes, which are not looked into. */
        REQUIRE(count == 1 && !first.is_cut && !first.is_in_batch);
        REQUIRE(first.id.len == 0 || hub_str_eq(first.id, scanned.at[HUB_M_ID]));
    }
    return 0;
}
