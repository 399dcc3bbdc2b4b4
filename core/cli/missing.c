/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/missing.h"

#include "base/limits.h"
#include "base/nearest.h"
#include "hub/active/startup.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/toolset.h"
#include "hub/report/kept_out.h"
#include "hub/report/misnamed.h"
#include "hub/report/unknown.h"
#include "modules/module_list.h"
#include "tools/naming.h"

#include <stdio.h>
#include <stdlib.h>

/* ---- toolsets -------------------------------------------------------------------------------- */

typedef struct listener {
    hub_missing_on_toolset *on_toolset;
    void *ctx;
} listener;

static void on_refused(void *ctx, const hub_manager_result *result)
{
    const listener *heard = ctx;
    char key[HUB_LIMIT_TOOLSET_KEY_BYTES + 1];
    if (result->err == HUB_OK || result->err == HUB_EDENIED || result->err == HUB_ELIMIT) {
        return;
    }
    (void)snprintf(key, sizeof key, HUB_STR_FMT, HUB_STR_ARG(result->toolset));
    heard->on_toolset(heard->ctx, key, result->why.text);
}

/* NULL: it works, or nothing is known against it. */
static const char *find_failure(const hub_toolset *toolset)
{
    if (hub_toolset_state(toolset) == PATCHBAY_STATE_FAILED) {
        return hub_toolset_detail(toolset);
    }
    bool is_awaited = hub_toolset_state(toolset) == PATCHBAY_STATE_CONNECTING &&
                      hub_toolset_list(toolset, HUB_KIND_TOOL) == NULL &&
                      !hub_toolset_is_native(toolset);
    return is_awaited ? "it has not answered yet" : NULL;
}

void hub_missing_toolsets(hub_orchestrator *hub, const char *profile_name,
                          hub_missing_on_toolset *on_toolset, void *ctx)
{
    hub_profile *profile = hub_find_profile(hub, profile_name);
    listener heard = {.on_toolset = on_toolset, .ctx = ctx};
    if (profile == NULL) {
        return;
    }
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(hub, i);
        const char *failure =
            hub_audience_has(hub_profile_audience(profile), toolset) ? find_failure(toolset) : NULL;
        if (failure != NULL) {
            on_toolset(ctx, hub_toolset_key(toolset), failure);
        }
    }
    hub_startup_try_again(profile, on_refused, &heard);
}

/* ---- modules --------------------------------------------------------------------------------- */

void hub_missing_modules(hub_orchestrator *hub, hub_buf *out)
{
    size_t count;
    (void)hub_resolver_modules(hub_resolver_of(hub), &count);
    if (count > 0) {
        return;
    }
    size_t folder_count;
    size_t refused;
    const hub_module_folder *folders = hub_resolver_folders(hub_resolver_of(hub), &folder_count);
    (void)hub_resolver_refusals(hub_resolver_of(hub), &refused);
    hub_buf_add(out, HUB_STR("there are no plugins in the plugins folders "));
    hub_module_list_add_folders(hub_resolver_of(hub), out);
    for (size_t i = 0; i < folder_count; i++) {
        refused -= folders[i].reason != NULL; /* which the list says */
    }
    if (refused > 0) {
        hub_buf_printf(out, "; %zu file%s refused: see `patchbay list modules`", refused,
                       refused == 1 ? " was" : "s were");
    }
}

/* ---- tools ----------------------------------------------------------------------------------- */

static void add_meant(hub_str name, hub_buf *out)
{
    hub_buf_printf(out, "did you mean \"" HUB_STR_FMT "\"?", HUB_STR_ARG(name));
}

void hub_missing_toolset(hub_str name, hub_str near, hub_buf *out)
{
    hub_buf_printf(out, "there is no toolset \"" HUB_STR_FMT "\"", HUB_STR_ARG(name));
    if (near.len > 0) {
        hub_buf_add(out, HUB_STR("; "));
        add_meant(near, out);
    }
}

/* The exposed name that is nearest, for whoever has mistyped it. */
static void add_nearest(const hub_profile *profile, hub_str name, hub_buf *out)
{
    hub_str nearest =
        hub_unknown_nearest(hub_exposure_shown(hub_profile_exposure(profile), HUB_KIND_TOOL), name);
    if (nearest.len > 0) {
        add_meant(nearest, out);
    } else {
        hub_buf_add(out, HUB_STR("`patchbay list tools` names all tools"));
    }
}

/* "toolset__tool"; "toolset:tool" as policies write it; "toolset.tool" as the naming `dot` has it. */
static bool split(hub_str name, hub_str *ret_toolset, hub_str *ret_tool)
{
    if (hub_naming_split(name, ret_toolset, ret_tool) == HUB_OK) {
        return true;
    }
    size_t colon = hub_str_find(name, HUB_STR(":"));
    size_t at = colon != SIZE_MAX ? colon : hub_str_find(name, HUB_STR("."));
    if (at == SIZE_MAX) {
        return false;
    }
    *ret_toolset = (hub_str){.ptr = name.ptr, .len = at};
    *ret_tool = hub_str_from(name, at + 1);
    return true;
}

typedef struct search {
    hub_str key;
    hub_error *why;
} search;

static void on_tried(void *ctx, const hub_manager_result *result)
{
    const search *wanted = ctx;
    if (hub_str_eq(result->toolset, wanted->key) && result->err != HUB_OK) {
        *wanted->why = result->why;
    }
}

