/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/resolver.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/log.h"
#include "modules/module_list.h"
#include "modules/plugin_check.h"
#include "modules/plugin_load.h"
#include "modules/plugin_tryout.h"
#include "modules/plugin_watch.h"

/* A *.so of a folder, as it was when last looked at. */
typedef struct file {
    char *path;
    hub_str stem; /* in path: the file's name without ".so" */
    size_t folder;
    hub_plugin_stamp stamp;
    hub_plugin *loaded; /* from its bytes, or the ones before when those were refused; or NULL */
    char *reason;       /* of the refusal; NULL: none */
    bool is_present;
    struct file *next;
} file;

/* Why the folders are looked through. */
typedef enum look {
    LOOK_ASKED, /* somebody waits for the outcome */
    LOOK_EVENT, /* something has changed: what is new is tried while the loop goes on */
    LOOK_AGAIN, /* the same, for what there was no time for: one trial is under way at a time */
} look;

struct hub_resolver {
    hub_module_folder *folders;
    size_t folder_count;
    bool allow_writable;
    file *files;
    hub_plugin *newest; /* list of all modules */
    const hub_module **modules;
    size_t module_count;
    hub_refusal *refusals;
    size_t refusal_count;
    const char **watched; /* the folders' paths, for the watch */
    hub_plugin_watch *watch;
    hub_plugin_tryout tryout; /* of a file, while there is a watch */
    look at_work;
    hub_resolver_on_change *on_change;
    void *ctx;
    bool (*is_outside)(const void *ctx, hub_str name); /* NULL: none is */
    const void *outside_ctx;
    void (*before_link)(const char *path);
};

/* Keep a reason, and log it unless it is known. */
static void refuse(char **reason, const char *path, const char *text, bool is_known)
{
    if (*reason != NULL && is_known && strcmp(*reason, text) == 0) {
        return;
    }
    free(*reason);
    *reason = hub_str_dup(hub_str_of(text)); /* NULL, without memory: logged, but not listed */
    hub_log(HUB_LOG_WARNING, "resolver.refused", HUB_F_TEXT("path", path),
            HUB_F_TEXT("reason", text));
}

static void accept(char **reason)
{
    free(*reason);
    *reason = NULL;
}

static void destroy_file(file *gone)
{
    free(gone->path);
    free(gone->reason);
    free(gone);
}

/* The file of an earlier folder from which that name is loaded. */
static const file *find_owner(const hub_resolver *resolver, const file *of)
{
    for (const file *at = resolver->files; at != NULL; at = at->next) {
        if (at->is_present && at->loaded != NULL && at->folder < of->folder &&
            hub_str_eq(at->stem, of->stem)) {
            return at;
        }
    }
    return NULL;
}

static void say_found(const hub_module *module)
{
    hub_log(HUB_LOG_INFO, module->is_outside ? "resolver.found" : "resolver.loaded",
            HUB_F_TEXT("module", module->name), HUB_F_TEXT("version", module->table->version),
            HUB_F_INT("generation", module->generation), HUB_F_TEXT("path", module->path));
}

/* What a file was loaded as. */
static void take_loaded(file *seen, hub_plugin *loaded)
{
    accept(&seen->reason);
    if (loaded != seen->loaded) {
        seen->loaded = loaded;
        say_found(&loaded->about);
    }
}

static unsigned how_to_load(const hub_resolver *resolver, bool is_noted)
{
    return (resolver->allow_writable ? HUB_PLUGIN_TRUSTED : 0u) |
           (is_noted ? HUB_PLUGIN_NOTED : 0u) | (resolver->watch != NULL ? HUB_PLUGIN_TRIED : 0u);
}

