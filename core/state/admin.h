/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What the command line does with a whole store: look through all scopes, bring records in, seal
 * secrets anew, and see how it is. Asynchronous as store.h is, by the same engines.
 *
 * Thread: [loop].
 */
#ifndef HUB_STATE_ADMIN_H
#define HUB_STATE_ADMIN_H

#include "state/store.h"

/* What an import does with a record that is there already, with another document. */
typedef enum hub_state_clash {
    HUB_STATE_CLASH_REFUSE,  /* nothing at all is imported */
    HUB_STATE_CLASH_KEEP,    /* the store's stays */
    HUB_STATE_CLASH_REPLACE, /* the imported one takes its place */
} hub_state_clash;

/* What was found or done. */
typedef struct hub_state_report {
    char epoch[33];      /* of the store; "": there is none yet */
    uint64_t records;    /* check: in all */
    uint64_t sealed;     /* check: encrypted secrets; rekey: those sealed anew */
    uint64_t plain;      /* check: secrets that are not encrypted */
    uint64_t unreadable; /* check: sealed by a key that is not known, or damaged */
    uint64_t added;      /* import */
    uint64_t replaced;
    uint64_t kept;
    uint64_t same;
    const char *journal; /* check: how the engine writes: "wal", "delete" */
    const char *safety;  /* check: why secrets may not be kept here without a key; "": they may */
} hub_state_report;

typedef void (*hub_state_reported)(void *ctx, const hub_state_result *result,
                                   const hub_state_report *report);

/* A page of all records of all scopes, behind `after` (NULL: from the first), in the order of scope,
 * kind, owner and key. A sealed document is its sealed bytes; with `opened` it is the document.
 * errors:  at once HUB_ENOMEM, HUB_ELIMIT; later those of store.h, and HUB_EDENIED (`opened`, and a
 *          record cannot be opened) */
HUB_MUST_CHECK hub_err hub_state_scan(hub_store *store, const hub_state_record *after, bool opened,
                                      hub_state_reported on_done, void *ctx, hub_error *reterr);

/* Write records with names and documents as they are given, all or none. One with a key_id is sealed
 * by that key, for the version it says, and is opened first. New versions are given to all.
 * errors:  at once HUB_EINVAL (a name or a document), HUB_ELIMIT, HUB_ENOMEM; later those of put;
 *          HUB_ECONFLICT: the result's record is the first that is there with another document */
HUB_MUST_CHECK hub_err hub_state_import(hub_store *store, const hub_state_record *records,
                                        size_t count, hub_state_clash clash,
                                        hub_state_reported on_done, void *ctx, hub_error *reterr);

/* Seal with the current key all secrets that are not: those of older keys, and plain ones. All or
 * none. errors: later HUB_EDENIED (no key, or one that is needed is not known) */
HUB_MUST_CHECK hub_err hub_state_rekey(hub_store *store, hub_state_reported on_done, void *ctx,
                                       hub_error *reterr);

/* Read all of it, and see whether it is whole. errors: later HUB_ENOTFOUND (there is no file yet),
 * HUB_EUNAVAILABLE with what is wrong */
HUB_MUST_CHECK hub_err hub_state_check(hub_store *store, hub_state_reported on_done, void *ctx,
                                       hub_error *reterr);

#endif
