/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/resolver_internal.h"

#include "base/cause.h"
#include "base/log.h"
#include "modules/plugin_check.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

void hub_resolver_refuse(char **reason, const char *path, const char *text, bool is_known)
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

void hub_resolver_destroy_file(hub_resolver_file *gone)
{
    free(gone->path);
    free(gone->reason);
    free(gone);
}

/* The file of an earlier folder from which that name is loaded. */
static const hub_resolver_file *find_owner(const hub_resolver *resolver,
                                           const hub_resolver_file *of)
{
    for (const hub_resolver_file *at = resolver->files; at != NULL; at = at->next) {
        if (at->is_present && at->loaded != NULL && at->folder < of->folder &&
            hub_str_eq(at->stem, of->stem)) {
            return at;
        }
    }
    return NULL;
}

void hub_resolver_say_found(const hub_module *module)
{
    hub_log(HUB_LOG_INFO, module->is_outside ? "resolver.found" : "resolver.loaded",
            HUB_F_TEXT("module", module->name), HUB_F_TEXT("version", module->table->version),
            HUB_F_INT("generation", module->generation), HUB_F_TEXT("path", module->path),
            HUB_F_BY);
}

void hub_resolver_take(hub_resolver_file *seen, hub_plugin *loaded)
{
    accept(&seen->reason);
    if (loaded != seen->loaded) {
        seen->loaded = loaded;
        hub_resolver_say_found(&loaded->about);
    }
}

unsigned hub_resolver_how_to_load(const hub_resolver *resolver, bool is_noted)
{
    return (resolver->allow_writable ? HUB_PLUGIN_TRUSTED : 0u) |
           (is_noted ? HUB_PLUGIN_NOTED : 0u) | (resolver->watch != NULL ? HUB_PLUGIN_TRIED : 0u);
}

/* Begin to try a file; what comes of it, on_tried says. */
static hub_err begin_trial(hub_resolver *resolver, hub_resolver_file *seen, hub_error *reterr)
{
    hub_plugin_image image;
    hub_err err = hub_plugin_read(seen->path, !resolver->allow_writable, &image, reterr);
    if (err != HUB_OK) {
        return err;
    }
    if (hub_plugin_is_of(seen->loaded, &image) && !seen->loaded->about.is_outside) {
        hub_resolver_take(seen, seen->loaded);
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
static void load_file(hub_resolver *resolver, hub_resolver_file *seen, bool is_same)
{
    hub_plugin *loaded = NULL;
    hub_error error = {.text = ""};
    bool is_outside =
        resolver->is_outside != NULL && resolver->is_outside(resolver->outside_ctx, seen->stem);
    /* One that takes a name over is awaited: nobody is to see the name gone in between. */
    bool is_heir = seen->loaded == NULL && hub_resolver_find(resolver, seen->stem) != NULL;
    bool is_tried_meanwhile =
        resolver->watch != NULL && resolver->at_work != HUB_LOOK_ASKED && !is_outside && !is_heir;
    if (is_tried_meanwhile) {
        if (begin_trial(resolver, seen, &error) != HUB_OK) {
            hub_resolver_refuse(&seen->reason, seen->path, error.text, is_same);
        }
        return;
    }
    if (resolver->before_link != NULL) {
        resolver->before_link(seen->path);
    }
    if (hub_plugin_load(seen->path, hub_resolver_how_to_load(resolver, is_outside), seen->loaded,
                        &resolver->newest, &loaded, &error) != HUB_OK) {
        hub_resolver_refuse(&seen->reason, seen->path, error.text, is_same);
    } else {
        hub_resolver_take(seen, loaded);
    }
}

/* The record of a file that was found in a folder; NULL without memory. */
static hub_resolver_file *find_file(hub_resolver *resolver, size_t folder_at, const char *name)
{
    const char *in = resolver->folders[folder_at].path;
    hub_resolver_file **end = &resolver->files;
    for (; *end != NULL; end = &(*end)->next) {
        if ((*end)->folder == folder_at && strcmp((*end)->path + strlen(in) + 1, name) == 0) {
            return *end;
        }
    }
    hub_resolver_file *added = calloc(1, sizeof *added);
    size_t room = strlen(in) + strlen(name) + 2;
    char *path = malloc(room);
    if (added == NULL || path == NULL) {
        free(added);
        free(path);
        return NULL;
    }
    (void)snprintf(path, room, "%s/%s", in, name); /* fits */
    *added = (hub_resolver_file){.path = path, .stem = hub_plugin_stem(path), .folder = folder_at};
    *end = added;
    return added;
}

/* The name belongs to a file of an earlier folder. In the installation's own nothing is wrong with that:
 * it is what somebody wants who has named another one. */
static void yield_name(const hub_resolver *resolver, hub_resolver_file *seen,
                       const hub_resolver_file *owner)
{
    hub_error error;
    seen->loaded = NULL;
    seen->stamp = (hub_plugin_stamp){.size = -1}; /* it is new when the other one goes */
    if (seen->folder >= resolver->named_count) {
        accept(&seen->reason);
        return;
    }
    (void)hub_fail(&error, HUB_EEXIST, "name \"" HUB_STR_FMT "\" is taken by %s",
                   HUB_STR_ARG(seen->stem), owner->path);
    hub_resolver_refuse(&seen->reason, seen->path, error.text, true);
}

static void visit_file(hub_resolver *resolver, size_t folder_at, const char *name)
{
    hub_resolver_file *seen = find_file(resolver, folder_at, name);
    if (seen == NULL) {
        hub_log(HUB_LOG_ERROR, "resolver.failed", HUB_F_TEXT("reason", hub_err_text(HUB_ENOMEM)));
        return;
    }
    seen->is_present = true;
    const hub_resolver_file *owner = find_owner(resolver, seen);
    if (owner != NULL) {
        yield_name(resolver, seen, owner);
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
    if (is_on_trial && (!is_same || resolver->at_work == HUB_LOOK_ASKED)) {
        hub_plugin_tryout_stop(&resolver->tryout);
    } else if (is_same && (seen->reason == NULL || resolver->at_work == HUB_LOOK_AGAIN)) {
        return;
    } else if (resolver->tryout.subject != NULL && resolver->at_work != HUB_LOOK_ASKED) {
        return; /* as if it had not been seen: there is another look when the trial has ended */
    }
    seen->stamp = now;
    load_file(resolver, seen, is_same);
}

/* A folder that cannot be looked into keeps the files that are known of it; one that is gone does
 * not. */
static void keep_files(hub_resolver *resolver, size_t folder_at)
{
    for (hub_resolver_file *at = resolver->files; at != NULL; at = at->next) {
        at->is_present = at->is_present || at->folder == folder_at;
    }
}

void hub_resolver_visit_folder(hub_resolver *resolver, size_t at)
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
        hub_resolver_refuse(&visited->reason, visited->path, error.text, true);
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
