/* SPDX-License-Identifier: Apache-2.0 */
/* The binding of a toolset to an instance of its module, and what that says of itself. */
#include "base/cause.h"
#include "base/limits.h"
#include "base/log.h"
#include "hub/kernel/binding.h"
#include "hub/kernel/extensions.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/isolation.h"
#include "hub/kernel/objects.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/toolset_rules.h"
#include "modules/module_list.h"
#include "tools/redefined.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- what it is ------------------------------------------------------------------------------ */

hub_toolset *hub_binding_toolset(const hub_binding *binding)
{
    return binding->toolset;
}

hub_instance *hub_binding_instance(const hub_binding *binding)
{
    return binding->instance;
}

hub_call *hub_binding_calls(const hub_binding *binding)
{
    return binding->calls;
}

hub_call *hub_binding_only_client(const hub_binding *binding)
{
    hub_call *newest = NULL;
    for (hub_call *call = binding->calls; call != NULL; call = call->binding_next) {
        if (hub_call_is_internal(call)) {
            continue; /* the hub's own */
        }
        if (newest != NULL && (newest->session == NULL || call->session != newest->session)) {
            return NULL;
        }
        newest = newest == NULL ? call : newest;
    }
    return newest;
}

size_t hub_binding_places(const hub_binding *binding)
{
    return binding->places;
}

bool hub_binding_is_retired(const hub_binding *binding)
{
    return binding->retired;
}

void hub_binding_blame(const hub_binding *binding, const char *rule)
{
    hub_instance_fault(binding->instance, rule);
}

bool hub_binding_is_native(const hub_binding *binding)
{
    return binding->native;
}

bool hub_binding_may_ask(const hub_binding *binding)
{
    return binding->expects_input || binding->instance == NULL ||
           hub_instance_may_ask(binding->instance);
}

bool hub_binding_expects_input(const hub_binding *binding)
{
    return binding->expects_input;
}

bool hub_binding_is_current(const hub_binding *binding)
{
    return binding->toolset->binding == binding;
}

bool hub_binding_is_deferred(const hub_binding *binding)
{
    return binding->deferred;
}

void *hub_binding_part(const hub_binding *binding, const hub_station *station)
{
    return (char *)(uintptr_t)binding->parts + station->place->offset[HUB_PART_BINDING];
}

/* ---- its end --------------------------------------------------------------------------------- */

void hub_binding_cancel(hub_binding *binding, uint64_t call)
{
    HUB_IS(binding, BINDING);
    if (binding->instance != NULL) {
        hub_instance_cancel(binding->instance, call);
    }
}

static void close_if_done(hub_binding *binding)
{
    if (binding->retired && binding->in_flight == 0 && binding->holds == 0) {
        hub_instance *instance = binding->instance;
        hub_assert(instance != NULL);
        hub_assert(binding->calls == NULL && binding->places == 0);
        binding->instance = NULL;
        hub_instance_close(instance);
    }
}

void hub_binding_call_ended(hub_binding *binding)
{
    hub_assert(binding->in_flight > 0);
    binding->in_flight--;
    close_if_done(binding);
}

void hub_binding_hold(hub_binding *binding)
{
    HUB_IS(binding, BINDING);
    hub_assert(binding->instance != NULL || !binding->retired);
    binding->holds++;
}

void hub_binding_let_go(hub_binding *binding)
{
    hub_assert(binding->holds > 0);
    binding->holds--;
    close_if_done(binding);
}

void hub_binding_retire(hub_binding *binding, bool at_once)
{
    HUB_IS(binding, BINDING);
    hub_assert(!binding->retired);
    hub_assert(binding->toolset->binding != binding);
    binding->retired = true;
    binding->in_flight++; /* not closed before every call has been told */
    HUB_STATIONS_TELL(binding_retires, binding);
    while (at_once && binding->calls != NULL) {
        hub_call_abort(binding->calls, PATCHBAY_UNAVAILABLE, HUB_STR("the toolset was disabled"));
    }
    hub_binding_call_ended(binding);
}

/* ---- making one ------------------------------------------------------------------------------ */

