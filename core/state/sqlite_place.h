/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Where the store's file is, and whether that is a good place: who else may write there, who may
 * read there, and whether the file system is of this machine. Thread: [any], blocks.
 */
#ifndef HUB_STATE_SQLITE_PLACE_H
#define HUB_STATE_SQLITE_PLACE_H

#include "base/err.h"

#include <sys/types.h>

/* Which file a name leads to; all zeros: none. */
typedef struct hub_sqlite_inode {
    dev_t device;
    ino_t number;
} hub_sqlite_inode;

typedef struct hub_sqlite_place {
    bool is_there;          /* there is a file with something in it */
    bool is_remote;         /* no shared memory with other machines: no write-ahead log */
    const char *system;     /* of is_remote: "NFS", "CIFS", … */
    char safety[256];       /* why no secret may be here without a key; "": it may */
    hub_sqlite_inode inode; /* of the file, to notice that it is another one */
} hub_sqlite_place;

/* Look at the file and its folder. A folder that does not exist is one without a file.
 * errors:  HUB_EUNAVAILABLE: others could have written it, or it is no regular file; the text says
 *          what to do */
HUB_MUST_CHECK hub_err hub_sqlite_place_look(const char *path, hub_sqlite_place *ret_place,
                                             hub_error *reterr);

/* Make the folder (0700, and those above it) and an empty file (0600) if they are not there.
 * errors:  HUB_EUNAVAILABLE: not allowed, read-only, full, … */
HUB_MUST_CHECK hub_err hub_sqlite_place_make(const char *path, hub_error *reterr);

#endif
