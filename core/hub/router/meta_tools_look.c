/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/router/meta_tools_look.h"

#include "base/limits.h"
#include "base/line.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/profile.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/report/describe.h"
#include "hub/report/left_out.h"
#include "hub/report/refused_plugin.h"
#include "hub/saved/saved.h"
#include "hub/meta/page.h"

#include <stdio.h>

/* ---- toolsets -------------------------------------------------------------------------------- */

/* Add what is wrong with a toolset, if anything is. */
static void add_trouble(const hub_toolset *toolset, bool active, hub_buf *out)
{
    hub_buf why;
    hub_buf_init(&why, HUB_LIMIT_REASON_BYTES);
    const char *trouble = hub_describe_trouble(toolset, active, &why);
    if (trouble != NULL) {
        hub_json_add_key(out, HUB_STR("state"));
        hub_json_add_string(out, hub_str_of(trouble));
    }
    if (why.len > 0) {
        hub_json_add_key(out, HUB_STR("reason"));
        hub_json_add_string(out, hub_buf_str(&why));
    }
    hub_buf_fini(&why);
}

/* Whether that tool of a toolset is one for this caller: shown, and of the caller's revision. */
static bool has_tool(const hub_meta_page *asked, const hub_shown_part *tools, size_t at)
{
    return hub_mask_has(tools->bits, at) &&
           hub_sight_tells_of(asked->sight, tools->section->entries[at].item);
}

static size_t count_tools(const hub_meta_page *asked, const hub_shown_part *tools)
{
    size_t count = 0;
    if (tools->section == NULL ||
        (tools->section->validity == NULL && !tools->section->has_app_tools)) {
        return tools->count; /* all are of every revision */
    }
    for (size_t i = 0; tools->bits != NULL && i < tools->section->count; i++) {
        count += has_tool(asked, tools, i);
    }
    return count;
}

/* Add key, active, toolCount, description of at most so many bytes, and what is wrong. */
static void add_toolset(hub_meta_page *asked, hub_toolset *toolset, size_t description_bytes)
{
    hub_buf *out = asked->out;
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    bool active = hub_exposure_source(asked->sight.exposure, key) != NULL;
    hub_shown_part tools = {.section = NULL};
    bool is_known = hub_exposure_tools_of(asked->sight.exposure, key, &tools) ||
                    hub_toolset_list(toolset, HUB_KIND_TOOL) != NULL;
    hub_buf_add(out, HUB_STR("\"key\":"));
    hub_json_add_string(out, key);
    hub_buf_add(out, active ? HUB_STR(",\"active\":true") : HUB_STR(",\"active\":false"));
    if (is_known) {
        hub_json_add_key(out, HUB_STR("toolCount"));
        hub_buf_add_u64(out, count_tools(asked, &tools));
    }
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_DESCRIPTION_BYTES + 1);
    hub_line_add(&text, hub_describe_purpose(toolset), description_bytes);
    if (text.len > 0) {
        hub_json_add_key(out, HUB_STR("description"));
        hub_json_add_string(out, hub_buf_str(&text));
    }
    hub_buf_fini(&text);
    add_trouble(toolset, active, out);
}

/* Whether the query is about the toolset: its key, what it is for, the names of its tools. */
static bool matches_toolset(hub_meta_page *asked, const hub_toolset *toolset)
{
    hub_shown_part tools = {.section = NULL};
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    unsigned missing = hub_meta_page_miss(asked, key, hub_meta_page_words(asked));
    missing = hub_meta_page_miss(asked, hub_describe_purpose(toolset), missing);
    if (missing == 0) {
        return true;
    }
    (void)hub_exposure_tools_of(asked->sight.exposure, key, &tools); /* or there are none */
    bool has = false;
    for (size_t i = 0; !has && tools.bits != NULL && i < tools.section->count &&
                       asked->steps < HUB_LIMIT_QUERY_STEPS;
         i++) {
        has = has_tool(asked, &tools, i) &&
              hub_meta_page_miss(asked, tools.section->entries[i].item->name, missing) == 0;
    }
    return has;
}

