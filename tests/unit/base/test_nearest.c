/* SPDX-License-Identifier: Apache-2.0 */
/* Which word was mistyped: held against the plain algorithm, and bounded. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/limits.h"
#include "base/nearest.h"

#include <stdio.h>

enum { MOST = 64, ROUNDS = 20000 };

static char small(char c)
{
    return c >= 'A' && c <= 'Z' ? (char)(c + 32) : c;
}

static size_t least(size_t a, size_t b)
{
    return a < b ? a : b;
}

/* All of the table. */
static size_t plain_distance(hub_str a, hub_str b)
{
    static size_t table[MOST + 1][MOST + 1];
    for (size_t i = 0; i <= a.len; i++) {
        for (size_t j = 0; j <= b.len; j++) {
            if (i == 0 || j == 0) {
                table[i][j] = i + j;
                continue;
            }
            size_t change = table[i - 1][j - 1] + (small(a.ptr[i - 1]) != small(b.ptr[j - 1]));
            table[i][j] = least(change, least(table[i - 1][j], table[i][j - 1]) + 1);
        }
    }
    return table[a.len][b.len];
}

static uint32_t seed = 1;

static uint32_t random_below(uint32_t most)
{
    seed = seed * 1664525u + 1013904223u;
    return (seed >> 8) % most;
}

/* A word, and another one that is much like it. */
static void make(char *word, size_t *len, char *other, size_t *other_len)
{
    *len = 1 + random_below(MOST);
    *other_len = 0;
    for (size_t i = 0; i < *len; i++) {
        word[i] = "abAcd_"[random_below(6)];
    }
    for (size_t i = 0; i < *len && *other_len < MOST; i++) {
        switch (random_below(12)) {
        case 0:
            break;
        case 1:
            other[(*other_len)++] = 'x';
            break;
        case 2:
            other[(*other_len)++] = word[i];
            if (*other_len < MOST) {
                other[(*other_len)++] = 'y';
            }
            break;
        default:
            other[(*other_len)++] = word[i];
        }
    }
}

static void test_against_the_plain_algorithm(void **state)
{
    unsigned near = 0;
    (void)state;
    for (unsigned i = 0; i < ROUNDS; i++) {
        char word[MOST];
        char other[MOST];
        hub_str a = {.ptr = word};
        hub_str b = {.ptr = other};
        make(word, &a.len, other, &b.len);
        hub_nearest nearest;
        hub_nearest_begin(&nearest, a);
        size_t bound = nearest.distance;
        hub_nearest_offer(&nearest, b);
        size_t distance = plain_distance(a, b);
        bool is_near = distance < bound;
        near += is_near;
        if (is_near != (nearest.found.ptr != NULL)) {
            print_error(HUB_STR_FMT " and " HUB_STR_FMT ": %zu\n", HUB_STR_ARG(a), HUB_STR_ARG(b),
                        distance);
        }
        assert_int_equal(is_near, nearest.found.ptr != NULL);
        assert_int_equal(nearest.distance, is_near ? distance : bound);
    }
    assert_in_range(near, ROUNDS / 10, ROUNDS - ROUNDS / 10); /* both happen */
}

/* However many are offered, the steps are bounded; whoever comes before them is found. */
static void test_budget(void **state)
{
    enum { NAMES = 100000, LEN = 40 };
    char word[LEN + 1];
    hub_nearest nearest;
    (void)state;
    memset(word, 'a', LEN);
    hub_nearest_begin(&nearest, (hub_str){.ptr = word, .len = LEN});
    size_t looked_at = 0;
    for (size_t i = 0; i < NAMES; i++) {
        char name[LEN];
        size_t before = nearest.steps;
        memset(name, 'a', LEN);
        memcpy(name, "bcdefghijklm", 12); /* too far, but only just */
        hub_nearest_offer(&nearest, (hub_str){.ptr = name, .len = LEN});
        looked_at += before - nearest.steps > 1;
    }
    assert_int_equal(nearest.steps, 0);
    assert_in_range(looked_at, HUB_LIMIT_NEAREST_STEPS / (LEN * LEN),
                    HUB_LIMIT_NEAREST_STEPS / LEN);
    hub_nearest_offer(&nearest, (hub_str){.ptr = word, .len = LEN});
    assert_int_equal(nearest.found.len, 0);
    hub_nearest_begin(&nearest, (hub_str){.ptr = word, .len = LEN});
    hub_nearest_offer(&nearest, (hub_str){.ptr = word, .len = LEN});
    assert_int_equal(nearest.found.len, LEN);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_against_the_plain_algorithm),
        cmocka_unit_test(test_budget),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
