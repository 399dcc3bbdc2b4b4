/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/orchestrator/orchestrator.h"

#include "base/cause.h"
#include "base/clock.h"
#include "base/limits.h"
#include "hub/active/startup.h"
#include "hub/audit/audit.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/isolation.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/toolset.h"
#include "hub/limits/servers.h"
#include "hub/orchestrator/drain.h"
#include "hub/orchestrator/profiles.h"
#include "hub/reload/reload.h"
#include "hub/replicas/manifests.h"
#include "hub/report/misnamed.h"
#include "hub/router/meta_tools.h"
#include "hub/router/router.h"
#include "hub/router/stations.h"
#include "hub/saved/saved.h"
#ifdef PATCHBAY_HTTP
#include "hub/telemetry/telemetry.h"
#endif
#include "state/secrets.h"
#include "tools/naming.h"

#include <stdlib.h>

enum { WORKERS_END_MS = 100 }; /* for a plugin's code that runs on a thread when the hub ends */

hub_resolver *hub_orchestrator_resolver(hub_orchestrator *hub)
{
    return hub_resolver_of(hub);
}

/* ---- toolsets -------------------------------------------------------------------------------- */

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
    if (hub_toolset_total(hub) >= HUB_LIMIT_TOOLSETS) {
        return hub_fail(reterr, HUB_ELIMIT, "more than %d toolsets", HUB_LIMIT_TOOLSETS);
    }
    hub_toolset *toolset = NULL;
    hub_err err = hub_toolset_create(hub, settings, &toolset);
    if (err == HUB_OK) {
        err = hub_add_toolset(hub, toolset);
    }
    if (err != HUB_OK) {
        hub_toolset_destroy(toolset);
        return hub_fail(reterr, err, "out of memory");
    }
    return HUB_OK;
}

/* Without a list of toolsets, a new module is one. */
static void add_new_toolset(hub_orchestrator *hub, const hub_module *module)
{
    hub_error why = {.code = HUB_OK};
    hub_toolset_settings settings;
    if (!hub_settings_of(hub)->toolsets_listed &&
        hub_find_toolset(hub, hub_str_of(module->name)) == NULL &&
        hub_module_makes_toolset(module, hub_settings_of(hub), &settings) &&
        add_toolset(hub, &settings, &why) != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "toolset.skipped", HUB_F_TEXT("toolset", module->name),
                HUB_F_TEXT("reason", why.text), HUB_F_BY);
    }
}

static hub_err add_toolsets(hub_orchestrator *hub, hub_error *reterr)
{
    const hub_settings *settings = hub_settings_of(hub);
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < settings->toolset_count; i++) {
        err = add_toolset(hub, &settings->toolsets[i], reterr);
    }
    size_t count;
    const hub_module *const *modules = hub_resolver_modules(hub_resolver_of(hub), &count);
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        add_new_toolset(hub, modules[i]);
    }
    return err;
}

/* ---- what the plugins folders report --------------------------------------------------------- */

/* Toolsets whose module was missing until now become active if start-up would have made them so.
 * One that was in use before is left as its users left it. */
static void adopt_module(hub_orchestrator *hub, const hub_module *module)
{
    hub_error why = {.code = HUB_OK};
    add_new_toolset(hub, module);
    if (hub_profiles_renew(hub, &why) != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "tools.update_failed", HUB_F_TEXT("reason", why.text));
    }
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        if (hub_toolset_was_used(toolset) ||
            strcmp(hub_toolset_settings_of(toolset)->module, module->name) != 0) {
            continue;
        }
        for (size_t p = 0; p < hub_profile_total(hub); p++) {
            hub_startup_adopt(hub_profile_at(hub, p),
                              hub_str_of(hub_toolset_settings_of(toolset)->key));
        }
    }
    hub_saved_review(hub);
}

static void rebind(hub_orchestrator *hub, const hub_module *module)
{
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        hub_toolset *toolset = hub_toolset_at(hub, i);
        hub_error why = {.code = HUB_OK};
        if (strcmp(hub_toolset_settings_of(toolset)->module, module->name) != 0) {
            continue;
        }
        if (hub_toolset_rebind(toolset, &why) != HUB_OK) {
            hub_log(HUB_LOG_WARNING, "toolset.rebind_failed",
                    HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                    HUB_F_TEXT("reason", why.text));
        }
    }
}

