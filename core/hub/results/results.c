/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/results/results.h"

#include "base/limits.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/results/result_cut.h"
#include "hub/tasks/tasks.h"
#include "wire/json.h"

/* With the hub. */
typedef struct hub_results {
    hub_kept_results *kept;
} hub_results;

/* With a call. */
typedef struct result_part {
    hub_result_rule rule;
    hub_buf text; /* what its outcome has become */
    size_t tool_bytes;
    char tool[HUB_LIMIT_TOOL_NAME_BYTES];
} result_part;

static hub_results *results_of(const hub_orchestrator *hub)
{
    return hub_hub_part(hub, &HUB_RESULTS_STATION);
}

hub_kept_results *hub_results_kept(const hub_orchestrator *hub)
{
    return results_of(hub)->kept;
}

bool hub_result_is_text(hub_str result)
{
    hub_str content = hub_json_get(result, HUB_STR("content"));
    hub_json_iter it = hub_json_iterate(content);
    hub_str key;
    hub_str item;
    return hub_json_type_of(content) == HUB_JSON_ARRAY && hub_json_next(&it, &key, &item) &&
           hub_json_string_is(hub_json_get(item, HUB_STR("type")), HUB_STR("text")) &&
           hub_json_type_of(hub_json_get(item, HUB_STR("text"))) == HUB_JSON_STRING &&
           !hub_json_next(&it, &key, &item) &&
           hub_json_get(result, HUB_STR("structuredContent")).len == 0;
}

/* ---- the rule -------------------------------------------------------------------------------- */

static bool wants_toolset(const hub_toolset *toolset)
{
    const hub_catalog *tools = hub_toolset_list(toolset, HUB_KIND_TOOL);
    return hub_toolset_settings_of(toolset)->results.max_bytes > 0 ||
           (tools != NULL && tools->limits_results);
}

static hub_result_rule rule_of(const hub_way *way)
{
    hub_result_rule rule = hub_toolset_settings_of(way->toolset)->results;
    const hub_override *override = way->item != NULL ? way->item->override : NULL;
    if (override != NULL && override->has_max_result) {
        rule.max_bytes = override->max_result_bytes;
    }
    if (override != NULL && override->has_over) {
        rule.over = override->over;
    }
    return rule;
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    result_part *part = hub_call_part_of(call, &HUB_RESULTS_STATION);
    part->rule = rule_of(way);
    hub_buf_init(&part->text, SIZE_MAX / 2);
    if (way->item != NULL && way->item->name.len <= sizeof part->tool) {
        part->tool_bytes = way->item->name.len;
        memcpy(part->tool, way->item->name.ptr, way->item->name.len);
    }
    return HUB_GO_ON;
}

/* ---- on the way back ------------------------------------------------------------------------- */

static const hub_kept_result *keep(const hub_call *call, const result_part *part, hub_str json)
{
    const hub_session *session = hub_call_session(call);
    const hub_kept_result *kept = NULL;
    if (session == NULL) {
        return NULL; /* nobody could read it */
    }
    char text[HUB_WHOSE_BYTES];
    hub_result_origin origin = {
        .whose = hub_session_whose(session, text),
        .principal = hub_str_of(hub_session_who(session)),
        .profile = hub_str_of(hub_profile_name(hub_session_profile(session))),
        .toolset = hub_str_of(hub_toolset_key(hub_call_toolset(call))),
        .tool = {.ptr = part->tool, .len = part->tool_bytes},
    };
    hub_kept_results *all = hub_results_kept(hub_session_hub(session));
    return hub_kept_add(all, &origin, json, &kept) == HUB_OK ? kept : NULL;
}

/* Say how to read on: in words, and as a link where the revision has them.
 * spec: MCP 2025-06-18 server/tools, Resource Links */
static void add_directions(const hub_call *call, const hub_kept_result *kept, hub_buf *words,
                           hub_buf *link)
{
    const hub_profile *profile = hub_session_profile(hub_call_session(call));
    unsigned groups = hub_profile_settings_groups(hub_profile_settings_of(profile));
    hub_buf_printf(words, ". The whole is kept for now: read on with ");
    if ((groups & HUB_META_RESULTS) != 0) {
        hub_buf_printf(words, "read_result, id %s", kept->id);
    } else {
        hub_buf_printf(words, "resources/read, " HUB_RESULT_URI "%s", kept->id);
    }
    if (hub_call_context(call)->revision >= HUB_REVISION_2025_06_18) {
        hub_buf_printf(link,
                       "{\"type\":\"resource_link\",\"uri\":\"" HUB_RESULT_URI
                       "%s\",\"name\":\"whole result\",\"mimeType\":\"%s\"}",
                       kept->id,
                       hub_result_is_text(kept->json) ? "text/plain" : "application/json");
    }
}

