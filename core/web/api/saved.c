/* SPDX-License-Identifier: Apache-2.0 */
/* Saved toolsets: the caller's own and those that are shared. Changes are calls of the hub's own tools, so
 * that one code does them whoever asks (hub/saved). */
#include "base/limits.h"
#include "hub/access/access.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/saved/keep.h"
#include "web/api/later.h"

#include <stdlib.h>

/* A look at one, or at two. */
typedef struct look {
    hub_api_later later;
    bool compares;
    char *other;              /* the name of another one; NULL: what there is now */
    hub_selection *selection; /* of the first, while the other is found */
} look;

static void drop(look *one)
{
    free(one->other);
    hub_selection_unref(one->selection);
    hub_api_later_free(&one->later);
}

static void refuse(hub_web_exchange *exchange, const hub_saved_found *found)
{
    hub_error why;
    (void)hub_fail(&why, found->err, "%s", found->why);
    hub_api_fail_with(exchange, &why);
}

static void add_id(hub_buf *out, const hub_selected *tool)
{
    hub_buf id;
    hub_buf_init(&id, tool->toolset.len + tool->tool.len + 2);
    hub_buf_printf(&id, HUB_STR_FMT ":" HUB_STR_FMT, HUB_STR_ARG(tool->toolset),
                   HUB_STR_ARG(tool->tool));
    hub_json_add_string(out, hub_buf_str(&id));
    hub_buf_fini(&id);
}

/* ---- one of them ----------------------------------------------------------------------------- */

/* How a tool that was saved is now, for somebody: what they may not see is as if it were hidden. */
static const char *state_of(hub_session *session, const hub_orchestrator *hub,
                            const hub_selected *tool)
{
    const hub_toolset *toolset = hub_find_toolset(hub, tool->toolset);
    if (toolset == NULL || !hub_access_shows_tool(session, toolset, tool->tool)) {
        return "hidden";
    }
    hub_catalog *list = hub_toolset_list(toolset, HUB_KIND_TOOL);
    const hub_item *item = list != NULL ? hub_catalog_find(list, tool->tool) : NULL;
    return list == NULL                         ? "unknown"
           : item == NULL                       ? "gone"
           : !hub_selected_is(tool, list, item) ? "changed"
                                                : "same";
}

static void add_tools(const look *one, hub_session *session, const hub_saved *saved, hub_buf *out)
{
    hub_json_add_key(out, HUB_STR("tools"));
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < saved->count; i++) {
        hub_json_add_comma(out);
        hub_buf_add(out, HUB_STR("{\"id\":"));
        add_id(out, &saved->tools[i]);
        hub_json_add_member(out, "state",
                            hub_str_of(state_of(session, one->later.asked.hub, &saved->tools[i])));
        hub_buf_add_char(out, '}');
    }
    hub_buf_add_char(out, ']');
}

static void answer_one(look *one, const hub_saved_found *found)
{
    const hub_saved *saved = found->saved;
    hub_web_exchange *exchange = hub_api_later_exchange(&one->later);
    hub_session *session = exchange != NULL ? hub_api_look(&one->later.asked) : NULL;
    if (session == NULL) {
        return; /* nobody waits, or it has been answered */
    }
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add_char(&out, '{');
    hub_json_add_member(&out, "name", saved->name);
    hub_json_add_member(&out, "description", saved->description);
    hub_json_add_member(&out, "owner", saved->owner);
    hub_json_add_member(&out, "createdAt", saved->created_at);
    hub_json_add_member(&out, "updatedAt", saved->updated_at);
    hub_json_add_member(&out, "origin", hub_str_of(hub_saved_origin_name(found->origin)));
    hub_json_add_key(&out, HUB_STR("version"));
    hub_buf_add_u64(&out, saved->version);
    add_tools(one, session, saved, &out);
    hub_buf_add_char(&out, '}');
    hub_session_close(session);
    hub_api_answer(exchange, 200, &out);
}

/* ---- two of them ----------------------------------------------------------------------------- */

typedef enum difference { ADDED, REMOVED, CHANGED } difference;

static bool is_other(const hub_selected *a, const hub_selected *b)
{
    return a->has_digest && b->has_digest && memcmp(a->digest, b->digest, HUB_DIGEST_BYTES) != 0;
}

/* Those of one selection that are not in the other, or that are others there. */
static void add_difference(hub_buf *out, const char *key, const hub_selection *these,
                           const hub_selection *those, difference wanted)
{
    hub_json_add_key(out, hub_str_of(key));
    hub_buf_add_char(out, '[');
    for (size_t i = 0; i < hub_selection_count(these); i++) {
        const hub_selected *one = hub_selection_at(these, i);
        const hub_selected *found = hub_selection_find(those, one->toolset, one->tool);
        if (wanted == CHANGED ? found != NULL && is_other(one, found) : found == NULL) {
            hub_json_add_comma(out);
            add_id(out, one);
        }
    }
    hub_buf_add_char(out, ']');
}

