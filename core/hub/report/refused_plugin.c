/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/report/refused_plugin.h"

#include "base/clock.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/toolset.h"
#include "modules/resolver.h"
#include "wire/json.h"

/* The build that a toolset runs or would run; NULL: there is none. One in a process of its own is run by
 * another module. */
static const hub_module *build_in_use(const hub_toolset *toolset, const hub_module *newest)
{
    const hub_module *runs = hub_toolset_module(toolset);
    bool is_own = runs != NULL && strcmp(runs->name, hub_toolset_settings_of(toolset)->module) == 0;
    return is_own ? runs : newest;
}

void hub_refused_plugin_add(const hub_toolset *toolset, hub_buf *out)
{
    const hub_resolver *resolver = hub_resolver_of(hub_toolset_hub(toolset));
    hub_str name = hub_str_of(hub_toolset_settings_of(toolset)->module);
    const hub_module *newest = hub_resolver_find(resolver, name);
    const hub_module *in_use = build_in_use(toolset, newest);
    const char *path = newest != NULL ? newest->path : "its file";
    const char *reason = hub_resolver_why_refused(resolver, name, &path);
    reason = reason != NULL ? reason : hub_toolset_not_replaced(toolset);
    if (in_use == NULL || reason[0] == '\0') {
        return;
    }
    char when[HUB_CLOCK_TEXT_BYTES];
    hub_buf text;
    hub_buf masked;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_buf_init(&masked, SIZE_MAX / 4);
    hub_buf_printf(&text, "%s was refused: %s; the build that was loaded at %sZ stays in use", path,
                   reason, hub_clock_text(in_use->loaded_ms / 1000, when));
    hub_json_add_key(out, HUB_STR("refusedPlugin"));
    hub_json_add_string(out, hub_respond_mask(hub_buf_str(&text), &masked));
    hub_buf_fini(&masked);
    hub_buf_fini(&text);
}