/* Begin to try a file; what comes of it, on_tried says. */
static hub_err begin_trial(hub_resolver *resolver, file *seen, hub_error *reterr)
{
    hub_plugin_image image;
    hub_err err = hub_plugin_read(seen->path, !resolver->allow_writable, &image, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (hub_plugin_is_of(seen->loaded, &image) && !seen->loaded->about.is_outside) {
        take_loaded(seen, seen->loaded);
    } else {
        err = hub_plugin_tryout_start(&resolver->tryout, &image, seen->path, hub_plugin_try, seen,
                                      reterr);
        if (err == HUB_OK) {
            return HUB_OK; /* it has the image */
        }
    }
    hub_plugin_image_fini(&image);
    return err;
}

/* Load a file, and note the outcome; a known reason for a file that is the same is no news. */
static void load_file(hub_resolver *resolver, file *seen, bool is_same)
{
    hub_plugin *loaded = NULL;
    hub_error error = {.text = ""};
    bool is_outside =
        resolver->is_outside != NULL && resolver->is_outside(resolver->outside_ctx, seen->stem);
    /* One that takes a name over is awaited: nobody is to see the name gone in between. */
    bool is_heir = seen->loaded == NULL && hub_resolver_find(resolver, seen->stem) != NULL;
    bool is_tried_meanwhile =
        resolver->watch != NULL && resolver->at_work != LOOK_ASKED && !is_outside && !is_heir;
    if (is_tried_meanwhile) {
        if (begin_trial(resolver, seen, &error) != HUB_OK) {
            refuse(&seen->reason, seen->path, error.text, is_same);
        }
        return;
    }
    if (resolver->before_link != NULL) {
        resolver->before_link(seen->path);
    }
    if (hub_plugin_load(seen->path, how_to_load(resolver, is_outside), seen->loaded,
                        &resolver->newest, &loaded, &error) != HUB_OK) {
        refuse(&seen->reason, seen->path, error.text, is_same);
    } else {
        take_loaded(seen, loaded);
    }
}

/* The record of a file that was found in a folder; NULL without memory. */
static file *find_file(hub_resolver *resolver, size_t folder_at, const char *name)
{
    const char *in = resolver->folders[folder_at].path;
    file **end = &resolver->files;
    for (; *end != NULL; end = &(*end)->next) {
        if ((*end)->folder == folder_at && strcmp((*end)->path + strlen(in) + 1, name) == 0) {
            return *end;
        }
    }
    file *added = calloc(1, sizeof *added);
    size_t room = strlen(in) + strlen(name) + 2;
    char *path = malloc(room);
    if (added == NULL || path == NULL) {
        free(added);
        free(path);
        return NULL;
    }
    (void)snprintf(path, room, "%s/%s", in, name); /* fits */
    *added = (file){.path = path, .stem = hub_plugin_stem(path), .folder = folder_at};
    *end = added;
    return added;
}

static void visit_file(hub_resolver *resolver, size_t folder_at, const char *name)
{
    file *seen = find_file(resolver, folder_at, name);
    if (seen == NULL) {
        hub_log(HUB_LOG_ERROR, "resolver.failed", HUB_F_TEXT("reason", hub_err_text(HUB_ENOMEM)));
        return;
    }
    seen->is_present = true;
    const file *owner = find_owner(resolver, seen);
    if (owner != NULL) {
        hub_error error;
        (void)hub_fail(&error, HUB_EEXIST, "name \"" HUB_STR_FMT "\" is taken by %s",
                       HUB_STR_ARG(seen->stem), owner->path);
        refuse(&seen->reason, seen->path, error.text, true);
        seen->loaded = NULL;
        return;
    }
    if (resolver->watch != NULL && hub_plugin_watch_is_busy(resolver->watch, seen->path)) {
        return; /* half a file; its writer closes it some time */
    }
    /* Before the load: what is written meanwhile makes it differ again. What was refused is tried
     * again: a library that it needs, or the mode of a folder, may have changed. */
    hub_plugin_stamp now = hub_plugin_stamp_of(seen->path);
    bool is_same = hub_plugin_stamp_is_same(&seen->stamp, &now);
    bool is_on_trial = resolver->tryout.subject == seen;
    if (is_on_trial && (!is_same || resolver->at_work == LOOK_ASKED)) {
        hub_plugin_tryout_stop(&resolver->tryout);
    } else if (is_same && (seen->reason == NULL || resolver->at_work == LOOK_AGAIN)) {
        return;
    } else if (resolver->tryout.subject != NULL && resolver->at_work != LOOK_ASKED) {
        return; /* as if it had not been seen: there is another look when the trial has ended */
    }
    seen->stamp = now;
    load_file(resolver, seen, is_same);
}

/* A folder that cannot be looked into keeps the files that are known of it; one that is gone does
 * not. */
static void keep_files(hub_resolver *resolver, size_t folder_at)
{
    for (file *at = resolver->files; at != NULL; at = at->next) {
        at->is_present = at->is_present || at->folder == folder_at;
    }
}

static void visit_folder(hub_resolver *resolver, size_t at)
{
    hub_module_folder *visited = &resolver->folders[at];
    struct dirent **names = NULL;
    hub_error error;
    bool was_missing = visited->is_missing;
    int count = hub_module_list_files(visited->path, &names);
    visited->is_missing = count < 0 && errno == ENOENT;
    if (visited->is_missing) {
        accept(&visited->reason);
        if (!was_missing) {
            hub_log(HUB_LOG_INFO, "resolver.no_folder", HUB_F_TEXT("path", visited->path));
        }
        return;
    }
    hub_err err = HUB_OK;
    if (count < 0) {
        err = hub_fail(&error, HUB_ESYSTEM, "folder cannot be read: %s", strerrordesc_np(errno));
    } else if (!resolver->allow_writable) {
        err = hub_plugin_check_folder(visited->path, &error);
    }
    if (err != HUB_OK) {
        refuse(&visited->reason, visited->path, error.text, true);
        keep_files(resolver, at);
    } else {
        accept(&visited->reason);
    }
    for (int i = 0; i < count; i++) {
        if (err == HUB_OK) {
            visit_file(resolver, at, names[i]->d_name);
        }
        free(names[i]);
    }
    free(names);
}

static int compare_refusals(const void *a, const void *b)
{
    return strcmp(((const hub_refusal *)a)->path, ((const hub_refusal *)b)->path);
}

/* The lists as they follow from the files that are present. False without memory. */
static bool build_lists(hub_resolver *resolver, const hub_module ***ret_modules,
                        size_t *ret_module_count)
{
    size_t files = 0;
    for (const file *at = resolver->files; at != NULL; at = at->next) {
        files++;
    }
    const hub_module **modules = calloc(files + 1, sizeof modules[0]);
    hub_refusal *refusals = calloc(files + resolver->folder_count + 1, sizeof *refusals);
    if (modules == NULL || refusals == NULL) {
        free(modules);
        free(refusals);
        return false;
    }
    size_t module_count = 0;
    size_t refused = 0;
    for (size_t i = 0; i < resolver->folder_count; i++) {
        const hub_module_folder *of = &resolver->folders[i];
        if (of->reason != NULL) {
            refusals[refused++] = (hub_refusal){.path = of->path, .reason = of->reason};
        }
    }
    for (const file *at = resolver->files; at != NULL; at = at->next) {
        if (at->is_present && at->loaded != NULL) {
            modules[module_count++] = &at->loaded->about;
        }
        if (at->is_present && at->reason != NULL) {
            refusals[refused++] = (hub_refusal){.path = at->path, .reason = at->reason};
        }
    }
    hub_module_list_sort(modules, module_count);
    qsort(refusals, refused, sizeof refusals[0], compare_refusals);
    free(resolver->refusals);
    resolver->refusals = refusals;
    resolver->refusal_count = refused;
    *ret_modules = modules;
    *ret_module_count = module_count;
    return true;
}

/* Forget files that are gone; their modules stay. */
static void drop_absent(hub_resolver *resolver)
{
    for (file **at = &resolver->files; *at != NULL;) {
        file *looked_at = *at;
        if (looked_at->is_present) {
            at = &looked_at->next;
        } else {
            if (resolver->tryout.subject == looked_at) {
                hub_plugin_tryout_stop(&resolver->tryout);
            }
            *at = looked_at->next;
            destroy_file(looked_at);
        }
    }
}

/* Make the outcome of a scan visible all at once, then tell. */
static hub_err publish(hub_resolver *resolver)
{
    resolver->refusal_count = 0; /* the texts may have been replaced */
    const hub_module **after = NULL;
    size_t after_count = 0;
    if (!build_lists(resolver, &after, &after_count)) {
        return HUB_ENOMEM;
    }
    hub_module_list_change *changes =
        calloc(resolver->module_count + after_count + 1, sizeof *changes);
    if (changes == NULL) {
        free(after);
        resolver->refusal_count = 0;
        return HUB_ENOMEM;
    }
    size_t count = hub_module_list_compare(resolver->modules, resolver->module_count, after,
                                           after_count, changes);
    free(resolver->modules);
    resolver->modules = after;
    resolver->module_count = after_count;
    drop_absent(resolver);
    for (size_t i = 0; i < count; i++) {
        const hub_module *of = changes[i].module;
        if (changes[i].kind == HUB_MODULE_REMOVED) {
            hub_log(HUB_LOG_INFO, "resolver.removed", HUB_F_TEXT("module", of->name),
                    HUB_F_TEXT("path", of->path));
        }
        if (resolver->on_change != NULL) {
            resolver->on_change(resolver->ctx, of, changes[i].kind);
        }
    }
    free(changes);
    return HUB_OK;
}

static hub_err copy_folders(hub_resolver *resolver, const char *const *folders, size_t count,
                            hub_error *reterr)
{
    resolver->folders = calloc(count + 1, sizeof resolver->folders[0]);
    resolver->watched = calloc(count + 1, sizeof resolver->watched[0]);
    if (resolver->folders == NULL || resolver->watched == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    for (size_t i = 0; i < count; i++) {
        hub_str path = hub_str_of(folders[i]);
        if (path.len == 0 || path.ptr[0] != '/') {
            return hub_fail(reterr, HUB_EINVAL, "plugin folder \"%s\": not an absolute path",
                            folders[i]);
        }
        while (path.len > 1 && path.ptr[path.len - 1] == '/') {
            path.len--;
        }
        char *copy = hub_str_dup(path);
        if (copy == NULL) {
            return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
        }
        resolver->folders[i].path = copy;
        resolver->watched[i] = copy;
        resolver->folder_count++;
    }
    return HUB_OK;
}

hub_err hub_resolver_create(const char *const *folders, size_t count, bool allow_writable,
                            hub_resolver **ret_resolver, hub_error *reterr)
{
    hub_resolver *resolver = calloc(1, sizeof *resolver);
    if (resolver == NULL) {
        return hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    }
    resolver->allow_writable = allow_writable;
    hub_err err = copy_folders(resolver, folders, count, reterr);
    if (err != HUB_OK) {
        hub_resolver_destroy(resolver);
        return err;
    }
    *ret_resolver = resolver;
    return HUB_OK;
}

void hub_resolver_destroy(hub_resolver *resolver)
{
    if (resolver == NULL) {
        return;
    }
    hub_plugin_watch_destroy(resolver->watch);
    hub_plugin_tryout_stop(&resolver->tryout);
    while (resolver->files != NULL) {
        file *next = resolver->files->next;
        destroy_file(resolver->files);
        resolver->files = next;
    }
    hub_plugin_destroy_all(resolver->newest);
    for (size_t i = 0; i < resolver->folder_count; i++) {
        free(resolver->folders[i].path);
        free(resolver->folders[i].reason);
    }
    free(resolver->folders);
    free(resolver->watched);
    free(resolver->modules);
    free(resolver->refusals);
    free(resolver);
}

static void look_through(hub_resolver *resolver, look why)
{
    resolver->at_work = why;
    for (file *at = resolver->files; at != NULL; at = at->next) {
        at->is_present = false;
    }
    for (size_t i = 0; i < resolver->folder_count; i++) {
        visit_folder(resolver, i);
    }
    if (publish(resolver) != HUB_OK) {
        /* The old lists stay, and the next scan finds the same changes. */
        hub_log(HUB_LOG_ERROR, "resolver.failed", HUB_F_TEXT("reason", hub_err_text(HUB_ENOMEM)));
    }
}

void hub_resolver_scan(hub_resolver *resolver)
{
    look_through(resolver, LOOK_ASKED);
}

static void on_watch(void *ctx)
{
    look_through(ctx, LOOK_EVENT);
}

/* A file has been tried: link it here, if it was harmless, and look for the next. */
static void on_tried(void *ctx, void *subject, const hub_plugin_image *image, hub_err err,
                     const hub_error *why)
{
    hub_resolver *resolver = ctx;
    file *seen = subject;
    hub_plugin *loaded = NULL;
    hub_error error = *why;
    if (err == HUB_OK && resolver->before_link != NULL) {
        resolver->before_link(seen->path);
    }
    if (err == HUB_OK) {
        err = hub_plugin_link(image, seen->path, &resolver->newest, &loaded, &error);
    }
    if (err == HUB_OK) {
        take_loaded(seen, loaded);
    } else {
        refuse(&seen->reason, seen->path, error.text, true);
    }
    look_through(resolver, LOOK_AGAIN);
}

void hub_resolver_report(hub_resolver *resolver, hub_resolver_on_change *on_change, void *ctx)
{
    resolver->on_change = on_change;
    resolver->ctx = ctx;
}

hub_err hub_resolver_watch(hub_resolver *resolver, struct ev_loop *loop,
                           hub_resolver_on_change *on_change, void *ctx, hub_error *reterr)
{
    hub_resolver_report(resolver, on_change, ctx);
    hub_plugin_tryout_init(&resolver->tryout, loop, on_tried, resolver);
    return hub_plugin_watch_create(resolver->watched, resolver->folder_count, loop, on_watch,
                                   resolver, &resolver->watch, reterr);
}

const hub_module *hub_resolver_find(const hub_resolver *resolver, hub_str name)
{
    for (size_t i = 0; i < resolver->module_count; i++) {
        if (hub_str_is(name, resolver->modules[i]->name)) {
            return resolver->modules[i];
        }
    }
    return NULL;
}

const hub_module *const *hub_resolver_modules(const hub_resolver *resolver, size_t *ret_count)
{
    *ret_count = resolver->module_count;
    return resolver->modules;
}

const hub_refusal *hub_resolver_refusals(const hub_resolver *resolver, size_t *ret_count)
{
    *ret_count = resolver->refusal_count;
    return resolver->refusals;
}

const hub_module_folder *hub_resolver_folders(const hub_resolver *resolver, size_t *ret_count)
{
    *ret_count = resolver->folder_count;
    return resolver->folders;
}

hub_err hub_resolver_load_file(hub_resolver *resolver, const char *path,
                               const hub_module **ret_module, hub_error *reterr)
{
    hub_plugin *loaded = NULL;
    hub_err err = hub_plugin_load(path, how_to_load(resolver, false), NULL, &resolver->newest,
                                  &loaded, reterr);
    if (err == HUB_OK) {
        *ret_module = &loaded->about;
    }
    return err;
}

void hub_resolver_keep_outside(hub_resolver *resolver,
                               bool (*is_outside)(const void *ctx, hub_str name), const void *ctx)
{
    resolver->is_outside = is_outside;
    resolver->outside_ctx = ctx;
}

void hub_resolver_announce(hub_resolver *resolver, void (*before_link)(const char *path))
{
    resolver->before_link = before_link;
}

hub_err hub_resolver_link(hub_resolver *resolver, const hub_module *module,
                          const hub_module **ret_module, hub_error *reterr)
{
    file *at = resolver->files;
    while (at != NULL && (at->loaded == NULL || &at->loaded->about != module)) {
        at = at->next;
    }
    hub_err err = at != NULL ? hub_plugin_load(at->path, how_to_load(resolver, false), NULL,
                                               &resolver->newest, &at->loaded, reterr)
                             : hub_fail(reterr, HUB_ENOTFOUND, "the file is gone");
    for (size_t i = 0; err == HUB_OK && i < resolver->module_count; i++) {
        if (resolver->modules[i] == module) {
            resolver->modules[i] = *ret_module = &at->loaded->about;
            say_found(*ret_module);
        }
    }
    return err;
}

hub_err hub_resolver_offer_file(hub_resolver *resolver, const char *path, hub_error *reterr)
{
    const hub_module **modules = calloc(1, sizeof modules[0]);
    hub_err err = modules != NULL ? hub_resolver_load_file(resolver, path, &modules[0], reterr)
                                  : hub_fail(reterr, HUB_ENOMEM, "%s", hub_err_text(HUB_ENOMEM));
    if (err != HUB_OK) {
        free(modules);
        return err;
    }
    free(resolver->modules);
    resolver->modules = modules;
    resolver->module_count = 1;
    return HUB_OK;
}
