/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files and absolute paths. Any thread; blocks. */
#ifndef HUB_CONFIG_FILE_H
#define HUB_CONFIG_FILE_H

#include "base/arena.h"
#include "base/buf.h"

/* Append what the file holds, at most what the buffer may; a pipe is read to its end. One that has a
 * name, and to which nobody writes for HUB_LIMIT_PIPE_MS, is HUB_ESYSTEM.
 * `ret_mode` (may be NULL) are its permission bits; 0 for anything but a regular file.
 * errors:  HUB_ENOTFOUND, HUB_ESYSTEM, HUB_ELIMIT, HUB_ENOMEM; the text begins with `path` */
HUB_MUST_CHECK hub_err hub_file_read(const char *path, hub_buf *out, unsigned *ret_mode,
                                     hub_error *reterr);

/* A file as it is now: whether it has changed shows by comparing. All zeros: there is none. */
typedef struct hub_file_stamp {
    uint64_t device;
    uint64_t inode;
    int64_t size;
    int64_t modified_ns; /* its content */
    int64_t changed_ns;  /* … or anything about it */
    bool is_regular;
} hub_file_stamp;

hub_file_stamp hub_file_look(const char *path);
bool hub_file_stamp_equal(const hub_file_stamp *a, const hub_file_stamp *b);

/* Append what a secret file holds. It must be a regular file of this user that nobody else can read
 * or write.
 * errors:  those of hub_file_read; HUB_EDENIED (it is somebody else's, or others have access: the
 *          text says what to do), HUB_EINVAL (no regular file) */
HUB_MUST_CHECK hub_err hub_file_read_private(const char *path, hub_buf *out, hub_error *reterr);

/* Replace `path` at once by a file with this content that only this user can read (0600); what is
 * there stays when anything fails. A link is followed.
 * errors:  HUB_ENOTFOUND (no such folder; a link that leads nowhere), HUB_ESYSTEM, HUB_ENOMEM; the text begins with `path` */
HUB_MUST_CHECK hub_err hub_file_replace_private(const char *path, hub_str content,
                                                hub_error *reterr);

/* What becomes of a file that somebody edits. */
typedef struct hub_file_change {
    hub_str content;
    hub_file_stamp seen; /* of the file that the content was made of */
    /* Asked of a file with the content, of the same folder and ending, before it takes the place;
     * may fail. NULL: nobody has to be asked. */
    hub_err (*check)(void *ctx, const char *path, hub_error *reterr);
    void *ctx;
    bool only_check; /* and write nothing */
} hub_file_change;

/* Replace `path` at once; owner and mode stay, a link is followed. A new file is the user's alone
 * (0600). What is there stays when anything fails.
 * errors:  those of `check`, HUB_ECONFLICT (somebody else has changed it since), HUB_ENOTFOUND (no
 *          such folder; a link that leads nowhere), HUB_ESYSTEM, HUB_ENOMEM; the text begins with `path` */
HUB_MUST_CHECK hub_err hub_file_replace(const char *path, const hub_file_change *change,
                                        hub_error *reterr);

/* Make a folder, and those above it, unless it is there: the user's alone (0700). */
HUB_MUST_CHECK hub_err hub_file_make_folder(const char *folder, hub_error *reterr);

/* Wait until nobody else changes files of this folder: the lock is on the folder, since files are
 * replaced. It ends when the descriptor is closed, which the caller does. */
HUB_MUST_CHECK hub_err hub_file_lock_folder(const char *folder, int *ret_fd, hub_error *reterr);

/* `path`, absolute: as it is, or below `folder` when it is relative (which must be absolute, or
 * NULL for the working directory of the process). "." and a leading "./" vanish; ".." stays, since
 * only the kernel can follow it past links. In the arena; NULL when out of memory or without a
 * working directory. */
char *hub_file_absolute(const char *folder, const char *path, hub_arena *arena);

/* The absolute folder that holds `path`. In the arena; NULL as above. */
char *hub_file_folder(const char *path, hub_arena *arena);

#endif
