/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/plugin_load.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "modules/plugin_check.h"
#include "modules/plugin_image.h"
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
    added->about.generation = next_generation(*newest, about->about.name);
    added->size = image->size;
    added->hash = image->hash;
    added->older = *newest;
    *newest = added;
    *ret_plugin = added;
    return HUB_OK;
}

/* Link a checked image, check what it exports, and make it a module. */
static hub_err load_image(const hub_plugin_image *image, const char *path, hub_plugin **newest,
                          hub_plugin **ret_plugin, hub_error *reterr)
{
    void *handle = NULL;
    const patchbay_plugin *table = NULL;
    hub_schema *schema = NULL;
    hub_err err = hub_plugin_image_load(image, &handle, &table, reterr);
    if (err != HUB_OK) {
        return err;
    }
    err = hub_plugin_check_table(table, hub_plugin_stem(path), reterr);
    err = err != HUB_OK ? err : compile_schema(table, &schema, reterr);
    if (err == HUB_OK) {
        const hub_plugin loaded = {
            .about = {.name = table->name, .table = table, .config_schema = schema},
            .schema = schema,
        };
        err = add_plugin(&loaded, image, path, newest, ret_plugin, reterr);
    }
    if (err != HUB_OK) {
        hub_schema_destroy(schema);
        hub_plugin_image_unload(handle);
    }
    return err; /* the handle is forgotten: the library stays mapped */
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

typedef hub_err use_image_fn(const hub_plugin_image *image, const char *path, hub_plugin **newest,
                             hub_plugin **ret_plugin, hub_error *reterr);

/* Open, copy and check a file, and make a module of it with `use_image` unless it is `before`. */
static hub_err read_plugin(const char *path, bool check_trust, hub_plugin *before,
                           use_image_fn *use_image, hub_plugin **newest, hub_plugin **ret_plugin,
                           hub_error *reterr)
{
    int fd;
    hub_err err = hub_plugin_open(path, check_trust, &fd, reterr);
    if (err != HUB_OK) {
        return err;
    }
    char name[80]; /* the kernel takes at most 249 bytes */
    (void)snprintf(name, sizeof name, HUB_STR_FMT, HUB_STR_ARG(hub_plugin_stem(path))); /* cut */
    hub_plugin_image image;
    err = hub_plugin_image_init(&image, fd, name, reterr);
    (void)close(fd); /* nothing was written */
    if (err != HUB_OK) {
        return err;
    }
    bool is_outside = use_image == note_image;
    err = hub_plugin_check_elf(image.bytes, image.size, reterr);
    if (err == HUB_OK && before != NULL && before->about.is_outside == is_outside &&
        before->size == image.size && before->hash == image.hash) {
        *ret_plugin = before;
    } else if (err == HUB_OK) {
        err = use_image(&image, path, newest, ret_plugin, reterr);
    }
    hub_plugin_image_fini(&image);
    return err;
}

hub_err hub_plugin_load(const char *path, bool check_trust, hub_plugin *before, hub_plugin **newest,
                        hub_plugin **ret_plugin, hub_error *reterr)
{
    return read_plugin(path, check_trust, before, load_image, newest, ret_plugin, reterr);
}

hub_err hub_plugin_note(const char *path, bool check_trust, hub_plugin *before, hub_plugin **newest,
                        hub_plugin **ret_plugin, hub_error *reterr)
{
    return read_plugin(path, check_trust, before, note_image, newest, ret_plugin, reterr);
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
