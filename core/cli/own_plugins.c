/* SPDX-License-Identifier: Apache-2.0 */
/* Where the plugins are that came with this program. */
#include "cli/cli.h"

#include <limits.h>
#include <stdio.h>
#include <unistd.h>

/* The folder of this program, "" when it cannot be found out. */
static void find_program_folder(char *ret_folder, size_t size)
{
    ssize_t len = readlink("/proc/self/exe", ret_folder, size - 1);
    ret_folder[len > 0 ? len : 0] = '\0';
    char *slash = strrchr(ret_folder, '/');
    if (slash != NULL) {
        *slash = '\0';
    }
}

/* `relative`, which may begin with "../", seen from `folder`: an absolute path without links, so
 * that the names alone say which folder is above. False: it is too long. */
static bool join(const char *folder, const char *relative, char *ret_path, size_t size)
{
    size_t len = strlen(folder);
    while (strncmp(relative, "../", 3) == 0) {
        relative += 3;
        while (len > 0 && folder[--len] != '/') {
        }
    }
    int written = snprintf(ret_path, size, "%.*s/%s", (int)len, folder, relative);
    return written > 0 && (size_t)written < size;
}

static hub_names one(const char **dir)
{
    return (hub_names){.items = dir, .count = 1, .set = true};
}

hub_names cli_own_plugin_dirs(void)
{
    static const char FIXED[] = PATCHBAY_PLUGIN_DIR;
    static char installed[PATH_MAX];
    static char built[PATH_MAX];
    static const char *dirs[] = {installed, FIXED};
    static const char *beside[] = {built};
    char folder[PATH_MAX];
    find_program_folder(folder, sizeof folder);
    if (folder[0] == '\0' ||
        !join(folder, PATCHBAY_PLUGINS_FROM_BIN, installed, sizeof installed) ||
        !join(folder, "../plugins", built, sizeof built)) {
        return one(&dirs[1]);
    }
    if (access(installed, R_OK) == 0) {
        return one(&dirs[0]);
    }
    if (access(built, R_OK) == 0) {
        return one(&beside[0]);
    }
    bool is_same = strcmp(installed, FIXED) == 0;
    if (is_same || access(FIXED, R_OK) == 0) {
        return one(&dirs[1]);
    }
    return (hub_names){.items = dirs, .count = 2, .set = true};
}