void hub_binding_forget_first(hub_binding *binding)
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_catalog_unref(binding->first_lists[kind]);
        binding->first_lists[kind] = NULL;
    }
    hub_capabilities_fini(&binding->first_capabilities);
}

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
        hub_error_prefix(reterr, "isolation: process wants a plugin");
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
    HUB_IS(toolset, TOOLSET);
    hub_assert(module != NULL);
    hub_binding *binding = calloc(1, sizeof *binding + hub_stations_bytes(HUB_PART_BINDING));
    if (binding == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    binding->magic = HUB_MAGIC_BINDING;
    binding->toolset = toolset;
    binding->native = (module->table->flags & PATCHBAY_PLUGIN_PROXY) == 0;
    uint32_t state = toolset->state;
    binding->settings = settings;
    hub_err err = hub_instance_create(toolset->hub->env, module, toolset->key, config_json,
                                      toolset->hub->ops->instance_events, binding,
                                      &binding->instance, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "toolset \"%s\"", settings->key);
        toolset->state = state;
        hub_binding_forget_first(binding);
        free(binding);
        return err;
    }
    binding->settings = NULL;
    binding->first_state = toolset->state;
    toolset->state = state;
    toolset->hub->open_bindings++;
    toolset->open_bindings++;
    *ret_binding = binding;
    return HUB_OK;
}

hub_err hub_binding_make(hub_toolset *toolset, const hub_toolset_settings *settings,
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

/* ---- what the instance says ------------------------------------------------------------------ */

/* A server may replace what it has said of a tool after somebody has read it: at once, or by way of a list without
 * that tool. A list that is there before anybody has asked is no news. */
static void note_changes(hub_toolset *toolset, hub_kind kind, const hub_catalog *list)
{
    const hub_catalog *before = toolset->lists[kind];
    hub_redefined changes = {.changed = {.count = 0}};
    const hub_name_list *changed = &changes.changed;
    if (before == NULL || hub_redefined_list(before, list, &changes) != HUB_OK) {
        return;
    }
    toolset->redefined += changed->count;
    if (changed->count > 0) {
        hub_log(HUB_LOG_WARNING, "tools.redefined", HUB_F_TEXT("toolset", toolset->settings->key),
                HUB_F_TEXT("list", hub_kind_noun(kind, 0)), HUB_F_INT("count", changed->count),
                HUB_F_TEXT("changed", changed->text), HUB_F_TEXT("by", HUB_BY_SERVER));
    }
    hub_log(HUB_LOG_INFO, "tools.changed", HUB_F_TEXT("toolset", toolset->settings->key),
            HUB_F_TEXT("list", hub_kind_noun(kind, 0)), HUB_F_INT("count", list->count),
            HUB_F_INT("before", before->count), HUB_F_TEXT("added", changes.added.text),
            HUB_F_TEXT("removed", changes.removed.text), HUB_F_BY);
}

/* Whether its lists are the toolset's: those of a session's own instance are nobody's, since the shared
 * one's are shown to all. */
static bool has_lists(const hub_binding *binding)
{
    const hub_toolset *toolset = binding->toolset;
    return !binding->retired && (!toolset->is_own || toolset->is_apart) &&
           !hub_toolset_is_stand_in(toolset);
}

/* create() has not returned, and may yet fail. */
static bool is_being_made(const hub_binding *binding)
{
    return binding->instance == NULL;
}

static const hub_toolset_settings *settings_of(const hub_binding *binding)
{
    return is_being_made(binding) ? binding->settings : binding->toolset->settings;
}

/* What a list may be that is said now: of a binding that is being made, also what the one before it said. */
static hub_catalog *known_list(const hub_binding *binding, hub_kind kind)
{
    const hub_toolset *toolset = binding->toolset;
    if (is_being_made(binding) && binding->first_lists[kind] != NULL) {
        return binding->first_lists[kind];
    }
    bool is_idle = toolset->lists[kind] == NULL && is_being_made(binding);
    return is_idle ? toolset->idle_lists[kind] : toolset->lists[kind];
}

/* What was being read of a list is not wanted any more. */
static void stop_reading(hub_binding *binding, hub_kind kind)
{
    hub_catalog_abandon(binding->readings[kind]);
    binding->readings[kind] = NULL;
}

bool hub_binding_has_list(hub_binding *binding, hub_kind kind, hub_str json)
{
    HUB_IS(binding, BINDING);
    hub_assert(kind < HUB_KINDS);
    hub_catalog *known = known_list(binding, kind);
    if (known == NULL || !has_lists(binding)) {
        return false;
    }
    const hub_catalog_rules rules =
        hub_toolset_catalog_rules(settings_of(binding), binding->native);
    if (!hub_catalog_is(known, json, &rules)) {
        return false;
    }
    if (is_being_made(binding) && binding->first_lists[kind] == NULL) {
        binding->first_lists[kind] = hub_catalog_ref(known);
    }
    stop_reading(binding, kind);
    return true;
}

/* A list was read; or it was not, for that reason. */
static void take_list(hub_binding *binding, hub_kind kind, hub_err err, hub_catalog *list,
                      const hub_error *why)
{
    hub_toolset *toolset = binding->toolset;
    if (err != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "tools.catalog.refused",
                HUB_F_TEXT("toolset", toolset->settings->key), HUB_F_TEXT("reason", why->text),
                HUB_F_BY);
    } else if (is_being_made(binding)) {
        hub_catalog_unref(binding->first_lists[kind]);
        binding->first_lists[kind] = list;
    } else {
        note_changes(toolset, kind, list);
        hub_toolset_set_list(toolset, kind, list);
    }
}

