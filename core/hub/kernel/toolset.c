/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/toolset.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/catalogs/catalog_cache.h"
#include "hub/ask/elicitation.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/isolation.h"
#include "hub/notices/logging.h"
#include "hub/orchestrator/orchestrator.h"
#include "hub/ask/roots.h"
#include "hub/instances/session_instance.h"
#include "modules/module_list.h"
#include "hub/notices/subscription.h"
#include "hub/tasks/task_watch.h"

#include <stdlib.h>

/* ---- bindings -------------------------------------------------------------------------------- */

void hub_binding_cancel(hub_binding *binding, uint64_t call)
{
    if (binding->instance != NULL) {
        hub_instance_cancel(binding->instance, call);
    }
}

static void close_if_done(hub_binding *binding)
{
    if (binding->retired && binding->in_flight == 0 && binding->asks == 0) {
        hub_instance *instance = binding->instance;
        binding->instance = NULL;
        hub_instance_close(instance);
    }
}

void hub_binding_call_ended(hub_binding *binding)
{
    binding->in_flight--;
    close_if_done(binding);
}

void hub_binding_ask_ended(hub_binding *binding)
{
    binding->asks--;
    close_if_done(binding);
}

/* Stop taking calls. With `at_once` those in flight fail, else they may end; roots are not waited
 * for. */
static void retire(hub_binding *binding, bool at_once)
{
    binding->retired = true;
    binding->in_flight++; /* not closed before every call has been told */
    hub_roots_end(binding);
    while (at_once && binding->calls != NULL) {
        hub_call_abort(binding->calls, PATCHBAY_UNAVAILABLE, HUB_STR("the toolset was disabled"));
    }
    hub_binding_call_ended(binding);
}

/* ---- the catalog ----------------------------------------------------------------------------- */

void hub_toolset_set_list(hub_toolset *toolset, hub_kind kind, hub_catalog *list)
{
    hub_catalog_unref(toolset->lists[kind]);
    toolset->lists[kind] = list;
    if (toolset->binding != NULL && toolset->binding->deferred) {
        hub_discovery_take(toolset);
    }
    hub_log(HUB_LOG_DEBUG, "tools.catalog", HUB_F_TEXT("toolset", toolset->settings->key),
            HUB_F_TEXT("list", hub_kind_noun(kind, 0)),
            HUB_F_INT("count", list != NULL ? list->count : 0));
    hub_orchestrator_catalog_changed(toolset->hub, toolset, kind);
}

void hub_toolset_set_capabilities(hub_toolset *toolset, hub_capabilities *capabilities)
{
    hub_capabilities_fini(&toolset->capabilities);
    toolset->capabilities = *capabilities;
    *capabilities = (hub_capabilities){.json = NULL};
    hub_logging_refresh(toolset);
}

void hub_toolset_forget_catalog(hub_toolset *toolset)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_catalog_unref(toolset->lists[kind]);
        toolset->lists[kind] = NULL;
    }
    hub_capabilities_fini(&toolset->capabilities);
    hub_catalog_cache_forget(toolset);
    toolset->learned_at_ms = 0;
    toolset->is_recalled = false;
    toolset->is_modern = false;
}

/* What the instance said of its catalog before it was the toolset's. */
static void forget_first(hub_binding *binding)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_catalog_unref(binding->first_lists[kind]);
        binding->first_lists[kind] = NULL;
    }
    hub_capabilities_fini(&binding->first_capabilities);
}

/* ---- making bindings ------------------------------------------------------------------------- */

/* The module that the settings name, and what it is told: the newest one, or the one that runs it
 * in a process of its own. `config` is where that one's configuration goes. */
