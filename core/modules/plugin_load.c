/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/clock.h"
#include "modules/crash.h"
#include "modules/plugin_check.h"
#include "modules/plugin_trial.h"
#include "wire/json.h"

static bool is_same_time(struct timespec a, struct timespec b)
{
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

static unsigned next_generation(const hub_plugin *newest, const char *name)
{
    unsigned generation = 1;
    for (const hub_plugin *at = newest; at != NULL; at = at->older) {
        generation += strcmp(at->about.name, name) == 0;
    }
    return generation;
}

/* The schema of the config object, if there is one. */
static hub_err compile_schema(const patchbay_plugin *table, hub_schema **ret_schema,
                              hub_error *reterr)
{
    if (table->config_schema_json == NULL) {
        *ret_schema = NULL;
        return HUB_OK;
    }
    hub_str text;
    hub_err err = hub_json_check(hub_str_of(table->config_schema_json), &text, reterr);
    err = err != HUB_OK ? err : hub_schema_compile(text, ret_schema, reterr);
    if (err != HUB_OK) {
        hub_error_prefix(reterr, "config_schema_json");
    }
    return err;
}

/* Put a module in front of *newest. Takes `about` over when it succeeds. */
static hub_err add_plugin(const hub_plugin *about, const hub_plugin_image *image, const char *path,
                          hub_plugin **newest, hub_plugin **ret_plugin, hub_error *reterr)
{
    hub_plugin *added = calloc(1, sizeof *added);
    char *copy = hub_str_dup(hub_str_of(path));
    if (added == NULL || copy == NULL) {
        free(added);
        free(copy);
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    *added = *about;
    added->path = copy;
    added->about.path = copy;
    added->about.hash = image->hash;
    added->about.loaded_ms = hub_clock_wall_ms();
    added->about.generation = next_generation(*newest, about->about.name);
    added->size = image->size;
    added->hash = image->hash;
    added->older = *newest;
    *newest = added;
    *ret_plugin = added;
    return HUB_OK;
}

/* A library that is linked, and was found to be a plugin. */
typedef struct linked {
    void *handle;
    const patchbay_plugin *table;
    hub_schema *schema;
} linked;

/* Link a checked image, and check what it exports. */
static hub_err link_image(const hub_plugin_image *image, const char *path, linked *ret_linked,
                          hub_error *reterr)
{
    linked now = {.handle = NULL};
    hub_err err = hub_plugin_image_load(image, &now.handle, &now.table, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_plugin_check_table(now.table, hub_plugin_stem(path), reterr);
    err = err != HUB_OK ? err : compile_schema(now.table, &now.schema, reterr);
    if (err != HUB_OK) {
        hub_plugin_image_unload(now.handle);
        return err;
    }
    *ret_linked = now;
    return HUB_OK;
}

hub_err hub_plugin_link(const hub_plugin_image *image, const char *path, hub_plugin **newest,
                        hub_plugin **ret_plugin, hub_error *reterr)
{
    linked now;
    const hub_watchdog_stay stay = {.module = path, .entry = "link"};
    const hub_watchdog_stay *before = hub_crash_enter(&stay);
    hub_err err = link_image(image, path, &now, reterr);
    (void)hub_crash_enter(before);
    if (err != HUB_OK) {
        return err;
    }
    const hub_plugin loaded = {
        .about = {.name = now.table->name, .table = now.table, .config_schema = now.schema},
        .schema = now.schema,
    };
    err = add_plugin(&loaded, image, path, newest, ret_plugin, reterr);
    if (err != HUB_OK) {
        hub_schema_destroy(now.schema);
        hub_plugin_image_unload(now.handle);
        return err;
    }
    hub_plugin_image_rename(now.handle, path);
    return HUB_OK; /* the handle is forgotten: the library stays mapped */
}

hub_err hub_plugin_try(const hub_plugin_image *image, const char *path, hub_error *reterr)
{
    linked now;
    return link_image(image, path, &now, reterr); /* nothing is freed: the process ends */
}

/* Make a checked image a module whose code this process never runs. */
static hub_err note_image(const hub_plugin_image *image, const char *path, hub_plugin **newest,
                          hub_plugin **ret_plugin, hub_error *reterr)
{
    hub_str stem = hub_plugin_stem(path);
    if (!hub_plugin_name_is_valid(stem)) {
        return hub_fail(reterr, HUB_EINVAL,
                        "the file's name is \"" HUB_STR_FMT "\", wanted [a-z][a-z0-9_-]{0,63}.so",
                        HUB_STR_ARG(stem));
    }
    patchbay_plugin *table = calloc(1, sizeof *table + stem.len + 1);
    if (table == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    char *name = memcpy(table + 1, stem.ptr, stem.len);
    table->struct_size = sizeof *table;
    table->name = name;
    table->version = "";
    const hub_plugin noted = {
        .about = {.name = name, .table = table, .is_outside = true},
        .outside = table,
    };
    hub_err err = add_plugin(&noted, image, path, newest, ret_plugin, reterr);
    if (err != HUB_OK) {
        free(table);
    }
    return err;
}

hub_plugin_stamp hub_plugin_stamp_of(const char *path)
{
    struct stat about;
    if (stat(path, &about) != 0) {
        return (hub_plugin_stamp){.size = -1}; /* equal to itself, and to no file */
    }
    return (hub_plugin_stamp){.device = about.st_dev,
                              .inode = about.st_ino,
                              .size = about.st_size,
                              .modified = about.st_mtim,
                              .changed = about.st_ctim};
}

bool hub_plugin_stamp_is_same(const hub_plugin_stamp *a, const hub_plugin_stamp *b)
{
    return a->device == b->device && a->inode == b->inode && a->size == b->size &&
           is_same_time(a->modified, b->modified) && is_same_time(a->changed, b->changed);
}

hub_str hub_plugin_stem(const char *path)
{
    const char *slash = strrchr(path, '/');
    hub_str stem = hub_str_of(slash == NULL ? path : slash + 1);
    bool has_ending = stem.len > 3 && memcmp(stem.ptr + stem.len - 3, ".so", 3) == 0;
    stem.len -= has_ending ? 3 : 0;
    return stem;
}

hub_err hub_plugin_read(const char *path, bool check_trust, hub_plugin_image *image,
                        hub_error *reterr)
{
    int fd;
    hub_err err = hub_plugin_open(path, check_trust, &fd, reterr);
    if (err != HUB_OK) {
        return err;
    }
    char name[80]; /* the kernel takes at most 249 bytes */
    (void)snprintf(name, sizeof name, HUB_STR_FMT, HUB_STR_ARG(hub_plugin_stem(path))); /* cut */
    err = hub_plugin_image_init(image, fd, name, reterr);
    (void)close(fd); /* nothing was written */
    if (err != HUB_OK) {
        return err;
    }
    err = hub_plugin_check_elf(image->bytes, image->size, reterr);
    if (err != HUB_OK) {
        hub_plugin_image_fini(image);
    }
    return err;
}

bool hub_plugin_is_of(const hub_plugin *plugin, const hub_plugin_image *image)
{
    return plugin != NULL && plugin->size == image->size && plugin->hash == image->hash;
}

hub_err hub_plugin_load(const char *path, unsigned how, hub_plugin *before, hub_plugin **newest,
                        hub_plugin **ret_plugin, hub_error *reterr)
{
    hub_plugin_image image;
    hub_plugin_trial *trial;
    bool is_outside = (how & HUB_PLUGIN_NOTED) != 0;
    hub_err err = hub_plugin_read(path, (how & HUB_PLUGIN_TRUSTED) == 0, &image, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (hub_plugin_is_of(before, &image) && before->about.is_outside == is_outside) {
        *ret_plugin = before;
        hub_plugin_image_fini(&image);
        return HUB_OK;
    }
    if (!is_outside && (how & HUB_PLUGIN_TRIED) != 0) {
        err = hub_plugin_trial_start(&image, path, hub_plugin_try, &trial, reterr);
        if (err == HUB_OK) {
            hub_plugin_trial_await(trial);
            err = hub_plugin_trial_end(trial, reterr);
        }
    }
    if (err == HUB_OK) {
        err = (is_outside ? note_image : hub_plugin_link)(&image, path, newest, ret_plugin, reterr);
    }
    hub_plugin_image_fini(&image);
    return err;
}

void hub_plugin_destroy_all(hub_plugin *newest)
{
    while (newest != NULL) {
        hub_plugin *older = newest->older;
        hub_schema_destroy(newest->schema);
        free(newest->outside);
        free(newest->path);
        free(newest);
        newest = older;
    }
}
