/* SPDX-License-Identifier: Apache-2.0 */
/* Results that are kept: whose they are, and who loses what when memory is at its end. */
#include "hub/results/kept.h"

#include "base/limits.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

static hub_kept_results *kept;

static int begin(void **state)
{
    (void)state;
    kept = hub_kept_create();
    assert_non_null(kept);
    return 0;
}

static int end(void **state)
{
    (void)state;
    hub_kept_destroy(kept);
    return 0;
}

static char ids[HUB_LIMIT_RESULTS_KEPT + 2][HUB_RESULT_ID_BYTES + 1];

/* Keep `bytes` of somebody's under ids[at]. */
static hub_err add(size_t at, const char *who, size_t bytes)
{
    const hub_kept_result *result = NULL;
    hub_result_origin origin = {.principal = hub_str_of(who),
                                .whose = hub_str_of(who),
                                .profile = HUB_STR("default"),
                                .toolset = HUB_STR("alpha"),
                                .tool = HUB_STR("one")};
    char *json = malloc(bytes);
    assert_non_null(json);
    memset(json, 'x', bytes);
    hub_err err = hub_kept_add(kept, &origin, (hub_str){.ptr = json, .len = bytes}, &result);
    free(json);
    if (err == HUB_OK) {
        memcpy(ids[at], result->id, sizeof ids[at]);
    }
    return err;
}

static bool has(size_t at, const char *who)
{
    return hub_kept_find(kept, hub_str_of(who), HUB_STR("default"), hub_str_of(ids[at])) != NULL;
}

/* What one takes beside its own bytes. */
static size_t measure(size_t bytes)
{
    hub_kept_set_memory(kept, SIZE_MAX / 2);
    assert_int_equal(add(0, "ann", bytes), HUB_OK);
    size_t all = hub_kept_bytes(kept);
    hub_kept_set_memory(kept, 0);
    assert_int_equal(hub_kept_count(kept), 0);
    return all;
}

/* An id is good for who has it, in their profile; nobody else's, and no part of it. */
static void test_whose(void **state)
{
    (void)state;
    hub_kept_set_memory(kept, 100000);
    assert_int_equal(add(0, "ann", 100), HUB_OK);
    assert_int_equal(add(1, "ann", 100), HUB_OK);
    assert_int_equal(strlen(ids[0]), HUB_RESULT_ID_BYTES);
    assert_string_not_equal(ids[0], ids[1]);
    assert_true(has(0, "ann") && has(1, "ann"));
    assert_false(has(0, "bob") || has(0, "an") || has(0, ""));
    hub_str id = hub_str_of(ids[0]);
    assert_null(hub_kept_find(kept, HUB_STR("ann"), HUB_STR("other"), id));
    id.len--;
    assert_null(hub_kept_find(kept, HUB_STR("ann"), HUB_STR("default"), id));
    assert_null(hub_kept_find(kept, HUB_STR("ann"), HUB_STR("default"), HUB_STR_EMPTY));
    ids[0][0] = ids[0][0] == '0' ? '1' : '0';
    assert_false(has(0, "ann"));
}

/* As many bytes as there may be fit, and one more does not. */
static void test_edge(void **state)
{
    (void)state;
    size_t all = measure(1000);
    hub_kept_set_memory(kept, all);
    assert_int_equal(add(0, "ann", 1001), HUB_ELIMIT);
    assert_int_equal(hub_kept_count(kept), 0);
    assert_int_equal(add(0, "ann", 1000), HUB_OK);
    assert_int_equal(hub_kept_bytes(kept), all);
    assert_int_equal(add(1, "ann", 1), HUB_OK); /* the older one gives way */
    assert_false(has(0, "ann"));
    assert_true(has(1, "ann"));
}

/* Who has most loses the oldest; the others keep theirs. */
static void test_fair_share(void **state)
{
    (void)state;
    size_t all = measure(1000);
    hub_kept_set_memory(kept, 4 * all);
    assert_int_equal(add(0, "bob", 1000), HUB_OK);
    for (size_t i = 1; i <= 6; i++) {
        assert_int_equal(add(i, "ann", 1000), HUB_OK);
    }
    assert_true(has(0, "bob"));
    assert_false(has(1, "ann") || has(2, "ann") || has(3, "ann"));
    assert_true(has(4, "ann") && has(5, "ann") && has(6, "ann"));
    assert_int_equal(add(7, "bob", 1000), HUB_OK); /* takes what ann has beyond her share */
    assert_true(has(0, "bob") && has(7, "bob") && has(5, "ann") && has(6, "ann"));
    assert_false(has(4, "ann"));
    /* More than a share is not kept while others use theirs, and nothing is lost for it. */
    assert_int_equal(add(8, "cat", 3 * all), HUB_ELIMIT);
    assert_int_equal(hub_kept_count(kept), 4);
    assert_int_equal(hub_kept_bytes(kept), 4 * all);
}

/* Also in number. */
static void test_number(void **state)
{
    (void)state;
    hub_kept_set_memory(kept, SIZE_MAX / 2);
    assert_int_equal(add(0, "bob", 1), HUB_OK);
    for (size_t i = 1; i <= HUB_LIMIT_RESULTS_KEPT; i++) {
        assert_int_equal(add(i, "ann", 1), HUB_OK);
    }
    assert_int_equal(hub_kept_count(kept), HUB_LIMIT_RESULTS_KEPT);
    assert_true(has(0, "bob"));
    assert_false(has(1, "ann"));
    assert_true(has(2, "ann"));
}

/* Less memory, and a toolset that goes. */
static void test_less(void **state)
{
    (void)state;
    size_t all = measure(1000);
    hub_kept_set_memory(kept, 3 * all);
    assert_int_equal(add(0, "ann", 1000), HUB_OK);
    assert_int_equal(add(1, "ann", 1000), HUB_OK);
    assert_int_equal(add(2, "bob", 1000), HUB_OK);
    hub_kept_set_memory(kept, 2 * all);
    assert_true(has(1, "ann") && has(2, "bob"));
    assert_false(has(0, "ann"));
    hub_kept_forget(kept, HUB_STR("beta"));
    assert_int_equal(hub_kept_count(kept), 2);
    hub_kept_forget(kept, HUB_STR("alpha"));
    assert_int_equal(hub_kept_count(kept), 0);
    assert_int_equal(hub_kept_bytes(kept), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_whose, begin, end),
        cmocka_unit_test_setup_teardown(test_edge, begin, end),
        cmocka_unit_test_setup_teardown(test_fair_share, begin, end),
        cmocka_unit_test_setup_teardown(test_number, begin, end),
        cmocka_unit_test_setup_teardown(test_less, begin, end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
