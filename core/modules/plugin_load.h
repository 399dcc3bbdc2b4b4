/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One plugin file, from its path to a module: open, copy, check, link, check what it exports. Which
 * files to load, and what becomes of names, is the resolver's business.
 */
#ifndef HUB_MODULES_PLUGIN_LOAD_H
#define HUB_MODULES_PLUGIN_LOAD_H

#include "modules/plugin_image.h"
#include "modules/resolver.h"

#include <sys/types.h>
#include <time.h>

/* A module and what only the resolver needs to know of it. */
typedef struct hub_plugin {
    hub_module about;
    char *path;               /* owned; about.path */
    hub_schema *schema;       /* owned; about.config_schema */
    patchbay_plugin *outside; /* owned; about.table of one that is not linked, and its name */
    size_t size;              /* of the file, and its hash: is it still the same? */
    uint64_t hash;
    struct hub_plugin *older; /* all that were ever loaded */
} hub_plugin;

/* Tells whether a file is worth reading again. */
typedef struct hub_plugin_stamp {
    dev_t device;
    ino_t inode;
    off_t size; /* -1: no such file */
    struct timespec modified;
    struct timespec changed; /* also by chmod and chown */
} hub_plugin_stamp;

/* Links are followed. */
hub_plugin_stamp hub_plugin_stamp_of(const char *path);
bool hub_plugin_stamp_is_same(const hub_plugin_stamp *a, const hub_plugin_stamp *b);

/* "hello" of "/folder/hello.so"; the whole file name when it ends otherwise. Borrowed. */
hub_str hub_plugin_stem(const char *path);

/* How a file is made a module. */
#define HUB_PLUGIN_TRUSTED 0x1u /* whoever may write it */
#define HUB_PLUGIN_NOTED   0x2u /* it runs in a process of its own: it is checked, and not linked */
#define HUB_PLUGIN_TRIED   0x4u /* it is linked in a child first (plugin_trial.h) */

/* Load what is at `path` and put it in front of *newest; or find that it is byte for byte what
 * `before` (may be NULL) was loaded from, and return that: installing a package again, or touching
 * a file, is no reason to replace a module. What a module that is noted exports is for its own
 * process to check.
 * owns:    nothing; *ret_plugin belongs to the list
 * blocks:  reads the file, runs constructors
 * errors:  as hub_resolver_load_file */
HUB_MUST_CHECK hub_err hub_plugin_load(const char *path, unsigned how, hub_plugin *before,
                                       hub_plugin **newest, hub_plugin **ret_plugin,
                                       hub_error *reterr);

/* The same in three steps. First: open, copy and check.
 * owns:    *image, give it to hub_plugin_image_fini */
HUB_MUST_CHECK hub_err hub_plugin_read(const char *path, bool check_trust, hub_plugin_image *image,
                                       hub_error *reterr);

/* Second, in a child (plugin_trial.h): link it and check what it exports. Nothing is freed. */
HUB_MUST_CHECK hub_err hub_plugin_try(const hub_plugin_image *image, const char *path,
                                      hub_error *reterr);

/* Third: link it here. */
HUB_MUST_CHECK hub_err hub_plugin_link(const hub_plugin_image *image, const char *path,
                                       hub_plugin **newest, hub_plugin **ret_plugin,
                                       hub_error *reterr);

/* Whether a module, or none (NULL), was loaded from these bytes. */
bool hub_plugin_is_of(const hub_plugin *plugin, const hub_plugin_image *image);

/* Free a whole list. The libraries stay mapped. */
void hub_plugin_destroy_all(hub_plugin *newest);

#endif