void hub_binding_list(hub_binding *binding, hub_kind kind, hub_str list_json)
{
    hub_error why = {.code = HUB_OK};
    hub_catalog *list = NULL;
    if (!has_lists(binding)) {
        return;
    }
    stop_reading(binding, kind);
    if (hub_binding_has_list(binding, kind, list_json)) {
        return;
    }
    const char *before = hub_cause_set(HUB_BY_SERVER);
    hub_err err =
        hub_toolset_read_list(settings_of(binding), binding->native, kind, list_json, &list, &why);
    take_list(binding, kind, err, list, &why);
    (void)hub_cause_set(before);
}

/* Begin to read a list; also once more, when a reload has changed the rules meanwhile. */
static hub_err begin_reading(hub_binding *binding, hub_kind kind, hub_str list_json,
                             hub_error *reterr)
{
    hub_catalog_reading *reading = NULL;
    const hub_catalog_rules rules =
        hub_toolset_catalog_rules(settings_of(binding), binding->native);
    hub_err err = hub_catalog_begin(kind, list_json, &rules, &reading, reterr);
    stop_reading(binding, kind);
    binding->readings[kind] = reading;
    return err;
}

static hub_err go_on_reading(hub_binding *binding, hub_kind kind, bool *ret_is_end,
                             hub_catalog **ret_list, hub_error *reterr)
{
    hub_catalog_reading *reading = binding->readings[kind];
    const hub_toolset_settings *settings = settings_of(binding);
    const hub_catalog_rules rules = hub_toolset_catalog_rules(settings, binding->native);
    if (!hub_catalog_is_reading(reading, &rules)) {
        return begin_reading(binding, kind, hub_catalog_reading_json(reading), reterr);
    }
    hub_err err = hub_toolset_read_part(settings, reading, ret_is_end, reterr);
    if (err == HUB_OK && *ret_is_end) {
        binding->readings[kind] = NULL;
        err = hub_catalog_finish(reading, ret_list, reterr);
    }
    return err;
}

hub_err hub_binding_list_part(hub_binding *binding, hub_kind kind, const hub_str *list_json,
                              bool *ret_is_end)
{
    HUB_IS(binding, BINDING);
    hub_assert(kind < HUB_KINDS);
    hub_error why = {.code = HUB_OK};
    hub_catalog *list = NULL;
    *ret_is_end = !has_lists(binding);
    if (*ret_is_end) {
        return HUB_OK;
    }
    if (list_json == NULL && binding->readings[kind] == NULL) {
        return HUB_ESTATE;
    }
    const char *before = hub_cause_set(HUB_BY_SERVER);
    hub_err err = list_json != NULL ? begin_reading(binding, kind, *list_json, &why)
                                    : go_on_reading(binding, kind, ret_is_end, &list, &why);
    if (err != HUB_OK) {
        stop_reading(binding, kind);
    }
    if (err != HUB_OK || *ret_is_end) {
        take_list(binding, kind, err, list, &why);
    }
    (void)hub_cause_set(before);
    return err;
}

