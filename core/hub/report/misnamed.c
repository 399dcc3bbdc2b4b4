/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/misnamed.h"

#include "base/log.h"
#include "hub/kernel/hub.h"
#include "tools/schema.h"

#include <stdio.h>

/* A whole list may be of another hub: nobody reads more, and each is held against all toolsets. */
enum { MOST_NAMES = 50 };

/* ---- one name -------------------------------------------------------------------------------- */

/* A module is a toolset by itself only where no manifest lists any, and it needs no configuration.
 */
static hub_err fail_module(const hub_orchestrator *hub, const hub_module *module, hub_error *reterr)
{
    hub_error why = {.text = "the manifest lists others"};
    const char *config = "";
    if (!hub_settings_of(hub)->toolsets_listed) {
        bool is_wrong =
            module->config_schema != NULL &&
            hub_schema_validate(module->config_schema, HUB_STR("{}"), "config", &why) != HUB_OK;
        config = is_wrong ? "config: {...}" : "";
    }
    return hub_fail(reterr, HUB_ENOTFOUND,
                    "there is a plugin \"%s\", but no toolset of it (%s): add toolsets: {%s: {%s}} "
                    "to a manifest",
                    module->name, why.text, module->name, config);
}

hub_err hub_misnamed_fail(const hub_orchestrator *hub, hub_str key, hub_error *reterr)
{
    const hub_module *module = hub_resolver_find(hub_resolver_of(hub), key);
    if (module != NULL) {
        return fail_module(hub, module, reterr);
    }
    hub_str nearest = hub_nearest_toolset(hub, key);
    if (nearest.len > 0) {
        return hub_fail(reterr, HUB_ENOTFOUND,
                        "unknown toolset \"" HUB_STR_FMT "\"; did you mean \"" HUB_STR_FMT "\"?",
                        HUB_STR_ARG(key), HUB_STR_ARG(nearest));
    }
    return hub_fail(reterr, HUB_ENOTFOUND, "unknown toolset \"" HUB_STR_FMT "\"", HUB_STR_ARG(key));
}

/* ---- all of them ----------------------------------------------------------------------------- */

/* Who is told, and of whose policy. */
typedef struct hearing {
    const hub_orchestrator *hub;
    const char *profile; /* NULL: the hub's own */
    hub_misnamed_on_name *on_name;
    void *ctx;
    size_t count; /* of names that were told */
} hearing;

static void tell(hearing *to, const char *reason)
{
    if (to->count++ < MOST_NAMES) {
        to->on_name(to->ctx, reason);
    }
}

/* What a list of a policy is called: as it is written in the manifest. */
typedef struct list_name {
    char text[160];
} list_name;

static list_name name_list(const hearing *to, const char *key, const char *flag)
{
    list_name name;
    if (to->profile != NULL) {
        (void)snprintf(name.text, sizeof name.text, "profiles.%s.policy.%s", to->profile, key);
    } else {
        (void)snprintf(name.text, sizeof name.text, "policy.%s%s%s", key, flag != NULL ? ", " : "",
                       flag != NULL ? flag : "");
    }
    return name;
}

/* Modules count, too, while each that is found may be a toolset. */
static void check_name(hearing *to, const char *place, hub_str key)
{
    const hub_orchestrator *hub = to->hub;
    hub_error why = {.code = HUB_OK};
    bool may_be = !hub_settings_of(hub)->toolsets_listed &&
                  hub_resolver_find(hub_resolver_of(hub), key) != NULL;
    if (to->count < MOST_NAMES && hub_find_toolset(hub, key) == NULL && !may_be) {
        (void)hub_misnamed_fail(hub, key, &why);
        hub_error_prefix(&why, "%s", place);
        tell(to, why.text);
    }
}

static void check_names(hearing *to, list_name place, const hub_names *names)
{
    for (size_t i = 0; i < names->count; i++) {
        check_name(to, place.text, hub_str_trim(hub_str_of(names->items[i])));
    }
}

static bool has_wildcard(hub_str text)
{
    return hub_str_find(text, HUB_STR("*")) != SIZE_MAX ||
           hub_str_find(text, HUB_STR("?")) != SIZE_MAX;
}