static void answer_difference(look *one, const hub_selection *other)
{
    hub_web_exchange *exchange = hub_api_later_exchange(&one->later);
    hub_buf out;
    if (exchange == NULL) {
        return;
    }
    hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
    hub_buf_add_char(&out, '{');
    add_difference(&out, "added", other, one->selection, ADDED);
    add_difference(&out, "removed", one->selection, other, REMOVED);
    add_difference(&out, "changed", one->selection, other, CHANGED);
    hub_buf_add_char(&out, '}');
    hub_api_answer(exchange, 200, &out);
}

/* What of the tools there is now, as somebody sees it. */
static hub_err select_now(const look *one, const hub_saved *saved, hub_session *session,
                          hub_selection **ret_now)
{
    const hub_orchestrator *hub = one->later.asked.hub;
    hub_selected *now = calloc(saved->count + 1, sizeof *now);
    size_t count = 0;
    for (size_t i = 0; now != NULL && i < saved->count; i++) {
        const char *state = state_of(session, hub, &saved->tools[i]);
        bool is_there = strcmp(state, "same") == 0 || strcmp(state, "changed") == 0;
        if (is_there || strcmp(state, "unknown") == 0) {
            now[count] = saved->tools[i];
            now[count++].digest[0] ^= strcmp(state, "changed") == 0; /* another one */
        }
    }
    hub_err err = now != NULL ? hub_selection_create(now, count, ret_now) : HUB_ENOMEM;
    free(now);
    return err;
}

static void on_found(void *ctx, const hub_saved_found *found);

/* The first of two is there. True: the other one is being found. */
static bool go_on(look *one, const hub_saved_found *found)
{
    hub_api_asked *asked = &one->later.asked;
    hub_selection *now = NULL;
    hub_err err = hub_saved_select(found->saved, &one->selection);
    if (err == HUB_OK && one->other != NULL) {
        hub_saved_find(asked->hub, hub_str_of(asked->identity->name), hub_str_of(one->other),
                       on_found, one);
        return true;
    }
    hub_session *session = err == HUB_OK ? hub_api_look(asked) : NULL;
    if (err == HUB_OK && session == NULL) {
        (void)hub_api_later_exchange(&one->later); /* it has been answered */
        return false;
    }
    err = err == HUB_OK ? select_now(one, found->saved, session, &now) : err;
    if (session != NULL) {
        hub_session_close(session);
    }
    if (err == HUB_OK) {
        answer_difference(one, now);
        hub_selection_unref(now);
    } else {
        hub_api_fail_with(hub_api_later_exchange(&one->later), &(hub_error){.code = err});
    }
    return false;
}

static void answer_second(look *one, const hub_saved *saved)
{
    hub_selection *other = NULL;
    if (hub_saved_select(saved, &other) == HUB_OK) {
        answer_difference(one, other);
        hub_selection_unref(other);
    } else {
        hub_api_fail_with(hub_api_later_exchange(&one->later), &(hub_error){.code = HUB_ENOMEM});
    }
}

static void on_found(void *ctx, const hub_saved_found *found)
{
    look *one = ctx;
    if (one->later.is_over) {
        drop(one);
        return; /* nobody waits */
    }
    if (found->err != HUB_OK) {
        refuse(hub_api_later_exchange(&one->later), found);
    } else if (!one->compares) {
        answer_one(one, found);
    } else if (one->selection != NULL) {
        answer_second(one, found->saved);
    } else if (go_on(one, found)) {
        return;
    }
    drop(one);
}

static void find(hub_api_asked *asked, look *one)
{
    if (!hub_api_later_begin(asked, &one->later)) {
        return;
    }
    hub_saved_find(asked->hub, hub_str_of(asked->identity->name), one->later.asked.named[0],
                   on_found, one);
    hub_api_later_wait(&one->later);
}

static void serve_saved(hub_api_asked *asked)
{
    find(asked, calloc(1, sizeof(look)));
}

