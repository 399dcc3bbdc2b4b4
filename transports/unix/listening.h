/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A listening Unix socket in the file system: made so that nobody can connect before its mode and
 * group are what they should be, and removed only while it is still the one that was made. [init]
 */
#ifndef TRANSPORTS_UNIX_LISTENING_H
#define TRANSPORTS_UNIX_LISTENING_H

#include "base/err.h"

#include <stdbool.h>
#include <sys/stat.h>

/* What the file at a path is. A plain value struct. */
typedef struct hub_unix_file {
    dev_t device;
    ino_t inode;
} hub_unix_file;

/* Make a socket file at `path` with permissions `mode` (of 0777) and, unless NULL, `group` (a name
 * or a number), and listen on it. A socket file there that nobody listens on is replaced; anything
 * else is left alone.
 * owns:    *ret_fd, non-blocking
 * errors:  HUB_EINVAL (path too long, not a socket, no such group), HUB_EEXIST (another process
 *          serves it), HUB_ESYSTEM; the text names the path */
HUB_MUST_CHECK hub_err hub_unix_listen(const char *path, unsigned mode, const char *group,
                                       int *ret_fd, hub_unix_file *ret_file, hub_error *reterr);

/* Whether a socket listens just there. */
bool hub_unix_is_bound_to(int fd, const char *path);

/* Remove the file if it still is that one. */
void hub_unix_remove(const char *path, const hub_unix_file *file);

#endif
