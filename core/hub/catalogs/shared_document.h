/* SPDX-License-Identifier: Apache-2.0 */
/*
 * What replicas keep of a catalog in their store: the text of its record (catalog_file.h), when a
 * replica last heard it from the server, and a signature over both with a key of replicas.key_file.
 *
 *     {"mac":"HEX","learned":MILLISECONDS,"catalog":TEXT}
 *
 * Whoever can write to the store can take a catalog away, or bring an older one back, and no more. In
 * place of a catalog there may be word that a replica is asking its server now.
 * Pure functions, any thread.
 */
#ifndef HUB_HUB_CATALOGS_SHARED_DOCUMENT_H
#define HUB_HUB_CATALOGS_SHARED_DOCUMENT_H

#include "base/buf.h"
#include "base/err.h"
#include "hub/kernel/values.h"

/* That a replica is asking. */
#define HUB_SHARED_ASKING "{\"asking\":true}"

typedef struct hub_shared_document {
    int64_t learned_at_ms; /* since 1970 */
    hub_str text;          /* as hub_catalog_file_read takes it */
} hub_shared_document;

/* Append the document. A failure marks the buffer. */
void hub_shared_document_write(const hub_key *key, const hub_shared_document *document,
                               hub_buf *out);

/* Take one apart; the text points into it.
 * errors:  HUB_EINVAL: it is none, or its signature is another one; the text says which */
HUB_MUST_CHECK hub_err hub_shared_document_read(const hub_key *key, hub_str json,
                                                hub_shared_document *ret_document,
                                                hub_error *reterr);

#endif
