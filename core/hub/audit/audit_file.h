/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A file that lines are appended to, and that others may rename, replace or remove meanwhile. A
 * write that fails leaves no part of itself behind, if the file can be cut. Any thread, one at a
 * time; blocks.
 */
#ifndef HUB_HUB_AUDIT_AUDIT_FILE_H
#define HUB_HUB_AUDIT_AUDIT_FILE_H

#include "base/buf.h"

typedef struct hub_audit_file {
    int fd;       /* -1: not open */
    bool is_torn; /* it ends in a part of a line that could not be cut off */
} hub_audit_file;

/* Have it open what `path` means now: one that is new is its owner's alone. What it ends with may be a
 * part of a line, of a process that has died: then it is torn.
 * errors:  HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_audit_file_open(hub_audit_file *file, const char *path,
                                           hub_error *reterr);

/* Whether it could be opened, without making it.
 * errors:  as hub_audit_file_open */
HUB_MUST_CHECK hub_err hub_audit_file_check(const char *path, hub_error *reterr);

/* Append whole lines, all or none.
 * errors:  HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_audit_file_write(hub_audit_file *file, const char *path, hub_str lines,
                                            hub_error *reterr);

/* Append what an open file ends with, at most HUB_LIMIT_AUDIT_LINE_BYTES; nothing, if it is empty, no
 * file, or cannot be read. */
void hub_audit_file_add_end(const hub_audit_file *file, const char *path, hub_buf *out);

void hub_audit_file_close(hub_audit_file *file);

#endif
