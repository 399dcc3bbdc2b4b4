/* SPDX-License-Identifier: Apache-2.0 */
/* Hubs in front of hubs: who is refused, what is remembered, and for how long. RELIABILITY U14. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "wire/lineage.h"

#include <stdio.h>
#include <string.h>

static hub_lineage make(void)
{
    hub_lineage lineage;
    assert_int_equal(hub_lineage_init(&lineage), HUB_OK);
    return lineage;
}

static hub_err take(hub_lineage *lineage, const char *meta, uint64_t now_ms)
{
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_lineage_take(lineage, hub_str_of(meta), now_ms, &why);
    assert_int_equal(err, why.code);
    return err;
}

/* What `from` says to its upstreams is said to `to`. */
static hub_err ask(const hub_lineage *from, hub_lineage *to, uint64_t now_ms)
{
    hub_buf text;
    hub_buf_init(&text, 1u << 16);
    hub_buf_add(&text, HUB_STR("{\"other\":1,\"" HUB_META_HUBS "\":"));
    hub_lineage_add(from, now_ms, &text);
    hub_buf_add(&text, HUB_STR("}"));
    assert_true(hub_buf_ok(&text));
    hub_error why = {.code = HUB_OK};
    hub_err err = hub_lineage_take(to, hub_buf_str(&text), now_ms, &why);
    hub_buf_fini(&text);
    return err;
}

static void assert_says(const hub_lineage *lineage, uint64_t now_ms, const char *expected)
{
    hub_buf text;
    hub_buf_init(&text, 1u << 16);
    hub_lineage_add(lineage, now_ms, &text);
    assert_int_equal(text.len, strlen(expected));
    assert_memory_equal(text.ptr, expected, text.len);
    hub_buf_fini(&text);
}

static void test_a_hub_alone(void **state)
{
    (void)state;
    hub_lineage hub = make();
    char expected[80];
    (void)snprintf(expected, sizeof expected, "{\"ids\":[\"%s\"]}", hub.id);
    assert_int_equal(strlen(hub.id), HUB_LINEAGE_ID_CHARS);
    assert_says(&hub, 0, expected);
    hub_lineage other = make();
    assert_string_not_equal(hub.id, other.id);
}

static void test_loops(void **state)
{
    (void)state;
    hub_lineage hubs[4] = {make(), make(), make(), make()};
    assert_int_equal(ask(&hubs[0], &hubs[0], 5), HUB_EEXIST);
    for (size_t count = 2; count <= 4; count++) {
        for (size_t i = 0; i + 1 < count; i++) {
            assert_int_equal(ask(&hubs[i], &hubs[i + 1], 5), HUB_OK);
        }
        assert_int_equal(ask(&hubs[count - 1], &hubs[0], 5), HUB_EEXIST);
    }
    /* One hub that two others share is none, nor are two ways from one to another. */
    hub_lineage shared = make();
    assert_int_equal(ask(&hubs[1], &shared, 5), HUB_OK);
    assert_int_equal(ask(&hubs[3], &shared, 5), HUB_OK);
    assert_int_equal(ask(&hubs[0], &shared, 5), HUB_OK);
}

/* Both ends connect at once; the next question finds it out. */
static void test_a_loop_that_closes_by_chance(void **state)
{
    (void)state;
    hub_lineage a = make();
    hub_lineage b = make();
    hub_lineage a_before = a;
    hub_lineage b_before = b;
    assert_int_equal(ask(&a_before, &b, 5), HUB_OK);
    assert_int_equal(ask(&b_before, &a, 5), HUB_OK);
    assert_int_equal(ask(&a, &b, 6), HUB_EEXIST);
    assert_int_equal(ask(&b, &a, 6), HUB_EEXIST);
}

static void test_forgetting(void **state)
{
    (void)state;
    hub_lineage front = make();
    hub_lineage hub = make();
    char alone[80];
    (void)snprintf(alone, sizeof alone, "{\"ids\":[\"%s\"]}", hub.id);
    char both[120];
    (void)snprintf(both, sizeof both, "{\"ids\":[\"%s\",\"%s\"]}", hub.id, front.id);
    assert_int_equal(ask(&front, &hub, 1000), HUB_OK);
    assert_int_equal(ask(&front, &hub, 2000), HUB_OK); /* seen again: one place, a later end */
    assert_int_equal(hub.count, 1);
    assert_says(&hub, 2000 + HUB_LINEAGE_MEMORY_MS - 1, both);
    assert_says(&hub, 2000 + HUB_LINEAGE_MEMORY_MS, alone);
}

static void test_many_hubs(void **state)
{
    (void)state;
    hub_lineage hub = make();
    for (unsigned i = 0; i <= HUB_LINEAGE_HUBS; i++) {
        hub_lineage front = make();
        assert_int_equal(ask(&front, &hub, 5), HUB_OK); /* welcome, if not remembered */
    }
    assert_int_equal(hub.count, HUB_LINEAGE_HUBS);
    hub_lineage late = make();
    assert_int_equal(ask(&late, &hub, 5 + HUB_LINEAGE_MEMORY_MS),
                     HUB_OK); /* in a place that is free */
    char both[120];
    (void)snprintf(both, sizeof both, "{\"ids\":[\"%s\",\"%s\"]}", hub.id, late.id);
    assert_says(&hub, 5 + HUB_LINEAGE_MEMORY_MS, both);
}

static void test_what_is_no_lineage(void **state)
{
    (void)state;
    static const char *const METAS[] = {
        "",
        "{}",
        "[]",
        "{\"patchbay/hubs\":null}",
        "{\"patchbay/hubs\":{\"ids\":\"x\"}}",
        "{\"patchbay/hubs\":{\"ids\":[]}}",
        "{\"patchbay/hubs\":{\"ids\":[\"\",7,{},\"ABCDEF0123456789ABCDEF0123456789\"]}}",
        "{\"patchbay/hubs\":{\"ids\":[\"0123456789abcdef0123456789abcde\"]}}",
        "{\"patchbay/hubs\":{\"ids\":[\"0123456789abcdef0123456789abcdef0\"]}}",
    };
    for (size_t i = 0; i < sizeof METAS / sizeof METAS[0]; i++) {
        hub_lineage hub = make();
        assert_int_equal(take(&hub, METAS[i], 5), HUB_OK);
        assert_int_equal(hub.count, 0);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_hub_alone),
        cmocka_unit_test(test_loops),
        cmocka_unit_test(test_a_loop_that_closes_by_chance),
        cmocka_unit_test(test_forgetting),
        cmocka_unit_test(test_many_hubs),
        cmocka_unit_test(test_what_is_no_lineage),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
