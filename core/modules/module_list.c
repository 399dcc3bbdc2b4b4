/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_list.h"

#include <stdlib.h>

static int compare_modules(const void *a, const void *b)
{
    return strcmp((*(const hub_module *const *)a)->name, (*(const hub_module *const *)b)->name);
}

static int is_plugin_name(const struct dirent *entry)
{
    size_t len = strlen(entry->d_name);
    return len > 3 && entry->d_name[0] != '.' && strcmp(entry->d_name + len - 3, ".so") == 0;
}

static int compare_names(const struct dirent **a, const struct dirent **b)
{
    return strcmp((*a)->d_name, (*b)->d_name);
}

int hub_module_list_files(const char *folder, struct dirent ***ret_names)
{
    return scandir(folder, ret_names, is_plugin_name, compare_names);
}

void hub_module_list_sort(const hub_module **modules, size_t count)
{
    if (count > 0) {
        qsort(modules, count, sizeof modules[0], compare_modules);
    }
}

size_t hub_module_list_compare(const hub_module *const *before, size_t before_count,
                               const hub_module *const *after, size_t after_count,
                               hub_module_list_change *ret_changes)
{
    size_t count = 0;
    size_t i = 0;
    size_t j = 0;
    while (i < before_count || j < after_count) {
        int order = i == before_count  ? 1
                    : j == after_count ? -1
                                       : strcmp(before[i]->name, after[j]->name);
        if (order < 0) {
            ret_changes[count++] = (hub_module_list_change){before[i], HUB_MODULE_REMOVED};
        } else if (order > 0) {
            ret_changes[count++] = (hub_module_list_change){after[j], HUB_MODULE_ADDED};
        } else if (before[i] != after[j]) {
            ret_changes[count++] = (hub_module_list_change){after[j], HUB_MODULE_REPLACED};
        }
        i += order <= 0;
        j += order >= 0;
    }
    return count;
}
