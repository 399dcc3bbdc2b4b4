/* SPDX-License-Identifier: Apache-2.0 */
#include "tools/definition_digest.h"

#include "tools/pin.h"

#include <stdlib.h>

hub_err hub_definition_digest(hub_str json, unsigned char ret_bytes[HUB_DIGEST_BYTES])
{
    hub_buf text;
    hub_buf_init(&text, json.len + 1); /* nothing is added to it */
    hub_pin_add_canonical(&text, json);
    hub_err err = text.failed;
    if (err == HUB_OK) {
        hub_digest_of(hub_buf_str(&text), ret_bytes);
    }
    hub_buf_fini(&text);
    return err;
}

const unsigned char *hub_catalog_digest(hub_catalog *catalog, const hub_item *item)
{
    size_t at = (size_t)(item - catalog->items);
    hub_assert(at < catalog->count);
    if (catalog->digests == NULL) {
        catalog->digests = calloc(catalog->count, sizeof *catalog->digests);
    }
    if (catalog->digests == NULL) {
        return NULL;
    }
    hub_item_digest *digest = &catalog->digests[at];
    digest->is_known =
        digest->is_known || hub_definition_digest(item->original, digest->bytes) == HUB_OK;
    return digest->is_known ? digest->bytes : NULL;
}
