/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Redaction: of a text in which registered secrets may stand none is left, and a text without any is
 * untouched. Input: secrets, one a line, an empty line, the text.
 */
#include "base/limits.h"
#include "redact/redact.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

enum { MOST = 8 };

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    hub_str text = {.ptr = (const char *)data, .len = size};
    hub_str secrets[MOST];
    size_t count = 0;
    hub_redact_set *set = hub_redact_set_create();
    hub_buf out;
    REQUIRE(set != NULL);
    hub_buf_init(&out, SIZE_MAX / 4);
    for (size_t end; (end = hub_str_find(text, HUB_STR("\n"))) != SIZE_MAX;) {
        hub_str line = {.ptr = text.ptr, .len = end};
        text = hub_str_from(text, end + 1);
        if (line.len == 0) {
            break;
        }
        if (count < MOST && line.len >= HUB_LIMIT_SECRET_LEAST_BYTES) {
            REQUIRE(hub_redact_set_add(set, line) == HUB_OK);
            secrets[count++] = line;
        }
    }
    bool is_masked = hub_redact(text, &out);
    REQUIRE(is_masked || out.len == 0);
    hub_str shown = is_masked ? hub_buf_str(&out) : text;
    for (size_t i = 0; i < count; i++) {
        bool is_mask = hub_str_find(HUB_STR("[redacted]"), secrets[i]) != SIZE_MAX;
        REQUIRE(is_masked || hub_str_find(text, secrets[i]) == SIZE_MAX);
        REQUIRE(is_mask || !is_masked || memchr(secrets[i].ptr, '[', secrets[i].len) != NULL ||
                memchr(secrets[i].ptr, ']', secrets[i].len) != NULL ||
                hub_str_find(shown, secrets[i]) == SIZE_MAX);
    }
    hub_buf_fini(&out);
    hub_redact_set_destroy(set);
    return 0;
}
