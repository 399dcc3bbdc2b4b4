/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay connect: the hub as a server in the configuration of a program that uses servers. */
#include "cli/cli.h"

#include "base/limits.h"
#include "cli/clients.h"
#include "config/edit.h"
#include "config/file.h"
#include "wire/json.h"

#include <errno.h>
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
    const char *config; /* the manifest that is meant; NULL: none, and the hub looks for one */
    hub_arena *arena;
    hub_edit_path path;
    const hub_node *entry;
    hub_buf before;
    hub_buf after;
    bool has_backup; /* `old` is what it holds */
    hub_buf old;
    bool was_made; /* connect has made the file: there was none */
    hub_error why;
} connecting;

/* What a file has that is not there, or has nothing in it. */
#define NOTHING "{}\n"

/* What the client starts, as it writes that. */
static hub_err make_entry(connecting *at)
{
    char program[4096];
    ssize_t len = readlink("/proc/self/exe", program, sizeof program - 1);
    const char *config = at->config != NULL ? hub_file_absolute(NULL, at->config, at->arena) : NULL;
    if (len <= 0 || (config == NULL && at->config != NULL)) {
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
    if (at->config != NULL && is_same_file(at->config, at->file)) {
        return hub_fail(&at->why, HUB_EINVAL,
                        "%s is the hub's own manifest: the hub would start itself. Take its "
                        "servers over with `patchbay import %s`, and connect that manifest",
                        at->file, at->client->name);
    }
    hub_err err = hub_file_read(at->file, &at->before, NULL, &at->why);
    err = err == HUB_ENOTFOUND && !at->options->removes ? HUB_OK : err;
    hub_error none = {.code = HUB_OK};
    at->has_backup = hub_file_read(at->backup, &at->old, NULL, &none) == HUB_OK;
    return err;
}

/* What a file says; one with nothing in it, as programs make them, is an empty map. */
static hub_str said_in(const hub_buf *file)
{
    hub_str text = hub_buf_str(file);
    return hub_str_trim(text).len > 0 ? text : HUB_STR(NOTHING);
}

static hub_err put(const connecting *at, hub_str from, const hub_node *entry, hub_buf *out,
                   hub_error *reterr)
{
    return hub_edit_put(at->file, from, &at->path, entry, at->arena, out, reterr);
}

/* The hub's entry in a text; NULL: it has none, or cannot be read. */
static const hub_node *find_entry(const connecting *at, hub_str text)
{
    hub_error why = {.code = HUB_OK};
    const hub_node *node = NULL;
    if (hub_node_parse(at->file, text, at->arena, &node, &why) != HUB_OK) {
        return NULL;
    }
    for (size_t i = 0; node != NULL && i < at->path.count; i++) {
        node = node->kind == HUB_NODE_MAP ? hub_node_find(node, at->path.steps[i]) : NULL;
    }
    return node;
}

/* Whether the file is that text with the entry in it, whatever the entry is: it is replaced in both,
 * so that it is laid out alike. */
static bool comes_of(const connecting *at, hub_str text, const hub_node *entry)
{
    hub_error why = {.code = HUB_OK};
    hub_buf put_in;
    hub_buf wanted;
    hub_buf found;
    hub_buf_init(&put_in, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&wanted, HUB_LIMIT_CONFIG_BYTES);
    hub_buf_init(&found, HUB_LIMIT_CONFIG_BYTES);
    bool is_so = put(at, text, entry, &put_in, &why) == HUB_OK &&
                 put(at, hub_buf_str(&put_in), entry, &wanted, &why) == HUB_OK &&
                 put(at, said_in(&at->before), entry, &found, &why) == HUB_OK &&
                 hub_str_eq(hub_buf_str(&wanted), hub_buf_str(&found));
    hub_buf_fini(&put_in);
    hub_buf_fini(&wanted);
    hub_buf_fini(&found);
    return is_so;
}

/* What was there before, to the byte, if nothing has changed since; else without the entry, or with
 * the one that its user had there. */
static hub_err take_out(connecting *at)
{
    const hub_node *entry = find_entry(at, hub_buf_str(&at->before));
    if (entry != NULL && at->has_backup && comes_of(at, said_in(&at->old), entry)) {
        hub_buf_add(&at->after, hub_buf_str(&at->old));
        return HUB_OK;
    }
    at->was_made = entry != NULL && !at->has_backup && comes_of(at, HUB_STR(NOTHING), entry);
    if (at->was_made) {
        return HUB_OK;
    }
    const hub_node *own = at->has_backup ? find_entry(at, hub_buf_str(&at->old)) : NULL;
    if (entry != NULL && own != NULL) {
        return put(at, hub_buf_str(&at->before), own, &at->after, &at->why);
    }
    hub_err err = hub_edit_remove(at->file, hub_buf_str(&at->before), &at->path, at->arena,
                                  &at->after, &at->why);
    return err == HUB_ENOTFOUND ? hub_fail(&at->why, err, "%s: the hub is not in it", at->file)
                                : err;
}

/* Whether an entry is such as connect writes. */
static bool is_ours(const hub_node *entry)
{
    const hub_node *command = hub_node_find(entry, "command");
    const hub_node *args = hub_node_find(entry, "args");
    const hub_node *first = args != NULL ? args->first : NULL;
    if (command != NULL && command->kind == HUB_NODE_LIST && command->first != NULL) {
        first = command->first->next;
    }
    return first != NULL && hub_str_is(first->text, "serve") && first->next != NULL &&
           hub_str_is(first->next->text, "--stdio");
}

/* Whether the file is to be kept as it is: its user has made it so. */
static bool wants_backup(const connecting *at)
{
    const hub_node *entry = find_entry(at, hub_buf_str(&at->before));
    bool is_known = entry != NULL &&
                    (is_ours(entry) || (at->has_backup && comes_of(at, said_in(&at->old), entry)));
    return !at->options->removes && !is_known;
}

/* Undo that connect has made it. */
static hub_err remove_file(connecting *at, const hub_file_change *change)
{
    hub_file_stamp now = hub_file_look(at->file);
    if (!hub_file_stamp_equal(&now, &change->seen)) {
        return hub_fail(&at->why, HUB_ECONFLICT, "%s: somebody else has changed it", at->file);
    }
    if (unlink(at->file) != 0) {
        return hub_fail(&at->why, HUB_ESYSTEM, "%s: %s", at->file, strerrordesc_np(errno));
    }
    return HUB_OK;
}

static hub_err write_files(connecting *at, const hub_file_change *change)
{
    if (at->options->dry_run) {
        (void)fwrite(change->content.ptr, 1, change->content.len, stdout);
        return HUB_OK;
    }
    const char *folder = hub_file_folder(at->file, at->arena);
    hub_err err = folder != NULL ? hub_file_make_folder(folder, &at->why) : HUB_ENOMEM;
    bool is_copied = false;
    if (err == HUB_OK && change->seen.inode != 0 && wants_backup(at)) {
        err = hub_file_replace_private(at->backup, hub_buf_str(&at->before), &at->why);
        is_copied = err == HUB_OK;
    }
    if (err == HUB_OK) {
        err = at->was_made ? remove_file(at, change) : hub_file_replace(at->file, change, &at->why);
    }
    if (err != HUB_OK && is_copied && at->has_backup) { /* it is what it was */
        hub_error none;
        (void)!hub_file_replace_private(at->backup, hub_buf_str(&at->old), &none);
    } else if (err == HUB_OK ? at->options->removes : is_copied) {
        (void)unlink(at->backup); /* it may not be there */
    }
    return err;
}

static hub_err change_file(connecting *at)
{
    hub_file_stamp seen = hub_file_look(at->file);
    hub_err err = read_files(at);
    if (err == HUB_OK && !at->options->removes) {
        err = make_entry(at);
    }
    if (err == HUB_OK) {
        err = at->options->removes ? take_out(at)
                                   : put(at, said_in(&at->before), at->entry, &at->after, &at->why);
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
    /* Programs start servers in folders that others made: the hub is told which manifest is meant. */
    bool is_named = at->options->config_count > 0;
    at->config = is_named ? at->options->configs[0] : cli_find_installed();
    if (!at->options->removes && is_named && access(at->config, F_OK) != 0) {
        cli_complain("%s: %s: `patchbay init --config FILE` makes one", at->config,
                     strerror(errno));
        return EXIT_CONFIG;
    }
    const char *other = is_named || at->options->removes ? NULL : cli_other_manifest(at->config);
    if (other != NULL) {
        cli_complain("warning: the hub that the program starts will not read %s of this folder: "
                     "--config %s has it do so",
                     other, other);
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

static void complain_of_words(const char *name, const cli_client *client)
{
    hub_buf text;
    hub_buf_init(&text, 4096);
    if (name[0] != '\0' && client == NULL) {
        hub_buf_printf(&text, "the settings of \"%s\" are not known; those known are of ", name);
        cli_name_clients(&text);
        hub_buf_printf(&text, ". In those of another program, write the command: patchbay serve "
                              "--stdio --config FILE");
    } else {
        hub_buf_printf(&text,
                       "usage: patchbay connect CLIENT, with at most one --config; clients are ");
        cli_name_clients(&text);
    }
    cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
    hub_buf_fini(&text);
}

int cli_connect(cli_options *options)
{
    const char *name = options->argument_count > 0 ? options->arguments[0] : "";
    connecting at = {.options = options, .client = cli_find_client(name)};
    if (at.client == NULL || options->config_count > 1) {
        complain_of_words(name, at.client);
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
