/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The inside of long JSON strings, 64 bytes at a time: quotes, escapes, control characters and
 * UTF-8 in one pass by vector instructions. There is a variant for each instruction set; which one
 * runs is decided by the processor at the first call. A variant only says how far everything is
 * right: what is wrong, and the rest of fewer than 64 bytes, is left to the scalar code in
 * json_scan.c, which is the reference and words every error. Internal to wire/. Any thread.
 */
#ifndef HUB_WIRE_JSON_STRING_H
#define HUB_WIRE_JSON_STRING_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>

/* Below this many bytes a string does not pay for setting up the vectors. */
enum { HUB_JSON_BLOCK_BYTES = 64 };

/* Pass over the inside of a string. `at` is behind its opening quote, at the start of a character
 * that is not escaped; the three bytes before `at` are readable and hold whole characters.
 * Returns the closing quote, or the start of a character that is not escaped, with fewer than 64
 * bytes left before `end` or something wrong in the 64 bytes behind it. All before it is right.
 * Sets `escaped` when there is an escape before the place that it returns; never clears it. */
typedef const char *hub_json_string_pass(const char *at, const char *end, bool *escaped);

hub_json_string_pass hub_json_string_plain;
hub_json_string_pass hub_json_string_sse42;
hub_json_string_pass hub_json_string_avx2;
hub_json_string_pass hub_json_string_avx512;
hub_json_string_pass hub_json_string_neon;

/* The variant in use. It begins with one that looks at the processor and puts the best here. */
extern hub_json_string_pass *_Atomic hub_json_string_chosen;

static inline const char *hub_json_skip_string(const char *at, const char *end, bool *escaped)
{
    return atomic_load_explicit(&hub_json_string_chosen, memory_order_relaxed)(at, end, escaped);
}

/* The names of the variants that are compiled in and that this processor can run, best first; the
 * last is "plain". NULL from that count on. For tests and the bench. */
const char *hub_json_variant(size_t index);

/* Use that variant from now on. For tests and the bench: false when there is none of that name. */
bool hub_json_use_variant(const char *name);

#endif
