/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Jobs that go through many records. What is to be written is put together on a stage of this engine's
 * own, part by part, and then written by one command, if nobody has changed any of it meanwhile; else
 * it is judged again.
 */
#include "engine.h"

#include "base/limits.h"
#include "state/clash.h"

#include <stdio.h>

enum {
    PART = 256,               /* records of one command … */
    PART_BYTES = 1024 * 1024, /* … and bytes about */
    MOST_TRIES = 5,
    OPENED_BYTES = 1024 * 1024,
    FIRST_ROOM = 64,
};

/* A record that is to be written. */
typedef struct planned {
    hub_state_record record; /* with its document, opened */
    hub_str name;
    uint64_t seen;
} planned;

/* The work on one job, in its arena. */
typedef struct batch {
    planned *plan;
    size_t count;
    size_t room;
    size_t at;    /* the next one that is looked at, or put on the stage */
    size_t part;  /* … and those that the server was asked for now */
    hub_str last; /* the name behind which the search goes on */
    unsigned tries;
    void (*restart)(valkey_engine *engine, hub_state_job *job);
} batch;

static bool plan_one(hub_state_job *job, const hub_state_record *record, hub_str name,
                     uint64_t seen)
{
    batch *all = job->at_work;
    if (all->count == all->room) {
        size_t room = all->room > 0 ? 2 * all->room : FIRST_ROOM;
        planned *grown = hub_arena_array(job->arena, room, sizeof *grown);
        if (grown == NULL) {
            (void)hub_fail(&job->error, HUB_ENOMEM, "out of memory");
            return false;
        }
        if (all->count > 0) {
            memcpy(grown, all->plan, all->count * sizeof *grown);
        }
        all->plan = grown;
        all->room = room;
    }
    all->plan[all->count++] = (planned){.record = *record, .name = name, .seen = seen};
    return true;
}

/* Begin, or begin again. False: the job ended. */
static bool begin(valkey_engine *engine, hub_state_job *job,
                  void (*restart)(valkey_engine *engine, hub_state_job *job))
{
    batch *all = job->at_work;
    if (all == NULL) {
        all = job->at_work = hub_arena_alloc(job->arena, sizeof *all);
    }
    if (all == NULL || ++all->tries > MOST_TRIES) {
        valkey_fail(engine, job, all == NULL ? HUB_ENOMEM : HUB_EUNAVAILABLE,
                    all == NULL ? "out of memory" : "others write to it all the time: try later");
        return false;
    }
    all->restart = restart;
    all->count = 0;
    all->at = 0;
    all->last = HUB_STR_EMPTY;
    job->report = (hub_state_report){.records = 0};
    return true;
}

/* Open a document into the job's arena. */
static bool open_kept(valkey_engine *engine, hub_state_job *job, hub_state_record *record)
{
    hub_buf opened;
    hub_buf_init_secret(&opened, OPENED_BYTES);
    bool is_open = hub_state_open(engine->options.keys, record, &opened, &job->error) == HUB_OK &&
                   hub_state_job_keep(job, hub_buf_str(&opened), &record->document);
    hub_buf_fini(&opened);
    return is_open;
}

/* ---- writing what is planned ----------------------------------------------------------------- */

static void on_committed(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    const batch *all = job->at_work;
    hub_str said = valkey_text(valkey_element(reply, 0));
    if (hub_str_is(said, "again")) {
        all->restart(engine, job);
        return;
    }
    if (!hub_str_is(said, "ok")) {
        hub_state_record named = {.version = 0};
        (void)valkey_read_name(valkey_text(valkey_element(reply, 1)), &named); /* "full": none */
        valkey_refuse_room(job, said, &named);
    }
    valkey_finish(engine, job);
}

static void commit(valkey_engine *engine, hub_state_job *job)
{
    const batch *all = job->at_work;
    const hub_str args[] = {
        HUB_STR("commit"),
        valkey_format(job, "%zu", all->count),
        valkey_epoch(job),
        valkey_format(job, "%u", HUB_LIMIT_STATE_RECORDS),
        valkey_format(job, "%u", HUB_LIMIT_STATE_RECORDS_PER_OWNER),
    };
    if (job->error.code != HUB_OK) {
        valkey_finish(engine, job);
        return;
    }
    valkey_ask(engine, job, args, sizeof args / sizeof args[0], HUB_LIMIT_STATE_ADMIN_MS,
               on_committed);
}

static void stage_part(valkey_engine *engine, hub_state_job *job);

static void on_staged(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    (void)reply;
    const batch *all = job->at_work;
    if (all->at < all->count) {
        stage_part(engine, job);
    } else {
        commit(engine, job);
    }
}

