/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: what outlives the process. It keeps small documents of JSON, each under (scope, kind,
 * owner, key) and with a version. The scope is the store's own; the other three are the caller's.
 *
 * Everything is asynchronous: an operation that was accepted completes on the loop, exactly once,
 * never before the function that started it has returned, and in the order of the operations of
 * this process. No engine blocks the loop. Nothing on the way of a call may ask the store: what a
 * call needs is in memory.
 *
 * Versions are never used twice, also not for a record that was deleted and made again: who saw a
 * version and names it on writing changes what it saw, or nothing (HUB_ECONFLICT).
 *
 * An engine does the work (engine.h): SQLite in a file, a server that speaks the protocol of Valkey
 * (loaded when it is configured), or none. Users of this header know nothing
 * of it. Changes that others make, other processes among them, are told to watches; nothing polls.
 *
 * Thread: [loop], all of it.
 */
#ifndef HUB_STATE_STORE_H
#define HUB_STATE_STORE_H

#include "base/err.h"

#include <ev.h>

typedef struct hub_store hub_store;
typedef struct hub_state_op hub_state_op;
typedef struct hub_state_watch hub_state_watch;
typedef struct hub_state_keys hub_state_keys;

/* What a feature keeps: one constant of it, which operations name.
 * `name`: 1 … HUB_LIMIT_STATE_KIND_BYTES of a-z, 0-9, '-' and '_'.
 * `is_secret`: documents are encrypted if there is a key; else they are kept only where nobody else
 * can read them, and refused elsewhere (HUB_EDENIED).
 * `most_bytes`: of a document, at most HUB_LIMIT_STATE_LONG_DOCUMENT_BYTES; 0:
 * HUB_LIMIT_STATE_DOCUMENT_BYTES. */
typedef struct hub_state_kind {
    const char *name;
    bool is_secret;
    size_t most_bytes;
} hub_state_kind;

/* Which record. Spans are read during the call only. Valid UTF-8 without control characters;
 * `owner` may be empty (everybody's), `key` may not. */
typedef struct hub_state_id {
    const hub_state_kind *kind;
    hub_str owner; /* a principal, at most HUB_LIMIT_STATE_OWNER_BYTES */
    hub_str key;   /* at most HUB_LIMIT_STATE_KEY_BYTES */
} hub_state_id;

typedef struct hub_state_record {
    hub_str scope;
    hub_str kind;
    hub_str owner;
    hub_str key;
    uint64_t version; /* 0: there is no such record */
    hub_str document; /* JSON; in admin.h also sealed bytes */
    hub_str key_id;   /* admin.h: of the key that sealed the document; empty: it is not sealed */
    bool is_secret;
    bool is_gone; /* of a change: the record was deleted */
} hub_state_record;

/* How an operation went; all of it is borrowed for the callback.
 * err:  HUB_OK
 *       HUB_ENOTFOUND     get, delete: there is no such record
 *       HUB_ECONFLICT     put, delete: the version is another one now; records[0] is what is there,
 *                         with version 0 if nothing is
 *       HUB_ELIMIT        put: too many records of this owner, or in all
 *       HUB_EDENIED       a secret that cannot be kept or read safely; `why` says what to do
 *       HUB_EUNAVAILABLE  the store cannot be used now: the operation did not happen. The next one
 *                         tries again
 *       HUB_ENOMEM
 * `records`: of get one; of put one, the record as it is now, without its document; of list any
 *            number, in the order of owner and key. */
typedef struct hub_state_result {
    hub_err err;
    const char *why; /* a sentence; empty for HUB_OK */
    const hub_state_record *records;
    size_t count;
    bool has_more; /* list: there are more behind the last one */
} hub_state_result;

typedef void (*hub_state_done)(void *ctx, const hub_state_result *result);

/* Versions to expect that no record has. */
enum {
    HUB_STATE_ABSENT = 0, /* there is none yet */
};
#define HUB_STATE_ANY UINT64_MAX /* whatever is there */

