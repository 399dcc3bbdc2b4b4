/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchbay doctor: what of an installation is not as it must be, and what helps. It reads and looks;
 * it starts no server and changes nothing. `check --connect` is who starts servers.
 */
#include "cli/cli.h"

#include "config/file.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_BYTES = 64 * 1024, OUTPUT_BYTES = 4 * 1024 * 1024 };

typedef struct examination {
    cli_options *options;
    hub_config *config; /* NULL: it cannot be read */
    hub_buf json;
    size_t problems;
    size_t warnings;
} examination;

typedef enum finding { FINE, DOUBTFUL, BAD } finding;

/* Say one thing. `cure` may be NULL; both are finished texts. */
static void tell(examination *all, finding how, const char *subject, const char *text,
                 const char *cure)
{
    static const char *const WORDS[] = {[FINE] = "ok", [DOUBTFUL] = "warning", [BAD] = "problem"};
    all->problems += how == BAD;
    all->warnings += how == DOUBTFUL;
    if (all->options->json) {
        hub_json_add_comma(&all->json);
        hub_buf_add(&all->json, HUB_STR("{\"state\":"));
        hub_json_add_string(&all->json, hub_str_of(WORDS[how]));
        hub_json_add_key(&all->json, HUB_STR("subject"));
        hub_json_add_string(&all->json, hub_str_of(subject));
        hub_json_add_key(&all->json, HUB_STR("text"));
        hub_json_add_string(&all->json, hub_str_of(text));
        if (cure != NULL) {
            hub_json_add_key(&all->json, HUB_STR("cure"));
            hub_json_add_string(&all->json, hub_str_of(cure));
        }
        hub_buf_add_char(&all->json, '}');
        return;
    }
    hub_buf line;
    hub_buf_init(&line, TEXT_BYTES);
    hub_buf_printf(&line, "%-8s %s: %s", WORDS[how], subject, text);
    hub_buf_add(&line, cure != NULL ? HUB_STR("\n         ") : HUB_STR_EMPTY);
    hub_buf_add(&line, cure != NULL ? hub_str_of(cure) : HUB_STR_EMPTY);
    cli_report(hub_buf_str(&line));
    hub_buf_fini(&line);
}

static void look_at_manifest(examination *all)
{
    hub_error why = {.code = HUB_OK};
    const char *path = all->options->config_count > 0 ? all->options->configs[0] : NULL;
    if (cli_read_config(all->options, &all->config, &why) != HUB_OK) {
        tell(all, BAD, "manifest", why.text,
             "set the variable, or correct that line; `patchbay help set`");
        return;
    }
    if (path == NULL) {
        tell(all, DOUBTFUL, "manifest", "there is none: plugins that need no configuration are all",
             "patchbay init, then patchbay add; or patchbay import");
    } else {
        tell(all, FINE, "manifest", path, NULL);
    }
    for (size_t i = 0; i < all->config->warning_count; i++) {
        tell(all, DOUBTFUL, "manifest", all->config->warnings[i], NULL);
    }
    for (size_t i = 0; i < all->config->refused_count; i++) {
        tell(all, BAD, "manifest", all->config->refused[i].text, "correct the entry, or remove it");
    }
    const hub_config_file *file = all->config->files;
    for (; file != NULL; file = file->next) {
        struct stat status;
        if (stat(file->path, &status) == 0 && (status.st_mode & S_IWOTH) != 0) {
            tell(all, BAD, file->path, "every user of this machine can change it",
                 "chmod o-w it: it says what runs");
        }
    }
}

/* Whether a shell would find it; with a '/' in it, it is a path (execvp(3)). */
static bool can_run(const char *command, const char *path, hub_buf *place)
{
    if (strchr(command, '/') != NULL) {
        return access(command, X_OK) == 0;
    }
    const char *rest = path != NULL ? path : "/usr/local/bin:/usr/bin:/bin";
    while (rest[0] != '\0') {
        size_t len = strcspn(rest, ":");
        hub_buf_clear(place);
        hub_buf_printf(place, "%.*s/%s", (int)len, rest, command);
        hub_buf_add_char(place, '\0');
        struct stat status;
        if (hub_buf_ok(place) && stat(hub_buf_str(place).ptr, &status) == 0 &&
            S_ISREG(status.st_mode) && access(hub_buf_str(place).ptr, X_OK) == 0) {
            return true;
        }
        rest += len + (rest[len] == ':');
    }
    return false;
}

/* What brings a program that servers are started with. */
static const char *find_cure(const char *command)
{
    static const struct {
        const char *command;
        const char *cure;
    } CURES[] = {
        {"npx", "install Node.js (Debian: apt install npm)"},
        {"node", "install Node.js (Debian: apt install nodejs)"},
        {"uvx", "install uv (pipx install uv)"},
        {"uv", "install uv (pipx install uv)"},
        {"python", "Debian has python3 alone: patchbay set toolsets.NAME.command python3"},
        {"python3", "apt install python3"},
        {"docker", "install Docker, or run the server without it"},
        {"bunx", "install Bun, or use npx"},
        {"deno", "install Deno"},
    };
    for (size_t i = 0; i < sizeof CURES / sizeof *CURES; i++) {
        if (strcmp(CURES[i].command, command) == 0) {
            return CURES[i].cure;
        }
    }
    return "install it, or write its whole path: services have another PATH than shells";
}

