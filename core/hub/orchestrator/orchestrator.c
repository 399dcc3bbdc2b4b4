/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/orchestrator/orchestrator.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/ask/ask.h"
#include "hub/audit/audit.h"
#include "hub/catalogs/catalog_cache.h"
#include "hub/orchestrator/drain.h"
#include "hub/forward/forward.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/isolation.h"
#include "hub/catalogs/parking.h"
#include "hub/kernel/profile.h"
#include "hub/reload/reload.h"
#include "hub/report/misnamed.h"
#include "hub/active/startup.h"
#include "tools/naming.h"

#include <stdlib.h>
#include <sys/random.h>

/* ---- finding --------------------------------------------------------------------------------- */

hub_profile *hub_find_profile(hub_orchestrator *hub, const char *name)
{
    for (size_t i = 0; i < hub->profile_count; i++) {
        hub_profile *profile = hub->profiles[i];
        if (!profile->is_leaving && (name == NULL || strcmp(profile->settings->name, name) == 0)) {
            return profile;
        }
    }
    return NULL;
}

hub_toolset *hub_find_toolset(const hub_orchestrator *hub, hub_str key)
{
    for (size_t i = 0; i < hub->toolset_count; i++) {
        if (hub_str_is(key, hub->toolsets[i]->settings->key)) {
            return hub->toolsets[i];
        }
    }
    return NULL;
}

hub_str hub_nearest_toolset(const hub_orchestrator *hub, hub_str key)
{
    const char **keys = calloc(hub->toolset_count + 1, sizeof *keys);
    hub_str nearest = HUB_STR_EMPTY;
    if (keys != NULL) {
        for (size_t i = 0; i < hub->toolset_count; i++) {
            keys[i] = hub->toolsets[i]->settings->key;
        }
        nearest = hub_str_nearest(key, keys);
        free(keys);
    }
    return nearest;
}

hub_resolver *hub_orchestrator_resolver(hub_orchestrator *hub)
{
    return hub->resolver;
}

/* ---- toolsets -------------------------------------------------------------------------------- */

/* Count the toolset that was put behind the others, which are sorted by key, and sort it in. */
static void sort_in_last(hub_orchestrator *hub)
{
    hub_toolset *last = hub->toolsets[hub->toolset_count];
    size_t at = hub->toolset_count++;
    while (at > 0 && strcmp(hub->toolsets[at - 1]->settings->key, last->settings->key) > 0) {
        hub->toolsets[at] = hub->toolsets[at - 1];
        at--;
    }
    hub->toolsets[at] = last;
}

static hub_err add_toolset(hub_orchestrator *hub, const hub_toolset_settings *settings,
                           hub_error *reterr)
{
    hub_str key = hub_str_of(settings->key);
    hub_err valid = hub_naming_check_key(key, reterr);
    if (valid != HUB_OK) {
        return valid;
    }
    if (hub_find_toolset(hub, key) != NULL) {
        return hub_fail(reterr, HUB_EINVAL, "two toolsets are called \"%s\"", settings->key);
    }
    if (hub->toolset_count >= HUB_LIMIT_TOOLSETS) {
        return hub_fail(reterr, HUB_ELIMIT, "more than %d toolsets", HUB_LIMIT_TOOLSETS);
    }
    hub_toolset **grown = realloc(hub->toolsets, (hub->toolset_count + 1) * sizeof(hub_toolset *));
    if (grown == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub->toolsets = grown;
    hub_err err = hub_toolset_create(hub, settings, &hub->toolsets[hub->toolset_count]);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "out of memory");
    }
    sort_in_last(hub);
    return HUB_OK;
}

/* Without a list of toolsets, a new module is one. */
static void add_new_toolset(hub_orchestrator *hub, const hub_module *module)
{
    hub_error why = {.code = HUB_OK};
    hub_toolset_settings settings;
    if (!hub->settings->toolsets_listed &&
        hub_find_toolset(hub, hub_str_of(module->name)) == NULL &&
        hub_module_makes_toolset(module, hub->settings, &settings) &&
        add_toolset(hub, &settings, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "toolset.skipped", HUB_F_TEXT("toolset", module->name),
                HUB_F_TEXT("reason", why.text));
    }
}