static hub_err find_module(hub_orchestrator *hub, const hub_toolset_settings *settings,
                           hub_buf *config, const hub_module **ret_module, hub_error *reterr)
{
    const hub_module *module = hub_resolver_find(hub->resolver, hub_str_of(settings->module));
    if (module == NULL) {
        hub_err missing =
            hub_module_list_explain(hub->resolver, hub_str_of(settings->module), reterr);
        hub_error_prefix(reterr, "toolset \"%s\"", settings->key);
        return missing;
    }
    hub_err err = HUB_OK;
    if (hub_isolation_is_wanted(hub->settings, settings)) {
        err = hub_isolation_configure(hub->settings, settings, module, config, reterr);
        module = hub_resolver_find(hub->resolver, HUB_STR(HUB_ISOLATION_MODULE));
    }
    if (err == HUB_OK && module != NULL && module->is_outside) {
        err = hub_resolver_link(hub->resolver, module, &module, reterr);
        if (err != HUB_OK) {
            hub_error_prefix(reterr, "%s", module->path);
        }
    }
    if (err == HUB_OK && module == NULL) {
        err = hub_module_list_explain(hub->resolver, HUB_STR(HUB_ISOLATION_MODULE), reterr);
        hub_error_prefix(reterr, "isolation: process wants a module");
    }
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "toolset \"%s\"", settings->key);
    }
    *ret_module = module;
    return err;
}

static hub_err bind_to(hub_toolset *toolset, const hub_toolset_settings *settings,
                       const hub_module *module, hub_str config_json, hub_binding **ret_binding,
                       hub_error *reterr)
{
    hub_binding *binding = calloc(1, sizeof *binding);
    if (binding == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    binding->toolset = toolset;
    binding->native = (module->table->flags & PATCHBAY_PLUGIN_PROXY) == 0;
    uint32_t state = toolset->state;
    hub_err err = hub_instance_create(toolset->hub->env, module, toolset->key, config_json,
                                      &HUB_BINDING_EVENTS, binding, &binding->instance, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "toolset \"%s\"", settings->key);
        toolset->state = state;
        forget_first(binding);
        free(binding);
        return err;
    }
    binding->first_state = toolset->state;
    toolset->state = state;
    toolset->hub->open_bindings++;
    toolset->open_bindings++;
    *ret_binding = binding;
    return HUB_OK;
}

/* Make a binding to the newest module. The toolset's own binding is not touched. */
static hub_err bind(hub_toolset *toolset, const hub_toolset_settings *settings,
                    hub_binding **ret_binding, hub_error *reterr)
{
    const hub_module *module = NULL;
    hub_buf config;
    hub_buf_init(&config, 2 * HUB_LIMIT_CONFIG_BYTES); /* the module's own, as a string */
    hub_err err = find_module(toolset->hub, settings, &config, &module, reterr);
    if (err == HUB_OK) {
        err = bind_to(toolset, settings, module,
                      config.len > 0 ? hub_buf_str(&config) : hub_str_of(settings->config_json),
                      ret_binding, reterr);
    }
    hub_buf_fini(&config);
    return err;
}

/* Work with a new binding from now on. What it has not said is none, unless it is to be asked. */
static void take_binding(hub_toolset *toolset, hub_binding *binding)
{
    toolset->binding = binding;
    toolset->health = (hub_toolset_health){.pid = 0};
    toolset->was_used = true;
    toolset->state = binding->first_state;
    toolset->native = binding->native;
    toolset->deferred = binding->deferred;
    toolset->failed_at_ms = 0;
    toolset->failures = 0;
    /* Until its server has said of which era it is: one that was legacy may be a modern one now. */
    bool may_be_modern = binding->deferred && (toolset->is_modern || toolset->is_recalled);
    binding->expects_input = binding->expects_input || may_be_modern;
    toolset->level_told = HUB_LEVEL_NONE;
    if (!binding->deferred || binding->first_capabilities.json != NULL) {
        hub_toolset_set_capabilities(toolset, &binding->first_capabilities);
    }
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_catalog *list = binding->first_lists[kind];
        binding->first_lists[kind] = NULL;
        if (list != NULL || (!binding->deferred && toolset->lists[kind] != NULL)) {
            hub_toolset_set_list(toolset, (hub_kind)kind, list);
        }
    }
    hub_subscription_rebind(toolset);
    hub_queue_wake(toolset);
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err hub_toolset_create(hub_orchestrator *hub, const hub_toolset_settings *settings,
                           hub_toolset **ret_toolset)
{
    hub_toolset *toolset = calloc(1, sizeof *toolset);
    if (toolset == NULL) {
        return HUB_ENOMEM;
    }
    toolset->hub = hub;
    toolset->key = strdup(settings->key);
    toolset->settings = hub_toolset_settings_dup(settings);
    if (toolset->key == NULL || toolset->settings == NULL) {
        free(toolset->key);
        free(toolset->settings);
        free(toolset);
        return HUB_ENOMEM;
    }
    toolset->level_told = HUB_LEVEL_NONE;
    toolset->level_asked = HUB_LEVEL_NONE;
    hub_discovery_init_toolset(toolset);
    hub_queue_init(toolset);
    *ret_toolset = toolset;
    return HUB_OK;
}

