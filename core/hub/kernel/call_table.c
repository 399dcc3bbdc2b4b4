/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/call_table.h"

#include "base/limits.h"
#include "base/map.h"
#include "hub/kernel/objects.h"

#include <stdlib.h>

/* An id is (generation << SLOT_BITS | slot): a slot is used again at once, a generation of it only
 * after all others. It is never 0, and survives as a JSON number. */
enum { SLOT_BITS = 16, ID_BITS = 53 };
_Static_assert((1u << SLOT_BITS) == HUB_LIMIT_CALLS, "a slot for every call");

static const uint64_t LAST_GENERATION = (UINT64_C(1) << (ID_BITS - SLOT_BITS)) - 1;

typedef struct call_slot {
    uint64_t generation;
    hub_call *call; /* NULL when free; its memory is kept in `spare` */
    hub_call *spare;
    uint32_t next_free;
} call_slot;

struct hub_call_table {
    struct ev_loop *loop;
    call_slot *slots;
    hub_call **buckets; /* of calls of sessions, by their clients' ids: as many as slots */
    uint32_t slot_count;
    uint32_t first_free; /* slot_count when none is */
    size_t in_flight;
};

hub_err hub_call_table_create(struct ev_loop *loop, hub_call_table **ret_table)
{
    hub_call_table *table = calloc(1, sizeof *table);
    if (table == NULL) {
        return HUB_ENOMEM;
    }
    table->loop = loop;
    *ret_table = table;
    return HUB_OK;
}

void hub_call_table_destroy(hub_call_table *table)
{
    if (table == NULL) {
        return;
    }
    hub_assert(table->in_flight == 0);
    for (uint32_t i = 0; i < table->slot_count; i++) {
        free(table->slots[i].spare);
    }
    free(table->slots);
    free(table->buckets);
    free(table);
}

size_t hub_call_count(const hub_call_table *table)
{
    return table->in_flight;
}

/* ---- by the ids of clients ------------------------------------------------------------------- */

/* One index for all sessions: most of them have no call in flight. Many have one with the same id. */
static unsigned hash_id(const hub_session *session, hub_str client_id)
{
    return hub_map_hash(client_id.ptr, client_id.len) + (unsigned)session->number * 0x9e3779b1U;
}

static hub_call **bucket_of(const hub_call_table *table, unsigned hash)
{
    return &table->buckets[hash & (table->slot_count - 1)];
}

static void put_in_bucket(hub_call_table *table, hub_call *call)
{
    hub_call **bucket = bucket_of(table, call->id_hash);
    call->bucket_next = *bucket;
    *bucket = call;
}

void hub_call_table_add(hub_call *call)
{
    call->id_hash = hash_id(call->session, call->client_id);
    put_in_bucket(call->table, call);
}

void hub_call_table_remove(hub_call *call)
{
    hub_call **at = bucket_of(call->table, call->id_hash);
    while (*at != call) {
        hub_assert(*at != NULL);
        at = &(*at)->bucket_next;
    }
    *at = call->bucket_next;
}

hub_call *hub_call_table_find(const hub_call_table *table, const hub_session *session,
                              hub_str client_id)
{
    hub_call *call = *bucket_of(table, hash_id(session, client_id));
    while (call != NULL && (call->session != session || !hub_str_eq(call->client_id, client_id))) {
        call = call->bucket_next;
    }
    return call;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Twice as many slots, the new ones free, and as many buckets. */
static hub_err grow(hub_call_table *table)
{
    uint32_t count = table->slot_count == 0 ? 64 : table->slot_count * 2;
    hub_assert(count > table->in_flight);
    if (count > HUB_LIMIT_CALLS) {
        return HUB_ELIMIT;
    }
    call_slot *slots = realloc(table->slots, count * sizeof *slots);
    if (slots == NULL) {
        return HUB_ENOMEM;
    }
    table->slots = slots;
    hub_call **buckets = calloc(count, sizeof(hub_call *));
    if (buckets == NULL) {
        return HUB_ENOMEM;
    }
    free(table->buckets);
    table->buckets = buckets;
    uint32_t before = table->slot_count;
    table->slot_count = count;
    for (uint32_t i = 0; i < before; i++) {
        if (slots[i].call != NULL && slots[i].call->session != NULL) {
            put_in_bucket(table, slots[i].call);
        }
    }
    for (uint32_t i = before; i < count; i++) {
        slots[i] = (call_slot){.next_free = i + 1};
    }
    return HUB_OK;
}

hub_err hub_call_take_slot(hub_call_table *table, hub_call **ret_call)
{
    if (table->first_free == table->slot_count) {
        hub_err err = grow(table);
        if (err != HUB_OK) {
            return err;
        }
    }
    uint32_t at = table->first_free;
    call_slot *slot = &table->slots[at];
    hub_assert(slot->call == NULL);
    hub_call *call = slot->spare != NULL ? slot->spare
                                         : malloc(sizeof *call + hub_stations_bytes(HUB_PART_CALL));
    if (call == NULL) {
        return HUB_ENOMEM;
    }
    table->first_free = slot->next_free;
    slot->spare = NULL;
    slot->call = call;
    slot->generation = slot->generation < LAST_GENERATION ? slot->generation + 1 : 1;
    table->in_flight++;
    memset(call, 0, offsetof(hub_call, inline_kept));
    call->magic = HUB_MAGIC_CALL;
    call->id = slot->generation << SLOT_BITS | at;
    call->table = table;
    call->kept = call->inline_kept;
    *ret_call = call;
    return HUB_OK;
}

void hub_call_give_slot_back(hub_call *call)
{
    hub_call_table *table = call->table;
    uint32_t at = (uint32_t)(call->id & (HUB_LIMIT_CALLS - 1));
    call_slot *slot = &table->slots[at];
    hub_assert(slot->call == call && table->in_flight > 0);
    call->magic = 0;
    slot->call = NULL;
    slot->spare = call;
    slot->next_free = table->first_free;
    table->first_free = at;
    table->in_flight--;
}

hub_call *hub_call_at(const hub_call_table *table, uint64_t id)
{
    uint64_t at = id & (HUB_LIMIT_CALLS - 1);
    if (at >= table->slot_count) {
        return NULL;
    }
    hub_call *call = table->slots[at].call;
    return call != NULL && call->id == id ? call : NULL;
}

hub_call *hub_call_find(const hub_call_table *table, uint64_t id, const hub_binding *binding)
{
    hub_call *call = hub_call_at(table, id);
    return call != NULL && call->binding == binding ? call : NULL;
}

struct ev_loop *hub_call_loop(const hub_call *call)
{
    return call->table->loop;
}

void hub_call_renew(hub_call *call)
{
    call_slot *slot = &call->table->slots[call->id & (HUB_LIMIT_CALLS - 1)];
    hub_assert(slot->call == call);
    slot->generation = slot->generation < LAST_GENERATION ? slot->generation + 1 : 1;
    call->id = slot->generation << SLOT_BITS | (call->id & (HUB_LIMIT_CALLS - 1));
}
