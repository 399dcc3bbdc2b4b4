/* SPDX-License-Identifier: Apache-2.0 */
/* What is said of a saved toolset that is equipped: its tools, and which of them are not there. */
#include "base/limits.h"
#include "base/name_list.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/meta/page.h"
#include "hub/saved/tools.h"

/* Tools of one toolset, by why they are not shown. */
typedef struct missing {
    hub_name_list of[HUB_SAVED_HIDDEN + 1];
} missing;

/* Read the tools of a toolset, from `at` on; the place behind them. */
static size_t gather(hub_call *call, const hub_selection *selection, size_t at,
                     missing *ret_missing)
{
    const hub_orchestrator *hub = hub_session_hub(hub_call_session(call));
    hub_exposure *seen = hub_call_sight(call).exposure;
    hub_str toolset = hub_selection_at(selection, at)->toolset;
    memset(ret_missing, 0, sizeof *ret_missing);
    for (; at < hub_selection_count(selection); at++) {
        const hub_selected *one = hub_selection_at(selection, at);
        if (!hub_str_eq(one->toolset, toolset)) {
            break;
        }
        hub_name_list_add(&ret_missing->of[hub_saved_absence_of(seen, hub, one)], one->tool);
    }
    return at;
}

static const hub_manager_result *find_result(const hub_saved_outcome *outcome, hub_str toolset)
{
    for (size_t i = 0; i < outcome->count; i++) {
        if (hub_str_eq(outcome->toolsets[i].toolset, toolset)) {
            return &outcome->toolsets[i];
        }
    }
    return NULL;
}

static void add_warning(hub_buf *out, hub_buf *text)
{
    hub_buf masked;
    hub_buf_init(&masked, SIZE_MAX / 4);
    hub_json_add_comma(out);
    hub_json_add_string(out, hub_respond_mask(hub_buf_str(text), &masked));
    hub_buf_fini(&masked);
    hub_buf_clear(text);
}

/* The server of a toolset is not there (S3.66). */
static void warn_of_server(const hub_manager_result *result, const hub_name_list *absent,
                           hub_buf *text)
{
    hub_buf_printf(text, "server \"" HUB_STR_FMT "\" is %s", HUB_STR_ARG(result->toolset),
                   result->is_down ? "unavailable" : "still starting");
    if (absent->count > 0) {
        hub_buf_printf(text, ", skipping tools: %s. They appear when it answers", absent->text);
    } else {
        hub_buf_add(text, HUB_STR(": its tools are those of the last time, and work when it "
                                  "answers"));
    }
    if (result->is_down) {
        hub_buf_printf(text, " (%s)", result->why.text);
    }
}

static void warn(const hub_saved_outcome *outcome, hub_str toolset, const missing *absent,
                 hub_buf *out)
{
    const hub_manager_result *result = find_result(outcome, toolset);
    const hub_name_list *gone = &absent->of[HUB_SAVED_NOT_THERE];
    bool is_away =
        result != NULL && result->err == HUB_OK && (result->is_down || result->is_starting);
    hub_buf text;
    hub_buf_init(&text, 8 * HUB_LIMIT_LOG_LINE_BYTES);
    if (is_away) {
        warn_of_server(result, gone, &text);
        add_warning(out, &text);
    } else if (gone->count > 0) {
        hub_buf_printf(&text, "toolset \"" HUB_STR_FMT "\" has no tools: %s", HUB_STR_ARG(toolset),
                       gone->text);
        add_warning(out, &text);
    }
    if (absent->of[HUB_SAVED_CHANGED].count > 0) {
        hub_buf_printf(
            &text,
            "left out, because the definition is another than was saved, of \"" HUB_STR_FMT
            "\": %s. Build the toolset again to accept it",
            HUB_STR_ARG(toolset), absent->of[HUB_SAVED_CHANGED].text);
        add_warning(out, &text);
    }
    if (absent->of[HUB_SAVED_HIDDEN].count > 0) {
        hub_buf_printf(&text, "not available here, of \"" HUB_STR_FMT "\": %s",
                       HUB_STR_ARG(toolset), absent->of[HUB_SAVED_HIDDEN].text);
        add_warning(out, &text);
    }
    if (!hub_buf_ok(&text)) {
        out->failed = text.failed;
    }
    hub_buf_fini(&text);
}

static void add_names(hub_call *call, const hub_selection *selection, hub_buf *out)
{
    hub_sight sight = hub_call_sight(call);
    size_t begin = out->len;
    size_t shown = 0;
    bool is_all = true;
    hub_buf_add(out, HUB_STR(",\"tools\":["));
    for (size_t i = 0; i < hub_selection_count(selection); i++) {
        const hub_selected *one = hub_selection_at(selection, i);
        const hub_entry *entry = hub_sight_find_own(sight, HUB_KIND_TOOL, one->toolset, one->tool);
        shown += entry != NULL;
        is_all = is_all && out->len - begin < HUB_LIMIT_META_PAGE_BYTES / 2;
        if (entry != NULL && is_all) {
            hub_json_add_comma(out);
            hub_json_add_string(out, entry->exposed);
        }
    }
    hub_buf_printf(out, "],\"toolCount\":%zu", shown);
}

