/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/overrides/overrides.h"

#include "base/limits.h"
#include "base/log.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "identity/arguments.h"
#include "wire/json_edit.h"

#include <stdlib.h>

/* A request with other arguments. */
typedef struct changed_request {
    hub_message message;
    char text[];
} changed_request;

typedef struct call_override {
    changed_request *request;
} call_override;

static bool wants_toolset(const hub_toolset *toolset)
{
    const hub_catalog *tools = hub_toolset_list(toolset, HUB_KIND_TOOL);
    return tools != NULL && tools->looks;
}

/* The whole request with these arguments. NULL: out of memory. */
static changed_request *make_request(const hub_message *message, hub_str arguments)
{
    hub_json_change change = {.key = HUB_STR("arguments"), .value = arguments};
    hub_json_edits edits;
    hub_buf text;
    hub_json_edits_init(&edits);
    hub_buf_init(&text, SIZE_MAX / 4);
    /* A message with a member twice was refused when it was scanned. */
    bool is_made = hub_json_edit_members(&edits, message->at[HUB_M_PARAMS], &change, 1) &&
                   hub_json_edits_apply(&edits, message->whole, &text) == HUB_OK;
    changed_request *request = is_made ? malloc(sizeof *request + text.len) : NULL;
    if (request != NULL) {
        memcpy(request->text, text.ptr, text.len);
        hub_str whole = {.ptr = request->text, .len = text.len};
        if (hub_message_scan(whole, &request->message, NULL) != HUB_OK) {
            free(request);
            request = NULL;
        }
    }
    hub_buf_fini(&text);
    hub_json_edits_fini(&edits);
    return request;
}

/* Put arguments into the place of what the client sent. */
static hub_verdict change(hub_call *call, hub_way *way, hub_str arguments)
{
    changed_request *request = make_request(way->message, arguments);
    if (request == NULL) {
        hub_call_refuse_rpc(call, HUB_RPC_INTERNAL_ERROR, HUB_STR("out of memory"));
        return HUB_ANSWERED;
    }
    call_override *own = hub_call_part_of(call, &HUB_OVERRIDES_STATION);
    own->request = request;
    way->message = &request->message;
    way->arguments = request->message.at[HUB_M_ARGUMENTS];
    way->name_json = request->message.at[HUB_M_NAME];
    return HUB_GO_ON;
}

static hub_verdict begin(hub_call *call, hub_way *way)
{
    const hub_override *override = way->item != NULL ? way->item->override : NULL;
    if (override == NULL || !override->looks || !hub_call_is_of_tool(call)) {
        return HUB_GO_ON;
    }
    hub_error why = {.code = HUB_OK};
    hub_buf arguments;
    hub_buf_init(&arguments, SIZE_MAX / 4);
    hub_err err = hub_access_check_arguments(way->arguments, &why);
    if (err == HUB_OK) {
        err = hub_override_call(override, way->arguments, &arguments, &why);
    }
    hub_verdict verdict = HUB_GO_ON;
    if (err != HUB_OK) {
        hub_call_refuse_rpc(call,
                            err == HUB_ENOMEM ? HUB_RPC_INTERNAL_ERROR : HUB_RPC_INVALID_PARAMS,
                            hub_str_of(why.text));
        verdict = HUB_ANSWERED;
    } else if (arguments.len > 0) {
        verdict = change(call, way, hub_buf_str(&arguments));
    }
    hub_buf_fini(&arguments);
    return verdict;
}

static void drop(hub_call *call)
{
    call_override *own = hub_call_find_part(call, &HUB_OVERRIDES_STATION);
    if (own != NULL) {
        free(own->request);
    }
}

/* ---- overrides that are about nothing -------------------------------------------------------- */

static hub_name_list *unused_of(const hub_toolset *toolset)
{
    return hub_toolset_part(toolset, &HUB_OVERRIDES_STATION);
}

const hub_name_list *hub_overrides_unused(const hub_toolset *toolset)
{
    return unused_of(toolset);
}

static void note(const hub_toolset *toolset, hub_str glob, hub_str argument)
{
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&text, "\"" HUB_STR_FMT "\"", HUB_STR_ARG(glob));
    if (argument.len > 0) {
        hub_buf_printf(&text, " (argument \"" HUB_STR_FMT "\")", HUB_STR_ARG(argument));
    }
    hub_name_list_add(unused_of(toolset), hub_buf_ok(&text) ? hub_buf_str(&text) : glob);
    hub_buf_fini(&text);
}

/* Whether the rule fits a tool; `argument`: one that has an argument of that name, unless empty. */
static bool fits_some(const hub_catalog *tools, hub_str glob, hub_str argument)
{
    for (size_t i = 0; i < tools->count; i++) {
        const hub_item *item = &tools->items[i];
        if (hub_str_glob(glob, item->name) &&
            (argument.len == 0 || hub_override_has_argument(item->original, argument))) {
            return true;
        }
    }
    return false;
}

static void check_rule(const hub_toolset *toolset, const hub_catalog *tools,
                       const hub_override_rule *rule, hub_arena *scratch)
{
    const hub_override *said = NULL;
    const hub_overrides alone = {.rules = rule, .count = 1};
    if (!fits_some(tools, rule->glob, HUB_STR_EMPTY)) {
        note(toolset, rule->glob, HUB_STR_EMPTY);
        return;
    }
    if (hub_overrides_find(&alone, scratch, rule->glob, HUB_STR_EMPTY, &said) != HUB_OK ||
        said == NULL) {
        return; /* there is no memory to say it with */
    }
    for (size_t i = 0; i < said->argument_count; i++) {
        if (!fits_some(tools, rule->glob, said->arguments[i].key)) {
            note(toolset, rule->glob, said->arguments[i].key);
        }
    }
}

/* A server may have renamed what a rule is about: then the rule protects nobody. */
static void toolset_listed(hub_toolset *toolset, hub_kind kind)
{
    const hub_catalog *tools = hub_toolset_list(toolset, HUB_KIND_TOOL);
    if (kind != HUB_KIND_TOOL || tools == NULL) {
        return;
    }
    *unused_of(toolset) = (hub_name_list){.count = 0};
    if (tools->rules.overrides == NULL) {
        return;
    }
    hub_overrides overrides = {.count = 0};
    hub_arena *scratch = hub_arena_create(SIZE_MAX / 4);
    if (scratch != NULL &&
        hub_overrides_read(scratch, hub_str_of(tools->rules.overrides), &overrides) == HUB_OK) {
        for (size_t i = 0; i < overrides.count; i++) {
            check_rule(toolset, tools, &overrides.rules[i], scratch);
        }
    }
    hub_arena_destroy(scratch);
    if (unused_of(toolset)->count > 0) {
        hub_log(HUB_LOG_WARNING, "tools.overrides_unused",
                HUB_F_TEXT("toolset", hub_toolset_key(toolset)),
                HUB_F_TEXT("overrides", unused_of(toolset)->text));
    }
}

static void toolset_recalled(hub_toolset *toolset)
{
    toolset_listed(toolset, HUB_KIND_TOOL);
}

static hub_station_place place;

const hub_station HUB_OVERRIDES_STATION = {
    .name = "overrides",
    .place = &place,
    .bytes = {[HUB_PART_CALL] = sizeof(call_override), [HUB_PART_TOOLSET] = sizeof(hub_name_list)},
    .wants_toolset = wants_toolset,
    .toolset_listed = toolset_listed,
    .toolset_recalled = toolset_recalled,
    .begin = begin,
    .drop = drop,
};
