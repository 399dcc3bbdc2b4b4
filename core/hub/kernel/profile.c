/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/kernel/profile.h"

#include "base/log.h"
#include "hub/kernel/isolation.h"
#include "hub/router/meta_tools.h"
#include "tools/naming.h"
#include "tools/schema.h"

#include <stdlib.h>

static void on_left_out(void *ctx, hub_str reason)
{
    const hub_profile *profile = ctx;
    hub_log(HUB_LOG_WARNING, "tools.left_out", HUB_F_TEXT("profile", profile->settings->name),
            HUB_F_STR("reason", reason));
}

/* ---- registries ------------------------------------------------------------------------------ */

static hub_err make_meta(const hub_profile *profile, const hub_profile_settings *own,
                         hub_source *ret_source, hub_error *reterr)
{
    hub_catalog *catalog;
    hub_err err = hub_meta_catalog(own->startup == HUB_STARTUP_STATIC, &catalog);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "the meta-tools cannot be made: %s", hub_err_text(err));
    }
    *ret_source = (hub_source){
        .toolset = HUB_STR(HUB_META_TOOLSET),
        .lists = {[HUB_KIND_TOOL] = catalog},
        .owner = profile->hub->meta,
        .native = true,
        .bare = true,
        .fresh = true,
    };
    return HUB_OK;
}

hub_err hub_profile_make_registry(hub_profile *profile, const hub_settings *settings,
                                  const hub_profile_settings *own, hub_source *sources,
                                  size_t count, hub_registry **ret_registry, hub_error *reterr)
{
    const hub_view_rules rules = {
        .naming = own->naming,
        .max_name_bytes = own->max_name_bytes,
        .policies = {&settings->policy, &own->policy},
    };
    hub_source meta = {.owner = NULL};
    hub_err err = own->meta_tools ? make_meta(profile, own, &meta, reterr) : HUB_OK;
    if (err != HUB_OK) {
        return err;
    }
    if (own->meta_tools) {
        memmove(&sources[1], &sources[0], count * sizeof *sources);
        sources[0] = meta;
        count++;
    }
    err = hub_registry_create_with(&rules, sources, count, on_left_out, profile, ret_registry,
                                   reterr);
    hub_catalog_unref(meta.lists[HUB_KIND_TOOL]);
    return err;
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err hub_profile_create(hub_orchestrator *hub, const hub_settings *settings,
                           const hub_profile_settings *own, hub_profile **ret_profile,
                           hub_error *reterr)
{
    hub_source sources[1];
    hub_profile *profile = calloc(1, sizeof *profile);
    if (profile == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    profile->hub = hub;
    profile->settings = own;
    hub_err err =
        hub_profile_make_registry(profile, settings, own, sources, 0, &profile->registry, reterr);
    if (err == HUB_OK && (hub_manager_create(profile, &profile->manager) != HUB_OK ||
                          hub_notifier_create(profile, &profile->notifier) != HUB_OK)) {
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    if (err != HUB_OK) {
        hub_profile_destroy(profile);
        return err;
    }
    *ret_profile = profile;
    return HUB_OK;
}

void hub_profile_fini(hub_profile *profile)
{
    hub_assert(profile->sessions == NULL);
    hub_manager_destroy(profile->manager);
    hub_notifier_destroy(profile->notifier);
    hub_registry_destroy(profile->registry);
    profile->manager = NULL;
    profile->notifier = NULL;
    profile->registry = NULL;
}

void hub_profile_destroy(hub_profile *profile)
{
    if (profile != NULL) {
        hub_profile_fini(profile);
        hub_settings_unref(profile->held);
        free(profile);
    }
}

void hub_profile_session_ended(hub_profile *profile)
{
    hub_orchestrator *hub = profile->hub;
    size_t at = 0;
    if (!profile->is_leaving || profile->sessions != NULL) {
        return;
    }
    while (hub->profiles[at] != profile) {
        at++;
    }
    hub->profile_count--;
    memmove(&hub->profiles[at], &hub->profiles[at + 1],
            (hub->profile_count - at) * sizeof(hub_profile *));
    hub_profile_destroy(profile);
}

/* ---- modules that are toolsets --------------------------------------------------------------- */

static bool works_without_config(const hub_module *module)
{
    return module->config_schema == NULL ||
           hub_schema_validate(module->config_schema, HUB_STR("{}"), "config", NULL) == HUB_OK;
}

bool hub_module_makes_toolset(const hub_module *module, const hub_settings *settings,
                              hub_toolset_settings *ret_settings)
{
    *ret_settings = (hub_toolset_settings){
        .key = module->name,
        .module = module->name,
        .config_json = "{}",
        .source = module->path,
        .enabled = settings->is_enabled == NULL || settings->is_enabled(module->name),
        .active = true,
        .lazy = true,
        .cache = true,
        .is_isolated = settings->modules.isolates &&
                       hub_isolation_is_outside(settings, hub_str_of(module->name)),
        .call_timeout_ms = settings->limits.call_timeout_ms,
    };
    return works_without_config(module);
}
