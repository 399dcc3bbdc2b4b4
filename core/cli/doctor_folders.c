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

/* A place that the hub makes files in, or would make. */
static void look_at_place(cli_examination *all, const char *subject, const char *place)
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
    if (access(folder, W_OK | X_OK) != 0 || !is_disk) {
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

void cli_doctor_folders(cli_examination *all)
{
    const hub_settings *settings = &all->config->settings;
    look_at_place(all, "state", settings->state.place);
    look_at_place(all, "cache", settings->cache_folder);
    if (settings->audit.is_on) {
        look_at_place(all, "audit", settings->audit.file);
    }
}
