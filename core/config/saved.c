/* SPDX-License-Identifier: Apache-2.0 */
/* saved_toolsets and toolset_files: saved toolsets that are read-only for all (hub/saved). */
#include "config/reader.h"

#include "base/limits.h"
#include "config/file.h"
#include "hub/saved/document.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <sys/stat.h>

enum { MOST_FILES = 1000 }; /* of one folder */

static const char *const ENDINGS[] = {".json", ".yaml", ".yml"};

hub_err hub_config_read_equip(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    const char *name = NULL;
    hub_config_key here = *key;
    hub_error why = {.text = ""};
    here.offset = 0;
    hub_err err = hub_config_read_text(reader, node, &here, &name);
    if (err == HUB_OK && hub_saved_check_name(hub_str_of(name), &why) != HUB_OK) {
        err = hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s", why.text);
    }
    if (err == HUB_OK) {
        *(const char **)(void *)((char *)target + key->offset) = name;
    }
    return err;
}

/* ---- one ------------------------------------------------------------------------------------- */

/* A list of ids stands for a map that has it as its tools. */
static hub_err add_document(hub_config_reader *reader, const hub_node *node, hub_buf *out)
{
    bool is_list = node->kind == HUB_NODE_LIST;
    if (!is_list && node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map with `tools`, or a list of tools");
    }
    hub_buf_add(out, is_list ? HUB_STR("{\"tools\":") : HUB_STR_EMPTY);
    hub_err err = hub_config_add_json(reader, node, out);
    hub_buf_add(out, is_list ? HUB_STR("}") : HUB_STR_EMPTY);
    return err;
}

static hub_saved_settings *find(const hub_config_reader *reader, const char *name)
{
    for (size_t i = 0; i < reader->saved_count; i++) {
        if (strcmp(reader->saved[i].name, name) == 0) {
            return &reader->saved[i];
        }
    }
    return NULL;
}

/* Keep it; a later one of the same name stands for an earlier one, but a file for no other file: it would
 * depend on what they are called. */
