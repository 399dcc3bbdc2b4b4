/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/toolset.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/hub.h"
#include "hub/logging.h"
#include "hub/orchestrator.h"
#include "hub/roots.h"
#include "hub/subscription.h"
#include "hub/task_watch.h"

#include <stdlib.h>

/* How long a failed attempt to discover keeps lists from waiting for the next one. */
enum { RETRY_AFTER_MS = 10000 };

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

/* Make a binding to the newest module. The toolset's own binding is not touched. */
static hub_err bind(hub_toolset *toolset, hub_binding **ret_binding, hub_error *reterr)
{
    const hub_toolset_settings *settings = toolset->settings;
    const hub_module *module =
        hub_resolver_find(toolset->hub->resolver, hub_str_of(settings->module));
    if (module == NULL) {
        return hub_fail(reterr, HUB_ENOTFOUND,
                        "toolset \"%s\": there is no module \"%s\" in the plugins folders",
                        settings->key, settings->module);
    }
    hub_binding *binding = calloc(1, sizeof *binding);
    if (binding == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    binding->toolset = toolset;
    binding->native = (module->table->flags & PATCHBAY_PLUGIN_PROXY) == 0;
    uint32_t state = toolset->state;
    hub_err err = hub_instance_create(toolset->hub->env, module, settings->key,
                                      hub_str_of(settings->config_json), &HUB_BINDING_EVENTS,
                                      binding, &binding->instance, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "toolset \"%s\"", settings->key);
        toolset->state = state;
        forget_first(binding);
        free(binding);
        return err;
    }
    toolset->hub->open_bindings++;
    *ret_binding = binding;
    return HUB_OK;
}

/* Work with a new binding from now on. What it has not said is none, unless it is to be asked. */
static void take_binding(hub_toolset *toolset, hub_binding *binding)
{
    toolset->binding = binding;
    toolset->was_used = true;
    toolset->native = binding->native;
    toolset->deferred = binding->deferred;
    toolset->failed_at_ms = 0;
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
    toolset->own_settings = *settings;
    toolset->settings = &toolset->own_settings;
    toolset->level_told = HUB_LEVEL_NONE;
    toolset->level_asked = HUB_LEVEL_NONE;
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
        hub_capabilities_fini(&toolset->capabilities);
        free(toolset);
    }
}

hub_err hub_toolset_use(hub_toolset *toolset, hub_error *reterr)
{
    if (!toolset->settings->enabled) {
        return hub_fail(reterr, HUB_EDENIED, "toolset \"%s\" is switched off by configuration",
                        toolset->settings->key);
    }
    if (toolset->settings->sharing_session) {
        return hub_fail(reterr, HUB_EINVAL,
                        "toolset \"%s\": sharing: session is not supported by this build",
                        toolset->settings->key);
    }
    if (toolset->binding == NULL) {
        hub_binding *binding = NULL;
        hub_err err = bind(toolset, &binding, reterr);
        if (err != HUB_OK) {
            return err;
        }
        take_binding(toolset, binding);
    }
    toolset->users++;
    return HUB_OK;
}

static void tell_waiters(hub_toolset *toolset, hub_err err, hub_str reason)
{
    hub_catalog_waiter *waiter = toolset->waiters;
    toolset->waiters = NULL;
    while (waiter != NULL) {
        hub_catalog_waiter *next = waiter->next;
        waiter->on_known(waiter, err, reason);
        waiter = next;
    }
}

/* Ask no more for the catalog. Whether it had been asked for. */
static bool stop_discovery(hub_toolset *toolset)
{
    hub_call *call = toolset->discovery;
    toolset->discovery = NULL;
    if (call != NULL) {
        hub_call_drop(call);
    }
    return call != NULL;
}

void hub_toolset_unuse(hub_toolset *toolset)
{
    hub_assert(toolset->users > 0);
    hub_subscription_sweep(toolset);
    if (--toolset->users > 0) {
        return;
    }
    bool was_asked = stop_discovery(toolset);
    hub_binding *binding = toolset->binding;
    hub_task_watch_forget_toolset(toolset);
    toolset->binding = NULL;
    toolset->state = PATCHBAY_STATE_IDLE;
    for (int kind = 0; toolset->native && kind < HUB_KINDS; kind++) {
        hub_catalog_unref(toolset->lists[kind]); /* an upstream's last good ones are kept */
        toolset->lists[kind] = NULL;
    }
    retire(binding, true);
    if (was_asked) {
        hub_orchestrator_discovered(toolset->hub); /* nobody need wait for it any more */
    }
}

