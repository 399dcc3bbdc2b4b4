/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build-toolset (REQUIREMENTS S3.89, S2.42): find the tools that are named, as the caller sees them; ask
 * servers that were never connected when one is not known; then write the document, if nobody else has
 * written one of that name meanwhile; and equip it, if that is asked for.
 */
#include "base/limits.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/remember/remember.h"
#include "hub/saved/ask.h"
#include "hub/saved/build_internal.h"
#include "hub/saved/tools.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ARENA_BYTES = 1024 * 1024,
    SUFFIX_ROOM = 16, /* "-filtered" */
};

static const char SUFFIX[] = "-filtered"; /* of what is made of another one, and has no name */

static hub_call *call_of(const saved_building *one)
{
    return hub_call_find(one->calls, one->call, NULL);
}

static void destroy(saved_building *one)
{
    hub_arena_destroy(one->arena);
    free(one);
}

static void fail(saved_building *one, hub_err err, const char *why)
{
    hub_call *call = call_of(one);
    if (call != NULL) {
        hub_meta_reply_failure(call, err, why);
    }
    destroy(one);
}

/* ---- what is asked for ----------------------------------------------------------------------- */

static bool is_true(hub_str arguments, const char *key)
{
    return hub_json_type_of(hub_json_get(arguments, hub_str_of(key))) == HUB_JSON_TRUE;
}

static hub_err read_member(saved_building *one, const char *key, size_t most, hub_str *ret_text,
                           hub_error *reterr)
{
    hub_buf text;
    hub_buf_init(&text, most);
    hub_err err = saved_read_text(one->arguments, key, &text, reterr);
    if (err == HUB_OK) {
        err = saved_keep(one, hub_str_trim(hub_buf_str(&text)), ret_text, reterr);
    }
    hub_buf_fini(&text);
    return err;
}

/* Without a name, that of what it is made of, with a suffix. */
static hub_err name_it(saved_building *one, hub_error *reterr)
{
    if (one->saved.name.len == 0 && one->from.len > 0) {
        char name[HUB_LIMIT_SAVED_NAME_BYTES + SUFFIX_ROOM];
        size_t most = HUB_LIMIT_SAVED_NAME_BYTES - (sizeof SUFFIX - 1);
        (void)snprintf(name, sizeof name, "%.*s%s",
                       (int)(one->from.len < most ? one->from.len : most), one->from.ptr, SUFFIX);
        hub_err err = saved_keep(one, hub_str_of(name), &one->saved.name, reterr);
        if (err != HUB_OK) {
            return err;
        }
    }
    return hub_saved_check_name(one->saved.name, reterr);
}

static hub_err read_arguments(saved_building *one, const hub_call *call, hub_error *reterr)
{
    hub_err err = read_member(one, "name", 4096, &one->saved.name, reterr);
    if (err == HUB_OK) {
        err = read_member(one, "from", 4096, &one->from, reterr);
    }
    if (err == HUB_OK) {
        err = read_member(one, "description", 4096, &one->saved.description, reterr);
    }
    if (err == HUB_OK) {
        err = hub_saved_check_description(one->saved.description, reterr);
    }
    if (err == HUB_OK && one->from.len > 0) {
        err = hub_saved_check_name(one->from, reterr);
    }
    if (err == HUB_OK) {
        err = name_it(one, reterr);
    }
    one->replaces = is_true(one->arguments, "replace");
    one->equips = is_true(one->arguments, "autoEquip");
    one->is_shared = is_true(one->arguments, "share");
    if (err == HUB_OK && one->is_shared && !saved_is_admin(call)) {
        err = hub_fail(reterr, HUB_EDENIED, "share: sharing a toolset needs the scope \"admin\"");
    }
    return err;
}

/* ---- writing it ------------------------------------------------------------------------------ */

static void add_saved(const saved_building *one, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("{\"name\":"));
    hub_json_add_string(out, one->saved.name);
    hub_buf_printf(out, ",\"version\":%llu,\"savedTools\":%zu",
                   (unsigned long long)one->saved.version, one->saved.count);
}

/* What was done; and what is not in it because its server does not answer. */
static void add_message(const saved_building *one, const char *done, hub_buf *out)
{
    hub_json_add_key(out, HUB_STR("message"));
    if (one->silent.count == 0) {
        hub_json_add_string(out, hub_str_of(done));
        return;
    }
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOG_LINE_BYTES);
    hub_buf_printf(&text, "%s; servers that do not answer, so that nothing of them is in it: %s",
                   done, one->silent.text);
    hub_json_add_string(out, hub_buf_str(&text));
    hub_buf_fini(&text);
}

