/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A toolset's catalog as a record that outlives it (catalog_file.h), and back: which record it is, how
 * it is made, and how it becomes a toolset's catalog again. Whoever keeps records, on the disk or in
 * the store, does it by these. Thread: [loop].
 */
#ifndef HUB_HUB_CATALOGS_CATALOG_RECORD_H
#define HUB_HUB_CATALOGS_CATALOG_RECORD_H

#include "hub/catalogs/catalog_file.h"
#include "hub/kernel/types.h"

/* The digest of all that decides what the toolset offers: module, its version, expanded configuration,
 * and for what is started here the working directory. False: its module is not there, or no memory. */
bool hub_catalog_record_id(const hub_toolset *toolset, char ret_id[HUB_CATALOG_ID_BYTES]);

/* Whether its server is on the network, so that everybody who is configured so has the same one. */
bool hub_catalog_record_is_remote(const hub_toolset *toolset);

/* Whether a catalog of it may be kept at all: it is wanted, and the same for all principals. */
bool hub_catalog_record_is_wanted(const hub_toolset *toolset);

/* Append the text of the record, of the toolset as it is now. A failure marks the buffer. */
void hub_catalog_record_add(const hub_toolset *toolset, hub_str id, int64_t learned_at_ms,
                            hub_buf *out);

/* Make the record the toolset's catalog: all of it, or nothing. No server has confirmed it then.
 * `is_news`: the toolset is in use, and clients are told what is different. Else it has no lists yet.
 * errors:  those of hub_toolset_read_list, hub_extensions_read, hub_about_read */
HUB_MUST_CHECK hub_err hub_catalog_record_adopt(hub_toolset *toolset,
                                                const hub_catalog_record *record, bool is_news,
                                                hub_error *reterr);

#endif
