/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The store: what is the same for every engine. It checks what is asked, makes jobs of it, hands
 * the results over on the loop, follows changes, and knows how the engine is.
 */
#include "state/store.h"

#include "base/limits.h"
#include "state/address.h"
#include "state/names.h"
#include "state/store_internal.h"

#include <stdio.h>
#include <stdlib.h>

enum { JOB_BYTES = 512 * 1024 * 1024 /* an import of the largest kind, and no more */ };

#define OWN HUB_STR("the hub") /* whose operations are nobody's; no principal has that name */

/* ---- jobs ------------------------------------------------------------------------------------ */

static void free_job(hub_state_job *job)
{
    hub_share_give(job->share, 1);
    hub_arena_wipe(job->arena); /* it has secrets as they are before they are sealed */
    free(job);
}

static hub_err refuse(const hub_store *store, hub_str owner, hub_err err, hub_error *reterr)
{
    if (err == HUB_ENOMEM) {
        return hub_fail(reterr, err, "out of memory");
    }
    return hub_fail(reterr, err,
                    "%zu operations of \"" HUB_STR_FMT
                    "\" wait for the store already, as many as it may "
                    "have: try later",
                    hub_pool_own(&store->jobs, owner), HUB_STR_ARG(owner));
}

hub_err hub_store_make_job(hub_store *store, hub_state_verb verb, hub_str owner,
                           hub_state_job **ret_job, hub_error *reterr)
{
    if (store->is_ending) {
        return hub_fail(reterr, HUB_ESTATE, "the store has ended");
    }
    hub_share *share = NULL;
    hub_err err = hub_pool_take(&store->jobs, owner.len > 0 ? owner : OWN, 1, &share);
    if (err != HUB_OK) {
        return refuse(store, owner.len > 0 ? owner : OWN, err, reterr);
    }
    hub_state_job *job = calloc(1, sizeof *job);
    if (job == NULL || (job->arena = hub_arena_create(JOB_BYTES)) == NULL) {
        hub_share_give(share, 1);
        free(job);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    job->share = share;
    job->verb = verb;
    job->store = store;
    *ret_job = job;
    return HUB_OK;
}

void hub_store_submit(hub_store *store, hub_state_job *job)
{
    store->waiting++;
    store->engine->submit(store->engine_state, job);
}

void hub_state_job_done(hub_state_job *job)
{
    hub_store *store = job->store;
    (void)pthread_mutex_lock(&store->lock);
    job->next = NULL;
    if (store->last != NULL) {
        store->last->next = job;
    } else {
        store->first = job;
    }
    store->last = job;
    /* Within the lock: whoever ends the store takes it once more before the watcher goes. */
    ev_async_send(store->loop, &store->wake);
    (void)pthread_mutex_unlock(&store->lock);
}

static hub_state_job *take_done(hub_store *store)
{
    (void)pthread_mutex_lock(&store->lock);
    hub_state_job *job = store->first;
    if (job != NULL) {
        store->first = job->next;
        store->last = job->next != NULL ? store->last : NULL;
    }
    (void)pthread_mutex_unlock(&store->lock);
    return job;
}

/* ---- health ---------------------------------------------------------------------------------- */

hub_state_health hub_store_health(const hub_store *store)
{
    return (hub_state_health){
        .condition = store->condition,
        .engine = store->engine->name,
        .place = store->place,
        .reason = store->reason,
        .notice = store->notice,
        .has_key = store->keys != NULL,
    };
}

void hub_store_set_health(hub_store *store, hub_state_condition condition, const char *reason,
                          const char *notice)
{
    if (store->condition == condition && strcmp(store->reason, reason) == 0 &&
        strcmp(store->notice, notice) == 0) {
        return;
    }
    bool is_back = store->condition == HUB_STATE_UNAVAILABLE && condition == HUB_STATE_OK;
    store->condition = condition;
    (void)snprintf(store->reason, sizeof store->reason, "%s", reason);
    (void)snprintf(store->notice, sizeof store->notice, "%s", notice);
    if (store->on_health != NULL) {
        hub_state_health health = hub_store_health(store);
        health.is_back = is_back;
        store->on_health(store->ctx, &health);
    }
}

static void note_health(hub_store *store, const hub_state_job *job)
{
    if (store->condition == HUB_STATE_OFF || job->error.code == HUB_ENOMEM) {
        return;
    }
    bool is_down = job->error.code == HUB_EUNAVAILABLE;
    hub_store_set_health(store, is_down ? HUB_STATE_UNAVAILABLE : HUB_STATE_OK,
                         is_down ? job->error.text : "",
                         job->notice[0] != '\0' ? job->notice : store->notice);
}

/* ---- operations ------------------------------------------------------------------------------ */

static hub_err begin(hub_store *store, hub_state_verb verb, hub_str owner,
                     const hub_state_record *record, hub_state_job **ret_job, hub_error *reterr)
{
    hub_state_job *job = NULL;
    hub_err err = hub_store_make_job(store, verb, owner, &job, reterr);
    if (err != HUB_OK) {
        return err;
    }
    job->record = *record;
    if (!hub_state_job_keep(job, record->scope, &job->record.scope) ||
        !hub_state_job_keep(job, record->kind, &job->record.kind) ||
        !hub_state_job_keep(job, record->owner, &job->record.owner) ||
        !hub_state_job_keep(job, record->key, &job->record.key) ||
        !hub_state_job_keep(job, record->document, &job->record.document)) {
        free_job(job);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    *ret_job = job;
    return HUB_OK;
}

static void start(hub_state_job *job, hub_state_done on_done, void *ctx, hub_state_op **ret_op)
{
    job->on_done = on_done;
    job->ctx = ctx;
    if (ret_op != NULL) {
        *ret_op = (hub_state_op *)job;
    }
    hub_store_submit(job->store, job);
}

static hub_err begin_for(hub_store *store, hub_state_verb verb, const hub_state_id *id,
                         hub_str document, hub_state_job **ret_job, hub_error *reterr)
{
    const hub_state_record record = {
        .scope = hub_str_of(store->scope),
        .kind = hub_str_of(id->kind->name),
        .owner = id->owner,
        .key = id->key,
        .document = document,
        .is_secret = id->kind->is_secret,
    };
    hub_err err = hub_state_check_name(&record, reterr);
    return err == HUB_OK ? begin(store, verb, id->owner, &record, ret_job, reterr) : err;
}

hub_err hub_state_get(hub_store *store, const hub_state_id *id, hub_state_done on_done, void *ctx,
                      hub_state_op **ret_op, hub_error *reterr)
{
    hub_state_job *job = NULL;
    hub_err err = begin_for(store, HUB_STATE_GET, id, HUB_STR_EMPTY, &job, reterr);
    if (err == HUB_OK) {
        start(job, on_done, ctx, ret_op);
    }
    return err;
}

hub_err hub_state_list(hub_store *store, const hub_state_range *range, hub_state_done on_done,
                       void *ctx, hub_state_op **ret_op, hub_error *reterr)
{
    hub_state_job *job = NULL;
    const hub_state_record after = {
        .scope = hub_str_of(store->scope),
        .kind = hub_str_of(range->kind->name),
        .owner = range->is_of_all ? range->after_owner : range->owner,
        .key = range->after_key,
    };
    hub_err err = hub_state_check_range(&after, reterr);
    if (err == HUB_OK) {
        err = begin(store, HUB_STATE_LIST, range->is_of_all ? HUB_STR_EMPTY : range->owner, &after,
                    &job, reterr);
    }
    if (err == HUB_OK) {
        job->is_of_all = range->is_of_all;
        start(job, on_done, ctx, ret_op);
    }
    return err;
}

hub_err hub_state_put(hub_store *store, const hub_state_id *id, uint64_t seen, hub_str document,
                      hub_state_done on_done, void *ctx, hub_state_op **ret_op, hub_error *reterr)
{
    hub_state_job *job = NULL;
    size_t most = id->kind->most_bytes > 0 ? id->kind->most_bytes : HUB_LIMIT_STATE_DOCUMENT_BYTES;
    hub_err err = hub_state_check_document(document, most, reterr);
    if (err == HUB_OK) {
        err = begin_for(store, HUB_STATE_PUT, id, document, &job, reterr);
    }
    if (err == HUB_OK) {
        job->seen = seen;
        start(job, on_done, ctx, ret_op);
    }
    return err;
}

hub_err hub_state_delete(hub_store *store, const hub_state_id *id, uint64_t seen,
                         hub_state_done on_done, void *ctx, hub_state_op **ret_op,
                         hub_error *reterr)
{
    hub_state_job *job = NULL;
    hub_err err = begin_for(store, HUB_STATE_DELETE, id, HUB_STR_EMPTY, &job, reterr);
    if (err == HUB_OK) {
        job->seen = seen;
        start(job, on_done, ctx, ret_op);
    }
    return err;
}

void hub_state_cancel(hub_state_op *op)
{
    hub_state_job *job = (hub_state_job *)op;
    job->on_done = NULL;
    job->on_report = NULL;
    job->on_taken = NULL;
}

/* ---- limits that hubs share ------------------------------------------------------------------ */

bool hub_store_is_shared(const hub_store *store)
{
    return hub_state_address_is(hub_str_of(store->place));
}

hub_err hub_state_take(hub_store *store, hub_str whose, const hub_state_limit *limits, size_t count,
                       hub_state_taken on_taken, void *ctx, hub_state_op **ret_op,
                       hub_error *reterr)
{
    const hub_state_record record = {.scope = hub_str_of(store->scope)};
    hub_state_job *job = NULL;
    if (!hub_store_is_shared(store)) {
        return hub_fail(reterr, HUB_EINVAL, "no other hub uses this store");
    }
    if (count == 0 || count > HUB_LIMIT_STATE_TAKES) {
        return hub_fail(reterr, HUB_ELIMIT, "1 to %d limits at once", HUB_LIMIT_STATE_TAKES);
    }
    hub_err err = begin(store, HUB_STATE_TAKE, whose, &record, &job, reterr);
    if (err != HUB_OK) {
        return err;
    }
    job->limits = hub_arena_array(job->arena, count, sizeof *job->limits);
    bool is_kept = job->limits != NULL;
    for (size_t i = 0; is_kept && i < count; i++) {
        hub_assert(limits[i].per_second > 0 && limits[i].at_once > 0);
        job->limits[i] = limits[i];
        is_kept = hub_state_job_keep(job, limits[i].name, &job->limits[i].name);
    }
    if (!is_kept) {
        free_job(job);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    job->limit_count = count;
    job->on_taken = on_taken;
    start(job, NULL, ctx, ret_op);
    return HUB_OK;
}

/* ---- the whole store ------------------------------------------------------------------------- */

static void start_report(hub_state_job *job, hub_state_reported on_done, void *ctx)
{
    job->on_report = on_done;
    job->ctx = ctx;
    hub_store_submit(job->store, job);
}

hub_err hub_state_scan(hub_store *store, const hub_state_record *after, bool opened,
                       hub_state_reported on_done, void *ctx, hub_error *reterr)
{
    const hub_state_record first = {.version = 0};
    hub_state_job *job = NULL;
    hub_err err =
        begin(store, HUB_STATE_SCAN, HUB_STR_EMPTY, after != NULL ? after : &first, &job, reterr);
    if (err == HUB_OK) {
        job->is_of_all = opened;
        start_report(job, on_done, ctx);
    }
    return err;
}

static hub_err check_given(const hub_state_record *record, hub_error *reterr)
{
    hub_err err = hub_state_check_name(record, reterr);
    return err != HUB_OK || record->key_id.len > 0
               ? err
               : hub_state_check_document(record->document, HUB_LIMIT_STATE_LONG_DOCUMENT_BYTES,
                                          reterr);
}

static bool copy_given(hub_state_job *job, const hub_state_record *from, hub_state_record *to)
{
    *to = *from;
    return hub_state_job_keep(job, from->scope, &to->scope) &&
           hub_state_job_keep(job, from->kind, &to->kind) &&
           hub_state_job_keep(job, from->owner, &to->owner) &&
           hub_state_job_keep(job, from->key, &to->key) &&
           hub_state_job_keep(job, from->key_id, &to->key_id) &&
           hub_state_job_keep(job, from->document, &to->document);
}

hub_err hub_state_import(hub_store *store, const hub_state_record *records, size_t count,
                         hub_state_clash clash, hub_state_reported on_done, void *ctx,
                         hub_error *reterr)
{
    hub_state_job *job = NULL;
    if (count > HUB_LIMIT_STATE_IMPORT) {
        return hub_fail(reterr, HUB_ELIMIT, "more than %u records", HUB_LIMIT_STATE_IMPORT);
    }
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        err = check_given(&records[i], reterr);
    }
    if (err == HUB_OK) {
        err = hub_store_make_job(store, HUB_STATE_IMPORT, HUB_STR_EMPTY, &job, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    job->given = hub_arena_array(job->arena, count, sizeof *job->given);
    bool is_kept = job->given != NULL;
    for (size_t i = 0; is_kept && i < count; i++) {
        is_kept = copy_given(job, &records[i], &job->given[i]);
    }
    if (!is_kept) {
        free_job(job);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    job->given_count = count;
    job->clash = clash;
    start_report(job, on_done, ctx);
    return HUB_OK;
}

hub_err hub_state_rekey(hub_store *store, hub_state_reported on_done, void *ctx, hub_error *reterr)
{
    hub_state_job *job = NULL;
    hub_err err = hub_store_make_job(store, HUB_STATE_REKEY, HUB_STR_EMPTY, &job, reterr);
    if (err == HUB_OK) {
        start_report(job, on_done, ctx);
    }
    return err;
}

hub_err hub_state_check(hub_store *store, hub_state_reported on_done, void *ctx, hub_error *reterr)
{
    hub_state_job *job = NULL;
    hub_err err = hub_store_make_job(store, HUB_STATE_CHECK, HUB_STR_EMPTY, &job, reterr);
    if (err == HUB_OK) {
        start_report(job, on_done, ctx);
    }
    return err;
}

/* ---- completion ------------------------------------------------------------------------------ */

static void hand_over(hub_store *store, hub_state_job *job)
{
    const hub_state_result result = {
        .err = job->error.code,
        .why = job->error.code != HUB_OK ? job->error.text : "",
        .records = job->found,
        .count = job->found_count,
        .has_more = job->has_more,
    };
    bool may_have_written = job->verb == HUB_STATE_PUT || job->verb == HUB_STATE_DELETE ||
                            job->verb == HUB_STATE_IMPORT || job->verb == HUB_STATE_REKEY;
    bool was_down = store->condition == HUB_STATE_UNAVAILABLE;
    store->waiting--;
    hub_share_give(job->share, 1);
    job->share = NULL;
    note_health(store, job);
    if (job->verb == HUB_STATE_LOOK) {
        hub_store_finish_look(store, job);
    }
    if (job->on_done != NULL) {
        job->on_done(job->ctx, &result);
    }
    if (job->on_taken != NULL) {
        job->on_taken(job->ctx, job->error.code, job->wait_ms, job->over);
    }
    if (job->on_report != NULL) {
        job->on_report(job->ctx, &result, &job->report);
    }
    if (was_down && store->condition == HUB_STATE_OK && store->watches != NULL &&
        !store->is_ending) {
        hub_store_tell_back(store);
    }
    if (may_have_written && result.err == HUB_OK) {
        hub_store_look(
            store); /* watches of this process; the event of the file comes, too, or does not */
    }
    free_job(job);
}

static void on_wake(struct ev_loop *loop, ev_async *watcher, int events)
{
    (void)loop;
    (void)events;
    hub_store *store = watcher->data;
    for (hub_state_job *job = take_done(store); job != NULL; job = take_done(store)) {
        hand_over(store, job);
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static void free_store(hub_store *store)
{
    if (store != NULL) {
        hub_state_keys_destroy(store->keys);
        if (store->password != NULL) {
            explicit_bzero(store->password, strlen(store->password));
        }
        free(store->password);
        free(store->place);
        free(store->scope);
        (void)pthread_mutex_destroy(&store->lock); /* nobody holds it */
        free(store);
    }
}

static hub_err check_options(const hub_store_options *options, hub_error *reterr)
{
    hub_str place = hub_str_of(options->place);
    if (!hub_str_is(place, "off") && options->place[0] != '/' && !hub_state_address_is(place)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the store is \"off\", an absolute path, or an address such as "
                        "valkey://HOST, not \"%s\"",
                        options->place);
    }
    size_t len = strlen(options->scope);
    return len > 0 && len <= HUB_LIMIT_STATE_SCOPE_BYTES
               ? HUB_OK
               : hub_fail(reterr, HUB_EINVAL, "the scope of the store has 1 to %d bytes",
                          HUB_LIMIT_STATE_SCOPE_BYTES);
}

/* The address of a shared store is kept without its password, and that beside it. */
static hub_err keep_address(hub_store *store, const hub_store_options *options, hub_error *reterr)
{
    hub_state_address address;
    hub_buf password;
    hub_buf shown;
    hub_buf_init_secret(&password, HUB_LIMIT_STATE_PASSWORD_BYTES);
    hub_buf_init(&shown, HUB_LIMIT_STATE_SCOPE_BYTES);
    hub_err err = hub_state_address_read(hub_str_of(options->place), &address, &password, reterr);
    if (err == HUB_OK) {
        hub_str secret =
            options->password != NULL ? hub_str_of(options->password) : hub_buf_str(&password);
        hub_state_address_add_shown(hub_str_of(options->place), &shown);
        store->place = hub_buf_ok(&shown) ? hub_str_dup(hub_buf_str(&shown)) : NULL;
        store->password = secret.len > 0 ? hub_str_dup(secret) : NULL;
        err = store->place != NULL && (secret.len == 0 || store->password != NULL)
                  ? hub_state_engine_load(&store->engine, reterr)
                  : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_buf_fini(&shown);
    hub_buf_fini(&password);
    return err;
}

static hub_err keep_options(hub_store *store, const hub_store_options *options, hub_error *reterr)
{
    bool is_off = strcmp(options->place, "off") == 0;
    store->on_health = options->on_health;
    store->ctx = options->ctx;
    store->condition = is_off ? HUB_STATE_OFF : HUB_STATE_OK;
    store->engine = is_off ? &HUB_STATE_ENGINE_OFF : &HUB_STATE_ENGINE_SQLITE;
    store->scope = hub_str_dup(hub_str_of(options->scope));
    if (hub_state_address_is(hub_str_of(options->place))) {
        hub_err err = keep_address(store, options, reterr);
        if (err != HUB_OK) {
            return err;
        }
    } else {
        store->place = hub_str_dup(is_off ? HUB_STR_EMPTY : hub_str_of(options->place));
    }
    return store->place != NULL && store->scope != NULL
               ? HUB_OK
               : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

hub_err hub_store_create(struct ev_loop *loop, const hub_store_options *options,
                         hub_store **ret_store, hub_error *reterr)
{
    hub_store *store = calloc(1, sizeof *store);
    if (store == NULL) {
        hub_state_keys_destroy(options->keys);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    (void)pthread_mutex_init(&store->lock, NULL); /* cannot fail on Linux */
    store->loop = loop;
    store->jobs.most = HUB_LIMIT_STATE_OPERATIONS;
    store->keys = options->keys;
    hub_err err = check_options(options, reterr);
    if (err == HUB_OK) {
        err = keep_options(store, options, reterr);
    }
    if (err == HUB_OK) {
        const hub_state_engine_options of_engine = {.loop = loop,
                                                    .place = store->place,
                                                    .password = store->password,
                                                    .keys = store->keys,
                                                    .give_back = hub_state_job_done,
                                                    .on_stir = hub_store_on_stir,
                                                    .on_deaf = hub_store_on_deaf,
                                                    .ctx = store};
        err = store->engine->create(&of_engine, &store->engine_state, reterr);
    }
    if (err != HUB_OK) {
        free_store(store);
        return err;
    }
    ev_async_init(&store->wake, on_wake);
    store->wake.data = store;
    ev_async_start(loop, &store->wake);
    ev_unref(loop); /* it keeps no loop running */
    *ret_store = store;
    return HUB_OK;
}

bool hub_store_destroy(hub_store *store, unsigned timeout_ms)
{
    if (store == NULL) {
        return true;
    }
    hub_assert(!store->is_telling);
    store->is_ending = true;
    if (!store->engine->destroy(store->engine_state, timeout_ms)) {
        return false;
    }
    store->engine = &HUB_STATE_ENGINE_OFF; /* callbacks may still end watches */
    on_wake(store->loop, &store->wake, 0);
    hub_assert(store->waiting == 0);
    ev_ref(store->loop);
    ev_async_stop(store->loop, &store->wake);
    while (store->watches != NULL) {
        hub_state_watch *watch = store->watches;
        store->watches = watch->next;
        hub_store_free_watch(watch);
    }
    free_store(store);
    return true;
}

size_t hub_store_waiting(const hub_store *store)
{
    return store->waiting;
}
