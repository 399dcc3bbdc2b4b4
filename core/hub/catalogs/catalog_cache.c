/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/catalog_cache.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/catalogs/catalog_file.h"
#include "hub/catalogs/catalog_record.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"

#include <assert.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

enum {
    SOON_MS = 20,    /* what is learnt in one go is written in one go */
    AGAIN_MS = 1000, /* the least time between two files of one toolset */
    LOOK_MS = 250,   /* while something waits to be written */
};

struct hub_cache_slot {
    atomic_uint refs; /* the toolset, and the job that writes */
    atomic_bool is_writing;
    bool is_dirty;
    bool was_recalled;
    char id[HUB_CATALOG_ID_BYTES]; /* of what is to be written: the settings may change meanwhile */
    uint64_t written_ms;           /* when the last job was made, monotonic; 0: never */
};

struct hub_catalog_cache {
    hub_orchestrator *hub;
    char *folder;
    ev_timer timer;
    bool has_warned;        /* that others may write to the folder */
    atomic_uint jobs;       /* not yet ended */
    atomic_bool has_failed; /* to write: said once */
    atomic_bool was_swept;
};

/* A file on its way to the disk. */
typedef struct cache_job {
    hub_catalog_cache *cache;
    hub_cache_slot *slot;
    char id[HUB_CATALOG_ID_BYTES];
    char name[HUB_CATALOG_NAME_BYTES];
    hub_buf text;
} cache_job;

/* ---- which file ------------------------------------------------------------------------------ */

static void make_name(const hub_toolset *toolset, const char *id,
                      char ret_name[HUB_CATALOG_NAME_BYTES])
{
    (void)snprintf(ret_name, HUB_CATALOG_NAME_BYTES, "%s-%s.json",
                   hub_toolset_settings_of(toolset)->key, id);
}

/* ---- slots ----------------------------------------------------------------------------------- */

static hub_catalog_cache *cache_of(const hub_toolset *toolset)
{
    return hub_catalogs_with(hub_toolset_hub(toolset))->cache;
}

/* The toolset's slot; NULL when nothing is remembered of it, or without memory. */
static hub_cache_slot *slot_of(hub_toolset *toolset)
{
    if (cache_of(toolset) == NULL || !hub_catalog_record_is_wanted(toolset)) {
        return NULL;
    }
    if (hub_catalogs_of(toolset)->cache_slot == NULL) {
        hub_catalogs_of(toolset)->cache_slot =
            calloc(1, sizeof *hub_catalogs_of(toolset)->cache_slot);
        if (hub_catalogs_of(toolset)->cache_slot != NULL) {
            atomic_init(&hub_catalogs_of(toolset)->cache_slot->refs, 1);
        }
    }
    return hub_catalogs_of(toolset)->cache_slot;
}

static void unref_slot(hub_cache_slot *slot)
{
    if (atomic_fetch_sub(&slot->refs, 1) == 1) {
        free(slot);
    }
}

/* ---- reading --------------------------------------------------------------------------------- */

/* A folder that others may write to is reported once, not for each of its files. */
static void warn(hub_catalog_cache *cache, const hub_toolset *toolset, const char *name,
                 const hub_error *why)
{
    bool is_known = why->code == HUB_EDENIED && cache->has_warned;
    cache->has_warned = cache->has_warned || why->code == HUB_EDENIED;
    hub_log(is_known ? HUB_LOG_DEBUG : HUB_LOG_WARNING, "tools.cache.ignored",
            HUB_F_TEXT("toolset", hub_toolset_key(toolset)), HUB_F_TEXT("folder", cache->folder),
            HUB_F_TEXT("file", name), HUB_F_TEXT("reason", why->text));
}

