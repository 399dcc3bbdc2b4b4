/* SPDX-License-Identifier: Apache-2.0 */
/* Records in the store's file: read, written, deleted, followed. */
#include "state/sqlite_file.h"

#include "base/limits.h"

#include <stdio.h>

enum { OPENED_BYTES = 1024 * 1024 };

/* A limit as SQL has it. */
#define DIGITS(limit) #limit
#define IN_SQL(limit) DIGITS(limit)

hub_state_record hub_sqlite_record(const hub_sqlite_query *query)
{
    return (hub_state_record){
        .scope = hub_sqlite_column(query, 0),
        .kind = hub_sqlite_column(query, 1),
        .owner = hub_sqlite_column(query, 2),
        .key = hub_sqlite_column(query, 3),
        .version = hub_sqlite_column_number(query, 4),
        .is_secret = hub_sqlite_column_number(query, 5) != 0,
        .key_id = hub_sqlite_column(query, 6),
        .document = hub_sqlite_column(query, 7),
    };
}

static hub_err refuse_secret(const hub_sqlite_file *file, hub_error *reterr)
{
    return hub_fail(reterr, HUB_EDENIED,
                    "a secret cannot be kept: %s. Give the store a key (`state: {key: FILE}`), or "
                    "correct that",
                    file->place.safety);
}

hub_err hub_sqlite_add_row(hub_sqlite_query *query, hub_state_job *job)
{
    const hub_sqlite_file *file = query->file;
    hub_state_record record = hub_sqlite_record(query);
    hub_buf opened;
    if (record.is_secret && record.key_id.len == 0 && file->place.safety[0] != '\0') {
        return refuse_secret(file, &job->error);
    }
    hub_buf_init_secret(&opened, OPENED_BYTES);
    hub_err err = HUB_OK;
    if (record.key_id.len > 0) {
        err = hub_state_open(file->keys, &record, &opened, &job->error);
        record.document = hub_buf_str(&opened);
    }
    if (err == HUB_OK && !hub_state_job_add(job, &record)) {
        err = HUB_ENOMEM;
    }
    hub_buf_fini(&opened);
    return err;
}

/* ---- reading --------------------------------------------------------------------------------- */

static hub_err get(hub_sqlite_file *file, hub_state_job *job)
{
    hub_sqlite_query query;
    hub_err err = HUB_OK;
    hub_sqlite_query_begin(&query, file,
                           "SELECT " HUB_SQLITE_COLUMNS " FROM record"
                           " WHERE scope = ? AND kind = ? AND owner = ? AND key = ?");
    hub_sqlite_bind_name(&query, &job->record);
    while (err == HUB_OK && hub_sqlite_query_next(&query)) {
        err = hub_sqlite_add_row(&query, job);
    }
    hub_err ended = hub_sqlite_query_end(&query, err == HUB_OK ? &job->error : NULL);
    err = err == HUB_OK ? ended : err;
    return err == HUB_OK && job->found_count == 0
               ? hub_fail(&job->error, HUB_ENOTFOUND, "there is no such record")
               : err;
}

static hub_err list(hub_sqlite_file *file, hub_state_job *job)
{
    hub_sqlite_query query;
    size_t bytes = 0;
    hub_err err = HUB_OK;
    hub_sqlite_query_begin(&query, file,
                           job->is_of_all
                               ? "SELECT " HUB_SQLITE_COLUMNS " FROM record WHERE scope = ?1"
                                 " AND kind = ?2 AND (owner, key) > (?3, ?4) ORDER BY owner, key"
                               : "SELECT " HUB_SQLITE_COLUMNS " FROM record WHERE scope = ?1"
                                 " AND kind = ?2 AND owner = ?3 AND key > ?4 ORDER BY key");
    hub_sqlite_bind_name(&query, &job->record);
    while (err == HUB_OK && hub_sqlite_query_next(&query)) {
        if (job->found_count == HUB_LIMIT_STATE_PAGE || bytes > HUB_LIMIT_STATE_PAGE_BYTES) {
            job->has_more = true;
            break;
        }
        err = hub_sqlite_add_row(&query, job);
        bytes += err == HUB_OK ? job->found[job->found_count - 1].document.len : 0;
    }
    hub_err ended = hub_sqlite_query_end(&query, err == HUB_OK ? &job->error : NULL);
    return err == HUB_OK ? ended : err;
}

