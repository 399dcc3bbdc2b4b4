/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/toolset.h"

#include "base/log.h"
#include "hub/kernel/binding.h"
#include "hub/kernel/call.h"
#include "hub/kernel/objects.h"

#include <stdlib.h>

/* ---- what it is ------------------------------------------------------------------------------ */

hub_orchestrator *hub_toolset_hub(const hub_toolset *toolset)
{
    return toolset->hub;
}

const char *hub_toolset_key(const hub_toolset *toolset)
{
    return toolset->key;
}

const hub_toolset_settings *hub_toolset_settings_of(const hub_toolset *toolset)
{
    return toolset->settings;
}

hub_binding *hub_toolset_binding(const hub_toolset *toolset)
{
    return toolset->binding;
}

unsigned hub_toolset_users(const hub_toolset *toolset)
{
    return toolset->users;
}

bool hub_toolset_was_used(const hub_toolset *toolset)
{
    return toolset->was_used;
}

bool hub_toolset_is_native(const hub_toolset *toolset)
{
    return toolset->native;
}

bool hub_toolset_is_own(const hub_toolset *toolset)
{
    return toolset->is_own;
}

bool hub_toolset_is_apart(const hub_toolset *toolset)
{
    return toolset->is_apart;
}

bool hub_toolset_is_stand_in(const hub_toolset *toolset)
{
    return toolset->settings->is_per_principal && !toolset->is_apart;
}

bool hub_toolset_is_meta(const hub_toolset *toolset)
{
    return toolset->answer != NULL;
}

uint32_t hub_toolset_state(const hub_toolset *toolset)
{
    return toolset->state;
}

const char *hub_toolset_detail(const hub_toolset *toolset)
{
    return toolset->detail;
}

const char *hub_toolset_last_failure(const hub_toolset *toolset)
{
    bool has_failed =
        toolset->binding != NULL ? toolset->state == PATCHBAY_STATE_FAILED : toolset->ended_failed;
    return has_failed ? toolset->detail : "";
}

const char *hub_toolset_unusable(const hub_toolset *toolset)
{
    return toolset->binding == NULL ? toolset->unusable : "";
}

hub_str hub_toolset_own_words(const hub_toolset *toolset, const char *text)
{
    hub_error named;
    hub_str all = hub_str_of(text);
    (void)hub_fail(&named, HUB_EINVAL, "toolset \"%s\": ", toolset->settings->key);
    size_t len = strlen(named.text);
    return hub_str_starts(all, (hub_str){.ptr = named.text, .len = len}) ? hub_str_from(all, len)
                                                                         : all;
}

const char *hub_toolset_not_replaced(const hub_toolset *toolset)
{
    return toolset->binding != NULL ? toolset->unusable : "";
}

const hub_module *hub_toolset_module(const hub_toolset *toolset)
{
    return toolset->binding != NULL ? hub_instance_module(toolset->binding->instance) : NULL;
}

const hub_toolset_health *hub_toolset_health_of(const hub_toolset *toolset)
{
    return &toolset->health;
}

const hub_capabilities *hub_toolset_capabilities(const hub_toolset *toolset)
{
    return &toolset->capabilities;
}

const hub_about *hub_toolset_about(const hub_toolset *toolset)
{
    return &toolset->about;
}

uint64_t hub_toolset_redefined(const hub_toolset *toolset)
{
    return toolset->redefined;
}

hub_name_list hub_toolset_tool_names(const hub_toolset *toolset)
{
    const hub_catalog *tools = toolset->lists[HUB_KIND_TOOL];
    hub_name_list names = {.count = 0};
    for (size_t i = 0; tools != NULL && i < tools->count; i++) {
        hub_name_list_add(&names, tools->items[i].name);
    }
    return names;
}

bool hub_toolset_is_deferred(const hub_toolset *toolset)
{
    return toolset->deferred;
}

bool hub_toolset_is_modern(const hub_toolset *toolset)
{
    return toolset->is_modern;
}

void *hub_toolset_part(const hub_toolset *toolset, const hub_station *station)
{
    return (char *)(uintptr_t)toolset->parts + station->place->offset[HUB_PART_TOOLSET];
}

