/* SPDX-License-Identifier: Apache-2.0 */
/* Jobs of one record, or of a page: as commands, and their answers as results. */
#include "engine.h"

#include "base/digest.h"
#include "base/limits.h"

#include <stdarg.h>
#include <stdio.h>
#include <sys/random.h>

enum {
    PARTS = 4, /* of a name */
    VALUE_BYTES = 1024 * 1024,
    MOST_RESERVED = 8, /* numbers that one write reserves, while others write the same record */
};

/* Limits as texts. */
#define DIGITS(limit) #limit
#define TEXT(limit)   HUB_STR(DIGITS(limit))

/* ---- replies --------------------------------------------------------------------------------- */

hub_str valkey_text(const redisReply *reply)
{
    bool is_text =
        reply != NULL && (reply->type == REDIS_REPLY_STRING || reply->type == REDIS_REPLY_STATUS ||
                          reply->type == REDIS_REPLY_ERROR);
    return is_text ? (hub_str){.ptr = reply->str, .len = reply->len} : HUB_STR_EMPTY;
}

size_t valkey_count(const redisReply *reply)
{
    return reply != NULL && reply->type == REDIS_REPLY_ARRAY ? reply->elements : 0;
}

const redisReply *valkey_element(const redisReply *reply, size_t at)
{
    return at < valkey_count(reply) ? reply->element[at] : NULL;
}

uint64_t valkey_number(hub_str text)
{
    uint64_t number = 0;
    for (size_t i = 0; i < text.len && text.ptr[i] >= '0' && text.ptr[i] <= '9' && i < 18; i++) {
        number = number * 10 + (uint64_t)(text.ptr[i] - '0');
    }
    return number;
}

/* ---- texts ----------------------------------------------------------------------------------- */

hub_str valkey_format(hub_state_job *job, const char *format, ...)
{
    char text[64];
    va_list args;
    va_start(args, format);
    int len = vsnprintf(text, sizeof text, format, args);
    va_end(args);
    hub_str kept = HUB_STR_EMPTY;
    (void)(len > 0 && hub_state_job_keep(job, (hub_str){.ptr = text, .len = (size_t)len}, &kept));
    return kept;
}

/* Texts one behind the other, in the job's arena. */
static hub_str join(hub_state_job *job, const hub_str *texts, size_t count)
{
    size_t len = 0;
    for (size_t i = 0; i < count; i++) {
        len += texts[i].len;
    }
    char *joined = hub_arena_alloc(job->arena, len + 1);
    char *at = joined;
    if (joined == NULL) {
        (void)hub_fail(&job->error, HUB_ENOMEM, "out of memory");
        return HUB_STR_EMPTY;
    }
    for (size_t i = 0; i < count; i++) {
        (void)hub_str_put(&at, texts[i]);
    }
    return (hub_str){.ptr = joined, .len = len};
}

static const hub_str NUL = {.ptr = "\0", .len = 1};
static const hub_str ONE = {.ptr = "\1", .len = 1};

hub_str valkey_name(hub_state_job *job, const hub_state_record *record)
{
    const hub_str parts[] = {record->scope, NUL, record->kind, NUL,
                             record->owner, NUL, record->key};
    return join(job, parts, sizeof parts / sizeof parts[0]);
}

bool valkey_read_name(hub_str name, hub_state_record *ret_record)
{
    hub_str *const parts[PARTS] = {&ret_record->scope, &ret_record->kind, &ret_record->owner,
                                   &ret_record->key};
    size_t at = 0;
    hub_str rest = name;
    for (; at < PARTS - 1; at++) {
        const char *end = rest.len > 0 ? memchr(rest.ptr, '\0', rest.len) : NULL;
        if (end == NULL) {
            return false;
        }
        *parts[at] = hub_str_between(rest.ptr, end);
        rest = hub_str_from(rest, parts[at]->len + 1);
    }
    *parts[at] = rest;
    return true;
}