/* Patterns over "toolset:tool"; of the tools nothing may be known yet. */
static void check_patterns(hearing *to, list_name place, const hub_names *patterns)
{
    for (size_t i = 0; i < patterns->count; i++) {
        hub_str text = hub_str_of(patterns->items[i]);
        size_t colon = hub_str_find(text, HUB_STR(":"));
        hub_str toolset = {.ptr = text.ptr, .len = colon != SIZE_MAX ? colon : text.len};
        hub_error why = {.code = HUB_OK};
        if (has_wildcard(toolset)) {
            continue;
        }
        if (colon != SIZE_MAX) {
            check_name(to, place.text, toolset);
            continue;
        }
        (void)hub_fail(&why, HUB_EINVAL, "%s: \"" HUB_STR_FMT "\" fits no tool: write TOOLSET:TOOL",
                       place.text, HUB_STR_ARG(text));
        tell(to, why.text);
    }
}

static void check_filter(hearing *to, const hub_filter_rule *filter, size_t index)
{
    char key[64];
    switch (filter->kind) {
    case HUB_FILTER_NAMESPACE:
        (void)snprintf(key, sizeof key, "filters[%zu].namespace", index);
        check_names(to, name_list(to, key, NULL), &filter->values);
        break;
    case HUB_FILTER_ALLOW_TOOLS:
    case HUB_FILTER_DENY_TOOLS:
        (void)snprintf(key, sizeof key, "filters[%zu].%s_tools", index,
                       filter->kind == HUB_FILTER_DENY_TOOLS ? "deny" : "allow");
        check_patterns(to, name_list(to, key, NULL), &filter->values);
        break;
    default:
        break; /* of tags and categories there is no list */
    }
}

static void check_policy(hearing *to, const hub_policy_rules *policy)
{
    check_names(to, name_list(to, "allow", "--allow"), &policy->allow);
    check_names(to, name_list(to, "deny", "--deny"), &policy->deny);
    for (size_t i = 0; i < policy->filter_count; i++) {
        check_filter(to, &policy->filters[i], i);
    }
}

void hub_misnamed_in_policies(const hub_orchestrator *hub, hub_misnamed_on_name *on_name, void *ctx)
{
    const hub_settings *settings = hub_settings_of(hub);
    hearing to = {.hub = hub, .on_name = on_name, .ctx = ctx};
    check_policy(&to, &settings->policy);
    for (size_t i = 0; i < settings->profile_count; i++) {
        to.profile = settings->profiles[i].name;
        check_policy(&to, &settings->profiles[i].policy);
    }
}

/* What the hub section lists is every profile's list that has none of its own. */
static bool is_inherited(const hub_settings *settings, size_t at)
{
    const char *source = settings->profiles[at].source;
    for (size_t i = 0; i < at; i++) {
        const char *other = settings->profiles[i].source;
        if (source == other || (source != NULL && other != NULL && strcmp(source, other) == 0)) {
            return true;
        }
    }
    return false;
}

void hub_misnamed_at_start(const hub_orchestrator *hub, hub_misnamed_on_name *on_name, void *ctx)
{
    const hub_settings *settings = hub_settings_of(hub);
    for (size_t i = 0; i < settings->profile_count; i++) {
        const hub_profile_settings *profile = &settings->profiles[i];
        const hub_names *names = &profile->toolsets;
        for (size_t n = 0; hub_profile_settings_have_list(profile) && n < names->count; n++) {
            hub_str key = hub_str_trim(hub_str_of(names->items[n]));
            hub_error why = {.code = HUB_OK};
            if (hub_find_toolset(hub, key) == NULL && !is_inherited(settings, i)) {
                (void)hub_misnamed_fail(hub, key, &why);
                hub_error_prefix(&why, "%s",
                                 profile->source != NULL ? profile->source : "--toolsets");
                on_name(ctx, why.text);
            }
        }
    }
}

/* ---- the log --------------------------------------------------------------------------------- */

static void log_name(void *ctx, const char *reason)
{
    (void)ctx;
    hub_log(HUB_LOG_WARNING, "policy.unknown_name", HUB_F_TEXT("reason", reason));
}

void hub_misnamed_log(const hub_orchestrator *hub)
{
    hub_misnamed_in_policies(hub, log_name, NULL);
}
