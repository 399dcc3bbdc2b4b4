/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay approve: what a server offers now takes the place of what the lock file has. */
#include "cli/locking.h"

#include <stdlib.h>

/* What is to be approved. */
typedef struct scope {
    char *toolset; /* NULL: all */
    const char *tool;
} scope;

/* What has been looked at, and what of it is approved. */
typedef struct approval {
    hub_lock_scope of;
    bool in_rows; /* --json */
    size_t count;
} approval;

static void print_approved(hub_str toolset, const char *what, const hub_lock_entry *entry,
                           bool is_gone)
{
    hub_buf line;
    hub_buf_init(&line, SIZE_MAX / 4);
    hub_buf_printf(&line, "%s " HUB_STR_FMT "%s" HUB_STR_FMT " (%s)",
                   is_gone ? "removed" : "approved", HUB_STR_ARG(toolset),
                   entry->name.len > 0 ? ":" : "", HUB_STR_ARG(entry->name), what);
    cli_report(hub_buf_str(&line));
    hub_buf_fini(&line);
}

static void on_approved(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                        const hub_lock_entry *now)
{
    approval *all = ctx;
    const hub_lock_entry none = {.name = HUB_STR_EMPTY};
    bool is_origin = strcmp(what, "origin") == 0;
    const hub_lock_entry *either = is_origin ? &none : now != NULL ? now : old;
    if (all->in_rows) {
        cli_lock_print_row(&all->count, toolset, what, old, now);
        return;
    }
    all->count++;
    print_approved(toolset, is_origin ? "command or URL" : what, either, now == NULL);
}

static void on_shown(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                     const hub_lock_entry *now)
{
    approval *all = ctx;
    if (hub_lock_scope_has(&all->of, what, old, now)) {
        (all->in_rows ? cli_lock_print_row : cli_lock_print)(&all->count, toolset, what, old, now);
    }
}

static void show_all(const cli_locking *locking, approval *all)
{
    for (size_t i = 0; i < locking->now.count; i++) {
        const hub_lock_toolset *now = &locking->now.toolsets[i];
        hub_lock_compare(hub_lock_find(&locking->old, now->key), now, on_shown, all);
    }
}

int cli_read_scope(const cli_options *options, char **ret_toolset, const char **ret_tool)
{
    if (options->argument_count == 0) {
        return EXIT_OK;
    }
    const char *word = options->arguments[0];
    const char *colon = strchr(word, ':');
    if (colon == word || (colon != NULL && colon[1] == '\0')) {
        cli_complain("\"%s\" is not TOOLSET or TOOLSET:TOOL", word);
        return EXIT_USAGE;
    }
    *ret_toolset = hub_str_dup(colon != NULL ? hub_str_between(word, colon) : hub_str_of(word));
    *ret_tool = colon != NULL ? colon + 1 : NULL;
    return *ret_toolset != NULL ? EXIT_OK : EXIT_INTERNAL;
}

static bool has(const hub_lock *lock, const scope *of)
{
    const hub_lock_toolset *toolset = hub_lock_find(lock, hub_str_of(of->toolset));
    hub_str name = hub_str_of(of->tool);
    return toolset != NULL && (hub_lock_find_entry(&toolset->tools, name) != NULL ||
                               hub_lock_find_entry(&toolset->prompts, name) != NULL);
}

static bool is_known(const cli_locking *locking, const scope *of)
{
    return has(&locking->old, of) || has(&locking->now, of);
}

static int run(cli_options *options, const scope *of, cli_locking *locking)
{
    approval all = {.of = {.tool = hub_str_of(of->tool != NULL ? of->tool : "")},
                    .in_rows = options->json};
    hub_lock lock = {.count = 0};
    if (!locking->is_there) {
        cli_complain("%s: there is no such file: write it with `patchbay lock`", locking->path);
        return EXIT_CONFIG;
    }
    if (options->diff) {
        show_all(locking, &all);
    } else if (hub_lock_approve(&locking->old, &locking->now, &all.of, locking->arena, on_approved,
                                &all, &lock) != HUB_OK) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    if (of->tool != NULL && !is_known(locking, of)) {
        cli_complain("toolset \"%s\" has no tool or prompt \"%s\"", of->toolset, of->tool);
        return EXIT_USAGE;
    }
    if (all.count == 0 && !options->json) {
        cli_print(HUB_STR("nothing to approve: all that was looked at is as the lock file has it"));
    }
    return all.count > 0 && !options->diff ? cli_locking_write(locking, options, &lock) : EXIT_OK;
}

int cli_approve(cli_options *options)
{
    if (options->http_count + options->socket_count > 0) {
        return cli_approve_running(options);
    }
    scope of = {.toolset = NULL};
    cli_locking locking;
    int status = cli_read_scope(options, &of.toolset, &of.tool);
    if (status == EXIT_OK) {
        status = cli_locking_begin(options, of.toolset, false, &locking);
        status = status == EXIT_OK ? run(options, &of, &locking) : status;
        status = status == EXIT_OK ? locking.status : status;
        cli_locking_end(&locking);
    }
    free(of.toolset);
    return status;
}
