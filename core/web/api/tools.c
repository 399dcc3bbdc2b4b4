/* SPDX-License-Identifier: Apache-2.0 */
/* Tools: all there are for somebody who may read, and for others those that they see. */
#include "base/limits.h"
#include "base/line.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "web/api/route.h"

#include <ctype.h>

enum { USUAL_TOOLS = 200, MOST_TOOLS = 1000, MOST_QUERY_BYTES = 256, SUMMARY_BYTES = 300 };

/* A list of tools that is being made. */
typedef struct listing {
    const hub_api_asked *asked;
    hub_exposure *seen; /* the caller's own */
    hub_str query;      /* in lower case; empty: all */
    hub_str toolset;    /* empty: all */
    uint64_t skip;
    uint64_t limit;
    uint64_t total; /* that fit */
    uint64_t added;
    hub_buf *out;
} listing;

static bool contains(hub_str text, hub_str word)
{
    for (size_t i = 0; i + word.len <= text.len; i++) {
        size_t k = 0;
        while (k < word.len && tolower((unsigned char)text.ptr[i + k]) == word.ptr[k]) {
            k++;
        }
        if (k == word.len) {
            return true;
        }
    }
    return word.len == 0;
}

/* Whether every word of the query is in the name, the toolset or the definition. */
static bool matches(const listing *list, hub_str toolset, const hub_item *item)
{
    hub_str rest = list->query;
    if (list->toolset.len > 0 && !hub_str_eq(list->toolset, toolset)) {
        return false;
    }
    while ((rest = hub_str_skip_space(rest)).len > 0) {
        size_t end = hub_str_find(rest, HUB_STR(" "));
        hub_str word = {.ptr = rest.ptr, .len = end != SIZE_MAX ? end : rest.len};
        rest = hub_str_from(rest, word.len);
        if (!contains(toolset, word) && !contains(item->name, word) &&
            !contains(hub_json_get(item->json, HUB_STR("description")), word)) {
            return false;
        }
    }
    return true;
}

static void add_summary(const hub_item *item, hub_buf *out)
{
    hub_buf text;
    hub_buf line;
    hub_buf_init(&text, item->json.len + 1);
    hub_buf_init(&line, HUB_LIMIT_DESCRIPTION_BYTES + 1);
    if (hub_json_decode(hub_json_get(item->json, HUB_STR("description")), &text) == HUB_OK) {
        hub_line_add(&line, hub_buf_str(&text), SUMMARY_BYTES);
        hub_json_add_member(out, "description", hub_buf_str(&line));
    }
    hub_buf_fini(&line);
    hub_buf_fini(&text);
}

/* The members of a tool, without braces. `exposed`: what the caller calls it; empty: it cannot. */
static void add_members(hub_str toolset, const hub_item *item, hub_str exposed, hub_buf *out)
{
    hub_buf id;
    hub_buf_init(&id, toolset.len + item->name.len + 2);
    hub_buf_printf(&id, HUB_STR_FMT ":" HUB_STR_FMT, HUB_STR_ARG(toolset), HUB_STR_ARG(item->name));
    hub_json_add_member(out, "id", hub_buf_str(&id));
    hub_json_add_member(out, "toolset", toolset);
    hub_json_add_member(out, "tool", item->name);
    if (exposed.len > 0) {
        hub_json_add_member(out, "name", exposed);
    }
    hub_json_add_key(out, HUB_STR("bytes"));
    hub_buf_add_u64(out, item->json.len);
    hub_json_add_key(out, HUB_STR("tokens")); /* as models count, roughly */
    hub_buf_add_u64(out, (item->json.len + 3) / 4);
    hub_buf_printf(out, ",\"readOnly\":%s,\"destructive\":%s,\"overridden\":%s,\"withheld\":%s",
                   (item->hints & HUB_TOOL_READ_ONLY) != 0 ? "true" : "false",
                   (item->hints & (HUB_TOOL_READ_ONLY | HUB_TOOL_NOT_DESTRUCTIVE)) == 0 ? "true"
                                                                                        : "false",
                   item->override != NULL ? "true" : "false", item->is_withheld ? "true" : "false");
    hub_buf_fini(&id);
}

static void consider(listing *list, hub_str toolset, const hub_item *item, hub_str exposed)
{
    if (!matches(list, toolset, item)) {
        return;
    }
    if (list->total++ < list->skip || list->added >= list->limit) {
        return;
    }
    list->added++;
    hub_json_add_comma(list->out);
    hub_buf_add_char(list->out, '{');
    add_members(toolset, item, exposed, list->out);
    add_summary(item, list->out);
    hub_buf_add_char(list->out, '}');
}

/* What the caller calls a tool, or the empty span. */
static hub_str exposed_name(hub_exposure *seen, hub_str toolset, hub_str tool)
{
    const hub_entry *entry =
        hub_exposure_find_own(seen, HUB_REVISION_NEWEST, HUB_KIND_TOOL, toolset, tool);
    return entry != NULL ? entry->exposed : HUB_STR_EMPTY;
}