static bool stage_one(valkey_engine *engine, hub_state_job *job, const planned *one, hub_str *args)
{
    hub_str rest;
    hub_buf value;
    if (!valkey_make_rest(engine, job, &one->record, &rest)) {
        return false;
    }
    hub_buf_init(&value, OPENED_BYTES);
    hub_buf_add_u64(&value, one->record.version);
    hub_buf_add(&value, rest);
    args[0] = one->name;
    args[1] = valkey_format(job, "%llu", (unsigned long long)one->seen);
    bool is_kept = hub_buf_ok(&value) && hub_state_job_keep(job, hub_buf_str(&value), &args[2]);
    hub_buf_fini(&value);
    return is_kept && job->error.code == HUB_OK;
}

static void stage_part(valkey_engine *engine, hub_state_job *job)
{
    batch *all = job->at_work;
    hub_str args[2 + 3 * PART] = {HUB_STR("stage"), valkey_format(job, "%zu", 3 * all->at)};
    size_t count = 2;
    size_t bytes = 0;
    bool is_good = true;
    for (; is_good && all->at < all->count && count < 2 + 3 * PART && bytes < PART_BYTES;
         count += 3) {
        is_good = stage_one(engine, job, &all->plan[all->at++], &args[count]);
        bytes += is_good ? args[count + 2].len : 0;
    }
    if (!is_good) {
        valkey_finish(engine, job);
        return;
    }
    valkey_ask(engine, job, args, count, HUB_LIMIT_STATE_ADMIN_MS, on_staged);
}

static void on_numbers(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    batch *all = job->at_work;
    uint64_t first = valkey_number(valkey_text(reply));
    for (size_t i = 0; i < all->count; i++) {
        all->plan[i].record.version = first + i;
    }
    all->at = 0;
    stage_part(engine, job);
}

static void write_plan(valkey_engine *engine, hub_state_job *job)
{
    const batch *all = job->at_work;
    const hub_str args[] = {HUB_STR("reserve"), valkey_format(job, "%zu", all->count)};
    if (all->count == 0) {
        valkey_finish(engine, job);
        return;
    }
    valkey_ask(engine, job, args, 2, HUB_LIMIT_STATE_ADMIN_MS, on_numbers);
}

/* ---- import ---------------------------------------------------------------------------------- */

/* Judge one given record, by what is there. */
static bool judge(valkey_engine *engine, hub_state_job *job, hub_state_record *given,
                  const redisReply *there)
{
    hub_state_record found = *given;
    hub_str name = valkey_name(job, given);
    bool is_written = true;
    if (there == NULL || there->type != REDIS_REPLY_STRING) {
        job->report.added++;
        return plan_one(job, given, name, 0);
    }
    if (!valkey_read_value(valkey_text(there), &found)) {
        (void)hub_fail(&job->error, HUB_EUNAVAILABLE, "a record in the store is damaged");
        return false;
    }
    if (found.key_id.len > 0 && !open_kept(engine, job, &found)) {
        return false;
    }
    return hub_state_judge_clash(job, given, found.document, found.version, &is_written) ==
               HUB_OK &&
           (!is_written || plan_one(job, given, name, found.version));
}

static void find_part(valkey_engine *engine, hub_state_job *job);

static void on_found(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    batch *all = job->at_work;
    for (size_t i = 0; i < all->part; i++) {
        if (!judge(engine, job, &job->given[all->at + i], valkey_element(reply, i))) {
            valkey_finish(engine, job);
            return;
        }
    }
    all->at += all->part;
    find_part(engine, job);
}

static void find_part(valkey_engine *engine, hub_state_job *job)
{
    batch *all = job->at_work;
    hub_str args[1 + PART] = {HUB_STR("find")};
    size_t left = job->given_count - all->at;
    all->part = left < PART ? left : PART;
    if (all->part == 0) {
        write_plan(engine, job);
        return;
    }
    for (size_t i = 0; i < all->part; i++) {
        args[1 + i] = valkey_name(job, &job->given[all->at + i]);
    }
    if (job->error.code != HUB_OK) {
        valkey_finish(engine, job);
        return;
    }
    valkey_ask(engine, job, args, 1 + all->part, HUB_LIMIT_STATE_ADMIN_MS, on_found);
}

static void restart_import(valkey_engine *engine, hub_state_job *job)
{
    if (begin(engine, job, restart_import)) {
        find_part(engine, job);
    }
}

void valkey_import(valkey_engine *engine, hub_state_job *job)
{
    for (size_t i = 0; i < job->given_count; i++) {
        hub_state_record *given = &job->given[i];
        if (given->key_id.len > 0 && !open_kept(engine, job, given)) {
            valkey_finish(engine, job);
            return;
        }
        given->key_id = HUB_STR_EMPTY;
    }
    restart_import(engine, job);
}

/* ---- going through all of it ----------------------------------------------------------------- */

