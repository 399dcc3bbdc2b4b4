/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/doctor.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

enum { LEAST_FREE_MIB = 64, SAID_BYTES = 1024 };

/* Cut an absolute path to the nearest folder that is there. */
static void find_folder(char *path)
{
    struct stat status;
    while (stat(path, &status) != 0 || !S_ISDIR(status.st_mode)) {
        char *slash = strrchr(path, '/');
        if (slash == path) {
            path[1] = '\0';
            return;
        }
        *slash = '\0';
    }
}

/* A place that the hub makes files in, or would make; `is_there`: it only writes to that file. */
static void look_at_place(cli_examination *all, const char *subject, const char *place,
                          bool is_there)
{
    char *folder = place != NULL && place[0] == '/' ? strdup(place) : NULL;
    char said[SAID_BYTES];
    struct statvfs room;
    if (folder == NULL) {
        return; /* it is off, or elsewhere */
    }
    find_folder(folder);
    bool has_room = statvfs(folder, &room) == 0;
    unsigned long long free_mib =
        has_room ? (unsigned long long)room.f_bavail * room.f_frsize / (1024 * 1024) : 0;
    bool is_disk = !has_room || room.f_blocks > 0; /* proc and the like have none */
    bool may_write = is_there || access(folder, W_OK | X_OK) == 0;
    if (!may_write || !is_disk) {
        (void)snprintf(said, sizeof said, "%s: %s cannot be written to: %s", place, folder,
                       is_disk ? strerror(errno) : "it is not a disk");
        cli_doctor_tell(all, CLI_DOUBTFUL, subject, said,
                        "give the folder to the hub's user: until then nothing is remembered");
    } else if (has_room && free_mib < LEAST_FREE_MIB) {
        (void)snprintf(said, sizeof said, "%s: %llu MiB are free", place, free_mib);
        cli_doctor_tell(all, CLI_DOUBTFUL, subject, said, "make room on that disk");
    } else {
        cli_doctor_tell(all, CLI_FINE, subject, place, NULL);
    }
    free(folder);
}

/* A file that the hub opens when it starts, or does not start; it makes the file, and no folder. */
static void look_at_file(cli_examination *all, const char *subject, const char *file)
{
    struct stat status;
    char *folder = strdup(file);
    char *slash = folder != NULL ? strrchr(folder, '/') : NULL;
    char said[SAID_BYTES];
    if (slash == NULL) {
        free(folder);
        return;
    }
    slash[slash == folder] = '\0';
    bool is_there = stat(file, &status) == 0;
    bool is_device = is_there && !S_ISREG(status.st_mode);
    if (stat(folder, &status) != 0 || !S_ISDIR(status.st_mode)) {
        (void)snprintf(said, sizeof said, "%s: there is no folder %s, and the hub does not start",
                       file, folder);
        cli_doctor_tell(all, CLI_BAD, subject, said, "make the folder, or correct the path");
    } else if (access(is_there ? file : folder, W_OK) != 0) {
        (void)snprintf(said, sizeof said, "%s cannot be written to, and the hub does not start: %s",
                       is_there ? file : folder, strerror(errno));
        cli_doctor_tell(all, CLI_BAD, subject, said, "give it to the hub's user");
    } else if (!is_device) {
        look_at_place(all, subject, file, is_there);
    }
    free(folder);
}

/* A store that is a file must be one of SQLite's. False: it is not, which is told. */
static bool is_store(cli_examination *all, const char *place)
{
    static const char HEAD[] = "SQLite format 3";
    char head[sizeof HEAD];
    char said[SAID_BYTES];
    struct stat status;
    bool is_file = place != NULL && place[0] == '/' && stat(place, &status) == 0 &&
                   S_ISREG(status.st_mode) && status.st_size > 0;
    FILE *file = is_file ? fopen(place, "re") : NULL;
    if (file == NULL) {
        return true; /* there is none yet */
    }
    size_t len = fread(head, 1, sizeof head, file);
    (void)fclose(file);
    if (len == sizeof head && memcmp(head, HEAD, sizeof head) == 0) {
        return true;
    }
    (void)snprintf(said, sizeof said, "%s is damaged: it is not a database", place);
    cli_doctor_tell(all, CLI_BAD, "state", said,
                    "move it away, and bring records back with patchbay state import");
    return false;
}

void cli_doctor_folders(cli_examination *all)
{
    const hub_settings *settings = &all->config->settings;
    if (is_store(all, settings->state.place)) {
        look_at_place(all, "state", settings->state.place, false);
    }
    look_at_place(all, "cache", settings->cache_folder, false);
    if (settings->audit.is_on && settings->audit.file != NULL) {
        look_at_file(all, "audit", settings->audit.file);
    }
    if (settings->log_file != NULL) {
        look_at_file(all, "log", settings->log_file);
    }
}
