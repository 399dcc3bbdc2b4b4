/* SPDX-License-Identifier: Apache-2.0 */
/*
 * build-toolset (REQUIREMENTS S3.89, S2.42): find the tools that are named, as the caller sees them; ask
 * servers that were never connected when one is not known; then write the document, if nobody else has
 * written one of that name meanwhile; and equip it, if that is asked for.
 */
#include "base/arena.h"
#include "base/limits.h"
#include "base/name_list.h"
#include "hub/kernel/call.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/session.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/remember/remember.h"
#include "hub/saved/ask.h"
#include "hub/saved/tools.h"
#include "tools/definition_digest.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    ARENA_BYTES = 1024 * 1024,
    SUFFIX_ROOM = 16, /* "-filtered" */
};

static const char SUFFIX[] = "-filtered"; /* of what is made of another one, and has no name */

typedef struct build {
    hub_orchestrator *hub;
    const hub_call_table *calls;
    uint64_t call; /* it may be gone meanwhile: then nothing is saved */
    hub_arena *arena;
    hub_str arguments;
    hub_str meta;
    hub_str principal;
    hub_str from;
    bool replaces;
    bool equips;
    bool is_shared;
    bool has_asked;        /* the servers that were never connected */
    const hub_saved *base; /* what `from` names, while it is there */
    hub_saved saved;       /* what is being made */
} build;

static hub_call *call_of(const build *one)
{
    return hub_call_find(one->calls, one->call, NULL);
}

static void destroy(build *one)
{
    hub_arena_destroy(one->arena);
    free(one);
}

static void fail(build *one, hub_err err, const char *why)
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

