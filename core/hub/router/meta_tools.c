/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/router/meta_tools.h"

#include "base/cause.h"
#include "base/limits.h"
#include "hub/active/manager.h"
#include "hub/fanout/fanout.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/respond.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/kernel/way.h"
#include "hub/meta/meta_tool.h"
#include "hub/meta/schemas.h"
#include "hub/remember/remember.h"
#include "hub/router/meta_tools_look.h"
#include "hub/results/read.h"
#include "hub/router/meta_tools_search.h"
#include "hub/saved/tools.h"

#include <stdlib.h>

/* ---- enable_toolset, disable_toolset --------------------------------------------------------- */

/* An operation that was asked for by a call. The client may be gone when it ends. */
typedef struct pending_change {
    hub_call_table *calls;
    uint64_t call;
    hub_audience *audience;
    bool enabling;
    bool single;
    bool is_failure; /* the answer is one … */
    hub_buf answer;  /* … and kept until the change is on the disk; an object, yet to be closed */
} pending_change;

/* What has become of a toolset that is as it was asked to be. */
static void add_outcome(hub_buf *text, const hub_manager_result *result, bool enabling,
                        hub_str equipped)
{
    const char *again = result->is_unchanged ? "already " : "";
    hub_buf_printf(text, "toolset \"" HUB_STR_FMT "\" is ", HUB_STR_ARG(result->toolset));
    if (result->is_kept) {
        hub_buf_printf(text,
                       "%s, which counts when the saved toolset \"" HUB_STR_FMT
                       "\" is unequipped: while \"" HUB_STR_FMT
                       "\" is equipped, its tools are shown and no others",
                       enabling ? "enabled" : "disabled", HUB_STR_ARG(equipped),
                       HUB_STR_ARG(equipped));
    } else if (!enabling) {
        hub_buf_add(text, result->is_unchanged ? HUB_STR("not enabled: there is nothing to disable")
                                               : HUB_STR("disabled: its tools are gone"));
    } else if (result->is_down) {
        hub_buf_printf(text,
                       "%senabled, but its server is not there yet and is tried again: its "
                       "tools will appear when it answers (%s)",
                       again, result->why.text);
    } else if (result->is_starting) {
        hub_buf_printf(text,
                       "%senabled; its server is still starting, and its tools will appear "
                       "when it answers",
                       again);
    } else {
        hub_buf_printf(text, "%senabled with %zu tool%s", again, result->tool_count,
                       result->tool_count == 1 ? "" : "s");
    }
}

/* An object, which is not closed yet. */
static void add_result(hub_buf *out, const hub_manager_result *result, bool enabling,
                       hub_str equipped)
{
    hub_buf text;
    hub_buf masked;
    hub_buf_init(&text, 2048);
    hub_buf_init(&masked, SIZE_MAX / 4);
    hub_buf_add(out, HUB_STR("{\"toolset\":"));
    hub_json_add_string(out, result->toolset);
    if (result->err != HUB_OK) {
        hub_buf_add(&text, hub_str_of(result->why.text));
        hub_buf_printf(out, ",\"ok\":false,\"code\":\"%s\",\"retryable\":%s",
                       hub_meta_code_of(result->err),
                       hub_meta_is_retryable(result->err) ? "true" : "false");
    } else {
        bool is_ready = !result->is_starting && !result->is_down;
        add_outcome(&text, result, enabling, equipped);
        hub_buf_add(out,
                    is_ready ? HUB_STR(",\"ok\":true") : HUB_STR(",\"ok\":true,\"ready\":false"));
        if (enabling && !result->is_kept) {
            hub_json_add_key(out, HUB_STR("toolCount"));
            hub_buf_add_u64(out, result->tool_count);
        }
    }
    hub_json_add_key(out, HUB_STR("message"));
    hub_json_add_string(out, hub_respond_mask(hub_buf_str(&text), &masked));
    if (!hub_buf_ok(&text)) {
        out->failed = text.failed;
    }
    hub_buf_fini(&masked);
    hub_buf_fini(&text);
}