static void read_file(hub_catalog_cache *cache, hub_toolset *toolset)
{
    char id[HUB_CATALOG_ID_BYTES];
    char name[HUB_CATALOG_NAME_BYTES];
    hub_error why = {.code = HUB_OK};
    hub_catalog_record record;
    hub_buf text;
    if (!hub_catalog_record_id(toolset, id)) {
        return;
    }
    make_name(toolset, id, name);
    hub_buf_init(&text, HUB_LIMIT_CATALOG_FILE_BYTES);
    hub_err err = hub_catalog_file_load(cache->folder, name, &text, &why);
    if (err == HUB_OK) {
        err = hub_catalog_file_read(hub_buf_str(&text), hub_str_of(id), &record, &why);
    }
    if (err == HUB_OK) {
        err = hub_catalog_record_adopt(toolset, &record, false, &why);
    }
    hub_buf_fini(&text);
    if (err == HUB_OK) {
        hub_log(HUB_LOG_DEBUG, "tools.cache.recalled",
                HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                HUB_F_INT("toolCount", hub_toolset_count(toolset, HUB_KIND_TOOL)));
    } else if (err != HUB_ENOTFOUND) {
        warn(cache, toolset, name, &why);
    }
}

void hub_catalog_cache_recall(hub_toolset *toolset)
{
    hub_cache_slot *slot = slot_of(toolset);
    if (slot == NULL || slot->was_recalled || hub_toolset_list(toolset, HUB_KIND_TOOL) != NULL ||
        hub_settings_of(hub_toolset_hub(toolset))->asks_anew) {
        return;
    }
    slot->was_recalled = true;
    read_file(cache_of(toolset), toolset);
}

/* ---- writing --------------------------------------------------------------------------------- */

/* On a worker. What could not be read back is not written. */
static void write_file(void *arg)
{
    cache_job *job = arg;
    hub_catalog_cache *cache = job->cache;
    hub_error why = {.code = HUB_OK};
    hub_catalog_record record;
    hub_err err =
        hub_catalog_file_read(hub_buf_str(&job->text), hub_str_of(job->id), &record, &why);
    if (err == HUB_OK) {
        err = hub_catalog_file_store(cache->folder, job->name, hub_buf_str(&job->text), &why);
    }
    if (err != HUB_OK && !atomic_exchange(&cache->has_failed, true)) {
        hub_log(HUB_LOG_WARNING, "tools.cache.not_written", HUB_F_TEXT("folder", cache->folder),
                HUB_F_TEXT("reason", why.text));
    }
    if (err == HUB_OK && !atomic_exchange(&cache->was_swept, true)) {
        (void)hub_catalog_file_sweep(cache->folder, (int64_t)time(NULL));
    }
}

static void end_job(void *arg, bool ran)
{
    (void)ran;
    cache_job *job = arg;
    hub_catalog_cache *cache = job->cache;
    atomic_store(&job->slot->is_writing, false);
    unref_slot(job->slot);
    hub_buf_fini(&job->text);
    free(job);
    (void)atomic_fetch_sub(&cache->jobs, 1); /* last: then the cache may go */
}

/* The file as it is to be, from the toolset as it is now; NULL when it cannot be made. */
static cache_job *make_job(hub_toolset *toolset)
{
    cache_job *job = calloc(1, sizeof *job);
    if (job == NULL) {
        return NULL;
    }
    memcpy(job->id, hub_catalogs_of(toolset)->cache_slot->id, sizeof job->id);
    make_name(toolset, job->id, job->name);
    hub_buf_init(&job->text, HUB_LIMIT_CATALOG_FILE_BYTES);
    hub_catalog_record_add(toolset, hub_str_of(job->id), hub_catalogs_of(toolset)->learned_at_ms,
                           &job->text);
    if (!hub_buf_ok(&job->text)) {
        hub_log(HUB_LOG_INFO, "tools.cache.too_large",
                HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                HUB_F_INT("limit", HUB_LIMIT_CATALOG_FILE_BYTES));
        hub_buf_fini(&job->text);
        free(job);
        return NULL;
    }
    job->cache = cache_of(toolset);
    job->slot = hub_catalogs_of(toolset)->cache_slot;
    return job;
}