static void on_module_change(void *ctx, const hub_module *module, hub_module_change change)
{
    hub_orchestrator *hub = ctx;
    if (hub_is_stopping(hub)) {
        return; /* there are no profiles any more */
    }
    switch (change) {
    case HUB_MODULE_REMOVED:
        break;             /* what is in use stays in use */
    case HUB_MODULE_ADDED: /* or it is back: a toolset may still have the one that was removed */
    case HUB_MODULE_REPLACED:
        rebind(hub, module);
        adopt_module(hub, module); /* what the old one could not serve */
        break;
    }
}

/* ---- life ------------------------------------------------------------------------------------ */

/* What runs modules. */
static hub_err make_modules(hub_orchestrator *hub, hub_error *reterr)
{
    const hub_settings *settings = hub_settings_of(hub);
    hub_resolver *resolver = NULL;
    hub_worker_pool *workers = NULL;
    hub_process_table *processes = NULL;
    hub_module_env *env = NULL;
    hub_err err = hub_resolver_create(settings->modules.paths.items, settings->modules.paths.count,
                                      settings->modules.allow_writable, &resolver, reterr);
    if (err == HUB_OK) {
        err = hub_resolver_add_own(resolver, settings->modules.own_paths.items,
                                   settings->modules.own_paths.count, reterr);
    }
    if (err == HUB_OK) {
        err = hub_worker_pool_create(settings->limits.worker_threads, &workers, reterr);
    }
    if (err == HUB_OK) {
        err = hub_process_table_create(hub_loop(hub), &processes, reterr);
    }
    if (err == HUB_OK && hub_module_env_create(hub_loop(hub), workers, processes, &env) != HUB_OK) {
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    hub_give_modules(hub, resolver, workers, processes, env);
    if (err == HUB_OK) {
        hub_module_env_limit_messages(env, settings->limits.upstream_message_bytes);
        hub_module_env_admit_servers(env, hub_servers_admit, hub);
        hub_module_env_set_lineage(env, hub_lineage_of(hub));
    }
    return err;
}

/* Once for each change, however often it is tried. */
static void on_health(void *ctx, const hub_state_health *health)
{
    (void)ctx;
    if (health->condition == HUB_STATE_UNAVAILABLE) {
        hub_log(HUB_LOG_WARNING, "state.unavailable", HUB_F_TEXT("reason", health->reason));
    } else if (!health->is_back && health->notice[0] != '\0') {
        hub_log(HUB_LOG_WARNING, "state.notice", HUB_F_TEXT("notice", health->notice));
    } else {
        hub_log(HUB_LOG_INFO, "state.available", HUB_F_TEXT("path", health->place));
    }
}

/* What outlives the hub. A key that cannot be had is no reason not to serve: secrets are refused. */
static hub_err make_store(hub_orchestrator *hub, hub_error *reterr)
{
    const hub_state_settings *settings = &hub_settings_of(hub)->state;
    bool is_off = settings->place == NULL || strcmp(settings->place, HUB_STATE_PLACE_OFF) == 0;
    hub_store_options options = {.place = is_off ? HUB_STATE_PLACE_OFF : settings->place,
                                 .password = settings->password,
                                 .scope = settings->scope != NULL ? settings->scope : "hub",
                                 .on_health = on_health,
                                 .ctx = hub};
    hub_store *store = NULL;
    hub_error why = {.code = HUB_OK};
    hub_err err = is_off ? HUB_OK : hub_state_keys_load(settings->key, &options.keys, &why);
    if (err != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "state.no_key", HUB_F_TEXT("reason", why.text));
        err = hub_state_keys_broken(why.text, &options.keys, reterr);
    }
    if (err == HUB_OK) {
        err = hub_store_create(hub_loop(hub), &options, &store, reterr);
    }
    hub_give_store(hub, store);
    return err;
}

/* The toolset that the meta-tools belong to; it has no module and is in no list. */
static hub_err make_meta(hub_orchestrator *hub, hub_error *reterr)
{
    hub_toolset_settings settings = {.key = HUB_META_TOOLSET, .module = "", .config_json = "{}"};
    hub_toolset *meta = NULL;
    hub_err err = hub_toolset_create(hub, &settings, &meta);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "out of memory");
    }
    hub_toolset_set_answer(meta, hub_meta_answer);
    hub_give_meta(hub, meta);
    return HUB_OK;
}

