/* SPDX-License-Identifier: Apache-2.0 */
/* Statements, and what SQLite's errors mean for whoever has to do something about them. */
#include "state/sqlite_file.h"

#include "base/limits.h"

#include <errno.h>

/* SQLITE_STATIC, without the cast that the macro does: what is bound outlives its query. */
#define STAYS NULL

static hub_err explain_errno(const char *path, int cause, const char *what, hub_error *reterr)
{
    if (cause == ENOSPC || cause == EDQUOT || cause == EFBIG) {
        return hub_fail(reterr, HUB_EUNAVAILABLE, "%s cannot be written: the disk is full (%s)",
                        path, strerrordesc_np(cause));
    }
    return hub_fail(reterr, HUB_EUNAVAILABLE, "%s: %s%s%s", path, what, cause != 0 ? ": " : "",
                    cause != 0 ? strerrordesc_np(cause) : "");
}

/* `seen`: what errno was when it failed. SQLite tells it itself, but not of a COMMIT. */
static hub_err explain(const hub_sqlite_file *file, int code, int seen, hub_error *reterr)
{
    const char *path = file->path;
    int told = file->library->system_errno(file->db);
    int cause = told != 0 ? told : seen;
    switch (code & 0xff) {
    case SQLITE_NOMEM:
        return hub_fail(reterr, HUB_ENOMEM, "%s: out of memory", path);
    case SQLITE_FULL:
        return hub_fail(reterr, HUB_EUNAVAILABLE, "%s cannot be written: the disk is full", path);
    case SQLITE_IOERR:
        return explain_errno(path, cause, "reading or writing failed", reterr);
    case SQLITE_READONLY:
    case SQLITE_PERM:
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s cannot be written: the file or its folder is read-only", path);
    case SQLITE_CANTOPEN:
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s cannot be opened; files beside it cannot be made (is its folder "
                        "read-only, or the disk full?): %s",
                        path, cause != 0 ? strerrordesc_np(cause) : "no reason is known");
    case SQLITE_CORRUPT:
    case SQLITE_NOTADB:
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s is damaged (%s): move it away and bring records back with `patchbay "
                        "state import`, or start afresh",
                        path, file->library->errmsg(file->db));
    case SQLITE_BUSY:
    case SQLITE_LOCKED:
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s is locked: another process has been writing to it for over %d s", path,
                        HUB_LIMIT_STATE_BUSY_MS / 1000);
    default:
        return hub_fail(reterr, HUB_EUNAVAILABLE, "%s: %s", path, file->library->errmsg(file->db));
    }
}

/* ---- queries --------------------------------------------------------------------------------- */

static void note(hub_sqlite_query *query, int code)
{
    if (code != SQLITE_OK && query->code == SQLITE_OK) {
        query->code = code;
        query->cause = errno;
    }
}

void hub_sqlite_query_begin(hub_sqlite_query *query, hub_sqlite_file *file, const char *sql)
{
    *query = (hub_sqlite_query){.file = file, .code = SQLITE_OK};
    note(query, file->library->prepare_v2(file->db, sql, -1, &query->stmt, NULL));
}

void hub_sqlite_bind_text(hub_sqlite_query *query, hub_str text)
{
    const hub_sqlite_library *library = query->file->library;
    query->bound++;
    if (query->code == SQLITE_OK) {
        note(query, library->bind_text(query->stmt, query->bound, text.len > 0 ? text.ptr : "",
                                       (int)text.len, STAYS));
    }
}

void hub_sqlite_bind_blob(hub_sqlite_query *query, hub_str bytes)
{
    const hub_sqlite_library *library = query->file->library;
    query->bound++;
    if (query->code == SQLITE_OK) {
        note(query, library->bind_blob(query->stmt, query->bound, bytes.len > 0 ? bytes.ptr : "",
                                       (int)bytes.len, STAYS));
    }
}

void hub_sqlite_bind_number(hub_sqlite_query *query, uint64_t number)
{
    query->bound++;
    if (query->code == SQLITE_OK) {
        note(query,
             query->file->library->bind_int64(query->stmt, query->bound, (sqlite3_int64)number));
    }
}

void hub_sqlite_bind_name(hub_sqlite_query *query, const hub_state_record *record)
{
    hub_sqlite_bind_text(query, record->scope);
    hub_sqlite_bind_text(query, record->kind);
    hub_sqlite_bind_text(query, record->owner);
    hub_sqlite_bind_text(query, record->key);
}

bool hub_sqlite_query_next(hub_sqlite_query *query)
{
    if (query->code != SQLITE_OK) {
        return false;
    }
    errno = 0;
    int code = query->file->library->step(query->stmt);
    if (code != SQLITE_ROW && code != SQLITE_DONE) {
        note(query, code);
    }
    return code == SQLITE_ROW;
}

hub_str hub_sqlite_column(const hub_sqlite_query *query, int at)
{
    const hub_sqlite_library *library = query->file->library;
    const char *bytes = library->column_blob(query->stmt, at);
    int len = library->column_bytes(query->stmt, at);
    return bytes != NULL && len > 0 ? (hub_str){.ptr = bytes, .len = (size_t)len} : HUB_STR_EMPTY;
}

uint64_t hub_sqlite_column_number(const hub_sqlite_query *query, int at)
{
    return (uint64_t)query->file->library->column_int64(query->stmt, at);
}

hub_err hub_sqlite_query_end(hub_sqlite_query *query, hub_error *reterr)
{
    hub_err err =
        query->code == SQLITE_OK ? HUB_OK : explain(query->file, query->code, query->cause, reterr);
    (void)query->file->library->finalize(query->stmt); /* says again what stepping said */
    query->stmt = NULL;
    return err;
}

hub_err hub_sqlite_run(hub_sqlite_file *file, const char *sql, hub_error *reterr)
{
    uint64_t unused;
    return hub_sqlite_number(file, sql, &unused, reterr);
}

hub_err hub_sqlite_number(hub_sqlite_file *file, const char *sql, uint64_t *ret_number,
                          hub_error *reterr)
{
    hub_sqlite_query query;
    uint64_t number = 0;
    hub_sqlite_query_begin(&query, file, sql);
    while (hub_sqlite_query_next(&query)) {
        number = hub_sqlite_column_number(&query, 0);
    }
    hub_err err = hub_sqlite_query_end(&query, reterr);
    *ret_number = number;
    return err;
}

hub_err hub_sqlite_end(hub_sqlite_file *file, hub_err err, hub_error *reterr)
{
    if (err == HUB_OK) {
        err = hub_sqlite_run(file, "COMMIT", reterr);
    }
    if (err != HUB_OK && file->library->get_autocommit(file->db) == 0) {
        hub_err undone = hub_sqlite_run(file, "ROLLBACK", NULL);
        (void)undone; /* the file is closed next, which does the same */
    }
    return err;
}
