/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/orchestrator/profiles.h"

#include "base/log.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/isolation.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/notifier.h"
#include "hub/router/meta_tools.h"
#include "tools/naming.h"
#include "tools/schema.h"

#include <stdlib.h>

static void on_left_out(void *ctx, hub_str reason)
{
    const hub_profile_settings *own = ctx;
    hub_log(HUB_LOG_WARNING, "tools.left_out", HUB_F_TEXT("profile", own->name),
            HUB_F_STR("reason", reason));
}

/* ---- bases ----------------------------------------------------------------------------------- */

static hub_naming_rule rule_of(const hub_profile_settings *own)
{
    return (hub_naming_rule){.naming = own->naming, .max_name_bytes = own->max_name_bytes};
}

/* The hub's own tools as a source. The base has all of them, a profile those that it shows. */
static hub_err make_meta(const hub_orchestrator *hub, unsigned groups, bool is_static,
                         hub_source *ret_source, hub_error *reterr)
{
    hub_catalog *catalog;
    hub_err err = hub_meta_catalog(groups, is_static, &catalog);
    if (err != HUB_OK) {
        return hub_fail(reterr, err, "the meta-tools cannot be made: %s", hub_err_text(err));
    }
    *ret_source = (hub_source){
        .toolset = HUB_STR(HUB_META_TOOLSET),
        .lists = {[HUB_KIND_TOOL] = catalog},
        .owner = hub_meta_toolset(hub),
        .native = true,
        .bare = true,
    };
    return HUB_OK;
}

/* The groups of the hub's own tools that some profile shows whose names are made by that rule. Others
 * take nobody's name. */
static unsigned meta_groups(const hub_settings *settings, const hub_profile_settings *own)
{
    unsigned groups = hub_profile_settings_groups(own);
    for (size_t i = 0; i < settings->profile_count; i++) {
        const hub_profile_settings *other = &settings->profiles[i];
        bool is_same = other->naming == own->naming && other->max_name_bytes == own->max_name_bytes;
        groups |= is_same ? hub_profile_settings_groups(other) : 0;
    }
    return groups;
}

/* Whether a base has all of the hub's own tools that a profile shows. */
static bool has_meta(const hub_base *base, const hub_profile_settings *own)
{
    unsigned groups = hub_profile_settings_groups(own);
    size_t at = 0;
    while (at < hub_base_count(base) && !hub_base_source_at(base, at)->bare) {
        at++;
    }
    return groups == 0 ||
           (at < hub_base_count(base) &&
            hub_meta_has(hub_base_section_at(base, at, HUB_KIND_TOOL)->catalog, groups));
}

hub_err hub_profile_make_base(const hub_orchestrator *hub, const hub_settings *settings,
                              const hub_profile_settings *own, hub_source *toolsets, size_t count,
                              hub_base **ret_base, hub_error *reterr)
{
    const hub_naming_rule rule = rule_of(own);
    hub_source *meta = &toolsets[count];
    *meta = (hub_source){.owner = NULL};
    unsigned groups = meta_groups(settings, own);
    hub_err err = groups != 0 ? make_meta(hub, groups, false, meta, reterr) : HUB_OK;
    if (err == HUB_OK) {
        err = hub_base_create(&rule, toolsets, count + (groups != 0),
                              hub_profile_find_base(hub, own), ret_base, reterr);
        hub_catalog_unref(meta->lists[HUB_KIND_TOOL]);
    }
    return err;
}

hub_base *hub_profile_find_base(const hub_orchestrator *hub, const hub_profile_settings *own)
{
    const hub_naming_rule rule = rule_of(own);
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        const hub_profile *profile = hub_profile_at(hub, i);
        const hub_exposure *exposure = hub_profile_exposure(profile);
        if (!hub_profile_is_leaving(profile) && exposure != NULL &&
            hub_base_has_rule(hub_exposure_base(exposure), &rule)) {
            return hub_exposure_base(exposure);
        }
    }
    return NULL;
}

static hub_err get_base(const hub_orchestrator *hub, const hub_settings *settings,
                        const hub_profile_settings *own, hub_base **ret_base, hub_error *reterr)
{
    hub_base *known = hub_profile_find_base(hub, own);
    if (known != NULL && has_meta(known, own)) {
        *ret_base = hub_base_ref(known);
        return HUB_OK;
    }
    return hub_profile_renew_base(hub, settings, own, ret_base, reterr);
}

hub_err hub_profile_renew_base(const hub_orchestrator *hub, const hub_settings *settings,
                               const hub_profile_settings *own, hub_base **ret_base,
                               hub_error *reterr)
{
    hub_source *toolsets = calloc(hub_toolset_total(hub) + 1, sizeof *toolsets);
    if (toolsets == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        toolsets[i] = hub_toolset_source(hub_toolset_at(hub, i));
    }
    hub_err err = hub_profile_make_base(hub, settings, own, toolsets, hub_toolset_total(hub),
                                        ret_base, reterr);
    free(toolsets);
    return err;
}

