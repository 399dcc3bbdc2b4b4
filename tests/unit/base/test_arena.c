/* SPDX-License-Identifier: Apache-2.0 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/arena.h"

static void test_pieces_are_zeroed_and_aligned(void **state)
{
    (void)state;
    hub_arena *arena = hub_arena_create(1024 * 1024);
    assert_non_null(arena);
    for (size_t size = 0; size < 300; size++) {
        unsigned char *piece = hub_arena_alloc(arena, size);
        assert_non_null(piece);
        assert_int_equal((uintptr_t)piece % _Alignof(max_align_t), 0);
        for (size_t i = 0; i < size; i++) {
            assert_int_equal(piece[i], 0);
            piece[i] = 0xff; /* the next piece must not overlap this one */
        }
    }
    assert_int_equal(hub_arena_failed(arena), HUB_OK);
    hub_arena_destroy(arena);
}

static void test_large_pieces(void **state)
{
    (void)state;
    hub_arena *arena = hub_arena_create(4 * 1024 * 1024);
    char *large = hub_arena_alloc(arena, 1024 * 1024);
    char *small = hub_arena_alloc(arena, 1);
    assert_non_null(large);
    assert_non_null(small);
    memset(large, 1, 1024 * 1024);
    assert_int_equal(*small, 0);
    hub_arena_wipe(arena); /* the whole of both chunks */
    hub_arena_wipe(NULL);
}

static void test_the_maximum(void **state)
{
    (void)state;
    hub_arena *arena = hub_arena_create(100);
    assert_non_null(hub_arena_alloc(arena, 60));
    assert_null(hub_arena_alloc(arena, 41));
    assert_int_equal(hub_arena_failed(arena), HUB_ELIMIT);
    assert_non_null(hub_arena_alloc(arena, 40));
    assert_null(hub_arena_alloc(arena, 1));
    assert_non_null(hub_arena_alloc(arena, 0));
    hub_arena_destroy(arena);
}

static void test_overflow(void **state)
{
    (void)state;
    hub_arena *arena = hub_arena_create(SIZE_MAX);
    assert_null(hub_arena_array(arena, SIZE_MAX / 2, 3));
    assert_int_equal(hub_arena_failed(arena), HUB_ELIMIT);
    assert_null(hub_arena_alloc(arena, SIZE_MAX));
    assert_int_equal(hub_arena_failed(arena), HUB_ENOMEM);
    assert_null(hub_arena_strdup(arena, (hub_str){.ptr = "", .len = SIZE_MAX}));
    assert_non_null(hub_arena_array(arena, 0, 8));
    assert_non_null(hub_arena_array(arena, 8, 0));
    hub_arena_destroy(arena);
}

static void test_text(void **state)
{
    (void)state;
    hub_arena *arena = hub_arena_create(1024);
    assert_string_equal(hub_arena_strdup(arena, HUB_STR("abc")), "abc");
    assert_string_equal(hub_arena_strdup(arena, HUB_STR_EMPTY), "");
    assert_string_equal(hub_arena_strdup(arena, (hub_str){.ptr = NULL, .len = 0}), "");
    assert_string_equal(hub_arena_printf(arena, "%s:%d", "file", 7), "file:7");
    assert_null(hub_arena_printf(arena, "%2000d", 7));
    assert_int_equal(hub_arena_failed(arena), HUB_ELIMIT);
    hub_arena_destroy(arena);
    hub_arena_destroy(NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_pieces_are_zeroed_and_aligned),
        cmocka_unit_test(test_large_pieces),
        cmocka_unit_test(test_the_maximum),
        cmocka_unit_test(test_overflow),
        cmocka_unit_test(test_text),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
