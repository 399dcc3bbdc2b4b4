/* SPDX-License-Identifier: Apache-2.0 */
/*
 * patchbay doctor: what of an installation is not as it must be, and what helps. It reads and looks;
 * it changes nothing, and starts no server unless it is told to (--connect).
 */
#include "cli/doctor.h"

#include "cli/columns.h"
#include "cli/reach.h"
#include "cli/waiting.h"

#include "config/file.h"
#include "wire/json.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { TEXT_BYTES = 64 * 1024, OUTPUT_BYTES = 4 * 1024 * 1024, SLOW_MS = 5000 };

void cli_doctor_tell(cli_examination *all, cli_finding how, const char *subject, const char *text,
                     const char *cure)
{
    static const char *const WORDS[] = {
        [CLI_FINE] = "ok", [CLI_DOUBTFUL] = "warning", [CLI_BAD] = "problem"};
    static const char *const COLOURS[] = {
        [CLI_FINE] = "\033[32m", [CLI_DOUBTFUL] = "\033[33m", [CLI_BAD] = "\033[31m"};
    all->problems += how == CLI_BAD;
    all->warnings += how == CLI_DOUBTFUL;
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
    bool is_coloured = cli_has_colours(STDOUT_FILENO);
    (void)printf("%s%-8s%s ", is_coloured ? COLOURS[how] : "", WORDS[how],
                 is_coloured ? "\033[0m" : "");
    hub_buf_printf(&line, "%s: %s", subject, text);
    hub_buf_add(&line, cure != NULL ? HUB_STR("\n         ") : HUB_STR_EMPTY);
    hub_buf_add(&line, cure != NULL ? hub_str_of(cure) : HUB_STR_EMPTY);
    cli_report(hub_buf_str(&line));
    hub_buf_fini(&line);
}

/* Whether a problem of the toolset was told; from now on it was. */
static bool note_failed(cli_examination *all, const char *key)
{
    size_t at = 0;
    while (hub_buf_ok(&all->failed) && at < all->failed.len) {
        if (strcmp(all->failed.ptr + at, key) == 0) {
            return true;
        }
        at += strlen(all->failed.ptr + at) + 1;
    }
    hub_buf_add(&all->failed, (hub_str){.ptr = key, .len = strlen(key) + 1});
    return false;
}

void cli_doctor_tell_of(cli_examination *all, cli_finding how, const char *key, const char *text,
                        const char *cure)
{
    char subject[128];
    (void)snprintf(subject, sizeof subject, "toolset %s", key);
    if (how != CLI_BAD || !note_failed(all, key)) {
        cli_doctor_tell(all, how, subject, text, cure);
    }
}

/* A manifest that cannot be read: what helps, where the sentence does not say it. */
static const char *cure_of_manifest(const char *text)
{
    if (strstr(text, "variable") != NULL) {
        return "set the variable, or write ${NAME:-DEFAULT}";
    }
    return strstr(text, "did you mean") != NULL ? NULL : "correct that line";
}

static void look_at_manifest(cli_examination *all)
{
    hub_error why = {.code = HUB_OK};
    const char *path = all->options->config_count > 0 ? all->options->configs[0] : NULL;
    if (cli_read_config(all->options, &all->config, &why) != HUB_OK) {
        cli_doctor_tell(all, CLI_BAD, "manifest", why.text, cure_of_manifest(why.text));
        return;
    }
    if (path == NULL) {
        cli_doctor_tell(all, CLI_DOUBTFUL, "manifest",
                        "there is none: plugins that need no configuration are all",
                        "patchbay init, then patchbay add; or patchbay import");
    } else {
        cli_doctor_tell(all, CLI_FINE, "manifest", path, NULL);
    }
    for (size_t i = 0; i < all->config->warning_count; i++) {
        cli_doctor_tell(all, CLI_DOUBTFUL, "manifest", all->config->warnings[i], NULL);
    }
    for (size_t i = 0; i < all->config->refused_count; i++) {
        cli_doctor_tell(all, CLI_BAD, "manifest", all->config->refused[i].text,
                        "correct the entry, or remove it");
    }
    const hub_config_file *file = all->config->files;
    for (; file != NULL; file = file->next) {
        struct stat status;
        if (stat(file->path, &status) == 0 && (status.st_mode & S_IWOTH) != 0) {
            cli_doctor_tell(all, CLI_BAD, file->path, "every user of this machine can change it",
                            "chmod o-w it: it says what runs");
        }
    }
}

hub_str cli_doctor_value(const hub_toolset_settings *toolset, const char *key)
{
    const char *config = toolset->config_json;
    return config != NULL ? hub_json_get(hub_str_of(config), hub_str_of(key)) : HUB_STR_EMPTY;
}

