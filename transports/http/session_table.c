/* SPDX-License-Identifier: Apache-2.0 */
#include "http/session_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

typedef struct hub_session_owner {
    size_t count; /* of its sessions; it is forgotten with the last one */
    hub_deadlines idle;
    UT_hash_handle hh;
    char name[];
} hub_session_owner;

struct hub_session_table {
    size_t max;
    size_t max_per_principal;
    hub_session_entry *entries;
    hub_session_owner *owners;
    hub_deadlines idle;
};

hub_session_table *hub_session_table_create(size_t max, size_t max_per_principal)
{
    hub_session_table *table = calloc(1, sizeof *table);
    if (table != NULL) {
        table->max = max;
        table->max_per_principal = max_per_principal;
    }
    return table;
}

void hub_session_table_destroy(hub_session_table *table)
{
    hub_assert(table == NULL || table->entries == NULL);
    free(table);
}

static hub_session_owner *find_owner(const hub_session_table *table, const char *principal)
{
    hub_session_owner *owner = NULL;
    HASH_FIND(hh, table->owners, principal, (unsigned)strlen(principal), owner);
    return owner;
}

/* The account of a principal, made if need be; NULL when out of memory. */
static hub_session_owner *get_owner(hub_session_table *table, const char *principal)
{
    hub_session_owner *owner = find_owner(table, principal);
    size_t len = strlen(principal);
    if (owner == NULL && (owner = calloc(1, sizeof *owner + len + 1)) != NULL) {
        memcpy(owner->name, principal, len);
        HASH_ADD_KEYPTR(hh, table->owners, owner->name, (unsigned)len, owner);
        if (!hub_map_has_taken(&owner->hh)) {
            free(owner);
            return NULL;
        }
    }
    return owner;
}

hub_session_room hub_session_table_room(const hub_session_table *table, const char *principal,
                                        hub_session_entry **ret_victim)
{
    const hub_session_owner *owner = find_owner(table, principal);
    if (owner != NULL && owner->count >= table->max_per_principal) {
        if (owner->idle.first == NULL) {
            return HUB_SESSION_PRINCIPAL_FULL;
        }
        *ret_victim = HUB_DEADLINE_OF(owner->idle.first, hub_session_entry, idle_of_owner);
        return HUB_SESSION_EVICT;
    }
    if (HASH_COUNT(table->entries) >= table->max) {
        if (table->idle.first == NULL) {
            return HUB_SESSION_FULL;
        }
        *ret_victim = HUB_DEADLINE_OF(table->idle.first, hub_session_entry, idle);
        return HUB_SESSION_EVICT;
    }
    return HUB_SESSION_ROOM;
}

static hub_err make_id(char id[HUB_SESSION_ID_BYTES + 1])
{
    unsigned char random[HUB_SESSION_ID_BYTES / 2];
    /* So few bytes come whole, or not at all: getrandom(2). */
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return HUB_ESYSTEM;
    }
    for (size_t i = 0; i < sizeof random; i++) {
        (void)snprintf(id + 2 * i, 3, "%02x", random[i]);
    }
    return HUB_OK;
}

static void leave_owner(hub_session_table *table, hub_session_entry *entry)
{
    hub_session_owner *owner = entry->owner;
    if (--owner->count == 0) {
        HASH_DEL(table->owners, owner);
        free(owner);
    }
    entry->owner = NULL;
}

hub_err hub_session_table_add(hub_session_table *table, hub_session_entry *entry,
                              const char *principal)
{
    hub_err err = make_id(entry->id);
    if (err != HUB_OK) {
        return err;
    }
    entry->owner = get_owner(table, principal);
    if (entry->owner == NULL) {
        return HUB_ENOMEM;
    }
    entry->owner->count++;
    entry->users = 1;
    HASH_ADD(hh, table->entries, id, HUB_SESSION_ID_BYTES, entry);
    if (!hub_map_has_taken(&entry->hh)) {
        leave_owner(table, entry);
        return HUB_ENOMEM;
    }
    return HUB_OK;
}

void hub_session_table_remove(hub_session_table *table, hub_session_entry *entry)
{
    hub_deadline_stop(&entry->idle);
    hub_deadline_stop(&entry->idle_of_owner);
    HASH_DEL(table->entries, entry);
    leave_owner(table, entry);
}

hub_session_entry *hub_session_table_find(const hub_session_table *table, hub_str id,
                                          const char *principal)
{
    hub_session_entry *entry = NULL;
    if (id.len == HUB_SESSION_ID_BYTES) {
        HASH_FIND(hh, table->entries, id.ptr, HUB_SESSION_ID_BYTES, entry);
    }
    return entry != NULL && strcmp(entry->owner->name, principal) == 0 ? entry : NULL;
}

void hub_session_table_use(hub_session_table *table, hub_session_entry *entry)
{
    (void)table;
    entry->users++;
    hub_deadline_stop(&entry->idle);
    hub_deadline_stop(&entry->idle_of_owner);
}

void hub_session_table_unuse(hub_session_table *table, hub_session_entry *entry, uint64_t now_ms)
{
    if (--entry->users == 0) {
        hub_deadline_start(&table->idle, &entry->idle, now_ms);
        hub_deadline_start(&entry->owner->idle, &entry->idle_of_owner, now_ms);
    }
}

hub_session_entry *hub_session_table_late(const hub_session_table *table, uint64_t now_ms,
                                          uint64_t after_ms)
{
    hub_deadline *late = hub_deadline_late(&table->idle, now_ms, after_ms);
    return late != NULL ? HUB_DEADLINE_OF(late, hub_session_entry, idle) : NULL;
}

void hub_session_table_limit(hub_session_table *table, size_t max, size_t max_per_principal)
{
    table->max = max;
    table->max_per_principal = max_per_principal;
}

const char *hub_session_entry_principal(const hub_session_entry *entry)
{
    return entry->owner->name;
}

hub_session_entry *hub_session_table_any(const hub_session_table *table)
{
    return table->entries;
}
