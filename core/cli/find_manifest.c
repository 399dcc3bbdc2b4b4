/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest when the command line names none: the user's own, else the machine's. Not one of the
 * working folder: whoever starts a hub in what somebody else wrote would run that one's commands.
 */
#include "cli/cli.h"

#include "config/file.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#define MACHINE_MANIFEST "/etc/patchbay/patchbay.yaml"

const char *cli_own_manifest(void)
{
    static char *path; /* lives as long as the process */
    const char *own = getenv("XDG_CONFIG_HOME");
    const char *home = getenv("HOME");
    bool has_own = own != NULL && own[0] == '/'; /* others are invalid: XDG base directories */
    if (path != NULL || (!has_own && (home == NULL || home[0] != '/'))) {
        return path;
    }
    int len = has_own ? asprintf(&path, "%s/patchbay/patchbay.yaml", own)
                      : asprintf(&path, "%s/.config/patchbay/patchbay.yaml", home);
    path = len < 0 ? NULL : path;
    return path;
}

/* Whether nobody else could have written what it says. */
static bool is_trusted(const char *path)
{
    hub_arena *arena = hub_arena_create(64 * 1024);
    const char *folder = arena != NULL ? hub_file_folder(path, arena) : NULL;
    struct stat file;
    struct stat around;
    bool is_good = folder != NULL && stat(path, &file) == 0 && stat(folder, &around) == 0;
    bool is_owned = is_good && (file.st_uid == geteuid() || file.st_uid == 0) &&
                    (around.st_uid == geteuid() || around.st_uid == 0);
    bool is_closed = is_good && ((file.st_mode | around.st_mode) & S_IWOTH) == 0;
    hub_arena_destroy(arena);
    if (is_good && !(is_owned && is_closed)) {
        cli_complain("warning: %s is not read: other users of this machine can change it, or its "
                     "folder. Name it with --config to use it as it is",
                     path);
    }
    return is_owned && is_closed;
}

const char *cli_find_manifest(void)
{
    const char *own = cli_own_manifest();
    if (own != NULL && access(own, F_OK) == 0) {
        return is_trusted(own) ? own : NULL;
    }
    bool is_there = access(MACHINE_MANIFEST, R_OK) == 0;
    return is_there && is_trusted(MACHINE_MANIFEST) ? MACHINE_MANIFEST : NULL;
}