/* "VERSION SECRET KEY_ID DOCUMENT"; no key: "-". */
bool valkey_read_value(hub_str value, hub_state_record *ret_record)
{
    hub_str parts[3];
    hub_str rest = value;
    for (size_t i = 0; i < 3; i++) {
        size_t end = hub_str_find(rest, HUB_STR(" "));
        if (end >= rest.len) {
            return false;
        }
        parts[i] = (hub_str){.ptr = rest.ptr, .len = end};
        rest = hub_str_from(rest, end + 1);
    }
    ret_record->version = valkey_number(parts[0]);
    ret_record->is_secret = hub_str_is(parts[1], "1");
    ret_record->key_id = hub_str_is(parts[2], "-") ? HUB_STR_EMPTY : parts[2];
    ret_record->document = rest;
    return ret_record->version > 0;
}

/* Why a secret is refused. */
static bool refuse_plain(hub_state_job *job)
{
    (void)hub_fail(&job->error, HUB_EDENIED,
                   "a secret cannot be kept: a shared store has encrypted secrets only. Give the "
                   "store a key (`state: {url: …, key: FILE}`)");
    return false;
}

bool valkey_make_rest(valkey_engine *engine, hub_state_job *job, const hub_state_record *record,
                      hub_str *ret_rest)
{
    hub_str parts[] = {HUB_STR(" 0 - "), record->document, HUB_STR_EMPTY};
    hub_buf sealed;
    hub_buf_init(&sealed, VALUE_BYTES);
    if (record->is_secret && engine->options.keys == NULL) {
        return refuse_plain(job);
    }
    if (record->is_secret) {
        if (hub_state_seal(engine->options.keys, record, &sealed, &job->error) != HUB_OK) {
            hub_buf_fini(&sealed);
            return false;
        }
        parts[0] = valkey_format(job, " 1 %s ", hub_state_keys_id(engine->options.keys));
        parts[1] = hub_buf_str(&sealed);
    }
    *ret_rest = join(job, parts, 2);
    hub_buf_fini(&sealed);
    return ret_rest->len > 0;
}

hub_str valkey_epoch(hub_state_job *job)
{
    unsigned char bytes[HUB_DIGEST_BYTES] = {0};
    char hex[HUB_DIGEST_HEX_BYTES];
    if (getrandom(bytes, sizeof bytes, 0) != (ssize_t)sizeof bytes) {
        (void)hub_fail(&job->error, HUB_EUNAVAILABLE, "no random numbers can be had");
        return HUB_STR_EMPTY;
    }
    hub_digest_hex(bytes, hex);
    return valkey_format(job, "%.32s", hex);
}

/* ---- results --------------------------------------------------------------------------------- */

static bool refuse_damaged(hub_state_job *job)
{
    (void)hub_fail(&job->error, HUB_EUNAVAILABLE,
                   "a record in the store is damaged, or another program's: look with `patchbay "
                   "state check`");
    return false;
}

/* Add a record to what was found, opened if it is sealed. */
static bool add_opened(valkey_engine *engine, hub_state_job *job, hub_state_record *record)
{
    hub_buf opened;
    if (record->is_secret && record->key_id.len == 0) {
        return refuse_plain(job);
    }
    hub_buf_init_secret(&opened, VALUE_BYTES);
    bool is_opened = true;
    if (record->key_id.len > 0) {
        is_opened = hub_state_open(engine->options.keys, record, &opened, &job->error) == HUB_OK;
        record->document = hub_buf_str(&opened);
    }
    is_opened = is_opened && hub_state_job_add(job, record);
    hub_buf_fini(&opened);
    return is_opened;
}

static void add_conflict(valkey_engine *engine, hub_state_job *job, hub_str there)
{
    hub_state_record record = job->record;
    record.version = 0;
    record.document = HUB_STR_EMPTY;
    record.key_id = HUB_STR_EMPTY;
    bool is_added = there.len == 0                      ? hub_state_job_add(job, &record)
                    : valkey_read_value(there, &record) ? add_opened(engine, job, &record)
                                                        : refuse_damaged(job);
    if (is_added) {
        (void)hub_fail(&job->error, HUB_ECONFLICT,
                       "the record was changed by somebody else in the meantime");
    }
}