static bool has_any(const hub_manager_result *results, size_t count)
{
    size_t at = 0;
    while (at < count && results[at].err != HUB_OK) {
        at++;
    }
    return at < count;
}

/* The manager counts for all of its audience: what rules hide from who has asked is left out. `call`:
 * NULL: nobody is to be told. */
static hub_manager_result for_asker(const hub_call *call, const hub_manager_result *result)
{
    hub_manager_result own = *result;
    const hub_session *session = call != NULL ? hub_call_session(call) : NULL;
    if (session != NULL && hub_tells_sessions_apart(hub_session_hub(session)) &&
        own.err == HUB_OK) {
        own.tool_count =
            hub_exposure_count(hub_session_exposure(session), own.toolset, HUB_KIND_TOOL);
    }
    return own;
}

static void add_batch(hub_buf *out, const hub_call *call, const hub_manager_result *results,
                      size_t count, bool enabling, hub_str equipped)
{
    size_t good = 0;
    for (size_t i = 0; i < count; i++) {
        good += results[i].err == HUB_OK;
    }
    hub_buf_printf(out,
                   "{\"message\":\"%s of the toolsets were %s\",\"succeeded\":%zu,"
                   "\"failed\":%zu,\"results\":[",
                   good == count ? "all"
                   : good == 0   ? "none"
                                 : "some",
                   enabling ? "enabled" : "disabled", good, count - good);
    for (size_t i = 0; i < count; i++) {
        hub_manager_result own = for_asker(call, &results[i]);
        hub_json_add_comma(out);
        add_result(out, &own, enabling, equipped);
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, ']');
}

/* The change holds, and is on the disk, or lost with the hub. */
static void on_kept(void *ctx, bool is_lost)
{
    pending_change *pending = ctx;
    hub_call *call = hub_call_find(pending->calls, pending->call, NULL);
    if (call != NULL) {
        hub_buf_add(&pending->answer, is_lost ? HUB_STR(",\"remembered\":false}") : HUB_STR("}"));
        hub_meta_reply(call, &pending->answer, pending->is_failure);
    } else { /* Cancelled: the change stands, nobody is to be told. */
        hub_buf_fini(&pending->answer);
    }
    free(pending);
}

