/* SPDX-License-Identifier: Apache-2.0 */
/* Which names and documents the store takes. Pure functions, any thread. */
#ifndef HUB_STATE_NAMES_H
#define HUB_STATE_NAMES_H

#include "state/store.h"

/* errors:  HUB_EINVAL: the text says which part, and what is wrong with it */
HUB_MUST_CHECK hub_err hub_state_check_name(const hub_state_record *record, hub_error *reterr);

/* The same of a name that may end with its owner, and have no key. */
HUB_MUST_CHECK hub_err hub_state_check_range(const hub_state_record *record, hub_error *reterr);

/* One JSON value of at most `most` bytes. errors: HUB_EINVAL, HUB_EPARSE, HUB_ELIMIT */
HUB_MUST_CHECK hub_err hub_state_check_document(hub_str document, size_t most, hub_error *reterr);

#endif