/* Read one record.
 * owns:    *ret_op (may be NULL) is the store's, valid until `on_done`
 * errors:  of this and the next three, at once, and then nothing else happens: HUB_EINVAL (kind,
 *          owner or key), HUB_ELIMIT (the document is longer than the kind's may be,
 *          or the owner has as many that wait as HUB_LIMIT_STATE_OPERATIONS allows), HUB_ESTATE
 *          (the store ends), HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_state_get(hub_store *store, const hub_state_id *id,
                                     hub_state_done on_done, void *ctx, hub_state_op **ret_op,
                                     hub_error *reterr);

/* Which records are listed. */
typedef struct hub_state_range {
    const hub_state_kind *kind;
    hub_str owner;
    bool is_of_all; /* of all owners: `owner` is not looked at */
    hub_str
        after_owner; /* go on behind this record, for the next page; key empty: from the start */
    hub_str after_key;
} hub_state_range;

/* List records with their documents: a page of at most HUB_LIMIT_STATE_PAGE records and about
 * HUB_LIMIT_STATE_PAGE_BYTES; go on behind the last one while result->has_more. */
HUB_MUST_CHECK hub_err hub_state_list(hub_store *store, const hub_state_range *range,
                                      hub_state_done on_done, void *ctx, hub_state_op **ret_op,
                                      hub_error *reterr);

/* Write `document` (one JSON value; read during the call) if the record's version still is `seen`.
 * When it completes with HUB_OK, it is on the disk. */
HUB_MUST_CHECK hub_err hub_state_put(hub_store *store, const hub_state_id *id, uint64_t seen,
                                     hub_str document, hub_state_done on_done, void *ctx,
                                     hub_state_op **ret_op, hub_error *reterr);

/* Delete the record if its version still is `seen`. */
HUB_MUST_CHECK hub_err hub_state_delete(hub_store *store, const hub_state_id *id, uint64_t seen,
                                        hub_state_done on_done, void *ctx, hub_state_op **ret_op,
                                        hub_error *reterr);

/* Hear nothing of an operation any more; whether it happens is open. For who ends before it. */
void hub_state_cancel(hub_state_op *op);

/* ---- changes --------------------------------------------------------------------------------- */

typedef enum hub_state_event {
    HUB_STATE_CHANGED, /* the record of the change, by whomever: this process, too */
    HUB_STATE_UNKNOWN, /* more than could be followed: list again */
    HUB_STATE_OTHER,   /* it is another store than before: emptied, or replaced. List again; who
                          holds something that must not be lost writes it back */
    HUB_STATE_BACK,    /* it can be used again, after it could not: who could not write or read
                          something tries again. What was changed meanwhile is told beside this */
} hub_state_event;

/* `changed` is NULL unless the event is HUB_STATE_CHANGED; it has no document. */
typedef void (*hub_state_on_change)(void *ctx, hub_state_event event,
                                    const hub_state_record *changed);

/* Be told of changes of records of a kind: of one owner, or of all (range->is_of_all). Operations
 * that are started after this see the store no older than the first change that is told. A change
 * may be told twice, and of several changes of one record only the last: compare versions.
 * The callback may start operations, and may end its own watch.
 * owns:    *ret_watch, end it with hub_state_watch_destroy
 * errors:  HUB_EINVAL, HUB_ENOMEM. That changes of others cannot be noticed (no inotify) is in the
 *          store's health */
HUB_MUST_CHECK hub_err hub_state_watch_create(hub_store *store, const hub_state_range *range,
                                              hub_state_on_change on_change, void *ctx,
                                              hub_state_watch **ret_watch, hub_error *reterr);
void hub_state_watch_destroy(hub_state_watch *watch); /* NULL is fine */

/* ---- limits that hubs share ------------------------------------------------------------------- */