/* Have a worker write the file. False when it has to be tried again. */
static bool submit(hub_toolset *toolset)
{
    hub_cache_slot *slot = hub_catalogs_of(toolset)->cache_slot;
    if (atomic_load(&slot->is_writing)) {
        return false;
    }
    slot->is_dirty = false;
    cache_job *job = hub_toolset_list(toolset, HUB_KIND_TOOL) != NULL ? make_job(toolset) : NULL;
    if (job == NULL) {
        return true; /* it will be learnt anew */
    }
    (void)atomic_fetch_add(&slot->refs, 1);
    (void)atomic_fetch_add(&job->cache->jobs, 1);
    atomic_store(&slot->is_writing, true);
    slot->written_ms = hub_clock_now_ms();
    if (hub_worker_submit(hub_workers_of(hub_toolset_hub(toolset)), write_file, end_job, job) ==
        HUB_OK) {
        return true;
    }
    end_job(job, false);
    slot->is_dirty = true;
    return false;
}

/* Write what is to be written, of each toolset not too often unless it is the end. False when
 * something is left. */
static bool write_dirty(const hub_catalog_cache *cache, bool at_end)
{
    bool is_done = true;
    uint64_t now = hub_clock_now_ms();
    for (size_t i = 0; i < hub_toolset_total(cache->hub); i++) {
        hub_toolset *toolset = hub_toolset_at(cache->hub, i);
        const hub_cache_slot *slot = hub_catalogs_of(toolset)->cache_slot;
        if (slot == NULL || !slot->is_dirty) {
            continue;
        }
        bool is_due = at_end || slot->written_ms == 0 || now - slot->written_ms >= AGAIN_MS;
        is_done = is_due && submit(toolset) && is_done;
    }
    return is_done;
}

static void on_timer(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)events;
    if (!write_dirty(timer->data, false)) {
        ev_timer_set(timer, LOOK_MS / 1000., 0.);
        ev_timer_start(loop, timer);
    }
}

void hub_catalog_cache_note(hub_toolset *toolset)
{
    hub_cache_slot *slot = slot_of(toolset);
    if (slot == NULL || !hub_catalog_record_id(toolset, slot->id)) {
        return;
    }
    hub_catalog_cache *cache = cache_of(toolset);
    slot->is_dirty = true;
    if (!ev_is_active(&cache->timer)) {
        ev_timer_set(&cache->timer, SOON_MS / 1000., 0.);
        ev_timer_start(hub_loop(cache->hub), &cache->timer);
    }
}

bool hub_catalog_cache_settle(hub_catalog_cache *cache)
{
    return cache == NULL || (write_dirty(cache, true) && atomic_load(&cache->jobs) == 0);
}

/* ---- life ------------------------------------------------------------------------------------ */

void hub_catalog_cache_forget(hub_toolset *toolset)
{
    hub_cache_slot *slot = hub_catalogs_of(toolset)->cache_slot;
    hub_catalogs_of(toolset)->cache_slot = NULL;
    if (slot != NULL) {
        unref_slot(slot);
    }
}

hub_err hub_catalog_cache_create(hub_orchestrator *hub, hub_catalog_cache **ret_cache)
{
    const char *folder = hub_settings_of(hub)->cache_folder;
    if (folder == NULL) {
        *ret_cache = NULL;
        return HUB_OK;
    }
    hub_catalog_cache *cache = calloc(1, sizeof *cache);
    if (cache == NULL || (cache->folder = strdup(folder)) == NULL) {
        free(cache);
        return HUB_ENOMEM;
    }
    cache->hub = hub;
    ev_timer_init(&cache->timer, on_timer, 0., 0.);
    cache->timer.data = cache;
    *ret_cache = cache;
    return HUB_OK;
}

void hub_catalog_cache_destroy(hub_catalog_cache *cache)
{
    if (cache != NULL) {
        ev_timer_stop(hub_loop(cache->hub), &cache->timer);
        free(cache->folder);
        free(cache);
    }
}