static hub_err keep(build *one, hub_str text, hub_str *ret_text, hub_error *reterr)
{
    char *copy = hub_arena_strdup(one->arena, text);
    *ret_text = (hub_str){.ptr = copy, .len = copy != NULL ? text.len : 0};
    return copy != NULL ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

static hub_err read_member(build *one, const char *key, size_t most, hub_str *ret_text,
                           hub_error *reterr)
{
    hub_buf text;
    hub_buf_init(&text, most);
    hub_err err = saved_read_text(one->arguments, key, &text, reterr);
    if (err == HUB_OK) {
        err = keep(one, hub_str_trim(hub_buf_str(&text)), ret_text, reterr);
    }
    hub_buf_fini(&text);
    return err;
}

/* Without a name, that of what it is made of, with a suffix. */
static hub_err name_it(build *one, hub_error *reterr)
{
    if (one->saved.name.len == 0 && one->from.len > 0) {
        char name[HUB_LIMIT_SAVED_NAME_BYTES + SUFFIX_ROOM];
        size_t most = HUB_LIMIT_SAVED_NAME_BYTES - (sizeof SUFFIX - 1);
        (void)snprintf(name, sizeof name, "%.*s%s",
                       (int)(one->from.len < most ? one->from.len : most), one->from.ptr, SUFFIX);
        hub_err err = keep(one, hub_str_of(name), &one->saved.name, reterr);
        if (err != HUB_OK) {
            return err;
        }
    }
    return hub_saved_check_name(one->saved.name, reterr);
}

static hub_err read_arguments(build *one, const hub_call *call, hub_error *reterr)
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

/* ---- finding tools --------------------------------------------------------------------------- */

/* A tool that the caller may have: its toolset's section, and its entry there. */
typedef struct found {
    hub_section *section;
    const hub_entry *entry;
} found;

static bool is_for(hub_sight sight, const hub_shown_part *part, size_t at)
{
    return hub_mask_has(part->bits, at) && hub_sight_has(sight, part->section->entries[at].item);
}

static bool get_part(hub_sight sight, const hub_orchestrator *hub, hub_str toolset,
                     hub_shown_part *ret_part)
{
    return hub_sight_find_toolset(sight, hub, toolset) != NULL &&
           hub_exposure_tools_of(sight.exposure, toolset, ret_part);
}

static bool find_own(hub_sight sight, const hub_orchestrator *hub, hub_str toolset, hub_str tool,
                     found *ret_found)
{
    hub_shown_part part = {.section = NULL};
    if (!get_part(sight, hub, toolset, &part)) {
        return false;
    }
    size_t at = hub_section_find_own(part.section, tool);
    if (at == part.section->count || !is_for(sight, &part, at)) {
        return false;
    }
    *ret_found = (found){.section = part.section, .entry = &part.section->entries[at]};
    return true;
}

/* By the name that clients know it by, or by the digest of its definition: looks at all tools. */
static bool find_any(hub_sight sight, const hub_orchestrator *hub, hub_str name,
                     const unsigned char *digest, found *ret_found)
{
    for (size_t i = 0; i < hub_toolset_total(hub); i++) {
        hub_shown_part part = {.section = NULL};
        if (!get_part(sight, hub, hub_str_of(hub_toolset_key(hub_toolset_at(hub, i))), &part)) {
            continue;
        }
        for (size_t at = 0; at < part.section->count; at++) {
            const hub_entry *entry = &part.section->entries[at];
            if (!is_for(sight, &part, at)) {
                continue;
            }
            const unsigned char *own =
                digest != NULL ? hub_catalog_digest(part.section->catalog, entry->item) : NULL;
            if (digest != NULL ? own != NULL && memcmp(own, digest, HUB_DIGEST_BYTES) == 0
                               : hub_str_eq(entry->exposed, name)) {
                *ret_found = (found){.section = part.section, .entry = entry};
                return true;
            }
        }
    }
    return false;
}

/* A canonical id, a name as clients know it, or "toolset.tool". */
static bool find_named(hub_sight sight, const hub_orchestrator *hub, hub_str name, found *ret_found)
{
    hub_str toolset;
    hub_str tool;
    return (hub_saved_split(name, true, &toolset, &tool, NULL) == HUB_OK &&
            find_own(sight, hub, toolset, tool, ret_found)) ||
           find_any(sight, hub, name, NULL, ret_found);
}

static bool is_there(const build *one, const found *tool)
{
    hub_str key = hub_str_of(hub_toolset_key(tool->entry->owner));
    for (size_t i = 0; i < one->saved.count; i++) {
        if (hub_str_eq(one->saved.tools[i].tool, tool->entry->item->name) &&
            hub_str_eq(one->saved.tools[i].toolset, key)) {
            return true;
        }
    }
    return false;
}

static hub_err add_selected(build *one, const hub_selected *tool, hub_error *reterr)
{
    if (one->saved.count == HUB_LIMIT_SAVED_TOOLS_BUILT) {
        return hub_fail(reterr, HUB_ELIMIT, "more than %d tools: a toolset is to be a few",
                        HUB_LIMIT_SAVED_TOOLS_BUILT);
    }
    hub_selected *own = &one->saved.tools[one->saved.count];
    *own = *tool;
    hub_err err = keep(one, tool->toolset, &own->toolset, reterr);
    if (err == HUB_OK) {
        err = keep(one, tool->tool, &own->tool, reterr);
    }
    one->saved.count += err == HUB_OK;
    return err;
}

static hub_err add_found(build *one, const found *tool, hub_error *reterr)
{
    const unsigned char *digest = hub_catalog_digest(tool->section->catalog, tool->entry->item);
    hub_selected selected = {.toolset = hub_str_of(hub_toolset_key(tool->entry->owner)),
                             .tool = tool->entry->item->name,
                             .has_digest = true};
    if (digest == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    memcpy(selected.digest, digest, HUB_DIGEST_BYTES);
    return is_there(one, tool) ? HUB_OK : add_selected(one, &selected, reterr);
}

/* One entry of `tools`; `unknown` has the name of what is not found. */
static hub_err add_listed(build *one, hub_sight sight, hub_str raw, hub_name_list *unknown,
                          hub_error *reterr)
{
    bool is_object = hub_json_type_of(raw) == HUB_JSON_OBJECT;
    hub_str id = is_object ? hub_json_get(raw, HUB_STR("id")) : raw;
    hub_str ref = is_object ? hub_json_get(raw, HUB_STR("refId")) : HUB_STR_EMPTY;
    unsigned char digest[HUB_DIGEST_BYTES];
    found tool;
    hub_buf text;
    if (is_object && id.len == 0) {
        id = hub_json_get(raw, HUB_STR("namespacedName"));
    }
    bool is_ref = id.len == 0 && ref.len > 0;
    hub_buf_init(&text, raw.len + 1);
    hub_err err = hub_json_decode(is_ref ? ref : id, &text) == HUB_OK
                      ? HUB_OK
                      : hub_fail(reterr, HUB_EINVAL, "tools: an entry without an id");
    if (err == HUB_OK) {
        hub_str name = hub_str_trim(hub_buf_str(&text));
        bool is_found = is_ref ? hub_saved_read_digest(name, digest) &&
                                     find_any(sight, one->hub, HUB_STR_EMPTY, digest, &tool)
                               : find_named(sight, one->hub, name, &tool);
        if (is_found) {
            err = add_found(one, &tool, reterr);
        } else {
            hub_name_list_add(unknown, name);
        }
    }
    hub_buf_fini(&text);
    return err;
}

/* Whether an id fits one of the patterns of `match`; all do when there is none. */
static bool is_wanted(const build *one, hub_str id)
{
    hub_str patterns = hub_json_get(one->arguments, HUB_STR("match"));
    hub_json_iter it = hub_json_iterate(patterns);
    hub_str key;
    hub_str raw;
    bool is_any = false;
    bool fits = false;
    while (!fits && hub_json_next(&it, &key, &raw)) {
        hub_str pattern;
        hub_buf text;
        hub_buf_init(&text, raw.len + 1);
        is_any = true;
        if (hub_json_plain(raw, &pattern)) {
            fits = hub_str_glob(pattern, id);
        } else if (hub_json_decode(raw, &text) == HUB_OK) {
            fits = hub_str_glob(hub_buf_str(&text), id);
        }
        hub_buf_fini(&text);
    }
    return fits || !is_any;
}

/* All tools that the patterns fit. */
static hub_err add_matching(build *one, hub_sight sight, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < hub_toolset_total(one->hub); i++) {
        hub_str key = hub_str_of(hub_toolset_key(hub_toolset_at(one->hub, i)));
        hub_shown_part part = {.section = NULL};
        if (!get_part(sight, one->hub, key, &part)) {
            continue;
        }
        for (size_t at = 0; err == HUB_OK && at < part.section->count; at++) {
            found tool = {.section = part.section, .entry = &part.section->entries[at]};
            if (is_for(sight, &part, at) && is_wanted(one, tool.entry->canonical)) {
                err = add_found(one, &tool, reterr);
            }
        }
    }
    return err;
}

/* Those of another saved toolset that the patterns fit, as they were saved. */
static hub_err add_base(build *one, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (size_t i = 0; err == HUB_OK && i < one->base->count; i++) {
        const hub_selected *tool = &one->base->tools[i];
        hub_buf id;
        hub_buf_init(&id, SIZE_MAX / 4);
        hub_buf_add(&id, tool->toolset);
        hub_buf_add_char(&id, ':');
        hub_buf_add(&id, tool->tool);
        if (is_wanted(one, hub_buf_str(&id))) {
            err = add_selected(one, tool, reterr);
        }
        hub_buf_fini(&id);
    }
    return err;
}

/* Find all tools. HUB_ENOTFOUND: some are not known; the text names them. */
static hub_err add_tools(build *one, const hub_call *call, hub_error *reterr)
{
    hub_sight sight = hub_call_sight(call);
    hub_str listed = hub_json_get(one->arguments, HUB_STR("tools"));
    hub_json_iter it = hub_json_iterate(listed);
    hub_name_list unknown = {.count = 0};
    hub_str key;
    hub_str raw;
    hub_err err = HUB_OK;
    one->saved.count = 0;
    if (hub_json_count(listed) > HUB_LIMIT_SAVED_TOOLS_BUILT) {
        return hub_fail(reterr, HUB_ELIMIT, "tools: more than %d of them",
                        HUB_LIMIT_SAVED_TOOLS_BUILT);
    }
    if (one->base != NULL) {
        err = add_base(one, reterr);
    } else if (hub_json_count(hub_json_get(one->arguments, HUB_STR("match"))) > 0) {
        err = add_matching(one, sight, reterr);
    }
    while (err == HUB_OK && hub_json_next(&it, &key, &raw)) {
        err = add_listed(one, sight, raw, &unknown, reterr);
    }
    if (err == HUB_OK && unknown.count > 0) {
        err = hub_fail(reterr, HUB_ENOTFOUND,
                       "unknown tools: %s; discover-all-tools shows what there is", unknown.text);
    }
    if (err == HUB_OK && one->saved.count == 0) {
        err = hub_fail(reterr, HUB_EINVAL,
                       "no tools: name 1 to %d of them in `tools`, or fit some "
                       "with `match`",
                       HUB_LIMIT_SAVED_TOOLS_BUILT);
    }
    return err;
}

/* ---- writing it ------------------------------------------------------------------------------ */

static void add_saved(const build *one, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("{\"name\":"));
    hub_json_add_string(out, one->saved.name);
    hub_buf_printf(out, ",\"version\":%llu,\"savedTools\":%zu",
                   (unsigned long long)one->saved.version, one->saved.count);
}

