/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/describe.h"

#include "base/limits.h"
#include "base/line.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/toolset.h"
#include "hub/pins/pins.h"
#include "hub/report/kept_out.h"
#include "hub/report/left_out.h"
#include "hub/report/refused_plugin.h"
#include "hub/report/status.h"
#include "tools/naming.h"

/* Of why a toolset is not well, as a model is told. */
enum { TROUBLE_BYTES = 240 };

/* What somebody has said of the toolset itself: the operator, else its server; or NULL. */
static const char *own_purpose(const hub_toolset *toolset)
{
    const char *described = hub_toolset_settings_of(toolset)->description;
    return described != NULL ? described : hub_about_purpose(hub_toolset_about(toolset));
}

static const hub_module *module_of(const hub_toolset *toolset)
{
    return hub_resolver_find(hub_resolver_of(hub_toolset_hub(toolset)),
                             hub_str_of(hub_toolset_settings_of(toolset)->module));
}

/* For people: else what its module is for, which of proxies is the same for all. */
static const char *describe(const hub_toolset *toolset)
{
    const char *purpose = own_purpose(toolset);
    const hub_module *module = purpose == NULL ? module_of(toolset) : NULL;
    return module != NULL ? module->table->description : purpose;
}

hub_str hub_describe_purpose(const hub_toolset *toolset)
{
    const char *purpose = own_purpose(toolset);
    const hub_module *module = purpose == NULL ? module_of(toolset) : NULL;
    if (module != NULL && (module->table->flags & PATCHBAY_PLUGIN_PROXY) == 0) {
        purpose = module->table->description;
    }
    return purpose != NULL ? hub_str_of(purpose) : HUB_STR_EMPTY;
}

const char *hub_describe_trouble(const hub_toolset *toolset, bool active, hub_buf *why)
{
    if (!hub_toolset_settings_of(toolset)->enabled) {
        return "off";
    }
    if (!active && hub_toolset_unusable(toolset)[0] != '\0') {
        hub_line_add(why, hub_str_of(hub_toolset_unusable(toolset)), TROUBLE_BYTES);
        return "failed";
    }
    if (!active && hub_toolset_last_failure(toolset)[0] != '\0') {
        hub_line_add(why, hub_str_of(hub_toolset_last_failure(toolset)), TROUBLE_BYTES);
        return "failed";
    }
    if (!active && hub_discovery_failure(toolset) != NULL) { /* somebody wanted it described */
        hub_line_add(why, hub_str_of(hub_discovery_failure(toolset)), TROUBLE_BYTES);
        return "failed";
    }
    if (!active || hub_toolset_is_native(toolset)) {
        return NULL;
    }
    if (hub_toolset_state(toolset) == PATCHBAY_STATE_FAILED) {
        hub_line_add(why, hub_str_of(hub_toolset_detail(toolset)), TROUBLE_BYTES);
        return "failed";
    }
    if (hub_toolset_state(toolset) != PATCHBAY_STATE_CONNECTING) {
        return NULL;
    }
    hub_line_add(why, hub_str_of(hub_toolset_health_of(toolset)->last_error), TROUBLE_BYTES);
    return "connecting"; /* again, perhaps: then for that reason */
}

/* What a policy says of a toolset that is not active: to a place that is taken there is a claim only at
 * start. */
static void add_kept_out(const hub_profile *profile, const hub_toolset *toolset, hub_buf *out)
{
    const hub_toolset_settings *settings = hub_toolset_settings_of(toolset);
    hub_buf why;
    hub_buf_init(&why, HUB_LIMIT_REASON_BYTES);
    hub_err err =
        settings->enabled ? hub_kept_out(profile, hub_str_of(settings->key), &why) : HUB_OK;
    if (err == HUB_EDENIED ||
        (err == HUB_ELIMIT &&
         hub_profile_settings_want(hub_profile_settings_of(profile), settings))) {
        hub_buf_add(out, hub_buf_str(&why));
    }
    hub_buf_fini(&why);
}

