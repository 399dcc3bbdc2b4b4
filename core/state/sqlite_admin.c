/* SPDX-License-Identifier: Apache-2.0 */
/* The whole file at once, for the command line: looked through, brought in, sealed anew, checked. */
#include "state/sqlite_file.h"

#include "base/limits.h"
#include "state/clash.h"

enum { OPENED_BYTES = 1024 * 1024 };

hub_err hub_sqlite_scan(hub_sqlite_file *file, hub_state_job *job)
{
    hub_sqlite_query query;
    size_t bytes = 0;
    hub_err err = hub_sqlite_epoch(file, job->report.epoch, &job->error);
    if (err != HUB_OK) {
        return err;
    }
    hub_sqlite_query_begin(&query, file,
                           "SELECT " HUB_SQLITE_COLUMNS " FROM record WHERE (scope, kind, owner, "
                           "key) > (?, ?, ?, ?) ORDER BY scope, kind, owner, key");
    hub_sqlite_bind_name(&query, &job->record);
    while (err == HUB_OK && hub_sqlite_query_next(&query)) {
        if (job->found_count == HUB_LIMIT_STATE_PAGE || bytes > HUB_LIMIT_STATE_PAGE_BYTES) {
            job->has_more = true;
            break;
        }
        hub_state_record record = hub_sqlite_record(&query);
        if (job->is_of_all) { /* opened */
            err = hub_sqlite_add_row(&query, job);
        } else {
            err = hub_state_job_add(job, &record) ? HUB_OK : HUB_ENOMEM;
        }
        bytes += record.document.len;
    }
    hub_err ended = hub_sqlite_query_end(&query, err == HUB_OK ? &job->error : NULL);
    return err == HUB_OK ? ended : err;
}

/* ---- import ---------------------------------------------------------------------------------- */

/* What is there under a record's name; version 0: nothing. The document is opened, into `text`. */
static hub_err find_document(hub_sqlite_file *file, const hub_state_record *name, hub_buf *text,
                             uint64_t *ret_version, hub_error *reterr)
{
    hub_sqlite_query query;
    hub_err err = HUB_OK;
    *ret_version = 0;
    hub_sqlite_query_begin(&query, file,
                           "SELECT " HUB_SQLITE_COLUMNS " FROM record"
                           " WHERE scope = ? AND kind = ? AND owner = ? AND key = ?");
    hub_sqlite_bind_name(&query, name);
    while (err == HUB_OK && hub_sqlite_query_next(&query)) {
        hub_state_record found = hub_sqlite_record(&query);
        *ret_version = found.version;
        if (found.key_id.len > 0) {
            err = hub_state_open(file->keys, &found, text, reterr);
        } else {
            hub_buf_add(text, found.document);
            err = text->failed;
        }
    }
    hub_err ended = hub_sqlite_query_end(&query, err == HUB_OK ? reterr : NULL);
    return err == HUB_OK ? ended : err;
}

static hub_err import_over(hub_sqlite_file *file, hub_state_job *job, hub_state_record *given,
                           hub_str there, uint64_t version)
{
    bool is_written = false;
    hub_err err = hub_state_judge_clash(job, given, there, version, &is_written);
    return err == HUB_OK && is_written ? hub_sqlite_write(file, given, &job->error) : err;
}

static hub_err import_one(hub_sqlite_file *file, hub_state_job *job, hub_state_record *given)
{
    hub_buf opened;
    hub_buf there;
    uint64_t version = 0;
    hub_err err = HUB_OK;
    hub_buf_init_secret(&opened, OPENED_BYTES);
    hub_buf_init_secret(&there, OPENED_BYTES);
    if (given->key_id.len > 0) {
        err = hub_state_open(file->keys, given, &opened, &job->error);
        given->document = hub_buf_str(&opened);
    }
    if (err == HUB_OK) {
        err = find_document(file, given, &there, &version, &job->error);
    }
    if (err == HUB_OK && version > 0) {
        err = import_over(file, job, given, hub_buf_str(&there), version);
    } else if (err == HUB_OK) {
        err = hub_sqlite_make_room(file, given, &job->error);
        err = err == HUB_OK ? hub_sqlite_write(file, given, &job->error) : err;
        job->report.added++;
    }
    hub_buf_fini(&there);
    hub_buf_fini(&opened);
    return err;
}

hub_err hub_sqlite_import(hub_sqlite_file *file, hub_state_job *job)
{
    hub_err err = hub_sqlite_run(file, "BEGIN IMMEDIATE", &job->error);
    if (err != HUB_OK) {
        return err;
    }
    for (size_t i = 0; err == HUB_OK && i < job->given_count; i++) {
        err = import_one(file, job, &job->given[i]);
    }
    return hub_sqlite_end(file, err, &job->error);
}

/* ---- sealing anew ---------------------------------------------------------------------------- */