static hub_err make_profiles(hub_orchestrator *hub, hub_error *reterr)
{
    const hub_settings *settings = hub_settings_of(hub);
    hub_profile **profiles = calloc(settings->profile_count, sizeof(hub_profile *));
    size_t count = 0;
    hub_err err = profiles == NULL ? hub_fail(reterr, HUB_ENOMEM, "out of memory") : HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < settings->profile_count; i++) {
        err = hub_profile_create(hub, settings, &settings->profiles[i], &profiles[i], reterr);
        count += err == HUB_OK;
    }
    hub_exchange_profiles(hub, &profiles, &count); /* it had none */
    return err;
}

static hub_err find_modules(hub_orchestrator *hub, hub_error *reterr)
{
    hub_resolver_keep_outside(hub_resolver_of(hub), hub_isolation_leaves_out, hub_settings_of(hub));
    hub_resolver_announce(hub_resolver_of(hub), hub_settings_of(hub)->on_step);
    const char *file = hub_settings_of(hub)->modules.file;
    if (file != NULL) {
        hub_err err = hub_resolver_offer_file(hub_resolver_of(hub), file, reterr);
        if (err != HUB_OK) {
            hub_error_prefix(reterr, "%s", file);
        }
        return err;
    }
    hub_resolver_scan(hub_resolver_of(hub));
    return HUB_OK;
}

hub_err hub_orchestrator_create(struct ev_loop *loop, const hub_settings *settings,
                                hub_orchestrator **ret_hub, hub_error *reterr)
{
    hub_orchestrator *hub = NULL;
    hub_stations_lay_out(HUB_STATIONS, HUB_STATION_COUNT);
    hub_err err = hub_make(loop, settings, &HUB_ROUTER_OPS, &hub, reterr);
    if (err == HUB_OK) {
        err = make_store(hub, reterr);
    }
    if (err == HUB_OK) {
        err = make_modules(hub, reterr);
    }
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
        err = make_profiles(hub, reterr);
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
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        if (hub_toolset_settings_of(hub_toolset_at(hub, i))->enabled) {
            hub_discovery_recall(
                hub_toolset_at(hub, i)); /* also for those who look before they use */
        }
    }
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        hub_err err = hub_startup_run(hub_profile_at(hub, i), reterr);
        if (err != HUB_OK) {
            return err;
        }
        hub_saved_start(hub_profile_at(hub, i));
    }
    hub_misnamed_log(hub);
    hub_manifests_start(hub);
    hub_error why = {.code = HUB_OK};
    hub_resolver_report(hub_resolver_of(hub), on_module_change,
                        hub); /* a reload looks, watched or not */
    if (hub_settings_of(hub)->modules.watch &&
        hub_resolver_watch(hub_resolver_of(hub), hub_loop(hub), on_module_change, hub, &why) !=
            HUB_OK) {
        hub_log(HUB_LOG_WARNING, "resolver.not_watching", HUB_F_TEXT("reason", why.text));
    }
    hub_note_started(hub);
    return HUB_OK;
}

bool hub_orchestrator_is_ready(const hub_orchestrator *hub)
{
    return hub_orchestrator_takes_work(hub) && !hub_is_leaving(hub);
}

bool hub_orchestrator_takes_work(const hub_orchestrator *hub)
{
    return hub_has_started(hub) && !hub_is_stopping(hub);
}

/* Profiles that start could not be run for; one that inherits what is wrong says nothing new. */
static void check_start(hub_orchestrator *hub, hub_orchestrator_on_bad *on_bad, void *ctx)
{
    const char *said = NULL;
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        const char *source = hub_profile_settings_of(hub_profile_at(hub, i))->source;
        hub_error why = {.code = HUB_OK};
        if (hub_startup_check(hub_profile_at(hub, i), &why) == HUB_OK) {
            continue;
        }
        bool is_inherited = source != NULL ? said != NULL && strcmp(source, said) == 0 : i > 0;
        if (!is_inherited) {
            on_bad(ctx, NULL, why.text);
        }
        said = source;
    }
}

void hub_orchestrator_check(hub_orchestrator *hub, hub_orchestrator_on_bad *on_bad, void *ctx)
{
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        hub_error why = {.code = HUB_OK};
        if (!hub_toolset_settings_of(hub_toolset_at(hub, i))->enabled) {
            continue;
        }
        if (hub_settings_of(hub)->on_step != NULL) {
            hub_error step;
            (void)hub_fail(&step, HUB_OK, "%s: toolset \"%s\"",
                           hub_toolset_settings_of(hub_toolset_at(hub, i))->source,
                           hub_toolset_key(hub_toolset_at(hub, i)));
            hub_settings_of(hub)->on_step(step.text);
        }
        if (hub_toolset_use(hub_toolset_at(hub, i), &why) == HUB_OK) {
            hub_toolset_unuse(hub_toolset_at(hub, i));
        } else {
            on_bad(ctx, hub_toolset_at(hub, i), why.text);
        }
    }
    check_start(hub, on_bad, ctx);
}