static void on_kept(void *ctx, bool is_lost)
{
    (void)ctx; /* it was saved, which is what was asked for first */
    (void)is_lost;
}

static void on_equipped(void *ctx, const hub_saved_outcome *outcome)
{
    saved_building *one = ctx;
    hub_call *call = call_of(one);
    if (call != NULL) {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        add_saved(one, &out);
        if (outcome->err == HUB_OK) {
            saved_add_equipped(call, outcome, &out);
            add_message(one, "saved and equipped", &out);
        } else {
            hub_json_add_key(&out, HUB_STR("equipped"));
            hub_buf_add(&out, HUB_STR("null,\"message\":"));
            hub_json_add_string(&out, hub_str_of(outcome->why));
        }
        hub_buf_add_char(&out, '}');
        hub_meta_reply(call, &out, false);
    }
    if (outcome->err == HUB_OK) {
        hub_remember_keep(outcome->audience, on_kept, NULL);
    }
    destroy(one);
}

static void on_put(void *ctx, const hub_state_result *result)
{
    saved_building *one = ctx;
    hub_call *call = call_of(one);
    hub_error why = {.text = ""};
    if (result->err == HUB_ECONFLICT) {
        fail(one, HUB_EBUSY,
             "somebody else has saved a toolset of that name just now: look at it, and try again");
    } else if (result->err != HUB_OK) {
        fail(one, result->err, result->why);
    } else if (call == NULL) {
        destroy(one);
    } else if (one->equips) {
        hub_err err = hub_saved_equip(hub_call_session(call), one->saved.name, one->meta,
                                      on_equipped, one, &why);
        if (err != HUB_OK) {
            on_equipped(one, &(hub_saved_outcome){.err = err, .why = why.text});
        }
    } else {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        add_saved(one, &out);
        add_message(one, "saved: equip-toolset shows its tools", &out);
        hub_buf_add_char(&out, '}');
        hub_meta_reply(call, &out, false);
        destroy(one);
    }
}

static void put(saved_building *one, uint64_t seen)
{
    hub_str owner = one->is_shared ? HUB_SAVED_SHARED : one->principal;
    hub_state_id id = {.kind = &HUB_SAVED_KIND, .owner = owner, .key = one->saved.name};
    hub_error why = {.text = "out of memory"};
    hub_buf document;
    hub_buf_init(&document, HUB_LIMIT_STATE_DOCUMENT_BYTES);
    hub_saved_write(&one->saved, &document);
    hub_err err = document.failed;
    if (err == HUB_ELIMIT) {
        err = hub_fail(&why, HUB_ELIMIT, "the names of the tools are too long to be saved");
    } else if (err == HUB_OK) {
        err = hub_state_put(hub_store_of(one->hub), &id, seen, hub_buf_str(&document), on_put, one,
                            NULL, &why);
    }
    hub_buf_fini(&document);
    if (err != HUB_OK) {
        fail(one, err, why.text);
    }
}

/* The record that is to be replaced, which the caller may; NULL: there is none of that name. */
static hub_err find_before(saved_building *one, const hub_saved_line *lines, size_t count,
                           const hub_saved_line **ret_line, hub_error *reterr)
{
    hub_saved_origin target = one->is_shared ? HUB_SAVED_OF_ALL : HUB_SAVED_OWN;
    const hub_saved_line *line = hub_saved_line_find(lines, count, one->saved.name);
    size_t own = 0;
    for (size_t i = 0; i < count; i++) {
        own += lines[i].origin == target;
    }
    *ret_line = NULL;
    if (line != NULL && line->origin == HUB_SAVED_FIXED) {
        return hub_fail(reterr, HUB_EEXIST,
                        "the manifest has a saved toolset \"" HUB_STR_FMT
                        "\", which is read-only: take another name",
                        HUB_STR_ARG(one->saved.name));
    }
    if (line != NULL && line->origin == target) {
        *ret_line = line;
        return one->replaces ? HUB_OK
                             : hub_fail(reterr, HUB_EEXIST,
                                        "there is a saved toolset \"" HUB_STR_FMT
                                        "\": take another name, or say replace",
                                        HUB_STR_ARG(one->saved.name));
    }
    return own < HUB_LIMIT_SAVED_PER_OWNER
               ? HUB_OK
               : hub_fail(reterr, HUB_ELIMIT, "%d saved toolsets: delete some that nobody needs",
                          HUB_LIMIT_SAVED_PER_OWNER);
}