void valkey_refuse_room(hub_state_job *job, hub_str refusal, const hub_state_record *record)
{
    if (hub_str_is(refusal, "full")) {
        (void)hub_fail(&job->error, HUB_ELIMIT,
                       "the store has %u records, which is as many as it keeps",
                       HUB_LIMIT_STATE_RECORDS);
    } else {
        (void)hub_fail(&job->error, HUB_ELIMIT,
                       "\"" HUB_STR_FMT "\" has %d records of the kind " HUB_STR_FMT
                       ", which is as many as the store keeps of one owner: delete some",
                       HUB_STR_ARG(record->owner), HUB_LIMIT_STATE_RECORDS_PER_OWNER,
                       HUB_STR_ARG(record->kind));
    }
}

/* ---- get, put, delete ------------------------------------------------------------------------ */

static void on_got(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    hub_state_record record = job->record;
    hub_str value = valkey_text(reply);
    if (reply->type == REDIS_REPLY_NIL) {
        (void)hub_fail(&job->error, HUB_ENOTFOUND, "there is no such record");
    } else if (!valkey_read_value(value, &record)) {
        (void)refuse_damaged(job);
    } else {
        (void)add_opened(engine, job, &record); /* else the job says why */
    }
    valkey_finish(engine, job);
}

static void begin_get(valkey_engine *engine, hub_state_job *job)
{
    const hub_str args[] = {HUB_STR("get"), valkey_name(job, &job->record)};
    valkey_ask(engine, job, args, 2, HUB_LIMIT_STATE_COMMAND_MS, on_got);
}

static hub_str seen_text(hub_state_job *job)
{
    return job->seen == HUB_STATE_ANY ? HUB_STR("*")
                                      : valkey_format(job, "%llu", (unsigned long long)job->seen);
}

static void begin_reserving(valkey_engine *engine, hub_state_job *job);

static void on_put(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    hub_str said = valkey_text(valkey_element(reply, 0));
    hub_str more = valkey_text(valkey_element(reply, 1));
    if (hub_str_is(said, "again")) {
        begin_reserving(engine, job); /* somebody else has a newer number */
        return;
    }
    if (hub_str_is(said, "ok")) {
        hub_state_record record = job->record;
        record.version = valkey_number(more);
        record.document = HUB_STR_EMPTY;
        bool is_added = hub_state_job_add(job, &record);
        (void)is_added; /* else the job says why */
    } else if (hub_str_is(said, "conflict")) {
        add_conflict(engine, job, more);
    } else {
        valkey_refuse_room(job, said, &job->record);
    }
    valkey_finish(engine, job);
}

/* `version` empty: the server gives one. */
static void ask_put(valkey_engine *engine, hub_state_job *job, hub_str version)
{
    hub_str rest;
    if (!valkey_make_rest(engine, job, &job->record, &rest)) {
        valkey_finish(engine, job);
        return;
    }
    const hub_str args[] = {
        HUB_STR("put"),
        valkey_name(job, &job->record),
        seen_text(job),
        version,
        rest,
        valkey_epoch(job),
        valkey_format(job, "%u", HUB_LIMIT_STATE_RECORDS),
        valkey_format(job, "%u", HUB_LIMIT_STATE_RECORDS_PER_OWNER),
    };
    if (job->error.code != HUB_OK) {
        valkey_finish(engine, job);
        return;
    }
    valkey_ask(engine, job, args, sizeof args / sizeof args[0], HUB_LIMIT_STATE_COMMAND_MS, on_put);
}

static void on_reserved(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    job->record.version = valkey_number(valkey_text(reply));
    ask_put(engine, job, valkey_format(job, "%llu", (unsigned long long)job->record.version));
}

/* A secret is sealed for its version, so that has to be known before. */
static void begin_reserving(valkey_engine *engine, hub_state_job *job)
{
    unsigned *tries =
        job->at_work != NULL ? job->at_work : hub_arena_alloc(job->arena, sizeof *tries);
    if (tries != NULL && job->at_work == NULL) {
        *tries = 0;
        job->at_work = tries;
    }
    if (tries == NULL || ++*tries > MOST_RESERVED) {
        valkey_fail(engine, job, tries == NULL ? HUB_ENOMEM : HUB_EUNAVAILABLE,
                    tries == NULL ? "out of memory" : "others write the same record all the time");
        return;
    }
    const hub_str args[] = {HUB_STR("reserve"), HUB_STR("1")};
    valkey_ask(engine, job, args, 2, HUB_LIMIT_STATE_COMMAND_MS, on_reserved);
}