void hub_orchestrator_stop(hub_orchestrator *hub)
{
    hub_drain_begin(hub);
    hub_drain_abort_all(hub);
    HUB_STATIONS_TELL(hub_stops, hub);
}

static void on_tick(struct ev_loop *loop, ev_timer *timer, int events)
{
    (void)loop;
    (void)timer;
    (void)events;
}

/* Whether nothing waits for a collector any more. */
static bool has_told_all(const hub_orchestrator *hub)
{
#ifdef PATCHBAY_HTTP
    return hub_telemetry_is_settled(hub);
#else
    (void)hub;
    return true;
#endif
}

/* Run the loop until bindings and children are gone, or the time is over. Children have less of it:
 * their guards go on without the hub. */
static void wait_for_end(hub_orchestrator *hub, unsigned timeout_ms)
{
    struct ev_loop *loop = hub_loop(hub);
    hub_process_table *processes = hub_processes_of(hub);
    uint64_t deadline = hub_clock_now_ms() + timeout_ms;
    uint64_t leave = hub_clock_now_ms() + hub_process_patience(timeout_ms);
    ev_timer tick; /* wakes the loop to look at the clock */
    ev_timer_init(&tick, on_tick, 0.05, 0.05);
    ev_timer_start(loop, &tick);
    while ((hub_open_bindings(hub) > 0 ||
            (hub_process_count(processes) > 0 && hub_clock_now_ms() < leave) ||
            !hub_discovery_settle(hub) || !has_told_all(hub)) &&
           hub_clock_now_ms() < deadline) {
        ev_run(loop, EVRUN_ONCE);
    }
    ev_timer_stop(loop, &tick);
    hub_process_table_leave(processes);
}

/* Everything but what a plugin's thread may still use. */
static void free_all(hub_orchestrator *hub)
{
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        hub_toolset_destroy(hub_toolset_at(hub, i));
    }
    hub_toolset_destroy(hub_meta_toolset(hub));
    HUB_STATIONS_TELL_BACK(hub_drops, hub);
    hub_call_table_destroy(hub_calls_of(hub));
    hub_resolver_destroy(hub_resolver_of(hub));
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        hub_profile_free(hub_profile_at(hub, i));
    }
    hub_free(hub);
}

/* How long a thread may take to end: `least`, or more for whoever has much time. */
static unsigned thread_patience(unsigned timeout_ms, unsigned least)
{
    enum { SHARE = 40 }; /* what hangs in one thread takes no more of the time than this */
    return timeout_ms / SHARE > least ? timeout_ms / SHARE : least;
}

bool hub_orchestrator_destroy(hub_orchestrator *hub, unsigned timeout_ms)
{
    if (hub == NULL) {
        return true;
    }
    hub_note_stopping(hub);
    hub_reload_end(hub);
    HUB_STATIONS_TELL(hub_stops, hub);
    HUB_STATIONS_TELL_BACK(hub_ends, hub);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        hub_profile_end(hub_profile_at(hub, i));
    }
    hub_module_env *env = hub_module_env_of(hub);
    hub_worker_pool *workers = hub_workers_of(hub);
    if (env != NULL && hub_processes_of(hub) != NULL) {
        wait_for_end(hub, timeout_ms);
    }
    unsigned records_ms = thread_patience(timeout_ms, HUB_LIMIT_AUDIT_END_MS);
    bool ended = hub_open_bindings(hub) == 0;
    hub_process_table_destroy(hub_processes_of(hub));
    ended =
        hub_store_destroy(hub_store_of(hub), thread_patience(timeout_ms, HUB_LIMIT_STATE_END_MS)) &&
        ended;
    hub_give_store(hub, NULL);
    ended = (workers == NULL ||
             hub_worker_pool_destroy(workers, thread_patience(timeout_ms, WORKERS_END_MS))) &&
            ended;
    if (!ended) {
        (void)hub_audit_finish(hub, records_ms); /* so that the last records are written */
        return false;                            /* a thread still uses all of this */
    }
    if (env != NULL) {
        hub_module_env_drain(env);
    }
    hub_module_env_destroy(env);
    if (!hub_audit_finish(hub, records_ms)) {
        return false;
    }
    free_all(hub);
    return true;
}
