/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/saved/tools.h"

#include "base/limits.h"
#include "hub/kernel/audience.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/meta/page.h"
#include "hub/meta/schemas.h"
#include "hub/remember/remember.h"

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

bool saved_is_admin(const hub_call *call)
{
    const hub_identity *identity = hub_session_identity(hub_call_session(call));
    char own[32];
    if (identity == NULL) {
        return false;
    }
    (void)snprintf(own, sizeof own, "uid:%lu", (unsigned long)geteuid());
    return hub_names_have(&identity->scopes, HUB_STR("admin")) || identity == &HUB_IDENTITY_LOCAL ||
           strcmp(identity->name, own) == 0 || strcmp(identity->name, "uid:0") == 0;
}

hub_err saved_read_text(hub_str arguments, const char *key, hub_buf *out, hub_error *reterr)
{
    hub_str raw = hub_json_get(arguments, hub_str_of(key));
    if (hub_json_type_of(raw) != HUB_JSON_STRING || hub_json_decode(raw, out) == HUB_OK) {
        return HUB_OK;
    }
    return out->failed == HUB_ENOMEM ? hub_fail(reterr, HUB_ENOMEM, "out of memory")
                                     : hub_fail(reterr, HUB_EINVAL, "%s: it is too long", key);
}

/* ---- what waits ------------------------------------------------------------------------------ */

/* A call that is answered later; it may be gone by then. */
typedef struct pending {
    hub_orchestrator *hub;
    const hub_call_table *calls;
    uint64_t call;
    char *arguments;
    hub_buf answer; /* an object, which is kept until the choice is on the disk, yet to be closed */
    char *name;     /* of what is to be deleted */
    hub_saved_origin origin;
} pending;

static pending *create_pending(hub_call *call, hub_str arguments)
{
    pending *made = calloc(1, sizeof *made);
    if (made != NULL) {
        made->hub = hub_session_hub(hub_call_session(call));
        made->calls = hub_call_table_of(call);
        made->call = hub_call_id(call);
        made->arguments = hub_str_dup(arguments);
    }
    if (made == NULL || made->arguments == NULL) {
        free(made);
        hub_meta_reply_failure(call, HUB_ENOMEM, "out of memory");
        return NULL;
    }
    return made;
}

static void destroy_pending(pending *one)
{
    free(one->arguments);
    free(one->name);
    free(one);
}

static hub_call *call_of(const pending *one)
{
    return hub_call_find(one->calls, one->call, NULL);
}

/* ---- equip-toolset, unequip-toolset ---------------------------------------------------------- */

/* The choice holds, and is on the disk, or lost with the hub. */
static void on_kept(void *ctx, bool is_lost)
{
    pending *one = ctx;
    hub_call *call = call_of(one);
    if (call != NULL) {
        hub_buf_add(&one->answer, is_lost ? HUB_STR(",\"remembered\":false}") : HUB_STR("}"));
        hub_meta_reply(call, &one->answer, false);
    } else {
        hub_buf_fini(&one->answer);
    }
    destroy_pending(one);
}