static void serve_diff(hub_api_asked *asked)
{
    look *one = calloc(1, sizeof *one);
    hub_buf other;
    hub_buf_init(&other, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    if (one != NULL) {
        one->compares = true;
        one->other =
            hub_api_query(asked, "other", &other) ? hub_str_dup(hub_buf_str(&other)) : NULL;
    }
    hub_buf_fini(&other);
    find(asked, one);
}

/* ---- by the hub's own tools ------------------------------------------------------------------ */

static void serve_list(hub_api_asked *asked)
{
    hub_buf arguments;
    hub_buf text;
    hub_buf_init(&arguments, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_init(&text, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
    hub_buf_add_char(&arguments, '{');
    if (hub_api_query(asked, "query", &text)) {
        hub_json_add_member(&arguments, "query", hub_buf_str(&text));
    }
    hub_buf_clear(&text);
    if (hub_api_query(asked, "cursor", &text)) {
        hub_json_add_member(&arguments, "cursor", hub_buf_str(&text));
    }
    hub_buf_add_char(&arguments, '}');
    hub_api_call_own(asked, "list-saved-toolsets", hub_buf_str(&arguments));
    hub_buf_fini(&text);
    hub_buf_fini(&arguments);
}

static void serve_build(hub_api_asked *asked)
{
    hub_api_call_own(asked, "build-toolset", asked->request->body);
}

static void serve_delete(hub_api_asked *asked)
{
    hub_buf arguments;
    hub_buf_init(&arguments, asked->named[0].len * 6 + 64);
    hub_buf_add_char(&arguments, '{');
    hub_json_add_member(&arguments, "name", asked->named[0]);
    hub_buf_add_char(&arguments, '}');
    hub_api_call_own(asked, "delete-toolset", hub_buf_str(&arguments));
    hub_buf_fini(&arguments);
}

static void serve_equipped(hub_api_asked *asked)
{
    hub_api_call_own(asked, "get-active-toolset", HUB_STR("{}"));
}

static void serve_equip(hub_api_asked *asked)
{
    hub_api_call_own(asked, "equip-toolset", asked->request->body);
}

static void serve_unequip(hub_api_asked *asked)
{
    hub_api_call_own(asked, "unequip-toolset", HUB_STR("{}"));
}

static const hub_api_param LIST_PARAMS[] = {
    {"query", "{\"type\":\"string\"}", "Words that the name or the description must have."},
    {"cursor", "{\"type\":\"string\"}", "The `nextCursor` of the page before."},
    {NULL, NULL, NULL},
};

static const hub_api_param DIFF_PARAMS[] = {
    {"other", "{\"type\":\"string\"}",
     "The name of another one; without it, what servers offer now."},
    {NULL, NULL, NULL},
};

#define TEXT  "{\"type\":\"string\"}"
#define TEXTS "{\"type\":\"array\",\"items\":" TEXT "}"
#define FLAG  "{\"type\":\"boolean\"}"

const hub_api_route HUB_API_SAVED_ROUTES[] = {
    {.method = "GET",
     .path = "/saved",
     .scope = HUB_API_CALLER,
     .summary = "The saved toolsets that the caller sees: its own, shared ones, the manifest's.",
     .params = LIST_PARAMS,
     .handle = serve_list},
    {.method = "POST",
     .path = "/saved",
     .scope = HUB_API_CALLER,
     .summary = "Save a selection of tools, or change one, as build-toolset does; what is shared "
                "needs the scope admin.",
     .body = "{\"type\":\"object\",\"properties\":{\"name\":" TEXT ",\"description\":" TEXT
             ",\"tools\":" TEXTS ",\"match\":" TEXTS ",\"without\":" TEXTS ",\"from\":" TEXT
             ",\"replace\":" FLAG ",\"autoEquip\":" FLAG ",\"share\":" FLAG "}}",
     .handle = serve_build},
    {.method = "GET",
     .path = "/saved/{name}",
     .scope = HUB_API_CALLER,
     .summary = "A saved toolset, and of each of its tools whether its definition is as it was "
                "saved.",
     .handle = serve_saved},
    {.method = "DELETE",
     .path = "/saved/{name}",
     .scope = HUB_API_CALLER,
     .summary = "Delete a saved toolset; one that is shared needs the scope admin.",
     .handle = serve_delete},
    {.method = "GET",
     .path = "/saved/{name}/diff",
     .scope = HUB_API_CALLER,
     .summary = "Which tools another one, or what servers offer now, has more, has less, or has "
                "with another definition.",
     .params = DIFF_PARAMS,
     .handle = serve_diff},
    {.method = "GET",
     .path = "/equipped",
     .scope = HUB_API_CALLER,
     .summary = "Which saved toolset the caller has equipped, and which of its tools are there.",
     .handle = serve_equipped},
    {.method = "PUT",
     .path = "/equipped",
     .scope = HUB_API_CALLER,
     .summary = "Equip a saved toolset for the caller: it sees these tools and no others.",
     .body = "{\"type\":\"object\",\"required\":[\"name\"],\"properties\":{\"name\":" TEXT "}}",
     .handle = serve_equip},
    {.method = "DELETE",
     .path = "/equipped",
     .scope = HUB_API_CALLER,
     .summary = "Show the caller the tools of its enabled toolsets again.",
     .handle = serve_unequip},
    {.method = NULL},
};
