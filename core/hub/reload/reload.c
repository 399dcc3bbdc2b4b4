/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/reload/reload.h"

#include "base/cause.h"
#include "base/clock.h"
#include "base/limits.h"
#include "base/log.h"
#include "hub/active/manager.h"
#include "hub/catalogs/discovery.h"
#include "hub/catalogs/parking.h"
#include "hub/instances/principal_instance.h"
#include "hub/instances/session_instance.h"
#include "hub/kernel/isolation.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/toolset_rules.h"
#include "hub/reload/reload_internal.h"
#include "hub/report/misnamed.h"
#include "hub/report/reload_state.h"
#include "hub/saved/saved.h"
#include "tools/naming.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- toolsets, beside those at work ---------------------------------------------------------- */

static int by_key(const void *a, const void *b)
{
    return strcmp(hub_toolset_key(((const reload_toolset *)a)->toolset),
                  hub_toolset_key(((const reload_toolset *)b)->toolset));
}

reload_toolset *reload_find(const reload *next, const char *key)
{
    size_t low = 0;
    size_t high = next->toolset_count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        int order = strcmp(hub_toolset_key(next->toolsets[middle].toolset), key);
        if (order == 0) {
            return &next->toolsets[middle];
        }
        low = order < 0 ? middle + 1 : low;
        high = order < 0 ? high : middle;
    }
    return NULL;
}

static hub_err note_toolset(reload *next, const hub_toolset_settings *settings, hub_error *reterr)
{
    reload_toolset *item = &next->toolsets[next->toolset_count];
    hub_toolset *known = hub_find_toolset(next->hub, hub_str_of(settings->key));
    hub_err err = hub_naming_check_key(hub_str_of(settings->key), reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (next->toolset_count >= HUB_LIMIT_TOOLSETS) {
        return hub_fail(reterr, HUB_ELIMIT, "more than %d toolsets", HUB_LIMIT_TOOLSETS);
    }
    *item = (reload_toolset){.toolset = known, .is_new = known == NULL};
    if (known == NULL) {
        err = hub_toolset_create(next->hub, settings, &item->toolset);
    } else {
        item->difference = hub_toolset_settings_compare(hub_toolset_settings_of(known), settings);
        item->settings = hub_toolset_settings_dup(settings);
        err = item->settings != NULL ? HUB_OK : HUB_ENOMEM;
    }
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "out of memory");
    }
    next->toolset_count++;
    return HUB_OK;
}

const hub_toolset_settings *reload_settings(const reload_toolset *item)
{
    return item->settings != NULL ? item->settings : hub_toolset_settings_of(item->toolset);
}

hub_source reload_source(const reload_toolset *item)
{
    hub_source source =
        hub_toolset_next_source(item->toolset, reload_settings(item), item->binding);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        bool is_old = source.lists[kind] == hub_toolset_list(item->toolset, (hub_kind)kind);
        if (is_old && item->lists[kind] != NULL) {
            source.lists[kind] = item->lists[kind];
        }
    }
    return source;
}

static bool is_named(const hub_settings *settings, const char *key)
{
    for (size_t i = 0; i < settings->toolset_count; i++) {
        if (strcmp(settings->toolsets[i].key, key) == 0) {
            return true;
        }
    }
    return false;
}

/* Whether a module is a toolset of its own. What one needs is not known before it is linked. */
static bool makes_toolset(const reload *next, const hub_module *module,
                          hub_toolset_settings *ret_settings)
{
    hub_error why = {.code = HUB_OK};
    if (module->is_outside && !hub_isolation_is_outside(next->settings, hub_str_of(module->name)) &&
        hub_resolver_link(hub_resolver_of(next->hub), module, &module, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "toolset.skipped", HUB_F_TEXT("toolset", module->name),
                HUB_F_TEXT("reason", why.text), HUB_F_BY);
        return false;
    }
    return hub_module_makes_toolset(module, next->settings, ret_settings);
}

