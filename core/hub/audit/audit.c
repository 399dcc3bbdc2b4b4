/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/audit/audit.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/audit/audit_file.h"
#include "hub/audit/audit_record.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "modules/worker.h"

#include <pthread.h>
#include <stdlib.h>

enum {
    BATCH_RECORDS = 128,
    RETRY_MS = 1000, /* a file that could not be written is tried again after this */
};

typedef struct record_list {
    hub_audit_record *first;
    hub_audit_record *last; /* unless it is empty */
    size_t count;
} record_list;

struct hub_audit {
    struct ev_loop *loop;
    hub_worker_pool *writer; /* one thread */
    ev_async on_left;
    ev_timer retry;
    bool keeps_arguments;
    bool is_strict;
    size_t open; /* records of calls in flight */
    uint64_t refused;

    pthread_mutex_t lock; /* guards all that follows, but what is the writer's own */
    pthread_cond_t is_idle;
    record_list waiting;
    bool is_on;
    char *path; /* NULL: the log */
    bool keeps; /* strict: nothing is dropped */
    bool is_busy;
    bool is_failing;
    uint64_t written;
    uint64_t dropped;
    uint64_t untold; /* of them: the file does not say so yet */
    uint64_t lost;   /* since writing began to fail */

    hub_audit_file file; /* of the writer alone */
};

/* ---- lists ----------------------------------------------------------------------------------- */

static void append(record_list *list, hub_audit_record *record)
{
    record->next = NULL;
    if (list->first == NULL) {
        list->first = record;
    } else {
        list->last->next = record;
    }
    list->last = record;
    list->count++;
}

static hub_audit_record *take_first(record_list *list)
{
    hub_audit_record *record = list->first;
    if (record != NULL) {
        list->first = record->next;
        list->count--;
    }
    return record;
}

/* Put what was taken back before the rest. */
static void put_back(record_list *list, record_list *taken)
{
    if (taken->first != NULL) {
        taken->last->next = list->first;
        list->last = list->first != NULL ? list->last : taken->last;
        list->first = taken->first;
        list->count += taken->count;
        *taken = (record_list){.first = NULL};
    }
}

static void free_all(record_list *list)
{
    hub_audit_record *record;
    while ((record = take_first(list)) != NULL) {
        free(record);
    }
}

/* ---- the writer's thread --------------------------------------------------------------------- */

typedef struct batch {
    record_list records;
    uint64_t untold;
    char *path; /* NULL: to the log */
    bool is_file;
} batch;

/* Take what comes next. False when nothing waits: the writer is idle then. [worker] */
static bool take_batch(hub_audit *audit, batch *ret_batch)
{
    (void)pthread_mutex_lock(&audit->lock);
    *ret_batch = (batch){.untold = audit->untold, .is_file = audit->path != NULL};
    while (ret_batch->records.count < BATCH_RECORDS && audit->waiting.first != NULL) {
        append(&ret_batch->records, take_first(&audit->waiting));
    }
    bool has_any = ret_batch->records.count > 0;
    if (has_any && audit->path != NULL) {
        ret_batch->path = strdup(audit->path); /* NULL is noticed when it is written */
    }
    (void)pthread_mutex_unlock(&audit->lock);
    return has_any;
}

static hub_err write_lines(hub_audit *audit, const batch *some, hub_error *reterr)
{
    hub_buf lines;
    hub_buf_init(&lines, SIZE_MAX / 4);
    if (some->untold > 0) {
        hub_audit_add_gap(some->untold, &lines);
    }
    for (const hub_audit_record *at = some->records.first; at != NULL; at = at->next) {
        hub_audit_record_add_line(at, &lines);
    }
    hub_err err = hub_buf_ok(&lines) && some->path != NULL
                      ? hub_audit_file_write(&audit->file, some->path, hub_buf_str(&lines), reterr)
                      : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    hub_buf_fini(&lines);
    return err;
}

static void log_records(hub_audit *audit, const batch *some)
{
    hub_audit_file_close(&audit->file);
    for (const hub_audit_record *at = some->records.first; at != NULL; at = at->next) {
        hub_audit_record_log(at);
    }
}