bool cli_doctor_starts(const hub_toolset_settings *toolset)
{
    return toolset->enabled && strcmp(toolset->module, "mcp_upstream") == 0;
}

static void look_at_folders(cli_examination *all, const hub_names *folders, const char *cure)
{
    for (size_t i = 0; i < folders->count; i++) {
        bool is_there = access(folders->items[i], R_OK | X_OK) == 0;
        cli_doctor_tell(all, is_there ? CLI_FINE : CLI_DOUBTFUL, "plugins", folders->items[i],
                        is_there ? NULL : cure);
    }
}

static void look_at_plugins(cli_examination *all)
{
    const hub_module_settings *modules = &all->config->settings.modules;
    look_at_folders(all, &modules->paths, "the folder cannot be read: correct modules.paths");
    look_at_folders(all, &modules->own_paths,
                    "the folder cannot be read: install Patchbay's plugins there");
}

/* ---- servers, started ------------------------------------------------------------------------- */

/* What helps, where the sentence does not say it; NULL: it does. */
static const char *cure_of(const cli_examination *all, const char *text, char *room, size_t cap)
{
    const char *file = all->options->config_count > 0 ? all->options->configs[0] : NULL;
    bool has_started =
        strstr(text, "exited with") != NULL || strstr(text, "not ready within") != NULL;
    if (has_started && file != NULL) {
        (void)snprintf(room, cap,
                       "all that it writes to standard error: patchbay check %s --connect "
                       "--log-level info",
                       file);
        return room;
    }
    bool has_no_advice = strstr(text, "`") == NULL && strchr(text, '?') == NULL;
    return strncmp(text, "cannot reach ", 13) == 0 && has_no_advice
               ? "see that the server runs, and that `url` of its entry is its address"
               : NULL;
}

static void on_found(void *ctx, const char *key, hub_err err, hub_str text, uint64_t took_ms)
{
    cli_examination *all = ctx;
    char said[TEXT_BYTES];
    char room[512];
    if (err == HUB_EDENIED) {
        return; /* it is off */
    }
    if (err != HUB_OK) {
        (void)snprintf(said, sizeof said, HUB_STR_FMT, HUB_STR_ARG(text));
        cli_doctor_tell_of(all, CLI_BAD, key, said, cure_of(all, said, room, sizeof room));
        return;
    }
    bool is_slow = took_ms > SLOW_MS;
    (void)snprintf(said, sizeof said, HUB_STR_FMT " after %.1f s", HUB_STR_ARG(text),
                   (double)took_ms / 1000.);
    cli_doctor_tell_of(all, is_slow ? CLI_DOUBTFUL : CLI_FINE, key, said,
                       is_slow
                           ? "npx and uvx look for a newer version at each start: name one "
                             "(NAME@VERSION), or install it; what a client asks first waits so long"
                           : NULL);
}

/* Start each server that is switched on, in a hub of its own. */
static void look_at_servers(cli_examination *all)
{
    cli_local *local = NULL;
    cli_waiting waiting;
    all->options->asks_anew = true;
    if (cli_local_open(all->options, false, &local) == EXIT_OK) {
        cli_waiting_begin(&waiting, cli_local_loop(local), cli_local_hub(local));
        if (hub_reach_all(cli_local_hub(local), NULL, on_found, all) != HUB_OK) {
            cli_complain("out of memory");
        }
        cli_waiting_end(&waiting);
    }
    cli_local_close(local);
}

int cli_doctor(cli_options *options)
{
    static void (*const LOOKS[])(cli_examination *) = {
        look_at_plugins,    cli_doctor_toolsets,  cli_doctor_programs, cli_doctor_environment,
        cli_doctor_folders, cli_doctor_listeners, cli_doctor_replicas,
    };
    cli_examination all = {.options = options};
    options->tells_config = true;
    hub_buf_init(&all.json, OUTPUT_BYTES);
    hub_buf_init(&all.failed, OUTPUT_BYTES);
    hub_buf_add_char(&all.json, '[');
    look_at_manifest(&all);
    if (all.config != NULL) {
        cli_complete_config(options, all.config);
        for (size_t i = 0; i < sizeof LOOKS / sizeof *LOOKS; i++) {
            LOOKS[i](&all);
        }
        if (options->connect && !all.is_unsafe) {
            look_at_servers(&all);
        }
    }
    hub_buf_add_char(&all.json, ']');
    if (options->json) {
        cli_print_json(hub_buf_str(&all.json));
    } else {
        (void)printf("%zu problem%s, %zu warning%s\n", all.problems, all.problems == 1 ? "" : "s",
                     all.warnings, all.warnings == 1 ? "" : "s");
    }
    hub_buf_fini(&all.json);
    hub_buf_fini(&all.failed);
    hub_config_destroy(all.config);
    return all.problems > 0 ? EXIT_CONFIG : EXIT_OK;
}