static hub_err note_toolsets(reload *next, hub_error *reterr)
{
    const hub_settings *settings = next->settings;
    size_t module_count = 0;
    const hub_module *const *modules =
        hub_resolver_modules(hub_resolver_of(next->hub), &module_count);
    hub_err err = HUB_OK;
    next->toolsets = calloc(settings->toolset_count + module_count + 1, sizeof *next->toolsets);
    if (next->toolsets == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (size_t i = 0; err == HUB_OK && i < settings->toolset_count; i++) {
        err = note_toolset(next, &settings->toolsets[i], reterr);
    }
    for (size_t i = 0; err == HUB_OK && !settings->toolsets_listed && i < module_count; i++) {
        hub_toolset_settings own;
        if (!is_named(settings, modules[i]->name) && makes_toolset(next, modules[i], &own)) {
            err = note_toolset(next, &own, reterr);
        }
    }
    if (next->toolset_count > 0) {
        qsort(next->toolsets, next->toolset_count, sizeof *next->toolsets, by_key);
    }
    return err;
}

/* Make the instances that are needed, and are not there. */
static hub_err make_bindings(reload *next, hub_error *reterr)
{
    for (size_t i = 0; i < next->toolset_count; i++) {
        reload_toolset *item = &next->toolsets[i];
        const hub_toolset *toolset = item->toolset;
        bool is_fit =
            hub_toolset_binding(toolset) != NULL && item->difference != HUB_TOOLSET_ANOTHER;
        if (item->users == 0 || is_fit) {
            continue;
        }
        hub_err err =
            hub_toolset_prepare(item->toolset, reload_settings(item), &item->binding, reterr);
        if (err != HUB_OK) {
            hub_error_prefix(reterr, "%s", reload_settings(item)->source);
            return err;
        }
        if (hub_toolset_binding(toolset) == NULL && item->difference != HUB_TOOLSET_ANOTHER) {
            hub_discovery_recall(item->toolset); /* as hub_toolset_use does */
        }
    }
    return HUB_OK;
}

/* Whether what a toolset offers is to be read once more. Of another server it is what the one before
 * has said, until that one says otherwise: but nobody may call it who could not see it. */
static bool wants_lists(const reload_toolset *item)
{
    const hub_toolset_settings *before = hub_toolset_settings_of(item->toolset);
    return item->difference == HUB_TOOLSET_TUNED ||
           (item->difference == HUB_TOOLSET_ANOTHER &&
            item->settings->is_withheld != before->is_withheld);
}

/* Read what toolsets offer once more, where other settings say what is to become of it. */
static hub_err make_lists(reload *next, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < next->toolset_count; i++) {
        reload_toolset *item = &next->toolsets[i];
        for (int kind = 0; err == HUB_OK && kind < HUB_KINDS; kind++) {
            const hub_catalog *list = hub_toolset_list(item->toolset, (hub_kind)kind);
            if (list != NULL && wants_lists(item)) {
                err = hub_toolset_reread_list(item->settings, list, &item->lists[kind], reterr);
            }
        }
    }
    return err;
}

/* ---- all of it ------------------------------------------------------------------------------- */

/* Free what is not the hub's: what was made, or what it was replaced by. */
static void drop(reload *next)
{
    reload_drop_profiles(next);
    for (size_t i = 0; i < next->toolset_count; i++) {
        reload_toolset *item = &next->toolsets[i];
        hub_binding_abandon(item->binding);
        for (int kind = 0; kind < HUB_KINDS; kind++) {
            hub_catalog_unref(item->lists[kind]);
        }
        free(item->settings);
        if (item->is_new && !next->is_done) {
            hub_toolset_leave(item->toolset);
        }
    }
    free(next->wait);
    free(next->toolset_list);
    free(next->toolsets);
}