/* Why it does not work, or is not active, if there is a reason. */
static void add_reason(const hub_profile *profile, const hub_toolset *toolset, bool active,
                       hub_buf *out)
{
    if (active && hub_toolset_state(toolset) == PATCHBAY_STATE_FAILED) {
        hub_buf_add(out, hub_str_of(hub_toolset_detail(toolset)));
    } else if (active) {
        return;
    } else if (hub_toolset_unusable(toolset)[0] != '\0') {
        hub_buf_add(out, hub_str_of(hub_toolset_unusable(toolset)));
    } else if (hub_toolset_last_failure(toolset)[0] != '\0') {
        hub_buf_add(out, hub_str_of(hub_toolset_last_failure(toolset)));
    } else {
        add_kept_out(profile, toolset, out);
    }
}

/* One line for people: "active, 7 tools, 1 prompt", "failed: no such command", "inactive: denied by
 * policy.deny". */
static void add_summary(const hub_toolset *toolset, bool active, hub_str reason, hub_buf *out)
{
    hub_buf text;
    hub_buf_init(&text, 1024);
    const char *state = hub_status_state(toolset, active);
    hub_buf_add(&text, hub_str_of(strcmp(state, "ready") == 0 ? "active" : state));
    for (int i = 0; i < HUB_KINDS; i++) {
        hub_kind kind = (hub_kind)i;
        size_t count = hub_toolset_count(toolset, kind);
        if (count > 0 || (kind == HUB_KIND_TOOL && hub_toolset_list(toolset, kind) != NULL)) {
            hub_buf_printf(&text, ", %zu %s", count, hub_kind_noun(kind, count));
        }
    }
    if (reason.len > 0) {
        hub_buf_add(&text, HUB_STR(": "));
        hub_buf_add(&text, reason);
    } else if (describe(toolset) != NULL) {
        hub_buf_add(&text, HUB_STR(": "));
        hub_line_add(&text, hub_str_of(describe(toolset)), HUB_LIMIT_DESCRIPTION_BYTES);
    }
    hub_json_add_key(out, HUB_STR("summary"));
    hub_json_add_string(out, hub_buf_str(&text));
    hub_buf_fini(&text);
}

/* Tools that overrides are about, with their definitions as the toolset gave them. */
static void add_overrides(const hub_catalog *tools, hub_buf *out)
{
    bool has_any = false;
    for (size_t i = 0; tools != NULL && i < tools->count; i++) {
        const hub_item *item = &tools->items[i];
        if (item->override == NULL) {
            continue;
        }
        hub_buf_add(out, has_any ? HUB_STR(",{") : HUB_STR(",\"overridden\":[{"));
        has_any = true;
        hub_json_add_key(out, HUB_STR("tool"));
        hub_json_add_string(out, item->name);
        if (item->override->is_hidden) {
            hub_buf_add(out, HUB_STR(",\"hidden\":true"));
        } else if (!hub_str_eq(item->shown, item->name)) {
            hub_json_add_key(out, HUB_STR("name"));
            hub_json_add_string(out, item->shown);
        }
        hub_json_add_key(out, HUB_STR("original"));
        hub_buf_add(out, item->original);
        hub_buf_add_char(out, '}');
    }
    hub_buf_add(out, has_any ? HUB_STR("]") : HUB_STR_EMPTY);
}

