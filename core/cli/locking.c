/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/locking.h"

#include "base/limits.h"
#include "cli/missing.h"
#include "cli/reach.h"
#include "cli/rows.h"
#include "cli/waiting.h"
#include "hub/kernel/hub.h"
#include "hub/pins/pins.h"

#include <stdlib.h>
#include <sys/stat.h>

/* What is kept of definitions: those of the file, and those of the servers. */
enum { ARENA_BYTES = 1024 * 1024 * 1024 };

/* ---- what there is --------------------------------------------------------------------------- */

static void on_found(void *ctx, const char *key, hub_err err, hub_str text, uint64_t took_ms)
{
    cli_locking *locking = ctx;
    const hub_toolset *toolset = hub_find_toolset(cli_local_hub(locking->local), hub_str_of(key));
    const hub_lock_toolset *known = hub_lock_find(&locking->old, hub_str_of(key));
    hub_lock_toolset *into = &locking->now.toolsets[locking->now.count];
    (void)took_ms;
    hub_assert(locking->now.count < locking->cap && toolset != NULL);
    if (err == HUB_OK && hub_lock_gather(toolset, locking->arena, into) == HUB_OK) {
        locking->now.count++;
        return;
    }
    if (err == HUB_OK) {
        cli_complain("out of memory");
        locking->status = EXIT_INTERNAL;
    } else if (err != HUB_EDENIED) { /* which is switched off */
        cli_complain("toolset \"%s\" cannot be reached, and stays as it %s: " HUB_STR_FMT, key,
                     known != NULL ? "is in the lock file" : "was, not in the lock file",
                     HUB_STR_ARG(text));
        locking->status = EXIT_UNREACHABLE;
    }
    if (known != NULL) {
        *into = *known;
        locking->now.count++;
    }
}

/* ---- beginning and end ----------------------------------------------------------------------- */

static int read_old(cli_locking *locking, bool replaces)
{
    hub_error why = {.code = HUB_OK};
    locking->seen = hub_file_look(locking->path);
    hub_err err = hub_lock_read(locking->path, locking->arena, &locking->old, NULL, &why);
    locking->is_there = err == HUB_OK;
    bool may_go_on = err == HUB_ENOTFOUND ||
                     (replaces && (err == HUB_EPARSE || err == HUB_EINVAL || err == HUB_ELIMIT));
    if (err != HUB_OK && !may_go_on) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    if (err != HUB_OK && err != HUB_ENOTFOUND) {
        cli_complain("warning: %s", why.text);
        locking->old = (hub_lock){.count = 0};
    }
    return EXIT_OK;
}

static int find_path(cli_locking *locking)
{
    const hub_settings *settings = &cli_local_config(locking->local)->settings;
    locking->path = settings->pins.lock;
    if (settings->pins.mode == HUB_PINS_OFF) {
        cli_complain("policy.pinned is off: no hub would read a lock file");
    } else if (locking->path == NULL) {
        cli_complain("a lock file lies beside a manifest: name one with --config");
    } else if (!settings->toolsets_listed) {
        cli_complain("the manifest lists no toolsets, and only those that it lists can be locked");
    } else {
        return EXIT_OK;
    }
    return EXIT_CONFIG;
}

static int check_only(const cli_locking *locking, const char *only)
{
    const hub_orchestrator *hub = cli_local_hub(locking->local);
    if (only == NULL || hub_find_toolset(hub, hub_str_of(only)) != NULL) {
        return EXIT_OK;
    }
    hub_buf text;
    hub_buf_init(&text, SIZE_MAX / 4);
    hub_missing_toolset(hub_str_of(only), hub_nearest_toolset(hub, hub_str_of(only)), &text);
    cli_complain(HUB_STR_FMT, HUB_STR_ARG(hub_buf_str(&text)));
    hub_buf_fini(&text);
    return EXIT_USAGE;
}

