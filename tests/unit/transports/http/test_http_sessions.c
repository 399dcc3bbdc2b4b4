/* SPDX-License-Identifier: Apache-2.0 */
/* The table of sessions: RELIABILITY A16, R14; MCP 2025-11-25 basic/transports, Session Management.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http/session_table.h"

enum { MANY = 2000 };

typedef struct fixture {
    hub_session_table *table;
    hub_session_entry entries[MANY];
} fixture;

static fixture f;

static void begin(size_t max, size_t max_per_principal)
{
    memset(&f, 0, sizeof f);
    f.table = hub_session_table_create(max, max_per_principal);
    assert_non_null(f.table);
}

static void end(void)
{
    hub_session_entry *entry;
    while ((entry = hub_session_table_any(f.table)) != NULL) {
        hub_session_table_remove(f.table, entry);
    }
    hub_session_table_destroy(f.table);
}

static hub_session_entry *add(size_t at, const char *principal)
{
    assert_int_equal(hub_session_table_add(f.table, &f.entries[at], principal), HUB_OK);
    return &f.entries[at];
}

static void test_ids_are_found_by_their_principal(void **state)
{
    (void)state;
    begin(10, 10);
    hub_session_entry *entry = add(0, "ann");
    hub_str id = hub_str_of(entry->id);
    assert_int_equal(id.len, HUB_SESSION_ID_BYTES);
    assert_ptr_equal(hub_session_table_find(f.table, id, "ann"), entry);
    assert_null(hub_session_table_find(f.table, id, "bob"));
    assert_null(hub_session_table_find(f.table, id, "an"));
    assert_null(hub_session_table_find(f.table, id, ""));
    assert_null(hub_session_table_find(f.table, HUB_STR_EMPTY, "ann"));
    assert_null(hub_session_table_find(f.table, (hub_str){id.ptr, id.len - 1}, "ann"));
    assert_null(hub_session_table_find(f.table, (hub_str){id.ptr, id.len + 1}, "ann"));
    hub_session_table_remove(f.table, entry);
    assert_null(hub_session_table_find(f.table, id, "ann"));
    end();
}

static void test_ids_are_not_repeated(void **state)
{
    (void)state;
    begin(MANY, MANY);
    for (size_t i = 0; i < MANY; i++) {
        hub_session_entry *entry = &f.entries[i];
        (void)add(i, "ann");
        assert_int_equal(strspn(entry->id, "0123456789abcdef"), HUB_SESSION_ID_BYTES);
        for (size_t k = 0; i < 100 && k < i; k++) {
            assert_string_not_equal(f.entries[k].id, entry->id);
        }
    }
    for (size_t i = 0; i < MANY; i++) { /* two of one id: the first would be found for both */
        assert_ptr_equal(hub_session_table_find(f.table, hub_str_of(f.entries[i].id), "ann"),
                         &f.entries[i]);
    }
    end();
}

static void test_room(void **state)
{
    (void)state;
    hub_session_entry *victim = NULL;
    begin(3, 2);
    assert_int_equal(hub_session_table_room(f.table, "ann", &victim), HUB_SESSION_ROOM);
    hub_session_entry *first = add(0, "ann");
    hub_session_entry *second = add(1, "ann");
    assert_int_equal(hub_session_table_room(f.table, "ann", &victim), HUB_SESSION_PRINCIPAL_FULL);
    assert_int_equal(hub_session_table_room(f.table, "bob", &victim), HUB_SESSION_ROOM);
    hub_session_table_unuse(f.table, second, 10);
    hub_session_table_unuse(f.table, first, 20);
    assert_int_equal(hub_session_table_room(f.table, "ann", &victim), HUB_SESSION_EVICT);
    assert_ptr_equal(victim, second); /* idle for longest */
    hub_session_entry *bobs = add(2, "bob");
    assert_int_equal(hub_session_table_room(f.table, "bob", &victim), HUB_SESSION_EVICT);
    assert_ptr_equal(victim, second);
    hub_session_table_use(f.table, second);
    assert_int_equal(hub_session_table_room(f.table, "bob", &victim), HUB_SESSION_EVICT);
    assert_ptr_equal(victim, first);
    hub_session_table_use(f.table, first);
    assert_int_equal(hub_session_table_room(f.table, "bob", &victim), HUB_SESSION_FULL);
    assert_int_equal(hub_session_table_room(f.table, "ann", &victim), HUB_SESSION_PRINCIPAL_FULL);
    hub_session_table_unuse(f.table, bobs, 30); /* of another principal: no help to ann … */
    assert_int_equal(hub_session_table_room(f.table, "ann", &victim), HUB_SESSION_PRINCIPAL_FULL);
    assert_int_equal(hub_session_table_room(f.table, "eve", &victim), HUB_SESSION_EVICT); /* … */
    assert_ptr_equal(victim, bobs);
    hub_session_table_remove(f.table, bobs);
    assert_int_equal(hub_session_table_room(f.table, "eve", &victim), HUB_SESSION_ROOM);
    end();
}

static void test_idleness(void **state)
{
    (void)state;
    begin(3, 3);
    hub_session_entry *a = add(0, "ann");
    hub_session_entry *b = add(1, "bob");
    assert_null(hub_session_table_late(f.table, 1000, 0)); /* both are in use */
    hub_session_table_use(f.table, a);
    hub_session_table_unuse(f.table, a, 100);
    assert_null(hub_session_table_late(f.table, 1000, 0)); /* one user is left */
    hub_session_table_unuse(f.table, a, 100);
    hub_session_table_unuse(f.table, b, 150);
    assert_null(hub_session_table_late(f.table, 199, 100));
    assert_ptr_equal(hub_session_table_late(f.table, 200, 100), a);
    hub_session_table_use(f.table, a); /* a request renews it */
    hub_session_table_unuse(f.table, a, 210);
    assert_ptr_equal(hub_session_table_late(f.table, 250, 100), b);
    hub_session_table_remove(f.table, b);
    assert_null(hub_session_table_late(f.table, 309, 100));
    assert_ptr_equal(hub_session_table_late(f.table, 310, 100), a);
    end();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_ids_are_found_by_their_principal),
        cmocka_unit_test(test_ids_are_not_repeated),
        cmocka_unit_test(test_room),
        cmocka_unit_test(test_idleness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