static void on_changed(void *ctx, const hub_manager_result *results, size_t count)
{
    pending_change *pending = ctx;
    hub_call *call = hub_call_find(pending->calls, pending->call, NULL);
    bool is_any = has_any(results, count);
    hub_str equipped = hub_saved_equipped_by(pending->audience).name;
    if (pending->single && !is_any) {
        if (call != NULL) {
            hub_meta_reply_failure(call, results[0].err, results[0].why.text);
        }
        free(pending);
        return;
    }
    hub_buf_init(&pending->answer, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    pending->is_failure = !is_any;
    if (pending->single) {
        hub_manager_result own = for_asker(call, &results[0]);
        add_result(&pending->answer, &own, pending->enabling, equipped);
    } else {
        add_batch(&pending->answer, call, results, count, pending->enabling, equipped);
    }
    if (is_any) {
        hub_remember_keep(pending->audience, on_kept, pending);
    } else {
        on_kept(pending, false);
    }
}

static void change_toolsets(hub_call *call, const hub_way *way, const hub_str *toolsets,
                            size_t count, bool enabling, bool single)
{
    hub_audience *audience = NULL;
    pending_change *pending = malloc(sizeof *pending);
    hub_error why = {.code = HUB_OK, .text = "out of memory"};
    hub_err err =
        pending != NULL ? hub_audience_of_choice(hub_call_session(call), &audience) : HUB_ENOMEM;
    if (err == HUB_OK) {
        *pending = (pending_change){.calls = hub_call_table_of(call),
                                    .call = hub_call_id(call),
                                    .audience = audience,
                                    .enabling = enabling,
                                    .single = single};
        hub_manager_ask_as(hub_manager_of(audience), hub_session_number(hub_call_session(call)));
        err = (enabling ? hub_manager_enable : hub_manager_disable)(
            hub_manager_of(audience), toolsets, count, way->message->at[HUB_M_META], on_changed,
            pending, &why);
    }
    if (err != HUB_OK) {
        free(pending);
        hub_meta_reply_failure(call, err, why.text);
    }
}

/* Read `toolset` or `toolsets` and run the change. */
static void run_change(hub_call *call, const hub_way *way, bool enabling)
{
    hub_str arguments = way->arguments;
    hub_str one = hub_json_get(arguments, HUB_STR("toolset"));
    hub_str many = hub_json_get(arguments, HUB_STR("toolsets"));
    if (hub_json_type_of(many) == HUB_JSON_STRING) {
        one = many;
    }
    size_t count = one.len > 0 ? 1 : hub_json_count(many);
    hub_str *toolsets = calloc(count + 1, sizeof *toolsets);
    hub_buf text;
    hub_buf_init(&text, arguments.len + 1);
    if (toolsets == NULL || hub_buf_reserve(&text, arguments.len + 1) == NULL) {
        hub_meta_reply_failure(call, HUB_ENOMEM, "out of memory");
    } else {
        hub_json_iter it = hub_json_iterate(many);
        hub_str key;
        hub_str raw = one;
        for (size_t i = 0; i < count; i++) {
            size_t begin = text.len;
            if (one.len == 0) {
                (void)hub_json_next(&it, &key, &raw); /* there are `count` of them */
            }
            if (hub_json_decode(raw, &text) == HUB_OK) { /* the schema demands strings */
                toolsets[i] = hub_str_from(hub_buf_str(&text), begin);
            }
        }
        change_toolsets(call, way, toolsets, count, enabling, one.len > 0);
    }
    hub_buf_fini(&text);
    free(toolsets);
}

static void enable_toolset(hub_call *call, const hub_way *way)
{
    run_change(call, way, true);
}

static void disable_toolset(hub_call *call, const hub_way *way)
{
    run_change(call, way, false);
}

/* ---- looking --------------------------------------------------------------------------------- */

void hub_meta_answer_look(hub_call *call, hub_str arguments, hub_meta_look *look)
{
    hub_error why = {.code = HUB_OK};
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    if (look(call, arguments, &out, &why) == HUB_OK) {
        hub_meta_reply(call, &out, false);
    } else {
        hub_buf_fini(&out);
        hub_meta_reply_failure(call, why.code, why.text);
    }
}

/* ---- the table ------------------------------------------------------------------------------- */

static const hub_meta_tool TOOLSETS_TOOLS[] = {
    {"enable_toolset", false, "Makes the tools of toolsets available. The list of tools changes.",
     TOOLSETS_WANTED, TOOLSETS_ACCEPTED, ANNOTATIONS_ADD, .change = enable_toolset},
    {"disable_toolset", false, "Takes the tools of toolsets off the list of tools.",
     TOOLSETS_WANTED, TOOLSETS_ACCEPTED, ANNOTATIONS_REMOVE, .change = disable_toolset},
    {"list_toolsets", false, "Lists toolsets, active or not, with purpose and number of tools.",
     LIST_WANTED, LIST_ACCEPTED, ANNOTATIONS_READ, .look = hub_meta_list_toolsets},
    {"describe_toolset", false, "Describes a toolset and its tools, also before it is enabled.",
     TOOLSET_WANTED, TOOLSET_ACCEPTED, ANNOTATIONS_READ, .change = hub_meta_describe},
    {"list_tools", true, "Lists the names of the tools that can be called now.", LIST_WANTED,
     LIST_ACCEPTED, ANNOTATIONS_READ, .look = hub_meta_list_tools},
    {.name = NULL},
};

/* All groups, as `meta_tools` names them. */
static const struct {
    unsigned group; /* HUB_META_… */
    const hub_meta_tool *tools;
} GROUPS[] = {
    {HUB_META_TOOLSETS, TOOLSETS_TOOLS},      {HUB_META_SAVED, HUB_SAVED_TOOLS},
    {HUB_META_SEARCH, HUB_META_SEARCH_TOOLS}, {HUB_META_RESULTS, HUB_META_RESULTS_TOOLS},
    {HUB_META_FANOUT, HUB_FANOUT_TOOLS},
};

enum { GROUP_COUNT = sizeof GROUPS / sizeof GROUPS[0] };

static void ignore_drop(void *ctx, hub_str reason)
{
    (void)ctx;
    (void)reason;
}

/* Check the arguments of a tool that accepts more than it shows against that. */
static hub_err accept_more(hub_catalog *catalog, const hub_meta_tool *tool)
{
    hub_schema *accepted = NULL;
    hub_item *item = NULL;
    for (size_t i = 0; tool->accepted_schema != NULL && i < catalog->count; i++) {
        item = hub_str_is(catalog->items[i].name, tool->name) ? &catalog->items[i] : item;
    }
    if (item == NULL) {
        return HUB_OK;
    }
    hub_err err = hub_schema_compile(hub_str_of(tool->accepted_schema), &accepted, NULL);
    if (err == HUB_OK) {
        hub_schema_destroy(item->schema);
        item->schema = accepted;
    }
    return err;
}

static void add_tool(const hub_meta_tool *tool, hub_buf *json)
{
    hub_json_add_comma(json);
    hub_buf_printf(json,
                   "{\"name\":\"%s\",\"description\":\"%s\",\"inputSchema\":%s,"
                   "\"annotations\":%s}",
                   tool->name, tool->description, tool->input_schema, tool->annotations);
}

hub_err hub_meta_catalog(unsigned groups, bool is_static, hub_catalog **ret_catalog)
{
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CATALOG_BYTES);
    hub_buf_add_char(&json, '[');
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        for (const hub_meta_tool *at = GROUPS[i].tools; at->name != NULL; at++) {
            if ((GROUPS[i].group & groups) != 0 && (!is_static || at->in_static)) {
                add_tool(at, &json);
            }
        }
    }
    hub_buf_add_char(&json, ']');
    hub_err err = json.failed;
    hub_catalog *catalog = NULL;
    if (err == HUB_OK) {
        err = hub_catalog_parse(HUB_KIND_TOOL, hub_buf_str(&json), true, ignore_drop, NULL,
                                &catalog, NULL);
    }
    hub_buf_fini(&json);
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        for (const hub_meta_tool *at = GROUPS[i].tools; err == HUB_OK && at->name != NULL; at++) {
            err = accept_more(catalog, at);
        }
    }
    if (err != HUB_OK) {
        hub_catalog_unref(catalog);
        return err;
    }
    *ret_catalog = catalog;
    return HUB_OK;
}