static int ask(cli_locking *locking, const char *only)
{
    hub_orchestrator *hub = cli_local_hub(locking->local);
    cli_waiting waiting;
    locking->cap = hub_toolset_total(hub);
    locking->now.toolsets =
        hub_arena_array(locking->arena, locking->cap, sizeof *locking->now.toolsets);
    if (locking->now.toolsets == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    cli_waiting_begin(&waiting, cli_local_loop(locking->local), hub);
    hub_err err = hub_reach_all(hub, only, on_found, locking);
    cli_waiting_end(&waiting);
    hub_lock_sort_toolsets(&locking->now);
    return err == HUB_OK && locking->status != EXIT_INTERNAL ? EXIT_OK : EXIT_INTERNAL;
}

int cli_locking_begin(cli_options *options, const char *only, bool replaces, cli_locking *locking)
{
    *locking = (cli_locking){.arena = hub_arena_create(ARENA_BYTES)};
    if (locking->arena == NULL) {
        cli_complain("out of memory");
        return EXIT_INTERNAL;
    }
    options->asks_anew = true;
    options->overrides.ignores_lock = true;
    int status = cli_local_open(options, false, &locking->local);
    if (status == EXIT_OK) {
        status = find_path(locking);
    }
    if (status == EXIT_OK) {
        status = read_old(locking, replaces);
    }
    if (status == EXIT_OK) {
        status = check_only(locking, only);
    }
    return status == EXIT_OK ? ask(locking, only) : status;
}

void cli_locking_end(cli_locking *locking)
{
    cli_local_close(locking->local);
    hub_arena_destroy(locking->arena);
}

/* ---- writing --------------------------------------------------------------------------------- */

static void report(const cli_locking *locking, const hub_lock *lock, bool in_rows)
{
    size_t tools = 0;
    size_t prompts = 0;
    hub_buf line;
    for (size_t i = 0; i < lock->count; i++) {
        tools += lock->toolsets[i].tools.count;
        prompts += lock->toolsets[i].prompts.count;
    }
    if (in_rows) {
        cli_row_begin(&line);
        cli_row_add(&line, "lock", hub_str_of(locking->path));
        cli_row_add_count(&line, "toolsets", lock->count);
        cli_row_add_count(&line, "tools", tools);
        cli_row_add_count(&line, "prompts", prompts);
        cli_row_print(&line);
        return;
    }
    hub_buf_init(&line, SIZE_MAX / 4);
    hub_buf_printf(&line, "%s: %zu toolset%s, %zu %s, %zu %s", locking->path, lock->count,
                   lock->count == 1 ? "" : "s", tools, hub_kind_noun(HUB_KIND_TOOL, tools), prompts,
                   hub_kind_noun(HUB_KIND_PROMPT, prompts));
    cli_print(hub_buf_str(&line));
    hub_buf_fini(&line);
}

int cli_locking_write(cli_locking *locking, const cli_options *options, const hub_lock *lock)
{
    hub_buf text;
    hub_error why = {.code = HUB_OK};
    struct stat manifest;
    hub_buf_init(&text, HUB_LIMIT_LOCK_BYTES);
    hub_lock_write(lock, &text);
    const hub_file_change change = {.content = hub_buf_str(&text), .seen = locking->seen};
    hub_err err = hub_buf_ok(&text)
                      ? hub_file_replace(locking->path, &change, &why)
                      : hub_fail(&why, text.failed, "%s: it would have more than %u bytes",
                                 locking->path, HUB_LIMIT_LOCK_BYTES);
    hub_buf_fini(&text);
    if (err != HUB_OK) {
        cli_complain("%s", why.text);
        return err == HUB_ENOMEM ? EXIT_INTERNAL : EXIT_CONFIG;
    }
    bool is_new = locking->seen.inode == 0;
    if (is_new && stat(options->configs[0], &manifest) == 0 &&
        chmod(locking->path, manifest.st_mode & 0666 & ~(mode_t)S_IWOTH) != 0) {
        cli_complain("warning: %s: only this user can read the file", locking->path);
    }
    report(locking, lock, options->json);
    return EXIT_OK;
}