static hub_err keep(hub_config_reader *reader, const hub_node *node, const hub_saved *saved,
                    hub_str document, bool is_of_file)
{
    hub_saved_settings made = {
        .name = hub_arena_strdup(reader->arena, saved->name),
        .document = hub_arena_strdup(reader->arena, document),
        .source = hub_arena_printf(reader->arena, "%s:%u", node->file, node->line)};
    if (made.name == NULL || made.document == NULL || made.source == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_saved_settings *before = find(reader, made.name);
    if (before != NULL && is_of_file && before >= reader->saved + reader->saved_before_files) {
        return hub_node_fail(node, reader->reterr, HUB_EINVAL,
                             "the saved toolset \"%s\" is in %s already: give one of them another "
                             "name",
                             made.name, before->source);
    }
    if (before != NULL) {
        *before = made;
        return HUB_OK;
    }
    if (reader->saved_count == HUB_LIMIT_SAVED_PER_OWNER) {
        return hub_node_fail(node, reader->reterr, HUB_ELIMIT, "more than %d saved toolsets",
                             HUB_LIMIT_SAVED_PER_OWNER);
    }
    hub_saved_settings *grown =
        hub_config_grow(reader, reader->saved, reader->saved_count, sizeof *reader->saved);
    if (grown == NULL) {
        return hub_config_no_memory(reader);
    }
    reader->saved = grown;
    reader->saved[reader->saved_count++] = made;
    return HUB_OK;
}

/* `name` empty: the document says it. */
static hub_err read_one(hub_config_reader *reader, const hub_node *node, hub_str name,
                        bool is_of_file)
{
    hub_saved *saved = NULL;
    hub_error why = {.text = ""};
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = add_document(reader, node, &json);
    if (err == HUB_OK && !hub_buf_ok(&json)) {
        err = hub_config_no_memory(reader);
    }
    if (err == HUB_OK && hub_saved_read(name, hub_buf_str(&json), &saved, &why) != HUB_OK) {
        err = why.code == HUB_ENOMEM
                  ? hub_config_no_memory(reader)
                  : hub_node_fail(node, reader->reterr, HUB_EINVAL, "%s", why.text);
    }
    if (err == HUB_OK) {
        err = keep(reader, node, saved, hub_buf_str(&json), is_of_file);
    }
    hub_saved_destroy(saved);
    hub_buf_fini(&json);
    return err;
}

hub_err hub_config_read_saved(hub_config_reader *reader, const hub_node *node,
                              const hub_config_key *key, void *target)
{
    hub_err err = HUB_OK;
    (void)key;
    (void)target;
    if (node->kind != HUB_NODE_MAP) {
        return hub_config_wrong(reader, node, "a map of names to saved toolsets");
    }
    for (const hub_node *at = node->first; err == HUB_OK && at != NULL; at = at->next) {
        err = read_one(reader, at, hub_str_of(at->key), false);
    }
    return err;
}

/* ---- files ----------------------------------------------------------------------------------- */

/* The name of a file without its ending; empty: it has none of ours. */
static hub_str stem_of(const char *path)
{
    const char *slash = strrchr(path, '/');
    hub_str name = hub_str_of(slash != NULL ? slash + 1 : path);
    for (size_t i = 0; i < sizeof ENDINGS / sizeof ENDINGS[0]; i++) {
        hub_str ending = hub_str_of(ENDINGS[i]);
        if (name.len > ending.len &&
            hub_str_eq(hub_str_from(name, name.len - ending.len), ending) && name.ptr[0] != '.') {
            return (hub_str){.ptr = name.ptr, .len = name.len - ending.len};
        }
    }
    return HUB_STR_EMPTY;
}

static bool has_name(const hub_node *root)
{
    bool has = false;
    for (const hub_node *at = root->kind == HUB_NODE_MAP ? root->first : NULL; !has && at != NULL;
         at = at->next) {
        has = strcmp(at->key, "name") == 0;
    }
    return has;
}

/* A file with one saved toolset: its name is in it, or is that of the file. */
static hub_err read_file(hub_config_reader *reader, const char *path)
{
    const hub_node *root = NULL;
    const char *name = hub_arena_strdup(reader->scratch, hub_str_of(path));
    hub_buf text;
    if (name == NULL) {
        return hub_config_no_memory(reader);
    }
    hub_buf_init(&text, HUB_LIMIT_SAVED_FILE_BYTES);
    hub_err err = hub_config_note_file(&reader->config, path, false, reader->reterr);
    if (err == HUB_OK) {
        err = hub_file_read(path, &text, NULL, reader->reterr);
    }
    if (err == HUB_OK) {
        err = hub_node_parse(name, hub_buf_str(&text), reader->scratch, &root, reader->reterr);
    }
    if (err == HUB_OK) {
        err = read_one(reader, root, has_name(root) ? HUB_STR_EMPTY : stem_of(path), true);
    }
    hub_buf_fini(&text);
    return err;
}

static int compare_paths(const void *a, const void *b)
{
    return strcmp(*(char *const *)a, *(char *const *)b);
}

/* The paths of the files of a folder, sorted, in scratch memory. */
static hub_err list_folder(hub_config_reader *reader, const hub_node *node, const char *folder,
                           char **paths, size_t *ret_count)
{
    size_t count = 0;
    DIR *open = opendir(folder);
    if (open == NULL) {
        return hub_node_fail(node, reader->reterr, HUB_ESYSTEM, "%s: %s", folder, strerror(errno));
    }
    hub_err err = HUB_OK;
    const struct dirent *entry;
    while (err == HUB_OK && (entry = readdir(open)) != NULL) {
        if (stem_of(entry->d_name).len == 0) {
            continue;
        }
        if (count == MOST_FILES) {
            err = hub_node_fail(node, reader->reterr, HUB_ELIMIT, "%s: more than %d files", folder,
                                MOST_FILES);
            break;
        }
        paths[count] = hub_arena_printf(reader->scratch, "%s/%s", folder, entry->d_name);
        err = paths[count] != NULL ? HUB_OK : hub_config_no_memory(reader);
        count++;
    }
    (void)closedir(open);
    if (err == HUB_OK && count > 0) {
        qsort(paths, count, sizeof *paths, compare_paths);
    }
    *ret_count = count;
    return err;
}

static hub_err read_folder(hub_config_reader *reader, const hub_node *node, const char *folder)
{
    size_t count = 0;
    char **paths = hub_arena_array(reader->scratch, MOST_FILES, sizeof *paths);
    hub_err err = paths != NULL ? list_folder(reader, node, folder, paths, &count)
                                : hub_config_no_memory(reader);
    for (size_t i = 0; err == HUB_OK && i < count; i++) {
        err = read_file(reader, paths[i]);
    }
    return err;
}

hub_err hub_config_read_saved_files(hub_config_reader *reader, const hub_node *node,
                                    const hub_config_key *key, void *target)
{
    static const hub_config_key HERE = {.offset = 0};
    hub_names paths = {.count = 0};
    (void)key;
    (void)target;
    hub_err err = hub_config_read_folders(reader, node, &HERE, &paths);
    reader->saved_before_files = reader->saved_count;
    for (size_t i = 0; err == HUB_OK && i < paths.count; i++) {
        struct stat about;
        if (stat(paths.items[i], &about) == 0 && S_ISDIR(about.st_mode)) {
            err = read_folder(reader, node, paths.items[i]);
        } else {
            err = read_file(reader, paths.items[i]);
        }
    }
    return err;
}

/* ---- the end --------------------------------------------------------------------------------- */

static int compare_names(const void *a, const void *b)
{
    return strcmp(((const hub_saved_settings *)a)->name, ((const hub_saved_settings *)b)->name);
}

void hub_config_finish_saved(hub_config_reader *reader)
{
    if (reader->saved_count > 0) {
        qsort(reader->saved, reader->saved_count, sizeof *reader->saved, compare_names);
    }
    reader->config.settings.saved = reader->saved;
    reader->config.settings.saved_count = reader->saved_count;
}