static hub_err prepare(reload *next, hub_error *reterr)
{
    hub_err err = note_toolsets(next, reterr);
    if (err == HUB_OK) {
        err = reload_choose(next, reterr);
    }
    if (err == HUB_OK) {
        err = make_bindings(next, reterr);
    }
    if (err == HUB_OK) {
        err = make_lists(next, reterr);
    }
    if (err == HUB_OK) {
        err = reload_make_exposures(next, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    next->toolset_list = calloc(next->toolset_count + 1, sizeof(hub_toolset *));
    next->wait = reload_wait_create(next->hub, next->toolset_count);
    if (next->toolset_list == NULL || next->wait == NULL ||
        hub_offer_settings(next->hub, next->settings) != HUB_OK) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    return HUB_OK;
}

/* NULL is the same as itself. */
static bool is_same(const char *a, const char *b)
{
    return a != NULL && b != NULL ? strcmp(a, b) == 0 : a == b;
}

/* What a running hub cannot change. */
static void note_restart(const hub_settings *old, const hub_settings *now, hub_name_list *keys)
{
    bool same_paths = old->modules.paths.count == now->modules.paths.count;
    for (size_t i = 0; same_paths && i < now->modules.paths.count; i++) {
        same_paths = strcmp(old->modules.paths.items[i], now->modules.paths.items[i]) == 0;
    }
    if (!same_paths) {
        hub_name_list_add(keys, hub_str_of("modules.paths"));
    }
    if (old->modules.watch != now->modules.watch) {
        hub_name_list_add(keys, hub_str_of("modules.watch"));
    }
    if (old->modules.allow_writable != now->modules.allow_writable) {
        hub_name_list_add(keys, hub_str_of("modules.allow_writable"));
    }
    if (!is_same(old->cache_folder, now->cache_folder)) {
        hub_name_list_add(keys, hub_str_of("hub.cache_dir"));
    }
    if (!is_same(old->state.place, now->state.place) ||
        !is_same(old->state.password, now->state.password) ||
        !is_same(old->state.key, now->state.key) || !is_same(old->state.scope, now->state.scope)) {
        hub_name_list_add(keys, hub_str_of("state"));
    }
    if (!is_same(old->replicas.key_file, now->replicas.key_file)) {
        hub_name_list_add(keys, hub_str_of("replicas.key_file"));
    }
    if (old->limits.worker_threads != now->limits.worker_threads) {
        hub_name_list_add(keys, hub_str_of("limits.worker_threads"));
    }
}

static const hub_toolset_settings *find_settings(const hub_settings *settings, const char *key)
{
    size_t at = 0;
    while (at < settings->toolset_count && strcmp(settings->toolsets[at].key, key) != 0) {
        at++;
    }
    return at < settings->toolset_count ? &settings->toolsets[at] : NULL;
}

void hub_reload_compare(const hub_settings *old, const hub_settings *now,
                        hub_reload_report *ret_report)
{
    *ret_report = (hub_reload_report){.added = {.count = 0}};
    note_restart(old, now, &ret_report->restart);
    for (size_t i = 0; i < now->toolset_count; i++) {
        const hub_toolset_settings *one = &now->toolsets[i];
        const hub_toolset_settings *before = find_settings(old, one->key);
        if (before == NULL) {
            hub_name_list_add(&ret_report->added, hub_str_of(one->key));
        } else if (hub_toolset_settings_compare(before, one) != HUB_TOOLSET_SAME) {
            hub_name_list_add(&ret_report->changed, hub_str_of(one->key));
        }
    }
    for (size_t i = 0; i < old->toolset_count; i++) {
        if (find_settings(now, old->toolsets[i].key) == NULL) {
            hub_name_list_add(&ret_report->removed, hub_str_of(old->toolsets[i].key));
        }
    }
}

/* The hub's list of toolsets becomes the next one; those that are no more are what `next` has
 * then. */
static size_t swap_toolsets(reload *next, hub_reload_report *report)
{
    hub_orchestrator *hub = next->hub;
    for (size_t i = 0; i < next->toolset_count; i++) {
        const reload_toolset *item = &next->toolsets[i];
        next->toolset_list[i] = item->toolset;
        if (item->is_new) {
            hub_name_list_add(&report->added, hub_str_of(hub_toolset_key(item->toolset)));
        } else if (item->difference != HUB_TOOLSET_SAME) {
            hub_name_list_add(&report->changed, hub_str_of(hub_toolset_key(item->toolset)));
        }
    }
    size_t old_count = next->toolset_count;
    size_t gone = 0;
    hub_exchange_toolsets(hub, &next->toolset_list, &old_count);
    for (size_t i = 0; i < old_count; i++) {
        hub_toolset *old = next->toolset_list[i];
        if (reload_find(next, hub_toolset_key(old)) == NULL) {
            hub_name_list_add(&report->removed, hub_str_of(hub_toolset_key(old)));
            next->toolset_list[gone++] = old;
        }
    }
    return gone;
}

/* The toolset's settings become the next ones; the old ones are what the item has then, because the
 * exposures still point into them. */
static void take_toolset(reload_toolset *item)
{
    hub_toolset *toolset = item->toolset;
    hub_binding *binding = item->binding;
    if (item->settings != NULL) {
        item->settings = hub_toolset_exchange_settings(toolset, item->settings);
    }
    if (item->difference == HUB_TOOLSET_ANOTHER) {
        hub_discovery_forget_file(toolset); /* what it would write would be under a wrong name */
    }
    if (item->users > hub_toolset_users(toolset)) {
        hub_toolset_set_users(toolset, item->users);
    }
    item->binding = NULL;
    item->has_begun = binding != NULL;
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        if (item->lists[kind] != NULL) {
            hub_toolset_set_list(toolset, (hub_kind)kind, item->lists[kind]);
            item->lists[kind] = NULL;
        }
    }
    if (binding != NULL) {
        hub_toolset_take(toolset, binding);
    }
    hub_session_instance_renew(toolset, binding != NULL);
    hub_principal_instance_renew(toolset, binding != NULL);
}

static const hub_settings *swap_settings(reload *next)
{
    hub_orchestrator *hub = next->hub;
    const hub_settings *old = hub_exchange_settings(hub, next->settings);
    hub_resolver_keep_outside(hub_resolver_of(hub), hub_isolation_leaves_out, next->settings);
    hub_module_env_limit_messages(hub_module_env_of(hub),
                                  next->settings->limits.upstream_message_bytes);
    return old;
}

/* Nobody uses it any more. */
static void let_go(hub_toolset *toolset)
{
    if (hub_toolset_binding(toolset) != NULL) {
        hub_discovery_log_removed(toolset);
    }
    hub_toolset_let_go(toolset);
}

/* Whether the registry may have come to more or fewer tools; what new servers have is not known. */
static bool has_other_tools(const reload *next, size_t gone)
{
    bool is_other = gone > 0;
    for (size_t i = 0; !is_other && i < next->toolset_count; i++) {
        const reload_toolset *item = &next->toolsets[i];
        is_other =
            item->has_begun || (item->users == 0 && hub_toolset_binding(item->toolset) != NULL);
    }
    return is_other;
}

/* Nothing of this can fail. */
static void commit(reload *next, hub_reload_report *report)
{
    size_t gone = swap_toolsets(next, report);
    const hub_settings *old = swap_settings(next);
    for (size_t i = 0; i < next->toolset_count; i++) {
        take_toolset(&next->toolsets[i]);
    }
    reload_take_profiles(next, old);
    bool is_other = has_other_tools(next, gone);
    for (size_t i = 0; i < next->toolset_count; i++) {
        const reload_toolset *item = &next->toolsets[i];
        if (item->users == 0) {
            let_go(item->toolset);
            if (item->difference == HUB_TOOLSET_ANOTHER) {
                hub_toolset_forget_catalog(item->toolset);
            }
        } else {
            HUB_STATIONS_TELL(toolset_less, item->toolset, false);
            hub_toolset_set_users(item->toolset, item->users);
        }
    }
    for (size_t i = 0; i < gone; i++) {
        let_go(next->toolset_list[i]);
        hub_toolset_leave(next->toolset_list[i]);
    }
    if (is_other) {
        hub_discovery_log_registry(next->hub, HUB_STR_EMPTY);
    }
    reload_tell(next);
    hub_settings_unref(old);
    reload_wait_begin(next);
    hub_parking_review_all(next->hub); /* what somebody waits for may be no more */
}

void hub_reload_note_refusal(hub_orchestrator *hub, const hub_error *why)
{
    hub_reload_state *state = hub_reload_state_of(hub);
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    hub_str text = hub_respond_mask(hub_str_of(why->text), &masked);
    state->refused_ms = hub_clock_now_ms();
    state->refusal.code = why->code;
    (void)snprintf(state->refusal.text, sizeof state->refusal.text, HUB_STR_FMT, HUB_STR_ARG(text));
    hub_buf_fini(&masked);
}

hub_err hub_reload(hub_orchestrator *hub, const hub_settings *settings,
                   hub_reload_report *ret_report, hub_error *reterr)
{
    reload next = {.hub = hub, .settings = settings};
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            hub_manager_hurry(hub_manager_of(at));
        }
    }
    hub_resolver_scan(hub_resolver_of(hub)); /* for toolsets of modules that have only just come */
    hub_err err = prepare(&next, reterr);
    if (err == HUB_OK) {
        hub_reload_end(hub); /* what the reload before this one waits for may be no more */
        *ret_report = (hub_reload_report){.added = {.count = 0}};
        note_restart(hub_settings_of(hub), settings, &ret_report->restart);
        commit(&next, ret_report);
        next.is_done = true;
        hub_reload_state_of(hub)->refused_ms = 0;
        hub_misnamed_log(hub);
    }
    drop(&next);
    if (err == HUB_OK) {
        hub_saved_review(hub);
    }
    return err;
}
