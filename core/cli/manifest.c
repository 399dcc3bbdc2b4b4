/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay init, add, remove, enable, disable, set, unset: a manifest changed without an editor. */
#include "cli/manifest_edit.h"

#include "base/limits.h"
#include "base/nearest.h"
#include "cli/bundle.h"
#include "cli/missing.h"
#include "cli/offer.h"
#include "wire/json.h"

#include <stdlib.h>
#include <string.h>

static const char TEMPLATE[] =
    "# The manifest of Patchbay: which servers and plugins the hub offers to its clients.\n"
    "# Every key: man patchbay.yaml, or examples/manifest-reference.yaml. A running hub reloads\n"
    "# this file when it changes.\n"
    "#\n"
    "#   patchbay add fetch -- uvx mcp-server-fetch      a server that the hub starts\n"
    "#   patchbay add docs https://example.com/mcp       a server on the network\n"
    "#   patchbay add clock --module time                a plugin\n"
    "toolsets: {}\n";

static int want(const cli_options *options, size_t least, size_t most, const char *usage)
{
    if (options->argument_count >= least && options->argument_count <= most) {
        return EXIT_OK;
    }
    cli_complain("usage: patchbay %s", usage);
    return EXIT_USAGE;
}

/* Text as nodes: a value as a manifest has it. */
static hub_err read_value(manifest_edit *edit, const char *name, hub_str text,
                          const hub_node **ret_value)
{
    return hub_node_parse(name, text, edit->arena, ret_value, &edit->why);
}

/* Other commands change the user's own manifest, unless they are told of this one. */
static void tell_made(const cli_options *options, const char *path)
{
    hub_buf word;
    hub_buf_init(&word, HUB_LIMIT_CONFIG_BYTES);
    if (options->config_count > 0) {
        hub_buf_add(&word, HUB_STR("--config"));
        cli_add_word(&word, hub_str_of(path));
    }
    cli_complain("%s is made; go on with `patchbay add%s" HUB_STR_FMT "`", path,
                 word.len > 0 ? " … " : "", HUB_STR_ARG(hub_buf_str(&word)));
    hub_buf_fini(&word);
}

int cli_init(cli_options *options)
{
    manifest_edit edit;
    int status = cli_manifest_begin(&edit, options, true);
    if (status != EXIT_OK) {
        return status;
    }
    hub_err err = HUB_OK;
    if (edit.seen.inode != 0) {
        err = hub_fail(&edit.why, HUB_EEXIST, "%s is there already; it stays as it is", edit.path);
    } else if (!hub_node_is_json(hub_str_of(edit.path), HUB_STR_EMPTY)) {
        hub_buf_add(&edit.text, hub_str_of(TEMPLATE));
    }
    const char *path = edit.path;
    status = cli_manifest_end(&edit, err);
    if (status == EXIT_OK && !options->dry_run) {
        tell_made(options, path);
    }
    return status;
}

/* "K=V" or "K: V" of an option that may be repeated, as a JSON object. */
static int add_pairs(hub_buf *json, const char *key, const char *const *pairs, size_t count,
                     const char *separator)
{
    if (count == 0) {
        return EXIT_OK;
    }
    hub_json_add_key(json, hub_str_of(key));
    hub_buf_add_char(json, '{');
    for (size_t i = 0; i < count; i++) {
        const char *at = strstr(pairs[i], separator);
        if (at == NULL || at == pairs[i]) {
            cli_complain("\"%s\": wanted NAME%sVALUE", pairs[i], separator);
            return EXIT_USAGE;
        }
        hub_json_add_key(json, hub_str_between(pairs[i], at));
        hub_json_add_string(json, hub_str_trim(hub_str_of(at + strlen(separator))));
    }
    hub_buf_add_char(json, '}');
    return EXIT_OK;
}

static void add_member(hub_buf *json, const char *key, const char *value)
{
    if (value != NULL) {
        hub_json_add_key(json, hub_str_of(key));
        hub_json_add_string(json, hub_str_of(value));
    }
}

static void add_command(hub_buf *json, const cli_options *options)
{
    add_member(json, "command", options->arguments[1]);
    if (options->argument_count > 2) {
        hub_json_add_key(json, HUB_STR("args"));
        hub_buf_add_char(json, '[');
        for (size_t i = 2; i < options->argument_count; i++) {
            hub_json_add_comma(json);
            hub_json_add_string(json, hub_str_of(options->arguments[i]));
        }
        hub_buf_add_char(json, ']');
    }
}

static void add_disabled(const manifest_edit *edit, hub_buf *json)
{
    if (edit->options->disabled) {
        hub_json_add_key(json, edit->is_foreign ? HUB_STR("disabled") : HUB_STR("enabled"));
        hub_buf_add(json, edit->is_foreign ? HUB_STR("true") : HUB_STR("false"));
    }
}