/* ---- writing --------------------------------------------------------------------------------- */

static hub_err next_version(hub_sqlite_file *file, uint64_t *ret_version, hub_error *reterr)
{
    return hub_sqlite_number(
        file, "UPDATE meta SET value = value + 1 WHERE name = 'changes' RETURNING value",
        ret_version, reterr);
}

static hub_err seal_secret(hub_sqlite_file *file, hub_state_record *record, hub_buf *sealed,
                           hub_error *reterr)
{
    if (file->keys == NULL) {
        return file->place.safety[0] != '\0' ? refuse_secret(file, reterr) : HUB_OK;
    }
    hub_err err = hub_state_seal(file->keys, record, sealed, reterr);
    if (err == HUB_OK) {
        record->document = hub_buf_str(sealed);
        record->key_id = hub_str_of(hub_state_keys_id(file->keys));
    }
    return err;
}

hub_err hub_sqlite_write(hub_sqlite_file *file, hub_state_record *record, hub_error *reterr)
{
    hub_buf sealed;
    hub_buf_init(&sealed, OPENED_BYTES);
    hub_err err = next_version(file, &record->version, reterr);
    record->key_id = HUB_STR_EMPTY;
    if (err == HUB_OK && record->is_secret) {
        err = seal_secret(file, record, &sealed, reterr);
    }
    if (err == HUB_OK) {
        hub_sqlite_query query;
        hub_sqlite_query_begin(&query, file,
                               "INSERT OR REPLACE INTO record (" HUB_SQLITE_COLUMNS
                               ") VALUES (?, ?, ?, ?, ?, ?, ?, ?)");
        hub_sqlite_bind_name(&query, record);
        hub_sqlite_bind_number(&query, record->version);
        hub_sqlite_bind_number(&query, record->is_secret);
        hub_sqlite_bind_text(&query, record->key_id);
        hub_sqlite_bind_blob(&query, record->document);
        while (hub_sqlite_query_next(&query)) {
        }
        err = hub_sqlite_query_end(&query, reterr);
    }
    record->document = HUB_STR_EMPTY; /* it may be what was sealed */
    hub_buf_fini(&sealed);
    return err;
}

hub_err hub_sqlite_make_room(hub_sqlite_file *file, const hub_state_record *record,
                             hub_error *reterr)
{
    uint64_t records = 0;
    hub_err err = hub_sqlite_number(
        file, "UPDATE meta SET value = value + 1 WHERE name = 'records' RETURNING value", &records,
        reterr);
    if (err == HUB_OK && records > HUB_LIMIT_STATE_RECORDS) {
        return hub_fail(reterr, HUB_ELIMIT,
                        "the store has %u records, which is as many as it keeps",
                        HUB_LIMIT_STATE_RECORDS);
    }
    if (err != HUB_OK) {
        return err;
    }
    hub_sqlite_query query;
    uint64_t own = 0;
    hub_sqlite_query_begin(
        &query, file, "SELECT count(*) FROM record WHERE scope = ? AND kind = ? AND owner = ?");
    hub_sqlite_bind_text(&query, record->scope);
    hub_sqlite_bind_text(&query, record->kind);
    hub_sqlite_bind_text(&query, record->owner);
    while (hub_sqlite_query_next(&query)) {
        own = hub_sqlite_column_number(&query, 0);
    }
    err = hub_sqlite_query_end(&query, reterr);
    if (err == HUB_OK && own >= HUB_LIMIT_STATE_RECORDS_PER_OWNER) {
        return hub_fail(reterr, HUB_ELIMIT,
                        "\"" HUB_STR_FMT "\" has %d records of the kind " HUB_STR_FMT
                        ", which is as many as the store keeps of one owner: delete some",
                        HUB_STR_ARG(record->owner), HUB_LIMIT_STATE_RECORDS_PER_OWNER,
                        HUB_STR_ARG(record->kind));
    }
    return err;
}

static hub_err find_version(hub_sqlite_file *file, const hub_state_record *record,
                            uint64_t *ret_version, hub_error *reterr)
{
    hub_sqlite_query query;
    *ret_version = 0;
    hub_sqlite_query_begin(&query, file,
                           "SELECT version FROM record"
                           " WHERE scope = ? AND kind = ? AND owner = ? AND key = ?");
    hub_sqlite_bind_name(&query, record);
    while (hub_sqlite_query_next(&query)) {
        *ret_version = hub_sqlite_column_number(&query, 0);
    }
    return hub_sqlite_query_end(&query, reterr);
}

