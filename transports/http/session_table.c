/* SPDX-License-Identifier: Apache-2.0 */
#include "http/session_table.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/random.h>

/* The sessions of a principal that came from one address; it is forgotten with the last one. */
typedef struct hub_session_share {
    struct hub_session_owner *owner;
    size_t count;
    hub_deadlines idle;
    UT_hash_handle hh;
    char address[];
} hub_session_share;

typedef struct hub_session_owner {
    size_t count; /* of its sessions; it is forgotten with the last one */
    hub_session_share *shares;
    UT_hash_handle hh;
    char name[];
} hub_session_owner;

struct hub_session_table {
    size_t max;
    size_t max_per_principal;
    hub_session_entry *entries;
    hub_session_owner *owners;
    hub_deadlines idle;
    hub_session_namer *namer; /* NULL: ids are random digits alone */
    void *namer_ctx;
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

void hub_session_table_name(hub_session_table *table, hub_session_namer *namer, void *ctx)
{
    table->namer = namer;
    table->namer_ctx = ctx;
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

static hub_session_share *find_share(const hub_session_owner *owner, const char *address)
{
    hub_session_share *share = NULL;
    if (owner != NULL) {
        HASH_FIND(hh, owner->shares, address, (unsigned)strlen(address), share);
    }
    return share;
}

/* The account of an address, made if need be; NULL when out of memory. */
static hub_session_share *get_share(hub_session_owner *owner, const char *address)
{
    hub_session_share *share = find_share(owner, address);
    size_t len = strlen(address);
    if (share == NULL && (share = calloc(1, sizeof *share + len + 1)) != NULL) {
        memcpy(share->address, address, len);
        share->owner = owner;
        HASH_ADD_KEYPTR(hh, owner->shares, share->address, (unsigned)len, share);
        if (!hub_map_has_taken(&share->hh)) {
            free(share);
            return NULL;
        }
    }
    return share;
}

/* The longest idle session of the address that has the most, and more than `than`; or NULL. */
static hub_session_entry *find_victim(const hub_session_owner *owner, size_t than)
{
    const hub_session_share *most = NULL;
    for (const hub_session_share *at = owner->shares; at != NULL; at = at->hh.next) {
        bool has_more = at->count > (most != NULL ? most->count : than);
        most = has_more && at->idle.first != NULL ? at : most;
    }
    return most != NULL ? HUB_DEADLINE_OF(most->idle.first, hub_session_entry, idle_of_share)
                        : NULL;
}

/* The same over all principals: of the one that has the most, and more than `than`. */
static hub_session_entry *find_victim_of_all(const hub_session_table *table, size_t than)
{
    hub_session_entry *found = NULL;
    for (const hub_session_owner *at = table->owners; at != NULL; at = at->hh.next) {
        hub_session_entry *victim = at->count > than ? find_victim(at, 0) : NULL;
        if (victim != NULL) {
            found = victim;
            than = at->count;
        }
    }
    return found;
}

hub_session_room hub_session_table_room(const hub_session_table *table, const char *principal,
                                        const char *address, hub_session_entry **ret_victim)
{
    const hub_session_owner *owner = find_owner(table, principal);
    const hub_session_share *share = find_share(owner, address);
    /* One more than the other: to take turns at ending each other's would help nobody. */
    size_t own = (share != NULL ? share->count : 0) + 1;
    hub_session_entry *victim = NULL;
    if (owner != NULL && owner->count >= table->max_per_principal) {
        victim = find_victim(owner, own);
        *ret_victim = victim;
        return victim != NULL ? HUB_SESSION_EVICT : HUB_SESSION_PRINCIPAL_FULL;
    }
    if (HASH_COUNT(table->entries) < table->max) {
        return HUB_SESSION_ROOM;
    }
    victim = find_victim_of_all(table, (owner != NULL ? owner->count : 0) + 1);
    if (victim == NULL && owner != NULL) {
        victim = find_victim(owner, own);
    }
    *ret_victim = victim;
    return victim != NULL ? HUB_SESSION_EVICT : HUB_SESSION_FULL;
}

static hub_err make_id(const hub_session_table *table, char id[HUB_SESSION_ID_MOST + 1])
{
    unsigned char random[HUB_SESSION_ID_BYTES / 2];
    /* So few bytes come whole, or not at all: getrandom(2). */
    if (getrandom(random, sizeof random, 0) != (ssize_t)sizeof random) {
        return HUB_ESYSTEM;
    }
    for (size_t i = 0; i < sizeof random; i++) {
        (void)snprintf(id + 2 * i, 3, "%02x", random[i]);
    }
    if (table->namer != NULL) {
        table->namer(table->namer_ctx, id);
    }
    return HUB_OK;
}

static void forget_if_empty(hub_session_table *table, hub_session_share *share)
{
    hub_session_owner *owner = share->owner;
    if (share->count == 0) {
        HASH_DEL(owner->shares, share);
        free(share);
    }
    if (owner->shares == NULL) {
        HASH_DEL(table->owners, owner);
        free(owner);
    }
}

static void leave_share(hub_session_table *table, hub_session_entry *entry)
{
    hub_session_share *share = entry->share;
    entry->share = NULL;
    share->count--;
    share->owner->count--;
    forget_if_empty(table, share);
}

static hub_err join_share(hub_session_table *table, hub_session_entry *entry, const char *principal,
                          const char *address)
{
    hub_session_owner *owner = get_owner(table, principal);
    hub_session_share *share = owner != NULL ? get_share(owner, address) : NULL;
    if (share == NULL) {
        if (owner != NULL && owner->shares == NULL) {
            HASH_DEL(table->owners, owner);
            free(owner);
        }
        return HUB_ENOMEM;
    }
    share->count++;
    owner->count++;
    entry->share = share;
    return HUB_OK;
}

hub_err hub_session_table_add(hub_session_table *table, hub_session_entry *entry,
                              const char *principal, const char *address)
{
    hub_err err = entry->id[0] == '\0' ? make_id(table, entry->id) : HUB_OK;
    if (err == HUB_OK) {
        err = join_share(table, entry, principal, address);
    }
    if (err != HUB_OK) {
        return err;
    }
    entry->users = 1;
    HASH_ADD_KEYPTR(hh, table->entries, entry->id, (unsigned)strlen(entry->id), entry);
    if (!hub_map_has_taken(&entry->hh)) {
        leave_share(table, entry);
        return HUB_ENOMEM;
    }
    return HUB_OK;
}

void hub_session_table_remove(hub_session_table *table, hub_session_entry *entry)
{
    hub_deadline_stop(&entry->idle);
    hub_deadline_stop(&entry->idle_of_share);
    HASH_DEL(table->entries, entry);
    leave_share(table, entry);
}

hub_session_entry *hub_session_table_find(const hub_session_table *table, hub_str id,
                                          const char *principal)
{
    hub_session_entry *entry = NULL;
    if (id.len >= HUB_SESSION_ID_BYTES && id.len <= HUB_SESSION_ID_MOST) {
        HASH_FIND(hh, table->entries, id.ptr, (unsigned)id.len, entry);
    }
    return entry != NULL && strcmp(entry->share->owner->name, principal) == 0 ? entry : NULL;
}

void hub_session_table_use(hub_session_table *table, hub_session_entry *entry)
{
    (void)table;
    entry->users++;
    hub_deadline_stop(&entry->idle);
    hub_deadline_stop(&entry->idle_of_share);
}

void hub_session_table_unuse(hub_session_table *table, hub_session_entry *entry, uint64_t now_ms)
{
    if (--entry->users == 0) {
        hub_deadline_start(&table->idle, &entry->idle, now_ms);
        hub_deadline_start(&entry->share->idle, &entry->idle_of_share, now_ms);
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
    return entry->share->owner->name;
}

hub_session_entry *hub_session_table_any(const hub_session_table *table)
{
    return table->entries;
}