/* Note what became of a batch. False when there is no point in going on. [worker] */
static bool settle(hub_audit *audit, batch *some, hub_err err, const hub_error *why)
{
    (void)pthread_mutex_lock(&audit->lock);
    bool was_failing = audit->is_failing;
    bool is_kept = err != HUB_OK && audit->keeps;
    uint64_t lost = audit->lost;
    audit->is_failing = err != HUB_OK;
    if (err == HUB_OK) {
        audit->written += some->records.count;
        audit->untold -= some->untold;
        audit->lost = 0;
    } else if (is_kept) {
        put_back(&audit->waiting, &some->records);
    } else {
        audit->dropped += some->records.count;
        audit->untold += some->records.count;
        audit->lost += some->records.count;
    }
    (void)pthread_mutex_unlock(&audit->lock);
    free_all(&some->records);
    if (err != HUB_OK && !was_failing) {
        hub_log(HUB_LOG_ERROR, "audit.failed", HUB_F_TEXT("reason", why->text),
                HUB_F_TEXT("effect", is_kept ? "calls are refused" : "records are dropped"));
    } else if (err == HUB_OK && was_failing) {
        hub_log(HUB_LOG_WARNING, "audit.recovered", HUB_F_INT("dropped", lost));
    }
    return !is_kept;
}

/* Write what waits, until there is no more or it cannot be written. [worker] */
static void write_all(void *arg)
{
    hub_audit *audit = arg;
    batch some;
    bool goes_on = true;
    while (goes_on && take_batch(audit, &some)) {
        hub_error why = {.code = HUB_OK};
        hub_err err = HUB_OK;
        if (some.is_file) {
            err = write_lines(audit, &some, &why);
        } else {
            log_records(audit, &some);
        }
        goes_on = settle(audit, &some, err, &why);
        free(some.path);
    }
}

/* Whether somebody has to go on, because records came when the last look was over. [worker] */
static void end_writing(void *arg, bool ran)
{
    hub_audit *audit = arg;
    (void)ran;
    (void)pthread_mutex_lock(&audit->lock);
    audit->is_busy = false;
    bool is_left = audit->waiting.first != NULL;
    (void)pthread_cond_broadcast(&audit->is_idle);
    (void)pthread_mutex_unlock(&audit->lock);
    if (is_left && ran) {
        ev_async_send(audit->loop, &audit->on_left);
    }
}

/* ---- the loop's side ------------------------------------------------------------------------- */

/* Have the writer look, unless it is at it. */
static void wake_writer(hub_audit *audit)
{
    (void)pthread_mutex_lock(&audit->lock);
    bool is_needed = !audit->is_busy && audit->waiting.first != NULL;
    audit->is_busy = audit->is_busy || is_needed;
    (void)pthread_mutex_unlock(&audit->lock);
    if (is_needed && hub_worker_submit(audit->writer, write_all, end_writing, audit) != HUB_OK) {
        end_writing(audit, false);
        ev_timer_again(audit->loop, &audit->retry);
    }
}

static void on_retry(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    ev_timer_stop(loop, timer);
    wake_writer(timer->data);
}

/* Some are left: they came late, which is to be looked after at once, or could not be written. */
static void on_left(struct ev_loop *loop, ev_async *async, int events)
{
    (void)events;
    hub_audit *audit = async->data;
    if (!hub_audit_count(audit).is_failing) {
        wake_writer(audit);
    } else if (!ev_is_active(&audit->retry)) {
        ev_timer_again(loop, &audit->retry);
    }
}

/* Hand a record over; it is dropped when too many wait, unless the audit is strict: then as many
 * calls were let in as there is room for. */
static void hand_over(hub_audit *audit, hub_audit_record *record)
{
    (void)pthread_mutex_lock(&audit->lock);
    bool has_room =
        audit->is_on && (audit->keeps || audit->waiting.count < HUB_LIMIT_AUDIT_RECORDS);
    bool waits_for_retry = audit->keeps && audit->is_failing;
    if (has_room) {
        append(&audit->waiting, record);
    } else if (audit->is_on) {
        audit->dropped++;
        audit->untold++;
        audit->lost++;
    }
    (void)pthread_mutex_unlock(&audit->lock);
    if (!has_room) {
        free(record);
    } else if (!waits_for_retry) {
        wake_writer(audit);
    }
}

/* ---- calls ----------------------------------------------------------------------------------- */

/* Why a strict audit lets no call in; NULL when it does. */
static const char *why_not(hub_audit *audit)
{
    (void)pthread_mutex_lock(&audit->lock);
    bool is_failing = audit->is_failing;
    bool is_full = audit->waiting.count + audit->open >= HUB_LIMIT_AUDIT_RECORDS;
    (void)pthread_mutex_unlock(&audit->lock);
    if (!audit->is_strict || (!is_failing && !is_full)) {
        return NULL;
    }
    return is_failing ? "the audit file cannot be written, and without a record there is no call "
                        "(log.audit_strict): whoever runs the hub finds the reason in its log"
                      : "too many records wait to be written to the audit file "
                        "(log.audit_strict): try again";
}

/* With a call. */
typedef struct audit_part {
    hub_audit *audit;
    hub_audit_record *record; /* NULL: none, for want of memory */
} audit_part;

