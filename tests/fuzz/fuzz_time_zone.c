/* SPDX-License-Identifier: Apache-2.0 */
/*
 * TZif files: one that is read has an offset within bounds at every time, and each local time is
 * none, one or two instants. Input: a file.
 */
#include "../../plugins/time/zone.h"

#include <stdlib.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

#define REQUIRE(condition)                                                                         \
    do {                                                                                           \
        if (!(condition)) {                                                                        \
            abort();                                                                               \
        }                                                                                          \
    } while (0)

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static time_zone zone;
    time_problem problem = {.text = ""};
    if (!time_zone_read(&zone, "Fuzz/Zone", data, size, &problem)) {
        REQUIRE(problem.text[0] != '\0');
        return 0;
    }
    for (int64_t at = TIME_FIRST_SECOND; at < TIME_LAST_SECOND; at += INT64_C(40000000003)) {
        time_local local = time_zone_at(&zone, at);
        REQUIRE(local.offset >= TIME_OFFSET_MIN && local.offset <= TIME_OFFSET_MAX);
        time_resolution resolution = time_zone_resolve(&zone, at);
        REQUIRE(resolution.count >= 0 && resolution.count <= 2);
    }
    return 0;
}
