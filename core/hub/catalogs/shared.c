/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/shared.h"

#include "base/clock.h"
#include "base/digest.h"
#include "base/limits.h"
#include "hub/catalogs/catalog_record.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/catalogs/shared_document.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/keys.h"
#include "hub/kernel/toolset.h"

#include <stdlib.h>

enum { SOON_MS = 20 }; /* what is learnt in one go is written in one go */

static const hub_state_kind KIND = {.name = "catalog",
                                    .most_bytes = HUB_LIMIT_CATALOG_SHARED_BYTES};

struct hub_shared_slot {
    hub_toolset *toolset;
    char id[HUB_CATALOG_ID_BYTES];
    hub_state_op *op;  /* under way */
    bool reads_next;   /* when it has ended … */
    bool writes_next;  /* … and that */
    bool is_sought;    /* somebody waits for what is in the store */
    bool is_patient;   /* … also for a replica that asks the server … */
    ev_timer patience; /* … but no longer than this */
    ev_timer soon;     /* writes */
    uint64_t asking;   /* version of the record that says that this hub asks; 0: none does */
    uint64_t version;  /* of the record as this hub read or wrote it last; 0: never */
    bool is_known;     /* what it says: … */
    int64_t learned_at_ms;
    unsigned char digest[HUB_DIGEST_BYTES]; /* of the text */
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
    return (hub_state_id){.kind = &KIND, .key = hub_str_of(slot->id)};
}

static const hub_key *key_of(const hub_shared_slot *slot)
{
    return hub_key_at(hub_toolset_hub(slot->toolset), HUB_KEY_CATALOGS, 0);
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

/* Who is connected hears of changes itself. */
static bool is_connected(const hub_toolset *toolset)
{
    return hub_toolset_state(toolset) == PATCHBAY_STATE_READY ||
           hub_toolset_state(toolset) == PATCHBAY_STATE_CONNECTING;
}

static void complain(const hub_shared_slot *slot, const char *reason)
{
    hub_log(HUB_LOG_WARNING, "tools.shared.ignored",
            HUB_F_TEXT("toolset", hub_toolset_key(slot->toolset)), HUB_F_TEXT("record", slot->id),
            HUB_F_TEXT("reason", reason));
}

/* ---- taking ---------------------------------------------------------------------------------- */

static void digest_of(hub_str text, unsigned char ret_digest[HUB_DIGEST_BYTES])
{
    hub_digest_of(text, ret_digest);
}

/* The text of the toolset's catalog as it is, without a time. */
static void add_own(const hub_shared_slot *slot, hub_buf *out)
{
    hub_buf_init(out, HUB_LIMIT_CATALOG_SHARED_BYTES);
    hub_catalog_record_add(slot->toolset, hub_str_of(slot->id), 0, out);
}

/* Whether the toolset has what the store says already. */
static bool has_it(const hub_shared_slot *slot)
{
    unsigned char own[HUB_DIGEST_BYTES];
    hub_buf text;
    add_own(slot, &text);
    digest_of(hub_buf_str(&text), own);
    bool is_same = hub_buf_ok(&text) && memcmp(own, slot->digest, sizeof own) == 0;
    hub_buf_fini(&text);
    return is_same;
}

static hub_err adopt(const hub_shared_slot *slot, hub_str text, hub_error *reterr)
{
    hub_catalog_record record;
    hub_err err = hub_catalog_file_read(text, hub_str_of(slot->id), &record, reterr);
    if (err == HUB_OK) {
        record.learned_at_ms = slot->learned_at_ms;
        err = hub_catalog_record_adopt(slot->toolset, &record, true, reterr);
    }
    if (err == HUB_OK) {
        hub_log(HUB_LOG_INFO, "tools.shared.taken",
                HUB_F_TEXT("toolset", hub_toolset_key(slot->toolset)),
                HUB_F_INT("toolCount", hub_toolset_count(slot->toolset, HUB_KIND_TOOL)));
    }
    return err;
}

/* Take what the store says, if it is newer than what the toolset has. */
static void take(hub_shared_slot *slot, const hub_state_record *record)
{
    hub_shared_document document;
    hub_error why;
    toolset_catalogs *part = hub_catalogs_of(slot->toolset);
    slot->version = record->version;
    slot->is_known = false;
    if (hub_str_is(record->document, HUB_SHARED_ASKING)) {
        return;
    }
    hub_err err = hub_shared_document_read(key_of(slot), record->document, &document, &why);
    if (err == HUB_OK) {
        int64_t now_ms = hub_clock_wall_ms(); /* a clock that is ahead makes nothing newer */
        digest_of(document.text, slot->digest);
        slot->learned_at_ms = document.learned_at_ms < now_ms ? document.learned_at_ms : now_ms;
        slot->is_known = true;
        bool is_newer = hub_toolset_list(slot->toolset, HUB_KIND_TOOL) == NULL ||
                        slot->learned_at_ms > part->learned_at_ms;
        if (!is_newer || is_connected(slot->toolset) || part->discovery != NULL) {
            return;
        }
        if (has_it(slot)) {
            part->learned_at_ms = slot->learned_at_ms;
        } else {
            err = adopt(slot, document.text, &why);
        }
    }
    if (err != HUB_OK) {
        slot->is_known = false;
        complain(slot, why.text);
    }
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
        slot->asking = slot->version = result->records[0].version;
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
        take(slot, &result->records[0]);
    }
    if (!slot->is_sought) {
        return;
    }
    if (was_known || slot->is_known || (!is_asked && result->err != HUB_ENOTFOUND)) {
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
    slot->is_known = result->err == HUB_OK;
    if (result->err == HUB_OK) {
        slot->version = result->records[0].version;
    }
    if (result->err == HUB_OK && !shared->was_swept) {
        sweep(shared, HUB_STR_EMPTY);
    }
    go_on(slot);
}

/* Whether the store says the same already, and is not about to be old. */
static bool is_told(const hub_shared_slot *slot, const unsigned char digest[HUB_DIGEST_BYTES])
{
    int64_t ttl_ms =
        (int64_t)hub_settings_of(hub_toolset_hub(slot->toolset))->limits.catalog_ttl_ms;
    int64_t later_ms = hub_catalogs_of(slot->toolset)->learned_at_ms - slot->learned_at_ms;
    return slot->is_known && memcmp(slot->digest, digest, HUB_DIGEST_BYTES) == 0 && later_ms >= 0 &&
           later_ms < ttl_ms / 2;
}

static void put(hub_shared_slot *slot, hub_str text)
{
    hub_state_id id = record_of(slot);
    hub_shared_document document = {.learned_at_ms = hub_catalogs_of(slot->toolset)->learned_at_ms,
                                    .text = text};
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_SHARED_BYTES);
    hub_shared_document_write(key_of(slot), &document, &json);
    slot->learned_at_ms = document.learned_at_ms;
    slot->is_known =
        hub_buf_ok(&json) && hub_state_put(store_of(slot), &id, HUB_STATE_ANY, hub_buf_str(&json),
                                           on_written, slot, &slot->op, NULL) == HUB_OK;
    if (!hub_buf_ok(&json)) {
        hub_log(HUB_LOG_INFO, "tools.shared.too_large",
                HUB_F_TEXT("toolset", hub_toolset_key(slot->toolset)),
                HUB_F_INT("limit", HUB_LIMIT_CATALOG_SHARED_BYTES));
    }
    if (!slot->is_known) {
        slot->op = NULL;
        hub_shared_give_up(slot->toolset);
    }
    hub_buf_fini(&json);
}

