/* SPDX-License-Identifier: Apache-2.0 */
/* How records get from the loop to the writer's thread, and from there into the file. */
#include "base/limits.h"
#include "base/log.h"
#include "hub/audit/audit_internal.h"

#include <stdlib.h>

enum {
    BATCH_RECORDS = 128,
    RETRY_MS = 1000, /* a file that could not be written is tried again after this */
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

/* Open the file, and begin the chain behind what it ends with. */
static hub_err open_file(hub_audit *audit, const char *path, hub_error *reterr)
{
    hub_err err = path != NULL ? hub_audit_file_open(&audit->file, path, reterr)
                               : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    hub_buf end;
    hub_buf_init(&end, HUB_LIMIT_AUDIT_LINE_BYTES);
    if (err == HUB_OK && audit->chain.id[0] == '\0') {
        hub_audit_file_add_end(&audit->file, path, &end);
        hub_audit_chain_begin(&audit->chain, hub_buf_str(&end));
    }
    hub_buf_fini(&end);
    return err;
}

static hub_err write_lines(hub_audit *audit, const batch *some, hub_error *reterr)
{
    hub_buf lines;
    hub_err err = open_file(audit, some->path, reterr);
    if (err != HUB_OK) {
        return err;
    }
    hub_audit_chain chain = audit->chain; /* it goes on with what was written */
    hub_buf_init(&lines, SIZE_MAX / 4);
    if (some->untold > 0) {
        hub_audit_add_gap(some->untold, &chain, &lines);
    }
    for (const hub_audit_record *at = some->records.first; at != NULL; at = at->next) {
        hub_audit_record_add_line(at, &chain, &lines);
    }
    err = hub_buf_ok(&lines)
              ? hub_audit_file_write(&audit->file, some->path, hub_buf_str(&lines), reterr)
              : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    if (err == HUB_OK) {
        audit->chain = chain;
    }
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

void hub_audit_hand_over(hub_audit *audit, hub_audit_record *record)
{
    (void)pthread_mutex_lock(&audit->lock);
    bool has_room = audit->is_on && ((audit->keeps && !record->was_not_asked) ||
                                     audit->waiting.count < HUB_LIMIT_AUDIT_RECORDS);
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
    hub_audit_follow_events(audit, settings->is_on && path != NULL);
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

bool hub_audit_destroy(hub_audit *audit, unsigned timeout_ms)
{
    if (audit == NULL) {
        return true;
    }
    ev_timer_stop(audit->loop, &audit->retry);
    hub_audit_follow_events(audit, false);
    if (!hub_worker_pool_destroy(audit->writer, timeout_ms)) {
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