/* What the command line says of the new toolset. */
static int describe_toolset(const manifest_edit *edit, hub_buf *json)
{
    const cli_options *options = edit->options;
    bool has_target = options->argument_count > 1;
    bool is_url = has_target && strstr(options->arguments[1], "://") != NULL;
    if (has_target == (options->module != NULL) || (is_url && options->argument_count > 2)) {
        cli_complain("say what \"%s\" is: -- COMMAND ARGUMENT…, or one URL, or --module PLUGIN",
                     options->arguments[0]);
        return EXIT_USAGE;
    }
    hub_buf_add_char(json, '{');
    if (is_url) {
        add_member(json, "type", edit->is_foreign ? "http" : NULL);
        add_member(json, "url", options->arguments[1]);
    } else if (has_target) {
        add_command(json, options);
    }
    add_member(json, "module", options->module);
    add_member(json, "cwd", options->cwd);
    add_member(json, "description", options->description);
    int status = add_pairs(json, "env", options->envs, options->env_count, "=");
    if (status == EXIT_OK) {
        status = add_pairs(json, "headers", options->headers, options->header_count, ":");
    }
    add_disabled(edit, json);
    hub_buf_add_char(json, '}');
    return status;
}

static hub_err add_toolset(manifest_edit *edit, hub_str json)
{
    const char *name = edit->options->arguments[0];
    const hub_edit_path path = cli_manifest_toolset(edit, name, NULL);
    const hub_node *value = NULL;
    if (cli_manifest_find(edit, &path) != NULL) {
        return hub_fail(&edit->why, HUB_EEXIST,
                        "%s: there is a toolset \"%s\" already: remove it first, or change it with "
                        "`patchbay set`",
                        edit->path, name);
    }
    edit->touched = name;
    hub_err err = read_value(edit, "command line.json", json, &value);
    return err == HUB_OK ? cli_manifest_change(edit, &path, value) : err;
}

/* Add the toolset that the first argument names; without JSON, as the options describe it. */
static int add_named(cli_options *options, hub_str json)
{
    manifest_edit edit;
    int status = cli_manifest_begin(&edit, options, true);
    if (status != EXIT_OK) {
        return status;
    }
    hub_buf made;
    hub_buf_init(&made, HUB_LIMIT_CONFIG_BYTES);
    if (json.len > 0) {
        hub_buf_add(&made, (hub_str){.ptr = json.ptr, .len = json.len - 1});
        add_disabled(&edit, &made);
        hub_buf_add_char(&made, '}');
    } else {
        status = describe_toolset(&edit, &made);
    }
    hub_err err = status == EXIT_OK ? add_toolset(&edit, hub_buf_str(&made)) : HUB_OK;
    hub_buf_fini(&made);
    if (status != EXIT_OK) {
        cli_manifest_abandon(&edit);
        return status;
    }
    const char *path = edit.path;
    status = cli_manifest_end(&edit, err);
    if (status == EXIT_OK && !options->dry_run) {
        hub_buf word;
        hub_buf_init(&word, HUB_LIMIT_CONFIG_BYTES);
        cli_add_word(&word, hub_str_of(path));
        cli_complain("%s: toolset \"%s\" is added; `patchbay check " HUB_STR_FMT
                     " --connect` tries it",
                     path, options->arguments[0], HUB_STR_ARG(hub_buf_str(&word)));
        hub_buf_fini(&word);
    }
    return status;
}

int cli_add_entry(cli_options *options, const char *name, hub_str json)
{
    options->arguments[0] = name;
    return add_named(options, json);
}

int cli_add(cli_options *options)
{
    int status = want(options, 1, CLI_MAX_LIST,
                      "add NAME -- COMMAND [ARGUMENT]... | add NAME URL | add NAME --module PLUGIN "
                      "| add SERVER[@VERSION] | add FILE.mcpb");
    bool is_alone = options->argument_count == 1 && options->module == NULL;
    if (status == EXIT_OK && is_alone && cli_is_bundle(options->arguments[0])) {
        return cli_add_bundle(options, options->arguments[0], NULL, NULL);
    }
    if (status == EXIT_OK && is_alone && strchr(options->arguments[0], '/') != NULL) {
        return cli_add_registered(options);
    }
    return status == EXIT_OK ? add_named(options, HUB_STR_EMPTY) : status;
}

/* The key whose value is an object: `toolsets.git.timeout`, or a JSON pointer where keys have dots.
 */
static hub_err read_path(manifest_edit *edit, const char *text, hub_edit_path *path)
{
    bool is_pointer = text[0] == '/';
    char *copy = hub_arena_strdup(edit->arena, hub_str_of(is_pointer ? text + 1 : text));
    *path = (hub_edit_path){.count = 0};
    while (copy != NULL) {
        char *end = strchr(copy, is_pointer ? '/' : '.');
        if (copy[0] == '\0' || end == copy) {
            return hub_fail(&edit->why, HUB_EINVAL, "\"%s\": a key in it is empty", text);
        }
        if (path->count == HUB_EDIT_MAX_STEPS) {
            return hub_fail(&edit->why, HUB_ELIMIT, "\"%s\": more than %d keys", text,
                            HUB_EDIT_MAX_STEPS);
        }
        path->steps[path->count++] = copy;
        if (end != NULL) {
            *end++ = '\0';
        }
        copy = end;
    }
    return path->count > 0 ? HUB_OK : hub_fail(&edit->why, HUB_ENOMEM, "out of memory");
}

