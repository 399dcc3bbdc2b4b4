/* SPDX-License-Identifier: Apache-2.0 */
/* Secrets that the store keeps for the configuration: ${secret:NAME}. */
#ifndef HUB_CONFIG_STORED_SECRETS_H
#define HUB_CONFIG_STORED_SECRETS_H

#include "state/sync.h"

/* Their records: the owner is empty, the key the name, the document a JSON string. */
extern const hub_state_kind HUB_SECRET_KIND;

#endif
