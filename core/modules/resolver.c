/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/resolver.h"

#include "base/cause.h"
#include "base/log.h"
#include "modules/resolver_internal.h"

#include <stdlib.h>

static int compare_refusals(const void *a, const void *b)
{
    return strcmp(((const hub_refusal *)a)->path, ((const hub_refusal *)b)->path);
}

/* The lists as they follow from the files that are present. False without memory. */
static bool build_lists(hub_resolver *resolver, const hub_module ***ret_modules,
                        size_t *ret_module_count)
{
    size_t files = 0;
    for (const hub_resolver_file *at = resolver->files; at != NULL; at = at->next) {
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
    for (const hub_resolver_file *at = resolver->files; at != NULL; at = at->next) {
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
    for (hub_resolver_file **at = &resolver->files; *at != NULL;) {
        hub_resolver_file *looked_at = *at;
        if (looked_at->is_present) {
            at = &looked_at->next;
        } else {
            if (resolver->tryout.subject == looked_at) {
                hub_plugin_tryout_stop(&resolver->tryout);
            }
            *at = looked_at->next;
            hub_resolver_destroy_file(looked_at);
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
                    HUB_F_TEXT("path", of->path), HUB_F_BY);
        }
        if (resolver->on_change != NULL) {
            resolver->on_change(resolver->ctx, of, changes[i].kind);
        }
    }
    free(changes);
    return HUB_OK;
}

/* Room for so many folders more. False without memory. */
static bool grow(hub_resolver *resolver, size_t count)
{
    size_t all = resolver->folder_count + count + 1;
    hub_module_folder *folders = reallocarray(resolver->folders, all, sizeof *folders);
    resolver->folders = folders != NULL ? folders : resolver->folders;
    const char **watched = reallocarray(resolver->watched, all, sizeof *watched);
    resolver->watched = watched != NULL ? watched : resolver->watched;
    return folders != NULL && watched != NULL;
}

static hub_err add_folders(hub_resolver *resolver, const char *const *folders, size_t count,
                           hub_error *reterr)
{
    if (!grow(resolver, count)) {
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
        resolver->folders[resolver->folder_count] = (hub_module_folder){.path = copy};
        resolver->watched[resolver->folder_count++] = copy;
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
    hub_err err = add_folders(resolver, folders, count, reterr);
    if (err != HUB_OK) {
        hub_resolver_destroy(resolver);
        return err;
    }
    resolver->named_count = count;
    *ret_resolver = resolver;
    return HUB_OK;
}

hub_err hub_resolver_add_own(hub_resolver *resolver, const char *const *folders, size_t count,
                             hub_error *reterr)
{
    return add_folders(resolver, folders, count, reterr);
}

void hub_resolver_destroy(hub_resolver *resolver)
{
    if (resolver == NULL) {
        return;
    }
    hub_plugin_watch_destroy(resolver->watch);
    hub_plugin_tryout_stop(&resolver->tryout);
    while (resolver->files != NULL) {
        hub_resolver_file *next = resolver->files->next;
        hub_resolver_destroy_file(resolver->files);
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

static void look_through(hub_resolver *resolver, hub_resolver_look why)
{
    resolver->at_work = why;
    for (hub_resolver_file *at = resolver->files; at != NULL; at = at->next) {
        at->is_present = false;
    }
    for (size_t i = 0; i < resolver->folder_count; i++) {
        hub_resolver_visit_folder(resolver, i);
    }
    if (publish(resolver) != HUB_OK) {
        /* The old lists stay, and the next scan finds the same changes. */
        hub_log(HUB_LOG_ERROR, "resolver.failed", HUB_F_TEXT("reason", hub_err_text(HUB_ENOMEM)));
    }
}

void hub_resolver_scan(hub_resolver *resolver)
{
    look_through(resolver, HUB_LOOK_ASKED);
}

static void on_watch(void *ctx)
{
    look_through(ctx, HUB_LOOK_EVENT);
}

/* A file has been tried: link it here, if it was harmless, and look for the next. */
static void on_tried(void *ctx, void *subject, const hub_plugin_image *image, hub_err err,
                     const hub_error *why)
{
    hub_resolver *resolver = ctx;
    hub_resolver_file *seen = subject;
    hub_plugin *loaded = NULL;
    hub_error error = *why;
    bool is_later = strcmp(hub_cause(), HUB_BY_HUB) == 0; /* the look that found it is over */
    const char *before = hub_cause_set(is_later ? HUB_BY_PLUGINS : hub_cause());
    if (err == HUB_OK && resolver->before_link != NULL) {
        resolver->before_link(seen->path);
    }
    if (err == HUB_OK) {
        err = hub_plugin_link(image, seen->path, &resolver->newest, &loaded, &error);
    }
    if (err == HUB_OK) {
        hub_resolver_take(seen, loaded);
    } else {
        hub_resolver_refuse(&seen->reason, seen->path, error.text, true);
    }
    look_through(resolver, HUB_LOOK_AGAIN);
    (void)hub_cause_set(before);
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

const char *hub_resolver_why_refused(const hub_resolver *resolver, hub_str name,
                                     const char **ret_path)
{
    const hub_resolver_file *first = NULL;
    for (const hub_resolver_file *at = resolver->files; at != NULL; at = at->next) {
        if (at->is_present && hub_str_eq(at->stem, name) &&
            (first == NULL || at->folder < first->folder)) {
            first = at;
        }
    }
    if (first == NULL) {
        return NULL;
    }
    *ret_path = first->path;
    const char *of_folder = resolver->folders[first->folder].reason;
    return of_folder != NULL ? of_folder : first->reason;
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
    hub_err err = hub_plugin_load(path, hub_resolver_how_to_load(resolver, false), NULL,
                                  &resolver->newest, &loaded, reterr);
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
    hub_resolver_file *at = resolver->files;
    while (at != NULL && (at->loaded == NULL || &at->loaded->about != module)) {
        at = at->next;
    }
    hub_err err = at != NULL ? hub_plugin_load(at->path, hub_resolver_how_to_load(resolver, false),
                                               NULL, &resolver->newest, &at->loaded, reterr)
                             : hub_fail(reterr, HUB_ENOTFOUND, "the file is gone");
    for (size_t i = 0; err == HUB_OK && i < resolver->module_count; i++) {
        if (resolver->modules[i] == module) {
            resolver->modules[i] = *ret_module = &at->loaded->about;
            hub_resolver_say_found(*ret_module);
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
