/* SPDX-License-Identifier: Apache-2.0 */
#include "config/watch.h"

#include "base/log.h"
#include "modules/plugin_watch.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

enum { MOST_LINKS = 40 /* as many as Linux follows */ };

typedef struct watched {
    char *path;
    hub_file_stamp stamp;
} watched;

/* Where changes can happen. */
typedef struct places {
    char **hops; /* each file, and what it leads to if it is a link */
    size_t hop_count;
    char **folders; /* of these, each once */
    size_t folder_count;
} places;

struct hub_config_watch {
    struct ev_loop *loop;
    void (*on_change)(void *ctx);
    void *ctx;
    watched *files;
    size_t count;
    places places;
    hub_plugin_watch *folder_watch; /* borrows the folders */
};

/* ---- lists of text --------------------------------------------------------------------------- */

static void free_all(char ***list, size_t *count)
{
    while (*count > 0) {
        free((*list)[--*count]);
    }
    free(*list);
    *list = NULL;
}

/* Add a copy of the text unless it is there. False when out of memory. */
static bool add(char ***list, size_t *count, hub_str text)
{
    for (size_t i = 0; i < *count; i++) {
        if (hub_str_is(text, (*list)[i])) {
            return true;
        }
    }
    char **grown = realloc(*list, (*count + 1) * sizeof *grown);
    if (grown == NULL) {
        return false;
    }
    *list = grown;
    char *copy = hub_str_dup(text);
    if (copy != NULL) {
        grown[(*count)++] = copy;
    }
    return copy != NULL;
}

/* ---- where to look --------------------------------------------------------------------------- */

static hub_str folder_of(const char *path)
{
    return hub_str_between(path,
                           strrchr(path, '/')); /* empty for the root, as plugin_watch has it */
}

/* If the path is a link, make of it the path that the link leads to. Links among its folders are
 * seen to by plugin_watch. */
static bool follow(char path[PATH_MAX])
{
    char target[PATH_MAX];
    char next[PATH_MAX];
    ssize_t len = readlink(path, target, sizeof target - 1);
    if (len <= 0) {
        return false;
    }
    target[len] = '\0';
    hub_str folder = target[0] == '/' ? HUB_STR_EMPTY : folder_of(path);
    int written = snprintf(next, sizeof next, HUB_STR_FMT "%s%s", HUB_STR_ARG(folder),
                           target[0] == '/' ? "" : "/", target);
    if (written < 0 || (size_t)written >= sizeof next) {
        return false;
    }
    memcpy(path, next, (size_t)written + 1);
    return true;
}

static bool add_hop(places *at, const char *path)
{
    return add(&at->hops, &at->hop_count, hub_str_of(path)) &&
           add(&at->folders, &at->folder_count, folder_of(path));
}

static void free_places(places *at)
{
    free_all(&at->hops, &at->hop_count);
    free_all(&at->folders, &at->folder_count);
}

static bool add_hops(places *at, const char *file)
{
    char path[PATH_MAX];
    int len = snprintf(path, sizeof path, "%s", file);
    if (len < 0 || (size_t)len >= sizeof path) {
        return true; /* nobody could have read it */
    }
    bool is_added = add_hop(at, path);
    for (int i = 0; is_added && i < MOST_LINKS && follow(path); i++) {
        is_added = add_hop(at, path);
    }
    return is_added;
}

/* As the links are now. */
static bool find_places(const hub_config_watch *watch, places *ret_places)
{
    *ret_places = (places){.hop_count = 0};
    for (size_t i = 0; i < watch->count; i++) {
        if (!add_hops(ret_places, watch->files[i].path)) {
            free_places(ret_places);
            return false;
        }
    }
    return true;
}

static void on_folder_change(void *ctx);

