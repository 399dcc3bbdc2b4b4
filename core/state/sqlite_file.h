/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store's file: its tables, and what is done with them. One connection; every function blocks.
 * Thread: one at a time, the engine's.
 *
 * A record's version is the number of the change that wrote it, counted over the whole file: it is
 * never used twice, and what has changed since some moment are the records above its number, and
 * the deletions (table `gone`).
 */
#ifndef HUB_STATE_SQLITE_FILE_H
#define HUB_STATE_SQLITE_FILE_H

#include "state/engine.h"
#include "state/sqlite_library.h"
#include "state/sqlite_place.h"

/* The layout of the tables: a file of a higher number is left alone. */
enum { HUB_SQLITE_SCHEMA = 1 };

typedef struct hub_sqlite_file {
    const hub_sqlite_library *library;
    sqlite3 *db;
    const char *path;           /* borrowed */
    const hub_state_keys *keys; /* borrowed; may be NULL */
    hub_sqlite_place place;
    const char *journal;     /* "wal" or "delete" */
    hub_sqlite_inode log;    /* what SQLite has beside it: PATH-wal, */
    hub_sqlite_inode shared; /* and PATH-shm */
} hub_sqlite_file;

/* Open the file.
 * `may_make`: make it if it is not there; else then it is HUB_ENOTFOUND.
 * owns:    *ret_file, to be closed with hub_sqlite_file_close
 * errors:  HUB_EUNAVAILABLE with a sentence: damaged, newer, another program's, full, locked, … */
HUB_MUST_CHECK hub_err hub_sqlite_file_open(const char *path, const hub_state_keys *keys,
                                            bool may_make, hub_sqlite_file *ret_file,
                                            hub_error *reterr);
void hub_sqlite_file_close(hub_sqlite_file *file); /* one that is all zeros is fine */

/* Whether the path, and those of the log and its index, still lead to the files that are open. What is
 * written to a log without a name is seen by nobody else. */
bool hub_sqlite_file_is_there(const hub_sqlite_file *file);

/* Do a job; its error is set when it fails. After HUB_EUNAVAILABLE the file should be opened anew. */
void hub_sqlite_file_do(hub_sqlite_file *file, hub_state_job *job);

/* ---- within the engine ----------------------------------------------------------------------- */

/* One statement at a time. Values are bound in order, and read by their place. */
typedef struct hub_sqlite_query {
    hub_sqlite_file *file;
    sqlite3_stmt *stmt;
    int bound;
    int code;  /* the first that was not SQLITE_OK */
    int cause; /* errno then */
} hub_sqlite_query;

/* Begin; failures are kept until the query ends. */
void hub_sqlite_query_begin(hub_sqlite_query *query, hub_sqlite_file *file, const char *sql);
void hub_sqlite_bind_text(hub_sqlite_query *query, hub_str text);
void hub_sqlite_bind_blob(hub_sqlite_query *query, hub_str bytes);
void hub_sqlite_bind_number(hub_sqlite_query *query, uint64_t number);
void hub_sqlite_bind_name(hub_sqlite_query *query, const hub_state_record *record); /* all four */

/* The next row; false at the end, or when it failed. */
bool hub_sqlite_query_next(hub_sqlite_query *query);
hub_str hub_sqlite_column(const hub_sqlite_query *query, int at); /* until the next row */
uint64_t hub_sqlite_column_number(const hub_sqlite_query *query, int at);

/* End it. errors: HUB_EUNAVAILABLE, with what went wrong on the way; HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_sqlite_query_end(hub_sqlite_query *query, hub_error *reterr);

/* A statement without values and rows. */
HUB_MUST_CHECK hub_err hub_sqlite_run(hub_sqlite_file *file, const char *sql, hub_error *reterr);

/* A statement's only number; 0 without a row. */
HUB_MUST_CHECK hub_err hub_sqlite_number(hub_sqlite_file *file, const char *sql,
                                         uint64_t *ret_number, hub_error *reterr);

/* End a transaction that was begun: commit it if `err` is HUB_OK, else take it back. */
HUB_MUST_CHECK hub_err hub_sqlite_end(hub_sqlite_file *file, hub_err err, hub_error *reterr);

/* The columns of a record, as SELECTs of this engine have them: scope, kind, owner, key, version,
 * secret, key_id, document. */
#define HUB_SQLITE_COLUMNS "scope, kind, owner, key, version, secret, key_id, document"
hub_state_record hub_sqlite_record(const hub_sqlite_query *query);

/* Write a record within a transaction, under the next version, which it is given. A secret is
 * sealed. errors: HUB_EDENIED (a secret, and neither key nor a safe place), HUB_EUNAVAILABLE,
 * HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_sqlite_write(hub_sqlite_file *file, hub_state_record *record,
                                        hub_error *reterr);

/* Refuse one record more where there are as many as there may be. errors: HUB_ELIMIT … */
HUB_MUST_CHECK hub_err hub_sqlite_make_room(hub_sqlite_file *file, const hub_state_record *record,
                                            hub_error *reterr);

/* Add a row to what a job found, opened if it is sealed. */
HUB_MUST_CHECK hub_err hub_sqlite_add_row(hub_sqlite_query *query, hub_state_job *job);

/* The store's epoch. */
HUB_MUST_CHECK hub_err hub_sqlite_epoch(hub_sqlite_file *file,
                                        char ret_epoch[HUB_STATE_EPOCH_BYTES], hub_error *reterr);

/* sqlite_admin.c */
HUB_MUST_CHECK hub_err hub_sqlite_scan(hub_sqlite_file *file, hub_state_job *job);
HUB_MUST_CHECK hub_err hub_sqlite_import(hub_sqlite_file *file, hub_state_job *job);
HUB_MUST_CHECK hub_err hub_sqlite_rekey(hub_sqlite_file *file, hub_state_job *job);
HUB_MUST_CHECK hub_err hub_sqlite_check(hub_sqlite_file *file, hub_state_job *job);

#endif