static void on_list(void *ctx, hub_err err, const char *text, const hub_saved_line *lines,
                    size_t count)
{
    saved_building *one = ctx;
    const hub_saved_line *before = NULL;
    hub_error why = {.text = "out of memory"};
    char *now = hub_arena_alloc(one->arena, HUB_SAVED_TIME_BYTES);
    if (call_of(one) == NULL) {
        destroy(one);
        return;
    }
    if (err != HUB_OK || now == NULL) { /* who cannot keep it does not say that it is saved */
        fail(one, err != HUB_OK ? err : HUB_ENOMEM, err != HUB_OK ? text : why.text);
        return;
    }
    err = find_before(one, lines, count, &before, &why);
    if (err != HUB_OK) {
        fail(one, err, why.text);
        return;
    }
    hub_saved_now(now);
    one->saved.version = before != NULL ? before->version + 1 : 1;
    one->saved.owner = one->principal;
    one->saved.created_at = hub_str_of(now);
    if (before != NULL &&
        saved_keep(one, before->created_at, &one->saved.created_at, &why) != HUB_OK) {
        fail(one, HUB_ENOMEM, why.text);
        return;
    }
    one->saved.updated_at = hub_str_of(now);
    put(one, before != NULL ? before->record : HUB_STATE_ABSENT);
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void find_tools(saved_building *one);

static void on_asked(hub_call *call, void *ctx)
{
    saved_building *one = ctx;
    if (call == NULL) {
        destroy(one);
        return;
    }
    find_tools(one);
}

static void on_base(void *ctx, const hub_saved_found *base)
{
    saved_building *one = ctx;
    hub_call *call = call_of(one);
    hub_error why = {.text = ""};
    if (call == NULL) {
        destroy(one);
        return;
    }
    hub_err err = base->err;
    if (err == HUB_OK) {
        one->base = base->saved;
        err = saved_add_tools(one, call, &why);
        one->base = NULL;
    }
    bool is_to_ask = base->err == HUB_OK && err == HUB_ENOTFOUND && !one->has_asked;
    if (is_to_ask) {
        one->has_asked = true;
        hub_saved_ask(call, one->meta, on_asked, one);
    } else if (err != HUB_OK) {
        fail(one, err, base->err != HUB_OK ? base->why : why.text);
    } else {
        hub_saved_list(one->hub, one->principal, on_list, one);
    }
}

/* Whether what is to be found depends on all servers. */
static bool needs_all(const saved_building *one)
{
    return hub_json_count(hub_json_get(one->arguments, HUB_STR("match"))) > 0 && one->from.len == 0;
}

static void find_tools(saved_building *one)
{
    static const hub_saved_found NO_BASE = {.err = HUB_OK, .why = "", .saved = NULL};
    hub_call *call = call_of(one);
    if (call == NULL) {
        destroy(one);
    } else if (!one->has_asked && needs_all(one)) {
        one->has_asked = true;
        hub_saved_ask(call, one->meta, on_asked, one);
    } else if (one->from.len > 0) {
        hub_saved_find(one->hub, one->principal, one->from, on_base, one);
    } else {
        on_base(one, &NO_BASE);
    }
}

static hub_err fill(saved_building *one, hub_call *call, const hub_way *way, hub_error *reterr)
{
    hub_err err = saved_keep(one, way->arguments, &one->arguments, reterr);
    if (err == HUB_OK) {
        err = saved_keep(one, way->message->at[HUB_M_META], &one->meta, reterr);
    }
    if (err == HUB_OK) {
        err = saved_keep(one, hub_str_of(hub_session_who(hub_call_session(call))), &one->principal,
                         reterr);
    }
    if (err == HUB_OK) {
        one->saved.tools =
            hub_arena_array(one->arena, HUB_LIMIT_SAVED_TOOLS_BUILT, sizeof *one->saved.tools);
        err = one->saved.tools != NULL ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    return err == HUB_OK ? read_arguments(one, call, reterr) : err;
}

void saved_build(hub_call *call, const hub_way *way)
{
    hub_error why = {.text = ""};
    saved_building *one = calloc(1, sizeof *one);
    hub_arena *arena =
        hub_arena_create(ARENA_BYTES + way->arguments.len + way->message->at[HUB_M_META].len);
    if (one == NULL || arena == NULL) {
        free(one);
        hub_arena_destroy(arena);
        hub_meta_reply_failure(call, HUB_ENOMEM, "out of memory");
        return;
    }
    one->hub = hub_session_hub(hub_call_session(call));
    one->calls = hub_call_table_of(call);
    one->call = hub_call_id(call);
    one->arena = arena;
    hub_err err = fill(one, call, way, &why);
    if (err != HUB_OK) {
        fail(one, err, why.text);
        return;
    }
    find_tools(one);
}
