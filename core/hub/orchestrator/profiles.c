/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/orchestrator/profiles.h"

#include "base/log.h"
#include "hub/kernel/isolation.h"
#include "hub/kernel/profile.h"
#include "hub/router/meta_tools.h"
#include "tools/naming.h"
#include "tools/schema.h"

static void on_left_out(void *ctx, hub_str reason)
{
    const hub_profile_settings *own = ctx;
    hub_log(HUB_LOG_WARNING, "tools.left_out", HUB_F_TEXT("profile", own->name),
            HUB_F_STR("reason", reason));
}

/* ---- registries ------------------------------------------------------------------------------ */

static hub_err make_meta(const hub_orchestrator *hub, const hub_profile_settings *own,
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
        .owner = hub_meta_toolset(hub),
        .native = true,
        .bare = true,
        .fresh = true,
    };
    return HUB_OK;
}

hub_err hub_profile_make_registry(const hub_orchestrator *hub, const hub_settings *settings,
                                  const hub_profile_settings *own, hub_source *sources,
                                  size_t count, hub_registry **ret_registry, hub_error *reterr)
{
    const hub_view_rules rules = {
        .naming = own->naming,
        .max_name_bytes = own->max_name_bytes,
        .policies = {&settings->policy, &own->policy},
    };
    hub_source meta = {.owner = NULL};
    hub_err err = own->meta_tools ? make_meta(hub, own, &meta, reterr) : HUB_OK;
    if (err != HUB_OK) {
        return err;
    }
    if (own->meta_tools) {
        memmove(&sources[1], &sources[0], count * sizeof *sources);
        sources[0] = meta;
        count++;
    }
    err = hub_registry_create_with(&rules, sources, count, on_left_out, (void *)(uintptr_t)own,
                                   ret_registry, reterr);
    hub_catalog_unref(meta.lists[HUB_KIND_TOOL]);
    return err;
}

hub_err hub_profile_create(hub_orchestrator *hub, const hub_settings *settings,
                           const hub_profile_settings *own, hub_profile **ret_profile,
                           hub_error *reterr)
{
    hub_source sources[1];
    hub_registry *registry = NULL;
    hub_err err = hub_profile_make_registry(hub, settings, own, sources, 0, &registry, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (hub_profile_make(hub, own, registry, ret_profile) != HUB_OK) {
        hub_registry_destroy(registry);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    return HUB_OK;
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
