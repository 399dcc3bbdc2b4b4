/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/hub.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/kernel/call.h"
#include "hub/kernel/client.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/principal.h"
#include "hub/kernel/toolset.h"

#include <stdlib.h>

/* ---- life ------------------------------------------------------------------------------------ */

static hub_err begin_stations(hub_orchestrator *hub, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (size_t row = 0; err == HUB_OK && row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        err = station->hub_begins != NULL ? station->hub_begins(hub, reterr) : HUB_OK;
    }
    return err;
}

hub_err hub_make(struct ev_loop *loop, const hub_settings *settings, const hub_hub_ops *ops,
                 hub_orchestrator **ret_hub, hub_error *reterr)
{
    hub_assert(settings != NULL && ops != NULL);
    hub_orchestrator *hub = calloc(1, sizeof *hub + hub_stations_bytes(HUB_PART_HUB));
    if (hub == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_err err = hub_key_ring_make(settings->replicas.key_file, &hub->keys, reterr);
    if (err !=
        HUB_OK) { /* the file may be a wrong one: there is no hub yet that would have to end */
        free(hub);
        return err;
    }
    hub->magic = HUB_MAGIC_HUB;
    hub->loop = loop;
    hub->settings = hub_settings_ref(settings);
    hub->ops = ops;
    hub->begun_ms = hub_clock_now_ms();
    hub->held.most = HUB_LIMIT_HELD_BYTES;
    *ret_hub = hub;
    if (hub_call_table_create(loop, &hub->calls) != HUB_OK) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    if (hub_lineage_init(&hub->lineage) != HUB_OK) {
        return hub_fail(reterr, HUB_ESYSTEM, "no random numbers can be had");
    }
    err = begin_stations(hub, reterr);
    if (err == HUB_OK) {
        hub_review(hub);
    }
    return err;
}

void hub_free(hub_orchestrator *hub)
{
    if (hub != NULL) {
        HUB_IS(hub, HUB);
        hub_clients_end(hub);
        hub_principals_end(hub);
        free(hub->toolsets);
        free(hub->profiles);
        hub_settings_unref(hub->settings);
        hub->magic = 0;
        free(hub);
    }
}

void hub_give_modules(hub_orchestrator *hub, hub_resolver *resolver, hub_worker_pool *workers,
                      hub_process_table *processes, hub_module_env *env)
{
    hub->resolver = resolver;
    hub->workers = workers;
    hub->processes = processes;
    hub->env = env;
}

/* ---- what it is ------------------------------------------------------------------------------ */

struct ev_loop *hub_loop(const hub_orchestrator *hub)
{
    return hub->loop;
}

const hub_settings *hub_settings_of(const hub_orchestrator *hub)
{
    return hub->settings;
}

hub_resolver *hub_resolver_of(const hub_orchestrator *hub)
{
    return hub->resolver;
}

hub_module_env *hub_module_env_of(const hub_orchestrator *hub)
{
    return hub->env;
}

hub_worker_pool *hub_workers_of(const hub_orchestrator *hub)
{
    return hub->workers;
}

hub_process_table *hub_processes_of(const hub_orchestrator *hub)
{
    return hub->processes;
}

hub_call_table *hub_calls_of(const hub_orchestrator *hub)
{
    return hub->calls;
}

void hub_give_store(hub_orchestrator *hub, hub_store *store)
{
    hub->store = store;
}

hub_store *hub_store_of(const hub_orchestrator *hub)
{
    return hub->store;
}

hub_lineage *hub_lineage_of(hub_orchestrator *hub)
{
    return &hub->lineage;
}

uint64_t hub_begun_ms(const hub_orchestrator *hub)
{
    return hub->begun_ms;
}

void *hub_hub_part(const hub_orchestrator *hub, const hub_station *station)
{
    return (char *)(uintptr_t)hub->parts + station->place->offset[HUB_PART_HUB];
}

hub_err hub_offer_settings(hub_orchestrator *hub, const hub_settings *settings)
{
    HUB_IS(hub, HUB);
    hub_assert(settings != NULL);
    hub_err err = HUB_OK;
    for (size_t row = 0; err == HUB_OK && row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        if (station->settings_offered != NULL) {
            err = station->settings_offered(hub, settings);
        }
    }
    return err;
}

const hub_settings *hub_exchange_settings(hub_orchestrator *hub, const hub_settings *settings)
{
    HUB_IS(hub, HUB);
    hub_assert(settings != NULL);
    const hub_settings *old = hub->settings;
    hub->settings = hub_settings_ref(settings);
    HUB_STATIONS_TELL(settings_changed, hub);
    hub_review(hub);
    return old;
}

hub_station_mask hub_wanted(const hub_orchestrator *hub)
{
    return hub->wanted;
}

void hub_review(hub_orchestrator *hub)
{
    HUB_IS(hub, HUB);
    hub->wanted = 0;
    for (size_t row = 0; row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        if (station->wants_hub != NULL && station->wants_hub(hub)) {
            hub->wanted |= station->place->bit;
        }
    }
    for (size_t i = 0; i < hub->toolset_count; i++) {
        hub_toolset_review(hub->toolsets[i]);
    }
}

bool hub_has_started(const hub_orchestrator *hub)
{
    return hub->started;
}

bool hub_is_stopping(const hub_orchestrator *hub)
{
    return hub->stopping;
}

void hub_note_started(hub_orchestrator *hub)
{
    HUB_IS(hub, HUB);
    hub->started = true;
}

void hub_note_stopping(hub_orchestrator *hub)
{
    HUB_IS(hub, HUB);
    hub->stopping = true;
}

void hub_note_leaving(hub_orchestrator *hub)
{
    HUB_IS(hub, HUB);
    hub->leaving = true;
}

bool hub_is_leaving(const hub_orchestrator *hub)
{
    return hub->leaving;
}

uint64_t hub_refused(const hub_orchestrator *hub)
{
    return hub->refused;
}

/* ---- toolsets -------------------------------------------------------------------------------- */

size_t hub_toolset_total(const hub_orchestrator *hub)
{
    return hub->toolset_count;
}

hub_toolset *hub_toolset_at(const hub_orchestrator *hub, size_t at)
{
    hub_assert(at < hub->toolset_count);
    return hub->toolsets[at];
}

hub_toolset *hub_meta_toolset(const hub_orchestrator *hub)
{
    return hub->meta;
}

void hub_give_meta(hub_orchestrator *hub, hub_toolset *meta)
{
    HUB_IS(meta, TOOLSET);
    hub_assert(hub->meta == NULL || hub->meta == meta);
    hub->meta = meta;
}

/* Where the key is, or belongs, among the toolsets. */
static size_t place_of(const hub_orchestrator *hub, hub_str key)
{
    size_t low = 0;
    size_t high = hub->toolset_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (hub_str_cmp(hub_str_of(hub->toolsets[middle]->key), key) < 0) {
            low = middle + 1;
        } else {
            high = middle;
        }
    }
    return low;
}