hub_audit *hub_audit_of(const hub_orchestrator *hub)
{
    hub_audit *const *audit = hub_hub_part(hub, &HUB_AUDIT_STATION);
    return *audit;
}

static bool wants_hub(const hub_orchestrator *hub)
{
    return hub_settings_of(hub)->audit.is_on;
}

/* A call has begun: note what it is. Those about tasks are not noted: the call that made one was. */
static hub_verdict begin(hub_call *call, hub_way *way)
{
    hub_audit *audit = hub_audit_of(hub_toolset_hub(way->toolset));
    if (way->is_aside) {
        return HUB_GO_ON;
    }
    const char *reason = why_not(audit);
    hub_audit_record *record =
        reason == NULL ? hub_audit_record_create(hub_call_session(call), way->message,
                                                 hub_str_of(hub_toolset_key(way->toolset)),
                                                 way->name, audit->keeps_arguments)
                       : NULL;
    if (record == NULL && (reason != NULL || audit->is_strict)) {
        audit->refused++;
        hub_call_fail(call, PATCHBAY_UNAVAILABLE,
                      reason != NULL ? hub_str_of(reason) : HUB_STR("out of memory"));
        return HUB_ANSWERED;
    }
    audit_part *part = hub_call_part_of(call, &HUB_AUDIT_STATION);
    part->audit = audit;
    part->record = record;
    audit->open += record != NULL;
    return HUB_GO_ON;
}

static const char *outcome_word(const hub_call *call, const hub_outcome *outcome)
{
    static const char *const WORDS[] = {
        [PATCHBAY_RESULT] = "ok",
        [PATCHBAY_RPC_ERROR] = "error",
        [PATCHBAY_NOT_IMPLEMENTED] = "not_implemented",
        [PATCHBAY_INVALID_INPUT] = "invalid_input",
        [PATCHBAY_UNAVAILABLE] = "unavailable",
        [PATCHBAY_FAILED] = "failed",
    };
    if (outcome == NULL) {
        return "cancelled";
    }
    if (outcome->is_refused) {
        return "refused";
    }
    if (outcome->status == PATCHBAY_RESULT && hub_outcome_is_error(call, outcome)) {
        return "tool_error";
    }
    bool is_known = outcome->status >= 0 && outcome->status <= PATCHBAY_FAILED;
    return is_known ? WORDS[outcome->status] : "failed";
}

static void end(hub_call *call, const hub_outcome *outcome)
{
    audit_part *part = hub_call_find_part(call, &HUB_AUDIT_STATION);
    hub_audit_record *record = part != NULL ? part->record : NULL;
    if (record == NULL) {
        return;
    }
    part->record = NULL;
    part->audit->open--;
    record->ended_ms = hub_clock_wall_ms();
    record->took_us = hub_clock_now_us() - record->begin_us;
    record->outcome = outcome_word(call, outcome);
    if (outcome != NULL && outcome->status == PATCHBAY_RPC_ERROR) {
        (void)hub_json_to_i64(hub_json_get(outcome->json, HUB_STR("code")), &record->code);
    }
    hand_over(part->audit, record);
}

