/* SPDX-License-Identifier: Apache-2.0 */
#include "state/sqlite_place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

/* File systems whose files other machines may have open, or where locks and shared memory are no
 * better than who wrote them: linux/magic.h, statfs(2). */
static const struct {
    unsigned long magic;
    const char *name;
} REMOTE[] = {
    {0x6969, "NFS"},      {0xff534d42, "CIFS"}, {0xfe534d42, "SMB"},
    {0x517b, "SMB"},      {0x01021997, "9p"},   {0x65735546, "FUSE"},
    {0x00c36400, "Ceph"}, {0x5346414f, "AFS"},  {0x0bd00bd0, "Lustre"},
};

static hub_err fail_errno(const char *path, const char *what, hub_error *reterr)
{
    int cause = errno;
    switch (cause) {
    case EROFS:
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s: %s: the file system is read-only: name another place in `state`, or "
                        "say `state: off`",
                        path, what);
    case EACCES:
    case EPERM:
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s: %s: user %u may not write there: name another place in `state`, or "
                        "say `state: off`",
                        path, what, (unsigned)geteuid());
    case ENOSPC:
    case EDQUOT:
        return hub_fail(reterr, HUB_EUNAVAILABLE, "%s: %s: the disk is full", path, what);
    default:
        return hub_fail(reterr, HUB_EUNAVAILABLE, "%s: %s: %s", path, what, strerrordesc_np(cause));
    }
}

/* Whether nobody but this user (and root) can have written what is there. */
static hub_err check_owner(const char *path, const struct stat *about, hub_error *reterr)
{
    if (about->st_uid != geteuid() && !(S_ISDIR(about->st_mode) && about->st_uid == 0)) {
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s belongs to user %u, and this process is user %u: name another place in "
                        "`state`",
                        path, (unsigned)about->st_uid, (unsigned)geteuid());
    }
    if ((about->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s can be written to by others (mode %04o): chmod go-w it", path,
                        (unsigned)about->st_mode & 07777u);
    }
    return HUB_OK;
}

static void look_at_system(const char *folder, hub_sqlite_place *place)
{
    struct statfs about;
    if (statfs(folder, &about) != 0) {
        return; /* what cannot be told is taken for local: opening it tells more */
    }
    for (size_t i = 0; i < sizeof REMOTE / sizeof REMOTE[0]; i++) {
        if ((unsigned long)about.f_type == REMOTE[i].magic) {
            place->is_remote = true;
            place->system = REMOTE[i].name;
        }
    }
}

/* Why a secret may not be there without a key. */
static void judge_safety(const char *folder, const struct stat *of_folder, const char *path,
                         const struct stat *of_file, hub_sqlite_place *place)
{
    if (place->is_remote) {
        (void)snprintf(place->safety, sizeof place->safety,
                       "%.160s is on a network file system (%s)", folder, place->system);
    } else if (of_folder->st_uid != geteuid() || (of_folder->st_mode & 0777) != 0700) {
        (void)snprintf(place->safety, sizeof place->safety,
                       "the folder %.160s is not this user's alone (its mode is %04o, not 0700)",
                       folder, (unsigned)of_folder->st_mode & 07777u);
    } else if (of_file != NULL && (of_file->st_mode & 0777) != 0600) {
        (void)snprintf(place->safety, sizeof place->safety,
                       "the file %.160s is not this user's alone (its mode is %04o, not 0600)",
                       path, (unsigned)of_file->st_mode & 07777u);
    }
}

static hub_err look_at_file(const char *path, const struct stat *about, hub_sqlite_place *place,
                            hub_error *reterr)
{
    if (!S_ISREG(about->st_mode)) {
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s is not a regular file: name another place in `state`", path);
    }
    place->is_there = about->st_size > 0;
    place->inode = (hub_sqlite_inode){.device = about->st_dev, .number = about->st_ino};
    return check_owner(path, about, reterr);
}

/* The folder of an absolute path. False: it is too long. */
static bool folder_of(const char *path, char ret_folder[PATH_MAX])
{
    const char *slash = strrchr(path, '/');
    size_t len = slash != NULL && slash > path ? (size_t)(slash - path) : 1;
    if (len >= PATH_MAX) {
        return false;
    }
    memcpy(ret_folder, path, len);
    ret_folder[len] = '\0';
    return true;
}

hub_err hub_sqlite_place_look(const char *path, hub_sqlite_place *ret_place, hub_error *reterr)
{
    char folder[PATH_MAX];
    struct stat of_folder;
    struct stat of_file;
    hub_sqlite_place place = {.is_there = false};
    *ret_place = place;
    if (!folder_of(path, folder)) {
        return hub_fail(reterr, HUB_EUNAVAILABLE, "the path of the store is too long");
    }
    if (stat(folder, &of_folder) != 0) {
        return errno == ENOENT ? HUB_OK : fail_errno(folder, "the folder cannot be read", reterr);
    }
    if (!S_ISDIR(of_folder.st_mode)) {
        return hub_fail(reterr, HUB_EUNAVAILABLE,
                        "%s is not a folder: name another place in `state`", folder);
    }
    hub_err err = check_owner(folder, &of_folder, reterr);
    if (err != HUB_OK) {
        return err;
    }
    look_at_system(folder, &place);
    bool has_file = lstat(path, &of_file) == 0;
    if (!has_file && errno != ENOENT) {
        return fail_errno(path, "the file cannot be read", reterr);
    }
    judge_safety(folder, &of_folder, path, has_file ? &of_file : NULL, &place);
    err = has_file ? look_at_file(path, &of_file, &place, reterr) : HUB_OK;
    *ret_place = place;
    return err;
}

static hub_err make_folders(char *path, hub_error *reterr)
{
    hub_err err = HUB_OK;
    for (char *at = path; err == HUB_OK && at != NULL;) {
        at = strchr(at + 1, '/');
        if (at != NULL) {
            *at = '\0';
        }
        if (mkdir(path, 0700) != 0 && errno != EEXIST) {
            err = fail_errno(path, "the folder cannot be made", reterr);
        }
        if (at != NULL) {
            *at = '/';
        }
    }
    return err;
}

hub_err hub_sqlite_place_make(const char *path, hub_error *reterr)
{
    char folder[PATH_MAX];
    struct stat about;
    if (!folder_of(path, folder)) {
        return hub_fail(reterr, HUB_EUNAVAILABLE, "the path of the store is too long");
    }
    hub_err err = stat(folder, &about) == 0 ? HUB_OK : make_folders(folder, reterr);
    if (err != HUB_OK) {
        return err;
    }
    /* Never opened when it is there: closing it would end the locks of others in this process. */
    int fd = lstat(path, &about) == 0
                 ? -1
                 : open(path, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600);
    if (fd < 0 && errno != EEXIST && lstat(path, &about) != 0) {
        return fail_errno(path, "the file cannot be made", reterr);
    }
    if (fd >= 0) {
        (void)close(fd); /* nothing was written */
    }
    return HUB_OK;
}
