/* SPDX-License-Identifier: Apache-2.0 */
#include "base/limits.h"
#include "base/name_list.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/sight.h"
#include "hub/kernel/toolset.h"
#include "hub/saved/ask.h"
#include "hub/saved/build_internal.h"
#include "tools/definition_digest.h"
#include "tools/exposure.h"

#include <stdio.h>

hub_err saved_keep(saved_building *one, hub_str text, hub_str *ret_text, hub_error *reterr)
{
    char *copy = hub_arena_strdup(one->arena, text);
    *ret_text = (hub_str){.ptr = copy, .len = copy != NULL ? text.len : 0};
    return copy != NULL ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

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

static bool is_there(const saved_building *one, const found *tool)
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

static hub_err add_selected(saved_building *one, const hub_selected *tool, hub_error *reterr)
{
    if (one->saved.count == HUB_LIMIT_SAVED_TOOLS_BUILT) {
        return hub_fail(reterr, HUB_ELIMIT, "more than %d tools: a toolset is to be a few",
                        HUB_LIMIT_SAVED_TOOLS_BUILT);
    }
    hub_selected *own = &one->saved.tools[one->saved.count];
    *own = *tool;
    hub_err err = saved_keep(one, tool->toolset, &own->toolset, reterr);
    if (err == HUB_OK) {
        err = saved_keep(one, tool->tool, &own->tool, reterr);
    }
    one->saved.count += err == HUB_OK;
    return err;
}

static hub_err add_found(saved_building *one, const found *tool, hub_error *reterr)
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

/* The name or digest that an entry of `tools` has. */
static hub_err read_entry(hub_str raw, hub_buf *text, hub_str *ret_name, bool *ret_is_ref,
                          hub_error *reterr)
{
    bool is_object = hub_json_type_of(raw) == HUB_JSON_OBJECT;
    hub_str id = is_object ? hub_json_get(raw, HUB_STR("id")) : raw;
    hub_str ref = is_object ? hub_json_get(raw, HUB_STR("refId")) : HUB_STR_EMPTY;
    if (is_object && id.len == 0) {
        id = hub_json_get(raw, HUB_STR("namespacedName"));
    }
    *ret_is_ref = id.len == 0 && ref.len > 0;
    hub_err err = hub_json_decode(*ret_is_ref ? ref : id, text);
    *ret_name = hub_str_trim(hub_buf_str(text));
    return err == HUB_OK && ret_name->len > 0
               ? HUB_OK
               : hub_fail(reterr, HUB_EINVAL, "tools: an entry without an id");
}

/* One entry of `tools`; `unknown` has the name of what is not found. */
static hub_err add_listed(saved_building *one, hub_sight sight, hub_str raw, hub_name_list *unknown,
                          hub_error *reterr)
{
    unsigned char digest[HUB_DIGEST_BYTES];
    found tool;
    hub_str name;
    bool is_ref;
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    hub_err err = read_entry(raw, &text, &name, &is_ref, reterr);
    if (err == HUB_OK) {
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

/* Whether an id fits one of the patterns of a member. */
static bool fits_any(hub_str patterns, hub_str id)
{
    hub_json_iter it = hub_json_iterate(patterns);
    hub_str key;
    hub_str raw;
    bool fits = false;
    while (!fits && hub_json_next(&it, &key, &raw)) {
        hub_str pattern;
        hub_buf text;
        hub_buf_init(&text, raw.len + 1);
        if (hub_json_plain(raw, &pattern)) {
            fits = hub_str_glob(pattern, id);
        } else if (hub_json_decode(raw, &text) == HUB_OK) {
            fits = hub_str_glob(hub_buf_str(&text), id);
        }
        hub_buf_fini(&text);
    }
    return fits;
}

/* Whether an id fits a pattern of `match`, as all do when there is none, and none of `without`. */
static bool is_wanted(const saved_building *one, hub_str id)
{
    hub_str match = hub_json_get(one->arguments, HUB_STR("match"));
    hub_str without = hub_json_get(one->arguments, HUB_STR("without"));
    return (hub_json_count(match) == 0 || fits_any(match, id)) && !fits_any(without, id);
}

/* All tools that the patterns fit. */
static hub_err add_matching(saved_building *one, hub_sight sight, hub_error *reterr)
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
static hub_err add_base(saved_building *one, hub_error *reterr)
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

/* ---- servers that do not answer -------------------------------------------------------------- */

/* Whether one of the ids, or patterns of ids, is about tools of a toolset. */
static bool is_about(hub_str list, hub_str key)
{
    hub_json_iter it = hub_json_iterate(list);
    hub_str member;
    hub_str raw;
    bool is = false;
    while (!is && hub_json_next(&it, &member, &raw)) {
        hub_str id;
        hub_str toolset;
        hub_str tool;
        bool is_ref;
        hub_buf text;
        hub_buf_init(&text, raw.len + 1);
        if (read_entry(raw, &text, &id, &is_ref, NULL) == HUB_OK && !is_ref) {
            size_t colon = hub_str_find(id, HUB_STR(":"));
            bool is_pattern = hub_saved_split(id, true, &toolset, &tool, NULL) != HUB_OK;
            is = hub_str_glob(!is_pattern         ? toolset
                              : colon == SIZE_MAX ? id
                                                  : (hub_str){.ptr = id.ptr, .len = colon},
                              key);
        }
        hub_buf_fini(&text);
    }
    return is;
}

/* Whether it is not known what a toolset has. One that was asked, and is not used any more, has no list of
 * its own, but what it has said is still shown. */
static bool is_unknown(const saved_building *one, hub_sight sight, const hub_toolset *toolset)
{
    hub_shown_part part = {.section = NULL};
    return hub_saved_is_silent(sight, toolset) &&
           !(get_part(sight, one->hub, hub_str_of(hub_toolset_key(toolset)), &part) &&
             part.section->count > 0);
}

static void find_silent(saved_building *one, hub_sight sight)
{
    hub_str match = hub_json_get(one->arguments, HUB_STR("match"));
    hub_str tools = hub_json_get(one->arguments, HUB_STR("tools"));
    one->silent = (hub_name_list){.count = 0};
    for (size_t i = 0; i < hub_toolset_total(one->hub); i++) {
        const hub_toolset *toolset = hub_toolset_at(one->hub, i);
        hub_str key = hub_str_of(hub_toolset_key(toolset));
        if (is_unknown(one, sight, toolset) &&
            ((one->base == NULL && is_about(match, key)) || is_about(tools, key))) {
            hub_name_list_add(&one->silent, key);
        }
    }
}

/* With what is not found, who was asked and did not answer. */
static hub_err fail_for(const saved_building *one, hub_err err, const char *why, const char *names,
                        const char *help, hub_error *reterr)
{
    return one->silent.count == 0
               ? hub_fail(reterr, err, "%s%s; %s", why, names, help)
               : hub_fail(reterr, err, "%s%s (servers that do not answer: %s); %s", why, names,
                          one->silent.text, help);
}

hub_err saved_add_tools(saved_building *one, const hub_call *call, hub_error *reterr)
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
    find_silent(one, sight);
    if (err == HUB_OK && unknown.count > 0) {
        err = fail_for(one, HUB_ENOTFOUND, "unknown tools: ", unknown.text,
                       "discover-all-tools shows what there is", reterr);
    }
    if (err == HUB_OK && one->saved.count == 0) {
        char help[HUB_LIMIT_NAME_LIST_BYTES];
        (void)snprintf(help, sizeof help,
                       "name 1 to %d of them in `tools`, or fit some with `match`",
                       HUB_LIMIT_SAVED_TOOLS_BUILT);
        err = fail_for(one, HUB_EINVAL, "no tools", "", help, reterr);
    }
    return err;
}
