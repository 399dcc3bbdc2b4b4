/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manifest_edit.h"

#include "cli/rows.h"

#include "base/limits.h"
#include "config/file.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { ARENA_MAX_BYTES = 256 * 1024 * 1024 };

static int complain(const manifest_edit *edit, hub_err err)
{
    cli_complain("%s", edit->why.text);
    return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
}

/* Where servers are in the file. */
static hub_err find_servers(manifest_edit *edit)
{
    static const struct {
        const char *outer;
        const char *inner;
    } PLACES[] = {
        {"mcpServers", NULL}, {"servers", NULL}, {"mcp.servers", NULL}, {"mcp", "servers"}};
    const hub_node *root = NULL;
    hub_err err =
        hub_node_parse(edit->path, hub_buf_str(&edit->text), edit->arena, &root, &edit->why);
    if (err != HUB_OK) {
        return err;
    }
    edit->servers = "toolsets";
    for (size_t i = 0; i < sizeof PLACES / sizeof *PLACES; i++) {
        const hub_node *found = hub_node_find(root, PLACES[i].outer);
        found = found != NULL && PLACES[i].inner != NULL ? hub_node_find(found, PLACES[i].inner)
                                                         : found;
        if (found != NULL) {
            edit->servers = PLACES[i].outer;
            edit->inner = PLACES[i].inner;
            edit->is_foreign = true;
            return HUB_OK;
        }
    }
    return HUB_OK;
}

static hub_err read_manifest(manifest_edit *edit, bool may_create)
{
    const char *folder = hub_file_folder(edit->path, edit->arena);
    char *real = realpath(edit->path, NULL); /* the folder of the file that will be replaced */
    const char *real_folder = real != NULL ? hub_file_folder(real, edit->arena) : folder;
    free(real);
    if (folder == NULL || real_folder == NULL) {
        return hub_fail(&edit->why, HUB_ENOMEM, "out of memory");
    }
    hub_err err = may_create ? hub_file_make_folder(folder, &edit->why) : HUB_OK;
    if (err == HUB_OK) {
        err = hub_file_lock_folder(real_folder, &edit->lock, &edit->why);
    }
    if (err != HUB_OK) {
        return err;
    }
    edit->seen = hub_file_look(edit->path);
    if (edit->seen.inode != 0 && !edit->seen.is_regular) {
        return hub_fail(&edit->why, HUB_EINVAL, "%s: not a regular file", edit->path);
    }
    err = hub_file_read(edit->path, &edit->text, NULL, &edit->why);
    if (err == HUB_ENOTFOUND && may_create) {
        err = HUB_OK;
        hub_buf_add(&edit->text, hub_node_is_json(hub_str_of(edit->path), HUB_STR_EMPTY)
                                     ? HUB_STR("{}\n")
                                     : HUB_STR_EMPTY);
    }
    return err == HUB_OK ? find_servers(edit) : err;
}

void cli_manifest_abandon(manifest_edit *edit)
{
    if (edit->lock >= 0) {
        (void)close(edit->lock); /* read only */
    }
    hub_buf_fini(&edit->text);
    hub_arena_destroy(edit->arena);
}