hub_toolset *hub_find_toolset(const hub_orchestrator *hub, hub_str key)
{
    size_t at = place_of(hub, key);
    bool is_there = at < hub->toolset_count && hub_str_is(key, hub->toolsets[at]->key);
    return is_there ? hub->toolsets[at] : NULL;
}

hub_str hub_nearest_toolset(const hub_orchestrator *hub, hub_str key)
{
    const char **keys = calloc(hub->toolset_count + 1, sizeof *keys);
    hub_str nearest = HUB_STR_EMPTY;
    if (keys != NULL) {
        for (size_t i = 0; i < hub->toolset_count; i++) {
            keys[i] = hub->toolsets[i]->key;
        }
        nearest = hub_str_nearest(key, keys);
        free(keys);
    }
    return nearest;
}

hub_err hub_add_toolset(hub_orchestrator *hub, hub_toolset *toolset)
{
    HUB_IS(toolset, TOOLSET);
    hub_assert(toolset->hub == hub && !toolset->is_own);
    hub_assert(hub_find_toolset(hub, hub_str_of(toolset->key)) == NULL);
    size_t at = place_of(hub, hub_str_of(toolset->key));
    hub_toolset **grown = realloc(hub->toolsets, (hub->toolset_count + 1) * sizeof(hub_toolset *));
    if (grown == NULL) {
        return HUB_ENOMEM;
    }
    hub->toolsets = grown;
    memmove(&grown[at + 1], &grown[at], (hub->toolset_count - at) * sizeof(hub_toolset *));
    grown[at] = toolset;
    hub->toolset_count++;
    return HUB_OK;
}

void hub_exchange_toolsets(hub_orchestrator *hub, hub_toolset ***list, size_t *count)
{
    HUB_IS(hub, HUB);
    hub_assert(*list != NULL || *count == 0);
    hub_toolset **old = hub->toolsets;
    size_t old_count = hub->toolset_count;
    hub->toolsets = *list;
    hub->toolset_count = *count;
    *list = old;
    *count = old_count;
}

size_t hub_open_bindings(const hub_orchestrator *hub)
{
    return hub->open_bindings;
}

/* ---- profiles -------------------------------------------------------------------------------- */

size_t hub_profile_total(const hub_orchestrator *hub)
{
    return hub->profile_count;
}

hub_profile *hub_profile_at(const hub_orchestrator *hub, size_t at)
{
    hub_assert(at < hub->profile_count);
    return hub->profiles[at];
}

hub_profile *hub_find_profile(const hub_orchestrator *hub, const char *name)
{
    for (size_t i = 0; i < hub->profile_count; i++) {
        hub_profile *profile = hub->profiles[i];
        if (!profile->is_leaving && (name == NULL || strcmp(profile->settings->name, name) == 0)) {
            return profile;
        }
    }
    return NULL;
}

void hub_exchange_profiles(hub_orchestrator *hub, hub_profile ***list, size_t *count)
{
    HUB_IS(hub, HUB);
    hub_assert(*list != NULL || *count == 0);
    hub_profile **old = hub->profiles;
    size_t old_count = hub->profile_count;
    hub->profiles = *list;
    hub->profile_count = *count;
    *list = old;
    *count = old_count;
}

void hub_set_lens(hub_orchestrator *hub, const hub_lens *lens)
{
    hub->lens = lens;
}

bool hub_tells_sessions_apart(const hub_orchestrator *hub)
{
    return hub->gate != NULL || hub->lens != NULL;
}

void hub_set_gate(hub_orchestrator *hub, const hub_gate *gate)
{
    hub->gate = gate;
}

bool hub_is_gated(const hub_orchestrator *hub)
{
    return hub->gate != NULL;
}