void hub_toolset_review(hub_toolset *toolset)
{
    HUB_IS(toolset, TOOLSET);
    toolset->wanted = 0;
    for (size_t row = 0; row < hub_stations_count(); row++) {
        const hub_station *station = hub_stations_at(row);
        if (station->wants_toolset != NULL && station->wants_toolset(toolset)) {
            toolset->wanted |= station->place->bit;
        }
    }
}

/* ---- the catalog ----------------------------------------------------------------------------- */

hub_catalog *hub_toolset_list(const hub_toolset *toolset, hub_kind kind)
{
    return toolset->lists[kind];
}

size_t hub_toolset_count(const hub_toolset *toolset, hub_kind kind)
{
    return toolset->lists[kind] != NULL ? toolset->lists[kind]->count : 0;
}

void hub_toolset_set_list(hub_toolset *toolset, hub_kind kind, hub_catalog *list)
{
    HUB_IS(toolset, TOOLSET);
    hub_assert(kind < HUB_KINDS);
    hub_catalog_unref(toolset->lists[kind]);
    toolset->lists[kind] = list;
    hub_log(HUB_LOG_DEBUG, "tools.catalog", HUB_F_TEXT("toolset", toolset->settings->key),
            HUB_F_TEXT("list", hub_kind_noun(kind, 0)),
            HUB_F_INT("count", list != NULL ? list->count : 0));
    hub_toolset_review(toolset);
    HUB_STATIONS_TELL(toolset_listed, toolset, kind);
}

void hub_toolset_set_capabilities(hub_toolset *toolset, hub_capabilities *capabilities)
{
    HUB_IS(toolset, TOOLSET);
    hub_assert(capabilities != &toolset->capabilities);
    hub_capabilities_fini(&toolset->capabilities);
    toolset->capabilities = *capabilities;
    *capabilities = (hub_capabilities){.json = NULL};
    hub_toolset_review(toolset);
    HUB_STATIONS_TELL(toolset_can, toolset);
}

void hub_toolset_set_about(hub_toolset *toolset, hub_about *about)
{
    hub_about_fini(&toolset->about);
    toolset->about = *about;
    *about = (hub_about){.title = NULL};
    HUB_STATIONS_TELL(toolset_told, toolset);
}

void hub_toolset_hide_instructions(hub_toolset *toolset, bool is_hidden)
{
    toolset->about.hides_instructions = is_hidden;
}

static void drop_lists(hub_catalog *lists[HUB_KINDS])
{
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_catalog_unref(lists[kind]);
        lists[kind] = NULL;
    }
}

void hub_toolset_forget_catalog(hub_toolset *toolset)
{
    hub_about_fini(&toolset->about);
    drop_lists(toolset->lists);
    drop_lists(toolset->idle_lists);
    hub_capabilities_fini(&toolset->capabilities);
    toolset->is_modern = false;
    toolset->is_unsure = false;
    HUB_STATIONS_TELL(toolset_forgotten, toolset);
    hub_toolset_review(toolset);
}

void hub_toolset_recall(hub_toolset *toolset, hub_catalog *const lists[HUB_KINDS],
                        hub_capabilities *capabilities, bool is_modern)
{
    HUB_IS(toolset, TOOLSET);
    hub_assert(!toolset->is_own);
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        hub_assert(toolset->lists[kind] == NULL);
        toolset->lists[kind] = lists[kind];
    }
    hub_capabilities_fini(&toolset->capabilities);
    toolset->capabilities = *capabilities;
    toolset->is_modern = is_modern;
    toolset->is_unsure = true;
    *capabilities = (hub_capabilities){.json = NULL};
    hub_toolset_review(toolset);
    HUB_STATIONS_TELL(toolset_recalled, toolset);
}

void hub_toolset_suppose_era(hub_toolset *toolset, bool is_modern)
{
    HUB_IS(toolset, TOOLSET);
    toolset->is_modern = is_modern;
    toolset->is_unsure = true;
    if (toolset->binding != NULL) {
        toolset->binding->expects_input = true;
    }
    hub_toolset_review(toolset);
}

