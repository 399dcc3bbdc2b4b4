/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The manifest when the command line names none: one of the working folder, else the user's own, else
 * the machine's. A manifest says which commands run, so none is read that somebody else could have
 * put there.
 */
#include "cli/cli.h"

#include "config/file.h"
#include "modules/plugin_check.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

/* Whether nobody else could have written what it says: the rule for plugins, which run as well. */
static bool is_trusted(const char *path)
{
    hub_arena *arena = hub_arena_create(64 * 1024);
    const char *folder = arena != NULL ? hub_file_folder(path, arena) : NULL;
    hub_error why = {.code = HUB_OK};
    int fd = -1;
    hub_err err = folder != NULL ? hub_plugin_check_folder(folder, &why) : HUB_ENOMEM;
    err = err == HUB_OK ? hub_plugin_open(path, true, &fd, &why) : err;
    if (fd >= 0) {
        (void)close(fd); /* read only */
    }
    hub_arena_destroy(arena);
    char *cure = strstr(why.text, " (ch"); /* chmod or chown, or an option for plugins */
    if (cure != NULL) {
        *cure = '\0';
    }
    if (err != HUB_OK) {
        cli_complain(
            "warning: %s is not read, since other users of this machine could have written "
            "it: %s. Take that right from them, or name the file with --config to use it "
            "as it is",
            path, why.text);
    }
    return err == HUB_OK;
}

/* In the working folder, the first that is there. */
static const char *const NAMES[] = {"patchbay.yaml", "hub.yaml"};

const char *cli_other_manifest(const char *path)
{
    struct stat own;
    struct stat here;
    bool is_there = path != NULL && stat(path, &own) == 0;
    for (size_t i = 0; i < sizeof NAMES / sizeof *NAMES; i++) {
        if (stat(NAMES[i], &here) == 0) {
            bool is_same = is_there && here.st_dev == own.st_dev && here.st_ino == own.st_ino;
            return is_same ? NULL : NAMES[i];
        }
    }
    return NULL;
}

/* A manifest of the working folder; NULL: none. Lives as long as the process. */
static const char *find_here(void)
{
    char *folder = getcwd(NULL, 0);
    char *found = NULL;
    for (size_t i = 0; folder != NULL && found == NULL && i < sizeof NAMES / sizeof *NAMES; i++) {
        const char *slash = strcmp(folder, "/") == 0 ? "" : "/";
        char *path = NULL;
        if (asprintf(&path, "%s%s%s", folder, slash, NAMES[i]) < 0) {
            break;
        }
        if (access(path, F_OK) == 0 && is_trusted(path)) {
            found = path;
        } else {
            free(path);
        }
    }
    free(folder);
    return found;
}

const char *cli_find_installed(void)
{
    const char *own = cli_own_manifest();
    if (own != NULL && access(own, F_OK) == 0) {
        return is_trusted(own) ? own : NULL;
    }
    bool is_there = access(MACHINE_MANIFEST, R_OK) == 0;
    return is_there && is_trusted(MACHINE_MANIFEST) ? MACHINE_MANIFEST : NULL;
}

const char *cli_find_manifest(void)
{
    const char *here = find_here();
    return here != NULL ? here : cli_find_installed();
}
