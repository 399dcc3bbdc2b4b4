/* SPDX-License-Identifier: Apache-2.0 */
/* Whole files and absolute paths. Any thread; blocks. */
#ifndef HUB_CONFIG_FILE_H
#define HUB_CONFIG_FILE_H

#include "base/arena.h"
#include "base/buf.h"

/* Append what the file holds, at most what the buffer may; a pipe is read to its end.
 * `ret_mode` (may be NULL) are its permission bits; 0 for anything but a regular file.
 * errors:  HUB_ENOTFOUND, HUB_ESYSTEM, HUB_ELIMIT, HUB_ENOMEM; the text begins with `path` */
HUB_MUST_CHECK hub_err hub_file_read(const char *path, hub_buf *out, unsigned *ret_mode,
                                     hub_error *reterr);

/* `path`, absolute: as it is, or below `folder` when it is relative (which must be absolute, or
 * NULL for the working directory of the process). "." and a leading "./" vanish; ".." stays, since
 * only the kernel can follow it past links. In the arena; NULL when out of memory or without a
 * working directory. */
char *hub_file_absolute(const char *folder, const char *path, hub_arena *arena);

/* The absolute folder that holds `path`. In the arena; NULL as above. */
char *hub_file_folder(const char *path, hub_arena *arena);

#endif