static void on_kept(void *ctx, bool is_lost)
{
    (void)ctx; /* it was saved, which is what was asked for first */
    (void)is_lost;
}

static void on_equipped(void *ctx, const hub_saved_outcome *outcome)
{
    build *one = ctx;
    hub_call *call = call_of(one);
    if (call != NULL) {
        hub_buf out;
        hub_buf_init(&out, HUB_LIMIT_CLIENT_MESSAGE_BYTES);
        add_saved(one, &out);
        if (outcome->err == HUB_OK) {
            saved_add_equipped(call, outcome, &out);
            hub_buf_add(&out, HUB_STR(",\"message\":\"saved and equipped\"}"));
        } else {
            hub_json_add_key(&out, HUB_STR("equipped"));
            hub_buf_add(&out, HUB_STR("null,\"message\":"));
            hub_json_add_string(&out, hub_str_of(outcome->why));
            hub_buf_add_char(&out, '}');
        }
        hub_meta_reply(call, &out, false);
    }
    if (outcome->err == HUB_OK) {
        hub_remember_keep(outcome->audience, on_kept, NULL);
    }
    destroy(one);
}

static void on_put(void *ctx, const hub_state_result *result)
{
    build *one = ctx;
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
        hub_buf_add(&out, HUB_STR(",\"message\":\"saved: equip-toolset shows its tools\"}"));
        hub_meta_reply(call, &out, false);
        destroy(one);
    }
}