static void begin_put(valkey_engine *engine, hub_state_job *job)
{
    if (!job->record.is_secret) {
        ask_put(engine, job, HUB_STR_EMPTY);
    } else if (engine->options.keys == NULL) {
        (void)refuse_plain(job);
        valkey_finish(engine, job);
    } else {
        begin_reserving(engine, job);
    }
}

static void on_deleted(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    hub_str said = valkey_text(valkey_element(reply, 0));
    if (hub_str_is(said, "missing")) {
        (void)hub_fail(&job->error, HUB_ENOTFOUND, "there is no such record");
    } else if (!hub_str_is(said, "ok")) {
        add_conflict(engine, job, valkey_text(valkey_element(reply, 1)));
    }
    valkey_finish(engine, job);
}

static void begin_delete(valkey_engine *engine, hub_state_job *job)
{
    const hub_str args[] = {HUB_STR("delete"), valkey_name(job, &job->record), seen_text(job),
                            TEXT(HUB_LIMIT_STATE_DELETIONS)};
    valkey_ask(engine, job, args, 4, HUB_LIMIT_STATE_COMMAND_MS, on_deleted);
}

/* ---- pages ----------------------------------------------------------------------------------- */

static void on_page(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    const redisReply *page = valkey_element(reply, 2);
    const redisReply *more = valkey_element(reply, 0);
    hub_str epoch = valkey_text(valkey_element(reply, 1));
    bool is_raw = job->verb == HUB_STATE_SCAN && !job->is_of_all; /* sealed as it is */
    bool is_good = true;
    (void)snprintf(job->report.epoch, sizeof job->report.epoch, HUB_STR_FMT, HUB_STR_ARG(epoch));
    job->has_more = more != NULL && more->type == REDIS_REPLY_INTEGER && more->integer != 0;
    for (size_t i = 0; is_good && i + 1 < valkey_count(page); i += 2) {
        hub_state_record record = {.version = 0};
        if (!valkey_read_name(valkey_text(page->element[i]), &record) ||
            !valkey_read_value(valkey_text(page->element[i + 1]), &record)) {
            is_good = refuse_damaged(job);
        } else {
            is_good = is_raw ? hub_state_job_add(job, &record) : add_opened(engine, job, &record);
        }
    }
    valkey_finish(engine, job);
}

static void begin_page(valkey_engine *engine, hub_state_job *job)
{
    const hub_state_record *at = &job->record; /* the one to go on behind */
    bool is_scan = job->verb == HUB_STATE_SCAN;
    const hub_str low[] = {HUB_STR("("), valkey_name(job, at)};
    const hub_str high[] = {HUB_STR("("), at->scope, NUL, at->kind, ONE};
    const hub_str own[] = {HUB_STR("("), at->scope, NUL, at->kind, NUL, at->owner, ONE};
    const hub_str args[] = {
        HUB_STR("page"),
        join(job, low, 2),
        is_scan          ? HUB_STR("+")
        : job->is_of_all ? join(job, high, sizeof high / sizeof high[0])
                         : join(job, own, sizeof own / sizeof own[0]),
        TEXT(HUB_LIMIT_STATE_PAGE),
        valkey_format(job, "%u", HUB_LIMIT_STATE_PAGE_BYTES),
    };
    valkey_ask(engine, job, args, sizeof args / sizeof args[0],
               is_scan ? HUB_LIMIT_STATE_ADMIN_MS : HUB_LIMIT_STATE_COMMAND_MS, on_page);
}

/* ---- looking what has changed ---------------------------------------------------------------- */

