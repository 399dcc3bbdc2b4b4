/* SPDX-License-Identifier: Apache-2.0 */
#include "wire/json_string.h"

#include <string.h>

typedef struct variant {
    const char *name;
    hub_json_string_pass *pass;
    bool (*is_usable)(void);
} variant;

static hub_json_string_pass choose;

hub_json_string_pass *_Atomic hub_json_string_chosen = choose;

/* Nothing is passed over: the caller's scalar code reads every byte. */
const char *hub_json_string_plain(const char *at, const char *end, bool *escaped)
{
    (void)end;
    (void)escaped;
    return at;
}

#if defined(__x86_64__)
static bool has_avx512(void)
{
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
           __builtin_cpu_supports("bmi");
}

static bool has_avx2(void)
{
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("bmi");
}

static bool has_sse42(void)
{
    return __builtin_cpu_supports("sse4.2");
}
#endif

static bool is_always_usable(void)
{
    return true;
}

/* Best first. */
static const variant VARIANTS[] = {
#if defined(__x86_64__)
    {"avx512", hub_json_string_avx512, has_avx512},
    {"avx2", hub_json_string_avx2, has_avx2},
    {"sse4.2", hub_json_string_sse42, has_sse42},
#elif defined(__aarch64__) && defined(__ARM_NEON)
    {"neon", hub_json_string_neon, is_always_usable}, /* part of every arm64 processor */
#endif
    {"plain", hub_json_string_plain, is_always_usable},
};

enum { VARIANT_COUNT = sizeof VARIANTS / sizeof VARIANTS[0] };

static const variant *find_usable(size_t index)
{
    for (size_t i = 0; i < VARIANT_COUNT; i++) {
        if (VARIANTS[i].is_usable() && index-- == 0) {
            return &VARIANTS[i];
        }
    }
    return NULL;
}

/* Threads that come here together all store the same. */
static const char *choose(const char *at, const char *end, bool *escaped)
{
    hub_json_string_pass *best = find_usable(0)->pass;
    atomic_store_explicit(&hub_json_string_chosen, best, memory_order_relaxed);
    return best(at, end, escaped);
}

const char *hub_json_variant(size_t index)
{
    const variant *found = find_usable(index);
    return found != NULL ? found->name : NULL;
}

bool hub_json_use_variant(const char *name)
{
    const variant *found;
    for (size_t i = 0; (found = find_usable(i)) != NULL; i++) {
        if (strcmp(found->name, name) == 0) {
            atomic_store_explicit(&hub_json_string_chosen, found->pass, memory_order_relaxed);
            return true;
        }
    }
    return false;
}
