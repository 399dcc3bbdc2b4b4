/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/shared.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/catalogs/catalog_record.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/catalogs/shared_document.h"
#include "hub/catalogs/shared_record.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"

#include <stdlib.h>

enum { SOON_MS = 20 }; /* what is learnt in one go is written in one go */

static const hub_state_kind KIND = {.name = "catalog",
                                    .most_bytes = HUB_LIMIT_CATALOG_SHARED_BYTES};

struct hub_shared_slot {
    hub_toolset *toolset;
    hub_shared_record record;
    hub_state_op *op;  /* under way */
    bool reads_next;   /* when it has ended … */
    bool writes_next;  /* … and that */
    bool is_sought;    /* somebody waits for what is in the store */
    bool is_patient;   /* … also for a replica that asks the server … */
    ev_timer patience; /* … but no longer than this */
    ev_timer soon;     /* writes */
    uint64_t asking;   /* version of the record that says that this hub asks; 0: none does */
};

struct hub_shared_catalogs {
    hub_orchestrator *hub;
    hub_shared_on_sought *on_sought;
    hub_state_watch *watch;
    hub_state_op *sweep;
    bool was_swept;
    bool is_over;
};

static hub_shared_catalogs *shared_of(const hub_shared_slot *slot)
{
    return hub_catalogs_with(hub_toolset_hub(slot->toolset))->shared;
}

static hub_store *store_of(const hub_shared_slot *slot)
{
    return hub_store_of(hub_toolset_hub(slot->toolset));
}

static hub_state_id record_of(const hub_shared_slot *slot)
{
    return (hub_state_id){.kind = &KIND, .key = hub_str_of(slot->record.id)};
}

static void start(ev_timer *timer, const hub_shared_slot *slot, unsigned ms)
{
    ev_timer_set(timer, ms / 1000., 0.);
    ev_timer_start(hub_loop(hub_toolset_hub(slot->toolset)), timer);
}

static void stop(ev_timer *timer, const hub_shared_slot *slot)
{
    ev_timer_stop(hub_loop(hub_toolset_hub(slot->toolset)), timer);
}

/* ---- looking --------------------------------------------------------------------------------- */

static void read_record(hub_shared_slot *slot);
static void write_record(hub_shared_slot *slot);

/* What had to wait for an operation that has ended. */
static void go_on(hub_shared_slot *slot)
{
    if (slot->writes_next) {
        write_record(slot);
    }
    if (slot->op == NULL && slot->reads_next) {
        slot->reads_next = false;
        read_record(slot);
    }
}

static void end_seek(hub_shared_slot *slot)
{
    stop(&slot->patience, slot);
    slot->is_patient = false;
    if (slot->is_sought) {
        slot->is_sought = false;
        shared_of(slot)->on_sought(slot->toolset); /* the slot may be gone */
    }
}

static void on_patience(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    end_seek(timer->data);
}

/* Another replica is at it: what it learns is told by the watch. */
static void wait_for_other(hub_shared_slot *slot)
{
    if (!slot->is_patient) {
        slot->is_patient = true;
        start(&slot->patience, slot, HUB_LIMIT_CATALOG_ASKING_MS);
    }
}

static void on_left_word(void *ctx, const hub_state_result *result)
{
    hub_shared_slot *slot = ctx;
    slot->op = NULL;
    if (result->err == HUB_ECONFLICT && slot->is_sought) {
        wait_for_other(slot);
        read_record(slot);
        return;
    }
    if (result->err == HUB_OK) {
        slot->asking = slot->record.version = result->records[0].version;
    }
    go_on(slot);
    end_seek(slot);
}

/* Nobody has asked the server: leave word that this hub does. */
static void leave_word(hub_shared_slot *slot)
{
    hub_state_id id = record_of(slot);
    if (slot->op != NULL) {
        end_seek(slot); /* it has a catalog to write meanwhile */
    } else if (hub_state_put(store_of(slot), &id, HUB_STATE_ABSENT, HUB_STR(HUB_SHARED_ASKING),
                             on_left_word, slot, &slot->op, NULL) != HUB_OK) {
        slot->op = NULL;
        end_seek(slot);
    }
}

