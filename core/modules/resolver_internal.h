/* SPDX-License-Identifier: Apache-2.0 */
/* What a resolver is made of, and what its two files have of each other: resolver.c has its lists and
 * its life, resolver_folders.c looks through the folders. Thread: [loop]. */
#ifndef HUB_MODULES_RESOLVER_INTERNAL_H
#define HUB_MODULES_RESOLVER_INTERNAL_H

#include "modules/module_list.h"
#include "modules/plugin_load.h"
#include "modules/plugin_tryout.h"
#include "modules/plugin_watch.h"
#include "modules/resolver.h"

/* A *.so of a folder, as it was when last looked at. */
typedef struct hub_resolver_file {
    char *path;
    hub_str stem; /* in path: the file's name without ".so" */
    size_t folder;
    hub_plugin_stamp stamp;
    hub_plugin *loaded; /* from its bytes, or the ones before when those were refused; or NULL */
    char *reason;       /* of the refusal; NULL: none */
    bool is_present;
    struct hub_resolver_file *next;
} hub_resolver_file;

/* Why the folders are looked through. */
typedef enum hub_resolver_look {
    HUB_LOOK_ASKED, /* somebody waits for the outcome */
    HUB_LOOK_EVENT, /* something has changed: what is new is tried while the loop goes on */
    HUB_LOOK_AGAIN, /* the same, for what there was no time for: one trial is under way at a time */
} hub_resolver_look;

struct hub_resolver {
    hub_module_folder *folders;
    size_t folder_count;
    size_t named_count; /* of the folders; the others are the installation's */
    bool allow_writable;
    hub_resolver_file *files;
    hub_plugin *newest; /* list of all modules */
    const hub_module **modules;
    size_t module_count;
    hub_refusal *refusals;
    size_t refusal_count;
    const char **watched; /* the folders' paths, for the watch */
    hub_plugin_watch *watch;
    hub_plugin_tryout tryout; /* of a file, while there is a watch */
    hub_resolver_look at_work;
    hub_resolver_on_change *on_change;
    void *ctx;
    bool (*is_outside)(const void *ctx, hub_str name); /* NULL: none is */
    const void *outside_ctx;
    void (*before_link)(const char *path);
};

/* Look at each file of a folder, and note what came of it. */
void hub_resolver_visit_folder(hub_resolver *resolver, size_t at);

/* Keep a reason, and log it unless it is known. */
void hub_resolver_refuse(char **reason, const char *path, const char *text, bool is_known);

/* What a file was loaded as. */
void hub_resolver_take(hub_resolver_file *seen, hub_plugin *loaded);

void hub_resolver_say_found(const hub_module *module);

/* HUB_PLUGIN_… of a load. */
unsigned hub_resolver_how_to_load(const hub_resolver *resolver, bool is_noted);

void hub_resolver_destroy_file(hub_resolver_file *gone);

#endif