int cli_manifest_begin(manifest_edit *edit, cli_options *options, bool may_create)
{
    *edit = (manifest_edit){.options = options, .lock = -1};
    if (options->config_count > 1) {
        cli_complain("%zu manifests are named, and one is changed: give --config once",
                     options->config_count);
        return EXIT_USAGE;
    }
    edit->path = options->config_count == 1 ? options->configs[0] : cli_own_manifest();
    if (edit->path == NULL) {
        cli_complain("there is no HOME: say which manifest to change with --config FILE");
        return EXIT_USAGE;
    }
    edit->arena = hub_arena_create(ARENA_MAX_BYTES);
    hub_buf_init(&edit->text, HUB_LIMIT_CONFIG_BYTES);
    if (edit->arena == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    hub_err err = read_manifest(edit, may_create);
    if (err == HUB_OK) {
        return EXIT_OK;
    }
    int status = complain(edit, err);
    cli_manifest_abandon(edit);
    return status;
}

hub_err cli_manifest_change(manifest_edit *edit, const hub_edit_path *path, const hub_node *value)
{
    hub_buf out;
    hub_buf_init(&out, HUB_LIMIT_CONFIG_BYTES);
    hub_str text = hub_buf_str(&edit->text);
    hub_err err = value != NULL
                      ? hub_edit_put(edit->path, text, path, value, edit->arena, &out, &edit->why)
                      : hub_edit_remove(edit->path, text, path, edit->arena, &out, &edit->why);
    if (err == HUB_OK) {
        hub_buf_fini(&edit->text);
        edit->text = out;
    } else {
        hub_buf_fini(&out);
    }
    return err;
}

hub_edit_path cli_manifest_toolset(const manifest_edit *edit, const char *name, const char *key)
{
    hub_edit_path path = {.count = 0};
    path.steps[path.count++] = edit->servers;
    if (edit->inner != NULL) {
        path.steps[path.count++] = edit->inner;
    }
    path.steps[path.count++] = name;
    if (key != NULL) {
        path.steps[path.count++] = key;
    }
    return path;
}

const hub_node *cli_manifest_find(manifest_edit *edit, const hub_edit_path *path)
{
    const hub_node *at = NULL;
    if (hub_node_parse(edit->path, hub_buf_str(&edit->text), edit->arena, &at, &edit->why) !=
        HUB_OK) {
        return NULL;
    }
    for (size_t i = 0; at != NULL && i < path->count; i++) {
        at = hub_node_find(at, path->steps[i]);
    }
    return at;
}

/* The hub would read it, and of another program's file the toolset that was changed, too. */
static hub_err check(void *ctx, const char *path, hub_error *reterr)
{
    manifest_edit *edit = ctx;
    hub_config *config = NULL;
    edit->options->overrides.lenient_variables = true;
    union {
        char **from;
        const char *const *to;
    } env = {.from = environ};
    hub_err err = hub_config_load(&path, 1, env.to, &edit->options->overrides, &config, reterr);
    for (size_t i = 0; err == HUB_OK && i < config->refused_count; i++) {
        const hub_config_refused *refused = &config->refused[i];
        if (edit->touched != NULL && refused->key != NULL &&
            strcmp(refused->key, edit->touched) == 0) {
            err = hub_fail(reterr, HUB_EINVAL, "%s", refused->text);
        }
    }
    hub_config_destroy(config);
    return err;
}

static void print_content(const manifest_edit *edit, hub_str content)
{
    hub_buf row;
    if (!edit->options->json) {
        (void)fwrite(content.ptr, 1, content.len, stdout);
        return;
    }
    cli_row_begin(&row);
    cli_row_add(&row, "manifest", hub_str_of(edit->path));
    cli_row_add(&row, "content", content);
    cli_row_print(&row);
}

int cli_manifest_end(manifest_edit *edit, hub_err err)
{
    const hub_file_change change = {
        .content = hub_buf_str(&edit->text),
        .seen = edit->seen,
        .check = check,
        .ctx = edit,
        .only_check = edit->options->dry_run,
    };
    if (err == HUB_OK) {
        err = hub_file_replace(edit->path, &change, &edit->why);
    }
    int status = err == HUB_OK ? EXIT_OK : complain(edit, err);
    if (err == HUB_OK && edit->options->dry_run) {
        print_content(edit, change.content);
    }
    bool is_named = edit->options->config_count > 0;
    bool is_changed = err == HUB_OK && !edit->options->dry_run;
    const char *other = is_changed && !is_named ? cli_other_manifest(edit->path) : NULL;
    if (other != NULL) {
        cli_complain("warning: %s is changed; in this folder, other commands read %s, which "
                     "--config %s changes",
                     edit->path, other, other);
    }
    cli_manifest_abandon(edit);
    return status;
}