static void put(build *one, uint64_t seen)
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
static hub_err find_before(build *one, const hub_saved_line *lines, size_t count,
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
    build *one = ctx;
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
    if (before != NULL && keep(one, before->created_at, &one->saved.created_at, &why) != HUB_OK) {
        fail(one, HUB_ENOMEM, why.text);
        return;
    }
    one->saved.updated_at = hub_str_of(now);
    put(one, before != NULL ? before->record : HUB_STATE_ABSENT);
}

/* ---- the steps ------------------------------------------------------------------------------- */

static void find_tools(build *one);

static void on_asked(hub_call *call, void *ctx)
{
    build *one = ctx;
    if (call == NULL) {
        destroy(one);
        return;
    }
    find_tools(one);
}

static void on_base(void *ctx, const hub_saved_found *base)
{
    build *one = ctx;
    hub_call *call = call_of(one);
    hub_error why = {.text = ""};
    if (call == NULL) {
        destroy(one);
        return;
    }
    hub_err err = base->err;
    if (err == HUB_OK) {
        one->base = base->saved;
        err = add_tools(one, call, &why);
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
static bool needs_all(const build *one)
{
    return hub_json_count(hub_json_get(one->arguments, HUB_STR("match"))) > 0 && one->from.len == 0;
}

static void find_tools(build *one)
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

static hub_err fill(build *one, hub_call *call, const hub_way *way, hub_error *reterr)
{
    hub_err err = keep(one, way->arguments, &one->arguments, reterr);
    if (err == HUB_OK) {
        err = keep(one, way->message->at[HUB_M_META], &one->meta, reterr);
    }
    if (err == HUB_OK) {
        err =
            keep(one, hub_str_of(hub_session_who(hub_call_session(call))), &one->principal, reterr);
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
    build *one = calloc(1, sizeof *one);
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