bool hub_meta_has(const hub_catalog *catalog, unsigned groups)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        bool is_wanted = (GROUPS[i].group & groups) != 0;
        if (is_wanted && hub_catalog_find(catalog, hub_str_of(GROUPS[i].tools[0].name)) == NULL) {
            return false;
        }
    }
    return true;
}

static const hub_meta_tool *find_tool(hub_str name)
{
    for (size_t i = 0; i < GROUP_COUNT; i++) {
        for (const hub_meta_tool *at = GROUPS[i].tools; at->name != NULL; at++) {
            if (hub_str_is(name, at->name)) {
                return at;
            }
        }
    }
    return NULL;
}

bool hub_meta_searches(const hub_entry *entry)
{
    return hub_toolset_is_meta(entry->owner) && (hub_str_is(entry->item->name, "search_tools") ||
                                                 hub_str_is(entry->item->name, "describe_tools"));
}

void hub_meta_answer(hub_call *call, const hub_way *way)
{
    const hub_meta_tool *tool = find_tool(way->name);
    if (tool == NULL) {
        hub_call_fail(call, PATCHBAY_NOT_IMPLEMENTED, HUB_STR("there is no such meta-tool"));
    } else if (tool->look != NULL) {
        hub_meta_answer_look(call, way->arguments, tool->look);
    } else {
        const char *before = hub_cause_set(hub_session_who(hub_call_session(call)));
        tool->change(call, way);
        (void)hub_cause_set(before);
    }
}
