/* SPDX-License-Identifier: Apache-2.0 */
#include "config/lock_file.h"

#include "base/digest.h"
#include "base/encoding.h"
#include "base/limits.h"
#include "config/file.h"
#include "wire/json.h"

#include <stdlib.h>

#define DIGEST_PREFIX "sha256:"

/* What is being read, for messages. */
typedef struct lock_reader {
    const char *path;
    hub_arena *arena;
    hub_error *reterr;
} lock_reader;

static hub_err no_memory(const lock_reader *reader)
{
    return hub_fail(reader->reterr, HUB_ENOMEM, "%s: out of memory", reader->path);
}

/* Say where the file is wrong. */
static hub_err fail_at(const lock_reader *reader, hub_err err, hub_str toolset, hub_str name,
                       const char *why)
{
    bool has_name = name.len > 0;
    name.len = name.len < HUB_LIMIT_TOOL_NAME_BYTES ? name.len : HUB_LIMIT_TOOL_NAME_BYTES;
    return hub_fail(reader->reterr, err, "%s: toolsets." HUB_STR_FMT "%s" HUB_STR_FMT ": %s",
                    reader->path, HUB_STR_ARG(toolset), has_name ? ": " : "", HUB_STR_ARG(name),
                    why);
}

/* ---- order ----------------------------------------------------------------------------------- */

static int by_name(const void *a, const void *b)
{
    const hub_lock_entry *left = a;
    const hub_lock_entry *right = b;
    return hub_str_cmp(left->name, right->name);
}

static int by_toolset(const void *a, const void *b)
{
    const hub_lock_toolset *left = a;
    const hub_lock_toolset *right = b;
    return hub_str_cmp(left->key, right->key);
}

bool hub_lock_sort(hub_lock_list *list)
{
    bool is_single = true;
    if (list->count > 1) {
        qsort(list->items, list->count, sizeof *list->items, by_name);
    }
    for (size_t i = 1; i < list->count; i++) {
        is_single = is_single && !hub_str_eq(list->items[i - 1].name, list->items[i].name);
    }
    return is_single;
}

void hub_lock_sort_toolsets(hub_lock *lock)
{
    if (lock->count > 1) {
        qsort(lock->toolsets, lock->count, sizeof *lock->toolsets, by_toolset);
    }
}

const hub_lock_entry *hub_lock_find_entry(const hub_lock_list *list, hub_str name)
{
    const hub_lock_entry wanted = {.name = name};
    return list->count > 0
               ? bsearch(&wanted, list->items, list->count, sizeof *list->items, by_name)
               : NULL;
}

const hub_lock_toolset *hub_lock_find(const hub_lock *lock, hub_str key)
{
    const hub_lock_toolset wanted = {.key = key};
    return lock->count > 0
               ? bsearch(&wanted, lock->toolsets, lock->count, sizeof *lock->toolsets, by_toolset)
               : NULL;
}

/* ---- reading --------------------------------------------------------------------------------- */

static hub_err decode(const lock_reader *reader, hub_str raw, hub_str *ret_text)
{
    if (hub_json_plain(raw, ret_text)) {
        return HUB_OK;
    }
    hub_buf text;
    hub_buf_init(&text, raw.len + 1);
    hub_err err = hub_json_decode(raw, &text);
    char *copy = err == HUB_OK ? hub_arena_strdup(reader->arena, hub_buf_str(&text)) : NULL;
    *ret_text = (hub_str){.ptr = copy, .len = text.len};
    hub_buf_fini(&text);
    return copy != NULL ? HUB_OK : no_memory(reader);
}

static hub_err read_digest(const lock_reader *reader, hub_str toolset, hub_str entry,
                           hub_lock_entry *ret_entry)
{
    hub_str prefix = HUB_STR(DIGEST_PREFIX);
    hub_str digest = HUB_STR_EMPTY;
    bool is_text = hub_json_plain(hub_json_get(entry, HUB_STR("digest")), &digest);
    if (!is_text || !hub_str_starts(digest, prefix) ||
        digest.len != prefix.len + HUB_DIGEST_HEX_BYTES - 1 ||
        !hub_hex_is(hub_str_from(digest, prefix.len))) {
        return fail_at(reader, HUB_EINVAL, toolset, ret_entry->name,
                       "its digest is not \"sha256:\" and 64 hexadecimal digits");
    }
    ret_entry->digest = hub_str_from(digest, prefix.len);
    return HUB_OK;
}