static void look_at_server(examination *all, const hub_toolset_settings *toolset, hub_buf *text,
                           hub_buf *place)
{
    hub_str config = hub_str_of(toolset->config_json != NULL ? toolset->config_json : "{}");
    hub_str env = hub_json_get(config, HUB_STR("env"));
    hub_buf own_path;
    hub_buf_init(&own_path, TEXT_BYTES);
    bool has_path = hub_json_decode(hub_json_get(env, HUB_STR("PATH")), &own_path) == HUB_OK;
    hub_buf_add_char(&own_path, '\0');
    hub_buf_clear(text);
    if (hub_json_decode(hub_json_get(config, HUB_STR("command")), text) == HUB_OK) {
        hub_buf_add_char(text, '\0');
        const char *command = hub_buf_str(text).ptr;
        const char *path = has_path ? hub_buf_str(&own_path).ptr : getenv("PATH");
        char subject[128];
        char said[512];
        (void)snprintf(subject, sizeof subject, "toolset %s", toolset->key);
        bool is_there = can_run(command, path, place);
        (void)snprintf(said, sizeof said, is_there ? "%s is there" : "there is no program \"%s\"",
                       command);
        tell(all, is_there ? FINE : BAD, subject, said, is_there ? NULL : find_cure(command));
    }
    hub_buf_fini(&own_path);
}

static void look_at_servers(examination *all)
{
    hub_buf text;
    hub_buf place;
    hub_buf_init(&text, TEXT_BYTES);
    hub_buf_init(&place, TEXT_BYTES);
    const hub_settings *settings = &all->config->settings;
    for (size_t i = 0; i < settings->toolset_count; i++) {
        const hub_toolset_settings *toolset = &settings->toolsets[i];
        if (toolset->enabled && strcmp(toolset->module, "mcp_upstream") == 0) {
            look_at_server(all, toolset, &text, &place);
        }
    }
    hub_buf_fini(&text);
    hub_buf_fini(&place);
}

/* Whether one of the plugin folders has the module. */
static bool has_module(const hub_names *folders, const char *module)
{
    bool is_there = false;
    for (size_t i = 0; !is_there && i < folders->count; i++) {
        char *file = NULL;
        if (asprintf(&file, "%s/%s.so", folders->items[i], module) >= 0) {
            is_there = access(file, R_OK) == 0;
            free(file);
        }
    }
    return is_there;
}

static void look_at_plugins(examination *all)
{
    const hub_settings *settings = &all->config->settings;
    const hub_names *folders = &settings->modules.paths;
    char said[512];
    for (size_t i = 0; i < folders->count; i++) {
        bool is_there = access(folders->items[i], R_OK | X_OK) == 0;
        tell(all, is_there ? FINE : DOUBTFUL, "plugins", folders->items[i],
             is_there ? NULL : "the folder cannot be read: correct modules.paths");
    }
    for (size_t i = 0; i < settings->toolset_count; i++) {
        const hub_toolset_settings *toolset = &settings->toolsets[i];
        if (toolset->enabled && !has_module(folders, toolset->module)) {
            bool is_remote = strcmp(toolset->module, "mcp_remote") == 0;
            (void)snprintf(said, sizeof said, "toolset %s needs the plugin %s, which is not there",
                           toolset->key, toolset->module);
            tell(all, BAD, "plugins", said,
                 is_remote ? "apt install patchbay-plugins-remote"
                           : "put it into a plugins folder: patchbay list modules");
        }
    }
}

static void look_at_network(examination *all)
{
    hub_error why = {.code = HUB_OK};
    if (all->config->settings.listen_count == 0) {
        return;
    }
    bool is_good = hub_config_load_network(all->config, &why) == HUB_OK;
    tell(all, is_good ? FINE : BAD, "listeners",
         is_good ? "tokens, certificates and addresses are as they must be" : why.text,
         is_good ? NULL : "patchbay help token; docs/SECURITY.md");
}

int cli_doctor(cli_options *options)
{
    examination all = {.options = options};
    hub_buf_init(&all.json, OUTPUT_BYTES);
    hub_buf_add_char(&all.json, '[');
    look_at_manifest(&all);
    if (all.config != NULL) {
        cli_complete_config(all.config);
        look_at_plugins(&all);
        look_at_servers(&all);
        look_at_network(&all);
    }
    hub_buf_add_char(&all.json, ']');
    if (options->json) {
        cli_print_json(hub_buf_str(&all.json));
    } else {
        (void)printf("%zu problem%s, %zu warning%s\n", all.problems, all.problems == 1 ? "" : "s",
                     all.warnings, all.warnings == 1 ? "" : "s");
    }
    hub_buf_fini(&all.json);
    hub_config_destroy(all.config);
    return all.problems > 0 ? EXIT_CONFIG : EXIT_OK;
}