static void list_toolsets(hub_meta_page *asked)
{
    size_t total = 0;
    size_t active = 0;
    hub_meta_page_open(asked, "toolsets");
    for (size_t i = 0; i < hub_toolset_total(asked->hub); i++) {
        hub_toolset *toolset = hub_sight_toolset(asked->sight, hub_toolset_at(asked->hub, i));
        hub_str key = hub_str_of(hub_toolset_key(toolset));
        if (!hub_sight_may_tell_of(asked->sight, toolset)) {
            continue;
        }
        total++;
        active += hub_exposure_source(asked->sight.exposure, key) != NULL;
        if (!asked->is_full && hub_meta_page_is_behind(asked, key) &&
            hub_meta_page_goes_to(asked, key) && matches_toolset(asked, toolset)) {
            hub_meta_page_entry(asked);
            hub_buf_add_char(asked->out, '{');
            add_toolset(asked, toolset, HUB_LIMIT_SUMMARY_BYTES);
            hub_buf_add_char(asked->out, '}');
        }
    }
    hub_meta_page_close(asked);
    hub_buf_printf(asked->out, ",\"totalToolsets\":%zu,\"activeCount\":%zu", total, active);
}

hub_err hub_meta_list_toolsets(hub_call *call, hub_str arguments, hub_buf *out, hub_error *reterr)
{
    enum { USUAL = 100 };
    hub_meta_page asked = {.name = {"list_toolsets"}};
    hub_err err = hub_meta_page_begin(&asked, call, arguments, USUAL, out, reterr);
    if (err == HUB_OK) {
        hub_str equipped = hub_saved_equipped_by(hub_session_audience(hub_call_session(call))).name;
        hub_buf_add_char(out, '{');
        list_toolsets(&asked);
        if (equipped.len > 0) {
            hub_json_add_key(out, HUB_STR("equipped"));
            hub_json_add_string(out, equipped);
        }
        hub_buf_add_char(out, '}');
    }
    hub_meta_page_fini(&asked);
    return err;
}

/* ---- the tools of one ------------------------------------------------------------------------ */

enum { LEFT_OUT_SHOWN = 3 }; /* definitions of each list that a model is told are left out */

/* What is shown of it; of a toolset that is not active, what would be, under the names it will have. */
static void describe_tools(hub_meta_page *asked, const hub_shown_part *tools, hub_buf *scratch)
{
    hub_meta_page_open(asked, "tools");
    for (size_t i = 0; tools->bits != NULL && i < tools->section->count; i++) {
        const hub_entry *entry = &tools->section->entries[i];
        if (!has_tool(asked, tools, i) || !hub_meta_page_is_behind(asked, entry->item->name)) {
            continue;
        }
        if (!hub_meta_page_goes_to(asked, entry->item->name)) {
            break;
        }
        if (!hub_meta_page_matches_tool(asked, entry, scratch)) {
            continue;
        }
        hub_meta_page_entry(asked);
        hub_buf_add(asked->out, HUB_STR("{\"name\":"));
        hub_json_add_string(asked->out, entry->exposed);
        hub_buf_clear(scratch);
        hub_meta_page_add_tool_text(entry->item, HUB_LIMIT_TOOL_SUMMARY_BYTES, scratch);
        if (scratch->len > 0) {
            hub_json_add_key(asked->out, HUB_STR("description"));
            hub_json_add_string(asked->out, hub_buf_str(scratch));
        }
        hub_buf_add_char(asked->out, '}');
    }
    hub_meta_page_close(asked);
}

/* Of other things than tools, how many there are. */
static void add_other_counts(const hub_meta_page *asked, const hub_toolset *toolset, hub_buf *out)
{
    bool is_gated = hub_is_gated(hub_toolset_hub(toolset));
    static const char *const KEYS[HUB_KINDS] = {[HUB_KIND_RESOURCE] = "resourceCount",
                                                [HUB_KIND_TEMPLATE] = "resourceTemplateCount",
                                                [HUB_KIND_PROMPT] = "promptCount"};
    for (int i = 0; i < HUB_KINDS; i++) {
        const hub_catalog *list = hub_toolset_list(toolset, (hub_kind)i);
        size_t known = list != NULL ? list->count - list->withheld_count : 0;
        size_t count = is_gated
                           ? hub_exposure_count(asked->sight.exposure,
                                                hub_str_of(hub_toolset_key(toolset)), (hub_kind)i)
                           : known;
        if (KEYS[i] != NULL && count > 0) {
            hub_json_add_key(out, hub_str_of(KEYS[i]));
            hub_buf_add_u64(out, count);
        }
    }
}