static hub_err read_list(const lock_reader *reader, hub_str toolset, hub_str json,
                         hub_lock_list *ret_list)
{
    hub_json_type type = hub_json_type_of(json);
    if (type == HUB_JSON_NONE) {
        return HUB_OK;
    }
    if (type != HUB_JSON_OBJECT) {
        return fail_at(reader, HUB_EINVAL, toolset, HUB_STR_EMPTY,
                       "tools and prompts must be objects");
    }
    size_t count = hub_json_count(json);
    if (count > HUB_LIMIT_TOOLS_PER_TOOLSET) {
        return fail_at(reader, HUB_ELIMIT, toolset, HUB_STR_EMPTY,
                       "it has more tools or prompts than a toolset may have");
    }
    ret_list->items = hub_arena_array(reader->arena, count, sizeof *ret_list->items);
    if (ret_list->items == NULL) {
        return no_memory(reader);
    }
    hub_str key;
    hub_str value;
    hub_err err = HUB_OK;
    for (hub_json_iter it = hub_json_iterate(json);
         err == HUB_OK && hub_json_next(&it, &key, &value);) {
        hub_lock_entry *entry = &ret_list->items[ret_list->count++];
        err = decode(reader, key, &entry->name);
        err = err == HUB_OK ? read_digest(reader, toolset, value, entry) : err;
        entry->definition = hub_json_get(value, HUB_STR("definition"));
    }
    if (err == HUB_OK && !hub_lock_sort(ret_list)) {
        err =
            fail_at(reader, HUB_EINVAL, toolset, HUB_STR_EMPTY, "a tool or a prompt occurs twice");
    }
    return err;
}

static hub_err read_toolset(const lock_reader *reader, hub_str key, hub_str json,
                            hub_lock_toolset *ret_toolset)
{
    hub_err err = decode(reader, key, &ret_toolset->key);
    if (err != HUB_OK) {
        return err;
    }
    if (hub_json_type_of(json) != HUB_JSON_OBJECT) {
        return fail_at(reader, HUB_EINVAL, ret_toolset->key, HUB_STR_EMPTY, "is not an object");
    }
    hub_str origin = hub_json_get(json, HUB_STR("origin"));
    hub_str instructions = hub_json_get(json, HUB_STR("instructions"));
    if (hub_json_type_of(origin) == HUB_JSON_STRING) {
        err = decode(reader, origin, &ret_toolset->origin);
    }
    if (err == HUB_OK && instructions.len > 0) {
        err = read_digest(reader, ret_toolset->key, instructions, &ret_toolset->instructions);
        ret_toolset->instructions.definition = hub_json_get(instructions, HUB_STR("text"));
    }
    if (err == HUB_OK) {
        err = read_list(reader, ret_toolset->key, hub_json_get(json, HUB_STR("tools")),
                        &ret_toolset->tools);
    }
    return err == HUB_OK ? read_list(reader, ret_toolset->key,
                                     hub_json_get(json, HUB_STR("prompts")), &ret_toolset->prompts)
                         : err;
}

static hub_err read_toolsets(const lock_reader *reader, hub_str json, hub_lock *lock)
{
    size_t count = hub_json_count(json);
    if (count > HUB_LIMIT_TOOLSETS) {
        return hub_fail(reader->reterr, HUB_ELIMIT, "%s: more than %d toolsets", reader->path,
                        HUB_LIMIT_TOOLSETS);
    }
    lock->toolsets = hub_arena_array(reader->arena, count, sizeof *lock->toolsets);
    if (lock->toolsets == NULL) {
        return no_memory(reader);
    }
    hub_str key;
    hub_str value;
    hub_err err = HUB_OK;
    for (hub_json_iter it = hub_json_iterate(json);
         err == HUB_OK && hub_json_next(&it, &key, &value);) {
        err = read_toolset(reader, key, value, &lock->toolsets[lock->count++]);
    }
    if (err == HUB_OK) {
        hub_lock_sort_toolsets(lock);
    }
    for (size_t i = 1; err == HUB_OK && i < count; i++) {
        if (hub_str_eq(lock->toolsets[i - 1].key, lock->toolsets[i].key)) {
            err = fail_at(reader, HUB_EINVAL, lock->toolsets[i].key, HUB_STR_EMPTY, "occurs twice");
        }
    }
    return err;
}

