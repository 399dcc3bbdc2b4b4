/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What a replica knows of the record in the store that replicas keep of a toolset's catalog: which one
 * it is, what it said when this hub read or wrote it last, and whether that becomes the toolset's
 * catalog. When it is read and written is shared.c's. Thread: [loop].
 */
#ifndef HUB_HUB_CATALOGS_SHARED_RECORD_H
#define HUB_HUB_CATALOGS_SHARED_RECORD_H

#include "base/buf.h"
#include "base/digest.h"
#include "hub/catalogs/catalog_file.h"
#include "hub/kernel/types.h"
#include "state/store.h"

typedef struct hub_shared_record {
    char id[HUB_CATALOG_ID_BYTES];
    uint64_t version;                       /* as this hub read or wrote it last; 0: never */
    bool is_known;                          /* what it says: … */
    int64_t learned_at_ms;                  /* since 1970 */
    unsigned char digest[HUB_DIGEST_BYTES]; /* of the text */
} hub_shared_record;

/* Say which record it is. False: its module is not there, or no memory. */
bool hub_shared_record_name(const hub_toolset *toolset, hub_shared_record *record);

/* Whether the toolset hears of changes from its server itself. */
bool hub_shared_record_is_heard(const hub_toolset *toolset);

/* Take what the store says, if it is newer than what the toolset has. What is no catalog, or not signed
 * by a replica, is logged and known to nobody. */
void hub_shared_record_take(hub_toolset *toolset, hub_shared_record *record,
                            const hub_state_record *found);

/* The text of the toolset's catalog as it is, without a time. A failure marks the buffer, which is
 * initialised here, of HUB_LIMIT_CATALOG_SHARED_BYTES. */
void hub_shared_record_add_text(const hub_toolset *toolset, const hub_shared_record *record,
                                hub_buf *out);

/* Whether the store says that text already, and is not about to be old. */
bool hub_shared_record_is_told(const hub_toolset *toolset, const hub_shared_record *record,
                               hub_str text);

/* Append the document that tells the text, which the record says from now on. A failure marks the
 * buffer. */
void hub_shared_record_write(const hub_toolset *toolset, hub_shared_record *record, hub_str text,
                             hub_buf *out);

#endif