/* Watch the folders that matter now. If that cannot be, those before are watched further. */
static hub_err arm(hub_config_watch *watch, hub_error *reterr)
{
    places now;
    hub_plugin_watch *folder_watch = NULL;
    if (!find_places(watch, &now)) {
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    if (now.folder_count > 0) {
        hub_err err =
            hub_plugin_watch_create((const char *const *)now.folders, now.folder_count, watch->loop,
                                    on_folder_change, watch, &folder_watch, reterr);
        if (err != HUB_OK) {
            free_places(&now);
            return err;
        }
    }
    hub_plugin_watch_destroy(watch->folder_watch);
    free_places(&watch->places);
    watch->folder_watch = folder_watch;
    watch->places = now;
    return HUB_OK;
}

/* ---- looking --------------------------------------------------------------------------------- */

static bool is_busy(const hub_config_watch *watch)
{
    for (size_t i = 0; i < watch->places.hop_count; i++) {
        if (hub_plugin_watch_is_busy(watch->folder_watch, watch->places.hops[i])) {
            return true;
        }
    }
    return false;
}

/* A link leads elsewhere: the folders are others. */
static bool has_other_hops(const hub_config_watch *watch)
{
    places now;
    bool is_whole = find_places(watch, &now);
    bool is_other = !is_whole || now.hop_count != watch->places.hop_count;
    for (size_t i = 0; !is_other && i < now.hop_count; i++) {
        is_other = strcmp(now.hops[i], watch->places.hops[i]) != 0;
    }
    free_places(&now);
    return is_other;
}

static void on_folder_change(void *ctx)
{
    hub_config_watch *watch = ctx;
    bool is_changed = false;
    if (is_busy(watch)) {
        return; /* the end of it is an event, too */
    }
    for (size_t i = 0; i < watch->count; i++) {
        hub_file_stamp stamp = hub_file_look(watch->files[i].path);
        if (stamp.inode == 0) {
            continue; /* on its way to being another, or it is missed at the next reload */
        }
        is_changed = is_changed || !hub_file_stamp_equal(&stamp, &watch->files[i].stamp);
        watch->files[i].stamp = stamp;
    }
    if (has_other_hops(watch)) {
        hub_error why = {.code = HUB_OK};
        if (arm(watch, &why) != HUB_OK) {
            hub_log(HUB_LOG_WARNING, "config.not_watched", HUB_F_TEXT("reason", why.text));
        }
    }
    if (is_changed) {
        watch->on_change(watch->ctx);
    }
}

/* A file may have been read more than once: it is as it was the first time, which comes last. */
static bool add_file(hub_config_watch *watch, const hub_config_file *file)
{
    size_t at = 0;
    if (!file->stamp.is_regular && file->stamp.inode != 0) {
        return true;
    }
    while (at < watch->count && strcmp(watch->files[at].path, file->path) != 0) {
        at++;
    }
    if (at == watch->count) {
        watch->files[at].path = hub_str_dup(hub_str_of(file->path));
        watch->count += watch->files[at].path != NULL;
    }
    watch->files[at].stamp = file->stamp;
    return watch->files[at].path != NULL;
}

/* ---- life ------------------------------------------------------------------------------------ */

hub_err hub_config_watch_create(const hub_config *config, struct ev_loop *loop,
                                void (*on_change)(void *ctx), void *ctx,
                                hub_config_watch **ret_watch, hub_error *reterr)
{
    size_t count = 0;
    for (const hub_config_file *file = config->files; file != NULL; file = file->next) {
        count++;
    }
    hub_config_watch *watch = calloc(1, sizeof *watch);
    if (watch == NULL || (watch->files = calloc(count + 1, sizeof *watch->files)) == NULL) {
        free(watch);
        return hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    watch->loop = loop;
    watch->on_change = on_change;
    watch->ctx = ctx;
    hub_err err = HUB_OK;
    for (const hub_config_file *file = config->files; err == HUB_OK && file != NULL;
         file = file->next) {
        err = add_file(watch, file) ? HUB_OK : hub_fail(reterr, HUB_ENOMEM, "out of memory");
    }
    if (err == HUB_OK) {
        err = arm(watch, reterr);
    }
    if (err != HUB_OK) {
        hub_config_watch_destroy(watch);
        return err;
    }
    *ret_watch = watch;
    return HUB_OK;
}

void hub_config_watch_destroy(hub_config_watch *watch)
{
    if (watch == NULL) {
        return;
    }
    hub_plugin_watch_destroy(watch->folder_watch);
    free_places(&watch->places);
    for (size_t i = 0; i < watch->count; i++) {
        free(watch->files[i].path);
    }
    free(watch->files);
    free(watch);
}