/* Copy the name of a record, which is where the search goes on; the document is opened. */
static hub_err take_stale(hub_sqlite_query *query, hub_buf *names, hub_buf *text,
                          hub_state_record *ret_record, hub_error *reterr)
{
    hub_state_record found = hub_sqlite_record(query);
    hub_err err = HUB_OK;
    hub_buf_clear(text);
    if (found.key_id.len > 0) {
        err = hub_state_open(query->file->keys, &found, text, reterr);
    } else {
        hub_buf_add(text, found.document);
    }
    hub_str parts[] = {found.scope, found.kind, found.owner, found.key};
    hub_buf_clear(names);
    for (size_t i = 0; i < 4; i++) {
        hub_buf_add(names, parts[i]);
    }
    if (err == HUB_OK && (!hub_buf_ok(names) || !hub_buf_ok(text))) {
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    const char *at = names->ptr;
    for (size_t i = 0; err == HUB_OK && i < 4; i++) {
        parts[i] = (hub_str){.ptr = at, .len = parts[i].len};
        at += parts[i].len;
    }
    *ret_record = (hub_state_record){.scope = parts[0],
                                     .kind = parts[1],
                                     .owner = parts[2],
                                     .key = parts[3],
                                     .is_secret = true,
                                     .document = hub_buf_str(text)};
    return err;
}

/* The next secret behind `*record` that the current key has not sealed; *ret_is_found: false: none. */
static hub_err find_stale(hub_sqlite_file *file, hub_buf *names, hub_buf *text,
                          hub_state_record *record, bool *ret_is_found, hub_error *reterr)
{
    hub_sqlite_query query;
    hub_err err = HUB_OK;
    hub_state_record next = {.version = 0};
    *ret_is_found = false;
    hub_sqlite_query_begin(&query, file,
                           "SELECT " HUB_SQLITE_COLUMNS " FROM record WHERE (scope, kind, owner, "
                           "key) > (?, ?, ?, ?) AND secret = 1 AND key_id <> ? "
                           "ORDER BY scope, kind, owner, key LIMIT 1");
    hub_sqlite_bind_name(&query, record);
    hub_sqlite_bind_text(&query, hub_str_of(hub_state_keys_id(file->keys)));
    if (hub_sqlite_query_next(&query)) {
        *ret_is_found = true;
        err = take_stale(&query, names, text, &next, reterr);
    }
    hub_err ended = hub_sqlite_query_end(&query, err == HUB_OK ? reterr : NULL);
    *record = next;
    return err == HUB_OK ? ended : err;
}

hub_err hub_sqlite_rekey(hub_sqlite_file *file, hub_state_job *job)
{
    hub_buf names;
    hub_buf text;
    hub_state_record record = {.version = 0};
    bool is_found = true;
    if (file->keys == NULL) {
        return hub_fail(&job->error, HUB_EDENIED,
                        "there is no key to encrypt with: name one with `state: {key: FILE}`, or "
                        "in " HUB_STATE_KEY_VARIABLE);
    }
    hub_err err = hub_sqlite_run(file, "BEGIN IMMEDIATE", &job->error);
    if (err != HUB_OK) {
        return err;
    }
    hub_buf_init(&names, OPENED_BYTES);
    hub_buf_init(&text, OPENED_BYTES);
    while (err == HUB_OK && is_found) {
        err = find_stale(file, &names, &text, &record, &is_found, &job->error);
        if (err == HUB_OK && is_found) {
            err = hub_sqlite_write(file, &record, &job->error);
            job->report.sealed++;
        }
    }
    hub_buf_fini(&text);
    hub_buf_fini(&names);
    return hub_sqlite_end(file, err, &job->error);
}

/* ---- checking -------------------------------------------------------------------------------- */

static hub_err check_pages(hub_sqlite_file *file, hub_state_job *job)
{
    hub_sqlite_query query;
    hub_err err = HUB_OK;
    hub_sqlite_query_begin(&query, file, "PRAGMA integrity_check(1)");
    while (err == HUB_OK && hub_sqlite_query_next(&query)) {
        hub_str said = hub_sqlite_column(&query, 0);
        if (!hub_str_is(said, "ok")) {
            err = hub_fail(&job->error, HUB_EUNAVAILABLE,
                           "%s is damaged (" HUB_STR_FMT "): save what can be read with `patchbay "
                           "state export`, move it away, and bring the records back with "
                           "`patchbay state import`",
                           file->path, HUB_STR_ARG(said));
        }
    }
    hub_err ended = hub_sqlite_query_end(&query, err == HUB_OK ? &job->error : NULL);
    return err == HUB_OK ? ended : err;
}

static void count_secret(hub_sqlite_file *file, const hub_state_record *record,
                         hub_state_report *report)
{
    hub_buf opened;
    if (record->key_id.len == 0) {
        report->plain++;
        return;
    }
    hub_buf_init_secret(&opened, OPENED_BYTES);
    report->sealed++;
    report->unreadable += hub_state_open(file->keys, record, &opened, NULL) != HUB_OK;
    hub_buf_fini(&opened);
}

hub_err hub_sqlite_check(hub_sqlite_file *file, hub_state_job *job)
{
    hub_sqlite_query query;
    hub_str safety;
    hub_err err = hub_state_job_keep(job, hub_str_of(file->place.safety), &safety)
                      ? check_pages(file, job)
                      : HUB_ENOMEM;
    if (err == HUB_OK) {
        job->report.journal = file->journal;
        job->report.safety = safety.ptr;
        err = hub_sqlite_epoch(file, job->report.epoch, &job->error);
    }
    if (err == HUB_OK) {
        err = hub_sqlite_number(file, "SELECT count(*) FROM record", &job->report.records,
                                &job->error);
    }
    if (err != HUB_OK) {
        return err;
    }
    hub_sqlite_query_begin(&query, file,
                           "SELECT " HUB_SQLITE_COLUMNS " FROM record WHERE secret = 1");
    while (hub_sqlite_query_next(&query)) {
        hub_state_record record = hub_sqlite_record(&query);
        count_secret(file, &record, &job->report);
    }
    return hub_sqlite_query_end(&query, &job->error);
}
