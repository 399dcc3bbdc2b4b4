/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sync.h"

#include "base/limits.h"
#include "base/loop.h"
#include "state/secrets.h"

#include <stdlib.h>

enum { NAME_BYTES = HUB_LIMIT_STATE_OWNER_BYTES + HUB_LIMIT_STATE_KEY_BYTES };

struct hub_state_sync {
    struct ev_loop *loop;
    hub_store *store;
    char *place;
    ev_timer deadline;
    /* The operation that is waited for. */
    hub_state_op *op;
    bool is_done;
    bool is_late; /* the engine hangs, and need not be waited for again */
    hub_err err;
    hub_error why;
    uint64_t version;
    hub_buf *document; /* get: where it goes */
    /* each */
    void (*on_record)(void *ctx, const hub_state_record *record);
    void *ctx;
    bool has_more;
    char last[NAME_BYTES]; /* owner and key of the last record, one behind the other */
    size_t last_owner;
    size_t last_key;
};

static void on_late(struct ev_loop *loop, ev_timer *timer, int events)
{
    hub_state_sync *sync = timer->data;
    (void)loop;
    (void)events;
    sync->is_late = true;
}

static void keep_last(hub_state_sync *sync, const hub_state_record *record)
{
    sync->last_owner = record->owner.len;
    sync->last_key = record->key.len;
    if (record->owner.len > 0) {
        memcpy(sync->last, record->owner.ptr, record->owner.len); /* bounded by the store */
    }
    memcpy(sync->last + record->owner.len, record->key.ptr, record->key.len);
}

static void on_done(void *ctx, const hub_state_result *result)
{
    hub_state_sync *sync = ctx;
    sync->is_done = true;
    sync->op = NULL;
    sync->err = result->err;
    sync->has_more = result->has_more;
    if (result->err != HUB_OK) {
        (void)hub_fail(&sync->why, result->err, "%s", result->why);
        return;
    }
    for (size_t i = 0; sync->on_record != NULL && i < result->count; i++) {
        sync->on_record(sync->ctx, &result->records[i]);
        keep_last(sync, &result->records[i]);
    }
    if (sync->document != NULL && result->count > 0) {
        hub_buf_add(sync->document, result->records[0].document);
        sync->version = result->records[0].version;
    }
}

/* Wait for what was begun with `err`. */
static hub_err wait_for(hub_state_sync *sync, hub_err err, hub_error *reterr)
{
    if (err != HUB_OK) {
        return err;
    }
    hub_loop_start_timer(sync->loop, &sync->deadline, HUB_LIMIT_STATE_SYNC_MS / 1e3);
    while (!sync->is_done && !sync->is_late) {
        (void)ev_run(sync->loop, EVRUN_ONCE);
    }
    ev_timer_stop(sync->loop, &sync->deadline);
    if (!sync->is_done) {
        hub_state_cancel(sync->op);
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "the store %s did not answer within %u s: is its file system reachable, or "
                        "another process writing to it?",
                        sync->place, HUB_LIMIT_STATE_SYNC_MS / 1000);
    }
    return sync->err == HUB_OK ? HUB_OK : hub_fail(reterr, sync->err, "%s", sync->why.text);
}

static void begin(hub_state_sync *sync)
{
    sync->is_done = false;
    sync->document = NULL;
    sync->on_record = NULL;
    sync->version = 0;
}

hub_err hub_state_sync_open(const char *place, const char *password, const char *scope,
                            const char *key_file, hub_state_sync **ret_sync, hub_error *reterr)
{
    hub_store_options options = {.place = place, .password = password, .scope = scope};
    hub_state_sync *sync = calloc(1, sizeof *sync);
    if (sync == NULL || (sync->place = strdup(place)) == NULL ||
        (sync->loop = hub_loop_new()) == NULL) {
        hub_state_sync_close(sync);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    ev_timer_init(&sync->deadline, on_late, 0., 0.);
    sync->deadline.data = sync;
    hub_err err = strcmp(place, "off") == 0
                      ? hub_fail(reterr, HUB_EUNAVAILABLE,
                                 "there is no store: the configuration says `state: off`, or there "
                                 "is not a HOME to keep one in")
                      : hub_state_keys_load(key_file, &options.keys, reterr);
    if (err == HUB_OK) {
        err = hub_store_create(sync->loop, &options, &sync->store, reterr);
    }
    if (err != HUB_OK) {
        hub_state_sync_close(sync);
        return err;
    }
    *ret_sync = sync;
    return HUB_OK;
}

void hub_state_sync_close(hub_state_sync *sync)
{
    if (sync == NULL) {
        return;
    }
    /* An engine that hangs still uses the store's memory, and the loop is what it tells: both stay. */
    if (sync->store == NULL ||
        hub_store_destroy(sync->store, sync->is_late ? 1 : HUB_LIMIT_STATE_SYNC_MS)) {
        if (sync->loop != NULL) {
            hub_loop_destroy(sync->loop);
        }
        free(sync->place);
        free(sync);
    }
}

hub_err hub_state_sync_get(hub_state_sync *sync, const hub_state_id *id, hub_buf *ret_document,
                           uint64_t *ret_version, hub_error *reterr)
{
    begin(sync);
    sync->document = ret_document;
    hub_err err =
        wait_for(sync, hub_state_get(sync->store, id, on_done, sync, &sync->op, reterr), reterr);
    if (err == HUB_OK && !hub_buf_ok(ret_document)) {
        err = hub_fail(reterr, ret_document->failed, "%s", hub_err_text(ret_document->failed));
    }
    if (ret_version != NULL) {
        *ret_version = sync->version;
    }
    return err;
}

hub_err hub_state_sync_put(hub_state_sync *sync, const hub_state_id *id, uint64_t seen,
                           hub_str document, hub_error *reterr)
{
    begin(sync);
    return wait_for(
        sync, hub_state_put(sync->store, id, seen, document, on_done, sync, &sync->op, reterr),
        reterr);
}

hub_err hub_state_sync_delete(hub_state_sync *sync, const hub_state_id *id, hub_error *reterr)
{
    begin(sync);
    return wait_for(
        sync, hub_state_delete(sync->store, id, HUB_STATE_ANY, on_done, sync, &sync->op, reterr),
        reterr);
}

hub_err hub_state_sync_each(hub_state_sync *sync, const hub_state_kind *kind,
                            void (*on_record)(void *ctx, const hub_state_record *record), void *ctx,
                            hub_error *reterr)
{
    hub_err err = HUB_OK;
    sync->last_owner = 0;
    sync->last_key = 0;
    do {
        char after[NAME_BYTES];
        memcpy(after, sync->last, sizeof after);
        hub_state_range range = {.kind = kind, .is_of_all = true};
        range.after_owner = (hub_str){.ptr = after, .len = sync->last_owner};
        range.after_key = (hub_str){.ptr = after + sync->last_owner, .len = sync->last_key};
        begin(sync);
        sync->on_record = on_record;
        sync->ctx = ctx;
        err = wait_for(sync, hub_state_list(sync->store, &range, on_done, sync, &sync->op, reterr),
                       reterr);
    } while (err == HUB_OK && sync->has_more);
    return err;
}