static void write_record(hub_shared_slot *slot)
{
    unsigned char digest[HUB_DIGEST_BYTES];
    hub_buf text;
    slot->writes_next = slot->op != NULL;
    if (slot->writes_next) {
        return;
    }
    if (hub_toolset_list(slot->toolset, HUB_KIND_TOOL) == NULL) {
        hub_shared_give_up(slot->toolset); /* it has no tools: it is asked again */
        return;
    }
    add_own(slot, &text);
    digest_of(hub_buf_str(&text), digest);
    if (!hub_buf_ok(&text) || !is_told(slot, digest)) {
        memcpy(slot->digest, digest, sizeof digest);
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
    if (changed->version == slot->version || !hub_str_is(changed->key, slot->id)) {
        return;
    }
    slot->is_known = false;
    if (slot->is_sought || (!changed->is_gone && !is_connected(slot->toolset))) {
        read_record(slot);
    }
}

/* The store is another one, or back, or more than could be followed has happened: whoever heard its server says so again, the others look. */
static void follow_all(hub_shared_slot *slot)
{
    slot->is_known = false;
    if (!hub_catalogs_of(slot->toolset)->is_recalled && is_connected(slot->toolset)) {
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

/* By a key: from a digest alone, somebody who reads the store could guess a weak secret of the
 * configuration. */
static bool make_id(const hub_shared_slot *slot, char ret_id[HUB_CATALOG_ID_BYTES])
{
    const hub_key *key = key_of(slot);
    unsigned char mac[HUB_DIGEST_BYTES];
    if (!hub_catalog_record_id(slot->toolset, ret_id)) {
        return false;
    }
    hub_hmac(key->bytes, sizeof key->bytes, hub_str_of(ret_id), mac);
    hub_digest_hex(mac, ret_id);
    return true;
}

static void make_slot(hub_toolset *toolset)
{
    hub_shared_slot *slot = calloc(1, sizeof *slot);
    if (slot != NULL) {
        slot->toolset = toolset;
    }
    if (slot == NULL || !make_id(slot, slot->id)) {
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