static void on_looked(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    hub_str said = valkey_text(valkey_element(reply, 0));
    hub_str epoch = valkey_text(valkey_element(reply, 1));
    const redisReply *told = valkey_element(reply, 3);
    const redisReply *more = valkey_element(reply, 4);
    bool is_good = true;
    bool is_new = job->seen == HUB_STATE_ANY && epoch.len == 0;
    job->event = hub_str_is(said, "other")            ? HUB_STATE_OTHER
                 : hub_str_is(said, "all") && !is_new ? HUB_STATE_UNKNOWN
                                                      : HUB_STATE_CHANGED;
    job->seen = valkey_number(valkey_text(valkey_element(reply, 2)));
    job->has_more = more != NULL && more->type == REDIS_REPLY_INTEGER && more->integer != 0;
    (void)snprintf(job->epoch, sizeof job->epoch, HUB_STR_FMT, HUB_STR_ARG(epoch));
    for (size_t i = 0; is_good && i + 2 < valkey_count(told); i += 3) {
        hub_state_record record = {.version = 0};
        is_good = valkey_read_name(valkey_text(told->element[i]), &record);
        record.is_gone = hub_str_is(valkey_text(told->element[i + 1]), "1");
        record.version = valkey_number(valkey_text(told->element[i + 2]));
        is_good = is_good ? hub_state_job_add(job, &record) : refuse_damaged(job);
    }
    valkey_finish(engine, job);
}

static void begin_look(valkey_engine *engine, hub_state_job *job)
{
    const hub_str args[] = {
        HUB_STR("look"),
        hub_str_of(job->epoch),
        job->seen == HUB_STATE_ANY ? HUB_STR_EMPTY
                                   : valkey_format(job, "%llu", (unsigned long long)job->seen),
        TEXT(HUB_LIMIT_STATE_PAGE),
    };
    valkey_ask(engine, job, args, 4, HUB_LIMIT_STATE_COMMAND_MS, on_looked);
}

/* ---- limits ---------------------------------------------------------------------------------- */

static void on_taken(valkey_engine *engine, hub_state_job *job, const redisReply *reply)
{
    uint64_t wait_ms = (valkey_number(valkey_text(valkey_element(reply, 0))) + 999) / 1000;
    uint64_t over = valkey_number(valkey_text(valkey_element(reply, 1)));
    job->wait_ms = wait_ms < UINT32_MAX ? (uint32_t)wait_ms : UINT32_MAX;
    job->over = over < job->limit_count ? (size_t)over : 0;
    valkey_finish(engine, job);
}

static void begin_take(valkey_engine *engine, hub_state_job *job)
{
    hub_str args[1 + 3 * HUB_LIMIT_STATE_TAKES] = {HUB_STR("take")};
    for (size_t i = 0; i < job->limit_count; i++) {
        const hub_state_limit *limit = &job->limits[i];
        const hub_str name[] = {HUB_STR("patchbay:rate:"), job->record.scope, NUL, limit->name};
        args[1 + 3 * i] = join(job, name, sizeof name / sizeof name[0]);
        args[2 + 3 * i] = valkey_format(job, "%.3f", 1e6 / limit->per_second);
        args[3 + 3 * i] = valkey_format(job, "%u", limit->at_once);
    }
    if (job->error.code != HUB_OK) {
        valkey_finish(engine, job);
        return;
    }
    valkey_ask(engine, job, args, 1 + 3 * job->limit_count, HUB_LIMIT_STATE_COMMAND_MS, on_taken);
}

/* ---- all of them ----------------------------------------------------------------------------- */

static const struct {
    void (*begin)(valkey_engine *engine, hub_state_job *job);
    bool is_long;
} VERBS[] = {
    [HUB_STATE_GET] = {begin_get, false},       [HUB_STATE_LIST] = {begin_page, false},
    [HUB_STATE_PUT] = {begin_put, false},       [HUB_STATE_DELETE] = {begin_delete, false},
    [HUB_STATE_LOOK] = {begin_look, false},     [HUB_STATE_SCAN] = {begin_page, false},
    [HUB_STATE_IMPORT] = {valkey_import, true}, [HUB_STATE_REKEY] = {valkey_rekey, true},
    [HUB_STATE_CHECK] = {valkey_check, true},   [HUB_STATE_TAKE] = {begin_take, false},
};

bool valkey_is_long(const valkey_engine *engine, const hub_state_job *job)
{
    (void)engine;
    return VERBS[job->verb].is_long || (job->verb == HUB_STATE_PUT && job->record.is_secret);
}

void valkey_begin(valkey_engine *engine, hub_state_job *job)
{
    VERBS[job->verb].begin(engine, job);
}
