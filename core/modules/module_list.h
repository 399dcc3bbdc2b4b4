/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of modules, sorted by name: what a folder has, what the resolver shows, how one list
 * differs from the next, and why a name is not in it. */
#ifndef HUB_MODULES_MODULE_LIST_H
#define HUB_MODULES_MODULE_LIST_H

#include "base/buf.h"
#include "modules/resolver.h"

#include <dirent.h>

typedef struct hub_module_list_change {
    const hub_module *module; /* the newer one; the one that is gone */
    hub_module_change kind;
} hub_module_list_change;

/* The files of a folder that may be plugins, by name: *.so, but no dot files.
 * owns:    the list and each entry, free() them
 * returns: how many there are; -1 (errno) when the folder cannot be read */
int hub_module_list_files(const char *folder, struct dirent ***ret_names);

void hub_module_list_sort(const hub_module **modules, size_t count);

/* What is different between two sorted lists; `ret_changes` has room for all of both.
 * returns: how many changes there are */
size_t hub_module_list_compare(const hub_module *const *before, size_t before_count,
                               const hub_module *const *after, size_t after_count,
                               hub_module_list_change *ret_changes);

/* Why there is no module of that name: it is there and was refused, for which reason; or where it
 * was looked for, and which one is meant if it is mistyped. blocks:  looks for the file in folders
 * that were refused
 * returns: HUB_ENOTFOUND, always */
hub_err hub_module_list_explain(const hub_resolver *resolver, hub_str name, hub_error *reterr);

/* Whether a module of that name is there and was refused, and why. */
bool hub_module_list_was_refused(const hub_resolver *resolver, hub_str name, hub_error *ret_why);

/* Append the folders that are looked through, and what is wrong with each: "/a, /b (there is no
 * such folder)". Nothing when there are none. */
void hub_module_list_add_folders(const hub_resolver *resolver, hub_buf *out);

#endif
