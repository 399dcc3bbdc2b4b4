/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of modules, sorted by name: what a folder has, what the resolver shows, and how one list
 * differs from the next. */
#ifndef HUB_MODULES_MODULE_LIST_H
#define HUB_MODULES_MODULE_LIST_H

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

#endif
