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
    assert_int_equal(hub_session_table_add(f.table, &f.entries[at], principal, "::1"), HUB_OK);
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

static hub_session_entry *add_from(size_t at, const char *principal, const char *address)
{
    assert_int_equal(hub_session_table_add(f.table, &f.entries[at], principal, address), HUB_OK);
    return &f.entries[at];
}

static hub_session_room room(const char *principal, const char *address,
                             hub_session_entry **ret_victim)
{
    return hub_session_table_room(f.table, principal, address, ret_victim);
}

/* As many as a principal may have, and one more: it is refused, and ends nobody's idle session. */
static void test_principal_is_full(void **state)
{
    (void)state;
    hub_session_entry *victim = NULL;
    begin(10, 3);
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(room("ann", "::1", &victim), HUB_SESSION_ROOM);
        hub_session_table_unuse(f.table, add(i, "ann"), i);
    }
    assert_int_equal(room("ann", "::1", &victim), HUB_SESSION_PRINCIPAL_FULL);
    assert_int_equal(room("bob", "::1", &victim), HUB_SESSION_ROOM);
    hub_session_table_remove(f.table, &f.entries[1]);
    assert_int_equal(room("ann", "::1", &victim), HUB_SESSION_ROOM);
    end();
}

/* Another address of that principal gets its share of what the first one has, longest idle first,
 * and no more than that. What is at work is nobody's to take. */
static void test_shares_of_addresses(void **state)
{
    (void)state;
    hub_session_entry *victim = NULL;
    begin(10, 6);
    for (size_t i = 0; i < 6; i++) {
        (void)add_from(i, "ann", "192.0.2.1");
    }
    assert_int_equal(room("ann", "192.0.2.2", &victim), HUB_SESSION_PRINCIPAL_FULL);
    for (size_t i = 6; i > 0; i--) {
        hub_session_table_unuse(f.table, &f.entries[i - 1], 10 - i);
    }
    size_t next = 6;
    for (; room("ann", "192.0.2.2", &victim) == HUB_SESSION_EVICT; next++) {
        assert_ptr_equal(victim, &f.entries[11 - next]); /* the longest idle one */
        hub_session_table_remove(f.table, victim);
        assert_int_equal(room("ann", "192.0.2.2", &victim), HUB_SESSION_ROOM);
        hub_session_table_unuse(f.table, add_from(next, "ann", "192.0.2.2"), 20);
    }
    assert_int_equal(next, 9); /* three each */
    assert_int_equal(room("ann", "192.0.2.2", &victim), HUB_SESSION_PRINCIPAL_FULL);
    assert_int_equal(room("ann", "192.0.2.1", &victim), HUB_SESSION_PRINCIPAL_FULL);
    assert_int_equal(room("ann", "192.0.2.3", &victim), HUB_SESSION_EVICT);
    end();
}

/* The hub is full: whoever has less than the principal with the most gets in for one of its idle
 * sessions, of the address that has most of these. */
static void test_shares_of_principals(void **state)
{
    (void)state;
    hub_session_entry *victim = NULL;
    begin(6, 5);
    for (size_t i = 0; i < 5; i++) {
        hub_session_table_unuse(f.table, add_from(i, "ann", i < 2 ? "192.0.2.1" : "192.0.2.2"), i);
    }
    hub_session_entry *bobs = add(5, "bob");
    assert_int_equal(room("ann", "192.0.2.1", &victim), HUB_SESSION_PRINCIPAL_FULL);
    assert_int_equal(room("bob", "::1", &victim), HUB_SESSION_EVICT);
    assert_ptr_equal(victim, &f.entries[2]);
    assert_int_equal(room("eve", "::1", &victim), HUB_SESSION_EVICT);
    hub_session_table_remove(f.table, victim);
    (void)add(6, "eve");
    for (size_t i = 0; i < 5; i++) {
        if (i != 2) {
            hub_session_table_use(f.table, &f.entries[i]);
        }
    }
    hub_session_table_unuse(f.table, bobs, 30); /* bob has no more than whoever comes would have */
    assert_int_equal(room("mia", "::1", &victim), HUB_SESSION_FULL);
    hub_session_table_unuse(f.table, &f.entries[0], 31);
    assert_int_equal(room("mia", "::1", &victim), HUB_SESSION_EVICT);
    assert_ptr_equal(victim, &f.entries[0]);
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
        cmocka_unit_test(test_principal_is_full),
        cmocka_unit_test(test_shares_of_addresses),
        cmocka_unit_test(test_shares_of_principals),
        cmocka_unit_test(test_idleness),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