static void cut(const hub_call *call, result_part *part, hub_outcome *outcome)
{
    hub_buf words;
    hub_buf link;
    hub_buf_init(&words, HUB_LIMIT_LEAST_RESULT_BYTES);
    hub_buf_init(&link, HUB_LIMIT_LEAST_RESULT_BYTES);
    const hub_kept_result *kept =
        part->rule.over == HUB_OVER_SPILL ? keep(call, part, outcome->json) : NULL;
    if (kept != NULL) {
        add_directions(call, kept, &words, &link);
    } else if (part->rule.over == HUB_OVER_SPILL) {
        hub_buf_add(&words, HUB_STR(". There was no memory to keep the whole in"));
    }
    const hub_result_tail tail = {.words = hub_buf_str(&words), .item = hub_buf_str(&link)};
    hub_result_cut(outcome->json, part->rule.max_bytes, &tail, &part->text);
    hub_buf_fini(&link);
    hub_buf_fini(&words);
}

static void refuse(result_part *part, hub_outcome *outcome)
{
    hub_buf_printf(
        &part->text,
        "the result has %zu bytes, and at most %u are passed on (results.max_bytes): ask "
        "for less at once",
        outcome->json.len, part->rule.max_bytes);
    *outcome = (hub_outcome){.status = PATCHBAY_FAILED};
}

static hub_verdict answer(hub_call *call, hub_outcome *outcome)
{
    result_part *part = hub_call_find_part(call, &HUB_RESULTS_STATION);
    bool is_of_tool = hub_call_is_of_tool(call) || hub_tasks_is_result(call);
    if (outcome->status != PATCHBAY_RESULT || hub_call_binding(call) == NULL || !is_of_tool ||
        part->rule.max_bytes == 0 || outcome->json.len <= part->rule.max_bytes ||
        !hub_result_is_cuttable(outcome->json)) {
        return HUB_GO_ON;
    }
    hub_buf_clear(&part->text);
    if (part->rule.over == HUB_OVER_ERROR) {
        refuse(part, outcome);
    } else {
        cut(call, part, outcome);
    }
    if (hub_buf_ok(&part->text)) {
        outcome->json = hub_buf_str(&part->text);
    } else { /* what is too large is not passed on for want of memory */
        *outcome = (hub_outcome){.status = PATCHBAY_FAILED,
                                 .json = HUB_STR("out of memory while the result was cut")};
    }
    return HUB_GO_ON;
}

static void drop(hub_call *call)
{
    result_part *part = hub_call_find_part(call, &HUB_RESULTS_STATION);
    hub_buf_fini(&part->text);
}

/* ---- the hub --------------------------------------------------------------------------------- */

static void settings_changed(hub_orchestrator *hub)
{
    hub_kept_set_memory(hub_results_kept(hub), hub_settings_of(hub)->limits.results_memory_bytes);
}

static hub_err hub_begins(hub_orchestrator *hub, hub_error *reterr)
{
    results_of(hub)->kept = hub_kept_create();
    if (results_of(hub)->kept == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    settings_changed(hub);
    return HUB_OK;
}

static void hub_drops(hub_orchestrator *hub)
{
    hub_kept_destroy(results_of(hub)->kept);
    results_of(hub)->kept = NULL;
}

static void toolset_leaves(hub_toolset *toolset)
{
    if (hub_toolset_is_own(toolset)) {
        return; /* the toolset is still there */
    }
    hub_kept_forget(hub_results_kept(hub_toolset_hub(toolset)),
                    hub_str_of(hub_toolset_key(toolset)));
}

static hub_station_place place;

const hub_station HUB_RESULTS_STATION = {
    .name = "results",
    .place = &place,
    .bytes = {[HUB_PART_HUB] = sizeof(hub_results), [HUB_PART_CALL] = sizeof(result_part)},
    .wants_toolset = wants_toolset,
    .begin = begin,
    .answer = answer,
    .drop = drop,
    .hub_begins = hub_begins,
    .hub_drops = hub_drops,
    .settings_changed = settings_changed,
    .toolset_leaves = toolset_leaves,
};
