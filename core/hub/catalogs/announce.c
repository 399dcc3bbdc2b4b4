/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/catalogs/announce.h"

#include "base/cause.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/name_list.h"
#include "base/share.h"
#include "hub/catalogs/catalogs_internal.h"
#include "hub/catalogs/discovery.h"
#include "hub/kernel/toolset.h"
#include "wire/json.h"

/* What all toolsets that an audience sees can do together. */
typedef struct totals {
    bool resources;
    bool subscribes;
    bool prompts;
    bool completes;
    bool logs;
    bool runs_tasks;
    bool cancels_tasks;
    bool extends_tasks;
    bool has_skills;
    bool reads_directories;
    hub_buf extensions; /* members of the object, but for tasks and skills */
} totals;

/* Whether an extension is announced already, as an earlier source has it. */
static bool has_extension(const totals *sum, hub_str raw_key)
{
    hub_str all = hub_buf_str(&sum->extensions);
    hub_str key;
    hub_str value;
    hub_json_iter it = {.at = all.ptr, .end = all.ptr + all.len, .is_object = true};
    while (all.len > 0 && hub_json_next(&it, &key, &value)) {
        if (hub_str_eq(key, raw_key)) {
            return true;
        }
    }
    return false;
}

/* Those with methods that the hub answers for itself, or gathers: it says itself what it has. */
static bool is_the_hubs(hub_str raw_key)
{
    return hub_json_string_is(raw_key, HUB_STR(HUB_EXTENSION_TASKS)) ||
           hub_json_string_is(raw_key, HUB_STR(HUB_EXTENSION_SKILLS));
}

/* Say once which extensions a server has no room for, until it says anew what it has. */
static void tell_no_room(hub_toolset *toolset, const hub_name_list *names)
{
    toolset_catalogs *part = hub_catalogs_of(toolset);
    if (names->count == 0 || part->told_no_room) {
        return;
    }
    part->told_no_room = true;
    const char *before = hub_cause_set(HUB_BY_SERVER);
    hub_buf reason;
    hub_buf_init(&reason, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&reason,
                   "extensions are left out, since together with those of other servers they are "
                   "too long: %s",
                   names->text);
    hub_log(HUB_LOG_WARNING, "tools.dropped", HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
            HUB_F_STR("reason", hub_buf_str(&reason)), HUB_F_BY);
    hub_buf_fini(&reason);
    (void)hub_cause_set(before);
}

static void add_extensions(totals *sum, hub_toolset *toolset)
{
    hub_str key;
    hub_str value;
    hub_name_list no_room = {.count = 0};
    size_t before = sum->extensions.len;
    hub_json_iter it = hub_json_iterate(hub_toolset_capabilities(toolset)->extensions);
    while (hub_json_next(&it, &key, &value)) {
        size_t len = sum->extensions.len;
        if (is_the_hubs(key) || has_extension(sum, key)) {
            continue;
        }
        if (!hub_share_may(HUB_LIMIT_ALL_EXTENSIONS_BYTES, len, len - before,
                           key.len + value.len + sizeof ",:" - 1)) {
            hub_name_list_add(&no_room, (hub_str){.ptr = key.ptr + 1, .len = key.len - 2});
            continue;
        }
        hub_json_add_comma(&sum->extensions);
        hub_buf_add(&sum->extensions, key);
        hub_buf_add_char(&sum->extensions, ':');
        hub_buf_add(&sum->extensions, value);
    }
    tell_no_room(toolset, &no_room);
}

/* The hub itself says what becomes of a saved toolset that is equipped. */
static bool says_something(const hub_exposure *exposure)
{
    const hub_catalog *own = hub_exposure_own_tools(exposure);
    return own != NULL && hub_catalog_find(own, HUB_STR("equip-toolset")) != NULL;
}