/* ---- exposures ------------------------------------------------------------------------------- */

hub_err hub_profile_make_exposure(const hub_orchestrator *hub, hub_base *base,
                                  const hub_settings *settings, const hub_profile_settings *own,
                                  hub_source *sources, size_t count, hub_selection *selection,
                                  hub_exposure **ret_exposure, hub_error *reterr)
{
    const hub_exposure_rules rules = {.policies = {&settings->policy, &own->policy},
                                      .selection = selection};
    bool is_static = own->startup == HUB_STARTUP_STATIC;
    unsigned groups = hub_profile_settings_groups(own);
    hub_source meta = {.owner = NULL};
    hub_err err = groups != 0 ? make_meta(hub, groups, is_static, &meta, reterr) : HUB_OK;
    if (err != HUB_OK) {
        return err;
    }
    if (groups != 0) {
        memmove(&sources[1], &sources[0], count * sizeof *sources);
        sources[0] = meta;
        count++;
    }
    err = hub_exposure_create(base, &rules, sources, count, on_left_out, (void *)(uintptr_t)own,
                              ret_exposure, reterr);
    hub_catalog_unref(meta.lists[HUB_KIND_TOOL]);
    return err;
}

hub_err hub_profile_create(hub_orchestrator *hub, const hub_settings *settings,
                           const hub_profile_settings *own, hub_profile **ret_profile,
                           hub_error *reterr)
{
    hub_source sources[1];
    hub_base *base = NULL;
    hub_exposure *exposure = NULL;
    hub_err err = get_base(hub, settings, own, &base, reterr);
    if (err == HUB_OK) {
        err = hub_profile_make_exposure(hub, base, settings, own, sources, 0, NULL, &exposure,
                                        reterr);
        hub_base_unref(base); /* the exposure has it now */
    }
    if (err == HUB_OK && hub_profile_make(hub, own, exposure, ret_profile) != HUB_OK) {
        hub_exposure_destroy(exposure);
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    return err;
}

/* The same toolsets, active in another base. */
static hub_err move(const hub_audience *audience, hub_base *base, hub_error *reterr)
{
    const hub_profile_settings *own = hub_profile_settings_of(hub_audience_profile(audience));
    const hub_exposure_rules rules = {
        .policies = {&hub_settings_of(hub_audience_hub(audience))->policy, &own->policy},
        .selection = hub_exposure_selection(hub_audience_exposure(audience))};
    size_t count;
    const hub_source *const *sources =
        hub_exposure_sources(hub_audience_exposure(audience), &count);
    hub_exposure *next = NULL;
    hub_source *same = calloc(count + 1, sizeof *same);
    if (same == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    for (size_t i = 0; i < count; i++) {
        same[i] = *sources[i];
        same[i].lists[HUB_KIND_TOOL] =
            same[i].bare ? hub_exposure_own_tools(hub_audience_exposure(audience)) : NULL;
    }
    hub_err err = hub_exposure_create(base, &rules, same, count, on_left_out,
                                      (void *)(uintptr_t)own, &next, reterr);
    free(same);
    if (err == HUB_OK) {
        hub_exposure_replace(hub_audience_exposure(audience), next);
    }
    return err;
}

static hub_err move_all(const hub_profile *profile, hub_base *base, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (const hub_audience *at = hub_profile_audience(profile); err == HUB_OK && at != NULL;
         at = hub_audience_next(at)) {
        err = move(at, base, reterr);
        if (err == HUB_OK) {
            hub_notifier_look(hub_notifier_of(at));
        }
    }
    return err;
}

/* The base of a profile before this one whose names are made in the same way: it has been renewed. */
static hub_base *find_renewed(const hub_orchestrator *hub, size_t at)
{
    const hub_naming_rule rule = rule_of(hub_profile_settings_of(hub_profile_at(hub, at)));
    for (size_t i = 0; i < at; i++) {
        const hub_profile *other = hub_profile_at(hub, i);
        hub_base *base = hub_exposure_base(hub_profile_exposure(other));
        if (!hub_profile_is_leaving(other) && hub_base_has_rule(base, &rule)) {
            return base;
        }
    }
    return NULL;
}

hub_err hub_profiles_renew(hub_orchestrator *hub, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < hub_profile_total(hub); i++) {
        hub_profile *profile = hub_profile_at(hub, i);
        if (hub_profile_is_leaving(profile)) {
            continue; /* it shows nothing */
        }
        hub_base *base = find_renewed(hub, i);
        if (base != NULL) {
            (void)hub_base_ref(base);
        } else {
            err = hub_profile_renew_base(hub, hub_settings_of(hub),
                                         hub_profile_settings_of(profile), &base, reterr);
        }
        if (err == HUB_OK) {
            err = move_all(profile, base, reterr);
            hub_base_unref(base);
        }
    }
    return err;
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