/* How often something may happen, at all hubs of this scope together. */
typedef struct hub_state_limit {
    hub_str name;        /* as a key of a record, but of any length */
    uint32_t per_second; /* at least 1 */
    uint32_t at_once;    /* at least 1 */
} hub_state_limit;

/* err:  HUB_OK, HUB_EUNAVAILABLE (nobody knows), HUB_ENOMEM
 * `wait_ms` 0: it may happen now, and was charged to all limits. Else nothing was charged, and
 * limits[over] says when to come again. */
typedef void (*hub_state_taken)(void *ctx, hub_err err, uint32_t wait_ms, size_t over);

/* Whether other hubs use this store, on other machines perhaps: who counts something, counts there. */
bool hub_store_is_shared(const hub_store *store);

/* Ask for one more, by the clock of a shared store: GCRA, as in base/bucket.h.
 * `whose` share of the operations that wait it takes is said by the caller: a principal's, as a rule.
 * errors:  HUB_EINVAL (it is not shared), HUB_ELIMIT (more than HUB_LIMIT_STATE_TAKES, or too many
 *          operations wait), HUB_ESTATE, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_state_take(hub_store *store, hub_str whose,
                                      const hub_state_limit *limits, size_t count,
                                      hub_state_taken on_taken, void *ctx, hub_state_op **ret_op,
                                      hub_error *reterr);

/* ---- life ------------------------------------------------------------------------------------ */

typedef enum hub_state_condition {
    HUB_STATE_OFF,         /* `state: off` */
    HUB_STATE_OK,          /* as far as is known */
    HUB_STATE_UNAVAILABLE, /* the last operation failed */
} hub_state_condition;

/* How the store is, for status and log. */
typedef struct hub_state_health {
    hub_state_condition condition;
    const char *engine; /* "off", "sqlite", "valkey" */
    const char *place;  /* the file, or the address; "" when there is none */
    const char *reason; /* HUB_STATE_UNAVAILABLE: a sentence; else "" */
    const char *notice; /* what else should be known: "on a network file system …", or "" */
    bool has_key;       /* secrets are encrypted */
    bool is_back;       /* told by on_health: HUB_STATE_OK, and it was unavailable before */
} hub_state_health;

typedef struct hub_store_options {
    /* "off", the absolute path of the file, or the address of a shared store (address.h); "": nobody
     * knows where (no HOME) */
    const char *place;
    const char *password; /* of a shared store whose address has none; may be NULL */
    const char *scope;    /* at most HUB_LIMIT_STATE_SCOPE_BYTES, not empty */
    hub_state_keys *keys; /* taken, also on failure; NULL: there are none (secrets.h) */
    /* The condition, the reason or the notice is another one. May be NULL. */
    void (*on_health)(void *ctx, const hub_state_health *health);
    void *ctx;
} hub_store_options;

/* A store. Nothing is read or made yet: a file is opened when it is there and something asks, and
 * made when the first record is written. All strings are copied.
 * blocks:  a shared store's engine is loaded
 * errors:  HUB_EINVAL (the place or the scope), HUB_ENOMEM; of a shared store those of
 *          hub_state_engine_load */
HUB_MUST_CHECK hub_err hub_store_create(struct ev_loop *loop, const hub_store_options *options,
                                        hub_store **ret_store, hub_error *reterr);

/* End it: what was accepted still happens, and completes here. Watches end with it: they are not to
 * be destroyed afterwards. Not from a callback of the store. NULL is fine.
 * blocks:  yes, for the disk
 * returns: false: that took longer than `timeout_ms`. The engine's thread hangs in the file system
 *          and still uses the store's memory, which stays; leave the process with _exit */
bool hub_store_destroy(hub_store *store, unsigned timeout_ms);

hub_state_health hub_store_health(const hub_store *store); /* valid until the loop goes on */

/* Operations that were accepted and have not completed. */
size_t hub_store_waiting(const hub_store *store);

#endif
