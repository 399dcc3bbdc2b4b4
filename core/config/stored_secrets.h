/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets that the store keeps for the configuration: ${secret:NAME}. */
#ifndef HUB_CONFIG_STORED_SECRETS_H
#define HUB_CONFIG_STORED_SECRETS_H

#include "state/sync.h"

/* Their records: the owner is empty, the key the name, the document a JSON string. */
extern const hub_state_kind HUB_SECRET_KIND;

/* Append the value of a secret. blocks: as hub_state_sync_get
 * errors:  HUB_ENOTFOUND, HUB_EINVAL (the record is no text), those of hub_state_sync_get */
HUB_MUST_CHECK hub_err hub_secret_read(hub_state_sync *store, hub_str name, hub_buf *value,
                                       hub_error *reterr);

#endif
