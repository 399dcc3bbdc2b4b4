/* SPDX-License-Identifier: Apache-2.0 */
#include "modules/module_list.h"

#include "modules/plugin_check.h"
#include "modules/plugin_load.h"

#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

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

static bool explain_file(const hub_resolver *resolver, hub_str name, hub_error *reterr)
{
    size_t count;
    const hub_refusal *refusals = hub_resolver_refusals(resolver, &count);
    for (size_t i = 0; i < count; i++) {
        hub_str stem = hub_plugin_stem(refusals[i].path);
        if (hub_str_eq(stem, name) && strcmp(stem.ptr + stem.len, ".so") == 0) {
            (void)hub_fail(reterr, HUB_ENOTFOUND,
                           "the plugin \"" HUB_STR_FMT "\" is there, but was refused: %s: %s",
                           HUB_STR_ARG(name), refusals[i].path, refusals[i].reason);
            return true;
        }
    }
    return false;
}

/* Nothing in a folder that was refused was looked at. */
static bool explain_folder(const hub_resolver *resolver, hub_str name, hub_error *reterr)
{
    size_t count;
    const hub_module_folder *folders = hub_resolver_folders(resolver, &count);
    for (size_t i = 0; i < count && hub_plugin_name_is_valid(name); i++) {
        char path[PATH_MAX];
        int len = snprintf(path, sizeof path, "%s/" HUB_STR_FMT ".so", folders[i].path,
                           HUB_STR_ARG(name));
        if (folders[i].reason != NULL && len > 0 && (size_t)len < sizeof path &&
            access(path, F_OK) == 0) {
            (void)hub_fail(reterr, HUB_ENOTFOUND,
                           "the plugin \"" HUB_STR_FMT
                           "\" is there, but its folder was refused: %s: %s",
                           HUB_STR_ARG(name), path, folders[i].reason);
            return true;
        }
    }
    return false;
}

/* Empty: there is none, or no memory. */
static hub_str find_nearest(const hub_resolver *resolver, hub_str name)
{
    size_t count;
    const hub_module *const *modules = hub_resolver_modules(resolver, &count);
    const char **names = calloc(count + 1, sizeof names[0]);
    hub_str nearest = HUB_STR_EMPTY;
    if (names != NULL) {
        for (size_t i = 0; i < count; i++) {
            names[i] = modules[i]->name;
        }
        nearest = hub_str_nearest(name, names);
        free(names);
    }
    return nearest;
}

void hub_module_list_add_folders(const hub_resolver *resolver, hub_buf *out)
{
    size_t count;
    const hub_module_folder *folders = hub_resolver_folders(resolver, &count);
    for (size_t i = 0; i < count; i++) {
        hub_buf_printf(out, "%s%s", i > 0 ? ", " : "", folders[i].path);
        if (folders[i].is_missing) {
            hub_buf_add(out, HUB_STR(" (there is no such folder)"));
        } else if (folders[i].reason != NULL) {
            hub_buf_printf(out, " (refused: %s)", folders[i].reason);
        }
    }
}

static hub_err explain_absence(const hub_resolver *resolver, hub_str name, hub_error *reterr)
{
    hub_buf folders;
    hub_str nearest = find_nearest(resolver, name);
    hub_buf_init(&folders, SIZE_MAX / 4);
    hub_module_list_add_folders(resolver, &folders);
    hub_str where = hub_buf_ok(&folders) ? hub_buf_str(&folders) : HUB_STR("(out of memory)");
    if (where.len == 0) {
        (void)hub_fail(reterr, HUB_ENOTFOUND,
                       "there is no plugin \"" HUB_STR_FMT "\": no plugins folders are named",
                       HUB_STR_ARG(name));
    } else if (nearest.len > 0) {
        (void)hub_fail(reterr, HUB_ENOTFOUND,
                       "there is no plugin \"" HUB_STR_FMT "\"; did you mean \"" HUB_STR_FMT
                       "\"? The plugins folders are " HUB_STR_FMT,
                       HUB_STR_ARG(name), HUB_STR_ARG(nearest), HUB_STR_ARG(where));
    } else {
        (void)hub_fail(reterr, HUB_ENOTFOUND,
                       "there is no plugin \"" HUB_STR_FMT "\" in the plugins folders " HUB_STR_FMT,
                       HUB_STR_ARG(name), HUB_STR_ARG(where));
    }
    hub_buf_fini(&folders);
    return HUB_ENOTFOUND;
}

bool hub_module_list_was_refused(const hub_resolver *resolver, hub_str name, hub_error *ret_why)
{
    return explain_file(resolver, name, ret_why) || explain_folder(resolver, name, ret_why);
}

hub_err hub_module_list_explain(const hub_resolver *resolver, hub_str name, hub_error *reterr)
{
    return hub_module_list_was_refused(resolver, name, reterr)
               ? HUB_ENOTFOUND
               : explain_absence(resolver, name, reterr);
}