hub_err hub_lock_parse(const char *path, hub_str text, hub_arena *arena, hub_lock *ret_lock,
                       hub_error *reterr)
{
    const lock_reader reader = {.path = path, .arena = arena, .reterr = reterr};
    hub_str root;
    uint64_t version = 0;
    hub_error why = {.code = HUB_OK};
    *ret_lock = (hub_lock){.count = 0};
    hub_err err = hub_json_check(text, &root, &why);
    if (err != HUB_OK) {
        return hub_fail(reterr, err,
                        "%s: is not JSON (%.120s): restore the file, or write it again with "
                        "`patchbay lock`",
                        path, why.text);
    }
    hub_str toolsets = hub_json_get(root, HUB_STR("toolsets"));
    if (!hub_json_to_u64(hub_json_get(root, HUB_STR("lock")), &version) ||
        hub_json_type_of(toolsets) != HUB_JSON_OBJECT) {
        return hub_fail(reterr, HUB_EINVAL,
                        "%s: is not a lock file: it lacks \"lock\" or \"toolsets\"; restore the "
                        "file, or write it again with `patchbay lock`",
                        path);
    }
    if (version != 1) {
        return hub_fail(reterr, HUB_EINVAL,
                        "%s: is a lock file of version %llu, and this hub reads version 1: update "
                        "the hub",
                        path, (unsigned long long)version);
    }
    return read_toolsets(&reader, toolsets, ret_lock);
}

hub_err hub_lock_read(const char *path, hub_arena *arena, hub_lock *ret_lock, unsigned *ret_mode,
                      hub_error *reterr)
{
    const lock_reader reader = {.path = path, .arena = arena, .reterr = reterr};
    hub_buf text;
    hub_buf_init(&text, HUB_LIMIT_LOCK_BYTES);
    hub_err err = hub_file_read(path, &text, ret_mode, reterr);
    if (err == HUB_OK) {
        hub_str copy = {.ptr = hub_arena_strdup(arena, hub_buf_str(&text)), .len = text.len};
        err = copy.ptr != NULL ? hub_lock_parse(path, copy, arena, ret_lock, reterr)
                               : no_memory(&reader);
    }
    hub_buf_fini(&text);
    return err;
}

/* ---- writing --------------------------------------------------------------------------------- */

static void add_entry(const hub_lock_entry *entry, const char *text_key, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("{\"digest\": \"" DIGEST_PREFIX));
    hub_buf_add(out, entry->digest);
    hub_buf_add_char(out, '"');
    if (entry->definition.len > 0) {
        hub_buf_printf(out, ", \"%s\": ", text_key);
        hub_buf_add(out, entry->definition);
    }
    hub_buf_add_char(out, '}');
}

static void add_list(const hub_lock_list *list, const char *key, hub_buf *out)
{
    hub_buf_printf(out, ",\n      \"%s\": {", key);
    for (size_t i = 0; i < list->count; i++) {
        hub_buf_add(out, i > 0 ? HUB_STR(",\n        ") : HUB_STR("\n        "));
        hub_json_add_string(out, list->items[i].name);
        hub_buf_add(out, HUB_STR(": "));
        add_entry(&list->items[i], "definition", out);
    }
    hub_buf_add(out, list->count > 0 ? HUB_STR("\n      }") : HUB_STR("}"));
}

static void add_toolset(const hub_lock_toolset *toolset, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("    "));
    hub_json_add_string(out, toolset->key);
    hub_buf_add(out, HUB_STR(": {\n      \"origin\": "));
    hub_json_add_string(out, toolset->origin);
    if (toolset->instructions.digest.len > 0) {
        hub_buf_add(out, HUB_STR(",\n      \"instructions\": "));
        add_entry(&toolset->instructions, "text", out);
    }
    add_list(&toolset->tools, "tools", out);
    add_list(&toolset->prompts, "prompts", out);
    hub_buf_add(out, HUB_STR("\n    }"));
}

void hub_lock_write(const hub_lock *lock, hub_buf *out)
{
    hub_buf_add(out, HUB_STR("{\n  \"lock\": 1,\n  \"toolsets\": {"));
    for (size_t i = 0; i < lock->count; i++) {
        hub_buf_add(out, i > 0 ? HUB_STR(",\n") : HUB_STR("\n"));
        add_toolset(&lock->toolsets[i], out);
    }
    hub_buf_add(out, lock->count > 0 ? HUB_STR("\n  }\n}\n") : HUB_STR("}\n}\n"));
}