static hub_err set_value(manifest_edit *edit)
{
    const cli_options *options = edit->options;
    hub_edit_path path;
    const hub_node *value = NULL;
    hub_err err = read_path(edit, options->arguments[0], &path);
    if (err == HUB_OK) {
        err = read_value(edit, "VALUE.yaml", hub_str_of(options->arguments[1]), &value);
    }
    return err == HUB_OK ? cli_manifest_change(edit, &path, value) : err;
}

int cli_set(cli_options *options)
{
    manifest_edit edit;
    int status = want(options, 2, 2, "set KEY VALUE, like: set toolsets.git.timeout 30s");
    if (status == EXIT_OK) {
        status = cli_manifest_begin(&edit, options, true);
    }
    return status == EXIT_OK ? cli_manifest_end(&edit, set_value(&edit)) : status;
}

int cli_unset(cli_options *options)
{
    manifest_edit edit;
    hub_edit_path path;
    int status = want(options, 1, 1, "unset KEY, like: unset toolsets.git.timeout");
    if (status == EXIT_OK) {
        status = cli_manifest_begin(&edit, options, false);
    }
    if (status != EXIT_OK) {
        return status;
    }
    hub_err err = read_path(&edit, options->arguments[0], &path);
    err = err == HUB_OK ? cli_manifest_change(&edit, &path, NULL) : err;
    return cli_manifest_end(&edit, err);
}

static hub_err fail_unknown(manifest_edit *edit, const char *name)
{
    hub_edit_path all = cli_manifest_toolset(edit, name, NULL);
    hub_nearest near;
    hub_buf text;
    all.count--;
    const hub_node *toolsets = cli_manifest_find(edit, &all);
    hub_nearest_begin(&near, hub_str_of(name));
    for (const hub_node *at = toolsets != NULL ? toolsets->first : NULL; at != NULL;
         at = at->next) {
        hub_nearest_offer(&near, hub_str_of(at->key != NULL ? at->key : ""));
    }
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_missing_toolset(hub_str_of(name), near.found, &text);
    hub_err err = hub_fail(&edit->why, HUB_ENOTFOUND, "%s: " HUB_STR_FMT, edit->path,
                           HUB_STR_ARG(hub_buf_str(&text)));
    hub_buf_fini(&text);
    return err;
}

/* Begin a change of a toolset that is there. */
static int begin_toolset(manifest_edit *edit, cli_options *options, const char *usage)
{
    int status = want(options, 1, 1, usage);
    if (status == EXIT_OK) {
        status = cli_manifest_begin(edit, options, false);
    }
    if (status != EXIT_OK) {
        return status;
    }
    const char *name = options->arguments[0];
    const hub_edit_path path = cli_manifest_toolset(edit, name, NULL);
    if (cli_manifest_find(edit, &path) != NULL) {
        return EXIT_OK;
    }
    return cli_manifest_end(edit, fail_unknown(edit, name));
}

int cli_remove(cli_options *options)
{
    manifest_edit edit;
    int status = begin_toolset(&edit, options, "remove NAME");
    if (status != EXIT_OK) {
        return status;
    }
    const hub_edit_path path = cli_manifest_toolset(&edit, options->arguments[0], NULL);
    return cli_manifest_end(&edit, cli_manifest_change(&edit, &path, NULL));
}

/* Another program's file says `disabled`, unless it says `enabled` already. */
static hub_err switch_toolset(manifest_edit *edit, bool is_on)
{
    const char *name = edit->options->arguments[0];
    const hub_edit_path enabled = cli_manifest_toolset(edit, name, "enabled");
    const hub_edit_path disabled = cli_manifest_toolset(edit, name, "disabled");
    bool says_disabled = cli_manifest_find(edit, &disabled) != NULL ||
                         (edit->is_foreign && cli_manifest_find(edit, &enabled) == NULL);
    const hub_node value = {.kind = is_on != says_disabled ? HUB_NODE_TRUE : HUB_NODE_FALSE};
    edit->touched = name;
    return cli_manifest_change(edit, says_disabled ? &disabled : &enabled, &value);
}

static int switch_command(cli_options *options, bool is_on)
{
    manifest_edit edit;
    int status = begin_toolset(&edit, options, is_on ? "enable NAME" : "disable NAME");
    return status == EXIT_OK ? cli_manifest_end(&edit, switch_toolset(&edit, is_on)) : status;
}

int cli_enable(cli_options *options)
{
    return switch_command(options, true);
}

int cli_disable(cli_options *options)
{
    return switch_command(options, false);
}