void hub_toolset_end_deferral(hub_toolset *toolset)
{
    toolset->deferred = false;
}

/* ---- working with a binding ------------------------------------------------------------------ */

/* Work with a new binding from now on. What it has not said is none, unless it is to be asked. */
static void take_binding(hub_toolset *toolset, hub_binding *binding)
{
    HUB_IS(binding, BINDING);
    hub_assert(binding->toolset == toolset && toolset->binding != binding);
    hub_assert(!binding->retired && binding->instance != NULL);
    toolset->binding = binding;
    toolset->unusable[0] = '\0';
    toolset->ended_failed = false;
    toolset->health = (hub_toolset_health){.pid = 0};
    toolset->was_used = true;
    toolset->state = binding->first_state;
    toolset->native = binding->native;
    toolset->deferred = binding->deferred;
    /* Until its server has said of which era it is: one that was legacy may be a modern one now. */
    bool may_be_modern = binding->deferred && (toolset->is_modern || toolset->is_unsure);
    binding->expects_input = binding->expects_input || may_be_modern;
    hub_toolset_review(toolset);
    HUB_STATIONS_TELL(toolset_begins_anew, toolset);
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
    drop_lists(toolset->idle_lists);
    HUB_STATIONS_TELL(toolset_bound, toolset);
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err hub_toolset_create(hub_orchestrator *hub, const hub_toolset_settings *settings,
                           hub_toolset **ret_toolset)
{
    HUB_IS(hub, HUB);
    hub_toolset *toolset = calloc(1, sizeof *toolset + hub_stations_bytes(HUB_PART_TOOLSET));
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
    toolset->magic = HUB_MAGIC_TOOLSET;
    HUB_STATIONS_TELL(toolset_begins, toolset);
    hub_toolset_review(toolset);
    *ret_toolset = toolset;
    return HUB_OK;
}

void hub_toolset_destroy(hub_toolset *toolset)
{
    if (toolset != NULL) {
        HUB_IS(toolset, TOOLSET);
        hub_assert(toolset->binding == NULL && toolset->open_bindings == 0);
        hub_assert(toolset->instances == 0);
        hub_toolset *shared = toolset->shared;
        HUB_STATIONS_TELL_BACK(toolset_ends, toolset);
        drop_lists(toolset->lists);
        drop_lists(toolset->idle_lists);
        hub_capabilities_fini(&toolset->capabilities);
        hub_about_fini(&toolset->about);
        free(toolset->settings);
        free(toolset->key);
        toolset->magic = 0;
        free(toolset);
        if (shared != NULL) {
            shared->instances--;
            hub_toolset_end_if_left(shared);
        }
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

/* Whoever asks later is told, too, and knows of which toolset. */
static hub_err keep_failure(hub_toolset *toolset, hub_err err, const hub_error *why,
                            hub_error *reterr)
{
    hub_binding_keep_text(toolset->unusable, sizeof toolset->unusable,
                          hub_toolset_own_words(toolset, why->text));
    return hub_fail(reterr, err, "%s", why->text);
}

static hub_err use(hub_toolset *toolset, hub_error *reterr)
{
    hub_binding *binding = NULL;
    hub_err err = check_usable(toolset->settings, reterr);
    if (err != HUB_OK || toolset->binding != NULL) {
        return err;
    }
    err = hub_binding_make(toolset, toolset->settings, &binding, reterr);
    if (err == HUB_OK) {
        HUB_STATIONS_TELL(toolset_linked, toolset); /* its module's version is known now */
        take_binding(toolset, binding);
    }
    return err;
}

hub_err hub_toolset_use(hub_toolset *toolset, hub_error *reterr)
{
    HUB_IS(toolset, TOOLSET);
    hub_assert(!toolset->is_leaving);
    hub_error why = {.code = HUB_OK, .text = ""};
    hub_err err = use(toolset, &why);
    if (err != HUB_OK) {
        return keep_failure(toolset, err, &why, reterr);
    }
    toolset->users++;
    return HUB_OK;
}

void hub_toolset_share(hub_toolset *toolset)
{
    hub_assert(toolset->users > 0);
    toolset->users++;
}

/* Nobody uses it any more: why its server is not there may still be asked. */
static void keep_reason(hub_toolset *toolset)
{
    bool is_trying = toolset->state == PATCHBAY_STATE_CONNECTING && toolset->health.failures > 0;
    if (is_trying && toolset->health.last_error[0] != '\0') {
        hub_binding_keep_text(toolset->detail, sizeof toolset->detail,
                              hub_str_of(toolset->health.last_error));
    }
    toolset->ended_failed = is_trying || toolset->state == PATCHBAY_STATE_FAILED;
}

/* Go without a binding; its calls fail `at_once`, or may end. */
static void drop_binding(hub_toolset *toolset, bool at_once)
{
    hub_binding *binding = toolset->binding;
    HUB_IS(binding, BINDING);
    hub_assert(binding->toolset == toolset);
    toolset->binding = NULL;
    keep_reason(toolset);
    toolset->health = (hub_toolset_health){.pid = 0};
    toolset->state = PATCHBAY_STATE_IDLE;
    HUB_STATIONS_TELL(toolset_unbound, toolset);
    if (toolset->native) { /* an upstream's last good ones are still known */
        drop_lists(toolset->idle_lists);
        memcpy(toolset->idle_lists, toolset->lists, sizeof toolset->lists);
        memset(toolset->lists, 0, sizeof toolset->lists);
    }
    hub_binding_retire(binding, at_once);
    HUB_STATIONS_TELL(toolset_idle, toolset);
}

void hub_toolset_unuse(hub_toolset *toolset)
{
    hub_assert(toolset->users > 0);
    HUB_STATIONS_TELL(toolset_less, toolset, true);
    if (--toolset->users == 0) {
        drop_binding(toolset, true);
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
    hub_error why = {.code = HUB_OK, .text = ""};
    hub_err err = hub_binding_make(toolset, toolset->settings, &binding, &why);
    if (err != HUB_OK) {
        return keep_failure(toolset, err, &why, reterr);
    }
    HUB_STATIONS_TELL(toolset_rebinds, toolset);
    take_binding(toolset, binding);
    hub_binding_retire(old, false);
    HUB_STATIONS_TELL(toolset_rebound, toolset);
    return HUB_OK;
}

/* ---- reloading ------------------------------------------------------------------------------- */

hub_err hub_toolset_prepare(hub_toolset *toolset, const hub_toolset_settings *settings,
                            hub_binding **ret_binding, hub_error *reterr)
{
    hub_err err = check_usable(settings, reterr);
    return err == HUB_OK ? hub_binding_make(toolset, settings, ret_binding, reterr) : err;
}

void hub_binding_abandon(hub_binding *binding)
{
    if (binding != NULL) {
        hub_binding_forget_first(binding);
        hub_binding_retire(binding, true);
    }
}

void hub_toolset_take(hub_toolset *toolset, hub_binding *binding)
{
    hub_binding *old = toolset->binding;
    if (old != NULL) {
        HUB_STATIONS_TELL(toolset_rebinds, toolset);
    }
    take_binding(toolset, binding);
    if (old != NULL) {
        hub_binding_retire(old, false);
    }
}

void hub_toolset_let_go(hub_toolset *toolset)
{
    HUB_STATIONS_TELL(toolset_less, toolset, false);
    toolset->users = 0;
    if (toolset->binding != NULL) {
        drop_binding(toolset, false);
        toolset->ended_failed = false; /* its settings are others */
    }
}

hub_toolset_settings *hub_toolset_exchange_settings(hub_toolset *toolset,
                                                    hub_toolset_settings *settings)
{
    hub_assert(settings != NULL && settings != toolset->settings);
    hub_assert(strcmp(settings->key, toolset->key) == 0);
    hub_toolset_settings *old = toolset->settings;
    toolset->settings = settings;
    hub_toolset_review(toolset);
    HUB_STATIONS_TELL(toolset_tuned, toolset);
    return old;
}

void hub_toolset_set_users(hub_toolset *toolset, unsigned users)
{
    toolset->users = users;
}

void hub_toolset_set_answer(hub_toolset *toolset, hub_toolset_answer *answer)
{
    hub_assert(answer != NULL && toolset->answer == NULL);
    hub_assert(toolset->binding == NULL);
    toolset->answer = answer;
    hub_toolset_review(toolset);
}

void hub_toolset_make_own(hub_toolset *toolset, hub_toolset *shared)
{
    HUB_IS(shared, TOOLSET);
    hub_assert(!toolset->is_own && !shared->is_own);
    hub_assert(toolset->users == 0);
    toolset->is_own = true;
    toolset->shared = shared;
    shared->instances++;
    toolset->is_modern = shared->is_modern;
    toolset->users = 1;
}

void hub_toolset_make_apart(hub_toolset *toolset, hub_toolset *shared)
{
    hub_toolset_make_own(toolset, shared);
    toolset->is_apart = true;
    toolset->is_modern = false; /* nothing was heard of its server by anybody else */
}

void hub_toolset_end_if_left(hub_toolset *toolset)
{
    if (toolset->is_leaving && toolset->open_bindings == 0 && toolset->instances == 0) {
        hub_toolset_destroy(toolset);
    }
}

void hub_toolset_leave(hub_toolset *toolset)
{
    HUB_IS(toolset, TOOLSET);
    hub_assert(!toolset->is_leaving && toolset->users == 0);
    HUB_STATIONS_TELL(toolset_leaves, toolset);
    toolset->is_leaving = true;
    hub_toolset_end_if_left(toolset);
}

/* ---- asking it ------------------------------------------------------------------------------- */

hub_err hub_toolset_request(hub_toolset *toolset, patchbay_request *request, uint32_t timeout_ms,
                            hub_call_on_outcome *on_outcome, void *ctx, hub_call **ret_call)
{
    hub_assert(toolset->binding != NULL && on_outcome != NULL);
    hub_call *call;
    hub_err err = hub_call_begin_internal(toolset->hub, on_outcome, ctx, &call);
    if (err != HUB_OK) {
        return err;
    }
    *ret_call = call;
    hub_call_bind(call, toolset->binding, false);
    hub_call_set_deadline(call, timeout_ms, toolset->hub->settings->limits.call_ceiling_ms);
    request->struct_size = sizeof *request;
    request->deadline_ms = call->begin_ms + timeout_ms;
    hub_instance_call(toolset->binding->instance, call->id, request);
    return HUB_OK;
}

/* ---- for bases and exposures ----------------------------------------------------------------- */

/* Whether its tools are its module's own, also before it has an instance. */
static bool is_native(const hub_toolset *toolset, const hub_toolset_settings *settings)
{
    if (settings->is_isolated || toolset->binding != NULL) {
        return settings->is_isolated || toolset->native;
    }
    const hub_module *module =
        hub_resolver_find(toolset->hub->resolver, hub_str_of(settings->module));
    return module != NULL && !module->is_outside &&
           (module->table->flags & PATCHBAY_PLUGIN_PROXY) == 0;
}

static hub_source make_source(hub_toolset *toolset, const hub_toolset_settings *settings)
{
    hub_source source = {
        .toolset = hub_str_of(toolset->key),
        .owner = toolset,
        .native = is_native(toolset, settings),
        .tools_allow = &settings->tools_allow,
        .tools_deny = &settings->tools_deny,
        .tags = &settings->tags,
        .category = settings->category,
        .has_overrides = settings->overrides != NULL,
        .varies = settings->is_per_principal,
    };
    source.trusts_tags = source.native || settings->trusts_tags;
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
    hub_assert(binding->toolset == toolset);
    source.native = binding->native || settings->is_isolated;
    source.trusts_tags = source.native || settings->trusts_tags;
    for (int kind = 0; kind < HUB_KINDS; kind++) {
        if (binding->first_lists[kind] != NULL || !binding->deferred) {
            source.lists[kind] = binding->first_lists[kind];
        }
    }
    return source;
}
