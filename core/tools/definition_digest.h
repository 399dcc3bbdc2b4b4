/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The digest of a definition, as its server gave it: SHA-256 over its canonical form (pin.h), as
 * bytes, and kept with its catalog. Overrides are no part of it. Thread: [loop].
 */
#ifndef HUB_TOOLS_DEFINITION_DIGEST_H
#define HUB_TOOLS_DEFINITION_DIGEST_H

#include "base/digest.h"
#include "base/err.h"
#include "tools/catalog.h"

/* The digest of a raw JSON object, checked before.
 * errors:  HUB_ENOMEM */
HUB_MUST_CHECK hub_err hub_definition_digest(hub_str json,
                                             unsigned char ret_bytes[HUB_DIGEST_BYTES]);

/* The same of an item of a catalog, which keeps it: the second time costs nothing. Borrowed for the
 * catalog's life; NULL: out of memory. */
const unsigned char *hub_catalog_digest(hub_catalog *catalog, const hub_item *item);

#endif