/* Append the members of one toolset's object, as the audience sees it, without braces. */
static void add_toolset(const hub_audience *audience, const hub_toolset *toolset, hub_buf *out)
{
    bool active = hub_audience_has(audience, toolset);
    hub_buf reason;
    hub_buf_init(&reason, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    add_reason(hub_audience_profile(audience), toolset, active, &reason);
    hub_json_add_key(out, HUB_STR("key"));
    hub_json_add_string(out, hub_str_of(hub_toolset_settings_of(toolset)->key));
    hub_json_add_key(out, HUB_STR("module"));
    hub_json_add_string(out, hub_str_of(hub_toolset_settings_of(toolset)->module));
    if (describe(toolset) != NULL) {
        hub_json_add_key(out, HUB_STR("description"));
        hub_json_add_string(out, hub_str_of(describe(toolset)));
    }
    hub_buf_printf(out, ",\"active\":%s,\"state\":\"%s\"", active ? "true" : "false",
                   hub_status_state(toolset, active));
    if (reason.len > 0) {
        hub_json_add_key(out, HUB_STR("reason"));
        hub_json_add_string(out, hub_buf_str(&reason));
    }
    if (hub_toolset_list(toolset, HUB_KIND_TOOL) != NULL) {
        hub_json_add_key(out, HUB_STR("toolCount"));
        hub_buf_add_u64(out, hub_toolset_list(toolset, HUB_KIND_TOOL)->count);
    }
    add_overrides(hub_toolset_list(toolset, HUB_KIND_TOOL), out);
    hub_pins_add_withheld(toolset, NULL, out);
    hub_left_out_add(toolset, NULL, HUB_CATALOG_KEPT, out);
    hub_refused_plugin_add(toolset, out);
    add_summary(toolset, active, hub_buf_str(&reason), out);
    hub_buf_fini(&reason);
    hub_json_add_key(out, HUB_STR("status"));
    hub_status_add_toolset(hub_audience_exposure(audience), toolset, out);
}

void hub_describe_toolsets(hub_orchestrator *hub, const char *profile_name, bool reads_texts,
                           hub_buf *out)
{
    const hub_profile *profile = hub_find_profile(hub, profile_name);
    hub_buf_add_char(out, '[');
    for (size_t i = 0; profile != NULL && i < hub_toolset_total(hub); i++) {
        hub_json_add_comma(out);
        hub_buf_add_char(out, '{');
        add_toolset(hub_profile_audience(profile), hub_toolset_at(hub, i), out);
        if (reads_texts) {
            hub_pins_add_suspects(hub_toolset_at(hub, i), out);
        }
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, ']');
}

bool hub_describe_resolve(hub_orchestrator *hub, const char *profile_name, hub_str reference,
                          hub_buf *out)
{
    const hub_profile *profile = hub_find_profile(hub, profile_name);
    if (profile == NULL) {
        return false;
    }
    const hub_exposure *exposure = hub_profile_exposure(profile);
    const hub_entry *entry =
        hub_exposure_find(exposure, HUB_REVISION_NEWEST, HUB_KIND_TOOL, reference);
    hub_str toolset;
    hub_str tool;
    if (entry == NULL && hub_naming_split(reference, &toolset, &tool) == HUB_OK) {
        entry = hub_exposure_find_own(exposure, HUB_REVISION_NEWEST, HUB_KIND_TOOL, toolset, tool);
    }
    if (entry != NULL) {
        hub_buf_add(out, entry->exposed);
    }
    return entry != NULL;
}

void hub_describe_modules(hub_orchestrator *hub, hub_buf *out)
{
    size_t count;
    const hub_module *const *modules = hub_resolver_modules(hub_resolver_of(hub), &count);
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < count; i++) {
        const char *description = modules[i]->table->description;
        hub_json_add_comma(out);
        hub_buf_add_char(out, '{');
        hub_json_add_member(out, "name", hub_str_of(modules[i]->name));
        hub_json_add_member(out, "version", hub_str_of(modules[i]->table->version));
        hub_json_add_member(out, "path", hub_str_of(modules[i]->path));
        hub_json_add_member(out, "summary", hub_str_of(description != NULL ? description : ""));
        hub_buf_add_char(out, '}');
    }
    const hub_refusal *refusals = hub_resolver_refusals(hub_resolver_of(hub), &count);
    for (size_t i = 0; i < count; i++) {
        hub_buf text;
        hub_buf_init(&text, 2048);
        hub_buf_printf(&text, "refused: %s", refusals[i].reason);
        hub_json_add_comma(out);
        hub_buf_add_char(out, '{');
        hub_json_add_member(out, "name", hub_str_of(refusals[i].path));
        hub_json_add_member(out, "refused", hub_str_of(refusals[i].reason));
        hub_json_add_key(out, HUB_STR("summary"));
        hub_json_add_string(out, hub_buf_str(&text));
        hub_buf_add_char(out, '}');
        hub_buf_fini(&text);
    }
    hub_buf_add_char(out, ']');
}