static hub_err add_toolsets(hub_orchestrator *hub, hub_error *reterr)
{
    const hub_settings *settings = hub->settings;
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < settings->toolset_count; i++) {
        err = add_toolset(hub, &settings->toolsets[i], reterr);
    }
    size_t count;
    const hub_module *const *modules = hub_resolver_modules(hub->resolver, &count);
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        add_new_toolset(hub, modules[i]);
    }
    return err;
}

/* ---- what toolsets report -------------------------------------------------------------------- */

void hub_orchestrator_catalog_changed(hub_orchestrator *hub, hub_toolset *toolset, hub_kind kind)
{
    hub_str key = hub_str_of(toolset->settings->key);
    for (size_t i = 0; i < hub->profile_count; i++) {
        hub_profile *profile = hub->profiles[i];
        hub_error why = {.code = HUB_OK};
        if (profile->registry == NULL || hub_registry_find(profile->registry, key) == NULL) {
            continue;
        }
        hub_err err = hub_registry_update(profile->registry, key, kind, toolset->lists[kind], &why);
        if (err != HUB_OK) {
            hub_log(HUB_LOG_ERROR, "tools.update_failed", HUB_F_STR("toolset", key),
                    HUB_F_TEXT("reason", why.text));
            continue;
        }
        hub_notifier_changed(profile->notifier, false);
    }
}

void hub_orchestrator_discovered(hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub->profile_count; i++) {
        if (hub->profiles[i]->registry != NULL) {
            hub_parking_wake(hub->profiles[i]);
        }
    }
}

void hub_orchestrator_binding_closed(hub_orchestrator *hub)
{
    hub->open_bindings--;
}

/* ---- what the plugins folders report --------------------------------------------------------- */

/* Toolsets whose module was missing until now become active if start-up would have made them so.
 * One that was in use before is left as its users left it. */
static void adopt_module(hub_orchestrator *hub, const hub_module *module)
{
    add_new_toolset(hub, module);
    for (size_t i = 0; i < hub->toolset_count; i++) {
        const hub_toolset *toolset = hub->toolsets[i];
        if (toolset->was_used || strcmp(toolset->settings->module, module->name) != 0) {
            continue;
        }
        for (size_t p = 0; p < hub->profile_count; p++) {
            hub_startup_adopt(hub->profiles[p], hub_str_of(toolset->settings->key));
        }
    }
}

static void rebind(hub_orchestrator *hub, const hub_module *module)
{
    for (size_t i = 0; i < hub->toolset_count; i++) {
        hub_toolset *toolset = hub->toolsets[i];
        hub_error why = {.code = HUB_OK};
        if (strcmp(toolset->settings->module, module->name) != 0) {
            continue;
        }
        if (hub_toolset_rebind(toolset, &why) != HUB_OK) {
            hub_log(HUB_LOG_WARNING, "toolset.rebind_failed",
                    HUB_F_TEXT("toolset", toolset->settings->key), HUB_F_TEXT("reason", why.text));
        }
    }
}

