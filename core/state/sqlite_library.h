/* SPDX-License-Identifier: Apache-2.0 */
/*
 * libsqlite3, loaded when the store's file is opened for the first time: a hub that keeps nothing
 * has none of it in memory. Debian's own library is taken, so its updates count. Thread: [any].
 */
#ifndef HUB_STATE_SQLITE_LIBRARY_H
#define HUB_STATE_SQLITE_LIBRARY_H

#include "base/err.h"

#include <sqlite3.h>

typedef struct hub_sqlite_library {
    int (*open_v2)(const char *path, sqlite3 **ret_db, int flags, const char *vfs);
    int (*close_v2)(sqlite3 *db);
    int (*extended_result_codes)(sqlite3 *db, int on);
    int (*system_errno)(sqlite3 *db);
    const char *(*errmsg)(sqlite3 *db);
    int (*busy_timeout)(sqlite3 *db, int ms);
    int (*limit)(sqlite3 *db, int id, int value);
    int (*get_autocommit)(sqlite3 *db);
    int (*prepare_v2)(sqlite3 *db, const char *sql, int len, sqlite3_stmt **ret_stmt,
                      const char **tail);
    int (*step)(sqlite3_stmt *stmt);
    int (*finalize)(sqlite3_stmt *stmt);
    int (*bind_text)(sqlite3_stmt *stmt, int at, const char *text, int len, void (*free)(void *));
    int (*bind_blob)(sqlite3_stmt *stmt, int at, const void *bytes, int len, void (*free)(void *));
    int (*bind_int64)(sqlite3_stmt *stmt, int at, sqlite3_int64 number);
    const void *(*column_blob)(sqlite3_stmt *stmt, int at);
    int (*column_bytes)(sqlite3_stmt *stmt, int at);
    sqlite3_int64 (*column_int64)(sqlite3_stmt *stmt, int at);
} hub_sqlite_library;

/* The library; loaded once, and never unloaded.
 * errors:  HUB_EUNAVAILABLE: it is not installed, or lacks a function; the next call tries again */
HUB_MUST_CHECK hub_err hub_sqlite_library_load(const hub_sqlite_library **ret_library,
                                               hub_error *reterr);

#endif
