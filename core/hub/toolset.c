/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/toolset.h"

#include "base/clock.h"
#include "base/limits.h"
#include "hub/hub.h"
#include "hub/orchestrator.h"
#include "hub/router.h"

#include <stdio.h>
#include <stdlib.h>

/* How long a failed attempt to discover keeps lists from waiting for the next one. */
enum { RETRY_AFTER_MS = 10000 };

/* ---- bindings ----------------------------------------------------------------------------------- */


static void close_binding(hub_binding *binding)
{
    hub_instance *instance = binding->instance;
    if (instance != NULL) {
        binding->instance = NULL;
        hub_instance_close(instance);
    }
}

/* Stop taking calls. With `at_once` those in flight fail, else they may end. */
static void retire(hub_binding *binding, bool at_once)
{
    binding->retired = true;
    if (at_once) {
        while (binding->calls != NULL) {
            uint64_t id = binding->calls->id;
            hub_call_fail(binding->calls, PATCHBAY_UNAVAILABLE, HUB_STR("the toolset was disabled"));
            hub_binding_cancel(binding, id);
        }
    }
    if (binding->in_flight == 0) {
        close_binding(binding);
    }
}

void hub_binding_cancel(hub_binding *binding, uint64_t call)
{
    if (binding->instance != NULL) {
        hub_instance_cancel(binding->instance, call);
    }
}

void hub_binding_call_ended(hub_binding *binding)
{
    binding->in_flight--;
    if (binding->retired && binding->in_flight == 0) {
        close_binding(binding);
    }
}

/* ---- what an instance says ----------------------------------------------------------------------- */

static void on_drop(void *ctx, hub_str reason)
{
    const hub_toolset *toolset = ctx;
    hub_log(HUB_LOG_WARNING, "tools.dropped", HUB_F_TEXT("toolset", toolset->settings->key),
            HUB_F_STR("reason", reason));
}

static void on_tools(void *ctx, hub_str tools_json)
{
    const hub_binding *binding = ctx;
    hub_toolset *toolset = binding->toolset;
    hub_error why = {.code = HUB_OK};
    hub_catalog *catalog = NULL;
    if (binding->retired) {
        return;
    }
    hub_err err = hub_catalog_parse(tools_json, toolset->native, on_drop, toolset, &catalog, &why);
    if (err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "tools.refused", HUB_F_TEXT("toolset", toolset->settings->key),
                HUB_F_TEXT("reason", why.text));
        return;
    }
    if (toolset->catalog != NULL && toolset->catalog->digest == catalog->digest) {
        hub_catalog_unref(catalog);
        return;
    }
    hub_catalog_unref(toolset->catalog);
    toolset->catalog = catalog;
    hub_log(HUB_LOG_DEBUG, "tools.catalog", HUB_F_TEXT("toolset", toolset->settings->key),
            HUB_F_INT("tools", catalog->count));
    hub_orchestrator_catalog_changed(toolset->hub, toolset);
}

static bool on_finish(void *ctx, uint64_t id, int32_t status, hub_str json, bool has_type)
{
    const hub_binding *binding = ctx;
    hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    if (call == NULL) {
        return false;
    }
    hub_outcome outcome = {.status = status, .json = json, .has_type = has_type};
    hub_call_finish(call, &outcome);
    return true;
}

static bool on_progress(void *ctx, uint64_t id, hub_str params_json)
{
    const hub_binding *binding = ctx;
    hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    if (call == NULL) {
        return false;
    }
    hub_call_touch(call);
    hub_router_forward_progress(call, params_json);
    return true;
}

static void on_state(void *ctx, uint32_t state, hub_str detail)
{
    const hub_binding *binding = ctx;
    hub_toolset *toolset = binding->toolset;
    if (binding->retired) {
        return;
    }
    toolset->state = state;
    (void)snprintf(toolset->detail, sizeof toolset->detail, HUB_STR_FMT, HUB_STR_ARG(detail));
    if (state == PATCHBAY_STATE_FAILED) {
        hub_log(HUB_LOG_WARNING, "toolset.failed", HUB_F_TEXT("toolset", toolset->settings->key),
                HUB_F_STR("reason", detail));
    }
}

static void on_defer(void *ctx)
{
    const hub_binding *binding = ctx;
    binding->toolset->deferred = true;
}

static const hub_request_context *get_context(void *ctx, uint64_t id)
{
    const hub_binding *binding = ctx;
    const hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    return call != NULL ? &call->context : NULL;
}

static void on_closed(void *ctx)
{
    hub_binding *binding = ctx;
    hub_orchestrator *hub = binding->toolset->hub;
    free(binding);
    hub_orchestrator_binding_closed(hub);
}