/* Tell the caller what is there instead of what it saw. */
static hub_err refuse_version(hub_sqlite_file *file, hub_state_job *job, uint64_t now)
{
    hub_err err = now > 0 ? get(file, job) : HUB_OK;
    if (err == HUB_OK && now == 0) {
        hub_state_record none = job->record;
        none.document = HUB_STR_EMPTY;
        none.version = 0;
        err = hub_state_job_add(job, &none) ? HUB_OK : HUB_ENOMEM;
    }
    return err == HUB_OK ? hub_fail(&job->error, HUB_ECONFLICT,
                                    "the record was changed by somebody else in the meantime")
                         : err;
}

static hub_err put(hub_sqlite_file *file, hub_state_job *job)
{
    uint64_t now = 0;
    hub_err err = hub_sqlite_run(file, "BEGIN IMMEDIATE", &job->error);
    if (err != HUB_OK) {
        return err;
    }
    err = find_version(file, &job->record, &now, &job->error);
    if (err == HUB_OK && job->seen != HUB_STATE_ANY && job->seen != now) {
        err = refuse_version(file, job, now);
    }
    if (err == HUB_OK && now == 0) {
        err = hub_sqlite_make_room(file, &job->record, &job->error);
    }
    if (err == HUB_OK) {
        err = hub_sqlite_write(file, &job->record, &job->error);
    }
    err = hub_sqlite_end(file, err, &job->error);
    return err == HUB_OK && !hub_state_job_add(job, &job->record) ? HUB_ENOMEM : err;
}

static hub_err note_deletion(hub_sqlite_file *file, const hub_state_record *record,
                             hub_error *reterr)
{
    static const char *const FORGET[] = {
        "UPDATE meta SET value = (SELECT coalesce(max(version), 0) FROM"
        " (SELECT version FROM gone ORDER BY version DESC LIMIT -1 OFFSET " IN_SQL(
            HUB_LIMIT_STATE_DELETIONS) "))"
                                       " WHERE name = 'forgotten' AND (SELECT count(*) FROM gone) "
                                       "> " IN_SQL(HUB_LIMIT_STATE_DELETIONS),
        "DELETE FROM gone WHERE version <= (SELECT value FROM meta WHERE name = 'forgotten')",
        "UPDATE meta SET value = value - 1 WHERE name = 'records'",
    };
    uint64_t version = 0;
    hub_err err = next_version(file, &version, reterr);
    if (err == HUB_OK) {
        hub_sqlite_query query;
        hub_sqlite_query_begin(&query, file,
                               "INSERT INTO gone (scope, kind, owner, key, version)"
                               " VALUES (?, ?, ?, ?, ?)");
        hub_sqlite_bind_name(&query, record);
        hub_sqlite_bind_number(&query, version);
        while (hub_sqlite_query_next(&query)) {
        }
        err = hub_sqlite_query_end(&query, reterr);
    }
    for (size_t i = 0; err == HUB_OK && i < sizeof FORGET / sizeof FORGET[0]; i++) {
        err = hub_sqlite_run(file, FORGET[i], reterr);
    }
    return err;
}

static hub_err delete_it(hub_sqlite_file *file, hub_state_job *job)
{
    uint64_t now = 0;
    hub_err err = hub_sqlite_run(file, "BEGIN IMMEDIATE", &job->error);
    if (err != HUB_OK) {
        return err;
    }
    err = find_version(file, &job->record, &now, &job->error);
    if (err == HUB_OK && now == 0 && (job->seen == HUB_STATE_ANY || job->seen == 0)) {
        err = hub_fail(&job->error, HUB_ENOTFOUND, "there is no such record");
    } else if (err == HUB_OK && job->seen != HUB_STATE_ANY && job->seen != now) {
        err = refuse_version(file, job, now);
    }
    if (err == HUB_OK) {
        hub_sqlite_query query;
        hub_sqlite_query_begin(
            &query, file,
            "DELETE FROM record WHERE scope = ? AND kind = ? AND owner = ? AND key = ?");
        hub_sqlite_bind_name(&query, &job->record);
        while (hub_sqlite_query_next(&query)) {
        }
        err = hub_sqlite_query_end(&query, &job->error);
    }
    if (err == HUB_OK) {
        err = note_deletion(file, &job->record, &job->error);
    }
    return hub_sqlite_end(file, err, &job->error);
}

