/* SPDX-License-Identifier: Apache-2.0 */
/* patchbay approve: what a server offers now takes the place of what the lock file has. */
#include "cli/locking.h"

#include <stdlib.h>

/* What is to be approved. */
typedef struct scope {
    char *toolset; /* NULL: all */
    const char *tool;
} scope;

/* The toolset of the lock that is written; nothing of the old one is changed. */
typedef struct approval {
    const scope *of;
    bool shows;
    size_t count;
    hub_lock_toolset *toolset;
    hub_arena *arena;
    bool is_short_of_memory;
} approval;

static bool is_meant(const scope *of, const char *what, const hub_lock_entry *entry)
{
    bool is_item = strcmp(what, "tool") == 0 || strcmp(what, "prompt") == 0;
    return of->tool == NULL || (is_item && hub_str_is(entry->name, of->tool));
}

/* A list with another entry of that name, or without (`now` is NULL). */
static bool replace_entry(approval *of, hub_lock_list *list, hub_str name,
                          const hub_lock_entry *now)
{
    hub_lock_list made = {.items = hub_arena_array(of->arena, list->count + 1, sizeof *made.items)};
    if (made.items == NULL) {
        return false;
    }
    for (size_t i = 0; i < list->count; i++) {
        if (!hub_str_eq(list->items[i].name, name)) {
            made.items[made.count++] = list->items[i];
        }
    }
    if (now != NULL) {
        made.items[made.count++] = *now;
    }
    (void)hub_lock_sort(&made); /* each is there once */
    *list = made;
    return true;
}

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

static void on_change(void *ctx, hub_str toolset, const char *what, const hub_lock_entry *old,
                      const hub_lock_entry *now)
{
    approval *of = ctx;
    const hub_lock_entry *either = now != NULL ? now : old;
    hub_lock_entry none = {.name = HUB_STR_EMPTY};
    if (!is_meant(of->of, what, either)) {
        return;
    }
    if (of->shows) {
        cli_lock_print(&of->count, toolset, what, old, now);
        return;
    }
    of->count++;
    if (strcmp(what, "origin") == 0) {
        of->toolset->origin = now != NULL ? now->definition : HUB_STR_EMPTY;
        print_approved(toolset, "command or URL", &none, now == NULL);
        return;
    }
    if (strcmp(what, "instructions") == 0) {
        of->toolset->instructions = now != NULL ? *now : none;
    } else if (!replace_entry(
                   of, strcmp(what, "tool") == 0 ? &of->toolset->tools : &of->toolset->prompts,
                   either->name, now)) {
        of->is_short_of_memory = true;
    }
    print_approved(toolset, what, either, now == NULL);
}

/* The lock with what is approved put in. Toolsets that were not asked for stay. */
static bool approve(const cli_locking *locking, approval *of, hub_lock *ret_lock)
{
    const hub_lock *old = &locking->old;
    hub_lock made = {.toolsets = hub_arena_array(of->arena, old->count + locking->now.count,
                                                 sizeof *made.toolsets)};
    size_t i = 0;
    size_t k = 0;
    while (made.toolsets != NULL && (i < old->count || k < locking->now.count)) {
        int order = i == old->count ? 1
                    : k == locking->now.count
                        ? -1
                        : hub_str_cmp(old->toolsets[i].key, locking->now.toolsets[k].key);
        const hub_lock_toolset *before = order <= 0 ? &old->toolsets[i++] : NULL;
        const hub_lock_toolset *now = order >= 0 ? &locking->now.toolsets[k++] : NULL;
        of->toolset = &made.toolsets[made.count];
        *of->toolset = before != NULL ? *before : (hub_lock_toolset){.key = now->key};
        size_t count = of->count;
        if (now != NULL) {
            cli_locking_compare(before, now, on_change, of);
        }
        made.count += before != NULL || of->count > count;
    }
    *ret_lock = made;
    return made.toolsets != NULL && !of->is_short_of_memory;
}

/* TOOLSET, or TOOLSET:TOOL. */
static int read_scope(const cli_options *options, scope *ret_scope)
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
    ret_scope->toolset =
        hub_str_dup(colon != NULL ? hub_str_between(word, colon) : hub_str_of(word));
    ret_scope->tool = colon != NULL ? colon + 1 : NULL;
    return ret_scope->toolset != NULL ? EXIT_OK : EXIT_INTERNAL;
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
    approval all = {.of = of, .shows = options->diff, .arena = locking->arena};
    hub_lock lock;
    if (!locking->is_there) {
        cli_complain("%s: there is no such file: write it with `patchbay lock`", locking->path);
        return EXIT_CONFIG;
    }
    if (!approve(locking, &all, &lock)) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    if (of->tool != NULL && !is_known(locking, of)) {
        cli_complain("toolset \"%s\" has no tool or prompt \"%s\"", of->toolset, of->tool);
        return EXIT_USAGE;
    }
    if (all.count == 0) {
        cli_print(HUB_STR("nothing to approve: all that was looked at is as the lock file has it"));
    }
    return all.count > 0 && !all.shows ? cli_locking_write(locking, options, &lock) : EXIT_OK;
}

int cli_approve(cli_options *options)
{
    scope of = {.toolset = NULL};
    cli_locking locking;
    int status = read_scope(options, &of);
    if (status == EXIT_OK) {
        status = cli_locking_begin(options, of.toolset, false, &locking);
        status = status == EXIT_OK ? run(options, &of, &locking) : status;
        status = status == EXIT_OK ? locking.status : status;
        cli_locking_end(&locking);
    }
    free(of.toolset);
    return status;
}