static void next_page(valkey_engine *engine, hub_state_job *job, valkey_step *on_page)
{
    const batch *all = job->at_work;
    hub_str low = HUB_STR("-");
    if (all->last.len > 0) {
        hub_buf from;
        hub_buf_init(&from, OPENED_BYTES);
        hub_buf_add_char(&from, '(');
        hub_buf_add(&from, all->last);
        bool is_kept = hub_buf_ok(&from) && hub_state_job_keep(job, hub_buf_str(&from), &low);
        hub_buf_fini(&from);
        if (!is_kept) {
            valkey_fail(engine, job, HUB_ENOMEM, "out of memory");
            return;
        }
    }
    const hub_str args[] = {HUB_STR("page"), low, HUB_STR("+"), valkey_format(job, "%d", PART),
                            valkey_format(job, "%d", PART_BYTES)};
    valkey_ask(engine, job, args, 5, HUB_LIMIT_STATE_ADMIN_MS, on_page);
}

/* Take each record of a page. False: it is the last page, or the job has failed. */
static bool take_page(valkey_engine *engine, hub_state_job *job, const redisReply *reply,
                      bool (*take)(valkey_engine *engine, hub_state_job *job, hub_str name,
                                   hub_state_record *record))
{
    batch *all = job->at_work;
    const redisReply *page = valkey_element(reply, 2);
    const redisReply *more = valkey_element(reply, 0);
    hub_str epoch = valkey_text(valkey_element(reply, 1));
    bool is_good = true;
    size_t count = valkey_count(page) / 2;
    (void)snprintf(job->report.epoch, sizeof job->report.epoch, HUB_STR_FMT, HUB_STR_ARG(epoch));
    for (size_t i = 0; is_good && i < count; i++) {
        hub_state_record record = {.version = 0};
        hub_str name = valkey_text(page->element[2 * i]);
        is_good = valkey_read_name(name, &record) &&
                  valkey_read_value(valkey_text(page->element[2 * i + 1]), &record);
        if (!is_good) {
            (void)hub_fail(&job->error, HUB_EUNAVAILABLE,
                           "a record in the store is damaged, or another program's: it is in the "
                           "hash patchbay:state:records");
        }
        is_good = is_good && take(engine, job, name, &record);
    }
    is_good =
        is_good && (count == 0 ||
                    hub_state_job_keep(job, valkey_text(page->element[2 * count - 2]), &all->last));
    return is_good && count > 0 && more != NULL && more->integer != 0;
}

static bool take_stale(valkey_engine *engine, hub_state_job *job, hub_str name,
                       hub_state_record *record)
{
    hub_state_record kept;
    hub_str kept_name;
    const char *current = hub_state_keys_id(engine->options.keys);
    if (!record->is_secret || hub_str_is(record->key_id, current)) {
        return true;
    }
    if (record->key_id.len > 0 && !open_kept(engine, job, record)) {
        return false;
    }
    if (!hub_state_job_keep(job, name, &kept_name) || !valkey_read_name(kept_name, &kept) ||
        !hub_state_job_keep(job, record->document, &record->document)) {
        return false;
    }
    kept = (hub_state_record){.scope = kept.scope,
                              .kind = kept.kind,
                              .owner = kept.owner,
                              .key = kept.key,
                              .is_secret = true,
                              .document = record->document};
    job->report.sealed++;
    return plan_one(job, &kept, kept_name, record->version);
}

static void on_stale_page(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    if (take_page(engine, job, reply, take_stale)) {
        next_page(engine, job, on_stale_page);
    } else if (job->error.code != HUB_OK) {
        valkey_finish(engine, job);
    } else {
        write_plan(engine, job);
    }
}

void valkey_rekey(valkey_engine *engine, hub_state_job *job)
{
    if (engine->options.keys == NULL) {
        (void)hub_fail(&job->error, HUB_EDENIED,
                       "there is no key to encrypt with: name one with `state: {key: FILE}`, or "
                       "in " HUB_STATE_KEY_VARIABLE);
        valkey_finish(engine, job);
    } else if (begin(engine, job, valkey_rekey)) {
        next_page(engine, job, on_stale_page);
    }
}

static bool count_one(valkey_engine *engine, hub_state_job *job, hub_str name,
                      hub_state_record *record)
{
    hub_buf opened;
    (void)name;
    job->report.records++;
    if (record->is_secret && record->key_id.len == 0) {
        job->report.plain++;
    } else if (record->is_secret) {
        hub_buf_init_secret(&opened, OPENED_BYTES);
        job->report.sealed++;
        job->report.unreadable +=
            hub_state_open(engine->options.keys, record, &opened, NULL) != HUB_OK;
        hub_buf_fini(&opened);
    }
    return true;
}

static void on_checked_page(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    if (take_page(engine, job, reply, count_one)) {
        next_page(engine, job, on_checked_page);
        return;
    }
    job->report.journal = "";
    job->report.safety = "a shared store has encrypted secrets only";
    if (job->error.code == HUB_OK && job->report.epoch[0] == '\0') {
        (void)hub_fail(&job->error, HUB_ENOTFOUND, "there are no records yet");
    }
    valkey_finish(engine, job);
}

void valkey_check(valkey_engine *engine, hub_state_job *job)
{
    if (begin(engine, job, valkey_check)) {
        next_page(engine, job, on_checked_page);
    }
}
