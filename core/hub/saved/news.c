/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/saved/saved_internal.h"

#include "base/cause.h"
#include "base/limits.h"
#include "base/log.h"
#include "base/name_list.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/notices/logging.h"

#include <stdlib.h>

hub_saved_absence hub_saved_absence_of(const hub_exposure *exposure, const hub_orchestrator *hub,
                                       const hub_selected *selected)
{
    if (hub_exposure_find_own(exposure, HUB_REVISION_NONE, HUB_KIND_TOOL, selected->toolset,
                              selected->tool) != NULL) {
        return HUB_SAVED_SHOWN;
    }
    const hub_toolset *toolset = hub_find_toolset(hub, selected->toolset);
    if (toolset == NULL || hub_exposure_source(exposure, selected->toolset) == NULL) {
        return HUB_SAVED_HIDDEN;
    }
    hub_catalog *list = hub_toolset_list(toolset, HUB_KIND_TOOL);
    const hub_item *item = list != NULL ? hub_catalog_find(list, selected->tool) : NULL;
    return item == NULL                             ? HUB_SAVED_NOT_THERE
           : !hub_selected_is(selected, list, item) ? HUB_SAVED_CHANGED
                                                    : HUB_SAVED_HIDDEN;
}

void saved_forget_shown(saved_of_audience *own)
{
    free(own->was_shown);
    own->was_shown = NULL;
    own->count = 0;
}

void saved_note_shown(const hub_audience *audience)
{
    saved_of_audience *own = saved_part_of(audience);
    const hub_selection *selection = hub_choice_of(hub_manager_of(audience));
    saved_forget_shown(own);
    if (selection == NULL) {
        return;
    }
    own->was_shown = calloc(hub_selection_count(selection) + 1, sizeof *own->was_shown);
    own->count = own->was_shown != NULL ? hub_selection_count(selection) : 0;
    for (size_t i = 0; i < own->count; i++) {
        const hub_selected *selected = hub_selection_at(selection, i);
        own->was_shown[i] =
            hub_exposure_find_own(hub_audience_exposure(audience), HUB_REVISION_NONE, HUB_KIND_TOOL,
                                  selected->toolset, selected->tool) != NULL;
    }
}

/* Say it in the log, and to the legacy clients of the audience that see such messages. Access rules
 * may hide these tools from one of them: such a client is told nothing. */
static void tell_clients(const hub_audience *audience, const char *level, hub_str key,
                         const hub_name_list *names, const char *what)
{
    hub_buf text;
    hub_buf params;
    hub_buf_init(&text, 2 * HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_init(&params, 8 * HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&text, "saved toolset \"%s\": %s of \"" HUB_STR_FMT "\": %s",
                   saved_part_of(audience)->name, what, HUB_STR_ARG(key), names->text);
    hub_buf_printf(&params, "{\"level\":\"%s\",\"logger\":\"patchbay\",\"data\":", level);
    hub_json_add_string(&params, hub_buf_str(&text));
    hub_buf_add_char(&params, '}');
    for (hub_session *at = hub_audience_sessions(audience);
         at != NULL && hub_buf_ok(&text) && hub_buf_ok(&params);
         at = hub_session_next_of_audience(at)) {
        const hub_exposure *seen = hub_session_exposure(at);
        if (seen != NULL && hub_exposure_source(seen, key) != NULL) {
            hub_logging_tell(at, hub_buf_str(&params));
        }
    }
    hub_buf_fini(&params);
    hub_buf_fini(&text);
}

static void report_news(const hub_audience *audience, hub_str key, const hub_name_list *came,
                        const hub_name_list *changed)
{
    const char *name = saved_part_of(audience)->name;
    if (came->count > 0) {
        hub_log(HUB_LOG_INFO, "saved.tools_came", HUB_F_TEXT("saved", name),
                HUB_F_STR("toolset", key), HUB_F_TEXT("tools", came->text), HUB_F_BY);
        tell_clients(audience, "info", key, came, "now there are tools");
    }
    if (changed->count > 0) {
        hub_log(HUB_LOG_WARNING, "saved.tools_changed", HUB_F_TEXT("saved", name),
                HUB_F_STR("toolset", key), HUB_F_TEXT("tools", changed->text), HUB_F_BY);
        tell_clients(audience, "warning", key, changed,
                     "left out, because their definitions are others than were saved, are tools");
    }
}

/* A toolset has another list of tools: say which of those that are equipped have come, and which are
 * others than were meant. */
static void look_for_news(const hub_audience *audience, const hub_toolset *toolset)
{
    saved_of_audience *own = saved_part_of(audience);
    const hub_selection *selection = hub_choice_of(hub_manager_of(audience));
    hub_str key = hub_str_of(hub_toolset_key(toolset));
    hub_name_list came = {.count = 0};
    hub_name_list changed = {.count = 0};
    if (own->name == NULL || selection == NULL || own->count != hub_selection_count(selection)) {
        return;
    }
    for (size_t i = 0; i < own->count; i++) {
        const hub_selected *selected = hub_selection_at(selection, i);
        if (!hub_str_eq(selected->toolset, key)) {
            continue;
        }
        hub_saved_absence how = hub_saved_absence_of(hub_audience_exposure(audience),
                                                     hub_audience_hub(audience), selected);
        bool is_shown = how == HUB_SAVED_SHOWN;
        if (is_shown && !own->was_shown[i]) {
            hub_name_list_add(&came, selected->tool);
        } else if (how == HUB_SAVED_CHANGED && own->was_shown[i]) {
            hub_name_list_add(&changed, selected->tool);
        }
        own->was_shown[i] = is_shown;
    }
    report_news(audience, key, &came, &changed);
}

void saved_toolset_listed(hub_toolset *toolset, hub_kind kind)
{
    const hub_orchestrator *hub = hub_toolset_hub(toolset);
    if (kind != HUB_KIND_TOOL ||
        hub_find_toolset(hub, hub_str_of(hub_toolset_key(toolset))) != toolset) {
        return;
    }
    for (size_t i = 0; i < hub_profile_total(hub); i++) {
        for (const hub_audience *at = hub_profile_audience(hub_profile_at(hub, i)); at != NULL;
             at = hub_audience_next(at)) {
            look_for_news(at, toolset);
        }
    }
}
