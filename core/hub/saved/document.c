/* SPDX-License-Identifier: Apache-2.0 */
#include "hub/saved/document.h"

#include "base/arena.h"
#include "base/clock.h"
#include "base/limits.h"
#include "tools/naming.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>

enum {
    NAME_SHOWN = 60,               /* bytes of a wrong name that is quoted */
    ARENA_BYTES = 2 * 1024 * 1024, /* of a document, decoded */
};

static hub_str shorten(hub_str text)
{
    return (hub_str){.ptr = text.ptr, .len = text.len < NAME_SHOWN ? text.len : NAME_SHOWN};
}

hub_err hub_saved_check_name(hub_str name, hub_error *reterr)
{
    bool good = name.len >= HUB_LIMIT_SAVED_NAME_LEAST && name.len <= HUB_LIMIT_SAVED_NAME_BYTES;
    for (size_t i = 0; good && i < name.len; i++) {
        char c = name.ptr[i];
        good = (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '-';
    }
    return good ? HUB_OK
                : hub_fail(reterr, HUB_EINVAL,
                           "\"" HUB_STR_FMT "\" cannot be the name of a saved toolset: use 2 to 50 "
                           "of a-z, 0-9 and \"-\"",
                           HUB_STR_ARG(shorten(name)));
}

hub_err hub_saved_check_description(hub_str description, hub_error *reterr)
{
    size_t chars = 0;
    for (size_t i = 0; i < description.len; i++) {
        chars += ((unsigned char)description.ptr[i] & 0xc0u) != 0x80u;
    }
    return chars <= HUB_LIMIT_SAVED_DESCRIPTION_CHARS
               ? HUB_OK
               : hub_fail(reterr, HUB_EINVAL,
                          "the description has %zu characters; at most %d are allowed", chars,
                          HUB_LIMIT_SAVED_DESCRIPTION_CHARS);
}

hub_err hub_saved_split(hub_str id, bool is_namespaced, hub_str *ret_toolset, hub_str *ret_tool,
                        hub_error *reterr)
{
    size_t at = hub_str_find(id, HUB_STR(":"));
    if (at == SIZE_MAX && is_namespaced) {
        at = hub_str_find(id, HUB_STR("."));
    }
    if (at != SIZE_MAX && at + 1 < id.len && id.len - at - 1 <= HUB_LIMIT_TOOL_NAME_BYTES) {
        hub_str toolset = {.ptr = id.ptr, .len = at};
        if (hub_naming_check_key(toolset, NULL) == HUB_OK) {
            *ret_toolset = toolset;
            *ret_tool = hub_str_from(id, at + 1);
            return HUB_OK;
        }
    }
    return hub_fail(reterr, HUB_EINVAL,
                    "\"" HUB_STR_FMT "\" is not the id of a tool: wanted TOOLSET:TOOL",
                    HUB_STR_ARG(shorten(id)));
}

bool hub_saved_read_digest(hub_str hex, unsigned char ret_digest[HUB_DIGEST_BYTES])
{
    bool good = hex.len == 2 * (size_t)HUB_DIGEST_BYTES;
    for (size_t i = 0; good && i < HUB_DIGEST_BYTES; i++) {
        unsigned value = 0;
        for (size_t half = 0; half < 2; half++) {
            char c = hex.ptr[2 * i + half];
            unsigned digit = c >= '0' && c <= '9'   ? (unsigned)(c - '0')
                             : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a') + 10
                             : c >= 'A' && c <= 'F' ? (unsigned)(c - 'A') + 10
                                                    : 16;
            good = good && digit < 16;
            value = value << 4 | digit;
        }
        ret_digest[i] = (unsigned char)value;
    }
    return good;
}

/* ---- reading --------------------------------------------------------------------------------- */

static hub_err fail_memory(const hub_saved *saved, hub_error *reterr)
{
    return hub_arena_failed(saved->arena) == HUB_ELIMIT
               ? hub_fail(reterr, HUB_ELIMIT, "the saved toolset is too large")
               : hub_fail(reterr, HUB_ENOMEM, "out of memory");
}

/* A text member, decoded; one that is absent, or null, is empty. */
static hub_err read_text(hub_saved *saved, hub_str object, const char *key, hub_str *ret_text,
                         hub_error *reterr)
{
    hub_str raw = hub_json_get(object, hub_str_of(key));
    hub_json_type type = hub_json_type_of(raw);
    *ret_text = HUB_STR_EMPTY;
    if (type == HUB_JSON_NONE || type == HUB_JSON_NULL) {
        return HUB_OK;
    }
    if (type != HUB_JSON_STRING) {
        return hub_fail(reterr, HUB_EINVAL, "%s: wanted a text", key);
    }
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    char *copy = hub_json_decode(raw, &text) == HUB_OK
                     ? hub_arena_strdup(saved->arena, hub_buf_str(&text))
                     : NULL;
    *ret_text = (hub_str){.ptr = copy, .len = copy != NULL ? text.len : 0};
    hub_buf_fini(&text);
    return copy != NULL ? HUB_OK : fail_memory(saved, reterr);
}

static hub_err read_tool(hub_saved *saved, hub_str raw, hub_selected *tool, hub_error *reterr)
{
    bool is_object = hub_json_type_of(raw) == HUB_JSON_OBJECT;
    bool is_namespaced = false;
    hub_str id = HUB_STR_EMPTY;
    hub_str hex = HUB_STR_EMPTY;
    hub_buf text;
    hub_err err = HUB_OK;
    if (is_object) {
        is_namespaced = hub_json_get(raw, HUB_STR("id")).len == 0;
        err = read_text(saved, raw, is_namespaced ? "namespacedName" : "id", &id, reterr);
        if (err == HUB_OK && !is_namespaced) {
            err = read_text(saved, raw, "digest", &hex, reterr);
        }
    } else {
        hub_buf_init(&text, raw.len + 1);
        if (hub_json_decode(raw, &text) == HUB_OK) {
            id.ptr = hub_arena_strdup(saved->arena, hub_buf_str(&text));
            id.len = id.ptr != NULL ? text.len : 0;
            err = id.ptr != NULL ? HUB_OK : fail_memory(saved, reterr);
        }
        hub_buf_fini(&text);
    }
    if (err == HUB_OK) {
        err = hub_saved_split(id, is_namespaced, &tool->toolset, &tool->tool, reterr);
    }
    tool->has_digest = hex.len > 0;
    if (err == HUB_OK && hex.len > 0 && !hub_saved_read_digest(hex, tool->digest)) {
        err = hub_fail(reterr, HUB_EINVAL, "digest: wanted 64 hexadecimal digits");
    }
    return err;
}

static hub_err read_tools(hub_saved *saved, hub_str raw, hub_error *reterr)
{
    size_t count = hub_json_count(raw);
    if (hub_json_type_of(raw) != HUB_JSON_ARRAY || count == 0) {
        return hub_fail(reterr, HUB_EINVAL, "tools: wanted a list of at least one tool");
    }
    if (count > HUB_LIMIT_SAVED_TOOLS) {
        return hub_fail(reterr, HUB_ELIMIT, "tools: %zu of them; at most %d are allowed", count,
                        HUB_LIMIT_SAVED_TOOLS);
    }
    saved->tools = hub_arena_array(saved->arena, count, sizeof *saved->tools);
    if (saved->tools == NULL) {
        return fail_memory(saved, reterr);
    }
    hub_json_iter it = hub_json_iterate(raw);
    hub_str key;
    hub_str value;
    for (size_t at = 0; hub_json_next(&it, &key, &value); at++) {
        hub_selected tool = {.has_digest = false};
        hub_err err = read_tool(saved, value, &tool, reterr);
        if (err != HUB_OK) {
            hub_error_prefix(reterr, "tools[%zu]", at);
            return err;
        }
        saved->tools[saved->count++] = tool; /* of one that is there twice, the first counts */
    }
    return HUB_OK;
}

static hub_err read_members(hub_saved *saved, hub_str object, hub_error *reterr)
{
    hub_err err = read_text(saved, object, "name", &saved->name, reterr);
    if (err == HUB_OK) {
        err = read_text(saved, object, "description", &saved->description, reterr);
    }
    if (err == HUB_OK) {
        err = hub_saved_check_description(saved->description, reterr);
    }
    if (err == HUB_OK) {
        err = read_text(saved, object, "owner", &saved->owner, reterr);
    }
    if (err == HUB_OK) {
        err = read_text(saved, object, "createdAt", &saved->created_at, reterr);
    }
    if (err == HUB_OK) {
        err = read_text(saved, object, "updatedAt", &saved->updated_at, reterr);
    }
    if (!hub_json_to_u64(hub_json_get(object, HUB_STR("version")), &saved->version)) {
        saved->version = 1; /* HyperTool's is a text */
    }
    return err == HUB_OK ? read_tools(saved, hub_json_get(object, HUB_STR("tools")), reterr) : err;
}

static hub_err read_all(hub_saved *saved, hub_str name, hub_str json, hub_error *reterr)
{
    hub_str object;
    hub_err err = hub_json_check(json, &object, reterr);
    if (err == HUB_OK && hub_json_type_of(object) != HUB_JSON_OBJECT) {
        err = hub_fail(reterr, HUB_EPARSE, "wanted a JSON object");
    }
    if (err == HUB_OK) {
        err = read_members(saved, object, reterr);
    }
    if (err == HUB_OK && name.len > 0 && !hub_str_eq(saved->name, name)) {
        char *copy = hub_arena_strdup(saved->arena, name);
        saved->name = (hub_str){.ptr = copy, .len = copy != NULL ? name.len : 0};
        err = copy != NULL ? HUB_OK : fail_memory(saved, reterr);
    }
    return err == HUB_OK ? hub_saved_check_name(saved->name, reterr) : err;
}

hub_err hub_saved_read(hub_str name, hub_str json, hub_saved **ret_saved, hub_error *reterr)
{
    hub_arena *arena = hub_arena_create(ARENA_BYTES);
    hub_saved *saved = arena != NULL ? hub_arena_alloc(arena, sizeof *saved) : NULL;
    if (saved == NULL) {
        hub_arena_destroy(arena);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    saved->arena = arena;
    hub_err err = read_all(saved, name, json, reterr);
    if (err != HUB_OK) {
        hub_saved_destroy(saved);
        return err;
    }
    *ret_saved = saved;
    return HUB_OK;
}

void hub_saved_destroy(hub_saved *saved)
{
    if (saved != NULL) {
        hub_arena_destroy(saved->arena);
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

static void add_text(hub_buf *out, hub_str key, hub_str text)
{
    if (text.len > 0) {
        hub_json_add_key(out, key);
        hub_json_add_string(out, text);
    }
}

static void add_tool(const hub_selected *tool, hub_buf *out)
{
    hub_buf id;
    hub_buf_init(&id, SIZE_MAX / 4);
    hub_buf_add(&id, tool->toolset);
    hub_buf_add_char(&id, ':');
    hub_buf_add(&id, tool->tool);
    hub_json_add_comma(out);
    hub_buf_add(out, HUB_STR("{\"id\":"));
    hub_json_add_string(out, hub_buf_str(&id));
    if (tool->has_digest) {
        char hex[HUB_DIGEST_HEX_BYTES];
        hub_digest_hex(tool->digest, hex);
        hub_buf_printf(out, ",\"digest\":\"%s\"", hex);
    }
    hub_buf_add_char(out, '}');
    if (!hub_buf_ok(&id)) {
        out->failed = id.failed;
    }
    hub_buf_fini(&id);
}

void hub_saved_write(const hub_saved *saved, hub_buf *out)
{
    hub_buf_add_char(out, '{');
    add_text(out, HUB_STR("name"), saved->name);
    add_text(out, HUB_STR("description"), saved->description);
    hub_json_add_key(out, HUB_STR("version"));
    hub_buf_add_u64(out, saved->version);
    add_text(out, HUB_STR("createdAt"), saved->created_at);
    add_text(out, HUB_STR("updatedAt"), saved->updated_at);
    add_text(out, HUB_STR("owner"), saved->owner);
    hub_buf_add(out, HUB_STR(",\"tools\":["));
    for (size_t i = 0; i < saved->count; i++) {
        add_tool(&saved->tools[i], out);
    }
    hub_buf_add(out, HUB_STR("]}"));
}

void hub_saved_now(char ret_text[HUB_SAVED_TIME_BYTES])
{
    char text[HUB_CLOCK_TEXT_BYTES];
    (void)snprintf(ret_text, HUB_SAVED_TIME_BYTES, "%.19sZ", /* fits: nobody's clock is in 10000 */
                   hub_clock_text(hub_clock_wall_ms() / 1000, text));
}

hub_err hub_saved_select(const hub_saved *saved, hub_selection **ret_selection)
{
    return hub_selection_create(saved->tools, saved->count, ret_selection);
}