void hub_audit_refused(const hub_request *request, hub_str toolset, hub_str name)
{
    hub_audit *audit = hub_audit_of(hub_session_hub(request->session));
    hub_audit_record *record = audit->is_on && why_not(audit) == NULL
                                   ? hub_audit_record_create(request->session, request->message,
                                                             toolset, name, audit->keeps_arguments)
                                   : NULL;
    if (record != NULL) {
        record->ended_ms = hub_clock_wall_ms();
        record->outcome = "refused";
        hand_over(audit, record);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static void add_source(const hub_audit_settings *settings, hub_error *reterr)
{
    hub_error_prefix(reterr, "%s", settings->source != NULL ? settings->source : "log.audit");
}

hub_err hub_audit_probe(const hub_audit_settings *settings, hub_error *reterr)
{
    if (settings->file == NULL) {
        return HUB_OK;
    }
    hub_audit_file file = {.fd = -1};
    hub_err err = hub_audit_file_open(&file, settings->file, reterr);
    if (err != HUB_OK) {
        add_source(settings, reterr);
    }
    hub_audit_file_close(&file);
    return err;
}

hub_err hub_audit_check(const hub_audit_settings *settings, hub_error *reterr)
{
    hub_err err = settings->file != NULL ? hub_audit_file_check(settings->file, reterr) : HUB_OK;
    if (err != HUB_OK) {
        add_source(settings, reterr);
    }
    return err;
}

void hub_audit_configure(hub_audit *audit, const hub_audit_settings *settings)
{
    char *path = settings->file != NULL ? strdup(settings->file) : NULL;
    bool has_path = settings->file == NULL || path != NULL;
    if (!has_path) {
        hub_log(HUB_LOG_ERROR, "audit.not_changed", HUB_F_TEXT("reason", "out of memory"));
        return;
    }
    (void)pthread_mutex_lock(&audit->lock);
    free(audit->path);
    audit->path = path;
    audit->keeps = settings->is_strict && path != NULL;
    audit->is_on = settings->is_on;
    if (audit->keeps && audit->waiting.first == NULL) {
        audit->is_failing = false; /* no call would be let in, so nothing would find it out */
    }
    (void)pthread_mutex_unlock(&audit->lock);
    audit->is_strict = settings->is_strict && path != NULL;
    audit->keeps_arguments = settings->has_arguments;
    wake_writer(audit); /* what could not be written may be now */
}

hub_err hub_audit_create(struct ev_loop *loop, const hub_audit_settings *settings,
                         hub_audit **ret_audit, hub_error *reterr)
{
    hub_audit *audit = calloc(1, sizeof *audit);
    if (audit == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_err err = hub_worker_pool_create(1, &audit->writer, reterr);
    if (err != HUB_OK) {
        free(audit);
        return err;
    }
    audit->loop = loop;
    audit->file.fd = -1;
    (void)pthread_mutex_init(&audit->lock, NULL); /* these cannot fail on Linux */
    (void)pthread_cond_init(&audit->is_idle, NULL);
    ev_async_init(&audit->on_left, on_left);
    audit->on_left.data = audit;
    ev_async_start(loop, &audit->on_left);
    ev_unref(loop); /* it keeps no loop running */
    ev_timer_init(&audit->retry, on_retry, 0., RETRY_MS / 1000.);
    audit->retry.data = audit;
    hub_audit_configure(audit, settings);
    *ret_audit = audit;
    return HUB_OK;
}

bool hub_audit_destroy(hub_audit *audit)
{
    if (audit == NULL) {
        return true;
    }
    ev_timer_stop(audit->loop, &audit->retry);
    if (!hub_worker_pool_destroy(audit->writer, HUB_LIMIT_AUDIT_END_MS)) {
        return false;
    }
    write_all(audit); /* what was handed over meanwhile, and a last attempt at the rest */
    hub_audit_numbers left = hub_audit_count(audit);
    if (left.waiting > 0) {
        hub_log(HUB_LOG_ERROR, "audit.lost", HUB_F_INT("records", left.waiting));
    }
    ev_ref(audit->loop);
    ev_async_stop(audit->loop, &audit->on_left);
    free_all(&audit->waiting);
    hub_audit_file_close(&audit->file);
    (void)pthread_cond_destroy(&audit->is_idle);
    (void)pthread_mutex_destroy(&audit->lock);
    free(audit->path);
    free(audit);
    return true;
}

hub_audit_numbers hub_audit_count(hub_audit *audit)
{
    (void)pthread_mutex_lock(&audit->lock);
    hub_audit_numbers numbers = {
        .written = audit->written,
        .dropped = audit->dropped,
        .refused = audit->refused,
        .waiting = audit->waiting.count,
        .is_failing = audit->is_failing,
    };
    (void)pthread_mutex_unlock(&audit->lock);
    return numbers;
}

void hub_audit_flush(hub_audit *audit)
{
    wake_writer(audit);
    (void)pthread_mutex_lock(&audit->lock);
    while (audit->is_busy) {
        (void)pthread_cond_wait(&audit->is_idle, &audit->lock);
    }
    (void)pthread_mutex_unlock(&audit->lock);
}

/* ---- the station ----------------------------------------------------------------------------- */

static hub_err begin_hub(hub_orchestrator *hub, hub_error *reterr)
{
    hub_audit **audit = hub_hub_part(hub, &HUB_AUDIT_STATION);
    return hub_audit_create(hub_loop(hub), &hub_settings_of(hub)->audit, audit, reterr);
}

bool hub_audit_finish(hub_orchestrator *hub)
{
    hub_audit **audit = hub_hub_part(hub, &HUB_AUDIT_STATION);
    hub_audit *last = *audit;
    *audit = NULL;
    return hub_audit_destroy(last);
}

static void configure(hub_orchestrator *hub)
{
    hub_audit_configure(hub_audit_of(hub), &hub_settings_of(hub)->audit);
}

static hub_station_place place;

const hub_station HUB_AUDIT_STATION = {
    .name = "audit",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_audit *), [HUB_PART_CALL] = sizeof(audit_part)},
    .wants_hub = wants_hub,
    .begin = begin,
    .end = end,
    .refuse = hub_audit_note_refused,
    .hub_begins = begin_hub,
    .settings_changed = configure,
};
