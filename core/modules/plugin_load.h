/* SPDX-License-Identifier: Apache-2.0 */
/*
 * One plugin file, from its path to a module: open, copy, check, link, check what it exports. Which
 * files to load, and what becomes of names, is the resolver's business.
 */
#ifndef HUB_MODULES_PLUGIN_LOAD_H
#define HUB_MODULES_PLUGIN_LOAD_H

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

/* Load what is at `path` and put it in front of *newest; or find that it is byte for byte what
 * `before` (may be NULL) was loaded from, and return that: installing a package again, or touching
 * a file, is no reason to replace a module. owns:    nothing; *ret_plugin belongs to the list
 * errors:  as hub_resolver_load_file */
HUB_MUST_CHECK hub_err hub_plugin_load(const char *path, bool check_trust, hub_plugin *before,
                                       hub_plugin **newest, hub_plugin **ret_plugin,
                                       hub_error *reterr);

/* The same for a module that runs in a process of its own: the file is checked and not linked. What
 * it exports is for that process to check. */
HUB_MUST_CHECK hub_err hub_plugin_note(const char *path, bool check_trust, hub_plugin *before,
                                       hub_plugin **newest, hub_plugin **ret_plugin,
                                       hub_error *reterr);

/* Free a whole list. The libraries stay mapped. */
void hub_plugin_destroy_all(hub_plugin *newest);

#endif
