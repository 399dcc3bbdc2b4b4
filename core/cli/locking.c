/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/locking.h"

#include "base/limits.h"
#include "cli/reach.h"
#include "cli/waiting.h"
#include "hub/kernel/hub.h"
#include "hub/kernel/toolset.h"
#include "hub/pins/pins.h"
#include "tools/section.h"
#include "wire/json.h"

#include <stdlib.h>
#include <sys/stat.h>

/* What is kept of definitions: those of the file, and those of the servers. */
enum { ARENA_BYTES = 1024 * 1024 * 1024 };

/* ---- what there is --------------------------------------------------------------------------- */

static bool keep(hub_arena *arena, hub_str text, hub_str *ret_copy)
{
    *ret_copy = (hub_str){.ptr = hub_arena_strdup(arena, text), .len = text.len};
    return ret_copy->ptr != NULL;
}

/* False: out of memory. */
static bool add_item(hub_arena *arena, const hub_item *item, hub_buf *scratch,
                     hub_lock_entry *entry)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    return hub_pin_digest(item->original, scratch, hex) == HUB_OK &&
           keep(arena, item->name, &entry->name) && keep(arena, hub_str_of(hex), &entry->digest) &&
           keep(arena, hub_buf_str(scratch), &entry->definition);
}

static bool gather_list(hub_arena *arena, const hub_catalog *list, hub_lock_list *ret_list)
{
    hub_buf scratch;
    hub_buf_init(&scratch, SIZE_MAX / 4);
    size_t count = list != NULL ? list->count : 0;
    ret_list->items = hub_arena_array(arena, count, sizeof *ret_list->items);
    bool is_kept = ret_list->items != NULL;
    for (size_t i = 0; is_kept && i < count; i++) {
        is_kept = add_item(arena, &list->items[i], &scratch, &ret_list->items[i]);
    }
    hub_buf_fini(&scratch);
    ret_list->count = is_kept ? count : 0;
    (void)hub_lock_sort(ret_list); /* a catalog has each name once */
    return is_kept;
}

static bool gather_instructions(hub_arena *arena, const char *text, hub_lock_entry *entry)
{
    char hex[HUB_DIGEST_HEX_BYTES];
    hub_buf json;
    if (text == NULL) {
        return true;
    }
    hub_buf_init(&json, SIZE_MAX / 4);
    hub_json_add_string(&json, hub_str_of(text));
    hub_pin_digest_text(hub_str_of(text), hex);
    bool is_kept = hub_buf_ok(&json) && keep(arena, hub_str_of(hex), &entry->digest) &&
                   keep(arena, hub_buf_str(&json), &entry->definition);
    hub_buf_fini(&json);
    return is_kept;
}

static bool gather(cli_locking *locking, const hub_toolset *toolset, hub_lock_toolset *into)
{
    const char *origin = hub_toolset_settings_of(toolset)->origin;
    hub_arena *arena = locking->arena;
    return keep(arena, hub_str_of(hub_toolset_key(toolset)), &into->key) &&
           keep(arena, hub_str_of(origin != NULL ? origin : ""), &into->origin) &&
           gather_instructions(arena, hub_toolset_about(toolset)->instructions,
                               &into->instructions) &&
           gather_list(arena, hub_toolset_list(toolset, HUB_KIND_TOOL), &into->tools) &&
           gather_list(arena, hub_toolset_list(toolset, HUB_KIND_PROMPT), &into->prompts);
}

static void on_found(void *ctx, const char *key, hub_err err, hub_str text)
{
    cli_locking *locking = ctx;
    const hub_toolset *toolset = hub_find_toolset(cli_local_hub(locking->local), hub_str_of(key));
    const hub_lock_toolset *known = hub_lock_find(&locking->old, hub_str_of(key));
    hub_lock_toolset *into = &locking->now.toolsets[locking->now.count];
    hub_assert(locking->now.count < locking->cap && toolset != NULL);
    if (err == HUB_OK && gather(locking, toolset, into)) {
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
    hub_str near = hub_nearest_toolset(hub, hub_str_of(only));
    cli_complain("there is no toolset \"%s\"%s" HUB_STR_FMT "%s", only,
                 near.len > 0 ? "; did you mean \"" : "", HUB_STR_ARG(near),
                 near.len > 0 ? "\"?" : "");
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

static void report(const cli_locking *locking, const hub_lock *lock)
{
    size_t tools = 0;
    size_t prompts = 0;
    hub_buf line;
    hub_buf_init(&line, SIZE_MAX / 4);
    for (size_t i = 0; i < lock->count; i++) {
        tools += lock->toolsets[i].tools.count;
        prompts += lock->toolsets[i].prompts.count;
    }
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
    report(locking, lock);
    return EXIT_OK;
}

/* ---- comparing ------------------------------------------------------------------------------- */

static bool is_same(const hub_lock_entry *a, const hub_lock_entry *b)
{
    return hub_str_eq(a->digest, b->digest);
}

static void compare_lists(hub_str key, const char *what, const hub_lock_list *old,
                          const hub_lock_list *now, cli_locking_on_change *on_change, void *ctx)
{
    size_t i = 0;
    size_t k = 0;
    while (i < old->count || k < now->count) {
        int order = i == old->count   ? 1
                    : k == now->count ? -1
                                      : hub_str_cmp(old->items[i].name, now->items[k].name);
        const hub_lock_entry *left = order <= 0 ? &old->items[i++] : NULL;
        const hub_lock_entry *right = order >= 0 ? &now->items[k++] : NULL;
        if (left == NULL || right == NULL || !is_same(left, right)) {
            on_change(ctx, key, what, left, right);
        }
    }
}

static const hub_lock_entry *said(const hub_lock_entry *entry)
{
    return entry->digest.len > 0 ? entry : NULL;
}

void cli_locking_compare(const hub_lock_toolset *old, const hub_lock_toolset *now,
                         cli_locking_on_change *on_change, void *ctx)
{
    static const hub_lock_toolset NONE = {.key = {.ptr = NULL}};
    hub_str key = old != NULL ? old->key : now->key;
    old = old != NULL ? old : &NONE;
    now = now != NULL ? now : &NONE;
    if (!hub_str_eq(old->origin, now->origin)) {
        const hub_lock_entry before = {.definition = old->origin};
        const hub_lock_entry after = {.definition = now->origin};
        on_change(ctx, key, "origin", old->origin.len > 0 ? &before : NULL,
                  now->origin.len > 0 ? &after : NULL);
    }
    if (!is_same(&old->instructions, &now->instructions)) {
        on_change(ctx, key, "instructions", said(&old->instructions), said(&now->instructions));
    }
    compare_lists(key, "tool", &old->tools, &now->tools, on_change, ctx);
    compare_lists(key, "prompt", &old->prompts, &now->prompts, on_change, ctx);
}