static void look_at(hub_shared_slot *slot, const hub_state_result *result)
{
    bool is_there = result->err == HUB_OK && result->count > 0;
    bool is_asked = is_there && hub_str_is(result->records[0].document, HUB_SHARED_ASKING);
    bool was_known = hub_toolset_list(slot->toolset, HUB_KIND_TOOL) != NULL;
    if (is_there) {
        hub_shared_record_take(slot->toolset, &slot->record, &result->records[0]);
    }
    if (!slot->is_sought) {
        return;
    }
    if (was_known || slot->record.is_known || (!is_asked && result->err != HUB_ENOTFOUND)) {
        end_seek(slot);
    } else if (is_asked) {
        wait_for_other(slot);
    } else {
        leave_word(slot);
    }
}

static void on_read(void *ctx, const hub_state_result *result)
{
    hub_shared_slot *slot = ctx;
    slot->op = NULL;
    if (slot->reads_next && result->err == HUB_OK) {
        slot->reads_next = false;
        read_record(slot);
        return;
    }
    slot->reads_next = false;
    if (slot->writes_next) {
        write_record(slot); /* what this hub says is newer than what it has read */
        end_seek(slot);
    } else {
        look_at(slot, result);
    }
}

static void read_record(hub_shared_slot *slot)
{
    hub_state_id id = record_of(slot);
    if (slot->op != NULL) {
        slot->reads_next = true;
    } else if (hub_state_get(store_of(slot), &id, on_read, slot, &slot->op, NULL) != HUB_OK) {
        slot->op = NULL;
        end_seek(slot);
    }
}

/* ---- telling --------------------------------------------------------------------------------- */

static void on_swept(void *ctx, const hub_state_result *result);

/* Records of servers that nobody has confirmed for long are removed, once in the life of a hub. */
static void sweep(hub_shared_catalogs *shared, hub_str after)
{
    const hub_state_range range = {.kind = &KIND, .after_key = after};
    shared->was_swept = true;
    if (hub_state_list(hub_store_of(shared->hub), &range, on_swept, shared, &shared->sweep, NULL) !=
        HUB_OK) {
        shared->sweep = NULL;
    }
}

/* Versions are counted by the store's clock, in microseconds. */
static void on_swept(void *ctx, const hub_state_result *result)
{
    const uint64_t most = UINT64_C(86400000000) * HUB_LIMIT_CATALOG_FILE_DAYS;
    hub_shared_catalogs *shared = ctx;
    uint64_t now = (uint64_t)hub_clock_wall_ms() * 1000;
    shared->sweep = NULL;
    for (size_t i = 0; result->err == HUB_OK && i < result->count; i++) {
        const hub_state_record *record = &result->records[i];
        const hub_state_id id = {.kind = &KIND, .key = record->key};
        if (now > record->version && now - record->version > most) {
            hub_err ignored = hub_state_delete(hub_store_of(shared->hub), &id, record->version,
                                               NULL, NULL, NULL, NULL);
            (void)ignored; /* there is a next time */
        }
    }
    if (result->err == HUB_OK && result->has_more && result->count > 0) {
        sweep(shared, result->records[result->count - 1].key);
    }
}

static void on_written(void *ctx, const hub_state_result *result)
{
    hub_shared_slot *slot = ctx;
    hub_shared_catalogs *shared = shared_of(slot);
    slot->op = NULL;
    slot->asking = 0;
    slot->record.is_known = result->err == HUB_OK;
    if (result->err == HUB_OK) {
        slot->record.version = result->records[0].version;
    }
    if (result->err == HUB_OK && !shared->was_swept) {
        sweep(shared, HUB_STR_EMPTY);
    }
    go_on(slot);
}