static void list_all(listing *list)
{
    for (size_t i = 0; i < hub_toolset_total(list->asked->hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(list->asked->hub, i);
        const hub_catalog *tools = hub_toolset_list(toolset, HUB_KIND_TOOL);
        hub_str key = hub_str_of(hub_toolset_key(toolset));
        for (size_t k = 0; tools != NULL && k < tools->count; k++) {
            const hub_item *item = &tools->items[k];
            consider(list, key, item, exposed_name(list->seen, key, item->name));
        }
    }
}

static void list_own(listing *list)
{
    const hub_shown *shown = hub_exposure_shown(list->seen, HUB_KIND_TOOL);
    hub_shown_place at = {.part = 0};
    const hub_entry *entry;
    while ((entry = hub_shown_next(shown, &at)) != NULL) {
        size_t end = entry->canonical.len - entry->item->name.len - 1;
        consider(list, (hub_str){.ptr = entry->canonical.ptr, .len = end}, entry->item,
                 entry->exposed);
    }
}

/* Tell the page, and where the next begins. */
static void answer_list(listing *list)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    list->out = &out;
    hub_buf_add(&out, HUB_STR("{\"tools\":["));
    if (list->asked->right >= HUB_API_READ) {
        list_all(list);
    } else {
        list_own(list);
    }
    hub_buf_add(&out, HUB_STR("],\"total\":"));
    hub_buf_add_u64(&out, list->total);
    if (list->skip + list->added < list->total) {
        hub_json_add_key(&out, HUB_STR("next"));
        hub_buf_add_u64(&out, list->skip + list->added);
    }
    hub_buf_add_char(&out, '}');
    hub_api_answer(list->asked->exchange, 200, &out);
}

static void serve_tools(hub_api_asked *asked)
{
    listing list = {.asked = asked};
    hub_buf query;
    hub_buf toolset;
    if (!hub_api_query_number(asked, "limit", USUAL_TOOLS, MOST_TOOLS, &list.limit) ||
        !hub_api_query_number(asked, "after", 0, INT64_MAX, &list.skip)) {
        return;
    }
    hub_buf_init(&query, MOST_QUERY_BYTES);
    hub_buf_init(&toolset, asked->request->query.len + 1);
    (void)hub_api_query(asked, "toolset", &toolset); /* none: all */
    (void)hub_api_query(asked, "query", &query);
    for (size_t i = 0; i < query.len; i++) {
        query.ptr[i] = (char)tolower((unsigned char)query.ptr[i]);
    }
    list.query = hub_buf_str(&query);
    list.toolset = hub_buf_str(&toolset);
    hub_session *session = NULL;
    if (!hub_buf_ok(&query)) {
        hub_api_fail(asked->exchange, 400, "invalid_input", "query may have %d bytes",
                     MOST_QUERY_BYTES);
    } else if ((session = hub_api_look(asked)) != NULL) {
        list.seen = hub_session_exposure(session);
        answer_list(&list);
        hub_session_close(session);
    }
    hub_buf_fini(&toolset);
    hub_buf_fini(&query);
}

/* ---- one tool -------------------------------------------------------------------------------- */

const hub_item *hub_api_find_tool(const hub_api_asked *asked, hub_exposure *seen, hub_str *ret_key,
                                  hub_str *ret_exposed)
{
    hub_str id = asked->named[0];
    size_t colon = hub_str_find(id, HUB_STR(":"));
    if (colon == SIZE_MAX) {
        return NULL;
    }
    *ret_key = (hub_str){.ptr = id.ptr, .len = colon};
    hub_str tool = hub_str_from(id, colon + 1);
    const hub_toolset *toolset = hub_find_toolset(asked->hub, *ret_key);
    const hub_catalog *tools = toolset != NULL ? hub_toolset_list(toolset, HUB_KIND_TOOL) : NULL;
    const hub_entry *own =
        hub_exposure_find_own(seen, HUB_REVISION_NEWEST, HUB_KIND_TOOL, *ret_key, tool);
    *ret_exposed = own != NULL ? own->exposed : HUB_STR_EMPTY;
    if (asked->right < HUB_API_READ) {
        return own != NULL ? own->item : NULL;
    }
    return tools != NULL ? hub_catalog_find(tools, tool) : NULL;
}

static void serve_tool(hub_api_asked *asked)
{
    hub_str key;
    hub_str exposed;
    hub_session *session = hub_api_look(asked);
    if (session == NULL) {
        return;
    }
    const hub_item *item = hub_api_find_tool(asked, hub_session_exposure(session), &key, &exposed);
    if (item == NULL) {
        hub_api_fail(asked->exchange, 404, "not_found", "there is no tool \"" HUB_STR_FMT "\"",
                     HUB_STR_ARG(asked->named[0]));
    } else {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
        hub_buf_add_char(&out, '{');
        add_members(key, item, exposed, &out);
        hub_json_add_key(&out, HUB_STR("definition"));
        hub_buf_add(&out, item->json);
        if (asked->right >= HUB_API_READ && item->override != NULL) {
            hub_json_add_key(&out, HUB_STR("original"));
            hub_buf_add(&out, item->original);
        }
        hub_buf_add_char(&out, '}');
        hub_api_answer(asked->exchange, 200, &out);
    }
    hub_session_close(session);
}

static const hub_api_param PARAMS[] = {
    {"query", "{\"type\":\"string\",\"maxLength\":256}",
     "Words that the toolset, the name or the description must have."},
    {"toolset", "{\"type\":\"string\"}", "Only those of this toolset."},
    {"limit", "{\"type\":\"integer\",\"minimum\":0,\"maximum\":1000}", "How many at most."},
    {"after", "{\"type\":\"integer\",\"minimum\":0}", "The number `next` of the page before."},
    {NULL, NULL, NULL},
};

const hub_api_route HUB_API_TOOL_ROUTES[] = {
    {.method = "GET",
     .path = "/tools",
     .scope = HUB_API_CALLER,
     .summary = "Tools with their size: those that the caller sees; with admin:read, all.",
     .params = PARAMS,
     .handle = serve_tools},
    {.method = "GET",
     .path = "/tools/{id}",
     .scope = HUB_API_CALLER,
     .summary = "A tool by its id TOOLSET:TOOL, with its definition.",
     .handle = serve_tool},
    {.method = NULL},
};