void hub_binding_capabilities(hub_binding *binding, hub_str capabilities_json)
{
    HUB_IS(binding, BINDING);
    hub_capabilities capabilities;
    hub_error left_out = {.code = HUB_OK};
    if (binding->retired) {
        return;
    }
    hub_err err = hub_extensions_read(capabilities_json, &capabilities, &left_out);
    if (left_out.code != HUB_OK) {
        hub_log(HUB_LOG_WARNING, "tools.dropped",
                HUB_F_TEXT("toolset", binding->toolset->settings->key),
                HUB_F_TEXT("reason", left_out.text), HUB_F_BY);
    }
    if (err != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "toolset.no_memory",
                HUB_F_TEXT("toolset", binding->toolset->settings->key));
    } else if (binding->instance == NULL) {
        hub_capabilities_fini(&binding->first_capabilities);
        binding->first_capabilities = capabilities;
    } else {
        hub_toolset_set_capabilities(binding->toolset, &capabilities);
    }
}

void hub_binding_about(hub_binding *binding, hub_str about_json)
{
    hub_about about;
    const hub_toolset *toolset = binding->toolset;
    if (binding->retired || (toolset->is_own && !toolset->is_apart)) {
        return;
    }
    if (hub_about_read(about_json, &about) != HUB_OK) {
        hub_log(HUB_LOG_ERROR, "toolset.no_memory",
                HUB_F_TEXT("toolset", binding->toolset->settings->key));
    } else {
        hub_toolset_set_about(binding->toolset, &about);
    }
}

/* What a server or its module says of itself is shown to many: without secrets. */
void hub_binding_keep_text(char *kept, size_t size, hub_str text)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    text = hub_respond_mask(text, &masked);
    (void)snprintf(kept, size, HUB_STR_FMT, HUB_STR_ARG(text));
    hub_buf_fini(&masked);
}

void hub_binding_state(hub_binding *binding, uint32_t state, hub_str detail)
{
    HUB_IS(binding, BINDING);
    hub_toolset *toolset = binding->toolset;
    if (binding->retired) {
        return;
    }
    toolset->state = state;
    hub_binding_keep_text(toolset->detail, sizeof toolset->detail, detail);
    if (state == PATCHBAY_STATE_FAILED) {
        hub_log(HUB_LOG_WARNING, "toolset.failed", HUB_F_TEXT("toolset", toolset->settings->key),
                HUB_F_STR("reason", detail), HUB_F_TEXT("by", HUB_BY_SERVER));
    }
    HUB_STATIONS_TELL(toolset_state_changed, toolset);
}

void hub_binding_health(hub_binding *binding, const patchbay_health *health)
{
    HUB_IS(binding, BINDING);
    if (binding->retired) {
        return;
    }
    hub_toolset_health *kept = &binding->toolset->health;
    *kept = (hub_toolset_health){.pid = health->pid,
                                 .restarts = health->restarts,
                                 .failures = health->failures,
                                 .next_attempt_ms = health->next_attempt_ms};
    (void)snprintf(kept->protocol, sizeof kept->protocol, HUB_STR_FMT,
                   HUB_STR_ARG(health->protocol));
    hub_binding_keep_text(kept->last_error, sizeof kept->last_error, health->last_error);
}

void hub_binding_defer(hub_binding *binding)
{
    HUB_IS(binding, BINDING);
    binding->deferred = true;
}

void hub_binding_expect_input(hub_binding *binding, bool is_expected)
{
    HUB_IS(binding, BINDING);
    binding->expects_input = is_expected;
    if (!binding->retired) {
        binding->toolset->is_modern = is_expected;
        binding->toolset->is_unsure = false;
    }
    if (hub_binding_is_current(binding)) {
        hub_toolset_review(binding->toolset);
    }
}

void hub_binding_closed(hub_binding *binding)
{
    HUB_IS(binding, BINDING);
    hub_toolset *toolset = binding->toolset;
    hub_assert(binding->retired && toolset->binding != binding);
    hub_assert(binding->calls == NULL && binding->in_flight == 0 && binding->holds == 0);
    hub_assert(toolset->open_bindings > 0 && toolset->hub->open_bindings > 0);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        stop_reading(binding, (hub_kind)kind);
    }
    binding->magic = 0;
    free(binding);
    toolset->hub->open_bindings--;
    toolset->open_bindings--;
    hub_toolset_end_if_left(toolset);
}
