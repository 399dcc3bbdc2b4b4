/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The file that remembers the catalog of one toolset: its lists as the toolset gave them, what it
 * can do besides, its era, and when that was learnt. One JSON object; a digest over the content
 * tells a file that was cut or changed from a whole one. It holds nothing of the configuration, of
 * which only a digest is in its name and in its content. Nothing here knows toolsets.
 * Thread: [any]; what touches the file system blocks.
 */
#ifndef HUB_HUB_CATALOGS_CATALOG_FILE_H
#define HUB_HUB_CATALOGS_CATALOG_FILE_H

#include "base/buf.h"
#include "tools/catalog.h"

/* A hexadecimal SHA-256, with its NUL. */
#define HUB_CATALOG_ID_BYTES 65

/* The name of a file, with its NUL: KEY-ID.json. */
#define HUB_CATALOG_NAME_BYTES (HUB_LIMIT_TOOLSET_KEY_BYTES + 1 + HUB_CATALOG_ID_BYTES + 5)

typedef struct hub_catalog_record {
    hub_str id;               /* which catalog it is: HUB_CATALOG_ID_BYTES - 1 characters */
    int64_t learned_at_ms;    /* since 1970 */
    bool is_modern;           /* the server speaks a modern revision */
    hub_str capabilities;     /* a raw object; empty: nothing was said */
    hub_str about;            /* likewise: what the server says of itself */
    hub_str lists[HUB_KINDS]; /* raw arrays; empty: there is none */
} hub_catalog_record;

/* Append the file's text. A failure marks the buffer. */
void hub_catalog_file_write(const hub_catalog_record *record, hub_buf *out);

/* Take a file's text apart; the record's spans point into it.
 * errors:  HUB_EINVAL (not such a file, of another version, another catalog than `id`, damaged);
 *          those of hub_json_check; the text says what is wrong */
HUB_MUST_CHECK hub_err hub_catalog_file_read(hub_str text, hub_str id,
                                             hub_catalog_record *ret_record, hub_error *reterr);

/* Append the content of the file `name` in `folder`. No link is followed; file and folder must be
 * this user's, and nobody else's to write to.
 * errors:  HUB_ENOTFOUND (no file, no folder), HUB_EDENIED, HUB_EINVAL (no regular file),
 *          HUB_ELIMIT (longer than the buffer may be), HUB_ESYSTEM, HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_catalog_file_load(const char *folder, const char *name, hub_buf *out,
                                             hub_error *reterr);

/* Replace the file at once: another one is written beside it, reaches the disk, and takes its name.
 * The folder and those above it are made (0700) when they are not there. What is there stays when
 * anything fails.
 * errors:  HUB_EDENIED (the folder is somebody else's, or others may write to it), HUB_ESYSTEM */
HUB_MUST_CHECK hub_err hub_catalog_file_store(const char *folder, const char *name, hub_str text,
                                              hub_error *reterr);

/* Remove from `folder` the files of catalogs that nobody has written for
 * HUB_LIMIT_CATALOG_FILE_DAYS before `now_s` (seconds since 1970), and what a process that died
 * left half-written. Others stay. Looks at most at HUB_LIMIT_CATALOG_FILES entries. Returns how
 * many were removed. */
size_t hub_catalog_file_sweep(const char *folder, int64_t now_s);

#endif