static void add_toolset(totals *sum, const hub_toolset *toolset)
{
    const hub_capabilities *can = hub_toolset_capabilities(toolset);
    bool is_open = hub_discovery_is_unknown(toolset);
    sum->resources |= is_open || can->has_skills ||
                      hub_toolset_list(toolset, HUB_KIND_RESOURCE) != NULL ||
                      hub_toolset_list(toolset, HUB_KIND_TEMPLATE) != NULL;
    sum->prompts |= is_open || hub_toolset_list(toolset, HUB_KIND_PROMPT) != NULL;
    sum->subscribes |= is_open || can->subscribes;
    sum->completes |= is_open || can->completes;
    sum->logs |= is_open || can->logs;
    sum->runs_tasks |= is_open || can->runs_tasks;
    sum->cancels_tasks |= is_open || can->cancels_tasks;
    sum->extends_tasks |= is_open || can->extends_tasks;
    sum->has_skills |= can->has_skills;
    sum->reads_directories |= can->has_skills && can->reads_directories;
}

static totals add_up(const hub_exposure *exposure)
{
    totals sum = {.logs = says_something(exposure)};
    size_t count;
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    hub_buf_init(&sum.extensions, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    for (size_t i = 0; i < count; i++) {
        add_toolset(&sum, sources[i]->owner);
        add_extensions(&sum, sources[i]->owner);
    }
    return sum;
}

/* Tasks, as a revision has them; tasks/list is never offered (tasks.h). */
static void add_tasks(totals *sum, hub_revision revision, hub_buf *out)
{
    if (hub_revision_era(revision) == HUB_ERA_MODERN && sum->extends_tasks) {
        hub_json_add_comma(&sum->extensions);
        hub_buf_add(&sum->extensions, HUB_STR("\"" HUB_EXTENSION_TASKS "\":{}"));
    } else if (revision == HUB_REVISION_2025_11_25 && sum->runs_tasks) {
        hub_buf_printf(out, ",\"tasks\":{%s\"requests\":{\"tools\":{\"call\":{}}}}",
                       sum->cancels_tasks ? "\"cancel\":{}," : "");
    }
}

/* spec: MCP extension Skills (SEP-2640), Capability Negotiation */
static void add_skills(totals *sum)
{
    if (sum->has_skills) {
        hub_json_add_comma(&sum->extensions);
        hub_buf_printf(&sum->extensions, "\"%s\":{%s}", HUB_EXTENSION_SKILLS,
                       sum->reads_directories ? "\"directoryRead\":true" : "");
    }
}

bool hub_capabilities_has_tasks(const hub_exposure *exposure, hub_era era)
{
    size_t count;
    const hub_source *const *sources = hub_exposure_sources(exposure, &count);
    for (size_t i = 0; i < count; i++) {
        const hub_toolset *toolset = sources[i]->owner;
        const hub_capabilities *can = hub_toolset_capabilities(toolset);
        if (hub_discovery_is_unknown(toolset) ||
            (era == HUB_ERA_MODERN ? can->extends_tasks : can->runs_tasks)) {
            return true;
        }
    }
    return false;
}

hub_announced hub_capabilities_announce(const hub_exposure *exposure, hub_revision revision,
                                        hub_buf *out)
{
    totals sum = add_up(exposure);
    hub_buf_add(out, HUB_STR("{\"tools\":{\"listChanged\":true}"));
    if (sum.resources) {
        hub_buf_printf(out, ",\"resources\":{%s\"listChanged\":true}",
                       sum.subscribes ? "\"subscribe\":true," : "");
    }
    if (sum.prompts) {
        hub_buf_add(out, HUB_STR(",\"prompts\":{\"listChanged\":true}"));
    }
    if (sum.completes) {
        hub_buf_add(out, HUB_STR(",\"completions\":{}"));
    }
    if (sum.logs) {
        hub_buf_add(out, HUB_STR(",\"logging\":{}"));
    }
    add_tasks(&sum, revision, out);
    add_skills(&sum);
    if (sum.extensions.len > 0) {
        hub_buf_add(out, HUB_STR(",\"extensions\":{"));
        hub_buf_add(out, hub_buf_str(&sum.extensions));
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, '}');
    if (!hub_buf_ok(&sum.extensions)) {
        out->failed = sum.extensions.failed;
    }
    hub_buf_fini(&sum.extensions);
    return (hub_announced){
        .lists = {[HUB_TOPIC_TOOLS] = true,
                  [HUB_TOPIC_RESOURCES] = sum.resources,
                  [HUB_TOPIC_PROMPTS] = sum.prompts},
        .logs = sum.logs,
    };
}