void saved_add_equipped(hub_call *call, const hub_saved_outcome *outcome, hub_buf *out)
{
    const hub_selection *selection = hub_choice_of(hub_manager_of(outcome->audience));
    hub_json_add_key(out, HUB_STR("equipped"));
    hub_json_add_string(out, outcome->name);
    if (selection == NULL) {
        return; /* somebody has unequipped it since */
    }
    add_names(call, selection, out);
    hub_buf_add(out, HUB_STR(",\"warnings\":["));
    size_t begin = out->len;
    missing absent;
    for (size_t at = 0;
         at < hub_selection_count(selection) && out->len - begin < HUB_LIMIT_META_PAGE_BYTES / 2;) {
        hub_str toolset = hub_selection_at(selection, at)->toolset;
        at = gather(call, selection, at, &absent);
        warn(outcome, toolset, &absent, out);
    }
    hub_buf_add_char(out, ']');
}

/* ---- get-active-toolset ---------------------------------------------------------------------- */

static void add_tool(hub_meta_page *asked, const hub_selected *one)
{
    static const char *const STATES[] = {[HUB_SAVED_NOT_THERE] = "not there",
                                         [HUB_SAVED_CHANGED] = "definition changed",
                                         [HUB_SAVED_HIDDEN] = "not available here"};
    hub_saved_absence how = hub_saved_absence_of(asked->sight.exposure, asked->hub, one);
    const hub_entry *entry =
        hub_sight_find_own(asked->sight, HUB_KIND_TOOL, one->toolset, one->tool);
    hub_meta_page_entry(asked);
    hub_buf_add(asked->out, HUB_STR("{\"id\":"));
    hub_json_add_string(asked->out, (hub_str){.ptr = asked->last, .len = asked->last_len});
    if (entry != NULL) {
        hub_json_add_key(asked->out, HUB_STR("name"));
        hub_json_add_string(asked->out, entry->exposed);
    } else if (how != HUB_SAVED_SHOWN) {
        hub_buf_printf(asked->out, ",\"state\":\"%s\"", STATES[how]);
    }
    hub_buf_add_char(asked->out, '}');
}

static void list_tools(hub_meta_page *asked, const hub_selection *selection)
{
    hub_buf id;
    hub_buf_init(&id, SIZE_MAX / 4);
    hub_meta_page_open(asked, "tools");
    for (size_t i = 0; i < hub_selection_count(selection); i++) {
        const hub_selected *one = hub_selection_at(selection, i);
        hub_buf_clear(&id);
        hub_buf_add(&id, one->toolset);
        hub_buf_add_char(&id, ':');
        hub_buf_add(&id, one->tool);
        if (!hub_meta_page_is_behind(asked, hub_buf_str(&id))) {
            continue;
        }
        if (!hub_meta_page_goes_to(asked, hub_buf_str(&id))) {
            break;
        }
        if (hub_meta_page_miss(asked, hub_buf_str(&id), hub_meta_page_words(asked)) == 0) {
            add_tool(asked, one);
        }
    }
    hub_meta_page_close(asked);
    hub_buf_fini(&id);
}

hub_err saved_get_active(hub_call *call, hub_str arguments, hub_buf *out, hub_error *reterr)
{
    enum { USUAL = 200 };
    const hub_audience *audience = hub_session_audience(hub_call_session(call));
    hub_saved_equipped equipped = hub_saved_equipped_by(audience);
    const hub_selection *selection = hub_choice_of(hub_manager_of(audience));
    hub_meta_page asked = {.name = {"get-active-toolset"}};
    hub_err err = hub_meta_page_begin(&asked, call, arguments, USUAL, out, reterr);
    if (err == HUB_OK && (equipped.name.len == 0 || selection == NULL)) {
        hub_buf_add(out, HUB_STR("{\"equipped\":null,\"message\":\"no toolset is equipped: the "
                                 "tools of all enabled toolsets are shown\"}"));
    } else if (err == HUB_OK) {
        hub_buf_add(out, HUB_STR("{\"equipped\":"));
        hub_json_add_string(out, equipped.name);
        hub_buf_printf(out, ",\"version\":%llu,\"origin\":\"%s\"",
                       (unsigned long long)equipped.version,
                       hub_saved_origin_name(equipped.origin));
        list_tools(&asked, selection);
        hub_buf_printf(out, ",\"totalTools\":%zu}", hub_selection_count(selection));
    }
    hub_meta_page_fini(&asked);
    return err;
}