/* ---- following ------------------------------------------------------------------------------- */

/* Changes since `seen`: records, and deletions. */
static hub_err add_changes(hub_sqlite_file *file, hub_state_job *job)
{
    hub_sqlite_query query;
    hub_err err = HUB_OK;
    hub_sqlite_query_begin(
        &query, file,
        "SELECT scope, kind, owner, key, version, 0 FROM record WHERE version > ?1 UNION ALL "
        "SELECT scope, kind, owner, key, version, 1 FROM gone WHERE version > ?1 ORDER BY version");
    hub_sqlite_bind_number(&query, job->seen);
    while (err == HUB_OK && hub_sqlite_query_next(&query)) {
        hub_state_record record = {
            .scope = hub_sqlite_column(&query, 0),
            .kind = hub_sqlite_column(&query, 1),
            .owner = hub_sqlite_column(&query, 2),
            .key = hub_sqlite_column(&query, 3),
            .version = hub_sqlite_column_number(&query, 4),
            .is_gone = hub_sqlite_column_number(&query, 5) != 0,
        };
        if (job->found_count == HUB_LIMIT_STATE_PAGE) {
            job->has_more = true;
            break;
        }
        err = hub_state_job_add(job, &record) ? HUB_OK : HUB_ENOMEM;
        job->seen = record.version;
    }
    hub_err ended = hub_sqlite_query_end(&query, err == HUB_OK ? &job->error : NULL);
    return err == HUB_OK ? ended : err;
}

/* What a watcher is to be told. Under the lock of writers: somebody may have written to the log,
 * which is the event that this follows, and not have made it count yet. */
static hub_err look(hub_sqlite_file *file, hub_state_job *job)
{
    char epoch[HUB_STATE_EPOCH_BYTES];
    uint64_t changes = 0;
    uint64_t forgotten = 0;
    hub_err err = hub_sqlite_run(file, "BEGIN IMMEDIATE", &job->error);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_sqlite_epoch(file, epoch, &job->error);
    if (err == HUB_OK) {
        err = hub_sqlite_number(file, "SELECT value FROM meta WHERE name = 'changes'", &changes,
                                &job->error);
    }
    if (err == HUB_OK) {
        err = hub_sqlite_number(file, "SELECT value FROM meta WHERE name = 'forgotten'", &forgotten,
                                &job->error);
    }
    bool is_other = job->epoch[0] != '\0' && strcmp(job->epoch, epoch) != 0;
    bool is_new = job->seen == HUB_STATE_ANY; /* somebody begins to watch */
    if (err == HUB_OK && (is_other || is_new || job->seen < forgotten || job->seen > changes)) {
        job->event = is_other ? HUB_STATE_OTHER : HUB_STATE_UNKNOWN;
        job->seen = changes;
    } else if (err == HUB_OK) {
        job->event = HUB_STATE_CHANGED;
        err = job->seen < changes ? add_changes(file, job) : HUB_OK;
    }
    memcpy(job->epoch, epoch, sizeof epoch);
    return hub_sqlite_end(file, err, &job->error); /* nothing was written: this writes nothing */
}

void hub_sqlite_file_do(hub_sqlite_file *file, hub_state_job *job)
{
    static hub_err (*const VERBS[])(hub_sqlite_file *, hub_state_job *) = {
        [HUB_STATE_GET] = get,
        [HUB_STATE_LIST] = list,
        [HUB_STATE_PUT] = put,
        [HUB_STATE_DELETE] = delete_it,
        [HUB_STATE_LOOK] = look,
        [HUB_STATE_SCAN] = hub_sqlite_scan,
        [HUB_STATE_IMPORT] = hub_sqlite_import,
        [HUB_STATE_REKEY] = hub_sqlite_rekey,
        [HUB_STATE_CHECK] = hub_sqlite_check,
    };
    hub_err err = VERBS[job->verb](file, job);
    if (err != HUB_OK && job->error.code != err) {
        (void)hub_fail(&job->error, err, "%s", hub_err_text(err));
    }
    if (file->place.is_remote) {
        (void)snprintf(job->notice, sizeof job->notice,
                       "%.120s is on a network file system (%s): changes by other machines are "
                       "seen when it is read, not when they happen",
                       file->path, file->place.system);
    }
}
