/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay connect: the hub as a server in the configuration of a program that uses servers. */
#include "cli/cli.h"

#include "base/limits.h"
#include "cli/clients.h"
#include "config/edit.h"
#include "config/file.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define ENTRY "patchbay"
enum { ARENA_MAX_BYTES = 256 * 1024 * 1024 };

typedef struct connecting {
    const cli_options *options;
    const cli_client *client;
    const char *file;
    const char *backup;
    hub_arena *arena;
    hub_edit_path path;
    const hub_node *entry;
    hub_buf before;
    hub_buf after;
    bool has_backup; /* `old` is what it holds */
    hub_buf old;
    hub_error why;
} connecting;

/* What the client starts, as it writes that. */
static hub_err make_entry(connecting *at)
{
    char program[4096];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *named = at->options->config_count > 0 ? at->options->configs[0] : NULL;
    /* Programs start servers in folders that others made: the hub is told which manifest is meant. */
    const char *meant = named != NULL ? named : cli_find_installed();
    const char *config = meant != NULL ? hub_file_absolute(NULL, meant, at->arena) : NULL;
    if (len <= 0 || (config == NULL && meant != NULL)) {
        return hub_fail(&at->why, HUB_ESYSTEM, "where this program is cannot be found out");
    }
    program[len] = '\0';
    /* A manifest that listens is served over stdin all the same. */
    const char *words[] = {"serve", "--stdio", "--config", config};
    size_t count = config != NULL ? 4 : 2;
    hub_buf json;
    hub_buf_init(&json, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_add_char(&json, '{');
    if (at->client->entry_type != NULL) {
        hub_json_add_key(&json, HUB_STR("type"));
        hub_json_add_string(&json, hub_str_of(at->client->entry_type));
    }
    hub_json_add_key(&json, HUB_STR("command"));
    hub_buf_add(&json, at->client->has_command_list ? HUB_STR("[") : HUB_STR_EMPTY);
    hub_json_add_string(&json, hub_str_of(program));
    if (!at->client->has_command_list) {
        hub_json_add_key(&json, HUB_STR("args"));
        hub_buf_add_char(&json, '[');
    }
    for (size_t i = 0; i < count; i++) {
        hub_json_add_comma(&json);
        hub_json_add_string(&json, hub_str_of(words[i]));
    }
    hub_buf_add(&json, HUB_STR("]}"));
    hub_err err = hub_node_parse("entry.json", hub_buf_str(&json), at->arena, &at->entry, &at->why);
    hub_buf_fini(&json);
    return err;
}

static bool is_same_file(const char *a, const char *b)
{
    hub_file_stamp left = hub_file_look(a);
    hub_file_stamp right = hub_file_look(b);
    return left.inode != 0 && left.inode == right.inode && left.device == right.device;
}

static hub_err read_files(connecting *at)
{
    for (size_t i = 0; i < at->options->config_count; i++) {
        if (is_same_file(at->options->configs[i], at->file)) {
            return hub_fail(&at->why, HUB_EINVAL,
                            "%s is the hub's own manifest: the hub would start itself. Take its "
                            "servers over with `patchbay import %s`, and connect that manifest",
                            at->file, at->client->name);
        }
    }
    hub_err err = hub_file_read(at->file, &at->before, NULL, &at->why);
    if (err == HUB_ENOTFOUND && !at->options->removes) {
        hub_buf_add(&at->before, HUB_STR("{}\n"));
        err = HUB_OK;
    }
    hub_error none = {.code = HUB_OK};
    at->has_backup = hub_file_read(at->backup, &at->old, NULL, &none) == HUB_OK;
    return err;
}

static hub_err put(connecting *at, const hub_buf *from, hub_buf *out)
{
    return hub_edit_put(at->file, hub_buf_str(from), &at->path, at->entry, at->arena, out,
                        &at->why);
}

/* What was there before, to the byte, if nothing has changed since; else without the entry. */
static hub_err take_out(connecting *at)
{
    hub_buf again;
    hub_buf_init(&again, HUB_LIMIT_CONFIG_BYTES);
    bool is_unchanged = at->has_backup && put(at, &at->old, &again) == HUB_OK &&
                        hub_str_eq(hub_buf_str(&again), hub_buf_str(&at->before));
    hub_buf_fini(&again);
    if (is_unchanged) {
        hub_buf_add(&at->after, hub_buf_str(&at->old));
        return HUB_OK;
    }
    hub_err err = hub_edit_remove(at->file, hub_buf_str(&at->before), &at->path, at->arena,
                                  &at->after, &at->why);
    return err == HUB_ENOTFOUND ? hub_fail(&at->why, err, "%s: the hub is not in it", at->file)
                                : err;
}

static bool has_entry(const connecting *at)
{
    hub_buf ignored;
    hub_error why = {.code = HUB_OK};
    hub_buf_init(&ignored, HUB_LIMIT_CONFIG_BYTES);
    bool is_there = hub_edit_remove(at->file, hub_buf_str(&at->before), &at->path, at->arena,
                                    &ignored, &why) != HUB_ENOTFOUND;
    hub_buf_fini(&ignored);
    return is_there;
}

static hub_err write_files(connecting *at, const hub_file_change *change)
{
    if (at->options->dry_run) {
        (void)fwrite(change->content.ptr, 1, change->content.len, stdout);
        return HUB_OK;
    }
    const char *folder = hub_file_folder(at->file, at->arena);
    hub_err err = folder != NULL ? hub_file_make_folder(folder, &at->why) : HUB_ENOMEM;
    bool wants_backup = !at->options->removes && change->seen.inode != 0 && !has_entry(at);
    if (err == HUB_OK && wants_backup) {
        err = hub_file_replace_private(at->backup, hub_buf_str(&at->before), &at->why);
    }
    if (err == HUB_OK) {
        err = hub_file_replace(at->file, change, &at->why);
    }
    if (err == HUB_OK && at->options->removes) {
        (void)unlink(at->backup); /* it may not be there */
    }
    return err;
}

static hub_err change_file(connecting *at)
{
    hub_file_stamp seen = hub_file_look(at->file);
    hub_err err = read_files(at);
    if (err == HUB_OK) {
        err = make_entry(at);
    }
    if (err == HUB_OK) {
        err = at->options->removes ? take_out(at) : put(at, &at->before, &at->after);
    }
    const hub_file_change change = {.content = hub_buf_str(&at->after), .seen = seen};
    return err == HUB_OK ? write_files(at, &change) : err;
}

static int run(connecting *at)
{
    at->file = cli_client_file(at->client, at->arena);
    at->backup =
        at->file != NULL ? hub_arena_printf(at->arena, "%s.before-patchbay", at->file) : NULL;
    if (at->backup == NULL) {
        cli_complain("there is no HOME, so the files of %s cannot be found", at->client->title);
        return EXIT_USAGE;
    }
    at->path = (hub_edit_path){.steps = {at->client->key, ENTRY}, .count = 2};
    hub_buf_init(&at->before, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&at->after, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&at->old, HUB_LIMIT_CONFIG_BYTES);
    hub_err err = change_file(at);
    hub_buf_fini(&at->before);
    hub_buf_fini(&at->after);
    hub_buf_fini(&at->old);
    if (err != HUB_OK) {
        cli_complain("%s", at->why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    if (!at->options->dry_run) {
        cli_complain(at->options->removes ? "%s: the hub is taken out; restart %s"
                                          : "%s: the hub is in it; restart %s to use it",
                     at->file, at->client->title);
    }
    return EXIT_OK;
}

int cli_connect(cli_options *options)
{
    const char *name = options->argument_count > 0 ? options->arguments[0] : "";
    connecting at = {.options = options, .client = cli_find_client(name)};
    if (at.client == NULL || options->config_count > 1) {
        hub_buf names;
        hub_buf_init(&names, 4096);
        for (const cli_client *client = CLI_CLIENTS; client->name != NULL; client++) {
            hub_buf_printf(&names, "%s%s", client == CLI_CLIENTS ? "" : ", ", client->name);
        }
        hub_str list = hub_buf_str(&names);
        cli_complain(
            "usage: patchbay connect CLIENT, with at most one --config; clients are " HUB_STR_FMT,
            HUB_STR_ARG(list));
        hub_buf_fini(&names);
        return EXIT_USAGE;
    }
    at.arena = hub_arena_create(ARENA_MAX_BYTES);
    if (at.arena == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    int status = run(&at);
    hub_arena_destroy(at.arena);
    return status;
}