void hub_toolset_destroy(hub_toolset *toolset)
{
    if (toolset != NULL) {
        hub_assert(toolset->binding == NULL && toolset->waiters == NULL &&
                   toolset->subscriptions == NULL && toolset->task_watches == NULL);
        for (int kind = 0; kind < HUB_KINDS; kind++) {
            hub_catalog_unref(toolset->lists[kind]);
        }
        hub_queue_fini(toolset);
        hub_capabilities_fini(&toolset->capabilities);
        hub_catalog_cache_forget(toolset);
        free(toolset->settings);
        free(toolset->key);
        free(toolset);
    }
}

/* Whether the settings allow it to be used at all. */
static hub_err check_usable(const hub_toolset_settings *settings, hub_error *reterr)
{
    if (!settings->enabled) {
        return hub_fail(reterr, HUB_EDENIED, "toolset \"%s\" is switched off by configuration",
                        settings->key);
    }
    return HUB_OK;
}

hub_err hub_toolset_use(hub_toolset *toolset, hub_error *reterr)
{
    hub_err err = check_usable(toolset->settings, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (toolset->binding == NULL) {
        hub_binding *binding = NULL;
        err = bind(toolset, toolset->settings, &binding, reterr);
        if (err != HUB_OK) {
            return err;
        }
        hub_catalog_cache_recall(toolset); /* now that the module is linked: its version counts */
        take_binding(toolset, binding);
    }
    toolset->users++;
    return HUB_OK;
}

/* Go without a binding; its calls fail `at_once`, or may end. Whether the catalog was asked for. */
static bool drop_binding(hub_toolset *toolset, bool at_once)
{
    bool was_asked = hub_discovery_stop(toolset);
    hub_binding *binding = toolset->binding;
    hub_task_watch_forget_toolset(toolset);
    toolset->binding = NULL;
    hub_queue_end(toolset);
    toolset->health = (hub_toolset_health){.pid = 0};
    toolset->state = PATCHBAY_STATE_IDLE;
    for (int kind = 0; toolset->native && kind < HUB_KINDS; kind++) {
        hub_catalog_unref(toolset->lists[kind]); /* an upstream's last good ones are kept */
        toolset->lists[kind] = NULL;
    }
    retire(binding, at_once);
    hub_discovery_tell(toolset, HUB_EUNAVAILABLE, HUB_STR("the toolset was disabled"));
    return was_asked;
}

void hub_toolset_unuse(hub_toolset *toolset)
{
    hub_assert(toolset->users > 0);
    hub_session_instance_sweep(toolset, true);
    hub_subscription_sweep(toolset);
    if (--toolset->users == 0 && drop_binding(toolset, true)) {
        hub_orchestrator_discovered(toolset->hub); /* nobody need wait for it any more */
    }
}

hub_err hub_toolset_rebind(hub_toolset *toolset, hub_error *reterr)
{
    hub_binding *old = toolset->binding;
    hub_binding *binding = NULL;
    if (old == NULL) {
        if (toolset->settings->is_isolated) {
            hub_toolset_forget_catalog(toolset); /* another program, another catalog */
        }
        return HUB_OK;
    }
    hub_err err = bind(toolset, toolset->settings, &binding, reterr);
    if (err != HUB_OK) {
        return err;
    }
    bool was_asked = hub_discovery_stop(toolset);
    take_binding(toolset, binding);
    retire(old, false);
    if (toolset->settings->is_isolated && toolset->lists[HUB_KIND_TOOL] != NULL) {
        hub_toolset_rediscover(toolset, NULL, NULL); /* another program, another catalog */
    } else if (was_asked && hub_toolset_is_pending(toolset)) {
        hub_toolset_discover(toolset, NULL, NULL);
    } else if (was_asked) {
        hub_discovery_tell(toolset, HUB_OK, HUB_STR_EMPTY);
        hub_orchestrator_discovered(toolset->hub);
    }
    hub_session_instance_renew(toolset, true);
    return HUB_OK;
}

/* ---- reloading ------------------------------------------------------------------------------- */

hub_err hub_toolset_prepare(hub_toolset *toolset, const hub_toolset_settings *settings,
                            hub_binding **ret_binding, hub_error *reterr)
{
    hub_err err = check_usable(settings, reterr);
    return err == HUB_OK ? bind(toolset, settings, ret_binding, reterr) : err;
}

void hub_binding_abandon(hub_binding *binding)
{
    if (binding != NULL) {
        forget_first(binding);
        retire(binding, true);
    }
}

void hub_toolset_take(hub_toolset *toolset, hub_binding *binding)
{
    hub_binding *old = toolset->binding;
    if (old != NULL) {
        (void)hub_discovery_stop(toolset); /* who waits for it is told by hub_toolset_rediscover */
    }
    take_binding(toolset, binding);
    if (old != NULL) {
        retire(old, false);
    }
}

void hub_toolset_let_go(hub_toolset *toolset)
{
    hub_session_instance_sweep(toolset, false);
    hub_subscription_sweep(toolset);
    toolset->users = 0;
    if (toolset->binding != NULL) {
        (void)drop_binding(toolset, false);
    }
}

static void end_if_left(hub_toolset *toolset)
{
    if (toolset->is_leaving && toolset->open_bindings == 0) {
        hub_elicitation_forget_toolset(toolset);
        hub_task_watch_forget_toolset(toolset);
        hub_toolset_destroy(toolset);
    }
}

void hub_toolset_leave(hub_toolset *toolset)
{
    hub_subscription_forget(toolset);
    toolset->is_leaving = true;
    end_if_left(toolset);
}

void hub_toolset_binding_closed(hub_toolset *toolset)
{
    toolset->open_bindings--;
    end_if_left(toolset);
}

hub_err hub_toolset_request(hub_toolset *toolset, patchbay_request *request, uint32_t timeout_ms,
                            hub_call_on_outcome *on_outcome, void *ctx, hub_call **ret_call)
{
    hub_call *call;
    hub_err err = hub_call_begin_internal(toolset->hub->calls, on_outcome, ctx, &call);
    if (err != HUB_OK) {
        return err;
    }
    *ret_call = call;
    hub_call_bind(call, toolset->binding);
    hub_call_set_deadline(call, timeout_ms, toolset->hub->settings->limits.call_ceiling_ms);
    request->struct_size = sizeof *request;
    request->deadline_ms = call->begin_ms + timeout_ms;
    hub_instance_call(toolset->binding->instance, call->id, request);
    return HUB_OK;
}

size_t hub_toolset_count(const hub_toolset *toolset, hub_kind kind)
{
    return toolset->lists[kind] != NULL ? toolset->lists[kind]->count : 0;
}

static hub_source make_source(hub_toolset *toolset, const hub_toolset_settings *settings)
{
    hub_source source = {
        .toolset = hub_str_of(toolset->key),
        .owner = toolset,
        .native = toolset->native || settings->is_isolated,
        .tools_allow = &settings->tools_allow,
        .tools_deny = &settings->tools_deny,
        .tags = &settings->tags,
        .category = settings->category,
    };
    memcpy(source.lists, toolset->lists, sizeof source.lists);
    return source;
}

hub_source hub_toolset_source(hub_toolset *toolset)
{
    return make_source(toolset, toolset->settings);
}

hub_source hub_toolset_next_source(hub_toolset *toolset, const hub_toolset_settings *settings,
                                   const hub_binding *binding)
{
    hub_source source = make_source(toolset, settings);
    if (binding == NULL) {
        return source;
    }
    source.native = binding->native || settings->is_isolated;
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        if (binding->first_lists[kind] != NULL || !binding->deferred) {
            source.lists[kind] = binding->first_lists[kind];
        }
    }
    return source;
}
