/* SPDX-License-Identifier: Apache-2.0 */
#include "bundle/tree.h"

#include "unpack/protocol.h"

#include <errno.h>
#include <fcntl.h>
#include <fts.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { PIECE_BYTES = 64 * 1024 };

typedef struct walking {
    const char *folder;
    size_t folder_len;
    size_t files;
    uint64_t bytes;
    hub_digest digest;
    hub_error *reterr;
} walking;

typedef hub_err on_entry(walking *walk, const FTSENT *entry);

static hub_err fail_system(walking *walk, const FTSENT *entry, int error)
{
    return hub_fail(walk->reterr, error == ENOENT ? HUB_ENOTFOUND : HUB_ESYSTEM, "%.300s: %s",
                    entry->fts_path, strerrordesc_np(error));
}

/* By names; a folder and a file have never the same. */
static int compare(const FTSENT **a, const FTSENT **b)
{
    return strcmp((*a)->fts_name, (*b)->fts_name);
}

static hub_err look(walking *walk, const FTSENT *entry, on_entry *visit)
{
    switch (entry->fts_info) {
    case FTS_D:
    case FTS_F:
    case FTS_DP:
        break;
    case FTS_DNR:
    case FTS_ERR:
    case FTS_NS:
        return fail_system(walk, entry, entry->fts_errno);
    default:
        return hub_fail(walk->reterr, HUB_EINVAL, "%.300s: neither a file nor a folder",
                        entry->fts_path);
    }
    walk->files += entry->fts_info == FTS_F;
    if (walk->files > HUB_UNPACK_FILES || entry->fts_level > HUB_UNPACK_DEPTH + 1) {
        return hub_fail(walk->reterr, HUB_ELIMIT, "%.300s: more files than a bundle may have",
                        walk->folder);
    }
    return visit(walk, entry);
}

static hub_err walk_all(walking *walk, on_entry *visit)
{
    union {
        const char *from;
        char *to;
    } path = {.from = walk->folder};
    char *const roots[] = {path.to, NULL};
    FTS *fts = fts_open(roots, FTS_PHYSICAL | FTS_NOCHDIR | FTS_XDEV, compare);
    hub_err err = fts != NULL ? HUB_OK : hub_fail(walk->reterr, HUB_ENOMEM, "out of memory");
    walk->folder_len = strlen(walk->folder);
    for (FTSENT *entry; err == HUB_OK && (entry = fts_read(fts)) != NULL;) {
        err = look(walk, entry, visit);
    }
    if (fts != NULL) {
        (void)fts_close(fts); /* nothing was changed by it */
    }
    return err;
}

static hub_err add_content(walking *walk, const FTSENT *entry, int fd, uint64_t size)
{
    static char piece[PIECE_BYTES];
    uint64_t seen = 0;
    for (ssize_t len; (len = read(fd, piece, sizeof piece)) != 0;) {
        if (len < 0) {
            return fail_system(walk, entry, errno);
        }
        seen += (uint64_t)len;
        hub_digest_add(&walk->digest, piece, (size_t)len);
    }
    return seen == size ? HUB_OK
                        : hub_fail(walk->reterr, HUB_EINVAL, "%.300s: it changes while it is read",
                                   entry->fts_path);
}

static hub_err add_file(walking *walk, const FTSENT *entry)
{
    if (entry->fts_info != FTS_F) {
        return HUB_OK;
    }
    struct stat about;
    int fd = open(entry->fts_accpath, O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
    if (fd < 0 || fstat(fd, &about) != 0) {
        int error = errno;
        if (fd >= 0) {
            (void)close(fd); /* read only */
        }
        return fail_system(walk, entry, error);
    }
    uint64_t size = about.st_size > 0 ? (uint64_t)about.st_size : 0;
    hub_err err = HUB_OK;
    if (!S_ISREG(about.st_mode) || size > HUB_UNPACK_BYTES - walk->bytes) {
        err = hub_fail(walk->reterr, HUB_ELIMIT, "%.300s: more bytes than a bundle may have",
                       walk->folder);
    } else {
        char head[64];
        int len = snprintf(head, sizeof head, "%c%llu", (about.st_mode & 0111) != 0 ? 'x' : '-',
                           (unsigned long long)size);
        const char *path = entry->fts_path + walk->folder_len;
        hub_digest_add(&walk->digest, path, strlen(path) + 1);
        hub_digest_add(&walk->digest, head, (size_t)len + 1);
        walk->bytes += size;
        err = add_content(walk, entry, fd, size);
    }
    (void)close(fd); /* read only */
    return err;
}

hub_err hub_tree_digest(const char *folder, char ret_hex[HUB_DIGEST_HEX_BYTES], hub_error *reterr)
{
    walking walk = {.folder = folder, .reterr = reterr};
    unsigned char bytes[HUB_DIGEST_BYTES];
    hub_digest_init(&walk.digest);
    hub_err err = walk_all(&walk, add_file);
    hub_digest_end(&walk.digest, bytes);
    if (err == HUB_OK) {
        hub_digest_hex(bytes, ret_hex);
    }
    return err;
}

/* Folders behind what is in them. */
static hub_err close_entry(walking *walk, const FTSENT *entry)
{
    mode_t mode = entry->fts_info == FTS_DP                 ? 0500
                  : (entry->fts_statp->st_mode & 0111) != 0 ? 0500
                                                            : 0400;
    return entry->fts_info == FTS_D || chmod(entry->fts_accpath, mode) == 0
               ? HUB_OK
               : fail_system(walk, entry, errno);
}

hub_err hub_tree_close(const char *folder, hub_error *reterr)
{
    walking walk = {.folder = folder, .reterr = reterr};
    return walk_all(&walk, close_entry);
}

static hub_err delete_entry(walking *walk, const FTSENT *entry)
{
    bool is_done = entry->fts_info == FTS_D    ? chmod(entry->fts_accpath, 0700) == 0
                   : entry->fts_info == FTS_DP ? rmdir(entry->fts_accpath) == 0
                                               : unlink(entry->fts_accpath) == 0;
    return is_done ? HUB_OK : fail_system(walk, entry, errno);
}

hub_err hub_tree_delete(const char *folder, hub_error *reterr)
{
    walking walk = {.folder = folder, .reterr = reterr};
    return walk_all(&walk, delete_entry);
}
