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

/* ---- bindings -------------------------------------------------------------------------------- */

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
        hub_instance *instance = binding->instance;
        binding->instance = NULL;
        hub_instance_close(instance);
    }
}

/* Stop taking calls. With `at_once` those in flight fail, else they may end. */
static void retire(hub_binding *binding, bool at_once)
{
    binding->retired = true;
    binding->in_flight++; /* not closed before every call has been told */
    while (at_once && binding->calls != NULL) {
        hub_call_abort(binding->calls, PATCHBAY_UNAVAILABLE, HUB_STR("the toolset was disabled"));
    }
    hub_binding_call_ended(binding);
}

/* ---- what an instance says ------------------------------------------------------------------- */

static void on_drop(void *ctx, hub_str reason)
{
    const hub_toolset *toolset = ctx;
    hub_log(HUB_LOG_WARNING, "tools.dropped", HUB_F_TEXT("toolset", toolset->settings->key),
            HUB_F_STR("reason", reason));
}

/* Make a catalog (NULL: none) the toolset's. Takes it. */
static void adopt_catalog(hub_toolset *toolset, hub_catalog *catalog)
{
    hub_catalog_unref(toolset->catalog);
    toolset->catalog = catalog;
    hub_log(HUB_LOG_DEBUG, "tools.catalog", HUB_F_TEXT("toolset", toolset->settings->key),
            HUB_F_INT("tools", catalog != NULL ? catalog->count : 0));
    hub_orchestrator_catalog_changed(toolset->hub, toolset);
}

static void on_tools(void *ctx, hub_str tools_json)
{
    hub_binding *binding = ctx;
    hub_toolset *toolset = binding->toolset;
    hub_error why = {.code = HUB_OK};
    hub_catalog *catalog = NULL;
    if (binding->retired) {
        return;
    }
    bool is_first = binding->instance == NULL; /* create() has not returned, and may yet fail */
    const hub_catalog *known = is_first ? binding->first_catalog : toolset->catalog;
    if (known != NULL && hub_catalog_is(known, tools_json, binding->native)) {
        return;
    }
    hub_err err = hub_catalog_parse(tools_json, binding->native, on_drop, toolset, &catalog, &why);
    if (err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "tools.refused", HUB_F_TEXT("toolset", toolset->settings->key),
                HUB_F_TEXT("reason", why.text));
    } else if (is_first) {
        hub_catalog_unref(binding->first_catalog);
        binding->first_catalog = catalog;
    } else {
        adopt_catalog(toolset, catalog);
    }
}

static bool on_finish(void *ctx, uint64_t id, int32_t status, hub_str json, bool has_type)
{
    const hub_binding *binding = ctx;
    hub_call *call = hub_call_find(binding->toolset->hub->calls, id, binding);
    if (call == NULL) {
        return false;
    }
    hub_outcome outcome = {.status = status, .json = json, .has_type = has_type};
    hub_buf named; /* who cannot be reached: the plugin does not know its toolset's name */
    hub_buf_init(&named, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (status == PATCHBAY_UNAVAILABLE && call->session != NULL) {
        hub_buf_printf(&named, "toolset \"%s\": ", binding->toolset->settings->key);
        hub_buf_add(&named, json);
        outcome.json = hub_buf_ok(&named) ? hub_buf_str(&named) : json;
    }
    hub_call_finish(call, &outcome);
    hub_buf_fini(&named);
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
    hub_binding *binding = ctx;
    binding->deferred = true;
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
    binding->native = (module->table->flags & PATCHBAY_PLUGIN_PROXY) == 0;
    uint32_t state = toolset->state;
    hub_err err = hub_instance_create(toolset->hub->env, module, settings->key,
                                      hub_str_of(settings->config_json), &EVENTS, binding,
                                      &binding->instance, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "toolset \"%s\"", settings->key);
        toolset->state = state;
        hub_catalog_unref(binding->first_catalog);
        free(binding);
        return err;
    }
    toolset->hub->open_bindings++;
    *ret_binding = binding;
    return HUB_OK;
}

/* Work with a new binding from now on. */
static void take_binding(hub_toolset *toolset, hub_binding *binding)
{
    hub_catalog *catalog = binding->first_catalog;
    binding->first_catalog = NULL;
    toolset->binding = binding;
    toolset->was_used = true;
    toolset->native = binding->native;
    toolset->deferred = binding->deferred;
    toolset->failed_at_ms = 0;
    if (catalog != NULL || (!binding->deferred && toolset->catalog != NULL)) {
        adopt_catalog(toolset, catalog);
    }
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
    if (--toolset->users > 0) {
        return;
    }
    bool was_asked = stop_discovery(toolset);
    hub_binding *binding = toolset->binding;
    toolset->binding = NULL;
    toolset->state = PATCHBAY_STATE_IDLE;
    if (toolset->native) { /* an upstream's last good catalog is kept for the next time */
        hub_catalog_unref(toolset->catalog);
        toolset->catalog = NULL;
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

/* ---- discovery ------------------------------------------------------------------------------- */

static void on_discovered(void *ctx, const hub_outcome *outcome)
{
    hub_toolset *toolset = ctx;
    toolset->discovery = NULL;
    if (outcome->status == PATCHBAY_RESULT) {
        toolset->failed_at_ms = 0;
        toolset->deferred =
            toolset->catalog != NULL && toolset->deferred; /* none: it has no tools */
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
    return toolset->discovery != NULL || toolset->failed_at_ms == 0 ||
           hub_clock_now_ms() - toolset->failed_at_ms >= RETRY_AFTER_MS;
}

void hub_toolset_note_wait(hub_toolset *toolset)
{
    uint64_t waited_ms = hub_clock_now_ms() - toolset->asked_at_ms;
    toolset->is_late =
        toolset->is_late || 2 * waited_ms >= toolset->hub->settings->limits.discover_timeout_ms;
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
    if (toolset->discovery != NULL) {
        return;
    }
    hub_call *call;
    if (hub_call_begin_internal(toolset->hub->calls, on_discovered, toolset, &call) != HUB_OK) {
        tell_waiters(toolset, HUB_EUNAVAILABLE, HUB_STR("too many calls are in flight"));
        return;
    }
    uint32_t ceiling_ms = toolset->hub->settings->limits.call_ceiling_ms;
    toolset->discovery = call;
    toolset->asked_at_ms = hub_clock_now_ms();
    toolset->is_late = false;
    hub_call_bind(call, toolset->binding);
    hub_call_set_deadline(call, ceiling_ms, ceiling_ms);
    patchbay_request request = {
        .struct_size = sizeof request,
        .deadline_ms = call->ceiling_ms,
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