static void on_module_change(void *ctx, const hub_module *module, hub_module_change change)
{
    hub_orchestrator *hub = ctx;
    if (hub->stopping) {
        return; /* there are no profiles any more */
    }
    switch (change) {
    case HUB_MODULE_REMOVED:
        break; /* what is in use stays in use */
    case HUB_MODULE_REPLACED:
        rebind(hub, module);
        adopt_module(hub, module); /* what the old one could not serve */
        break;
    case HUB_MODULE_ADDED:
        adopt_module(hub, module);
        break;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

static hub_err make_parts(hub_orchestrator *hub, hub_error *reterr)
{
    const hub_settings *settings = hub->settings;
    hub_err err = hub_resolver_create(settings->modules.paths.items, settings->modules.paths.count,
                                      settings->modules.allow_writable, &hub->resolver, reterr);
    if (err == HUB_OK) {
        err = hub_worker_pool_create(settings->limits.worker_threads, &hub->workers, reterr);
    }
    if (err == HUB_OK) {
        err = hub_process_table_create(hub->loop, &hub->processes, reterr);
    }
    if (err != HUB_OK) {
        return err;
    }
    if (hub_module_env_create(hub->loop, hub->workers, hub->processes, &hub->env) != HUB_OK ||
        hub_call_table_create(hub->loop, &hub->calls) != HUB_OK ||
        hub_forward_list(settings, &hub->forwarded, &hub->forwarded_items) != HUB_OK) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    err = hub_audit_create(hub->loop, &settings->audit, &hub->audit, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_asks_create(hub, &hub->asks);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "questions to clients cannot be signed: %s",
                        hub_err_text(err));
    }
    if (hub_catalog_cache_create(hub, &hub->cache) != HUB_OK) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_module_env_limit_messages(hub->env, settings->limits.upstream_message_bytes);
    hub_module_env_set_lineage(hub->env, &hub->lineage);
    if (hub_lineage_init(&hub->lineage) != HUB_OK || hub_state_key_make(&hub->task_key) != HUB_OK ||
        getrandom(hub->cursor_key, sizeof hub->cursor_key, 0) != (ssize_t)sizeof hub->cursor_key) {
        return hub_fail(reterr, HUB_ESYSTEM, "no random numbers can be had");
    }
    return HUB_OK;
}

/* The toolset that the meta-tools belong to; it has no module and is in no list. */
static hub_err make_meta(hub_orchestrator *hub, hub_error *reterr)
{
    hub_toolset_settings settings = {.key = HUB_META_TOOLSET, .module = "", .config_json = "{}"};
    hub_err err = hub_toolset_create(hub, &settings, &hub->meta);
    return err == HUB_OK ? HUB_OK : hub_fail(reterr, err, "out of memory");
}

static hub_err find_modules(hub_orchestrator *hub, hub_error *reterr)
{
    hub_resolver_keep_outside(hub->resolver, hub_isolation_leaves_out, hub->settings);
    hub_resolver_announce(hub->resolver, hub->settings->on_step);
    if (hub->settings->modules.file != NULL) {
        return hub_resolver_offer_file(hub->resolver, hub->settings->modules.file, reterr);
    }
    hub_resolver_scan(hub->resolver);
    return HUB_OK;
}

hub_err hub_orchestrator_create(struct ev_loop *loop, const hub_settings *settings,
                                hub_orchestrator **ret_hub, hub_error *reterr)
{
    hub_orchestrator *hub = calloc(1, sizeof *hub);
    if (hub == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub->loop = loop;
    hub->settings = hub_settings_ref(settings);
    hub->begun_ms = hub_clock_now_ms();
    hub_discovery_init(hub);
    hub_err err = make_parts(hub, reterr);
    if (err == HUB_OK) {
        err = make_meta(hub, reterr);
    }
    if (err == HUB_OK) {
        err = find_modules(hub, reterr);
    }
    if (err == HUB_OK) {
        err = add_toolsets(hub, reterr);
    }
    if (err == HUB_OK) {
        hub->profiles = calloc(settings->profile_count, sizeof(hub_profile *));
        err = hub->profiles == NULL ? hub_fail(reterr, HUB_ENOMEM, "out of memory") : HUB_OK;
    }
    for (size_t i = 0; err == HUB_OK && i < settings->profile_count; i++) {
        err = hub_profile_create(hub, settings, &settings->profiles[i], &hub->profiles[i], reterr);
        hub->profile_count += err == HUB_OK;
    }
    if (err != HUB_OK) {
        (void)hub_orchestrator_destroy(hub, 0); /* no plugin has run yet */
        return err;
    }
    *ret_hub = hub;
    return HUB_OK;
}

hub_err hub_orchestrator_start(hub_orchestrator *hub, hub_error *reterr)
{
    for (size_t i = 0; i < hub->toolset_count; i++) {
        if (hub->toolsets[i]->settings->enabled) {
            hub_catalog_cache_recall(
                hub->toolsets[i]); /* also for those who look before they use */
        }
    }
    for (size_t i = 0; i < hub->profile_count; i++) {
        hub_err err = hub_startup_run(hub->profiles[i], reterr);
        if (err != HUB_OK) {
            return err;
        }
    }
    hub_misnamed_log(hub);
    hub_error why = {.code = HUB_OK};
    hub_resolver_report(hub->resolver, on_module_change, hub); /* a reload looks, watched or not */
    if (hub->settings->modules.watch &&
        hub_resolver_watch(hub->resolver, hub->loop, on_module_change, hub, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "resolver.not_watching", HUB_F_TEXT("reason", why.text));
    }
    hub->started = true;
    return HUB_OK;
}

bool hub_orchestrator_is_ready(const hub_orchestrator *hub)
{
    return hub->started && !hub->stopping;
}

/* Profiles that start could not be run for; one that inherits what is wrong says nothing new. */
static void check_start(hub_orchestrator *hub, void (*on_bad)(void *ctx, const char *reason),
                        void *ctx)
{
    const char *said = NULL;
    for (size_t i = 0; i < hub->profile_count; i++) {
        const char *source = hub->profiles[i]->settings->source;
        hub_error why = {.code = HUB_OK};
        if (hub_startup_check(hub->profiles[i], &why) == HUB_OK) {
            continue;
        }
        bool is_inherited = source != NULL ? said != NULL && strcmp(source, said) == 0 : i > 0;
        if (!is_inherited) {
            on_bad(ctx, why.text);
        }
        said = source;
    }
}

void hub_orchestrator_check(hub_orchestrator *hub, void (*on_bad)(void *ctx, const char *reason),
                            void *ctx)
{
    for (size_t i = 0; i < hub->toolset_count; i++) {
        hub_error why = {.code = HUB_OK};
        if (!hub->toolsets[i]->settings->enabled) {
            continue;
        }
        if (hub->settings->on_step != NULL) {
            hub_error step;
            (void)hub_fail(&step, HUB_OK, "%s: toolset \"%s\"", hub->toolsets[i]->settings->source,
                           hub->toolsets[i]->key);
            hub->settings->on_step(step.text);
        }
        if (hub_toolset_use(hub->toolsets[i], &why) == HUB_OK) {
            hub_toolset_unuse(hub->toolsets[i]);
        } else {
            hub_error_prefix(&why, "%s", hub->toolsets[i]->settings->source);
            on_bad(ctx, why.text);
        }
    }
    check_start(hub, on_bad, ctx);
}

void hub_orchestrator_stop(hub_orchestrator *hub)
{
    hub_drain_begin(hub);
    hub_drain_abort_all(hub);
    hub_asks_stop(hub->asks);
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
}

/* Run the loop until bindings and children are gone, or the time is over. */
static void wait_for_end(hub_orchestrator *hub, unsigned timeout_ms)
{
    uint64_t deadline = hub_clock_now_ms() + timeout_ms;
    ev_timer tick; /* wakes the loop to look at the clock */
    ev_timer_init(&tick, on_tick, 0.05, 0.05);
    ev_timer_start(hub->loop, &tick);
    while ((hub->open_bindings > 0 || hub_process_count(hub->processes) > 0 ||
            !hub_catalog_cache_settle(hub->cache)) &&
           hub_clock_now_ms() < deadline) {
        ev_run(hub->loop, EVRUN_ONCE);
    }
    ev_timer_stop(hub->loop, &tick);
}

bool hub_orchestrator_destroy(hub_orchestrator *hub, unsigned timeout_ms)
{
    if (hub == NULL) {
        return true;
    }
    hub->stopping = true;
    hub_reload_end(hub);
    hub_discovery_end(hub);
    if (hub->asks != NULL) {
        hub_asks_stop(hub->asks);
    }
    for (size_t i = 0; i < hub->profile_count; i++) {
        hub_profile_fini(hub->profiles[i]);
    }
    if (hub->env != NULL && hub->processes != NULL) {
        wait_for_end(hub, timeout_ms);
    }
    bool ended = hub->open_bindings == 0;
    hub_process_table_destroy(hub->processes);
    ended = (hub->workers == NULL || hub_worker_pool_destroy(hub->workers, 100)) && ended;
    if (!ended) {
        (void)hub_audit_destroy(hub->audit); /* so that the last records are written */
        return false;                        /* a plugin's thread still uses all of this */
    }
    if (hub->env != NULL) {
        hub_module_env_drain(hub->env);
    }
    hub_module_env_destroy(hub->env);
    for (size_t i = 0; i < hub->toolset_count; i++) {
        hub_toolset_destroy(hub->toolsets[i]);
    }
    hub_toolset_destroy(hub->meta);
    hub_asks_destroy(hub->asks);
    hub_call_table_destroy(hub->calls);
    if (!hub_audit_destroy(hub->audit)) {
        return false;
    }
    hub_rates_end(hub);
    hub_resolver_destroy(hub->resolver);
    free(hub->forwarded_items);
    hub_catalog_cache_destroy(hub->cache);
    free(hub->toolsets);
    for (size_t i = 0; i < hub->profile_count; i++) {
        hub_profile_destroy(hub->profiles[i]);
    }
    free(hub->profiles);
    hub_settings_unref(hub->settings);
    free(hub);
    return true;
}