static void describe(hub_meta_page *asked, hub_toolset *toolset)
{
    hub_shown_part tools = {.section = NULL};
    hub_buf scratch;
    hub_buf_init(&scratch, HUB_LIMIT_DESCRIPTION_BYTES + 1);
    (void)hub_exposure_tools_of(asked->sight.exposure, hub_str_of(hub_toolset_key(toolset)),
                                &tools); /* or none is known */
    hub_buf_add_char(asked->out, '{');
    add_toolset(asked, toolset, HUB_LIMIT_DESCRIPTION_BYTES);
    if (hub_toolset_about(toolset)->title != NULL) {
        hub_json_add_key(asked->out, HUB_STR("title"));
        hub_json_add_string(asked->out, hub_str_of(hub_toolset_about(toolset)->title));
    }
    add_other_counts(asked, toolset, asked->out);
    if (asked->after.len == 0) {
        hub_refused_plugin_add(toolset, asked->out);
    }
    if (asked->after.len == 0 && !hub_is_gated(hub_toolset_hub(toolset))) {
        hub_left_out_add(toolset, asked->sight.exposure, LEFT_OUT_SHOWN, asked->out);
    }
    describe_tools(asked, &tools, &scratch);
    hub_buf_add_char(asked->out, '}');
    if (!hub_buf_ok(&scratch)) {
        asked->out->failed = scratch.failed;
    }
    hub_buf_fini(&scratch);
}

/* The toolset that an argument names; HUB_ENOTFOUND: there is none of which anything may be said. */
static hub_err find_toolset(const hub_call *call, hub_str raw, hub_toolset **ret_toolset,
                            hub_error *reterr)
{
    const hub_orchestrator *hub = hub_profile_hub(hub_session_profile(hub_call_session(call)));
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    hub_err err = HUB_OK;
    if (hub_json_decode(raw, &text) != HUB_OK) {
        err = hub_fail(reterr, HUB_ENOMEM, "out of memory");
    } else {
        hub_str key = hub_str_trim(hub_buf_str(&text));
        *ret_toolset = hub_sight_find_toolset(hub_call_sight(call), hub, key);
        if (*ret_toolset == NULL) {
            err = hub_sight_fail_toolset(hub_call_sight(call), hub, key, true, reterr);
        }
    }
    hub_buf_fini(&text);
    return err;
}

hub_toolset *hub_meta_named_toolset(const hub_call *call, hub_str arguments)
{
    hub_toolset *toolset = NULL;
    (void)find_toolset(call, hub_json_get(arguments, HUB_STR("toolset")), &toolset, NULL);
    return toolset;
}

hub_err hub_meta_describe_toolset(hub_call *call, hub_str arguments, hub_buf *out,
                                  hub_error *reterr)
{
    enum { USUAL = 50 };
    hub_meta_page asked = {.limit = 0};
    hub_toolset *toolset = NULL;
    hub_err err = find_toolset(call, hub_json_get(arguments, HUB_STR("toolset")), &toolset, reterr);
    if (err != HUB_OK) {
        return err;
    }
    (void)snprintf(asked.name.text, sizeof asked.name.text, "describe_toolset/%s",
                   hub_toolset_key(toolset));
    err = hub_meta_page_begin(&asked, call, arguments, USUAL, out, reterr);
    if (err == HUB_OK) {
        describe(&asked, toolset);
    }
    hub_meta_page_fini(&asked);
    return err;
}

/* ---- the names of all ------------------------------------------------------------------------ */

static void list_tools(hub_meta_page *asked)
{
    hub_shown *tools = hub_sight_shown(asked->sight, HUB_KIND_TOOL);
    hub_shown_place at = {.part = 0};
    hub_buf scratch;
    hub_buf_init(&scratch, HUB_LIMIT_DESCRIPTION_BYTES + 1);
    if (asked->after.len > 0) {
        at = hub_shown_after(tools, asked->after);
    }
    hub_meta_page_open(asked, "tools");
    for (const hub_entry *entry = hub_shown_next(tools, &at);
         entry != NULL && hub_meta_page_goes_to(asked, entry->canonical);
         entry = hub_shown_next(tools, &at)) {
        if (hub_sight_tells_of(asked->sight, entry->item) &&
            hub_meta_page_matches_tool(asked, entry, &scratch)) {
            hub_meta_page_entry(asked);
            hub_json_add_string(asked->out, entry->exposed);
        }
    }
    hub_meta_page_close(asked);
    hub_buf_printf(asked->out, ",\"totalTools\":%zu", tools->count);
    if (!hub_buf_ok(&scratch)) {
        asked->out->failed = scratch.failed;
    }
    hub_buf_fini(&scratch);
}

hub_err hub_meta_list_tools(hub_call *call, hub_str arguments, hub_buf *out, hub_error *reterr)
{
    enum { USUAL = 200 };
    hub_meta_page asked = {.name = {"list_tools"}};
    hub_err err = hub_meta_page_begin(&asked, call, arguments, USUAL, out, reterr);
    if (err == HUB_OK) {
        hub_buf_add_char(out, '{');
        list_tools(&asked);
        hub_buf_add_char(out, '}');
    }
    hub_meta_page_fini(&asked);
    return err;
}
