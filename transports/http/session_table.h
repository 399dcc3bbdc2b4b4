/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Who has which legacy session: found by its id, counted per principal and address, and forgotten
 * when nobody has used it for long. Where there is no room for one more, it is made by whoever has
 * more than the one who asks: never is somebody's idle session ended for one who has as many. An id is 128 bits from getrandom(2) in hexadecimal: not to be guessed, and
 * of no use to another principal (MCP 2025-11-25 basic/transports, Session Management). The
 * sessions embed an entry and own themselves. Thread: [loop].
 */
#ifndef HTTP_SESSION_TABLE_H
#define HTTP_SESSION_TABLE_H

#include "base/err.h"
#include "base/map.h"
#include "net/deadline.h"

#define HUB_SESSION_ID_BYTES 32 /* of the random digits … */
#define HUB_SESSION_ID_MOST  96 /* … and of all, where something is named behind them */

typedef struct hub_session_entry {
    char id[HUB_SESSION_ID_MOST + 1];
    struct hub_session_share *share; /* private: of a principal, at an address */
    unsigned users;                  /* connections and requests; it is idle when there are none */
    hub_deadline idle;
    hub_deadline idle_of_share;
    UT_hash_handle hh;
} hub_session_entry;

typedef struct hub_session_table hub_session_table;

/* NULL when out of memory. */
hub_session_table *hub_session_table_create(size_t max, size_t max_per_principal);

/* Write something behind the random digits of a new id: more digits, and a NUL. */
typedef void hub_session_namer(void *ctx, char id[HUB_SESSION_ID_MOST + 1]);

/* Have the ids of sessions from now on say more. */
void hub_session_table_name(hub_session_table *table, hub_session_namer *namer, void *ctx);
void hub_session_table_destroy(hub_session_table *table); /* empty; NULL is fine */

typedef enum hub_session_room {
    HUB_SESSION_ROOM,           /* there is room */
    HUB_SESSION_EVICT,          /* if this idle one makes way, ask again */
    HUB_SESSION_FULL,           /* all are at work, or this principal has its share */
    HUB_SESSION_PRINCIPAL_FULL, /* … of this principal, or this address has its share of them */
} hub_session_room;

/* Whether one more fits. When the answer is EVICT, *ret_victim is the longest idle one of the address
 * with the most sessions of the principal, or of the principal with the most of all. */
hub_session_room hub_session_table_room(const hub_session_table *table, const char *principal,
                                        const char *address, hub_session_entry **ret_victim);

/* Give the entry (zeroed but for an id that it may have already) an id and add it, with one user.
 * errors:  HUB_ENOMEM, HUB_ESYSTEM (no random bytes) */
HUB_MUST_CHECK hub_err hub_session_table_add(hub_session_table *table, hub_session_entry *entry,
                                             const char *principal, const char *address);
void hub_session_table_remove(hub_session_table *table, hub_session_entry *entry);

/* The principal's session of that id, or NULL: then there is none, or it is another's. */
hub_session_entry *hub_session_table_find(const hub_session_table *table, hub_str id,
                                          const char *principal);

/* One more uses it, or one less. */
void hub_session_table_use(hub_session_table *table, hub_session_entry *entry);
void hub_session_table_unuse(hub_session_table *table, hub_session_entry *entry, uint64_t now_ms);

/* The one that has been idle for longest, if it has been so for `after_ms`; else NULL. */
hub_session_entry *hub_session_table_late(const hub_session_table *table, uint64_t now_ms,
                                          uint64_t after_ms);

/* Other bounds from now on; what is above them stays. */
void hub_session_table_limit(hub_session_table *table, size_t max, size_t max_per_principal);

/* Whose session it is. */
const char *hub_session_entry_principal(const hub_session_entry *entry);

/* Any session, or NULL: to end them all. */
hub_session_entry *hub_session_table_any(const hub_session_table *table);

#endif