static const hub_instance_events EVENTS = {
    .on_tools = on_tools,
    .on_finish = on_finish,
    .on_progress = on_progress,
    .on_state = on_state,
    .on_defer = on_defer,
    .get_context = get_context,
    .on_closed = on_closed,
};

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
    toolset->native = (module->table->flags & PATCHBAY_PLUGIN_PROXY) == 0;
    toolset->deferred = false;
    hub_err err = hub_instance_create(toolset->hub->env, module, settings->key,
                                      hub_str_of(settings->config_json), &EVENTS, binding,
                                      &binding->instance, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "toolset \"%s\"", settings->key);
        free(binding);
        return err;
    }
    toolset->hub->open_bindings++;
    *ret_binding = binding;
    return HUB_OK;
}

/* ---- life ----------------------------------------------------------------------------------------- */

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
    *ret_toolset = toolset;
    return HUB_OK;
}

void hub_toolset_destroy(hub_toolset *toolset)
{
    if (toolset != NULL) {
        hub_assert(toolset->binding == NULL && toolset->waiters == NULL);
        hub_catalog_unref(toolset->catalog);
        free(toolset);
    }
}

hub_err hub_toolset_use(hub_toolset *toolset, hub_error *reterr)
{
    if (!toolset->settings->enabled) {
        return hub_fail(reterr, HUB_EDENIED, "toolset \"%s\" is switched off by configuration",
                        toolset->settings->key);
    }
    if (toolset->binding == NULL) {
        hub_err err = bind(toolset, &toolset->binding, reterr);
        if (err != HUB_OK) {
            return err;
        }
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

void hub_toolset_unuse(hub_toolset *toolset)
{
    hub_assert(toolset->users > 0);
    if (--toolset->users > 0) {
        return;
    }
    hub_binding *binding = toolset->binding;
    toolset->binding = NULL;
    toolset->state = PATCHBAY_STATE_IDLE;
    if (toolset->native) { /* an upstream's last good catalog is kept for the next time */
        hub_catalog_unref(toolset->catalog);
        toolset->catalog = NULL;
    }
    retire(binding, true);
}

hub_err hub_toolset_rebind(hub_toolset *toolset, hub_error *reterr)
{
    hub_binding *old = toolset->binding;
    if (old == NULL) {
        return HUB_OK;
    }
    hub_err err = bind(toolset, &toolset->binding, reterr);
    if (err == HUB_OK) {
        retire(old, false);
    }
    return err;
}

/* ---- discovery ------------------------------------------------------------------------------------- */

static void on_discovered(void *ctx, const hub_outcome *outcome)
{
    hub_toolset *toolset = ctx;
    toolset->discovering = false;
    if (outcome->status == PATCHBAY_RESULT) {
        toolset->failed_at_ms = 0;
        hub_log(HUB_LOG_INFO, "tools.discovery.server.success",
                HUB_F_TEXT("serverName", toolset->settings->key),
                HUB_F_INT("toolCount", toolset->catalog != NULL ? toolset->catalog->count : 0));
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

bool hub_toolset_is_pending(const hub_toolset *toolset)
{
    if (toolset->catalog != NULL || !toolset->deferred || toolset->binding == NULL) {
        return false;
    }
    return toolset->failed_at_ms == 0 ||
           hub_clock_now_ms() - toolset->failed_at_ms >= RETRY_AFTER_MS;
}

void hub_toolset_discover(hub_toolset *toolset, hub_catalog_waiter *waiter)
{
    if (toolset->binding == NULL || !toolset->deferred || toolset->catalog != NULL) {
        if (waiter != NULL) {
            waiter->on_known(waiter, HUB_OK, HUB_STR_EMPTY);
        }
        return;
    }
    if (waiter != NULL) {
        waiter->next = toolset->waiters;
        toolset->waiters = waiter;
    }
    if (toolset->discovering) {
        return;
    }
    hub_call *call;
    if (hub_call_begin_internal(toolset->hub->calls, on_discovered, toolset, &call) != HUB_OK) {
        tell_waiters(toolset, HUB_ELIMIT, HUB_STR("too many calls are in flight"));
        return;
    }
    toolset->discovering = true;
    hub_call_bind(call, toolset->binding);
    patchbay_request request = {
        .struct_size = sizeof request,
        .args_json = HUB_STR("{}"),
        .method = HUB_STR(PATCHBAY_METHOD_DISCOVER),
        .params_json = HUB_STR("{}"),
    };
    hub_instance_call(toolset->binding->instance, call->id, &request);
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
    return (hub_source){
        .toolset = hub_str_of(settings->key),
        .catalog = toolset->catalog,
        .owner = toolset,
        .native = toolset->native,
        .tools_allow = &settings->tools_allow,
        .tools_deny = &settings->tools_deny,
        .tags = &settings->tags,
        .category = settings->category,
    };
}