/* Why a toolset is not active. */
static void add_inactive(hub_profile *profile, const hub_toolset *toolset, hub_buf *out)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    const char *key = hub_toolset_key(toolset);
    hub_buf why;
    hub_buf_init(&why, HUB_LIMIT_REASON_BYTES);
    hub_err kept = settings->enabled ? hub_kept_out(profile, hub_str_of(key), &why) : HUB_OK;
    if (!settings->enabled) {
        hub_buf_printf(out, "toolset \"%s\" is switched off (%s): `patchbay enable %s` ends that",
                       key, settings->source, key);
    } else if (kept != HUB_OK) {
        hub_buf_printf(out, "toolset \"%s\" is not active: " HUB_STR_FMT, key,
                       HUB_STR_ARG(hub_buf_str(&why)));
        if (kept == HUB_ELIMIT) {
            hub_buf_printf(out, "; --toolsets %s has it active alone", key);
        }
    } else if (hub_profile_settings_want(hub_profile_settings_of(profile), settings)) {
        hub_error unusable = {.code = HUB_OK};
        search wanted = {.key = hub_str_of(key), .why = &unusable};
        hub_startup_try_again(profile, on_tried, &wanted);
        hub_buf_printf(out, "toolset \"%s\" cannot be used (%s): ", key, settings->source);
        hub_buf_add(out, hub_toolset_own_words(toolset, unusable.text));
    } else {
        hub_buf_printf(out, "toolset \"%s\" is not active (%s): --toolsets %s makes it so", key,
                       settings->source, key);
    }
    hub_buf_fini(&why);
}

/* Of a toolset that is active: how its tool is called, or what keeps it out, or that it has none. */
static void add_of_active(const hub_profile *profile, const hub_toolset *toolset, hub_str name,
                          hub_str tool, hub_buf *out)
{
    const hub_catalog *list = hub_toolset_list(toolset, HUB_KIND_TOOL);
    const hub_entry *entry =
        hub_exposure_find_own(hub_profile_exposure(profile), HUB_REVISION_NEWEST, HUB_KIND_TOOL,
                              hub_str_of(hub_toolset_key(toolset)), tool);
    if (entry != NULL) {
        hub_buf_printf(out, "did you mean \"" HUB_STR_FMT "\"?", HUB_STR_ARG(entry->exposed));
    } else if (list != NULL && hub_catalog_find(list, tool) != NULL) {
        hub_buf_printf(out,
                       "toolset \"%s\" has such a tool, but a policy, or its own tools.allow, "
                       "tools.deny or tools.overrides (%s), keeps it out",
                       hub_toolset_key(toolset), hub_toolset_settings_of(toolset)->source);
    } else {
        hub_buf usual; /* however it is spelt */
        hub_buf_init(&usual, SIZE_MAX / 4);
        hub_buf_printf(&usual, "%s__" HUB_STR_FMT, hub_toolset_key(toolset), HUB_STR_ARG(tool));
        add_nearest(profile, hub_buf_ok(&usual) ? hub_buf_str(&usual) : name, out);
        hub_buf_fini(&usual);
    }
}

void hub_missing_tool(hub_orchestrator *hub, const char *profile_name, hub_str name, hub_buf *out)
{
    hub_profile *profile = hub_find_profile(hub, profile_name);
    hub_str key = name;
    hub_str tool = HUB_STR_EMPTY;
    if (profile == NULL) {
        return;
    }
    bool is_split = split(name, &key, &tool);
    const hub_toolset *toolset = hub_find_toolset(hub, key);
    hub_error why = {.code = HUB_OK};
    if (toolset == NULL && is_split && !hub_settings_of(hub)->toolsets_listed &&
        hub_module_list_was_refused(hub_resolver_of(hub), key, &why)) {
        hub_buf_add(out, hub_str_of(why.text)); /* else it would be a toolset */
    } else if (toolset == NULL && is_split &&
               hub_resolver_find(hub_resolver_of(hub), key) != NULL) {
        (void)hub_misnamed_fail(hub, key, &why);
        hub_buf_add(out, hub_str_of(why.text));
    } else if (toolset == NULL) {
        add_nearest(profile, name, out);
    } else if (!hub_audience_has(hub_profile_audience(profile), toolset)) {
        add_inactive(profile, toolset, out);
    } else if (!is_split) {
        hub_buf_add(out, HUB_STR("it is the name of a toolset: `patchbay list tools` names its "
                                 "tools"));
    } else {
        add_of_active(profile, toolset, name, tool, out);
    }
}

static void add_absent(const hub_toolset *toolset, hub_str tool, hub_buf *out)
{
    const hub_catalog *list = hub_toolset_list(toolset, HUB_KIND_TOOL);
    hub_nearest near;
    if (list == NULL || hub_catalog_find(list, tool) != NULL) {
        return;
    }
    hub_nearest_begin(&near, tool);
    for (size_t i = 0; i < list->count; i++) {
        hub_nearest_offer(&near, list->items[i].name);
    }
    hub_buf_printf(out, "toolset \"%s\" has no tool \"" HUB_STR_FMT "\"", hub_toolset_key(toolset),
                   HUB_STR_ARG(tool));
    if (near.found.len > 0) {
        hub_buf_add(out, HUB_STR("; "));
        add_meant(near.found, out);
    }
}

void hub_missing_by_key(hub_orchestrator *hub, hub_str key, hub_str tool, hub_buf *out)
{
    hub_toolset *toolset = hub_find_toolset(hub, key);
    hub_error why = {.code = HUB_OK};
    if (toolset == NULL && !hub_str_is(key, HUB_META_TOOLSET)) {
        (void)hub_misnamed_fail(hub, key, &why);
        hub_buf_add(out, hub_str_of(why.text));
    } else if (toolset != NULL && hub_toolset_settings_of(toolset)->enabled) {
        if (hub_toolset_use(toolset, &why) == HUB_OK) {
            hub_discovery_recall(toolset); /* its plugin's version is known now */
            add_absent(toolset, tool, out);
            hub_toolset_unuse(toolset);
        }
    }
}