static void put(hub_shared_slot *slot, hub_str text)
{
    hub_state_id id = record_of(slot);
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_SHARED_BYTES);
    hub_shared_record_write(slot->toolset, &slot->record, text, &json);
    slot->record.is_known =
        hub_buf_ok(&json) && hub_state_put(store_of(slot), &id, HUB_STATE_ANY, hub_buf_str(&json),
                                           on_written, slot, &slot->op, NULL) == HUB_OK;
    if (!hub_buf_ok(&json)) {
        hub_log(HUB_LOG_INFO, "tools.shared.too_large",
                HUB_F_TEXT("toolset", hub_toolset_key(slot->toolset)),
                HUB_F_INT("limit", HUB_LIMIT_CATALOG_SHARED_BYTES));
    }
    if (!slot->record.is_known) {
        slot->op = NULL;
        hub_shared_give_up(slot->toolset);
    }
    hub_buf_fini(&json);
}

static void write_record(hub_shared_slot *slot)
{
    hub_buf text;
    slot->writes_next = slot->op != NULL;
    if (slot->writes_next) {
        return;
    }
    if (hub_toolset_list(slot->toolset, HUB_KIND_TOOL) == NULL) {
        hub_shared_give_up(slot->toolset); /* it has no tools: it is asked again */
        return;
    }
    hub_shared_record_add_text(slot->toolset, &slot->record, &text);
    if (!hub_buf_ok(&text) ||
        !hub_shared_record_is_told(slot->toolset, &slot->record, hub_buf_str(&text))) {
        put(slot, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
}

static void on_soon(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)events;
    write_record(timer->data);
}

/* ---- following ------------------------------------------------------------------------------- */

static void follow_one(hub_shared_slot *slot, const hub_state_record *changed)
{
    if (changed->version == slot->record.version || !hub_str_is(changed->key, slot->record.id)) {
        return;
    }
    slot->record.is_known = false;
    if (slot->is_sought || (!changed->is_gone && !hub_shared_record_is_heard(slot->toolset))) {
        read_record(slot);
    }
}

/* The store is another one, or back, or more than could be followed has happened: whoever heard its server says so again, the others look. */
static void follow_all(hub_shared_slot *slot)
{
    slot->record.is_known = false;
    if (!hub_catalogs_of(slot->toolset)->is_recalled && hub_shared_record_is_heard(slot->toolset)) {
        hub_shared_note(slot->toolset);
    } else {
        read_record(slot);
    }
}

static void on_change(void *ctx, hub_state_event event, const hub_state_record *changed)
{
    const hub_shared_catalogs *shared = ctx;
    for (size_t i = 0; i < hub_toolset_total(shared->hub); i++) {
        hub_shared_slot *slot = hub_catalogs_of(hub_toolset_at(shared->hub, i))->shared;
        if (slot != NULL && event == HUB_STATE_CHANGED) {
            follow_one(slot, changed);
        } else if (slot != NULL) {
            follow_all(slot);
        }
    }
}

static bool follow(hub_shared_catalogs *shared)
{
    const hub_state_range range = {.kind = &KIND};
    if (shared->watch == NULL &&
        hub_state_watch_create(hub_store_of(shared->hub), &range, on_change, shared, &shared->watch,
                               NULL) != HUB_OK) {
        shared->watch = NULL;
    }
    return shared->watch != NULL;
}

/* ---- slots ----------------------------------------------------------------------------------- */

/* Whether the hub is one of several that serve others. */
static bool is_one_of_several(const hub_shared_catalogs *shared)
{
    const hub_settings *settings = hub_settings_of(shared->hub);
    return !shared->is_over && hub_store_of(shared->hub) != NULL &&
           hub_store_is_shared(hub_store_of(shared->hub)) && settings->listen_count > 0 &&
           settings->replicas.key_file != NULL && !settings->asks_anew;
}

static void make_slot(hub_toolset *toolset)
{
    hub_shared_slot *slot = calloc(1, sizeof *slot);
    if (slot != NULL) {
        slot->toolset = toolset;
    }
    if (slot == NULL || !hub_shared_record_name(toolset, &slot->record)) {
        free(slot);
        return;
    }
    ev_timer_init(&slot->patience, on_patience, 0., 0.);
    ev_timer_init(&slot->soon, on_soon, 0., 0.);
    slot->patience.data = slot;
    slot->soon.data = slot;
    hub_catalogs_of(toolset)->shared = slot;
}

/* The toolset's slot; NULL: nothing of it is shared, or no memory. */
static hub_shared_slot *slot_of(hub_toolset *toolset)
{
    hub_shared_catalogs *shared = hub_catalogs_with(hub_toolset_hub(toolset))->shared;
    bool is_shared = is_one_of_several(shared) && !hub_toolset_is_own(toolset) &&
                     hub_catalog_record_is_wanted(toolset) && hub_catalog_record_is_remote(toolset);
    if (is_shared && hub_catalogs_of(toolset)->shared == NULL && follow(shared)) {
        make_slot(toolset);
    }
    return is_shared ? hub_catalogs_of(toolset)->shared : NULL;
}

bool hub_shared_seek(hub_toolset *toolset)
{
    hub_shared_slot *slot = slot_of(toolset);
    if (slot != NULL && !slot->is_sought) {
        hub_state_id id = record_of(slot);
        slot->reads_next = slot->op != NULL;
        slot->is_sought = slot->op != NULL || hub_state_get(store_of(slot), &id, on_read, slot,
                                                            &slot->op, NULL) == HUB_OK;
    }
    return slot != NULL && slot->is_sought;
}

bool hub_shared_is_sought(const hub_toolset *toolset)
{
    return hub_catalogs_of(toolset)->shared != NULL && hub_catalogs_of(toolset)->shared->is_sought;
}

void hub_shared_unseek(hub_toolset *toolset)
{
    hub_shared_slot *slot = hub_catalogs_of(toolset)->shared;
    if (slot != NULL) {
        slot->is_sought = false;
        slot->is_patient = false;
        stop(&slot->patience, slot);
        hub_shared_give_up(toolset);
    }
}

void hub_shared_look(hub_toolset *toolset)
{
    hub_shared_slot *slot = slot_of(toolset);
    if (slot != NULL) {
        read_record(slot);
    }
}

void hub_shared_note(hub_toolset *toolset)
{
    hub_shared_slot *slot = slot_of(toolset);
    if (slot != NULL && !ev_is_active(&slot->soon)) {
        start(&slot->soon, slot, SOON_MS);
    }
}

void hub_shared_give_up(hub_toolset *toolset)
{
    hub_shared_slot *slot = hub_catalogs_of(toolset)->shared;
    if (slot != NULL && slot->asking != 0) {
        hub_state_id id = record_of(slot);
        hub_err ignored =
            hub_state_delete(store_of(slot), &id, slot->asking, NULL, NULL, NULL, NULL);
        (void)ignored; /* who waits does so for a while only */
        slot->asking = 0;
    }
}

void hub_shared_forget(hub_toolset *toolset)
{
    hub_shared_slot *slot = hub_catalogs_of(toolset)->shared;
    if (slot == NULL) {
        return;
    }
    hub_shared_unseek(toolset);
    stop(&slot->soon, slot);
    if (slot->op != NULL) {
        hub_state_cancel(slot->op);
    }
    hub_catalogs_of(toolset)->shared = NULL;
    free(slot);
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err hub_shared_create(hub_orchestrator *hub, hub_shared_on_sought *on_sought,
                          hub_shared_catalogs **ret_shared)
{
    hub_shared_catalogs *shared = calloc(1, sizeof *shared);
    if (shared == NULL) {
        return HUB_ENOMEM;
    }
    shared->hub = hub;
    shared->on_sought = on_sought;
    *ret_shared = shared;
    return HUB_OK;
}

void hub_shared_stop(hub_shared_catalogs *shared)
{
    if (shared == NULL) {
        return;
    }
    shared->is_over = true;
    for (size_t i = 0; i < hub_toolset_total(shared->hub); i++) {
        hub_shared_forget(hub_toolset_at(shared->hub, i));
    }
    hub_state_watch_destroy(shared->watch);
    shared->watch = NULL;
    if (shared->sweep != NULL) {
        hub_state_cancel(shared->sweep);
        shared->sweep = NULL;
    }
}

void hub_shared_destroy(hub_shared_catalogs *shared)
{
    free(shared);
}