hub_err hub_toolset_rebind(hub_toolset *toolset, hub_error *reterr)
{
    hub_binding *old = toolset->binding;
    hub_binding *binding = NULL;
    if (old == NULL) {
        return HUB_OK;
    }
    hub_err err = bind(toolset, &binding, reterr);
    if (err != HUB_OK) {
        return err;
    }
    bool was_asked = stop_discovery(toolset);
    take_binding(toolset, binding);
    retire(old, false);
    if (was_asked && hub_toolset_is_pending(toolset)) {
        hub_toolset_discover(toolset, NULL);
    } else if (was_asked) {
        tell_waiters(toolset, HUB_OK, HUB_STR_EMPTY);
        hub_orchestrator_discovered(toolset->hub);
    }
    return HUB_OK;
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

/* ---- discovery ------------------------------------------------------------------------------- */

static void on_discovered(void *ctx, const hub_outcome *outcome)
{
    hub_toolset *toolset = ctx;
    toolset->discovery = NULL;
    if (outcome->status == PATCHBAY_RESULT) {
        toolset->failed_at_ms = 0;
        toolset->deferred =
            toolset->lists[HUB_KIND_TOOL] != NULL && toolset->deferred; /* none: it has no tools */
        hub_log(HUB_LOG_INFO, "tools.discovery.server.success",
                HUB_F_TEXT("serverName", toolset->settings->key),
                HUB_F_INT("toolCount", hub_toolset_count(toolset, HUB_KIND_TOOL)));
        tell_waiters(toolset, HUB_OK, HUB_STR_EMPTY);
        hub_orchestrator_discovered(toolset->hub);
        return;
    }
    toolset->failed_at_ms = hub_clock_now_ms();
    hub_log(HUB_LOG_WARNING, "tools.discovery.server.failed",
            HUB_F_TEXT("serverName", toolset->settings->key),
            HUB_F_STR("errorMessage", outcome->json));
    tell_waiters(toolset, HUB_EUNAVAILABLE, outcome->json);
    hub_orchestrator_discovered(toolset->hub);
}

bool hub_toolset_is_unknown(const hub_toolset *toolset)
{
    return toolset->deferred && toolset->binding != NULL &&
           (toolset->lists[HUB_KIND_TOOL] == NULL || toolset->discovery != NULL);
}

bool hub_toolset_is_pending(const hub_toolset *toolset)
{
    return hub_toolset_is_unknown(toolset) &&
           (toolset->discovery != NULL || toolset->failed_at_ms == 0 ||
            hub_clock_now_ms() - toolset->failed_at_ms >= RETRY_AFTER_MS);
}

void hub_toolset_note_wait(hub_toolset *toolset)
{
    uint64_t waited_ms = hub_clock_now_ms() - toolset->asked_at_ms;
    toolset->is_late =
        toolset->is_late || 2 * waited_ms >= toolset->hub->settings->limits.discover_timeout_ms;
}

void hub_toolset_discover(hub_toolset *toolset, hub_catalog_waiter *waiter)
{
    if (!hub_toolset_is_unknown(toolset)) {
        if (waiter != NULL) {
            waiter->on_known(waiter, HUB_OK, HUB_STR_EMPTY);
        }
        return;
    }
    if (waiter != NULL) {
        waiter->next = toolset->waiters;
        toolset->waiters = waiter;
    }
    if (toolset->discovery != NULL) {
        return;
    }
    uint32_t ceiling_ms = toolset->hub->settings->limits.call_ceiling_ms;
    patchbay_request request = {
        .args_json = HUB_STR("{}"),
        .method = HUB_STR(PATCHBAY_METHOD_DISCOVER),
        .params_json = HUB_STR("{}"),
    };
    toolset->asked_at_ms = hub_clock_now_ms();
    toolset->is_late = false;
    if (hub_toolset_request(toolset, &request, ceiling_ms, on_discovered, toolset,
                            &toolset->discovery) != HUB_OK) {
        tell_waiters(toolset, HUB_EUNAVAILABLE, HUB_STR("too many calls are in flight"));
    }
}

void hub_toolset_unwait(hub_toolset *toolset, hub_catalog_waiter *waiter)
{
    hub_catalog_waiter **link = &toolset->waiters;
    while (*link != NULL && *link != waiter) {
        link = &(*link)->next;
    }
    if (*link != NULL) {
        *link = waiter->next;
    }
}

hub_source hub_toolset_source(hub_toolset *toolset)
{
    const hub_toolset_settings *settings = toolset->settings;
    hub_source source = {
        .toolset = hub_str_of(settings->key),
        .owner = toolset,
        .native = toolset->native,
        .tools_allow = &settings->tools_allow,
        .tools_deny = &settings->tools_deny,
        .tags = &settings->tags,
        .category = settings->category,
    };
    memcpy(source.lists, toolset->lists, sizeof source.lists);
    return source;
}