static void on_equipped(void *ctx, const hub_saved_outcome *outcome)
{
    pending *one = ctx;
    hub_call *call = call_of(one);
    if (outcome->err != HUB_OK) {
        if (call != NULL) {
            hub_meta_reply_failure(call, outcome->err, outcome->why);
        }
    } else {
        hub_buf_init(&one->answer, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        hub_buf_add_char(&one->answer, '{');
        if (call != NULL) {
            saved_add_equipped(call, outcome, &one->answer);
        }
        hub_buf_add(&one->answer,
                    HUB_STR(",\"message\":\"equipped: the list of tools has changed\""));
        hub_remember_keep(outcome->audience, on_kept, one);
        return;
    }
    destroy_pending(one);
}

static void equip(hub_call *call, const hub_way *way)
{
    hub_error why = {.text = ""};
    hub_buf name;
    hub_buf_init(&name, way->arguments.len + 1);
    hub_err err = saved_read_text(way->arguments, "name", &name, &why);
    pending *one = err == HUB_OK ? create_pending(call, HUB_STR("{}")) : NULL;
    if (err == HUB_OK && one == NULL) { /* it was answered */
        hub_buf_fini(&name);
        return;
    }
    if (err == HUB_OK) {
        err = hub_saved_equip(hub_call_session(call), hub_str_trim(hub_buf_str(&name)),
                              way->message->at[HUB_M_META], on_equipped, one, &why);
    }
    if (err != HUB_OK) {
        if (one != NULL) {
            destroy_pending(one);
        }
        hub_error_prefix(&why, "Failed to equip toolset");
        hub_meta_reply_failure(call, err, why.text);
    }
    hub_buf_fini(&name);
}

/* As far as the one who asks may know of them. */
static void add_unequipped(const hub_call *call, const hub_saved_outcome *outcome, hub_buf *out)
{
    hub_exposure *seen = hub_call_sight(call).exposure;
    hub_buf_add(out, HUB_STR("{\"equipped\":null"));
    if (outcome->was_nothing) {
        hub_buf_add(out, HUB_STR(",\"message\":\"no toolset was equipped\""));
        return;
    }
    hub_json_add_key(out, HUB_STR("unequipped"));
    hub_json_add_string(out, outcome->name);
    hub_buf_add(out, HUB_STR(",\"enabledToolsets\":["));
    for (size_t i = 0; i < outcome->count && out->len < HUB_LIMIT_META_PAGE_BYTES; i++) {
        const hub_manager_result *one = &outcome->toolsets[i];
        if (one->err == HUB_OK && hub_exposure_may_tell_of(seen, one->toolset)) {
            hub_json_add_comma(out);
            hub_json_add_string(out, one->toolset);
        }
    }
    hub_buf_add(out, HUB_STR("],\"message\":\"unequipped: the tools of enabled toolsets are shown "
                             "again\""));
}

static void on_unequipped(void *ctx, const hub_saved_outcome *outcome)
{
    pending *one = ctx;
    hub_call *call = call_of(one);
    if (outcome->err == HUB_OK && outcome->audience != NULL) {
        hub_buf_init(&one->answer, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        if (call != NULL) {
            add_unequipped(call, outcome, &one->answer);
        }
        hub_remember_keep(outcome->audience, on_kept, one);
        return;
    }
    if (call != NULL) {
        hub_meta_reply_failure(call, outcome->err, outcome->why);
    }
    destroy_pending(one);
}

static void unequip(hub_call *call, const hub_way *way)
{
    hub_error why = {.text = ""};
    pending *one = create_pending(call, HUB_STR("{}"));
    if (one == NULL) {
        return;
    }
    hub_err err = hub_saved_unequip(hub_call_session(call), way->message->at[HUB_M_META],
                                    on_unequipped, one, &why);
    if (err != HUB_OK) {
        destroy_pending(one);
        hub_meta_reply_failure(call, err, why.text);
    }
}

/* ---- list-saved-toolsets --------------------------------------------------------------------- */

static void add_line(hub_meta_page *asked, const hub_saved_line *line, hub_str equipped)
{
    hub_buf *out = asked->out;
    hub_meta_page_entry(asked);
    hub_buf_add(out, HUB_STR("{\"name\":"));
    hub_json_add_string(out, line->name);
    if (line->description.len > 0) {
        hub_json_add_key(out, HUB_STR("description"));
        hub_json_add_string(out, line->description);
    }
    hub_buf_printf(out, ",\"toolCount\":%zu,\"version\":%llu", line->tool_count,
                   (unsigned long long)line->version);
    if (line->origin != HUB_SAVED_OWN) {
        hub_buf_printf(out, ",\"origin\":\"%s\"", hub_saved_origin_name(line->origin));
    }
    hub_buf_add(out,
                hub_str_eq(line->name, equipped) ? HUB_STR(",\"equipped\":true}") : HUB_STR("}"));
}

static void list_lines(hub_meta_page *asked, hub_str equipped, const hub_saved_line *lines,
                       size_t count)
{
    hub_buf_add_char(asked->out, '{');
    hub_meta_page_open(asked, "toolsets");
    for (size_t i = 0; i < count; i++) {
        if (!hub_meta_page_is_behind(asked, lines[i].name)) {
            continue;
        }
        if (!hub_meta_page_goes_to(asked, lines[i].name)) {
            break;
        }
        unsigned missing = hub_meta_page_miss(asked, lines[i].name, hub_meta_page_words(asked));
        if (hub_meta_page_miss(asked, lines[i].description, missing) == 0) {
            add_line(asked, &lines[i], equipped);
        }
    }
    hub_meta_page_close(asked);
    hub_buf_printf(asked->out, ",\"totalToolsets\":%zu", count);
}

static void on_list(void *ctx, hub_err err, const char *why, const hub_saved_line *lines,
                    size_t count)
{
    enum { USUAL = 50 };
    pending *one = ctx;
    hub_call *call = call_of(one);
    if (call != NULL && err == HUB_ENOMEM) {
        hub_meta_reply_failure(call, err, why);
    } else if (call != NULL) {
        hub_saved_equipped equipped =
            hub_saved_equipped_by(hub_session_audience(hub_call_session(call)));
        hub_meta_page asked = {.name = {"list-saved-toolsets"}};
        hub_error bad = {.text = ""};
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_UPSTREAM_MESSAGE_BYTES);
        hub_err read =
            hub_meta_page_begin(&asked, call, hub_str_of(one->arguments), USUAL, &out, &bad);
        if (read == HUB_OK) {
            list_lines(&asked, equipped.name, lines, count);
            if (err != HUB_OK) { /* those of the manifest are there all the same */
                hub_json_add_key(&out, HUB_STR("unavailable"));
                hub_json_add_string(&out, hub_str_of(why));
            }
            hub_buf_add_char(&out, '}');
            hub_meta_reply(call, &out, false);
        } else {
            hub_buf_fini(&out);
            hub_meta_reply_failure(call, read, bad.text);
        }
        hub_meta_page_fini(&asked);
    }
    destroy_pending(one);
}

static void list(hub_call *call, const hub_way *way)
{
    pending *one = create_pending(call, way->arguments);
    if (one != NULL) {
        hub_saved_list(one->hub, hub_str_of(hub_session_who(hub_call_session(call))), on_list, one);
    }
}

/* ---- delete-toolset -------------------------------------------------------------------------- */

static void on_deleted(void *ctx, const hub_state_result *result)
{
    pending *one = ctx;
    hub_call *call = call_of(one);
    if (call != NULL && result->err == HUB_ECONFLICT) {
        hub_meta_reply_failure(call, HUB_EBUSY,
                               "the saved toolset was changed by somebody else just now: look at "
                               "it, and try again");
    } else if (call != NULL && result->err != HUB_OK) {
        hub_meta_reply_failure(call, result->err, result->why);
    } else if (call != NULL) {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        hub_buf_printf(&out, "{\"deleted\":\"%s\",\"message\":\"deleted", one->name);
        hub_buf_add(&out, HUB_STR("; where it was equipped, it is unequipped\"}"));
        hub_meta_reply(call, &out, false);
    }
    destroy_pending(one);
}

static void delete_line(pending *one, hub_call *call, const hub_saved_line *line)
{
    hub_error why = {.text = ""};
    hub_err err = HUB_OK;
    if (line->origin == HUB_SAVED_FIXED) {
        err = hub_fail(&why, HUB_EDENIED,
                       "saved toolset \"%s\" is the manifest's, and read-only here", one->name);
    } else if (line->origin == HUB_SAVED_OF_ALL && !saved_is_admin(call)) {
        err = hub_fail(&why, HUB_EDENIED,
                       "saved toolset \"%s\" is shared: deleting it needs the scope \"admin\"",
                       one->name);
    } else {
        hub_str owner = line->origin == HUB_SAVED_OWN
                            ? hub_str_of(hub_session_who(hub_call_session(call)))
                            : HUB_SAVED_SHARED;
        hub_state_id id = {.kind = &HUB_SAVED_KIND, .owner = owner, .key = line->name};
        err = hub_state_delete(hub_store_of(one->hub), &id, line->record, on_deleted, one, NULL,
                               &why);
    }
    if (err != HUB_OK) {
        hub_meta_reply_failure(call, err, why.text);
        destroy_pending(one);
    }
}

static void on_list_to_delete(void *ctx, hub_err err, const char *why, const hub_saved_line *lines,
                              size_t count)
{
    pending *one = ctx;
    hub_call *call = call_of(one);
    const hub_saved_line *line = hub_saved_line_find(lines, count, hub_str_of(one->name));
    if (call != NULL && line != NULL) {
        delete_line(one, call, line);
        return;
    }
    if (call != NULL && err != HUB_OK) {
        hub_meta_reply_failure(call, err, why);
    } else if (call != NULL) {
        hub_error unknown;
        (void)hub_fail(&unknown, HUB_ENOTFOUND,
                       "there is no saved toolset \"%s\": list-saved-toolsets names them all",
                       one->name);
        hub_meta_reply_failure(call, HUB_ENOTFOUND, unknown.text);
    }
    destroy_pending(one);
}

static void delete_saved(hub_call *call, const hub_way *way)
{
    hub_error why = {.text = ""};
    hub_buf name;
    hub_buf_init(&name, way->arguments.len + 1);
    hub_err err = saved_read_text(way->arguments, "name", &name, &why);
    hub_str trimmed = hub_str_trim(hub_buf_str(&name));
    if (err == HUB_OK) {
        err = hub_saved_check_name(trimmed, &why);
    }
    if (err != HUB_OK) {
        hub_meta_reply_failure(call, err, why.text);
    }
    pending *one = err == HUB_OK ? create_pending(call, HUB_STR("{}")) : NULL;
    if (one != NULL) {
        one->name = hub_str_dup(trimmed);
        if (one->name == NULL) {
            hub_meta_reply_failure(call, HUB_ENOMEM, "out of memory");
            destroy_pending(one);
        } else {
            hub_saved_list(one->hub, hub_str_of(hub_session_who(hub_call_session(call))),
                           on_list_to_delete, one);
        }
    }
    hub_buf_fini(&name);
}

/* ---- the table ------------------------------------------------------------------------------- */

#define TEXT(name, about) "\"" name "\":{\"type\":\"string\",\"description\":\"" about "\"}"
#define TEXTS(name, about)                                                                         \
    "\"" name "\":{\"type\":\"array\",\"items\":{\"type\":\"string\"},"                            \
    "\"description\":\"" about "\"}"
#define FLAG(name, about) "\"" name "\":{\"type\":\"boolean\",\"description\":\"" about "\"}"

#define DISCOVER_SHOWN                                                                             \
    OBJECT "\"properties\":{" PAGE_SHOWN "," FLAG("refs", "With the digest of each definition") "}}"
#define DISCOVER_ACCEPTED                                                                          \
    OBJECT "\"properties\":{" PAGE_ACCEPTED ",\"refs\":{\"type\":[\"boolean\",\"null\"]}}}"
#define NAME_SHOWN    OBJECT "\"required\":[\"name\"],\"properties\":{" TEXT("name", "Its name") "}}"
#define NOTHING_SHOWN OBJECT "\"properties\":{}}"
#define BUILD_TOOLS   TEXTS("tools", "Ids, as discover-all-tools shows them; 1 to 100")
#define BUILD_MATCH   TEXTS("match", "Or patterns over ids, as git:*")
#define BUILD_FROM    TEXT("from", "Or a saved toolset, which match filters")
#define BUILD_REPLACE FLAG("replace", "Also one of that name")
#define BUILD_EQUIP   FLAG("autoEquip", "Equip it, too")
#define BUILD_SHARE   FLAG("share", "For all; needs scope admin")
#define BUILD_NAME    TEXT("name", "2 to 50 of a-z, 0-9, -") "," TEXT("description", "Purpose")
#define BUILD_SHOWN                                                                                \
    OBJECT "\"properties\":{" BUILD_NAME "," BUILD_TOOLS "," BUILD_MATCH "," BUILD_FROM            \
           "," BUILD_REPLACE "," BUILD_EQUIP "," BUILD_SHARE "}}"
#define BUILD_ACCEPTED                                                                             \
    OBJECT "\"properties\":{\"name\":{\"type\":[\"string\",\"null\"]},"                            \
           "\"description\":{\"type\":[\"string\",\"null\"]},"                                     \
           "\"from\":{\"type\":[\"string\",\"null\"]},"                                            \
           "\"tools\":{\"type\":[\"array\",\"null\"],\"items\":{\"type\":[\"string\",\"object\"]," \
           "\"additionalProperties\":false,\"properties\":{\"id\":{\"type\":\"string\"},"          \
           "\"namespacedName\":{\"type\":\"string\"},\"refId\":{\"type\":\"string\"}}}},"          \
           "\"match\":{\"type\":[\"array\",\"null\"],\"maxItems\":16,"                             \
           "\"items\":{\"type\":\"string\",\"maxLength\":256}},"                                   \
           "\"without\":{\"type\":[\"array\",\"null\"],\"maxItems\":100,"                          \
           "\"items\":{\"type\":\"string\",\"maxLength\":256}},"                                   \
           "\"replace\":{\"type\":[\"boolean\",\"null\"]},"                                        \
           "\"autoEquip\":{\"type\":[\"boolean\",\"null\"]},"                                      \
           "\"share\":{\"type\":[\"boolean\",\"null\"]}}}"

const hub_meta_tool HUB_SAVED_TOOLS[] = {
    {"discover-all-tools", false, "Lists the tools of all servers, enabled or not.", DISCOVER_SHOWN,
     DISCOVER_ACCEPTED, ANNOTATIONS_READ, .change = saved_discover},
    {"build-toolset", false, "Saves a selection of tools of any servers under a name.", BUILD_SHOWN,
     BUILD_ACCEPTED, ANNOTATIONS_ADD, .change = saved_build},
    {"list-saved-toolsets", false, "Lists saved toolsets.", LIST_WANTED, LIST_ACCEPTED,
     ANNOTATIONS_READ, .change = list},
    {"equip-toolset", false,
     "Shows the tools of a saved toolset, and no others. The list of tools changes.", NAME_SHOWN,
     NULL, ANNOTATIONS_ADD, .change = equip},
    {"unequip-toolset", false, "Shows the tools of enabled toolsets again.", NOTHING_SHOWN, NULL,
     ANNOTATIONS_ADD, .change = unequip},
    {"get-active-toolset", false, "Tells what is equipped, and which of its tools are there.",
     LIST_WANTED, LIST_ACCEPTED, ANNOTATIONS_READ, .look = saved_get_active},
    {"delete-toolset", false, "Deletes a saved toolset.", NAME_SHOWN, NULL, ANNOTATIONS_REMOVE,
     .change = delete_saved},
    {.name = NULL},
};
